//! The whole model: static vectors and positions, blocks, and a readout; its loss and the gradient.
//!
//! ```text
//! X = E[words] + P          a hidden word has the zero vector instead of E's row; the source may have its own P
//!     norm(E[words] + P + E_S)      with a norm and the sentence of a pair, as in BERT
//!     √D E[words]                   scaled, as in Gemma
//! Y = blocks(X)             or norm(blocks(X)), as in GPT-2
//! R = Y[rows]               the rows of the targets, the last row, or the mean of all
//! Z = R E_Cᵀ + b_logits     tied: a word is likely if the output is similar to its static vector
//!     D^−½ R E_Cᵀ               with a factor, as in T5
//!     R W_logits + b_logits     or with weights of its own
//!     norm(φ(R W_T + b_T)) E_Cᵀ + b_logits      or tied after a layer of its own (transform_forward)
//!     c tanh(Z / c)                 bounded, as in Gemma 2
//! L = mean over the targets of cross_entropy(Z_row, class)
//! ```
//!
//! `E_C` are the rows of the candidates, the words that the objective chooses among: all words, or those that a lesson
//! is about. A frozen `E` stays as word2vec trained it, so that static and contextual vectors share one space. If there
//! is a source sentence, it has its own blocks, and the cross-attention of [`Architecture::blocks`] attends to their
//! output, or to `norm(blocks(X))` as in T5. The two stacks are the model's towers ([`Tower`]).
//!
//! In reading order: this file defines the model; [`classes`] and [`batch`] its tasks. [`step`] computes the [`loss`]
//! and its gradient, [`shards`] on several threads. [`activations`] exposes the pass of one sentence, [`onward`] goes
//! on with it from a changed vector, [`generate`] continues the sentence, with several [`beams`] too, [`attribution`]
//! splits a logit into terms, and [`cost`] estimates what a model costs from its sizes.

pub mod activations;
pub mod attribution;
pub mod batch;
pub mod beams;
pub mod classes;
pub mod cost;
pub mod generate;
mod loss;
pub mod onward;
pub mod shards;
pub mod step;
mod writing;

use std::sync::Arc;

pub use activations::Activations;
pub use batch::{Batch, Sequences};
use faer::MatRef;
pub use loss::DistanceCosts;
use rand::RngExt;
use serde::{Deserialize, Serialize};
pub use step::{StepWorkspace, model_backward, model_forward};
pub use writing::WritingRules;

use crate::messages::no_head;
use crate::numerics::activation::Activation;
use crate::numerics::attention::AttentionConfig;
use crate::numerics::attention::look_up::LookUp;
use crate::numerics::block::{Attends, BlockConfig, gain_and_shift, norm_back};
use crate::numerics::linear::{affine_backward, affine_forward};
pub use crate::numerics::model::classes::{Candidates, Classes, Masking};
use crate::numerics::norm::{NormCache, NormForm, norm_forward};
use crate::numerics::params::pairs::{
    EMBEDDING_NORM, FINAL_NORM, SOURCE_EMBEDDING_NORM, SOURCE_NORM, TRANSFORM, TRANSFORM_NORM,
};
use crate::numerics::params::{Layer, Parameters, Start, TensorId, TensorName};
use crate::numerics::positions::{PositionRows, Positions};
use crate::numerics::projection::Lens;
use crate::numerics::rng::{Stream, stream};
use crate::numerics::simd::{add, add_scaled};
use crate::numerics::table::{Table, TableRef};
use crate::numerics::{Matrix, Scalar};

/// The shape of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Architecture {
    /// Width `D` of the vectors.
    pub width: usize,
    /// Number of tokens of the longest sentence.
    pub max_tokens: usize,
    pub positions: Positions,
    /// Rows of a learned `P` that tokens use.
    pub position_rows: PositionRows,
    /// Number of sentences of a pair that the model distinguishes, the rows of `E_S`.
    pub segments: Option<usize>,
    /// Whether the sum of the embeddings is normed.
    pub embedding_norm: bool,
    /// Whether there is a norm after all blocks.
    pub final_norm: bool,
    /// Form of these two norms and of the readout's.
    pub norm_form: NormForm,
    /// Factor by which the rows of `E` are multiplied before anything is added to them.
    pub embedding_scale: Option<f64>,
    /// Parts that the source has of its own.
    pub source: SourceForm,
    /// Whether `E` is trained with the model, starting from word2vec's vectors.
    pub train_embedding: bool,
    /// Blocks of the source sentence; empty if there is none.
    pub source_blocks: Vec<BlockConfig>,
    /// Blocks of the sentence; at least one.
    pub blocks: Vec<BlockConfig>,
    pub pooling: Pooling,
    pub readout: Readout,
    /// Whether there is a `b_T`, if the readout has its own layer.
    pub transform_bias: bool,
    /// Whether there is a `b_logits`.
    pub readout_bias: bool,
    /// Factor by which outputs are multiplied before the readout: `D^−½` in T5, where `E` is both the embedding and the
    /// readout.
    pub logit_scale: Option<f64>,
    /// Bound `c` of the logits, `c tanh(z / c)` (Gemma 2: arXiv 2408.00118, section 2).
    pub logit_cap: Option<f64>,
    /// Number of the layer of each block, counted from 0, those of the source first; `None` if the layers are complete
    /// and in order. A recording may lack some.
    pub layers: Option<Arc<[usize]>>,
}

/// The parts, apart from blocks, that the source of a model has for itself and does not share with the sentence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceForm {
    /// Whether the source has its own learned positions.
    pub positions: bool,
    /// Whether the source has its own norm after its embeddings.
    pub embedding_norm: bool,
    /// Whether there is a norm after the source's blocks.
    pub final_norm: bool,
}

/// One of the two stacks of blocks of a model with a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tower {
    /// The blocks of the source, an encoder.
    Source,
    /// The blocks of the sentence: the decoder, or all blocks of a model without a source.
    Sentence,
}

/// The outputs that the readout reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pooling {
    /// Each target's output separately.
    Every,
    /// A sentence's last output.
    Last,
    /// The mean of a sentence's outputs.
    Mean,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readout {
    /// Dot products with the candidates' static vectors.
    Tied,
    /// The tied readout after its own layer: see [`transform_forward`].
    Transformed(Activation),
    /// A linear map with its own weights.
    Linear,
    /// A linear map with its own weights, after a layer of the readout's own.
    TransformedLinear(Activation),
}

impl Readout {
    /// Returns whether a word's logit is a dot product with its static vector, so that a word is likely if the output
    /// is similar to it.
    pub fn is_by_static_vectors(self) -> bool {
        matches!(self, Self::Tied | Self::Transformed(_))
    }

    /// Returns the activation function of the readout's own layer, if it has one.
    pub fn activation(self) -> Option<Activation> {
        match self {
            Self::Tied | Self::Linear => None,
            Self::Transformed(activation) | Self::TransformedLinear(activation) => Some(activation),
        }
    }
}

/// The kind of a block: of a model with one tower, or of the encoder or the decoder of a model with two.
#[derive(Clone, Copy)]
enum BlockKind {
    Only,
    Source,
    Own,
    Cross,
}

impl BlockKind {
    /// Returns the kind of a block of the decoder.
    fn of_target(block: &BlockConfig) -> Self {
        if block.attends_to_source() { Self::Cross } else { Self::Own }
    }

    /// Returns the name of the kind and its sign; both are empty if there is one tower.
    fn name(self) -> [&'static str; 2] {
        match self {
            Self::Only => ["", ""],
            Self::Source => ["source", "s"],
            Self::Own => ["self-attention", ""],
            Self::Cross => ["cross-attention", "x"],
        }
    }
}

impl Architecture {
    /// Returns a model of one block of self-attention with a residual, over frozen vectors, with a tied readout at
    /// every position.
    pub fn of_attention(attention: AttentionConfig, positions: Positions, max_tokens: usize) -> Self {
        Self {
            width: attention.width,
            max_tokens,
            positions,
            position_rows: PositionRows::default(),
            segments: None,
            embedding_norm: false,
            final_norm: false,
            norm_form: NormForm::LAYER,
            embedding_scale: None,
            source: SourceForm::default(),
            train_embedding: false,
            source_blocks: Vec::new(),
            blocks: vec![BlockConfig::plain(attention)],
            pooling: Pooling::Every,
            readout: Readout::Tied,
            transform_bias: true,
            readout_bias: true,
            logit_scale: None,
            logit_cap: None,
            layers: None,
        }
    }

    /// Returns all blocks with their numbers, those of the source first.
    pub fn numbered_blocks(&self) -> impl Iterator<Item = (usize, &BlockConfig)> {
        self.source_blocks.iter().chain(&self.blocks).enumerate()
    }

    /// Returns the number of heads of all blocks.
    pub fn heads(&self) -> usize {
        self.numbered_blocks().map(|(_, block)| block.attention.heads).sum()
    }

    /// Returns the number and configuration of a head's block, and the head's number in it.
    ///
    /// # Panics
    /// If the model has no such head.
    pub fn head(&self, mut head: usize) -> (usize, &BlockConfig, usize) {
        for (number, block) in self.numbered_blocks() {
            if head < block.attention.heads {
                return (number, block, head);
            }
            head -= block.attention.heads;
        }
        panic!("architecture: it has {} heads", self.heads());
    }

    /// Checks that there is a head, counted over all blocks.
    ///
    /// # Errors
    /// A message in words, if there is no such head.
    pub fn check_head(&self, head: usize) -> Result<(), String> {
        let heads = self.heads();
        if head < heads { Ok(()) } else { Err(no_head(head, heads)) }
    }

    /// Returns the index, counted over all blocks, of a head that is given by its block and its number there.
    ///
    /// # Errors
    /// A message in words, if there is no such block or head.
    pub fn head_in(&self, block: usize, head: usize) -> Result<usize, String> {
        let (blocks, layer) = (self.numbered_blocks().count(), block.saturating_add(1));
        if block >= blocks {
            return Err(format!("there is no layer {layer}; the last layer is {blocks}"));
        }
        let heads = self.heads_of(block);
        heads.clone().nth(head).ok_or_else(|| {
            format!("there is no head {} in layer {layer}; the last is head {}", head.saturating_add(1), heads.len())
        })
    }

    /// Returns the numbers of a block's heads, counted over all blocks; empty if there is no such block.
    pub fn heads_of(&self, block: usize) -> std::ops::Range<usize> {
        let heads = |(_, block): (usize, &BlockConfig)| block.attention.heads;
        let first = self.numbered_blocks().take(block).map(heads).sum();
        first..first + self.numbered_blocks().nth(block).map_or(0, heads)
    }

    /// Returns the kind of a block with the index of its layer among the layers of the same kind, and their number.
    fn block_place(&self, block: usize) -> (BlockKind, usize, usize) {
        let Self { source_blocks, blocks, .. } = self;
        let recorded = self.layers.as_deref().and_then(|layers| layers.get(block));
        if let Some(layer) = recorded {
            let own = block.checked_sub(source_blocks.len());
            let kind = match own.and_then(|own| blocks.get(own)) {
                _ if !self.has_source() => BlockKind::Only,
                None => BlockKind::Source,
                Some(block) => BlockKind::of_target(block),
            };
            // The number tells which layer of the model was recorded, so it is shown even if there is only one.
            (kind, *layer, usize::MAX)
        } else if source_blocks.is_empty() {
            (BlockKind::Only, block, blocks.len())
        } else if block < source_blocks.len() {
            (BlockKind::Source, block, source_blocks.len())
        } else {
            let block = block - source_blocks.len();
            // Each layer of the decoder has two blocks.
            (BlockKind::of_target(&blocks[block]), block / 2, blocks.len().div_ceil(2))
        }
    }

    /// Returns the name of a block: `layer 2`, or with a source `layer 2, cross-attention`; empty if there is only one.
    pub fn block_name(&self, block: usize) -> String {
        let (kind, layer, layers) = self.block_place(block);
        let layer = if layers > 1 { format!("layer {}", layer + 1) } else { String::new() };
        let parts: Vec<&str> = [&layer, kind.name()[0]].into_iter().filter(|part| !part.is_empty()).collect();
        parts.join(", ")
    }

    /// Returns the sign of a block where there is no room for its name: the number of its layer, in the source after
    /// `s` and for cross-attention after `x`, such as `2`, `s2` and `x2`.
    pub fn block_sign(&self, block: usize) -> String {
        let (kind, layer, _) = self.block_place(block);
        format!("{}{}", kind.name()[1], layer + 1)
    }

    /// Returns the first block of self-attention in the sentence, or the first block if there is none.
    pub fn first_self_attention(&self) -> &BlockConfig {
        self.blocks.iter().find(|block| !block.attends_to_source()).unwrap_or(&self.blocks[0])
    }

    /// Returns the name of a head, counted over all blocks: `head 3`; `layer 2, head 3`; with a source
    /// `cross-attention, head 1`.
    ///
    /// # Panics
    /// If the model has no such head.
    pub fn head_name(&self, head: usize) -> String {
        let (block, _, own) = self.head(head);
        match self.block_name(block) {
            block if block.is_empty() => format!("head {}", own + 1),
            block => format!("{block}, head {}", own + 1),
        }
    }

    /// Returns whether the model reads two sentences.
    pub fn has_source(&self) -> bool {
        !self.source_blocks.is_empty() || self.blocks.iter().any(BlockConfig::attends_to_source)
    }

    /// Returns whether the outputs can be pooled before the last block's tail, which then runs on fewer rows.
    fn pools_before_tail(&self) -> bool {
        let is_linear = !self.final_norm && self.blocks.last().is_some_and(BlockConfig::has_linear_tail);
        self.pooling != Pooling::Mean || is_linear
    }

    /// Returns whether even the mean of the weights can be taken, before the mixes are computed.
    fn pools_means_before_tail(&self) -> bool {
        self.pooling == Pooling::Mean && self.pools_before_tail()
    }

    /// Returns the ids, rows and columns of all tensors of a model with the given number of words and classes, in
    /// storage order.
    pub fn shapes(&self, words: usize, classes: usize) -> Vec<(TensorId, usize, usize)> {
        let one = |name: TensorName| self.shape(name, words, classes).map(|(rows, cols)| (name.into(), rows, cols));
        let of = |layer| TensorName::ALL.iter().copied().filter(move |name| name.layer() == layer).filter_map(one);
        let blocks = self.numbered_blocks().flat_map(|(number, block)| block.shapes(number));
        of(Layer::Input).chain(blocks).chain(of(Layer::Readout)).collect()
    }

    /// Returns the rows and columns of a tensor outside the blocks, or `None` if the model does not have it.
    fn shape(&self, name: TensorName, words: usize, classes: usize) -> Option<(usize, usize)> {
        use TensorName::*;
        let Architecture { width, max_tokens, positions, train_embedding, readout, .. } = *self;
        let Architecture { position_rows, segments, embedding_norm, final_norm, readout_bias, .. } = *self;
        let (transforms, has_shift) = (readout.activation().is_some(), self.norm_form.shift);
        let is_learned = positions == super::positions::Positions::Learned;
        let places = max_tokens + position_rows.first;
        let source = if self.has_source() { self.source } else { SourceForm::default() };
        let has_source_norm = embedding_norm && source.embedding_norm;
        let (exists, rows, cols) = match name {
            Embedding => (train_embedding, words, width),
            Positions => (is_learned, places, width),
            SourcePositions => (is_learned && source.positions, places, width),
            SourceEmbeddingNormGain => (has_source_norm, 1, width),
            SourceEmbeddingNormBias => (has_source_norm && has_shift, 1, width),
            SourceNormGain => (source.final_norm, 1, width),
            SourceNormBias => (source.final_norm && has_shift, 1, width),
            Segments => (segments.is_some(), segments.unwrap_or(0), width),
            EmbeddingNormGain => (embedding_norm, 1, width),
            EmbeddingNormBias => (embedding_norm && has_shift, 1, width),
            FinalNormGain => (final_norm, 1, width),
            FinalNormBias => (final_norm && has_shift, 1, width),
            TransformWeights => (transforms, width, width),
            TransformBias => (transforms && self.transform_bias, 1, width),
            TransformNormGain => (transforms, 1, width),
            TransformNormBias => (transforms && has_shift, 1, width),
            LogitWeights => (!readout.is_by_static_vectors(), width, classes),
            LogitBias => (readout_bias, 1, classes),
            other => {
                debug_assert!(other.is_of_a_block(), "model: no shape for {other:?}");
                (false, 0, 0)
            }
        };
        exists.then_some((rows, cols))
    }

    /// Returns the form of the norm that a tensor belongs to.
    fn form_of(&self, id: TensorId) -> NormForm {
        let block = self.numbered_blocks().nth(id.block).filter(|_| id.name.is_of_a_block());
        match (id.name, block) {
            (TensorName::QueryNormGain | TensorName::KeyNormGain, Some((_, block))) => {
                block.attention.query_key_norm.map_or(block.norm_form, |norm| norm.form)
            }
            (_, Some((_, block))) => block.norm_form,
            (_, None) => self.norm_form,
        }
    }

    fn check(&self) {
        assert!(!self.blocks.is_empty(), "architecture: no blocks");
        for (_, block) in self.numbered_blocks() {
            assert_eq!(block.attention.width, self.width, "architecture: a block of another width");
        }
        let PositionRows { first, filler } = self.position_rows;
        let is_learned = self.positions == Positions::Learned || (first, filler) == (0, None);
        assert!(is_learned && (filler.is_none() || first > 0), "architecture: rows of positions that do not exist");
        let crosses = |blocks: &[BlockConfig]| blocks.iter().any(|block| block.attends == Attends::Source);
        assert!(!crosses(&self.source_blocks), "architecture: cross-attention in the source");
        let is_recorded = self.layers.is_some();
        let has_source = is_recorded || !self.source_blocks.is_empty();
        assert!(has_source || !crosses(&self.blocks), "architecture: cross-attention without a source");
        let has_parts = self.source != SourceForm::default();
        assert!(has_source || !has_parts, "architecture: parts of a source without a source");
        let transforms = self.readout.activation().is_some();
        assert!(self.logit_scale.is_none() || !transforms, "architecture: a factor of logits behind a layer");
    }
}

/// The parts of a model that do not change in training.
#[derive(Clone, Debug)]
pub struct AttentionModel<S> {
    pub architecture: Architecture,
    /// `E` (V, D), frozen or before training.
    pub embedding: Arc<Table<S>>,
    pub classes: Classes,
    /// Weights of the terms that the loss adds to the cross-entropy.
    costs: DistanceCosts,
    /// Rules about the words that the model writes.
    rules: WritingRules,
    /// `E_C` (C, D) of a tied readout with a frozen `E`; `E` itself if all words are candidates.
    readout: Option<Arc<Table<S>>>,
    /// `P` (T_max, D) if it is not learned.
    fixed_positions: Option<Arc<Matrix<S>>>,
}

/// Standard deviation of learned positions at initialisation.
const POSITION_INIT: f64 = 0.5;

impl<S: Scalar> AttentionModel<S> {
    /// Makes the model with no costs of distances and no rules of writing.
    ///
    /// # Panics
    /// If the parts do not fit: widths, sources, labels with a tied readout.
    pub fn new(architecture: Architecture, embedding: Arc<Table<S>>, classes: Classes) -> Self {
        architecture.check();
        let (width, max_tokens) = (architecture.width, architecture.max_tokens);
        assert_eq!(embedding.cols(), width, "model: E is {} wide, D is {width}", embedding.cols());
        let fixed_positions = architecture.positions.fixed(max_tokens, width).map(Arc::new);
        let candidates = match (architecture.readout.is_by_static_vectors(), &classes) {
            (true, Classes::Labels(_)) => panic!("model: labels have no static vectors to tie them to"),
            (true, Classes::Words(candidates)) if !architecture.train_embedding => Some(candidates.words()),
            _ => None,
        };
        let readout = candidates.map(|words| match words.iter().copied().eq(0..embedding.rows()) {
            true => embedding.clone(),
            false => Arc::new(embedding.gathered(words.iter().copied()).into()),
        });
        let (costs, rules) = (DistanceCosts::default(), WritingRules::default());
        Self { architecture, embedding, classes, costs, rules, readout, fixed_positions }
    }

    /// Sets the rules of what the model writes.
    #[must_use]
    pub fn with_rules(self, rules: WritingRules) -> Self {
        Self { rules, ..self }
    }

    pub fn rules(&self) -> &WritingRules {
        &self.rules
    }

    /// Adds squared distances to the model's loss.
    ///
    /// # Panics
    /// If `arrive` is not 0 and the classes have no fixed vectors: because the readout is not tied, or because `E` is
    /// trained.
    pub fn with_costs(self, costs: DistanceCosts) -> Self {
        let Architecture { train_embedding, readout, .. } = self.architecture;
        let has_places = readout == Readout::Tied && !train_embedding;
        assert!(costs.arrive == 0.0 || has_places, "costs: arriving needs a tied readout and a frozen E");
        Self { costs, ..self }
    }

    pub fn costs(&self) -> DistanceCosts {
        self.costs
    }

    /// Returns zeros in the model's shapes.
    pub fn zeros(&self) -> Parameters<S> {
        Parameters::zeros(&self.architecture.shapes(self.embedding.rows(), self.classes.count()))
    }

    /// Returns the initial parameters for a seed; each tensor starts as its [`Start`] says.
    pub fn init(&self, seed: u64) -> Parameters<S> {
        let mut rng = stream(seed, Stream::ModelInit);
        let mut parameters = self.zeros();
        let specs = parameters.specs().to_vec();
        for spec in specs {
            let values = parameters.values_of_mut(spec.id);
            let bound = match spec.id.name.start() {
                Start::StaticVectors => {
                    values.copy_from_slice(&self.embedding.view().widened());
                    continue;
                }
                Start::One => {
                    values.fill(S::one() - self.architecture.form_of(spec.id).gain_offset::<S>());
                    continue;
                }
                Start::Zero => continue,
                Start::Positions => POSITION_INIT * 3f64.sqrt(), // a uniform's deviation is bound/√3
                Start::Glorot => (6.0 / (spec.rows + spec.cols) as f64).sqrt(),
            };
            for value in values {
                *value = S::from_f64(rng.random_range(-bound..bound));
            }
        }
        parameters
    }

    /// Returns `E` (V, D), frozen or trained.
    #[inline(always)]
    pub fn embedding<'a>(&'a self, parameters: &'a Parameters<S>) -> TableRef<'a, S> {
        if self.architecture.train_embedding {
            TableRef::of_rows(parameters.values_of(TensorName::Embedding), self.architecture.width)
        } else {
            self.embedding.view()
        }
    }

    /// Returns `P` (T_max·D) of a tower, empty if the model has none.
    pub(crate) fn positions<'a>(&'a self, parameters: &'a Parameters<S>, tower: Tower) -> &'a [S] {
        match &self.fixed_positions {
            Some(fixed) => fixed.flat(),
            None => parameters.values_of(self.architecture.positions_of(tower)),
        }
    }

    /// Returns `P` (T_max, D) if it is not learned.
    pub fn fixed_positions(&self) -> Option<&Arc<Matrix<S>>> {
        self.fixed_positions.as_ref()
    }

    /// Returns the number of rows of `P`.
    fn places(&self) -> usize {
        let Architecture { positions, max_tokens, position_rows, .. } = &self.architecture;
        if *positions == Positions::None { 0 } else { max_tokens + position_rows.first }
    }

    /// Returns whether the projection of a token is the sum of the projections of its word and its position, because
    /// nothing else is added, scaled or normed.
    fn looks_up(&self) -> bool {
        let Architecture { position_rows, segments, embedding_norm, embedding_scale, .. } = &self.architecture;
        let is_plain = segments.is_none() && embedding_scale.is_none() && *position_rows == PositionRows::default();
        is_plain && !embedding_norm && !self.architecture.source.positions
    }

    fn look_up<'a>(&'a self, parameters: &'a Parameters<S>, sequences: &'a Sequences) -> LookUp<'a, S> {
        let width = self.architecture.width;
        LookUp {
            embedding: self.embedding(parameters),
            words: &sequences.words,
            places: MatRef::from_row_major_slice(self.positions(parameters, Tower::Sentence), self.places(), width),
            positions: &sequences.positions,
        }
    }

    /// Computes `E[words] + P + E_S` row by row.
    #[inline(always)]
    fn embed(&self, parameters: &Parameters<S>, tower: Tower, sequences: &Sequences, x: &mut [S]) {
        self.look_words_up(parameters, sequences, x);
        self.add_places(parameters, tower, sequences, x);
    }

    /// Writes the static vector of each word, `E[words]` with its factor; zeros for a hidden word.
    #[inline(always)]
    fn look_words_up(&self, parameters: &Parameters<S>, sequences: &Sequences, x: &mut [S]) {
        let embedding = self.embedding(parameters);
        let scale = self.architecture.embedding_scale.map(S::from_f64);
        for (x, &word) in x.chunks_exact_mut(self.architecture.width).zip(&sequences.words) {
            match word {
                Some(word) => embedding.copy_row(word, x),
                None => x.fill(S::zero()),
            }
            if let Some(scale) = scale {
                x.iter_mut().for_each(|x| *x *= scale);
            }
        }
    }

    /// Adds `P + E_S` to the words' vectors.
    #[inline(always)]
    fn add_places(&self, parameters: &Parameters<S>, tower: Tower, sequences: &Sequences, x: &mut [S]) {
        let width = self.architecture.width;
        let (positions, segments) = (self.positions(parameters, tower), parameters.values_of(TensorName::Segments));
        let rows = sequences.position_rows(self.architecture.position_rows);
        for (x, (&t, &segment)) in x.chunks_exact_mut(width).zip(rows.iter().zip(&sequences.segments)) {
            if !positions.is_empty() {
                add(x, &positions[t * width..][..width]);
            }
            if !segments.is_empty() {
                add(x, &segments[segment * width..][..width]);
            }
        }
    }

    /// Adds the gradient of [`Self::embed`] to the given one.
    #[inline(always)]
    fn embed_backward(&self, tower: Tower, sequences: &Sequences, d_x: &[S], gradient: &mut Parameters<S>) {
        let width = self.architecture.width;
        let positions = self.architecture.positions_of(tower);
        let (d_embedding, d_positions) = gradient.pair_mut(TensorName::Embedding, positions);
        let rows = sequences.position_rows(self.architecture.position_rows);
        let tokens = sequences.words.iter().zip(&*rows);
        let scale = self.architecture.embedding_scale.map_or(S::one(), S::from_f64);
        for (d_x, (&word, &t)) in d_x.chunks_exact(width).zip(tokens) {
            if let Some(word) = word.filter(|_| !d_embedding.is_empty()) {
                add_scaled(&mut d_embedding[word * width..][..width], scale, d_x);
            }
            if !d_positions.is_empty() {
                add(&mut d_positions[t * width..][..width], d_x);
            }
        }
        let d_segments = gradient.values_of_mut(TensorName::Segments);
        if !d_segments.is_empty() {
            for (d_x, &segment) in d_x.chunks_exact(width).zip(&sequences.segments) {
                add(&mut d_segments[segment * width..][..width], d_x);
            }
        }
    }

    /// Returns `γ` and `β` of the norm after a tower's embeddings; `None` if there is no such norm.
    pub(crate) fn embedding_norm<'a>(&self, parameters: &'a Parameters<S>, tower: Tower) -> Option<[&'a [S]; 2]> {
        self.architecture.embedding_norm_of(tower).map(|ids| gain_and_shift(parameters, ids))
    }

    /// Returns `γ` and `β` of the norm after a tower's blocks; `None` if there is no such norm.
    pub(crate) fn final_norm<'a>(&self, parameters: &'a Parameters<S>, tower: Tower) -> Option<[&'a [S]; 2]> {
        self.architecture.final_norm_of(tower).map(|ids| gain_and_shift(parameters, ids))
    }
}

impl Architecture {
    /// Returns the name of the learned positions of a tower.
    pub fn positions_of(&self, tower: Tower) -> TensorName {
        if tower == Tower::Source && self.source.positions {
            TensorName::SourcePositions
        } else {
            TensorName::Positions
        }
    }

    /// Returns the ids of `γ` and `β` of the norm after a tower's embeddings, if there is one.
    pub fn embedding_norm_of(&self, tower: Tower) -> Option<[TensorId; 2]> {
        let has_own = tower == Tower::Source && self.source.embedding_norm;
        self.embedding_norm.then_some(if has_own { SOURCE_EMBEDDING_NORM } else { EMBEDDING_NORM })
    }

    /// Returns the ids of `γ` and `β` of the norm after a tower's blocks, if there is one.
    pub fn final_norm_of(&self, tower: Tower) -> Option<[TensorId; 2]> {
        match tower {
            Tower::Source => self.source.final_norm.then_some(SOURCE_NORM),
            Tower::Sentence => self.final_norm.then_some(FINAL_NORM),
        }
    }

    /// Returns the tower of a block, counted over all blocks.
    pub fn tower_of(&self, block: usize) -> Tower {
        if block < self.source_blocks.len() { Tower::Source } else { Tower::Sentence }
    }

    /// Returns the tower of the sentence that a learner chooses: the source, if there is one.
    pub fn tower_of_chosen(&self) -> Tower {
        if self.has_source() { Tower::Source } else { Tower::Sentence }
    }

    /// Returns the norm after all blocks of a tower as a lens for other vectors, or `None` if there is none.
    pub fn last_lens(&self, tower: Tower, parameters: &Parameters<f32>) -> Option<Lens> {
        self.final_norm_of(tower).map(|ids| Lens::new(gain_and_shift(parameters, ids), self.norm_form))
    }

    /// Returns the norm after the embeddings as a lens for other vectors, or `None` if the model has none.
    pub fn embedding_lens(&self, parameters: &Parameters<f32>) -> Option<Lens> {
        self.embedding_norm.then(|| Lens::new(gain_and_shift(parameters, EMBEDDING_NORM), self.norm_form))
    }
}

// The readout's own layer, `T = norm(φ(R W_T + b_T))`, whose output is multiplied by the static vectors.
//
// BERT's masked-word head (Devlin et al. 2019, arXiv 1810.04805; `cls.predictions.transform` of its checkpoints).

/// Values that the backward pass needs, allocated once for the largest batch.
#[derive(Clone, Debug)]
pub struct TransformCache<S> {
    activation: Activation,
    form: NormForm,
    /// `R W_T + b_T` (N, D)
    summed: Matrix<S>,
    /// `φ(R W_T + b_T)` (N, D)
    hidden: Matrix<S>,
    norm: NormCache<S>,
    /// `T` (N, D)
    pub output: Matrix<S>,
}

impl<S: Scalar> TransformCache<S> {
    /// Allocates the cache, or returns `None` if the readout has no layer of its own.
    pub fn new(architecture: &Architecture, rows: usize) -> Option<Self> {
        let Architecture { width, norm_form: form, readout, .. } = *architecture;
        let activation = readout.activation()?;
        let (matrix, norm) = (|| Matrix::zeros(rows, width), NormCache::new(rows, width));
        Some(Self { activation, form, summed: matrix(), hidden: matrix(), norm, output: matrix() })
    }
}

/// Computes `T` and leaves it in the cache.
///
/// # Shapes
/// `read` (R, D) row-major
///
/// # Panics
/// If the shapes do not fit, or the cache has no room for them.
pub fn transform_forward<S: Scalar>(parameters: &Parameters<S>, read: &[S], cache: &mut TransformCache<S>) {
    let TransformCache { activation, form, summed, hidden, norm, output } = cache;
    let width = output.cols();
    let rows = read.len() / width;
    let read = MatRef::from_row_major_slice(read, rows, width);
    affine_forward(parameters, TRANSFORM, read, summed.top_flat_mut(rows));
    let hidden = hidden.top_flat_mut(rows);
    activation.apply(summed.top_flat(rows), hidden);
    norm_forward(*form, hidden, gain_and_shift(parameters, TRANSFORM_NORM), norm, output.top_flat_mut(rows));
}

/// Computes the gradients of [`transform_forward`]. Those of the parameters and of the input are added; `d` holds `d_T`
/// and is overwritten.
///
/// # Shapes
/// `read`, `d`, `d_read` (R, D) row-major
///
/// # Panics
/// If the shapes do not fit.
pub fn transform_backward<S: Scalar>(
    parameters: &Parameters<S>,
    read: &[S],
    cache: &TransformCache<S>,
    d: &mut [S],
    gradient: &mut Parameters<S>,
    d_read: &mut [S],
) {
    let width = cache.output.cols();
    let rows = read.len() / width;
    norm_back(cache.form, parameters, TRANSFORM_NORM, &cache.norm, d, gradient);
    cache.activation.backward(cache.summed.top_flat(rows), d);
    affine_backward(parameters, TRANSFORM, MatRef::from_row_major_slice(read, rows, width), d, d_read, gradient);
}
