//! Questions about the lesson's model: whatever the learner has changed, the right choice of a prediction stays the
//! same.

use std::collections::BTreeSet;
use std::sync::Arc;

use attune_core::kernel::command::{InterventionCommand, SentenceCommand, TrainingCommand, WeightCommand};
use attune_core::kernel::notebook::CellCommand;
use attune_core::kernel::notebook::snapshot::Verdict;
use attune_core::kernel::{Command, Kernel};
use attune_core::lesson::cells::CellKind;
use attune_core::lesson::{Lesson, Recipe, course};
use attune_engine::numerics::attention::{Edge, HeadMode, Mask, MaskTable};
use attune_engine::numerics::model::activations::Patch;

use crate::common::commands::{RESET, beside, heads, of_cell, retraining, scrub, select, sentence, temperature};
use crate::common::lessons::{apply, found, model, of_file};
use crate::common::top::at;

/// The ids of a lesson's predictions.
fn predictions(lesson: &Lesson) -> Vec<String> {
    let is_it = |kind: &CellKind| matches!(kind, CellKind::Predict(_));
    lesson.cells.iter().filter(|cell| is_it(&cell.kind)).map(|cell| cell.id.clone()).collect()
}

/// The right choice of each prediction, with what is shown beside it.
fn answers(kernel: &mut Kernel, lesson: &Lesson) -> Vec<(String, String)> {
    let answer = |id: &String| {
        apply(kernel, of_cell(id, CellCommand::Choose(0)));
        apply(kernel, of_cell(id, CellCommand::Reveal));
        let run = found(kernel, id).run.unwrap_or_else(|| panic!("{}: {id} did not run", lesson.id));
        let Some(Verdict::Prediction { right }) = run.verdict else { panic!("{}: {id}: {:?}", lesson.id, run.fault) };
        (id.clone(), format!("{right}: {:?}", run.outputs))
    };
    predictions(lesson).iter().map(answer).collect()
}

/// What a learner may leave changed, each by itself.
fn changes(kernel: &Kernel) -> Vec<(&'static str, Vec<Command>)> {
    let of = |command| vec![Command::Interventions(command)];
    let snapshot = kernel.snapshot();
    let (now, lesson) = (model(kernel), &snapshot.lesson);
    let (all, tokens) = (now.architecture.heads(), now.sentence.tokens.len());
    let itself = Mask::custom(MaskTable::from_fn(tokens, tokens, |query, key| query == key));
    let first = now.architecture.source_blocks.len();
    let own = now.architecture.heads_of(first).start;
    let edge = Edge { head: own, query: tokens - 1, key: 0 };
    let last = SentenceCommand::Select(lesson.sentences.len() - 1);
    let turned: Vec<Command> = now
        .parameters
        .specs()
        .iter()
        .map(|spec| Command::Weights(WeightCommand::Perturb { tensor: spec.id, scale: 0.5, draw: 1 }))
        .collect();
    let patch = Patch { block: first, position: 0, from: tokens - 1, vector: None };
    let second = now.sentence.written();
    vec![
        ("temperature", vec![temperature(20.0)]),
        ("scale", of(InterventionCommand::SetScale(Some(false)))),
        ("heads off", vec![heads(0..all, HeadMode::Off)]),
        ("heads uniform", vec![heads(0..all, HeadMode::Uniform)]),
        ("mask", of(InterventionCommand::SetMask(Some(itself)))),
        ("edge", of(InterventionCommand::SetEdge { edge, is_removed: true })),
        ("patch", vec![beside(&second), Command::Interventions(InterventionCommand::SetPatch(Some(patch)))]),
        ("weights", turned),
        ("another sentence", vec![Command::Sentence(last)]),
        ("start of training", vec![scrub(0)]),
        ("reset of training", vec![RESET]),
    ]
}

#[test]
fn every_prediction_is_judged_by_the_lessons_model() {
    let mut count = 0;
    for file in course::list(&at("lessons")) {
        let lesson = Arc::new(of_file(&file.path));
        if predictions(&lesson).is_empty() {
            continue;
        }
        let trained = Kernel::trained(lesson.clone());
        let given = answers(&mut trained.copy(Arc::new(Lesson::clone(&lesson))), &lesson);
        count += given.len();
        for (name, commands) in changes(&trained) {
            let mut kernel = trained.copy(Arc::new(Lesson::clone(&lesson)));
            // Not every lesson has what is changed.
            commands.into_iter().for_each(|command| apply(&mut kernel, command));
            assert_eq!(answers(&mut kernel, &lesson), given, "{}: {name}", lesson.id);
        }
    }
    assert!(count > 60, "{count} predictions");
}

/// A lesson with a question about one weight of its model, and the same number in the texts around it.
fn asked() -> Arc<Lesson> {
    let text = crate::common::lessons::with_cells(
        crate::common::lessons::SMALL,
        r##"
        Predict(
            id: "guess", ask: "Is it {{ A[0][0, 1] | .6 }}?", choices: ["small", "large"],
            answer: "if A[0][0, 1] < 0.5 { 0 } else { 1 }", shows: "A[0][0, 1]", explain: "It is {{ A[0][0, 1] | .6 }}.",
        ),
    "##,
    );
    crate::common::lessons::lesson(&text)
}

/// What the cell shows of the number: in its output, and in its texts.
fn numbers(kernel: &Kernel) -> Vec<String> {
    let cell = found(kernel, "guess");
    let outputs = cell.run.expect("it ran").outputs.clone();
    let values = cell.live.and_then(|live| live.values).expect("they are evaluated");
    let all = values.values.iter().map(|value| format!("{:?}", value.value.as_ref().map(|value| format!("{value:?}"))));
    std::iter::once(format!("{outputs:?}")).chain(all).collect()
}

fn revealed(kernel: &mut Kernel) -> Vec<String> {
    apply(kernel, of_cell("guess", CellCommand::Choose(0)));
    apply(kernel, of_cell("guess", CellCommand::Reveal));
    numbers(kernel)
}

#[test]
fn the_explanation_of_a_prediction_is_about_the_lessons_model_too() {
    let trained = Kernel::trained(asked());
    let given = revealed(&mut trained.copy(asked()));
    let sentence = sentence("the duck swam");
    for command in [temperature(3.0), heads(0..2, HeadMode::Uniform), select(1), sentence, RESET, scrub(1)] {
        let mut kernel = trained.copy(asked());
        apply(&mut kernel, command.clone());
        assert_eq!(kernel.notice(), None, "{command:?}");
        assert_eq!(revealed(&mut kernel), given, "{command:?}");
    }
    // Changed after the answer was given.
    let mut kernel = trained.copy(asked());
    revealed(&mut kernel);
    apply(&mut kernel, temperature(3.0));
    assert_eq!(numbers(&kernel), given);
}

#[test]
fn the_lessons_model_is_trained_where_a_question_first_needs_it() {
    let given = revealed(&mut Kernel::trained(asked()));
    let recipe = Recipe { seed: Some(9), ..Recipe::default() };
    // Opened as it was left after a retraining, or with changes on the way of training: the lesson's model was never
    // there.
    let mut retrained = Kernel::trained(asked());
    apply(&mut retrained, retraining(recipe));
    let mut changed = Kernel::embedded(asked());
    for command in [
        Command::Training(TrainingCommand::Step(3)),
        Command::Training(TrainingCommand::SetLearningRate(0.2)),
        Command::Training(TrainingCommand::Step(3)),
    ] {
        apply(&mut changed, command);
    }
    // Nothing is trained yet.
    let fresh = Kernel::embedded(asked());
    for left in [retrained, changed, fresh] {
        let saved = attune_core::kernel::Saved::of(&left.snapshot());
        for mut kernel in [left, Kernel::open(asked(), Some(saved))] {
            kernel.settle();
            let steps = kernel.steps_done();
            assert_eq!(revealed(&mut kernel), given);
            assert_eq!(kernel.steps_done(), steps, "the learner's training stands where it was");
        }
    }
}

/// A learner sees the one for the chosen answer, so each says something of its own.
#[test]
fn every_prediction_has_a_reason_for_each_choice() {
    for file in course::list(&at("lessons")) {
        let lesson = of_file(&file.path);
        for cell in &lesson.cells {
            let CellKind::Predict(predict) = &cell.kind else { continue };
            let reasons: BTreeSet<&str> = predict.reasons.iter().map(|reason| &**reason).collect();
            let (found, choices) = (reasons.len(), predict.choices.len());
            assert_eq!((found, predict.reasons.len()), (choices, choices), "{}: {}", lesson.id, cell.id);
        }
    }
}
