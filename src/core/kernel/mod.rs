//! The running lesson: commands go in, and snapshots come out.
//!
//! | folder or file | job |
//! |---|---|
//! | [`command`], [`snapshot`] | all that can be asked, all that can be seen |
//! | [`kernel`] | the [`Kernel`]: applies commands, advances the work, takes snapshots |
//! | [`phase`] | what there is of a lesson while it is opened, brought back or trained again |
//! | [`history`] | undo and redo, and which changes are one |
//! | [`worker`] | the kernel on a thread of its own, at a pace |
//! | [`evidence`] | questions to a model: maps of patches, the split of a score, which word mattered, heads over texts |
//! | [`check`] | a lesson's claims measured, its cells rehearsed, learners' answers graded |
//! | [`saved_work`] | the commands that lead to what is saved, and the way back to it |
//! | [`tour`] | a model measured, and cells written from it |
//! | [`model`] | a lesson's model with its training and its passes, its commands, and retraining |
//! | [`notebook`] | the learner's copy of the cells, and their runs |
//! | [`static_embedding`] | the static vectors, and the axes of the picture |
//! | [`sentence_pass`] | the sentences on the stage, with the learner's interventions on their forward pass |
//! | [`training`] | one training run with its checkpoints, replays of past steps, branches, the weights in use |
//! | [`objective`] | the examples that the model learns from, and the answers among which it chooses |
//! | [`targets`] | the target of a source: by a lesson's rule, or written by the model |
//! | [`values`] | plain values that snapshots are made of |

pub mod check;
pub mod command;
pub mod evidence;
pub mod history;
#[expect(clippy::module_inception, reason = "the kernel is looked for under its own name")]
pub mod kernel;
pub mod model;
pub mod notebook;
pub mod objective;
pub mod phase;
pub mod saved_work;
pub mod sentence_pass;
pub mod snapshot;
pub mod static_embedding;
pub mod targets;
pub mod tour;
pub mod training;
pub mod values;
pub mod worker;

pub use self::command::Command;
pub use self::kernel::Kernel;
pub use self::saved_work::Saved;
pub use self::snapshot::Snapshot;
pub use self::worker::Worker;
