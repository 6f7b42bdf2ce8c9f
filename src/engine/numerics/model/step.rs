//! A training step: the forward pass of a batch, and its gradient.

use super::loss::{LossCache, loss_backward, loss_forward};
use super::{Architecture, AttentionModel, Batch, Pooling, Sequences, Tower};
use crate::numerics::attention::{BatchRoom, BatchRows, HeadChanges, Tokens};
use crate::numerics::block::{
    BlockCache, BlockConfig, attend_backward, attend_forward, norm_back, tail_backward, tail_forward,
};
use crate::numerics::norm::{NormCache, norm_forward};
use crate::numerics::params::{Learned, Parameters};
use crate::numerics::simd::{add, add_scaled, vectorized};
use crate::numerics::{Matrix, Scalar};

/// Everything that a training step needs except the parameters. It is allocated once; a step allocates nothing.
pub struct StepWorkspace<S> {
    input: Stack<S>,
    source: Stack<S>,
    /// Inputs of the readout: the mixes (R, H·d_v) and inputs (R, D) of the last block if it pools before the tail,
    /// otherwise the outputs (R, D) only.
    pooled_mix: Matrix<S>,
    pooled: Matrix<S>,
    d_pooled_mix: Matrix<S>,
    /// Gradient of the inputs or outputs that were pooled (R, D).
    d_pooled: Matrix<S>,
    /// Cache of the norm after all blocks, and its output (N, D) or (R, D).
    final_norm: Option<(NormCache<S>, Matrix<S>)>,
    /// Cache of the norm after the source's blocks, and its output (N_s, D).
    source_norm: Option<(NormCache<S>, Matrix<S>)>,
    loss: LossCache<S>,
    pub gradient: Parameters<S>,
}

/// The blocks that one sentence goes through, with their values.
struct Stack<S> {
    tower: Tower,
    /// `X` (N, D)
    embedded: Matrix<S>,
    /// Cache of the norm after the embeddings, and its input (N, D).
    embedding_norm: Option<(NormCache<S>, Matrix<S>)>,
    blocks: Vec<BlockCache<S>>,
    /// Gradient at the point that the backward pass has reached.
    d: Matrix<S>,
    /// Whether the first block needs `X` itself, not only its projections.
    reads_vectors: bool,
}

impl<S: Scalar> Stack<S> {
    fn new(model: &AttentionModel<S>, tower: Tower, room: BatchRoom, source: BatchRoom) -> Self {
        let architecture = &model.architecture;
        let width = architecture.width;
        let (configs, pools_means) = match tower {
            Tower::Source => (&architecture.source_blocks, false),
            Tower::Sentence => (&architecture.blocks, architecture.pools_means_before_tail()),
        };
        let keys = |block: &BlockConfig| if block.attends_to_source() { source } else { room };
        let mut blocks: Vec<BlockCache<S>> =
            configs.iter().map(|block| BlockCache::new(block, room, keys(block))).collect();
        let (words, places) = (model.embedding.rows(), model.places());
        if let Some(last) = blocks.last_mut().filter(|_| pools_means) {
            last.attention.mixes_means = true;
        }
        let looks_up = model.looks_up() && words + places < room.rows;
        if let Some(first) = blocks.first_mut().filter(|_| looks_up) {
            first.attention.look_up_in(words, places);
        }
        let reads_vectors = !looks_up || configs.first().is_none_or(BlockConfig::reads_vectors);
        let matrix = || Matrix::zeros(room.rows, width);
        let embedding_norm = architecture.embedding_norm.then(|| (NormCache::new(room.rows, width), matrix()));
        Self { tower, embedded: matrix(), embedding_norm, blocks, d: matrix(), reads_vectors }
    }

    /// Returns a block's input for `n` tokens, its cache, and the gradient.
    fn at(&mut self, block: usize, n: usize) -> (&[S], &mut BlockCache<S>, &mut [S]) {
        let (before, rest) = self.blocks.split_at_mut(block);
        let x = before.last().map_or(&self.embedded, |before| before.tail.output());
        (x.top_flat(n), &mut rest[0], self.d.top_flat_mut(n))
    }
}

impl<S: Scalar> StepWorkspace<S> {
    /// Allocates room for batches of the given sizes.
    pub fn new(model: &AttentionModel<S>, input: BatchRoom, source: BatchRoom) -> Self {
        let architecture = &model.architecture;
        let (width, rows) = (architecture.width, input.rows);
        let values = architecture.blocks.last().map_or(0, |block| block.attention.mixes_width());
        let source = if architecture.has_source() { source } else { BatchRoom::NONE };
        let norm = |is_there: bool, rows| is_there.then(|| (NormCache::new(rows, width), Matrix::zeros(rows, width)));
        Self {
            input: Stack::new(model, Tower::Sentence, input, source),
            source: Stack::new(model, Tower::Source, source, BatchRoom::NONE),
            pooled_mix: Matrix::zeros(rows, values),
            pooled: Matrix::zeros(rows, width),
            d_pooled_mix: Matrix::zeros(rows, values),
            d_pooled: Matrix::zeros(rows, width),
            final_norm: norm(architecture.final_norm, rows),
            source_norm: norm(architecture.source.final_norm, source.rows),
            loss: LossCache::new(model, rows),
            gradient: model.zeros(),
        }
    }

    /// Returns `softmax(Z)` of target `i` of the last batch, until the backward pass overwrites it.
    pub fn probabilities(&self, i: usize) -> &[S] {
        self.loss.probabilities(i)
    }
}

/// A step in single precision, compiled in this crate. The crates that use it are compiled in many small units for
/// quick rebuilds, in which generic functions run a quarter slower.
impl StepWorkspace<f32> {
    /// Calls [`model_forward`].
    pub fn forward(&mut self, model: &AttentionModel<f32>, parameters: &Parameters<f32>, batch: &Batch) -> f32 {
        model_forward(model, parameters, batch, self)
    }

    /// Calls [`model_backward`].
    pub fn backward(&mut self, model: &AttentionModel<f32>, parameters: &Parameters<f32>, batch: &Batch) {
        model_backward(model, parameters, batch, self);
    }
}

/// Computes the mean loss over the batch's targets, in nats; 0 if there are no targets and no kept rows.
///
/// # Panics
/// If the batch does not fit the model or the workspace.
pub fn model_forward<S: Scalar>(
    model: &AttentionModel<S>,
    parameters: &Parameters<S>,
    batch: &Batch,
    workspace: &mut StepWorkspace<S>,
) -> S {
    let architecture = &model.architecture;
    embed(model, parameters, &batch.source, &mut workspace.source);
    let source_rows = &batch.source.rows;
    for (b, config) in architecture.source_blocks.iter().enumerate() {
        let block = Learned { config, parameters, number: b };
        let (x, cache, _) = workspace.source.at(b, source_rows.total());
        let x = tokens(model, parameters, &batch.source, b, x);
        attend_forward(block, x, None, HeadChanges::NONE, cache);
        whole_tail_forward(block, x, cache);
    }

    if let Some(last) = workspace.source.blocks.last() {
        let output = last.tail.output().top_flat(source_rows.total());
        normed(model, parameters, Tower::Source, output, &mut workspace.source_norm);
    }

    embed(model, parameters, &batch.input, &mut workspace.input);
    let StepWorkspace { input, source, pooled_mix, pooled, final_norm, source_norm, .. } = workspace;
    let source = memory(&source.blocks, source_norm, source_rows);
    let rows = &batch.input.rows;
    for (i, config) in architecture.blocks.iter().enumerate() {
        let block = Learned { config, parameters, number: architecture.source_blocks.len() + i };
        let (x, cache, _) = input.at(i, rows.total());
        let x = tokens(model, parameters, &batch.input, i, x);
        attend_forward(block, x, source, HeadChanges::NONE, cache);
        if i + 1 < architecture.blocks.len() {
            whole_tail_forward(block, x, cache);
        } else if architecture.pools_before_tail() {
            let (width, values, count) = (architecture.width, config.attention.mixes_width(), batch.reads());
            pool(mix_pooling(architecture, cache), batch, cache.attention.mix.flat(), values, pooled_mix.flat_mut());
            if config.residual {
                pool(architecture.pooling, batch, x.vectors, width, pooled.flat_mut());
            }
            let (mix, x) = (pooled_mix.top_flat(count), pooled.top_flat(count));
            tail_forward(block, mix, x, &mut cache.tail);
            // From here on there are only the rows of the outputs that are read.
            let output = cache.tail.output().top_flat(count);
            let output = normed(model, parameters, Tower::Sentence, output, final_norm);
            pooled.top_flat_mut(count).copy_from_slice(output);
        } else {
            whole_tail_forward(block, x, cache);
            let output = cache.tail.output().top_flat(rows.total());
            let output = normed(model, parameters, Tower::Sentence, output, final_norm);
            pool(architecture.pooling, batch, output, architecture.width, pooled.flat_mut());
        }
    }
    loss_forward(model, parameters, batch, pooled.top_flat(batch.reads()), &mut workspace.loss)
}

fn embed<S: Scalar>(
    model: &AttentionModel<S>,
    parameters: &Parameters<S>,
    sequences: &Sequences,
    stack: &mut Stack<S>,
) {
    if !stack.reads_vectors {
        return;
    }
    let n = sequences.rows.total();
    let x = stack.embedded.top_flat_mut(n);
    let tower = stack.tower;
    match (&mut stack.embedding_norm, model.embedding_norm(parameters, tower)) {
        (Some((norm, summed)), Some(affine)) => {
            let summed = summed.top_flat_mut(n);
            vectorized!(model.embed(parameters, tower, sequences, summed));
            norm_forward(model.architecture.norm_form, summed, affine, norm, x);
        }
        _ => vectorized!(model.embed(parameters, tower, sequences, x)),
    }
}

/// Applies the norm after a tower's blocks, if there is one, to their outputs.
fn normed<'a, S: Scalar>(
    model: &AttentionModel<S>,
    parameters: &Parameters<S>,
    tower: Tower,
    outputs: &'a [S],
    final_norm: &'a mut Option<(NormCache<S>, Matrix<S>)>,
) -> &'a [S] {
    let (Some((norm, to)), Some(affine)) = (final_norm, model.final_norm(parameters, tower)) else { return outputs };
    let to = &mut to.flat_mut()[..outputs.len()];
    norm_forward(model.architecture.norm_form, outputs, affine, norm, to);
    to
}

/// Computes the gradient of [`normed`] in place: `d` holds the gradient of its output and becomes that of its input.
fn normed_backward<S: Scalar>(
    architecture: &Architecture,
    parameters: &Parameters<S>,
    tower: Tower,
    final_norm: &Option<(NormCache<S>, Matrix<S>)>,
    gradient: &mut Parameters<S>,
    d: &mut [S],
) {
    if let (Some((norm, _)), Some(ids)) = (final_norm, architecture.final_norm_of(tower)) {
        norm_back(architecture.norm_form, parameters, ids, norm, d, gradient);
    }
}

/// Returns the input of a stack's block. The first block may look words and positions up.
fn tokens<'a, S: Scalar>(
    model: &'a AttentionModel<S>,
    parameters: &'a Parameters<S>,
    sequences: &'a Sequences,
    block: usize,
    vectors: &'a [S],
) -> Tokens<'a, S> {
    let look_up = (block == 0).then(|| model.look_up(parameters, sequences));
    Tokens { look_up, ..Tokens::new(vectors, &sequences.rows) }
}

/// Returns the tokens that cross-attention attends to: the output of the source's last block, or of the norm after it.
/// `None` if there is no source.
fn memory<'a, S: Scalar>(
    source: &'a [BlockCache<S>],
    norm: &'a Option<(NormCache<S>, Matrix<S>)>,
    rows: &'a BatchRows,
) -> Option<Tokens<'a, S>> {
    let last = source.last()?.tail.output();
    let memory = norm.as_ref().map_or(last, |(_, normed)| normed);
    Some(Tokens::new(memory.top_flat(rows.total()), rows))
}

/// Returns how the last block's mixes are read: one by one if they are already means, otherwise as the model reads its
/// outputs.
fn mix_pooling<S: Scalar>(architecture: &Architecture, cache: &BlockCache<S>) -> Pooling {
    if cache.attention.mixes_means { Pooling::Every } else { architecture.pooling }
}

fn whole_tail_forward<S: Scalar>(block: Learned<'_, BlockConfig, S>, x: Tokens<'_, S>, cache: &mut BlockCache<S>) {
    let mix = cache.attention.mix.top_flat(x.rows.total());
    tail_forward(block, mix, x.vectors, &mut cache.tail);
}

/// Gathers the rows that are read: one for each target, then the kept ones.
fn pool<S: Scalar>(pooling: Pooling, batch: &Batch, from: &[S], width: usize, to: &mut [S]) {
    let row = |row: usize| &from[row * width..][..width];
    vectorized!({
        for (to, &(target, _)) in to.chunks_exact_mut(width).zip(&batch.targets) {
            match pooling {
                Pooling::Every => to.copy_from_slice(row(target)),
                Pooling::Last => to.copy_from_slice(row(batch.input.rows.sentence(target).end - 1)),
                Pooling::Mean => {
                    let sentence = batch.input.rows.sentence(target);
                    let share = S::one() / S::from_f64(sentence.len() as f64);
                    to.fill(S::zero());
                    sentence.for_each(|t| add(to, row(t)));
                    to.iter_mut().for_each(|x| *x *= share);
                }
            }
        }
        let kept = to.chunks_exact_mut(width).skip(batch.targets.len()).zip(&batch.kept);
        kept.for_each(|(to, &(at, _))| to.copy_from_slice(row(at)));
    },);
}

/// Computes the gradient of [`pool`], which replaces the given values.
fn pool_backward<S: Scalar>(pooling: Pooling, batch: &Batch, d_to: &[S], width: usize, d_from: &mut [S]) {
    vectorized!({
        d_from.fill(S::zero());
        for (d_to, &(target, _)) in d_to.chunks_exact(width).zip(&batch.targets) {
            let mut give = |row: usize, share: S| add_scaled(&mut d_from[row * width..][..width], share, d_to);
            match pooling {
                Pooling::Every => give(target, S::one()),
                Pooling::Last => give(batch.input.rows.sentence(target).end - 1, S::one()),
                Pooling::Mean => {
                    let sentence = batch.input.rows.sentence(target);
                    let share = S::one() / S::from_f64(sentence.len() as f64);
                    sentence.for_each(|t| give(t, share));
                }
            }
        }
        let kept = d_to.chunks_exact(width).skip(batch.targets.len()).zip(&batch.kept);
        kept.for_each(|(d_to, &(at, _))| add(&mut d_from[at * width..][..width], d_to));
    },);
}

/// Computes the gradient of [`model_forward`] and leaves it in `workspace.gradient`.
///
/// # Panics
/// If parameters are packed, because such a model is not trained.
pub fn model_backward<S: Scalar>(
    model: &AttentionModel<S>,
    parameters: &Parameters<S>,
    batch: &Batch,
    workspace: &mut StepWorkspace<S>,
) {
    assert!(!parameters.is_packed(), "model backward: packed parameters are not trained");
    let architecture = &model.architecture;
    workspace.gradient.flat_mut().fill(S::zero());
    let StepWorkspace {
        input,
        source,
        pooled_mix,
        pooled,
        d_pooled_mix,
        d_pooled,
        final_norm,
        source_norm,
        loss,
        gradient,
    } = workspace;
    let d_pooled = d_pooled.top_flat_mut(batch.reads());
    loss_backward(model, parameters, batch, pooled.top_flat(batch.reads()), loss, d_pooled, gradient);

    let (rows, source_rows) = (&batch.input.rows, &batch.source.rows);
    let (source_d, source_blocks) = (&mut source.d, &source.blocks);
    let source_d = source_d.top_flat_mut(source_rows.total());
    source_d.fill(S::zero());
    let memory = memory(source_blocks, source_norm, source_rows);
    for (i, config) in architecture.blocks.iter().enumerate().rev() {
        let block = Learned { config, parameters, number: architecture.source_blocks.len() + i };
        let (x, cache, d) = input.at(i, rows.total());
        if i + 1 == architecture.blocks.len() {
            let (width, values, count) = (architecture.width, config.attention.mixes_width(), batch.reads());
            if architecture.pools_before_tail() {
                let (mix, d_mix) = (pooled_mix.top_flat(count), d_pooled_mix.top_flat_mut(count));
                normed_backward(architecture, parameters, Tower::Sentence, final_norm, gradient, d_pooled);
                tail_backward(block, mix, &mut cache.tail, gradient, d_pooled, d_mix);
                let pooling = mix_pooling(architecture, cache);
                let mixes = if cache.attention.mixes_means { rows.count() } else { rows.total() };
                pool_backward(pooling, batch, d_mix, values, cache.d_mix.top_flat_mut(mixes));
                if config.residual {
                    pool_backward(architecture.pooling, batch, d_pooled, width, d);
                } else {
                    d.fill(S::zero());
                }
            } else {
                pool_backward(architecture.pooling, batch, d_pooled, width, d);
                normed_backward(architecture, parameters, Tower::Sentence, final_norm, gradient, d);
                whole_tail_backward(block, rows, cache, gradient, d);
            }
        } else {
            whole_tail_backward(block, rows, cache, gradient, d);
        }
        let x = tokens(model, parameters, &batch.input, i, x);
        attend_backward(block, x, memory, cache, gradient, d, Some(&mut *source_d));
    }
    embed_backward(model, parameters, &batch.input, input, gradient);

    normed_backward(architecture, parameters, Tower::Source, source_norm, gradient, source_d);
    for (b, config) in architecture.source_blocks.iter().enumerate().rev() {
        let block = Learned { config, parameters, number: b };
        let (x, cache, d) = source.at(b, source_rows.total());
        whole_tail_backward(block, source_rows, cache, gradient, d);
        let x = tokens(model, parameters, &batch.source, b, x);
        attend_backward(block, x, None, cache, gradient, d, None);
    }
    embed_backward(model, parameters, &batch.source, source, gradient);
}

fn whole_tail_backward<S: Scalar>(
    block: Learned<'_, BlockConfig, S>,
    rows: &BatchRows,
    cache: &mut BlockCache<S>,
    gradient: &mut Parameters<S>,
    d: &mut [S],
) {
    let n = rows.total();
    let (mix, d_mix) = (cache.attention.mix.top_flat(n), cache.d_mix.top_flat_mut(n));
    tail_backward(block, mix, &mut cache.tail, gradient, d, d_mix);
}

fn embed_backward<S: Scalar>(
    model: &AttentionModel<S>,
    parameters: &Parameters<S>,
    sequences: &Sequences,
    stack: &mut Stack<S>,
    gradient: &mut Parameters<S>,
) {
    if !stack.reads_vectors {
        return;
    }
    let d = stack.d.top_flat_mut(sequences.rows.total());
    let architecture = &model.architecture;
    if let (Some((norm, _)), Some(ids)) = (&stack.embedding_norm, architecture.embedding_norm_of(stack.tower)) {
        norm_back(architecture.norm_form, parameters, ids, norm, d, gradient);
    }
    vectorized!(model.embed_backward(stack.tower, sequences, d, gradient));
}
