//! Choice of the axis with a meaning, by measuring a sentence. The axis joins two words: among the pairs of the first
//! kind below that the sentence has, those whose vectors are farthest apart after all layers.
//!
//! The kinds of pairs are, in this order: two occurrences of a word that the lesson is about; two words that the lesson
//! is about; the two likeliest answers for a hidden word, if the likeliest of all is a word of the sentence; two
//! occurrences of any word; any two words. Words that only join others, such as *the* or *of*, are left out unless
//! fewer than two other words remain. The first token is always left out, because many models leave it far away from
//! all others (see [`super::axes`]).

use std::ops::{Range, RangeFrom};

use attune_engine::numerics::Matrix;
use attune_engine::numerics::model::classes::Candidates;
use attune_engine::numerics::model::{Activations, Tower};
use attune_engine::numerics::vectors::Similarity;

use super::axes::{Layers, first, middles};
use super::sentence::{SentenceFrame, last_state};
use crate::kernel::values::meaning::{Meaning, MeaningEnd, MeaningWord};
use crate::kernel::values::sentence::{Token, is_subscript, labels, word_pieces, written_word};
use crate::lesson::cells::CellKind;
use crate::lesson::schema::{Lesson, Objective};

/// English words, in alphabetical order, that join others and say little by themselves.
const JOINING: [&str; 104] = [
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because", "been",
    "before", "being", "but", "by", "can", "could", "did", "do", "does", "each", "for", "from", "had", "has", "have",
    "he", "her", "here", "hers", "him", "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "may", "me",
    "might", "mine", "more", "most", "must", "my", "no", "nor", "not", "of", "on", "one", "only", "or", "our", "out",
    "over", "own", "she", "should", "so", "some", "such", "than", "that", "the", "their", "them", "then", "there",
    "these", "they", "this", "those", "to", "too", "under", "up", "us", "very", "was", "we", "were", "what", "when",
    "where", "which", "while", "who", "whom", "whose", "will", "with", "would", "yet", "you", "your",
];

/// Greatest number of words that are compared with each other.
const COMPARED: usize = 64;
/// Greatest number of words near an end, in addition to the word at the end itself.
const NEAR: usize = 2;
/// Greatest distance of a word near an end, as a share of its distance from the other end, or of the distance between
/// the ends if that is less.
const NEARER: f32 = 0.7;

/// A word of a sentence that may be an end of the axis.
struct Candidate {
    /// The word in lower case.
    text: String,
    label: String,
    pieces: Range<usize>,
}

/// Returns whether a word says something by itself: it begins with a letter and does not only join other words.
pub fn is_telling(word: &str) -> bool {
    word.starts_with(char::is_alphabetic) && JOINING.binary_search(&word.to_lowercase().as_str()).is_err()
}

impl Layers<'_> {
    /// Measures the axis with a meaning in a sentence, or returns `None` if the sentence has no two words to tell
    /// apart.
    pub fn meaning(&self, lesson: &Lesson, frame: &SentenceFrame, activations: &Activations<f32>) -> Option<Meaning> {
        let from = first(frame.input())..;
        let states = self.states((Tower::Sentence, frame.input()), activations, from.clone()).pop()?;
        measured(lesson, frame, &states, from, self.answer(lesson, frame, activations))
    }

    /// Returns the classes of the two words that the axis joins because they are the likeliest answers for a hidden
    /// word; `None` if the axis would join other words.
    pub fn hidden_pair(
        &self,
        lesson: &Lesson,
        frame: &SentenceFrame,
        activations: &Activations<f32>,
    ) -> Option<[usize; 2]> {
        let from = first(frame.input());
        let words = candidates(frame, from, activations.output.rows().checked_sub(from)?);
        let hidden = self.answer(lesson, frame, activations)?;
        let (a, b) = hidden.pair(frame, &words)?;
        let class = |word: usize| hidden.classes.class(frame.tokens()[words[word].pieces.start].word?);
        Some([class(a)?, class(b)?])
    }

    /// Returns the logits at the last hidden word, with the words that they are about; `None` without such a word, and
    /// for a model that does not guess hidden words.
    fn answer(&self, lesson: &Lesson, frame: &SentenceFrame, activations: &Activations<f32>) -> Option<HiddenWord<'_>> {
        let is_guessed = matches!(lesson.model.objective, Objective::MaskedWord { .. });
        let folder = lesson.static_embedding.pretrained().filter(|folder| is_guessed && folder.has_head)?;
        let (_, hidden) = folder.hidden()?;
        let classes = self.model.classes.candidates()?;
        let place = frame.tokens().iter().rposition(|token| token.word == Some(hidden as usize))?;
        let output = (place < activations.output.rows()).then(|| activations.output.row(place).to_vec())?;
        let logits = self.model.logits_of(self.parameters, &Matrix::from_row_major(1, output.len(), output));
        Some(HiddenWord { logits: logits.flat().to_vec(), classes })
    }
}

/// The answer of a model for a hidden word.
struct HiddenWord<'a> {
    logits: Vec<f32>,
    classes: &'a Candidates,
}

impl HiddenWord<'_> {
    /// Returns the two likeliest words of the sentence; `None` unless the likeliest of all answers is one of its words.
    /// Words that the sentence repeats are left out, because a hidden word asks for one that is not repeated yet.
    fn pair(&self, frame: &SentenceFrame, words: &[Candidate]) -> Option<(usize, usize)> {
        let logit = |word: usize| {
            let Range { start, end } = words[word].pieces;
            let row = frame.tokens()[start].word.filter(|_| end == start + 1)?;
            self.logits.get(self.classes.class(row)?).copied()
        };
        let occurs_once = |word: &usize| words.iter().filter(|other| other.text == words[*word].text).count() == 1;
        let once = (0..words.len()).filter(occurs_once);
        let mut likely: Vec<(f32, usize)> = once.filter_map(|word| Some((logit(word)?, word))).collect();
        likely.sort_by(|a, b| b.0.total_cmp(&a.0));
        let [(largest, first), (_, second), ..] = likely[..] else { return None };
        let is_answer = self.logits.iter().all(|logit| *logit <= largest);
        is_answer.then_some((first.min(second), first.max(second)))
    }
}

/// Measures the axis with a meaning in a recorded sentence. Returns `None` if the sentence has no two words to tell
/// apart, or if no hidden states were recorded.
pub fn of_recorded(lesson: &Lesson, frame: &SentenceFrame) -> Option<Meaning> {
    let pass = frame.recorded().filter(|pass| pass.has_states())?;
    let (from, states) = (first(frame.input()).., last_state(&pass.activations));
    let rows =
        Matrix::from_fn(states.rows().saturating_sub(from.start), states.cols(), |i, j| states.get(i + from.start, j));
    measured(lesson, frame, &rows, from, None)
}

/// Returns whether the sentence has one of the words from which an axis was measured.
pub fn has_word_of(meaning: &Meaning, frame: &SentenceFrame) -> bool {
    let text = |label: &str| label.trim_end_matches(is_subscript).to_lowercase();
    let words = candidates(frame, 0, frame.tokens().len());
    let mut measured = meaning.ends.iter().flat_map(|end| &end.words);
    measured.any(|of| words.iter().any(|word| word.text == text(&of.label)))
}

/// Chooses the axis. `states` are the vectors after all layers, of the tokens from one position on.
fn measured(
    lesson: &Lesson,
    frame: &SentenceFrame,
    states: &Matrix<f32>,
    from: RangeFrom<usize>,
    hidden: Option<HiddenWord<'_>>,
) -> Option<Meaning> {
    // Patches of a picture have no words.
    if frame.recorded().is_some_and(|pass| pass.place.grid().is_some()) {
        return None;
    }
    let words = candidates(frame, from.start, states.rows());
    let pieces: Vec<Range<usize>> =
        words.iter().map(|word| word.pieces.start - from.start..word.pieces.end - from.start).collect();
    let vectors = middles(states, &pieces);
    if !vectors.flat().iter().all(|x| x.is_finite()) {
        return None;
    }
    let distance = |a: usize, b: usize| -Similarity::Euclidean.of(vectors.row(a), vectors.row(b));
    let about = about(lesson);
    let is_about = |word: usize| about.iter().any(|about| *about == words[word].text);
    let pairs = || (0..words.len()).flat_map(|a| (a + 1..words.len()).map(move |b| (a, b)));
    let farthest = |pairs: &mut dyn Iterator<Item = (usize, usize)>| {
        let measured = pairs.map(|(a, b)| (distance(a, b), a, b)).filter(|(distance, ..)| *distance > 0.0);
        measured.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, a, b)| (a, b))
    };
    let is_repeated = |&(a, b): &(usize, usize)| words[a].text == words[b].text;
    let are_about = |(a, b): &(usize, usize)| is_about(*a) && is_about(*b);
    let (a, b) = farthest(&mut pairs().filter(|pair| is_repeated(pair) && are_about(pair)))
        .or_else(|| farthest(&mut pairs().filter(are_about)))
        .or_else(|| hidden?.pair(frame, &words).filter(|(a, b)| distance(*a, *b) > 0.0))
        .or_else(|| farthest(&mut pairs().filter(is_repeated)))
        .or_else(|| farthest(&mut pairs()))?;
    let end = |own: usize, other: usize| MeaningEnd {
        name: if is_repeated(&(a, b)) { beside(&words, own) } else { words[own].label.clone() },
        words: near(words.len(), own, other, &distance)
            .into_iter()
            .map(|word| MeaningWord { label: words[word].label.clone(), seen: vectors.row(word).to_vec() })
            .collect(),
    };
    Some(Meaning { ends: [end(a, b), end(b, a)] })
}

/// Returns the word at an end and those that are nearest to it, the nearest first.
fn near(words: usize, own: usize, other: usize, distance: &impl Fn(usize, usize) -> f32) -> Vec<usize> {
    let is_near = |word: &usize| {
        *word != own
            && *word != other
            && distance(*word, own) <= NEARER * distance(*word, other).min(distance(own, other))
    };
    let mut near: Vec<usize> = (0..words).filter(is_near).collect();
    near.sort_by(|a, b| distance(*a, own).total_cmp(&distance(*b, own)));
    near.truncate(NEAR);
    near.insert(0, own);
    near
}

/// Returns the name of an occurrence of a word, with the nearest other word in the sentence: `bank₁ · river`.
fn beside(words: &[Candidate], own: usize) -> String {
    let Candidate { text, label, pieces } = &words[own];
    let apart = |word: &&Candidate| word.pieces.start.abs_diff(pieces.start);
    let other = words.iter().filter(|word| word.text != *text).min_by_key(apart);
    other.map_or_else(|| label.clone(), |other| format!("{label} · {}", other.text))
}

/// Returns the words that may be ends: those that say something by themselves, or else all words that the tokenizer did
/// not add.
fn candidates(frame: &SentenceFrame, from: usize, rows: usize) -> Vec<Candidate> {
    let tokens = frame.tokens();
    let all = word_pieces(tokens)
        .into_iter()
        .filter(|pieces| pieces.start >= from && pieces.end <= from + rows && !tokens[pieces.start].is_added());
    let written = |pieces: &Range<usize>| {
        let text = frame.sentence.text.as_deref().filter(|_| frame.source().is_none());
        let text = text.and_then(|text| written_word(tokens, pieces, text));
        text.map_or_else(|| joined(&tokens[pieces.clone()]), str::to_owned)
    };
    let (texts, places): (Vec<String>, Vec<Range<usize>>) = all.map(|pieces| (written(&pieces), pieces)).unzip();
    let labels = labels(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let words = labels.into_iter().zip(texts).zip(places);
    let words: Vec<Candidate> =
        words.map(|((label, text), pieces)| Candidate { text: text.to_lowercase(), label, pieces }).collect();
    let has_two = words.iter().filter(|word| is_telling(&word.text)).count() > 1;
    words.into_iter().filter(|word| !has_two || is_telling(&word.text)).take(COMPARED).collect()
}

fn joined(tokens: &[Token]) -> String {
    tokens.iter().map(|token| token.text.trim_start_matches("##")).collect::<String>().trim().to_owned()
}

/// Returns the words that the lesson's first stage cell is about.
fn about(lesson: &Lesson) -> Vec<String> {
    let words = lesson.cells.iter().find_map(|cell| match &cell.kind {
        CellKind::Stage { words, .. } => Some(words),
        _ => None,
    });
    words.into_iter().flatten().map(|word| word.to_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_only_join_others_are_found() {
        assert!(JOINING.is_sorted(), "they are found by halving");
        let words = ["the", "bank", "Of", ".", "42", "König"];
        let found: Vec<&str> = words.into_iter().filter(|word| is_telling(word)).collect();
        assert_eq!(found, ["bank", "König"]);
    }
}
