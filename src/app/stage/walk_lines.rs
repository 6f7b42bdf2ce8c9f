//! Lines of the walk: from the query to its keys, and the arrows of its move, tip to tail.

use crate::app::theme::Palette;
use crate::quantity::Quantity;
use crate::view_model::path::{PathArrow, PathModel};
use crate::view_model::search::{Emphasis, Visibility};
use crate::view_model::stage::{StageModel, TokenPoint};
use crate::view_model::walk::{Step, WalkModel};

use super::points::{Instance, scaled};

const LINE: f32 = 0.0;
/// An arrow of its full length, whatever the time.
const STILL_ARROW: f32 = 2.0;
/// An arrow from a key to the query, which ends at its disc.
const FLOW: f32 = 5.0;
/// Widths in points: of a line without weight, and what a weight of 1 adds.
const THIN: f32 = 1.2;
const WEIGHT_WIDTH: f32 = 7.0;
const ARROW_WIDTH: f32 = 2.2;
/// Lines to keys, once the move is shown.
const FAINT: f32 = 0.25;
/// Opacity of lines before there are weights.
const PLAIN: f32 = 0.5;

/// `walk` is how far the walk is, a whole number at each step.
pub fn instances(
    model: &StageModel,
    walk: Option<&WalkModel>,
    path: Option<&PathModel>,
    emphasis: &Emphasis,
    at: f32,
    palette: &Palette,
) -> Vec<Instance> {
    let (Some(walk), Some(path)) = (walk, path) else { return Vec::new() };
    let mut lines = key_lines(model, walk, emphasis, at, palette);
    lines.extend(arrows(model, path, at, palette));
    lines.retain(Instance::has_place);
    lines
}

fn key_lines(model: &StageModel, walk: &WalkModel, emphasis: &Emphasis, at: f32, palette: &Palette) -> Vec<Instance> {
    let shown = Step::Score.share(at);
    // Keys of another sentence have no points.
    if shown == 0.0 || !walk.is_within(model.tokens.iter().map(TokenPoint::label)) {
        return Vec::new();
    }
    let scores = walk.by_key(Step::Scale, Quantity::Score);
    let weights = walk.by_key(Step::Softmax, Quantity::Weight);
    let (masked, weighed, mixed) = (Step::Scale.share(at), Step::Softmax.share(at), Step::Mix.share(at));
    let gone = Step::Output.share(at);
    let query = scaled(model, model.tokens[walk.focus.query].start);
    let hue = palette.head(walk.focus.head);
    let lines = |(key, token): (usize, &TokenPoint)| {
        let weight = weights.get(key).copied().unwrap_or(0.0);
        let is_hidden = scores.get(key) == Some(&f32::NEG_INFINITY);
        let seen = if is_hidden { 1.0 - masked } else { 1.0 };
        let alpha = shown * seen * (PLAIN + (1.0 - PLAIN) * weighed) * (1.0 - (1.0 - FAINT) * gone);
        let size = THIN + WEIGHT_WIDTH * weight * weighed;
        // What weighs next to nothing is no line any more.
        let is_drawn = key != walk.focus.query && alpha > 0.0 && emphasis.token(key) != Visibility::Hidden;
        let start = scaled(model, token.start);
        let line = |end, alpha, kind| Instance { start, end, color: hue.gamma_multiply(alpha), size, kind };
        // The value comes along the line; once it is there the line is an arrow.
        let reached = std::array::from_fn(|axis| start[axis] + mixed * (query[axis] - start[axis]));
        let still = (is_drawn && mixed < 1.0).then(|| line(query, alpha * (1.0 - (1.0 - PLAIN) * mixed), LINE));
        let flowing = (is_drawn && mixed > 0.0).then(|| line(reached, alpha, FLOW));
        still.into_iter().chain(flowing)
    };
    model.tokens.iter().enumerate().flat_map(lines).collect()
}

/// One after the other they grow; the place of the token begins them, where the sentence knows places.
fn arrows(model: &StageModel, path: &PathModel, at: f32, palette: &Palette) -> Vec<Instance> {
    let shown = Step::Output.share(at);
    let Some(query) = model.tokens.get(path.query).filter(|_| shown > 0.0) else { return Vec::new() };
    let count = path.arrows.len().max(1) as f32;
    let place = (query.start != path.from).then(|| Instance {
        start: scaled(model, query.start),
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
            color: color(model, arrow, palette),
            size: ARROW_WIDTH,
            kind: STILL_ARROW,
        })
    });
    place.into_iter().chain(grown).collect()
}

/// A head's hue; a word's colour where it counts through all heads.
fn color(model: &StageModel, arrow: &PathArrow, palette: &Palette) -> egui::Color32 {
    let token = arrow.key.and_then(|key| model.tokens.get(key));
    match (arrow.head, token) {
        (Some(head), _) => palette.head(head),
        (None, Some(token)) => palette.token(token.group),
        (None, None) => palette.ink_soft,
    }
}
