//! The objective of one training example: input vectors `h_i`, each scored against the same target words `u_t`, of
//! which the first is near and the others are noise.
//!
//! ```text
//! L = Σ_i (−ln σ(s_i0) − Σ_t>0 ln σ(−s_it))                 s_it = u_t · h_i,     S = H Uᵀ
//! d_s_it = ∂L/∂s_it = σ(s_it) − y_t                         y_0 = 1, y_t = 0
//! ∂L/∂h_i = Σ_t d_s_it u_t                                  d_H = d_S U
//! ∂L/∂u_t = Σ_i d_s_it h_i                                  d_U = d_Sᵀ H
//! ```

use pulp::Simd;

use crate::numerics::Scalar;
use crate::numerics::vectors::dot;

use crate::numerics::word2vec::rows::{LANES_MAX, Lanes, PaddedRows};

/// Computes `L` of the first `inputs` rows of `h`.
pub fn objective_forward<S: Lanes>(inputs: usize, h: &PaddedRows<S>, contexts: &PaddedRows<S>, targets: &[usize]) -> S {
    let term = |i, t| target_forward(dot(h.row(i), contexts.row(targets[t])), t == 0);
    (0..inputs).flat_map(|i| (0..targets.len()).map(move |t| term(i, t))).sum()
}

/// Buffers that a step needs in addition to the tables.
#[derive(Debug)]
pub struct Buffers<S> {
    /// `H`, which the caller fills in.
    pub h: PaddedRows<S>,
    /// `S`, then `G = −η d_S`.
    pub scores: Vec<S>,
    /// `−η ∂L/∂H`, the result.
    pub step_h: PaddedRows<S>,
}

impl<S: Lanes> Buffers<S> {
    /// Allocates buffers for examples of at most the given number of inputs.
    pub fn new(inputs: usize, width: usize) -> Self {
        Self { h: PaddedRows::zeros(inputs, width), scores: Vec::new(), step_h: PaddedRows::zeros(inputs, width) }
    }
}

/// Takes one step of gradient descent on `L` for the first `inputs` rows of `h`: `u_t −= η ∂L/∂u_t` in place, and
/// `step_h = −η ∂L/∂H`. A word that is drawn as noise twice counts twice.
#[inline(always)]
pub fn objective_step<A: Simd, S: Lanes>(
    simd: A,
    inputs: usize,
    buffers: &mut Buffers<S>,
    contexts: &mut PaddedRows<S>,
    targets: &[usize],
    rate: S,
) {
    let Buffers { h, scores, step_h } = buffers;
    let vectors = h.stride / S::lanes::<A>();
    let h = S::vectors::<A>(h.flat());
    let step_h = S::vectors_mut::<A>(step_h.flat_mut());
    let contexts = S::vectors_mut::<A>(contexts.flat_mut());
    Scores { simd, vectors, inputs, h, contexts, targets, scores }.into_steps(rate);
    each_panel(vectors, &mut Descent { simd, vectors, inputs, h, contexts, targets, steps: scores, step_h });
}

/// Takes one step for a single input, in place: each context is read and updated at once. If a word is drawn as noise
/// twice, its second step is computed from the updated vector, as in the original program.
#[inline(always)]
pub fn pair_step<A: Simd, S: Lanes>(
    simd: A,
    h: &mut [S],
    scores: &mut Vec<S>,
    contexts: &mut PaddedRows<S>,
    targets: &[usize],
    rate: S,
) {
    let h = S::vectors_mut::<A>(h);
    let contexts = S::vectors_mut::<A>(contexts.flat_mut());
    let vectors = h.len();
    Scores { simd, vectors, inputs: 1, h, contexts, targets, scores }.into_steps(rate);
    each_panel(vectors, &mut PairDescent { simd, h, contexts, targets, steps: scores });
}

/// Computes one term of `L`: `−ln σ(s)` for a near word, `−ln σ(−s)` for noise. It is computed as `max(−s, 0) + ln(1 +
/// e^−|s|)`, in which nothing overflows.
pub fn target_forward<S: Scalar>(score: S, near: bool) -> S {
    let signed = if near { score } else { -score };
    (-signed).max(S::zero()) + (S::one() + (-signed.abs()).exp()).ln()
}

/// Computes `d_s = σ(s) − y`.
pub fn target_backward<S: Lanes>(score: S, near: bool) -> S {
    S::sigmoid(score) - if near { S::one() } else { S::zero() }
}

/// A computation of `S = H Uᵀ` over a panel, added to the result of the earlier panels.
struct Scores<'a, A, V, S> {
    simd: A,
    vectors: usize,
    inputs: usize,
    h: &'a [V],
    contexts: &'a [V],
    targets: &'a [usize],
    scores: &'a mut Vec<S>,
}

impl<A: Simd, S: Lanes> Scores<'_, A, S::Vector<A>, S> {
    /// Replaces the scores by `G = −η d_S`.
    #[inline(always)]
    fn into_steps(mut self, rate: S) {
        let count = self.inputs * self.targets.len();
        // The numbers after the last score are not used, but whole vectors are faster.
        let padded = count.next_multiple_of(LANES_MAX);
        if self.scores.len() < padded {
            self.scores.resize(padded, S::zero());
        }
        each_panel(self.vectors, &mut self);
        for chunk in self.scores[..padded].as_chunks_mut::<LANES_MAX>().0 {
            chunk.iter_mut().for_each(|score| *score = -rate * S::sigmoid(*score));
        }
        self.scores[..count].iter_mut().step_by(self.targets.len()).for_each(|near| *near += rate);
    }
}

impl<A: Simd, S: Lanes> PanelWork for Scores<'_, A, S::Vector<A>, S> {
    #[inline(always)]
    fn panel<const N: usize>(&mut self, start: usize) {
        let simd = self.simd;
        for (i, scores) in self.scores.chunks_exact_mut(self.targets.len()).take(self.inputs).enumerate() {
            let h = *panel::<_, N>(self.h, i * self.vectors + start);
            for (score, &target) in scores.iter_mut().zip(self.targets) {
                let u = panel::<_, N>(self.contexts, target * self.vectors + start);
                // Two sums, because each addition waits for the one before it.
                let mut sums = [S::splat(simd, S::zero()); 2];
                for n in 0..N {
                    sums[n % 2] = S::mul_add(simd, h[n], u[n], sums[n % 2]);
                }
                let sum = S::sum_lanes(simd, S::add_lanes(simd, sums[0], sums[1]));
                *score = if start == 0 { sum } else { *score + sum };
            }
        }
    }
}

/// A computation of `step_H = G U` and `U += Gᵀ H` over a panel, with `G = −η d_S`.
struct Descent<'a, A, V, S> {
    simd: A,
    vectors: usize,
    inputs: usize,
    h: &'a [V],
    contexts: &'a mut [V],
    targets: &'a [usize],
    /// `G = −η d_S`, the step of each score.
    steps: &'a [S],
    step_h: &'a mut [V],
}

impl<A: Simd, S: Lanes> PanelWork for Descent<'_, A, S::Vector<A>, S> {
    #[inline(always)]
    fn panel<const N: usize>(&mut self, start: usize) {
        let simd = self.simd;
        for (i, steps) in self.steps.chunks_exact(self.targets.len()).take(self.inputs).enumerate() {
            let mut step_h = [S::splat(simd, S::zero()); N];
            for (&step, &target) in steps.iter().zip(self.targets) {
                let u = panel::<_, N>(self.contexts, target * self.vectors + start);
                let step = S::splat(simd, step);
                for n in 0..N {
                    step_h[n] = S::mul_add(simd, step, u[n], step_h[n]);
                }
            }
            *panel_mut::<_, N>(self.step_h, i * self.vectors + start) = step_h;
        }
        for (t, &target) in self.targets.iter().enumerate() {
            let row = panel_mut::<_, N>(self.contexts, target * self.vectors + start);
            let mut u = *row;
            for (i, steps) in self.steps.chunks_exact(self.targets.len()).take(self.inputs).enumerate() {
                let h = panel::<_, N>(self.h, i * self.vectors + start);
                let step = S::splat(simd, steps[t]);
                for n in 0..N {
                    u[n] = S::mul_add(simd, step, h[n], u[n]);
                }
            }
            *row = u;
        }
    }
}

/// A computation of `h += G U` and `U += Gᵀ h` over a panel, for one input.
struct PairDescent<'a, A, V, S> {
    simd: A,
    h: &'a mut [V],
    contexts: &'a mut [V],
    targets: &'a [usize],
    /// `G = −η d_S`, the step of each score.
    steps: &'a [S],
}

impl<A: Simd, S: Lanes> PanelWork for PairDescent<'_, A, S::Vector<A>, S> {
    #[inline(always)]
    fn panel<const N: usize>(&mut self, start: usize) {
        let simd = self.simd;
        let h = *panel::<_, N>(self.h, start);
        let mut moved = h;
        for (&step, &target) in self.steps.iter().zip(self.targets) {
            let u = panel_mut::<_, N>(self.contexts, target * self.h.len() + start);
            let step = S::splat(simd, step);
            for n in 0..N {
                moved[n] = S::mul_add(simd, step, u[n], moved[n]);
                u[n] = S::mul_add(simd, step, h[n], u[n]);
            }
        }
        *panel_mut::<_, N>(self.h, start) = moved;
    }
}

/// Work on a part of each row: `N` vectors, few enough to stay in the processor's registers while the loop runs over
/// the rows of the other table.
trait PanelWork {
    fn panel<const N: usize>(&mut self, start: usize);
}

/// Number of vectors of a panel.
const PANEL: usize = 8;

#[inline(always)]
fn each_panel(vectors: usize, work: &mut impl PanelWork) {
    let mut start = 0;
    while vectors - start >= PANEL {
        work.panel::<PANEL>(start);
        start += PANEL;
    }
    match vectors - start {
        1 => work.panel::<1>(start),
        2 => work.panel::<2>(start),
        3 => work.panel::<3>(start),
        4 => work.panel::<4>(start),
        5 => work.panel::<5>(start),
        6 => work.panel::<6>(start),
        7 => work.panel::<7>(start),
        _ => (),
    }
}

#[inline(always)]
fn panel<V, const N: usize>(row: &[V], start: usize) -> &[V; N] {
    row[start..].first_chunk().expect("a panel lies within its row")
}

#[inline(always)]
fn panel_mut<V, const N: usize>(row: &mut [V], start: usize) -> &mut [V; N] {
    row[start..].first_chunk_mut().expect("a panel lies within its row")
}

#[cfg(test)]
mod tests {
    use super::target_forward;
    use crate::close::{Tolerance, assert_close};

    #[test]
    fn the_loss_of_a_score_is_finite() {
        for (score, near, loss) in [(-1e4f32, true, 1e4), (1e4, false, 1e4), (1e4, true, 0.0), (-89.0, true, 89.0)] {
            assert_eq!(target_forward(score, near), loss, "{score} {near}");
        }
        assert_close("of even odds", target_forward(0.0, true), std::f64::consts::LN_2, Tolerance::LAST_BITS);
        assert!(target_forward(f32::NAN, true).is_nan());
    }
}
