//! Attention in every form, over short sentences, which go through tiles, and long ones, which go
//! through panels.

use attune_engine::numerics::attention::distances::{DistanceBuckets, DistanceForm};
use attune_engine::numerics::attention::{AttentionConfig, Mask, QueryKeyNorm, Rotary, RotaryScaling, Window};
use attune_engine::numerics::block::{Attends, BlockConfig};
use attune_engine::numerics::norm::NormForm;

use super::blocks::check_block;
use crate::common::numerics::{TILE_TOKENS_MAX, holes, layer, padding};

/// One word alone among them.
const SHORT: [usize; 3] = [4, 1, 3];
/// As many sentences, other lengths.
const SHORT_SOURCES: [usize; 3] = [2, 5, 1];

fn check_self(name: &str, attention: AttentionConfig, lengths: &[usize]) {
    check_block(name, &BlockConfig::plain(attention), lengths, None);
}

fn check_cross(name: &str, attention: AttentionConfig, lengths: &[usize], sources: &[usize]) {
    let config = BlockConfig { attends: Attends::Source, ..BlockConfig::plain(attention) };
    check_block(name, &config, lengths, Some(sources));
}

fn rotary(width: usize, scaling: RotaryScaling) -> Rotary {
    Rotary { theta: 50.0, width, scaling }
}

/// Frequencies of a head of a few columns, of which some are scaled in part.
fn llama3() -> RotaryScaling {
    RotaryScaling::Llama3 { factor: 8.0, low: 0.5, high: 2.0, tokens: 6.0 }
}

/// A number for each distance.
fn each(tokens: usize) -> Option<DistanceForm> {
    Some(DistanceForm::of_each(tokens))
}

/// Numbers that distances share: each of three before the query, and two for all that are further.
fn buckets(count: usize, both_directions: bool) -> Option<DistanceForm> {
    let buckets = DistanceBuckets { count, most: 5, both_directions };
    Some(DistanceForm { tokens: 7, buckets: Some(buckets), table: None })
}

fn own_norm(each_head: bool) -> QueryKeyNorm {
    QueryKeyNorm { each_head, form: NormForm { gain_from_one: !each_head, ..NormForm::rms(1e-3) } }
}

type Form = (&'static str, AttentionConfig);

fn forms() -> Vec<Form> {
    let free = |heads: usize, width: usize| AttentionConfig {
        heads,
        key_width: width / heads,
        value_width: width / heads,
        ..AttentionConfig::parameter_free(width)
    };
    let heads = |heads, key_width, value_width| {
        layer(|l| (l.heads, l.key_width, l.value_width) = (heads, key_width, value_width))
    };
    vec![
        ("with all", layer(|_| ())),
        ("no bias", layer(|l| l.bias = false)),
        ("bias of the output alone", layer(|l| (l.bias, l.output_bias) = (false, true))),
        ("bias of the projections alone", layer(|l| l.output_bias = false)),
        ("shared keys and values", layer(|l| (l.heads, l.group_size) = (6, 3))),
        ("one key and value for all", layer(|l| (l.heads, l.group_size) = (3, 3))),
        ("turned", layer(|l| (l.key_width, l.rotary) = (4, Some(rotary(4, RotaryScaling::None))))),
        ("turned in part", layer(|l| (l.key_width, l.rotary) = (5, Some(rotary(2, RotaryScaling::Linear(4.0)))))),
        ("normed heads", layer(|l| l.query_key_norm = Some(own_norm(true)))),
        (
            "normed over all heads, turned",
            layer(|l| {
                (l.heads, l.group_size, l.key_width, l.query_key_norm) = (4, 2, 2, Some(own_norm(false)));
                l.rotary = Some(rotary(2, llama3()));
            }),
        ),
        ("below a bound", layer(|l| (l.score_cap, l.temperature) = (Some(0.3), 0.8))),
        ("below a bound, distances count", layer(|l| (l.score_cap, l.distances) = (Some(0.2), each(6)))),
        ("a window before", layer(|l| l.window = Window { before: Some(1), after: None })),
        ("a window on both sides", layer(|l| l.window = Window { before: Some(1), after: Some(0) })),
        ("no scale", layer(|l| l.scale = false)),
        ("sharp", layer(|l| l.temperature = 0.3)),
        ("with a divisor", layer(|l| (l.score_divisor, l.temperature) = (3.0, 0.6))),
        ("distances count", layer(|l| (l.distances, l.temperature) = (each(6), 0.7))),
        ("buckets of distances count", layer(|l| (l.distances, l.temperature) = (buckets(7, true), 0.7))),
        (
            "buckets of distances before count",
            layer(|l| (l.distances, l.mask, l.scale) = (buckets(6, false), Mask::Causal, false)),
        ),
        (
            "distances count, with a divisor",
            layer(|l| (l.distances, l.score_divisor, l.temperature) = (each(6), 0.5, 0.7)),
        ),
        ("even, not scaled", layer(|l| (l.temperature, l.scale) = (2.5, false))),
        ("one wide head", heads(1, 5, 5)),
        ("three heads, values wider than keys", heads(3, 1, 4)),
        ("heads wider than a lane", heads(2, 9, 10)),
        ("without W_O", layer(|l| (l.heads, l.value_width, l.output) = (1, 5, false))),
        ("without projections", layer(|l| (l.heads, l.key_width, l.value_width, l.projected) = (1, 5, 5, false))),
        ("parameter-free", free(1, 5)),
        ("parameter-free, two heads", free(2, 6)),
    ]
}

fn masks() -> [(&'static str, Mask); 4] {
    [("no mask", Mask::None), ("causal", Mask::Causal), ("holes", holes(5, 5)), ("padding", padding(5, 5, 3))]
}

#[test]
fn self_attention_of_short_sentences() {
    for (form, attention) in forms() {
        for (mask_name, mask) in masks() {
            check_self(&format!("{form}, {mask_name}"), AttentionConfig { mask, ..attention.clone() }, &SHORT);
        }
    }
}

#[test]
fn cross_attention_of_short_sentences() {
    for (form, attention) in forms() {
        for (mask_name, mask) in masks() {
            let attention = AttentionConfig { mask, ..attention.clone() };
            check_cross(&format!("{form}, {mask_name}"), attention, &SHORT, &SHORT_SOURCES);
        }
    }
}

/// The shortest that go through panels, one of two panels, and a short one beside a long one.
const LONG: [&[usize]; 3] = [&[TILE_TOKENS_MAX + 1], &[TILE_TOKENS_MAX + 31], &[2, TILE_TOKENS_MAX + 20, 1]];

#[test]
fn self_attention_of_long_sentences() {
    let longest = TILE_TOKENS_MAX + 31;
    for lengths in LONG {
        for mask in [Mask::None, Mask::Causal, holes(longest, longest)] {
            // Narrow, for the sake of time.
            let narrow = layer(|l| (l.width, l.heads, l.mask) = (3, 1, mask.clone()));
            check_self(&format!("{lengths:?}, {mask:?}"), narrow, lengths);
        }
    }
    check_self("distances", layer(|l| (l.mask, l.distances) = (Mask::Causal, each(longest + 3))), LONG[1]);
    check_self("two heads", layer(|l| l.mask = Mask::Causal), LONG[0]);
    let today = layer(|l| {
        (l.heads, l.group_size, l.key_width, l.score_cap, l.mask) = (2, 2, 2, Some(0.4), Mask::Causal);
        (l.rotary, l.query_key_norm) = (Some(rotary(2, RotaryScaling::None)), Some(own_norm(true)));
        l.window = Window { before: Some(9), after: None };
    });
    check_self("everything of today's models", today, LONG[1]);
    let free = AttentionConfig { mask: Mask::Causal, ..AttentionConfig::parameter_free(3) };
    check_self("parameter-free", free, LONG[1]);
}

#[test]
fn cross_attention_where_one_side_is_long() {
    let long = TILE_TOKENS_MAX + 20;
    for (lengths, sources) in [([long, 2], [3, 5]), ([3, 1], [long, 2]), ([long, 1], [1, long])] {
        for mask in [Mask::None, Mask::Causal, holes(long, long)] {
            check_cross(&format!("{lengths:?}, {mask:?}"), layer(|l| l.mask = mask), &lengths, &sources);
        }
    }
}

#[test]
fn the_longest_of_the_short_ones() {
    check_self("tiles to the brim", layer(|l| l.mask = Mask::Causal), &[TILE_TOKENS_MAX]);
}
