//! From the stage's model to the points' instance buffer.

use attune_view::view_model::stage::{GhostPoint, StageModel, TokenPoint};
use bevy::math::Vec3;
use egui::{Color32, Rgba};

use super::camera::Content;
use crate::app::theme::Palette;
use crate::app::view::search::{Emphasis, Visibility};

/// Radii in points on the screen at the target's depth: zooming in parts the points instead of inflating them.
pub const WORD_RADIUS: f32 = 4.6;
/// Radius of a word without a group among many: visible, but it does not compete.
pub const QUIET_RADIUS: f32 = 3.2;
pub const TOKEN_RADIUS: f32 = 7.6;
/// No point is drawn smaller than this.
pub const LEAST_RADIUS: f32 = 2.5;

/// Numbers of one instance: start, end, colour, size, kind. The shader's `Instance`.
pub const INSTANCE_FLOATS: usize = 12;

/// All points are labelled when there are no more than this.
const ALL_LABELLED: usize = 60;

pub const DISC: f32 = 0.0;
pub const RING: f32 = 1.0;
/// Rings in strokes, as many as the shader draws.
const DASHED: f32 = 3.0;
const DOTTED: f32 = 4.0;
pub const DASHES: usize = 4;
pub const DOTS: usize = 8;

/// One point or line as the shader reads it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Instance {
    pub start: [f32; 3],
    pub end: [f32; 3],
    pub color: Color32,
    /// Radius or width, in points.
    pub size: f32,
    pub kind: f32,
}

impl Instance {
    /// Whether the point has a finite place; one without cannot be drawn.
    pub fn has_place(&self) -> bool {
        has_place(self.start) && has_place(self.end)
    }

    fn floats(&self) -> [f32; INSTANCE_FLOATS] {
        let ([a, b, c], [d, e, f]) = (self.start, self.end);
        let [red, green, blue, alpha] = Rgba::from(self.color).to_rgba_unmultiplied();
        [a, b, c, d, e, f, red, green, blue, alpha, self.size, self.kind]
    }
}

/// The buffer's bytes.
pub fn bytes(instances: impl IntoIterator<Item = Instance>) -> Vec<u8> {
    instances.into_iter().flat_map(|instance| instance.floats()).flat_map(f32::to_ne_bytes).collect()
}

/// Model coordinates to scene coordinates: one isotropic scale, fixed for the lesson.
pub fn scaled(model: &StageModel, at: [f32; 3]) -> [f32; 3] {
    at.map(|x| x / model.radius.max(f32::MIN_POSITIVE))
}

/// The colour of a word or token, stepped back when others are lit.
pub fn shade(palette: &Palette, color: Color32, shown: Visibility) -> Color32 {
    if shown == Visibility::Faded { palette.dimmed(color) } else { color }
}

/// A point that has no place cannot be drawn.
pub fn has_place(at: [f32; 3]) -> bool {
    at.iter().all(|x| x.is_finite())
}

/// So few points that all of them are labelled.
pub fn is_small(model: &StageModel) -> bool {
    model.words.len() + model.tokens.len() <= ALL_LABELLED
}

/// Every disc and ring of the scene; `old`: those of the picture before this one too.
pub fn instances(model: &StageModel, emphasis: &Emphasis, old: bool, palette: &Palette) -> Vec<Instance> {
    let words = emphasis.shown_words(model).map(|index| word_point(model, index, emphasis.word(index), palette));
    let in_sight = || model.tokens.iter().filter(|token| emphasis.token(token.position) != Visibility::Hidden);
    let ghosts =
        in_sight().filter(|token| token.end != token.trained_end).map(|token| trained_ghost(model, token, palette));
    let tokens = in_sight().map(|token| token_point(model, token, emphasis.token(token.position), palette));
    let old =
        model.ghosts.iter().filter(|_| old && !emphasis.is_isolated()).map(|ghost| old_ghost(model, ghost, palette));
    let split = in_sight().filter(|token| token.pieces > 1);
    let split = split.map(|token| static_place(model, token, emphasis.token(token.position), palette));
    let begun = in_sight().filter(|token| token.start != token.static_at).map(|token| beginning(model, token, palette));
    let all = old.chain(words).chain(split).chain(ghosts).chain(begun).chain(tokens);
    all.filter(Instance::has_place).collect()
}

fn word_point(model: &StageModel, index: usize, shown: Visibility, palette: &Palette) -> Instance {
    let word = &model.words[index];
    let at = scaled(model, word.at);
    let (color, size, kind) = if model.is_in_sentence(index) {
        (palette.token(word.group), TOKEN_RADIUS, RING)
    } else if word.group.is_none() && !is_small(model) {
        (palette.dimmed(palette.word), QUIET_RADIUS, DISC)
    } else {
        (palette.word_of(word.group), WORD_RADIUS, DISC)
    };
    Instance { start: at, end: at, color: shade(palette, color, shown), size, kind }
}

fn token_point(model: &StageModel, token: &TokenPoint, shown: Visibility, palette: &Palette) -> Instance {
    let color = shade(palette, palette.token(token.group), shown);
    Instance { start: scaled(model, token.start), end: scaled(model, token.end), color, size: TOKEN_RADIUS, kind: DISC }
}

/// The static place of a word in pieces, which is none of the table's.
fn static_place(model: &StageModel, token: &TokenPoint, shown: Visibility, palette: &Palette) -> Instance {
    let (at, color) = (scaled(model, token.static_at), shade(palette, palette.token(token.group), shown));
    Instance { start: at, end: at, color, size: TOKEN_RADIUS, kind: RING }
}

/// The token's place before the layer that is shown, where its arrow begins.
fn beginning(model: &StageModel, token: &TokenPoint, palette: &Palette) -> Instance {
    let at = scaled(model, token.start);
    let color = palette.dimmed(palette.token(token.group));
    Instance { start: at, end: at, color, size: LEAST_RADIUS, kind: DISC }
}

/// The token's place before weights were edited.
fn trained_ghost(model: &StageModel, token: &TokenPoint, palette: &Palette) -> Instance {
    let (start, end) = (scaled(model, token.start), scaled(model, token.trained_end));
    let color = palette.dimmed(palette.token(token.group));
    Instance { start, end, color, size: TOKEN_RADIUS, kind: DASHED }
}

/// A point's place before the lesson was trained again.
fn old_ghost(model: &StageModel, ghost: &GhostPoint, palette: &Palette) -> Instance {
    let is_token = model.tokens.iter().any(|token| token.text == ghost.text);
    let own = if is_token { palette.token(ghost.group) } else { palette.word_of(ghost.group) };
    let color = palette.dimmed(own);
    let (start, end) = (scaled(model, ghost.start), scaled(model, ghost.end));
    Instance { start, end, color, size: WORD_RADIUS, kind: DOTTED }
}

/// The points that the picture is about: all tokens, before attention, between its layers and after it, and the words of
/// groups; all words, where there are none of these.
pub fn extent(model: &StageModel) -> Content {
    let grouped = if model.hides_table { &[] } else { model.words.grouped() };
    let named = grouped.iter().chain(&model.in_sentence).map(|&word| model.words[word].at);
    let tokens = model.tokens.iter().chain(&model.second);
    let tokens = tokens.flat_map(|token| [token.start, token.end].into_iter().chain(token.between.iter().copied()));
    let placed = |at: [f32; 3]| has_place(at).then(|| Vec3::from(scaled(model, at)));
    let about: Vec<Vec3> = named.chain(tokens).filter_map(placed).collect();
    if about.is_empty() {
        return Content::of(model.words.iter().filter_map(|word| placed(word.at)));
    }
    Content::of(about)
}
