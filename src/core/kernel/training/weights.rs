//! The weights: as training left them, and in use; at the latest step, or at a past one looked at; and their
//! comparison with others.

use std::sync::Arc;

use attune_engine::numerics::params::Parameters;
use attune_engine::numerics::tensor_norms::TensorNorms;

use crate::kernel::training::cache::StepCache;
use crate::kernel::training::run::{Replay, TrainingRun};
use crate::kernel::training::trainer::{Trainer, TrainingState};

/// Parameters with the learner's changes; `None` where they are as training left them.
type Edited = Option<Arc<Parameters<f32>>>;

/// As training left them, and as they are in use.
pub type EditedParameters = (Arc<Parameters<f32>>, Arc<Parameters<f32>>);

#[derive(Clone)]
pub struct WeightState {
    pub run: TrainingRun,
    /// At the latest step.
    edited: Edited,
    /// The past step that is shown instead of the latest.
    look: Option<Look>,
}

#[derive(Clone)]
struct Look {
    at: Replay,
    /// At the step looked at.
    edited: Edited,
}

impl WeightState {
    /// At the initialisation.
    pub fn new(start: &Arc<TrainingState>) -> Self {
        Self { run: TrainingRun::new(start), edited: None, look: None }
    }

    /// The latest step, as training left it.
    pub fn untouched(&self) -> Self {
        Self { run: self.run.clone(), edited: None, look: None }
    }

    /// The training at the step that is shown.
    pub fn shown(&self) -> &Arc<TrainingState> {
        self.look.as_ref().map_or(self.run.latest(), |look| &look.at.state)
    }

    /// As training left them at the step that is shown.
    pub fn trained(&self) -> &Arc<Parameters<f32>> {
        &self.shown().parameters
    }

    /// In use.
    pub fn live(&self) -> &Arc<Parameters<f32>> {
        let edited = self.look.as_ref().map_or(&self.edited, |look| &look.edited);
        edited.as_ref().unwrap_or(self.trained())
    }

    /// While a past step is shown: the weights at the latest one, as training left them and as they were
    /// edited there, if they were.
    pub fn edited_latest(&self) -> Option<EditedParameters> {
        let edited = self.edited.as_ref().filter(|_| self.look.is_some())?;
        Some((self.run.latest().parameters.clone(), edited.clone()))
    }

    pub fn is_edited(&self) -> bool {
        !Arc::ptr_eq(self.live(), self.trained())
    }

    /// The initialisation, with no change of it.
    pub fn is_at_start(&self) -> bool {
        let run = &self.run;
        let is_fresh = run.steps_done() == 0 && run.changes().last().is_none() && run.diverged.is_none();
        is_fresh && self.edited.is_none() && self.look.is_none()
    }

    /// Takes the place of the weights in use, beside what training left.
    pub fn edit(&mut self, live: Arc<Parameters<f32>>) {
        let changed = (live != *self.trained()).then_some(live);
        *self.look.as_mut().map_or(&mut self.edited, |look| &mut look.edited) = changed;
    }

    /// Back to what training left.
    pub fn discard_edits(&mut self) {
        *self.look.as_mut().map_or(&mut self.edited, |look| &mut look.edited) = None;
    }

    pub fn replay(&self) -> Option<&Replay> {
        self.look.as_ref().map(|look| &look.at)
    }

    /// Shows a past step.
    pub fn look(&mut self, step: usize, cache: &StepCache) {
        let at = self.run.look_at(step, self.replay(), cache);
        self.look = Some(Look { at, edited: None });
    }

    /// The next steps on the way to the step looked at.
    pub fn advance_look(&mut self, trainer: &Trainer, cache: &mut StepCache, steps: usize) {
        if let Some(look) = &mut self.look {
            self.run.advance(&mut look.at, trainer, cache, steps);
        }
    }

    /// Shows the latest step.
    pub fn end_look(&mut self) {
        self.look = None;
    }

    /// The weights in use become those that training goes on from, at the latest step.
    ///
    /// # Errors
    /// In words for the learner, if the run would have to remember too much; nothing has changed then.
    pub fn commit_edits(&mut self) -> Result<(), String> {
        if let Some(edited) = &self.edited {
            self.run.set_parameters(edited.clone())?;
        }
        self.edited = None;
        Ok(())
    }

    /// The step that is shown becomes the latest of a run of its own; edits made there stay.
    pub fn branch(&self) -> WeightState {
        let edited = self.look.as_ref().map_or(&self.edited, |look| &look.edited).clone();
        WeightState { run: self.run.branch(self.shown()), edited, look: None }
    }

    /// Size of the numbers that it holds, in bytes: the latest state and the one looked at, each with its edits.
    pub fn bytes(&self) -> usize {
        let beside = |edited: &Edited, state: &TrainingState| {
            state.bytes() + edited.as_ref().map_or(0, |live| live.bytes_beside(&state.parameters))
        };
        let look = self.look.as_ref().map_or(0, |look| beside(&look.edited, &look.at.state));
        beside(&self.edited, self.run.latest()) + look
    }
}

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

/// Weights to compare those in use with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reference {
    /// The weights as training left them at the step that is shown.
    Trained,
    /// The initialisation.
    Start,
    /// After a step of the training.
    Step(usize),
}

/// Two sets of parameters side by side.
#[derive(Clone, Debug)]
pub struct ComparisonSnapshot {
    /// The reference of the comparison. A step that is still being recalled is the one
    /// that the recall has come to.
    pub with: Reference,
    pub reference: Arc<Parameters<f32>>,
    /// The parameters in use less those of the reference.
    pub difference: Arc<Parameters<f32>>,
    /// Norms of the difference.
    pub norms: Arc<TensorNorms>,
}
