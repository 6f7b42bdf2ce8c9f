//! Answers of a snapshot's model behind each of its layers, and the terms of a logit.

use attune_engine::numerics::Matrix;
use attune_engine::numerics::model::Pooling;
use attune_engine::numerics::model::attribution::{NoSum, TermOf};

use crate::kernel::model::snapshot::ModelSnapshot;
use crate::kernel::objective::network;
use crate::kernel::snapshot::Snapshot;
use crate::kernel::values::sentence::{RankedAnswer, likeliest};

/// Whether the model answers about each word.
pub fn answers_by_word(model: &ModelSnapshot) -> bool {
    model.architecture.pooling == Pooling::Every && model.made_of.static_embedding.guesses_words()
}

/// The likeliest answers at a word behind each layer, from its vector before all layers on. Behind the last layer they
/// are the model's own. `None` where there is no such word, or the model answers about no single word.
pub fn layer_answers(snapshot: &Snapshot, token: usize) -> Option<Vec<Vec<RankedAnswer>>> {
    let (space, model) = (snapshot.space.as_deref()?, snapshot.model.as_ref()?);
    if !answers_by_word(model) || token >= model.sentence.tokens.len() {
        return None;
    }
    let network = network(&model.made_of, space);
    let activations = &model.sentence.activations;
    let blocks = &activations.blocks[model.architecture.source_blocks.len()..];
    // What a layer works with is what the one before it came to, or what was put in its place.
    let states: Vec<f32> = blocks.iter().flat_map(|block| block.input.row(token)).copied().collect();
    let logits =
        network.lens(&model.parameters, Matrix::from_row_major(blocks.len(), model.architecture.width, states));
    let own = model.sentence.answers.likeliest.get(token)?.clone();
    Some((0..logits.rows()).map(|layer| likeliest(logits.row(layer))).chain([own]).collect())
}

/// The terms whose sum is the logit of a class at a word.
///
/// # Errors
/// If the logit is no sum of terms.
pub fn terms_of(snapshot: &Snapshot, token: usize, class: usize) -> Option<Result<Vec<(TermOf, f32)>, NoSum>> {
    let (space, model) = (snapshot.space.as_deref()?, snapshot.model.as_ref()?);
    let sentence = &model.sentence;
    if token >= sentence.tokens.len() || class >= model.classes.len() {
        return None;
    }
    let (network, at) = (network(&model.made_of, space), (token, class));
    let patch = model.interventions.patch.as_ref();
    Some(network.attribution(&model.parameters, &sentence.activations, &sentence.contributions, patch, at))
}
