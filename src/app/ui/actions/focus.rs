//! The owner of the keyboard, and what is open over the page: together they decide which actions the keys are
//! for.

use egui::{Context, Id, Popup};

/// The part of the window that has the keyboard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Focus {
    /// No particular part: keys are for the notebook's selected cell or, in a presentation, for its slides.
    #[default]
    Page,
    /// A text field: a cell, the sentence, a search, a name.
    Text,
    /// A control that takes letters although it is not a text field; see [`keep_letters`].
    Letters,
    /// A menu or another control, which takes Space and the arrows.
    Control,
    Stage,
    /// The sentence above the stage.
    Sentence,
}

/// The page that fills the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Page {
    #[default]
    Lesson,
    /// The presentation of a lesson.
    Talk,
    Course,
}

/// The open page, and the windows over it that Esc closes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opened {
    pub page: Page,
    pub is_key_sheet_open: bool,
    /// The number of entries on the trail of the provenance card.
    pub trail_depth: usize,
    pub is_glossary_open: bool,
}

/// Everything that decides which keys are live.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keyboard {
    pub focus: Focus,
    pub opened: Opened,
}

/// The topmost open part, which Esc closes, leaves or clears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Escape {
    KeySheet,
    Origin,
    Text,
    Talk,
    Stage,
    Sentence,
    Glossary,
    /// Nothing that has an action in the tables.
    Nothing,
}

impl Focus {
    /// Returns the part that has the keyboard now.
    pub fn of(ctx: &Context) -> Focus {
        if ctx.text_edit_focused() {
            return Focus::Text;
        }
        if Popup::is_any_open(ctx) {
            return Focus::Control;
        }
        let letters: Option<Id> = ctx.data(|data| data.get_temp(letters_id()));
        match ctx.memory(|memory| memory.focused()) {
            None => Focus::Page,
            Some(focused) if focused == stage_id() => Focus::Stage,
            Some(focused) if focused == strip_id() => Focus::Sentence,
            Some(focused) if letters == Some(focused) => Focus::Letters,
            Some(_) => Focus::Control,
        }
    }

    /// Returns whether letters go to a text field or to a control that takes them.
    pub fn takes_letters(self) -> bool {
        matches!(self, Focus::Text | Focus::Letters)
    }
}

/// Returns the id under which the stage has the keyboard.
pub fn stage_id() -> Id {
    Id::new("stage picture")
}

/// Returns the id under which the sentence above the stage has the keyboard.
pub fn strip_id() -> Id {
    Id::new("sentence strip")
}

/// Keeps letters for a control while it has the keyboard, so that they trigger no action.
pub fn keep_letters(ctx: &Context, control: Id) {
    ctx.data_mut(|data| data.insert_temp(letters_id(), control));
}

fn letters_id() -> Id {
    Id::new("control that letters are for")
}

impl Opened {
    /// Stores this state in the context, for every key look-up of this frame.
    pub fn announce(self, ctx: &Context) {
        ctx.data_mut(|data| data.insert_temp(opened_id(), self));
    }
}

fn opened_id() -> Id {
    Id::new("what is open")
}

impl Keyboard {
    pub fn of(ctx: &Context) -> Keyboard {
        Keyboard { focus: Focus::of(ctx), opened: ctx.data(|data| data.get_temp(opened_id())).unwrap_or_default() }
    }

    pub(super) fn escape(&self) -> Escape {
        let Opened { page, is_key_sheet_open, trail_depth, is_glossary_open } = self.opened;
        match (page, self.focus) {
            _ if is_key_sheet_open => Escape::KeySheet,
            (Page::Course, _) => Escape::Nothing,
            _ if trail_depth > 0 => Escape::Origin,
            (_, Focus::Text) => Escape::Text,
            (Page::Talk, _) => Escape::Talk,
            (_, Focus::Stage) => Escape::Stage,
            (_, Focus::Sentence) => Escape::Sentence,
            _ if is_glossary_open => Escape::Glossary,
            _ => Escape::Nothing,
        }
    }

    pub(super) fn is_on(&self, page: Page) -> bool {
        self.opened.page == page
    }

    /// Returns whether Space and the arrows are not taken by a control. The stage and the sentence do not count as
    /// controls.
    pub(super) fn is_free(&self) -> bool {
        matches!(self.focus, Focus::Page | Focus::Stage | Focus::Sentence)
    }
}
