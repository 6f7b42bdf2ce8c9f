//! Checks for authors: the claims of a lesson against its trained model, and a rehearsal of its cells; and for teachers:
//! learners' answers graded.

pub mod claims;
pub mod grading;
pub mod places;
pub mod rehearsal;
