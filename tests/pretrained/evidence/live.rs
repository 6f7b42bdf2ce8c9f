//! The map on the stage: it fills piece by piece, is that of the command line, and ends with what it is of.

use attune_core::kernel::command::{InterventionCommand, SentenceCommand};
use attune_core::kernel::evidence::map::MapRequest;
use attune_core::kernel::{Command, Kernel};
use attune_view::panels::intervene::maps;
use attune_view::view_model::what_if::{MapKind, WhatIfModel};

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
    assert_eq!(what_if(&kernel).map_command(MapKind::Heads, 4, 2), None);

    let mut alone = shown(DOG, None);
    alone.apply(Command::Map);
    alone.settle();
    assert!(model(&alone).map.expect("a map").words.is_none());
    let off = what_if(&alone).map_command(MapKind::Heads, 2, 1).expect("a head");
    assert!(matches!(off, Command::Interventions(InterventionCommand::SetHead { head: 9, .. })), "{off:?}");
}

#[test]
fn a_map_ends_with_its_sentences_and_on_request() {
    let mut kernel = shown(DOG, Some(FOX));
    kernel.apply(Command::Map);
    kernel.advance();
    kernel.apply(Command::Sentence(SentenceCommand::Set(FOX.to_owned())));
    assert!(model(&kernel).map.is_none() && !kernel.is_busy());
    kernel.apply(Command::Map);
    assert!(kernel.notice().is_some_and(|why| why.contains("same answer")), "{:?}", kernel.notice());
    kernel.apply(Command::Sentence(SentenceCommand::SetSecond(None)));
    kernel.apply(Command::Map);
    assert!(kernel.is_busy());
    kernel.apply(Command::EndMap);
    assert!(model(&kernel).map.is_none() && !kernel.is_busy());
    kernel.apply(Command::Sentence(SentenceCommand::Set("the dog".to_owned())));
    kernel.apply(Command::Map);
    assert!(kernel.notice().is_some_and(|why| why.contains("no hidden word")), "{:?}", kernel.notice());
}
