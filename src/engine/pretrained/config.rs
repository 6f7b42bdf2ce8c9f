//! The `config.json` of a model, for every family in the same words. Fields that are missing have the values that
//! transformers gives them.

use std::fmt;

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
        const ADVICE: &str = "check config.json, or download it again";
        let value: Value =
            serde_json::from_str(text).map_err(|error| Refusal::new(error.to_string(), "a config in JSON", ADVICE))?;
        let Value::Object(fields) = value else {
            return Err(Refusal::new("no object", "a config in JSON", ADVICE));
        };
        let fields = Fields(&fields);
        let config = match fields.family()? {
            Family::Bert => fields.bert()?,
            Family::Gpt2 => fields.gpt2()?,
            Family::DistilBert => fields.distilbert()?,
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

/// The fields of a config.
struct Fields<'a>(&'a Map<String, Value>);

impl Fields<'_> {
    fn family(&self) -> Result<Family, Refusal> {
        let known = Family::ALL.map(Family::model_type);
        let refusal = |found: String| {
            let advice = "attune opens BERT's and GPT-2's families only";
            Err(Refusal::new(found, format!("one of {}", known.join(", ")), advice))
        };
        match self.0.get("model_type") {
            Some(Value::String(name)) => match Family::ALL.into_iter().find(|family| family.model_type() == name) {
                Some(family) => Ok(family),
                None => refusal(format!("the model_type {}", quoted(name))),
            },
            Some(other) => refusal(format!("the model_type {}", kind(other))),
            None => refusal("no model_type".to_owned()),
        }
    }

    fn bert(&self) -> Result<Config, Refusal> {
        self.refuse_unless("position_embedding_type", "absolute")?;
        self.refuse_cross_attention()?;
        Ok(Config {
            family: Family::Bert,
            width: self.size("hidden_size", 768)?,
            layers: self.size("num_hidden_layers", 12)?,
            heads: self.size("num_attention_heads", 12)?,
            hidden: self.size("intermediate_size", 3072)?,
            activation: self.activation("hidden_act", "gelu")?,
            norm_epsilon: self.number("layer_norm_eps", 1e-12)?,
            positions: self.size("max_position_embeddings", 512)?,
            types: self.size("type_vocab_size", 2)?,
            vocabulary: self.size("vocab_size", 30_522)?,
            tied: self.flag("tie_word_embeddings", true)?,
            causal: self.flag("is_decoder", false)?,
            scaled: true,
            scaled_by_layer: false,
        })
    }

    fn gpt2(&self) -> Result<Config, Refusal> {
        self.refuse_cross_attention()?;
        let width = self.size("n_embd", 768)?;
        Ok(Config {
            family: Family::Gpt2,
            width,
            layers: self.size("n_layer", 12)?,
            heads: self.size("n_head", 12)?,
            hidden: self.size("n_inner", width.saturating_mul(4))?,
            activation: self.activation("activation_function", "gelu_new")?,
            norm_epsilon: self.number("layer_norm_epsilon", 1e-5)?,
            positions: self.size("n_positions", 1024)?,
            types: 0,
            vocabulary: self.size("vocab_size", 50_257)?,
            tied: self.flag("tie_word_embeddings", true)?,
            causal: true,
            scaled: self.flag("scale_attn_weights", true)?,
            // `reorder_and_upcast_attn` is the same mathematics in another order, which f32 does not need.
            scaled_by_layer: self.flag("scale_attn_by_inverse_layer_idx", false)?,
        })
    }

    fn distilbert(&self) -> Result<Config, Refusal> {
        /// The epsilon of every norm; DistilBERT has no field for it.
        const EPSILON: f64 = 1e-12;
        Ok(Config {
            family: Family::DistilBert,
            width: self.size("dim", 768)?,
            layers: self.size("n_layers", 6)?,
            heads: self.size("n_heads", 12)?,
            hidden: self.size("hidden_dim", 3072)?,
            activation: self.activation("activation", "gelu")?,
            norm_epsilon: EPSILON,
            positions: self.size("max_position_embeddings", 512)?,
            types: 0,
            vocabulary: self.size("vocab_size", 30_522)?,
            tied: self.flag("tie_word_embeddings", true)?,
            causal: false,
            scaled: true,
            scaled_by_layer: false,
        })
    }

    /// The field, if it is there and not null.
    fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    fn size(&self, name: &str, default: usize) -> Result<usize, Refusal> {
        let Some(value) = self.get(name) else { return Ok(default) };
        let size = value.as_u64().and_then(|size| usize::try_from(size).ok());
        size.ok_or_else(|| wrong(name, value, "a whole number"))
    }

    fn number(&self, name: &str, default: f64) -> Result<f64, Refusal> {
        let Some(value) = self.get(name) else { return Ok(default) };
        value.as_f64().ok_or_else(|| wrong(name, value, "a number"))
    }

    fn flag(&self, name: &str, default: bool) -> Result<bool, Refusal> {
        let Some(value) = self.get(name) else { return Ok(default) };
        value.as_bool().ok_or_else(|| wrong(name, value, "true or false"))
    }

    fn activation(&self, name: &str, default: &str) -> Result<Activation, Refusal> {
        let names = ACTIVATIONS.map(|(name, _)| name);
        let expected = format!("one of {}", names.join(", "));
        let written = match self.get(name) {
            None => default,
            Some(Value::String(written)) => written,
            Some(other) => return Err(wrong(name, other, &expected)),
        };
        let found = ACTIVATIONS.iter().find(|(known, _)| *known == written);
        found.map(|(_, activation)| *activation).ok_or_else(|| {
            let advice = match nearest(written, names) {
                Some(near) => format!("did its author mean {near}?"),
                None => "attune does not compute this one".to_owned(),
            };
            Refusal::new(format!("{} as {name}", quoted(written)), expected, advice)
        })
    }

    /// A field whose other values would change what the model computes.
    fn refuse_unless(&self, name: &str, known: &str) -> Result<(), Refusal> {
        match self.get(name) {
            Some(value) if value.as_str() != Some(known) => Err(wrong(name, value, &format!("`{known}`"))),
            _ => Ok(()),
        }
    }

    fn refuse_cross_attention(&self) -> Result<(), Refusal> {
        if !self.flag("add_cross_attention", false)? {
            return Ok(());
        }
        let advice = "attune opens models that read one text";
        Err(Refusal::new("attention to a second model", "`add_cross_attention: false`", advice))
    }
}

fn wrong(name: &str, value: &Value, expected: &str) -> Refusal {
    let found = match value {
        Value::String(text) => quoted(text),
        Value::Number(_) | Value::Bool(_) => value.to_string(),
        other => kind(other).to_owned(),
    };
    Refusal::new(format!("{found} as {name}"), expected, "check config.json, or download it again")
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
