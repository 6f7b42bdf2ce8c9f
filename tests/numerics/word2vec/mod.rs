//! word2vec: the same seed gives the same vectors, words of one topic come together, and no corpus
//! makes it panic or hang.

mod training;

use attune_engine::numerics::rng::{Stream, stream};
use attune_engine::numerics::vectors::cosine;
use attune_engine::numerics::word2vec::{Lanes, Word2Vec, Word2VecConfig, WordPrediction};
use attune_engine::numerics::{Matrix, Scalar};
use rand::RngExt;

use crate::common::close::{Tolerance, assert_close_beside};

const CLASSIC: WordPrediction = WordPrediction::SkipGram { share_negatives: false };
const SHARED: WordPrediction = WordPrediction::SkipGram { share_negatives: true };
const ALL: [WordPrediction; 3] = [CLASSIC, SHARED, WordPrediction::Cbow];

fn config(architecture: WordPrediction) -> Word2VecConfig {
    Word2VecConfig {
        architecture,
        dim: 10,
        window: 3,
        negatives: 4,
        epochs: 3,
        learning_rate: 0.05,
        subsample: Some(0.05),
    }
}

const TOPICS: usize = 4;
const WORDS_OF_TOPIC: usize = 6;
const VOCABULARY: usize = TOPICS * WORDS_OF_TOPIC;

/// Sentences of 2 to 9 words, each of one topic.
fn corpus(sentences: usize) -> Vec<Vec<usize>> {
    let mut rng = stream(4, Stream::Corpus);
    let sentence = |_| {
        let topic = rng.random_range(0..TOPICS);
        (0..rng.random_range(2..10)).map(|_| topic * WORDS_OF_TOPIC + rng.random_range(0..WORDS_OF_TOPIC)).collect()
    };
    (0..sentences).map(sentence).collect()
}

fn train<S: Lanes>(threads: usize, config: Word2VecConfig, corpus: &[Vec<usize>], at_once: usize) -> Matrix<S> {
    let mut training = Word2Vec::<S>::on_threads(threads, config, VOCABULARY, corpus, 7);
    while !training.is_done() {
        training.advance(corpus, at_once);
    }
    training.vectors()
}

#[test]
fn the_seed_decides_and_the_size_of_the_pieces_does_not() {
    let corpus = corpus(200);
    for architecture in ALL {
        for threads in [1, 3] {
            let run = |at_once| train::<f32>(threads, config(architecture), &corpus, at_once);
            let whole = run(usize::MAX);
            assert!(whole == run(1) && whole == run(7), "{architecture:?} on {threads} threads");
            let mut other = Word2Vec::<f32>::on_threads(threads, config(architecture), VOCABULARY, &corpus, 8);
            other.advance(&corpus, usize::MAX);
            assert!(whole != other.vectors(), "another seed gives other vectors");
        }
    }
}

/// The fast arithmetic of single precision against the plain one of double.
#[test]
fn both_precisions_learn_the_same() {
    let corpus = corpus(200);
    for architecture in ALL {
        let single = train::<f32>(1, config(architecture), &corpus, 50).cast::<f64>();
        let double = train::<f64>(1, config(architecture), &corpus, 50);
        let largest = double.flat().iter().fold(0.0, |most: f64, x| most.max(Scalar::abs(*x)));
        assert!(largest > 0.1, "{architecture:?}: {largest}");
        assert_close_beside(largest, format!("{architecture:?}"), single.flat(), double.flat(), Tolerance::SINGLE_SUMS);
    }
}

/// Mean cosine of words of one topic, less that of words of different topics.
fn topic_margin(vectors: &Matrix<f32>) -> f32 {
    let mut means = [(0.0, 0); 2];
    for a in 0..VOCABULARY {
        for b in 0..a {
            let mean = &mut means[usize::from(a / WORDS_OF_TOPIC == b / WORDS_OF_TOPIC)];
            mean.0 += cosine(vectors.row(a), vectors.row(b));
            mean.1 += 1;
        }
    }
    let [different, same] = means.map(|(sum, count)| sum / count as f32);
    same - different
}

#[test]
fn words_of_one_topic_come_together() {
    let corpus = corpus(2000);
    for architecture in ALL {
        for threads in [1, 2] {
            let config = Word2VecConfig { epochs: 10, subsample: None, ..config(architecture) };
            let margin = topic_margin(&train(threads, config, &corpus, 100));
            assert!(margin > 0.5, "{architecture:?} on {threads} threads: {margin}");
        }
    }
}

/// A width of several panels, none of which it fills.
#[test]
fn wide_vectors_learn_too() {
    let config = Word2VecConfig { dim: 205, epochs: 10, subsample: None, ..config(CLASSIC) };
    let margin = topic_margin(&train(1, config, &corpus(1000), 100));
    assert!(margin > 0.5, "{margin}");
}

#[test]
fn every_corpus_has_a_defined_result() {
    let long: Vec<usize> = (0..1_000_000).map(|at| at % 5).collect();
    let cases: [(&str, usize, Vec<Vec<usize>>); 7] = [
        ("nothing at all", 0, vec![]),
        ("no sentences", 5, vec![]),
        ("empty sentences", 5, vec![vec![], vec![]]),
        ("one-word sentences", 5, vec![vec![1], vec![4]]),
        ("one word", 1, vec![vec![0; 30]]),
        ("one word among others that never occur", 5, vec![vec![3, 3]]),
        ("a sentence of a million words", 5, vec![long]),
    ];
    for (name, vocabulary, corpus) in cases {
        for architecture in ALL {
            for threads in [1, 2] {
                let config = Word2VecConfig { epochs: 1, ..config(architecture) };
                let mut training = Word2Vec::<f32>::on_threads(threads, config, vocabulary, &corpus, 1);
                let before = training.vectors();
                training.advance(&corpus, usize::MAX);
                let after = training.vectors();
                assert!(training.is_done() && training.epochs_done() == 1, "{name}");
                assert!((after.rows(), after.cols()) == (vocabulary, 10), "{name}");
                assert!(after.flat().iter().all(|x| x.is_finite()), "{name}");
                let has_pairs = corpus.iter().any(|sentence| sentence.len() > 1);
                assert!(has_pairs || before == after, "{name}: there is nothing to learn from");
            }
        }
    }
}
