//! Questions to a lesson's model, and the map of its sentence: started, advanced and shown. Questions are answered on
//! threads of their own; the kernel computes the map itself, some cells at a time.

use std::sync::Arc;

use super::{LessonModel, UndoPart};
use crate::kernel::evidence::job::{Asked, Job, OwnModel, Subject};
use crate::kernel::evidence::live::{LiveMap, Mapped, SentenceMap};
use crate::kernel::evidence::tables::ShownTables;
use crate::kernel::evidence::words::{ShownAnswer, Words};
use crate::kernel::evidence::{AskedAnswer, Evidence, Progressed, with_one_sentence};
use crate::kernel::objective::network;
use crate::lesson::issue::shorten;
use crate::lesson::recorded::ONE_PASS;

impl LessonModel {
    /// Returns the model with the weights in use, for questions about it.
    ///
    /// # Errors
    /// A message for the learner if this is a recording.
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
            asked: self.asked.clone(),
        }
    }

    /// Chooses the answer and the foil of all evidence. A map of the stage starts again with them, and measures of
    /// words end.
    ///
    /// # Errors
    /// A message for the learner if the model has no such answer, or both are the same.
    pub(super) fn set_asked(&mut self, asked: AskedAnswer) -> Result<(), String> {
        self.evidence()?.named_pair(&asked)?;
        let has_map = self.cache.map.borrow().as_ref().is_some_and(|map| map.is_of(&self.mapped()));
        let before = std::mem::replace(&mut self.asked, asked);
        if before != self.asked {
            let name = |name: &Option<String>| name.as_deref().map_or_else(|| "any".to_owned(), shorten);
            let label = format!("answer {} against {}", name(&self.asked.answer), name(&self.asked.against));
            self.remember(label, UndoPart::Asked(before));
            self.cache.words.take();
            if has_map {
                // If there is no map for these answers, the button for the map gives the reason when it is pressed.
                let _ = self.start_map();
            }
        }
        Ok(())
    }

    /// Starts the map of the sentence on the stage, or continues it after it was stopped.
    ///
    /// # Errors
    /// A message for the learner if the sentences on the stage have no map.
    pub(super) fn start_map(&self) -> Result<(), String> {
        if let Some(map) = self.cache.map.borrow_mut().as_mut().filter(|map| map.is_of(&self.mapped())) {
            map.set_stopped(false);
            return Ok(());
        }
        let map = LiveMap::of(self.mapped(), self.evidence()?)?;
        *self.cache.map.borrow_mut() = Some(map);
        Ok(())
    }

    /// Adds the paths into a head, counted over all blocks, to the map of two sentences.
    ///
    /// # Errors
    /// A message for the learner if there is no such map or head.
    pub(super) fn start_paths(&self, head: usize) -> Result<(), String> {
        let evidence = self.evidence()?;
        let mut map = self.cache.map.borrow_mut();
        let map = map.as_mut().filter(|map| map.is_of(&self.mapped()));
        map.ok_or("paths belong to the map of two sentences: compute it first")?.add_paths(head, evidence)
    }

    /// Stops the map if it is being computed, and otherwise removes it.
    pub(super) fn end_map(&self) {
        let mut map = self.cache.map.borrow_mut();
        match map.as_mut().filter(|map| map.is_running() && map.is_of(&self.mapped())) {
            Some(running) => running.set_stopped(true),
            None => *map = None,
        }
    }

    /// Returns whether cells of the map are still to be computed.
    pub fn has_map_pending(&self) -> bool {
        self.cache.map.borrow().as_ref().is_some_and(|map| map.is_running() && map.is_of(&self.mapped()))
    }

    /// Computes the next cells of the map.
    pub fn advance_map(&self) {
        if let (Some(map), Ok(evidence)) = (&mut *self.cache.map.borrow_mut(), self.evidence()) {
            map.advance(evidence);
        }
    }

    /// Returns the map of the sentences on the stage, if there is one.
    pub(super) fn map_snapshot(&self) -> Option<Arc<SentenceMap>> {
        let map = self.cache.map.borrow();
        let map = map.as_ref().filter(|map| map.is_of(&self.mapped()))?;
        Some(Arc::new(map.snapshot(self.evidence().ok()?)))
    }

    /// Copies the model for questions that are answered on another thread.
    fn own_model(&self) -> OwnModel {
        let lesson = self.origin.lesson.clone();
        OwnModel {
            model: network(&lesson, &self.space),
            lesson,
            parameters: self.training.live().clone(),
            space: self.space.clone(),
            classes: self.classes.clone(),
        }
    }

    fn subject(&self) -> Subject {
        Subject { frame: self.pass.frame().clone(), parameters: self.training.live().clone() }
    }

    /// Starts to measure which word mattered for an answer.
    ///
    /// # Errors
    /// A message for the learner if this is a recording, or the model reads a source.
    pub(super) fn start_words(&self, asked: ShownAnswer) -> Result<(), String> {
        with_one_sentence(&self.evidence()?.model.architecture)?;
        let (frame, named) = (self.pass.frame().clone(), self.asked.clone());
        let work = move |evidence: Evidence<'_>, progressed: Progressed<'_>| {
            evidence.words_shown(&frame, asked, &named, progressed)
        };
        *self.cache.words.borrow_mut() = Some(Job::begin(self.subject(), self.own_model(), work));
        Ok(())
    }

    /// Starts to compute the tables of a head for the words of the sentence.
    ///
    /// # Errors
    /// A message for the learner if this is a recording, the model reads a source, or there is no such head.
    pub(super) fn start_tables(&self, head: usize) -> Result<(), String> {
        let evidence = self.evidence()?;
        with_one_sentence(&evidence.model.architecture)?;
        let place = evidence.counted_head(head)?;
        let mut words: Vec<(String, usize)> = Vec::new();
        for token in self.pass.frame().tokens() {
            let row = token.word.filter(|row| words.iter().all(|(_, other)| other != row));
            words.extend(row.map(|row| (token.text.clone(), row)));
        }
        let work = move |evidence: Evidence<'_>, progressed: Progressed<'_>| {
            let tables = evidence.tables_of_rows(&[place], &words, progressed)?;
            Ok(ShownTables { head, tables })
        };
        *self.cache.tables.borrow_mut() = Some(Job::begin(self.subject(), self.own_model(), work));
        Ok(())
    }

    /// Returns whether a question about the sentence on the stage is still to be answered.
    pub fn has_question_pending(&self) -> bool {
        let of = self.subject();
        self.cache.words.borrow().as_ref().is_some_and(|job| job.is_pending(&of))
            || self.cache.tables.borrow().as_ref().is_some_and(|job| job.is_pending(&of))
    }

    /// Waits a moment for the answers to questions.
    pub fn wait_for_answers(&self) {
        let of = self.subject();
        if let Some(job) = self.cache.words.borrow_mut().as_mut().filter(|job| job.is_pending(&of)) {
            job.wait();
        }
        if let Some(job) = self.cache.tables.borrow_mut().as_mut().filter(|job| job.is_pending(&of)) {
            job.wait();
        }
    }

    pub(super) fn asked_words(&self) -> Option<Asked<Words>> {
        self.cache.words.borrow().as_ref().filter(|job| job.is_of(&self.subject())).map(Job::asked)
    }

    pub(super) fn asked_tables(&self) -> Option<Asked<ShownTables>> {
        self.cache.tables.borrow().as_ref().filter(|job| job.is_of(&self.subject())).map(Job::asked)
    }
}
