//! Strokes of the brush, and shakes.

use attune_core::kernel::Command;
use attune_core::kernel::command::{Brush, WeightCommand};
use attune_engine::numerics::params::TensorName;

use super::{apply, model, notice, shown, trained, undo_label};

fn paint(entries: &[(usize, usize)], brush: Brush, stroke: u64) -> Command {
    Command::Weights(WeightCommand::Paint {
        tensor: TensorName::QueryWeights.into(),
        entries: entries.to_vec(),
        brush,
        stroke,
    })
}

fn shake(scale: f32, draw: u64) -> Command {
    Command::Weights(WeightCommand::Perturb { tensor: TensorName::QueryWeights.into(), scale, draw })
}

#[test]
fn a_stroke_is_one_undo_and_the_next_stroke_another() {
    let mut kernel = trained();
    let before = shown(&kernel);
    for entry in [(0, 0), (0, 1), (1, 1)] {
        apply(&mut kernel, paint(&[entry], Brush::Set(0.75), 1));
    }
    let first = shown(&kernel);
    let live = model(&kernel).parameters;
    let weights = live.matrix(TensorName::QueryWeights);
    assert_eq!([weights[(0, 0)], weights[(0, 1)], weights[(1, 1)]], [0.75; 3]);
    apply(&mut kernel, paint(&[(0, 0), (2, 2)], Brush::Add(-0.25), 2));
    apply(&mut kernel, paint(&[(2, 3)], Brush::Add(-0.25), 2));
    assert_eq!(model(&kernel).parameters.matrix(TensorName::QueryWeights)[(0, 0)], 0.5);
    assert_eq!(undo_label(&kernel).as_deref(), Some("painting of W_Q"));
    apply(&mut kernel, Command::Undo);
    assert!(shown(&kernel) == first);
    apply(&mut kernel, Command::Undo);
    assert!(shown(&kernel) == before);
}

#[test]
fn a_shake_is_the_same_whenever_it_is_drawn_and_is_undone() {
    let (mut one, mut two) = (trained(), trained());
    let before = model(&one).parameters;
    apply(&mut one, shake(0.1, 3));
    apply(&mut two, shake(0.1, 3));
    assert!(shown(&one) == shown(&two));
    let after = model(&one).parameters;
    let moved: Vec<f32> = after
        .values_of(TensorName::QueryWeights)
        .iter()
        .zip(before.values_of(TensorName::QueryWeights))
        .map(|(a, b)| a - b)
        .collect();
    assert!(moved.iter().all(|x| (-0.1001..0.1001).contains(x)) && moved.iter().any(|x| x.abs() > 0.05), "{moved:?}");
    assert_eq!(after.values_of(TensorName::KeyWeights), before.values_of(TensorName::KeyWeights));
    let shaken = shown(&one);
    apply(&mut one, Command::Undo);
    assert!(model(&one).parameters == before);
    apply(&mut one, shake(0.1, 4));
    assert!(shown(&one) != shaken, "another draw is another shake");
}

#[test]
fn a_stroke_over_nothing_changes_nothing() {
    let mut kernel = trained();
    let before = shown(&kernel);
    apply(&mut kernel, paint(&[], Brush::Set(1.0), 1));
    assert!(shown(&kernel) == before && notice(&kernel).is_none());
}
