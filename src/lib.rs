//! attune
#[cfg(feature = "app")]
pub mod app;
pub mod cli;
pub mod export;
pub mod kernel;
pub mod lesson;
pub mod numerics;
pub mod view_model;
