//! Bytes and words: every piece leads back to what the learner typed.

use attune_engine::pretrained::tokenizer::{Encoding, Origin};

use crate::{BERT, GPT2, encode, list, oracle, text, tokenizer};

/// Holds an encoding to what is promised of places.
#[track_caller]
pub fn check_places(encoding: &Encoding, texts: &[&str]) {
    let mut before = (0, 0);
    for piece in &encoding.pieces {
        let written = texts[piece.text];
        assert!(written.get(piece.bytes.clone()).is_some(), "{:?} in {written:?}", piece.bytes);
        assert!((piece.text, piece.bytes.start) >= before, "{:?} after {before:?} in {written:?}", piece.bytes);
        before = (piece.text, piece.bytes.start);
        if let Some(word) = piece.word.map(|word| &encoding.words[word]) {
            assert_eq!(word.text, piece.text);
            assert!(written.get(word.bytes.clone()).is_some());
        }
    }
    let words: Vec<usize> = encoding.pieces.iter().filter_map(|piece| piece.word).collect();
    let mut numbers = words.clone();
    numbers.dedup();
    assert_eq!(numbers, (0..encoding.words.len()).collect::<Vec<_>>(), "{texts:?}");
}

/// The characters that no piece stands for.
pub fn uncovered(encoding: &Encoding, text: &str) -> Vec<char> {
    let is_covered = |at: usize| encoding.pieces.iter().any(|piece| piece.bytes.contains(&at));
    text.char_indices().filter(|(at, _)| !is_covered(*at)).map(|(_, sign)| sign).collect()
}

#[test]
fn gpt2_covers_every_byte_and_bert_all_but_what_it_drops() {
    let (bert, gpt2) = (tokenizer(BERT), tokenizer(GPT2));
    for case in list(&oracle()["texts"]) {
        let written = text(&case["text"]);
        let encoding = encode(&gpt2, written);
        check_places(&encoding, &[written]);
        assert!(uncovered(&encoding, written).is_empty(), "{written:?}");
        let encoding = encode(&bert, written);
        check_places(&encoding, &[written]);
        for sign in uncovered(&encoding, written) {
            let is_mark = unicode_normalization::char::is_combining_mark(sign);
            let is_dropped = "\u{200d}\u{200b}\u{ad}\u{202e}\u{202c}\u{feff}\u{fffd}\u{e000}\u{e0020}".contains(sign);
            let is_unseen = ('\u{2000}'..='\u{206f}').contains(&sign) || sign.is_control() || sign.is_whitespace();
            assert!(is_mark || is_dropped || is_unseen, "{sign:?} of {written:?}");
        }
    }
}

#[track_caller]
fn words(tokenizer: &str, written: &str) -> Vec<String> {
    let encoding = encode(&super::tokenizer(tokenizer), written);
    check_places(&encoding, &[written]);
    encoding.words.iter().map(|word| written[word.bytes.clone()].to_owned()).collect()
}

#[test]
fn words_are_shown_without_the_space_before_them() {
    assert_eq!(words(GPT2, "the river's  bank"), ["the", "river", "'s", " ", "bank"]);
    assert_eq!(words(BERT, "the river's  bank"), ["the", "river", "'", "s", "bank"]);
    let encoding = encode(&tokenizer(GPT2), "the river");
    let pieces: Vec<_> = encoding.pieces.iter().filter(|piece| piece.word == Some(1)).collect();
    assert_eq!(pieces[0].bytes.start, 3, "the piece has the space");
    assert_eq!(encoding.words[1].bytes, 4..9, "the word has not");
}

#[test]
fn a_word_has_the_marks_on_its_last_letter() {
    assert_eq!(words(BERT, "cafe\u{301} x"), ["cafe\u{301}", "x"]);
    assert_eq!(words(BERT, "caf\u{e9}"), ["caf\u{e9}"]);
}

#[test]
fn a_piece_of_a_part_of_a_character_has_the_whole() {
    let gpt2 = tokenizer(GPT2);
    let encoding = encode(&gpt2, "a\u{1f44d}");
    let places: Vec<_> = encoding.pieces.iter().map(|piece| piece.bytes.clone()).collect();
    assert_eq!(places, [0..1, 1..5, 1..5, 1..5, 1..5]);
}

#[test]
fn a_mark_that_changes_places_takes_nothing_along() {
    // The dot below goes before the acute, which is dropped with the dot; the sign that is no mark keeps its bytes.
    assert_eq!(words(BERT, "\u{e9}\u{5c8}"), ["\u{e9}\u{5c8}"]);
}

#[test]
fn pieces_say_who_put_them_there() {
    let encoding = encode(&tokenizer(BERT), "the [MASK]");
    let origins: Vec<Origin> = encoding.pieces.iter().map(|piece| piece.origin).collect();
    assert_eq!(origins, [Origin::Added, Origin::Text, Origin::Spelled, Origin::Added]);
    let places: Vec<_> = encoding.pieces.iter().map(|piece| piece.bytes.clone()).collect();
    assert_eq!(places, [0..0, 0..3, 4..10, 10..10]);
}
