//! Tokenizers of translators: T5, BART and Marian as transformers 5.24 cuts 100 texts, and writes them again from ids.

use std::fs;

use attune_engine::pretrained::folder::{ModelFolder, NoTokenizer};
use attune_engine::pretrained::tokenizer::{Encoding, OlderFiles, Origin, SpecialTokens, Tokenizer, TokenizerFiles};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::common::folder::Folder;
use crate::common::models::fixture;
use crate::places::{check_places, uncovered};
use crate::{changed, encode, list, tokenizer};

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

pub fn ids(encoding: &Encoding) -> Vec<u32> {
    encoding.pieces.iter().map(|piece| piece.id).collect()
}

/// Checks that the characters that no piece stands for are those that by themselves are none, such as blanks, and
/// control characters.
#[track_caller]
pub fn check_cover(tokenizer: &Tokenizer, encoding: &Encoding, written: &str) {
    check_places(encoding, &[written]);
    for sign in uncovered(encoding, written) {
        let alone = encode(tokenizer, &sign.to_string());
        let is_nothing = alone.pieces.iter().all(|piece| piece.origin == Origin::Added);
        assert!(is_nothing || sign.is_control(), "{sign:?} of {written:?}");
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
                check_cover(&tokenizer, &encoding, written);
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

/// `vocab.json` and `merges.txt`, which older folders have, of a `tokenizer.json` of byte pairs.
fn older_files(json: &str) -> [String; 2] {
    let json: Value = serde_json::from_str(json).expect("JSON");
    let merge = |merge: &Value| match merge {
        Value::String(merge) => merge.clone(),
        pair => list(pair).iter().map(crate::text).collect::<Vec<_>>().join(" "),
    };
    let merges: Vec<String> = list(&json["model"]["merges"]).iter().map(merge).collect();
    [json["model"]["vocab"].to_string(), merges.join("\n")]
}

#[test]
fn barts_older_files_are_its_tokenizer_json() {
    let json = text("bart-wild", "tokenizer.json");
    let [vocab, merges] = older_files(&json);
    let config = text("bart-wild", "tokenizer_config.json");
    let cases: Vec<Case> = serde_json::from_str(&text("bart-wild", "texts.json")).expect("cases");
    // By the class in the tokenizer's config, or by the type of the model.
    for beside in [
        OlderFiles { config: Some(&config), ..OlderFiles::default() },
        OlderFiles { model_type: Some("bart"), ..OlderFiles::default() },
    ] {
        let read = Tokenizer::read(TokenizerFiles::BytePair { vocab: &vocab, merges: &merges, beside });
        let older = read.unwrap_or_else(|refusal| panic!("{refusal}"));
        for case in &cases {
            let found = ids(&encode(&older, &case.text));
            assert_eq!(found, case.ids, "{:?}", case.text);
            assert_eq!(older.decode(&found, SpecialTokens::LeftOut), case.decoded, "{:?}", case.text);
        }
    }
}

#[test]
fn each_spelling_of_t5s_steps_cuts_alike() {
    let json = text("t5-wild", "tokenizer.json");
    let cases: Vec<Case> = serde_json::from_str(&text("t5-wild", "texts.json")).expect("cases");
    let precompiled = serde_json::from_str::<Value>(&json).expect("JSON")["normalizer"].clone();
    let metaspace = [
        json!({ "type": "Metaspace", "replacement": "▁", "add_prefix_space": true, "str_rep": "▁" }),
        json!({ "type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true }),
        json!({ "type": "Metaspace", "replacement": "▁", "add_prefix_space": true, "prepend_scheme": "always" }),
    ];
    for metaspace in metaspace {
        let change = [
            ("/normalizer", json!({ "type": "Sequence", "normalizers": [precompiled] })),
            ("/pre_tokenizer/pretokenizers/1", metaspace.clone()),
        ];
        let tokenizer = tokenizer(&changed(&json, &change));
        for case in &cases {
            assert_eq!(ids(&encode(&tokenizer, &case.text)), case.ids, "{metaspace}: {:?}", case.text);
        }
    }
}

/// The id of `</s>` in mBART's tokenizers, and those of the languages that are added here.
const END: u32 = 2;
const ENGLISH: u32 = 600;
const FRENCH: u32 = 601;

/// mBART's `tokenizer.json`: that of XLM-R with languages as added tokens, one of which is before the text, or behind
/// it.
fn mbart(is_first: bool) -> String {
    let special = |id: &str| json!({ "SpecialToken": { "id": id, "type_id": 0 } });
    let (text, end, language) = (json!({ "Sequence": { "id": "A", "type_id": 0 } }), special("</s>"), special("en_XX"));
    let single = if is_first { json!([language, text, end]) } else { json!([text, end, language]) };
    let token = |name: &str, id: u32| json!({ "id": name, "ids": [id], "tokens": [name] });
    let mut json: Value =
        serde_json::from_str(include_str!("../fixtures/pretrained/tokenizers/xlmr.json")).expect("JSON");
    json["post_processor"] = json!({
        "type": "TemplateProcessing", "single": single, "pair": [],
        "special_tokens": { "</s>": token("</s>", END), "en_XX": token("en_XX", ENGLISH) },
    });
    for (language, id) in [("en_XX", ENGLISH), ("fr_XX", FRENCH)] {
        let added = json["added_tokens"].as_array_mut().expect("a list");
        added.push(json!({ "id": id, "content": language, "normalized": false, "special": true }));
    }
    json.to_string()
}

#[test]
fn mbarts_language_stands_before_the_text_or_behind_it() {
    let today: Value = serde_json::from_str(include_str!("today.json")).expect("JSON");
    let mut tokenizers = [true, false].map(|is_first| (is_first, tokenizer(&mbart(is_first))));
    for (_, tokenizer) in &mut tokenizers {
        tokenizer.set_target_language(FRENCH);
    }
    for (written, expected) in list(&today["texts"]).iter().zip(list(&today["xlmr"])) {
        let written = crate::text(written);
        let all: Vec<u32> =
            list(&expected["pieces"]).iter().map(|piece| piece[0].as_u64().unwrap_or(0) as u32).collect();
        let own = &all[1..all.len() - 1];
        for (is_first, tokenizer) in &tokenizers {
            let around = |language| match is_first {
                true => [&[language][..], own, &[END]].concat(),
                false => [own, &[END, language]].concat(),
            };
            assert_eq!(ids(&encode(tokenizer, written)), around(ENGLISH), "{written:?}");
            let target = tokenizer.encode_target(written).unwrap_or_else(|why| panic!("{written:?}: {why}"));
            assert_eq!(ids(&target), around(FRENCH), "{written:?}");
            let begun = tokenizer.encode_begun_target(written).unwrap_or_else(|why| panic!("{written:?}: {why}"));
            let expected = if *is_first { [&[FRENCH][..], own].concat() } else { own.to_vec() };
            assert_eq!(ids(&begun), expected, "{written:?}");
        }
    }
    let [(_, first), _] = &tokenizers;
    let found = encode(first, "the fr_XX bank");
    assert!(ids(&found).contains(&FRENCH), "a language in the text is a piece: {found:?}");
    assert_eq!(first.decode(&[ENGLISH, 4, END], SpecialTokens::LeftOut).trim(), first.shown(4).trim());
}

/// A folder with the model of a fixture, and some of its other files.
fn folder_of(name: &str, files: &[&str]) -> Folder {
    let folder = Folder::new("translator");
    for file in [&["config.json", "model.safetensors"], files].concat() {
        fs::copy(fixture(name).join(file), folder.join(file)).unwrap_or_else(|error| panic!("{name}, {file}: {error}"));
    }
    folder
}

fn of_folder(folder: &Folder) -> Result<Tokenizer, NoTokenizer> {
    ModelFolder::open(&folder.0).unwrap_or_else(|refusal| panic!("{refusal}")).tokenizer
}

#[test]
fn a_folder_without_tokenizer_json_has_that_of_sentencepiece() {
    const MARIAN: [&str; 4] = ["source.spm", "target.spm", "vocab.json", "tokenizer_config.json"];
    let whole = folder_of("marian-wild", &MARIAN);
    let own = of_folder(&whole).expect("a tokenizer");
    assert_eq!(ids(&encode(&own, ">>fra<< the model")), ids(&encode(&marian(), ">>fra<< the model")));
    // The settings may be missing; every other file is named.
    let without = |left_out: &str| MARIAN.into_iter().filter(|file| *file != left_out).collect::<Vec<_>>();
    assert!(of_folder(&folder_of("marian-wild", &without("tokenizer_config.json"))).is_ok());
    for file in &MARIAN[..3] {
        match of_folder(&folder_of("marian-wild", &without(file))) {
            Err(NoTokenizer::Unusable(why)) => {
                assert!(!why.found.contains(file) && why.expected.contains(file), "{why}")
            }
            other => panic!("{file}: {other:?}"),
        }
    }
    assert!(matches!(of_folder(&folder_of("marian-wild", &[])), Err(NoTokenizer::Missing)));
    // Where both are there, `tokenizer.json` counts.
    fs::copy(fixture("t5-wild").join("tokenizer.json"), whole.join("tokenizer.json")).expect("a file");
    let other = of_folder(&whole).expect("a tokenizer");
    assert_eq!(ids(&encode(&other, "<extra_id_0>")), [323, 1]);
}

#[test]
fn mbarts_target_language_is_the_one_that_the_model_must_write_first() {
    let folder = folder_of("mbart-wild", &["generation_config.json"]);
    fs::write(folder.join("tokenizer.json"), mbart(true)).expect("a file");
    let tokenizer = of_folder(&folder).expect("a tokenizer");
    let settings: Value = serde_json::from_str(&text("mbart-wild", "generation_config.json")).expect("JSON");
    let first = settings["forced_bos_token_id"].as_u64().expect("an id") as u32;
    let target = tokenizer.encode_target("").expect("pieces");
    assert_eq!(ids(&target), [first, END]);
    assert_eq!(ids(&encode(&tokenizer, "")), [ENGLISH, END]);
}
