//! Heads are columns: folding and unfolding is taking them apart and putting them side by side.

use std::sync::Arc;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::{AttentionConfig, HeadMode};
use attune_engine::numerics::block::BlockConfig;
use attune_engine::numerics::params::{Parameters, TensorName};
use proptest::prelude::*;

use super::{cases, layers, masks, parameters_of, tokens};
use crate::common::close::{Tolerance, assert_close};
use crate::common::numerics::one_block::{Input, forward};
use crate::common::numerics::{generator, random_matrix};

/// One head's part of the weights, for a layer of that head alone.
fn alone(layer: &AttentionConfig, parameters: &Parameters<f64>, head: usize) -> (BlockConfig, Parameters<f64>) {
    use TensorName::*;
    let one = AttentionConfig { heads: 1, bias: false, output: true, ..layer.clone() };
    let config = BlockConfig { residual: false, ..BlockConfig::plain(AttentionConfig { bias: layer.bias, ..one }) };
    let mut of_head = Parameters::zeros(&config.shapes(0));
    let (keys, values) = (layer.key_columns(head), layer.value_columns(head));
    for (names, columns) in
        [([QueryWeights, QueryBias], &keys), ([KeyWeights, KeyBias], &keys), ([ValueWeights, ValueBias], &values)]
    {
        for name in names {
            let Some(spec) = parameters.spec(name) else { continue };
            let whole = Matrix::from_row_major(spec.rows, spec.cols, parameters.values_of(name).to_vec());
            of_head.values_of_mut(name).copy_from_slice(whole.top_columns(spec.rows, columns).flat());
        }
    }
    // The rows of W_O; b_O is nobody's in particular and stays out.
    let rows = values.start * layer.width..values.end * layer.width;
    of_head.values_of_mut(OutputWeights).copy_from_slice(&parameters.values_of(OutputWeights)[rows]);
    (config, of_head)
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn heads_by_themselves_are_the_heads_together(
        (layer, tokens, mask) in (layers(), tokens()).prop_flat_map(|(layer, tokens)| {
            (Just(layer), Just(tokens), masks(tokens, tokens))
        }),
        seed: u64,
    ) {
        let layer = AttentionConfig { projected: true, output: true, mask, ..layer };
        let config = BlockConfig { residual: false, ..BlockConfig::plain(layer.clone()) };
        let parameters = parameters_of(&config, seed);
        let x = random_matrix(&mut generator(seed), tokens, layer.width);
        let together = forward(&config, &parameters, &Input::one(x.clone()), &[]);
        let mut sum = Matrix::<f64>::zeros(tokens, layer.width);
        let bias = parameters.values_of(TensorName::OutputBias);
        (0..tokens).for_each(|i| sum.row_mut(i).iter_mut().zip(bias).for_each(|(to, b)| *to = *b));
        for head in 0..layer.heads {
            let (config, parameters) = alone(&layer, &parameters, head);
            let found = forward(&config, &parameters, &Input::one(x.clone()), &[]);
            let folded = together.attention.mix.top_columns(tokens, &layer.value_columns(head));
            assert_close("the mix", found.attention.mix.flat(), folded.flat(), Tolerance::DOUBLE_PASS);
            let (_, weights) = found.attention.scores_and_weights(0, tokens, tokens);
            let (_, folded) = together.attention.scores_and_weights(head, tokens, tokens);
            assert_close("the weights", weights.flat(), folded.flat(), Tolerance::DOUBLE_PASS);
            sum.flat_mut().iter_mut().zip(found.tail.output().flat()).for_each(|(to, x)| *to += x);
        }
        assert_close("the sum", sum.flat(), together.tail.output().flat(), Tolerance::DOUBLE_NORMS);
    }

    /// Folding gives each head its columns, and unfolding puts them back: heads that pass on what they
    /// were given pass on everything.
    #[test]
    fn unfolded_is_what_was_folded(heads in 1..6usize, width_of_head in 1..12usize, tokens in tokens(), seed: u64) {
        let width = heads * width_of_head;
        let (key_width, value_width) = (width_of_head, width_of_head);
        let layer = AttentionConfig { heads, key_width, value_width, ..AttentionConfig::parameter_free(width) };
        let config = BlockConfig { residual: false, ..BlockConfig::plain(layer) };
        let identity = Arc::new(Matrix::from_fn(tokens, tokens, |i, j| if i == j { 1.0 } else { 0.0 }));
        let x = random_matrix(&mut generator(seed), tokens, width).cast::<f32>();
        let modes = vec![HeadMode::Frozen(Some(identity)); heads];
        let found = forward(&config, &Parameters::zeros(&[]), &Input::one(x.clone()), &modes);
        let bits = |m: &Matrix<f32>| m.flat().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(&found.attention.mix), bits(&x));
        prop_assert_eq!(bits(found.tail.output()), bits(&x));
    }
}
