//! The comparison of two spaces: another file of vectors, rotated onto the space on the stage by the words that both
//! contain.

use std::collections::BTreeSet;
use std::sync::Arc;

use attune_core::kernel::snapshot::StaticSpace;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::table::{Table, TableRef};
use attune_engine::numerics::vectors::norm;
use attune_engine::vectors::space::{Turn, compare, shared};
use attune_engine::vectors::{Vectors, are_row_numbers, no_words};

use super::stage::{SecondKind, StageModel, TokenPoint};

/// The comparison of the file on the stage with another file of vectors.
#[derive(Debug)]
pub struct TwoSpaces {
    /// The names of the file on the stage and of the other one.
    pub names: [String; 2],
    /// The number of shared words.
    pub shared: usize,
    /// The mean cosine of the shared words after the rotation.
    pub mean_cosine: f64,
    /// The words that moved most, the farthest first.
    pub most: Vec<MovedWord>,
    /// The words that moved least, the nearest first.
    pub least: Vec<MovedWord>,
    /// The vectors on the stage onto which the other file was rotated.
    onto: Arc<Table<f32>>,
    other: Vectors,
    /// The rotation from the other space into the one on the stage.
    turn: Turn,
    /// The factor by which the other file's vectors are scaled.
    scale: f64,
}

/// A word in both spaces.
#[derive(Clone, Debug, PartialEq)]
pub struct MovedWord {
    pub word: String,
    /// The rows of the word on the stage and in the other file.
    pub rows: [usize; 2],
    /// The cosine between the word's rotated vector and its vector on the stage.
    pub cosine: f64,
}

impl TwoSpaces {
    /// The largest number of words in each list.
    pub const LISTED: usize = 30;

    /// Rotates the other file onto a space.
    ///
    /// # Errors
    /// If this is not possible, described in words for the learner.
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

    /// Returns whether the other file was rotated onto this space, and not onto an earlier version of the file.
    pub fn is_of(&self, space: &StaticSpace) -> bool {
        Arc::ptr_eq(&self.onto, &space.vectors)
    }

    /// Returns the rows of the words that the stage shows in both spaces: those of the lists, and then those of the
    /// sentence.
    fn shown(&self, stage: &StageModel) -> Vec<[usize; 2]> {
        let of_sentence = stage.tokens.iter().filter_map(|token| Some([token.word?, self.other.row_of(&token.text)?]));
        self.most.iter().chain(&self.least).map(|word| word.rows).chain(of_sentence).collect()
    }

    /// Describes the points that the stage shows.
    pub fn about(&self) -> String {
        let [here, there] = &self.names;
        format!(
            "The words that moved most or least, and the words of the sentence, on their way from {here} to {there}."
        )
    }
}

impl StageModel {
    /// Returns the stage with words that move from this space to the other one instead of the sentence.
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
