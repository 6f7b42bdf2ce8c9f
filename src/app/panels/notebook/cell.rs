//! A cell of the notebook: its frame, which is a bar on the left that shows whether the cell is selected or stale, and
//! a line with label, status and menu; its content by kind; and its estimated height before it is drawn.
//! [`super::tasks`] draws predictions, exercises and gates.

use attune_core::kernel::command::{Command, SentenceCommand};
use attune_core::kernel::notebook::CellCommand;
use attune_core::kernel::notebook::document::Behaviour;
use attune_core::kernel::notebook::snapshot::CellStatus;
use attune_core::lesson::cells::{Bind, CellKind, Slider};
use attune_ui::actions::{ActionTable, NotebookAction};
use attune_ui::theme::{self, Palette, size};
use attune_ui::widgets::controls::{checkbox_ui, hint, named, undecided_ui};
use attune_view::view_model::notebook::CellModel;
use egui::containers::menu::MenuButton;
use egui::{
    Align, Button, Color32, Frame as Card, Label, Layout, Margin, Rect, Response, RichText, Sense,
    Slider as EguiSlider, Stroke, Ui, UiBuilder, WidgetType, pos2,
};

use super::frame::NotebookFrame;
use super::outputs::{fault_ui, outputs_ui, pictures_ui};
use super::tasks::{exercise_ui, gate_ui, predict_ui};
use super::writing::write_ui;

/// Distance from the left edge of a cell, where the bar is, to its content.
const INDENT: f32 = 11.0;
const BAR: f32 = 3.0;
/// Opacity of content that may reveal the answer to a question, until the question is answered.
const VEIL: f32 = 0.12;

pub fn cell_ui(ui: &mut Ui, cell: &CellModel, index: usize, frame: &mut NotebookFrame) {
    let top = ui.min_rect().min;
    let ground = ground_ui(ui, cell, frame);
    let is_selected = frame.state.selected.as_ref() == Some(cell.id());
    let question = frame.model.questions_above(index).find(|question| !frame.state.skipped.contains(question.id()));
    let is_veiled = !is_selected && question.is_some();
    if is_selected {
        frame.state.skipped.extend(question.map(|question| question.id().clone()));
    }
    let mut inner = ui.max_rect();
    inner.min.x += INDENT;
    if !has_head(cell) {
        // Room for the menu, which appears with the pointer and must cover no words.
        inner.max.x -= size::SLIDER_ROW;
    }
    ui.scope_builder(UiBuilder::new().max_rect(inner), |ui| {
        if question.is_some_and(|question| index > 0 && frame.model.cells[index - 1].id() == question.id()) {
            let words = "Answer first, or click below to read on without an answer.";
            ui.label(RichText::new(words).size(size::SMALL).weak());
        }
        if is_veiled {
            ui.multiply_opacity(VEIL);
        }
        head_ui(ui, cell, is_selected || ground.hovered() || ground.contains_pointer(), frame);
        conflict_ui(ui, cell, frame);
        if cell.cell.is_folded {
            folded_ui(ui, cell, frame);
        } else {
            body_ui(ui, cell, index, frame);
        }
    });
    let bottom = ui.min_rect().bottom();
    if let Some(color) = bar_color(cell, is_selected, Palette::on(ui)) {
        let bar = Rect::from_min_max(pos2(top.x, top.y), pos2(top.x + BAR, bottom));
        ui.painter().rect_filled(bar, size::RADIUS_SMALL, color);
    }
}

/// Returns the background of a cell. A click anywhere on it selects the cell; a double click on text opens the text.
fn ground_ui(ui: &mut Ui, cell: &CellModel, frame: &mut NotebookFrame) -> Response {
    let last_height = frame.state.heights.get(cell.id()).copied().unwrap_or_default();
    let area = Rect::from_min_size(ui.min_rect().min, egui::vec2(ui.available_width(), last_height));
    let ground = ui.interact(area, ui.id().with("ground"), Sense::click());
    // Text uses clicks for its own selection, so a click on text is checked here, to select the cell too.
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
    ground
}

/// Returns the colour of the bar beside a cell that is selected, waiting or stale.
fn bar_color(cell: &CellModel, is_selected: bool, palette: &Palette) -> Option<Color32> {
    match cell.shown.status {
        _ if is_selected => Some(palette.accent),
        CellStatus::Waiting => Some(palette.accent),
        _ if cell.shown.is_stale() => Some(palette.warn),
        CellStatus::New | CellStatus::Fresh | CellStatus::Stale => None,
    }
}

/// Returns whether a cell has a line above its content, with label, status and menu.
fn has_head(cell: &CellModel) -> bool {
    matches!(*cell.cell.kind, CellKind::Code { .. }) || !Behaviour::of(&cell.cell.kind).title.is_empty()
}

/// Shows the label and the status of a cell, with its menu on the right. A text has neither, and its menu appears in
/// the corner with the pointer.
fn head_ui(ui: &mut Ui, cell: &CellModel, is_near: bool, frame: &mut NotebookFrame) {
    let palette = Palette::on(ui);
    let is_code = matches!(*cell.cell.kind, CellKind::Code { .. });
    let title = Behaviour::of(&cell.cell.kind).title;
    if !has_head(cell) {
        if is_near {
            let corner = Rect::from_min_size(ui.max_rect().right_top(), egui::Vec2::splat(size::SLIDER_ROW));
            let mut corner_ui = ui.new_child(UiBuilder::new().max_rect(corner).id_salt("menu"));
            menu_ui(&mut corner_ui, cell, frame);
        }
        return;
    }
    ui.horizontal(|ui| {
        ui.set_height(size::SLIDER_ROW);
        if is_code {
            ui.label(RichText::new(&cell.label).font(theme::mono(size::MONO)).color(palette.ink_faint))
                .on_hover_text("The order in which cells ran; [*] means running or waiting");
        } else {
            ui.label(RichText::new(title).font(theme::strong(size::SMALL)).color(palette.accent));
            if cell.cell.is_done() {
                ui.label(RichText::new("✓ done").size(size::SMALL).color(palette.ink_soft));
            }
        }
        note_ui(ui, cell);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            // The buttons are always visible, so that nothing moves away from the pointer.
            menu_ui(ui, cell, frame);
            if is_code {
                run_ui(ui, cell, frame);
            }
        });
    });
}

/// Shows the button that runs a cell.
fn run_ui(ui: &mut Ui, cell: &CellModel, frame: &mut NotebookFrame) {
    let run = Button::new(RichText::new("▶").size(size::SMALL)).frame_when_inactive(false);
    let [run_it, go_on] = [NotebookAction::Run, NotebookAction::RunAndGoOn].map(|action| action.row().hint());
    let button = named(ui.add(run), WidgetType::Button, format!("Run cell {}", cell.id()));
    if button.on_hover_text(format!("{run_it}, or {go_on}")).clicked() {
        frame.ask(cell.id(), CellCommand::Run);
        frame.select(cell.id());
    }
}

fn note_ui(ui: &mut Ui, cell: &CellModel) {
    let palette = Palette::on(ui);
    if !cell.note.is_empty() {
        let color = if cell.shown.is_stale() { palette.warn } else { palette.ink_faint };
        let why = match cell.shown.status {
            CellStatus::Stale if cell.shown.is_stale() => {
                "The cell's text, or a value that it read, has changed since it ran; run it again"
            }
            CellStatus::Stale => {
                "The cell has not run in this session; cells below see its variables only after it \
                runs"
            }
            _ => "How long the cell's last run took",
        };
        ui.label(RichText::new(&cell.note).size(size::SMALL).color(color)).on_hover_text(why);
    }
    if let Some(name) = &cell.shown.shadows {
        let words = format!("hides {name} above");
        ui.label(RichText::new(words).size(size::SMALL).color(palette.ink_faint))
            .on_hover_text("A cell above also defines this name, but the cells below see this cell's value");
    }
}

fn menu_ui(ui: &mut Ui, cell: &CellModel, frame: &mut NotebookFrame) {
    let ink = Palette::on(ui).ink_faint;
    let dots = Button::new(RichText::new("⋯").size(size::READING).color(ink)).frame_when_inactive(false);
    let (button, _) = MenuButton::from_button(dots).ui(ui, |ui| entries_ui(ui, cell, frame));
    named(button, WidgetType::Button, format!("Menu of cell {}", cell.id()));
}

fn entries_ui(ui: &mut Ui, cell: &CellModel, frame: &mut NotebookFrame) {
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
            let words = entry_words(*action, cell);
            if ui.add(Button::new(words).shortcut_text(action.row().keys_text())).clicked() {
                if let Some(index) = frame.model.index(cell.id()) {
                    frame.perform(*action, cell.id(), index);
                }
                ui.close();
            }
        }
    }
}

/// Returns the text of a menu entry, which depends on the state of the cell.
fn entry_words(action: NotebookAction, cell: &CellModel) -> &'static str {
    match action {
        NotebookAction::Fold if cell.cell.is_folded => "Unfold",
        NotebookAction::AutoRun if cell.cell.auto_run => "✓ Runs automatically",
        _ => action.row().text,
    }
}

/// Shows the first line of a folded cell.
fn folded_ui(ui: &mut Ui, cell: &CellModel, frame: &mut NotebookFrame) {
    let line = Behaviour::of(&cell.cell.kind).summary.unwrap_or(&cell.cell.text);
    let line = line.trim_start_matches(['#', ' ']).lines().next().unwrap_or_default();
    let words = RichText::new(format!("▶  {line} …")).color(Palette::on(ui).ink_soft);
    let response = ui
        .add(Label::new(words).truncate().sense(Sense::click()))
        .on_hover_text(NotebookAction::Fold.row().hint_with("Unfold"));
    if response.clicked() {
        frame.ask(cell.id(), CellCommand::Fold(false));
    }
}

/// Shows the lesson's newer text beside the one that the learner has edited, and lets the learner choose.
fn conflict_ui(ui: &mut Ui, cell: &CellModel, frame: &mut NotebookFrame) {
    let Some(newer) = &cell.cell.conflict else { return };
    let palette = Palette::on(ui);
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

/// Shows the content of a cell that is not folded.
pub fn body_ui(ui: &mut Ui, cell: &CellModel, index: usize, frame: &mut NotebookFrame) {
    match &*cell.cell.kind {
        CellKind::Text { .. } => text_ui(ui, cell, index, frame),
        CellKind::Code { .. } | CellKind::Plot { .. } => {
            code_ui(ui, cell, index, frame);
            pictures_ui(ui, &cell.outputs, &mut frame.prose.images);
        }
        CellKind::Slider(slider) => slider_ui(ui, cell, slider, frame),
        CellKind::Stage { caption, sentence, words, time, plays, .. } => {
            stage_ui(ui, cell, (caption, *sentence), (words, *time, *plays), frame);
        }
        CellKind::Predict(predict) => predict_ui(ui, cell, predict, frame),
        CellKind::Exercise(exercise) => exercise_ui(ui, cell, exercise, index, frame),
        CellKind::Gate { caption, .. } => gate_ui(ui, cell, caption, frame),
    }
}

/// Estimates the height of a cell that has not been drawn yet.
pub fn first_height(cell: &CellModel, width: f32) -> f32 {
    const CHROME: f32 = 34.0;
    const LINE: f32 = 22.0;
    const LETTER: f32 = 7.4;
    const TASK: f32 = 220.0;
    let letters = (width / LETTER).max(1.0);
    let lines = |text: &str| text.lines().map(|line| (line.len() as f32 / letters).ceil().max(1.0)).sum::<f32>();
    match &*cell.cell.kind {
        _ if cell.cell.is_folded => CHROME,
        CellKind::Text { .. } => LINE * lines(&cell.cell.text),
        CellKind::Code { .. } | CellKind::Plot { .. } => CHROME + LINE * lines(&cell.cell.text),
        CellKind::Predict(predict) => TASK + LINE * lines(&predict.ask),
        CellKind::Exercise(exercise) => TASK + LINE * (lines(&exercise.ask) + lines(&cell.cell.text)),
        CellKind::Stage { .. } | CellKind::Slider(_) | CellKind::Gate { .. } => CHROME + 2.0 * LINE,
    }
}

pub fn text_ui(ui: &mut Ui, cell: &CellModel, index: usize, frame: &mut NotebookFrame) {
    let id = cell.id();
    let is_empty = cell.cell.text.trim().is_empty();
    if frame.state.open_text.as_ref() == Some(id) {
        write_ui(ui, cell, index, frame);
    } else if is_empty {
        let hint = RichText::new("Empty text; press Enter to write").color(Palette::on(ui).ink_faint);
        if ui.add(Label::new(hint).sense(Sense::click())).clicked() {
            frame.write(id);
        }
    } else {
        frame.prose_ui(ui, cell, &cell.cell.text);
    }
}

fn code_ui(ui: &mut Ui, cell: &CellModel, index: usize, frame: &mut NotebookFrame) {
    if let CellKind::Plot { caption, .. } = &*cell.cell.kind {
        ui.label(RichText::new(caption).size(size::READING));
    } else {
        write_ui(ui, cell, index, frame);
    }
    frame.places.result = Some(ui.cursor().top());
    ran_ui(ui, cell);
}

/// Shows the outputs of the last run, faded if they are stale.
fn ran_ui(ui: &mut Ui, cell: &CellModel) {
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

pub fn slider_ui(ui: &mut Ui, cell: &CellModel, slider: &Slider, frame: &mut NotebookFrame) {
    let palette = Palette::on(ui);
    if !slider.caption.is_empty() {
        ui.label(RichText::new(&slider.caption).size(size::READING));
    }
    let turned = match slider.bind {
        Bind::Time => Some(f64::from(frame.view.walk.time())),
        _ => cell.turned,
    };
    let is_there = turned.is_some() || !frame.model.live.is_empty();
    let after = match (&slider.bind, turned) {
        (Bind::Mask, _) if is_there => mask_ui(ui, turned),
        (_, Some(before)) => number_ui(ui, slider, before),
        (_, None) => {
            ui.label(RichText::new("You can move this slider as soon as the model is ready.").color(palette.ink_faint));
            None
        }
    };
    let Some(after) = after else { return };
    frame.select(cell.id());
    match slider.bind {
        Bind::Time => frame.view.walk.set_time(after as f32),
        _ => frame.ask(cell.id(), CellCommand::Slide(after)),
    }
}

/// Shows the checkbox of the mask, and returns its new value if it was changed. A mask that the learner edited is
/// neither on nor off.
fn mask_ui(ui: &mut Ui, turned: Option<f64>) -> Option<f64> {
    let mut on = turned.is_some_and(|turned| turned > 0.0);
    let words = "No word sees the words after it";
    let response = match turned {
        Some(_) => checkbox_ui(ui, &mut on, words),
        None => undecided_ui(ui, &mut on, words),
    };
    let is_turned = response.on_hover_text("The causal mask").changed();
    if turned.is_none() {
        let ink = Palette::on(ui).ink_soft;
        ui.label(RichText::new("The mask is custom, so this box is neither on nor off.").size(size::SMALL).color(ink));
    }
    is_turned.then(|| f64::from(u8::from(on)))
}

/// Shows the slider of a number, and returns its new value if it was moved.
fn number_ui(ui: &mut Ui, slider: &Slider, before: f64) -> Option<f64> {
    const VALUE_ROOM: f32 = 130.0;
    let (mut value, mut is_turned) = (before, false);
    ui.horizontal(|ui| {
        ui.label(RichText::new(slider.bind.to_string()).monospace().color(Palette::on(ui).ink_soft));
        ui.spacing_mut().slider_width = (ui.available_width() - VALUE_ROOM).max(size::CHART_MIN);
        // A value that is outside the range or between two steps stays until the slider is moved.
        let range = slider.range.0..=slider.range.1;
        let mut bar = EguiSlider::new(&mut value, range).max_decimals(3).clamping(egui::SliderClamping::Edits);
        if let Some(step) = slider.step {
            bar = bar.step_by(step);
        }
        is_turned = hint(ui.add(bar), "Drag to set the value; everything that depends on it follows").changed();
    });
    is_turned.then_some(value)
}

pub fn stage_ui(
    ui: &mut Ui,
    cell: &CellModel,
    (caption, sentence): (&str, usize),
    setting: (&[String], f32, usize),
    frame: &mut NotebookFrame,
) {
    let is_shown = frame.view.highlight.shown_cell.as_deref() == Some(&**cell.id());
    let text = frame.model.sentences.get(sentence).map(String::as_str);
    if card_ui(ui, caption, text, is_shown) {
        show(cell, sentence, setting, frame);
    }
}

/// Shows a stage cell on the stage: selects the cell and its sentence, highlights its words, and plays the move as
/// often as the cell says before the move stops at the cell's time.
pub fn show(
    cell: &CellModel,
    sentence: usize,
    (words, time, plays): (&[String], f32, usize),
    frame: &mut NotebookFrame,
) {
    frame.view.highlight.show(cell.id(), words);
    frame.view.walk.play(plays, time);
    frame.select(cell.id());
    if frame.model.selected != Some(sentence) {
        frame.commands.push(Command::Sentence(SentenceCommand::Select(sentence)));
    }
}

/// Shows the card of a stage cell. Returns true if it was clicked.
fn card_ui(ui: &mut Ui, caption: &str, sentence: Option<&str>, is_shown: bool) -> bool {
    let palette = Palette::on(ui);
    let edge = if is_shown { palette.accent } else { theme::CLEAR };
    let card = Card::new()
        .fill(palette.raised)
        .stroke(Stroke::new(size::HAIRLINE, edge))
        .corner_radius(size::RADIUS)
        .inner_margin(Margin::same(size::PANEL_MARGIN));
    let card = card.show(ui, |ui| {
        ui.set_width(ui.available_width());
        if !caption.is_empty() {
            ui.label(RichText::new(caption).size(size::READING));
        }
        if let Some(sentence) = sentence {
            ui.add(egui::Label::new(RichText::new(sentence).weak()).wrap());
        }
        ui.add_space(size::GAP_TIGHT);
        let button = egui::Button::new(RichText::new("▶  Show").color(palette.on_accent)).fill(palette.accent);
        let hint =
            NotebookAction::Write.row().hint_with("Sets the sentence, the highlighted words and the time of the stage");
        named(ui.add(button), WidgetType::Button, format!("Show: {caption}")).on_hover_text(hint).clicked()
    });
    card.inner
}
