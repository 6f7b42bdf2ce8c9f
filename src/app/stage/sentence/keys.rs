//! The keys of the sentence over the stage, once it was clicked: until something else is.

use attune_view::view_model::heads::Side;
use attune_view::view_model::sentence_arcs::{SentenceArcs, WordAt};
use egui::Context;

use super::{StripState, choose, layer, shown, strip_id};
use crate::app::actions::{Pressed, SentenceAction, drop_text, focus, pressed};
use crate::app::view::PanelView;

/// Acts on the keys of the sentence, before any panel sees them.
pub fn keys(ctx: &Context, model: Option<&SentenceArcs>, state: &mut StripState, view: &mut PanelView) {
    let Some(model) = model.filter(|_| focus::is_at(ctx, strip_id())) else { return };
    let is_chosen = view.selection.query.is_some() || state.source.is_some();
    let has_arcs = !model.layers.is_empty();
    let pressed = pressed(ctx, |action| match action {
        // A card that says where a number comes from goes first.
        SentenceAction::LetGo => view.trail.entry().is_none(),
        SentenceAction::WordBefore | SentenceAction::WordAfter => true,
        SentenceAction::HeadBefore | SentenceAction::HeadAfter | SentenceAction::Turn => has_arcs,
    });
    for Pressed { action, count, .. } in &pressed {
        let steps = *count as isize;
        match action {
            SentenceAction::WordBefore => step(model, state, view, -steps),
            SentenceAction::WordAfter => step(model, state, view, steps),
            SentenceAction::HeadBefore => step_head(model, view, -steps),
            SentenceAction::HeadAfter => step_head(model, view, steps),
            SentenceAction::Turn => state.direction = state.direction.other(),
            SentenceAction::LetGo if !is_chosen => ctx.memory_mut(|memory| memory.surrender_focus(strip_id())),
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

/// The word so many places on, in the line whose weights are shown; it stops at the ends.
fn step(model: &SentenceArcs, state: &mut StripState, view: &mut PanelView, steps: isize) {
    let layer = layer(model, view).map(|layer| &model.layers[layer]);
    let line = layer.map_or(Side::Sentence, |layer| layer.line_of(state.direction));
    let words = model.line(line);
    let placed: Vec<usize> = (0..words.len()).filter(|at| !words[*at].is_part).collect();
    let Some(last) = placed.len().checked_sub(1) else { return };
    let chosen = match line {
        Side::Sentence => view.selection.query.or_else(|| model.first_lit(&view.highlight.lit)),
        Side::Source => state.source,
    };
    // The first press chooses an end where nothing is chosen.
    let from = chosen.map(|at| placed.partition_point(|other| *other <= at).saturating_sub(1));
    let to = from.map_or(if steps > 0 { 0 } else { last }, |at| at.saturating_add_signed(steps).min(last));
    let direction = state.direction;
    choose(WordAt { side: line, position: placed[to] }, state, view);
    state.direction = direction;
    debug_assert!(shown(model, state, view, true).is_some() || model.layers.is_empty());
}

/// All heads of a layer, each of them alone, and so on through the layers.
fn step_head(model: &SentenceArcs, view: &mut PanelView, steps: isize) {
    let Some(now) = layer(model, view) else { return };
    let choices: Vec<(usize, Option<usize>)> = model
        .layers
        .iter()
        .enumerate()
        .flat_map(|(index, layer)| {
            // One head is all heads.
            let alone = layer.heads.iter().filter(|_| layer.heads.len() > 1).map(move |head| (index, Some(head.head)));
            std::iter::once((index, None)).chain(alone)
        })
        .collect();
    let only = view.selection.shown_head().filter(|_| model.layers[now].heads.len() > 1);
    let Some(at) = choices.iter().position(|choice| *choice == (now, only)) else { return };
    let (to, head) = choices[at.saturating_add_signed(steps).min(choices.len() - 1)];
    view.selection.show_head(head);
    if head.is_none() && to != now {
        view.selection.choose_head(model.layers[to].heads[0].head);
    }
}

/// Another layer: with all heads, or with the one alone that has the same place in it.
pub fn show_layer(model: &SentenceArcs, index: usize, view: &mut PanelView) {
    let before = layer(model, view).map(|layer| &model.layers[layer].heads);
    let own = before.and_then(|heads| heads.iter().position(|head| head.head == view.selection.head));
    let heads = &model.layers[index].heads;
    view.selection.choose_head(heads[own.unwrap_or(0).min(heads.len() - 1)].head);
}
