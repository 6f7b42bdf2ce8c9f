//! Checkpoints of a training: states at evenly spread steps, within a bounded memory.
//!
//! A checkpoint is kept at every `stride`-th step. When there are too many, the stride doubles and
//! every second one goes; the first always stays. What lies between two is not lost: training is
//! deterministic, so it is recomputed from the one before, in less than `stride` steps.

use std::sync::Arc;

/// The most that the checkpoints of a training take, in bytes ...
pub const CHECKPOINT_BYTES_MAX: usize = 32 << 20;
/// ... and how many there may be, for models that are tiny.
pub const CHECKPOINTS_MAX: usize = 128;

/// Values at steps, in the order of the steps. `T` is the state of a training.
#[derive(Clone, Debug)]
pub struct Checkpoints<T> {
    kept: Vec<(usize, Arc<T>)>,
    stride: usize,
    most: usize,
}

impl<T> Checkpoints<T> {
    /// Keeps as many as fit, each of `bytes`.
    pub fn new(bytes: usize) -> Self {
        // Fewer than two could not be thinned.
        let most = (CHECKPOINT_BYTES_MAX / bytes.max(1)).clamp(2, CHECKPOINTS_MAX);
        Self { kept: Vec::new(), stride: 1, most }
    }

    pub fn steps(&self) -> impl ExactSizeIterator<Item = usize> {
        self.kept.iter().map(|(step, _)| *step)
    }

    /// Keeps the state at `step` if its turn has come and it is not there yet.
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

    /// The last checkpoint at or before `step`.
    pub fn before(&self, step: usize) -> Option<Arc<T>> {
        let after = self.kept.partition_point(|(at, _)| *at <= step);
        after.checked_sub(1).map(|last| self.kept[last].1.clone())
    }

    /// Forgets those after `step`.
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
                // Never thinner than the limit asks for.
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
