//! Threads for work that is worth starting them. Nothing here lives longer than the work.

use std::thread;

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
