//! The static vectors as viewers see them: the words of the vocabulary, the axes that they are drawn along, how much
//! of them the axes show, and the words near a vector.
//!
//! A group of words, which is the end of an axis, is named as a learner writes it:
//!
//! | written | meant |
//! |---|---|
//! | `fruit` | the lesson's group of that name |
//! | `pear, plum` | these words, and all of a group that is named among them |
//! | `/ing$/` | all words of the vocabulary that match the regular expression; `/apple/` those that contain it |

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use attune_engine::messages::{nearest, nearest_few};
use attune_engine::numerics::Matrix;
use attune_engine::numerics::model::Architecture;
use attune_engine::numerics::params::Parameters;
use attune_engine::numerics::projection::{AXES, Lens, LensProjection, Projection};
use attune_engine::numerics::shares::Shares;
use attune_engine::numerics::spread::Spread;
use attune_engine::numerics::table::Table;
use attune_engine::numerics::vectors::{add_scaled, centroid, dot};
use serde::{Deserialize, Serialize};

use crate::lesson::issue::shorten;
use crate::lesson::schema::{AxisEnds, Lesson};
use crate::lesson::text::tokenize;
use crate::pattern;

/// The vocabulary with its static vectors and the one basis of all pictures.
#[derive(Clone, Debug)]
pub struct StaticSpace {
    /// Row order of `vectors`.
    pub vocabulary: Arc<[String]>,
    /// Rows of the vocabulary by the alphabet, once they were asked for: see [`Self::alphabetic`].
    pub by_alphabet: OnceLock<Box<[usize]>>,
    /// `E` (V, D), the table that the model reads: where it trains the table, the rows with the weights in use.
    pub vectors: Arc<Table<f32>>,
    /// `‖e‖²` of each row.
    pub squares: Arc<[f32]>,
    /// The norm of a pretrained model that puts its layers on one scale, if it has one.
    pub scale: Option<SharedScale>,
    /// Fixed when the static vectors are trained, and changed by the learner's choice alone.
    pub projection: Projection,
    /// The choice behind the projection.
    pub basis: Basis,
    /// The lesson's own choice, and the projection that it makes, which a reset brings back.
    pub own_basis: Basis,
    pub own_projection: Projection,
    /// The space of the lesson itself, whose picture that of a retrained space matches.
    pub like: Option<Arc<StaticSpace>>,
    /// Where the model trains the table: the rows at the end of the lesson's own training. They choose the axes and the
    /// scale, which so are the same at every step.
    pub at_end: Option<Arc<Table<f32>>>,
    /// `E` in the basis, (V, 3)
    pub points: Matrix<f32>,
    /// The spread of all rows, where these choose the axes.
    pub spread: Option<Arc<Spread>>,
    /// Shares of the variance of the whole vocabulary that the axes show, once they were asked for.
    pub shares: OnceLock<Option<Shares>>,
    /// Index into [`Lesson::groups`] of each word that belongs to one.
    pub group_of: Vec<Option<usize>>,
}

/// A norm that vectors are seen through, so that all layers have one scale.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedScale {
    pub norm: ScaleNorm,
    /// With the numbers of the file: words stay where they are when weights are turned.
    pub lens: Lens,
}

/// Which of a model's norms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScaleNorm {
    /// The one behind the embeddings. The outputs of all layers are behind norms of their own: words alone are seen
    /// through it.
    Embedding,
    /// The one behind all blocks: everything is seen through it.
    Last,
}

impl SharedScale {
    /// The norm that the states of all layers are seen through, with these weights; none where words alone are.
    pub fn lens_of_layers(&self, architecture: &Architecture, parameters: &Parameters<f32>) -> Option<Lens> {
        architecture.last_lens(parameters).filter(|_| self.norm == ScaleNorm::Last)
    }
}

impl StaticSpace {
    /// The norm that the picture is seen through now.
    pub fn scale(&self) -> Option<&SharedScale> {
        self.scale.as_ref().filter(|_| !self.basis.raw)
    }

    /// Some words as they are seen, before the axes.
    pub fn seen(&self, words: &Matrix<f32>) -> Matrix<f32> {
        self.scale().map_or_else(|| words.clone(), |scale| scale.lens.see(words))
    }

    /// Shares of the variance of the whole vocabulary that the axes show; worked out when they are first asked for.
    pub fn shares(&self) -> Option<Shares> {
        let seen = || self.vectors.parts().map(|part| self.seen(&part));
        *self.shares.get_or_init(|| match &self.spread {
            Some(spread) => Shares::of_spread(&self.projection, spread),
            None => Shares::of_variance_in(&self.projection, self.vectors.rows(), seen),
        })
    }

    /// Rows of the vocabulary by the alphabet; of equal words the first row first.
    pub fn alphabetic(&self) -> &[usize] {
        self.by_alphabet.get_or_init(|| {
            let mut rows: Box<[usize]> = (0..self.vocabulary.len()).collect();
            rows.sort_by(|&a, &b| self.vocabulary[a].cmp(&self.vocabulary[b]));
            rows
        })
    }

    /// Rows of the words that begin so, by the alphabet.
    pub fn beginning(&self, begin: &str) -> &[usize] {
        let alphabetic = self.alphabetic();
        let from = alphabetic.partition_point(|&row| *self.vocabulary[row] < *begin);
        let rest = &alphabetic[from..];
        &rest[..rest.partition_point(|&row| self.vocabulary[row].starts_with(begin))]
    }

    /// Returns the first row with a word.
    pub fn row_of(&self, word: &str) -> Option<usize> {
        self.beginning(word).first().copied().filter(|&row| self.vocabulary[row] == word)
    }

    /// Says that a word is unknown, with those that begin so or else are spelt like it.
    pub fn unknown(&self, word: &str) -> String {
        const OFFERED: usize = 3;
        /// To compare more spellings takes longer than a frame.
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

    /// Puts another table in the place of the words' vectors, in the basis that there is.
    pub fn set_table(&mut self, vectors: Table<f32>) {
        self.squares = squares(&vectors);
        self.vectors = Arc::new(vectors);
        self.points = self.points_in(&self.basis, &self.projection);
        self.shares = OnceLock::new();
    }

    /// The vectors that choose the axes.
    pub fn choosing(&self) -> &Table<f32> {
        self.at_end.as_ref().unwrap_or(&self.vectors)
    }

    /// How far the farthest word is from the origin of the picture; of a table that the model trains, at the end of
    /// that.
    pub fn reach(&self) -> f32 {
        let at_end = self.at_end.as_ref().map(|table| LensProjection::new(&self.projection, None).points_of(table));
        let points = at_end.as_ref().unwrap_or(&self.points);
        reach((0..points.rows()).map(|row| std::array::from_fn(|axis| points.get(row, axis))))
    }

    /// The centre of some words as they are seen.
    fn centre(&self, words: &[usize], raw: bool) -> Vec<f32> {
        match self.scale.as_ref().filter(|_| !raw) {
            Some(scale) => {
                let rows = self.choosing().gathered(words.iter().copied());
                centroid(&scale.lens.see(&rows), &(0..words.len()).collect::<Vec<_>>())
            }
            None => self.choosing().centroid(words),
        }
    }

    /// All words as points, in a basis of their own choice.
    pub fn points_in(&self, basis: &Basis, projection: &Projection) -> Matrix<f32> {
        let lens = self.scale.as_ref().filter(|_| !basis.raw).map(|scale| scale.lens.clone());
        LensProjection::new(projection, lens).points_of(&self.vectors)
    }
}

/// `‖e‖²` of each row.
pub fn squares(vectors: &Table<f32>) -> Arc<[f32]> {
    let of_part = |part: Matrix<f32>| (0..part.rows()).map(|row| dot(part.row(row), part.row(row))).collect::<Vec<_>>();
    vectors.map_parts(of_part).concat().into()
}

/// How far the farthest of the points is from the origin. Those that have no place do not count.
pub fn reach(points: impl Iterator<Item = [f32; 3]>) -> f32 {
    let length = |at: [f32; 3]| {
        let plain = at.iter().map(|x| x * x).sum::<f32>().sqrt();
        // The square of a large number is no f32.
        let wide = || at.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt().min(f64::from(f32::MAX)) as f32;
        if plain.is_finite() { plain } else { wide() }
    };
    let has_place = |at: &[f32; 3]| at.iter().all(|x| x.is_finite());
    points.filter(has_place).map(length).fold(f32::MIN_POSITIVE, f32::max)
}

/// The choice behind the axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Basis {
    /// Spread of the vectors on the stage at the last refit; none: of those at the lesson's beginning.
    pub fitted: Option<Arc<Spread>>,
    pub chosen: [Option<ChosenAxis>; AXES],
    /// Vectors as they are, of a model whose layers could share a scale: see [`StaticSpace::scale`].
    pub raw: bool,
}

/// From the centre of the static vectors of one group to that of another.
#[derive(Clone, Debug, PartialEq)]
pub struct ChosenAxis {
    pub from: WordGroup,
    pub to: WordGroup,
}

impl ChosenAxis {
    /// # Errors
    /// In words for the learner, if the two have one centre, or one that is not finite.
    pub fn direction(&self, space: &StaticSpace, raw: bool) -> Result<Vec<f32>, String> {
        let [from, to] = [&self.from, &self.to].map(|group| space.centre(&group.words, raw));
        let direction: Vec<f32> = to.iter().zip(&from).map(|(to, from)| to - from).collect();
        // Sums in another order may differ in their last digits alone.
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
    /// The basis that a lesson chooses.
    ///
    /// # Errors
    /// In words for the learner, if an end names nothing; that was checked.
    pub fn of_lesson(lesson: &Lesson, vocabulary: &[String]) -> Result<Self, String> {
        let mut basis = Self::default();
        for (slot, AxisEnds { from, to }) in basis.chosen.iter_mut().zip(&lesson.axes) {
            let read = |text: &str| WordGroup::read(text, lesson, vocabulary);
            *slot = Some(ChosenAxis { from: read(from)?, to: read(to)? });
        }
        Ok(basis)
    }

    /// The chosen axes, and the principal components of a spread where none is chosen.
    ///
    /// # Errors
    /// In words for the learner, if a chosen axis has no direction.
    pub fn projection_of(&self, spread: &Spread, space: &StaticSpace) -> Result<Projection, String> {
        if self.chosen.iter().all(Option::is_none) {
            return Ok(Projection::of_spread(spread));
        }
        let mut directions: [Option<Vec<f32>>; AXES] = Default::default();
        for (direction, chosen) in directions.iter_mut().zip(&self.chosen) {
            *direction = chosen.as_ref().map(|chosen| chosen.direction(space, self.raw)).transpose()?;
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

/// The first row of each word.
pub fn index_of(vocabulary: &[String]) -> HashMap<&str, usize> {
    vocabulary.iter().enumerate().rev().map(|(row, word)| (word.as_str(), row)).collect()
}

/// The rows of the words that are known.
pub fn known_rows(words: &[String], index: &HashMap<&str, usize>) -> Vec<usize> {
    words.iter().filter_map(|word| index.get(word.as_str()).copied()).collect()
}

/// The rows of a sentence's words; `None` if one is unknown.
pub fn rows_of(words: &[String], index: &HashMap<&str, usize>) -> Option<Vec<usize>> {
    words.iter().map(|word| index.get(word.as_str()).copied()).collect()
}

/// At least one word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordGroup {
    /// The group as it was written.
    pub text: String,
    /// Rows of the vocabulary, each once, in their order.
    pub words: Vec<usize>,
}

/// A pattern of the given number of bytes is the learner's own; a longer one is no pattern.
const TEXT_MAX: usize = 500;

impl WordGroup {
    /// # Errors
    /// In words for the learner: nothing is named, what is named is unknown, or nothing matches.
    pub fn read(text: &str, lesson: &Lesson, vocabulary: &[String]) -> Result<Self, String> {
        let text = text.trim();
        if text.len() > TEXT_MAX {
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
        // A file of vectors may have words as no sentence has them.
        if let Some(&row) = rows.get(item) {
            words.push(row);
            continue;
        }
        for word in tokenize(item) {
            let row = rows.get(word.as_str()).copied().ok_or_else(|| {
                let names = lesson.groups.iter().map(|group| group.name.as_str());
                let known = nearest(&word, names.chain(vocabulary.iter().map(String::as_str)));
                let hint = known.map_or(String::new(), |known| format!("; did you mean {known:?}?"));
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

/// Shares of the vectors of some tokens, as the picture sees them, and of their moves; `None` where nothing varies, or
/// nothing moves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TokenShares {
    /// Shares of the variance: of the static vectors, and of the states after each layer.
    pub states: Vec<Option<Shares>>,
    /// Shares of the squared lengths of the moves through each layer.
    pub moves: Vec<Option<Shares>>,
    /// Shares of the squared lengths of the moves from static to contextual.
    pub whole: Option<Shares>,
}

impl TokenShares {
    /// `stops`: the vectors of the tokens, static and after each layer, a row a token.
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

/// How many neighbours a list has.
pub const NEIGHBOURS: usize = 8;

/// Words near a vector in the true space, the nearest first, by cosine and by distance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Neighbours {
    pub by_cosine: Vec<Neighbour>,
    /// By the Euclidean distance.
    pub by_distance: Vec<Neighbour>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Neighbour {
    /// Row of the vocabulary.
    pub word: usize,
    pub cosine: f32,
    /// `‖a − b‖`
    pub distance: f32,
}
