//! The learner's work is never lost: whatever happens to its files, its disk or its program.

#![allow(clippy::unwrap_used, reason = "helpers of tests, which fail where they cannot go on")]

pub mod children;
mod damage;
mod disks;
mod moved;
mod number_texts;
#[cfg(unix)]
mod obstacles;
mod owners;
mod saving;

use std::env;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use attune_core::store::{Home, Key, Loaded, OpenedStore, Saver, Stored, open, read, take_over};
use serde::{Deserialize, Serialize};

use crate::common::folder::Folder;

/// A folder of its own, with a home in it.
struct Scratch(Folder);

impl Scratch {
    fn new() -> Scratch {
        Scratch(Folder::new("store"))
    }

    fn home(&self) -> Home {
        Home::at(self.0.join("home"))
    }

    fn open(&self) -> OpenedStore<Work> {
        open(&self.home(), &key())
    }

    fn take_over(&self) -> OpenedStore<Work> {
        take_over(&self.home(), &key())
    }

    fn read(&self) -> Loaded<Work> {
        read(&self.home(), &key())
    }

    /// A saver of the work, as its owner.
    fn saver(&self) -> Saver<Work> {
        Saver::spawn(self.open().store, || ())
    }

    /// Saves as the owner and gives the folder back.
    fn save(&self, number: u64) -> PathBuf {
        let mut opened = self.open();
        opened.store.save(&Work::of(number)).unwrap();
        opened.store.folder().path().to_owned()
    }
}

/// Skips a test, for all to see: past the capture of its output. Where every test is required, fails it.
fn skip(why: &str) {
    assert!(env::var_os("ATTUNE_REQUIRE_DISKS").is_none(), "{why}");
    let _ = writeln!(io::stderr(), "SKIPPED: {why}");
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
