//! Reading of the layers of a model: attention, norms, the feed-forward layer, and the form in which positions enter.

use std::ops::RangeInclusive;

use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::attention::distances::{DistanceBuckets, DistanceForm};
use attune_engine::numerics::attention::{
    AttentionConfig, Mask, MaskTable, QueryKeyNorm, Rotary, RotaryScaling, Window,
};
use attune_engine::numerics::block::{BlockConfig, Branches, Norm};
use attune_engine::numerics::norm::{NORM_EPSILON, NormForm, NormKind};
use attune_engine::numerics::positions::Positions;

use crate::lesson::reading::decode::{Node, Record, choice, fields, flag, list, number, record, whole, within, wrong};
use crate::lesson::reading::issue::one_of;
use crate::lesson::schema::limits::{
    BUCKETS, DIM_MAX, DISTANCE_MAX, FACTOR_MAX, FACTOR_MIN, FEED_FORWARD_MAX, HEADS_MAX, LAYERS_MAX, NORM_EPSILON_MAX,
    NORM_EPSILON_MIN, TEMPERATURE_MAX, TEMPERATURE_MIN, THETA_MAX, TOKENS_MAX,
};
use crate::lesson::schema::model::Objective;

/// Range of the factors in a layer, and of the factors at the input and the output of a model.
pub const FACTORS: RangeInclusive<f64> = FACTOR_MIN..=FACTOR_MAX;

/// The form in which the positions of words enter the model.
#[derive(Clone, Copy, PartialEq)]
pub enum PositionForm {
    /// A vector that is added to the word's vector.
    Vectors(Positions),
    /// A bias, dependent on the distance, that is added to the scores.
    Distances(DistanceFields),
    /// A rotation of query and key.
    Rotary(RotaryFields),
}

/// The numbers for distances, as a lesson writes them.
#[derive(Clone, Copy, PartialEq)]
pub struct DistanceFields {
    /// Number of buckets, in each of which all distances share one number, and the distance from which on all are in
    /// the last bucket; `None` if each distance has a number of its own.
    buckets: Option<(usize, usize)>,
    /// Whether all layers of a tower read the numbers of its first layer.
    shared: bool,
}

/// The rotation of queries and keys, as a lesson writes it.
#[derive(Clone, Copy, PartialEq)]
pub struct RotaryFields {
    theta: f64,
    /// The share of a head's columns that are rotated.
    fraction: f64,
    scaling: RotaryScaling,
}

impl PositionForm {
    pub fn vectors(self) -> Positions {
        match self {
            Self::Vectors(positions) => positions,
            Self::Distances(_) | Self::Rotary(_) => Positions::None,
        }
    }

    pub fn is_learned(self) -> bool {
        self == Self::Vectors(Positions::Learned)
    }

    /// Returns the form of a layer's numbers for distances, or `None` for positions of another form. `first` is the
    /// tower's first layer, or `None` for that layer itself.
    pub fn distances(self, max_tokens: usize, looks_back: bool, first: Option<usize>) -> Option<DistanceForm> {
        let Self::Distances(DistanceFields { buckets, shared }) = self else { return None };
        let both_directions = !looks_back;
        let buckets = buckets.map(|(count, most)| DistanceBuckets { count, most, both_directions });
        Some(DistanceForm { tokens: max_tokens, buckets, table: first.filter(|_| shared) })
    }

    /// Returns the rotation of heads whose keys have the given width, or `None` for positions of another form. The
    /// number of rotated columns is even.
    pub fn rotary(self, key_width: usize) -> Option<Rotary> {
        let Self::Rotary(RotaryFields { theta, fraction, scaling }) = self else { return None };
        let turned = (key_width as f64 * fraction).floor() as usize;
        Some(Rotary { theta, width: turned / 2 * 2, scaling })
    }
}

/// Reads the positions: `None`, `Sinusoidal`, `Learned`, `Distances` with its buckets, or `Rotary` with its
/// frequencies.
pub fn read_positions(node: Node<'_>) -> Option<PositionForm> {
    record(node, &["None", "Sinusoidal", "Learned", "Distances", "Rotary"], |record| match record.name {
        "None" => Some(PositionForm::Vectors(Positions::None)),
        "Sinusoidal" => record.take_or("halves", false, flag).map(|halves| {
            PositionForm::Vectors(if halves { Positions::SinusoidalInHalves } else { Positions::Sinusoidal })
        }),
        "Learned" => Some(PositionForm::Vectors(Positions::Learned)),
        "Distances" => read_distances(record).map(PositionForm::Distances),
        _ => fields! { record => RotaryFields {
            theta: within(1.0..=THETA_MAX), or 10_000.0;
            fraction: number(|x| x > 0.0 && x <= 1.0, "a number above 0 and at most 1"), or 1.0;
            scaling: read_scaling, or RotaryScaling::None;
        } }
        .map(PositionForm::Rotary),
    })
}

/// Reads the buckets of distances, and whether the layers of a tower share their numbers.
fn read_distances(record: &mut Record<'_>) -> Option<DistanceFields> {
    /// Distance from which all distances are in the last bucket, as in T5.
    const MOST: usize = 128;
    fields! { record;
        buckets: whole(BUCKETS), optional;
        most: whole(1..=DISTANCE_MAX), optional;
        shared: flag, or false;
    }
    let (buckets, most) = (buckets?, most?);
    let Some(count) = buckets else {
        if most.is_some() {
            return record
                .issue("most", "without buckets, each distance has its own number")
                .expected("buckets")
                .none();
        }
        return Some(DistanceFields { buckets: None, shared: shared? });
    };
    // The number of buckets with a single distance is greatest if words only look back.
    let exact = DistanceBuckets { count, most: MOST, both_directions: false }.exact();
    let most = most.unwrap_or(MOST);
    if most <= exact {
        return record
            .issue("most", format!("{most}, but {exact} of {count} buckets have one distance each"))
            .expected(format!("more than {exact}"))
            .none();
    }
    Some(DistanceFields { buckets: Some((count, most)), shared: shared? })
}

/// Reads the scaling of rotary frequencies: `None`, `Linear(factor)`, or `Llama3` with its bounds.
fn read_scaling(node: Node<'_>) -> Option<RotaryScaling> {
    record(node, &["None", "Linear", "Llama3"], |record| match record.name {
        "None" => Some(RotaryScaling::None),
        "Linear" => record.take_item("the factor", within(FACTORS)).map(RotaryScaling::Linear),
        _ => {
            fields! { record;
                factor: within(FACTORS);
                low: within(FACTORS);
                high: within(FACTORS);
                tokens: whole(1..=TOKENS_MAX);
            }
            let (low, high) = (low?, high?);
            if low >= high {
                return record
                    .issue("high", format!("{high} is not above low: {low}"))
                    .expected("a larger number")
                    .none();
            }
            Some(RotaryScaling::Llama3 { factor: factor?, low, high, tokens: tokens? as f64 })
        }
    })
}

/// A number of layers with the same configuration.
#[derive(Clone)]
pub struct LayerRun {
    pub count: usize,
    pub block: BlockConfig,
}

pub fn is_temperature(x: f64) -> bool {
    (TEMPERATURE_MIN..=TEMPERATURE_MAX).contains(&x)
}

/// Reads the fields of the layers, which are fields of the model.
pub fn read_layers(record: &mut Record<'_>, dim: Option<usize>, objective: Option<&Objective>) -> Option<LayerRun> {
    let count = record.take_or("layers", 1, whole(1..=LAYERS_MAX));
    let attention = read_attention_layer(record, dim, objective);
    fields! { record;
        residual: flag, or true;
        norm: choice(NORMS), or Norm::None;
        attention_norm: flag, or true;
        output_norms: flag, or false;
        branches: choice(BRANCHES), or Branches::Sequential;
        feed_forward: whole(1..=FEED_FORWARD_MAX), optional;
        activation: choice(ACTIVATIONS), or Activation::Relu;
        gated: flag, or false;
        forward_bias as "feed_forward_bias": flag, or true;
    }
    let norm_form = read_norm_form(record);
    let (mut attention, norm_form) = (attention?, norm_form?);
    if let Some(norm) = &mut attention.query_key_norm {
        norm.form = NormForm { shift: false, ..norm_form };
    }
    let block = BlockConfig {
        residual: residual?,
        norm: norm?,
        attention_norm: attention_norm?,
        output_norms: output_norms?,
        norm_form,
        branches: branches?,
        feed_forward: feed_forward?,
        activation: activation?,
        gated: gated?,
        forward_bias: forward_bias?,
        ..BlockConfig::plain(attention)
    };
    check_block(record, &block).then_some(LayerRun { count: count?, block })
}

/// Reads the fields of a layer's attention.
fn read_attention_layer(
    record: &mut Record<'_>,
    dim: Option<usize>,
    objective: Option<&Objective>,
) -> Option<AttentionConfig> {
    let looks_back = matches!(objective, Some(Objective::NextWord | Objective::Sequence(_)));
    fields! { record;
        heads: whole(1..=HEADS_MAX);
        key_value_heads: whole(1..=HEADS_MAX), optional;
        key_width: whole(1..=DIM_MAX), optional;
        value_width: whole(1..=DIM_MAX), optional;
        projected as "projections": flag, or true;
        output: flag, or projected.unwrap_or(true);
        bias: flag, or true;
        output_bias: flag, or bias.unwrap_or(true);
        query_key_norm: choice(QUERY_KEY_NORMS), or None;
        scale: flag, or true;
        score_divisor: within(FACTORS), or 1.0;
        score_cap: within(FACTORS), optional;
        temperature: within(TEMPERATURE_MIN..=TEMPERATURE_MAX), or 1.0;
        mask: read_mask, or if looks_back { Mask::Causal } else { Mask::None };
        window: read_window, or Window::ALL;
    }
    let widths = Widths { dim, heads, key: key_width, value: value_width, projected, output };
    let [key_width, value_width] = widths.check(record)?;
    let group_size = group_size(record, heads?, key_value_heads?, projected?)?;
    let each_head: Option<bool> = query_key_norm?;
    Some(AttentionConfig {
        width: dim?,
        heads: heads?,
        group_size,
        key_width,
        value_width,
        projected: projected?,
        output: output?,
        bias: bias?,
        output_bias: output_bias?,
        query_key_norm: each_head.map(|each_head| QueryKeyNorm { each_head, form: NormForm::LAYER }),
        rotary: None,
        scale: scale?,
        score_divisor: score_divisor?,
        score_cap: score_cap?,
        temperature: temperature?,
        mask: mask?,
        window: window?,
        distances: None,
    })
}

/// Reads the fields that describe a norm.
fn read_norm_form(record: &mut Record<'_>) -> Option<NormForm> {
    fields! { record => NormForm {
        kind as "norm_kind": choice(NORM_KINDS), or NormKind::Layer;
        gain_from_one as "norm_gain_from_one": flag, or false;
        shift as "norm_shift": flag, or kind != Some(NormKind::Rms);
        epsilon as "norm_epsilon": within(NORM_EPSILON_MIN..=NORM_EPSILON_MAX), or NORM_EPSILON;
    } }
}

/// Returns the number of heads that share keys and values.
fn group_size(record: &Record<'_>, heads: usize, shared: Option<usize>, projected: bool) -> Option<usize> {
    let Some(shared) = shared else { return Some(1) };
    let problem = match (projected, heads.is_multiple_of(shared)) {
        (true, true) => return Some(heads / shared),
        (false, _) => {
            ("without projections, a head has its slice of the word's vector".to_owned(), "projections: true")
        }
        (true, false) => (format!("{shared} does not divide heads: {heads}"), "a divisor of heads"),
    };
    record.value_of("key_value_heads").issue(format!("key_value_heads: {}", problem.0)).expected(problem.1);
    None
}

/// Checks that the parts of a block fit together.
fn check_block(record: &Record<'_>, block: &BlockConfig) -> bool {
    let issue = |field: &str, found: &str, expected: &str| {
        record.issue(field, found).expected(expected);
        false
    };
    let layer = &block.attention;
    let is_parallel = block.branches != Branches::Sequential;
    if layer.width == 1 && block.norm != Norm::None {
        return issue("norm", "the norm of a single number is always 0", "norm: None, or wider vectors");
    }
    if is_parallel && (block.norm != Norm::Pre || !block.attention_norm || !block.residual) {
        return issue(
            "branches",
            "parallel branches need a norm before each branch and a residual connection",
            "norm: Pre",
        );
    }
    if is_parallel && block.feed_forward.is_none() {
        return issue("branches", "parallel branches need a feed-forward part", "feed_forward: 64, or another number");
    }
    if block.gated && block.feed_forward.is_none() {
        return issue("gated", "there is no feed-forward layer to gate", "feed_forward: 64, or another number");
    }
    if layer.query_key_norm.is_some() && !layer.projected {
        return issue(
            "query_key_norm",
            "without projections, queries and keys are the words themselves",
            "projections: true",
        );
    }
    true
}

/// Reads the window of keys that a query sees, `Window(before: 3, after: 0)`; a side that is left out is unbounded.
fn read_window(node: Node<'_>) -> Option<Window> {
    record(node, &["Window"], |record| {
        fields! { record => Window {
            before: whole(0..=TOKENS_MAX), optional;
            after: whole(0..=TOKENS_MAX), optional;
        } }
    })
}

/// The fields that determine the widths of a head; `None` for a field with issues of its own.
struct Widths {
    dim: Option<usize>,
    heads: Option<usize>,
    key: Option<Option<usize>>,
    value: Option<Option<usize>>,
    projected: Option<bool>,
    output: Option<bool>,
}

impl Widths {
    /// Returns the widths of keys and values, or `None` if they do not fit together.
    fn check<'s>(&self, record: &Record<'s>) -> Option<[usize; 2]> {
        let (heads, dim) = (self.heads?, self.dim?);
        let (key, value) = (self.key?, self.value?);
        let mut good = true;
        if self.projected? {
            let wide = value.map_or(dim, |value| heads * value);
            if !self.output? && wide != dim {
                record
                    .issue("value_width", format!("without W_O the mixes are {wide} wide"))
                    .expected(format!("heads times value_width to be dim: {dim}"));
                good = false;
            }
        } else {
            for (name, _) in [("key_width", key), ("value_width", value)].iter().filter(|(_, width)| width.is_some()) {
                record
                    .issue(name, "without projections, a head has its slice of the word's vector")
                    .expected("no width, or projections: true");
                good = false;
            }
        }
        let own_widths = self.projected? && key.is_some() && value.is_some();
        if good && !own_widths && !dim.is_multiple_of(heads) {
            let divisors: Vec<String> =
                (1..=HEADS_MAX).filter(|heads| dim.is_multiple_of(*heads)).map(|heads| heads.to_string()).collect();
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

/// Reads the mask: `None`, `Causal`, or `Custom` with a row for each query and an entry for each key.
fn read_mask(node: Node<'_>) -> Option<Mask> {
    record(node, &["None", "Causal", "Custom"], |record| match record.name {
        "None" => Some(Mask::None),
        "Causal" => Some(Mask::Causal),
        _ => record.take_item("[[true, …], …]", read_mask_table).map(Mask::custom),
    })
}

fn read_mask_table(node: Node<'_>) -> Option<MaskTable> {
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

const ACTIVATIONS: &[(&str, Activation)] = &[
    ("Relu", Activation::Relu),
    ("Gelu", Activation::Gelu),
    ("GeluTanh", Activation::GeluTanh),
    ("Silu", Activation::Silu),
];
const NORMS: &[(&str, Norm)] = &[("None", Norm::None), ("Pre", Norm::Pre), ("Post", Norm::Post)];
const NORM_KINDS: &[(&str, NormKind)] = &[("Layer", NormKind::Layer), ("Rms", NormKind::Rms)];
const BRANCHES: &[(&str, Branches)] = &[
    ("Sequential", Branches::Sequential),
    ("Parallel", Branches::Parallel),
    ("ParallelOneNorm", Branches::ParallelOneNorm),
];
/// Norms of queries and keys: true if each head has a norm of its own.
const QUERY_KEY_NORMS: &[(&str, Option<bool>)] = &[("None", None), ("Heads", Some(true)), ("Whole", Some(false))];
