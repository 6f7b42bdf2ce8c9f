//! The arrows on the stage lead from the static point to the contextual one, exactly.

use std::sync::Arc;

use attune::numerics::Matrix;
use attune::numerics::attention::HeadMode;
use attune::numerics::block::{BlockConfig, Norm};
use attune::numerics::contributions::{Contributions, Holds};
use attune::numerics::model::activations::{BlockActivations, Interventions};
use attune::numerics::model::{Activations, AttentionModel};
use attune::numerics::params::{Parameters, TensorName};
use attune::numerics::positions::Positions;
use attune::numerics::reference::{feed_forward, norm, sum};
use proptest::prelude::*;

use super::{around, cases, layers, masks};
use crate::common::numerics::{Net, architecture, cast, largest_difference, sentence, words};

const TOKENS: usize = 6;

/// `X`, if there is a residual, and all terms and the bias: what should be `A`, or its sum before a norm.
fn summed(config: &BlockConfig, found: &Contributions<f64>, block: &BlockActivations<f64>) -> Matrix<f64> {
    let mut sums = block.input.clone();
    for query in 0..sums.rows() {
        let sum = sums.row_mut(query);
        if !config.residual {
            sum.fill(0.0);
        }
        let terms = (0..config.attention.heads).flat_map(|head| (0..found.keys()).map(move |key| (head, key)));
        for term in terms.map(|(head, key)| found.term(head, query, key)).chain([&found.bias[..]]) {
            sum.iter_mut().zip(term).for_each(|(sum, x)| *sum += x);
        }
    }
    sums
}

fn forms() -> impl Strategy<Value = (BlockConfig, Vec<HeadMode<f64>>)> {
    let config = layers().prop_flat_map(around);
    (config, masks(TOKENS, TOKENS)).prop_flat_map(|(mut config, mask)| {
        config.attention.mask = mask;
        let mode = prop_oneof![3 => Just(HeadMode::Live), 1 => Just(HeadMode::Off), 1 => Just(HeadMode::Uniform)];
        (Just(config.clone()), proptest::collection::vec(mode, config.attention.heads))
    })
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn they_add_up_where_they_say((config, modes) in forms(), seed: u64) {
        let built = architecture(|a| {
            (a.width, a.positions) = (config.attention.width, Positions::Learned);
            a.blocks = vec![config.clone()];
        });
        let net = Net::new(built, words(), seed);
        let interventions = Interventions { heads: modes.clone(), ..Interventions::default() };
        let shown = Activations::of(&net.model, &net.parameters, &sentence(&[1, 5, 0, 8, 2, 5]), None, &interventions);
        let block = &shown.blocks[0];
        let found = Contributions::of(&config, 0, &net.parameters, block, &modes);

        let sum = summed(&config, &found, block);
        prop_assert!(largest_difference(sum.flat(), block.summed.flat()) < 1e-11);
        prop_assert!(found.error(&config, block) < 1e-11);

        // From the place that `holds` names, the rest of the block leads to its output.
        let p = &net.parameters;
        let normed = |x: &Matrix<f64>, gain: TensorName, bias: TensorName| norm(p, [gain.of_block(0), bias.of_block(0)], config.norm_epsilon, x);
        let output = match found.holds {
            Holds::AtOutput => sum,
            Holds::BeforeNorm => {
                let attended = normed(&sum, TensorName::AttentionNormGain, TensorName::AttentionNormBias);
                if config.feed_forward.is_some() { continue_after(&config, p, attended) } else { attended }
            }
            Holds::BeforeFeedForward => continue_after(&config, p, sum),
        };
        prop_assert!(largest_difference(output.flat(), block.output.flat()) < 1e-9);
        let adds_up = config.residual && config.has_linear_tail();
        prop_assert_eq!(adds_up, config.residual && found.holds == Holds::AtOutput);
    }
}

/// The feed-forward layer and its norm.
fn continue_after(config: &BlockConfig, parameters: &Parameters<f64>, attended: Matrix<f64>) -> Matrix<f64> {
    let ids = [TensorName::ForwardNormGain, TensorName::ForwardNormBias].map(|name| name.of_block(0));
    let normed = |x: &Matrix<f64>| norm(parameters, ids, config.norm_epsilon, x);
    let input = if config.norm == Norm::Pre { normed(&attended) } else { attended.clone() };
    let output = feed_forward(parameters, 0, config.activation, &input);
    let output = if config.residual { sum(&output, &attended) } else { output };
    if config.norm == Norm::Post { normed(&output) } else { output }
}

/// In single precision, which the stage shows, the error is rounding and no more.
#[test]
fn the_error_in_single_precision_is_rounding() {
    let net = Net::new(architecture(|_| ()), words(), 11);
    let blocks = &net.model.architecture.blocks;
    let embedding = Arc::new(net.model.embedding.cast::<f32>());
    let model = AttentionModel::<f32>::new(net.model.architecture.clone(), embedding, words());
    let parameters = cast::<f64, f32>(&net.parameters);
    let shown = Activations::of(&model, &parameters, &sentence(&[1, 5, 0, 8]), None, &Interventions::default());
    let mut found = Contributions::of(&blocks[0], 0, &parameters, &shown.blocks[0], &[]);
    assert!(found.error(&blocks[0], &shown.blocks[0]) < 1e-6);
    found.bias[0] += 1e-3;
    let error = found.error(&blocks[0], &shown.blocks[0]);
    assert!((error - 1e-3).abs() < 1e-5, "a wrong term is an error of its size, not {error}");
}
