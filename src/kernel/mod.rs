//! The running lesson: commands in, snapshots out.
//!
//! In reading order: [`command`] is what can be asked, [`snapshot`] what can be seen, and
//! [`state`] applies the one and makes the other, with [`ready`] once there is a model. [`space`] trains the static vectors, [`trainer`]
//! the attention model, [`sentence`] runs one sentence through it, [`history`] undoes, [`facts`]
//! measures what lessons claim, and [`worker`] gives the kernel a thread of its own.

pub mod command;
pub mod facts;
pub mod history;
pub mod ready;
pub mod sentence;
pub mod snapshot;
pub mod space;
pub mod state;
pub mod trainer;
pub mod worker;

pub use command::Command;
pub use snapshot::Snapshot;
pub use state::Kernel;
pub use worker::Worker;
