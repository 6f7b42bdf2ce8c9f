//! The kernel: the same commands lead to the same snapshots, and nothing is lost.

use std::sync::Arc;

use attune_core::kernel::command::{InterventionCommand, WeightCommand};
use attune_core::kernel::snapshot::SentenceSnapshot;
use attune_core::kernel::{Command, Kernel, Snapshot, Worker};
use attune_core::lesson::Lesson;
use attune_core::lesson::schema::{GivenSource, GivenVectors, StaticEmbedding};
use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::params::TensorName;
use attune_view::view_model::stage::StageModel;

use crate::common::commands::{
    PAUSE, PLAY, RESET, RESET_WEIGHTS, head, reset_tensor, select, set, solo, step, temperature,
};
use crate::common::lessons::{self, SMALL, apply, bits, model, notice};
use crate::common::waiting::wait_for;

/// Small and quick, but with everything that the kernel knows.
fn lesson() -> Arc<Lesson> {
    lessons::lesson(SMALL)
}

fn run(commands: &[Command]) -> Kernel {
    let mut kernel = Kernel::embedded(lesson());
    commands.iter().for_each(|command| apply(&mut kernel, command.clone()));
    kernel
}

/// Sets an entry of `W_Q`.
fn query(row: usize, col: usize, value: f32) -> Command {
    set(TensorName::QueryWeights, row, col, value)
}

fn weight(kernel: &Kernel, row: usize, col: usize) -> f32 {
    model(kernel).parameters.matrix(TensorName::QueryWeights)[(row, col)]
}

#[test]
fn the_same_commands_give_the_same_bits() {
    let commands = [step(5), query(0, 1, 0.7), PLAY, solo(1), select(1)];
    assert_eq!(bits(&run(&commands).snapshot()), bits(&run(&commands).snapshot()));
    let other = [step(5), query(0, 1, 0.8), PLAY, solo(1), select(1)];
    assert_ne!(bits(&run(&commands).snapshot()), bits(&run(&other).snapshot()));
}

#[test]
fn steps_and_play_reach_the_same_model() {
    let steps = lesson().model.schedule.steps;
    let stepped = run(&[step(3), step(steps - 3)]);
    assert_eq!(bits(&stepped.snapshot()), bits(&run(&[PLAY]).snapshot()));
}

#[test]
fn reset_returns_to_the_same_initialisation() {
    let start = bits(&run(&[]).snapshot());
    assert_eq!(bits(&run(&[PLAY, query(0, 0, 9.0), RESET]).snapshot()), start);
}

/// Every command at every moment of a training run: nothing the learner did is lost, and what the
/// snapshot says of itself is true.
#[test]
fn commands_while_training_plays() {
    let others = [
        query(0, 1, 0.7),
        reset_tensor(TensorName::QueryWeights),
        solo(0),
        select(1),
        Command::Undo,
        Command::Redo,
        step(2),
        PAUSE,
        PLAY,
        RESET,
    ];
    for command in others {
        for advances in 0..3 {
            let mut kernel = run(&[]);
            kernel.apply(PLAY);
            (0..advances).for_each(|_| kernel.advance());
            let done = kernel.steps_done();
            kernel.apply(command.clone());
            let begun = model(&kernel);
            assert_eq!(begun.parameters, begun.trained, "{command:?}: training goes on from what is shown");
            if let Command::Weights(WeightCommand::Set { value, .. }) = command {
                assert_eq!(weight(&kernel, 0, 1), value);
                assert!(begun.training.playing && kernel.steps_done() == done);
                kernel.advance();
                assert_ne!(weight(&kernel, 0, 1), value, "training moves the weight on from there");
            }
            kernel.settle();
            let model = model(&kernel);
            assert_eq!(model.parameters, model.trained);
            assert!(!model.training.playing);
        }
    }
}

#[test]
fn undo_of_a_choice_leaves_the_training_alone() {
    let mut kernel = run(&[]);
    kernel.apply(PLAY);
    kernel.advance();
    kernel.apply(select(1));
    apply(&mut kernel, solo(1));
    let done = kernel.steps_done();
    let parameters = model(&kernel).parameters;
    for (label, index, heads) in
        [("only head 2 on", Some(1), [true, true]), ("choice of the sentence", Some(0), [true, true])]
    {
        assert_eq!(kernel.snapshot().history.undo.as_deref(), Some(label));
        kernel.apply(Command::Undo);
        let model = model(&kernel);
        let enabled = [0, 1].map(|head| model.is_enabled(head));
        assert_eq!((model.sentence.index, enabled), (index, heads));
        assert_eq!((kernel.steps_done(), &model.parameters), (done, &parameters));
    }
    kernel.apply(Command::Undo);
    assert_eq!(kernel.steps_done(), 0, "and the training is undone by its own entry");
}

#[test]
fn the_training_at_the_opening_cannot_be_undone() {
    let mut kernel = Kernel::new(lesson());
    apply(&mut kernel, PLAY);
    assert_eq!(bits(&kernel.snapshot()), bits(&run(&[PLAY]).snapshot()));
    kernel.apply(Command::Undo);
    assert_eq!(notice(&kernel).as_deref(), Some("there is nothing to undo"));
    assert_eq!(kernel.steps_done(), lesson().model.schedule.steps);
}

#[test]
fn a_command_that_changes_nothing_leaves_no_trace() {
    let mut kernel = run(&[select(1), Command::Undo]);
    let value = weight(&kernel, 0, 0);
    for command in [
        query(0, 0, value),
        reset_tensor(TensorName::KeyWeights),
        RESET_WEIGHTS,
        Command::Interventions(InterventionCommand::Solo(None)),
        head(0, HeadMode::Live),
        select(0),
        PAUSE,
    ] {
        kernel.apply(command.clone());
        let history = kernel.snapshot().history;
        assert_eq!((history.undo, history.redo.as_deref()), (None, Some("choice of the sentence")), "{command:?}");
    }
}

#[test]
fn given_vectors_are_shown_as_they_were_written() {
    let mut lesson = Lesson::clone(&lesson());
    let mut words = lesson.vocabulary().to_vec();
    words.reverse();
    words.push("unheard-of".to_owned());
    let vectors = Matrix::from_fn(words.len(), lesson.static_embedding.dim(), |i, j| (i * i + 7 * j) as f32 * 0.01);
    lesson.static_embedding = StaticEmbedding::Given(GivenVectors {
        words: words.clone().into(),
        vectors: Arc::new(vectors.clone().into()),
        source: GivenSource::Lesson,
    });
    let snapshot = Kernel::trained(Arc::new(lesson)).snapshot();
    let space = snapshot.space.as_ref().expect("a space");
    assert_eq!(space.vocabulary.last().map(String::as_str), Some("unheard-of"));
    assert_eq!(space.vocabulary.len(), words.len());
    for (word, row) in space.vocabulary.iter().zip(0..) {
        let given = words.iter().position(|other| other == word).expect("a given word");
        assert_eq!(*space.vectors.row(row), *vectors.row(given), "{word}");
    }
    assert_eq!(snapshot.model.expect("a model").training.progress.done, snapshot.lesson.model.schedule.steps);
}

#[test]
fn a_drag_of_one_slider_is_one_undo() {
    let mut kernel = run(&[]);
    let before = weight(&kernel, 0, 1);
    for i in 0..50 {
        kernel.apply(query(0, 1, i as f32 / 50.0));
    }
    kernel.apply(Command::Undo);
    assert_eq!(weight(&kernel, 0, 1), before);
    assert_eq!(kernel.snapshot().history.undo, None);
}

#[test]
fn a_first_move_that_changes_nothing_does_not_hide_the_next() {
    let mut kernel = run(&[]);
    let before = weight(&kernel, 0, 1);
    kernel.apply(query(0, 1, before));
    kernel.apply(query(0, 1, before + 1.0));
    kernel.apply(Command::Undo);
    assert_eq!(weight(&kernel, 0, 1), before);
}

/// An edit is a change of bits: −0 is not 0.
#[test]
fn a_weight_that_changes_its_sign_alone_is_edited() {
    let mut kernel = run(&[]);
    let bias = |kernel: &Kernel| {
        let parameters = model(kernel).parameters;
        parameters.entry(TensorName::QueryBias, 0, 1).map(f32::to_bits)
    };
    assert_eq!(bias(&kernel), Some(0.0_f32.to_bits()), "before training");
    kernel.apply(set(TensorName::QueryBias, 0, 1, -0.0));
    assert_eq!(bias(&kernel), Some((-0.0_f32).to_bits()));
    let model = model(&kernel);
    assert_eq!(model.trained.changed_to(&model.parameters).len(), 1);
    assert!(model.trained != model.parameters && model.parameters == model.parameters);
    kernel.apply(Command::Undo);
    assert_eq!(bias(&kernel), Some(0.0_f32.to_bits()));
}

#[test]
fn weights_reset_one_by_one_by_tensor_and_all_together() {
    let mut kernel = run(&[PLAY]);
    let trained = (weight(&kernel, 0, 0), weight(&kernel, 0, 1));
    let reset = Command::Weights(WeightCommand::Reset { tensor: TensorName::QueryWeights.into(), row: 0, col: 0 });
    for command in [reset, reset_tensor(TensorName::QueryWeights), RESET_WEIGHTS] {
        kernel.apply(query(0, 0, 3.0));
        assert_eq!(weight(&kernel, 0, 0), 3.0);
        kernel.apply(command);
        assert_eq!((weight(&kernel, 0, 0), weight(&kernel, 0, 1)), trained);
    }
    kernel.apply(query(0, 0, 3.0));
    kernel.apply(query(0, 1, 4.0));
    kernel.apply(Command::Weights(WeightCommand::Reset { tensor: TensorName::QueryWeights.into(), row: 0, col: 0 }));
    assert_eq!((weight(&kernel, 0, 0), weight(&kernel, 0, 1)), (trained.0, 4.0));
}

#[test]
fn a_turned_weight_moves_the_attention_the_points_and_the_neighbours() {
    let mut kernel = run(&[PLAY]);
    let before = kernel.snapshot();
    kernel.apply(set(TensorName::ValueWeights, 0, 0, 30.0));
    kernel.apply(query(0, 0, 30.0));
    let after = kernel.snapshot();
    let sentence = |snapshot: &Snapshot| snapshot.model.as_ref().expect("a model").sentence.clone();
    let (before, after) = (sentence(&before), sentence(&after));
    let weights = |sentence: &SentenceSnapshot| sentence.activations.blocks[0].heads[0].weights.clone();
    assert_ne!(weights(&before), weights(&after));
    assert_ne!(before.end, after.end);
    assert_ne!(before.contextual_neighbours, after.contextual_neighbours);
    assert_eq!(before.end, after.trained_end, "the ghost stays where training left it");
    assert_eq!(before.start, after.start, "and so does the static point");
}

#[test]
fn a_notice_goes_with_the_next_command() {
    let mut kernel = run(&[]);
    kernel.apply(Command::Undo);
    assert!(kernel.snapshot().notice.is_some());
    kernel.apply(query(0, 0, 1.0));
    assert_eq!(kernel.snapshot().notice, None);
}

#[test]
fn a_weight_too_large_for_the_numbers_still_makes_a_snapshot() {
    let mut kernel = run(&[PLAY]);
    for col in 0..4 {
        kernel.apply(query(0, col, f32::MAX));
    }
    let snapshot = kernel.snapshot();
    assert!(StageModel::of(&snapshot).is_some());
    kernel.apply(RESET_WEIGHTS);
    assert_eq!(bits(&kernel.snapshot()), bits(&run(&[PLAY]).snapshot()));
}

#[test]
fn the_worker_answers_while_it_trains_and_opens_another_lesson() {
    let worker = Worker::spawn(lesson(), || ());
    assert_eq!(worker.latest().lesson.id, "small", "there is a snapshot at once");
    worker.send(PLAY);
    let trained = wait_for(&worker, |s| {
        s.model.as_ref().is_some_and(|m| !m.training.playing && m.training.progress.done == m.training.progress.of)
    });
    assert_eq!(bits(&trained), bits(&run(&[PLAY]).snapshot()), "with or without a thread");
    let mut other = Lesson::clone(&lesson());
    other.seed += 1;
    worker.open(Arc::new(other));
    let reopened = wait_for(&worker, |s| s.lesson.seed != trained.lesson.seed && s.model.is_some());
    assert_ne!(bits(&reopened), bits(&trained));
}

#[test]
fn a_copy_has_the_same_model_at_once_and_goes_its_own_way() {
    let worker = Worker::spawn(lesson(), || ());
    // Before it has a model there is nothing to change.
    wait_for(&worker, |s| s.model.is_some());
    for command in [PLAY, select(1), temperature(0.5), head(0, HeadMode::Frozen(None))] {
        worker.send(command);
    }
    let is_trained =
        |s: &Snapshot| s.model.as_ref().is_some_and(|m| m.training.progress.done == m.training.progress.of);
    wait_for(&worker, is_trained);
    worker.send(query(0, 1, 0.7));
    let own = wait_for(&worker, |s| s.model.as_ref().is_some_and(|m| !Arc::ptr_eq(&m.parameters, &m.trained)));
    let model = own.model.as_ref().expect("a model");

    let twin = Arc::new(Lesson::clone(&own.lesson));
    let copy = worker.copy(twin.clone(), || ());
    assert!(Arc::ptr_eq(&copy.latest().lesson, &twin), "no snapshot of it is one of the other");
    let copied = wait_for(&copy, |s| s.model.is_some());
    let same = copied.model.as_ref().expect("a model");
    wait_for(&worker, |_| worker.is_answered());
    assert_eq!(bits(&copied), bits(&own));
    assert!(Arc::ptr_eq(&same.parameters, &model.parameters) && Arc::ptr_eq(&same.trained, &model.trained));
    assert_eq!((same.sentence.index, &same.interventions), (model.sentence.index, &model.interventions));
    assert_eq!(same.training.checkpoints.steps, model.training.checkpoints.steps);
    assert!(Arc::ptr_eq(&copied.lesson, &twin) && Arc::ptr_eq(&same.made_of, &twin));

    copy.send(temperature(2.0));
    let of = |s: &Snapshot| s.model.as_ref().and_then(|model| model.interventions.temperature);
    wait_for(&copy, |s| of(s) == Some(2.0));
    assert!(worker.settle(std::time::Duration::from_secs(30)));
    assert_eq!((of(&worker.latest()), bits(&worker.latest())), (Some(0.5), bits(&own)));
}
