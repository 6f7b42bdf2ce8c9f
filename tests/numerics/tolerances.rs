//! What compares numbers refuses those that are another: whatever is held by a tolerance rests on these.

use crate::common::close::{Tolerance, is_close, is_close_beside, is_each_close};
use crate::common::numerics::differences::compare;
use crate::common::snapshots::differing;

/// Parts of a tolerance: within it, and beyond.
const WITHIN: f64 = 0.5;
const BEYOND: f64 = 2.0;

/// The twin of every tolerance: a number that is farther away is refused, wherever it stands.
#[test]
fn a_number_beyond_the_tolerance_is_refused_wherever_it_stands() {
    let shown = (0..=6).map(Tolerance::of_digits);
    for tolerance in Tolerance::ALL.into_iter().chain(shown) {
        for expected in [[1.0, 0.0, 0.0], [6.0, -1.0, 0.5], [300.0, -2e4, 5.0]] {
            let size = |at: usize| f64::abs(expected[at]).max(1.0);
            for at in 0..expected.len() {
                let off = |share: f64| {
                    let mut found = expected;
                    found[at] += share * tolerance.part() * size(at);
                    let beside = is_close_beside(size(at), found[at], expected[at], tolerance);
                    [beside, is_each_close(found, expected, tolerance)].map(|found| found.is_ok())
                };
                assert_eq!(off(WITHIN), [true; 2], "{tolerance:?}, number {at}");
                for share in [BEYOND, -BEYOND, f64::NAN, f64::INFINITY] {
                    assert_eq!(off(share), [false; 2], "{tolerance:?}, number {at}: {share} times as far passes");
                }
            }
        }
        assert!(is_close([1.0], [1.0, 1.0], tolerance).is_err(), "a number is missing");
        assert!(is_close_beside(f64::NAN, 1.0, 2.0, tolerance).is_err(), "beside no number");
    }
}

/// The twin of every comparison: it refuses a tolerance to which numbers that are missing would pass.
#[test]
fn numbers_that_are_as_small_as_the_tolerance_prove_nothing() {
    for tolerance in Tolerance::ALL {
        let small = [0.5 * tolerance.part(), 0.0];
        assert!(is_close([0.0; 2], small, tolerance).is_err(), "{tolerance:?}: 0 passes for {small:?}");
        assert_eq!(is_close(small, small, tolerance), Ok(()), "{tolerance:?}: equal numbers need no tolerance");
        let large = [20.0 * tolerance.part(), 0.0];
        assert!(is_close(large, large, tolerance).is_ok() && is_close([0.0; 2], large, tolerance).is_err());
    }
}

#[test]
fn a_gradient_that_is_off_is_refused() {
    let numeric = [0.25, -1.0, 300.0];
    assert!(compare("as it is", &numeric, &numeric).is_ok());
    for at in 0..numeric.len() {
        for off in [1e-5 * numeric[at].abs().max(1.0), f64::NAN] {
            let mut wrong = numeric;
            wrong[at] += off;
            assert!(compare("wrong", &wrong, &numeric).is_err(), "entry {at}: {off} passes");
        }
    }
}

/// Another word, another number, a line more and a line less are seen in a kept text.
#[test]
fn a_kept_text_that_is_another_is_refused() {
    let kept = "the loss is 0.250\nafter 12 steps\n";
    assert!(differing(kept, "the loss is 0.251\nafter 12 steps\n").is_empty(), "sums are rounded");
    for other in [
        "the loss is 0.260\nafter 12 steps\n",
        "the loss is 0.250\nafter 13 steps\n",
        "a loss is 0.250\nafter 12 steps\n",
        "the loss is NaN\nafter 12 steps\n",
        "the loss is 0.250\n",
        "the loss is 0.250\nafter 12 steps\nand more\n",
    ] {
        assert!(!differing(kept, other).is_empty(), "{other}");
    }
}
