//! The notebook: the learner's cells as they stand, with the words and numbers beside them.

use std::sync::Arc;
use std::time::Duration;

use crate::code::Axis;
use crate::kernel::notebook::document::{CellId, DocumentCell};
use crate::kernel::notebook::snapshot::{CellSnapshot, CellStatus, LiveNameSnapshot, RunSnapshot, Verdict};
use crate::kernel::snapshot::{HistorySnapshot, ModelSnapshot, Snapshot};
use crate::lesson::cells::{Bind, CellKind};
use crate::numerics::attention::Mask;

use super::completion::{Name, NameKind, Scope};
use super::course::Tasks;
use super::output::OutputModel;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct NotebookModel {
    pub title: String,
    pub cells: Vec<CellModel>,
    pub auto_run: bool,
    /// A cell runs or waits to.
    pub is_running: bool,
    /// Predictions and exercises that are done, of all there are.
    pub tasks: Tasks,
    /// The cell behind which nothing is shown yet.
    pub closed_gate: Option<usize>,
    pub history: HistorySnapshot,
    /// Names that every cell sees.
    pub live: Arc<[LiveNameSnapshot]>,
    /// The sentences that can be chosen, as text.
    pub sentences: Vec<String>,
    /// The one on the stage, as text.
    pub sentence: String,
    /// Its index among `sentences`, if it is one of them.
    pub selected: Option<usize>,
    pub notice: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CellModel {
    pub cell: Arc<DocumentCell>,
    pub shown: CellSnapshot,
    pub outputs: Arc<[OutputModel]>,
    /// Beside the check of an exercise.
    pub value: Arc<[OutputModel]>,
    /// `[3]`, `[*]` or `[ ]`, of code.
    pub label: String,
    /// How it stands, in a word or two: `stale`, `12 ms`.
    pub note: String,
    /// Where a slider stands, once what it turns is there.
    pub turned: Option<f64>,
    /// Of a text that begins a section: the level and the words.
    pub heading: Option<(usize, String)>,
}

impl CellModel {
    /// `before` lends what has not changed.
    pub fn of(shown: &CellSnapshot, model: Option<&ModelSnapshot>, before: Option<&CellModel>) -> Self {
        let cell = &shown.cell;
        let is_same_run = |before: &&CellModel| match (&before.shown.run, &shown.run) {
            (Some(old), Some(new)) => Arc::ptr_eq(old, new),
            (None, None) => true,
            _ => false,
        };
        let (outputs, value) = match before.filter(|before| before.cell.id == cell.id).filter(is_same_run) {
            Some(before) => (before.outputs.clone(), before.value.clone()),
            None => outputs(shown.run.as_deref()),
        };
        Self {
            outputs,
            value,
            label: label(shown),
            note: note(shown),
            turned: turned(cell, model),
            heading: heading(cell),
            cell: cell.clone(),
            shown: shown.clone(),
        }
    }

    pub fn id(&self) -> &CellId {
        &self.cell.id
    }
}

impl NotebookModel {
    /// `before` lends what has not changed.
    pub fn of(snapshot: &Snapshot, before: Option<&NotebookModel>) -> NotebookModel {
        let lesson = &snapshot.lesson;
        let model = snapshot.model.as_ref();
        let current = model.map(|model| &model.sentence);
        let words = |s: &crate::kernel::snapshot::SentenceSnapshot| {
            s.chosen().iter().map(|token| token.text.as_str()).collect::<Vec<_>>().join(" ")
        };
        let cells = snapshot.notebook.cells.iter().enumerate().map(|(index, shown)| {
            let known = before.and_then(|before| before.cells.get(index));
            CellModel::of(shown, model, known)
        });
        let cells: Vec<CellModel> = cells.collect();
        NotebookModel {
            title: lesson.title.clone(),
            auto_run: snapshot.notebook.auto_run,
            is_running: cells.iter().any(|cell| cell.shown.status == CellStatus::Waiting),
            tasks: Tasks::of(&snapshot.notebook),
            closed_gate: snapshot.notebook.closed_gate,
            history: snapshot.history.clone(),
            live: snapshot.notebook.live.clone(),
            sentences: lesson.sentences.iter().map(|words| words.join(" ")).collect(),
            sentence: current.map_or_else(String::new, |s| words(s)),
            selected: current.map_or(Some(0), |s| s.index),
            notice: snapshot.notice.as_ref().map(|text| text.to_string()),
            cells,
        }
    }

    /// What a cell sees: the model's tensors, and what the cells above it define.
    pub fn scope(&self, index: usize) -> Scope {
        let live = self.live.iter().map(|live| {
            let detail = if live.axes.is_empty() { "a number".to_owned() } else { shape(&live.axes) };
            name(&live.name, NameKind::Tensor, detail, &live.meaning, live.axes.clone())
        });
        let above = self.cells[..index.min(self.cells.len())].iter().flat_map(|cell| {
            let turned = cell.cell.turned_variable().map(|(name, value)| (name.to_owned(), format!("= {value}")));
            let run = cell.shown.run.as_ref().filter(|_| cell.cell.is_code());
            let defined = run.into_iter().flat_map(|run| run.defined.iter().map(|name| (name.clone(), String::new())));
            turned.into_iter().chain(defined).collect::<Vec<_>>()
        });
        let above = above.map(|(known, detail)| name(&known, NameKind::Variable, detail, "", Vec::new()));
        Scope::new(live.chain(above))
    }

    pub fn index(&self, id: &str) -> Option<usize> {
        self.cells.iter().position(|cell| **cell.id() == *id)
    }

    /// Cells that are in sight: those up to the first closed gate.
    pub fn open_cells(&self) -> &[CellModel] {
        let end = self.closed_gate.map_or(self.cells.len(), |gate| gate + 1);
        &self.cells[..end.min(self.cells.len())]
    }
}

fn name(name: &str, kind: NameKind, detail: String, meaning: &str, axes: Vec<Axis>) -> Name {
    Name { meaning: meaning.to_owned(), axes, ..Name::new(name, kind, detail) }
}

fn shape(axes: &[Axis]) -> String {
    let lens: Vec<String> = axes.iter().map(|axis| axis.len.to_string()).collect();
    format!("({})", lens.join(", "))
}

fn outputs(run: Option<&RunSnapshot>) -> (Arc<[OutputModel]>, Arc<[OutputModel]>) {
    let Some(run) = run else { return (Arc::from([]), Arc::from([])) };
    let value = match &run.verdict {
        Some(Verdict::Exercise { value, .. }) => OutputModel::all("", value),
        _ => Vec::new(),
    };
    (OutputModel::all(&run.text, &run.outputs).into(), value.into())
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
        (CellStatus::Stale, _) => "stale".to_owned(),
        (CellStatus::Fresh, Some(run)) if shown.cell.is_code() && run.elapsed > Duration::ZERO => elapsed(run.elapsed),
        _ => String::new(),
    }
}

/// `80 µs`, `1.2 ms` or `3.4 s`
fn elapsed(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        s if s < 1e-3 => format!("{:.0} µs", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.1} s"),
    }
}

/// Where a slider stands; `None` before there is a model, of the viewer's own time, and where the mask is
/// neither of the two that a slider knows.
pub fn turned(cell: &DocumentCell, model: Option<&ModelSnapshot>) -> Option<f64> {
    let CellKind::Slider(slider) = &*cell.kind else { return None };
    match &slider.bind {
        Bind::Variable(_) => cell.turned_variable().map(|(_, value)| value),
        Bind::Temperature => model.map(|model| {
            let own = model.architecture.blocks[0].attention.temperature;
            model.interventions.temperature.unwrap_or(own)
        }),
        Bind::Weight { tensor, row, col } => {
            let parameters = &model?.parameters;
            parameters.index(*tensor, *row, *col).map(|index| f64::from(parameters.flat()[index]))
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

/// `# Words` at the start of a text.
fn heading(cell: &DocumentCell) -> Option<(usize, String)> {
    if !cell.is_text() {
        return None;
    }
    let line = cell.text.trim_start().lines().next()?;
    let level = line.chars().take_while(|c| *c == '#').count();
    let words = line.trim_start_matches('#').trim();
    ((1..=6).contains(&level) && !words.is_empty()).then(|| (level, words.to_owned()))
}
