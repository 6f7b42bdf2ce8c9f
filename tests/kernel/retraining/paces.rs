//! Training plays as fast as it goes, or so slowly that it can be watched; commands are heard all the same.

use std::time::{Duration, Instant};

use attune_core::kernel::Worker;

use super::{bits, lesson, trained};
use crate::common::commands::{PAUSE, PLAY};
use crate::common::waiting::wait_until;

#[test]
fn a_slow_training_can_be_watched_and_ends_as_a_fast_one_does() {
    let worker = Worker::spawn(lesson(), || {});
    let steps = || worker.latest().model.as_ref().map_or(0, |model| model.training.progress.done);
    wait_until("a model", || worker.latest().model.is_some());
    worker.set_pace(Some(20));
    worker.send(PLAY);
    wait_until("a few steps", || steps() >= 3);
    let begun = Instant::now();
    let first = steps();
    wait_until("some more", || steps() >= first + 6);
    // Six steps at twenty a second; the small lesson's twenty together take less than 50 ms.
    assert!(begun.elapsed() > Duration::from_millis(200), "{:?}", begun.elapsed());
    // It rests for a second between two steps, and hears what is asked of it.
    worker.set_pace(Some(1));
    worker.send(PAUSE);
    wait_until("it stands still", || worker.latest().model.as_ref().is_some_and(|model| !model.training.playing));
    worker.send(PLAY);
    let begun = Instant::now();
    worker.set_pace(None);
    wait_until("the end", || steps() == 20);
    assert!(begun.elapsed() < Duration::from_millis(900), "{:?}", begun.elapsed());
    wait_until("it stands still", || worker.latest().model.as_ref().is_some_and(|model| !model.training.playing));
    assert!(bits(&worker.latest()) == bits(&trained().snapshot()), "the pace changes no bit");
}
