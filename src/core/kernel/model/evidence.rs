//! Questions to a lesson's model, and the map of its sentence: started, advanced and shown.

use std::sync::Arc;

use super::LessonModel;
use crate::kernel::evidence::Evidence;
use crate::kernel::evidence::live::{LiveMap, Mapped, SentenceMap};
use crate::lesson::recorded::ONE_PASS;

impl LessonModel {
    /// Puts questions to the model with the weights in use.
    ///
    /// # Errors
    /// In words for the learner, if it is a recording.
    pub fn evidence(&self) -> Result<Evidence<'_>, String> {
        if self.is_recorded() {
            return Err(ONE_PASS.to_owned());
        }
        Ok(Evidence {
            lesson: &self.origin.lesson,
            model: self.training.network(),
            parameters: self.training.live(),
            space: &self.space,
            classes: &self.classes,
            targets: self.pass.targets().map(|targets| &**targets),
        })
    }

    fn mapped(&self) -> Mapped {
        Mapped {
            frame: self.pass.frame().clone(),
            second: self.pass.second_frame().cloned(),
            parameters: self.training.live().clone(),
        }
    }

    /// Starts the map of the sentence on the stage.
    ///
    /// # Errors
    /// In words for the learner, if there is no answer to map.
    pub(super) fn start_map(&self) -> Result<(), String> {
        let map = LiveMap::of(self.mapped(), self.evidence()?)?;
        *self.cache.map.borrow_mut() = Some(map);
        Ok(())
    }

    pub(super) fn end_map(&self) {
        self.cache.map.take();
    }

    /// Returns whether cells of the map are still to be computed.
    pub fn has_map_pending(&self) -> bool {
        self.cache.map.borrow().as_ref().is_some_and(|map| !map.is_done() && map.is_of(&self.mapped()))
    }

    /// Computes the next cells of the map.
    pub fn advance_map(&self) {
        if let (Some(map), Ok(evidence)) = (&mut *self.cache.map.borrow_mut(), self.evidence()) {
            map.advance(evidence);
        }
    }

    /// Returns the map of what is on the stage, if there is one.
    pub(super) fn map_snapshot(&self) -> Option<Arc<SentenceMap>> {
        let map = self.cache.map.borrow();
        let map = map.as_ref().filter(|map| map.is_of(&self.mapped()))?;
        Some(Arc::new(map.snapshot(self.evidence().ok()?)))
    }
}
