//! Work that is saved and opened again, as a file would do it.

use std::sync::Arc;

use attune_core::kernel::{Kernel, Saved};
use attune_core::lesson::Lesson;

/// Work as it is read again from its JSON.
pub fn reread(saved: &Saved) -> Saved {
    let json = serde_json::to_string(saved).expect("plain data");
    serde_json::from_str(&json).unwrap_or_else(|why| panic!("{why}: {json}"))
}

/// The work of a kernel, through JSON.
pub fn saved(kernel: &Kernel) -> Saved {
    reread(&Saved::of(&kernel.snapshot()))
}

pub fn open(lesson: Arc<Lesson>, saved: Saved) -> Kernel {
    let mut kernel = Kernel::open(lesson, Some(saved));
    kernel.settle();
    kernel
}
