//! Questions from earlier lessons at the beginning of a lesson, and the page of what is due for review.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use attune::app::actions::WindowAction;
use attune::app::link::LatestModels;
use attune::app::shell::course::CoursePage;
use attune::app::ui_state::ViewState;
use attune::app::work::profile::{Profile, kept_course};
use attune_core::store::{Home, Key, update};
use attune_view::view_model::course::{Course, LessonProgress, name, seconds};
use attune_view::view_model::recall::RecallModel;
use egui::accesskit::Role;

use crate::common::folder::Folder;
use crate::common::lessons::{NOTEBOOK, SMALL, with_cells};
use crate::home;
use crate::keys::Bench;

/// A question that belongs to the first lesson.
fn question(id: &str) -> String {
    format!(
        r##"
        Predict(
            id: "{id}", ask: "Half of {{{{ n }}}}?", draws: "let n = 2 * ((random(1, 1)[0, 0] + 1) * 5000).floor().to_int() + 2;",
            choices: ["{{{{ n / 2 }}}}", "{{{{ n }}}}", "none"], reasons: ["It is half.", "It is all.", "There is one."],
            answer: "0", explain: "(This belongs to [lesson](attune:lesson/first).)",
        ),
    "##
    )
}

/// A course of two lessons with three questions, whose first lesson was opened three days ago.
fn course(of: &str) -> (PathBuf, (Folder, Home)) {
    let (folder, home) = home(of);
    let lessons = folder.join("course");
    std::fs::create_dir_all(&lessons).expect("a folder");
    for (id, number) in [("first", 1), ("second", 2)] {
        let lesson = NOTEBOOK.replacen(r#"id: "notebook","#, &format!("id: \"{id}\", number: {number},"), 1);
        std::fs::write(lessons.join(format!("{id}.ron")), lesson).expect("a lesson");
    }
    let questions = ["one", "two", "three"].map(question).concat();
    let test = with_cells(SMALL, &questions).replacen(r#"id: "small""#, r#"id: "recall""#, 1);
    std::fs::write(lessons.join("recall.ron"), test).expect("a lesson");
    let then = SystemTime::now() - Duration::from_secs(3 * 24 * 60 * 60);
    let progress = LessonProgress { opened: seconds(then), ..LessonProgress::default() };
    let first = name(&lessons.join("first.ron")).expect("text");
    let opened = Course { lessons: [(first, progress)].into(), ..Course::default() };
    update(&home, &Key::named("course"), |kept: &mut Course| kept.merge(&opened)).expect("it is kept");
    (lessons, (folder, home))
}

fn recall(bench: &Bench) -> Option<&RecallModel> {
    bench.world.resource::<LatestModels>().recall.as_deref()
}

fn click(bench: &mut Bench, name: &str) {
    let at = bench.bounds(|found| found == name).unwrap_or_else(|| panic!("{name} is shown")).center();
    bench.click_at(at);
}

#[test]
fn a_lesson_begins_with_two_questions_whose_answers_are_kept() {
    let (lessons, (folder, home)) = course("recall");
    let mut bench = Bench::over(&lessons.join("second.ron"), (folder, home.clone()));
    bench.until("the questions", |bench| recall(bench).is_some_and(RecallModel::is_ready));
    bench.rest();
    let asked: Vec<String> = recall(&bench).expect("two").questions.iter().map(|asked| asked.cell.clone()).collect();
    assert_eq!(asked, ["one", "two"]);

    let choice = |bench: &Bench| {
        let choices =
            bench.told().filter(|(_, node)| node.role() == Role::RadioButton).filter_map(|(_, node)| node.bounds());
        let first = choices.min_by(|a, b| a.y0.total_cmp(&b.y0)).expect("a choice");
        egui::pos2(first.x0 as f32 + 4.0, (first.y0 + first.y1) as f32 / 2.0)
    };
    let at = choice(&bench);
    bench.click_at(at);
    bench.until("a choice", |bench| bench.bounds(|name| name.starts_with("Lock it in")).is_some());
    let lock = bench.named().filter(|(name, _)| name.starts_with("Lock it in")).map(|(_, at)| at);
    let lock = lock.min_by(|a, b| a.y.total_cmp(&b.y)).expect("a button");
    bench.click_at(lock);
    let answered = |bench: &Bench| recall(bench).is_some_and(|recall| recall.notebook.cells[0].cell.is_done());
    bench.until("an answer", answered);
    bench.until("a verdict", |bench| recall(bench).is_some_and(|recall| recall.notebook.cells[0].shown.run.is_some()));
    bench.rest();
    bench.world.resource_mut::<Profile>().flush();
    let test = name(&lessons.join("recall.ron")).expect("text");
    let kept = kept_course(Some(&home));
    let answer = kept.answers[&test]["one"];
    assert_eq!((answer.draw, answer.times), (1000, 1));
    assert_eq!(kept.answers[&test].len(), 1);

    click(&mut bench, "Skip the questions");
    assert!(recall(&bench).is_none(), "what has no answer stays due");
    assert!(bench.bounds(|name| name == "Skip the questions").is_none());
}

#[test]
fn the_first_lesson_begins_without_questions() {
    let (lessons, home) = course("recall-first");
    let mut bench = Bench::over(&lessons.join("first.ron"), home);
    bench.until("a model", |bench| bench.snapshot().model.is_some());
    // The files are read on another thread.
    for _ in 0..40 {
        bench.rest();
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(recall(&bench).is_none());
}

#[test]
fn the_page_of_what_is_due_leads_to_each_question() {
    let (lessons, home) = course("review");
    let mut bench = Bench::over(&lessons.join("second.ron"), home);
    bench.until("a model", |bench| bench.snapshot().model.is_some());
    let page = |bench: &Bench| bench.world.resource::<CoursePage>().ui.shows_review;
    bench.ask(WindowAction::Review);
    assert!(page(&bench));
    bench.until("the page", |bench| bench.bounds(|name| name == "Review").is_some());
    bench.ask(WindowAction::Course);
    assert!(!page(&bench) && bench.world.resource::<CoursePage>().is_open, "back to the lessons");

    // The page lists the course of the program or of this folder; what leads to a question is an action.
    let (test, cell) = (lessons.join("recall.ron"), "two".to_owned());
    bench.ask(attune::app::actions::Action::OpenCell(test, cell));
    bench.until("the questions", |bench| {
        bench.world.resource::<LatestModels>().snapshot().is_some_and(|snapshot| snapshot.lesson.id == "recall")
    });
    bench.rest();
    assert!(!bench.world.resource::<CoursePage>().is_open);
    let view = bench.world.resource::<ViewState>();
    let saved = bench.world.resource::<attune::app::workspace::WorkspaceState>().0.saved(view);
    assert!(saved.selected.as_deref() == Some("two") || view.asked.cell.as_deref() == Some("two"));
}
