//! Pipes, devices, folders and links under every name that the store uses: each is told of in bounded time, and saving
//! goes on once it is gone.

use std::fs;
use std::path::Path;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use attune_core::store::Lock;

use super::*;
use crate::common::obstacles::{KINDS, remove};

/// A guard against waiting without end; everything here takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// Fails if `work` waits for what never comes.
fn soon<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = channel();
    thread::spawn(move || sender.send(work()));
    receiver.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("{what}: it waits without end, or panics"))
}

/// Names within the folder of a piece of work; the empty one is the folder itself.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        ["", "gate", "owner.json", "state.json", "checkpoints", "aside"].map(str::to_owned).into();
    // The token of the last owner, who is gone.
    let owner: serde_json::Value = serde_json::from_slice(&fs::read(folder.join("owner.json")).unwrap()).unwrap();
    names.push(format!("alive-{}", owner["token"].as_str().unwrap()));
    names
}

#[test]
fn nothing_in_the_way_stops_the_program_or_later_saving() {
    let scratch = Scratch::new();
    let folder = scratch.save(1);
    for name in names(&folder) {
        for (kind, make) in KINDS {
            let what = format!("{kind} as {name:?}");
            let home = scratch.home();
            remove(&folder);
            scratch.save(1);
            let path = if name.is_empty() { folder.clone() } else { folder.join(&name) };
            remove(&path);
            make(&path);
            let (store, was_saved) = soon(&what, move || {
                let mut opened = open::<Work>(&home, &key());
                let was_saved = opened.store.save(&Work::of(2));
                (opened.store, was_saved)
            });
            if let Err(why) = &was_saved {
                assert!(matches!(store.lock(), Lock::Unwritable { .. }), "{what}: {:?}", store.lock());
                let said = why.to_string();
                assert!(said.contains("there should be a"), "{what}: {said}");
            }
            // The learner goes on working, and moves away what is in the way.
            let mut store = store;
            if was_saved.is_err() {
                remove(&path);
            }
            store.save(&Work::of(3)).unwrap_or_else(|why| panic!("{what}, moved away: {why}"));
            drop(store);
            let home = scratch.home();
            let value = soon(&what, move || open::<Work>(&home, &key()).loaded.value);
            assert_eq!(value, Some(Work::of(3)), "{what}");
        }
    }
}
