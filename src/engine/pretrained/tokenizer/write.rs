//! Writing of tokenizers: of whole words, as lessons have them, or of pieces of words.

use serde_json::{Map, Value, json};

use super::steps::WORDS;

/// Piece that stands for every word outside the vocabulary.
pub const UNKNOWN: &str = "[UNK]";
/// Piece that hides a word.
pub const MASK: &str = "[MASK]";
/// Piece before a text; the next constant is the one after it.
const START: &str = "[CLS]";
const END: &str = "[SEP]";
/// Piece before a text that a model continues.
pub const BEGIN: &str = "<s>";
/// Piece that pads the short texts of a batch.
const FILLER: &str = "[PAD]";
/// Piece that pads the texts of a translator and begins what it writes; the next constant is the piece after a text.
pub const PADDING: &str = "<pad>";
pub const STOP: &str = "</s>";

/// The special pieces of a translator.
pub const TRANSLATOR: &[&str] = &[UNKNOWN, PADDING, STOP];

/// The way in which a tokenizer splits a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The words of a lesson, without punctuation.
    Words,
    /// Words and punctuation, which are split into pieces; those within a word begin with `##`. One piece is added
    /// before the text, and for BERT one after it.
    Pieces,
}

/// A tokenizer to be written.
#[derive(Clone, Copy, Debug)]
pub struct NewTokenizer<'a> {
    /// Vocabulary, whose ids count from 0.
    pub own: &'a [String],
    /// Special pieces, whose ids follow those of the vocabulary; [`UNKNOWN`] is one of them.
    pub special: &'a [&'a str],
    pub cut: Cut,
}

impl<'a> NewTokenizer<'a> {
    /// Makes a tokenizer of pieces for BERT.
    pub fn of_pieces(own: &'a [String]) -> Self {
        Self { own, special: &[FILLER, UNKNOWN, START, END, MASK], cut: Cut::Pieces }
    }

    /// Makes a tokenizer of pieces for a model that generates text.
    pub fn of_writer(own: &'a [String]) -> Self {
        Self { own, special: &[UNKNOWN, BEGIN], cut: Cut::Pieces }
    }

    /// Makes a tokenizer of words for a model that translates.
    pub fn of_translator(own: &'a [String]) -> Self {
        Self { own, special: TRANSLATOR, cut: Cut::Words }
    }

    /// Returns the number of all pieces, special ones included.
    pub fn count(&self) -> usize {
        self.own.len() + self.special.len()
    }

    /// Returns the id of a special piece; `None` if the tokenizer does not have it.
    pub fn id_of(&self, special: &str) -> Option<usize> {
        Some(self.own.len() + self.special.iter().position(|name| *name == special)?)
    }

    /// Returns the text of the tokenizer's `tokenizer.json`.
    pub fn to_json(&self) -> String {
        let Self { own, special, cut } = *self;
        let ids = own.iter().map(String::as_str).chain(special.iter().copied()).zip(0u32..);
        let vocabulary: Map<String, Value> = ids.map(|(piece, id)| (piece.to_owned(), id.into())).collect();
        let added = special.iter().zip(own.len()..).map(|(content, id)| {
            json!({
                "id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
                "normalized": false, "special": true,
            })
        });
        let words = json!({
            "type": "Split", "pattern": { "Regex": WORDS }, "behavior": "Removed", "invert": true,
        });
        let tokenizer = json!({
            "version": "1.0",
            "truncation": null,
            "padding": null,
            "added_tokens": added.collect::<Vec<_>>(),
            "normalizer": {
                "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": false,
                "strip_accents": cut == Cut::Pieces, "lowercase": true,
            },
            "pre_tokenizer": if cut == Cut::Words { words } else { json!({ "type": "BertPreTokenizer" }) },
            "post_processor": self.template(),
            "decoder": { "type": "WordPiece", "prefix": "##", "cleanup": false },
            "model": {
                "type": "WordPiece", "unk_token": UNKNOWN, "continuing_subword_prefix": "##",
                "max_input_chars_per_word": 100, "vocab": vocabulary,
            },
        });
        format!("{tokenizer:#}\n")
    }

    /// Returns the template of the pieces around a text; `None` if none are added.
    fn template(&self) -> Option<Value> {
        let around = |name| Some((name, self.id_of(name)?));
        let (start, end) = (around(START).or_else(|| around(BEGIN)), around(END).or_else(|| around(STOP)));
        start.or(end)?;
        let special = |(name, _): (&str, usize)| json!({ "SpecialToken": { "id": name, "type_id": 0 } });
        let text = |name: &str| json!({ "Sequence": { "id": name, "type_id": 0 } });
        let single: Vec<Value> = start.map(special).into_iter().chain([text("A")]).chain(end.map(special)).collect();
        let token = |(name, id): (&str, usize)| (name.to_owned(), json!({ "id": name, "ids": [id], "tokens": [name] }));
        let tokens: Map<String, Value> = start.into_iter().chain(end).map(token).collect();
        Some(json!({
            "type": "TemplateProcessing",
            "pair": single.iter().cloned().chain([text("B")]).chain(end.map(special)).collect::<Vec<_>>(),
            "single": single,
            "special_tokens": tokens,
        }))
    }

    /// Returns the text of the tokenizer's `tokenizer_config.json`, with which transformers uses the tokenizer
    /// unchanged.
    pub fn config(&self, tokens_max: usize) -> String {
        let if_there = |name| self.special.contains(&name).then_some(name);
        let mut config = json!({
            "tokenizer_class": "PreTrainedTokenizerFast",
            "unk_token": UNKNOWN,
            "mask_token": if_there(MASK),
            "model_max_length": tokens_max,
            "clean_up_tokenization_spaces": false,
        });
        let special = [
            ("cls_token", START),
            ("sep_token", END),
            ("pad_token", FILLER),
            ("bos_token", BEGIN),
            ("pad_token", PADDING),
            ("eos_token", STOP),
        ];
        for (field, name) in special {
            if let Some(name) = if_there(name) {
                config[field] = name.into();
            }
        }
        format!("{config:#}\n")
    }
}
