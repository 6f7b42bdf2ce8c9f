//! The kernel on a thread of its own: the window sends commands and reads the latest snapshot, and waits for neither. A training
//! plays as fast as it goes, or so slowly that it can be watched.

use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::kernel::command::{Command, TrainingCommand};
use crate::kernel::notebook::NotebookCommand;
use crate::kernel::running::Kernel;
use crate::kernel::saved_work::Saved;
use crate::kernel::snapshot::Snapshot;
use crate::kernel::training::stop::Stopped;
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
    /// To be answered as soon as all that was asked for before is done.
    Settle(Sender<()>),
}

/// A handle on the kernel's thread, which ends when the handle is dropped.
pub struct Worker {
    requests: Mutex<Sender<Request>>,
    /// The stop flag of the kernel that runs now.
    stop: Arc<Mutex<Arc<AtomicBool>>>,
    latest: Arc<Mutex<Arc<Snapshot>>>,
    pace: Mutex<Pace>,
    /// Requests that were sent, and those that the latest snapshot has seen.
    sent: AtomicU64,
    answered: Arc<AtomicU64>,
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
        let latest = Arc::new(Mutex::new(Arc::new(first)));
        let (sender, receiver) = channel();
        let shared = latest.clone();
        let stop: Arc<Mutex<Arc<AtomicBool>>> = Arc::default();
        let shared_stop = stop.clone();
        let answered = Arc::new(AtomicU64::new(0));
        let shared_answered = answered.clone();
        thread::Builder::new()
            .name("kernel".to_owned())
            .spawn(move || {
                let ran = catch_unwind(AssertUnwindSafe(|| {
                    let kernel = kernel()?.timed(since_start);
                    *shared_stop.lock().unwrap_or_else(PoisonError::into_inner) = kernel.stop_flag();
                    publish(&kernel, &shared);
                    wake();
                    run(kernel, &receiver, &shared, (&shared_stop, &shared_answered), &wake);
                    Some(())
                }));
                if !matches!(ran, Ok(Some(()))) {
                    say_stopped(&shared);
                    wake();
                }
            })
            .unwrap_or_else(|error| panic!("no thread for the kernel: {error}"));
        Worker { requests: Mutex::new(sender), stop, latest, pace: Mutex::new(None), sent: AtomicU64::new(0), answered }
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
        self.stop.lock().unwrap_or_else(PoisonError::into_inner).store(true, Relaxed);
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

    /// Waits until all that was asked for is done, so that [`Self::latest`] has it; what runs is given
    /// [`GRACE`] and then ended. False if it took longer than `patience`.
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
        self.answered.load(Acquire) == self.sent.load(Relaxed)
    }

    /// The newest snapshot, at once.
    pub fn latest(&self) -> Arc<Snapshot> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner).clone()
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

fn run(
    mut kernel: Kernel,
    requests: &Receiver<Request>,
    latest: &Mutex<Arc<Snapshot>>,
    (stop, answered): (&Mutex<Arc<AtomicBool>>, &AtomicU64),
    wake: &dyn Fn(),
) {
    let mut seen = 0;
    let mut published = Instant::now();
    let mut pause = PUBLISH_EVERY;
    let mut waiting: Vec<Sender<()>> = Vec::new();
    let mut metronome = Metronome::new(None, published);
    // Behind commands that were taken together.
    let mut next = None;
    loop {
        let mut changed = false;
        // Everything that waits, before the next piece of work; with no work, wait for a request.
        loop {
            let request = match next.take().map_or_else(|| requests.try_recv(), Ok) {
                Ok(request) => request,
                Err(TryRecvError::Disconnected) => return,
                Err(TryRecvError::Empty) if changed || !waiting.is_empty() => break,
                Err(TryRecvError::Empty) if kernel.is_training() && metronome.rest(Instant::now()).is_some() => {
                    let rest = metronome.rest(Instant::now()).unwrap_or_default();
                    match requests.recv_timeout(rest) {
                        Ok(request) => request,
                        Err(RecvTimeoutError::Timeout) => break,
                        Err(RecvTimeoutError::Disconnected) => return,
                    }
                }
                Err(TryRecvError::Empty) if kernel.is_busy() => break,
                Err(TryRecvError::Empty) => match requests.recv() {
                    Ok(request) => request,
                    Err(_) => return,
                },
            };
            seen += 1;
            match request {
                Request::Apply(command) => {
                    let more = iter::from_fn(|| match requests.try_recv() {
                        Ok(Request::Apply(command)) => {
                            seen += 1;
                            Some(command)
                        }
                        other => {
                            next = other.ok();
                            None
                        }
                    });
                    kernel.apply_all(iter::once(command).chain(more));
                }
                Request::Pace(pace) => metronome = Metronome::new(pace, Instant::now()),
                Request::Open(lesson) => {
                    let saved = Saved::of(&kernel.snapshot());
                    kernel = reopened(&kernel, lesson, Some(saved), stop);
                }
                Request::OpenSaved(lesson, saved) => {
                    kernel = reopened(&kernel, lesson, saved.map(|saved| *saved), stop);
                }
                Request::Copy(lesson, to) => {
                    // Whoever asked may be gone.
                    let _ = to.send(kernel.copy(lesson));
                }
                Request::Settle(answer) => {
                    waiting.push(answer);
                    continue;
                }
            }
            changed = true;
        }
        let was_busy = kernel.is_busy();
        if was_busy && !changed && waiting.is_empty() {
            advance(&mut kernel, &mut metronome);
        }
        let done = was_busy && !kernel.is_busy();
        if changed || done || !waiting.is_empty() || published.elapsed() >= pause {
            let begun = Instant::now();
            publish(&kernel, latest);
            answered.store(seen, Release);
            published = Instant::now();
            pause = PUBLISH_EVERY.max(TRAINING_PER_SNAPSHOT * (published - begun));
            wake();
        }
        for answer in waiting.drain(..) {
            // Whoever waits no longer has hung up.
            let _ = answer.send(());
        }
    }
}

fn publish(kernel: &Kernel, latest: &Mutex<Arc<Snapshot>>) {
    let snapshot = Arc::new(kernel.snapshot());
    *latest.lock().unwrap_or_else(PoisonError::into_inner) = snapshot;
}

/// The next piece of work: of a training that is paced, the steps that are due.
fn advance(kernel: &mut Kernel, metronome: &mut Metronome) {
    const STEPS_AT_ONCE_MAX: usize = 8;
    match kernel.is_training().then(|| metronome.due(Instant::now(), STEPS_AT_ONCE_MAX)).flatten() {
        Some(steps) => kernel.train(steps),
        None => kernel.advance(),
    }
}

/// A kernel that takes the place of the one before.
fn reopened(before: &Kernel, lesson: Arc<Lesson>, saved: Option<Saved>, stop: &Mutex<Arc<AtomicBool>>) -> Kernel {
    let trains = saved.as_ref().is_none_or(|saved| saved.commands.is_empty());
    let mut kernel = Kernel::open(lesson, saved).timed(since_start).counting_from(before);
    if trains {
        kernel.apply(Command::Training(TrainingCommand::Play));
    }
    if before.wants_tour() {
        kernel.apply(Command::Tour);
    }
    *stop.lock().unwrap_or_else(PoisonError::into_inner) = kernel.stop_flag();
    kernel
}

/// The last good snapshot, standing still, with words on what happened.
fn say_stopped(latest: &Mutex<Arc<Snapshot>>) {
    let mut latest = latest.lock().unwrap_or_else(PoisonError::into_inner);
    let mut last = Snapshot::clone(&latest);
    last.revision += 1;
    last.work_revision += 1;
    last.notice =
        Some("training stopped by a fault of attune itself; open the lesson again, and please report it".into());
    last.retraining = None;
    last.touring = None;
    if let Some(model) = &mut last.model {
        model.training.playing = false;
        model.training.stopped = Some(Stopped::Paused);
    }
    *latest = Arc::new(last);
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
    use crate::kernel::snapshot::{Progress, RetrainingSnapshot};

    #[test]
    fn nothing_is_under_way_after_a_fault() {
        let lesson = crate::lesson::parse("small.ron", include_str!("../../../tests/fixtures/small.ron"));
        let mut snapshot = Kernel::embedded(Arc::new(lesson.expect("no issues"))).snapshot();
        let progress = Progress { done: 1, of: 3 };
        snapshot.model.as_mut().expect("a model").training.playing = true;
        snapshot.retraining = Some(RetrainingSnapshot { recipe: Arc::default(), embedding: progress, steps: progress });
        let latest = Mutex::new(Arc::new(snapshot));
        say_stopped(&latest);
        let last = latest.into_inner().expect("no thread panicked with it");
        assert_eq!(last.retraining, None);
        assert!(!last.model.as_ref().expect("a model").training.playing);
        assert!(last.notice.as_ref().is_some_and(|words| words.contains("fault of attune itself")));
    }

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
