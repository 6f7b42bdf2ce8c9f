//! The All heads panel, sinks, and the two readings of attention, as text.

use std::sync::Arc;

use attune::kernel::command::{SentenceCommand, WeightCommand};
use attune::kernel::notebook::NotebookCommand;
use attune::kernel::{Command, Kernel, Snapshot};
use attune::numerics::params::TensorName;
use attune::view_model::all_heads::{AllHeads, AllHeadsModel, HeadMeasure};
use attune::view_model::attention::AttentionModel;
use attune::view_model::models::Model;
use attune::view_model::sentence_arcs::{Direction, SentenceArcs, Shown, WordAt};
use attune::view_model::sinks::Reading;

use crate::common::lessons::small;

const HIDING: Reading = Reading { is_added: false, hides_sinks: true };
const ADDED: Reading = Reading { is_added: true, hides_sinks: false };

fn all_heads(snapshot: &Snapshot) -> AllHeads {
    AllHeads::of(snapshot.model.as_ref().expect("a model"))
}

/// Every query of head 1 looks for the same, and finds most of it in one word.
fn with_a_sink() -> Kernel {
    let mut kernel = small();
    for (tensor, row, value) in [(TensorName::QueryBias, 0, 60.0), (TensorName::QueryBias, 0, 60.0)] {
        for col in [0, 3] {
            kernel.apply(Command::Weights(WeightCommand::Set { tensor: tensor.into(), row, col, value }));
        }
    }
    kernel.settle();
    kernel
}

#[test]
fn heads_are_measured_ranked_and_said() {
    let mut kernel = small();
    kernel.apply(Command::Sentence(SentenceCommand::Set("the seal sank the seal".to_owned())));
    let snapshot = kernel.snapshot();
    let heads = all_heads(&snapshot);
    let weights = |head: usize| &snapshot.model.as_ref().unwrap().sentence.activations.blocks[0].heads[head].weights;
    for head in &heads.heads {
        let weights = weights(head.head);
        let before: f32 = (1..weights.rows()).map(|row| weights.get(row, row - 1)).sum();
        let found = head.measure(HeadMeasure::Previous).expect("a share");
        assert!((found - before / weights.rows() as f32).abs() < 1e-6);
        let copies = weights.get(3, 0) + weights.get(4, 1);
        assert!((head.measure(HeadMeasure::Duplicate).unwrap() - copies / weights.rows() as f32).abs() < 1e-6);
        assert_eq!(head.measure(HeadMeasure::Added), None, "nothing is added to a lesson's words");
        assert_eq!(head.say(HeadMeasure::Previous), format!("{}: previous token {found:.2}", head.title));
        assert_eq!(head.say(HeadMeasure::Added), format!("{}: special tokens none here", head.title));
    }
    for measure in HeadMeasure::ALL {
        let values =
            |ranked: Vec<usize>| ranked.iter().map(|head| heads.heads[*head].measure(measure)).collect::<Vec<_>>();
        let (down, up) = (values(heads.ranked(measure, true)), values(heads.ranked(measure, false)));
        assert!(down.is_sorted_by(|a, b| a >= b) && up.is_sorted(), "{measure:?}: {down:?}, {up:?}");
    }
    assert_eq!(heads.strongest(HeadMeasure::Added, 3), [0; 0]);
    let table = heads.tsv();
    assert!(table.starts_with("head\tprevious token\tsame token\t") && table.lines().count() == 3, "{table}");
}

#[test]
fn nothing_is_measured_again_while_the_numbers_are_the_same() {
    let mut kernel = small();
    let make = |kernel: &Kernel, before: Option<&AllHeadsModel>| {
        AllHeadsModel::make(&Arc::new(kernel.snapshot()), &(), before).expect("a model")
    };
    let first = make(&kernel, None);
    kernel.apply(Command::Notebook(NotebookCommand::RunAll));
    kernel.settle();
    let again = make(&kernel, Some(&first));
    assert!(Arc::ptr_eq(&first.content, &again.content));
    kernel.apply(Command::Sentence(SentenceCommand::Select(1)));
    assert!(!Arc::ptr_eq(&first.content, &make(&kernel, Some(&again)).content));
}

#[test]
fn a_small_map_keeps_the_largest_of_what_falls_on_a_cell() {
    let snapshot = small().snapshot();
    let heads = all_heads(&snapshot);
    let weights = &snapshot.model.as_ref().unwrap().sentence.activations.blocks[0].heads[0].weights;
    let whole = heads.thumbnail(0, 48, Reading::default());
    assert_eq!((whole.rows, whole.cols), (7, 7));
    let shares: Vec<Option<f32>> = weights.flat().iter().map(|weight| Some(*weight)).collect();
    assert_eq!(whole.shares, shares);
    let small = heads.thumbnail(0, 1, Reading::default());
    assert_eq!(small.shares, [Some(weights.flat().iter().copied().fold(0.0, f32::max))]);
    let added = heads.thumbnail(0, 48, ADDED);
    assert_eq!(added.shares.iter().flatten().copied().fold(0.0, f32::max), 1.0);
    assert_ne!(added, whole);
}

#[test]
fn without_the_sinks_every_row_sums_to_one_and_that_is_said() {
    let kernel = with_a_sink();
    let snapshot = kernel.snapshot();
    let model = AttentionModel::of(&snapshot).expect("a model");
    let sinks = &model.sinks.sinks;
    assert!(!sinks.is_empty(), "each head finds most in one word");
    for sink in sinks {
        assert!(sink.mean > 0.3 && sink.heads.1 == 2 && sink.about().starts_with(&format!("{} is a sink", sink.label)));
        assert!(sink.about().contains(if sink.of_added < 0.9 * sink.of_weights {
            "are short"
        } else {
            "are not short"
        }));
    }
    let mut left = 0;
    for map in &model.heads {
        for query in 0..map.queries.len() {
            let row: Vec<Option<f32>> = (0..map.keys.len()).map(|key| model.shown(map, HIDING, query, key)).collect();
            assert!(sinks.iter().all(|sink| row[sink.position].is_none()));
            let sum: f32 = row.iter().flatten().sum();
            assert!((sum - 1.0).abs() < 1e-5 || row.iter().all(Option::is_none), "{}: {sum}", map.title);
            left += row.iter().flatten().count();
            let plain = |key| model.shown(map, Reading::default(), query, key);
            assert!((0..map.keys.len()).all(|key| plain(key) == Some(map.weights[query][key])), "as they are");
        }
    }
    assert!(left > 0, "some rows have more than the sinks");
    let said = HIDING.said().expect("said");
    assert!(model.tsv(&[0], HIDING).starts_with(&format!("{said}\n")) && Reading::default().said().is_none());
    assert_eq!(model.say_shown(0, 1, sinks[0].position, HIDING).as_deref(), Some("Hidden as a sink."));
    // So do the arcs over the sentence.
    let arcs = SentenceArcs::of(&snapshot).expect("a model");
    assert_eq!(arcs.sinks, model.sinks);
    let shown = |head| Shown {
        word: WordAt::in_sentence(0),
        direction: Direction::LooksAt,
        layer: 0,
        head: Some(head),
        reading: HIDING,
    };
    for (head, map) in model.heads.iter().enumerate() {
        let found: Vec<(usize, f32)> =
            arcs.arcs(&shown(head)).iter().map(|arc| (arc.to.position, arc.weight)).collect();
        let row = (0..map.keys.len()).filter_map(|key| Some((key, model.shown(map, HIDING, 0, key)?)));
        assert_eq!(found, row.collect::<Vec<_>>());
    }
}

#[test]
fn arcs_of_what_is_added_are_as_thick_as_they_are_long() {
    let snapshot = small().snapshot();
    let (arcs, model) = (SentenceArcs::of(&snapshot).unwrap(), AttentionModel::of(&snapshot).unwrap());
    let word = WordAt::in_sentence(1);
    let shown = Shown { word, direction: Direction::LooksAt, layer: 0, head: None, reading: ADDED };
    let found = arcs.arcs(&shown);
    let longest = found.iter().filter_map(|arc| arc.added).fold(0.0, f32::max);
    for arc in &found {
        let length = model.heads[arc.pair.head].lengths[1][arc.pair.key];
        assert_eq!(arc.added, Some(length));
        assert!((arc.weight - length / longest).abs() < 1e-6);
    }
    assert!(arcs.summary(&shown).starts_with("seal takes most from "), "{}", arcs.summary(&shown));
    assert!(arcs.say(&found[0]).contains(" takes from "), "{}", arcs.say(&found[0]));
}
