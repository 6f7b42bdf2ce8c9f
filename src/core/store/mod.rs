//! The learner's work on disk: values as JSON text in files, one folder for each key.
//!
//! This module does not depend on lessons. A value implements [`Stored`], belongs to a [`Key`], and is stored in the
//! [`Home`], a folder on this computer:
//!
//! ```text
//! HOME/
//!   course/state.json                     Key::named("course"): merged by every window, see update()
//!   lessons/apple-0123456789abcdef/       Key::of_file("apple", path): owned by one window at a time
//!     state.json                          the state: a header with a checksum, and JSON
//!     checkpoints/0000000007.json         older ones: minutes, an hour, days old, and the first
//!     checkpoints/0000000008-labelled.json    those that were asked for, such as before a reset
//!     aside/                              what could not be read; moved, not deleted
//!     owner.json, alive-…, gate           which window may write
//! ```
//!
//! In reading order: [`Home`] is the place, [`format`](mod@format) the form of a file, and `disk` writes one completely
//! or not at all. [`folder`] lists what a key's folder has, chooses the checkpoints to keep and finds the newest usable
//! state; [`lock`] says who owns the folder, [`open`](mod@open) saves as its owner, and [`saver`] does so on a thread
//! of its own. [`numbers`](attune_engine::numbers) writes numbers to JSON exactly, including NaN.
//!
//! Guarantees:
//! - A file is used only if it is complete: a checksum covers every byte, and a state is renamed into place only when
//!   it is on the disk.
//! - Nothing here panics, and nothing that is read can hang the program or exhaust the memory.
//! - A window that was taken over does not overwrite the work of the other window.
//! - A file that cannot be read is reported with the reason and moved aside; one from a newer program is left in place
//!   unless the learner takes over the folder.
//!
//! ```
//! use std::sync::Arc;
//! use attune_core::store::{Home, Key, Lock, Saver, Status, Stored, open};
//!
//! #[derive(serde::Serialize, serde::Deserialize)]
//! struct Work { notes: Vec<String> }
//! impl Stored for Work { const VERSION: u32 = 1; }
//!
//! # let folder = std::env::temp_dir().join(format!("attune-doc-{}", std::process::id()));
//! let home = Home::at(&folder); // or Home::of_platform()
//! let key = Key::of_file("apple", "lessons/apple.ron".as_ref());
//!
//! let opened = open::<Work>(&home, &key);
//! assert!(opened.loaded.value.is_none());
//! let saver = Saver::spawn(opened.store, || ());
//! saver.put(Arc::new(Work { notes: vec!["bank moves to river".into()] }));
//! assert!(matches!(saver.flush(), Status::Saved { .. })); // it would be within two seconds
//!
//! let second = open::<Work>(&home, &key);
//! assert!(matches!(second.store.lock(), Lock::Held { .. }));
//! assert_eq!(second.loaded.value.unwrap().notes, ["bank moves to river"]);
//! # drop(saver);
//! # std::fs::remove_dir_all(folder).unwrap();
//! ```

mod disk;
pub mod folder;
pub mod format;
pub mod lock;
pub mod open;
pub mod saver;

use std::env;
use std::fs;
use std::path::{Path, PathBuf, absolute};

use crate::fnv1a;
pub use folder::{Checkpoint, Folder, Loaded, LoadedFrom, UnusableFile, read};
pub use format::{ReadError, Stored};
pub use lock::{Lock, Owner};
pub use open::{NotSaved, OpenedStore, Store, open, take_over, update};
pub use saver::{Saver, Status};

/// The name of the program's folder within the platform's data folder.
const PROGRAM: &str = "attune";
/// The folder, within the root, for the work on files that the learner opened.
const FILES: &str = "lessons";
/// The folder, within the root, for the program's built-in files.
const BUILT_IN: &str = "built-in";
/// The number of characters of an id that a folder's name keeps. A hash follows, which tells longer ids apart.
const READABLE_MAX: usize = 40;

/// The root folder of everything that is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    root: PathBuf,
}

impl Home {
    /// Returns the platform's data folder: `$XDG_DATA_HOME/attune` or `~/.local/share/attune`, on macOS
    /// `~/Library/Application Support/attune`, on Windows `%APPDATA%\attune`. `None` where the environment names no
    /// home folder.
    ///
    /// The standard library finds the home folder, and only three names are added to it, so no crate is used for this.
    pub fn of_platform() -> Option<Home> {
        // The XDG specification says to ignore paths that are not absolute.
        let named = |variable| env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
        let data = if cfg!(windows) {
            named("APPDATA")
        } else if cfg!(target_os = "macos") {
            env::home_dir().map(|home| home.join("Library").join("Application Support"))
        } else {
            named("XDG_DATA_HOME").or_else(|| env::home_dir().map(|home| home.join(".local").join("share")))
        };
        data.filter(|path| path.is_absolute()).map(|path| Home { root: path.join(PROGRAM) })
    }

    /// Returns a home in a folder of the learner's choice, which is made when something is saved in it.
    pub fn at(root: impl Into<PathBuf>) -> Home {
        Home { root: root.into() }
    }

    /// Returns the path of the root folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folder for built-in files, which are copied to the disk and read from there.
    pub fn built_in(&self) -> PathBuf {
        self.root.join(BUILT_IN)
    }

    fn folder(&self, key: &Key) -> PathBuf {
        self.root.join(key.folder())
    }
}

/// The identity of one piece of stored work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    id: String,
    /// The file's canonical path.
    file: Option<PathBuf>,
}

impl Key {
    /// Returns the key of something that exists once, such as the course. The program chooses the name: short, in
    /// lower-case ASCII.
    pub fn named(name: &str) -> Key {
        Key { id: name.to_owned(), file: None }
    }

    /// Returns the key of a file that states its own id. Two files with one id have different keys.
    pub fn of_file(id: &str, file: &Path) -> Key {
        // A file that does not exist has no canonical path; its absolute path is the next best.
        let path = fs::canonicalize(file).or_else(|_| absolute(file)).unwrap_or_else(|_| file.to_owned());
        Key { id: id.to_owned(), file: Some(path) }
    }

    /// Returns the folder of this key, relative to the root.
    fn folder(&self) -> PathBuf {
        match &self.file {
            None => PathBuf::from(self.readable()),
            Some(path) => {
                let parts = [self.id.as_bytes(), &[u8::MAX], path.as_os_str().as_encoded_bytes()];
                Path::new(FILES).join(format!("{}{:016x}", self.prefix(), fnv1a(&parts.concat())))
            }
        }
    }

    /// Returns the common prefix of the folders of all files with this id.
    fn prefix(&self) -> String {
        format!("{}-", self.readable())
    }

    /// Returns the start of the id in a form that every file system accepts as a name: in lower case, because some do
    /// not distinguish case, and with `-` for other characters than ASCII letters and digits.
    fn readable(&self) -> String {
        let safe = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let name: String = self.id.chars().take(READABLE_MAX).map(safe).collect();
        if name.is_empty() { "-".to_owned() } else { name }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_have_names_that_every_file_system_takes() {
        for id in ["", ".", "..", "con", "a/b\\c:d", "été Ω 猫", "x\0y", &"long ".repeat(1_000)] {
            let folder = Key::of_file(id, Path::new("a.ron")).folder();
            let name = folder.strip_prefix(FILES).unwrap().to_str().unwrap();
            assert!(name.len() <= READABLE_MAX + 17, "{name}");
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{name}");
        }
    }

    #[test]
    fn neither_ids_nor_files_share_a_folder() {
        let of = |id, path: &str| Key::of_file(id, Path::new(path)).folder();
        assert_eq!(of("apple", "a.ron"), of("apple", "a.ron"));
        let others = [of("apple", "b.ron"), of("Apple", "a.ron"), of("apple-", "a.ron"), of("pple", "a.ron")];
        for other in others {
            assert_ne!(of("apple", "a.ron"), other);
        }
    }
}
