//! The list of sentences in which the senses of a word are compared.

use std::sync::Arc;

use crate::kernel::command::{SenseCommand, SenseList, SenseSentence};
use crate::kernel::model::{LessonModel, UndoPart};
use crate::kernel::sentence_pass::senses::{check_count, check_sense, check_text, one_line};
use crate::lesson::schema::Lesson;

impl LessonModel {
    pub(crate) fn apply_to_senses(&mut self, command: SenseCommand, lesson: &Lesson) -> Result<(), String> {
        let (before, was_on) = (self.pass.senses().list().clone(), self.pass.senses().is_on());
        let mut list = SenseList::clone(&before);
        let count = list.sentences.len();
        let missing = |index: usize| format!("there is no sentence {}; the list has {count}", index.saturating_add(1));
        let mut is_on = was_on;
        let label = match command {
            SenseCommand::Show(shows) => {
                is_on = shows;
                if shows { "senses of a word" } else { "end of the senses" }.to_owned()
            }
            SenseCommand::SetWord(word) => {
                check_text(&word)?;
                list.word = one_line(&word);
                "word of the senses".to_owned()
            }
            SenseCommand::SetText { index, text } => {
                check_text(&text)?;
                if index == count {
                    list.sentences.push(SenseSentence::default());
                    check_count(list.sentences.len())?;
                }
                list.sentences.get_mut(index).ok_or_else(|| missing(index))?.text = one_line(&text);
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
        if (&list, is_on) == (&*before, was_on) {
            return Ok(());
        }
        let list = if list == *before { before } else { Arc::new(list) };
        let before = self.pass.set_senses((list, is_on));
        self.pass.read_senses(lesson);
        self.remember(label, UndoPart::Senses(before));
        Ok(())
    }

    /// Returns whether senses are still to be measured. They are not measured while training runs.
    pub fn has_senses_pending(&self) -> bool {
        let Self { training, pass, cache, .. } = self;
        !training.is_busy() && pass.senses().is_pending(&cache.passes.senses.borrow(), &pass.sense_model(training))
    }

    /// Measures the next part of the senses.
    pub fn measure_senses(&self) {
        let Self { training, pass, cache, .. } = self;
        pass.senses().advance(&mut cache.passes.senses.borrow_mut(), &pass.sense_model(training));
    }
}
