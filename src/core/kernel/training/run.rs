//! One training run, from the initialisation to its latest step, and access to every step in between.
//!
//! ```text
//! start ──●────●────●────●──▲──●── latest       ● checkpoint   ▲ change
//!                     └──► a step looked at: the checkpoint before it, run again
//! ```
//!
//! Training is deterministic, so a step between two checkpoints can be reproduced exactly, bit for bit: training is
//! repeated from the checkpoint before it, and the learner's changes are applied again at their steps. The picture at
//! that step is made by a forward pass with these parameters, in the basis that all pictures share, so that no
//! activations have to be stored.

use std::sync::Arc;

use attune_engine::numerics::params::Parameters;

use crate::kernel::training::cache::StepCache;
pub use crate::kernel::training::changes::{
    CHECKPOINT_BYTES_MAX, CHECKPOINTS_MAX, ChangeLog, Checkpoints, RunChange, TimedChange,
};
use crate::kernel::training::log::TrainingLog;
use crate::kernel::training::stop::{Diverged, Overflow, Stopped, holds};
use crate::kernel::training::trainer::{Trainer, TrainingState};
use crate::lesson::schema::StopRule;

/// Greatest number of changed entries that a run remembers.
pub const CHANGED_ENTRIES_MAX: usize = 1 << 16;

#[derive(Clone, Debug)]
pub struct TrainingRun {
    start: Arc<TrainingState>,
    /// The state at the latest step, after the learner's changes there.
    latest: Arc<TrainingState>,
    log: TrainingLog,
    /// The learner's changes in the order of their steps.
    changes: ChangeLog,
    /// Number of entries in all changes together.
    changed_entries: usize,
    /// The rules that have stopped this run, each with its step. A rule stops a run only once.
    fired: Vec<(StopRule, usize)>,
    /// The overflow of the step after the latest one, if that step has been tried.
    pub diverged: Option<Diverged>,
}

impl TrainingRun {
    /// Creates a run at the initialisation.
    pub fn new(start: &Arc<TrainingState>) -> Self {
        Self {
            start: start.clone(),
            latest: start.clone(),
            log: TrainingLog::new(start.parameters.specs().len()),
            changes: ChangeLog::default(),
            changed_entries: 0,
            fired: Vec::new(),
            diverged: None,
        }
    }

    /// Returns the initialisation.
    pub fn start(&self) -> &Arc<TrainingState> {
        &self.start
    }

    pub fn latest(&self) -> &Arc<TrainingState> {
        &self.latest
    }

    /// Returns the latest step.
    pub fn steps_done(&self) -> usize {
        self.log.len()
    }

    /// Returns the reason why training stopped at the latest step, unless the learner paused it. The reason is the same
    /// however the run reached that step.
    pub fn stopped(&self) -> Option<Stopped> {
        let rule = self.fired.last().filter(|(_, step)| *step == self.steps_done());
        self.diverged.map(Stopped::Diverged).or(rule.map(|(rule, _)| Stopped::Rule(*rule)))
    }

    /// Returns the step at which a rule first stopped this run, or `None` if no rule has.
    pub fn first_rule_step(&self) -> Option<usize> {
        self.fired.first().map(|(_, step)| *step)
    }

    /// Returns whether the state at the latest step was lost in an overflow and is being computed again.
    pub fn is_recovering(&self) -> bool {
        self.latest.steps_done() < self.steps_done()
    }

    /// Continues to compute the lost state of the latest step, by at most `steps` steps.
    pub fn recover(&mut self, trainer: &Trainer, cache: &mut StepCache, steps: usize) {
        let mut last_good = Replay { state: self.latest.clone(), target: self.steps_done() };
        self.advance(&mut last_good, trainer, cache, steps);
        self.latest = last_good.state;
    }

    pub fn log(&self) -> &TrainingLog {
        &self.log
    }

    /// Returns the changes that the learner made during the training.
    pub fn changes(&self) -> &ChangeLog {
        &self.changes
    }

    /// Does one training step at the end of the run. If the step overflows, the run stays as it was and records the
    /// overflow; a state that the step has overwritten has to be recovered.
    pub fn step(&mut self, trainer: &Trainer, cache: &mut StepCache) {
        match cache.step(trainer, Arc::make_mut(&mut self.latest)) {
            Ok(record) => {
                self.log.push(&record);
                cache.offer(&self.changes, &self.start, &self.latest);
                self.diverged = None;
                self.note_rule(trainer.stop_rules());
            }
            Err(diverged) => {
                if matches!(diverged.overflow, Overflow::Parameter(_)) {
                    self.latest = self.begin_at_checkpoint(self.steps_done(), cache).state;
                }
                self.diverged = Some(diverged);
            }
        }
    }

    /// Records the first rule that is met at the latest step and has not stopped the run before.
    fn note_rule(&mut self, rules: &[StopRule]) {
        let fresh = |rule: &&StopRule| self.fired.iter().all(|(fired, _)| fired != *rule);
        let rule = rules.iter().filter(fresh).find(|rule| holds(**rule, &self.log));
        self.fired.extend(rule.map(|rule| (*rule, self.log.len())));
    }

    /// Replaces the parameters from which training continues.
    ///
    /// # Errors
    /// A message for the learner if the run would have to remember too many changes.
    pub fn set_parameters(&mut self, parameters: Arc<Parameters<f32>>) -> Result<(), String> {
        // Entries are compared by their bits, because -0 and 0 may lead to different trainings.
        let entries: Arc<[(usize, f32)]> = self.latest.parameters.changed_to(&parameters).into();
        if !entries.is_empty() {
            self.change(RunChange::Entries(entries))?;
            Arc::make_mut(&mut self.latest).parameters = parameters;
        }
        Ok(())
    }

    /// Replaces the learning rate of the following steps.
    ///
    /// # Errors
    /// The error of [`Self::set_parameters`].
    pub fn set_learning_rate(&mut self, rate: f64) -> Result<(), String> {
        let change = RunChange::LearningRate(rate);
        self.change(change.clone())?;
        change.apply(Arc::make_mut(&mut self.latest));
        self.diverged = None;
        Ok(())
    }

    fn change(&mut self, change: RunChange) -> Result<(), String> {
        let step = self.steps_done();
        // If there are two learning rates at one step, the first was never used.
        let is_rate = |change: &RunChange| matches!(change, RunChange::LearningRate(_));
        let unused = self.changes.last().filter(|last| is_rate(&change) && last.step == step && is_rate(&last.change));
        let unused = unused.map(|last| last.change.entries());
        let entries = self.changed_entries + change.entries() - unused.unwrap_or(0);
        if entries > CHANGED_ENTRIES_MAX {
            return Err(format!(
                "training remembers at most {CHANGED_ENTRIES_MAX} changes that are made while it runs; reset \
                 training to make more"
            ));
        }
        if unused.is_some() {
            self.changes.pop();
        }
        if change == RunChange::LearningRate(self.learning_rate_asked()) {
            self.changed_entries = entries - change.entries();
            return Ok(());
        }
        self.changed_entries = entries;
        self.changes.push(TimedChange { step, change });
        Ok(())
    }

    /// Returns the learning rate that was set last, or the lesson's.
    fn learning_rate_asked(&self) -> f64 {
        let rate = |done: &TimedChange| match done.change {
            RunChange::LearningRate(rate) => Some(rate),
            RunChange::Entries(_) => None,
        };
        self.changes.iter().rev().find_map(rate).unwrap_or(self.start.optimiser.learning_rate())
    }

    /// Starts to compute a past step of this run, from the nearest state at or before it; `near` is one candidate.
    pub fn look_at(&self, step: usize, near: Option<&Replay>, cache: &StepCache) -> Replay {
        if step >= self.steps_done() {
            return Replay { state: self.latest.clone(), target: self.steps_done() };
        }
        let begun = self.begin_at_checkpoint(step, cache);
        let is_nearer = |near: &&Replay| (begun.state.steps_done()..=step).contains(&near.state.steps_done());
        match near.filter(is_nearer) {
            Some(near) => Replay { state: near.state.clone(), target: step },
            None => begun,
        }
    }

    fn begin_at_checkpoint(&self, target: usize, cache: &StepCache) -> Replay {
        let mut state = cache.before(&self.changes, target).unwrap_or_else(|| self.start.clone());
        self.change_again(&mut state);
        Replay { state, target }
    }

    /// Advances a replay by at most the given number of steps. States on the way fill gaps between the checkpoints.
    pub fn advance(&self, replay: &mut Replay, trainer: &Trainer, cache: &mut StepCache, steps: usize) {
        let steps = steps.min(replay.target - replay.state.steps_done());
        for _ in 0..steps {
            if cache.step(trainer, Arc::make_mut(&mut replay.state)).is_err() {
                unreachable!("a step that went well goes well again");
            }
            cache.offer(&self.changes, &self.start, &replay.state);
            self.change_again(&mut replay.state);
        }
    }

    /// Applies the learner's changes at the step of `state` again.
    fn change_again(&self, state: &mut Arc<TrainingState>) {
        let step = state.steps_done();
        self.changes.at(step).for_each(|done| done.change.apply(Arc::make_mut(state)));
    }

    /// Returns a new run that shares this one's steps up to `state`.
    pub fn branch(&self, state: &Arc<TrainingState>) -> TrainingRun {
        let step = state.steps_done();
        let before = self.changes.up_to(step);
        TrainingRun {
            start: self.start.clone(),
            latest: state.clone(),
            log: self.log.truncated(step),
            changed_entries: before.iter().map(|done| done.change.entries()).sum(),
            changes: before,
            fired: self.fired.iter().copied().filter(|(_, at)| *at <= step).collect(),
            diverged: None,
        }
    }
}

/// A past state that is being computed up to a target step. Each state on the way is exact.
#[derive(Clone, Debug)]
pub struct Replay {
    pub state: Arc<TrainingState>,
    pub target: usize,
}

impl Replay {
    pub fn has_arrived(&self) -> bool {
        self.state.steps_done() == self.target
    }

    /// Makes the present step the target.
    pub fn settle(&mut self) {
        self.target = self.state.steps_done();
    }
}
