//! Sinks of a sentence in numbers: keys that get far more than an even share of the weights, averaged over all heads.

use attune_engine::numerics::model::activations::{BlockActivations, HeadActivations};
use attune_engine::numerics::sinks::key_weights;

use attune_engine::numerics::moves::Moves;

/// A key that gets much of the attention, averaged over all heads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SinkNumbers {
    /// Its place in the sentence.
    pub position: usize,
    /// Mean of its weight over all heads and the queries that see it.
    pub mean: f32,
    /// Heads in which that mean alone is above the threshold, and all.
    pub heads: (usize, usize),
    /// Its share of all weights, and of the lengths of all that is added.
    pub of_weights: f32,
    pub of_added: f32,
}

/// The sinks among `keys`, in their order, of blocks that all look at these keys.
pub fn sinks(blocks: &[(&BlockActivations<f32>, &Moves)], keys: usize) -> Vec<SinkNumbers> {
    let heads = || blocks.iter().flat_map(|(block, _)| &block.heads);
    let weights = key_weights(heads().map(|head| (&head.weights, &head.scores)), keys);
    let positions: Vec<usize> = (0..keys).filter(|key| weights[*key].is_sink()).collect();
    if positions.is_empty() {
        return Vec::new();
    }
    let rows: usize = heads().map(|head| head.weights.rows()).sum();
    let of_weights = |key: usize| {
        let column = |head: &HeadActivations<f32>| -> f32 {
            (0..head.weights.rows()).map(|query| head.weights.get(query, key)).sum()
        };
        heads().map(column).sum::<f32>() / rows as f32
    };
    let mut added = vec![0.0; keys];
    for (block, moves) in blocks {
        for (own, head) in block.heads.iter().enumerate() {
            for query in 0..head.weights.rows() {
                added.iter_mut().enumerate().for_each(|(key, sum)| *sum += moves.term_length(own, query, key));
            }
        }
    }
    let all_added: f32 = added.iter().sum();
    let sink = |position: usize| SinkNumbers {
        position,
        mean: weights[position].mean as f32,
        heads: (weights[position].heads, heads().count()),
        of_weights: of_weights(position),
        of_added: if all_added > 0.0 { added[position] / all_added } else { 0.0 },
    };
    positions.into_iter().map(sink).collect()
}
