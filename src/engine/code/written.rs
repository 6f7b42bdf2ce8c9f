//! The written form of outputs. What is read may be anything: [`Output::is_sound`] tells what code could have shown.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::budget::{IMAGE_PATH_BYTES_MAX, PLOT_LINES_MAX, RANKED_MAX, TENSOR_ENTRIES_MAX};
use super::tensor::{Axis, Tensor};
use super::value::{Output, Plot};
use crate::numbers;

/// Axes of a tensor.
const AXES_MAX: usize = 3;
/// Entries of the axes of a tensor that has none itself.
const EMPTY_AXES_MAX: usize = 1000;

#[derive(Serialize, Deserialize)]
pub(super) enum Written {
    Number(#[serde(with = "numbers::one")] f64),
    Text(String),
    Table {
        #[serde(default)]
        caption: String,
        axes: Vec<Axis>,
        #[serde(with = "numbers::many")]
        entries: Vec<f64>,
    },
    Ranking {
        words: Vec<String>,
        #[serde(with = "numbers::many")]
        numbers: Vec<f64>,
    },
    Plot {
        #[serde(with = "numbers::many")]
        x: Vec<f64>,
        lines: Vec<Line>,
    },
    Image(String),
}

#[derive(Serialize, Deserialize)]
pub(super) struct Line {
    name: String,
    #[serde(with = "numbers::many")]
    y: Vec<f64>,
}

impl From<Output> for Written {
    fn from(output: Output) -> Self {
        match output {
            Output::Number(number) => Self::Number(number),
            Output::Text(text) => Self::Text(text.to_string()),
            Output::Image(path) => Self::Image(path.to_string()),
            Output::Table { caption, tensor } => Self::Table {
                caption: caption.to_string(),
                axes: tensor.axes().to_vec(),
                entries: tensor.entries().to_vec(),
            },
            Output::Ranking(ranked) => {
                let (words, numbers) = ranked.iter().cloned().unzip();
                Self::Ranking { words, numbers }
            }
            Output::Plot(Plot { x, lines }) => {
                let lines = lines.into_iter().map(|(name, y)| Line { name, y: y.to_vec() });
                Self::Plot { x: x.to_vec(), lines: lines.collect() }
            }
        }
    }
}

impl From<Written> for Output {
    fn from(written: Written) -> Self {
        match written {
            Written::Number(number) => Self::Number(number),
            Written::Text(text) => Self::Text(text.into()),
            Written::Image(path) => Self::Image(path.into()),
            Written::Table { caption, axes, entries } => {
                Self::Table { caption: caption.into(), tensor: Tensor::unchecked(axes, entries) }
            }
            Written::Ranking { words, numbers } if words.len() == numbers.len() => {
                Self::Ranking(words.into_iter().zip(numbers).collect())
            }
            // Which word has which number cannot be known: as a table without axes it is not sound.
            Written::Ranking { numbers, .. } => {
                Self::Table { caption: "".into(), tensor: Tensor::unchecked(Vec::new(), numbers) }
            }
            Written::Plot { x, lines } => {
                let lines = lines.into_iter().map(|Line { name, y }| (name, Arc::from(y)));
                Self::Plot(Plot { x: x.into(), lines: lines.collect() })
            }
        }
    }
}

impl Output {
    /// Whether code could have shown it.
    pub fn is_sound(&self) -> bool {
        match self {
            Self::Number(_) | Self::Text(_) => true,
            Self::Image(path) => path.len() <= IMAGE_PATH_BYTES_MAX,
            Self::Table { tensor, .. } => tensor.is_sound(),
            Self::Ranking(ranked) => ranked.len() <= RANKED_MAX,
            Self::Plot(Plot { x, lines }) => {
                lines.len() <= PLOT_LINES_MAX && lines.iter().all(|(_, y)| y.len() == x.len())
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
            // Long axes without entries would cost time and show nothing.
            && (entries > 0 || sum.is_some_and(|sum| sum <= EMPTY_AXES_MAX))
            && axes.iter().all(|axis| axis.labels.as_ref().is_none_or(|labels| labels.len() == axis.len))
    }
}
