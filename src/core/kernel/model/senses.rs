//! Commands of the senses: the list of sentences with one word in common, and whether it is shown.

use std::sync::Arc;

use super::{Drag, LessonModel, ScenePart, SenseDrag};
use crate::kernel::command::{SenseCommand, SenseList, SenseSentence};
use crate::kernel::data::senses::{check_count, check_sense, check_text, one_line};
use crate::lesson::schema::Lesson;

impl LessonModel {
    pub(super) fn apply_to_senses(
        &mut self,
        command: SenseCommand,
        last: Option<Drag>,
        lesson: &Lesson,
    ) -> Result<(), String> {
        let (before, was_on) = (self.scene.senses().list().clone(), self.scene.senses().is_on());
        let mut list = SenseList::clone(&before);
        let count = list.sentences.len();
        let missing = |index: usize| format!("there is no sentence {}: the list has {count}", index.saturating_add(1));
        let (mut is_on, mut written) = (was_on, None);
        let label = match command {
            SenseCommand::Show(shows) => {
                is_on = shows;
                if shows { "senses of a word" } else { "end of the senses" }.to_owned()
            }
            SenseCommand::SetWord(word) => {
                check_text(&word)?;
                list.word = one_line(&word);
                written = Some(SenseDrag::Word);
                "word of the senses".to_owned()
            }
            SenseCommand::SetText { index, text } => {
                check_text(&text)?;
                if index == count {
                    list.sentences.push(SenseSentence::default());
                    check_count(list.sentences.len())?;
                }
                list.sentences.get_mut(index).ok_or_else(|| missing(index))?.text = one_line(&text);
                written = Some(SenseDrag::Text(index));
                format!("sentence {} of the senses", index + 1)
            }
            SenseCommand::SetSense { index, sense } => {
                sense.map_or(Ok(()), check_sense)?;
                list.sentences.get_mut(index).ok_or_else(|| missing(index))?.sense = sense;
                format!("sense of sentence {}", index + 1)
            }
            SenseCommand::Insert(index) if index > count => return Err(missing(index)),
            SenseCommand::Insert(index) => {
                list.sentences.insert(index, SenseSentence::default());
                check_count(list.sentences.len())?;
                format!("new sentence {} of the senses", index + 1)
            }
            SenseCommand::Remove(index) if index >= count => return Err(missing(index)),
            SenseCommand::Remove(index) => {
                list.sentences.remove(index);
                format!("removal of sentence {} of the senses", index + 1)
            }
            SenseCommand::Replace(other) => {
                list = other.checked()?;
                "list of the senses".to_owned()
            }
        };
        let drag = written.map(Drag::Sense);
        let goes_on = drag.is_some() && last == drag;
        self.last_drag = drag.filter(|_| goes_on);
        if (&list, is_on) == (&*before, was_on) {
            return Ok(());
        }
        let list = if list == *before { before } else { Arc::new(list) };
        let before = self.scene.set_senses((list, is_on));
        self.scene.read_senses(lesson);
        self.remember(label, goes_on, ScenePart::Senses(before));
        self.last_drag = drag;
        Ok(())
    }

    /// The senses are yet to be measured, and nothing trains.
    pub fn has_senses_pending(&self) -> bool {
        let Self { training, scene, cache, .. } = self;
        !self.is_busy() && scene.has_senses_pending(cache, &training.trainer().model, training.model().live())
    }

    /// Does the next piece of that work.
    pub fn measure_senses(&self) {
        let Self { training, scene, cache, .. } = self;
        scene.measure_senses(cache, &training.trainer().model, training.model().live());
    }
}
