//! Softmax over any finite row, and exp's part in it.

use attune_engine::numerics::softmax::softmax_forward;
use attune_engine::numerics::{Scalar, reference};
use proptest::prelude::*;

use super::cases;
use crate::common::close::{Tolerance, assert_close, assert_close_beside};

/// Any finite number, and often −∞ for a masked score.
fn scores_f32() -> impl Strategy<Value = Vec<f32>> {
    let finite = any::<f32>().prop_filter("finite", |x| x.is_finite());
    let score = prop_oneof![4 => finite, 4 => -10f32..10.0, 1 => Just(f32::NEG_INFINITY), 1 => Just(f32::MAX)];
    proptest::collection::vec(score, 1..40)
}

fn check<S: Scalar>(scores: &[S], tolerance: Tolerance) -> Result<(), TestCaseError> {
    let mut weights = scores.to_vec();
    softmax_forward(&mut weights);
    let seen = scores.iter().any(|&s| s != S::NEG_INFINITY);
    for (&weight, &score) in weights.iter().zip(scores) {
        prop_assert!(weight >= S::zero() && weight <= S::one(), "a weight of {weight}");
        prop_assert!(score != S::NEG_INFINITY || weight == S::zero(), "masked, and weighs {weight}");
    }
    let sum: f64 = weights.iter().map(|w| w.to_f64()).sum();
    assert_close("the sum of the weights", sum, f64::from(u8::from(seen)), tolerance);
    Ok(())
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn weights_are_shares_of_one_for_any_scores(scores in scores_f32()) {
        check(&scores, Tolerance::SINGLE_PASS)?;
        let wider: Vec<f64> = scores.iter().map(|&s| f64::from(s)).collect();
        check(&wider, Tolerance::DOUBLE_PASS)?;
    }

    #[test]
    fn the_entries_are_those_of_the_definition(scores in proptest::collection::vec(-30.0..30.0, 1..40)) {
        let expected: Vec<f64> = reference::attention::softmax(&scores);
        let mut found = scores.clone();
        softmax_forward(&mut found);
        let mut single: Vec<f32> = scores.iter().map(|&s| s as f32).collect();
        let exact = reference::attention::softmax(&single.iter().map(|&s| f64::from(s)).collect::<Vec<_>>());
        softmax_forward(&mut single);
        assert_close("in double precision", found, expected, Tolerance::DOUBLE);
        for i in 0..scores.len() {
            // Relative: a small weight is as exact as a score's distance from the highest is.
            let spread = scores.iter().fold(0f64, |most, s| most.max((s - scores[i]).abs()));
            assert_close_beside((4.0 + spread) * exact[i], "in single precision", single[i], exact[i], Tolerance::SINGLE_BITS);
        }
    }

    #[test]
    fn adding_the_same_to_all_scores_changes_nothing(
        scores in proptest::collection::vec(-5.0..5.0, 1..20), shift in -100.0..100.0,
    ) {
        let (mut plain, mut shifted): (Vec<f64>, Vec<f64>) = (scores.clone(), scores.iter().map(|s| s + shift).collect());
        softmax_forward(&mut plain);
        softmax_forward(&mut shifted);
        assert_close("with a shift", shifted, plain, Tolerance::DOUBLE);
    }
}
