//! How an export goes: a note over the window while it is written, and until its end has been read.

use egui::{Context, RichText};

use crate::app::theme::Palette;

use super::note::{NotePlace, note_ui};

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
