//! The Answers panel: the model's answers about the sentence, and the words that it generates; the answers that gained
//! and lost probability by the learner's changes; the origin of an answer, which is what the word's own vector, each
//! head, each attended word and each feed-forward layer add to its logit; and the logit lens, which is what each layer
//! would answer at a word if the model ended there.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use attune_core::kernel::command::{Command, SentenceCommand};
use attune_core::kernel::notebook::document::CellId;
use attune_core::kernel::notebook::snapshot::CellSnapshot;
use attune_core::kernel::sentence_pass::interventions::are_none;
use attune_core::kernel::snapshot::answers::{answers_by_word, layer_answers, terms_of};
use attune_core::kernel::snapshot::sentence::{ANSWERS, RankedAnswer, Token, check_generates, token_labels};
use attune_core::kernel::snapshot::{Generated, ModelSnapshot, SentenceSnapshot, Snapshot, StaticSpace};
use attune_core::lesson::Lesson;
use attune_core::lesson::cells::CellKind;
use attune_core::lesson::limits::GENERATED_MAX;
use attune_core::lesson::panels::PanelName;
use attune_core::lesson::recorded::ONE_PASS;
use attune_core::lesson::schema::{Objective, StaticEmbedding};
use attune_engine::messages::counted;
use attune_engine::numerics::block::BlockConfig;
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::model::attribution::{NoSum, TermOf};
use attune_engine::numerics::model::generate::{NextWordChoice, RowsRead, Sampling};
use attune_engine::numerics::model::{Architecture, Pooling};
use attune_engine::pretrained::tokenizer::HIDDEN;
use attune_engine::quantity::{Entry, Quantity};
use serde::Serialize;

use super::labels::HeadLabels;
use super::{Model, quoted, quoted_token};

#[derive(Clone, Debug, PartialEq)]
pub struct AnswersModel {
    /// The question, as a sentence.
    pub question: String,
    /// The most likely answer of each row, as the sentence that also ends the walk.
    pub said: Vec<String>,
    /// The rows: one for each token, or one for the whole sentence.
    pub rows: Vec<AnswerRow>,
    /// Whether there is a row for each token.
    pub is_by_token: bool,
    /// The row of a hidden word, if there is one.
    pub hidden: Option<usize>,
    pub writing: AnswersWriting,
    groups: ClassGroups,
}

/// The group of each class, computed once for a model.
#[derive(Clone, Debug, PartialEq)]
struct ClassGroups {
    classes: Arc<[String]>,
    groups: Arc<[Option<usize>]>,
}

impl ClassGroups {
    fn of(space: &StaticSpace, classes: &Arc<[String]>) -> Self {
        let groups: HashMap<&str, usize> = space
            .vocabulary
            .iter()
            .zip(&space.group_of)
            .filter_map(|(word, group)| Some((word.as_str(), (*group)?)))
            .collect();
        let groups = classes.iter().map(|class| groups.get(class.as_str()).copied()).collect();
        Self { classes: classes.clone(), groups }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct AnswerRow {
    pub label: String,
    /// The answers, most likely first.
    pub answers: Vec<NamedAnswer>,
    /// The answers that the model never writes, although their logits are among the largest.
    pub never: Vec<String>,
}

impl AnswerRow {
    /// Returns a sentence that names the answers that are never written; `None` if there are none.
    pub fn never_said(&self) -> Option<String> {
        let named: Vec<String> = self.never.iter().map(|name| quoted(name)).collect();
        (!named.is_empty()).then(|| {
            format!(
                "{} would be among the likeliest, but the model's files say that it is never written.",
                named.join(", ")
            )
        })
    }

    /// Returns the total probability of the answers that are not named.
    pub fn rest(&self) -> f32 {
        (1.0 - self.answers.iter().map(|answer| answer.probability).sum::<f32>()).max(0.0)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct NamedAnswer {
    pub name: String,
    /// The index of the answer among the model's classes.
    pub class: usize,
    pub probability: f32,
    /// The index of the answer's group among the lesson's groups; `None` if it has no group.
    pub group: Option<usize>,
    pub entry: Entry,
}

/// The model's ability to continue sentences, and what it has generated.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswersWriting {
    /// The model cannot continue sentences, for this reason.
    Cannot(String),
    Can {
        /// The largest number of words that can be generated at once.
        most: usize,
        written: Option<WrittenText>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct WrittenText {
    /// The text before the generated words: the sentence, or the given target after a source; empty if the model wrote
    /// the whole target.
    pub before: String,
    pub words: Vec<String>,
    /// The generated words as a text that follows the sentence, with the pieces of each word joined.
    pub text: String,
    /// A description of how the words were chosen, and of what was different then: the weights, or the learner's
    /// changes.
    pub said: String,
    /// The numbers of rows of keys and values that were computed and kept for each word.
    pub rows: Vec<RowsRead>,
    /// A text on these rows: how many were computed, and how many cached.
    pub rows_label: String,
}

/// The kinds of choice among next words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WritingSearch {
    Likeliest,
    Drawn,
    Beams,
}

/// The learner's choices for generating words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WritingPlan {
    /// The number of words to generate at once.
    pub count: usize,
    pub search: WritingSearch,
    /// The number of beams, if the search is with beams.
    pub beams: usize,
    pub temperature: f64,
    /// Whether words are drawn only from the `k` most likely ones, and `k`.
    pub top_k: (bool, usize),
    /// Whether words are drawn only from the most likely ones up to a total probability, and that probability.
    pub top_p: (bool, f64),
}

impl Default for WritingPlan {
    fn default() -> Self {
        Self {
            count: 6,
            search: WritingSearch::Likeliest,
            beams: 2,
            temperature: 1.0,
            top_k: (false, 10),
            top_p: (false, 0.9),
        }
    }
}

impl WritingPlan {
    pub fn command(&self) -> Command {
        let sampling = Sampling {
            temperature: self.temperature,
            top_k: self.top_k.0.then_some(self.top_k.1),
            top_p: self.top_p.0.then_some(self.top_p.1),
        };
        let choice = match self.search {
            WritingSearch::Likeliest => NextWordChoice::Greedy,
            WritingSearch::Drawn => NextWordChoice::Sampled(sampling),
            WritingSearch::Beams => NextWordChoice::Beams(self.beams),
        };
        Command::Sentence(SentenceCommand::Generate { count: self.count, choice })
    }
}

impl AnswersModel {
    /// Returns the answers; `None` until there is a model. The groups of the classes are taken from `last` if its
    /// classes are the same.
    pub fn of(snapshot: &Snapshot, last: Option<&Self>) -> Option<Self> {
        let (space, model) = (snapshot.space.as_deref()?, snapshot.model.as_ref()?);
        let objective = &model.made_of.model.objective;
        let answers = &model.sentence.answers;
        let tokens = token_labels(&model.sentence.tokens);
        let is_by_token = answers.likeliest.len() == tokens.len() && !matches!(objective, Objective::Label);
        let known = last.map(|last| &last.groups).filter(|known| Arc::ptr_eq(&known.classes, &model.classes));
        let groups = known.cloned().unwrap_or_else(|| ClassGroups::of(space, &model.classes));
        let rows = answers.likeliest.iter().enumerate().map(|(row, likeliest)| AnswerRow {
            label: if is_by_token { tokens[row].clone() } else { "the sentence".to_owned() },
            answers: likeliest
                .iter()
                .map(|answer| NamedAnswer {
                    name: model.classes[answer.class].clone(),
                    class: answer.class,
                    probability: answer.probability,
                    group: groups.groups[answer.class],
                    entry: Quantity::Probability.of_model([row, answer.class]),
                })
                .collect(),
            never: never(model, row),
        });
        let rows = rows.collect();
        let hidden = hiding_piece(&model.made_of)
            .and_then(|piece| model.sentence.tokens.iter().position(|token| token.text == piece));
        let said = (0..answers.likeliest.len()).filter_map(|row| said(model, row)).collect();
        Some(Self {
            said,
            question: question(&model.made_of),
            rows,
            is_by_token,
            hidden: hidden.filter(|_| is_by_token),
            writing: writing(model, objective),
            groups,
        })
    }

    /// Returns the index of the row of the chosen word, or else that of a hidden word, or else the last; 0 if there is
    /// a single row for the sentence.
    pub fn row_number(&self, query: Option<usize>) -> usize {
        let last = self.rows.len().saturating_sub(1);
        if self.is_by_token { query.or(self.hidden).unwrap_or(last).min(last) } else { 0 }
    }

    pub fn row_of(&self, query: Option<usize>) -> Option<&AnswerRow> {
        self.rows.get(self.row_number(query))
    }

    /// The largest number of answers in a row.
    pub const NAMED: usize = ANSWERS;
}

/// Returns the names of the answers that are never written, although their logits are as large as those of listed
/// answers.
fn never(model: &ModelSnapshot, row: usize) -> Vec<String> {
    let answers = &model.sentence.answers;
    let Some(last) = answers.likeliest[row].last().map(|last| answers.logits.get(row, last.class)) else {
        return Vec::new();
    };
    let is_large = |class: &&usize| answers.logits.get(row, **class) >= last;
    answers.never.iter().filter(is_large).map(|class| model.classes[*class].clone()).collect()
}

/// Returns the piece that hides a word; `None` for a model that was not trained on hidden words, or has no such piece.
fn hiding_piece(lesson: &Lesson) -> Option<&'static str> {
    // A model that goes on writing may have such a piece, too: with BART's, words of its source are hidden.
    let goes_on = matches!(lesson.model.objective, Objective::NextWord | Objective::Sequence(_));
    match &lesson.static_embedding {
        StaticEmbedding::Pretrained(model) if !goes_on => match model.absent {
            Some(_) => Some(HIDDEN[0]),
            None => model.hidden().map(|(piece, _)| piece),
        },
        _ => None,
    }
}

fn question(lesson: &Lesson) -> String {
    if lesson.static_embedding.recording().is_some() {
        return "What the model answered at each place, as it was recorded.".to_owned();
    }
    if !lesson.static_embedding.guesses_words() {
        return "This model has no readout. A word counts as likely here if its row of the embedding table is similar \
            to the output."
            .to_owned();
    }
    if let Some(piece) = hiding_piece(lesson) {
        return format!(
            "Which word belongs at each position? The model sees the words, so it mostly repeats them. To hide a \
             word, write {piece} in its place."
        );
    }
    let asks = match &lesson.model.objective {
        Objective::MaskedWord { .. } => {
            "Which word belongs at each position? In training, some words were hidden; here the model sees every word."
        }
        Objective::NextWord => "Which word comes after each word?",
        Objective::Label => "Which answer fits the whole sentence?",
        Objective::Sequence(_) => "Which word comes after each word of the sentence that the model writes?",
    };
    asks.to_owned()
}

fn writing(model: &ModelSnapshot, objective: &Objective) -> AnswersWriting {
    if model.recorded.is_some() {
        return AnswersWriting::Cannot(ONE_PASS.to_owned());
    }
    if let Err(why) = check_generates(objective) {
        return AnswersWriting::Cannot(why);
    }
    let tokenizer = model.made_of.static_embedding.pretrained().and_then(|folder| folder.tokenizer.as_ref().ok());
    let in_text = |token: &Token| match tokenizer.zip(token.word) {
        Some((tokenizer, id)) => tokenizer.shown_behind_others(id as u32),
        None => format!(" {}", token.text),
    };
    let before = || match (&model.sentence.source, model.sentence.has_own_target) {
        (None, _) => model.sentence.written(),
        // The text begins after the start token.
        (Some(_), true) => model.sentence.tokens.iter().skip(1).map(in_text).collect(),
        (Some(_), false) => String::new(),
    };
    let written = model.generated.as_deref().map(|generated| WrittenText {
        before: before(),
        words: generated.words.iter().map(|token| token.text.clone()).collect(),
        text: generated.words.iter().map(in_text).collect(),
        said: how(generated, &model.interventions),
        rows: generated.rows.clone(),
        rows_label: rows_label(&generated.rows),
    });
    AnswersWriting::Can { most: GENERATED_MAX, written }
}

/// Returns a sentence with the most likely answer for a token, or for the whole sentence; `None` if the model gives no
/// answer.
pub fn said(model: &ModelSnapshot, token: usize) -> Option<String> {
    let answer = likeliest(model, token)?;
    let word = quoted(&model.classes[answer.class]);
    let answer = format!("{word} (probability {:.2})", answer.probability);
    let place = || quoted_token(&model.sentence.tokens, token);
    Some(match &model.made_of.model.objective {
        Objective::MaskedWord { .. } => format!("At this position the model answers {answer}."),
        Objective::NextWord | Objective::Sequence(_) => format!("After {} the model answers {answer}.", place()),
        Objective::Label => format!("The model answers {answer}."),
    })
}

/// The word that an answer is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Asked {
    /// The word at this position.
    Here,
    /// The word after this position.
    Next,
    /// The whole sentence.
    Whole,
}

/// Returns the most likely answer at a word, and the word that it is about; `None` if the model gives no answers. A
/// model of hidden words has none at a visible word, because it was not trained to answer there, or mostly repeats the
/// word.
pub fn told_answer(model: &ModelSnapshot, token: usize) -> Option<(Asked, &RankedAnswer)> {
    let asked = Asked::of(model)?;
    let is_told = asked != Asked::Here || model.sentence.tokens.get(token).is_some_and(is_hidden);
    Some((asked, likeliest(model, token)?)).filter(|_| is_told)
}

/// Returns the ids of the unanswered predictions that open the panel *Answers*. Until they are answered, no picture
/// shows the model's answers.
pub fn keepers(snapshot: &Snapshot) -> impl Iterator<Item = &CellId> {
    let opens = |id: &&CellId| {
        snapshot.lesson.cells.iter().any(|cell| *cell.id == ***id && cell.opens.contains(&PanelName::Answers))
    };
    snapshot.notebook.cells.iter().filter(|shown| is_asked(shown)).map(|shown| &shown.cell.id).filter(opens)
}

/// Returns whether a cell is a prediction without an answer.
pub fn is_asked(shown: &CellSnapshot) -> bool {
    matches!(*shown.cell.kind, CellKind::Predict(_)) && !shown.cell.is_done()
}

impl Asked {
    /// Returns the word that answers are about; `None` for a model that gives no answers: one without learned parts or
    /// without a readout.
    pub fn of(model: &ModelSnapshot) -> Option<Self> {
        let learns = |block: &BlockConfig| block.attention.projected || block.feed_forward.is_some();
        let answers = model.architecture.blocks.iter().any(learns) && model.made_of.static_embedding.guesses_words();
        answers.then_some(match &model.made_of.model.objective {
            Objective::MaskedWord { .. } => Self::Here,
            Objective::NextWord | Objective::Sequence(_) => Self::Next,
            Objective::Label => Self::Whole,
        })
    }
}

fn likeliest(model: &ModelSnapshot, token: usize) -> Option<&RankedAnswer> {
    let (asked, likeliest) = (Asked::of(model)?, &model.sentence.answers.likeliest);
    likeliest.get(token).filter(|_| asked != Asked::Whole).or(likeliest.last())?.first()
}

/// Describes how many rows of keys and values were computed, and how many were cached.
fn rows_label(rows: &[RowsRead]) -> String {
    let Some((first, others)) = rows.split_first() else { return String::new() };
    let begins =
        format!("For the first new word, each layer computed {} of keys and values", counted(first.computed, "row"));
    let kept = others.iter().take_while(|rows| rows.kept > 0).count();
    match others.len() {
        0 => format!("{begins}."),
        all if kept == all => {
            format!(
                "{begins}; for each later word, only 1 row, because the keys and values of earlier words do not \
                 change and are kept."
            )
        }
        _ if kept == 0 => {
            format!(
                "{begins}; for every later word, it computed all rows again, because the earlier rows were no longer \
                 right."
            )
        }
        _ => {
            let next = if kept == 1 { "word, only 1 row" } else { &format!("{kept} words, only 1 row each") };
            format!(
                "{begins}; for the next {next}, because the keys and values of earlier words are kept. After that, \
                 the sentence was longer than the model can read, so every word got another position and all rows \
                 were computed again."
            )
        }
    }
}

/// Describes how the words were chosen. They are generated without the learner's changes to the pass, which do apply to
/// the list of answers.
fn how(generated: &Generated, interventions: &Interventions<f32>) -> String {
    let choice = match generated.choice {
        NextWordChoice::Greedy => "Each new word is the likeliest one.".to_owned(),
        NextWordChoice::Beams(width) => {
            format!("The likeliest whole sentence that a search with {} found.", counted(width, "beam"))
        }
        NextWordChoice::Sampled(Sampling { temperature, top_k, top_p }) => {
            let likeliest = top_k.map(|count| format!(", top-k {count}"));
            let share = top_p.map(|share| format!(", top-p {share}"));
            let [likeliest, share] = [likeliest, share].map(Option::unwrap_or_default);
            format!("Each new word is drawn at random (temperature {temperature}{likeliest}{share}).")
        }
    };
    let since = if generated.is_current { "" } else { " The weights have changed since then." };
    let without = if are_none(interventions) { "" } else { " They are written without your changes in Intervene." };
    format!("{choice}{without}{since}")
}

/// The smallest change of a probability that is shown.
const SEEN: f32 = 5e-4;
/// The number of answers that are skipped at once if none of them is visible.
const PART: usize = 256;

#[derive(Clone, Debug, PartialEq)]
pub struct AnswerShifts {
    /// The title, which names the word that the answers are about, such as `The answers after “river”`.
    pub title: String,
    /// The answers that gained probability, the largest change first.
    pub gained: Vec<AnswerShift>,
    pub lost: Vec<AnswerShift>,
    /// The largest number of answers that can be listed, in both directions together.
    pub most: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AnswerShift {
    pub name: String,
    /// The probability without the changes.
    pub before: f32,
    /// The probability with the changes.
    pub now: f32,
}

impl AnswerShift {
    /// Returns a text such as `“bank” 0.120 → 0.310`.
    pub fn said(&self) -> String {
        format!("{} {:.3} → {:.3}", quoted(&self.name), self.before, self.now)
    }
}

impl AnswerShifts {
    /// The largest number of answers listed in each direction.
    pub const LISTED: usize = 3;

    /// Returns the changes of the answers; `None` for a model without answers. The default word is the last one for a
    /// model of next words; otherwise it is a hidden word, or else the one that the changes moved most.
    pub fn of(snapshot: &Snapshot, query: Option<usize>) -> Option<Self> {
        let model = snapshot.model.as_ref().filter(|model| model.made_of.static_embedding.guesses_words())?;
        let (unchanged, is) = (model.sentence.unchanged.as_ref(), &model.sentence.answers);
        let was = unchanged.map_or(is, |unchanged| &unchanged.other.answers);
        let rows = is.logits.rows();
        let row = if rows == 1 { 0 } else { query.or_else(|| asked(model))? };
        if row >= rows {
            return None;
        }
        let [was_row, is_row] = [was, is].map(|answers| answers.logits.row(row));
        // A visible change requires a visible probability, which few of tens of thousands of words have.
        let [was_seen, is_seen] = [was, is].map(|answers| answers.logit_of(row, SEEN));
        let has_seen = |was: &[f32], is: &[f32]| {
            was.iter().zip(is).fold(false, |any, (was, is)| any | (*was >= was_seen) | (*is >= is_seen))
        };
        let change = |class: usize| (class, is.probability(row, class) - was.probability(row, class));
        let mut by_change: Vec<(usize, f32)> = Vec::new();
        for (part, (was, is)) in was_row.chunks(PART).zip(is_row.chunks(PART)).enumerate() {
            if has_seen(was, is) {
                by_change.extend((part * PART..part * PART + is.len()).map(change));
            }
        }
        by_change.retain(|(_, change)| change.abs() >= SEEN);
        by_change.sort_by(|a, b| b.1.total_cmp(&a.1));
        let shift = |(class, _): &(usize, f32)| AnswerShift {
            name: model.classes[*class].clone(),
            before: was.probability(row, *class),
            now: is.probability(row, *class),
        };
        let gained = by_change.iter().take_while(|(_, change)| *change > 0.0).take(Self::LISTED).map(shift).collect();
        let lost =
            by_change.iter().rev().take_while(|(_, change)| *change < 0.0).take(Self::LISTED).map(shift).collect();
        let label = || quoted_token(&model.sentence.tokens, row);
        let title = match &model.made_of.model.objective {
            Objective::Label => "The model's answers".to_owned(),
            Objective::NextWord | Objective::Sequence(_) => format!("The answers after {}", label()),
            Objective::MaskedWord { .. } => format!("The answers at {}", label()),
        };
        Some(Self { title, gained, lost, most: model.classes.len().min(2 * Self::LISTED) })
    }

    /// Describes the changes in sentences, for screen readers.
    pub fn said(&self) -> String {
        let list = |shifts: &[AnswerShift]| shifts.iter().map(AnswerShift::said).collect::<Vec<_>>().join(", ");
        let ways = [("gained", &self.gained), ("lost", &self.lost)];
        let ways = ways.iter().filter(|(_, shifts)| !shifts.is_empty());
        let said: Vec<String> = ways.map(|(way, shifts)| format!("{way}: {}", list(shifts))).collect();
        match said.is_empty() {
            true => format!("{} stay as they are.", self.title),
            false => format!("{}, {}.", self.title, said.join("; ")),
        }
    }
}

/// Returns whether a word is hidden from the model.
fn is_hidden(token: &Token) -> bool {
    HIDDEN.contains(&token.text.as_str()) || token.word.is_none()
}

/// Returns the position of the first hidden word.
pub(crate) fn hidden_at(tokens: &[Token]) -> Option<usize> {
    tokens.iter().position(is_hidden)
}

/// Returns the position of the word whose answer is shown beside the picture of the given word.
pub(crate) fn asked_beside(model: &ModelSnapshot, word: usize) -> usize {
    asked_or(model, || Some(word)).unwrap_or_default()
}

/// Returns the position of the word whose answer is shown by default; `None` for a sentence without words.
fn asked(model: &ModelSnapshot) -> Option<usize> {
    let SentenceSnapshot { tokens, unchanged, .. } = &*model.sentence;
    let moved_most = || unchanged.as_ref()?.moved_most();
    asked_or(model, || moved_most().or((!tokens.is_empty()).then_some(0)))
}

/// Returns the position of a hidden word, or else the result of `other`, for a model of hidden words; for any other
/// model, the last position.
fn asked_or(model: &ModelSnapshot, other: impl FnOnce() -> Option<usize>) -> Option<usize> {
    let tokens = &model.sentence.tokens;
    if hides_words(model) { hidden_at(tokens).or_else(other) } else { tokens.len().checked_sub(1) }
}

/// Returns whether the model answers at hidden words.
pub(crate) fn hides_words(model: &ModelSnapshot) -> bool {
    matches!(model.made_of.model.objective, Objective::MaskedWord { .. })
}

#[derive(Clone, Debug, PartialEq)]
pub struct AttributionModel {
    /// A sentence with the answer and the word.
    pub title: String,
    pub answer: String,
    /// The index of the answer among the model's classes.
    pub class: usize,
    pub logit: f32,
    /// The terms by layer: first the term of the vectors before all layers, then the terms of the layers, and last the
    /// term of the readout.
    pub layers: Vec<Share>,
    /// The terms of all heads, the largest first.
    pub heads: Vec<Share>,
    /// The terms of each head at each attended word, the largest first.
    pub looks: Vec<Share>,
}

/// The ways to divide a logit: by layers, by heads, or by heads and the words that they look at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TermWays {
    #[default]
    Layers,
    Heads,
    Looks,
}

/// A term of a logit, with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    pub label: String,
    pub value: f32,
}

impl Share {
    /// Returns a sentence such as `layer 2, head 1, at “not” gives “hate” +2.10`.
    pub fn said(&self, answer: &str) -> String {
        format!("{} gives {} {:+.2}", self.label, quoted(answer), self.value)
    }
}

/// The terms of an answer, or the reason in words why it is not a sum of terms.
impl Model for Result<AttributionModel, String> {
    /// The word, and the index of the answer; by default the last word and its most likely answer.
    type Choice = (Option<usize>, Option<usize>);

    fn make(snapshot: &Arc<Snapshot>, choice: &Self::Choice, _: Option<&Self>) -> Option<Self> {
        AttributionModel::of(snapshot, *choice)
    }
}

impl AttributionModel {
    /// Returns the terms of an answer; `None` until there is a model, and if there is no such word or answer.
    ///
    /// # Errors
    /// If an answer of this model is not a sum of terms; described in words.
    pub fn of(snapshot: &Snapshot, (token, class): (Option<usize>, Option<usize>)) -> Option<Result<Self, String>> {
        let model = snapshot.model.as_ref()?;
        let token = token.unwrap_or(model.sentence.tokens.len().checked_sub(1)?);
        let answers = &model.sentence.answers;
        // The answers of the last row are used if there is a single row for the whole sentence.
        let class =
            class.or_else(|| Some(answers.likeliest.get(token).or(answers.likeliest.last())?.first()?.class))?;
        let terms = match terms_of(snapshot, token, class)? {
            Ok(terms) => terms,
            Err(why) => return Some(Err(no_sum(why).to_owned())),
        };
        let logit = answers.logits.get(if answers.logits.rows() == 1 { 0 } else { token }, class);
        let names = PartNames { model, labels: HeadLabels::of(model) };
        let sums = TermSums::of(&model.architecture, &terms);
        let share = |label: String, value: f32| Share { label, value };
        let layers = sums.layers.iter().map(|(layer, value)| share(names.layer(*layer, sums.patched), *value));
        let heads = sums.heads.iter().map(|(&(block, head), value)| share(names.head(block, head), *value));
        let looks = sums.looks.iter().map(|(look, value)| share(names.look(*look), *value));
        Some(Ok(Self {
            title: names.title(token, class, logit, &terms)?,
            answer: model.classes[class].clone(),
            class,
            logit,
            layers: layers.collect(),
            heads: largest_first(heads),
            looks: largest_first(looks),
        }))
    }
}

fn largest_first(shares: impl Iterator<Item = Share>) -> Vec<Share> {
    let mut shares: Vec<Share> = shares.collect();
    shares.sort_by(|a, b| b.value.abs().total_cmp(&a.value.abs()));
    shares
}

/// The sums of a logit's terms by layer and by head.
#[derive(Default)]
struct TermSums {
    /// The sums by layer: 0 stands for the vectors before all layers, and the number after the last layer for the
    /// readout.
    layers: BTreeMap<usize, f32>,
    /// The sums by block and by head within the block.
    heads: BTreeMap<(usize, usize), f32>,
    looks: Vec<(HeadAtKey, f32)>,
    /// The layer, counted from 1, before which a vector was patched.
    patched: Option<usize>,
}

/// A key to which a head of a block attends.
#[derive(Clone, Copy)]
struct HeadAtKey {
    block: usize,
    head: usize,
    key: usize,
}

impl TermSums {
    fn of(architecture: &Architecture, terms: &[(TermOf, f32)]) -> Self {
        let first = architecture.source_blocks.len();
        let mut sums = Self::default();
        for &(of, value) in terms {
            let layer = match of {
                TermOf::Input | TermOf::Patch { .. } => 0,
                TermOf::Head { block, .. } | TermOf::OutputBias { block } | TermOf::FeedForward { block } => {
                    block - first + 1
                }
                TermOf::Shift | TermOf::Bias => architecture.blocks.len() + 1,
            };
            *sums.layers.entry(layer).or_default() += value;
            match of {
                TermOf::Patch { block } => sums.patched = Some(block - first + 1),
                TermOf::Head { block, head, key } => {
                    *sums.heads.entry((block, head)).or_default() += value;
                    sums.looks.push((HeadAtKey { block, head, key }, value));
                }
                _ => {}
            }
        }
        sums
    }
}

/// The names of a logit's terms.
struct PartNames<'a> {
    model: &'a ModelSnapshot,
    labels: HeadLabels<'a>,
}

impl PartNames<'_> {
    fn title(&self, token: usize, class: usize, logit: f32, terms: &[(TermOf, f32)]) -> Option<String> {
        let architecture = &self.model.architecture;
        let at = match architecture.pooling {
            Pooling::Every => format!(" at {}", quoted(self.labels.tokens.get(token)?)),
            Pooling::Last => String::new(),
            Pooling::Mean => ", read from the mean over all words".to_owned(),
        };
        let bound = architecture.logit_cap.map_or_else(String::new, |cap| {
            let sum: f32 = terms.iter().map(|(_, value)| value).sum();
            format!(
                " Their sum is {sum:.2}. The model keeps every logit below {cap}, so this one is {cap} · \
                 tanh({sum:.2} / {cap}) = {logit:.2}."
            )
        });
        let answer = quoted(&self.model.classes[class]);
        Some(format!("The terms that add up to the logit of {answer}{at} (direct logit attribution).{bound}"))
    }

    /// Returns the name of a layer in [`TermSums::layers`]; `patched` is [`TermSums::patched`].
    fn layer(&self, layer: usize, patched: Option<usize>) -> String {
        let architecture = &self.model.architecture;
        match (layer, patched) {
            (0, _) if architecture.pooling == Pooling::Mean => "the words and their positions".to_owned(),
            (0, Some(patched)) => format!("the vector copied in before {}", layer_name(architecture, patched)),
            (0, None) => "the word and its position".to_owned(),
            _ if layer == architecture.blocks.len() + 1 => "the readout".to_owned(),
            _ if architecture.blocks.len() == 1 => "the layer".to_owned(),
            _ => architecture.block_name(architecture.source_blocks.len() + layer - 1),
        }
    }

    fn head(&self, block: usize, head: usize) -> String {
        self.model.architecture.head_name(self.model.architecture.heads_of(block).start + head)
    }

    fn look(&self, HeadAtKey { block, head, key }: HeadAtKey) -> String {
        let keys = self.labels.keys(self.model.architecture.heads_of(block).start);
        let key = keys.get(key).map_or_else(String::new, |label| quoted(label));
        format!("{}, at {key}", self.head(block, head))
    }
}

/// Returns the name of a layer of the sentence, counted from 1: `layer 2`, or the block's own name if the model has a
/// source.
fn layer_name(architecture: &Architecture, layer: usize) -> String {
    match layer.checked_sub(1).filter(|_| architecture.has_source()) {
        Some(before) => architecture.block_name(architecture.source_blocks.len() + before),
        None => format!("layer {layer}"),
    }
}

/// Returns the reason why a logit has no terms, in words.
fn no_sum(why: NoSum) -> &'static str {
    match why {
        NoSum::Transformed => {
            "This model's readout has a nonlinear layer of its own, so a logit cannot be split into what each layer adds."
        }
        NoSum::Blocks => {
            "A norm follows each addition in the layers, so a logit cannot be split into what each layer adds."
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct LensModel {
    /// A sentence that names the word.
    pub title: String,
    /// The layers, beginning with the word's vector before all of them.
    pub layers: Vec<LensLayer>,
    pub note: &'static str,
}

/// The most likely answers after a layer.
#[derive(Clone, Debug, PartialEq)]
pub struct LensLayer {
    pub label: String,
    /// The answers with their probabilities, most likely first.
    pub answers: Vec<(String, f32)>,
    /// The same answers as one line, for screen readers.
    pub said: String,
}

const NOTE: &str = "Here each layer's vector goes through the model's final norm, if the model has one, and through \
    the readout. The early layers were not trained for this, so treat their apparent answers with caution. The \
    answer of the last layer is the model's own.";

/// The words whose answers after each layer can be computed.
#[derive(Clone, Debug, PartialEq)]
pub struct LensWords {
    pub labels: Vec<String>,
    pub layers: usize,
    /// Whether the computation takes less than a frame.
    pub is_quick: bool,
}

impl LensWords {
    /// The number of multiplications that fit into a frame.
    const QUICK: usize = 4_000_000;

    /// Returns the words; `None` until there is a model, for a model without answers about single words, and for a
    /// sentence without words.
    pub fn of(snapshot: &Snapshot) -> Option<Self> {
        let model = snapshot.model.as_ref().filter(|model| answers_by_word(model))?;
        let labels = token_labels(&model.sentence.tokens);
        let layers = model.architecture.blocks.len();
        let cost = labels.len() * layers * model.classes.len() * model.architecture.width;
        (!labels.is_empty()).then_some(Self { labels, layers, is_quick: cost <= Self::QUICK })
    }

    /// Returns whether both snapshots have the same answers; `false` if one of them has no model.
    pub fn are_the_same(one: &Snapshot, other: &Snapshot) -> bool {
        let models = one.model.as_ref().zip(other.model.as_ref());
        models.is_some_and(|(one, other)| Arc::ptr_eq(&one.sentence.answers, &other.sentence.answers))
    }

    /// Returns the position of the chosen word, or of the last one if none is chosen.
    pub fn chosen(&self, token: Option<usize>) -> usize {
        let last = self.labels.len() - 1;
        token.unwrap_or(last).min(last)
    }
}

impl LensModel {
    /// Returns the answers of each layer; `None` until there is a model, and for a model without answers about single
    /// words.
    pub fn of(snapshot: &Snapshot, token: Option<usize>) -> Option<Self> {
        let model = snapshot.model.as_ref()?;
        let labels = token_labels(&model.sentence.tokens);
        let token = token.unwrap_or(labels.len().checked_sub(1)?);
        let layers = layer_answers(snapshot, token)?;
        let last = layers.len() - 1;
        let layer = |(number, likeliest): (usize, &Vec<RankedAnswer>)| {
            let label = match (number, layer_name(&model.architecture, number)) {
                (0, _) => "before all layers".to_owned(),
                (_, name) if number == last => format!("{name}, the answer"),
                (_, name) => name,
            };
            let answers: Vec<(String, f32)> =
                likeliest.iter().map(|answer| (model.classes[answer.class].clone(), answer.probability)).collect();
            let first = answers.first().map(|(name, p)| format!("{} (probability {p:.2})", quoted(name)));
            LensLayer { said: format!("{label}: {}", first.unwrap_or_default()), label, answers }
        };
        Some(Self {
            title: format!("What each layer would answer at {}.", quoted(labels.get(token)?)),
            layers: layers.iter().enumerate().map(layer).collect(),
            note: NOTE,
        })
    }
}
