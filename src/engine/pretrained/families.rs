//! The families of models whose shape is known, an entry each: the keys of its config with the values that transformers
//! gives those that are missing, the engine's forms, and the names of its tensors.
//!
//! A config has one of two spellings: that of transformers 5, with `rope_parameters` and `layer_types`, or the older keys,
//! which the hub's files have. Both are read.

use super::config::{HEADS_MAX, HIDDEN_MAX, LAYERS_MAX, POSITIONS_MAX, VOCABULARY_MAX, WIDTH_MAX};
use super::fields::{CHECK, Fields, no_such};
use super::names::{self, Names};
use super::refusal::{Refusal, quoted};
use crate::nearest::nearest;
use crate::numerics::activation::Activation;
use crate::numerics::attention::rotary::{Rotary, RotaryScaling};
use crate::numerics::attention::{AttentionConfig, Mask, QueryKeyNorm, Window};
use crate::numerics::block::{BlockConfig, Branches, Norm};
use crate::numerics::model::{Architecture, Readout};
use crate::numerics::norm::NormForm;
use crate::numerics::positions::{PositionRows, Positions};

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

/// What is known of a family.
pub(super) struct Entry {
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
    names: Names,
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
struct Keys {
    width: &'static str,
    layers: &'static str,
    heads: &'static str,
    hidden: &'static str,
    positions: &'static str,
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
        pub(super) const FAMILIES: &[Entry] = &[$(Entry {
            family: Family::$family,
            model_type: $type,
            name: $name,
            within: { let _within: Option<&'static str> = None; $(let _within = Some($within);)? _within },
            keys: $keys,
            defaults: sizes($sizes),
            form: $form,
            names: names::$names,
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
        assert!(FAMILIES[at].family as usize == at, "the families stand in the order of their names");
        at += 1;
    }
};

impl Family {
    fn entry(self) -> &'static Entry {
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

    pub(super) fn names(self) -> &'static Names {
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
            count => Err(Refusal::new(format!("{count} {found}, as {key}"), "none", FORM)),
        })?;
        Ok((sizes, (entry.form)(fields, &sizes)?))
    }
}

const FORM: &str = "attune does not compute this form";

/// Flags of configs that change the mathematics.
const REFUSED_FLAGS: [(&str, &str); 2] = [
    ("add_cross_attention", "attention to a second model"),
    ("use_bidirectional_attention", "words that see those after them, which this family's do not"),
];

/// Counts that change it where they are not 0.
const REFUSED_COUNTS: [(&str, &str); 3] =
    [("num_experts", "experts"), ("num_local_experts", "experts"), ("n_routed_experts", "experts")];

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
    ("electra", "its table of words is narrower than its layers"),
    ("albert", "its table of words is narrower than its layers"),
    ("t5", "it is two models, of which the second reads the first"),
    ("bart", "it is two models, of which the second reads the first"),
    ("marian", "it is two models, of which the second reads the first"),
    ("deberta-v2", "its scores have terms of places that attune does not compute"),
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

    /// A model of such blocks, with nothing before or behind them, and read by the table of words.
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

// ---- the older families: a vector for each position, layer norms

/// A model of BERT's or GPT-2's form: learned positions, layer norms, and biases everywhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Plain {
    /// `D`
    pub width: usize,
    pub layers: usize,
    /// `H`, a divisor of the width.
    pub heads: usize,
    /// Units of a feed-forward layer.
    pub hidden: usize,
    pub positions: usize,
    /// Behind each sum and behind the embeddings, or before each branch and behind all layers.
    pub norm: Norm,
    pub norm_epsilon: f64,
    pub activation: Activation,
    pub mask: Mask,
    /// Kinds of sentences; 0 where there are none.
    pub types: usize,
    pub readout: Readout,
}

impl Plain {
    fn of(
        sizes: &Sizes,
        norm: Norm,
        norm_epsilon: f64,
        activation: Activation,
        readout: Readout,
    ) -> Result<Self, Refusal> {
        sizes.attention()?;
        let Sizes { width, layers, heads, hidden, positions, .. } = *sizes;
        let mask = mask(norm == Norm::Pre);
        Ok(Self { width, layers, heads, hidden, positions, norm, norm_epsilon, activation, mask, types: 0, readout })
    }

    /// # Panics
    /// If the heads do not divide the width.
    pub fn architecture(&self) -> Architecture {
        let norm_form = NormForm::layer(self.norm_epsilon);
        let block = BlockConfig {
            norm: self.norm,
            norm_form,
            activation: self.activation,
            feed_forward: Some(self.hidden),
            ..BlockConfig::plain(AttentionConfig {
                mask: self.mask.clone(),
                ..AttentionConfig::multi_head(self.width, self.heads)
            })
        };
        Architecture {
            segments: (self.types > 0).then_some(self.types),
            embedding_norm: self.norm == Norm::Post,
            final_norm: self.norm == Norm::Pre,
            norm_form,
            blocks: vec![block; self.layers],
            readout: self.readout,
            ..Architecture::of_attention(
                AttentionConfig::parameter_free(self.width),
                Positions::Learned,
                self.positions,
            )
        }
    }
}

/// Words that see those before them only, or all.
fn mask(is_causal: bool) -> Mask {
    if is_causal { Mask::Causal } else { Mask::None }
}

fn bert(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    absolute_positions(fields)?;
    let activation = activation(fields, "hidden_act", Activation::Gelu)?;
    let epsilon = epsilon(fields, "layer_norm_eps", 1e-12)?;
    let plain = Plain::of(sizes, Norm::Post, epsilon, activation, transformed(fields, activation)?)?;
    let (mask, types) = (mask(fields.or("is_decoder", false)?), fields.or("type_vocab_size", 2)?);
    Ok(Plain { mask, types, ..plain }.architecture())
}

/// BERT with positions that count from behind a filler's, and a head that has its own activation.
fn roberta(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    /// The filler where the config names none.
    const PAD: usize = 1;
    fields.must_be("is_decoder", false, "words that see those before them only, which this family's do not")?;
    let pad = fields.or("pad_token_id", PAD)?;
    if pad >= sizes.vocabulary || pad + 1 >= sizes.positions {
        let found = format!("{pad} as pad_token_id, with {} positions", sizes.positions);
        return Err(Refusal::new(found, "a word of the vocabulary, and positions behind it", CHECK));
    }
    let position_rows = PositionRows { first: pad + 1, filler: Some(pad) };
    let readout = transformed(fields, Activation::Gelu)?;
    let sizes = Sizes { positions: sizes.positions - position_rows.first, ..*sizes };
    Ok(Architecture { position_rows, readout, ..bert(fields, &sizes)? })
}

fn distilbert(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    /// The epsilon of every norm; DistilBERT has no field for it.
    const EPSILON: f64 = 1e-12;
    let activation = activation(fields, "activation", Activation::Gelu)?;
    Ok(Plain::of(sizes, Norm::Post, EPSILON, activation, transformed(fields, activation)?)?.architecture())
}

/// GPT-2's form; its readout's bias stays 0, as no file has one.
fn gpt2(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    // `reorder_and_upcast_attn` is the same mathematics in another order, which f32 does not need.
    let scale = fields.or("scale_attn_weights", true)?;
    let by_layer = fields.or("scale_attn_by_inverse_layer_idx", false)?;
    let mut model = decoder_with_positions(fields, sizes)?;
    for (layer, block) in model.blocks.iter_mut().enumerate() {
        block.attention.scale = scale;
        block.attention.score_divisor = if by_layer { (layer + 1) as f64 } else { 1.0 };
    }
    Ok(model)
}

fn decoder_with_positions(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    let epsilon = epsilon(fields, "layer_norm_epsilon", 1e-5)?;
    let activation = activation(fields, "activation_function", Activation::GeluTanh)?;
    Ok(Plain::of(sizes, Norm::Pre, epsilon, activation, linear(fields, true)?)?.architecture())
}

/// GPT-2 without biases of queries, keys and values, whose scores are not scaled; some layers see a window.
fn gpt_neo(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    const WINDOW: usize = 256;
    let local = Window { before: Some(window_of(fields.or("window_size", WINDOW)?, "window_size")? - 1), after: None };
    let mut model = decoder_with_positions(fields, sizes)?;
    for (block, is_local) in model.blocks.iter_mut().zip(neo_layers(fields, sizes)?) {
        (block.attention.bias, block.attention.scale) = (false, false);
        block.attention.window = if is_local { local } else { Window::ALL };
    }
    Ok(Architecture { readout_bias: false, ..model })
}

/// Whether each layer is local: a list, or patterns that are repeated.
fn neo_layers(fields: Fields<'_>, sizes: &Sizes) -> Result<Vec<bool>, Refusal> {
    let kinds = match fields.get::<Vec<String>>(&["attention_layers"])? {
        Some(kinds) => kinds,
        None => match fields.get::<Vec<(Vec<String>, usize)>>(&["attention_types"])? {
            Some(patterns) => {
                let repeated = patterns.into_iter().map(|(kinds, count)| (kinds, count.min(sizes.layers + 1)));
                let all = repeated.flat_map(|(kinds, count)| (0..count).flat_map(move |_| kinds.clone()));
                all.take(sizes.layers + 1).collect()
            }
            None => ["global", "local"].iter().cycle().take(sizes.layers).map(|&kind| kind.to_owned()).collect(),
        },
    };
    kinds_of(&kinds, "attention_layers", ["global", "local"], sizes)
}

/// Pre-norm blocks behind positions of which the first two rows are not used.
fn opt(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    /// The epsilon of every norm; OPT has no field for it.
    const EPSILON: f64 = 1e-5;
    const FIRST: usize = 2;
    let is_first = fields.or("do_layer_norm_before", true)?;
    fields.must_be("layer_norm_elementwise_affine", true, "norms with nothing to learn")?;
    let norm = if is_first { Norm::Pre } else { Norm::Post };
    let activation = activation(fields, "activation_function", Activation::Relu)?;
    let plain = Plain::of(sizes, norm, EPSILON, activation, linear(fields, true)?)?;
    let mut model = Plain { mask: Mask::Causal, ..plain }.architecture();
    let bias = fields.or("enable_bias", true)?;
    model.blocks.iter_mut().for_each(|block| set_biases(block, [bias; 3]));
    let final_norm = is_first && !fields.or("_remove_final_layer_norm", false)?;
    let position_rows = PositionRows { first: FIRST, filler: None };
    let width = fields.size("word_embed_proj_dim", sizes.width, "the width of the table", WIDTH_MAX)?;
    if width != sizes.width {
        let found = format!("{width} as word_embed_proj_dim, where the model is {} wide", sizes.width);
        return Err(Refusal::new(found, "a table as wide as the model", FORM));
    }
    Ok(Architecture { embedding_norm: false, final_norm, position_rows, readout_bias: false, ..model })
}

// ---- today's decoders: RMSNorm, rotary positions, gates

/// What the decoders of Llama's kind have different values of.
struct Decoder {
    /// `ε` where it is missing.
    epsilon: f64,
    /// The same of a head's width; `D / H` where there is none.
    head_width: Option<usize>,
    /// The same of the heads of keys and values; `H` where there is none.
    key_value_heads: Option<usize>,
    biases: Biases,
    norm: Norm,
    output_norms: bool,
    query_key_norm: Option<PerHead>,
    /// Gemma's: gains from 1, a scaled table, GELU, and a readout that is the table.
    is_gemma: bool,
    turn: Turn,
}

/// Of a norm of queries and keys: each head for itself, or over all.
type PerHead = bool;

/// Where the projections of attention have biases.
enum Biases {
    None,
    /// Of queries, keys, values and outputs, as `attention_bias` says.
    AsSaid,
    /// Of queries, keys and values.
    QueriesKeysValues,
}

const LLAMA: Decoder = Decoder {
    epsilon: 1e-6,
    head_width: None,
    key_value_heads: None,
    biases: Biases::AsSaid,
    norm: Norm::Pre,
    output_norms: false,
    query_key_norm: None,
    is_gemma: false,
    turn: TURN,
};
const GEMMA: Decoder = Decoder { head_width: Some(256), is_gemma: true, ..LLAMA };

impl Decoder {
    fn model(&self, fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
        let norm_form =
            NormForm { gain_from_one: self.is_gemma, ..NormForm::rms(epsilon(fields, "rms_norm_eps", self.epsilon)?) };
        let mut attention = self.attention(fields, sizes)?;
        attention.query_key_norm = self.query_key_norm.map(|each_head| QueryKeyNorm { each_head, form: norm_form });
        attention.rotary = Some(self.turn.read(fields, attention.key_width)?);
        let block = BlockConfig {
            norm: self.norm,
            output_norms: self.output_norms,
            norm_form,
            feed_forward: Some(sizes.hidden),
            activation: self.activation(fields)?,
            gated: true,
            forward_bias: false,
            ..BlockConfig::plain(attention)
        };
        Ok(Architecture {
            final_norm: true,
            embedding_scale: self.is_gemma.then(|| (sizes.width as f64).sqrt()),
            readout: linear(fields, self.is_gemma)?,
            ..sizes.model(block)
        })
    }

    fn activation(&self, fields: Fields<'_>) -> Result<Activation, Refusal> {
        let default = if self.is_gemma { Activation::GeluTanh } else { Activation::Silu };
        const OF_GEMMA: &str = "hidden_activation";
        let has_own = self.is_gemma && fields.get::<String>(&[OF_GEMMA])?.is_some();
        activation(fields, if has_own { OF_GEMMA } else { "hidden_act" }, default)
    }

    /// Heads of a width of their own, which share heads of keys and values.
    fn attention(&self, fields: Fields<'_>, sizes: &Sizes) -> Result<AttentionConfig, Refusal> {
        let heads = sizes.heads;
        let has_width = fields.get::<usize>(&["head_dim"])?.is_some() || self.head_width.is_some();
        let of_width = if has_width { AttentionConfig::parameter_free(sizes.width) } else { sizes.attention()? };
        let width = self.head_width.unwrap_or(of_width.key_width);
        let head_width = fields.size("head_dim", width, "the width of a head", HIDDEN_MAX / heads)?;
        let has_shared = fields.has(&["num_key_value_heads"])?;
        let shared = self.key_value_heads.filter(|_| !has_shared).unwrap_or(heads);
        let (bias, output_bias) = match self.biases {
            Biases::None => (false, false),
            Biases::AsSaid => [fields.or("attention_bias", false)?; 2].into(),
            Biases::QueriesKeysValues => (true, false),
        };
        Ok(AttentionConfig {
            heads,
            group_size: heads / key_value_heads(fields, heads, shared)?,
            key_width: head_width,
            value_width: head_width,
            projected: true,
            output: true,
            bias,
            output_bias,
            scale: true,
            mask: Mask::Causal,
            ..AttentionConfig::parameter_free(sizes.width)
        })
    }
}

/// Heads of keys and values, which the others share evenly.
fn key_value_heads(fields: Fields<'_>, heads: usize, default: usize) -> Result<usize, Refusal> {
    const KEY: &str = "num_key_value_heads";
    let shared = fields.size(KEY, default, "the number of heads of keys and values", HEADS_MAX)?;
    if heads.is_multiple_of(shared) {
        return Ok(shared);
    }
    let found = format!("{heads} heads that share {shared} heads of keys and values ({KEY})");
    Err(Refusal::new(found, "a number that divides the heads evenly", CHECK))
}

fn llama(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    let bias = fields.or("mlp_bias", false)?;
    let mut model = LLAMA.model(fields, sizes)?;
    model.blocks.iter_mut().for_each(|block| block.forward_bias = bias);
    Ok(model)
}

fn mistral(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    const WINDOW: usize = 4096;
    let form = Decoder { key_value_heads: Some(8), biases: Biases::None, ..LLAMA };
    let window = window(fields, Some(WINDOW))?;
    windowed(fields, sizes, form.model(fields, sizes)?, window, |_| window.is_some())
}

fn qwen2(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    let form = Decoder { key_value_heads: Some(32), biases: Biases::QueriesKeysValues, ..LLAMA };
    qwen(fields, sizes, form.model(fields, sizes)?)
}

fn qwen3(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    let form = Decoder { head_width: Some(128), key_value_heads: Some(32), query_key_norm: Some(true), ..LLAMA };
    qwen(fields, sizes, form.model(fields, sizes)?)
}

/// A window counts only where a flag says so, and from a layer on.
fn qwen(fields: Fields<'_>, sizes: &Sizes, model: Architecture) -> Result<Architecture, Refusal> {
    const FIRST: usize = 28;
    const WINDOW: usize = 4096;
    let counts = fields.or("use_sliding_window", false)?;
    let window = window(fields, Some(WINDOW))?.filter(|_| counts);
    let first = fields.or("max_window_layers", FIRST)?;
    windowed(fields, sizes, model, window, |layer| window.is_some() && layer >= first)
}

fn gemma(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    Decoder { key_value_heads: Some(16), ..GEMMA }.model(fields, sizes)
}

fn gemma2(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    const WINDOW: usize = 4096;
    let form = Decoder { key_value_heads: Some(4), output_norms: true, ..GEMMA };
    let mut model = form.model(fields, sizes)?;
    let cap = cap(fields, "attn_logit_softcapping", Some(50.0))?;
    scores_over(fields, &mut model)?;
    model.blocks.iter_mut().for_each(|block| block.attention.score_cap = cap);
    model.logit_cap = self::cap(fields, "final_logit_softcapping", Some(30.0))?;
    windowed(fields, sizes, model, window(fields, Some(WINDOW))?, |layer| layer % 2 == 0)
}

/// Gemma 2 without a bound of scores, even where the config has the key; local layers turn by another `θ`, and are not scaled.
fn gemma3(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    const WINDOW: usize = 4096;
    const PATTERN: usize = 6;
    let global = Turn { kind: FULL, theta: 1e6, ..TURN };
    let local = Turn { kind: SLIDING, theta_key: "rope_local_base_freq", is_scaled: false, ..TURN };
    let form =
        Decoder { key_value_heads: Some(4), output_norms: true, query_key_norm: Some(true), turn: global, ..GEMMA };
    let mut model = form.model(fields, sizes)?;
    scores_over(fields, &mut model)?;
    model.logit_cap = cap(fields, "final_logit_softcapping", None)?;
    let pattern =
        fields.size("sliding_window_pattern", PATTERN, "the layers from one that sees all to the next", usize::MAX)?;
    let mut model = windowed(fields, sizes, model, window(fields, Some(WINDOW))?, |layer| (layer + 1) % pattern != 0)?;
    for attention in model.blocks.iter_mut().map(|block| &mut block.attention) {
        if attention.window != Window::ALL {
            attention.rotary = Some(local.read(fields, attention.key_width)?);
        }
    }
    Ok(model)
}

fn phi3(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    let form = Decoder { epsilon: 1e-5, biases: Biases::None, ..LLAMA };
    let window = window(fields, None)?;
    windowed(fields, sizes, form.model(fields, sizes)?, window, |_| window.is_some())
}

/// Norms of what each branch adds, and of all queries and all keys together.
fn olmo2(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    let form = Decoder { epsilon: 1e-5, norm: Norm::None, output_norms: true, query_key_norm: Some(false), ..LLAMA };
    form.model(fields, sizes)
}

/// Scores are divided by the root of a number that is not the width of a head.
fn scores_over(fields: Fields<'_>, model: &mut Architecture) -> Result<(), Refusal> {
    const KEY: &str = "query_pre_attn_scalar";
    let scalar = fields.number(&[KEY], 256.0, [1e-3, 1e6])?;
    for attention in model.blocks.iter_mut().map(|block| &mut block.attention) {
        attention.score_divisor = (scalar / attention.key_width as f64).sqrt();
    }
    Ok(())
}

/// A bound on either side; null is none.
fn cap(fields: Fields<'_>, key: &str, default: Option<f64>) -> Result<Option<f64>, Refusal> {
    match fields.find::<f64>(&[key])? {
        None => Ok(default),
        Some(None) => Ok(None),
        Some(Some(_)) => fields.number(&[key], 1.0, [1e-3, 1e6]).map(Some),
    }
}

// ---- layer norms with rotary positions

/// Both branches read the block's input, each behind a norm of its own; a part of each head is turned.
fn gpt_neox(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    let turn = Turn { theta_key: "rotary_emb_base", fraction_key: "rotary_pct", fraction: 0.25, ..TURN };
    let mut attention = AttentionConfig { mask: Mask::Causal, ..sizes.attention()? };
    attention.rotary = Some(turn.read(fields, attention.key_width)?);
    let is_parallel = fields.or("use_parallel_residual", true)?;
    let mut block = BlockConfig {
        norm: Norm::Pre,
        norm_form: NormForm::layer(epsilon(fields, "layer_norm_eps", 1e-5)?),
        branches: if is_parallel { Branches::Parallel } else { Branches::Sequential },
        feed_forward: Some(sizes.hidden),
        activation: activation(fields, "hidden_act", Activation::Gelu)?,
        ..BlockConfig::plain(attention)
    };
    let bias = fields.or("attention_bias", true)?;
    set_biases(&mut block, [bias, bias, true]);
    Ok(Architecture { final_norm: true, readout: linear(fields, false)?, ..sizes.model(block) })
}

/// The same with one norm for both branches, and a readout with a bias.
fn phi(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    fields.must_be("qk_layernorm", false, "layer norms of queries and keys")?;
    let turn = Turn { fraction: 0.5, ..TURN };
    let mut attention = AttentionConfig { mask: Mask::Causal, ..sizes.attention()? };
    attention.group_size = sizes.heads / key_value_heads(fields, sizes.heads, sizes.heads)?;
    attention.rotary = Some(turn.read(fields, attention.key_width)?);
    let block = BlockConfig {
        norm: Norm::Pre,
        norm_form: NormForm::layer(epsilon(fields, "layer_norm_eps", 1e-5)?),
        branches: Branches::ParallelOneNorm,
        feed_forward: Some(sizes.hidden),
        activation: activation(fields, "hidden_act", Activation::GeluTanh)?,
        ..BlockConfig::plain(attention)
    };
    let readout = linear(fields, false)?;
    Ok(Architecture { final_norm: true, readout, readout_bias: true, ..sizes.model(block) })
}

/// An encoder in today's forms: gates, rotary positions, windows to both sides; layer 0 has no norm before its attention.
fn modernbert(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    const EVERY: usize = 3;
    const REACH: usize = 128;
    let turns = [
        Turn { kind: FULL, theta_key: "global_rope_theta", theta: 1.6e5, ..TURN },
        Turn { kind: SLIDING, theta_key: "local_rope_theta", ..TURN },
    ];
    let attention = sizes.attention()?;
    let norm_form =
        NormForm { shift: fields.or("norm_bias", false)?, ..NormForm::layer(epsilon(fields, "norm_eps", 1e-5)?) };
    let mut block = BlockConfig {
        norm: Norm::Pre,
        norm_form,
        feed_forward: Some(sizes.hidden),
        activation: activation(fields, "hidden_activation", Activation::Gelu)?,
        gated: true,
        ..BlockConfig::plain(attention)
    };
    let bias = fields.or("attention_bias", false)?;
    set_biases(&mut block, [bias, bias, fields.or("mlp_bias", false)?]);
    let every = fields.size(
        "global_attn_every_n_layers",
        EVERY,
        "the layers from one that sees all to the next",
        usize::MAX,
    )?;
    let half = window_of(fields.or("local_attention", REACH)?, "local_attention")? / 2;
    let is_local = kinds(fields, sizes, |layer| layer % every != 0)?;
    let mut model = sizes.model(block);
    for (layer, (block, is_local)) in model.blocks.iter_mut().zip(is_local).enumerate() {
        block.attention_norm = layer > 0;
        let attention = &mut block.attention;
        attention.rotary = Some(turns[usize::from(is_local)].read(fields, attention.key_width)?);
        attention.window = if is_local { Window { before: Some(half), after: Some(half) } } else { Window::ALL };
    }
    let transform_bias = fields.or("classifier_bias", false)?;
    let readout = transformed(fields, activation(fields, "classifier_activation", Activation::Gelu)?)?;
    let readout_bias = fields.or("decoder_bias", true)?;
    Ok(Architecture { embedding_norm: true, final_norm: true, readout, transform_bias, readout_bias, ..model })
}

/// Biases of queries, keys and values; of outputs; and of the feed-forward layer.
fn set_biases(block: &mut BlockConfig, [of_inputs, of_output, of_forward]: [bool; 3]) {
    (block.attention.bias, block.attention.output_bias, block.forward_bias) = (of_inputs, of_output, of_forward);
}

// ---- values of one field or some

/// The names of activations; of several for one, the first is written.
pub(super) const ACTIVATIONS: [(&str, Activation); 8] = [
    ("gelu", Activation::Gelu),
    ("gelu_new", Activation::GeluTanh),
    ("gelu_pytorch_tanh", Activation::GeluTanh),
    ("gelu_fast", Activation::GeluTanh),
    ("gelu_python", Activation::Gelu),
    ("relu", Activation::Relu),
    ("silu", Activation::Silu),
    ("swish", Activation::Silu),
];

fn activation(fields: Fields<'_>, key: &str, default: Activation) -> Result<Activation, Refusal> {
    let Some(name) = fields.get::<String>(&[key])? else { return Ok(default) };
    let found = ACTIVATIONS.iter().find(|(known, _)| *known == name);
    found.map(|(_, activation)| *activation).ok_or_else(|| {
        let names = ACTIVATIONS.map(|(name, _)| name);
        let refusal = no_such(&name, key, format!("one of {}", names.join(", ")));
        match nearest(&name, names) {
            Some(near) => Refusal { advice: format!("did its author mean {near}?"), ..refusal },
            None => refusal,
        }
    })
}

fn epsilon(fields: Fields<'_>, key: &str, default: f64) -> Result<f64, Refusal> {
    let epsilon = fields.or(key, default)?;
    if epsilon > 0.0 && epsilon < 1.0 {
        return Ok(epsilon);
    }
    let found = format!("{epsilon} as the norm's epsilon ({key})");
    Err(Refusal::new(found, "a number between 0 and 1, such as 1e-12", CHECK))
}

fn absolute_positions(fields: Fields<'_>) -> Result<(), Refusal> {
    const KEY: &str = "position_embedding_type";
    match fields.get::<String>(&[KEY])?.filter(|kind| kind != "absolute") {
        Some(other) => Err(no_such(&other, KEY, "`absolute`")),
        None => Ok(()),
    }
}

fn is_tied(fields: Fields<'_>, default: bool) -> Result<bool, Refusal> {
    fields.or("tie_word_embeddings", default)
}

/// Read by the table of words or by weights of its own.
fn linear(fields: Fields<'_>, is_tied_else: bool) -> Result<Readout, Refusal> {
    Ok(if is_tied(fields, is_tied_else)? { Readout::Tied } else { Readout::Linear })
}

/// The same behind a layer of its own.
fn transformed(fields: Fields<'_>, activation: Activation) -> Result<Readout, Refusal> {
    let of = if is_tied(fields, true)? { Readout::Transformed } else { Readout::TransformedLinear };
    Ok(of(activation))
}

const FULL: &str = "full_attention";
const SLIDING: &str = "sliding_attention";

/// Whether each layer sees a window only: as a list says, or a rule.
fn kinds(fields: Fields<'_>, sizes: &Sizes, slides: impl Fn(usize) -> bool) -> Result<Vec<bool>, Refusal> {
    const KEY: &str = "layer_types";
    match fields.get::<Vec<String>>(&[KEY])? {
        Some(list) => kinds_of(&list, KEY, [FULL, SLIDING], sizes),
        None => Ok((0..sizes.layers).map(slides).collect()),
    }
}

/// Whether each layer is of the second of two kinds.
fn kinds_of(list: &[String], key: &str, names: [&str; 2], sizes: &Sizes) -> Result<Vec<bool>, Refusal> {
    if list.len() != sizes.layers {
        let found = format!("{key} of {} layers", list.len());
        return Err(Refusal::new(found, format!("one for each of {}", sizes.layers), CHECK));
    }
    let kind = |name: &String| match names.iter().position(|known| known == name) {
        Some(at) => Ok(at == 1),
        None => Err(no_such(name, key, format!("{} or {}", quoted(names[0]), quoted(names[1])))),
    };
    list.iter().map(kind).collect()
}

/// A window of so many words, with the word itself.
fn window_of(words: usize, key: &str) -> Result<usize, Refusal> {
    if words > 0 { Ok(words) } else { Err(Refusal::new(format!("0 as {key}"), "1 or more", CHECK)) }
}

/// The same, as `sliding_window` says; null is none.
fn window(fields: Fields<'_>, default: Option<usize>) -> Result<Option<usize>, Refusal> {
    const KEY: &str = "sliding_window";
    match fields.find::<usize>(&[KEY])? {
        None => Ok(default),
        Some(None) => Ok(None),
        Some(Some(words)) => window_of(words, KEY).map(Some),
    }
}

/// The model with windows on some of its layers.
fn windowed(
    fields: Fields<'_>,
    sizes: &Sizes,
    mut model: Architecture,
    window: Option<usize>,
    slides: impl Fn(usize) -> bool,
) -> Result<Architecture, Refusal> {
    for (block, slides) in model.blocks.iter_mut().zip(kinds(fields, sizes, slides)?) {
        if slides {
            let none = || Refusal::new("layers with a window, and no sliding_window", "how many words it has", CHECK);
            block.attention.window = Window { before: Some(window.ok_or_else(none)? - 1), after: None };
        }
    }
    Ok(model)
}

/// The keys of a turn, and the values of those that are missing.
#[derive(Clone, Copy)]
struct Turn {
    /// The name in `rope_parameters` of the layers that have it.
    kind: &'static str,
    theta_key: &'static str,
    theta: f64,
    fraction_key: &'static str,
    fraction: f64,
    /// Whether `rope_scaling` is of these layers.
    is_scaled: bool,
}

const TURN: Turn = Turn {
    kind: FULL,
    theta_key: "rope_theta",
    theta: 1e4,
    fraction_key: "partial_rotary_factor",
    fraction: 1.0,
    is_scaled: true,
};

/// The keys of today's configs.
const PARAMETERS: &str = "rope_parameters";
const THETA: &str = "rope_theta";
const TYPE: &str = "rope_type";

impl Turn {
    fn read(&self, fields: Fields<'_>, head_width: usize) -> Result<Rotary, Refusal> {
        const THETA_BOUNDS: [f64; 2] = [1.0, 1e12];
        let new = self.parameters(fields)?;
        let is_new = |key: &str| Ok::<_, Refusal>(!new.is_empty() && fields.has(&[new, &[key]].concat())?);
        let number = |key: &str, old: &str, default: f64, bounds: [f64; 2]| match is_new(key)? {
            true => fields.number(&[new, &[key]].concat(), default, bounds),
            false => fields.number(&[old], default, bounds),
        };
        let theta = number(THETA, self.theta_key, self.theta, THETA_BOUNDS)?;
        let fraction = number("partial_rotary_factor", self.fraction_key, self.fraction, [0.0, 1.0])?;
        let width = (head_width as f64 * fraction) as usize;
        if width == 0 || !width.is_multiple_of(2) {
            let found = format!("{width} of {head_width} columns of a head that are turned ({})", self.fraction_key);
            return Err(Refusal::new(found, "an even number, in pairs", CHECK));
        }
        let old: &[&str] = if self.is_scaled { &["rope_scaling"] } else { &[] };
        let scaling = scaling(fields, if new.is_empty() { old } else { new })?;
        Ok(Rotary { theta, width, scaling })
    }

    /// The path of these layers' parameters; empty where the config has the older keys.
    fn parameters(&self, fields: Fields<'_>) -> Result<&'static [&'static str], Refusal> {
        // Of a kind's own, or of all layers.
        let paths: [&'static [&'static str]; 2] = if self.kind == FULL {
            [&[PARAMETERS, FULL], &[PARAMETERS]]
        } else {
            [&[PARAMETERS, SLIDING], &[PARAMETERS]]
        };
        if fields.has(paths[0])? {
            return Ok(paths[0]);
        }
        let is_of_all = fields.has(&[PARAMETERS, THETA])? || fields.has(&[PARAMETERS, TYPE])?;
        Ok(if is_of_all { paths[1] } else { &[] })
    }
}

/// The scaling that stands under these keys; none where there are none.
fn scaling(fields: Fields<'_>, path: &[&str]) -> Result<RotaryScaling, Refusal> {
    const FACTOR: [f64; 2] = [1.0, 1e6];
    const TURNS: [f64; 2] = [1e-3, 1e6];
    if path.is_empty() {
        return Ok(RotaryScaling::None);
    }
    let under = |key| [path, &[key]].concat();
    let kind = match fields.get::<String>(&under(TYPE))? {
        Some(kind) => Some(kind),
        None => fields.get::<String>(&under("type"))?,
    };
    let needed = |key, bounds| {
        if fields.get::<f64>(&under(key))?.is_none() {
            let found = format!("a {TYPE} without {key}");
            return Err(Refusal::new(found, "a number", CHECK));
        }
        fields.number(&under(key), 1.0, bounds)
    };
    match kind.as_deref() {
        None | Some("default") => Ok(RotaryScaling::None),
        Some("linear") => needed("factor", FACTOR).map(RotaryScaling::Linear),
        Some("llama3") => {
            let [factor, low, high] =
                [needed("factor", FACTOR)?, needed("low_freq_factor", TURNS)?, needed("high_freq_factor", TURNS)?];
            let tokens = needed("original_max_position_embeddings", [1.0, 1e9])?;
            if low >= high {
                let found = format!("{low} as low_freq_factor and {high} as high_freq_factor");
                return Err(Refusal::new(found, "the second above the first", CHECK));
            }
            Ok(RotaryScaling::Llama3 { factor, low, high, tokens })
        }
        Some(other) => Err(no_such(other, TYPE, "default, linear or llama3")),
    }
}
