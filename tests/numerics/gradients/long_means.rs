//! The mean over a long sentence, which is taken of its weights before they meet the values:
//! `mean(A V) = mean(A) V`.

use attune_engine::numerics::attention::Mask;
use attune_engine::numerics::block::{BlockConfig, Norm};
use attune_engine::numerics::model::{Architecture, Batch, Classes, Pooling, Readout};
use attune_engine::numerics::positions::Positions;

use super::models::check_model;
use crate::common::close::Tolerance;
use crate::common::numerics::{Net, TILE_TOKENS_MAX, VOCABULARY, architecture, block, layer};

const MAX_TOKENS: usize = 80;
/// The shortest that is long, one of two panels, and a long one between short ones.
const LENGTHS: [&[usize]; 3] = [&[TILE_TOKENS_MAX + 1], &[MAX_TOKENS - 1], &[2, TILE_TOKENS_MAX + 20, 1]];
const CLASSES: usize = 3;
/// Narrow, for the sake of time.
const WIDTH: usize = 3;

fn labelled(lengths: &[usize]) -> Batch {
    let mut batch = Batch::default();
    for (i, &length) in lengths.iter().enumerate() {
        let words: Vec<usize> = (0..length).map(|t| (t * t + 5 * t + i) % VOCABULARY).collect();
        batch.push_labelled(&words, i, (i + 1) % CLASSES);
    }
    batch
}

fn mean_of(positions: Positions, block: BlockConfig) -> Architecture {
    assert!(block.has_linear_tail(), "the mean is taken before the tail");
    architecture(|a| {
        (a.width, a.max_tokens, a.positions, a.train_embedding) = (WIDTH, MAX_TOKENS, positions, true);
        (a.pooling, a.readout, a.blocks) = (Pooling::Mean, Readout::Linear, vec![block]);
    })
}

/// A block with a linear tail.
fn linear(mask: &Mask, change: impl FnOnce(&mut BlockConfig)) -> BlockConfig {
    block(|b| {
        b.attention = layer(|l| (l.width, l.mask) = (WIDTH, mask.clone()));
        change(b);
    })
}

/// Every other one.
fn other_forms(mask: &Mask) -> [BlockConfig; 5] {
    [
        linear(mask, |b| b.residual = false),
        linear(mask, |b| b.norm = Norm::Pre),
        linear(mask, |b| b.attention.bias = false),
        linear(mask, |b| (b.attention.heads, b.attention.value_width, b.attention.output) = (1, WIDTH, false)),
        // A head wider than a lane.
        linear(mask, |b| (b.attention.heads, b.attention.key_width, b.attention.value_width) = (1, 9, 10)),
    ]
}

/// With positions, vectors are projected; without them, projections are looked up.
const POSITIONS: [Positions; 2] = [Positions::Sinusoidal, Positions::None];

/// Every long mean there is, with its batch.
fn means(mut check: impl FnMut(Architecture, &Batch)) {
    for mask in [Mask::None, Mask::Causal] {
        for lengths in LENGTHS {
            for positions in POSITIONS {
                check(mean_of(positions, linear(&mask, |_| ())), &labelled(lengths));
            }
        }
        for block in other_forms(&mask) {
            check(mean_of(Positions::Sinusoidal, block), &labelled(LENGTHS[0]));
        }
    }
}

#[test]
fn the_mean_of_long_sentences() {
    means(|built, batch| check_model(built, Classes::Labels(CLASSES), batch));
}

#[test]
fn the_mean_over_a_second_block() {
    let first = linear(&Mask::None, |b| (b.norm, b.feed_forward) = (Norm::Post, Some(2)));
    let second = linear(&Mask::Causal, |_| ());
    let built = Architecture { blocks: vec![first, second.clone()], ..mean_of(Positions::Learned, second) };
    check_model(built, Classes::Labels(CLASSES), &labelled(LENGTHS[0]));
}

/// The processor's vectors have another path than the plain numbers of double precision.
#[test]
fn in_single_precision_too() {
    means(|built, batch| {
        let name = format!("{built:?}");
        let single = Net::new(built, Classes::Labels(CLASSES), 11).cast::<f32>();
        single.is_the_reference(batch, Tolerance::SINGLE_PASS).unwrap_or_else(|why| panic!("{name}: {why}"));
    });
}
