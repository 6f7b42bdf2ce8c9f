//! Effects of a recipe, and recipes without any.

use std::sync::Arc;

use attune_core::kernel::check::claims::{ClaimVerdict, verify, verify_switched};
use attune_core::kernel::command::{Axis, InterventionCommand, Reference};
use attune_core::kernel::{Command, Kernel};
use attune_core::lesson::Recipe;
use attune_core::lesson::recipe::{Measured, offers};
use attune_engine::numerics::attention::{Edge, HeadMode};
use attune_engine::numerics::params::TensorName;

use crate::common::close::{Tolerance, assert_close};
use crate::common::commands::{
    PAUSE, PLAY, axis, compare, head, retraining, scrub, select, set, step, temperature, toggle,
};
use crate::common::lessons::{self, SMALL, edited, lesson, with_switches};
use crate::common::top::at;

use super::{
    apply, heads, lesson as small_lesson, model, notice, retrain, seed, shares, shown, trained, undo_label, width,
};

#[test]
fn a_recipe_makes_the_same_model_however_the_learner_came_to_it() {
    for recipe in [seed(9), heads(3), width(4), shares([0.9, 0.1])] {
        let (mut straight, mut about) = (trained(), trained());
        retrain(&mut straight, &recipe);
        for other in [seed(2), heads(1), recipe.clone()] {
            retrain(&mut about, &other);
        }
        assert!(shown(&straight) == shown(&about), "{recipe:?}");
        assert_eq!(model(&straight).training.progress.done, 20);
        retrain(&mut about, &Recipe::default());
        assert!(shown(&about) == shown(&trained()), "as the lesson has it");
    }
}

/// The lesson itself with those numbers trains to the same model; its picture alone is turned.
#[test]
fn a_recipe_is_the_lesson_with_other_numbers() {
    let lesson = small_lesson();
    let recipe = Recipe { model_rate: Some(0.05), static_rate: Some(0.1), ..heads(3) };
    let changed = Measured::of(&lesson).apply(&recipe).expect("a valid recipe");
    assert_eq!(changed.model.architecture.blocks[0].attention.key_width, 2);
    let plain = Kernel::trained(Arc::new(changed)).snapshot();
    let mut kernel = trained();
    retrain(&mut kernel, &recipe);
    let now = kernel.snapshot();
    let (space, own) = (now.space.expect("a space"), plain.space.expect("a space"));
    assert_eq!(space.vectors, own.vectors);
    assert_eq!(model(&kernel).parameters, plain.model.expect("a model").parameters);
    assert!(space.projection.is_turned() && !own.projection.is_turned());
}

/// The same number of points, each as long as it was, nearer to the old picture than unturned.
#[test]
fn a_new_space_is_turned_to_fit_the_old_picture() {
    let mut kernel = trained();
    let old = kernel.snapshot().space.expect("a space");
    let unturned = Kernel::trained(Arc::new(Measured::of(&small_lesson()).apply(&seed(9)).expect("valid")));
    let unturned = unturned.snapshot().space.expect("a space");
    retrain(&mut kernel, &seed(9));
    let new = kernel.snapshot().space.expect("a space");
    let length = |row: &[f32]| row.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    // The words that choose the axes: those of groups and sentences.
    let lesson = small_lesson();
    let named: Vec<&String> =
        lesson.groups.iter().flat_map(|g| &g.words).chain(lesson.sentences.iter().flatten()).collect();
    let rows = (0..old.vocabulary.len()).filter(|&row| named.contains(&&old.vocabulary[row]));
    let [mut turned_off, mut unturned_off] = [0.0, 0.0];
    for row in rows {
        let [after, before] = [&new, &unturned].map(|space| length(space.points.row(row)));
        assert_close("turned, not stretched", after, before, Tolerance::SINGLE);
        for axis in 0..3 {
            turned_off += f64::from(new.points.get(row, axis) - old.points.get(row, axis)).powi(2);
            unturned_off += f64::from(unturned.points.get(row, axis) - old.points.get(row, axis)).powi(2);
        }
    }
    assert!(turned_off < unturned_off, "{turned_off} {unturned_off}");
    let replaced = model(&kernel).replaced.expect("the ghosts");
    assert!(replaced.space.points == old.points && replaced.recipe.is_default());
}

#[test]
fn a_newer_recipe_gives_up_the_stale_one_at_once() {
    let mut kernel = trained();
    let before = shown(&kernel);
    kernel.apply(retraining(seed(2)));
    for _ in 0..3 {
        kernel.advance();
    }
    assert!(kernel.is_busy() && shown(&kernel) == before, "what there is stays until the new is there");
    kernel.apply(retraining(seed(3)));
    let under_way = kernel.snapshot().retraining.expect("under way");
    assert_eq!((under_way.recipe.seed, under_way.steps.done), (Some(3), 0));
    kernel.settle();
    let mut straight = trained();
    retrain(&mut straight, &seed(3));
    assert!(shown(&kernel) == shown(&straight) && kernel.snapshot().retraining.is_none());
    // Asked for once more, it is what there is; and asked for what there was, nothing is left to do.
    kernel.apply(retraining(seed(4)));
    kernel.apply(retraining(seed(3)));
    assert!(!kernel.is_busy());
    // Pause and undo give up what is under way, and nothing else.
    for give_up in [PAUSE, Command::Undo] {
        kernel.apply(retraining(seed(4)));
        kernel.advance();
        apply(&mut kernel, give_up);
        assert!(kernel.snapshot().retraining.is_none() && shown(&kernel) == shown(&straight));
    }
}

#[test]
fn one_slider_undoes_in_one_step_and_brings_all_of_the_old_model_back() {
    let mut kernel = trained();
    apply(&mut kernel, set(TensorName::QueryWeights, 0, 1, 3.0));
    apply(&mut kernel, compare(Reference::Start));
    let before = shown(&kernel);
    for next in [2, 3, 4] {
        retrain(&mut kernel, &seed(next));
    }
    assert_ne!(model(&kernel).parameters.matrix(TensorName::QueryWeights)[(0, 1)], 3.0);
    assert_eq!(model(&kernel).comparison.expect("a comparison").with, Reference::Start);
    // The ghosts are of where the drag began.
    assert!(model(&kernel).replaced.expect("ghosts").recipe.is_default());
    let seeds = shown(&kernel);
    retrain(&mut kernel, &Recipe { seed: Some(4), ..heads(3) });
    let last = shown(&kernel);
    assert_eq!(undo_label(&kernel).as_deref(), Some("retraining: heads 3, seed 4"));
    apply(&mut kernel, Command::Undo);
    assert!(shown(&kernel) == seeds);
    apply(&mut kernel, Command::Undo);
    assert!(shown(&kernel) == before && model(&kernel).recipe.is_default());
    // What was done to the old model can be undone too.
    assert_eq!(undo_label(&kernel).as_deref(), Some("choice of a comparison"));
    apply(&mut kernel, scrub(7));
    assert_eq!(model(&kernel).training.step_shown(), 7);
    apply(&mut kernel, Command::Undo);
    assert!(shown(&kernel) == before);
    // The look back was a change of its own, and ended what could be redone.
    apply(&mut kernel, Command::Redo);
    apply(&mut kernel, Command::Redo);
    assert_eq!(notice(&kernel).as_deref(), Some("there is nothing to redo"));
    assert!(shown(&kernel) != last);
}

#[test]
fn redo_walks_the_same_way() {
    let mut kernel = trained();
    retrain(&mut kernel, &heads(3));
    let three = shown(&kernel);
    apply(&mut kernel, set(TensorName::KeyWeights, 0, 0, 1.0));
    retrain(&mut kernel, &width(4));
    let narrow = shown(&kernel);
    for _ in 0..3 {
        apply(&mut kernel, Command::Undo);
    }
    assert!(shown(&kernel) == shown(&trained()));
    apply(&mut kernel, Command::Redo);
    assert!(shown(&kernel) == three);
    apply(&mut kernel, Command::Redo);
    apply(&mut kernel, Command::Redo);
    assert!(shown(&kernel) == narrow);
    // It goes on training as one that was never away.
    apply(&mut kernel, scrub(11));
    let mut straight = trained();
    retrain(&mut straight, &width(4));
    apply(&mut straight, scrub(11));
    assert!(shown(&kernel) == shown(&straight));
}

/// Every place of every slider trains, and nothing panics.
#[test]
fn every_offered_recipe_trains() {
    let lesson = small_lesson();
    let mut kernel = trained();
    for offer in offers(&lesson, &Recipe::default()) {
        for choice in offer.choices {
            apply(&mut kernel, retraining(choice.recipe.clone()));
            // A learning rate may be too large for the numbers; then the old model stays.
            assert!(notice(&kernel).is_none_or(|words| words.contains("learning_rate")), "{:?}", choice.recipe);
            let _ = shown(&kernel);
        }
    }
}

/// Of every lesson, as it is and with each of its switches on.
#[test]
fn every_place_of_every_slider_of_the_course_makes_a_model() {
    let folder = std::fs::read_dir(at("lessons")).expect("the lessons").flatten().map(|entry| entry.path());
    for path in
        folder.filter(|path| path.extension().is_some_and(|end| end == "ron") && !path.ends_with("glossary.ron"))
    {
        let lesson = attune_core::lesson::read(&path).unwrap_or_else(|issues| panic!("{issues:?}"));
        let measured = Measured::of(&lesson);
        let switched = lesson
            .switches
            .list
            .iter()
            .map(|switch| Recipe { switches: [switch.name.clone()].into(), ..Recipe::default() });
        for recipe in switched.chain([Recipe::default()]) {
            for choice in offers(&lesson, &recipe).into_iter().flat_map(|offer| offer.choices) {
                let changed = measured.apply(&choice.recipe).expect("an offer is valid");
                let shapes = changed.model.architecture.shapes(1, 1);
                assert!(!shapes.is_empty(), "{}: {:?}", path.display(), choice.recipe);
            }
        }
    }
}

#[test]
fn rotary_positions_turn_the_same_share_of_narrower_heads() {
    let lesson = attune_core::lesson::read(&at("lessons/order.ron")).expect("no issues");
    let turned = |count| {
        let changed = Measured::of(&lesson).apply(&heads(count)).expect("a valid recipe");
        let attention = &changed.model.architecture.blocks[0].attention;
        (attention.key_width, attention.rotary.expect("rotary positions").width)
    };
    assert_eq!([1, 2, 4].map(turned), [(32, 32), (16, 16), (8, 8)]);
}

#[test]
fn sentence_and_interventions_stay_as_far_as_they_fit() {
    let mut kernel = trained();
    for command in [select(1), temperature(2.0), toggle(0, 1), head(0, HeadMode::Frozen(None)), head(1, HeadMode::Off)]
    {
        apply(&mut kernel, command);
    }
    retrain(&mut kernel, &heads(3));
    let now = model(&kernel);
    assert_eq!((now.sentence.index, now.interventions.temperature), (Some(1), Some(2.0)));
    assert_eq!(now.interventions.heads, [HeadMode::Live, HeadMode::Off, HeadMode::Live]);
    assert!(now.interventions.mask.is_some());
    retrain(&mut kernel, &heads(1));
    assert_eq!(model(&kernel).interventions.heads, [HeadMode::Live]);
}

/// With two layers the encoder has one more, which comes before those of the sentence: their numbers are others.
#[test]
fn a_change_stays_with_its_layer_where_others_come_before_it() {
    let translation = std::fs::read_to_string(at("tests/fixtures/forms/translation.ron")).expect("the form");
    let switches = r#"switches: [Switch(name: "Two layers", model: Attention(layers: 2))], sentences: ["the cat"#;
    let text = edited(&translation, &[("sentences: [\"the cat", switches), ("steps: 300", "steps: 2")]);
    let mut kernel = Kernel::trained(lesson(&text));
    let modes = [HeadMode::Mean, HeadMode::Off, HeadMode::Uniform];
    for (at, mode) in modes.iter().enumerate() {
        apply(&mut kernel, head(at, mode.clone()));
    }
    let removed = |head| InterventionCommand::SetEdge { edge: Edge { head, query: 1, key: 0 }, is_removed: true };
    apply(&mut kernel, Command::Interventions(removed(2)));
    retrain(&mut kernel, &Recipe { switches: ["Two layers".to_owned()].into(), ..Recipe::default() });
    assert_eq!(notice(&kernel), None);
    let now = model(&kernel);
    let names: Vec<String> = (0..now.architecture.heads()).map(|head| now.architecture.head_name(head)).collect();
    let changed = now.interventions.heads.iter().zip(&names).filter(|(mode, _)| **mode != HeadMode::Live);
    let [mean, off, uniform] = &changed.collect::<Vec<_>>()[..] else { panic!("{:?}", now.interventions.heads) };
    assert_eq!([mean.0, off.0, uniform.0], modes.each_ref());
    assert!(off.1.contains("self-attention") && uniform.1.contains("cross-attention"), "{off:?}, {uniform:?}");
    let [edge] = now.interventions.edges[..] else { panic!("{:?}", now.interventions.edges) };
    assert_eq!(names[edge.head], *uniform.1);
    // Back to one layer of each: what there is keeps its changes, and what ends is said.
    apply(&mut kernel, head(names.len() - 1, HeadMode::Off));
    apply(&mut kernel, retraining(Recipe::default()));
    assert_eq!(model(&kernel).interventions.heads, modes);
    let said = notice(&kernel).expect("a notice");
    assert!(said.contains(&format!("{} off", names[names.len() - 1])), "{said}");
}

#[test]
fn a_static_learning_rate_that_diverges_leaves_the_old_model_and_says_why() {
    // By itself the small lesson does not diverge: many negatives and epochs let it.
    let text = SMALL.replace(
        "SkipGram(dim: 6, epochs: 3)",
        "SkipGram(dim: 6, epochs: 60, negatives: 64, window: 16, share_negatives: true)",
    );
    let mut kernel = lessons::kernel(&text);
    let before = shown(&kernel);
    apply(&mut kernel, retraining(Recipe { static_rate: Some(1.0), ..Recipe::default() }));
    match notice(&kernel) {
        Some(words) => assert!(words.contains("diverged") && shown(&kernel) == before, "{words}"),
        None => assert!(shown(&kernel) != before, "it trained"),
    }
}

/// Undo brings back changes in a model of the shape that they were made in.
#[test]
fn a_change_while_it_trains_again_stays_with_the_old_model() {
    let mut kernel = trained();
    retrain(&mut kernel, &width(4));
    let narrow = shown(&kernel);
    kernel.apply(retraining(width(8)));
    kernel.advance();
    kernel.apply(set(TensorName::QueryWeights, 3, 3, 2.0));
    let edited = shown(&kernel);
    kernel.settle();
    assert_eq!(kernel.snapshot().space.expect("a space").vectors.cols(), 8);
    for expected in [edited, narrow, shown(&trained())] {
        apply(&mut kernel, Command::Undo);
        assert!(shown(&kernel) == expected);
    }
}

#[test]
fn redo_gives_up_what_is_under_way_too() {
    let mut kernel = trained();
    retrain(&mut kernel, &heads(3));
    let three = shown(&kernel);
    apply(&mut kernel, Command::Undo);
    kernel.apply(retraining(heads(1)));
    kernel.advance();
    apply(&mut kernel, Command::Redo);
    assert!(shown(&kernel) == three && kernel.snapshot().retraining.is_none());
}

#[test]
fn the_old_model_does_not_train_while_the_new_one_does() {
    let mut kernel = Kernel::embedded(small_lesson());
    apply(&mut kernel, step(3));
    let undo = undo_label(&kernel);
    kernel.apply(retraining(heads(3)));
    for command in [PLAY, step(2)] {
        kernel.apply(command);
        let said = notice(&kernel).expect("words");
        assert_eq!(said, "wait until the lesson has been trained again, or cancel that with Pause");
        assert!(kernel.snapshot().retraining.is_some() && !model(&kernel).training.playing);
        assert_eq!(undo_label(&kernel), undo, "nothing was done that could be undone");
    }
    kernel.apply(PAUSE);
    apply(&mut kernel, step(2));
    assert_eq!((notice(&kernel), model(&kernel).training.progress.done), (None, 5));
}

#[test]
fn an_axis_that_the_new_vectors_do_not_have_is_spoken_of() {
    let mut kernel = trained();
    for (which, from, to) in [(Axis::X, "animal", "mineral"), (Axis::Z, "seal", "duck")] {
        apply(&mut kernel, axis(which, from, to));
    }
    apply(&mut kernel, retraining(width(2)));
    let basis = &kernel.snapshot().space.expect("a space").basis;
    assert!(basis.chosen[0].is_some() && basis.chosen[2].is_none());
    let said = notice(&kernel).expect("words");
    assert_eq!(said, "axis Z no longer runs from \"seal\" to \"duck\": the vectors have 2 dimensions now");
    apply(&mut kernel, retraining(width(4)));
    assert_eq!(notice(&kernel), None, "the other one fits");
}

fn switched<const N: usize>(names: [&str; N]) -> Recipe {
    Recipe { switches: names.map(str::to_owned).into(), ..Recipe::default() }
}

#[test]
fn a_switch_is_the_lesson_with_other_fields() {
    let own = lesson(&with_switches());
    let written = lesson(&edited(SMALL, &[("heads: 2,", "heads: 2, layers: 2, keep: 0.5,")]));
    let both = switched(["Two layers", "Keep places"]);
    assert_eq!(Measured::of(&own).apply(&both).expect("valid").model, written.model);
    let mut kernel = Kernel::trained(own);
    retrain(&mut kernel, &both);
    assert_eq!(model(&kernel).parameters, model(&Kernel::trained(written)).parameters);
    assert_eq!(undo_label(&kernel).as_deref(), Some("retraining: “Keep places” on, “Two layers” on"));
    retrain(&mut kernel, &Recipe::default());
    assert!(shown(&kernel) == shown(&trained()), "as the lesson has it");
    kernel.apply(retraining(switched(["Three layers"])));
    assert_eq!(notice(&kernel).as_deref(), Some("the lesson has no switch “Three layers”"));
}

#[test]
fn claims_are_about_the_model_with_their_switches_on() {
    let claim = |id: &str, with: &str, head: usize| {
        format!(
            r#"Claim(id: "{id}", says: "a weight", {with} fact: Weight(sentence: 0, head: {head}, query: 0, key: 0), expect: AtMost(1)),"#
        )
    };
    let claims = [claim("own", "", 1), claim("two", r#"with: ["Two layers"],"#, 3)].concat();
    let lesson = lesson(&edited(&with_switches(), &[("claims: [", &format!("claims: [{claims}"))]));
    let own = verify(&Kernel::trained(lesson.clone()).snapshot()).expect("a model");
    let ids = |verdicts: &[ClaimVerdict]| verdicts.iter().map(|verdict| verdict.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&own), ["own", "sum"]);
    let switched = verify_switched(&lesson);
    assert_eq!(ids(&switched), ["two"]);
    assert!(switched[0].holds() && switched[0].value > 0.0, "{switched:?}");
}
