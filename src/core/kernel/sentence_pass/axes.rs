//! The vectors to which the picture's axes are fitted.
//!
//! For a pretrained model, one basis for all layers is fitted to the static vector, the embedding and the output of
//! each block, at every position except the first. Models use the first position as a sink, and its vectors are far
//! from all others (Heimersheim & Turner 2023; Xiao et al. 2023, arXiv 2309.17453).

use std::ops::{Range, RangeFrom};
use std::sync::Arc;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::model::cost::pass_bytes;
use attune_engine::numerics::model::{Activations, AttentionModel, Sequences, Tower};
use attune_engine::numerics::parallel::{available, map};
use attune_engine::numerics::params::Parameters;
use attune_engine::numerics::projection::Lens;
use attune_engine::numerics::spread::Spread;
use attune_engine::numerics::vectors::centroid;

use crate::kernel::sentence_pass::sentence::SentenceFrame;
use crate::kernel::values::meaning::Meaning;
use crate::kernel::values::space::SharedScale;
use crate::lesson::schema::Lesson;

/// Index of the embedding among the states of a token, after the static vector.
const EMBEDDING: usize = 1;

/// Greatest number of sentences that pass through a model at the same time, each on its own thread. All tensors of each
/// are in memory then.
const PASSES_AT_ONCE: usize = 3;
/// Greatest total size of the tensors of passes that run at the same time, in bytes.
const PASSES_BYTES_MAX: f64 = 256.0 * 1024.0 * 1024.0;

/// A model whose layers are shown, and the norm that gives them a common scale.
#[derive(Clone, Copy)]
pub struct Layers<'a> {
    pub model: &'a AttentionModel<f32>,
    pub parameters: &'a Parameters<f32>,
    pub scale: Option<&'a SharedScale>,
}

impl Layers<'_> {
    /// Returns the norm that is applied to the states of all layers of a tower, with the weights in use, or `None` if
    /// there is none.
    pub fn lens(&self, tower: Tower) -> Option<Lens> {
        self.scale.and_then(|scale| scale.lens_of_layers(tower, &self.model.architecture, self.parameters))
    }

    /// Returns the spread of the states in some sentences, or `None` if there are no states. No pass is kept.
    pub fn spread(&self, sentences: impl Iterator<Item = (Arc<SentenceFrame>, Activations<f32>)>) -> Option<Spread> {
        let states = |(frame, activations): (Arc<SentenceFrame>, _)| self.states_of_towers(&frame, &activations);
        self.spread_of_states(sentences.flat_map(states).collect())
    }

    fn spread_of_states(&self, seen: Vec<Matrix<f32>>) -> Option<Spread> {
        let rows = Matrix::stacked(self.model.architecture.width, &seen);
        (rows.rows() > 0).then(|| Spread::of(&rows))
    }

    /// Runs some sentences through the model, and returns the spread of their states with the axis that is measured in
    /// the first of them, if it has one. Returns `None` if there are no states.
    pub fn spread_of_frames(&self, lesson: &Lesson, frames: &[SentenceFrame]) -> Option<(Spread, Option<Meaning>)> {
        let numbered: Vec<(usize, &SentenceFrame)> = frames.iter().enumerate().collect();
        let states = |(number, frame): &(usize, &SentenceFrame)| {
            let activations = frame.activations(self.model, self.parameters, &Interventions::default());
            let meaning = (*number == 0).then(|| self.meaning(lesson, frame, &activations)).flatten();
            (self.states_of_towers(frame, &activations), meaning)
        };
        let tokens = |frame: &SentenceFrame| frame.tokens().len().max(frame.source_tokens().map_or(0, <[_]>::len));
        let longest = frames.iter().map(tokens).max().unwrap_or_default();
        let fit = PASSES_BYTES_MAX / pass_bytes(&self.model.architecture, 0, longest).max(1.0);
        let seen = map(&numbered, PASSES_AT_ONCE.min(available()).min(fit as usize).max(1), states);
        let (seen, meanings): (Vec<_>, Vec<_>) = seen.into_iter().unzip();
        let spread = self.spread_of_states(seen.into_iter().flatten().collect())?;
        Some((spread, meanings.into_iter().next().flatten()))
    }

    /// Returns the states of a sentence and, if there is one, of its source, because both are shown in one basis.
    fn states_of_towers(&self, frame: &SentenceFrame, activations: &Activations<f32>) -> Vec<Matrix<f32>> {
        // A target that was not written has only its start token, which is left out like all first tokens.
        let is_begun = frame.source().is_some() && frame.input().words.len() == 1;
        let own = (!is_begun).then(|| (Tower::Sentence, frame.input()));
        let towers = own.into_iter().chain(frame.source().map(|source| (Tower::Source, source)));
        towers.flat_map(|(tower, words)| self.states((tower, words), activations, first(words)..)).collect()
    }

    /// Returns the spread of one word in several sentences, with a point at the mean of the word's pieces in each.
    /// Returns `None` if there are fewer than two sentences, or no states.
    pub fn spread_of_word(
        &self,
        sentences: impl Iterator<Item = (Sequences, Activations<f32>, Range<usize>)>,
    ) -> Option<Spread> {
        let tower = self.model.architecture.tower_of_chosen();
        let middles = |(input, activations, pieces): (Sequences, Activations<f32>, Range<usize>)| {
            let mut states = self.states((tower, &input), &activations, pieces.start..);
            // The embedding is left out, because senses are shown only as static vectors and after each layer.
            states.remove(EMBEDDING);
            let of_word: Vec<usize> = (0..pieces.len()).collect();
            states.iter().flat_map(|state| centroid(state, &of_word)).collect::<Vec<f32>>()
        };
        // The first token is left out, as in the spread of sentences.
        let sentences = sentences.filter(|(input, _, pieces)| pieces.start >= first(input));
        let seen: Vec<Vec<f32>> = sentences.map(middles).collect();
        let (count, seen, width) = (seen.len(), seen.concat(), self.model.architecture.width);
        (count > 1 && width > 0).then(|| Spread::of(&Matrix::from_row_major(seen.len() / width, width, seen)))
    }

    /// Returns the states of a tower's tokens from one position on: static, before all layers, and after each layer.
    pub(super) fn states(
        &self,
        (tower, input): (Tower, &Sequences),
        activations: &Activations<f32>,
        from: RangeFrom<usize>,
    ) -> Vec<Matrix<f32>> {
        let (count, width) = (input.words.len(), self.model.architecture.width);
        let first = from.start;
        let from_first =
            |of: &dyn Fn(usize, usize) -> f32| Matrix::from_fn(count - first, width, |i, j| of(i + first, j));
        let table = &self.model.embedding;
        let words = from_first(&|i, j| input.words[i].map_or(0.0, |word| table.get(word, j)));
        let words = Lens::see_through(self.scale.map(|scale| &scale.lens), words);
        let lens = self.lens(tower);
        let layers = activations.states_of(tower, &self.model.architecture);
        let layers = layers.map(|state| Lens::see_through(lens.as_ref(), from_first(&|i, j| state.get(i, j))));
        std::iter::once(words).chain(layers).collect()
    }
}

/// Returns the index of the first token that counts. The first of several tokens does not, because it is often far from
/// the others.
pub(super) fn first(input: &Sequences) -> usize {
    usize::from(input.words.len() > 1)
}

/// Returns the mean of each range of rows, as a matrix with one row for each range.
pub fn middles(vectors: &Matrix<f32>, of: &[Range<usize>]) -> Matrix<f32> {
    let middle = |rows: &Range<usize>| match rows.len() {
        1 => vectors.row(rows.start).to_vec(),
        _ => centroid(vectors, &rows.clone().collect::<Vec<_>>()),
    };
    Matrix::from_row_major(of.len(), vectors.cols(), of.iter().flat_map(middle).collect())
}
