//! Files of vectors in a window: a second one turned onto the first, and the words that a search finds as a file.

use std::sync::Arc;

use attune::app::actions::{Action, FilePurpose, WindowAction};
use attune::app::link::LatestModels;
use attune::app::shell::beside::await_space;
use attune::app::shell::state::WindowState;
use attune::app::stage::state::StageState;
use attune::app::systems;
use attune::app::theme::motion;
use attune::app::ui_state::ViewState;
use attune::app::workspace::notices::ExportModel;
use attune_core::kernel::Kernel;
use attune_core::lesson::links::TextLink;
use attune_core::lesson::vector_files::lesson_of;
use attune_engine::vectors::{Format, Vectors, read, write};
use attune_view::view_model::stage::{SecondKind, StageModel};
use bevy::prelude::*;

use crate::common::folder::Folder;
use crate::common::top::at;
use crate::{ask, home, lesson_in, open, until};

fn points(world: &World) -> &StageModel {
    world.resource::<StageState>().points.as_deref().expect("points")
}

fn plain() -> Vectors {
    read(&at("tests/fixtures/vectors/plain.bin"), &mut |_| true).expect("vectors")
}

/// A window on a file of vectors, and the folder that is its home.
fn window(name: &str) -> (Folder, World) {
    let (folder, home) = home(name);
    let mut world = open(&home, &at("tests/fixtures/vectors/plain.bin"));
    until(&mut world, "points", |world| world.resource::<StageState>().points.is_some());
    until(&mut world, "a model", |world| {
        world.resource::<LatestModels>().snapshot().is_some_and(|snapshot| snapshot.model.is_some())
    });
    (folder, world)
}

#[test]
fn a_second_file_that_is_dropped_is_turned_onto_the_first() {
    let (folder, mut world) = window("spaces");
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
    assert!(why.contains("the rows have no words"), "{why}");
}

#[test]
fn a_second_file_waits_for_the_first_and_a_model_is_not_compared_with_vectors() {
    let (_folder, home) = home("beside");
    let mut world = open(&home, &at("tests/fixtures/vectors/plain.bin"));
    await_space(&mut world, at("tests/fixtures/vectors/plain.vec"));
    until(&mut world, "both files", |world| {
        world.resource::<StageState>().points.as_ref().is_some_and(|points| points.second_kind == SecondKind::Spaces)
    });
    let spaces = world.resource::<LatestModels>().spaces.clone().expect("two spaces");
    assert_eq!((spaces.names[1].as_str(), spaces.shared), ("plain.vec", 12));

    ask(&mut world, Action::UseFile(FilePurpose::OpenBeside, at("lessons/apple.ron")));
    let ExportModel::Said(Err(why)) = &world.resource::<WindowState>().export else { panic!("it has no words") };
    assert!(why.contains("is compared with another file of vectors") && why.contains("--to word2vec"), "{why}");
}

#[test]
fn a_link_opens_a_file_of_vectors_beside_the_lesson() {
    let (folder, home) = home("link");
    let mut world = open(&home, &lesson_in(&folder));
    until(&mut world, "a lesson", |world| world.resource::<LatestModels>().snapshot().is_some());
    let follow = |world: &mut World| ask(world, Action::Follow(TextLink::File("own.vec".to_owned())));
    follow(&mut world);
    let title =
        |world: &World| world.resource::<LatestModels>().snapshot().map(|snapshot| snapshot.lesson.title.clone());
    assert_ne!(title(&world).as_deref(), Some("own.vec"), "there is no such file");
    std::fs::copy(at("tests/fixtures/vectors/plain.vec"), folder.join("own.vec")).expect("a copy");
    follow(&mut world);
    until(&mut world, "the file", |world| title(world).as_deref() == Some("own.vec"));
}

#[test]
fn the_first_rows_of_a_large_file_glide_to_their_places_among_all() {
    const ROWS: usize = 40_000;
    let (folder, _) = home("glide");
    let mut bytes = format!("{ROWS} 220\n").into_bytes();
    for row in 0..ROWS {
        bytes.extend(format!("word{row} ").bytes());
        bytes.extend((0..220).flat_map(|i| (((row * 31 + i * 17) % 7 * (1 + row / 9000)) as f32 - 3.0).to_le_bytes()));
    }
    let file = folder.join("large.bin");
    std::fs::write(&file, bytes).expect("written");
    let mut first = None;
    let whole = lesson_of(&file, &mut |lesson| first = Some(lesson)).expect("vectors");
    let [first, whole] =
        [first.expect("it is large"), whole].map(|lesson| Arc::new(Kernel::trained(Arc::new(lesson)).snapshot()));
    let (mut models, mut stage, mut view) = (LatestModels::default(), StageState::default(), ViewState::default());
    systems::show(first, &mut models, &mut stage, &mut view);
    let before = stage.points.clone().expect("points");
    systems::show(whole, &mut models, &mut stage, &mut view);
    let places = |model: &StageModel| model.words.iter().map(|word| word.at).collect::<Vec<_>>();
    assert_eq!(places(stage.points.as_ref().expect("points")), places(&before), "nothing has moved yet");
    let glide = stage.glide.as_mut().expect("a glide");
    let (half, _) = glide.advance(motion::GLIDE / 2.0);
    let (end, _) = glide.advance(motion::GLIDE);
    assert!(glide.has_arrived() && end.words.len() == ROWS);
    let (from, way, to) = (places(&before), places(&half), places(&end));
    assert_eq!(way.len(), from.len());
    let is_between = |row: usize, axis: usize| {
        let ends = [from[row][axis], to[row][axis]];
        (ends[0].min(ends[1])..=ends[0].max(ends[1])).contains(&way[row][axis])
    };
    assert!((0..way.len()).all(|row| (0..3).all(|axis| is_between(row, axis))));
    assert!((0..way.len()).any(|row| way[row] != from[row] && way[row] != to[row]), "they are on their way");
}

#[test]
fn what_is_found_on_the_stage_is_a_file_of_vectors() {
    let (folder, mut world) = window("found");
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
