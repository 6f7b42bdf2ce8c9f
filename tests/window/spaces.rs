//! Files of vectors in a window: a second one turned onto the first, and the words that a search finds as a file.

use attune::app::actions::{Action, FilePurpose, WindowAction};
use attune::app::link::LatestModels;
use attune::app::shell::ui::WindowState;
use attune::app::stage::state::StageState;
use attune::app::ui_state::ViewState;
use attune::app::workspace::notices::ExportModel;
use attune_engine::vectors::{Format, Vectors, read, write};
use attune_view::view_model::stage::{SecondKind, StageModel};
use bevy::prelude::*;

use crate::common::top::at;
use crate::{ask, home, open, until};

fn points(world: &World) -> &StageModel {
    world.resource::<StageState>().points.as_deref().expect("points")
}

fn plain() -> Vectors {
    read(&at("tests/fixtures/vectors/plain.bin"), &mut |_| true).expect("vectors")
}

/// A window on a file of vectors, and the folder that is its home.
fn window(name: &str) -> (World, std::path::PathBuf) {
    let (folder, home) = home(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut world = open(&home, &at("tests/fixtures/vectors/plain.bin"));
    until(&mut world, "points", |world| world.resource::<StageState>().points.is_some());
    until(&mut world, "a model", |world| {
        world.resource::<LatestModels>().snapshot().is_some_and(|snapshot| snapshot.model.is_some())
    });
    (world, folder)
}

#[test]
fn a_second_file_that_is_dropped_is_turned_onto_the_first() {
    let (mut world, folder) = window("spaces");
    // The same space in a mirror, but for one word.
    let mut other = plain();
    for row in 0..other.len() {
        other.rows.row_mut(row).reverse();
    }
    other.rows.row_mut(7).iter_mut().for_each(|x| *x = -*x);
    let file = folder.join("other.bin");
    let mut bytes = Vec::new();
    write(&other.table(), Format::Word2VecBinary, &mut bytes).expect("written");
    std::fs::write(&file, bytes).expect("written");
    ask(&mut world, Action::UseFile(FilePurpose::Dropped, file.clone()));
    until(&mut world, "the other file", |world| points(world).second_kind == SecondKind::Spaces);
    let spaces = world.resource::<LatestModels>().spaces.clone().expect("two spaces");
    assert_eq!((spaces.names[1].as_str(), &*spaces.most[0].word), ("other.bin", &*other.words[7]));
    let model = points(&world);
    let way = |token: usize| {
        let token = &model.second[token];
        (0..3).map(|axis| (token.end[axis] - token.start[axis]).powi(2)).sum::<f32>().sqrt()
    };
    let least = spaces.most.len();
    assert!(model.tokens.is_empty() && model.has_moves());
    assert!(way(0) > 2.0 * way(least), "{} moved most, {} least", way(0), way(least));
    assert_eq!(world.resource::<StageState>().ends()[1], ("other file", "other.bin"));

    ask(&mut world, WindowAction::EndBeside);
    until(&mut world, "the sentence", |world| points(world).second_kind == SecondKind::Sentence);
    assert!(!points(&world).tokens.is_empty());

    ask(&mut world, Action::UseFile(FilePurpose::OpenBeside, at("tests/fixtures/vectors/turned.npy")));
    until(&mut world, "the refusal", |world| world.resource::<WindowState>().export != ExportModel::Opening);
    let ExportModel::Said(Err(why)) = &world.resource::<WindowState>().export else { panic!("it has no words") };
    assert!(why.contains("no word is in both"), "{why}");
}

#[test]
fn what_is_found_on_the_stage_is_a_file_of_vectors() {
    let (mut world, folder) = window("found");
    let file = folder.join("found.tsv");
    let written = |world: &mut World| {
        ask(world, Action::UseFile(FilePurpose::ExportFound(Format::Tsv), file.clone()));
        until(world, "the file", |world| {
            !matches!(world.resource::<WindowState>().export, ExportModel::Writing { .. })
        });
        world.resource::<WindowState>().export.clone()
    };
    let ExportModel::Said(Err(why)) = written(&mut world) else { panic!("nothing is found") };
    assert!(why.contains("Search for words, or draw a lasso"), "{why}");
    world.resource_mut::<ViewState>().highlight.search.text = "king".to_owned();
    until(&mut world, "the search", |world| world.resource::<StageState>().emphasis.is_searched());
    let ExportModel::Written(_) = written(&mut world) else { panic!("it is written") };
    let found = read(&file, &mut |_| true).expect("vectors");
    let wanted = plain();
    let row = found.row_of("king").expect("found");
    assert_eq!(found.rows.row(row), wanted.rows.row(0));
    assert!(found.words.iter().all(|word| word.contains("king")) && found.len() < wanted.len());
}
