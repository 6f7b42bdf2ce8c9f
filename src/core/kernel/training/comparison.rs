//! The weights in use beside others: the difference as data.

use std::sync::Arc;

use attune_engine::numerics::params::Parameters;
use attune_engine::numerics::tensor_norms::TensorNorms;

use crate::kernel::command::Reference;
use crate::kernel::snapshot::ComparisonSnapshot;
use crate::kernel::training::run::Replay;
use crate::kernel::training::weights::WeightState;

/// The weights that those in use are compared with.
#[derive(Clone)]
pub enum Comparison {
    /// The trained weights at the step that is shown.
    Trained,
    Start(Arc<Parameters<f32>>),
    /// A step of the line that was the present one when it was asked for: it stays when a branch leaves
    /// that line, so that two lines can be compared.
    Step(Replay),
}

impl Comparison {
    /// The reference that was asked for.
    pub fn reference(&self) -> Reference {
        match self {
            Comparison::Trained => Reference::Trained,
            Comparison::Start(_) => Reference::Start,
            Comparison::Step(replay) => Reference::Step(replay.target),
        }
    }

    /// Its line is left: the step that it has come to is the one that is compared with.
    pub fn settle(&mut self) {
        if let Comparison::Step(replay) = self {
            replay.settle();
        }
    }

    pub fn snapshot(&self, model: &WeightState) -> ComparisonSnapshot {
        let (with, reference) = match self {
            Comparison::Trained => (Reference::Trained, model.trained()),
            Comparison::Start(parameters) => (Reference::Start, parameters),
            Comparison::Step(Replay { state, .. }) => (Reference::Step(state.steps_done()), &state.parameters),
        };
        let difference = model.live().less(reference);
        let norms = TensorNorms::of(&difference);
        ComparisonSnapshot {
            with,
            reference: reference.clone(),
            difference: Arc::new(difference),
            norms: Arc::new(norms),
        }
    }
}
