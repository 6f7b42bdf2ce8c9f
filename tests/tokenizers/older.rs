//! The files of older models: the same ids from `vocab.txt`, and from `vocab.json` with `merges.txt`.

use attune_engine::pretrained::tokenizer::{Encoding, OlderFiles, Tokenizer, TokenizerFiles};
use serde_json::{Value, json};

use crate::places::check_places;
use crate::{BERT, GPT2, changed, encode, list, oracle, text, tokenizer};

/// Pieces in the order of their ids, a line each.
fn vocab_txt() -> String {
    let json: Value = serde_json::from_str(BERT).expect("JSON");
    let vocab = json["model"]["vocab"].as_object().expect("pieces");
    let mut pieces: Vec<(&String, u64)> =
        vocab.iter().map(|(piece, id)| (piece, id.as_u64().expect("an id"))).collect();
    pieces.sort_by_key(|(_, id)| *id);
    pieces.iter().map(|(piece, _)| format!("{piece}\n")).collect()
}

/// `vocab.json`, and `merges.txt` as GPT-2's is written.
fn vocab_and_merges() -> (String, String) {
    let json: Value = serde_json::from_str(GPT2).expect("JSON");
    let merges = list(&json["model"]["merges"]).iter();
    let merges = merges.map(|pair| format!("{} {}\n", text(&pair[0]), text(&pair[1]))).collect::<String>();
    (json["model"]["vocab"].to_string(), format!("#version: 0.2\n{merges}"))
}

#[track_caller]
fn same(left: &Tokenizer, right: &Tokenizer) {
    for case in list(&oracle()["texts"]) {
        let written = text(&case["text"]);
        assert_eq!(left.encode(written), right.encode(written), "{written:?}");
        assert_eq!(left.encode_pair(written, "é"), right.encode_pair(written, "é"));
    }
}

#[track_caller]
fn word_piece(vocab: &str, config: Option<&str>) -> Tokenizer {
    Tokenizer::read(TokenizerFiles::WordPiece { vocab, beside: OlderFiles { config, ..OlderFiles::default() } })
        .unwrap_or_else(|refusal| panic!("{refusal}"))
}

#[track_caller]
fn byte_pair(vocab: &str, merges: &str, config: Option<&str>) -> Tokenizer {
    Tokenizer::read(TokenizerFiles::BytePair { vocab, merges, beside: OlderFiles { config, ..OlderFiles::default() } })
        .unwrap_or_else(|refusal| panic!("{refusal}"))
}

#[test]
fn a_list_of_pieces_makes_the_same_tokenizer() {
    let bert = tokenizer(BERT);
    same(&bert, &word_piece(&vocab_txt(), None));
    same(&bert, &word_piece(&vocab_txt().replace('\n', "\r\n"), Some("{}")));
}

#[test]
fn the_configuration_says_how_texts_are_made_alike() {
    let normalizer = json!({
        "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": false, "strip_accents": true, "lowercase": false,
    });
    let bert = tokenizer(&changed(BERT, &[("/normalizer", normalizer)]));
    let config = r#"{"do_lower_case": false, "tokenize_chinese_chars": false, "strip_accents": true,
        "tokenizer_class": "DistilBertTokenizerFast", "mask_token": {"content": "[MASK]", "lstrip": false},
        "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "model_max_length": 512}"#;
    same(&bert, &word_piece(&vocab_txt(), Some(config)));
}

#[test]
fn pieces_and_merges_make_the_same_tokenizer() {
    let gpt2 = tokenizer(GPT2);
    let (vocab, merges) = vocab_and_merges();
    same(&gpt2, &byte_pair(&vocab, &merges, None));
    let config = r#"{"tokenizer_class": "GPT2Tokenizer", "unk_token": {"content": "<|endoftext|>", "lstrip": false}}"#;
    same(&gpt2, &byte_pair(&vocab, &merges, Some(config)));
    // Merges as one string each, as older files of the whole have them.
    let strings: Value = merges.lines().skip(1).collect();
    same(&gpt2, &tokenizer(&changed(GPT2, &[("/model/merges", strings)])));
}

#[test]
fn the_configuration_adds_tokens_and_a_start() {
    let (vocab, merges) = vocab_and_merges();
    let config = r#"{"add_prefix_space": true, "add_bos_token": true, "bos_token": "<|endoftext|>",
        "added_tokens_decoder": {"600": {"content": "<pad>", "special": true}}}"#;
    let gpt2 = byte_pair(&vocab, &merges, Some(config));
    let pieces =
        |text: &str| -> Vec<String> { encode(&gpt2, text).pieces.iter().map(|piece| gpt2.shown(piece.id)).collect() };
    assert_eq!(pieces("the<pad>"), ["<|endoftext|>", " the", "<pad>"]);
    assert_eq!(gpt2.len(), 601);
}

/// The files of a folder as `make_older.py` wrote them.
fn of_files(files: &Value) -> Tokenizer {
    let file = |name: &str| files.get(name).map(text);
    let beside = OlderFiles {
        config: file("tokenizer_config.json"),
        special: file("special_tokens_map.json"),
        added: file("added_tokens.json"),
        ..OlderFiles::default()
    };
    let files = match file("vocab.txt") {
        Some(vocab) => TokenizerFiles::WordPiece { vocab, beside },
        None => {
            let [vocab, merges] = ["vocab.json", "merges.txt"].map(|name| file(name).expect("a vocabulary"));
            TokenizerFiles::BytePair { vocab, merges, beside }
        }
    };
    Tokenizer::read(files).unwrap_or_else(|refusal| panic!("{refusal}"))
}

#[test]
fn added_and_special_tokens_are_those_of_transformers() {
    let cases: Value = serde_json::from_str(include_str!("older.json")).expect("JSON");
    for case in list(&cases) {
        let tokenizer = of_files(&case["files"]);
        let ids = |encoding: Encoding| encoding.pieces.iter().map(|piece| piece.id).collect::<Vec<_>>();
        for row in list(&case["texts"]) {
            let written = text(&row["text"]);
            let encoding = encode(&tokenizer, written);
            check_places(&encoding, &[written]);
            assert_eq!(json!(ids(encoding)), row["ids"], "{}: {written:?}", case["name"]);
        }
        let pair = tokenizer.encode_pair("the bank", "river").ok().map(ids);
        assert_eq!(json!(pair), case["pair"], "{}", case["name"]);
    }
}

/// A folder may leave the class to the model's `config.json`, or to the model's type.
#[test]
fn the_model_names_the_class_where_the_tokenizer_does_not() {
    let cases: Value = serde_json::from_str(include_str!("older.json")).expect("JSON");
    let roberta = list(&cases).iter().find(|case| case["name"] == "roberta").expect("a case");
    let [vocab, merges] = ["vocab.json", "merges.txt"].map(|name| text(&roberta["files"][name]));
    let none = OlderFiles::default();
    for beside in
        [OlderFiles { class: Some("RobertaTokenizerFast"), ..none }, OlderFiles { model_type: Some("roberta"), ..none }]
    {
        let tokenizer = Tokenizer::read(TokenizerFiles::BytePair { vocab, merges, beside }).expect("a tokenizer");
        same(&tokenizer, &of_files(&roberta["files"]));
    }
}
