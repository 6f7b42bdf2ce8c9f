//! Some of each attack that is made at random: short here, long by hand with `examples/attack.rs`.

use std::env;
use std::process::Command;
use std::thread;
use std::time::Duration;

use attune_engine::pretrained::safetensors::Source;

#[cfg(unix)]
use crate::mutants::arguments::{self, MutatedArguments};
use crate::mutants::commands::RandomCommands;
use crate::mutants::formulas::Formula;
use crate::mutants::kills::{self, Kills};
use crate::mutants::lessons::{self, MutatedLesson};
use crate::mutants::models::{MutatedModel, OVER_FILES_MAX};
use crate::mutants::shapes::Shape;
use crate::mutants::shards::Shards;
use crate::mutants::states::MutatedState;
use crate::mutants::submissions::Learners;
use crate::mutants::tokenizers::NestedTokenizer;
use crate::mutants::{Attack, smallest_told};
use crate::peak::taken;
use crate::watch::watched;

/// Cases of so many seeds, each of which must hold; returns what came of them.
fn attack<A: Attack>(seeds: std::ops::Range<u64>) -> Vec<&'static str> {
    let run = |seed| A::of(seed).tried(seed).0.unwrap_or_else(|why| panic!("{}", smallest_told::<A>(seed, &why)));
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

#[test]
fn formulas_stay_mathematics() {
    let outcomes = attack::<Formula>(1..3000);
    for outcome in ["set", "shown as its source"] {
        assert!(outcomes.contains(&outcome), "none of the formulas is {outcome}");
    }
}

#[test]
fn products_of_shapes_are_bounded() {
    let outcomes = attack::<Shape>(1..25);
    for outcome in ["shown", "too many pieces"] {
        assert!(outcomes.contains(&outcome), "none of the models is {outcome}");
    }
}

#[test]
fn nested_steps_of_tokenizers_end() {
    let outcomes = attack::<NestedTokenizer>(1..200);
    for outcome in ["read", "refused"] {
        assert!(outcomes.contains(&outcome), "none of the tokenizers is {outcome}");
    }
}

#[test]
fn shards_take_the_memory_of_one() {
    attack::<Shards>(1..6);
}

#[test]
fn every_learner_has_a_row() {
    attack::<Learners>(1..2000);
}

/// Headers as large as a file can have them are refused, or passed, in the memory of the file and little more.
#[test]
fn huge_headers_take_little_memory() {
    const BYTES: usize = 40_000_000;
    const NAME: usize = 500;
    let entry = r#"{"dtype":"U8","shape":[0],"data_offsets":[0,0]}"#;
    let list = |of: &str| of.repeat(BYTES / of.len());
    let names = (0..BYTES / (NAME + entry.len())).map(|i| format!("\"{i:0>NAME$}\":{entry}"));
    let headers = [
        format!("{{\"{}\":{entry}}}", list("x")),
        format!("{{\"{}\":{entry}}}", list("\\n")),
        format!("{{\"a\":{}", list("[")),
        format!("{{\"__metadata__\":{}", list("{\"a\":")),
        format!("{{\"__metadata__\":{{\"a\":\"{}\"}}}}", list("\\n")),
        format!("{{\"__metadata__\":{{{}\"z\":\"\"}}}}", list("\"a\":\"b\",")),
        format!("{{\"a\":{{\"dtype\":\"U8\",\"shape\":[{}0]", list("0,")),
        format!("{{\"a\":{{\"dtype\":\"{}\"}}}}", list("\\n")),
        format!("{{{}}}", names.collect::<Vec<_>>().join(",")),
        format!("{{{}\"b\":{entry}}}", list(&format!("\"a\":{entry},"))),
        list(" "),
    ];
    for header in headers {
        let begin: String = header.chars().take(40).collect();
        let file = [&(header.len() as u64).to_le_bytes(), header.as_bytes()].concat();
        drop(header);
        let (opened, taken) =
            taken(|| Source::open(&*file, file.len() as u64).err().map(|refusal| refusal.to_string()));
        assert!(taken.bytes <= file.len() + OVER_FILES_MAX, "{begin}: {taken}");
        let is_told = opened.as_ref().is_none_or(|said| said.len() < 1500);
        assert!(is_told, "{begin}: {opened:?}");
    }
}

/// The program that [`a_killed_program_loses_no_more_than_its_last_moments`] starts; alone, nothing.
#[test]
fn edits_until_it_is_killed() {
    kills::edit_if_asked();
}

#[test]
fn a_killed_program_loses_no_more_than_its_last_moments() {
    attack::<Kills>(1..2);
}

#[cfg(unix)]
#[test]
fn mutated_command_lines_end_in_words() {
    let outcomes = attack::<MutatedArguments>(1..400);
    arguments::clean();
    for outcome in ["done", "faults of a lesson or an output", "wrong usage"] {
        assert!(outcomes.contains(&outcome), "none of the command lines ends with {outcome}");
    }
    let misused = outcomes.iter().filter(|outcome| **outcome == "wrong usage").count();
    assert!(misused * 2 <= outcomes.len(), "{misused} of {} command lines end at the parser", outcomes.len());
}

/// The program that [`a_case_that_hangs_ends_the_run_and_tells_its_seed`] starts.
#[test]
#[ignore = "it hangs"]
fn hangs() {
    watched(Duration::from_millis(50), "seed 7", || thread::sleep(Duration::from_secs(60)));
}

#[test]
fn a_case_that_hangs_ends_the_run_and_tells_its_seed() {
    let own = env::current_exe().expect("the name of this program");
    let output = Command::new(own).args(["random::hangs", "--exact", "--ignored"]).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && output.status.code() != Some(101), "{}", output.status);
    assert!(said.contains("seed 7 has not ended after 0.05 s: it hangs"), "{said}");
}
