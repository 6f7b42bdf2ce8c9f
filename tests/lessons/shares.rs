//! What the caption of a lesson's picture says is so of the vectors that are drawn.

use std::sync::Arc;

use attune_core::kernel::{Kernel, Snapshot};
use attune_engine::numerics::params::TensorName;
use attune_view::view_model::axes::StageShares;

use crate::common::close::{Tolerance, assert_close};
use crate::common::lessons::of_file;

fn trained(name: &str) -> Snapshot {
    Kernel::trained(Arc::new(of_file(format!("lessons/{name}.ron")))).snapshot()
}

/// Its table is trained further with the model: that is what is drawn, and what chose the axes.
#[test]
fn masks_shows_the_table_that_its_model_reads() {
    let snapshot = trained("masks");
    let (space, model) = (snapshot.space.as_ref().expect("a space"), snapshot.model.as_ref().expect("a model"));
    assert_eq!(space.vectors.widened().flat(), model.parameters.values_of(TensorName::Embedding));
    let shares = StageShares::of(&snapshot);
    let shown = shares.shown(1.0, Some(2));
    let all: Vec<f32> = shown.iter().map(|(_, share)| *share).collect();
    assert_close("words, outputs and moves", all, [0.46, 0.32, 0.21], Tolerance::of_digits(2));
    assert!(shares.shown(1.0, None)[1].1 > shown[1].1);
}
