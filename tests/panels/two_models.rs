//! Two models on one sentence by label: they come to the front by themselves, each with its picture, beside the map of
//! their layers.

use std::sync::Arc;

use attune::app::panels::meaning::MeaningPanel;
use attune_core::kernel::{Kernel, Snapshot};
use attune_core::lesson::{Lesson, read};
use attune_view::view_model::number;
use attune_view::view_model::spaces::TwoSpaces;
use egui::Vec2;
use egui_kittest::kittest::Queryable;

use crate::common::lessons::{BANK, lesson};
use crate::common::top::at;
use crate::live::PanelHarness;
use crate::pointer::click;

/// As the panel is in a window of 1280 by 720.
const SIZE: Vec2 = Vec2::new(360.0, 900.0);

fn bank(seed: u64) -> Kernel {
    Kernel::trained(Arc::new(Lesson { seed, title: format!("Bank {seed}"), ..Lesson::clone(&lesson(BANK)) }))
}

fn snapshot(kernel: &Kernel) -> Arc<Snapshot> {
    Arc::new(kernel.snapshot())
}

#[test]
fn both_models_have_their_pictures_and_their_answers() {
    let mut panel = PanelHarness::new(bank(1), SIZE, MeaningPanel::default());
    click(&mut panel, "Two models");
    let offered = ["Compare with a model that comes with attune", "Compare with another model …"];
    assert!(
        offered.iter().all(|label| panel.query_by_label(label).is_some()),
        "one click opens the model that is here"
    );
    click(&mut panel, "Neighbours");
    panel.put_beside(snapshot(&bank(2)));
    assert!(panel.query_by_label("Bank 1, and beside it Bank 2").is_some(), "the comparison comes to the front");
    for name in ["Bank 1", "Bank 2"] {
        let said = format!(" in {name}");
        let picture = panel.get_by_label_contains(&said);
        assert!(picture.rect().left() >= 0.0 && picture.rect().right() <= SIZE.x, "{name}: {}", picture.rect());
    }
    assert!(panel.query_by_label("Map of Similarity of the layers").is_some());
    click(&mut panel, "Neighbours");
    assert!(panel.query_by_label("Bank 1, and beside it Bank 2").is_none(), "and can be left");
}

#[test]
fn two_files_of_vectors_tell_which_words_moved() {
    let path = at("tests/fixtures/vectors/plain.bin");
    let kernel = Kernel::trained(Arc::new(read(&path).expect("no issues")));
    let mut other = attune_engine::vectors::read(&path, &mut |_| true).expect("vectors");
    other.rows.row_mut(4).iter_mut().for_each(|x| *x = -*x);
    let space = kernel.snapshot().space.expect("a space");
    let word = space.vocabulary[4].clone();
    let spaces = TwoSpaces::of(&space, ["old".to_owned(), "new".to_owned()], other).expect("one width");
    assert_eq!((&spaces.most[0].word, spaces.shared), (&word, 12));
    let row = format!("{}  {word}", number(spaces.most[0].cosine));
    let mut panel = PanelHarness::new(kernel, SIZE, MeaningPanel::default());
    panel.put_spaces(spaces);
    assert!(
        panel.query_by_label_contains("new is rotated to match old as closely as possible on the 12 words").is_some(),
        "it comes to the front"
    );
    assert!(panel.query_by_label("End the comparison").is_some());
    // It is in both lists, of which all words are.
    let first = panel.query_all_by_label(&row).next().expect("a row");
    first.click();
    panel.run_steps(2);
    assert_eq!(panel.marked(), Some(0), "a row marks its point");
}
