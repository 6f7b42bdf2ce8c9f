//! Positions that are counted from a row on and over fillers, and a readout's layer without a bias: loss and gradient
//! are those of the reference.

use std::sync::Arc;

use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::attention::{AttentionConfig, BatchRoom};
use attune_engine::numerics::model::{
    Architecture, AttentionModel, Batch, Candidates, Classes, Readout, Sequences, StepWorkspace, model_backward,
    model_forward,
};
use attune_engine::numerics::params::TensorName;
use attune_engine::numerics::positions::{PositionRows, Positions};
use attune_engine::numerics::rng::{Stream, stream};
use attune_engine::numerics::{Matrix, reference};
use rand::RngExt;

use crate::common::close::{Tolerance, assert_close};

const WORDS: usize = 7;
const FILLER: usize = 3;

fn batch() -> Batch {
    let mut input = Sequences::default();
    for words in [&[FILLER, 1, FILLER, 2, 5][..], &[4, 0, 6], &[FILLER]] {
        input.push(words.iter().copied().map(Some), 0);
    }
    Batch { input, targets: vec![(0, 1), (1, 6), (3, 0), (4, 2), (6, 5), (8, 4)], ..Batch::default() }
}

#[test]
fn fillers_are_not_counted() {
    let form = PositionRows { first: 4, filler: Some(FILLER) };
    assert_eq!(*batch().input.position_rows(form), [3, 4, 3, 5, 6, 4, 5, 6, 3]);
    assert_eq!(*batch().input.position_rows(PositionRows { first: 2, filler: None }), [2, 3, 4, 5, 6, 2, 3, 4, 2]);
    assert_eq!(*batch().input.position_rows(PositionRows::default()), [0, 1, 2, 3, 4, 0, 1, 2, 0]);
}

#[test]
fn their_gradients_are_those_of_the_reference() {
    for position_rows in [PositionRows { first: 4, filler: Some(FILLER) }, PositionRows { first: 2, filler: None }] {
        for train_embedding in [false, true] {
            let architecture = Architecture {
                position_rows,
                train_embedding,
                transform_bias: false,
                readout: Readout::Transformed(Activation::Gelu),
                ..Architecture::of_attention(AttentionConfig::multi_head(4, 2), Positions::Learned, 5)
            };
            let mut rng = stream(1, Stream::ModelInit);
            let table = Matrix::<f64>::from_fn(WORDS, 4, |_, _| rng.random_range(-1.0..1.0));
            let model =
                AttentionModel::new(architecture, Arc::new(table.into()), Classes::Words(Candidates::all(WORDS)));
            let mut parameters = model.zeros();
            parameters.flat_mut().iter_mut().for_each(|x| *x = rng.random_range(-1.0..1.0));
            let rows = parameters.spec(TensorName::Positions).map(|spec| spec.rows);
            assert_eq!(rows, Some(5 + position_rows.first));
            assert!(parameters.spec(TensorName::TransformBias).is_none());

            let (expected, gradient) = reference::model::loss_and_gradient(&model, &parameters, &batch());
            let mut workspace = StepWorkspace::new(&model, BatchRoom { rows: 9, longest: 5 }, BatchRoom::NONE);
            let loss = model_forward(&model, &parameters, &batch(), &mut workspace);
            model_backward(&model, &parameters, &batch(), &mut workspace);
            assert_close("the loss", loss, expected, Tolerance::DOUBLE_PASS);
            assert_close("the gradient", workspace.gradient.flat(), gradient.flat(), Tolerance::DOUBLE_PASS);
        }
    }
}
