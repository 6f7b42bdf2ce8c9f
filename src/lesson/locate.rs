//! Finds a field of a lesson file, for problems that show only when the lesson runs.

use std::path::Path;

use super::decode::{list, text as text_of};
use super::issue::{Issues, Place};
use super::limits::CELLS_MAX;
use super::load::{read_text, without_mark};
use super::read_cells::KINDS;
use super::record::Record;
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
    let whole = issues.whole();
    let mut node = whole.inner(syntax::document(whole)?);
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

/// The place of some text within a cell, as the file writes it; `None` where it is not found.
pub fn locate_in_cell(file: &Path, cell: &str, text: &str) -> Option<Place> {
    let written = read_text(file, "").ok()?;
    let written = without_mark(&written);
    let issues = Issues::new("", written);
    let whole = issues.whole();
    let lesson = whole.inner(syntax::document(whole)?);
    let cells = Record::open(lesson, &["Lesson"])?.given("cells")?;
    let mut place = None;
    list(cells, CELLS_MAX, |node| {
        let id = Record::open(node, KINDS)?.given("id").and_then(text_of);
        if id.is_some_and(|id| id == cell) {
            place = node.text.find(text).map(|at| &node.text[at..]);
        }
        Some(())
    });
    place.map(|found| issues.source.place(issues.source.offset(found)))
}

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
}
