//! Attacks made at random from a seed: lessons, commands, command lines, models and saved states that nobody would
//! write, and programs that are killed, each with the promises that must hold whatever they are. `tests/attack` runs a
//! few of each; `examples/attack.rs` runs them by the thousand.

#[cfg(unix)]
pub mod arguments;
pub mod commands;
pub mod formulas;
pub mod kills;
pub mod lessons;
pub mod models;
pub mod shapes;
pub mod shards;
pub mod states;
pub mod submissions;
pub mod tokenizers;

use std::path::Path;
use std::time::{Duration, Instant};
use std::{env, fs, process};

use attune_engine::panics;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::peak::{Taken, taken};
use crate::watch::watched;

/// Allowed to one case, on a busy machine too.
pub const TIME_MAX: Duration = Duration::from_secs(20);
/// Allowed over the state at rest.
pub const BYTES_MAX: usize = 1_500_000_000;
/// A case that takes longer will never end, and nothing but the end of the program ends it.
const HANGS: Duration = TIME_MAX.saturating_mul(3);
/// Given to the search for the smallest case that breaks a promise.
const SEARCH: Duration = Duration::from_secs(30);

/// The outcome of a case, in a word to count by, or the promise that it broke.
pub type Outcome = Result<&'static str, String>;

/// A case of an attack.
pub trait Attack: Clone {
    /// A part that can be left out.
    type Part;

    /// The case of a seed.
    fn of(seed: u64) -> Self;

    /// Runs it.
    fn run(&self) -> Outcome;

    /// All its parts.
    fn parts(&mut self) -> &mut Vec<Self::Part>;

    /// The case, for who is to look into it.
    fn told(&self) -> String;

    /// Allowed over the state at rest.
    fn bytes_max(&self) -> usize {
        BYTES_MAX
    }

    /// Runs it within its bounds of time and memory; a panic is a promise broken. If it never ends, the program does, and
    /// tells the seed.
    fn tried(&self, seed: u64) -> (Outcome, Taken) {
        let (outcome, taken) = taken(|| watched(HANGS, format!("seed {seed}"), || panics::quietly(|| self.run())));
        let outcome = outcome.unwrap_or_else(|panic| Err(format!("a panic: {panic}")));
        let is_within = taken.time <= TIME_MAX && taken.bytes <= self.bytes_max();
        let outcome = if is_within { outcome } else { outcome.and_then(|_| Err(format!("it takes {taken}"))) };
        (outcome, taken)
    }

    /// A case as small as can be found that breaks a promise too: ever smaller pieces are left out while it does.
    fn smallest(self, seed: u64) -> Self {
        let (mut case, begun) = (self, Instant::now());
        let mut piece = case.parts().len().div_ceil(2).max(1);
        loop {
            let mut first = 0;
            while first < case.parts().len() && begun.elapsed() < SEARCH {
                let mut without = case.clone();
                let parts = without.parts();
                parts.drain(first..parts.len().min(first + piece));
                if without.tried(seed).0.is_err() { case = without } else { first += piece }
            }
            if piece == 1 || begun.elapsed() >= SEARCH {
                return case;
            }
            piece = piece.div_ceil(2);
        }
    }
}

/// The smallest case of a seed that breaks a promise, in words.
pub fn smallest_told<A: Attack>(seed: u64, why: &str) -> String {
    let smallest = A::of(seed).smallest(seed);
    let still = smallest.tried(seed).0.err().unwrap_or_default();
    format!("seed {seed}: {why}\nat its smallest: {still}\n{}", smallest.told())
}

/// Runs a case in a folder of this process, which is not there before and after it.
pub fn in_folder(name: &str, run: impl FnOnce(&Path) -> Outcome) -> Outcome {
    let folder = env::temp_dir().join(format!("attune-attack-{}-{name}", process::id()));
    // A case that panicked left it.
    let _ = fs::remove_dir_all(&folder);
    let outcome = run(&folder);
    let _ = fs::remove_dir_all(&folder);
    outcome
}

/// The value of a strategy that a seed leads to.
pub fn drawn<S: Strategy>(seed: u64, strategy: S) -> S::Value {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let tree = strategy.new_tree(&mut TestRunner::new_with_rng(Config::default(), rng));
    tree.expect("a value that no filter refuses").current()
}

/// Draws of one seed.
pub struct Dice(StdRng);

impl Dice {
    pub fn of(seed: u64) -> Self {
        Self(StdRng::seed_from_u64(seed))
    }

    /// A number below `end`, or 0.
    pub fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { self.0.random_range(0..end) }
    }

    /// True once in so many times.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// From 0 to 1.
    pub fn share(&mut self) -> f64 {
        self.0.random()
    }

    pub fn seed(&mut self) -> u64 {
        self.0.random()
    }

    /// One of the numbers at which something ends, or any.
    pub fn number(&mut self) -> f64 {
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
        if self.once_in(3) { *self.pick(EDGES) } else { self.0.random_range(-2.0..2.0) }
    }

    /// A place among `count`, or beyond them.
    pub fn place(&mut self, count: usize) -> usize {
        match self.below(20) {
            0 => usize::MAX,
            1 => count,
            _ => self.below(count),
        }
    }
}

/// Words that nobody means.
pub const HOSTILE: &[&str] = &[
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
