//! Estimates of what a model costs, from its sizes, for the limits of lessons and for splitting work into pieces of a
//! few milliseconds.

use super::Architecture;
use crate::numerics::block::{BlockConfig, Norm};

/// Size in bytes of one stored number.
pub const NUMBER_BYTES: f64 = size_of::<f32>() as f64;

/// Returns the number of parameters and of tensors.
pub fn parameters(architecture: &Architecture, vocabulary: usize, classes: usize) -> (f64, usize) {
    let shapes = architecture.shapes(vocabulary, classes);
    (shapes.iter().map(|(_, rows, cols)| rows * cols).sum::<usize>() as f64, shapes.len())
}

/// Returns the number of entries of the buffers of a training step, without the gradient.
pub fn workspace_entries(architecture: &Architecture, classes: usize, rows: usize, longest: usize) -> f64 {
    let width = architecture.width as f64;
    let [rows, longest] = [rows, longest].map(|n| n as f64);
    let of_block = |block: &BlockConfig| {
        let layer = &block.attention;
        let [heads, keys, values] = [layer.heads, layer.queries_width(), layer.mixes_width()].map(|n| n as f64);
        let hidden = hidden_entries(block);
        // Q, K, V and the mix with their gradients; the weights by query or by key; the tail's rows; the hidden units.
        4.0 * keys + 4.0 * values + 2.0 * heads * (longest + PADDING) + 8.0 * width + hidden
    };
    let blocks = over_blocks(architecture, of_block);
    // The input, output and gradient of each norm.
    let ends = 3.0 * width * norms_of_ends(architecture);
    rows * (blocks + ends + 6.0 * width + classes as f64) + longest * longest
}

/// Estimates the cost of a training step of a batch, in multiplications of its forward pass at the speed of a large
/// model, including the overhead.
pub fn forward_cost(architecture: &Architecture, classes: usize, rows: usize, longest: usize) -> f64 {
    forward_multiplications(architecture, classes, rows, longest) + forward_overhead(architecture, rows, longest)
}

/// Estimates the overhead, which dominates in small models: calls, and rows and entries that are drawn, copied, added
/// and normed.
///
/// The constants are set so that `cargo bench --package attune-core --bench step_cost` finds similar speeds for its 26
/// models: from 10 to 46 · 10⁹ multiplications a second, 14 in the median, on two cores of an x86-64 with AVX-512. The
/// fastest models hide few words and so read few rows. By the multiplications alone, the speeds differ by a factor of
/// 200.
fn forward_overhead(architecture: &Architecture, rows: usize, longest: usize) -> f64 {
    const OF_A_BLOCK: f64 = 15_000.0;
    const OF_A_SENTENCE: f64 = 600.0;
    const OF_A_HEAD_IN_A_SENTENCE: f64 = 1500.0;
    const OF_A_ROW: f64 = 600.0;
    const OF_AN_ENTRY: f64 = 12.0;
    const OF_A_NORMED_ENTRY: f64 = 32.0;
    const OF_A_WEIGHT: f64 = 40.0;
    let [rows, longest, width] = [rows, longest, architecture.width].map(|n| n as f64);
    let sentences = rows / longest.max(1.0);
    let of_block = |block: &BlockConfig| {
        let heads = block.attention.heads as f64;
        let parts = if block.feed_forward.is_some() { 2.0 } else { 1.0 };
        let norms = if block.norm == Norm::None { 0.0 } else { parts };
        let of_row = parts * (OF_A_ROW + width * OF_AN_ENTRY)
            + norms * (OF_A_ROW + width * OF_A_NORMED_ENTRY)
            + longest * heads * OF_A_WEIGHT;
        OF_A_BLOCK + sentences * heads * OF_A_HEAD_IN_A_SENTENCE + rows * of_row
    };
    let blocks = over_blocks(architecture, of_block);
    let ends = norms_of_ends(architecture) * rows * (OF_A_ROW + width * OF_A_NORMED_ENTRY);
    blocks + ends + sentences * OF_A_SENTENCE + rows * OF_A_ROW
}

/// Sums a quantity over all blocks, those of the source included.
fn over_blocks(architecture: &Architecture, of_block: impl Fn(&BlockConfig) -> f64) -> f64 {
    architecture.numbered_blocks().map(|(_, block)| of_block(block)).sum()
}

fn transforms(architecture: &Architecture) -> bool {
    architecture.readout.activation().is_some()
}

/// Returns the number of norms outside the blocks.
fn norms_of_ends(architecture: &Architecture) -> f64 {
    let Architecture { embedding_norm, final_norm, source, .. } = *architecture;
    [embedding_norm, final_norm, source.final_norm, transforms(architecture)]
        .iter()
        .filter(|is_there| **is_there)
        .count() as f64
}

/// Estimates the cost of one sentence's pass for inspection, in the unit of [`forward_cost`]. It has no backward pass
/// but keeps all tensors. Measured with `attune check` and a claim of 1000 sentences: 13 · 10⁹ multiplications a
/// second.
pub fn sentence_cost(architecture: &Architecture, classes: usize, tokens: usize) -> f64 {
    const SHARE_OF_A_STEP: f64 = 0.5;
    SHARE_OF_A_STEP * forward_multiplications(architecture, classes, tokens, tokens)
        + forward_overhead(architecture, tokens, tokens)
}

/// Returns the size in bytes of one sentence's pass and of everything that the views compute from it for each head,
/// query and key.
pub fn sentence_bytes(architecture: &Architecture, classes: usize, tokens: usize) -> f64 {
    /// Count of numbers for each head, query and key: the product, the exponential, the three coordinates of the arrow,
    /// its length, and the number of the distance.
    const OF_A_PAIR: f64 = 7.0;
    let pass = pass_bytes(architecture, classes, tokens);
    let [tokens, width] = [tokens, architecture.width].map(|n| n as f64);
    let of_block = |block: &BlockConfig| {
        let layer = &block.attention;
        let [heads, keys, values] = [layer.heads, layer.queries_width(), layer.mixes_width()].map(|n| n as f64);
        // A second copy of queries, keys, values and mixes, for the comparison.
        NUMBER_BYTES * tokens * (heads * (tokens * OF_A_PAIR + width) + 2.0 * keys + 2.0 * values)
    };
    pass + over_blocks(architecture, of_block)
}

/// Returns the size in bytes of the tensors of a pass.
pub fn pass_bytes(architecture: &Architecture, classes: usize, tokens: usize) -> f64 {
    /// Count of numbers for each head, query and key: the score and the weight.
    const OF_A_PAIR: f64 = 2.0;
    /// Count of vectors of width D for each token and block: between the steps, and for the moves and norms.
    const OF_A_TOKEN: f64 = 10.0;
    /// Bytes for each head apart from its numbers.
    const OF_A_HEAD: f64 = 1024.0;
    let [tokens, width, classes] = [tokens, architecture.width, classes].map(|n| n as f64);
    let of_block = |block: &BlockConfig| {
        let layer = &block.attention;
        let [heads, keys, values] = [layer.heads, layer.queries_width(), layer.mixes_width()].map(|n| n as f64);
        let hidden = block.feed_forward.unwrap_or(0) as f64;
        let of_head = tokens * tokens * OF_A_PAIR;
        let of_token = 2.0 * keys + 2.0 * values + OF_A_TOKEN * width + hidden;
        heads * (OF_A_HEAD + NUMBER_BYTES * of_head) + NUMBER_BYTES * tokens * of_token
    };
    let blocks = over_blocks(architecture, of_block);
    blocks + NUMBER_BYTES * tokens * (2.0 * classes + OF_A_TOKEN * width)
}

/// Returns the number of combinations of two heads of a block, a query and a key, over all blocks. A word's share of a
/// move is the length of a sum over heads, which takes a product for each combination.
pub fn pairs_of_heads(architecture: &Architecture, tokens: usize) -> f64 {
    let of_block = |block: &BlockConfig| (block.attention.heads as f64 * tokens as f64).powi(2);
    over_blocks(architecture, of_block)
}

/// Estimates the cost of writing a sentence word by word, where each word reads all words before it, on average half of
/// them.
pub fn generation_cost(architecture: &Architecture, classes: usize, tokens: usize) -> f64 {
    (tokens as f64 / 2.0 + 1.0) * sentence_cost(architecture, classes, tokens)
}

/// Estimates the cost of computing one sentence's contributions and adding them up, as claims do.
pub fn contribution_cost(architecture: &Architecture, tokens: usize) -> f64 {
    let [tokens, width] = [tokens, architecture.width].map(|n| n as f64);
    2.0 * architecture.heads() as f64 * tokens * tokens * width
}

/// Estimates the multiplications of a forward pass.
pub fn forward_multiplications(architecture: &Architecture, classes: usize, rows: usize, longest: usize) -> f64 {
    /// Multiplications that take as long as an exponential of the softmax.
    const WEIGHT_OVERHEAD: f64 = 8.0;
    let width = architecture.width as f64;
    let [rows, longest] = [rows, longest].map(|n| n as f64);
    let of_block = |block: &BlockConfig| {
        let layer = &block.attention;
        let heads_width = (layer.queries_width() + layer.mixes_width()) as f64;
        let shared_width = (layer.keys_width() + layer.values_width()) as f64;
        width * (heads_width + shared_width)
            + longest * (heads_width + layer.heads as f64 * WEIGHT_OVERHEAD)
            + width * hidden_units(block) * if block.gated { 3.0 } else { 2.0 }
    };
    let blocks = over_blocks(architecture, of_block);
    let transform = if transforms(architecture) { width * width } else { 0.0 };
    rows * (blocks + transform + width * classes as f64)
}

fn hidden_units(block: &BlockConfig) -> f64 {
    block.feed_forward.unwrap_or(0) as f64
}

/// Returns the entries of a row of hidden units: their sums, activations and gradients, and the same three of a gate.
fn hidden_entries(block: &BlockConfig) -> f64 {
    if block.gated { 6.0 * hidden_units(block) } else { 3.0 * hidden_units(block) }
}

/// Largest number of zeros with which a row of weights is padded to whole vectors.
const PADDING: f64 = 8.0;
