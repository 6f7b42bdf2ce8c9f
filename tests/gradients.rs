//! Every backward against central differences of its forward, in f64.

use std::sync::Arc;

use attune::numerics::Matrix;
use attune::numerics::attention::{
    AttentionCache, AttentionConfig, AttentionScratch, Rows, attention_backward, attention_forward,
};
use attune::numerics::cross_entropy::{cross_entropy_backward, cross_entropy_forward};
use attune::numerics::linear::{linear_backward, linear_forward};
use attune::numerics::model::{AttentionModel, Batch, Candidates, Workspace, model_backward, model_forward};
use attune::numerics::optimiser::{Optimiser, OptimiserConfig};
use attune::numerics::params::Parameters;
use attune::numerics::positions::Positions;
use attune::numerics::rng::{Generator, Stream, stream};
use attune::numerics::softmax::{softmax_backward, softmax_forward};
use attune::numerics::vectors::dot;
use attune::numerics::word2vec::{Example, Tables, target_backward, target_forward};
use rand::RngExt;

/// Step of the central difference: its error is of the order of the square.
const STEP: f64 = 1e-5;
/// Largest difference, relative to the larger of the gradient and 1.
const TOLERANCE: f64 = 1e-7;

fn random(rng: &mut Generator, count: usize) -> Vec<f64> {
    (0..count).map(|_| rng.random_range(-1.0..1.0)).collect()
}

fn generator() -> Generator {
    stream(11, Stream::ModelInit)
}

/// Compares a gradient with central differences of `loss`, entry by entry.
fn check(name: &str, at: &[f64], gradient: &[f64], loss: impl FnMut(&[f64]) -> f64) -> Result<(), String> {
    let numeric = central_differences(at, loss);
    assert_eq!(gradient.len(), numeric.len(), "{name}: lengths");
    for (i, (&analytic, &numeric)) in gradient.iter().zip(&numeric).enumerate() {
        let scale = numeric.abs().max(1.0);
        if (analytic - numeric).abs() > TOLERANCE * scale {
            return Err(format!("{name}[{i}]: backward says {analytic}, differences say {numeric}"));
        }
    }
    Ok(())
}

fn central_differences(at: &[f64], mut loss: impl FnMut(&[f64]) -> f64) -> Vec<f64> {
    let mut x = at.to_vec();
    (0..x.len())
        .map(|i| {
            x[i] = at[i] + STEP;
            let above = loss(&x);
            x[i] = at[i] - STEP;
            let below = loss(&x);
            x[i] = at[i];
            (above - below) / (2.0 * STEP)
        })
        .collect()
}

#[test]
fn softmax() {
    let mut rng = generator();
    let (scores, d_weights) = (random(&mut rng, 7), random(&mut rng, 7));
    let forward = |scores: &[f64]| {
        let mut weights = vec![0.0; scores.len()];
        softmax_forward(scores, &mut weights);
        weights
    };
    let mut gradient = d_weights.clone();
    softmax_backward(&forward(&scores), &mut gradient);
    assert_eq!(check("d_scores", &scores, &gradient, |s| dot(&forward(s), &d_weights)), Ok(()));
}

#[test]
fn a_row_that_sees_nothing_has_no_weight_and_no_gradient() {
    let mut weights = [1.0; 3];
    softmax_forward(&[f64::NEG_INFINITY; 3], &mut weights);
    assert_eq!(weights, [0.0; 3]);
    let mut d = [1.0, -2.0, 3.0];
    softmax_backward(&weights, &mut d);
    assert_eq!(d, [0.0; 3]);
}

#[test]
fn cross_entropy() {
    let logits = random(&mut generator(), 5);
    let mut gradient = vec![0.0; 5];
    cross_entropy_forward(&logits, 2, &mut gradient);
    cross_entropy_backward(&mut gradient, 2, 1.0);
    assert_eq!(check("d_logits", &logits, &gradient, |z| cross_entropy_forward(z, 2, &mut [0.0; 5])), Ok(()));
}

#[test]
fn skip_gram_pair() {
    for near in [false, true] {
        for score in [-3.0, -0.2, 0.0, 1.7] {
            let gradient = [target_backward(score, near)];
            assert_eq!(check("d_score", &[score], &gradient, |s| target_forward(s[0], near)), Ok(()));
        }
    }
}

/// A step of descent divided by the learning rate is the gradient: of every vector and every context,
/// touched or not.
#[test]
fn word2vec_steps() {
    let (vocabulary, dim) = (6, 5);
    let mut rng = generator();
    let vectors = random(&mut rng, vocabulary * dim);
    let contexts = random(&mut rng, vocabulary * dim);
    let tables = |vectors: &[f64], contexts: &[f64]| {
        let matrix = |entries: &[f64]| Matrix::from_row_major(vocabulary, dim, entries.to_vec());
        Tables::new(&matrix(vectors), &matrix(contexts))
    };
    let cases = [
        ("a pair", Example { inputs: &[2], mean: false, targets: &[0, 4, 2] }),
        ("a pair without noise", Example { inputs: &[2], mean: false, targets: &[0] }),
        ("a window with shared noise", Example { inputs: &[2, 5, 1], mean: false, targets: &[0, 4, 3, 1] }),
        ("noise drawn twice", Example { inputs: &[2, 5], mean: false, targets: &[0, 4, 3, 4] }),
        ("a word in the window twice", Example { inputs: &[2, 5, 2], mean: false, targets: &[0, 4, 3] }),
        ("CBOW", Example { inputs: &[2, 5, 1, 3], mean: true, targets: &[0, 4, 3] }),
        ("CBOW of one word", Example { inputs: &[1], mean: true, targets: &[0, 4] }),
        ("CBOW, a word twice", Example { inputs: &[2, 5, 2], mean: true, targets: &[0, 4, 4] }),
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
        assert_eq!(check(&format!("{name}: v"), &vectors, &d_vectors, of_vectors), Ok(()));
        assert_eq!(check(&format!("{name}: u"), &contexts, &d_contexts, of_contexts), Ok(()));
        let mut wrong = d_contexts;
        wrong[example.targets[0] * dim] += 1e-4;
        assert!(check(name, &contexts, &wrong, of_contexts).is_err(), "{name}: a wrong gradient passed");
    }
}

#[test]
fn linear() {
    let mut rng = generator();
    let (n, inputs, outputs) = (3, 5, 2);
    let x = Matrix::from_row_major(n, inputs, random(&mut rng, n * inputs));
    let w = Matrix::from_row_major(inputs, outputs, random(&mut rng, inputs * outputs));
    let b = random(&mut rng, outputs);
    let d_y = Matrix::from_row_major(n, outputs, random(&mut rng, n * outputs));
    let loss = |x: &Matrix<f64>, w: &Matrix<f64>, b: &[f64]| {
        let mut y = Matrix::zeros(n, outputs);
        linear_forward(x.view(), w.view(), b, y.view_mut());
        dot(y.flat(), d_y.flat())
    };
    let (mut d_x, mut d_w, mut d_b) = (Matrix::zeros(n, inputs), Matrix::zeros(inputs, outputs), vec![0.0; outputs]);
    linear_backward(x.view(), w.view(), d_y.view(), Some(d_x.view_mut()), d_w.view_mut(), &mut d_b);
    let like = |m: &Matrix<f64>, entries: &[f64]| Matrix::from_row_major(m.rows(), m.cols(), entries.to_vec());
    assert_eq!(check("d_x", x.flat(), d_x.flat(), |e| loss(&like(&x, e), &w, &b)), Ok(()));
    assert_eq!(check("d_w", w.flat(), d_w.flat(), |e| loss(&x, &like(&w, e), &b)), Ok(()));
    assert_eq!(check("d_b", &b, &d_b, |e| loss(&x, &w, e)), Ok(()));
}

/// Odd shapes on purpose: nothing divides anything else.
fn config(change: impl FnOnce(&mut AttentionConfig)) -> AttentionConfig {
    let mut config = AttentionConfig {
        width: 5,
        heads: 2,
        key_width: 3,
        value_width: 2,
        bias: true,
        scale: true,
        causal: false,
        residual: true,
        positions: Positions::Learned,
        max_tokens: 6,
    };
    change(&mut config);
    config
}

fn filled(mut parameters: Parameters<f64>, rng: &mut Generator) -> Parameters<f64> {
    let entries = random(rng, parameters.len());
    parameters.flat_mut().copy_from_slice(&entries);
    parameters
}

fn with(parameters: &Parameters<f64>, entries: &[f64]) -> Parameters<f64> {
    let mut parameters = parameters.clone();
    parameters.flat_mut().copy_from_slice(entries);
    parameters
}

fn check_attention(name: &str, config: &AttentionConfig) {
    let mut rng = generator();
    let mut rows = Rows::with_capacity(3);
    [4, 1, 3].into_iter().for_each(|tokens| rows.push(tokens));
    let n = rows.total();
    let x = Matrix::from_row_major(n, config.width, random(&mut rng, n * config.width));
    let d_y = Matrix::from_row_major(n, config.width, random(&mut rng, n * config.width));
    let parameters = filled(Parameters::zeros(&config.shapes()), &mut rng);
    let enabled = vec![true; config.heads];
    let forward = |parameters: &Parameters<f64>, x: &Matrix<f64>| {
        let mut cache = AttentionCache::new(config, n, config.max_tokens);
        attention_forward(config, parameters, x.view(), &rows, &enabled, &mut cache);
        cache
    };
    let mut gradient = parameters.zeros_like();
    let mut d_x = Matrix::zeros(n, config.width);
    let cache = forward(&parameters, &x);
    let mut scratch = AttentionScratch::new(config, n, config.max_tokens);
    let (d_y_view, d_x_view) = (d_y.view(), d_x.view_mut());
    attention_backward(config, &parameters, x.view(), &rows, &cache, d_y_view, &mut scratch, &mut gradient, d_x_view);

    let loss = |parameters: &Parameters<f64>, x: &Matrix<f64>| dot(forward(parameters, x).output.flat(), d_y.flat());
    let at_parameters = |entries: &[f64]| loss(&with(&parameters, entries), &x);
    assert_eq!(check(&format!("{name}: parameters"), parameters.flat(), gradient.flat(), at_parameters), Ok(()));
    let at_x = |entries: &[f64]| loss(&parameters, &Matrix::from_row_major(n, config.width, entries.to_vec()));
    assert_eq!(check(&format!("{name}: d_x"), x.flat(), d_x.flat(), at_x), Ok(()));
}

#[test]
fn attention_in_every_form() {
    check_attention("with all", &config(|_| ()));
    check_attention("causal", &config(|c| c.causal = true));
    check_attention("no bias", &config(|c| c.bias = false));
    check_attention("no scale", &config(|c| c.scale = false));
    check_attention("no residual", &config(|c| c.residual = false));
    check_attention("one wide head", &config(|c| (c.heads, c.key_width, c.value_width) = (1, 5, 5)));
    check_attention("three heads", &config(|c| (c.heads, c.key_width, c.value_width) = (3, 1, 4)));
}

const VOCABULARY: usize = 9;

/// A model, its parameters and a batch.
fn whole_model(config: AttentionConfig, batch: Batch) -> (AttentionModel<f64>, Parameters<f64>, Batch) {
    let mut rng = generator();
    let embedding = Matrix::from_row_major(VOCABULARY, config.width, random(&mut rng, VOCABULARY * config.width));
    let model = AttentionModel::new(config, Arc::new(embedding), candidates());
    let parameters = filled(model.zeros(), &mut rng);
    (model, parameters, batch)
}

fn candidates() -> Candidates {
    Candidates::new(VOCABULARY, vec![1, 4, 5, 8])
}

fn masked_batch() -> Batch {
    let mut rng = stream(3, Stream::Masking);
    let mut batch = Batch::default();
    for sentence in [&[0, 1, 2, 4, 3][..], &[8], &[5, 5, 7]] {
        batch.push_masked(sentence, 1, &candidates(), 0.4, &mut rng);
    }
    assert!(batch.words.contains(&None) && batch.targets.len() >= 3);
    batch
}

fn next_word_batch() -> Batch {
    let mut batch = Batch::default();
    for sentence in [&[0, 1, 2, 4, 3][..], &[8, 5]] {
        batch.push_next(sentence, 0, &candidates());
    }
    assert_eq!(batch.targets.len(), 3);
    batch
}

fn model_gradient(model: &AttentionModel<f64>, parameters: &Parameters<f64>, batch: &Batch) -> Parameters<f64> {
    let mut workspace = Workspace::new(model, batch.words.len(), model.config.max_tokens);
    model_forward(model, parameters, batch, &mut workspace);
    model_backward(model, parameters, batch, &mut workspace);
    workspace.gradient
}

fn model_loss(model: &AttentionModel<f64>, parameters: &Parameters<f64>, batch: &Batch) -> f64 {
    model_forward(model, parameters, batch, &mut Workspace::new(model, batch.words.len(), model.config.max_tokens))
}

#[test]
fn the_whole_model() {
    let cases = [
        ("masked word", config(|_| ()), masked_batch()),
        ("masked word, sinusoidal", config(|c| c.positions = Positions::Sinusoidal), masked_batch()),
        ("masked word, no positions", config(|c| c.positions = Positions::None), masked_batch()),
        ("next word", config(|c| c.causal = true), next_word_batch()),
    ];
    for (name, config, batch) in cases {
        let (model, parameters, batch) = whole_model(config, batch);
        let gradient = model_gradient(&model, &parameters, &batch);
        let loss = |entries: &[f64]| model_loss(&model, &with(&parameters, entries), &batch);
        assert_eq!(check(name, parameters.flat(), gradient.flat(), loss), Ok(()));
    }
}

#[test]
fn a_wrong_gradient_is_caught() {
    let (model, parameters, batch) = whole_model(config(|_| ()), masked_batch());
    let loss = |entries: &[f64]| model_loss(&model, &with(&parameters, entries), &batch);
    let gradient = model_gradient(&model, &parameters, &batch);
    // Each tensor in turn: one entry a little off.
    for (spec, _) in parameters.tensors() {
        let mut wrong = gradient.clone();
        wrong.values_of_mut(spec.name)[0] += 1e-4;
        let error = check(spec.name.symbol(), parameters.flat(), wrong.flat(), loss);
        assert!(error.is_err(), "{}: a wrong gradient passed", spec.name.symbol());
    }
}

#[test]
fn descent_lowers_the_loss() {
    let (model, mut parameters, batch) = whole_model(config(|_| ()), masked_batch());
    let before = model_loss(&model, &parameters, &batch);
    let mut adam = Optimiser::new(OptimiserConfig::adam(0.02), &parameters);
    for _ in 0..200 {
        let gradient = model_gradient(&model, &parameters, &batch);
        adam.update(&mut parameters, &gradient);
    }
    let after = model_loss(&model, &parameters, &batch);
    assert!(after < 0.1 * before, "the loss went from {before} to {after}");
}
