//! The content of a notebook, independent of any format; its pictures, of the stage and from the lesson's folder; and
//! its links to the web and, within a site, to lessons and glossary terms.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::Path;

use attune_core::kernel::notebook::document::{Answer, DocumentCell};
use attune_core::kernel::notebook::snapshot::{CellSnapshot, CellStatus, RunSnapshot, Verdict};
use attune_core::kernel::sentence_pass::interventions::are_none;
use attune_core::kernel::snapshot::{ModelSnapshot, Snapshot};
use attune_core::lesson::cells::{Bind, CellKind, Exercise, Predict, Slider};
use attune_core::lesson::live_text::LessonText;
use attune_core::lesson::panels::PanelName;
use attune_core::lesson::pictures::{PictureFolder, PictureFormat};
use attune_engine::code::Fault;

pub use super::links::{Links, is_safe_link};
use super::prose::LessonProse;
use crate::panels;
use crate::sheet::Sheet;
use crate::view_model::axes::ends;
use crate::view_model::notebook::{shown_choices, turned};
use crate::view_model::output::{OutputModel, full};

/// A notebook, from top to bottom.
pub struct Page<'a> {
    pub title: &'a str,
    /// The lesson's id.
    pub lesson: &'a str,
    pub seed: u64,
    pub cells: Vec<PageCell<'a>>,
    /// A description of how the model differs from the trained one; `None` if it does not.
    pub model: Option<String>,
}

pub struct PageCell<'a> {
    pub id: &'a str,
    pub kind: &'static str,
    pub items: Vec<PageItem<'a>>,
    /// The place of the cell in a presentation, if the page consists of slides.
    pub slide: Option<SlidePlace>,
}

/// The place of a slide in a presentation.
pub struct SlidePlace {
    pub title: String,
    /// The id of the stage cell that is shown beside the slide.
    pub stage: Option<String>,
    /// The step of the walk that the stage shows, counted from 0 through all layers; `None` if the slide is not part of
    /// a walk.
    pub walk: Option<usize>,
    /// Whether the slide is the first one of its cell, and so has the cell's controls.
    pub is_first: bool,
    /// Whether the slide shows the model's answer to the cell's prediction.
    pub answers: bool,
}

pub enum PageItem<'a> {
    /// A text by the lesson or the learner, with the values of its expressions.
    Markdown(LessonProse),
    /// The kind of a task, shown where the task begins.
    Label(&'static str),
    /// A line of plain text.
    Line(String),
    Code(Code<'a>),
    Stage(StageCell<'a>),
    Slider(PageSlider<'a>),
    Choices {
        choices: Vec<String>,
        chosen: Option<usize>,
        right: Option<usize>,
    },
    /// The reasons why each choice is right or wrong; a page shows only the reason for the chosen one.
    Reasons {
        reasons: Vec<PageItem<'a>>,
        chosen: Option<usize>,
    },
    /// Content that opens on demand.
    Details {
        summary: String,
        items: Vec<PageItem<'a>>,
    },
    /// A gate: the cells below it are hidden until the tasks above are done.
    Gate {
        caption: &'a str,
    },
    /// A panel of the window.
    Panel(Sheet),
}

/// Code and its outputs.
pub struct Code<'a> {
    pub source: &'a str,
    /// The number of the run, as in `In[n]`.
    pub number: Option<u64>,
    pub outputs: Vec<OutputModel>,
    pub fault: Option<&'a Fault>,
    /// Whether the source is hidden, so that only the outputs are shown.
    pub is_hidden: bool,
    /// The reason why the outputs may be out of date.
    pub note: Option<&'static str>,
}

/// The content of a stage cell.
pub struct StageCell<'a> {
    pub caption: &'a str,
    pub sentence: String,
    /// The highlighted words; empty for all words.
    pub words: &'a [String],
    /// The time of the points, from 0 (static) to 1 (contextual).
    pub time: f32,
    is_recorded: bool,
}

impl StageCell<'_> {
    /// Returns the alternative text of the picture, for screen readers. The caption is part of the picture.
    pub fn tell_picture(&self) -> String {
        if self.caption.is_empty() { self.tell() } else { format!("{}. {}", self.tell(), self.caption) }
    }

    /// Describes the content of the stage.
    pub fn tell(&self) -> String {
        let lit =
            if self.words.is_empty() { String::new() } else { format!(", with {} highlighted", self.words.join(", ")) };
        let [first, last] = ends(self.is_recorded);
        let time = match self.time {
            0.0 if self.is_recorded => format!("with the vectors {first}"),
            1.0 if self.is_recorded => format!("with the vectors {last}"),
            0.0 => format!("with the {first} vectors"),
            1.0 => format!("with the {last} vectors"),
            time => format!("at time {time}, where 0 is {first} and 1 is {last}"),
        };
        format!("The stage: “{}” {time}{lit}", self.sentence)
    }
}

pub struct PageSlider<'a> {
    pub caption: &'a str,
    /// The name of the quantity that the slider sets, as in code.
    pub name: String,
    /// The current value; `None` if the snapshot does not have it, or it is not a number.
    pub value: Option<f64>,
    /// Whether the value is one that the slider cannot set.
    pub is_custom: bool,
    pub range: (f64, f64),
}

impl PageSlider<'_> {
    /// Returns the text of the value, which is written after the name.
    pub fn tell_value(&self) -> String {
        match self.value {
            Some(value) => format!(" = {}", full(value)),
            None if self.is_custom => " = custom".to_owned(),
            None => String::new(),
        }
    }

    /// Returns the position of the value within the slider's range, in [0, 1]; `None` if there is no value, or if the
    /// range is empty.
    pub fn share(&self) -> Option<f64> {
        let (from, to) = self.range;
        self.value.map(|value| ((value - from) / (to - from)).clamp(0.0, 1.0)).filter(|share| share.is_finite())
    }
}

impl<'a> Page<'a> {
    pub fn of(snapshot: &'a Snapshot, panels: &[PanelName]) -> Self {
        let lesson = &snapshot.lesson;
        let cells = snapshot.notebook.cells.iter().map(|cell| PageCell::of(cell, snapshot));
        let panels = panels::sheets(panels, snapshot).into_iter().map(PageCell::of_panel);
        Self {
            title: &lesson.title,
            lesson: &lesson.id,
            seed: snapshot.model.as_ref().map_or(lesson.seed, |model| model.made_of.seed),
            cells: cells.chain(panels).collect(),
            model: model(snapshot),
        }
    }

    /// Returns whether the title is the first item of the cells, apart from stage pictures.
    pub fn begins_with_title(&self) -> bool {
        let mut items = self.cells.iter().flat_map(|cell| &cell.items);
        let first = items.find(|item| !matches!(item, PageItem::Stage(_)));
        matches!(first, Some(PageItem::Markdown(prose)) if prose.begins_with_title())
    }

    /// Returns the id and the sentence's index of each stage cell.
    pub fn stages(snapshot: &Snapshot) -> impl Iterator<Item = (&str, usize)> {
        snapshot.notebook.cells.iter().filter_map(|cell| match &*cell.cell.kind {
            CellKind::Stage { sentence, .. } => Some((&*cell.cell.id, *sentence)),
            _ => None,
        })
    }
}

impl<'a> PageCell<'a> {
    /// Creates a cell from a panel, which a page shows below the notebook.
    fn of_panel(sheet: Sheet) -> Self {
        Self { id: sheet.title, kind: "panel", items: vec![PageItem::Panel(sheet)], slide: None }
    }

    pub(super) fn of(shown: &'a CellSnapshot, snapshot: &'a Snapshot) -> Self {
        let cell = &*shown.cell;
        let (kind, mut items) = match &*cell.kind {
            CellKind::Text { .. } => ("text", vec![markdown(&cell.text, shown)]),
            CellKind::Code { .. } => ("code", vec![PageItem::Code(code(shown))]),
            CellKind::Plot { caption, .. } => {
                let plot = PageItem::Code(Code { is_hidden: true, ..code(shown) });
                ("plot", caption_of(caption).into_iter().chain([plot]).collect())
            }
            CellKind::Stage { caption, sentence, words, time, plays: _, lines: _, goals: _ } => {
                let sentence =
                    snapshot.lesson.sentences.get(*sentence).map_or_else(String::new, |words| words.join(" "));
                let is_recorded = snapshot.lesson.static_embedding.recording().is_some();
                ("stage", vec![PageItem::Stage(StageCell { caption, sentence, words, time: *time, is_recorded })])
            }
            CellKind::Slider(slider) => {
                ("slider", vec![PageItem::Slider(slider_of(slider, cell, snapshot.model.as_ref()))])
            }
            CellKind::Predict(predict) => ("prediction", prediction(predict, shown)),
            CellKind::Exercise(exercise) => ("exercise", exercise_of(exercise, shown)),
            CellKind::Gate { caption, .. } => ("gate", vec![PageItem::Gate { caption }]),
        };
        if let Some(newer) = &cell.conflict {
            let newer =
                if cell.is_text() { markdown(&newer.clone().into(), shown) } else { PageItem::Code(plain_code(newer)) };
            let summary = "The lesson has a newer text for this cell".to_owned();
            items.push(PageItem::Details { summary, items: vec![newer] });
        }
        Self { id: &cell.id, kind, items, slide: None }
    }
}

pub(super) fn markdown<'a>(source: &LessonText, shown: &CellSnapshot) -> PageItem<'a> {
    PageItem::Markdown(LessonProse::of(source, shown.live.as_ref()))
}

fn model(snapshot: &Snapshot) -> Option<String> {
    let Some(model) = &snapshot.model else { return Some("The model was not ready yet.".to_owned()) };
    let training = &model.training;
    let (step, of) = (training.step_shown(), training.progress.of);
    let is_changed = !model.edits.is_empty() || !are_none(&model.interventions);
    let at = format!("The model is shown as it was after step {step} of {of} of its training");
    let state = match (step == of, is_changed) {
        (true, false) => None,
        (true, true) => Some("The model has been changed since its training.".to_owned()),
        (false, false) => Some(format!("{at}.")),
        (false, true) => Some(format!("{at}, with the changes made since then.")),
    };
    let recipe = (!model.recipe.is_default())
        .then(|| format!("The model was trained again: {}.", model.recipe.words(&snapshot.lesson)));
    let all: Vec<String> = recipe.into_iter().chain(state).collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// Returns a warning if the outputs may be out of date.
fn note(shown: &CellSnapshot) -> Option<&'static str> {
    match (shown.status, &shown.run) {
        (CellStatus::Stale, Some(run)) if run.is_from_before => Some("This cell has not run in this session yet."),
        (CellStatus::Stale, Some(_)) => Some("This cell, or something that it depends on, has changed since it ran."),
        (CellStatus::Waiting, Some(_)) => Some("This cell was running again; the outputs are from the run before."),
        (CellStatus::Waiting, None) => Some("This cell was still running."),
        (CellStatus::Stale, None) | (CellStatus::New | CellStatus::Fresh, _) => None,
    }
}

fn caption_of<'a>(caption: &str) -> Option<PageItem<'a>> {
    (!caption.is_empty()).then(|| PageItem::Line(caption.to_owned()))
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

pub(super) fn plain_code(source: &str) -> Code<'_> {
    Code { source, number: None, outputs: Vec::new(), fault: None, is_hidden: false, note: None }
}

fn slider_of<'a>(slider: &'a Slider, cell: &DocumentCell, model: Option<&'a ModelSnapshot>) -> PageSlider<'a> {
    let value = turned(cell, model);
    let is_custom = slider.bind == Bind::Mask && model.is_some() && value.is_none();
    PageSlider { caption: &slider.caption, name: slider.bind.to_string(), value, is_custom, range: slider.range }
}

fn prediction<'a>(predict: &'a Predict, shown: &'a CellSnapshot) -> Vec<PageItem<'a>> {
    let (chosen, is_locked) = match shown.cell.answer {
        Answer::Predict { chosen, is_locked } => (chosen, is_locked),
        _ => (None, false),
    };
    let shown_choices = shown_choices(predict, shown);
    let place_of = |index: Option<usize>| shown_choices.iter().position(|(of, _)| Some(*of) == index);
    let choices: Vec<String> = shown_choices.iter().map(|(_, words)| words.clone()).collect();
    let chosen = place_of(chosen);
    let mut items = vec![
        PageItem::Label("Predict"),
        markdown(&predict.ask, shown),
        PageItem::Choices { choices: choices.clone(), chosen, right: None },
    ];
    // The model's answer is shown only after the learner has answered.
    let Some(run) = shown.run.as_deref().filter(|_| is_locked) else { return items };
    let right = match run.verdict {
        Some(Verdict::Prediction { right }) => place_of(Some(right)),
        _ => None,
    };
    let mut answer: Vec<PageItem<'_>> = note(shown).map(|note| PageItem::Line(note.to_owned())).into_iter().collect();
    answer.push(PageItem::Choices { choices, chosen, right });
    let reasons = shown_choices.iter().filter_map(|(index, _)| predict.reasons.get(*index));
    let reasons: Vec<PageItem<'_>> = reasons.map(|reason| markdown(reason, shown)).collect();
    answer.push(PageItem::Reasons { reasons, chosen });
    if !run.outputs.is_empty() || run.fault.is_some() {
        let outputs = OutputModel::all(&predict.shows, &run.outputs);
        let shows = plain_code(&predict.shows);
        answer.push(PageItem::Code(Code { outputs, fault: run.fault.as_ref(), is_hidden: true, ..shows }));
    }
    if !predict.explain.is_empty() {
        answer.push(markdown(&predict.explain, shown));
    }
    items.push(PageItem::Details { summary: "The answer".to_owned(), items: answer });
    items
}

fn exercise_of<'a>(exercise: &'a Exercise, shown: &'a CellSnapshot) -> Vec<PageItem<'a>> {
    let cell = &shown.cell;
    let attempts = cell.attempts();
    // The lesson's own starting code does not count as an attempt.
    let is_tried = attempts.is_passed || cell.is_edited();
    let run = shown.run.as_deref().filter(|_| is_tried);
    let mut items = vec![PageItem::Label("Exercise"), markdown(&exercise.ask, shown)];
    if exercise.start.is_some() {
        items.push(PageItem::Code(if is_tried { code(shown) } else { plain_code(&cell.text) }));
    } else if run.is_some() {
        items.extend(note(shown).map(|note| PageItem::Line(note.to_owned())));
    }
    items.extend(run.into_iter().flat_map(|run| verdict(run, shown)));
    for (i, hint) in exercise.hints.iter().enumerate() {
        let of = exercise.hints.len();
        let summary = if of == 1 { "Hint".to_owned() } else { format!("Hint {} of {of}", i + 1) };
        items.push(PageItem::Details { summary, items: vec![markdown(hint, shown)] });
    }
    if attempts.is_revealed {
        let solution = PageItem::Code(plain_code(&exercise.solution));
        items.push(PageItem::Details { summary: "A solution".to_owned(), items: vec![solution] });
    }
    items
}

fn verdict<'a>(run: &RunSnapshot, shown: &CellSnapshot) -> Vec<PageItem<'a>> {
    let Some(Verdict::Exercise { is_right, feedback, failed_case, .. }) = &run.verdict else { return Vec::new() };
    let case = failed_case.map_or(String::new(), |case| format!(" in case {}", case + 1));
    let line = if *is_right { "Right.".to_owned() } else { format!("Not yet right{case}.") };
    let said = feedback.as_ref().map(|said| markdown(&said.clone().into(), shown));
    [PageItem::Line(line)].into_iter().chain(said).collect()
}

/// The pictures of a page.
#[derive(Default)]
pub struct Pictures {
    /// The panels of the window that the page shows below the notebook.
    pub panels: Vec<PanelName>,
    stages: BTreeMap<String, StagePicture>,
    /// The reason that the page states in place of a missing stage picture.
    pub why_no_stage: String,
    folder: RefCell<PictureFolder>,
    /// The number of bytes read from the folder's pictures so far.
    read: Cell<u64>,
}

/// A picture of a stage cell, as PNG.
pub struct StagePicture {
    pub light: Vec<u8>,
    /// A second picture for dark pages.
    pub dark: Option<Vec<u8>>,
}

/// A picture in the lesson's folder.
pub struct Image {
    pub bytes: Vec<u8>,
    pub format: PictureFormat,
}

/// The largest total size of a page's pictures from the folder, in bytes. A picture that is shown twice counts twice.
const PAGE_BYTES_MAX: u64 = 64 << 20;

impl Pictures {
    /// Creates the pictures of a page that shows panels, without pictures of the stage.
    pub fn of_panels(panels: &[PanelName]) -> Self {
        Self { panels: panels.to_vec(), ..Self::default() }
    }

    /// Creates the pictures of a page with access to the pictures in the lesson's folder. Pictures of the stage are
    /// missing for the given reason until they are added.
    pub fn of_lesson(file: &Path, why_no_stage: impl Into<String>) -> Self {
        Self { folder: PictureFolder::of(file).into(), why_no_stage: why_no_stage.into(), ..Self::default() }
    }

    pub fn add_stage(&mut self, cell: impl Into<String>, picture: StagePicture) {
        self.stages.insert(cell.into(), picture);
    }

    pub fn stage(&self, cell: &str) -> Option<&StagePicture> {
        self.stages.get(cell)
    }

    pub fn stages(&self) -> usize {
        self.stages.len()
    }

    /// Reads a picture that a text of the lesson names.
    ///
    /// # Errors
    /// If there is no such picture, or it may not be shown; described in words.
    pub fn image(&self, url: &str) -> Result<Image, String> {
        let picture = self.folder.borrow_mut().find(url)?;
        let bytes = picture.read()?;
        let read = self.read.get() + bytes.len() as u64;
        if read > PAGE_BYTES_MAX {
            return Err(format!("a page holds {} MiB of pictures at most", PAGE_BYTES_MAX >> 20));
        }
        self.read.set(read);
        Ok(Image { bytes, format: picture.format })
    }
}
