//! The learner's work and files: the lesson file, what is kept of the work on it, exports.

pub mod editor;
pub mod export;
pub mod job;
pub mod profile;
pub mod session;
pub mod source;
pub mod waker;
