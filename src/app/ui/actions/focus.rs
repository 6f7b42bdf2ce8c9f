//! Which part of the window has the keyboard, and which pages and windows are open. Together they decide which keys of
//! each action table are live, in `is_live_at`, so that no key can mean two things at once.

use egui::{Context, Id, Popup};

use super::keys;
use super::table::{NotebookAction, SentenceAction, StageAction, WindowAction};

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
enum Escape {
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
            Some(focused) if focused == keys::stage_id() => Focus::Stage,
            Some(focused) if focused == keys::strip_id() => Focus::Sentence,
            Some(focused) if letters == Some(focused) => Focus::Letters,
            Some(_) => Focus::Control,
        }
    }

    /// Returns whether letters go to a text field or to a control that takes them.
    pub fn takes_letters(self) -> bool {
        matches!(self, Focus::Text | Focus::Letters)
    }
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

    fn escape(&self) -> Escape {
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

    fn is_on(&self, page: Page) -> bool {
        self.opened.page == page
    }

    /// Returns whether Space and the arrows are not taken by a control. The stage and the sentence do not count as
    /// controls.
    fn is_free(&self) -> bool {
        matches!(self.focus, Focus::Page | Focus::Stage | Focus::Sentence)
    }
}

impl WindowAction {
    /// Returns whether the action's keys are live. The action may not apply for other reasons, such as a lesson without
    /// layers.
    pub(super) fn is_live_at(self, at: &Keyboard) -> bool {
        use WindowAction as Do;
        match self {
            Do::KeySheet | Do::Theme => true,
            Do::CloseKeySheet => at.escape() == Escape::KeySheet,
            // A presentation leads to no other page, and sets its own text size.
            Do::Larger | Do::Smaller | Do::UsualSize | Do::Course | Do::Browse | Do::Panel => !at.is_on(Page::Talk),
            _ if at.is_on(Page::Course) => false,
            Do::Present => true,
            Do::CloseOrigin => at.escape() == Escape::Origin,
            Do::OriginBefore => at.escape() == Escape::Origin && at.opened.trail_depth > 1,
            Do::NextSlide | Do::PreviousSlide => at.is_on(Page::Talk),
            Do::EndPresentation => at.escape() == Escape::Talk,
            _ if at.is_on(Page::Talk) => false,
            Do::CloseGlossary => at.escape() == Escape::Glossary,
            Do::StepOn | Do::StepBack => at.is_free(),
            // A text field undoes its own typing.
            Do::Undo | Do::Redo => at.focus != Focus::Text,
            _ => true,
        }
    }
}

impl StageAction {
    pub(super) fn is_live_at(self, at: &Keyboard) -> bool {
        match self {
            _ if at.is_on(Page::Course) => false,
            // This key works in every part of the window.
            StageAction::Home => true,
            StageAction::Clear => at.escape() == Escape::Stage,
            // In a presentation the arrows change slides.
            StageAction::Orbit => at.focus == Focus::Stage && !at.is_on(Page::Talk),
            StageAction::Pan => at.focus == Focus::Stage,
            // The sentence has its own meaning for the arrows and Esc.
            _ => matches!(at.focus, Focus::Stage | Focus::Sentence),
        }
    }
}

impl SentenceAction {
    pub(super) fn is_live_at(self, at: &Keyboard) -> bool {
        at.focus == Focus::Sentence
            && match self {
                SentenceAction::LetGo => at.escape() == Escape::Sentence,
                SentenceAction::Turn => !at.is_on(Page::Course),
                _ => at.is_on(Page::Lesson),
            }
    }
}

impl NotebookAction {
    pub(super) fn is_live_at(self, at: &Keyboard) -> bool {
        match (self, at.focus) {
            _ if !at.is_on(Page::Lesson) => false,
            (NotebookAction::Leave, Focus::Text) => at.escape() == Escape::Text,
            (_, Focus::Text) => self.is_of_editor(),
            (_, Focus::Page) => !matches!(self, NotebookAction::Leave | NotebookAction::Split),
            _ => false,
        }
    }
}
