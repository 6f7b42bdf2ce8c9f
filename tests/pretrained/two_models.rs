//! Two models on one sentence: the words of both, their answers, and what is said where they do not fit.

use std::path::Path;
use std::sync::Arc;

use attune_core::kernel::command::SentenceCommand;
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_core::lesson;
use attune_view::explain::walk::RouteModel;
use attune_view::view_model::two_models::{SideOfBoth, TwoModels};
use attune_view::view_model::{ModelBeside, Models};

use crate::common::close::{Tolerance, assert_close};
use crate::common::folder::Folder;
use crate::common::models::{fixture, with_tokenizer};
use crate::common::top::at;
use crate::opened::{opened, running};
use crate::written::Model;

const TEXT: &str = "the bank of the river";

fn snapshot(name: &str, text: &str) -> Arc<Snapshot> {
    snapshot_of(&with_tokenizer(name), text)
}

fn snapshot_of(folder: &Folder, text: &str) -> Arc<Snapshot> {
    snapshot_at(&folder.0, text)
}

fn snapshot_at(folder: &Path, text: &str) -> Arc<Snapshot> {
    let mut kernel = running(&opened(folder));
    kernel.apply(Command::Sentence(SentenceCommand::Set(text.to_owned())));
    Arc::new(kernel.snapshot())
}

fn compared(first: &Arc<Snapshot>, second: Arc<Snapshot>) -> Arc<TwoModels> {
    let beside = ModelBeside(second);
    Models::of(first.clone()).of_choice::<TwoModels>(&beside).expect("a model")
}

/// The side of models with one sentence.
fn alone(both: &TwoModels) -> &SideOfBoth {
    assert_eq!((both.sides.len(), both.targets.as_ref()), (1, None));
    assert_eq!(both.sides[0].title, None);
    &both.sides[0]
}

fn labels(side: &SideOfBoth) -> Vec<&str> {
    side.words.iter().map(|word| word.label.as_str()).collect()
}

#[test]
fn a_model_is_like_itself_in_every_layer() {
    let first = snapshot("bert-wild", TEXT);
    let both = compared(&first, first.clone());
    assert_eq!((both.refusal.as_deref(), both.notes.len()), (None, 0), "{:?}", both.notes);
    let side = alone(&both);
    check_like_itself(side);
    assert_eq!(labels(side), ["the₁", "bank", "of", "the₂", "river"], "without [CLS] and [SEP]");
    let picture = &side.pictures[0];
    assert_eq!(picture.moves.iter().map(|way| way.label.as_str()).collect::<Vec<_>>(), labels(side));
    assert!(picture.dots.is_empty(), "the table of a real model is hidden");
    // Each has its own probabilities, the likeliest first.
    let answers = &side.words[1].of[0].answers;
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
    let side = alone(&both);
    assert!(side.words.iter().all(|word| !word.of[0].answers.is_empty() && word.of[1].answers.is_empty()));
    assert!(side.similarity[3][3].is_some_and(|alike| alike > 0.999), "its layers are compared");
}

#[test]
fn two_tokenizers_are_compared_by_words() {
    let both = compared(&snapshot("bert-wild", TEXT), snapshot("gpt2-wild", TEXT));
    assert_eq!(both.refusal, None);
    assert!(both.notes.iter().any(|note| note.contains("differently")), "{:?}", both.notes);
    let side = alone(&both);
    assert_eq!(side.words.len(), 5, "{:?}", side.words);
    assert_eq!((side.similarity.len(), side.similarity[0].len()), (4, 4), "embeddings and three layers each");
    assert!(side.similarity.iter().flatten().all(|alike| alike.is_some_and(|alike| (0.0..=1.0).contains(&alike))));
    assert!(
        side.said.as_deref().is_some_and(|said| said.starts_with("The most similar layers are layer ")),
        "{:?}",
        side.said
    );
    for picture in &side.pictures {
        let moves: Vec<&str> = picture.moves.iter().map(|way| way.label.as_str()).collect();
        assert_eq!(moves, labels(side), "words, not pieces");
    }
    let river = side.words.last().expect("words");
    assert_eq!(both.chosen(0, None), Some(river), "the last where none is chosen");
    assert_eq!(both.chosen(0, Some(2)).map(|word| word.label.as_str()), Some("bank"), "behind [CLS] and the");
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
        alone(&few).similarity.is_empty() && few.notes.iter().any(|note| note.contains("at least 4 words")),
        "{:?}",
        few.notes
    );
}

/// Checks a side of a model beside itself.
#[track_caller]
fn check_like_itself(side: &SideOfBoth) {
    for (layer, row) in side.similarity.iter().enumerate() {
        assert_close(format!("layer {layer}"), row[layer].expect("a number"), 1.0, Tolerance::DOUBLE_SUMS);
    }
    for word in &side.words {
        assert_eq!(word.of[0], word.of[1]);
        assert_close(&word.label, word.attention.expect("a cosine"), 1.0, Tolerance::DOUBLE_SUMS);
    }
    assert_eq!(side.pictures[0], side.pictures[1]);
    assert_eq!(side.pictures[0].moves.len(), side.words.len());
}

#[test]
fn a_translator_is_like_itself_on_both_sides() {
    let folder = at("lessons/translator");
    let first = snapshot_at(&folder, "the hungry bat does not see the broken crane");
    let both = compared(&first, first.clone());
    assert_eq!((both.refusal.as_deref(), both.notes.len()), (None, 0), "{:?}", both.notes);
    let target = "la pipista famina lo elevato rompo ne vide".to_owned();
    assert_eq!(both.targets, Some([target.clone(), target.clone()]), "without the start token");
    let [source, written] = &both.sides[..] else { panic!("two sides") };
    assert_eq!([source.title, written.title], [Some("Source"), Some("Target")]);
    [source, written].into_iter().for_each(check_like_itself);
    assert_eq!(labels(source).join(" "), "the₁ hungry bat does not see the₂ broken crane");
    assert_eq!(labels(written).join(" "), target);
    // Its embeddings, and two layers of each tower, although a layer of the decoder is two blocks.
    assert_eq!([source, written].map(|side| side.similarity.len()), [3, 3]);
    assert!(source.words.iter().all(|word| word.of[0].answers.is_empty()), "answers are those of the target");
    // At a word of the target, the next one is answered; where it looks is the mean of all heads of cross-attention.
    let bat = &written.words[1];
    assert_eq!(bat.of[0].answers[0].0, "famina");
    let looks = bat.of[0].looks_at.as_ref().expect("a word of the source");
    assert!(labels(source).contains(&&*looks.0), "{looks:?}");
    let model = first.model.as_ref().expect("a model");
    let cross = model.architecture.numbered_blocks().filter(|(_, config)| config.attends_to_source());
    let heads = cross.flat_map(|(block, _)| &model.sentence.activations.blocks[block].heads);
    let column = labels(source).iter().position(|label| *label == looks.0).expect("a column");
    let of_heads: Vec<f64> = heads.map(|head| head.weights.get(2, column).into()).collect();
    assert_close("the weight", looks.1, of_heads.iter().sum::<f64>() / of_heads.len() as f64, Tolerance::DOUBLE_SUMS);
    // The word of the source that is shown is the one at which the chosen word of the target looks.
    assert_eq!(both.chosen(0, Some(2)).map(|word| &word.label), Some(&looks.0));
    assert_eq!(both.chosen(1, Some(2)), Some(bat));
}

/// The pieces of the three tokenizers differ, and so do the depths of both towers.
#[test]
fn translators_of_two_families_are_compared_by_the_words_of_source_and_target() {
    const PAIR: &str = "the point has a point ||| a point of the point";
    let layers = |name: &str| match name {
        "bart-wild" => [4, 3],
        _ => [3, 4],
    };
    let all = ["t5-wild", "marian-wild", "bart-wild"];
    for (first, second) in all.iter().flat_map(|first| all.map(|second| (*first, second))) {
        let both = compared(&snapshot_at(&fixture(first), PAIR), snapshot_at(&fixture(second), PAIR));
        assert_eq!(both.refusal, None, "{first}, {second}");
        let targets = both.targets.as_ref().expect("targets");
        assert_eq!(targets, &["a point of the point", "a point of the point"], "{first}, {second}");
        assert_eq!(labels(&both.sides[0]), ["the", "point₁", "has", "a", "point₂"], "{first}, {second}");
        assert_eq!(labels(&both.sides[1]), ["a", "point₁", "of", "the", "point₂"], "{first}, {second}");
        for (side, of) in both.sides.iter().enumerate() {
            let map = (of.similarity.len(), of.similarity[0].len());
            assert_eq!(map, (layers(first)[side], layers(second)[side]), "{first}, {second}");
            assert!(
                of.similarity.iter().flatten().all(|alike| alike.is_some_and(|alike| (0.0..=1.001).contains(&alike)))
            );
            assert!(of.words.iter().all(|word| word.attention.is_some_and(|cosine| cosine > 0.0)), "{first}, {second}");
        }
    }
}

/// An encoder reads the same sentence as the encoder of a translator; its target is left out, and a sentence says why.
#[test]
fn a_translator_beside_an_encoder_is_compared_by_its_source() {
    let translator = snapshot_at(&fixture("t5-wild"), "the point of the answer ||| a point");
    let encoder = snapshot("bert-wild", "the point of the answer");
    for (first, second) in [(&translator, &encoder), (&encoder, &translator)] {
        let both = compared(first, second.clone());
        assert_eq!(both.refusal, None);
        let side = alone(&both);
        assert_eq!(labels(side), ["the₁", "point", "of", "the₂", "answer"]);
        assert!(side.similarity.iter().flatten().all(Option::is_some));
        let title = &translator.lesson.title;
        let is_told = |note: &String| note.starts_with(&format!("{title} also writes a target, which is not compared"));
        assert!(both.notes.iter().any(is_told), "{:?}", both.notes);
    }
    let alone = translator.model.as_ref().expect("a model").sentence.written_for(false);
    assert_eq!(alone, "the point of the answer", "what the encoder is given");
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
