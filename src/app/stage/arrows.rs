//! The lines of the stage: arrows from each ghost to its live point, the ground and the axes.

use crate::app::theme::Palette;
use crate::view_model::stage::StageModel;

use super::points::{Instance, scaled, shade, token_color};

const LINE: f32 = 0.0;
const ARROW: f32 = 1.0;
/// Widths in points.
const ARROW_WIDTH: f32 = 2.0;
const GRID_WIDTH: f32 = 1.0;
const AXIS_WIDTH: f32 = 1.4;
/// The ground lies this far below the origin and is ruled in squares of the second number.
const GROUND: f32 = -1.0;
const GRID_STEP: f32 = 0.25;
const GRID_HALF: i32 = 4;
/// How far an axis reaches on each side.
pub const AXIS_REACH: f32 = 1.0;

pub fn instances(model: &StageModel, lit: &[String], palette: &Palette) -> Vec<Instance> {
    let arrows = model.tokens.iter().map(|token| Instance {
        start: scaled(model, token.start),
        end: scaled(model, token.end),
        color: shade(palette, token_color(model, &token.text, token.group, palette), &token.text, lit),
        size: ARROW_WIDTH,
        kind: ARROW,
    });
    ground(palette).into_iter().chain(axes(model, palette)).chain(arrows).collect()
}

fn ground(palette: &Palette) -> Vec<Instance> {
    let reach = GRID_HALF as f32 * GRID_STEP;
    let line = |start, end| Instance { start, end, color: palette.grid, size: GRID_WIDTH, kind: LINE };
    (-GRID_HALF..=GRID_HALF)
        .map(|i| i as f32 * GRID_STEP)
        .flat_map(|x| [line([x, GROUND, -reach], [x, GROUND, reach]), line([-reach, GROUND, x], [reach, GROUND, x])])
        .collect()
}

fn axes(model: &StageModel, palette: &Palette) -> impl Iterator<Item = Instance> {
    (0..model.axes.len()).map(|axis| {
        let end = axis_end(axis);
        Instance { start: end.map(|x| -x), end, color: palette.axis, size: AXIS_WIDTH, kind: LINE }
    })
}

/// The positive end of an axis.
pub fn axis_end(axis: usize) -> [f32; 3] {
    std::array::from_fn(|i| if i == axis { AXIS_REACH } else { 0.0 })
}
