//! The rules by which a model of two towers writes: its first and last words, and the words that it never writes. They
//! are in `generation_config.json`, or, in older folders, in `config.json`.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::config::{Config, Family};
use super::fields::{CHECK, Fields};
use super::refusal::Refusal;
use super::texts::{CONFIG, text_if_there};
use crate::numerics::model::WritingRules;

/// File with the settings of generation.
pub const GENERATION: &str = "generation_config.json";
/// Largest size of that file in bytes.
const GENERATION_BYTES_MAX: u64 = 1 << 20;

/// One id or a list of ids.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected an id from 0 on, or a list of ids")]
enum Ids {
    One(usize),
    Several(Vec<usize>),
}

impl Ids {
    fn all(self) -> Vec<usize> {
        match self {
            Self::One(id) => vec![id],
            Self::Several(ids) => ids,
        }
    }
}

/// Reads the rules of a folder's model from the text of its `config.json` and from the file with the settings of
/// generation. A model without a source has no rules.
///
/// # Errors
/// If a file is damaged, or an id is outside the vocabulary.
pub fn rules(folder: &Path, config: &Config, text: &str) -> Result<WritingRules, Refusal> {
    if !config.architecture.has_source() {
        return Ok(WritingRules::default());
    }
    let generation = text_if_there(folder, GENERATION, GENERATION_BYTES_MAX)?;
    let generation =
        generation.as_deref().map(Fields::read).transpose().map_err(|refusal| refusal.in_file(GENERATION))?;
    Settings { generation, config: Fields::read(text)? }.rules(config.family, config.vocabulary)
}

/// The settings of generation. For each key, the file with these settings takes precedence over the config.
struct Settings<'a> {
    generation: Option<Fields<'a>>,
    config: Fields<'a>,
}

impl Settings<'_> {
    fn rules(&self, family: Family, vocabulary: usize) -> Result<WritingRules, Refusal> {
        const START: &str = "decoder_start_token_id";
        let (start, end) = family.usual_ends().unwrap_or_default();
        let of = |key: &str| self.ids(key, vocabulary);
        let start = match of(START)?.or(of("bos_token_id")?) {
            Some(ids) => ids.first().copied(),
            None => Some(within(start, START, vocabulary).map_err(|refusal| refusal.in_file(CONFIG))?),
        };
        let never: Option<Vec<Vec<usize>>> = self.get("bad_words_ids")?.map(|(never, _)| never);
        // Only words of one piece are left out of the output; longer sequences are not supported.
        let never = never.into_iter().flatten().filter(|word| word.len() == 1).flatten();
        Ok(WritingRules {
            start,
            first: of("forced_bos_token_id")?.and_then(|ids| ids.first().copied()),
            never: never.filter(|id| *id < vocabulary).collect(),
            ends: of("eos_token_id")?.unwrap_or(vec![end]),
        })
    }

    /// Returns the ids of a key; `None` if the key is missing or null in both files.
    fn ids(&self, key: &str, vocabulary: usize) -> Result<Option<Vec<usize>>, Refusal> {
        let Some((ids, file)) = self.get::<Ids>(key)? else { return Ok(None) };
        let ids = ids.all().into_iter().map(|id| within(id, key, vocabulary)).collect::<Result<_, _>>();
        ids.map(Some).map_err(|refusal| refusal.in_file(file))
    }

    /// Returns the value of a key and the file that has it; `None` if the key is missing or null in both files.
    fn get<T: serde::de::DeserializeOwned>(&self, key: &str) -> Result<Option<(T, &'static str)>, Refusal> {
        let own = self.generation.map(|fields| fields.get(&[key])).transpose();
        match own.map_err(|refusal| refusal.in_file(GENERATION))?.flatten() {
            Some(found) => Ok(Some((found, GENERATION))),
            None => {
                let found = self.config.get(&[key]).map_err(|refusal| refusal.in_file(CONFIG))?;
                Ok(found.map(|found| (found, CONFIG)))
            }
        }
    }
}

/// Returns the fields of a new model's config with the ids of its rules. Texts are padded with the word that begins
/// what the model writes.
pub(super) fn ids(rules: &WritingRules) -> Map<String, Value> {
    let end = match rules.ends[..] {
        [one] => json!(one),
        [] => Value::Null,
        _ => json!(rules.ends),
    };
    let (start, first) = (json!(rules.start), json!(rules.first));
    [
        ("bos_token_id", Value::Null),
        ("pad_token_id", start.clone()),
        ("decoder_start_token_id", start),
        ("forced_bos_token_id", first),
        ("eos_token_id", end),
    ]
    .into_iter()
    .map(|(key, value)| (key.to_owned(), value))
    .collect()
}

/// Returns the text of a new model's file with the settings of generation.
pub(super) fn to_json(rules: &WritingRules) -> String {
    let mut fields = ids(rules);
    if !rules.never.is_empty() {
        let never: Vec<[usize; 1]> = rules.never.iter().map(|id| [*id]).collect();
        fields.insert("bad_words_ids".to_owned(), json!(never));
    }
    format!("{:#}\n", Value::Object(fields))
}

/// Checks that an id is in the vocabulary, and returns it.
fn within(id: usize, key: &str, vocabulary: usize) -> Result<usize, Refusal> {
    if id < vocabulary {
        return Ok(id);
    }
    Err(Refusal::new(format!("{id} as {key}"), format!("an id from 0 to {}", vocabulary - 1), CHECK))
}

impl Family {
    /// Returns the default ids before the first word and after the last one, for configs that do not give them; `None`
    /// for a family without a source.
    fn usual_ends(self) -> Option<(usize, usize)> {
        match self {
            Self::T5 | Self::Mt5 => Some((0, 1)),
            Self::Bart | Self::MBart => Some((2, 2)),
            Self::Marian => Some((58_100, 0)),
            _ => None,
        }
    }
}
