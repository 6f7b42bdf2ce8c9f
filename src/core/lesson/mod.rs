//! A lesson: RON text becomes checked values, or every problem of it with its place.
//!
//! In reading order: [`schema`] is the result, with the [`cells`] of the notebook. [`load`] reads it: `tree` reads
//! the text once, `decode` takes values out of the tree, and each `read_*` file reads a part of the lesson, with
//! `check` for what the parts have in common; [`limits`] has the bounds of each number and of the work of them all.
//! [`issue`] is a problem with its place, and finds the place of one that shows itself later.
//!
//! [`corpus`] has a lesson's words and sentences, and [`recipe`] is what a learner changes of a lesson to train it
//! again. Of its texts, [`text`] splits sentences into words, [`live_text`] finds the expressions, [`links`] reads
//! the links that act, [`panels`] has the names of the window, [`pictures`] finds the files, and [`glossary`] has the
//! terms of a folder's lessons. [`course`] lists the lessons of a folder, and [`starter`] has those to start from.

pub mod cells;
mod check;
pub mod corpus;
pub mod course;
mod decode;
pub mod glossary;
pub mod issue;
pub mod limits;
pub mod links;
pub mod live_text;
pub mod load;
pub mod panels;
pub mod pictures;
mod read_claims;
mod read_corpus;
mod read_layers;
mod read_model;
mod read_vectors;
pub mod recipe;
pub mod schema;
pub mod starter;
pub mod text;
mod tree;
pub mod vector_files;

pub use issue::{LessonIssue, locate};
pub use load::{parse, read};
pub use read_layers::is_temperature;
pub use recipe::Recipe;
pub use schema::Lesson;
