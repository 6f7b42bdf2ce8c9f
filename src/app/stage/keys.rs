//! The keys of the stage: while the pointer is over it, or it was clicked last, and nothing is written anywhere.

use bevy::math::Vec2;
use egui::{Context, Event, Key, Modifiers, Popup};

use crate::app::view::ViewState;
use crate::view_model::search::{Emphasis, Hit};
use crate::view_model::stage::StageModel;

use super::camera::CameraRig;
use super::sight::place;
use super::view::{Hands, stage_id};

/// Of the key sheet, with what the pointer does.
pub const SHEET: [(&str, &str); 15] = [
    ("Left-drag", "orbit; in 2D, pan"),
    ("Right- or middle-drag", "pan"),
    ("Wheel", "zoom towards the pointer"),
    ("Click", "choose a token: its row of attention"),
    ("Double-click", "look at a point; where none is, home"),
    ("↑ ↓ ← →", "orbit; with Shift, pan"),
    ("+, minus", "zoom"),
    ("F", "look at the point, or the chosen word"),
    ("X, Y, Z", "look along an axis, then from behind"),
    ("2", "2D and back"),
    ("/", "search words; Enter: the next that is found"),
    ("I", "show only what is found, or is near"),
    ("Q", "the next word as the query; with Shift the one before"),
    ("Esc", "all points again; no word chosen"),
    ("Home", "camera home"),
];

/// A press of a key moves as a drag of so many points does, or a scroll.
const ORBIT: f32 = 22.0;
const PAN: f32 = 36.0;
const ZOOM: f32 = 50.0;
/// With the directions that the camera goes, y down.
const ARROWS: [(Key, Vec2); 4] =
    [(Key::ArrowLeft, Vec2::NEG_X), (Key::ArrowRight, Vec2::X), (Key::ArrowUp, Vec2::NEG_Y), (Key::ArrowDown, Vec2::Y)];

/// Acts on the keys of the stage, before any panel sees them.
pub fn keys(ctx: &Context, model: Option<&StageModel>, emphasis: &Emphasis, hands: &mut Hands, view: &mut ViewState) {
    let Some(model) = model.filter(|_| has_keyboard(ctx, hands)) else { return };
    let before = ctx.input(|input| input.events.len());
    turn(ctx, hands);
    let pressed = |key| ctx.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    for (axis, key) in [Key::X, Key::Y, Key::Z].into_iter().enumerate() {
        if pressed(key) {
            hands.rig.look_along(axis);
        }
    }
    if pressed(Key::Num2) {
        hands.rig.toggle_flat();
    }
    if pressed(Key::F) {
        let found = view.highlight.looked_at.and_then(|at| emphasis.matches().get(at).copied());
        let wanted = hands.hovered.or(view.selection.query.map(Hit::Token)).or(found);
        if let Some(place) = wanted.and_then(|hit| place(model, hit, view.walk.time())) {
            hands.rig.focus(place);
        }
    }
    if pressed(Key::I) {
        view.highlight.isolated = !view.highlight.isolated;
    }
    if pressed(Key::Slash) {
        view.search_requested = true;
    }
    let count = |modifiers| ctx.input_mut(|input| input.count_and_consume_key(modifiers, Key::Q)) as isize;
    // Shift first: without it the key counts with Shift too.
    let (back, on) = (count(Modifiers::SHIFT), count(Modifiers::NONE));
    let steps = on - back;
    if steps != 0 {
        choose(view, model.tokens.len(), steps);
    }
    // A card that says where a number comes from goes first.
    let is_theirs = (view.highlight.is_narrowed() || view.selection.query.is_some()) && view.trail.entry().is_none();
    if is_theirs && pressed(Key::Escape) {
        view.clear();
    }
    // What a key of the stage writes is for nobody.
    ctx.input_mut(|input| {
        if input.events.len() < before {
            input.events.retain(|event| !matches!(event, Event::Text(_)));
        }
    });
}

fn has_keyboard(ctx: &Context, hands: &Hands) -> bool {
    if ctx.text_edit_focused() || Popup::is_any_open(ctx) {
        return false;
    }
    match ctx.memory(|memory| memory.focused()) {
        Some(focused) => focused == stage_id(),
        None => hands.is_over,
    }
}

/// The camera goes where the arrow points.
fn turn(ctx: &Context, hands: &mut Hands) {
    let Hands { rig, size, .. } = hands;
    let count = |modifiers, key| ctx.input_mut(|input| input.count_and_consume_key(modifiers, key)) as f32;
    for (key, direction) in ARROWS {
        let shifted = count(Modifiers::SHIFT, key);
        let plain = count(Modifiers::NONE, key);
        let (pans, orbits) = if rig.is_flat() { (shifted + plain, 0.0) } else { (shifted, plain) };
        if pans > 0.0 {
            rig.pan(-direction * PAN * pans, *size);
        }
        if orbits > 0.0 {
            rig.orbit(-direction * ORBIT * orbits);
        }
    }
    let nearer = count(Modifiers::NONE, Key::Plus) + count(Modifiers::NONE, Key::Equals);
    let steps = nearer - count(Modifiers::NONE, Key::Minus);
    if steps != 0.0 {
        let size = size.max(Vec2::ONE);
        rig.zoom(steps * ZOOM, Vec2::ZERO, size.x / size.y);
    }
}

/// The word so many places on, round and round.
fn choose(view: &mut ViewState, tokens: usize, steps: isize) {
    if tokens == 0 {
        return;
    }
    let from = view.selection.query.map_or(if steps > 0 { -1 } else { 0 }, |query| query as isize);
    view.selection.query = Some((from + steps).rem_euclid(tokens as isize) as usize);
    view.selection.key = None;
}

/// Looks at the next point that was found, or the one before.
pub fn look_at_next(model: &StageModel, emphasis: &Emphasis, steps: isize, rig: &mut CameraRig, view: &mut ViewState) {
    let found = emphasis.matches();
    if found.is_empty() {
        return;
    }
    let from = view.highlight.looked_at.map_or(if steps > 0 { -1 } else { 0 }, |at| at as isize);
    let at = (from + steps).rem_euclid(found.len() as isize) as usize;
    view.highlight.looked_at = Some(at);
    if let Some(place) = place(model, found[at], view.walk.time()) {
        rig.focus(place);
    }
}
