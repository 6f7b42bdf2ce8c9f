//! The keys that are not egui's editor's: those of code, of the names that are offered, and the notebook's.

use attune_engine::code::editor::editing::{self, Selection};
use attune_engine::code::editor::scope::Scope;
use egui::{Event, Id, Key, Modifiers, Ui};

use super::{Asked, EditorModel, EditorState, select, selection, take};
use crate::app::actions::NotebookAction;
use crate::app::actions::keys::action_of;
use crate::app::text::code_text::Language;
use crate::app::text::completion::Offer;

/// A key that is not egui's editor's.
enum Action {
    Notebook(NotebookAction),
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
    /// The arrow up, and the arrow down.
    Up,
    Down,
}

fn action(event: &Event, offering: bool, model: &EditorModel) -> Option<Action> {
    const PAGE: isize = 6;
    let (editable, is_code) = (model.editable, matches!(model.language, Language::Code(_)));
    let (key, modifiers) = match event {
        Event::Text(text) if editable && is_code => {
            let mut chars = text.chars();
            let c = chars.next().filter(|c| chars.next().is_none() && "()[]{}\"`".contains(*c));
            return c.map(Action::Typed);
        }
        Event::Key { key, pressed: true, modifiers, .. } => (*key, *modifiers),
        _ => return None,
    };
    if let Some(action) = action_of(key, modifiers, NotebookAction::is_of_editor) {
        return Some(Action::Notebook(action));
    }
    let Modifiers { alt, shift, command, .. } = modifiers;
    Some(match (key, command, shift, alt) {
        (Key::ArrowUp, false, false, false) if !offering => Action::Up,
        (Key::ArrowDown, false, false, false) if !offering => Action::Down,
        _ if !editable => return None,
        (Key::Enter | Key::Tab, false, false, false) if offering => Action::Take,
        (Key::ArrowDown, false, false, false) if offering => Action::Go(1),
        (Key::ArrowUp, false, false, false) if offering => Action::Go(-1),
        (Key::PageDown, false, false, false) if offering => Action::Go(PAGE),
        (Key::PageUp, false, false, false) if offering => Action::Go(-PAGE),
        (Key::Tab, false, true, _) => Action::Outdent,
        (Key::Tab, false, ..) => Action::Tab,
        (Key::CloseBracket, true, ..) => Action::Indent,
        (Key::OpenBracket, true, ..) => Action::Outdent,
        // The rest is of code.
        _ if !is_code => return None,
        (Key::Enter, ..) => Action::Enter,
        (Key::Slash, true, ..) => Action::Comment,
        (Key::Backspace, false, false, false) => Action::Backspace,
        (Key::Space, ..) if modifiers.ctrl => Action::Offer,
        _ => return None,
    })
}

/// Whether egui's editor takes this event from the keyboard.
fn is_typed(event: &Event) -> bool {
    matches!(
        event,
        Event::Text(_) | Event::Paste(_) | Event::Copy | Event::Cut | Event::Ime(_) | Event::Key { pressed: true, .. }
    )
}

/// The keys of one frame.
pub struct Keys<'a, 'm> {
    pub id: Id,
    pub model: &'a EditorModel<'m>,
    pub changed: bool,
    pub asked: Option<Asked>,
}

impl Keys<'_, '_> {
    /// Does what is ours, in the order in which it was typed: from a key of ours behind one of egui's on,
    /// the rest waits for the next frame.
    pub fn read(&mut self, ui: &Ui, text: &mut String, state: &mut EditorState, focused: bool) {
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

    fn scope(&self) -> Option<&Scope> {
        match self.model.language {
            Language::Code(scope) => Some(scope),
            Language::Markdown => None,
        }
    }

    /// False where the key is egui's after all.
    fn act(&mut self, ui: &Ui, text: &mut String, state: &mut EditorState, action: Action) -> bool {
        let at = selection(ui, self.id, text);
        let after = match action {
            // Esc first takes the names away that are offered.
            Action::Notebook(NotebookAction::Leave) if state.offer.take().is_some() => return true,
            Action::Notebook(action) => {
                match action {
                    NotebookAction::Leave => ui.memory_mut(|memory| memory.surrender_focus(self.id)),
                    NotebookAction::Split => {}
                    _ => state.offer = None,
                }
                self.asked = Some(Asked { action, caret: at.caret });
                return true;
            }
            Action::Offer => {
                state.offer = self.scope().and_then(|scope| Offer::open(text, at.caret, scope));
                return true;
            }
            Action::Go(steps) => {
                state.offer.iter_mut().for_each(|offer| offer.go(steps));
                return true;
            }
            Action::Take => {
                let offer = state.offer.take().zip(self.scope());
                let offer = offer.and_then(|(offer, scope)| offer.follow(text, at.caret, scope));
                let Some(mut offer) = offer else { return true };
                self.changed = true;
                take(ui, self.id, text, offer.items.swap_remove(offer.selected));
                return true;
            }
            // First to the end of the text, and from there out of it, as in JupyterLab.
            Action::Up | Action::Down => {
                let (end, action) = match action {
                    Action::Up => (0, NotebookAction::SelectAbove),
                    _ => (text.len(), NotebookAction::SelectBelow),
                };
                let leaves = at.caret == end;
                if leaves {
                    self.asked = Some(Asked { action, caret: at.caret });
                }
                return leaves;
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
        let offer = self.scope().and_then(|scope| Offer::open(text, at.caret, scope));
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
