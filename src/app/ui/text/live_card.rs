//! The card of a live number that is no single entry of a tensor: its expression, its value in full and what it reads.

use attune_view::view_model::notebook::{LiveStanding, LiveWord};
use egui::{Button, Context, Id, Key, Label, Modifiers, Pos2, RichText, Ui, Vec2, WidgetType, Window};

use crate::theme::{self, Palette, size};
use crate::widgets::controls::{copy_button, named};

/// The width of the card, without its margins.
const WIDTH: f32 = 340.0;

/// The open card of a live number.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveCard {
    pub word: LiveWord,
    /// The position of the click that opened it.
    pub at: Pos2,
    /// The time of opening, by egui's clock, so that the click that opened the card does not close it.
    pub time: f64,
}

/// Shows the card until it is closed by Esc, by its cross, or by a click elsewhere.
pub fn live_card_ui(ctx: &Context, card: &mut Option<LiveCard>) {
    let Some(LiveCard { word, at, time }) = card else { return };
    let window = Window::new("A live number").id(Id::new("live number")).title_bar(false).collapsible(false);
    let window = window.resizable(false).fixed_pos(*at + Vec2::splat(size::GAP_WIDE));
    let window = window.default_width(WIDTH).constrain_to(ctx.content_rect().shrink(size::GAP));
    let mut is_closed = ctx.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Escape));
    if let Some(shown) = window.show(ctx, |ui| card_ui(ui, word)) {
        is_closed |= shown.inner.unwrap_or_default();
        let rect = shown.response.rect;
        is_closed |= ctx.input(|input| {
            let at = input.pointer.interact_pos();
            input.time > *time && input.pointer.any_click() && at.is_some_and(|at| !rect.contains(at))
        });
    }
    if is_closed {
        *card = None;
    }
}

/// Shows the content of the card; returns true if its cross was clicked.
fn card_ui(ui: &mut Ui, word: &LiveWord) -> bool {
    let palette = Palette::on(ui);
    ui.set_width((ui.ctx().content_rect().width() - size::GAP_WIDE).clamp(0.0, WIDTH));
    let mut is_closed = false;
    ui.horizontal(|ui| {
        let close = named(ui.add(Button::new("×").frame(false)), WidgetType::Button, "Close the live number");
        is_closed = close.on_hover_text("Close (Esc)").clicked();
        if !word.full.is_empty() {
            let value =
                RichText::new(format!("= {}", word.full)).font(theme::mono(size::READING)).color(palette.accent);
            ui.add(Label::new(value).selectable(true).wrap());
            copy_button(ui, "the exact value", || word.full.clone());
        }
    });
    live_lines_ui(ui, word);
    is_closed
}

/// Shows the expression, the notes and the tensors read, one below another, on the card and in the tooltip.
pub fn live_lines_ui(ui: &mut Ui, word: &LiveWord) {
    let palette = Palette::on(ui);
    let line = |ui: &mut Ui, text: RichText| ui.add(Label::new(text).wrap());
    line(ui, RichText::new(&*word.source).font(theme::mono(size::MONO)).color(palette.ink_soft));
    let ink = if word.standing == LiveStanding::Failed { palette.error } else { palette.ink };
    for note in &word.notes {
        line(ui, RichText::new(note).color(ink));
    }
    if word.standing == LiveStanding::Waiting && word.full.is_empty() {
        line(ui, RichText::new("The number is shown as soon as the model is ready.").color(palette.ink_soft));
    }
    if !word.tensors.is_empty() {
        let reads = format!("Computed live from {}", word.tensors.join(", "));
        line(ui, RichText::new(reads).size(size::SMALL).color(palette.ink_soft));
    }
}
