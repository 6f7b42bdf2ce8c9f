//! What compares numbers refuses those that are another: whatever is held by a tolerance rests on these.

use attune_engine::panics;

use crate::common::numerics::differences::compare;
use crate::common::numerics::{is_close, largest_difference};
use crate::common::snapshots::differing;

/// Those in use, and shares of each that are within it and beyond.
const TOLERANCES: [f64; 6] = [1e-13, 1e-10, 1e-9, 1e-7, 2e-5, 1e-4];
const WITHIN: f64 = 0.5;
const BEYOND: f64 = 2.0;

#[test]
fn a_number_beyond_the_tolerance_is_refused_wherever_it_stands() {
    for tolerance in TOLERANCES {
        for expected in [vec![0.0; 3], vec![0.25, -1.0, 0.5], vec![300.0, -2e4, 5.0]] {
            let off = |at: usize, share: f64| {
                let mut found: Vec<f64> = expected.clone();
                found[at] += share * tolerance * expected[at].abs().max(1.0);
                found
            };
            for at in 0..expected.len() {
                assert_eq!(is_close("near", &off(at, WITHIN), &expected, tolerance), Ok(()));
                for share in [BEYOND, -BEYOND, f64::NAN, f64::INFINITY] {
                    let refused = is_close("far", &off(at, share), &expected, tolerance);
                    assert!(refused.is_err(), "{tolerance}, entry {at}: {share} times the tolerance passes");
                }
            }
        }
        assert!(panics::quietly(|| is_close("short", &[0.0], &[0.0, 0.0], tolerance)).is_err(), "an entry is missing");
    }
}

#[test]
fn the_largest_difference_is_that_of_any_entry() {
    let expected = [0.25, -1.0, 300.0];
    assert_eq!(largest_difference(&expected, &expected), 0.0);
    for at in 0..expected.len() {
        for off in [1e-12, -1.0] {
            let mut found = expected;
            found[at] += off;
            let difference = largest_difference(&found, &expected);
            assert!(
                (difference - f64::abs(off)).abs() < 1e-13 * expected[at].abs().max(1.0),
                "{difference}, not {off}"
            );
        }
        let mut found = expected;
        found[at] = f64::NAN;
        assert_eq!(largest_difference(&found, &expected), f64::INFINITY, "NaN is far from every number");
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
