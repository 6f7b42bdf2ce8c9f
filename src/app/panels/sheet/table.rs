//! Tables of words and numbers: a click on a column's name sorts by it, and a click on a number explains it.

use std::cmp::Ordering;

use attune_ui::theme::{self, Palette, size};
use attune_ui::ui_state::Trail;
use attune_ui::widgets::controls::{copy_button, named};
use attune_ui::widgets::traced::number_ui;
use attune_view::sheet::{Table, TableCell};
use egui::{Button, Grid, Label, RichText, ScrollArea, Ui, WidgetType};

/// The column by which a table is sorted, and whether the largest is first; `None` for the table's own order.
type Order = Option<(usize, bool)>;

/// Draws a table, sorted as its viewer has chosen.
pub fn words_table_ui(ui: &mut Ui, table: &Table, trail: &mut Trail) {
    let id = ui.id().with("order");
    let mut order: Order = ui.data(|data| data.get_temp(id)).flatten();
    ui.horizontal(|ui| {
        ui.label(RichText::new(&table.caption).font(theme::strong(size::BODY)));
        copy_button(ui, "the table, for a spreadsheet", || table.tsv());
    });
    ScrollArea::horizontal().show(ui, |ui| {
        Grid::new("table").striped(true).show(ui, |ui| {
            for (col, name) in table.columns.iter().enumerate() {
                if column_ui(ui, name, order.filter(|(by, _)| *by == col)) {
                    order = next(order, col);
                }
            }
            ui.end_row();
            for row in sorted(table, order) {
                row.iter().for_each(|cell| cell_ui(ui, cell, trail));
                ui.end_row();
            }
        });
    });
    ui.data_mut(|data| data.insert_temp(id, order));
}

/// Draws the name of a column. Returns whether it was clicked.
fn column_ui(ui: &mut Ui, name: &str, order: Order) -> bool {
    let sign = match order {
        Some((_, true)) => " ↓",
        Some((_, false)) => " ↑",
        None => "",
    };
    let words = RichText::new(format!("{name}{sign}")).font(theme::strong(size::SMALL)).color(Palette::on(ui).ink_soft);
    let response = named(ui.add(Button::new(words).frame(false)), WidgetType::Button, format!("Sort by {name}"));
    response.on_hover_text("Click to sort by this column").clicked()
}

/// Returns the order after a click on a column: the largest first, then the smallest first, then the table's own order.
fn next(order: Order, col: usize) -> Order {
    match order {
        Some((by, true)) if by == col => Some((col, false)),
        Some((by, false)) if by == col => None,
        _ => Some((col, true)),
    }
}

fn sorted(table: &Table, order: Order) -> Vec<&[TableCell]> {
    let mut rows: Vec<&[TableCell]> = table.rows.iter().map(Vec::as_slice).collect();
    let Some((col, is_largest_first)) = order else { return rows };
    rows.sort_by(|one, other| match (one.get(col), other.get(col)) {
        (Some(one), Some(other)) if is_largest_first => compare(other, one),
        (Some(one), Some(other)) => compare(one, other),
        (one, other) => other.is_some().cmp(&one.is_some()),
    });
    rows
}

/// Compares numbers by their value, and words by their characters. Words come before numbers.
fn compare(one: &TableCell, other: &TableCell) -> Ordering {
    match (one.value, other.value) {
        (Some(one), Some(other)) => one.total_cmp(&other),
        (one_value, other_value) => one_value.is_some().cmp(&other_value.is_some()).then(one.words.cmp(&other.words)),
    }
}

fn cell_ui(ui: &mut Ui, cell: &TableCell, trail: &mut Trail) {
    match cell.entry {
        Some(entry) => _ = number_ui(ui, &cell.words, entry, trail),
        None if cell.value.is_some() => _ = ui.monospace(&cell.words),
        None => _ = ui.add(Label::new(&cell.words)),
    }
}
