//! Vectors that are looked up: where a batch has more tokens than there are words and positions, the
//! first block projects the tables, and the gradients come back through them.

use std::sync::Arc;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::Mask;
use attune_engine::numerics::block::{Attends, BlockConfig, Norm};
use attune_engine::numerics::model::{Architecture, AttentionModel, Batch, Candidates, Classes, Pooling, Readout};
use attune_engine::numerics::params::TensorName;

use super::models::{POSITIONS, check_model};
use crate::common::close::{Tolerance, assert_close, assert_close_beside};
use crate::common::numerics::{
    MAX_TOKENS, Net, VOCABULARY, architecture, block, candidates, generator, layer, random_matrix, words,
};

/// Sentences with hidden words and starts of their own: more tokens than all words and positions.
const SENTENCES: [(&[Option<usize>], usize); 6] = [
    (&[Some(0), None, Some(2), Some(4), Some(3), None], 0),
    (&[Some(8)], 5),
    (&[None], 2),
    (&[Some(5), Some(5), Some(7), Some(0), Some(1)], 1),
    (&[Some(6), None, None, Some(4)], 2),
    (&[Some(1), Some(2), Some(8)], 0),
];
const ROWS: usize = 20;

fn batch(pooling: Pooling) -> Batch {
    let mut batch = Batch::default();
    SENTENCES.into_iter().for_each(|(words, first)| batch.input.push(words.iter().copied(), first));
    let asked = if pooling == Pooling::Every { ROWS } else { SENTENCES.len() };
    batch.targets = (0..asked).map(|i| (i, i % candidates().words().len())).collect();
    assert!(
        batch.input.rows.total() == ROWS && VOCABULARY + MAX_TOKENS < ROWS,
        "there is more to project than to look up"
    );
    batch
}

/// The same batch with as long a source, which is looked up too.
fn pairs() -> Batch {
    let mut batch = batch(Pooling::Every);
    SENTENCES.into_iter().rev().for_each(|(words, first)| batch.source.push(words.iter().copied(), first));
    batch
}

/// All that the tables go into.
fn looked_up(mut check: impl FnMut(Architecture)) {
    for bias in [true, false] {
        for residual in [true, false] {
            for positions in POSITIONS {
                for train_embedding in [true, false] {
                    check(architecture(|a| {
                        (a.positions, a.train_embedding) = (positions, train_embedding);
                        a.blocks = vec![block(|b| {
                            b.attention = layer(|l| (l.bias, l.mask) = (bias, Mask::Causal));
                            b.residual = residual;
                        })];
                    }));
                }
            }
        }
    }
}

#[test]
fn tables_that_are_projected() {
    looked_up(|built| {
        for pooling in [Pooling::Every, Pooling::Last, Pooling::Mean] {
            for readout in [Readout::Tied, Readout::Linear] {
                check_model(Architecture { pooling, readout, ..built.clone() }, words(), &batch(pooling));
            }
        }
    });
}

#[test]
fn tables_before_another_block() {
    let second = block(|b| (b.norm, b.feed_forward) = (Norm::Pre, Some(3)));
    looked_up(|built| {
        let blocks = built.blocks.iter().cloned().chain([second.clone()]).collect();
        check_model(Architecture { blocks, ..built }, words(), &batch(Pooling::Every));
    });
}

/// The source's first block looks words up, and so do the queries of cross-attention.
#[test]
fn tables_of_a_pair() {
    looked_up(|built| {
        let source_blocks = built.blocks.clone();
        let crossing = BlockConfig { attends: Attends::Source, ..block(|_| ()) };
        let crossing = BlockConfig { residual: source_blocks[0].residual, ..crossing };
        for blocks in [vec![crossing.clone()], vec![source_blocks[0].clone(), crossing]] {
            let source_blocks = source_blocks.clone();
            check_model(Architecture { source_blocks, blocks, ..built.clone() }, words(), &pairs());
        }
    });
}

/// The same model among words that never occur, too many to look up: its vectors are projected one by one.
fn among_many(net: &Net) -> Net {
    let AttentionModel { architecture, embedding, .. } = &net.model;
    let vocabulary = 10 * ROWS;
    let more = random_matrix(&mut generator(5), vocabulary, architecture.width);
    let entry = |i, j| if i < VOCABULARY { embedding.get(i, j) } else { more.get(i, j) };
    let embedding = Matrix::from_fn(vocabulary, architecture.width, entry);
    let classes = Classes::Words(Candidates::new(vocabulary, candidates().words().to_vec()));
    let model = AttentionModel::new(architecture.clone(), Arc::new(embedding.into()), classes);
    let mut parameters = model.zeros();
    for (spec, values) in net.parameters.tensors() {
        parameters.values_of_mut(spec.id)[..values.len()].copy_from_slice(&values);
    }
    Net { model, parameters }
}

#[test]
fn what_is_looked_up_is_what_would_be_projected() {
    looked_up(|built| {
        let name = format!("{built:?}");
        let batch = batch(Pooling::Every);
        let looks_up = Net::new(built, words(), 11);
        let projects = among_many(&looks_up);
        assert_close(&name, looks_up.loss(&batch), projects.loss(&batch), Tolerance::DOUBLE);
        let (found, expected) = (looks_up.gradient(&batch), projects.gradient(&batch));
        for (spec, found) in found.tensors() {
            let expected = &expected.values_of(spec.id)[..found.len()];
            assert_close_beside(1.0, format!("{name}: {}", spec.id), &*found, expected, Tolerance::DOUBLE);
        }
        // Sums in another order round otherwise: it is another way that was taken.
        let query = TensorName::QueryWeights;
        assert_ne!(found.values_of(query), expected.values_of(query), "{name}: nothing was looked up");
    });
}
