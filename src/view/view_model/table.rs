//! A tensor as tables: a vector is one row, three axes are a table for each entry of the first.

use std::fmt::Write;
use std::sync::Arc;

use attune_engine::code::{Axis, Tensor};

use super::output::{extent, full, share};

#[derive(Clone, Debug, PartialEq)]
pub struct TableModel {
    /// Name for tooltips: one that code can write, or empty.
    pub name: String,
    pub caption: Arc<str>,
    tensor: Tensor,
    /// The largest distance from zero.
    extent: f64,
    least: f64,
    most: f64,
    is_finite: bool,
    whole: bool,
    /// Characters of the longest name of a row, and of a column.
    pub row_chars: usize,
    pub col_chars: usize,
}

/// How the numbers of a table are written: all alike, so that they can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digits {
    Decimals(usize),
    /// With the power of ten.
    Power,
}

impl TableModel {
    pub fn of(caption: &Arc<str>, tensor: &Tensor) -> Self {
        /// Above this, digits are counted and not read.
        const WHOLE_MAX: f64 = 1e6;
        let finite = || tensor.entries().iter().copied().filter(|x| x.is_finite());
        let is_name = caption.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && caption.chars().all(|c| c.is_alphanumeric() || c == '_');
        let extent = extent(finite());
        let chars = |axis: Option<&Axis>| match axis.map(|axis| (&axis.labels, axis.len)) {
            Some((Some(labels), _)) => labels.iter().map(|label| label.chars().count()).max().unwrap_or(0),
            Some((None, len)) => len.saturating_sub(1).to_string().len(),
            None => 0,
        };
        let rows = tensor.rank().checked_sub(2).map(|i| &tensor.axes()[i]);
        Self {
            name: if is_name { caption.to_string() } else { String::new() },
            caption: caption.clone(),
            tensor: tensor.clone(),
            extent,
            least: finite().fold(0.0, f64::min),
            most: finite().fold(0.0, f64::max),
            is_finite: tensor.entries().iter().all(|x| x.is_finite()),
            whole: extent < WHOLE_MAX && finite().all(|x| x.fract() == 0.0),
            row_chars: chars(rows),
            col_chars: chars(Some(tensor.last_axis())),
        }
    }

    /// How many tables it has.
    pub fn parts(&self) -> usize {
        if self.tensor.rank() > 2 { self.tensor.axes()[0].len } else { 1 }
    }

    pub fn rows(&self) -> usize {
        self.row_axis().map_or(1, |axis| axis.len)
    }

    pub fn cols(&self) -> usize {
        self.tensor.last_axis().len
    }

    fn row_axis(&self) -> Option<&Axis> {
        let axes = self.tensor.axes();
        axes.len().checked_sub(2).map(|i| &axes[i])
    }

    /// The name of a table of several.
    pub fn part_name(&self, part: usize) -> String {
        self.tensor.axes()[0].name(part)
    }

    /// Empty for the only row of a vector.
    pub fn row_name(&self, row: usize) -> String {
        self.row_axis().map_or_else(String::new, |axis| axis.name(row))
    }

    pub fn col_name(&self, col: usize) -> String {
        self.tensor.last_axis().name(col)
    }

    /// Whether the columns are words, and not numbers.
    pub fn has_words(&self) -> bool {
        self.tensor.last_axis().labels.is_some()
    }

    pub fn entry(&self, part: usize, row: usize, col: usize) -> f64 {
        self.tensor.entries()[(part * self.rows() + row) * self.cols() + col]
    }

    /// Its place between blue and orange, in [-1, 1]; `None` for what is no finite number.
    pub fn share(&self, number: f64) -> Option<f32> {
        share(number, self.extent)
    }

    /// Ways to write the numbers, the most digits first.
    pub fn digits(&self) -> &'static [Digits] {
        use Digits::{Decimals, Power};
        match self.extent {
            _ if self.whole => &[Decimals(0)],
            extent if extent < 0.01 => &[Power],
            extent if extent < 0.1 => &[Decimals(3), Decimals(2)],
            // One is little, but more than a colour says.
            extent if extent < 10.0 => &[Decimals(3), Decimals(2), Decimals(1)],
            extent if extent < 1000.0 => &[Decimals(2), Decimals(1)],
            extent if extent < 1e5 => &[Decimals(1), Decimals(0)],
            _ => &[Power],
        }
    }

    /// Characters of the longest number.
    pub fn widest(&self, digits: Digits) -> usize {
        let longest = if self.is_finite { 1 } else { "NaN".len() };
        [self.least, self.most].map(|x| written(x, digits).chars().count()).into_iter().fold(longest, usize::max)
    }

    /// `(2, 3)`
    pub fn shape(&self) -> String {
        self.tensor.shape().to_string()
    }

    /// `A["bank", "river"] = 0.61234`
    pub fn tell(&self, part: usize, row: usize, col: usize) -> String {
        let at = [part, row, col];
        let axes = self.tensor.axes();
        let index = axes.iter().zip(&at[at.len() - axes.len()..]).map(|(axis, i)| match &axis.labels {
            Some(_) => format!("{:?}", axis.name(*i)),
            None => i.to_string(),
        });
        let index: Vec<String> = index.collect();
        format!("{}[{}] = {}", self.name, index.join(", "), full(self.entry(part, row, col)))
    }

    /// With its words, for a spreadsheet. Tables of three axes stand below one another, each under its name.
    pub fn tsv(&self) -> String {
        let mut text = String::new();
        let has_rows = self.row_axis().is_some_and(|axis| axis.labels.is_some());
        for part in 0..self.parts() {
            if self.tensor.rank() > 2 {
                let _ = writeln!(text, "{}{}", if part > 0 { "\n" } else { "" }, self.part_name(part));
            }
            if self.has_words() {
                let names: Vec<String> = (0..self.cols()).map(|col| self.col_name(col)).collect();
                let _ = writeln!(text, "{}{}", if has_rows { "\t" } else { "" }, names.join("\t"));
            }
            for row in 0..self.rows() {
                let name = has_rows.then(|| self.row_name(row));
                let entries = (0..self.cols()).map(|col| full(self.entry(part, row, col)));
                let _ = writeln!(text, "{}", name.into_iter().chain(entries).collect::<Vec<_>>().join("\t"));
            }
        }
        text
    }
}

/// A number of a cell.
pub fn written(number: f64, digits: Digits) -> String {
    match digits {
        _ if !number.is_finite() => full(number),
        // Rounding leaves no minus before a zero.
        Digits::Decimals(decimals) => {
            let text = format!("{number:.decimals$}");
            let is_zero = !text.contains(|c: char| c.is_ascii_digit() && c != '0');
            if is_zero { text.trim_start_matches('-').to_owned() } else { text }
        }
        Digits::Power if number == 0.0 => "0".to_owned(),
        Digits::Power => format!("{number:.1e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use attune_engine::code::Labels;

    fn axis(words: &[&str]) -> Axis {
        let labels: Labels = words.iter().map(|word| (*word).to_owned()).collect();
        Axis::labelled(labels)
    }

    fn weights() -> TableModel {
        let words = axis(&["bank", "river"]);
        let tensor = Tensor::new(vec![words.clone(), words], vec![0.38766, 0.61234, -0.0001, 1.0]);
        TableModel::of(&"A".into(), &tensor)
    }

    #[test]
    fn a_cell_tells_how_it_is_called() {
        assert_eq!(weights().tell(0, 0, 1), "A[\"bank\", \"river\"] = 0.61234");
        let vector = TableModel::of(&"two words".into(), &Tensor::vector(vec![1.0, 2.0]));
        assert_eq!(vector.tell(0, 0, 1), "[1] = 2");
        let heads = Tensor::new(vec![Axis::plain(2), axis(&["a"]), Axis::plain(1)], vec![1.0, f64::NAN]);
        assert_eq!(TableModel::of(&"".into(), &heads).tell(1, 0, 0), "[1, \"a\", 0] = NaN");
    }

    #[test]
    fn a_spreadsheet_gets_the_words_too() {
        assert_eq!(weights().tsv(), "\tbank\triver\nbank\t0.38766\t0.61234\nriver\t-0.0001\t1\n");
        let plain = TableModel::of(&"".into(), &Tensor::matrix(2, 2, vec![1.0, 2.0, 3.0, 4.5]));
        assert_eq!(plain.tsv(), "1\t2\n3\t4.5\n");
        let heads = Tensor::new(vec![axis(&["h0", "h1"]), Axis::plain(1), Axis::plain(1)], vec![1.0, 2.0]);
        assert_eq!(TableModel::of(&"".into(), &heads).tsv(), "h0\n1\n\nh1\n2\n");
    }

    #[test]
    fn a_vector_is_one_row_and_three_axes_are_tables() {
        let vector = TableModel::of(&"".into(), &Tensor::vector(vec![1.0, 2.0, 3.0]));
        assert_eq!((vector.parts(), vector.rows(), vector.cols(), vector.row_name(0)), (1, 1, 3, String::new()));
        let heads = TableModel::of(&"".into(), &Tensor::new([2, 3, 4].map(Axis::plain).to_vec(), vec![0.0; 24]));
        assert_eq!((heads.parts(), heads.rows(), heads.cols(), heads.shape()), (2, 3, 4, "(2, 3, 4)".to_owned()));
        let empty = TableModel::of(&"".into(), &Tensor::vector(vec![]));
        assert_eq!((empty.cols(), empty.share(0.0)), (0, Some(0.0)));
    }

    #[test]
    fn numbers_are_written_by_their_size() {
        let digits = |entries: &[f64]| TableModel::of(&"".into(), &Tensor::vector(entries.to_vec())).digits()[0];
        assert_eq!(digits(&[1.0, -3.0, f64::NEG_INFINITY]), Digits::Decimals(0));
        assert_eq!(digits(&[0.5, 1.0]), Digits::Decimals(3));
        assert_eq!(digits(&[1e-5]), Digits::Power);
        assert_eq!(digits(&[1e9]), Digits::Power);
        assert_eq!(written(-0.0001, Digits::Decimals(3)), "0.000");
        assert_eq!(written(1.26e-5, Digits::Power), "1.3e-5");
        assert_eq!(weights().widest(Digits::Decimals(2)), 4);
    }

    #[test]
    fn shade_is_about_zero_and_leaves_out_what_is_no_number() {
        let model = TableModel::of(&"".into(), &Tensor::vector(vec![-4.0, 2.0, f64::INFINITY]));
        assert_eq!([-4.0, 2.0, f64::INFINITY, f64::NAN].map(|x| model.share(x)), [Some(-1.0), Some(0.5), None, None]);
    }
}
