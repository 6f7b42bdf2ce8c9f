//! Two windows on one lesson.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use attune_core::store::{Key, LoadedFrom, Lock, NotSaved, Saver, Status, read, update};

use super::{Scratch, Work};
use crate::common::waiting::wait_until;

#[test]
fn the_second_window_reads() {
    let scratch = Scratch::new();
    let mut first = scratch.open();
    first.store.save(&Work::of(1)).unwrap();
    let mut second = scratch.open();
    let Lock::Held { by } = second.store.lock() else { panic!("{}", second.store.lock()) };
    assert_eq!(by.pid, std::process::id());
    println!("{}", second.store.lock());
    assert_eq!(second.loaded.value, Some(Work::of(1)));
    assert!(matches!(second.store.save(&Work::of(2)), Err(NotSaved::Locked(Lock::Held { .. }))));
    assert!(second.store.checkpoint_now("no").is_err());
    let reader = Saver::spawn(second.store, || ());
    reader.put(Arc::new(Work::of(2)));
    assert!(matches!(reader.flush(), Status::Locked(Lock::Held { .. })));
    assert!(reader.checkpoint("no").is_err());
    drop(reader);
    first.store.save(&Work::of(3)).unwrap();
    drop(first);
    let third = scratch.open();
    assert_eq!((third.loaded.value, third.store.lock()), (Some(Work::of(3)), &Lock::Mine));
}

#[test]
fn a_reader_moves_nothing() {
    let scratch = Scratch::new();
    let path = scratch.save(1);
    let _owner = scratch.open();
    fs::write(path.join("state.json"), "broken").unwrap();
    let reader = scratch.open();
    assert_eq!((reader.loaded.troubles.len(), &reader.loaded.troubles[0].kept), (1, &None));
    assert_eq!(fs::read_to_string(path.join("state.json")).unwrap(), "broken");
}

#[test]
fn who_was_taken_over_notices_and_loses_nothing() {
    let scratch = Scratch::new();
    let first = scratch.saver();
    first.put(Arc::new(Work::of(1)));
    assert!(matches!(first.flush(), Status::Saved { .. }));

    let mut second = scratch.take_over();
    assert_eq!((second.loaded.value, second.store.lock()), (Some(Work::of(1)), &Lock::Mine));
    second.store.save(&Work::of(2)).unwrap();
    first.put(Arc::new(Work::of(100)));
    let Status::Locked(lock @ Lock::TakenOver { .. }) = first.flush() else { panic!("{:?}", first.status()) };
    println!("{lock}");
    first.put(Arc::new(Work::of(101)));
    assert!(matches!(first.flush(), Status::Locked(Lock::TakenOver { .. })));
    drop(first);

    assert_eq!(scratch.read().value, Some(Work::of(2)));
    second.store.save(&Work::of(3)).unwrap();
    // What the first had not saved is a checkpoint.
    let folder = second.store.folder();
    let kept = folder.checkpoints().into_iter().find(|checkpoint| checkpoint.label.is_some()).unwrap();
    assert_eq!(folder.load::<Work>(&kept), Ok(Work::of(100)));
}

#[test]
fn what_is_pending_at_a_takeover_becomes_a_checkpoint_by_itself() {
    for has_noticed in [false, true] {
        let scratch = Scratch::new();
        let first = scratch.saver();
        let second = scratch.take_over();
        let notices = || wait_until("it notices", || matches!(first.status(), Status::Locked(Lock::TakenOver { .. })));
        if has_noticed {
            notices();
        }
        first.put(Arc::new(Work::of(7)));
        let folder = second.store.folder();
        notices();
        // Put before it had noticed, the state is kept; put after, it is refused.
        if !has_noticed {
            wait_until("it is kept", || folder.checkpoints().first().is_some_and(|kept| kept.label.is_some()));
            assert_eq!(folder.load::<Work>(&folder.checkpoints()[0]), Ok(Work::of(7)));
        }
        drop(first);
        assert_eq!(scratch.read().used == LoadedFrom::Nothing, folder.checkpoints().is_empty());
        assert!(!folder.path().join("state.json").exists());
    }
}

#[test]
fn a_folder_that_was_removed_and_opened_by_another_is_theirs() {
    let scratch = Scratch::new();
    let mut first = scratch.open();
    first.store.save(&Work::of(1)).unwrap();
    fs::remove_dir_all(scratch.home().root()).unwrap();
    let mut second = scratch.open();
    second.store.save(&Work::of(2)).unwrap();
    assert!(matches!(first.store.save(&Work::of(3)), Err(NotSaved::Locked(Lock::TakenOver { .. }))));
    assert_eq!(scratch.read().value, Some(Work::of(2)));
    let folder = second.store.folder();
    assert_eq!(folder.load::<Work>(&folder.checkpoints()[0]), Ok(Work::of(3)));
}

#[test]
fn an_idle_window_notices_by_itself() {
    let scratch = Scratch::new();
    let woken = Arc::new(AtomicBool::new(false));
    let wake = woken.clone();
    let first = Saver::spawn(scratch.open().store, move || wake.store(true, Ordering::Relaxed));
    let _second = scratch.take_over();
    wait_until("it notices", || matches!(first.status(), Status::Locked(Lock::TakenOver { .. })));
    wait_until("it says so", || woken.load(Ordering::Relaxed));
}

#[test]
fn no_write_of_the_former_owner_follows_a_takeover() {
    for round in 0..20u64 {
        let scratch = Scratch::new();
        let mut first = scratch.open();
        thread::scope(|scope| {
            let writing = scope.spawn(move || {
                for number in 1.. {
                    if let Err(why) = first.store.save(&Work::of(number)) {
                        return why;
                    }
                }
                unreachable!("it saves until it is stopped")
            });
            thread::sleep(Duration::from_millis(round));
            let mut second = scratch.take_over();
            assert_eq!(second.store.lock(), &Lock::Mine);
            second.store.save(&Work::of(u64::MAX)).unwrap();
            assert!(matches!(writing.join().unwrap(), NotSaved::Locked(Lock::TakenOver { .. })));
        });
        let loaded = scratch.read();
        assert_eq!((loaded.value, loaded.troubles.len()), (Some(Work::of(u64::MAX)), 0));
    }
}

#[test]
fn windows_that_open_at_once_have_one_owner() {
    let scratch = Scratch::new();
    let opened: Vec<_> = thread::scope(|scope| {
        let windows: Vec<_> = (0..8).map(|_| scope.spawn(|| scratch.open())).collect();
        windows.into_iter().map(|window| window.join().unwrap()).collect()
    });
    assert_eq!(opened.iter().filter(|opened| opened.store.lock() == &Lock::Mine).count(), 1);
}

#[test]
fn a_broken_owner_file_locks_nobody_out() {
    let scratch = Scratch::new();
    let path = scratch.save(1);
    let foreign = r#"{"pid":1,"host":"h","since":0,"token":"../../../state.json"}"#;
    for text in ["", "{}", "null", foreign, &"[".repeat(4_000), &" ".repeat(1 << 20)] {
        fs::write(path.join("owner.json"), text).unwrap();
        assert_eq!(scratch.open().store.lock(), &Lock::Mine, "{text:.60}");
    }
}

#[test]
fn every_window_adds_to_what_they_share() {
    let scratch = Scratch::new();
    let home = scratch.home();
    let course = Key::named("course");
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..10 {
                    update(&home, &course, |work: &mut Work| work.number += 1).unwrap();
                }
            });
        }
        scope.spawn(|| {
            let merge = |kept: &mut Work, put: &Work| kept.text.extend(&put.text);
            let saver = Saver::merging(&home, &course, merge, || ());
            saver.put(Arc::new(Work { number: 0, text: vec![7] }));
            assert!(matches!(saver.flush(), Status::Saved { .. }));
            saver.checkpoint("kept").unwrap();
            saver.put(Arc::new(Work { number: 0, text: vec![8] }));
        });
    });
    let loaded = read::<Work>(&home, &course);
    assert_eq!(loaded.value, Some(Work { number: 40, text: vec![7, 8] }));
    assert!(matches!(loaded.used, LoadedFrom::State(_)));
    assert!(home.root().join("course").join("state.json").exists());
}
