//! A lesson: RON text becomes checked values, or every problem of it with its place.
//!
//! In reading order: [`schema`] is the result, with the [`cells`] of the notebook. [`load`] reads it: `tree` reads the
//! text once, `decode` takes values out of the tree, and each `read_*` file reads a part of the lesson, with `check`
//! for what the parts have in common and [`budget`] for the work of them all; [`limits`] has the numbers. [`issue`] is a
//! problem with its place, and [`locate`](mod@locate) finds the place of one that shows itself later.
//!
//! [`corpus`] has a lesson's words and sentences, and [`recipe`] is what a learner changes of a lesson to train it
//! again. Of its texts, [`text`] splits sentences into words, [`live_text`] finds the expressions, [`links`] reads the
//! links that act, [`panels`] has the names of the window, [`pictures`] finds the files, and [`glossary`] has the terms
//! of a folder's lessons. [`course`] lists the lessons of a folder, [`starter`] is one to start from, and
//! [`lesson_from_model`] makes one of a pretrained model.

pub mod budget;
pub mod cells;
mod check;
pub mod corpus;
pub mod course;
mod decode;
pub mod glossary;
pub mod issue;
pub mod lesson_from_model;
pub mod limits;
pub mod links;
pub mod live_text;
pub mod load;
pub mod locate;
pub mod panels;
pub mod pictures;
mod read_cells;
mod read_claims;
mod read_corpus;
mod read_layers;
mod read_model;
mod read_vectors;
pub mod recipe;
pub mod schema;
pub mod starter;
pub mod switches;
pub mod text;
mod tree;

pub use issue::LessonIssue;
pub use load::{parse, read};
pub use locate::locate;
pub use read_layers::is_temperature;
pub use recipe::Recipe;
pub use schema::Lesson;
