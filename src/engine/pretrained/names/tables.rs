//! The names of each family's tensors, and their layouts.

use super::{NamedTensors, RowLayout, Stack, TensorNames};
use crate::numerics::params::TensorName::{self, *};

const fn row(weight: TensorName, bias: TensorName, name: &'static str, layout: RowLayout) -> NamedTensors {
    NamedTensors { weight: Some(weight), bias: Some(bias), name, layout, stack: Stack::Layers }
}

const fn linear(weight: TensorName, bias: TensorName, name: &'static str) -> NamedTensors {
    row(weight, bias, name, RowLayout::Transposed)
}

/// Makes the row of a norm with `β`, or of other tensors with the engine's layout.
const fn same(weight: TensorName, bias: TensorName, name: &'static str) -> NamedTensors {
    row(weight, bias, name, RowLayout::Same)
}

/// Makes the row of a table, or of the gain of a norm without `β`.
const fn alone(weight: TensorName, name: &'static str) -> NamedTensors {
    NamedTensors { weight: Some(weight), bias: None, name, layout: RowLayout::Same, stack: Stack::Layers }
}

/// Makes the row of transposed weights whose bias has another name.
const fn weights(weight: TensorName, name: &'static str) -> NamedTensors {
    NamedTensors { weight: Some(weight), bias: None, name, layout: RowLayout::Transposed, stack: Stack::Layers }
}

const fn bias(bias: TensorName, name: &'static str) -> NamedTensors {
    NamedTensors { weight: None, bias: Some(bias), name, layout: RowLayout::Same, stack: Stack::Layers }
}

/// Layers of BERT and of families that use its names.
const BERT_LAYERS: &[NamedTensors] = &[
    alone(Embedding, "embeddings.word_embeddings"),
    alone(Positions, "embeddings.position_embeddings"),
    alone(Segments, "embeddings.token_type_embeddings"),
    same(EmbeddingNormGain, EmbeddingNormBias, "embeddings.LayerNorm"),
    linear(QueryWeights, QueryBias, "encoder.layer.{}.attention.self.query"),
    linear(KeyWeights, KeyBias, "encoder.layer.{}.attention.self.key"),
    linear(ValueWeights, ValueBias, "encoder.layer.{}.attention.self.value"),
    linear(OutputWeights, OutputBias, "encoder.layer.{}.attention.output.dense"),
    linear(HiddenWeights, HiddenBias, "encoder.layer.{}.intermediate.dense"),
    linear(ForwardWeights, ForwardBias, "encoder.layer.{}.output.dense"),
];

/// Norms of BERT's layers.
const BERT_NORMS: &[NamedTensors] = &[
    same(AttentionNormGain, AttentionNormBias, "encoder.layer.{}.attention.output.LayerNorm"),
    same(ForwardNormGain, ForwardNormBias, "encoder.layer.{}.output.LayerNorm"),
];

pub(in crate::pretrained) const BERT: TensorNames = {
    const HEAD: &[NamedTensors] = &[
        linear(TransformWeights, TransformBias, "cls.predictions.transform.dense"),
        same(TransformNormGain, TransformNormBias, "cls.predictions.transform.LayerNorm"),
        weights(LogitWeights, "cls.predictions.decoder"),
        bias(LogitBias, "cls.predictions"),
    ];
    // The same bias, named after the layer that adds it.
    let aliases = &[("cls.predictions.decoder.bias", "cls.predictions.bias")];
    TensorNames { prefixes: &["bert.", "ernie."], rows: &[BERT_LAYERS, BERT_NORMS, HEAD], aliases }
};

/// Head of RoBERTa and of families that use its names.
const ROBERTA_HEAD: &[NamedTensors] = &[
    linear(TransformWeights, TransformBias, "lm_head.dense"),
    same(TransformNormGain, TransformNormBias, "lm_head.layer_norm"),
    weights(LogitWeights, "lm_head.decoder"),
    bias(LogitBias, "lm_head"),
];
const ROBERTA_ALIASES: &[(&str, &str)] = &[("lm_head.decoder.bias", "lm_head.bias")];

pub(in crate::pretrained) const ROBERTA: TensorNames = TensorNames {
    prefixes: &["roberta.", "data2vec_text."],
    rows: &[BERT_LAYERS, BERT_NORMS, ROBERTA_HEAD],
    aliases: ROBERTA_ALIASES,
};

pub(in crate::pretrained) const ROBERTA_PRE_NORM: TensorNames = {
    const NORMS: &[NamedTensors] = &[
        same(AttentionNormGain, AttentionNormBias, "encoder.layer.{}.attention.LayerNorm"),
        same(ForwardNormGain, ForwardNormBias, "encoder.layer.{}.intermediate.LayerNorm"),
        same(FinalNormGain, FinalNormBias, "LayerNorm"),
    ];
    TensorNames {
        prefixes: &["roberta_prelayernorm."],
        rows: &[BERT_LAYERS, NORMS, ROBERTA_HEAD],
        aliases: ROBERTA_ALIASES,
    }
};

pub(in crate::pretrained) const ELECTRA: TensorNames = {
    const HEAD: &[NamedTensors] = &[
        linear(TransformWeights, TransformBias, "generator_predictions.dense"),
        same(TransformNormGain, TransformNormBias, "generator_predictions.LayerNorm"),
        linear(LogitWeights, LogitBias, "generator_lm_head"),
    ];
    TensorNames { prefixes: &["electra."], rows: &[BERT_LAYERS, BERT_NORMS, HEAD], aliases: &[] }
};

pub(in crate::pretrained) const MPNET: TensorNames = {
    const LAYERS: &[NamedTensors] = &[
        alone(Embedding, "embeddings.word_embeddings"),
        alone(Positions, "embeddings.position_embeddings"),
        same(EmbeddingNormGain, EmbeddingNormBias, "embeddings.LayerNorm"),
        linear(QueryWeights, QueryBias, "encoder.layer.{}.attention.attn.q"),
        linear(KeyWeights, KeyBias, "encoder.layer.{}.attention.attn.k"),
        linear(ValueWeights, ValueBias, "encoder.layer.{}.attention.attn.v"),
        // All layers share one table, that of the first layer.
        weights(DistanceBias, "encoder.relative_attention_bias"),
        linear(OutputWeights, OutputBias, "encoder.layer.{}.attention.attn.o"),
        same(AttentionNormGain, AttentionNormBias, "encoder.layer.{}.attention.LayerNorm"),
        linear(HiddenWeights, HiddenBias, "encoder.layer.{}.intermediate.dense"),
        linear(ForwardWeights, ForwardBias, "encoder.layer.{}.output.dense"),
        same(ForwardNormGain, ForwardNormBias, "encoder.layer.{}.output.LayerNorm"),
    ];
    TensorNames { prefixes: &["mpnet."], rows: &[LAYERS, ROBERTA_HEAD], aliases: ROBERTA_ALIASES }
};

pub(in crate::pretrained) const NOMIC_BERT: TensorNames = {
    const LAYERS: &[NamedTensors] = &[
        alone(Embedding, "embeddings.word_embeddings"),
        alone(Segments, "embeddings.token_type_embeddings"),
        same(EmbeddingNormGain, EmbeddingNormBias, "emb_ln"),
        row(QueryWeights, QueryBias, "encoder.layers.{}.attn.Wqkv", RowLayout::Stacked),
        row(KeyWeights, KeyBias, "encoder.layers.{}.attn.Wqkv", RowLayout::Stacked),
        row(ValueWeights, ValueBias, "encoder.layers.{}.attn.Wqkv", RowLayout::Stacked),
        linear(OutputWeights, OutputBias, "encoder.layers.{}.attn.out_proj"),
        same(AttentionNormGain, AttentionNormBias, "encoder.layers.{}.norm1"),
        linear(HiddenWeights, HiddenBias, "encoder.layers.{}.mlp.fc11"),
        linear(GateWeights, GateBias, "encoder.layers.{}.mlp.fc12"),
        linear(ForwardWeights, ForwardBias, "encoder.layers.{}.mlp.fc2"),
        same(ForwardNormGain, ForwardNormBias, "encoder.layers.{}.norm2"),
        linear(TransformWeights, TransformBias, "cls.predictions.transform.dense"),
        same(TransformNormGain, TransformNormBias, "cls.predictions.transform.layer_norm"),
        weights(LogitWeights, "cls.predictions.decoder"),
        bias(LogitBias, "cls.predictions"),
    ];
    // The same bias, named after the layer that adds it.
    let aliases = &[("cls.predictions.decoder.bias", "cls.predictions.bias")];
    TensorNames { prefixes: &["nomic_bert.", "bert."], rows: &[LAYERS], aliases }
};

pub(in crate::pretrained) const DISTILBERT: TensorNames = {
    const ROWS: &[NamedTensors] = &[
        alone(Embedding, "embeddings.word_embeddings"),
        alone(Positions, "embeddings.position_embeddings"),
        same(EmbeddingNormGain, EmbeddingNormBias, "embeddings.LayerNorm"),
        linear(QueryWeights, QueryBias, "transformer.layer.{}.attention.q_lin"),
        linear(KeyWeights, KeyBias, "transformer.layer.{}.attention.k_lin"),
        linear(ValueWeights, ValueBias, "transformer.layer.{}.attention.v_lin"),
        linear(OutputWeights, OutputBias, "transformer.layer.{}.attention.out_lin"),
        same(AttentionNormGain, AttentionNormBias, "transformer.layer.{}.sa_layer_norm"),
        linear(HiddenWeights, HiddenBias, "transformer.layer.{}.ffn.lin1"),
        linear(ForwardWeights, ForwardBias, "transformer.layer.{}.ffn.lin2"),
        same(ForwardNormGain, ForwardNormBias, "transformer.layer.{}.output_layer_norm"),
        linear(TransformWeights, TransformBias, "vocab_transform"),
        same(TransformNormGain, TransformNormBias, "vocab_layer_norm"),
        linear(LogitWeights, LogitBias, "vocab_projector"),
    ];
    TensorNames { prefixes: &["distilbert."], rows: &[ROWS], aliases: &[] }
};

/// Tables, norms and readout of GPT-2 and of families that use its names.
const GPT_NORMS: &[NamedTensors] = &[
    alone(Embedding, "wte"),
    alone(Positions, "wpe"),
    same(AttentionNormGain, AttentionNormBias, "h.{}.ln_1"),
    same(ForwardNormGain, ForwardNormBias, "h.{}.ln_2"),
    same(FinalNormGain, FinalNormBias, "ln_f"),
    weights(LogitWeights, "lm_head"),
];

pub(in crate::pretrained) const GPT2: TensorNames = {
    const ROWS: &[NamedTensors] = &[
        row(QueryWeights, QueryBias, "h.{}.attn.c_attn", RowLayout::Third(0)),
        row(KeyWeights, KeyBias, "h.{}.attn.c_attn", RowLayout::Third(1)),
        row(ValueWeights, ValueBias, "h.{}.attn.c_attn", RowLayout::Third(2)),
        same(OutputWeights, OutputBias, "h.{}.attn.c_proj"),
        same(HiddenWeights, HiddenBias, "h.{}.mlp.c_fc"),
        same(ForwardWeights, ForwardBias, "h.{}.mlp.c_proj"),
    ];
    TensorNames { prefixes: &["transformer."], rows: &[GPT_NORMS, ROWS], aliases: &[] }
};

pub(in crate::pretrained) const OPENAI_GPT: TensorNames = {
    const ROWS: &[NamedTensors] = &[
        alone(Embedding, "tokens_embed"),
        alone(Positions, "positions_embed"),
        row(QueryWeights, QueryBias, "h.{}.attn.c_attn", RowLayout::Third(0)),
        row(KeyWeights, KeyBias, "h.{}.attn.c_attn", RowLayout::Third(1)),
        row(ValueWeights, ValueBias, "h.{}.attn.c_attn", RowLayout::Third(2)),
        same(OutputWeights, OutputBias, "h.{}.attn.c_proj"),
        same(AttentionNormGain, AttentionNormBias, "h.{}.ln_1"),
        same(HiddenWeights, HiddenBias, "h.{}.mlp.c_fc"),
        same(ForwardWeights, ForwardBias, "h.{}.mlp.c_proj"),
        same(ForwardNormGain, ForwardNormBias, "h.{}.ln_2"),
        weights(LogitWeights, "lm_head"),
    ];
    TensorNames { prefixes: &["transformer."], rows: &[ROWS], aliases: &[] }
};

pub(in crate::pretrained) const GPT_BIGCODE: TensorNames = {
    const ROWS: &[NamedTensors] = &[
        row(QueryWeights, QueryBias, "h.{}.attn.c_attn", RowLayout::Stacked),
        row(KeyWeights, KeyBias, "h.{}.attn.c_attn", RowLayout::Stacked),
        row(ValueWeights, ValueBias, "h.{}.attn.c_attn", RowLayout::Stacked),
        linear(OutputWeights, OutputBias, "h.{}.attn.c_proj"),
        linear(HiddenWeights, HiddenBias, "h.{}.mlp.c_fc"),
        linear(ForwardWeights, ForwardBias, "h.{}.mlp.c_proj"),
    ];
    TensorNames { prefixes: &["transformer."], rows: &[GPT_NORMS, ROWS], aliases: &[] }
};

pub(in crate::pretrained) const GPT_J: TensorNames = {
    const ROWS: &[NamedTensors] = &[
        alone(Embedding, "wte"),
        same(AttentionNormGain, AttentionNormBias, "h.{}.ln_1"),
        row(QueryWeights, QueryBias, "h.{}.attn.q_proj", RowLayout::Pairs),
        row(KeyWeights, KeyBias, "h.{}.attn.k_proj", RowLayout::Pairs),
        linear(ValueWeights, ValueBias, "h.{}.attn.v_proj"),
        linear(OutputWeights, OutputBias, "h.{}.attn.out_proj"),
        linear(HiddenWeights, HiddenBias, "h.{}.mlp.fc_in"),
        linear(ForwardWeights, ForwardBias, "h.{}.mlp.fc_out"),
        same(FinalNormGain, FinalNormBias, "ln_f"),
        linear(LogitWeights, LogitBias, "lm_head"),
    ];
    TensorNames { prefixes: &["transformer."], rows: &[ROWS], aliases: &[] }
};

pub(in crate::pretrained) const GPT_NEO: TensorNames = {
    const ROWS: &[NamedTensors] = &[
        linear(QueryWeights, QueryBias, "h.{}.attn.attention.q_proj"),
        linear(KeyWeights, KeyBias, "h.{}.attn.attention.k_proj"),
        linear(ValueWeights, ValueBias, "h.{}.attn.attention.v_proj"),
        linear(OutputWeights, OutputBias, "h.{}.attn.attention.out_proj"),
        linear(HiddenWeights, HiddenBias, "h.{}.mlp.c_fc"),
        linear(ForwardWeights, ForwardBias, "h.{}.mlp.c_proj"),
    ];
    TensorNames { prefixes: &["transformer."], rows: &[GPT_NORMS, ROWS], aliases: &[] }
};

/// Names that all Llama-like decoders have.
const DECODER: &[NamedTensors] = &[
    alone(Embedding, "embed_tokens"),
    linear(OutputWeights, OutputBias, "layers.{}.self_attn.o_proj"),
    linear(ForwardWeights, ForwardBias, "layers.{}.mlp.down_proj"),
    alone(FinalNormGain, "norm"),
    weights(LogitWeights, "lm_head"),
];

/// Projections as separate tensors.
const SINGLE: &[NamedTensors] = &[
    linear(QueryWeights, QueryBias, "layers.{}.self_attn.q_proj"),
    linear(KeyWeights, KeyBias, "layers.{}.self_attn.k_proj"),
    linear(ValueWeights, ValueBias, "layers.{}.self_attn.v_proj"),
    alone(QueryNormGain, "layers.{}.self_attn.q_norm"),
    alone(KeyNormGain, "layers.{}.self_attn.k_norm"),
    linear(GateWeights, GateBias, "layers.{}.mlp.gate_proj"),
    linear(HiddenWeights, HiddenBias, "layers.{}.mlp.up_proj"),
];

/// Norms before both branches.
const BEFORE: &[NamedTensors] = &[
    alone(AttentionNormGain, "layers.{}.input_layernorm"),
    alone(ForwardNormGain, "layers.{}.post_attention_layernorm"),
];

pub(in crate::pretrained) const LLAMA: TensorNames =
    TensorNames { prefixes: &["model."], rows: &[DECODER, SINGLE, BEFORE], aliases: &[] };

pub(in crate::pretrained) const STABLELM: TensorNames = {
    const ROWS: &[NamedTensors] = &[
        alone(Embedding, "embed_tokens"),
        same(AttentionNormGain, AttentionNormBias, "layers.{}.input_layernorm"),
        linear(OutputWeights, OutputBias, "layers.{}.self_attn.o_proj"),
        same(ForwardNormGain, ForwardNormBias, "layers.{}.post_attention_layernorm"),
        linear(ForwardWeights, ForwardBias, "layers.{}.mlp.down_proj"),
        same(FinalNormGain, FinalNormBias, "norm"),
        weights(LogitWeights, "lm_head"),
    ];
    TensorNames { prefixes: &["model."], rows: &[ROWS, SINGLE], aliases: &[] }
};

/// Llama's names, with rotary positions that pair neighbouring columns.
pub(in crate::pretrained) const LLAMA_IN_PAIRS: TensorNames = {
    const IN_PAIRS: &[NamedTensors] = &[
        row(QueryWeights, QueryBias, "layers.{}.self_attn.q_proj", RowLayout::Pairs),
        row(KeyWeights, KeyBias, "layers.{}.self_attn.k_proj", RowLayout::Pairs),
        linear(ValueWeights, ValueBias, "layers.{}.self_attn.v_proj"),
        linear(GateWeights, GateBias, "layers.{}.mlp.gate_proj"),
        linear(HiddenWeights, HiddenBias, "layers.{}.mlp.up_proj"),
    ];
    TensorNames { prefixes: &["model."], rows: &[DECODER, IN_PAIRS, BEFORE], aliases: &[] }
};

/// Names of decoders that norm the inputs and the outputs of both branches.
pub(in crate::pretrained) const GEMMA2: TensorNames = {
    const NORMS: &[NamedTensors] = &[
        alone(AttentionNormGain, "layers.{}.input_layernorm"),
        alone(AttentionOutputNormGain, "layers.{}.post_attention_layernorm"),
        alone(ForwardNormGain, "layers.{}.pre_feedforward_layernorm"),
        alone(ForwardOutputNormGain, "layers.{}.post_feedforward_layernorm"),
    ];
    // Prefixes of the text model in a model that also reads pictures, in transformers 5 and in the hub's files.
    let prefixes = &["model.", "model.language_model.", "language_model.model."];
    TensorNames {
        prefixes,
        rows: &[DECODER, SINGLE, NORMS],
        aliases: &[("language_model.lm_head.weight", "lm_head.weight")],
    }
};

pub(in crate::pretrained) const OLMO2: TensorNames = {
    const NORMS: &[NamedTensors] = &[
        alone(AttentionOutputNormGain, "layers.{}.post_attention_layernorm"),
        alone(ForwardOutputNormGain, "layers.{}.post_feedforward_layernorm"),
    ];
    TensorNames { prefixes: &["model."], rows: &[DECODER, SINGLE, NORMS], aliases: &[] }
};

pub(in crate::pretrained) const PHI3: TensorNames = {
    const STACKED: &[NamedTensors] = &[
        row(QueryWeights, QueryBias, "layers.{}.self_attn.qkv_proj", RowLayout::Stacked),
        row(KeyWeights, KeyBias, "layers.{}.self_attn.qkv_proj", RowLayout::Stacked),
        row(ValueWeights, ValueBias, "layers.{}.self_attn.qkv_proj", RowLayout::Stacked),
        row(GateWeights, GateBias, "layers.{}.mlp.gate_up_proj", RowLayout::Stacked),
        row(HiddenWeights, HiddenBias, "layers.{}.mlp.gate_up_proj", RowLayout::Stacked),
    ];
    TensorNames { prefixes: &["model."], rows: &[DECODER, STACKED, BEFORE], aliases: &[] }
};

pub(in crate::pretrained) const GPT_NEOX: TensorNames = {
    const ROWS: &[NamedTensors] = &[
        alone(Embedding, "embed_in"),
        same(AttentionNormGain, AttentionNormBias, "layers.{}.input_layernorm"),
        row(QueryWeights, QueryBias, "layers.{}.attention.query_key_value", RowLayout::OfHeads(0)),
        row(KeyWeights, KeyBias, "layers.{}.attention.query_key_value", RowLayout::OfHeads(1)),
        row(ValueWeights, ValueBias, "layers.{}.attention.query_key_value", RowLayout::OfHeads(2)),
        linear(OutputWeights, OutputBias, "layers.{}.attention.dense"),
        same(ForwardNormGain, ForwardNormBias, "layers.{}.post_attention_layernorm"),
        linear(HiddenWeights, HiddenBias, "layers.{}.mlp.dense_h_to_4h"),
        linear(ForwardWeights, ForwardBias, "layers.{}.mlp.dense_4h_to_h"),
        same(FinalNormGain, FinalNormBias, "final_layer_norm"),
        weights(LogitWeights, "embed_out"),
    ];
    TensorNames { prefixes: &["gpt_neox."], rows: &[ROWS], aliases: &[("lm_head.weight", "embed_out.weight")] }
};

pub(in crate::pretrained) const PHI: TensorNames = {
    const ROWS: &[NamedTensors] = &[
        alone(Embedding, "embed_tokens"),
        same(AttentionNormGain, AttentionNormBias, "layers.{}.input_layernorm"),
        linear(QueryWeights, QueryBias, "layers.{}.self_attn.q_proj"),
        linear(KeyWeights, KeyBias, "layers.{}.self_attn.k_proj"),
        linear(ValueWeights, ValueBias, "layers.{}.self_attn.v_proj"),
        linear(OutputWeights, OutputBias, "layers.{}.self_attn.dense"),
        linear(HiddenWeights, HiddenBias, "layers.{}.mlp.fc1"),
        linear(ForwardWeights, ForwardBias, "layers.{}.mlp.fc2"),
        same(FinalNormGain, FinalNormBias, "final_layernorm"),
        linear(LogitWeights, LogitBias, "lm_head"),
    ];
    TensorNames { prefixes: &["model."], rows: &[ROWS], aliases: &[] }
};

/// Names that both kinds of ModernBERT have.
const MODERNBERT_LAYERS: &[NamedTensors] = &[
    alone(Embedding, "embeddings.tok_embeddings"),
    same(EmbeddingNormGain, EmbeddingNormBias, "embeddings.norm"),
    same(AttentionNormGain, AttentionNormBias, "layers.{}.attn_norm"),
    linear(OutputWeights, OutputBias, "layers.{}.attn.Wo"),
    same(ForwardNormGain, ForwardNormBias, "layers.{}.mlp_norm"),
    row(GateWeights, GateBias, "layers.{}.mlp.Wi", RowLayout::Stacked),
    row(HiddenWeights, HiddenBias, "layers.{}.mlp.Wi", RowLayout::Stacked),
    linear(ForwardWeights, ForwardBias, "layers.{}.mlp.Wo"),
    same(FinalNormGain, FinalNormBias, "final_norm"),
    linear(LogitWeights, LogitBias, "decoder"),
];

pub(in crate::pretrained) const MODERNBERT: TensorNames = {
    const ROWS: &[NamedTensors] = &[
        row(QueryWeights, QueryBias, "layers.{}.attn.Wqkv", RowLayout::Stacked),
        row(KeyWeights, KeyBias, "layers.{}.attn.Wqkv", RowLayout::Stacked),
        row(ValueWeights, ValueBias, "layers.{}.attn.Wqkv", RowLayout::Stacked),
        linear(TransformWeights, TransformBias, "head.dense"),
        same(TransformNormGain, TransformNormBias, "head.norm"),
    ];
    TensorNames { prefixes: &["model."], rows: &[MODERNBERT_LAYERS, ROWS], aliases: &[] }
};

pub(in crate::pretrained) const MODERNBERT_DECODER: TensorNames = {
    const ROWS: &[NamedTensors] = &[
        linear(QueryWeights, QueryBias, "layers.{}.attn.q_proj"),
        linear(KeyWeights, KeyBias, "layers.{}.attn.k_proj"),
        linear(ValueWeights, ValueBias, "layers.{}.attn.v_proj"),
        linear(TransformWeights, TransformBias, "lm_head.dense"),
        same(TransformNormGain, TransformNormBias, "lm_head.norm"),
    ];
    TensorNames { prefixes: &["model."], rows: &[MODERNBERT_LAYERS, ROWS], aliases: &[] }
};

/// Makes the rows of an attention of BART, with its norm.
macro_rules! bart_attention {
    ($name:literal) => {
        [
            linear(QueryWeights, QueryBias, concat!($name, ".q_proj")),
            linear(KeyWeights, KeyBias, concat!($name, ".k_proj")),
            linear(ValueWeights, ValueBias, concat!($name, ".v_proj")),
            linear(OutputWeights, OutputBias, concat!($name, ".out_proj")),
            same(AttentionNormGain, AttentionNormBias, concat!($name, "_layer_norm")),
        ]
    };
}

/// Makes the rows of a feed-forward layer of BART, with its norm.
macro_rules! bart_forward {
    ($layer:literal) => {
        [
            linear(HiddenWeights, HiddenBias, concat!($layer, "fc1")),
            linear(ForwardWeights, ForwardBias, concat!($layer, "fc2")),
            same(ForwardNormGain, ForwardNormBias, concat!($layer, "final_layer_norm")),
        ]
    };
}

const BART_ATTENTION: &[NamedTensors] = &bart_attention!("layers.{}.self_attn");
const BART_FORWARD: &[NamedTensors] = &bart_forward!("layers.{}.");
const BART_TABLES: &[NamedTensors] = &[alone(Embedding, "embed_tokens"), alone(Positions, "embed_positions")];

pub(in crate::pretrained) const BIOGPT: TensorNames = {
    const ENDS: &[NamedTensors] =
        &[same(FinalNormGain, FinalNormBias, "layer_norm"), weights(LogitWeights, "output_projection")];
    TensorNames { prefixes: &["biogpt."], rows: &[BART_TABLES, BART_ATTENTION, BART_FORWARD, ENDS], aliases: &[] }
};

pub(in crate::pretrained) const OPT: TensorNames = {
    const ENDS: &[NamedTensors] =
        &[same(FinalNormGain, FinalNormBias, "final_layer_norm"), weights(LogitWeights, "lm_head")];
    let prefixes = &["model.decoder.", "decoder."];
    TensorNames { prefixes, rows: &[BART_TABLES, BART_ATTENTION, BART_FORWARD, ENDS], aliases: &[] }
};

/// Returns the rows, assigned to one kind of block of a model with a source.
const fn of<const N: usize>(stack: Stack, rows: [NamedTensors; N]) -> [NamedTensors; N] {
    let mut all = rows;
    let mut at = 0;
    while at < N {
        all[at].stack = stack;
        at += 1;
    }
    all
}

/// Makes the rows of an attention of T5, with its norm, from the name of its layer.
macro_rules! t5_attention {
    ($layer:literal, $name:literal) => {
        [
            weights(QueryWeights, concat!($layer, $name, ".q")),
            weights(KeyWeights, concat!($layer, $name, ".k")),
            weights(ValueWeights, concat!($layer, $name, ".v")),
            weights(OutputWeights, concat!($layer, $name, ".o")),
            alone(AttentionNormGain, concat!($layer, "layer_norm")),
        ]
    };
}

/// Makes the rows of a feed-forward layer of T5, with its norm.
macro_rules! t5_forward {
    ($layer:literal) => {
        [
            weights(GateWeights, concat!($layer, "DenseReluDense.wi_0")),
            weights(HiddenWeights, concat!($layer, "DenseReluDense.wi_1")),
            weights(ForwardWeights, concat!($layer, "DenseReluDense.wo")),
            alone(ForwardNormGain, concat!($layer, "layer_norm")),
        ]
    };
}

/// Names of T5, in both of its towers. The table of distances is that of the first layer of the tower.
pub(in crate::pretrained) const T5: TensorNames = {
    const SOURCE_DISTANCES: [NamedTensors; 1] =
        [weights(DistanceBias, "encoder.block.{}.layer.0.SelfAttention.relative_attention_bias")];
    const DISTANCES: [NamedTensors; 1] =
        [weights(DistanceBias, "decoder.block.{}.layer.0.SelfAttention.relative_attention_bias")];
    const ENDS: &[NamedTensors] = &[
        alone(Embedding, "shared"),
        alone(SourceNormGain, "encoder.final_layer_norm"),
        alone(FinalNormGain, "decoder.final_layer_norm"),
        weights(LogitWeights, "lm_head"),
    ];
    TensorNames {
        prefixes: &[""],
        rows: &[
            &of(Stack::Source, t5_attention!("encoder.block.{}.layer.0.", "SelfAttention")),
            &of(Stack::Source, SOURCE_DISTANCES),
            &of(Stack::Source, t5_forward!("encoder.block.{}.layer.1.")),
            &of(Stack::Own, t5_attention!("decoder.block.{}.layer.0.", "SelfAttention")),
            &of(Stack::Own, DISTANCES),
            &of(Stack::Cross, t5_attention!("decoder.block.{}.layer.1.", "EncDecAttention")),
            &of(Stack::Cross, t5_forward!("decoder.block.{}.layer.2.")),
            ENDS,
        ],
        aliases: &[
            ("encoder.embed_tokens.weight", "shared.weight"),
            ("decoder.embed_tokens.weight", "shared.weight"),
            // The name of the weights in layers without a gate.
            ("*.DenseReluDense.wi.weight", ".DenseReluDense.wi_1.weight"),
        ],
    }
};

/// Names of BART, mBART and Marian.
pub(in crate::pretrained) const BART: TensorNames = {
    const ENDS: &[NamedTensors] = &[
        alone(Embedding, "shared"),
        alone(SourcePositions, "encoder.embed_positions"),
        alone(Positions, "decoder.embed_positions"),
        same(SourceEmbeddingNormGain, SourceEmbeddingNormBias, "encoder.layernorm_embedding"),
        same(EmbeddingNormGain, EmbeddingNormBias, "decoder.layernorm_embedding"),
        same(SourceNormGain, SourceNormBias, "encoder.layer_norm"),
        same(FinalNormGain, FinalNormBias, "decoder.layer_norm"),
        weights(LogitWeights, "lm_head"),
        bias(LogitBias, "final_logits"),
    ];
    TensorNames {
        prefixes: &["model."],
        rows: &[
            &of(Stack::Source, bart_attention!("encoder.layers.{}.self_attn")),
            &of(Stack::Source, bart_forward!("encoder.layers.{}.")),
            &of(Stack::Own, bart_attention!("decoder.layers.{}.self_attn")),
            &of(Stack::Cross, bart_attention!("decoder.layers.{}.encoder_attn")),
            &of(Stack::Cross, bart_forward!("decoder.layers.{}.")),
            ENDS,
        ],
        aliases: &[
            ("encoder.embed_tokens.weight", "shared.weight"),
            ("decoder.embed_tokens.weight", "shared.weight"),
            // The only name without a full stop before its last part.
            ("final_logits_bias", "final_logits.bias"),
        ],
    }
};
