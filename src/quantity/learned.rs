//! The learned tensors, for readers: meaning and LaTeX of each.

use super::{Definition, Index};
use crate::numerics::params::TensorName;

pub(super) fn definition(name: TensorName) -> Definition {
    let indices = &[Index::Row, Index::Col];
    let (symbol, meaning) = (name.symbol(), meaning(name));
    let of = if name.is_of_a_block() { Definition::of_block } else { Definition::of_model };
    of(symbol, indices).means(meaning).entry("a learned weight: {weight}")
}

/// Purpose of a learned tensor, in a few words.
pub fn meaning(name: TensorName) -> &'static str {
    use TensorName::*;
    match name {
        Embedding => "the static vectors, trained with the model",
        Positions => "what a word's place adds to its static vector",
        QueryWeights | QueryBias => "from a word to its query, what it looks for",
        KeyWeights | KeyBias => "from a word to its key, what it is found by",
        DistanceBias => "how much a head favours words at each distance, a row for each head",
        ValueWeights | ValueBias => "from a word to its value, what it hands over",
        OutputWeights | OutputBias => "from the heads' mixes to what is added to the word",
        AttentionNormGain | AttentionNormBias => "stretches and shifts the norm at the attention",
        HiddenWeights | HiddenBias => "from a word to the feed-forward layer's hidden units",
        ForwardWeights | ForwardBias => "from the hidden units to what is added to the word",
        ForwardNormGain | ForwardNormBias => "stretches and shifts the norm at the feed-forward layer",
        LogitWeights | LogitBias => "for the guesses in training only: it moves no point",
    }
}

/// The symbol in LaTeX.
pub fn latex(name: TensorName) -> String {
    name.symbol().replace('γ', "\\gamma").replace('β', "\\beta").replace("_logits", "_Z")
}
