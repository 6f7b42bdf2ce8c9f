//! Ownership of a folder: the one window that may write.
//!
//! - `gate` is locked briefly while the owner changes or a file is renamed, so that these never overlap.
//! - `owner.json` says who may write. A window that takes over writes its own token there; the former owner compares
//!   tokens inside the gate before each write, and stops.
//! - `alive-TOKEN` is locked for as long as that owner runs. The operating system unlocks it however the owner ends, so
//!   a killed program leaves no stale lock.
//!
//! On a file system without locks, tokens still keep a former owner from writing; the last program to open the folder
//! then owns it.

use std::fmt;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use attune_engine::files;
use serde::{Deserialize, Serialize};

use super::disk;
use super::format::read_up_to;

const GATE: &str = "gate";
const OWNER: &str = "owner.json";
const ALIVE: &str = "alive-";
/// The longest wait for a gate. A gate is held for milliseconds; if it takes longer, its holder is suspended or the
/// disk hangs.
const GATE_WAIT: Duration = Duration::from_secs(5);
const GATE_PAUSE: Duration = Duration::from_millis(5);
/// The largest size of `owner.json` that is read; the file is far smaller.
const OWNER_BYTES_MAX: u64 = 4_096;

/// A program that has a folder open for writing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Id of the program's process.
    pub pid: u32,
    /// Name of the computer on which the program runs.
    pub host: String,
    /// Time at which the program became the owner, in seconds since 1970.
    since: u64,
    /// A token that no other owner has.
    token: String,
}

impl Owner {
    fn this() -> Owner {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (pid, count) = (process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        Owner {
            pid,
            host: gethostname::gethostname().to_string_lossy().into_owned(),
            since: since.as_secs(),
            token: format!("{:x}-{pid:x}-{count:x}", since.as_nanos()),
        }
    }

    fn of(folder: &Path) -> Option<Owner> {
        let owner: Owner = serde_json::from_slice(&read_up_to(&folder.join(OWNER), OWNER_BYTES_MAX).ok()?).ok()?;
        // The token becomes part of a path.
        owner.token.chars().all(|c| c.is_ascii_alphanumeric() || c == '-').then_some(owner)
    }

    fn alive(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{ALIVE}{}", self.token))
    }

    fn is_alive(&self, folder: &Path) -> bool {
        let alive = self.alive(folder);
        if disk::own_file(&alive).is_err() {
            return false;
        }
        match files::open(&alive) {
            Ok((file, _)) => matches!(file.try_lock(), Err(TryLockError::WouldBlock)),
            // A file that this user may not open belongs to another owner.
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let opened = UNIX_EPOCH.checked_add(Duration::from_secs(self.since)).unwrap_or(UNIX_EPOCH);
        write!(f, "process {} on {}, opened {}", self.pid, self.host, disk::ago(opened))
    }
}

/// Proof of exclusive access to the folder; dropping it lets the next program in.
pub(super) struct Gate {
    _file: File,
}

/// Waits for the gate of a folder. The folder is made if it does not exist.
pub(super) fn gate(folder: &Path) -> io::Result<Gate> {
    disk::make_folder(folder)?;
    let gate = folder.join(GATE);
    disk::own_file(&gate)?;
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(gate)?;
    let begun = Instant::now();
    while let Err(TryLockError::WouldBlock) = file.try_lock() {
        if begun.elapsed() > GATE_WAIT {
            return Err(io::Error::other("another window has been saving here for too long"));
        }
        thread::sleep(GATE_PAUSE);
    }
    Ok(Gate { _file: file })
}

/// The right to write, which is given up on drop.
pub(super) struct Ownership {
    owner: Owner,
    alive: PathBuf,
    _file: File,
}

impl Drop for Ownership {
    fn drop(&mut self) {
        // The file is unlocked in a moment, which means the same as its absence, so a failure to remove it changes
        // nothing.
        let _ = fs::remove_file(&self.alive);
    }
}

/// The state of an ownership.
pub(super) enum LockState {
    Ours,
    /// The folder was removed or emptied.
    Forgotten,
    TakenOver(Owner),
}

impl Ownership {
    /// Makes this program the owner, or returns the present owner if that one is still running. With `over_its_head`,
    /// this program becomes the owner in any case.
    pub(super) fn claim(folder: &Path, _gate: &Gate, over_its_head: bool) -> io::Result<Result<Ownership, Owner>> {
        if let Some(other) = Owner::of(folder).filter(|other| !over_its_head && other.is_alive(folder)) {
            return Ok(Err(other));
        }
        disk::own_file(&folder.join(OWNER))?;
        // No other program writes here any more: the former owner will find another token.
        disk::remove_unfinished(folder);
        for name in disk::names(folder).iter().filter(|name| name.starts_with(ALIVE)) {
            let _ = fs::remove_file(folder.join(name));
        }
        let owner = Owner::this();
        let alive = owner.alive(folder);
        let file = File::create(&alive)?;
        // No other program knows the name, so this fails only where there are no locks.
        let _ = file.try_lock();
        let ownership = Ownership { owner, alive, _file: file };
        let json = serde_json::to_vec(&ownership.owner)?;
        disk::write(folder, &[&json])?.keep_as(&folder.join(OWNER))?;
        Ok(Ok(ownership))
    }

    /// Returns the state of this ownership. It is certain while the gate is held; otherwise it may just have changed.
    pub(super) fn standing(&self, folder: &Path) -> LockState {
        match Owner::of(folder) {
            Some(owner) if owner.token == self.owner.token => LockState::Ours,
            Some(owner) => LockState::TakenOver(owner),
            None => LockState::Forgotten,
        }
    }
}

/// The window that may write, if there is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lock {
    /// This window.
    Mine,
    /// Another window, which was open first; this one may [`take_over`](super::take_over).
    Held { by: Owner },
    /// Another window, which took over from this one.
    TakenOver { by: Owner },
    /// No window, because the existing files must not be overwritten.
    ReadOnly { why: String },
    /// This window, as soon as the folder can be written; each save tries again.
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
