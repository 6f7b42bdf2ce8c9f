//! How the masked-word objective hides words.

use rand::RngExt;

use super::classes::Candidates;
use crate::numerics::rng::Generator;

/// A way of hiding words.
#[derive(Clone, Debug, PartialEq)]
pub struct Masking {
    /// The probability that a word is asked for.
    pub rate: f64,
    /// The share of the words asked for that are hidden, ...
    hidden: f64,
    /// ... and of the others the share that another word stands for; the rest is shown as it is.
    replaced: f64,
    /// The word in the place of a hidden one; none: the zero vector.
    pub mask: Option<usize>,
    /// Words that are never asked for nor hidden.
    spared: Vec<usize>,
}

impl Masking {
    /// A lesson's: half of the words asked for are hidden, and others stand for the rest.
    pub fn of_lessons(rate: f64) -> Self {
        Self { rate, hidden: 0.5, replaced: 1.0, mask: None, spared: Vec::new() }
    }

    /// BERT's (Devlin et al. 2019, arXiv 1810.04805, section 3.1): of the words asked for 80 % are hidden by `mask`, other
    /// words stand for 10 %, and 10 % stay; the `spared` ones, which a tokenizer adds, are never asked for.
    pub fn of_bert(rate: f64, mask: usize, spared: Vec<usize>) -> Self {
        Self { rate, hidden: 0.8, replaced: 0.5, mask: Some(mask), spared }
    }

    /// Whether a word is never asked for.
    pub fn spares(&self, word: usize) -> bool {
        self.spared.contains(&word)
    }

    /// The word that is shown in the place of one that is asked for.
    pub(super) fn show(&self, word: usize, candidates: &Candidates, rng: &mut Generator) -> Option<usize> {
        if rng.random_bool(self.hidden) {
            return self.mask;
        }
        let is_replaced = self.replaced == 1.0 || rng.random_bool(self.replaced);
        Some(if is_replaced { candidates.draw_stand_in(rng) } else { word })
    }
}
