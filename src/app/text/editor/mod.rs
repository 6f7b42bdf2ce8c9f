//! The editor of a cell: egui's own, with colours and the notebook's keys, and for code with completion
//! and the keys of code.

mod keys;

use std::collections::VecDeque;

use attune_engine::code::Fault;
use attune_engine::code::editor::completion::Completion;
use attune_engine::code::editor::editing::Selection;
use attune_engine::code::editor::highlight::{Kind, pair_at, token_at};
use attune_engine::code::editor::scope::Scope;
use egui::text::{CCursor, CCursorRange};
use egui::text_edit::{TextEditOutput, TextEditState};
use egui::{Event, EventFilter, Frame, Id, Margin, Response, RichText, Sense, Stroke, TextBuffer, TextEdit, Ui};
use egui::{WidgetInfo, WidgetType};

use self::keys::Keys;
use super::code_text::{Inked, Laid, Language, squiggle};
use super::completion::{Offer, offer_ui};
use crate::app::actions::NotebookAction;
use crate::app::theme::{Palette, size};

/// Properties that an editor shows beside the text.
pub struct EditorModel<'a> {
    /// Name for screen readers, such as `Code of cell scores`.
    pub name: &'a str,
    pub language: Language<'a>,
    /// Fault of the last run and the text that ran; its mark goes as soon as the text differs.
    pub fault: Option<(&'a Fault, &'a str)>,
    /// Shown in an empty editor.
    pub hint: &'a str,
    pub editable: bool,
}

/// One for each editor.
#[derive(Default)]
pub struct EditorState {
    inked: Option<Inked>,
    offer: Option<Offer>,
    /// Typed in a frame behind a key that is ours, whose turn is the next one.
    later: VecDeque<Event>,
}

/// Request to the notebook from within the editor: the row of a key, or moving on to the cell above or below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    pub action: NotebookAction,
    /// The byte of the text at which it was asked.
    pub caret: usize,
}

pub struct EditorResponse {
    pub response: Response,
    /// The text is another one.
    pub changed: bool,
    pub focused: bool,
    /// Byte of the text.
    pub caret: usize,
    pub asked: Option<Asked>,
}

impl EditorState {
    /// Whether names are offered: arrows, Enter and Esc are theirs.
    pub fn is_offering(&self) -> bool {
        self.offer.is_some()
    }
}

/// Id of the editor's text field, for egui's keyboard focus.
pub fn editor_id(ui: &Ui) -> Id {
    ui.make_persistent_id("code")
}

/// Gives the editor of `text` the keyboard, with the caret at a byte of it.
pub fn focus_editor(ui: &Ui, text: &str, caret: Option<usize>) {
    let id = editor_id(ui);
    ui.memory_mut(|memory| memory.request_focus(id));
    if let Some(caret) = caret {
        select(ui, id, text, Selection::at(text.floor_char_boundary(caret)));
    }
}

pub fn editor_ui(ui: &mut Ui, text: &mut String, model: &EditorModel, state: &mut EditorState) -> EditorResponse {
    let id = editor_id(ui);
    let focused = ui.memory(|memory| memory.has_focus(id));
    let mut keys = Keys { id, model, changed: false, asked: None };
    keys.read(ui, text, state, focused);
    let Keys { changed, asked, .. } = keys;
    let shown = show(ui, id, text, model, state, focused);
    let caret = selection(ui, id, text).caret;
    let laid = Laid { source: text, galley: &shown.galley, origin: shown.galley_pos };
    if let Language::Code(scope) = model.language {
        laid.number_lines(ui, Palette::of(ui.visuals().dark_mode).ink_faint);
        marks_ui(ui, &laid, (model, scope), state, focused.then_some(caret));
    }
    if changed {
        ui.scroll_to_rect(laid.caret(caret), None);
    }
    let place = laid.caret(caret);
    let taken = offer(ui, id, text, place, caret, model, state);
    let mut response = shown.response.response;
    if taken || changed {
        response.mark_changed();
    }
    let focused = ui.memory(|memory| memory.has_focus(id));
    EditorResponse { changed: response.changed(), response, focused, caret, asked }
}

fn show(
    ui: &mut Ui,
    id: Id,
    text: &mut String,
    model: &EditorModel,
    state: &mut EditorState,
    focused: bool,
) -> TextEditOutput {
    let palette = Palette::of(ui.visuals().dark_mode);
    let edge = if focused { palette.accent } else { palette.line };
    let gap = size::GAP as i8;
    let left = if matches!(model.language, Language::Code(_)) { size::GUTTER } else { gap };
    let margin = Margin { left, right: gap, top: gap, bottom: gap };
    let frame = Frame::new()
        .fill(palette.raised)
        .stroke(Stroke::new(size::HAIRLINE, edge))
        .corner_radius(size::RADIUS)
        .inner_margin(margin);
    let (inked, language) = (&mut state.inked, model.language);
    let mut layouter =
        |ui: &Ui, text: &dyn TextBuffer, width: f32| Inked::galley(inked, ui, text.as_str(), width, language);
    let mut read_only = text.as_str();
    let edit = if model.editable { TextEdit::multiline(text) } else { TextEdit::multiline(&mut read_only) };
    let every = EventFilter { tab: true, horizontal_arrows: true, vertical_arrows: true, escape: true };
    let shown = edit
        .id(id)
        .code_editor()
        .event_filter(every)
        .hint_text(RichText::new(model.hint).monospace().color(palette.ink_faint))
        .desired_width(f32::INFINITY)
        .desired_rows(1)
        .frame(frame)
        .layouter(&mut layouter)
        .show(ui);
    ui.ctx().accesskit_node_builder(id, |node| node.set_label(model.name));
    shown
}

/// The pair of brackets at the caret, and what went wrong.
fn marks_ui(
    ui: &mut Ui,
    laid: &Laid,
    (model, scope): (&EditorModel, &Scope),
    state: &mut EditorState,
    caret: Option<usize>,
) {
    let palette = Palette::of(ui.visuals().dark_mode);
    let spans = &Inked::of(&mut state.inked, ui, laid.source, Language::Code(scope)).spans;
    if let Some(pair) = caret.and_then(|caret| pair_at(laid.source, spans, caret)) {
        pair.into_iter().for_each(|bracket| laid.mark(ui, bracket, palette.accent));
    }
    let unmatched = |caret: &usize| {
        spans.iter().find(|span| span.kind == Kind::Unmatched && (span.range.start..=span.range.end).contains(caret))
    };
    if let Some(bracket) = caret.as_ref().and_then(unmatched) {
        laid.mark(ui, bracket.range.clone(), palette.error);
    }
    let Some((fault, _)) = model.fault.filter(|(_, ran)| *ran == laid.source) else { return };
    let Some(place) = fault.place else { return };
    let rect = laid.rect(token_at(laid.source, spans, place));
    squiggle(ui, rect, palette.error);
    let mark = ui.interact(rect, editor_id(ui).with("fault"), Sense::hover());
    mark.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, format!("Error at {fault}")));
    mark.on_hover_ui(|ui| {
        ui.label(RichText::new(&fault.message).color(palette.error));
        if let Some(hint) = &fault.hint {
            ui.label(hint);
        }
    });
}

/// Shows what is offered. True when a click took one.
fn offer(
    ui: &Ui,
    id: Id,
    text: &mut String,
    place: egui::Rect,
    caret: usize,
    model: &EditorModel,
    state: &mut EditorState,
) -> bool {
    let Language::Code(scope) = model.language else { return false };
    let stays = |offer: &Offer| offer.hovered || ui.memory(|memory| memory.has_focus(id));
    let offered = state.offer.take().filter(stays);
    state.offer = offered.and_then(|offer| offer.follow(text, caret, scope));
    let Some(offer) = &mut state.offer else { return false };
    let Some(clicked) = offer_ui(ui, id.with("offer"), place, offer) else { return false };
    let item = offer.items.swap_remove(clicked);
    take(ui, id, text, item);
    state.offer = None;
    ui.memory_mut(|memory| memory.request_focus(id));
    true
}

fn take(ui: &Ui, id: Id, text: &mut String, item: Completion) {
    text.replace_range(item.replaces.clone(), &item.insert);
    select(ui, id, text, Selection::at(item.replaces.start + item.caret));
}

/// Selected range in bytes; egui counts characters.
fn selection(ui: &Ui, id: Id, text: &str) -> Selection {
    let state = TextEditState::load(ui.ctx(), id);
    let byte = |cursor: CCursor| text.char_indices().nth(cursor.index.0).map_or(text.len(), |(at, _)| at);
    match state.and_then(|state| state.cursor.char_range()) {
        Some(range) => Selection { anchor: byte(range.secondary), caret: byte(range.primary) },
        None => Selection::at(text.len()),
    }
}

fn select(ui: &Ui, id: Id, text: &str, selection: Selection) {
    let cursor = |at: usize| CCursor::new(text[..at].chars().count());
    let mut state = TextEditState::load(ui.ctx(), id).unwrap_or_default();
    let range = CCursorRange::two(cursor(selection.anchor), cursor(selection.caret));
    state.cursor.set_char_range(Some(range));
    state.store(ui.ctx(), id);
}
