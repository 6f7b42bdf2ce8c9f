//! The ends of what the numerics are asked: a single word, numbers that are none, shapes that do not fit.

use std::sync::Arc;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::{AttentionConfig, HeadMode, Mask};
use attune_engine::numerics::block::{Attends, BlockConfig, Norm};
use attune_engine::numerics::contributions::Contributions;
use attune_engine::numerics::linear::{linear_backward, linear_forward};
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::model::{Activations, AttentionModel, Batch, Candidates, Classes, Pooling, Readout};
use attune_engine::numerics::norm::{NormCache, NormForm, norm_forward};
use attune_engine::numerics::optimiser::{Optimiser, OptimiserConfig};
use attune_engine::numerics::params::{Parameters, TensorName};
use attune_engine::numerics::softmax::cross_entropy_forward;
use attune_engine::panics;

use crate::common::close::{Tolerance, assert_close_beside};
use crate::common::numerics::one_block::{Input, forward};
use crate::common::numerics::{
    MAX_TOKENS, Net, architecture, batches, block, filled, generator, layer, random_matrix, sentence, words,
};

fn net() -> Net {
    Net::new(
        architecture(|a| {
            a.blocks = vec![block(|b| (b.norm, b.feed_forward) = (Norm::Pre, Some(7))); 2];
            a.train_embedding = true;
        }),
        words(),
        11,
    )
}

#[test]
fn a_single_word_attends_to_itself() {
    let net = net();
    let found = Activations::of(&net.model, &net.parameters, &sentence(&[4]), None, &Interventions::default());
    for head in found.heads() {
        assert_eq!(head.weights.flat(), [1.0]);
        assert_eq!(head.mix, head.value);
    }
}

#[test]
fn a_vocabulary_of_one_word_is_known_from_the_start() {
    let one = Matrix::from_row_major(1, 5, vec![0.1, 0.2, 0.3, 0.4, 0.5]);
    let built = architecture(|a| a.train_embedding = true);
    let model = AttentionModel::new(built, Arc::new(one.into()), Classes::Words(Candidates::all(1)));
    let net: Net = Net { parameters: model.init(1), model };
    let mut batch = Batch::default();
    batch.push_next(&[0, 0, 0], 0, &Candidates::all(1));
    assert_eq!(net.loss(&batch), 0.0, "there is nothing else to say");
    let gradient = net.gradient(&batch);
    assert_close_beside(1.0, "the gradient", gradient.flat(), vec![0.0; gradient.flat().len()], Tolerance::LAST_BITS);
}

/// No finite loss hides them, and NaN reaches the gradient; nothing panics or hangs.
#[test]
fn numbers_that_are_none_come_out_as_such() {
    let batch = batches::masked();
    for spec in net().parameters.specs() {
        for poison in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            if spec.id.name == TensorName::HiddenBias && poison == f64::NEG_INFINITY {
                continue; // a hidden unit that is always off, which is a number
            }
            let mut net = net();
            net.parameters.values_of_mut(spec.id).fill(poison);
            let loss = net.loss(&batch);
            let gradient = net.gradient(&batch);
            assert!(!loss.is_finite(), "{} = {poison}: a loss of {loss}", spec.id);
            let hidden = gradient.flat().iter().all(|g| g.is_finite());
            assert!(poison.is_infinite() || !hidden, "{}: the gradient is finite", spec.id);
            let mut adam = Optimiser::new(OptimiserConfig::adam(0.01), &net.parameters);
            adam.update(&mut net.parameters, &gradient);
            assert!(!net.loss(&batch).is_finite(), "{} = {poison}: it came back", spec.id);
        }
    }
}

#[test]
fn a_viewer_sees_them_too() {
    let mut net = net();
    let block = net.model.architecture.blocks[0].clone();
    net.parameters.values_of_mut(TensorName::KeyWeights).fill(f64::NAN);
    let found = Activations::of(&net.model, &net.parameters, &sentence(&[1, 2, 3]), None, &Interventions::default());
    assert!(found.output.flat().iter().all(|y| y.is_nan()));
    let contributions = Contributions::of(&block, 0, &net.parameters, &found.blocks[0], &[]);
    assert!(contributions.error(&block, &found.blocks[0]).is_nan(), "an error that is no number is not passed over");
}

/// One query's NaN is not its neighbours'.
#[test]
fn a_poisoned_word_that_nobody_sees_harms_nobody() {
    for tokens in [5, 70] {
        let config = BlockConfig::plain(layer(|l| l.mask = Mask::Causal));
        let mut rng = generator(1);
        let parameters = filled(Parameters::zeros(&config.shapes(0)), &mut rng);
        let mut x = random_matrix(&mut rng, tokens, 5);
        x.row_mut(tokens - 1).fill(f64::NAN);
        let found = forward(&config, &parameters, &Input::one(x), &[]);
        let (_, weights) = found.attention.scores_and_weights(0, tokens, tokens);
        let finite = |row: usize| weights.row(row).iter().all(|w| w.is_finite());
        assert!((0..tokens - 1).all(finite) && !finite(tokens - 1), "{tokens} tokens");
    }
}

/// What does not fit is told by its shape.
#[test]
fn shapes_that_do_not_fit_are_refused_in_words() {
    let zeros = Matrix::<f64>::zeros;
    let one = |config: &BlockConfig, modes: &[HeadMode<f64>]| {
        forward(config, &Parameters::zeros(&config.shapes(0)), &Input::one(zeros(3, 5)), modes);
    };
    let shown = |words: &[usize], heads: Vec<HeadMode<f64>>| {
        let (net, changes) = (net(), Interventions { heads, ..Interventions::default() });
        Activations::of(&net.model, &net.parameters, &sentence(words), None, &changes);
    };
    let linear = |x: [usize; 2], bias: usize, room: usize| {
        linear_forward(zeros(x[0], x[1]).view(), zeros(4, 5).view(), &vec![0.0; bias], &mut vec![0.0; room]);
    };
    let frozen = HeadMode::Frozen(Some(Arc::new(zeros(4, 3))));
    let tied = || architecture(|a| (a.pooling, a.readout) = (Pooling::Mean, Readout::Tied));
    let cases: [(&str, &dyn Fn()); 15] = [
        ("linear: X (2, 3) by W (4, 5)", &|| linear([2, 3], 0, 10)),
        ("linear: 9 entries for Y (2, 5)", &|| linear([2, 4], 0, 9)),
        ("linear: Y (2, 5) + b (4)", &|| linear([2, 4], 4, 10)),
        ("linear backward: 9 entries for d_Y (2, 5)", &|| {
            let (x, w) = (zeros(2, 4), zeros(4, 5));
            linear_backward(x.view(), w.view(), &[0.0; 9], &mut [0.0; 8], zeros(4, 5).view_mut(), &mut []);
        }),
        ("norm: γ (3), β (2)", &|| {
            norm_forward(NormForm::LAYER, &[0.0; 6], [&[1.0; 3], &[0.0; 2]], &mut NormCache::new(2, 3), &mut [0.0; 6]);
        }),
        ("cross entropy: target 3 of 3 classes", &|| {
            cross_entropy_forward(&mut [0.0; 3], 3, [3].into_iter());
        }),
        ("attention: 2 heads share a width of 5", &|| drop(AttentionConfig::multi_head(5, 2))),
        ("attention: mixes of width 4 without W_O to a width of 5", &|| {
            BlockConfig::plain(layer(|l| l.output = false)).shapes(0);
        }),
        ("attention: 1 modes, 2 heads", &|| one(&block(|_| ()), &[HeadMode::Live])),
        ("attention: frozen weights (4, 3) for (3, 3)", &|| one(&block(|_| ()), &[HeadMode::Live, frozen.clone()])),
        ("cross-attention: there is no source sentence", &|| one(&block(|b| b.attends = Attends::Source), &[])),
        ("activations: modes for 3 heads of 4", &|| shown(&[1], vec![HeadMode::Off; 3])),
        ("activations: a sentence of 7 tokens, 6 at most", &|| shown(&[0; MAX_TOKENS + 1], Vec::new())),
        ("model: E is 4 wide, D is 5", &|| {
            AttentionModel::new(architecture(|_| ()), Arc::new(zeros(9, 4).into()), words());
        }),
        ("model: labels have no static vectors to tie them to", &|| {
            AttentionModel::new(tied(), Arc::new(zeros(9, 5).into()), Classes::Labels(3));
        }),
    ];
    for (expected, work) in cases {
        let said = panics::quietly(work).expect_err(expected);
        assert!(said.contains(expected), "{said:?}, not {expected:?}");
    }
}
