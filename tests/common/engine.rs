//! Helpers of the engine's tests: those that name nothing above it.

#![allow(dead_code, reason = "each program uses its part")]

pub mod numerics;
