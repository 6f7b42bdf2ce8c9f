//! A lesson that is left with a recipe opens with it.

use attune_core::kernel::{Command, Kernel, Saved};
use attune_core::lesson::Recipe;

use super::{apply, heads, lesson, model, retrain, shown, trained, width};
use crate::common::commands::{retraining, select};
use crate::common::lessons::{self, SMALL};
use crate::common::resaved::{open, saved};

#[test]
fn a_lesson_without_a_recipe_is_saved_as_ever() {
    let json = serde_json::to_string(&Saved::of(&trained().snapshot())).expect("plain data");
    assert!(!json.contains("Retrain"), "{json}");
}

#[test]
fn what_is_saved_while_it_opens_is_what_was_saved() {
    let mut kernel = trained();
    retrain(&mut kernel, &width(4));
    apply(&mut kernel, select(1));
    let before = saved(&kernel);
    let mut again = Kernel::open(lesson(), Some(before.clone()));
    while again.is_busy() {
        assert_eq!(saved(&again).commands, before.commands);
        again.advance();
    }
}

#[test]
fn a_recipe_that_no_longer_fits_is_left_out_with_words() {
    let mut kernel = trained();
    retrain(&mut kernel, &heads(3));
    // The lesson was rewritten meanwhile, and a hostile file says anything.
    let text = SMALL.replace("dim: 6", "dim: 4");
    let again = open(lessons::lesson(&text), saved(&kernel));
    let report = again.snapshot().report;
    assert!(
        report.iter().any(|words| words.contains("a width of 4 cannot be divided evenly among 3 heads")),
        "{report:?}"
    );
    assert!(model(&again).recipe.is_default());

    let wild = Recipe {
        shares: [("seal".to_owned(), vec![f64::NAN; 9])].into(),
        heads: Some(usize::MAX),
        width: Some(0),
        static_rate: Some(-1.0),
        model_rate: Some(f64::INFINITY),
        seed: Some(u64::MAX),
        switches: ["".to_owned()].into(),
    };
    let mut hostile = saved(&kernel);
    hostile.commands[0] = retraining(wild);
    let again = open(lesson(), hostile);
    assert!(model(&again).recipe.is_default() && !again.snapshot().report.is_empty());
}

#[test]
fn a_retraining_under_way_begins_again_when_the_lesson_opens() {
    for recipe in [heads(3), width(4)] {
        let mut kernel = trained();
        apply(&mut kernel, select(1));
        let before = kernel.snapshot();
        kernel.apply(retraining(recipe.clone()));
        kernel.advance();
        assert_ne!(before.work_revision, kernel.snapshot().work_revision, "it is worth being saved");
        let left = saved(&kernel);
        let mut again = Kernel::open(lesson(), Some(left.clone()));
        // Until it is under way again, it waits with the rest.
        while again.snapshot().retraining.is_none() {
            assert!(again.is_busy());
            assert_eq!(saved(&again).commands.last(), Some(&retraining(recipe.clone())));
            again.advance();
        }
        again.settle();
        kernel.settle();
        assert!(shown(&again) == shown(&kernel) && *model(&again).recipe == recipe);
        let is_under_way = |command: &Command| matches!(command, Command::Retrain(_));
        assert!(!saved(&kernel).commands[1..].iter().any(is_under_way), "it is done");
        apply(&mut again, Command::Undo);
        assert!(model(&again).recipe.is_default(), "what there was before is remembered");
    }
}

#[test]
fn a_retraining_that_no_longer_fits_is_left_out_with_words() {
    let mut kernel = trained();
    kernel.apply(retraining(heads(3)));
    let mut left = saved(&kernel);
    *left.commands.last_mut().expect("it is under way") = retraining(heads(5));
    let again = open(lesson(), left);
    let report = again.snapshot().report;
    assert!(report.iter().any(|words| words.contains("trained again") && words.contains("5 heads")), "{report:?}");
    assert!(model(&again).recipe.is_default());
}
