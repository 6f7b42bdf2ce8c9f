//! The All heads panel, sinks, and the two readings of attention, as text.

use std::sync::Arc;

use attune_core::kernel::command::{InterventionCommand, SentenceCommand};
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::params::TensorName;
use attune_view::view_model::Model;
use attune_view::view_model::attention::{AttentionMaps, Reading};
use attune_view::view_model::heads::{AllHeads, AllHeadsModel, HeadMeasure};
use attune_view::view_model::sentence_arcs::{Direction, SentenceArcs, ShownArcs, WordAt};

use crate::common::close::{Tolerance, assert_close_beside};
use crate::common::lessons::{apply, run_all, set_weight, small};

const ADDED: Reading = Reading { is_added: true, hides_sinks: false };

fn all_heads(snapshot: &Snapshot) -> AllHeads {
    AllHeads::of(snapshot.model.as_ref().expect("a model"))
}

/// Every query of head 1 looks for the same, and finds most of it in one word.
fn with_a_sink() -> Kernel {
    let mut kernel = small();
    for col in [0, 3] {
        apply(&mut kernel, set_weight(TensorName::QueryBias, 0, col, 60.0));
    }
    kernel
}

#[test]
fn heads_are_ranked_and_said() {
    let mut kernel = small();
    kernel.apply(Command::Sentence(SentenceCommand::Set("the seal sank the seal".to_owned())));
    let snapshot = kernel.snapshot();
    let heads = all_heads(&snapshot);
    for head in &heads.heads {
        let found = head.measure(HeadMeasure::Previous).expect("a share");
        assert_eq!(head.measure(HeadMeasure::Added), None, "nothing is added to a lesson's words");
        assert_eq!(head.say(HeadMeasure::Previous), format!("{}: previous token {found:.2}", head.title));
        assert_eq!(head.say(HeadMeasure::Added), format!("{}: special tokens (none in this sentence)", head.title));
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

/// The words of the sentence have no masks between them, so equal weights give each word the same share.
#[test]
fn a_share_is_said_beside_that_of_equal_weights() {
    let mut kernel = small();
    kernel.apply(Command::Sentence(SentenceCommand::Set("the seal sank the seal".to_owned())));
    let heads = all_heads(&kernel.snapshot());
    assert_eq!(heads.usual_measure(), HeadMeasure::Previous);
    // Four of five words have one before them.
    let even = heads.even(HeadMeasure::Previous).expect("a share");
    assert_close_beside(1.0, "previous", even, 4.0 / 25.0, Tolerance::SINGLE_SUMS);
    assert_eq!(heads.even(HeadMeasure::Entropy), None, "it is no share");
    // A change of the first head does not change what the words see.
    let mode = HeadMode::Off;
    kernel.apply(Command::Interventions(InterventionCommand::SetHead { head: 0, mode }));
    let changed = all_heads(&kernel.snapshot()).even(HeadMeasure::Previous);
    assert_eq!(changed, Some(even));
    assert_eq!(heads.even(HeadMeasure::Added), None, "no head has it");
}

#[test]
fn nothing_is_measured_again_while_the_numbers_are_the_same() {
    let mut kernel = small();
    let make = |kernel: &Kernel, before: Option<&AllHeadsModel>| {
        AllHeadsModel::make(&Arc::new(kernel.snapshot()), &(), before).expect("a model")
    };
    let first = make(&kernel, None);
    run_all(&mut kernel);
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
fn a_lesson_s_own_model_has_no_sinks_wherever_its_heads_look() {
    let snapshot = with_a_sink().snapshot();
    let model = AttentionMaps::of(&snapshot).expect("a model");
    let most = |key: usize| (0..7).map(|query| model.heads[0].cells.weight(query, key)).sum::<f32>() / 7.0;
    assert!((0..7).any(|key| most(key) > 0.6), "each query finds most in one word");
    assert!(model.sinks.is_empty() && all_heads(&snapshot).sinks.is_empty());
    assert!(SentenceArcs::of(&snapshot).expect("a model").sinks.is_empty());
}

#[test]
fn arcs_of_what_is_added_are_as_thick_as_they_are_long() {
    let snapshot = small().snapshot();
    let (arcs, model) = (SentenceArcs::of(&snapshot).unwrap(), AttentionMaps::of(&snapshot).unwrap());
    let word = WordAt::in_sentence(1);
    let shown = ShownArcs { word, direction: Direction::LooksAt, layer: 0, head: None, reading: ADDED };
    let found = arcs.arcs(&shown);
    let longest = found.iter().filter_map(|arc| arc.added).fold(0.0, f32::max);
    for arc in &found {
        let length = model.heads[arc.pair.head].cells.length(1, arc.pair.key);
        assert_eq!(arc.added, Some(length));
        assert_close_beside(1.0, arc.pair.key, arc.weight, length / longest, Tolerance::SINGLE);
    }
    assert!(arcs.summary(&shown).starts_with("seal receives most from "), "{}", arcs.summary(&shown));
    assert!(arcs.say(&found[0]).contains(" receives from "), "{}", arcs.say(&found[0]));
}
