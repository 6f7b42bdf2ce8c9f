//! A lesson: RON text becomes checked values, or every problem of it with its place.
//!
//! In reading order: [`schema`] is the result, with the [`cells`] of the notebook; [`load`] reads it, part by part,
//! from the `read_*` files; those use `record` and `decode` to take values out of the text and `check` for what the
//! parts have in common, and `budget` bounds the work of them all; [`issue`] is a problem, and [`locate`](mod@locate)
//! finds the place of one that shows itself later. [`vocabulary`] and [`template`] say what a corpus can contain, and
//! [`corpus`] draws its sentences. [`recipe`] is what a learner changes of a lesson to train it again. [`pictures`]
//! finds those that its texts name, [`course`] lists the lessons of a folder, and [`starter`] is one to start from. [`panels`] names the panels that a lesson may open. [`glossary`] has the terms of
//! a folder's lessons, [`spellings`] finds them in a text, and [`terms`] checks that a lesson keeps to them.
//! [`live_text`] finds the expressions in a text, [`links`] reads the links that act, and [`check_texts`] checks
//! both; [`controls`] has the names that texts give to controls of the window.

pub mod cells;
pub mod course;
pub mod glossary;
pub mod schema;

pub mod load;
pub mod locate;
pub mod of_model;
mod read_axes;
mod read_cells;
mod read_claims;
mod read_embedding;
mod read_language;
mod read_layers;
mod read_model;
mod read_objective;
mod read_pretrained;
mod read_sentences;
mod read_topics;
mod read_training;
mod read_weights;

mod brackets;
mod budget;
mod check;
pub mod check_texts;
pub mod controls;
mod decode;
pub mod issue;
pub mod limits;
pub mod offers;
pub mod panels;
pub mod pieces;
pub mod recipe;
mod record;
mod source;
pub mod spellings;
mod syntax;
pub mod terms;

pub mod corpus;
pub mod links;
pub mod live_text;
pub mod pictures;
pub mod starter;
pub mod template;
pub mod text;
pub mod vocabulary;
pub mod watch;

pub use issue::LessonIssue;
pub use load::{parse, read};
pub use locate::locate;
pub use read_layers::is_temperature;
pub use recipe::Recipe;
pub use schema::Lesson;
