//! The commands of a lesson's model: a file for each kind of command, with the methods of
//! [`LessonModel`](super::LessonModel) that apply it. [`LessonModel::apply`](super::LessonModel::apply) chooses between
//! them.

mod axes;
mod interventions;
mod senses;
mod sentences;
mod training;
mod weights;

pub use self::weights::PERTURBATION_MAX;
