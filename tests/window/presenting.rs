//! A talk: a lesson slide by slide on a copy, with the lesson as it was at its end. And new lessons from the menu.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use attune::app::actions::{Action, FilePurpose, WindowAction};
use attune::app::link::LatestModels;
use attune::app::shell::state::WindowState;
use attune::app::ui_state::ViewState;
use attune::app::work::session::Session;
use attune::app::workspace::WorkspaceState;
use attune::app::workspace::notices::ExportModel;
use attune_core::kernel::notebook::document::Answer;
use attune_core::kernel::notebook::{CellCommand, NotebookCommand};
use attune_core::kernel::{Command, Saved, Snapshot};
use attune_view::view_model::slides::SlidesModel;
use attune_view::view_model::training::{TrainingModel, TrainingStage};
use bevy::prelude::World;

use crate::common::lessons::edited;
use crate::{ask, copy_of, frame, home, open, say, send, sentence, until};

fn snapshot(world: &World) -> Arc<Snapshot> {
    world.resource::<LatestModels>().snapshot().cloned().expect("a snapshot")
}

fn at(world: &World) -> Option<String> {
    let talk = world.resource::<WindowState>().presentation.as_ref()?;
    Some(format!("{} {}", talk.at().0, talk.at().1))
}

fn cell(id: &str, command: CellCommand) -> Command {
    Command::Notebook(NotebookCommand::Cell(id.into(), command))
}

/// The work, but for how long its cells took: those that follow the sentence may run once more.
fn timeless(snapshot: &Snapshot) -> Saved {
    let mut saved = Saved::of(snapshot);
    saved.notebook.cells.iter_mut().flat_map(|cell| &mut cell.run).for_each(|run| run.elapsed = Duration::ZERO);
    saved
}

#[test]
fn a_talk_reveals_slide_by_slide_and_leaves_everything_as_it_was() {
    let (folder, home) = home("talk");
    let own = copy_of("tests/fixtures/notebook.ron", &folder);
    let mut world = open(&home, &own);
    until(&mut world, "a model", |world| sentence(world).is_some());
    // The learner has written, chosen, answered and run something.
    say(&world, "the duck sank");
    for command in [cell("guess", CellCommand::Choose(0)), cell("guess", CellCommand::Reveal)] {
        send(&world, command);
    }
    send(&world, cell("double", CellCommand::Run));
    until(&mut world, "the learner's work", |world| {
        let shown = snapshot(world);
        let has_run = |id: &str| shown.notebook.cells.iter().any(|shown| &*shown.cell.id == id && shown.run.is_some());
        let is_trained = TrainingModel::of(&shown).stage == TrainingStage::Finished;
        let has_run = ["double", "guess", "curve", "sharpen"].into_iter().all(has_run);
        sentence(world).as_deref() == Some("the duck sank") && is_trained && has_run
    });
    world.resource_mut::<ViewState>().walk.set(3.0);
    let before =
        (snapshot(&world), world.resource::<ViewState>().clone(), world.resource::<WorkspaceState>().0.layout());

    ask(&mut world, WindowAction::Present);
    let is_of_talk = |world: &World| !Arc::ptr_eq(&snapshot(world).lesson, &before.0.lesson);
    until(&mut world, "the talk", |world| is_of_talk(world) && sentence(world).is_some());
    let answer = |world: &World| {
        let shown = snapshot(world);
        let guess = shown.notebook.cells.iter().find(|shown| &*shown.cell.id == "guess").expect("it is there");
        (guess.cell.answer.clone(), guess.run.is_some())
    };
    let open_answer = Answer::Predict { chosen: None, is_locked: false };
    until(&mut world, "answers that are still to come", |world| answer(world) == (open_answer.clone(), false));
    let slides = world.resource::<LatestModels>().get::<SlidesModel>().expect("slides").0.len();
    let mut seen = vec![at(&world).expect("a talk")];
    for _ in 1..slides {
        ask(&mut world, WindowAction::NextSlide);
        seen.push(at(&world).expect("a talk"));
        let here = seen.last().cloned().unwrap_or_default();
        match here.as_str() {
            "double 1" => until(&mut world, "its outputs", |world| {
                snapshot(world).notebook.cells.iter().any(|shown| &*shown.cell.id == "double" && shown.run.is_some())
            }),
            "both 0" => until(&mut world, "the sentence of the stage cell", |world| {
                sentence(world).as_deref() == Some("the seal sank while a duck swam")
            }),
            "both 5" => assert_eq!(world.resource::<ViewState>().walk.at_rest().step().name(), "softmax"),
            "guess 1" => until(&mut world, "the answer", |world| answer(world) == (open_answer.clone(), true)),
            "middle 3" => until(&mut world, "the solution", |world| {
                let shown = snapshot(world);
                shown.notebook.cells.iter().any(|shown| shown.cell.attempts().is_revealed)
            }),
            _ => {}
        }
    }
    let expected = "intro 0, double 0, double 1, turn 0, uses 0, uses 1, reads 0, reads 1, writes 0, writes 1, broken 0, \
                    broken 1, curve 0, sharp 0, weight 0, hide 0, both 0, both 1, both 2, both 3, both 4, both 5, both 6, \
                    both 7, both 8, guess 0, guess 1, middle 0, middle 1, middle 2, middle 3, sharpen 0, sharpen 1, end 0";
    assert_eq!(seen.join(", "), expected);
    ask(&mut world, WindowAction::NextSlide);
    assert_eq!(at(&world).as_deref(), Some("end 0"), "the last one");
    ask(&mut world, WindowAction::PreviousSlide);
    assert_eq!(at(&world).as_deref(), Some("sharpen 1"));

    // A lesson that is saved meanwhile waits for the end of the talk.
    let text = fs::read_to_string(&own).expect("the lesson");
    fs::write(&own, edited(&text, &[("Sinking and swimming", "Swimming")])).expect("it is saved");
    std::thread::sleep(Duration::from_millis(900));
    frame(&mut world);
    assert_eq!(snapshot(&world).lesson.title, "Sinking and swimming");
    fs::write(&own, &text).expect("it is saved");
    std::thread::sleep(Duration::from_millis(900));

    ask(&mut world, WindowAction::EndPresentation);
    assert_eq!(at(&world), None);
    let mut view = world.resource::<ViewState>().clone();
    view.highlight.shows = before.1.highlight.shows;
    assert_eq!(view, before.1);
    assert_eq!(world.resource::<WorkspaceState>().0.layout(), before.2);
    until(&mut world, "the lesson as it was", |world| sentence(world).as_deref() == Some("the duck sank"));
    let now = snapshot(&world);
    assert_eq!(timeless(&now), timeless(&before.0), "no answer, no output and no weight is another");
    assert!(world.resource_mut::<Session>().close().is_ok());
    drop(world);
    let mut world = open(&home, &own);
    until(&mut world, "the work of before the talk", |world| sentence(world).as_deref() == Some("the duck sank"));
    assert_eq!(answer(&world).0, Answer::Predict { chosen: Some(0), is_locked: true });
    drop(world);
}

#[test]
fn a_lesson_without_cells_is_not_presented_and_its_work_is_saved_still() {
    let (folder, home) = home("no-cells");
    let own = copy_of("tests/fixtures/forms/decoder.ron", &folder);
    let mut world = open(&home, &own);
    until(&mut world, "a model", |world| sentence(world).is_some());
    ask(&mut world, WindowAction::Present);
    frame(&mut world);
    assert_eq!(at(&world), None);
    let before = sentence(&world).expect("a sentence");
    let other: Vec<&str> = before.split(' ').rev().collect();
    let other = other.join(" ");
    say(&world, &other);
    until(&mut world, "another sentence", |world| sentence(world).as_deref() == Some(&*other));
    assert!(world.resource_mut::<Session>().close().is_ok());
    drop(world);
    let mut world = open(&home, &own);
    until(&mut world, "the work", |world| sentence(world).as_deref() == Some(&*other));
    drop(world);
}

#[test]
fn a_copy_of_the_lesson_opens_and_takes_the_place_of_nothing() {
    let (folder, home) = home("copy");
    let own = copy_of("tests/fixtures/small.ron", &folder);
    let mut world = open(&home, &own);
    until(&mut world, "a model", |world| sentence(world).is_some());
    let to = folder.join("my_own.ron");
    fs::write(&to, "mine").expect("it is written");
    ask(&mut world, Action::UseFile(FilePurpose::NewLesson { is_copy: true }, to.clone()));
    let told = world.resource::<WindowState>().export.clone();
    let ExportModel::Said(Err(why)) = told else { panic!("{told:?}") };
    assert!(why.contains("my_own.ron") && why.contains("already exists"), "{why}");
    assert_eq!(fs::read_to_string(&to).expect("it is there"), "mine");
    assert_eq!(world.resource::<Session>().path(), own);

    fs::remove_file(&to).expect("it was there");
    ask(&mut world, Action::UseFile(FilePurpose::NewLesson { is_copy: true }, to.clone()));
    assert_eq!(world.resource::<Session>().path(), to);
    until(&mut world, "the copy", |world| sentence(world).is_some());
    let lesson = snapshot(&world).lesson.clone();
    assert_eq!((lesson.id.as_str(), lesson.title.as_str()), ("my_own", "Sinking and swimming"));

    let new = folder.join("my_lesson.ron");
    ask(&mut world, Action::UseFile(FilePurpose::NewLesson { is_copy: false }, new.clone()));
    until(&mut world, "the new lesson", |world| {
        world.resource::<LatestModels>().snapshot().is_some_and(|shown| shown.lesson.id == "my_lesson")
    });
    drop(world);
}
