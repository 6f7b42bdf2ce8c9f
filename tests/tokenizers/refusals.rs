//! Tokenizers that are refused: by file, place and name, with what is supported.

use attune_engine::pretrained::tokenizer::{OlderFiles, Tokenizer, TokenizerFiles};
use serde_json::{Value, json};

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

#[test]
fn a_step_that_is_not_known_is_named_with_its_place() {
    let odd = json!({"type": "Odd"});
    let nested = json!({"type": "Sequence", "normalizers": [{"type": "BertNormalizer"}, odd]});
    refused_json(BERT, "/normalizer", odd, &["the step `Odd`", "at `normalizer`", "Hugging Face's tokenizers"]);
    refused_json(BERT, "/normalizer", nested, &["the step `Odd`", "at `normalizer.normalizers[1]`"]);
    refused_json(BERT, "/pre_tokenizer/type", json!("NFC"), &["the step `NFC`", "at `pre_tokenizer`"]);
    refused_json(BERT, "/post_processor/type", json!("Odd"), &["`Odd` at `post_processor`", "TemplateProcessing"]);
    refused_json(BERT, "/model/type", json!("Odd"), &["`Odd` at `model`", "WordPiece, WordLevel, BPE or Unigram"]);
    let template: Value = serde_json::from_str::<Value>(BERT).expect("JSON")["post_processor"].clone();
    let twice = json!({"type": "Sequence", "processors": [template.clone(), template]});
    refused_json(BERT, "/post_processor", twice, &["a second step", "`post_processor.processors[1]`"]);
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
        assert!(said.contains("more than 64 times longer"), "{said}");
    }
}

/// A pattern or table of a file could take hours, or all memory.
#[test]
fn steps_that_have_no_bound_are_refused() {
    let split = |pattern: Value| json!({"type": "Split", "pattern": pattern, "behavior": "Isolated"});
    let around = format!("(?=a){}", "(?=b)".repeat(500));
    for (pattern, words) in [
        ("(?:(?=.*y).)+z", "takes too long on some texts"),
        (r"(?:(a*)b|\1)+c", "takes too long on some texts"),
        ("a{100000}", "too large or none that fancy-regex knows"),
        ("(?:a{1000}){1000}", "too large or none that fancy-regex knows"),
        ("(", "too large or none that fancy-regex knows"),
        (&around, "a pattern of 2505 bytes at `pre_tokenizer`"),
    ] {
        refused_json(BERT, "/pre_tokenizer", split(json!({"Regex": pattern})), &[words, "at `pre_tokenizer`"]);
        let replace = json!({"type": "Replace", "pattern": {"Regex": pattern}, "content": ""});
        refused_json(BERT, "/normalizer", replace, &[words.split(" at ").next().unwrap_or(words), "at `normalizer`"]);
    }
    let step = |step: Value, words: &[&str]| refused_json(BERT, "/normalizer", step, words);
    // Four bytes that say how long a tree is; longer than all that follows.
    for table in ["AAAB", "////fw==", "?"] {
        let precompiled = json!({"type": "Precompiled", "precompiled_charsmap": table});
        println!("{table}");
        step(precompiled, &["another `precompiled_charsmap` at `normalizer`", "in Base64"]);
    }
}

#[test]
fn parts_that_do_not_fit_each_other_are_said() {
    refused_json(BERT, "/model/vocab", json!({}), &["no pieces"]);
    refused_json(BERT, "/model/vocab", json!([["a", 1]]), &["a list at `model.vocab`", "an object of pieces"]);
    refused_json(BERT, "/model/vocab/the", json!(4_294_967_296_u64), &["4294967296", "line 1 column"]);
    refused_json(BERT, "/model/vocab/the", json!(-1), &["-1", "line 1 column"]);
    refused_json(BERT, "/model/vocab/the", json!(4_000_000), &["id 4000000 of `the`", "ids below 1048576"]);
    refused_json(BERT, "/added_tokens/0/content", json!("x".repeat(2000)), &["a piece of 2000 bytes"]);
    refused_json(GPT2, "/model/merges/0", json!(["Ġ", "nowhere"]), &["`nowhere` at `model.merges[0]`"]);
    refused_json(GPT2, "/model/merges/0", json!("a b c"), &["a merge is two pieces", "line 1 column"]);
    refused_json(BERT, "/post_processor/single/0/SpecialToken/id", json!("[X]"), &["special token `[X]`"]);
    let none = json!([600]);
    refused_json(BERT, "/post_processor/special_tokens/[CLS]/ids", none, &["id 600 at `post_processor.single`"]);
    refused_json(BERT, "/post_processor/single/1/Sequence/id", json!("C"), &["sequence `C`", "A or B"]);
    refused_json(BERT, "/post_processor/single/1/Sequence/id", json!("B"), &["`post_processor.single`", "A once"]);
    refused_json(BERT, "/post_processor/pair/1/Sequence/id", json!("B"), &["`post_processor.pair`", "A and B once"]);
}

#[test]
fn files_that_are_no_tokenizers_are_refused() {
    for json in ["", "{", "[]", "null", "{}", r#"{"model": 3}"#, r#"{"model": {"type": "BPE"}}"#] {
        refused(TokenizerFiles::Json(json), &["tokenizer.json: ", "line "]);
    }
    let deep = "[".repeat(100_000);
    refused(TokenizerFiles::Json(&deep), &["tokenizer.json"]);
    let deep = BERT.replacen("\"BertNormalizer\"", &r#"{"type":"Sequence","normalizers":["#.repeat(10_000), 1);
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
