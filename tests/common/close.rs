//! Comparisons of numbers. A tolerance is one of a list, each with its reason; `tests/numerics/tolerances.rs` proves
//! that a number beyond each is refused, and `tests/architecture/tolerances.rs` that no test has one of its own. The
//! inline tests of all crates use this file too.

#![allow(dead_code, reason = "each program uses its part")]

use std::cmp::Ordering;
use std::fmt::Display;

/// A part of the larger of 1 and the expected number by which a found number may differ from it.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Tolerance(f64);

impl Tolerance {
    /// Rounding of one or two operations in double precision.
    pub const LAST_BITS: Self = Self(1e-15);
    /// Rounding of sums of some products in double precision.
    pub const DOUBLE: Self = Self(1e-13);
    /// Rounding of a pass through a block, or of some steps of training, in double precision.
    pub const DOUBLE_PASS: Self = Self(1e-12);
    /// Rounding of a pass whose norms divide by small deviations, in double precision.
    pub const DOUBLE_NORMS: Self = Self(1e-10);
    /// Rounding of long sums in double precision in another order: of components, and of trainings, in which Adam
    /// divides by what may be tiny.
    pub const DOUBLE_SUMS: Self = Self(1e-9);
    /// Central differences, whose error is of the order of the square of their step.
    pub const DIFFERENCES: Self = Self(1e-7);
    /// Rounding of one or two operations in single precision.
    pub const SINGLE_BITS: Self = Self(f32::EPSILON as f64);
    /// Rounding of sums of some products in single precision.
    pub const SINGLE: Self = Self(1e-6);
    /// Rounding of a pass through some blocks in single precision.
    pub const SINGLE_PASS: Self = Self(1e-5);
    /// Rounding of a whole model in single precision, in the order of another library.
    pub const LIBRARY: Self = Self(2e-5);
    /// Rounding of sums over a whole model and its arrows in single precision: of what cancels, little is left.
    pub const SINGLE_SUMS: Self = Self(1e-4);
    /// Rounding of what hardly varies before a norm makes much of it, in single precision.
    pub const SINGLE_NORMS: Self = Self(1e-3);

    pub const ALL: [Self; 12] = [
        Self::LAST_BITS,
        Self::DOUBLE,
        Self::DOUBLE_PASS,
        Self::DOUBLE_NORMS,
        Self::DOUBLE_SUMS,
        Self::DIFFERENCES,
        Self::SINGLE_BITS,
        Self::SINGLE,
        Self::SINGLE_PASS,
        Self::LIBRARY,
        Self::SINGLE_SUMS,
        Self::SINGLE_NORMS,
    ];

    /// Half a unit of the last of so many digits behind the point: the rounding of a number that is shown or published.
    pub fn of_digits(digits: i32) -> Self {
        /// Half of 1, and what rounding adds to a number that lies between two.
        const HALF: f64 = 0.5001;
        Self(HALF * 10f64.powi(-digits))
    }

    /// The greatest part of the size of a number by which it may be off.
    pub const fn part(self) -> f64 {
        self.0
    }
}

/// What stands for one number or for several.
pub trait Numbers {
    fn numbers(self) -> Vec<f64>;
}

impl Numbers for f64 {
    fn numbers(self) -> Vec<f64> {
        vec![self]
    }
}

impl Numbers for f32 {
    fn numbers(self) -> Vec<f64> {
        vec![self.into()]
    }
}

impl<T: Copy + Into<f64>> Numbers for &[T] {
    fn numbers(self) -> Vec<f64> {
        self.iter().map(|&x| x.into()).collect()
    }
}

impl<T: Copy + Into<f64>> Numbers for &Vec<T> {
    fn numbers(self) -> Vec<f64> {
        self.as_slice().numbers()
    }
}

impl<T: Copy + Into<f64>> Numbers for Vec<T> {
    fn numbers(self) -> Vec<f64> {
        self.as_slice().numbers()
    }
}

impl<T: Copy + Into<f64>, const COUNT: usize> Numbers for [T; COUNT] {
    fn numbers(self) -> Vec<f64> {
        self.as_slice().numbers()
    }
}

/// Compares numbers with those expected, each to a part of the larger of 1 and its size.
///
/// # Errors
/// The first number that is another, as NaN always is; or that all are so small that 0 would pass for each.
pub fn is_close(found: impl Numbers, expected: impl Numbers, tolerance: Tolerance) -> Result<(), String> {
    /// The largest of the expected numbers is as many times the tolerance: a number that is missing is seen.
    const SEEN: f64 = 10.0;
    let (found, expected) = (found.numbers(), expected.numbers());
    is_each_close(&*found, &*expected, tolerance)?;
    let largest = expected.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    if found == expected || largest > SEEN * tolerance.part() {
        return Ok(());
    }
    Err(format!(
        "to {tolerance:?}, 0 would pass for all of {found:?}: take a finer one, or say beside what they vanish"
    ))
}

/// Compares numbers as [`is_close`] does, which may all be small: parts of what is large as a whole.
///
/// # Errors
/// The first number that is another, as NaN always is.
pub fn is_each_close(found: impl Numbers, expected: impl Numbers, tolerance: Tolerance) -> Result<(), String> {
    each_close(&found.numbers(), &expected.numbers(), tolerance, |expected| expected.abs().max(1.0))
}

/// Compares numbers with those expected, each to a part of a given size: of numbers that cancel, or that are wide.
///
/// # Errors
/// The first number that is another, as NaN always is.
pub fn is_close_beside(
    size: impl Into<f64>,
    found: impl Numbers,
    expected: impl Numbers,
    tolerance: Tolerance,
) -> Result<(), String> {
    let size = size.into();
    each_close(&found.numbers(), &expected.numbers(), tolerance, |_| size)
}

fn each_close(found: &[f64], expected: &[f64], of: Tolerance, size: impl Fn(f64) -> f64) -> Result<(), String> {
    if found.len() != expected.len() {
        return Err(format!("{} numbers instead of {}", found.len(), expected.len()));
    }
    for (i, (&found, &expected)) in found.iter().zip(expected).enumerate() {
        let off = if found == expected { 0.0 } else { (found - expected).abs() };
        // NaN is no pass.
        if off.partial_cmp(&(of.part() * size(expected))).is_none_or(Ordering::is_gt) {
            return Err(format!("number {i} is {found}, not {expected}: off by {off:e}, to {of:?}"));
        }
    }
    Ok(())
}

/// Asserts that numbers are close to those expected: [`is_close`].
#[track_caller]
pub fn assert_close(name: impl Display, found: impl Numbers, expected: impl Numbers, tolerance: Tolerance) {
    is_close(found, expected, tolerance).unwrap_or_else(|why| panic!("{name}: {why}"));
}

/// Asserts that numbers are close to those expected, beside a size: [`is_close_beside`].
#[track_caller]
pub fn assert_close_beside(
    size: impl Into<f64>,
    name: impl Display,
    found: impl Numbers,
    expected: impl Numbers,
    tolerance: Tolerance,
) {
    is_close_beside(size, found, expected, tolerance).unwrap_or_else(|why| panic!("{name}: {why}"));
}
