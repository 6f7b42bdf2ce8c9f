//! The changes that the learner made while a model was trained, and some of the states through which training went.
//!
//! [`Checkpoints`] are states at evenly spaced steps, one at every `stride`-th step, within bounded memory. When there
//! are too many, the stride doubles and every second one is dropped; the first always stays.

use std::sync::Arc;

use crate::kernel::training::trainer::TrainingState;

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
    /// Returns whether two changes are certainly the same: entries are compared by their address, and learning rates by
    /// their bits.
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

/// Number of changes in a chunk. Only the last chunk is ever copied, and only while the undo history shares it.
const CHUNK: usize = 64;

/// A list of changes whose clone shares all chunks, so that the undo history needs no second list.
#[derive(Clone, Debug, Default)]
pub struct ChangeLog {
    /// Chunks, all of which except the last are full, and none of which is empty.
    chunks: Vec<Arc<Vec<TimedChange>>>,
}

impl PartialEq for ChangeLog {
    /// Returns whether all changes are equal, whether or not the lists share chunks.
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

/// Greatest memory of the checkpoints of a training, in bytes. Two checkpoints are kept in any case.
pub const CHECKPOINT_BYTES_MAX: usize = 32 << 20;
/// Greatest number of checkpoints of a training, which limits those of tiny models.
pub const CHECKPOINTS_MAX: usize = 128;

/// States of a training at some of its steps, in the order of the steps; `T` is the type of a state.
#[derive(Clone, Debug)]
pub struct Checkpoints<T> {
    kept: Vec<(usize, Arc<T>)>,
    stride: usize,
    most: usize,
}

impl<T> Checkpoints<T> {
    /// Creates an empty list for as many checkpoints of size `bytes` as fit into [`CHECKPOINT_BYTES_MAX`].
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
