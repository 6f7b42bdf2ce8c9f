//! `Name(field: value, …)`: a record whose fields are taken one by one, so that each wrong, missing,
//! unknown or repeated field is its own issue.

use std::fmt;

use ron::value::RawValue;
use serde::de::{EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::decode::{Kind, wrong};
use super::issue::{Issues, one_of, shorten};
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

impl<'s> Record<'s> {
    /// Opens a record that must have one of `names`. Where only one is possible it may be left out,
    /// as usual in RON.
    pub fn open(node: Node<'s>, names: &[&'static str], issues: &mut Issues<'s>) -> Option<Self> {
        let expected = || match names {
            [only] => format!("{only}(…)"),
            names => one_of(names),
        };
        let (name, body) = match (node.kind(), names) {
            (Kind::Unnamed, [only]) => (*only, parse_unnamed(node.text)),
            (Kind::Named, _) => {
                let Some(written) = parse_name(node.text) else {
                    return wrong(node, &expected(), issues);
                };
                let Some(name) = names.iter().find(|name| **name == written) else {
                    let label = if node.label.is_empty() { String::new() } else { format!("{}: ", node.label) };
                    let at = Node { text: written, ..node };
                    issues
                        .at(at, format!("{label}unknown name {}", shorten(written)))
                        .expected(expected())
                        .nearest(written, names.iter().copied());
                    return None;
                };
                (*name, parse_named(node.text))
            }
            _ => return wrong(node, &expected(), issues),
        };
        let Some(body) = body else {
            return wrong(node, &expected(), issues);
        };
        let mut record =
            Self { name, node, fields: Vec::new(), items: Vec::new(), known: Vec::new(), missing: Vec::new() };
        match body {
            Body::Fields(fields) => record.add_fields(fields, issues),
            Body::Items(items) => record.items = items.into_iter().map(|raw| node.inner(raw)).collect(),
        }
        Some(record)
    }

    fn add_fields(&mut self, fields: Vec<(&'s str, &'s RawValue)>, issues: &mut Issues<'s>) {
        let mut seen = std::collections::HashSet::new();
        for (text, value) in fields {
            let name = Node { text, label: "" };
            if seen.insert(text) {
                self.fields.push(Field { name, value, taken: false });
            } else {
                issues.at(name, format!("field \"{}\" stands twice in {}", shorten(text), self.name));
            }
        }
    }

    /// Decodes a field that must be there.
    pub fn take<T>(
        &mut self,
        field: &'static str,
        decode: impl FnOnce(Node<'s>, &mut Issues<'s>) -> Option<T>,
        issues: &mut Issues<'s>,
    ) -> Option<T> {
        let Some(node) = self.find(field) else {
            self.missing.push(field);
            return None;
        };
        decode(node, issues)
    }

    /// Decodes a field that may be left out.
    pub fn take_or<T>(
        &mut self,
        field: &'static str,
        default: T,
        decode: impl FnOnce(Node<'s>, &mut Issues<'s>) -> Option<T>,
        issues: &mut Issues<'s>,
    ) -> Option<T> {
        match self.find(field) {
            Some(node) => decode(node, issues),
            None => Some(default),
        }
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
    pub fn take_item<T>(
        &mut self,
        what: &str,
        decode: impl FnOnce(Node<'s>, &mut Issues<'s>) -> Option<T>,
        issues: &mut Issues<'s>,
    ) -> Option<T> {
        let items = std::mem::take(&mut self.items);
        match items[..] {
            [item] if self.fields.is_empty() => decode(item, issues),
            _ => {
                // The fields have been spoken of here; `finish` need not call them unknown.
                self.fields.clear();
                wrong(self.node, &format!("{}({what})", self.name), issues)
            }
        }
    }

    /// Reports the fields that are missing, and those that nobody asked for.
    pub fn finish(mut self, issues: &mut Issues<'s>) {
        let name = self.name;
        if !self.items.is_empty() {
            let expected = match &self.known[..] {
                [] => format!("{name} alone"),
                [first, ..] => format!("named fields: {name}({first}: …)"),
            };
            issues.at(self.node, format!("{name} with values that have no field names")).expected(expected);
            return;
        }
        let absent: Vec<&str> =
            self.known.iter().copied().filter(|known| self.fields.iter().all(|f| f.name.text != *known)).collect();
        for field in self.fields.iter().filter(|field| !field.taken) {
            let written = field.name.text;
            let meant = crate::nearest::nearest(written, absent.iter().copied());
            // A misspelt field is one problem, not an unknown and a missing one.
            self.missing.retain(|missing| Some(*missing) != meant);
            let expected = match &self.known[..] {
                [] => "no fields".to_owned(),
                known => one_of(known),
            };
            issues
                .at(field.name, format!("unknown field \"{}\" in {name}", shorten(written)))
                .expected(expected)
                .nearest(written, absent.iter().copied());
        }
        let head = Node { text: self.node.text.split('(').next().unwrap_or_default(), ..self.node };
        for missing in self.missing {
            issues.at(head, format!("missing field \"{missing}\" in {name}"));
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
    parse(|d| d.deserialize_enum("", &[], Variant::<Fields>::default()), text)
        .or_else(|| parse(|d| d.deserialize_enum("", &[], Variant::<Items>::default()), text))
}

fn parse_unnamed(text: &str) -> Option<Body<'_>> {
    parse(|d| d.deserialize_struct("", &[], Fields), text).or_else(|| parse(|d| d.deserialize_tuple(0, Items), text))
}

fn parse<'de>(
    read: impl FnOnce(&mut ron::Deserializer<'de>) -> Result<Body<'de>, ron::Error>,
    text: &'de str,
) -> Option<Body<'de>> {
    read(&mut ron::Deserializer::from_str(text).ok()?).ok()
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

#[derive(Default)]
struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Body<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::new();
        while let Some((BorrowedIdent(name), value)) = map.next_entry()? {
            fields.push((name, value));
        }
        Ok(Body::Fields(fields))
    }
}

#[derive(Default)]
struct Items;

impl<'de> Visitor<'de> for Items {
    type Value = Body<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("values")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Body::Items(items))
    }
}

/// Reads `Name(` and leaves what follows to `V`.
#[derive(Default)]
struct Variant<V>(V);

impl<'de> Visitor<'de> for Variant<Fields> {
    type Value = Body<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a record")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<Self::Value, A::Error> {
        let (BorrowedIdent(_), variant) = access.variant()?;
        variant.struct_variant(&[], self.0)
    }
}

impl<'de> Visitor<'de> for Variant<Items> {
    type Value = Body<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a record")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<Self::Value, A::Error> {
        let (BorrowedIdent(_), variant) = access.variant()?;
        variant.tuple_variant(0, self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::decode::{flag, text, whole};
    use crate::lesson::issue::LessonIssue;
    use crate::lesson::source::Source;

    /// Reads `Thing(name: text, size: number, open: flag = true)` and lists the issues.
    fn check(written: &str, expected: &[&str]) {
        let source = Source::new("f", written);
        let node = source.whole();
        let mut issues = Issues::new(source);
        if let Some(mut record) = Record::open(node, &["Thing"], &mut issues) {
            record.take("name", text, &mut issues);
            record.take("size", whole(1..=9), &mut issues);
            record.take_or("open", true, flag, &mut issues);
            record.finish(&mut issues);
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
                "f:2:22: field \"size\" stands twice in Thing",
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
