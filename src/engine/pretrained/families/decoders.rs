//! Llama and similar decoders: RMSNorm, rotary positions, shared keys and values, gated feed-forward layers.

use super::super::fields::{CHECK, Fields};
use super::super::limits::{HEADS_MAX, HIDDEN_MAX};
use super::super::refusal::Refusal;
use super::values::{
    FRACTION, FULL, NONE, OFF, RotaryKeys, SLIDING, Sizes, TURN, activation, activation_named, epsilon, layers_between,
    linear, window, windowed,
};
use crate::numerics::activation::Activation;
use crate::numerics::attention::{AttentionConfig, Mask, QueryKeyNorm, Window};
use crate::numerics::block::{BlockConfig, Norm};
use crate::numerics::model::Architecture;
use crate::numerics::norm::NormForm;

/// The settings in which Llama-like decoders differ.
struct Decoder {
    /// Default of `ε`.
    epsilon: f64,
    /// Default width of a head; `None` means `D / H`.
    head_width: Option<usize>,
    /// Default number of heads of keys and values; `None` means `H`.
    key_value_heads: Option<usize>,
    biases: Biases,
    norm: Norm,
    output_norms: bool,
    query_key_norm: Option<PerHead>,
    /// Key of the activation in Gemma's configs; its models also store `γ − 1` and scale the table. `None` for others.
    gemma: Option<&'static str>,
    /// Default of whether the word table is the readout.
    is_tied: bool,
    turn: RotaryKeys,
}

/// Whether each head's queries and keys are normed separately, and not those of all heads together.
type PerHead = bool;

/// The projections of attention that have biases.
enum Biases {
    None,
    /// Queries, keys, values and outputs, if the flag with this key is set.
    AsSaid(&'static str),
    /// Queries, keys and values.
    QueriesKeysValues,
}

/// Default number of words of a window.
const WINDOW: usize = 4096;

const LLAMA: Decoder = Decoder {
    epsilon: 1e-6,
    head_width: None,
    key_value_heads: None,
    biases: Biases::AsSaid("attention_bias"),
    norm: Norm::Pre,
    output_norms: false,
    query_key_norm: None,
    gemma: None,
    is_tied: false,
    turn: TURN,
};

const GEMMA: Decoder = Decoder { head_width: Some(256), gemma: Some("hidden_activation"), is_tied: true, ..LLAMA };

impl Decoder {
    fn model(&self, fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
        let norm_form = NormForm {
            gain_from_one: self.gemma.is_some(),
            ..NormForm::rms(epsilon(fields, "rms_norm_eps", self.epsilon)?)
        };
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
            embedding_scale: self.gemma.map(|_| (sizes.width as f64).sqrt()),
            readout: linear(fields, self.is_tied)?,
            ..sizes.model(block)
        })
    }

    /// Returns the activation function. Gemma's first configs name the exact GELU but mean the tanh form, with which
    /// its models were trained.
    fn activation(&self, fields: Fields<'_>) -> Result<Activation, Refusal> {
        const ACTIVATION: &str = "hidden_act";
        match self.gemma {
            None => activation(fields, ACTIVATION, Activation::Silu),
            Some(ACTIVATION) => {
                const MEANT: [(&str, Activation); 1] = [("gelu", Activation::GeluTanh)];
                activation_named(fields, ACTIVATION, Activation::GeluTanh, &MEANT)
            }
            Some(key) => activation(fields, key, Activation::GeluTanh),
        }
    }

    /// Returns the attention, with the width of heads and the number of heads of keys and values from the config.
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
            Biases::AsSaid(key) => [fields.or(key, false)?; 2].into(),
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

/// Returns the number of heads of keys and values, which must divide the number of all heads.
pub(super) fn key_value_heads(fields: Fields<'_>, heads: usize, default: usize) -> Result<usize, Refusal> {
    const KEY: &str = "num_key_value_heads";
    let shared = fields.size(KEY, default, "the number of heads of keys and values", HEADS_MAX)?;
    if heads.is_multiple_of(shared) {
        return Ok(shared);
    }
    let found = format!("{heads} heads that share {shared} heads of keys and values ({KEY})");
    Err(Refusal::new(found, "a number that divides the heads evenly", CHECK))
}

pub(super) fn llama(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    let bias = fields.or("mlp_bias", false)?;
    let mut model = LLAMA.model(fields, sizes)?;
    model.blocks.iter_mut().for_each(|block| block.forward_bias = bias);
    Ok(model)
}

pub(super) fn mistral(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    let form = Decoder { key_value_heads: Some(8), biases: Biases::None, ..LLAMA };
    let window = window(fields, Some(WINDOW))?;
    windowed(fields, sizes, form.model(fields, sizes)?, window.ok_or(NONE), |_| window.is_some())
}

pub(super) fn qwen2(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    let form = Decoder { key_value_heads: Some(32), biases: Biases::QueriesKeysValues, ..LLAMA };
    qwen(fields, sizes, form.model(fields, sizes)?)
}

pub(super) fn qwen3(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    let form = Decoder { head_width: Some(128), key_value_heads: Some(32), query_key_norm: Some(true), ..LLAMA };
    qwen(fields, sizes, form.model(fields, sizes)?)
}

/// Adds the windows, which apply only if a flag is set, and from a certain layer on.
fn qwen(fields: Fields<'_>, sizes: &Sizes, model: Architecture) -> Result<Architecture, Refusal> {
    const FIRST: usize = 28;
    const FLAG: &str = "use_sliding_window";
    let window = if fields.or(FLAG, false)? { window(fields, Some(WINDOW))?.ok_or(NONE) } else { Err(OFF) };
    let first = fields.or("max_window_layers", FIRST)?;
    windowed(fields, sizes, model, window, |layer| window.is_ok() && layer >= first)
}

pub(super) fn gemma(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    Decoder { key_value_heads: Some(16), gemma: Some("hidden_act"), ..GEMMA }.model(fields, sizes)
}

pub(super) fn gemma2(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    let form = Decoder { key_value_heads: Some(4), output_norms: true, ..GEMMA };
    let mut model = form.model(fields, sizes)?;
    let cap = cap(fields, "attn_logit_softcapping", Some(50.0))?;
    scores_over(fields, &mut model)?;
    model.blocks.iter_mut().for_each(|block| block.attention.score_cap = cap);
    model.logit_cap = self::cap(fields, "final_logit_softcapping", Some(30.0))?;
    windowed(fields, sizes, model, window(fields, Some(WINDOW))?.ok_or(NONE), |layer| layer % 2 == 0)
}

/// Returns Gemma 3: like Gemma 2, but without a cap on scores, even if the config has the key. Its local layers have
/// another `θ` and unscaled frequencies.
pub(super) fn gemma3(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    const PATTERN: usize = 6;
    let global = RotaryKeys { kind: FULL, theta: 1e6, ..TURN };
    let local = RotaryKeys { kind: SLIDING, theta_key: "rope_local_base_freq", is_scaled: false, ..TURN };
    let form =
        Decoder { key_value_heads: Some(4), output_norms: true, query_key_norm: Some(true), turn: global, ..GEMMA };
    let mut model = form.model(fields, sizes)?;
    scores_over(fields, &mut model)?;
    model.logit_cap = cap(fields, "final_logit_softcapping", None)?;
    let pattern = layers_between(fields, "sliding_window_pattern", PATTERN)?;
    let mut model =
        windowed(fields, sizes, model, window(fields, Some(WINDOW))?.ok_or(NONE), |layer| (layer + 1) % pattern != 0)?;
    for attention in model.blocks.iter_mut().map(|block| &mut block.attention) {
        if attention.window != Window::ALL {
            attention.rotary = Some(local.read(fields, attention.key_width)?);
        }
    }
    Ok(model)
}

pub(super) fn phi3(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    let turn = RotaryKeys { fraction_key: Some(FRACTION), ..TURN };
    let form = Decoder { epsilon: 1e-5, biases: Biases::None, turn, ..LLAMA };
    let window = window(fields, None)?;
    windowed(fields, sizes, form.model(fields, sizes)?, window.ok_or(NONE), |_| window.is_some())
}

/// Returns OLMo 2: norms of the branches' outputs, and of all queries and all keys together.
pub(super) fn olmo2(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    let form = Decoder { epsilon: 1e-5, norm: Norm::None, output_norms: true, query_key_norm: Some(false), ..LLAMA };
    form.model(fields, sizes)
}

/// Returns SmolLM3: Llama with some layers without rotary positions, every fourth or those of a list.
pub(super) fn smollm3(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    const KEY: &str = "no_rope_layers";
    const EVERY: usize = 4;
    let turn = RotaryKeys { theta: 2e6, ..TURN };
    let form = Decoder { key_value_heads: Some(4), is_tied: true, turn, ..LLAMA };
    let mut model = form.model(fields, sizes)?;
    let every = layers_between(fields, "no_rope_layer_interval", EVERY)?;
    // In spite of the name, 1 stands for a layer with rotary positions.
    let turns = match fields.get::<Vec<u8>>(&[KEY])? {
        Some(list) if list.len() == sizes.layers => list.iter().map(|&turns| turns != 0).collect(),
        Some(list) => {
            let found = format!("{KEY} of {} layers", list.len());
            return Err(Refusal::new(found, format!("one for each of {}", sizes.layers), CHECK));
        }
        None => (1..=sizes.layers).map(|layer| layer % every != 0).collect::<Vec<bool>>(),
    };
    let bias = fields.or("mlp_bias", false)?;
    for (block, turns) in model.blocks.iter_mut().zip(&turns) {
        block.forward_bias = bias;
        block.attention.rotary = block.attention.rotary.filter(|_| *turns);
    }
    let slides = fields.or("use_sliding_window", false)?;
    let window = window(fields, None)?;
    windowed(fields, sizes, model, window.ok_or(NONE), |layer| slides && window.is_some() && !turns[layer])
}

/// Returns ERNIE 4.5: Llama with rotary positions that pair neighbouring columns, and biases everywhere or nowhere.
pub(super) fn ernie4_5(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    const BIAS: &str = "use_bias";
    let form = Decoder {
        epsilon: 1e-5,
        head_width: Some(128),
        key_value_heads: Some(2),
        biases: Biases::AsSaid(BIAS),
        is_tied: true,
        turn: RotaryKeys { theta: 5e5, ..TURN },
        ..LLAMA
    };
    let bias = fields.or(BIAS, false)?;
    let mut model = form.model(fields, sizes)?;
    model.blocks.iter_mut().for_each(|block| block.forward_bias = bias);
    Ok(model)
}

/// Returns EuroBERT: Llama without a causal mask.
pub(super) fn eurobert(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    fields.must_be("mlp_bias", false, "biases of feed-forward layers and readout")?;
    let mut model = Decoder { epsilon: 1e-5, ..LLAMA }.model(fields, sizes)?;
    model.blocks.iter_mut().for_each(|block| block.attention.mask = Mask::None);
    Ok(model)
}

/// Sets the layers' own divisors so that scores are divided by the root of a number from the config instead of the root
/// of a head's width.
fn scores_over(fields: Fields<'_>, model: &mut Architecture) -> Result<(), Refusal> {
    const KEY: &str = "query_pre_attn_scalar";
    let scalar = fields.number(&[KEY], 256.0, [1e-3, 1e6])?;
    for attention in model.blocks.iter_mut().map(|block| &mut block.attention) {
        attention.score_divisor = (scalar / attention.key_width as f64).sqrt();
    }
    Ok(())
}

/// Returns a cap on scores or logits. A null in the config means that there is none.
fn cap(fields: Fields<'_>, key: &str, default: Option<f64>) -> Result<Option<f64>, Refusal> {
    match fields.find::<f64>(&[key])? {
        None => Ok(default),
        Some(None) => Ok(None),
        Some(Some(_)) => fields.number(&[key], 1.0, [1e-3, 1e6]).map(Some),
    }
}
