//! The toolbar above the cells: run, restart and interrupt; the outline of all sections and tasks; the number of
//! completed tasks; and the reference of the language, which has every function with its call, its meaning and its
//! equation.

use attune_core::kernel::command::Command;
use attune_core::kernel::notebook::NotebookCommand;
use attune_engine::code::{Help, REFERENCE};
use attune_ui::actions::{ActionTable, NotebookAction, keys};
use attune_ui::theme::{self, Palette, size};
use attune_ui::widgets::controls::{button_ui, named};
use attune_ui::widgets::popup::lookup_window;
use attune_view::view_model::course::Tasks;
use attune_view::view_model::notebook::OutlineRow;
use egui::containers::menu::MenuButton;
use egui::{
    Align, Button, Layout, Margin, RichText, ScrollArea, TextEdit, TextStyle, TextWrapMode, Ui, WidgetText, WidgetType,
};

use super::frame::NotebookFrame;
use super::outputs::help_words_ui;
use super::state::ReferenceUiState;

pub(super) fn toolbar_ui(ui: &mut Ui, frame: &mut NotebookFrame) {
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
            let interrupt = Command::Notebook(NotebookCommand::Interrupt);
            frame.commands.extend(button_ui(ui, stop.text, stop.hint(), interrupt));
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let Tasks { done, of } = frame.model.tasks;
            let laid = |words| {
                let text = WidgetText::from(RichText::new(words).size(size::SMALL).color(Palette::on(ui).ink_soft));
                text.into_galley(ui, Some(TextWrapMode::Extend), f32::INFINITY, TextStyle::Body)
            };
            // In a narrow notebook, the text has its short form or is left out.
            let forms = [format!("{done} of {of} done"), format!("{done}/{of}")].map(laid);
            let fits = forms.into_iter().find(|galley| galley.size().x <= ui.available_width());
            if let Some(galley) = fits.filter(|_| of > 0) {
                ui.label(galley).on_hover_text(format!(
                    "{done} of {of} tasks done: predictions made and exercises \
                    passed"
                ));
            }
        });
    });
    ui.add_space(size::GAP_TIGHT);
}

fn run_ui(ui: &mut Ui, frame: &mut NotebookFrame) {
    let mut entry = |ui: &mut Ui, words: &str, keys: String, commands: &[NotebookCommand]| {
        let response = ui.add(Button::new(words).shortcut_text(keys));
        if response.clicked() {
            frame.commands.extend(commands.iter().cloned().map(Command::Notebook));
            ui.close();
        }
        response
    };
    let (no_keys, restart) = (String::new, NotebookAction::Restart.row());
    entry(ui, "Run all cells", no_keys(), &[NotebookCommand::RunAll]);
    entry(ui, restart.text, restart.keys_text(), &[NotebookCommand::Restart]);
    entry(ui, "Restart and run all", no_keys(), &[NotebookCommand::Restart, NotebookCommand::RunAll]);
    let auto = frame.model.auto_run;
    let words = if auto { "✓ Run cells automatically" } else { "Run cells automatically" };
    entry(ui, words, no_keys(), &[NotebookCommand::SetAutoRun(!auto)])
        .on_hover_text("Runs a cell again whenever something that it reads has changed");
    ui.separator();
    entry(ui, "Reset the notebook to the lesson's", no_keys(), &[NotebookCommand::Reset])
        .on_hover_text("Undo brings your cells back");
}

/// Shows the reference of the language in a window.
pub(super) fn reference_window_ui(ui: &mut Ui, frame: &mut NotebookFrame) {
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

fn outline_ui(ui: &mut Ui, frame: &mut NotebookFrame) {
    const WIDTH: f32 = 320.0;
    /// Greatest height, as a share of the window.
    const HIGHEST: f32 = 0.75;
    let (button, _) = MenuButton::new("Outline").ui(ui, |ui| {
        ui.set_width(WIDTH);
        let rows = frame.model.outline();
        if rows.is_empty() {
            ui.weak("No headings and no tasks");
        }
        let highest = ui.ctx().viewport_rect().height() * HIGHEST;
        ScrollArea::vertical().max_height(highest).show(ui, |ui| {
            for row in rows {
                outline_row_ui(ui, row, frame);
            }
        });
    });
    button.on_hover_text("Go to a section or a task");
}

/// Shows a section or a task, and whether the task is done. A click scrolls to it.
fn outline_row_ui(ui: &mut Ui, row: OutlineRow, frame: &mut NotebookFrame) {
    const INDENT: f32 = 12.0;
    let palette = Palette::on(ui);
    let OutlineRow { id, level, words, done, is_open } = row;
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
        let response = named(response, WidgetType::Button, format!("{words}: {state}"));
        if response.on_disabled_hover_text("Waits for the tasks above it").clicked() {
            frame.state.selected = Some(id.clone());
            frame.reveal_at_top(&id);
            ui.close();
        }
    });
}

/// Shows the reference, and returns the function whose example was requested, if there is one.
pub fn reference_ui(ui: &mut Ui, state: &mut ReferenceUiState) -> Option<&'static Help> {
    let margin = Margin::symmetric(size::GAP as i8, size::GAP_TIGHT as i8);
    let search = TextEdit::singleline(&mut state.search).id(keys::function_search()).margin(margin);
    let search = search.hint_text("Search the functions").desired_width(f32::INFINITY);
    let search = ui.add(search).on_hover_text("Search for a name, or for words in a description");
    keys::take(ui.ctx(), search.id);
    // Esc removes the focus before this point. A field that has just lost it counts too, so that Esc closes the window.
    state.is_searching = search.has_focus() || search.lost_focus();
    ui.ctx().accesskit_node_builder(search.id, |node| node.set_label("Search the functions"));
    ui.add_space(size::GAP_TIGHT);
    let found = found(&state.search);
    if found.is_empty() {
        ui.weak("There is no such function.");
        return None;
    }
    let mut wanted = None;
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        for help in found {
            ui.push_id(help.name, |ui| {
                if help_ui(ui, help) {
                    wanted = Some(help);
                }
            });
        }
    });
    wanted
}

/// Shows the help for a function. Returns true if its example was requested.
fn help_ui(ui: &mut Ui, help: &Help) -> bool {
    let palette = Palette::on(ui);
    let card =
        egui::Frame::new().fill(palette.raised).corner_radius(size::RADIUS).inner_margin(Margin::same(size::GAP as i8));
    let card = card.show(ui, |ui| {
        ui.set_width(ui.available_width());
        help_words_ui(ui, help);
        let example = RichText::new(help.example).font(theme::mono(size::SMALL)).color(palette.accent);
        let button = ui.add(Button::new(example).frame(false).wrap()).on_hover_text("Insert this example");
        named(button, WidgetType::Button, format!("Insert the example of {}", help.name)).clicked()
    });
    card.inner
}

/// Returns the functions whose name or meaning contains every word of the search, matches of names first. An empty
/// search returns all.
pub fn found(search: &str) -> Vec<&'static Help> {
    let search = search.to_lowercase();
    let words: Vec<&str> = search.split_whitespace().collect();
    let has = |text: &str| {
        let text = text.to_lowercase();
        words.iter().all(|word| text.contains(word))
    };
    let (named, others): (Vec<&Help>, Vec<&Help>) = REFERENCE.iter().partition(|help| has(help.name));
    let meant = others.into_iter().filter(|help| has(&format!("{} {}", help.call, help.meaning)));
    named.into_iter().chain(meant).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_finds_names_before_meanings() {
        let names = |search| found(search).iter().map(|help| help.name).collect::<Vec<_>>();
        assert_eq!(names("").len(), REFERENCE.len());
        assert_eq!(names("cos"), ["cosine", "nearest", "neighbours"]);
        assert_eq!(names("Into weights"), ["softmax"]);
        assert_eq!(names("no such thing"), Vec::<&str>::new());
    }
}
