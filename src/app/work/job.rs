//! Work on a thread beside the window: its progress and its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread;

use attune_core::kernel::snapshot::Progress;
use bevy::platform::cell::SyncCell;

/// A job in progress. Its thread ends by itself, even if its result is no longer needed.
pub struct Job<T> {
    /// The receiver of the result; `None` once the result has been returned.
    news: Option<SyncCell<Receiver<Result<T, String>>>>,
    done: Arc<AtomicUsize>,
    of: usize,
}

/// A counter of completed parts, which the job itself increases.
pub struct Count<'a> {
    /// The number that the window shows in its next frame.
    pub done: &'a AtomicUsize,
    wake: &'a dyn Fn(),
}

impl Count<'_> {
    /// Counts one more part; the window shows it at once.
    pub fn one(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
        (self.wake)();
    }
}

impl<T: Send + 'static> Job<T> {
    /// Starts a job with `of` parts. `waker` is called from another thread whenever [`Self::poll`] or
    /// [`Self::progress`] has news; an error of `work` is the result of the job.
    pub fn run(
        of: usize,
        waker: impl Fn() + Send + 'static,
        work: impl FnOnce(&Count<'_>) -> Result<T, String> + Send + 'static,
    ) -> Self {
        let (sender, news) = channel();
        let done = Arc::new(AtomicUsize::new(0));
        let job = Self { news: Some(SyncCell::new(news)), done: done.clone(), of };
        thread::spawn(move || {
            // Dropped last, so that the window learns of the end even after a panic.
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

    /// Returns the result, or the reason for its absence, once after the job has ended.
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
