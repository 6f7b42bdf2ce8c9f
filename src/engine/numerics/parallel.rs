//! Scoped threads, for work that takes long enough to make up for starting them.

use std::num::NonZero;
use std::sync::OnceLock;
use std::thread;

/// Returns the number of threads that the machine runs at once. The system is asked only once, because the call takes
/// as long as a pass of a tiny model.
pub fn available() -> usize {
    static AVAILABLE: OnceLock<usize> = OnceLock::new();
    *AVAILABLE.get_or_init(|| thread::available_parallelism().map_or(1, NonZero::get))
}

/// Returns the result of `work` for each item, in the order of the items. At most `threads` threads run, including the
/// current one.
pub fn map<T: Sync, U: Send>(items: &[T], threads: usize, work: impl Fn(&T) -> U + Sync) -> Vec<U> {
    let mut outcomes: Vec<Option<U>> = items.iter().map(|_| None).collect();
    let share = items.len().div_ceil(threads.max(1)).max(1);
    each(items.chunks(share).zip(outcomes.chunks_mut(share)), |(items, outcomes)| {
        items.iter().zip(outcomes).for_each(|(item, outcome)| *outcome = Some(work(item)));
    });
    outcomes.into_iter().flatten().collect()
}

/// Runs `work` on each item: the first on the current thread, and each other on a new thread.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_in_the_order_of_the_items_whatever_the_number_of_threads() {
        for count in 0..9_usize {
            let items: Vec<usize> = (0..count).collect();
            let expected: Vec<usize> = items.iter().map(|item| item * item).collect();
            for threads in 0..12 {
                assert_eq!(map(&items, threads, |item| item * item), expected, "{count} items, {threads} threads");
            }
        }
    }
}
