//! A sheet: what a panel shows, as plain data. The window draws it, and every export writes it.
//!
//! A sheet is made once for a snapshot and what the viewer has chosen; it holds no closure, so that it can be drawn,
//! written and tested alike. What moves while it is drawn (scrolling, a drag, what the pointer is on) belongs to the
//! renderer.
//!
//! The window draws *Attention*, *All heads*, *Variables* and *Axes* from their sheets: everything that is done in them
//! is a choice, a command, or a question about a number. The other panels draw themselves, apart from parts such as the
//! split of a score in *Step*, and their sheets are for exports. Their tools work on what is drawn (a brush over
//! weights, a slider for each of a thousand entries, a mask that is painted, a point that moves along the loss, words
//! that are being written); as an item of a sheet, each tool would need code in the renderer for a single panel.
//!
//! | module | job |
//! |---|---|
//! | [`chosen`] | what the viewer has chosen |
//! | [`control`] | buttons, menus and fields, and what they ask for |
//! | [`grid`] | a map of numbers: its cells, their names, colours and entries |
//! | [`words`] | paragraphs |
//! | [`text`] | a sheet in words, for screen readers, for copying and for tests |

pub mod chosen;
pub mod control;
pub mod grid;
pub mod text;
pub mod words;

use std::iter;
use std::sync::Arc;

use attune_engine::quantity::Entry;

pub use self::chosen::{Choice, Chosen, HeadOrder};
pub use self::control::{Ask, Control};
use self::grid::numbered;
pub use self::grid::{Cells, Grid, Mark, Scale};
pub use self::words::{Text, Tone};
use crate::view_model::attention::Reading;
use crate::view_model::heads::AllHeads;
use crate::view_model::output::{PlotModel, RankingModel, RankingRow, TableModel};

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
    /// A line with a name that opens to show its content.
    Fold(Fold),
    Grids(Grids),
    Tiles(Tiles),
    /// A tensor, with all of its numbers.
    Numbers(Numbers),
    Table(Table),
    Bars(Bars),
    Meter(Meter),
    Plot(PlotModel),
    /// Controls in a row, which exports leave out.
    Controls(Vec<Control>),
    /// Items in a line that opens.
    Details {
        summary: &'static str,
        items: Vec<Item>,
    },
    /// The end of the items that stay in view; those after it scroll.
    Scrolls,
}

impl Item {
    /// Returns whether exports write the item.
    pub fn is_written(&self) -> bool {
        match self {
            Self::Controls(_) | Self::Scrolls => false,
            Self::Details { items, .. } => items.iter().any(Self::is_written),
            _ => true,
        }
    }

    pub fn text(words: impl Into<String>) -> Self {
        Self::toned(words, Tone::Plain)
    }

    pub fn soft(words: impl Into<String>) -> Self {
        Self::toned(words, Tone::Soft)
    }

    pub fn small(words: impl Into<String>) -> Self {
        Self::toned(words, Tone::Small)
    }

    pub fn warning(words: impl Into<String>) -> Self {
        Self::toned(words, Tone::Warning)
    }

    pub fn toned(words: impl Into<String>, tone: Tone) -> Self {
        Self::Text(Text::toned(words, tone))
    }

    /// Creates maps side by side, with a sentence on their colours, rows and columns.
    pub fn maps(grids: Vec<Grid>, legend: impl Into<String>) -> Self {
        Self::Grids(Grids { grids, as_lines: false, legend: legend.into() })
    }
}

/// A line that opens to show its content. In the window, only one line of a sheet is open at a time.
#[derive(Clone, Debug)]
pub struct Fold {
    /// The name that identifies the line within the sheet.
    pub name: String,
    /// The symbol, as it is written in the literature.
    pub symbol: String,
    /// A detail after the symbol, such as the shape of a tensor.
    pub detail: String,
    /// A sentence about the content.
    pub about: String,
    pub content: FoldContent,
}

/// The content of a line that opens.
#[derive(Clone, Debug)]
pub enum FoldContent {
    Numbers(Numbers),
    /// A number or a text, as it is written in the line, and in full.
    Value {
        short: String,
        full: String,
    },
}

/// A tensor as tables of numbers, each of which can be explained.
#[derive(Clone, Debug)]
pub struct Numbers {
    pub table: TableModel,
    /// The entry of the first number, from which the others are counted; `None` for numbers from the learner's own
    /// code.
    pub first: Option<Entry>,
}

impl Numbers {
    /// Returns the entry of a number, given its table, row and column; `None` if the numbers have no entries.
    pub fn entry(&self, [part, row, col]: [usize; 3]) -> Option<Entry> {
        let mut entry = self.first?.of_later_head(part);
        entry.index = [row, col, 0];
        Some(entry)
    }
}

/// Maps that are side by side if they fit.
#[derive(Clone, Debug)]
pub struct Grids {
    pub grids: Vec<Grid>,
    /// Whether the window shows the maps of heads as lines between the names.
    pub as_lines: bool,
    /// A sentence on the meaning of the colours, the rows and the columns.
    pub legend: String,
}

/// The heads of a model as small maps, each at a row and a column.
#[derive(Clone, Debug)]
pub struct Tiles {
    /// The source of the maps, which are computed when they are drawn, because a model may have a thousand heads.
    pub heads: Arc<AllHeads>,
    pub reading: Reading,
    /// The names of the rows and of the columns; empty if the tiles are in the order of their numbers.
    pub rows: Vec<String>,
    pub cols: Vec<String>,
    pub tiles: Vec<Tile>,
    /// The measure after the chosen one.
    pub next: Choice,
    pub legend: String,
}

/// A small map of a head, with a number below it.
#[derive(Clone, Debug)]
pub struct Tile {
    /// The row and the column. If rows have no names, the row is 0 and the column is the place in the order.
    pub at: [usize; 2],
    pub head: usize,
    /// The name of the head with the number, for screen readers.
    pub spoken: String,
    /// The measure of the head; `None` if the head has none.
    pub number: Option<f32>,
    /// The length of the bar below the map, from 0 to 1.
    pub share: f32,
    /// The place among the largest values, counted from 1; `None` if the head is not among them.
    pub rank: Option<usize>,
}

impl Tiles {
    /// Returns the map of a head at the size of a tile. A cell shows the largest of the numbers that it stands for.
    pub fn grid(&self, tile: &Tile) -> Grid {
        const SIDE: usize = 24;
        let (head, map) = (&self.heads.heads[tile.head], self.heads.thumbnail(tile.head, SIDE, self.reading));
        let scale = Scale::Share { hue: head.own, full: 1.0 };
        Grid::of_numbers(&*head.title, [map.rows, map.cols].map(numbered), map.shares, scale)
    }
}

/// Rows of words and numbers.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub caption: String,
    pub columns: Vec<String>,
    pub rows: Vec<Vec<TableCell>>,
}

impl Table {
    /// Returns the table as tab-separated values for a spreadsheet, with all digits of the numbers.
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
    /// The number that the words state, by which rows can be sorted; `None` for words alone.
    pub value: Option<f64>,
    pub entry: Option<Entry>,
}

impl TableCell {
    pub fn words(words: impl Into<String>) -> Self {
        Self { words: words.into(), ..Self::default() }
    }

    /// Creates a cell with a number, written with four decimals.
    pub fn number(value: f32) -> Self {
        Self { words: format!("{value:.4}"), value: Some(f64::from(value)), entry: None }
    }
}

/// Names with a number and a bar each.
#[derive(Clone, Debug)]
pub struct Bars {
    pub caption: String,
    pub ranking: RankingModel,
    /// The entry of each row; empty if the numbers have no entries.
    pub entries: Vec<Entry>,
}

/// A name with its share of a whole, as a line with a bar below it.
#[derive(Clone, Debug)]
pub struct Meter {
    /// The letter before the name; may be empty.
    pub letter: &'static str,
    pub name: String,
    pub shown: String,
    /// The share, from 0 to 1.
    pub share: f32,
    /// The whole meter in words, for screen readers.
    pub spoken: String,
    pub hint: String,
}

impl Meter {
    /// Returns the meter as one bar, for pictures that have no lines with bars.
    pub fn bars(&self) -> Bars {
        let Self { letter, name, shown, share, .. } = self;
        let (word, number) = (format!("{letter} {name}"), f64::from(*share));
        let share = Some(share.clamp(0.0, 1.0)).filter(|share| !share.is_nan());
        let row = RankingRow { word, number, shown: shown.clone(), share };
        let ranking = RankingModel { rows: vec![row], has_negative: false };
        Bars { caption: String::new(), ranking, entries: Vec::new() }
    }
}
