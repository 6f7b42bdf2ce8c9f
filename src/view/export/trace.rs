//! Every tensor of the forward pass as one JSON object, so that others can verify the computation.
//!
#![doc = include_str!("trace.md")]

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{self, Write};

use attune_core::kernel::sentence_pass::interventions::are_none;
use attune_core::kernel::snapshot::{ModelSnapshot, SentenceSnapshot, Snapshot, StaticSpace, Token};
use attune_core::lesson::schema::Objective;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::attention::distances::DistanceBuckets;
use attune_engine::numerics::attention::{AttentionConfig, HeadMode, Mask, Rotary, Window};
use attune_engine::numerics::block::{BlockConfig, Branches, Norm};
use attune_engine::numerics::model::activations::{Activations, Interventions, Patch};
use attune_engine::numerics::model::{Architecture, Pooling, Readout};
use attune_engine::numerics::norm::{NORM_EPSILON, NormForm, NormKind};
use attune_engine::numerics::positions::Positions;
use attune_engine::quantity::{Owner, Quantity};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

/// Returns the trace of the snapshot's sentence; `None` until there is a model.
pub fn trace(snapshot: &Snapshot) -> Option<String> {
    let mut text = Vec::new();
    write(snapshot, &mut text).ok()?;
    String::from_utf8(text).ok()
}

/// Writes the trace of the snapshot's sentence.
///
/// # Errors
/// If it cannot be written, or there is no model yet.
pub fn write(snapshot: &Snapshot, to: impl Write) -> io::Result<()> {
    let (Some(space), Some(model)) = (snapshot.space.as_deref(), snapshot.model.as_ref()) else {
        return Err(io::Error::other("the lesson has no model to trace"));
    };
    Ok(serde_json::to_writer(to, &Trace { snapshot, space, model })?)
}

/// A JSON object that is being written.
struct Entries<M>(M);

impl<M: SerializeMap> Entries<M> {
    fn add(&mut self, name: &str, value: impl Serialize) -> Result<(), M::Error> {
        self.0.serialize_entry(name, &value)
    }

    /// Adds an entry, unless its value is `None`.
    fn some(&mut self, name: &str, value: Option<impl Serialize>) -> Result<(), M::Error> {
        value.map_or(Ok(()), |value| self.add(name, value))
    }

    /// Adds a number, unless it is the usual one.
    fn unless(&mut self, usual: f64, name: &str, number: f64) -> Result<(), M::Error> {
        self.some(name, Some(number).filter(|number| *number != usual))
    }

    /// Adds the properties in which a norm differs from the usual layer norm.
    fn norm(&mut self, form: NormForm) -> Result<(), M::Error> {
        self.unless(NORM_EPSILON, "norm_epsilon", form.epsilon)?;
        if (NormForm { epsilon: NORM_EPSILON, ..form }) == NormForm::LAYER {
            return Ok(());
        }
        let kind = match form.kind {
            NormKind::Layer => "layer",
            NormKind::Rms => "rms",
        };
        self.add("norm_kind", kind)?;
        self.add("norm_gain_from_one", form.gain_from_one)?;
        self.add("norm_shift", form.shift)
    }
}

struct Trace<'a> {
    snapshot: &'a Snapshot,
    space: &'a StaticSpace,
    model: &'a ModelSnapshot,
}

impl Serialize for Trace<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { snapshot, space, model } = *self;
        // The tables and weights of a pretrained model are in its own files.
        let is_read = snapshot.lesson.static_embedding.is_pretrained();
        let statics = (!is_read).then(|| space.vectors.widened());
        let groups = snapshot.lesson.groups.iter().map(|group| (group.name.as_str(), &group.words));
        let tokens = &model.sentence.tokens;
        let source = model.sentence.source.as_deref();
        let rows_of_vocabulary = |tokens: &[Token]| tokens.iter().filter_map(|token| token.word).collect::<Vec<_>>();
        let mut map = Entries(serializer.serialize_map(None)?);
        map.add("lesson", &snapshot.lesson.id)?;
        map.add("seed", model.made_of.seed)?;
        map.add("config", TraceConfig(snapshot, model))?;
        map.add("groups", groups.collect::<BTreeMap<_, _>>())?;
        map.add("tokens", texts(tokens))?;
        map.some("source", source.map(texts))?;
        map.some("ids", is_read.then(|| rows_of_vocabulary(tokens)))?;
        map.some("source_ids", source.filter(|_| is_read).map(rows_of_vocabulary))?;
        // The columns of the logits.
        map.some("classes", (!is_read).then_some(&model.classes[..]))?;
        map.some("vocabulary", (!is_read).then(|| &*space.vocabulary))?;
        map.some("static", statics.as_deref().map(rows))?;
        map.some("parameters", (!is_read).then_some(Parameters(model)))?;
        map.some("interventions", (!are_none(&model.interventions)).then_some(Changes(&model.interventions)))?;
        let (architecture, sentence) = (&model.architecture, &*model.sentence);
        map.add("tensors", Tensors { has_contributions: !is_read, architecture, sentence, space })?;
        map.0.end()
    }
}

const RELU: &str = "relu";

fn activation(activation: Activation) -> &'static str {
    match activation {
        Activation::Relu => RELU,
        Activation::Gelu => "gelu",
        Activation::GeluTanh => "gelu_tanh",
        Activation::Silu => "silu",
    }
}

/// Returns the table of a custom mask: a row for each query, with 1 for each key that it sees; `None` for any other
/// mask.
fn visible(mask: &Mask) -> Option<Vec<Vec<u8>>> {
    match mask {
        Mask::None | Mask::Causal => None,
        Mask::Custom(table) => Some(table.rows().map(|row| row.iter().copied().map(u8::from).collect()).collect()),
    }
}

/// A block as written in the trace, without properties that have the usual value.
struct Block<'a>(&'a BlockConfig);

impl Serialize for Block<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let block = self.0;
        let mut map = Entries(serializer.serialize_map(None)?);
        add_attention(&mut map, &block.attention)?;
        map.add("attends_to", if block.attends_to_source() { "source" } else { "own sentence" })?;
        map.add("residual", block.residual)?;
        let norm = match block.norm {
            Norm::None => "none",
            Norm::Pre => "pre",
            Norm::Post => "post",
        };
        map.add("norm", norm)?;
        map.norm(block.norm_form)?;
        map.some("attention_norm", (!block.attention_norm).then_some(false))?;
        map.some("output_norms", block.output_norms.then_some(true))?;
        let branches = match block.branches {
            Branches::Sequential => None,
            Branches::Parallel => Some("parallel"),
            Branches::ParallelOneNorm => Some("parallel, one norm"),
        };
        map.some("branches", branches)?;
        map.add("feed_forward", block.feed_forward)?;
        map.some("activation", Some(activation(block.activation)).filter(|name| *name != RELU))?;
        map.some("gated", block.gated.then_some(true))?;
        map.some("feed_forward_bias", (!block.forward_bias).then_some(false))?;
        map.0.end()
    }
}

fn add_attention<M: SerializeMap>(map: &mut Entries<M>, layer: &AttentionConfig) -> Result<(), M::Error> {
    map.add("heads", layer.heads)?;
    map.some("key_value_heads", (layer.group_size > 1).then(|| layer.key_value_heads()))?;
    map.add("projections", layer.projected)?;
    map.add("output", layer.output)?;
    map.add("d_k", layer.key_width)?;
    map.add("d_v", layer.value_width)?;
    map.add("bias", layer.bias)?;
    map.some("output_bias", Some(layer.output_bias).filter(|bias| *bias != layer.bias))?;
    let query_key_norm = layer.query_key_norm.map(|norm| if norm.each_head { "heads" } else { "whole" });
    map.some("query_key_norm", query_key_norm)?;
    map.some("rotary", layer.rotary.as_ref().map(Turns::of))?;
    map.add("scale", layer.score_scale())?;
    map.unless(1.0, "score_divisor", layer.score_divisor)?;
    map.some("score_cap", layer.score_cap)?;
    map.some("window", (layer.window != Window::ALL).then_some([layer.window.before, layer.window.after]))?;
    // These properties change the formula of scores in ways that `scale` does not express.
    map.some("distances", layer.distances.map(|form| form.tokens))?;
    map.some("buckets", layer.distances.and_then(|form| form.buckets).map(Buckets::of))?;
    let is_needed = layer.distances.is_some() || layer.score_cap.is_some();
    map.some("temperature", is_needed.then_some(layer.temperature))?;
    map.add("mask", layer.mask.to_string())?;
    map.some("mask_visible", visible(&layer.mask))
}

/// The rotation of queries and keys.
#[derive(Serialize)]
struct Turns {
    theta: f64,
    /// The number of rotated columns in a head.
    width: usize,
    /// The angle per position of each pair of columns, in radians.
    frequencies: Vec<f64>,
}

impl Turns {
    fn of(rotary: &Rotary) -> Self {
        Self { theta: rotary.theta, width: rotary.width, frequencies: rotary.frequencies() }
    }
}

/// The buckets of distances, each of which has a single bias.
#[derive(Serialize)]
struct Buckets {
    count: usize,
    farthest: usize,
    both_directions: bool,
}

impl Buckets {
    fn of(DistanceBuckets { count, most, both_directions }: DistanceBuckets) -> Self {
        Self { count, farthest: most, both_directions }
    }
}

/// The configuration of a model as written in the trace. Properties that few models change are left out where they
/// have their usual value.
pub(super) struct TraceConfig<'a>(pub &'a Snapshot, pub &'a ModelSnapshot);

impl Serialize for TraceConfig<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (lesson, config) = (&self.0.lesson.model, &self.1.architecture);
        let mut map = Entries(serializer.serialize_map(None)?);
        map.add("width", config.width)?;
        map.add("blocks", config.numbered_blocks().map(|(_, block)| Block(block)).collect::<Vec<_>>())?;
        let positions = match config.positions {
            Positions::None => "none",
            Positions::Sinusoidal | Positions::SinusoidalInHalves => "sinusoidal",
            Positions::Learned => "learned",
        };
        map.add("positions", positions)?;
        map.some("position_order", (config.positions == Positions::SinusoidalInHalves).then_some("halves"))?;
        map.add("max_tokens", config.max_tokens)?;
        let objective = match lesson.objective {
            Objective::MaskedWord { .. } => "masked word",
            Objective::NextWord => "next word",
            Objective::Label => "label",
            Objective::Sequence(_) => "sequence",
        };
        map.add("objective", objective)?;
        map.unless(0.0, "arrive", lesson.costs.arrive)?;
        map.unless(0.0, "keep", lesson.costs.keep)?;
        map.some("embedding_norm", config.embedding_norm.then_some(true))?;
        map.some("final_norm", config.final_norm.then_some(true))?;
        map.some("source_norm", config.source.final_norm.then_some(true))?;
        map.norm(config.norm_form)?;
        map.some("embedding_scale", config.embedding_scale)?;
        map.some("logit_scale", config.logit_scale)?;
        map.some("logit_cap", config.logit_cap)?;
        add_readout(&mut map, config)?;
        map.add("source_blocks", config.source_blocks.len())?;
        map.add("steps_trained", self.1.training.step_shown())?;
        map.0.end()
    }
}

fn add_readout<M: SerializeMap>(map: &mut Entries<M>, config: &Architecture) -> Result<(), M::Error> {
    let readout = match config.readout {
        Readout::Tied => "tied",
        Readout::Transformed(_) => "transformed",
        Readout::Linear => "linear",
        Readout::TransformedLinear(_) => "transformed_linear",
    };
    map.add("readout", readout)?;
    map.some("readout_activation", config.readout.activation().map(activation))?;
    map.some("readout_bias", (!config.readout_bias).then_some(false))?;
    let pooling = match config.pooling {
        Pooling::Every => "every",
        Pooling::Last => "last",
        Pooling::Mean => "mean",
    };
    map.add("pooling", pooling)
}

/// The learner's interventions in a pass. The weights of a frozen head are among the tensors.
struct Changes<'a>(&'a Interventions<f32>);

impl Serialize for Changes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Interventions { heads, temperature, scale, mask, edges, patch } = self.0;
        let mode = |mode| match mode {
            &HeadMode::Gain(gain) => WordOrNumbers::Numbers(gain),
            named => WordOrNumbers::Word(named),
        };
        // The changed heads, by their index over all blocks.
        let changed = heads.iter().enumerate().filter(|(_, mode)| **mode != HeadMode::Live);
        let modes: BTreeMap<_, _> = changed.map(|(head, of)| (head, mode(of))).collect();
        let mask = mask.as_ref().map(|mask| visible(mask).map_or(WordOrNumbers::Word(mask), WordOrNumbers::Numbers));
        let mut map = Entries(serializer.serialize_map(None)?);
        map.some("heads", Some(modes).filter(|modes| !modes.is_empty()))?;
        map.some("temperature", *temperature)?;
        // Whether scores are divided by `√d_k`.
        map.some("scaled", *scale)?;
        map.some("mask", mask)?;
        map.some("edges", Some(edges).filter(|edges| !edges.is_empty()))?;
        map.some("patch", patch.as_ref().map(PatchRow))?;
        map.0.end()
    }
}

/// An intervention given by a word, as displayed, or by numbers.
enum WordOrNumbers<D, N> {
    Word(D),
    Numbers(N),
}

impl<D: Display, N: Serialize> Serialize for WordOrNumbers<D, N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Word(word) => serializer.collect_str(word),
            Self::Numbers(numbers) => numbers.serialize(serializer),
        }
    }
}

/// A patch with its vector, as written in the trace.
struct PatchRow<'a>(&'a Patch<f32>);

impl Serialize for PatchRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Patch { block, position, from, vector } = self.0;
        let mut map = Entries(serializer.serialize_map(None)?);
        map.add("block", block)?;
        map.add("position", position)?;
        map.add("from", from)?;
        map.add("vector", vector.as_deref())?;
        map.0.end()
    }
}

#[derive(Serialize)]
pub(super) struct Tensor<Rows: Serialize> {
    shape: Vec<usize>,
    rows: Rows,
}

pub(super) fn texts(tokens: &[Token]) -> Vec<&str> {
    tokens.iter().map(|token| token.text.as_str()).collect()
}

fn rows(matrix: &Matrix<f32>) -> Vec<&[f32]> {
    (0..matrix.rows()).map(|i| matrix.row(i)).collect()
}

pub(super) fn tensor(matrix: &Matrix<f32>) -> Tensor<Vec<&[f32]>> {
    Tensor { shape: vec![matrix.rows(), matrix.cols()], rows: rows(matrix) }
}

/// The parameters by symbol, in the order of the model.
struct Parameters<'a>(&'a ModelSnapshot);

impl Serialize for Parameters<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (spec, values) in self.0.parameters.tensors() {
            let rows: Vec<&[f32]> = values.chunks_exact(spec.cols).collect();
            map.serialize_entry(&spec.id.to_string(), &Tensor { shape: vec![spec.rows, spec.cols], rows })?;
        }
        map.end()
    }
}

struct Tensors<'a> {
    has_contributions: bool,
    architecture: &'a Architecture,
    sentence: &'a SentenceSnapshot,
    space: &'a StaticSpace,
}

/// Returns the tensors of a pass by their names in the trace.
pub(super) fn matrices<'a>(sentence: &'a SentenceSnapshot, space: &StaticSpace) -> Vec<(String, Cow<'a, Matrix<f32>>)> {
    let activations = &sentence.activations;
    let mut all: Vec<(String, Cow<'a, Matrix<f32>>)> = Vec::new();
    let mut add = |name: String, matrix: Option<&'a Matrix<f32>>| {
        all.extend(matrix.map(|matrix| (name, Cow::Borrowed(matrix))));
    };
    if let Some(source) = &activations.source {
        add("embedded[source]".to_owned(), source.embedded.as_deref());
        add("X[source]".to_owned(), Some(&source.input));
    }
    add("embedded".to_owned(), activations.embedded.as_deref());
    add("X".to_owned(), Some(&activations.input));
    for (number, block) in activations.blocks.iter().enumerate() {
        for (name, matrix) in traced(activations, Owner::Block(number)) {
            add(format!("{name}[block {number}]"), Some(matrix));
        }
        let inner = [("normed", &block.normed), ("attended", &block.attended), ("hidden", &block.hidden)];
        inner.into_iter().for_each(|(name, matrix)| add(format!("{name}[block {number}]"), matrix.as_ref()));
    }
    for head in 0..activations.heads().count() {
        traced(activations, Owner::Head(head)).for_each(|(name, matrix)| add(format!("{name}[{head}]"), Some(matrix)));
    }
    add("output[source]".to_owned(), activations.source.as_ref().map(|source| &*source.memory));
    add("output".to_owned(), Some(&activations.output));
    add("logits".to_owned(), Some(&sentence.answers.logits));
    let of_source = sentence.source.as_deref().map(|tokens| ("E[source]", tokens));
    let statics = of_source.into_iter().chain([("E[tokens]", &sentence.tokens[..])]);
    let statics = statics.map(|(name, tokens)| (name.to_owned(), Cow::Owned(static_vectors(tokens, space))));
    statics.collect::<Vec<_>>().into_iter().chain(all).collect()
}

/// Returns the traced tensors of a block or of a head.
fn traced(activations: &Activations<f32>, owner: Owner) -> impl Iterator<Item = (&'static str, &Matrix<f32>)> {
    let traced = Quantity::ALL.iter().filter_map(|quantity| Some((quantity.definition().trace?, quantity)));
    traced.filter_map(move |(name, quantity)| Some((name, quantity.matrix(activations, owner)?)))
}

/// Returns the static vectors of tokens; a token without a word has the zero vector.
fn static_vectors(tokens: &[Token], space: &StaticSpace) -> Matrix<f32> {
    let mut vectors = Matrix::zeros(tokens.len(), space.vectors.cols());
    for (row, token) in tokens.iter().enumerate() {
        if let Some(word) = token.word {
            vectors.row_mut(row).copy_from_slice(&space.vectors.row(word));
        }
    }
    vectors
}

impl Serialize for Tensors<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { sentence, space, .. } = self;
        let activations = &sentence.activations;
        let mut map = serializer.serialize_map(None)?;
        for (name, matrix) in matrices(sentence, space) {
            map.serialize_entry(&name, &tensor(&matrix))?;
        }
        for (h, head) in activations.heads().enumerate().filter(|_| self.has_contributions) {
            let (block, _, own) = self.architecture.head(h);
            let contributions = &sentence.contributions[block];
            let (queries, keys) = (head.weights.rows(), contributions.keys());
            let block = &activations.blocks[block];
            let term = |query: usize, key: usize| contributions.term(block, own, query, key);
            let terms: Vec<Vec<Vec<f32>>> =
                (0..queries).map(|query| (0..keys).map(|key| term(query, key)).collect()).collect();
            let shape = vec![queries, keys, activations.output.cols()];
            map.serialize_entry(&format!("contributions[{h}]"), &Tensor { shape, rows: terms })?;
        }
        map.end()
    }
}
