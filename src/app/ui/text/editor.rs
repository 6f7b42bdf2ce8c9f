//! The editor of a cell: egui's text field with colours and the notebook's keys. For code it also has keys for editing
//! code and a list of completions below the caret.

use std::collections::VecDeque;

use attune_engine::code::Fault;
use attune_engine::code::editor::editing::{self, TextSelection};
use attune_engine::code::editor::highlight::{SpanKind, pair_at, token_at};
use attune_engine::code::editor::scope::CompletionScope;
use attune_engine::code::editor::scope::{Completion, completions};
use egui::text::{CCursor, CCursorRange};
use egui::text_edit::{TextEditOutput, TextEditState};
use egui::{
    Align2, Area, Event, EventFilter, Frame, Id, Key, Label, Margin, Modifiers, Order, Rect, Response, RichText,
    ScrollArea, Sense, Stroke, TextBuffer, TextEdit, TextWrapMode, Ui, Vec2, WidgetInfo, WidgetType,
};

use super::code_text::{Inked, Laid, Language, name_ink, squiggle};
use super::prose::equation_ui;
use crate::actions::NotebookAction;
use crate::actions::keys::action_of;
use crate::theme::{self, Palette, size};

/// The properties of an editor other than its text.
pub struct EditorModel<'a> {
    /// The name for screen readers, such as `Code of cell scores`.
    pub name: &'a str,
    pub language: Language<'a>,
    /// The error of the last run, and the text that was run. The error is marked only while the text is the same.
    pub fault: Option<(&'a Fault, &'a str)>,
    /// The hint in an empty editor.
    pub hint: &'a str,
    pub editable: bool,
}

/// The state of one editor.
#[derive(Default)]
pub struct EditorState {
    inked: Option<Inked>,
    offer: Option<CompletionOffer>,
    /// Events that were typed after one of the editor's own keys and wait for the next frame.
    later: VecDeque<Event>,
}

/// A request to the notebook from the editor: an action, such as running the cell or moving to the one above or below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    pub action: NotebookAction,
    /// The byte position of the caret at the time of the request.
    pub caret: usize,
}

pub struct EditorResponse {
    pub response: Response,
    /// Whether the text has changed.
    pub changed: bool,
    pub focused: bool,
    /// The byte position of the caret.
    pub caret: usize,
    pub asked: Option<Asked>,
}

impl EditorState {
    /// Returns whether completions are shown, which take the arrows, Enter and Esc.
    pub fn is_offering(&self) -> bool {
        self.offer.is_some()
    }
}

/// Returns the id of the editor's text field, for egui's keyboard focus.
pub fn editor_id(ui: &Ui) -> Id {
    ui.make_persistent_id("code")
}

/// Moves the keyboard focus to the editor of `text`, with the caret at a byte position if one is given.
pub fn focus_editor(ui: &Ui, text: &str, caret: Option<usize>) {
    let id = editor_id(ui);
    ui.memory_mut(|memory| memory.request_focus(id));
    if let Some(caret) = caret {
        select(ui, id, text, TextSelection::at(text.floor_char_boundary(caret)));
    }
}

pub fn editor_ui(ui: &mut Ui, text: &mut String, model: &EditorModel, state: &mut EditorState) -> EditorResponse {
    let id = editor_id(ui);
    let focused = ui.memory(|memory| memory.has_focus(id));
    let mut keys = FrameKeys { id, model, changed: false, asked: None };
    keys.read(ui, text, state, focused);
    let FrameKeys { changed, asked, .. } = keys;
    let shown = show(ui, id, text, model, state, focused);
    let caret = selection(ui, id, text).caret;
    let laid = Laid { source: text, galley: &shown.galley, origin: shown.galley_pos };
    if let Language::Code(scope) = model.language {
        laid.number_lines(ui, Palette::on(ui).ink_faint);
        marks_ui(ui, &laid, model, scope, state, focused.then_some(caret));
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
    let palette = Palette::on(ui);
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

/// Marks the pair of brackets at the caret, or a bracket there that has no partner, and the error of the last run.
fn marks_ui(
    ui: &mut Ui,
    laid: &Laid,
    model: &EditorModel,
    scope: &CompletionScope,
    state: &mut EditorState,
    caret: Option<usize>,
) {
    let palette = Palette::on(ui);
    let spans = &Inked::of(&mut state.inked, ui, laid.source, Language::Code(scope)).spans;
    if let Some(pair) = caret.and_then(|caret| pair_at(laid.source, spans, caret)) {
        pair.into_iter().for_each(|bracket| laid.mark(ui, bracket, palette.accent));
    }
    let unmatched = |caret: &usize| {
        spans
            .iter()
            .find(|span| span.kind == SpanKind::Unmatched && (span.range.start..=span.range.end).contains(caret))
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

/// Shows the completions. Returns true if a click took one.
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
    let stays = |offer: &CompletionOffer| offer.hovered || ui.memory(|memory| memory.has_focus(id));
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
    select(ui, id, text, TextSelection::at(item.replaces.start + item.caret));
}

/// Returns the selection in bytes. egui counts characters.
fn selection(ui: &Ui, id: Id, text: &str) -> TextSelection {
    let state = TextEditState::load(ui.ctx(), id);
    let byte = |cursor: CCursor| text.char_indices().nth(cursor.index.0).map_or(text.len(), |(at, _)| at);
    match state.and_then(|state| state.cursor.char_range()) {
        Some(range) => TextSelection { anchor: byte(range.secondary), caret: byte(range.primary) },
        None => TextSelection::at(text.len()),
    }
}

fn select(ui: &Ui, id: Id, text: &str, selection: TextSelection) {
    let cursor = |at: usize| CCursor::new(text[..at].chars().count());
    let mut state = TextEditState::load(ui.ctx(), id).unwrap_or_default();
    let range = CCursorRange::two(cursor(selection.anchor), cursor(selection.caret));
    state.cursor.set_char_range(Some(range));
    state.store(ui.ctx(), id);
}

/// A key that this editor handles instead of egui's text field.
enum EditorKey {
    Notebook(NotebookAction),
    Enter,
    Tab,
    Outdent,
    Indent,
    Comment,
    Backspace,
    Typed(char),
    Offer,
    /// A move of the selection in the list of completions by a number of rows.
    Go(isize),
    Take,
    /// The arrow keys up and down, which can leave the text.
    Up,
    Down,
}

fn action(event: &Event, offering: bool, model: &EditorModel) -> Option<EditorKey> {
    const PAGE: isize = 6;
    let (editable, is_code) = (model.editable, matches!(model.language, Language::Code(_)));
    let (key, modifiers) = match event {
        Event::Text(text) if editable && is_code => {
            let mut chars = text.chars();
            let c = chars.next().filter(|c| chars.next().is_none() && "()[]{}\"`".contains(*c));
            return c.map(EditorKey::Typed);
        }
        Event::Key { key, pressed: true, modifiers, .. } => (*key, *modifiers),
        _ => return None,
    };
    if let Some(action) = action_of(key, modifiers, NotebookAction::is_of_editor) {
        return Some(EditorKey::Notebook(action));
    }
    let Modifiers { alt, shift, command, .. } = modifiers;
    Some(match (key, command, shift, alt) {
        (Key::ArrowUp, false, false, false) if !offering => EditorKey::Up,
        (Key::ArrowDown, false, false, false) if !offering => EditorKey::Down,
        _ if !editable => return None,
        (Key::Enter | Key::Tab, false, false, false) if offering => EditorKey::Take,
        (Key::ArrowDown, false, false, false) if offering => EditorKey::Go(1),
        (Key::ArrowUp, false, false, false) if offering => EditorKey::Go(-1),
        (Key::PageDown, false, false, false) if offering => EditorKey::Go(PAGE),
        (Key::PageUp, false, false, false) if offering => EditorKey::Go(-PAGE),
        (Key::Tab, false, true, _) => EditorKey::Outdent,
        (Key::Tab, false, ..) => EditorKey::Tab,
        (Key::CloseBracket, true, ..) => EditorKey::Indent,
        (Key::OpenBracket, true, ..) => EditorKey::Outdent,
        // The remaining keys are only for code.
        _ if !is_code => return None,
        (Key::Enter, ..) => EditorKey::Enter,
        (Key::Slash, true, ..) => EditorKey::Comment,
        (Key::Backspace, false, false, false) => EditorKey::Backspace,
        (Key::Space, ..) if modifiers.ctrl => EditorKey::Offer,
        _ => return None,
    })
}

/// Returns whether an event comes from the keyboard: pressed keys, text, or a use of the clipboard.
fn is_typed(event: &Event) -> bool {
    matches!(
        event,
        Event::Text(_) | Event::Paste(_) | Event::Copy | Event::Cut | Event::Ime(_) | Event::Key { pressed: true, .. }
    )
}

/// The handling of one frame's keys.
pub struct FrameKeys<'a, 'm> {
    pub id: Id,
    pub model: &'a EditorModel<'m>,
    pub changed: bool,
    pub asked: Option<Asked>,
}

impl FrameKeys<'_, '_> {
    /// Handles the editor's own keys in the order in which they were typed. If one follows a key for egui's text field,
    /// it and all later keys wait for the next frame.
    pub fn read(&mut self, ui: &Ui, text: &mut String, state: &mut EditorState, focused: bool) {
        let mut queue = std::mem::take(&mut state.later);
        if !focused {
            // Another widget has the keyboard now, and gets these events.
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
            match action(&event, state.offer.is_some(), self.model) {
                None => through.push(event),
                Some(_) if !through.is_empty() || self.asked.is_some() => {
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

    fn scope(&self) -> Option<&CompletionScope> {
        match self.model.language {
            Language::Code(scope) => Some(scope),
            Language::Markdown => None,
        }
    }

    /// Handles a key; returns false if it must go to egui's text field after all.
    fn act(&mut self, ui: &Ui, text: &mut String, state: &mut EditorState, action: EditorKey) -> bool {
        let at = selection(ui, self.id, text);
        let after = match action {
            // Esc closes the completions first.
            EditorKey::Notebook(NotebookAction::Leave) if state.offer.take().is_some() => return true,
            EditorKey::Notebook(action) => return self.ask(ui, state, action, at.caret),
            EditorKey::Offer => {
                state.offer = self.scope().and_then(|scope| CompletionOffer::open(text, at.caret, scope));
                return true;
            }
            EditorKey::Go(steps) => {
                state.offer.iter_mut().for_each(|offer| offer.go(steps));
                return true;
            }
            EditorKey::Take => return self.take_offer(ui, text, state, at.caret),
            EditorKey::Up => return self.leave_from(at.caret, 0, NotebookAction::SelectAbove),
            EditorKey::Down => return self.leave_from(at.caret, text.len(), NotebookAction::SelectBelow),
            EditorKey::Tab => match self.complete(ui, text, state, at) {
                true => return true,
                false => editing::indent(text, at),
            },
            EditorKey::Enter => editing::enter(text, at),
            EditorKey::Indent => editing::indent_lines(text, at),
            EditorKey::Outdent => editing::outdent(text, at),
            EditorKey::Comment => editing::toggle_comments(text, at),
            EditorKey::Backspace => match editing::backspace(text, at) {
                Some(after) => after,
                None => return false,
            },
            EditorKey::Typed(c) => match editing::typed(text, at, c) {
                Some(after) => after,
                None => return false,
            },
        };
        self.changed = true;
        select(ui, self.id, text, after);
        true
    }

    /// Passes a key on to the notebook.
    fn ask(&mut self, ui: &Ui, state: &mut EditorState, action: NotebookAction, caret: usize) -> bool {
        match action {
            NotebookAction::Leave => ui.memory_mut(|memory| memory.surrender_focus(self.id)),
            NotebookAction::Split => {}
            _ => state.offer = None,
        }
        self.asked = Some(Asked { action, caret });
        true
    }

    /// Inserts the selected completion.
    fn take_offer(&mut self, ui: &Ui, text: &mut String, state: &mut EditorState, caret: usize) -> bool {
        let offer = state.offer.take().zip(self.scope());
        if let Some(mut offer) = offer.and_then(|(offer, scope)| offer.follow(text, caret, scope)) {
            self.changed = true;
            take(ui, self.id, text, offer.items.swap_remove(offer.selected));
        }
        true
    }

    /// Leaves the text if the caret is at `end`. Otherwise egui handles the key and moves the caret there first, as in
    /// JupyterLab.
    fn leave_from(&mut self, caret: usize, end: usize, action: NotebookAction) -> bool {
        let leaves = caret == end;
        if leaves {
            self.asked = Some(Asked { action, caret });
        }
        leaves
    }

    /// Completes the word before the caret, at once if there is only one completion. Returns false if there is nothing
    /// to complete.
    fn complete(&mut self, ui: &Ui, text: &mut String, state: &mut EditorState, at: TextSelection) -> bool {
        let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
        if !at.is_empty() || !text[..at.caret].ends_with(is_word) {
            return false;
        }
        let offer = self.scope().and_then(|scope| CompletionOffer::open(text, at.caret, scope));
        let Some(mut offer) = offer else { return false };
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

/// The list of completions, until one is taken.
pub struct CompletionOffer {
    pub items: Vec<Completion>,
    pub selected: usize,
    /// The hash of the text and the caret for which the list was made.
    of: (u64, usize),
    start: usize,
    /// Whether a key has moved the selection, which must then be scrolled into view.
    moved: bool,
    /// Whether the pointer is over the list, in which case a press does not close it.
    pub hovered: bool,
}

impl CompletionOffer {
    pub fn open(source: &str, caret: usize, scope: &CompletionScope) -> Option<CompletionOffer> {
        let items = completions(source, caret, scope);
        let start = items.first()?.replaces.start;
        let of = (egui::util::hash(source), caret);
        Some(CompletionOffer { items, selected: 0, of, start, moved: true, hovered: false })
    }

    /// Updates the list to the word typed so far; returns `None` once another word is being typed.
    pub fn follow(self, source: &str, caret: usize, scope: &CompletionScope) -> Option<CompletionOffer> {
        let is_same = self.of == (egui::util::hash(source), caret);
        if is_same {
            return Some(self);
        }
        CompletionOffer::open(source, caret, scope).filter(|offer| offer.start == self.start)
    }

    pub fn go(&mut self, steps: isize) {
        let last = self.items.len() as isize - 1;
        let to = self.selected as isize + steps;
        // A single step wraps around at the ends; a page stops there.
        self.selected = match (to < 0, to > last, steps.abs() == 1) {
            (true, _, true) => last,
            (_, true, true) => 0,
            _ => to.clamp(0, last),
        } as usize;
        self.moved = true;
    }
}

/// Shows the list below `caret`, or above it if there is no room. Returns the index of the completion that was clicked.
pub fn offer_ui(ui: &Ui, id: Id, caret: Rect, offer: &mut CompletionOffer) -> Option<usize> {
    let screen = ui.ctx().content_rect();
    let above = caret.bottom() + size::POPUP.y > screen.bottom();
    let (pivot, at) =
        if above { (Align2::LEFT_BOTTOM, caret.left_top()) } else { (Align2::LEFT_TOP, caret.left_bottom()) };
    let area = Area::new(id).order(Order::Foreground).pivot(pivot).fixed_pos(at).constrain_to(screen);
    let shown = area.show(ui.ctx(), |ui| {
        Frame::popup(ui.style()).show(ui, |ui| {
            ui.set_width(size::POPUP.x);
            ui.spacing_mut().item_spacing.y = 0.0;
            let clicked = list_ui(ui, offer);
            about_ui(ui, &offer.items[offer.selected]);
            clicked
        })
    });
    offer.hovered = shown.response.contains_pointer();
    shown.inner.inner
}

fn list_ui(ui: &mut Ui, offer: &mut CompletionOffer) -> Option<usize> {
    const ROWS: f32 = 6.0;
    let mut clicked = None;
    let height = ROWS * size::SLIDER_ROW;
    let moved = std::mem::take(&mut offer.moved);
    let mut area = ScrollArea::vertical().max_height(height).auto_shrink([false, true]);
    if moved {
        let top = (offer.selected as f32 + 1.0) * size::SLIDER_ROW - height;
        let offset = ui.data(|data| data.get_temp::<f32>(ui.id())).unwrap_or(0.0);
        area = area.vertical_scroll_offset(offset.clamp(top.max(0.0), offer.selected as f32 * size::SLIDER_ROW));
    }
    let shown = area.show_rows(ui, size::SLIDER_ROW, offer.items.len(), |ui, rows| {
        for i in rows {
            if row_ui(ui, &offer.items[i], i == offer.selected) {
                clicked = Some(i);
            }
        }
    });
    ui.data_mut(|data| data.insert_temp(ui.id(), shown.state.offset.y));
    clicked
}

fn row_ui(ui: &mut Ui, item: &Completion, selected: bool) -> bool {
    let palette = Palette::on(ui);
    let (rect, response) = ui.allocate_exact_size(Vec2::new(ui.available_width(), size::SLIDER_ROW), Sense::click());
    let name = &item.name;
    let fill = match (selected, response.hovered()) {
        (true, _) => palette.accent_soft,
        (_, true) => palette.lifted,
        _ => theme::CLEAR,
    };
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, f32::from(size::RADIUS_SMALL), fill);
    let inner = rect.shrink2(Vec2::new(size::GAP_TIGHT, 0.0));
    let ink = name_ink(name.kind, palette);
    let drawn = painter.text(inner.left_center(), Align2::LEFT_CENTER, &name.name, theme::mono(size::MONO), ink);
    let kind = painter.text(
        inner.right_center(),
        Align2::RIGHT_CENTER,
        name.kind.name(),
        theme::plain(size::SMALL),
        palette.ink_faint,
    );
    // The detail is drawn between name and kind, if there is room.
    let room = Rect::from_x_y_ranges(drawn.right() + size::GAP..=kind.left() - size::GAP, rect.y_range());
    if room.is_positive() {
        let detail = theme::mono(size::SMALL);
        ui.painter_at(room).text(room.left_center(), Align2::LEFT_CENTER, &name.detail, detail, palette.ink_soft);
    }
    let label = format!("{}, {} {}", name.name, name.kind.name(), name.detail);
    response.widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, selected, label.trim_end()));
    response.clicked()
}

/// Shows the explanation of the selected completion.
fn about_ui(ui: &mut Ui, item: &Completion) {
    let name = &item.name;
    if name.meaning.is_empty() && name.equation.is_empty() {
        return;
    }
    ui.separator();
    ui.style_mut().wrap_mode = Some(TextWrapMode::Wrap);
    if !name.meaning.is_empty() {
        ui.add(Label::new(RichText::new(&name.meaning).font(theme::plain(size::SMALL))).wrap());
    }
    if !name.equation.is_empty() {
        equation_ui(ui, &name.equation);
    }
}
