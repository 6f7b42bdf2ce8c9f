//! Some of each attack that is made at random: short here, long by hand with `examples/attack.rs`.

use crate::mutants::commands::RandomCommands;
use crate::mutants::lessons::{self, MutatedLesson};
use crate::mutants::models::MutatedModel;
use crate::mutants::states::MutatedState;
use crate::mutants::{Attack, smallest_told};

/// Cases of so many seeds, each of which must hold; returns what came of them.
fn attack<A: Attack>(seeds: std::ops::Range<u64>) -> Vec<&'static str> {
    let run = |seed| A::of(seed).tried().0.unwrap_or_else(|why| panic!("{}", smallest_told::<A>(seed, &why)));
    seeds.map(run).collect()
}

#[test]
fn mutated_lessons_are_checked_or_refused() {
    let outcomes = attack::<MutatedLesson>(1..400);
    lessons::clean();
    for outcome in ["refused", "checked"] {
        assert!(outcomes.contains(&outcome), "none of the lessons is {outcome}");
    }
}

#[test]
fn random_commands_leave_a_kernel_whole() {
    attack::<RandomCommands>(1..7);
}

#[test]
fn mutated_states_open_or_say_why_and_are_saved() {
    let outcomes = attack::<MutatedState>(1..120);
    for outcome in ["opened", "opened in part", "said why not"] {
        assert!(outcomes.contains(&outcome), "none of the states is {outcome}");
    }
}

#[test]
fn mutated_models_open_or_are_refused_in_words() {
    let outcomes = attack::<MutatedModel>(1..500);
    for outcome in ["opened", "refused"] {
        assert!(outcomes.contains(&outcome), "none of the models is {outcome}");
    }
}
