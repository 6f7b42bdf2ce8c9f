//! `--sentence` and `--ids`: a sentence of the user's in place of the lesson's.

use attune_core::kernel::Command;
use attune_core::kernel::command::SentenceCommand;
use attune_core::kernel::sentence_pass::sentence::Sentence;
use attune_core::lesson::Lesson;

use super::args::SentenceArgs;
use super::fault::Fault;

impl SentenceArgs {
    /// The option that was given.
    pub fn option(&self) -> Option<&'static str> {
        match (&self.sentence, &self.ids) {
            (Some(_), _) => Some("--sentence"),
            (None, Some(_)) => Some("--ids"),
            (None, None) => None,
        }
    }

    /// The command that shows the sentence, if one was given. Asked before training, which may take long.
    ///
    /// # Errors
    /// If the lesson or the model cannot read it.
    pub fn command(&self, lesson: &Lesson) -> Result<Option<Command>, Fault> {
        let words = || lesson.vocabulary();
        let (read, command) = match (&self.sentence, &self.ids) {
            (Some(text), _) => (Sentence::read(text, lesson, &words()), SentenceCommand::Set(text.clone())),
            (None, Some(ids)) => (Sentence::of_ids(ids, lesson, &words()), SentenceCommand::Ids(ids.clone())),
            (None, None) => return Ok(None),
        };
        let option = self.option().unwrap_or_default();
        read.map_err(|issue| Fault::usage(format_args!("{option}: {issue}")))?;
        Ok(Some(Command::Sentence(command)))
    }
}
