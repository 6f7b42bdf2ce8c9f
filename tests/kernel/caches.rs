//! Caches change no number: a kernel whose caches are empty shows the same.

use attune_core::kernel::command::{InterventionCommand, Reference, SentenceCommand, TrainingCommand, WeightCommand};
use attune_core::kernel::{Command, Kernel};
use attune_core::lesson::Recipe;
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::params::TensorName;

use crate::common::lessons::{SMALL, lesson};

#[test]
fn a_copy_begins_without_passes_and_shows_the_same() {
    let lesson = lesson(SMALL);
    let mut kernel = Kernel::trained(lesson.clone());
    let shown = |kernel: &Kernel| {
        let model = kernel.snapshot().model.expect("a model");
        let compared = model.comparison.map(|comparison| comparison.difference);
        let ghost = model.replaced.map(|replaced| replaced.sentence.clone());
        format!("{:?} {:?} {compared:?} {ghost:?} {:?}", model.sentence, model.second, model.shares)
    };
    let tensor = TensorName::QueryWeights.into();
    for command in [
        Command::Interventions(InterventionCommand::SetTemperature(Some(0.5))),
        Command::Weights(WeightCommand::Set { tensor, row: 0, col: 0, value: 2.0 }),
        Command::Interventions(InterventionCommand::SetHead { head: 1, mode: HeadMode::Frozen(None) }),
        Command::Training(TrainingCommand::Scrub(7)),
        Command::Weights(WeightCommand::Set { tensor, row: 1, col: 0, value: -0.0 }),
        Command::Training(TrainingCommand::Compare(Some(Reference::Step(3)))),
        Command::Training(TrainingCommand::Branch),
        Command::Training(TrainingCommand::Step(5)),
        Command::Training(TrainingCommand::Scrub(9)),
        Command::Sentence(SentenceCommand::SetSecond(Some("the warm seal".to_owned()))),
        Command::Retrain(Box::new(Recipe { seed: Some(11), ..Recipe::default() })),
        Command::Undo,
        Command::Redo,
        Command::Undo,
        Command::Undo,
        Command::Undo,
        Command::Undo,
        Command::Undo,
        Command::Training(TrainingCommand::Scrub(12)),
    ] {
        kernel.apply(command.clone());
        kernel.settle();
        let mut copy = kernel.copy(lesson.clone());
        assert!(shown(&copy) == shown(&kernel), "{command:?}");
        copy.settle();
        assert!(shown(&copy) == shown(&kernel), "{command:?}");
    }
}
