//! The learner's way through the course.

use std::path::Path;
use std::time::{Duration, SystemTime};

use attune::kernel::notebook::CellCommand;
use attune::view_model::course::{Course, RECENT_MAX, Tasks};

use crate::{cell, kernel, lesson};

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

#[test]
fn tasks_are_counted() {
    let mut kernel = kernel();
    let tasks = |kernel: &attune::kernel::Kernel| Tasks::of(&kernel.snapshot().notebook);
    assert_eq!(tasks(&kernel), Tasks { done: 0, of: 3 });
    cell(&mut kernel, "guess", CellCommand::Choose(1));
    assert_eq!(tasks(&kernel), Tasks { done: 0, of: 3 });
    cell(&mut kernel, "guess", CellCommand::Reveal);
    assert_eq!(tasks(&kernel), Tasks { done: 1, of: 3 });
    assert_eq!(tasks(&crate::reopened(&kernel, lesson())), Tasks { done: 1, of: 3 });
}

#[test]
fn windows_add_to_one_course() {
    let snapshot = kernel().snapshot();
    let mut course = Course::default();
    for i in 0..20 {
        course.merge(&Course::of(Path::new(&format!("/lessons/{i}.ron")), &snapshot, at(100 + i)));
    }
    // One that was opened first, and says so again later.
    course.merge(&Course::of(Path::new("/lessons/3.ron"), &snapshot, at(103)));
    assert_eq!((course.lessons.len(), course.recent.len()), (20, RECENT_MAX));
    assert_eq!(course.recent[0], "/lessons/19.ron");
    course.merge(&Course::of(Path::new("/lessons/3.ron"), &snapshot, at(200)));
    assert_eq!(course.recent[..2], ["/lessons/3.ron", "/lessons/19.ron"]);
    let progress = &course.lessons["/lessons/3.ron"];
    assert_eq!((progress.title.as_str(), progress.opened), ("Sinking and swimming", 200));
    let json = serde_json::to_string(&course).expect("plain data");
    assert_eq!(serde_json::from_str::<Course>(&json).expect("plain data"), course);
}
