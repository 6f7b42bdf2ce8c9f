//! Opening work, and saving it as its owner.

use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::time::SystemTime;

use super::folder::{Aside, Checkpoint, Folder, Loaded, LoadedFrom, load, of_moved};
use super::format::{self, BYTES_MAX, Encoded, FOOT, Meta, ReadError, Stored};
use super::lock::{self, Gate, Lock, LockState, Owner, Ownership};
use super::{Home, Key, disk};

/// The label of changes that a window had not saved when another one took over.
const UNSAVED: &str = "changes that were not saved when another window took over";
/// The label of work that a window finds in the folder when it can save at last.
const FOUND: &str = "changes from before this window could save";

/// Stored work, and the store that saves it.
pub struct OpenedStore<T> {
    /// The work that was read.
    pub loaded: Loaded<T>,
    /// The store, which saves if [`Store::lock`] is [`Lock::Mine`].
    pub store: Store<T>,
}

/// The reason why a state was not saved. The state saved before is unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotSaved {
    /// This window may not write, and trying again will not help.
    Locked(Lock),
    /// A failure that may be temporary, described in words.
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

/// Opens the work of a key, and makes this window its owner if there is no other. Waits for the disk and, for some
/// seconds, for another window that is saving.
pub fn open<T: Stored>(home: &Home, key: &Key) -> OpenedStore<T> {
    open_as(home, key, false)
}

/// Opens the work like [`open`], but takes ownership from another window, which notices and stops saving, and moves the
/// state of a newer program aside. Called only when the learner asks for it.
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

/// The right to save the work of a key, or the reason why there is none.
///
/// Writes happen only on a call, on the calling thread. [`Saver`](super::Saver) saves in the background, on a thread of
/// its own.
pub struct Store<T> {
    folder: Folder,
    ownership: Option<Ownership>,
    lock: Lock,
    of: PhantomData<fn(&T)>,
}

impl<T: Stored> Store<T> {
    /// Returns who may write, as far as this window knows.
    pub fn lock(&self) -> &Lock {
        &self.lock
    }

    /// Returns the folder of the work.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Replaces the saved state, and returns the time of saving once the new state is on the disk.
    ///
    /// # Errors
    /// If it cannot be written; the previous state is then unchanged.
    pub fn save(&mut self, value: &T) -> Result<SystemTime, NotSaved> {
        if self.ownership.is_none() && !matches!(self.lock, Lock::Unwritable { .. }) {
            return Err(NotSaved::Locked(self.lock.clone()));
        }
        let (state, saved) = encode(&self.folder, value)?;
        let written = self.write(&state);
        if let Err(NotSaved::Locked(_)) = written {
            // This window may no longer write, usually because another one has just taken over. One more checkpoint
            // does the other window's work no harm. If this fails, the returned error still tells the learner that this
            // window does not save.
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

    /// Keeps the last saved state as a checkpoint. The label says, for example, what is about to be done to the work.
    ///
    /// # Errors
    /// If the checkpoint cannot be written.
    pub fn checkpoint_now(&mut self, label: &str) -> Result<Checkpoint, NotSaved> {
        self.renew()?;
        let gate = lock::gate(&self.folder.path)?;
        if let LockState::TakenOver(by) = self.standing(&gate) {
            return Err(self.lose(by));
        }
        keep_last(&self.folder, label, &gate)
    }

    /// Returns the owner if another window has taken over. This window gives up its ownership at the next write.
    pub fn taken_over(&self) -> Option<Owner> {
        match self.ownership.as_ref()?.standing(&self.folder.path) {
            LockState::TakenOver(by) => Some(by),
            LockState::Ours | LockState::Forgotten => None,
        }
    }

    /// Takes ownership again if the folder was removed, or for the first time if it could not be written before.
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
        // This window has not shown what others have written to the folder in the meantime, so that state is kept as a
        // checkpoint.
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

    /// Returns the state of this window's ownership, which does not change while the gate is held.
    fn standing(&self, _gate: &Gate) -> LockState {
        self.ownership.as_ref().map_or(LockState::Forgotten, |ownership| ownership.standing(&self.folder.path))
    }

    fn lose(&mut self, by: Owner) -> NotSaved {
        self.ownership = None;
        self.lock = Lock::TakenOver { by };
        NotSaved::Locked(self.lock.clone())
    }
}

/// Changes the state of a key that all windows share, and returns the new state. The state (or the default, if there is
/// none) is read, changed and written within the gate, so that no other window reads it in between. Such a key has no
/// owner.
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

/// Keeps the last saved state as a labelled checkpoint.
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
