//! A lesson's file that is saved while it is open.

use std::fs;

use attune::app::link::LatestModels;
use attune::app::work::session::Session;
use attune::app::work::source::LessonIssues;
use attune_core::kernel::Command;
use attune_core::kernel::notebook::document::OwnKind;
use attune_core::kernel::notebook::{CellCommand, NotebookCommand};
use bevy::prelude::World;

use crate::common::lessons::edited;
use crate::{frame, home, lesson_in, open, say, send, sentence, until};

fn title(world: &World) -> String {
    world.resource::<LatestModels>().snapshot().map_or_else(String::new, |snapshot| snapshot.lesson.title.clone())
}

fn cells(world: &World) -> Vec<String> {
    let snapshot = world.resource::<LatestModels>().snapshot().cloned().expect("a snapshot");
    snapshot.notebook.cells.iter().map(|shown| shown.cell.id.to_string()).collect()
}

#[test]
fn a_saved_lesson_is_read_again_with_the_learners_work_kept_and_a_broken_one_says_why() {
    let (folder, home) = home("reload");
    let own = lesson_in(&folder);
    let text = fs::read_to_string(&own).expect("the lesson");
    let mut world = open(&home, &own);
    until(&mut world, "a model", |world| sentence(world).is_some());
    let first = cells(&world);
    let insert = CellCommand::Insert { kind: OwnKind::Code, is_above: false };
    send(&world, Command::Notebook(NotebookCommand::Cell(first[0].as_str().into(), insert)));
    say(&world, "the seal sank");
    until(&mut world, "the learner's work", |world| sentence(world).as_deref() == Some("the seal sank"));
    let with_own = cells(&world);
    assert_eq!(with_own.len(), first.len() + 1);

    fs::write(&own, edited(&text, &[("Sinking and swimming", "Swimming")])).expect("it is saved");
    until(&mut world, "the new title", |world| title(world) == "Swimming" && sentence(world).is_some());
    assert_eq!(cells(&world), with_own);
    assert_eq!(sentence(&world).as_deref(), Some("the seal sank"));

    fs::write(&own, "Lesson(").expect("it is saved");
    until(&mut world, "the issues", |world| !world.resource::<LessonIssues>().0.is_empty());
    assert_eq!((title(&world).as_str(), cells(&world)), ("Swimming", with_own.clone()));

    fs::write(&own, &text).expect("it is saved");
    until(&mut world, "the first title again", |world| title(world) == "Sinking and swimming");
    assert!(world.resource::<LessonIssues>().0.is_empty());
    assert_eq!(cells(&world), with_own);
    drop(world);
}

#[test]
fn each_reload_says_what_it_changed_and_not_what_those_before_it_did() {
    let (folder, home) = home("reload-report");
    let own = lesson_in(&folder);
    let text = fs::read_to_string(&own).expect("the lesson");
    let mut world = open(&home, &own);
    until(&mut world, "a model", |world| sentence(world).is_some());
    let edit = CellCommand::SetText("my own words".into());
    send(&world, Command::Notebook(NotebookCommand::Cell("intro".into(), edit)));
    let report = |world: &World| world.resource::<Session>().model.report.clone();
    let saves = |world: &mut World, title: &str, cell: &str| {
        let text = edited(&text, &[("Sinking and swimming", title), ("\"intro\"", cell)]);
        fs::write(&own, text).expect("it is saved");
        until(world, title, |world| self::title(world) == title && sentence(world).is_some());
        frame(world);
        report(world)
    };
    until(&mut world, "the edit", |world| {
        let snapshot = world.resource::<LatestModels>().snapshot().expect("a snapshot");
        snapshot.notebook.cells[0].cell.text.contains("my own")
    });
    let first = saves(&mut world, "Swimming", "\"opening\"");
    assert!(matches!(&first[..], [one] if one.contains("no longer has cell")), "{first:?}");
    let second = saves(&mut world, "Sinking", "\"opening\"");
    assert!(second.is_empty(), "{second:?}");
    drop(world);
}
