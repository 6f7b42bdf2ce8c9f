//! Two windows on one lesson.

use attune::app::actions::WindowAction;
use attune::app::work::session::Session;
use attune::app::workspace::WorkspaceState;
use attune::app::workspace::notices::{SavingChoice, SavingStatus};
use bevy::prelude::World;

use crate::{ask, frame, home, lesson_in, open, say, sentence, until};

const FIRST: &str = "the seal sank";
const SECOND: &str = "the duck swam";

fn choose(world: &mut World, choice: SavingChoice) {
    world.resource_mut::<Session>().choice = Some(choice);
    frame(world);
}

fn is_saved(world: &World) -> bool {
    world.resource::<Session>().model.status == SavingStatus::Saved
}

fn says(sentence_of: &'static str) -> impl Fn(&World) -> bool {
    move |world| sentence(world).as_deref() == Some(sentence_of)
}

#[test]
fn the_second_window_says_so_and_saves_nothing_until_it_takes_over() {
    let (folder, home) = home("owners");
    let own = lesson_in(&folder);
    let mut first = open(&home, &own);
    until(&mut first, "a model", |world| sentence(world).is_some());
    say(&first, FIRST);
    until(&mut first, "the first sentence is saved", |world| says(FIRST)(world) && is_saved(world));

    let mut second = open(&home, &own);
    until(&mut second, "the same work in the second window", says(FIRST));
    let lock = second.resource::<Session>().model.lock.clone().expect("a strip");
    assert!(lock.is_held && lock.can_take_over && lock.words.contains("another window"), "{lock:?}");
    choose(&mut second, SavingChoice::ReadOnly);
    frame(&mut second);
    assert_eq!(second.resource::<Session>().model.lock, None);
    assert!(matches!(second.resource::<Session>().model.status, SavingStatus::ReadOnly(_)));
    say(&second, SECOND);
    until(&mut second, "the second sentence", says(SECOND));

    // By choice it goes on with what is saved, with its own beside it, and the first is told.
    choose(&mut second, SavingChoice::TakeOver);
    until(&mut second, "what the first window saved", says(FIRST));
    ask(&mut second, WindowAction::Checkpoints);
    let rows = second.resource::<WorkspaceState>().0.checkpoints.clone().expect("a list");
    assert!(rows.iter().any(|row| row.why.starts_with("this window's")), "{rows:?}");
    say(&second, SECOND);
    until(&mut second, "the second window saves", |world| says(SECOND)(world) && is_saved(world));
    until(
        &mut first,
        "the first window is told",
        |world| matches!(&world.resource::<Session>().model.lock, Some(lock) if !lock.is_held),
    );
    drop(first);
    drop(second);
    let mut third = open(&home, &own);
    until(&mut third, "the second window's work", says(SECOND));
    assert_eq!(third.resource::<Session>().model.lock, None);
    drop(third);
}

#[test]
fn who_takes_over_where_nothing_was_saved_keeps_and_saves_its_own() {
    let (folder, home) = home("over-nothing");
    let own = lesson_in(&folder);
    let mut first = open(&home, &own);
    until(&mut first, "a model", |world| sentence(world).is_some());
    let mut second = open(&home, &own);
    until(&mut second, "a model", |world| sentence(world).is_some());
    say(&second, SECOND);
    until(&mut second, "the sentence", says(SECOND));
    choose(&mut second, SavingChoice::TakeOver);
    until(&mut second, "it is saved", is_saved);
    drop(second);
    drop(first);
    let mut third = open(&home, &own);
    until(&mut third, "the second window's work", says(SECOND));
    drop(third);
}
