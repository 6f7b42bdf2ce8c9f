//! Limits of a kernel's memory and counters, whatever it is asked.

use std::sync::Arc;

use attune_core::kernel::Kernel;
use attune_core::kernel::snapshot::{Progress, RetrainingSnapshot};
use attune_core::kernel::training::run::CHANGED_ENTRIES_MAX;
use attune_core::kernel::training::stop::{Origin, Overflow};
use attune_core::lesson::locate;
use attune_core::lesson::schema::StaticEmbedding;
use attune_engine::numerics::params::TensorName;

use crate::common::commands::{PLAY, RESET, learning_rate, set, step};
use crate::common::lessons::{apply, changed as lesson, model, notice};
use crate::common::top::at;

#[test]
fn nothing_is_under_way_after_a_fault() {
    let mut snapshot = Kernel::embedded(lesson(|_| ())).snapshot();
    let progress = Progress { done: 1, of: 3 };
    snapshot.model.as_mut().expect("a model").training.playing = true;
    snapshot.retraining = Some(RetrainingSnapshot { recipe: Arc::default(), embedding: progress, steps: progress });
    let last = snapshot.after_fault();
    assert_eq!(last.retraining, None);
    assert!(last.revision > snapshot.revision && !last.model.expect("a model").training.playing);
    assert!(last.notice.is_some_and(|words| words.contains("fault in attune itself")));
}

#[test]
fn a_slider_may_move_the_learning_rate_for_ever() {
    let mut kernel = Kernel::embedded(lesson(|_| ()));
    for i in 0..=CHANGED_ENTRIES_MAX {
        kernel.apply(learning_rate(if i % 2 == 0 { 0.1 } else { 0.2 }));
    }
    assert_eq!(kernel.snapshot().notice, None, "only the last is remembered");
    apply(&mut kernel, PLAY);
    assert_eq!(kernel.snapshot().notice, None);
}

#[test]
fn static_vectors_that_diverge_name_the_epoch_the_word_and_the_field() {
    for epochs in [3, 200] {
        let steep = lesson(|lesson| {
            if let StaticEmbedding::Word2Vec(config) = &mut lesson.static_embedding {
                (config.learning_rate, config.epochs) = (1e30, epochs);
            }
        });
        let mut kernel = Kernel::embedded(steep);
        kernel.apply(PLAY);
        assert!(!kernel.is_busy() && kernel.snapshot().model.is_none(), "of {epochs} epochs");
        let fault = kernel.snapshot().fault.expect("it diverges");
        assert!(fault.words.starts_with("the static vectors diverged by epoch "), "{}", fault.words);
        assert!(fault.words.contains(", first that of \""), "{}", fault.words);
        assert_eq!(notice(&kernel).as_deref(), Some(&*fault.words));
        assert_eq!(fault.field, ["static_embedding", "learning_rate"]);
        let place = locate(&at("tests/fixtures/small.ron"), fault.field).expect("the file");
        assert_eq!(place.line, 16, "the record that leaves the rate out");
        assert_eq!(kernel.snapshot().embedding_progress.of, epochs);
        let done = kernel.snapshot().embedding_progress.done;
        assert!(epochs == 3 || done < epochs, "it has not gone on to the end");
    }
}

#[test]
fn a_loss_that_overflows_names_its_origin() {
    let mut kernel = Kernel::embedded(lesson(|_| ()));
    for col in 0..6 {
        kernel.apply(set(TensorName::OutputBias, 0, col, f32::MAX));
    }
    apply(&mut kernel, PLAY);
    let found = model(&kernel).training.diverged().expect("it diverges");
    assert_eq!((found.step, found.overflow), (1, Overflow::Loss));
    assert!(found.is_at_start(), "no step has changed a weight");
    // Every logit is finite, and their sum in the loss is not.
    assert_eq!(found.origin, Some(Origin::Largest(TensorName::OutputBias.into())));
    assert!(!model(&kernel).training.playing);
    assert!(model(&kernel).parameters.flat().iter().all(|x| x.is_finite()));
    apply(&mut kernel, RESET);
    assert_eq!(model(&kernel).training.diverged(), None, "nothing is left of it, though no step was done");
}

/// A step that spoils the weights far from a checkpoint: the state before it is run again, piece by piece.
#[test]
fn the_last_good_step_is_recalled_while_commands_are_answered() {
    const DONE: usize = 1103;
    let decaying = lesson(|lesson| {
        // A thousandth a step; all of it and more once the rate is 1.
        (lesson.model.schedule.steps, lesson.model.schedule.learning_rate, lesson.model.schedule.weight_decay) =
            (1200, 1e-48, 1e45);
    });
    let mut kernel = Kernel::embedded(decaying);
    // The last change lies between the checkpoint and the end, and is made again.
    for (rate, steps) in [(1e-48, DONE - 2), (2e-48, 2)] {
        kernel.apply(learning_rate(rate));
        apply(&mut kernel, step(steps));
    }
    let good = model(&kernel).parameters;
    kernel.apply(learning_rate(1.0));
    kernel.apply(PLAY);
    kernel.advance();
    let diverged = model(&kernel).training.diverged().expect("it diverges at once");
    assert!(matches!(diverged.overflow, Overflow::Parameter(_)), "{diverged:?}");
    assert!(kernel.is_busy(), "the steps from the checkpoint on are yet to be done");
    assert!(model(&kernel).parameters.flat().iter().all(|x| x.is_finite()));
    for command in [PLAY, learning_rate(0.5)] {
        kernel.apply(command);
        let notice = kernel.snapshot().notice.expect("not yet");
        assert_eq!(&*notice, "wait until the last good step is restored");
    }
    kernel.settle();
    assert_eq!(model(&kernel).training.progress.done, DONE);
    assert!(model(&kernel).parameters == good, "bit for bit");
    kernel.apply(learning_rate(0.5));
    assert_eq!(kernel.snapshot().notice, None);
}
