//! A field for a sentence. Its words are shown as chips while they are typed, and a word is replaced only if the user
//! chooses a replacement.

use attune_view::view_model::needs::Needs;
use attune_view::view_model::sentences::{
    CHARS_MAX, OFFERED, ReadWord, SentenceFault, SentenceReading, SentencesModel, WordKind, shortened,
};
use egui::containers::menu::MenuButton;
use egui::text::{CCursor, CCursorRange};
use egui::text_edit::TextEditState;
use egui::{
    Align, Align2, Button, FontId, Frame, Id, Key, Label, Layout, Modifiers, Popup, PopupCloseBehavior, RectAlign,
    Response, RichText, ScrollArea, Sense, TextEdit, TextStyle, TextWrapMode, Ui, WidgetType,
};

use super::controls::named;
use super::heat::width_of;
use super::popup::list_place;
use crate::actions::keys;
use crate::theme::{self, Palette, size};

#[derive(Default)]
pub struct SentenceFieldState {
    text: String,
    /// The sentence that was shown in the last frame.
    seen: String,
    is_open: bool,
    /// The text that was read last, and how it was read.
    reading: Option<(String, SentenceReading)>,
    /// Whether Enter was pressed while the text could not be read.
    is_refused: bool,
    /// An unreadable text that was left in the field, and the sentence that was shown then.
    kept: Option<(String, String)>,
}

/// The properties of a sentence field.
pub struct SentenceField<'a> {
    /// The name for screen readers.
    pub name: &'a str,
    pub hint: &'a str,
    /// The shown sentence, as text.
    pub shown: &'a str,
    /// The index of the shown sentence among the lesson's.
    pub selected: Option<usize>,
    pub width: f32,
}

pub enum SentenceChange {
    /// A readable sentence, after which others may follow during typing.
    Typed(String),
    /// The final sentence, when the field is closed.
    Done(String),
    /// The index of a chosen sentence of the lesson.
    Chosen(usize),
}

pub fn sentence_field_ui(
    ui: &mut Ui,
    field: &SentenceField,
    model: &SentencesModel,
    state: &mut SentenceFieldState,
) -> Vec<SentenceChange> {
    let mut changes = Vec::new();
    follow(field, state);
    if model.is_recorded {
        recorded_ui(ui, field, model, state, &mut changes);
        return changes;
    }
    changes.extend(menu_ui(ui, field, model, state).map(SentenceChange::Chosen));
    let id = keys::sentence_field(field.name);
    keys::take(ui.ctx(), id);
    let edit = keys(ui, id, state);
    let response = text_ui(ui, id, field, state);
    ui.ctx().accesskit_node_builder(id, |node| node.set_label(field.name));
    if response.gained_focus() && !state.is_open {
        open(ui, id, field, state);
    }
    let reading = read(model, state);
    state.is_refused &= !response.changed();
    if response.changed() && reading.fault.is_none() {
        changes.push(SentenceChange::Typed(state.text.clone()));
    }
    if !state.is_open {
        closed_ui(ui, response, field, state);
        return changes;
    }
    changes.extend(open_ui(ui, field, model, state, &response, reading, edit));
    changes
}

/// Shows the text of a recording. Another of its texts can be chosen, but none can be edited.
fn recorded_ui(
    ui: &mut Ui,
    field: &SentenceField,
    model: &SentencesModel,
    state: &mut SentenceFieldState,
    changes: &mut Vec<SentenceChange>,
) {
    if model.sentences.len() > 1 {
        changes.extend(menu_ui(ui, field, model, state).map(SentenceChange::Chosen));
    }
    let text = RichText::new(&state.text).font(font(ui, field.width, state));
    let size = egui::vec2(field.width, ui.spacing().interact_size.y);
    let line = Layout::left_to_right(Align::Center);
    let label = ui.allocate_ui_with_layout(size, line, |ui| ui.add(Label::new(text).truncate())).inner;
    label.on_hover_text(format!("{}\n{}: its text cannot be edited", state.text, Needs::Model.words()));
}

/// Shows the text field itself.
fn text_ui(ui: &mut Ui, id: Id, field: &SentenceField, state: &mut SentenceFieldState) -> Response {
    let font = font(ui, field.width, state);
    let height = ui.text_style_height(&TextStyle::Body) + 2.0 * size::FIELD_MARGIN.y;
    ui.add(
        TextEdit::singleline(&mut state.text)
            .id(id)
            .font(font)
            .vertical_align(Align::Center)
            .min_size(egui::vec2(0.0, height))
            .margin(size::FIELD_MARGIN)
            .desired_width(field.width)
            .char_limit(CHARS_MAX)
            .hint_text(field.hint),
    )
}

/// Marks the end of a sentence that is longer than the field, and shows the whole sentence as tooltip.
fn closed_ui(ui: &Ui, response: Response, field: &SentenceField, state: &SentenceFieldState) {
    let room = field.width - 2.0 * size::FIELD_MARGIN.x;
    let font = font(ui, field.width, state);
    if width_of(ui, &state.text, font.clone()) <= room {
        response.on_hover_text(field.hint);
        return;
    }
    let end = response.rect.shrink(size::HAIRLINE);
    let end = end.with_min_x(end.right() - size::FIELD_MARGIN.x - size::GAP);
    ui.painter().rect_filled(end, size::RADIUS_SMALL, ui.visuals().text_edit_bg_color());
    ui.painter().text(end.center(), Align2::CENTER_CENTER, "…", font, ui.visuals().text_color());
    response.on_hover_text(format!("{}\n{}", state.text, field.hint));
}

/// Shows the popup of the field while it is edited, and handles Enter, edits and closing.
fn open_ui(
    ui: &mut Ui,
    field: &SentenceField,
    model: &SentencesModel,
    state: &mut SentenceFieldState,
    response: &Response,
    reading: SentenceReading,
    edit: Option<Edit>,
) -> Vec<SentenceChange> {
    let id = response.id;
    let (mut edit, mut changes) = (edit, Vec::new());
    let ends = ui.input(|input| input.key_pressed(Key::Escape));
    // Consumes Enter, so that the selected cell does not open.
    let is_entered = response.lost_focus() && ui.input_mut(|input| input.consume_key(Modifiers::NONE, Key::Enter));
    let popup = Popup::from_response(response).close_behavior(PopupCloseBehavior::IgnoreClicks).open(true);
    let margin = Frame::popup(ui.style()).total_margin().sum().x;
    let (at, width) = list_place(ui.ctx(), response.rect, field.width.max(size::WIDE_POPUP) + margin);
    let popup = popup.at_position(at).gap(0.0).align(RectAlign::BOTTOM_START).align_alternatives(&[]);
    let shown = popup.show(|ui| {
        ui.set_width(width - margin);
        reading_ui(ui, &state.text, &reading, state.is_refused)
    });
    let mut stays = response.has_focus();
    if let Some(shown) = shown {
        edit = edit.or(shown.inner.edit);
        stays |= shown.inner.has_focus || shown.response.contains_pointer();
    }
    // Enter never replaces a word by itself.
    state.is_refused |= is_entered && edit.is_none() && reading.fault.is_some();
    if let Some(edit) = edit {
        let text = edit.done(&reading, &state.text);
        changes.extend(write_edit(ui, id, model, state, text));
        stays = true;
    } else if is_entered && reading.fault.is_some() {
        // The field stays open until its text can be read.
        stays = true;
        ui.memory_mut(|memory| memory.request_focus(id));
    }
    if ends || is_entered && reading.fault.is_none() || !stays {
        changes.push(SentenceChange::Done(close(field, state, &reading)));
    }
    changes
}

/// Writes an edited text into the field, which keeps the keyboard. Returns the change if the text can be read.
fn write_edit(
    ui: &Ui,
    id: Id,
    model: &SentencesModel,
    state: &mut SentenceFieldState,
    text: String,
) -> Option<SentenceChange> {
    state.text = text;
    caret_to_end(ui, id, &state.text);
    ui.memory_mut(|memory| memory.request_focus(id));
    read(model, state).fault.is_none().then(|| SentenceChange::Typed(state.text.clone()))
}

/// Returns the font of the field. While the field is closed, this is the largest font in which the whole sentence fits;
/// if none fits, the smallest. The open field has the largest.
fn font(ui: &Ui, width: f32, state: &SentenceFieldState) -> FontId {
    const SIZES: [f32; 3] = [size::BODY, size::MONO, size::SMALL];
    let room = width - 2.0 * size::FIELD_MARGIN.x;
    let fits = |font: &f32| width_of(ui, &state.text, theme::plain(*font)) <= room;
    let whole = SIZES.into_iter().find(fits).unwrap_or(size::SMALL);
    theme::plain(if state.is_open { size::BODY } else { whole })
}

/// Copies the sentence on the stage into the field while it is closed.
fn follow(field: &SentenceField, state: &mut SentenceFieldState) {
    if state.seen != field.shown {
        field.shown.clone_into(&mut state.seen);
        if !state.is_open {
            field.shown.clone_into(&mut state.text);
        }
    }
}

/// Opens the field, with the text that could not be read before, or else with everything selected.
fn open(ui: &Ui, id: Id, field: &SentenceField, state: &mut SentenceFieldState) {
    state.is_open = true;
    match state.kept.take() {
        Some((text, shown)) if shown == field.shown => {
            state.text = text;
            caret_to_end(ui, id, &state.text);
        }
        _ => select(ui, id, 0, state.text.chars().count()),
    }
}

/// Closes the field and returns its sentence or, if its text cannot be read, the shown one. An unreadable text is kept
/// for the next time that the field opens.
fn close(field: &SentenceField, state: &mut SentenceFieldState, reading: &SentenceReading) -> String {
    state.is_open = false;
    let last = if reading.fault.is_none() {
        reading.sentence(&state.text)
    } else {
        if reading.count > 0 {
            state.kept = Some((state.text.clone(), field.shown.to_owned()));
        }
        field.shown.to_owned()
    };
    state.text.clone_from(&last);
    last
}

fn read(model: &SentencesModel, state: &mut SentenceFieldState) -> SentenceReading {
    if let Some((text, reading)) = &state.reading
        && *text == state.text
    {
        return reading.clone();
    }
    let reading = model.lexicon.read(&state.text);
    state.reading = Some((state.text.clone(), reading.clone()));
    reading
}

/// Shows the menu of the lesson's sentences, and returns the index of the chosen one, unless it is shown already.
fn menu_ui(
    ui: &mut Ui,
    field: &SentenceField,
    model: &SentencesModel,
    state: &mut SentenceFieldState,
) -> Option<usize> {
    let mut chosen = None;
    let (button, _) = MenuButton::new("▾").ui(ui, |ui| {
        ScrollArea::vertical().max_height(size::OUTPUT_MAX).show(ui, |ui| {
            for (index, sentence) in model.sentences.iter().enumerate() {
                if ui.selectable_label(field.selected == Some(index), sentence).clicked() {
                    (state.is_open, state.kept) = (false, None);
                    chosen = Some(index);
                    ui.close();
                }
            }
        });
    });
    let name = format!("{}: the lesson's sentences", field.name);
    named(button, WidgetType::Button, name).on_hover_text("The lesson's sentences");
    chosen.filter(|index| field.selected != Some(*index))
}

/// An edit that makes a text readable.
enum Edit {
    Without(usize),
    With(usize, String),
    /// The removal of the words beyond the model's limit.
    Cut,
}

impl Edit {
    fn done(self, reading: &SentenceReading, text: &str) -> String {
        match self {
            Edit::Without(word) => reading.without(text, word),
            Edit::With(word, other) => reading.with(text, word, &other),
            Edit::Cut => reading.cut(text),
        }
    }
}

/// Returns the edit of a pressed arrow key for the first word that cannot be read: ↓ replaces it by the first
/// suggestion, and ↑ removes it. Returns `None` if there is no such edit.
fn keys(ui: &Ui, id: Id, state: &SentenceFieldState) -> Option<Edit> {
    let (text, reading) = state.reading.as_ref()?;
    if !state.is_open || *text != state.text || !ui.memory(|memory| memory.has_focus(id)) {
        return None;
    }
    let word = reading.first_fault()?;
    let pressed = |key| ui.input_mut(|input| input.consume_key(Modifiers::NONE, key));
    match &reading.words[word].kind {
        WordKind::Unknown(others) | WordKind::Unfinished(others) if pressed(Key::ArrowDown) => {
            Some(Edit::With(word, others.first()?.clone()))
        }
        WordKind::Unknown(_) if pressed(Key::ArrowUp) => Some(Edit::Without(word)),
        _ => None,
    }
}

struct PopupResponse {
    edit: Option<Edit>,
    has_focus: bool,
}

/// Shows the words as they are read, and the possible edits of those that cannot be read.
fn reading_ui(ui: &mut Ui, text: &str, reading: &SentenceReading, is_refused: bool) -> PopupResponse {
    let palette = Palette::on(ui);
    let mut shown = PopupResponse { edit: None, has_focus: false };
    chips_ui(ui, reading);
    let (said, ink) = match &reading.fault {
        None => ("On the stage.", palette.ink_soft),
        Some(SentenceFault { words, is_early: true }) => (words.as_str(), palette.ink_soft),
        Some(SentenceFault { words, .. }) => (words.as_str(), palette.warn),
    };
    ui.label(RichText::new(said).color(ink));
    if text.chars().count() >= CHARS_MAX {
        ui.label(
            RichText::new(format!("The field takes at most {CHARS_MAX} characters; the rest is cut off."))
                .color(palette.warn),
        );
    }
    let first = reading.first_fault();
    let in_the_way = reading.words.iter().enumerate();
    let in_the_way = in_the_way.filter(|(_, word)| matches!(word.kind, WordKind::Unknown(_) | WordKind::Unfinished(_)));
    for (index, word) in in_the_way.take(OFFERED) {
        offer_ui(ui, index, word, first == Some(index), &mut shown);
    }
    if reading.fault.is_some() && first.is_none() && reading.count > reading.most_words {
        let keep =
            ui.button(format!("Keep the first {}", reading.most_words)).on_hover_text("Removes the words after these");
        shown.has_focus |= keep.has_focus();
        if keep.clicked() {
            shown.edit = Some(Edit::Cut);
        }
    }
    ui.add_space(size::GAP_TIGHT);
    if is_refused && reading.fault.is_some() {
        ui.label(RichText::new(refusal(reading)).color(palette.warn));
    }
    let help = help(reading);
    ui.label(RichText::new(help).font(theme::plain(size::SMALL)).color(palette.ink_faint));
    shown
}

/// Returns a text on how the sentence is read, and what the keys do.
fn help(reading: &SentenceReading) -> String {
    let keys = match reading.suggestion() {
        _ if reading.fault.is_none() => "Enter or Esc: done.".to_owned(),
        Some((_, other)) => format!("↓: {other}. Esc: back to the sentence on the stage; what you typed is kept."),
        None => "Esc: back to the sentence on the stage; what you typed is kept.".to_owned(),
    };
    let how =
        if reading.in_pieces { "The model's tokenizer splits the text." } else { "Case and punctuation are ignored." };
    format!("{how} {keys}")
}

/// Shows the words, as they are read.
fn chips_ui(ui: &mut Ui, reading: &SentenceReading) {
    // Pasted text may be long, so the list scrolls.
    ScrollArea::vertical().max_height(size::CHIPS_MAX).show(ui, |ui| {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = egui::Vec2::splat(size::GAP_TIGHT);
            reading.words.iter().for_each(|word| chip_ui(ui, word));
            let more = reading.count - reading.words.len();
            if more > 0 {
                ui.weak(format!("and {more} more"));
            }
        });
    });
}

/// Returns advice for a text that Enter cannot accept.
fn refusal(reading: &SentenceReading) -> String {
    match reading.first_fault().map(|word| &reading.words[word]) {
        Some(ReadWord { text, kind: WordKind::Unknown(_), .. }) => {
            format!("{} is unknown. Above, choose a word for it, or press ↑ to leave it out.", shortened(text))
        }
        Some(_) => "Finish the last word.".to_owned(),
        None if reading.count == 0 => "Write at least one word.".to_owned(),
        None => format!("Leave out some words; the model can read at most {}.", reading.most_words),
    }
}

fn chip_ui(ui: &mut Ui, word: &ReadWord) {
    let palette = Palette::on(ui);
    let (ink, stroke) = match word.kind {
        WordKind::Known(group) => (group.map_or(palette.ink, |group| palette.group(group)), palette.line),
        WordKind::Unfinished(_) => (palette.ink_faint, palette.line),
        WordKind::Unknown(_) | WordKind::TooMany => (palette.warn, palette.warn),
    };
    let text = RichText::new(shortened(&word.text)).color(ink);
    // Faulty words are also marked by their line style, not only by colour.
    let text = if matches!(word.kind, WordKind::TooMany) { text.strikethrough() } else { text };
    let text = if matches!(word.kind, WordKind::Unknown(_)) { text.underline() } else { text };
    // The chip is laid out at its final size, so that it wraps to the next line as a whole.
    const MARGIN: egui::Vec2 = egui::Vec2::new(size::GAP - 2.0, 1.0);
    let galley =
        egui::WidgetText::from(text).into_galley(ui, Some(TextWrapMode::Extend), f32::INFINITY, TextStyle::Body);
    let (rect, response) = ui.allocate_exact_size(galley.size() + 2.0 * MARGIN, Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Label, true, shortened(&word.text)));
    let stroke = egui::Stroke::new(size::HAIRLINE, stroke);
    ui.painter().rect(rect, size::RADIUS, palette.raised, stroke, egui::StrokeKind::Inside);
    ui.painter().galley(rect.min + MARGIN, galley, ink);
}

/// Shows the suggested words for a word, and a button that removes it.
fn offer_ui(ui: &mut Ui, index: usize, word: &ReadWord, is_first: bool, shown: &mut PopupResponse) {
    let (WordKind::Unknown(others) | WordKind::Unfinished(others)) = &word.kind else { return };
    let is_unknown = matches!(word.kind, WordKind::Unknown(_));
    let name = shortened(&word.text);
    let is_near = !others.is_empty();
    ui.horizontal_wrapped(|ui| {
        let asked = match (is_unknown, is_near) {
            (true, true) => format!("{name}: did you mean"),
            (true, false) => format!("Instead of {name}:"),
            (false, _) => format!("{name}…:"),
        };
        ui.weak(asked);
        let mut button = |ui: &mut Ui, words: &str, said: &str, key: Option<&str>, edit: Edit| {
            let hint = key.map_or_else(|| said.to_owned(), |key| format!("{said} ({key})"));
            let words = key.map_or_else(|| words.to_owned(), |key| format!("{words}  {key}"));
            let button = named(ui.add(Button::new(words).small()), WidgetType::Button, said);
            shown.has_focus |= button.has_focus();
            if button.on_hover_text(hint).clicked() {
                shown.edit = Some(edit);
            }
        };
        for (place, other) in others.iter().chain(&word.others).enumerate() {
            let key = (is_first && is_near && place == 0).then_some("↓");
            let said = format!("Write {other} instead of {name}");
            button(ui, other, &said, key, Edit::With(index, other.clone()));
        }
        if is_unknown {
            let key = is_first.then_some("↑");
            button(ui, "leave it out", &format!("Leave out {name}"), key, Edit::Without(index));
        }
    });
}

fn caret_to_end(ui: &Ui, id: Id, text: &str) {
    let end = text.chars().count();
    select(ui, id, end, end);
}

fn select(ui: &Ui, id: Id, from: usize, to: usize) {
    let mut state = TextEditState::load(ui.ctx(), id).unwrap_or_default();
    state.cursor.set_char_range(Some(CCursorRange::two(CCursor::new(from), CCursor::new(to))));
    state.store(ui.ctx(), id);
}
