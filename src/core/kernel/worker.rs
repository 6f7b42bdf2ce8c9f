//! The kernel on a thread of its own. The window sends commands and reads the latest snapshot, and waits for neither.
//! Training runs at full speed, or slowly enough to be watched.

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

/// The interval between snapshots while training plays; one for each frame is enough.
const PUBLISH_EVERY: Duration = Duration::from_millis(12);
/// Time for which a running cell may continue while the window waits for the kernel.
const GRACE: Duration = Duration::from_millis(150);
/// Least time of training between two snapshots, as a multiple of the time that a snapshot takes.
const TRAINING_PER_SNAPSHOT: u32 = 4;

enum Request {
    Apply(Command),
    Pace(Pace),
    Open(Arc<Lesson>),
    OpenSaved(Arc<Lesson>, Option<Box<Saved>>),
    /// Sends a copy of the kernel, which continues from the present state.
    Copy(Arc<Lesson>, Sender<Kernel>),
    /// Answers as soon as all commands that were sent before have been applied.
    Settle(Sender<()>),
}

/// A handle on the kernel's thread, which ends when the handle is dropped.
pub struct Worker {
    requests: Mutex<Sender<Request>>,
    shared: Arc<Shared>,
    pace: Mutex<Pace>,
    /// Number of requests that were sent.
    sent: AtomicU64,
}

/// Data that the kernel's thread writes and the handle reads.
struct Shared {
    latest: Mutex<Arc<Snapshot>>,
    /// The stop flag of the present kernel.
    stop: Mutex<Arc<AtomicBool>>,
    /// Number of requests that the latest snapshot includes.
    answered: AtomicU64,
}

impl Worker {
    /// Starts a thread on a lesson. The thread calls `wake` after each new snapshot.
    ///
    /// # Panics
    /// If the operating system cannot create a thread.
    pub fn spawn(lesson: Arc<Lesson>, wake: impl Fn() + Send + 'static) -> Worker {
        Self::spawn_on(lesson, None, wake)
    }

    /// Starts a thread on a lesson with saved work, if there is any.
    ///
    /// # Panics
    /// See [`Self::spawn`].
    pub fn spawn_on(lesson: Arc<Lesson>, saved: Option<Saved>, wake: impl Fn() + Send + 'static) -> Worker {
        let kernel = Kernel::open(lesson, saved);
        // The first snapshot contains the notebook already, so that saving at any time loses nothing.
        Self::spawn_with(kernel.snapshot(), move || Some(kernel), wake)
    }

    /// Starts a thread that continues from the present state, on a copy of its lesson; see [`Kernel::copy`]. Its
    /// snapshots have no model until the copy is ready.
    ///
    /// # Panics
    /// See [`Self::spawn`].
    pub fn copy(&self, lesson: Arc<Lesson>, wake: impl Fn() + Send + 'static) -> Worker {
        let (sender, kernel) = channel();
        let first = self.latest().of_copy(lesson.clone());
        self.request(Request::Copy(lesson, sender));
        Self::spawn_with(first, move || kernel.recv().ok(), wake)
    }

    /// Starts the thread. It calls `kernel`, which returns `None` if the thread that should have sent the kernel has
    /// panicked.
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

    /// Queues a command, which is applied before the next piece of training.
    pub fn send(&self, command: Command) {
        self.request(Request::Apply(command));
    }

    /// Sets the pace of training. The pace changes only when steps are done, and not their results.
    pub fn set_pace(&self, pace: Pace) {
        let mut now = self.pace.lock().unwrap_or_else(PoisonError::into_inner);
        if *now != pace {
            *now = pace;
            self.request(Request::Pace(pace));
        }
    }

    /// Ends the running cell and cancels those that wait.
    pub fn interrupt(&self) {
        self.shared.stop.lock().unwrap_or_else(PoisonError::into_inner).store(true, Relaxed);
        self.send(Command::Notebook(NotebookCommand::Interrupt));
    }

    /// Continues with another version of the lesson; the learner's work stays as far as it fits.
    pub fn open(&self, lesson: Arc<Lesson>) {
        self.request(Request::Open(lesson));
    }

    /// Opens a lesson with saved work, if there is any; without a saved model, training starts.
    pub fn open_saved(&self, lesson: Arc<Lesson>, saved: Option<Saved>) {
        self.request(Request::OpenSaved(lesson, saved.map(Box::new)));
    }

    /// Waits until all commands that were sent have been applied, so that [`Self::latest`] includes their effects. Work
    /// that commands start, such as training or the run of a cell, does not begin during the wait. A cell that is
    /// running already gets [`GRACE`] and is then ended. Returns false if the wait exceeds `patience`.
    pub fn settle(&self, patience: Duration) -> bool {
        let (sender, answer) = channel();
        self.request(Request::Settle(sender));
        if answer.recv_timeout(GRACE.min(patience)).is_ok() {
            return true;
        }
        self.interrupt();
        answer.recv_timeout(patience.saturating_sub(GRACE)).is_ok()
    }

    /// Returns whether the latest snapshot includes all requests.
    pub fn is_answered(&self) -> bool {
        self.shared.answered.load(Acquire) == self.sent.load(Relaxed)
    }

    /// Returns the newest snapshot without waiting.
    pub fn latest(&self) -> Arc<Snapshot> {
        self.shared.latest.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn request(&self, request: Request) {
        self.sent.fetch_add(1, Relaxed);
        // The thread ends before its handle only if it panics, which the latest snapshot then reports.
        let _ = self.requests.lock().unwrap_or_else(PoisonError::into_inner).send(request);
    }
}

/// Returns the time since the first call, by which runs of cells are measured.
fn since_start() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// A kernel on its thread, which takes requests from a handle and publishes snapshots for it.
struct KernelThread<'t> {
    kernel: Kernel,
    requests: &'t Receiver<Request>,
    shared: &'t Shared,
    wake: &'t dyn Fn(),
    metronome: Metronome,
    /// Number of requests taken.
    seen: u64,
    /// The first request after a series of commands that were applied together.
    next: Option<Request>,
    /// Senders that are answered after the next snapshot.
    waiting: Vec<Sender<()>>,
    published: Instant,
    /// Time until the next snapshot while the kernel is working.
    pause: Duration,
}

/// The error when the handle has been dropped, upon which the thread ends.
struct HungUp;

impl<'t> KernelThread<'t> {
    /// Creates the thread's state and publishes the first snapshot.
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

    /// Works until the handle is dropped.
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
                // If the send fails, the receiver has stopped waiting.
                let _ = answer.send(());
            }
        }
    }

    /// Answers all requests before the next piece of work, and waits for a request if there is no work. Returns true if
    /// the kernel changed.
    fn take_requests(&mut self) -> Result<bool, HungUp> {
        let mut changed = false;
        while let Some(request) = self.next_request(changed)? {
            self.seen += 1;
            changed |= self.answer(request);
        }
        Ok(changed)
    }

    /// Returns the next request, or `None` if there is work to do before it.
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

    /// Answers a request. Returns false for [`Request::Settle`], which changes nothing and is answered later.
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
                // If the send fails, the requester no longer exists.
                let _ = to.send(self.kernel.copy(lesson));
            }
            Request::Settle(answer) => {
                self.waiting.push(answer);
                return false;
            }
        }
        true
    }

    /// Applies a command together with those that directly follow it in the queue.
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

    /// Replaces the kernel with one for another lesson or for saved work.
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

    /// Does the next piece of work: the steps that are due if training is paced.
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

/// Optimiser steps per second, or `None` for full speed. The pace does not affect the results.
pub type Pace = Option<u32>;

/// Clock that determines when the next training step is due.
pub struct Metronome {
    pace: Pace,
    next: Instant,
}

impl Metronome {
    pub fn new(pace: Pace, now: Instant) -> Self {
        Self { pace, next: now }
    }

    /// Returns the duration of one step, or `None` without a pace.
    fn beat(&self) -> Option<Duration> {
        self.pace.map(|pace| Duration::from_secs(1) / pace.max(1))
    }

    /// Returns the time until the next step is due, or `None` if one is due now or there is no pace.
    pub fn rest(&self, now: Instant) -> Option<Duration> {
        self.beat().map(|_| self.next.saturating_duration_since(now)).filter(|rest| !rest.is_zero())
    }

    /// Returns the number of steps that are due, at most `most`, or `None` without a pace. Further missed steps are not
    /// made up for.
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
        // After a pause, training does not hurry to catch up.
        assert_eq!(slow.due(at(60_000), 8), Some(8));
        assert_eq!(slow.due(at(60_001), 8), Some(1));
        assert_eq!(slow.due(at(60_002), 8), Some(0));
        let mut fast = Metronome::new(None, begin);
        assert_eq!((fast.due(at(0), 8), fast.rest(at(0))), (None, None));
    }
}
