//! Helpers of the notebook's benches: a small lesson, a clock, and a line of output for each measurement.

#![allow(dead_code, reason = "each bench uses its part")]

use std::time::{Duration, Instant};

/// Returns a lesson with these cells that trains in milliseconds.
pub fn lesson(cells: &str) -> attune_core::lesson::Lesson {
    let text = include_str!("../../tests/fixtures/small.ron");
    let (start, end) = (text.find("    cells: ["), text.find("    claims:"));
    let (start, end) = (start.expect("cells"), end.expect("claims"));
    let text = format!("{}    cells: [{cells}],\n{}", &text[..start], &text[end..]);
    attune_core::lesson::parse("bench.ron", &text).unwrap_or_else(|issues| panic!("{issues:#?}"))
}

/// Adds the duration of a call to `times`.
pub fn timed<T>(times: &mut Vec<Duration>, call: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let made = call();
    times.push(begun.elapsed());
    made
}

/// Prints a line such as `what: median 0.40 ms, 99 % within 0.61 ms, worst 1.20 ms of 600`.
pub fn tell(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let ms = |share: f64| 1e3 * times[((times.len() - 1) as f64 * share) as usize].as_secs_f64();
    let [median, most, worst] = [0.5, 0.99, 1.0].map(ms);
    println!("{what}: median {median:.2} ms, 99 % within {most:.2} ms, worst {worst:.2} ms of {}", times.len());
}
