//! The points of the stage, in the lesson's one basis.

use crate::kernel::snapshot::{Neighbours, Snapshot};
use crate::kernel::token_labels::{occurrence, subscript};
use crate::numerics::Matrix;

/// Everything the 3D view draws.
#[derive(Clone, Debug, PartialEq)]
pub struct StageModel {
    /// The vocabulary, at rest at its static positions.
    pub words: Vec<WordPoint>,
    /// The current sentence, each token on its way from static to contextual.
    pub tokens: Vec<TokenPoint>,
    /// Names of the lesson's groups, in the order of their colours.
    pub groups: Vec<String>,
    /// What the axes are, with their share of the variance of the words that the lesson names: three, or as many as
    /// the vectors have dimensions.
    pub axes: Vec<AxisLabel>,
    /// Share of the variance that the axes show together.
    pub explained: f32,
    /// Radius around the origin that holds every static point: the scale of the picture, fixed for the lesson.
    pub radius: f32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct WordPoint {
    pub text: String,
    /// Colour of its group, as an index into the lesson's groups.
    pub group: Option<usize>,
    pub at: [f32; 3],
    /// The word is in the sentence: its resting point is the ghost of the moving one.
    pub in_sentence: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TokenPoint {
    pub text: String,
    /// Position in the sentence, from 0. Its colour is the same in every panel.
    pub position: usize,
    /// Distinguishes the occurrences of a word that stands more than once: 1, 2, ...
    pub occurrence: Option<usize>,
    pub group: Option<usize>,
    /// Static position: the ghost.
    pub start: [f32; 3],
    /// Contextual position with the weights in use.
    pub end: [f32; 3],
    /// Contextual position with the trained weights: where `end` was before weights were turned.
    pub trained_end: [f32; 3],
    /// The nearest other word by cosine in the true space, of the static vector and of the output.
    pub static_nearest: Option<(String, f32)>,
    pub contextual_nearest: Option<(String, f32)>,
}

impl TokenPoint {
    /// The live position at `time` in [0, 1], on the straight line from static to contextual.
    pub fn at(&self, time: f32) -> [f32; 3] {
        // Not `start + time (end − start)`, which need not round to the end itself.
        std::array::from_fn(|axis| (1.0 - time) * self.start[axis] + time * self.end[axis])
    }

    /// `apple` or, where the sentence has more than one, `apple₂`.
    pub fn label(&self) -> String {
        match self.occurrence {
            Some(n) => format!("{}{}", self.text, subscript(n)),
            None => self.text.clone(),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct AxisLabel {
    pub name: String,
    /// Share of the variance, in [0, 1].
    pub variance: f32,
}

impl StageModel {
    /// `None` until the static vectors are trained.
    pub fn of(snapshot: &Snapshot) -> Option<StageModel> {
        let space = snapshot.space.as_ref()?;
        let sentence = snapshot.model.as_ref().map(|model| &model.sentence);
        let in_sentence = |word| sentence.is_some_and(|s| s.tokens.iter().any(|t| t.word == Some(word)));
        let words = space
            .vocabulary
            .iter()
            .enumerate()
            .map(|(word, text)| WordPoint {
                text: text.clone(),
                group: space.group_of[word],
                at: row3(&space.points, word),
                in_sentence: in_sentence(word),
            })
            .collect::<Vec<_>>();
        let radius = reach(words.iter().map(|word| word.at));
        let tokens = sentence.map(|sentence| {
            let texts: Vec<&str> = sentence.tokens.iter().map(|t| t.text.as_str()).collect();
            sentence
                .tokens
                .iter()
                .enumerate()
                .map(|(i, token)| TokenPoint {
                    text: token.text.clone(),
                    position: i,
                    occurrence: occurrence(&texts, i),
                    group: token.word.and_then(|word| space.group_of[word]),
                    start: row3(&sentence.start, i),
                    end: row3(&sentence.end, i),
                    trained_end: row3(&sentence.trained_end, i),
                    static_nearest: nearest(&space.vocabulary, &sentence.static_neighbours[i]),
                    contextual_nearest: nearest(&space.vocabulary, &sentence.contextual_neighbours[i]),
                })
                .collect()
        });
        let (variance, names) = (space.projection.explained(), space.projection.names());
        let axes = names.into_iter().zip(variance).take(space.projection.dimensions());
        Some(StageModel {
            words,
            tokens: tokens.unwrap_or_default(),
            groups: snapshot.lesson.groups.iter().map(|group| group.name.clone()).collect(),
            axes: axes.map(|(name, variance)| AxisLabel { name: name.to_owned(), variance }).collect(),
            explained: variance.iter().sum(),
            radius,
        })
    }
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

fn nearest(vocabulary: &[String], neighbours: &Neighbours) -> Option<(String, f32)> {
    neighbours.by_cosine.first().map(|neighbour| (vocabulary[neighbour.word].clone(), neighbour.cosine))
}

fn row3(points: &Matrix<f32>, row: usize) -> [f32; 3] {
    let row = points.row(row);
    [row[0], row[1], row[2]]
}
