//! A grid: rows, columns, and a number in each cell, with the entry that it comes from.

use std::sync::Arc;

use attune_engine::code::{Axis, Tensor};
use attune_engine::quantity::Entry;

use super::words::{Text, Tone};
use crate::view_model::attention::{HeadMap, Reading};
use crate::view_model::output::TableModel;
use crate::view_model::tensors::TensorModel;

/// A map of numbers.
#[derive(Clone, Debug)]
pub struct Grid {
    pub title: String,
    /// Names of the rows and of the columns.
    pub rows: Arc<[String]>,
    pub cols: Arc<[String]>,
    pub cells: Cells,
    pub scale: Scale,
    /// The marks over columns, such as those of sinks.
    pub marked: Vec<Mark>,
}

/// A mark over a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    pub col: usize,
    /// A sentence on the meaning of the mark.
    pub about: String,
}

/// The conversion of numbers to colours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// A scale from the colour of the ground at 0 to the hue of a head at `full`.
    Share { hue: usize, full: f32 },
    /// A scale with one hue for numbers below 0 and another for those above. `full` is the largest magnitude.
    Signed { full: f32 },
}

impl Scale {
    /// Returns the magnitude at which the scale has its full colour.
    pub fn full(self) -> f32 {
        match self {
            Self::Share { full, .. } | Self::Signed { full } => full,
        }
    }
}

/// The numbers of a grid. Those of heads and of tensors are read from the model's data without a copy.
#[derive(Clone, Debug)]
pub enum Cells {
    /// Attention of one head.
    Head { map: HeadMap, reading: Reading },
    /// A tensor of the model, or the differences if it is compared with another one.
    Tensor(TensorModel),
    /// Any numbers, row by row, with `None` for an empty cell. `entries` has the same length, or is empty.
    Numbers { values: Vec<Option<f32>>, entries: Vec<Option<Entry>> },
}

impl Grid {
    /// Creates a map of any numbers, row by row, without entries and without marks.
    pub fn of_numbers(
        title: impl Into<String>,
        [rows, cols]: [Arc<[String]>; 2],
        values: Vec<Option<f32>>,
        scale: Scale,
    ) -> Self {
        let cells = Cells::Numbers { values, entries: Vec::new() };
        Self { title: title.into(), rows, cols, cells, scale, marked: Vec::new() }
    }

    /// Returns the number of a cell; `None` where it is empty.
    ///
    /// # Panics
    /// If there is no such cell.
    pub fn value(&self, row: usize, col: usize) -> Option<f32> {
        match &self.cells {
            Cells::Head { map, reading } => map.cells.shown(*reading, row, col),
            Cells::Tensor(tensor) => Some(tensor.shown_value(row, col)),
            Cells::Numbers { values, .. } => values[row * self.cols.len() + col],
        }
    }

    /// Returns the entry of a cell; `None` if the cell stands for several entries or for none.
    pub fn entry(&self, row: usize, col: usize) -> Option<Entry> {
        match &self.cells {
            Cells::Head { map, .. } => map.entry(row, col),
            Cells::Tensor(tensor) => Some(Entry::parameter(tensor.id, row, col)),
            Cells::Numbers { entries, .. } => entries.get(row * self.cols.len() + col).copied().flatten(),
        }
    }

    /// Returns the map of a head; `None` if the grid shows other numbers.
    pub fn head(&self) -> Option<&HeadMap> {
        match &self.cells {
            Cells::Head { map, .. } => Some(map),
            _ => None,
        }
    }

    /// Returns the name for screen readers.
    pub fn name(&self) -> String {
        match &self.cells {
            Cells::Head { map, .. } => format!("Weights of {}", map.title.to_lowercase()),
            Cells::Tensor(tensor) => format!("Map of {}", tensor.id),
            Cells::Numbers { .. } => format!("Map of {}", self.title),
        }
    }

    /// Returns the number that a cell would have if sinks were not left out.
    pub fn unhidden(&self, row: usize, col: usize) -> Option<f32> {
        match &self.cells {
            Cells::Head { map, reading } => map.cells.shown(Reading { hides_sinks: false, ..*reading }, row, col),
            _ => self.value(row, col),
        }
    }

    /// Returns a cell in words.
    pub fn say(&self, row: usize, col: usize) -> String {
        if let Some(map) = self.head() {
            return map.say(row, col);
        }
        let value = self.value(row, col).map_or_else(|| "empty".to_owned(), |value| format!("{value:.4}"));
        format!("{} (row), {} (column): {value}", self.rows[row], self.cols[col])
    }

    /// Returns a cell, the sum of its row and the column's mark in words, for a card beside the cell.
    pub fn card(&self, row: usize, col: usize) -> Vec<Text> {
        let mut lines = self.pair_card(row, col);
        if let Cells::Head { reading, .. } = &self.cells {
            let sum = (0..self.cols.len()).filter_map(|col| self.value(row, col)).sum::<f32>();
            let summed = if reading.is_added { "The lengths in this row sum" } else { "This row sums" };
            lines.push(Text::toned(format!("{summed} to {sum:.4}."), Tone::Soft));
        }
        let mark = self.marked.iter().find(|mark| mark.col == col);
        lines.extend(mark.map(|mark| Text::toned(&*mark.about, Tone::Soft)));
        lines
    }

    /// Returns a cell in words, and what it shows if that is not its weight.
    pub fn pair_card(&self, row: usize, col: usize) -> Vec<Text> {
        let shown = match &self.cells {
            Cells::Head { map, reading } => map.say_shown(row, col, *reading),
            _ => None,
        };
        [Some(self.say(row, col)), shown].into_iter().flatten().map(|words| Text::toned(words, Tone::Plain)).collect()
    }

    /// Returns a number relative to the full value of the scale: usually from 0 to 1, and below 0 for negative numbers.
    pub fn share(&self, value: f32) -> f32 {
        let full = self.scale.full();
        if full > 0.0 { value / full } else { 0.0 }
    }

    /// Returns the grid as a table with at most these numbers of rows and columns. An empty cell becomes NaN.
    pub fn table(&self, [rows_max, cols_max]: [usize; 2]) -> TableModel {
        let [rows, cols] = [self.rows.len().min(rows_max), self.cols.len().min(cols_max)];
        let cells = (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col)));
        let entries = cells.map(|(row, col)| self.value(row, col).map_or(f64::NAN, f64::from)).collect();
        let axis = |names: &[String]| Axis::labelled(names.to_vec().into());
        let axes = vec![axis(&self.rows[..rows]), axis(&self.cols[..cols])];
        TableModel::of(&Arc::from(self.title.as_str()), &Tensor::new(axes, entries))
    }
}

/// Formats a number like `.62` or `-.62`: two decimals without a leading zero, so that it fits in a cell.
pub fn short(value: f32) -> String {
    format!("{value:.2}").replacen("0.", ".", usize::from(value.abs() < 1.0))
}

/// Returns the numbers from 0 on, as names for rows or columns that have no others.
pub fn numbered(count: usize) -> Arc<[String]> {
    (0..count).map(|at| at.to_string()).collect()
}

/// The exponent that spreads small weights over more colours, so that they can be distinguished; 0 and 1 keep theirs.
pub const SPREAD: f32 = 0.7;

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn numbers_are_short() {
        let shown = [0.617, -0.617, 0.0, 1.0, -12.345, 0.999, 10.0].map(short);
        assert_eq!(shown, [".62", "-.62", ".00", "1.00", "-12.35", "1.00", "10.00"]);
    }
}
