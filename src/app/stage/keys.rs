//! The keys of the stage, once it was clicked: until something else is.

use attune_view::view_model::stage::StageModel;
use bevy::math::Vec2;
use egui::{Context, Rect};

use super::camera::CameraRig;
use super::projected::place;
use super::sentence::strip_id;
use super::view::{StageControls, stage_id};
use crate::app::actions::{Pressed, StageAction, drop_text, focus, pressed};
use crate::app::view::PanelView;
use crate::app::view::search::{Emphasis, Hit};

/// A press of a key moves as a drag of so many points does, or a scroll.
const ORBIT: f32 = 22.0;
const PAN: f32 = 36.0;
const ZOOM: f32 = 50.0;
/// The directions of the arrow keys, as the table of actions has them, y down.
const ARROWS: [Vec2; 4] = [Vec2::NEG_Y, Vec2::Y, Vec2::NEG_X, Vec2::X];

/// Acts on the keys of the stage, before any panel sees them.
pub fn keys(
    ctx: &Context,
    model: Option<&StageModel>,
    emphasis: &Emphasis,
    controls: &mut StageControls,
    view: &mut PanelView,
) {
    let is_own = model.is_some() && focus::is_at(ctx, stage_id());
    // The sentence has arrows and Esc of its own.
    let is_shared = is_own || model.is_some() && focus::is_at(ctx, strip_id());
    let is_writing = ctx.text_edit_focused();
    let pressed = pressed(ctx, |action| match action {
        // Wherever the keyboard is.
        StageAction::Home => !is_writing,
        // A card that says where a number comes from goes first.
        StageAction::Clear => is_own && view.trail.entry().is_none(),
        StageAction::Orbit | StageAction::Pan => is_own,
        _ => is_shared,
    });
    for pressed in &pressed {
        perform(ctx, pressed, model, emphasis, controls, view);
    }
    if !pressed.is_empty() {
        drop_text(ctx);
    }
}

fn perform(
    ctx: &Context,
    pressed: &Pressed<StageAction>,
    model: Option<&StageModel>,
    emphasis: &Emphasis,
    controls: &mut StageControls,
    view: &mut PanelView,
) {
    let Pressed { action, which, count } = *pressed;
    let (size, times) = (controls.size, count as f32);
    let zoom = |rig: &mut CameraRig, steps: f32| {
        let size = size.max(Vec2::ONE);
        rig.zoom(steps * ZOOM, Vec2::ZERO, size.x / size.y);
    };
    let step = |view: &mut PanelView, steps: isize| {
        let tokens = model.map_or(&[][..], |model| &model.tokens).iter();
        let places: Vec<usize> = tokens.filter(|token| !token.is_part).map(|token| token.position).collect();
        choose(view, &places, steps);
    };
    match action {
        // The camera goes where the arrow points.
        StageAction::Orbit => controls.rig.orbit(-ARROWS[which] * ORBIT * times),
        StageAction::Pan => controls.rig.pan(-ARROWS[which] * PAN * times, size),
        StageAction::Nearer => zoom(&mut controls.rig, times),
        StageAction::Farther => zoom(&mut controls.rig, -times),
        StageAction::Focus => {
            let found = view.highlight.looked_at.and_then(|at| emphasis.matches().get(at).copied());
            let wanted = controls.hovered.or(view.selection.query.map(Hit::Token)).or(found);
            if let Some(place) = model.zip(wanted).and_then(|(model, hit)| place(model, hit, view.walk.layer_time())) {
                controls.rig.focus(place);
            }
        }
        StageAction::LookAlong => controls.rig.look_along(which),
        StageAction::Flat => controls.rig.toggle_flat(),
        StageAction::Search => focus::ask(ctx, focus::stage_search()),
        StageAction::Isolate => view.highlight.isolated = !view.highlight.isolated,
        StageAction::NextQuery => step(view, count as isize),
        StageAction::QueryBefore => step(view, -(count as isize)),
        StageAction::Clear if view.highlight.is_narrowed() || view.selection.query.is_some() => view.clear(),
        StageAction::Clear => ctx.memory_mut(|memory| memory.surrender_focus(stage_id())),
        StageAction::Home => controls.rig.home(),
    }
}

/// Takes the keyboard from the stage in `area` when something else is clicked, whether that takes the keyboard or not.
pub fn leave(ctx: &Context, area: Rect) {
    let pressed = ctx.input(|input| input.pointer.any_pressed().then(|| input.pointer.interact_pos()).flatten());
    if pressed.is_some_and(|at| !area.contains(at)) {
        ctx.memory_mut(|memory| [stage_id(), strip_id()].into_iter().for_each(|part| memory.surrender_focus(part)));
    }
}

/// The word so many places on, round and round.
fn choose(view: &mut PanelView, places: &[usize], steps: isize) {
    if places.is_empty() {
        return;
    }
    let chosen = view.selection.query.and_then(|query| places.iter().position(|place| *place == query));
    let from = chosen.map_or(if steps > 0 { -1 } else { 0 }, |at| at as isize);
    let to = (from + steps).rem_euclid(places.len() as isize) as usize;
    view.selection.choose_query(Some(places[to]));
}

/// Looks at the next point that was found, or the one before.
pub fn look_at_next(model: &StageModel, emphasis: &Emphasis, steps: isize, rig: &mut CameraRig, view: &mut PanelView) {
    let found = emphasis.matches();
    if found.is_empty() {
        return;
    }
    let from = view.highlight.looked_at.map_or(if steps > 0 { -1 } else { 0 }, |at| at as isize);
    let at = (from + steps).rem_euclid(found.len() as isize) as usize;
    view.highlight.looked_at = Some(at);
    if let Some(place) = place(model, found[at], view.walk.layer_time()) {
        rig.focus(place);
    }
}
