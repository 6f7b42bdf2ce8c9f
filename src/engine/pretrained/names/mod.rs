//! The mapping from the tensors of a file to those of the engine: the names of each family, and their variants.
//!
//! The hub's oldest files call a norm's gain and bias `gamma` and `beta`. Files of a bare model have no prefix; those
//! of a model with a head have one. GPT-2 stores its matrices like the engine, (in, out), with queries, keys and values
//! side by side in one matrix. The others store each as (out, in), and some stack the rows of several in one matrix.

pub(super) mod tables;

use crate::numerics::params::{TensorId, TensorName};

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
    /// (out, in) with the rows of `of` tensors, interleaved head by head, `width` rows for each; `at` is the number of
    /// this tensor, from 0.
    Heads { at: usize, of: usize, width: usize },
    /// (out, in) with heads of `width` rows, of which the first `turned` are turned. The two rows of each pair are
    /// neighbours in the file; in the engine the first rows of all pairs come before the second ones.
    Pairs { width: usize, turned: usize },
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
            Self::Same | Self::Transposed | Self::Pairs { .. } => cols,
            Self::Slice { of, .. } | Self::Heads { of, .. } => of * cols,
            Self::Rows { of, .. } => of,
        }
    }

    /// Returns the number of consecutive outputs of the engine's tensor that are consecutive in the file too.
    fn run(self, cols: usize) -> usize {
        match self {
            Self::Heads { width, .. } => width,
            Self::Pairs { .. } => 1,
            _ => cols,
        }
    }

    /// Splits the outputs of the engine's tensor into runs that are consecutive in the file.
    pub(super) fn runs(self, cols: usize) -> impl Iterator<Item = OutputRun> {
        let count = self.run(cols).max(1);
        (0..cols).step_by(count).map(move |at| OutputRun { in_file: self.output(at, cols), in_engine: at, count })
    }

    /// Returns the index, in the file's tensor, of an output of the engine's tensor.
    fn output(self, col: usize, cols: usize) -> usize {
        match self {
            Self::Same | Self::Transposed => col,
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
            _ if is_vector => vec![outputs],
            _ if self.is_turned() => vec![outputs, rows],
            _ => vec![rows, outputs],
        }
    }

    /// Returns the index in a file of an entry of the engine's tensor, which has `cols` columns.
    pub(super) fn index(self, (row, col): (usize, usize), cols: usize, is_vector: bool) -> Vec<usize> {
        let output = self.output(col, cols);
        match self {
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
    /// Aliases of tensors from other versions of transformers, each with the usual name. An alias that begins with `*`
    /// stands for all names with this ending.
    pub aliases: &'static [(&'static str, &'static str)],
}

/// Tensors with a common name: `NAME.weight`, `NAME.bias`. `{}` is replaced by the number of the layer.
pub(super) struct NamedTensors {
    weight: Option<TensorName>,
    bias: Option<TensorName>,
    pub name: &'static str,
    pub layout: RowLayout,
    pub stack: Stack,
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
}

/// The blocks that a row names: those of a model of one tower, or one of the three kinds of a model with a source.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stack {
    /// Every layer is a block.
    Layers,
    /// The layers of the source.
    Source,
    /// The self-attention of the decoder's layers.
    Own,
    /// The cross-attention of the decoder's layers, and the feed-forward layer after it.
    Cross,
}

impl Stack {
    /// Returns the kind of a block, counted over all blocks, and the number of its layer, in a model whose source has
    /// `sources` blocks.
    pub fn of(block: usize, sources: usize) -> (Self, usize) {
        match block.checked_sub(sources) {
            _ if sources == 0 => (Self::Layers, block),
            None => (Self::Source, block),
            Some(block) if block.is_multiple_of(2) => (Self::Own, block / 2),
            Some(block) => (Self::Cross, block / 2),
        }
    }
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

    /// Returns the row of a tensor of the engine, in a model whose source has `sources` blocks; `None` if the family
    /// has no name for it.
    pub fn row(&self, id: TensorId, sources: usize) -> Option<(&'static NamedTensors, End)> {
        let ends = |row| [End::Weight, End::Bias].map(|end| (row, end));
        let (stack, _) = Stack::of(id.block, sources);
        let is_there = |row: &NamedTensors| !id.name.is_of_a_block() || row.stack == stack;
        self.rows().flat_map(ends).find(|(row, end)| end.of(row) == Some(id.name) && is_there(row))
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
        let usual = self.aliases.iter().find_map(|(alias, usual)| match alias.strip_prefix('*') {
            Some(end) => own.strip_suffix(end).map(|begin| format!("{begin}{usual}")),
            None => (*alias == own || *alias == name).then(|| (*usual).to_owned()),
        });
        usual.unwrap_or_else(|| own.to_owned())
    }
}
