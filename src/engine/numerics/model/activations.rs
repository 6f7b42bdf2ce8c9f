//! One sentence through the model, every tensor kept: what a viewer may see. A change in a block computes that block
//! and those after it again ([`Activations::again`]); what lies before it is shared.

use std::ops::Range;
use std::sync::Arc;

use faer::linalg::matmul::matmul;
use faer::{Accum, Par};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Architecture, AttentionModel, Sequences};
use crate::json::{self, Real};
use crate::numerics::attention::{
    AttentionConfig, BatchRoom, Edge, HeadChanges, HeadMode, Mask, MaskBase, MaskTable, Tokens, Window,
};
use crate::numerics::block::{BlockCache, BlockConfig, Norm, attend_forward, tail_forward};
use crate::numerics::norm::{NormCache, norm_forward};
use crate::numerics::params::{Learned, Parameters};
use crate::numerics::simd::vectorized;
use crate::numerics::{Matrix, Scalar};

#[derive(Clone, Debug, PartialEq)]
pub struct Activations<S> {
    /// `E[words] + P + E_S` of a model with a norm after it, (T, D).
    pub embedded: Option<Arc<Matrix<S>>>,
    /// `X` (T, D)
    pub input: Arc<Matrix<S>>,
    /// `X` of the source sentence (T_s, D).
    pub source: Option<Arc<Matrix<S>>>,
    /// Activations of the blocks, first those of the source sentence's.
    pub blocks: Vec<Arc<BlockActivations<S>>>,
    /// `Y` (T, D), of the last block, after the last norm where there is one.
    pub output: Arc<Matrix<S>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct BlockActivations<S> {
    /// The block's input, (T, D).
    pub input: Arc<Matrix<S>>,
    /// The same after its norm, of a block that norms first; (T, D).
    pub normed: Option<Matrix<S>>,
    pub heads: Vec<HeadActivations<S>>,
    /// `M W_O + b_O` (T, D), of a block that norms what it adds.
    pub branch: Option<Matrix<S>>,
    /// `X + M W_O + b_O` (T, D)
    pub summed: Matrix<S>,
    /// `A` (T, D), of a block that norms after it.
    pub attended: Option<Matrix<S>>,
    /// `φ(… W_1 + b_1)` (T, hidden) of the feed-forward layer; with a gate, the product.
    pub hidden: Option<Matrix<S>>,
    /// `A + F(A)`, without a residual `F(A)`; (T, D), of a block that norms after its feed-forward layer.
    pub joined: Option<Matrix<S>>,
    /// The block's output, (T, D).
    pub output: Arc<Matrix<S>>,
}

impl<S> Activations<S> {
    /// The sentence's vectors (T, D) before all layers, and after each.
    pub fn states(&self, architecture: &Architecture) -> impl Iterator<Item = &Matrix<S>> {
        let blocks = &self.blocks[architecture.source_blocks.len()..];
        std::iter::once(&*self.input).chain(blocks.iter().map(|block| &*block.output))
    }
}

impl<S> BlockActivations<S> {
    /// `A` (T, D)
    pub fn attended(&self) -> &Matrix<S> {
        self.attended.as_ref().unwrap_or(&self.summed)
    }

    /// `A + F(A)`, without a residual `F(A)`; (T, D), of a block that has a feed-forward layer.
    pub fn joined(&self) -> &Matrix<S> {
        self.joined.as_ref().unwrap_or(&self.output)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct HeadActivations<S> {
    /// (T, d_k), normed and turned where the layer does that
    pub query: Matrix<S>,
    /// (T_k, d_k), alike; the same for all heads of a group
    pub key: Matrix<S>,
    /// (T_k, d_v)
    pub value: Matrix<S>,
    /// (T, T_k), scaled; −∞ where masked
    pub scores: Matrix<S>,
    /// (T, T_k), rows sum to 1
    pub weights: Matrix<S>,
    /// (T, d_v)
    pub mix: Matrix<S>,
}

impl<S: Scalar> AttentionModel<S> {
    /// `X` of a sentence (T, D), after the sum that its norm is of, where it has one.
    pub(super) fn embedded(&self, parameters: &Parameters<S>, sentence: &Sequences) -> (Option<Matrix<S>>, Matrix<S>) {
        let mut x = Matrix::zeros(sentence.rows.total(), self.architecture.width);
        vectorized!(self.embed(parameters, sentence, x.flat_mut()),);
        match self.embedding_norm(parameters) {
            Some(affine) => {
                let normed = self.normed(affine, &x);
                (Some(x), normed)
            }
            None => (None, x),
        }
    }

    /// Outputs of all blocks (T, D) after the last norm, if there is one.
    pub(super) fn behind_blocks(&self, parameters: &Parameters<S>, outputs: Matrix<S>) -> Matrix<S> {
        match self.final_norm(parameters) {
            Some(affine) => self.normed(affine, &outputs),
            None => outputs,
        }
    }

    fn normed(&self, affine: [&[S]; 2], x: &Matrix<S>) -> Matrix<S> {
        let (mut cache, mut y) = (NormCache::new(x.rows(), x.cols()), Matrix::zeros(x.rows(), x.cols()));
        norm_forward(self.architecture.norm_form, x.flat(), affine, &mut cache, y.flat_mut());
        y
    }
}

/// A learner's changes to a forward pass, which leave the model alone: in commands, saved work and exports too.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, bound = "S: Scalar + Real")]
pub struct Interventions<S> {
    /// The temperature in place of the layers' own; what else divides a layer's scores stays.
    pub temperature: Option<f64>,
    /// Whether scores are divided by `√d_k`, in place of the layers' own setting.
    pub scale: Option<bool>,
    /// One mode for every head of every block, the source's first; empty where all are live.
    pub heads: Vec<HeadMode<S>>,
    /// The mask of self-attention in the sentence; see [`Sight`].
    pub mask: Option<Mask>,
    /// Edges of attention that are taken out, in their order, of heads counted as in `heads`. The rest of the row sums to 1.
    /// An edge that the sentence does not have changes nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edges: Vec<Edge>,
    /// A vector from elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<Patch<S>>,
}

/// The vector of one position before a block, taken from another sentence's pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "S: Scalar + Real")]
pub struct Patch<S> {
    /// Counted over all blocks, the source's first; one of the sentence's own.
    pub block: usize,
    pub position: usize,
    /// The position in the sentence that it is taken from.
    pub from: usize,
    /// (D); `None` in a command: that of the other sentence's pass at the time.
    #[serde(with = "vector")]
    pub vector: Option<Arc<[S]>>,
}

/// The written form of a patch's vector.
mod vector {
    use super::{Arc, Deserialize, Deserializer, Real, Serialize, Serializer, json};

    #[derive(Serialize, Deserialize)]
    #[serde(bound = "S: Real", transparent)]
    struct Written<S>(#[serde(with = "json::numbers")] Vec<S>);

    pub fn serialize<S: Real, W: Serializer>(vector: &Option<Arc<[S]>>, serializer: W) -> Result<W::Ok, W::Error> {
        vector.as_ref().map(|vector| Written(vector.to_vec())).serialize(serializer)
    }

    pub fn deserialize<'de, S: Real, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Arc<[S]>>, D::Error> {
        Option::deserialize(deserializer)
            .map(|written: Option<Written<S>>| written.map(|Written(vector)| vector.into()))
    }
}

impl<S: Scalar> Interventions<S> {
    /// Temperature of a block: the learner's where one is set, else the model's own.
    pub fn temperature_of(&self, block: &BlockConfig) -> f64 {
        self.temperature.unwrap_or(block.attention.temperature)
    }

    /// The factor of a block's scores.
    pub fn score_scale(&self, block: &BlockConfig) -> f64 {
        let attention = block.attention.clone();
        let temperature = self.temperature_of(block);
        AttentionConfig { temperature, scale: self.scale.unwrap_or(attention.scale), ..attention }.score_scale()
    }

    /// The removed edges of a block's heads, counted within the block.
    fn edges_within(&self, heads: Range<usize>) -> Vec<Edge> {
        let edges = self.edges.iter().filter(|edge| heads.contains(&edge.head));
        edges.map(|edge| Edge { head: edge.head - heads.start, ..*edge }).collect()
    }

    /// Who sees whom in a block, counted over all.
    ///
    /// # Panics
    /// If the model has no such block.
    pub fn sight<'a>(&'a self, architecture: &'a Architecture, block: usize) -> Sight<'a> {
        let sources = architecture.source_blocks.len();
        let (of_source, config) = match block.checked_sub(sources) {
            None => (true, &architecture.source_blocks[block]),
            Some(block) => (false, &architecture.blocks[block]),
        };
        let learners = self.mask.as_ref().filter(|_| !of_source && !config.attends_to_source());
        Sight { layer: &config.attention, first: &architecture.first_self_attention().attention, learners }
    }

    /// Who sees whom in the first layer: what a map of the mask shows.
    pub fn sight_of_first<'a>(&'a self, architecture: &'a Architecture) -> Sight<'a> {
        let first = &architecture.first_self_attention().attention;
        Sight { layer: first, first, learners: self.mask.as_ref() }
    }

    /// The block as it works in a sentence of the given number of tokens.
    fn changed(&self, architecture: &Architecture, (b, block): (usize, &BlockConfig), tokens: usize) -> BlockConfig {
        let (mask, window) = self.sight(architecture, b).resolved(tokens);
        let temperature = self.temperature_of(block);
        let mut block = block.clone();
        let layer = &mut block.attention;
        layer.temperature = temperature;
        layer.scale = self.scale.unwrap_or(layer.scale);
        (layer.mask, layer.window) = (mask, window);
        block
    }
}

/// Who sees whom in one block: by its own mask and window, and by the learner's mask.
///
/// *None* and *causal* take the place of the layers' masks, and leave their windows. A table of the learner's says who sees whom
/// in the first layer. A pair that it changes there, from the layers' masks or from the mask that has taken their place, is
/// changed in all layers, and every other pair is as each layer has it: layers whose windows differ keep them.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    layer: &'a AttentionConfig,
    first: &'a AttentionConfig,
    learners: Option<&'a Mask>,
}

impl Sight<'_> {
    pub fn sees(&self, query: usize, key: usize) -> bool {
        let asked = match self.learners {
            Some(Mask::Custom(table)) => Some(table.sees(query, key)),
            Some(Mask::None | Mask::Causal) | None => None,
        };
        match asked {
            Some(asked) if asked != self.sees_unchanged(self.first, query, key) => asked,
            _ => self.sees_unchanged(self.layer, query, key),
        }
    }

    /// Whether the query sees the key in a layer before a table changes pairs.
    fn sees_unchanged(&self, layer: &AttentionConfig, query: usize, key: usize) -> bool {
        let is_in_mask = match self.learners.map(Mask::base).unwrap_or_default() {
            MaskBase::Layers => layer.mask.sees(query, key),
            MaskBase::None => true,
            MaskBase::Causal => Mask::Causal.sees(query, key),
            MaskBase::Hidden => false,
        };
        is_in_mask && layer.window.sees(query, key)
    }

    /// The mask and the window that have the same effect in a sentence of the given number of tokens.
    fn resolved(&self, tokens: usize) -> (Mask, Window) {
        let Self { layer, first, learners } = *self;
        let is_as_first = (&layer.mask, layer.window) == (&first.mask, first.window);
        match learners {
            None => (layer.mask.clone(), layer.window),
            Some(Mask::Custom(_)) if !is_as_first => {
                (Mask::custom(MaskTable::from_fn(tokens, tokens, |query, key| self.sees(query, key))), Window::ALL)
            }
            Some(mask @ Mask::Custom(_)) => (mask.clone(), Window::ALL),
            Some(mask) => (mask.clone(), layer.window),
        }
    }
}

impl<S: Scalar> Activations<S> {
    /// The forward pass of one sentence, and of its source where the model has one.
    ///
    /// # Panics
    /// If a sentence has no tokens or more than the model reads, the source is missing, or an
    /// intervention has another shape than the model.
    pub fn of(
        model: &AttentionModel<S>,
        parameters: &Parameters<S>,
        sentence: &Sequences,
        source: Option<&Sequences>,
        interventions: &Interventions<S>,
    ) -> Self {
        let longest = model.architecture.max_tokens;
        for sequences in [Some(sentence), source].into_iter().flatten() {
            let tokens = sequences.rows.total();
            assert!((1..=longest).contains(&tokens), "activations: a sentence of {tokens} tokens, {longest} at most");
        }
        let source_input = source.map(|source| Arc::new(model.embedded(parameters, source).1));
        let (embedded, input) = model.embedded(parameters, sentence);
        let (embedded, input) = (embedded.map(Arc::new), Arc::new(input));
        let start = Self { embedded, source: source_input, blocks: Vec::new(), output: input.clone(), input };
        Pass { model, parameters, sentence, source, interventions }.from(start)
    }

    /// The pass after a change of what one block or those after it work with, of their parameters or interventions:
    /// the blocks before it are shared, and all numbers have the bits of a whole pass.
    ///
    /// # Panics
    /// As [`Self::of`], or if the pass has no block before that one.
    #[must_use]
    pub fn again(
        &self,
        from_block: usize,
        model: &AttentionModel<S>,
        parameters: &Parameters<S>,
        sentence: &Sequences,
        source: Option<&Sequences>,
        interventions: &Interventions<S>,
    ) -> Self {
        let start = Self { blocks: self.blocks[..from_block].to_vec(), ..self.clone() };
        Pass { model, parameters, sentence, source, interventions }.from(start)
    }

    /// The heads of all blocks, the source's first.
    pub fn heads(&self) -> impl Iterator<Item = &HeadActivations<S>> {
        self.blocks.iter().flat_map(|block| &block.heads)
    }
}

/// The model, text and interventions of a pass.
struct Pass<'a, S> {
    model: &'a AttentionModel<S>,
    parameters: &'a Parameters<S>,
    sentence: &'a Sequences,
    source: Option<&'a Sequences>,
    interventions: &'a Interventions<S>,
}

impl<S: Scalar> Pass<'_, S> {
    /// Goes on after the blocks that there are.
    fn from(&self, mut done: Activations<S>) -> Activations<S> {
        let Self { model, parameters, sentence, source, interventions } = *self;
        let architecture = &model.architecture;
        assert_eq!(source.is_some(), architecture.has_source(), "activations: the source and the model do not match");
        let (modes, heads) = (interventions.heads.len(), architecture.heads());
        assert!(modes == 0 || modes == heads, "activations: modes for {modes} heads of {heads}");
        let (sources, before) = (architecture.source_blocks.len(), done.blocks.len());
        let (of_source, of_sentence) = done.blocks.split_at(sources.min(before));
        let output = |blocks: &[Arc<BlockActivations<S>>]| blocks.last().map(|block| block.output.clone());
        let mut memory = output(of_source).or_else(|| done.source.clone());
        let mut x = output(of_sentence).unwrap_or_else(|| done.input.clone());
        let is_patched_well = interventions.patch.as_ref().is_none_or(|patch| patch.block >= sources);
        assert!(is_patched_well, "activations: a patch in the source");
        let mut room = None;
        for (b, block) in architecture.numbered_blocks().skip(before) {
            let of_source = b < sources;
            let config = interventions.changed(architecture, (b, block), sentence.rows.total());
            let heads = architecture.heads_of(b);
            let modes = interventions.heads.get(heads.clone()).unwrap_or(&[]);
            let removed = interventions.edges_within(heads);
            let changes = HeadChanges { modes, removed: &removed };
            if let Some(patch) = interventions.patch.as_ref().filter(|patch| patch.block == b) {
                x = Arc::new(patched(&x, patch));
            }
            let (input, keys) = match (of_source, &memory, source) {
                (true, Some(before), Some(source)) => ((before, source), None),
                (_, Some(memory), Some(source)) => ((&x, sentence), Some((memory, source))),
                _ => ((&x, sentence), None),
            };
            let activations = run(Learned { config: &config, parameters, number: b }, input, keys, changes, &mut room);
            if of_source {
                memory = Some(activations.output.clone());
            } else {
                x = activations.output.clone();
            }
            done.blocks.push(Arc::new(activations));
        }
        done.output = match model.final_norm(parameters) {
            Some(affine) => Arc::new(model.normed(affine, &x)),
            None => x,
        };
        done
    }
}

/// The vectors with another one in its place.
///
/// # Panics
/// If the sentence has no such position, or the vector is not as wide.
fn patched<S: Scalar>(x: &Matrix<S>, patch: &Patch<S>) -> Matrix<S> {
    let mut x = x.clone();
    assert!(patch.position < x.rows(), "activations: a patch at {} of {} positions", patch.position, x.rows());
    if let Some(vector) = &patch.vector {
        x.row_mut(patch.position).copy_from_slice(vector);
    }
    x
}

type Input<'a, S> = (&'a Arc<Matrix<S>>, &'a Sequences);

fn tokens<'a, S>((x, sequences): Input<'a, S>) -> Tokens<'a, S>
where
    S: Scalar,
{
    Tokens::new(x.flat(), &sequences.rows)
}

/// Room for a block of a shape, which those of the same shape use in turn.
struct RoomOfShape<S> {
    config: BlockConfig,
    queries: usize,
    keys: usize,
    cache: BlockCache<S>,
}

fn run<S: Scalar>(
    block: Learned<'_, BlockConfig, S>,
    x: Input<'_, S>,
    source: Option<Input<'_, S>>,
    changes: HeadChanges<'_, S>,
    room: &mut Option<RoomOfShape<S>>,
) -> BlockActivations<S> {
    let config = block.config;
    let layer = &config.attention;
    let queries = x.0.rows();
    let keys = source.filter(|_| config.attends_to_source()).map_or(queries, |(memory, _)| memory.rows());
    let fits = |room: &RoomOfShape<S>| (&room.config, room.queries, room.keys) == (config, queries, keys);
    let room = match room.take().filter(fits) {
        Some(fitting) => room.insert(fitting),
        None => room.insert(RoomOfShape {
            config: config.clone(),
            queries,
            keys,
            cache: BlockCache::new(config, BatchRoom::one(queries), BatchRoom::one(keys)).with_scores(),
        }),
    };
    let cache = &mut room.cache;
    let (from, source) = (tokens(x), source.map(tokens));
    attend_forward(block, from, source, changes, cache);
    tail_forward(block, cache.attention.mix.flat(), x.0.flat(), &mut cache.tail);
    let attention = &cache.attention;
    let heads = (0..layer.heads).map(|head| {
        let (scores, weights) = attention.scores_and_weights(head, queries, keys);
        HeadActivations {
            query: attention.query.top_columns(queries, &layer.query_columns(head)),
            key: attention.key.top_columns(keys, &layer.key_columns(head)),
            value: attention.value.top_columns(keys, &layer.value_columns(head)),
            scores,
            weights,
            mix: attention.mix.top_columns(queries, &layer.mix_columns(head)),
        }
    });
    BlockActivations {
        input: x.0.clone(),
        normed: cache.normed_input().cloned(),
        heads: heads.collect(),
        output: Arc::new(cache.tail.output().clone()),
        branch: cache.tail.branch().cloned(),
        attended: (config.norm == Norm::Post).then(|| cache.tail.attended().clone()),
        hidden: cache.tail.hidden().cloned(),
        joined: cache.tail.joined().filter(|_| config.norm == Norm::Post).cloned(),
        summed: cache.tail.summed.clone(),
    }
}

/// The arithmetic of a head between its projections and its weights, for those who follow it by hand: from products to
/// weights, a row for each query.
#[derive(Clone, Debug, PartialEq)]
pub struct Arithmetic<S> {
    /// `Q Kᵀ` (T, T_k)
    pub products: Matrix<S>,
    /// The factor of a product, [`AttentionConfig::score_scale`](super::attention::AttentionConfig::score_scale).
    pub scale: S,
    /// `B[j − i] / τ` (T, T_k), added to the scaled products; `None` where distances do not count.
    pub distances: Option<Matrix<S>>,
    /// `max_j s_ij` (T); −∞ where a query sees no key.
    pub largest: Vec<S>,
    /// `exp(s_ij − max s_i)` (T, T_k); 0 where masked.
    pub exponentials: Matrix<S>,
    /// `Σ_j exp(s_ij − max s_i)` (T)
    pub sums: Vec<S>,
}

impl<S: Scalar> Arithmetic<S> {
    /// Arithmetic of a head whose products were scaled by `scale`, and `distances` added where they count.
    pub fn of(head: &HeadActivations<S>, scale: f64, distances: Option<Matrix<S>>) -> Self {
        let (queries, keys) = (head.query.rows(), head.key.rows());
        let mut products = Matrix::zeros(queries, keys);
        matmul(products.view_mut(), Accum::Replace, head.query.view(), head.key.view().transpose(), S::one(), Par::Seq);
        let largest: Vec<S> =
            (0..queries).map(|i| head.scores.row(i).iter().copied().fold(S::NEG_INFINITY, Scalar::max)).collect();
        let mut exponentials = Matrix::zeros(queries, keys);
        for (i, &max) in largest.iter().enumerate().filter(|(_, max)| **max > S::NEG_INFINITY) {
            let row = exponentials.row_mut(i).iter_mut().zip(head.scores.row(i));
            row.for_each(|(to, &score)| *to = (score - max).exp());
        }
        let sums =
            (0..queries).map(|i| exponentials.row(i).iter().copied().fold(S::zero(), |sum, x| sum + x)).collect();
        Self { products, scale: S::from_f64(scale), distances, largest, exponentials, sums }
    }
}

/// `B[j − i] / τ` of the first queries and keys, (T, T_k), from a head's row of `B`, (2 T_max − 1).
///
/// # Panics
/// If there are more than `T_max` queries or keys.
pub fn distance_scores<S: Scalar>(bias: &[S], temperature: f64, queries: usize, keys: usize) -> Matrix<S> {
    let (itself, share) = (bias.len() / 2, S::from_f64(1.0 / temperature));
    Matrix::from_fn(queries, keys, |query, key| share * bias[itself + key - query])
}
