//! The learner's work: kept, found again, and never lost.

#[path = "../common/mod.rs"]
mod common;

mod states;
mod store;
