//! The lines of the stage: arrows from each ghost to its live point, the axes and, as long as the view has depth,
//! the ground with a line from each token down to it.

use attune_view::view_model::search::{Emphasis, Visibility};
use attune_view::view_model::stage::{StageModel, TokenPoint};

use super::points::{Instance, scaled};
use crate::app::theme::Palette;

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
