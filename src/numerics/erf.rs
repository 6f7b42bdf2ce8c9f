//! `erf` and `tanh` for `f32` without branches or calls, so that loops over them become vectors.

use super::exp::exp_f32;

/// Beyond it `erf` is ±1 in `f32`.
const END: f32 = 4.0;
/// Of `x, x³, x⁵, …`, the highest first: the quotient of the two polynomials is `erf` on `[−4, 4]` (Eigen,
/// `generic_fast_erf_float`).
const NUMERATOR: [f32; 7] = [
    -2.726_142_3e-10,
    2.770_681_5e-8,
    -2.101_024e-6,
    -5.692_506_4e-5,
    -7.349_906_3e-4,
    -2.954_599_7e-3,
    -1.609_603_4e-2,
];
/// Of `1, x², x⁴, …`, the highest first.
const DENOMINATOR: [f32; 5] = [-1.456_607_2e-5, -2.133_740_6e-4, -1.682_827e-3, -7.373_329e-3, -1.426_473_9e-2];

/// `erf(x)`, within 1e-7.
#[inline(always)]
pub fn erf_f32(x: f32) -> f32 {
    let x = if x < -END { -END } else { x };
    let x = if x > END { END } else { x };
    let square = x * x;
    let (mut above, mut below) = (NUMERATOR[0], DENOMINATOR[0]);
    for coefficient in &NUMERATOR[1..] {
        above = above * square + coefficient;
    }
    for coefficient in &DENOMINATOR[1..] {
        below = below * square + coefficient;
    }
    x * above / below
}

/// `tanh(x) = 1 − 2 / (1 + e^(2x))`, within 1e-7.
#[inline(always)]
pub fn tanh_f32(x: f32) -> f32 {
    1.0 - 2.0 / (1.0 + exp_f32(x + x))
}

#[cfg(test)]
mod tests {
    use super::{erf_f32, tanh_f32};

    #[test]
    fn agree_with_the_library_over_the_whole_range() {
        for i in -600_000..=600_000 {
            let x = i as f32 * 2e-5;
            let exact = f64::from(x);
            let errors = [f64::from(erf_f32(x)) - libm::erf(exact), f64::from(tanh_f32(x)) - exact.tanh()];
            assert!(errors.iter().all(|error| error.abs() <= 1.2e-7), "{x}: {errors:?}");
        }
    }

    #[test]
    fn end_at_one() {
        for f in [erf_f32, tanh_f32] {
            assert!(f(f32::NAN).is_nan());
            assert!((f(f32::INFINITY) - 1.0).abs() < 1e-7 && (f(f32::NEG_INFINITY) + 1.0).abs() < 1e-7);
        }
    }
}
