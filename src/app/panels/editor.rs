//! The editor of a code cell: egui's own, with colours, completion and the keys of code.

use std::collections::VecDeque;
use std::sync::Arc;

use egui::text::{CCursor, CCursorRange};
use egui::text_edit::{TextEditOutput, TextEditState};
use egui::{
    Event, EventFilter, Frame, Id, Key, Margin, Modifiers, Response, RichText, Sense, Stroke, TextBuffer, TextEdit, Ui,
};
use egui::{WidgetInfo, WidgetType};

use crate::app::theme::{Palette, size};
use crate::code::Fault;
use crate::view_model::completion::Scope;
use crate::view_model::editing::{self, Selection};
use crate::view_model::highlight::{Kind, pair_at, token_at};

use super::code_text::{Inked, Laid, squiggle};
use super::completion::{Offer, offer_ui};

/// What an editor shows beside the text.
pub struct EditorModel<'a> {
    /// For who does not see it, such as `Code of cell scores`.
    pub name: &'a str,
    /// One for as long as it is the same: colours are kept by it.
    pub scope: &'a Arc<Scope>,
    /// Of the last run, with the text that ran: the mark goes as soon as that is another one.
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

/// A key that is the notebook's, pressed within the editor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotebookKey {
    /// Ctrl+Enter
    Run,
    /// Shift+Enter
    RunAndGoOn,
    /// Alt+Enter
    RunAndInsert,
    /// Esc: the editor has lost the keyboard.
    Leave,
    /// Ctrl+Shift+minus: at this byte of the text.
    Split(usize),
}

pub struct EditorResponse {
    pub response: Response,
    /// The text is another one.
    pub changed: bool,
    pub focused: bool,
    /// Byte of the text.
    pub caret: usize,
    pub key: Option<NotebookKey>,
}

impl EditorState {
    /// Whether names are offered: arrows, Enter and Esc are theirs.
    pub fn is_offering(&self) -> bool {
        self.offer.is_some()
    }
}

/// Where the editor's keyboard is: ask egui for the focus of it.
pub fn editor_id(ui: &Ui) -> Id {
    ui.make_persistent_id("code")
}

pub fn editor_ui(ui: &mut Ui, text: &mut String, model: &EditorModel, state: &mut EditorState) -> EditorResponse {
    let id = editor_id(ui);
    let focused = ui.memory(|memory| memory.has_focus(id));
    let mut keys = Keys { id, model, changed: false, key: None };
    keys.read(ui, text, state, focused);
    let Keys { changed, key, .. } = keys;
    let shown = show(ui, id, text, model, state, focused);
    let caret = selection(ui, id, text).caret;
    let laid = Laid { source: text, galley: &shown.galley, origin: shown.galley_pos };
    laid.number_lines(ui, Palette::of(ui.visuals().dark_mode).ink_faint);
    marks_ui(ui, &laid, model, state, focused.then_some(caret));
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
    EditorResponse { changed: response.changed(), response, focused, caret, key }
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
    let margin = Margin { left: size::GUTTER, right: size::GAP as i8, top: size::GAP as i8, bottom: size::GAP as i8 };
    let frame = Frame::new()
        .fill(palette.raised)
        .stroke(Stroke::new(size::HAIRLINE, edge))
        .corner_radius(size::RADIUS)
        .inner_margin(margin);
    let (inked, scope) = (&mut state.inked, model.scope);
    let mut layouter =
        |ui: &Ui, text: &dyn TextBuffer, width: f32| Inked::galley(inked, ui, text.as_str(), width, scope);
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
fn marks_ui(ui: &mut Ui, laid: &Laid, model: &EditorModel, state: &mut EditorState, caret: Option<usize>) {
    let palette = Palette::of(ui.visuals().dark_mode);
    let spans = &Inked::of(&mut state.inked, ui, laid.source, model.scope).spans;
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
    let stays = |offer: &Offer| offer.hovered || ui.memory(|memory| memory.has_focus(id));
    let offered = state.offer.take().filter(stays);
    state.offer = offered.and_then(|offer| offer.follow(text, caret, model.scope));
    let Some(offer) = &mut state.offer else { return false };
    let Some(clicked) = offer_ui(ui, id.with("offer"), place, offer) else { return false };
    let item = offer.items.swap_remove(clicked);
    take(ui, id, text, item);
    state.offer = None;
    ui.memory_mut(|memory| memory.request_focus(id));
    true
}

fn take(ui: &Ui, id: Id, text: &mut String, item: crate::view_model::completion::Completion) {
    text.replace_range(item.replaces.clone(), &item.insert);
    select(ui, id, text, Selection::at(item.replaces.start + item.caret));
}

/// What is selected, in bytes; egui counts characters.
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

/// A key that is not egui's editor's.
enum Action {
    Notebook(NotebookKey),
    Split,
    Escape,
    Enter,
    Tab,
    Outdent,
    Indent,
    Comment,
    Backspace,
    Typed(char),
    Offer,
    /// Among the names that are offered.
    Go(isize),
    Take,
}

fn action(event: &Event, offering: bool, editable: bool) -> Option<Action> {
    const PAGE: isize = 6;
    let (key, modifiers) = match event {
        Event::Text(text) if editable => {
            let mut chars = text.chars();
            let c = chars.next().filter(|c| chars.next().is_none() && "()[]{}\"`".contains(*c));
            return c.map(Action::Typed);
        }
        Event::Key { key, pressed: true, modifiers, .. } => (*key, *modifiers),
        _ => return None,
    };
    let Modifiers { alt, shift, command, .. } = modifiers;
    Some(match (key, command, shift, alt) {
        (Key::Enter, true, ..) => Action::Notebook(NotebookKey::Run),
        (Key::Enter, _, true, _) => Action::Notebook(NotebookKey::RunAndGoOn),
        (Key::Enter, _, _, true) => Action::Notebook(NotebookKey::RunAndInsert),
        (Key::Minus, true, true, _) => Action::Split,
        (Key::Escape, ..) => Action::Escape,
        _ if !editable => return None,
        (Key::Enter | Key::Tab, false, false, false) if offering => Action::Take,
        (Key::ArrowDown, false, false, false) if offering => Action::Go(1),
        (Key::ArrowUp, false, false, false) if offering => Action::Go(-1),
        (Key::PageDown, false, false, false) if offering => Action::Go(PAGE),
        (Key::PageUp, false, false, false) if offering => Action::Go(-PAGE),
        (Key::Enter, ..) => Action::Enter,
        (Key::Tab, false, true, _) => Action::Outdent,
        (Key::Tab, false, ..) => Action::Tab,
        (Key::Slash, true, ..) => Action::Comment,
        (Key::CloseBracket, true, ..) => Action::Indent,
        (Key::OpenBracket, true, ..) => Action::Outdent,
        (Key::Backspace, false, false, false) => Action::Backspace,
        (Key::Space, ..) if modifiers.ctrl => Action::Offer,
        _ => return None,
    })
}

/// What egui's editor takes from the keyboard.
fn is_typed(event: &Event) -> bool {
    matches!(
        event,
        Event::Text(_) | Event::Paste(_) | Event::Copy | Event::Cut | Event::Ime(_) | Event::Key { pressed: true, .. }
    )
}

/// The keys of one frame.
struct Keys<'a, 'm> {
    id: Id,
    model: &'a EditorModel<'m>,
    changed: bool,
    key: Option<NotebookKey>,
}

impl Keys<'_, '_> {
    /// Does what is ours, in the order in which it was typed: from a key of ours behind one of egui's on,
    /// the rest waits for the next frame.
    fn read(&mut self, ui: &Ui, text: &mut String, state: &mut EditorState, focused: bool) {
        let mut queue = std::mem::take(&mut state.later);
        if !focused {
            // Who has the keyboard now gets them.
            ui.input_mut(|input| input.events.extend(queue));
            return;
        }
        ui.input_mut(|input| {
            let (typed, others) = std::mem::take(&mut input.events).into_iter().partition(is_typed);
            let typed: Vec<Event> = typed;
            input.events = others;
            queue.extend(typed);
        });
        let mut through = Vec::new();
        while let Some(event) = queue.pop_front() {
            match action(&event, state.offer.is_some(), self.model.editable) {
                None => through.push(event),
                Some(_) if !through.is_empty() || self.key.is_some() => {
                    queue.push_front(event);
                    break;
                }
                Some(action) => {
                    if !self.act(ui, text, state, action) {
                        through.push(event);
                    }
                }
            }
        }
        if !queue.is_empty() {
            ui.ctx().request_repaint();
        }
        state.later = queue;
        ui.input_mut(|input| input.events.extend(through));
    }

    /// False where the key is egui's after all.
    fn act(&mut self, ui: &Ui, text: &mut String, state: &mut EditorState, action: Action) -> bool {
        let at = selection(ui, self.id, text);
        let scope = self.model.scope;
        let after = match action {
            Action::Notebook(key) => {
                self.key = Some(key);
                state.offer = None;
                return true;
            }
            Action::Split => {
                self.key = Some(NotebookKey::Split(at.caret));
                return true;
            }
            Action::Escape => {
                if state.offer.take().is_none() {
                    ui.memory_mut(|memory| memory.surrender_focus(self.id));
                    self.key = Some(NotebookKey::Leave);
                }
                return true;
            }
            Action::Offer => {
                state.offer = Offer::open(text, at.caret, scope);
                return true;
            }
            Action::Go(steps) => {
                state.offer.iter_mut().for_each(|offer| offer.go(steps));
                return true;
            }
            Action::Take => {
                let offer = state.offer.take().and_then(|offer| offer.follow(text, at.caret, scope));
                let Some(mut offer) = offer else { return true };
                self.changed = true;
                take(ui, self.id, text, offer.items.swap_remove(offer.selected));
                return true;
            }
            Action::Tab => match self.complete(ui, text, state, at) {
                true => return true,
                false => editing::indent(text, at),
            },
            Action::Enter => editing::enter(text, at),
            Action::Indent => editing::indent_lines(text, at),
            Action::Outdent => editing::outdent(text, at),
            Action::Comment => editing::toggle_comments(text, at),
            Action::Backspace => match editing::backspace(text, at) {
                Some(after) => after,
                None => return false,
            },
            Action::Typed(c) => match editing::typed(text, at, c) {
                Some(after) => after,
                None => return false,
            },
        };
        self.changed = true;
        select(ui, self.id, text, after);
        true
    }

    /// Tab behind a word completes it: at once if there is but one name.
    fn complete(&mut self, ui: &Ui, text: &mut String, state: &mut EditorState, at: Selection) -> bool {
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        if !at.is_empty() || !text[..at.caret].ends_with(is_word) {
            return false;
        }
        let Some(mut offer) = Offer::open(text, at.caret, self.model.scope) else { return false };
        if offer.items.len() > 1 {
            state.offer = Some(offer);
            return true;
        }
        let only = offer.items.swap_remove(0);
        if text[only.replaces.clone()] == only.insert {
            return false;
        }
        self.changed = true;
        take(ui, self.id, text, only);
        true
    }
}
