//! Tokenizers: ids, bytes and words as `tokenizers` of Hugging Face has them, older files, and files that are wrong.

#[path = "../common/engine.rs"]
mod common;

mod agreement;
mod every_kind;
mod hostile;
mod older;
mod places;
mod refusals;
mod sentencepiece;
mod today;
mod translators;

use attune_engine::pretrained::tokenizer::{Encoding, Tokenizer, TokenizerFiles};
use serde_json::Value;

const BERT: &str = include_str!("../fixtures/pretrained/bert_tokenizer.json");
const GPT2: &str = include_str!("../fixtures/pretrained/gpt2_tokenizer.json");

#[track_caller]
fn tokenizer(json: &str) -> Tokenizer {
    Tokenizer::read(TokenizerFiles::Json(json)).unwrap_or_else(|refusal| panic!("{refusal}"))
}

#[track_caller]
fn encode(tokenizer: &Tokenizer, written: &str) -> Encoding {
    tokenizer.encode(written).unwrap_or_else(|why| panic!("{written:?}: {why}"))
}

/// A file with other values at JSON pointers.
fn changed(json: &str, change: &[(&str, Value)]) -> String {
    let mut json: Value = serde_json::from_str(json).expect("JSON");
    for (pointer, value) in change {
        *json.pointer_mut(pointer).expect("a place") = value.clone();
    }
    json.to_string()
}

/// The pieces that another tokenizer made of texts: `make_tokens.py`.
fn oracle() -> Value {
    serde_json::from_str(include_str!("tokens.json")).expect("JSON")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("a list")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("a text")
}
