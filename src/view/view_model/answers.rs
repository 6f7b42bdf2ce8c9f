//! The Answers panel: what the model answers about the sentence, and the words that it writes on; and which answers gained
//! and lost by the learner's changes.

use std::collections::HashMap;
use std::sync::Arc;

use attune_core::kernel::command::{Command, SentenceCommand};
use attune_core::kernel::data::answers::{ANSWERS, check_generates};
use attune_core::kernel::data::token::token_labels;
use attune_core::kernel::snapshot::{Generated, ModelSnapshot, SentenceSnapshot, Snapshot, StaticSpace, Token};
use attune_core::lesson::Lesson;
use attune_core::lesson::limits::GENERATED_MAX;
use attune_core::lesson::schema::{Objective, StaticEmbedding};
use attune_engine::numerics::model::generate::{Choice, RowsRead, Sampling};
use attune_engine::pretrained::tokenizer::HIDDEN;
use attune_engine::quantity::{Entry, Quantity};

use super::models::Model;
use super::quoted;

#[derive(Clone, Debug, PartialEq)]
pub struct AnswersModel {
    /// The question, in a sentence.
    pub question: String,
    /// The likeliest answer of each row, in a sentence: the same as at the end of the walk.
    pub said: Vec<String>,
    /// One for each token, or one for the sentence as a whole.
    pub rows: Vec<AnswerRow>,
    /// The rows are those of the tokens.
    pub is_by_token: bool,
    pub writing: Writing,
    groups: ClassGroups,
}

/// The group of each class, worked out once for a model.
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
    /// The likeliest first.
    pub answers: Vec<NamedAnswer>,
}

impl AnswerRow {
    /// The probability of all that are not named.
    pub fn rest(&self) -> f32 {
        (1.0 - self.answers.iter().map(|answer| answer.probability).sum::<f32>()).max(0.0)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct NamedAnswer {
    pub name: String,
    /// Index into the model's classes.
    pub class: usize,
    pub probability: f32,
    /// Index into the lesson's groups.
    pub group: Option<usize>,
    pub entry: Entry,
}

/// Whether the model goes on with sentences, and how it did.
#[derive(Clone, Debug, PartialEq)]
pub enum Writing {
    /// Why not.
    Cannot(String),
    Can {
        /// Words at once, at most.
        most: usize,
        written: Option<Written>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// The sentence that the model continued; empty where it wrote from a source.
    pub before: String,
    pub words: Vec<String>,
    /// The words as a text, which goes on behind the sentence: pieces of one word stand together.
    pub text: String,
    /// How they were chosen, and whether the weights are still those that chose them.
    pub said: String,
    /// Rows that each word was written from.
    pub rows: Vec<RowsRead>,
    /// The same in words: how many were computed, and how many kept.
    pub rows_said: String,
}

/// The learner's choice of how to write on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WritingPlan {
    /// Words at once.
    pub count: usize,
    /// Words are drawn by their probability, instead of the likeliest each time.
    pub draws: bool,
    pub temperature: f64,
    /// The number of likeliest words to draw among, and whether it counts.
    pub top_k: (bool, usize),
    /// The share of the probability to draw among, and whether it counts.
    pub top_p: (bool, f64),
}

impl Default for WritingPlan {
    fn default() -> Self {
        Self { count: 6, draws: false, temperature: 1.0, top_k: (false, 10), top_p: (false, 0.9) }
    }
}

impl WritingPlan {
    pub fn command(&self) -> Command {
        let sampling = Sampling {
            temperature: self.temperature,
            top_k: self.top_k.0.then_some(self.top_k.1),
            top_p: self.top_p.0.then_some(self.top_p.1),
        };
        let choice = if self.draws { Choice::Sampled(sampling) } else { Choice::Greedy };
        Command::Sentence(SentenceCommand::Generate { count: self.count, choice })
    }
}

impl Model for AnswersModel {
    type Choice = ();

    fn make(snapshot: &Arc<Snapshot>, _: &(), before: Option<&Self>) -> Option<Self> {
        Self::of(snapshot, before)
    }
}

impl AnswersModel {
    /// `None` until there is a model. What `last` knows of the same classes is kept.
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
        });
        let rows = rows.collect();
        let said = (0..answers.likeliest.len()).filter_map(|row| said(model, row)).collect();
        Some(Self {
            said,
            question: question(&model.made_of),
            rows,
            is_by_token,
            writing: writing(model, objective),
            groups,
        })
    }

    /// The row of a word that is chosen, the last where none is; or the only one.
    pub fn row_number(&self, query: Option<usize>) -> usize {
        let last = self.rows.len().saturating_sub(1);
        if self.is_by_token { query.unwrap_or(last).min(last) } else { 0 }
    }

    pub fn row_of(&self, query: Option<usize>) -> Option<&AnswerRow> {
        self.rows.get(self.row_number(query))
    }

    /// How many answers a row names, at most.
    pub const NAMED: usize = ANSWERS;
}

/// The piece that hides a word of a model that was trained to find hidden ones.
fn hiding_piece(lesson: &Lesson) -> Option<&'static str> {
    match &lesson.static_embedding {
        StaticEmbedding::Pretrained(model) if lesson.model.objective != Objective::NextWord => Some(
            model.tokenizer.as_ref().and_then(|tokenizer| tokenizer.hidden()).map_or(HIDDEN[0], |(piece, _)| piece),
        ),
        _ => None,
    }
}

fn question(lesson: &Lesson) -> String {
    if !lesson.static_embedding.guesses_words() {
        return "This model has no readout. A word counts as likely here if the output is similar to its row of the \
                embedding table."
            .to_owned();
    }
    if let Some(piece) = hiding_piece(lesson) {
        return format!(
            "Which word belongs in each place? The model sees the words, so it mostly repeats them: write {piece} in the place \
             of one to hide it."
        );
    }
    let asks = match &lesson.model.objective {
        Objective::MaskedWord { .. } => {
            "Which word belongs in each place? In training some words were hidden; here the model sees them all."
        }
        Objective::NextWord => "Which word comes after each word?",
        Objective::Label => "Which answer fits the whole sentence?",
        Objective::Sequence(_) => "Which word comes after each word of the sentence that is written?",
    };
    asks.to_owned()
}

fn writing(model: &ModelSnapshot, objective: &Objective) -> Writing {
    if let Err(why) = check_generates(objective) {
        return Writing::Cannot(why);
    }
    let tokenizer = match &model.made_of.static_embedding {
        StaticEmbedding::Pretrained(folder) => folder.tokenizer.as_ref(),
        _ => None,
    };
    let in_text = |token: &Token| match tokenizer.zip(token.word) {
        Some((tokenizer, id)) => tokenizer.shown_behind_others(id as u32),
        None => format!(" {}", token.text),
    };
    let written = model.generated.as_deref().map(|generated| Written {
        before: if model.sentence.source.is_some() { String::new() } else { model.sentence.written() },
        words: generated.words.iter().map(|token| token.text.clone()).collect(),
        text: generated.words.iter().map(in_text).collect(),
        said: how(generated),
        rows: generated.rows.clone(),
        rows_said: rows_said(&generated.rows),
    });
    Writing::Can { most: GENERATED_MAX, written }
}

/// The likeliest answer for a token, or for the sentence as a whole; none of a sentence without words.
pub fn said(model: &ModelSnapshot, token: usize) -> Option<String> {
    let likeliest = &model.sentence.answers.likeliest;
    let objective = &model.made_of.model.objective;
    if !model.made_of.static_embedding.guesses_words() {
        return None;
    }
    let answer =
        likeliest.get(token).filter(|_| !matches!(objective, Objective::Label)).or(likeliest.last())?.first()?;
    let word = quoted(&model.classes[answer.class]);
    let answer = format!("{word} (probability {:.2})", answer.probability);
    let place = || token_labels(&model.sentence.tokens).get(token).map_or_else(String::new, |label| quoted(label));
    Some(match objective {
        Objective::MaskedWord { .. } => format!("In this place the model answers {answer}."),
        Objective::NextWord | Objective::Sequence(_) => format!("After {} the model answers {answer}.", place()),
        Objective::Label => format!("The model answers {answer}."),
    })
}

/// Rows of keys and values that were computed, and those that were kept.
fn rows_said(rows: &[RowsRead]) -> String {
    let count = |rows: usize| if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") };
    let Some((first, others)) = rows.split_first() else { return String::new() };
    let begins = format!("For the first new word each layer computed {}", count(first.computed));
    let kept = others.iter().take_while(|rows| rows.kept > 0).count();
    match others.len() {
        0 => format!("{begins}."),
        all if kept == all => {
            format!(
                "{begins}, for each later one only 1: keys and values of earlier words do not change, so they are kept."
            )
        }
        _ if kept == 0 => {
            format!(
                "{begins}; for every later one all rows are computed anew, as none of the earlier ones would still hold."
            )
        }
        _ => format!(
            "{begins}, for the next {kept} only 1 each, as keys and values of earlier words are kept. Then the sentence was \
             longer than the model reads, so every word stands at another place and all rows are computed anew."
        ),
    }
}

fn how(generated: &Generated) -> String {
    let choice = match generated.choice {
        Choice::Greedy => "Each time the likeliest word.".to_owned(),
        Choice::Sampled(Sampling { temperature, top_k, top_p }) => {
            let likeliest = top_k.map(|count| format!(", among the {count} likeliest"));
            let share =
                top_p.map(|share| format!(", among the likeliest that have {share} of the probability together"));
            let [likeliest, share] = [likeliest, share].map(Option::unwrap_or_default);
            format!("Each word drawn, at temperature {temperature}{likeliest}{share}.")
        }
    };
    let since = if generated.is_current { "" } else { " The weights have changed since." };
    format!("{choice}{since}")
}

/// A smaller change of a probability is not seen in its digits.
const SEEN: f32 = 5e-4;
/// Answers that are passed over at once where none of them is seen.
const PART: usize = 256;

#[derive(Clone, Debug, PartialEq)]
pub struct AnswerShifts {
    /// Whose answers they are: `The answers after “river”`
    pub title: String,
    /// The largest first.
    pub gained: Vec<AnswerShift>,
    pub lost: Vec<AnswerShift>,
    /// How many answers can be listed: both ways, and no more than there are.
    pub most: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub struct AnswerShift {
    pub name: String,
    /// Probabilities without the changes and with them.
    pub before: f32,
    pub now: f32,
}

impl AnswerShift {
    /// `“bank” 0.120 → 0.310`
    pub fn said(&self) -> String {
        format!("{} {:.3} → {:.3}", quoted(&self.name), self.before, self.now)
    }
}

impl Model for AnswerShifts {
    /// The word that is chosen.
    type Choice = Option<usize>;

    fn make(snapshot: &Arc<Snapshot>, choice: &Option<usize>, _: Option<&Self>) -> Option<Self> {
        Self::of(snapshot, *choice)
    }
}

impl AnswerShifts {
    /// Answers that are listed each way, at most.
    pub const LISTED: usize = 3;

    /// `None` of a model that answers nothing. Where no word is chosen, of the one that the
    /// model is asked for: the last, of a model of next words; else a hidden one; else the one that moved most.
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
        // A change that is seen needs a probability that is. Of tens of thousands of words few have one.
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
        let label = || token_labels(&model.sentence.tokens).get(row).map_or_else(String::new, |label| quoted(label));
        let title = match &model.made_of.model.objective {
            Objective::Label => "The model's answers".to_owned(),
            Objective::NextWord | Objective::Sequence(_) => format!("The answers after {}", label()),
            Objective::MaskedWord { .. } => format!("The answers at {}", label()),
        };
        Some(Self { title, gained, lost, most: model.classes.len().min(2 * Self::LISTED) })
    }

    /// In sentences, for those who see no table.
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

/// The word whose answer is asked for, where none is chosen.
fn asked(model: &ModelSnapshot) -> Option<usize> {
    let SentenceSnapshot { tokens, unchanged, .. } = &*model.sentence;
    match &model.made_of.model.objective {
        Objective::NextWord | Objective::Sequence(_) | Objective::Label => tokens.len().checked_sub(1),
        Objective::MaskedWord { .. } => {
            let hidden = tokens.iter().position(|token| HIDDEN.contains(&token.text.as_str()) || token.word.is_none());
            let moved_most = || unchanged.as_ref()?.moved_most();
            hidden.or_else(moved_most).or((!tokens.is_empty()).then_some(0))
        }
    }
}
