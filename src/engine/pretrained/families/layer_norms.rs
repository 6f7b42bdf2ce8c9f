//! Families between the times: layer norms with rotary positions.

use super::super::fields::Fields;
use super::super::refusal::Refusal;
use super::Sizes;
use super::decoders::key_value_heads;
use super::turn::{TURN, Turn};
use super::values::{FULL, SLIDING, activation, epsilon, kinds, linear, set_biases, transformed, window_of};
use crate::numerics::activation::Activation;
use crate::numerics::attention::{AttentionConfig, Mask, Window};
use crate::numerics::block::{BlockConfig, Branches, Norm};
use crate::numerics::model::Architecture;
use crate::numerics::norm::NormForm;

/// Both branches read the block's input, each after a norm of its own; a part of each head is turned.
pub(super) fn gpt_neox(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
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
pub(super) fn phi(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
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
pub(super) fn modernbert(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
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
