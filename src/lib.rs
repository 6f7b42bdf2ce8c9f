//! attune
pub mod kernel;
pub mod lesson;
pub mod numerics;
