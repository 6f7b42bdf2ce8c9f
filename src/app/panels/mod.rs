//! The panels: what is seen comes in as a model, what is wanted goes out as commands.
//!
//! No panel names a Bevy type, computes a tensor, or advances a clock: the egui pass may run twice.

pub mod answers;
pub mod arithmetic;
pub mod attention;
pub mod axes;
pub mod compare;
pub mod fold;
pub mod heads;
pub mod neighbours;
pub mod notebook;
pub mod retrain;
pub mod training;
pub mod variables;
pub mod weights;
pub mod what_if;
