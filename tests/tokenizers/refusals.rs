//! Tokenizers that are refused: by file, place and name, with what is supported.

use attune_engine::pretrained::tokenizer::{OlderFiles, Tokenizer, TokenizerFiles};
use serde_json::{Value, json};

use crate::common::snapshots::{assert_catalogue, written_out};
use crate::{BERT, GPT2, changed};

#[track_caller]
fn refused(files: TokenizerFiles<'_>, words: &[&str]) {
    let said = Tokenizer::read(files).expect_err("it is refused").to_string();
    for words in words {
        assert!(said.contains(words), "{said}\nlacks: {words}");
    }
    assert!(said.len() < 1200, "{said}");
}

#[track_caller]
fn refused_json(json: &str, pointer: &str, value: Value, words: &[&str]) {
    let text = changed(json, &[(pointer, value)]);
    refused(TokenizerFiles::Json(&text), &[&["tokenizer.json: "], words].concat());
}

/// Steps count through all lists within one another: each makes the text anew, and some make it larger.
#[test]
fn a_pipeline_has_few_steps_however_its_lists_nest() {
    let nested = |list: &str, step: &Value, count: usize| {
        let inner: Vec<Value> = vec![json!({"type": "Sequence", list: vec![step; 4]}); count / 4];
        json!({"type": "Sequence", list: inner})
    };
    let bert = json!({"type": "BertNormalizer"});
    refused_json(
        BERT,
        "/normalizer",
        nested("normalizers", &bert, 20),
        &["step 17 at `normalizer.normalizers[4].normalizers[0]`", "at most 16 steps"],
    );
    let few = changed(BERT, &[("/normalizer", nested("normalizers", &bert, 16))]);
    assert!(Tokenizer::read(TokenizerFiles::Json(&few)).is_ok());
    let words = json!({"type": "BertPreTokenizer"});
    let many = nested("pretokenizers", &words, 20);
    refused_json(BERT, "/pre_tokenizer", many, &["step 17 at `pre_tokenizer.pretokenizers[4].pretokenizers[0]`"]);
}

/// Bytes spelt as bytes again are twice as many, and a text may stand for each letter of another.
#[test]
fn a_text_that_grows_beyond_reason_is_not_read() {
    let bytes = json!({"type": "Sequence", "pretokenizers": vec![json!({"type": "ByteLevel"}); 16]});
    let replace = |times: usize| json!({"type": "Replace", "pattern": {"String": "e"}, "content": "e".repeat(times)});
    let twice = json!({"type": "Sequence", "normalizers": [replace(1000), replace(1000)]});
    for (part, steps) in [("/pre_tokenizer", bytes), ("/normalizer", twice)] {
        let tokenizer = super::tokenizer(&changed(BERT, &[(part, steps)]));
        assert!(tokenizer.encode("").is_ok(), "{part}");
        let said = tokenizer.encode(&"the ".repeat(100)).expect_err("it grows");
        assert!(said.contains("the tokenizer's steps make more than"), "{said}");
    }
}

#[test]
fn what_is_not_supported_is_refused_by_its_place() {
    assert_catalogue("tests/tokenizers/refusals.txt", |heading, case| {
        let json = match heading.split_once(": ") {
            None => written_out(case),
            Some((fixture, _)) => {
                let (pointer, value) = case.split_once(' ').expect("a pointer and a value");
                let value = serde_json::from_str(&written_out(value)).expect("JSON");
                changed(if fixture == "bert" { BERT } else { GPT2 }, &[(pointer, value)])
            }
        };
        let refusal = Tokenizer::read(TokenizerFiles::Json(&json)).expect_err(case).to_string();
        assert!(refusal.starts_with("tokenizer.json: ") && refusal.len() < 1200, "{refusal}");
        refusal
    });
}

#[test]
fn files_that_are_empty_or_nest_deeply_are_refused() {
    refused(TokenizerFiles::Json(""), &["tokenizer.json: ", "line "]);
    let deep = BERT.replacen("\"BertNormalizer\"", &r#"{"type":"Sequence","normalizers":["#.repeat(10_000), 1);
    assert!(deep.len() > BERT.len());
    refused(TokenizerFiles::Json(&deep), &["tokenizer.json"]);
}

#[test]
fn older_files_are_named() {
    let beside = |config| OlderFiles { config, ..OlderFiles::default() };
    let bert = |vocab, config| TokenizerFiles::WordPiece { vocab, beside: beside(config) };
    refused(bert("a\nb\n", None), &["vocab.txt: ", "`[UNK]`"]);
    refused(bert("[UNK]\n[CLS]", None), &["vocab.txt: ", "`[SEP]`"]);
    let vocab = "[UNK]\n[CLS]\n[SEP]\n";
    refused(bert(vocab, Some("{]")), &["tokenizer_config.json: ", "line 1 column 2"]);
    refused(
        bert(vocab, Some(r#"{"tokenizer_class": "AlbertTokenizer"}"#)),
        &["tokenizer_config.json: ", "AlbertTokenizer"],
    );
    refused(bert(vocab, Some(r#"{"do_basic_tokenize": false}"#)), &["do_basic_tokenize"]);
    refused(
        bert(vocab, Some(r#"{"added_tokens_decoder": {"x": {"content": "a"}}}"#)),
        &["`x`", "added_tokens_decoder"],
    );
    let gpt2 = |vocab, merges, config| TokenizerFiles::BytePair { vocab, merges, beside: beside(config) };
    refused(gpt2("[]", "", None), &["vocab.json: ", "a list"]);
    refused(gpt2(r#"{"a": 0}"#, "#version: 0.2\na b\n", None), &["merges.txt: ", "`b` at `line 2`"]);
    refused(gpt2(r#"{"a": 0}"#, "a", None), &["merges.txt: ", "`a` in line 1"]);
    let start = r#"{"add_bos_token": true, "bos_token": "<s>"}"#;
    refused(gpt2(r#"{"a": 0}"#, "", Some(start)), &["tokenizer_config.json: ", "`<s>`"]);
    let named = [
        (r#"{"tokenizer_class": "XLMTokenizer"}"#, "`XLMTokenizer`"),
        (r#"{"tokenizer_class": "RobertaTokenizer"}"#, "`<s>`"),
    ];
    for (config, words) in named {
        refused(gpt2(r#"{"a": 0}"#, "", Some(config)), &[words]);
    }
    refused(gpt2(r#"{"a</w>": 0}"#, "", None), &["vocab.json: ", "`</w>`", "backend_tokenizer.save"]);
    let japanese = Some("BertJapaneseTokenizer");
    let class = OlderFiles { class: japanese, ..OlderFiles::default() };
    refused(TokenizerFiles::WordPiece { vocab, beside: class }, &["config.json: ", "BertJapaneseTokenizer"]);
    refused(
        bert(vocab, Some(r#"{"word_tokenizer_type": "mecab"}"#)),
        &["tokenizer_config.json: ", "word_tokenizer_type"],
    );
}
