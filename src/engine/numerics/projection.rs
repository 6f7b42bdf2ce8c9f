//! Projection of `D` dimensions to 3 by one fixed linear map. A [`Lens`] is a norm that is applied before it.
//!
//! ```text
//! point(x) = (norm(x) − mean) · U        norm(x) = γ ⊙ (x − mean x) / σ(x) + β
//!          = x · U' / σ(x) + β · U − mean · U        U' = γ ⊙ U − mean(γ ⊙ U), axis by axis
//! ```
//!
//! An RMSNorm subtracts no mean and has no `β`.
//!
//! With the `σ` of a whole sum held, a term `t` is an arrow `t · U' / σ`, and the arrows of all terms lead from one
//! point to the other (Kobayashi et al. 2021, arXiv 2109.07152). A lens brings layers whose vectors grow from one to
//! the next, as GPT-2's do, to the scale of the model's last norm.

use super::Matrix;
pub use super::alignment::AXES;
use super::alignment::Rotation;
use super::norm::{NormForm, inverse_deviations, normed};
use super::spread::{Spread, remove, unit};
use super::table::Table;
use super::vectors::dot;

/// The map `point = (x − mean) · axes`. It is the same for every vector of a lesson, so that a point moves only if its
/// vector changes. A difference of vectors is projected without the mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    mean: Vec<f32>,
    /// Directions (3, D), rows of length 1. If `D < 3`, the remaining rows are zero until the picture is turned. The
    /// rows are orthogonal unless axes were chosen.
    axes: Matrix<f32>,
    /// Standard deviation, over all axes together, of the vectors that the axes were computed from.
    deviation: f32,
    kinds: [Kind; AXES],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    PrincipalComponent(usize),
    /// A dimension of the vectors itself.
    Coordinate(usize),
    Chosen,
    /// A mixture of components, turned to match another picture.
    Turned(usize),
}

impl Projection {
    /// Returns the projection to the first three dimensions, which can be made without any vectors.
    pub fn coordinates(width: usize) -> Self {
        let axes = Matrix::from_fn(AXES, width, |axis, j| f32::from(u8::from(axis == j)));
        let kinds = [0, 1, 2].map(Kind::Coordinate);
        Self { mean: vec![0.0; width], axes, deviation: 0.0, kinds }
    }

    /// Returns the projection to the centred principal components of the rows of `vectors`, in order of decreasing
    /// variance. Each points so that its largest entry is positive. If `D ≤ 3`, the axes are the coordinates
    /// themselves, with their own origin.
    ///
    /// # Panics
    /// If there are no rows.
    pub fn principal_components(vectors: &Matrix<f32>) -> Self {
        Self::of_spread(&Spread::of(vectors))
    }

    /// Returns [`Self::principal_components`] of vectors whose spread is given instead of the vectors themselves.
    pub fn of_spread(spread: &Spread) -> Self {
        let width = spread.width();
        let found = if width > AXES { spread.components(AXES) } else { None };
        // If the decomposition fails, the first dimensions still make a picture.
        let kind = if found.is_some() { Kind::PrincipalComponent } else { Kind::Coordinate };
        let axes = found.unwrap_or_else(|| {
            (0..AXES.min(width)).map(|axis| (0..width).map(|j| f64::from(u8::from(j == axis))).collect()).collect()
        });
        let origin = vec![0.0; width];
        let mean = if kind(0) == Kind::Coordinate(0) { &origin } else { spread.mean() };
        Self::through(mean, spread, axes, [0, 1, 2].map(kind))
    }

    /// Returns [`Self::of_spread`] with some axes chosen. A chosen axis runs along its direction, for example from the
    /// centre of one group of words to that of another. The others are the principal components of the remainder,
    /// orthogonal to the chosen ones; the chosen ones keep the angles between them.
    ///
    /// Returns `None` if a direction has no length or is not finite.
    ///
    /// # Panics
    /// If a direction is not `D` wide.
    pub fn along(spread: &Spread, directions: [Option<&[f32]>; AXES]) -> Option<Self> {
        let width = spread.width();
        let mut chosen: [Option<Vec<f64>>; AXES] = Default::default();
        for (chosen, direction) in chosen.iter_mut().zip(directions) {
            if let Some(direction) = direction {
                assert_eq!(direction.len(), width, "projection: an axis of width {} of {width}", direction.len());
                *chosen = Some(unit(direction.iter().map(|&x| f64::from(x)).collect(), 0.0)?);
            }
        }
        let basis = orthonormal(chosen.iter().flatten(), width);
        let left = width.saturating_sub(basis.len()).min(AXES);
        let mut free = spread.without(&basis).components(left)?.into_iter();
        let mut kinds = [Kind::Chosen; AXES];
        let mut place = 0;
        let axes = chosen.into_iter().zip(&mut kinds).map(|(axis, kind)| {
            axis.unwrap_or_else(|| {
                *kind = Kind::PrincipalComponent(place);
                place += 1;
                free.next().unwrap_or_else(|| vec![0.0; width])
            })
        });
        let axes = axes.collect();
        Some(Self::through(spread.mean(), spread, axes, kinds))
    }

    /// Returns the same picture turned, `point' = point · R`. `spread` is the spread of the vectors from which the axes
    /// were computed.
    ///
    /// # Panics
    /// If the spread is not `D` wide.
    #[must_use]
    pub fn turned(&self, spread: &Spread, turn: &Rotation) -> Self {
        let mixed = |to: usize| {
            let entry = |j: usize| (0..AXES).map(|from| turn[from][to] * f64::from(self.axes.get(from, j))).sum();
            (0..self.mean.len()).map(entry).collect()
        };
        let mean: Vec<f64> = self.mean.iter().map(|&x| f64::from(x)).collect();
        let is_chosen = |axis: usize| self.kinds[axis] == Kind::Chosen;
        let kinds = [0, 1, 2].map(|axis| if is_chosen(axis) { Kind::Chosen } else { Kind::Turned(axis) });
        Self::through(&mean, spread, (0..AXES).map(mixed).collect(), kinds)
    }

    /// Returns whether any axis was turned to match another picture.
    pub fn is_turned(&self) -> bool {
        self.kinds.iter().any(|kind| matches!(kind, Kind::Turned(_)))
    }

    /// Returns whether any axis runs along a chosen direction.
    pub fn is_chosen(&self) -> bool {
        self.kinds.contains(&Kind::Chosen)
    }

    fn through(mean: &[f64], spread: &Spread, found: Vec<Vec<f64>>, kinds: [Kind; AXES]) -> Self {
        let width = mean.len();
        let mut axes = Matrix::zeros(AXES, width);
        for (axis, direction) in found.iter().enumerate() {
            axes.row_mut(axis).iter_mut().zip(direction).for_each(|(to, &x)| *to = x as f32);
        }
        let variance: f64 = found.iter().map(|direction| spread.variance_along(direction)).sum();
        Self { mean: mean.iter().map(|&x| x as f32).collect(), axes, deviation: variance.max(0.0).sqrt() as f32, kinds }
    }

    /// Projects rows to points, (n, 3).
    ///
    /// # Panics
    /// If the vectors are not `D` wide.
    pub fn points(&self, vectors: &Matrix<f32>) -> Matrix<f32> {
        assert_eq!(vectors.cols(), self.mean.len(), "projection: vectors of width {}", vectors.cols());
        let mut points = Matrix::zeros(vectors.rows(), AXES);
        let axes: [&[f32]; AXES] = std::array::from_fn(|axis| self.axes.row(axis));
        for i in 0..vectors.rows() {
            // All axes are computed in one loop, so that each sum waits only for its own last addition. The sums start
            // from −0, which changes no number that is added to it, not even −0.
            let mut sums = [-0.0; AXES];
            for (j, (x, mean)) in vectors.row(i).iter().zip(&self.mean).enumerate() {
                let x = x - mean;
                sums.iter_mut().zip(axes).for_each(|(sum, axis)| *sum += x * axis[j]);
            }
            points.row_mut(i).copy_from_slice(&sums);
        }
        points
    }

    /// Projects a difference of two vectors to an arrow; the mean is not subtracted.
    pub fn direction(&self, vector: &[f32]) -> [f32; AXES] {
        std::array::from_fn(|axis| super::vectors::dot(vector, self.axes.row(axis)))
    }

    /// Returns the vector (D) that is subtracted before a vector is projected.
    pub fn mean(&self) -> &[f32] {
        &self.mean
    }

    /// Returns the direction of an axis, (D).
    pub fn axis(&self, axis: usize) -> &[f32] {
        self.axes.row(axis)
    }

    /// Returns the name of each axis: `PC1`, `x₁` and so on, `B − A` if it was chosen, `axis 1` if it was turned.
    pub fn names(&self) -> [&'static str; AXES] {
        self.kinds.map(|kind| match kind {
            Kind::PrincipalComponent(i) => ["PC1", "PC2", "PC3"][i],
            Kind::Coordinate(i) => ["x₁", "x₂", "x₃"][i],
            Kind::Chosen => "B − A",
            Kind::Turned(i) => ["axis 1", "axis 2", "axis 3"][i],
        })
    }

    /// Returns the number of axes along which points can differ: fewer than 3 if `D < 3`, unless the axes were turned.
    pub fn dimensions(&self) -> usize {
        if self.is_turned() { AXES } else { self.mean.len().min(AXES) }
    }

    /// Returns whether the axes are the dimensions themselves, so that nothing is left out.
    pub fn is_identity(&self) -> bool {
        self.kinds.iter().all(|kind| matches!(kind, Kind::Coordinate(_)))
    }

    /// Returns the standard deviation of the vectors that the axes were computed from, which is the scale of the
    /// picture.
    pub fn deviation(&self) -> f32 {
        self.deviation
    }

    /// Returns whether all axes are orthogonal, so that the picture keeps the angles within its space.
    pub fn is_orthogonal(&self) -> bool {
        const ROUNDING: f32 = 1e-3;
        let pairs = [(0, 1), (0, 2), (1, 2)];
        pairs.iter().all(|&(a, b)| super::vectors::dot(self.axes.row(a), self.axes.row(b)).abs() < ROUNDING)
    }
}

/// Length below which the remainder of a unit vector is rounding and has no direction.
const ROUNDING: f64 = 1e-12;

/// Returns an orthonormal basis of the span of the given directions (Gram-Schmidt).
fn orthonormal<'a>(axes: impl IntoIterator<Item = &'a Vec<f64>>, width: usize) -> Vec<Vec<f64>> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for axis in axes {
        let mut rest = axis.clone();
        basis.iter().for_each(|other| remove(&mut rest, other));
        // An axis in the span of those before it leaves no remainder.
        basis.extend(unit(rest, ROUNDING).filter(|_| basis.len() < width));
    }
    basis
}

/// A norm with its learned numbers, through which vectors are seen.
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

    /// Applies the norm to each row.
    ///
    /// # Panics
    /// If the vectors are not as wide as the norm.
    pub fn see(&self, vectors: &Matrix<f32>) -> Matrix<f32> {
        normed(self.form, [&self.gain, &self.shift], vectors.clone())
    }

    /// Applies a norm to the rows, if there is one.
    pub fn see_through(lens: Option<&Self>, vectors: Matrix<f32>) -> Matrix<f32> {
        match lens {
            Some(lens) => lens.see(&vectors),
            None => vectors,
        }
    }

    /// Writes `factor · γ ⊙ (t − mean t)` to `to`.
    fn carry(&self, term: &[f32], factor: f32, to: &mut [f32]) {
        to.copy_from_slice(term);
        self.form.carry(&self.gain, factor, to);
    }
}

/// A projection after an optional lens.
#[derive(Clone, Debug)]
pub struct LensProjection<'a> {
    projection: &'a Projection,
    lens: Option<Lens>,
    /// `U'` (3, D) of the module's equation; `None` without a lens.
    through: Option<Matrix<f32>>,
}

impl<'a> LensProjection<'a> {
    pub fn new(projection: &'a Projection, lens: Option<Lens>) -> Self {
        let through = lens.as_ref().map(|lens| {
            let mut axes = Matrix::from_fn(AXES, lens.gain.len(), |axis, d| projection.axis(axis)[d]);
            (0..AXES).for_each(|axis| lens.form.carry_back(&lens.gain, 1.0, axes.row_mut(axis)));
            axes
        });
        Self { projection, lens, through }
    }

    /// Projects rows to points, (n, 3).
    ///
    /// # Panics
    /// If the vectors are not `D` wide.
    pub fn points(&self, vectors: &Matrix<f32>) -> Matrix<f32> {
        match &self.lens {
            Some(lens) => self.projection.points(&lens.see(vectors)),
            None => self.projection.points(vectors),
        }
    }

    /// Projects the rows of a table, some at a time, because a second copy of all rows might not fit in memory.
    ///
    /// # Panics
    /// If the vectors are not `D` wide.
    pub fn points_of(&self, table: &Table<f32>) -> Matrix<f32> {
        let points = table.map_parts(|some| self.points(&some));
        Matrix::stacked(AXES, &points)
    }

    /// Projects a term of a sum to an arrow. With a lens, the factor `1 / σ` of the whole sum, [`Self::shrinking`], is
    /// left out.
    pub fn direction(&self, term: &[f32]) -> [f32; AXES] {
        match &self.through {
            Some(axes) => std::array::from_fn(|axis| dot(term, axes.row(axis))),
            None => self.projection.direction(term),
        }
    }

    /// Returns `1 / σ` of each row, or `None` without a lens.
    pub fn shrinking(&self, wholes: &Matrix<f32>) -> Option<Vec<f32>> {
        self.lens.as_ref().map(|lens| inverse_deviations(lens.form, wholes))
    }

    /// Writes `factor · γ ⊙ (t − mean t)` of a term to `to`; does nothing without a lens.
    pub fn carry(&self, term: &[f32], factor: f32, to: &mut [f32]) {
        if let Some(lens) = &self.lens {
            lens.carry(term, factor, to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::close::{Tolerance, assert_close, assert_close_beside};
    use crate::numerics::shares::Shares;

    /// Returns points whose variance is largest along x₂, then x₄, x₁, x₃.
    fn cloud() -> Matrix<f32> {
        let deviations = [2.0, 9.0, 1.0, 4.0];
        Matrix::from_fn(64, 4, |i, j| if (i >> j) & 1 == 1 { deviations[j] } else { -deviations[j] } + 10.0)
    }

    fn rows(projection: &Projection) -> Vec<&[f32]> {
        (0..AXES).map(|axis| projection.axes.row(axis)).collect()
    }

    #[track_caller]
    fn assert_row(found: &[f32], expected: &[f32]) {
        assert_close("the row", found, expected, Tolerance::SINGLE);
    }

    #[test]
    fn components_come_by_their_variance() {
        let projection = Projection::principal_components(&cloud());
        assert_eq!(projection.names(), ["PC1", "PC2", "PC3"]);
        for (axis, expected) in [[0., 1., 0., 0.], [0., 0., 0., 1.], [1., 0., 0., 0.]].iter().enumerate() {
            assert_row(projection.axes.row(axis), expected);
        }
    }

    #[test]
    fn a_chosen_axis_runs_along_its_direction_and_the_others_at_right_angles() {
        let projection =
            Projection::along(&Spread::of(&cloud()), [None, Some(&[0.0, 3.0, 4.0, 0.0]), None]).expect("a direction");
        assert_eq!(projection.names(), ["PC1", "B − A", "PC2"]);
        assert_row(projection.axes.row(1), &[0.0, 0.6, 0.8, 0.0]);
        let rows = rows(&projection);
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            let dot: f32 = rows[a].iter().zip(rows[b]).map(|(a, b)| a * b).sum();
            assert_close_beside(1.0, format!("axes {a} and {b}"), dot, 0.0, Tolerance::SINGLE);
        }
        let arrow = projection.direction(&[0.0, 3.0, 4.0, 0.0]);
        assert_row(&arrow, &[0.0, 5.0, 0.0]);
    }

    #[test]
    fn all_axes_may_be_chosen_even_the_same_twice() {
        let [x, y] = [[1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0]];
        let projection = Projection::along(&Spread::of(&cloud()), [Some(&x), Some(&y), Some(&x)]).expect("directions");
        assert_row(projection.axes.row(2), &x);
        assert_row(projection.axes.row(1), &[0.5f32.sqrt(), 0.5f32.sqrt(), 0.0, 0.0]);
        assert!(!projection.is_orthogonal() && Projection::principal_components(&cloud()).is_orthogonal());
    }

    #[test]
    fn two_dimensions_leave_one_axis_empty() {
        let flat = Matrix::from_fn(8, 2, |i, j| (i * (j + 1)) as f32);
        let projection = Projection::along(&Spread::of(&flat), [Some(&[1.0, 0.0]), None, None]).expect("a direction");
        assert_row(projection.axes.row(1), &[0.0, 1.0]);
        assert_row(projection.axes.row(2), &[0.0, 0.0]);
    }

    #[test]
    fn few_dimensions_are_seen_as_they_are() {
        let flat = Matrix::from_fn(8, 2, |i, j| (i + j) as f32);
        let projection = Projection::principal_components(&flat);
        assert_eq!((projection.dimensions(), projection.names()[0]), (2, "x₁"));
        assert_row(projection.points(&flat).row(3), &[3.0, 4.0, 0.0]);
        assert_eq!(Projection::principal_components(&cloud()).dimensions(), 3);
    }

    #[test]
    fn what_varies_only_along_a_chosen_axis_leaves_the_others_at_right_angles() {
        let line = Matrix::from_fn(8, 4, |i, j| if j == 2 { i as f32 } else { 0.0 });
        let along = Projection::along(&Spread::of(&line), [None, Some(&[0.0, 0.0, 1.0, 0.0]), None]).expect("one");
        assert!(along.is_orthogonal());
        let shares = Shares::of_variance(&along, &line).expect("it varies");
        assert_row(&[0, 1, 2].map(|axis| shares.along(axis)), &[0.0, 1.0, 0.0]);
    }

    #[test]
    fn a_turned_picture_is_the_same_from_another_side() {
        let turn = [[0.0, 0.0, -1.0], [0.6, 0.8, 0.0], [0.8, -0.6, 0.0]];
        let flat = Matrix::from_fn(8, 2, |i, j| (i * i + j * 5) as f32);
        for vectors in [cloud(), flat] {
            let before = Projection::principal_components(&vectors);
            let after = before.turned(&Spread::of(&vectors), &turn);
            assert_eq!((after.dimensions(), after.names()[2], after.is_turned()), (3, "axis 3", true));
            let (from, to) = (before.points(&vectors), after.points(&vectors));
            for row in 0..vectors.rows() {
                let expected: Vec<f32> = (0..AXES)
                    .map(|axis| (0..AXES).map(|k| from.get(row, k) * turn[k][axis] as f32).sum::<f32>())
                    .collect();
                let scale = expected.iter().fold(1.0f32, |most, x| most.max(x.abs()));
                assert_close_beside(scale, row, to.row(row), expected, Tolerance::SINGLE_PASS);
            }
            // A turn keeps the total that is shown and divides it differently among the axes.
            let shares = |projection: &Projection| Shares::of_variance(projection, &vectors).expect("they vary");
            let (before, after) = (shares(&before), shares(&after));
            assert_close("the total", after.seen(None), before.seen(None), Tolerance::SINGLE_PASS);
            assert_ne!(before.along(0), after.along(0));
        }
    }

    #[test]
    fn a_direction_without_length_is_none() {
        for entry in [0.0, f32::NAN, f32::INFINITY] {
            assert_eq!(Projection::along(&Spread::of(&cloud()), [Some(&[entry; 4]), None, None]), None);
        }
    }
}

#[cfg(test)]
mod lens_tests {
    use super::*;
    use crate::close::{Tolerance, assert_close};

    #[test]
    fn many_rows_are_seen_as_each_is_alone() {
        let vectors = Matrix::from_fn(2500, 4, |i, j| ((i * 31 + j * 17 + i * j) % 23) as f32 / 5.0 - 2.0);
        let lens = Lens::new([&[1.0, 0.5, 2.0, 1.5], &[0.25; 4]], NormForm::LAYER);
        let projection = Projection::principal_components(&lens.see(&vectors));
        let points = projection.points(&lens.see(&vectors));
        assert_eq!(LensProjection::new(&projection, Some(lens)).points_of(&vectors.into()), points);
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
            let sight = LensProjection::new(&projection, lens);
            let (from, to) = (sight.points(&before), sight.points(&after));
            let factors = |of: &Matrix<f32>| sight.shrinking(of).unwrap_or_else(|| vec![1.0; 6]);
            let (own, held) = (factors(&before), factors(&after));
            for row in 0..6 {
                let (rest, arrow) = (sight.direction(before.row(row)), sight.direction(term.row(row)));
                let rescaled = |axis: usize| rest[axis] * (held[row] - own[row]);
                let tip: [f32; AXES] =
                    std::array::from_fn(|axis| from.get(row, axis) + rescaled(axis) + arrow[axis] * held[row]);
                assert_close(row, tip, to.row(row), Tolerance::SINGLE_SUMS);
            }
        }
    }
}
