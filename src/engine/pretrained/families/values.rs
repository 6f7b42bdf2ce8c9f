//! Values of fields that several families have, including the fields of rotary positions.

use super::super::fields::{CHECK, Fields, no_such};
use super::super::limits::{BUCKETS_MAX, POSITIONS_MAX};
use super::super::refusal::{Refusal, quoted};
use crate::messages::{counted, nearest};
use crate::numerics::activation::Activation;
use crate::numerics::attention::Window;
use crate::numerics::attention::distances::{DistanceBuckets, DistanceForm};
use crate::numerics::attention::{Rotary, RotaryScaling};
use crate::numerics::block::BlockConfig;
use crate::numerics::model::{Architecture, Readout};

/// The sizes that every family has.
#[derive(Clone, Copy, Debug)]
pub(in crate::pretrained) struct Sizes {
    /// Width `D` of the vectors.
    pub width: usize,
    pub layers: usize,
    /// Number `H` of heads.
    pub heads: usize,
    /// Number of hidden units of a feed-forward layer; 0 means `4 D`.
    pub hidden: usize,
    pub positions: usize,
    /// Number `V` of the words.
    pub vocabulary: usize,
}

/// Advice if a config asks for a form that the engine does not compute.
pub(super) const FORM: &str = "attune does not compute this form";

/// Reason for refusing a norm between the table and the projection to the layers' width. The projection cannot be
/// multiplied into the table, because the norm divides by a deviation that depends on word, position and segment
/// together.
pub(super) const NORM_BETWEEN: &str =
    "in its family, the table of words can be narrower than the layers, with a norm before the projection";

/// Names of activation functions. Of several names for one function the first is written.
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
    activation_named(fields, key, default, &[])
}

/// Returns the activation function of a name, in a family in which some of the names have another meaning.
pub(super) fn activation_named(
    fields: Fields<'_>,
    key: &str,
    default: Activation,
    renamed: &[(&str, Activation)],
) -> Result<Activation, Refusal> {
    let Some(name) = fields.get::<String>(&[key])? else { return Ok(default) };
    let found = renamed.iter().chain(&ACTIVATIONS).find(|(other, _)| *other == name);
    found.map(|(_, activation)| *activation).ok_or_else(|| {
        let names = ACTIVATIONS.map(|(name, _)| name);
        let refusal = no_such(&name, key, format!("one of {}", names.join(", ")));
        match nearest(&name, names) {
            Some(near) => Refusal { advice: format!("was {near} meant?"), ..refusal },
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

/// Returns a readout that is tied to the word table or has its own weights.
pub(super) fn linear(fields: Fields<'_>, is_tied_else: bool) -> Result<Readout, Refusal> {
    Ok(if is_tied(fields, is_tied_else)? { Readout::Tied } else { Readout::Linear })
}

/// Returns a readout, tied to the word table or with its own weights, after a layer of its own.
pub(super) fn transformed(fields: Fields<'_>, activation: Activation) -> Result<Readout, Refusal> {
    let of = if is_tied(fields, true)? { Readout::Transformed } else { Readout::TransformedLinear };
    Ok(of(activation))
}

pub(in crate::pretrained) const FULL: &str = "full_attention";
pub(in crate::pretrained) const SLIDING: &str = "sliding_attention";

/// Returns whether each layer has a window, according to a list or to a rule.
pub(super) fn kinds(fields: Fields<'_>, sizes: &Sizes, slides: impl Fn(usize) -> bool) -> Result<Vec<bool>, Refusal> {
    const KEY: &str = "layer_types";
    match fields.get::<Vec<String>>(&[KEY])? {
        Some(list) => kinds_of(&list, KEY, [FULL, SLIDING], sizes),
        None => Ok((0..sizes.layers).map(slides).collect()),
    }
}

/// Returns whether each layer is of the second of two kinds.
pub(super) fn kinds_of(list: &[String], key: &str, names: [&str; 2], sizes: &Sizes) -> Result<Vec<bool>, Refusal> {
    if list.len() != sizes.layers {
        let found = format!("{key} of {}", counted(list.len(), "layer"));
        return Err(Refusal::new(found, format!("one for each of {}", sizes.layers), CHECK));
    }
    let kind = |name: &String| match names.iter().position(|known| known == name) {
        Some(at) => Ok(at == 1),
        None => Err(no_such(name, key, format!("{} or {}", quoted(names[0]), quoted(names[1])))),
    };
    list.iter().map(kind).collect()
}

/// Returns the number of layers from one that sees all words to the next.
pub(super) fn layers_between(fields: Fields<'_>, key: &str, default: usize) -> Result<usize, Refusal> {
    fields.size(key, default, "the number of layers from one that sees all words to the next", usize::MAX)
}

/// Checks the number of words in a window, including the word itself, and returns it.
pub(super) fn window_of(words: usize, key: &str) -> Result<usize, Refusal> {
    if words > 0 { Ok(words) } else { Err(Refusal::new(format!("0 as {key}"), "1 or more", CHECK)) }
}

/// Returns the window of the field `sliding_window`; null means none.
pub(super) fn window(fields: Fields<'_>, default: Option<usize>) -> Result<Option<usize>, Refusal> {
    const KEY: &str = "sliding_window";
    match fields.find::<usize>(&[KEY])? {
        None => Ok(default),
        Some(None) => Ok(None),
        Some(Some(words)) => window_of(words, KEY).map(Some),
    }
}

/// The reason why there is no window: the config has none, or a flag disables it.
pub(super) type NoWindow = &'static str;
pub(super) const NONE: NoWindow = "no sliding_window";
pub(super) const OFF: NoWindow = "a sliding_window that does not count, because use_sliding_window is not true";

/// Adds windows to the layers that have one.
pub(super) fn windowed(
    fields: Fields<'_>,
    sizes: &Sizes,
    mut model: Architecture,
    window: Result<usize, NoWindow>,
    slides: impl Fn(usize) -> bool,
) -> Result<Architecture, Refusal> {
    for (block, slides) in model.blocks.iter_mut().zip(kinds(fields, sizes, slides)?) {
        if slides {
            let words = window.map_err(|why| {
                let found = format!("layers with a window (layer_types), and {why}");
                Refusal::new(found, "the number of words in a window, or no such layers", CHECK)
            })?;
            block.attention.window = Window { before: Some(words - 1), after: None };
        }
    }
    Ok(model)
}

/// Sets whether there are biases of queries, keys and values; of outputs; and of the feed-forward layer.
pub(super) fn set_biases(block: &mut BlockConfig, [of_inputs, of_output, of_forward]: [bool; 3]) {
    (block.attention.bias, block.attention.output_bias, block.forward_bias) = (of_inputs, of_output, of_forward);
}

/// Returns the buckets of distances; `most` is the longest distance of a family that has no key for it.
pub(super) fn distance_buckets(
    fields: Fields<'_>,
    default: usize,
    most: Option<usize>,
) -> Result<DistanceBuckets, Refusal> {
    const COUNT_KEY: &str = "relative_attention_num_buckets";
    const MOST_KEY: &str = "relative_attention_max_distance";
    /// Least number of buckets. With fewer, no bucket of a direction holds a single distance.
    const LEAST: usize = 4;
    const DISTANCE: usize = 128;
    let count = fields.size(COUNT_KEY, default, "the number of buckets of distances", BUCKETS_MAX)?;
    if count < LEAST {
        return Err(Refusal::new(format!("{count} as {COUNT_KEY}"), format!("{LEAST} to {BUCKETS_MAX}"), CHECK));
    }
    let most = match most {
        Some(most) => most,
        None => fields.size(MOST_KEY, DISTANCE, "the distance from which all are in the last bucket", POSITIONS_MAX)?,
    };
    let buckets = DistanceBuckets { count, most, both_directions: true };
    // If words look back only, more buckets hold a single distance.
    let exact = DistanceBuckets { both_directions: false, ..buckets }.exact();
    if most <= exact {
        let expected = format!("more than {exact}, half of {COUNT_KEY}");
        return Err(Refusal::new(format!("{most} as {MOST_KEY}"), expected, CHECK));
    }
    Ok(buckets)
}

/// Gives blocks of self-attention learned numbers for distances. All read the table of the first of them, whose number
/// over all blocks is `first`.
pub(super) fn share_distances<'a>(
    blocks: impl IntoIterator<Item = &'a mut BlockConfig>,
    first: usize,
    form: DistanceForm,
) {
    for (at, block) in blocks.into_iter().enumerate() {
        block.attention.distances = Some(DistanceForm { table: (at > 0).then_some(first), ..form });
    }
}

/// The keys of rotary positions, and the default values.
#[derive(Clone, Copy)]
pub(super) struct RotaryKeys {
    /// Name of the kind of layers, in `rope_parameters`, that these keys are for.
    pub kind: &'static str,
    pub theta_key: &'static str,
    pub theta: f64,
    /// Key of the share of a head that is turned, in families that turn a part of each head; others ignore it.
    pub fraction_key: Option<&'static str>,
    pub fraction: f64,
    /// Whether `rope_scaling` applies to these layers.
    pub is_scaled: bool,
}

pub(super) const TURN: RotaryKeys =
    RotaryKeys { kind: FULL, theta_key: "rope_theta", theta: 1e4, fraction_key: None, fraction: 1.0, is_scaled: true };

/// Key of the object that holds all settings of rotary positions in current configs.
const PARAMETERS: &str = "rope_parameters";
const THETA: &str = "rope_theta";
const SCALING: &str = "rope_scaling";
/// Older name of the type.
const OLD_TYPE: &str = "type";
pub(super) const FRACTION: &str = "partial_rotary_factor";
const TYPE: &str = "rope_type";

impl RotaryKeys {
    pub fn read(&self, fields: Fields<'_>, head_width: usize) -> Result<Rotary, Refusal> {
        const THETA_BOUNDS: [f64; 2] = [1.0, 1e12];
        let new = self.parameters(fields)?;
        let is_new = |key: &str| Ok::<_, Refusal>(!new.is_empty() && fields.has(&[new, &[key]].concat())?);
        let number = |key: &str, old: &str, default: f64, bounds: [f64; 2]| match is_new(key)? {
            true => fields.number(&[new, &[key]].concat(), default, bounds),
            false => fields.number(&[old], default, bounds),
        };
        let theta = number(THETA, self.theta_key, self.theta, THETA_BOUNDS)?;
        let fraction = match self.fraction_key {
            Some(key) => number(FRACTION, key, self.fraction, [0.0, 1.0])?,
            None => self.fraction,
        };
        let width = (head_width as f64 * fraction) as usize;
        if width == 0 || !width.is_multiple_of(2) {
            let found = format!(
                "{width} rotated columns of {head_width} in a head ({})",
                self.fraction_key.unwrap_or("head_dim")
            );
            return Err(Refusal::new(found, "an even number, in pairs", CHECK));
        }
        Ok(Rotary { theta, width, scaling: scaling(fields, new)? })
    }

    /// Returns the path of these layers' parameters, or an empty one if the config has the older keys.
    fn parameters(&self, fields: Fields<'_>) -> Result<&'static [&'static str], Refusal> {
        const OLDER: &[&str] = &[SCALING];
        // The parameters may be given for this kind of layers, or for all layers.
        let paths: [&'static [&'static str]; 2] = if self.kind == FULL {
            [&[PARAMETERS, FULL], &[PARAMETERS]]
        } else {
            [&[PARAMETERS, SLIDING], &[PARAMETERS]]
        };
        if fields.has(paths[0])? {
            return Ok(paths[0]);
        }
        // If the older key has parameters, all of them are read from there, and none from the newer key.
        for path in [OLDER, paths[1]].into_iter().skip(usize::from(!self.is_scaled)) {
            for key in [THETA, TYPE, OLD_TYPE] {
                if fields.has(&[path[0], key])? {
                    return Ok(path);
                }
            }
        }
        Ok(&[])
    }
}

/// Returns the scaling at a path of keys; none if the path is empty.
fn scaling(fields: Fields<'_>, path: &[&str]) -> Result<RotaryScaling, Refusal> {
    const FACTOR: [f64; 2] = [1.0, 1e6];
    const TURNS: [f64; 2] = [1e-3, 1e6];
    if path.is_empty() {
        return Ok(RotaryScaling::None);
    }
    let under = |key| [path, &[key]].concat();
    let kind = match fields.get::<String>(&under(TYPE))? {
        Some(kind) => Some(kind),
        None => fields.get::<String>(&under(OLD_TYPE))?,
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
