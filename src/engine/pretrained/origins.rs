//! The place of each tensor of the engine in a model's files, under the [names](super::names) of its family.

use std::collections::{BTreeMap, BTreeSet};

use super::config::{Config, Family};
use super::names::{End, NamedTensors, OF_HEAD, RowLayout, TensorLayout};
use super::refusal::{Refusal, quoted, shape};
use super::safetensors::{FileTensor, bytes_read, not_read};
use super::wrapper;
use crate::numerics::params::{Layer, Start, TensorId, TensorName};

/// The tensors of all files of a model, by their names in the family's table.
pub struct FoundTensors<'a> {
    family: Family,
    /// Number of blocks of the source.
    sources: usize,
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
        config: &Config,
        tensors: impl Iterator<Item = (usize, &'a FileTensor)> + Clone,
    ) -> Result<Self, Refusal> {
        let (family, sources) = (config.family, config.architecture.source_blocks.len());
        let wrapper = wrapper::find(family, tensors.clone().map(|(_, tensor)| &*tensor.name))?;
        let mut found = Self { family, sources, tensors: BTreeMap::new(), again: Vec::new(), wrapper };
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

    /// Returns the file's tensor for one of the engine, with the number of its file; `None` if the files do not have
    /// it.
    pub fn of(&self, id: TensorId) -> Option<(usize, &'a FileTensor)> {
        self.tensors.get(&self.family.written(id, self.sources)?).copied()
    }

    /// Returns whether a tensor of the files is a copy of another under an alias.
    pub fn is_again(&self, name: &str) -> bool {
        self.again.contains(&name)
    }

    /// Returns the name of a tensor of a layer that the config does not mention, because leaving it out would change
    /// the model; `None` if there is none.
    fn beyond(&self, wanted: &[(TensorId, usize, usize)], config: &Config) -> Option<&'a str> {
        let name_of = |id: TensorId| Some(&*self.of(id)?.1.name);
        // Several blocks may read one tensor, of which the engine keeps one.
        let wanted: BTreeSet<&str> = wanted.iter().filter_map(|(id, ..)| name_of(*id)).collect();
        let names = TensorName::ALL.iter().filter(|name| name.is_of_a_block());
        let blocks = config.architecture.numbered_blocks().count();
        let ids = names.flat_map(|name| (0..blocks).map(|block| name.of_block(block)));
        ids.filter_map(name_of).find(|name| !wanted.contains(name))
    }
}

impl Config {
    /// Returns the number of blocks of the source.
    fn sources(&self) -> usize {
        self.architecture.source_blocks.len()
    }

    /// Returns the layout of a tensor of the engine in the family's files.
    fn layout(&self, id: TensorId) -> TensorLayout {
        let Some((row, end)) = self.family.names().row(id, self.sources()) else { return TensorLayout::Same };
        let block = self.architecture.numbered_blocks().nth(id.block).map(|(_, block)| block);
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
            RowLayout::Stacked => {
                let height = |row: &NamedTensors| Some(block?.shape(end.of(row)?)?.1);
                let stack = || self.family.names().rows().filter(|other| other.name == row.name);
                let sum = |rows: &mut dyn Iterator<Item = &'static NamedTensors>| rows.filter_map(height).sum();
                let before = &mut stack().take_while(|other| end.of(other) != Some(id.name));
                TensorLayout::Rows { begin: sum(before), of: sum(&mut stack()) }
            }
        }
    }

    /// Returns whether a tensor has two dimensions in the files although it is initialised with one number, like a
    /// vector.
    fn is_matrix(&self, name: TensorName) -> bool {
        let has_source = self.sources() > 0;
        name == TensorName::DistanceBias || name == TensorName::LogitBias && has_source
    }

    /// Returns the name under which a tensor is written. For some tensors it is not the name in the table, depending on
    /// the family and on whether there are gates.
    fn renamed(&self, name: String) -> String {
        const LOGITS: [&str; 2] = ["final_logits.bias", "final_logits_bias"];
        const GATED: &str = ".wi_1.";
        if name == LOGITS[0] {
            return LOGITS[1].to_owned();
        }
        let is_gated = self.architecture.source_blocks.first().is_some_and(|block| block.gated);
        if self.family == Family::T5 && !is_gated { name.replace(GATED, ".wi.") } else { name }
    }

    /// Returns the given tensors of the engine in the form in which they are written, under the names that transformers
    /// uses. Those for which the family has no name are left out. `entry` returns an entry of a tensor of the engine.
    pub(super) fn tensors(
        &self,
        wanted: &[(TensorId, usize, usize)],
        entry: impl Fn(TensorId, usize, usize) -> f32,
    ) -> BTreeMap<String, NewTensor> {
        let prefix = self.family.names().prefixes[0];
        let mut tensors = BTreeMap::new();
        for &(id, rows, cols) in wanted {
            let Some(name) = self.family.written(id, self.sources()) else { continue };
            // Tensors of a head have no prefix.
            let is_of_model = id.name.layer() != Layer::Readout
                || matches!(id.name, TensorName::FinalNormGain | TensorName::FinalNormBias);
            let name = self.renamed(if is_of_model { format!("{prefix}{name}") } else { name });
            let is_vector = matches!(id.name.start(), Start::Zero | Start::One) && !self.is_matrix(id.name);
            let layout = self.layout(id);
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
                None => missing.extend(found.family.written(id, found.sources)),
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

/// Writes the first `count` of some names, and how many more there are.
fn some<'a>(mut names: impl Iterator<Item = &'a str>, count: usize) -> String {
    let mut listed: Vec<String> = names.by_ref().take(count).map(quoted).collect();
    let more = names.count();
    if more > 0 {
        listed.push(format!("{more} more"));
    }
    listed.join(", ")
}
