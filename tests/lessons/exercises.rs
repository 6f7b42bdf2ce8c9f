//! Every exercise of the course shows the learner's answer, the right one and their difference.

use attune_core::lesson::cells::{CellKind, Exercise};
use attune_core::lesson::course;
use attune_engine::code::names;

use crate::common::lessons::of_file;
use crate::common::top::at;

/// Whether each case defines what is expected.
fn is_in_cases(exercise: &Exercise) -> bool {
    let defines = |case: &String| names(case).is_ok_and(|names| names.defines.contains("expected"));
    !exercise.cases.is_empty() && exercise.cases.iter().all(defines)
}

#[test]
fn every_exercise_compares() {
    let mut count = 0;
    for file in course::list(&at("lessons")) {
        let lesson = of_file(&file.path);
        for cell in &lesson.cells {
            let CellKind::Exercise(exercise) = &cell.kind else { continue };
            count += 1;
            let compares = !exercise.value.is_empty() && (!exercise.expected.is_empty() || is_in_cases(exercise));
            assert!(compares, "{}: {} says nothing of what is expected", lesson.id, cell.id);
        }
    }
    assert!(count > 20, "{count} exercises");
}
