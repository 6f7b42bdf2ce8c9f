//! Reads the form of the model's layers, which are all alike.

use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::attention::{AttentionConfig, Mask, MaskTable};
use attune_engine::numerics::block::{BlockConfig, Norm};
use attune_engine::numerics::norm::NORM_EPSILON;

use super::decode::{choice, flag, list, number, whole, wrong};
use super::issue::one_of;
use super::limits::{
    DIM_MAX, FEED_FORWARD_MAX, HEADS_MAX, LAYERS_MAX, NORM_EPSILON_MAX, NORM_EPSILON_MIN, TEMPERATURE_MAX,
    TEMPERATURE_MIN, TOKENS_MAX,
};
use super::record::{Record, fields};
use super::schema::Objective;
use super::source::Node;

/// Layers of one form.
pub(super) struct Layers {
    pub count: usize,
    pub block: BlockConfig,
}

/// The values that [`is_temperature`] takes, in words.
const TEMPERATURE: &str = "a number from 0.01 to 100";

pub fn is_temperature(x: f64) -> bool {
    (TEMPERATURE_MIN..=TEMPERATURE_MAX).contains(&x)
}

/// The values that [`is_norm_epsilon`] takes, in words.
const NORM_EPSILON_RANGE: &str = "a number from 1e-12 to 0.1";

fn is_norm_epsilon(x: f64) -> bool {
    (NORM_EPSILON_MIN..=NORM_EPSILON_MAX).contains(&x)
}

/// The fields of the layers among those of the model.
pub(super) fn read_layers(
    record: &mut Record<'_>,
    dim: Option<usize>,
    objective: Option<&Objective>,
) -> Option<Layers> {
    let looks_back = matches!(objective, Some(Objective::NextWord | Objective::Sequence(_)));
    fields! { record;
        count as "layers": whole(1..=LAYERS_MAX), or 1;
        heads: whole(1..=HEADS_MAX);
        key_width: whole(1..=DIM_MAX), optional;
        value_width: whole(1..=DIM_MAX), optional;
        projected as "projections": flag, or true;
        output: flag, or projected.unwrap_or(true);
        bias: flag, or true;
        scale: flag, or true;
        temperature: number(is_temperature, TEMPERATURE), or 1.0;
        mask: read_mask, or if looks_back { Mask::Causal } else { Mask::None };
        residual: flag, or true;
        norm: choice(NORMS), or Norm::None;
        norm_epsilon: number(is_norm_epsilon, NORM_EPSILON_RANGE), or NORM_EPSILON;
        feed_forward: whole(1..=FEED_FORWARD_MAX), optional;
        activation: choice(ACTIVATIONS), or Activation::Relu;
    }
    if dim == Some(1) && norm.is_some_and(|norm| norm != Norm::None) {
        let message = "norm: the norm of a single number is always 0";
        record.place_of("norm").issue(message).expected("norm: None, or wider vectors");
    }
    let widths = Widths { dim, heads, key: key_width, value: value_width, projected, output };
    let [key_width, value_width] = widths.check(record)?;
    let attention = AttentionConfig {
        width: dim?,
        heads: heads?,
        key_width,
        value_width,
        projected: projected?,
        output: output?,
        bias: bias?,
        scale: scale?,
        score_divisor: 1.0,
        temperature: temperature?,
        mask: mask?,
        distances: None,
    };
    let block = BlockConfig {
        residual: residual?,
        norm: norm?,
        norm_epsilon: norm_epsilon?,
        feed_forward: feed_forward?,
        activation: activation?,
        ..BlockConfig::plain(attention)
    };
    Some(Layers { count: count?, block })
}

/// The fields that decide the widths of a head; `None` where a field has issues of its own.
struct Widths {
    dim: Option<usize>,
    heads: Option<usize>,
    key: Option<Option<usize>>,
    value: Option<Option<usize>>,
    projected: Option<bool>,
    output: Option<bool>,
}

impl Widths {
    /// The widths of keys and values; `None` where they do not fit.
    fn check<'s>(&self, record: &Record<'s>) -> Option<[usize; 2]> {
        let (heads, dim) = (self.heads?, self.dim?);
        let (key, value) = (self.key?, self.value?);
        let mut good = true;
        if self.projected? {
            let wide = value.map_or(dim, |value| heads * value);
            if !self.output? && wide != dim {
                record
                    .place_of("value_width")
                    .issue(format!("value_width: without W_O the mixes are {wide} wide"))
                    .expected(format!("heads times value_width to be dim: {dim}"));
                good = false;
            }
        } else {
            for (name, _) in [("key_width", key), ("value_width", value)].iter().filter(|(_, width)| width.is_some()) {
                record
                    .place_of(name)
                    .issue(format!("{name}: without projections a head has its slice of the word"))
                    .expected("no width, or projections: true");
                good = false;
            }
        }
        let own_widths = self.projected? && key.is_some() && value.is_some();
        if good && !own_widths && !dim.is_multiple_of(heads) {
            let divisors: Vec<String> =
                (1..=HEADS_MAX).filter(|heads| dim.is_multiple_of(*heads)).map(|heads| heads.to_string()).collect();
            let divisors: Vec<&str> = divisors.iter().map(String::as_str).collect();
            let widths = if self.projected? { ", or key_width and value_width" } else { "" };
            record
                .value_of("heads")
                .issue(format!("heads: {heads} does not divide dim: {dim}"))
                .expected(format!("{}{widths}", one_of(&divisors)));
            good = false;
        }
        good.then(|| [key.unwrap_or(dim / heads), value.unwrap_or(dim / heads)])
    }
}

/// `None`, `Causal`, or `Custom` with a row for each query and an entry for each key.
fn read_mask(node: Node<'_>) -> Option<Mask> {
    let mut record = Record::open(node, &["None", "Causal", "Custom"])?;
    let mask = match record.name {
        "None" => Some(Mask::None),
        "Causal" => Some(Mask::Causal),
        _ => record.take_item("[[true, …], …]", read_table).map(Mask::custom),
    };
    record.finish();
    mask
}

fn read_table(node: Node<'_>) -> Option<MaskTable> {
    let row = |node| Some((list(node, TOKENS_MAX, flag)?, node));
    let rows = list(node, TOKENS_MAX, row)?;
    let Some(keys) = rows.first().map(|(row, _)| row.len()).filter(|keys| *keys > 0) else {
        return wrong(node, "at least one row with at least one entry");
    };
    let mut good = true;
    for (row, node) in rows.iter().filter(|(row, _)| row.len() != keys) {
        node.issue(format!("mask: a row of {} entries", row.len()))
            .expected(format!("{keys}, as many as in the first row"));
        good = false;
    }
    good.then(|| MaskTable::from_fn(rows.len(), keys, |query, key| rows[query].0[key]))
}

const ACTIVATIONS: &[(&str, Activation)] =
    &[("Relu", Activation::Relu), ("Gelu", Activation::Gelu), ("GeluTanh", Activation::GeluTanh)];
const NORMS: &[(&str, Norm)] = &[("None", Norm::None), ("Pre", Norm::Pre), ("Post", Norm::Post)];
