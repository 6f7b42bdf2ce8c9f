//! The running lesson: commands in, snapshots out.
//!
//! | folder | job |
//! |---|---|
//! | [`command`], [`snapshot`] | all that can be asked, all that can be seen |
//! | [`static_embedding`] | the static vectors, and the examples that the attention model learns from |
//! | [`training`] | one training run with its checkpoints, replays of past steps, branches, the weights in use |
//! | [`sentence_pass`] | the sentences on the stage, with the learner's interventions on their forward pass |
//! | [`model`] | these together: a lesson's model, its commands, each applied beside its state, and retraining |
//! | [`cache`] | what can be computed again: passes, checkpoints, room for steps |
//! | [`notebook`] | the learner's copy of the cells, and their runs |
//! | [`tour`] | a model measured, and cells written from it |
//! | [`kernel`] | the [`Kernel`]: applies commands, advances the work, takes snapshots |
//! | [`phase`] | what there is of a lesson while it is opened, brought back or trained again |
//! | [`history`] | undo and redo, and which changes are one |
//! | [`saved_work`] | the commands that lead to what is saved, and the way back to it |
//! | [`check`] | a lesson's claims measured, its cells rehearsed, learners' answers graded |
//! | [`worker`] | the kernel on a thread of its own, at a pace |

pub mod cache;
pub mod check;
pub mod command;
pub mod history;
#[expect(clippy::module_inception, reason = "the kernel is looked for under its own name")]
pub mod kernel;
pub mod model;
pub mod notebook;
pub mod phase;
pub mod saved_work;
pub mod sentence_pass;
pub mod snapshot;
pub mod static_embedding;
pub mod tour;
pub mod training;
pub mod worker;

pub use self::command::Command;
pub use self::kernel::Kernel;
pub use self::saved_work::Saved;
pub use self::snapshot::Snapshot;
pub use self::worker::Worker;
