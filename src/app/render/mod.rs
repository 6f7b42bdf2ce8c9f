//! Pictures and the graphics device: `attune render`, the figure, the adapter and what happens when it is lost.

pub mod alpha;
pub mod blending;
pub mod figure;
pub mod gpu;
pub mod picture;
pub mod recovery;
