//! Memory of undo's states, in bytes: each with all that it owns, as if it shared nothing with the others.
//!
//! Small things of a fixed size are counted with what they hang on, and small texts not at all.

use std::sync::Arc;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::contributions::Part;
use attune_engine::numerics::model::Activations;
use attune_engine::numerics::model::activations::BlockActivations;
use attune_engine::numerics::projection::{AXES, Projection};

use crate::kernel::data::answers::Answer;
use crate::kernel::data::neighbours::NEIGHBOURS_BYTES;
use crate::kernel::data::sentence::SentenceSnapshot;
use crate::kernel::data::space::StaticSpace;
use crate::kernel::data::space::{Basis, ChosenAxis};
use crate::kernel::data::token::Token;
use crate::kernel::model::{ScenePart, UndoPart};
use crate::kernel::scene::interventions::bytes as of_interventions;
use crate::kernel::scene::sentence::Sentence;
use crate::kernel::snapshot::Replaced;
use crate::kernel::training::comparison::Comparison;
use attune_engine::numerics::moves::PartMoves;

/// A word's text, about.
const WORD_BYTES: usize = 16;
const NUMBER: usize = size_of::<f32>();

fn of_numbers(matrices: &[&Matrix<f32>]) -> usize {
    matrices.iter().map(|matrix| size_of_val(matrix.flat())).sum()
}

impl UndoPart {
    pub fn bytes(&self) -> usize {
        match self {
            Self::Model(model) => model.bytes(),
            Self::Comparison(comparison) => comparison.as_ref().map_or(0, Comparison::bytes),
            Self::Scene(part) => part.bytes(),
        }
    }
}

impl ScenePart {
    fn bytes(&self) -> usize {
        match self {
            Self::Interventions(interventions) => of_interventions(interventions),
            Self::Sentence((sentence, interventions)) => of_sentence(sentence) + of_interventions(interventions),
            Self::Senses((list, _)) => list.bytes(),
            Self::Second((sentence, interventions)) => {
                sentence.as_ref().map_or(0, of_sentence) + of_interventions(interventions)
            }
            Self::Basis(basis) => of_basis(&basis.0) + of_projection(&basis.1),
        }
    }
}

fn of_sentence(sentence: &Sentence) -> usize {
    size_of_val(&sentence.words[..])
}

fn of_basis(basis: &Basis) -> usize {
    let chosen = |ChosenAxis { from, to }: &ChosenAxis| size_of_val(&from.words[..]) + size_of_val(&to.words[..]);
    // Mean and covariance.
    let fitted = basis.fitted.as_ref().map_or(0, |spread| spread.width() * (spread.width() + 1) * size_of::<f64>());
    fitted + basis.chosen.iter().flatten().map(chosen).sum::<usize>()
}

/// The mean and the axes.
fn of_projection(projection: &Projection) -> usize {
    (1 + AXES) * size_of_val(projection.mean())
}

impl StaticSpace {
    pub fn bytes(&self) -> usize {
        of_numbers(&[&self.vectors, &self.points])
            + self.vocabulary.len() * (size_of::<String>() + WORD_BYTES + size_of::<Option<usize>>())
            + of_basis(&self.basis)
            + 2 * of_projection(&self.projection)
    }
}

impl Replaced {
    pub fn bytes(&self) -> usize {
        self.space.bytes() + self.sentence.bytes()
    }
}

impl SentenceSnapshot {
    pub fn bytes(&self) -> usize {
        let unchanged = self.unchanged.as_ref().map_or(0, |unchanged| {
            of_activations(&unchanged.result.activations)
                + of_numbers(&[&unchanged.result.answers.logits])
                + self.tokens.len() * (NEIGHBOURS_BYTES + NUMBER)
        });
        let tokens = self.tokens.len() + self.source.as_ref().map_or(0, Vec::len);
        let answers: usize = self.answers.likeliest.iter().map(|row| size_of_val(&row[..])).sum();
        of_activations(&self.activations)
            + of_what_follows(&self.activations)
            + of_numbers(&[&self.start, &self.end, &self.trained_end, &self.answers.logits])
            + of_numbers(&self.source_points.iter().collect::<Vec<_>>())
            + answers
            + self.answers.likeliest.len() * size_of::<Vec<Answer>>()
            + tokens * (size_of::<Token>() + WORD_BYTES + 2 * NEIGHBOURS_BYTES)
            + unchanged
    }
}

/// A block's input is the output before it, and is counted there.
fn of_activations(activations: &Activations<f32>) -> usize {
    let some = |matrix: Option<&Matrix<f32>>| matrix.map_or(0, |matrix| of_numbers(&[matrix]));
    let blocks = activations.blocks.iter().map(|block| {
        let heads = block.heads.iter().map(|head| {
            size_of_val(head)
                + of_numbers(&[&head.query, &head.key, &head.value, &head.scores, &head.weights, &head.mix])
        });
        let others = [&block.normed, &block.attended, &block.hidden, &block.joined].map(|matrix| some(matrix.as_ref()));
        size_of_val(&**block)
            + heads.sum::<usize>()
            + of_numbers(&[&block.summed, &block.output])
            + others.iter().sum::<usize>()
    });
    let is_last = |block: &Arc<BlockActivations<f32>>| Arc::ptr_eq(&block.output, &activations.output);
    let output = if activations.blocks.last().is_some_and(is_last) { None } else { Some(&*activations.output) };
    let sentences = [activations.embedded.as_deref(), Some(&*activations.input), activations.source.as_deref(), output];
    sentences.map(some).iter().sum::<usize>() + blocks.sum::<usize>()
}

/// Contributions with their moves, and the arithmetic: so many numbers of each head, query and key, of each head and
/// key, and of each block.
fn of_what_follows(activations: &Activations<f32>) -> usize {
    let blocks = activations.blocks.iter().map(|block| {
        let width = block.output.cols();
        let of_heads: usize = block
            .heads
            .iter()
            .map(|head| {
                let (queries, keys) = (head.weights.rows(), head.weights.cols());
                // A term's arrow in the basis and its length, a product, what distance adds to it, and an exponential.
                const OF_A_PAIR: usize = AXES + 1 + 3;
                // Of each key what it adds, but for the weight; a head's lengths, the largest score and the sum.
                let of_head = queries * keys * OF_A_PAIR + keys * width + 4 * queries;
                NUMBER * of_head + 12 * size_of::<Matrix<f32>>()
            })
            .sum();
        let (queries, keys) = block.heads.first().map_or((0, 0), |head| (head.weights.rows(), head.weights.cols()));
        // Lengths and shares by word; what all heads add; the places at rest and where a move begins and ends, and its
        // length; the terms that no head adds, each with an arrow, a length and a share; and the norms.
        let of_query = width + 3 * AXES + 1 + Part::ALL.len() * (AXES + 2) + 2;
        let of_block = 2 * queries * keys + queries * of_query + 5 * width;
        let of_parts = Part::ALL.len() * size_of::<PartMoves>();
        of_heads + NUMBER * of_block + of_parts + 12 * size_of::<Matrix<f32>>()
    });
    blocks.sum()
}
