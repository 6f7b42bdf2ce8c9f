//! The cells of a notebook, as a lesson writes them; checked values as in [`super::schema`].

use crate::numerics::params::TensorId;

#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Unique in the lesson.
    pub id: String,
    pub kind: CellKind,
}

#[derive(Clone, Debug, PartialEq)]
pub enum CellKind {
    Text {
        markdown: String,
    },
    /// Code over the live tensors, in the language of [`crate::code`].
    Code {
        source: String,
        /// It shows a mistake: `attune check` wants it to fail.
        fails: bool,
    },
    /// Steers the one stage: which sentence, which words are lit, and at what time.
    Stage {
        caption: String,
        /// Index into [`super::Lesson::sentences`].
        sentence: usize,
        /// Words to light; empty: all.
        words: Vec<String>,
        /// 0 is static, 1 is contextual.
        time: f32,
    },
    Slider(Slider),
    /// Code that runs by itself and shows its outputs, not its text.
    Plot {
        caption: String,
        source: String,
    },
    Predict(Predict),
    Exercise(Exercise),
    /// What follows it waits until predictions and exercises are done, or the learner goes on anyway.
    Gate {
        caption: String,
        /// Their ids.
        needs: Vec<String>,
    },
}

impl CellKind {
    /// A prediction or an exercise.
    pub fn is_task(&self) -> bool {
        matches!(self, Self::Predict(_) | Self::Exercise(_))
    }

    /// The texts of it that are Markdown.
    pub fn markdown(&self) -> impl Iterator<Item = &str> {
        let texts: Vec<&String> = match self {
            Self::Text { markdown } => vec![markdown],
            Self::Predict(predict) => vec![&predict.ask, &predict.explain],
            Self::Exercise(exercise) => {
                let said = exercise.feedback.iter().map(|feedback| &feedback.say);
                std::iter::once(&exercise.ask).chain(&exercise.hints).chain(said).collect()
            }
            Self::Code { .. } | Self::Stage { .. } | Self::Slider(_) | Self::Plot { .. } | Self::Gate { .. } => vec![],
        };
        texts.into_iter().map(String::as_str)
    }
}

/// A number to turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Slider {
    pub caption: String,
    pub bind: Bind,
    pub range: (f64, f64),
    pub step: Option<f64>,
    /// Where a variable begins; else in the middle. Other things have values of their own.
    pub start: Option<f64>,
}

/// What a slider turns.
#[derive(Clone, Debug, PartialEq)]
pub enum Bind {
    /// What scores are divided by.
    Temperature,
    /// The stage's, from static to contextual.
    Time,
    /// 1: each word sees itself and those before it; 0: every word sees all.
    Mask,
    Weight {
        tensor: TensorId,
        row: usize,
        col: usize,
    },
    /// A variable that the cells below see.
    Variable(String),
}

/// A question that is answered before the model is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Predict {
    pub ask: String,
    pub choices: Vec<String>,
    /// Code whose value is the right choice: its text, or its place from 0.
    pub answer: String,
    /// Code whose outputs are shown with the answer; may be empty.
    pub shows: String,
    /// Shown with the answer; may be empty.
    pub explain: String,
}

/// A task whose answer is checked against the live model.
#[derive(Clone, Debug, PartialEq)]
pub struct Exercise {
    pub ask: String,
    /// Code to begin with; `None` where the answer is what the learner does to the model elsewhere.
    pub start: Option<String>,
    /// Code whose value is true where the answer is right. It runs after the answer, over the live
    /// tensors and what the answer defines.
    pub check: String,
    /// Each runs before the answer and must leave the check true, so that a constant cannot pass.
    pub cases: Vec<String>,
    /// Code whose value stands beside the check; may be empty.
    pub value: String,
    /// Each says more than the one before.
    pub hints: Vec<String>,
    /// What is said of a wrong answer: the first whose condition holds.
    pub feedback: Vec<Feedback>,
    pub solution: String,
}

impl Exercise {
    /// The lesson's code that runs with an answer.
    pub fn codes(&self) -> impl Iterator<Item = &String> {
        let conditions = self.feedback.iter().map(|feedback| &feedback.when);
        [&self.check, &self.value].into_iter().chain(&self.cases).chain(conditions)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Feedback {
    /// Code whose value is true.
    pub when: String,
    pub say: String,
}
