//! The tour of a model that is opened as a folder: it comes by itself and is kept, and its links lead to heads and
//! sentences.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use attune::app::actions::{Action, WindowAction};
use attune::app::link::LatestModels;
use attune::app::panels::{PanelId, PanelName};
use attune::app::ui_state::ViewState;
use attune::app::workspace::WorkspaceState;
use attune_core::kernel::snapshot::Snapshot;
use attune_core::lesson::links::TextLink;
use bevy::prelude::*;

use crate::{ask, frame, home, open, sentence, until};

fn snapshot(world: &World) -> Arc<Snapshot> {
    world.resource::<LatestModels>().snapshot().cloned().expect("a snapshot")
}

fn cells(world: &World) -> usize {
    snapshot(world).notebook.cells.len()
}

fn has_tour(world: &World) -> bool {
    world.resource::<LatestModels>().snapshot().is_some_and(|snapshot| snapshot.is_toured)
}

/// The model that comes with attune, in a folder of the test's own.
fn model(folder: &Path) -> PathBuf {
    let model = folder.join("depth");
    std::fs::create_dir_all(&model).expect("a folder");
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("lessons/depth");
    for file in std::fs::read_dir(shipped).expect("a folder") {
        let file = file.expect("a file");
        std::fs::copy(file.path(), model.join(file.file_name())).expect("a copy");
    }
    model
}

#[test]
fn a_model_opens_with_a_tour_whose_links_lead_to_heads_and_sentences() {
    let (folder, home) = home("tour");
    let mut world = open(&home, &model(&folder));
    until(&mut world, "the tour", has_tour);
    assert!(cells(&world) > 3, "{} cells", cells(&world));

    let attention = PanelId::of(PanelName::Attention);
    world.resource_mut::<WorkspaceState>().0.open_panels.close(attention);
    ask(&mut world, Action::Follow(TextLink::Attention(6)));
    assert!(world.resource::<WorkspaceState>().0.open_panels.fronts().any(|panel| panel == attention));
    assert_eq!(world.resource::<ViewState>().selection.head, 5);

    ask(&mut world, Action::Follow(TextLink::Sentence("the dog saw a bird.".to_owned())));
    until(&mut world, "the sentence", |world| {
        sentence(world).is_some_and(|words| words.contains("the dog saw a bird ."))
    });

    // A reset of the lesson measures it again.
    let before = snapshot(&world).notebook.cells[1].cell.clone();
    ask(&mut world, WindowAction::ResetLesson);
    frame(&mut world);
    until(&mut world, "the tour again", |world| {
        let cell = snapshot(world).notebook.cells.get(1).map(|shown| shown.cell.clone());
        has_tour(world) && cell.is_some_and(|cell| !Arc::ptr_eq(&cell, &before) && cell == before)
    });
}
