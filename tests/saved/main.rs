//! The learner's work: kept, found again, and never lost.

#[path = "../common/mod.rs"]
mod common;

mod old_works;
mod states;
mod store;
