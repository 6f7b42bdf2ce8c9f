//! One sentence through the model.

use std::sync::Arc;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::arithmetic::Arithmetic;
use attune_engine::numerics::contributions::Contributions;
use attune_engine::numerics::model::Activations;
use attune_engine::numerics::model::generate::{Choice, RowsRead};

use super::answers::Answers;
use super::neighbours::Neighbours;
use super::pair::Pair;
use super::sinks::SinkNumbers;
use super::token::{PieceText, Token};
use attune_engine::numerics::moves::Moves;

/// One sentence through the model.
#[derive(Clone, Debug)]
pub struct SentenceSnapshot {
    /// Index into [`Lesson::sentences`], if it is one of them.
    pub index: Option<usize>,
    /// The tokens that the model reads and the stage shows. With a source they are the target, made by the lesson's
    /// rule: each position knows the words before it, and the first one none.
    pub tokens: Vec<Token>,
    /// The learner's text, of a model that reads pieces of words.
    pub text: Option<Arc<PieceText>>,
    /// The learner's sentence, where it is the source.
    pub source: Option<Vec<Token>>,
    /// `X`, and of every block `Q`, `K`, `V`, scores, weights, mix, output.
    pub activations: Activations<f32>,
    /// The model's answers.
    pub answers: Arc<Answers>,
    /// The steps between projections and weights, for each head of each block, the source's first.
    pub arithmetic: Vec<Arc<Arithmetic<f32>>>,
    /// Contributions of each block, per head and source token.
    pub contributions: Vec<Arc<Contributions<f32>>>,
    /// The same in the basis, of each block.
    pub moves: Vec<Arc<Moves>>,
    /// Keys that get far more than an even share of the weights, averaged over all heads, in their order.
    pub sinks: Vec<SinkNumbers>,
    /// Static vectors of the tokens in the basis, (T, 3): where the points start.
    pub start: Matrix<f32>,
    /// Outputs in the basis, (T, 3): where the points end.
    pub end: Matrix<f32>,
    /// The source's words in the basis, (T_s, 3): their static vectors, then the outputs of each of its blocks.
    pub source_points: Vec<Matrix<f32>>,
    /// Outputs with the trained parameters and no intervention, (T, 3): the ghost while weights are turned.
    pub trained_end: Matrix<f32>,
    /// The sentence beside itself without the learner's changes; `None` where nothing is changed.
    pub unchanged: Option<Pair<UnchangedResult>>,
    /// Neighbours of each token's static vector.
    pub static_neighbours: Vec<Neighbours>,
    /// Neighbours of each token's output.
    pub contextual_neighbours: Vec<Neighbours>,
}

impl SentenceSnapshot {
    /// The learner's sentence as they could have written it.
    pub fn written(&self) -> String {
        let words = || self.chosen().iter().map(|token| token.text.as_str()).collect::<Vec<_>>().join(" ");
        self.text.as_ref().map_or_else(words, |pieces| pieces.text.clone())
    }

    /// The learner's sentence, whether it is read or looked at.
    pub fn chosen(&self) -> &[Token] {
        self.source.as_ref().unwrap_or(&self.tokens)
    }
}

/// A sentence with the trained parameters and no intervention.
#[derive(Clone, Debug)]
pub struct UnchangedResult {
    pub activations: Activations<f32>,
    pub answers: Arc<Answers>,
    /// Neighbours of each token's output.
    pub contextual_neighbours: Vec<Neighbours>,
}

/// Words that the model wrote.
#[derive(Clone, Debug, PartialEq)]
pub struct Generated {
    pub words: Vec<Token>,
    /// Rows that each was written from.
    pub rows: Vec<RowsRead>,
    pub choice: Choice,
    /// True while the weights are those that it wrote them with.
    pub is_current: bool,
}
