//! Buffers for the steps of a training, and checkpoints. Both can be computed again, so dropping the cache at any time
//! changes no number.

use std::sync::Arc;

use crate::kernel::training::changes::{ChangeLog, Checkpoints};
use crate::kernel::training::log::StepRecord;
use crate::kernel::training::stop::Diverged;
use crate::kernel::training::trainer::{StepRoom, Trainer, TrainingState};

/// Buffers for the steps of a training, and checkpoints.
#[derive(Default)]
pub struct StepCache {
    room: Option<StepRoom>,
    /// Checkpoints, each in the state after its step and before the learner's changes at that step.
    checkpoints: Option<Checkpoints<TrainingState>>,
    /// The changes that lead to the checkpoints. Another run shares the checkpoints up to the first change that
    /// differs.
    changes: ChangeLog,
}

impl StepCache {
    /// Returns a cache with the same checkpoints, for a copy of the training that continues independently.
    pub fn shared(&self) -> Self {
        Self { room: None, checkpoints: self.checkpoints.clone(), changes: self.changes.clone() }
    }

    /// Does one training step with the buffers.
    ///
    /// # Errors
    /// The error of [`Trainer::step`].
    pub fn step(&mut self, trainer: &Trainer, state: &mut TrainingState) -> Result<StepRecord<'_>, Diverged> {
        trainer.step(self.room.get_or_insert_with(|| trainer.room()), state)
    }

    /// Keeps the state after a step of a run with these changes, if the step is one for a checkpoint.
    pub fn offer(&mut self, changes: &ChangeLog, start: &Arc<TrainingState>, state: &Arc<TrainingState>) {
        let checkpoints = self.checkpoints.get_or_insert_with(|| {
            let mut checkpoints = Checkpoints::new(state.bytes());
            checkpoints.offer(0, start);
            checkpoints
        });
        if !self.changes.is_same(changes) {
            if let Some(step) = self.changes.first_difference(changes) {
                checkpoints.truncate(step);
            }
            self.changes = changes.clone();
        }
        checkpoints.offer(state.steps_done(), state);
    }

    /// Returns the last checkpoint at or before a step of a run with these changes.
    pub fn before(&self, changes: &ChangeLog, step: usize) -> Option<Arc<TrainingState>> {
        self.checkpoints.as_ref()?.before(step.min(self.last_shared(changes)))
    }

    /// Returns the steps with checkpoints in a run with these changes, up to its latest.
    pub fn steps(&self, changes: &ChangeLog, latest: usize) -> Vec<usize> {
        let last = latest.min(self.last_shared(changes));
        self.checkpoints.iter().flat_map(Checkpoints::steps).take_while(|step| *step <= last).collect()
    }

    /// Returns the last step whose checkpoint a run with these changes can share.
    fn last_shared(&self, changes: &ChangeLog) -> usize {
        self.changes.first_difference(changes).unwrap_or(usize::MAX)
    }
}
