//! The running lesson: commands in, snapshots out.
//!
//! In reading order: [`command`] is what can be asked, [`snapshot`] what can be seen, and
//! [`state`] applies the one and makes the other, with [`ready`] once there is a model. [`space`]
//! trains the static vectors, [`examples`] are what the attention model is trained on, and
//! [`trainer`] does a step of that. [`shown`] is what is on the stage: a [`sentence`] through the
//! model, with the learner's [`interventions`] and the model's [`answers`], perhaps with a [`second`] one
//! beside it; [`basis`] chooses the axes of the picture, from each [`word_group`] to another. [`history`] undoes
//! within the memory that [`footprint`] counts,
//! [`facts`] measures what lessons claim, by the [`places`] of words among others, and [`worker`] gives the kernel a thread of its own, at a [`pace`].
//!
//! The [`notebook`] is the learner's copy of the lesson's cells and what their runs left; [`live_model`]
//! is the model as code reads and writes it, and [`rehearsal`] goes through all cells for a lesson's author.
//!
//! [`saved`] is what is kept of all that from one session to the next, and [`resume`] puts the model back.
//!
//! [`retraining`] trains the lesson again with a recipe of the learner's, and [`edits`] paints and shakes weights.
//!
//! Training as data: [`training`] plays, looks back and branches; [`line`] is one line of training
//! with its [`checkpoints`], its [`training_log`] and what was changed on its way, [`model_state`] adds the learner's changes,
//! [`comparison`] sets two states side by side, [`stop`] says why training stands still, and [`overflow`] where a forward pass leaves the numbers.

pub mod answers;
pub mod basis;
pub mod checkpoints;
pub mod command;
pub mod comparison;
pub mod edits;
pub mod examples;
pub mod facts;
pub mod footprint;
pub mod history;
pub mod interventions;
pub mod line;
pub mod line_changes;
pub mod live_model;
pub mod model_state;
pub mod moves;
pub mod notebook;
pub mod overflow;
pub mod pace;
pub mod places;
pub mod ready;
pub mod rehearsal;
pub mod resume;
pub mod retraining;
pub mod saved;
pub mod second;
pub mod sentence;
pub mod shown;
pub mod snapshot;
pub mod space;
pub mod state;
pub mod stop;
pub mod token_labels;
pub mod trainer;
pub mod training;
pub mod training_log;
pub mod word_group;
pub mod worker;

pub use command::Command;
pub use saved::Saved;
pub use snapshot::Snapshot;
pub use state::Kernel;
pub use worker::Worker;
