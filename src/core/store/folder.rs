//! The folder of one key: the state, its checkpoints, and files that could not be read.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::format::{self, Encoded, FOOT, ReadError, Stored};
use super::home::{Home, Key};
use super::lock::Gate;
use super::{disk, generations, words};
use crate::whole_file::Unfinished;

pub(super) const STATE: &str = "state.json";
const CHECKPOINTS: &str = "checkpoints";
/// How the file of a checkpoint with a label ends; the others have only their number.
const LABELLED: &str = "-labelled.json";
const OF_ITSELF: &str = ".json";
/// The folder of files that could not be read.
const ASIDE: &str = "aside";
/// How many files that could not be read are kept; the latest ones stay.
const ASIDE_KEPT: usize = 10;
/// Digits of the running number at the start of a name.
const DIGITS: usize = 10;

/// The folder of the work on one key. Reading it needs no lock.
#[derive(Clone, Debug)]
pub struct Folder {
    pub(super) path: PathBuf,
    pub(super) key: Key,
}

/// An older state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    pub(super) file: PathBuf,
    /// When that state was saved.
    pub saved: SystemTime,
    /// Why it is kept; none if it was kept because time had passed.
    pub label: Option<String>,
}

impl Checkpoint {
    /// How long ago it was saved, in words.
    pub fn ago(&self) -> String {
        words::ago(self.saved)
    }
}

impl Folder {
    pub(super) fn new(home: &Home, key: &Key) -> Folder {
        Folder { path: home.folder(key), key: key.clone() }
    }

    /// The folder itself; it is made when something is kept in it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The checkpoints, the newest first.
    pub fn checkpoints(&self) -> Vec<Checkpoint> {
        let about = |file: PathBuf| {
            let meta = format::read_meta(&file)?;
            Some(Checkpoint { file, saved: meta.saved(), label: meta.label })
        };
        self.checkpoint_files().into_iter().filter_map(about).collect()
    }

    /// The state that a checkpoint keeps.
    ///
    /// # Errors
    /// Why its file cannot be used.
    pub fn load<T: Stored>(&self, checkpoint: &Checkpoint) -> Result<T, ReadError> {
        let gone = || ReadError::Unreadable("newer checkpoints have replaced it".to_owned());
        format::decode(&format::read(&checkpoint.file)?.ok_or_else(gone)?)?.value()
    }

    pub(super) fn state(&self) -> PathBuf {
        self.path.join(STATE)
    }

    /// Files of checkpoints, by their names alone, the newest first.
    pub(super) fn checkpoint_files(&self) -> Vec<PathBuf> {
        let folder = self.path.join(CHECKPOINTS);
        disk::names(&folder).iter().rev().filter(|name| number(name).is_some()).map(|name| folder.join(name)).collect()
    }

    /// Gives a new state its name; the previous one becomes a checkpoint when one is due.
    pub(super) fn commit(&self, state: Unfinished, _gate: &Gate) -> io::Result<()> {
        // Whatever a checkpoint lacks (room, permission), the state itself matters more.
        let kept = self.keep_replaced().unwrap_or(false);
        state.keep_as(&self.state())?;
        if kept {
            self.thin();
        }
        Ok(())
    }

    /// Keeps a state under a label, beside the current one.
    pub(super) fn keep_labelled(&self, state: &Encoded, _gate: &Gate) -> io::Result<PathBuf> {
        let file = self.next_checkpoint(LABELLED)?;
        disk::write(&self.path, &[state.head.as_bytes(), &state.json, FOOT])?.keep_as(&file)?;
        self.thin();
        Ok(file)
    }

    /// Moves a file out of the way. None if that fails.
    pub(super) fn put_aside(&self, file: &Path) -> Option<PathBuf> {
        let folder = self.path.join(ASIDE);
        disk::own_folder(&folder).ok()?;
        fs::create_dir_all(&folder).ok()?;
        let name = file.file_name()?.to_str()?;
        let kept = folder.join(format!("{:0DIGITS$}-{name}", next_number(&folder)));
        fs::rename(file, &kept).ok()?;
        let names = disk::names(&folder);
        for name in names.iter().take(names.len().saturating_sub(ASIDE_KEPT)) {
            let _ = fs::remove_file(folder.join(name));
        }
        Some(kept)
    }

    fn next_checkpoint(&self, ending: &str) -> io::Result<PathBuf> {
        let folder = self.path.join(CHECKPOINTS);
        disk::own_folder(&folder)?;
        fs::create_dir_all(&folder)?;
        Ok(folder.join(format!("{:0DIGITS$}{ending}", next_number(&folder))))
    }

    /// Whether the current state became a checkpoint.
    fn keep_replaced(&self) -> io::Result<bool> {
        let state = self.state();
        let Some(meta) = format::read_meta(&state) else { return Ok(false) };
        let checkpoints = self.checkpoints();
        let is_kept = checkpoints.iter().any(|checkpoint| checkpoint.saved == meta.saved());
        let newest = checkpoints.iter().find(|checkpoint| checkpoint.label.is_none());
        if is_kept || !generations::is_due(meta.saved(), newest.map(|checkpoint| checkpoint.saved)) {
            return Ok(false);
        }
        let file = self.next_checkpoint(OF_ITSELF)?;
        // States are replaced, never written into, so a second name keeps one. Some file systems have no links.
        fs::hard_link(&state, &file).or_else(|_| disk::write(&self.path, &[&fs::read(&state)?])?.keep_as(&file))?;
        Ok(true)
    }

    fn thin(&self) {
        let (labelled, mut of_itself): (Vec<_>, Vec<_>) =
            self.checkpoints().into_iter().partition(|checkpoint| checkpoint.label.is_some());
        let times = |kept: &[Checkpoint]| kept.iter().map(|checkpoint| checkpoint.saved).collect::<Vec<_>>();
        // Each label counts separately: frequent ones must not push out rare ones.
        let mut seen: HashMap<Option<String>, usize> = HashMap::new();
        let mut is_beyond = |checkpoint: &Checkpoint| {
            let count = seen.entry(checkpoint.label.clone()).or_default();
            *count += 1;
            *count > generations::KEPT
        };
        let mut spare: Vec<Checkpoint> = labelled.into_iter().filter(|kept| is_beyond(kept)).collect();
        while let Some(i) = generations::spare(&times(&of_itself)) {
            spare.push(of_itself.remove(i));
        }
        for checkpoint in spare {
            // What cannot be removed now is spare the next time too.
            let _ = fs::remove_file(checkpoint.file);
        }
    }
}

fn number(name: &str) -> Option<u64> {
    name.get(..DIGITS)?.parse().ok()
}

/// Greater than that of every name in the folder.
fn next_number(folder: &Path) -> u64 {
    disk::names(folder).iter().filter_map(|name| number(name)).max().map_or(1, |last| last.saturating_add(1))
}
