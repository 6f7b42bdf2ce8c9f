//! Above the cells: run, restart, interrupt; the outline of all sections and tasks; how many tasks are done.

use attune_core::kernel::command::Command;
use attune_core::kernel::notebook::NotebookCommand;
use attune_view::view_model::course::Tasks;
use attune_view::view_model::notebook::OutlineRow;
use egui::containers::menu::MenuButton;
use egui::{
    Align, Button, Layout, RichText, ScrollArea, TextStyle, TextWrapMode, Ui, WidgetInfo, WidgetText, WidgetType,
};

use super::frame::Frame;
use crate::app::actions::{ActionTable, NotebookAction};
use crate::app::panels::notebook::reference::reference_ui;
use crate::app::theme::{Palette, size};
use crate::app::widgets::tool_window::lookup_window;

pub fn toolbar_ui(ui: &mut Ui, frame: &mut Frame) {
    let palette = Palette::of(ui.visuals().dark_mode);
    ui.horizontal(|ui| {
        outline_ui(ui, frame);
        let (button, _) = MenuButton::new("Run").ui(ui, |ui| run_ui(ui, frame));
        button.on_hover_text("Run, restart, reset");
        let functions = NotebookAction::Functions.row();
        let reference = ui.selectable_label(frame.state.is_reference_open, functions.text);
        if reference.on_hover_text(functions.hint()).clicked() {
            frame.toggle_reference(ui);
        }
        if frame.model.is_running {
            let stop = NotebookAction::Interrupt.row();
            if ui.button(stop.text).on_hover_text(stop.hint()).clicked() {
                frame.commands.push(Command::Notebook(NotebookCommand::Interrupt));
            }
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let Tasks { done, of } = frame.model.tasks;
            let laid = |words| {
                let text = WidgetText::from(RichText::new(words).size(size::SMALL).color(palette.ink_soft));
                text.into_galley(ui, Some(TextWrapMode::Extend), f32::INFINITY, TextStyle::Body)
            };
            // In a narrow notebook the short form, or none.
            let forms = [format!("{done} of {of} done"), format!("{done}/{of}")].map(laid);
            let fits = forms.into_iter().find(|galley| galley.size().x <= ui.available_width());
            if let Some(galley) = fits.filter(|_| of > 0) {
                ui.label(galley).on_hover_text(format!("{done} of {of} predictions given and exercises passed"));
            }
        });
    });
    ui.add_space(size::GAP_TIGHT);
}

fn run_ui(ui: &mut Ui, frame: &mut Frame) {
    let mut entry = |ui: &mut Ui, words: &str, keys: String, commands: &[NotebookCommand]| {
        if ui.add(Button::new(words).shortcut_text(keys)).clicked() {
            frame.commands.extend(commands.iter().cloned().map(Command::Notebook));
            ui.close();
        }
    };
    let (no_keys, restart) = (String::new, NotebookAction::Restart.row());
    entry(ui, "Run all cells", no_keys(), &[NotebookCommand::RunAll]);
    entry(ui, restart.text, restart.keys_text(), &[NotebookCommand::Restart]);
    entry(ui, "Restart and run all", no_keys(), &[NotebookCommand::Restart, NotebookCommand::RunAll]);
    let auto = frame.model.auto_run;
    let words = if auto { "✓ Run cells automatically" } else { "Run cells automatically" };
    if ui.button(words).on_hover_text("When what they read has changed").clicked() {
        frame.commands.push(Command::Notebook(NotebookCommand::SetAutoRun(!auto)));
        ui.close();
    }
    ui.separator();
    if ui.button("Reset the notebook to the lesson's").on_hover_text("Undo brings yours back").clicked() {
        frame.commands.push(Command::Notebook(NotebookCommand::Reset));
        ui.close();
    }
}

/// The reference of the language, in a window.
pub fn reference_window_ui(ui: &mut Ui, frame: &mut Frame) {
    const SIZE: (f32, f32) = (360.0, 460.0);
    let mut is_open = frame.state.is_reference_open;
    let mut wanted = None;
    let leaves = ui.input(|input| input.key_pressed(egui::Key::Escape));
    lookup_window(ui.ctx(), "Functions", SIZE)
        .open(&mut is_open)
        .show(ui.ctx(), |ui| wanted = reference_ui(ui, &mut frame.state.reference));
    frame.state.is_reference_open = is_open && !(leaves && frame.state.reference.is_searching);
    if let Some(help) = wanted {
        frame.insert_example(help.example);
    }
}

pub fn outline_ui(ui: &mut Ui, frame: &mut Frame) {
    const WIDTH: f32 = 320.0;
    const INDENT: f32 = 12.0;
    /// Height, as a share of the window.
    const HIGHEST: f32 = 0.75;
    let (button, _) = MenuButton::new("Outline").ui(ui, |ui| {
        ui.set_width(WIDTH);
        let palette = Palette::of(ui.visuals().dark_mode);
        let rows = frame.model.outline();
        if rows.is_empty() {
            ui.weak("No headings and no tasks");
        }
        let highest = ui.ctx().viewport_rect().height() * HIGHEST;
        ScrollArea::vertical().max_height(highest).show(ui, |ui| {
            for OutlineRow { id, level, words, done, is_open } in rows {
                ui.horizontal(|ui| {
                    ui.add_space(INDENT * level.saturating_sub(1) as f32);
                    let mark = match done {
                        None => "",
                        Some(true) => "✓  ",
                        Some(false) => "○  ",
                    };
                    let ink = if done.is_some() { palette.ink_soft } else { palette.ink };
                    let text = RichText::new(format!("{mark}{words}")).color(ink);
                    let response = ui.add_enabled(is_open, Button::new(text).frame_when_inactive(false).truncate());
                    let state = match done {
                        None => "section",
                        Some(true) => "task, done",
                        Some(false) => "task, open",
                    };
                    let said = format!("{words}: {state}");
                    response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, is_open, &said));
                    if response.on_disabled_hover_text("Behind the tasks above it").clicked() {
                        frame.state.selected = Some(id.clone());
                        frame.reveal_at_top(&id);
                        ui.close();
                    }
                });
            }
        });
    });
    button.on_hover_text("Go to a section or a task");
}
