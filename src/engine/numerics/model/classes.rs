//! The masking of words in the masked-word objective, and the classes that a model chooses among.

use rand::RngExt;

use crate::numerics::rng::Generator;

/// Settings for masking words.
#[derive(Clone, Debug, PartialEq)]
pub struct Masking {
    /// Probability that a word is chosen.
    pub rate: f64,
    /// Probability that a chosen word is hidden.
    hidden: f64,
    /// Probability that a chosen word that is not hidden is replaced by another word; otherwise it is shown unchanged.
    replaced: f64,
    /// Word that replaces a hidden one; `None` is the zero vector.
    pub mask: Option<usize>,
    /// Words that are never chosen.
    spared: Vec<usize>,
}

impl Masking {
    /// Returns the masking of lessons: half of the chosen words are hidden, and the other half replaced by other words.
    pub fn of_lessons(rate: f64) -> Self {
        Self { rate, hidden: 0.5, replaced: 1.0, mask: None, spared: Vec::new() }
    }

    /// Returns the masking of BERT (Devlin et al. 2019, arXiv 1810.04805, section 3.1): of the chosen words 80 % are
    /// hidden by `mask`, 10 % are replaced by other words, and 10 % are unchanged. The `spared` words, which a
    /// tokenizer adds, are never chosen.
    pub fn of_bert(rate: f64, mask: usize, spared: Vec<usize>) -> Self {
        Self { rate, hidden: 0.8, replaced: 0.5, mask: Some(mask), spared }
    }

    /// Returns whether a word is never chosen.
    pub fn spares(&self, word: usize) -> bool {
        self.spared.contains(&word)
    }

    /// Returns the word that is shown in place of a chosen one; `None` is the zero vector.
    pub(super) fn show(&self, word: usize, candidates: &Candidates, rng: &mut Generator) -> Option<usize> {
        if rng.random_bool(self.hidden) {
            return self.mask;
        }
        let is_replaced = self.replaced == 1.0 || rng.random_bool(self.replaced);
        Some(if is_replaced { candidates.draw_stand_in(rng) } else { word })
    }
}

#[derive(Clone, Debug)]
pub enum Classes {
    /// Words of the vocabulary.
    Words(Candidates),
    /// Labels of whole sentences, with the number of labels.
    Labels(usize),
}

impl Classes {
    /// Returns the candidates if the classes are words.
    pub fn candidates(&self) -> Option<&Candidates> {
        match self {
            Self::Words(candidates) => Some(candidates),
            Self::Labels(_) => None,
        }
    }

    /// Returns `C`, the number of classes.
    pub fn count(&self) -> usize {
        match self {
            Self::Words(candidates) => candidates.words.len(),
            Self::Labels(count) => *count,
        }
    }
}

/// The words from which the objective chooses. A candidate's index is its class.
#[derive(Clone, Debug)]
pub struct Candidates {
    /// Class of each word.
    class: Vec<Option<usize>>,
    words: Vec<usize>,
    /// Words that replace a chosen word that is not hidden.
    stand_ins: Vec<usize>,
}

impl Candidates {
    /// Makes the candidates of a vocabulary.
    ///
    /// # Panics
    /// If there are none, or one is not below `vocabulary`.
    pub fn new(vocabulary: usize, words: Vec<usize>) -> Self {
        assert!(!words.is_empty(), "candidates: none");
        let mut class = vec![None; vocabulary];
        for (i, &word) in words.iter().enumerate() {
            class[word] = Some(i);
        }
        let stand_ins = words.clone();
        Self { class, words, stand_ins }
    }

    /// Sets the words that replace chosen words, which are the candidates themselves by default.
    ///
    /// # Panics
    /// If there are none, or one is not below the size of the vocabulary.
    pub fn with_stand_ins(self, stand_ins: Vec<usize>) -> Self {
        assert!(!stand_ins.is_empty(), "candidates: no stand-ins");
        assert!(stand_ins.iter().all(|&word| word < self.class.len()), "candidates: a stand-in beyond the vocabulary");
        Self { stand_ins, ..self }
    }

    /// Makes every word of the vocabulary a candidate.
    pub fn all(vocabulary: usize) -> Self {
        Self::new(vocabulary, (0..vocabulary).collect())
    }

    pub fn words(&self) -> &[usize] {
        &self.words
    }

    pub fn class(&self, word: usize) -> Option<usize> {
        self.class[word]
    }

    pub(super) fn draw_stand_in(&self, rng: &mut Generator) -> usize {
        self.stand_ins[rng.random_range(0..self.stand_ins.len())]
    }
}
