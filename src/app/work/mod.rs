//! The learner's work and files: the lesson file, what is kept of the work on it, exports.

pub mod job;
pub mod profile;
pub mod session;
pub mod source;
