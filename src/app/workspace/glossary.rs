//! The glossary: every term and symbol of the course, with its first lesson.

use std::collections::HashMap;

use attune_view::view_model::glossary::GlossaryModel;
use egui::{Align, Context, Frame, Key, Margin, Rect, ScrollArea, Sense, Stroke, TextEdit, Ui, UiBuilder, pos2, vec2};

use crate::app::actions::{Action, focus};
use crate::app::text::term_card::term_entry_ui;
use crate::app::theme::{self, Palette, size};
use crate::app::widgets::tool_window::lookup_window;

#[derive(Default)]
pub struct GlossaryUiState {
    pub is_open: bool,
    /// Issues of the glossary's file.
    pub faults: Vec<String>,
    search: String,
    /// The search field has the keyboard.
    is_searching: bool,
    /// The entry that was asked for; it is brought into sight for so many frames.
    asked: Option<usize>,
    follow: usize,
    /// Heights that were seen, for what is out of sight.
    heights: HashMap<usize, f32>,
}

/// Heights above an entry are estimates until they were seen.
const FOLLOWED: usize = 8;

impl GlossaryUiState {
    /// Opens it, or closes it. True when it is open then.
    pub fn toggle(&mut self) -> bool {
        self.is_open = !self.is_open;
        self.asked = None;
        self.is_open
    }

    /// Opens it at an entry.
    pub fn ask(&mut self, term: usize) {
        self.is_open = true;
        self.search.clear();
        (self.asked, self.follow) = (Some(term), FOLLOWED);
    }

    /// Another glossary, or none.
    pub fn forget(&mut self) {
        self.asked = None;
        self.heights.clear();
    }
}

/// The window of the glossary, until it is closed.
pub fn glossary_window_ui(ctx: &Context, model: Option<&GlossaryModel>, state: &mut GlossaryUiState) -> Option<Action> {
    const SIZE: (f32, f32) = (380.0, 500.0);
    let (mut is_open, mut action) = (state.is_open, None);
    let leaves = ctx.input(|input| input.key_pressed(Key::Escape));
    lookup_window(ctx, "Glossary", SIZE).open(&mut is_open).show(ctx, |ui| action = glossary_ui(ui, model, state));
    // Esc has taken the keyboard away by now.
    state.is_open = is_open && !(leaves && state.is_searching);
    action
}

/// The lesson that is to be opened, if one is.
pub fn glossary_ui(ui: &mut Ui, model: Option<&GlossaryModel>, state: &mut GlossaryUiState) -> Option<Action> {
    let Some(model) = model else {
        missing_ui(ui, &state.faults);
        return None;
    };
    let margin = Margin::symmetric(size::GAP as i8, size::GAP_TIGHT as i8);
    let search = TextEdit::singleline(&mut state.search).id(focus::glossary_search()).margin(margin);
    let search = search.hint_text("Search the terms");
    let search = ui.add(search.desired_width(f32::INFINITY)).on_hover_text("A term, a symbol, or words of a meaning");
    focus::take(ui.ctx(), search.id);
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
        ui.weak("This lesson has no glossary: there is no file glossary.ron beside it.");
        return;
    }
    ui.weak("The glossary beside this lesson has issues. Fix the file and save it; it reloads automatically.");
    ScrollArea::vertical().auto_shrink([false, true]).show(ui, |ui| {
        for fault in faults {
            ui.add(egui::Label::new(egui::RichText::new(fault).monospace()).selectable(true).wrap());
        }
    });
}

/// Only those in sight are laid out; of the others the height is remembered, or estimated.
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
    let palette = Palette::of(ui.visuals().dark_mode);
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
