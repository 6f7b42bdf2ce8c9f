//! The answers of a snapshot's model after each of its layers, and the terms of a logit.

use attune_engine::numerics::Matrix;
use attune_engine::numerics::model::Pooling;
use attune_engine::numerics::model::attribution::{NoSum, TermOf};

use crate::kernel::model::snapshot::ModelSnapshot;
use crate::kernel::objective::network;
use crate::kernel::snapshot::Snapshot;
use crate::kernel::values::sentence::{RankedAnswer, likeliest};

/// Returns whether the model has an answer for each word.
pub fn answers_by_word(model: &ModelSnapshot) -> bool {
    model.architecture.pooling == Pooling::Every && model.made_of.static_embedding.guesses_words()
}

/// Returns the most likely answers at a word before the first layer and after each layer; those after the last are the
/// model's own. Returns `None` if there is no such word, or if the model has no answers for single words.
pub fn layer_answers(snapshot: &Snapshot, token: usize) -> Option<Vec<Vec<RankedAnswer>>> {
    let (space, model) = (snapshot.space.as_deref()?, snapshot.model.as_ref()?);
    if !answers_by_word(model) || token >= model.sentence.tokens.len() {
        return None;
    }
    let network = network(&model.made_of, space);
    let activations = &model.sentence.activations;
    let blocks = &activations.blocks[model.architecture.source_blocks.len()..];
    // The input of a layer is the output of the one before it, unless a patch has replaced it.
    let states: Vec<f32> = blocks.iter().flat_map(|block| block.input.row(token)).copied().collect();
    let logits =
        network.lens(&model.parameters, Matrix::from_row_major(blocks.len(), model.architecture.width, states));
    let answers = &model.sentence.answers;
    let own = answers.likeliest.get(token)?.clone();
    Some((0..logits.rows()).map(|layer| likeliest(logits.row(layer), &answers.never)).chain([own]).collect())
}

/// Returns the terms whose sum is the logit of a class at a word.
///
/// # Errors
/// If the logit is not a sum of terms.
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
