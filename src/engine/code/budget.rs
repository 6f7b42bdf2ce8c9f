//! Limits of a code cell: its time, its memory as counted by the allocator, its work and its outputs.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use alloc_metrics::thread_metrics;
use rhai::Dynamic;

use super::fault::Fault;
use super::value::Output;

/// Largest number of Rhai operations of one run.
pub const OPERATIONS_MAX: u64 = 5_000_000;
/// Largest number of entries of one tensor: a table of 1000 by 1000.
pub const TENSOR_ENTRIES_MAX: usize = 1_000_000;
/// Largest number of entries of all tensors that one run makes.
pub const RUN_ENTRIES_MAX: usize = 50_000_000;
/// Largest number of multiplications of all products of one run.
pub const RUN_PRODUCTS_MAX: u64 = 2_000_000_000;
/// Largest size of the outputs of one run, in bytes.
pub const OUTPUT_BYTES_MAX: usize = 8 << 20;
/// Largest number of outputs of one run.
pub const OUTPUTS_MAX: usize = 200;
/// Largest number of words in a list of words with similarities.
pub const RANKED_MAX: usize = 1000;
/// Longest path of a picture, in bytes.
pub const IMAGE_PATH_BYTES_MAX: usize = 400;
/// Longest name of a line of a plot, in characters.
pub const LINE_NAME_CHARS_MAX: usize = 40;
/// Largest number of lines of one plot.
pub const PLOT_LINES_MAX: usize = 100;
/// Longest time that a cell may run, with all its parts. What follows a run takes a second at most, so a cell is done
/// within 5 s.
pub const TIME_MAX: Duration = Duration::from_secs(4);
/// Longest time for the expressions within one text. It is short because many texts are evaluated after each change.
pub const TEXT_TIME_MAX: Duration = Duration::from_secs(1);
/// Largest memory of one cell, whatever it is used for.
pub const RUN_BYTES_MAX: usize = 320 << 20;
/// Largest memory of all cells at any moment: those that ran and the one that is running.
const CELLS_BYTES_MAX: usize = 1000 << 20;
/// Factor by which a run may exceed its allowance for a moment: an operation at most doubles the memory, and one more
/// operation runs before the run ends.
const OVERSHOOT: usize = 3;
/// Largest memory of the variables and outputs of all cells.
pub const KEPT_BYTES_MAX: usize = 512 << 20;
/// Approximate overhead of the system's allocator for each allocation.
const PIECE_BYTES: isize = 24;
pub const CALL_LEVELS_MAX: usize = 48;
pub const EXPRESSION_DEPTH_MAX: usize = 64;
/// Stack size of a run. Functions and expressions of the greatest depth take 5 MB of it, nested lists 20 MB.
pub const STACK_BYTES: usize = 64 << 20;
/// Largest sizes of a text, a list and a map, including all that they contain. Every variable of every call may have
/// this size.
pub const STRING_BYTES_MAX: usize = 1 << 17;
pub const ARRAY_ENTRIES_MAX: usize = 10_000;
pub const MAP_ENTRIES_MAX: usize = 1000;
/// Largest depth of nested lists that a cell may define.
pub const NESTING_MAX: usize = 32;
/// Largest numbers of variables and functions of one scope.
pub const VARIABLES_MAX: usize = 128;
pub const FUNCTIONS_MAX: usize = 200;
/// Longest text of a cell, in bytes.
pub const SOURCE_BYTES_MAX: usize = 64 << 10;

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
    /// Begins an allowance of the given time.
    pub fn within(time: Duration) -> Self {
        Self { begun: Instant::now(), time, bytes: RUN_BYTES_MAX, is_shared: false }
    }

    /// Reduces the memory so that there is room for the `kept_bytes` of other cells.
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
    /// Reason why the run ends, which code cannot catch.
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

    /// Returns the memory that the run has allocated.
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

    /// Checks all limits.
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

    /// Returns whether the run ends after the given number of Rhai operations. The limits are checked only now and then
    /// while every operation is fast.
    pub fn is_over_after(&self, operations: u64) -> bool {
        /// Number of operations between two checks: a single one may run over a whole tensor.
        const LOOK: u64 = 16;
        /// Memory above which every operation is checked, because a single one may run over all of it.
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
            // Outputs must not be left out silently.
            self.end(Self::shown_too_much());
            return Err(Self::shown_too_much());
        }
        total.outputs.push(output);
        Ok(())
    }

    /// Shows a value as the result of a cell, except `()`.
    pub fn show_value(&self, value: &Dynamic) -> Result<(), Fault> {
        Output::of(value)?.map_or(Ok(()), |output| self.show(output))
    }

    pub fn shown_too_much() -> Fault {
        let message = format!("this cell shows more than {OUTPUTS_MAX} outputs, or {OUTPUT_BYTES_MAX} bytes");
        Fault::new(message).hint("show less")
    }

    pub fn take_shown(&self) -> Vec<Output> {
        std::mem::take(&mut self.0.outputs.lock().unwrap_or_else(PoisonError::into_inner).outputs)
    }
}
