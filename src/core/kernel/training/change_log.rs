//! Changes that the learner made during a training run, in the order of the steps.

use std::sync::Arc;

use crate::kernel::training::trainer::TrainingState;

/// A change that the learner made after the step `step` and before the next.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedChange {
    pub step: usize,
    pub change: Change,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Entries of all tensors, by their indices, with their new values.
    Entries(Arc<[(usize, f32)]>),
    LearningRate(f64),
}

impl TimedChange {
    /// The very same change, or one of the same bits.
    fn is_same(&self, other: &Self) -> bool {
        self.step == other.step
            && match (&self.change, &other.change) {
                (Change::Entries(a), Change::Entries(b)) => Arc::ptr_eq(a, b),
                (Change::LearningRate(a), Change::LearningRate(b)) => a.to_bits() == b.to_bits(),
                (Change::Entries(_), Change::LearningRate(_)) | (Change::LearningRate(_), Change::Entries(_)) => false,
            }
    }
}

impl Change {
    pub fn entries(&self) -> usize {
        match self {
            Change::Entries(entries) => entries.len(),
            Change::LearningRate(_) => 1,
        }
    }

    pub fn apply(&self, state: &mut TrainingState) {
        match self {
            Change::Entries(entries) => {
                let parameters = Arc::make_mut(&mut state.parameters);
                entries.iter().for_each(|&(index, value)| parameters.set_at(index, value));
            }
            Change::LearningRate(rate) => state.optimiser.set_learning_rate(*rate),
        }
    }
}

/// Changes of a chunk. Only the last chunk is ever copied, and only while undo holds it too.
const CHUNK: usize = 64;

/// A clone shares all chunks: what undo remembers of a line costs no second list.
#[derive(Clone, Debug, Default)]
pub struct ChangeLog {
    /// All but the last are full; none is empty.
    chunks: Vec<Arc<Vec<TimedChange>>>,
}

impl PartialEq for ChangeLog {
    /// Equal in every change, wherever it is kept.
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

    /// The very same log: nothing was changed since one was cloned from the other.
    pub fn is_same(&self, other: &Self) -> bool {
        self.chunks.len() == other.chunks.len() && self.chunks.iter().zip(&other.chunks).all(|(a, b)| Arc::ptr_eq(a, b))
    }

    /// The step of the first change that only one of two logs has; `None` where they have the same changes.
    pub fn first_difference(&self, other: &Self) -> Option<usize> {
        let shared = self.chunks.iter().zip(&other.chunks).take_while(|(a, b)| Arc::ptr_eq(a, b)).count();
        let rest = |log: &Self| log.chunks[shared..].iter().flat_map(|chunk| chunk.iter().cloned()).collect::<Vec<_>>();
        let (ours, theirs) = (rest(self), rest(other));
        let same = ours.iter().zip(&theirs).take_while(|(a, b)| a.is_same(b)).count();
        ours.get(same).into_iter().chain(theirs.get(same)).map(|change| change.step).min()
    }

    /// Those at a step.
    pub fn at(&self, step: usize) -> impl Iterator<Item = &TimedChange> {
        let before = |chunk: &Arc<Vec<TimedChange>>| chunk.last().is_some_and(|last| last.step < step);
        let chunks = &self.chunks[self.chunks.partition_point(before)..];
        let changes = chunks.iter().flat_map(|chunk| chunk.iter());
        changes.skip_while(move |done| done.step < step).take_while(move |done| done.step == step)
    }

    /// Those up to a step and at it.
    #[must_use]
    pub fn up_to(&self, step: usize) -> Self {
        let mut some = Self::default();
        self.iter().take_while(|done| done.step <= step).for_each(|done| some.push(done.clone()));
        some
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(count: usize) -> ChangeLog {
        let mut all = ChangeLog::default();
        // Three at each step, so that a step's own lie on both sides of a chunk's edge.
        (0..count).for_each(|i| all.push(TimedChange { step: i / 3, change: Change::LearningRate(i as f64) }));
        all
    }

    fn rates<'a>(changes: impl Iterator<Item = &'a TimedChange>) -> Vec<f64> {
        let rate = |change: &Change| match change {
            Change::LearningRate(rate) => *rate,
            Change::Entries(_) => f64::NAN,
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
        other.push(TimedChange { step: 50, change: Change::LearningRate(-0.0) });
        let mut third = all.up_to(20);
        third.push(TimedChange { step: 50, change: Change::LearningRate(0.0) });
        assert_eq!(other.first_difference(&third), Some(50), "by their bits");
    }

    #[test]
    fn a_clone_shares_and_stays() {
        let before = changes(2 * CHUNK + 1);
        let mut all = before.clone();
        all.pop();
        assert_eq!(all.chunks.len(), 2, "no chunk is left empty");
        all.pop();
        all.push(TimedChange { step: 99, change: Change::LearningRate(7.0) });
        assert!(Arc::ptr_eq(&before.chunks[0], &all.chunks[0]), "full chunks are never copied");
        assert_eq!(rates(before.iter()).len(), 2 * CHUNK + 1);
        assert_eq!(all.last().map(|last| last.step), Some(99));
    }
}
