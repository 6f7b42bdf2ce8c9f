//! The cells of a notebook, as a lesson writes them; checked values.

use attune_engine::numerics::params::TensorId;

use crate::lesson::schema::panels::PanelName;

#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Unique in the lesson.
    pub id: String,
    pub kind: CellKind,
    /// The panels that appear when the learner reaches it, or answers it if it is a prediction.
    pub opens: Vec<PanelName>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum CellKind {
    Text {
        markdown: String,
    },
    /// Code over the live tensors, in the language of [`attune_engine::code`].
    Code {
        source: String,
        /// The cell demonstrates a mistake: `attune check` expects it to fail.
        fails: bool,
        /// Code that `attune check` runs after the cell, over what it defines, and learners do not see; a `throw` in it
        /// says what is wrong. May be empty.
        asserts: String,
    },
    /// Sets the stage: which sentence, which words are highlighted, at what time, and which words lines join.
    Stage {
        caption: String,
        /// Index into [`Lesson::sentences`](super::Lesson::sentences).
        sentence: usize,
        /// Words to highlight; empty: all. The first is followed; of one listed twice, its second occurrence.
        words: Vec<String>,
        /// The time of the points, from 0 (static) to 1 (contextual).
        time: f32,
        /// How many times the points go from static to contextual when the cell is shown.
        plays: usize,
        /// Pairs of words of the vocabulary; a line joins their static points.
        lines: Vec<(String, String)>,
        /// Words of the sentence, each with the word at whose vector it should end: half the squared distance is the loss,
        /// and an arrow is minus its gradient.
        goals: Vec<(String, String)>,
    },
    Slider(Slider),
    /// Code that runs by itself and shows its outputs, not its text.
    Plot {
        caption: String,
        source: String,
    },
    Predict(Predict),
    Exercise(Exercise),
    /// Hides the cells below until predictions and exercises are done, or the learner goes on anyway.
    Gate {
        caption: String,
        /// Ids of the tasks to be done first.
        needs: Vec<String>,
    },
}

/// A kind of cell in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellKindWords {
    /// The name in a lesson.
    pub name: &'static str,
    pub about: &'static str,
}

/// The kinds of cells, as a lesson names them.
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
    /// A prediction or an exercise.
    pub fn is_task(&self) -> bool {
        matches!(self, Self::Predict(_) | Self::Exercise(_))
    }

    /// The Markdown texts of the cell.
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

/// A slider that sets one number.
#[derive(Clone, Debug, PartialEq)]
pub struct Slider {
    pub caption: String,
    pub bind: Bind,
    pub range: (f64, f64),
    pub step: Option<f64>,
    /// The initial value of a variable; `None` for the middle of the range. Other quantities already have a value.
    pub start: Option<f64>,
}

/// The quantity that a slider sets.
#[derive(Clone, Debug, PartialEq)]
pub enum Bind {
    /// The divisor of the scores.
    Temperature,
    /// The time of the stage, from static to contextual.
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
    /// Initial code; `None` where the answer is a change that the learner makes elsewhere.
    pub start: Option<String>,
    /// Code whose value is true where the answer is right. It runs after the answer, over the live
    /// tensors and what the answer defines.
    pub check: String,
    /// Each runs before the answer and must leave the check true, so that a constant cannot pass.
    pub cases: Vec<String>,
    /// Code whose value stands beside the check; may be empty.
    pub value: String,
    /// Code for what `value` is to be, number by number, or a bound in words such as `> 0.5`. Empty: the variable
    /// `expected` of each case, where the cases define it.
    pub expected: String,
    /// Hints; each says more than the one before.
    pub hints: Vec<String>,
    /// Comments on wrong answers; the first whose condition holds is shown.
    pub feedback: Vec<Feedback>,
    pub solution: String,
}

impl Exercise {
    /// The lesson's code that runs with an answer.
    pub fn codes(&self) -> impl Iterator<Item = &String> {
        let conditions = self.feedback.iter().map(|feedback| &feedback.when);
        [&self.check, &self.value, &self.expected].into_iter().chain(&self.cases).chain(conditions)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Feedback {
    /// Code whose value is true.
    pub when: String,
    pub say: String,
}
