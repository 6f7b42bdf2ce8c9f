//! Opening work, and saving it as its owner.

use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::time::SystemTime;

use super::folder::{Aside, Checkpoint, Folder, Loaded, LoadedFrom, load, of_moved};
use super::format::{self, BYTES_MAX, Encoded, FOOT, Meta, ReadError, Stored};
use super::lock::{self, Gate, LockState, Owner, Ownership};
use super::{Home, Key, disk};

/// The label of work that a window had not saved when another one took over.
const UNSAVED: &str = "changes that were not saved when another window took over";
/// The label of work that a window finds when it can save at last.
const FOUND: &str = "changes from before this window could save";

/// Work that was opened.
pub struct OpenedStore<T> {
    /// The work that was found.
    pub loaded: Loaded<T>,
    /// Saves it, if [`Store::lock`] is [`Lock::Mine`].
    pub store: Store<T>,
}

/// Who may write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lock {
    /// This window.
    Mine,
    /// Another one, which was there first; this one may [`take_over`].
    Held { by: Owner },
    /// Another one, which took over.
    TakenOver { by: Owner },
    /// Owned by no window; the existing files must not be overwritten.
    ReadOnly { why: String },
    /// This window, as soon as the folder can be written; it is tried with every save.
    Unwritable { why: String },
}

impl fmt::Display for Lock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lock::Mine => write!(f, "changes are saved"),
            Lock::Held { by } => write!(f, "open in another window ({by}), so changes here are not saved"),
            Lock::TakenOver { by } => write!(f, "another window ({by}) has taken over, so changes here are not saved"),
            Lock::ReadOnly { why } => write!(f, "changes are not saved: {why}"),
            Lock::Unwritable { why } => write!(f, "changes cannot be saved yet: {why}"),
        }
    }
}

/// Why something was not saved. What was saved before is untouched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotSaved {
    /// This window may not write, and trying again does not help.
    Locked(Lock),
    /// Something failed that may succeed later; in words.
    Failed(String),
}

impl fmt::Display for NotSaved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotSaved::Locked(lock) => lock.fmt(f),
            NotSaved::Failed(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for NotSaved {}

impl From<io::Error> for NotSaved {
    fn from(error: io::Error) -> Self {
        NotSaved::Failed(disk::of(&error))
    }
}

/// Opens the work on a key, and makes this window its owner if there is no other. It waits for the disk
/// and, for some seconds, for another window that is just saving.
pub fn open<T: Stored>(home: &Home, key: &Key) -> OpenedStore<T> {
    open_as(home, key, false)
}

/// Opens as [`open`], but takes over from another window, which notices and stops saving, and from the state
/// of a newer program, which is moved aside. For when the learner asks for it.
pub fn take_over<T: Stored>(home: &Home, key: &Key) -> OpenedStore<T> {
    open_as(home, key, true)
}

fn open_as<T: Stored>(home: &Home, key: &Key, by_choice: bool) -> OpenedStore<T> {
    let folder = Folder::new(home, key);
    let claimed = lock::gate(&folder.path).and_then(|gate| Ownership::claim(&folder.path, &gate, by_choice));
    let (mut ownership, mut lock) = match claimed {
        Ok(Ok(ownership)) => (Some(ownership), Lock::Mine),
        Ok(Err(by)) => (None, Lock::Held { by }),
        Err(error) => (
            None,
            Lock::Unwritable { why: format!("{} cannot be written: {}", folder.path.display(), disk::of(&error)) },
        ),
    };
    let aside = match (&ownership, by_choice) {
        (None, _) => Aside::Nothing,
        (Some(_), false) => Aside::Unusable,
        (Some(_), true) => Aside::Newer,
    };
    let mut loaded = load(&folder, aside);
    if let Some(blocked) = loaded.blocked(&folder).filter(|_| ownership.is_some()) {
        ownership = None;
        lock = blocked;
    }
    if loaded.value.is_none() && loaded.troubles.is_empty() {
        loaded = of_moved(home, key).unwrap_or(loaded);
    }
    OpenedStore { loaded, store: Store { folder, ownership, lock, of: PhantomData } }
}

/// The right to save the work on a key, or why there is none.
///
/// Writes only when told to, on the calling thread. [`Saver`](super::Saver) does so in time, on a thread of its own.
pub struct Store<T> {
    folder: Folder,
    ownership: Option<Ownership>,
    lock: Lock,
    of: PhantomData<fn(&T)>,
}

impl<T: Stored> Store<T> {
    /// Who may write, as far as this window has noticed.
    pub fn lock(&self) -> &Lock {
        &self.lock
    }

    /// The folder of the work.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Writes a state in place of the last one; returns when it is on the disk.
    ///
    /// # Errors
    /// If it is not there. The last one then is.
    pub fn save(&mut self, value: &T) -> Result<SystemTime, NotSaved> {
        if self.ownership.is_none() && !matches!(self.lock, Lock::Unwritable { .. }) {
            return Err(NotSaved::Locked(self.lock.clone()));
        }
        let (state, saved) = encode(&self.folder, value)?;
        let written = self.write(&state);
        if let Err(NotSaved::Locked(_)) = written {
            // Somebody has just taken over, and a checkpoint more does them no harm. If it fails, the
            // learner is told all the same that this window does not save.
            let _ = self.keep_unsaved(state.json);
        }
        written.map(|()| saved)
    }

    fn write(&mut self, state: &Encoded) -> Result<(), NotSaved> {
        self.renew()?;
        let unfinished = disk::write(&self.folder.path, &[state.head.as_bytes(), &state.json, FOOT])?;
        let gate = lock::gate(&self.folder.path)?;
        match self.standing(&gate) {
            LockState::Ours => Ok(self.folder.commit(unfinished, &gate)?),
            LockState::Forgotten => Err(io::Error::from(io::ErrorKind::NotFound).into()),
            LockState::TakenOver(by) => Err(self.lose(by)),
        }
    }

    fn keep_unsaved(&self, json: Vec<u8>) -> io::Result<()> {
        let meta = Meta::now(&self.folder.key).labelled(UNSAVED);
        let state = format::with_header(T::VERSION, &meta, json)?;
        self.folder.keep_labelled(&state, &lock::gate(&self.folder.path)?).map(drop)
    }

    /// Keeps the last saved state under a label, such as what is about to be done to it.
    ///
    /// # Errors
    /// If it is not kept.
    pub fn checkpoint_now(&mut self, label: &str) -> Result<Checkpoint, NotSaved> {
        self.renew()?;
        let gate = lock::gate(&self.folder.path)?;
        if let LockState::TakenOver(by) = self.standing(&gate) {
            return Err(self.lose(by));
        }
        keep_last(&self.folder, label, &gate)
    }

    /// Whether another window has taken over, of which the next write will take notice.
    pub fn taken_over(&self) -> Option<Owner> {
        match self.ownership.as_ref()?.standing(&self.folder.path) {
            LockState::TakenOver(by) => Some(by),
            LockState::Ours | LockState::Forgotten => None,
        }
    }

    /// Owns the folder again if it was removed, or at last if it could not be written.
    fn renew(&mut self) -> Result<(), NotSaved> {
        match (&self.ownership, &self.lock) {
            (Some(ownership), _) if !matches!(ownership.standing(&self.folder.path), LockState::Forgotten) => {
                return Ok(());
            }
            (Some(_), _) | (None, Lock::Unwritable { .. }) => {}
            (None, lock) => return Err(NotSaved::Locked(lock.clone())),
        }
        let gate = lock::gate(&self.folder.path)?;
        let ownership = match Ownership::claim(&self.folder.path, &gate, false)? {
            Ok(ownership) => ownership,
            Err(by) => return Err(self.lose(by)),
        };
        // What has come to lie there meanwhile was not seen by the learner of this window.
        let there = load::<T>(&self.folder, Aside::Unusable);
        if let Some(blocked) = there.blocked(&self.folder) {
            self.lock = blocked.clone();
            self.ownership = None;
            return Err(NotSaved::Locked(blocked));
        }
        if let LoadedFrom::State(_) = there.used {
            keep_last(&self.folder, FOUND, &gate)?;
        }
        self.ownership = Some(ownership);
        self.lock = Lock::Mine;
        Ok(())
    }

    /// Whether this window may write; true for as long as the gate is held.
    fn standing(&self, _gate: &Gate) -> LockState {
        self.ownership.as_ref().map_or(LockState::Forgotten, |ownership| ownership.standing(&self.folder.path))
    }

    fn lose(&mut self, by: Owner) -> NotSaved {
        self.ownership = None;
        self.lock = Lock::TakenOver { by };
        NotSaved::Locked(self.lock.clone())
    }
}

/// Changes the state of a key that all windows share: reads it, or begins
/// with the default, and writes the change before another window can read. Such a key has no owner.
///
/// # Errors
/// If the change is not written.
pub fn update<T: Stored + Default>(home: &Home, key: &Key, change: impl FnOnce(&mut T)) -> Result<T, NotSaved> {
    update_in(&Folder::new(home, key), change)
}

pub(super) fn update_in<T: Stored + Default>(folder: &Folder, change: impl FnOnce(&mut T)) -> Result<T, NotSaved> {
    let gate = lock::gate(&folder.path)?;
    disk::remove_unfinished(&folder.path);
    let loaded = load::<T>(folder, Aside::Unusable);
    if let Some(blocked) = loaded.blocked(folder) {
        return Err(NotSaved::Locked(blocked));
    }
    let mut value = loaded.value.unwrap_or_default();
    change(&mut value);
    let (state, _) = encode(folder, &value)?;
    let unfinished = disk::write(&folder.path, &[state.head.as_bytes(), &state.json, FOOT])?;
    folder.commit(unfinished, &gate)?;
    Ok(value)
}

fn encode<T: Stored>(folder: &Folder, value: &T) -> Result<(Encoded, SystemTime), NotSaved> {
    let meta = Meta::now(&folder.key);
    let state = format::encode(value, &meta)?;
    let bytes = (state.head.len() + state.json.len() + FOOT.len()) as u64;
    if bytes > BYTES_MAX {
        return Err(NotSaved::Failed(format!("the state has {bytes} bytes; the limit is {BYTES_MAX}")));
    }
    Ok((state, meta.saved()))
}

/// Keeps the last saved state under a label.
pub(super) fn keep_last(folder: &Folder, label: &str, gate: &Gate) -> Result<Checkpoint, NotSaved> {
    let failed = |wrong: ReadError| NotSaved::Failed(format!("the last state {wrong}"));
    let bytes = format::read(&folder.state()).map_err(failed)?;
    let bytes = bytes.ok_or_else(|| NotSaved::Failed("nothing is saved yet".to_owned()))?;
    let last = format::decode(&bytes).map_err(failed)?;
    let meta = last.meta.labelled(label);
    let state = format::with_header(last.version, &meta, last.json.trim_end().into()).map_err(io::Error::from)?;
    let file = folder.keep_labelled(&state, gate)?;
    Ok(Checkpoint { file, saved: meta.saved(), label: meta.label })
}
