//! Messages for the learner: issues of the lesson's file, failed commands, opened panels, the progress of exports; and
//! the state of saving: a word in the top bar, a strip for problems and choices, the list of checkpoints.

use std::sync::Arc;
use std::time::Duration;

use attune_core::lesson::vector_files;
use attune_view::view_model::sentence;
use egui::{Align, Align2, Context, Frame, Id, Label, Layout, Margin, ProgressBar, RichText, ScrollArea, Ui};

use crate::app::actions::{Action, ActionTable, WindowAction};
use crate::app::theme::{self, Palette, size};
use crate::app::widgets::controls::button_ui;
use crate::app::widgets::popup::{self, Showing, tool_window};

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
    popup::note_ui(ctx, Id::new(("note", place as usize)), lift, content)
}

/// Shows a note, with a button that hides it, for the time `shown`. Returns false when it has ended.
pub fn passing_ui(
    ctx: &Context,
    place: NotePlace,
    words: RichText,
    hint: &str,
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

/// The notice that is shown, such as that the last command failed or that a link leads nowhere.
#[derive(Default)]
pub struct NoticeUiState {
    /// The kernel's latest notice.
    last: Option<Arc<str>>,
    shown: Option<(Arc<str>, Showing)>,
}

impl NoticeUiState {
    /// Shows a notice of the window itself.
    pub fn say(&mut self, words: &str) {
        self.shown = Some((words.into(), Showing::begin()));
    }
}

pub fn notice_ui(ctx: &Context, notice: Option<&Arc<str>>, state: &mut NoticeUiState) {
    const SHOWN: Duration = Duration::from_secs(10);
    // The same text in a new notice is shown again.
    if state.last.as_ref().map(Arc::as_ptr) != notice.map(Arc::as_ptr) {
        state.last = notice.cloned();
        state.shown = notice.map(|notice| (notice.clone(), Showing::begin()));
    }
    let Some((words, showing)) = &mut state.shown else { return };
    let palette = Palette::of(ctx.theme() == egui::Theme::Dark);
    let words = RichText::new(&**words).color(palette.warn);
    if !passing_ui(ctx, NotePlace::Notice, words, "Hides this", showing, SHOWN) {
        state.shown = None;
    }
}

/// Shows every issue, to be read, copied and fixed; the lesson opens as soon as its file is saved without issues.
/// Returns true if the course is requested instead.
pub fn issues_page_ui(ui: &mut Ui, issues: &[String]) -> bool {
    let mut wants_course = false;
    let course = WindowAction::Course.row();
    const MARGIN: i8 = 48;
    Frame::new().fill(Palette::on(ui).surface).inner_margin(Margin::same(MARGIN)).show(ui, |ui| {
        ui.set_min_size(ui.available_size());
        if issues.is_empty() {
            opening_ui(ui);
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

/// Shows the progress of reading a large file of vectors.
fn opening_ui(ui: &mut Ui) {
    const LOOK: Duration = Duration::from_millis(100);
    const WIDTH: f32 = 320.0;
    ui.ctx().request_repaint_after(LOOK);
    match vector_files::progress() {
        Some((done, of)) => {
            ui.weak(format!("Reading vectors: {done} of {of} MB"));
            ui.add(ProgressBar::new(done as f32 / of.max(1) as f32).desired_width(WIDTH));
        }
        None => {
            ui.weak("Opening the lesson …");
        }
    }
}

/// Shows a strip above everything else, for news that the learner must know at once.
pub fn strip_ui<R>(ui: &mut Ui, name: &'static str, content: impl FnOnce(&mut Ui) -> R) -> R {
    let ground = Palette::on(ui).raised;
    let frame = Frame::new().fill(ground).inner_margin(Margin::symmetric(size::PANEL_MARGIN, size::RADIUS as i8));
    egui::Panel::top(name).frame(frame).show_separator_line(false).show(ui, content).inner
}

/// Shows the issues above the panels, until they are dismissed or the file is saved again.
pub fn issue_strip_ui(ui: &mut Ui, issues: &mut Vec<String>) {
    const MOST: f32 = 150.0;
    if issues.is_empty() {
        return;
    }
    strip_ui(ui, "issues", |ui| {
        ui.horizontal(|ui| {
            ui.label(
                RichText::new("The file that you saved last has errors; this is the last version that worked.")
                    .color(Palette::on(ui).error),
            );
            if ui.button("Dismiss").on_hover_text("Hides this until the file is saved again").clicked() {
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

/// The content of the note about an export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ExportModel {
    #[default]
    None,
    /// The reading of a shared file.
    Opening,
    /// An export in progress, with the number of pictures that are drawn so far and the number of all pictures.
    Writing { done: usize, of: usize },
    /// A file that was written; the text names it.
    Written(String),
    /// The reason why nothing was written.
    Failed(String),
    /// The result of another action with a file, or the reason why it failed.
    Said(Result<String, String>),
}

/// Shows the note about an export, and returns true when it was dismissed.
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
        is_read = is_over && ui.button("Dismiss").on_hover_text("Hides this").clicked();
    });
    is_read
}

/// The largest height of a report in points; a longer one scrolls.
const REPORT_MAX: f32 = 110.0;

/// The state of saving.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SavingStatus {
    /// Nothing to report: nothing has changed, or nothing is saved.
    #[default]
    Quiet,
    Saving,
    Saved,
    /// Work that is read-only, by choice or because of another window, with the reason.
    ReadOnly(String),
    /// Work that is not saved, with the reason.
    NotSaved(String),
}

impl SavingStatus {
    /// Returns whether the learner must see the status even if there is little room, because work is not being saved.
    pub fn is_to_be_known(&self) -> bool {
        matches!(self, Self::ReadOnly(_) | Self::NotSaved(_))
    }
}

/// The content of the strip about saving, if it is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavingModel {
    pub status: SavingStatus,
    /// The reason why changes are not saved, until the learner has chosen.
    pub lock: Option<LockModel>,
    /// Sentences about changes of the work that the learner did not make.
    pub report: Vec<String>,
    /// Whether the lesson was just reset.
    pub is_reset: bool,
    /// The reason why work would be lost if the window closed, after a request to close it.
    pub closing: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockModel {
    pub words: String,
    /// Whether another window owns the work.
    pub is_held: bool,
    /// Whether this window can take over, if the learner wants it.
    pub can_take_over: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SavingChoice {
    TakeOver,
    /// The choice to continue without saving.
    ReadOnly,
    DismissReport,
    /// The choice to reset to the lesson's initial state.
    Reset,
    UndoReset,
    DismissReset,
    /// The choice to restore the checkpoint at this index of the list.
    GoBack(usize),
    /// The choice to close the window even if work is lost.
    Close,
    /// The choice to keep the lesson open.
    Stay,
}

impl SavingChoice {
    /// Returns whether the choice replaces the current state by another.
    pub fn replaces_work(&self) -> bool {
        matches!(self, Self::TakeOver | Self::Reset | Self::UndoReset | Self::GoBack(_))
    }
}

/// Shows the status of saving as a word.
pub fn saving_status_ui(ui: &mut Ui, status: &SavingStatus) {
    let palette = Palette::on(ui);
    let (word, more, ink) = match status {
        SavingStatus::Quiet => return,
        SavingStatus::Saving => ("Saving …", "Your work is saved within two seconds", palette.ink_faint),
        SavingStatus::Saved => {
            ("Saved", "Your work is kept on this computer; the lesson's file stays as it is", palette.ink_faint)
        }
        SavingStatus::ReadOnly(why) => ("Read-only", why.as_str(), palette.warn),
        SavingStatus::NotSaved(why) => ("Not saved", why.as_str(), palette.warn),
    };
    ui.label(RichText::new(word).small().color(ink)).on_hover_text(more);
}

/// Shows the strip about saving above everything, until the learner has chosen.
pub fn saving_strip_ui(ui: &mut Ui, model: &SavingModel) -> Option<SavingChoice> {
    let closing = model.closing.as_ref().and_then(|why| closing_ui(ui, why));
    let lock = model.lock.as_ref().and_then(|lock| lock_ui(ui, lock));
    let report = if model.report.is_empty() { None } else { report_ui(ui, &model.report) };
    let reset = if model.is_reset { reset_ui(ui) } else { None };
    reset.or(report).or(lock).or(closing)
}

fn closing_ui(ui: &mut Ui, why: &str) -> Option<SavingChoice> {
    let ink = Palette::on(ui).warn;
    let buttons = |ui: &mut Ui| {
        ui.label(RichText::new(why).color(ink));
        let hint = "Discards the work that this message is about";
        let close = button_ui(ui, "Close anyway", hint, SavingChoice::Close);
        button_ui(ui, "Stay", "Keeps the window open; attune tries to save again", SavingChoice::Stay).or(close)
    };
    strip_ui(ui, "closing", |ui| ui.horizontal_wrapped(buttons).inner)
}

fn lock_ui(ui: &mut Ui, LockModel { words, is_held, can_take_over }: &LockModel) -> Option<SavingChoice> {
    let ink = Palette::on(ui).warn;
    let buttons = |ui: &mut Ui| {
        ui.label(RichText::new(sentence(words)).color(ink));
        let label = if *is_held { "Open read-only" } else { "Go on read-only" };
        let hint = "Lets you look and try things; nothing is saved";
        let read_only = button_ui(ui, label, hint, SavingChoice::ReadOnly);
        if !can_take_over {
            return read_only;
        }
        let hint = "Goes on here from what is saved; the other window then stops saving";
        button_ui(ui, "Take over", hint, SavingChoice::TakeOver).or(read_only)
    };
    strip_ui(ui, "lock", |ui| ui.horizontal_wrapped(buttons).inner)
}

fn report_ui(ui: &mut Ui, report: &[String]) -> Option<SavingChoice> {
    let ink = Palette::on(ui).warn;
    strip_ui(ui, "report", |ui| {
        let head = ui.horizontal(|ui| {
            ui.label(RichText::new("What you should know about your work").color(ink));
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let hint = "Hides these lines; your work stays as it is";
                button_ui(ui, "Dismiss", hint, SavingChoice::DismissReport)
            })
        });
        let lines = ScrollArea::vertical().id_salt("report").max_height(REPORT_MAX).min_scrolled_height(REPORT_MAX);
        lines.auto_shrink([false, true]).show(ui, |ui| {
            for words in report {
                ui.add(Label::new(words).selectable(true).wrap());
            }
        });
        head.inner.inner
    })
}

fn reset_ui(ui: &Ui) -> Option<SavingChoice> {
    note_ui(ui.ctx(), NotePlace::Reset, |ui| {
        ui.label("The lesson is back at its start. Your earlier work is kept as a checkpoint.");
        let undo = button_ui(ui, "Undo the reset", "Brings your work back", SavingChoice::UndoReset);
        button_ui(ui, "Dismiss", "Hides this; the checkpoint stays", SavingChoice::DismissReset).or(undo)
    })
}

/// A checkpoint, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointRow {
    /// The time, such as `12 minutes ago`.
    pub when: String,
    /// The reason for which it was kept; empty if it was kept because time had passed.
    pub why: String,
}

/// Shows the list of checkpoints over everything; `rows` is `None` while it is closed.
pub fn checkpoints_ui(ctx: &Context, rows: &mut Option<Vec<CheckpointRow>>) -> Option<Action> {
    const WIDTH: f32 = 420.0;
    const HIGHEST: f32 = 320.0;
    let shown = rows.as_ref()?;
    let palette = Palette::of(ctx.theme() == egui::Theme::Dark);
    let (mut is_open, mut action) = (true, None);
    tool_window("Checkpoints")
        .open(&mut is_open)
        .anchor(Align2::CENTER_CENTER, egui::Vec2::ZERO)
        .resizable(false)
        .show(ctx, |ui| {
            ui.set_width(WIDTH);
            if shown.is_empty() {
                ui.weak(
                    "There are no checkpoints yet. One is kept every few minutes, before each reset, and when \
                     another window takes over.",
                );
                return;
            }
            ui.add(Label::new("Restore an earlier version; your current work is saved first.").wrap());
            ui.add_space(size::GAP);
            ScrollArea::vertical().max_height(HIGHEST).show(ui, |ui| {
                for (index, row) in shown.iter().enumerate() {
                    ui.horizontal(|ui| {
                        let hint = format!("Goes back to your work of {}", row.when);
                        action = button_ui(ui, "Go back", hint, Action::GoBack(index)).or(action.take());
                        ui.label(&row.when);
                        ui.add(Label::new(RichText::new(&row.why).color(palette.ink_soft)).truncate());
                    });
                }
            });
        });
    if !is_open || action.is_some() || ctx.input(|input| input.key_pressed(egui::Key::Escape)) {
        *rows = None;
    }
    action
}
