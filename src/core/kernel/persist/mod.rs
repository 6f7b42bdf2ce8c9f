//! Saved work: plain data made from a snapshot, and the way back to it.

pub mod resume;
pub mod saved;
