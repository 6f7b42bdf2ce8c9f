//! The places of fields, claims and parts of cells in a lesson file, for issues that are found only when the lesson
//! runs.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use attune_engine::code::LineColumn;
use attune_engine::files::text_without_mark;

use crate::lesson::reading::file::read_text;
use crate::lesson::reading::issue::{Issues, LessonText, inside};
use crate::lesson::reading::tree::{self, Form, Value};

/// The path to a field, from the lesson inwards, such as `["model", "learning_rate"]`.
pub type FieldPath = &'static [&'static str];

/// Returns the place of the field's value, or of the record that leaves it out, or `None` if the file is no longer a
/// lesson.
pub fn locate(file: &Path, path: FieldPath) -> Option<LineColumn> {
    locate_in(&read_text(file, "").ok()?, path)
}

fn locate_in(text: &str, path: FieldPath) -> Option<LineColumn> {
    let CellPlaces { source, lesson } = CellPlaces::of(text);
    let mut value = lesson.as_ref()?;
    for field in path {
        let Some(inner) = value.field(field) else { break };
        value = inner;
    }
    Some(source.place_of(value.text))
}

/// Returns the byte range of a field's value in a lesson's text, or `None` if the field is left out or the text cannot
/// be parsed.
pub fn value_in(text: &str, field: &str) -> Option<Range<usize>> {
    let CellPlaces { source, lesson } = CellPlaces::of(text);
    let value = lesson.as_ref()?.field(field)?;
    let start = text.len() - source.text.len() + source.offset(value.text);
    Some(start..start + value.text.len())
}

/// The part of a cell that has an issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spot {
    Cell,
    /// The value of a field.
    Field(&'static str),
    /// A place in the code of a field, relative to the beginning of that code.
    Code {
        field: &'static str,
        at: LineColumn,
    },
    /// Some words, as they are written in the file.
    Words(Arc<str>),
}

/// Places of the claims and cells in a lesson file, for issues that are found only when the lesson runs.
pub struct CellPlaces<'t> {
    source: LessonText<'t>,
    lesson: Option<Value<'t>>,
}

/// Returns the text of a lesson file, or `None` if it cannot be read.
pub fn written(file: &Path) -> Option<String> {
    read_text(file, "").ok()
}

impl<'t> CellPlaces<'t> {
    /// Parses the text of a file. If it is no longer a lesson, no place is found.
    pub fn of(text: &'t str) -> Self {
        let issues = Issues::new("", text_without_mark(text));
        let lesson = tree::read(&issues);
        Self { source: issues.source, lesson }
    }

    /// Returns the record with an id in one of the lesson's lists, or `None` if there is none.
    fn with_id(&self, list: &str, id: &str) -> Option<&Value<'t>> {
        let Form::List(records) = &self.lesson.as_ref()?.field(list)?.form else { return None };
        let has_id = |value: &Value<'_>| matches!(&value.form, Form::Text(text) if text == id);
        records.iter().find(|record| record.field("id").is_some_and(has_id))
    }

    pub fn claim(&self, id: &str) -> Option<LineColumn> {
        self.with_id("claims", id).map(|claim| self.source.place_of(claim.text))
    }

    /// Returns the place of a part of a cell, or of the cell itself if the part is not found.
    pub fn cell(&self, id: &str, spot: &Spot) -> Option<LineColumn> {
        let cell = self.with_id("cells", id)?;
        let field = |name: &str| cell.field(name).map(|value| value.text);
        let found = match spot {
            Spot::Cell => None,
            Spot::Field(name) => field(name),
            Spot::Code { field: name, at } => field(name).map(|code| inside(code, at.line, at.column).unwrap_or(code)),
            Spot::Words(words) => cell.text.find(&**words).map(|at| &cell.text[at..]),
        };
        Some(self.source.place_of(found.unwrap_or(cell.text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_or_the_record_that_leaves_it_out() {
        const LESSON: &str = "// A comment\nLesson(id: \"a\",\n  static_embedding: Given({ \"a\": [1, 2] }),\n  \
                              model: Attention(heads: 2,\n    learning_rate: 0.5))";
        let place = |path| locate_in(LESSON, path).map(|LineColumn { line, column }| (line, column));
        assert_eq!(place(&["model", "learning_rate"]), Some((5, 20)));
        assert_eq!(place(&["model", "weights"]), Some((4, 10)));
        assert_eq!(place(&["static_embedding", "learning_rate"]), Some((3, 21)));
        assert_eq!(place(&["static_embedding"]), Some((3, 21)));
        assert_eq!(place(&["corpus"]), Some((2, 1)));
        assert_eq!(locate_in("Lesson(", &["model"]), None);
    }

    #[test]
    fn claims_and_parts_of_cells() {
        const LESSON: &str = "Lesson(id: \"a\", cells: [\n  Code(id: \"raw\", src: r#\"let a = 1;\n  a + b\"#),\n  \
                              Code(id: \"one line\", src: \"// \\u{e9}\\nlet a = \\\"x\\\"; c\"),\n  \
                              Text(id: \"words\", md: \"see {{ c }}\")],\n  claims: [Claim(id: \"x\")])";
        let places = CellPlaces::of(LESSON);
        let place = |id, spot| places.cell(id, &spot).map(|LineColumn { line, column }| (line, column));
        let code = |line, column| Spot::Code { field: "src", at: LineColumn { line, column } };
        assert_eq!(place("raw", code(2, 7)), Some((3, 7)));
        assert_eq!(place("one line", code(1, 4)), Some((4, 33)));
        assert_eq!(place("one line", code(2, 14)), Some((4, 56)));
        assert_eq!(place("one line", code(9, 9)), place("one line", Spot::Field("src")));
        assert_eq!(place("words", Spot::Words("{{ c }}".into())), Some((5, 30)));
        assert_eq!(place("words", Spot::Words("nothing".into())), place("words", Spot::Cell));
        assert_eq!(place("no cell", Spot::Cell), None);
        assert_eq!(places.claim("x"), Some(LineColumn { line: 6, column: 12 }));
        assert_eq!(CellPlaces::of("Lesson(").claim("x"), None);
    }
}
