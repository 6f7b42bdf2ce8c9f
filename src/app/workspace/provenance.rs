//! The card that tells where a number comes from.

use attune_engine::quantity::Entry;
use attune_view::explain::Provenance;
use attune_view::explain::formulas::exact;
use attune_view::view_model::Models;
use egui::{
    Align, Button, Context, Id, Label, Layout, Pos2, RichText, ScrollArea, Ui, Vec2, WidgetInfo, WidgetType, Window,
};

use crate::app::actions::{ActionTable, WindowAction};
use crate::app::text::prose::equation_ui;
use crate::app::theme::{self, Palette, size};
use crate::app::view::Trail;
use crate::app::widgets::controls::copy_button;
use crate::app::widgets::worked::worked_ui;

/// Width of the card within its margins.
const WIDTH: f32 = 400.0;

/// Which number the card was opened for, and when.
#[derive(Clone, Copy, Default, PartialEq)]
struct Opened {
    depth: usize,
    entry: Option<Entry>,
    time: f64,
    /// The place of a card that is to open: beside a click outside of it. Followed from within, it stays in place.
    to_place: Option<Pos2>,
}

/// The card, until it is closed: by Esc, its cross, or a click elsewhere.
pub fn provenance_ui(ctx: &Context, models: &Models, trail: &mut Trail) {
    let id = Id::new("provenance");
    let asked = trail.entry();
    let time = ctx.input(|input| input.time);
    let before: Opened = ctx.data(|data| data.get_temp(id)).unwrap_or_default();
    let is_new = before.entry != asked || before.depth != trail.depth();
    let depth = trail.depth();
    let is_from_outside = depth == 1 && before.depth <= 1;
    let to_place = ctx.pointer_latest_pos().filter(|_| is_from_outside);
    let opened = if is_new { Opened { depth, entry: asked, time, to_place } } else { before };
    ctx.data_mut(|data| data.insert_temp(id, opened));
    let Some(model) = asked.and_then(|entry| models.of_choice::<Provenance>(&entry)) else { return };
    let window = Window::new("Where it comes from").id(id).title_bar(false).collapsible(false).resizable(false);
    // Known before it is first laid out, so that it is not pushed away from what was clicked.
    let window = window.default_width(WIDTH + 2.0 * f32::from(size::PANEL_MARGIN));
    let window = match opened.to_place {
        Some(pointer) => window.current_pos(pointer + Vec2::splat(size::GAP_WIDE)),
        None => window,
    };
    // The number is told a frame after it is asked: until then the place waits.
    ctx.data_mut(|data| data.insert_temp(id, Opened { to_place: None, ..opened }));
    let window = window.constrain_to(ctx.content_rect().shrink(size::GAP));
    let Some(shown) = window.show(ctx, |ui| card_ui(ui, &model, trail)) else { return };
    let rect = shown.response.rect;
    let is_elsewhere = ctx.input(|input| {
        let at = input.pointer.interact_pos();
        input.pointer.any_click() && at.is_some_and(|at| !rect.contains(at))
    });
    // The click that opened it is none of those.
    if is_elsewhere && time > opened.time && trail.entry() == asked {
        trail.close();
    }
}

fn card_ui(ui: &mut Ui, model: &Provenance, trail: &mut Trail) {
    const HEIGHT_SHARE: f32 = 0.72;
    let palette = Palette::of(ui.visuals().dark_mode);
    ui.set_width((ui.ctx().content_rect().width() - size::GAP_WIDE).clamp(0.0, WIDTH));
    let explanation = &model.explanation;
    header_ui(ui, model, trail);
    ui.add(Label::new(RichText::new(&explanation.meaning).color(palette.ink_soft)).wrap());
    value_ui(ui, model);
    let height = ui.ctx().content_rect().height() * HEIGHT_SHARE;
    ScrollArea::vertical().max_height(height).auto_shrink([false, true]).id_salt(explanation.entry).show(ui, |ui| {
        equation_ui(ui, &explanation.symbols);
        ui.add_space(size::GAP_TIGHT);
        if let Some(entry) = worked_ui(ui, explanation) {
            trail.follow(entry);
        }
        for sentence in &explanation.sentences {
            ui.add(Label::new(RichText::new(sentence).color(palette.ink)).wrap());
        }
        trail_ui(ui, "Beside it:", "", &model.beside, trail);
        trail_ui(ui, "It leads back to", "←", &model.way, trail);
    });
}

fn header_ui(ui: &mut Ui, model: &Provenance, trail: &mut Trail) {
    ui.horizontal(|ui| {
        if trail.depth() > 1 {
            let back = ui.add(Button::new("←").small()).on_hover_text(WindowAction::OriginBefore.row().hint());
            back.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, "Back"));
            if back.clicked() {
                trail.back();
            }
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let close = ui.add(Button::new("×").frame(false)).on_hover_text(WindowAction::CloseOrigin.row().hint());
            close.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, "Close provenance"));
            if close.clicked() {
                trail.close();
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                let name = RichText::new(&model.name).font(theme::mono(size::READING)).strong();
                ui.add(Label::new(name).truncate());
            });
        });
    });
}

fn value_ui(ui: &mut Ui, model: &Provenance) {
    let palette = Palette::of(ui.visuals().dark_mode);
    ui.horizontal(|ui| {
        let value = RichText::new(format!("= {}", exact(model.explanation.value)))
            .font(theme::mono(size::READING))
            .color(palette.accent);
        ui.add(Label::new(value).selectable(true));
        copy_button(ui, "the exact value", || model.explanation.value.to_string());
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if !model.place.is_empty() {
                let place = ui.weak(RichText::new(&model.place).font(theme::mono(size::SMALL)));
                place.on_hover_text("Its name in code; indices start at 0");
            }
        });
    });
}

fn trail_ui(ui: &mut Ui, title: &str, sign: &str, entries: &[(Entry, String)], trail: &mut Trail) {
    if entries.is_empty() {
        return;
    }
    let palette = Palette::of(ui.visuals().dark_mode);
    ui.add_space(size::GAP_TIGHT);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        ui.label(RichText::new(title).color(palette.ink_soft).size(size::SMALL));
        for (entry, symbol) in entries {
            // A label without letters would begin its row anew, over what stands there.
            if !sign.is_empty() {
                ui.label(RichText::new(sign).color(palette.ink_faint).size(size::SMALL));
            }
            if ui.link(RichText::new(symbol).font(theme::mono(size::SMALL))).clicked() {
                trail.follow(*entry);
            }
        }
    });
}
