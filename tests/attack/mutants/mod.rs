//! Attacks made at random: lessons, cells, commands, command lines, models, files of vectors and saved states that
//! nobody would write, and programs that are killed, each with the promises that must hold whatever they are.
//!
//! Every run tries the same few of each. A long run tries as many as it is told, and holds what stays in memory, too:
//!
//!     PROPTEST_CASES=100000 PROPTEST_RNG_SEED=2 cargo test --no-default-features --test attack lessons -- --nocapture
//!
//! `PROPTEST_VERBOSE=2` prints every case before it runs, for one that ends the process.

#[cfg(unix)]
mod arguments;
mod cells;
mod commands;
mod exports;
mod generator;
mod kills;
mod large_vectors;
mod lessons;
mod models;
mod recordings;
mod sentencepiece;
mod states;
mod vectors;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::{Debug, Write as _};
use std::io::Write as _;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use std::{env, io, panic, process, thread};

use attune_engine::panics;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{RngSeed, TestRunner};

use crate::peak::{self, Taken, alone, taken};

/// Allowed to one case, on a busy machine too.
const TIME_MAX: Duration = Duration::from_secs(20);
/// Allowed over the state at rest.
const BYTES_MAX: usize = 1_500_000_000;
/// A case that takes longer will never end, and nothing but the end of the program ends it.
const HANGS: Duration = TIME_MAX.saturating_mul(3);
/// Milliseconds given to the search for the smallest case that breaks a promise.
const SEARCH: u32 = 30_000;

/// For the strategies: without optimisation they nest deeper than the stack of a test allows.
const STACK: usize = 32 << 20;

/// Cases between two lines of progress in a long run.
const LINES: usize = 500;
/// A tenth of a long run, but no fewer cases than these, makes all that the process makes once, as tables at first use.
const WARM: usize = 10;
const WARM_MIN: usize = 200;
/// Bytes that a long run may hold at its end over those held then: what every case leaves, if only ten bytes, is over
/// it.
const GROWTH_MAX: usize = 1 << 20;

/// The outcome of a case, in a word to count by, or the promise that it broke.
type Outcome = Result<&'static str, String>;

/// A case of an attack.
trait Attack: Debug + Sync {
    fn cases() -> impl Strategy<Value = Self>;

    fn run(&self) -> Outcome;

    /// Allowed over the state at rest.
    fn bytes_max(&self) -> usize {
        BYTES_MAX
    }

    /// Runs it within its bounds of time and memory; a panic is a promise broken.
    fn tried(&self) -> (Outcome, Taken) {
        let (outcome, taken) = taken(|| watched(HANGS, self, || panics::quietly(|| self.run())));
        let outcome = outcome.unwrap_or_else(|panic| Err(format!("a panic: {panic}")));
        let is_within = taken.time <= TIME_MAX && taken.bytes <= self.bytes_max();
        let outcome = if is_within { outcome } else { outcome.and_then(|_| Err(format!("it takes {taken}"))) };
        (outcome, taken)
    }
}

/// Whether the environment asks for a run of its own length.
fn is_long() -> bool {
    env::var_os("PROPTEST_CASES").is_some()
}

/// Runs some cases, each of which must hold, and counts what came of them; each of `expected` must. The smallest case
/// that breaks a promise is told.
fn attack<A: Attack>(cases: u32, expected: &[&str]) -> BTreeMap<&'static str, usize> {
    let _alone = alone();
    let ended = thread::scope(|threads| {
        let attack =
            thread::Builder::new().stack_size(STACK).spawn_scoped(threads, || attack_here::<A>(cases, expected));
        attack.expect("a thread").join()
    });
    ended.unwrap_or_else(|broken| panic::resume_unwind(broken))
}

fn attack_here<A: Attack>(cases: u32, expected: &[&str]) -> BTreeMap<&'static str, usize> {
    let environment = ProptestConfig::default();
    let cases = if is_long() { environment.cases } else { cases };
    let rng_seed = match environment.rng_seed {
        RngSeed::Random => RngSeed::Fixed(2017),
        seed => seed,
    };
    let config = ProptestConfig {
        cases,
        rng_seed,
        failure_persistence: None,
        max_shrink_time: SEARCH,
        max_shrink_iters: u32::MAX - 1,
        ..environment
    };
    let tally = RefCell::new(Tally::default());
    let ran = TestRunner::new(config).run(&A::cases(), |case| {
        let (outcome, taken) = case.tried();
        let outcome = outcome.map_err(TestCaseError::fail)?;
        tally.borrow_mut().count(outcome, &taken, cases as usize);
        Ok(())
    });
    let tally = tally.into_inner();
    println!("{}", tally.told());
    ran.unwrap_or_else(|broken| panic!("{broken}"));
    for outcome in expected {
        assert!(tally.outcomes.contains_key(outcome), "none of the cases is {outcome}: {:?}", tally.outcomes);
    }
    if let Some(warm) = tally.warm.filter(|_| is_long()) {
        let growth = peak::held().saturating_sub(warm);
        assert!(growth <= GROWTH_MAX, "{growth} bytes more at rest than after a tenth of the cases");
    }
    tally.outcomes
}

/// Asserts that not nearly all cases are refused: those that are not go through most of the program.
#[track_caller]
fn at_least_a_fifth(accepted: usize, outcomes: &BTreeMap<&'static str, usize>) {
    assert!(accepted * 5 >= outcomes.values().sum(), "most cases are refused: {outcomes:?}");
}

/// What came of the cases so far.
struct Tally {
    begun: Instant,
    cases: usize,
    outcomes: BTreeMap<&'static str, usize>,
    most: Taken,
    /// Bytes held once the process is warm.
    warm: Option<usize>,
}

impl Default for Tally {
    fn default() -> Self {
        let most = Taken { bytes: 0, time: Duration::ZERO };
        Self { begun: Instant::now(), cases: 0, outcomes: BTreeMap::new(), most, warm: None }
    }
}

impl Tally {
    fn count(&mut self, outcome: &'static str, taken: &Taken, of: usize) {
        self.cases += 1;
        *self.outcomes.entry(outcome).or_default() += 1;
        self.most.bytes = self.most.bytes.max(taken.bytes);
        self.most.time = self.most.time.max(taken.time);
        if self.cases == (of / WARM).max(WARM_MIN) {
            self.warm = Some(peak::held());
        }
        if self.cases.is_multiple_of(LINES) && is_long() {
            println!("{}", self.told());
        }
    }

    fn told(&self) -> String {
        let Self { begun, cases, outcomes, most, .. } = self;
        let (seconds, held) = (begun.elapsed().as_secs(), peak::held() >> 20);
        format!("{cases} cases in {seconds} s, {outcomes:?}; at most {most}; {held} MB at rest")
    }
}

/// The result of some work, done on a thread with the usual stack. Where there is none after `limit`, tells the case on
/// standard error and aborts: nothing but the process can be stopped from outside.
fn watched<T: Send>(limit: Duration, case: &(impl Debug + ?Sized), work: impl FnOnce() -> T + Send) -> T {
    let (running, ended) = channel::<()>();
    let result = thread::scope(|threads| {
        let working = threads.spawn(move || {
            // Dropped after the work, and by a panic too.
            let _running = running;
            work()
        });
        if ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            // Past the capture of a test, which an abort would lose.
            let _ = writeln!(io::stderr(), "{case:?}\nhas not ended after {} s: it hangs", limit.as_secs_f64());
            process::abort();
        }
        working.join()
    });
    result.unwrap_or_else(|broken| panic::resume_unwind(broken))
}

/// The program that [`a_case_that_hangs_ends_the_run_and_is_told`] starts.
#[test]
#[ignore = "it hangs"]
fn hangs() {
    watched(Duration::from_millis(50), "case 7", || thread::sleep(Duration::from_secs(60)));
}

#[test]
fn a_case_that_hangs_ends_the_run_and_is_told() {
    let own = env::current_exe().expect("the name of this program");
    let output = process::Command::new(own).args(["mutants::hangs", "--exact", "--ignored"]).output();
    let output = output.expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && output.status.code() != Some(101), "{}", output.status);
    assert!(said.contains("\"case 7\"\nhas not ended after 0.05 s: it hangs"), "{said}");
}

/// The parts of a case, one a line and none longer than a reader looks at.
fn lines(parts: &[impl Debug]) -> String {
    parts.iter().fold(String::new(), |mut lines, part| {
        let part = format!("{part:?}");
        let _ = write!(lines, "\n  {part:.2000}");
        lines
    })
}

/// One of the numbers at which something ends, or any.
fn numbers() -> impl Strategy<Value = f64> + Clone {
    const EDGES: &[f64] = &[
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        2.0,
        1e-3,
        -1e3,
        1e-30,
        1e30,
        f64::MAX,
        f64::MIN_POSITIVE,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    prop_oneof![1 => select(EDGES), 2 => -2.0..2.0]
}

/// A place on a way, its ends among them.
fn shares() -> impl Strategy<Value = f64> + Clone {
    prop_oneof![1 => select(&[0.0, 1.0][..]), 3 => 0.0..1.0]
}

/// The byte at a share of a file; the last one at its end.
fn place_in(file: &[u8], share: f64) -> usize {
    ((file.len() as f64 * share) as usize).min(file.len().saturating_sub(1))
}

/// Changes a bit of the byte at a share of a file.
fn flip(file: &mut [u8], share: f64, bit: u8) {
    let place = place_in(file, share);
    file.iter_mut().skip(place).take(1).for_each(|byte| *byte ^= 1 << bit);
}

/// A place among `count`, or beyond them.
fn places(count: usize) -> impl Strategy<Value = usize> + Clone {
    prop_oneof![18 => 0..count.max(1), 1 => Just(count), 1 => Just(usize::MAX)]
}

/// One of the words that stand in a text, with blanks between them.
fn one_of(words: &'static str) -> impl Strategy<Value = &'static str> + Clone {
    select(words.split(' ').collect::<Vec<_>>())
}

/// A word that nobody means, once or many times.
fn hostile(times: &'static [usize]) -> impl Strategy<Value = String> + Clone {
    (select(HOSTILE), select(times)).prop_map(|(word, times)| word.repeat(times))
}

/// Words that nobody means.
const HOSTILE: &[&str] = &[
    "",
    " ",
    "\u{0}",
    "\u{1b}[31m",
    "\u{202e}",
    "\u{feff}",
    "é\u{301}\u{301}",
    "👩‍👩‍👧‍👦",
    "own 1",
    "../../etc/passwd",
    "<script>alert(1)</script>",
    "{{ 1 / 0 }}",
    "{{ loop {} }}",
    "{{{{",
    "$",
    "$$\\frac{",
    "[a](attune:panel/Weights)",
    "[a](attune:lesson/\u{0})",
    "![x](x.png)",
    "{mineral} {mineral} {",
    "E[9999999]",
    "W_Q = W_Q * 1e308;",
    "let a = []; loop { a.push(a); }",
    "fn f() { f() } f()",
    "throw \"\\n\"",
    "the seal sank",
    "seal",
    "-",
    "NaN",
    "9223372036854775807",
];
