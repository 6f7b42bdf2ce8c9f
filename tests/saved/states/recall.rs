//! Recall: which questions are due, which of them stand at the beginning of a lesson, and what an answer changes.

use std::path::Path;
use std::sync::Arc;

use attune_core::kernel::command::TrainingCommand;
use attune_core::kernel::notebook::CellCommand;
use attune_core::kernel::{Command, Kernel, Saved};
use attune_core::lesson::Lesson;
use attune_core::lesson::course::{CourseFile, Heading};
use attune_view::view_model::course::{Course, LessonProgress};
use attune_view::view_model::recall::{Answered, Answers, DAY, RECALL, Review, Scheduled, Standing, answers, only};

use crate::common::commands::of_cell;
use crate::common::lessons::{SMALL, apply, lesson, with_cells};

const NOW: u64 = 1000 * DAY;
const TEST_FILE: &str = "/course/recall.ron";
/// The lessons of a course in order, each with a question.
const LESSONS: [(&str, &str); 4] = [("words", "step"), ("apple", "mix"), ("bank", "push"), ("heads", "fold")];

/// A question with drawn numbers that belongs to a lesson.
fn question(id: &str, lesson: &str) -> String {
    format!(
        r##"
        Predict(
            id: "{id}", ask: "Half of {{{{ n }}}}?", draws: "let n = 2 * ((random(1, 1)[0, 0] + 1) * 5000).floor().to_int() + 2;",
            choices: ["{{{{ n / 2 }}}}", "{{{{ n }}}}", "none"], reasons: ["It is half.", "It is all.", "There is one."],
            answer: "0", explain: "(This belongs to [lesson](attune:lesson/{lesson}).)",
        ),
    "##
    )
}

fn test() -> Arc<Lesson> {
    let questions = LESSONS.map(|(lesson, id)| question(id, lesson)).concat();
    let asked = r#"Predict(id: "own", ask: "Two?", choices: ["one", "two"], answer: "1", explain: "[It](attune:lesson/words)."),"#;
    lesson(&with_cells(SMALL, &(questions + asked)).replacen("id: \"small\"", &format!("id: \"{RECALL}\""), 1))
}

fn files() -> Vec<CourseFile> {
    let heading = |(number, (id, _)): (usize, (&str, &str))| Heading {
        id: id.to_owned(),
        title: id.to_uppercase(),
        summary: None,
        number: Some(number),
        minutes: None,
        builds_on: Vec::new(),
        chapter: None,
        tasks: 1,
        cells: Vec::new(),
    };
    let file =
        |heading: Heading| CourseFile { path: format!("/course/{}.ron", heading.id).into(), heading: Ok(heading) };
    (1..).zip(LESSONS).map(heading).map(file).collect()
}

/// A learner who opened lessons so many days ago, and answered questions so many days ago with so many right in a row.
fn course(opened: &[(&str, u64, usize)], answered: &[(&str, u32, u64)]) -> Course {
    let lessons = opened.iter().map(|(id, days, wrong)| {
        let progress = LessonProgress { opened: NOW - days * DAY, wrong: *wrong, ..LessonProgress::default() };
        (format!("/course/{id}.ron"), progress)
    });
    let answers: Answers = answered
        .iter()
        .map(|(cell, rights, days)| {
            ((*cell).to_owned(), Answered { draw: 0, rights: *rights, times: 1, at: NOW - days * DAY })
        })
        .collect();
    Course { lessons: lessons.collect(), answers: [(TEST_FILE.to_owned(), answers)].into(), ..Course::default() }
}

fn review(course: &Course) -> Review {
    Review::of(&test(), Path::new(TEST_FILE), &files(), course, NOW)
}

fn names<'a>(questions: impl IntoIterator<Item = &'a Scheduled>) -> Vec<&'a str> {
    questions.into_iter().map(|question| &*question.cell).collect()
}

#[test]
fn a_question_is_due_after_a_day_and_after_2_7_and_30_when_it_was_right() {
    for (rights, days) in [(0, 1), (1, 2), (2, 7), (3, 30), (9, 30)] {
        let asked = |ago| names(review(&course(&[], &[("step", rights, ago)])).due()).len();
        assert_eq!((asked(days - 1), asked(days)), (0, 1), "{rights} right in a row");
    }
    let never_asked = |ago| names(review(&course(&[("words", ago, 0)], &[])).due()).len();
    assert_eq!((never_asked(0), never_asked(1)), (0, 1), "its lesson was opened");
    let future = Course {
        answers: [(
            TEST_FILE.to_owned(),
            [("step".to_owned(), Answered { at: u64::MAX, times: 1, ..Answered::default() })].into(),
        )]
        .into(),
        ..Course::default()
    };
    assert_eq!(review(&future).questions[0].due, NOW + DAY, "a clock that was wrong");
}

#[test]
fn what_was_wrong_comes_first_and_then_what_is_due_for_longest() {
    let ordered = |wrong| {
        let opened = [("words", 9, 0), ("apple", 9, 0), ("bank", 9, 0), ("heads", 4, wrong)];
        let course = course(&opened, &[("step", 1, 8), ("mix", 0, 2), ("push", 3, 8)]);
        names(&review(&course).questions).join(" ")
    };
    assert_eq!(ordered(0), "mix step fold push");
    assert_eq!(ordered(2), "mix fold step push", "two predictions of its lesson were wrong");
}

#[test]
fn a_lesson_begins_with_two_questions_of_lessons_before_it() {
    let today = course(&[("words", 0, 0), ("apple", 0, 3), ("bank", 0, 0), ("heads", 0, 0)], &[]);
    let begins = |course: &Course, number, is_new| names(&review(course).at_beginning(number, is_new)).join(" ");
    assert_eq!(begins(&today, 4, true), "mix step", "nothing is due, but the lesson is new");
    assert_eq!(begins(&today, 4, false), "");
    assert_eq!(begins(&today, 2, true), "step");
    assert_eq!(begins(&today, 1, true), "", "nothing comes before the first lesson");
    assert_eq!(begins(&Course::default(), 4, true), "", "no lesson was opened");
    assert_eq!(begins(&course(&[("heads", 9, 0)], &[]), 2, true), "", "it was opened, but comes later");
    let due = course(&[("words", 9, 0), ("apple", 9, 0), ("bank", 9, 0)], &[("step", 1, 1), ("mix", 0, 5)]);
    assert_eq!(begins(&due, 4, true), "mix push", "what was right yesterday is not asked again");
}

#[test]
fn an_answer_counts_once_for_each_draw() {
    let file = Path::new(TEST_FILE);
    let mut kernel = Kernel::trained(test());
    let mut course = Course::default();
    let mut answer = |kernel: &mut Kernel, choice| {
        for id in ["step", "own"] {
            apply(kernel, of_cell(id, CellCommand::Choose(choice)));
            apply(kernel, of_cell(id, CellCommand::Reveal));
        }
        let given = answers(&kernel.snapshot().notebook, NOW);
        (0..2).for_each(|_| course.merge(&Course::of_answers(file, given.clone())));
        course.answers[TEST_FILE].clone()
    };
    let first = Answered { draw: 0, rights: 1, times: 1, at: NOW };
    assert_eq!(answer(&mut kernel, 0), [("step".to_owned(), first)].into(), "a question without draws is not recalled");
    apply(&mut kernel, of_cell("step", CellCommand::Reset));
    let second = Answered { draw: 1, rights: 0, times: 2, at: NOW };
    assert_eq!(answer(&mut kernel, 1), [("step".to_owned(), second)].into());

    let mut again = Kernel::open(test(), Some(Saved::of(&kernel.snapshot())));
    again.settle();
    assert_eq!(answers(&again.snapshot().notebook, NOW), Answers::new(), "they were counted when they were given");
}

#[test]
fn recall_draws_other_numbers_than_the_lesson_of_the_questions() {
    let course = course(&[("words", 9, 0)], &[("step", 0, 5)]);
    let asked = review(&course).at_beginning(2, false);
    assert_eq!((asked[0].standing, asked[0].draw), (Standing::Wrong, 1001));
    let (lesson, work) = only(&test(), &asked);
    let mut kernel = Kernel::open(Arc::new(lesson), Some(work));
    kernel.settle();
    kernel.apply(Command::Training(TrainingCommand::Play));
    kernel.settle();
    let snapshot = kernel.snapshot();
    let cells = snapshot.notebook.cells.iter();
    assert_eq!(cells.map(|shown| (&*shown.cell.id, shown.cell.resets)).collect::<Vec<_>>(), [("step", 1001)]);
    let numbers = |kernel: &Kernel| {
        let live =
            kernel.snapshot().notebook.cells[0].live.clone().and_then(|live| live.values).expect("they are drawn");
        live.values.iter().map(|value| value.value.clone()).collect::<Vec<_>>()
    };
    let mut of_test = Kernel::trained(test());
    of_test.settle();
    assert_ne!(numbers(&kernel), numbers(&of_test));
}

#[test]
fn a_reset_of_the_course_forgets_the_answers_and_its_undo_brings_them_back() {
    let before = course(&[("words", 9, 2)], &[("step", 0, 5)]);
    let mut kept = before.clone();
    kept.merge(&before.clone().reset());
    assert!(kept.answers.values().all(Answers::is_empty), "{:?}", kept.answers);
    assert_eq!(kept.lessons["/course/words.ron"].wrong, 0);
    kept.merge(&before);
    assert_eq!(kept, before);
}

#[test]
fn a_course_of_an_earlier_release_opens() {
    let kept = r#"{"lessons":{"/a.ron":{"title":"A","tasks":{"done":1,"of":2},"opened":5}},"recent":["/a.ron"]}"#;
    let course: Course = serde_json::from_str(kept).expect("it opens");
    assert_eq!((course.lessons["/a.ron"].opened, course.answers.len()), (5, 0));
}
