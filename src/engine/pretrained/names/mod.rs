//! The mapping from the tensors of a file to those of the engine: the names of each family, and their variants.
//!
//! The hub's oldest files call a norm's gain and bias `gamma` and `beta`. Files of a bare model have no prefix; those
//! of a model with a head have one. GPT-2 stores its matrices like the engine, (in, out), with queries, keys and values
//! side by side in one matrix. The others store each as (out, in), and some stack the rows of several in one matrix.

pub(super) mod tables;
mod wrapper;

use std::collections::{BTreeMap, BTreeSet};

use super::config::{Config, Family};
use super::refusal::{Refusal, quoted, shape};
use super::safetensors::{FileTensor, bytes_read, not_read};
use crate::numerics::params::{Layer, Start, TensorId, TensorName};

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
    tokens: usize,
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
    fn shape(self, (rows, cols): (usize, usize), is_vector: bool) -> Vec<usize> {
        let outputs = self.outputs(cols);
        match self {
            Self::Buckets(_) => vec![DistanceBuckets::COUNT, rows],
            _ if is_vector => vec![outputs],
            _ if self.is_turned() => vec![outputs, rows],
            _ => vec![rows, outputs],
        }
    }

    /// Returns the index in a file of an entry of the engine's tensor, which has `cols` columns.
    fn index(self, (row, col): (usize, usize), cols: usize, is_vector: bool) -> Vec<usize> {
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
    prefixes: &'static [&'static str],
    rows: &'static [&'static [NamedTensors]],
    /// Other names of some tensors with the usual ones, from other versions of transformers.
    aliases: &'static [(&'static str, &'static str)],
}

/// Tensors with a common name: `NAME.weight`, `NAME.bias`. `{}` is replaced by the number of the layer.
struct NamedTensors {
    weight: Option<TensorName>,
    bias: Option<TensorName>,
    name: &'static str,
    layout: RowLayout,
}

/// The layout of the weights of a row, before the sizes of a model are known.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowLayout {
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
const OF_HEAD: usize = 3;

/// The choice between the two tensors of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Weight,
    Bias,
}

impl End {
    fn of(self, row: &NamedTensors) -> Option<TensorName> {
        match self {
            Self::Weight => row.weight,
            Self::Bias => row.bias,
        }
    }

    fn suffix(self) -> &'static str {
        match self {
            Self::Weight => "weight",
            Self::Bias => "bias",
        }
    }
}

impl TensorNames {
    fn rows(&self) -> impl Iterator<Item = &'static NamedTensors> {
        self.rows.iter().copied().flatten()
    }

    fn row(&self, name: TensorName) -> Option<(&'static NamedTensors, End)> {
        let ends = |row| [End::Weight, End::Bias].map(|end| (row, end));
        self.rows().flat_map(ends).find(|(row, end)| end.of(row) == Some(name))
    }

    /// Returns a name in the form of the table.
    fn canonical(&self, name: &str) -> String {
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

/// The tensors of all files of a model, by the names of the tables.
pub struct FoundTensors<'a> {
    family: Family,
    tensors: BTreeMap<String, (usize, &'a FileTensor)>,
    /// Names of tensors that are copies of others under an alias.
    again: Vec<&'a str>,
    /// Prefix that a program put before all names.
    wrapper: Option<String>,
}

impl<'a> FoundTensors<'a> {
    /// Collects tensors, each with the number of its file.
    ///
    /// # Errors
    /// If two have the same name in the table, or the files have several models or an adapter.
    pub fn new(
        family: Family,
        tensors: impl Iterator<Item = (usize, &'a FileTensor)> + Clone,
    ) -> Result<Self, Refusal> {
        let wrapper = wrapper::find(family, tensors.clone().map(|(_, tensor)| &*tensor.name))?;
        let mut found = Self { family, tensors: BTreeMap::new(), again: Vec::new(), wrapper };
        for (file, tensor) in tensors {
            let own = found.wrapper.as_deref().and_then(|wrapper| tensor.name.strip_prefix(wrapper));
            let name = family.names().canonical(own.unwrap_or(&tensor.name));
            let Some((_, other)) = found.tensors.get(&name) else {
                found.tensors.insert(name, (file, tensor));
                continue;
            };
            // For example BERT's bias of the predictions, which may occur under both of its names.
            let is_alias = other.name != tensor.name && family.names().aliases.iter().any(|(_, of)| *of == name);
            if !is_alias {
                let both = format!("{} and {}", quoted(&other.name), quoted(&tensor.name));
                return Err(Refusal::new(both, "one of them", "both name the same tensor: download the model again"));
            }
            found.again.push(&tensor.name);
        }
        Ok(found)
    }

    /// Returns whether the files have a tensor of this name in the engine.
    pub fn has(&self, name: TensorName) -> bool {
        self.of(name.into()).is_some()
    }

    /// Returns the file's tensor for one of the engine, with the number of its file.
    pub fn of(&self, id: TensorId) -> Option<(usize, &'a FileTensor)> {
        self.tensors.get(&self.family.written(id)?).copied()
    }

    /// Returns a tensor of a layer that the config does not mention. Leaving it out would change the model.
    fn beyond(&self, wanted: &[(TensorId, usize, usize)], config: &Config) -> Option<&'a str> {
        let wanted: BTreeSet<TensorId> = wanted.iter().map(|(id, ..)| *id).collect();
        let names = TensorName::ALL.iter().filter(|name| name.is_of_a_block());
        let ids = names.flat_map(|name| (0..config.layers()).map(|layer| name.of_block(layer)));
        ids.filter(|id| !wanted.contains(id)).find_map(|id| Some(&*self.of(id)?.1.name))
    }
}

impl Family {
    /// Returns the family's name for a tensor of the engine.
    fn written(self, id: TensorId) -> Option<String> {
        let (row, end) = self.names().row(id.name)?;
        Some(format!("{}.{}", row.name.replace("{}", &id.block.to_string()), end.suffix()))
    }
}

impl Config {
    /// Returns the layout of a tensor of the engine in the family's files.
    fn layout(&self, id: TensorId) -> TensorLayout {
        let Some((row, end)) = self.family.names().row(id.name) else { return TensorLayout::Same };
        let block = self.architecture.blocks.get(id.block);
        match row.layout {
            RowLayout::Transposed if end == End::Weight => TensorLayout::Transposed,
            RowLayout::Same | RowLayout::Transposed => TensorLayout::Same,
            RowLayout::Third(at) => TensorLayout::Slice { at, of: 3 },
            RowLayout::OfHeads(at) => {
                let width = block.map_or(1, |block| block.attention.key_width);
                TensorLayout::Heads { at, of: OF_HEAD, width }
            }
            RowLayout::Pairs => {
                let attention = block.map(|block| &block.attention);
                let turned = attention.and_then(|it| it.rotary).map_or(0, |rotary| rotary.width);
                TensorLayout::Pairs { width: attention.map_or(1, |it| it.key_width), turned }
            }
            RowLayout::Buckets => {
                let tokens = block.and_then(|block| block.attention.distances).unwrap_or(1);
                TensorLayout::Buckets(DistanceBuckets { tokens })
            }
            RowLayout::Stacked => {
                let height = |row: &NamedTensors| Some(block?.shape(end.of(row)?)?.1);
                let stack = || self.family.names().rows().filter(|other| other.name == row.name);
                let sum = |rows: &mut dyn Iterator<Item = &'static NamedTensors>| rows.filter_map(height).sum();
                let before = &mut stack().take_while(|other| end.of(other) != Some(id.name));
                TensorLayout::Rows { begin: sum(before), of: sum(&mut stack()) }
            }
        }
    }

    /// Returns the tensors to be written for these of the engine, under the names that transformers uses. Those for
    /// which the family has no name are left out. `entry` returns an entry of a tensor of the engine.
    pub(super) fn tensors(
        &self,
        wanted: &[(TensorId, usize, usize)],
        entry: impl Fn(TensorId, usize, usize) -> f32,
    ) -> BTreeMap<String, NewTensor> {
        let prefix = self.family.names().prefixes[0];
        let mut tensors = BTreeMap::new();
        for &(id, rows, cols) in wanted {
            let Some(name) = self.family.written(id) else { continue };
            // Tensors of a head have no prefix.
            let is_of_model = id.name.layer() != Layer::Readout
                || matches!(id.name, TensorName::FinalNormGain | TensorName::FinalNormBias);
            let name = if is_of_model { format!("{prefix}{name}") } else { name };
            let (layout, is_vector) = (self.layout(id), matches!(id.name.start(), Start::Zero | Start::One));
            let shape = layout.shape((rows, cols), is_vector);
            let tensor = tensors.entry(name).or_insert_with(|| NewTensor::zeros(shape));
            for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))) {
                let index = layout.index((row, col), cols, is_vector);
                let place = index.iter().zip(&tensor.shape).fold(0, |place, (at, size)| place * size + at);
                tensor.numbers[place] = entry(id, row, col);
            }
        }
        tensors
    }
}

/// A row-major tensor to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct NewTensor {
    pub shape: Vec<usize>,
    pub numbers: Vec<f32>,
}

impl NewTensor {
    fn zeros(shape: Vec<usize>) -> Self {
        Self { numbers: vec![0.0; shape.iter().product()], shape }
    }
}

/// The place in the files that a tensor of the engine comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// Number of the file.
    pub file: usize,
    /// Name of the tensor in the file.
    pub tensor: String,
    /// Shape of the tensor in the file.
    pub shape: Vec<usize>,
    pub layout: TensorLayout,
    /// Number of columns of the engine's tensor.
    cols: usize,
}

impl Origin {
    /// Returns the index in the file's tensor of an entry of the engine's.
    pub fn index(&self, row: usize, col: usize) -> Vec<usize> {
        // A vector of the file is a row in the engine.
        self.layout.index((row, col), self.cols, self.shape.len() == 1)
    }
}

/// The origin of each tensor of a model; the word table is [`TensorName::Embedding`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins {
    /// Origins, in the order of the engine.
    pub of: BTreeMap<TensorId, Origin>,
    /// Names of the files' tensors that are not used, sorted.
    pub skipped: Vec<String>,
    /// Prefix that a program put before the names, such as `_orig_mod.`.
    pub wrapper: Option<String>,
}

impl Origins {
    /// Finds every tensor of the given shapes. One for which the family has no name stays zero, such as the bias of
    /// GPT-2's readout.
    ///
    /// # Errors
    /// If one is missing, has another shape or an unsupported number type, or if a layer has more tensors than the
    /// config says.
    pub fn find(
        found: &FoundTensors<'_>,
        wanted: &[(TensorId, usize, usize)],
        config: &Config,
    ) -> Result<Self, Refusal> {
        let mut origins = Self::default();
        let mut missing = Vec::new();
        for &(id, rows, cols) in wanted {
            match found.of(id) {
                Some((file, tensor)) => {
                    origins.of.insert(id, origin(file, tensor, config.layout(id), (rows, cols), config)?);
                }
                None => missing.extend(found.family.written(id)),
            }
        }
        // Several tensors of the engine may come from one of the files.
        let mut distinct = BTreeSet::new();
        missing.retain(|name: &String| distinct.insert(name.clone()));
        if !missing.is_empty() {
            return Err(not_there(&missing, found, config));
        }
        if let Some(name) = found.beyond(wanted, config) {
            let found = "a part of a layer that config.json does not mention";
            return Err(Refusal::new(found, format!("the tensors of {config}"), MISMATCH).of_tensor(name));
        }
        let used: BTreeSet<&str> = origins.of.values().map(|origin| &*origin.tensor).collect();
        let others = found.tensors.values().map(|(_, tensor)| &*tensor.name).filter(|name| !used.contains(name));
        let mut skipped: Vec<String> = others.chain(found.again.iter().copied()).map(str::to_owned).collect();
        skipped.sort();
        origins.skipped = skipped;
        origins.wrapper.clone_from(&found.wrapper);
        Ok(origins)
    }
}

fn origin(
    file: usize,
    tensor: &FileTensor,
    layout: TensorLayout,
    (rows, cols): (usize, usize),
    config: &Config,
) -> Result<Origin, Refusal> {
    let expected = layout.shape((rows, cols), is_vector(tensor, layout, rows));
    if tensor.shape != expected {
        let expected = format!("{}, according to config.json: {config}", shape(&expected));
        let refusal = Refusal::new(format!("the shape {}", shape(&tensor.shape)), expected, MISMATCH);
        return Err(refusal.of_tensor(&tensor.name));
    }
    if bytes_read(tensor.dtype).is_none() {
        return Err(not_read(tensor.dtype).of_tensor(&tensor.name));
    }
    Ok(Origin { file, tensor: tensor.name.clone(), shape: expected, layout, cols })
}

/// Returns whether a tensor is a vector, which has one dimension in a file; a table or matrix of one row has two.
fn is_vector(tensor: &FileTensor, layout: TensorLayout, rows: usize) -> bool {
    layout != TensorLayout::Transposed && rows == 1 && tensor.shape.len() == 1
}

const MISMATCH: &str = "config.json and the weights belong to two models: download both again";

/// Returns the refusal of missing names. If there are many, it also lists some of the names that exist.
fn not_there(missing: &[String], found: &FoundTensors<'_>, config: &Config) -> Refusal {
    const MISSING_SHOWN: usize = 8;
    const FOUND_SHOWN: usize = 3;
    let lacking = format!("no {}", some(missing.iter().map(String::as_str), MISSING_SHOWN));
    let there = || some(found.tensors.values().map(|(_, tensor)| &*tensor.name), FOUND_SHOWN);
    let found = if missing.len() > MISSING_SHOWN && !found.tensors.is_empty() {
        format!("{lacking}, but {}", there())
    } else {
        lacking
    };
    let expected = format!("all tensors of {config}");
    Refusal::new(found, expected, "download the model again; if it is of another kind, attune does not open it")
}

/// Lists the first of some names, and how many more there are.
fn some<'a>(mut names: impl Iterator<Item = &'a str>, count: usize) -> String {
    let mut listed: Vec<String> = names.by_ref().take(count).map(quoted).collect();
    let more = names.count();
    if more > 0 {
        listed.push(format!("{more} more"));
    }
    listed.join(", ")
}
