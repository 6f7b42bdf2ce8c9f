//! The same model on another of the lesson's sentences.

use std::sync::Arc;

use attune_core::kernel::sentence_pass::interventions::for_any_sentence;
use attune_core::kernel::sentence_pass::passes::Passes;
use attune_core::kernel::sentence_pass::sentence::{Sentence, SentenceFrame};
use attune_core::kernel::snapshot::Snapshot;
use attune_core::kernel::static_embedding::Rewriter;
use attune_core::kernel::static_embedding::network;

/// The snapshot as it would be with one of the lesson's sentences on the stage; what is not about one
/// sentence stays as it is. `None` until there is a model, or if there is no such sentence.
pub fn at_sentence(snapshot: &Snapshot, index: usize) -> Option<Snapshot> {
    let space = snapshot.space.as_deref()?;
    let model = snapshot.model.as_ref()?;
    if model.sentence.index == Some(index) {
        return Some(snapshot.clone());
    }
    let sentence = Sentence::of_lesson(&snapshot.lesson, &space.vocabulary, index)?;
    let rewriter = Rewriter::of(&snapshot.lesson.model.objective, &space.vocabulary);
    let frame = Arc::new(SentenceFrame::new(sentence, space, rewriter.as_ref()));
    let network = network(&snapshot.lesson, space);
    let interventions = Arc::new(for_any_sentence(&model.interventions));
    let sentence = frame.run(&Passes::default(), space, &network, &model.parameters, &model.trained, &interventions);
    let mut other = snapshot.clone();
    if let Some(model) = &mut other.model {
        model.sentence = sentence;
        model.interventions = interventions;
        model.generated = None;
    }
    Some(other)
}
