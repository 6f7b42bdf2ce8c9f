//! Two spaces side by side: another file of vectors, turned onto the space on the stage by the words that both have.

use std::collections::BTreeSet;
use std::sync::Arc;

use attune_core::kernel::snapshot::StaticSpace;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::table::{Table, TableRef};
use attune_engine::numerics::vectors::norm;
use attune_engine::vectors::space::{Turn, compare, shared};
use attune_engine::vectors::{Vectors, are_row_numbers, no_words};

use super::stage::{SecondKind, StageModel, TokenPoint};

/// The other file, as far as the stage and the panel show it.
#[derive(Debug)]
pub struct TwoSpaces {
    /// The file on the stage, and the other one.
    pub names: [String; 2],
    /// Words that both have.
    pub shared: usize,
    /// Their mean cosine after the turn.
    pub mean_cosine: f64,
    /// Those that moved most, the farthest first.
    pub most: Vec<MovedWord>,
    /// Those that moved least, the nearest first.
    pub least: Vec<MovedWord>,
    /// The vectors on the stage that the other file is turned onto.
    onto: Arc<Table<f32>>,
    other: Vectors,
    /// From the other space into the one on the stage: directions, ...
    turn: Turn,
    /// ... and lengths.
    scale: f64,
}

/// A word of both spaces.
#[derive(Clone, Debug, PartialEq)]
pub struct MovedWord {
    pub word: String,
    /// Its row on the stage, and of the other file.
    pub rows: [usize; 2],
    /// The cosine of its turned vector and of that on the stage.
    pub cosine: f64,
}

impl TwoSpaces {
    /// Words of each list.
    pub const LISTED: usize = 30;

    /// Turns the other file onto a space.
    ///
    /// # Errors
    /// In words for the learner, if they cannot be turned onto each other.
    pub fn of(space: &StaticSpace, names: [String; 2], other: Vectors) -> Result<Self, String> {
        if let Some(why) = other.why_no_words() {
            return Err(format!("{}: {why}", names[1]));
        }
        if are_row_numbers(space.vocabulary.iter().map(String::as_str)) {
            return Err(format!("{}: {}", names[0], no_words(None)));
        }
        let words = other.words.iter().map(|word| &**word);
        let row_of = |word: &str| other.row_of(word).filter(|row| other.has_word(*row));
        let shared = shared(words, row_of, |word| space.row_of(word));
        let compared = compare((&other.rows).into(), space.vectors.view(), &shared)?;
        let word = |&(there, here, cosine): &(usize, usize, f64)| MovedWord {
            word: space.vocabulary[here].clone(),
            rows: [here, there],
            cosine,
        };
        let lengths = |rows: &dyn Fn(usize) -> f32| (0..shared.len()).map(|pair| f64::from(rows(pair))).sum::<f64>();
        let here = lengths(&|pair| space.squares[shared[pair].1].sqrt());
        let there = lengths(&|pair| norm(other.rows.row(shared[pair].0)));
        let scale = if there > 0.0 { here / there } else { 1.0 };
        let moved = &compared.moved;
        Ok(Self {
            names,
            shared: moved.len(),
            mean_cosine: compared.mean_cosine(),
            most: moved.iter().take(Self::LISTED).map(word).collect(),
            least: moved.iter().rev().take(Self::LISTED).map(word).collect(),
            turn: compared.turn,
            scale,
            onto: space.vectors.clone(),
            other,
        })
    }

    /// Whether the other file is turned onto this space, and not onto what was there before a file was read again.
    pub fn is_of(&self, space: &StaticSpace) -> bool {
        Arc::ptr_eq(&self.onto, &space.vectors)
    }

    /// The words that the stage shows in both spaces: those of the lists, then those of the sentence.
    fn shown(&self, stage: &StageModel) -> Vec<[usize; 2]> {
        let of_sentence = stage.tokens.iter().filter_map(|token| Some([token.word?, self.other.row_of(&token.text)?]));
        self.most.iter().chain(&self.least).map(|word| word.rows).chain(of_sentence).collect()
    }

    /// Says which points the stage shows.
    pub fn about(&self) -> String {
        let [here, there] = &self.names;
        format!(
            "The words that moved most or least, and the words of the sentence, on their way from {here} to {there}."
        )
    }
}

impl StageModel {
    /// Replaces the sentence of the stage by words on their way from this space to another.
    #[must_use]
    pub fn of_spaces(self, spaces: &TwoSpaces, space: &StaticSpace) -> Self {
        let shown = spaces.shown(&self);
        let there = TableRef::from(&spaces.other.rows).gathered(shown.iter().map(|rows| rows[1]));
        let turned = spaces.turn.turned(&there.cast());
        let entry = |i: usize, j: usize| (spaces.scale * turned.get(i, j)) as f32;
        let turned = Matrix::from_fn(turned.rows(), turned.cols(), entry);
        let there = space.projection.points(&turned);
        let point = |(position, [here, _]): (usize, &[usize; 2])| {
            let word = &self.words[*here];
            let end = std::array::from_fn(|axis| there.get(position, axis));
            TokenPoint { group: word.group, ..TokenPoint::moving(word.text.clone(), position, word.at, end) }
        };
        let points = shown.iter().enumerate().map(point).collect();
        self.showing(points, SecondKind::Spaces, BTreeSet::new())
    }
}
