//! One training run, from the initialisation to its latest step, and access to every step in between.
//!
//! ```text
//! start ──●────●────●────●──▲──●── latest       ● checkpoint   ▲ change
//!                     └──► a step looked at: the checkpoint before it, run again
//! ```
//!
//! Training is deterministic, so a step between two checkpoints can be reproduced exactly, bit for bit: training is
//! repeated from the checkpoint before it, and the learner's changes are applied again at their steps. The sentence at
//! that step is then the forward pass with these parameters, in the one basis of all pictures, so that no activations
//! have to be stored.
//!
//! [`Checkpoints`] are states at evenly spaced steps, one at every `stride`-th step, within bounded memory. When there
//! are too many, the stride doubles and every second one is dropped; the first always stays.

use std::sync::Arc;

use attune_engine::numerics::params::Parameters;

use crate::kernel::training::cache::StepCache;
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
    /// The rules that have stopped this run, with the step; each rule stops it once.
    fired: Vec<(StopRule, usize)>,
    /// The overflow of the next step, if it was tried.
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

    /// Returns the step at which a rule first stopped this run.
    pub fn first_rule_step(&self) -> Option<usize> {
        self.fired.first().map(|(_, step)| *step)
    }

    /// Returns whether the state at the latest step was lost in an overflow and is being computed again.
    pub fn is_recovering(&self) -> bool {
        self.latest.steps_done() < self.steps_done()
    }

    /// Computes the lost state of the latest step again, by at most `steps` steps.
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
    /// In words for the learner, if the run would have to remember too many changes.
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

/// A change that the learner made after `step` and before the next step.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedChange {
    pub step: usize,
    pub change: RunChange,
}

#[derive(Clone, Debug, PartialEq)]
pub enum RunChange {
    /// Changed entries of all tensors, by their indices, with their new values.
    Entries(Arc<[(usize, f32)]>),
    LearningRate(f64),
}

impl TimedChange {
    /// Returns whether two changes share their data or have the same bits.
    fn is_same(&self, other: &Self) -> bool {
        self.step == other.step
            && match (&self.change, &other.change) {
                (RunChange::Entries(a), RunChange::Entries(b)) => Arc::ptr_eq(a, b),
                (RunChange::LearningRate(a), RunChange::LearningRate(b)) => a.to_bits() == b.to_bits(),
                (RunChange::Entries(_), RunChange::LearningRate(_))
                | (RunChange::LearningRate(_), RunChange::Entries(_)) => false,
            }
    }
}

impl RunChange {
    pub fn entries(&self) -> usize {
        match self {
            RunChange::Entries(entries) => entries.len(),
            RunChange::LearningRate(_) => 1,
        }
    }

    pub fn apply(&self, state: &mut TrainingState) {
        match self {
            RunChange::Entries(entries) => {
                let parameters = Arc::make_mut(&mut state.parameters);
                entries.iter().for_each(|&(index, value)| parameters.set_at(index, value));
            }
            RunChange::LearningRate(rate) => state.optimiser.set_learning_rate(*rate),
        }
    }
}

/// Number of changes in a chunk. Only the last chunk is ever copied, and only while the history of undo shares it.
const CHUNK: usize = 64;

/// A list of changes whose clone shares all chunks, so that the history of undo costs no second list.
#[derive(Clone, Debug, Default)]
pub struct ChangeLog {
    /// Chunks, all of which except the last are full, and none of which is empty.
    chunks: Vec<Arc<Vec<TimedChange>>>,
}

impl PartialEq for ChangeLog {
    /// Lists are equal if all changes are, whether or not they share chunks.
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other) || self.iter().eq(other.iter())
    }
}

impl ChangeLog {
    pub fn push(&mut self, intervention: TimedChange) {
        match self.chunks.last_mut().filter(|last| last.len() < CHUNK) {
            Some(last) => Arc::make_mut(last).push(intervention),
            None => self.chunks.push(Arc::new(vec![intervention])),
        }
    }

    pub fn last(&self) -> Option<&TimedChange> {
        self.chunks.last()?.last()
    }

    pub fn pop(&mut self) {
        let Some(last) = self.chunks.last_mut() else { return };
        Arc::make_mut(last).pop();
        if last.is_empty() {
            self.chunks.pop();
        }
    }

    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &TimedChange> {
        self.chunks.iter().flat_map(|chunk| chunk.iter())
    }

    /// Returns whether nothing was changed since one list was cloned from the other.
    pub fn is_same(&self, other: &Self) -> bool {
        self.chunks.len() == other.chunks.len() && self.chunks.iter().zip(&other.chunks).all(|(a, b)| Arc::ptr_eq(a, b))
    }

    /// Returns the step of the first change that only one of two lists has, or `None` if they are equal.
    pub fn first_difference(&self, other: &Self) -> Option<usize> {
        let shared = self.chunks.iter().zip(&other.chunks).take_while(|(a, b)| Arc::ptr_eq(a, b)).count();
        let rest = |log: &Self| log.chunks[shared..].iter().flat_map(|chunk| chunk.iter().cloned()).collect::<Vec<_>>();
        let (ours, theirs) = (rest(self), rest(other));
        let same = ours.iter().zip(&theirs).take_while(|(a, b)| a.is_same(b)).count();
        ours.get(same).into_iter().chain(theirs.get(same)).map(|change| change.step).min()
    }

    /// Returns the changes at a step.
    pub fn at(&self, step: usize) -> impl Iterator<Item = &TimedChange> {
        let before = |chunk: &Arc<Vec<TimedChange>>| chunk.last().is_some_and(|last| last.step < step);
        let chunks = &self.chunks[self.chunks.partition_point(before)..];
        let changes = chunks.iter().flat_map(|chunk| chunk.iter());
        changes.skip_while(move |done| done.step < step).take_while(move |done| done.step == step)
    }

    /// Returns the changes up to and including a step.
    #[must_use]
    pub fn up_to(&self, step: usize) -> Self {
        let mut some = Self::default();
        self.iter().take_while(|done| done.step <= step).for_each(|done| some.push(done.clone()));
        some
    }
}

/// Greatest memory of the checkpoints of a training, in bytes ...
pub const CHECKPOINT_BYTES_MAX: usize = 32 << 20;
/// ... and greatest number of checkpoints, for tiny models.
pub const CHECKPOINTS_MAX: usize = 128;

/// Values at steps, in the order of the steps. `T` is the state of a training.
#[derive(Clone, Debug)]
pub struct Checkpoints<T> {
    kept: Vec<(usize, Arc<T>)>,
    stride: usize,
    most: usize,
}

impl<T> Checkpoints<T> {
    /// Creates an empty list for as many checkpoints of size `bytes` as fit.
    pub fn new(bytes: usize) -> Self {
        // With fewer than two, doubling the stride would drop nothing.
        let most = (CHECKPOINT_BYTES_MAX / bytes.max(1)).clamp(2, CHECKPOINTS_MAX);
        Self { kept: Vec::new(), stride: 1, most }
    }

    pub fn steps(&self) -> impl ExactSizeIterator<Item = usize> {
        self.kept.iter().map(|(step, _)| *step)
    }

    /// Keeps the state at `step` if the stride requires it and it is not there yet.
    pub fn offer(&mut self, step: usize, state: &Arc<T>) {
        if !step.is_multiple_of(self.stride) {
            return;
        }
        let Err(place) = self.kept.binary_search_by_key(&step, |(step, _)| *step) else { return };
        self.kept.insert(place, (step, state.clone()));
        if self.kept.len() > self.most {
            self.stride *= 2;
            self.kept.retain(|(step, _)| step.is_multiple_of(self.stride));
        }
    }

    /// Returns the last checkpoint at or before `step`.
    pub fn before(&self, step: usize) -> Option<Arc<T>> {
        let after = self.kept.partition_point(|(at, _)| *at <= step);
        after.checked_sub(1).map(|last| self.kept[last].1.clone())
    }

    /// Drops the checkpoints after `step`.
    pub fn truncate(&mut self, step: usize) {
        self.kept.retain(|(at, _)| *at <= step);
        if self.kept.len() <= 1 {
            self.stride = 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(count: usize) -> ChangeLog {
        let mut all = ChangeLog::default();
        // Three changes at each step, so that those of one step are on both sides of a chunk's border.
        (0..count).for_each(|i| all.push(TimedChange { step: i / 3, change: RunChange::LearningRate(i as f64) }));
        all
    }

    fn rates<'a>(changes: impl Iterator<Item = &'a TimedChange>) -> Vec<f64> {
        let rate = |change: &RunChange| match change {
            RunChange::LearningRate(rate) => *rate,
            RunChange::Entries(_) => f64::NAN,
        };
        changes.map(|done| rate(&done.change)).collect()
    }

    #[test]
    fn the_changes_of_a_step_come_back() {
        for count in [0, 1, CHUNK, CHUNK + 1, 5 * CHUNK] {
            let all = changes(count);
            for step in 0..count.div_ceil(3) + 1 {
                let expected: Vec<f64> = (3 * step..count.min(3 * step + 3)).map(|i| i as f64).collect();
                assert_eq!(rates(all.at(step)), expected, "{step} of {count}");
                assert_eq!(rates(all.up_to(step).iter()), rates(all.iter().take(3 * step + 3)));
            }
        }
    }

    #[test]
    fn logs_agree_up_to_their_first_difference() {
        let all = changes(2 * CHUNK + 10);
        assert_eq!(all.first_difference(&all.clone()), None);
        assert_eq!(all.first_difference(&all.up_to(20)), Some(21));
        assert_eq!(ChangeLog::default().first_difference(&all), Some(0));
        let mut other = all.up_to(20);
        assert_eq!(other.up_to(30).first_difference(&other), None, "the same changes in other chunks");
        other.push(TimedChange { step: 50, change: RunChange::LearningRate(-0.0) });
        let mut third = all.up_to(20);
        third.push(TimedChange { step: 50, change: RunChange::LearningRate(0.0) });
        assert_eq!(other.first_difference(&third), Some(50), "by their bits");
    }

    #[test]
    fn a_clone_shares_and_stays() {
        let before = changes(2 * CHUNK + 1);
        let mut all = before.clone();
        all.pop();
        assert_eq!(all.chunks.len(), 2, "no chunk is left empty");
        all.pop();
        all.push(TimedChange { step: 99, change: RunChange::LearningRate(7.0) });
        assert!(Arc::ptr_eq(&before.chunks[0], &all.chunks[0]), "full chunks are never copied");
        assert_eq!(rates(before.iter()).len(), 2 * CHUNK + 1);
        assert_eq!(all.last().map(|last| last.step), Some(99));
    }

    fn after(steps: usize, bytes: usize) -> Checkpoints<usize> {
        let mut checkpoints = Checkpoints::new(bytes);
        (0..=steps).for_each(|step| checkpoints.offer(step, &Arc::new(step)));
        checkpoints
    }

    #[test]
    fn checkpoints_stay_few_evenly_spread_and_true() {
        for steps in [0, 1, 7, 255, 256, 257, 1000, 100_000] {
            for bytes in [1, 1 << 20, 10 << 20, 1 << 30] {
                let checkpoints = after(steps, bytes);
                let kept: Vec<usize> = checkpoints.steps().collect();
                assert!(
                    kept.len() <= CHECKPOINTS_MAX && (kept.len() <= 2 || kept.len() * bytes <= CHECKPOINT_BYTES_MAX)
                );
                assert_eq!(kept[0], 0, "the first is always kept");
                assert!(kept.iter().enumerate().all(|(i, step)| *step == i * checkpoints.stride), "{kept:?}");
                assert!(steps - kept.last().expect("one") < checkpoints.stride);
                // Checkpoints are never fewer than the limit requires.
                assert!(checkpoints.stride == 1 || 2 * kept.len() > checkpoints.most, "{} of {bytes}", kept.len());
                for step in [0, steps / 2, steps] {
                    let at = *checkpoints.before(step).expect("the first");
                    assert!(at <= step && step - at < checkpoints.stride);
                }
            }
        }
    }

    #[test]
    fn a_gap_is_filled_when_it_is_gone_through() {
        let mut gap = after(40, 1);
        gap.truncate(10);
        assert_eq!(gap.before(30).as_deref(), Some(&10));
        (5..=30).for_each(|step| gap.offer(step, &Arc::new(step)));
        assert!(gap.steps().eq(0..=30));
    }
}
