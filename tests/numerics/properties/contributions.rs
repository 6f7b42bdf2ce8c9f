//! The arrows on the stage lead from the static point to the contextual one, exactly, in every form of a block.

use attune_engine::numerics::Matrix;
use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::block::{Attends, BlockConfig, Norm};
use attune_engine::numerics::contributions::Contributions;
use attune_engine::numerics::model::Activations;
use attune_engine::numerics::model::activations::{BlockActivations, Interventions};
use attune_engine::numerics::moves::Moves;
use attune_engine::numerics::norm::NormForm;
use attune_engine::numerics::params::TensorName;
use attune_engine::numerics::positions::Positions;
use attune_engine::numerics::projection::LensProjection;
use attune_engine::numerics::projection::{AXES, Projection};
use attune_engine::numerics::vectors::{add_scaled, dot, norm};
use proptest::prelude::*;

use super::{around, cases, layers, masks};
use crate::common::close::{Tolerance, assert_close, assert_close_beside};
use crate::common::numerics::{Net, architecture, sentence, words};

/// Of sums in double precision that lead through norms.
const ROUNDING: Tolerance = Tolerance::DOUBLE_NORMS;
const TOKENS: usize = 6;
const SENTENCE: [usize; TOKENS] = [1, 5, 0, 8, 2, 5];
const SOURCE: [usize; TOKENS] = [7, 7, 3, 0, 4, 6];

/// The parts of a block, what its heads do, and a factor of all its weights.
#[derive(Clone, Debug)]
struct Form {
    config: BlockConfig,
    modes: Vec<HeadMode<f64>>,
    wild: f64,
}

fn forms() -> impl Strategy<Value = Form> {
    let config = layers().prop_flat_map(around);
    let rest = (
        masks(TOKENS, TOKENS),
        any::<bool>(),
        prop_oneof![Just(Activation::Relu), Just(Activation::Gelu), Just(Activation::GeluTanh)],
        prop_oneof![3 => Just(1.0), 1 => Just(20.0), 1 => Just(0.02)],
        prop_oneof![Just(1e-5), Just(1e-12), Just(0.3)],
    );
    (config, rest).prop_flat_map(|(mut config, (mask, crosses, activation, wild, epsilon))| {
        config.attention.mask = mask;
        (config.activation, config.norm_form) = (activation, NormForm::layer(epsilon));
        config.attends = if crosses { Attends::Source } else { Attends::OwnSentence };
        let mode = prop_oneof![
            3 => Just(HeadMode::Live),
            1 => Just(HeadMode::Off),
            1 => Just(HeadMode::Uniform),
            1 => Just(HeadMode::Mean),
            1 => (-2.0..3.0).prop_map(HeadMode::Gain),
        ];
        let modes = proptest::collection::vec(mode, config.attention.heads);
        modes.prop_map(move |modes| Form { config: config.clone(), modes, wild })
    })
}

/// A model of two such blocks, run; the first looks at its own sentence, or is the source's.
fn run(form: &Form, seed: u64) -> (Net, Activations<f64>, Vec<BlockConfig>) {
    let own = BlockConfig { attends: Attends::OwnSentence, ..form.config.clone() };
    let blocks = vec![own, form.config.clone()];
    let built = architecture(|a| {
        (a.width, a.positions) = (form.config.attention.width, Positions::Learned);
        a.blocks.clone_from(&blocks);
        if form.config.attends == Attends::Source {
            a.source_blocks = vec![a.blocks.remove(0)];
        }
    });
    let mut net = Net::new(built, words(), seed);
    net.parameters.flat_mut().iter_mut().for_each(|x| *x *= form.wild);
    let source = sentence(&SOURCE);
    let source = (form.config.attends == Attends::Source).then_some(&source);
    let heads = [&form.modes[..], &form.modes[..]].concat();
    let interventions = Interventions { heads, ..Interventions::default() };
    let shown = Activations::of(&net.model, &net.parameters, &sentence(&SENTENCE), source, &interventions);
    (net, shown, blocks)
}

/// The beginning of a query's arrows.
fn start(config: &BlockConfig, block: &BlockActivations<f64>, query: usize) -> Vec<f64> {
    if config.residual { block.input.row(query).to_vec() } else { vec![0.0; block.input.cols()] }
}

fn pairs(heads: usize, keys: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..heads).flat_map(move |head| (0..keys).map(move |key| (head, key)))
}

/// All arrows of a query, one after the other.
fn end<S: attune_engine::numerics::Scalar>(
    found: &Contributions<S>,
    block: &BlockActivations<S>,
    query: usize,
    start: Vec<S>,
) -> Vec<S> {
    let mut sum = start;
    for (head, key) in pairs(block.heads.len(), found.keys()) {
        add_scaled(&mut sum, S::one(), &found.arrow(block, head, query, key));
    }
    found.parts().iter().for_each(|part| add_scaled(&mut sum, S::one(), &found.part(*part, block, query)));
    sum
}

/// `γ ⊙ (t − mean t) / σ`, with the deviation of `whole`.
fn held(net: &Net, block: usize, name: TensorName, epsilon: f64, whole: &[f64], term: &[f64]) -> Vec<f64> {
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let centre = mean(whole);
    let variance = mean(&whole.iter().map(|x| (x - centre).powi(2)).collect::<Vec<_>>());
    let gain = net.parameters.values_of(name.of_block(block));
    let own = mean(term);
    term.iter().zip(gain).map(|(t, gain)| gain * (t - own) / (variance + epsilon).sqrt()).collect()
}

fn size(row: &[f64]) -> f64 {
    1.0 + norm(row)
}

/// The size of the numbers that a query's arrows are made of: a norm of nearly even numbers makes much of their
/// rounding.
fn size_of(form: &Form, found: &Contributions<f64>, block: &BlockActivations<f64>, query: usize) -> f64 {
    let before = [&block.input, &block.summed].map(|matrix| size(matrix.row(query))).iter().sum::<f64>();
    let gains = if found.norms().is_empty() { 1.0 } else { form.wild.max(1.0).powi(2) };
    size(block.output.row(query)) + gains * found.shrinking(query) * before
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn they_add_up_at_the_output(form in forms(), seed: u64) {
        let (net, shown, blocks) = run(&form, seed);
        for (number, (config, block)) in blocks.iter().zip(&shown.blocks).enumerate() {
            let found = Contributions::of(config, number, &net.parameters, block, &form.modes);
            for query in 0..TOKENS {
                let whole = block.output.row(query);
                let sum = end(&found, block, query, start(config, block, query));
                assert_close_beside(size_of(&form, &found, block, query), "the sum", sum, whole, ROUNDING);

                // Before a norm, the terms as they are.
                let mut summed = start(config, block, query);
                pairs(block.heads.len(), found.keys()).for_each(|(head, key)| add_scaled(&mut summed, 1.0, &found.term(block, head, query, key)));
                add_scaled(&mut summed, 1.0, &found.bias);
                let expected = block.summed.row(query);
                assert_close_beside(size(expected), "before a norm", summed, expected, ROUNDING);
            }
            let largest = (0..TOKENS).map(|query| size_of(&form, &found, block, query)).fold(0.0, f64::max);
            assert_close_beside(largest, "the error", found.error(config, block), 0.0, ROUNDING);
        }
    }

    #[test]
    fn each_goes_through_the_norms_by_itself(form in forms(), seed: u64) {
        let (net, shown, blocks) = run(&form, seed);
        for (number, (config, block)) in blocks.iter().zip(&shown.blocks).enumerate() {
            let found = Contributions::of(config, number, &net.parameters, block, &form.modes);
            let epsilon = config.norm_form.epsilon;
            for (query, (head, key)) in (0..TOKENS).flat_map(|query| pairs(block.heads.len(), found.keys()).map(move |pair| (query, pair))) {
                let mut expected = found.term(block, head, query, key);
                if config.norm == Norm::Post {
                    expected = held(&net, number, TensorName::AttentionNormGain, epsilon, block.summed.row(query), &expected);
                    if config.feed_forward.is_some() {
                        expected = held(&net, number, TensorName::ForwardNormGain, epsilon, block.joined().row(query), &expected);
                    }
                }
                let arrow = found.arrow(block, head, query, key);
                assert_close_beside(size(&expected), "the arrow", arrow, expected, ROUNDING);
            }
        }
    }

    /// In three axes, without the terms in all dimensions: a key's vector is projected once, and weighed.
    #[test]
    fn they_add_up_in_a_picture(form in forms(), seed: u64, axes in proptest::collection::vec(-1.0..1.0, 3 * 40)) {
        let (net, shown, blocks) = run(&form, seed);
        for (number, (config, block)) in blocks.iter().zip(&shown.blocks).enumerate() {
            let found = Contributions::of(config, number, &net.parameters, block, &form.modes);
            let axis = |axis: usize| &axes[axis * block.input.cols()..][..block.input.cols()];
            let seen = |vector: &[f64]| -> [f64; AXES] { std::array::from_fn(|a| dot(vector, axis(a))) };
            let keys: Vec<[f64; AXES]> = (0..block.heads.len() * found.keys()).map(|row| seen(found.carried().row(row))).collect();
            for query in 0..TOKENS {
                let mut tip = seen(&start(config, block, query));
                let mut step = |by: [f64; AXES]| tip.iter_mut().zip(by).for_each(|(tip, by)| *tip += by);
                for (head, key) in pairs(block.heads.len(), found.keys()) {
                    let weight = found.weight(block, head, query, key) * found.shrinking(query);
                    step(keys[head * found.keys() + key].map(|x| weight * x));
                }
                found.parts().iter().for_each(|part| step(seen(&found.part(*part, block, query))));
                let expected = block.output.row(query);
                assert_close_beside(size_of(&form, &found, block, query), "the tip", tip, seen(expected), ROUNDING);
            }
        }
    }

    /// In single precision, which the stage shows: in all dimensions, and in the picture with its lengths and shares.
    #[test]
    fn they_add_up_in_single_precision(form in forms(), seed: u64) {
        const ROUNDING: Tolerance = Tolerance::SINGLE_SUMS;
        // Of shorter vectors, the squares are no numbers any more.
        let least = f32::MIN_POSITIVE.sqrt() / ROUNDING.part() as f32;
        let (net, _, blocks) = run(&form, seed);
        let Net { model, parameters } = net.cast::<f32>();
        let modes: Vec<HeadMode<f32>> = form.modes.iter().map(|mode| match mode {
            HeadMode::Gain(gain) => HeadMode::Gain(*gain as f32),
            HeadMode::Off => HeadMode::Off,
            HeadMode::Uniform => HeadMode::Uniform,
            _ => HeadMode::Live,
        }).collect();
        let interventions = Interventions { heads: [&modes[..], &modes[..]].concat(), ..Interventions::default() };
        let source = sentence(&SOURCE);
        let source = (form.config.attends == Attends::Source).then_some(&source);
        let shown = Activations::of(&model, &parameters, &sentence(&SENTENCE), source, &interventions);
        for (number, (config, block)) in blocks.iter().zip(&shown.blocks).enumerate() {
            let found = Contributions::of(config, number, &parameters, block, &modes);
            let projection = Projection::principal_components(&block.input);
            let moves = Moves::of(&LensProjection::new(&projection, None), block, &found, config.residual);
            let gains = if found.norms().is_empty() { 0.0 } else { form.wild.max(1.0).powi(2) as f32 };
            for query in 0..TOKENS {
                let start = if config.residual { block.input.row(query).to_vec() } else { vec![0.0; block.input.cols()] };
                let whole = block.output.row(query);
                // What the arrows come to can be known only as well as what they are made of.
                let length = norm(whole) + norm(&start);
                // A feed-forward layer without a residual takes away what the heads made, however long it was.
                let is_replaced = !config.residual && config.feed_forward.is_some();
                let length = length + if is_replaced { norm(block.attended().row(query)) } else { 0.0 };
                let sum = end(&found, block, query, start);
                let error: Vec<f32> = sum.iter().zip(whole).map(|(a, b)| a - b).collect();
                assert_close_beside(length, "the sum", norm(&error), 0.0, ROUNDING);

                let mut tip = moves.start(query);
                let arrows = (0..moves.heads()).map(|head| moves.head(head, query)).chain(moves.parts.iter().map(|part| part.arrow(query)));
                arrows.for_each(|arrow| tip = std::array::from_fn(|axis| tip[axis] + arrow[axis]));
                let error: Vec<f32> = tip.iter().zip(moves.end(query)).map(|(a, b)| a - b).collect();
                let length = length + norm(&moves.start(query)) + norm(&moves.end(query));
                assert_close_beside(length, "the tip", norm(&error), 0.0, ROUNDING);

                let shares = moves.word_shares.row(query).iter().sum::<f32>() + moves.parts.iter().map(|part| part.shares[query]).sum::<f32>();
                let sizes = moves.word_lengths.row(query).iter().chain(moves.parts.iter().map(|part| &part.lengths[query])).sum::<f32>();
                if moves.lengths[query] != 0.0 {
                    assert_close_beside(1.0 + sizes / moves.lengths[query], "the shares", shares, 1.0, ROUNDING);
                }
                for key in 0..found.keys() {
                    let terms: Vec<Vec<f32>> = (0..moves.heads()).map(|head| found.arrow(block, head, query, key)).collect();
                    let mut word = vec![0.0; whole.len()];
                    terms.iter().for_each(|term| add_scaled(&mut word, 1.0, term));
                    // Of numbers that are nearly even, a norm leaves rounding.
                    let made_of = |head: usize| {
                        let term = found.term(block, head, query, key);
                        norm(&terms[head]) + gains * found.shrinking(query) * norm(&term) + least
                    };
                    let sizes = (0..terms.len()).map(made_of).sum::<f32>();
                    assert_close_beside(sizes, "a word", moves.word_lengths.get(query, key), norm(&word), ROUNDING);
                    for (head, term) in terms.iter().enumerate() {
                        assert_close_beside(made_of(head), "a term", moves.term_length(head, query, key), norm(term), ROUNDING);
                    }
                }
            }
        }
    }
}

/// In single precision, which the stage shows, the error is rounding and no more.
#[test]
fn the_error_in_single_precision_is_rounding() {
    let Net { model, parameters } = Net::new(architecture(|_| ()), words(), 11).cast::<f32>();
    let blocks = &model.architecture.blocks;
    let shown = Activations::of(&model, &parameters, &sentence(&[1, 5, 0, 8]), None, &Interventions::default());
    let mut found = Contributions::of(&blocks[0], 0, &parameters, &shown.blocks[0], &[]);
    let error = |found: &Contributions<f32>| found.error(&blocks[0], &shown.blocks[0]);
    assert_close_beside(1.0, "rounding", error(&found), 0.0, Tolerance::SINGLE);
    const WRONG: f32 = 1e-3;
    found.bias[0] += WRONG;
    assert_close("a wrong term is an error of its size", error(&found), WRONG, Tolerance::SINGLE_PASS);
}

/// Heads that pull a word apart with all their might leave the little that is left of them.
#[test]
fn the_length_of_a_word_is_that_of_what_its_heads_leave() {
    let Net { model, mut parameters } = Net::new(architecture(|_| ()), words(), 3).cast::<f32>();
    let blocks = &model.architecture.blocks;
    // The second head's values are those of the first, and its rows of W_O their opposites.
    for name in [
        TensorName::QueryWeights,
        TensorName::KeyWeights,
        TensorName::ValueWeights,
        TensorName::QueryBias,
        TensorName::KeyBias,
        TensorName::ValueBias,
    ] {
        let (rows, cols) = blocks[0].shape(name).expect("such a tensor");
        let values = parameters.values_of_mut(name);
        (0..rows).for_each(|row| values.copy_within(row * cols..row * cols + cols / 2, row * cols + cols / 2));
    }
    let output = parameters.values_of_mut(TensorName::OutputWeights);
    let half = output.len() / 2;
    (0..half).for_each(|i| output[half + i] = -output[i]);
    let shown = Activations::of(&model, &parameters, &sentence(&[1, 5, 0]), None, &Interventions::default());
    let found = Contributions::of(&blocks[0], 0, &parameters, &shown.blocks[0], &[]);
    let moves = Moves::of(
        &LensProjection::new(&Projection::principal_components(&Matrix::from_fn(4, 5, |i, j| (i * j) as f32)), None),
        &shown.blocks[0],
        &found,
        true,
    );
    assert!(moves.term_length(0, 0, 1) > 0.1);
    let lengths = moves.word_lengths.flat();
    assert_close_beside(1.0, "what is left", lengths, vec![0.0; lengths.len()], Tolerance::SINGLE);
}
