//! The forward pass of one sentence with every tensor kept for inspection. After a change in a block, only that block
//! and those after it are computed again ([`Activations::again`]); earlier ones are shared.

use std::ops::Range;
use std::sync::Arc;

use faer::linalg::matmul::matmul;
use faer::{Accum, Par};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Architecture, AttentionModel, Sequences, Tower};
use crate::json::{self, Real};
use crate::numerics::attention::distances::DistanceForm;
use crate::numerics::attention::{
    AttentionConfig, BatchRoom, Edge, HeadChanges, HeadMode, Mask, MaskBase, MaskTable, SecondHead, Tokens, Window,
};
use crate::numerics::block::{BlockCache, BlockConfig, Norm, attend_forward, tail_forward};
use crate::numerics::norm::normed;
use crate::numerics::params::{Learned, Parameters};
use crate::numerics::simd::vectorized;
use crate::numerics::{Matrix, Scalar};

#[derive(Clone, Debug, PartialEq)]
pub struct Activations<S> {
    /// `E[words] + P + E_S` (T, D), if the model has a norm after it.
    pub embedded: Option<Arc<Matrix<S>>>,
    /// `X` (T, D)
    pub input: Arc<Matrix<S>>,
    /// The source sentence, if the model has one.
    pub source: Option<SourceActivations<S>>,
    /// Activations of all blocks, those of the source sentence first.
    pub blocks: Vec<Arc<BlockActivations<S>>>,
    /// `Y` (T, D) of the last block, after the last norm if there is one.
    pub output: Arc<Matrix<S>>,
}

/// The activations of the source sentence before and after its blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceActivations<S> {
    /// The sum of its embeddings (T_s, D), if the model has a norm after it.
    pub embedded: Option<Arc<Matrix<S>>>,
    /// `X` (T_s, D)
    pub input: Arc<Matrix<S>>,
    /// The vectors that cross-attention reads (T_s, D): the output of the last block, after the source's norm if there
    /// is one.
    pub memory: Arc<Matrix<S>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct BlockActivations<S> {
    /// The block's input, (T, D).
    pub input: Arc<Matrix<S>>,
    /// Input after the block's norm (T, D), if the block norms it.
    pub normed: Option<Matrix<S>>,
    pub heads: Vec<HeadActivations<S>>,
    /// `M W_O + b_O` (T, D), if the block norms its attention's output.
    pub branch: Option<Matrix<S>>,
    /// `X + M W_O + b_O` (T, D)
    pub summed: Matrix<S>,
    /// `A` (T, D), if the block norms after the attention.
    pub attended: Option<Matrix<S>>,
    /// `φ(… W_1 + b_1)` (T, hidden) of the feed-forward layer; with a gate, the product.
    pub hidden: Option<Matrix<S>>,
    /// `A + F(A)`, or `F(A)` without a residual (T, D), if the block norms after its feed-forward layer.
    pub joined: Option<Matrix<S>>,
    /// The block's output, (T, D).
    pub output: Arc<Matrix<S>>,
}

impl<S> Activations<S> {
    /// Returns the sentence's vectors (T, D) before all layers and after each.
    pub fn states(&self, architecture: &Architecture) -> impl Iterator<Item = &Matrix<S>> {
        self.states_of(Tower::Sentence, architecture)
    }

    /// Returns a tower's vectors before all its layers and after each; empty for the source of a model without one.
    pub fn states_of(&self, tower: Tower, architecture: &Architecture) -> impl Iterator<Item = &Matrix<S>> {
        let (of_source, own) = self.blocks.split_at(architecture.source_blocks.len());
        let (input, blocks) = match tower {
            Tower::Source => (self.source.as_ref().map(|source| &source.input), of_source),
            Tower::Sentence => (Some(&self.input), own),
        };
        input.into_iter().chain(blocks.iter().map(|block| &block.output)).map(|state| &**state)
    }
}

impl<S> BlockActivations<S> {
    /// Returns `A` (T, D), the vectors after the attention.
    pub fn attended(&self) -> &Matrix<S> {
        self.attended.as_ref().unwrap_or(&self.summed)
    }

    /// Returns `A + F(A)`, or `F(A)` without a residual (T, D), of a block that has a feed-forward layer.
    pub fn joined(&self) -> &Matrix<S> {
        self.joined.as_ref().unwrap_or(&self.output)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct HeadActivations<S> {
    /// `Q_h` (T, d_k), normed and turned if the layer does that.
    pub query: Matrix<S>,
    /// `K_g` (T_k, d_k), normed and turned likewise; the same for all heads of a group.
    pub key: Matrix<S>,
    /// `V_g` (T_k, d_v), or the values that a change of the head puts in their place.
    pub value: Matrix<S>,
    /// `S_h` (T, T_k), scaled; −∞ where masked.
    pub scores: Matrix<S>,
    /// `A_h` (T, T_k), whose rows sum to 1.
    pub weights: Matrix<S>,
    /// `M_h` (T, d_v)
    pub mix: Matrix<S>,
}

impl<S: Scalar> SecondHead<S> {
    /// Copies a head of a pass.
    pub fn of(head: &HeadActivations<S>) -> Self {
        Self { weights: head.weights.clone(), values: head.value.clone() }
    }
}

impl<S: Scalar> AttentionModel<S> {
    /// Computes `X` of a tower's sentence (T, D), and the sum of the embeddings before it if that sum is normed.
    pub(super) fn embedded(
        &self,
        parameters: &Parameters<S>,
        tower: Tower,
        sentence: &Sequences,
    ) -> (Option<Matrix<S>>, Matrix<S>) {
        let mut x = Matrix::zeros(sentence.rows.total(), self.architecture.width);
        vectorized!(self.embed(parameters, tower, sentence, x.flat_mut()),);
        match self.embedding_norm(parameters, tower) {
            Some(affine) => (Some(x.clone()), normed(self.architecture.norm_form, affine, x)),
            None => (None, x),
        }
    }

    /// Applies the norm after a tower's blocks, if there is one, to their outputs (T, D).
    pub(crate) fn behind_blocks(&self, parameters: &Parameters<S>, tower: Tower, outputs: Matrix<S>) -> Matrix<S> {
        match self.final_norm(parameters, tower) {
            Some(affine) => normed(self.architecture.norm_form, affine, outputs),
            None => outputs,
        }
    }
}

/// A learner's changes to a forward pass, which do not change the model. Commands, saved work and exports use them too.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, bound = "S: Scalar + Real")]
pub struct Interventions<S> {
    /// Temperature that replaces the layers' own; other divisors of a layer's scores stay.
    pub temperature: Option<f64>,
    /// Whether scores are divided by `√d_k`; replaces the layers' own setting.
    pub scale: Option<bool>,
    /// One mode for every head of every block, those of the source first; empty if all are live.
    pub heads: Vec<HeadMode<S>>,
    /// Mask that replaces or changes the masks of self-attention in the sentence; see [`Sight`].
    pub mask: Option<Mask>,
    /// Removed edges of attention, sorted, with heads counted as in `heads`. The other weights of the row then sum to
    /// 1. An edge that the sentence does not have changes nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub edges: Vec<Edge>,
    /// A vector that is replaced by one from another pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<Patch<S>>,
}

/// The vector of one position before a block, replaced by one from another sentence's pass (activation patching).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound = "S: Scalar + Real")]
pub struct Patch<S> {
    /// Number of the block, counted over all blocks, those of the source first.
    pub block: usize,
    pub position: usize,
    /// Position in the other sentence.
    pub from: usize,
    /// The vector (D). `None` in a command stands for that of the other sentence's pass when the command is carried
    /// out.
    #[serde(with = "vector")]
    pub vector: Option<Arc<[S]>>,
}

/// The serialised form of a patch's vector, an optional list of numbers.
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
    /// Returns a block's temperature: the learner's if it is set, otherwise the model's own.
    pub fn temperature_of(&self, block: &BlockConfig) -> f64 {
        self.temperature.unwrap_or(block.attention.temperature)
    }

    /// Returns the factor of a block's scores.
    pub fn score_scale(&self, block: &BlockConfig) -> f64 {
        let attention = block.attention.clone();
        let temperature = self.temperature_of(block);
        AttentionConfig { temperature, scale: self.scale.unwrap_or(attention.scale), ..attention }.score_scale()
    }

    /// Returns the removed edges of a block's heads, counted within the block.
    fn edges_within(&self, heads: Range<usize>) -> Vec<Edge> {
        let edges = self.edges.iter().filter(|edge| heads.contains(&edge.head));
        edges.map(|edge| Edge { head: edge.head - heads.start, ..*edge }).collect()
    }

    /// Returns which keys each query sees in a block, counted over all blocks.
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

    /// Returns which keys each query sees in the first layer, as the view of the mask shows it.
    pub fn sight_of_first<'a>(&'a self, architecture: &'a Architecture) -> Sight<'a> {
        let first = &architecture.first_self_attention().attention;
        Sight { layer: first, first, learners: self.mask.as_ref() }
    }

    /// Returns a block's configuration with the interventions applied, for a sentence of the given number of tokens.
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

/// The keys that each query sees in one block, by its own mask and window and by the learner's mask.
///
/// The masks *none* and *causal* replace those of the layers, whose windows stay. A table of the learner's says which
/// keys each query sees in the first layer. A pair that the table changes there, compared with the layers' masks or the
/// mask that replaces them, is changed in all layers. Every other pair is as each layer has it, so layers with
/// different windows keep them.
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

    /// Returns whether the query sees the key in a layer as it is before the learner's table changes pairs.
    fn sees_unchanged(&self, layer: &AttentionConfig, query: usize, key: usize) -> bool {
        let is_in_mask = match self.learners.map(Mask::base).unwrap_or_default() {
            MaskBase::Layers => layer.mask.sees(query, key),
            MaskBase::None => true,
            MaskBase::Causal => Mask::Causal.sees(query, key),
            MaskBase::Hidden => false,
        };
        is_in_mask && layer.window.sees(query, key)
    }

    /// Returns a mask and a window that together have the effect of [`Self::sees`] in a sentence of the given number of
    /// tokens.
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
    /// Computes the forward pass of one sentence, and of its source if the model has one.
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
        let embedded = |tower: Tower, sentence: &Sequences| {
            let (embedded, input) = model.embedded(parameters, tower, sentence);
            (embedded.map(Arc::new), Arc::new(input))
        };
        let of_source = source.map(|source| {
            let (embedded, input) = embedded(Tower::Source, source);
            SourceActivations { embedded, memory: input.clone(), input }
        });
        let (embedded, input) = embedded(Tower::Sentence, sentence);
        let start = Self { embedded, source: of_source, blocks: Vec::new(), output: input.clone(), input };
        Pass { model, parameters, sentence, source, interventions }.from(start)
    }

    /// Computes the pass again after a change that affects only block `from_block` and later ones. The earlier blocks
    /// are shared with this pass, and all numbers are the same bit for bit as in a whole pass.
    ///
    /// # Panics
    /// See [`Self::of`]; also if this pass has fewer than `from_block` blocks.
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

    /// Returns the heads of all blocks, the source's first.
    pub fn heads(&self) -> impl Iterator<Item = &HeadActivations<S>> {
        self.blocks.iter().flat_map(|block| &block.heads)
    }
}

/// The inputs of a pass: the model, the sentence, its source and the interventions.
struct Pass<'a, S> {
    model: &'a AttentionModel<S>,
    parameters: &'a Parameters<S>,
    sentence: &'a Sequences,
    source: Option<&'a Sequences>,
    interventions: &'a Interventions<S>,
}

impl<S: Scalar> Pass<'_, S> {
    /// Continues after the blocks that are already computed.
    fn from(&self, mut done: Activations<S>) -> Activations<S> {
        let Self { model, parameters, sentence, source, interventions } = *self;
        let architecture = &model.architecture;
        assert_eq!(source.is_some(), architecture.has_source(), "activations: the source and the model do not match");
        let (modes, heads) = (interventions.heads.len(), architecture.heads());
        assert!(modes == 0 || modes == heads, "activations: modes for {modes} heads of {heads}");
        let (sources, before) = (architecture.source_blocks.len(), done.blocks.len());
        let (of_source, of_sentence) = done.blocks.split_at(sources.min(before));
        let output = |blocks: &[Arc<BlockActivations<S>>]| blocks.last().map(|block| block.output.clone());
        let mut z = output(of_source).or_else(|| done.source.as_ref().map(|source| source.input.clone()));
        let mut x = output(of_sentence).unwrap_or_else(|| done.input.clone());
        let mut room = None;
        for (b, block) in architecture.numbered_blocks().skip(before) {
            let tower = architecture.tower_of(b);
            let config = interventions.changed(architecture, (b, block), sentence.rows.total());
            let heads = architecture.heads_of(b);
            let modes = interventions.heads.get(heads.clone()).unwrap_or(&[]);
            let removed = interventions.edges_within(heads);
            let changes = HeadChanges { modes, removed: &removed };
            if let Some(patch) = interventions.patch.as_ref().filter(|patch| patch.block == b) {
                match tower {
                    Tower::Source => z = z.map(|z| Arc::new(patched(&z, patch))),
                    Tower::Sentence => x = Arc::new(patched(&x, patch)),
                }
            }
            let memory = done.source.as_ref().map(|source| &source.memory);
            let (input, keys) = match (tower, &z, source) {
                (Tower::Source, Some(z), Some(source)) => ((z, source), None),
                (_, _, source) => ((&x, sentence), memory.zip(source)),
            };
            let activations = run(Learned { config: &config, parameters, number: b }, input, keys, changes, &mut room);
            let output = activations.output.clone();
            match tower {
                Tower::Source => {
                    if let Some(source) = done.source.as_mut().filter(|_| b + 1 == sources) {
                        source.memory = normed_after(model, parameters, tower, output.clone());
                    }
                    z = Some(output);
                }
                Tower::Sentence => x = output,
            }
            done.blocks.push(Arc::new(activations));
        }
        done.output = normed_after(model, parameters, Tower::Sentence, x);
        done
    }
}

/// Applies the norm after a tower's blocks; without one the vectors are shared.
fn normed_after<S: Scalar>(
    model: &AttentionModel<S>,
    parameters: &Parameters<S>,
    tower: Tower,
    x: Arc<Matrix<S>>,
) -> Arc<Matrix<S>> {
    let form = model.architecture.norm_form;
    model.final_norm(parameters, tower).map_or(x.clone(), |affine| Arc::new(normed(form, affine, (*x).clone())))
}

/// Returns a copy of the vectors in which one is replaced by the patch's.
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

/// Buffers for blocks of one shape, which such blocks use one after the other.
pub(super) struct RoomOfShape<S> {
    config: BlockConfig,
    queries: usize,
    keys: usize,
    cache: BlockCache<S>,
}

/// Returns a cache for a block with this number of queries and keys: the cache of the previous block if it fits,
/// otherwise a new one.
pub(super) fn room_for<'a, S: Scalar>(
    room: &'a mut Option<RoomOfShape<S>>,
    config: &BlockConfig,
    (queries, keys): (usize, usize),
) -> &'a mut BlockCache<S> {
    let fits = |room: &RoomOfShape<S>| (&room.config, room.queries, room.keys) == (config, queries, keys);
    let room = match room.take().filter(fits) {
        Some(fitting) => room.insert(fitting),
        None => room.insert(RoomOfShape {
            config: config.clone(),
            queries,
            keys,
            cache: BlockCache::for_views(config, BatchRoom::one(queries), BatchRoom::one(keys)),
        }),
    };
    &mut room.cache
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
    let cache = room_for(room, config, (queries, keys));
    let (from, source) = (tokens(x), source.map(tokens));
    attend_forward(block, from, source, changes, cache);
    tail_forward(block, cache.attention.mix.flat(), x.0.flat(), &mut cache.tail);
    let attention = &cache.attention;
    let heads = (0..layer.heads).map(|head| {
        let (scores, weights) = attention.scores_and_weights(head, queries, keys);
        let given = changes.modes.get(head).and_then(HeadMode::given_values);
        HeadActivations {
            query: attention.query.top_columns(queries, &layer.query_columns(head)),
            key: attention.key.top_columns(keys, &layer.key_columns(head)),
            value: given.cloned().unwrap_or_else(|| attention.value.top_columns(keys, &layer.value_columns(head))),
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

/// The steps of a head from products to weights, for readers who compute them by hand; one row for each query.
#[derive(Clone, Debug, PartialEq)]
pub struct Arithmetic<S> {
    /// `Q Kᵀ` (T, T_k)
    pub products: Matrix<S>,
    /// Factor of a product, [`AttentionConfig::score_scale`](super::attention::AttentionConfig::score_scale).
    pub scale: S,
    /// `B[j − i] / τ` (T, T_k), which is added to the scaled products; `None` if distances are not used.
    pub distances: Option<Matrix<S>>,
    /// `max_j s_ij` (T); −∞ if a query sees no key.
    pub largest: Vec<S>,
    /// `exp(s_ij − max s_i)` (T, T_k); 0 where masked.
    pub exponentials: Matrix<S>,
    /// `Σ_j exp(s_ij − max s_i)` (T)
    pub sums: Vec<S>,
}

impl<S: Scalar> Arithmetic<S> {
    /// Computes the steps of a head whose products are multiplied by `scale` and to which `distances` are added.
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

    /// Makes empty steps for a recorded head whose queries and keys are unknown; nothing shows them.
    pub fn unknown(queries: usize) -> Self {
        Self {
            products: Matrix::zeros(queries, 0),
            scale: S::one(),
            distances: None,
            largest: vec![S::NEG_INFINITY; queries],
            exponentials: Matrix::zeros(queries, 0),
            sums: vec![S::zero(); queries],
        }
    }

    /// Adds a learned score to the softmax of each row, as in gpt-oss. Its weight goes to no key.
    #[must_use]
    pub fn with_sink(mut self, sink: S) -> Self {
        for (row, largest) in self.largest.iter_mut().enumerate() {
            let (before, after) = (*largest, largest.max(sink));
            let factor = (before - after).exp();
            self.exponentials.row_mut(row).iter_mut().for_each(|exponential| *exponential *= factor);
            self.sums[row] = self.sums[row] * factor + (sink - after).exp();
            *largest = after;
        }
        self
    }

    /// Keeps the columns of some keys; the sums are still those of all keys.
    #[must_use]
    pub fn of_keys(self, keys: &Range<usize>) -> Self {
        let rows = self.products.rows();
        Self {
            products: self.products.top_columns(rows, keys),
            distances: self.distances.map(|distances| distances.top_columns(rows, keys)),
            exponentials: self.exponentials.top_columns(rows, keys),
            ..self
        }
    }
}

/// Computes `B[j − i] / τ` of the first queries and keys, (T, T_k), from a head's row of `B`.
///
/// # Panics
/// If there are more than `T_max` queries or keys.
pub fn distance_scores<S: Scalar>(
    form: DistanceForm,
    bias: &[S],
    temperature: f64,
    queries: usize,
    keys: usize,
) -> Matrix<S> {
    let share = S::from_f64(1.0 / temperature);
    Matrix::from_fn(queries, keys, |query, key| share * bias[form.column(query, key)])
}
