//! A sheet in words: for screen readers, for copying and for tests.

use std::fmt::Write;

use attune_engine::messages::counted;

use super::grid::short;
use super::{Bars, Fold, FoldContent, Grid, Grids, Item, Sheet, Table, Tiles};

/// Writes a sheet as plain text. For large grids, only the title and the size are written.
pub fn text(sheet: &Sheet) -> String {
    let mut text = format!("{}\n", sheet.title);
    for item in sheet.items.iter().filter(|item| item.is_written()) {
        text.push('\n');
        item_text(item, &mut text);
    }
    text
}

fn item_text(item: &Item, text: &mut String) {
    match item {
        Item::Heading(title) => line(text, title),
        Item::Text(words) => line(text, &words.words),
        Item::Fold(fold) => line(text, &fold_words(fold)),
        Item::Grids(grids) => grids_text(grids, text),
        Item::Tiles(tiles) => tiles_text(tiles, text),
        Item::Numbers(numbers) => line(text, &format!("{} {}", numbers.table.caption, numbers.table.shape())),
        Item::Table(table) => table_text(table, text),
        Item::Bars(bars) => bars_text(bars, text),
        Item::Meter(meter) => line(text, &meter.spoken),
        Item::Plot(plot) => line(text, &plot.summary()),
        Item::Details { items, .. } => items.iter().for_each(|item| item_text(item, text)),
        Item::Controls(_) | Item::Scrolls => {}
    }
}

fn line(text: &mut String, words: &str) {
    let _ = writeln!(text, "{}", words.trim_end());
}

/// Returns the text of a line that opens: the symbol, the detail or the value, and the meaning.
pub fn fold_words(fold: &Fold) -> String {
    let value = match &fold.content {
        FoldContent::Numbers(_) => String::new(),
        FoldContent::Value { short, .. } => format!(" = {short}"),
    };
    format!("{} {}{value}: {}", fold.symbol, fold.detail, fold.about)
}

fn grids_text(grids: &Grids, text: &mut String) {
    grids.grids.iter().for_each(|grid| grid_text(grid, text));
    line(text, &grids.legend);
}

/// The largest number of rows, and of columns, of a grid whose numbers are written.
const WRITTEN_MAX: usize = 16;

fn grid_text(grid: &Grid, text: &mut String) {
    let (rows, cols) = (grid.rows.len(), grid.cols.len());
    line(text, &format!("{}: {}, {}", grid.title, counted(rows, "row"), counted(cols, "column")));
    if rows.max(cols) > WRITTEN_MAX {
        return;
    }
    let number = |row: usize, col: usize| grid.value(row, col).map_or_else(|| "–".to_owned(), short);
    let width = |col: usize| {
        let numbers = (0..rows).map(|row| number(row, col).chars().count());
        numbers.chain([grid.cols[col].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..cols).map(width).collect();
    let names = grid.rows.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let columns = |cell: &dyn Fn(usize) -> String| -> String {
        widths.iter().enumerate().map(|(col, width)| format!("  {:>width$}", cell(col))).collect()
    };
    line(text, &format!("{:names$}{}", "", columns(&|col| grid.cols[col].clone())));
    for (row, name) in grid.rows.iter().enumerate() {
        line(text, &format!("{name:names$}{}", columns(&|col| number(row, col))));
    }
}

fn tiles_text(tiles: &Tiles, text: &mut String) {
    for tile in &tiles.tiles {
        let number = tile.number.map_or_else(|| "–".to_owned(), |number| format!("{number:.2}"));
        let rank = tile.rank.map_or(String::new(), |rank| format!(" ({rank})"));
        line(text, &format!("{}: {number}{rank}", tiles.heads.heads[tile.head].title));
    }
    line(text, &tiles.legend);
}

fn table_text(table: &Table, text: &mut String) {
    if !table.caption.is_empty() {
        line(text, &table.caption);
    }
    line(text, &table.columns.join("\t"));
    for row in &table.rows {
        let cells: Vec<&str> = row.iter().map(|cell| cell.words.as_str()).collect();
        line(text, &cells.join("\t"));
    }
}

fn bars_text(bars: &Bars, text: &mut String) {
    if !bars.caption.is_empty() {
        line(text, &bars.caption);
    }
    for row in &bars.ranking.rows {
        line(text, &format!("{}\t{}", row.word, row.shown));
    }
}
