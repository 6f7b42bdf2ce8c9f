//! How the learner's work is kept: a word in the top bar, a strip where something is to be known or chosen, and the
//! list of checkpoints.

use attune_view::view_model::sentence;
use egui::{Align, Align2, Context, Label, Layout, RichText, ScrollArea, Ui};

use super::notices::{NotePlace, note_ui, strip_ui};
use crate::app::actions::Action;
use crate::app::theme::{Palette, size};
use crate::app::widgets::tool_window::tool_window;

/// Points of height; a longer report is scrolled.
const REPORT_MAX: f32 = 110.0;

/// How the work stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SavingStatus {
    /// Nothing to say: nothing has changed, or nothing is to be saved.
    #[default]
    Quiet,
    Saving,
    Saved,
    /// By choice or for another window's sake, with the reason.
    ReadOnly(String),
    /// With the reason.
    NotSaved(String),
}

impl SavingStatus {
    /// The work is not kept as the learner may expect.
    pub fn is_to_be_known(&self) -> bool {
        matches!(self, Self::ReadOnly(_) | Self::NotSaved(_))
    }
}

/// Content of the strip about saving, if it is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavingModel {
    pub status: SavingStatus,
    /// Why changes are not saved, until the learner has chosen.
    pub lock: Option<LockModel>,
    /// Changes of the work that the learner did not make, in sentences.
    pub report: Vec<String>,
    /// The lesson was just reset.
    pub is_reset: bool,
    /// The window was asked to close: what would be lost.
    pub closing: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockModel {
    pub words: String,
    /// Another window has the work.
    pub is_held: bool,
    /// This window may have it, when the learner says so.
    pub can_take_over: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SavingChoice {
    TakeOver,
    /// Goes on without saving.
    ReadOnly,
    DismissReport,
    /// The lesson as its file has it.
    Reset,
    UndoReset,
    DismissReset,
    /// To the checkpoint at this place in the list.
    GoBack(usize),
    /// The window closes whatever is lost.
    Close,
    /// The lesson stays open.
    Stay,
}

impl SavingChoice {
    /// Another state takes the place of this one.
    pub fn replaces_work(&self) -> bool {
        matches!(self, Self::TakeOver | Self::Reset | Self::UndoReset | Self::GoBack(_))
    }
}

/// One quiet word.
pub fn saving_status_ui(ui: &mut Ui, status: &SavingStatus) {
    let palette = Palette::of(ui.visuals().dark_mode);
    let (word, more, ink) = match status {
        SavingStatus::Quiet => return,
        SavingStatus::Saving => ("Saving …", "Your work is written within two seconds", palette.ink_faint),
        SavingStatus::Saved => {
            ("Saved", "Your work is kept on this computer; the lesson's file stays as it is", palette.ink_faint)
        }
        SavingStatus::ReadOnly(why) => ("Read-only", why.as_str(), palette.warn),
        SavingStatus::NotSaved(why) => ("Not saved", why.as_str(), palette.warn),
    };
    ui.label(RichText::new(word).small().color(ink)).on_hover_text(more);
}

/// Above everything, until the learner has chosen.
pub fn saving_strip_ui(ui: &mut Ui, model: &SavingModel) -> Option<SavingChoice> {
    let palette = Palette::of(ui.visuals().dark_mode);
    let mut choice = None;
    if let Some(why) = &model.closing {
        strip_ui(ui, "closing", |ui| {
            ui.horizontal_wrapped(|ui| {
                ui.label(RichText::new(why).color(palette.warn));
                if ui.button("Close anyway").on_hover_text("Loses the work that is named here").clicked() {
                    choice = Some(SavingChoice::Close);
                }
                if ui.button("Stay").on_hover_text("Go on; saving is tried again").clicked() {
                    choice = Some(SavingChoice::Stay);
                }
            });
        });
    }
    if let Some(LockModel { words, is_held, can_take_over }) = &model.lock {
        strip_ui(ui, "lock", |ui| {
            ui.horizontal_wrapped(|ui| {
                ui.label(RichText::new(sentence(words)).color(palette.warn));
                let read_only = if *is_held { "Open read-only" } else { "Go on read-only" };
                if ui.button(read_only).on_hover_text("Look and try things; nothing is saved").clicked() {
                    choice = Some(SavingChoice::ReadOnly);
                }
                let take_over = "Go on here with what is saved; another window then saves no more";
                if *can_take_over && ui.button("Take over").on_hover_text(take_over).clicked() {
                    choice = Some(SavingChoice::TakeOver);
                }
            });
        });
    }
    if !model.report.is_empty() {
        strip_ui(ui, "report", |ui| {
            ui.horizontal(|ui| {
                ui.label(RichText::new("What you should know of your work").color(palette.warn));
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    if ui.button("Dismiss").on_hover_text("Hides these lines; your work stays as it is").clicked() {
                        choice = Some(SavingChoice::DismissReport);
                    }
                });
            });
            let lines = ScrollArea::vertical().id_salt("report").max_height(REPORT_MAX).min_scrolled_height(REPORT_MAX);
            lines.auto_shrink([false, true]).show(ui, |ui| {
                for words in &model.report {
                    ui.add(egui::Label::new(words).selectable(true).wrap());
                }
            });
        });
    }
    if model.is_reset {
        note_ui(ui.ctx(), NotePlace::Reset, |ui| {
            ui.label("The lesson is as at its start. What you had is kept as a checkpoint.");
            if ui.button("Undo the reset").on_hover_text("Bring your work back").clicked() {
                choice = Some(SavingChoice::UndoReset);
            }
            if ui.button("Dismiss").on_hover_text("The checkpoint stays").clicked() {
                choice = Some(SavingChoice::DismissReset);
            }
        });
    }
    choice
}

/// A checkpoint, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckpointRow {
    /// Such as `12 minutes ago`.
    pub when: String,
    /// Why it is kept; empty if only time had passed.
    pub why: String,
}

/// Over everything; `rows` is none while the list is closed.
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
                    "None yet. One is kept every few minutes, before each reset, and when another window takes over.",
                );
                return;
            }
            ui.add(Label::new("Restore an earlier version; your current work is saved first.").wrap());
            ui.add_space(size::GAP);
            ScrollArea::vertical().max_height(HIGHEST).show(ui, |ui| {
                for (index, row) in shown.iter().enumerate() {
                    ui.horizontal(|ui| {
                        if ui.button("Go back").on_hover_text(format!("To your work of {}", row.when)).clicked() {
                            action = Some(Action::GoBack(index));
                        }
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
