//! Every number that a training leaves, against the reference.

use attune_engine::numerics::reference::word2vec::{DrawnWindow, Training};
use attune_engine::numerics::rng::{Stream, stream};
use attune_engine::numerics::word2vec::{LEARNING_RATE_FLOOR, Word2Vec, Word2VecConfig};
use rand::RngExt;

use super::{ALL, config};
use crate::common::close::{Tolerance, assert_close};

const VOCABULARY: usize = 15;
const SEED: u64 = 3;

/// Sentences of up to so many words, of which the first are the most frequent.
fn skewed(sentences: usize, longest: usize) -> Vec<Vec<usize>> {
    let mut rng = stream(6, Stream::Corpus);
    let mut word = || (VOCABULARY as f64 * rng.random::<f64>().powi(3)) as usize;
    // The rarest words first, so that no word stands where its frequency would put it.
    (0..sentences).map(|i| (0..i % (longest + 1)).map(|_| VOCABULARY - 1 - word()).collect()).collect()
}

/// How often what a training must get right has come up.
#[derive(Debug, Default)]
struct Seen {
    left_out_words: usize,
    shrunk_windows: usize,
    windows_cut_at_the_start: usize,
    windows_cut_at_the_end: usize,
    noise_that_is_the_word: usize,
    noise_drawn_twice: usize,
    windows_at_the_floor: usize,
}

impl Seen {
    fn of(config: &Word2VecConfig, words: usize, windows: &[DrawnWindow]) -> Self {
        let floor = config.learning_rate * LEARNING_RATE_FLOOR;
        let count = |is: &dyn Fn(&DrawnWindow) -> bool| windows.iter().filter(|window| is(window)).count();
        let draws = || windows.iter().flat_map(|window| window.noise.iter().map(move |drawn| (window.word, drawn)));
        let twice = |(word, drawn): (usize, &Vec<usize>)| {
            let again = |(i, noise): &(usize, &usize)| **noise != word && drawn[..*i].contains(noise);
            drawn.iter().enumerate().filter(again).count()
        };
        Self {
            // Each word that is kept has a window.
            left_out_words: words - windows.len(),
            shrunk_windows: count(&|window| window.reach < config.window),
            windows_cut_at_the_start: count(&|window| window.middle < window.reach),
            windows_cut_at_the_end: count(&|window| window.middle + window.reach >= window.sentence_length),
            noise_that_is_the_word: draws().map(|(word, drawn)| drawn.iter().filter(|n| **n == word).count()).sum(),
            noise_drawn_twice: draws().map(twice).sum(),
            windows_at_the_floor: count(&|window| window.rate == floor && window.sentence_length > 1),
        }
    }
}

/// After each epoch; answers what has come up in all.
fn check(config: &Word2VecConfig, corpus: &[Vec<usize>]) -> Seen {
    let mut training = Word2Vec::<f64>::new(config.clone(), VOCABULARY, corpus, SEED);
    let mut reference = Training::<f64>::new(config, VOCABULARY, corpus, SEED);
    let mut windows = Vec::new();
    assert_eq!(training.vectors(), *reference.vectors(), "they begin alike");
    for epoch in 1..=config.epochs {
        training.advance(corpus, corpus.len());
        windows.extend(reference.epoch());
        assert_eq!(training.epochs_done(), epoch);
        let (found, expected) = (training.vectors(), reference.vectors());
        let largest = expected.flat().iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        assert!(largest > 0.1, "it has learned nothing: no entry is above {largest}");
        assert_close(format!("{config:?}, epoch {epoch}"), found.flat(), expected.flat(), Tolerance::DOUBLE_PASS);
    }
    Seen::of(config, config.epochs * corpus.iter().map(Vec::len).sum::<usize>(), &windows)
}

#[test]
fn a_training_is_the_reference() {
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
        assert!(check(&config, &corpus).windows_at_the_floor > 0);
    }
}

#[test]
fn the_rate_falls_linearly_to_its_floor() {
    let config = Word2VecConfig { learning_rate: 0.08, ..config(ALL[0]) };
    assert_eq!(LEARNING_RATE_FLOOR, 1e-4);
    for (progress, expected) in [(0.0, 0.08), (0.25, 0.06), (0.5, 0.04), (0.999, 0.00008), (0.99995, 8e-6), (1.0, 8e-6)]
    {
        assert_close(progress, config.rate(progress), expected, Tolerance::LAST_BITS);
    }
}
