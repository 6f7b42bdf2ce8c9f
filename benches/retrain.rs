//! Retraining during a drag: the apple lesson from scratch, static vectors and model, on one thread; and how long an
//! outdated run delays the kernel's start of a newer recipe. In the profile of `cargo run`:
//!
//!     cargo bench --package attune-core --profile dev --bench retrain

use std::sync::Arc;

use attune_core::kernel::{Command, Kernel};
use attune_core::lesson::Recipe;

mod clock;

use clock::{tell, timed};

fn main() {
    const RUNS: u64 = 12;
    let text = include_str!("../lessons/apple.ron");
    let lesson = attune_core::lesson::parse("apple.ron", text).expect("no issues");
    let mut kernel = Kernel::trained(Arc::new(lesson));
    let (mut whole, mut model, mut pieces) = (Vec::new(), Vec::new(), Vec::new());
    for seed in 0..RUNS {
        let recipe = Recipe { seed: Some(100 + seed), ..Recipe::default() };
        timed(&mut whole, || {
            kernel.apply(Command::Retrain(Box::new(recipe.clone())));
            kernel.settle();
        });
        // The vectors stay the same, and only the model changes.
        let other = Recipe { heads: Some(4), ..recipe };
        timed(&mut model, || {
            kernel.apply(Command::Retrain(Box::new(other)));
            kernel.settle();
        });
    }
    kernel.apply(Command::Retrain(Box::new(Recipe { seed: Some(7_000), ..Recipe::default() })));
    while kernel.is_busy() {
        timed(&mut pieces, || kernel.advance());
    }
    tell("the whole lesson", whole);
    tell("the model alone", model);
    tell("a piece, after which a newer recipe is seen", pieces);
}
