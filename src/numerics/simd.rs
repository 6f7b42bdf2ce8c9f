//! Loops for the widest vectors of the processor that the program finds itself on.
//!
//! The program is built for any processor of its family; `vectorized!` compiles a piece of work
//! once for each generation and chooses when it runs. Everything that should profit is inlined
//! into it. Sums run in [`LANES`] partial sums, which is an order that vectors can keep.

use super::Scalar;

/// Partial sums of a reduction, and the entries of a [`Lane`].
pub const LANES: usize = 8;

/// Neighbouring entries of a row that are worked on at once.
pub type Lane<S> = [S; LANES];

/// `n` rounded up to whole lanes.
pub const fn padded(n: usize) -> usize {
    n.next_multiple_of(LANES)
}

/// Runs an expression, compiled for the processor at hand. What it calls in its inner loops must be
/// `#[inline(always)]`: the rest stays as it was compiled for all.
macro_rules! vectorized {
    ($work:expr $(,)?) => {{
        let once = $crate::numerics::simd::Once;
        pulp::Arch::new().dispatch(
            #[inline(always)]
            || {
                let _moved = once;
                $work
            },
        )
    }};
}
pub(crate) use vectorized;

/// A closure that uses it up can be called only once, and is then inlined as it says. Others are
/// called through a shim of the compiler's, which is not.
pub struct Once;

/// Folds the entries lane by lane, then the lanes.
#[inline(always)]
fn fold<S: Scalar>(x: &[S], start: S, op: impl Fn(S, S) -> S) -> S {
    let (lanes, rest) = x.as_chunks::<LANES>();
    let mut folded = [start; LANES];
    for lane in lanes {
        for (folded, &x) in folded.iter_mut().zip(lane) {
            *folded = op(*folded, x);
        }
    }
    for (folded, &x) in folded.iter_mut().zip(rest) {
        *folded = op(*folded, x);
    }
    join(folded, op)
}

#[inline(always)]
fn join<S: Scalar>(x: Lane<S>, op: impl Fn(S, S) -> S) -> S {
    let pairs: [S; LANES / 2] = std::array::from_fn(|i| op(x[i], x[i + LANES / 2]));
    op(op(pairs[0], pairs[2]), op(pairs[1], pairs[3]))
}

/// The largest entry, −∞ if there is none. NaN is passed over.
#[inline(always)]
pub fn max<S: Scalar>(x: &[S]) -> S {
    fold(
        x,
        S::NEG_INFINITY,
        #[inline(always)]
        |a, b| if b > a { b } else { a },
    )
}

#[inline(always)]
pub fn sum<S: Scalar>(x: &[S]) -> S {
    fold(
        x,
        S::zero(),
        #[inline(always)]
        |a, b| a + b,
    )
}

/// `Σ a_i b_i`
#[inline(always)]
pub fn dot<S: Scalar>(a: &[S], b: &[S]) -> S {
    debug_assert_eq!(a.len(), b.len(), "dot: {} and {} entries", a.len(), b.len());
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    let mut sums = [S::zero(); LANES];
    for (a, b) in a.iter().zip(b) {
        for ((sum, &a), &b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    for ((sum, &a), &b) in sums.iter_mut().zip(a_rest).zip(b_rest) {
        *sum += a * b;
    }
    join(
        sums,
        #[inline(always)]
        |a, b| a + b,
    )
}

/// `to_i = f(to_i)`
#[inline(always)]
pub fn map<S: Scalar>(to: &mut [S], f: impl Fn(S) -> S) {
    let (lanes, rest) = to.as_chunks_mut::<LANES>();
    for lane in lanes {
        for to in lane {
            *to = f(*to);
        }
    }
    for to in rest {
        *to = f(*to);
    }
}

/// `to_i = f(to_i, x_i)`
#[inline(always)]
pub fn zip<S: Scalar>(to: &mut [S], x: &[S], f: impl Fn(S, S) -> S) {
    debug_assert_eq!(to.len(), x.len(), "zip: {} and {} entries", to.len(), x.len());
    let (lanes, rest) = to.as_chunks_mut::<LANES>();
    let (x_lanes, x_rest) = x.as_chunks::<LANES>();
    for (to, x) in lanes.iter_mut().zip(x_lanes) {
        for (to, &x) in to.iter_mut().zip(x) {
            *to = f(*to, x);
        }
    }
    for (to, &x) in rest.iter_mut().zip(x_rest) {
        *to = f(*to, x);
    }
}

/// `to += scale · x`
#[inline(always)]
pub fn add_scaled<S: Scalar>(to: &mut [S], scale: S, x: &[S]) {
    zip(
        to,
        x,
        #[inline(always)]
        |to, x| to + scale * x,
    );
}

/// `to += x`
#[inline(always)]
pub fn add<S: Scalar>(to: &mut [S], x: &[S]) {
    zip(
        to,
        x,
        #[inline(always)]
        |to, x| to + x,
    );
}
