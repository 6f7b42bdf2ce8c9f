//! Changes of the forward pass: modes of heads, temperature and scale, masks, edges and patches.

use std::ops::Range;
use std::sync::Arc;

use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::model::activations::Interventions;

use crate::kernel::command::InterventionCommand;
use crate::kernel::model::{LessonModel, UndoPart};
use crate::kernel::sentence_pass::interventions::{self, check_mask, check_temperature};
use crate::lesson::schema::Lesson;

impl LessonModel {
    pub(crate) fn apply_to_interventions(
        &mut self,
        command: InterventionCommand,
        lesson: &Lesson,
    ) -> Result<(), String> {
        match command {
            InterventionCommand::SetHead { head, mode } => {
                self.check_head(head)?;
                self.set_heads(head..head + 1, &mode)?;
            }
            InterventionCommand::SetHeads { heads, mode } => self.set_heads(heads, &mode)?,
            InterventionCommand::Solo(solo) => self.solo(solo)?,
            InterventionCommand::SetTemperature(temperature) => {
                temperature.map_or(Ok(()), check_temperature)?;
                let label = temperature.map_or("temperature of the lesson".to_owned(), |t| format!("temperature {t}"));
                self.intervene(&label, |changed| changed.temperature = temperature);
            }
            InterventionCommand::SetScale(scale) => {
                let label = scale.map_or("scale of the lesson", |on| if on { "scale on" } else { "scale off" });
                self.intervene(label, |changed| changed.scale = scale);
            }
            InterventionCommand::ToggleMask { query, key } => {
                let architecture = &self.training.network().architecture;
                let (now, tokens) = (self.pass.interventions(), self.pass.tokens().len());
                let mask = interventions::toggled(architecture, now, tokens, query, key)?;
                self.intervene("mask", |changed| changed.mask = mask);
            }
            InterventionCommand::SetMask(mask) => {
                mask.as_ref().map_or(Ok(()), |mask| check_mask(mask, self.pass.tokens().len()))?;
                self.intervene("mask", |changed| changed.mask = mask);
            }
            InterventionCommand::ResetMask => {
                self.intervene("reset of the mask", |changed| changed.mask = None);
            }
            InterventionCommand::SetEdge { edge, is_removed } => {
                self.check_head(edge.head)?;
                self.pass.check_edge(&self.training.network().architecture, edge)?;
                let edges = interventions::with_edge(&self.pass.interventions().edges, edge, is_removed)?;
                let label = if is_removed { "removal of an edge" } else { "return of an edge" };
                self.intervene(label, |changed| changed.edges = edges);
            }
            InterventionCommand::SetPatch(patch) => {
                let patch =
                    patch.map(|patch| self.pass.patch(patch, &self.cache.passes, &self.training)).transpose()?;
                let label = if patch.is_some() { "patch" } else { "end of the patch" };
                self.intervene(label, |changed| changed.patch = patch);
            }
            InterventionCommand::Reset => {
                let none = interventions::none(&lesson.model.architecture);
                self.intervene("reset of the interventions", |changed| *changed = none);
            }
        }
        Ok(())
    }

    /// Changes the interventions, and remembers the earlier ones for undo.
    pub(crate) fn intervene(&mut self, label: &str, change: impl FnOnce(&mut Interventions<f32>)) {
        let mut changed = Interventions::clone(self.pass.interventions());
        change(&mut changed);
        if changed != **self.pass.interventions() {
            let before = self.pass.set_interventions(Arc::new(changed));
            self.remember(label, UndoPart::Interventions(before));
        }
    }

    fn set_heads(&mut self, heads: Range<usize>, mode: &HeadMode<f32>) -> Result<(), String> {
        if heads.is_empty() {
            return Err("there is no head to set".to_owned());
        }
        self.check_head(heads.end - 1)?;
        let label = format!("{} {}", self.heads_label(&heads), mode.words().name);
        let modes = heads.clone().map(|head| self.pass.mode(mode.clone(), head, &self.cache.passes, &self.training));
        let modes = modes.collect::<Result<Vec<_>, _>>()?;
        self.intervene(&label, |changed| changed.heads[heads].clone_from_slice(&modes));
        Ok(())
    }

    /// Names some heads, as in `head 3`; `layer 2, head 3`; `layer 2, all heads`; `layer 1, head 2 to layer 2, head 1`.
    fn heads_label(&self, heads: &Range<usize>) -> String {
        let architecture = &self.training.network().architecture;
        let name = |head: usize| architecture.head_name(head);
        let (block, ..) = architecture.head(heads.start);
        if heads.len() == 1 {
            name(heads.start)
        } else if *heads == architecture.heads_of(block) {
            let block = architecture.block_name(block);
            if block.is_empty() { "all heads".to_owned() } else { format!("{block}, all heads") }
        } else {
            format!("{} to {}", name(heads.start), name(heads.end - 1))
        }
    }

    fn solo(&mut self, solo: Option<usize>) -> Result<(), String> {
        solo.map_or(Ok(()), |head| self.check_head(head))?;
        let label =
            solo.map_or("all heads on".to_owned(), |head| format!("only {} on", self.heads_label(&(head..head + 1))));
        self.intervene(&label, |changed| {
            for (head, mode) in changed.heads.iter_mut().enumerate() {
                *mode = if solo.is_none_or(|solo| solo == head) { HeadMode::Live } else { HeadMode::Off };
            }
        });
        Ok(())
    }

    fn check_head(&self, head: usize) -> Result<(), String> {
        self.training.network().architecture.check_head(head)
    }
}
