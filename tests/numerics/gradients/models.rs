//! Whole models: from the embeddings to the loss.

use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::attention::Mask;
use attune_engine::numerics::attention::distances::{DistanceBuckets, DistanceForm};
use attune_engine::numerics::block::{Attends, BlockConfig, Norm};
use attune_engine::numerics::model::{Architecture, Batch, Candidates, Classes, Pooling, Readout, SourceForm};
use attune_engine::numerics::norm::NormForm;
use attune_engine::numerics::optimiser::{Optimiser, OptimiserConfig};
use attune_engine::numerics::params::TensorName;
use attune_engine::numerics::positions::{PositionRows, Positions};

use crate::common::close::Tolerance;
use crate::common::numerics::differences::{central_differences, check, compare};
use crate::common::numerics::{
    FEED_FORWARD, MAX_TOKENS, NORMS, Net, VOCABULARY, architecture, batches, block, block_forms, layer, with, words,
};

/// The loss by the entries of the parameters.
fn loss_of(net: &Net, batch: &Batch) -> impl Fn(&[f64]) -> f64 {
    move |entries| Net { parameters: with(&net.parameters, entries), ..net.clone() }.loss(batch)
}

/// The gradient of every parameter against the reference, and entries of all tensors against differences.
#[track_caller]
pub fn check_model(architecture: Architecture, classes: Classes, batch: &Batch) {
    check_net(&format!("{architecture:?}"), &Net::new(architecture, classes, 11), batch);
}

#[track_caller]
pub fn check_net(name: &str, net: &Net, batch: &Batch) {
    net.is_the_reference(batch, Tolerance::DOUBLE_PASS).unwrap_or_else(|why| panic!("{name}: {why}"));
    check(name, net.parameters.flat(), net.gradient(batch).flat(), loss_of(net, batch));
}

/// A readout by static vectors, by weights of its own, and behind a layer of its own.
pub const READOUTS: [Readout; 4] = [
    Readout::Tied,
    Readout::Linear,
    Readout::Transformed(Activation::Gelu),
    Readout::TransformedLinear(Activation::Gelu),
];

pub const POSITIONS: [Positions; 4] =
    [Positions::None, Positions::Sinusoidal, Positions::SinusoidalInHalves, Positions::Learned];

/// Readout, trained embeddings and positions: all that stands around the blocks.
fn surroundings(mut check: impl FnMut(Readout, bool, Positions)) {
    for readout in READOUTS {
        for train_embedding in [true, false] {
            POSITIONS.into_iter().for_each(|positions| check(readout, train_embedding, positions));
        }
    }
}

#[test]
fn words_in_every_surrounding() {
    surroundings(|readout, train_embedding, positions| {
        for batch in [batches::masked(), batches::next()] {
            let around = |a: &mut Architecture| {
                (a.readout, a.train_embedding, a.positions) = (readout, train_embedding, positions)
            };
            check_model(architecture(around), words(), &batch);
        }
    });
}

#[test]
fn a_readout_without_bias() {
    for readout in READOUTS {
        for train_embedding in [true, false] {
            let built = architecture(|a| {
                (a.readout, a.train_embedding, a.readout_bias) = (readout, train_embedding, false);
            });
            assert!(built.shapes(3, 3).iter().all(|(id, ..)| id.name != TensorName::LogitBias));
            check_model(built, words(), &batches::next());
        }
    }
}

#[test]
fn sentences_in_every_surrounding_and_block() {
    let batch = batches::labelled();
    for pooling in [Pooling::Last, Pooling::Mean] {
        for form in block_forms(&layer(|l| l.mask = Mask::Causal)) {
            surroundings(|readout, train_embedding, positions| {
                let classes = if readout.is_by_static_vectors() { words() } else { Classes::Labels(3) };
                let built = architecture(|a| {
                    (a.readout, a.train_embedding, a.positions) = (readout, train_embedding, positions);
                    (a.pooling, a.blocks) = (pooling, vec![form.clone()]);
                });
                check_model(built, classes, &batch);
            });
        }
    }
}

/// Norms before and behind all blocks and the sentences of a pair, as the models of the literature have them.
#[test]
fn norms_and_segments_around_the_blocks() {
    let blocks = [
        block(|b| (b.norm, b.norm_form) = (Norm::Post, NormForm::layer(1e-12))),
        block(|b| (b.norm, b.feed_forward, b.activation) = (Norm::Pre, Some(7), Activation::GeluTanh)),
        block(|b| (b.residual, b.feed_forward, b.activation) = (false, Some(4), Activation::Gelu)),
        block(|b| b.norm = Norm::Pre),
    ];
    for pooling in [Pooling::Every, Pooling::Last, Pooling::Mean] {
        let mut batch = if pooling == Pooling::Every { batches::next() } else { batches::labelled() };
        batch.input.segments.iter_mut().enumerate().for_each(|(row, segment)| *segment = row % 2);
        for (form, readout) in blocks.iter().zip(READOUTS) {
            for (embedding_norm, final_norm) in [(true, false), (false, true), (true, true)] {
                for (train_embedding, segments) in [(true, Some(2)), (false, Some(2)), (true, None)] {
                    let built = architecture(|a| {
                        (a.embedding_norm, a.final_norm, a.norm_form) =
                            (embedding_norm, final_norm, NormForm::layer(1e-3));
                        (a.train_embedding, a.segments) = (train_embedding, segments);
                        (a.pooling, a.readout, a.blocks) = (pooling, readout, vec![form.clone()]);
                    });
                    check_model(built, words(), &batch);
                }
            }
        }
    }
}

/// Scaled embeddings and bounded logits, as Gemma has them.
#[test]
fn scales_and_bounds_at_the_ends() {
    for (train_embedding, embedding_norm) in [(true, false), (false, true)] {
        for readout in READOUTS {
            for norm_form in [NormForm::rms(1e-3), NormForm { gain_from_one: true, ..NormForm::layer(1e-3) }] {
                let built = architecture(|a| {
                    (a.embedding_scale, a.logit_cap, a.readout) = (Some(2.5), Some(0.7), readout);
                    (a.train_embedding, a.embedding_norm, a.final_norm) = (train_embedding, embedding_norm, true);
                    a.norm_form = norm_form;
                });
                check_model(built, words(), &batches::next());
            }
        }
    }
}

#[test]
fn two_and_three_blocks() {
    for pooling in [Pooling::Every, Pooling::Last, Pooling::Mean] {
        for form in block_forms(&layer(|l| l.mask = Mask::Causal)) {
            // Blocks that differ, so that no tensor is taken for another block's.
            let other = block(|b| (b.attention.heads, b.norm, b.feed_forward) = (1, Norm::Post, Some(3)));
            for blocks in [vec![form.clone(), form.clone()], vec![form.clone(), other.clone(), form]] {
                let batch = if pooling == Pooling::Every { batches::next() } else { batches::labelled() };
                check_model(architecture(|a| (a.pooling, a.blocks) = (pooling, blocks)), words(), &batch);
            }
        }
    }
}

/// An encoder, and a decoder that looks back at itself and then at the encoder.
fn encoder_decoder(norm: Norm, feed_forward: Option<usize>) -> Architecture {
    let form = |change: fn(&mut BlockConfig)| {
        let mut form = block(|b| (b.norm, b.feed_forward) = (norm, feed_forward));
        change(&mut form);
        form
    };
    let crossing = |b: &mut BlockConfig| {
        b.attends = Attends::Source;
        b.attention = layer(|l| (l.heads, l.key_width) = (1, 4));
    };
    architecture(|a| {
        a.source_blocks = vec![form(|_| ()), form(|b| b.attention.heads = 3)];
        a.blocks = vec![form(|b| b.attention.mask = Mask::Causal), form(crossing)];
        a.train_embedding = true;
    })
}

#[test]
fn pairs_of_sentences() {
    for norm in NORMS {
        for feed_forward in FEED_FORWARD {
            for readout in [Readout::Tied, Readout::Linear] {
                let built = Architecture { readout, ..encoder_decoder(norm, feed_forward) };
                check_model(built, words(), &batches::pairs());
            }
            let normed = encoder_decoder(norm, feed_forward);
            check_model(Architecture { embedding_norm: true, final_norm: true, ..normed }, words(), &batches::pairs());
        }
    }
}

/// The parts of the source's own, each alone and all together, in towers of other depths.
#[test]
fn towers_of_their_own_form() {
    let parts = [
        SourceForm { positions: true, ..SourceForm::default() },
        SourceForm { embedding_norm: true, ..SourceForm::default() },
        SourceForm { final_norm: true, ..SourceForm::default() },
        SourceForm { positions: true, embedding_norm: true, final_norm: true },
    ];
    for norm in NORMS {
        for source in parts {
            let mut built = encoder_decoder(norm, Some(3));
            built.source_blocks.truncate(1);
            built.blocks = [&built.blocks[..], &built.blocks[..]].concat();
            built.position_rows = PositionRows { first: 2, filler: None };
            built.embedding_scale = Some(1.7);
            check_model(Architecture { source, embedding_norm: true, ..built }, words(), &batches::pairs());
        }
    }
}

/// Each tower has one table of distances, which all of its blocks of self-attention read.
#[test]
fn a_table_of_distances_for_each_tower() {
    let form = |table, both_directions| {
        let buckets = DistanceBuckets { count: 6, most: 5, both_directions };
        Some(DistanceForm { tokens: MAX_TOKENS, buckets: Some(buckets), table })
    };
    let mut built = encoder_decoder(Norm::Pre, Some(3));
    built.blocks = [&built.blocks[..], &built.blocks[..]].concat();
    let heads = built.source_blocks[0].attention.heads;
    for (at, block) in built.source_blocks.iter_mut().enumerate() {
        block.attention.heads = heads;
        block.attention.distances = form((at > 0).then_some(0), true);
    }
    let first = built.source_blocks.len();
    for (at, block) in built.blocks.iter_mut().enumerate().step_by(2) {
        block.attention.distances = form((at > 0).then_some(first), false);
    }
    check_model(built, words(), &batches::pairs());
}

#[test]
fn logits_with_a_factor() {
    for readout in [Readout::Tied, Readout::Linear] {
        for train_embedding in [true, false] {
            let logit_scale = Some(0.6);
            let built = architecture(|a| {
                (a.readout, a.train_embedding, a.logit_scale) = (readout, train_embedding, logit_scale)
            });
            check_model(built, words(), &batches::next());
        }
    }
}

/// The blocks between may look at the source too, or only they.
#[test]
fn cross_attention_first() {
    let mut built = encoder_decoder(Norm::Pre, Some(3));
    built.blocks.reverse();
    check_model(built, words(), &batches::pairs());
}

#[test]
fn a_vocabulary_of_all_words_and_of_one() {
    for candidates in [Candidates::all(VOCABULARY), Candidates::new(VOCABULARY, vec![5])] {
        let mut batch = Batch::default();
        batch.push_next(&[0, 5, 2, 5], 0, &candidates);
        for train_embedding in [true, false] {
            let built = architecture(|a| a.train_embedding = train_embedding);
            check_model(built, Classes::Words(candidates.clone()), &batch);
        }
    }
}

/// A model that has every tensor of a block there is, and a readout of its own.
fn everything() -> (Net, Batch) {
    let built = Architecture { readout: Readout::Linear, ..encoder_decoder(Norm::Post, Some(7)) };
    (Net::new(built, words(), 11), batches::pairs())
}

/// A model that has every tensor around its blocks.
fn everything_around() -> (Net, Batch) {
    let built = architecture(|a| {
        (a.segments, a.embedding_norm, a.final_norm, a.train_embedding) = (Some(2), true, true, true);
        a.readout = Readout::Transformed(Activation::Gelu);
    });
    let mut batch = batches::next();
    batch.input.segments.iter_mut().enumerate().for_each(|(row, segment)| *segment = row % 2);
    (Net::new(built, words(), 11), batch)
}

#[test]
fn a_wrong_gradient_is_caught_in_each_tensor() {
    [everything(), everything_around()].iter().for_each(|(net, batch)| wrong_gradients_are_caught(net, batch));
}

fn wrong_gradients_are_caught(net: &Net, batch: &Batch) {
    let gradient = net.gradient(batch);
    let numeric = central_differences(net.parameters.flat(), loss_of(net, batch));
    assert!(compare("as it is", gradient.flat(), &numeric).is_ok());
    for (spec, values) in gradient.tensors() {
        for entry in [0, values.len() - 1] {
            let mut wrong = gradient.clone();
            wrong.values_of_mut(spec.id)[entry] += 1e-6;
            assert!(compare("", wrong.flat(), &numeric).is_err(), "{}[{entry}]: a wrong gradient passed", spec.id);
        }
        // A key's bias adds the same to all scores of a query, which the softmax takes away again.
        if spec.id.name != TensorName::KeyBias {
            let mut missing = gradient.clone();
            missing.values_of_mut(spec.id).fill(0.0);
            assert!(compare("", missing.flat(), &numeric).is_err(), "{}: a missing gradient passed", spec.id);
        }
    }
}

#[test]
fn descent_lowers_the_loss_of_each_objective() {
    let (net, pairs) = everything();
    let causal = |a: &mut Architecture| a.blocks = vec![block(|b| b.attention.mask = Mask::Causal)];
    let label = |a: &mut Architecture| (a.pooling, a.readout) = (Pooling::Mean, Readout::Linear);
    let cases = [
        ("pair", net, pairs),
        ("masked", Net::new(architecture(|_| ()), words(), 11), batches::masked()),
        ("next", Net::new(architecture(causal), words(), 11), batches::next()),
        ("label", Net::new(architecture(label), Classes::Labels(3), 11), batches::labelled()),
    ];
    for (name, mut net, batch) in cases {
        let before = net.loss(&batch);
        let mut adam = Optimiser::new(OptimiserConfig::adam(0.02), &net.parameters);
        for _ in 0..200 {
            let gradient = net.gradient(&batch);
            adam.update(&mut net.parameters, &gradient);
        }
        let after = net.loss(&batch);
        assert!(after < 0.2 * before, "{name}: the loss went from {before} to {after}");
    }
}
