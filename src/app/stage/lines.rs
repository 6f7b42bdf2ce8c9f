//! The lines of the stage: arrows from each ghost to its live point, the axes and, as long as the view has depth,
//! the ground with a line from each token down to it; those of the stage cell between words; and those of the walk, from
//! the query to its keys.

use attune_engine::quantity::Quantity;
use attune_view::explain::path::{PathArrow, PathModel};
use attune_view::explain::walk::{Step, WalkModel};
use attune_view::view_model::heads::Side;
use attune_view::view_model::stage::{StageModel, TokenPoint};

use super::points::{Instance, scaled};
use crate::app::theme::{Palette, weight_line};
use crate::app::view::search::{Emphasis, Visibility};
use crate::app::view::walk::ease;

const LINE: f32 = 0.0;
const ARROW: f32 = 1.0;
/// From the live point to the ground below it.
const DROP: f32 = 3.0;
const GROUND_LINE: f32 = 4.0;
/// Widths in points.
const ARROW_WIDTH: f32 = 2.0;
const GRID_WIDTH: f32 = 1.0;
const AXIS_WIDTH: f32 = 1.4;
const DROP_WIDTH: f32 = 1.0;
const WORD_LINE_WIDTH: f32 = 1.4;
/// How far a line to the ground steps back towards it.
const DROP_FAINTNESS: f32 = 0.75;
/// The ground lies this far below the origin, as the shader has it too, and is ruled in squares of the second number.
const GROUND: f32 = -1.0;
const GRID_STEP: f32 = 0.25;
const GRID_HALF: i32 = 4;
/// How far an axis reaches on each side.
pub const AXIS_REACH: f32 = 1.0;

/// The ground and the axes.
pub fn of_space(model: &StageModel, palette: &Palette) -> Vec<Instance> {
    ground(palette).into_iter().chain(axes(model, palette)).collect()
}

/// The moves of the words that are lit, from static to contextual.
pub fn of_moves(model: &StageModel, emphasis: &Emphasis, palette: &Palette) -> Vec<Instance> {
    let from_to = |token: &TokenPoint, faintness: f32, size, kind| Instance {
        start: scaled(model, token.start),
        end: scaled(model, token.end),
        color: palette.token(token.group).lerp_to_gamma(palette.stage, faintness),
        size,
        kind,
    };
    let lit = || model.tokens.iter().filter(|token| emphasis.token(token.position) == Visibility::Lit);
    let drops = lit().map(|token| from_to(token, DROP_FAINTNESS, DROP_WIDTH, DROP));
    let arrows = lit().map(|token| from_to(token, 0.0, ARROW_WIDTH, ARROW));
    drops.chain(arrows).filter(Instance::has_place).collect()
}

/// The lines of the stage cell between words that are seen, at their static points.
pub fn of_words(model: &StageModel, emphasis: &Emphasis, palette: &Palette) -> Vec<Instance> {
    let line = |ends: [usize; 2]| {
        let [start, end] = ends.map(|word| scaled(model, model.words[word].at));
        Instance { start, end, color: palette.ink_faint, size: WORD_LINE_WIDTH, kind: LINE }
    };
    emphasis.lines().map(line).filter(Instance::has_place).collect()
}

fn ground(palette: &Palette) -> Vec<Instance> {
    let reach = GRID_HALF as f32 * GRID_STEP;
    let line = |start, end| Instance { start, end, color: palette.grid, size: GRID_WIDTH, kind: GROUND_LINE };
    (-GRID_HALF..=GRID_HALF)
        .map(|i| i as f32 * GRID_STEP)
        .flat_map(|x| [line([x, GROUND, -reach], [x, GROUND, reach]), line([-reach, GROUND, x], [reach, GROUND, x])])
        .collect()
}

fn axes(model: &StageModel, palette: &Palette) -> impl Iterator<Item = Instance> {
    (0..model.axes.len()).map(|axis| {
        let end = axis_end(axis);
        // One that runs between two named ends is a mark to be read.
        let color = if model.axes[axis].ends.is_some() { palette.ink_faint } else { palette.axis };
        Instance { start: end.map(|x| -x), end, color, size: AXIS_WIDTH, kind: LINE }
    })
}

/// The positive end of an axis.
pub fn axis_end(axis: usize) -> [f32; 3] {
    std::array::from_fn(|i| if i == axis { AXIS_REACH } else { 0.0 })
}

/// An arrow of its full length, whatever the time.
const STILL_ARROW: f32 = 2.0;
/// Width in points of a line before there are weights.
const THIN: f32 = 1.2;
const PATH_WIDTH: f32 = 2.2;
/// Lines to keys, once the move is shown.
const FAINT: f32 = 0.25;
/// Opacity of lines before there are weights.
const PLAIN: f32 = 0.5;

/// The walk and the arrows that it shows.
#[derive(Clone, Copy)]
pub struct Walked<'a> {
    pub walk: &'a WalkModel,
    pub path: &'a PathModel,
    /// Arrows of the words in this head alone.
    pub mix: Option<&'a PathModel>,
}

impl Walked<'_> {
    /// The place of a word before the layer moves it; words of another sentence have none.
    fn place(&self, model: &StageModel, side: Side, index: usize) -> Option<[f32; 3]> {
        match side {
            Side::Sentence => model.tokens.get(index).map(|token| token.start),
            Side::Source => self.walk.source.get(index).map(|word| word.from),
        }
    }
}

/// Lines from the query to its keys, and the arrows of its move, tip to tail; `at` is how far the walk is, a whole number
/// at each step.
pub fn of_walk(
    model: &StageModel,
    walked: Option<Walked>,
    emphasis: &Emphasis,
    at: f32,
    palette: &Palette,
) -> Vec<Instance> {
    let labels = model.tokens.iter().map(TokenPoint::label);
    let Some(walked) = walked.filter(|walked| model.is_of_words || walked.walk.fits(labels)) else {
        return Vec::new();
    };
    let is_hidden = |token| emphasis.token(token) == Visibility::Hidden;
    if walked.walk.query_side == Side::Sentence && is_hidden(walked.walk.focus.query) {
        return Vec::new();
    }
    let mut lines = arrows(model, &walked, at, palette);
    // Steps are of pieces: between words there is nothing but the move.
    if !model.is_of_words {
        let of_keys = key_lines(model, &walked, emphasis, at, palette).into_iter();
        lines = of_keys.chain(sliding(model, &walked, at, palette)).chain(lines).collect();
    }
    lines.retain(Instance::has_place);
    lines
}

fn key_lines(model: &StageModel, walked: &Walked, emphasis: &Emphasis, at: f32, palette: &Palette) -> Vec<Instance> {
    let walk = walked.walk;
    let (shown, query) = (Step::Score.share(at), walked.place(model, walk.query_side, walk.focus.query));
    let Some(query) = query.filter(|_| shown > 0.0) else { return Vec::new() };
    let scores = walk.by_key(Step::Scale, Quantity::Score);
    let weights = walk.by_key(Step::Softmax, Quantity::Weight);
    let (masked, weighed) = (Step::Scale.share(at), Step::Softmax.share(at));
    let gone = Step::Output.share(at);
    let hue = palette.head(walk.own);
    let line = |key: usize| {
        let weight = weights.get(key).copied().unwrap_or(0.0);
        let is_hidden = scores.get(key) == Some(&f32::NEG_INFINITY);
        let seen = if is_hidden { 1.0 - masked } else { 1.0 };
        let weigh = |plain: f32, weight: f32| plain + (weight - plain) * weighed;
        let alpha = shown * seen * weigh(PLAIN, weight_line::opacity(weight)) * (1.0 - (1.0 - FAINT) * gone);
        let is_itself = walk.query_side == walk.key_side && key == walk.focus.query;
        let is_out = walk.key_side == Side::Sentence && emphasis.token(key) == Visibility::Hidden;
        let start = walked.place(model, walk.key_side, key).filter(|_| !is_itself && !is_out && alpha > 0.0)?;
        let size = weigh(THIN, weight_line::width(weight));
        let (start, end) = (scaled(model, start), scaled(model, query));
        Some(Instance { start, end, color: hue.gamma_multiply(alpha), size, kind: LINE })
    };
    (0..walk.keys.len()).filter_map(line).collect()
}

/// Weighted values of the head as arrows: each slides from its word to the query, until they lie tip to tail. What they
/// come to there is the head's share of the move.
fn sliding(model: &StageModel, walked: &Walked, at: f32, palette: &Palette) -> Vec<Instance> {
    let (shown, gone) = (Step::Mix.share(at), Step::Output.share(at));
    let Some(mix) = walked.mix.filter(|_| shown > 0.0 && gone < 1.0) else { return Vec::new() };
    let hue = palette.head(walked.walk.own).gamma_multiply(1.0 - gone);
    let arrow = |arrow: &PathArrow| {
        let from = walked.place(model, walked.walk.key_side, arrow.key?)?;
        let slid = ease(shown);
        let start: [f32; 3] = std::array::from_fn(|axis| from[axis] + slid * (arrow.from[axis] - from[axis]));
        let end = std::array::from_fn(|axis| start[axis] + arrow.to[axis] - arrow.from[axis]);
        let (start, end) = (scaled(model, start), scaled(model, end));
        Some(Instance { start, end, color: hue, size: PATH_WIDTH, kind: STILL_ARROW })
    };
    mix.arrows.iter().filter_map(arrow).collect()
}

/// One after the other they grow; the place of the token begins them, where the sentence knows places.
fn arrows(model: &StageModel, walked: &Walked, at: f32, palette: &Palette) -> Vec<Instance> {
    let (shown, path) = (Step::Output.share(at), walked.path);
    let start = walked.place(model, walked.walk.query_side, path.query);
    let Some(start) = start.filter(|_| shown > 0.0) else { return Vec::new() };
    let count = path.arrows.len().max(1) as f32;
    let place = (start != path.from).then(|| Instance {
        start: scaled(model, start),
        end: scaled(model, path.from),
        color: palette.ink_faint,
        size: THIN,
        kind: STILL_ARROW,
    });
    let grown = path.arrows.iter().enumerate().filter_map(|(index, arrow)| {
        let reach = (shown * count - index as f32).clamp(0.0, 1.0);
        let tip = std::array::from_fn(|axis| (1.0 - reach) * arrow.from[axis] + reach * arrow.to[axis]);
        (reach > 0.0).then(|| Instance {
            start: scaled(model, arrow.from),
            end: scaled(model, tip),
            color: color(model, walked.walk, arrow, palette),
            size: PATH_WIDTH,
            kind: STILL_ARROW,
        })
    });
    place.into_iter().chain(grown).collect()
}

/// A head's hue; a word's colour where it counts through all heads; the part's of what no head adds.
fn color(model: &StageModel, walk: &WalkModel, arrow: &PathArrow, palette: &Palette) -> egui::Color32 {
    let token = arrow.key.filter(|_| walk.key_side == Side::Sentence).and_then(|key| model.tokens.get(key));
    match (arrow.own, token) {
        (Some(own), _) => palette.head(own),
        (None, Some(token)) => palette.token(token.group),
        (None, None) => arrow.part.map_or(palette.ink_soft, |part| palette.part(part)),
    }
}
