//! Checks for authors: the claims of a lesson against its trained model, and a rehearsal of its cells.

pub mod claims;
pub mod places;
pub mod rehearsal;
