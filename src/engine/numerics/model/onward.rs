//! A pass that goes on from a changed vector, mix, query, key or value, for patch maps, path patching and the measures
//! of words. Everything before the change is shared with an earlier pass, and everything after it is computed with the
//! same operations as [`Activations`](super::Activations), so that a step without a change has the same bits.
//!
//! Nothing but the vectors between the blocks is kept.

use super::activations::{BlockActivations, RoomOfShape, room_for};
use super::{AttentionModel, Pooling, Sequences, Tower};
use crate::numerics::attention::{HeadChanges, Mask, Tokens, mix_again};
use crate::numerics::block::{BlockCache, BlockConfig, attend_forward, tail_forward_with};
use crate::numerics::norm::normed;
use crate::numerics::params::{Learned, Parameters};
use crate::numerics::simd::vectorized;
use crate::numerics::vectors::{add_scaled, centroid};
use crate::numerics::{Matrix, Scalar};

/// One of the three projections of a head: queries, keys or values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Projected {
    Query,
    Key,
    Value,
}

impl<S: Scalar> AttentionModel<S> {
    /// Computes the static vectors of a sentence, with their factor (T, D); zeros for a hidden word.
    pub fn statics(&self, parameters: &Parameters<S>, sentence: &Sequences) -> Matrix<S> {
        let mut x = Matrix::zeros(sentence.rows.total(), self.architecture.width);
        vectorized!(self.look_words_up(parameters, sentence, x.flat_mut()),);
        x
    }

    /// Computes the mean of all static vectors, with their factor (D).
    pub fn mean_static(&self, parameters: &Parameters<S>) -> Vec<S> {
        let table = self.embedding(parameters);
        let mut sum = vec![0.0f64; table.cols()];
        for row in 0..table.rows() {
            sum.iter_mut().zip(&*table.row(row)).for_each(|(sum, x)| *sum += x.to_f64());
        }
        let factor = self.architecture.embedding_scale.unwrap_or(1.0) / table.rows() as f64;
        sum.into_iter().map(|sum| S::from_f64(sum * factor)).collect()
    }

    /// Adds positions and segments to static vectors (T, D), which gives the sum before the norm of the embeddings.
    pub fn placed(&self, parameters: &Parameters<S>, sentence: &Sequences, mut statics: Matrix<S>) -> Matrix<S> {
        vectorized!(self.add_places(parameters, Tower::Sentence, sentence, statics.flat_mut()),);
        statics
    }

    /// Computes the input of the first block from static vectors (T, D).
    pub fn input_of(&self, parameters: &Parameters<S>, sentence: &Sequences, statics: Matrix<S>) -> Matrix<S> {
        let placed = self.placed(parameters, sentence, statics);
        match self.embedding_norm(parameters, Tower::Sentence) {
            Some(affine) => normed(self.architecture.norm_form, affine, placed),
            None => placed,
        }
    }

    /// Computes the logits (C) that a sentence's outputs (T, D) give at a position, or for the whole sentence if the
    /// model reads all of it.
    pub fn logits_at(&self, parameters: &Parameters<S>, output: &Matrix<S>, place: usize) -> Vec<S> {
        let read = self.read_at(output, place);
        self.logits_of(parameters, &Matrix::from_row_major(1, read.len(), read)).flat().to_vec()
    }

    /// Returns the vector (D) from which the answer at a position is read: the output there, the last output, or the
    /// mean of all outputs.
    pub fn read_at(&self, output: &Matrix<S>, place: usize) -> Vec<S> {
        match self.architecture.pooling {
            Pooling::Every => output.row(place).to_vec(),
            Pooling::Last => output.row(output.rows() - 1).to_vec(),
            Pooling::Mean => centroid(output, &(0..output.rows()).collect::<Vec<_>>()),
        }
    }

    /// Returns whether each word sees only itself and earlier words, in all blocks.
    pub fn is_causal(&self) -> bool {
        self.architecture.blocks.iter().all(|block| block.attention.mask == Mask::Causal)
    }
}

/// Passes of one sentence through a model without a source, each started at some block.
pub struct Onward<'a, S> {
    pub model: &'a AttentionModel<S>,
    pub parameters: &'a Parameters<S>,
    pub sentence: &'a Sequences,
    room: Option<RoomOfShape<S>>,
}

impl<'a, S: Scalar> Onward<'a, S> {
    pub fn new(model: &'a AttentionModel<S>, parameters: &'a Parameters<S>, sentence: &'a Sequences) -> Self {
        Self { model, parameters, sentence, room: None }
    }

    fn blocks(&self) -> usize {
        self.model.architecture.blocks.len()
    }

    fn config(&self, block: usize) -> &'a BlockConfig {
        &self.model.architecture.blocks[block]
    }

    fn room(&mut self, block: usize) -> &mut BlockCache<S> {
        let (config, tokens) = (self.config(block), self.sentence.rows.total());
        room_for(&mut self.room, config, (tokens, tokens))
    }

    /// Computes a block's queries, keys, values and mixes from its input (T, D) and leaves them in the block's buffers.
    fn attend(&mut self, block: usize, x: &Matrix<S>) {
        let (config, parameters, sentence) = (self.config(block), self.parameters, self.sentence);
        let learned = Learned { config, parameters, number: block };
        attend_forward(learned, Tokens::new(x.flat(), &sentence.rows), None, HeadChanges::NONE, self.room(block));
    }

    /// Computes a block's output (T, D) from its mixes (T, H·d_v) and its input, with the output of its feed-forward
    /// layer if that is given.
    fn finish(&mut self, block: usize, mix: &Matrix<S>, x: &Matrix<S>, forward: Option<&Matrix<S>>) -> Matrix<S> {
        let learned = Learned { config: self.config(block), parameters: self.parameters, number: block };
        let cache = self.room(block);
        tail_forward_with(learned, mix.flat(), x.flat(), forward.map(Matrix::flat), &mut cache.tail);
        cache.tail.output().clone()
    }

    /// Computes the outputs of the model (T, D) from the input of block `block`. If `block` is the number of blocks,
    /// only the last norm, if any, is left to apply.
    pub fn from(&mut self, block: usize, mut x: Matrix<S>) -> Matrix<S> {
        for number in block..self.blocks() {
            self.attend(number, &x);
            let mix = self.room(number).attention.mix.clone();
            x = self.finish(number, &mix, &x, None);
        }
        self.model.behind_blocks(self.parameters, Tower::Sentence, x)
    }

    /// Computes the outputs of the model (T, D) from the mixes of a block and its input.
    pub fn from_mixes(&mut self, block: usize, mix: &Matrix<S>, x: &Matrix<S>) -> Matrix<S> {
        let output = self.finish(block, mix, x, None);
        self.from(block + 1, output)
    }

    /// Computes the outputs of the model (T, D) from the input of the first block, with the value of a word set to 0 in
    /// all heads of all blocks.
    pub fn without_value(&mut self, word: usize, mut x: Matrix<S>) -> Matrix<S> {
        for block in 0..self.blocks() {
            self.attend(block, &x);
            let mix = self.mixes_without_value(block, word);
            x = self.finish(block, &mix, &x, None);
        }
        self.model.behind_blocks(self.parameters, Tower::Sentence, x)
    }

    /// Computes a block's output (T, D) for each word in turn, with the word's value set to 0 in all heads of this
    /// block only. `done` is called with the word and the output.
    pub fn outputs_without_each_value(&mut self, block: usize, x: &Matrix<S>, mut done: impl FnMut(usize, &Matrix<S>)) {
        self.attend(block, x);
        for word in 0..x.rows() {
            let value = self.room(block).attention.value.row(word).to_vec();
            let mix = self.mixes_without_value(block, word);
            done(word, &self.finish(block, &mix, x, None));
            self.room(block).attention.value.row_mut(word).copy_from_slice(&value);
        }
    }

    fn mixes_without_value(&mut self, block: usize, word: usize) -> Matrix<S> {
        self.room(block).attention.value.row_mut(word).fill(S::zero());
        self.again(block)
    }

    /// Computes a block's mixes (T, H·d_v) from the queries, keys and values in its buffers, which may have been
    /// changed.
    fn again(&mut self, block: usize) -> Matrix<S> {
        let (config, rows) = (self.config(block), &self.sentence.rows);
        let attention = &mut self.room(block).attention;
        mix_again(&config.attention, [rows, rows], HeadChanges::NONE, attention);
        attention.mix.clone()
    }

    /// Computes a head's mixes (T, d_v) in a block with the input `x`, with its queries, keys or values replaced by the
    /// given ones (T, d). Other heads that share the keys or values are not affected.
    pub fn mix_with(
        &mut self,
        (block, head): (usize, usize),
        x: &Matrix<S>,
        (part, given): (Projected, &Matrix<S>),
    ) -> Matrix<S> {
        self.attend(block, x);
        let (columns, rows) = (self.columns(block, head, part), x.rows());
        let to = self.projected(block, part);
        (0..rows).for_each(|row| to.row_mut(row)[columns.clone()].copy_from_slice(given.row(row)));
        self.again(block).top_columns(rows, &self.config(block).attention.mix_columns(head))
    }

    /// Computes a head's queries, keys or values (T, d) in a block with the input `x`.
    pub fn projected_of(&mut self, (block, head): (usize, usize), x: &Matrix<S>, part: Projected) -> Matrix<S> {
        self.attend(block, x);
        let columns = self.columns(block, head, part);
        self.projected(block, part).top_columns(x.rows(), &columns)
    }

    fn columns(&self, block: usize, head: usize, part: Projected) -> std::ops::Range<usize> {
        let layer = &self.config(block).attention;
        match part {
            Projected::Query => layer.query_columns(head),
            Projected::Key => layer.key_columns(head),
            Projected::Value => layer.value_columns(head),
        }
    }

    fn projected(&mut self, block: usize, part: Projected) -> &mut Matrix<S> {
        let attention = &mut self.room(block).attention;
        match part {
            Projected::Query => &mut attention.query,
            Projected::Key => &mut attention.key,
            Projected::Value => &mut attention.value,
        }
    }

    /// Computes the input (T, D) of the block `until` from given mixes of the block `first`. The heads of later blocks
    /// mix as in a kept pass; with `keeps_forward`, the outputs of the feed-forward layers are those of that pass too.
    pub fn along_kept_mixes(
        &mut self,
        kept: &[impl AsRef<BlockActivations<S>>],
        (first, until): (usize, usize),
        mix: &Matrix<S>,
        keeps_forward: bool,
    ) -> Matrix<S> {
        let mut x = (*kept[first].as_ref().input).clone();
        for (block, of_kept) in kept.iter().enumerate().take(until).skip(first) {
            let of_kept = of_kept.as_ref();
            let forward = (keeps_forward && self.config(block).feed_forward.is_some())
                .then(|| of_kept.forwarded(self.config(block)));
            let own = mixes_of(of_kept);
            let mix = if block == first { mix } else { &own };
            x = self.finish(block, mix, &x, forward.as_ref());
        }
        x
    }
}

/// Returns the mixes of all heads side by side (T, H·d_v).
pub fn mixes_of<S: Scalar>(block: &BlockActivations<S>) -> Matrix<S> {
    let (rows, width) = (block.input.rows(), block.heads.iter().map(|head| head.mix.cols()).sum());
    let mut mixes = Matrix::zeros(rows, width);
    for row in 0..rows {
        let mut to = mixes.row_mut(row);
        for head in &block.heads {
            let (own, rest) = to.split_at_mut(head.mix.cols());
            own.copy_from_slice(head.mix.row(row));
            to = rest;
        }
    }
    mixes
}

impl<S: Scalar> BlockActivations<S> {
    /// Computes the output of the feed-forward layer (T, D), after its own norm if it has one. Without a residual this
    /// is the block's sum itself.
    pub fn forwarded(&self, config: &BlockConfig) -> Matrix<S> {
        let mut forward = self.joined().clone();
        if config.residual {
            add_scaled(forward.flat_mut(), -S::one(), self.attended().flat());
        }
        forward
    }
}
