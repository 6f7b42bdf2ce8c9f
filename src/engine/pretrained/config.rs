//! The `config.json` of a model, for every family in the same words. Fields that are missing have the values that
//! transformers gives them.

use std::fmt;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::refusal::{Refusal, quoted};
use crate::nearest::nearest;
use crate::numerics::activation::Activation;

/// Bytes of a `config.json`.
pub const CONFIG_BYTES_MAX: u64 = 1 << 20;
/// Bytes of all weights as `f32`.
pub const MODEL_BYTES_MAX: u64 = 2 << 30;
pub const LAYERS_MAX: usize = 128;
pub const WIDTH_MAX: usize = 8192;
pub const HEADS_MAX: usize = 256;
pub const HIDDEN_MAX: usize = 4 * WIDTH_MAX;
pub const VOCABULARY_MAX: usize = 1_000_000;
pub const POSITIONS_MAX: usize = 65_536;
pub const TYPES_MAX: usize = 1024;

/// The families of models whose shape is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    Bert,
    Gpt2,
    DistilBert,
}

impl Family {
    pub const ALL: [Self; 3] = [Self::Bert, Self::Gpt2, Self::DistilBert];

    /// The name in the field `model_type`.
    pub fn model_type(self) -> &'static str {
        match self {
            Self::Bert => "bert",
            Self::Gpt2 => "gpt2",
            Self::DistilBert => "distilbert",
        }
    }

    /// The class of transformers that has the head for guesses.
    fn class(self) -> &'static str {
        match self {
            Self::Bert => "BertForMaskedLM",
            Self::Gpt2 => "GPT2LMHeadModel",
            Self::DistilBert => "DistilBertForMaskedLM",
        }
    }

    /// The name that people know.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bert => "BERT",
            Self::Gpt2 => "GPT-2",
            Self::DistilBert => "DistilBERT",
        }
    }
}

/// The shape of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    pub family: Family,
    /// `D`
    pub width: usize,
    pub layers: usize,
    /// `H`
    pub heads: usize,
    /// Units of a feed-forward layer.
    pub hidden: usize,
    pub activation: Activation,
    pub norm_epsilon: f64,
    pub positions: usize,
    /// Kinds of sentences; 0 where the family has none.
    pub types: usize,
    /// `V`
    pub vocabulary: usize,
    /// The readout is the table of words.
    pub tied: bool,
    /// A word sees those before it only.
    pub causal: bool,
    /// Scores are divided by `√d_k`.
    pub scaled: bool,
    /// Scores of the layer `l`, from 1, are divided by `l` too.
    pub scaled_by_layer: bool,
}

impl Config {
    /// # Errors
    /// If the text is no `config.json`, of a family that is not known, or of sizes that do not fit.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let fields: Map<String, Value> = read(text)?;
        let config = match Family::of(fields.get("model_type"))? {
            Family::Bert => Self::try_from(read::<BertJson>(text)?)?,
            Family::Gpt2 => Self::try_from(read::<Gpt2Json>(text)?)?,
            Family::DistilBert => Self::try_from(read::<DistilBertJson>(text)?)?,
        };
        config.check()?;
        Ok(config)
    }

    /// The text of a `config.json` that is read as this, and that transformers opens as a model with a head.
    pub fn to_json(&self) -> String {
        let activation = ACTIVATIONS.iter().find(|(_, activation)| *activation == self.activation);
        let activation = activation.map(|(name, _)| *name);
        let mut fields = json!({
            "model_type": self.family.model_type(),
            "architectures": [self.family.class()],
            "dtype": "float32",
            "tie_word_embeddings": self.tied,
            "vocab_size": self.vocabulary,
        });
        // Tokens that a text begins or ends with: none.
        let own = match self.family {
            Family::Bert => json!({
                "hidden_size": self.width,
                "num_hidden_layers": self.layers,
                "num_attention_heads": self.heads,
                "intermediate_size": self.hidden,
                "hidden_act": activation,
                "layer_norm_eps": self.norm_epsilon,
                "max_position_embeddings": self.positions,
                "type_vocab_size": self.types,
                "is_decoder": self.causal,
                "pad_token_id": null,
            }),
            Family::Gpt2 => json!({
                "n_embd": self.width,
                "n_layer": self.layers,
                "n_head": self.heads,
                "n_inner": self.hidden,
                "activation_function": activation,
                "layer_norm_epsilon": self.norm_epsilon,
                "n_positions": self.positions,
                "scale_attn_weights": self.scaled,
                "scale_attn_by_inverse_layer_idx": self.scaled_by_layer,
                "bos_token_id": null,
                "eos_token_id": null,
            }),
            Family::DistilBert => json!({
                "dim": self.width,
                "n_layers": self.layers,
                "n_heads": self.heads,
                "hidden_dim": self.hidden,
                "activation": activation,
                "max_position_embeddings": self.positions,
                "pad_token_id": null,
            }),
        };
        if let (Value::Object(fields), Value::Object(own)) = (&mut fields, own) {
            fields.extend(own);
        }
        format!("{fields:#}\n")
    }

    fn check(&self) -> Result<(), Refusal> {
        let sizes = [
            ("the width", self.width, WIDTH_MAX),
            ("the number of layers", self.layers, LAYERS_MAX),
            ("the number of heads", self.heads, HEADS_MAX),
            ("the number of hidden units", self.hidden, HIDDEN_MAX),
            ("the number of positions", self.positions, POSITIONS_MAX),
            ("the vocabulary", self.vocabulary, VOCABULARY_MAX),
        ];
        for (name, size, most) in sizes {
            if size == 0 || size > most {
                return Err(Refusal::new(format!("{size} as {name}"), format!("1 to {most}"), TOO_LARGE));
            }
        }
        if self.types > TYPES_MAX {
            return Err(Refusal::new(format!("{} token types", self.types), format!("at most {TYPES_MAX}"), TOO_LARGE));
        }
        if !self.width.is_multiple_of(self.heads) {
            let found = format!("{} heads that share a width of {}", self.heads, self.width);
            return Err(Refusal::new(found, "a width that the heads divide evenly", "check config.json"));
        }
        if !(self.norm_epsilon > 0.0 && self.norm_epsilon < 1.0) {
            let found = format!("{} as the norm's epsilon", self.norm_epsilon);
            return Err(Refusal::new(found, "a number between 0 and 1, such as 1e-12", "check config.json"));
        }
        let bytes = self.parameters() * 4;
        if bytes > MODEL_BYTES_MAX {
            let found = format!("{} MB of weights", bytes >> 20);
            return Err(Refusal::new(found, format!("at most {} MB", MODEL_BYTES_MAX >> 20), TOO_LARGE));
        }
        Ok(())
    }

    /// About how many numbers the model has: its matrices. The sizes are within their bounds, so this cannot overflow.
    fn parameters(&self) -> u64 {
        let [width, hidden, layers] = [self.width, self.hidden, self.layers].map(|size| size as u64);
        let tables = if self.tied { 1 } else { 2 } * self.vocabulary + self.positions + self.types;
        layers * (4 * width * width + 2 * width * hidden) + tables as u64 * width
    }
}

/// The names of activations; of several for one, the first is written.
const ACTIVATIONS: [(&str, Activation); 4] = [
    ("gelu", Activation::Gelu),
    ("gelu_new", Activation::GeluTanh),
    ("gelu_pytorch_tanh", Activation::GeluTanh),
    ("relu", Activation::Relu),
];

const TOO_LARGE: &str = "attune opens models of the size of BERT-base and GPT-2, and no larger than its bounds";

impl fmt::Display for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { family, layers, heads, width, vocabulary, .. } = self;
        let name = family.name();
        write!(f, "{name}: {layers} layers of {heads} heads, {width} wide, a vocabulary of {vocabulary}")
    }
}

/// Reads a config; an error has the field, and its line and column.
fn read<T: DeserializeOwned>(text: &str) -> Result<T, Refusal> {
    let mut json = serde_json::Deserializer::from_str(text);
    let read = serde_path_to_error::deserialize(&mut json).map_err(|error| error.to_string());
    let read = read.and_then(|read| json.end().map(|()| read).map_err(|error| error.to_string()));
    read.map_err(|error| Refusal::bad_json(&error, "a config in JSON", "check config.json, or download it again"))
}

impl Family {
    /// The family that a config says.
    fn of(model_type: Option<&Value>) -> Result<Self, Refusal> {
        let found = match model_type {
            Some(Value::String(name)) => match Self::ALL.into_iter().find(|family| family.model_type() == name) {
                Some(family) => return Ok(family),
                None => format!("the model_type {}", quoted(name)),
            },
            Some(_) => "a model_type that is no text".to_owned(),
            None => "no model_type".to_owned(),
        };
        let known = Self::ALL.map(Self::model_type).join(", ");
        Err(Refusal::new(found, format!("one of {known}"), "attune opens BERT's and GPT-2's families only"))
    }
}

/// The fields of BERT. What is missing or null has the value of transformers.
#[derive(Default, Deserialize)]
#[serde(default)]
struct BertJson {
    hidden_size: Option<usize>,
    num_hidden_layers: Option<usize>,
    num_attention_heads: Option<usize>,
    intermediate_size: Option<usize>,
    hidden_act: Option<String>,
    layer_norm_eps: Option<f64>,
    max_position_embeddings: Option<usize>,
    type_vocab_size: Option<usize>,
    vocab_size: Option<usize>,
    tie_word_embeddings: Option<bool>,
    is_decoder: Option<bool>,
    position_embedding_type: Option<String>,
    add_cross_attention: Option<bool>,
}

impl TryFrom<BertJson> for Config {
    type Error = Refusal;

    fn try_from(json: BertJson) -> Result<Self, Refusal> {
        if let Some(other) = json.position_embedding_type.filter(|kind| kind != "absolute") {
            let found = format!("{} as position_embedding_type", quoted(&other));
            return Err(Refusal::new(found, "`absolute`", "attune does not compute this one"));
        }
        refuse_cross_attention(json.add_cross_attention)?;
        Ok(Self {
            family: Family::Bert,
            width: json.hidden_size.unwrap_or(768),
            layers: json.num_hidden_layers.unwrap_or(12),
            heads: json.num_attention_heads.unwrap_or(12),
            hidden: json.intermediate_size.unwrap_or(3072),
            activation: activation("hidden_act", json.hidden_act, Activation::Gelu)?,
            norm_epsilon: json.layer_norm_eps.unwrap_or(1e-12),
            positions: json.max_position_embeddings.unwrap_or(512),
            types: json.type_vocab_size.unwrap_or(2),
            vocabulary: json.vocab_size.unwrap_or(30_522),
            tied: json.tie_word_embeddings.unwrap_or(true),
            causal: json.is_decoder.unwrap_or(false),
            scaled: true,
            scaled_by_layer: false,
        })
    }
}

/// The fields of GPT-2.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Gpt2Json {
    n_embd: Option<usize>,
    n_layer: Option<usize>,
    n_head: Option<usize>,
    n_inner: Option<usize>,
    activation_function: Option<String>,
    layer_norm_epsilon: Option<f64>,
    n_positions: Option<usize>,
    vocab_size: Option<usize>,
    tie_word_embeddings: Option<bool>,
    scale_attn_weights: Option<bool>,
    // `reorder_and_upcast_attn` is the same mathematics in another order, which f32 does not need.
    scale_attn_by_inverse_layer_idx: Option<bool>,
    add_cross_attention: Option<bool>,
}

impl TryFrom<Gpt2Json> for Config {
    type Error = Refusal;

    fn try_from(json: Gpt2Json) -> Result<Self, Refusal> {
        refuse_cross_attention(json.add_cross_attention)?;
        let width = json.n_embd.unwrap_or(768);
        Ok(Self {
            family: Family::Gpt2,
            width,
            layers: json.n_layer.unwrap_or(12),
            heads: json.n_head.unwrap_or(12),
            hidden: json.n_inner.unwrap_or(width.saturating_mul(4)),
            activation: activation("activation_function", json.activation_function, Activation::GeluTanh)?,
            norm_epsilon: json.layer_norm_epsilon.unwrap_or(1e-5),
            positions: json.n_positions.unwrap_or(1024),
            types: 0,
            vocabulary: json.vocab_size.unwrap_or(50_257),
            tied: json.tie_word_embeddings.unwrap_or(true),
            causal: true,
            scaled: json.scale_attn_weights.unwrap_or(true),
            scaled_by_layer: json.scale_attn_by_inverse_layer_idx.unwrap_or(false),
        })
    }
}

/// The fields of DistilBERT.
#[derive(Default, Deserialize)]
#[serde(default)]
struct DistilBertJson {
    dim: Option<usize>,
    n_layers: Option<usize>,
    n_heads: Option<usize>,
    hidden_dim: Option<usize>,
    activation: Option<String>,
    max_position_embeddings: Option<usize>,
    vocab_size: Option<usize>,
    tie_word_embeddings: Option<bool>,
}

impl TryFrom<DistilBertJson> for Config {
    type Error = Refusal;

    fn try_from(json: DistilBertJson) -> Result<Self, Refusal> {
        /// The epsilon of every norm; DistilBERT has no field for it.
        const EPSILON: f64 = 1e-12;
        Ok(Self {
            family: Family::DistilBert,
            width: json.dim.unwrap_or(768),
            layers: json.n_layers.unwrap_or(6),
            heads: json.n_heads.unwrap_or(12),
            hidden: json.hidden_dim.unwrap_or(3072),
            activation: activation("activation", json.activation, Activation::Gelu)?,
            norm_epsilon: EPSILON,
            positions: json.max_position_embeddings.unwrap_or(512),
            types: 0,
            vocabulary: json.vocab_size.unwrap_or(30_522),
            tied: json.tie_word_embeddings.unwrap_or(true),
            causal: false,
            scaled: true,
            scaled_by_layer: false,
        })
    }
}

fn activation(field: &str, name: Option<String>, default: Activation) -> Result<Activation, Refusal> {
    let Some(name) = name else { return Ok(default) };
    let found = ACTIVATIONS.iter().find(|(known, _)| *known == name);
    found.map(|(_, activation)| *activation).ok_or_else(|| {
        let names = ACTIVATIONS.map(|(name, _)| name);
        let advice = match nearest(&name, names) {
            Some(near) => format!("did its author mean {near}?"),
            None => "attune does not compute this one".to_owned(),
        };
        Refusal::new(format!("{} as {field}", quoted(&name)), format!("one of {}", names.join(", ")), advice)
    })
}

fn refuse_cross_attention(is_said: Option<bool>) -> Result<(), Refusal> {
    match is_said {
        Some(true) => {
            let advice = "attune opens models that read one text";
            Err(Refusal::new("attention to a second model", "`add_cross_attention: false`", advice))
        }
        _ => Ok(()),
    }
}
