//! One training run, from the initialisation to its latest step, and every step of it to look at.
//!
//! ```text
//! start ──●────●────●────●──▲──●── latest       ● checkpoint   ▲ change
//!                     └──► a step looked at: the checkpoint before it, run again
//! ```
//!
//! Training is deterministic, so a step between two checkpoints is exact, bit for bit: the states are
//! run again from the checkpoint before it, and the learner's changes on the way are applied again at their
//! steps. The sentence at that step is then the forward pass with those parameters in the one basis of all
//! pictures; so no activation is kept.

use std::sync::Arc;

use attune_engine::numerics::params::Parameters;

use crate::kernel::cache::StepCache;
use crate::kernel::training::change_log::{Change, ChangeLog, TimedChange};
use crate::kernel::training::log::TrainingLog;
use crate::kernel::training::stop::{Diverged, Overflow, Stopped, holds};
use crate::kernel::training::trainer::{Trainer, TrainingState};
use crate::lesson::schema::StopRule;

/// Entries of tensors that a run remembers to have been changed while it trained.
pub const CHANGED_ENTRIES_MAX: usize = 1 << 16;

#[derive(Clone, Debug)]
pub struct TrainingRun {
    start: Arc<TrainingState>,
    /// At the latest step, after the changes there.
    latest: Arc<TrainingState>,
    log: TrainingLog,
    /// In the order of their steps.
    changes: ChangeLog,
    /// Entries in all changes together.
    changed_entries: usize,
    /// The rules that have stopped this run, with the step: each does so once.
    fired: Vec<(StopRule, usize)>,
    /// The next step overflows.
    pub diverged: Option<Diverged>,
}

impl TrainingRun {
    /// At the initialisation.
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

    /// The initialisation.
    pub fn start(&self) -> &Arc<TrainingState> {
        &self.start
    }

    pub fn latest(&self) -> &Arc<TrainingState> {
        &self.latest
    }

    /// The latest step.
    pub fn steps_done(&self) -> usize {
        self.log.len()
    }

    /// Why it stands still at the latest step, unless the learner stopped it: the same however it came there.
    pub fn stopped(&self) -> Option<Stopped> {
        let rule = self.fired.last().filter(|(_, step)| *step == self.steps_done());
        self.diverged.map(Stopped::Diverged).or(rule.map(|(rule, _)| Stopped::Rule(*rule)))
    }

    /// The state at the latest step overflowed and is on its way there again.
    pub fn is_recovering(&self) -> bool {
        self.latest.steps_done() < self.steps_done()
    }

    /// Brings the state nearer to the latest step, by at most so many.
    pub fn recover(&mut self, trainer: &Trainer, cache: &mut StepCache, steps: usize) {
        let mut last_good = Replay { state: self.latest.clone(), target: self.steps_done() };
        self.advance(&mut last_good, trainer, cache, steps);
        self.latest = last_good.state;
    }

    pub fn log(&self) -> &TrainingLog {
        &self.log
    }

    /// Changes that the learner made on its way.
    pub fn changes(&self) -> &ChangeLog {
        &self.changes
    }

    /// One training step at the end of the run. If it overflows, the run stays as it was, and says so;
    /// a state that the step has overwritten is to be recovered.
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

    /// Remembers the first rule that holds since the latest step and has stopped no step before.
    fn note_rule(&mut self, rules: &[StopRule]) {
        let fresh = |rule: &&StopRule| self.fired.iter().all(|(fired, _)| fired != *rule);
        let rule = rules.iter().filter(fresh).find(|rule| holds(**rule, &self.log));
        self.fired.extend(rule.map(|rule| (*rule, self.log.len())));
    }

    /// Training goes on from these parameters.
    ///
    /// # Errors
    /// In words for the learner, if the run would have to remember too much.
    pub fn set_parameters(&mut self, parameters: Arc<Parameters<f32>>) -> Result<(), String> {
        // By their bits: -0 is not 0 to a training that is to be the same.
        let entries: Arc<[(usize, f32)]> = self.latest.parameters.changed_to(&parameters).into();
        if !entries.is_empty() {
            self.change(Change::Entries(entries))?;
            Arc::make_mut(&mut self.latest).parameters = parameters;
        }
        Ok(())
    }

    /// # Errors
    /// As [`Self::set_parameters`].
    pub fn set_learning_rate(&mut self, rate: f64) -> Result<(), String> {
        let change = Change::LearningRate(rate);
        self.change(change.clone())?;
        change.apply(Arc::make_mut(&mut self.latest));
        self.diverged = None;
        Ok(())
    }

    fn change(&mut self, change: Change) -> Result<(), String> {
        let step = self.steps_done();
        // Of two learning rates at one step the first was never used.
        let is_rate = |change: &Change| matches!(change, Change::LearningRate(_));
        let unused = self.changes.last().filter(|last| is_rate(&change) && last.step == step && is_rate(&last.change));
        let unused = unused.map(|last| last.change.entries());
        let entries = self.changed_entries + change.entries() - unused.unwrap_or(0);
        if entries > CHANGED_ENTRIES_MAX {
            return Err(format!(
                "a training remembers at most {CHANGED_ENTRIES_MAX} changes made on its way; reset it to make more"
            ));
        }
        if unused.is_some() {
            self.changes.pop();
        }
        if change == Change::LearningRate(self.learning_rate_asked()) {
            self.changed_entries = entries - change.entries();
            return Ok(());
        }
        self.changed_entries = entries;
        self.changes.push(TimedChange { step, change });
        Ok(())
    }

    /// The learning rate by the changes, or the lesson's.
    fn learning_rate_asked(&self) -> f64 {
        let rate = |done: &TimedChange| match done.change {
            Change::LearningRate(rate) => Some(rate),
            Change::Entries(_) => None,
        };
        self.changes.iter().rev().find_map(rate).unwrap_or(self.start.optimiser.learning_rate())
    }

    /// Begins to look at a step of this run: from the nearest state at or before it, `near` among them.
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

    /// Advances a replay by at most so many steps. States on the way fill gaps between the checkpoints.
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

    /// Applies again the learner's changes at the step that `state` has come to.
    fn change_again(&self, state: &mut Arc<TrainingState>) {
        let step = state.steps_done();
        self.changes.at(step).for_each(|done| done.change.apply(Arc::make_mut(state)));
    }

    /// A run of its own that shares this one's beginning, up to the state looked at.
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

/// A past state on its way to the step that is looked for. Each state on the way is a true one.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::vectors::SpaceTrainer;
    use crate::lesson::parse;

    fn trainer() -> Trainer {
        let lesson = parse("small.ron", include_str!("../../../../tests/fixtures/small.ron")).expect("no issues");
        let mut space = SpaceTrainer::new(&lesson);
        while !space.advance(&lesson) {}
        let vectors = space.finish(&lesson).expect("finite vectors");
        Trainer::new(&lesson, &vectors, space.examples())
    }

    #[test]
    fn an_overwritten_state_is_recovered_a_few_steps_at_a_time() {
        let (trainer, mut cache) = (trainer(), StepCache::default());
        let mut run = TrainingRun::new(&Arc::new(trainer.start()));
        for step in 0..20 {
            if step == 7 {
                run.set_learning_rate(0.05).expect("one change");
            }
            run.step(&trainer, &mut cache);
        }
        let good = run.latest.clone();
        // As after a step that has overwritten the state, where only the start is at hand.
        let mut cache = StepCache::default();
        run.latest = run.begin_at_checkpoint(run.steps_done(), &cache).state;
        for brought in [6, 12, 18] {
            assert!(run.is_recovering() && run.steps_done() == 20);
            run.recover(&trainer, &mut cache, 6);
            assert_eq!(run.latest.steps_done(), brought);
        }
        run.recover(&trainer, &mut cache, 6);
        assert!(!run.is_recovering() && run.latest == good, "bit for bit");
    }
}
