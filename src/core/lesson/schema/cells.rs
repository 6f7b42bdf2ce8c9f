//! The checked values of a lesson's cells.

use std::fmt;

use attune_engine::numerics::params::TensorId;

use crate::lesson::live_text::LessonText;
use crate::lesson::schema::panels::PanelName;

#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Id of the cell, unique in the lesson.
    pub id: String,
    pub kind: CellKind,
    /// Panels that appear when the learner reaches the cell, or, for a prediction, answers it.
    pub opens: Vec<PanelName>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum CellKind {
    Text {
        markdown: LessonText,
    },
    /// Code over the live tensors, in the language of [`attune_engine::code`].
    Code {
        source: String,
        /// Whether the cell demonstrates a mistake, so that `attune check` expects it to fail.
        fails: bool,
        /// Code that `attune check` runs after the cell, with the cell's variables, and that learners do not see. It
        /// reports a problem by `throw`. It may be empty.
        asserts: String,
    },
    /// Setting of the stage: its sentence, the highlighted words, the time, and the lines between words.
    Stage {
        caption: String,
        /// Index into [`Lesson::sentences`](super::Lesson::sentences).
        sentence: usize,
        /// Words to highlight, or none to highlight all. The first is the query; if a word is listed twice, its second
        /// occurrence is meant.
        words: Vec<String>,
        /// The time of the points, from 0 (static) to 1 (contextual).
        time: f32,
        /// Number of times that the points move from static to contextual when the cell is shown.
        plays: usize,
        /// Pairs of words of the vocabulary whose static points are joined by lines.
        lines: Vec<(String, String)>,
        /// Words of the sentence, each with the word whose vector it should reach. Half the squared distance is the
        /// loss, and an arrow shows its negative gradient.
        goals: Vec<(String, String)>,
    },
    Slider(Slider),
    /// Code that runs by itself; only its outputs are shown.
    Plot {
        caption: String,
        source: String,
    },
    Predict(Predict),
    Exercise(Exercise),
    /// A gate that hides the cells below until predictions and exercises are done, or the learner continues anyway.
    Gate {
        caption: String,
        /// Ids of the tasks that must be done first.
        needs: Vec<String>,
    },
}

/// A kind of cell in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellKindWords {
    /// Name of the kind in a lesson.
    pub name: &'static str,
    pub about: &'static str,
}

/// The kinds of cells, by their names in lessons.
pub const CELL_KINDS: [CellKindWords; 8] = [
    CellKindWords { name: "Text", about: "Markdown with formulas, pictures, live numbers and links that act" },
    CellKindWords { name: "Code", about: "code over the live tensors, which the learner may change and run" },
    CellKindWords { name: "Stage", about: "sets the stage: a sentence, words to follow, a time, lines and goals" },
    CellKindWords { name: "Slider", about: "a slider of the temperature, the time, the mask, a weight or a variable" },
    CellKindWords { name: "Plot", about: "code that runs by itself and shows its outputs only" },
    CellKindWords { name: "Predict", about: "a question that the learner answers before the model does" },
    CellKindWords { name: "Exercise", about: "a task whose answer is checked against the live model" },
    CellKindWords { name: "Gate", about: "hides the cells below until its tasks are done" },
];

impl CellKind {
    /// Returns whether the cell is a prediction or an exercise.
    pub fn is_task(&self) -> bool {
        matches!(self, Self::Predict(_) | Self::Exercise(_))
    }

    /// Returns the Markdown texts of the cell.
    pub fn markdown(&self) -> impl Iterator<Item = &LessonText> {
        let texts: Vec<&LessonText> = match self {
            Self::Text { markdown } => vec![markdown],
            Self::Predict(predict) => {
                let texts = [&predict.ask, &predict.explain].into_iter();
                // A choice is plain text, of which only the live numbers matter.
                let choices = predict.choices.iter().filter(|choice| !choice.expressions().is_empty());
                texts.chain(choices).chain(&predict.reasons).collect()
            }
            Self::Exercise(exercise) => {
                let said = exercise.feedback.iter().map(|feedback| &feedback.say);
                std::iter::once(&exercise.ask).chain(&exercise.hints).chain(said).collect()
            }
            Self::Code { .. } | Self::Stage { .. } | Self::Slider(_) | Self::Plot { .. } | Self::Gate { .. } => vec![],
        };
        texts.into_iter()
    }
}

/// A slider that sets one number.
#[derive(Clone, Debug, PartialEq)]
pub struct Slider {
    pub caption: String,
    pub bind: Bind,
    pub range: (f64, f64),
    pub step: Option<f64>,
    /// Initial value of a variable, or `None` for the middle of the range. Other quantities have a value already.
    pub start: Option<f64>,
}

/// The quantity that a slider sets.
#[derive(Clone, Debug, PartialEq)]
pub enum Bind {
    /// The divisor of the scores.
    Temperature,
    /// The time of the stage, from static to contextual.
    Time,
    /// The mask. At 1, each word sees itself and the words before it; at 0, every word sees all words.
    Mask,
    Weight {
        tensor: TensorId,
        row: usize,
        col: usize,
    },
    /// A variable of the cells below.
    Variable(String),
}

impl fmt::Display for Bind {
    /// Writes the name that lessons use: `temperature`, `W_Q_2[0, 1]` or that of a variable.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Temperature => f.write_str("temperature"),
            Self::Time => f.write_str("time"),
            Self::Mask => f.write_str("mask"),
            Self::Weight { tensor, row, col } => write!(f, "{}[{row}, {col}]", tensor.code_name()),
            Self::Variable(name) => f.write_str(name),
        }
    }
}

/// A question that the learner answers before the model's answer is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Predict {
    pub ask: LessonText,
    /// Code that draws the numbers of the question, for a question that can be asked again with other numbers; else
    /// empty. Its variables exist in the texts, the choices and the other code of the cell.
    pub draws: String,
    /// The choices: plain text, with live numbers.
    pub choices: Vec<LessonText>,
    /// Reasons why each choice is right or wrong, in the order of the choices; empty if the lesson gives none. The
    /// reason for the chosen one is shown with the answer.
    pub reasons: Vec<LessonText>,
    /// Code whose value is the right choice: its text, or its index from 0.
    pub answer: String,
    /// Code whose outputs are shown with the answer; may be empty.
    pub shows: String,
    /// Explanation that is shown with the answer; may be empty.
    pub explain: LessonText,
}

impl Predict {
    /// Returns whether the question has other numbers each time.
    pub fn is_drawn(&self) -> bool {
        !self.draws.is_empty()
    }

    /// Returns the reason why the chosen answer is right or wrong, if the lesson gives it.
    pub fn reason(&self, chosen: Option<usize>) -> Option<&LessonText> {
        self.reasons.get(chosen?)
    }
}

/// A task whose answer is checked against the live model.
#[derive(Clone, Debug, PartialEq)]
pub struct Exercise {
    pub ask: LessonText,
    /// Initial code, or `None` if the answer is a change that the learner makes elsewhere.
    pub start: Option<String>,
    /// Code whose value is true if the answer is right. It runs after the answer, with the live tensors and the
    /// answer's variables.
    pub check: String,
    /// Cases, each of which runs before the answer and must leave the check true, so that a constant cannot pass.
    pub cases: Vec<String>,
    /// Code whose value is shown beside the check; may be empty.
    pub value: String,
    /// Code for the expected result of `value`, number by number, or a bound such as `> 0.5`. If it is empty, the
    /// variable `expected` of each case is used, if the cases define it.
    pub expected: String,
    /// Hints, each more specific than the one before.
    pub hints: Vec<LessonText>,
    /// Comments on wrong answers. The first whose condition is true is shown.
    pub feedback: Vec<Feedback>,
    pub solution: String,
}

impl Exercise {
    /// Returns the lesson's code that runs together with an answer.
    pub fn codes(&self) -> impl Iterator<Item = &String> {
        let conditions = self.feedback.iter().map(|feedback| &feedback.when);
        [&self.check, &self.value, &self.expected].into_iter().chain(&self.cases).chain(conditions)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Feedback {
    /// Condition: code whose value is true if the comment applies.
    pub when: String,
    pub say: LessonText,
}
