//! An allocator that counts, for each thread by itself, within the one by which code cells are bounded.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use alloc_metrics::MetricAlloc;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    /// Negative where a thread gives back what another took.
    static BYTES: Cell<isize> = const { Cell::new(0) };
}

#[allow(unsafe_code)] // A counting allocator can only be written so; it passes every call on unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        BYTES.with(|bytes| bytes.set(bytes.get() + layout.size() as isize));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        BYTES.with(|bytes| bytes.set(bytes.get() - layout.size() as isize));
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: MetricAlloc<Counting> = MetricAlloc::new(Counting);

/// Allocations of some work.
pub fn allocations(work: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.with(Cell::get);
    work();
    ALLOCATIONS.with(Cell::get) - before
}

/// The result of some work, with the bytes that it keeps.
pub fn bytes_of<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = BYTES.with(Cell::get);
    let made = work();
    let kept = BYTES.with(Cell::get) - before;
    (made, usize::try_from(kept).expect("nothing is given back that was there before"))
}
