//! The expressions within a cell's texts as a reader sees them: a number or a word, and whether it is still the one
//! that the text speaks of.

use std::sync::Arc;

use attune_core::kernel::notebook::document::CellId;
use attune_core::kernel::notebook::live::Follows;
use attune_core::kernel::notebook::live_text::{LiveTextSnapshot, LiveValue, Spoken};
use attune_core::kernel::sentence_pass::interventions::are_none;
use attune_core::kernel::snapshot::Snapshot;
use attune_core::kernel::training::stop::Stopped;
use attune_core::lesson::issue::shorten;
use attune_core::lesson::live_text::Expression;
use attune_engine::code::{Fault, Value};
use attune_engine::quantity::Entry;

/// In what the model and the stage are not as the lesson has them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Differences {
    /// The sentence on the stage, an index into the lesson's, and its words.
    stage: Option<usize>,
    stage_words: String,
    /// The sentence as it is written.
    stage_text: String,
    sentences: Arc<[String]>,
    forward: Option<Difference>,
    weights: Vec<Difference>,
    recipe: Option<Difference>,
}

/// Why a number may not be the one that the text speaks of.
#[derive(Clone, Debug, PartialEq)]
struct Difference {
    /// In two or three words, beside the number.
    mark: &'static str,
    sentence: String,
}

impl Difference {
    fn new(mark: &'static str, sentence: impl Into<String>) -> Self {
        Self { mark, sentence: sentence.into() }
    }
}

impl Differences {
    /// `sentences` are the lesson's, and `stage_words` is the sentence on the stage.
    pub fn of(snapshot: &Snapshot, sentences: &Arc<[String]>, stage_words: &str) -> Self {
        let Some(model) = &snapshot.model else { return Self::default() };
        let training = &model.training;
        let (step, progress) = (training.step_shown(), training.progress);
        let is_ended = matches!(training.stopped, Some(Stopped::LastStep | Stopped::Rule(_)));
        let is_trained = step == progress.done && (is_ended || progress.done == progress.of) && !training.playing;
        let at = || Difference::new("other step", format!("Training is at step {step} of {}.", progress.of));
        let edited = || Difference::new("weights edited", "Weights are edited.");
        let changed = || Difference::new("training changed", "Training was changed on its way.");
        let retrained = || {
            let words = model.recipe.words(&snapshot.lesson);
            Difference::new("retrained", format!("The lesson was trained again with {words}."))
        };
        let is_edited = !model.edits.is_empty();
        Self {
            stage: model.sentence.index,
            stage_words: stage_words.to_owned(),
            stage_text: model.sentence.written(),
            sentences: sentences.clone(),
            forward: (!are_none(&model.interventions))
                .then(|| Difference::new("attention changed", "The attention is changed under Intervene.")),
            weights: [(!is_trained).then(at), is_edited.then(edited), training.changes.last().is_some().then(changed)]
                .into_iter()
                .flatten()
                .collect(),
            recipe: (!model.recipe.is_default()).then(retrained),
        }
    }

    /// What differs of all that a value was computed from; empty where the value is the one that the text speaks of.
    fn of_value(&self, value: &LiveValue, speaks_of: &Spoken) -> Vec<Difference> {
        let mut all = Vec::new();
        if self.is_of_another_sentence(value, speaks_of) && !value.is_elsewhere {
            let (shown, spoken) = (&self.stage_words, self.spoken(speaks_of));
            let said = format!("This is of “{shown}”, on the stage; the text speaks of “{spoken}”.");
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

    /// The stage does not show the sentence that a text speaks of, and the value depends on the sentence.
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
pub struct LiveTextModel {
    shown: LiveTextSnapshot,
    differences: Arc<Differences>,
}

/// How a live word stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Standing {
    /// The value is what the text speaks of.
    Current,
    /// The value is another one than the text speaks of, or may be.
    Differs,
    /// Not evaluated yet, or about to be.
    Waiting,
    Failed,
}

/// A live number or word within a sentence.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveWord {
    /// As the sentence has it.
    pub words: String,
    pub standing: Standing,
    /// Lines that say what the value is of, and what differs.
    pub notes: Vec<String>,
    /// The expression, and its value in full.
    pub source: Arc<str>,
    pub full: String,
    pub tensors: Vec<String>,
    /// The number whose provenance a click opens.
    pub entry: Option<Entry>,
}

impl LiveTextModel {
    /// `before`, of the same cell, is kept if nothing changed.
    pub fn of(shown: &LiveTextSnapshot, differences: &Arc<Differences>, before: Option<&Self>) -> Self {
        let is_same = |before: &&Self| before.shown.is_same(shown) && before.differences == *differences;
        if let Some(before) = before.filter(is_same) {
            return before.clone();
        }
        Self { shown: shown.clone(), differences: differences.clone() }
    }

    /// Every word is the same. Found without looking into the values.
    pub fn is_same(&self, other: &Self) -> bool {
        self.shown.is_same(&other.shown) && Arc::ptr_eq(&self.differences, &other.differences)
    }

    pub fn word(&self, expression: &Expression) -> LiveWord {
        let of =
            self.shown.values.as_ref().and_then(|values| Some((values.of(&expression.source)?, &values.speaks_of)));
        let Some((value, speaks_of)) = of else { return waiting(expression) };
        let shown = words(expression, Some(value));
        let plain = LiveWord { words: shown, tensors: value.tensors.clone(), ..waiting(expression) };
        match &value.value {
            Err(fault) => LiveWord { standing: Standing::Failed, notes: vec![failed(fault)], ..plain },
            Ok(content) => {
                let differing = self.differing(expression, value, speaks_of);
                let standing = match (differing.is_empty(), self.shown.is_stale) {
                    (true, true) => Standing::Waiting,
                    (true, false) => Standing::Current,
                    (false, _) => Standing::Differs,
                };
                let mark = differing.first().map_or(String::new(), |first| format!(" ({})", first.mark));
                let elsewhere = value.is_elsewhere && self.differences.is_of_another_sentence(value, speaks_of);
                let elsewhere = elsewhere.then(|| {
                    let spoken = self.differences.spoken(speaks_of);
                    format!("The stage shows another sentence; this is of “{spoken}”.")
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

    /// Why a value is not the one that the text speaks of. One that reads as it does in the model as the lesson has it is
    /// that one, whatever else differs.
    fn differing(&self, expression: &Expression, value: &LiveValue, speaks_of: &Spoken) -> Vec<Difference> {
        let is_stale = |cell: &&CellId| self.shown.stale_cells.contains(*cell);
        if let Some(cell) = value.cells.iter().find(is_stale) {
            let said = format!("The cell {cell} has not run since what it reads was changed.");
            return vec![Difference::new("older result", said)];
        }
        let written = |value| written(expression, value);
        let is_own =
            value.own.as_ref().zip(value.value.as_ref().ok()).is_some_and(|(own, now)| written(own) == written(now));
        if is_own { Vec::new() } else { self.differences.of_value(value, speaks_of) }
    }
}

/// A word that is yet to be computed.
pub fn waiting(expression: &Expression) -> LiveWord {
    LiveWord {
        words: words(expression, None),
        standing: Standing::Waiting,
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

/// An expression's value as the text shows it.
fn words(expression: &Expression, value: Option<&LiveValue>) -> String {
    match value.map(|value| &value.value) {
        None => "…".to_owned(),
        Some(Ok(value)) => written(expression, value),
        Some(Err(fault)) => format!("⚠ {}: {}", shorten(&expression.source), shorten(&fault.message)),
    }
}

fn written(expression: &Expression, value: &Value) -> String {
    match value {
        Value::Number { value, is_whole } => expression.format.number(*value, *is_whole),
        Value::Word(word) => word.to_string(),
    }
}

/// An expression's value as the text shows it, where nothing can change it any more.
pub fn shown_words(expression: &Expression, live: Option<&LiveTextSnapshot>) -> String {
    let values = live.and_then(|live| live.values.as_ref());
    words(expression, values.and_then(|values| values.of(&expression.source)))
}
