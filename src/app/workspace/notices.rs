//! Notices for the learner: issues of the lesson's file, what a command could not do, what has opened, how an export
//! goes.

use std::sync::Arc;
use std::time::Duration;

use egui::{Context, Frame, Id, Label, Margin, RichText, ScrollArea, Ui};

use crate::app::actions::{ActionTable, WindowAction};
use crate::app::theme::{self, Palette, size};
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

/// Every issue, to be read, copied and mended; the lesson opens as soon as the file is saved without one.
/// True when the course is wanted instead.
pub fn issues_page_ui(ui: &mut Ui, issues: &[String]) -> bool {
    let mut wants_course = false;
    let course = WindowAction::Course.row();
    const MARGIN: i8 = 48;
    let palette = Palette::of(ui.visuals().dark_mode);
    Frame::new().fill(palette.surface).inner_margin(Margin::same(MARGIN)).show(ui, |ui| {
        ui.set_min_size(ui.available_size());
        if issues.is_empty() {
            ui.weak("Opening the lesson …");
            return;
        }
        let count = if issues.len() == 1 { "an issue".to_owned() } else { format!("{} issues", issues.len()) };
        ui.label(RichText::new(format!("The lesson has {count}")).font(theme::strong(size::HEADING)));
        ui.horizontal(|ui| {
            ui.weak("Fix the file and save it; it reloads automatically.");
            wants_course = ui.button(course.text).on_hover_text(course.hint_with("Another lesson")).clicked();
        });
        ui.add_space(size::GAP_WIDE);
        issue_list_ui(ui, issues);
    });
    wants_course
}

/// A strip above everything else, with what is to be known at once.
pub fn strip_ui(ui: &mut Ui, name: &'static str, content: impl FnOnce(&mut Ui)) {
    let ground = Palette::of(ui.visuals().dark_mode).raised;
    let frame = Frame::new().fill(ground).inner_margin(Margin::symmetric(size::PANEL_MARGIN, size::RADIUS as i8));
    egui::Panel::top(name).frame(frame).show_separator_line(false).show(ui, content);
}

/// Above the panels, until it is dismissed or the file is saved again.
pub fn issue_strip_ui(ui: &mut Ui, issues: &mut Vec<String>) {
    const MOST: f32 = 150.0;
    let palette = Palette::of(ui.visuals().dark_mode);
    if issues.is_empty() {
        return;
    }
    strip_ui(ui, "issues", |ui| {
        ui.horizontal(|ui| {
            ui.label(
                RichText::new("Your last save has errors; showing the last working version.").color(palette.error),
            );
            if ui.button("Dismiss").on_hover_text("Hide this until the file is saved again").clicked() {
                issues.clear();
            }
        });
        ui.scope(|ui| {
            ui.set_max_height(MOST);
            issue_list_ui(ui, issues);
        });
    });
}

fn issue_list_ui(ui: &mut Ui, issues: &[String]) {
    ScrollArea::vertical().id_salt("issues").auto_shrink([false, true]).show(ui, |ui| {
        for issue in issues {
            let text = RichText::new(issue).monospace();
            ui.add(egui::Label::new(text).selectable(true).wrap());
            ui.add_space(size::GAP);
        }
    });
}

/// Content of the note about an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ExportModel {
    #[default]
    None,
    /// A file that somebody shared or handed in is read.
    Opening,
    /// So many pictures of so many are drawn.
    Writing { done: usize, of: usize },
    /// The file was written; the text names it.
    Written(String),
    /// Why nothing was.
    Failed(String),
    /// Another thing that was done with a file, or why it was not.
    Said(Result<String, String>),
}

/// True when it has been read. It lies over the lower edge, so that nothing moves when it comes and goes.
pub fn exported_ui(ctx: &Context, model: &ExportModel) -> bool {
    let palette = Palette::of(ctx.theme() == egui::Theme::Dark);
    let (words, ink, is_over) = match model {
        ExportModel::None => return false,
        ExportModel::Opening => ("Opening …".to_owned(), palette.ink_soft, false),
        ExportModel::Writing { of: 0, .. } => ("Writing …".to_owned(), palette.ink_soft, false),
        ExportModel::Writing { done, of } => {
            (format!("Writing … {done} of {of} pictures of the stage are drawn"), palette.ink_soft, false)
        }
        ExportModel::Written(what) => (format!("Written: {what}"), palette.ink, true),
        ExportModel::Said(Ok(what)) => (what.clone(), palette.ink, true),
        ExportModel::Said(Err(why)) => (why.clone(), palette.error, true),
        ExportModel::Failed(why) => (format!("Nothing was exported: {why}"), palette.error, true),
    };
    let mut is_read = false;
    note_ui(ctx, NotePlace::Export, |ui| {
        ui.add(egui::Label::new(RichText::new(words).color(ink)).selectable(true).wrap());
        is_read = is_over && ui.button("Dismiss").on_hover_text("Hide this").clicked();
    });
    is_read
}
