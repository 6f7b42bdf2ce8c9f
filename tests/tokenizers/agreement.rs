//! Agreement with `tokenizers` 0.23.3 of Hugging Face: `make_tokens.py`.

use attune_engine::pretrained::tokenizer::{Encoding, Origin, SpecialTokens, Tokenizer};
use serde_json::{Value, json};

use crate::{BERT, GPT2, changed, encode, list, oracle, text, tokenizer};

/// The pieces as the oracle writes them. It numbers the words of each text of a pair from 0, and says no place of
/// pieces that the tokenizer added.
fn rows(encoding: &Encoding) -> Value {
    let first = |text: usize| encoding.words.iter().take_while(|word| word.text < text).count();
    let row = |piece: &attune_engine::pretrained::tokenizer::ModelPiece| match piece.word {
        None => json!([piece.id, null, null, null, piece.segment]),
        Some(word) => {
            json!([piece.id, piece.bytes.start, piece.bytes.end, word - first(piece.text), piece.segment])
        }
    };
    encoding.pieces.iter().map(row).collect()
}

#[track_caller]
fn check(tokenizer: &Tokenizer, written: &str, expected: &Value) {
    let encoding = encode(tokenizer, written);
    assert_eq!(&rows(&encoding), expected, "{written:?}");
    for piece in &encoding.pieces {
        assert_eq!(piece.origin == Origin::Added, piece.word.is_none(), "{written:?}");
    }
}

#[test]
fn ids_bytes_words_and_types_are_those_of_another_program() {
    let (bert, gpt2) = (tokenizer(BERT), tokenizer(GPT2));
    let oracle = oracle();
    let texts = list(&oracle["texts"]);
    assert!(texts.len() > 300);
    for case in texts {
        check(&bert, text(&case["text"]), &case["bert"]);
        check(&gpt2, text(&case["text"]), &case["gpt2"]);
    }
}

#[test]
fn a_pair_has_two_segments_and_words_numbered_on() {
    let bert = tokenizer(BERT);
    assert!(bert.has_pairs());
    for case in list(&oracle()["pairs"]) {
        let encoding = bert.encode_pair(text(&case["texts"][0]), text(&case["texts"][1])).expect("BERT has pairs");
        assert_eq!(rows(&encoding), case["bert"], "{}", case["texts"]);
        let words: Vec<usize> = encoding.pieces.iter().filter_map(|piece| piece.word).collect();
        assert!(words.is_sorted() && words.iter().all(|word| *word < encoding.words.len()));
    }
    let gpt2 = tokenizer(GPT2);
    assert!(!gpt2.has_pairs() && gpt2.encode_pair("a", "b").is_err());
}

#[test]
fn every_step_and_every_switch_agrees() {
    for variant in list(&oracle()["variants"]) {
        let json = if variant["of"] == "bert" { BERT } else { GPT2 };
        let change: Vec<(&str, Value)> =
            variant["change"].as_object().expect("changes").iter().map(|(at, value)| (&**at, value.clone())).collect();
        let tokenizer = tokenizer(&changed(json, &change));
        for case in list(&variant["texts"]) {
            let found = rows(&encode(&tokenizer, text(&case["text"])));
            assert_eq!(found, case["pieces"], "{:?} with {}", case["text"], variant["change"]);
        }
    }
}

#[test]
fn gpt2_decodes_to_the_text_itself() {
    let gpt2 = tokenizer(GPT2);
    for case in list(&oracle()["texts"]) {
        let written = text(&case["text"]);
        let ids: Vec<u32> = encode(&gpt2, written).pieces.iter().map(|piece| piece.id).collect();
        assert_eq!(gpt2.decode(&ids, SpecialTokens::Kept), written);
    }
}

#[test]
fn bert_decodes_to_words_with_blanks() {
    let bert = tokenizer(BERT);
    let ids: Vec<u32> = encode(&bert, "The  Banks, [MASK]").pieces.iter().map(|piece| piece.id).collect();
    assert_eq!(bert.decode(&ids, SpecialTokens::Kept), "[CLS] the banks , [MASK] [SEP]");
}

#[test]
fn pieces_are_written_as_in_the_file_and_shown_as_text() {
    let (bert, gpt2) = (tokenizer(BERT), tokenizer(GPT2));
    assert_eq!((bert.len(), gpt2.len()), (600, 600));
    for (tokenizer, piece, shown) in [
        (&bert, "##ing", "ing"),
        (&bert, "[MASK]", "[MASK]"),
        (&gpt2, "Ġthe", " the"),
        (&gpt2, "<|endoftext|>", "<|endoftext|>"),
        (&gpt2, "Ċ", "\\n"),
        (&gpt2, "â", "\\xE2"),
    ] {
        let id = tokenizer.id_of(piece).unwrap_or_else(|| panic!("{piece} is a piece"));
        assert_eq!(tokenizer.piece(id), Some(piece));
        assert_eq!(tokenizer.shown(id), shown);
    }
    assert_eq!((bert.piece(600), bert.id_of("no such piece")), (None, None));
    assert_eq!((bert.shown(u32::MAX), bert.decode(&[u32::MAX], SpecialTokens::Kept)), (String::new(), String::new()));
}
