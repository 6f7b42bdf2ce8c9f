//! Outputs as they are kept: within bounds, and checked when they come back.

use attune_engine::code::budget::{IMAGE_PATH_BYTES_MAX, OUTPUTS_MAX, PLOT_LINES_MAX, RANKED_MAX, TENSOR_ENTRIES_MAX};
use attune_engine::code::{Axis, Output, Plot, Tensor};
use serde::{Deserialize, Serialize};

use attune_engine::numbers;

/// The most that is saved of the outputs of one run, in bytes: a table of 360 by 360 ...
const RUN_BYTES_MAX: usize = 1 << 20;
/// ... and of all runs of a notebook, from the top.
const NOTEBOOK_BYTES_MAX: usize = 16 << 20;
/// Axes of a tensor.
const AXES_MAX: usize = 3;
/// Entries of the axes of a tensor that has none itself.
const EMPTY_AXES_MAX: usize = 1000;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SavedOutput {
    Number(#[serde(with = "numbers::one")] f64),
    Text(String),
    Table {
        #[serde(default)]
        caption: String,
        axes: Vec<SavedAxis>,
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
        lines: Vec<SavedLine>,
    },
    Image(String),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedAxis {
    pub len: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub labels: Option<Vec<String>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedLine {
    pub name: String,
    #[serde(with = "numbers::many")]
    pub y: Vec<f64>,
}

/// Bytes that may yet be kept.
pub(super) struct Allowance {
    left: usize,
}

impl Default for Allowance {
    fn default() -> Self {
        Self { left: NOTEBOOK_BYTES_MAX }
    }
}

impl Allowance {
    pub(super) fn of_a_run(&mut self) -> RunAllowance<'_> {
        RunAllowance { left: RUN_BYTES_MAX, notebook: self }
    }
}

pub(super) struct RunAllowance<'a> {
    left: usize,
    notebook: &'a mut Allowance,
}

impl RunAllowance<'_> {
    /// The first outputs, as far as they fit.
    pub(super) fn keep(&mut self, outputs: &[Output]) -> Vec<SavedOutput> {
        let mut kept = Vec::new();
        for output in outputs {
            let bytes = output.size() + label_bytes(output);
            if bytes > self.left.min(self.notebook.left) {
                // What follows a gap would be misread.
                self.left = 0;
                break;
            }
            self.left -= bytes;
            self.notebook.left -= bytes;
            kept.push(SavedOutput::of(output));
        }
        kept
    }
}

fn label_bytes(output: &Output) -> usize {
    let Output::Table { tensor, .. } = output else { return 0 };
    tensor.axes().iter().flat_map(|axis| axis.labels.iter().flat_map(|labels| labels.iter())).map(String::len).sum()
}

impl SavedOutput {
    fn of(output: &Output) -> Self {
        match output {
            Output::Number(number) => Self::Number(*number),
            Output::Image(path) => Self::Image(path.to_string()),
            Output::Text(text) => Self::Text(text.to_string()),
            Output::Table { caption, tensor } => Self::Table {
                caption: caption.to_string(),
                axes: tensor.axes().iter().map(SavedAxis::of).collect(),
                entries: tensor.entries().to_vec(),
            },
            Output::Ranking(ranked) => {
                let (words, numbers) = ranked.iter().cloned().unzip();
                Self::Ranking { words, numbers }
            }
            Output::Plot(Plot { x, lines }) => {
                let line =
                    |(name, y): &(String, std::sync::Arc<[f64]>)| SavedLine { name: name.clone(), y: y.to_vec() };
                Self::Plot { x: x.to_vec(), lines: lines.iter().map(line).collect() }
            }
        }
    }

    /// `None` where one of them is nothing that code could have shown.
    pub(super) fn all_shown(outputs: &[Self]) -> Option<Vec<Output>> {
        // The last may say that others were left out.
        if outputs.len() > OUTPUTS_MAX + 1 {
            return None;
        }
        outputs.iter().map(Self::shown).collect()
    }

    pub(super) fn shown(&self) -> Option<Output> {
        Some(match self {
            Self::Number(number) => Output::Number(*number),
            Self::Image(path) => (path.len() <= IMAGE_PATH_BYTES_MAX).then(|| Output::Image(path.as_str().into()))?,
            Self::Text(text) => Output::Text(text.as_str().into()),
            Self::Table { caption, axes, entries } => {
                let lens = || axes.iter().map(|axis| axis.len);
                let product = lens().try_fold(1_usize, usize::checked_mul)?;
                let sum = lens().try_fold(0_usize, usize::checked_add)?;
                let fits = (1..=AXES_MAX).contains(&axes.len())
                    && product == entries.len()
                    && product <= TENSOR_ENTRIES_MAX
                    // Long axes without entries would cost time and show nothing.
                    && (product > 0 || sum <= EMPTY_AXES_MAX);
                let axes: Option<Vec<Axis>> = axes.iter().filter(|_| fits).map(SavedAxis::shown).collect();
                let axes = axes.filter(|_| fits)?;
                Output::Table { caption: caption.as_str().into(), tensor: Tensor::new(axes, entries.clone()) }
            }
            Self::Ranking { words, numbers } => {
                let ranked = words.iter().cloned().zip(numbers.iter().copied());
                let fits = words.len() == numbers.len() && words.len() <= RANKED_MAX;
                fits.then(|| Output::Ranking(ranked.collect()))?
            }
            Self::Plot { x, lines } => {
                let fits = lines.len() <= PLOT_LINES_MAX && lines.iter().all(|line| line.y.len() == x.len());
                let line = |SavedLine { name, y }: &SavedLine| (name.clone(), y.as_slice().into());
                let plot = || Plot { x: x.as_slice().into(), lines: lines.iter().map(line).collect() };
                fits.then(|| Output::Plot(plot()))?
            }
        })
    }
}

impl SavedAxis {
    fn of(axis: &Axis) -> Self {
        Self { len: axis.len, labels: axis.labels.as_deref().map(<[String]>::to_vec) }
    }

    fn shown(&self) -> Option<Axis> {
        match &self.labels {
            None => Some(Axis::plain(self.len)),
            Some(labels) => (labels.len() == self.len).then(|| Axis::labelled(labels.as_slice().into())),
        }
    }
}
