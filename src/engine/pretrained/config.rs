//! The `config.json` of a model of any [family](super::families), translated to the engine's types. Missing fields have
//! the default values of transformers.

use std::fmt;

use serde_json::{Value, json};

use super::families::{ACTIVATIONS, FULL, SLIDING, unsupported};
pub use super::families::{Family, Plain};
use super::fields::{Fields, too_many};
pub use super::limits::*;
use super::refusal::{Refusal, quoted};
use super::writing;
use crate::messages::counted;
use crate::numerics::activation::Activation;
use crate::numerics::attention::{Mask, Rotary, RotaryScaling};
use crate::numerics::block::{BlockConfig, Branches};
use crate::numerics::model::WritingRules;
use crate::numerics::model::{Architecture, Readout};
use crate::numerics::params::{TensorId, TensorName};

/// The shape of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    pub family: Family,
    /// Number `V` of the words.
    pub vocabulary: usize,
    /// Shape in the engine, with the readout that complete files have.
    pub architecture: Architecture,
}

impl Config {
    /// Reads the text of a `config.json`.
    ///
    /// # Errors
    /// If the text is not a `config.json`, the family is unknown, the engine does not support a setting, or the sizes
    /// do not fit.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let fields = Fields::read(text)?;
        let family = Family::of(fields)?;
        let (sizes, architecture) = family.read(fields)?;
        let config = Self { family, vocabulary: sizes.vocabulary, architecture };
        config.check()?;
        Ok(config)
    }

    /// Returns the width `D` of the vectors.
    pub fn width(&self) -> usize {
        self.architecture.width
    }

    pub fn layers(&self) -> usize {
        self.architecture.blocks.len()
    }

    /// Returns `H`, the number of heads of each layer.
    pub fn heads(&self) -> usize {
        self.block().attention.heads
    }

    /// Returns, for a model with an encoder and a decoder, the number of layers of each and the number of heads of each
    /// of its attentions.
    pub fn towers(&self) -> [(usize, usize); 2] {
        let Architecture { source_blocks, blocks, .. } = &self.architecture;
        let heads = |blocks: &[BlockConfig]| blocks.first().map_or(0, |block| block.attention.heads);
        // Each layer of the decoder is a block of self-attention and one of cross-attention.
        [(source_blocks.len(), heads(source_blocks)), (blocks.len() / 2, heads(blocks))]
    }

    /// Returns the number of tokens of the longest sentence.
    pub fn positions(&self) -> usize {
        self.architecture.max_tokens
    }

    /// Returns the number of segment types; 0 if the family has none.
    pub fn types(&self) -> usize {
        self.architecture.segments.unwrap_or(0)
    }

    /// Returns whether the readout is tied to the word table.
    pub fn is_tied(&self) -> bool {
        self.architecture.readout.is_by_static_vectors()
    }

    /// Returns whether a word sees only itself and earlier words.
    pub fn is_causal(&self) -> bool {
        self.block().attention.mask == Mask::Causal
    }

    /// Returns the first block, which always exists.
    fn block(&self) -> &BlockConfig {
        &self.architecture.blocks[0]
    }

    /// Returns the text of a `config.json` that is read as this shape, and that transformers opens as a model with a
    /// head.
    ///
    /// # Panics
    /// If the family is not one that attune writes: BERT, GPT-2, DistilBERT, EuroBERT, T5, BART, mBART, Marian and
    /// [`DECODERS`].
    pub fn to_json(&self) -> String {
        self.to_json_with(&WritingRules::default())
    }

    /// Returns the text of [`Self::to_json`]. For a model with a source, it contains the rules by which the model
    /// writes.
    ///
    /// # Panics
    /// See [`Self::to_json`].
    pub fn to_json_with(&self, rules: &WritingRules) -> String {
        let sources = &self.architecture.source_blocks;
        let (block, layers) = match sources.first() {
            Some(block) => (block, sources.len()),
            None => (self.block(), self.layers()),
        };
        let activation = ACTIVATIONS.iter().find(|(_, activation)| *activation == block.activation);
        let (activation, epsilon) = (activation.map(|(name, _)| *name), block.norm_form.epsilon);
        // Ids of special tokens that the written tokenizer does not have are null.
        let (class, own) = match self.family {
            Family::Bert => (
                "BertForMaskedLM",
                json!({
                    "hidden_act": activation,
                    "layer_norm_eps": epsilon,
                    "type_vocab_size": self.types(),
                    "is_decoder": self.is_causal(),
                    "pad_token_id": null,
                }),
            ),
            Family::Gpt2 => (
                "GPT2LMHeadModel",
                json!({
                    "activation_function": activation,
                    "layer_norm_epsilon": epsilon,
                    "scale_attn_weights": block.attention.scale,
                    "scale_attn_by_inverse_layer_idx": self.layers() > 1 && self.is_scaled_by_layer(),
                    "bos_token_id": null,
                    "eos_token_id": null,
                }),
            ),
            Family::DistilBert => ("DistilBertForMaskedLM", json!({ "activation": activation, "pad_token_id": null })),
            Family::Llama => ("LlamaForCausalLM", self.llama_fields(activation)),
            Family::EuroBert => ("EuroBertForMaskedLM", self.eurobert_fields(activation)),
            Family::Mistral => ("MistralForCausalLM", self.decoder_fields(activation)),
            Family::Qwen3 => ("Qwen3ForCausalLM", self.decoder_fields(activation)),
            Family::SmolLm3 => ("SmolLM3ForCausalLM", self.decoder_fields(activation)),
            Family::Gemma => ("GemmaForCausalLM", self.decoder_fields(activation)),
            Family::Gemma2 => ("Gemma2ForCausalLM", self.decoder_fields(activation)),
            Family::Olmo2 => ("Olmo2ForCausalLM", self.decoder_fields(activation)),
            Family::GptNeoX => ("GPTNeoXForCausalLM", self.decoder_fields(activation)),
            Family::StableLm => ("StableLmForCausalLM", self.decoder_fields(activation)),
            Family::T5 => ("T5ForConditionalGeneration", self.t5_fields(activation)),
            Family::Bart => ("BartForConditionalGeneration", self.bart_fields(activation)),
            Family::MBart => ("MBartForConditionalGeneration", self.bart_fields(activation)),
            Family::Marian => ("MarianMTModel", self.bart_fields(activation)),
            other => panic!("config: models of {} are not written", other.name()),
        };
        let keys = self.family.keys();
        let mut fields = json!({
            "model_type": self.family.model_type(),
            "architectures": [class],
            "dtype": "float32",
            "tie_word_embeddings": self.is_tied(),
            "vocab_size": self.vocabulary,
            keys.width: self.width(),
            keys.layers: layers,
            keys.heads: block.attention.heads,
            keys.hidden: block.feed_forward,
            keys.positions: self.positions(),
        });
        if let (Value::Object(fields), Value::Object(own)) = (&mut fields, own) {
            fields.extend(own);
            if !sources.is_empty() {
                fields.extend(writing::ids(rules));
            }
        }
        format!("{fields:#}\n")
    }

    /// Returns the fields that only Llama's family has. Its rotary positions are not scaled.
    fn llama_fields(&self, activation: Option<&str>) -> Value {
        let block = self.block();
        json!({
            "num_key_value_heads": self.heads() / block.attention.group_size,
            "head_dim": block.attention.key_width,
            "hidden_act": activation,
            "rms_norm_eps": block.norm_form.epsilon,
            "rope_theta": block.attention.rotary.map(|rotary| rotary.theta),
            "attention_bias": block.attention.bias,
            "mlp_bias": block.forward_bias,
            "bos_token_id": null,
            "eos_token_id": null,
        })
    }

    /// Returns Llama's fields, and null as the padding token. EuroBERT's default id of that token lies outside a small
    /// vocabulary, which transformers refuses.
    fn eurobert_fields(&self, activation: Option<&str>) -> Value {
        let mut fields = self.llama_fields(activation);
        fields["pad_token_id"] = Value::Null;
        fields
    }

    /// Returns the fields of the decoders like Llama. Each family reads those that it knows.
    fn decoder_fields(&self, activation: Option<&str>) -> Value {
        let (block, layers) = (self.block(), self.layers());
        let attention = &block.attention;
        let words = attention.window.before.map(|before| before + 1);
        let kind = if words.is_some() { SLIDING } else { FULL };
        // Scores are divided by the root of this width, which some configs have as a whole number.
        let scalar = attention.key_width as f64 * attention.score_divisor * attention.score_divisor;
        let scalar = if scalar.fract() == 0.0 { json!(scalar as u64) } else { json!(scalar) };
        let mut fields = json!({
            "num_key_value_heads": attention.key_value_heads(),
            "head_dim": attention.key_width,
            "hidden_act": activation,
            "rms_norm_eps": block.norm_form.epsilon,
            "layer_norm_eps": block.norm_form.epsilon,
            "rope_parameters": attention.rotary.map(|rotary| rotary_fields(rotary, attention.key_width)),
            "attention_bias": attention.bias || attention.output_bias,
            "use_qkv_bias": attention.bias,
            "mlp_bias": block.forward_bias,
            "use_parallel_residual": block.branches != Branches::Sequential,
            "query_pre_attn_scalar": scalar,
            "attn_logit_softcapping": attention.score_cap,
            "final_logit_softcapping": self.architecture.logit_cap,
            "sliding_window": words,
            "use_sliding_window": words.is_some(),
            "max_window_layers": 0,
            "bos_token_id": null,
            "eos_token_id": null,
            "pad_token_id": null,
        });
        let own = match self.family {
            Family::Gemma => json!({ "hidden_activation": activation }),
            // A window is needed even where no layer has one.
            Family::Gemma2 => json!({
                "hidden_activation": activation,
                "layer_types": vec![kind; layers],
                "sliding_window": words.unwrap_or(self.positions()),
            }),
            // In spite of the name, 1 stands for a layer with rotary positions.
            Family::SmolLm3 => json!({ "no_rope_layers": vec![1; layers], "layer_types": vec![kind; layers] }),
            Family::Qwen3 => json!({ "layer_types": vec![kind; layers] }),
            _ => json!({}),
        };
        if let (Value::Object(fields), Value::Object(own)) = (&mut fields, own) {
            fields.extend(own);
        }
        fields
    }

    /// Returns the fields that only T5 has, without those of its encoder's sizes.
    fn t5_fields(&self, activation: Option<&str>) -> Value {
        let (block, architecture) = (self.block(), &self.architecture);
        let buckets = block.attention.distances.and_then(|form| form.buckets);
        // For this activation function, the name in a gate differs from the usual one.
        let gate = if block.activation == Activation::GeluTanh { Some("gelu") } else { activation };
        let forward =
            if block.gated { gate.map(|gate| format!("gated-{gate}")) } else { activation.map(str::to_owned) };
        json!({
            "d_kv": block.attention.key_width,
            "num_decoder_layers": architecture.blocks.len() / 2,
            "feed_forward_proj": forward,
            "dense_act_fn": activation,
            "is_gated_act": block.gated,
            "relative_attention_num_buckets": buckets.map(|buckets| buckets.count),
            "relative_attention_max_distance": buckets.map(|buckets| buckets.most),
            "layer_norm_epsilon": block.norm_form.epsilon,
            "scale_decoder_outputs": architecture.logit_scale.is_some(),
            "is_encoder_decoder": true,
        })
    }

    /// Returns the fields that only BART's family has, without those of its encoder's sizes.
    fn bart_fields(&self, activation: Option<&str>) -> Value {
        // The block of self-attention has no feed-forward layer; that of cross-attention after it has one.
        let hidden = self.architecture.blocks.iter().find_map(|block| block.feed_forward);
        json!({
            "decoder_layers": self.architecture.blocks.len() / 2,
            "decoder_attention_heads": self.heads(),
            "decoder_ffn_dim": hidden,
            "activation_function": activation,
            "scale_embedding": self.architecture.embedding_scale.is_some(),
            "is_encoder_decoder": true,
            "forced_eos_token_id": null,
        })
    }

    fn is_scaled_by_layer(&self) -> bool {
        self.architecture.blocks.iter().any(|block| block.attention.score_divisor != 1.0)
    }

    fn check(&self) -> Result<(), Refusal> {
        if self.types() > TYPES_MAX {
            return Err(too_many(format!("{} token types", self.types()), format!("at most {TYPES_MAX}")));
        }
        // The size of a number in bytes is known only from the files; this is the smallest.
        check_bytes(self.parameters() * HALF_BYTES)
    }

    /// Returns the number of parameters. The sizes are within their bounds, so this cannot overflow.
    fn parameters(&self) -> u64 {
        let tensors = wanted(self, &self.architecture);
        tensors.iter().map(|&(_, rows, cols)| rows as u64 * cols as u64).sum()
    }
}

/// The decoders like Llama that are written, plainest first. Qwen2 is left out, because transformers always takes a
/// tokenizer of its own for it.
pub const DECODERS: [Family; 9] = [
    Family::Llama,
    Family::Mistral,
    Family::Qwen3,
    Family::SmolLm3,
    Family::StableLm,
    Family::GptNeoX,
    Family::Olmo2,
    Family::Gemma,
    Family::Gemma2,
];

/// Returns the value of `rope_parameters` for heads of this width.
fn rotary_fields(rotary: Rotary, width: usize) -> Value {
    // Half a column is added, because readers round the product of the share and the width down.
    const MIDDLE: f64 = 0.5;
    let share = if rotary.width == width { 1.0 } else { (rotary.width as f64 + MIDDLE) / width as f64 };
    let mut fields = json!({ "rope_theta": rotary.theta, "partial_rotary_factor": share, "rope_type": "default" });
    let scaling = match rotary.scaling {
        RotaryScaling::None => json!({}),
        RotaryScaling::Linear(factor) => json!({ "rope_type": "linear", "factor": factor }),
        RotaryScaling::Llama3 { factor, low, high, tokens } => json!({
            "rope_type": "llama3",
            "factor": factor,
            "low_freq_factor": low,
            "high_freq_factor": high,
            "original_max_position_embeddings": tokens as u64,
        }),
    };
    if let (Value::Object(fields), Value::Object(scaling)) = (&mut fields, scaling) {
        fields.extend(scaling);
    }
    fields
}

/// Size of the shortest numbers that are read, in bytes.
const HALF_BYTES: u64 = 2;

/// Checks the memory of all numbers.
///
/// # Errors
/// If numbers take more memory than a model may have.
pub(super) fn check_bytes(bytes: u64) -> Result<(), Refusal> {
    if bytes > MODEL_BYTES_MAX {
        let most = format!("at most {} MB", MODEL_BYTES_MAX >> 20);
        return Err(too_many(format!("{} MB of weights", bytes >> 20), most));
    }
    Ok(())
}

impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, layers, heads) = (self.family.name(), self.layers(), self.heads());
        let (width, vocabulary) = (self.width(), self.vocabulary);
        let (layers, heads) = (counted(layers, "layer"), counted(heads, "head"));
        write!(f, "{name}: {layers} of {heads}, {width} wide, a vocabulary of {vocabulary}")
    }
}

impl Family {
    /// Returns the family of a config: by its type, or by the class of its model if it has none.
    fn of(fields: Fields<'_>) -> Result<Self, Refusal> {
        let found = match fields.get::<Value>(&[TYPE])? {
            Some(Value::String(name)) => match Self::ALL.iter().find(|family| family.model_type() == name) {
                Some(family) => return Ok(*family),
                None => return Err(other(format!("the {TYPE} {}", quoted(&name)), unsupported(|other| other == name))),
            },
            Some(_) => return Err(other(format!("a {TYPE} that is not text"), None)),
            None => format!("no {TYPE}"),
        };
        let classes: Vec<String> = fields.or("architectures", Vec::new())?;
        let has_texts_within = fields.has(&[TEXTS])?;
        if let Some(family) = classes.iter().find_map(|class| Self::of_class(class, has_texts_within)) {
            return Ok(family);
        }
        if let Some(class) = classes.first() {
            let why = unsupported(|name| is_of_type(class, name));
            return Err(other(format!("{found}, and the class {}", quoted(class)), why));
        }
        let family = if fields.has(&["n_embd"])? { Self::Gpt2 } else { Self::Bert };
        let advice =
            format!("write the model's family in config.json, such as \"{TYPE}\": \"{}\"", family.model_type());
        Err(Refusal::new(format!("{found} and no architectures"), one_of(), advice))
    }

    /// Returns the family of a transformers class, such as `GPT2LMHeadModel`.
    fn of_class(class: &str, has_texts_within: bool) -> Option<Self> {
        let is_of = |family: &&Self| {
            let model_type = family.model_type();
            let (own, is_text) = model_type.strip_suffix("_text").map_or((model_type, false), |own| (own, true));
            is_of_type(class, own)
                && (family.within().is_some() == has_texts_within || !is_text && family.within().is_none())
        };
        Self::ALL.iter().find(is_of).copied()
    }
}

const TYPE: &str = "model_type";
/// Name of the field that holds the text model's config, in the config of a model that also reads pictures.
const TEXTS: &str = "text_config";

/// Returns whether a class is named after a type, such as `XLMRobertaForMaskedLM` after `xlm-roberta`.
fn is_of_type(class: &str, model_type: &str) -> bool {
    /// Words that may follow the type in the name of a class.
    const TASKS: [&str; 5] = ["for", "model", "lmhead", "doubleheads", "pretrained"];
    let plain = |name: &str| name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let class = plain(class);
    class.strip_prefix(&plain(model_type)).is_some_and(|task| TASKS.iter().any(|known| task.starts_with(known)))
}

fn one_of() -> String {
    let known: Vec<&str> = Family::ALL.iter().map(|family| family.model_type()).collect();
    format!("one of {}", known.join(", "))
}

/// Returns the refusal of a family that attune does not support, with the reason if it is known.
fn other(found: String, why: Option<&str>) -> Refusal {
    match why {
        Some(why) => Refusal::new(found, one_of(), format!("attune does not compute this model, because {why}")),
        None => Refusal::new(found, one_of(), "attune opens only models of these families"),
    }
}

/// Returns the tensors that a model's files have: the word table, and the engine's tensors.
pub(super) fn wanted(config: &Config, architecture: &Architecture) -> Vec<(TensorId, usize, usize)> {
    let mut wanted = vec![(TensorName::Embedding.into(), config.vocabulary, config.width())];
    wanted.extend(architecture.shapes(config.vocabulary, config.vocabulary));
    wanted
}

/// Returns the engine's shape of a model with this readout.
pub fn architecture(config: &Config, readout: Readout) -> Architecture {
    Architecture { readout, ..config.architecture.clone() }
}
