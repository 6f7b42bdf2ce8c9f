//! Decoding of the values in the tree of a file, one by one, so that one wrong value does not hide others.
//!
//! A decoder returns `None` after it has reported an issue. [`fields`] reads a record, `Name(field: value, …)`,
//! according to a table of its fields: each wrong, missing, unknown or repeated field is an issue of its own.

use std::collections::HashSet;
use std::fmt::Display;
use std::ops::RangeInclusive;

use attune_engine::files::text_without_mark;
use attune_engine::messages::nearest;

use crate::lesson::reading::file::{LESSON_BYTES_MAX, too_large};
use crate::lesson::reading::issue::{Issues, LessonIssue, Report, one_of, shorten};
use crate::lesson::reading::text::{normal, written_words};
use crate::lesson::reading::tree::{self, Body, Form, Value};

/// A value of the file, or a part of one.
#[derive(Clone, Copy, Debug)]
pub struct Node<'s> {
    /// The value's source text. Its address in memory determines its place in the file.
    pub text: &'s str,
    value: &'s Value<'s>,
    /// Name of the field that contains the value, for messages.
    pub label: &'static str,
    pub issues: &'s Issues<'s>,
}

/// A decoded value and its place.
#[derive(Clone, Copy, Debug)]
pub struct At<'s, T> {
    pub value: T,
    pub node: Node<'s>,
}

impl<'s> Node<'s> {
    pub fn new(value: &'s Value<'s>, issues: &'s Issues<'s>) -> Self {
        Self { text: value.text, value, label: "", issues }
    }

    /// Returns the node of a value inside this one.
    pub fn inner(self, value: &'s Value<'s>) -> Self {
        Self { text: value.text, value, ..self }
    }

    /// Returns the node of a part of the text.
    pub fn at(self, text: &'s str) -> Self {
        Self { text, ..self }
    }

    pub fn form(self) -> &'s Form<'s> {
        &self.value.form
    }

    /// Reports an issue at this place. The result can be extended by the expected value and the nearest name.
    pub fn issue(self, message: impl Into<String>) -> Report<'s> {
        self.issues.report(self.text, message)
    }

    /// Reports an issue of the field that contains this value, with the field's name before the message.
    pub fn field_issue(self, message: impl Display) -> Report<'s> {
        match self.label {
            "" => self.issue(message.to_string()),
            label => self.issue(format!("{label}: {message}")),
        }
    }

    /// Returns the first occurrence of `part` in this node as a whole word, or the node itself if an escape in the text
    /// hides it.
    pub fn part(self, part: &str) -> Self {
        let found = self.text.match_indices(part).find(|(start, found)| {
            let joins = |left: Option<char>, right: Option<char>| {
                left.is_some_and(char::is_alphanumeric) && right.is_some_and(char::is_alphanumeric)
            };
            let before = self.text[..*start].chars().next_back();
            let after = self.text[start + found.len()..].chars().next();
            !joins(before, found.chars().next()) && !joins(found.chars().next_back(), after)
        });
        match found {
            Some((_, text)) if !text.is_empty() => self.at(text),
            _ => self,
        }
    }

    /// Returns the place of a word of [`tokenize`](crate::lesson::reading::text::tokenize) in this text, however the
    /// word is spelt there, or the node itself if an escape in the text hides it.
    pub fn word(self, word: &str) -> Self {
        written_words(self.text).find(|written| normal(written) == word).map_or(self, |text| self.at(text))
    }

    /// Describes the value for a message.
    fn describe(self) -> String {
        let text = shorten(self.text);
        match self.form() {
            Form::Text(_) => format!("the text {text}"),
            Form::Number => format!("the number {text}"),
            Form::Flag(_) | Form::Record(Some(_), _) => text,
            Form::List(_) => "a list".to_owned(),
            Form::Map(_) => "a map".to_owned(),
            Form::Record(None, _) => format!("{text} without a name before it"),
            Form::Character => format!("the character {text}"),
            Form::Bytes => format!("the bytes {text}"),
        }
    }
}

/// Decodes the text of a whole file; `file_name` is used in the issues.
///
/// # Errors
/// All issues of the file, of which there is at least one.
pub fn decoded<T>(
    file_name: &str,
    text: &str,
    decode: impl FnOnce(Node<'_>) -> Option<T>,
) -> Result<T, Vec<LessonIssue>> {
    if text.len() as u64 > LESSON_BYTES_MAX {
        return Err(vec![too_large(file_name, &format_args!("{} bytes", text.len()))]);
    }
    let text = text_without_mark(text);
    let issues = Issues::new(file_name, text);
    let tree = tree::read(&issues);
    match tree.as_ref().and_then(|tree| decode(Node::new(tree, &issues))) {
        Some(value) if issues.is_empty() => Ok(value),
        _ => {
            // Every `None` comes with an issue. If one does not, this message is better than silence.
            if issues.is_empty() {
                issues.report(text, "the file could not be read, and attune does not know why; please report this");
            }
            Err(issues.finish())
        }
    }
}

/// Reports a value of the wrong kind or size.
pub fn wrong<'s, T>(node: Node<'s>, expected: &str) -> Option<T> {
    node.field_issue(format!("found {}", node.describe())).expected(expected).none()
}

pub fn text(node: Node<'_>) -> Option<String> {
    match node.form() {
        Form::Text(text) => Some(text.clone()),
        _ => wrong(node, "text in double quotes"),
    }
}

pub fn flag(node: Node<'_>) -> Option<bool> {
    match node.form() {
        Form::Flag(flag) => Some(*flag),
        _ => wrong(node, "true or false"),
    }
}

/// Parses a number as RON does, or returns `None` if the value is not such a number.
pub fn parsed<T: serde::de::DeserializeOwned>(node: Node<'_>) -> Option<T> {
    matches!(node.form(), Form::Number).then(|| ron::from_str(node.text).ok()).flatten()
}

/// Returns a decoder of whole numbers within limits.
pub fn whole(limits: RangeInclusive<usize>) -> impl Fn(Node<'_>) -> Option<usize> {
    move |node| {
        parsed(node).filter(|number| limits.contains(number)).or_else(|| {
            let expected = match (limits.start(), limits.end()) {
                (least, most) if least == most => format!("{least}, the only one"),
                (least, most) => format!("a whole number from {least} to {most}"),
            };
            wrong(node, &expected)
        })
    }
}

pub fn seed(node: Node<'_>) -> Option<u64> {
    parsed(node).or_else(|| wrong(node, &format!("a whole number from 0 to {}", u64::MAX)))
}

/// Returns a decoder of finite numbers that `accept` accepts; `words` describes these numbers.
pub fn number<'s>(accept: fn(f64) -> bool, words: &'static str) -> impl Fn(Node<'s>) -> Option<f64> {
    move |node| {
        let number = parsed(node).filter(|number: &f64| number.is_finite() && accept(*number));
        number.or_else(|| wrong(node, words))
    }
}

/// Returns a decoder of numbers within limits.
pub fn within(limits: RangeInclusive<f64>) -> impl Fn(Node<'_>) -> Option<f64> {
    move |node| {
        parsed(node).filter(|number| limits.contains(number)).or_else(|| {
            // Written as a decimal, such a number would have many zeros.
            let [least, most] = [limits.start(), limits.end()].map(|x| match *x {
                x if x > 0.0 && x < 1e-6 => format!("{x:e}"),
                x => x.to_string(),
            });
            wrong(node, &format!("a number from {least} to {most}"))
        })
    }
}

/// Decodes a number from 0 to 1.
pub fn share(node: Node<'_>) -> Option<f64> {
    within(0.0..=1.0)(node)
}

/// Decodes any finite number.
pub fn finite(node: Node<'_>) -> Option<f64> {
    number(|_| true, "a number")(node)
}

/// Decodes a number above 0.
pub fn positive(node: Node<'_>) -> Option<f64> {
    number(|x| x > 0.0, "a number above 0")(node)
}

/// Returns a decoder of one of a few names.
pub fn choice<'s, T: Copy>(names: &'static [(&'static str, T)]) -> impl Fn(Node<'s>) -> Option<T> {
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

/// Decodes a list of at most `max` values. Every wrong value is reported; if there is one, the result is `None`.
pub fn list<'s, T>(node: Node<'s>, max: usize, decode: impl FnMut(Node<'s>) -> Option<T>) -> Option<Vec<T>> {
    let Form::List(values) = node.form() else { return wrong(node, "a list, such as [ … ]") };
    if too_many(node, values.len(), max) {
        return None;
    }
    all(values.iter().map(|value| node.inner(value)).map(decode))
}

/// Collects the values if all are present. Every one is decoded first, so that all issues are found.
pub fn all<T>(values: impl Iterator<Item = Option<T>>) -> Option<Vec<T>> {
    values.collect::<Vec<_>>().into_iter().collect()
}

/// Returns a decoder of lists, for use as a field: [`list`] with its arguments supplied.
pub fn list_of<'s, T>(
    max: usize,
    mut decode: impl FnMut(Node<'s>) -> Option<T>,
) -> impl FnMut(Node<'s>) -> Option<Vec<T>> {
    move |node| list(node, max, &mut decode)
}

/// Decodes a list of different names; `what` precedes the name in an issue.
pub fn different<'s>(
    node: Node<'s>,
    max: usize,
    what: &str,
    decode: impl Fn(Node<'s>) -> Option<String>,
) -> Option<Vec<String>> {
    let mut seen = HashSet::new();
    list(node, max, |node| {
        let name = decode(node)?;
        match seen.insert(name.clone()) {
            true => Some(name),
            false => node.field_issue(format!("{what}\"{name}\" appears twice")).none(),
        }
    })
}

/// Decodes a map with different texts as keys, in the order of the file.
pub fn map<'s, T>(
    node: Node<'s>,
    max: usize,
    mut decode: impl FnMut(Node<'s>) -> Option<T>,
) -> Option<Vec<(At<'s, String>, T)>> {
    let Form::Map(entries) = node.form() else { return wrong(node, "a map, such as { \"name\": … }") };
    if too_many(node, entries.len(), max) {
        return None;
    }
    let mut seen = HashSet::new();
    all(entries.iter().map(|(key, value)| {
        let key_node = node.inner(key);
        let key = text(key_node).filter(|key| {
            let fresh = seen.insert(key.clone());
            if !fresh {
                key_node.issue(format!("{}: {} appears twice", node.label, shorten(key_node.text)));
            }
            fresh
        });
        let value = decode(node.inner(value));
        key.zip(value).map(|(key, value)| (At { value: key, node: key_node }, value))
    }))
}

fn too_many(node: Node<'_>, count: usize, max: usize) -> bool {
    if count > max {
        node.field_issue(format!("{count} entries")).expected(format!("at most {max}"));
    }
    count > max
}

/// A record, `Name(field: value, …)`.
pub struct Record<'s> {
    /// The record's name, one of the expected names.
    pub name: &'static str,
    pub node: Node<'s>,
    fields: Vec<Field<'s>>,
    /// Values without field names, `Name(value)`.
    items: &'s [Value<'s>],
    /// The fields that the record may have.
    known: Vec<&'static str>,
    missing: Vec<&'static str>,
}

struct Field<'s> {
    name: &'s str,
    value: &'s Value<'s>,
    taken: bool,
}

/// Reads the fields of a record according to a table.
///
/// ```text
/// fields! { record => Claim {
///     id: id;                                  // must be there
///     says: line, or String::new();            // may be left out
///     fact as "what": read_fact, optional;     // an `Option`, and another name in the lesson
/// } }
/// ```
///
/// Every line is read even if another is wrong, so that all issues are found in one pass; a decoder may use the fields
/// above it. The value is `None` if any field has an issue. With `;` instead of `=> Type`, the table declares the
/// fields as local `Option`s, for checks between them; [`complete`] joins them.
macro_rules! fields {
    ($record:expr => $($type:ident)::+ {
        $($field:ident $(as $written:literal)?: $decode:expr $(, $rule:ident $($default:expr)?)?;)+
    }) => {{
        fields! { $record; $($field $(as $written)?: $decode $(, $rule $($default)?)?;)+ }
        $crate::lesson::reading::decode::complete!($($type)::+ { $($field),+ })
    }};
    ($record:expr; $($field:ident $(as $written:literal)?: $decode:expr $(, $rule:ident $($default:expr)?)?;)+) => {
        $(let $field = {
            let name = fields!(@name $field $($written)?);
            fields!(@take $record, name, $decode $(, $rule $($default)?)?)
        };)+
    };
    (@take $record:expr, $name:expr, $decode:expr) => { $record.take($name, $decode) };
    (@take $record:expr, $name:expr, $decode:expr, or $default:expr) => { $record.take_or($name, $default, $decode) };
    (@take $record:expr, $name:expr, $decode:expr, optional) => { $record.take_optional($name, $decode) };
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $written:literal) => { $written };
}

/// Builds a value from local `Option`s with the names of its fields, if each is `Some`.
macro_rules! complete {
    ($($type:ident)::+ { $($field:ident),+ $(,)? }) => {
        if let ($(Some($field),)+) = ($($field,)+) { Some($($type)::+ { $($field),+ }) } else { None }
    };
}

pub(crate) use complete;
pub(crate) use fields;

/// Reads a record that must have one of `names`, and reports the fields that `read` did not take. If only one name is
/// possible, it may be left out, as usual in RON.
pub fn record<'s, T>(
    node: Node<'s>,
    names: &[&'static str],
    read: impl FnOnce(&mut Record<'s>) -> Option<T>,
) -> Option<T> {
    let mut record = Record::open(node, names)?;
    let value = read(&mut record);
    record.finish();
    value
}

impl<'s> Record<'s> {
    /// Opens a record as [`record`] does; [`Record::finish`] must be called at the end.
    pub fn open(node: Node<'s>, names: &[&'static str]) -> Option<Self> {
        let expected = || match names {
            [only] => format!("{only}(…)"),
            names => one_of(names),
        };
        let (name, body) = match (node.form(), names) {
            (Form::Record(None, body), [only]) => (*only, body),
            (Form::Record(Some(written), body), _) => {
                let Some(name) = names.iter().find(|name| *name == written) else {
                    return node
                        .at(written)
                        .field_issue(format!("unknown name {}", shorten(written)))
                        .expected(expected())
                        .nearest(written, names.iter().copied())
                        .none();
                };
                (*name, body)
            }
            _ => return wrong(node, &expected()),
        };
        let mut record = Self { name, node, fields: Vec::new(), items: &[], known: Vec::new(), missing: Vec::new() };
        match body {
            Body::Fields(fields) => record.add_fields(fields),
            Body::Items(items) => record.items = items,
        }
        Some(record)
    }

    fn add_fields(&mut self, fields: &'s [(&'s str, Value<'s>)]) {
        let mut seen = HashSet::new();
        for (name, value) in fields {
            if seen.insert(name) {
                self.fields.push(Field { name, value, taken: false });
            } else {
                let message = format!("field \"{}\" appears twice in {}", shorten(name), self.name);
                self.node.at(name).issue(message);
            }
        }
    }

    /// Replaces fields of the record with those of another record.
    pub fn change(&mut self, by: Node<'s>) {
        let Form::Record(_, Body::Fields(fields)) = by.form() else { return };
        self.fields.retain(|own| fields.iter().all(|(name, _)| *name != own.name));
        self.add_fields(fields);
    }

    /// Adds the fields of another record that this one leaves out. The other record reports those that nothing reads.
    pub fn complete_from(&mut self, other: &Self) {
        for Field { name, value, .. } in &other.fields {
            if self.fields.iter().all(|own| own.name != *name) {
                self.fields.push(Field { name, value, taken: true });
            }
        }
    }

    /// Decodes a required field.
    pub fn take<T>(&mut self, field: &'static str, decode: impl FnOnce(Node<'s>) -> Option<T>) -> Option<T> {
        let Some(node) = self.find(field) else {
            self.missing.push(field);
            return None;
        };
        decode(node)
    }

    /// Decodes a field that has a default.
    pub fn take_or<T>(
        &mut self,
        field: &'static str,
        default: T,
        decode: impl FnOnce(Node<'s>) -> Option<T>,
    ) -> Option<T> {
        match self.find(field) {
            Some(node) => decode(node),
            None => Some(default),
        }
    }

    /// Decodes an optional field; the result is `Some(None)` if the field is left out.
    pub fn take_optional<T>(
        &mut self,
        field: &'static str,
        decode: impl FnOnce(Node<'s>) -> Option<T>,
    ) -> Option<Option<T>> {
        self.take_or(field, None, |node| decode(node).map(Some))
    }

    fn find(&mut self, field: &'static str) -> Option<Node<'s>> {
        self.known.push(field);
        let found = self.fields.iter_mut().find(|given| given.name == field)?;
        found.taken = true;
        Some(Node { label: field, ..self.node }.inner(found.value))
    }

    /// Returns the place of a field's name, or of the record if the field is left out.
    pub fn place_of(&self, field: &str) -> Node<'s> {
        let given = self.fields.iter().find(|given| given.name == field);
        given.map_or(self.node, |given| self.node.at(given.name))
    }

    /// Reports an issue of a field, at the field's place and with its name before the message.
    pub fn issue(&self, field: &str, message: impl Display) -> Report<'s> {
        self.place_of(field).issue(format!("{field}: {message}"))
    }

    /// Returns the value of a field, or the record if the field is left out.
    pub fn value_of(&self, field: &str) -> Node<'s> {
        self.given(field).unwrap_or(self.node)
    }

    /// Returns the value of a field without decoding it.
    pub fn given(&self, field: &str) -> Option<Node<'s>> {
        let given = self.fields.iter().find(|given| given.name == field)?;
        Some(self.node.inner(given.value))
    }

    /// Decodes the only value of `Name(value)`.
    pub fn take_item<T>(&mut self, what: &str, decode: impl FnOnce(Node<'s>) -> Option<T>) -> Option<T> {
        match std::mem::take(&mut self.items) {
            [item] if self.fields.is_empty() => decode(self.node.inner(item)),
            _ => {
                // The issue below covers the fields, so `finish` must not report them as unknown.
                self.fields.clear();
                wrong(self.node, &format!("{}({what})", self.name))
            }
        }
    }

    /// Reports missing and unknown fields.
    pub fn finish(mut self) {
        let name = self.name;
        if !self.items.is_empty() {
            let expected = match &self.known[..] {
                [] => format!("{name} alone"),
                [first, ..] => format!("named fields: {name}({first}: …)"),
            };
            self.node.issue(format!("{name} with values that have no field names")).expected(expected);
            return;
        }
        let absent: Vec<&str> =
            self.known.iter().copied().filter(|known| self.fields.iter().all(|f| f.name != *known)).collect();
        for Field { name: written, .. } in self.fields.iter().filter(|field| !field.taken) {
            let meant = nearest(written, absent.iter().copied());
            // A misspelt field is reported once, and not both as unknown and as missing.
            self.missing.retain(|missing| Some(*missing) != meant);
            let expected = match &self.known[..] {
                [] => "no fields".to_owned(),
                known => one_of(known),
            };
            self.node
                .at(written)
                .issue(format!("unknown field \"{}\" in {name}", shorten(written)))
                .expected(expected)
                .meant(meant);
        }
        let head = self.node.at(self.node.text.split('(').next().unwrap_or_default());
        for missing in self.missing {
            head.issue(format!("missing field \"{missing}\" in {name}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `Thing(name: text, size: number, open: flag = true)` and returns the issues.
    fn check(written: &str, expected: &[&str]) {
        let issues = Issues::new("f", written);
        let value = tree::read(&issues).expect("it is RON");
        record(Node::new(&value, &issues), &["Thing"], |record| {
            fields! { record;
                _name as "name": text;
                _size as "size": whole(1..=9);
                _open as "open": flag, or true;
            }
            Some(())
        });
        let issues: Vec<String> = issues.finish().iter().map(LessonIssue::to_string).collect();
        assert_eq!(issues, expected, "{written}");
    }

    #[test]
    fn each_field_has_its_own_issue() {
        check("Thing(name: \"a\", size: 3)", &[]);
        check("( size: /* c */ 3, // d\n name: r#\"a\"#, open: false, )", &[]);
        check("Thing", &["f:1:1: missing field \"name\" in Thing", "f:1:1: missing field \"size\" in Thing"]);
        check(
            "Thing(nam: \"a\",\n  size: /* ( */ 'x', size: 3, other: 1)",
            &[
                "f:1:7: unknown field \"nam\" in Thing; expected name, size or open; did you mean \"name\"?",
                "f:2:17: size: found the character 'x'; expected a whole number from 1 to 9",
                "f:2:22: field \"size\" appears twice in Thing",
                "f:2:31: unknown field \"other\" in Thing; expected name, size or open",
            ],
        );
        check(
            "Thing(\"a\", 3)",
            &["f:1:1: Thing with values that have no field names; expected named fields: Thing(name: …)"],
        );
        check("Think(name: 3)", &["f:1:1: unknown name Think; expected Thing(…); did you mean \"Thing\"?"]);
        check("{}", &["f:1:1: found a map; expected Thing(…)"]);
    }
}
