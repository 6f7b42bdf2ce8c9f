//! The engine is the definition, whatever the shape.

use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::attention::{AttentionConfig, BatchRows, Mask};
use attune_engine::numerics::block::{Attends, BlockConfig, Norm};
use attune_engine::numerics::model::{Architecture, Batch, Candidates, Classes, Pooling, Readout};
use attune_engine::numerics::positions::Positions;
use attune_engine::numerics::{Matrix, Scalar};
use proptest::prelude::*;

use super::{LONGEST, around, cases, layers, masks, parameters_of, tokens};
use crate::common::close::{Tolerance, assert_close};
use crate::common::numerics::one_block::{Input, forward};
use crate::common::numerics::{
    MAX_TOKENS, Net, TILE_TOKENS_MAX, VOCABULARY, architecture, block, cast, generator, layer, random_matrix, sees,
};

#[derive(Clone, Debug)]
struct Case {
    config: BlockConfig,
    queries: usize,
    keys: usize,
    seed: u64,
}

/// Self- and cross-attention of one sentence in any block.
fn one_sentence() -> impl Strategy<Value = Case> {
    (layers(), tokens(), tokens(), any::<bool>()).prop_flat_map(|(layer, queries, other, crosses)| {
        let (keys, attends) = if crosses { (other, Attends::Source) } else { (queries, Attends::OwnSentence) };
        (around(layer), masks(queries, keys), any::<u64>()).prop_map(move |(mut config, mask, seed)| {
            (config.attends, config.attention.mask) = (attends, mask);
            Case { config, queries, keys, seed }
        })
    })
}

impl Case {
    fn vectors(&self) -> (Matrix<f64>, Option<Matrix<f64>>) {
        let (mut rng, width) = (generator(self.seed), self.config.attention.width);
        let x = random_matrix(&mut rng, self.queries, width);
        let z = self.config.attends_to_source().then(|| random_matrix(&mut rng, self.keys, width));
        (x, z)
    }

    fn input<S: Scalar>(&self) -> Input<S> {
        let (x, z) = self.vectors();
        let source = z.map(|z| (z.cast(), BatchRows::one(self.keys)));
        Input { x: x.cast(), rows: BatchRows::one(self.queries), source }
    }

    /// Forward and backward.
    fn check<S: Scalar>(&self, tolerance: Tolerance) -> Result<(), TestCaseError> {
        let parameters = cast::<f64, S>(&parameters_of(&self.config, self.seed));
        let d_y = random_matrix(&mut generator(self.seed ^ 1), self.queries, self.config.attention.width).cast();
        self.input::<S>().is_the_reference(&self.config, &parameters, &d_y, tolerance).map_err(TestCaseError::fail)
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn a_block_is_its_equations(case in one_sentence()) {
        case.check::<f64>(Tolerance::DOUBLE_NORMS)?;
    }

    #[test]
    fn in_single_precision_too(case in one_sentence()) {
        // A norm over few columns divides by what may be small.
        prop_assume!(case.config.norm == Norm::None);
        case.check::<f32>(Tolerance::LIBRARY)?;
    }

    #[test]
    fn weights_are_shares_of_one_and_masked_ones_exactly_none(case in one_sentence()) {
        let Case { config, queries, keys, .. } = &case;
        let (queries, keys, layer) = (*queries, *keys, &config.attention);
        let parameters = cast::<f64, f32>(&parameters_of(config, case.seed));
        let found = forward(config, &parameters, &case.input::<f32>(), &[]);
        for head in 0..layer.heads {
            let (scores, weights) = found.attention.scores_and_weights(head, queries, keys);
            for i in 0..queries {
                let seen = (0..keys).filter(|&j| sees(&layer.mask, i, j)).count();
                let sum: f64 = weights.row(i).iter().map(|&w| f64::from(w)).sum();
                let expected = if seen == 0 { 0.0 } else { 1.0 };
                assert_close(format!("query {i} sees {seen} keys"), sum, expected, Tolerance::SINGLE_PASS);
                for j in (0..keys).filter(|&j| !sees(&layer.mask, i, j)) {
                    prop_assert_eq!(weights.get(i, j).to_bits(), 0, "({}, {}) is masked", i, j);
                    prop_assert_eq!(scores.get(i, j), f32::NEG_INFINITY);
                }
                if seen == 0 {
                    let mix = &found.attention.mix.row(i)[layer.value_columns(head)];
                    prop_assert!(mix.iter().all(|&m| m == 0.0), "query {i} sees nothing, its mix is {mix:?}");
                }
            }
        }
    }
}

/// Any model.
fn models() -> impl Strategy<Value = (Architecture, u64)> {
    let blocks = |count| proptest::collection::vec(around(layer(|l| l.mask = Mask::Causal)), count);
    let poolings = prop_oneof![Just(Pooling::Every), Just(Pooling::Last), Just(Pooling::Mean)];
    let positions = prop_oneof![Just(Positions::None), Just(Positions::Sinusoidal), Just(Positions::Learned)];
    let readouts = prop_oneof![
        Just(Readout::Tied),
        Just(Readout::Linear),
        Just(Readout::Transformed(Activation::GeluTanh)),
        Just(Readout::TransformedLinear(Activation::Gelu)),
    ];
    let norms = any::<[bool; 3]>();
    (blocks(1..4), blocks(0..3), poolings, positions, readouts, norms, any::<u64>()).prop_map(
        |(mut blocks, source_blocks, pooling, positions, readout, norms, seed)| {
            let [embedding_norm, final_norm, train_embedding] = norms;
            if !source_blocks.is_empty() {
                blocks[0].attends = Attends::Source;
            }
            let built = architecture(|a| {
                (a.positions, a.train_embedding, a.pooling, a.readout) = (positions, train_embedding, pooling, readout);
                (a.embedding_norm, a.final_norm) = (embedding_norm, final_norm);
                (a.source_blocks, a.blocks) = (source_blocks, blocks);
            });
            (built, seed)
        },
    )
}

/// Words of a sentence from a number.
fn words(seed: u64, length: usize) -> Vec<usize> {
    (0..length).map(|t| (super::draw(seed, t, length) % VOCABULARY as u64) as usize).collect()
}

/// Sentences of some lengths, and of others where the model has a source; each asks what the model can be asked.
fn batch(architecture: &Architecture, seed: u64, lengths: &[(usize, usize)]) -> Batch {
    let candidates = Candidates::all(VOCABULARY);
    let mut batch = Batch::default();
    for (i, &(length, source)) in lengths.iter().enumerate() {
        let sentence = words(seed.wrapping_add(i as u64), length);
        match (architecture.has_source(), architecture.pooling) {
            (_, Pooling::Last | Pooling::Mean) => batch.push_labelled(&sentence, 0, i % VOCABULARY),
            (true, _) => batch.push_pair(&words(seed, source), &sentence, &candidates),
            _ => batch.push_next(&sentence, architecture.max_tokens - length, &candidates),
        }
        if architecture.has_source() && architecture.pooling != Pooling::Every {
            batch.source.push(words(seed, source).into_iter().map(Some), 0);
        }
    }
    batch
}

/// In both precisions: the loss, and every gradient; `rounding` is the single one's.
fn check_model(
    architecture: Architecture,
    seed: u64,
    lengths: &[(usize, usize)],
    rounding: Tolerance,
) -> Result<(), TestCaseError> {
    let batch = batch(&architecture, seed, lengths);
    // A norm over few columns divides by what may be small.
    let is_smooth = architecture.numbered_blocks().all(|(_, block)| block.norm == Norm::None)
        && architecture.readout.activation().is_none();
    let net = Net::new(architecture, Classes::Words(Candidates::all(VOCABULARY)), seed);
    net.is_the_reference(&batch, Tolerance::DOUBLE_SUMS).map_err(TestCaseError::fail)?;
    if is_smooth {
        net.cast::<f32>().is_the_reference(&batch, rounding).map_err(TestCaseError::fail)?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn a_model_is_its_equations(
        (architecture, seed) in models(),
        lengths in proptest::collection::vec((1..=MAX_TOKENS, 1..=MAX_TOKENS), 1..5),
    ) {
        check_model(architecture, seed, &lengths, Tolerance::LIBRARY)?;
    }
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn a_model_of_long_sentences_is_too(
        (architecture, seed) in models(),
        lengths in proptest::collection::vec((tokens(), tokens()), 1..3),
        long in TILE_TOKENS_MAX + 1..LONGEST,
        mean_of_mixes: bool,
    ) {
        let mut architecture = Architecture { max_tokens: LONGEST, ..architecture };
        if mean_of_mixes {
            architecture.pooling = Pooling::Mean;
            let last = architecture.blocks.last_mut().expect("there is one");
            (last.norm, last.feed_forward) = (Norm::None, None);
            assert!(last.has_linear_tail());
        }
        let lengths: Vec<_> = lengths.into_iter().chain([(long, 3)]).collect();
        // The gradient of a bias is a sum over all rows.
        check_model(architecture, seed, &lengths, Tolerance::SINGLE_SUMS)?;
    }
}

#[test]
fn attention_of_nothing_is_the_definition_in_the_plainest_case() {
    // softmax(X Xᵀ) X on one word is the word.
    let config = block(|b| (b.attention, b.residual) = (AttentionConfig::parameter_free(3), false));
    let input = Input::one(Matrix::from_row_major(1, 3, vec![0.5, -2.0, 7.0]));
    assert_eq!(forward(&config, &parameters_of(&config, 1), &input, &[]).tail.output().flat(), [0.5, -2.0, 7.0]);
}
