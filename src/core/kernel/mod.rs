//! The running lesson: commands go in, and snapshots come out.
//!
//! | folder or file | job |
//! |---|---|
//! | [`command`], [`snapshot`] | the changes that can be requested, and the state that can be seen |
//! | [`kernel`] | the [`Kernel`]: applies commands, advances the work, takes snapshots |
//! | [`phase`] | the state of a lesson while it is opened, restored or trained again |
//! | [`history`] | undo and redo, and which changes are one |
//! | [`worker`] | the kernel on a thread of its own, and the pace of training |
//! | [`evidence`] | questions to a model: maps of patches, the split of a score, which word mattered, heads over texts |
//! | [`check`] | the measuring of claims, the rehearsal of cells, the grading of learners' answers |
//! | [`saved_work`] | saved work as the commands that lead to it, and how it is restored |
//! | [`tour`] | the tour of a model: measurements, and cells that describe them |
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
