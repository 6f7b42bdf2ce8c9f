//! The outputs of a code cell as they are shown, computed once for each run.
//!
//! A tensor is shown as tables ([`TableModel`]): a vector is one row, and three axes are one table for each entry of
//! the first. A plot ([`PlotModel`]) has lines over one horizontal axis, with no more points than can be seen.
//!
//! A [`ComparedModel`] has the learner's answer to an exercise, the expected one and their difference, as numbers or as
//! tables one below another.

use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

use attune_core::kernel::notebook::snapshot::ComparedCase;
use attune_engine::code::editor::highlight::{SpanKind, highlight};
use attune_engine::code::{Axis, Help, Output, Plot, PlotLine, Tensor, readable};

#[derive(Clone, Debug, PartialEq)]
pub enum OutputModel {
    Number(NumberModel),
    Text(TextModel),
    Table(TableModel),
    Ranking(RankingModel),
    Plot(PlotModel),
    /// A picture in the lesson's folder, by its path there.
    Image(Arc<str>),
}

impl OutputModel {
    pub fn of(output: &Output) -> Self {
        match output {
            Output::Number(number) => Self::Number(NumberModel::of(*number)),
            Output::Text(text) => Self::Text(TextModel::of(text)),
            Output::Table { caption, tensor } => Self::Table(TableModel::of(caption, tensor)),
            Output::Ranking(words) => Self::Ranking(RankingModel::of(words)),
            Output::Plot(plot) => Self::Plot(PlotModel::of(plot)),
            Output::Image(path) => Self::Image(path.clone()),
        }
    }

    /// Returns the models of a cell's outputs. If the last output is the table of a variable, it gets the variable's
    /// name.
    pub fn all(source: &str, outputs: &[Output]) -> Vec<Self> {
        let mut models: Vec<Self> = outputs.iter().map(Self::of).collect();
        if let (Some(Self::Table(table)), Some(name)) = (models.last_mut(), last_name(source))
            && table.caption.is_empty()
        {
            table.name = name.to_owned();
        }
        models
    }
}

/// Returns the name of the variable that is the cell's last statement; `None` if that is not just a variable.
fn last_name(source: &str) -> Option<&str> {
    let mut spans: Vec<_> = highlight(source).into_iter().filter(|span| span.kind != SpanKind::Comment).collect();
    let name = spans.pop()?;
    let before = spans.pop().map(|span| &source[span.range]);
    (name.kind == SpanKind::Name && matches!(before, None | Some(";" | "}"))).then(|| &source[name.range])
}

#[derive(Clone, Debug, PartialEq)]
pub struct NumberModel {
    pub shown: String,
    /// The number with all digits.
    pub full: String,
}

impl NumberModel {
    fn of(number: f64) -> Self {
        /// The least number that is not taken for a rounding error of 0.
        const LEAST: f64 = 1e-12;
        let is_rest = number != 0.0 && number.abs() < LEAST;
        Self { shown: if is_rest { "≈ 0".to_owned() } else { readable(number) }, full: full(number) }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct TextModel {
    pub text: Arc<str>,
    /// The length in bytes of the part that is shown; a copy contains the whole text.
    pub shown: usize,
    /// The reference that `help` printed, if the text comes from `help`.
    pub help: Option<&'static Help>,
}

impl TextModel {
    fn of(text: &Arc<str>) -> Self {
        /// The largest length in bytes of the shown part. More would be slow to lay out and too long to read.
        const SHOWN_MAX: usize = 20_000;
        let shown = text.floor_char_boundary(SHOWN_MAX);
        Self { text: text.clone(), shown, help: Help::of_text(text) }
    }

    pub fn shown(&self) -> &str {
        &self.text[..self.shown]
    }

    /// Returns a text on how much is left out; `None` if nothing is.
    pub fn left_out(&self) -> Option<String> {
        let left = self.text[self.shown..].chars().count();
        (left > 0).then(|| format!("… and {left} more characters, which are copied too"))
    }
}

/// A list of words, each with a number and a bar.
#[derive(Clone, Debug, PartialEq)]
pub struct RankingModel {
    pub rows: Vec<RankingRow>,
    /// Whether at least one bar extends to the left.
    pub has_negative: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RankingRow {
    pub word: String,
    pub number: f64,
    pub shown: String,
    /// The length of the bar relative to the longest one, in [-1, 1]; `None` if the number is not finite.
    pub share: Option<f32>,
}

impl RankingModel {
    pub fn of(words: &[(String, f64)]) -> Self {
        let extent = extent(words.iter().map(|(_, number)| *number));
        let rows: Vec<RankingRow> = words
            .iter()
            .map(|(word, number)| {
                let shown = if number.is_finite() { format!("{number:.3}") } else { readable(*number) };
                RankingRow { word: word.clone(), number: *number, shown, share: share(*number, extent) }
            })
            .collect();
        let has_negative = rows.iter().any(|row| row.share.is_some_and(|share| share < 0.0));
        Self { rows, has_negative }
    }

    pub fn tsv(&self) -> String {
        self.rows.iter().map(|row| format!("{}\t{}\n", row.word, full(row.number))).collect()
    }
}

/// Returns the largest magnitude among the finite numbers; 0 if there are none.
pub(super) fn extent(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.filter(|number| number.is_finite()).fold(0.0, |extent, number| extent.max(number.abs()))
}

/// Returns a number relative to the extent, in [-1, 1]; `None` if the number is not finite.
pub(super) fn share(number: f64, extent: f64) -> Option<f32> {
    number.is_finite().then(|| if extent > 0.0 { (number / extent) as f32 } else { 0.0 })
}

fn not_finite(number: f64) -> Option<&'static str> {
    match number {
        _ if number.is_nan() => Some("NaN"),
        f64::INFINITY => Some("∞"),
        f64::NEG_INFINITY => Some("-∞"),
        _ => None,
    }
}

/// The range of numbers that are written without a power of ten.
const PLAIN: std::ops::Range<f64> = 1e-4..1e7;

fn is_plain(number: f64) -> bool {
    number == 0.0 || PLAIN.contains(&number.abs())
}

/// Formats a number with all digits that distinguish it from its neighbours, in single precision if that represents it
/// exactly, as it does the model's numbers.
pub fn full(number: f64) -> String {
    if let Some(text) = not_finite(number) {
        return text.to_owned();
    }
    let single = number as f32;
    match (f64::from(single) == number, is_plain(number)) {
        (true, true) => format!("{single}"),
        (true, false) => format!("{single:e}"),
        (false, true) => format!("{number}"),
        (false, false) => format!("{number:e}"),
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct TableModel {
    /// The name in tooltips, which code can use; empty if the table has no such name.
    pub name: String,
    pub caption: Arc<str>,
    tensor: Tensor,
    /// The largest magnitude of the finite entries.
    extent: f64,
    least: f64,
    most: f64,
    is_finite: bool,
    whole: bool,
    /// The length of the longest row name, in characters.
    pub row_chars: usize,
    /// The length of the longest column name, in characters.
    pub col_chars: usize,
}

/// A format that all numbers of a table share, so that they can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Digits {
    Decimals(usize),
    /// A format with a power of ten.
    Power,
}

impl TableModel {
    pub fn of(caption: &Arc<str>, tensor: &Tensor) -> Self {
        /// The largest whole number that is written digit by digit, rather than with a power of ten.
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

    /// Returns the number of tables.
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

    /// Returns the name of one of several tables.
    pub fn part_name(&self, part: usize) -> String {
        self.tensor.axes()[0].name(part)
    }

    /// Returns the name of a row; empty for the only row of a vector.
    pub fn row_name(&self, row: usize) -> String {
        self.row_axis().map_or_else(String::new, |axis| axis.name(row))
    }

    pub fn col_name(&self, col: usize) -> String {
        self.tensor.last_axis().name(col)
    }

    /// Returns whether the columns are named by words instead of numbers.
    pub fn has_words(&self) -> bool {
        self.tensor.last_axis().labels.is_some()
    }

    pub fn entry(&self, part: usize, row: usize, col: usize) -> f64 {
        self.tensor.entries()[(part * self.rows() + row) * self.cols() + col]
    }

    /// Returns the position of a number on the colour scale, in [-1, 1]; `None` if it is not finite.
    pub fn share(&self, number: f64) -> Option<f32> {
        share(number, self.extent)
    }

    /// Returns possible formats of the numbers, the one with most digits first.
    pub fn digits(&self) -> &'static [Digits] {
        use Digits::{Decimals, Power};
        match self.extent {
            _ if self.whole => &[Decimals(0)],
            extent if extent < 0.01 => &[Power],
            extent if extent < 0.1 => &[Decimals(3), Decimals(2)],
            // A single decimal is little, but more than a colour shows.
            extent if extent < 10.0 => &[Decimals(3), Decimals(2), Decimals(1)],
            extent if extent < 1000.0 => &[Decimals(2), Decimals(1)],
            extent if extent < 1e5 => &[Decimals(1), Decimals(0)],
            _ => &[Power],
        }
    }

    /// Returns the length of the longest number, in characters.
    pub fn widest(&self, digits: Digits) -> usize {
        let longest = if self.is_finite { 1 } else { "NaN".len() };
        [self.least, self.most].map(|x| written(x, digits).chars().count()).into_iter().fold(longest, usize::max)
    }

    /// Returns the shape, such as `(2, 3)`.
    pub fn shape(&self) -> String {
        self.tensor.shape().to_string()
    }

    /// Describes an entry: `A["bank", "river"] = 0.61234`.
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

    /// Returns the table as TSV, with its words. The tables of three axes are placed one below another, each under its
    /// name.
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

/// Formats a number for a cell.
pub fn written(number: f64, digits: Digits) -> String {
    match digits {
        _ if !number.is_finite() => full(number),
        // A number that rounds to zero must not have a minus sign.
        Digits::Decimals(decimals) => {
            let text = format!("{number:.decimals$}");
            let is_zero = !text.contains(|c: char| c.is_ascii_digit() && c != '0');
            if is_zero { text.trim_start_matches('-').to_owned() } else { text }
        }
        Digits::Power if number == 0.0 => "0".to_owned(),
        Digits::Power => format!("{number:.1e}"),
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct PlotModel {
    pub lines: Vec<LineModel>,
    /// The number of points that are not drawn because they are not finite.
    pub left_out: usize,
    /// The names of the horizontal and the vertical axis; empty if an axis has none.
    pub axes: [String; 2],
}

#[derive(Clone, Debug, PartialEq)]
pub struct LineModel {
    /// The name of the line; empty for a plot with a single line.
    pub name: String,
    /// The connected parts of the line, which has a gap wherever a point is left out.
    pub pieces: Vec<Vec<[f64; 2]>>,
    /// Whether each point is marked; lines of many points have no marks.
    pub marked: bool,
}

impl PlotModel {
    pub fn of(plot: &Plot) -> Self {
        const MARKED_MAX: usize = 24;
        let mut left_out = 0;
        let lines = plot.lines.iter().map(|PlotLine { name, y }| {
            let points: Vec<[f64; 2]> = plot.x.iter().zip(y.iter()).map(|(x, y)| [*x, *y]).collect();
            let is_finite = |point: &[f64; 2]| point.iter().all(|x| x.is_finite());
            left_out += points.iter().filter(|point| !is_finite(point)).count();
            let pieces = points.split(|point| !is_finite(point)).filter(|piece| !piece.is_empty()).map(thinned);
            LineModel { name: name.clone(), pieces: pieces.collect(), marked: points.len() <= MARKED_MAX }
        });
        let lines = lines.collect();
        Self { lines, left_out, axes: plot.axes.clone() }
    }

    /// Describes the plot for screen readers.
    pub fn summary(&self) -> String {
        let names: Vec<&str> =
            self.lines.iter().map(|line| line.name.as_str()).filter(|name| !name.is_empty()).collect();
        let lines = if self.lines.len() == 1 { "a line".to_owned() } else { format!("{} lines", self.lines.len()) };
        let names = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
        let axes: String = [(" of ", &self.axes[1]), (" over ", &self.axes[0])]
            .iter()
            .filter(|(_, name)| !name.is_empty())
            .map(|(word, name)| format!("{word}{name}"))
            .collect();
        format!("Plot of {lines}{names}{}{axes}", if axes.is_empty() { "" } else { ";" })
    }

    pub fn left_out_note(&self) -> Option<String> {
        (self.left_out > 0).then(|| match self.left_out {
            1 => "One point is not finite and is left out.".to_owned(),
            count => format!("{count} points are not finite and are left out."),
        })
    }
}

/// Describes a point: `name: (x, y)`.
pub fn tell(name: &str, x: f64, y: f64) -> String {
    let name = if name.is_empty() { String::new() } else { format!("{name}: ") };
    format!("{name}({}, {})", full(x), full(y))
}

/// Returns fewer points that draw the same line: the first, least, greatest and last of each stretch, in order.
fn thinned(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    const STRETCHES: usize = 1000;
    const KEPT: usize = 4;
    if points.len() <= STRETCHES * KEPT {
        return points.to_vec();
    }
    let stretch = |i: usize| -> Range<usize> { i * points.len() / STRETCHES..(i + 1) * points.len() / STRETCHES };
    let mut kept = Vec::with_capacity(STRETCHES * KEPT);
    for range in (0..STRETCHES).map(stretch) {
        let by_height = |a: &usize, b: &usize| points[*a][1].total_cmp(&points[*b][1]);
        let ends = [range.clone().min_by(by_height), range.clone().max_by(by_height)];
        let mut indices: Vec<usize> = ends.into_iter().flatten().chain([range.start, range.end - 1]).collect();
        indices.sort_unstable();
        indices.dedup();
        kept.extend(indices.into_iter().map(|i| points[i]));
    }
    kept
}

/// The comparison of the learner's answer with the expected one, for a case of an exercise.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedModel {
    /// The name, such as `Case 2 of 3`; empty if there is only one case.
    pub name: String,
    pub is_right: bool,
    pub content: ComparedContent,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ComparedContent {
    Numbers(ComparedNumbers),
    Tables {
        /// The tables, in the order of [`SIDES`].
        table: TableModel,
        /// The largest absolute difference.
        largest: f64,
    },
    /// Two values whose difference is not computed, such as tables of different sizes.
    Apart {
        yours: OutputModel,
        expected: OutputModel,
        /// The reason why it is not computed; empty if there is no more to say than whether the answer is right.
        why: String,
    },
}

/// The answer, the expected value and their difference as text, for numbers and words such as `true`.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedNumbers {
    pub yours: String,
    pub expected: String,
    pub difference: String,
}

/// The labels of the three values.
pub const SIDES: [&str; 3] = ["yours", "expected", "difference"];

impl ComparedModel {
    pub fn all(compared: &[ComparedCase]) -> Vec<Self> {
        let of = compared.len();
        let name = |index: usize| if of == 1 { String::new() } else { format!("Case {} of {of}", index + 1) };
        let cases = compared.iter().enumerate();
        cases.map(|(i, case)| Self { name: name(i), is_right: case.is_right, content: content(case) }).collect()
    }

    /// Returns a short text on the difference, for the line of a case.
    pub fn summary(&self) -> String {
        match &self.content {
            ComparedContent::Numbers(numbers) => format!("difference {}", numbers.difference),
            ComparedContent::Tables { largest, .. } => format!("largest difference {}", rounded(*largest)),
            ComparedContent::Apart { why, .. } if !why.is_empty() => why.clone(),
            ComparedContent::Apart { .. } => (if self.is_right { "as expected" } else { "not as expected" }).to_owned(),
        }
    }
}

fn content(case: &ComparedCase) -> ComparedContent {
    let apart = |why: String| ComparedContent::Apart {
        yours: OutputModel::of(&case.yours),
        expected: OutputModel::of(&case.expected),
        why,
    };
    let numbers = |yours: String, expected: String, difference: String| {
        ComparedContent::Numbers(ComparedNumbers { yours, expected, difference })
    };
    match (&case.yours, &case.expected) {
        (Output::Number(yours), Output::Number(expected)) => {
            numbers(rounded(*yours), rounded(*expected), signed(yours - expected))
        }
        (Output::Number(yours), Output::Text(text)) if bound(text).is_some() => {
            let difference = bound(text).map_or_else(String::new, |bound| signed(yours - bound));
            numbers(rounded(*yours), text.to_string(), difference)
        }
        (Output::Table { tensor: yours, .. }, Output::Table { tensor: expected, .. }) => {
            if yours.shape().to_string() != expected.shape().to_string() {
                return apart(format!("shape {}, expected {}", yours.shape(), expected.shape()));
            }
            stacked(yours, expected).unwrap_or_else(|| apart(String::new()))
        }
        (Output::Text(yours), Output::Text(expected)) if [yours, expected].map(is_short) == [true; 2] => {
            let difference = if yours == expected { "none" } else { "differs" };
            numbers(yours.to_string(), expected.to_string(), difference.to_owned())
        }
        (Output::Number(_), Output::Table { tensor, .. }) => apart(format!("one number, expected {}", tensor.shape())),
        (Output::Text(_), Output::Table { tensor, .. }) => apart(format!("no tensor, expected {}", tensor.shape())),
        (Output::Text(_), Output::Number(_)) => apart("no number".to_owned()),
        (Output::Table { tensor, .. }, Output::Number(_)) => {
            apart(format!("shape {}, expected one number", tensor.shape()))
        }
        _ => apart(String::new()),
    }
}

/// Returns whether a text is short enough to be shown beside numbers.
fn is_short(text: &Arc<str>) -> bool {
    const CHARS_MAX: usize = 24;
    text.chars().count() <= CHARS_MAX && !text.contains('\n')
}

/// Returns the answer, the expected tensor and their difference as one tensor; `None` if it would have more axes than a
/// table can show.
fn stacked(yours: &Tensor, expected: &Tensor) -> Option<ComparedContent> {
    const AXES_MAX: usize = 3;
    if yours.rank() >= AXES_MAX {
        return None;
    }
    let difference: Vec<f64> = yours.entries().iter().zip(expected.entries()).map(|(a, b)| a - b).collect();
    let largest =
        difference.iter().fold(0.0_f64, |largest, x| if x.is_nan() { f64::NAN } else { largest.max(x.abs()) });
    let names: Arc<[String]> = SIDES.map(str::to_owned).into();
    let axes = std::iter::once(Axis::labelled(names)).chain(expected.axes().iter().cloned()).collect();
    let entries = [yours.entries(), expected.entries(), &difference].concat();
    let table = TableModel::of(&Arc::from(""), &Tensor::new(axes, entries));
    Some(ComparedContent::Tables { table, largest })
}

/// Returns the number in a bound such as `> 0.5` or `at most 3`; `None` if the text is not a bound.
fn bound(text: &str) -> Option<f64> {
    let number = ["> ", "< ", "at least ", "at most "].iter().find_map(|word| text.strip_prefix(word))?;
    number.trim().parse().ok()
}

/// Formats a number with four decimals, which is enough to see what a check with a tolerance sees.
fn rounded(number: f64) -> String {
    const SCALE: f64 = 1e4;
    let rounded = (number * SCALE).round() / SCALE;
    let is_lost = rounded == 0.0 && number != 0.0;
    readable(if is_lost || !rounded.is_finite() { number } else { rounded })
}

fn signed(number: f64) -> String {
    let text = rounded(number);
    if number > 0.0 { format!("+{text}") } else { text.replace('-', "−") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use attune_engine::code::{Labels, Tensor};

    #[test]
    fn a_number_has_four_digits_and_all_on_demand() {
        let numbers = [0.0, 6.0, 1.0 / 3.0, -1e5 / 3.0, -1234.5678, 0.1_f32.into(), 1e-9, 1e-7 / 3.0, 1.5e300];
        let shown = ["0", "6", "0.3333", "-33333", "-1234.5678", "0.1", "1e-9", "3.333e-8", "1.5e300"];
        assert_eq!(numbers.map(readable), shown);
        assert_eq!(
            [123_456_789_012.0, 0.982014, 0.9977158084756502].map(readable),
            ["123456789012", "0.982014", "0.9977"]
        );
        let NumberModel { shown, full: all } = NumberModel::of(-2.77e-17);
        assert_eq!((shown.as_str(), all.as_str()), ("≈ 0", "-2.77e-17"));
        let all = [1.0 / 3.0, f64::from(0.1_f32), 1e-9, 1e300].map(full);
        assert_eq!(all, ["0.3333333333333333", "0.1", "1e-9", "1e300"]);
        assert_eq!([f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(readable), ["NaN", "∞", "-∞"]);
    }

    #[test]
    fn a_table_has_the_name_of_the_variable_that_it_is() {
        let table = Output::Table { caption: "".into(), tensor: Tensor::vector(vec![1.0]) };
        let name = |source| match &OutputModel::all(source, std::slice::from_ref(&table))[..] {
            [OutputModel::Table(table)] => table.name.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(["let A = 1; A", "A // it", "A + 1", "f(A)", ""].map(name), ["A", "A", "", "", ""]);
    }

    #[test]
    fn a_long_text_is_cut_and_says_so() {
        let model = TextModel::of(&"é".repeat(30_000).into());
        assert_eq!(model.shown().chars().count(), 10_000);
        assert_eq!(model.left_out().unwrap(), "… and 20000 more characters, which are copied too");
        assert_eq!(TextModel::of(&"short".into()).left_out(), None);
    }

    #[test]
    fn what_help_says_is_known_for_it() {
        let help = |text: &str| TextModel::of(&text.into()).help.map(|help| help.name);
        let said = attune_engine::code::help("softmax").unwrap();
        assert_eq!([said.as_str(), "softmax(S)", "softmax(S)\n$5$"].map(help), [Some("softmax"), None, None]);
    }

    #[test]
    fn bars_are_shares_of_the_longest() {
        let words = [("river", 0.5), ("bank", -1.0), ("odd", f64::NAN)].map(|(word, x)| (word.to_owned(), x));
        let model = RankingModel::of(&words);
        let shares: Vec<_> = model.rows.iter().map(|row| (row.shown.as_str(), row.share)).collect();
        assert_eq!(shares, [("0.500", Some(0.5)), ("-1.000", Some(-1.0)), ("NaN", None)]);
        assert!(model.has_negative);
        assert_eq!(model.tsv(), "river\t0.5\nbank\t-1\nodd\tNaN\n");
    }

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

    fn plot(ys: Vec<f64>) -> PlotModel {
        let x = (0..ys.len()).map(|i| i as f64).collect();
        let line = PlotLine { name: "loss".to_owned(), y: ys.into() };
        PlotModel::of(&Plot { x, lines: vec![line], ..Plot::default() })
    }

    #[test]
    fn a_line_breaks_where_a_number_is_missing() {
        let model = plot(vec![1.0, 2.0, f64::NAN, 3.0, f64::INFINITY]);
        let lens: Vec<usize> = model.lines[0].pieces.iter().map(Vec::len).collect();
        assert_eq!((lens, model.left_out, model.lines[0].marked), (vec![2, 1], 2, true));
        assert_eq!(model.summary(), "Plot of a line: loss");
    }

    #[test]
    fn a_long_line_keeps_its_peaks() {
        let mut ys = vec![0.0; 200_000];
        (ys[12_345], ys[99_999]) = (5.0, -5.0);
        let model = plot(ys);
        let points = &model.lines[0].pieces[0];
        assert!(points.len() <= 4000 && points.is_sorted_by(|a, b| a[0] < b[0]));
        assert!(points.contains(&[12_345.0, 5.0]) && points.contains(&[99_999.0, -5.0]));
        assert_eq!(points.last(), Some(&[199_999.0, 0.0]));
    }

    fn compared(yours: Output, expected: Output) -> ComparedModel {
        ComparedModel::all(&[ComparedCase { yours, expected, is_right: false }]).remove(0)
    }

    fn vector(entries: &[f64]) -> Output {
        Output::Table { caption: "".into(), tensor: Tensor::vector(entries.to_vec()) }
    }

    #[test]
    fn numbers_stand_beside_their_difference() {
        let numbers = |yours, expected| match compared(Output::Number(yours), expected).content {
            ComparedContent::Numbers(ComparedNumbers { yours, expected, difference }) => [yours, expected, difference],
            other => panic!("{other:?}"),
        };
        assert_eq!(numbers(0.25, Output::Number(0.75)), ["0.25", "0.75", "−0.5"]);
        assert_eq!(numbers(1.0 / 3.0, Output::Number(0.0)), ["0.3333", "0", "+0.3333"]);
        assert_eq!(numbers(0.21, Output::Text("> 0.5".into())), ["0.21", "> 0.5", "−0.29"]);
    }

    #[test]
    fn tables_stand_one_below_the_other() {
        let model = compared(vector(&[1.0, 2.0]), vector(&[1.0, 4.0]));
        let ComparedContent::Tables { table, largest } = &model.content else { panic!("{model:?}") };
        assert_eq!(*largest, 2.0);
        assert_eq!([0, 1, 2].map(|row| table.row_name(row)), SIDES);
        assert_eq!([table.entry(0, 2, 0), table.entry(0, 2, 1)], [0.0, -2.0]);
        assert_eq!(model.summary(), "largest difference 2");
    }

    #[test]
    fn tables_of_two_sizes_say_so() {
        assert_eq!(compared(vector(&[1.0]), vector(&[1.0, 2.0])).summary(), "shape (1), expected (2)");
        let model = compared(Output::Number(1.0), vector(&[1.0, 2.0]));
        assert_eq!(model.summary(), "one number, expected (2)");
    }
}
