//! The two tables of vectors, laid out for the processor, and one step of gradient descent on an example.

use pulp::{Arch, Simd, WithSimd};

use super::objective::{Buffers, objective_forward, objective_step, pair_step};
use super::rows::{Lanes, PaddedRows};
use crate::numerics::Matrix;

/// The two tables that word2vec learns.
#[derive(Debug)]
pub struct Tables<S> {
    /// `v` (V, D): the vectors that a lesson shows.
    pub(super) vectors: PaddedRows<S>,
    /// `u` (V, D): the vectors of words as contexts of others.
    pub(super) contexts: PaddedRows<S>,
}

/// The words of one step, as rows of the tables.
#[derive(Clone, Copy, Debug)]
pub struct WordStep<'a> {
    /// Rows of the input words.
    pub inputs: &'a [usize],
    /// Whether the mean of the inputs is the only input vector, `h = 1/m Σ_i v_i`, as in CBOW; otherwise `h_i = v_i`.
    pub mean: bool,
    /// Row of the near word, then those of the noise words.
    pub targets: &'a [usize],
}

impl<S: Lanes> Tables<S> {
    pub fn new(vectors: &Matrix<S>, contexts: &Matrix<S>) -> Self {
        Self { vectors: PaddedRows::new(vectors), contexts: PaddedRows::new(contexts) }
    }

    pub fn copy(&self) -> Self {
        Self { vectors: self.vectors.copy(), contexts: self.contexts.copy() }
    }

    pub fn vectors(&self) -> Matrix<S> {
        self.vectors.matrix()
    }

    pub fn contexts(&self) -> Matrix<S> {
        self.contexts.matrix()
    }

    /// Computes `L` of an example.
    pub fn loss(&self, example: WordStep) -> S {
        struct Loss<'a, S>(&'a Tables<S>, WordStep<'a>);
        impl<S: Lanes> WithSimd for Loss<'_, S> {
            type Output = S;

            #[inline(always)]
            fn with_simd<A: Simd>(self, simd: A) -> S {
                let Loss(tables, example) = self;
                let mut h = PaddedRows::zeros(example.inputs.len(), tables.vectors.width);
                let inputs = tables.gather(simd, example, &mut h);
                objective_forward(inputs, &h, &tables.contexts, example.targets)
            }
        }
        Arch::new().dispatch(Loss(self, example))
    }

    /// Takes one step of gradient descent on an example.
    pub fn descend(&mut self, example: WordStep, rate: S) {
        struct Descend<'a, S>(&'a mut Tables<S>, WordStep<'a>, S);
        impl<S: Lanes> WithSimd for Descend<'_, S> {
            type Output = ();

            #[inline(always)]
            fn with_simd<A: Simd>(self, simd: A) {
                let Descend(tables, example, rate) = self;
                let mut buffers = Buffers::new(example.inputs.len(), tables.vectors.width);
                tables.step(simd, example, rate, &mut buffers);
            }
        }
        Arch::new().dispatch(Descend(self, example, rate));
    }

    /// Computes `u −= η ∂L/∂u`, and `v_i −= η ∂L/∂h_i`, or `v_i −= η/m ∂L/∂h` for a mean. Each word gets its share of
    /// the gradient; the original program gives each the whole (Irsoy et al. 2021, arXiv 2012.15332).
    #[inline(always)]
    pub(super) fn step<A: Simd>(&mut self, simd: A, example: WordStep, rate: S, buffers: &mut Buffers<S>) {
        if let [word] = *example.inputs {
            let Self { vectors, contexts } = self;
            return pair_step(simd, vectors.row_mut(word), &mut buffers.scores, contexts, example.targets, rate);
        }
        let inputs = self.gather(simd, example, &mut buffers.h);
        objective_step(simd, inputs, buffers, &mut self.contexts, example.targets, rate);
        let share = share(example);
        for (i, &word) in example.inputs.iter().enumerate() {
            let step = buffers.step_h.row(if example.mean { 0 } else { i });
            add_scaled(simd, self.vectors.row_mut(word), share, step);
        }
    }

    /// Writes the input vectors to `h` and returns their number.
    #[inline(always)]
    fn gather<A: Simd>(&self, simd: A, example: WordStep, h: &mut PaddedRows<S>) -> usize {
        let count = if example.mean { 1 } else { example.inputs.len() };
        h.flat_mut()[..count * self.vectors.stride].fill(S::zero());
        let share = share(example);
        for (i, &word) in example.inputs.iter().enumerate() {
            add_scaled(simd, h.row_mut(if example.mean { 0 } else { i }), share, self.vectors.row(word));
        }
        count
    }
}

/// Returns `∂h/∂v` of an input word.
#[inline(always)]
fn share<S: Lanes>(example: WordStep) -> S {
    if example.mean { S::one() / S::from_f64(example.inputs.len() as f64) } else { S::one() }
}

/// Computes `to += scale · x` for padded rows.
#[inline(always)]
fn add_scaled<A: Simd, S: Lanes>(simd: A, to: &mut [S], scale: S, x: &[S]) {
    let scale = S::splat(simd, scale);
    for (to, &x) in S::vectors_mut::<A>(to).iter_mut().zip(S::vectors::<A>(x)) {
        *to = S::mul_add(simd, scale, x, *to);
    }
}
