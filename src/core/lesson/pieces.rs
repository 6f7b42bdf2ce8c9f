//! The length of a sentence that a pretrained model reads: the product of layers, heads and pieces must neither fill the
//! memory nor run for minutes.

use attune_engine::numerics::model::Architecture;
use attune_engine::numerics::model::cost::{NUMBER_BYTES, pairs_of_heads, parameters, sentence_bytes};

use super::limits::{PIECES_MAX, SENTENCE_BYTES_MAX, SENTENCE_PAIRS_MAX};

/// Pieces that one sentence of a pretrained model may have: those that it reads and the stage shows, as far as memory
/// and time for them are in measure with the model.
pub fn pieces_max(architecture: &Architecture, vocabulary: usize) -> usize {
    let weights = NUMBER_BYTES * parameters(architecture, 0, 0).0;
    let fits = |tokens: usize| {
        sentence_bytes(architecture, vocabulary, tokens) <= SENTENCE_BYTES_MAX + weights
            && pairs_of_heads(architecture, tokens) <= SENTENCE_PAIRS_MAX
    };
    (2..=PIECES_MAX.min(architecture.max_tokens)).rev().find(|&tokens| fits(tokens)).unwrap_or(1)
}

/// Why a sentence of so many pieces is not read; `None` where it is.
pub fn too_many_pieces(architecture: &Architecture, vocabulary: usize, count: usize) -> Option<String> {
    let most = pieces_max(architecture, vocabulary);
    let (positions, heads) = (architecture.max_tokens, architecture.heads());
    let why = match most {
        _ if most == positions => "the model reads".to_owned(),
        PIECES_MAX => "the stage shows".to_owned(),
        _ => format!(
            "with {heads} heads in all its layers, one sentence of this model would need too much memory or time; it reads"
        ),
    };
    (count > most).then(|| format!("the text has {count} pieces: {why} at most {most}"))
}
