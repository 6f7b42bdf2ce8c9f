//! The supported families of models, one entry each: the keys of its config with transformers' default values, the
//! engine's settings, and the names of its tensors.
//!
//! Configs come in two forms: that of transformers 5, with `rope_parameters` and `layer_types`, and the older keys of
//! the hub's files. Both are read.

mod decoders;
mod plain;
mod translators;
mod values;

use decoders::{ernie4_5, eurobert, gemma, gemma2, gemma3, llama, mistral, olmo2, phi3, qwen2, qwen3, smollm3};
use plain::{
    bert, biogpt, distilbert, electra, ernie, gpt_bigcode, gpt_neo, gpt_neox, gpt2, gptj, modernbert,
    modernbert_decoder, mpnet, nomic_bert, openai_gpt, opt, phi, roberta, roberta_pre_norm, stablelm,
};
use translators::{bart, marian, mbart, mt5, t5};

use super::fields::{CHECK, Fields};
use super::limits::{HEADS_MAX, HIDDEN_MAX, LAYERS_MAX, POSITIONS_MAX, VOCABULARY_MAX, WIDTH_MAX};
use super::names::{Stack, TensorNames, tables};
use super::refusal::Refusal;
use crate::numerics::attention::AttentionConfig;
use crate::numerics::block::BlockConfig;
use crate::numerics::model::Architecture;
use crate::numerics::params::TensorId;
use crate::numerics::positions::Positions;

pub use plain::Plain;
pub(super) use values::Sizes;
pub(super) use values::{ACTIVATIONS, FULL, SLIDING};
use values::{FORM, NORM_BETWEEN};

/// The families, in the order of [`FAMILIES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    Bert,
    Gpt2,
    DistilBert,
    Roberta,
    XlmRoberta,
    GptNeo,
    Llama,
    Mistral,
    Qwen2,
    Qwen3,
    Gemma,
    Gemma2,
    Gemma3,
    Gemma3Pictures,
    Phi3,
    Olmo2,
    GptNeoX,
    Phi,
    ModernBert,
    Opt,
    CamemBert,
    Data2Vec,
    RobertaPreNorm,
    Ernie,
    Electra,
    MpNet,
    NomicBert,
    EuroBert,
    ModernBertDecoder,
    OpenAiGpt,
    GptBigCode,
    BioGpt,
    GptJ,
    SmolLm3,
    Ministral,
    Ernie45,
    StableLm,
    T5,
    Mt5,
    Bart,
    MBart,
    Marian,
}

/// The facts about a family that do not depend on a model's config.
pub(super) struct FamilyEntry {
    family: Family,
    /// Name in the field `model_type`.
    model_type: &'static str,
    /// Name in texts for the learner, such as `GPT-2`.
    name: &'static str,
    /// Field with the text model's config, if the family's models also read pictures.
    within: Option<&'static str>,
    keys: Keys,
    defaults: Sizes,
    /// Function that returns the engine's shape of a model with all of its tensors.
    form: fn(Fields<'_>, &Sizes) -> Result<Architecture, Refusal>,
    names: TensorNames,
}

/// The keys of the sizes in [`Sizes`], except the vocabulary, whose key is the same in all families.
#[derive(Clone, Copy)]
pub(super) struct Keys {
    pub width: &'static str,
    pub layers: &'static str,
    pub heads: &'static str,
    pub hidden: &'static str,
    pub positions: &'static str,
    /// Other names of some keys, which take precedence if a config has them.
    others: &'static [(&'static str, &'static str)],
    /// Whether each position has a learned vector. Otherwise a sentence may be of any length, up to the longest that
    /// attune reads.
    has_table: bool,
}

const BERT_KEYS: Keys = Keys {
    width: "hidden_size",
    layers: "num_hidden_layers",
    heads: "num_attention_heads",
    hidden: "intermediate_size",
    positions: "max_position_embeddings",
    others: &[],
    has_table: true,
};
const ROTARY_KEYS: Keys = Keys { has_table: false, ..BERT_KEYS };
const GPT2_KEYS: Keys = Keys {
    width: "n_embd",
    layers: "n_layer",
    heads: "n_head",
    hidden: "n_inner",
    positions: "n_positions",
    others: &[
        ("n_embd", "hidden_size"),
        ("n_layer", "num_hidden_layers"),
        ("n_head", "num_attention_heads"),
        ("n_positions", "max_position_embeddings"),
    ],
    has_table: true,
};
const GPTJ_KEYS: Keys = Keys { has_table: false, ..GPT2_KEYS };
const DISTILBERT_KEYS: Keys = Keys {
    width: "dim",
    layers: "n_layers",
    heads: "n_heads",
    hidden: "hidden_dim",
    others: &[("dim", "hidden_size"), ("n_layers", "num_hidden_layers"), ("n_heads", "num_attention_heads")],
    ..BERT_KEYS
};
const NEO_KEYS: Keys = Keys {
    layers: "num_layers",
    heads: "num_heads",
    others: &[("num_layers", "num_hidden_layers"), ("num_heads", "num_attention_heads")],
    ..BERT_KEYS
};
/// Keys of the hub's configs; those of transformers take precedence.
const NOMIC_KEYS: Keys = Keys {
    others: &[
        ("n_embd", "hidden_size"),
        ("n_layer", "num_hidden_layers"),
        ("n_head", "num_attention_heads"),
        ("n_inner", "intermediate_size"),
        ("n_positions", "max_position_embeddings"),
    ],
    ..GPTJ_KEYS
};
const OPT_KEYS: Keys = Keys { hidden: "ffn_dim", ..BERT_KEYS };
/// Keys of the first of two towers, the encoder.
const BART_KEYS: Keys = Keys {
    width: "d_model",
    layers: "encoder_layers",
    heads: "encoder_attention_heads",
    hidden: "encoder_ffn_dim",
    ..BERT_KEYS
};
const MARIAN_KEYS: Keys = Keys { has_table: false, ..BART_KEYS };
/// Keys of T5, whose sentences may be of any length.
const T5_KEYS: Keys = Keys {
    width: "d_model",
    layers: "num_layers",
    heads: "num_heads",
    hidden: "d_ff",
    others: &[("d_model", "hidden_size"), ("num_layers", "num_hidden_layers"), ("num_heads", "num_attention_heads")],
    ..ROTARY_KEYS
};

/// Makes the sizes from width, layers, heads, hidden units, positions and vocabulary.
const fn sizes([width, layers, heads, hidden, positions, vocabulary]: [usize; 6]) -> Sizes {
    Sizes { width, layers, heads, hidden, positions, vocabulary }
}

macro_rules! families {
    ($($family:ident = $type:literal, $name:literal, $keys:ident, $sizes:expr, $form:expr, $names:ident $(, $within:literal)?;)*) => {
        pub(super) const FAMILIES: &[FamilyEntry] = &[$(FamilyEntry {
            family: Family::$family,
            model_type: $type,
            name: $name,
            within: { let _within: Option<&'static str> = None; $(let _within = Some($within);)? _within },
            keys: $keys,
            defaults: sizes($sizes),
            form: $form,
            names: tables::$names,
        }),*];

        impl Family {
            pub const ALL: &[Self] = &[$(Self::$family),*];
        }
    };
}

families! {
    Bert = "bert", "BERT", BERT_KEYS, [768, 12, 12, 3072, 512, 30_522], bert, BERT;
    Gpt2 = "gpt2", "GPT-2", GPT2_KEYS, [768, 12, 12, 0, 1024, 50_257], gpt2, GPT2;
    DistilBert = "distilbert", "DistilBERT", DISTILBERT_KEYS, [768, 6, 12, 3072, 512, 30_522], distilbert, DISTILBERT;
    Roberta = "roberta", "RoBERTa", BERT_KEYS, [768, 12, 12, 3072, 512, 50_265], roberta, ROBERTA;
    XlmRoberta = "xlm-roberta", "XLM-RoBERTa", BERT_KEYS, [768, 12, 12, 3072, 512, 30_522], roberta, ROBERTA;
    GptNeo = "gpt_neo", "GPT-Neo", NEO_KEYS, [2048, 24, 16, 0, 2048, 50_257], gpt_neo, GPT_NEO;
    Llama = "llama", "Llama", ROTARY_KEYS, [4096, 32, 32, 11_008, 2048, 32_000], llama, LLAMA;
    Mistral = "mistral", "Mistral", ROTARY_KEYS, [4096, 32, 32, 14_336, 131_072, 32_000], mistral, LLAMA;
    Qwen2 = "qwen2", "Qwen2", ROTARY_KEYS, [4096, 32, 32, 22_016, 32_768, 151_936], qwen2, LLAMA;
    Qwen3 = "qwen3", "Qwen3", ROTARY_KEYS, [4096, 32, 32, 22_016, 32_768, 151_936], qwen3, LLAMA;
    Gemma = "gemma", "Gemma", ROTARY_KEYS, [3072, 28, 16, 24_576, 8192, 256_000], gemma, LLAMA;
    Gemma2 = "gemma2", "Gemma 2", ROTARY_KEYS, [2304, 26, 8, 9216, 8192, 256_000], gemma2, GEMMA2;
    Gemma3 = "gemma3_text", "Gemma 3", ROTARY_KEYS, [2304, 26, 8, 9216, 131_072, 262_208], gemma3, GEMMA2;
    Gemma3Pictures = "gemma3", "Gemma 3", ROTARY_KEYS, [2304, 26, 8, 9216, 131_072, 262_208], gemma3, GEMMA2,
        "text_config";
    Phi3 = "phi3", "Phi-3", ROTARY_KEYS, [3072, 32, 32, 8192, 4096, 32_064], phi3, PHI3;
    Olmo2 = "olmo2", "OLMo 2", ROTARY_KEYS, [4096, 32, 32, 11_008, 2048, 50_304], olmo2, OLMO2;
    GptNeoX = "gpt_neox", "GPT-NeoX", ROTARY_KEYS, [6144, 44, 64, 24_576, 2048, 50_432], gpt_neox, GPT_NEOX;
    Phi = "phi", "Phi", ROTARY_KEYS, [2048, 24, 32, 8192, 2048, 51_200], phi, PHI;
    ModernBert = "modernbert", "ModernBERT", ROTARY_KEYS, [768, 22, 12, 1152, 8192, 50_368], modernbert, MODERNBERT;
    Opt = "opt", "OPT", OPT_KEYS, [768, 12, 12, 3072, 2048, 50_272], opt, OPT;
    CamemBert = "camembert", "CamemBERT", BERT_KEYS, [768, 12, 12, 3072, 512, 30_522], roberta, ROBERTA;
    Data2Vec = "data2vec-text", "data2vec", BERT_KEYS, [768, 12, 12, 3072, 512, 30_522], roberta, ROBERTA;
    RobertaPreNorm = "roberta-prelayernorm", "RoBERTa with norms first", BERT_KEYS, [768, 12, 12, 3072, 512, 50_265],
        roberta_pre_norm, ROBERTA_PRE_NORM;
    Ernie = "ernie", "ERNIE", BERT_KEYS, [768, 12, 12, 3072, 512, 30_522], ernie, BERT;
    Electra = "electra", "ELECTRA", BERT_KEYS, [256, 12, 4, 1024, 512, 30_522], electra, ELECTRA;
    MpNet = "mpnet", "MPNet", BERT_KEYS, [768, 12, 12, 3072, 512, 30_527], mpnet, MPNET;
    NomicBert = "nomic_bert", "Nomic BERT", NOMIC_KEYS, [768, 12, 12, 3072, 2048, 30_528], nomic_bert, NOMIC_BERT;
    EuroBert = "eurobert", "EuroBERT", ROTARY_KEYS, [768, 12, 12, 3072, 8192, 128_256], eurobert, LLAMA;
    ModernBertDecoder = "modernbert-decoder", "ModernBERT decoder", ROTARY_KEYS, [768, 22, 12, 1152, 8192, 50_368],
        modernbert_decoder, MODERNBERT_DECODER;
    OpenAiGpt = "openai-gpt", "GPT", GPT2_KEYS, [768, 12, 12, 0, 512, 40_478], openai_gpt, OPENAI_GPT;
    GptBigCode = "gpt_bigcode", "GPT BigCode", GPT2_KEYS, [768, 12, 12, 0, 1024, 50_257], gpt_bigcode, GPT_BIGCODE;
    BioGpt = "biogpt", "BioGPT", BERT_KEYS, [1024, 24, 16, 4096, 1024, 42_384], biogpt, BIOGPT;
    GptJ = "gptj", "GPT-J", GPTJ_KEYS, [4096, 28, 16, 0, 2048, 50_400], gptj, GPT_J;
    SmolLm3 = "smollm3", "SmolLM3", ROTARY_KEYS, [2048, 36, 16, 11_008, 32_768, 128_256], smollm3, LLAMA;
    Ministral = "ministral", "Ministral", ROTARY_KEYS, [4096, 32, 32, 14_336, 131_072, 32_000], mistral, LLAMA;
    Ernie45 = "ernie4_5", "ERNIE 4.5", ROTARY_KEYS, [1024, 18, 16, 3072, 131_072, 103_424], ernie4_5, LLAMA_IN_PAIRS;
    StableLm = "stablelm", "StableLM", ROTARY_KEYS, [2560, 32, 32, 6912, 4096, 50_304], stablelm, STABLELM;
    T5 = "t5", "T5", T5_KEYS, [512, 6, 8, 2048, 512, 32_128], t5, T5;
    Mt5 = "mt5", "mT5", T5_KEYS, [512, 8, 6, 1024, 512, 250_112], mt5, T5;
    Bart = "bart", "BART", BART_KEYS, [1024, 12, 16, 4096, 1024, 50_265], bart, BART;
    MBart = "mbart", "mBART", BART_KEYS, [1024, 12, 16, 4096, 1024, 50_265], mbart, BART;
    Marian = "marian", "Marian", MARIAN_KEYS, [1024, 12, 16, 4096, 1024, 58_101], marian, BART;
}

const _: () = {
    let mut at = 0;
    while at < FAMILIES.len() {
        assert!(FAMILIES[at].family as usize == at, "the families are in the order of their names");
        at += 1;
    }
};

impl Family {
    fn entry(self) -> &'static FamilyEntry {
        &FAMILIES[self as usize]
    }

    /// Returns the name in the field `model_type`.
    pub fn model_type(self) -> &'static str {
        self.entry().model_type
    }

    /// Returns the name that people know.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    /// Returns the field with the text model's config, if the family's models also read pictures.
    pub(super) fn within(self) -> Option<&'static str> {
        self.entry().within
    }

    pub(super) fn keys(self) -> &'static Keys {
        &self.entry().keys
    }

    pub(super) fn names(self) -> &'static TensorNames {
        &self.entry().names
    }

    /// Returns the family's name for a tensor of the engine, in a model whose source has `sources` blocks; `None` if it
    /// has none.
    pub(super) fn written(self, id: TensorId, sources: usize) -> Option<String> {
        let (row, end) = self.names().row(id, sources)?;
        let (_, layer) = Stack::of(id.block, sources);
        Some(format!("{}.{}", row.name.replace("{}", &layer.to_string()), end.suffix()))
    }

    /// Returns the sizes and the shape of a config of this family.
    pub(super) fn read(self, fields: Fields<'_>) -> Result<(Sizes, Architecture), Refusal> {
        let entry = self.entry();
        let fields = entry.within.map_or(fields, |key| fields.within(key));
        let sizes = entry.keys.read(fields, entry.defaults)?;
        REFUSED_FLAGS.iter().try_for_each(|(key, found)| fields.must_be(key, false, found))?;
        REFUSED_COUNTS.iter().try_for_each(|(key, found)| match fields.or(key, 0usize)? {
            0 => Ok(()),
            count => Err(Refusal::new(format!("{count} as the number of {found} ({key})"), "none", FORM)),
        })?;
        Ok((sizes, (entry.form)(fields, &sizes)?))
    }
}

/// Flags of configs that change the model in an unsupported way.
const REFUSED_FLAGS: [(&str, &str); 2] = [
    ("add_cross_attention", "attention to a second model"),
    ("use_bidirectional_attention", "words that see later words, unlike the words in this family"),
];

/// Counts that change the model in an unsupported way if they are not 0.
const REFUSED_COUNTS: [(&str, &str); 3] =
    [("num_experts", "experts"), ("num_local_experts", "experts"), ("n_routed_experts", "experts")];

/// Types of models that attune does not support, separated by spaces where several have the same reason.
const OTHERS: &[(&str, &str)] = &[
    (
        "mixtral qwen2_moe qwen3_moe olmoe phimoe dbrx deepseek_v2 deepseek_v3 granitemoe llama4 switch_transformers nllb-moe",
        "its feed-forward layers are chosen among experts",
    ),
    ("gpt_oss", "its softmax has attention sinks, and its feed-forward layers are chosen among experts"),
    ("qwen3_next qwen3_5", "it has layers of linear attention"),
    ("mamba mamba2 falcon_mamba rwkv fnet xlstm", "it has no attention"),
    (
        "jamba bamba zamba2 lfm2 recurrent_gemma granitemoehybrid",
        "some of its layers have a state or a convolution in place of attention",
    ),
    ("albert", NORM_BETWEEN),
    ("convbert", "some of its heads are convolutions"),
    ("squeezebert", "its linear layers are grouped convolutions"),
    ("mobilebert", "its blocks narrow the vectors, and have several feed-forward layers"),
    ("funnel", "its layers pool the words"),
    ("umt5", "each of its blocks has a table of distances of its own"),
    ("longt5", "its source attends to windows and to summaries of blocks"),
    (
        "pegasus m2m_100 blenderbot blenderbot-small led prophetnet fsmt encoder-decoder t5gemma",
        "of models with an encoder and a decoder it computes T5, BART, mBART and Marian only",
    ),
    ("whisper", "it consists of two models, and the first hears sound"),
    ("deberta deberta-v2", "its scores compare words and positions separately (disentangled attention)"),
    ("xlnet transfo-xl", "its scores have terms of relative positions with vectors of their own (Transformer-XL)"),
    ("big_bird", "its attention is sparse by blocks, some of them at random"),
    ("longformer", "some of its words have a second set of queries, keys and values for global attention"),
    ("reformer", "it chooses by hashes which words see each other"),
    ("bloom mpt", "its scores fall with the distance by fixed slopes (ALiBi)"),
    (
        "falcon",
        "it stacks queries, keys and values by groups, and some of its models have scores that fall by fixed slopes",
    ),
    ("codegen", "it stacks queries, keys and values in four parts, one for each processor that trained it"),
    ("granite minicpm", "it multiplies what each branch adds by a number"),
    ("cohere cohere2", "it multiplies its logits by a number"),
    ("olmo", "its norms have nothing to learn"),
    ("olmo3", "its layers with windows and those without differ in how positions are scaled"),
    ("glm glm4", "it turns queries and keys by pairs of neighbouring columns, in a part of each head"),
    ("gemma3n", "its layers have vectors of each word of their own, and several streams"),
    ("xglm ctrl", "its positions are waves, sines before cosines"),
    ("esm", "its vectors are rescaled by the share of masked letters"),
    ("bitnet", "its weights have three values"),
    ("clip siglip vit llava qwen2_vl qwen2_5_vl qwen3_vl wav2vec2", "it does not read texts alone"),
];

/// Returns why attune does not support a type of model that `is_it` accepts, if it is among those listed.
pub(super) fn unsupported(is_it: impl Fn(&str) -> bool) -> Option<&'static str> {
    OTHERS.iter().find(|(types, _)| types.split(' ').any(&is_it)).map(|(_, why)| *why)
}

impl Keys {
    fn read(self, fields: Fields<'_>, defaults: Sizes) -> Result<Sizes, Refusal> {
        let key = |own| self.key(fields, own);
        let width = fields.size(key(self.width)?, defaults.width, "the width", WIDTH_MAX)?;
        let hidden = if defaults.hidden == 0 { 4 * width } else { defaults.hidden };
        let positions_most = if self.has_table { POSITIONS_MAX } else { usize::MAX };
        let positions =
            fields.size(key(self.positions)?, defaults.positions, "the number of positions", positions_most)?;
        Ok(Sizes {
            width,
            layers: fields.size(key(self.layers)?, defaults.layers, "the number of layers", LAYERS_MAX)?,
            heads: fields.size(key(self.heads)?, defaults.heads, "the number of heads", HEADS_MAX)?,
            hidden: fields.size(key(self.hidden)?, hidden, "the number of hidden units", HIDDEN_MAX)?,
            positions: positions.min(POSITIONS_MAX),
            vocabulary: fields.size("vocab_size", defaults.vocabulary, "the vocabulary", VOCABULARY_MAX)?,
        })
    }

    /// Returns the key that a config uses for a size: the other name of `own` if the config has it, otherwise `own`.
    fn key(self, fields: Fields<'_>, own: &'static str) -> Result<&'static str, Refusal> {
        match self.others.iter().find(|(key, _)| *key == own) {
            Some((_, other)) if fields.has(&[other])? => Ok(other),
            _ => Ok(own),
        }
    }
}

impl Sizes {
    /// Returns attention whose heads share the width evenly.
    fn attention(&self) -> Result<AttentionConfig, Refusal> {
        let Self { width, heads, .. } = *self;
        if width.is_multiple_of(heads) {
            return Ok(AttentionConfig::multi_head(width, heads));
        }
        let found = format!("{heads} heads that share a width of {width}");
        Err(Refusal::new(found, "a width that the heads divide evenly", CHECK))
    }

    /// Returns a model in which every layer is this block, with no norms outside the blocks and the word table as
    /// readout.
    fn model(&self, block: BlockConfig) -> Architecture {
        Architecture {
            max_tokens: self.positions,
            norm_form: block.norm_form,
            readout_bias: false,
            blocks: vec![block; self.layers],
            ..Architecture::of_attention(AttentionConfig::parameter_free(self.width), Positions::None, 0)
        }
    }
}
