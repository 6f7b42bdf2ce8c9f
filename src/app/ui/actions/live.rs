//! The actions that keys can trigger, depending on what has the keyboard and what is open over the page, so that no key
//! can mean two things at once.

use super::focus::{Escape, Focus, Keyboard, Page};
use super::table::{NotebookAction, SentenceAction, StageAction, WindowAction};

impl WindowAction {
    /// Returns whether the action's keys are live. The action may not apply for other reasons, such as a lesson without
    /// layers.
    pub(super) fn is_live_at(self, at: &Keyboard) -> bool {
        use WindowAction as Do;
        match self {
            Do::KeySheet | Do::Theme => true,
            Do::CloseKeySheet => at.escape() == Escape::KeySheet,
            // A presentation leads to no other page, and sets its own text size.
            Do::Larger | Do::Smaller | Do::UsualSize | Do::Course | Do::Review | Do::Browse | Do::Panel => {
                !at.is_on(Page::Talk)
            }
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
