//! Tokenizers of translators: T5, BART and Marian as transformers 5.24 cuts 100 texts, and writes them again from ids.

use std::fs;

use attune_engine::pretrained::tokenizer::{Encoding, OlderFiles, SpecialTokens, Tokenizer, TokenizerFiles};
use serde::Deserialize;

use crate::common::models::fixture;
use crate::places::{check_places, uncovered};
use crate::tokenizer;

pub fn bytes(name: &str, file: &str) -> Vec<u8> {
    fs::read(fixture(name).join(file)).unwrap_or_else(|error| panic!("{name}, {file}: {error}"))
}

pub fn text(name: &str, file: &str) -> String {
    String::from_utf8(bytes(name, file)).expect("a text")
}

/// Marian's tokenizer of these files.
pub fn marian_of(source: &[u8], target: &[u8], vocab: &str) -> Result<Tokenizer, String> {
    let config = text("marian-wild", "tokenizer_config.json");
    let beside = OlderFiles { config: Some(&config), ..OlderFiles::default() };
    Tokenizer::read(TokenizerFiles::Marian { sides: [source, target], vocab, beside }).map_err(|why| why.to_string())
}

pub fn marian() -> Tokenizer {
    let [source, target] = ["source.spm", "target.spm"].map(|file| bytes("marian-wild", file));
    marian_of(&source, &target, &text("marian-wild", "vocab.json")).unwrap_or_else(|why| panic!("{why}"))
}

/// A text, its pieces, and the texts of its pieces.
#[derive(Deserialize)]
struct Case {
    text: String,
    ids: Vec<u32>,
    target_ids: Option<Vec<u32>>,
    decoded: String,
    decoded_with_specials: String,
    target_decoded: Option<String>,
}

fn ids(encoding: &Encoding) -> Vec<u32> {
    encoding.pieces.iter().map(|piece| piece.id).collect()
}

/// The characters that nothing stands for are blanks, and those that SentencePiece drops.
#[track_caller]
fn check_cover(encoding: &Encoding, written: &str) {
    check_places(encoding, &[written]);
    for sign in uncovered(encoding, written) {
        let is_blank = sign.is_whitespace() || "\u{200b}\u{feff}▁".contains(sign);
        assert!(is_blank || sign.is_control(), "{sign:?} of {written:?}");
    }
}

#[test]
fn ids_of_both_sides_and_their_texts_are_transformers() {
    for (name, tokenizer) in [
        ("t5-wild", tokenizer(&text("t5-wild", "tokenizer.json"))),
        ("bart-wild", tokenizer(&text("bart-wild", "tokenizer.json"))),
        ("marian-wild", marian()),
    ] {
        let cases: Vec<Case> = serde_json::from_str(&text(name, "texts.json")).expect("cases");
        assert_eq!(cases.len(), 100, "{name}");
        for case in cases {
            let written = case.text.as_str();
            let encode = |side: fn(&Tokenizer, &str) -> Result<Encoding, String>| {
                let encoding = side(&tokenizer, written).unwrap_or_else(|why| panic!("{name}: {written:?}: {why}"));
                check_cover(&encoding, written);
                ids(&encoding)
            };
            assert_eq!(encode(Tokenizer::encode), case.ids, "{name}: {written:?}");
            let target = case.target_ids.as_ref().unwrap_or(&case.ids);
            assert_eq!(&encode(Tokenizer::encode_target), target, "{name}: {written:?} as a target");
            let decoded = |special| tokenizer.decode(&case.ids, special);
            assert_eq!(decoded(SpecialTokens::LeftOut), case.decoded, "{name}: {written:?}");
            assert_eq!(decoded(SpecialTokens::Kept), case.decoded_with_specials, "{name}: {written:?}");
            let back = case.target_decoded.as_ref().unwrap_or(&case.decoded);
            assert_eq!(&tokenizer.decode(target, SpecialTokens::LeftOut), back, "{name}: {written:?} as a target");
        }
    }
}
