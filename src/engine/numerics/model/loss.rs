//! The loss of a batch and its gradient.
//!
//! ```text
//! L = 1/N [ Σ_targets (cross_entropy(z, class) + λ_A ‖y − e_class‖²) + λ_K Σ_others ‖y − e_word‖² ]
//! ```
//!
//! `N` is the number of targets. Cross-entropy alone only sets a direction: each step further away from the other
//! classes lowers it, so an output moves past the word that is meant. The squared distances make it *arrive*. They pull
//! the output of a target to the static vector of the right class (the centre loss of Wen et al. 2016, *A
//! Discriminative Feature Learning Approach for Deep Face Recognition*, Eq. 5, with fixed centres), and any other
//! output to the static vector of its own word. With several possible answers, the point of least squared distance is
//! their mean.

use std::borrow::Cow;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use crate::numerics::linear::{affine_backward, affine_forward, linear_forward};
use crate::numerics::model::{
    Architecture, AttentionModel, Batch, Classes, Readout, TransformCache, transform_backward, transform_forward,
};
use crate::numerics::params::pairs::LOGITS;
use crate::numerics::params::{Parameters, TensorName};
use crate::numerics::simd::{add, vectorized};
use crate::numerics::softmax::{cross_entropy_backward, cross_entropy_forward};
use crate::numerics::table::Table;
use crate::numerics::{Matrix, Scalar};

/// Weights of the squared distances in the loss; 0, the default, leaves them out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DistanceCosts {
    /// `λ_A`, the weight of the distance of a target's output to the static vector of its class. It needs a tied
    /// readout.
    pub arrive: f64,
    /// `λ_K`, the weight of the distance of any other output to the static vector of its own word. With a linear
    /// readout, whose classes have no static vectors, it applies to the targets' outputs too, which then move no
    /// further than the answer requires.
    pub keep: f64,
}

/// Values that the forward pass leaves for the backward pass, allocated once for the largest batch.
pub(super) struct LossCache<S> {
    /// `E_C` (C, D) of a tied readout whose `E` is trained; otherwise without rows. Its gradient has the same shape.
    readout: Matrix<S>,
    d_readout: Matrix<S>,
    /// Logits, then probabilities, then the gradient of the logits (N, C).
    logits: Matrix<S>,
    /// Cache of a readout with its own layer, and `d_T` (N, D).
    transform: Option<(TransformCache<S>, Matrix<S>)>,
    /// Outputs times the factor of the logits (N, D), if there is one.
    scaled: Option<Matrix<S>>,
    /// Logits after their bound (N, C), if there is one.
    capped: Option<Matrix<S>>,
}

impl<S: Scalar> LossCache<S> {
    pub fn new(model: &AttentionModel<S>, rows: usize) -> Self {
        let Architecture { width, train_embedding, readout, .. } = model.architecture;
        let transform = TransformCache::new(&model.architecture, rows);
        let classes = model.classes.count();
        let readout_rows = if train_embedding && readout.is_by_static_vectors() { classes } else { 0 };
        Self {
            transform: transform.map(|transform| (transform, Matrix::zeros(rows, width))),
            readout: Matrix::zeros(readout_rows, width),
            d_readout: Matrix::zeros(readout_rows, width),
            logits: Matrix::zeros(rows, classes),
            scaled: model.architecture.logit_scale.map(|_| Matrix::zeros(rows, width)),
            capped: model.architecture.logit_cap.map(|_| Matrix::zeros(rows, classes)),
        }
    }

    /// Returns `softmax(Z)` of a target; the backward pass overwrites it.
    pub fn probabilities(&self, target: usize) -> &[S] {
        self.logits.row(target)
    }
}

/// Computes `Z = Y E_Cᵀ + b` or `Y W + b` of the targets, and returns the loss of all outputs that are read, in nats.
///
/// # Shapes
/// `y` (R, D) row-major: the targets, then the kept rows
pub(super) fn loss_forward<S: Scalar>(
    model: &AttentionModel<S>,
    parameters: &Parameters<S>,
    batch: &Batch,
    y: &[S],
    cache: &mut LossCache<S>,
) -> S {
    let LossCache { readout, logits, transform, scaled, capped, .. } = cache;
    let (count, width) = (batch.targets.len(), model.architecture.width);
    let (answers, kept) = y.split_at(count * width);
    let z = logits.top_flat_mut(count);
    let rows = match transform {
        Some((transform, _)) => {
            transform_forward(parameters, answers, transform);
            transform.output.top(count)
        }
        None => MatRef::from_row_major_slice(times_factor(model, answers, scaled), count, width),
    };
    if model.architecture.readout.is_by_static_vectors() {
        gather_readout(model, parameters, readout);
        let readout = model.readout.as_deref().map_or(Cow::Borrowed(&*readout), Table::widened);
        linear_forward(rows, readout.view().transpose(), parameters.values_of(TensorName::LogitBias), z);
    } else {
        affine_forward(parameters, LOGITS, rows, z);
    }
    if let (Some(cap), Some(capped)) = (model.architecture.logit_cap, capped) {
        hold_below(S::from_f64(cap), z);
        capped.top_flat_mut(count).copy_from_slice(z);
    }
    let targets = batch.targets.iter().map(|&(_, class)| class);
    let mut sum = cross_entropy_forward(z, model.classes.count(), targets);
    let DistanceCosts { arrive, keep } = model.costs;
    if arrive > 0.0 {
        let centres = model.readout.as_deref().expect("costs: checked with the model");
        sum += S::from_f64(arrive) * squared_distances(answers, &centres.widened(), classes_of(batch));
    }
    if keep > 0.0 {
        let centres = model.embedding.widened();
        let mut distances = squared_distances(kept, &centres, kept_words(batch));
        if model.architecture.readout != Readout::Tied {
            let words = batch.answering(model.architecture.pooling);
            distances += squared_distances(answers, &centres, words);
        }
        sum += S::from_f64(keep) * distances;
    }
    sum / S::from_f64(count.max(1) as f64)
}

/// Computes the gradient of [`loss_forward`]. The gradient of the outputs replaces `d_y`; the gradients of parameters
/// are added.
///
/// # Shapes
/// `y`, `d_y` (R, D) row-major
pub(super) fn loss_backward<S: Scalar>(
    model: &AttentionModel<S>,
    parameters: &Parameters<S>,
    batch: &Batch,
    y: &[S],
    cache: &mut LossCache<S>,
    d_y: &mut [S],
    gradient: &mut Parameters<S>,
) {
    let LossCache { readout, d_readout, logits, transform, scaled, capped } = cache;
    let (count, classes, width) = (batch.targets.len(), model.classes.count(), model.architecture.width);
    let scale = S::one() / S::from_f64(count.max(1) as f64);
    let d_logits = logits.top_flat_mut(count);
    let targets = batch.targets.iter().map(|&(_, class)| class);
    cross_entropy_backward(d_logits, classes, targets, scale);
    if let (Some(cap), Some(capped)) = (model.architecture.logit_cap, capped) {
        hold_below_backward(S::from_f64(cap), capped.top_flat(count), d_logits);
    }

    let (answers, kept) = y.split_at(count * width);
    let (d_answers, d_kept) = d_y.split_at_mut(count * width);
    let (transform, mut d_transformed) = transform.as_mut().map(|(transform, d)| (&*transform, d)).unzip();
    let rows = match transform {
        Some(transform) => transform.output.top(count),
        None => {
            let read = scaled.as_ref().map_or(answers, |scaled| scaled.top_flat(count));
            MatRef::from_row_major_slice(read, count, width)
        }
    };
    let d_rows = MatRef::from_row_major_slice(&*d_logits, count, classes);
    let to = match &mut d_transformed {
        Some(d) => d.top_flat_mut(count),
        None => &mut *d_answers,
    };
    if model.architecture.readout.is_by_static_vectors() {
        let d_bias = gradient.values_of_mut(TensorName::LogitBias);
        if !d_bias.is_empty() {
            vectorized!(d_logits.chunks_exact(classes).for_each(|row| add(d_bias, row)),);
        }
        let readout = model.readout.as_deref().map_or(Cow::Borrowed(&*readout), Table::widened);
        let to = MatMut::from_row_major_slice_mut(to, count, width);
        matmul(to, Accum::Replace, d_rows, readout.view(), S::one(), Par::Seq);
        if let (Classes::Words(candidates), None) = (&model.classes, &model.readout) {
            matmul(d_readout.view_mut(), Accum::Replace, d_rows.transpose(), rows, S::one(), Par::Seq);
            let d_embedding = gradient.values_of_mut(TensorName::Embedding);
            for (i, &word) in candidates.words().iter().enumerate() {
                add(&mut d_embedding[word * width..][..width], d_readout.row(i));
            }
        }
    } else {
        to.fill(S::zero());
        affine_backward(parameters, LOGITS, rows, d_logits, to, gradient);
    }
    if let Some(factor) = model.architecture.logit_scale.map(S::from_f64) {
        d_answers.iter_mut().for_each(|d| *d *= factor);
    }
    if let (Some(transform), Some(d)) = (transform, d_transformed) {
        d_answers.fill(S::zero());
        transform_backward(parameters, answers, transform, d.top_flat_mut(count), gradient, d_answers);
    }
    let DistanceCosts { arrive, keep } = model.costs;
    if arrive > 0.0 {
        let centres = model.readout.as_deref().expect("costs: checked with the model");
        let scale = S::from_f64(arrive) * scale;
        squared_distances_backward(answers, &centres.widened(), classes_of(batch), scale, d_answers);
    }
    d_kept.fill(S::zero());
    if keep > 0.0 {
        let (scale, centres) = (S::from_f64(keep) * scale, model.embedding.widened());
        squared_distances_backward(kept, &centres, kept_words(batch), scale, d_kept);
        if model.architecture.readout != Readout::Tied {
            let words = batch.answering(model.architecture.pooling);
            squared_distances_backward(answers, &centres, words, scale, d_answers);
        }
    }
}

/// Computes the outputs times the factor of the logits, if there is one.
fn times_factor<'a, S: Scalar>(
    model: &AttentionModel<S>,
    answers: &'a [S],
    scaled: &'a mut Option<Matrix<S>>,
) -> &'a [S] {
    let (Some(factor), Some(scaled)) = (model.architecture.logit_scale, scaled) else { return answers };
    let (factor, scaled) = (S::from_f64(factor), &mut scaled.flat_mut()[..answers.len()]);
    scaled.iter_mut().zip(answers).for_each(|(to, &y)| *to = factor * y);
    scaled
}

/// Computes `c tanh(z / c)` in place.
pub(super) fn hold_below<S: Scalar>(cap: S, z: &mut [S]) {
    z.iter_mut().for_each(|z| *z = cap * (*z / cap).tanh());
}

/// Computes the gradient of [`hold_below`] from its output: `d_z = (1 − (y / c)²) d_y`.
fn hold_below_backward<S: Scalar>(cap: S, y: &[S], d: &mut [S]) {
    d.iter_mut().zip(y).for_each(|(d, &y)| *d *= S::one() - (y / cap) * (y / cap));
}

/// Returns the class of each target.
fn classes_of(batch: &Batch) -> impl Iterator<Item = Option<usize>> {
    batch.targets.iter().map(|&(_, class)| Some(class))
}

/// Returns the word of each kept row.
fn kept_words(batch: &Batch) -> impl Iterator<Item = Option<usize>> {
    batch.kept.iter().map(|&(_, word)| Some(word))
}

/// Computes `Σ ‖y − c‖²` over the rows of `y` that have a centre `c`, a row of `centres`.
fn squared_distances<S: Scalar>(y: &[S], centres: &Matrix<S>, of_rows: impl Iterator<Item = Option<usize>>) -> S {
    let mut total = S::zero();
    vectorized!({
        for (y, centre) in y.chunks_exact(centres.cols()).zip(of_rows) {
            let Some(centre) = centre else { continue };
            let squares = y.iter().zip(centres.row(centre)).map(
                #[inline(always)]
                |(&y, &c)| (y - c) * (y - c),
            );
            total += squares.sum::<S>();
        }
    },);
    total
}

/// Adds the gradient of [`squared_distances`]: `d_y += scale · 2 (y − c)`.
fn squared_distances_backward<S: Scalar>(
    y: &[S],
    centres: &Matrix<S>,
    of_rows: impl Iterator<Item = Option<usize>>,
    scale: S,
    d_y: &mut [S],
) {
    let (width, twice) = (centres.cols(), scale + scale);
    vectorized!({
        let rows = d_y.chunks_exact_mut(width).zip(y.chunks_exact(width));
        for ((d_y, y), centre) in rows.zip(of_rows) {
            let Some(centre) = centre else { continue };
            for ((d, &y), &c) in d_y.iter_mut().zip(y).zip(centres.row(centre)) {
                *d += twice * (y - c);
            }
        }
    },);
}

/// Copies the candidates' rows of a trained `E`.
fn gather_readout<S: Scalar>(model: &AttentionModel<S>, parameters: &Parameters<S>, readout: &mut Matrix<S>) {
    if let (Classes::Words(candidates), None) = (&model.classes, &model.readout) {
        let embedding = model.embedding(parameters);
        candidates.words().iter().enumerate().for_each(|(i, &word)| embedding.copy_row(word, readout.row_mut(i)));
    }
}
