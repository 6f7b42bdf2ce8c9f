//! Finds a field of a lesson file, for problems that show only when the lesson runs.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use attune_engine::code;

use super::check::inside;
use super::decode::{list, text as text_of};
use super::issue::{Issues, Place};
use super::limits::{CELLS_MAX, CLAIMS_MAX};
use super::load::{read_text, without_mark};
use super::read_cells::KINDS;
use super::record::Record;
use super::source::Node;
use super::syntax;

/// The way to a field from the lesson down, such as `["model", "learning_rate"]`.
pub type FieldPath = &'static [&'static str];

/// The place of the field's value, or of the record that leaves it out; `None` if the file is no
/// longer a lesson.
pub fn locate(file: &Path, path: FieldPath) -> Option<Place> {
    locate_in(&read_text(file, "").ok()?, path)
}

fn locate_in(text: &str, path: FieldPath) -> Option<Place> {
    let text = without_mark(text);
    let issues = Issues::new("", text);
    let mut node = document(&issues)?;
    let mut names: &[&'static str] = &["Lesson"];
    for &field in path {
        let Some(value) = Record::open(node, names)?.given(field) else { break };
        node = value;
        names = match field {
            "model" => &["Attention"],
            "static_embedding" => &["SkipGram", "Cbow", "Given"],
            _ => &[],
        };
    }
    Some(issues.source.place(issues.source.offset(node.text)))
}

/// The one value of a file.
fn document<'i>(issues: &'i Issues<'_>) -> Option<Node<'i>> {
    let whole = issues.whole();
    Some(whole.inner(syntax::document(whole)?))
}

/// The bytes of a field's value in a lesson's text; `None` where the lesson leaves it out, or cannot be read.
pub fn value_in(text: &str, field: &str) -> Option<Range<usize>> {
    let read = without_mark(text);
    let issues = Issues::new("", read);
    let value = Record::open(document(&issues)?, &["Lesson"])?.given(field)?;
    let start = text.len() - read.len() + issues.source.offset(value.text);
    Some(start..start + value.text.len())
}

/// A part of a cell that has a problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spot {
    Cell,
    /// The value of a field.
    Field(&'static str),
    /// A place in the code of a field, counted within that code.
    Code {
        field: &'static str,
        at: code::Place,
    },
    /// Some words, as the file writes them.
    Words(Arc<str>),
}

/// Places of the claims and the cells of a lesson file, for problems that show only when it runs.
pub struct Places<'t> {
    issues: Issues<'t>,
    /// By their ids.
    claims: Ranges,
    cells: Ranges,
}

/// The text of a lesson file; `None` if it is gone.
pub fn written(file: &Path) -> Option<String> {
    read_text(file, "").ok()
}

impl<'t> Places<'t> {
    /// The text is that of a file; where it is no longer a lesson, nothing is found.
    pub fn of(text: &'t str) -> Self {
        let issues = Issues::new("", without_mark(text));
        let (claims, cells) = Self::read(&issues).unwrap_or_default();
        Self { issues, claims, cells }
    }

    fn read(issues: &Issues<'_>) -> Option<(Ranges, Ranges)> {
        let lesson = Record::open(document(issues)?, &["Lesson"])?;
        let ranges = |field: &str, kinds: &[&'static str], max: usize| {
            let mut found = Ranges::new();
            if let Some(node) = lesson.given(field) {
                list(node, max, |node| {
                    let id = Record::open(node, kinds)?.given("id").and_then(text_of)?;
                    let start = issues.source.offset(node.text);
                    found.insert(id, start..start + node.text.len());
                    Some(())
                });
            }
            found
        };
        Some((ranges("claims", &["Claim"], CLAIMS_MAX), ranges("cells", KINDS, CELLS_MAX)))
    }

    pub fn claim(&self, id: &str) -> Option<Place> {
        self.claims.get(id).map(|range| self.issues.source.place(range.start))
    }

    /// The place of a part of a cell; the cell itself where the part is not found.
    pub fn cell(&self, id: &str, spot: &Spot) -> Option<Place> {
        let range = self.cells.get(id)?.clone();
        let node = Node { text: &self.issues.source.text[range], label: "", issues: &self.issues };
        let field = |name: &str| Record::open(node, KINDS)?.given(name);
        let found = match spot {
            Spot::Cell => None,
            Spot::Field(name) => field(name),
            Spot::Code { field: name, at } => field(name).map(|code| inside(code, at.line, at.column).unwrap_or(code)),
            Spot::Words(words) => node.text.find(&**words).map(|at| Node { text: &node.text[at..], ..node }),
        };
        let source = &self.issues.source;
        Some(source.place(source.offset(found.unwrap_or(node).text)))
    }
}

/// Places of records in the text, by their ids.
type Ranges = HashMap<String, Range<usize>>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_or_the_record_that_leaves_it_out() {
        const LESSON: &str = "// A comment\nLesson(id: \"a\",\n  static_embedding: Given({ \"a\": [1, 2] }),\n  \
                              model: Attention(heads: 2,\n    learning_rate: 0.5))";
        let place = |path| locate_in(LESSON, path).map(|Place { line, col }| (line, col));
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
        let places = Places::of(LESSON);
        let place = |id, spot| places.cell(id, &spot).map(|Place { line, col }| (line, col));
        let code = |line, column| Spot::Code { field: "src", at: code::Place { line, column } };
        assert_eq!(place("raw", code(2, 7)), Some((3, 7)));
        assert_eq!(place("one line", code(1, 4)), Some((4, 33)));
        assert_eq!(place("one line", code(2, 14)), Some((4, 56)));
        assert_eq!(place("one line", code(9, 9)), place("one line", Spot::Field("src")));
        assert_eq!(place("words", Spot::Words("{{ c }}".into())), Some((5, 30)));
        assert_eq!(place("words", Spot::Words("nothing".into())), place("words", Spot::Cell));
        assert_eq!(place("no cell", Spot::Cell), None);
        assert_eq!(places.claim("x"), Some(Place { line: 6, col: 12 }));
        assert_eq!(Places::of("Lesson(").claim("x"), None);
    }
}
