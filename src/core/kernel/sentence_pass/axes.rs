//! The vectors that the picture's axes are fitted to.
//!
//! One basis for all layers of a pretrained model is fitted to the row of the table, the embedding and the output of
//! each block, of every position but the first: there models leave what they need nowhere, and it lies far from
//! everything else (Heimersheim & Turner 2023; Xiao et al. 2023, arXiv 2309.17453).

use std::ops::{Range, RangeFrom};

use attune_engine::numerics::Matrix;
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::model::cost::pass_bytes;
use attune_engine::numerics::model::{Activations, AttentionModel, Sequences};
use attune_engine::numerics::parallel::{available, map};
use attune_engine::numerics::params::Parameters;
use attune_engine::numerics::projection::Lens;
use attune_engine::numerics::spread::Spread;
use attune_engine::numerics::vectors::centroid;

use crate::kernel::values::space::SharedScale;

/// The embedding among the states of a token, behind the row of the table.
const EMBEDDING: usize = 1;

/// Sentences that pass through a model at once, each on a thread of its own: for as long as it takes, all tensors of each
/// are in memory, ...
const PASSES_AT_ONCE: usize = 3;
/// ... and these may be large.
const PASSES_BYTES_MAX: f64 = 256.0 * 1024.0 * 1024.0;

/// A model whose layers are looked at, and the norm that puts them on one scale.
#[derive(Clone, Copy)]
pub struct Layers<'a> {
    pub model: &'a AttentionModel<f32>,
    pub parameters: &'a Parameters<f32>,
    pub scale: Option<&'a SharedScale>,
}

impl Layers<'_> {
    /// The norm that the states of all layers are seen through, with the weights in use.
    pub fn lens(&self) -> Option<Lens> {
        self.scale.and_then(|scale| scale.lens_of_layers(&self.model.architecture, self.parameters))
    }

    /// Their spread in some sentences, of which no pass is kept; `None` where there is none to look at.
    pub fn spread(&self, sentences: impl Iterator<Item = (Sequences, Activations<f32>)>) -> Option<Spread> {
        let states = |(input, activations): (Sequences, _)| self.states(&input, &activations, first(&input)..);
        self.spread_of_states(sentences.flat_map(states).collect())
    }

    fn spread_of_states(&self, seen: Vec<Matrix<f32>>) -> Option<Spread> {
        let rows = Matrix::stacked(self.model.architecture.width, &seen);
        (rows.rows() > 0).then(|| Spread::of(&rows))
    }

    /// The spread in some sentences that are yet to pass through the model.
    pub fn spread_of_inputs(&self, inputs: &[Sequences]) -> Option<Spread> {
        let states = |input: &Sequences| {
            let activations = Activations::of(self.model, self.parameters, input, None, &Interventions::default());
            self.states(input, &activations, first(input)..)
        };
        let longest = inputs.iter().map(|input| input.words.len()).max().unwrap_or_default();
        let fit = PASSES_BYTES_MAX / pass_bytes(&self.model.architecture, 0, longest).max(1.0);
        let seen = map(inputs, PASSES_AT_ONCE.min(available()).min(fit as usize).max(1), states);
        self.spread_of_states(seen.into_iter().flatten().collect())
    }

    /// The spread of one word in several sentences, each with the word's pieces, as points: in the middle of its pieces.
    /// `None` where they are fewer than two.
    pub fn spread_of_word(
        &self,
        sentences: impl Iterator<Item = (Sequences, Activations<f32>, Range<usize>)>,
    ) -> Option<Spread> {
        let middles = |(input, activations, pieces): (Sequences, Activations<f32>, Range<usize>)| {
            let mut states = self.states(&input, &activations, pieces.start..);
            // A sense has no place between the table and the first layer.
            states.remove(EMBEDDING);
            let of_word: Vec<usize> = (0..pieces.len()).collect();
            states.iter().flat_map(|state| centroid(state, &of_word)).collect::<Vec<f32>>()
        };
        // The first token is left out of the spread of a sentence too.
        let sentences = sentences.filter(|(input, _, pieces)| pieces.start >= first(input));
        let seen: Vec<Vec<f32>> = sentences.map(middles).collect();
        let (count, seen, width) = (seen.len(), seen.concat(), self.model.architecture.width);
        (count > 1).then(|| Spread::of(&Matrix::from_row_major(seen.len() / width, width, seen)))
    }

    /// The states of the tokens from one on: static, before all layers, and behind each.
    fn states(&self, input: &Sequences, activations: &Activations<f32>, from: RangeFrom<usize>) -> Vec<Matrix<f32>> {
        let (count, width) = (input.words.len(), self.model.architecture.width);
        let first = from.start;
        let from_first =
            |of: &dyn Fn(usize, usize) -> f32| Matrix::from_fn(count - first, width, |i, j| of(i + first, j));
        let table = &self.model.embedding;
        let words = from_first(&|i, j| input.words[i].map_or(0.0, |word| table.get(word, j)));
        let words = Lens::see_through(self.scale.map(|scale| &scale.lens), words);
        let lens = self.lens();
        let layers = activations.states(&self.model.architecture);
        let layers = layers.map(|state| Lens::see_through(lens.as_ref(), from_first(&|i, j| state.get(i, j))));
        std::iter::once(words).chain(layers).collect()
    }
}

/// The first token that counts: the one before all others is often far from them.
fn first(input: &Sequences) -> usize {
    usize::from(input.words.len() > 1)
}

/// The middles of some ranges of rows.
pub fn middles(vectors: &Matrix<f32>, of: &[Range<usize>]) -> Matrix<f32> {
    let middle = |rows: &Range<usize>| match rows.len() {
        1 => vectors.row(rows.start).to_vec(),
        _ => centroid(vectors, &rows.clone().collect::<Vec<_>>()),
    };
    Matrix::from_row_major(of.len(), vectors.cols(), of.iter().flat_map(middle).collect())
}
