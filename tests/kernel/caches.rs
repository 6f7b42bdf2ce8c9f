//! Caches change no number: a kernel whose caches are empty shows the same.

use attune_core::kernel::command::Reference;
use attune_core::kernel::{Command, Kernel};
use attune_core::lesson::Recipe;
use attune_engine::numerics::attention::HeadMode;
use attune_engine::numerics::params::TensorName;

use crate::common::commands::{BRANCH, beside, compare, head, retraining, scrub, set, step, temperature};
use crate::common::lessons::{SMALL, apply, lesson};

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
    for command in [
        temperature(0.5),
        set(TensorName::QueryWeights, 0, 0, 2.0),
        head(1, HeadMode::Frozen(None)),
        scrub(7),
        set(TensorName::QueryWeights, 1, 0, -0.0),
        compare(Reference::Step(3)),
        BRANCH,
        step(5),
        scrub(9),
        beside("the warm seal"),
        retraining(Recipe { seed: Some(11), ..Recipe::default() }),
        Command::Undo,
        Command::Redo,
        Command::Undo,
        Command::Undo,
        Command::Undo,
        Command::Undo,
        Command::Undo,
        scrub(12),
    ] {
        apply(&mut kernel, command.clone());
        let mut copy = kernel.copy(lesson.clone());
        assert!(shown(&copy) == shown(&kernel), "{command:?}");
        copy.settle();
        assert!(shown(&copy) == shown(&kernel), "{command:?}");
    }
}
