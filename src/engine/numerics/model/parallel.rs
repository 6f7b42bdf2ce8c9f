//! A training step shared by threads: each takes some of the batch's sentences, with a workspace of
//! its own. Worth it for real sizes only: to start a thread takes longer than a step of a tiny model.
//!
//! The same number of threads gives the same numbers; another one adds in another order.

use super::{AttentionModel, Batch, Pooling, Workspace, model_backward, model_forward};
use crate::numerics::Scalar;
use crate::numerics::attention::Room;
use crate::numerics::optimiser::Optimiser;
use crate::numerics::parallel::each;
use crate::numerics::params::Parameters;
use crate::numerics::simd::vectorized;

/// The shares of the threads.
pub struct Shards<S> {
    shards: Vec<Shard<S>>,
}

struct Shard<S> {
    batch: Batch,
    workspace: Workspace<S>,
    /// The share of all targets.
    share: S,
    loss: S,
}

impl<S: Scalar + Send + Sync> Shards<S> {
    /// Splits a batch by its sentences, as evenly as they come.
    ///
    /// # Panics
    /// If there are no threads.
    pub fn new(model: &AttentionModel<S>, batch: &Batch, threads: usize) -> Self {
        let sentences = batch.input.rows.count();
        let count = threads.min(sentences.max(1));
        assert!(count > 0, "shards: for no threads");
        let of_rows = model.architecture.pooling == Pooling::Every;
        let shards = (0..count).map(|i| {
            let part = batch.sentences(i * sentences / count..(i + 1) * sentences / count, of_rows);
            let share = part.targets.len() as f64 / batch.targets.len().max(1) as f64;
            let workspace = Workspace::new(model, Room::of(&part.input.rows), Room::of(&part.source.rows));
            Shard { batch: part, workspace, share: S::from_f64(share), loss: S::zero() }
        });
        Self { shards: shards.collect() }
    }

    /// The mean loss over the targets of the whole batch; the gradients stay with the shards.
    pub fn gradient(&mut self, model: &AttentionModel<S>, parameters: &Parameters<S>) -> S {
        each(self.shards.iter_mut(), |Shard { batch, workspace, loss, .. }| {
            *loss = model_forward(model, parameters, batch, workspace);
            model_backward(model, parameters, batch, workspace);
        });
        self.shards.iter().map(|shard| shard.share * shard.loss).sum()
    }

    /// One step of descent along the gradient of the whole batch.
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
