//! What a code cell hands on, and what it shows.

use std::sync::Arc;

use rhai::Dynamic;

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

    /// What it holds, as it would be shown.
    pub fn output(&self) -> Option<Output> {
        Output::of(&self.value)
    }

    pub fn as_number(&self) -> Option<f64> {
        number(&self.value)
    }

    pub fn as_tensor(&self) -> Option<Tensor> {
        self.value.clone().try_cast()
    }
}

/// A whole number is a number too.
pub(super) fn number(value: &Dynamic) -> Option<f64> {
    value.as_float().ok().or_else(|| value.as_int().ok().map(|x| x as f64))
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
            Self::Text(text) => text.len(),
            Self::Table { caption, tensor } => caption.len() + tensor.len() * number,
            Self::Ranking(words) => words.iter().map(|(word, _)| word.len() + number).sum(),
            Self::Plot(plot) => (plot.lines.len() + 1) * plot.x.len() * number,
        }
    }
}
