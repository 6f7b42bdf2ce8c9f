//! A tokenizer of whole words, written: its words are those of lessons, and each is one piece.

use serde_json::{Value, json};

use super::split::WORDS;

/// The name of a piece that stands for every word that is none of the vocabulary.
pub const UNKNOWN: &str = "[UNK]";
/// The name of the piece that hides a word.
pub const MASK: &str = "[MASK]";

/// The text of a `tokenizer.json` in which these words have the ids from 0 on, and the special pieces those behind
/// them; [`UNKNOWN`] is one of those.
pub fn of_words(words: &[String], special: &[&str]) -> String {
    let ids = words.iter().map(String::as_str).chain(special.iter().copied()).zip(0u32..);
    let vocabulary: serde_json::Map<String, Value> = ids.map(|(piece, id)| (piece.to_owned(), id.into())).collect();
    let added = special.iter().zip(words.len()..).map(|(content, id)| {
        json!({
            "id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
            "normalized": false, "special": true,
        })
    });
    let tokenizer = json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": added.collect::<Vec<_>>(),
        "normalizer": {
            "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": false, "strip_accents": false,
            "lowercase": true,
        },
        "pre_tokenizer": {
            "type": "Split", "pattern": { "Regex": WORDS }, "behavior": "Removed", "invert": true,
        },
        "post_processor": null,
        "decoder": { "type": "WordPiece", "prefix": "##", "cleanup": false },
        "model": {
            "type": "WordPiece", "unk_token": UNKNOWN, "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": vocabulary,
        },
    });
    format!("{tokenizer:#}\n")
}

/// The text of the `tokenizer_config.json` beside it, by which transformers takes it as it is.
pub fn config(special: &[&str], tokens_max: usize) -> String {
    let mask = special.contains(&MASK).then_some(MASK);
    let config = json!({
        "tokenizer_class": "PreTrainedTokenizerFast",
        "unk_token": UNKNOWN,
        "mask_token": mask,
        "model_max_length": tokens_max,
        "clean_up_tokenization_spaces": false,
    });
    format!("{config:#}\n")
}
