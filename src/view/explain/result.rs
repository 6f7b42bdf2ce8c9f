//! The result of what the stage shows, in one line: the model's answer, or else what attention made of the word that is
//! followed.

use attune_core::kernel::snapshot::Snapshot;
use attune_engine::quantity::Quantity;

use super::reader::EntryReader;
use super::tellings::Rest;
use crate::view_model::answers::asked_beside;

/// A moment of the stage outside the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The words are at their static places.
    Static,
    /// They have passed this layer, counted over all blocks, and others follow.
    Passed(usize),
    Contextual,
}

/// The result at a moment. Steps have theirs in the walk ([`super::walk::StepModel`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageResult(pub String);

impl StageResult {
    /// Builds the result. `word` is the position of the word that is followed: the learner's choice, or else the lesson's.
    /// `None` if there is nothing to say.
    pub fn of(snapshot: &Snapshot, (moment, word, is_chosen): (Moment, usize, bool)) -> Option<Self> {
        let reader = EntryReader::of(snapshot)?;
        let rest = Rest::of(reader.model);
        let last = reader.sentence.activations.blocks.len().checked_sub(1)?;
        let moved = |block: usize| reader.said(Quantity::MoveLength.of_block(block, [word])).result;
        let result = match moment {
            Moment::Static => reader.at_rest(&rest.start, word),
            Moment::Passed(layer) => moved(layer),
            Moment::Contextual => {
                let answer = reader.answers(if is_chosen { word } else { asked_beside(reader.model, word) });
                let of_word =
                    || if is_chosen || reader.leaves_statics() { None } else { reader.occurrences_now(&rest, word) };
                let at_rest = || if reader.has_moved(word) { None } else { reader.at_rest(&rest.start, word) };
                answer.or_else(of_word).or_else(at_rest).or_else(|| reader.looks(last, word)).or_else(|| moved(last))
            }
        };
        result.map(Self)
    }
}

impl EntryReader<'_> {
    /// Returns whether the layers have changed a word's vector.
    fn has_moved(&self, word: usize) -> bool {
        let contextual = self.sentence.activations.output.row(word);
        let own = self.sentence.tokens.get(word).and_then(|token| token.word);
        own.is_none_or(|own| contextual.iter().enumerate().any(|(at, x)| *x != self.space.vectors.get(own, at)))
    }

    /// Says what all occurrences of a word are near, if it has several and attention has separated them.
    fn occurrences_now(&self, rest: &Rest, word: usize) -> Option<String> {
        /// The most occurrences that fit into one line.
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

    /// Says what a word looks at in the only head of the last layer, if its own static vector is still the nearest.
    fn looks(&self, last: usize, word: usize) -> Option<String> {
        let heads = self.heads_of(last);
        let is_told = self.is_nearest_to_itself(word) && heads.len() == 1;
        is_told.then(|| self.said(Quantity::Weight.of_head(heads.start, [word, word])).result).flatten()
    }
}
