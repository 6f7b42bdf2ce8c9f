//! The choice of the sentences on the stage.

use crate::kernel::command::SentenceCommand;
use crate::kernel::model::{LessonModel, UndoPart};
use crate::kernel::sentence_pass::sentence::{PairFault, Sentence};
use crate::kernel::values::space::index_of;
use crate::lesson::schema::Lesson;

impl LessonModel {
    pub(crate) fn apply_to_sentences(&mut self, command: SentenceCommand, lesson: &Lesson) -> Result<(), String> {
        // While a sentence is typed, and in another stretch of the same text, the picture keeps its axes.
        let keeps_axes = matches!(command, SentenceCommand::Type(_) | SentenceCommand::Stretch(_));
        let sentence = match command {
            SentenceCommand::Select(index) => Sentence::of_lesson(lesson, &self.space.vocabulary, index)?,
            SentenceCommand::Set(text) | SentenceCommand::Type(text) => self.read(&text, lesson)?,
            SentenceCommand::Stretch(first) => self.stretch(first)?,
            SentenceCommand::Ids(ids) => Sentence::of_ids(&ids, lesson, &self.space.vocabulary)?,
            SentenceCommand::Pair { source, target } => {
                Sentence::of_pair(&source, &target, lesson, &self.space.vocabulary).map_err(PairFault::words)?
            }
            SentenceCommand::Words(words) => self.of_words(&words, lesson)?,
            SentenceCommand::SetSecond(text) => return self.set_second(text, lesson),
            SentenceCommand::Generate { count, choice } => {
                return self.pass.generate(count, choice, lesson, &self.training);
            }
        };
        let fit = |model: &mut Self| if keeps_axes { Ok(()) } else { model.refit_to_words(lesson) };
        if sentence.is_same_choice(self.pass.sentence()) {
            return fit(self);
        }
        let is_same_text = sentence.recorded.is_some() && sentence.index == self.pass.sentence().index;
        let label = if is_same_text { "choice of the tokens" } else { "choice of the sentence" };
        self.as_one(label, |model| {
            let before = model.pass.show(sentence);
            model.remember(label, UndoPart::Sentence(before));
            fit(model)
        })
    }

    /// Returns the stretch of the recorded text that begins at the token `first`, or an error if no recorded text is
    /// shown.
    fn stretch(&self, first: usize) -> Result<Sentence, String> {
        let Some(place) = &self.pass.sentence().recorded else {
            return Err("only a recorded text is shown in stretches".to_owned());
        };
        Sentence::of_recorded(&place.model, place.text, first)
    }

    fn of_words(&self, words: &[String], lesson: &Lesson) -> Result<Sentence, String> {
        if self.ground.pretrained.is_none() {
            return self.read(&words.join(" "), lesson);
        }
        let index = index_of(&self.space.vocabulary);
        // A word that the model lacks gets an id past the end, which is then refused.
        let id = |word: &String| index.get(word.as_str()).copied().unwrap_or(self.space.vocabulary.len());
        Sentence::of_ids(&words.iter().map(id).collect::<Vec<_>>(), lesson, &self.space.vocabulary)
    }

    /// Reads a learner's text as a sentence, which may be one of the lesson's.
    fn read(&self, text: &str, lesson: &Lesson) -> Result<Sentence, String> {
        Sentence::read(text, lesson, &self.space.vocabulary)
    }

    fn set_second(&mut self, text: Option<String>, lesson: &Lesson) -> Result<(), String> {
        let sentence = text.map(|text| self.read(&text, lesson)).transpose()?;
        let is_same = match (&sentence, self.pass.second()) {
            (Some(sentence), Some(second)) => sentence.is_same_choice(second),
            (sentence, second) => sentence.is_none() && second.is_none(),
        };
        if !is_same {
            let label = if sentence.is_some() { "second sentence" } else { "end of the comparison" };
            let before = self.pass.set_second(sentence);
            self.remember(label, UndoPart::Second(before));
        }
        Ok(())
    }
}
