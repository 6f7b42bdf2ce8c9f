//! A sentence's vectors do not hang on the order of its words where nothing tells it, nor on
//! what stands beside or behind it.

use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::{BatchRoom, Mask};
use attune_engine::numerics::block::{Attends, BlockConfig};
use attune_engine::numerics::model::{Architecture, Batch, Pooling, StepWorkspace, model_backward, model_forward};
use attune_engine::numerics::positions::Positions;
use proptest::prelude::*;

use super::{around, cases, layers, parameters_of, tokens};
use crate::common::close::{Tolerance, assert_close};
use crate::common::numerics::one_block::{Input, forward, output};
use crate::common::numerics::{
    MAX_TOKENS, Net, VOCABULARY, architecture, batches, generator, layer, padding, random_matrix, rows, words,
};

fn blocks() -> impl Strategy<Value = BlockConfig> {
    layers().prop_flat_map(around)
}

/// Some rows of a matrix.
fn pick(m: &Matrix<f64>, rows: &[usize]) -> Matrix<f64> {
    Matrix::from_fn(rows.len(), m.cols(), |i, j| m.get(rows[i], j))
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn words_in_another_order_become_the_same_in_that_order(
        config in blocks(),
        order in tokens().prop_flat_map(|tokens| Just((0..tokens).collect::<Vec<_>>()).prop_shuffle()),
        seed: u64,
    ) {
        let parameters = parameters_of(&config, seed);
        let x = random_matrix(&mut generator(seed), order.len(), config.attention.width);
        let found = output(&config, &parameters, &Input::one(pick(&x, &order)));
        let expected = pick(&output(&config, &parameters, &Input::one(x)), &order);
        assert_close("in that order", found.flat(), expected.flat(), Tolerance::DOUBLE_SUMS);
    }

    #[test]
    fn padding_changes_nothing(config in blocks(), length in tokens(), more in 1..20usize, seed: u64) {
        let parameters = parameters_of(&config, seed);
        let (mut rng, width) = (generator(seed), config.attention.width);
        let padded = random_matrix(&mut rng, length + more, width);
        let alone = pick(&padded, &(0..length).collect::<Vec<_>>());
        let mut masked = config.clone();
        masked.attention.mask = padding(length + more, length + more, length);
        let found = output(&masked, &parameters, &Input::one(padded));
        let expected = output(&config, &parameters, &Input::one(alone));
        assert_close("padded", &found.flat()[..length * width], expected.flat(), Tolerance::DOUBLE_SUMS);
    }

    #[test]
    fn the_future_changes_nothing_under_a_causal_mask(config in blocks(), length in tokens(), more in 1..20usize, seed: u64) {
        let mut config = config;
        config.attention.mask = Mask::Causal;
        let parameters = parameters_of(&config, seed);
        let longer = random_matrix(&mut generator(seed), length + more, config.attention.width);
        let start = pick(&longer, &(0..length).collect::<Vec<_>>());
        let expected = output(&config, &parameters, &Input::one(start));
        let found = output(&config, &parameters, &Input::one(longer));
        let before = &found.flat()[..expected.flat().len()];
        assert_close("before the future", before, expected.flat(), Tolerance::DOUBLE_SUMS);
    }

    #[test]
    fn neighbours_in_a_batch_change_nothing(
        config in blocks(),
        lengths in proptest::collection::vec((tokens(), tokens()), 1..5),
        crosses: bool,
        seed: u64,
    ) {
        let config = BlockConfig { attends: if crosses { Attends::Source } else { Attends::OwnSentence }, ..config };
        let (queries, keys): (Vec<usize>, Vec<usize>) = lengths.into_iter().unzip();
        let (queries, keys) = (rows(&queries), rows(&keys));
        let parameters = parameters_of(&config, seed);
        let (mut rng, width) = (generator(seed), config.attention.width);
        let (x, z) = (random_matrix(&mut rng, queries.total(), width), random_matrix(&mut rng, keys.total(), width));
        let source = crosses.then(|| (z.clone(), keys.clone()));
        let together = forward(&config, &parameters, &Input { x: x.clone(), rows: queries.clone(), source }, &[]);
        let together = together.tail.output();
        for (sentence, source) in queries.sentences().zip(keys.sentences()) {
            let part = |m: &Matrix<f64>, rows: std::ops::Range<usize>| pick(m, &rows.collect::<Vec<_>>());
            let mut input = Input::one(part(&x, sentence.clone()));
            if crosses {
                input = input.with_source(part(&z, source));
            }
            let alone = output(&config, &parameters, &input);
            let beside = part(together, sentence);
            assert_close("beside others", beside.flat(), alone.flat(), Tolerance::DOUBLE_SUMS);
        }
    }
}

/// Sentences one by one.
fn singles() -> Vec<Batch> {
    let sentences: [&[usize]; 4] = [&[0, 1, 2, 4, 3, 8], &[8, 4], &[5, 5, 1], &[VOCABULARY - 1, 1, 0, 5]];
    let single = |words: &[usize]| {
        let mut batch = Batch::default();
        batch.push_next(words, 0, &crate::common::numerics::candidates());
        batch
    };
    sentences.into_iter().map(single).collect()
}

fn causal(change: impl FnOnce(&mut Architecture)) -> Net {
    let causal = BlockConfig::plain(layer(|l| l.mask = Mask::Causal));
    Net::new(
        architecture(|a| {
            a.blocks = vec![causal.clone(), BlockConfig { feed_forward: Some(7), ..causal }];
            change(a);
        }),
        words(),
        11,
    )
}

#[test]
fn the_gradient_of_a_batch_is_the_mean_over_its_targets() {
    let net = causal(|a| a.train_embedding = true);
    let mut whole = Batch::default();
    let mut loss = 0.0;
    let mut mean = vec![0.0; net.parameters.len()];
    for single in singles() {
        let targets = single.targets.len() as f64;
        loss += targets * net.loss(&single);
        mean.iter_mut().zip(net.gradient(&single).flat()).for_each(|(to, g)| *to += targets * g);
        let first = whole.input.words.len();
        whole.targets.extend(single.targets.iter().map(|&(row, class)| (first + row, class)));
        whole.input.push(single.input.words, 0);
    }
    let targets = whole.targets.len() as f64;
    assert_close("the loss", net.loss(&whole), loss / targets, Tolerance::DOUBLE);
    mean.iter_mut().for_each(|g| *g /= targets);
    assert_close("the gradient", net.gradient(&whole).flat(), mean, Tolerance::DOUBLE);
}

#[test]
fn a_workspace_keeps_nothing_from_batch_to_batch() {
    let net = causal(|a| (a.train_embedding, a.positions) = (true, Positions::Sinusoidal));
    let largest = batches::next();
    let mut used = StepWorkspace::new(
        &net.model,
        BatchRoom { rows: largest.input.rows.total(), longest: MAX_TOKENS },
        BatchRoom::NONE,
    );
    let mut diverged = net.clone();
    diverged.parameters.flat_mut().fill(f64::NAN);
    for batch in singles() {
        // What a diverged model leaves behind is overwritten, too.
        model_forward(&net.model, &diverged.parameters, &largest, &mut used);
        model_backward(&net.model, &diverged.parameters, &largest, &mut used);
        let found = model_forward(&net.model, &net.parameters, &batch, &mut used);
        model_backward(&net.model, &net.parameters, &batch, &mut used);
        assert_eq!(found.to_bits(), net.loss(&batch).to_bits());
        assert_eq!(used.gradient, net.gradient(&batch));
    }
}

#[test]
fn a_batch_that_asks_nothing_costs_nothing_and_teaches_nothing() {
    for pooling in [Pooling::Every, Pooling::Last, Pooling::Mean] {
        let net = causal(|a| (a.pooling, a.train_embedding) = (pooling, true));
        let mut batch = Batch::default();
        batch.input.push([Some(0), Some(3)], 0);
        let mut workspace = net.workspace(&batch);
        // The workspace has seen other batches before.
        let mut asked = batch.clone();
        asked.targets.push((0, 1));
        model_forward(&net.model, &net.parameters, &asked, &mut workspace);
        model_backward(&net.model, &net.parameters, &asked, &mut workspace);
        assert_eq!(model_forward(&net.model, &net.parameters, &batch, &mut workspace), 0.0);
        model_backward(&net.model, &net.parameters, &batch, &mut workspace);
        assert!(workspace.gradient.flat().iter().all(|&g| g == 0.0), "{pooling:?}");
    }
}
