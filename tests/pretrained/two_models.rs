//! Two models on one sentence: the words of both, their answers, and what is said where they do not fit.

use std::sync::Arc;

use attune_core::kernel::command::SentenceCommand;
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_core::lesson;
use attune_view::explain::walk::RouteModel;
use attune_view::view_model::compare::TwoModels;
use attune_view::view_model::{ModelBeside, Models};

use crate::common::close::{Tolerance, assert_close};
use crate::common::folder::Folder;
use crate::common::models::with_tokenizer;
use crate::opened::{opened, running};
use crate::written::Model;

const TEXT: &str = "the bank of the river";

fn snapshot(name: &str, text: &str) -> Arc<Snapshot> {
    snapshot_of(&with_tokenizer(name), text)
}

fn snapshot_of(folder: &Folder, text: &str) -> Arc<Snapshot> {
    let mut kernel = running(&opened(&folder.0));
    kernel.apply(Command::Sentence(SentenceCommand::Set(text.to_owned())));
    Arc::new(kernel.snapshot())
}

fn compared(first: &Arc<Snapshot>, second: Arc<Snapshot>) -> Arc<TwoModels> {
    let beside = ModelBeside(second);
    Models::of(first.clone()).of_choice::<TwoModels>(&beside).expect("a model")
}

#[test]
fn a_model_is_like_itself_in_every_layer() {
    let first = snapshot("bert-wild", TEXT);
    let both = compared(&first, first.clone());
    assert_eq!((both.refusal.as_deref(), both.notes.len()), (None, 0), "{:?}", both.notes);
    for (layer, row) in both.similarity.iter().enumerate() {
        assert_close(format!("layer {layer}"), row[layer].expect("a number"), 1.0, Tolerance::DOUBLE_SUMS);
    }
    for word in &both.words {
        assert_eq!(word.of[0], word.of[1]);
        assert_close(&word.label, word.attention.expect("a cosine"), 1.0, Tolerance::DOUBLE_SUMS);
    }
    let labels: Vec<&str> = both.words.iter().map(|word| word.label.as_str()).collect();
    assert_eq!(labels, ["the₁", "bank", "of", "the₂", "river"], "without [CLS] and [SEP]");
    let [picture, other] = &both.pictures;
    assert_eq!(picture, other);
    assert_eq!(picture.moves.iter().map(|way| way.label.as_str()).collect::<Vec<_>>(), labels);
    assert!(picture.dots.is_empty(), "the table of a real model is hidden");
    // Each has its own probabilities, the likeliest first.
    let answers = &both.words[1].of[0].answers;
    assert!(answers.len() > 1 && answers[0].1 >= answers[1].1);
}

#[test]
fn a_model_without_a_head_answers_nothing() {
    let folder = with_tokenizer("bert-wild");
    let mut body = Model::of("bert-wild");
    body.weights.tensors.retain(|tensor| !tensor.name.starts_with("cls."));
    body.put(&folder);
    let second = snapshot_of(&folder, TEXT);
    let both = compared(&snapshot("bert-wild", TEXT), second.clone());
    assert_eq!(both.notes, [format!("{} has no readout, so it gives no answers.", second.lesson.title)]);
    assert!(both.words.iter().all(|word| !word.of[0].answers.is_empty() && word.of[1].answers.is_empty()));
    assert!(both.similarity[3][3].is_some_and(|alike| alike > 0.999), "its layers are compared");
}

#[test]
fn two_tokenizers_are_compared_by_words() {
    let both = compared(&snapshot("bert-wild", TEXT), snapshot("gpt2-wild", TEXT));
    assert_eq!(both.refusal, None);
    assert!(both.notes.iter().any(|note| note.contains("differently")), "{:?}", both.notes);
    assert_eq!(both.words.len(), 5, "{:?}", both.words);
    assert_eq!((both.similarity.len(), both.similarity[0].len()), (4, 4), "embeddings and three layers each");
    assert!(both.similarity.iter().flatten().all(|alike| alike.is_some_and(|alike| (0.0..=1.0).contains(&alike))));
    assert!(
        both.said.as_deref().is_some_and(|said| said.starts_with("The most similar layers are layer ")),
        "{:?}",
        both.said
    );
    let labels: Vec<&str> = both.words.iter().map(|word| word.label.as_str()).collect();
    for picture in &both.pictures {
        assert_eq!(picture.moves.iter().map(|way| way.label.as_str()).collect::<Vec<_>>(), labels, "words, not pieces");
    }
    let river = both.words.last().expect("words");
    assert_eq!(both.chosen(None), Some(river), "the last where none is chosen");
    assert_eq!(both.chosen(Some(2)).map(|word| word.label.as_str()), Some("bank"), "behind [CLS] and the");
}

#[test]
fn what_does_not_fit_is_said() {
    let first = snapshot("bert-wild", TEXT);
    let refused = |second: Arc<Snapshot>, words: &str| {
        let why = compared(&first, second).refusal.clone().expect("a refusal");
        assert!(why.contains(words), "{why}");
    };
    refused(snapshot("bert-wild", "another sentence"), "does not read this sentence");
    let lesson = lesson::parse("bank.ron", include_str!("../../lessons/bank.ron")).expect("no issues");
    let mut kernel = Kernel::embedded(Arc::new(lesson));
    refused(Arc::new(Kernel::open(kernel.snapshot().lesson, None).snapshot()), "is being trained");
    kernel.apply(Command::Sentence(SentenceCommand::Set("the ocean".to_owned())));
    refused(Arc::new(kernel.snapshot()), "ocean");
    let few = compared(&snapshot("bert-wild", "a bank"), snapshot("gpt2-wild", "a bank"));
    assert!(
        few.similarity.is_empty() && few.notes.iter().any(|note| note.contains("at least 4 words")),
        "{:?}",
        few.notes
    );
}

/// Where a word of the second sentence stands behind each layer, it stands too when that sentence is the first.
#[test]
fn a_second_sentence_passes_the_layers_as_the_first_does() {
    const OTHER: &str = "a bank by the river";
    let folder = with_tokenizer("bert-wild");
    let mut kernel = running(&opened(&folder.0));
    kernel.apply(Command::Sentence(SentenceCommand::Set(TEXT.to_owned())));
    kernel.apply(Command::Sentence(SentenceCommand::SetSecond(Some(OTHER.to_owned()))));
    let beside = RouteModel::of(&kernel.snapshot()).expect("a route");
    kernel.apply(Command::Sentence(SentenceCommand::Set(OTHER.to_owned())));
    let snapshot = kernel.snapshot();
    let (alone, model) = (RouteModel::of(&snapshot).expect("a route"), snapshot.model.expect("a model"));
    assert_eq!(beside.layers.len(), 3);
    for token in 0..model.sentence.tokens.len() {
        for layer in 0..beside.layers.len() {
            let way = beside.second_way(token, layer);
            assert!(way.is_some() && way == alone.way(token, layer), "token {token}, layer {layer}: {way:?}");
        }
    }
}
