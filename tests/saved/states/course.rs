//! The learner's way through the course.

use std::path::Path;
use std::time::{Duration, SystemTime};

use attune_core::kernel::notebook::CellCommand;
use attune_core::lesson::course::CourseFile;
use attune_core::lesson::limits::CELLS_MAX;
use attune_view::view_model::course::{Course, CourseFiles, HomeModel, LESSONS_MAX, LessonProgress, RECENT_MAX, Tasks};

use super::{cell, kernel, lesson};

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

#[test]
fn tasks_are_counted() {
    let mut kernel = kernel();
    let tasks = |kernel: &attune_core::kernel::Kernel| Tasks::of(&kernel.snapshot().notebook);
    assert_eq!(tasks(&kernel), Tasks { done: 0, of: 3 });
    cell(&mut kernel, "guess", CellCommand::Choose(1));
    assert_eq!(tasks(&kernel), Tasks { done: 0, of: 3 });
    cell(&mut kernel, "guess", CellCommand::Reveal);
    assert_eq!(tasks(&kernel), Tasks { done: 1, of: 3 });
    assert_eq!(tasks(&super::reopened(&kernel, lesson())), Tasks { done: 1, of: 3 });
}

#[test]
fn windows_add_to_one_course() {
    let snapshot = kernel().snapshot();
    let mut course = Course::default();
    for i in 0..20 {
        course.merge(&Course::of(Path::new(&format!("/lessons/{i}.ron")), &snapshot, at(100 + i), at(300)));
    }
    // One that was opened first, and says so again later.
    course.merge(&Course::of(Path::new("/lessons/3.ron"), &snapshot, at(103), at(300)));
    assert_eq!((course.lessons.len(), course.recent.len()), (20, RECENT_MAX));
    assert_eq!(course.recent[0], "/lessons/19.ron");
    course.merge(&Course::of(Path::new("/lessons/3.ron"), &snapshot, at(200), at(300)));
    assert_eq!(course.recent[..2], ["/lessons/3.ron", "/lessons/19.ron"]);
    let progress = &course.lessons["/lessons/3.ron"];
    assert_eq!((progress.title.as_str(), progress.opened), ("Sinking and swimming", 200));
    let json = serde_json::to_string(&course).expect("plain data");
    assert_eq!(serde_json::from_str::<Course>(&json).expect("plain data"), course);
}

#[test]
fn a_kept_course_may_say_anything() {
    let wild = LessonProgress { tasks: Tasks { done: usize::MAX, of: usize::MAX }, ..LessonProgress::default() };
    let file = |name: &str| CourseFile { path: format!("/lessons/{name}.ron").into(), heading: Err(1) };
    let lessons = (0..2 * LESSONS_MAX).map(|i| (format!("/lessons/{i}.ron"), wild.clone())).collect();
    let recent = (0..1000).map(|i| format!("/others/{i}.ron")).collect();
    let course = Course { lessons, recent, ..Course::default() };
    let files = ["0", "1"].map(file).to_vec();
    let model = HomeModel::of(&CourseFiles { files, course: course.clone(), ..CourseFiles::default() });
    assert_eq!((model.others.len(), model.lessons[0].tasks.of), (RECENT_MAX, CELLS_MAX));
    assert_eq!(model.tasks, Tasks { done: 2 * CELLS_MAX, of: 2 * CELLS_MAX });
    let mut merged = course;
    merged.merge(&Course::default());
    assert_eq!((merged.lessons.len(), merged.recent.len()), (LESSONS_MAX, RECENT_MAX));
    let more = LessonProgress { tasks: Tasks { done: 9, of: 3 }, ..LessonProgress::default() };
    let course = Course { lessons: [("/lessons/0.ron".to_owned(), more)].into(), ..Course::default() };
    assert_eq!(course.bounded().lessons["/lessons/0.ron"].tasks, Tasks { done: 3, of: 3 });
}
