//! Promises for every shape and every number, on random ones.

mod contributions;
mod heads;
mod interventions;
mod sentences;
mod shapes;
mod softmax;

use attune_engine::numerics::attention::{AttentionConfig, Mask, MaskTable};
use attune_engine::numerics::block::{BlockConfig, Norm};
use attune_engine::numerics::params::Parameters;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::common::numerics::{filled, generator, padding};

/// The same cases in every run: a test that is red is red for all.
fn cases(count: u32) -> ProptestConfig {
    ProptestConfig { rng_seed: RngSeed::Fixed(2017), failure_persistence: None, ..ProptestConfig::with_cases(count) }
}

/// The most tokens of any sentence here.
const LONGEST: usize = 130;

/// Mostly a handful of tokens, and around the lengths at which the engine changes its way: tiles end
/// at 48, panels at 64 and 128.
fn tokens() -> impl Strategy<Value = usize> {
    prop_oneof![4 => 1..10usize, 1 => 46..52usize, 1 => 62..67usize, 1 => 126..=LONGEST]
}

/// Layers with and without projections and `W_O`, in widths that are seldom whole lanes.
fn layers() -> impl Strategy<Value = AttentionConfig> {
    let widths = (1..13usize, 1..4usize, 1..11usize, 1..11usize);
    (widths, 0..4u8, any::<[bool; 2]>(), 0.5..3.0).prop_map(
        |((width, heads, key_width, value_width), form, [bias, scale], temperature)| {
            let layer = AttentionConfig { heads, bias, scale, temperature, ..AttentionConfig::parameter_free(width) };
            match form {
                0 => AttentionConfig { width: heads * key_width, key_width, value_width: key_width, ..layer },
                1 => AttentionConfig { width: heads * value_width, key_width, value_width, projected: true, ..layer },
                _ => AttentionConfig { key_width, value_width, projected: true, output: true, ..layer },
            }
        },
    )
}

/// Nothing, the future, the padding, or holes drawn at random; of the last, some queries see nothing.
fn masks(queries: usize, keys: usize) -> impl Strategy<Value = Mask> {
    prop_oneof![
        Just(Mask::None),
        Just(Mask::Causal),
        (0..=keys).prop_map(move |length| padding(queries, keys, length)),
        (any::<u64>(), 0..=4u64).prop_map(move |(seed, density)| {
            let sees = |query, key| draw(seed, query, key) % 4 < density && !draw(seed, query, keys).is_multiple_of(5);
            Mask::custom(MaskTable::from_fn(queries, keys, sees))
        }),
    ]
}

/// A number for an entry of a table (SplitMix64's finaliser).
fn draw(seed: u64, row: usize, col: usize) -> u64 {
    let mut z = seed ^ ((row as u64) << 32 | col as u64);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn norms() -> impl Strategy<Value = Norm> {
    prop_oneof![Just(Norm::None), Just(Norm::Pre), Just(Norm::Post)]
}

/// Blocks with this attention and anything around it.
fn around(attention: AttentionConfig) -> impl Strategy<Value = BlockConfig> {
    (norms(), any::<bool>(), proptest::option::of(1..9usize)).prop_map(move |(norm, residual, feed_forward)| {
        BlockConfig { norm, residual, feed_forward, ..BlockConfig::plain(attention.clone()) }
    })
}

fn parameters_of(config: &BlockConfig, seed: u64) -> Parameters<f64> {
    filled(Parameters::zeros(&config.shapes(0)), &mut generator(seed))
}
