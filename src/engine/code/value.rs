//! Values that a code cell defines, outputs that it shows, and the serialised form of outputs. A file may contain
//! anything; [`Output::is_sound`] checks whether code could have shown it.

use std::collections::HashSet;
use std::fmt::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use rhai::{Array, Dynamic, Identifier, ImmutableString, Map};
use serde::{Deserialize, Serialize};

use super::fault::Fault;
use super::limits::{
    IMAGE_PATH_BYTES_MAX, NESTING_MAX, OUTPUT_BYTES_MAX, OUTPUTS_MAX, PLOT_LINES_MAX, RANKED_MAX, TENSOR_ENTRIES_MAX,
};
use super::model::CodePass;
use super::tensor::{Axis, Tensor};
use crate::json;

/// A variable as the cells below see it.
#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    /// Value, shared by all clones of the variable. Only a run copies it, and the copy counts towards the run's memory.
    pub(super) value: Arc<Dynamic>,
}

impl Variable {
    pub(super) fn new(name: impl Into<String>, value: Dynamic) -> Self {
        Self { name: name.into(), value: Arc::new(value) }
    }

    pub fn tensor(name: impl Into<String>, tensor: Tensor) -> Self {
        Self::new(name, Dynamic::from(tensor))
    }

    pub fn number(name: impl Into<String>, number: f64) -> Self {
        Self::new(name, Dynamic::from(number))
    }

    pub fn as_number(&self) -> Option<f64> {
        number(&self.value)
    }

    /// Returns whether lists are nested too deeply. Each level takes stack wherever the value is copied or dropped.
    pub(super) fn is_too_deep(&self) -> bool {
        nests(&self.value, NESTING_MAX)
    }

    /// Returns the value as a cell would show it, with its text cut to `bytes_max`; `None` for `()`.
    pub fn output(&self, bytes_max: usize) -> Option<Output> {
        Output::cut(&self.value, bytes_max)
    }

    pub fn as_tensor(&self) -> Option<Tensor> {
        self.value.read_lock::<Tensor>().map(|tensor| tensor.clone())
    }
}

/// Estimates the bytes of values. Memory that several of them share counts once.
pub(super) fn size_of_values<'a>(values: impl Iterator<Item = &'a Variable>) -> usize {
    let mut counted = HashSet::new();
    values.map(|variable| size_of_value(&variable.value, &mut counted)).sum()
}

fn size_of_value(value: &Dynamic, counted: &mut HashSet<*const u8>) -> usize {
    let own = size_of::<Dynamic>();
    if let Some(tensor) = value.read_lock::<Tensor>() {
        let entries = tensor.entries();
        own + size_of::<Tensor>() + if counted.insert(entries.as_ptr().cast()) { size_of_val(entries) } else { 0 }
    } else if let Some(text) = value.read_lock::<ImmutableString>() {
        own + if counted.insert(text.as_ptr()) { text.len() } else { 0 }
    } else if let Some(list) = value.read_lock::<Array>() {
        own + list.iter().map(|part| size_of_value(part, counted)).sum::<usize>()
    } else if let Some(map) = value.read_lock::<Map>() {
        let entry =
            |(key, part): (&Identifier, &Dynamic)| size_of::<Identifier>() + key.len() + size_of_value(part, counted);
        own + map.iter().map(entry).sum::<usize>()
    } else {
        own
    }
}

/// Returns whether lists and maps are nested beyond this depth.
fn nests(value: &Dynamic, depth: usize) -> bool {
    let within = |part: &Dynamic| depth == 0 || nests(part, depth - 1);
    if let Some(list) = value.read_lock::<Array>() {
        list.iter().any(within)
    } else {
        value.read_lock::<Map>().is_some_and(|map| map.values().any(within))
    }
}

/// Returns whether two values are the same, including all parts of lists and maps. Numbers are compared as text, so
/// that NaN equals NaN.
pub(super) fn is_same(a: &Dynamic, b: &Dynamic) -> bool {
    if let (Some(a), Some(b)) = (a.read_lock::<Array>(), b.read_lock::<Array>()) {
        return a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| is_same(a, b));
    }
    if let (Some(a), Some(b)) = (a.read_lock::<Map>(), b.read_lock::<Map>()) {
        let same = |((key, a), (other, b)): ((&_, &Dynamic), (&_, &Dynamic))| key == other && is_same(a, b);
        return a.len() == b.len() && a.iter().zip(b.iter()).all(same);
    }
    if let (Some(a), Some(b)) = (a.read_lock::<ImmutableString>(), b.read_lock::<ImmutableString>()) {
        // A long text may occur in lists many times, and copies of a list share it, so pointers are compared first.
        return a.as_ptr() == b.as_ptr() || *a == *b;
    }
    if let (Some(a), Some(b)) = (a.read_lock::<Tensor>(), b.read_lock::<Tensor>()) {
        return a.has_entries_of(&b);
    }
    a.type_id() == b.type_id() && a.to_string() == b.to_string()
}

/// A text that is cut to `bytes_max`. A list that contains one text many times can be far longer as text than in
/// memory.
struct ShortText {
    text: String,
    bytes_max: usize,
}

impl fmt::Write for ShortText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let left = self.bytes_max - self.text.len();
        if text.len() > left {
            self.text.push_str(&text[..text.floor_char_boundary(left)]);
            return Err(fmt::Error);
        }
        self.text.push_str(text);
        Ok(())
    }
}

/// Returns a value as text, and whether it was cut to `bytes_max`.
pub(super) fn words(value: &Dynamic, bytes_max: usize) -> (String, bool) {
    let mut short = ShortText { text: String::new(), bytes_max };
    let is_list = value.is_array() || value.is_map();
    let is_part = is_list || value.is::<CodePass>();
    let written = if is_part { write_part(&mut short, value, 0.0) } else { write!(short, "{value}") };
    (short.text, written.is_err())
}

/// Number of significant digits with which a computed number is written.
const DIGITS: usize = 4;
/// Largest number of significant digits of a number that was typed or rounded; it is written with all of them.
const CHOSEN_DIGITS: usize = 13;
/// Range outside which a number with a fraction is written with a power of ten.
const PLAIN: Range<f64> = 1e-4..1e7;
/// The first number with 16 digits before its point; not all whole numbers of that length are exact.
const WHOLE_MAX: f64 = 1e15;
/// Share of the largest number in the same list below which a number counts as a rounding error of 0.
const NOTHING: f64 = 1e-12;

/// Returns whether a number can be written with all its digits: it is whole, not finite, or was typed or rounded.
fn is_short(number: f64) -> bool {
    let digits = |text: String| text.bytes().take_while(|byte| *byte != b'e').filter(u8::is_ascii_digit).count();
    !number.is_finite()
        || number.fract() == 0.0 && number.abs() < WHOLE_MAX
        || digits(format!("{number:e}")) <= CHOSEN_DIGITS
}

/// Writes a number with the digits that a reader needs: all digits of one that was typed or rounded, four of any other.
/// Every number that cells show and every text that code makes of a number follows this rule. Numbers that are computed
/// with, compared and saved keep all digits.
pub fn readable(number: f64) -> String {
    match number {
        _ if number.is_nan() => return "NaN".to_owned(),
        f64::INFINITY => return "∞".to_owned(),
        f64::NEG_INFINITY => return "-∞".to_owned(),
        _ => {}
    }
    let is_plain = number == 0.0 || number.fract() == 0.0 && number.abs() < WHOLE_MAX || PLAIN.contains(&number.abs());
    match (is_short(number), is_plain) {
        (true, true) => format!("{number}"),
        (true, false) => format!("{number:e}"),
        (false, true) => {
            let before_point = number.abs().log10().floor() as i32 + 1;
            let decimals = usize::try_from(DIGITS as i32 - before_point).unwrap_or(0);
            without_zeros(&format!("{number:.decimals$}")).to_owned()
        }
        (false, false) => {
            let text = format!("{number:.*e}", DIGITS - 1);
            let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
            format!("{}e{power}", without_zeros(digits))
        }
    }
}

fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

/// Writes a number within a text, in a list whose largest magnitude is `extent`; a number that is tiny beside it
/// becomes `0.0`. Code writes whole floating-point numbers with a point.
pub(super) fn in_text(number: f64, extent: f64) -> String {
    match number {
        _ if number != 0.0 && number.abs() < NOTHING * extent => "0.0".to_owned(),
        _ if is_short(number) => format!("{number:?}"),
        _ => readable(number),
    }
}

/// Returns the largest magnitude of the finite numbers of a list.
pub(super) fn extent(list: &[Dynamic]) -> f64 {
    list.iter().filter_map(number).map(f64::abs).filter(|number| number.is_finite()).fold(0.0, f64::max)
}

/// Writes a value within a list whose largest number is `extent_around`: text in quotes, and a tensor as its shape.
fn write_part(to: &mut ShortText, value: &Dynamic, extent_around: f64) -> fmt::Result {
    if let Some(list) = value.read_lock::<Array>() {
        to.write_str("[")?;
        let largest = extent(&list);
        for (i, part) in list.iter().enumerate() {
            to.write_str(if i == 0 { "" } else { ", " })?;
            write_part(to, part, largest)?;
        }
        return to.write_str("]");
    }
    if let Some(map) = value.read_lock::<Map>() {
        to.write_str("#{")?;
        for (i, (key, part)) in map.iter().enumerate() {
            write!(to, "{}{key:?}: ", if i == 0 { "" } else { ", " })?;
            write_part(to, part, 0.0)?;
        }
        return to.write_str("}");
    }
    if let Some(pass) = value.read_lock::<CodePass>() {
        return write!(to, "{}", *pass);
    }
    match (value.read_lock::<Tensor>(), value.as_float()) {
        (Some(tensor), _) => write!(to, "tensor {}", tensor.shape()),
        (None, Ok(number)) => to.write_str(&in_text(number, extent_around)),
        (None, Err(_)) => write!(to, "{value:?}"),
    }
}

/// Returns the kind of a value, as messages name it.
pub(super) fn type_name(value: &Dynamic) -> &'static str {
    match value {
        _ if value.is::<Tensor>() => "tensor",
        _ if value.is::<CodePass>() => "pass",
        _ => value.type_name(),
    }
}

/// Returns the value as a number if it is one, whole or not.
pub(super) fn number(value: &Dynamic) -> Option<f64> {
    value.as_float().ok().or_else(|| value.as_int().ok().map(|x| x as f64))
}

/// A number or a word that a sentence can contain.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Number {
        value: f64,
        /// Whether the type in code is a whole number; a floating-point number without a fraction is not.
        is_whole: bool,
    },
    Word(Arc<str>),
}

impl Value {
    /// Converts a value that is a number or a text.
    ///
    /// # Errors
    /// If it is neither.
    pub(super) fn of(value: &Dynamic) -> Result<Self, Fault> {
        /// Largest number of characters of a word in a sentence.
        const CHARS_MAX: usize = 120;
        if let Some(number) = number(value) {
            return Ok(Self::Number { value: number, is_whole: value.is_int() });
        }
        if let Some(tensor) = value.read_lock::<Tensor>() {
            let fault = Fault::new(format!("a tensor of the shape {} is not one number", tensor.shape()));
            return Err(fault.hint("take one entry of it, as in `A[0][1, 2]`"));
        }
        let is_word = value.is_string() || value.is_char() || value.is_bool();
        match value.to_string() {
            word if is_word && word.chars().count() <= CHARS_MAX => Ok(Self::Word(word.into())),
            _ if is_word => Err(Fault::new(format!("a text of more than {CHARS_MAX} characters"))),
            _ if value.is_unit() => Err(Fault::new("this has no value")),
            _ => Err(Fault::new("this is neither a number nor a word")),
        }
    }
}

/// One output of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub enum Output {
    Number(f64),
    Text(Arc<str>),
    /// A table with its caption; the caption may be empty.
    Table {
        caption: Arc<str>,
        tensor: Tensor,
    },
    /// Words with a number each, such as neighbours with their similarities.
    Ranking(Arc<[(String, f64)]>),
    Plot(Plot),
    /// A picture, as the path of its file in the lesson's folder. Code cannot read files, so the picture is read when
    /// it is shown.
    Image(Arc<str>),
}

/// Lines over one horizontal axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plot {
    #[serde(with = "json::numbers")]
    pub x: Arc<[f64]>,
    pub lines: Vec<PlotLine>,
    /// Names of the horizontal and the vertical axis; empty if there are none.
    #[serde(default)]
    pub axes: [String; 2],
}

/// A line of a plot. Its name may be empty if it is the only one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlotLine {
    pub name: String,
    #[serde(with = "json::numbers")]
    pub y: Arc<[f64]>,
}

/// The value of `nearest` and `neighbours` in code: words with their similarities, which is shown as a ranking.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ranking(pub Arc<[(String, f64)]>);

impl fmt::Display for Ranking {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (word, similarity)) in self.0.iter().enumerate() {
            write!(f, "{}{word} {similarity:.3}", if i == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl Output {
    /// Converts a value to an output, or returns `None` for `()`.
    ///
    /// # Errors
    /// If its text is longer than a cell may show.
    pub(super) fn of(value: &Dynamic) -> Result<Option<Self>, Fault> {
        match Self::not_text(value) {
            Some(output) => Ok(Some(output)),
            None if value.is_unit() => Ok(None),
            None => match words(value, OUTPUT_BYTES_MAX) {
                (_, true) => Err(Self::too_much()),
                (text, false) => Ok(Some(Self::Text(text.into()))),
            },
        }
    }

    /// Returns the fault of a cell that shows too much.
    pub(super) fn too_much() -> Fault {
        let message = format!("this cell shows more than {OUTPUTS_MAX} outputs, or {OUTPUT_BYTES_MAX} bytes");
        Fault::new(message).hint("show less")
    }

    /// Converts a value to an output whose text is cut to `bytes_max`; `None` for `()`.
    fn cut(value: &Dynamic, bytes_max: usize) -> Option<Self> {
        let text = || {
            let (text, is_cut) = words(value, bytes_max);
            Self::Text(if is_cut { format!("{text} …").into() } else { text.into() })
        };
        Self::not_text(value).or_else(|| (!value.is_unit()).then(text))
    }

    fn not_text(value: &Dynamic) -> Option<Self> {
        if let Some(number) = number(value) {
            return Some(Self::Number(number));
        }
        if let Some(tensor) = value.read_lock::<Tensor>() {
            return Some(Self::Table { caption: "".into(), tensor: tensor.clone() });
        }
        value.read_lock::<Ranking>().map(|ranking| Self::Ranking(ranking.0.clone()))
    }

    /// Estimates the bytes that keeping the output takes.
    pub fn size(&self) -> usize {
        let number = size_of::<f64>();
        match self {
            Self::Number(_) => number,
            Self::Text(text) | Self::Image(text) => text.len(),
            Self::Table { caption, tensor } => caption.len() + tensor.len() * number,
            Self::Ranking(words) => words.iter().map(|(word, _)| word.len() + number).sum(),
            Self::Plot(plot) => {
                (plot.lines.len() + 1) * plot.x.len() * number
                    + plot.lines.iter().map(|line| line.name.len()).sum::<usize>()
            }
        }
    }
}

/// Largest number of axes of a tensor.
const AXES_MAX: usize = 3;
/// Largest sum of the lengths of the axes of a tensor without entries.
const EMPTY_AXES_MAX: usize = 1000;

#[derive(Serialize, Deserialize)]
pub(super) enum Written {
    Number(#[serde(with = "json::number")] f64),
    Text(#[serde(with = "json::shared")] Arc<str>),
    Table {
        #[serde(default)]
        caption: String,
        axes: Vec<Axis>,
        #[serde(with = "json::numbers")]
        entries: Vec<f64>,
    },
    Ranking {
        words: Vec<String>,
        #[serde(with = "json::numbers")]
        numbers: Vec<f64>,
    },
    Plot(Plot),
    Image(#[serde(with = "json::shared")] Arc<str>),
}

impl From<Output> for Written {
    fn from(output: Output) -> Self {
        match output {
            Output::Number(number) => Self::Number(number),
            Output::Text(text) => Self::Text(text),
            Output::Image(path) => Self::Image(path),
            Output::Plot(plot) => Self::Plot(plot),
            Output::Table { caption, tensor } => Self::Table {
                caption: caption.to_string(),
                axes: tensor.axes().to_vec(),
                entries: tensor.entries().to_vec(),
            },
            Output::Ranking(ranked) => {
                let (words, numbers) = ranked.iter().cloned().unzip();
                Self::Ranking { words, numbers }
            }
        }
    }
}

impl From<Written> for Output {
    fn from(written: Written) -> Self {
        match written {
            Written::Number(number) => Self::Number(number),
            Written::Text(text) => Self::Text(text),
            Written::Image(path) => Self::Image(path),
            Written::Plot(plot) => Self::Plot(plot),
            Written::Table { caption, axes, entries } => {
                Self::Table { caption: caption.into(), tensor: Tensor::unchecked(axes, entries) }
            }
            Written::Ranking { words, numbers } if words.len() == numbers.len() => {
                Self::Ranking(words.into_iter().zip(numbers).collect())
            }
            // The numbers of words and numbers differ, so this becomes a table without axes, which is not sound.
            Written::Ranking { numbers, .. } => {
                Self::Table { caption: "".into(), tensor: Tensor::unchecked(Vec::new(), numbers) }
            }
        }
    }
}

impl Output {
    /// Returns whether code could have shown this output.
    pub fn is_sound(&self) -> bool {
        match self {
            Self::Number(_) | Self::Text(_) => true,
            Self::Image(path) => path.len() <= IMAGE_PATH_BYTES_MAX,
            Self::Table { tensor, .. } => tensor.is_sound(),
            Self::Ranking(ranked) => ranked.len() <= RANKED_MAX,
            Self::Plot(Plot { x, lines, .. }) => {
                lines.len() <= PLOT_LINES_MAX && lines.iter().all(|line| line.y.len() == x.len())
            }
        }
    }
}

impl Tensor {
    fn is_sound(&self) -> bool {
        let (axes, entries) = (self.axes(), self.entries().len());
        let lens = || axes.iter().map(|axis| axis.len);
        let product = lens().try_fold(1_usize, usize::checked_mul);
        let sum = lens().try_fold(0_usize, usize::checked_add);
        (1..=AXES_MAX).contains(&axes.len())
            && product == Some(entries)
            && entries <= TENSOR_ENTRIES_MAX
            // Long axes without entries would take time and show nothing.
            && (entries > 0 || sum.is_some_and(|sum| sum <= EMPTY_AXES_MAX))
            && axes.iter().all(|axis| axis.labels.as_ref().is_none_or(|labels| labels.len() == axis.len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_texts_are_readable_and_those_that_were_rounded_stay() {
        let text = |source| match &crate::code::run(source, &crate::code::Scope::default()).outputs[..] {
            [Output::Text(text)] => text.to_string(),
            other => panic!("{other:?}"),
        };
        assert_eq!(text("[0.1 + 0.2, 1.0 / 3.0, 5.0, (0.1 + 0.2 - 0.3) / 1000000.0]"), "[0.3, 0.3333, 5.0, 0.0]");
        assert_eq!(
            text("`${2.0 / 3.0} and ${round(2.0 / 3.0, 12)} and ${1e-7 / 3.0}`"),
            "0.6667 and 0.666666666667 and 3.333e-8"
        );
        assert_eq!(text("print(2.0 / 3.0)"), "0.6667");
    }
}
