//! Limits of a code cell: its time, its memory as counted by the allocator, its work and its outputs.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use alloc_metrics::thread_metrics;
use rhai::Dynamic;

use super::fault::Fault;
pub use super::limits::*;
use super::value::Output;

/// Largest memory at any moment of the cells that ran and of the one that is running.
const CELLS_BYTES_MAX: usize = 1000 << 20;
/// Factor by which a run may exceed its allowance for a moment: an operation at most doubles the memory, and one more
/// operation runs before the run ends.
const OVERSHOOT: usize = 3;
/// Approximate overhead of the system's allocator for each allocation.
const PIECE_BYTES: isize = 24;

/// Time and memory for a cell with all its parts. An exercise runs its answer, its check and its cases on one
/// allowance.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    begun: Instant,
    time: Duration,
    bytes: usize,
    /// Whether other cells keep so much memory that less than [`RUN_BYTES_MAX`] is left.
    is_shared: bool,
}

impl Default for Allowance {
    fn default() -> Self {
        Self::within(TIME_MAX)
    }
}

impl Allowance {
    /// Begins an allowance of the given time and of [`RUN_BYTES_MAX`] bytes.
    pub fn within(time: Duration) -> Self {
        Self { begun: Instant::now(), time, bytes: RUN_BYTES_MAX, is_shared: false }
    }

    /// Reduces the memory so that the cell and the `kept_bytes` of other cells stay within the limits of all cells.
    #[must_use]
    pub fn beside(self, kept_bytes: usize) -> Self {
        let left =
            KEPT_BYTES_MAX.saturating_sub(kept_bytes).min(CELLS_BYTES_MAX.saturating_sub(kept_bytes) / OVERSHOOT);
        Self { bytes: self.bytes.min(left), is_shared: left < RUN_BYTES_MAX, ..self }
    }

    /// Subtracts the bytes that an earlier part of the cell keeps.
    #[must_use]
    pub fn less(self, bytes: usize) -> Self {
        Self { bytes: self.bytes.saturating_sub(bytes), ..self }
    }

    /// Returns the time since the allowance began.
    pub fn spent(&self) -> Duration {
        self.begun.elapsed()
    }

    pub fn is_late(&self) -> bool {
        self.spent() > self.time
    }

    /// Returns the fault of a cell that takes too long.
    pub fn late(&self) -> Fault {
        let time = match self.time.as_secs() {
            0 => format!("{} ms", self.time.as_millis()),
            seconds => format!("{seconds} s"),
        };
        Fault::new(format!("this cell takes longer than {time}")).hint("does a loop never end?")
    }

    /// Returns the fault of a cell that takes too much memory.
    fn too_much(&self) -> Fault {
        if self.is_shared {
            return Self::kept_too_much();
        }
        let message = format!("this cell takes more than {} MB of memory", RUN_BYTES_MAX >> 20);
        Fault::new(message).hint("does something grow in a loop? Make fewer or smaller values")
    }

    pub fn kept_too_much() -> Fault {
        Fault::new(format!("the cells would keep more than {} MB", KEPT_BYTES_MAX >> 20))
            .hint("keep less, or clear the outputs of other cells")
    }
}

/// Returns the bytes that this thread has allocated less those that it has freed; negative if it freed more. Always 0
/// in a program whose allocator is not [`alloc_metrics::MetricAlloc`].
pub fn held() -> isize {
    let metrics = thread_metrics();
    metrics.allocated_bytes + PIECE_BYTES * metrics.allocations
}

/// The budget of one run, shared by its functions.
#[derive(Clone, Debug)]
pub struct Budget(Arc<Spent>);

#[derive(Debug)]
struct Spent {
    allowance: Allowance,
    /// Memory that the thread had allocated before the run.
    held_before: isize,
    entries: AtomicUsize,
    products: AtomicU64,
    draws: AtomicUsize,
    /// Reason why the run ends; code cannot catch it like an error.
    end: OnceLock<Fault>,
    outputs: Mutex<OutputCount>,
    stop: Arc<AtomicBool>,
}

#[derive(Debug, Default)]
struct OutputCount {
    bytes: usize,
    outputs: Vec<Output>,
}

impl Budget {
    /// Makes the budget of a run on this thread. `stop` ends the run from outside.
    pub fn new(allowance: Allowance, stop: Arc<AtomicBool>) -> Self {
        Self(Arc::new(Spent {
            allowance,
            held_before: held(),
            entries: AtomicUsize::default(),
            products: AtomicU64::default(),
            draws: AtomicUsize::default(),
            end: OnceLock::default(),
            outputs: Mutex::default(),
            stop,
        }))
    }

    /// Returns the bytes that the run has allocated and not freed; 0 if it has freed more than it allocated.
    pub fn held(&self) -> usize {
        usize::try_from(held() - self.0.held_before).unwrap_or_default()
    }

    /// Ends the run at its next operation.
    pub fn end(&self, why: Fault) {
        // The first reason is kept.
        let _ = self.0.end.set(why);
    }

    /// Returns the reason why the run has to end, if there is one.
    pub fn ended(&self) -> Option<&Fault> {
        self.0.end.get()
    }

    /// Ends the run if it exceeds its memory or its time, or was interrupted.
    ///
    /// # Errors
    /// The reason why the run has to end.
    pub fn check(&self) -> Result<(), Fault> {
        let allowance = &self.0.allowance;
        if self.held() > allowance.bytes {
            self.end(allowance.too_much());
        } else if allowance.is_late() {
            self.end(allowance.late());
        } else if self.0.stop.load(Relaxed) {
            self.end(Fault::new("interrupted"));
        }
        self.ended().map_or(Ok(()), |why| Err(why.clone()))
    }

    /// Returns whether the run ends after the given number of Rhai operations. While the run holds little memory, so
    /// that operations are fast, the limits are checked only now and then.
    pub fn is_over_after(&self, operations: u64) -> bool {
        /// Number of operations between two checks. It is small because a single operation may go through a whole
        /// tensor.
        const LOOK: u64 = 16;
        /// Memory in bytes above which the limits are checked at every operation, because one may go through all of it.
        const LITTLE: usize = 1 << 20;
        let ends = self.ended().is_some();
        if !ends && (operations.is_multiple_of(LOOK) || self.held() > LITTLE) {
            // The run ends one operation later: when a list is being converted to a text, Rhai would otherwise write
            // all of it instead of failing.
            let _ = self.check();
        }
        ends
    }

    /// Charges for a tensor of the given number of entries, before it is made.
    ///
    /// # Errors
    /// If the tensor is too large or too little of the budget is left.
    pub fn pay(&self, entries: usize) -> Result<(), Fault> {
        if entries > TENSOR_ENTRIES_MAX {
            let message = format!("a tensor of {entries} entries is too large");
            return Err(Fault::new(message).hint(format!("at most {TENSOR_ENTRIES_MAX} are allowed")));
        }
        if self.0.entries.fetch_add(entries, Relaxed) + entries > RUN_ENTRIES_MAX {
            let message = format!("the tensors of this cell have more than {RUN_ENTRIES_MAX} entries in all");
            return Err(Fault::new(message).hint("make fewer or smaller ones"));
        }
        if self.held() + entries * size_of::<f64>() > self.0.allowance.bytes {
            self.end(self.0.allowance.too_much());
            return Err(self.0.allowance.too_much());
        }
        Ok(())
    }

    /// Charges for a product of the given number of multiplications, before it is computed.
    ///
    /// # Errors
    /// If too few multiplications are left.
    pub fn work(&self, multiplications: u64) -> Result<(), Fault> {
        if self.0.products.fetch_add(multiplications, Relaxed).saturating_add(multiplications) > RUN_PRODUCTS_MAX {
            let message = format!("the products of this cell take more than {RUN_PRODUCTS_MAX} multiplications");
            return Err(Fault::new(message).hint("use fewer or smaller ones"));
        }
        Ok(())
    }

    /// Returns a new number for each call that draws random numbers, so that two calls differ.
    pub fn next_draw(&self) -> usize {
        self.0.draws.fetch_add(1, Relaxed)
    }

    pub fn show(&self, output: Output) -> Result<(), Fault> {
        let mut total = self.0.outputs.lock().unwrap_or_else(PoisonError::into_inner);
        total.bytes += output.size();
        if total.bytes > OUTPUT_BYTES_MAX || total.outputs.len() == OUTPUTS_MAX {
            // A missing output must not go unnoticed, so the run ends.
            self.end(Output::too_much());
            return Err(Output::too_much());
        }
        total.outputs.push(output);
        Ok(())
    }

    /// Adds a value to the outputs of the cell, unless it is `()`.
    ///
    /// # Errors
    /// If the value cannot be shown, or the outputs become too large or too many.
    pub fn show_value(&self, value: &Dynamic) -> Result<(), Fault> {
        Output::of(value)?.map_or(Ok(()), |output| self.show(output))
    }

    pub fn take_shown(&self) -> Vec<Output> {
        std::mem::take(&mut self.0.outputs.lock().unwrap_or_else(PoisonError::into_inner).outputs)
    }
}
