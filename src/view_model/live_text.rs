//! The expressions within a cell's texts as a reader sees them: a number or a word, and whether it is still the one
//! that the text speaks of.

use std::sync::Arc;

use crate::code::{Fault, Value};
use crate::kernel::notebook::live::Follows;
use crate::kernel::notebook::live_values::{LiveTextSnapshot, LiveValue};
use crate::kernel::scene::interventions::are_none;
use crate::kernel::snapshot::Snapshot;
use crate::kernel::training::stop::Stopped;
use crate::lesson::issue::shorten;
use crate::lesson::live_text::Expression;
use crate::quantity::Entry;

/// In what the model and the stage are not as the lesson has them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Differences {
    /// The sentence on the stage, an index into the lesson's, and its words.
    stage: Option<usize>,
    stage_words: String,
    sentences: Arc<[String]>,
    /// Changes of the forward pass, of the weights, and of the training: each a sentence.
    forward: Option<String>,
    weights: Vec<String>,
    recipe: Option<String>,
}

impl Differences {
    /// `sentences` are the lesson's, and `stage_words` is the sentence on the stage.
    pub fn of(snapshot: &Snapshot, sentences: &Arc<[String]>, stage_words: &str) -> Self {
        let Some(model) = &snapshot.model else { return Self::default() };
        let training = &model.training;
        let (step, progress) = (training.step_shown(), training.progress);
        let is_ended = matches!(training.stopped, Some(Stopped::LastStep | Stopped::Rule(_)));
        let is_trained = step == progress.done && (is_ended || progress.done == progress.of) && !training.playing;
        let at = format!("Training is at step {step} of {}.", progress.of);
        let is_edited = !Arc::ptr_eq(&model.parameters, &model.trained) && model.parameters != model.trained;
        Self {
            stage: model.sentence.index,
            stage_words: stage_words.to_owned(),
            sentences: sentences.clone(),
            forward: (!are_none(&model.interventions)).then(|| "The attention is changed under Intervene.".to_owned()),
            weights: [(!is_trained).then_some(at), is_edited.then(|| "Weights are edited.".to_owned())]
                .into_iter()
                .flatten()
                .collect(),
            recipe: (!model.recipe.is_default())
                .then(|| format!("The lesson was trained again with {}.", model.recipe.words(&snapshot.lesson))),
        }
    }

    /// Why a value is not the one that the text speaks of; empty where it is.
    fn of_value(&self, value: &LiveValue, speaks_of: usize) -> Vec<String> {
        let mut all = Vec::new();
        if value.follows >= Follows::Forward && self.stage != Some(speaks_of) {
            let spoken = self.sentences.get(speaks_of).map_or("", String::as_str);
            all.push(if value.is_elsewhere {
                format!("The stage shows another sentence; this is of “{spoken}”.")
            } else {
                format!("This is of “{}”, on the stage; the text speaks of “{spoken}”.", self.stage_words)
            });
        }
        if value.follows >= Follows::Forward {
            all.extend(self.forward.clone());
        }
        if value.follows >= Follows::Parameters {
            all.extend(self.weights.iter().cloned());
        }
        if !value.tensors.is_empty() {
            all.extend(self.recipe.clone());
        }
        all
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
    /// The model or the stage is not as the text has it.
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

/// Behind a number that is not the one the text speaks of, to be seen without its colour.
const DIFFERS: &str = "\u{202f}≠";

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
        let of = self.shown.values.as_ref().and_then(|values| Some((values.of(&expression.source)?, values.speaks_of)));
        let Some((value, speaks_of)) = of else { return waiting(expression) };
        let shown = words(expression, Some(value));
        let plain = LiveWord { words: shown, tensors: value.tensors.clone(), ..waiting(expression) };
        match &value.value {
            Err(fault) => LiveWord { standing: Standing::Failed, notes: vec![failed(fault)], ..plain },
            Ok(content) => {
                let differing = self.differences.of_value(value, speaks_of);
                let standing = match (differing.is_empty(), self.shown.is_stale) {
                    (true, true) => Standing::Waiting,
                    (true, false) => Standing::Current,
                    (false, _) => Standing::Differs,
                };
                let mark = if standing == Standing::Differs { DIFFERS } else { "" };
                LiveWord {
                    words: format!("{}{mark}", plain.words),
                    standing,
                    notes: differing,
                    full: full(content),
                    entry: value.entry.filter(|_| !value.is_elsewhere || value.follows < Follows::Forward),
                    ..plain
                }
            }
        }
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
        Some(Ok(Value::Number { value, is_whole })) => expression.format.number(*value, *is_whole),
        Some(Ok(Value::Word(word))) => word.to_string(),
        Some(Err(fault)) => format!("⚠ {}: {}", shorten(&expression.source), shorten(&fault.message)),
    }
}

/// An expression's value as the text shows it, where nothing can change it any more.
pub fn shown_words(expression: &Expression, live: Option<&LiveTextSnapshot>) -> String {
    let values = live.and_then(|live| live.values.as_ref());
    words(expression, values.and_then(|values| values.of(&expression.source)))
}
