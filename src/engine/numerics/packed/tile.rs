//! The product of a few rows by a panel of packed weights, with all sums in registers.

#[cfg(target_arch = "x86_64")]
use pulp::{
    NullaryFnOnce,
    bytemuck::cast_ref,
    cast, f32x8, f32x16, u32x8, u32x16,
    x86::{V3, V4},
};

use super::halves::{BF16_SHIFT, Bf16, F16, F16_EXPONENTS, F16_SHIFT, F16_SIGN, F16_SIGN_SHIFT, F16_SIZE};
use crate::numerics::Scalar;
use crate::numerics::numbers::{Numbers, PANEL, Product};
use crate::numerics::simd::{LANES, Lane};

/// Number of a panel's rows by which all tiles are multiplied before the next rows. Both stay in the second-level
/// cache.
const DEPTH: usize = 384;

/// The part of a panel by which a tile is multiplied.
#[derive(Clone, Copy)]
struct Part<'a, N> {
    /// Rows of the panel.
    rows: &'a [[N; PANEL]],
    /// The column of `X` by which the first of these rows is multiplied.
    first: usize,
    /// The first column that is computed.
    column: usize,
    /// Address of the numbers to prefetch meanwhile, `step` bytes for each row. Each tile prefetches a share of the
    /// rows that follow, because the processor's own prefetching ends at each page of memory.
    ahead: *const N,
    step: usize,
}

/// Vector registers of a generation of processors.
trait Registers<S>: Copy {
    type Register: Copy;
    /// Number of entries of a register.
    const WIDTH: usize;
    /// Largest number of rows of a tile whose sums, and whose addresses, fit in the registers.
    const ROWS: usize;
    /// Number of columns of a tile.
    const COLUMNS: usize;

    fn splat(self, x: S) -> Self::Register;
    /// Loads a register from a panel's row, starting at `column`.
    fn load(self, row: &[S; PANEL], column: usize) -> Self::Register;
    /// Loads a register like [`Self::load`], from two-byte numbers.
    fn load_bf16(self, row: &[u16; PANEL], column: usize) -> Self::Register;
    fn load_f16(self, row: &[u16; PANEL], column: usize) -> Self::Register;
    fn store(self, x: Self::Register, row: &mut [S; PANEL], column: usize);
    fn mul_add(self, a: Self::Register, b: Self::Register, c: Self::Register) -> Self::Register;
    /// Prefetches the numbers of a panel's row that are read soon, if the processor can. The address may lie beyond the
    /// last panel.
    #[inline(always)]
    fn fetch<N>(self, _: *const N) {}
    /// Computes [`sums`] for as many rows as `x` has.
    fn tile<K: Kind<S>>(self, x: &[&[S]], part: Part<'_, K::Number>, to: &mut [[S; PANEL]]);
}

/// The type of a panel's numbers, which decides how registers are loaded from it.
trait Kind<S> {
    type Number: Copy;
    fn load<V: Registers<S>>(simd: V, row: &[Self::Number; PANEL], column: usize) -> V::Register;
}

struct WholeNumbers;
struct Bf16Numbers;
struct F16Numbers;

impl<S: Scalar> Kind<S> for WholeNumbers {
    type Number = S;

    #[inline(always)]
    fn load<V: Registers<S>>(simd: V, row: &[S; PANEL], column: usize) -> V::Register {
        simd.load(row, column)
    }
}

impl<S: Scalar> Kind<S> for Bf16Numbers {
    type Number = u16;

    #[inline(always)]
    fn load<V: Registers<S>>(simd: V, row: &[u16; PANEL], column: usize) -> V::Register {
        simd.load_bf16(row, column)
    }
}

impl<S: Scalar> Kind<S> for F16Numbers {
    type Number = u16;

    #[inline(always)]
    fn load<V: Registers<S>>(simd: V, row: &[u16; PANEL], column: usize) -> V::Register {
        simd.load_f16(row, column)
    }
}

/// Adds the product of a tile of `R` rows of `X` and `C` registers of a panel's columns to `to`.
#[inline(always)]
fn sums<S: Scalar, V: Registers<S>, K: Kind<S>, const R: usize, const C: usize>(
    simd: V,
    x: &[&[S]],
    Part { rows, first, column, mut ahead, step }: Part<'_, K::Number>,
    to: &mut [[S; PANEL]],
) {
    // With arrays of known lengths, the sums stay in registers and not in memory.
    let to = to.first_chunk_mut::<R>().expect("a row of sums for each of X");
    let mut sums: [[V::Register; C]; R] = std::array::from_fn(
        #[inline(always)]
        |row| {
            std::array::from_fn(
                #[inline(always)]
                |c| simd.load(&to[row], column + c * V::WIDTH),
            )
        },
    );
    // The slices have one length, so that no index needs a check.
    let x: [&[S]; R] = std::array::from_fn(
        #[inline(always)]
        |row| &x[row][first..][..rows.len()],
    );
    for k in 0..rows.len() {
        let w = &rows[k];
        simd.fetch(ahead);
        ahead = ahead.wrapping_byte_add(step);
        let mut weights = [simd.splat(S::zero()); C];
        for (c, weights) in weights.iter_mut().enumerate() {
            *weights = K::load(simd, w, column + c * V::WIDTH);
        }
        for (sums, x) in sums.iter_mut().zip(&x) {
            let x = simd.splat(x[k]);
            for (sum, &weights) in sums.iter_mut().zip(&weights) {
                *sum = simd.mul_add(x, weights, *sum);
            }
        }
    }
    for (sums, to) in sums.into_iter().zip(to) {
        for (c, sum) in sums.into_iter().enumerate() {
            simd.store(sum, to, column + c * V::WIDTH);
        }
    }
}

/// Implements [`Registers::tile`] for each number of rows, with the given number of registers of columns.
macro_rules! tile {
    ($scalar:ty, $registers:literal: $($rows:literal)+) => {
        #[inline(always)]
        fn tile<K: Kind<$scalar>>(self, x: &[&[$scalar]], part: Part<'_, K::Number>, to: &mut [[$scalar; PANEL]]) {
            match x.len() {
                $($rows => sums::<_, _, K, $rows, $registers>(self, x, part, to),)+
                rows => unreachable!("a tile of {rows} rows"),
            }
        }
    };
}

/// Registers as arrays, for the compiler to vectorise.
#[derive(Clone, Copy)]
struct PlainNumbers;

impl<S: Scalar> Registers<S> for PlainNumbers {
    type Register = Lane<S>;
    const WIDTH: usize = LANES;
    const ROWS: usize = 4;
    const COLUMNS: usize = LANES;

    #[inline(always)]
    fn splat(self, x: S) -> Lane<S> {
        [x; LANES]
    }
    #[inline(always)]
    fn load(self, row: &[S; PANEL], column: usize) -> Lane<S> {
        row.as_chunks().0[column / LANES]
    }
    #[inline(always)]
    fn load_bf16(self, row: &[u16; PANEL], column: usize) -> Lane<S> {
        row.as_chunks::<LANES>().0[column / LANES].map(|bits| Bf16(bits).number())
    }
    #[inline(always)]
    fn load_f16(self, row: &[u16; PANEL], column: usize) -> Lane<S> {
        row.as_chunks::<LANES>().0[column / LANES].map(|bits| F16(bits).number())
    }
    #[inline(always)]
    fn store(self, x: Lane<S>, row: &mut [S; PANEL], column: usize) {
        row.as_chunks_mut().0[column / LANES] = x;
    }
    #[inline(always)]
    fn mul_add(self, a: Lane<S>, b: Lane<S>, c: Lane<S>) -> Lane<S> {
        std::array::from_fn(
            #[inline(always)]
            |i| a[i] * b[i] + c[i],
        )
    }
    tile!(S, 1: 1 2 3 4);
}

/// Implements [`Registers`] of `f32` for a generation of x86.
#[cfg(target_arch = "x86_64")]
macro_rules! registers {
    ($simd:ty, $register:ty, $bits:ty, $width:literal, $most:literal, $registers:literal, $splat:ident $mul_add:ident $mul:ident
     $widen:ident $shift:ident $and:ident $or:ident $splat_bits:ident: $($rows:literal)+) => {
        impl Registers<f32> for $simd {
            type Register = $register;
            const WIDTH: usize = $width;
            const ROWS: usize = $most;
            const COLUMNS: usize = $registers * $width;

            #[inline(always)]
            fn splat(self, x: f32) -> $register {
                self.$splat(x)
            }
            #[inline(always)]
            fn load(self, row: &[f32; PANEL], column: usize) -> $register {
                *cast_ref(&row.as_chunks::<$width>().0[column / $width])
            }
            #[inline(always)]
            fn load_bf16(self, row: &[u16; PANEL], column: usize) -> $register {
                let bits: $bits = self.$widen(cast(row.as_chunks::<$width>().0[column / $width]));
                cast(self.$shift::<{ BF16_SHIFT as _ }>(bits))
            }
            #[inline(always)]
            fn load_f16(self, row: &[u16; PANEL], column: usize) -> $register {
                let bits: $bits = self.$widen(cast(row.as_chunks::<$width>().0[column / $width]));
                let size = self.$shift::<{ F16_SHIFT as _ }>(self.$and(bits, self.$splat_bits(F16_SIZE)));
                let size: $bits = cast(self.$mul(cast(size), self.$splat(F16_EXPONENTS)));
                let sign = self.$shift::<{ F16_SIGN_SHIFT as _ }>(self.$and(bits, self.$splat_bits(F16_SIGN)));
                cast(self.$or(size, sign))
            }
            #[inline(always)]
            fn store(self, x: $register, row: &mut [f32; PANEL], column: usize) {
                row.as_chunks_mut::<$width>().0[column / $width] = cast(x);
            }
            #[inline(always)]
            fn mul_add(self, a: $register, b: $register, c: $register) -> $register {
                self.$mul_add(a, b, c)
            }
            #[inline(always)]
            fn fetch<N>(self, from: *const N) {
                use std::arch::x86_64::_MM_HINT_T1;
                self.sse._mm_prefetch::<_MM_HINT_T1>(from.cast());
            }
            tile!(f32, $registers: $($rows)+);
        }
    };
}

#[cfg(target_arch = "x86_64")]
registers!(V3, f32x8, u32x8, 8, 6, 2, splat_f32x8 mul_add_f32x8 mul_f32x8 convert_u16x8_to_u32x8 shl_const_u32x8 and_u32x8 or_u32x8
           splat_u32x8: 1 2 3 4 5 6);
#[cfg(target_arch = "x86_64")]
registers!(V4, f32x16, u32x16, 16, 8, 2, splat_f32x16 mul_add_f32x16 mul_f32x16 convert_u16x16_to_u32x16 shl_const_u32x16
           and_u32x16 or_u32x16 splat_u32x16: 1 2 3 4 5 6 7 8);

impl<S: Scalar> Product<'_, S> {
    #[inline(always)]
    fn run<V: Registers<S>>(self, simd: V) {
        match self.panels {
            Numbers::Whole(panels) => self.run_on::<V, WholeNumbers>(simd, panels),
            Numbers::Bf16(panels) => self.run_on::<V, Bf16Numbers>(simd, panels),
            Numbers::F16(panels) => self.run_on::<V, F16Numbers>(simd, panels),
        }
    }

    #[inline(always)]
    fn run_on<V: Registers<S>, K: Kind<S>>(self, simd: V, panels: &[[K::Number; PANEL]]) {
        let Self { x, stride, first, count, b, mut y, .. } = self;
        let tiles = Tiles { rows: x.len(), tiles: x.len().div_ceil(V::ROWS) };
        let passes = tiles.tiles * (PANEL / V::COLUMNS);
        let step = PANEL * size_of::<K::Number>() / passes.max(1);
        let mut sums = vec![[S::zero(); PANEL]; x.len()];
        for (at, panel) in panels.chunks_exact(stride.max(1)).enumerate() {
            sums.fill([S::zero(); PANEL]);
            for (k, rows) in (0..count).step_by(DEPTH).zip(panel[first..first + count].chunks(DEPTH)) {
                let next = if k + DEPTH < count { at * stride + k + DEPTH } else { (at + 1) * stride };
                let mut ahead: *const K::Number = panels.as_ptr().wrapping_add(next + first).cast();
                for (begin, end) in tiles.all() {
                    for column in (0..PANEL).step_by(V::COLUMNS) {
                        let part = Part { rows, first: k, column, ahead, step };
                        simd.tile::<K>(&x[begin..end], part, &mut sums[begin..end]);
                        ahead = ahead.wrapping_byte_add(rows.len() * step);
                    }
                }
            }
            let column = at * PANEL;
            let mut bias = [S::zero(); PANEL];
            bias.iter_mut().zip(b.get(column..).unwrap_or_default()).for_each(|(to, &b)| *to = b);
            for (y, sums) in y.iter_mut().zip(&sums) {
                let y = &mut y[column..];
                // The length of a whole panel is known to the compiler.
                match y.first_chunk_mut::<PANEL>() {
                    Some(to) => {
                        *to = std::array::from_fn(
                            #[inline(always)]
                            |j| sums[j] + bias[j],
                        )
                    }
                    None => y.iter_mut().zip(sums).zip(&bias).for_each(|((to, &sum), &b)| *to = sum + b),
                }
            }
        }
    }
}

/// Division of rows into tiles of about the same size: 16 rows with at most 12 in a tile are 8 and 8.
#[derive(Clone, Copy)]
struct Tiles {
    rows: usize,
    tiles: usize,
}

impl Tiles {
    /// Returns the first row and the end of each tile.
    #[inline(always)]
    fn all(self) -> impl Iterator<Item = (usize, usize)> {
        let Self { rows, tiles } = self;
        (0..tiles).map(
            #[inline(always)]
            move |i| (i * rows / tiles, (i + 1) * rows / tiles),
        )
    }
}

/// Computes the product on any processor, for any scalar.
pub fn on_plain_numbers<S: Scalar>(product: Product<'_, S>) {
    product.run(PlainNumbers);
}

#[cfg(target_arch = "x86_64")]
macro_rules! compiled_for {
    ($(#[$doc:meta])* $name:ident, $simd:ty) => {
        $(#[$doc])*
        pub fn $name(simd: $simd, product: Product<'_, f32>) {
            struct Run<'a>($simd, Product<'a, f32>);

            impl NullaryFnOnce for Run<'_> {
                type Output = ();

                #[inline(always)]
                fn call(self) {
                    self.1.run(self.0)
                }
            }

            simd.vectorize(Run(simd, product));
        }
    };
}

#[cfg(target_arch = "x86_64")]
compiled_for! {
    /// Computes the product on processors with AVX2 and FMA (since 2013).
    on_avx2, V3
}
#[cfg(target_arch = "x86_64")]
compiled_for! {
    /// Computes the product on processors with AVX-512.
    on_avx512, V4
}
