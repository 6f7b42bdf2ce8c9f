//! The highest of many scores: of a vocabulary's thousands, the few that are listed.

use super::Scalar;

/// Scores that are looked at together, most of them all too low.
const STRETCH: usize = 64;

/// The places of the highest scores, the highest first, and of equal ones the first. NaN counts as the lowest score.
///
/// ```
/// use attune_engine::numerics::highest::highest;
///
/// assert_eq!(highest(&[0.1, 0.7, 0.2, 0.7], 3), [1, 3, 2]);
/// ```
pub fn highest<S: Scalar>(scores: &[S], count: usize) -> Vec<usize> {
    let rank = |score: S| if score.is_nan() { S::NEG_INFINITY } else { score };
    // The lowest of them last.
    let mut found: Vec<usize> = Vec::with_capacity(count + 1);
    for (first, stretch) in (0..).step_by(STRETCH).zip(scores.chunks(STRETCH)) {
        if found.len() == count {
            let Some(&last) = found.last() else { return found };
            let least = rank(scores[last]);
            if !stretch.iter().fold(false, |any, score| any | (*score > least)) {
                continue;
            }
        }
        for (place, &score) in (first..).zip(stretch) {
            let score = rank(score);
            if found.len() < count || found.last().is_some_and(|&last| score > rank(scores[last])) {
                let at = found.partition_point(|&other| rank(scores[other]) >= score);
                found.insert(at, place);
                found.truncate(count);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::numerics::rng::{Stream, stream};

    #[test]
    fn the_highest_are_the_first_of_all_in_order() {
        let mut rng = stream(1, Stream::ModelInit);
        for length in [0, 1, 5, 63, 64, 65, 1000] {
            // Few values, so that many are equal.
            let scores: Vec<f32> = (0..length).map(|_| rng.random_range(0..40) as f32).collect();
            let mut all: Vec<usize> = (0..length).collect();
            all.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
            for count in [0, 1, 5, 70] {
                assert_eq!(highest(&scores, count), all[..count.min(length)], "{count} of {length}");
            }
        }
    }

    #[test]
    fn nan_counts_as_the_lowest_score() {
        const NAN: f32 = f32::NAN;
        assert_eq!(highest(&[NAN, NAN], 2), [0, 1]);
        assert_eq!(highest(&[NAN, NAN, 5.0, 9.0], 3), [3, 2, 0]);
        assert_eq!(highest(&[5.0, NAN, 3.0, 7.0, 1.0], 2), [3, 0]);
        assert_eq!(highest(&[NAN, 1.0, NAN, 2.0, NAN, 3.0, 4.0, 5.0], 5), [7, 6, 5, 3, 1]);
    }
}
