//! Sentences as they are typed: which words are known, and what can be done about the others.

use attune_view::view_model::sentences::{CHARS_MAX, SentenceReading, SentencesModel, WORDS_TOLD, WordKind};

use crate::common::commands::{beside, select};
use crate::common::lessons::small;

fn model() -> SentencesModel {
    SentencesModel::of(&small().snapshot(), None).expect("a model")
}

fn read(text: &str) -> SentenceReading {
    model().lexicon.read(text)
}

/// `seal` known, `(se…: seal)` unfinished, `[stne: stone]` unknown, `{duck}` too many.
fn said(reading: &SentenceReading) -> String {
    let words = reading.words.iter().map(|word| match &word.kind {
        WordKind::Known(_) => word.text.clone(),
        WordKind::Unfinished(longer) => format!("({}…: {})", word.text, longer.join(" ")),
        WordKind::Unknown(near) => format!("[{}: {}]", word.text, near.join(" ")),
        WordKind::TooMany => format!("{{{}}}", word.text),
    });
    words.collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(text: &str, words: &str, fault: Option<(&str, bool)>) {
    let reading = read(text);
    assert_eq!(said(&reading), words, "{text:?}");
    let found = reading.fault.as_ref().map(|fault| (fault.words.as_str(), fault.is_early));
    assert_eq!(found, fault, "{text:?}");
}

#[test]
fn words_are_known_or_not_as_they_are_typed() {
    check("The SEAL, sank!", "the seal sank", None);
    check("the se", "the (se…: seal)", Some(("“se” is not yet a word of this lesson.", true)));
    check("the se sank", "the [se: ] sank", Some(("“se” is not a word of this lesson.", false)));
    check("the stne", "the [stne: stone sank the]", Some(("“stne” is not a word of this lesson.", false)));
    check(
        "zzzzzz qqqqqq",
        "[zzzzzz: ] [qqqqqq: ]",
        Some(("“zzzzzz” and “qqqqqq” are not words of this lesson.", false)),
    );
    let empty = Some(("Write words of this lesson. They are shown here as you type.", true));
    check("", "", empty);
    check(" …! \t\n", "", empty);
    check(
        "ｓｅａｌ 林檎 the",
        "[ｓｅａｌ: ] [林檎: ] the",
        Some(("“ｓｅａｌ” and “林檎” are not words of this lesson.", false)),
    );
    let long = "w".repeat(1900);
    let reading = read(&long);
    assert!(reading.fault.expect("no word").words.chars().count() < 80);
}

#[test]
fn a_word_like_no_other_is_answered_with_words_that_share_its_letters() {
    let reading = read("the ducksealing sank");
    assert_eq!((reading.words[1].others[0].as_str(), reading.suggestion()), ("duck", None), "none is near");
    assert!(read("the qqqqqq").words[1].others.len() == 3, "never nothing");
    assert_eq!(read("the stne sank").suggestion(), Some((1, "stone")));
    assert!(read("the stne sank").words[1].others.is_empty());
}

#[test]
fn too_many_words_are_said_with_the_limit() {
    let text = "seal ".repeat(14);
    let reading = read(&text);
    assert_eq!(
        reading.fault.as_ref().expect("too many").words,
        "The sentence has 14 words, but the model reads at most 12."
    );
    assert_eq!(reading.words.iter().filter(|word| word.kind == WordKind::TooMany).count(), 2);
    assert_eq!(read(&reading.cut(&text)).fault, None);
    let pasted = read(&"seal ".repeat(CHARS_MAX));
    assert_eq!((pasted.words.len(), pasted.count), (WORDS_TOLD, CHARS_MAX));
}

#[test]
fn a_word_is_left_out_or_spelt_otherwise_where_it_stands() {
    let without = |text: &str, word| read(text).without(text, word);
    assert_eq!(without("the stne, sank", 1), "the , sank");
    assert_eq!(without("the stne sank", 1), "the sank");
    assert_eq!(without("stne sank", 0), "sank");
    assert_eq!(without("the stne", 1), "the");
    assert_eq!(without("(stne)", 0), "()");
    let with = |text: &str, word| read(text).with(text, word, "stone");
    assert_eq!(with("The Stne, sank!", 1), "The stone, sank!");
    assert_eq!(with("äöü stne", 1), "äöü stone");
}

#[test]
fn a_comparison_begins_with_a_sentence_that_shares_a_word() {
    let first = model();
    assert_eq!((first.selected, first.first_second().as_str()), (Some(0), "a seal is happy"));
    let mut kernel = small();
    kernel.apply(select(1));
    let other = SentencesModel::of(&kernel.snapshot(), Some(&first)).expect("a model");
    assert_eq!(other.first_second(), "the seal sank while a duck swam");
    kernel.apply(beside(&other.first_second()));
    let second = SentencesModel::of(&kernel.snapshot(), Some(&other)).expect("a model").second;
    assert_eq!(second.as_deref(), Some("the seal sank while a duck swam"));
}
