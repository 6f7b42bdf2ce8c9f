//! The owner of the keyboard, and what is open over the page: together they decide which actions the keys are
//! for.

use egui::{Context, Id, Popup};

/// The part of the window that has the keyboard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Focus {
    /// No part has it: the keys are for the notebook's selected cell, or for a talk's slides.
    #[default]
    Page,
    /// A text is being written: a cell, the sentence, a search, a name.
    Text,
    /// A control that letters are for, as if it were a text: see [`keep_letters`].
    Letters,
    /// A menu or another control, which Space and the arrows are for.
    Control,
    Stage,
    /// The sentence over the stage.
    Sentence,
}

/// The page that fills the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Page {
    #[default]
    Lesson,
    /// A lesson that is presented.
    Talk,
    Course,
}

/// The page, and the windows over it that Esc closes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opened {
    pub page: Page,
    pub is_key_sheet_open: bool,
    /// How many numbers lie on the trail of the card that says where a number comes from.
    pub trail_depth: usize,
    pub is_glossary_open: bool,
}

/// All that decides which keys are live.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keyboard {
    pub focus: Focus,
    pub opened: Opened,
}

/// The one thing that Esc closes, leaves or clears: the topmost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Escape {
    KeySheet,
    Origin,
    Text,
    Talk,
    Stage,
    Sentence,
    Glossary,
    /// Nothing of the tables.
    Nothing,
}

impl Focus {
    /// The part that has the keyboard now.
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

    /// Whether letters are written, or are for a control of their own.
    pub fn takes_letters(self) -> bool {
        matches!(self, Focus::Text | Focus::Letters)
    }
}

/// The stage, while it has the keyboard.
pub fn stage_id() -> Id {
    Id::new("stage picture")
}

/// The sentence over the stage, while it has the keyboard.
pub fn strip_id() -> Id {
    Id::new("sentence strip")
}

/// Keeps letters for a control while it has the keyboard: they are no keys of the window then.
pub fn keep_letters(ctx: &Context, control: Id) {
    ctx.data_mut(|data| data.insert_temp(letters_id(), control));
}

fn letters_id() -> Id {
    Id::new("control that letters are for")
}

impl Opened {
    /// Hands it to everybody who looks for keys in this frame.
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

    /// Whether Space and the arrows press or move no control. The stage and the sentence are none.
    pub(super) fn is_free(&self) -> bool {
        matches!(self.focus, Focus::Page | Focus::Stage | Focus::Sentence)
    }
}
