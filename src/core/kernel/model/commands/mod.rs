//! Commands of a lesson's model, applied: a file for each kind of command, with the methods of
//! [`LessonModel`](super::LessonModel) that do what it asks. [`LessonModel::apply`](super::LessonModel::apply) chooses among them.

mod axes;
mod interventions;
mod senses;
mod sentences;
mod training;
mod weights;

pub use self::weights::PERTURBATION_MAX;
