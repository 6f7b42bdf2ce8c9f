//! Evaluation of the expressions in texts, which is repeated when their inputs have changed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use attune_engine::code::budget::{Allowance, TEXT_TIME_MAX};
use attune_engine::code::{Axis, Fault, Names, Value, values};
use attune_engine::quantity::Entry;

use crate::kernel::model::LessonModel;
use crate::kernel::notebook::Notebook;
use crate::kernel::notebook::document::{CellId, DocumentCell};
use crate::kernel::notebook::execution::{LiveTensors, NameSource, NamesInScope, stale_cells};
use crate::kernel::notebook::live::{Follows, live_names};
use crate::kernel::notebook::live_text::{
    CellTexts, Evaluated, LiveValue, LiveValues, Spoken, TEXTS_TIME_MAX, sentence_above,
};
use crate::lesson::cells::CellKind;

/// A cell with expressions, and the sources of the names that these read.
struct SourcedTexts<'t> {
    cell: &'t DocumentCell,
    texts: &'t CellTexts,
    sources: &'t [(String, NameSource)],
    /// Names that cells above define.
    from_cells: BTreeSet<&'t str>,
    speaks_of: &'t Spoken,
    /// Whether the stage shows the sentence to which the cell refers.
    is_shown: bool,
    /// The lesson's own model, if the cell asks a question and this model differs from the one on the stage.
    untouched: Option<&'t LessonModel>,
}

/// Values that were computed for a cell's expressions.
struct FoundValues {
    /// Values by the index of the expression. The flag is true if the value is for another sentence, or another model,
    /// than that on the stage.
    values: BTreeMap<usize, (Result<Value, Fault>, bool)>,
    spent: Duration,
}

impl FoundValues {
    /// Returns those of the given expressions that failed.
    fn failed(&self, which: &[usize]) -> Vec<usize> {
        let has_failed = |i: &usize| self.values.get(i).is_some_and(|(value, _)| value.is_err());
        which.iter().copied().filter(has_failed).collect()
    }
}

/// Returns whether a cell below a Stage cell with sentence `above` still refers to the sentence on which it was
/// evaluated.
fn is_of(spoken: &Spoken, cell: &DocumentCell, above: usize) -> bool {
    match spoken {
        Spoken::Lesson(sentence) => cell.speaks_of.is_none() && *sentence == above,
        Spoken::Text(text) => cell.speaks_of.as_ref() == Some(text),
    }
}

impl Notebook {
    /// Parses new texts, and forgets those of deleted cells.
    pub(super) fn read_texts(&mut self) {
        let mut before = std::mem::take(&mut self.texts);
        for cell in &self.document.cells {
            let known = before.remove(&cell.id).filter(|texts| texts.is_of(cell));
            if let Some(texts) = known.or_else(|| CellTexts::of(cell)) {
                self.texts.insert(cell.id.clone(), texts);
            }
        }
    }

    /// Returns the ids of the cells whose texts have to be evaluated again.
    pub(super) fn stale_texts(&self) -> BTreeSet<CellId> {
        if self.texts.is_empty() || self.live.is_empty() {
            return BTreeSet::new();
        }
        let mut sight = NamesInScope::new(&self.live, self.versions);
        let mut stale = BTreeSet::new();
        let mut sentence = 0;
        for cell in &self.document.cells {
            if let Some(texts) = self.texts.get(&cell.id) {
                let is_current = texts.evaluated.as_ref().is_some_and(|evaluated| {
                    is_of(&evaluated.values.speaks_of, cell, sentence)
                        && evaluated.sources.iter().all(|(name, source)| sight.source(name, false) == *source)
                });
                if !is_current {
                    stale.insert(cell.id.clone());
                }
            }
            if let CellKind::Stage { sentence: shown, .. } = *cell.kind {
                sentence = shown;
            }
            sight.pass(cell, self.runs.get(&cell.id));
        }
        stale
    }

    /// Returns whether a text waits to be evaluated.
    pub fn has_text_to_evaluate(&self) -> bool {
        !self.texts_waiting.is_empty()
    }

    /// Returns the sentence to which a cell refers.
    pub(crate) fn speaks_of(&self, cell: &DocumentCell) -> Spoken {
        let of_stages = || Spoken::Lesson(sentence_above(self.document.cells.iter(), &cell.id));
        cell.speaks_of.clone().map_or_else(of_stages, Spoken::Text)
    }

    /// Evaluates the expressions of the next waiting cell. Those of a prediction are evaluated on `untouched`, the
    /// lesson's own model, because the question and its explanation are about that model.
    pub fn evaluate_next(&mut self, model: &LessonModel, untouched: Option<&LessonModel>) {
        if let Some(id) = self.texts_waiting.pop_first() {
            self.evaluate(&id, model, untouched);
        }
    }

    /// Keeps the values of the texts above a cell that is about to run, if the cell may write to the model. Waiting
    /// texts are evaluated first.
    pub fn keep_texts_above(&mut self, id: &CellId, model: &LessonModel, untouched: Option<&LessonModel>) {
        if !self.writes_model(id) {
            return;
        }
        let above: Vec<CellId> = self.document.above(id).map(|cell| cell.id.clone()).collect();
        for above in above {
            if self.texts_waiting.remove(&above) {
                self.evaluate(&above, model, untouched);
            }
            if let Some(texts) = self.texts.get_mut(&above)
                && texts.before_writes.is_none()
            {
                texts.before_writes = texts.evaluated.as_ref().map(|evaluated| evaluated.values.clone());
            }
        }
    }

    /// Forgets the values from before the writes of cells, because the model has since been changed in another way.
    pub(super) fn forget_before_writes(&mut self) {
        self.texts.values_mut().for_each(|texts| texts.before_writes = None);
    }

    fn evaluate(&mut self, id: &CellId, model: &LessonModel, untouched: Option<&LessonModel>) {
        self.view.take();
        let Some((cell, texts)) = self.document.cell(id).cloned().zip(self.texts.get(id).cloned()) else { return };
        let speaks_of = self.speaks_of(&cell);
        let untouched = untouched.filter(|_| matches!(*cell.kind, CellKind::Predict(_)));
        let sources = self.sources_at(id, texts.reads.iter(), false);
        let of_cells = sources.iter().filter(|(_, source)| matches!(source, NameSource::Run(..)));
        let text = SourcedTexts {
            cell: &cell,
            texts: &texts,
            sources: &sources,
            from_cells: of_cells.map(|(name, _)| &**name).collect(),
            speaks_of: &speaks_of,
            is_shown: model.shows(&speaks_of),
            untouched: untouched.filter(|untouched| !model.is_same_as(untouched)),
        };
        let found = self.find_values(&text, model);
        self.texts_time += found.spent;
        let values = LiveValues { values: self.live_values(&text, found, model), speaks_of: speaks_of.clone() };
        if let Some(texts) = self.texts.get_mut(id) {
            // If the values are equal, the old ones are kept, so that the text is not laid out again.
            let before = texts.evaluated.take().map(|evaluated| evaluated.values);
            let values = before.filter(|before| **before == values).unwrap_or_else(|| Arc::new(values));
            texts.evaluated = Some(Evaluated { sources, values });
        }
    }

    /// Evaluates the expressions of a cell, on the sentence on the stage or on the one to which the cell refers.
    fn find_values(&self, text: &SourcedTexts, model: &LessonModel) -> FoundValues {
        let is_elsewhere = match text.speaks_of {
            _ if text.untouched.is_some() => true,
            // If the learner wrote the sentence on the stage, the lesson's numbers are those of that sentence.
            Spoken::Lesson(_) => !text.cell.is_own && model.shows_lesson() && !text.is_shown,
            Spoken::Text(_) => !text.is_shown,
        };
        // Variables of cells are for the sentence on the stage.
        let reads_cells = |names: &Names| names.reads.iter().any(|name| text.from_cells.contains(&**name));
        let (there, here): (Vec<usize>, Vec<usize>) = (0..text.texts.expressions.len())
            .partition(|&i| is_elsewhere && !text.texts.expressions[i].1.as_ref().is_ok_and(reads_cells));
        let mut found = FoundValues { values: BTreeMap::new(), spent: Duration::ZERO };
        if !here.is_empty() {
            self.compute(text, &here, self.tensors(&model.live()), false, &mut found);
        }
        let again = if text.is_shown { there } else { there.into_iter().chain(found.failed(&here)).collect() };
        if !again.is_empty()
            && let Some(live) = text.untouched.unwrap_or(model).live_of(text.speaks_of)
        {
            let own = text.untouched.map(|_| live_names(&live));
            let tensors = own.as_ref().map_or(self.tensors(&live), |known| LiveTensors { live: &live, known });
            self.compute(text, &again, tensors, true, &mut found);
        }
        found
    }

    /// Evaluates some expressions of a cell with these tensors.
    fn compute(
        &self,
        text: &SourcedTexts,
        which: &[usize],
        tensors: LiveTensors<'_>,
        is_elsewhere: bool,
        found: &mut FoundValues,
    ) {
        let left = TEXT_TIME_MAX.min(TEXTS_TIME_MAX.saturating_sub(self.texts_time));
        let allowance = Allowance::within(left.saturating_sub(found.spent));
        let names = Names { reads: text.texts.reads.clone(), ..Names::default() };
        let others = self.names_above(text.cell);
        let mut scope = self.scope(text.cell, &names, &others, tensors, allowance);
        let sources: Vec<&str> = which.iter().map(|&i| &*text.texts.expressions[i].0).collect();
        let values = match self.add_drawn(text.cell, tensors, &mut scope) {
            Ok(()) => values(&sources, &scope),
            Err(fault) => vec![Err(fault); sources.len()],
        };
        found.spent += allowance.spent();
        let is_out_of_time = left < TEXT_TIME_MAX && allowance.is_late();
        for (&i, value) in which.iter().zip(values) {
            let value = value.map_err(|fault| if is_out_of_time { not_computed() } else { fault });
            // If both evaluations fail, the fault for the sentence on the stage is shown.
            if value.is_ok() || !found.values.contains_key(&i) {
                found.values.insert(i, (value, is_elsewhere));
            }
        }
    }

    /// Returns the values of a cell's expressions in order, with their dependencies.
    fn live_values(&self, text: &SourcedTexts, mut found: FoundValues, model: &LessonModel) -> Vec<LiveValue> {
        let standings = self.standings();
        let stale_cells = stale_cells(&self.document, &standings);
        let before = text.texts.evaluated.as_ref().map(|evaluated| &*evaluated.values);
        let is_as_given = model.is_as_given();
        let mut values = Vec::new();
        for (i, (source, names)) in text.texts.expressions.iter().enumerate() {
            let no_sentence = || (Err(Fault::new("there is no such sentence")), false);
            let (value, is_elsewhere) = found.values.remove(&i).unwrap_or_else(no_sentence);
            let not_run = value.as_ref().err().and_then(|_| self.not_run(text.cell, names));
            let awaits_run = not_run.is_some();
            let value = not_run.map_or(value, Err);
            let reads = |name: &String| names.as_ref().is_ok_and(|names| names.reads.contains(name));
            let read: Vec<&(String, NameSource)> = text.sources.iter().filter(|(name, _)| reads(name)).collect();
            let follows = self.followed_by(read.iter().copied());
            let cells: Vec<CellId> = read.iter().filter_map(|(_, source)| source.cell().cloned()).collect();
            let is_spoken_of = is_elsewhere || text.is_shown || follows < Follows::Forward;
            let is_of_lesson = is_as_given || (is_elsewhere && text.untouched.is_some());
            let is_own = is_of_lesson && is_spoken_of && !cells.iter().any(|cell| stale_cells.contains(cell));
            let own = match &value {
                Ok(value) if is_own => Some(value.clone()),
                _ => before.and_then(|before| before.of(source)?.own.clone()),
            };
            // Only values of the model on the stage can be explained in the window.
            let is_on_stage = value.is_ok() && text.untouched.is_none();
            let entry = if is_on_stage { self.entry(source, &text.from_cells, model) } else { None };
            let tensors = self.live.iter().filter(|live| reads(&live.name)).map(|live| live.name.clone()).collect();
            let source = source.clone();
            values.push(LiveValue { source, value, awaits_run, own, tensors, cells, follows, entry, is_elsewhere });
        }
        values
    }

    /// Returns the fault of an expression that uses a name which a cell above defines once it runs.
    fn not_run(&self, cell: &DocumentCell, names: &Result<Names, Fault>) -> Option<Fault> {
        let reads = &names.as_ref().ok()?.reads;
        let above = self.document.above(&cell.id);
        above.filter(|above| above.is_code() && !self.runs.contains_key(&above.id)).find_map(|above| {
            let defines = &self.analyses.get(&above.id)?.names.as_ref().ok()?.defines;
            let name = defines.intersection(reads).next()?;
            Some(Fault::new(format!("`{name}` does not exist yet")).hint(format!("run the cell {}", above.id)))
        })
    }

    /// Returns the entry, if the expression is a single entry of a live tensor.
    fn entry(&self, source: &str, hidden_by: &BTreeSet<&str>, model: &LessonModel) -> Option<Entry> {
        let (name, rest) = source.split_at(source.find('[')?);
        let live = self.live.iter().find(|live| live.name == name.trim())?;
        if hidden_by.contains(&*live.name) {
            return None;
        }
        live.tensor.entry(model.first_head(live.tensor.block), &indices(rest, &live.axes)?)
    }
}

/// Returns the fault of an expression for which no time was left.
fn not_computed() -> Fault {
    let seconds = TEXTS_TIME_MAX.as_secs();
    Fault::new(format!("not computed, because the numbers in the texts take more than {seconds} s together"))
        .hint("compute them in a Code cell, and use its variables in the texts")
}

/// Returns the indices in `[0]["apple1", 2]` on these axes, or `None` if the text names several entries or computes an
/// index.
fn indices(written: &str, axes: &[Axis]) -> Option<Vec<usize>> {
    let inner = written.trim().strip_prefix('[')?.strip_suffix(']')?;
    // Splitting at brackets and commas is safe, because no word contains them.
    let given: Vec<&str> = inner.split("][").flat_map(|part| part.split(',')).map(str::trim).collect();
    // If there is a single head, its index may be left out.
    let is_single = axes.len() == given.len() + 1 && axes.first().is_some_and(|axis| axis.len == 1);
    let axes = if is_single { &axes[1..] } else { axes };
    if axes.len() != given.len() {
        return None;
    }
    let place = |(text, axis): (&&str, &Axis)| match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(word) => axis.find(word).ok(),
        None => text.parse().ok().filter(|place| *place < axis.len),
    };
    let places: Option<Vec<usize>> = given.iter().zip(axes).map(place).collect();
    places.map(|places| if is_single { [vec![0], places].concat() } else { places })
}
