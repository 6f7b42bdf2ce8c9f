//! What each weight does to a word in the picture.

use std::sync::Arc;

use attune_core::kernel::Command;
use attune_core::kernel::command::{InterventionCommand, WeightCommand};
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::params::{TensorId, TensorName};
use attune_view::view_model::effects::WeightEffects;
use attune_view::view_model::stage::StageModel;

use crate::common::lessons::{APPLE, kernel};

/// How far a word's point moves in the picture when an entry grows a little.
fn moved(tensor: TensorId, (row, col): (usize, usize)) -> f32 {
    const STEP: f32 = 0.05;
    let mut kernel = kernel(APPLE);
    let end = |kernel: &attune_core::kernel::Kernel| StageModel::of(&kernel.snapshot()).expect("points").tokens[0].end;
    let value = kernel.snapshot().model.expect("a model").parameters.entry(tensor, row, col).expect("an entry");
    let before = end(&kernel);
    kernel.apply(Command::Weights(WeightCommand::Set { tensor, row, col, value: value + STEP }));
    let after = end(&kernel);
    before.iter().zip(after).map(|(before, after)| (after - before).powi(2)).sum::<f32>().sqrt()
}

#[test]
fn the_entry_that_matters_most_moves_the_word_most() {
    let snapshot = Arc::new(kernel(APPLE).snapshot());
    let effects = WeightEffects::of(&snapshot, 0).expect("a model");
    for name in [TensorName::QueryWeights, TensorName::ValueWeights, TensorName::OutputWeights] {
        let tensor = TensorId::from(name);
        let of = effects.of_tensor(tensor).expect("a small model");
        let strongest = of.strongest().expect("attention moves the word");
        assert_eq!(of.share(strongest.0, strongest.1), 1.0);
        let most = moved(tensor, strongest);
        let weak = (0..4).map(|row| (row, 0)).find(|entry| of.share(entry.0, entry.1) < 0.5);
        assert!(most > 0.0, "{tensor}");
        assert!(weak.is_none_or(|weak| moved(tensor, weak) < most), "{tensor}: {weak:?} moves more than {strongest:?}");
    }
}

#[test]
fn effects_are_not_measured_of_changed_heads() {
    let mut kernel = kernel(APPLE);
    kernel.apply(Command::Interventions(InterventionCommand::SetHead { head: 0, mode: HeadMode::Off }));
    let snapshot = Arc::new(kernel.snapshot());
    let effects = WeightEffects::of(&snapshot, 0).expect("a model");
    assert!(effects.of_tensor(TensorName::QueryWeights.into()).is_err_and(|why| why.contains("Reset")));
    assert!(WeightEffects::of(&snapshot, 99).is_none(), "no such word");
}
