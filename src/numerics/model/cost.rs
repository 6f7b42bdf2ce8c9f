//! What sizes cost: for the limits of lessons, and for work in pieces of a few milliseconds.

use super::{Architecture, Readout};
use crate::numerics::block::BlockConfig;
use crate::numerics::positions::Positions;

/// Learned numbers, and in how many tensors.
pub fn parameters(architecture: &Architecture, vocabulary: usize, classes: usize) -> (f64, usize) {
    let Architecture { width, max_tokens, .. } = *architecture;
    let in_blocks = architecture.numbered_blocks().flat_map(|(number, block)| block.shapes(number));
    let of_the_model = [
        (architecture.train_embedding, vocabulary * width),
        (architecture.positions == Positions::Learned, max_tokens * width),
        (architecture.readout == Readout::Linear, width * classes),
        (true, classes),
    ];
    let of_the_model = of_the_model.into_iter().filter(|(there, _)| *there).map(|(_, entries)| entries);
    let all: Vec<usize> = in_blocks.map(|(_, rows, cols)| rows * cols).chain(of_the_model).collect();
    (all.iter().sum::<usize>() as f64, all.len())
}

/// Entries of the contributions in all blocks, by far the most of what a viewer gets of one sentence.
pub fn contribution_entries(architecture: &Architecture) -> f64 {
    let [tokens, width] = [architecture.max_tokens, architecture.width].map(|n| n as f64);
    architecture.heads() as f64 * tokens * tokens * width
}

/// Entries of a workspace without the gradient.
pub fn workspace_entries(architecture: &Architecture, classes: usize, rows: usize, longest: usize) -> f64 {
    let width = architecture.width as f64;
    let [rows, longest] = [rows, longest].map(|n| n as f64);
    let of_block = |block: &BlockConfig| {
        let layer = &block.attention;
        let [heads, keys, values] = [layer.heads, layer.keys_width(), layer.values_width()].map(|n| n as f64);
        let hidden = block.feed_forward.unwrap_or(0) as f64;
        // Q, K, V and the mix with their gradients, the weights by query or by key, the tail's rows, the hidden units.
        4.0 * keys + 4.0 * values + 2.0 * heads * (longest + PADDING) + 8.0 * width + 2.0 * hidden
    };
    let blocks: f64 = architecture.numbered_blocks().map(|(_, block)| of_block(block)).sum();
    rows * (blocks + 6.0 * width + classes as f64) + longest * longest
}

/// Multiplications of a forward pass, roughly.
pub fn forward_multiplications(architecture: &Architecture, classes: usize, rows: usize, longest: usize) -> f64 {
    /// An exponential of the softmax costs as much as this many multiplications.
    const WEIGHT_OVERHEAD: f64 = 8.0;
    let width = architecture.width as f64;
    let [rows, longest] = [rows, longest].map(|n| n as f64);
    let of_block = |block: &BlockConfig| {
        let layer = &block.attention;
        let heads_width = (layer.keys_width() + layer.values_width()) as f64;
        let hidden = block.feed_forward.unwrap_or(0) as f64;
        2.0 * width * heads_width
            + longest * (heads_width + layer.heads as f64 * WEIGHT_OVERHEAD)
            + 2.0 * width * hidden
    };
    let blocks: f64 = architecture.numbered_blocks().map(|(_, block)| of_block(block)).sum();
    rows * (blocks + width * classes as f64)
}

/// Zeros that fill the rows of weights up to whole lanes, at most.
const PADDING: f64 = 8.0;
