//! The forms of current decoder families, which have rotary positions, in which a lesson's model is written as a
//! folder.
//!
//! A family fits if reading the config that is written for it gives the lesson's model. Parts that the family has and
//! the lesson lacks, such as biases, are written as zeros. A feed-forward layer without a gate is written with one that
//! is always 1.

use attune_core::lesson::places::FieldPath;
use attune_engine::numerics::attention::{AttentionConfig, Window};
use attune_engine::numerics::block::BlockConfig;
use attune_engine::numerics::model::Architecture;
use attune_engine::numerics::norm::NormForm;
use attune_engine::pretrained::Config;
use attune_engine::pretrained::config::DECODERS;

use super::fault::{self, Unfit};

/// Returns whether a model without a source has rotary positions, as today's decoders do.
pub(super) fn is_of_today(architecture: &Architecture) -> bool {
    !architecture.has_source() && architecture.blocks.iter().any(|block| block.attention.rotary.is_some())
}

/// Returns whether the family's layers have gates that the lesson's layers lack.
pub(super) fn gets_gate(own: &Architecture, written: &Architecture) -> bool {
    written.blocks[0].gated && !own.blocks[0].gated
}

/// Returns the configuration of the first family that has the form of the model.
///
/// # Errors
/// If there is none; the error lists the fields in which the nearest family differs.
pub(super) fn config(architecture: &Architecture, vocabulary: usize) -> Result<Config, Vec<Unfit>> {
    let own = without_needless_window(architecture);
    let mut nearest: Option<Vec<Unfit>> = None;
    for wanted in [own.clone(), gated(&own)] {
        for family in DECODERS {
            let written = Config { family, vocabulary, architecture: wanted.clone() };
            let Ok(read) = Config::parse(&written.to_json()) else { continue };
            let unfit = differing(&wanted, &read);
            if unfit.is_empty() {
                return Ok(read);
            }
            if nearest.as_ref().is_none_or(|nearest| unfit.len() < nearest.len()) {
                nearest = Some(unfit);
            }
        }
    }
    Err(nearest.unwrap_or_else(|| vec![Unfit::new(&["model"], "a form that no family has", "the form of a decoder")]))
}

/// Returns the model without windows that hide nothing even in the longest sentence.
fn without_needless_window(architecture: &Architecture) -> Architecture {
    let mut own = architecture.clone();
    for block in &mut own.blocks {
        let window = &mut block.attention.window;
        let is_needless = |side: Option<usize>| side.is_none_or(|words| words + 1 >= architecture.max_tokens);
        if is_needless(window.before) && is_needless(window.after) {
            *window = Window::ALL;
        }
    }
    own
}

/// Returns the model with a gate in each feed-forward layer, and with a bias, which makes the gate 1 if it is 1 itself.
fn gated(architecture: &Architecture) -> Architecture {
    let mut gated = architecture.clone();
    for block in gated.blocks.iter_mut().filter(|block| !block.gated) {
        (block.gated, block.forward_bias) = (true, true);
    }
    gated
}

/// Lists the fields in which a family's form differs from a model.
fn differing(own: &Architecture, read: &Config) -> Vec<Unfit> {
    let theirs = &read.architecture;
    let fields = fields(own).into_iter().zip(fields(theirs));
    let fields = fields.map(|((field, found), (_, needed))| (field, found, needed));
    let too_few = flags(own).into_iter().zip(flags(theirs)).filter(|((_, own), (_, theirs))| *own && !*theirs);
    let too_few = too_few.map(|((field, own), (_, theirs))| (field, own, theirs));
    let unfit = fault::differing(fields).into_iter().chain(fault::differing(too_few));
    unfit.map(|unfit| unfit.needed_by(read.family)).collect()
}

/// Lists the parts that may be zeros in a family's form, and whether the model has each of them.
fn flags(architecture: &Architecture) -> [(FieldPath, bool); 5] {
    let block = &architecture.blocks[0];
    [
        (&["model", "bias"], block.attention.bias),
        (&["model", "output_bias"], block.attention.output_bias),
        (&["model", "feed_forward_bias"], block.forward_bias),
        (&["model", "norm_shift"], block.norm_form.shift),
        (&["model", "readout_bias"], architecture.readout_bias),
    ]
}

/// Lists the fields of a lesson that must have the same value in a family's form, each with its value as text.
fn fields(architecture: &Architecture) -> Vec<(FieldPath, String)> {
    let block = &architecture.blocks[0];
    // The transformers library has these numbers in single precision, so they are compared in it.
    let number = |number: Option<f64>| number.map_or("none".to_owned(), |number| (number as f32).to_string());
    let own: [(FieldPath, String); 7] = [
        (&["model", "embedding_norm"], architecture.embedding_norm.to_string()),
        (&["model", "final_norm"], architecture.final_norm.to_string()),
        (&["model", "embedding_scale"], number(architecture.embedding_scale)),
        (&["model", "readout"], format!("{:?}", architecture.readout)),
        (&["model", "logit_scale"], number(architecture.logit_scale)),
        (&["model", "logit_cap"], number(architecture.logit_cap)),
        (&["model", "norm_epsilon"], format!("{:e}", architecture.norm_form.epsilon)),
    ];
    of_attention(&block.attention).into_iter().chain(of_block(block)).chain(own).collect()
}

fn of_attention(attention: &AttentionConfig) -> [(FieldPath, String); 14] {
    let number = |number: f64| (number as f32).to_string();
    let window = match (attention.window.before, attention.window.after) {
        (None, None) => "none".to_owned(),
        (before, after) => {
            let side = |words: Option<usize>| words.map_or("all".to_owned(), |words| words.to_string());
            format!("a window of {} before and {} after", side(before), side(after))
        }
    };
    let positions = match (&attention.rotary, attention.distances) {
        (Some(rotary), _) => format!("Rotary(theta: {}), {} columns turned", rotary.theta, rotary.width),
        (None, Some(_)) => "Distances".to_owned(),
        (None, None) => "not Rotary".to_owned(),
    };
    let scaling = attention.rotary.map_or(String::new(), |rotary| format!("scaling {:?}", rotary.scaling));
    [
        (&["model", "key_value_heads"], attention.key_value_heads().to_string()),
        (&["model", "key_width"], attention.key_width.to_string()),
        (&["model", "value_width"], attention.value_width.to_string()),
        (&["model", "projections"], attention.projected.to_string()),
        (&["model", "output"], attention.output.to_string()),
        (&["model", "query_key_norm"], query_key_norm(attention)),
        (&["model", "positions"], positions),
        (&["model", "positions"], scaling),
        (&["model", "scale"], attention.scale.to_string()),
        (&["model", "score_divisor"], number(attention.score_divisor)),
        (&["model", "score_cap"], attention.score_cap.map_or("none".to_owned(), number)),
        (&["model", "temperature"], number(attention.temperature)),
        (&["model", "mask"], attention.mask.to_string()),
        (&["model", "window"], window),
    ]
}

fn query_key_norm(attention: &AttentionConfig) -> String {
    match attention.query_key_norm {
        None => "none".to_owned(),
        Some(norm) => format!("{}, {}", if norm.each_head { "Heads" } else { "Whole" }, norm_words(norm.form)),
    }
}

fn norm_words(form: NormForm) -> String {
    let gain = if form.gain_from_one { ", gains from 1" } else { "" };
    format!("{:?}{gain}, epsilon {:e}", form.kind, form.epsilon)
}

fn of_block(block: &BlockConfig) -> [(FieldPath, String); 8] {
    [
        (&["model", "residual"], block.residual.to_string()),
        (&["model", "norm"], format!("{:?}", block.norm)),
        (&["model", "attention_norm"], block.attention_norm.to_string()),
        (&["model", "output_norms"], block.output_norms.to_string()),
        (&["model", "norm_kind"], norm_words(block.norm_form)),
        (&["model", "branches"], format!("{:?}", block.branches)),
        (&["model", "gated"], block.gated.to_string()),
        (&["model", "activation"], format!("{:?}", block.activation)),
    ]
}
