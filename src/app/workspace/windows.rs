//! Windows above the workspace: the glossary, with the first lesson of every term and symbol of the course, and the
//! card with the provenance of a number.

use std::collections::HashMap;

use attune_engine::quantity::{Entry, Quantity};
use attune_view::explain::Provenance;
use attune_view::explain::lines::exact;
use attune_view::view_model::Models;
use attune_view::view_model::glossary::GlossaryModel;
use egui::{
    Align, Button, Context, Frame, Id, Key, Label, Layout, Margin, Pos2, Rect, RichText, ScrollArea, Sense, Stroke,
    TextEdit, Ui, UiBuilder, Vec2, WidgetType, Window, pos2, vec2,
};

use crate::app::actions::{Action, ActionTable, WindowAction, keys};
use crate::app::text::prose::equation_ui;
use crate::app::text::term_card::term_entry_ui;
use crate::app::theme::{self, Palette, size};
use crate::app::ui_state::Trail;
use crate::app::widgets::controls::{action_ui, copy_button, named};
use crate::app::widgets::popup::lookup_window;
use crate::app::widgets::traced::worked_ui;

#[derive(Default)]
pub struct GlossaryUiState {
    pub is_open: bool,
    /// The issues of the glossary's file.
    pub faults: Vec<String>,
    search: String,
    /// Whether the search field has the keyboard.
    is_searching: bool,
    /// The index of the entry that was requested.
    asked: Option<usize>,
    /// The number of frames for which the entry is still scrolled into view.
    follow: usize,
    /// The heights of entries that were laid out. They are needed to place the entries that are out of view.
    heights: HashMap<usize, f32>,
}

/// The number of frames for which an entry is scrolled into view, because heights above it are estimates until they are
/// laid out.
const FOLLOWED: usize = 8;

impl GlossaryUiState {
    /// Opens or closes the glossary; returns whether it is open afterwards.
    pub fn toggle(&mut self) -> bool {
        self.is_open = !self.is_open;
        self.asked = None;
        self.is_open
    }

    /// Opens the glossary at an entry.
    pub fn ask(&mut self, term: usize) {
        self.is_open = true;
        self.search.clear();
        (self.asked, self.follow) = (Some(term), FOLLOWED);
    }

    /// Resets the state, because the glossary was replaced.
    pub fn forget(&mut self) {
        self.asked = None;
        self.heights.clear();
    }
}

/// Shows the window of the glossary, until it is closed.
pub fn glossary_window_ui(ctx: &Context, model: Option<&GlossaryModel>, state: &mut GlossaryUiState) -> Option<Action> {
    const SIZE: (f32, f32) = (380.0, 500.0);
    let (mut is_open, mut action) = (state.is_open, None);
    let leaves = ctx.input(|input| input.key_pressed(Key::Escape));
    lookup_window(ctx, "Glossary", SIZE).open(&mut is_open).show(ctx, |ui| action = glossary_ui(ui, model, state));
    // Esc has already taken the keyboard from the search field.
    state.is_open = is_open && !(leaves && state.is_searching);
    action
}

/// Shows the glossary; returns the action that opens the lesson of an entry, if it was clicked.
fn glossary_ui(ui: &mut Ui, model: Option<&GlossaryModel>, state: &mut GlossaryUiState) -> Option<Action> {
    let Some(model) = model else {
        missing_ui(ui, &state.faults);
        return None;
    };
    let margin = Margin::symmetric(size::GAP as i8, size::GAP_TIGHT as i8);
    let search = TextEdit::singleline(&mut state.search).id(keys::glossary_search()).margin(margin);
    let search = search.hint_text("Search the terms");
    let search = ui
        .add(search.desired_width(f32::INFINITY))
        .on_hover_text("Search for a term, a symbol, or words in a definition");
    keys::take(ui.ctx(), search.id);
    if search.changed() {
        state.asked = None;
    }
    state.is_searching = search.has_focus() || search.lost_focus();
    ui.ctx().accesskit_node_builder(search.id, |node| node.set_label("Search the terms"));
    ui.add_space(size::GAP_TIGHT);
    let found = model.found(&state.search);
    if found.is_empty() {
        ui.weak("There is no such term.");
        return None;
    }
    entries_ui(ui, model, &found, state)
}

fn missing_ui(ui: &mut Ui, faults: &[String]) {
    if faults.is_empty() {
        ui.weak("This lesson has no glossary, because there is no file glossary.ron beside it.");
        return;
    }
    ui.weak("The glossary beside this lesson has issues. Fix the file and save it; it reloads automatically.");
    ScrollArea::vertical().auto_shrink([false, true]).show(ui, |ui| {
        for fault in faults {
            ui.add(egui::Label::new(egui::RichText::new(fault).monospace()).selectable(true).wrap());
        }
    });
}

/// Shows the entries. Only visible ones are laid out; the heights of the others are remembered or estimated.
fn entries_ui(ui: &mut Ui, model: &GlossaryModel, found: &[usize], state: &mut GlossaryUiState) -> Option<Action> {
    const ESTIMATE: f32 = 104.0;
    let mut action = None;
    ScrollArea::vertical().auto_shrink([false, false]).show_viewport(ui, |ui, sight| {
        let (origin, width) = (ui.min_rect().min, ui.available_width());
        let mut y = 0.0;
        for &term in found {
            let height = state.heights.get(&term).copied().unwrap_or(ESTIMATE);
            let is_asked = state.asked == Some(term);
            let is_followed = is_asked && state.follow > 0;
            let is_near = y + height >= sight.min.y && y <= sight.max.y;
            let mut seen = height;
            if is_near || is_followed {
                let place = Rect::from_min_size(pos2(origin.x, origin.y + y), vec2(width, f32::INFINITY));
                let mut child = ui.new_child(UiBuilder::new().max_rect(place).id_salt(term));
                action = action.take().or(entry_ui(&mut child, model, term, is_asked));
                let rect = child.min_rect();
                seen = rect.height();
                state.heights.insert(term, seen);
                if is_followed {
                    state.follow -= 1;
                    ui.scroll_to_rect(rect, Some(Align::Center));
                    ui.ctx().request_repaint();
                }
            }
            y += seen + size::GAP;
        }
        ui.allocate_rect(Rect::from_min_size(origin, vec2(width, y)), Sense::hover());
    });
    action
}

fn entry_ui(ui: &mut Ui, model: &GlossaryModel, term: usize, is_asked: bool) -> Option<Action> {
    let (term, first) = model.entry(term)?;
    let palette = Palette::on(ui);
    let edge = if is_asked { palette.accent } else { theme::CLEAR };
    let card = Frame::new()
        .fill(palette.raised)
        .stroke(Stroke::new(size::HAIRLINE, edge))
        .corner_radius(size::RADIUS)
        .inner_margin(Margin::same(size::GAP as i8));
    card.show(ui, |ui| {
        ui.set_width(ui.available_width());
        term_entry_ui(ui, term, first)
    })
    .inner
}

/// The width of the card, without its margins.
const WIDTH: f32 = 400.0;

/// The number for which the card was opened, and the time.
#[derive(Clone, Copy, Default, PartialEq)]
struct OpenedCard {
    depth: usize,
    entry: Option<Entry>,
    time: f64,
    /// The position of the pointer, beside which a card that opens is placed. `None` if the card stays in place,
    /// because a number within it was followed.
    to_place: Option<Pos2>,
}

/// Shows the card until it is closed by Esc, by its cross, or by a click elsewhere. Returns the requested action, which
/// is offered only if there are panels.
pub fn provenance_ui(ctx: &Context, models: &Models, trail: &mut Trail, has_panels: bool) -> Option<Action> {
    let id = Id::new("provenance");
    let asked = trail.entry();
    let time = ctx.input(|input| input.time);
    let before: OpenedCard = ctx.data(|data| data.get_temp(id)).unwrap_or_default();
    let is_new = before.entry != asked || before.depth != trail.depth();
    let depth = trail.depth();
    let is_from_outside = depth == 1 && before.depth <= 1;
    let to_place = ctx.pointer_latest_pos().filter(|_| is_from_outside);
    let opened = if is_new { OpenedCard { depth, entry: asked, time, to_place } } else { before };
    ctx.data_mut(|data| data.insert_temp(id, opened));
    let model = asked.and_then(|entry| models.of_choice::<Provenance>(&entry))?;
    let window = Window::new("Where it comes from").id(id).title_bar(false).collapsible(false).resizable(false);
    // Set before the first layout, so that the card is not moved away from the number that was clicked.
    let window = window.default_width(WIDTH + 2.0 * f32::from(size::PANEL_MARGIN));
    let window = match opened.to_place {
        Some(pointer) => window.current_pos(pointer + Vec2::splat(size::GAP_WIDE)),
        None => window,
    };
    // The number is known a frame after the click, so the position waits until then.
    ctx.data_mut(|data| data.insert_temp(id, OpenedCard { to_place: None, ..opened }));
    let window = window.constrain_to(ctx.content_rect().shrink(size::GAP));
    let shown = window.show(ctx, |ui| card_ui(ui, &model, trail, has_panels))?;
    let rect = shown.response.rect;
    let is_elsewhere = ctx.input(|input| {
        let at = input.pointer.interact_pos();
        input.pointer.any_click() && at.is_some_and(|at| !rect.contains(at))
    });
    // The click that opened the card must not close it.
    if is_elsewhere && time > opened.time && trail.entry() == asked {
        trail.close();
    }
    shown.inner.flatten()
}

/// Returns whether a number is a product of query and key, a score or a weight, which can be split into parts of the
/// query and the key.
pub fn is_of_score(quantity: Quantity) -> bool {
    matches!(quantity, Quantity::Product | Quantity::Score | Quantity::Weight)
}

fn card_ui(ui: &mut Ui, model: &Provenance, trail: &mut Trail, has_panels: bool) -> Option<Action> {
    const HEIGHT_SHARE: f32 = 0.72;
    let palette = Palette::on(ui);
    ui.set_width((ui.ctx().content_rect().width() - size::GAP_WIDE).clamp(0.0, WIDTH));
    let explanation = &model.explanation;
    header_ui(ui, model, trail);
    ui.add(Label::new(RichText::new(&explanation.meaning).color(palette.ink_soft)).wrap());
    value_ui(ui, model);
    let leads_on = has_panels && is_of_score(explanation.entry.quantity);
    let asked = if leads_on { action_ui(ui, WindowAction::WhyThere) } else { None };
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
        trail_ui(ui, "This number leads back to", "←", &model.way, trail);
    });
    asked
}

fn header_ui(ui: &mut Ui, model: &Provenance, trail: &mut Trail) {
    ui.horizontal(|ui| {
        if trail.depth() > 1 {
            let back = named(ui.add(Button::new("←").small()), WidgetType::Button, "Back");
            if back.on_hover_text(WindowAction::OriginBefore.row().hint()).clicked() {
                trail.back();
            }
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let close = named(ui.add(Button::new("×").frame(false)), WidgetType::Button, "Close provenance");
            if close.on_hover_text(WindowAction::CloseOrigin.row().hint()).clicked() {
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
    ui.horizontal(|ui| {
        let value = RichText::new(format!("= {}", exact(model.explanation.value)))
            .font(theme::mono(size::READING))
            .color(Palette::on(ui).accent);
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
    let palette = Palette::on(ui);
    ui.add_space(size::GAP_TIGHT);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        ui.label(RichText::new(title).color(palette.ink_soft).size(size::SMALL));
        for (entry, symbol) in entries {
            // An empty label would begin its row again and cover what is there.
            if !sign.is_empty() {
                ui.label(RichText::new(sign).color(palette.ink_faint).size(size::SMALL));
            }
            if ui.link(RichText::new(symbol).font(theme::mono(size::SMALL))).clicked() {
                trail.follow(*entry);
            }
        }
    });
}
