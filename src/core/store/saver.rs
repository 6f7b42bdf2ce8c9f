//! Saving on a thread of its own: soon after a change, not too often, and again after a failure.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime};

use super::folder::{Checkpoint, Folder};
use super::format::Stored;
use super::lock::Lock;
use super::open::{NotSaved, Store, keep_last, update_in};
use super::{Home, Key, lock};

/// The pause without further changes after which a change is written.
pub const QUIET: Duration = Duration::from_millis(500);
/// The longest time from the first unsaved change until it is written. With the time for writing, at most about two
/// seconds of work are ever at risk.
pub const LONGEST: Duration = Duration::from_millis(1_500);
/// The delay before the first retry of a failed write; it doubles with each further failure.
const RETRY_FIRST: Duration = Duration::from_secs(1);
/// The longest delay between retries.
const RETRY_LAST: Duration = Duration::from_secs(30);
/// The interval at which an idle saver checks whether another window has taken over.
const WATCH: Duration = Duration::from_secs(1);
/// The longest time for which the window waits for a disk that does not respond.
const PATIENCE: Duration = Duration::from_secs(10);

/// The state of saving.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// No change since the work was opened.
    Unchanged,
    /// Changes that are not yet written.
    Pending,
    /// No unwritten changes; the last one was written at this time.
    Saved { at: SystemTime },
    /// A write that failed, or one that is expected to fail. Writing is tried again; the previously saved state is
    /// unchanged.
    Failed { why: String },
    /// A window that may not write, or no longer may.
    Locked(Lock),
}

type Make<T> = Box<dyn FnOnce() -> Arc<T> + Send>;

/// The newest state, and the times of the first and the last change that are not yet written.
struct Change<T> {
    make: Make<T>,
    first: Instant,
    last: Instant,
}

impl<T> Change<T> {
    fn due(&self) -> Instant {
        (self.last + QUIET).min(self.first + LONGEST)
    }
}

enum Request {
    Flush(Sender<Status>),
    Checkpoint(String, Sender<Result<Checkpoint, NotSaved>>),
}

/// Messages and status that the window and the thread share.
struct Mailbox<T> {
    change: Option<Change<T>>,
    requests: Vec<Request>,
    closing: bool,
    status: Status,
}

struct Shared<T> {
    mailbox: Mutex<Mailbox<T>>,
    news: Condvar,
}

impl<T> Shared<T> {
    fn mailbox(&self) -> MutexGuard<'_, Mailbox<T>> {
        self.mailbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A handle on the thread that saves. Dropping it writes pending changes.
pub struct Saver<T> {
    shared: Arc<Shared<T>>,
    folder: Folder,
    /// The receiver of a channel whose sender is dropped when the thread ends.
    running: Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

impl<T: Stored> Saver<T> {
    /// Starts a thread that saves to a store. The thread calls `wake` whenever the status has changed.
    pub fn spawn(store: Store<T>, wake: impl Fn() + Send + 'static) -> Saver<T> {
        let status = match store.lock() {
            Lock::Mine => Status::Unchanged,
            Lock::Unwritable { why } => Status::Failed { why: why.clone() },
            other => Status::Locked(other.clone()),
        };
        Self::spawn_on(store.folder().clone(), Target::Owned(store), status, wake)
    }

    /// Starts a thread that merges new states into those of other windows, as [`update`](super::update) does: `merge`
    /// receives the saved state and the new one, and changes the former.
    pub fn merging(
        home: &Home,
        key: &Key,
        mut merge: impl FnMut(&mut T, &T) + Send + 'static,
        wake: impl Fn() + Send + 'static,
    ) -> Saver<T>
    where
        T: Default,
    {
        let folder = Folder::new(home, key);
        let into = folder.clone();
        let write = move |put: &T| update_in(&into, |kept: &mut T| merge(kept, put)).map(|_| SystemTime::now());
        Self::spawn_on(folder.clone(), Target::Merged(folder, Box::new(write)), Status::Unchanged, wake)
    }

    fn spawn_on(folder: Folder, target: Target<T>, status: Status, wake: impl Fn() + Send + 'static) -> Saver<T> {
        let mailbox = Mailbox { change: None, requests: Vec::new(), closing: false, status };
        let shared = Arc::new(Shared { mailbox: Mutex::new(mailbox), news: Condvar::new() });
        let (ended, running) = channel();
        let for_thread = shared.clone();
        let thread = thread::Builder::new().name("saver".to_owned()).spawn(move || {
            let _ended = ended;
            run(&for_thread, target, &wake);
        });
        if let Err(error) = &thread {
            let why = format!("the operating system could not start a thread for saving: {error}");
            shared.mailbox().status = Status::Locked(Lock::ReadOnly { why });
        }
        Saver { shared, folder, running, thread: thread.ok() }
    }

    /// Puts the newest state, which is written soon and replaces all unwritten ones.
    pub fn put(&self, value: Arc<T>) {
        self.put_with(move || value);
    }

    /// Puts the state that `make` returns. The saver's thread calls it, and only if the state is written, because
    /// making a state can take long.
    pub fn put_with(&self, make: impl FnOnce() -> Arc<T> + Send + 'static) {
        let now = Instant::now();
        let mut mailbox = self.shared.mailbox();
        if matches!(mailbox.status, Status::Locked(_)) {
            return;
        }
        let first = mailbox.change.as_ref().map_or(now, |change| change.first);
        let replaced = mailbox.change.replace(Change { make: Box::new(make), first, last: now });
        if !matches!(mailbox.status, Status::Failed { .. }) {
            mailbox.status = Status::Pending;
        }
        drop(mailbox);
        drop(replaced);
        self.shared.news.notify_all();
    }

    /// Returns the current status.
    pub fn status(&self) -> Status {
        self.shared.mailbox().status.clone()
    }

    /// Writes pending changes now, waits for the result, and returns the status.
    pub fn flush(&self) -> Status {
        self.ask(Request::Flush).unwrap_or_else(|why| Status::Failed { why })
    }

    /// Writes pending changes now, keeps the state as a labelled checkpoint, and waits for that. Called before much of
    /// the work is replaced, so that the learner can go back; [`Folder::load`] reads the checkpoint.
    ///
    /// # Errors
    /// If the checkpoint cannot be written.
    pub fn checkpoint(&self, label: &str) -> Result<Checkpoint, NotSaved> {
        let kept = self.ask(|reply| Request::Checkpoint(label.to_owned(), reply));
        kept.unwrap_or_else(|why| Err(NotSaved::Failed(why)))
    }

    /// Returns the folder of the work, with its checkpoints.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    fn ask<A>(&self, request: impl FnOnce(Sender<A>) -> Request) -> Result<A, String> {
        let (reply, answer) = channel();
        self.shared.mailbox().requests.push(request(reply));
        self.shared.news.notify_all();
        let patience = if self.thread.is_some() { PATIENCE } else { Duration::ZERO };
        answer.recv_timeout(patience).map_err(|_| "the disk does not respond".to_owned())
    }
}

impl<T> Drop for Saver<T> {
    fn drop(&mut self) {
        self.shared.mailbox().closing = true;
        self.shared.news.notify_all();
        let ended = self.running.recv_timeout(PATIENCE);
        if let (Err(RecvTimeoutError::Disconnected), Some(thread)) = (ended, self.thread.take()) {
            // A panic of the thread was already reported, and nothing is left to save.
            let _ = thread.join();
        }
    }
}

type Write<T> = Box<dyn FnMut(&T) -> Result<SystemTime, NotSaved> + Send>;

enum Target<T> {
    Owned(Store<T>),
    Merged(Folder, Write<T>),
}

impl<T: Stored> Target<T> {
    fn save(&mut self, value: &T) -> Result<SystemTime, NotSaved> {
        match self {
            Target::Owned(store) => store.save(value),
            Target::Merged(_, write) => write(value),
        }
    }

    fn checkpoint(&mut self, label: &str) -> Result<Checkpoint, NotSaved> {
        match self {
            Target::Owned(store) => store.checkpoint_now(label),
            Target::Merged(folder, _) => keep_last(folder, label, &lock::gate(folder.path())?),
        }
    }

    fn lost(&self) -> Option<Lock> {
        match self {
            Target::Owned(store) => store.taken_over().map(|by| Lock::TakenOver { by }),
            Target::Merged(..) => None,
        }
    }
}

fn run<T: Stored>(shared: &Shared<T>, mut target: Target<T>, wake: &dyn Fn()) {
    let mut retry: Option<Retry> = None;
    let mut said = shared.mailbox().status.clone();
    loop {
        let Task { change, requests, closing } = next(shared, retry.as_ref());
        let mut written = Ok(());
        if let Some(change) = change {
            written = write(shared, &mut target, change);
            retry = written.is_err().then(|| Retry::after(retry));
        }
        if let Some(lock) = target.lost() {
            // No more states are written from here on; the pending one is kept as a checkpoint.
            shared.mailbox().status = Status::Locked(lock.clone());
            let unsaved = shared.mailbox().change.take();
            if let Some(change) = unsaved {
                // The result tells nothing new: it is the lock above, or a failure, after which the next round tries
                // again.
                let _ = write(shared, &mut target, change);
            }
            shared.mailbox().status = Status::Locked(lock);
        }
        let status = shared.mailbox().status.clone();
        for request in requests {
            // The caller may no longer be waiting.
            match request {
                Request::Flush(reply) => drop(reply.send(status.clone())),
                Request::Checkpoint(label, reply) => {
                    drop(reply.send(written.clone().and_then(|()| target.checkpoint(&label))));
                }
            }
        }
        if closing {
            return;
        }
        if status != said {
            wake();
            said = status;
        }
    }
}

/// The time of the next retry, and the delay that ends then. After another failure, the delay is doubled.
struct Retry {
    at: Instant,
    pause: Duration,
}

impl Retry {
    fn after(last: Option<Retry>) -> Retry {
        let pause = last.map_or(RETRY_FIRST, |last| (2 * last.pause).min(RETRY_LAST));
        Retry { at: Instant::now() + pause, pause }
    }
}

/// The next task of the thread.
struct Task<T> {
    change: Option<Change<T>>,
    requests: Vec<Request>,
    closing: bool,
}

/// Waits until there is a task: a change is due, the window sends a request, or it is time to check the ownership.
fn next<T>(shared: &Shared<T>, retry: Option<&Retry>) -> Task<T> {
    let look_around = Instant::now() + WATCH;
    let mut mailbox = shared.mailbox();
    loop {
        let now = Instant::now();
        let due = mailbox.change.as_ref().map(|change| retry.map_or(change.due(), |retry| change.due().max(retry.at)));
        let writes = mailbox.closing || !mailbox.requests.is_empty() || due.is_some_and(|due| due <= now);
        if writes || look_around <= now {
            let change = if writes { mailbox.change.take() } else { None };
            return Task { change, requests: mem::take(&mut mailbox.requests), closing: mailbox.closing };
        }
        let until = due.map_or(look_around, |due| due.min(look_around));
        let woken = shared.news.wait_timeout(mailbox, until - now);
        mailbox = woken.unwrap_or_else(PoisonError::into_inner).0;
    }
}

fn write<T: Stored>(shared: &Shared<T>, target: &mut Target<T>, change: Change<T>) -> Result<(), NotSaved> {
    let Change { make, first, last } = change;
    // A panic while one state is made must not stop the saving of later ones.
    let written = catch_unwind(AssertUnwindSafe(|| {
        let value = make();
        let saved = target.save(&value);
        (value, saved)
    }));
    let mut mailbox = shared.mailbox();
    let (status, outcome) = match written {
        Ok((_, Ok(at))) if mailbox.change.is_none() => (Status::Saved { at }, Ok(())),
        Ok((_, Ok(_))) => (Status::Pending, Ok(())),
        Ok((value, Err(NotSaved::Failed(why)))) => {
            mailbox.change.get_or_insert_with(|| Change { make: Box::new(move || value), first, last });
            (Status::Failed { why: why.clone() }, Err(NotSaved::Failed(why)))
        }
        Ok((_, Err(NotSaved::Locked(lock)))) => {
            mailbox.change = None;
            (Status::Locked(lock.clone()), Err(NotSaved::Locked(lock)))
        }
        Err(_) => {
            let why = "internal error: the state could not be written; please report it".to_owned();
            (Status::Failed { why: why.clone() }, Err(NotSaved::Failed(why)))
        }
    };
    mailbox.status = status;
    outcome
}
