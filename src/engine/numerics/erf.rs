//! `erf(x)` for `f32` without branches or calls, so that loops over it become vectors.

use super::exp::exp_f32;

/// Polynomials, the highest power first, of Cephes (Moshier, `ndtrf.c`): `erf(x) = x + x p(x²)` up to 1, ...
const UP_TO_ONE: [f32; 7] =
    [7.853_861e-5, -8.010_194e-4, 5.188_327_6e-3, -2.685_381e-2, 1.128_358_5e-1, -3.761_262_6e-1, 1.283_791_7e-1];
/// ... from there `1 − e^(−x²)/x p(1/x²)`, up to 2 ...
const UP_TO_TWO: [f32; 9] = [
    2.326_82e-2,
    -1.387_039_4e-1,
    3.687_424_7e-1,
    -5.824_733e-1,
    6.210_004_6e-1,
    -4.944_515_3e-1,
    3.404_88e-1,
    -2.741_127e-1,
    5.638_259_4e-1,
];
/// ... and beyond.
const BEYOND: [f32; 8] =
    [-1.047_766_4e1, 1.297_72e1, -7.495_518_7, 2.921_019, -1.015_265_3, 4.218_463_4e-1, -2.820_767_4e-1, 5.641_895e-1];

/// `erf(x)`, within 1e-7.
#[inline(always)]
pub fn erf_f32(x: f32) -> f32 {
    let size = x.abs();
    let inverse = 1.0 / size;
    let square = inverse * inverse;
    let tail = if size < 2.0 { polynomial(&UP_TO_TWO, square) } else { polynomial(&BEYOND, square) };
    let outer = 1.0 - exp_f32(-size * size) * inverse * tail;
    if size < 1.0 { x + x * polynomial(&UP_TO_ONE, x * x) } else { outer.copysign(x) }
}

#[inline(always)]
fn polynomial<const N: usize>(coefficients: &[f32; N], x: f32) -> f32 {
    let mut sum = coefficients[0];
    for coefficient in &coefficients[1..] {
        sum = sum * x + coefficient;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::erf_f32;

    #[test]
    fn agrees_with_the_library_over_the_whole_range() {
        for i in -600_000..=600_000 {
            let x = i as f32 * 2e-5;
            let error = f64::from(erf_f32(x)) - libm::erf(f64::from(x));
            assert!(error.abs() <= 1e-7, "erf({x}) is off by {error:e}");
        }
    }

    #[test]
    fn ends_at_one() {
        assert!(erf_f32(f32::NAN).is_nan());
        assert_eq!((erf_f32(f32::INFINITY), erf_f32(f32::NEG_INFINITY), erf_f32(0.0)), (1.0, -1.0, 0.0));
    }
}
