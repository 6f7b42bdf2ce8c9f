//! What each layer of a model can tell about sentences that training never saw.

use std::collections::{BTreeMap, BTreeSet};

use attune_engine::numerics::Matrix;
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::model::{Activations, AttentionModel, Sequences};
use attune_engine::numerics::params::Parameters;
use attune_engine::numerics::rng::{Stream, stream};
use attune_engine::numerics::vectors::Similarity;
use attune_engine::pretrained::tokenizer::Tokenizer;
use attune_engine::pretrained::tokenizer::write::MASK;

use super::grammar::{self, Cell, Kind, Question, Sentence};

/// Draws sentences with a question of this kind that training never saw.
pub fn sentences(kind: Kind, count: usize, seed: u64) -> Vec<Sentence> {
    let rng = &mut stream(seed, Stream::Perturbation);
    let drawn = std::iter::repeat_with(|| grammar::sentence(rng));
    let asks = |sentence: &Sentence| sentence.question.as_ref().is_some_and(|question| question.kind == kind);
    drawn.filter(|sentence| sentence.is_kept_from_training() && asks(sentence)).take(count).collect()
}

/// Sentences for each cell of a kind's table.
pub type ByCell = BTreeMap<Cell, Vec<Sentence>>;

/// Draws sentences for each cell of each kind's table, at most `most` for each. All kinds take theirs from the same
/// draws.
pub fn by_cell(most: usize, seed: u64) -> [(Kind, ByCell); Kind::ALL.len()] {
    /// The number of draws for each sentence of a cell; the rarest cell gets one sentence in some thousands.
    const DRAWN: usize = 4_000;
    let rng = &mut stream(seed, Stream::Perturbation);
    let mut kinds = Kind::ALL.map(|kind| (kind, ByCell::new()));
    for sentence in std::iter::repeat_with(|| grammar::sentence(rng)).take(most * DRAWN) {
        let Some(question) = sentence.question.as_ref().filter(|question| question.new.is_some()) else { continue };
        let of_kind = kinds.iter_mut().find(|(kind, _)| *kind == question.kind);
        let Some(of_cell) = of_kind.map(|(_, cells)| cells.entry(question.cell.clone()).or_default()) else { continue };
        if of_cell.len() < most {
            of_cell.push(sentence);
        }
    }
    kinds
}

/// The columns of a table of sentences with insertions: one insertion, and two.
pub const INSERTED: [&str; 2] = ["one insertion", "two insertions"];

/// Draws sentences with one or two insertions in combinations that training never had, for each kind and each
/// insertion.
pub fn varied(draws: usize, seed: u64) -> [(Kind, ByCell); Kind::ALL.len()] {
    let rng = &mut stream(seed, Stream::Perturbation);
    let mut kinds = Kind::ALL.map(|kind| (kind, ByCell::new()));
    for sentence in std::iter::repeat_with(|| grammar::varied_sentence(rng)).take(draws) {
        let Some(column) = sentence.inserted.len().checked_sub(1).and_then(|more| INSERTED.get(more)) else { continue };
        let Some(question) = sentence.question.as_ref().filter(|_| sentence.is_new_combination) else { continue };
        let Some((_, cells)) = kinds.iter_mut().find(|(kind, _)| *kind == question.kind) else { continue };
        for row in &sentence.inserted {
            let cell = Cell { row: row.clone(), column: (*column).to_owned() };
            cells.entry(cell).or_default().push(sentence.clone());
        }
    }
    kinds
}

/// Returns a table in Markdown, with the share of correct answers and the number of sentences in each cell.
pub fn table(cells: &BTreeMap<Cell, (f64, usize)>) -> String {
    let columns: BTreeSet<&String> = cells.keys().map(|cell| &cell.column).collect();
    let rows: BTreeSet<&String> = cells.keys().map(|cell| &cell.row).collect();
    let line = |first: &str, told: Vec<String>| format!("| {first} | {} |\n", told.join(" | "));
    let mut table = line("", columns.iter().map(|column| (*column).clone()).collect());
    table += &line("---", vec!["---".to_owned(); columns.len()]);
    for row in rows {
        let told = |column: &&String| {
            let cell = Cell { row: row.clone(), column: (*column).clone() };
            cells.get(&cell).map_or(String::new(), |(share, count)| format!("{:.0} % of {count}", 100.0 * share))
        };
        table += &line(row, columns.iter().map(told).collect());
    }
    table
}

/// A model that is evaluated.
pub struct Asked<'a> {
    pub model: &'a AttentionModel<f32>,
    pub parameters: &'a Parameters<f32>,
    pub tokenizer: &'a Tokenizer,
}

impl Asked<'_> {
    /// Returns for each layer, starting with the vectors before the first, the share of sentences in which the right
    /// word is more likely than the wrong one if the model ended there. Sentences in which either word is several
    /// pieces are left out.
    pub fn accuracy(&self, sentences: &[Sentence]) -> Vec<f64> {
        let asked = sentences.iter().filter_map(|sentence| {
            let question = sentence.question.as_ref()?;
            let (right, wrong) = (self.id(&question.right)?, self.id(&question.wrong)?);
            let (pieces, at) = self.pieces(sentence);
            // A word with two senses is not hidden, because the question is which sense it has.
            let shown = self.id(question.sense.map_or(MASK, |(word, _)| word))?;
            let shown: Vec<usize> =
                pieces.iter().enumerate().map(|(i, &id)| if i == at { shown } else { id }).collect();
            let states = self.states(&shown, at);
            let logits = self.model.lens(self.parameters, states);
            let is_right = |layer| logits.get(layer, right) > logits.get(layer, wrong);
            Some((0..logits.rows()).map(|layer| f64::from(u8::from(is_right(layer)))).collect())
        });
        shares(asked)
    }

    /// Returns for each cell of a kind's table the share of sentences that the model answers right, and their number.
    pub fn cells(&self, of_kind: &ByCell) -> BTreeMap<Cell, (f64, usize)> {
        let share = |sentences: &[Sentence]| {
            let shares = self.accuracy(sentences);
            (shares.last().copied().unwrap_or(f64::NAN), sentences.len())
        };
        of_kind.iter().map(|(cell, sentences)| (cell.clone(), share(sentences))).collect()
    }

    /// Returns for each layer, starting with the word vectors, the share of occurrences of a word whose nearest
    /// occurrence by cosine in a sentence of another pattern has the same sense. Sentences of the same pattern are
    /// excluded, because equal positions alone make their words similar. Of equally near occurrences, the share with
    /// the same sense counts.
    pub fn senses(&self, sentences: &[Sentence]) -> Vec<f64> {
        let occurrences: Vec<(&Question, &str, &str, Matrix<f32>)> = sentences
            .iter()
            .filter_map(|sentence| {
                let question = sentence.question.as_ref()?;
                let (word, pattern) = question.sense.filter(|(word, _)| *word == sentence.words[question.at])?;
                let (pieces, at) = self.pieces(sentence);
                Some((question, pattern, word, self.states(&pieces, at)))
            })
            .collect();
        let layers = occurrences.first().map_or(0, |(.., states)| states.rows());
        let nearest = occurrences.iter().filter_map(|(question, pattern, word, states)| {
            let is_other = |(_, its, other, _): &&(&Question, &str, &str, _)| other == word && its != pattern;
            let others = || occurrences.iter().filter(is_other);
            others().next()?;
            let of_layer = |layer: usize| {
                let like = |of: &Matrix<f32>| Similarity::Cosine.of(states.row(layer), of.row(layer));
                let most = others().map(|(.., states)| like(states)).fold(f32::NEG_INFINITY, f32::max);
                let nearest = || others().filter(|(.., states)| like(states) == most);
                let right = nearest().filter(|(other, ..)| other.right == question.right).count();
                right as f64 / nearest().count() as f64
            };
            Some((0..layers).map(of_layer).collect())
        });
        shares(nearest)
    }

    pub fn id(&self, piece: &str) -> Option<usize> {
        self.tokenizer.id_of(piece).map(|id| id as usize)
    }

    /// Returns the pieces of a sentence, and the index of the first piece of the questioned word.
    pub fn pieces(&self, sentence: &Sentence) -> (Vec<usize>, usize) {
        let pieces = self.tokenizer.encode(&sentence.text()).expect("it knows all letters").pieces;
        let word = sentence.question.as_ref().map(|question| question.at);
        let at = pieces.iter().position(|piece| piece.word == word).unwrap_or(0);
        (pieces.iter().map(|piece| piece.id as usize).collect(), at)
    }

    /// Returns the vectors at a position before all layers and after each.
    fn states(&self, pieces: &[usize], at: usize) -> Matrix<f32> {
        let pass =
            Activations::of(self.model, self.parameters, &Sequences::one(pieces), None, &Interventions::default());
        let layers: Vec<&Matrix<f32>> = pass.states(&self.model.architecture).collect();
        let rows = layers.iter().flat_map(|layer| layer.row(at)).copied().collect();
        Matrix::from_row_major(layers.len(), self.model.architecture.width, rows)
    }
}

/// Returns the means of the columns.
fn shares(rows: impl Iterator<Item = Vec<f64>>) -> Vec<f64> {
    let rows: Vec<Vec<f64>> = rows.collect();
    let columns = rows.first().map_or(0, Vec::len);
    let share = |column: usize| rows.iter().map(|row| row[column]).sum::<f64>() / rows.len() as f64;
    (0..columns).map(share).collect()
}
