//! The running lesson: commands in, snapshots out.
//!
//! | folder | job |
//! |---|---|
//! | [`command`], [`snapshot`] | all that can be asked, all that can be seen |
//! | [`data`] | plain values that snapshots are made of: tokens, the static space, answers, one sentence |
//! | [`vectors`] | the static vectors, and the examples that the attention model learns from |
//! | [`training`] | one training run with its checkpoints, replays of past steps, branches, the weights in use |
//! | [`scene`] | the sentences on the stage, with the learner's interventions on their forward pass |
//! | [`model`] | these together: a lesson's model, its commands, each applied beside its state, and retraining |
//! | [`cache`] | what can be computed again: passes, checkpoints, room for steps |
//! | [`notebook`] | the learner's copy of the cells, and their runs |
//! | [`tour`] | a model measured, and cells written from it |
//! | [`state`] | the [`Kernel`]: applies commands, advances the work, undoes |
//! | [`persist`] | saved work, and the way back to it |
//! | [`check`] | a lesson's claims measured, its cells rehearsed, learners' answers graded |
//! | [`worker`] | the kernel on a thread of its own, at a pace |

pub mod cache;
pub mod check;
pub mod command;
pub mod data;
pub mod model;
pub mod notebook;
pub mod persist;
pub mod scene;
pub mod snapshot;
pub mod state;
pub mod tour;
pub mod training;
pub mod vectors;
pub mod worker;

pub use command::Command;
pub use persist::saved::Saved;
pub use snapshot::Snapshot;
pub use state::Kernel;
pub use worker::Worker;
