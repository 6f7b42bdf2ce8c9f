//! What a writer knows of texts that training never saw.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};

use attune_engine::numerics::Matrix;
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::model::{Activations, Sequences};
use attune_engine::numerics::rng::{Generator, Stream, stream};
use attune_engine::pretrained::tokenizer::ModelPiece;

use super::evaluation::{Asked, by_cell};
use super::grammar::{Cell, Kind, Sentence};
use super::stories::Text;

/// Texts of a seed that training keeps out, drawn by `draw`.
pub fn texts(draw: fn(&mut Generator) -> Text, count: usize, seed: u64) -> Vec<Text> {
    let rng = &mut stream(seed, Stream::Perturbation);
    let drawn = std::iter::repeat_with(|| draw(rng));
    drawn.filter(|text| text.is_kept_from_training).take(count).collect()
}

/// Pieces of words that training never saw together, in three groups, and whether the likeliest next piece was the right
/// one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Repeated {
    /// The pieces of a word after its first, where the word is new.
    pub spelled_first: Share,
    /// The same, where the word has occurred.
    pub spelled_again: Share,
    /// First pieces of words that have occurred, where only that word can come.
    pub begun_again: Share,
}

impl Display for Repeated {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "pieces within a word, the first time: {}", self.spelled_first)?;
        writeln!(f, "pieces within a word, again: {}", self.spelled_again)?;
        write!(f, "the first piece, again, where one word is possible: {}", self.begun_again)
    }
}

/// How many of how many.
#[derive(Clone, Copy, Debug, Default)]
pub struct Share {
    right: usize,
    pub all: usize,
}

impl Share {
    pub fn of_one(self) -> f64 {
        self.right as f64 / self.all.max(1) as f64
    }

    fn count(&mut self, is_right: bool) {
        (self.right, self.all) = (self.right + usize::from(is_right), self.all + 1);
    }
}

impl Display for Share {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} % of {}", 100.0 * self.of_one(), self.all)
    }
}

/// Whether what comes before the word that is asked for decides it.
fn is_decided_before(sentence: &Sentence) -> bool {
    let Some(question) = &sentence.question else { return false };
    let before = sentence.words[..question.at].join(" ");
    question.kind != Kind::Sense && !before.ends_with("because the")
}

impl Asked<'_> {
    /// For each cell of a kind's table, the share of sentences whose word is likelier than the other one after the words
    /// before it, and how many there were.
    pub fn next_cells(&self, kind: Kind, most: usize, seed: u64) -> BTreeMap<Cell, (f64, usize)> {
        let share = |sentences: Vec<Sentence>| {
            let decided = sentences.iter().filter(|sentence| is_decided_before(sentence));
            let right: Vec<bool> = decided.filter_map(|sentence| self.is_next(sentence)).collect();
            (right.iter().filter(|is_right| **is_right).count() as f64 / right.len() as f64, right.len())
        };
        by_cell(kind, most, seed).into_iter().map(|(cell, sentences)| (cell, share(sentences))).collect()
    }

    /// Whether the word that the words before it decide is likelier than the other one; `None` where either is several
    /// pieces.
    fn is_next(&self, sentence: &Sentence) -> Option<bool> {
        let question = sentence.question.as_ref()?;
        let (right, wrong) = (self.id(&question.right)?, self.id(&question.wrong)?);
        let (pieces, at) = self.pieces(sentence);
        let logits = self.next(&pieces[..at]);
        let last = logits.row(logits.rows() - 1);
        Some(last[right] > last[wrong])
    }

    /// How often the model names the pieces of words that repeat; texts that are too long for it are left out.
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

    /// For each head of each layer, the mean share of attention to the first token over the queries from the fifth
    /// token on, and the share that even attention would give it.
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

    /// The pieces of a text and their ids; `None` where it is too long for the model.
    fn fitting(&self, text: &Text) -> Option<(Vec<ModelPiece>, Vec<usize>)> {
        let pieces = self.tokenizer.encode(&text.text()).expect("it knows all letters").pieces;
        let ids: Vec<usize> = pieces.iter().map(|piece| piece.id as usize).collect();
        (ids.len() <= self.model.architecture.max_tokens).then_some((pieces, ids))
    }

    /// Logits of the piece that follows each.
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
