//! The learner's work and files: the lesson file, saving the work on it, and exports.

pub mod editor;
pub mod export;
pub mod job;
pub mod profile;
pub mod recall;
pub mod session;
pub mod source;
pub mod waker;
