//! A small flat picture of a stage: the crowds of its groups, and the ways of some words. On the course page it is the
//! opening picture of a lesson, made from the trained lesson itself; beside another model, one picture for each.

use std::sync::Arc;

use attune_core::kernel::command::{Command, SentenceCommand};
use attune_core::kernel::state::Kernel;
use attune_core::lesson::Lesson;
use attune_core::lesson::cells::CellKind;
use serde::{Deserialize, Serialize};

use super::stage::{StageModel, TokenPoint};

/// Words of a picture; more are a grey cloud.
const DOTS_MAX: usize = 240;
/// Words whose way is drawn.
const MOVES_MAX: usize = 12;

/// A place in the picture, from −1 to 1, upwards.
pub type At = [f32; 2];

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sketch {
    /// Words at their static points, with the colour of their group.
    pub dots: Vec<(At, Option<usize>)>,
    /// Name, middle and colour of each group.
    pub crowds: Vec<(String, At, usize)>,
    pub moves: Vec<SketchMove>,
}

/// A word on its way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SketchMove {
    pub label: String,
    pub start: At,
    pub end: At,
}

impl Sketch {
    /// Trains the lesson and draws it; `None` where it cannot be trained.
    pub fn of(lesson: Lesson) -> Option<Self> {
        let first = lesson.cells.iter().find_map(|cell| match &cell.kind {
            CellKind::Stage { sentence, words, .. } => Some((*sentence, words.clone())),
            _ => None,
        });
        let (sentence, lit) = first.unwrap_or_default();
        let mut kernel = Kernel::trained(Arc::new(lesson));
        if sentence > 0 {
            kernel.apply(Command::Sentence(SentenceCommand::Select(sentence)));
            kernel.settle();
        }
        let is_lit = |token: &TokenPoint| lit.is_empty() || lit.contains(&token.text);
        Some(Self::of_stage(&StageModel::by_words(&kernel.snapshot())?, is_lit))
    }

    /// The picture of a stage, with the ways of some of the sentence's words.
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
        Self { dots, crowds: model.groups.iter().enumerate().filter_map(crowd).collect(), moves: moves.collect() }
    }
}

/// The part of the first two axes that holds everything.
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
