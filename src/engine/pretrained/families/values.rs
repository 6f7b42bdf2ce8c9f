//! Values of one field, or some, that several families have.

use super::super::fields::{CHECK, Fields, no_such};
use super::super::refusal::{Refusal, quoted};
use super::Sizes;
use crate::nearest::nearest;
use crate::numerics::activation::Activation;
use crate::numerics::attention::Window;
use crate::numerics::block::BlockConfig;
use crate::numerics::model::{Architecture, Readout};

/// The names of activations; of several for one, the first is written.
pub(in crate::pretrained) const ACTIVATIONS: [(&str, Activation); 8] = [
    ("gelu", Activation::Gelu),
    ("gelu_new", Activation::GeluTanh),
    ("gelu_pytorch_tanh", Activation::GeluTanh),
    ("gelu_fast", Activation::GeluTanh),
    ("gelu_python", Activation::Gelu),
    ("relu", Activation::Relu),
    ("silu", Activation::Silu),
    ("swish", Activation::Silu),
];

pub(super) fn activation(fields: Fields<'_>, key: &str, default: Activation) -> Result<Activation, Refusal> {
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

pub(super) fn epsilon(fields: Fields<'_>, key: &str, default: f64) -> Result<f64, Refusal> {
    let epsilon = fields.or(key, default)?;
    if epsilon > 0.0 && epsilon < 1.0 {
        return Ok(epsilon);
    }
    let found = format!("{epsilon} as the norm's epsilon ({key})");
    Err(Refusal::new(found, "a number between 0 and 1, such as 1e-12", CHECK))
}

pub(super) fn absolute_positions(fields: Fields<'_>) -> Result<(), Refusal> {
    const KEY: &str = "position_embedding_type";
    match fields.get::<String>(&[KEY])?.filter(|kind| kind != "absolute") {
        Some(other) => Err(no_such(&other, KEY, "`absolute`")),
        None => Ok(()),
    }
}

pub(super) fn is_tied(fields: Fields<'_>, default: bool) -> Result<bool, Refusal> {
    fields.or("tie_word_embeddings", default)
}

/// Read by the table of words or by weights of its own.
pub(super) fn linear(fields: Fields<'_>, is_tied_else: bool) -> Result<Readout, Refusal> {
    Ok(if is_tied(fields, is_tied_else)? { Readout::Tied } else { Readout::Linear })
}

/// The same after a layer of its own.
pub(super) fn transformed(fields: Fields<'_>, activation: Activation) -> Result<Readout, Refusal> {
    let of = if is_tied(fields, true)? { Readout::Transformed } else { Readout::TransformedLinear };
    Ok(of(activation))
}

pub(super) const FULL: &str = "full_attention";
pub(super) const SLIDING: &str = "sliding_attention";

/// Whether each layer sees a window only: as a list says, or a rule.
pub(super) fn kinds(fields: Fields<'_>, sizes: &Sizes, slides: impl Fn(usize) -> bool) -> Result<Vec<bool>, Refusal> {
    const KEY: &str = "layer_types";
    match fields.get::<Vec<String>>(&[KEY])? {
        Some(list) => kinds_of(&list, KEY, [FULL, SLIDING], sizes),
        None => Ok((0..sizes.layers).map(slides).collect()),
    }
}

/// Whether each layer is of the second of two kinds.
pub(super) fn kinds_of(list: &[String], key: &str, names: [&str; 2], sizes: &Sizes) -> Result<Vec<bool>, Refusal> {
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

/// A window of the given number of words, with the word itself.
pub(super) fn window_of(words: usize, key: &str) -> Result<usize, Refusal> {
    if words > 0 { Ok(words) } else { Err(Refusal::new(format!("0 as {key}"), "1 or more", CHECK)) }
}

/// The same, as `sliding_window` says; null is none.
pub(super) fn window(fields: Fields<'_>, default: Option<usize>) -> Result<Option<usize>, Refusal> {
    const KEY: &str = "sliding_window";
    match fields.find::<usize>(&[KEY])? {
        None => Ok(default),
        Some(None) => Ok(None),
        Some(Some(words)) => window_of(words, KEY).map(Some),
    }
}

/// The model with windows on some of its layers.
pub(super) fn windowed(
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

/// Biases of queries, keys and values; of outputs; and of the feed-forward layer.
pub(super) fn set_biases(block: &mut BlockConfig, [of_inputs, of_output, of_forward]: [bool; 3]) {
    (block.attention.bias, block.attention.output_bias, block.forward_bias) = (of_inputs, of_output, of_forward);
}
