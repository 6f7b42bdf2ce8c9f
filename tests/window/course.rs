//! The page of the course: what it says, what a click opens, and its reset.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use attune::app::actions::Action;
use attune::app::shell::course::{CoursePage, HomeFrame, HomeUiState, home_ui};
use attune::app::theme::{self, fonts};
use attune::app::ui_state::ThemeChoice;
use attune::app::work::session::SessionState;
use attune::app::work::waker::Waker;
use attune_core::lesson::course::{CourseFile, Heading};
use attune_core::store::{Key, open, update};
use attune_view::view_model::course::{
    CardPicture, Course, CourseFiles, HomeModel, LessonProgress, RowState, Tasks, name,
};
use attune_view::view_model::pictures::{Sketch, SketchArc, SketchMove};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use crate::{home, wait};

fn heading(title: &str, number: usize, tasks: usize) -> Heading {
    Heading {
        id: title.to_lowercase(),
        title: title.to_owned(),
        summary: Some(format!("About {title}.")),
        number: Some(number),
        minutes: Some(10),
        builds_on: Vec::new(),
        chapter: None,
        tasks,
        cells: Vec::new(),
    }
}

fn progress(title: &str, done: usize, of: usize, opened: u64) -> LessonProgress {
    LessonProgress { title: title.to_owned(), tasks: Tasks { done, of }, opened, ..LessonProgress::default() }
}

/// Words is done, Bank begun, Heads new, one file broken; two files from elsewhere, one of them gone.
fn found() -> CourseFiles {
    let file = |path: &str, heading| CourseFile { path: PathBuf::from(path), heading };
    let files = vec![
        file("/course/words.ron", Ok(heading("Words", 1, 2))),
        file("/course/bank.ron", Ok(heading("Bank", 2, 4))),
        file("/course/heads.ron", Ok(heading("Heads", 3, 3))),
        file("/course/broken.ron", Err(2)),
    ];
    let lessons = [
        ("/course/words.ron", progress("Words", 2, 2, 10)),
        ("/course/bank.ron", progress("Bank", 1, 4, 20)),
        ("/mine/own.ron", progress("My own", 0, 0, 15)),
        ("/mine/gone.ron", progress("Gone", 0, 0, 5)),
    ];
    let recent = ["/course/bank.ron", "/mine/own.ron", "/course/words.ron", "/mine/gone.ron"];
    CourseFiles {
        folder: Some(PathBuf::from("/course")),
        files,
        course: Course {
            lessons: lessons.map(|(path, progress)| (path.to_owned(), progress)).into(),
            recent: recent.map(str::to_owned).into(),
            ..Course::default()
        },
        pictures: BTreeMap::new(),
        missing: ["/mine/gone.ron".to_owned()].into(),
        ..CourseFiles::default()
    }
}

#[test]
fn the_course_says_how_far_the_learner_is_and_where_to_go_on() {
    let model = HomeModel::of(&found());
    let said: Vec<String> = model
        .rows()
        .map(|row| format!("{:?} {} {}/{} {:?}", row.number, row.title, row.tasks.done, row.tasks.of, row.state))
        .collect();
    assert_eq!(
        said,
        [
            "Some(1) Words 2/2 Done",
            "Some(2) Bank 1/4 Begun",
            "Some(3) Heads 0/3 New",
            "None broken.ron 0/0 Broken(2)",
            "None My own 0/0 Begun",
            "None Gone 0/0 Missing",
        ]
    );
    assert_eq!(model.tasks, Tasks { done: 3, of: 9 });
    let next = model.next.expect("a way on");
    assert_eq!((next.title.as_str(), next.is_begun), ("Bank", true));
}

#[test]
fn after_a_lesson_that_is_done_comes_the_first_that_is_not() {
    let mut found = found();
    found.course.lessons.insert("/course/bank.ron".to_owned(), progress("Bank", 4, 4, 20));
    let next = HomeModel::of(&found).next.expect("a way on");
    assert_eq!((next.title.as_str(), next.is_begun), ("Heads", false));
    found.files.clear();
    found.course = Course::default();
    assert_eq!(HomeModel::of(&found).next, None);
}

#[test]
fn a_chapter_begins_with_the_lesson_that_names_it_and_counts_what_is_done() {
    let mut found = found();
    for (at, name) in [(0, "Words alone"), (2, "Many heads")] {
        found.files[at].heading.as_mut().expect("a heading").chapter = Some(name.to_owned());
    }
    let model = HomeModel::of(&found);
    let chapters: Vec<Vec<&str>> =
        model.chapters().map(|rows| rows.iter().map(|row| row.title.as_str()).collect()).collect();
    assert_eq!(chapters, [["Words", "Bank"], ["Heads", "broken.ron"]]);
    let (harness, _) = show(model, HomeFrame::default());
    for said in ["Words alone", "1 of 2 done", "Many heads", "0 of 2 done"] {
        assert!(harness.query_by_label(said).is_some(), "{said}");
    }
}

fn show(model: HomeModel, frame: HomeFrame) -> (Harness<'static>, Rc<RefCell<Vec<Action>>>) {
    let asked = Rc::new(RefCell::new(Vec::new()));
    let (seen, mut state, mut dressed) = (asked.clone(), HomeUiState::default(), false);
    let mut harness = Harness::builder().with_size(egui::Vec2::new(1280.0, 1600.0)).build_ui(move |ui| {
        if !dressed {
            ui.ctx().set_fonts(fonts::definitions());
            theme::apply(ui.ctx());
            dressed = true;
            return;
        }
        seen.borrow_mut().extend(home_ui(ui, Some(&model), &frame, &mut state, ThemeChoice::System, true));
    });
    harness.run_steps(3);
    (harness, asked)
}

fn click(harness: &mut Harness, label: &str) {
    harness.get_by_label(label).click();
    harness.run_steps(3);
}

#[test]
fn a_row_opens_its_lesson_and_enter_goes_on() {
    let (mut harness, asked) = show(HomeModel::of(&found()), HomeFrame::default());
    harness.key_press(egui::Key::Enter);
    harness.run_steps(3);
    click(&mut harness, "3 Heads, 10 minutes");
    // The page begins anew with the keyboard on the way on; arrows reach every row.
    assert_eq!(*asked.borrow(), [Action::open("/course/bank.ron"), Action::open("/course/heads.ron")]);
    assert!(harness.query_by_label("broken.ron, issues: 2").is_some());
    assert!(harness.query_by_label("/mine/gone.ron is no longer there").is_some());
    assert!(harness.query_by_label("4 lessons, about 30 minutes · 3 of 9 tasks done").is_some());
}

/// Presses and releases the pointer at a place.
fn press(harness: &mut Harness, pos: egui::Pos2) {
    let button = |pressed| {
        let (button, modifiers) = (egui::PointerButton::Primary, egui::Modifiers::NONE);
        egui::Event::PointerButton { pos, button, pressed, modifiers }
    };
    for event in [egui::Event::PointerMoved(pos), button(true), button(false)] {
        harness.event(event);
        harness.run_steps(2);
    }
}

#[test]
fn the_whole_picture_of_a_word_with_two_meanings_is_the_way_on() {
    let step = |label: &str, end| SketchMove { start: [0.0, 0.0], end, label: label.to_owned() };
    let sketch = Sketch {
        moves: vec![step("apple₁", [0.8, -0.3]), step("apple₂", [-0.8, -0.3])],
        sentence: ["apple₁", "and", "apple₂"].map(str::to_owned).into(),
        arcs: vec![SketchArc { query: 0, key: 2, weight: 0.5, group: None }],
        ..Sketch::default()
    };
    let mut found = found();
    found.pictures.insert("/course/words.ron".into(), CardPicture::Sketch(Arc::new(sketch)));
    let (mut harness, asked) = show(HomeModel::of(&found), HomeFrame::default());
    let picture = harness.get_by_label("apple₁ and apple₂").rect();
    let below = picture.bottom() + 8.0;
    let places =
        [picture.left_top() + egui::vec2(9.0, 9.0), picture.center(), picture.right_bottom() - egui::vec2(9.0, 9.0)];
    for place in places {
        press(&mut harness, place);
    }
    let title = harness.get_by_label("Learn self-attention by running it").rect().center();
    press(&mut harness, title);
    press(&mut harness, egui::pos2(picture.center().x, below));
    let way_on = Action::open("/course/bank.ron");
    assert_eq!(*asked.borrow(), [way_on.clone(), way_on.clone(), way_on.clone(), way_on], "four in it, and none below");
    assert!(harness.query_by_label("Continue: Bank").is_some(), "the button for the keyboard");
}

#[test]
fn a_reset_asks_first_and_can_be_undone() {
    let (mut harness, asked) = show(HomeModel::of(&found()), HomeFrame::default());
    click(&mut harness, "Reset the course …");
    assert!(asked.borrow().is_empty());
    click(&mut harness, "Reset the course");
    assert_eq!(*asked.borrow(), [Action::ResetCourse]);
    let frame = HomeFrame { reset: Some(2), behind: Some("Bank".to_owned()), ..HomeFrame::default() };
    let (mut harness, asked) = show(HomeModel::of(&found()), frame);
    click(&mut harness, "Undo the reset");
    harness.key_press(egui::Key::Escape);
    harness.run_steps(3);
    assert_eq!(*asked.borrow(), [Action::UndoResetCourse, Action::Back]);
}

#[test]
fn a_reset_of_the_course_takes_every_lesson_back_and_its_undo_brings_all_again() {
    let (_folder, home) = home("reset");
    let lesson = Path::new("lessons/apple.ron");
    let key = Key::of_file("apple", lesson);
    let mut worked = SessionState::default();
    worked.view.time = 0.5;
    open::<SessionState>(&home, &key).store.save(&worked).expect("it is saved");
    let lessons = BTreeMap::from([(name(lesson).expect("text"), progress("Apple", 1, 2, 7))]);
    let done = Course { lessons, ..Course::default() };
    update(&home, &Key::named("course"), |kept: &mut Course| kept.merge(&done)).expect("it is kept");

    let mut page = CoursePage::default();
    page.open(Some(&home), &Waker::default());
    wait("the list of lessons", || {
        page.receive();
        page.model.is_some()
    });
    let state = |page: &CoursePage| {
        let lessons = &page.model.as_ref()?.lessons;
        lessons.iter().find(|row| row.path.ends_with("apple.ron")).map(|row| row.state)
    };
    assert_eq!(state(&page), Some(RowState::Begun));

    let left = page.reset(&home);
    assert_eq!(left.lessons.values().map(|lesson| lesson.tasks).collect::<Vec<_>>(), [Tasks { done: 0, of: 2 }]);
    assert_eq!(open::<SessionState>(&home, &key).loaded.value, Some(SessionState::default()));
    assert_eq!((page.frame.reset, &page.frame.fault), (Some(1), &None));

    let again = page.undo_reset(&home);
    assert_eq!(again.lessons.values().map(|lesson| lesson.tasks.done).collect::<Vec<_>>(), [1]);
    assert_eq!(open::<SessionState>(&home, &key).loaded.value, Some(worked.clone()));

    let other = open::<SessionState>(&home, &key);
    page.reset(&home);
    assert!(page.frame.fault.as_ref().is_some_and(|fault| fault.contains("another window")), "{:?}", page.frame.fault);
    drop(other);
    assert_eq!(open::<SessionState>(&home, &key).loaded.value, Some(worked));
    // What the page writes of itself may come a moment later.
}
