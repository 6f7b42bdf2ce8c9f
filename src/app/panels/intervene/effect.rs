//! Effects of the changes on one word: how far it moved, what is near it, and its weights before and after.

use attune_core::kernel::command::Command;
use attune_engine::quantity::Quantity;
use attune_view::view_model::answers::AnswerShifts;
use attune_view::view_model::what_if::{EffectRow, HeadState, WhatIfModel};
use egui::{CornerRadius, Label, Rect, RichText, Sense, Stroke, StrokeKind, Ui, WidgetInfo, WidgetType, vec2};

use crate::app::theme::{self, Palette, size};
use crate::app::view::PanelView;
use crate::app::widgets::controls::checkbox_ui;
use crate::app::widgets::traced::number_ui;

/// The weights of the chosen word in the head that the walk is through; `names_heads`: with a row of heads to choose from.
pub fn effect_ui(ui: &mut Ui, model: &WhatIfModel, names_heads: bool, view: &mut PanelView) -> Option<Command> {
    let Some(query) = view.selection.query.filter(|query| *query < model.tokens.len()) else {
        ui.weak("Choose a word above, to see its weights beside the unchanged ones, and to remove single looks.");
        return None;
    };
    let row = model.row(query, view.selection.head).or_else(|| model.row(query, model.own_heads().start))?;
    let palette = Palette::of(ui.visuals().dark_mode);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        for head in model.own_heads().filter(|_| names_heads).filter_map(|head| model.heads.get(head)) {
            let words = RichText::new(&head.title).color(palette.head(head.own));
            let is_chosen = head.head == row.head;
            let response = ui.selectable_label(is_chosen, words);
            let name = format!("Weights of {}", head.title.to_lowercase());
            response.widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, is_chosen, &name));
            if response.on_hover_text("The weights in this head").clicked() {
                view.selection.choose_head(head.head);
            }
        }
        ui.weak(RichText::new("filled: now; outlined: unchanged; unchecked: removed").size(size::SMALL));
    });
    bars_ui(ui, &row, model, query, view)
}

/// Which answers gained, and which lost. Always takes the room of all its lines, so that nothing moves under the pointer.
pub fn shifts_ui(ui: &mut Ui, shifts: &AnswerShifts) {
    const LINE: f32 = 17.0;
    let palette = Palette::of(ui.visuals().dark_mode);
    let room = vec2(ui.available_width(), LINE * (1 + shifts.most) as f32);
    ui.allocate_ui(room, |ui| {
        ui.set_min_height(room.y);
        (ui.spacing_mut().item_spacing.y, ui.spacing_mut().interact_size.y) = (0.0, LINE);
        if shifts.gained.is_empty() && shifts.lost.is_empty() {
            ui.add(Label::new(RichText::new(shifts.said()).weak().size(size::SMALL)).wrap());
            return;
        }
        ui.label(RichText::new(&shifts.title).font(theme::strong(size::SMALL)));
        let ways = [("gained", &shifts.gained, palette.positive), ("lost", &shifts.lost, palette.negative)];
        for (way, shift, ink) in ways.iter().flat_map(|(way, listed, ink)| listed.iter().map(move |x| (way, x, ink))) {
            const CONTRAST: f32 = 4.5;
            ui.horizontal(|ui| {
                let numbers = format!("{:.3} → {:.3}", shift.before, shift.now);
                ui.label(RichText::new(numbers).font(theme::mono(size::SMALL)).color(palette.ink));
                ui.label(RichText::new(*way).size(size::SMALL).color(palette.legible(*ink, CONTRAST)));
                ui.add(Label::new(RichText::new(&shift.name).size(size::SMALL)).truncate());
            });
        }
    });
}

/// How far a token moved, and what is near it; where none is chosen, of the one that moved most.
pub fn said(model: &WhatIfModel, query: Option<usize>) -> Vec<String> {
    let chosen = query.and_then(|query| Some((query, model.effect(query)?)));
    let Some((token, effect)) = chosen else {
        let said =
            model.moved_most().map(|(token, moved)| format!("{} moved most, by {moved:.3}.", model.tokens[token]));
        return said.into_iter().collect();
    };
    let moved = format!("{} moved by {:.3}.", model.tokens[token], effect.moved);
    let near = match &effect.nearest {
        [Some(before), Some(now)] if before.0 == now.0 => {
            Some(format!("Nearest stays {}: cosine {:.3}, was {:.3}.", now.0, now.1, before.1))
        }
        [Some(before), Some(now)] => {
            Some(format!("Nearest is {} ({:.3}); was {} ({:.3}).", now.0, now.1, before.0, before.1))
        }
        _ => None,
    };
    std::iter::once(moved).chain(near).collect()
}

/// A bar for each key: filled now, and an outline where it was; with a box that removes the look at it.
fn bars_ui(ui: &mut Ui, row: &EffectRow, model: &WhatIfModel, query: usize, view: &mut PanelView) -> Option<Command> {
    const WORD: f32 = 98.0;
    const NUMBERS: f32 = 112.0;
    let HeadState { keys, title, own, .. } = &model.heads[row.head];
    let mut command = None;
    let palette = Palette::of(ui.visuals().dark_mode);
    let hue = palette.head(*own);
    ui.spacing_mut().interact_size.y = size::CHIP;
    ui.spacing_mut().item_spacing.y = size::GAP_TIGHT;
    for (key, word) in keys.iter().enumerate() {
        let (before, now) = (row.before[key], row.now[key]);
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing = vec2(size::GAP_TIGHT, 0.0);
            let edge = row.edge(&model.edges, query, key);
            ui.allocate_ui(vec2(WORD, size::CHIP), |ui| {
                ui.set_min_width(WORD);
                let text = RichText::new(shorten(word, WORD_LETTERS)).size(size::SMALL);
                let name = format!("{title} looks from {} at {word}", model.tokens[query]);
                if !edge.is_there {
                    ui.add_space(ui.spacing().icon_width + ui.spacing().icon_spacing);
                    let tip = "This weight is 0 already: the mask hides the word";
                    ui.label(text.color(palette.ink_soft)).on_hover_text(tip);
                    return;
                }
                let mut looks = !edge.is_removed;
                let response = checkbox_ui(ui, &mut looks, text);
                response.widget_info(|| WidgetInfo::selected(WidgetType::Checkbox, true, looks, &name));
                let tip = "Unchecked, this look is removed, and the rest of the row is rescaled to sum to 1";
                if response.on_hover_text(format!("{name}. {tip}")).changed() {
                    command = Some(edge.toggled());
                }
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
            number_ui(ui, text, Quantity::Weight.of_head(row.head, [query, key]), view.trail);
        });
    }
    command
}

/// Letters of a word that has room beside its bar.
const WORD_LETTERS: usize = 11;

fn shorten(word: &str, letters: usize) -> String {
    if word.chars().count() <= letters {
        word.to_owned()
    } else {
        word.chars().take(letters - 1).chain(['…']).collect()
    }
}
