//! The families of models whose shape is known, an entry each: the keys of its config with the values that transformers
//! gives those that are missing, the engine's forms, and the names of its tensors.
//!
//! A config has one of two spellings: that of transformers 5, with `rope_parameters` and `layer_types`, or the older keys,
//! which the hub's files have. Both are read.

mod decoders;
mod plain;
mod values;

use decoders::{gemma, gemma2, gemma3, llama, mistral, olmo2, phi3, qwen2, qwen3};
use plain::{bert, distilbert, gpt_neo, gpt_neox, gpt2, modernbert, opt, phi, roberta};

use super::config::{HEADS_MAX, HIDDEN_MAX, LAYERS_MAX, POSITIONS_MAX, VOCABULARY_MAX, WIDTH_MAX};
use super::fields::{CHECK, Fields};
use super::names::{TensorNames, tables};
use super::refusal::Refusal;
use crate::numerics::attention::AttentionConfig;
use crate::numerics::block::BlockConfig;
use crate::numerics::model::Architecture;
use crate::numerics::positions::Positions;

pub use plain::Plain;
pub(super) use values::ACTIVATIONS;

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
}

/// The facts of a family.
pub(super) struct FamilyEntry {
    family: Family,
    /// The name in the field `model_type`.
    model_type: &'static str,
    /// The name that people know.
    name: &'static str,
    /// The field with the config of the texts' model, where there is another of pictures.
    within: Option<&'static str>,
    keys: Keys,
    defaults: Sizes,
    /// The engine's shape of a model with all of its tensors.
    form: fn(Fields<'_>, &Sizes) -> Result<Architecture, Refusal>,
    names: TensorNames,
}

/// Sizes that every family has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// `D`
    width: usize,
    layers: usize,
    /// `H`
    heads: usize,
    /// Units of a feed-forward layer; 0 stands for `4 D`.
    hidden: usize,
    positions: usize,
    /// `V`
    pub vocabulary: usize,
}

/// The keys of these sizes, but for the vocabulary's, which is the same in all.
#[derive(Clone, Copy)]
pub(super) struct Keys {
    pub width: &'static str,
    pub layers: &'static str,
    pub heads: &'static str,
    pub hidden: &'static str,
    pub positions: &'static str,
    /// Each position has a vector of its own; else any sentence can be read, and its longest is as long as attune reads.
    has_table: bool,
}

const BERT_KEYS: Keys = Keys {
    width: "hidden_size",
    layers: "num_hidden_layers",
    heads: "num_attention_heads",
    hidden: "intermediate_size",
    positions: "max_position_embeddings",
    has_table: true,
};
const ROTARY_KEYS: Keys = Keys { has_table: false, ..BERT_KEYS };
const GPT2_KEYS: Keys = Keys {
    width: "n_embd",
    layers: "n_layer",
    heads: "n_head",
    hidden: "n_inner",
    positions: "n_positions",
    has_table: true,
};
const DISTILBERT_KEYS: Keys =
    Keys { width: "dim", layers: "n_layers", heads: "n_heads", hidden: "hidden_dim", ..BERT_KEYS };
const NEO_KEYS: Keys = Keys { layers: "num_layers", heads: "num_heads", ..BERT_KEYS };
const OPT_KEYS: Keys = Keys { hidden: "ffn_dim", ..BERT_KEYS };

/// Width, layers, heads, hidden units, positions and vocabulary.
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

    /// The name in the field `model_type`.
    pub fn model_type(self) -> &'static str {
        self.entry().model_type
    }

    /// The name that people know.
    pub fn name(self) -> &'static str {
        self.entry().name
    }

    pub(super) fn keys(self) -> &'static Keys {
        &self.entry().keys
    }

    pub(super) fn names(self) -> &'static TensorNames {
        &self.entry().names
    }

    /// The sizes and the shape that a config of this family says.
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

const FORM: &str = "attune does not compute this form";

/// Flags of configs that change the mathematics.
const REFUSED_FLAGS: [(&str, &str); 2] = [
    ("add_cross_attention", "attention to a second model"),
    ("use_bidirectional_attention", "words that see later words, unlike the words in this family"),
];

/// Counts that change it where they are not 0.
const REFUSED_COUNTS: [(&str, &str); 3] =
    [("num_experts", "experts"), ("num_local_experts", "experts"), ("n_routed_experts", "experts")];

/// The map to the layers' width cannot be multiplied into the table: the norm before it divides by a deviation that depends
/// on word, position and segment together.
const NORM_BETWEEN: &str =
    "in its family, the table of words can be narrower than the layers, with a norm before the projection";

/// Types of models that people have and attune does not compute, and why.
pub(super) const OTHERS: [(&str, &str); 14] = [
    ("mixtral", "its feed-forward layers are chosen among experts"),
    ("qwen2_moe", "its feed-forward layers are chosen among experts"),
    ("qwen3_moe", "its feed-forward layers are chosen among experts"),
    ("olmoe", "its feed-forward layers are chosen among experts"),
    ("deepseek_v3", "its feed-forward layers are chosen among experts"),
    ("gpt_oss", "its softmax has attention sinks, and its feed-forward layers are chosen among experts"),
    ("qwen3_next", "it has layers of linear attention"),
    ("mamba", "it has no attention"),
    ("electra", NORM_BETWEEN),
    ("albert", NORM_BETWEEN),
    ("t5", "it consists of two models, and the second reads the output of the first"),
    ("bart", "it consists of two models, and the second reads the output of the first"),
    ("marian", "it consists of two models, and the second reads the output of the first"),
    ("deberta-v2", "its scores have position terms that attune does not compute"),
];

impl Keys {
    fn read(self, fields: Fields<'_>, defaults: Sizes) -> Result<Sizes, Refusal> {
        let width = fields.size(self.width, defaults.width, "the width", WIDTH_MAX)?;
        let hidden = if defaults.hidden == 0 { 4 * width } else { defaults.hidden };
        let positions_most = if self.has_table { POSITIONS_MAX } else { usize::MAX };
        let positions = fields.size(self.positions, defaults.positions, "the number of positions", positions_most)?;
        Ok(Sizes {
            width,
            layers: fields.size(self.layers, defaults.layers, "the number of layers", LAYERS_MAX)?,
            heads: fields.size(self.heads, defaults.heads, "the number of heads", HEADS_MAX)?,
            hidden: fields.size(self.hidden, hidden, "the number of hidden units", HIDDEN_MAX)?,
            positions: positions.min(POSITIONS_MAX),
            vocabulary: fields.size("vocab_size", defaults.vocabulary, "the vocabulary", VOCABULARY_MAX)?,
        })
    }
}

impl Sizes {
    /// Attention of heads that share the width evenly.
    fn attention(&self) -> Result<AttentionConfig, Refusal> {
        let Self { width, heads, .. } = *self;
        if width.is_multiple_of(heads) {
            return Ok(AttentionConfig::multi_head(width, heads));
        }
        let found = format!("{heads} heads that share a width of {width}");
        Err(Refusal::new(found, "a width that the heads divide evenly", CHECK))
    }

    /// A model of such blocks, with nothing before or after them, and read by the table of words.
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
