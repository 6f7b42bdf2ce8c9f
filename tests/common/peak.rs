//! The allocator of the program, within one that knows the most memory that all threads took together.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use alloc_metrics::MetricAlloc;
use peak_alloc::PeakAlloc;

static PEAK: PeakAlloc = PeakAlloc;

#[global_allocator]
static ALLOCATOR: MetricAlloc<PeakAlloc> = MetricAlloc::new(PeakAlloc);

/// Bytes that all threads hold together.
#[allow(dead_code, reason = "each program uses its part")]
pub fn held() -> usize {
    PEAK.current_usage()
}

/// The memory that some work took.
pub struct Taken {
    /// Bytes over those at rest, at the highest.
    pub bytes: usize,
    pub time: Duration,
}

impl std::fmt::Display for Taken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} MB, {:.1} s", self.bytes >> 20, self.time.as_secs_f64())
    }
}

/// Held by a test that takes much memory between what it measures, so that no other test of the kind counts it.
#[allow(dead_code, reason = "each program uses its part")]
pub fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The result of some work, with the memory and time that it took. Nothing else is measured meanwhile.
pub fn taken<T>(work: impl FnOnce() -> T) -> (T, Taken) {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    PEAK.reset_peak_usage();
    let (rest, begun) = (PEAK.current_usage(), Instant::now());
    let made = work();
    let time = begun.elapsed();
    (made, Taken { bytes: PEAK.peak_usage().saturating_sub(rest), time })
}
