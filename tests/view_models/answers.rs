//! The Answers panel: the model's own probabilities, row by row, and the words that it writes on.

use attune_core::kernel::command::{InterventionCommand, SentenceCommand};
use attune_core::kernel::snapshot::sentence::probabilities;
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_engine::numerics::model::generate::NextWordChoice;
use attune_engine::numerics::params::TensorName;
use attune_view::explain::Provenance;
use attune_view::view_model::answers::{AnswersModel, AnswersWriting};

use crate::common::close::{Tolerance, assert_close_beside};
use crate::common::lessons::{form, set_weight, small};

fn next_word() -> Kernel {
    form("next_word")
}

fn answers(snapshot: &Snapshot) -> AnswersModel {
    AnswersModel::of(snapshot, None).expect("a model")
}

#[test]
fn each_row_has_the_likeliest_classes_of_its_logits() {
    for snapshot in [small().snapshot(), next_word().snapshot()] {
        let sentence = &snapshot.model.as_ref().expect("a model").sentence;
        let model = answers(&snapshot);
        assert!(model.is_by_token);
        assert_eq!(model.rows.len(), sentence.tokens.len());
        for (row, shown) in model.rows.iter().enumerate() {
            let mut all = probabilities(sentence.answers.logits.row(row));
            all.sort_by(|a, b| b.total_cmp(a));
            let named: Vec<f32> = shown.answers.iter().map(|answer| answer.probability).collect();
            assert_eq!(named, all[..named.len()]);
            let rest: f32 = all[named.len()..].iter().sum();
            assert_close_beside(1.0, "the rest", shown.rest(), rest, Tolerance::SINGLE_PASS);
        }
    }
}

#[test]
fn each_probability_can_be_asked_where_it_comes_from() {
    let snapshot = small().snapshot();
    for answer in answers(&snapshot).rows.iter().flat_map(|row| &row.answers) {
        let told = Provenance::of(&snapshot, answer.entry).expect("it is there");
        assert_eq!(told.explanation.value, answer.probability);
        assert!(told.name.contains(&answer.name), "{} is of {}", told.name, answer.name);
    }
}

#[test]
fn what_is_known_of_the_classes_is_kept() {
    let mut kernel = small();
    let first = answers(&kernel.snapshot());
    kernel.apply(Command::Interventions(InterventionCommand::SetTemperature(Some(0.5))));
    let turned = kernel.snapshot();
    assert_eq!(AnswersModel::of(&turned, Some(&first)), Some(answers(&turned)));
    assert_ne!(answers(&turned), first, "what is turned is answered");
}

#[test]
fn a_model_of_hidden_words_says_why_it_does_not_write() {
    let AnswersWriting::Cannot(why) = answers(&small().snapshot()).writing else { panic!("it cannot write") };
    assert!(why.contains("trained to fill in hidden words") && !why.contains("Masked"), "{why}");
}

#[test]
fn words_are_written_behind_the_sentence_and_age_with_the_weights() {
    let mut kernel = next_word();
    kernel.apply(Command::Sentence(SentenceCommand::Generate { count: 3, choice: NextWordChoice::Greedy }));
    let written = |kernel: &Kernel| match answers(&kernel.snapshot()).writing {
        AnswersWriting::Can { written: Some(written), .. } => written,
        other => panic!("{other:?}"),
    };
    let first = written(&kernel);
    let snapshot = kernel.snapshot();
    let model = snapshot.model.as_ref().expect("a model");
    assert_eq!((&first.before, &first.text), (&model.sentence.written(), &format!(" {}", first.words.join(" "))));
    assert_eq!(first.words.len(), 3);
    let last = answers(&snapshot).rows.pop().expect("a row");
    assert_eq!(first.words[0], last.answers[0].name, "the likeliest after the last word is written first");
    assert!(!first.said.contains("changed since"));
    kernel.apply(set_weight(TensorName::QueryWeights, 0, 0, 3.0));
    assert!(written(&kernel).said.contains("changed since"));
}
