//! What the changes do to one word: how far it moved, what is near it, and its weights before and after.

use egui::{CornerRadius, Label, Rect, RichText, Sense, Stroke, StrokeKind, Ui, vec2};

use crate::app::theme::{self, Palette, size};
use crate::app::view_state::ViewState;
use crate::view_model::provenance::Entry;
use crate::view_model::what_if::{Effect, EffectRow, WhatIfModel};

use super::provenance::number_ui;

/// Weights that differ by less look the same.
const SEEN: f32 = 5e-4;

pub fn effect_ui(ui: &mut Ui, model: &WhatIfModel, view: &mut ViewState) {
    if model.effects.is_empty() {
        return;
    }
    let chosen = view.query.and_then(|query| Some((query, model.effects.get(query)?)));
    let Some((query, effect)) = chosen else {
        let most = model.effects.iter().enumerate().max_by(|a, b| a.1.moved.total_cmp(&b.1.moved));
        let Some((token, effect)) = most else { return };
        let words = format!(
            "Most of all it moved {}, by {:.3}. Choose a word above to see more.",
            model.tokens[token], effect.moved
        );
        ui.add(Label::new(words).wrap());
        return;
    };
    ui.add(Label::new(said(&model.tokens[query], effect)).wrap().selectable(true));
    for row in &effect.rows {
        ui.push_id(row.head, |ui| row_ui(ui, row, query, view));
    }
}

fn said(token: &str, effect: &Effect) -> String {
    let moved = format!("{token} is {:.3} away from its unchanged place.", effect.moved);
    let near = |near: &(String, f32)| format!("{} (cosine {:.3})", near.0, near.1);
    match &effect.nearest {
        [Some(before), Some(now)] if before.0 == now.0 => {
            format!("{moved} Nearest to it is still {}; it was {:.3}.", near(now), before.1)
        }
        [Some(before), Some(now)] => format!("{moved} Nearest to it is {}; it was {}.", near(now), near(before)),
        _ => moved,
    }
}

/// A bar for each key: filled now, and an outline where it was.
fn row_ui(ui: &mut Ui, row: &EffectRow, query: usize, view: &mut ViewState) {
    const WORD: f32 = 84.0;
    const NUMBERS: f32 = 112.0;
    let palette = Palette::of(ui.visuals().dark_mode);
    let hue = palette.head(row.head);
    let is_same = row.before.iter().zip(&row.now).all(|(before, now)| (before - now).abs() < SEEN);
    if is_same {
        ui.weak(format!("{}: its weights are the same.", row.title));
        return;
    }
    ui.horizontal(|ui| {
        ui.label(RichText::new(&row.title).font(theme::strong(size::BODY)).color(hue));
        ui.weak("filled: now; outlined: unchanged");
    });
    for (key, word) in row.keys.iter().enumerate() {
        let (before, now) = (row.before[key], row.now[key]);
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing = vec2(size::GAP_TIGHT, 0.0);
            let word = Label::new(RichText::new(word).size(size::SMALL).color(palette.ink)).truncate();
            ui.allocate_ui(vec2(WORD, size::CHIP), |ui| {
                ui.set_min_width(WORD);
                ui.add(word);
            });
            let width = (ui.available_width() - NUMBERS).max(size::CHART_MIN / 2.0);
            let (rect, response) = ui.allocate_exact_size(vec2(width, size::CHIP), Sense::hover());
            let bar =
                |weight: f32| Rect::from_min_size(rect.min, vec2(rect.width() * weight.clamp(0.0, 1.0), rect.height()));
            let radius = CornerRadius::same(size::RADIUS_SMALL);
            ui.painter().rect_filled(rect, radius, palette.raised);
            ui.painter().rect_filled(bar(now), radius, hue);
            ui.painter().rect_stroke(bar(before), radius, Stroke::new(size::HAIRLINE, palette.ink), StrokeKind::Inside);
            response.on_hover_text(format!("{before:.4} unchanged, {now:.4} now"));
            ui.label(RichText::new(format!("{before:.3} →")).font(theme::mono(size::SMALL)).color(palette.ink_soft));
            let text = RichText::new(format!("{now:.3}")).size(size::SMALL);
            number_ui(ui, text, Entry::Weight { head: row.head, query, key }, view);
        });
    }
}
