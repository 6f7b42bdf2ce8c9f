//! The gradient of an answer's difference of logits with respect to the static vectors of a sentence, and its mean
//! along a straight line (integrated gradients: Sundararajan et al. 2017, arXiv 1703.01365).
//!
//! ```text
//! ∂m/∂e_j            e_j is the static vector with its factor, before positions are added
//! (e_j − ē) · 1/n Σ_k ∂m/∂e_j  at  ē + (k + ½)/n (e − ē),  all words at once, ē the mean row of the table
//! ```
//!
//! The line begins at the mean row and not at zero: RMSNorm maps all points of a line from zero, except zero itself, to
//! one vector, so the sum would not converge.
//!
//! The weights of one block at a time are unpacked, so that a model that is only inspected needs little more memory.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::{Question, Watch};
use crate::numerics::attention::{BatchRoom, BatchRows, HeadChanges, Tokens};
use crate::numerics::block::{BlockCache, BlockConfig, attend_backward, attend_forward, tail_backward, tail_forward};
use crate::numerics::model::{
    Architecture, AttentionModel, Pooling, Sequences, Tower, TransformCache, transform_backward, transform_forward,
};
use crate::numerics::norm::{NormCache, NormForm, norm_backward, norm_in_place};
use crate::numerics::parallel::{available, map};
use crate::numerics::params::pairs::{TRANSFORM, TRANSFORM_NORM};
use crate::numerics::params::{Learned, Parameters, TensorName};
use crate::numerics::vectors::add_scaled;
use crate::numerics::{Matrix, Scalar};

/// Largest number of rows of a batch of variants of a sentence, whose forward pass through all blocks is kept.
const ROWS_AT_ONCE: usize = 128;

/// A question about a sentence, with the model that answers.
#[derive(Clone, Copy)]
pub struct AnswerOf<'a, S> {
    pub model: &'a AttentionModel<S>,
    pub parameters: &'a Parameters<S>,
    pub sentence: &'a Sequences,
    pub question: Question,
}

/// A norm with the values that its backward pass needs.
struct KeptNorm<S> {
    form: NormForm,
    gain: Vec<S>,
    cache: NormCache<S>,
}

impl<S: Scalar> KeptNorm<S> {
    /// Norms rows in place and keeps the values for [`Self::backward`].
    fn forward(form: NormForm, affine: [&[S]; 2], x: &mut Matrix<S>) -> Self {
        let mut cache = NormCache::new(x.rows(), x.cols());
        norm_in_place(form, affine, &mut cache, x.flat_mut());
        Self { form, gain: affine[0].to_vec(), cache }
    }

    /// Turns the gradient of the output into that of the input.
    fn backward(&self, d: &mut Matrix<S>) {
        let (mut d_gain, mut d_shift) = (vec![S::zero(); d.cols()], vec![S::zero(); d.cols()]);
        let d_shift = if self.form.shift { &mut d_shift[..] } else { &mut [] };
        norm_backward(self.form, &self.gain, &self.cache, d.flat_mut(), [&mut d_gain, d_shift]);
    }
}

/// The input of a block, and the values that its backward pass reads.
pub(super) type KeptBlock<S> = (Matrix<S>, BlockCache<S>);

/// Runs the blocks of a model without a source, with all heads live. `x` (N, D) becomes their output.
pub(super) fn through_blocks<S: Scalar>(
    architecture: &Architecture,
    parameters: &Parameters<S>,
    rows: &BatchRows,
    x: &mut Matrix<S>,
) -> Vec<KeptBlock<S>> {
    let pass = |(number, config)| {
        let mut cache = BlockCache::new(config, BatchRoom::of(rows), BatchRoom::of(rows));
        let block = Learned { config, parameters, number };
        attend_forward(block, Tokens::new(x.flat(), rows), None, HeadChanges::NONE, &mut cache);
        tail_forward(block, cache.attention.mix.top_flat(rows.total()), x.flat(), &mut cache.tail);
        let output = cache.tail.output().clone();
        (std::mem::replace(x, output), cache)
    };
    architecture.blocks.iter().enumerate().map(pass).collect()
}

/// Turns the gradient of a block's output into that of its input. The gradients of the parameters are added.
pub(super) fn block_backward<S: Scalar>(
    block: Learned<'_, BlockConfig, S>,
    rows: &BatchRows,
    (x, cache): &mut KeptBlock<S>,
    gradient: &mut Parameters<S>,
    d: &mut Matrix<S>,
) {
    let (mix, d_mix) = (cache.attention.mix.top_flat(rows.total()), cache.d_mix.top_flat_mut(rows.total()));
    tail_backward(block, mix, &mut cache.tail, gradient, d.flat_mut(), d_mix);
    attend_backward(block, Tokens::new(x.flat(), rows), None, cache, gradient, d.flat_mut(), None);
}

impl<S: Scalar> AnswerOf<'_, S> {
    /// Computes the gradient at each of some variants of the static vectors (T, D).
    pub fn gradients(&self, variants: &[Matrix<S>]) -> Vec<Matrix<S>> {
        let at_once = self.variants_at_once();
        variants.chunks(at_once).flat_map(|variants| self.gradients_of_batch(variants)).collect()
    }

    fn variants_at_once(&self) -> usize {
        (ROWS_AT_ONCE / self.sentence.rows.total()).max(1)
    }

    /// Computes `(end − start) · mean gradient` of each word along the line between static vectors (T, D), at the
    /// middles of equal steps; `None` if the watch ended it. The watch is told the number of steps that are done.
    pub fn integrated(&self, start: &Matrix<S>, end: &Matrix<S>, steps: usize, watch: Watch<'_>) -> Option<Vec<f64>> {
        let at = |step: usize| {
            let share = S::from_f64((step as f64 + 0.5) / steps as f64);
            let entries = start.flat().iter().zip(end.flat()).map(|(&from, &to)| from + (to - from) * share);
            Matrix::from_row_major(start.rows(), start.cols(), entries.collect())
        };
        let steps_of: Vec<usize> = (0..steps).collect();
        let batches: Vec<&[usize]> = steps_of.chunks(self.variants_at_once()).collect();
        let (done, goes_on) = (AtomicUsize::new(0), AtomicBool::new(true));
        let sums = map(&batches, available(), |steps| {
            if !goes_on.load(Ordering::Relaxed) {
                return vec![0.0; start.rows()];
            }
            let variants: Vec<Matrix<S>> = steps.iter().map(|step| at(*step)).collect();
            let found = along(&self.gradients_of_batch(&variants), start, end);
            if !watch(done.fetch_add(steps.len(), Ordering::Relaxed) + steps.len()) {
                goes_on.store(false, Ordering::Relaxed);
            }
            found
        });
        let word = |word: usize| sums.iter().map(|sum| sum[word]).sum::<f64>() / steps as f64;
        goes_on.load(Ordering::Relaxed).then(|| (0..start.rows()).map(word).collect())
    }

    fn gradients_of_batch(&self, variants: &[Matrix<S>]) -> Vec<Matrix<S>> {
        let Self { model, parameters, sentence, .. } = *self;
        let architecture = &model.architecture;
        let tokens = sentence.rows.total();
        let mut rows = BatchRows::with_capacity(variants.len());
        variants.iter().for_each(|_| rows.push(tokens));
        let placed: Vec<Matrix<S>> =
            variants.iter().map(|statics| model.placed(parameters, sentence, statics.clone())).collect();
        let mut x = Matrix::stacked(architecture.width, &placed);
        let embedding_norm = model.embedding_norm(parameters, Tower::Sentence);
        let embedding_norm = embedding_norm.map(|affine| KeptNorm::forward(architecture.norm_form, affine, &mut x));
        let kept = through_blocks(architecture, parameters, &rows, &mut x);
        let final_norm = model.final_norm(parameters, Tower::Sentence);
        let final_norm = final_norm.map(|affine| KeptNorm::forward(architecture.norm_form, affine, &mut x));
        let mut d = self.readout_backward(&x, variants.len());
        if let Some(norm) = final_norm {
            norm.backward(&mut d);
        }
        for ((number, config), mut kept) in architecture.blocks.iter().enumerate().zip(kept).rev() {
            let mut ids: Vec<_> = config.shapes(number).into_iter().map(|(id, ..)| id).collect();
            ids.push(TensorName::DistanceBias.of_block(config.attention.distance_block(number)));
            let plain = self.parameters.plain(&ids);
            let block = Learned { config, parameters: &plain, number };
            block_backward(block, &rows, &mut kept, &mut plain.zeros_like(), &mut d);
        }
        if let Some(norm) = embedding_norm {
            norm.backward(&mut d);
        }
        let part = |variant: usize| d.flat()[variant * tokens * d.cols()..][..tokens * d.cols()].to_vec();
        (0..variants.len()).map(|variant| Matrix::from_row_major(tokens, d.cols(), part(variant))).collect()
    }

    /// Computes the gradient of the difference of two logits with respect to the outputs of some variants of the
    /// sentence.
    fn readout_backward(&self, output: &Matrix<S>, variants: usize) -> Matrix<S> {
        let tokens = self.sentence.rows.total();
        let mut d = Matrix::zeros(output.rows(), output.cols());
        for variant in 0..variants {
            let first = variant * tokens;
            let rows = match self.model.architecture.pooling {
                Pooling::Every => first + self.question.place..first + self.question.place + 1,
                Pooling::Last => first + tokens - 1..first + tokens,
                Pooling::Mean => first..first + tokens,
            };
            let share = S::one() / S::from_f64(rows.len() as f64);
            let mut read = vec![S::zero(); output.cols()];
            rows.clone().for_each(|row| add_scaled(&mut read, share, output.row(row)));
            let d_read = self.read_backward(&read);
            rows.for_each(|row| add_scaled(d.row_mut(row), share, &d_read));
        }
        d
    }

    /// Computes the gradient of the difference of two logits with respect to the vector that the readout reads (D).
    fn read_backward(&self, read: &[S]) -> Vec<S> {
        let Self { model, parameters, question, .. } = *self;
        let architecture = &model.architecture;
        let mut d = vec![S::zero(); read.len()];
        let logits = model.logits_of(parameters, &Matrix::from_row_major(1, read.len(), read.to_vec()));
        for (class, sign) in [(question.answer, S::one()), (question.against, -S::one())] {
            let held = architecture.logit_cap.map_or(S::zero(), |cap| logits.get(0, class) / S::from_f64(cap));
            add_scaled(&mut d, sign * (S::one() - held * held), &model.class_vector(parameters, class));
        }
        if let Some(mut cache) = TransformCache::new(architecture, 1) {
            let plain = parameters.plain([TRANSFORM, TRANSFORM_NORM].as_flattened());
            transform_forward(&plain, read, &mut cache);
            let mut d_read = vec![S::zero(); read.len()];
            transform_backward(&plain, read, &cache, &mut d, &mut plain.zeros_like(), &mut d_read);
            return d_read;
        }
        let factor = S::from_f64(architecture.logit_scale.unwrap_or(1.0));
        d.iter_mut().for_each(|d| *d *= factor);
        d
    }
}

/// Computes `Σ (end − start) · gradient` of each word, in double precision.
fn along<S: Scalar>(gradients: &[Matrix<S>], start: &Matrix<S>, end: &Matrix<S>) -> Vec<f64> {
    let of_word = |word: usize| {
        let way = || end.row(word).iter().zip(start.row(word)).map(|(to, from)| to.to_f64() - from.to_f64());
        let of = |gradient: &Matrix<S>| way().zip(gradient.row(word)).map(|(way, d)| way * d.to_f64()).sum::<f64>();
        gradients.iter().map(of).sum()
    };
    (0..start.rows()).map(of_word).collect()
}
