//! A lesson: RON text becomes checked values, or a list of all its issues with their places.
//!
//! | folder or file | job |
//! |---|---|
//! | [`reading`] | a text becomes a tree of values, and an issue gets its place; independent of what a lesson contains |
//! | [`schema`] | the checked values: the lesson, its [`cells`], its [`panels`], and the [`limits`] of each number |
//! | [`corpus`] | a lesson's words and sentences |
//! | [`links`], [`live_text`], [`controls`] | links that act, expressions and names of controls in its texts |
//! | [`pictures`], [`vector_files`], [`opened`] | files beside a lesson, and lessons that open on a file or a folder |
//! | `neighbourhoods` | the groups of a file of vectors that names none |
//! | `read` | a file for each part of a lesson |
//! | [`recorded`] | a recording that a lesson uses instead of a model |
//! | [`recipe`] | what a learner changes of a lesson to train it again |
//! | [`load`] | reads a lesson, part by part |
//! | [`course`], [`glossary`], [`starter`] | the lessons of a folder, their terms, and lessons to start from |
//! | [`cases`] | a teacher's further cases for the exercises of a lesson |

pub mod cases;
pub mod controls;
pub mod corpus;
pub mod course;
pub mod glossary;
pub mod links;
pub mod live_text;
pub mod load;
mod neighbourhoods;
pub mod opened;
pub mod pictures;
mod read;
pub mod reading;
pub mod recipe;
pub mod recorded;
pub mod schema;
pub mod starter;
pub mod vector_files;

pub use self::load::{parse, read};
pub use self::read::claims::fact_names;
pub use self::read::layers::is_temperature;
pub use self::reading::issue::LessonIssue;
pub use self::reading::places::locate;
pub use self::reading::{issue, places, text};
pub use self::recipe::Recipe;
pub use self::schema::{Lesson, cells, limits, panels};
