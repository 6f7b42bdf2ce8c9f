//! The weights: as trained and as in use, at the latest step or at a past step that is shown; and their comparison with
//! others.

use std::sync::Arc;

use attune_engine::numerics::params::Parameters;
use attune_engine::numerics::tensor_norms::TensorNorms;

use crate::kernel::training::cache::StepCache;
use crate::kernel::training::run::{Replay, TrainingRun};
use crate::kernel::training::trainer::{Trainer, TrainingState};

/// Parameters with the learner's edits, or `None` if there are no edits.
type Edited = Option<Arc<Parameters<f32>>>;

/// The parameters as trained, and as in use.
pub type EditedParameters = (Arc<Parameters<f32>>, Arc<Parameters<f32>>);

#[derive(Clone)]
pub struct WeightState {
    pub run: TrainingRun,
    /// Edits at the latest step.
    edited: Edited,
    /// The past step that is shown instead of the latest.
    look: Option<Look>,
}

#[derive(Clone)]
struct Look {
    at: Replay,
    /// Edits at the step that is shown.
    edited: Edited,
}

impl WeightState {
    /// Creates the weights at the initialisation.
    pub fn new(start: &Arc<TrainingState>) -> Self {
        Self { run: TrainingRun::new(start), edited: None, look: None }
    }

    /// Returns the weights at the latest step, without edits.
    pub fn untouched(&self) -> Self {
        Self { run: self.run.clone(), edited: None, look: None }
    }

    /// Returns the training state at the step that is shown.
    pub fn shown(&self) -> &Arc<TrainingState> {
        self.look.as_ref().map_or(self.run.latest(), |look| &look.at.state)
    }

    /// Returns the parameters as trained, at the step that is shown.
    pub fn trained(&self) -> &Arc<Parameters<f32>> {
        &self.shown().parameters
    }

    /// Returns the parameters in use.
    pub fn live(&self) -> &Arc<Parameters<f32>> {
        let edited = self.look.as_ref().map_or(&self.edited, |look| &look.edited);
        edited.as_ref().unwrap_or(self.trained())
    }

    /// Returns the weights at the latest step, as trained and as edited, if a past step is shown and there are edits at
    /// the latest.
    pub fn edited_latest(&self) -> Option<EditedParameters> {
        let edited = self.edited.as_ref().filter(|_| self.look.is_some())?;
        Some((self.run.latest().parameters.clone(), edited.clone()))
    }

    pub fn is_edited(&self) -> bool {
        !Arc::ptr_eq(self.live(), self.trained())
    }

    /// Returns whether no step has been done and nothing has been changed since the initialisation.
    pub fn is_at_start(&self) -> bool {
        let run = &self.run;
        let is_fresh = run.steps_done() == 0 && run.changes().last().is_none() && run.diverged.is_none();
        is_fresh && self.edited.is_none() && self.look.is_none()
    }

    /// Replaces the weights in use and keeps the trained ones.
    pub fn edit(&mut self, live: Arc<Parameters<f32>>) {
        let changed = (live != *self.trained()).then_some(live);
        *self.look.as_mut().map_or(&mut self.edited, |look| &mut look.edited) = changed;
    }

    /// Discards the edits of the weights in use.
    pub fn discard_edits(&mut self) {
        *self.look.as_mut().map_or(&mut self.edited, |look| &mut look.edited) = None;
    }

    pub fn replay(&self) -> Option<&Replay> {
        self.look.as_ref().map(|look| &look.at)
    }

    /// Shows a past step without edits, from the nearest state that is known; the steps after this state are still to
    /// be computed.
    pub fn look(&mut self, step: usize, cache: &StepCache) {
        let at = self.run.look_at(step, self.replay(), cache);
        self.look = Some(Look { at, edited: None });
    }

    /// Computes the next steps towards the past step that was requested.
    pub fn advance_look(&mut self, trainer: &Trainer, cache: &mut StepCache, steps: usize) {
        if let Some(look) = &mut self.look {
            self.run.advance(&mut look.at, trainer, cache, steps);
        }
    }

    /// Shows the latest step.
    pub fn end_look(&mut self) {
        self.look = None;
    }

    /// Makes the weights in use at the latest step those from which training continues.
    ///
    /// # Errors
    /// A message for the learner if the run would have to remember too many changes. Nothing is changed in that case.
    pub fn commit_edits(&mut self) -> Result<(), String> {
        if let Some(edited) = &self.edited {
            self.run.set_parameters(edited.clone())?;
        }
        self.edited = None;
        Ok(())
    }

    /// Returns the weights of a new run whose latest step is the one that is shown; edits made there stay.
    pub fn branch(&self) -> WeightState {
        let edited = self.look.as_ref().map_or(&self.edited, |look| &look.edited).clone();
        WeightState { run: self.run.branch(self.shown()), edited, look: None }
    }

    /// Returns the size of the numbers, in bytes: of the latest state and the one that is shown, each with its edits.
    pub fn bytes(&self) -> usize {
        let beside = |edited: &Edited, state: &TrainingState| {
            state.bytes() + edited.as_ref().map_or(0, |live| live.bytes_beside(&state.parameters))
        };
        let look = self.look.as_ref().map_or(0, |look| beside(&look.edited, &look.at.state));
        beside(&self.edited, self.run.latest()) + look
    }
}

/// The weights with which those in use are compared.
#[derive(Clone)]
pub enum Comparison {
    /// The trained weights at the step that is shown.
    Trained,
    Start(Arc<Parameters<f32>>),
    /// A step of the run at the time of the request. It stays when the learner branches off, so that two runs can be
    /// compared.
    Step(Replay),
}

impl Comparison {
    /// Returns the reference that was requested.
    pub fn reference(&self) -> Reference {
        match self {
            Comparison::Trained => Reference::Trained,
            Comparison::Start(_) => Reference::Start,
            Comparison::Step(replay) => Reference::Step(replay.target),
        }
    }

    /// Ends the computation of the reference when its run is left; the comparison is then with the step reached so far.
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

/// Weights that can be compared with those in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// The trained weights at the step that is shown.
    Trained,
    /// The initialisation.
    Start,
    /// The weights after a step of the training.
    Step(usize),
}

/// Two sets of parameters and their difference.
#[derive(Clone, Debug)]
pub struct ComparisonSnapshot {
    /// The reference of the comparison. If its step is still being computed, this is the step reached so far.
    pub with: Reference,
    pub reference: Arc<Parameters<f32>>,
    /// The parameters in use minus those of the reference.
    pub difference: Arc<Parameters<f32>>,
    /// Norms of the difference.
    pub norms: Arc<TensorNorms>,
}
