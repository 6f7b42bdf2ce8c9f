//! The saver: soon after a change, again if it fails, and never in the window's way.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use attune_core::store::{NotSaved, Saver, Status, Stored, open};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Scratch, Work, key};
use crate::common::waiting::wait_until;

fn saved(scratch: &Scratch) -> Option<u64> {
    scratch.read().value.map(|work| work.number)
}

#[test]
fn a_change_is_written_by_itself() {
    let scratch = Scratch::new();
    let saver = scratch.saver();
    assert_eq!(saver.status(), Status::Unchanged);
    saver.put(Arc::new(Work::of(1)));
    assert_eq!(saver.status(), Status::Pending);
    wait_until("it is saved", || matches!(saver.status(), Status::Saved { .. }));
    assert_eq!(saved(&scratch), Some(1));
}

#[test]
fn changes_without_a_pause_are_written_too_and_only_some_are_made() {
    let scratch = Scratch::new();
    let saver = scratch.saver();
    let made = Arc::new(AtomicU64::new(0));
    let mut put = 0;
    wait_until("it is saved between two changes", || {
        put += 1;
        let (number, count) = (put, made.clone());
        saver.put_with(move || {
            count.fetch_add(1, Ordering::Relaxed);
            Arc::new(Work::of(number))
        });
        saved(&scratch).is_some()
    });
    assert!(made.load(Ordering::Relaxed) < put.max(3));
    drop(saver);
    assert_eq!(saved(&scratch), Some(put));
}

#[test]
fn closing_writes_what_is_left() {
    let scratch = Scratch::new();
    let saver = scratch.saver();
    saver.put(Arc::new(Work::of(5)));
    drop(saver);
    assert_eq!(saved(&scratch), Some(5));
}

#[test]
fn a_checkpoint_holds_what_was_put_before_it() {
    let scratch = Scratch::new();
    let saver = scratch.saver();
    assert_eq!(saver.checkpoint("x"), Err(NotSaved::Failed("nothing is saved yet".to_owned())));
    saver.put(Arc::new(Work::of(1)));
    let before = saver.checkpoint("before the reset").unwrap();
    saver.put(Arc::new(Work::default()));
    saver.flush();
    assert_eq!(saved(&scratch), Some(0));
    assert_eq!(saver.folder().checkpoints()[0], before);
    assert_eq!(saver.folder().load::<Work>(&before), Ok(Work::of(1)));
}

#[test]
fn a_folder_that_was_removed_is_made_again() {
    let scratch = Scratch::new();
    let saver = scratch.saver();
    for number in 1..5 {
        saver.put(Arc::new(Work::of(number)));
        assert!(matches!(saver.flush(), Status::Saved { .. }));
        assert_eq!(saved(&scratch), Some(number));
        fs::remove_dir_all(scratch.home().root()).unwrap();
    }
    saver.put(Arc::new(Work::of(9)));
    saver.flush();
    // It is owned as before.
    assert!(matches!(scratch.open().store.lock(), attune_core::store::Lock::Held { .. }));
}

#[test]
fn a_failed_write_is_tried_again_until_it_succeeds() {
    let scratch = Scratch::new();
    let saver = scratch.saver();
    saver.put(Arc::new(Work::of(1)));
    saver.flush();
    let aside = scratch.0.join("moved");
    fs::rename(scratch.home().root(), &aside).unwrap();
    fs::write(scratch.home().root(), "a file in place of the folder").unwrap();
    saver.put(Arc::new(Work::of(2)));
    let Status::Failed { why } = saver.flush() else { panic!("{:?}", saver.status()) };
    println!("{why}");
    assert!(saver.checkpoint("x").is_err());
    saver.put(Arc::new(Work::of(3)));
    assert!(matches!(saver.status(), Status::Failed { .. }), "a change does not hide a fault");
    fs::remove_file(scratch.home().root()).unwrap();
    fs::rename(&aside, scratch.home().root()).unwrap();
    assert_eq!(saved(&scratch), Some(1));
    wait_until("it is saved", || matches!(saver.status(), Status::Saved { .. }));
    assert_eq!(saved(&scratch), Some(3));
}

#[derive(Default)]
struct Faulty {
    panics: bool,
}

impl Serialize for Faulty {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        assert!(!self.panics, "a test of what happens after a panic");
        serializer.serialize_unit()
    }
}

impl<'de> Deserialize<'de> for Faulty {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <()>::deserialize(deserializer).map(|()| Faulty::default())
    }
}

impl Stored for Faulty {
    const VERSION: u32 = 1;
}

#[test]
fn a_state_that_cannot_be_made_does_not_end_the_saving() {
    let scratch = Scratch::new();
    let saver = Saver::spawn(open::<Faulty>(&scratch.home(), &key()).store, || ());
    saver.put(Arc::new(Faulty { panics: true }));
    assert!(matches!(saver.flush(), Status::Failed { .. }));
    saver.put_with(|| panic!("a test of what happens after a panic"));
    assert!(matches!(saver.flush(), Status::Failed { .. }));
    saver.put(Arc::new(Faulty::default()));
    assert!(matches!(saver.flush(), Status::Saved { .. }));
}

#[test]
fn the_window_never_waits_for_the_disk() {
    let scratch = Scratch::new();
    let saver = scratch.saver();
    let (begun, slow) = std::sync::mpsc::channel();
    let (finish, wait) = std::sync::mpsc::channel::<()>();
    saver.put_with(move || {
        begun.send(()).unwrap();
        wait.recv().unwrap();
        Arc::new(Work::of(1))
    });
    slow.recv().unwrap();
    // The thread is busy; these return all the same.
    saver.put(Arc::new(Work::of(2)));
    saver.put(Arc::new(Work::of(3)));
    assert_eq!(saver.status(), Status::Pending);
    finish.send(()).unwrap();
    assert!(matches!(saver.flush(), Status::Saved { .. }));
    assert_eq!(saved(&scratch), Some(3));
}
