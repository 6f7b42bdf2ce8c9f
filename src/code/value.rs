//! Values that a code cell defines, and outputs that it shows.

use std::fmt;
use std::sync::Arc;

use rhai::{Array, Dynamic, ImmutableString, Map};

use super::budget::NESTING_MAX;
use super::fault::Fault;
use super::tensor::Tensor;

/// A variable as the cells below see it.
#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    pub(super) value: Dynamic,
}

impl Variable {
    pub fn tensor(name: impl Into<String>, tensor: Tensor) -> Self {
        Self { name: name.into(), value: Dynamic::from(tensor) }
    }

    pub fn number(name: impl Into<String>, number: f64) -> Self {
        Self { name: name.into(), value: Dynamic::from(number) }
    }

    pub fn as_number(&self) -> Option<f64> {
        number(&self.value)
    }

    /// Bytes that keeping it takes, about.
    pub fn size(&self) -> usize {
        size_of_value(&self.value)
    }

    /// Lists within lists, more than anybody reads: each costs stack wherever it is copied or dropped.
    pub(super) fn is_too_deep(&self) -> bool {
        nests(&self.value, NESTING_MAX)
    }

    /// The value as a cell would show it; `None` for `()`.
    pub fn output(&self) -> Option<Output> {
        Output::of(&self.value)
    }

    pub fn as_tensor(&self) -> Option<Tensor> {
        self.value.clone().try_cast()
    }
}

fn size_of_value(value: &Dynamic) -> usize {
    let own = size_of::<Dynamic>();
    if let Some(tensor) = value.read_lock::<Tensor>() {
        own + size_of_val(tensor.entries())
    } else if let Some(text) = value.read_lock::<ImmutableString>() {
        own + text.len()
    } else {
        own + parts(value, size_of_value).into_iter().sum::<usize>()
    }
}

/// Whether lists are nested beyond this depth.
fn nests(value: &Dynamic, depth: usize) -> bool {
    let within = |part: &Dynamic| depth == 0 || nests(part, depth - 1);
    parts(value, within).contains(&true)
}

/// A property of each element of a list or a map.
fn parts<T>(value: &Dynamic, of: impl Fn(&Dynamic) -> T) -> Vec<T> {
    if let Some(list) = value.read_lock::<Array>() {
        list.iter().map(of).collect()
    } else if let Some(map) = value.read_lock::<Map>() {
        map.values().map(of).collect()
    } else {
        Vec::new()
    }
}

/// The same to the last part of a list, a map or a text. A tensor is replaced as a whole or stays, which Rhai sees to.
pub(super) fn is_same(a: &Dynamic, b: &Dynamic) -> bool {
    if let (Some(a), Some(b)) = (a.read_lock::<Array>(), b.read_lock::<Array>()) {
        return a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| is_same(a, b));
    }
    if let (Some(a), Some(b)) = (a.read_lock::<Map>(), b.read_lock::<Map>()) {
        let same = |((key, a), (other, b)): ((&_, &Dynamic), (&_, &Dynamic))| key == other && is_same(a, b);
        return a.len() == b.len() && a.iter().zip(b.iter()).all(same);
    }
    a.type_id() == b.type_id() && (a.is::<Tensor>() || a.to_string() == b.to_string())
}

/// The value as a number; whole numbers count.
pub(super) fn number(value: &Dynamic) -> Option<f64> {
    value.as_float().ok().or_else(|| value.as_int().ok().map(|x| x as f64))
}

/// A number or a word, as a sentence can contain it.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Number {
        value: f64,
        /// Code made a whole number, not a fraction that happens to be one.
        is_whole: bool,
    },
    Word(Arc<str>),
}

impl Value {
    /// # Errors
    /// If it is neither.
    pub(super) fn of(value: &Dynamic) -> Result<Self, Fault> {
        /// More is no word of a sentence.
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

/// One thing that a cell shows.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    Number(f64),
    Text(Arc<str>),
    /// A table with its caption, empty without one.
    Table {
        caption: Arc<str>,
        tensor: Tensor,
    },
    /// Words with a number each, such as neighbours with their similarities.
    Ranking(Arc<[(String, f64)]>),
    Plot(Plot),
    /// A picture, by the path of its file in the lesson's folder. Code has no files: who shows it reads it.
    Image(Arc<str>),
}

/// Lines over one horizontal axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    pub x: Arc<[f64]>,
    /// Each with its name.
    pub lines: Vec<(String, Arc<[f64]>)>,
}

/// Neighbours in the language: a list that prints as one.
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
    /// `None` for nothing, `()`.
    pub(super) fn of(value: &Dynamic) -> Option<Self> {
        if value.is_unit() {
            return None;
        }
        if let Some(number) = number(value) {
            return Some(Self::Number(number));
        }
        if let Some(tensor) = value.clone().try_cast::<Tensor>() {
            return Some(Self::Table { caption: "".into(), tensor });
        }
        if let Some(Ranking(words)) = value.clone().try_cast() {
            return Some(Self::Ranking(words));
        }
        Some(Self::Text(value.to_string().into()))
    }

    /// Bytes that keeping it takes, about.
    pub fn size(&self) -> usize {
        let number = size_of::<f64>();
        match self {
            Self::Number(_) => number,
            Self::Text(text) | Self::Image(text) => text.len(),
            Self::Table { caption, tensor } => caption.len() + tensor.len() * number,
            Self::Ranking(words) => words.iter().map(|(word, _)| word.len() + number).sum(),
            Self::Plot(plot) => {
                (plot.lines.len() + 1) * plot.x.len() * number
                    + plot.lines.iter().map(|(name, _)| name.len()).sum::<usize>()
            }
        }
    }
}
