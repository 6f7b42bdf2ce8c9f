//! Loops that use the vector instructions of the processor on which the program runs.
//!
//! The program is built for any processor of its family. Loops are compiled again for each newer generation, and the
//! version is chosen at run time, in one of two ways:
//!
//! - [`vectorized!`] for plain loops over long rows, which the compiler vectorises;
//! - [`dispatch`] for short rows, whose loops the compiler does not vectorise: they are written in lanes, with
//!   [`Simd`].
//!
//! Sums are computed as [`LANES`] partial sums, an order that vectors can keep.

#[cfg(target_arch = "x86_64")]
pub(super) mod x86;

use crate::numerics::Scalar;

/// Number of entries of a lane.
pub const LANES: usize = 8;

/// Neighbouring entries of a row that are processed together.
pub type Lane<S> = [S; LANES];

/// Rounds `n` up to whole lanes.
pub const fn padded(n: usize) -> usize {
    n.next_multiple_of(LANES)
}

/// Operations on a lane, for one generation of processors.
pub trait Simd<S: Scalar>: Copy {
    /// A lane in a register.
    type Vector: Copy;

    fn splat(self, x: S) -> Self::Vector;
    fn load(self, x: &Lane<S>) -> Self::Vector;
    fn store(self, x: Self::Vector, to: &mut Lane<S>);
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn div(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn sub(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    fn mul(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// Computes `a · b + c`, rounded once if the processor can.
    fn mul_add(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
    /// Returns the larger of each two entries; that of `b` if one is NaN.
    fn max(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// Computes `e^x` for `x ≤ 0`.
    fn exp(self, x: Self::Vector) -> Self::Vector;
    /// Transposes: entry `i` of row `j` becomes entry `j` of row `i`.
    fn transpose(self, rows: [Self::Vector; LANES]) -> [Self::Vector; LANES];

    /// Returns the sums of eight rows; entry `i` is that of row `i`.
    #[inline(always)]
    fn sums(self, rows: [Self::Vector; LANES]) -> Self::Vector {
        let [a, b, c, d, e, f, g, h] = self.transpose(rows);
        let (ab, cd, ef, gh) = (self.add(a, b), self.add(c, d), self.add(e, f), self.add(g, h));
        self.add(self.add(ab, cd), self.add(ef, gh))
    }

    /// Runs work compiled for this generation but not inlined, so that it does not crowd the code of a hot loop.
    #[inline(never)]
    fn apart<R>(self, work: impl FnOnce() -> R) -> R {
        work()
    }

    /// Prefetches entries that are read soon, if the processor can.
    #[inline(always)]
    fn fetch(self, _: &[S]) {}

    #[inline(always)]
    fn sum(self, x: Self::Vector) -> S {
        let mut lane = [S::zero(); LANES];
        self.store(x, &mut lane);
        join(
            lane,
            #[inline(always)]
            |a, b| a + b,
        )
    }

    #[inline(always)]
    fn largest(self, x: Self::Vector) -> S {
        let mut lane = [S::zero(); LANES];
        self.store(x, &mut lane);
        join(
            lane,
            #[inline(always)]
            |a, b| if b > a { b } else { a },
        )
    }
}

/// Reduces a lane to one number, in the order that vectors use.
#[inline(always)]
fn join<S: Scalar>(x: Lane<S>, op: impl Fn(S, S) -> S) -> S {
    let [a, b, c, d, e, f, g, h] = x;
    op(op(op(a, e), op(c, g)), op(op(b, f), op(d, h)))
}

/// Work that is compiled for every generation of processors.
pub trait Work<S: Scalar> {
    type Output;

    /// Does the work. It must be `#[inline(always)]`, and so must what it calls in its inner loops.
    fn run<V: Simd<S>>(self, simd: V) -> Self::Output;
}

/// Runs work compiled for the processor.
pub fn dispatch<S: Scalar, W: Work<S>>(work: W) -> W::Output {
    S::dispatch(work)
}

/// Runs an expression compiled for the processor. What it calls in its inner loops must be `#[inline(always)]`; other
/// functions keep the version compiled for all processors.
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

/// A value that a closure consumes, so that it can be called only once and is inlined as marked. Other closures are
/// called through a shim of the compiler, which is not inlined.
pub struct Once;

/// Returns the largest entry, or −∞ if there is none. NaN is ignored.
#[inline(always)]
pub fn max<S: Scalar, V: Simd<S>>(simd: V, x: &[S]) -> S {
    let (lanes, rest) = x.as_chunks::<LANES>();
    let mut found = simd.splat(S::NEG_INFINITY);
    for lane in lanes {
        found = simd.max(simd.load(lane), found);
    }
    let found = if lanes.is_empty() { S::NEG_INFINITY } else { simd.largest(found) };
    rest.iter().fold(
        found,
        #[inline(always)]
        |a, &b| if b > a { b } else { a },
    )
}

#[inline(always)]
pub fn sum<S: Scalar, V: Simd<S>>(simd: V, x: &[S]) -> S {
    let (lanes, rest) = x.as_chunks::<LANES>();
    let mut sums = simd.splat(S::zero());
    for lane in lanes {
        sums = simd.add(sums, simd.load(lane));
    }
    rest.iter().fold(
        simd.sum(sums),
        #[inline(always)]
        |sum, &x| sum + x,
    )
}

/// Computes `Σ a_i b_i`.
#[inline(always)]
pub fn dot<S: Scalar, V: Simd<S>>(simd: V, a: &[S], b: &[S]) -> S {
    debug_assert_eq!(a.len(), b.len(), "dot: {} and {} entries", a.len(), b.len());
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = simd.splat(S::zero());
    for (a, b) in a.iter().zip(b) {
        sums = simd.mul_add(simd.load(a), simd.load(b), sums);
    }
    a_rest.iter().zip(b_rest).fold(
        simd.sum(sums),
        #[inline(always)]
        |sum, (&a, &b)| sum + a * b,
    )
}

/// Computes `to_i = f(to_i)`.
#[inline(always)]
pub fn map<S: Scalar, V: Simd<S>>(simd: V, to: &mut [S], f: impl Fn(V::Vector) -> V::Vector) {
    let (lanes, rest) = to.as_chunks_mut::<LANES>();
    for lane in lanes {
        simd.store(f(simd.load(lane)), lane);
    }
    if !rest.is_empty() {
        let mut lane = [S::zero(); LANES];
        lane[..rest.len()].copy_from_slice(rest);
        simd.store(f(simd.load(&lane)), &mut lane);
        rest.copy_from_slice(&lane[..rest.len()]);
    }
}

/// Computes `to_i = f(to_i, x_i)`.
#[inline(always)]
pub fn zip<S: Scalar, V: Simd<S>>(simd: V, to: &mut [S], x: &[S], f: impl Fn(V::Vector, V::Vector) -> V::Vector) {
    debug_assert_eq!(to.len(), x.len(), "zip: {} and {} entries", to.len(), x.len());
    let (lanes, rest) = to.as_chunks_mut::<LANES>();
    let (x_lanes, x_rest) = x.as_chunks::<LANES>();
    for (lane, x) in lanes.iter_mut().zip(x_lanes) {
        simd.store(f(simd.load(lane), simd.load(x)), lane);
    }
    if !rest.is_empty() {
        let mut both = [[S::zero(); LANES]; 2];
        both[0][..rest.len()].copy_from_slice(rest);
        both[1][..rest.len()].copy_from_slice(x_rest);
        let mut lane = [S::zero(); LANES];
        simd.store(f(simd.load(&both[0]), simd.load(&both[1])), &mut lane);
        rest.copy_from_slice(&lane[..rest.len()]);
    }
}

/// Computes `to += scale · x`.
#[inline(always)]
pub fn add_scaled<S: Scalar>(to: &mut [S], scale: S, x: &[S]) {
    debug_assert_eq!(to.len(), x.len(), "add_scaled: {} and {} entries", to.len(), x.len());
    for (to, &x) in to.iter_mut().zip(x) {
        *to += scale * x;
    }
}

/// Computes `to += x`.
#[inline(always)]
pub fn add<S: Scalar>(to: &mut [S], x: &[S]) {
    debug_assert_eq!(to.len(), x.len(), "add: {} and {} entries", to.len(), x.len());
    for (to, &x) in to.iter_mut().zip(x) {
        *to += x;
    }
}

/// Operations without vector instructions.
#[derive(Clone, Copy)]
pub struct Plain;

#[inline(always)]
fn each<S: Scalar>(mut a: Lane<S>, b: Lane<S>, op: impl Fn(S, S) -> S) -> Lane<S> {
    // A loop, because `std::array::from_fn` is not inlined in other crates.
    for (a, b) in a.iter_mut().zip(b) {
        *a = op(*a, b);
    }
    a
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
        // `mul_add` is not used, because it is a function call on processors without the instruction.
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
