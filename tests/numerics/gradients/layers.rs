//! The layers by themselves.

use attune_engine::numerics::Matrix;
use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::feed_forward::{FeedForwardCache, feed_forward_backward, feed_forward_forward};
use attune_engine::numerics::linear::{linear_backward, linear_forward};
use attune_engine::numerics::norm::{NORM_EPSILON, NormCache, NormForm, NormKind, norm_backward, norm_forward};
use attune_engine::numerics::params::{Parameters, TensorName};
use attune_engine::numerics::softmax::{cross_entropy_backward, cross_entropy_forward};
use attune_engine::numerics::softmax::{softmax_backward, softmax_forward};
use attune_engine::numerics::vectors::dot;

use crate::common::close::{Tolerance, assert_close};
use crate::common::numerics::differences::check;
use crate::common::numerics::{filled, generator, random, random_matrix, with};

fn like(m: &Matrix<f64>, entries: &[f64]) -> Matrix<f64> {
    Matrix::from_row_major(m.rows(), m.cols(), entries.to_vec())
}

#[test]
fn softmax() {
    let mut rng = generator(11);
    let forward = |scores: &[f64]| {
        let mut row = scores.to_vec();
        softmax_forward(&mut row);
        row
    };
    // Around whole lanes, where rows end differently.
    for count in [1, 2, 7, 8, 9, 17] {
        let (scores, d_weights) = (random(&mut rng, count), random(&mut rng, count));
        let mut gradient = d_weights.clone();
        softmax_backward(&forward(&scores), &mut gradient);
        check("d_scores", &scores, &gradient, |s| dot(&forward(s), &d_weights));
    }
}

#[test]
fn a_row_that_sees_nothing_has_no_weight_and_no_gradient() {
    let mut weights = [f64::NEG_INFINITY; 3];
    softmax_forward(&mut weights);
    assert_eq!(weights, [0.0; 3]);
    let mut d = [1.0, -2.0, 3.0];
    softmax_backward(&weights, &mut d);
    assert_eq!(d, [0.0; 3]);
}

#[test]
fn cross_entropy() {
    for classes in [1, 5, 11] {
        let logits = random(&mut generator(11), classes);
        for target in 0..classes {
            let mut gradient = logits.clone();
            cross_entropy_forward(&mut gradient, classes, [target].into_iter());
            cross_entropy_backward(&mut gradient, classes, [target].into_iter(), 0.7);
            check("d_logits", &logits, &gradient, |z| {
                0.7 * cross_entropy_forward(&mut z.to_vec(), classes, [target].into_iter())
            });
        }
    }
}

#[test]
fn linear() {
    let mut rng = generator(11);
    for (n, inputs, outputs, bias) in [(3, 5, 2, true), (1, 1, 1, true), (9, 2, 11, false)] {
        let (x, w) = (random_matrix(&mut rng, n, inputs), random_matrix(&mut rng, inputs, outputs));
        let b = random(&mut rng, if bias { outputs } else { 0 });
        let d_y = random(&mut rng, n * outputs);
        let loss = |x: &Matrix<f64>, w: &Matrix<f64>, b: &[f64]| {
            let mut y = vec![f64::NAN; n * outputs];
            linear_forward(x.view(), w.view(), b, &mut y);
            dot(&y, &d_y)
        };
        let (mut d_x, mut d_w, mut d_b) = (vec![0.0; n * inputs], Matrix::zeros(inputs, outputs), vec![0.0; b.len()]);
        linear_backward(x.view(), w.view(), &d_y, &mut d_x, d_w.view_mut(), &mut d_b);
        check("d_x", x.flat(), &d_x, |e| loss(&like(&x, e), &w, &b));
        check("d_w", w.flat(), d_w.flat(), |e| loss(&x, &like(&w, e), &b));
        check("d_b", &b, &d_b, |e| loss(&x, &w, e));
    }
}

#[test]
fn norms() {
    for kind in [NormKind::Layer, NormKind::Rms] {
        for gain_from_one in [false, true] {
            [false, true].into_iter().for_each(|shift| {
                norms_of(NormForm { kind, gain_from_one, shift, epsilon: NORM_EPSILON });
            });
        }
    }
}

fn norms_of(form: NormForm) {
    let mut rng = generator(11);
    for (n, width, epsilon) in [(3, 5, form.epsilon), (1, 2, 0.1), (2, 9, 1e-12)] {
        let (form, shifts) = (NormForm { epsilon, ..form }, if form.shift { width } else { 0 });
        let x = random(&mut rng, n * width);
        let (gain, bias, d_y) = (random(&mut rng, width), random(&mut rng, shifts), random(&mut rng, n * width));
        let forward = |x: &[f64], gain: &[f64], bias: &[f64]| {
            let mut cache = NormCache::new(n, width);
            let mut y = vec![0.0; n * width];
            norm_forward(form, x, [gain, bias], &mut cache, &mut y);
            (dot(&y, &d_y), cache)
        };
        let (_, cache) = forward(&x, &gain, &bias);
        let (mut d, mut d_gain, mut d_bias) = (d_y.clone(), vec![0.0; width], vec![0.0; shifts]);
        norm_backward(form, &gain, &cache, &mut d, [&mut d_gain, &mut d_bias]);
        check("d_x", &x, &d, |e| forward(e, &gain, &bias).0);
        check("d_γ", &gain, &d_gain, |e| forward(&x, e, &bias).0);
        check("d_β", &bias, &d_bias, |e| forward(&x, &gain, e).0);
    }
}

#[test]
fn a_row_without_variance_is_normed_to_its_bias() {
    let mut cache = NormCache::new(1, 3);
    let mut y = [0.0; 3];
    norm_forward(NormForm::LAYER, &[0.7f64; 3], [&[2.0; 3], &[0.1, 0.2, 0.3]], &mut cache, &mut y);
    assert_close("the bias", y, [0.1, 0.2, 0.3], Tolerance::DOUBLE_PASS);
}

#[test]
fn feed_forward() {
    for gated in [false, true] {
        Activation::ALL.into_iter().for_each(|activation| feed_forward_of(activation, gated));
    }
}

fn feed_forward_of(activation: Activation, gated: bool) {
    use TensorName::*;
    let mut rng = generator(11);
    let (n, width, hidden) = (3, 5, 7);
    let shapes = [
        (GateWeights, if gated { width } else { 0 }, hidden),
        (GateBias, if gated { 1 } else { 0 }, hidden),
        (HiddenWeights, width, hidden),
        (HiddenBias, 1, hidden),
        (ForwardWeights, hidden, width),
        (ForwardBias, 1, width),
    ];
    let parameters = Parameters::<f64>::zeros(&shapes.map(|(name, rows, cols)| (name.of_block(0), rows, cols)));
    let parameters = filled(parameters, &mut rng);
    let (x, d_y) = (random_matrix(&mut rng, n, width), random(&mut rng, n * width));
    let forward = |parameters: &Parameters<f64>, x: &Matrix<f64>| {
        let mut cache = FeedForwardCache::new(activation, gated, [n, n], hidden);
        let mut y = vec![0.0; n * width];
        feed_forward_forward(parameters, 0, x.view(), &mut cache, &mut y);
        (dot(&y, &d_y), cache)
    };
    let (_, mut cache) = forward(&parameters, &x);
    let off = cache.hidden.flat().iter().filter(|&&h| h == 0.0).count();
    let has_kink = activation == Activation::Relu;
    assert!(
        !has_kink || (1..n * hidden).contains(&off),
        "{off} hidden units are off: both sides of the kink are looked at"
    );
    let (mut gradient, mut d_x) = (parameters.zeros_like(), vec![0.0; n * width]);
    feed_forward_backward(&parameters, 0, x.view(), &mut cache, &d_y, &mut gradient, &mut d_x);
    check("parameters", parameters.flat(), gradient.flat(), |e| forward(&with(&parameters, e), &x).0);
    check("d_x", x.flat(), &d_x, |e| forward(&parameters, &like(&x, e)).0);
}
