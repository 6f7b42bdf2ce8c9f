//! `Name(field: value, …)`: a record whose fields are taken one by one, so that each wrong, missing,
//! unknown or repeated field is its own issue.

use std::fmt;

use ron::value::RawValue;
use serde::de::{EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::decode::{Kind, wrong};
use super::issue::{one_of, shorten};
use super::source::Node;

pub(super) struct Record<'s> {
    /// One of the names that were asked for.
    pub name: &'static str,
    pub node: Node<'s>,
    fields: Vec<Field<'s>>,
    /// Values without field names, `Name(value)`.
    items: Vec<Node<'s>>,
    /// Every field that was asked for.
    known: Vec<&'static str>,
    missing: Vec<&'static str>,
}

struct Field<'s> {
    name: Node<'s>,
    value: &'s RawValue,
    taken: bool,
}

/// Reads the fields of a record by a table.
///
/// ```text
/// fields! { record => Claim {
///     id: id;                                  // must be there
///     says: line, or String::new();            // may be left out
///     fact as "what": read_fact, optional;     // an `Option`, and another name in the lesson
/// } }
/// ```
///
/// Every line is read, whatever is wrong with another, so that all issues come in one go; a decoder may use
/// the fields above it. The value is `None` where a field has an issue. With `;` in the place of `=> Type`
/// the table declares the fields as local `Option`s instead, for checks between them; [`complete`] joins them.
macro_rules! fields {
    ($record:expr => $($type:ident)::+ {
        $($field:ident $(as $written:literal)?: $decode:expr $(, $rule:ident $($default:expr)?)?;)+
    }) => {{
        fields! { $record; $($field $(as $written)?: $decode $(, $rule $($default)?)?;)+ }
        $crate::lesson::record::complete!($($type)::+ { $($field),+ })
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

/// The value whose fields are these local `Option`s, if each is `Some`.
macro_rules! complete {
    ($($type:ident)::+ { $($field:ident),+ $(,)? }) => {
        if let ($(Some($field),)+) = ($($field,)+) { Some($($type)::+ { $($field),+ }) } else { None }
    };
}

pub(super) use complete;
pub(super) use fields;

impl<'s> Record<'s> {
    /// Opens a record that must have one of `names`. Where only one is possible it may be left out,
    /// as usual in RON.
    pub fn open(node: Node<'s>, names: &[&'static str]) -> Option<Self> {
        let expected = || match names {
            [only] => format!("{only}(…)"),
            names => one_of(names),
        };
        let (name, body) = match (node.kind(), names) {
            (Kind::Unnamed, [only]) => (*only, parse_unnamed(node.text)),
            (Kind::Named, _) => {
                let Some(written) = parse_name(node.text) else {
                    return wrong(node, &expected());
                };
                let Some(name) = names.iter().find(|name| **name == written) else {
                    return Node { text: written, ..node }
                        .field_issue(format!("unknown name {}", shorten(written)))
                        .expected(expected())
                        .nearest(written, names.iter().copied())
                        .none();
                };
                (*name, parse_named(node.text))
            }
            _ => return wrong(node, &expected()),
        };
        let Some(body) = body else {
            return wrong(node, &expected());
        };
        let mut record =
            Self { name, node, fields: Vec::new(), items: Vec::new(), known: Vec::new(), missing: Vec::new() };
        match body {
            Body::Fields(fields) => record.add_fields(fields),
            Body::Items(items) => record.items = items.into_iter().map(|raw| node.inner(raw)).collect(),
        }
        Some(record)
    }

    fn add_fields(&mut self, fields: Vec<(&'s str, &'s RawValue)>) {
        let mut seen = std::collections::HashSet::new();
        for (text, value) in fields {
            let name = Node { text, label: "", ..self.node };
            if seen.insert(text) {
                self.fields.push(Field { name, value, taken: false });
            } else {
                name.issue(format!("field \"{}\" appears twice in {}", shorten(text), self.name));
            }
        }
    }

    /// Decodes a field that must be there.
    pub fn take<T>(&mut self, field: &'static str, decode: impl FnOnce(Node<'s>) -> Option<T>) -> Option<T> {
        let Some(node) = self.find(field) else {
            self.missing.push(field);
            return None;
        };
        decode(node)
    }

    /// Decodes a field that may be left out.
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

    /// Decodes a field that may be left out: `Some(None)` where it is.
    pub fn take_optional<T>(
        &mut self,
        field: &'static str,
        decode: impl FnOnce(Node<'s>) -> Option<T>,
    ) -> Option<Option<T>> {
        self.take_or(field, None, |node| decode(node).map(Some))
    }

    fn find(&mut self, field: &'static str) -> Option<Node<'s>> {
        self.known.push(field);
        let found = self.fields.iter_mut().find(|given| given.name.text == field)?;
        found.taken = true;
        Some(Node { label: field, ..self.node }.inner(found.value))
    }

    /// The place of a field that was given, else of the record.
    pub fn place_of(&self, field: &str) -> Node<'s> {
        let given = self.fields.iter().find(|given| given.name.text == field);
        given.map_or(self.node, |given| given.name)
    }

    /// The value of a field that was given, else the record.
    pub fn value_of(&self, field: &str) -> Node<'s> {
        self.given(field).unwrap_or(self.node)
    }

    /// The value of a field, unread.
    pub fn given(&self, field: &str) -> Option<Node<'s>> {
        let given = self.fields.iter().find(|given| given.name.text == field)?;
        Some(self.node.inner(given.value))
    }

    /// The one value of `Name(value)`.
    pub fn take_item<T>(&mut self, what: &str, decode: impl FnOnce(Node<'s>) -> Option<T>) -> Option<T> {
        let items = std::mem::take(&mut self.items);
        match items[..] {
            [item] if self.fields.is_empty() => decode(item),
            _ => {
                // The fields have been spoken of here; `finish` need not call them unknown.
                self.fields.clear();
                wrong(self.node, &format!("{}({what})", self.name))
            }
        }
    }

    /// Reports the fields that are missing, and those that nobody asked for.
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
            self.known.iter().copied().filter(|known| self.fields.iter().all(|f| f.name.text != *known)).collect();
        for field in self.fields.iter().filter(|field| !field.taken) {
            let written = field.name.text;
            let meant = attune_engine::nearest::nearest(written, absent.iter().copied());
            // A misspelt field is one problem, not an unknown and a missing one.
            self.missing.retain(|missing| Some(*missing) != meant);
            let expected = match &self.known[..] {
                [] => "no fields".to_owned(),
                known => one_of(known),
            };
            field
                .name
                .issue(format!("unknown field \"{}\" in {name}", shorten(written)))
                .expected(expected)
                .nearest(written, absent.iter().copied());
        }
        let head = Node { text: self.node.text.split('(').next().unwrap_or_default(), ..self.node };
        for missing in self.missing {
            head.issue(format!("missing field \"{missing}\" in {name}"));
        }
    }
}

enum Body<'de> {
    Fields(Vec<(&'de str, &'de RawValue)>),
    Items(Vec<&'de RawValue>),
}

/// The name before the parentheses.
fn parse_name(text: &str) -> Option<&str> {
    let mut deserializer = ron::Deserializer::from_str(text).ok()?;
    BorrowedIdent::deserialize(&mut deserializer).ok().map(|name| name.0)
}

fn parse_named(text: &str) -> Option<Body<'_>> {
    // `Name` alone is a record without fields.
    if !text.ends_with(')') {
        return Some(Body::Fields(Vec::new()));
    }
    let read = |form| ron::Deserializer::from_str(text).ok()?.deserialize_enum("", &[], form).ok();
    read(Form::Fields).or_else(|| read(Form::Items))
}

fn parse_unnamed(text: &str) -> Option<Body<'_>> {
    let deserializer = || ron::Deserializer::from_str(text).ok();
    let fields = || deserializer()?.deserialize_struct("", &[], Form::Fields).ok();
    fields().or_else(|| deserializer()?.deserialize_tuple(0, Form::Items).ok())
}

/// An identifier, borrowed so that its place is known.
struct Ident;

impl<'de> Visitor<'de> for Ident {
    type Value = &'de str;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Self::Value, E> {
        Ok(name)
    }
}

struct BorrowedIdent<'de>(&'de str);

impl<'de> Deserialize<'de> for BorrowedIdent<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_identifier(Ident).map(Self)
    }
}

/// Reads the body of a record, unread values within, and skips the name before it.
#[derive(Clone, Copy)]
enum Form {
    Fields,
    Items,
}

impl<'de> Visitor<'de> for Form {
    type Value = Body<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a record")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::new();
        while let Some((BorrowedIdent(name), value)) = map.next_entry()? {
            fields.push((name, value));
        }
        Ok(Body::Fields(fields))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Body::Items(items))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<Self::Value, A::Error> {
        let (BorrowedIdent(_), variant) = access.variant()?;
        match self {
            Self::Fields => variant.struct_variant(&[], self),
            Self::Items => variant.tuple_variant(0, self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::decode::{flag, text, whole};
    use crate::lesson::issue::Issues;
    use crate::lesson::issue::LessonIssue;

    /// Reads `Thing(name: text, size: number, open: flag = true)` and lists the issues.
    fn check(written: &str, expected: &[&str]) {
        let issues = Issues::new("f", written);
        if let Some(mut record) = Record::open(issues.whole(), &["Thing"]) {
            fields! { record;
                _name as "name": text;
                _size as "size": whole(1..=9);
                _open as "open": flag, or true;
            }
            record.finish();
        }
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
