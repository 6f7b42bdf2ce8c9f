//! The notebook: the learner's cells with the texts and numbers beside them, and the live expressions within texts. A
//! live expression is shown as a number or a word, marked if it is no longer the value that the text describes.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use attune_core::kernel::notebook::document::{Answer, Behaviour, CellId, DocumentCell};
use attune_core::kernel::notebook::live::{Follows, LiveName};
use attune_core::kernel::notebook::live_text::{LiveTextSnapshot, LiveValue, Spoken, sentence_above};
use attune_core::kernel::notebook::snapshot::{CellSnapshot, CellStatus, RunSnapshot, Verdict};
use attune_core::kernel::sentence_pass::interventions::are_none;
use attune_core::kernel::snapshot::{HistorySnapshot, ModelSnapshot, Progress, SentenceSnapshot, Snapshot};
use attune_core::kernel::training::stop::Stopped;
use attune_core::lesson::cells::{Bind, CellKind, Predict};
use attune_core::lesson::issue::shorten;
use attune_core::lesson::live_text::{LessonText, LiveExpression};
use attune_engine::code::editor::highlight::highlight;
use attune_engine::code::editor::scope::{CompletionScope, Name, NameKind, NotebookNames, definitions};
use attune_engine::code::{Axis, Fault, Value};
use attune_engine::numerics::attention::Mask;
use attune_engine::quantity::Entry;

use super::course::Tasks;
use super::output::{ComparedModel, OutputModel};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct NotebookModel {
    pub title: String,
    pub cells: Vec<CellModel>,
    pub auto_run: bool,
    /// Whether a cell runs or waits to run.
    pub is_running: bool,
    /// The number of completed predictions and exercises, and the number of all.
    pub tasks: Tasks,
    /// The index of the first closed gate, after which no cell is shown; `None` if no gate is closed.
    pub closed_gate: Option<usize>,
    pub history: HistorySnapshot,
    /// The names of the model's tensors, and then those that each cell defines.
    pub names: Arc<NotebookNames>,
    /// The number of these names that each cell sees, beginning with the first.
    pub seen: Vec<usize>,
    /// The names of the model's tensors, which every cell sees.
    pub live: Arc<[LiveName]>,
    /// The sentences that can be chosen, as text.
    pub sentences: Arc<[String]>,
    /// The sentence on the stage, as text.
    pub sentence: String,
    /// The words of the sentence that the stage shows.
    pub words: Vec<String>,
    /// The index of the sentence on the stage among `sentences`; `None` if it is not one of them.
    pub selected: Option<usize>,
    pub notice: Option<Arc<str>>,
    /// The progress of a tour of the model, in texts that have run; `None` if there is no tour.
    pub touring: Option<Progress>,
    /// The differences between the learner's model and stage and those of the lesson.
    differences: Arc<Differences>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CellModel {
    pub cell: Arc<DocumentCell>,
    pub shown: CellSnapshot,
    pub outputs: Arc<[OutputModel]>,
    /// The value that is shown beside the check of an exercise.
    pub value: Arc<[OutputModel]>,
    /// The learner's answer beside the expected one, for each case of an exercise.
    pub compared: Arc<[ComparedModel]>,
    /// Whether the answer to an exercise is judged: always if the exercise is solved in code, and otherwise once it was
    /// tried or is right.
    pub is_judged: bool,
    /// The label of a code cell: `[3]`, `[*]` or `[ ]`.
    pub label: String,
    /// The state in a word or two: `stale`, `from earlier`, `12 ms`.
    pub note: String,
    /// The value of a slider; see [`turned`].
    pub turned: Option<f64>,
    /// The level and the words of each heading in the text.
    pub headings: Arc<[(usize, String)]>,
    /// The live expressions in the cell's texts, if there are any.
    pub live: Option<LiveCellModel>,
    /// The names that the cell defines for the cells below.
    defines: Arc<[Name]>,
}

impl CellModel {
    /// Builds the model of a cell. `before` is the last model of the same cell, whose unchanged parts are reused.
    pub fn of(
        shown: &CellSnapshot,
        model: Option<&ModelSnapshot>,
        differences: &Arc<Differences>,
        before: Option<&CellModel>,
    ) -> Self {
        let cell = &shown.cell;
        let turned = turned(cell, model);
        let live_before = before.and_then(|before| before.live.as_ref());
        let live = shown.live.as_ref().map(|live| LiveCellModel::of(live, differences, live_before));
        if let Some(before) = before.filter(|before| before.is_of(shown)) {
            return Self { turned, live, ..before.clone() };
        }
        let is_same_run = |before: &&CellModel| agree(before.shown.run.as_ref(), shown.run.as_ref(), Arc::ptr_eq);
        let (outputs, value, compared) = match before.filter(is_same_run) {
            Some(before) => (before.outputs.clone(), before.value.clone(), before.compared.clone()),
            None => outputs(shown.run.as_deref()),
        };
        let is_same_text = |before: &&CellModel| Arc::ptr_eq(&before.cell, cell);
        let defines = match before.filter(is_same_run).filter(is_same_text) {
            Some(before) => before.defines.clone(),
            None => defines(cell, shown.run.as_deref()),
        };
        Self {
            outputs,
            value,
            compared,
            is_judged: is_judged(shown),
            label: label(shown),
            note: note(shown),
            turned,
            headings: headings(cell),
            live,
            defines,
            cell: cell.clone(),
            shown: shown.clone(),
        }
    }

    /// Returns whether the model was made from this cell in this state. Texts and results are compared only by their
    /// pointers.
    fn is_of(&self, shown: &CellSnapshot) -> bool {
        let CellSnapshot { cell, status, run, mistake, reads_model, shadows, live, order } = &self.shown;
        Arc::ptr_eq(cell, &shown.cell)
            && *status == shown.status
            && agree(run.as_ref(), shown.run.as_ref(), Arc::ptr_eq)
            && agree(mistake.as_ref(), shown.mistake.as_ref(), Arc::ptr_eq)
            && *reads_model == shown.reads_model
            && *shadows == shown.shadows
            && *order == shown.order
            && agree(live.as_ref(), shown.live.as_ref(), LiveTextSnapshot::is_same)
    }

    /// Returns whether the last answer was judged right.
    pub fn is_right(&self) -> bool {
        is_right(&self.shown)
    }

    /// Returns whether the cell is a prediction without an answer.
    fn awaits_answer(&self) -> bool {
        matches!(self.cell.answer, Answer::Predict { is_locked: false, .. })
    }

    pub fn is_exercise(&self) -> bool {
        matches!(*self.cell.kind, CellKind::Exercise(_))
    }

    pub fn id(&self) -> &CellId {
        &self.cell.id
    }
}

impl NotebookModel {
    /// Builds the model. Unchanged parts of `before` are reused.
    pub fn of(snapshot: &Snapshot, before: Option<&NotebookModel>) -> NotebookModel {
        let lesson = &snapshot.lesson;
        let model = snapshot.model.as_ref();
        let current = model.map(|model| &model.sentence);
        let words = |s: &SentenceSnapshot| s.chosen().iter().map(|token| &*token.text).collect::<Vec<_>>().join(" ");
        let known = Known::of(before);
        let sentences: Arc<[String]> = lesson.sentences.iter().map(|words| words.join(" ")).collect();
        let sentence = current.map_or_else(String::new, |s| words(s));
        let differences = Differences::of(snapshot, &sentences, &sentence);
        let differences = match before.filter(|before| *before.differences == differences) {
            Some(before) => before.differences.clone(),
            None => Arc::new(differences),
        };
        let cells = snapshot.notebook.cells.iter().enumerate();
        let cells: Vec<CellModel> = cells
            .map(|(index, shown)| CellModel::of(shown, model, &differences, known.cell(index, &shown.cell.id)))
            .collect();
        let (names, seen) = names(&cells, &snapshot.notebook.live, before);
        NotebookModel {
            title: lesson.title.clone(),
            auto_run: snapshot.notebook.auto_run,
            is_running: cells.iter().any(|cell| cell.shown.status == CellStatus::Waiting),
            tasks: Tasks::of(&snapshot.notebook),
            closed_gate: snapshot.notebook.closed_gate,
            history: snapshot.history.clone(),
            live: snapshot.notebook.live.clone(),
            names,
            seen,
            sentences,
            sentence,
            words: current.map_or_else(Vec::new, |s| s.tokens.iter().map(|token| token.text.clone()).collect()),
            selected: current.map_or(Some(0), |s| s.index),
            notice: snapshot.notice.clone(),
            touring: snapshot.touring,
            differences,
            cells,
        }
    }

    /// Returns the names in a cell's scope: the tensors and, unless `is_clean`, those that the cells above define.
    pub fn scope(&self, index: usize, is_clean: bool) -> CompletionScope {
        let seen = self.seen.get(index).copied().filter(|_| !is_clean);
        CompletionScope::of(self.names.clone(), seen.unwrap_or(self.live.len()))
    }

    pub fn index(&self, id: &str) -> Option<usize> {
        self.cells.iter().position(|cell| **cell.id() == *id)
    }

    /// Returns the unanswered predictions above a cell in the same section. The cell may reveal their answers.
    pub fn questions_above(&self, index: usize) -> impl Iterator<Item = &CellModel> {
        let section = self.cells[..=index].iter().rposition(|cell| !cell.headings.is_empty()).unwrap_or(0);
        self.cells[section..index].iter().filter(|cell| cell.awaits_answer())
    }

    /// Returns the sentence of the last stage cell above a cell, or the first sentence.
    pub fn sentence_above(&self, id: &str) -> usize {
        sentence_above(self.cells.iter().map(|cell| &cell.cell), id)
    }

    /// Returns the predictions without an answer.
    pub fn unanswered(&self) -> impl Iterator<Item = &CellId> {
        self.cells.iter().filter(|cell| cell.awaits_answer()).map(CellModel::id)
    }

    /// Returns the differences between the learner's model and that of the lesson, each in two or three words.
    /// Predictions are about the lesson's model.
    pub fn model_changes(&self) -> Vec<&'static str> {
        let Differences { forward, weights, recipe, .. } = &*self.differences;
        forward.iter().chain(weights).chain(recipe).map(|difference| difference.mark).collect()
    }

    /// Returns every section and task, including those behind a closed gate.
    pub fn outline(&self) -> Vec<OutlineRow> {
        let mut level = 1;
        let mut rows = Vec::new();
        for (index, cell) in self.cells.iter().enumerate() {
            let is_open = index < self.open_cells().len();
            let row = |level, words, done| OutlineRow { id: cell.id().clone(), level, words, done, is_open };
            for (of, words) in cell.headings.iter() {
                level = *of;
                rows.push(row(level, words.clone(), None));
            }
            rows.extend(task_words(&cell.cell).map(|words| row(level + 1, words, Some(cell.cell.is_done()))));
        }
        rows
    }

    /// Returns the cells up to the first closed gate, including the gate.
    pub fn open_cells(&self) -> &[CellModel] {
        let end = self.closed_gate.map_or(self.cells.len(), |gate| gate + 1);
        &self.cells[..end.min(self.cells.len())]
    }
}

/// A section or a task in the outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlineRow {
    pub id: CellId,
    /// The level: 1 for a heading `#`; for a task, one more than its section.
    pub level: usize,
    pub words: String,
    /// Whether a task is completed; `None` for a section.
    pub done: Option<bool>,
    /// Whether it is not behind a closed gate.
    pub is_open: bool,
}

/// The cells of the previous model. They are found by index or, if cells were moved, by id.
struct Known<'a> {
    cells: &'a [CellModel],
    by_id: OnceCell<HashMap<&'a str, usize>>,
}

impl<'a> Known<'a> {
    fn of(before: Option<&'a NotebookModel>) -> Self {
        Self { cells: before.map_or(&[], |before| &before.cells), by_id: OnceCell::new() }
    }

    fn cell(&self, index: usize, id: &CellId) -> Option<&'a CellModel> {
        if let Some(cell) = self.cells.get(index).filter(|cell| cell.id() == id) {
            return Some(cell);
        }
        let places = || self.cells.iter().enumerate().map(|(at, cell)| (&**cell.id(), at)).collect();
        self.by_id.get_or_init(places).get(&**id).map(|&at| &self.cells[at])
    }
}

/// Returns whether both are missing, or both exist and `is_same` holds.
fn agree<T>(a: Option<&T>, b: Option<&T>, is_same: impl Fn(&T, &T) -> bool) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => is_same(a, b),
        (None, None) => true,
        _ => false,
    }
}

/// Returns the names of the model's tensors and of all cells, and how many of them each cell sees. Those of `before`
/// are reused if nothing in them changed.
fn names(
    cells: &[CellModel],
    live: &Arc<[LiveName]>,
    before: Option<&NotebookModel>,
) -> (Arc<NotebookNames>, Vec<usize>) {
    let is_same = |before: &&NotebookModel| {
        Arc::ptr_eq(&before.live, live)
            && before.cells.len() == cells.len()
            && before
                .cells
                .iter()
                .zip(cells)
                .all(|(a, b)| Arc::ptr_eq(&a.defines, &b.defines) || a.defines == b.defines)
    };
    if let Some(before) = before.filter(is_same) {
        return (before.names.clone(), before.seen.clone());
    }
    let above = cells.iter().scan(live.len(), |seen, cell| {
        let above = *seen;
        *seen += cell.defines.len();
        Some(above)
    });
    let live = live.iter().map(|live| {
        let detail = if live.axes.is_empty() { "a number".to_owned() } else { shape(&live.axes) };
        let (name, meaning) = (live.name.clone(), live.meaning.clone());
        Name { name, kind: NameKind::Tensor, detail, meaning, equation: String::new(), axes: live.axes.clone() }
    });
    let defined = cells.iter().flat_map(|cell| cell.defines.iter().cloned());
    (Arc::new(NotebookNames::new(live.chain(defined))), above.collect())
}

/// Returns the names that a cell defines for those below. Before it has run, these are the names that its text will
/// define.
fn defines(cell: &DocumentCell, run: Option<&RunSnapshot>) -> Arc<[Name]> {
    if let Some((name, value)) = cell.turned_variable() {
        return Arc::from([Name::plain(name, NameKind::Variable, format!("= {value}"))]);
    }
    if !cell.is_code() {
        return Arc::from([]);
    }
    let run = run.filter(|run| !run.is_from_before);
    let text = run.map_or(&*cell.text, |run| &*run.text);
    let written = definitions(text, &highlight(text)).into_iter().filter(|found| found.depth == 0);
    let written = written.map(|found| found.name);
    let Some(run) = run else {
        let written = written.map(|name| match name.kind {
            NameKind::Variable => Name { detail: "not run yet".to_owned(), ..name },
            _ => name,
        });
        return written.collect();
    };
    let functions: Vec<Name> = written.filter(|name| name.kind == NameKind::Function).collect();
    let defined = run.defined.iter().map(|name| {
        let function = functions.iter().find(|function| function.name == *name);
        function.cloned().unwrap_or_else(|| Name::plain(name, NameKind::Variable, ""))
    });
    defined.collect()
}

fn shape(axes: &[Axis]) -> String {
    let lens: Vec<String> = axes.iter().map(|axis| axis.len.to_string()).collect();
    format!("({})", lens.join(", "))
}

type Shown = (Arc<[OutputModel]>, Arc<[OutputModel]>, Arc<[ComparedModel]>);

fn outputs(run: Option<&RunSnapshot>) -> Shown {
    let Some(run) = run else { return (Arc::from([]), Arc::from([]), Arc::from([])) };
    let (value, compared) = match &run.verdict {
        Some(Verdict::Exercise { value, compared, .. }) => (OutputModel::all("", value), ComparedModel::all(compared)),
        _ => (Vec::new(), Vec::new()),
    };
    (OutputModel::all(&run.text, &run.outputs).into(), value.into(), compared.into())
}

/// Returns whether an exercise is judged. An exercise that is solved outside of code is checked automatically, so it is
/// not judged until the learner has changed something.
fn is_judged(shown: &CellSnapshot) -> bool {
    let CellKind::Exercise(exercise) = &*shown.cell.kind else { return false };
    exercise.start.is_some() || is_right(shown) || shown.cell.attempts().tried > 0
}

fn is_right(shown: &CellSnapshot) -> bool {
    let verdict = shown.run.as_ref().and_then(|run| run.verdict.as_ref());
    match (verdict, &shown.cell.answer) {
        (Some(Verdict::Exercise { is_right, .. }), _) => *is_right,
        (Some(Verdict::Prediction { right }), Answer::Predict { chosen, .. }) => *chosen == Some(*right),
        _ => false,
    }
}

fn label(shown: &CellSnapshot) -> String {
    if !matches!(*shown.cell.kind, CellKind::Code { .. }) {
        return String::new();
    }
    match (shown.status, shown.run.as_ref().and_then(|run| run.number)) {
        (CellStatus::Waiting, _) => "[*]".to_owned(),
        (_, Some(number)) => format!("[{number}]"),
        (_, None) => "[ ]".to_owned(),
    }
}

fn note(shown: &CellSnapshot) -> String {
    match (shown.status, &shown.run) {
        _ if !shown.cell.is_code() && !shown.cell.kind.is_task() => String::new(),
        (CellStatus::Stale, _) if shown.is_stale() => "stale".to_owned(),
        (CellStatus::Stale, _) => "from earlier".to_owned(),
        (CellStatus::Fresh, Some(run)) if shown.cell.is_code() && run.elapsed > Duration::ZERO => elapsed(run.elapsed),
        _ => String::new(),
    }
}

/// Formats a duration as `80 µs`, `1.2 ms` or `3.4 s`.
fn elapsed(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        s if s < 1e-3 => format!("{:.0} µs", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.1} s"),
    }
}

/// Returns the value of a slider; `None` for other cells, for the viewer's own time, for a custom mask, and before
/// there is a model unless the slider sets a variable.
pub fn turned(cell: &DocumentCell, model: Option<&ModelSnapshot>) -> Option<f64> {
    let CellKind::Slider(slider) = &*cell.kind else { return None };
    match &slider.bind {
        Bind::Variable(_) => cell.turned_variable().map(|(_, value)| value),
        Bind::Temperature => model.map(|model| model.interventions.temperature_of(&model.architecture.blocks[0])),
        Bind::Weight { tensor, row, col } => {
            let parameters = &model?.parameters;
            parameters.entry(*tensor, *row, *col).map(f64::from)
        }
        Bind::Mask => {
            let own = &model?.architecture.blocks[0].attention.mask;
            match model?.interventions.mask.as_ref().unwrap_or(own) {
                Mask::None => Some(0.0),
                Mask::Causal => Some(1.0),
                Mask::Custom(_) => None,
            }
        }
        Bind::Time => None,
    }
}

/// Returns the level and the words of each heading `# Words`, outside of code blocks.
fn headings(cell: &DocumentCell) -> Arc<[(usize, String)]> {
    const LEVELS: std::ops::RangeInclusive<usize> = 1..=6;
    if !cell.is_text() {
        return Arc::from([]);
    }
    let mut is_code = false;
    let heading = |line: &str| {
        is_code ^= line.trim_start().starts_with("```");
        let level = line.chars().take_while(|c| *c == '#').count();
        let words = line[level..].trim();
        let is_heading = !is_code && LEVELS.contains(&level) && line[level..].starts_with(' ') && !words.is_empty();
        is_heading.then(|| (level, words.replace(['*', '`', '$'], "")))
    };
    cell.text.lines().filter_map(heading).collect()
}

/// Returns the kind and the first line of a task, without Markdown and cut to a limited length; `None` for a cell that
/// is not a task.
fn task_words(cell: &DocumentCell) -> Option<String> {
    const CHARS_MAX: usize = 60;
    let ask = match &*cell.kind {
        CellKind::Predict(predict) => &predict.ask,
        CellKind::Exercise(exercise) => &exercise.ask,
        _ => return None,
    };
    let title = Behaviour::of(&cell.kind).title;
    let plain: String = ask.chars().filter(|c| !matches!(c, '*' | '`' | '$' | '\\')).collect();
    let short: String = plain.lines().next().unwrap_or_default().chars().take(CHARS_MAX).collect();
    let dots = if short.len() < plain.trim_end().len() { " …" } else { "" };
    Some(format!("{title}: {}{dots}", short.trim_end()))
}

/// The differences between the model and the stage and those of the lesson.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Differences {
    /// The index of the sentence on the stage among the lesson's; `None` if it is not one of them.
    stage: Option<usize>,
    stage_words: String,
    /// The sentence on the stage as it is written.
    stage_text: String,
    sentences: Arc<[String]>,
    forward: Option<Difference>,
    weights: Vec<Difference>,
    recipe: Option<Difference>,
}

/// A reason why a number may not be the one that the text describes.
#[derive(Clone, Debug, PartialEq)]
struct Difference {
    /// A mark of two or three words, shown beside the number.
    mark: &'static str,
    sentence: String,
}

impl Difference {
    fn new(mark: &'static str, sentence: impl Into<String>) -> Self {
        Self { mark, sentence: sentence.into() }
    }
}

impl Differences {
    /// Finds the differences. `sentences` are the lesson's, and `stage_words` is the sentence on the stage.
    pub fn of(snapshot: &Snapshot, sentences: &Arc<[String]>, stage_words: &str) -> Self {
        let Some(model) = &snapshot.model else { return Self::default() };
        let training = &model.training;
        let (step, progress) = (training.step_shown(), training.progress);
        let is_ended = matches!(training.stopped, Some(Stopped::LastStep | Stopped::Rule(_)));
        let is_trained = step == progress.done && (is_ended || progress.done == progress.of) && !training.playing;
        let at = || Difference::new("other step", format!("Training is at step {step} of {}.", progress.of));
        let edited = || Difference::new("weights edited", "Some weights have been edited.");
        let changed = || Difference::new("training changed", "Training was changed while it ran.");
        let retrained = || {
            let words = model.recipe.words(&snapshot.lesson);
            Difference::new("retrained", format!("The model was trained again: {words}."))
        };
        let is_edited = !model.edits.is_empty();
        Self {
            stage: model.sentence.index,
            stage_words: stage_words.to_owned(),
            stage_text: model.sentence.written(),
            sentences: sentences.clone(),
            forward: (!are_none(&model.interventions))
                .then(|| Difference::new("attention changed", "Attention has been changed in Intervene.")),
            weights: [(!is_trained).then(at), is_edited.then(edited), training.changes.last().is_some().then(changed)]
                .into_iter()
                .flatten()
                .collect(),
            recipe: (!model.recipe.is_default()).then(retrained),
        }
    }

    /// Returns sentences on how the shown model differs from the trained one of its recipe; empty if it does not.
    pub fn of_model(snapshot: &Snapshot) -> Vec<String> {
        let all = Self::of(snapshot, &Arc::default(), "");
        all.weights.into_iter().chain(all.forward).map(|difference| difference.sentence).collect()
    }

    /// Returns the differences that affect a value; empty if it is the one that the text describes.
    fn of_value(&self, value: &LiveValue, speaks_of: &Spoken) -> Vec<Difference> {
        let mut all = Vec::new();
        if self.is_of_another_sentence(value, speaks_of) && !value.is_elsewhere {
            let (shown, spoken) = (&self.stage_words, self.spoken(speaks_of));
            let said = format!(
                "This number is about the sentence on the stage, “{shown}”; the text is about \
                “{spoken}”."
            );
            all.push(Difference::new("other sentence", said));
        }
        if value.follows >= Follows::Forward {
            all.extend(self.forward.clone());
        }
        if value.follows >= Follows::Parameters {
            all.extend(self.weights.iter().cloned());
        }
        if value.follows >= Follows::Space {
            all.extend(self.recipe.clone());
        }
        all
    }

    /// Returns whether the stage shows another sentence than a text is about, and the value depends on the sentence.
    fn is_of_another_sentence(&self, value: &LiveValue, speaks_of: &Spoken) -> bool {
        let is_shown = match speaks_of {
            Spoken::Lesson(sentence) => self.stage == Some(*sentence),
            Spoken::Text(text) => self.stage_text == **text,
        };
        value.follows >= Follows::Forward && !is_shown
    }

    fn spoken<'a>(&'a self, speaks_of: &'a Spoken) -> &'a str {
        match speaks_of {
            Spoken::Lesson(sentence) => self.sentences.get(*sentence).map_or("", String::as_str),
            Spoken::Text(text) => text,
        }
    }
}

/// The live expressions of one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveCellModel {
    shown: LiveTextSnapshot,
    differences: Arc<Differences>,
}

/// The state of a live word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LiveStanding {
    /// The value is the one that the text describes.
    Current,
    /// The value differs or may differ from the one that the text describes.
    Differs,
    /// The value is not computed yet, or is about to be computed again.
    Waiting,
    Failed,
}

/// A live number or word within a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveWord {
    /// The text in the sentence.
    pub words: String,
    pub standing: LiveStanding,
    /// Lines that name the value's sentence if the stage shows another, and that say what differs from the lesson or
    /// failed.
    pub notes: Vec<String>,
    /// The source of the expression.
    pub source: Arc<str>,
    /// The value in full.
    pub full: String,
    pub tensors: Vec<String>,
    /// The number whose provenance a click opens.
    pub entry: Option<Entry>,
}

impl LiveCellModel {
    /// Builds the model. `before`, the last model of the same cell, is reused if nothing changed.
    pub fn of(shown: &LiveTextSnapshot, differences: &Arc<Differences>, before: Option<&Self>) -> Self {
        let is_same = |before: &&Self| before.shown.is_same(shown) && before.differences == *differences;
        if let Some(before) = before.filter(is_same) {
            return before.clone();
        }
        Self { shown: shown.clone(), differences: differences.clone() }
    }

    /// Returns whether all words are the same, by a comparison of pointers only.
    pub fn is_same(&self, other: &Self) -> bool {
        self.shown.is_same(&other.shown) && Arc::ptr_eq(&self.differences, &other.differences)
    }

    pub fn word(&self, expression: &LiveExpression) -> LiveWord {
        let of =
            self.shown.values.as_ref().and_then(|values| Some((values.of(&expression.source)?, &values.speaks_of)));
        let Some((value, speaks_of)) = of else { return waiting(expression) };
        let shown = words(expression, Some(value));
        let plain = LiveWord { words: shown, tensors: value.tensors.clone(), ..waiting(expression) };
        match &value.value {
            Err(fault) if value.awaits_run => LiveWord { notes: vec![failed(fault)], ..plain },
            Err(fault) => LiveWord { standing: LiveStanding::Failed, notes: vec![failed(fault)], ..plain },
            Ok(content) => {
                let differing = self.differing(expression, value, speaks_of);
                let standing = match (differing.is_empty(), self.shown.is_stale) {
                    (true, true) => LiveStanding::Waiting,
                    (true, false) => LiveStanding::Current,
                    (false, _) => LiveStanding::Differs,
                };
                let mark = differing.first().map_or(String::new(), |first| format!(" ({})", first.mark));
                let elsewhere = value.is_elsewhere && self.differences.is_of_another_sentence(value, speaks_of);
                let elsewhere = elsewhere.then(|| {
                    let spoken = self.differences.spoken(speaks_of);
                    format!("The stage shows another sentence; this number is about “{spoken}”.")
                });
                LiveWord {
                    words: format!("{}{mark}", plain.words),
                    standing,
                    notes: elsewhere.into_iter().chain(differing.into_iter().map(|it| it.sentence)).collect(),
                    full: full(content),
                    entry: value.entry.filter(|_| !value.is_elsewhere || value.follows < Follows::Forward),
                    ..plain
                }
            }
        }
    }

    /// Returns the reasons why a value is not the one that the text describes. There are none if the value is written
    /// in the same way as for the lesson's own model, whatever else differs.
    fn differing(&self, expression: &LiveExpression, value: &LiveValue, speaks_of: &Spoken) -> Vec<Difference> {
        let is_stale = |cell: &&CellId| self.shown.stale_cells.contains(*cell);
        if let Some(cell) = value.cells.iter().find(is_stale) {
            let said = format!("Cell {cell} has not run since the values that it reads were changed.");
            return vec![Difference::new("older result", said)];
        }
        let written = |value| expression.written(value);
        let is_own =
            value.own.as_ref().zip(value.value.as_ref().ok()).is_some_and(|(own, now)| written(own) == written(now));
        if is_own { Vec::new() } else { self.differences.of_value(value, speaks_of) }
    }
}

/// Returns a word that is not computed yet.
pub fn waiting(expression: &LiveExpression) -> LiveWord {
    LiveWord {
        words: words(expression, None),
        standing: LiveStanding::Waiting,
        notes: Vec::new(),
        source: expression.source.clone(),
        full: String::new(),
        tensors: Vec::new(),
        entry: None,
    }
}

fn full(value: &Value) -> String {
    match value {
        Value::Number { value, .. } => value.to_string().replace('-', "−"),
        Value::Word(word) => word.to_string(),
    }
}

fn failed(fault: &Fault) -> String {
    let mut words = fault.to_string();
    if let Some(first) = words.get(..1).map(str::to_uppercase) {
        words.replace_range(..1, &first);
    }
    words
}

/// Returns the value of an expression as the text shows it, with `…` for a value that is not computed yet.
fn words(expression: &LiveExpression, value: Option<&LiveValue>) -> String {
    match value.filter(|value| !value.awaits_run).map(|value| &value.value) {
        None => "…".to_owned(),
        Some(Ok(value)) => expression.written(value),
        Some(Err(fault)) => format!("⚠ {}: {}", shorten(&expression.source), shorten(&fault.message)),
    }
}

/// Returns the choices of a prediction in the order in which they are shown, each with its index in the lesson.
pub fn shown_choices(predict: &Predict, shown: &CellSnapshot) -> Vec<(usize, String)> {
    let words = |choice: &LessonText| choice.with_values(|expression| shown_words(expression, shown.live.as_ref()));
    let order = predict.choices.iter().enumerate().map(|(place, _)| *shown.order.get(place).unwrap_or(&place));
    order.filter_map(|index| Some((index, words(predict.choices.get(index)?)))).collect()
}

/// Returns the value of an expression as exports and the choices of a prediction show it: at the text's place, for a
/// reader who starts at the top.
pub fn shown_words(expression: &LiveExpression, live: Option<&LiveTextSnapshot>) -> String {
    let values = live.and_then(LiveTextSnapshot::in_place);
    words(expression, values.and_then(|values| values.of(&expression.source)))
}
