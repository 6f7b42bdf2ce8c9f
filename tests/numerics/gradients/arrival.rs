//! Gradients of what makes vectors arrive: distances in the loss, and distances between words in the scores.

use attune_engine::numerics::attention::Mask;
use attune_engine::numerics::attention::distances::DistanceForm;
use attune_engine::numerics::model::{Architecture, Batch, Candidates, Classes, Masking, Pooling, Readout};
use attune_engine::numerics::params::TensorName;
use attune_engine::numerics::positions::Positions;
use attune_engine::panics;

use super::models::check_net;
use crate::common::numerics::{MAX_TOKENS, Net, VOCABULARY, architecture, batches, candidates, layer, words};

const COSTS: [(f64, f64); 3] = [(0.7, 0.0), (0.0, 1.3), (0.4, 0.9)];

/// Sentences in which some words keep their places: all but the fourth of the vocabulary.
fn kept(mut batch: Batch, pooling: Pooling) -> Batch {
    let whole = std::mem::take(&mut batch);
    // As the trainer does it, sentence by sentence.
    for sentence in 0..whole.input.rows.count() {
        let one = whole.sentences(sentence..sentence + 1, pooling == Pooling::Every);
        let rows = batch.input.words.len();
        let sentences = batch.input.rows.count();
        let first = one.input.positions[0];
        batch.input.push(one.input.words.iter().copied(), first);
        let by_row = pooling == Pooling::Every;
        let moved = one.targets.iter().map(|&(at, class)| (at + if by_row { rows } else { sentences }, class));
        batch.targets.extend(moved);
        batch.keep_last(pooling, |word| word != 3);
    }
    assert!(!batch.kept.is_empty() && batch.kept.iter().all(|&(row, word)| batch.input.words[row] == Some(word)));
    batch
}

#[test]
fn answers_arrive_and_other_words_stay() {
    for (arrive, keep) in COSTS {
        let batch = kept(batches::masked(), Pooling::Every);
        let rows: Vec<usize> = batch.targets.iter().map(|(row, _)| *row).collect();
        assert!(batch.kept.iter().all(|(row, _)| !rows.contains(row)), "an output that answers is not kept");
        let tied = Net::new(architecture(|_| ()), words(), 5).with_costs(arrive, keep);
        check_net("masked words, tied", &tied, &batch);
        check_net("next words, tied", &tied, &batches::next());

        let linear = Architecture { readout: Readout::Linear, ..architecture(|_| ()) };
        let linear = Net::new(linear, words(), 5).with_costs(0.0, keep);
        check_net("masked words, linear", &linear, &batch);

        // The places are those before training, which stay.
        let trained = Architecture { train_embedding: true, ..architecture(|_| ()) };
        check_net("masked words, E trained", &Net::new(trained, words(), 5).with_costs(0.0, keep), &batch);
    }
}

#[test]
fn of_a_sentence_that_is_read_by_its_last_word_the_others_stay() {
    let batch = kept(batches::labelled(), Pooling::Last);
    let lasts: Vec<usize> = batch.input.rows.sentences().map(|sentence| sentence.end - 1).collect();
    assert!(batch.kept.iter().all(|(row, _)| !lasts.contains(row)));
    for readout in [Readout::Tied, Readout::Linear] {
        let built = architecture(|a| (a.pooling, a.readout) = (Pooling::Last, readout));
        let arrive = if readout == Readout::Tied { 0.6 } else { 0.0 };
        let classes = if readout == Readout::Tied { words() } else { Classes::Labels(3) };
        check_net(&format!("{readout:?}"), &Net::new(built, classes, 8).with_costs(arrive, 0.8), &batch);
    }
}

#[test]
fn distances_between_words_count_in_every_layer() {
    for mask in [Mask::None, Mask::Causal] {
        let distant =
            layer(|l| (l.distances, l.mask, l.temperature) = (Some(DistanceForm::of_each(MAX_TOKENS)), mask, 0.6));
        let built = architecture(|a| {
            a.positions = Positions::None;
            a.blocks = vec![crate::common::numerics::block(|b| b.attention = distant.clone()); 2];
        });
        let net = Net::new(built, words(), 4);
        assert_eq!(net.parameters.values_of(TensorName::DistanceBias.of_block(1)).len(), 2 * (2 * MAX_TOKENS - 1));
        check_net("masked words", &net, &batches::masked());
        let mean = Architecture { pooling: Pooling::Mean, ..net.model.architecture.clone() };
        check_net("means", &Net::new(mean, words(), 4), &batches::labelled());
    }
}

/// A word stands for the hidden one where it is not left empty.
#[test]
fn stand_ins_take_the_places_of_hidden_words() {
    use attune_engine::numerics::rng::{Stream, stream};
    const STAND_IN: usize = 7;
    let mut rng = stream(1, Stream::Masking);
    let choice = candidates().with_stand_ins(vec![STAND_IN]);
    let mut batch = Batch::default();
    (0..40).for_each(|_| batch.push_masked(&[0, 1, 4, 5], 0, &choice, &Masking::of_lessons(0.5), &mut rng));
    let shown = batch.targets.iter().map(|&(row, _)| batch.input.words[row]);
    assert!(shown.clone().all(|word| word.is_none_or(|word| word == STAND_IN)));
    assert!(shown.clone().any(|word| word.is_none()) && shown.clone().any(|word| word.is_some()));
}

#[test]
fn nothing_arrives_at_labels_without_places_or_at_vectors_that_move() {
    let linear = architecture(|a| (a.readout, a.pooling) = (Readout::Linear, Pooling::Last));
    let moving = architecture(|a| a.train_embedding = true);
    for (built, classes) in [(linear, Classes::Labels(2)), (moving, Classes::Words(Candidates::all(VOCABULARY)))] {
        let said = panics::quietly(|| drop(Net::new(built, classes, 1).with_costs(0.1, 0.0))).expect_err("no place");
        assert!(said.contains("arriving needs a tied readout and a frozen E"), "{said}");
    }
}
