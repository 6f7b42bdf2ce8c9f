//! Recordings: one text of a recording as a trace, and a model's pass as a recording.

pub mod file;
pub mod trace;
