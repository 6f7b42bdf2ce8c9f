//! A training step on several threads. Each takes some of the batch's sentences and has its own workspace. This pays
//! off for realistic sizes only, because starting a thread takes longer than a step of a tiny model.
//!
//! Apart from the batch and the parameters, results depend only on the number of threads, which determines the order of
//! addition.

use crate::numerics::Scalar;
use crate::numerics::attention::BatchRoom;
use crate::numerics::model::{AttentionModel, Batch, Pooling, StepWorkspace, model_backward, model_forward};
use crate::numerics::optimiser::Optimiser;
use crate::numerics::parallel::each;
use crate::numerics::params::Parameters;
use crate::numerics::simd::vectorized;

/// The parts of a batch, one for each thread.
pub struct Shards<S> {
    shards: Vec<Shard<S>>,
}

struct Shard<S> {
    batch: Batch,
    workspace: StepWorkspace<S>,
    /// Share of the batch's targets that are in this part: the factor that makes the part's mean over its own targets
    /// a mean over all. The loss of a part without targets, which is of kept rows only, is divided by 1.
    share: S,
    loss: S,
}

impl<S: Scalar + Send + Sync> Shards<S> {
    /// Splits a batch by its sentences as evenly as possible.
    ///
    /// # Panics
    /// If `threads` is 0.
    pub fn new(model: &AttentionModel<S>, batch: &Batch, threads: usize) -> Self {
        let sentences = batch.input.rows.count();
        let count = threads.min(sentences.max(1));
        assert!(count > 0, "shards: for no threads");
        let of_rows = model.architecture.pooling == Pooling::Every;
        let shards = (0..count).map(|i| {
            let part = batch.sentences(i * sentences / count..(i + 1) * sentences / count, of_rows);
            let share = part.targets.len().max(1) as f64 / batch.targets.len().max(1) as f64;
            let workspace =
                StepWorkspace::new(model, BatchRoom::of(&part.input.rows), BatchRoom::of(&part.source.rows));
            Shard { batch: part, workspace, share: S::from_f64(share), loss: S::zero() }
        });
        Self { shards: shards.collect() }
    }

    /// Computes the mean loss over the targets of the whole batch; the gradients stay in the shards.
    pub fn gradient(&mut self, model: &AttentionModel<S>, parameters: &Parameters<S>) -> S {
        each(self.shards.iter_mut(), |Shard { batch, workspace, loss, .. }| {
            *loss = model_forward(model, parameters, batch, workspace);
            model_backward(model, parameters, batch, workspace);
        });
        self.shards.iter().map(|shard| shard.share * shard.loss).sum()
    }

    /// Takes one step of the optimiser along the gradient of the whole batch.
    pub fn update(&mut self, optimiser: &mut Optimiser<S>, parameters: &mut Parameters<S>) {
        let threads = self.shards.len();
        if let [first, others @ ..] = &mut self.shards[..]
            && !others.is_empty()
        {
            let gradient = first.workspace.gradient.flat_mut();
            let size = gradient.len().div_ceil(threads);
            let chunks = gradient.chunks_mut(size).enumerate();
            each(chunks, |(i, chunk)| {
                let range = i * size..i * size + chunk.len();
                vectorized!(chunk.iter_mut().for_each(
                    #[inline(always)]
                    |g| *g *= first.share
                ));
                for Shard { workspace, share, .. } in &*others {
                    let from = &workspace.gradient.flat()[range.clone()];
                    vectorized!(chunk.iter_mut().zip(from).for_each(
                        #[inline(always)]
                        |(g, &x)| *g += *share * x
                    ));
                }
            });
        }
        optimiser.update_on(threads, parameters, &self.shards[0].workspace.gradient);
    }
}
