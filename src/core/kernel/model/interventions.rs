//! Commands of the interventions: heads, temperature, scale, mask, edges, a patch.

use std::sync::Arc;

use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::model::activations::Interventions;

use super::{Drag, LessonModel, ScenePart};
use crate::kernel::command::InterventionCommand;
use crate::kernel::scene::interventions::{self, check_mask, check_temperature};
use crate::lesson::schema::Lesson;

impl LessonModel {
    pub(super) fn apply_to_interventions(
        &mut self,
        command: InterventionCommand,
        last: Option<Drag>,
        lesson: &Lesson,
    ) -> Result<(), String> {
        match command {
            InterventionCommand::SetHead { head, mode } => {
                let gain = matches!(mode, HeadMode::Gain(_)).then_some(Drag::Gain(head));
                self.set_head(head, mode, gain.is_some() && last == gain)?;
                self.last_drag = gain;
            }
            InterventionCommand::Solo(solo) => self.solo(solo)?,
            InterventionCommand::SetTemperature(temperature) => {
                temperature.map_or(Ok(()), check_temperature)?;
                let label = temperature.map_or("temperature of the lesson".to_owned(), |t| format!("temperature {t}"));
                let goes_on = last == Some(Drag::Temperature);
                self.intervene(&label, goes_on, |changed| changed.temperature = temperature);
                self.last_drag = Some(Drag::Temperature);
            }
            InterventionCommand::SetScale(scale) => {
                let label = scale.map_or("scale of the lesson", |on| if on { "scale on" } else { "scale off" });
                self.intervene(label, false, |changed| changed.scale = scale);
            }
            InterventionCommand::ToggleMask { query, key } => {
                let mask = self.scene.toggled_mask(&self.training.trainer().model, (query, key))?;
                self.intervene("mask", false, |changed| changed.mask = mask);
            }
            InterventionCommand::SetMask(mask) => {
                mask.as_ref().map_or(Ok(()), |mask| check_mask(mask, self.scene.tokens().len()))?;
                self.intervene("mask", false, |changed| changed.mask = mask);
            }
            InterventionCommand::ResetMask => {
                self.intervene("reset of the mask", false, |changed| changed.mask = None);
            }
            InterventionCommand::SetEdge { edge, is_removed } => {
                self.check_head(edge.head)?;
                self.scene.check_edge(&self.training.trainer().model, edge)?;
                let edges = interventions::with_edge(&self.scene.interventions().edges, edge, is_removed)?;
                let label = if is_removed { "removal of an edge" } else { "return of an edge" };
                self.intervene(label, false, |changed| changed.edges = edges);
            }
            InterventionCommand::SetPatch(patch) => {
                let (model, live) = (&self.training.trainer().model, self.training.model().live());
                let patch = patch.map(|patch| self.scene.patch(patch, &self.cache, model, live)).transpose()?;
                let label = if patch.is_some() { "patch" } else { "end of the patch" };
                self.intervene(label, false, |changed| changed.patch = patch);
            }
            InterventionCommand::Reset => {
                let none = interventions::none(&lesson.model.architecture);
                self.intervene("reset of the interventions", false, |changed| *changed = none);
            }
        }
        Ok(())
    }

    /// Changes the interventions; `goes_on` as in [`Self::change_model`].
    pub(in crate::kernel) fn intervene(
        &mut self,
        label: &str,
        goes_on: bool,
        change: impl FnOnce(&mut Interventions<f32>),
    ) {
        let mut changed = Interventions::clone(self.scene.interventions());
        change(&mut changed);
        if changed != **self.scene.interventions() {
            let before = self.scene.set_interventions(Arc::new(changed));
            self.remember(label, goes_on, ScenePart::Interventions(before));
        }
    }

    fn set_head(&mut self, head: usize, mode: HeadMode<f32>, goes_on: bool) -> Result<(), String> {
        self.check_head(head)?;
        let label = format!("head {} {}", head + 1, mode.words().name);
        let (model, live) = (&self.training.trainer().model, self.training.model().live());
        let mode = self.scene.mode(mode, head, &self.cache, model, live)?;
        self.intervene(&label, goes_on, |changed| changed.heads[head] = mode);
        Ok(())
    }

    fn solo(&mut self, solo: Option<usize>) -> Result<(), String> {
        solo.map_or(Ok(()), |head| self.check_head(head))?;
        let label = solo.map_or("all heads on".to_owned(), |head| format!("head {} alone", head + 1));
        self.intervene(&label, false, |changed| {
            for (head, mode) in changed.heads.iter_mut().enumerate() {
                *mode = if solo.is_none_or(|solo| solo == head) { HeadMode::Live } else { HeadMode::Off };
            }
        });
        Ok(())
    }

    fn check_head(&self, head: usize) -> Result<(), String> {
        let heads = self.scene.interventions().heads.len();
        if head < heads {
            Ok(())
        } else {
            Err(format!("there is no head {}: the model has {heads}", head.saturating_add(1)))
        }
    }
}
