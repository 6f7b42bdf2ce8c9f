//! The program `attune`: passes the arguments on and returns the exit code.

#[cfg(not(feature = "app"))]
use std::alloc::System as Below;
use std::process::ExitCode;

use alloc_metrics::MetricAlloc;
#[cfg(feature = "app")]
use mimalloc::MiMalloc as Below;

/// The allocator, which counts the bytes that each thread has allocated, so that the memory of code cells can be
/// limited.
#[global_allocator]
static ALLOCATOR: MetricAlloc<Below> = MetricAlloc::new(Below);

fn main() -> ExitCode {
    attune::cli::main()
}
