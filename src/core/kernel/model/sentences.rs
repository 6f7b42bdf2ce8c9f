//! Commands of the sentences: the one on the stage, one beside it, and words that the model writes.

use super::{Drag, LessonModel, ScenePart};
use crate::kernel::command::SentenceCommand;
use crate::kernel::data::vocabulary::index_of;
use crate::kernel::scene::sentence::Sentence;
use crate::lesson::schema::Lesson;

impl LessonModel {
    pub(super) fn apply_to_sentences(
        &mut self,
        command: SentenceCommand,
        last: Option<Drag>,
        lesson: &Lesson,
    ) -> Result<(), String> {
        let sentence = match command {
            SentenceCommand::Select(index) => {
                let count = lesson.sentences.len();
                Sentence::of_lesson(lesson, &self.words, index).ok_or_else(|| {
                    format!("there is no sentence {}: the lesson has {count}", index.saturating_add(1))
                })?
            }
            SentenceCommand::Set(text) => self.read(&text, lesson)?,
            SentenceCommand::Ids(ids) => Sentence::of_ids(&ids, lesson, &self.words)?,
            SentenceCommand::Words(words) => self.of_words(&words, lesson)?,
            SentenceCommand::Type(text) => return self.type_text(&text, last == Some(Drag::Sentence), lesson),
            SentenceCommand::SetSecond(text) => return self.set_second(text, last == Some(Drag::Second), lesson),
            SentenceCommand::Generate { count, choice } => {
                let (model, live) = (&self.training.trainer().model, self.training.model().live());
                return self.scene.generate((count, choice), lesson, model, live);
            }
        };
        self.show(sentence, false);
        Ok(())
    }

    /// `goes_on`: the last command was typing too.
    fn type_text(&mut self, text: &str, goes_on: bool, lesson: &Lesson) -> Result<(), String> {
        // One that cannot be read yet is on its way to another that can.
        self.last_drag = goes_on.then_some(Drag::Sentence);
        if self.show(self.read(text, lesson)?, goes_on) {
            self.last_drag = Some(Drag::Sentence);
        }
        Ok(())
    }

    fn of_words(&self, words: &[String], lesson: &Lesson) -> Result<Sentence, String> {
        if self.pretrained.is_none() {
            return self.read(&words.join(" "), lesson);
        }
        let index = index_of(&self.words);
        // One that the model does not have is refused as a token that no model has.
        let id = |word: &String| index.get(word.as_str()).copied().unwrap_or(self.words.len());
        Sentence::of_ids(&words.iter().map(id).collect::<Vec<_>>(), lesson, &self.words)
    }

    /// True if it is another one; `goes_on` as in [`Self::change_model`].
    fn show(&mut self, sentence: Sentence, goes_on: bool) -> bool {
        if sentence == *self.scene.sentence() {
            return false;
        }
        let before = self.scene.show(sentence);
        self.remember("choice of the sentence", goes_on, ScenePart::Sentence(before));
        true
    }

    /// A learner's words as a sentence, which may be one of the lesson's.
    fn read(&self, text: &str, lesson: &Lesson) -> Result<Sentence, String> {
        Sentence::read(text, lesson, &self.words)
    }

    /// `goes_on`: the last command set one too.
    fn set_second(&mut self, text: Option<String>, goes_on: bool, lesson: &Lesson) -> Result<(), String> {
        let sentence = text.map(|text| self.read(&text, lesson)).transpose()?;
        let (was, is) = (self.scene.second().is_some(), sentence.is_some());
        let is_other = sentence.as_ref() != self.scene.second();
        if is_other {
            let before = self.scene.set_second(sentence);
            let label = if is { "second sentence" } else { "end of the comparison" };
            self.remember(label, goes_on, ScenePart::Second(before));
        }
        // What begins the comparison, or ends it, undoes by itself.
        self.last_drag = (was && is && (is_other || goes_on)).then_some(Drag::Second);
        Ok(())
    }
}
