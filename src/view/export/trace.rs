//! Every tensor of the forward pass as one JSON object, so that anyone can recompute it.
//!
#![doc = include_str!("trace.md")]

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::{self, Write};
use std::ops::Not;

use attune_core::kernel::sentence_pass::interventions::are_none;
use attune_core::kernel::snapshot::{ModelSnapshot, SentenceSnapshot, Snapshot, StaticSpace, Token};
use attune_core::lesson::schema::Objective;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::attention::{AttentionConfig, Edge, HeadMode, Mask, Rotary, Window};
use attune_engine::numerics::block::{BlockConfig, Branches, Norm};
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::model::{Architecture, Pooling, Readout};
use attune_engine::numerics::norm::{NORM_EPSILON, NormForm, NormKind};
use attune_engine::numerics::positions::Positions;
use attune_engine::quantity::{Owner, Quantity};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

/// The trace of the snapshot's sentence, as text; `None` until there is a model.
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
    // A model's own files have its tables and weights.
    let is_read = snapshot.lesson.static_embedding.is_pretrained();
    let statics = (!is_read).then(|| space.vectors.widened());
    let trace = Trace {
        lesson: &snapshot.lesson.id,
        seed: model.made_of.seed,
        config: TraceConfig::of(snapshot, model),
        groups: snapshot.lesson.groups.iter().map(|group| (group.name.as_str(), &group.words)).collect(),
        tokens: texts(&model.sentence.tokens),
        source: model.sentence.source.as_deref().map(texts),
        ids: is_read.then(|| model.sentence.tokens.iter().filter_map(|token| token.word).collect()),
        classes: (!is_read).then_some(&model.classes[..]),
        vocabulary: (!is_read).then(|| &*space.vocabulary),
        r#static: statics.as_deref().map(rows),
        parameters: (!is_read).then_some(Parameters(model)),
        interventions: (!are_none(&model.interventions)).then(|| Changes::of(&model.interventions)),
        tensors: Tensors {
            has_contributions: !is_read,
            architecture: &model.architecture,
            sentence: &model.sentence,
            space,
        },
    };
    Ok(serde_json::to_writer(to, &trace)?)
}

#[derive(Serialize)]
struct Trace<'a> {
    lesson: &'a str,
    seed: u64,
    config: TraceConfig,
    groups: BTreeMap<&'a str, &'a Vec<String>>,
    tokens: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<Vec<&'a str>>,
    /// Rows of the vocabulary, of a pretrained model.
    #[serde(skip_serializing_if = "Option::is_none")]
    ids: Option<Vec<usize>>,
    /// Columns of the logits.
    #[serde(skip_serializing_if = "Option::is_none")]
    classes: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vocabulary: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#static: Option<Vec<&'a [f32]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<Parameters<'a>>,
    /// The learner's changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    interventions: Option<Changes<'a>>,
    tensors: Tensors<'a>,
}

#[derive(Serialize)]
pub(super) struct TraceConfig {
    width: usize,
    blocks: Vec<Block>,
    positions: &'static str,
    max_tokens: usize,
    objective: &'static str,
    #[serde(skip_serializing_if = "is_zero")]
    arrive: f64,
    #[serde(skip_serializing_if = "is_zero")]
    keep: f64,
    #[serde(skip_serializing_if = "Not::not")]
    embedding_norm: bool,
    #[serde(skip_serializing_if = "Not::not")]
    final_norm: bool,
    /// The epsilon of the norms outside of the blocks.
    #[serde(skip_serializing_if = "is_usual")]
    norm_epsilon: f64,
    #[serde(flatten)]
    norm_form: Option<Norms>,
    #[serde(skip_serializing_if = "Option::is_none")]
    embedding_scale: Option<f64>,
    /// The bound of the logits, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    logit_cap: Option<f64>,
    readout: &'static str,
    /// The activation of a transformed readout.
    #[serde(skip_serializing_if = "Option::is_none")]
    readout_activation: Option<&'static str>,
    /// Said where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    readout_bias: Option<bool>,
    pooling: &'static str,
    source_blocks: usize,
    steps_trained: usize,
}

#[derive(Serialize)]
struct Block {
    heads: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_value_heads: Option<usize>,
    projections: bool,
    output: bool,
    d_k: usize,
    d_v: usize,
    bias: bool,
    /// Said where it is not that of the projections.
    #[serde(skip_serializing_if = "Option::is_none")]
    output_bias: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    query_key_norm: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rotary: Option<Turns>,
    scale: f64,
    #[serde(skip_serializing_if = "is_one")]
    score_divisor: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    score_cap: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<[Option<usize>; 2]>,
    #[serde(flatten)]
    distances: Option<Distances>,
    mask: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    mask_visible: Option<Vec<Vec<u8>>>,
    attends_to: &'static str,
    residual: bool,
    norm: &'static str,
    #[serde(skip_serializing_if = "is_usual")]
    norm_epsilon: f64,
    #[serde(flatten)]
    norm_form: Option<Norms>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attention_norm: Option<bool>,
    #[serde(skip_serializing_if = "Not::not")]
    output_norms: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    branches: Option<&'static str>,
    feed_forward: Option<usize>,
    #[serde(skip_serializing_if = "is_relu")]
    activation: &'static str,
    #[serde(skip_serializing_if = "Not::not")]
    gated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    feed_forward_bias: Option<bool>,
}

/// The form of norms that are no usual layer norms.
#[derive(Serialize)]
struct Norms {
    norm_kind: &'static str,
    norm_gain_from_one: bool,
    norm_shift: bool,
}

impl Norms {
    fn of(form: NormForm) -> Option<Self> {
        let is_usual = NormForm { epsilon: NORM_EPSILON, ..form } == NormForm::LAYER;
        (!is_usual).then_some(Self {
            norm_kind: match form.kind {
                NormKind::Layer => "layer",
                NormKind::Rms => "rms",
            },
            norm_gain_from_one: form.gain_from_one,
            norm_shift: form.shift,
        })
    }
}

/// The turn of queries and keys.
#[derive(Serialize)]
struct Turns {
    theta: f64,
    /// Columns of a head that are turned.
    width: usize,
    /// Radians a place, of each pair of columns.
    frequencies: Vec<f64>,
}

impl Turns {
    fn of(rotary: &Rotary) -> Self {
        Self { theta: rotary.theta, width: rotary.width, frequencies: rotary.frequencies() }
    }
}

/// Parts of the score formula that `scale` lacks where distance adds to a score, or a bound holds it.
#[derive(Serialize)]
struct Distances {
    /// `T_max`
    #[serde(skip_serializing_if = "Option::is_none")]
    distances: Option<usize>,
    temperature: f64,
}

impl Distances {
    fn of(layer: &AttentionConfig) -> Option<Self> {
        let is_needed = layer.distances.is_some() || layer.score_cap.is_some();
        is_needed.then_some(Self { distances: layer.distances, temperature: layer.temperature })
    }
}

fn is_zero(cost: &f64) -> bool {
    *cost == 0.0
}

fn is_one(divisor: &f64) -> bool {
    *divisor == 1.0
}

fn is_usual(epsilon: &f64) -> bool {
    *epsilon == NORM_EPSILON
}

const RELU: &str = "relu";

fn is_relu(activation: &&str) -> bool {
    *activation == RELU
}

fn activation(activation: Activation) -> &'static str {
    match activation {
        Activation::Relu => RELU,
        Activation::Gelu => "gelu",
        Activation::GeluTanh => "gelu_tanh",
        Activation::Silu => "silu",
    }
}

/// The table of a mask that has one: a row for each query, 1 where it sees a key.
fn visible(mask: &Mask) -> Option<Vec<Vec<u8>>> {
    match mask {
        Mask::None | Mask::Causal => None,
        Mask::Custom(table) => Some(table.rows().map(|row| row.iter().copied().map(u8::from).collect()).collect()),
    }
}

impl Block {
    fn of(block: &BlockConfig) -> Self {
        let layer = &block.attention;
        Self {
            heads: layer.heads,
            key_value_heads: (layer.group_size > 1).then(|| layer.key_value_heads()),
            projections: layer.projected,
            output: layer.output,
            d_k: layer.key_width,
            d_v: layer.value_width,
            bias: layer.bias,
            output_bias: (layer.output_bias != layer.bias).then_some(layer.output_bias),
            query_key_norm: layer.query_key_norm.map(|norm| if norm.each_head { "heads" } else { "whole" }),
            rotary: layer.rotary.as_ref().map(Turns::of),
            scale: layer.score_scale(),
            score_divisor: layer.score_divisor,
            score_cap: layer.score_cap,
            window: (layer.window != Window::ALL).then_some([layer.window.before, layer.window.after]),
            distances: Distances::of(layer),
            mask: layer.mask.to_string(),
            mask_visible: visible(&layer.mask),
            attends_to: if block.attends_to_source() { "source" } else { "own sentence" },
            residual: block.residual,
            norm: match block.norm {
                Norm::None => "none",
                Norm::Pre => "pre",
                Norm::Post => "post",
            },
            norm_epsilon: block.norm_form.epsilon,
            norm_form: Norms::of(block.norm_form),
            attention_norm: (!block.attention_norm).then_some(false),
            output_norms: block.output_norms,
            branches: match block.branches {
                Branches::Sequential => None,
                Branches::Parallel => Some("parallel"),
                Branches::ParallelOneNorm => Some("parallel, one norm"),
            },
            feed_forward: block.feed_forward,
            activation: activation(block.activation),
            gated: block.gated,
            feed_forward_bias: (!block.forward_bias).then_some(false),
        }
    }
}

impl TraceConfig {
    pub(super) fn of(snapshot: &Snapshot, model: &ModelSnapshot) -> Self {
        let config = &model.architecture;
        Self {
            width: config.width,
            blocks: config.numbered_blocks().map(|(_, block)| Block::of(block)).collect(),
            positions: match config.positions {
                Positions::None => "none",
                Positions::Sinusoidal => "sinusoidal",
                Positions::Learned => "learned",
            },
            max_tokens: config.max_tokens,
            objective: match snapshot.lesson.model.objective {
                Objective::MaskedWord { .. } => "masked word",
                Objective::NextWord => "next word",
                Objective::Label => "label",
                Objective::Sequence(_) => "sequence",
            },
            arrive: snapshot.lesson.model.costs.arrive,
            keep: snapshot.lesson.model.costs.keep,
            embedding_norm: config.embedding_norm,
            final_norm: config.final_norm,
            norm_epsilon: config.norm_form.epsilon,
            norm_form: Norms::of(config.norm_form),
            embedding_scale: config.embedding_scale,
            logit_cap: config.logit_cap,
            readout_activation: config.readout.activation().map(activation),
            readout_bias: (!config.readout_bias).then_some(false),
            readout: match config.readout {
                Readout::Tied => "tied",
                Readout::Transformed(_) => "transformed",
                Readout::Linear => "linear",
                Readout::TransformedLinear(_) => "transformed_linear",
            },
            pooling: match config.pooling {
                Pooling::Every => "every",
                Pooling::Last => "last",
                Pooling::Mean => "mean",
            },
            source_blocks: config.source_blocks.len(),
            steps_trained: model.training.step_shown(),
        }
    }
}

/// The learner's changes to a pass. Weights of a frozen head are among the tensors.
#[derive(Serialize)]
struct Changes<'a> {
    /// Modes of the heads that are not live, by their number among all blocks.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    heads: BTreeMap<usize, Text<&'a HeadMode<f32>, f32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    /// Whether scores are divided by `√d_k`.
    #[serde(skip_serializing_if = "Option::is_none")]
    scaled: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mask: Option<Text<&'a Mask, Vec<Vec<u8>>>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    edges: &'a [Edge],
    #[serde(skip_serializing_if = "Option::is_none")]
    patch: Option<PatchRow<'a>>,
}

/// A change that is a word, as it is displayed, or numbers.
enum Text<D, N> {
    Word(D),
    Numbers(N),
}

impl<D: Display, N: Serialize> Serialize for Text<D, N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Word(word) => serializer.collect_str(word),
            Self::Numbers(numbers) => numbers.serialize(serializer),
        }
    }
}

#[derive(Serialize)]
struct PatchRow<'a> {
    block: usize,
    position: usize,
    from: usize,
    vector: Option<&'a [f32]>,
}

impl<'a> Changes<'a> {
    fn of(interventions: &'a Interventions<f32>) -> Self {
        let Interventions { heads, temperature, scale, mask, edges, patch } = interventions;
        let mode = |mode: &'a HeadMode<f32>| match mode {
            HeadMode::Gain(gain) => Text::Numbers(*gain),
            named => Text::Word(named),
        };
        let changed = heads.iter().enumerate().filter(|(_, mode)| **mode != HeadMode::Live);
        Self {
            heads: changed.map(|(head, of)| (head, mode(of))).collect(),
            temperature: *temperature,
            scaled: *scale,
            mask: mask.as_ref().map(|mask| visible(mask).map_or(Text::Word(mask), Text::Numbers)),
            edges,
            patch: patch.as_ref().map(|patch| PatchRow {
                block: patch.block,
                position: patch.position,
                from: patch.from,
                vector: patch.vector.as_deref(),
            }),
        }
    }
}

#[derive(Serialize)]
struct Tensor<Rows: Serialize> {
    shape: Vec<usize>,
    rows: Rows,
}

fn texts(tokens: &[Token]) -> Vec<&str> {
    tokens.iter().map(|token| token.text.as_str()).collect()
}

fn rows(matrix: &Matrix<f32>) -> Vec<&[f32]> {
    (0..matrix.rows()).map(|i| matrix.row(i)).collect()
}

fn tensor(matrix: &Matrix<f32>) -> Tensor<Vec<&[f32]>> {
    Tensor { shape: vec![matrix.rows(), matrix.cols()], rows: rows(matrix) }
}

/// By symbol, in the order of the model.
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

impl Tensors<'_> {
    /// Everything that the trace names of a block, or of a head.
    fn traced<M: SerializeMap>(&self, map: &mut M, owner: Owner, place: &str) -> Result<(), M::Error> {
        for quantity in Quantity::ALL {
            let matrix = quantity.matrix(&self.sentence.activations, owner);
            if let (Some(name), Some(matrix)) = (quantity.definition().trace, matrix) {
                map.serialize_entry(&format!("{name}[{place}]"), &tensor(matrix))?;
            }
        }
        Ok(())
    }
}

impl Serialize for Tensors<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self { sentence, space, .. } = self;
        let activations = &sentence.activations;
        let mut map = serializer.serialize_map(None)?;
        let nothing = vec![0.0; space.vectors.cols()];
        let vector = |token: &Token| token.word.map_or(Cow::Borrowed(&nothing[..]), |word| space.vectors.row(word));
        let static_of = |tokens: &'_ [Token]| Tensor {
            shape: vec![tokens.len(), nothing.len()],
            rows: tokens.iter().map(vector).collect::<Vec<_>>(),
        };
        if let (Some(words), Some(x)) = (&sentence.source, &activations.source) {
            map.serialize_entry("E[source]", &static_of(words))?;
            map.serialize_entry("X[source]", &tensor(x))?;
        }
        map.serialize_entry("E[tokens]", &static_of(&sentence.tokens))?;
        if let Some(embedded) = &activations.embedded {
            map.serialize_entry("embedded", &tensor(embedded))?;
        }
        map.serialize_entry("X", &tensor(&activations.input))?;
        for (number, block) in activations.blocks.iter().enumerate() {
            self.traced(&mut map, Owner::Block(number), &format!("block {number}"))?;
            let inner = [("normed", &block.normed), ("attended", &block.attended), ("hidden", &block.hidden)];
            for (name, matrix) in inner {
                if let Some(matrix) = matrix {
                    map.serialize_entry(&format!("{name}[block {number}]"), &tensor(matrix))?;
                }
            }
        }
        for (h, head) in activations.heads().enumerate() {
            self.traced(&mut map, Owner::Head(h), &h.to_string())?;
            if !self.has_contributions {
                continue;
            }
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
        map.serialize_entry("output", &tensor(&activations.output))?;
        map.serialize_entry("logits", &tensor(&sentence.answers.logits))?;
        map.end()
    }
}
