//! The Training panel: the loss curve and where training stands.

use std::sync::Arc;

use crate::kernel::snapshot::Snapshot;
use crate::numerics::params::TensorName;

#[derive(Clone, Debug, PartialEq)]
pub struct TrainingModel {
    pub stage: TrainingStage,
    pub step: usize,
    pub steps: usize,
    /// Mean cross-entropy of each step, in nats.
    pub losses: Arc<Vec<f32>>,
    /// The loss of a model that knows nothing: the logarithm of how many words it chooses among.
    pub chance: f32,
    /// `toy model, 4,736 parameters, trained on 1,200 sentences of 96 words`
    pub honest_label: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TrainingStage {
    /// The static vectors, in epochs.
    Embedding {
        done: usize,
        of: usize,
    },
    Playing,
    Paused,
    Finished,
    Diverged,
}

impl TrainingModel {
    pub fn of(snapshot: &Snapshot) -> TrainingModel {
        let embedding =
            TrainingStage::Embedding { done: snapshot.embedding_progress.done, of: snapshot.embedding_progress.of };
        let sentences = snapshot.lesson.corpus.sentences;
        let words = snapshot.space.as_ref().map_or(0, |space| space.vocabulary.len());
        let (stage, step, losses, parameters, candidates) = match &snapshot.model {
            None => (embedding, 0, Arc::default(), 0, words),
            Some(model) => {
                let training = &model.training;
                let stage = match training {
                    t if t.diverged => TrainingStage::Diverged,
                    t if t.playing => TrainingStage::Playing,
                    t if t.progress.done >= t.progress.of => TrainingStage::Finished,
                    _ => TrainingStage::Paused,
                };
                let candidates = model.parameters.values_of(TensorName::LogitBias).len();
                (stage, training.progress.done, training.losses.clone(), model.parameters.len(), candidates)
            }
        };
        TrainingModel {
            stage,
            step,
            steps: snapshot.lesson.model.steps,
            losses,
            chance: (candidates.max(1) as f32).ln(),
            honest_label: format!("toy model · {parameters} parameters · {sentences} sentences · {words} words"),
        }
    }
}
