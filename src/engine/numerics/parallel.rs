//! Threads for work that is worth starting them. Nothing here lives longer than the work.

use std::num::NonZero;
use std::sync::OnceLock;
use std::thread;

/// Threads that the machine runs at once: asked for once, for the answer takes as long as the work of a tiny model.
pub fn available() -> usize {
    static AVAILABLE: OnceLock<usize> = OnceLock::new();
    *AVAILABLE.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get))
}

/// Work on each item, the first on this thread and each other on one of its own.
pub fn each<T: Send>(mut items: impl Iterator<Item = T>, work: impl Fn(T) + Sync) {
    let Some(first) = items.next() else { return };
    thread::scope(|scope| {
        let work = &work;
        for item in items {
            scope.spawn(move || work(item));
        }
        work(first);
    });
}
