//! Vectors of a lesson as a table, which `attune_engine::vectors` writes in every common format.
//!
//! The static vectors of all words come first. They are followed by the vectors in context of each token of the
//! lesson's sentences; if the sentence on the stage is another one, its tokens come before these. The column
//! `__seq_next__` has the index, from 0, of the next row of a path, which the Embedding Projector,
//! <https://projector.tensorflow.org>, draws as a line. [`at_sentence`] returns a snapshot with another of the lesson's
//! sentences.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use attune_core::kernel::sentence_pass::interventions::for_any_sentence;
use attune_core::kernel::sentence_pass::passes::Passes;
use attune_core::kernel::sentence_pass::sentence::{Sentence, SentenceFrame};
use attune_core::kernel::snapshot::sentence::token_labels;
use attune_core::kernel::snapshot::{ModelSnapshot, SentenceSnapshot, Snapshot, StaticSpace};
use attune_core::kernel::static_embedding::network;
use attune_core::kernel::targets::Targets;
use attune_core::lesson::vector_files::has_found_groups;
use attune_engine::numerics::Matrix;
use attune_engine::vectors::{Column, Table};

use crate::view_model::axes::ends;

/// The choice of the vectors that a table has as rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableRows {
    /// The static vectors of all words.
    Static,
    /// The vector of each token of the sentences after the last layer.
    Contextual,
    /// The vectors of each token before the first layer and after each layer.
    Layers,
    /// The static vectors of all words, and the static and the contextual vector of each token.
    Both,
}

/// The columns of a row's metadata.
const COLUMNS: [&str; 7] = ["label", "word", "kind", "sentence", "position", "group", "__seq_next__"];

/// Returns the table of a lesson's vectors.
///
/// # Errors
/// If there is no model yet.
pub fn of(snapshot: &Snapshot, rows: TableRows) -> io::Result<Table<'static>> {
    let count = snapshot.space.as_ref().map_or(0, |space| space.vocabulary.len());
    table(snapshot, rows, 0..count)
}

/// Returns the table of the static vectors of some words.
///
/// # Errors
/// See [`of`].
pub fn of_words(snapshot: &Snapshot, words: &[usize]) -> io::Result<Table<'static>> {
    table(snapshot, TableRows::Static, words.iter().copied())
}

fn table(snapshot: &Snapshot, rows: TableRows, words: impl Iterator<Item = usize>) -> io::Result<Table<'static>> {
    let (Some(space), Some(model)) = (snapshot.space.as_deref(), snapshot.model.as_ref()) else {
        return Err(io::Error::other("the lesson has no model yet"));
    };
    let columns = COLUMNS.map(|name| Column { name: name.to_owned(), entries: Vec::new() });
    let is_named = !has_found_groups(&snapshot.lesson);
    let group_of = |word: usize| space.group_of[word].filter(|_| is_named);
    let group = |word: usize| group_of(word).map_or("", |group| snapshot.lesson.groups[group].name.as_str());
    let mut written = Written { space, group: &group, numbers: Vec::new(), columns };
    if matches!(rows, TableRows::Static | TableRows::Both) {
        let [kind, _] = ends(model.recorded.is_some());
        for word in words {
            let text = &space.vocabulary[word];
            written.row(&space.vectors.row(word), [text, text, kind, "", "", group(word)], false);
        }
    }
    if rows != TableRows::Static {
        let shown = sentences(snapshot, model);
        shown.enumerate().for_each(|(at, shown)| written.sentence(at + 1, &shown, model, rows));
    }
    let words: Vec<Box<str>> = written.columns[0].entries.iter().map(|label| label.as_str().into()).collect();
    let numbers = Matrix::from_row_major(words.len(), space.vectors.cols(), written.numbers);
    // Static vectors have no sentence, so only the label and the group are known.
    let columns = written
        .columns
        .into_iter()
        .filter(|column| rows != TableRows::Static || ["label", "group"].contains(&&*column.name));
    Ok(Table { words: words.into(), rows: Cow::Owned(numbers), metadata: columns.collect() })
}

/// Returns the sentence on the stage, if it is not one of the lesson's, and then each of the lesson's sentences once.
fn sentences<'a>(snapshot: &'a Snapshot, model: &'a ModelSnapshot) -> impl Iterator<Item = Arc<SentenceSnapshot>> + 'a {
    let mut seen = HashSet::new();
    let own = model.sentence.index.is_none().then(|| model.sentence.clone());
    let of_lesson = snapshot.lesson.sentences.iter().enumerate().filter_map(move |(index, sentence)| {
        let at = at_sentence(snapshot, index).filter(|_| seen.insert(sentence))?;
        Some(at.model?.sentence)
    });
    own.into_iter().chain(of_lesson)
}

/// A table that is being made.
struct Written<'a> {
    space: &'a StaticSpace,
    group: &'a dyn Fn(usize) -> &'a str,
    numbers: Vec<f32>,
    columns: [Column; COLUMNS.len()],
}

impl Written<'_> {
    /// Adds the vectors of a sentence's words. `number` is the number of the sentence, counted from 1.
    fn sentence(&mut self, number: usize, shown: &SentenceSnapshot, model: &ModelSnapshot, rows: TableRows) {
        let words: Vec<&str> = shown.tokens.iter().map(|token| token.text.as_str()).collect();
        let (labels, sentence) = (token_labels(&shown.tokens), words.join(" "));
        for (i, token) in shown.tokens.iter().enumerate() {
            // The start token of a generated sentence is not a word.
            let Some(word) = token.word else { continue };
            let (place, group) = ((i + 1).to_string(), (self.group)(word));
            let first = match model.recorded {
                Some(_) => Cow::Borrowed(shown.activations.input.row(i)),
                None => self.space.vectors.row(word),
            };
            let vectors = states(shown, i, first, model, rows);
            for (at, (kind, vector)) in vectors.iter().enumerate() {
                // Rows of the same word need different labels.
                let label = match rows {
                    TableRows::Static | TableRows::Both => labels[i].clone(),
                    TableRows::Contextual => format!("{}@{number}.{place}", token.text),
                    TableRows::Layers => format!("{}@{number}.{place}:{at}", token.text),
                };
                let goes_on = at + 1 < vectors.len();
                self.row(vector, [&label, &token.text, kind, &sentence, &place, group], goes_on);
            }
        }
    }

    fn row(&mut self, vector: &[f32], about: [&str; COLUMNS.len() - 1], goes_on: bool) {
        self.numbers.extend_from_slice(vector);
        let next = if goes_on { (self.columns[0].entries.len() + 1).to_string() } else { String::new() };
        let entries = about.into_iter().map(str::to_owned).chain([next]);
        self.columns.iter_mut().zip(entries).for_each(|(column, entry)| column.entries.push(entry));
    }
}

/// Returns the vectors of the token `i` that the table has as rows, each with its kind.
fn states<'a>(
    shown: &'a SentenceSnapshot,
    i: usize,
    of_word: Cow<'a, [f32]>,
    model: &ModelSnapshot,
    rows: TableRows,
) -> Vec<(Cow<'static, str>, Cow<'a, [f32]>)> {
    let output = Cow::from(shown.activations.output.row(i));
    let [start, end] = ends(model.recorded.is_some());
    match rows {
        TableRows::Static => Vec::new(),
        TableRows::Contextual => vec![(end.into(), output)],
        TableRows::Both => vec![(format!("{start} in a sentence").into(), of_word), (end.into(), output)],
        TableRows::Layers => {
            let states = shown.activations.states(&model.architecture).map(|state| Cow::from(state.row(i)));
            let states = states.enumerate().map(|(layer, state)| (format!("layer {layer}").into(), state));
            states.chain(model.architecture.final_norm.then(|| ("final norm".into(), output))).collect()
        }
    }
}

/// Returns the snapshot with one of the lesson's sentences on the stage. If another one was there, only the
/// interventions that suit any sentence remain, and generated words are dropped. `None` if there is no model yet, or no
/// such sentence.
pub fn at_sentence(snapshot: &Snapshot, index: usize) -> Option<Snapshot> {
    let space = snapshot.space.as_deref()?;
    let model = snapshot.model.as_ref()?;
    if model.sentence.index == Some(index) {
        return Some(snapshot.clone());
    }
    let sentence = Sentence::of_lesson(&snapshot.lesson, &space.vocabulary, index).ok()?;
    let network = network(&snapshot.lesson, space);
    let targets = Targets::of(&snapshot.lesson, &space.vocabulary, &network, &model.trained);
    let frame = Arc::new(SentenceFrame::new(sentence, space, targets.as_ref()));
    let interventions = Arc::new(for_any_sentence(&model.interventions));
    let sentence = frame.run(&Passes::default(), space, &network, &model.parameters, &model.trained, &interventions);
    let mut other = snapshot.clone();
    if let Some(model) = &mut other.model {
        model.sentence = sentence;
        model.interventions = interventions;
        model.generated = None;
    }
    Some(other)
}
