//! Limits of a code cell, and a count of its outputs.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::fault::Fault;
use super::value::Output;

/// Operations of the language that one run may take.
pub const OPERATIONS_MAX: u64 = 5_000_000;
/// Entries of one tensor: a table of 1000 by 1000.
pub const TENSOR_ENTRIES_MAX: usize = 1_000_000;
/// Entries of all tensors that one run makes.
pub const RUN_ENTRIES_MAX: usize = 50_000_000;
/// Multiplications of all the products of one run.
pub const RUN_PRODUCTS_MAX: u64 = 2_000_000_000;
/// Bytes of the outputs of one run.
pub const OUTPUT_BYTES_MAX: usize = 8 << 20;
/// Outputs of one run.
pub const OUTPUTS_MAX: usize = 200;
/// Words with their similarities, of one list.
pub const RANKED_MAX: usize = 1000;
/// Bytes of the path of a picture.
pub const IMAGE_PATH_BYTES_MAX: usize = 400;
/// Lines of one plot.
pub const PLOT_LINES_MAX: usize = 100;
/// How long one run may take.
pub const TIME_MAX: Duration = Duration::from_secs(5);
/// How long the expressions within one text may take: many texts are evaluated after each change.
pub const TEXT_TIME_MAX: Duration = Duration::from_secs(1);
pub const CALL_LEVELS_MAX: usize = 48;
pub const EXPRESSION_DEPTH_MAX: usize = 64;
/// The stack of a run: functions and expressions as deep as they may be take 5 MB of it, lists within lists 20.
pub const STACK_BYTES: usize = 64 << 20;
/// Sizes of a text, a list and a map, with all that they contain. Every variable of every call may hold one.
pub const STRING_BYTES_MAX: usize = 1 << 17;
pub const ARRAY_ENTRIES_MAX: usize = 10_000;
pub const MAP_ENTRIES_MAX: usize = 1000;
/// Levels of nested lists that a cell may define.
pub const NESTING_MAX: usize = 32;
/// Variables and functions of one scope.
pub const VARIABLES_MAX: usize = 128;
pub const FUNCTIONS_MAX: usize = 200;
/// Bytes of a cell's text.
pub const SOURCE_BYTES_MAX: usize = 64 << 10;

/// Shared by the functions of one run.
#[derive(Clone, Debug, Default)]
pub struct Budget(Arc<Spent>);

#[derive(Debug, Default)]
struct Spent {
    entries: AtomicUsize,
    products: AtomicU64,
    draws: AtomicUsize,
    has_shown_too_much: AtomicBool,
    shown: Mutex<OutputCount>,
    stop: Arc<AtomicBool>,
}

#[derive(Debug, Default)]
struct OutputCount {
    bytes: usize,
    outputs: Vec<Output>,
}

impl Budget {
    /// `stop` ends the run from outside.
    pub fn new(stop: Arc<AtomicBool>) -> Self {
        Self(Arc::new(Spent { stop, ..Spent::default() }))
    }

    pub fn is_stopped(&self) -> bool {
        self.0.stop.load(Relaxed)
    }

    /// Charges for a tensor of so many entries, before it is made.
    pub fn pay(&self, entries: usize) -> Result<(), Fault> {
        if entries > TENSOR_ENTRIES_MAX {
            let message = format!("a tensor of {entries} entries is too large");
            return Err(Fault::new(message).hint(format!("at most {TENSOR_ENTRIES_MAX} are allowed")));
        }
        if self.0.entries.fetch_add(entries, Relaxed) + entries > RUN_ENTRIES_MAX {
            let message = format!("the tensors of this cell have more than {RUN_ENTRIES_MAX} entries in all");
            return Err(Fault::new(message).hint("make fewer or smaller ones"));
        }
        Ok(())
    }

    /// Charges for a product of so many multiplications, before it is computed.
    pub fn work(&self, multiplications: u64) -> Result<(), Fault> {
        if self.0.products.fetch_add(multiplications, Relaxed).saturating_add(multiplications) > RUN_PRODUCTS_MAX {
            let message = format!("the products of this cell take more than {RUN_PRODUCTS_MAX} multiplications");
            return Err(Fault::new(message).hint("use fewer or smaller ones"));
        }
        Ok(())
    }

    /// Numbers the calls that draw, so that two of them differ.
    pub fn next_draw(&self) -> usize {
        self.0.draws.fetch_add(1, Relaxed)
    }

    pub fn show(&self, output: Output) -> Result<(), Fault> {
        let mut shown = self.0.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.bytes += output.size();
        if shown.bytes > OUTPUT_BYTES_MAX || shown.outputs.len() == OUTPUTS_MAX {
            self.0.has_shown_too_much.store(true, Relaxed);
            return Err(Self::shown_too_much());
        }
        shown.outputs.push(output);
        Ok(())
    }

    /// Whether the cell has shown more than it may. That ends the run: outputs left out in silence would be missed.
    pub fn has_shown_too_much(&self) -> bool {
        self.0.has_shown_too_much.load(Relaxed)
    }

    pub fn shown_too_much() -> Fault {
        let message = format!("this cell shows more than {OUTPUTS_MAX} things, or {OUTPUT_BYTES_MAX} bytes");
        Fault::new(message).hint("show less")
    }

    pub fn take_shown(&self) -> Vec<Output> {
        std::mem::take(&mut self.0.shown.lock().unwrap_or_else(PoisonError::into_inner).outputs)
    }
}
