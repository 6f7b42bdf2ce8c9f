//! Snapshots as text for other programs.

pub mod trace;
