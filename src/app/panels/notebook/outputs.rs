//! The outputs of a code cell, and the comparison of an exercise's answer with the expected result: the numbers of all
//! cases in one small grid, or else each case on its own.

use attune_engine::code::{Fault, Help};
use attune_ui::text::images::Images;
use attune_ui::text::prose::equation_ui;
use attune_ui::text::prose::paint::image_ui;
use attune_ui::theme::{self, Palette, size};
use attune_ui::widgets::controls::{copy, copy_button, is_copied, named};
use attune_ui::widgets::plot::plot_ui;
use attune_ui::widgets::table::table_ui;
use attune_view::view_model::output::{
    ComparedContent, ComparedModel, ComparedNumbers, NumberModel, OutputModel, RankingModel, SIDES, TableModel,
    TextModel,
};
use egui::{
    Align, CollapsingHeader, Grid, Label, Layout, Rect, Response, RichText, ScrollArea, Sense, Ui, UiBuilder,
    WidgetType, pos2,
};

use crate::sheet::{ranked_ui, words_width};

/// Shows outputs one below another; consecutive printed lines form one text. The caller must give `ui` an id of its own
/// for each cell.
pub fn outputs_ui(ui: &mut Ui, outputs: &[OutputModel]) {
    let is_line = |output: &OutputModel| matches!(output, OutputModel::Text(text) if text.help.is_none());
    for (i, outputs) in outputs.chunk_by(|a, b| is_line(a) && is_line(b)).enumerate() {
        if i > 0 {
            ui.add_space(size::GAP_TIGHT);
        }
        ui.push_id(("output", i), |ui| match outputs {
            [output] => output_ui(ui, output),
            lines => lines_ui(ui, lines),
        });
    }
}

fn lines_ui(ui: &mut Ui, lines: &[OutputModel]) {
    let texts = || lines.iter().filter_map(|line| if let OutputModel::Text(text) = line { Some(text) } else { None });
    let whole = || texts().map(|text| &*text.text).collect::<Vec<_>>().join("\n");
    beside_copy(ui, "the text", whole, |ui| {
        for (i, text) in texts().enumerate() {
            ui.push_id(i, |ui| line_ui(ui, text));
        }
    });
}

fn output_ui(ui: &mut Ui, output: &OutputModel) {
    match output {
        OutputModel::Number(number) => number_ui(ui, number),
        OutputModel::Text(text) => text_ui(ui, text),
        OutputModel::Table(table) => table_of_code_ui(ui, table),
        OutputModel::Ranking(ranking) => ranking_ui(ui, ranking),
        OutputModel::Plot(plot) => plot_ui(ui, plot),
        // Pictures are shown by the caller, which has the lesson's pictures.
        OutputModel::Image(_) => {}
    }
}

/// Shows a table that code computed, whose entries have no formula of the model.
fn table_of_code_ui(ui: &mut Ui, table: &TableModel) {
    _ = table_ui(ui, table);
}

/// Shows the pictures among the outputs, in the available width.
pub fn pictures_ui(ui: &mut Ui, outputs: &[OutputModel], images: &mut Images) {
    for (i, output) in outputs.iter().enumerate() {
        let OutputModel::Image(path) = output else { continue };
        ui.add_space(size::GAP_TIGHT);
        ui.push_id(("picture", i), |ui| picture_ui(ui, path, images));
    }
}

fn picture_ui(ui: &mut Ui, path: &str, images: &mut Images) {
    match images.size(path) {
        Ok(pixels) => {
            let size = pixels * (ui.available_width() / pixels.x).min(1.0);
            let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
            image_ui(ui, 0, path, path, rect, images);
        }
        Err(why) => {
            let error = Palette::on(ui).error;
            ui.add(Label::new(RichText::new(format!("{path}: {why}")).color(error)).wrap());
        }
    }
}

/// Shows the message of a fault, its place, and a hint.
pub fn fault_ui(ui: &mut Ui, fault: &Fault) -> Response {
    let palette = Palette::on(ui);
    let shown = ui.vertical(|ui| {
        ui.spacing_mut().item_spacing.y = size::GAP_TIGHT;
        let place = fault.place.map_or_else(String::new, |place| format!("{place}  "));
        let message = RichText::new(format!("{place}{}", fault.message)).monospace().color(palette.error);
        ui.add(Label::new(message).selectable(true).wrap());
        if let Some(hint) = &fault.hint {
            ui.add(Label::new(RichText::new(hint).color(palette.ink_soft)).selectable(true).wrap());
        }
    });
    shown.response
}

fn number_ui(ui: &mut Ui, number: &NumberModel) {
    let palette = Palette::on(ui);
    let id = ui.id().with("number");
    ui.horizontal(|ui| {
        let text = RichText::new(&number.shown).font(theme::mono(size::READING)).color(palette.ink);
        let label = ui.add(Label::new(text).sense(Sense::click()));
        let label = named(label, WidgetType::Button, format!("Copy the number {}", number.full));
        if label.has_focus() {
            ui.painter().hline(label.rect.x_range(), label.rect.bottom(), (size::HAIRLINE, palette.accent));
        }
        if label.clicked() {
            copy(ui, id, number.full.clone());
        }
        label.on_hover_ui(|ui| {
            ui.monospace(&number.full);
            ui.weak("Click to copy the number");
        });
        if is_copied(ui, id) {
            ui.label(RichText::new("copied").font(theme::plain(size::SMALL)).color(palette.accent));
        }
    });
}

/// Shows content with a copy button beside it.
fn beside_copy(ui: &mut Ui, what: &str, text: impl FnOnce() -> String, show: impl FnOnce(&mut Ui)) {
    const BUTTON: f32 = 44.0;
    let whole = ui.available_rect_before_wrap();
    let (content, beside) = whole.split_left_right_at_x(whole.right() - BUTTON);
    let shown = ui.scope(|ui| {
        ui.set_max_width(content.width());
        show(ui);
    });
    // The button is not part of the layout, so that the content alone determines the height.
    let row = Rect::from_min_max(whole.min, pos2(whole.right(), shown.response.rect.bottom()));
    let button = UiBuilder::new().max_rect(beside).layout(Layout::right_to_left(Align::Min));
    let mut beside = ui.new_child(button);
    // The button is visible only under the pointer or with the keyboard focus.
    let is_near = ui.rect_contains_pointer(row) || ui.memory(|memory| memory.has_focus(beside.next_auto_id()));
    beside.set_opacity(if is_near { 1.0 } else { 0.0 });
    copy_button(&mut beside, what, text);
}

fn text_ui(ui: &mut Ui, text: &TextModel) {
    beside_copy(
        ui,
        "the text",
        || text.text.to_string(),
        |ui| {
            if let Some(help) = text.help {
                return help_ui(ui, help);
            }
            line_ui(ui, text);
        },
    );
}

fn line_ui(ui: &mut Ui, text: &TextModel) {
    ScrollArea::vertical().max_height(size::OUTPUT_MAX).auto_shrink([false, true]).show(ui, |ui| {
        ui.add(Label::new(RichText::new(text.shown()).monospace()).selectable(true).wrap());
        if let Some(left_out) = text.left_out() {
            ui.weak(left_out);
        }
    });
}

/// Shows a help text with its equation typeset.
fn help_ui(ui: &mut Ui, help: &Help) {
    help_words_ui(ui, help);
    let example = RichText::new(help.example).font(theme::mono(size::SMALL)).color(Palette::on(ui).ink_soft);
    ui.add(Label::new(example).selectable(true).wrap());
}

/// Shows the call, the meaning and the equation of a function, one below another.
pub fn help_words_ui(ui: &mut Ui, help: &Help) {
    ui.spacing_mut().item_spacing.y = size::GAP_TIGHT;
    let call = RichText::new(help.call).monospace().color(Palette::on(ui).code.function);
    ui.add(Label::new(call).selectable(true).wrap());
    ui.add(Label::new(help.meaning).wrap());
    if !help.equation.is_empty() {
        equation_ui(ui, help.equation);
    }
}

fn ranking_ui(ui: &mut Ui, ranking: &RankingModel) {
    if ranking.rows.is_empty() {
        ui.weak("No words.");
        return;
    }
    let show = |ui: &mut Ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        let columns = (words_width(ui, ranking), ranking.has_negative);
        // A similarity is not a weight, so the bar does not have the colour of a positive or a negative number.
        let fill = Palette::on(ui).ink_faint;
        let area = ScrollArea::vertical().max_height(size::OUTPUT_MAX).auto_shrink([false, true]);
        area.show_rows(ui, size::TABLE_ROW, ranking.rows.len(), |ui, rows| {
            ranking.rows[rows].iter().for_each(|row| ranked_ui(ui, row, columns, fill, None));
        });
    };
    beside_copy(ui, "the list", || ranking.tsv(), show);
}

/// Shows the comparison of all cases. The first wrong case is open, or the first case if none is wrong.
pub fn compared_ui(ui: &mut Ui, cases: &[ComparedModel], failed: Option<usize>) {
    if cases.is_empty() {
        return;
    }
    let numbers: Option<Vec<(&ComparedModel, &ComparedNumbers)>> = cases
        .iter()
        .map(|case| match &case.content {
            ComparedContent::Numbers(numbers) => Some((case, numbers)),
            _ => None,
        })
        .collect();
    if let Some(numbers) = numbers {
        return grid_ui(ui, &numbers);
    }
    if let [case] = cases {
        if let ComparedContent::Apart { why, .. } = &case.content {
            ui.label(RichText::new(why).size(size::SMALL));
        }
        return content_ui(ui, case);
    }
    let open = failed.unwrap_or(0);
    for (index, case) in cases.iter().enumerate() {
        let words = RichText::new(format!("{}  {}: {}", mark(case), case.name, case.summary())).size(size::SMALL);
        // If another case fails, the list gets a new id, so that this case is open.
        CollapsingHeader::new(words)
            .id_salt((open, index))
            .default_open(index == open)
            .show_unindented(ui, |ui| content_ui(ui, case));
    }
}

fn mark(case: &ComparedModel) -> &'static str {
    if case.is_right { "✓" } else { "✗" }
}

fn grid_ui(ui: &mut Ui, cases: &[(&ComparedModel, &ComparedNumbers)]) {
    const COLUMN: f32 = 74.0;
    let palette = Palette::on(ui);
    let has_names = cases.len() > 1;
    let columns = (SIDES.len() + usize::from(has_names)) as f32;
    // In large type there is less room, and columns are only as wide as their words.
    let room = (ui.available_width() - (columns - 1.0) * ui.spacing().item_spacing.x) / columns;
    Grid::new(ui.id().with("grid")).min_col_width(COLUMN.min(room)).striped(false).show(ui, |ui| {
        if has_names {
            ui.label("");
        }
        for side in SIDES {
            ui.label(RichText::new(side).size(size::SMALL).color(palette.ink_faint));
        }
        ui.end_row();
        for (case, ComparedNumbers { yours, expected, difference }) in cases {
            if has_names {
                ui.label(RichText::new(&case.name).size(size::SMALL).color(palette.ink_soft));
            }
            for number in [yours, expected, difference] {
                ui.add(
                    Label::new(RichText::new(number).font(theme::mono(size::MONO)).color(palette.ink)).selectable(true),
                );
            }
            ui.end_row();
        }
    });
}

fn content_ui(ui: &mut Ui, case: &ComparedModel) {
    match &case.content {
        ComparedContent::Numbers(numbers) => grid_ui(ui, &[(case, numbers)]),
        ComparedContent::Tables { table, .. } => table_of_code_ui(ui, table),
        ComparedContent::Apart { yours, expected, .. } => {
            for (side, output) in SIDES.into_iter().zip([yours, expected]) {
                ui.label(RichText::new(side).size(size::SMALL).color(Palette::on(ui).ink_faint));
                ui.push_id(side, |ui| output_ui(ui, output));
            }
        }
    }
}
