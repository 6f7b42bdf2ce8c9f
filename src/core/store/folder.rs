//! The folder of one key: the state, its checkpoints, and files that could not be read.
//!
//! A replaced state becomes a checkpoint if it is at least [`SPACING`] newer than the newest checkpoint. When there are
//! more than [`KEPT`], the checkpoint is removed whose neighbours in time are closest, measured as a ratio of ages, so
//! that the remaining ones are some minutes, some tens of minutes, some hours old and so on. The newest and the very
//! first are always kept.

use std::collections::HashMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use attune_engine::files;

use super::format::{self, Encoded, FOOT, Meta, ReadError, Stored};
use super::lock::{Gate, Lock};
use super::{FILES, Home, Key, disk};
use crate::whole_file::Unfinished;

pub(super) const STATE: &str = "state.json";
const CHECKPOINTS: &str = "checkpoints";
/// The suffix of a labelled checkpoint's file; other checkpoints have only a number.
const LABELLED: &str = "-labelled.json";
const OF_ITSELF: &str = ".json";
/// The folder for files that could not be read.
const ASIDE: &str = "aside";
/// The number of unreadable files that are kept; the oldest are removed first.
const ASIDE_KEPT: usize = 10;
/// The number of digits at the start of a checkpoint's file name.
const DIGITS: usize = 10;

/// The folder of one key's work. Reading it needs no lock.
#[derive(Clone, Debug)]
pub struct Folder {
    pub(super) path: PathBuf,
    pub(super) key: Key,
}

/// An older state that was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    pub(super) file: PathBuf,
    /// The time at which that state was saved.
    pub saved: SystemTime,
    /// The reason for which it was kept; `None` if it was kept because time had passed.
    pub label: Option<String>,
}

impl Checkpoint {
    /// Returns how long ago the state was saved, in words.
    pub fn ago(&self) -> String {
        disk::ago(self.saved)
    }
}

impl Folder {
    pub(super) fn new(home: &Home, key: &Key) -> Folder {
        Folder { path: home.folder(key), key: key.clone() }
    }

    /// Returns the path of the folder, which is made when something is saved in it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Lists the checkpoints, newest first.
    pub fn checkpoints(&self) -> Vec<Checkpoint> {
        let about = |file: PathBuf| {
            let meta = format::read_meta(&file)?;
            Some(Checkpoint { file, saved: meta.saved(), label: meta.label })
        };
        self.checkpoint_files().into_iter().filter_map(about).collect()
    }

    /// Reads the state from a checkpoint.
    ///
    /// # Errors
    /// If its file cannot be used.
    pub fn load<T: Stored>(&self, checkpoint: &Checkpoint) -> Result<T, ReadError> {
        let gone = || ReadError::Unreadable("newer checkpoints have replaced it".to_owned());
        format::decode(&format::read(&checkpoint.file)?.ok_or_else(gone)?)?.value()
    }

    pub(super) fn state(&self) -> PathBuf {
        self.path.join(STATE)
    }

    /// Lists the files of checkpoints by name only, newest first.
    pub(super) fn checkpoint_files(&self) -> Vec<PathBuf> {
        let folder = self.path.join(CHECKPOINTS);
        disk::names(&folder).iter().rev().filter(|name| number(name).is_some()).map(|name| folder.join(name)).collect()
    }

    /// Renames a new state into place. The previous state becomes a checkpoint if one is due.
    pub(super) fn commit(&self, state: Unfinished, _gate: &Gate) -> io::Result<()> {
        // The state itself matters more than a checkpoint that fails, for example for lack of space.
        let kept = self.keep_replaced().unwrap_or(false);
        state.keep_as(&self.state())?;
        if kept {
            self.thin();
        }
        Ok(())
    }

    /// Saves a state as a labelled checkpoint beside the current state, and returns its file.
    pub(super) fn keep_labelled(&self, state: &Encoded, _gate: &Gate) -> io::Result<PathBuf> {
        let file = self.next_checkpoint(LABELLED)?;
        disk::write(&self.path, &[state.head.as_bytes(), &state.json, FOOT])?.keep_as(&file)?;
        self.thin();
        Ok(file)
    }

    /// Moves a file into the folder of unreadable files, and returns its new path; `None` if that fails.
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

    /// Keeps the current state as a checkpoint if one is due, and returns whether it did.
    fn keep_replaced(&self) -> io::Result<bool> {
        let state = self.state();
        let Some(meta) = format::read_meta(&state) else { return Ok(false) };
        let checkpoints = self.checkpoints();
        let is_kept = checkpoints.iter().any(|checkpoint| checkpoint.saved == meta.saved());
        let newest = checkpoints.iter().find(|checkpoint| checkpoint.label.is_none());
        if is_kept || !is_due(meta.saved(), newest.map(|checkpoint| checkpoint.saved)) {
            return Ok(false);
        }
        let file = self.next_checkpoint(OF_ITSELF)?;
        // A state file is replaced and never modified, so a hard link preserves it. Some file systems have no hard
        // links.
        fs::hard_link(&state, &file)
            .or_else(|_| disk::write(&self.path, &[&files::read(&state, format::BYTES_MAX)?])?.keep_as(&file))?;
        Ok(true)
    }

    fn thin(&self) {
        let (labelled, mut of_itself): (Vec<_>, Vec<_>) =
            self.checkpoints().into_iter().partition(|checkpoint| checkpoint.label.is_some());
        let times = |kept: &[Checkpoint]| kept.iter().map(|checkpoint| checkpoint.saved).collect::<Vec<_>>();
        // Each label is counted separately, so that frequent labels do not push out rare ones.
        let mut seen: HashMap<Option<String>, usize> = HashMap::new();
        let mut is_beyond = |checkpoint: &Checkpoint| {
            let count = seen.entry(checkpoint.label.clone()).or_default();
            *count += 1;
            *count > KEPT
        };
        let mut spare: Vec<Checkpoint> = labelled.into_iter().filter(|kept| is_beyond(kept)).collect();
        while let Some(i) = dispensable(&times(&of_itself)) {
            spare.push(of_itself.remove(i));
        }
        for checkpoint in spare {
            // A file that cannot be removed now will be removed next time.
            let _ = fs::remove_file(checkpoint.file);
        }
    }
}

fn number(name: &str) -> Option<u64> {
    name.get(..DIGITS)?.parse().ok()
}

/// Returns a number greater than that of every name in the folder.
fn next_number(folder: &Path) -> u64 {
    disk::names(folder).iter().filter_map(|name| number(name)).max().map_or(1, |last| last.saturating_add(1))
}

/// The least time between automatic checkpoints.
pub(super) const SPACING: Duration = Duration::from_secs(120);
/// The number of checkpoints that are kept without a label, and also for each label.
pub(super) const KEPT: usize = 5;

/// Returns whether a state is far enough in time from the newest checkpoint to be kept.
pub(super) fn is_due(state: SystemTime, newest: Option<SystemTime>) -> bool {
    // After a clock was set back, the distance is unknown; one checkpoint too many is the lesser harm.
    newest.is_none_or(|newest| state.duration_since(newest).map_or(true, |since| since >= SPACING))
}

/// Returns the index of the checkpoint to remove, given their times from newest to oldest; `None` if all are kept.
pub(super) fn dispensable(saved: &[SystemTime]) -> Option<usize> {
    if saved.len() <= KEPT {
        return None;
    }
    let newest = saved[0];
    let age = |i: usize| (newest.duration_since(saved[i]).unwrap_or_default() + SPACING).as_secs_f64();
    let ratio = |i: &usize| age(i + 1) / age(i - 1);
    (1..saved.len() - 1).min_by(|a, b| ratio(a).total_cmp(&ratio(b)))
}

/// The value that was read, and the files that could not be used.
#[derive(Clone, Debug)]
pub struct Loaded<T> {
    /// The value; `None` if no usable one is stored.
    pub value: Option<T>,
    /// The value's origin.
    pub used: LoadedFrom,
    /// The files that could not be used, in the order in which they were tried.
    pub troubles: Vec<UnusableFile>,
}

/// The place from which a value was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadedFrom {
    /// No place, because nothing usable is stored.
    Nothing,
    /// The current state, saved at that time.
    State(SystemTime),
    /// A checkpoint, because the current state could not be used.
    Checkpoint(Checkpoint),
    /// The work on a file with the same id that no longer exists at its former path. That work is left as it is.
    Moved {
        /// The former path of that file.
        from: PathBuf,
    },
}

/// A file that could not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusableFile {
    /// Path of the file when it was read.
    pub file: PathBuf,
    /// The reason why it could not be used.
    pub wrong: ReadError,
    /// Path of the file now; `None` if it was not moved.
    pub kept: Option<PathBuf>,
}

impl fmt::Display for UnusableFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.file.display(), self.wrong)?;
        self.kept.as_ref().map_or(Ok(()), |kept| write!(f, "; it has been moved to {}", kept.display()))
    }
}

impl<T> Loaded<T> {
    /// Returns sentences for the learner, the outcome first; none if the state was read without trouble.
    pub fn report(&self) -> Vec<String> {
        let outcome = match &self.used {
            LoadedFrom::Checkpoint(Checkpoint { saved, .. }) => {
                let when = disk::ago(*saved);
                Some(format!("The last save cannot be used; the checkpoint saved {when} is used instead."))
            }
            LoadedFrom::Moved { from } => {
                Some(format!("This continues your work on {}, a file that is no longer there.", from.display()))
            }
            LoadedFrom::Nothing if !self.troubles.is_empty() => {
                Some("None of the saves can be used, so this lesson starts over.".to_owned())
            }
            LoadedFrom::Nothing | LoadedFrom::State(_) => None,
        };
        outcome.into_iter().chain(self.troubles.iter().map(|trouble| format!("{trouble}."))).collect()
    }

    /// Returns the lock if nothing may be written, because a newer program wrote here or because a faulty file would be
    /// overwritten.
    pub(super) fn blocked(&self, folder: &Folder) -> Option<Lock> {
        let in_the_way = |trouble: &&UnusableFile| {
            trouble.kept.is_none()
                && (matches!(trouble.wrong, ReadError::Newer { .. }) || trouble.file == folder.state())
        };
        self.troubles.iter().find(in_the_way).map(|trouble| Lock::ReadOnly { why: trouble.to_string() })
    }
}

/// Treatment of files that cannot be used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Aside {
    /// No change: the files stay in place, because this window does not own the folder.
    Nothing,
    /// Moving the files aside, except for those of a newer program.
    Unusable,
    /// Moving all of the files aside, including those of a newer program.
    Newer,
}

/// Reads the value that is stored for a key, without a lock and without any change on the disk.
pub fn read<T: Stored>(home: &Home, key: &Key) -> Loaded<T> {
    load(&Folder::new(home, key), Aside::Nothing)
}

pub(super) fn load<T: Stored>(folder: &Folder, aside: Aside) -> Loaded<T> {
    let mut loaded = Loaded { value: None, used: LoadedFrom::Nothing, troubles: Vec::new() };
    let state = folder.state();
    for file in [state.clone()].into_iter().chain(folder.checkpoint_files()) {
        match value_in(&file) {
            Ok(None) => {}
            Ok(Some((value, meta))) => {
                loaded.value = Some(value);
                let saved = meta.saved();
                loaded.used = if file == state {
                    LoadedFrom::State(saved)
                } else {
                    LoadedFrom::Checkpoint(Checkpoint { file, saved, label: meta.label })
                };
                break;
            }
            Err(wrong) => {
                let is_newer = matches!(wrong, ReadError::Newer { .. });
                let moves = aside == Aside::Newer || (aside == Aside::Unusable && !is_newer);
                let kept = moves.then(|| folder.put_aside(&file)).flatten();
                loaded.troubles.push(UnusableFile { file, wrong, kept });
            }
        }
    }
    loaded
}

fn value_in<T: Stored>(file: &Path) -> Result<Option<(T, Meta)>, ReadError> {
    let Some(bytes) = format::read(file)? else { return Ok(None) };
    let decoded = format::decode(&bytes)?;
    Ok(Some((decoded.value()?, decoded.meta)))
}

/// Reads the latest work on a file that had this id and no longer exists, because the learner most likely moved it.
/// Returns `None` if there is no such work.
pub(super) fn of_moved<T: Stored>(home: &Home, key: &Key) -> Option<Loaded<T>> {
    key.file.as_ref()?;
    let all = home.root().join(FILES);
    let folders = disk::names(&all).into_iter().filter(|name| name.starts_with(&key.prefix()));
    let of_same_id = folders.filter_map(|name| {
        let state = all.join(name).join(STATE);
        let meta = format::read_meta(&state).filter(|meta| meta.is_of(key))?;
        let from = meta.file.clone().filter(|file| file.try_exists().is_ok_and(|there| !there))?;
        Some((meta.saved(), state, from))
    });
    let (_, state, from) = of_same_id.max_by_key(|(saved, ..)| *saved)?;
    let (value, _) = value_in(&state).ok()??;
    Some(Loaded { value: Some(value), used: LoadedFrom::Moved { from }, troubles: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_reaches_from_minutes_to_the_beginning() {
        let begin = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        let mut kept: Vec<SystemTime> = Vec::new();
        for minute in 0..24 * 60u64 {
            let now = begin + Duration::from_secs(60 * minute);
            if is_due(now, kept.first().copied()) {
                kept.insert(0, now);
            }
            if let Some(i) = dispensable(&kept) {
                kept.remove(i);
            }
            assert!(kept.len() <= KEPT);
            assert_eq!(kept.last(), Some(&begin));
        }
        let minutes: Vec<u64> = kept.iter().map(|time| kept[0].duration_since(*time).unwrap().as_secs() / 60).collect();
        assert!((2..=20).contains(&minutes[1]), "{minutes:?}");
        assert!((15..=120).contains(&minutes[2]), "{minutes:?}");
        assert!((60..=720).contains(&minutes[3]), "{minutes:?}");
    }

    #[test]
    fn not_all_are_of_one_moment() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        assert!(is_due(now, None));
        assert!(!is_due(now + Duration::from_secs(1), Some(now)));
        assert!(is_due(now + SPACING, Some(now)));
        assert!(is_due(now - Duration::from_secs(1), Some(now)));
    }
}
