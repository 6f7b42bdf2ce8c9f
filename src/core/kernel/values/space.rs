//! The snapshot of the static vectors: the words of the vocabulary, the axes of the picture, the share of the variance
//! that the axes show, and the words near a vector.
//!
//! A group of words, which is an end of an axis, can be written in these forms:
//!
//! | written | meant |
//! |---|---|
//! | `fruit` | the lesson's group of that name |
//! | `pear, plum` | these words, and all of a group that is named among them |
//! | `/ing$/` | all words of the vocabulary that match the regular expression; `/apple/` those that contain it |

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use attune_engine::messages::nearest_few;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::model::{Architecture, Tower};
use attune_engine::numerics::params::Parameters;
use attune_engine::numerics::projection::{AXES, Lens, LensProjection, Projection};
use attune_engine::numerics::shares::Shares;
use attune_engine::numerics::spread::Spread;
use attune_engine::numerics::table::Table;
use attune_engine::numerics::vectors::{add_scaled, centroid, dot};
use serde::{Deserialize, Serialize};

use super::meaning::Meaning;
use crate::lesson::issue::{did_you_mean, shorten};
use crate::lesson::schema::{AxisEnds, Lesson};
use crate::lesson::text::tokenize;
use crate::pattern;

/// The vocabulary with its static vectors, and the one basis of all pictures.
#[derive(Clone, Debug)]
pub struct StaticSpace {
    /// The words in the order of the rows of `vectors`.
    pub vocabulary: Arc<[String]>,
    /// Rows of the vocabulary in alphabetical order, computed on demand; see [`Self::alphabetic`].
    pub by_alphabet: OnceLock<Box<[usize]>>,
    /// The embedding table `E` (V, D) that the model reads. If the model trains the table, its rows are those of the
    /// weights in use.
    pub vectors: Arc<Table<f32>>,
    /// Squared norm `‖e‖²` of each row.
    pub squares: Arc<[f32]>,
    /// The norm of a pretrained model that gives its layers a common scale, if it has one.
    pub scale: Option<SharedScale>,
    /// The projection, which is fixed when the static vectors are trained and changed only by the learner.
    pub projection: Projection,
    /// The choices that determine the projection.
    pub basis: Basis,
    /// The lesson's own choices and their projection, which a reset restores.
    pub own_basis: Basis,
    pub own_projection: Projection,
    /// The space of the lesson itself, which the picture of a retrained space matches.
    pub like: Option<Arc<StaticSpace>>,
    /// The rows at the end of the lesson's own training, if the model trains the table. They determine the axes and the
    /// scale, which are therefore the same at every step.
    pub at_end: Option<Arc<Table<f32>>>,
    /// The table `E` in the basis, (V, 3).
    pub points: Matrix<f32>,
    /// The spread that determines the axes, for a whole file of vectors or a recording.
    pub spread: Option<Arc<Spread>>,
    /// Shares of the variance of the whole vocabulary that the axes show, computed on demand.
    pub shares: OnceLock<Option<Shares>>,
    /// Index into [`Lesson::groups`] for each word that belongs to a group.
    pub group_of: Vec<Option<usize>>,
}

/// A norm that is applied to vectors so that all layers have a common scale.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedScale {
    pub norm: ScaleNorm,
    /// The norm with the numbers of the file, so that words do not move when its weights are edited.
    pub lens: Lens,
}

/// A norm of the model that gives vectors a common scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScaleNorm {
    /// The norm after the embeddings. The outputs of all layers already have norms of their own, so it is applied to
    /// words only.
    Embedding,
    /// The norm after all blocks, which is applied to the words and to the states of all layers.
    Last,
}

impl SharedScale {
    /// Returns the norm after the last layer of a tower, with these weights, which is applied to the states of all its
    /// layers. Returns `None` if the norm is for words only, or the tower has no such norm.
    pub fn lens_of_layers(
        &self,
        tower: Tower,
        architecture: &Architecture,
        parameters: &Parameters<f32>,
    ) -> Option<Lens> {
        architecture.last_lens(tower, parameters).filter(|_| self.norm == ScaleNorm::Last)
    }
}

impl StaticSpace {
    /// Returns the norm that is applied in the picture now, or `None` if vectors are shown without one.
    pub fn scale(&self) -> Option<&SharedScale> {
        self.scale.as_ref().filter(|_| !self.basis.raw)
    }

    /// Returns the vectors of some words with the norm applied, as they are before the projection.
    pub fn seen(&self, words: &Matrix<f32>) -> Matrix<f32> {
        self.scale().map_or_else(|| words.clone(), |scale| scale.lens.see(words))
    }

    /// Returns the shares of the variance of the whole vocabulary that the axes show. They are computed at the first
    /// call.
    pub fn shares(&self) -> Option<Shares> {
        let seen = || self.vectors.parts().map(|part| self.seen(&part));
        *self.shares.get_or_init(|| match &self.spread {
            Some(spread) => Shares::of_spread(&self.projection, spread),
            None => Shares::of_variance_in(&self.projection, self.vectors.rows(), seen),
        })
    }

    /// Returns the rows of the vocabulary in alphabetical order; equal words are in the order of their rows.
    pub fn alphabetic(&self) -> &[usize] {
        self.by_alphabet.get_or_init(|| {
            let mut rows: Box<[usize]> = (0..self.vocabulary.len()).collect();
            rows.sort_by(|&a, &b| self.vocabulary[a].cmp(&self.vocabulary[b]));
            rows
        })
    }

    /// Returns the rows of the words that begin with a prefix, in alphabetical order.
    pub fn beginning(&self, begin: &str) -> &[usize] {
        let alphabetic = self.alphabetic();
        let from = alphabetic.partition_point(|&row| *self.vocabulary[row] < *begin);
        let rest = &alphabetic[from..];
        &rest[..rest.partition_point(|&row| self.vocabulary[row].starts_with(begin))]
    }

    /// Returns the first row with a word, or `None` if the word is not in the vocabulary.
    pub fn row_of(&self, word: &str) -> Option<usize> {
        self.beginning(word).first().copied().filter(|&row| self.vocabulary[row] == word)
    }

    /// Returns a message saying that a word is unknown, with suggestions: words that begin with it, or else words with
    /// a similar spelling.
    pub fn unknown(&self, word: &str) -> String {
        const OFFERED: usize = 3;
        /// Size of a vocabulary up to which spellings are compared; a larger one would take longer than a frame.
        const COMPARED: usize = 60_000;
        let longer = self.beginning(word).iter().take(OFFERED).map(|&row| self.vocabulary[row].as_str());
        let mut near: Vec<&str> = longer.collect();
        if near.is_empty() && self.vocabulary.len() <= COMPARED {
            near = nearest_few(word, self.vocabulary.iter().map(String::as_str), OFFERED);
        }
        let near: Vec<String> = near.into_iter().map(|near| format!("{near:?}")).collect();
        let hint = if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(" or ")) };
        format!("{:?} is not among the {} words{hint}", shorten(word), self.vocabulary.len())
    }

    /// Replaces the vectors of all words; the basis stays.
    pub fn set_table(&mut self, vectors: Table<f32>) {
        self.squares = squares(&vectors);
        self.vectors = Arc::new(vectors);
        self.points = self.points_in(&self.basis, &self.projection);
        self.shares = OnceLock::new();
    }

    /// Returns the vectors that determine the axes, which are those at the end of training if the model trains the
    /// table.
    pub fn choosing(&self) -> &Table<f32> {
        self.at_end.as_ref().unwrap_or(&self.vectors)
    }

    /// Returns the distance of the farthest word from the origin of the picture; if the model trains the table, the
    /// distance at the end of training.
    pub fn reach(&self) -> f32 {
        let at_end = self.at_end.as_ref().map(|table| LensProjection::new(&self.projection, None).points_of(table));
        let points = at_end.as_ref().unwrap_or(&self.points);
        reach((0..points.rows()).map(|row| std::array::from_fn(|axis| points.get(row, axis))))
    }

    /// Returns the centre of some words with the norm applied.
    fn centre(&self, words: &[usize], raw: bool) -> Vec<f32> {
        match self.scale.as_ref().filter(|_| !raw) {
            Some(scale) => {
                let rows = self.choosing().gathered(words.iter().copied());
                centroid(&scale.lens.see(&rows), &(0..words.len()).collect::<Vec<_>>())
            }
            None => self.choosing().centroid(words),
        }
    }

    /// Returns all words as points in the given basis.
    pub fn points_in(&self, basis: &Basis, projection: &Projection) -> Matrix<f32> {
        let lens = self.scale.as_ref().filter(|_| !basis.raw).map(|scale| scale.lens.clone());
        LensProjection::new(projection, lens).points_of(&self.vectors)
    }
}

/// Returns the squared norm `‖e‖²` of each row.
pub fn squares(vectors: &Table<f32>) -> Arc<[f32]> {
    let of_part = |part: Matrix<f32>| (0..part.rows()).map(|row| dot(part.row(row), part.row(row))).collect::<Vec<_>>();
    vectors.map_parts(of_part).concat().into()
}

/// Returns the distance of the farthest of the finite points from the origin. The result is always above 0.
pub fn reach(points: impl Iterator<Item = [f32; 3]>) -> f32 {
    let length = |at: [f32; 3]| {
        let plain = at.iter().map(|x| x * x).sum::<f32>().sqrt();
        // The square of a large number overflows in `f32`.
        let wide = || at.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt().min(f64::from(f32::MAX)) as f32;
        if plain.is_finite() { plain } else { wide() }
    };
    let has_place = |at: &[f32; 3]| at.iter().all(|x| x.is_finite());
    points.filter(has_place).map(length).fold(f32::MIN_POSITIVE, f32::max)
}

/// The choices that determine the axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Basis {
    /// Spread of the vectors on the stage at the last refit; `None` for the spread at the lesson's beginning.
    pub fitted: Option<Arc<Spread>>,
    pub chosen: [Option<ChosenAxis>; AXES],
    /// The axis with a meaning, which is the first one unless another is chosen.
    pub meaning: Option<Arc<Meaning>>,
    /// Whether vectors are shown without the norm that could give the layers a common scale; see
    /// [`StaticSpace::scale`].
    pub raw: bool,
}

/// An axis from the centre of the static vectors of one group of words to the centre of another group.
#[derive(Clone, Debug, PartialEq)]
pub struct ChosenAxis {
    pub from: WordGroup,
    pub to: WordGroup,
}

impl ChosenAxis {
    /// Returns the direction of the axis.
    ///
    /// # Errors
    /// A message for the learner if both ends have the same centre, or one that is not finite.
    pub fn direction(&self, space: &StaticSpace, raw: bool) -> Result<Vec<f32>, String> {
        let [from, to] = [&self.from, &self.to].map(|group| space.centre(&group.words, raw));
        let direction: Vec<f32> = to.iter().zip(&from).map(|(to, from)| to - from).collect();
        // Sums in another order may differ in their last digits.
        const ROUNDING: f32 = 1e-6;
        let size = |vector: &[f32]| vector.iter().map(|x| x.abs()).fold(0.0, f32::max);
        let least = ROUNDING * size(&from).max(size(&to));
        if self.from.words == self.to.words || !direction.iter().any(|x| x.abs() > least) {
            let (from, to) = (&self.from.text, &self.to.text);
            return Err(format!("there is no direction from {from:?} to {to:?}, because they have the same centre"));
        }
        Ok(direction)
    }
}

impl Basis {
    /// Returns the basis that a lesson chooses.
    ///
    /// # Errors
    /// A message for the learner if an end names no words, which the reading of the lesson has ruled out.
    pub fn of_lesson(lesson: &Lesson, vocabulary: &[String]) -> Result<Self, String> {
        let mut basis = Self::default();
        for (slot, AxisEnds { from, to }) in basis.chosen.iter_mut().zip(&lesson.axes) {
            let read = |text: &str| WordGroup::read(text, lesson, vocabulary);
            *slot = Some(ChosenAxis { from: read(from)?, to: read(to)? });
        }
        Ok(basis)
    }

    /// Returns the axis with a meaning if the picture has it: as long as no other axis is chosen in its place.
    pub fn meaning(&self) -> Option<&Meaning> {
        self.meaning.as_deref().filter(|_| self.chosen[Axis::X.index()].is_none())
    }

    /// Returns the names of both ends of an axis, or `None` if the axis is a principal component.
    pub fn ends(&self, axis: usize) -> Option<[&str; 2]> {
        let of_meaning = || self.meaning().filter(|_| axis == Axis::X.index()).map(Meaning::names);
        match &self.chosen[axis] {
            Some(ChosenAxis { from, to }) => Some([&from.text, &to.text]),
            None => of_meaning(),
        }
    }

    /// Returns the projection onto the chosen axes, and onto principal components of a spread for the others.
    ///
    /// # Errors
    /// A message for the learner if a chosen axis has no direction.
    pub fn projection_of(&self, spread: &Spread, space: &StaticSpace) -> Result<Projection, String> {
        let meaning = self.meaning();
        if self.chosen.iter().all(Option::is_none) && meaning.is_none() {
            return Ok(Projection::of_spread(spread));
        }
        let mut directions: [Option<Vec<f32>>; AXES] = Default::default();
        for (direction, chosen) in directions.iter_mut().zip(&self.chosen) {
            *direction = chosen.as_ref().map(|chosen| chosen.direction(space, self.raw)).transpose()?;
        }
        if let Some(meaning) = meaning {
            directions[Axis::X.index()] = Some(meaning.direction());
        }
        Projection::along(spread, directions.each_ref().map(Option::as_deref))
            .ok_or_else(|| "the static vectors are not finite along this axis".to_owned())
    }
}

/// An axis of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Axis {
    X,
    Y,
    Z,
}

impl Axis {
    pub const ALL: [Self; AXES] = [Self::X, Self::Y, Self::Z];

    pub fn index(self) -> usize {
        self as usize
    }

    pub fn letter(self) -> &'static str {
        ["X", "Y", "Z"][self.index()]
    }
}

/// Returns the first row of each word.
pub fn index_of(vocabulary: &[String]) -> HashMap<&str, usize> {
    vocabulary.iter().enumerate().rev().map(|(row, word)| (word.as_str(), row)).collect()
}

/// Returns the rows of the known words.
pub fn known_rows(words: &[String], index: &HashMap<&str, usize>) -> Vec<usize> {
    words.iter().filter_map(|word| index.get(word.as_str()).copied()).collect()
}

/// Returns the rows of a sentence's words, or `None` if one is unknown.
pub fn rows_of(words: &[String], index: &HashMap<&str, usize>) -> Option<Vec<usize>> {
    words.iter().map(|word| index.get(word.as_str()).copied()).collect()
}

/// A group of at least one word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordGroup {
    /// The group as it was written.
    pub text: String,
    /// Rows of the vocabulary, in order and without duplicates.
    pub words: Vec<usize>,
}

/// Greatest length of a group as it is written, in characters.
const TEXT_MAX: usize = 500;

impl WordGroup {
    /// Reads a group of words.
    ///
    /// # Errors
    /// A message for the learner if the text names nothing, names something unknown, or matches nothing.
    pub fn read(text: &str, lesson: &Lesson, vocabulary: &[String]) -> Result<Self, String> {
        let text = text.trim();
        if text.chars().count() > TEXT_MAX {
            return Err(format!("a group of words has at most {TEXT_MAX} characters"));
        }
        let mut words = match text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')) {
            Some(pattern) => matches(pattern, vocabulary)?,
            None => named(text, lesson, vocabulary)?,
        };
        words.sort_unstable();
        words.dedup();
        Ok(Self { text: text.to_owned(), words })
    }
}

fn matches(pattern: &str, vocabulary: &[String]) -> Result<Vec<usize>, String> {
    let regex = pattern::read(pattern);
    let regex = regex.map_err(|why| format!("/{}/ is not a regular expression: {why}", shorten(pattern)))?;
    let words: Vec<usize> = (0..vocabulary.len()).filter(|&row| regex.is_match(&vocabulary[row])).collect();
    if pattern.is_empty() || words.is_empty() {
        return Err(format!("no word of the {} matches /{}/", vocabulary.len(), shorten(pattern)));
    }
    Ok(words)
}

fn named(text: &str, lesson: &Lesson, vocabulary: &[String]) -> Result<Vec<usize>, String> {
    let rows = index_of(vocabulary);
    let group = |name: &str| lesson.groups.iter().find(|group| group.name == name);
    if let Some(group) = group(text) {
        return some(known_rows(&group.words, &rows), text);
    }
    let mut words = Vec::new();
    for item in text.split([',', ';']).flat_map(str::split_whitespace) {
        if let Some(group) = group(item) {
            words.extend(known_rows(&group.words, &rows));
            continue;
        }
        // A file of vectors may contain words that tokenization would change.
        if let Some(&row) = rows.get(item) {
            words.push(row);
            continue;
        }
        for word in tokenize(item) {
            let row = rows.get(word.as_str()).copied().ok_or_else(|| {
                let names = lesson.groups.iter().map(|group| group.name.as_str());
                let hint = did_you_mean(&word, names.chain(vocabulary.iter().map(String::as_str)));
                format!("{:?} is neither a group of the lesson nor a word of its vocabulary{hint}", shorten(&word))
            })?;
            words.push(row);
        }
    }
    some(words, text)
}

fn some(words: Vec<usize>, text: &str) -> Result<Vec<usize>, String> {
    if words.is_empty() {
        let said = if text.is_empty() {
            "a group has no words".to_owned()
        } else {
            format!("{:?} names no word", shorten(text))
        };
        return Err(format!("{said}; name a group of the lesson, or write words or a /pattern/"));
    }
    Ok(words)
}

/// Shares of the variance of some tokens' vectors, and of their moves, that the picture shows; `None` if nothing varies
/// or moves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TokenShares {
    /// Shares of the variance of the static vectors, and of the states after each layer.
    pub states: Vec<Option<Shares>>,
    /// Shares of the squared lengths of the moves through each layer.
    pub moves: Vec<Option<Shares>>,
    /// Shares of the squared lengths of the moves from static to contextual.
    pub whole: Option<Shares>,
}

impl TokenShares {
    /// Computes the shares. `stops` are the vectors of the tokens, static and after each layer, with a row for each
    /// token.
    pub fn of(projection: &Projection, stops: &[Matrix<f32>]) -> Self {
        let moved = |from: &Matrix<f32>, to: &Matrix<f32>| {
            let mut arrows = to.clone();
            add_scaled(arrows.flat_mut(), -1.0, from.flat());
            Shares::of_arrows(projection, &arrows)
        };
        Self {
            states: stops.iter().map(|states| Shares::of_variance(projection, states)).collect(),
            moves: stops.windows(2).map(|pair| moved(&pair[0], &pair[1])).collect(),
            whole: stops.first().zip(stops.last()).and_then(|(first, last)| moved(first, last)),
        }
    }
}

/// Number of neighbours in a list.
pub const NEIGHBOURS: usize = 8;

/// Words near a vector in the true space, the nearest first, by cosine and by distance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Neighbours {
    pub by_cosine: Vec<Neighbour>,
    /// Neighbours by Euclidean distance.
    pub by_distance: Vec<Neighbour>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Neighbour {
    /// Row of the vocabulary.
    pub word: usize,
    pub cosine: f32,
    /// Euclidean distance, `‖a − b‖`.
    pub distance: f32,
}
