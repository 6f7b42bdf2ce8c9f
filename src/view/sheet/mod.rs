//! A sheet: what a panel shows, as plain data. The window draws it, and every export writes it.
//!
//! A sheet is made once for a snapshot and what the viewer has chosen; it holds no closure, so that it can be drawn, written
//! and tested alike. What moves while it is drawn (scrolling, a drag, what the pointer is on) belongs to the renderer.
//!
//! | module | job |
//! |---|---|
//! | [`grid`] | a map of numbers: its cells, their names, colours and entries |
//! | [`text`] | a sheet in words, for screen readers, for copying and for tests |

pub mod grid;
pub mod text;

use std::iter;

use attune_engine::quantity::Entry;

pub use self::grid::{Cells, Grid, Scale};
use crate::view_model::attention::Reading;
use crate::view_model::heads::HeadMeasure;
use crate::view_model::output::{PlotModel, RankingModel, TableModel};

/// The content of a panel, from top to bottom.
#[derive(Clone, Debug)]
pub struct Sheet {
    pub title: &'static str,
    pub items: Vec<Item>,
}

/// A part of a sheet.
#[derive(Clone, Debug)]
pub enum Item {
    Heading(String),
    Text(Text),
    /// A line that opens: a name, and what stands under it.
    Fold(Fold),
    Grids(Grids),
    Tiles(Tiles),
    /// A tensor, with all of its numbers.
    Numbers(Numbers),
    Table(Table),
    Bars(Bars),
    Plot(PlotModel),
}

/// A paragraph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    pub words: String,
    pub tone: Tone,
    /// An explanation for who points at it, or empty.
    pub hint: &'static str,
}

/// The weight of a paragraph among the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    /// Steps back behind the numbers.
    Soft,
    /// A caution.
    Warning,
    /// Code or a value, in letters of one width.
    Code,
}

impl Item {
    pub fn text(words: impl Into<String>) -> Self {
        Self::toned(words, Tone::Plain)
    }

    pub fn soft(words: impl Into<String>) -> Self {
        Self::toned(words, Tone::Soft)
    }

    pub fn warning(words: impl Into<String>) -> Self {
        Self::toned(words, Tone::Warning)
    }

    fn toned(words: impl Into<String>, tone: Tone) -> Self {
        Self::Text(Text { words: words.into(), tone, hint: "" })
    }
}

/// A line that opens. One of a sheet's lines is open at a time; an export shows them all.
#[derive(Clone, Debug)]
pub struct Fold {
    /// By which it is told from the others.
    pub name: String,
    /// As the literature writes it.
    pub symbol: String,
    /// Such as the shape of a tensor.
    pub detail: String,
    /// A sentence about it.
    pub about: String,
    pub content: FoldContent,
}

/// Content under a line that is open.
#[derive(Clone, Debug)]
pub enum FoldContent {
    Numbers(Numbers),
    /// A number or a text, as it is written in the line, and in full.
    Value {
        short: String,
        full: String,
    },
}

/// A tensor as tables, of which every number may be asked where it comes from.
#[derive(Clone, Debug)]
pub struct Numbers {
    pub table: TableModel,
    /// The first entry, whose others follow it; none where the numbers are of the learner's own code.
    pub first: Option<Entry>,
}

impl Numbers {
    /// The entry at a table, a row and a column.
    pub fn entry(&self, [part, row, col]: [usize; 3]) -> Option<Entry> {
        let mut entry = self.first?.of_later_head(part);
        entry.index = [row, col, 0];
        Some(entry)
    }
}

/// Maps side by side, as far as they fit.
#[derive(Clone, Debug)]
pub struct Grids {
    pub grids: Vec<Grid>,
    /// A sentence on the meaning of the colours, the rows and the columns.
    pub legend: String,
}

/// Small maps without names, each at a row and a column: a map of maps, or of single numbers.
#[derive(Clone, Debug)]
pub struct Tiles {
    /// Names of the rows and of the columns; empty where the tiles are in the order of their numbers.
    pub rows: Vec<String>,
    pub cols: Vec<String>,
    pub tiles: Vec<Tile>,
    pub legend: String,
}

/// A small map with a number under it.
#[derive(Clone, Debug)]
pub struct Tile {
    /// Row and column.
    pub at: [usize; 2],
    pub grid: Grid,
    /// `None` where it has no such number.
    pub number: Option<f32>,
    /// Length of the bar under it, from 0 to 1.
    pub share: f32,
    /// Its place among the largest, from 1.
    pub rank: Option<usize>,
}

/// Rows of words and numbers.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub caption: String,
    pub columns: Vec<String>,
    pub rows: Vec<Vec<TableCell>>,
}

impl Table {
    /// The table for a spreadsheet, every number with all of its digits.
    pub fn tsv(&self) -> String {
        let cell = |cell: &TableCell| cell.value.map_or_else(|| cell.words.clone(), |value| value.to_string());
        let line = |cells: Vec<String>| cells.join("\t") + "\n";
        let rows = self.rows.iter().map(|row| line(row.iter().map(cell).collect()));
        iter::once(line(self.columns.clone())).chain(rows).collect()
    }
}

/// A word or a number in a table.
#[derive(Clone, Debug, Default)]
pub struct TableCell {
    pub words: String,
    /// The number that the words write, by which rows can be sorted.
    pub value: Option<f64>,
    pub entry: Option<Entry>,
}

impl TableCell {
    pub fn words(words: impl Into<String>) -> Self {
        Self { words: words.into(), ..Self::default() }
    }

    /// A number with four decimals.
    pub fn number(value: f32) -> Self {
        Self { words: format!("{value:.4}"), value: Some(f64::from(value)), entry: None }
    }
}

/// Names with a number and a bar each.
#[derive(Clone, Debug)]
pub struct Bars {
    pub caption: String,
    pub ranking: RankingModel,
    /// By rows; empty where the numbers have no entry.
    pub entries: Vec<Entry>,
}

/// The choices of a viewer, beside the snapshot; in an export, none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chosen {
    /// How attention is read.
    pub reading: Reading,
    /// Pieces of words, and not whole words.
    pub pieces: bool,
    /// Heads by this measure.
    pub measure: HeadMeasure,
}
