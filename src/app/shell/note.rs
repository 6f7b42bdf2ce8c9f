//! Notes of the window: what a command could not do, what has opened, how an export goes.

use std::sync::Arc;
use std::time::Duration;

use egui::{Context, Id, Label, RichText, Ui};

use crate::app::theme::{Palette, size};
use crate::app::widgets::note::{self, Showing};

/// The place of a note, counted from below, where no notebook is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotePlace {
    Notice,
    Opened,
    Export,
    Reset,
}

pub fn note_ui<R>(ctx: &Context, place: NotePlace, content: impl FnOnce(&mut Ui) -> R) -> R {
    note_at(ctx, place, content).0
}

fn note_at<R>(ctx: &Context, place: NotePlace, content: impl FnOnce(&mut Ui) -> R) -> (R, egui::Response) {
    const HEIGHT: f32 = 46.0;
    let lift = size::TIMELINE_NARROW + size::GAP + HEIGHT * place as usize as f32;
    note::note_ui(ctx, Id::new(("note", place as usize)), lift, content)
}

/// Words with a button that hides them, shown for as long as it takes to read. False when they are over.
pub fn passing_ui(
    ctx: &Context,
    place: NotePlace,
    (words, hint): (RichText, &str),
    showing: &mut Showing,
    shown: Duration,
) -> bool {
    let Some(opacity) = showing.opacity(ctx, shown) else { return false };
    let (is_dismissed, note) = note_at(ctx, place, |ui| {
        ui.set_opacity(opacity);
        ui.add(Label::new(words).selectable(true).wrap());
        ui.button("Dismiss").on_hover_text(hint).clicked()
    });
    showing.stay(&note);
    !is_dismissed
}

/// Notice that the last command failed or that a link leads nowhere.
#[derive(Default)]
pub struct NoticeUiState {
    /// The kernel's latest.
    last: Option<Arc<str>>,
    shown: Option<(Arc<str>, Showing)>,
}

impl NoticeUiState {
    /// Shows words of the window's own.
    pub fn say(&mut self, words: &str) {
        self.shown = Some((words.into(), Showing::begin()));
    }
}

pub fn notice_ui(ctx: &Context, notice: Option<&Arc<str>>, state: &mut NoticeUiState) {
    const SHOWN: Duration = Duration::from_secs(10);
    // The same words said again are another notice.
    if state.last.as_ref().map(Arc::as_ptr) != notice.map(Arc::as_ptr) {
        state.last = notice.cloned();
        state.shown = notice.map(|notice| (notice.clone(), Showing::begin()));
    }
    let Some((words, showing)) = &mut state.shown else { return };
    let palette = Palette::of(ctx.theme() == egui::Theme::Dark);
    let words = RichText::new(&**words).color(palette.warn);
    if !passing_ui(ctx, NotePlace::Notice, (words, "Hide this"), showing, SHOWN) {
        state.shown = None;
    }
}
