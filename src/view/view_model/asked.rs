//! The state of a question that a model takes a while to answer: refused, not asked, running, failed or answered.

use std::sync::Arc;

use attune_core::kernel::evidence::job::Asked;
use attune_core::kernel::snapshot::scores::can_ask;
use attune_core::kernel::snapshot::{ModelSnapshot, Progress};

use super::sentence;

#[derive(Clone, Debug)]
pub enum AskedState<T> {
    /// The model cannot be asked, for a reason in words.
    Refused(String),
    NotAsked,
    Running(Progress),
    /// The work ended without an answer, for a reason in words.
    Failed(String),
    Found(Arc<T>),
}

impl<T> AskedState<T> {
    /// Returns the state of a question to a model.
    pub fn of(model: &ModelSnapshot, asked: Option<&Asked<T>>) -> Self {
        if let Err(why) = can_ask(model) {
            return Self::Refused(sentence(&why));
        }
        let Some(asked) = asked else { return Self::NotAsked };
        match &asked.found {
            None => Self::Running(asked.progress),
            Some(Ok(found)) => Self::Found(found.clone()),
            Some(Err(why)) => Self::Failed(sentence(why)),
        }
    }

    /// Returns how far the work is while it runs, or why it ended without an answer; `None` in any other state.
    pub fn progress(&self) -> Option<String> {
        match self {
            Self::Failed(why) => Some(why.clone()),
            Self::Running(progress) if progress.of > 0 => Some(format!("{} of {}", progress.done, progress.of)),
            Self::Running(_) => Some("…".to_owned()),
            _ => None,
        }
    }
}
