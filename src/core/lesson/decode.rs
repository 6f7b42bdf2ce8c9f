//! One value of the file, decoded on its own, so that a wrong one does not hide the others.
//!
//! `ron` hands out the text of a value unread (`RawValue`), borrowed from the file: a [`Node`].
//! Each decoder here answers `None` after it has reported what is wrong.

use std::fmt;
use std::ops::RangeInclusive;

use ron::value::RawValue;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use unicode_normalization::UnicodeNormalization;

use super::issue::{one_of, shorten};
use super::source::Node;

/// A decoded value and its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct At<'s, T> {
    pub value: T,
    pub node: Node<'s>,
}

impl<'s> Node<'s> {
    /// A value inside this one.
    pub fn inner(self, raw: &'s RawValue) -> Self {
        Self { text: raw.trim().get_ron(), ..self }
    }

    pub fn kind(self) -> Kind {
        let text = self.text;
        let raw_text = text.strip_prefix('r').is_some_and(|r| r.trim_start_matches('#').starts_with('"'));
        let number = |digits: &str| digits.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | '+' | '-'));
        match text.chars().next() {
            None => Kind::Nothing,
            Some('"') => Kind::Text,
            Some('[') => Kind::List,
            Some('{') => Kind::Map,
            Some('(') => Kind::Unnamed,
            Some('\'') => Kind::Character,
            Some(_) if raw_text => Kind::Text,
            Some('b') if text.starts_with("b\"") || text.starts_with("br\"") || text.starts_with("br#\"") => {
                Kind::Bytes
            }
            Some('b') if text.starts_with("b'") => Kind::Bytes,
            Some(_) if number(text) || is_special_number(text) => Kind::Number,
            Some(_) if text == "true" || text == "false" => Kind::Flag,
            Some(_) => Kind::Named,
        }
    }

    /// The value as a message names it.
    fn describe(self) -> String {
        let text = shorten(self.text);
        match self.kind() {
            Kind::Nothing => "nothing".to_owned(),
            Kind::Text => format!("the text {text}"),
            Kind::Number => format!("the number {text}"),
            Kind::Flag | Kind::Named => text,
            Kind::List => "a list".to_owned(),
            Kind::Map => "a map".to_owned(),
            Kind::Unnamed => format!("{text} without a name before it"),
            Kind::Character => format!("the character {text}"),
            Kind::Bytes => format!("the bytes {text}"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Nothing,
    Text,
    Number,
    Flag,
    List,
    Map,
    /// `Name` or `Name(…)`
    Named,
    /// `(…)`
    Unnamed,
    Character,
    Bytes,
}

fn is_special_number(text: &str) -> bool {
    matches!(text, "inf" | "inff32" | "inff64" | "NaN" | "NaNf32" | "NaNf64")
}

/// Reports a value that is not of the wanted shape or size.
pub(super) fn wrong<'s, T>(node: Node<'s>, expected: &str) -> Option<T> {
    node.field_issue(format!("found {}", node.describe())).expected(expected).none()
}

/// Text in its composed form (NFC): names that look the same are the same.
pub(super) fn text(node: Node<'_>) -> Option<String> {
    match (node.kind(), ron::from_str::<String>(node.text)) {
        (Kind::Text, Ok(text)) => Some(text.nfc().collect()),
        _ => wrong(node, "text in double quotes"),
    }
}

pub(super) fn flag(node: Node<'_>) -> Option<bool> {
    match node.text {
        "true" => Some(true),
        "false" => Some(false),
        _ => wrong(node, "true or false"),
    }
}

/// Decodes a whole number within limits.
pub(super) fn whole(limits: RangeInclusive<usize>) -> impl Fn(Node<'_>) -> Option<usize> {
    move |node| {
        let number = match node.kind() {
            Kind::Number => ron::from_str::<usize>(node.text).ok(),
            _ => None,
        };
        number.filter(|number| limits.contains(number)).or_else(|| {
            let expected = match (limits.start(), limits.end()) {
                (least, most) if least == most => format!("{least}, the only one"),
                (least, most) => format!("a whole number from {least} to {most}"),
            };
            wrong(node, &expected)
        })
    }
}

pub(super) fn seed(node: Node<'_>) -> Option<u64> {
    match (node.kind(), ron::from_str(node.text)) {
        (Kind::Number, Ok(seed)) => Some(seed),
        _ => wrong(node, &format!("a whole number from 0 to {}", u64::MAX)),
    }
}

/// Decodes a finite number that `accept` takes; `words` says which those are.
pub(super) fn number<'s>(accept: fn(f64) -> bool, words: &'static str) -> impl Fn(Node<'s>) -> Option<f64> {
    move |node| match (node.kind(), ron::from_str::<f64>(node.text)) {
        (Kind::Number, Ok(number)) if number.is_finite() && accept(number) => Some(number),
        _ => wrong(node, words),
    }
}

/// Decodes one of a few names.
pub(super) fn choice<'s, T: Copy>(names: &'static [(&'static str, T)]) -> impl Fn(Node<'s>) -> Option<T> {
    move |node| {
        let found = names.iter().find(|(name, _)| *name == node.text);
        found.map(|(_, value)| *value).or_else(|| {
            let known: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
            node.field_issue(format!("found {}", node.describe()))
                .expected(one_of(&known))
                .nearest(node.text, known)
                .none()
        })
    }
}

/// Decodes a list of at most `max` values. All wrong values are reported; one makes the list `None`.
pub(super) fn list<'s, T>(node: Node<'s>, max: usize, mut decode: impl FnMut(Node<'s>) -> Option<T>) -> Option<Vec<T>> {
    let (Kind::List, Ok(raw)) = (node.kind(), ron::from_str::<Vec<&RawValue>>(node.text)) else {
        return wrong(node, "a list, such as [ … ]");
    };
    if too_many(node, raw.len(), max) {
        return None;
    }
    // Collected in two steps: the first must run to the end for all issues to be found.
    let all: Vec<Option<T>> = raw.into_iter().map(|raw| decode(node.inner(raw))).collect();
    all.into_iter().collect()
}

/// Decodes a list as a field: [`list`] with its arguments given in advance.
pub(super) fn list_of<'s, T>(
    max: usize,
    mut decode: impl FnMut(Node<'s>) -> Option<T>,
) -> impl FnMut(Node<'s>) -> Option<Vec<T>> {
    move |node| list(node, max, &mut decode)
}

/// Decodes a number from 0 to 1.
pub(super) fn share(node: Node<'_>) -> Option<f64> {
    number(|x| (0.0..=1.0).contains(&x), "a number from 0 to 1")(node)
}

/// Decodes any finite number.
pub(super) fn finite(node: Node<'_>) -> Option<f64> {
    number(|_| true, "a number")(node)
}

/// Decodes a number above 0.
pub(super) fn positive(node: Node<'_>) -> Option<f64> {
    number(|x| x > 0.0, "a number above 0")(node)
}

/// Decodes a map with text keys, in the order of writing; a key must not come twice.
pub(super) fn map<'s, T>(
    node: Node<'s>,
    max: usize,
    mut decode: impl FnMut(Node<'s>) -> Option<T>,
) -> Option<Vec<(At<'s, String>, T)>> {
    let (Kind::Map, Ok(RawMap(raw))) = (node.kind(), ron::from_str::<RawMap>(node.text)) else {
        return wrong(node, "a map, such as { \"name\": … }");
    };
    if too_many(node, raw.len(), max) {
        return None;
    }
    let mut seen = std::collections::HashSet::new();
    let mut all = Vec::new();
    for (key, value) in raw {
        let key_node = node.inner(key);
        let key = text(key_node).filter(|key| {
            let fresh = seen.insert(key.clone());
            if !fresh {
                key_node.issue(format!("{}: {} appears twice", node.label, shorten(key_node.text)));
            }
            fresh
        });
        let value = decode(node.inner(value));
        all.push(key.zip(value).map(|(key, value)| (At { value: key, node: key_node }, value)));
    }
    all.into_iter().collect()
}

fn too_many(node: Node<'_>, count: usize, max: usize) -> bool {
    if count > max {
        node.field_issue(format!("{count} entries")).expected(format!("at most {max}"));
    }
    count > max
}

/// The entries of a map, unread and in order.
struct RawMap<'de>(Vec<(&'de RawValue, &'de RawValue)>);

impl<'de> Deserialize<'de> for RawMap<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = RawMap<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(RawMap(entries))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}
