//! Which tensor of a file is which of the engine: the names that each family has, and their variants.
//!
//! The hub's oldest files call a norm's gain and bias `gamma` and `beta`; files of a bare model have no prefix; those
//! of a model with a head have one. GPT-2 keeps its matrices as the engine does, (in, out), and queries, keys and
//! values side by side in one; the others keep each as (out, in).

use std::collections::{BTreeMap, BTreeSet};

use super::config::{Config, Family};
use super::refusal::{Refusal, quoted, shape};
use super::safetensors::{Tensor, bytes_read, not_read};
use crate::numerics::params::{Start, TensorId, TensorName};

/// How a tensor of the engine lies in one of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Entry by entry the same.
    Same,
    /// (out, in), where the engine has (in, out).
    Transposed,
    /// So many tensors of the same width stand side by side; of these, one, from 0.
    Slice { at: usize, of: usize },
}

impl Layout {
    /// The shape in a file of a tensor of the engine.
    fn shape(self, (rows, cols): (usize, usize), is_vector: bool) -> Vec<usize> {
        match self {
            Self::Same if is_vector => vec![cols],
            Self::Slice { of, .. } if is_vector => vec![of * cols],
            Self::Same => vec![rows, cols],
            Self::Transposed => vec![cols, rows],
            Self::Slice { of, .. } => vec![rows, of * cols],
        }
    }

    /// The row and the column in a file of an entry of the engine's tensor, which has so many columns.
    fn place(self, (row, col): (usize, usize), cols: usize) -> (usize, usize) {
        match self {
            Self::Same => (row, col),
            Self::Transposed => (col, row),
            Self::Slice { at, .. } => (row, at * cols + col),
        }
    }
}

/// The tensors of each family: the engine's name, the file's with `{}` for the number of the layer, the layout.
type Row = (TensorName, &'static str, Layout);

const fn third(at: usize) -> Layout {
    Layout::Slice { at, of: 3 }
}

const BERT: &[Row] = {
    use Layout::{Same, Transposed};
    use TensorName::*;
    &[
        (Embedding, "embeddings.word_embeddings.weight", Same),
        (Positions, "embeddings.position_embeddings.weight", Same),
        (Segments, "embeddings.token_type_embeddings.weight", Same),
        (EmbeddingNormGain, "embeddings.LayerNorm.weight", Same),
        (EmbeddingNormBias, "embeddings.LayerNorm.bias", Same),
        (QueryWeights, "encoder.layer.{}.attention.self.query.weight", Transposed),
        (QueryBias, "encoder.layer.{}.attention.self.query.bias", Same),
        (KeyWeights, "encoder.layer.{}.attention.self.key.weight", Transposed),
        (KeyBias, "encoder.layer.{}.attention.self.key.bias", Same),
        (ValueWeights, "encoder.layer.{}.attention.self.value.weight", Transposed),
        (ValueBias, "encoder.layer.{}.attention.self.value.bias", Same),
        (OutputWeights, "encoder.layer.{}.attention.output.dense.weight", Transposed),
        (OutputBias, "encoder.layer.{}.attention.output.dense.bias", Same),
        (AttentionNormGain, "encoder.layer.{}.attention.output.LayerNorm.weight", Same),
        (AttentionNormBias, "encoder.layer.{}.attention.output.LayerNorm.bias", Same),
        (HiddenWeights, "encoder.layer.{}.intermediate.dense.weight", Transposed),
        (HiddenBias, "encoder.layer.{}.intermediate.dense.bias", Same),
        (ForwardWeights, "encoder.layer.{}.output.dense.weight", Transposed),
        (ForwardBias, "encoder.layer.{}.output.dense.bias", Same),
        (ForwardNormGain, "encoder.layer.{}.output.LayerNorm.weight", Same),
        (ForwardNormBias, "encoder.layer.{}.output.LayerNorm.bias", Same),
        (TransformWeights, "cls.predictions.transform.dense.weight", Transposed),
        (TransformBias, "cls.predictions.transform.dense.bias", Same),
        (TransformNormGain, "cls.predictions.transform.LayerNorm.weight", Same),
        (TransformNormBias, "cls.predictions.transform.LayerNorm.bias", Same),
        (LogitWeights, "cls.predictions.decoder.weight", Transposed),
        (LogitBias, "cls.predictions.bias", Same),
    ]
};

const DISTILBERT: &[Row] = {
    use Layout::{Same, Transposed};
    use TensorName::*;
    &[
        (Embedding, "embeddings.word_embeddings.weight", Same),
        (Positions, "embeddings.position_embeddings.weight", Same),
        (EmbeddingNormGain, "embeddings.LayerNorm.weight", Same),
        (EmbeddingNormBias, "embeddings.LayerNorm.bias", Same),
        (QueryWeights, "transformer.layer.{}.attention.q_lin.weight", Transposed),
        (QueryBias, "transformer.layer.{}.attention.q_lin.bias", Same),
        (KeyWeights, "transformer.layer.{}.attention.k_lin.weight", Transposed),
        (KeyBias, "transformer.layer.{}.attention.k_lin.bias", Same),
        (ValueWeights, "transformer.layer.{}.attention.v_lin.weight", Transposed),
        (ValueBias, "transformer.layer.{}.attention.v_lin.bias", Same),
        (OutputWeights, "transformer.layer.{}.attention.out_lin.weight", Transposed),
        (OutputBias, "transformer.layer.{}.attention.out_lin.bias", Same),
        (AttentionNormGain, "transformer.layer.{}.sa_layer_norm.weight", Same),
        (AttentionNormBias, "transformer.layer.{}.sa_layer_norm.bias", Same),
        (HiddenWeights, "transformer.layer.{}.ffn.lin1.weight", Transposed),
        (HiddenBias, "transformer.layer.{}.ffn.lin1.bias", Same),
        (ForwardWeights, "transformer.layer.{}.ffn.lin2.weight", Transposed),
        (ForwardBias, "transformer.layer.{}.ffn.lin2.bias", Same),
        (ForwardNormGain, "transformer.layer.{}.output_layer_norm.weight", Same),
        (ForwardNormBias, "transformer.layer.{}.output_layer_norm.bias", Same),
        (TransformWeights, "vocab_transform.weight", Transposed),
        (TransformBias, "vocab_transform.bias", Same),
        (TransformNormGain, "vocab_layer_norm.weight", Same),
        (TransformNormBias, "vocab_layer_norm.bias", Same),
        (LogitWeights, "vocab_projector.weight", Transposed),
        (LogitBias, "vocab_projector.bias", Same),
    ]
};

const GPT2: &[Row] = {
    use Layout::{Same, Transposed};
    use TensorName::*;
    &[
        (Embedding, "wte.weight", Same),
        (Positions, "wpe.weight", Same),
        (AttentionNormGain, "h.{}.ln_1.weight", Same),
        (AttentionNormBias, "h.{}.ln_1.bias", Same),
        (QueryWeights, "h.{}.attn.c_attn.weight", third(0)),
        (QueryBias, "h.{}.attn.c_attn.bias", third(0)),
        (KeyWeights, "h.{}.attn.c_attn.weight", third(1)),
        (KeyBias, "h.{}.attn.c_attn.bias", third(1)),
        (ValueWeights, "h.{}.attn.c_attn.weight", third(2)),
        (ValueBias, "h.{}.attn.c_attn.bias", third(2)),
        (OutputWeights, "h.{}.attn.c_proj.weight", Same),
        (OutputBias, "h.{}.attn.c_proj.bias", Same),
        (ForwardNormGain, "h.{}.ln_2.weight", Same),
        (ForwardNormBias, "h.{}.ln_2.bias", Same),
        (HiddenWeights, "h.{}.mlp.c_fc.weight", Same),
        (HiddenBias, "h.{}.mlp.c_fc.bias", Same),
        (ForwardWeights, "h.{}.mlp.c_proj.weight", Same),
        (ForwardBias, "h.{}.mlp.c_proj.bias", Same),
        (FinalNormGain, "ln_f.weight", Same),
        (FinalNormBias, "ln_f.bias", Same),
        (LogitWeights, "lm_head.weight", Transposed),
    ]
};

impl Family {
    fn rows(self) -> &'static [Row] {
        match self {
            Self::Bert => BERT,
            Self::Gpt2 => GPT2,
            Self::DistilBert => DISTILBERT,
        }
    }

    /// The prefix of the names of a model that has a head.
    fn prefix(self) -> &'static str {
        match self {
            Self::Bert => "bert.",
            Self::Gpt2 => "transformer.",
            Self::DistilBert => "distilbert.",
        }
    }

    /// A name as it stands in the tables.
    fn canonical(self, name: &str) -> String {
        let name = name.strip_prefix(self.prefix()).unwrap_or(name);
        if let Some(norm) = name.strip_suffix("LayerNorm.gamma") {
            return format!("{norm}LayerNorm.weight");
        }
        match name.strip_suffix("LayerNorm.beta") {
            Some(norm) => format!("{norm}LayerNorm.bias"),
            // The same tensor under the name of the layer that adds it.
            None if name == "cls.predictions.decoder.bias" => "cls.predictions.bias".to_owned(),
            None => name.to_owned(),
        }
    }
}

/// The tensors of all files of a model, under the names of the tables.
pub struct Found<'a> {
    family: Family,
    tensors: BTreeMap<String, (usize, &'a Tensor)>,
    /// Other names for the same.
    again: Vec<&'a str>,
}

impl<'a> Found<'a> {
    /// The tensors with the number of the file that each is in.
    ///
    /// # Errors
    /// If two claim to be the same.
    pub fn new(family: Family, tensors: impl IntoIterator<Item = (usize, &'a Tensor)>) -> Result<Self, Refusal> {
        let mut found = Self { family, tensors: BTreeMap::new(), again: Vec::new() };
        for (file, tensor) in tensors {
            let name = family.canonical(&tensor.name);
            let Some((_, other)) = found.tensors.get(&name) else {
                found.tensors.insert(name, (file, tensor));
                continue;
            };
            // BERT's bias of the guesses, which may stand under both of its names.
            let is_alias = other.name != tensor.name && name == "cls.predictions.bias";
            if !is_alias {
                let both = format!("{} and {}", quoted(&other.name), quoted(&tensor.name));
                return Err(Refusal::new(both, "one of them", "both name the same tensor: download the model again"));
            }
            found.again.push(&tensor.name);
        }
        Ok(found)
    }

    /// Whether there is a tensor that the engine calls so.
    pub fn has(&self, name: TensorName) -> bool {
        self.of(name.into()).is_some()
    }

    /// A tensor of the engine, with the number of its file and its layout.
    pub fn of(&self, id: TensorId) -> Option<(usize, &'a Tensor, Layout)> {
        let (name, layout) = self.family.written(id)?;
        self.tensors.get(&name).map(|&(file, tensor)| (file, tensor, layout))
    }
}

impl Family {
    /// The name that the family has for a tensor of the engine.
    fn written(self, id: TensorId) -> Option<(String, Layout)> {
        let row = self.rows().iter().find(|(name, ..)| *name == id.name);
        row.map(|(_, written, layout)| (written.replace("{}", &id.block.to_string()), *layout))
    }

    /// The tensors of a file for these of the engine, under the names that transformers gives them; without what the
    /// family has no name for. `entry` is an entry of the engine's.
    pub(super) fn tensors(
        self,
        wanted: &[(TensorId, usize, usize)],
        entry: impl Fn(TensorId, usize, usize) -> f32,
    ) -> BTreeMap<String, NewTensor> {
        /// The names of heads have no prefix.
        const HEADS: [&str; 3] = ["cls.", "lm_head.", "vocab_"];
        let mut tensors = BTreeMap::new();
        for &(id, rows, cols) in wanted {
            let Some((name, layout)) = self.written(id) else { continue };
            let is_of_head = HEADS.iter().any(|head| name.starts_with(head));
            let name = if is_of_head { name } else { format!("{}{name}", self.prefix()) };
            let shape = layout.shape((rows, cols), matches!(id.name.start(), Start::Zero | Start::One));
            let tensor = tensors.entry(name).or_insert_with(|| NewTensor::zeros(shape));
            let width = tensor.shape.last().copied().unwrap_or(1);
            for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))) {
                let (to_row, to_col) = layout.place((row, col), cols);
                tensor.numbers[to_row * width + to_col] = entry(id, row, col);
            }
        }
        tensors
    }
}

/// A tensor to be written, row-major.
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

/// The source of a tensor of the engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The number of the file.
    pub file: usize,
    /// The name in that file.
    pub tensor: String,
    /// Its shape there.
    pub shape: Vec<usize>,
    pub layout: Layout,
    /// Columns of the engine's tensor.
    cols: usize,
}

impl Origin {
    /// The index in the file's tensor of one entry of the engine's.
    pub fn index(&self, row: usize, col: usize) -> Vec<usize> {
        let (row, col) = self.layout.place((row, col), self.cols);
        // A vector in the file is a row of the engine.
        if self.shape.len() == 1 { vec![col] } else { vec![row, col] }
    }
}

/// The source of each tensor of a model; the table of words is [`TensorName::Embedding`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origins {
    /// In the order of the engine.
    pub of: BTreeMap<TensorId, Origin>,
    /// Tensors of the files that are not used, in the order of their names.
    pub skipped: Vec<String>,
}

impl Origins {
    /// Finds every tensor of the given shapes. One that the family has no name for stays zero: the readout's bias of
    /// GPT-2.
    ///
    /// # Errors
    /// If one is missing, has another shape, or numbers of a kind that is not read.
    pub fn find(found: &Found<'_>, wanted: &[(TensorId, usize, usize)], config: &Config) -> Result<Self, Refusal> {
        let mut origins = Self::default();
        let mut missing = Vec::new();
        for &(id, rows, cols) in wanted {
            match found.of(id) {
                Some((file, tensor, layout)) => {
                    origins.of.insert(id, origin(file, tensor, layout, (rows, cols), config)?);
                }
                None => missing.extend(found.family.written(id).map(|(name, _)| name)),
            }
        }
        missing.dedup();
        if !missing.is_empty() {
            return Err(not_there(&missing, config));
        }
        let used: BTreeSet<&str> = origins.of.values().map(|origin| &*origin.tensor).collect();
        let others = found.tensors.values().map(|(_, tensor)| &*tensor.name).filter(|name| !used.contains(name));
        let mut skipped: Vec<String> = others.chain(found.again.iter().copied()).map(str::to_owned).collect();
        skipped.sort();
        origins.skipped = skipped;
        Ok(origins)
    }
}

fn origin(
    file: usize,
    tensor: &Tensor,
    layout: Layout,
    (rows, cols): (usize, usize),
    config: &Config,
) -> Result<Origin, Refusal> {
    let expected = layout.shape((rows, cols), is_vector(tensor, layout, rows));
    if tensor.shape != expected {
        let expected = format!("{}, by config.json: {config}", shape(&expected));
        let refusal = Refusal::new(format!("the shape {}", shape(&tensor.shape)), expected, MISMATCH);
        return Err(refusal.of_tensor(&tensor.name));
    }
    if bytes_read(tensor.dtype).is_none() {
        return Err(not_read(tensor.dtype).of_tensor(&tensor.name));
    }
    Ok(Origin { file, tensor: tensor.name.clone(), shape: expected, layout, cols })
}

/// Vectors have one dimension in a file. A table or matrix of one row has two.
fn is_vector(tensor: &Tensor, layout: Layout, rows: usize) -> bool {
    layout != Layout::Transposed && rows == 1 && tensor.shape.len() == 1
}

const MISMATCH: &str = "config.json and the weights belong to two models: download both again";

fn not_there(missing: &[String], config: &Config) -> Refusal {
    /// Names in a message.
    const SHOWN: usize = 40;
    let mut names: Vec<String> = missing.iter().take(SHOWN).map(|name| quoted(name)).collect();
    if let Some(more) = missing.len().checked_sub(SHOWN).filter(|&more| more > 0) {
        names.push(format!("{more} more"));
    }
    let found = format!("no {}", names.join(", "));
    let expected = format!("all tensors of {config}");
    Refusal::new(found, expected, "download the model again; if it is of another kind, attune does not open it")
}
