//! What the caption of a lesson's picture says is so of the vectors that are drawn.

use std::sync::Arc;

use attune_core::kernel::{Kernel, Snapshot};
use attune_view::view_model::shares::StageShares;

use crate::common::shares::check;
use crate::common::top::at;

fn trained(name: &str) -> Snapshot {
    let lesson = attune_core::lesson::read(&at(format!("lessons/{name}.ron")));
    Kernel::trained(Arc::new(lesson.unwrap_or_else(|issues| panic!("{issues:?}")))).snapshot()
}

#[test]
fn the_shares_of_lessons_are_those_of_what_is_drawn() {
    for name in ["qkv", "heads", "next_word", "masks", "apple"] {
        check(name, &trained(name));
    }
}

/// Its table is trained further with the model, far from the vectors that chose the axes.
#[test]
fn masks_does_not_show_nearly_all() {
    let snapshot = trained("masks");
    let shares = StageShares::of(&snapshot);
    let [words, outputs, moves] = shares.shown(1.0, Some(2))[..] else { panic!("three sets") };
    assert!(words.1 > 0.9, "the static vectors are those that chose the axes: {words:?}");
    assert!((outputs.1 - 0.30).abs() < 0.01 && (moves.1 - 0.17).abs() < 0.01, "{outputs:?}, {moves:?}");
    assert!(shares.shown(1.0, None)[1].1 > outputs.1);
}
