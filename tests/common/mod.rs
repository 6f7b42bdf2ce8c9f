//! Helpers of all test programs, each thing once.

#![allow(dead_code, reason = "each program uses its part")]

pub mod chromium;
pub mod close;
pub mod commands;
pub mod folder;
pub mod lessons;
pub mod models;
pub mod numerics;
#[cfg(unix)]
pub mod obstacles;
pub mod python;
pub mod recorded;
pub mod resaved;
pub mod shares;
pub mod snapshots;
pub mod top;
pub mod waiting;
