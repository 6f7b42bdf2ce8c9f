//! The kernel on a thread of its own: the window sends commands and reads the latest snapshot, and waits for neither.
//! A training plays as fast as it goes, or so slowly that it can be watched.

use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::kernel::command::{Command, TrainingCommand};
use crate::kernel::kernel::Kernel;
use crate::kernel::notebook::NotebookCommand;
use crate::kernel::saved_work::Saved;
use crate::kernel::snapshot::Snapshot;
use crate::lesson::schema::Lesson;

/// While training plays, a viewer hears of it this often: once a frame is often enough.
const PUBLISH_EVERY: Duration = Duration::from_millis(12);
/// How long a running cell may go on while somebody waits for the kernel.
const GRACE: Duration = Duration::from_millis(150);
/// Time that training gets between two snapshots, at least, over the cost of one.
const TRAINING_PER_SNAPSHOT: u32 = 4;

enum Request {
    Apply(Command),
    Pace(Pace),
    Open(Arc<Lesson>),
    OpenSaved(Arc<Lesson>, Option<Box<Saved>>),
    /// A kernel that goes on from here is to be sent.
    Copy(Arc<Lesson>, Sender<Kernel>),
    /// To be answered as soon as the commands that were sent before are applied.
    Settle(Sender<()>),
}

/// A handle on the kernel's thread, which ends when the handle is dropped.
pub struct Worker {
    requests: Mutex<Sender<Request>>,
    shared: Arc<Shared>,
    pace: Mutex<Pace>,
    /// Requests that were sent.
    sent: AtomicU64,
}

/// Read by the handle, and written by the kernel's thread.
struct Shared {
    latest: Mutex<Arc<Snapshot>>,
    /// The stop flag of the kernel that runs now.
    stop: Mutex<Arc<AtomicBool>>,
    /// Requests that the latest snapshot has seen.
    answered: AtomicU64,
}

impl Worker {
    /// Starts a thread on the lesson. `wake` is called from it after each new snapshot.
    ///
    /// # Panics
    /// If the operating system gives no thread.
    pub fn spawn(lesson: Arc<Lesson>, wake: impl Fn() + Send + 'static) -> Worker {
        Self::spawn_on(lesson, None, wake)
    }

    /// The same on a lesson as it was left, if it was ever open.
    ///
    /// # Panics
    /// As [`Self::spawn`].
    pub fn spawn_on(lesson: Arc<Lesson>, saved: Option<Saved>, wake: impl Fn() + Send + 'static) -> Worker {
        let kernel = Kernel::open(lesson, saved);
        // The notebook is there at once, so that nothing of it is lost to whoever saves.
        Self::spawn_with(kernel.snapshot(), move || Some(kernel), wake)
    }

    /// Starts a thread that goes on from where this one is, on a copy of its lesson; see [`Kernel::copy`]. Its first
    /// snapshot, until the copy is there, has no model.
    ///
    /// # Panics
    /// As [`Self::spawn`].
    pub fn copy(&self, lesson: Arc<Lesson>, wake: impl Fn() + Send + 'static) -> Worker {
        let (sender, kernel) = channel();
        let first = Snapshot { notebook: self.latest().notebook.clone(), ..Snapshot::empty(lesson.clone()) };
        self.request(Request::Copy(lesson, sender));
        Self::spawn_with(first, move || kernel.recv().ok(), wake)
    }

    /// `kernel` is called on the thread; it has none where that of another thread has ended by a fault.
    fn spawn_with(
        first: Snapshot,
        kernel: impl FnOnce() -> Option<Kernel> + Send + 'static,
        wake: impl Fn() + Send + 'static,
    ) -> Worker {
        let (sender, receiver) = channel();
        let shared = Arc::new(Shared {
            latest: Mutex::new(Arc::new(first)),
            stop: Mutex::default(),
            answered: AtomicU64::new(0),
        });
        let of_thread = shared.clone();
        thread::Builder::new()
            .name("kernel".to_owned())
            .spawn(move || {
                let ran = catch_unwind(AssertUnwindSafe(|| {
                    let kernel = kernel()?.timed(since_start);
                    KernelThread::new(kernel, &receiver, &of_thread, &wake).run();
                    Some(())
                }));
                if !matches!(ran, Ok(Some(()))) {
                    let mut latest = of_thread.latest.lock().unwrap_or_else(PoisonError::into_inner);
                    *latest = Arc::new(latest.after_fault());
                    drop(latest);
                    wake();
                }
            })
            .unwrap_or_else(|error| panic!("the operating system could not start a thread for the model: {error}"));
        Worker { requests: Mutex::new(sender), shared, pace: Mutex::new(None), sent: AtomicU64::new(0) }
    }

    /// Queues a command; it is applied before the next piece of training.
    pub fn send(&self, command: Command) {
        self.request(Request::Apply(command));
    }

    /// From now on training plays at this pace; it changes when a step is done, and nothing else.
    pub fn set_pace(&self, pace: Pace) {
        let mut now = self.pace.lock().unwrap_or_else(PoisonError::into_inner);
        if *now != pace {
            *now = pace;
            self.request(Request::Pace(pace));
        }
    }

    /// Ends the cell that runs, and those that wait.
    pub fn interrupt(&self) {
        self.shared.stop.lock().unwrap_or_else(PoisonError::into_inner).store(true, Relaxed);
        self.send(Command::Notebook(NotebookCommand::Interrupt));
    }

    /// Goes on with another version of the lesson: what the learner did stays, as far as it fits.
    pub fn open(&self, lesson: Arc<Lesson>) {
        self.request(Request::Open(lesson));
    }

    /// Starts over with a lesson as it was left, if it was ever open; without a model of before it trains.
    pub fn open_saved(&self, lesson: Arc<Lesson>, saved: Option<Saved>) {
        self.request(Request::OpenSaved(lesson, saved.map(Box::new)));
    }

    /// Waits until every command that was sent is applied, so that [`Self::latest`] has its effect. What commands set
    /// going, such as training, waits as long as somebody settles: a cell that was asked to run is still to run then. A
    /// cell that runs already is given [`GRACE`] and then ended. Returns false if that took longer than `patience`.
    pub fn settle(&self, patience: Duration) -> bool {
        let (sender, answer) = channel();
        self.request(Request::Settle(sender));
        if answer.recv_timeout(GRACE.min(patience)).is_ok() {
            return true;
        }
        self.interrupt();
        answer.recv_timeout(patience.saturating_sub(GRACE)).is_ok()
    }

    /// The latest snapshot has seen all that was sent.
    pub fn is_answered(&self) -> bool {
        self.shared.answered.load(Acquire) == self.sent.load(Relaxed)
    }

    /// The newest snapshot, at once.
    pub fn latest(&self) -> Arc<Snapshot> {
        self.shared.latest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn request(&self, request: Request) {
        self.sent.fetch_add(1, Relaxed);
        // The thread ends before its handle only by a fault, which the latest snapshot then says.
        let _ = self.requests.lock().unwrap_or_else(PoisonError::into_inner).send(request);
    }
}

/// The clock of cells that run.
fn since_start() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// A kernel on its thread, between the requests of a handle and the snapshots for it.
struct KernelThread<'t> {
    kernel: Kernel,
    requests: &'t Receiver<Request>,
    shared: &'t Shared,
    wake: &'t dyn Fn(),
    metronome: Metronome,
    /// Requests taken.
    seen: u64,
    /// The request after commands that were taken together.
    next: Option<Request>,
    /// To be answered after the next snapshot.
    waiting: Vec<Sender<()>>,
    published: Instant,
    /// Time until the next snapshot of a kernel that works.
    pause: Duration,
}

/// The handle is gone.
struct HungUp;

impl<'t> KernelThread<'t> {
    /// Publishes the first snapshot.
    fn new(kernel: Kernel, requests: &'t Receiver<Request>, shared: &'t Shared, wake: &'t dyn Fn()) -> Self {
        *shared.stop.lock().unwrap_or_else(PoisonError::into_inner) = kernel.stop_flag();
        let now = Instant::now();
        let thread = Self {
            kernel,
            requests,
            shared,
            wake,
            metronome: Metronome::new(None, now),
            seen: 0,
            next: None,
            waiting: Vec::new(),
            published: now,
            pause: PUBLISH_EVERY,
        };
        thread.publish();
        wake();
        thread
    }

    /// Works until the handle is gone.
    fn run(mut self) {
        while let Ok(changed) = self.take_requests() {
            let was_busy = self.kernel.is_busy();
            if was_busy && !changed && self.waiting.is_empty() {
                self.advance();
            }
            let done = was_busy && !self.kernel.is_busy();
            if changed || done || !self.waiting.is_empty() || self.published.elapsed() >= self.pause {
                let begun = Instant::now();
                self.publish();
                self.shared.answered.store(self.seen, Release);
                self.published = Instant::now();
                self.pause = PUBLISH_EVERY.max(TRAINING_PER_SNAPSHOT * (self.published - begun));
                (self.wake)();
            }
            for answer in self.waiting.drain(..) {
                // Whoever waits no longer has hung up.
                let _ = answer.send(());
            }
        }
    }

    /// Does everything that is asked for, before the next piece of work; with no work, waits for a request. True if the
    /// kernel changed.
    fn take_requests(&mut self) -> Result<bool, HungUp> {
        let mut changed = false;
        while let Some(request) = self.next_request(changed)? {
            self.seen += 1;
            changed |= self.answer(request);
        }
        Ok(changed)
    }

    /// `None` where there is something to do before the next one.
    fn next_request(&mut self, changed: bool) -> Result<Option<Request>, HungUp> {
        if let Some(next) = self.next.take() {
            return Ok(Some(next));
        }
        match self.requests.try_recv() {
            Ok(request) => return Ok(Some(request)),
            Err(TryRecvError::Disconnected) => return Err(HungUp),
            Err(TryRecvError::Empty) => {}
        }
        if changed || !self.waiting.is_empty() {
            return Ok(None);
        }
        let rest = if self.kernel.is_training() { self.metronome.rest(Instant::now()) } else { None };
        if let Some(rest) = rest {
            return match self.requests.recv_timeout(rest) {
                Ok(request) => Ok(Some(request)),
                Err(RecvTimeoutError::Timeout) => Ok(None),
                Err(RecvTimeoutError::Disconnected) => Err(HungUp),
            };
        }
        if self.kernel.is_busy() {
            return Ok(None);
        }
        self.requests.recv().map(Some).map_err(|_| HungUp)
    }

    /// Returns false for [`Request::Settle`], which changes nothing and is answered later.
    fn answer(&mut self, request: Request) -> bool {
        match request {
            Request::Apply(command) => self.apply(command),
            Request::Pace(pace) => self.metronome = Metronome::new(pace, Instant::now()),
            Request::Open(lesson) => {
                let saved = Saved::of(&self.kernel.snapshot());
                self.reopen(lesson, Some(saved));
            }
            Request::OpenSaved(lesson, saved) => self.reopen(lesson, saved.map(|saved| *saved)),
            Request::Copy(lesson, to) => {
                // Whoever asked may be gone.
                let _ = to.send(self.kernel.copy(lesson));
            }
            Request::Settle(answer) => {
                self.waiting.push(answer);
                return false;
            }
        }
        true
    }

    /// Applies a command, and those that follow it without another request between.
    fn apply(&mut self, first: Command) {
        let Self { kernel, requests, seen, next, .. } = self;
        let more = iter::from_fn(|| match requests.try_recv() {
            Ok(Request::Apply(command)) => {
                *seen += 1;
                Some(command)
            }
            other => {
                *next = other.ok();
                None
            }
        });
        kernel.apply_all(iter::once(first).chain(more));
    }

    /// Puts a kernel of another lesson, or of saved work, in the place of this one.
    fn reopen(&mut self, lesson: Arc<Lesson>, saved: Option<Saved>) {
        let trains = saved.as_ref().is_none_or(|saved| saved.commands.is_empty());
        let mut kernel = Kernel::open(lesson, saved).timed(since_start).counting_from(&self.kernel);
        if trains {
            kernel.apply(Command::Training(TrainingCommand::Play));
        }
        if self.kernel.wants_tour() {
            kernel.apply(Command::Tour);
        }
        *self.shared.stop.lock().unwrap_or_else(PoisonError::into_inner) = kernel.stop_flag();
        self.kernel = kernel;
    }

    /// Does the next piece of work: of a training that is paced, the steps that are due.
    fn advance(&mut self) {
        const STEPS_AT_ONCE_MAX: usize = 8;
        let due = if self.kernel.is_training() { self.metronome.due(Instant::now(), STEPS_AT_ONCE_MAX) } else { None };
        match due {
            Some(steps) => self.kernel.train(steps),
            None => self.kernel.advance(),
        }
    }

    fn publish(&self) {
        let snapshot = Arc::new(self.kernel.snapshot());
        *self.shared.latest.lock().unwrap_or_else(PoisonError::into_inner) = snapshot;
    }
}

/// Optimiser steps a second; `None`: as fast as it goes. What comes of the steps does not depend on it.
pub type Pace = Option<u32>;

/// When the next step is due.
pub struct Metronome {
    pace: Pace,
    next: Instant,
}

impl Metronome {
    pub fn new(pace: Pace, now: Instant) -> Self {
        Self { pace, next: now }
    }

    /// One step lasts so long.
    fn beat(&self) -> Option<Duration> {
        self.pace.map(|pace| Duration::from_secs(1) / pace.max(1))
    }

    /// How long nothing is due.
    pub fn rest(&self, now: Instant) -> Option<Duration> {
        self.beat().map(|_| self.next.saturating_duration_since(now)).filter(|rest| !rest.is_zero())
    }

    /// The steps that are due, at most so many; those that were missed are not made up for. `None`: as many as
    /// there is time for.
    pub fn due(&mut self, now: Instant, most: usize) -> Option<usize> {
        let beat = self.beat()?;
        if now < self.next {
            return Some(0);
        }
        let late = (now - self.next).as_nanos() / beat.as_nanos().max(1);
        let steps = (late as usize).saturating_add(1).min(most.max(1));
        self.next = (self.next + beat * steps as u32).max(now);
        Some(steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_come_at_their_pace_and_missed_ones_are_forgotten() {
        let begin = Instant::now();
        let at = |ms: u64| begin + Duration::from_millis(ms);
        let mut slow = Metronome::new(Some(10), begin);
        assert_eq!((slow.due(at(0), 8), slow.due(at(50), 8)), (Some(1), Some(0)));
        assert_eq!(slow.rest(at(60)), Some(Duration::from_millis(40)));
        assert_eq!((slow.due(at(100), 8), slow.due(at(430), 8)), (Some(1), Some(3)));
        // A training that stood still does not run to catch up.
        assert_eq!(slow.due(at(60_000), 8), Some(8));
        assert_eq!(slow.due(at(60_001), 8), Some(1));
        assert_eq!(slow.due(at(60_002), 8), Some(0));
        let mut fast = Metronome::new(None, begin);
        assert_eq!((fast.due(at(0), 8), fast.rest(at(0))), (None, None));
    }
}
