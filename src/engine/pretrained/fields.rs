//! Access to the fields of a `config.json`, each parsed when it is needed. An error gives the field's name, line and
//! column.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use super::refusal::{Refusal, quoted};

/// Advice if a field is wrong.
pub(super) const CHECK: &str = "check config.json";

/// The fields of a config, or of a config nested in it, as for the text part of a model of pictures and text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fields<'a> {
    text: &'a str,
    within: Option<&'static str>,
}

impl<'a> Fields<'a> {
    /// Checks that a text is a JSON object.
    ///
    /// # Errors
    /// If it is not.
    pub fn read(text: &'a str) -> Result<Self, Refusal> {
        let fields = Self { text, within: None };
        fields.deserialize::<IgnoredAny>(&[]).map_err(|error| refused(&error)).map(|_| fields)
    }

    /// Returns the fields of the config within a field.
    pub fn within(self, key: &'static str) -> Self {
        Self { within: Some(key), ..self }
    }

    /// Returns the value at a path of keys; `None` if there is no such field, `Some(None)` if it is null.
    ///
    /// # Errors
    /// If it has another type, or the field occurs twice.
    pub fn find<T: DeserializeOwned>(self, keys: &[&str]) -> Result<Option<Option<T>>, Refusal> {
        let path: Vec<&str> = self.within.iter().copied().chain(keys.iter().copied()).collect();
        self.deserialize(&path).map_err(|error| refused(&format!("{}: {error}", path.join("."))))
    }

    /// Returns the value at a path of keys; `None` if there is no such field or it is null.
    ///
    /// # Errors
    /// See [`Self::find`].
    pub fn get<T: DeserializeOwned>(self, keys: &[&str]) -> Result<Option<T>, Refusal> {
        self.find(keys).map(Option::flatten)
    }

    /// Returns a value, or the default if it is missing or null.
    ///
    /// # Errors
    /// See [`Self::find`].
    pub fn or<T: DeserializeOwned>(self, key: &str, default: T) -> Result<T, Refusal> {
        self.get(&[key]).map(|found| found.unwrap_or(default))
    }

    /// Returns whether there is such a field, null or not.
    ///
    /// # Errors
    /// See [`Self::find`].
    pub fn has(self, keys: &[&str]) -> Result<bool, Refusal> {
        self.find::<IgnoredAny>(keys).map(|found| found.is_some())
    }

    /// Returns a size from 1 to `most`, or the default; `name` describes it in words.
    ///
    /// # Errors
    /// See [`Self::find`]; also if the size is outside.
    pub fn size(self, key: &str, default: usize, name: &str, most: usize) -> Result<usize, Refusal> {
        let size = self.or(key, default)?;
        if (1..=most).contains(&size) { Ok(size) } else { Err(too_large(size, name, key, most)) }
    }

    /// Returns a number within bounds, or the default.
    ///
    /// # Errors
    /// See [`Self::find`]; also if the number is outside.
    pub fn number(self, keys: &[&str], default: f64, [least, most]: [f64; 2]) -> Result<f64, Refusal> {
        let number = self.get(keys)?.unwrap_or(default);
        if number >= least && number <= most {
            return Ok(number);
        }
        let name = keys.last().copied().unwrap_or_default();
        Err(Refusal::new(format!("{number} as {name}"), format!("a number from {least} to {most}"), CHECK))
    }

    /// Checks a flag of which attune supports only one value.
    ///
    /// # Errors
    /// If the flag has the other value, which `found` describes.
    pub fn must_be(self, key: &str, needed: bool, found: &str) -> Result<(), Refusal> {
        if self.or(key, needed)? == needed {
            return Ok(());
        }
        Err(Refusal::new(found, format!("`{key}: {needed}`"), NOT_COMPUTED))
    }

    fn deserialize<T: DeserializeOwned>(self, path: &[&str]) -> Result<Option<Option<T>>, serde_json::Error> {
        let mut json = serde_json::Deserializer::from_str(self.text);
        let found = Under { path, of: PhantomData }.deserialize(&mut json)?;
        json.end().map(|()| found)
    }
}

pub(super) const NOT_COMPUTED: &str = "attune does not compute this model";
const TOO_LARGE: &str = "attune opens only models within these bounds";

/// Returns the refusal of a size out of its bounds.
fn too_large(size: usize, name: &str, key: &str, most: usize) -> Refusal {
    let expected = if most == usize::MAX { "at least 1".to_owned() } else { format!("1 to {most}") };
    Refusal::new(format!("{size} as {name} ({key})"), expected, TOO_LARGE)
}

/// Returns the refusal of more bytes or items than attune reads.
pub(super) fn too_many(found: String, expected: String) -> Refusal {
    Refusal::new(found, expected, TOO_LARGE)
}

/// Returns the refusal of a value that is not one of the supported names.
pub(super) fn no_such(value: &str, key: &str, expected: impl Into<String>) -> Refusal {
    Refusal::new(format!("{} as {key}", quoted(value)), expected, NOT_COMPUTED)
}

fn refused(error: &dyn fmt::Display) -> Refusal {
    Refusal::bad_json(error, "a config in JSON", "check config.json, or download it again")
}

/// Deserialisation of the value at a path of keys, from an object that is read to its end.
struct Under<'a, T> {
    path: &'a [&'a str],
    of: PhantomData<T>,
}

impl<'de, T: DeserializeOwned> DeserializeSeed<'de> for Under<'_, T> {
    type Value = Option<Option<T>>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_any(self)
    }
}

impl<'de, T: DeserializeOwned> Visitor<'de> for Under<'_, T> {
    type Value = Option<Option<T>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    /// Treats null as an object without fields.
    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
        let mut found = None;
        let mut is_there = false;
        while let Some(key) = map.next_key::<String>()? {
            let Some((first, rest)) = self.path.split_first().filter(|(first, _)| **first == key) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            if std::mem::replace(&mut is_there, true) {
                return Err(M::Error::custom(format_args!("duplicate field `{first}`")));
            }
            found = if rest.is_empty() {
                Some(map.next_value::<Option<T>>()?)
            } else {
                map.next_value_seed(Under { path: rest, of: PhantomData })?
            };
        }
        Ok(found)
    }
}
