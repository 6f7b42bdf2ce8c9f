//! Families with an encoder and a decoder: T5, BART, mBART and Marian. The encoder's layers are the blocks of the
//! source. Each layer of the decoder is two blocks: self-attention, then cross-attention with the feed-forward layer.

use super::super::fields::{CHECK, Fields, no_such};
use super::super::limits::{HEADS_MAX, HIDDEN_MAX, LAYERS_MAX, WIDTH_MAX};
use super::super::refusal::Refusal;
use super::values::{Sizes, activation, distance_buckets, epsilon, is_tied, set_biases, share_distances};
use crate::numerics::activation::Activation;
use crate::numerics::attention::distances::{DistanceBuckets, DistanceForm};
use crate::numerics::attention::{AttentionConfig, Mask};
use crate::numerics::block::{Attends, BlockConfig, Norm};
use crate::numerics::model::{Architecture, Readout, SourceForm};
use crate::numerics::norm::NormForm;
use crate::numerics::positions::{PositionRows, Positions};

/// Refuses models of an encoder alone or of a decoder alone.
fn check_towers(fields: Fields<'_>) -> Result<(), Refusal> {
    fields.must_be("is_encoder_decoder", true, "a model of an encoder alone")?;
    fields.must_be("is_decoder", false, "a model of a decoder alone")
}

/// Puts two towers together. All layers of a tower have the same form; each layer of the decoder becomes a block of
/// self-attention and one of cross-attention.
fn of_towers(
    sizes: &Sizes,
    (source, layers): (BlockConfig, usize),
    (decoder, decoder_layers): (BlockConfig, usize),
) -> Architecture {
    let own = BlockConfig {
        feed_forward: None,
        attention: AttentionConfig { mask: Mask::Causal, ..decoder.attention.clone() },
        ..decoder.clone()
    };
    let cross = BlockConfig { attends: Attends::Source, ..decoder };
    let blocks = (0..decoder_layers).flat_map(|_| [own.clone(), cross.clone()]).collect();
    Architecture { source_blocks: vec![source; layers], blocks, ..sizes.model(cross) }
}

/// Returns the shape of T5: RMS norms before each part and after each tower, scores that are not divided, and a
/// learned number for each distance, added to the scores of self-attention; each tower has one table of these numbers
/// (Raffel et al. 2020, arXiv 1910.10683).
pub(super) fn t5(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    let scales = fields.get(&["scale_decoder_outputs"])?.map_or_else(|| is_tied(fields, true), Ok)?;
    let model = t5_with(fields, sizes, "relu")?;
    let logit_scale = scales.then(|| (sizes.width as f64).sqrt().recip());
    Ok(Architecture { logit_scale, ..model })
}

/// Returns mT5: T5 with gates, and with logits that are never scaled.
pub(super) fn mt5(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    t5_with(fields, sizes, "gated-gelu")
}

fn t5_with(fields: Fields<'_>, sizes: &Sizes, forward: &str) -> Result<Architecture, Refusal> {
    /// Default width of a head, whatever the width of the layers is.
    const HEAD: usize = 64;
    const BUCKETS: usize = 32;
    /// Length of the longest sentence, for which the table of distances is laid out. The family itself has no limit.
    const TOKENS: usize = 512;
    check_towers(fields)?;
    let width = fields.size("d_kv", HEAD, "the width of a head", WIDTH_MAX)?;
    let layers = fields.size("num_decoder_layers", sizes.layers, "the number of the decoder's layers", LAYERS_MAX)?;
    let attention = AttentionConfig {
        key_width: width,
        value_width: width,
        scale: false,
        ..AttentionConfig::multi_head(sizes.width, 1)
    };
    let attention = AttentionConfig { heads: sizes.heads, ..attention };
    let (activation, gated) = t5_forward(fields, forward)?;
    let mut block = BlockConfig {
        norm: Norm::Pre,
        norm_form: NormForm::rms(epsilon(fields, "layer_norm_epsilon", 1e-6)?),
        feed_forward: Some(sizes.hidden),
        activation,
        gated,
        ..BlockConfig::plain(attention)
    };
    set_biases(&mut block, [false; 3]);
    let mut model = of_towers(sizes, (block.clone(), sizes.layers), (block, layers));
    let buckets = distance_buckets(fields, BUCKETS, None)?;
    let form = DistanceForm { tokens: TOKENS, buckets: Some(buckets), table: None };
    share_distances(&mut model.source_blocks, 0, form);
    let form = DistanceForm { buckets: Some(DistanceBuckets { both_directions: false, ..buckets }), ..form };
    let own = model.blocks.iter_mut().filter(|block| !block.attends_to_source());
    share_distances(own, sizes.layers, form);
    let source = SourceForm { final_norm: true, ..SourceForm::default() };
    Ok(Architecture { max_tokens: TOKENS, final_norm: true, source, ..model })
}

/// Returns the activation function of the feed-forward layers, and whether they have gates.
fn t5_forward(fields: Fields<'_>, default: &str) -> Result<(Activation, bool), Refusal> {
    const KEY: &str = "feed_forward_proj";
    let form = fields.or(KEY, default.to_owned())?;
    let (is_gated, name) = form.strip_prefix("gated-").map_or((false, &*form), |name| (true, name));
    let named = match (is_gated, name) {
        // With a gate, the name means the tanh form.
        (true, "gelu") => Activation::GeluTanh,
        (_, "relu") => Activation::Relu,
        (_, "gelu") => Activation::Gelu,
        (_, "gelu_new") => Activation::GeluTanh,
        (_, "silu" | "swish") => Activation::Silu,
        _ => return Err(no_such(&form, KEY, "relu, gated-gelu, gated-silu or gated-relu")),
    };
    // If the config has these two fields, they take precedence.
    Ok((activation(fields, "dense_act_fn", named)?, fields.or("is_gated_act", is_gated)?))
}

/// The settings in which the members of BART's family differ.
struct BartForm {
    norm: Norm,
    positions: Positions,
    embedding_norm: bool,
    final_norms: bool,
}

/// Returns BART: norms after each sum; each tower has its own positions and its own norm after the embeddings (Lewis et
/// al. 2020, arXiv 1910.13461).
pub(super) fn bart(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    fields.must_be("normalize_before", false, NORMS_FIRST)?;
    fields.must_be("add_final_layer_norm", false, NORMS_BEHIND)?;
    fields.must_be("static_position_embeddings", false, "waves in place of learned positions")?;
    fields.must_be("normalize_embedding", true, "no norm behind the embeddings")?;
    let form = BartForm { norm: Norm::Post, positions: Positions::Learned, embedding_norm: true, final_norms: false };
    with_two_towers(fields, sizes, &form)
}

/// Returns mBART: BART with norms before each part and after each tower (Liu et al. 2020, arXiv 2001.08210).
pub(super) fn mbart(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    fields.must_be("normalize_before", true, "norms behind each sum")?;
    fields.must_be("add_final_layer_norm", true, "no norms behind the towers")?;
    fields.must_be("static_position_embeddings", false, "waves in place of learned positions")?;
    fields.must_be("normalize_embedding", true, "no norm behind the embeddings")?;
    let form = BartForm { norm: Norm::Pre, positions: Positions::Learned, embedding_norm: true, final_norms: true };
    with_two_towers(fields, sizes, &form)
}

/// Returns Marian: BART with waves in place of learned positions, and no norms except those after the sums
/// (Junczys-Dowmunt et al. 2018, arXiv 1804.00344).
pub(super) fn marian(fields: Fields<'_>, sizes: &Sizes) -> Result<Architecture, Refusal> {
    fields.must_be("share_encoder_decoder_embeddings", true, "a table of words for each side")?;
    fields.must_be("normalize_before", false, NORMS_FIRST)?;
    fields.must_be("add_final_layer_norm", false, NORMS_BEHIND)?;
    fields.must_be("static_position_embeddings", true, "learned positions in place of waves")?;
    fields.must_be("normalize_embedding", false, "a norm behind the embeddings")?;
    let vocabulary = fields.or("decoder_vocab_size", sizes.vocabulary)?;
    if vocabulary != sizes.vocabulary {
        let found = format!("{vocabulary} as decoder_vocab_size");
        return Err(Refusal::new(found, format!("{} as vocab_size, or the same", sizes.vocabulary), CHECK));
    }
    let positions = Positions::SinusoidalInHalves;
    let form = BartForm { norm: Norm::Post, positions, embedding_norm: false, final_norms: false };
    with_two_towers(fields, sizes, &form)
}

const NORMS_FIRST: &str = "norms before each part, which transformers does not compute in this family";
const NORMS_BEHIND: &str = "norms behind the towers, which transformers does not compute in this family";

fn with_two_towers(fields: Fields<'_>, sizes: &Sizes, form: &BartForm) -> Result<Architecture, Refusal> {
    /// `ε` of every norm; the families have no field for it.
    const EPSILON: f64 = 1e-5;
    /// Rows of learned positions before the row of the first token.
    const FIRST: usize = 2;
    const HEADS: usize = 16;
    const HIDDEN: usize = 4096;
    const LAYERS: usize = 12;
    check_towers(fields)?;
    let decoder = Sizes {
        layers: fields.size("decoder_layers", LAYERS, "the number of the decoder's layers", LAYERS_MAX)?,
        heads: fields.size("decoder_attention_heads", HEADS, "the number of the decoder's heads", HEADS_MAX)?,
        hidden: fields.size("decoder_ffn_dim", HIDDEN, "the number of the decoder's hidden units", HIDDEN_MAX)?,
        ..*sizes
    };
    let activation = activation(fields, "activation_function", Activation::Gelu)?;
    let block = |sizes: &Sizes| {
        Ok::<_, Refusal>(BlockConfig {
            norm: form.norm,
            norm_form: NormForm::layer(EPSILON),
            feed_forward: Some(sizes.hidden),
            activation,
            ..BlockConfig::plain(sizes.attention()?)
        })
    };
    let model = of_towers(sizes, (block(sizes)?, sizes.layers), (block(&decoder)?, decoder.layers));
    let is_learned = form.positions == Positions::Learned;
    Ok(Architecture {
        positions: form.positions,
        position_rows: PositionRows { first: if is_learned { FIRST } else { 0 }, filler: None },
        embedding_norm: form.embedding_norm,
        embedding_scale: fields.or("scale_embedding", false)?.then(|| (sizes.width as f64).sqrt()),
        final_norm: form.final_norms,
        source: SourceForm { positions: is_learned, embedding_norm: form.embedding_norm, final_norm: form.final_norms },
        readout: Readout::Tied,
        readout_bias: true,
        ..model
    })
}
