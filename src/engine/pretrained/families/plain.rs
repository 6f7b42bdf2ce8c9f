//! Families with layer norms: older ones with learned positions and biases almost everywhere, and newer ones with
//! rotary positions.

use super::super::fields::{CHECK, Fields};
use super::super::limits::WIDTH_MAX;
use super::super::refusal::Refusal;
use super::decoders::key_value_heads;
use super::values::{
    FORM, FRACTION, FULL, NORM_BETWEEN, RotaryKeys, SLIDING, Sizes, TURN, absolute_positions, activation,
    activation_named, distance_buckets, epsilon, kinds, kinds_of, layers_between, linear, set_biases, share_distances,
    transformed, window_of,
};
use crate::numerics::activation::Activation;
use crate::numerics::attention::distances::DistanceForm;
use crate::numerics::attention::{AttentionConfig, Mask, Window};
use crate::numerics::attention::{Rotary, RotaryScaling};
use crate::numerics::block::{BlockConfig, Branches, Norm};
use crate::numerics::model::{Architecture, Readout};
use crate::numerics::norm::NormForm;
use crate::numerics::positions::{PositionRows, Positions};

/// A model like BERT or GPT-2: learned positions, layer norms, and biases everywhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Plain {
    /// Width `D` of the vectors.
    pub width: usize,
    pub layers: usize,
    /// `H`, which divides the width.
    pub heads: usize,
    /// Number of hidden units of a feed-forward layer.
    pub hidden: usize,
    pub positions: usize,
    /// Position of the norms: after each sum and after the embeddings, or before each branch and after all layers.
    pub norm: Norm,
    pub norm_epsilon: f64,
    pub activation: Activation,
    pub mask: Mask,
    /// Number of segment types; 0 if there are none.
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

    /// Returns the engine's shape.
    ///
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

/// Returns the causal mask, or none.
fn mask(is_causal: bool) -> Mask {
    if is_causal { Mask::Causal } else { Mask::None }
}

pub(super) fn bert(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    absolute_positions(fields)?;
    let activation = activation(fields, "hidden_act", Activation::Gelu)?;
    let epsilon = epsilon(fields, "layer_norm_eps", 1e-12)?;
    let plain = Plain::of(sizes, Norm::Post, epsilon, activation, transformed(fields, activation)?)?;
    let (mask, types) = (mask(fields.or("is_decoder", false)?), fields.or("type_vocab_size", 2)?);
    Ok(Plain { mask, types, ..plain }.architecture())
}

/// Returns RoBERTa: BERT whose first position is the row after the row of padding, with a readout layer that has its
/// own activation.
pub(super) fn roberta(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    /// Default id of the padding token.
    const PAD: usize = 1;
    fields.must_be("is_decoder", false, "words that see only earlier words, unlike the words in this family")?;
    let pad = fields.or("pad_token_id", PAD)?;
    if pad >= sizes.vocabulary || pad + 1 >= sizes.positions {
        let found = format!("{pad} as pad_token_id, with {} positions", sizes.positions);
        return Err(Refusal::new(found, "a word of the vocabulary, and positions after it", CHECK));
    }
    let position_rows = PositionRows { first: pad + 1, filler: Some(pad) };
    let readout = transformed(fields, Activation::Gelu)?;
    let sizes = Sizes { positions: sizes.positions - position_rows.first, ..*sizes };
    Ok(Architecture { position_rows, readout, ..bert(fields, &sizes)? })
}

/// Returns RoBERTa with norms before each branch and after all layers.
pub(super) fn roberta_pre_norm(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    let mut model = roberta(fields, sizes)?;
    model.blocks.iter_mut().for_each(|block| block.norm = Norm::Pre);
    Ok(Architecture { final_norm: true, ..model })
}

/// Returns ERNIE, which is BERT; models that add a vector for the task are refused.
pub(super) fn ernie(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    fields.must_be("use_task_id", false, "a vector for the task, added to each word's")?;
    bert(fields, sizes)
}

/// Returns ELECTRA: BERT with another head, if the word table is as wide as the layers.
pub(super) fn electra(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    /// Default width of the table.
    const TABLE: usize = 128;
    let width = fields.or("embedding_size", TABLE)?;
    if width != sizes.width {
        let found = format!("{width} as embedding_size, where the layers are {} wide", sizes.width);
        let advice = format!("attune does not compute this model, because {NORM_BETWEEN}");
        return Err(Refusal::new(found, "a table as wide as the layers", advice));
    }
    Ok(Architecture { readout: transformed(fields, Activation::Gelu)?, ..bert(fields, sizes)? })
}

/// Returns MPNet: RoBERTa without segments, with distances in the scores and a fixed padding token.
pub(super) fn mpnet(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    const PAD: usize = 1;
    const BUCKETS: usize = 32;
    /// Longest distance, for which the family has no key.
    const MOST: usize = 128;
    let buckets = distance_buckets(fields, BUCKETS, Some(MOST))?;
    let position_rows = PositionRows { first: PAD + 1, filler: Some(PAD) };
    if sizes.positions <= position_rows.first {
        let found = format!("{} positions", sizes.positions);
        return Err(Refusal::new(found, format!("more than {}", position_rows.first), CHECK));
    }
    let sizes = Sizes { positions: sizes.positions - position_rows.first, ..*sizes };
    let activation = activation(fields, "hidden_act", Activation::Gelu)?;
    let epsilon = epsilon(fields, "layer_norm_eps", 1e-12)?;
    let readout = transformed(fields, Activation::Gelu)?;
    let mut model = Plain::of(&sizes, Norm::Post, epsilon, activation, readout)?.architecture();
    share_distances(
        &mut model.blocks,
        0,
        DistanceForm { tokens: sizes.positions, buckets: Some(buckets), table: None },
    );
    Ok(Architecture { position_rows, ..model })
}

/// Returns Nomic BERT: BERT with rotary positions, gates, and no biases within its layers.
pub(super) fn nomic_bert(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    const FLAGS: [(&str, &str); 8] = [
        ("qkv_proj_bias", "biases of queries, keys and values"),
        ("mlp_fc1_bias", "biases of feed-forward layers"),
        ("mlp_fc2_bias", "biases of feed-forward layers"),
        ("prenorm", "norms before the branches"),
        ("parallel_block", "parallel branches"),
        ("causal", "words that see only earlier words"),
        ("rotary_emb_interleaved", "pairs of neighbouring columns"),
        ("use_rms_norm", "norms without a mean"),
    ];
    // These keys are in the hub's configs only; transformers ignores them.
    FLAGS.iter().try_for_each(|(key, found)| fields.must_be(key, false, found))?;
    let turn =
        RotaryKeys { theta_key: "rotary_emb_base", theta: 1e3, fraction_key: Some("rotary_emb_fraction"), ..TURN };
    let attention = sizes.attention()?;
    let key = if fields.has(&["hidden_act"])? { "hidden_act" } else { "activation_function" };
    let activation = activation_named(fields, key, Activation::Silu, &[("swiglu", Activation::Silu)])?;
    let types = fields.or("type_vocab_size", 2)?;
    let norm =
        epsilon(fields, if fields.has(&["layer_norm_eps"])? { "layer_norm_eps" } else { "layer_norm_epsilon" }, 1e-12)?;
    let mut block = BlockConfig {
        norm: Norm::Post,
        norm_form: NormForm::layer(norm),
        feed_forward: Some(sizes.hidden),
        activation,
        gated: true,
        ..BlockConfig::plain(AttentionConfig { rotary: Some(turn.read(fields, attention.key_width)?), ..attention })
    };
    set_biases(&mut block, [false; 3]);
    let readout = transformed(fields, activation)?;
    let segments = (types > 0).then_some(types);
    Ok(Architecture { embedding_norm: true, segments, readout, readout_bias: true, ..sizes.model(block) })
}

pub(super) fn distilbert(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    /// `ε` of every norm; DistilBERT has no field for it.
    const EPSILON: f64 = 1e-12;
    let activation = activation(fields, "activation", Activation::Gelu)?;
    Ok(Plain::of(sizes, Norm::Post, EPSILON, activation, transformed(fields, activation)?)?.architecture())
}

/// Returns GPT-2. The readout's bias stays 0, as no file has one.
pub(super) fn gpt2(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    // `reorder_and_upcast_attn` only changes the order of operations, which does not matter in f32.
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

/// Returns the first GPT: norms after each sum, and none outside the layers.
pub(super) fn openai_gpt(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    /// Activations whose name has another meaning in this family: `gelu` is the tanh form.
    const MEANT: [(&str, Activation); 1] = [("gelu", Activation::GeluTanh)];
    let epsilon = epsilon(fields, "layer_norm_epsilon", 1e-5)?;
    let activation = activation_named(fields, "afn", Activation::GeluTanh, &MEANT)?;
    let plain = Plain::of(sizes, Norm::Post, epsilon, activation, linear(fields, true)?)?;
    let model = Plain { mask: Mask::Causal, ..plain }.architecture();
    Ok(Architecture { embedding_norm: false, readout_bias: false, ..model })
}

/// Returns GPTBigCode: GPT-2, all of whose heads share one head of keys and values.
pub(super) fn gpt_bigcode(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    fields.must_be("multi_query", true, "a head of keys and values for each head")?;
    let mut model = gpt2(fields, sizes)?;
    model.blocks.iter_mut().for_each(|block| block.attention.group_size = sizes.heads);
    Ok(model)
}

/// Returns GPT-Neo: GPT-2 without biases of queries, keys and values, with unscaled scores, and with a window in some
/// layers.
pub(super) fn gpt_neo(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    const WINDOW: usize = 256;
    let local = Window { before: Some(window_of(fields.or("window_size", WINDOW)?, "window_size")? - 1), after: None };
    let mut model = decoder_with_positions(fields, sizes)?;
    for (block, is_local) in model.blocks.iter_mut().zip(neo_layers(fields, sizes)?) {
        (block.attention.bias, block.attention.scale) = (false, false);
        block.attention.window = if is_local { local } else { Window::ALL };
    }
    Ok(Architecture { readout_bias: false, ..model })
}

/// Returns whether each layer is local, according to a list or to repeated patterns.
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

/// Row of the first position in OPT's tables.
const OPT_FIRST: usize = 2;

/// Returns OPT: blocks that are pre-norm by default, and positions whose first two rows are not used.
pub(super) fn opt(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    /// `ε` of every norm; OPT has no field for it.
    const EPSILON: f64 = 1e-5;
    let is_first = fields.or("do_layer_norm_before", true)?;
    fields.must_be("layer_norm_elementwise_affine", true, "norms with nothing to learn")?;
    let norm = if is_first { Norm::Pre } else { Norm::Post };
    let activation = activation(fields, "activation_function", Activation::Relu)?;
    let plain = Plain::of(sizes, norm, EPSILON, activation, linear(fields, true)?)?;
    let mut model = Plain { mask: Mask::Causal, ..plain }.architecture();
    let bias = fields.or("enable_bias", true)?;
    model.blocks.iter_mut().for_each(|block| set_biases(block, [bias; 3]));
    let final_norm = is_first && !fields.or("_remove_final_layer_norm", false)?;
    let position_rows = PositionRows { first: OPT_FIRST, filler: None };
    let width = fields.size("word_embed_proj_dim", sizes.width, "the width of the table", WIDTH_MAX)?;
    if width != sizes.width {
        let found = format!("{width} as word_embed_proj_dim, where the model is {} wide", sizes.width);
        return Err(Refusal::new(found, "a table as wide as the model", FORM));
    }
    Ok(Architecture { embedding_norm: false, final_norm, position_rows, readout_bias: false, ..model })
}

/// Returns BioGPT: OPT with a scaled table and GELU.
pub(super) fn biogpt(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    /// `ε` of every norm; `layer_norm_eps` is not read.
    const EPSILON: f64 = 1e-5;
    let activation = activation(fields, "hidden_act", Activation::Gelu)?;
    let model = Plain::of(sizes, Norm::Pre, EPSILON, activation, linear(fields, true)?)?.architecture();
    let is_scaled = fields.or("scale_embedding", true)?;
    let embedding_scale = is_scaled.then(|| (sizes.width as f64).sqrt());
    let position_rows = PositionRows { first: OPT_FIRST, filler: None };
    Ok(Architecture { embedding_scale, position_rows, readout_bias: false, ..model })
}

/// Returns causal attention with rotary positions.
fn turned(fields: Fields<'_>, sizes: &Sizes, turn: RotaryKeys) -> Result<AttentionConfig, Refusal> {
    let attention = sizes.attention()?;
    let rotary = Some(turn.read(fields, attention.key_width)?);
    Ok(AttentionConfig { mask: Mask::Causal, rotary, ..attention })
}

fn pre_norm(
    fields: Fields<'_>,
    sizes: &Sizes,
    attention: AttentionConfig,
    branches: Branches,
    default: Activation,
) -> Result<BlockConfig, Refusal> {
    Ok(BlockConfig {
        norm: Norm::Pre,
        norm_form: NormForm::layer(epsilon(fields, "layer_norm_eps", 1e-5)?),
        branches,
        feed_forward: Some(sizes.hidden),
        activation: activation(fields, "hidden_act", default)?,
        ..BlockConfig::plain(attention)
    })
}

/// Returns GPT-NeoX: parallel branches, each with its own norm, and rotary positions in a part of each head.
pub(super) fn gpt_neox(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    let turn = RotaryKeys { theta_key: "rotary_emb_base", fraction_key: Some("rotary_pct"), fraction: 0.25, ..TURN };
    let attention = turned(fields, sizes, turn)?;
    let is_parallel = fields.or("use_parallel_residual", true)?;
    let branches = if is_parallel { Branches::Parallel } else { Branches::Sequential };
    let mut block = pre_norm(fields, sizes, attention, branches, Activation::Gelu)?;
    let bias = fields.or("attention_bias", true)?;
    set_biases(&mut block, [bias, bias, true]);
    Ok(Architecture { final_norm: true, readout: linear(fields, false)?, ..sizes.model(block) })
}

/// Returns Phi: like GPT-NeoX with one norm for both branches, and a readout with a bias.
pub(super) fn phi(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    fields.must_be("qk_layernorm", false, "layer norms of queries and keys")?;
    let turned = turned(fields, sizes, RotaryKeys { fraction_key: Some(FRACTION), fraction: 0.5, ..TURN })?;
    let group_size = sizes.heads / key_value_heads(fields, sizes.heads, sizes.heads)?;
    let attention = AttentionConfig { group_size, ..turned };
    let block = pre_norm(fields, sizes, attention, Branches::ParallelOneNorm, Activation::GeluTanh)?;
    let readout = linear(fields, false)?;
    Ok(Architecture { final_norm: true, readout, readout_bias: true, ..sizes.model(block) })
}

/// Returns StableLM: layer norms, gated feed-forward layers, and rotary positions in a part of each head.
pub(super) fn stablelm(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    /// Default number of heads of keys and values.
    const SHARED: usize = 32;
    fields.must_be("qk_layernorm", false, "layer norms of queries and keys")?;
    let turned = turned(fields, sizes, RotaryKeys { fraction_key: Some(FRACTION), fraction: 0.25, ..TURN })?;
    let group_size = sizes.heads / key_value_heads(fields, sizes.heads, SHARED)?;
    let is_parallel = fields.or("use_parallel_residual", false)?;
    let branches = if is_parallel { Branches::ParallelOneNorm } else { Branches::Sequential };
    let block = pre_norm(fields, sizes, AttentionConfig { group_size, ..turned }, branches, Activation::Silu)?;
    let mut block = BlockConfig { gated: true, ..block };
    set_biases(&mut block, [fields.or("use_qkv_bias", false)?, false, false]);
    Ok(Architecture { final_norm: true, readout: linear(fields, false)?, ..sizes.model(block) })
}

/// Returns GPT-J: Phi's block with rotary positions that pair neighbouring columns, and no biases in attention.
pub(super) fn gptj(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    /// Default number of turned columns of a head.
    const TURNED: usize = 64;
    let attention = sizes.attention()?;
    let most = attention.key_width;
    let default = if fields.has(&["rotary_dim"])? { most } else { TURNED };
    let width = fields.size("rotary_dim", default, "the number of turned columns", most)?;
    if !width.is_multiple_of(2) {
        return Err(Refusal::new(format!("{width} as rotary_dim"), "an even number, in pairs", CHECK));
    }
    let rotary = Some(Rotary { theta: TURN.theta, width, scaling: RotaryScaling::None });
    let mut block = BlockConfig {
        norm: Norm::Pre,
        norm_form: NormForm::layer(epsilon(fields, "layer_norm_epsilon", 1e-5)?),
        branches: Branches::ParallelOneNorm,
        feed_forward: Some(sizes.hidden),
        activation: activation(fields, "activation_function", Activation::GeluTanh)?,
        ..BlockConfig::plain(AttentionConfig { mask: Mask::Causal, rotary, ..attention })
    };
    set_biases(&mut block, [false, false, true]);
    let readout = linear(fields, false)?;
    Ok(Architecture { final_norm: true, readout, readout_bias: true, ..sizes.model(block) })
}

/// Returns the ModernBERT decoder: causal, with windows half as wide as in the config.
pub(super) fn modernbert_decoder(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    let mut model = modernbert(fields, sizes)?;
    for attention in model.blocks.iter_mut().map(|block| &mut block.attention) {
        attention.mask = Mask::Causal;
        let words = attention.window.before;
        attention.window = Window { before: words.map(|words| words.saturating_sub(1)), after: None };
    }
    Ok(model)
}

/// Returns ModernBERT: an encoder with gates, rotary positions and windows in both directions. Layer 0 has no norm
/// before its attention.
pub(super) fn modernbert(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    const EVERY: usize = 3;
    const REACH: usize = 128;
    let turns = [
        RotaryKeys { kind: FULL, theta_key: "global_rope_theta", theta: 1.6e5, ..TURN },
        RotaryKeys { kind: SLIDING, theta_key: "local_rope_theta", ..TURN },
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
    let every = layers_between(fields, "global_attn_every_n_layers", EVERY)?;
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
