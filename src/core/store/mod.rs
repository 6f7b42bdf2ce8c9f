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
//! In reading order: [`home`] is where, [`format`](mod@format) a file, `disk` how one is written as a whole or not
//! at all, [`folder`] what lies in a key's folder, and `generations` which checkpoints stay; [`load`]
//! finds the newest state that is whole, [`lock`] says whose the folder is, [`open`](mod@open) saves as
//! its owner, and [`saver`] does so on a thread of its own. [`numbers`](crate::numbers) are exact within JSON, NaN too.
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
mod generations;
pub mod home;
pub mod load;
pub mod lock;
pub mod open;
pub mod saver;
mod words;

pub use folder::{Checkpoint, Folder};
pub use format::{ReadError, Stored};
pub use home::{Home, Key};
pub use load::{Loaded, LoadedFrom, UnusableFile, read};
pub use lock::Owner;
pub use open::{Lock, NotSaved, Opened, Store, open, take_over, update};
pub use saver::{Saver, Status};
