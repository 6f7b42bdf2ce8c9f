//! Pictures and the graphics device: `attune render`, the figure, the adapter and what happens when it is lost.

pub mod blending;
pub mod device;
pub mod picture;
