//! The mathematics: gradients against differences, values against other programs, fast paths against the reference.

#[path = "../common/engine.rs"]
mod common;

mod beams;
mod curriculum;
mod edges;
mod generation;
mod gradients;
mod oracle;
mod packed;
mod properties;
mod threads;
mod tolerances;
mod word2vec;
