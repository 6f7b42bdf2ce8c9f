//! Lanes on any processor, of any scalar.

use super::{LANES, Lane, Simd};
use crate::numerics::Scalar;

/// No vectors that this program knows of.
#[derive(Clone, Copy)]
pub struct Plain;

#[inline(always)]
fn each<S: Scalar>(a: Lane<S>, b: Lane<S>, op: impl Fn(S, S) -> S) -> Lane<S> {
    std::array::from_fn(
        #[inline(always)]
        |i| op(a[i], b[i]),
    )
}

impl<S: Scalar> Simd<S> for Plain {
    type Vector = Lane<S>;

    #[inline(always)]
    fn splat(self, x: S) -> Lane<S> {
        [x; LANES]
    }
    #[inline(always)]
    fn load(self, x: &Lane<S>) -> Lane<S> {
        *x
    }
    #[inline(always)]
    fn store(self, x: Lane<S>, to: &mut Lane<S>) {
        *to = x;
    }
    #[inline(always)]
    fn add(self, a: Lane<S>, b: Lane<S>) -> Lane<S> {
        each(
            a,
            b,
            #[inline(always)]
            |a, b| a + b,
        )
    }
    #[inline(always)]
    fn div(self, a: Lane<S>, b: Lane<S>) -> Lane<S> {
        each(
            a,
            b,
            #[inline(always)]
            |a, b| a / b,
        )
    }
    #[inline(always)]
    fn sub(self, a: Lane<S>, b: Lane<S>) -> Lane<S> {
        each(
            a,
            b,
            #[inline(always)]
            |a, b| a - b,
        )
    }
    #[inline(always)]
    fn mul(self, a: Lane<S>, b: Lane<S>) -> Lane<S> {
        each(
            a,
            b,
            #[inline(always)]
            |a, b| a * b,
        )
    }
    #[inline(always)]
    fn mul_add(self, a: Lane<S>, b: Lane<S>, c: Lane<S>) -> Lane<S> {
        // Not `mul_add`: without the instruction that is a call.
        self.add(self.mul(a, b), c)
    }
    #[inline(always)]
    fn max(self, a: Lane<S>, b: Lane<S>) -> Lane<S> {
        each(
            a,
            b,
            #[inline(always)]
            |a, b| if a > b { a } else { b },
        )
    }
    #[inline(always)]
    fn exp(self, x: Lane<S>) -> Lane<S> {
        x.map(Scalar::exp)
    }
    #[inline(always)]
    fn transpose(self, rows: [Lane<S>; LANES]) -> [Lane<S>; LANES] {
        std::array::from_fn(
            #[inline(always)]
            |j| {
                std::array::from_fn(
                    #[inline(always)]
                    |i| rows[i][j],
                )
            },
        )
    }
}
