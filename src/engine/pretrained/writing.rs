//! The rules by which a model of two towers writes: its first and last words, and those that it never writes. They are in
//! `generation_config.json`, or, in older folders, in `config.json`.

use std::path::Path;

use serde::Deserialize;

use super::config::{Config, Family};
use super::fields::{CHECK, Fields};
use super::refusal::Refusal;
use super::texts::text_if_there;
use crate::numerics::model::generate::WritingRules;

/// File with the settings of generation.
pub const GENERATION: &str = "generation_config.json";
/// Largest size of that file in bytes.
const GENERATION_BYTES_MAX: u64 = 1 << 20;

/// One id, or several.
#[derive(Deserialize)]
#[serde(untagged)]
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

/// Reads the rules of a folder's model from the text of its `config.json`, and from the file beside it. A model of one
/// sentence has none.
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

/// The settings of generation; those of its own file go before those of the config, key by key.
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
            None => Some(within(start, START, vocabulary)?),
        };
        let never: Option<Vec<Vec<usize>>> = self.get("bad_words_ids")?;
        // Sequences of several pieces are searched for by beams alone.
        let never = never.into_iter().flatten().filter(|word| word.len() == 1).flatten();
        Ok(WritingRules {
            start,
            first: of("forced_bos_token_id")?.and_then(|ids| ids.first().copied()),
            never: never.filter(|id| *id < vocabulary).collect(),
            ends: of("eos_token_id")?.unwrap_or(vec![end]),
        })
    }

    /// Returns the ids of a key; `None` if both files lack it, or have null.
    fn ids(&self, key: &str, vocabulary: usize) -> Result<Option<Vec<usize>>, Refusal> {
        let Some(ids) = self.get::<Ids>(key)?.map(Ids::all) else { return Ok(None) };
        ids.into_iter().map(|id| within(id, key, vocabulary)).collect::<Result<_, _>>().map(Some)
    }

    fn get<T: serde::de::DeserializeOwned>(&self, key: &str) -> Result<Option<T>, Refusal> {
        let own = self.generation.map(|fields| fields.get(&[key])).transpose();
        match own.map_err(|refusal| refusal.in_file(GENERATION))?.flatten() {
            Some(found) => Ok(Some(found)),
            None => self.config.get(&[key]),
        }
    }
}

/// Checks that an id is one of the vocabulary.
fn within(id: usize, key: &str, vocabulary: usize) -> Result<usize, Refusal> {
    if id < vocabulary {
        return Ok(id);
    }
    Err(Refusal::new(format!("{id} as {key}"), format!("an id from 0 to {}", vocabulary - 1), CHECK))
}

impl Family {
    /// Returns the ids before the first word and behind the last one where no file names them; `None` of families that
    /// read one sentence.
    fn usual_ends(self) -> Option<(usize, usize)> {
        match self {
            Self::T5 | Self::Mt5 => Some((0, 1)),
            Self::Bart | Self::MBart => Some((2, 2)),
            Self::Marian => Some((58_100, 0)),
            _ => None,
        }
    }
}
