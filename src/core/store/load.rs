//! Reading work when it is opened: the state, or else the newest checkpoint that is whole.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::folder::{Checkpoint, Folder, STATE};
use super::format::{self, Meta, ReadError, Stored};
use super::home::{FILES, Home, Key};
use super::open::Lock;
use super::{disk, words};

/// The value that was found, and the files that could not be used.
#[derive(Clone, Debug)]
pub struct Loaded<T> {
    /// None if nothing is kept, or nothing that can be used.
    pub value: Option<T>,
    /// The value's origin.
    pub used: LoadedFrom,
    /// The files that could not be used, in the order in which they were tried.
    pub troubles: Vec<UnusableFile>,
}

/// The origin of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadedFrom {
    /// There is none.
    Nothing,
    /// The state that was saved last, then.
    State(SystemTime),
    /// The state could not be used, and this could.
    Checkpoint(Checkpoint),
    /// The work on a file of the same id, which is no longer where it was. It is left as it is.
    Moved {
        /// The former place of that file.
        from: PathBuf,
    },
}

/// A file that could not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnusableFile {
    /// Its path when it was read.
    pub file: PathBuf,
    /// Why.
    pub wrong: ReadError,
    /// Its path now; none if it was not moved.
    pub kept: Option<PathBuf>,
}

impl fmt::Display for UnusableFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.file.display(), self.wrong)?;
        self.kept.as_ref().map_or(Ok(()), |kept| write!(f, "; it has been moved to {}", kept.display()))
    }
}

impl<T> Loaded<T> {
    /// Sentences for the learner, the outcome first; none if everything is as it was left.
    pub fn report(&self) -> Vec<String> {
        let outcome = match &self.used {
            LoadedFrom::Checkpoint(Checkpoint { saved, .. }) => {
                let when = words::ago(*saved);
                Some(format!("The last save cannot be used; the checkpoint saved {when} is used instead."))
            }
            LoadedFrom::Moved { from } => {
                Some(format!("This continues the work on {}, which is no longer there.", from.display()))
            }
            LoadedFrom::Nothing if !self.troubles.is_empty() => {
                Some("No save can be used; this starts over.".to_owned())
            }
            LoadedFrom::Nothing | LoadedFrom::State(_) => None,
        };
        outcome.into_iter().chain(self.troubles.iter().map(|trouble| format!("{trouble}."))).collect()
    }

    /// Why nothing may be written: a newer program wrote here, or what is wrong would be overwritten.
    pub(super) fn blocked(&self, folder: &Folder) -> Option<Lock> {
        let in_the_way = |trouble: &&UnusableFile| {
            trouble.kept.is_none()
                && (matches!(trouble.wrong, ReadError::Newer { .. }) || trouble.file == folder.state())
        };
        self.troubles.iter().find(in_the_way).map(|trouble| Lock::ReadOnly { why: trouble.to_string() })
    }
}

/// The fate of files that cannot be used.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Aside {
    /// They stay: another window owns the folder.
    Nothing,
    /// They are moved, except for those of a newer program.
    Unusable,
    /// All are moved, those of a newer program too.
    Newer,
}

/// Reads what is kept of a key, without a lock and without a change.
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

/// The latest work on a file that had this id and is no longer there: the learner moved it, most likely.
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
