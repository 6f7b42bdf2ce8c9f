//! Attention in the sentence, as text.

use attune_core::kernel::command::{InterventionCommand, SentenceCommand};
use attune_core::kernel::{Command, Kernel};
use attune_engine::numerics::attention::HeadMode;
use attune_view::explain::walk::RouteModel;
use attune_view::view_model::attention::Reading;
use attune_view::view_model::labels::Side;
use attune_view::view_model::sentence_arcs::{Direction, SentenceArcs, ShownArcs, WordAt};

use crate::common::close::{Tolerance, assert_close_beside};
use crate::common::lessons::{form, small};

fn after(mut kernel: Kernel, commands: &[Command]) -> SentenceArcs {
    for command in commands {
        kernel.apply(command.clone());
    }
    SentenceArcs::of(&kernel.snapshot()).expect("a model")
}

fn shown(word: usize) -> ShownArcs {
    ShownArcs {
        word: WordAt::in_sentence(word),
        direction: Direction::LooksAt,
        layer: 0,
        head: None,
        reading: Reading::default(),
    }
}

#[test]
fn a_word_has_the_weights_of_its_row_and_of_its_column() {
    let kernel = small();
    let snapshot = kernel.snapshot();
    let arcs = after(kernel, &[]);
    let weights =
        |head: usize| &snapshot.model.as_ref().expect("a model").sentence.activations.blocks[0].heads[head].weights;
    let labels: Vec<&str> = arcs.words.iter().map(|word| word.label.as_str()).collect();
    assert_eq!(labels, ["the", "seal", "sank", "while", "a", "duck", "swam"]);
    let looks = ShownArcs { head: Some(1), ..shown(1) };
    let row: Vec<f32> = arcs.arcs(&looks).iter().map(|arc| arc.weight).collect();
    assert_eq!(row, weights(1).row(1));
    let seen = ShownArcs { direction: Direction::SeenBy, ..looks };
    let column: Vec<f32> = arcs.arcs(&seen).iter().map(|arc| arc.weight).collect();
    assert_eq!(column, (0..7).map(|query| weights(1).get(query, 1)).collect::<Vec<_>>());
    assert!(arcs.arcs(&seen).iter().all(|arc| arc.to == WordAt::in_sentence(1)));
    assert_eq!(arcs.arcs(&shown(1)).len(), 14, "of both heads");
    let lit = ["zebra", "sank", "seal"].map(str::to_owned);
    let route = RouteModel::of(&snapshot).expect("a model");
    assert_eq!((arcs.first_lit(&lit), route.word(&lit)), (Some(2), Some(2)), "the word that the walk follows");
    assert_eq!(arcs.first_lit(&[]), None, "never the first word by accident");
}

#[test]
fn weights_are_said_in_words_for_eyes_and_ears() {
    let arcs = after(small(), &[]);
    let one = ShownArcs { head: Some(0), ..shown(1) };
    let mut row = arcs.arcs(&one);
    row.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    let first = row[0];
    let is_itself = first.to == one.word;
    let name = if is_itself { "itself" } else { &arcs.words[first.to.position].label };
    let percent = format!("{:.0}", first.weight * 100.0);
    assert_eq!(arcs.summary(&one), format!("seal looks most at {name}, {percent} %"));
    assert_eq!(arcs.spoken(&one), format!("seal looks most at {name}, {percent} percent"));
    let card = arcs.card(&one);
    assert_eq!((card.len(), &card[0]), (4, &format!("seal looks at {name}: {percent} % (head 1)")));
    assert!(arcs.summary(&shown(1)).contains("(head 1); ") && arcs.summary(&shown(1)).ends_with("(head 2)"));
    let off = InterventionCommand::SetHead { head: 0, mode: HeadMode::Off };
    let silenced = after(small(), &[Command::Interventions(off)]);
    assert!(silenced.arcs(&one).iter().all(|arc| !arc.is_enabled && arc.weight >= 0.0));
    assert!(silenced.drawn(&one).is_empty() && arcs.drawn(&one) == arcs.arcs(&one));
    let both = ShownArcs { head: None, ..one };
    assert!(silenced.drawn(&both).iter().all(|arc| arc.pair.head == 1) && !silenced.drawn(&both).is_empty());
    assert!(silenced.card(&one)[0].ends_with("(head 1, switched off)"), "{:?}", silenced.card(&one));
    assert!(silenced.summary(&shown(1)).ends_with("(head 1, switched off)"), "the heads that count come first");
}

#[test]
fn the_numbers_under_the_words_are_of_one_head_or_means_that_sum_to_a_whole() {
    let arcs = after(small(), &[]);
    for word in 0..arcs.words.len() {
        let both = shown(word);
        let all = arcs.arcs(&both);
        let mean = |at: WordAt| all.iter().filter(|arc| arc.to == at).map(|arc| arc.weight).sum::<f32>() / 2.0;
        let numbers = arcs.numbers(&both);
        assert!(!numbers.is_empty() && numbers.iter().all(|number| number.own.is_none()));
        let percent = |text: &str| text.trim_end_matches(" %").parse::<f32>().expect("a share");
        assert!(numbers.iter().map(|number| percent(&number.text)).sum::<f32>() <= 100.0 + numbers.len() as f32 / 2.0);
        for number in &numbers {
            let (found, exact) = (percent(&number.text), 100.0 * mean(number.at));
            assert_close_beside(1.0, format!("{number:?}"), found, exact, Tolerance::of_digits(0));
        }
        assert!((0..7).map(|at| mean(WordAt::in_sentence(at))).sum::<f32>() > 0.999, "of all words");
        let one = ShownArcs { head: Some(1), ..both };
        let largest = arcs.arcs(&one).into_iter().reduce(|a, b| if b.weight > a.weight { b } else { a }).expect("arcs");
        let first = &arcs.numbers(&one)[0];
        assert_eq!((first.at, &first.text, first.own), (largest.to, &largest.number(), Some(1)));
        let lengths = ShownArcs { reading: Reading { is_added: true, ..both.reading }, ..both };
        assert_eq!(arcs.numbers(&lengths), [], "lengths of two heads are no share of anything");
        assert!(!arcs.numbers(&ShownArcs { head: Some(0), ..lengths }).is_empty());
    }
}

#[test]
fn a_pair_that_a_mask_hides_has_no_arc() {
    let hide = Command::Interventions(InterventionCommand::ToggleMask { query: 1, key: 0 });
    let arcs = after(small(), &[hide]);
    let one = ShownArcs { head: Some(0), ..shown(1) };
    assert!(arcs.arcs(&one).iter().all(|arc| arc.pair.key != 0));
    assert_eq!(arcs.card(&one).last().map(String::as_str), Some("The mask hides 1 word from seal."));
    let seen = ShownArcs { word: WordAt::in_sentence(0), direction: Direction::SeenBy, ..one };
    assert_eq!(arcs.card(&seen).last().map(String::as_str), Some("The mask hides the from 1 word."));
}

#[test]
fn every_layer_has_its_heads_and_a_source_its_line() {
    let arcs = after(form("translation"), &[]);
    let layers: Vec<(&str, Side, Side)> =
        arcs.layers.iter().map(|layer| (layer.title.as_str(), layer.queries, layer.keys)).collect();
    assert!(layers.contains(&("Cross-attention", Side::Sentence, Side::Source)), "{layers:?}");
    let cross = layers.iter().position(|layer| layer.2 != layer.1).expect("one that crosses");
    assert!(!arcs.source.is_empty());
    assert_eq!(arcs.directions(cross, WordAt::in_source(0)), [Direction::SeenBy]);
    assert_eq!(arcs.directions(cross, WordAt::in_sentence(0)), [Direction::LooksAt]);
    let one = ShownArcs { layer: cross, ..shown(0) };
    assert!(arcs.arcs(&one).iter().all(|arc| arc.to.side == Side::Source));
    let none = ShownArcs { direction: Direction::SeenBy, ..one };
    assert_eq!(arcs.arcs(&none), []);
    let wrong = ShownArcs { word: WordAt::in_sentence(99), layer: 9, ..one };
    assert_eq!((arcs.arcs(&wrong), arcs.card(&wrong)), (Vec::new(), Vec::new()));
}

#[test]
fn where_each_word_sees_itself_alone_there_are_no_arcs() {
    let arcs = after(small(), &[Command::Sentence(SentenceCommand::Set("seal".to_owned()))]);
    assert_eq!((arcs.words.len(), arcs.layers.len()), (1, 0));
    assert_eq!(arcs.arcs(&shown(0)), []);
}
