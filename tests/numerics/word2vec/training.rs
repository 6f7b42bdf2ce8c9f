//! Every number that a training leaves, against the plain one.

use attune::numerics::Scalar;
use attune::numerics::rng::{Stream, stream};
use attune::numerics::word2vec::{LEARNING_RATE_FLOOR, Word2Vec, Word2VecConfig};
use rand::RngExt;

use super::plain::{Plain, Seen};
use super::{ALL, config};

const VOCABULARY: usize = 15;
const SEED: u64 = 3;

/// Sentences of up to so many words, of which the first are the most frequent.
fn skewed(sentences: usize, longest: usize) -> Vec<Vec<usize>> {
    let mut rng = stream(6, Stream::Corpus);
    let mut word = || (VOCABULARY as f64 * rng.random::<f64>().powi(3)) as usize;
    // The rarest words first, so that no word stands where its frequency would put it.
    (0..sentences).map(|i| (0..i % (longest + 1)).map(|_| VOCABULARY - 1 - word()).collect()).collect()
}

/// After each epoch; answers what has come up.
fn check(config: &Word2VecConfig, corpus: &[Vec<usize>]) -> Seen {
    let mut training = Word2Vec::<f64>::new(config.clone(), VOCABULARY, corpus, SEED);
    let mut plain = Plain::new(config, VOCABULARY, corpus, SEED);
    assert_eq!(training.vectors(), plain.vectors(), "they begin alike");
    for epoch in 1..=config.epochs {
        training.advance(corpus, corpus.len());
        plain.epoch();
        assert_eq!(training.epochs_done(), epoch);
        let (found, expected) = (training.vectors(), plain.vectors());
        let largest = expected.flat().iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        assert!(largest > 0.1, "it has learned nothing: no entry is above {largest}");
        for (i, (found, expected)) in found.flat().iter().zip(expected.flat()).enumerate() {
            let error = Scalar::abs(found - expected);
            assert!(error < 1e-12, "{config:?}, epoch {epoch}: entry {i} is {found}, not {expected}");
        }
    }
    plain.seen
}

#[test]
fn a_training_is_the_plain_one() {
    let corpus = skewed(400, 9);
    for architecture in ALL {
        // A part of a vector of the processor, and several with a part.
        for dim in [5, 37] {
            for subsample in [None, Some(0.05)] {
                let config = Word2VecConfig { dim, subsample, epochs: 2, learning_rate: 0.2, ..config(architecture) };
                let seen = check(&config, &corpus);
                assert!(seen.shrunk_windows > 100, "{seen:?}");
                assert!(seen.windows_cut_at_the_start > 100 && seen.windows_cut_at_the_end > 100, "{seen:?}");
                assert!(seen.noise_that_is_the_word > 100 && seen.noise_drawn_twice > 100, "{seen:?}");
                assert_eq!(seen.left_out_words > 100, subsample.is_some(), "{seen:?}");
            }
        }
    }
}

#[test]
fn the_rate_stays_at_its_floor() {
    let corpus = skewed(30_000, 3);
    for architecture in ALL {
        let config = Word2VecConfig { dim: 5, epochs: 2, learning_rate: 0.2, ..config(architecture) };
        assert!(check(&config, &corpus).sentences_at_the_floor > 0);
    }
}

#[test]
fn the_rate_falls_linearly_to_its_floor() {
    let config = Word2VecConfig { learning_rate: 0.08, ..config(ALL[0]) };
    assert_eq!(LEARNING_RATE_FLOOR, 1e-4);
    for (progress, expected) in [(0.0, 0.08), (0.25, 0.06), (0.5, 0.04), (0.999, 0.00008), (0.99995, 8e-6), (1.0, 8e-6)]
    {
        let rate = config.rate(progress);
        assert!((rate - expected).abs() < 1e-15, "{rate} at {progress}, not {expected}");
    }
}
