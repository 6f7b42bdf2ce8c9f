//! attune
pub mod lesson;
pub mod numerics;
