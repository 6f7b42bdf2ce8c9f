//! The keys of the sentence over the stage: while the pointer is over it, or it was clicked last, and nothing is
//! written anywhere.

use egui::{Context, Popup};

use crate::app::actions::{Pressed, SentenceAction, drop_text, pressed};
use crate::app::view::{PanelView, Selection};
use crate::view_model::sentence_arcs::{Line, SentenceArcs, WordAt};

use super::{StripState, choose, shown, strip_id};

/// Acts on the keys of the sentence, before any panel sees them.
pub fn keys(ctx: &Context, model: Option<&SentenceArcs>, state: &mut StripState, view: &mut PanelView) {
    let Some(model) = model.filter(|_| has_keyboard(ctx, state)) else { return };
    let is_chosen = view.selection.query.is_some() || state.source.is_some();
    let has_arcs = !model.layers.is_empty();
    let pressed = pressed(ctx, |action| match action {
        // A card that says where a number comes from goes first.
        SentenceAction::LetGo => is_chosen && view.trail.entry().is_none(),
        SentenceAction::WordBefore | SentenceAction::WordAfter => true,
        SentenceAction::HeadBefore | SentenceAction::HeadAfter | SentenceAction::Turn => has_arcs,
    });
    for Pressed { action, count, .. } in &pressed {
        let steps = *count as isize;
        match action {
            SentenceAction::WordBefore => step(model, state, view, -steps),
            SentenceAction::WordAfter => step(model, state, view, steps),
            SentenceAction::HeadBefore => step_head(model, view.selection, -steps),
            SentenceAction::HeadAfter => step_head(model, view.selection, steps),
            SentenceAction::Turn => state.direction = state.direction.other(),
            SentenceAction::LetGo => {
                state.source = None;
                view.selection.choose_query(None);
            }
        }
    }
    if !pressed.is_empty() {
        drop_text(ctx);
    }
}

fn has_keyboard(ctx: &Context, state: &StripState) -> bool {
    if ctx.text_edit_focused() || Popup::is_any_open(ctx) {
        return false;
    }
    match ctx.memory(|memory| memory.focused()) {
        Some(focused) => focused == strip_id(),
        None => state.is_over,
    }
}

/// The word so many places on, in the line whose weights are shown; it stops at the ends.
fn step(model: &SentenceArcs, state: &mut StripState, view: &mut PanelView, steps: isize) {
    let layer = model.layer_of(view.selection.head).map(|layer| &model.layers[layer]);
    let line = layer.map_or(Line::Sentence, |layer| layer.line_of(state.direction));
    let Some(last) = model.line(line).len().checked_sub(1) else { return };
    let chosen = match line {
        Line::Sentence => view.selection.query.or_else(|| model.first_lit(&view.highlight.lit)),
        Line::Source => state.source,
    };
    // The first press chooses an end where nothing is chosen.
    let to = chosen.map_or(if steps > 0 { 0 } else { last }, |at| at.saturating_add_signed(steps).min(last));
    let direction = state.direction;
    choose(WordAt { line, position: to }, state, view);
    state.direction = direction;
    debug_assert!(shown(model, state, view, true).is_some() || model.layers.is_empty());
}

/// All heads of a layer, each of them alone, and so on through the layers.
fn step_head(model: &SentenceArcs, selection: &mut Selection, steps: isize) {
    let choices: Vec<(usize, bool)> = model
        .layers
        .iter()
        .flat_map(|layer| {
            let all = (layer.heads.len() > 1).then_some(false);
            let alone = layer.heads.iter().map(move |head| (head.head, all.is_some()));
            all.map(|_| (layer.heads[0].head, false)).into_iter().chain(alone)
        })
        .collect();
    let layer = |head: usize| model.layer_of(head);
    let is_now = |(head, alone): &(usize, bool)| {
        *alone == selection.is_head_alone
            && if *alone { *head == selection.head } else { layer(*head) == layer(selection.head) }
    };
    let Some(now) = choices
        .iter()
        .position(is_now)
        .or_else(|| choices.iter().position(|(head, _)| layer(*head) == layer(selection.head)))
    else {
        return;
    };
    let (head, alone) = choices[now.saturating_add_signed(steps).min(choices.len() - 1)];
    let is_of_layer = layer(head) == layer(selection.head);
    selection.is_head_alone = alone;
    // All heads of the layer: the walk's stays the walk's.
    if head != selection.head && (alone || !is_of_layer) {
        selection.choose_head(head);
    }
}

/// Another layer: with all heads, or with the one alone that has the same place in it.
pub fn show_layer(model: &SentenceArcs, layer: usize, selection: &mut Selection) {
    let own = model
        .layer_of(selection.head)
        .and_then(|layer| model.layers[layer].heads.iter().position(|head| head.head == selection.head));
    let heads = &model.layers[layer].heads;
    let head = heads[own.unwrap_or(0).min(heads.len() - 1)].head;
    if head != selection.head {
        selection.choose_head(head);
    }
}
