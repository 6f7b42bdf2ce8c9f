//! Reading of the parts of a lesson, each in a file of its own; [`common`] has what they share, and [`budget`]
//! estimates their work.

pub mod budget;
pub mod cells;
pub mod claims;
pub mod common;
pub mod corpus;
pub mod layers;
pub mod model;
pub mod panels;
pub mod recordings;
pub mod switches;
pub mod texts;
pub mod towers;
pub mod vectors;
