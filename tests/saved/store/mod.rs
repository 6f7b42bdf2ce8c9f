//! The learner's work is never lost: whatever happens to its files, its disk or its program.

#![allow(clippy::unwrap_used, reason = "helpers of tests, which fail where they cannot go on")]

mod children;
mod damage;
mod disks;
mod moved;
mod number_texts;
mod owners;
mod saving;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

use attune::store::{Home, Key, Stored, open};
use serde::{Deserialize, Serialize};

/// A folder that is removed at the end of a test.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("attune-store-{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        Scratch(folder)
    }

    fn home(&self) -> Home {
        Home::at(self.0.join("home"))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A state that shows whether it is whole: the text says the number as often as it is long.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Work {
    number: u64,
    text: Vec<u64>,
}

impl Stored for Work {
    const VERSION: u32 = 3;
}

impl Work {
    fn of(number: u64) -> Work {
        Work::sized(number, 3)
    }

    fn sized(number: u64, length: usize) -> Work {
        Work { number, text: vec![number; length] }
    }

    fn is_whole(&self) -> bool {
        self.text.iter().all(|copy| *copy == self.number)
    }
}

fn key() -> Key {
    Key::of_file("apple", Path::new("lessons/apple.ron"))
}

/// Saves as the owner and gives the folder back.
fn save(home: &Home, number: u64) -> PathBuf {
    let mut opened = open::<Work>(home, &key());
    opened.store.save(&Work::of(number)).unwrap();
    opened.store.folder().path().to_owned()
}

/// Waits for what another thread or process does; slow machines may take long.
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(60), "waited in vain until {what}");
        thread::sleep(Duration::from_millis(5));
    }
}
