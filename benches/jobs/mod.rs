//! Helpers of the job benches: their arguments, a clock, and the line of JSON at the end.

#![allow(dead_code, reason = "each bench uses its part")]

#[path = "../top.rs"]
mod top;

use std::process::exit;
use std::time::Instant;

use serde_json::{Map, Value, json};

/// `--threads N`, `--repeat K`, and the other arguments of a bench.
pub struct Arguments {
    pub threads: usize,
    pub repeat: usize,
    rest: Vec<(String, Option<String>)>,
}

impl Arguments {
    /// Reads the command line; `flags` take no value, `options` take one. Any other argument ends the program with exit
    /// code 2.
    pub fn read(repeat: usize, flags: &[&str], options: &[&str]) -> Self {
        top::begin();
        let mut arguments = Self { threads: 1, repeat, rest: Vec::new() };
        let mut given = std::env::args().skip(1);
        while let Some(name) = given.next() {
            match name.as_str() {
                "--bench" => {} // cargo's own
                "--threads" => arguments.threads = number(&name, given.next()),
                "--repeat" => arguments.repeat = number(&name, given.next()),
                flag if flags.contains(&flag) => arguments.rest.push((name, None)),
                option if options.contains(&option) => match given.next() {
                    Some(value) => arguments.rest.push((name, Some(value))),
                    None => fail(&format!("{name} needs a value")),
                },
                _ => {
                    let known = [&["--threads N", "--repeat K"], flags, options].concat().join(", ");
                    fail(&format!("{name:?} is no argument of this bench; it knows {known}"));
                }
            }
        }
        arguments
    }

    pub fn has(&self, flag: &str) -> bool {
        self.rest.iter().any(|(name, _)| name == flag)
    }

    pub fn value(&self, option: &str) -> Option<&str> {
        self.rest.iter().find(|(name, _)| name == option)?.1.as_deref()
    }
}

fn number(name: &str, value: Option<String>) -> usize {
    let value = value.unwrap_or_default();
    match value.parse() {
        Ok(number) if number > 0 => number,
        _ => fail(&format!("{name} needs a whole number above 0, not {value:?}")),
    }
}

fn fail(message: &str) -> ! {
    eprintln!("{message}");
    exit(2)
}

/// Runs `job` once to warm up and then `repeat` times; returns the sorted seconds and the last result.
pub fn timed<R>(repeat: usize, mut job: impl FnMut() -> R) -> (Vec<f64>, R) {
    timed_after(repeat, || (), |()| job())
}

/// Runs a job like [`timed`], each time on a new result of `make`, whose time is not counted.
pub fn timed_after<T, R>(repeat: usize, mut make: impl FnMut() -> T, mut job: impl FnMut(T) -> R) -> (Vec<f64>, R) {
    let mut result = job(make());
    let mut seconds = Vec::with_capacity(repeat);
    for _ in 0..repeat {
        let made = make();
        let start = Instant::now();
        result = job(made);
        seconds.push(start.elapsed().as_secs_f64());
    }
    seconds.sort_by(f64::total_cmp);
    (seconds, result)
}

/// Returns the median of sorted seconds.
pub fn median(seconds: &[f64]) -> f64 {
    seconds[seconds.len() / 2]
}

/// Prints the last line: the job, its seconds, and `more`.
pub fn report(job: &str, threads: usize, seconds: &[f64], more: Value) {
    let mut line = Map::new();
    line.insert("job".into(), json!(job));
    line.insert("threads".into(), json!(threads));
    line.insert("seconds_min".into(), json!(seconds[0]));
    line.insert("seconds_median".into(), json!(median(seconds)));
    if let Value::Object(more) = more {
        line.extend(more);
    }
    println!("{}", Value::Object(line));
}
