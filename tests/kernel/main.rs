//! The running lesson: commands lead to snapshots, exactly, within bounds, and nothing is lost.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/counting.rs"]
mod counting;

mod basis;
mod caches;
mod code;
mod commands;
mod interventions;
mod limits;
mod memory;
mod notebook;
mod recordings;
mod refused;
mod retraining;
mod second_sentence;
mod senses;
mod sentence_fields;
mod shares;
mod training_history;
