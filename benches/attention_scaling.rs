//! The cost of attention against the length of a sentence: one head, D 64, T from 64 to 4096, the forward pass alone
//! and with the backward pass.
//!
//!     cargo bench --package attune-engine --bench attention_scaling
//!
//! The exponent is the slope of log time against log T; theory predicts 2.

use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::{
    AttentionCache, AttentionConfig, AttentionScratch, BatchRoom, BatchRows, HeadChanges, Tokens, attention_backward,
    attention_forward,
};
use attune_engine::numerics::params::{Learned, Parameters};
use attune_engine::numerics::rng::{Stream, stream};
use rand::RngExt;
use serde_json::json;

mod jobs;

const WIDTH: usize = 64;
const LENGTHS: [usize; 7] = [64, 128, 256, 512, 1024, 2048, 4096];
/// The least length that counts for the exponent; for shorter ones, costs proportional to T show.
const LAW_FROM: usize = 512;

fn main() {
    let arguments = jobs::Arguments::read(5, &[], &[]);
    let config =
        AttentionConfig { output: false, projected: false, scale: true, ..AttentionConfig::parameter_free(WIDTH) };
    let parameters = Parameters::<f32>::zeros(&[]);
    let layer = Learned { config: &config, parameters: &parameters, number: 0 };
    let (mut forward, mut both) = (Vec::new(), Vec::new());
    for tokens in LENGTHS {
        let mut rng = stream(tokens as u64, Stream::Batches);
        let mut random = || Matrix::<f32>::from_fn(tokens, WIDTH, |_, _| rng.random_range(-1.0..1.0));
        let (x, d_mix, rows, room) = (random(), random(), BatchRows::one(tokens), BatchRoom::one(tokens));
        let tokens_in = Tokens::new(x.flat(), &rows);
        let mut cache = AttentionCache::new(&config, room, room);
        let mut scratch = AttentionScratch::new(&config, room, room);
        let mut gradient = parameters.clone();
        let mut d_x = vec![0.0; x.flat().len()];
        let (seconds, ()) = jobs::timed(arguments.repeat, || {
            attention_forward(layer, tokens_in, tokens_in, HeadChanges::NONE, &mut cache);
        });
        forward.push(jobs::median(&seconds));
        let (seconds, ()) = jobs::timed(arguments.repeat, || {
            attention_forward(layer, tokens_in, tokens_in, HeadChanges::NONE, &mut cache);
            attention_backward(
                layer,
                tokens_in,
                tokens_in,
                &mut cache,
                &d_mix,
                &mut scratch,
                &mut gradient,
                &mut d_x,
                None,
            );
        });
        both.push(jobs::median(&seconds));
        let flops = |products: f64| products * 2.0 * (tokens * tokens * WIDTH) as f64;
        let (f, b) = (forward[forward.len() - 1], both[both.len() - 1]);
        println!(
            "T {tokens:>4}: forward {:>10.1} µs, {:>5.1} GFLOP/s; with backward {:>10.1} µs, {:>5.1} GFLOP/s",
            f * 1e6,
            flops(2.0) / f / 1e9,
            b * 1e6,
            flops(6.0) / b / 1e9
        );
    }
    let more = json!({
        "lengths": LENGTHS,
        "forward_seconds": forward,
        "forward_backward_seconds": both,
        "forward_exponent": exponent(&forward),
        "forward_backward_exponent": exponent(&both),
    });
    jobs::report("attention_scaling", 1, &both[both.len() - 1..], more);
}

/// Returns the slope of the least-squares line through (log T, log seconds).
fn exponent(seconds: &[f64]) -> f64 {
    let points = LENGTHS.iter().zip(seconds).filter(|(length, _)| **length >= LAW_FROM);
    let points: Vec<(f64, f64)> = points.map(|(&length, seconds)| ((length as f64).ln(), seconds.ln())).collect();
    let n = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let covariance: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    covariance / points.iter().map(|p| (p.0 - x).powi(2)).sum::<f64>()
}
