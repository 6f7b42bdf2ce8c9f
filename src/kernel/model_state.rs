//! The weights: as training left them, and in use; at the latest step, or at a past one looked at.

use std::sync::Arc;

use super::line::{Line, Lookback, RestingLine};
use super::trainer::{Trainer, TrainingState};
use crate::numerics::params::Parameters;

/// Parameters with the learner's changes; `None` where they are as training left them.
type Edited = Option<Arc<Parameters<f32>>>;

/// As training left them, and as they are in use.
pub type EditedParameters = (Arc<Parameters<f32>>, Arc<Parameters<f32>>);

pub struct ModelState {
    pub line: Line,
    /// At the latest step.
    edited: Edited,
    /// The past step that is shown instead of the latest.
    look: Option<Look>,
}

#[derive(Clone)]
struct Look {
    at: Lookback,
    /// At the step looked at.
    edited: Edited,
}

impl ModelState {
    /// At the initialisation.
    pub fn new(trainer: &Trainer) -> Self {
        Self { line: Line::new(trainer), edited: None, look: None }
    }

    /// The training at the step that is shown.
    pub fn shown(&self) -> &Arc<TrainingState> {
        self.look.as_ref().map_or(self.line.latest(), |look| &look.at.state)
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
    /// turned there, if they were.
    pub fn edited_latest(&self) -> Option<EditedParameters> {
        let edited = self.edited.as_ref().filter(|_| self.look.is_some())?;
        Some((self.line.latest().parameters.clone(), edited.clone()))
    }

    pub fn is_edited(&self) -> bool {
        !Arc::ptr_eq(self.live(), self.trained())
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

    pub fn lookback(&self) -> Option<&Lookback> {
        self.look.as_ref().map(|look| &look.at)
    }

    /// Shows a past step.
    pub fn look(&mut self, step: usize, trainer: &Trainer) {
        let at = self.line.look_at(step, self.lookback(), trainer);
        self.look = Some(Look { at, edited: None });
    }

    /// The next steps on the way to the step looked at.
    pub fn bring_look(&mut self, trainer: &mut Trainer, steps: usize) {
        if let Some(look) = &mut self.look {
            self.line.bring(&mut look.at, trainer, steps);
        }
    }

    /// Shows the latest step.
    pub fn look_no_more(&mut self) {
        self.look = None;
    }

    /// The weights in use become those that training goes on from, at the latest step.
    ///
    /// # Errors
    /// In words for the learner, if the line would have to remember too much; nothing has changed then.
    pub fn commit_edits(&mut self) -> Result<(), String> {
        if let Some(edited) = &self.edited {
            self.line.set_parameters(edited.clone())?;
        }
        self.edited = None;
        Ok(())
    }

    /// The step that is shown becomes the latest of a line of its own; what was turned there stays turned.
    pub fn branch(&self) -> ModelState {
        let edited = self.look.as_ref().map_or(&self.edited, |look| &look.edited).clone();
        ModelState { line: self.line.branch(self.shown()), edited, look: None }
    }

    /// As undo remembers it.
    pub fn rest(&self) -> RestingModel {
        RestingModel { line: self.line.rest(), edited: self.edited.clone(), look: self.look.clone() }
    }
}

pub struct RestingModel {
    line: RestingLine,
    edited: Edited,
    look: Option<Look>,
}

impl RestingModel {
    /// What it keeps in memory, in bytes: the latest state and one looked at, each with edits.
    pub fn bytes(&self) -> usize {
        let edits = |edited: &Edited| edited.as_ref().map_or(0, |live| size_of_val(live.flat()));
        let look = self.look.as_ref().map_or(0, |look| look.at.state.bytes() + edits(&look.edited));
        size_of::<Self>() + self.line.bytes() + edits(&self.edited) + look
    }

    pub fn wake(self) -> ModelState {
        ModelState { line: self.line.wake(), edited: self.edited, look: self.look }
    }
}
