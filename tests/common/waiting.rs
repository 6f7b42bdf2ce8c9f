//! Waiting for another thread or process, which nothing but a look now and then can tell of.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use attune_core::kernel::{Snapshot, Worker};

/// Slow machines may take long.
const PATIENCE: Duration = Duration::from_secs(240);

#[track_caller]
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain until {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// The first snapshot of a worker that a test is after.
#[track_caller]
pub fn wait_for(worker: &Worker, holds: impl Fn(&Snapshot) -> bool) -> Arc<Snapshot> {
    let mut latest = worker.latest();
    wait_until("the worker shows it", || {
        latest = worker.latest();
        holds(&latest)
    });
    latest
}
