//! Attacks at random by the thousand: lessons, commands, models and saved states; by hand, for it takes hours. A case
//! that breaks a promise is printed at its smallest.
//!
//!     cargo run --no-default-features --example attack -- lessons --seed 1 --count 100000
//!     cargo run --no-default-features --example attack -- commands --seed 1 --count 4000
//!     cargo run --no-default-features --example attack -- states --seed 1 --count 20000
//!     cargo run --no-default-features --example attack -- models --seed 1 --count 10000
//!     cargo run --no-default-features --example attack -- formulas --seed 1 --count 200000
//!     cargo run --no-default-features --example attack -- shapes --seed 1 --count 300
//!     cargo run --no-default-features --example attack -- tokenizers --seed 1 --count 5000
//!     cargo run --no-default-features --example attack -- shards --seed 1 --count 200
//!     cargo run --no-default-features --example attack -- submissions --seed 1 --count 100000
//!     cargo run --no-default-features --example attack -- kills --seed 1 --count 125
//!     cargo build --no-default-features && cargo run --no-default-features --example attack -- arguments --count 5000

#[path = "../tests/common/folder.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod folder;
#[path = "../tests/common/models.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod models;
#[path = "../tests/attack/mutants/mod.rs"]
mod mutants;
#[path = "../tests/common/peak.rs"]
mod peak;
#[path = "../tests/common/top.rs"]
#[allow(dead_code, reason = "the tests use more of it")]
mod top;
#[path = "../tests/common/watch.rs"]
mod watch;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};

#[cfg(unix)]
use mutants::arguments::{self, MutatedArguments};
use mutants::commands::{COMMANDS, RandomCommands};
use mutants::formulas::Formula;
use mutants::kills::{self, KILLS, Kills};
use mutants::lessons::{self, MutatedLesson};
use mutants::models::MutatedModel;
use mutants::shapes::Shape;
use mutants::shards::Shards;
use mutants::states::MutatedState;
use mutants::submissions::Learners;
use mutants::tokenizers::NestedTokenizer;
use mutants::{Attack, smallest_told};
use peak::Taken;

/// The helpers of the tests under their own path.
mod common {
    pub(crate) use super::models;
}

/// Cases between two lines of progress.
const LINES: usize = 500;
/// One of so many cases, but no fewer than these, make all that the process makes once, as tables at their first use.
const WARM: usize = 10;
const WARM_MIN: usize = 200;
/// Bytes that may be held at the end over those held then: what every case leaves, if only ten bytes, is over it in a
/// long run.
const GROWTH_MAX: usize = 1 << 20;

#[derive(Clone, Copy, Debug, ValueEnum)]
enum What {
    Lessons,
    /// Each case is a kernel with some hundred commands.
    Commands,
    States,
    /// Folders with a config and weights.
    Models,
    /// Formulas of lessons, on a page.
    Formulas,
    /// Models of small files and large products.
    Shapes,
    Tokenizers,
    Shards,
    /// Names in the table of a class.
    Submissions,
    /// Each case is a learner whose program is killed some times.
    Kills,
    #[cfg(unix)]
    Arguments,
}

#[derive(Debug, Parser)]
struct Args {
    what: What,
    /// The seed of the first case; the next case has the next seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Cases to run.
    #[arg(long, default_value_t = 1000)]
    count: usize,
    /// Seconds after which no case begins.
    #[arg(long)]
    within: Option<u64>,
    /// Print every seed before it runs, for one that ends the process.
    #[arg(long)]
    verbose: bool,
}

fn main() {
    kills::edit_if_asked();
    let args = Args::parse();
    let broken = match args.what {
        What::Lessons => attack::<MutatedLesson>(&args),
        What::Commands => attack::<RandomCommands>(&args),
        What::States => attack::<MutatedState>(&args),
        What::Models => attack::<MutatedModel>(&args),
        What::Formulas => attack::<Formula>(&args),
        What::Shapes => attack::<Shape>(&args),
        What::Tokenizers => attack::<NestedTokenizer>(&args),
        What::Shards => attack::<Shards>(&args),
        What::Submissions => attack::<Learners>(&args),
        What::Kills => attack::<Kills>(&args),
        #[cfg(unix)]
        What::Arguments => attack::<MutatedArguments>(&args),
    };
    lessons::clean();
    #[cfg(unix)]
    arguments::clean();
    assert_eq!(broken, 0, "cases that break a promise");
}

/// The number of cases that break a promise.
fn attack<A: Attack>(args: &Args) -> usize {
    let begun = Instant::now();
    let mut outcomes: BTreeMap<&str, usize> = BTreeMap::new();
    let mut most = Taken { bytes: 0, time: Duration::ZERO };
    let (mut cases, mut broken, mut warm) = (0, 0, None);
    let tell = |cases: usize, broken: usize, outcomes: &BTreeMap<&str, usize>, most: &Taken| {
        let (seconds, held) = (begun.elapsed().as_secs(), peak::held() >> 20);
        println!("{cases} cases in {seconds} s, {broken} broken, {outcomes:?}; at most {most}; {held} MB at rest");
    };
    for seed in (args.seed..).take(args.count) {
        if args.within.is_some_and(|seconds| begun.elapsed().as_secs() >= seconds) {
            break;
        }
        if args.verbose {
            println!("seed {seed}");
        }
        let (outcome, taken) = A::of(seed).tried(seed);
        cases += 1;
        most.bytes = most.bytes.max(taken.bytes);
        most.time = most.time.max(taken.time);
        match outcome {
            Ok(outcome) => *outcomes.entry(outcome).or_default() += 1,
            Err(why) => {
                broken += 1;
                println!("{}", smallest_told::<A>(seed, &why));
            }
        }
        if cases == (args.count / WARM).max(WARM_MIN) {
            warm = Some(peak::held());
        }
        if cases % LINES == 0 {
            tell(cases, broken, &outcomes, &most);
        }
    }
    tell(cases, broken, &outcomes, &most);
    if let Some(warm) = warm {
        let growth = peak::held().saturating_sub(warm);
        println!("{growth} bytes more at rest than after a tenth of the cases; {GROWTH_MAX} are allowed");
        broken += usize::from(growth > GROWTH_MAX);
    }
    match args.what {
        What::Commands => println!("{} commands", cases * COMMANDS),
        What::Kills => println!("{} kills; at most {:.2} s are lost", cases * KILLS, kills::greatest_loss()),
        _ => {}
    }
    broken
}
