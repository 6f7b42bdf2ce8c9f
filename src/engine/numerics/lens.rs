//! The map from vectors to points: a norm that they are seen through, if there is one, and then the axes of the picture.
//!
//! ```text
//! point(x) = (norm(x) − mean) · U        norm(x) = γ ⊙ (x − mean x) / σ(x) + β
//!          = x · U' / σ(x) + β · U − mean · U        U' = γ ⊙ U − mean(γ ⊙ U), axis by axis
//! ```
//!
//! An RMSNorm takes no mean off and has no `β`.
//!
//! With the `σ` of the whole held, a term of a sum is an arrow `t · U' / σ`, and the arrows of all terms add up to the way
//! between the points (Kobayashi et al. 2021, arXiv 2109.07152). Layers that grow from one to the next, as GPT-2's do, have
//! one scale after their last norm.

use super::Matrix;
use super::norm::{NormCache, NormForm, inverse_deviations, norm_forward};
use super::projection::{AXES, Projection};
use super::table::Table;
use super::vectors::dot;

/// A norm with its numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Lens {
    gain: Vec<f32>,
    shift: Vec<f32>,
    form: NormForm,
}

impl Lens {
    pub fn new([gain, shift]: [&[f32]; 2], form: NormForm) -> Self {
        Self { gain: gain.to_vec(), shift: shift.to_vec(), form }
    }

    /// Each row after the norm.
    ///
    /// # Panics
    /// If the vectors are not as wide as the norm.
    pub fn see(&self, vectors: &Matrix<f32>) -> Matrix<f32> {
        let (mut cache, mut seen) = (NormCache::new(vectors.rows(), vectors.cols()), vectors.clone());
        norm_forward(self.form, vectors.flat(), [&self.gain, &self.shift], &mut cache, seen.flat_mut());
        seen
    }

    /// The rows after a norm, if there is one.
    pub fn see_through(lens: Option<&Self>, vectors: Matrix<f32>) -> Matrix<f32> {
        match lens {
            Some(lens) => lens.see(&vectors),
            None => vectors,
        }
    }

    /// `factor · γ ⊙ (t − mean t)`
    fn carry(&self, term: &[f32], factor: f32, to: &mut [f32]) {
        to.copy_from_slice(term);
        self.form.carry(&self.gain, factor, to);
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
            let mut axes = Matrix::from_fn(AXES, lens.gain.len(), |axis, d| projection.axis(axis)[d]);
            (0..AXES).for_each(|axis| lens.form.carry_back(&lens.gain, 1.0, axes.row_mut(axis)));
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

    /// [`Self::points`] of a vocabulary, some rows at a time: a second copy of its rows might not fit in memory.
    ///
    /// # Panics
    /// If the vectors are not `D` wide.
    pub fn points_of(&self, table: &Table<f32>) -> Matrix<f32> {
        let points = table.map_parts(|some| self.points(&some));
        Matrix::stacked(AXES, &points)
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
        self.lens.as_ref().map(|lens| inverse_deviations(lens.form, wholes))
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
    fn many_rows_are_seen_as_each_is_alone() {
        let vectors = Matrix::from_fn(2500, 4, |i, j| ((i * 31 + j * 17 + i * j) % 23) as f32 / 5.0 - 2.0);
        let lens = Lens::new([&[1.0, 0.5, 2.0, 1.5], &[0.25; 4]], NormForm::LAYER);
        let projection = Projection::principal_components(&lens.see(&vectors));
        let seen = projection.points(&lens.see(&vectors));
        assert_eq!(Sight::new(&projection, Some(lens)).points_of(&vectors.into()), seen);
    }

    #[test]
    fn terms_are_arrows_between_the_points_that_they_lead_to() {
        let entry = |i: usize, j: usize| ((i * 31 + j * 17 + i * j) % 23) as f32 / 5.0 - 2.0;
        let (before, term) = (Matrix::from_fn(6, 8, entry), Matrix::from_fn(6, 8, |i, j| entry(j + 3, i + 1)));
        let after = Matrix::from_fn(6, 8, |i, j| before.get(i, j) + term.get(i, j));
        let gain: Vec<f32> = (0..8).map(|j| 0.5 + entry(j, 2).abs()).collect();
        let lens = Lens::new([&gain, &[0.25; 8]], NormForm::LAYER);
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
