//! The place in a lesson file to fix a problem that shows only when the lesson runs.

use std::path::Path;

use attune_core::kernel::Snapshot;
use attune_core::kernel::training::stop::{ActivationId, first_not_finite};
use attune_core::kernel::training::stop::{Diverged, Origin};
use attune_core::lesson::issue::printable;
use attune_core::lesson::issue::{FieldPath, locate};
use attune_core::lesson::schema::{Lesson, StaticEmbedding};
use attune_view::view_model::training::diverged_words;

/// `file:line:col` of a field of the lesson; the file alone if it can no longer be read.
pub fn place(file: &Path, field: FieldPath) -> String {
    let name = printable(&file.display().to_string());
    match locate(file, field) {
        Some(place) => format!("{name}:{}:{}", place.line, place.col),
        None => name,
    }
}

/// Why training diverged, as one issue of the lesson. The lesson's learning rate is to blame, but at
/// the first step, which it has not touched.
pub fn divergence(file: &Path, lesson: &Lesson, diverged: &Diverged) -> String {
    let words = diverged_words(diverged);
    let activation = match diverged.origin {
        Some(Origin::Activation(activation)) => Some(activation),
        _ => None,
    };
    let origin = match diverged.origin {
        Some(Origin::Activation(activation)) => format!(": {activation} is the first tensor that is not finite"),
        Some(Origin::Largest(tensor)) => format!(": {tensor} is the largest tensor"),
        None => String::new(),
    };
    let (field, cause) = if diverged.is_at_start() {
        start(lesson, activation)
    } else {
        let rate = lesson.model.learning_rate;
        (&["model", "learning_rate"][..], format!("the model's learning_rate of {rate} is too large"))
    };
    format!("{}: {words}{origin}; {cause}\n", place(file, field))
}

/// A sentence whose forward pass leaves the numbers, as one issue of the lesson.
pub fn overflow(file: &Path, lesson: &Lesson, sentence: &str, tensor: ActivationId) -> String {
    let (field, cause) = start(lesson, Some(tensor));
    format!("{}: {tensor} of the sentence {sentence:?} has an entry that is not finite; {cause}\n", place(file, field))
}

/// The same of the sentence on the stage; `None` where all its numbers are finite.
pub fn overflow_of(snapshot: &Snapshot, file: &Path) -> Option<String> {
    let model = snapshot.model.as_ref()?;
    let sentence = &model.sentence;
    let first =
        first_not_finite(&model.architecture, &model.interventions, &sentence.activations, &sentence.answers.logits)?;
    Some(overflow(file, &snapshot.lesson, &sentence.written(), first))
}

/// The field of a lesson whose initial numbers are too large, and a message.
fn start(lesson: &Lesson, first: Option<ActivationId>) -> (FieldPath, String) {
    let has_weights = !lesson.model.weights.is_empty() && !first.is_some_and(ActivationId::is_input);
    match &lesson.static_embedding {
        _ if has_weights => (&["model", "weights"], "its initial weights are too large".to_owned()),
        StaticEmbedding::Given(_) => (&["static_embedding"], "the given vectors are too large".to_owned()),
        StaticEmbedding::Word2Vec(_) => (&["static_embedding"], "the static vectors are too large".to_owned()),
        StaticEmbedding::Pretrained(_) => (&[], "the model's own numbers are too large".to_owned()),
    }
}
