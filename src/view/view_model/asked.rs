//! The state of a question that a model takes a while to answer: refused, not asked, running, failed or answered; and
//! the choice of the answer that questions are about.

use std::sync::Arc;

use attune_core::kernel::evidence::AskedAnswer;
use attune_core::kernel::evidence::job::Asked;
use attune_core::kernel::snapshot::scores::can_ask;
use attune_core::kernel::snapshot::{ModelSnapshot, Progress, SentenceSnapshot};

use super::answers::{hidden_at, hides_words};
use super::sentence;

/// The answer and the foil that the learner has chosen for maps and measures of words, and some likely answers to
/// choose from.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerChoice {
    pub chosen: AskedAnswer,
    /// The likeliest answers of the second sentence and of the sentence.
    pub offers: Vec<String>,
}

impl AnswerChoice {
    pub fn of(model: &ModelSnapshot) -> Self {
        let likeliest = |sentence: &SentenceSnapshot| {
            let rows = &sentence.answers.likeliest;
            let hidden = hidden_at(&sentence.tokens).filter(|row| hides_words(model) && *row < rows.len());
            let row = hidden.or(rows.len().checked_sub(1));
            row.map_or_else(Vec::new, |row| rows[row].iter().map(|answer| answer.class).collect())
        };
        let second = model.second.as_ref().map_or_else(Vec::new, |second| likeliest(&second.other));
        let mut classes: Vec<usize> = Vec::new();
        for class in second.into_iter().chain(likeliest(&model.sentence)) {
            if !classes.contains(&class) {
                classes.push(class);
            }
        }
        let offers = classes.into_iter().filter_map(|class| model.classes.get(class).cloned());
        Self { chosen: model.asked.clone(), offers: offers.collect() }
    }
}

#[derive(Clone, Debug)]
pub enum AskedState<T> {
    /// The model cannot be asked, for a reason in words.
    Refused(String),
    NotAsked,
    Running(Progress),
    /// The work ended without an answer, for a reason in words.
    Failed(String),
    Found(Arc<T>),
}

impl<T> AskedState<T> {
    /// Returns the state of a question to a model.
    pub fn of(model: &ModelSnapshot, asked: Option<&Asked<T>>) -> Self {
        if let Err(why) = can_ask(model) {
            return Self::Refused(sentence(&why));
        }
        let Some(asked) = asked else { return Self::NotAsked };
        match &asked.found {
            None => Self::Running(asked.progress),
            Some(Ok(found)) => Self::Found(found.clone()),
            Some(Err(why)) => Self::Failed(sentence(why)),
        }
    }

    /// Returns how far the work is while it runs, or why it ended without an answer; `None` in any other state.
    pub fn progress(&self) -> Option<String> {
        match self {
            Self::Failed(why) => Some(why.clone()),
            Self::Running(progress) if progress.of > 0 => Some(format!("{} of {}", progress.done, progress.of)),
            Self::Running(_) => Some("…".to_owned()),
            _ => None,
        }
    }
}
