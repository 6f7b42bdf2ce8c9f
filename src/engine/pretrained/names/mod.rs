//! The mapping from the tensors of a file to those of the engine: the names of each family, and their variants.
//!
//! The hub's oldest files call a norm's gain and bias `gamma` and `beta`. Files of a bare model have no prefix; those
//! of a model with a head have one. GPT-2 stores its matrices like the engine, (in, out), with queries, keys and values
//! side by side in one matrix. The others store each as (out, in), and some stack the rows of several in one matrix.

pub(super) mod tables;

use crate::numerics::params::TensorName;

/// The layout of a tensor of the engine within a tensor of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TensorLayout {
    /// The same entries in the same order.
    Same,
    /// (out, in), where the engine has (in, out).
    Transposed,
    /// One of `of` tensors of the same width that are side by side; `at` counts from 0.
    Slice { at: usize, of: usize },
    /// Rows from `begin` on, of a stack (out, in) of `of` rows.
    Rows { begin: usize, of: usize },
    /// (out, in) with the rows of `of` tensors, interleaved head by head, each `width` rows wide; `at` is the number of
    /// this tensor, from 0.
    Heads { at: usize, of: usize, width: usize },
    /// (out, in) with heads of `width` rows, of which the first `turned` are turned. The two rows of each pair are
    /// neighbours in the file; in the engine the first rows of all pairs come before the second ones.
    Pairs { width: usize, turned: usize },
    /// A row for each bucket of distances and a column for each head; the engine has a number for each head and
    /// distance.
    Buckets(DistanceBuckets),
}

/// The distances in sentences of at most `tokens` tokens, divided into 32 buckets, half of them for later words. In
/// each half, the first buckets are of one distance each and the others grow logarithmically (Raffel et al. 2020, arXiv
/// 1910.10683, section 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DistanceBuckets {
    pub(super) tokens: usize,
}

impl DistanceBuckets {
    pub const COUNT: usize = 32;
    /// Distance from which all are in the last bucket.
    const FAR: f32 = 128.0;

    /// Returns the bucket of a distance's index in the engine, which begins with the key furthest before its query.
    pub(super) fn bucket(self, distance: usize) -> usize {
        let (middle, half) = (self.tokens - 1, Self::COUNT / 2);
        let (exact, far) = (half / 2, distance.abs_diff(middle));
        let within = if far < exact {
            far
        } else {
            // In single precision, as in training.
            let share = (far as f32 / exact as f32).ln() / (Self::FAR / exact as f32).ln();
            (exact + (share * (half - exact) as f32) as usize).min(half - 1)
        };
        if distance > middle { half + within } else { within }
    }
}

/// Outputs that are consecutive both in the file and in the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OutputRun {
    pub in_file: usize,
    pub in_engine: usize,
    pub count: usize,
}

impl TensorLayout {
    /// Returns whether a matrix of the file has a row for each output.
    pub(super) fn is_turned(self) -> bool {
        matches!(self, Self::Transposed | Self::Rows { .. } | Self::Heads { .. } | Self::Pairs { .. })
    }

    /// Returns the number of outputs in the file of a tensor that has `cols` in the engine.
    fn outputs(self, cols: usize) -> usize {
        match self {
            Self::Same | Self::Transposed | Self::Pairs { .. } | Self::Buckets(_) => cols,
            Self::Slice { of, .. } | Self::Heads { of, .. } => of * cols,
            Self::Rows { of, .. } => of,
        }
    }

    /// Returns the number of consecutive outputs of the engine's tensor that are consecutive in the file too.
    fn run(self, cols: usize) -> usize {
        match self {
            Self::Heads { width, .. } => width,
            Self::Pairs { .. } | Self::Buckets(_) => 1,
            _ => cols,
        }
    }

    /// Splits the outputs of the engine's tensor into runs that are consecutive in the file.
    pub(super) fn runs(self, cols: usize) -> impl Iterator<Item = OutputRun> {
        let count = self.run(cols).max(1);
        (0..cols).step_by(count).map(move |at| OutputRun { in_file: self.output(at, cols), in_engine: at, count })
    }

    /// Returns the index in the file of an output of the engine.
    fn output(self, col: usize, cols: usize) -> usize {
        match self {
            Self::Same | Self::Transposed => col,
            Self::Buckets(buckets) => buckets.bucket(col),
            Self::Slice { at, .. } => at * cols + col,
            Self::Rows { begin, .. } => begin + col,
            Self::Heads { at, of, width } => (col / width * of + at) * width + col % width,
            Self::Pairs { width, turned } => {
                let (head, within, half) = (col / width, col % width, turned / 2);
                let in_file = match within {
                    _ if within >= turned => within,
                    _ if within < half => 2 * within,
                    _ => 2 * (within - half) + 1,
                };
                head * width + in_file
            }
        }
    }

    /// Returns the shape in a file of a tensor of the engine.
    pub(super) fn shape(self, (rows, cols): (usize, usize), is_vector: bool) -> Vec<usize> {
        let outputs = self.outputs(cols);
        match self {
            Self::Buckets(_) => vec![DistanceBuckets::COUNT, rows],
            _ if is_vector => vec![outputs],
            _ if self.is_turned() => vec![outputs, rows],
            _ => vec![rows, outputs],
        }
    }

    /// Returns the index in a file of an entry of the engine's tensor, which has `cols` columns.
    pub(super) fn index(self, (row, col): (usize, usize), cols: usize, is_vector: bool) -> Vec<usize> {
        let output = self.output(col, cols);
        match self {
            Self::Buckets(_) => vec![output, row],
            _ if is_vector => vec![output],
            _ if self.is_turned() => vec![output, row],
            _ => vec![row, output],
        }
    }
}

/// The names of a family's tensors.
pub(super) struct TensorNames {
    /// Prefixes that a model's own tensors may have, but not those of its head; the first is written.
    pub prefixes: &'static [&'static str],
    rows: &'static [&'static [NamedTensors]],
    /// Other names of some tensors with the usual ones, from other versions of transformers.
    pub aliases: &'static [(&'static str, &'static str)],
}

/// Tensors with a common name: `NAME.weight`, `NAME.bias`. `{}` is replaced by the number of the layer.
pub(super) struct NamedTensors {
    weight: Option<TensorName>,
    bias: Option<TensorName>,
    pub name: &'static str,
    pub layout: RowLayout,
}

/// The layout of the weights of a row, before the sizes of a model are known.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum RowLayout {
    Same,
    Transposed,
    /// One of three tensors side by side.
    Third(usize),
    /// Rows of a stack, after those of earlier rows of the same name.
    Stacked,
    /// One of three tensors, head by head.
    OfHeads(usize),
    /// Rows with the two of each turned pair as neighbours.
    Pairs,
    /// Numbers of distances in buckets.
    Buckets,
}

/// Number of tensors that each head has rows of: queries, keys and values, in GPT-NeoX.
pub(super) const OF_HEAD: usize = 3;

/// The choice between the two tensors of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Weight,
    Bias,
}

impl End {
    pub fn of(self, row: &NamedTensors) -> Option<TensorName> {
        match self {
            Self::Weight => row.weight,
            Self::Bias => row.bias,
        }
    }

    pub fn suffix(self) -> &'static str {
        match self {
            Self::Weight => "weight",
            Self::Bias => "bias",
        }
    }
}

impl TensorNames {
    pub fn rows(&self) -> impl Iterator<Item = &'static NamedTensors> {
        self.rows.iter().copied().flatten()
    }

    pub fn row(&self, name: TensorName) -> Option<(&'static NamedTensors, End)> {
        let ends = |row| [End::Weight, End::Bias].map(|end| (row, end));
        self.rows().flat_map(ends).find(|(row, end)| end.of(row) == Some(name))
    }

    /// Returns a name in the form of the table.
    pub fn canonical(&self, name: &str) -> String {
        let longest = self.prefixes.iter().filter(|prefix| name.starts_with(**prefix)).max_by_key(|it| it.len());
        let own = longest.map_or(name, |prefix| &name[prefix.len()..]);
        if let Some(norm) = own.strip_suffix("LayerNorm.gamma") {
            return format!("{norm}LayerNorm.weight");
        }
        if let Some(norm) = own.strip_suffix("LayerNorm.beta") {
            return format!("{norm}LayerNorm.bias");
        }
        let alias = self.aliases.iter().find(|(alias, _)| *alias == own || *alias == name);
        alias.map_or(own, |(_, name)| name).to_owned()
    }
}
