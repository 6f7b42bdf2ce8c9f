//! The loss and the gradient norm of every step. The log grows by one row a step, up to the lesson's last, and its
//! clones are cheap.

use std::sync::Arc;

/// Number of rows in a chunk. Only the last chunk is ever copied, and only if a snapshot shares it.
const CHUNK: usize = 256;
/// Indices of the columns: the loss, the norm of the gradient, and the first tensor.
const LOSS: usize = 0;
const NORM: usize = 1;
const TENSORS: usize = 2;

/// Records of the steps of a training, one row per step. A clone shares all chunks.
#[derive(Clone, Debug)]
pub struct TrainingLog {
    columns: usize,
    /// Rows, one after the other; all chunks except the last are full.
    chunks: Vec<Arc<Vec<f32>>>,
}

/// The record of one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepRecord<'a> {
    /// Mean cross-entropy before the step's update, in nats.
    pub loss: f32,
    /// L2 norm of the whole gradient.
    pub gradient_norm: f32,
    /// L2 norm of the gradient of each tensor, in the order of the parameters.
    pub by_tensor: &'a [f32],
}

impl TrainingLog {
    /// Creates an empty log for a model with this number of tensors.
    pub fn new(tensors: usize) -> Self {
        Self { columns: TENSORS + tensors, chunks: Vec::new() }
    }

    /// Returns the number of recorded steps.
    pub fn len(&self) -> usize {
        let last = self.chunks.last().map_or(0, |last| last.len() / self.columns);
        self.chunks.len().saturating_sub(1) * CHUNK + last
    }

    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }

    /// Adds a record. Allocates once for each chunk, and once after each clone.
    ///
    /// # Panics
    /// If the record has another number of tensors than [`Self::new`] was given.
    pub fn push(&mut self, step: &StepRecord) {
        assert_eq!(step.by_tensor.len() + TENSORS, self.columns, "log: {} tensors", step.by_tensor.len());
        let size = CHUNK * self.columns;
        if self.chunks.last().is_none_or(|last| last.len() == size) {
            self.chunks.push(Arc::new(Vec::with_capacity(size)));
        }
        let Some(shared) = self.chunks.last_mut() else { return };
        if Arc::get_mut(shared).is_none() {
            // A plain clone would have no capacity for the next row.
            let mut own = Vec::with_capacity(size);
            own.extend_from_slice(shared);
            *shared = Arc::new(own);
        }
        if let Some(rows) = Arc::get_mut(shared) {
            rows.extend([step.loss, step.gradient_norm]);
            rows.extend_from_slice(step.by_tensor);
        }
    }

    /// Returns the records of all steps, from the first.
    pub fn steps(&self) -> impl DoubleEndedIterator<Item = StepRecord<'_>> {
        let rows = self.chunks.iter().flat_map(|chunk| chunk.chunks_exact(self.columns));
        rows.map(|row| StepRecord { loss: row[LOSS], gradient_norm: row[NORM], by_tensor: &row[TENSORS..] })
    }

    pub fn losses(&self) -> impl DoubleEndedIterator<Item = f32> {
        self.steps().map(|step| step.loss)
    }

    /// Returns the mean loss of the steps from `from` up to but not including `to`, in nats; it is NaN for no steps.
    pub fn mean_loss(&self, from: usize, to: usize) -> f64 {
        let row = |step: usize| self.chunks[step / CHUNK][step % CHUNK * self.columns + LOSS];
        let to = to.min(self.len());
        (from..to).map(|step| f64::from(row(step))).sum::<f64>() / to.saturating_sub(from) as f64
    }

    /// Returns the log of the first `steps` steps.
    #[must_use]
    pub fn truncated(&self, steps: usize) -> Self {
        let mut chunks: Vec<_> = self.chunks.iter().take(steps.div_ceil(CHUNK)).cloned().collect();
        let rest = steps - chunks.len().saturating_sub(1) * CHUNK;
        if let Some(last) = chunks.last_mut()
            && last.len() > rest * self.columns
        {
            *last = Arc::new(last[..rest * self.columns].to_vec());
        }
        Self { columns: self.columns, chunks }
    }

    /// Returns whether nothing has been recorded since one log was cloned from the other.
    pub fn is_same(&self, other: &TrainingLog) -> bool {
        self.chunks.len() == other.chunks.len() && self.chunks.iter().zip(&other.chunks).all(|(a, b)| Arc::ptr_eq(a, b))
    }
}

/// Equality of all numbers, whether or not the logs share chunks.
impl PartialEq for TrainingLog {
    fn eq(&self, other: &Self) -> bool {
        self.is_same(other) || (self.columns == other.columns && self.steps().eq(other.steps()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(steps: usize) -> TrainingLog {
        let mut log = TrainingLog::new(1);
        for step in 0..steps {
            log.push(&record(step, &[2.0]));
        }
        log
    }

    fn record(step: usize, by_tensor: &[f32]) -> StepRecord<'_> {
        StepRecord { loss: step as f32, gradient_norm: 1.0, by_tensor }
    }

    #[test]
    fn rows_come_back_over_the_edges_of_chunks() {
        for steps in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK] {
            let log = log(steps);
            assert_eq!((log.len(), log.is_empty()), (steps, steps == 0));
            assert!(log.steps().enumerate().all(|(step, row)| row == record(step, &[2.0])), "{steps}");
            assert_eq!(log.steps().count(), steps);
        }
        assert_eq!(log(CHUNK + 2).mean_loss(CHUNK - 1, CHUNK + 2), CHUNK as f64);
        assert!(log(5).mean_loss(5, 9).is_nan());
    }

    #[test]
    fn a_clone_shares_and_stays() {
        let mut log = log(CHUNK + 5);
        let before = log.clone();
        assert!(before.is_same(&log));
        log.push(&record(7, &[7.0]));
        assert!(!before.is_same(&log) && before.len() == CHUNK + 5 && log.len() == CHUNK + 6);
        assert!(Arc::ptr_eq(&before.chunks[0], &log.chunks[0]), "full chunks are never copied");
        assert_eq!(log.truncated(CHUNK + 5), before);
    }

    #[test]
    fn a_shorter_log_is_the_beginning() {
        let all = log(2 * CHUNK + 9);
        for steps in [0, 1, CHUNK, CHUNK + 1, 2 * CHUNK, 2 * CHUNK + 9] {
            assert_eq!(all.truncated(steps), log(steps), "{steps}");
        }
    }
}
