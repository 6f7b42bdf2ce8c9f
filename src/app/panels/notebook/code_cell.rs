//! Code: the editor, and what its last run showed. A plot shows no code until it is unfolded.

use attune_core::lesson::cells::CellKind;
use attune_view::view_model::notebook::CellModel;
use egui::{RichText, Ui};

use super::frame::Frame;
use super::writing::write_ui;
use crate::app::panels::notebook::outputs::{fault_ui, outputs_ui};
use crate::app::theme::size;

pub fn code_ui(ui: &mut Ui, cell: &CellModel, index: usize, frame: &mut Frame) {
    if let CellKind::Plot { caption, .. } = &*cell.cell.kind {
        ui.label(RichText::new(caption).size(size::READING));
    } else {
        write_ui(ui, cell, index, frame);
    }
    ran_ui(ui, cell);
}

/// Outputs of the last run; faint where they are out of date.
pub fn ran_ui(ui: &mut Ui, cell: &CellModel) {
    let Some(run) = &cell.shown.run else { return };
    ui.scope(|ui| {
        if cell.shown.is_stale() {
            const FAINT: f32 = 0.55;
            ui.multiply_opacity(FAINT);
        }
        if !cell.outputs.is_empty() {
            ui.add_space(size::GAP_TIGHT);
            outputs_ui(ui, &cell.outputs);
        }
        if let Some(fault) = &run.fault {
            ui.add_space(size::GAP_TIGHT);
            fault_ui(ui, fault);
        }
    });
}
