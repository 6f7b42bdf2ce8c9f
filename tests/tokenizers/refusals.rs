//! Tokenizers that are refused: by file, place and name, with what is supported.

use attune_engine::pretrained::tokenizer::{Tokenizer, TokenizerFiles};
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
fn a_step_that_is_not_supported_is_named_with_its_place() {
    let odd = json!({"type": "ByteLevel"});
    let nested = json!({"type": "Sequence", "normalizers": [{"type": "BertNormalizer"}, odd]});
    refused_json(BERT, "/normalizer", odd, &["type `ByteLevel` at `normalizer`", "BertNormalizer or Lowercase or"]);
    refused_json(BERT, "/normalizer", nested, &["`ByteLevel` at `normalizer.normalizers[1]`"]);
    let fixed = json!("FixedLength");
    refused_json(BERT, "/pre_tokenizer/type", fixed, &["`FixedLength` at `pre_tokenizer`", "ByteLevel"]);
    refused_json(BERT, "/post_processor/type", json!("Odd"), &["`Odd` at `post_processor`", "TemplateProcessing"]);
    refused_json(BERT, "/model/type", json!("WordLevel"), &["`WordLevel` at `model`", "WordPiece or BPE or Unigram"]);
    refused_json(GPT2, "/model/dropout", json!(0.1), &["`model.dropout`"]);
    refused_json(GPT2, "/model/end_of_word_suffix", json!("</w>"), &["`model.end_of_word_suffix`"]);
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
    // Bytes spelt as bytes again are twice as many.
    let bytes = json!({"type": "ByteLevel"});
    let twice = nested("pretokenizers", &bytes, 4);
    let at = "`pre_tokenizer.pretokenizers[0].pretokenizers[1]`";
    refused_json(GPT2, "/pre_tokenizer", twice, &["a second step that spells bytes", at]);
}

/// A pattern or table of a file could take hours, or all memory.
#[test]
fn steps_that_have_no_bound_are_refused() {
    let split = |pattern: Value| json!({"type": "Split", "pattern": pattern, "behavior": "Isolated"});
    let endless = split(json!({"Regex": "(a+)+$"}));
    let words = ["the pattern `(a+)+$` at `pre_tokenizer`", "that of Llama 3, of Qwen"];
    refused_json(BERT, "/pre_tokenizer", endless, &words);
    refused_json(BERT, "/pre_tokenizer", split(json!({"String": ""})), &["an empty pattern at `pre_tokenizer`"]);
    let step = |step: Value, words: &[&str]| refused_json(BERT, "/normalizer", step, words);
    let replace = json!({"type": "Replace", "pattern": {"String": "a"}, "content": "a".repeat(65)});
    step(replace, &["65 times longer at `normalizer`", "at most 64 times"]);
    step(json!({"type": "Prepend", "prepend": "a".repeat(17)}), &["at most 16 characters"]);
    // Four bytes that say how long a tree is; longer than all that follows.
    for table in ["AAAB", "////fw==", "?"] {
        let precompiled = json!({"type": "Precompiled", "precompiled_charsmap": table});
        println!("{table}");
        step(precompiled, &["another `precompiled_charsmap` at `normalizer`", "in Base64"]);
    }
    let words = ["`model.max_input_chars_per_word`", "at most 512"];
    refused_json(BERT, "/model/max_input_chars_per_word", json!(u64::MAX), &words);
}

#[test]
fn parts_that_do_not_fit_each_other_are_said() {
    refused_json(BERT, "/model/unk_token", json!("none"), &["`none` at `model.unk_token`"]);
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
    let bert = |vocab, config| TokenizerFiles::WordPiece { vocab, config };
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
    let gpt2 = |vocab, merges, config| TokenizerFiles::BytePair { vocab, merges, config };
    refused(gpt2("[]", "", None), &["vocab.json: ", "a list"]);
    refused(gpt2(r#"{"a": 0}"#, "#version: 0.2\na b\n", None), &["merges.txt: ", "`b` at `line 2`"]);
    refused(gpt2(r#"{"a": 0}"#, "a", None), &["merges.txt: ", "`a` in line 1"]);
    let start = r#"{"add_bos_token": true, "bos_token": "<s>"}"#;
    refused(gpt2(r#"{"a": 0}"#, "", Some(start)), &["tokenizer_config.json: ", "`<s>`"]);
    refused(gpt2(r#"{"a": 0}"#, "", Some(r#"{"tokenizer_class": "RobertaTokenizer"}"#)), &["RobertaTokenizer"]);
}
