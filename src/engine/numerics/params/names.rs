//! Names of the learned tensors: their symbols, layers and initial values.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Declares the learned tensors: the symbol, layer, initial values and purpose of each.
macro_rules! tensors {
    ($($(#[$doc:meta])* $name:ident = $symbol:literal, $layer:ident, $start:ident, $purpose:literal;)*) => {
        /// A learned tensor of a block or of the whole model. The order is that of the literature.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum TensorName {
            $($(#[$doc])* $name,)*
        }

        impl TensorName {
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Returns the symbol that the literature uses.
            pub fn symbol(self) -> &'static str {
                match self {
                    $(Self::$name => $symbol,)*
                }
            }

            pub fn layer(self) -> Layer {
                match self {
                    $(Self::$name => Layer::$layer,)*
                }
            }

            /// Returns the way in which the tensor is initialised.
            pub fn start(self) -> Start {
                match self {
                    $(Self::$name => Start::$start,)*
                }
            }

            /// Returns the purpose of the tensor in a few words.
            pub fn purpose(self) -> &'static str {
                match self {
                    $(Self::$name => $purpose,)*
                }
            }
        }
    };
}

tensors! {
    /// `E` (V, D), if the static vectors are trained with the model.
    Embedding = "E", Input, StaticVectors,
        "the static vectors, trained with the model";
    /// `P` (T_max, D), added to the embeddings.
    Positions = "P", Input, Positions,
        "what a position adds to a word's static vector";
    /// `E_S` (segments, D), added to the embeddings: a row for each sentence of a pair.
    Segments = "E_S", Input, Positions,
        "what a word's sentence, the first or the second of a pair, adds to the word's static vector";
    /// `γ_E` (1, D) of the norm after the sum of the embeddings.
    EmbeddingNormGain = "γ_E", Input, One,
        "scales the output of the norm after the embeddings";
    /// `β_E` (1, D)
    EmbeddingNormBias = "β_E", Input, Zero,
        "shifts the output of the norm after the embeddings";
    /// `P_S` (T_max, D), added to the embeddings of the source, where it has positions of its own.
    SourcePositions = "P_S", Input, Positions,
        "what a position adds to the static vector of a word of the source";
    /// `γ_ES` (1, D) of the norm after the sum of the source's embeddings, where that norm is its own.
    SourceEmbeddingNormGain = "γ_ES", Input, One,
        "scales the output of the norm after the source's embeddings";
    /// `β_ES` (1, D)
    SourceEmbeddingNormBias = "β_ES", Input, Zero,
        "shifts the output of the norm after the source's embeddings";
    /// `γ_S` (1, D) of the norm after the source's blocks.
    SourceNormGain = "γ_S", Input, One,
        "scales the output of the norm after the source's blocks, which cross-attention reads";
    /// `β_S` (1, D)
    SourceNormBias = "β_S", Input, Zero,
        "shifts the output of the norm after the source's blocks, which cross-attention reads";
    /// `W_Q` (D, H·d_k)
    QueryWeights = "W_Q", Attention, Glorot,
        "computes a word's query, which says what the word looks for";
    /// `b_Q` (1, H·d_k)
    QueryBias = "b_Q", Attention, Zero,
        "shifts a word's query, which says what the word looks for";
    /// `W_K` (D, K·d_k)
    KeyWeights = "W_K", Attention, Glorot,
        "computes a word's key, by which other words find it";
    /// `b_K` (1, K·d_k)
    KeyBias = "b_K", Attention, Zero,
        "shifts a word's key, by which other words find it";
    /// `γ_q` of the norm of queries: (1, d_k) for each head separately, (1, H·d_k) for all heads together.
    QueryNormGain = "γ_q", Attention, One,
        "scales the output of the norm of the queries";
    /// `γ_k` of the norm of keys: (1, d_k) for each head separately, (1, K·d_k) for all heads together.
    KeyNormGain = "γ_k", Attention, One,
        "scales the output of the norm of the keys";
    /// `B` (H, 2 T_max − 1), added to the scores: a number for each head and distance, from the key furthest before its
    /// query to the one furthest after it; or (H, buckets), where distances share numbers.
    DistanceBias = "B", Distances, Zero,
        "how much a head favours words at each distance, with a row for each head";
    /// `W_V` (D, K·d_v)
    ValueWeights = "W_V", Attention, Glorot,
        "computes a word's value, which other words receive from it";
    /// `b_V` (1, K·d_v)
    ValueBias = "b_V", Attention, Zero,
        "shifts a word's value, which other words receive from it";
    /// `W_O` (H·d_v, D)
    OutputWeights = "W_O", Attention, Glorot,
        "computes, from the heads' mixes, what is added to the word";
    /// `b_O` (1, D)
    OutputBias = "b_O", Attention, Zero,
        "shifts what the heads add to the word";
    /// `γ_A` (1, D) of the norm before or after the attention.
    AttentionNormGain = "γ_A", AttentionNorm, One,
        "scales the output of the attention norm";
    /// `β_A` (1, D)
    AttentionNormBias = "β_A", AttentionNorm, Zero,
        "shifts the output of the attention norm";
    /// `γ_AO` (1, D) of the norm of the attention's output.
    AttentionOutputNormGain = "γ_AO", AttentionNorm, One,
        "scales the output of the norm of what the attention adds";
    /// `β_AO` (1, D)
    AttentionOutputNormBias = "β_AO", AttentionNorm, Zero,
        "shifts the output of the norm of what the attention adds";
    /// `W_g` (D, hidden) of the gate of the feed-forward layer.
    GateWeights = "W_g", FeedForward, Glorot,
        "computes the gates of the feed-forward layer's hidden units";
    /// `b_g` (1, hidden)
    GateBias = "b_g", FeedForward, Zero,
        "shifts the gates of the feed-forward layer's hidden units";
    /// `W_1` (D, hidden) of the feed-forward layer.
    HiddenWeights = "W_1", FeedForward, Glorot,
        "computes the hidden units of the feed-forward layer";
    /// `b_1` (1, hidden)
    HiddenBias = "b_1", FeedForward, Zero,
        "shifts the hidden units of the feed-forward layer";
    /// `W_2` (hidden, D)
    ForwardWeights = "W_2", FeedForward, Glorot,
        "computes, from the hidden units, what is added to the word";
    /// `b_2` (1, D)
    ForwardBias = "b_2", FeedForward, Zero,
        "shifts what the feed-forward layer adds to the word";
    /// `γ_F` (1, D) of the norm before or after the feed-forward layer.
    ForwardNormGain = "γ_F", ForwardNorm, One,
        "scales the output of the feed-forward norm";
    /// `β_F` (1, D)
    ForwardNormBias = "β_F", ForwardNorm, Zero,
        "shifts the output of the feed-forward norm";
    /// `γ_FO` (1, D) of the norm of the feed-forward layer's output.
    ForwardOutputNormGain = "γ_FO", ForwardNorm, One,
        "scales the output of the norm of what the feed-forward layer adds";
    /// `β_FO` (1, D)
    ForwardOutputNormBias = "β_FO", ForwardNorm, Zero,
        "shifts the output of the norm of what the feed-forward layer adds";
    /// `γ_Y` (1, D) of the norm after all blocks.
    FinalNormGain = "γ_Y", Readout, One,
        "scales the output of the norm after all blocks";
    /// `β_Y` (1, D)
    FinalNormBias = "β_Y", Readout, Zero,
        "shifts the output of the norm after all blocks";
    /// `W_T` (D, D) of the readout's own layer.
    TransformWeights = "W_T", Readout, Glorot,
        "computes the vector that the answers are read from";
    /// `b_T` (1, D)
    TransformBias = "b_T", Readout, Zero,
        "shifts the vector that the answers are read from";
    /// `γ_T` (1, D) of the norm in the readout.
    TransformNormGain = "γ_T", Readout, One,
        "scales the output of the norm in the readout";
    /// `β_T` (1, D)
    TransformNormBias = "β_T", Readout, Zero,
        "shifts the output of the norm in the readout";
    /// `W_logits` (D, C), if the readout is not tied to the embeddings; C classes.
    LogitWeights = "W_logits", Readout, Glorot,
        "used only to compute the model's answers; moves no point on the stage";
    /// `b_logits` (1, C)
    LogitBias = "b_logits", Readout, Zero,
        "used only to compute the model's answers; moves no point on the stage";
}

/// Layers, in the order in which their tensors are stored in a model or a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// Vectors of words and positions, before all blocks.
    Input,
    Attention,
    Distances,
    AttentionNorm,
    FeedForward,
    ForwardNorm,
    /// The last norm and the readout, after all blocks.
    Readout,
}

/// Initial values of a tensor before training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// The vectors that word2vec trained.
    StaticVectors,
    /// Uniform, with a range wide enough to tell positions apart.
    Positions,
    /// Uniform in `±√(6 / (rows + cols))` (Glorot & Bengio 2010, Eq. 16).
    Glorot,
    One,
    Zero,
}

impl TensorName {
    /// Returns whether the tensor belongs to a block, of which a model may have several.
    pub fn is_of_a_block(self) -> bool {
        !matches!(self.layer(), Layer::Input | Layer::Readout)
    }

    /// Returns whether vectors are multiplied by the tensor, which is most of the work of a model. It is true for all
    /// matrices except embedding tables and `B`.
    pub fn multiplies(self) -> bool {
        self.start() == Start::Glorot
    }

    /// Returns the tensors of a block in storage order: layer by layer.
    pub fn of_blocks() -> impl Iterator<Item = Self> {
        let mut names: Vec<Self> = Self::ALL.iter().copied().filter(|name| name.is_of_a_block()).collect();
        names.sort_by_key(|name| name.layer());
        names.into_iter()
    }

    /// Returns the tensor of this name in a block, counted from 0.
    pub const fn of_block(self, block: usize) -> TensorId {
        TensorId { block, name: self }
    }
}

/// The identity of one tensor of a model: its name, and the block it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TensorId {
    /// Number of the block, from 0; 0 for the tensors of the whole model.
    pub block: usize,
    pub name: TensorName,
}

impl From<TensorName> for TensorId {
    /// Returns the tensor of the whole model, or of its first block.
    fn from(name: TensorName) -> Self {
        name.of_block(0)
    }
}

impl TensorId {
    /// Returns two tensors of a block that belong together: weights and their bias, or the gain and shift of a norm.
    pub const fn pair([first, second]: [TensorName; 2], block: usize) -> [Self; 2] {
        [first.of_block(block), second.of_block(block)]
    }

    /// Returns the symbol as code spells it: `W_Q`, `gamma_A`, and `W_Q_2` in the second block.
    pub fn code_name(self) -> String {
        let mut name = self.name.symbol().replace('γ', "gamma").replace('β', "beta");
        if self.name.is_of_a_block() {
            name.push_str(&code_suffix(self.block));
        }
        name
    }
}

/// Returns the suffix of a name in code that identifies its block: `_2`, or nothing for the first.
pub fn code_suffix(block: usize) -> String {
    if block > 0 { format!("_{}", block.saturating_add(1)) } else { String::new() }
}

/// Returns the suffix of a symbol that identifies its block: `⁽²⁾`, or nothing for the first.
pub fn superscript(block: usize) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    if block == 0 {
        return String::new();
    }
    let digits: String =
        block.saturating_add(1).to_string().bytes().map(|digit| DIGITS[usize::from(digit - b'0')]).collect();
    format!("⁽{digits}⁾")
}

impl fmt::Display for TensorId {
    /// Writes the symbol: `W_Q`, and `W_Q⁽²⁾` in the second block.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name.symbol())?;
        if self.name.is_of_a_block() {
            f.write_str(&superscript(self.block))?;
        }
        Ok(())
    }
}

/// Tensors that belong together: weights and their bias, or the gain and the shift of a norm.
pub mod pairs {
    use super::TensorName::*;
    use super::{TensorId, TensorName};

    // Pairs of a block, by their names.

    /// `W_Q` and `b_Q`.
    pub const QUERY: [TensorName; 2] = [QueryWeights, QueryBias];
    /// `W_K` and `b_K`.
    pub const KEY: [TensorName; 2] = [KeyWeights, KeyBias];
    /// `W_V` and `b_V`.
    pub const VALUE: [TensorName; 2] = [ValueWeights, ValueBias];
    /// `W_O` and `b_O`.
    pub const OUTPUT: [TensorName; 2] = [OutputWeights, OutputBias];
    /// `W_g` and `b_g`.
    pub const GATE: [TensorName; 2] = [GateWeights, GateBias];
    /// `W_1` and `b_1`.
    pub const HIDDEN: [TensorName; 2] = [HiddenWeights, HiddenBias];
    /// `W_2` and `b_2`.
    pub const FORWARD: [TensorName; 2] = [ForwardWeights, ForwardBias];
    /// `γ_A` and `β_A`.
    pub const ATTENTION_NORM: [TensorName; 2] = [AttentionNormGain, AttentionNormBias];
    /// `γ_AO` and `β_AO`.
    pub const ATTENTION_OUTPUT_NORM: [TensorName; 2] = [AttentionOutputNormGain, AttentionOutputNormBias];
    /// `γ_F` and `β_F`.
    pub const FORWARD_NORM: [TensorName; 2] = [ForwardNormGain, ForwardNormBias];
    /// `γ_FO` and `β_FO`.
    pub const FORWARD_OUTPUT_NORM: [TensorName; 2] = [ForwardOutputNormGain, ForwardOutputNormBias];

    // Pairs of the whole model.

    /// `γ_E` and `β_E`.
    pub const EMBEDDING_NORM: [TensorId; 2] = TensorId::pair([EmbeddingNormGain, EmbeddingNormBias], 0);
    /// `γ_ES` and `β_ES`.
    pub const SOURCE_EMBEDDING_NORM: [TensorId; 2] =
        TensorId::pair([SourceEmbeddingNormGain, SourceEmbeddingNormBias], 0);
    /// `γ_S` and `β_S`.
    pub const SOURCE_NORM: [TensorId; 2] = TensorId::pair([SourceNormGain, SourceNormBias], 0);
    /// `γ_Y` and `β_Y`.
    pub const FINAL_NORM: [TensorId; 2] = TensorId::pair([FinalNormGain, FinalNormBias], 0);
    /// `W_T` and `b_T`.
    pub const TRANSFORM: [TensorId; 2] = TensorId::pair([TransformWeights, TransformBias], 0);
    /// `γ_T` and `β_T`.
    pub const TRANSFORM_NORM: [TensorId; 2] = TensorId::pair([TransformNormGain, TransformNormBias], 0);
    /// `W_logits` and `b_logits`.
    pub const LOGITS: [TensorId; 2] = TensorId::pair([LogitWeights, LogitBias], 0);
}
