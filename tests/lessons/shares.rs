//! What the caption of a lesson's picture says is so of the vectors that are drawn.

use std::sync::Arc;

use attune_core::kernel::{Kernel, Snapshot};
use attune_engine::numerics::params::TensorName;
use attune_view::view_model::axes::StageShares;

use crate::common::lessons::of_file;
use crate::common::shares::check;

fn trained(name: &str) -> Snapshot {
    Kernel::trained(Arc::new(of_file(format!("lessons/{name}.ron")))).snapshot()
}

#[test]
fn the_shares_of_lessons_are_those_of_what_is_drawn() {
    for name in ["qkv", "heads", "next_word", "masks", "apple"] {
        check(name, &trained(name));
    }
}

/// Its table is trained further with the model: that is what is drawn, and what chose the axes.
#[test]
fn masks_shows_the_table_that_its_model_reads() {
    let snapshot = trained("masks");
    let (space, model) = (snapshot.space.as_ref().expect("a space"), snapshot.model.as_ref().expect("a model"));
    assert_eq!(space.vectors.widened().flat(), model.parameters.values_of(TensorName::Embedding));
    let shares = StageShares::of(&snapshot);
    let shown = shares.shown(1.0, Some(2));
    for ((name, share), expected) in shown.iter().zip([0.46, 0.32, 0.21]) {
        assert!((share - expected).abs() < 0.01, "{name}: {share}, not {expected}");
    }
    assert!(shares.shown(1.0, None)[1].1 > shown[1].1);
}
