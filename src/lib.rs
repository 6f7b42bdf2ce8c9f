//! attune
pub mod numerics;
