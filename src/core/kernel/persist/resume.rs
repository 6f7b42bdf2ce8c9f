//! Work as it was left: its commands are applied again, each when training stands where it was given. What cannot be done is
//! left out, with the words of its refusal.

use std::collections::VecDeque;

use crate::kernel::command::{Command, SenseCommand, SentenceCommand, TrainingCommand};
use crate::kernel::model::LessonModel;
use crate::kernel::persist::saved::{Saved, files};

/// A model on its way to where it was.
pub struct Resuming {
    rest: VecDeque<Command>,
    /// The step that training is on its way to.
    goal: Option<usize>,
    /// What the next commands are of could not be shown.
    has_no_sentence: bool,
    has_no_senses: bool,
    /// Asked to stand still on the way.
    pub is_paused: bool,
    /// Training goes on when it is where it was.
    pub plays: bool,
}

impl Resuming {
    pub fn new(saved: &Saved, plays: bool) -> Self {
        let rest = saved.of_model().cloned().collect();
        Self { rest, goal: None, has_no_sentence: false, has_no_senses: false, is_paused: false, plays }
    }

    /// Does the next piece; true when the model is where it was.
    pub fn advance(&mut self, model: &mut LessonModel, report: &mut Vec<String>) -> bool {
        /// More take long enough for somebody to wait.
        const AT_ONCE: usize = 256;
        for _ in 0..AT_ONCE {
            if model.is_busy() {
                model.advance();
                return false;
            }
            self.arrive(model, report);
            match self.rest.pop_front() {
                Some(Command::Training(TrainingCommand::Play)) if self.rest.is_empty() => self.plays = true,
                Some(command) => report.extend(self.redo(command, model)),
                None => {
                    if self.plays && model.training.model().replay().is_none() {
                        model.play_at_opening();
                    }
                    return true;
                }
            }
        }
        false
    }

    /// Stands still until it is asked to play.
    pub fn pause(&mut self) {
        (self.is_paused, self.plays) = (true, false);
        self.rest.pop_back_if(|last| *last == Command::Training(TrainingCommand::Play));
    }

    /// Applies a command; undo begins after it. Says why it is left out, if it is.
    fn redo(&mut self, command: Command, model: &mut LessonModel) -> Option<String> {
        let shows =
            matches!(&command, Command::Sentence(sentence) if !matches!(sentence, SentenceCommand::SetSecond(_)));
        let lists = matches!(command, Command::Senses(SenseCommand::Replace(_)));
        if let Command::Training(TrainingCommand::TrainTo(step)) = command {
            self.goal = Some(step.unwrap_or(model.training.trainer().steps()));
        }
        let done = match &command {
            Command::Interventions(of_sentence) if of_sentence.is_of_sentence() && self.has_no_sentence => {
                Err("its sentence is no longer there".to_owned())
            }
            // That there are none was said.
            Command::Senses(_) if self.has_no_senses && !lists => Ok(()),
            _ => model.apply(command.clone(), &model.origin.lesson.clone()),
        };
        model.forget_changes();
        self.has_no_sentence |= shows && done.is_err();
        self.has_no_senses |= lists && done.is_err();
        done.err().map(|why| command.left_out(&why))
    }

    /// Where training stands before its goal, what was changed on the way there is left out, and all until its end.
    fn arrive(&mut self, model: &LessonModel, report: &mut Vec<String>) {
        let Some(goal) = self.goal.take() else { return };
        let (done, last) = (model.steps_done(), model.training.trainer().steps());
        if done >= goal {
            return;
        }
        if done < last {
            let goal = goal.min(last);
            report.push(format!("Training no longer comes to step {goal}: it stands at {done}."));
        }
        let trains = |command: &Command| matches!(command, Command::Training(TrainingCommand::TrainTo(_)));
        let Some(end) = self.rest.iter().rposition(trains) else { return };
        if !self.rest.drain(..=end).all(|command| trains(&command)) {
            report.push(format!("Changes after step {done} are left out: training has no such steps now."));
        }
    }
}

impl LessonModel {
    /// Says where the files are not those that saved work is of.
    pub(in crate::kernel) fn compare_files(&self, saved: &Saved) -> Option<String> {
        let are_others = |model| !saved.files.is_empty() && saved.files != files(model);
        self.pretrained.as_deref().filter(|model| are_others(model)).map(|_| {
            "The model's files have changed since this was saved; changes of weights now apply to the new values."
                .to_owned()
        })
    }
}
