//! A notebook as it is read: what each cell says, in no format.

use crate::code::Fault;
use crate::kernel::interventions::are_none;
use crate::kernel::notebook::document::{Answer, DocumentCell};
use crate::kernel::notebook::snapshot::{CellSnapshot, CellStatus, RunSnapshot, Verdict};
use crate::kernel::snapshot::{ModelSnapshot, Snapshot};
use crate::lesson::cells::{Bind, CellKind, Exercise, Predict, Slider};
use crate::view_model::notebook::turned;
use crate::view_model::output::{OutputModel, full};

/// A notebook, from top to bottom.
pub struct Page<'a> {
    pub title: &'a str,
    /// The lesson's id.
    pub lesson: &'a str,
    pub seed: u64,
    pub cells: Vec<PageCell<'a>>,
    /// How the model differs from the one that the lesson's training ends with, if it does.
    pub model: Option<String>,
}

pub struct PageCell<'a> {
    pub id: &'a str,
    pub kind: &'static str,
    pub parts: Vec<Part<'a>>,
}

pub enum Part<'a> {
    /// As the lesson or the learner wrote it.
    Markdown(&'a str),
    /// What kind of task begins here.
    Label(&'static str),
    /// A line of words.
    Line(String),
    Code(Code<'a>),
    Stage(Stage<'a>),
    Slider(SliderPart<'a>),
    Choices {
        choices: &'a [String],
        chosen: Option<usize>,
        right: Option<usize>,
    },
    /// What is read on demand.
    Details {
        summary: String,
        parts: Vec<Part<'a>>,
    },
    /// What follows waits, or has waited, for what stands above.
    Gate {
        caption: &'a str,
    },
}

/// Code with what it shows.
pub struct Code<'a> {
    pub source: &'a str,
    /// `In[n]`
    pub number: Option<u64>,
    pub outputs: Vec<OutputModel>,
    pub fault: Option<&'a Fault>,
    /// Its outputs are read, not its text.
    pub is_hidden: bool,
    /// Why what it shows is not, or not yet, what it would show now.
    pub note: Option<&'static str>,
}

/// What the stage shows.
pub struct Stage<'a> {
    pub caption: &'a str,
    pub sentence: String,
    /// Words that are lit; none: all.
    pub words: &'a [String],
    /// 0 is static, 1 is contextual.
    pub time: f32,
}

impl Stage<'_> {
    /// What the picture shows, in words for who does not see it. The picture has its caption in it.
    pub fn tell_picture(&self) -> String {
        if self.caption.is_empty() { self.tell() } else { format!("{}. {}", self.tell(), self.caption) }
    }

    /// What the stage shows, in words.
    pub fn tell(&self) -> String {
        let lit = if self.words.is_empty() { String::new() } else { format!(", with {} lit", self.words.join(", ")) };
        let time = match self.time {
            0.0 => "at the static vectors".to_owned(),
            1.0 => "at the contextual vectors".to_owned(),
            time => format!("at time {time} from static, 0, to contextual, 1"),
        };
        format!("The stage: “{}” {time}{lit}", self.sentence)
    }
}

pub struct SliderPart<'a> {
    pub caption: &'a str,
    /// What it turns.
    pub name: String,
    /// None of what is not in a snapshot, or no number.
    pub value: Option<f64>,
    /// What it turns is nothing that a slider could have made of it.
    pub is_custom: bool,
    pub range: (f64, f64),
}

impl SliderPart<'_> {
    /// What stands behind its name.
    pub fn tell_value(&self) -> String {
        match self.value {
            Some(value) => format!(" = {}", full(value)),
            None if self.is_custom => " = one of its own".to_owned(),
            None => String::new(),
        }
    }

    /// In [0, 1]
    pub fn share(&self) -> Option<f64> {
        let (from, to) = self.range;
        self.value.map(|value| ((value - from) / (to - from)).clamp(0.0, 1.0)).filter(|share| share.is_finite())
    }
}

impl<'a> Page<'a> {
    pub fn of(snapshot: &'a Snapshot) -> Self {
        let lesson = &snapshot.lesson;
        let cells = snapshot.notebook.cells.iter();
        Self {
            title: &lesson.title,
            lesson: &lesson.id,
            seed: snapshot.model.as_ref().map_or(lesson.seed, |model| model.made_of.seed),
            cells: cells.map(|cell| PageCell::of(cell, snapshot)).collect(),
            model: model(snapshot),
        }
    }

    /// The title stands in the first cell already.
    pub fn begins_with_title(&self) -> bool {
        let first = self.cells.first().and_then(|cell| cell.parts.first());
        matches!(first, Some(Part::Markdown(text)) if text.trim_start().starts_with("# "))
    }

    /// The names of the stage cells.
    pub fn stages(snapshot: &Snapshot) -> impl Iterator<Item = (&str, usize)> {
        snapshot.notebook.cells.iter().filter_map(|cell| match &*cell.cell.kind {
            CellKind::Stage { sentence, .. } => Some((&*cell.cell.id, *sentence)),
            _ => None,
        })
    }
}

impl<'a> PageCell<'a> {
    fn of(shown: &'a CellSnapshot, snapshot: &'a Snapshot) -> Self {
        let cell = &*shown.cell;
        let (kind, mut parts) = match &*cell.kind {
            CellKind::Text { .. } => ("text", vec![Part::Markdown(&cell.text)]),
            CellKind::Code { .. } => ("code", vec![Part::Code(code(shown))]),
            CellKind::Plot { caption, .. } => {
                let plot = Part::Code(Code { is_hidden: true, ..code(shown) });
                ("plot", caption_of(caption).into_iter().chain([plot]).collect())
            }
            CellKind::Stage { caption, sentence, words, time } => {
                let sentence =
                    snapshot.lesson.sentences.get(*sentence).map_or_else(String::new, |words| words.join(" "));
                ("stage", vec![Part::Stage(Stage { caption, sentence, words, time: *time })])
            }
            CellKind::Slider(slider) => {
                ("slider", vec![Part::Slider(slider_of(slider, cell, snapshot.model.as_ref()))])
            }
            CellKind::Predict(predict) => ("prediction", prediction(predict, shown)),
            CellKind::Exercise(exercise) => ("exercise", exercise_of(exercise, shown)),
            CellKind::Gate { caption, .. } => ("gate", vec![Part::Gate { caption }]),
        };
        if let Some(newer) = &cell.conflict {
            let newer = if cell.is_text() { Part::Markdown(newer) } else { Part::Code(plain_code(newer)) };
            let summary = "The lesson has a newer text for this cell".to_owned();
            parts.push(Part::Details { summary, parts: vec![newer] });
        }
        Self { id: &cell.id, kind, parts }
    }
}

fn model(snapshot: &Snapshot) -> Option<String> {
    let Some(model) = &snapshot.model else { return Some("The model was not there yet.".to_owned()) };
    let training = &model.training;
    let (step, of) = (training.step_shown(), training.progress.of);
    let is_changed = model.parameters != model.trained || !are_none(&model.interventions);
    let at = format!("The model is the one at step {step} of {of} of its training");
    let state = match (step == of, is_changed) {
        (true, false) => None,
        (true, true) => Some("The model is changed since its training.".to_owned()),
        (false, false) => Some(format!("{at}.")),
        (false, true) => Some(format!("{at}, and changed since.")),
    };
    let recipe = (!model.recipe.is_default())
        .then(|| format!("The lesson was trained again with {}.", model.recipe.words(&snapshot.lesson)));
    let all: Vec<String> = recipe.into_iter().chain(state).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// Where a reader would take what a cell shows for what it would show now.
fn note(shown: &CellSnapshot) -> Option<&'static str> {
    match (shown.status, &shown.run) {
        (CellStatus::Stale, Some(run)) if run.is_from_before => Some("It has not run in this session yet."),
        (CellStatus::Stale, Some(_)) => Some("This, or what it follows from, has changed since it ran."),
        (CellStatus::Waiting, Some(_)) => Some("It was running again: what it shows is from before."),
        (CellStatus::Waiting, None) => Some("It was still running."),
        (CellStatus::Stale, None) | (CellStatus::New | CellStatus::Fresh, _) => None,
    }
}

fn caption_of<'a>(caption: &str) -> Option<Part<'a>> {
    (!caption.is_empty()).then(|| Part::Line(caption.to_owned()))
}

fn code(shown: &CellSnapshot) -> Code<'_> {
    let run = shown.run.as_deref();
    Code {
        source: &shown.cell.text,
        number: run.and_then(|run| run.number),
        outputs: run.map_or_else(Vec::new, |run| OutputModel::all(&run.text, &run.outputs)),
        fault: run.and_then(|run| run.fault.as_ref()).or(shown.mistake.as_deref()),
        is_hidden: false,
        note: note(shown),
    }
}

fn plain_code(source: &str) -> Code<'_> {
    Code { source, number: None, outputs: Vec::new(), fault: None, is_hidden: false, note: None }
}

fn slider_of<'a>(slider: &'a Slider, cell: &DocumentCell, model: Option<&'a ModelSnapshot>) -> SliderPart<'a> {
    let name = match &slider.bind {
        Bind::Variable(name) => name.clone(),
        Bind::Temperature => "temperature".to_owned(),
        Bind::Time => "time".to_owned(),
        Bind::Mask => "mask".to_owned(),
        Bind::Weight { tensor, row, col } => format!("{}[{row}, {col}]", tensor.code_name()),
    };
    let value = turned(cell, model);
    let is_custom = slider.bind == Bind::Mask && model.is_some() && value.is_none();
    SliderPart { caption: &slider.caption, name, value, is_custom, range: slider.range }
}

fn prediction<'a>(predict: &'a Predict, shown: &'a CellSnapshot) -> Vec<Part<'a>> {
    let (chosen, is_locked) = match shown.cell.answer {
        Answer::Predict { chosen, is_locked } => (chosen, is_locked),
        _ => (None, false),
    };
    let choices = &predict.choices[..];
    let mut parts =
        vec![Part::Label("Predict"), Part::Markdown(&predict.ask), Part::Choices { choices, chosen, right: None }];
    // The answer is shown to who has given one.
    let Some(run) = shown.run.as_deref().filter(|_| is_locked) else { return parts };
    let right = match run.verdict {
        Some(Verdict::Prediction { right }) => Some(right),
        _ => None,
    };
    let mut answer: Vec<Part<'_>> = note(shown).map(|note| Part::Line(note.to_owned())).into_iter().collect();
    answer.push(Part::Choices { choices, chosen, right });
    if !run.outputs.is_empty() || run.fault.is_some() {
        let outputs = OutputModel::all(&predict.shows, &run.outputs);
        let shows = plain_code(&predict.shows);
        answer.push(Part::Code(Code { outputs, fault: run.fault.as_ref(), is_hidden: true, ..shows }));
    }
    if !predict.explain.is_empty() {
        answer.push(Part::Markdown(&predict.explain));
    }
    parts.push(Part::Details { summary: "The answer".to_owned(), parts: answer });
    parts
}

fn exercise_of<'a>(exercise: &'a Exercise, shown: &'a CellSnapshot) -> Vec<Part<'a>> {
    let cell = &shown.cell;
    let attempts = cell.attempts();
    // What the lesson begins with is no try of the learner's.
    let is_tried = attempts.is_passed || cell.is_edited();
    let run = shown.run.as_deref().filter(|_| is_tried);
    let mut parts = vec![Part::Label("Exercise"), Part::Markdown(&exercise.ask)];
    if exercise.start.is_some() {
        parts.push(Part::Code(if is_tried { code(shown) } else { plain_code(&cell.text) }));
    } else if run.is_some() {
        parts.extend(note(shown).map(|note| Part::Line(note.to_owned())));
    }
    parts.extend(run.and_then(verdict));
    for (i, hint) in exercise.hints.iter().enumerate() {
        let of = exercise.hints.len();
        let summary = if of == 1 { "Hint".to_owned() } else { format!("Hint {} of {of}", i + 1) };
        parts.push(Part::Details { summary, parts: vec![Part::Markdown(hint)] });
    }
    if attempts.is_revealed {
        let solution = Part::Code(plain_code(&exercise.solution));
        parts.push(Part::Details { summary: "A solution".to_owned(), parts: vec![solution] });
    }
    parts
}

fn verdict<'a>(run: &RunSnapshot) -> Option<Part<'a>> {
    let Some(Verdict::Exercise { is_right, feedback, failed_case, .. }) = &run.verdict else { return None };
    let case = failed_case.map_or(String::new(), |case| format!(", in case {}", case + 1));
    let said = feedback.as_ref().map_or(String::new(), |said| format!(": {said}"));
    Some(Part::Line(if *is_right { "Right.".to_owned() } else { format!("Not yet right{case}{said}") }))
}
