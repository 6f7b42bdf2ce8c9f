//! The frame of a cell: a bar on the left that says whether it is selected or stale, a line with its
//! label, how it stands and its menu, and what it holds.

use attune_core::kernel::notebook::CellCommand;
use attune_core::kernel::notebook::document::Behaviour;
use attune_core::kernel::notebook::snapshot::CellStatus;
use attune_core::lesson::cells::CellKind;
use attune_view::view_model::notebook::CellModel;
use egui::containers::menu::MenuButton;
use egui::{Align, Button, Label, Layout, Rect, RichText, Sense, Stroke, Ui, UiBuilder, WidgetInfo, WidgetType, pos2};

use super::frame::Frame;
use super::keys::perform;
use super::kinds::body_ui;
use crate::app::actions::{ActionTable, NotebookAction};
use crate::app::theme::{self, Palette, size};

/// Between the bar and what the cell holds.
const INDENT: f32 = 11.0;
const BAR: f32 = 3.0;

pub fn cell_ui(ui: &mut Ui, cell: &CellModel, index: usize, frame: &mut Frame) {
    let palette = Palette::of(ui.visuals().dark_mode);
    let top = ui.min_rect().min;
    let width = ui.available_width();
    // Behind what the cell holds, so that a click anywhere else in it selects it.
    let last_height = frame.state.heights.get(cell.id()).copied().unwrap_or_default();
    let area = Rect::from_min_size(top, egui::vec2(width, last_height));
    let ground = ui.interact(area, ui.id().with("ground"), Sense::click());
    // Text takes clicks for itself, to be marked: they select the cell all the same.
    let is_on_text = cell.cell.is_text()
        && ui.rect_contains_pointer(area)
        && ui.input(|input| input.pointer.primary_clicked())
        && frame.state.selected.as_ref() != Some(cell.id());
    if ground.clicked() || is_on_text {
        frame.select(cell.id());
        ui.memory_mut(|memory| memory.stop_text_input());
    }
    if ground.double_clicked() && cell.cell.is_text() {
        frame.write(cell.id());
    }
    let is_selected = frame.state.selected.as_ref() == Some(cell.id());
    let mut inner = ui.max_rect();
    inner.min.x += INDENT;
    ui.scope_builder(UiBuilder::new().max_rect(inner), |ui| {
        head_ui(ui, cell, is_selected || ground.hovered() || ground.contains_pointer(), frame);
        conflict_ui(ui, cell, frame);
        if cell.cell.is_folded {
            folded_ui(ui, cell, frame);
        } else {
            body_ui(ui, cell, index, frame);
        }
    });
    let bottom = ui.min_rect().bottom();
    let color = match cell.shown.status {
        _ if is_selected => palette.accent,
        CellStatus::Waiting => palette.accent,
        _ if cell.shown.is_stale() => palette.warn,
        CellStatus::New | CellStatus::Fresh | CellStatus::Stale => return,
    };
    let bar = Rect::from_min_max(pos2(top.x, top.y), pos2(top.x + BAR, bottom));
    ui.painter().rect_filled(bar, size::RADIUS_SMALL, color);
}

/// The label and how the cell stands; on the right its menu. Text has neither, and its menu comes with
/// the pointer, so the line floats over its corner.
fn head_ui(ui: &mut Ui, cell: &CellModel, is_near: bool, frame: &mut Frame) {
    let palette = Palette::of(ui.visuals().dark_mode);
    let is_code = matches!(*cell.cell.kind, CellKind::Code { .. });
    let title = Behaviour::of(&cell.cell.kind).title;
    if !is_code && title.is_empty() {
        if is_near {
            let corner = Rect::from_min_size(
                pos2(ui.max_rect().right() - size::SLIDER_ROW, ui.max_rect().top()),
                egui::Vec2::splat(size::SLIDER_ROW),
            );
            let mut corner_ui = ui.new_child(UiBuilder::new().max_rect(corner).id_salt("menu"));
            menu_ui(&mut corner_ui, cell, frame);
        }
        return;
    }
    ui.horizontal(|ui| {
        ui.set_height(size::SLIDER_ROW);
        if is_code {
            ui.label(RichText::new(&cell.label).font(theme::mono(size::MONO)).color(palette.ink_faint))
                .on_hover_text("The order in which cells ran; [*] runs or waits to");
        } else {
            ui.label(RichText::new(title).font(theme::strong(size::SMALL)).color(palette.accent));
            if cell.cell.is_done() {
                ui.label(RichText::new("✓ done").size(size::SMALL).color(palette.ink_soft));
            }
        }
        note_ui(ui, cell);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            // Always there: nothing moves away from under the pointer.
            menu_ui(ui, cell, frame);
            if is_code {
                let run = Button::new(RichText::new("▶").size(size::SMALL)).frame_when_inactive(false);
                let [run_it, go_on] =
                    [NotebookAction::Run, NotebookAction::RunAndGoOn].map(|action| action.row().hint());
                let response = ui.add(run).on_hover_text(format!("{run_it}, or {go_on}"));
                response
                    .widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, format!("Run cell {}", cell.id())));
                if response.clicked() {
                    frame.ask(cell.id(), CellCommand::Run);
                    frame.select(cell.id());
                }
            }
        });
    });
}

fn note_ui(ui: &mut Ui, cell: &CellModel) {
    let palette = Palette::of(ui.visuals().dark_mode);
    if !cell.note.is_empty() {
        let color = if cell.shown.is_stale() { palette.warn } else { palette.ink_faint };
        let why = match cell.shown.status {
            CellStatus::Stale if cell.shown.is_stale() => {
                "What it read, or its text, has changed since it ran: run it again"
            }
            CellStatus::Stale => "It has not run in this session: cells below see its variables when it has",
            _ => "How long its last run took",
        };
        ui.label(RichText::new(&cell.note).size(size::SMALL).color(color)).on_hover_text(why);
    }
    if let Some(name) = &cell.shown.shadows {
        let words = format!("hides {name} above");
        ui.label(RichText::new(words).size(size::SMALL).color(palette.ink_faint))
            .on_hover_text("A cell above defines this name too; the cells below see this one's");
    }
}

fn menu_ui(ui: &mut Ui, cell: &CellModel, frame: &mut Frame) {
    let ink = Palette::of(ui.visuals().dark_mode).ink_faint;
    let dots = Button::new(RichText::new("⋯").size(size::READING).color(ink)).frame_when_inactive(false);
    let (button, _) = MenuButton::from_button(dots).ui(ui, |ui| entries_ui(ui, cell, frame));
    button.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, format!("Menu of cell {}", cell.id())));
}

fn entries_ui(ui: &mut Ui, cell: &CellModel, frame: &mut Frame) {
    use NotebookAction::{
        AutoRun, ClearOutputs, Delete, EditText, Fold, InsertAbove, InsertBelow, MakeCode, MakeText, Merge, MoveDown,
        MoveUp, Reset, RunAbove,
    };
    let is_text = cell.cell.is_text();
    let is_code = matches!(*cell.cell.kind, CellKind::Code { .. });
    let is_changed = cell.cell.is_edited() || cell.shown.run.is_some();
    let groups: [&[(NotebookAction, bool)]; 3] = [
        &[(EditText, is_text), (RunAbove, is_code), (ClearOutputs, is_code), (AutoRun, is_code), (Fold, true)],
        &[
            (InsertAbove, true),
            (InsertBelow, true),
            (MakeText, is_code),
            (MakeCode, is_text),
            (MoveUp, true),
            (MoveDown, true),
            (Merge, is_text || is_code),
        ],
        &[(Reset, is_changed), (Delete, true)],
    ];
    for (place, entries) in groups.into_iter().enumerate() {
        if place > 0 {
            ui.separator();
        }
        for (action, _) in entries.iter().filter(|(_, is_shown)| *is_shown) {
            let row = action.row();
            let words = match action {
                Fold if cell.cell.is_folded => "Unfold",
                AutoRun if cell.cell.auto_run => "✓ Runs automatically",
                _ => row.text,
            };
            if ui.add(Button::new(words).shortcut_text(row.keys_text())).clicked() {
                if let Some(index) = frame.model.index(cell.id()) {
                    perform(*action, frame, cell.id(), index);
                }
                ui.close();
            }
        }
    }
}

/// The first line of what is folded.
fn folded_ui(ui: &mut Ui, cell: &CellModel, frame: &mut Frame) {
    let palette = Palette::of(ui.visuals().dark_mode);
    let line = Behaviour::of(&cell.cell.kind).summary.unwrap_or(&cell.cell.text);
    let line = line.trim_start_matches(['#', ' ']).lines().next().unwrap_or_default();
    let words = RichText::new(format!("▶  {line} …")).color(palette.ink_soft);
    let response = ui
        .add(Label::new(words).truncate().sense(Sense::click()))
        .on_hover_text(NotebookAction::Fold.row().hint_with("Unfold"));
    if response.clicked() {
        frame.ask(cell.id(), CellCommand::Fold(false));
    }
}

/// The lesson has a newer text than the one that the learner changed.
fn conflict_ui(ui: &mut Ui, cell: &CellModel, frame: &mut Frame) {
    let Some(newer) = &cell.cell.conflict else { return };
    let palette = Palette::of(ui.visuals().dark_mode);
    egui::Frame::new().stroke(Stroke::new(size::HAIRLINE, palette.warn)).inner_margin(size::GAP).show(ui, |ui| {
        ui.label(RichText::new("The lesson has a newer text for this cell:").color(palette.warn));
        ui.add(Label::new(RichText::new(&**newer).monospace()).selectable(true).wrap());
        ui.horizontal_wrapped(|ui| {
            if ui.button("Keep mine").clicked() {
                frame.ask(cell.id(), CellCommand::Settle { keep_mine: true });
            }
            if ui.button("Take the lesson's").clicked() {
                frame.ask(cell.id(), CellCommand::Settle { keep_mine: false });
                frame.state.drafts.forget(cell.id());
            }
        });
    });
}
