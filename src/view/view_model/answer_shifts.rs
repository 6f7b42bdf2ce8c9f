//! Answers before the learner's changes and with them: which gained, and which lost.

use std::sync::Arc;

use attune_core::kernel::data::token::token_labels;
use attune_core::kernel::snapshot::{ModelSnapshot, Snapshot};
use attune_core::lesson::schema::Objective;

use super::models::Model;
use super::quoted;

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
        let was = unchanged.map_or(is, |unchanged| &unchanged.result.answers);
        let moved = unchanged.map_or(&[][..], |unchanged| &unchanged.moved);
        let rows = is.logits.rows();
        let row = if rows == 1 { 0 } else { query.or_else(|| asked(model, moved))? };
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
fn asked(model: &ModelSnapshot, moved: &[f32]) -> Option<usize> {
    let tokens = &model.sentence.tokens;
    match &model.made_of.model.objective {
        Objective::NextWord | Objective::Sequence(_) | Objective::Label => tokens.len().checked_sub(1),
        Objective::MaskedWord { .. } => {
            // As tokenizers of BERT's family write it.
            let hidden = tokens.iter().position(|token| token.text == "[MASK]" || token.word.is_none());
            let most = || (0..moved.len()).max_by(|a, b| moved[*a].total_cmp(&moved[*b]));
            hidden.or_else(most).or((!tokens.is_empty()).then_some(0))
        }
    }
}
