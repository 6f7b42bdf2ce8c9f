//! The map from vectors to points: a norm that they are seen through, if there is one, and then the axes of the picture.
//!
//! ```text
//! point(x) = (norm(x) − mean) · U        norm(x) = γ ⊙ (x − mean x) / σ(x) + β
//!          = x · U' / σ(x) + β · U − mean · U        U' = γ ⊙ U − mean(γ ⊙ U), axis by axis
//! ```
//!
//! With the `σ` of the whole held, a term of a sum is an arrow `t · U' / σ`, and the arrows of all terms add up to the way
//! between the points (Kobayashi et al. 2021, arXiv 2109.07152). Layers that grow from one to the next, as GPT-2's do, have
//! one scale behind their last norm.

use super::Matrix;
use super::norm::{NormCache, inverse_deviations, norm_forward};
use super::projection::{AXES, Projection};
use super::vectors::dot;

/// A norm with its numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Lens {
    gain: Vec<f32>,
    shift: Vec<f32>,
    epsilon: f64,
}

impl Lens {
    pub fn new([gain, shift]: [&[f32]; 2], epsilon: f64) -> Self {
        Self { gain: gain.to_vec(), shift: shift.to_vec(), epsilon }
    }

    /// Each row behind the norm.
    ///
    /// # Panics
    /// If the vectors are not as wide as the norm.
    pub fn see(&self, vectors: &Matrix<f32>) -> Matrix<f32> {
        let (mut cache, mut seen) = (NormCache::new(vectors.rows(), vectors.cols()), vectors.clone());
        norm_forward(vectors.flat(), [&self.gain, &self.shift], self.epsilon, &mut cache, seen.flat_mut());
        seen
    }

    /// The rows behind a norm, if there is one.
    pub fn see_through(lens: Option<&Self>, vectors: Matrix<f32>) -> Matrix<f32> {
        match lens {
            Some(lens) => lens.see(&vectors),
            None => vectors,
        }
    }

    /// `factor · γ ⊙ (t − mean t)`
    fn carry(&self, term: &[f32], factor: f32, to: &mut [f32]) {
        let mean = term.iter().sum::<f32>() / term.len() as f32;
        to.iter_mut().zip(term).zip(&self.gain).for_each(|((to, x), gain)| *to = factor * gain * (x - mean));
    }
}

/// A projection with the lens in front of it.
#[derive(Clone, Debug)]
pub struct Sight<'a> {
    projection: &'a Projection,
    lens: Option<Lens>,
    /// `U'` (3, D) of a lens.
    through: Option<Matrix<f32>>,
}

impl<'a> Sight<'a> {
    pub fn new(projection: &'a Projection, lens: Option<Lens>) -> Self {
        let through = lens.as_ref().map(|lens| {
            let mut axes = Matrix::from_fn(AXES, lens.gain.len(), |axis, d| lens.gain[d] * projection.axis(axis)[d]);
            for axis in 0..AXES {
                let row = axes.row_mut(axis);
                let mean = row.iter().sum::<f32>() / row.len() as f32;
                row.iter_mut().for_each(|x| *x -= mean);
            }
            axes
        });
        Self { projection, lens, through }
    }

    /// Rows as points, (n, 3).
    ///
    /// # Panics
    /// If the vectors are not `D` wide.
    pub fn points(&self, vectors: &Matrix<f32>) -> Matrix<f32> {
        match &self.lens {
            Some(lens) => self.projection.points(&lens.see(vectors)),
            None => self.projection.points(vectors),
        }
    }

    /// A term as an arrow, but for [`Self::shrinking`] of the whole that it is a term of.
    pub fn direction(&self, term: &[f32]) -> [f32; AXES] {
        match &self.through {
            Some(axes) => std::array::from_fn(|axis| dot(term, axes.row(axis))),
            None => self.projection.direction(term),
        }
    }

    /// `1 / σ` of each row; none without a lens.
    pub fn shrinking(&self, wholes: &Matrix<f32>) -> Option<Vec<f32>> {
        self.lens.as_ref().map(|lens| inverse_deviations(wholes, lens.epsilon))
    }

    /// A term as it is seen, times a factor; nothing without a lens.
    pub fn carry(&self, term: &[f32], factor: f32, to: &mut [f32]) {
        if let Some(lens) = &self.lens {
            lens.carry(term, factor, to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_arrows_between_the_points_that_they_lead_to() {
        let entry = |i: usize, j: usize| ((i * 31 + j * 17 + i * j) % 23) as f32 / 5.0 - 2.0;
        let (before, term) = (Matrix::from_fn(6, 8, entry), Matrix::from_fn(6, 8, |i, j| entry(j + 3, i + 1)));
        let after = Matrix::from_fn(6, 8, |i, j| before.get(i, j) + term.get(i, j));
        let gain: Vec<f32> = (0..8).map(|j| 0.5 + entry(j, 2).abs()).collect();
        let lens = Lens::new([&gain, &[0.25; 8]], 1e-5);
        let projection = Projection::principal_components(&lens.see(&before));
        for lens in [None, Some(lens)] {
            let sight = Sight::new(&projection, lens);
            let (from, to) = (sight.points(&before), sight.points(&after));
            let factors = |of: &Matrix<f32>| sight.shrinking(of).unwrap_or_else(|| vec![1.0; 6]);
            let (own, held) = (factors(&before), factors(&after));
            for row in 0..6 {
                let (rest, arrow) = (sight.direction(before.row(row)), sight.direction(term.row(row)));
                for axis in 0..AXES {
                    let rescaled = rest[axis] * (held[row] - own[row]);
                    let tip = from.get(row, axis) + rescaled + arrow[axis] * held[row];
                    assert!((tip - to.get(row, axis)).abs() < 1e-4, "{tip}, not {}", to.get(row, axis));
                }
            }
        }
    }
}
