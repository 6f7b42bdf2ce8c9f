//! Static embeddings: skip-gram and CBOW with negative sampling.

use attune_engine::numerics::Matrix;
use attune_engine::numerics::reference::word2vec as reference;
use attune_engine::numerics::word2vec::{Tables, WordStep, target_backward, target_forward};

use crate::common::close::{Tolerance, assert_close};
use crate::common::numerics::differences::{central_differences, check, compare};
use crate::common::numerics::{generator, random};

#[test]
fn skip_gram_pair() {
    for near in [false, true] {
        for score in [-3.0, -0.2, 0.0, 1.7] {
            let gradient = [target_backward(score, near)];
            check("d_score", &[score], &gradient, |s| target_forward(s[0], near));
        }
    }
}

/// A step of descent divided by the learning rate is the gradient: of every vector and every context,
/// touched or not.
#[test]
fn word2vec_steps() {
    let (vocabulary, dim) = (6, 5);
    let mut rng = generator(11);
    let vectors = random(&mut rng, vocabulary * dim);
    let contexts = random(&mut rng, vocabulary * dim);
    let tables = |vectors: &[f64], contexts: &[f64]| {
        let matrix = |entries: &[f64]| Matrix::from_row_major(vocabulary, dim, entries.to_vec());
        Tables::new(&matrix(vectors), &matrix(contexts))
    };
    let cases = [
        ("a pair", WordStep { inputs: &[2], mean: false, targets: &[0, 4, 2] }),
        ("a pair without noise", WordStep { inputs: &[2], mean: false, targets: &[0] }),
        ("a window with shared noise", WordStep { inputs: &[2, 5, 1], mean: false, targets: &[0, 4, 3, 1] }),
        ("noise drawn twice", WordStep { inputs: &[2, 5], mean: false, targets: &[0, 4, 3, 4] }),
        ("a word in the window twice", WordStep { inputs: &[2, 5, 2], mean: false, targets: &[0, 4, 3] }),
        ("CBOW", WordStep { inputs: &[2, 5, 1, 3], mean: true, targets: &[0, 4, 3] }),
        ("CBOW of one word", WordStep { inputs: &[1], mean: true, targets: &[0, 4] }),
        ("CBOW, a word twice", WordStep { inputs: &[2, 5, 2], mean: true, targets: &[0, 4, 4] }),
    ];
    // A power of two: multiplying and dividing by it rounds nothing.
    const RATE: f64 = 1.0 / 1024.0;
    let gradient = |before: &[f64], after: Matrix<f64>| -> Vec<f64> {
        before.iter().zip(after.flat()).map(|(before, after)| (before - after) / RATE).collect()
    };
    for (name, example) in cases {
        let mut stepped = tables(&vectors, &contexts);
        stepped.descend(example, RATE);
        let (d_vectors, d_contexts) = (gradient(&vectors, stepped.vectors()), gradient(&contexts, stepped.contexts()));
        let of_vectors = |v: &[f64]| tables(v, &contexts).loss(example);
        let of_contexts = |u: &[f64]| tables(&vectors, u).loss(example);
        let [v, u] = [&vectors, &contexts].map(|x| Matrix::from_row_major(vocabulary, dim, x.clone()));
        let loss = tables(&vectors, &contexts).loss(example);
        assert_close(name, loss, reference::loss(&v, &u, example), Tolerance::DOUBLE);
        // A pair's step takes noise that comes up twice one after the other; no pair here has any.
        let expected = reference::gradient(&v, &u, example);
        assert_close(format!("{name}: v"), &d_vectors, expected.0.flat(), Tolerance::DOUBLE_NORMS);
        assert_close(format!("{name}: u"), &d_contexts, expected.1.flat(), Tolerance::DOUBLE_NORMS);
        check(&format!("{name}: v"), &vectors, &d_vectors, of_vectors);
        check(&format!("{name}: u"), &contexts, &d_contexts, of_contexts);
        let mut wrong = d_contexts;
        wrong[example.targets[0] * dim] += 1e-4;
        let numeric = central_differences(&contexts, of_contexts);
        assert!(compare(name, &wrong, &numeric).is_err(), "{name}: a wrong gradient passed");
    }
}
