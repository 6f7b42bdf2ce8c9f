//! Training for a command, with a progress bar on a terminal. Problems that appear only when a lesson runs are reported
//! with their place in the lesson file.

use std::path::Path;
use std::sync::Arc;

use attune_core::kernel::command::TrainingCommand;
use attune_core::kernel::training::stop::{ActivationId, Diverged, Origin, first_not_finite};
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_core::lesson::issue::shown;
use attune_core::lesson::places::{FieldPath, locate};
use attune_core::lesson::schema::{Lesson, StaticEmbedding};
use attune_view::view_model::training::diverged_words;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::args::{Common, SentenceArgs};
use super::{CliFault, lessons};

/// Returns a kernel that is trained to its last step.
pub fn train(lesson: Lesson, common: &Common) -> Kernel {
    trained_after(None, lesson, common)
}

/// Trains like [`train`], and adds a tour to the notebook of a model that was opened as a folder.
pub fn train_with_tour(lesson: Lesson, common: &Common) -> Kernel {
    trained_after(Some(Command::Tour), lesson, common)
}

fn trained_after(first: Option<Command>, lesson: Lesson, common: &Common) -> Kernel {
    let mut kernel = Kernel::new(Arc::new(lesson));
    if let Some(first) = first {
        kernel.apply(first);
    }
    kernel.apply(Command::Training(TrainingCommand::Play));
    finished(kernel, common)
}

/// Reads and trains a lesson with the function `train`, and shows the sentence of the arguments, if they give one.
///
/// # Errors
/// If the lesson has issues, cannot read the sentence, or does not train.
pub fn with_sentence(
    path: &Path,
    sentence: &SentenceArgs,
    train: fn(Lesson, &Common) -> Kernel,
    common: &Common,
) -> Result<Kernel, CliFault> {
    let lesson = lessons::read(path, common.seed)?;
    let shows = sentence.command(&lesson)?;
    let mut kernel = train(lesson, common);
    trained(&kernel, path)?;
    shows.into_iter().for_each(|command| kernel.apply(command));
    Ok(kernel)
}

/// Restores a kernel from saved work, and trains it if the work has no commands, because nothing else would train it
/// then.
#[cfg(feature = "app")]
pub fn resume(lesson: Lesson, work: attune_core::kernel::Saved, common: &Common) -> Kernel {
    let trains = work.commands.is_empty() && lesson.model.schedule.steps > 0;
    let mut kernel = Kernel::open(Arc::new(lesson), Some(work));
    if trains {
        kernel.apply(Command::Training(TrainingCommand::Play));
    }
    finished(kernel, common)
}

/// Runs a kernel until it is finished.
fn finished(mut kernel: Kernel, common: &Common) -> Kernel {
    let lesson = kernel.snapshot().lesson;
    let bar = bar(lesson.model.schedule.steps, "{msg} {bar:32} {pos}/{len} steps", common);
    bar.set_message(lesson.title.clone());
    while kernel.is_busy() {
        kernel.advance();
        bar.set_position(kernel.steps_done() as u64);
    }
    bar.finish_and_clear();
    kernel
}

/// Returns the snapshot of a kernel that has finished training.
///
/// # Errors
/// If the lesson has a fault, or if training diverged.
pub fn trained(kernel: &Kernel, path: &Path) -> Result<Snapshot, CliFault> {
    let snapshot = kernel.snapshot();
    check_fault(&snapshot, path)?;
    match snapshot.model.as_ref().and_then(|model| model.training.diverged()) {
        Some(diverged) => Err(CliFault::Lesson(divergence(path, &snapshot.lesson, &diverged))),
        None => Ok(snapshot),
    }
}

/// Checks that the lesson of a snapshot has no fault.
///
/// # Errors
/// The fault, with its place in the lesson.
pub fn check_fault(snapshot: &Snapshot, path: &Path) -> Result<(), CliFault> {
    let fault = snapshot.fault.as_ref();
    fault.map_or(Ok(()), |fault| Err(CliFault::Lesson(format!("{}: {}\n", place(path, fault.field), fault.words))))
}

/// Returns a progress bar for stage pictures, each of which takes a second without a graphics card.
#[cfg(feature = "app")]
pub fn pictures(count: usize, common: &Common) -> ProgressBar {
    let bar = bar(count, "{msg} {bar:32} {pos}/{len}", common);
    bar.set_message("Drawing");
    bar
}

/// Returns a progress bar with `length` steps.
pub fn bar(length: usize, template: &str, common: &Common) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(length as u64), target(common));
    // The template is constant; if it were wrong, a plain bar would do.
    bar.set_style(ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

/// Returns where progress bars are drawn. indicatif draws them only on terminals.
pub fn target(common: &Common) -> ProgressDrawTarget {
    if common.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() }
}

/// Returns `file:line:col` of a field of the lesson, or the file alone if it can no longer be read.
pub fn place(file: &Path, field: FieldPath) -> String {
    let name = shown(file);
    match locate(file, field) {
        Some(place) => format!("{name}:{place}"),
        None => name,
    }
}

/// Describes diverged training as an issue of the lesson. It names the learning rate, except at the first step, which
/// the learning rate has not affected.
fn divergence(file: &Path, lesson: &Lesson, diverged: &Diverged) -> String {
    let words = diverged_words(diverged);
    let (activation, origin) = match diverged.origin {
        Some(Origin::Activation(activation)) => {
            (Some(activation), format!(": {activation} is the first tensor that is not finite"))
        }
        Some(Origin::Largest(tensor)) => (None, format!(": {tensor} is the largest tensor")),
        None => (None, String::new()),
    };
    let (field, cause) = if diverged.is_at_start() {
        start(lesson, activation)
    } else {
        let rate = lesson.model.schedule.learning_rate;
        (&["model", "learning_rate"][..], format!("the model's learning_rate of {rate} is too large"))
    };
    format!("{}: {words}{origin}; {cause}\n", place(file, field))
}

/// Describes a sentence whose forward pass gives numbers that are not finite, as an issue of the lesson.
pub fn overflow(file: &Path, lesson: &Lesson, sentence: &str, tensor: ActivationId) -> String {
    let (field, cause) = start(lesson, Some(tensor));
    format!("{}: {tensor} of the sentence {sentence:?} has an entry that is not finite; {cause}\n", place(file, field))
}

/// Describes an overflow of the sentence on the stage, as an issue of the lesson; `None` if all its numbers are finite.
pub fn overflow_of(snapshot: &Snapshot, file: &Path) -> Option<String> {
    let model = snapshot.model.as_ref()?;
    let sentence = &model.sentence;
    let first =
        first_not_finite(&model.architecture, &model.interventions, &sentence.activations, &sentence.answers.logits)?;
    Some(overflow(file, &snapshot.lesson, &sentence.written(), first))
}

/// Returns the field of a lesson that makes the initial numbers too large, and a message.
fn start(lesson: &Lesson, first: Option<ActivationId>) -> (FieldPath, String) {
    let has_weights = !lesson.model.weights.is_empty() && !first.is_some_and(ActivationId::is_input);
    match &lesson.static_embedding {
        _ if has_weights => (&["model", "weights"], "the model's initial weights are too large".to_owned()),
        StaticEmbedding::Given(_) => (&["static_embedding"], "the given vectors are too large".to_owned()),
        StaticEmbedding::Word2Vec(_) => (&["static_embedding"], "the static vectors are too large".to_owned()),
        StaticEmbedding::Pretrained(_) | StaticEmbedding::Recording(_) => {
            (&[], "the model's own numbers are too large".to_owned())
        }
    }
}
