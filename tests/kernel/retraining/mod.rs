//! The lesson trained again with a recipe: the same whenever it is asked for, given up at once, undone as a
//! whole, and there again when the lesson opens.

mod edits;
mod journeys;
mod paces;
mod pictures;
mod recipes;
mod saving;

use std::sync::Arc;

use attune_core::kernel::Kernel;
use attune_core::lesson::{Lesson, Recipe};

use crate::common::commands::retraining;
use crate::common::lessons::{self, SMALL, apply, bits, model, notice};

fn lesson() -> Arc<Lesson> {
    lessons::lesson(SMALL)
}

fn trained() -> Kernel {
    Kernel::trained(lesson())
}

fn retrain(kernel: &mut Kernel, recipe: &Recipe) {
    apply(kernel, retraining(recipe.clone()));
    assert_eq!(notice(kernel), None);
}

fn undo_label(kernel: &Kernel) -> Option<String> {
    kernel.snapshot().history.undo
}

fn shown(kernel: &Kernel) -> Vec<u32> {
    bits(&kernel.snapshot())
}

fn seed(seed: u64) -> Recipe {
    Recipe { seed: Some(seed), ..Recipe::default() }
}

fn heads(heads: usize) -> Recipe {
    Recipe { heads: Some(heads), ..Recipe::default() }
}

fn width(width: usize) -> Recipe {
    Recipe { width: Some(width), ..Recipe::default() }
}

fn shares(shares: [f64; 2]) -> Recipe {
    Recipe { shares: [("seal".to_owned(), shares.to_vec())].into(), ..Recipe::default() }
}
