//! Two sentences on one stage, in one basis, with the same weights.

use attune_core::kernel::command::SentenceCommand;
use attune_core::kernel::snapshot::{Pair, SentenceSnapshot};
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::params::TensorName;
use attune_engine::numerics::vectors::cosine;
use attune_view::view_model::compare::CompareModel;
use attune_view::view_model::stage::StageModel;

use crate::common::close::{Tolerance, assert_close};
use crate::common::commands::{beside, head, sentence, set, temperature, toggle};
use crate::common::lessons::{notice, with};

fn second(snapshot: &Snapshot) -> &Pair<SentenceSnapshot> {
    snapshot.model.as_ref().and_then(|model| model.second.as_deref()).expect("a second sentence")
}

#[test]
fn the_second_sentence_is_what_it_would_be_by_itself() {
    let turned = [set(TensorName::ValueWeights, 0, 0, 2.0), temperature(0.5)];
    let both = with(&[&turned[..], &[beside("a seal is happy")]].concat()).snapshot();
    let alone = with(&[&turned[..], &[sentence("a seal is happy")]].concat()).snapshot();
    let (both, alone) = (&second(&both).other, &alone.model.as_ref().expect("a model").sentence);
    assert_eq!((both.index, &both.tokens), (Some(1), &alone.tokens));
    assert!(both.activations.output == alone.activations.output);
    assert_eq!((&both.end, &both.trained_end), (&alone.end, &alone.trained_end));
}

#[test]
fn what_belongs_to_the_first_sentence_alone_leaves_the_second() {
    let own = [toggle(1, 0), head(0, HeadMode::Frozen(None))];
    let kernel = with(&[&own[..], &[beside("a seal is happy")]].concat());
    let plain = with(&[beside("a seal is happy")]);
    let (snapshot, plain) = (kernel.snapshot(), plain.snapshot());
    assert!(second(&snapshot).other.activations.output == second(&plain).other.activations.output);
}

#[test]
fn a_shared_word_starts_as_one_and_is_taken_apart() {
    let snapshot = with(&[beside("a seal is happy")]).snapshot();
    let model = snapshot.model.as_ref().expect("a model");
    let second = second(&snapshot);
    let of = |position: usize| second.words.iter().filter(move |shared| shared.first == position);
    let seal = of(1).next().expect("seal is in both");
    assert_eq!((seal.second, of(1).count(), of(0).count()), (1, 1, 0), "`the` is not in the second");
    assert_close("before", seal.before.cosine, 1.0, Tolerance::SINGLE);
    assert_eq!(seal.before.distance, 0.0);
    let outputs = [model.sentence.activations.output.row(1), second.other.activations.output.row(1)];
    assert_eq!(seal.after.cosine, cosine(outputs[0], outputs[1]));
    assert!(seal.after.distance > 0.0);
    let stage = StageModel::of(&snapshot).expect("a space");
    assert_eq!(stage.tokens[1].start, stage.second[1].start);
    assert_ne!(stage.tokens[1].end, stage.second[1].end);
    assert!(stage.is_in_sentence(stage.words.iter().position(|word| word.text == "happy").expect("a word")));
}

#[test]
fn every_pair_of_occurrences_is_told_and_the_furthest_apart_first() {
    let first = sentence("the seal swam while the seal sank");
    let compare =
        |text: &str| CompareModel::of(&with(&[first.clone(), beside(text)]).snapshot()).expect("two sentences");
    let model = compare("the seal is a seal");
    let labels = |word: &str| {
        let pairs = model.pairs.iter().filter(|pair| pair.word == word).map(|pair| pair.labels.join(" "));
        let mut labels: Vec<String> = pairs.collect();
        labels.sort();
        labels
    };
    assert_eq!(labels("the"), ["the₁ the′", "the₂ the′"]);
    assert_eq!(labels("seal"), ["seal₁ seal₁′", "seal₁ seal₂′", "seal₂ seal₁′", "seal₂ seal₂′"]);
    assert!(model.pairs.windows(2).all(|pair| pair[0].paired.after.cosine <= pair[1].paired.after.cosine));
    assert_eq!(model.chosen(Some(5), None, &[]).map(|pair| (pair.word.as_str(), pair.paired.first)), Some(("seal", 5)));
    assert_eq!(model.chosen(None, None, &["the".to_owned()]).map(|pair| pair.word.as_str()), Some("the"));
    let second = model.chosen(Some(1), Some(4), &["the".to_owned()]).expect("a pair");
    assert_eq!((second.paired.first, second.paired.second), (1, 4));
    assert_eq!(model.chosen(Some(2), None, &[]), model.pairs.first(), "swam is not shared");
    let pair = &model.pairs[0];
    assert_eq!(
        pair.said,
        format!(
            "{} and {} have the same static vector, but different contextual vectors.",
            pair.labels[0], pair.labels[1]
        )
    );
    assert!(pair.near.iter().all(|near| near.len() == 5 && near.iter().all(|near| near.word != pair.word)));

    let none = compare("a duck is happy");
    assert!(none.pairs.is_empty() && none.none.is_some() && none.chosen(None, None, &[]).is_none());
    let same = compare("the seal swam while the seal sank");
    let itself = same.pairs.iter().find(|pair| pair.paired.first == 2).expect("swam");
    assert!(itself.said.ends_with("and the same contextual vector."), "{}", itself.said);
}

#[test]
fn typing_the_second_sentence_undoes_as_one_and_its_begin_by_itself() {
    let mut kernel = with(&[beside("a seal is happy"), beside("a seal is"), beside("a seal is warm")]);
    let words = |kernel: &Kernel| {
        let model = kernel.snapshot().model.expect("a model");
        model.second.as_ref().map(|second| second.other.chosen().last().expect("a word").text.clone())
    };
    for (command, expected) in [
        (None, Some("warm")),
        (Some(Command::Undo), Some("happy")),
        (Some(Command::Undo), None),
        (Some(Command::Redo), Some("happy")),
        (Some(Command::Redo), Some("warm")),
        (Some(Command::Sentence(SentenceCommand::SetSecond(None))), None),
        (Some(Command::Undo), Some("warm")),
    ] {
        command.into_iter().for_each(|command| kernel.apply(command));
        assert_eq!(words(&kernel).as_deref(), expected);
    }
    let refused =
        [("", "the sentence has no words"), ("zebra", "the word \"zebra\" is not in the lesson's vocabulary of 17")];
    for (text, why) in refused {
        kernel.apply(beside(text));
        assert_eq!(notice(&kernel).as_deref(), Some(why));
        assert_eq!(words(&kernel).as_deref(), Some("warm"), "the last good one stays");
    }
}

#[test]
fn typing_a_sentence_undoes_as_one_until_it_is_done() {
    let typed = |text: &str| Command::Sentence(SentenceCommand::Type(text.to_owned()));
    let words = |kernel: &Kernel| kernel.snapshot().model.expect("a model").sentence.tokens.len();
    let mut kernel = with(&[typed("a"), typed("a seal"), sentence("a seal"), typed("the duck swam"), typed("the")]);
    kernel.apply(typed("the du"));
    assert!(kernel.snapshot().notice.is_some());
    kernel.apply(typed("the duck"));
    for (command, expected) in [(Command::Undo, 2), (Command::Undo, 7), (Command::Redo, 2), (Command::Redo, 2)] {
        kernel.apply(command);
        assert_eq!(words(&kernel), expected);
    }
    // A first letter that changes nothing does not hide what comes after it.
    let mut kernel = with(&[typed("the seal sank while a duck swam"), typed("a seal")]);
    kernel.apply(Command::Undo);
    assert_eq!(words(&kernel), 7);
}
