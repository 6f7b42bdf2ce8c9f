//! Cases that a teacher adds to the exercises of a lesson and that learners do not have. They are in a file of the
//! teacher's, apart from the lesson, and are checked as strictly as the lesson's own.

use std::path::Path;

use crate::lesson::read::common::{code, unknown_name};
use crate::lesson::reading::decode::{At, Node, decoded, list, map, record};
use crate::lesson::reading::file::read_text;
use crate::lesson::reading::issue::LessonIssue;
use crate::lesson::schema::Lesson;
use crate::lesson::schema::cells::{CellKind, Exercise};
use crate::lesson::schema::limits::{CASES_MAX, CELLS_MAX};

/// Name of the record in a file of cases.
const NAME: &str = "Cases";

/// Further cases of a lesson's exercises.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FurtherCases(Vec<(String, Vec<String>)>);

impl FurtherCases {
    /// Returns the number of cases, at least 1, that the lesson itself has for an exercise. Returns `None` if no cases
    /// are added to the exercise.
    pub fn own(&self, id: &str, exercise: &Exercise) -> Option<usize> {
        self.0.iter().any(|(of, _)| of == id).then(|| exercise.cases.len().max(1))
    }

    /// Adds the cases to a lesson's own.
    pub fn add_to(&self, lesson: &mut Lesson) {
        for (id, cases) in &self.0 {
            let of = lesson.cells.iter_mut().find(|cell| cell.id == *id);
            let Some(CellKind::Exercise(exercise)) = of.map(|cell| &mut cell.kind) else { continue };
            if exercise.cases.is_empty() {
                // Without cases, an answer is checked once as it is. An empty case keeps this check.
                exercise.cases.push(String::new());
            }
            exercise.cases.extend(cases.iter().cloned());
        }
    }
}

/// Reads a file of cases for the exercises of a lesson.
///
/// # Errors
/// The issues, of which there is at least one.
pub fn read(path: &Path, lesson: &Lesson) -> Result<FurtherCases, Vec<LessonIssue>> {
    let file = path.display().to_string();
    let text = read_text(path, &file).map_err(|issue| vec![*issue])?;
    parse(&file, &text, lesson)
}

/// Parses the text of a file of cases.
///
/// # Errors
/// The issues, of which there is at least one.
pub fn parse(file_name: &str, text: &str, lesson: &Lesson) -> Result<FurtherCases, Vec<LessonIssue>> {
    decoded(file_name, text, |node| read_cases(node, lesson))
}

fn read_cases(node: Node<'_>, lesson: &Lesson) -> Option<FurtherCases> {
    let of_exercise = |node| list(node, CASES_MAX, code);
    let read = |node| map(node, CELLS_MAX, of_exercise);
    let what = "{ \"exercise\": [\"let a = …\", …] }";
    let cases = record(node, &[NAME], |record| record.take_item(what, read))?;
    let is_exercise = |kind: &CellKind| matches!(kind, CellKind::Exercise(_));
    let exercises: Vec<String> =
        lesson.cells.iter().filter(|cell| is_exercise(&cell.kind)).map(|cell| cell.id.clone()).collect();
    for (At { value: id, node }, _) in cases.iter().filter(|(id, _)| !exercises.contains(&id.value)) {
        let problem = format!("the lesson has no exercise \"{id}\"");
        unknown_name::<()>(*node, problem, id, &exercises, "the id of an exercise, but the lesson has none");
    }
    Some(FurtherCases(cases.into_iter().map(|(id, cases)| (id.value, cases)).collect()))
}
