//! The map, the words and the tables on the stage: they are those of the command line, and end with what they are of.

use attune_core::kernel::command::{InterventionCommand, SentenceCommand};
use attune_core::kernel::evidence::AskedAnswer;
use attune_core::kernel::evidence::map::MapRequest;
use attune_core::kernel::evidence::words::ShownAnswer;
use attune_core::kernel::{Command, Kernel};
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::evidence::maps::Receiver;
use attune_engine::numerics::evidence::words::WordMeasure;
use attune_engine::numerics::model::onward::Projected;
use attune_view::panels::intervene::maps;
use attune_view::view_model::what_if::{MapKind, WhatIfModel};
use attune_view::view_model::word_measures::WordMeasures;

use crate::common::close::{Tolerance, assert_close};
use crate::common::lessons::model;
use crate::common::top::at;
use crate::opened::{opened, running};

const DOG: &str = "the dog could not catch the fox because it was too slow, so it was the [MASK] that was too slow.";
const FOX: &str = "the fox could not catch the dog because it was too slow, so it was the [MASK] that was too slow.";

fn shown(first: &str, second: Option<&str>) -> Kernel {
    let mut kernel = running(&opened(&at("lessons/frame")));
    kernel.apply(Command::Sentence(SentenceCommand::Set(first.to_owned())));
    kernel.apply(Command::Sentence(SentenceCommand::SetSecond(second.map(str::to_owned))));
    kernel.settle();
    kernel
}

fn what_if(kernel: &Kernel) -> WhatIfModel {
    WhatIfModel::of(&kernel.snapshot()).expect("a model")
}

fn second_head(head: usize) -> InterventionCommand {
    InterventionCommand::SetHead { head, mode: HeadMode::Second(None) }
}

/// Returns the logit difference of the map's two classes, as the pass on the stage has it.
fn difference(kernel: &Kernel, classes: [usize; 2], place: usize) -> f64 {
    let logits = model(kernel).sentence.answers.logits.clone();
    let [answer, foil] = classes.map(|class| f64::from(logits.get(place, class)));
    answer - foil
}

#[test]
fn an_exchanged_head_has_the_effect_that_its_cell_says() {
    let mut kernel = shown(DOG, Some(FOX));
    kernel.apply(Command::Map);
    kernel.settle();
    let map = model(&kernel).map.expect("a map");
    let (low, high) = (map.sentence, map.second.expect("two sentences"));
    for (layer, own) in [(4, 3), (5, 0), (0, 1)] {
        let click = what_if(&kernel).map_command(MapKind::Heads, layer, own).expect("a head");
        kernel.apply(click);
        assert_eq!(kernel.notice(), None);
        kernel.settle();
        let share = map.heads[layer][own].expect("a share");
        let found = difference(&kernel, map.classes, map.place);
        assert_close("the difference", found, low + share * (high - low), Tolerance::SINGLE_PASS);
        let told = what_if(&kernel);
        assert!(
            told.said.iter().any(|said| said.contains("adds what it added in the second sentence")),
            "{:?}",
            told.said
        );
        // A second click makes the head live again.
        kernel.apply(told.map_command(MapKind::Heads, layer, own).expect("a head"));
        assert!(model(&kernel).interventions.heads.iter().all(|mode| *mode == HeadMode::Live));
    }
    kernel.apply(Command::Interventions(second_head(19)));
    kernel.apply(Command::Sentence(SentenceCommand::SetSecond(None)));
    assert!(model(&kernel).interventions.heads.iter().all(|mode| *mode == HeadMode::Live), "its source is gone");
    kernel.apply(Command::Interventions(second_head(19)));
    assert!(kernel.notice().is_some_and(|why| why.contains("no second sentence")), "{:?}", kernel.notice());
    kernel.apply(Command::Sentence(SentenceCommand::SetSecond(Some("the dog".to_owned()))));
    kernel.apply(Command::Interventions(second_head(19)));
    assert!(kernel.notice().is_some_and(|why| why.contains("exchanged token by token")), "{:?}", kernel.notice());
}

fn pair(answer: &str, against: &str) -> Command {
    let named = |name: &str| (!name.is_empty()).then(|| name.to_owned());
    Command::Answers(AskedAnswer { answer: named(answer), against: named(against), at: None })
}

#[test]
fn the_chosen_answer_and_foil_are_those_of_maps_words_and_code_and_are_undone() {
    let mut kernel = shown(DOG, Some(FOX));
    kernel.apply(Command::Map);
    kernel.settle();
    let before = model(&kernel).map.expect("a map");
    kernel.apply(pair("wolf", "cat"));
    assert_eq!(kernel.notice(), None);
    assert!(kernel.is_busy(), "the map begins again");
    kernel.settle();
    let map = model(&kernel).map.expect("a map");
    assert_eq!((&*map.answer, &*map.against), ("wolf", "cat"));
    let request = MapRequest {
        sentence: DOG.to_owned(),
        second: Some(FOX.to_owned()),
        asked: model(&kernel).asked.clone(),
        into: None,
        direct: false,
    };
    let expected = kernel.evidence().expect("a model").maps(&request, &|_, _| true).expect("maps");
    assert_eq!(map.words.as_ref(), expected.difference.words.as_ref());
    let code = what_if(&kernel).map_code(MapKind::Words).expect("code").to_owned();
    assert!(code.starts_with("// wolf against cat"), "{code}");
    kernel.apply(Command::Words(ShownAnswer::default()));
    answered(&mut kernel);
    let words = model(&kernel).words.expect("it was asked").found.expect("an answer").expect("words");
    assert_eq!((&*words.answer, &*words.against), ("wolf", "cat"));

    kernel.apply(Command::Undo);
    assert_eq!(model(&kernel).asked, AskedAnswer::default());
    assert!(model(&kernel).map.is_none(), "that map was of other answers");
    kernel.apply(Command::Map);
    kernel.settle();
    assert_eq!(model(&kernel).map.expect("a map"), before);
}

#[test]
fn answers_that_the_model_lacks_are_refused_as_on_the_command_line() {
    let mut kernel = shown(DOG, None);
    for (answer, foil, why) in [
        ("blorb glib", "", "answer: \"blorb glib\" is not one piece of this model"),
        ("", "blorb glib", "foil: \"blorb glib\" is not one piece of this model"),
        ("dog", "dog", "compared with itself"),
    ] {
        kernel.apply(pair(answer, foil));
        assert!(kernel.notice().is_some_and(|notice| notice.contains(why)), "{why}: {:?}", kernel.notice());
        assert_eq!(model(&kernel).asked, AskedAnswer::default());
    }
}

#[test]
fn the_foil_of_an_answer_is_the_other_candidate_for_the_hidden_word() {
    // Both sentences are answered by the same word, and one sentence alone has no other.
    for second in [None, Some(FOX)] {
        let mut kernel = shown(FOX, second);
        kernel.apply(Command::Map);
        assert_eq!(second.is_some(), kernel.notice().is_some_and(|why| why.contains("answer alike")));
        kernel.apply(Command::Words(ShownAnswer::default()));
        answered(&mut kernel);
        let words = model(&kernel).words.expect("it was asked").found.expect("an answer").expect("words");
        assert_eq!((&*words.answer, &*words.against), ("fox", "dog"));
    }
}

#[test]
fn the_map_fills_and_is_that_of_the_command_line() {
    let mut kernel = shown(DOG, Some(FOX));
    kernel.apply(Command::Map);
    let begun = model(&kernel).map.expect("a map");
    assert_eq!(begun.progress.done, 0);
    kernel.advance();
    let progress = model(&kernel).map.expect("a map").progress;
    assert!((1..progress.of).contains(&progress.done), "{progress:?}");
    kernel.settle();
    let map = model(&kernel).map.expect("a map");
    assert_eq!(map.progress.done, map.progress.of);
    let request = MapRequest {
        sentence: DOG.to_owned(),
        second: Some(FOX.to_owned()),
        asked: Default::default(),
        into: None,
        direct: false,
    };
    let expected = kernel.evidence().expect("a model").maps(&request, &|_, _| true).expect("maps");
    assert_eq!((&map.answer, &map.against, map.place), (&expected.answer, &expected.against, expected.place));
    assert_eq!(
        (map.words.as_ref(), Some(&map.heads)),
        (expected.difference.words.as_ref(), expected.difference.heads.as_ref())
    );
    let model = what_if(&kernel);
    let grids = maps(&model);
    assert_eq!(grids.iter().map(|(kind, _)| *kind).collect::<Vec<_>>(), [MapKind::Words, MapKind::Heads]);
    assert_eq!(grids[0].1.value(3, 2).map(f64::from).map(|x| x > 0.9), Some(true), "the noun carries it to layer 4");
}

#[test]
fn a_cell_makes_its_change_and_the_map_stays() {
    let mut kernel = shown(DOG, Some(FOX));
    kernel.apply(Command::Map);
    kernel.settle();
    kernel.apply(what_if(&kernel).map_command(MapKind::Words, 4, 2).expect("a patch"));
    let snapshot = model(&kernel);
    let patch = snapshot.interventions.patch.as_ref().expect("a patch");
    assert_eq!((patch.block, patch.position, patch.from), (4, 2, 2));
    assert!(snapshot.map.is_some());
    let exchange = what_if(&kernel).map_command(MapKind::Heads, 4, 3).expect("a head");
    assert_eq!(exchange, Command::Interventions(second_head(19)));
    assert!(what_if(&kernel).has_paths_into(19) && !what_if(&kernel).has_paths_into(3));

    let mut alone = shown(DOG, None);
    alone.apply(Command::Map);
    alone.settle();
    assert!(model(&alone).map.expect("a map").words.is_none());
    let off = what_if(&alone).map_command(MapKind::Heads, 2, 1).expect("a head");
    assert!(matches!(off, Command::Interventions(InterventionCommand::SetHead { head: 9, .. })), "{off:?}");
}

#[test]
fn paths_into_a_head_are_those_of_the_command_line() {
    let mut kernel = shown(DOG, Some(FOX));
    kernel.apply(Command::Map);
    kernel.settle();
    kernel.apply(Command::Paths(20));
    assert!(kernel.is_busy(), "paths are computed piece by piece");
    kernel.settle();
    let map = model(&kernel).map.expect("a map");
    assert_eq!(map.progress.done, map.progress.of);
    let paths = map.paths.clone().expect("paths");
    for (part, found) in [Projected::Query, Projected::Key, Projected::Value].into_iter().zip(&paths.through) {
        let request = MapRequest {
            sentence: DOG.to_owned(),
            second: Some(FOX.to_owned()),
            asked: Default::default(),
            into: Some(Receiver::Head { block: 5, head: 0, part }),
            direct: false,
        };
        let expected = kernel.evidence().expect("a model").maps(&request, &|_, _| true).expect("maps");
        assert_eq!(Some(found), expected.paths.as_ref(), "{part:?}");
    }
    let grids = maps(&what_if(&kernel));
    assert_eq!(grids.iter().filter(|(kind, _)| *kind == MapKind::Paths).count(), 3);
    assert!(grids[2].1.title.contains("queries"), "{}", grids[2].1.title);
}

#[test]
fn paths_need_two_sentences_and_an_earlier_head() {
    let mut kernel = shown(DOG, Some(FOX));
    let refused = |kernel: &mut Kernel, head: usize, why: &str| {
        kernel.apply(Command::Paths(head));
        assert!(kernel.notice().is_some_and(|notice| notice.contains(why)), "{why}: {:?}", kernel.notice());
    };
    refused(&mut kernel, 20, "compute it first");
    kernel.apply(Command::Map);
    refused(&mut kernel, 99, "there is no head 100");
    refused(&mut kernel, 3, "no head is before");
    kernel.apply(Command::Sentence(SentenceCommand::SetSecond(None)));
    kernel.apply(Command::Map);
    refused(&mut kernel, 20, "needs one");
}

#[test]
fn a_map_ends_with_its_sentences_and_on_request() {
    let mut kernel = shown(DOG, Some(FOX));
    kernel.apply(Command::Map);
    kernel.advance();
    kernel.apply(Command::Sentence(SentenceCommand::Set(FOX.to_owned())));
    assert!(model(&kernel).map.is_none() && !kernel.is_busy());
    kernel.apply(Command::Map);
    assert!(kernel.notice().is_some_and(|why| why.contains("answer alike")), "{:?}", kernel.notice());
    kernel.apply(Command::Sentence(SentenceCommand::SetSecond(None)));
    kernel.apply(Command::Map);
    kernel.advance();
    kernel.apply(Command::EndMap);
    let stopped = model(&kernel).map.expect("its cells stay");
    assert!(stopped.is_stopped && stopped.progress.done > 0 && !kernel.is_busy());
    kernel.apply(Command::Map);
    assert_eq!(model(&kernel).map.expect("the same map").progress.done, stopped.progress.done);
    kernel.settle();
    assert!(!model(&kernel).map.expect("it goes on").is_running());
    kernel.apply(Command::EndMap);
    assert!(model(&kernel).map.is_none() && !kernel.is_busy());
    kernel.apply(Command::Sentence(SentenceCommand::Set("the dog".to_owned())));
    kernel.apply(Command::Map);
    assert!(kernel.notice().is_some_and(|why| why.contains("no hidden word")), "{:?}", kernel.notice());
}

/// Waits until the kernel has answered all that it was asked.
fn answered(kernel: &mut Kernel) {
    kernel.settle();
    assert!(!kernel.is_busy());
}

#[test]
fn the_words_on_the_stage_are_those_of_the_command_line_and_their_measures_part() {
    let mut kernel = shown(DOG, None);
    kernel.apply(Command::Words(ShownAnswer::default()));
    assert!(model(&kernel).words.expect("it was asked").found.is_none() && kernel.is_busy());
    answered(&mut kernel);
    let words = model(&kernel).words.expect("it was asked").found.expect("an answer").expect("words");
    // The stage compares with the other candidate for the hidden word, which is not the next likely answer.
    let asked = AskedAnswer { against: Some("fox".to_owned()), ..AskedAnswer::default() };
    let expected = kernel.evidence().expect("a model").words(DOG, &asked, &|_, _| true).expect("words");
    assert_eq!(*words, expected);
    let measures = WordMeasures::of(&kernel.snapshot()).expect("a model");
    assert!(measures.parting(&words).starts_with("The measures part: "), "{}", measures.parting(&words));
    let largest = words.table.measures.iter().find(|(of, _)| *of == WordMeasure::Cut).expect("a measure").1.clone();
    let arcs = measures.arcs(WordMeasure::Cut).expect("arcs");
    assert_eq!((arcs.place, &arcs.values), (words.place, &largest));
    assert_eq!(arcs.shares.iter().copied().fold(0.0, f32::max), 1.0);

    let other = words.table.clone();
    let fox = model(&kernel).classes.iter().position(|class| class == "fox");
    kernel.apply(Command::Words(ShownAnswer { at: None, answer: fox }));
    answered(&mut kernel);
    let swapped = model(&kernel).words.expect("it was asked").found.expect("an answer").expect("words");
    assert_eq!((&swapped.answer, &swapped.against), (&words.against, &words.answer));
    assert_close("the difference", swapped.table.difference, -other.difference, Tolerance::DOUBLE_SUMS);
}

#[test]
fn what_is_asked_ends_with_its_sentence_and_on_request() {
    let mut kernel = shown(DOG, None);
    for (ask, end) in
        [(Command::Words(ShownAnswer::default()), Command::EndWords), (Command::Tables(3), Command::EndTables)]
    {
        let is_there = |kernel: &Kernel| model(kernel).words.is_some() || model(kernel).tables.is_some();
        kernel.apply(ask.clone());
        kernel.apply(end);
        assert!(!is_there(&kernel) && !kernel.is_busy(), "{ask:?}");
        kernel.apply(ask.clone());
        kernel.apply(Command::Sentence(SentenceCommand::Set(FOX.to_owned())));
        assert!(!is_there(&kernel) && !kernel.is_busy(), "{ask:?}");
        kernel.apply(Command::Sentence(SentenceCommand::Set(DOG.to_owned())));
    }
    kernel.apply(Command::Tables(10_000));
    assert!(kernel.notice().is_some_and(|why| why.contains("there is no head 10001")), "{:?}", kernel.notice());
    kernel.apply(Command::Sentence(SentenceCommand::Set("the dog".to_owned())));
    kernel.apply(Command::Words(ShownAnswer::default()));
    answered(&mut kernel);
    let why = model(&kernel).words.expect("it was asked").found.expect("an end").expect_err("no hidden word");
    assert!(why.contains("no hidden word"), "{why}");
}

#[test]
fn the_tables_on_the_stage_are_those_of_the_command_line() {
    let mut kernel = shown("the dog [MASK]", None);
    kernel.apply(Command::Tables(5));
    answered(&mut kernel);
    let found = model(&kernel).tables.expect("it was asked").found.expect("an answer").expect("tables");
    let (layer, own) = (found.tables.tables[0].layer, found.tables.tables[0].head);
    let words: Vec<String> = found.tables.tables[0].looks_at.iter().map(|(word, _)| word.clone()).collect();
    assert!(words.contains(&"dog".to_owned()), "{words:?}");
    let dog = ["dog".to_owned()];
    let expected = kernel.evidence().expect("a model").tables(&[(layer, own)], &dog, &|_, _| true).expect("tables");
    assert_eq!(found.tables.composition, expected.composition);
    let row = found.tables.tables[0].looks_at.iter().find(|(word, _)| word == "dog").expect("a row");
    assert_eq!(*row, expected.tables[0].looks_at[0]);
}
