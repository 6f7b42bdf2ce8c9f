//! Arguments in, exit code out.

#[cfg(not(feature = "app"))]
use std::alloc::System as Below;
use std::process::ExitCode;

use alloc_metrics::MetricAlloc;
#[cfg(feature = "app")]
use mimalloc::MiMalloc as Below;

/// Code cells are bounded by what this counts.
#[global_allocator]
static ALLOCATOR: MetricAlloc<Below> = MetricAlloc::new(Below);

fn main() -> ExitCode {
    attune::cli::main()
}
