//! Today's kinds of tokenizers: byte pairs of Llama 2 and 3, Qwen 2, SmolLM2, GPT-NeoX and Gemma, and SentencePiece's
//! Unigram of T5 and XLM-R, each as `tokenizers` 0.23.3 of Hugging Face cuts 200 texts (`make_today.py`).

use serde_json::Value;

use crate::places::check_places;
use crate::{encode, list, text, tokenizer};

macro_rules! fixtures {
    ($($name:literal),*) => {
        [$(($name, include_str!(concat!("../fixtures/pretrained/tokenizers/", $name, ".json")))),*]
    };
}

const TODAY: [(&str, &str); 9] =
    fixtures!("llama3", "qwen2", "smollm2", "neox", "llama2", "llama2_metaspace", "gemma", "t5", "xlmr");

#[test]
fn ids_and_bytes_are_those_of_another_program() {
    let today: Value = serde_json::from_str(include_str!("today.json")).expect("JSON");
    for (name, json) in TODAY {
        let tokenizer = tokenizer(json);
        for (written, expected) in list(&today["texts"]).iter().zip(list(&today[name])) {
            let written = text(written);
            let encoding = encode(&tokenizer, written);
            check_places(&encoding, &[written]);
            let (pieces, is_normalised) = (list(&expected["pieces"]), expected["normalised"] == true);
            let ids: Vec<u32> = encoding.pieces.iter().map(|piece| piece.id).collect();
            assert!(pieces.iter().map(|piece| &piece[0]).eq(&ids), "{name}: {written:?} as {ids:?}");
            for (piece, expected) in encoding.pieces.iter().zip(pieces).filter(|(piece, _)| piece.word.is_some()) {
                let [start, end] = [1, 2].map(|at| expected[at].as_u64().expect("a place") as usize);
                let found = &piece.bytes;
                // Of several characters that became one, the other program has the first only.
                let is_right = found.start <= start && found.end >= end;
                let is_same = found.start == start && found.end == end;
                assert!(is_same || is_normalised && is_right, "{name}: {written:?} at {found:?}, not {start}..{end}");
            }
        }
    }
}

#[test]
fn characters_that_become_one_have_all_their_bytes() {
    for (name, json) in TODAY.into_iter().filter(|(name, _)| ["qwen2", "neox", "xlmr"].contains(name)) {
        let written = "A\u{30a} cafe\u{301}";
        let encoding = encode(&tokenizer(json), written);
        let words: Vec<&str> = encoding.words.iter().map(|word| &written[word.bytes.clone()]).collect();
        assert_eq!(words, ["A\u{30a}", "cafe\u{301}"], "{name}");
        let last = encoding.pieces.iter().rfind(|piece| piece.word.is_some()).expect("a piece");
        assert_eq!(last.bytes.end, written.len(), "{name}");
    }
}

#[test]
fn words_begin_with_blanks_where_the_whole_text_is_one() {
    for (name, json) in TODAY.into_iter().filter(|(name, _)| ["llama2", "gemma", "t5"].contains(name)) {
        let written = "the river's  bank";
        let tokenizer = tokenizer(json);
        let encoding = encode(&tokenizer, written);
        let words: Vec<&str> = encoding.words.iter().map(|word| &written[word.bytes.clone()]).collect();
        let expected = ["the", "river's", "bank"];
        assert!(words.iter().filter(|word| **word != " ").eq(&expected), "{name}: {words:?}");
    }
}

/// Bytes stand for characters that are no pieces; blanks are written as another character.
#[test]
fn pieces_are_shown_as_text() {
    let llama = tokenizer(TODAY[4].1);
    for (piece, shown) in [("<0x41>", "A"), ("<0x0A>", "\\n"), ("<0xE2>", "\\xE2"), ("▁the", " the"), ("<s>", "<s>")]
    {
        let id = llama.id_of(piece).unwrap_or_else(|| panic!("{piece} is a piece"));
        assert_eq!((llama.piece(id), llama.shown(id).as_str()), (Some(piece), shown));
    }
}

/// A file may ask that texts be cut off or filled up, as MiniLM's does; attune gives the model the text that is there.
#[test]
fn what_a_file_says_of_batches_is_not_done() {
    let mut json: Value = serde_json::from_str(TODAY[0].1).expect("JSON");
    let plain = tokenizer(&json.to_string());
    json["truncation"] =
        serde_json::json!({ "direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0 });
    json["padding"] = serde_json::json!({
        "strategy": { "Fixed": 128 }, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0, "pad_type_id": 0,
        "pad_token": "!",
    });
    let written = "The bank of the river, and more of it";
    assert_eq!(tokenizer(&json.to_string()).encode(written), plain.encode(written));
}
