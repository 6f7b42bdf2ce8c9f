//! Work on a thread beside the window: its progress and its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;

use attune_core::kernel::snapshot::Progress;
use bevy::platform::cell::SyncCell;

/// Work that is being done. Its thread ends by itself, even if its result is no longer wanted.
pub struct Job<T> {
    /// `None` once the end has been told.
    news: Option<SyncCell<Receiver<Result<T, String>>>>,
    done: Arc<AtomicUsize>,
    of: usize,
}

/// The parts that are done, counted by the work itself.
pub struct Count<'a> {
    /// The window shows with its next frame what is stored there.
    pub done: &'a AtomicUsize,
    wake: &'a dyn Fn(),
}

impl Count<'_> {
    /// Counts one more; the window shows it at once.
    pub fn one(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
        (self.wake)();
    }
}

impl<T: Send + 'static> Job<T> {
    /// Begins work of the given number of parts. `waker` is called, from another thread, whenever [`Self::poll`] or
    /// [`Self::progress`] has news.
    pub fn run(
        of: usize,
        waker: impl Fn() + Send + 'static,
        work: impl FnOnce(&Count<'_>) -> Result<T, String> + Send + 'static,
    ) -> Self {
        let (sender, news) = channel();
        let done = Arc::new(AtomicUsize::new(0));
        let job = Self { news: Some(SyncCell::new(news)), done: done.clone(), of };
        thread::spawn(move || {
            // Last of all, the window learns that there is an end, even if it is a panic.
            let waker = AtEnd(waker);
            let sender = sender;
            let result = work(&Count { done: &done, wake: &waker.0 });
            // The window may be gone.
            let _ = sender.send(result);
        });
        job
    }

    pub fn progress(&self) -> Progress {
        Progress { done: self.done.load(Ordering::Relaxed), of: self.of }
    }

    /// Once it has ended, and once only: its result, or why there is none.
    pub fn poll(&mut self) -> Option<Result<T, String>> {
        let result = match self.news.as_mut()?.get().try_recv() {
            Ok(result) => result,
            Err(TryRecvError::Empty) => return None,
            Err(TryRecvError::Disconnected) => Err("it stopped because of a fault in attune itself".to_owned()),
        };
        self.news = None;
        Some(result)
    }
}

struct AtEnd<F: Fn()>(F);

impl<F: Fn()> Drop for AtEnd<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::time::Duration;

    #[test]
    fn the_end_is_told_once_and_a_panic_is_an_end() {
        let (woken, news) = channel();
        let mut job = Job::run(
            2,
            move || woken.send(()).expect("the test waits"),
            |count| {
                count.one();
                Ok(7)
            },
        );
        while news.recv_timeout(Duration::from_secs(60)) != Err(RecvTimeoutError::Disconnected) {}
        assert_eq!(job.progress(), Progress { done: 1, of: 2 });
        assert_eq!((job.poll(), job.poll()), (Some(Ok(7)), None));

        let (woken, news) = channel();
        let mut job: Job<()> = Job::run(0, move || woken.send(()).expect("the test waits"), |_| panic!("on purpose"));
        while news.recv_timeout(Duration::from_secs(60)) != Err(RecvTimeoutError::Disconnected) {}
        let end = job.poll().expect("an end");
        assert!(end.expect_err("no result").contains("fault in attune"));
    }
}
