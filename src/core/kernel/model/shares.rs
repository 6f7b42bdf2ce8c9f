//! The share of the tokens' variance that the axes show.

use std::ops::Range;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::model::Tower;
use attune_engine::numerics::projection::Lens;

use crate::kernel::model::LessonModel;
use crate::kernel::sentence_pass::axes::middles;
use crate::kernel::sentence_pass::sentence::lens;
use crate::kernel::values::sentence::{SentenceSnapshot, word_pieces};
use crate::kernel::values::space::TokenShares;

/// Shares of the variance that the axes of the picture show, for the sentences on the stage.
impl LessonModel {
    /// Computes the shares for a sentence and the second one, with a point for each token.
    pub fn shares_of_tokens(&self, sentence: &SentenceSnapshot, second: Option<&SentenceSnapshot>) -> TokenShares {
        self.shares(sentence, singles(sentence), second)
    }

    /// Computes the shares for a sentence and the second one, with a point for each word of the first, at the mean of
    /// its pieces. Returns `None` if each word is a single piece.
    pub fn shares_of_words(
        &self,
        sentence: &SentenceSnapshot,
        second: Option<&SentenceSnapshot>,
    ) -> Option<TokenShares> {
        let words = word_pieces(&sentence.tokens);
        words.iter().any(|pieces| pieces.len() > 1).then(|| self.shares(sentence, words, second))
    }

    fn shares(
        &self,
        sentence: &SentenceSnapshot,
        points: Vec<Range<usize>>,
        second: Option<&SentenceSnapshot>,
    ) -> TokenShares {
        let of_second = second.map(|second| (second, singles(second)));
        let mut stops: Vec<Matrix<f32>> = Vec::new();
        for (sentence, points) in std::iter::once((sentence, points)).chain(of_second) {
            // In many pretrained models, the first token is far away from the others and would dominate.
            let from = usize::from((self.ground.pretrained.is_some() || self.is_recorded()) && points.len() > 1);
            for (stop, vectors) in self.stops(sentence).into_iter().enumerate() {
                let rows = middles(&vectors, &points[from..]);
                match stops.get_mut(stop) {
                    Some(first) => *first = Matrix::stacked(rows.cols(), [&*first, &rows]),
                    None => stops.push(rows),
                }
            }
        }
        TokenShares::of(&self.space.projection, &stops)
    }

    /// Returns the vectors of the tokens: the static ones, then those after each layer. The layers of the source, which
    /// come first, move none of them.
    fn stops(&self, sentence: &SentenceSnapshot) -> Vec<Matrix<f32>> {
        let (space, model) = (&*self.space, self.training.network());
        let static_row =
            |token: usize, j: usize| sentence.tokens[token].word.map_or(0.0, |word| space.vectors.get(word, j));
        let fixed = match self.is_recorded() {
            true => Matrix::clone(&sentence.activations.input),
            false => space.seen(&Matrix::from_fn(sentence.tokens.len(), space.vectors.cols(), static_row)),
        };
        let lens = lens(Tower::Sentence, space, model, self.training.live());
        let (of_source, own) = sentence.activations.blocks.split_at(model.architecture.source_blocks.len());
        let at_rest = std::iter::repeat_n(fixed, 1 + of_source.len());
        let after = own.iter().map(|block| Lens::see_through(lens.as_ref(), Matrix::clone(&block.output)));
        at_rest.chain(after).collect()
    }
}

/// Returns a range of length 1 for each token.
fn singles(sentence: &SentenceSnapshot) -> Vec<Range<usize>> {
    (0..sentence.tokens.len()).map(|at| at..at + 1).collect()
}
