//! Tensors that belong together: weights and their bias, or the gain and the shift of a norm.

use super::{TensorId, TensorName};
use TensorName::*;

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
pub const SOURCE_EMBEDDING_NORM: [TensorId; 2] = TensorId::pair([SourceEmbeddingNormGain, SourceEmbeddingNormBias], 0);
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
