//! One word in the sentences of a list: its place in each, its vectors after every layer, and how far its senses are
//! separated.
//!
//! The sentences run through the model one at a time between other work, while no training is running; until all have
//! run, the earlier measurement is shown. The vector of a word of several pieces is the mean of their vectors.
//!
//! A list can be saved as a text that any editor can write: one sentence a line, which begins with the letter of the
//! word's sense and a tab if the sense is given. Blank lines are ignored.

use std::ops::Range;
use std::sync::Arc;

use attune_engine::files::text_without_mark;
use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::Mask;
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::model::{Activations, Architecture, AttentionModel, Sequences};
use attune_engine::numerics::params::Parameters;
use attune_engine::numerics::projection::{Lens, LensProjection};
use attune_engine::numerics::senses::{SenseScores, baseline, cosines};
use serde::{Deserialize, Serialize};

use crate::kernel::sentence_pass::axes::middles;
use crate::kernel::sentence_pass::recorded::RecordedPass;
use crate::kernel::sentence_pass::sentence::{Sentence, SentenceFrame, lens, sight};
use crate::kernel::values::Progress;
use crate::kernel::values::sentence::{PieceText, Token, word_pieces, written_word};
use crate::kernel::values::space::{StaticSpace, TokenShares};
use crate::lesson::issue::{did_you_mean, shorten};
use crate::lesson::schema::Lesson;
use crate::lesson::text::tokenize;
use attune_engine::json::beginning;

/// The learner's list of sentences with a common word, and its measurement.
#[derive(Clone, Debug)]
pub struct SensesSnapshot {
    pub list: Arc<SenseList>,
    /// Whether the stage shows the word in its sentences.
    pub is_on: bool,
    /// The reason why the word cannot be looked for; `None` if it can be, or if the word is empty.
    pub word_fault: Option<Arc<str>>,
    /// A row for each sentence of the list.
    pub rows: Arc<[SenseRow]>,
    /// The latest measurement.
    pub measured: Option<Arc<MeasuredSenses>>,
    /// The occurrences in the basis of the picture, (n, 3): at their static places, and after each layer.
    pub points: Arc<[Matrix<f32>]>,
    /// Shares of the occurrences' variance that the axes show.
    pub shares: Arc<TokenShares>,
    /// Whether the measurement is for this list and these weights.
    pub is_current: bool,
    /// Number of sentences with the word that have been run, and number of all sentences with it.
    pub progress: Progress,
}

/// The state of a sentence of the list.
#[derive(Clone, Debug, PartialEq)]
pub enum SenseRow {
    /// A sentence that is empty, or whose word is empty or cannot be looked for.
    Waiting,
    /// A sentence in which the word was found at these pieces.
    Found { pieces: Range<usize>, note: Option<SenseNote> },
    /// The reason why the sentence is not measured, in words for the learner.
    LeftOut(String),
}

/// A caution about an occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SenseNote {
    /// A sentence that consists of this word only.
    Alone,
    /// Number of times that the sentence has the word, if there are several; the first occurrence is measured.
    Repeated(usize),
    /// A word that is the first one a causal model sees, so that no other word affects it.
    SeesNothing,
}

/// A measurement and its list.
#[derive(Debug)]
pub struct MeasuredSenses {
    pub list: Arc<SenseList>,
    parameters: Arc<Parameters<f32>>,
    interventions: Interventions<f32>,
    pub occurrences: Vec<SenseOccurrence>,
    /// Vectors and similarities: first of the static vectors, and then after each layer.
    pub layers: Vec<SenseLayer>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SenseOccurrence {
    /// Index into the list.
    pub sentence: usize,
    pub sense: Option<char>,
    /// Rows in [`SenseLayer::pieces`].
    pub pieces: Range<usize>,
}

#[derive(Clone, Debug)]
pub struct SenseLayer {
    /// Vectors of all pieces of all occurrences.
    pieces: Matrix<f32>,
    /// Cosine between each pair of occurrences.
    pub cosines: Matrix<f64>,
    pub scores: SenseScores,
}

/// The model through which the sentences run.
pub struct SenseModel<'a> {
    pub space: &'a StaticSpace,
    pub model: &'a AttentionModel<f32>,
    pub parameters: &'a Arc<Parameters<f32>>,
    /// The interventions that can be applied to any sentence.
    pub interventions: Interventions<f32>,
}

/// The list of sentences, read for the present model, and whether the stage shows it.
#[derive(Clone, Default)]
pub struct Senses {
    list: Arc<SenseList>,
    is_on: bool,
    word_fault: Option<Arc<str>>,
    rows: Arc<[SenseRow]>,
    /// The sentences of the list, up to the greatest number that is measured.
    read: Vec<Arc<ReadText>>,
}

/// The state of the measurement of a list.
#[derive(Default)]
pub struct SenseCache {
    run: Option<Run>,
    measured: Option<Arc<MeasuredSenses>>,
}

/// A text and the sentence that was read from it.
struct ReadText {
    text: String,
    sentence: Result<ReadSentence, String>,
}

struct ReadSentence {
    input: Sequences,
    tokens: Vec<Token>,
    pieces: Option<Arc<PieceText>>,
    /// The source, if the model writes a target from one. `tokens` are then the tokens of the source, in which the word
    /// is sought.
    source: Option<Sequences>,
    /// The recorded pass, if the sentence is a text of a recording.
    recorded: Option<Arc<RecordedPass>>,
}

/// A sentence with the word as a model reads it.
pub struct SenseInput<'a> {
    pub input: &'a Sequences,
    pub source: Option<&'a Sequences>,
    /// The recorded pass, if the sentence is a text of a recording.
    pub recorded: Option<&'a RecordedPass>,
    /// The word's pieces.
    pub pieces: Range<usize>,
}

/// Sentences that have run, with the weights and interventions that were used.
struct Run {
    parameters: Arc<Parameters<f32>>,
    interventions: Interventions<f32>,
    /// The sentences that have run, with the vectors of all their pieces: static, and after each layer.
    states: Vec<(Arc<ReadText>, Vec<Matrix<f32>>)>,
}

/// An occurrence of the word.
struct FoundWord<'a> {
    /// Index into the list.
    index: usize,
    sentence: &'a ReadSentence,
    /// Vectors of all pieces of the sentence, by layer.
    states: &'a [Matrix<f32>],
    at: &'a Range<usize>,
}

impl Senses {
    pub fn list(&self) -> &Arc<SenseList> {
        &self.list
    }

    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// Replaces the list, which then has to be read, and returns the earlier one.
    pub fn set(&mut self, list: Arc<SenseList>, is_on: bool) -> (Arc<SenseList>, bool) {
        (std::mem::replace(&mut self.list, list), std::mem::replace(&mut self.is_on, is_on))
    }

    /// Reads the sentences of the list, and looks for the word in each; `frame` prepares a sentence.
    pub fn read(&mut self, lesson: &Lesson, vocabulary: &[String], frame: impl Fn(Sentence) -> SentenceFrame) {
        let list = self.list.clone();
        let known = std::mem::take(&mut self.read);
        let of_text = |sentence: &SenseSentence| {
            let kept = known.iter().find(|known| known.text == sentence.text).cloned();
            kept.unwrap_or_else(|| {
                let text = sentence.text.clone();
                let sentence = Sentence::read(&text, lesson, vocabulary);
                Arc::new(ReadText { sentence: sentence.map(|sentence| ReadSentence::of(&frame(sentence))), text })
            })
        };
        self.read = list.sentences.iter().take(MEASURED_MAX).map(of_text).collect();
        self.word_fault = check_word(&list.word, lesson, vocabulary).err().map(Arc::from);
        let Architecture { source_blocks, blocks, .. } = &lesson.model.architecture;
        let blocks = if source_blocks.is_empty() { blocks } else { source_blocks };
        let is_causal = !blocks.is_empty() && blocks.iter().all(|block| block.attention.mask == Mask::Causal);
        let is_sought = !list.word.is_empty() && self.word_fault.is_none();
        let row = |(index, sentence): (usize, &SenseSentence)| match self.read.get(index) {
            _ if sentence.text.is_empty() => SenseRow::Waiting,
            None => SenseRow::LeftOut(format!("only the first {MEASURED_MAX} sentences are measured")),
            Some(read) => read.row(&list.word, is_sought, is_causal),
        };
        self.rows = list.sentences.iter().enumerate().map(row).collect();
    }

    /// Returns the sentences that contain the word, each with its index in the list and the word's pieces.
    fn found(&self) -> impl Iterator<Item = (usize, &Arc<ReadText>, &Range<usize>)> {
        let rows = self.rows.iter().zip(&self.read).enumerate();
        rows.filter_map(|(index, (row, read))| match row {
            SenseRow::Found { pieces, .. } => Some((index, read, pieces)),
            SenseRow::Waiting | SenseRow::LeftOut(_) => None,
        })
    }

    fn is_current(&self, cache: &SenseCache, with: &SenseModel) -> bool {
        let is_of = |measured: &Arc<MeasuredSenses>| {
            Arc::ptr_eq(&measured.list, &self.list)
                && Arc::ptr_eq(&measured.parameters, with.parameters)
                && measured.interventions == with.interventions
        };
        cache.measured.as_ref().map_or(self.found().next().is_none(), is_of)
    }

    /// Returns whether the list is shown, and its measurement is not up to date.
    pub fn is_pending(&self, cache: &SenseCache, with: &SenseModel) -> bool {
        self.is_on && !self.is_current(cache, with)
    }

    /// Runs the next sentence, or measures all occurrences once every sentence has run.
    pub fn advance(&self, cache: &mut SenseCache, with: &SenseModel) {
        let is_same =
            |run: &Run| Arc::ptr_eq(&run.parameters, with.parameters) && run.interventions == with.interventions;
        let (parameters, interventions) = (with.parameters.clone(), with.interventions.clone());
        let mut run = cache.run.take().filter(is_same).unwrap_or(Run { parameters, interventions, states: Vec::new() });
        run.states.retain(|(text, _)| self.read.iter().any(|read| Arc::ptr_eq(read, text)));
        let next = self.found().map(|(_, read, _)| read).find(|read| run.of(read).is_none()).cloned();
        match next {
            Some(read) => run.add(read, with),
            None => {
                let found = self.found().filter_map(|(index, read, at)| {
                    Some(FoundWord { index, states: run.of(read)?, at, sentence: read.sentence.as_ref().ok()? })
                });
                let found: Vec<FoundWord> = found.collect();
                let measured = (!found.is_empty()).then(|| MeasuredSenses::of(&self.list, &found, &run));
                cache.measured = measured.map(Arc::new);
            }
        }
        cache.run = Some(run);
    }

    /// Returns the inputs of the sentences with the word, and the word's pieces. There are none while the stage does
    /// not show the list.
    pub fn inputs(&self) -> Vec<SenseInput<'_>> {
        let read = self.found().filter_map(|(_, read, pieces)| {
            let ReadSentence { input, source, recorded, .. } = read.sentence.as_ref().ok()?;
            let (source, recorded) = (source.as_ref(), recorded.as_deref());
            Some(SenseInput { input, source, recorded, pieces: pieces.clone() })
        });
        read.filter(|_| self.is_on).collect()
    }

    /// Returns the snapshot. The measurement of a list that is not shown is dropped.
    pub fn snapshot(&self, cache: &mut SenseCache, with: &SenseModel) -> SensesSnapshot {
        if !self.is_on {
            *cache = SenseCache::default();
        }
        let of = self.found().count();
        let is_current = self.is_current(cache, with);
        let has_run =
            |(_, read, _): &(usize, &Arc<ReadText>, _)| cache.run.as_ref().is_some_and(|run| run.of(read).is_some());
        let done = if is_current { of } else { self.found().filter(has_run).count() };
        let shown = cache.measured.as_ref();
        let points = shown.map(|measured| measured.points(with));
        SensesSnapshot {
            list: self.list.clone(),
            is_on: self.is_on,
            word_fault: self.word_fault.clone(),
            rows: self.rows.clone(),
            measured: cache.measured.clone(),
            points: points.unwrap_or_default().into(),
            shares: Arc::new(shown.map(|measured| measured.shares(with)).unwrap_or_default()),
            is_current,
            progress: Progress { done, of },
        }
    }
}

impl ReadSentence {
    fn of(frame: &SentenceFrame) -> Self {
        Self {
            input: frame.input().clone(),
            source: frame.source().cloned(),
            tokens: frame.source_tokens().unwrap_or(frame.tokens()).to_vec(),
            pieces: frame.sentence.text.clone(),
            recorded: frame.recorded().cloned(),
        }
    }

    /// Returns the words as they are written, with their pieces, but without what the tokenizer added.
    fn words(&self) -> Vec<(&str, Range<usize>)> {
        let word = |at: Range<usize>| match &self.pieces {
            Some(text) => written_word(&self.tokens, &at, text).map(|word| (word, at)),
            None => Some((self.tokens[at.start].text.as_str(), at)),
        };
        word_pieces(&self.tokens).into_iter().filter_map(word).collect()
    }

    /// Returns the tokens for the baseline, each with its position and its word. Tokens that the tokenizer added are
    /// left out, and so is the first token, which is far from all others in many models.
    fn compared(&self) -> impl Iterator<Item = (usize, Option<usize>)> {
        let tokens = self.tokens.iter().enumerate().skip(1).filter(|(_, token)| !token.is_added());
        tokens.map(|(at, token)| (at, token.word))
    }
}

impl ReadText {
    /// Finds a word in the text.
    fn row(&self, word: &str, is_sought: bool, is_causal: bool) -> SenseRow {
        let sentence = match &self.sentence {
            Ok(sentence) => sentence,
            Err(why) => return SenseRow::LeftOut(why.clone()),
        };
        if !is_sought {
            return SenseRow::Waiting;
        }
        let words = sentence.words();
        let wanted = word.to_lowercase();
        let mut places = words.iter().filter(|(text, _)| text.to_lowercase() == wanted).map(|(_, pieces)| pieces);
        let Some(first) = places.next() else {
            return SenseRow::LeftOut(format!("“{}” is not in this sentence", shorten(word)));
        };
        let others = places.count();
        let note = match (words.len(), others, first.start) {
            (1, ..) => Some(SenseNote::Alone),
            (_, 0, 0) if is_causal => Some(SenseNote::SeesNothing),
            (_, 0, _) => None,
            (_, others, _) => Some(SenseNote::Repeated(1 + others)),
        };
        SenseRow::Found { pieces: first.clone(), note }
    }
}

/// Checks that a sentence can contain the word; an empty word passes.
///
/// # Errors
/// A message for the learner if no sentence can contain such a word.
fn check_word(word: &str, lesson: &Lesson, vocabulary: &[String]) -> Result<(), String> {
    if word.is_empty() {
        return Ok(());
    }
    if word.split_whitespace().nth(1).is_some() {
        return Err("choose one word, not several".to_owned());
    }
    if lesson.static_embedding.is_pretrained() || lesson.static_embedding.recording().is_some() {
        return Ok(());
    }
    let words = tokenize(word);
    match &words[..] {
        [one] if vocabulary.contains(one) => Ok(()),
        [one] => {
            let hint = did_you_mean(one, vocabulary.iter().map(String::as_str));
            Err(format!("the lesson does not know {:?}{hint}", shorten(one)))
        }
        _ => Err(format!("{:?} is not one word of the lesson", shorten(word))),
    }
}

impl Run {
    fn of(&self, read: &Arc<ReadText>) -> Option<&Vec<Matrix<f32>>> {
        self.states.iter().find(|(of, _)| Arc::ptr_eq(of, read)).map(|(_, states)| states)
    }

    fn add(&mut self, read: Arc<ReadText>, with: &SenseModel) {
        let Ok(ReadSentence { input, source, recorded, .. }) = &read.sentence else { return };
        let architecture = &with.model.architecture;
        let tower = architecture.tower_of_chosen();
        if let Some(pass) = recorded {
            let states = pass.activations.states_of(tower, architecture).cloned().collect();
            self.states.push((read, states));
            return;
        }
        let SenseModel { space, model, parameters, interventions } = with;
        let chosen = source.as_ref().unwrap_or(input);
        let row = |i: usize, j: usize| chosen.words[i].map_or(0.0, |word| space.vectors.get(word, j));
        let words = Matrix::from_fn(chosen.words.len(), space.vectors.cols(), row);
        let activations = Activations::of(model, parameters, input, source.as_ref(), interventions);
        let behind = activations.states_of(tower, architecture).skip(1).cloned();
        let states = std::iter::once(words).chain(behind).collect();
        self.states.push((read, states));
    }
}

impl MeasuredSenses {
    fn of(list: &Arc<SenseList>, found: &[FoundWord], run: &Run) -> Self {
        let mut end = 0;
        let occurrences: Vec<SenseOccurrence> = found
            .iter()
            .map(|FoundWord { index, at, .. }| {
                let pieces = end..end + at.len();
                end = pieces.end;
                SenseOccurrence { sentence: *index, sense: list.sentences[*index].sense, pieces }
            })
            .collect();
        let letters: Vec<Option<char>> = occurrences.iter().map(|of| of.sense).collect();
        let places: Vec<Range<usize>> = occurrences.iter().map(|of| of.pieces.clone()).collect();
        let layers = found.first().map_or(0, |found| found.states.len());
        let layer = |layer: usize| {
            let width = found.first().map_or(0, |found| found.states[layer].cols());
            let rows = found.iter().flat_map(|found| found.at.clone().map(|i| found.states[layer].row(i)));
            let pieces = Matrix::from_row_major(end, width, rows.flatten().copied().collect());
            let vectors = middles(&pieces, &places);
            let tokens = found
                .iter()
                .flat_map(|found| found.sentence.compared().map(move |(at, word)| (word, found.states[layer].row(at))));
            let cosines = cosines(&vectors);
            let scores = SenseScores::of(&cosines, &letters, baseline(tokens));
            SenseLayer { pieces, cosines, scores }
        };
        let layers = (0..layers).map(layer).collect();
        let (parameters, interventions) = (run.parameters.clone(), run.interventions.clone());
        Self { list: list.clone(), parameters, interventions, occurrences, layers }
    }

    /// Returns the rows of the pieces of each occurrence.
    fn places(&self) -> Vec<Range<usize>> {
        self.occurrences.iter().map(|of| of.pieces.clone()).collect()
    }

    /// Returns the shares of the occurrences' variance that the axes show, with each occurrence at the mean of its
    /// pieces.
    fn shares(&self, with: &SenseModel) -> TokenShares {
        let SenseModel { space, model, .. } = *with;
        let tower = model.architecture.tower_of_chosen();
        let (behind, places) = (lens(tower, space, model, &self.parameters), self.places());
        let of_layer = |(layer, of): (usize, &SenseLayer)| {
            let seen =
                if layer == 0 { space.seen(&of.pieces) } else { Lens::see_through(behind.as_ref(), of.pieces.clone()) };
            middles(&seen, &places)
        };
        let stops: Vec<Matrix<f32>> = self.layers.iter().enumerate().map(of_layer).collect();
        TokenShares::of(&space.projection, &stops)
    }

    /// Returns the occurrences in the basis, each at the mean of its pieces, as the words of a sentence are.
    fn points(&self, with: &SenseModel) -> Vec<Matrix<f32>> {
        let SenseModel { space, model, .. } = *with;
        let words = LensProjection::new(&space.projection, space.scale().map(|scale| scale.lens.clone()));
        let tower = model.architecture.tower_of_chosen();
        let (behind, places) = (sight(tower, space, model, &self.parameters), self.places());
        let of_layer = |(layer, SenseLayer { pieces, .. }): (usize, &SenseLayer)| {
            middles(&if layer == 0 { words.points(pieces) } else { behind.points(pieces) }, &places)
        };
        self.layers.iter().enumerate().map(of_layer).collect()
    }
}

/// Greatest number of sentences that are measured.
pub const MEASURED_MAX: usize = 20;
/// Greatest number of sentences in a list. It is larger than [`MEASURED_MAX`], because sentences that are not measured
/// are saved too.
pub const LISTED_MAX: usize = 200;
/// Number of sentences of a saved list that are read: one more than allowed, so that a longer list is refused as a
/// whole.
const READ_MAX: usize = LISTED_MAX + 1;
/// Greatest number of characters of a sentence, and of the word.
pub const CHARS_MAX: usize = 2000;
/// Letters of the senses, one for each hue.
pub const SENSES: std::ops::RangeInclusive<char> = 'A'..='H';

/// A word and the sentences in which it is compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SenseList {
    pub word: String,
    #[serde(deserialize_with = "beginning::<READ_MAX, _, _>")]
    pub sentences: Vec<SenseSentence>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SenseSentence {
    pub text: String,
    /// The sense, one of [`SENSES`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sense: Option<char>,
}

impl SenseList {
    /// Returns whether the list has neither a word nor sentences.
    pub fn is_empty(&self) -> bool {
        self.word.is_empty() && self.sentences.is_empty()
    }

    /// Returns the sentences as the text of a file, without empty rows.
    pub fn written(&self) -> String {
        self.sentences.iter().filter(|sentence| !sentence.text.is_empty()).map(SenseSentence::line).collect()
    }

    /// Returns the list with its texts normalised.
    ///
    /// # Errors
    /// A message for the learner if the list exceeds a limit, or has a sense that is not one of the letters.
    pub fn checked(mut self) -> Result<Self, String> {
        check_count(self.sentences.len())?;
        for text in self.sentences.iter_mut().map(|sentence| &mut sentence.text).chain([&mut self.word]) {
            check_text(text)?;
            *text = one_line(text);
        }
        self.sentences.iter().filter_map(|sentence| sentence.sense).try_for_each(check_sense)?;
        Ok(self)
    }
}

/// Reads the sentences of a file.
///
/// # Errors
/// A message for the learner if there are none or too many, or if one is too long. Reading only a part would leave the
/// learner unsure of what is missing.
pub fn read_sentences(text: &str) -> Result<Vec<SenseSentence>, String> {
    let lines = text_without_mark(text).lines().enumerate();
    let sentences = read_lines(lines.filter(|(_, line)| !line.trim().is_empty()))?;
    if sentences.is_empty() { Err("there is no sentence in the file".to_owned()) } else { Ok(sentences) }
}

/// Reads a sentence from each line; lines are counted from 0.
fn read_lines<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> Result<Vec<SenseSentence>, String> {
    let mut sentences = Vec::new();
    for (number, line) in lines {
        let sentence = SenseSentence::read(line);
        check_text(&sentence.text).map_err(|why| format!("line {}: {why}", number + 1))?;
        sentences.push(sentence);
        check_count(sentences.len())?;
    }
    Ok(sentences)
}

impl SenseSentence {
    fn line(&self) -> String {
        let text = &self.text;
        self.sense.map_or_else(|| format!("{text}\n"), |sense| format!("{sense}\t{text}\n"))
    }

    /// Reads one line. The text before a tab is the sense if it is a letter of one; otherwise, it belongs to the
    /// sentence.
    pub(crate) fn read(line: &str) -> Self {
        let begun = line.split_once('\t').and_then(|(sense, text)| Some((read_sense(sense)?, text)));
        let (sense, text) = begun.map_or((None, line), |(sense, text)| (Some(sense), text));
        Self { text: one_line(text), sense }
    }
}

/// Returns the sense that a letter stands for, in lower or upper case, or `None` for any other text.
fn read_sense(text: &str) -> Option<char> {
    let mut letters = text.trim().chars();
    let letter = letters.next().filter(|_| letters.next().is_none())?.to_ascii_uppercase();
    SENSES.contains(&letter).then_some(letter)
}

/// Replaces line breaks, tabs and other control characters in a text with blanks, because a sentence is saved as one
/// line, in which a tab may follow its sense.
pub fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_control()).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Checks the number of sentences.
///
/// # Errors
/// A message for the learner if there are more than [`LISTED_MAX`].
pub fn check_count(count: usize) -> Result<(), String> {
    if count > LISTED_MAX {
        return Err(format!("a list of senses holds at most {LISTED_MAX} sentences"));
    }
    Ok(())
}

/// Checks the length of a text.
///
/// # Errors
/// A message for the learner if the text has more than [`CHARS_MAX`] characters.
pub fn check_text(text: &str) -> Result<(), String> {
    let count = text.chars().count();
    if count > CHARS_MAX {
        return Err(format!("{:?} has {count} characters; at most {CHARS_MAX} are read", shorten(text)));
    }
    Ok(())
}

/// Checks the letter of a sense.
///
/// # Errors
/// A message for the learner if the letter is not one of [`SENSES`].
pub fn check_sense(sense: char) -> Result<(), String> {
    if SENSES.contains(&sense) {
        return Ok(());
    }
    Err(format!("senses must have letters from {} to {}, not {sense:?}", SENSES.start(), SENSES.end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(list: &[(Option<char>, &str)]) -> Vec<SenseSentence> {
        list.iter().map(|(sense, text)| SenseSentence { text: (*text).to_owned(), sense: *sense }).collect()
    }

    #[test]
    fn a_list_is_read_from_the_file_that_it_writes() {
        let expected =
            sentences(&[(Some('A'), "the bank of the river"), (None, "a bank"), (Some('H'), "the bank lent")]);
        let list = SenseList { word: "bank".to_owned(), sentences: expected.clone() };
        assert_eq!(list.written(), "A\tthe bank of the river\na bank\nH\tthe bank lent\n");
        assert_eq!(read_sentences(&list.written()), Ok(expected));
    }

    #[test]
    fn rows_that_wait_for_a_sentence_are_left_out_of_files() {
        let list = sentences(&[(None, ""), (Some('B'), ""), (None, "a bank"), (None, "")]);
        let list = SenseList { word: String::new(), sentences: list };
        assert_eq!(list.written(), "a bank\n");
    }

    #[test]
    fn files_of_other_editors_are_read_and_nothing_of_a_line_is_lost() {
        let text = "\u{feff}a\tone bank\r\n\r\n  \t \nZ\ttwo banks\n AB\tthree \tbanks\n B \tfour\n";
        let expected = [(Some('A'), "one bank"), (None, "Z two banks"), (None, "AB three banks"), (Some('B'), "four")];
        assert_eq!(read_sentences(text), Ok(sentences(&expected)));
    }

    #[test]
    fn a_file_that_is_no_list_is_refused_with_words() {
        let refused = |text: &str, words: &str| {
            let why = read_sentences(text).expect_err("a refusal");
            assert!(why.contains(words), "{why}");
        };
        refused("\n \n", "no sentence");
        refused(&"a bank\n".repeat(LISTED_MAX + 1), "at most 200 sentences");
        refused(&format!("a bank\n{}\n", "b".repeat(CHARS_MAX + 1)), "line 2: ");
        assert_eq!(read_sentences(&"a bank\n".repeat(LISTED_MAX)).map(|read| read.len()), Ok(LISTED_MAX));
    }
}
