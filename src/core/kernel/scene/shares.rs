//! The vectors of the sentences on the stage as the picture sees them, and how much of them its axes show.

use std::ops::Range;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::lens::Lens;
use attune_engine::numerics::model::AttentionModel;
use attune_engine::numerics::params::Parameters;
use attune_engine::numerics::vectors::centroid;

use crate::kernel::data::sentence::SentenceSnapshot;
use crate::kernel::data::shares::TokenShares;
use crate::kernel::data::space::StaticSpace;
use crate::kernel::data::token::word_pieces;
use crate::kernel::scene::sentence::lens;

/// The model whose sentences are on the stage.
#[derive(Clone, Copy)]
pub struct SharesOf<'a> {
    pub space: &'a StaticSpace,
    pub model: &'a AttentionModel<f32>,
    pub parameters: &'a Parameters<f32>,
    /// The model is read from files: axes are chosen without the first token, which is far from the others in many models.
    pub leaves_first_out: bool,
}

impl SharesOf<'_> {
    /// Shares of a sentence and of the one beside it, each token a point.
    pub fn tokens(&self, sentence: &SentenceSnapshot, second: Option<&SentenceSnapshot>) -> TokenShares {
        let single = |count: usize| (0..count).map(|at| at..at + 1).collect();
        self.shares(sentence, single(sentence.tokens.len()), second)
    }

    /// The same with each word of the sentence a point, in the middle of its pieces; `None` where each word is one piece.
    pub fn words(&self, sentence: &SentenceSnapshot, second: Option<&SentenceSnapshot>) -> Option<TokenShares> {
        let words = word_pieces(&sentence.tokens);
        words.iter().any(|pieces| pieces.len() > 1).then(|| self.shares(sentence, words, second))
    }

    fn shares(
        &self,
        sentence: &SentenceSnapshot,
        points: Vec<Range<usize>>,
        second: Option<&SentenceSnapshot>,
    ) -> TokenShares {
        let of_second = second.map(|second| (second, (0..second.tokens.len()).map(|at| at..at + 1).collect()));
        let mut stops: Vec<Matrix<f32>> = Vec::new();
        for (sentence, points) in std::iter::once((sentence, points)).chain(of_second) {
            let from = usize::from(self.leaves_first_out && points.len() > 1);
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

    /// The vectors of the tokens: static, then after each layer. The source's layers, which come first, move none of them.
    fn stops(&self, sentence: &SentenceSnapshot) -> Vec<Matrix<f32>> {
        let Self { space, model, parameters, .. } = *self;
        let static_row =
            |token: usize, j: usize| sentence.tokens[token].word.map_or(0.0, |word| space.vectors.get(word, j));
        let fixed = space.seen(&Matrix::from_fn(sentence.tokens.len(), space.vectors.cols(), static_row));
        let lens = lens(space, model, parameters);
        let (of_source, own) = sentence.activations.blocks.split_at(model.architecture.source_blocks.len());
        let at_rest = std::iter::repeat_n(fixed, 1 + of_source.len());
        let after = own.iter().map(|block| Lens::see_through(lens.as_ref(), Matrix::clone(&block.output)));
        at_rest.chain(after).collect()
    }
}

/// The middles of some ranges of rows.
pub fn middles(vectors: &Matrix<f32>, of: &[Range<usize>]) -> Matrix<f32> {
    let middle = |rows: &Range<usize>| match rows.len() {
        1 => vectors.row(rows.start).to_vec(),
        _ => centroid(vectors, &rows.clone().collect::<Vec<_>>()),
    };
    Matrix::from_row_major(of.len(), vectors.cols(), of.iter().flat_map(middle).collect())
}
