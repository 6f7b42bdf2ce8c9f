//! The metadata of a recording: the tokens, the words that they are pieces of, and the facts known of the model.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

use super::parts::TOKENS_MAX;
use crate::json;
use crate::messages::{counted, counted_as, named};
use crate::pretrained::Refusal;

/// Key of the metadata entry that makes a file a recording; [`VERSION`] is its value.
pub const KEY: &str = "attune";
pub const VERSION: &str = "recording 1";

/// Largest number of characters of a token.
pub(super) const TOKEN_CHARS_MAX: usize = 1000;
const VALUE_CHARS_MAX: usize = 40;
/// Largest number of entries of a list, more than the largest vocabulary has.
const ENTRIES_MAX: usize = 1 << 19;

/// Advice if the metadata is wrong.
const WRITE_AGAIN: &str = "write the recording again with the recorder that `attune manual record` prints";

named! {
    /// The number type in which a model computed, from the finest to the coarsest.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Precision {
        F32 = "F32",
        F16 = "F16",
        BF16 = "BF16",
    }
}

/// The patches of a picture, which are its tokens, row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    pub rows: usize,
    pub columns: usize,
}

/// The metadata of one recorded text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct About {
    pub tokens: Vec<String>,
    /// Tokens of the source; `None` if the text has no source.
    pub source_tokens: Option<Vec<String>>,
    /// Positions of the tokens that the tokenizer added, in order.
    pub special: Vec<usize>,
    pub source_special: Vec<usize>,
    /// Number of the word that each token is a piece of; `None` if every token is a word of its own.
    pub words: Option<Vec<Option<i64>>>,
    pub grid: Option<Grid>,
    /// Names of the columns of the logits.
    pub classes: Option<Vec<String>>,
    pub model: Option<String>,
    pub text: Option<String>,
    /// Whether the model's final norm was already applied to the last hidden state; the next field says the same of the
    /// encoder.
    pub final_norm_applied: bool,
    pub source_final_norm_applied: bool,
    /// Number type in which the model ran, if it is not that of the recorded tensors.
    pub computed: Option<Precision>,
    /// Whether small weights were left out of the recording.
    pub is_partial: bool,
    /// The learner's changes to the pass, in a recording that attune wrote.
    pub changed: Option<String>,
}

/// The metadata entries that apply to one text: its own, and those of the file where it has none.
pub(super) struct Entries<'a> {
    pub all: &'a BTreeMap<String, String>,
    pub text: Option<usize>,
    pub faults: &'a mut Vec<Refusal>,
}

impl Entries<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        let own = self.text.and_then(|text| self.all.get(&format!("{text}/{key}")));
        own.or_else(|| self.all.get(key)).map(String::as_str)
    }

    fn fault(&mut self, key: &str, found: impl Into<String>, expected: impl Into<String>) {
        let named = self.text.map_or_else(|| key.to_owned(), |text| format!("{text}/{key}"));
        self.faults.push(Refusal::new(found, expected, WRITE_AGAIN).of_tensor(&named));
    }

    /// Reads a list in JSON. Returns `None` if there is no such entry, or if it is wrong, which is added to the faults.
    fn list<T: DeserializeOwned>(&mut self, key: &str, expected: &str) -> Option<Vec<T>> {
        let mut reader = serde_json::Deserializer::from_str(self.get(key)?);
        let list = json::beginning::<{ ENTRIES_MAX + 1 }, _, T>(&mut reader);
        match list.and_then(|list| reader.end().map(|()| list)) {
            Ok(list) if list.len() <= ENTRIES_MAX => Some(list),
            Ok(_) => {
                self.fault(key, format!("more than {ENTRIES_MAX} entries"), format!("at most {ENTRIES_MAX}"));
                None
            }
            Err(error) => {
                let Refusal { found, .. } = Refusal::bad_json(&error, expected, WRITE_AGAIN);
                self.fault(key, found, expected);
                None
            }
        }
    }

    /// Reads a list of tokens. Returns `None` if there is no such entry, or if it is wrong, which is added to the
    /// faults.
    fn tokens(&mut self, key: &str) -> Option<Vec<String>> {
        let tokens: Vec<String> = self.list(key, "a list of strings in JSON, one for each token")?;
        if tokens.is_empty() || tokens.len() > TOKENS_MAX {
            self.fault(key, counted(tokens.len(), "token"), format!("1 to {TOKENS_MAX} tokens"));
            return None;
        }
        if let Some(at) = tokens.iter().position(|token| token.chars().nth(TOKEN_CHARS_MAX).is_some()) {
            let found = format!("more than {TOKEN_CHARS_MAX} characters in token {}", at + 1);
            self.fault(key, found, format!("at most {TOKEN_CHARS_MAX} characters in each token"));
            return None;
        }
        Some(tokens)
    }

    /// Reads a list of token positions, sorts it and removes duplicates. The list is empty if there is no such entry,
    /// or if the entry is wrong; then it also records a fault.
    fn places(&mut self, key: &str, tokens: usize) -> Vec<usize> {
        let mut places: Vec<usize> = self.list(key, "a list of places of tokens in JSON").unwrap_or_default();
        places.sort_unstable();
        places.dedup();
        if let Some(outside) = places.iter().find(|place| **place >= tokens) {
            let found = format!("the place {outside}");
            self.fault(key, found, format!("places from 0 to {}, as there are {tokens} tokens", tokens - 1));
            return Vec::new();
        }
        places
    }

    fn words(&mut self, tokens: usize) -> Option<Vec<Option<i64>>> {
        const KEY: &str = "words";
        let words: Vec<Option<i64>> = self.list(KEY, "a list in JSON, a number or null for each token")?;
        if words.len() != tokens {
            self.fault(KEY, counted_as(words.len(), "entry", "entries"), format!("{tokens} entries"));
            return None;
        }
        Some(words)
    }

    fn grid(&mut self, patches: usize) -> Option<Grid> {
        const KEY: &str = "grid";
        let text = self.get(KEY)?;
        let sizes = text.split_once('x').and_then(|(rows, columns)| Some((rows.parse().ok()?, columns.parse().ok()?)));
        let product = sizes.and_then(|(rows, columns): (usize, usize)| rows.checked_mul(columns));
        if let (Some((rows, columns)), Some(product)) = (sizes, product)
            && product == patches
            && product > 0
        {
            return Some(Grid { rows, columns });
        }
        let found = format!("{:?}", beginning(text));
        let expected = format!("rows x columns, such as 14x14, of {patches} patches: the tokens that are not special");
        self.fault(KEY, found, expected);
        None
    }

    /// Returns whether an entry is there and has `value`. Any other value is added to the faults.
    fn is_said(&mut self, key: &str, value: &str) -> bool {
        let found = self.get(key).map(beginning);
        let is_said = found.as_deref() == Some(value);
        if let Some(found) = found.filter(|_| !is_said) {
            self.fault(key, format!("{found:?}"), format!("{value:?}, or no such entry"));
        }
        is_said
    }

    fn computed(&mut self) -> Option<Precision> {
        const KEY: &str = "computed";
        let found = self.get(KEY)?.to_owned();
        // TF32 has as many fraction digits as F16.
        let name = if found == "TF32" { "F16" } else { &found };
        let precision = Precision::ALL.into_iter().find(|precision| precision.name() == name);
        if precision.is_none() {
            let found = format!("{:?}", beginning(&found));
            self.fault(KEY, found, "F32, TF32, F16 or BF16");
        }
        precision
    }

    /// Reads the metadata of the text; `None` if its tokens are missing or wrong.
    pub(super) fn read(mut self) -> Option<About> {
        /// The only value of the entries about a final norm.
        const APPLIED: &str = "applied";

        let owned = |text: Option<&str>| text.map(str::to_owned);
        if self.get("tokens").is_none() {
            self.fault("tokens", "no such entry in the metadata", "a list of the tokens, in JSON");
        }
        let tokens = self.tokens("tokens");
        let source_tokens = self.tokens("source_tokens");
        let tokens = tokens?;
        let special = self.places("special", tokens.len());
        let source_special = match &source_tokens {
            Some(source) => self.places("source_special", source.len()),
            None => Vec::new(),
        };
        Some(About {
            words: self.words(tokens.len()),
            grid: self.grid(tokens.len() - special.len()),
            classes: self.list("classes", "a list of strings in JSON, one for each column of the logits"),
            model: owned(self.get("model")),
            text: owned(self.get("text")),
            final_norm_applied: self.is_said("final_norm", APPLIED) || self.is_said("decoder_final_norm", APPLIED),
            source_final_norm_applied: self.is_said("encoder_final_norm", APPLIED),
            computed: self.computed(),
            is_partial: self.is_said("rows", "partial"),
            changed: owned(self.get("changed")),
            tokens,
            source_tokens,
            special,
            source_special,
        })
    }
}

/// Returns the first characters of a value, for a message.
pub(super) fn beginning(value: &str) -> String {
    value.chars().take(VALUE_CHARS_MAX).collect()
}
