//! Flat still pictures: a sketch of a stage with its groups and the moves of some words, a map of the vocabulary, and
//! the allowed sizes of pictures.
//!
//! On the course page a sketch is the opening picture of a lesson, made from the trained lesson; in a comparison of two
//! models there is one for each.

use std::ops::RangeInclusive;
use std::sync::Arc;

use attune_core::kernel::Kernel;
use attune_core::kernel::command::{Command, SentenceCommand};
use attune_core::kernel::snapshot::{Snapshot, StaticSpace};
use attune_core::lesson::Lesson;
use attune_core::lesson::cells::CellKind;
use attune_engine::numerics::model::activations::HeadActivations;
use serde::{Deserialize, Serialize};

use super::ellipse::Ellipse;
use super::stage::{StageModel, TokenPoint};

/// The largest number of words in a sketch; more of them could not be told apart.
const DOTS_MAX: usize = 240;
/// The largest number of words whose moves are drawn.
const MOVES_MAX: usize = 12;

/// A position in the picture, from −1 to 1, with y upwards.
pub type At = [f32; 2];

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sketch {
    /// The words at their static points, with the index of their group.
    pub dots: Vec<(At, Option<usize>)>,
    /// The name, middle and index of each group.
    pub crowds: Vec<(String, At, usize)>,
    pub moves: Vec<SketchMove>,
    /// The words of the sentence.
    #[serde(default)]
    pub sentence: Vec<String>,
    /// The attention of the words that move, within the sentence.
    #[serde(default)]
    pub arcs: Vec<SketchArc>,
}

/// The attention that a moving word pays to another one, given by their positions in the sentence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SketchArc {
    pub query: usize,
    pub key: usize,
    /// The largest weight over the heads of the last layer.
    pub weight: f32,
    /// The group that the word reaches.
    pub group: Option<usize>,
}

/// The move of a word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SketchMove {
    pub label: String,
    pub start: At,
    pub end: At,
}

impl SketchMove {
    /// Returns the word's position at a time from 0 to 1.
    pub fn at(&self, time: f32) -> At {
        [0, 1].map(|axis| (1.0 - time) * self.start[axis] + time * self.end[axis])
    }
}

impl Sketch {
    /// Trains the lesson and draws its sketch; `None` if it cannot be trained.
    pub fn of(lesson: Lesson) -> Option<Self> {
        let sentence = opening(&lesson).map_or(0, |(sentence, _)| sentence);
        let mut kernel = Kernel::trained(Arc::new(lesson));
        if sentence > 0 {
            kernel.apply(Command::Sentence(SentenceCommand::Select(sentence)));
            kernel.settle();
        }
        Self::of_snapshot(&kernel.snapshot())
    }

    /// Returns the sketch of a snapshot's sentence, with the moves of the words that the lesson's first stage cell
    /// highlights, or of all words if it highlights none; `None` until there is a model.
    pub fn of_snapshot(snapshot: &Snapshot) -> Option<Self> {
        let lit = opening(&snapshot.lesson).map_or(&[][..], |(_, words)| words);
        let is_lit = |token: &TokenPoint| lit.is_empty() || lit.contains(&token.text);
        let stage = StageModel::by_words(snapshot)?;
        let mut sketch = Self::of_stage(&stage, is_lit);
        sketch.sentence = stage.tokens.iter().map(TokenPoint::label).collect();
        let lit = stage.tokens.iter().filter(|token| !token.is_part && is_lit(token)).take(MOVES_MAX);
        let heads =
            snapshot.model.as_ref()?.sentence.activations.blocks.last().map_or(&[][..], |block| &block.heads[..]);
        let reached = sketch.moves.iter().map(|way| sketch.reached(way)).collect::<Vec<_>>();
        for (token, group) in lit.zip(reached) {
            let arcs = arcs(token.position, group, stage.tokens.len(), heads).into_iter();
            // Occurrences of the same word begin at one point, and their attention to each other is not what separates
            // them.
            sketch.arcs.extend(arcs.filter(|arc| stage.tokens[arc.key].text != token.text));
        }
        Some(sketch)
    }

    /// Returns the sketch of a stage, with the moves of the words for which `is_lit` holds.
    pub fn of_stage(model: &StageModel, is_lit: impl Fn(&TokenPoint) -> bool) -> Self {
        let words = if model.hides_table { &[][..] } else { &model.words[..] };
        let tokens: Vec<&TokenPoint> =
            model.tokens.iter().filter(|token| !token.is_part && is_lit(token)).take(MOVES_MAX).collect();
        let ends = tokens.iter().flat_map(|token| [token.start, token.end]);
        let all: Vec<[f32; 3]> = words.iter().map(|word| word.at).chain(ends).collect();
        let frame = Frame::of(&all);
        let dots = words.iter().take(DOTS_MAX).map(|word| (frame.at(word.at), word.group)).collect();
        let crowd = |(group, name): (usize, &String)| {
            let members: Vec<At> =
                words.iter().filter(|word| word.group == Some(group)).map(|word| frame.at(word.at)).collect();
            let middle = |axis: usize| members.iter().map(|at| at[axis]).sum::<f32>() / members.len() as f32;
            (!members.is_empty()).then(|| (name.clone(), [middle(0), middle(1)], group))
        };
        let moves = tokens.iter().map(|token| SketchMove {
            label: token.label(),
            start: frame.at(token.start),
            end: frame.at(token.end),
        });
        let crowds = model.groups.iter().enumerate().filter_map(crowd).collect();
        Self { dots, crowds, moves: moves.collect(), ..Self::default() }
    }

    /// Returns the group that a word reaches: the one that is nearest to the end of the move, if the word came much
    /// nearer to it; `None` otherwise.
    pub fn reached(&self, way: &SketchMove) -> Option<usize> {
        /// The largest share of the first distance to the group that may be left at the end of the move.
        const LEFT: f32 = 0.5;
        let apart = |a: At, b: At| (a[0] - b[0]).hypot(a[1] - b[1]);
        let nearest = self.crowds.iter().min_by(|a, b| apart(a.1, way.end).total_cmp(&apart(b.1, way.end)))?;
        (apart(nearest.1, way.end) < LEFT * apart(nearest.1, way.start)).then_some(nearest.2)
    }

    /// Returns the ellipses of the groups that cover only a small part of the picture. `half` is half the width and
    /// half the height of the picture, whose y points down. The rim of each ellipse is at least `least` away from its
    /// middle.
    pub fn glows(&self, half: At, least: f32) -> Vec<(usize, Ellipse)> {
        /// The largest spread of a group that has an ellipse.
        const WIDE: f32 = 0.2;
        let of = |&(_, middle, group): &(String, At, usize)| {
            let own = self.dots.iter().filter(|(_, other)| *other == Some(group));
            let places: Vec<At> = own.map(|(place, _)| *place).collect();
            let away = |at: &At| (at[0] - middle[0]).powi(2) + (at[1] - middle[1]).powi(2);
            let spread = (places.iter().map(away).sum::<f32>() / places.len().max(1) as f32).sqrt();
            let seen: Vec<At> = places.iter().map(|[x, y]| [x * half[0], -y * half[1]]).collect();
            Some((group, Ellipse::of(&seen, least)?)).filter(|_| spread <= WIDE)
        };
        self.crowds.iter().filter_map(of).collect()
    }

    /// Returns whether two words begin at the same point and end far apart.
    pub fn splits(&self) -> bool {
        const APART: f32 = 0.5;
        let apart = |a: At, b: At| (a[0] - b[0]).hypot(a[1] - b[1]);
        let is_pair = |a: &SketchMove, b: &SketchMove| a.start == b.start && apart(a.end, b.end) > APART;
        self.moves.iter().any(|a| self.moves.iter().any(|b| is_pair(a, b)))
    }
}

/// Returns the arcs from a word to the words at which it looks, each with its largest weight in a head.
fn arcs(query: usize, group: Option<usize>, words: usize, heads: &[HeadActivations<f32>]) -> Vec<SketchArc> {
    /// The least weight of an arc; arcs with smaller ones would make the picture hard to read.
    const LEAST: f32 = 0.1;
    // Only heads whose queries and keys are the whole words of the sentence are used, not pieces or words of a source.
    let heads = heads.iter().filter(|head| head.weights.rows() == words && head.weights.cols() == words);
    let heads: Vec<_> = heads.collect();
    let arc = |key: usize| {
        let weight = heads.iter().map(|head| head.weights.row(query)[key]).fold(0.0, f32::max);
        (key != query && weight >= LEAST).then_some(SketchArc { query, key, weight, group })
    };
    (0..words).filter_map(arc).collect()
}

/// Returns the index of the sentence and the highlighted words of the lesson's first stage cell; `None` if there is no
/// stage cell.
fn opening(lesson: &Lesson) -> Option<(usize, &[String])> {
    lesson.cells.iter().find_map(|cell| match &cell.kind {
        CellKind::Stage { sentence, words, .. } => Some((*sentence, &words[..])),
        _ => None,
    })
}

/// The square of the first two axes that contains all points.
struct Frame {
    middle: At,
    half: f32,
}

impl Frame {
    fn of(points: &[[f32; 3]]) -> Self {
        let range = |axis: usize| {
            let along = points.iter().map(|point| point[axis]).filter(|x| x.is_finite());
            along.fold((f32::MAX, f32::MIN), |(least, most), x| (least.min(x), most.max(x)))
        };
        let [(left, right), (low, high)] = [range(0), range(1)];
        let half = ((right - left) / 2.0).max((high - low) / 2.0).max(f32::MIN_POSITIVE);
        Self { middle: [f32::midpoint(left, right), f32::midpoint(low, high)], half }
    }

    fn at(&self, point: [f32; 3]) -> At {
        [0, 1].map(|axis| ((point[axis] - self.middle[axis]) / self.half).clamp(-1.0, 1.0))
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct StillModel {
    pub points: Vec<StillPoint>,
    /// A text on how far the picture can be trusted.
    pub about: &'static str,
}

#[derive(Clone, Debug, PartialEq)]
pub struct StillPoint {
    pub text: String,
    /// The index of the word's group among the lesson's groups.
    pub group: Option<usize>,
    /// The position in the unit square, with y downwards; both axes have the same scale.
    pub at: [f32; 2],
}

const ABOUT: &str = "t-SNE keeps neighbours together and distorts the rest. Clusters of words can be meaningful, but \
    the distances between clusters, the sizes of the clusters and the directions mean little.";

impl StillModel {
    /// Builds the map; `flat` has two coordinates for each word of the vocabulary.
    pub fn of(space: &StaticSpace, flat: &[f32]) -> Self {
        let places = || flat.chunks_exact(2).map(|at| [at[0], at[1]]);
        let bound = |axis: usize, pick: fn(f32, f32) -> f32, from: f32| places().map(|at| at[axis]).fold(from, pick);
        let least = [0, 1].map(|axis| bound(axis, f32::min, f32::INFINITY));
        let most = [0, 1].map(|axis| bound(axis, f32::max, f32::NEG_INFINITY));
        let side = (most[0] - least[0]).max(most[1] - least[1]).max(f32::MIN_POSITIVE);
        let unit = |at: [f32; 2]| std::array::from_fn(|i| 0.5 + (at[i] - (least[i] + most[i]) / 2.0) / side);
        let words = space.vocabulary.iter().zip(&space.group_of).zip(places());
        let point = |((text, group), at): ((&String, &Option<usize>), _)| StillPoint {
            text: text.clone(),
            group: *group,
            at: unit(at),
        };
        Self { points: words.map(point).collect(), about: ABOUT }
    }
}

/// The allowed width and height, in pixels.
pub const SIDES: RangeInclusive<u32> = 1..=8192;
/// The largest number of pixels; while a picture is drawn and read back, each takes some thirty bytes.
pub const PIXELS_MAX: u32 = 20_000_000;

/// Returns whether a picture of this size can be drawn.
pub fn fits((width, height): (u32, u32)) -> bool {
    SIDES.contains(&width) && SIDES.contains(&height) && height <= highest(width)
}

/// Returns the largest height for this width, in pixels.
pub fn highest(width: u32) -> u32 {
    (PIXELS_MAX / width.max(1)).clamp(*SIDES.start(), *SIDES.end())
}

/// Returns the nearest size that can be drawn, keeping the width if possible.
pub fn nearest((width, height): (u32, u32)) -> (u32, u32) {
    let width = width.clamp(*SIDES.start(), *SIDES.end());
    (width, height.clamp(*SIDES.start(), highest(width)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_size_fits() {
        for size in [(0, 0), (1, 9000), (8192, 8192), (6000, 4000), (u32::MAX, u32::MAX), (1280, 720)] {
            assert!(fits(nearest(size)), "{size:?}");
            assert_eq!(fits(size), nearest(size) == size, "{size:?}");
        }
        assert_eq!(nearest((8192, 8192)), (8192, 2441));
    }
}
