//! The result of what the stage shows, in one line: the model's answer, or else what attention made of the word that is
//! followed.

use attune_core::kernel::sentence_pass::meaning::is_telling;
use attune_core::kernel::snapshot::Snapshot;
use attune_core::kernel::snapshot::sentence::token_labels;
use attune_engine::quantity::Quantity;

use super::reader::EntryReader;
use super::sentences::end_apart;
use super::tellings::Rest;
use super::walk::distance;
use crate::view_model::answers::asked_beside;
use crate::view_model::{number, quoted};

/// A moment of the stage outside the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The words are at their static places.
    Static,
    /// The words have passed this layer, counted over all blocks, and further layers follow.
    Passed(usize),
    Contextual,
}

/// The result at a moment. Steps have theirs in the walk ([`super::walk::StepModel`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageResult(pub String);

impl StageResult {
    /// Builds the result; `None` if there is nothing to say. `word` is the position of the word that is followed, and
    /// `is_chosen` whether the learner chose it rather than the lesson.
    pub fn of(snapshot: &Snapshot, (moment, word, is_chosen): (Moment, usize, bool)) -> Option<Self> {
        let reader = EntryReader::of(snapshot)?;
        let rest = Rest::of(reader.model);
        let last = reader.sentence.activations.blocks.len().checked_sub(1)?;
        let moved = |block: usize| reader.said(Quantity::MoveLength.of_block(block, [word])).result;
        let result = match moment {
            Moment::Static => reader.at_rest(&rest.start, word).filter(|_| reader.is_near_word(word)),
            Moment::Passed(layer) => moved(layer),
            Moment::Contextual => {
                let answer = reader.answers(if is_chosen { word } else { asked_beside(reader.model, word) });
                let of_word =
                    || if is_chosen || reader.leaves_statics() { None } else { reader.occurrences_now(&rest, word) };
                let at_rest = || if reader.has_moved(word) { None } else { reader.at_rest(&rest.start, word) };
                let apart = || reader.occurrences_apart(word);
                answer
                    .or_else(of_word)
                    .or_else(apart)
                    .or_else(at_rest)
                    .or_else(|| reader.looks(last, word))
                    .or_else(|| moved(last))
            }
        };
        result.map(Self)
    }
}

impl EntryReader<'_> {
    /// Returns whether the contextual vector of a word differs from its static vector.
    fn has_moved(&self, word: usize) -> bool {
        let contextual = self.sentence.activations.output.row(word);
        let own = self.sentence.tokens.get(word).and_then(|token| token.word);
        own.is_none_or(|own| contextual.iter().enumerate().any(|(at, x)| *x != self.space.vectors.get(own, at)))
    }

    /// Says which word each occurrence of a word is nearest to; `None` if all are nearest to the same one, or if more
    /// than three occur.
    fn occurrences_now(&self, rest: &Rest, word: usize) -> Option<String> {
        /// The largest number of occurrences that fit into one line.
        const MOST: usize = 3;
        let tokens = &self.sentence.tokens;
        let occurrences: Vec<usize> = (0..tokens.len()).filter(|at| tokens[*at].text == tokens[word].text).collect();
        let near = |at: &usize| Some(self.near(&self.sentence.contextual_neighbours, *at)?.0);
        let near: Vec<String> = occurrences.iter().map(near).collect::<Option<_>>()?;
        let is_parted = near.iter().any(|nearest| *nearest != near[0]);
        if !is_parted || near.len() > MOST {
            return None;
        }
        let others = occurrences[1..].iter().map(|at| self.at_rest(&rest.another, *at));
        [self.at_rest(&rest.first, occurrences[0])].into_iter().chain(others).collect()
    }

    /// Returns whether the word nearest to a static vector may be named. In a real model, it must be a whole word that
    /// says something by itself, not a part of one.
    fn is_near_word(&self, word: usize) -> bool {
        let near = self.sentence.static_neighbours.get(word).and_then(|near| near.by_cosine.first());
        let text = near.map(|near| self.space.vocabulary[near.word].as_str());
        !self.leaves_statics() || text.is_some_and(|text| is_telling(text) && !text.starts_with("##"))
    }

    /// Says how far apart a real model moves a word from the farthest other occurrence of it; `None` if it occurs once,
    /// or if the model is not a real one.
    fn occurrences_apart(&self, word: usize) -> Option<String> {
        let (tokens, outputs) = (&self.sentence.tokens, &self.sentence.activations.output);
        let is_another = |at: &usize| *at != word && tokens[*at].text == tokens[word].text;
        let others = (0..tokens.len()).filter(|_| self.leaves_statics()).filter(is_another);
        let apart = others.map(|at| (distance(outputs.row(word), outputs.row(at)), at));
        let (apart, other) = apart.max_by(|a, b| a.0.total_cmp(&b.0))?;
        let labels = token_labels(tokens);
        let [first, last] = [word.min(other), word.max(other)].map(|at| quoted(&labels[at]));
        Some(end_apart(first, last, number(apart.into())))
    }

    /// Says what a word looks at in the last layer; `None` if that layer has several heads, or if the word's own static
    /// vector is no longer the nearest.
    fn looks(&self, last: usize, word: usize) -> Option<String> {
        let heads = self.heads_of(last);
        let is_told = self.is_nearest_to_itself(word) && heads.len() == 1;
        is_told.then(|| self.said(Quantity::Weight.of_head(heads.start, [word, word])).result).flatten()
    }
}
