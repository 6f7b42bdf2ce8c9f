//! Outputs of a code cell: the words and ranges of each, made once for each run.

use std::sync::Arc;

use attune_engine::code::editor::highlight::{Kind, highlight};
use attune_engine::code::{Help, Output};

use super::plot::PlotModel;
use super::table::TableModel;

#[derive(Clone, Debug, PartialEq)]
pub enum OutputModel {
    Number(NumberModel),
    Text(TextModel),
    Table(TableModel),
    Ranking(RankingModel),
    Plot(PlotModel),
    /// A picture of the lesson's folder, by its path there.
    Image(Arc<str>),
}

impl OutputModel {
    pub fn of(output: &Output) -> Self {
        match output {
            Output::Number(number) => Self::Number(NumberModel { shown: short(*number), full: full(*number) }),
            Output::Text(text) => Self::Text(TextModel::of(text)),
            Output::Table { caption, tensor } => Self::Table(TableModel::of(caption, tensor)),
            Output::Ranking(words) => Self::Ranking(RankingModel::of(words)),
            Output::Plot(plot) => Self::Plot(PlotModel::of(plot)),
            Output::Image(path) => Self::Image(path.clone()),
        }
    }

    /// All that a cell of this text showed: a table that is the value of a variable has that name.
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

/// The variable that is a cell's last statement.
fn last_name(source: &str) -> Option<&str> {
    let mut spans: Vec<_> = highlight(source).into_iter().filter(|span| span.kind != Kind::Comment).collect();
    let name = spans.pop()?;
    let before = spans.pop().map(|span| &source[span.range]);
    (name.kind == Kind::Name && matches!(before, None | Some(";" | "}"))).then(|| &source[name.range])
}

#[derive(Clone, Debug, PartialEq)]
pub struct NumberModel {
    pub shown: String,
    /// Every digit that it has.
    pub full: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct TextModel {
    pub text: Arc<str>,
    /// Bytes of it that are shown; a copy has all.
    pub shown: usize,
    /// Reference that `help` printed.
    pub help: Option<&'static Help>,
}

impl TextModel {
    fn of(text: &Arc<str>) -> Self {
        /// More would be slow to lay out, and nobody reads it.
        const SHOWN_MAX: usize = 20_000;
        let shown = text.floor_char_boundary(SHOWN_MAX);
        Self { text: text.clone(), shown, help: Help::of_text(text) }
    }

    pub fn shown(&self) -> &str {
        &self.text[..self.shown]
    }

    /// Says how much is left out.
    pub fn left_out(&self) -> Option<String> {
        let left = self.text[self.shown..].chars().count();
        (left > 0).then(|| format!("… and {left} more characters, which a copy has too"))
    }
}

/// Words with a number and a bar each.
#[derive(Clone, Debug, PartialEq)]
pub struct RankingModel {
    pub rows: Vec<RankingRow>,
    /// Some bar goes to the left.
    pub has_negative: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RankingRow {
    pub word: String,
    pub number: f64,
    pub shown: String,
    /// Share of the longest bar, in [-1, 1]; `None` for NaN.
    pub share: Option<f32>,
}

impl RankingModel {
    fn of(words: &[(String, f64)]) -> Self {
        let extent = extent(words.iter().map(|(_, number)| *number));
        let rows: Vec<RankingRow> = words
            .iter()
            .map(|(word, number)| {
                let shown = if number.is_finite() { format!("{number:.3}") } else { short(*number) };
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

/// The largest distance from zero among the finite ones.
pub(super) fn extent(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.filter(|number| number.is_finite()).fold(0.0, |extent, number| extent.max(number.abs()))
}

/// In [-1, 1]; `None` for what is not finite.
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

/// Beyond these a number is written with its power of ten.
const PLAIN: std::ops::Range<f64> = 1e-4..1e7;

fn is_plain(number: f64) -> bool {
    number == 0.0 || PLAIN.contains(&number.abs())
}

/// Every digit that tells it from its neighbours; those of the model are of single precision.
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

/// Six digits that count, without zeros at the end.
pub fn short(number: f64) -> String {
    const DIGITS: i32 = 6;
    if let Some(text) = not_finite(number) {
        return text.to_owned();
    }
    if !is_plain(number) {
        let text = format!("{number:.*e}", DIGITS as usize - 1);
        let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{power}", without_zeros(digits));
    }
    let before_point = if number == 0.0 { 1 } else { number.abs().log10().floor() as i32 + 1 };
    let decimals = (DIGITS - before_point).max(0) as usize;
    without_zeros(&format!("{number:.decimals$}")).to_owned()
}

fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use attune_engine::code::Tensor;

    #[test]
    fn a_number_has_six_digits_and_all_on_demand() {
        let shown = [0.0, 6.0, 1.0 / 3.0, -1234.5678, 0.1_f32.into(), 1e-9, 1.5e300, 9_999_999.0].map(short);
        assert_eq!(shown, ["0", "6", "0.333333", "-1234.57", "0.1", "1e-9", "1.5e300", "9999999"]);
        let all = [1.0 / 3.0, f64::from(0.1_f32), 1e-9, 1e300].map(full);
        assert_eq!(all, ["0.3333333333333333", "0.1", "1e-9", "1e300"]);
        assert_eq!([f64::NAN, f64::INFINITY, f64::NEG_INFINITY].map(short), ["NaN", "∞", "-∞"]);
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
        assert_eq!(model.left_out().unwrap(), "… and 20000 more characters, which a copy has too");
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
}
