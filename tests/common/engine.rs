//! Helpers of the engine's tests: those that name nothing above it.

#![allow(dead_code, reason = "each program uses its part")]

pub mod close;
pub mod folder;
pub mod models;
pub mod numerics;
pub mod snapshots;
pub mod top;
