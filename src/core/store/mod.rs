//! The learner's work on disk: values as JSON text in files, by a key.
//!
//! This module knows nothing of lessons. A value implements [`Stored`], belongs to a [`Key`], and
//! lies in the [`Home`], a folder on this computer:
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
//! In reading order: [`Home`] is where, [`format`](mod@format) a file, `disk` how one is written as a whole or not
//! at all, [`folder`] what lies in a key's folder, which checkpoints stay and which state is the newest that is whole;
//! [`lock`] says whose the folder is, [`open`](mod@open) saves as its owner, and [`saver`] does so on a thread of its
//! own. [`numbers`](attune_engine::numbers) are exact within JSON, NaN too.
//!
//! Guarantees:
//! - A file is whole or is not used: every byte stands under a checksum, and a state gets its name when it is on the
//!   disk.
//! - Nothing here panics, and nothing that is read can hang the program or eat its memory.
//! - A window that was taken over writes nothing over the work of the other.
//! - A file that cannot be read is reported, with the reason, and moved aside; one from a newer program stays.
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
pub use lock::Owner;
pub use open::{Lock, NotSaved, OpenedStore, Store, open, take_over, update};
pub use saver::{Saver, Status};

/// The program's folder within the platform's data folder.
const PROGRAM: &str = "attune";
/// Folders of files that the learner opened, within the root.
const FILES: &str = "lessons";
/// The folder of files that are in the program, within the root.
const BUILT_IN: &str = "built-in";
/// Letters of an id that a folder's name keeps; the hash that follows tells longer ones apart.
const READABLE_MAX: usize = 40;

/// The root of everything that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    root: PathBuf,
}

impl Home {
    /// The platform's data folder, or none where the environment names no home:
    /// `$XDG_DATA_HOME/attune` or `~/.local/share/attune`, on macOS
    /// `~/Library/Application Support/attune`, on Windows `%APPDATA%\attune`.
    ///
    /// The standard library finds the home folder, and the rest is three names: no crate earns its keep here.
    pub fn of_platform() -> Option<Home> {
        // The XDG specification: a path that is not absolute is to be ignored.
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

    /// A folder of the learner's choice. It is made when something is kept in it.
    pub fn at(root: impl Into<PathBuf>) -> Home {
        Home { root: root.into() }
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder for files that are in the program and are read from the disk.
    pub fn built_in(&self) -> PathBuf {
        self.root.join(BUILT_IN)
    }

    fn folder(&self, key: &Key) -> PathBuf {
        self.root.join(key.folder())
    }
}

/// The identity of a piece of work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    id: String,
    /// In its canonical form.
    file: Option<PathBuf>,
}

impl Key {
    /// Something that there is once, such as the course. The name is the program's own: short, in lower-case ASCII.
    pub fn named(name: &str) -> Key {
        Key { id: name.to_owned(), file: None }
    }

    /// A file that says what its id is. Two files of one id are two keys.
    pub fn of_file(id: &str, file: &Path) -> Key {
        // A file that is not there has no canonical path; an absolute one is the next best.
        let path = fs::canonicalize(file).or_else(|_| absolute(file)).unwrap_or_else(|_| file.to_owned());
        Key { id: id.to_owned(), file: Some(path) }
    }

    /// Relative to the root.
    fn folder(&self) -> PathBuf {
        match &self.file {
            None => PathBuf::from(self.readable()),
            Some(path) => {
                let parts = [self.id.as_bytes(), &[u8::MAX], path.as_os_str().as_encoded_bytes()];
                Path::new(FILES).join(format!("{}{:016x}", self.prefix(), fnv1a(&parts.concat())))
            }
        }
    }

    /// With what the folders of all files of this id begin.
    fn prefix(&self) -> String {
        format!("{}-", self.readable())
    }

    /// As much of the id as every file system takes for a name, whichever case it keeps.
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
