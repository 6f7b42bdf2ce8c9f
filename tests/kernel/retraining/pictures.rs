//! The picture of a lesson that is trained again and again: what did not change holds its place.

use std::sync::Arc;

use attune_core::kernel::Kernel;
use attune_core::kernel::command::Axis;
use attune_core::kernel::snapshot::StaticSpace;
use attune_core::lesson::{self, Lesson, Recipe};

use super::{apply, retrain, seed};
use crate::common::commands::{RESET_AXES, axis};
use crate::common::top::at;

/// The course's lesson of one word with two senses, without the model, which no picture of words needs.
fn apple() -> Arc<Lesson> {
    let path = at("lessons/apple.ron");
    let mut lesson = lesson::read(path.as_ref()).unwrap_or_else(|issues| panic!("{issues:#?}"));
    lesson.model.schedule.steps = 0;
    Arc::new(lesson)
}

fn fruit(share: f64) -> Recipe {
    Recipe { shares: [("apple".to_owned(), vec![share, 1.0 - share])].into(), ..Recipe::default() }
}

fn space(kernel: &Kernel) -> Arc<StaticSpace> {
    kernel.snapshot().space.expect("a space")
}

/// Places of the words of groups, in units of the distance between the two groups' centres.
fn crowds(kernel: &Kernel) -> Vec<[f32; 3]> {
    let space = space(kernel);
    let of = |group: usize| -> Vec<[f32; 3]> {
        let words = (0..space.vocabulary.len()).filter(|word| space.group_of[*word] == Some(group));
        words.map(|word| std::array::from_fn(|axis| space.points.get(word, axis))).collect()
    };
    let (fruits, companies) = (of(0), of(1));
    let centre = |all: &[[f32; 3]]| -> [f32; 3] {
        std::array::from_fn(|axis| all.iter().map(|at| at[axis]).sum::<f32>() / all.len() as f32)
    };
    let apart = distance(centre(&fruits), centre(&companies));
    fruits.iter().chain(&companies).map(|at| at.map(|x| x / apart)).collect()
}

fn distance(a: [f32; 3], b: [f32; 3]) -> f32 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt()
}

/// How far the farthest word is from where it was.
fn farthest(now: &[[f32; 3]], before: &[[f32; 3]]) -> f32 {
    now.iter().zip(before).map(|(now, before)| distance(*now, *before)).fold(0.0, f32::max)
}

/// Place on the axis from fruit to company: 0 in the middle of the one, 1 of the other.
fn between(kernel: &Kernel, word: &str) -> f32 {
    let space = space(kernel);
    let at = |word: usize| space.points.get(word, 0);
    let mean = |group: usize| {
        let words: Vec<usize> = (0..space.vocabulary.len()).filter(|w| space.group_of[*w] == Some(group)).collect();
        words.iter().map(|word| at(*word)).sum::<f32>() / words.len() as f32
    };
    let word = space.vocabulary.iter().position(|other| other == word).expect("a word");
    (at(word) - mean(0)) / (mean(1) - mean(0))
}

/// The most that a word of a group moves, as a share of the way between the groups: less than the crowds are wide.
const HELD: f32 = 0.3;

#[test]
fn crowds_hold_their_places_while_a_share_is_dragged() {
    let mut kernel = Kernel::trained(apple());
    let own = crowds(&kernel);
    let down = [0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.15];
    let mut up = down;
    up.reverse();
    let jumps = [0.15, 0.8, 0.4, 0.7, 0.2];
    for drag in [&down[..], &up, &jumps] {
        let mut last = own.clone();
        for &share in drag {
            retrain(&mut kernel, &fruit(share));
            let now = crowds(&kernel);
            let (moved, away) = (farthest(&now, &last), farthest(&now, &own));
            assert!(moved < HELD && away < HELD, "{share}: {moved} from the step before, {away} from the lesson's own");
            last = now;
        }
    }
    retrain(&mut kernel, &fruit(0.85));
    let mostly_fruit = between(&kernel, "apple");
    retrain(&mut kernel, &fruit(0.15));
    let mostly_company = between(&kernel, "apple");
    assert!(mostly_fruit < 0.4 && mostly_company > 0.6, "apple slides from {mostly_fruit} to {mostly_company}");
}

/// The free axes are turned about the chosen one, so that other words keep their side.
#[test]
fn no_seed_turns_the_picture_over() {
    let mut kernel = Kernel::trained(apple());
    let own = crowds(&kernel);
    for other in 1..=5 {
        retrain(&mut kernel, &seed(other));
        let moved = farthest(&crowds(&kernel), &own);
        assert!(moved < 0.8, "seed {other}: {moved}");
        let side = |points: &[[f32; 3]]| points.iter().map(|at| at[1]).sum::<f32>() > 0.0;
        assert_eq!(side(&crowds(&kernel)), side(&own), "seed {other}");
    }
}

/// Axes that the learner chooses are matched to what the same choice shows of the lesson's own space.
#[test]
fn axes_of_the_learner_hold_too() {
    let mut kernel = Kernel::trained(apple());
    apply(&mut kernel, axis(Axis::X, "google", "banana"));
    let own = crowds(&kernel);
    for share in [0.6, 0.3, 0.7] {
        retrain(&mut kernel, &fruit(share));
        let moved = farthest(&crowds(&kernel), &own);
        assert!(moved < HELD, "{share}: {moved}");
    }
    let turned = space(&kernel).points.clone();
    apply(&mut kernel, RESET_AXES);
    retrain(&mut kernel, &fruit(0.6));
    apply(&mut kernel, axis(Axis::X, "google", "banana"));
    retrain(&mut kernel, &fruit(0.7));
    assert!(space(&kernel).points == turned, "however the learner came to it");
}
