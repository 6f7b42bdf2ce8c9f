//! Arguments in, exit code out.

use std::alloc::System;
use std::process::ExitCode;

use alloc_metrics::MetricAlloc;

/// Code cells are bounded by what this counts.
#[global_allocator]
static ALLOCATOR: MetricAlloc<System> = MetricAlloc::new(System);

fn main() -> ExitCode {
    attune::cli::main()
}
