//! attune
#[cfg(feature = "app")]
pub mod app;
pub mod kernel;
pub mod lesson;
pub mod numerics;
pub mod view_model;
