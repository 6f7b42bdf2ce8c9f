//! Room for the steps of a training, and states on its way. They can be computed again: the cache may be dropped at any
//! time, and no number changes.

use std::sync::Arc;

use crate::kernel::training::log::StepRecord;
use crate::kernel::training::run::{ChangeLog, Checkpoints};
use crate::kernel::training::stop::Diverged;
use crate::kernel::training::trainer::{StepRoom, Trainer, TrainingState};

/// Room for the steps of a training, and states on its way.
#[derive(Default)]
pub struct StepCache {
    room: Option<StepRoom>,
    /// Each as its step left it, before the changes there.
    checkpoints: Option<Checkpoints<TrainingState>>,
    /// The changes on the way to the checkpoints. Another run shares those up to the first change that differs.
    changes: ChangeLog,
}

impl StepCache {
    /// The same checkpoints, for a training that goes its own way from here.
    pub fn shared(&self) -> Self {
        Self { room: None, checkpoints: self.checkpoints.clone(), changes: self.changes.clone() }
    }

    /// Does one step, in the room for it.
    ///
    /// # Errors
    /// As [`Trainer::step`].
    pub fn step(&mut self, trainer: &Trainer, state: &mut TrainingState) -> Result<StepRecord<'_>, Diverged> {
        trainer.step(self.room.get_or_insert_with(|| trainer.room()), state)
    }

    /// Keeps the state that a step of a run with these changes has left, if its turn has come.
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

    /// The last checkpoint at or before a step of a run with these changes.
    pub fn before(&self, changes: &ChangeLog, step: usize) -> Option<Arc<TrainingState>> {
        self.checkpoints.as_ref()?.before(step.min(self.last_shared(changes)))
    }

    /// Steps of a run with these changes, up to its latest, that have a checkpoint.
    pub fn steps(&self, changes: &ChangeLog, latest: usize) -> Vec<usize> {
        let last = latest.min(self.last_shared(changes));
        self.checkpoints.iter().flat_map(Checkpoints::steps).take_while(|step| *step <= last).collect()
    }

    /// The last step whose checkpoint a run with these changes shares.
    fn last_shared(&self, changes: &ChangeLog) -> usize {
        self.changes.first_difference(changes).unwrap_or(usize::MAX)
    }
}
