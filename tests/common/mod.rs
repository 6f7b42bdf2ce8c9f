//! Helpers of all test programs, each thing once.

#![allow(dead_code, reason = "each program uses its part")]

pub mod chromium;
#[cfg(feature = "app")]
pub mod dressed;
pub mod folder;
pub mod lessons;
pub mod models;
pub mod numerics;
pub mod program;
pub mod resaved;
pub mod shares;
pub mod snapshots;
