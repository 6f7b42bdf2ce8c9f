//! Saved work: the commands that lead to it, made from a snapshot, and the way back.

mod older;
pub mod resume;
pub mod saved;
