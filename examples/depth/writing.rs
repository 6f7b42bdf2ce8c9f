//! How well a writer continues texts that training never saw.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use attune_engine::numerics::Matrix;
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::model::{Activations, Sequences};
use attune_engine::numerics::rng::{Generator, Stream, stream};
use attune_engine::pretrained::tokenizer::ModelPiece;

use super::evaluation::{Asked, ByCell};
use super::grammar::{Cell, Kind, Sentence};
use super::stories::Text;

/// Draws texts that are kept out of training.
pub fn texts(draw: fn(&mut Generator) -> Text, count: usize, seed: u64) -> Vec<Text> {
    let rng = &mut stream(seed, Stream::Perturbation);
    let drawn = std::iter::repeat_with(|| draw(rng));
    drawn.filter(|text| text.is_kept_from_training).take(count).collect()
}

/// How often the most likely next piece was right, in three groups of pieces, in texts kept out of training.
#[derive(Clone, Copy, Debug, Default)]
pub struct Repeated {
    /// The pieces after the first of a new word.
    pub spelled_first: Share,
    /// The pieces after the first of a word that has occurred before.
    pub spelled_again: Share,
    /// The first pieces of words that have occurred before, where only that word is possible.
    pub begun_again: Share,
}

impl Display for Repeated {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "pieces within a word, the first time: {}", self.spelled_first)?;
        writeln!(f, "pieces within a word, again: {}", self.spelled_again)?;
        write!(f, "the first piece, again, where one word is possible: {}", self.begun_again)
    }
}

/// A number of right answers, and the number of all.
#[derive(Clone, Copy, Debug, Default)]
pub struct Share {
    right: usize,
    pub all: usize,
}

impl Share {
    pub fn of_one(self) -> f64 {
        self.right as f64 / self.all.max(1) as f64
    }

    pub fn count(&mut self, is_right: bool) {
        (self.right, self.all) = (self.right + usize::from(is_right), self.all + 1);
    }
}

impl Display for Share {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} % of {}", 100.0 * self.of_one(), self.all)
    }
}

/// Returns whether the words before the questioned word determine it.
fn is_decided_before(sentence: &Sentence) -> bool {
    let Some(question) = &sentence.question else { return false };
    let before = sentence.words[..question.at].join(" ");
    question.kind != Kind::Sense && !before.ends_with("because the")
}

impl Asked<'_> {
    /// Returns for each cell of a kind's table the share of sentences in which the right word is more likely than the
    /// wrong one after the words before it, and the number of sentences.
    pub fn next_cells(&self, of_kind: &ByCell) -> BTreeMap<Cell, (f64, usize)> {
        let share = |sentences: &[Sentence]| {
            let decided = sentences.iter().filter(|sentence| is_decided_before(sentence));
            let right: Vec<bool> = decided.filter_map(|sentence| self.is_next(sentence)).collect();
            (right.iter().filter(|is_right| **is_right).count() as f64 / right.len() as f64, right.len())
        };
        of_kind.iter().map(|(cell, sentences)| (cell.clone(), share(sentences))).collect()
    }

    /// Returns whether the right word is more likely than the wrong one; `None` if either is several pieces.
    fn is_next(&self, sentence: &Sentence) -> Option<bool> {
        let question = sentence.question.as_ref()?;
        let (right, wrong) = (self.id(&question.right)?, self.id(&question.wrong)?);
        let (pieces, at) = self.pieces(sentence);
        let logits = self.next(&pieces[..at]);
        let last = logits.row(logits.rows() - 1);
        Some(last[right] > last[wrong])
    }

    /// Counts how often the model predicts the pieces of repeated words. Texts that are too long for it are left out.
    pub fn repeated(&self, texts: &[Text]) -> Repeated {
        let mut repeated = Repeated::default();
        for text in texts {
            let Some((pieces, ids)) = self.fitting(text) else { continue };
            let logits = self.next(&ids);
            for at in 1..pieces.len() {
                let Some(word) = pieces[at].word else { continue };
                let is_again = text.again.contains(&word);
                let group = match pieces[at - 1].word == Some(word) {
                    true if is_again => &mut repeated.spelled_again,
                    true => &mut repeated.spelled_first,
                    false if text.decided.contains(&word) => &mut repeated.begun_again,
                    false => continue,
                };
                let row = logits.row(at - 1);
                group.count(row.iter().all(|&other| other <= row[ids[at]]));
            }
        }
        repeated
    }

    /// Returns for each head of each layer the mean attention to the first token, over the queries from the fifth token
    /// on, and the mean that uniform attention would give.
    pub fn first_token(&self, texts: &[Text]) -> (Vec<Vec<f64>>, f64) {
        const FROM: usize = 4;
        let (mut sums, mut even, mut count) = (Vec::new(), 0.0, 0usize);
        for text in texts {
            let Some((_, ids)) = self.fitting(text) else { continue };
            let pass = self.pass(&ids);
            for query in FROM..ids.len() {
                let shares: Vec<Vec<f64>> = pass
                    .blocks
                    .iter()
                    .map(|block| block.heads.iter().map(|head| f64::from(head.weights.get(query, 0))).collect())
                    .collect();
                add_to(&mut sums, &shares);
                (even, count) = (even + 1.0 / (query + 1) as f64, count + 1);
            }
        }
        let mean = |sum: Vec<f64>| sum.into_iter().map(|sum| sum / count as f64).collect();
        (sums.into_iter().map(mean).collect(), even / count as f64)
    }

    /// Returns the pieces of a text and their ids; `None` if it is too long for the model.
    fn fitting(&self, text: &Text) -> Option<(Vec<ModelPiece>, Vec<usize>)> {
        let pieces = self.tokenizer.encode(&text.text()).expect("it knows all letters").pieces;
        let ids: Vec<usize> = pieces.iter().map(|piece| piece.id as usize).collect();
        (ids.len() <= self.model.architecture.max_tokens).then_some((pieces, ids))
    }

    /// Returns the logits of the piece after each.
    fn next(&self, pieces: &[usize]) -> Matrix<f32> {
        let pass = self.pass(pieces);
        self.model.logits_of(self.parameters, &pass.output)
    }

    pub fn pass(&self, pieces: &[usize]) -> Activations<f32> {
        Activations::of(self.model, self.parameters, &Sequences::one(pieces), None, &Interventions::default())
    }
}

fn add_to(sums: &mut Vec<Vec<f64>>, shares: &[Vec<f64>]) {
    if sums.is_empty() {
        *sums = shares.to_vec();
        return;
    }
    for (sum, share) in sums.iter_mut().flatten().zip(shares.iter().flatten()) {
        *sum += share;
    }
}
