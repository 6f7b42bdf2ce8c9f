//! Recordings as lessons: the snapshot has the file's numbers, and nothing that was not recorded.

use std::path::PathBuf;
use std::sync::Arc;

use attune_core::kernel::command::{InterventionCommand, SentenceCommand, TrainingCommand, WeightCommand};
use attune_core::kernel::snapshot::ModelSnapshot;
use attune_core::kernel::{Command, Kernel, Saved, Snapshot};
use attune_core::lesson;
use attune_engine::numerics::Matrix;
use attune_engine::recording::parts::Part;
use attune_engine::recording::{RecordedText, Recording};

use crate::common::close::{Tolerance, assert_close_beside};
use crate::common::top::at;

const FOLDERS: [&str; 9] =
    ["attention-only", "bert", "llama-gqa", "senses", "sinks", "t5", "vit", "with-proof", "wrong-proof"];

fn path(folder: &str) -> PathBuf {
    at("tests/fixtures/recordings").join(folder).join("run.safetensors")
}

fn opened(folder: &str) -> Kernel {
    let lesson = lesson::read(&path(folder)).unwrap_or_else(|issues| panic!("{folder}: {issues:?}"));
    let mut kernel = Kernel::embedded(Arc::new(lesson));
    assert_eq!(kernel.notice(), None, "{folder}");
    kernel.settle();
    kernel
}

fn model(snapshot: &Snapshot) -> &ModelSnapshot {
    snapshot.model.as_ref().expect("a recording opens")
}

/// The weights of all heads of a text, in the order of the blocks.
fn weights(recording: &Recording, text: &RecordedText) -> Vec<Matrix<f32>> {
    let of = |attention: &attune_engine::recording::Attention| {
        let matrix =
            |head| recording.matrix(attention.part(Part::Attentions).expect("weights"), head).expect("numbers");
        (0..attention.heads).map(matrix).collect::<Vec<_>>()
    };
    text.attentions.iter().flat_map(of).collect()
}

#[test]
fn the_weights_are_those_of_the_file_bit_for_bit() {
    for folder in FOLDERS {
        let recording = Recording::open(&path(folder)).expect("a recording");
        let mut kernel = opened(folder);
        for (number, text) in recording.texts.iter().enumerate() {
            kernel.apply(Command::Sentence(SentenceCommand::Select(number)));
            assert_eq!(kernel.notice(), None, "{folder}");
            let snapshot = kernel.snapshot();
            let shown: Vec<&Matrix<f32>> =
                model(&snapshot).sentence.activations.heads().map(|head| &head.weights).collect();
            let expected = weights(&recording, text);
            assert_eq!(shown.len(), expected.len(), "{folder}");
            for (shown, expected) in shown.iter().zip(&expected) {
                let bits = |matrix: &Matrix<f32>| matrix.flat().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(shown), bits(expected), "{folder}");
            }
        }
    }
}

#[test]
fn no_number_is_made_up_for_a_part_that_was_not_recorded() {
    for folder in FOLDERS {
        let snapshot = opened(folder).snapshot();
        let model = model(&snapshot);
        let pass = model.recorded.as_ref().expect("what was recorded");
        assert_eq!(pass.trouble, None, "{folder}");
        let mut heads = model.sentence.activations.blocks.iter().zip(&pass.blocks);
        for (block, parts) in &mut heads {
            for head in &block.heads {
                for matrix in [&head.query, &head.key, &head.value, &head.weights, &head.mix] {
                    assert!(matrix.flat().iter().all(|x| x.is_finite()), "{folder}");
                }
                assert!(head.scores.flat().iter().all(|x| !x.is_nan()), "{folder}");
                assert_eq!(parts.values, head.mix.cols() > 0, "{folder}");
                assert_eq!(parts.scores, head.query.cols() > 0, "{folder}");
            }
            assert_eq!(parts.states, block.output.cols() > 0, "{folder}");
            assert!(block.output.flat().iter().all(|x| x.is_finite()), "{folder}");
        }
        assert_eq!(model.sentence.arithmetic.len(), model.architecture.heads(), "{folder}");
    }
}

#[test]
fn arrows_meet_the_hidden_states() {
    for folder in ["bert", "llama-gqa", "senses", "sinks", "t5", "vit", "with-proof"] {
        let snapshot = opened(folder).snapshot();
        let model = model(&snapshot);
        let blocks = model.architecture.numbered_blocks().zip(&model.sentence.activations.blocks);
        for (((_, config), block), contributions) in blocks.zip(&model.sentence.contributions) {
            let error = contributions.error(config, block);
            assert_close_beside(1.0, folder, error, 0.0, Tolerance::SINGLE_SUMS);
        }
    }
}

#[test]
fn what_would_need_the_model_is_refused_and_changes_nothing() {
    let mut kernel = opened("bert");
    let before = kernel.snapshot();
    let commands = [
        Command::Weights(WeightCommand::ResetAll),
        Command::Interventions(InterventionCommand::SetTemperature(Some(2.0))),
        Command::Training(TrainingCommand::Step(1)),
        Command::Training(TrainingCommand::SetLearningRate(0.5)),
        Command::Sentence(SentenceCommand::Set("another text".to_owned())),
        Command::Sentence(SentenceCommand::Words(vec!["the".to_owned()])),
        Command::Retrain(Box::default()),
    ];
    for command in commands {
        kernel.apply(command.clone());
        let notice = kernel.notice().unwrap_or_default().to_owned();
        assert!(notice.contains("a recording holds one pass"), "{command:?}: {notice}");
        let after = kernel.snapshot();
        assert_eq!(after.history, before.history);
        assert!(Arc::ptr_eq(&model(&after).sentence, &model(&before).sentence), "{command:?}");
    }
}

#[test]
fn saved_work_on_a_recording_comes_back() {
    let mut kernel = opened("senses");
    kernel.apply(Command::Sentence(SentenceCommand::Select(2)));
    let second = kernel.snapshot().lesson.sentences[1][0].clone();
    kernel.apply(Command::Sentence(SentenceCommand::SetSecond(Some(second))));
    assert_eq!(kernel.notice(), None);
    let snapshot = kernel.snapshot();
    let mut again = Kernel::open(snapshot.lesson.clone(), Some(Saved::of(&snapshot)));
    again.settle();
    let again = again.snapshot();
    assert_eq!(again.report, Arc::from([]));
    assert_eq!(model(&again).sentence.index, Some(2));
    assert_eq!(model(&again).second.as_ref().and_then(|second| second.other.index), Some(1));
    assert!(!model(&again).second.as_ref().expect("a second text").words.is_empty(), "words that both have");
}
