//! Measures positions instead of times: where words move in attention. Trains each lesson with several seeds, and
//! measures the words of its probes, and of sentences that are not in the repository, before and after attention.
//!
//!     cargo bench --package attune-core --profile dev --bench arrival -- lessons/*.ron [--seeds 1-10] [--sentences FILE]
//!
//! A line of FILE has a goal, a word of the sentence, and the sentence: `fruit apple the apple was sweet`. A goal is a
//! group or a word; `apple@10` is the word at that position, counted from 0. Lines with words that a lesson does not
//! know are skipped.

mod top;

use std::path::Path;
use std::sync::Arc;

use attune_core::kernel::check::claims::{ARRIVED_COSINE, ARRIVED_LENGTHS, WordPlaces};
use attune_core::kernel::command::SentenceCommand;
use attune_core::kernel::{Command, Kernel};
use attune_core::lesson::schema::{Lesson, Probe};
use attune_engine::numerics::vectors::{cosine, distance, norm};

struct Arguments {
    lessons: Vec<String>,
    seeds: std::ops::RangeInclusive<u64>,
    /// The goals, words and sentences from the file.
    asked: Vec<Asked>,
}

#[derive(Clone)]
struct Asked {
    goal: String,
    at: usize,
    sentence: Vec<String>,
}

fn main() {
    top::begin();
    let Arguments { lessons, seeds, asked } = arguments();
    println!(
        "lesson            seed sentences  right arrived   cosine (before, least)   distance (before)  length  others"
    );
    for path in lessons.iter().filter(|path| !path.ends_with("glossary.ron")) {
        let lesson = attune_core::lesson::read(Path::new(path)).unwrap_or_else(|issues| panic!("{path}: {issues:?}"));
        for seed in seeds.clone() {
            let mut kernel = Kernel::trained(Arc::new(Lesson { seed, ..lesson.clone() }));
            let probes: Vec<Asked> = lesson.probes.iter().map(asked_of).collect();
            for (kind, asked) in [("probes", &probes), ("others", &asked)] {
                if let Some(row) = measure(&mut kernel, asked) {
                    println!("{:<17} {seed:>4} {:>3} {kind} {row}", lesson.id, row.count);
                }
            }
        }
    }
}

fn arguments() -> Arguments {
    let mut found = Arguments { lessons: Vec::new(), seeds: 1..=10, asked: Vec::new() };
    let mut given = std::env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(argument) = given.next() {
        let mut value = || given.next().unwrap_or_else(|| panic!("{argument} has no value"));
        match argument.as_str() {
            "--seeds" => {
                let range = value();
                let (first, last) = range.split_once('-').expect("seeds as 1-10");
                found.seeds = first.parse().expect("a seed")..=last.parse().expect("a seed");
            }
            "--sentences" => {
                let text = std::fs::read_to_string(value()).expect("the sentences can be read");
                found.asked.extend(text.lines().filter_map(line));
            }
            _ => found.lessons.push(argument),
        }
    }
    found
}

fn line(line: &str) -> Option<Asked> {
    let mut parts = line.splitn(3, ' ');
    let (goal, word, sentence) = (parts.next()?, parts.next()?, parts.next()?);
    let sentence: Vec<String> = sentence.split_whitespace().map(str::to_owned).collect();
    let at = match word.split_once('@') {
        Some((_, at)) => at.parse().expect("a position"),
        None => sentence.iter().position(|other| other == word).unwrap_or_else(|| panic!("no {word} in {line:?}")),
    };
    Some(Asked { goal: goal.to_owned(), at, sentence })
}

fn asked_of(probe: &Probe) -> Asked {
    let at = probe.sentence.iter().position(|word| *word == probe.word).expect("a probe has its word");
    Asked { goal: probe.sense.clone(), at, sentence: probe.sentence.clone() }
}

#[derive(Default)]
struct Row {
    count: usize,
    right: usize,
    arrived: usize,
    /// The cosines with the goal, after and before attention.
    cosines: [Vec<f32>; 2],
    /// The distances from the goal, after and before attention.
    distances: [Vec<f32>; 2],
    /// The lengths of the words' contextual vectors, relative to the mean static length.
    lengths: Vec<f32>,
    /// The distances between the contextual and the static vectors of words without a goal, relative to the mean static
    /// length.
    others: Vec<f32>,
}

fn measure(kernel: &mut Kernel, asked: &[Asked]) -> Option<Row> {
    let snapshot = kernel.snapshot();
    let (lesson, space) = (snapshot.lesson.clone(), snapshot.space.clone().expect("it is trained"));
    let places = WordPlaces::of(&lesson, &space);
    let mut row = Row::default();
    for Asked { goal: name, at, sentence } in asked {
        let (Some(goal), true) = (places.goal(name), sentence.iter().all(|word| places.word(word).is_some())) else {
            continue;
        };
        let goal = &*goal;
        kernel.apply(Command::Sentence(SentenceCommand::Set(sentence.join(" "))));
        let model = kernel.snapshot().model.expect("it is trained");
        let output = &model.sentence.activations.output;
        let before = &*places.word(&sentence[*at]).expect("a known word");
        let after = output.row(*at);
        let probe = Probe { sentence: sentence.clone(), word: sentence[*at].clone(), sense: name.clone() };
        let length = norm(after) / places.mean_length();
        let (right, arrived) = match places.arrival(&probe, after) {
            Some(arrival) => (arrival.after.margin() > 0.0, arrival.has_arrived()),
            // The goal is a word; the thresholds are those for groups.
            None => {
                let (near, nearer) =
                    (cosine(after, goal) >= ARRIVED_COSINE, distance(after, goal) < distance(before, goal));
                (near, near && nearer && ARRIVED_LENGTHS.contains(&length))
            }
        };
        row.count += 1;
        row.right += usize::from(right);
        row.arrived += usize::from(arrived);
        for (i, vector) in [after, before].into_iter().enumerate() {
            row.cosines[i].push(cosine(vector, goal));
            row.distances[i].push(distance(vector, goal));
        }
        row.lengths.push(length);
        for other in places.resting(sentence).filter(|other| other != at) {
            let moved = distance(output.row(other), &places.word(&sentence[other]).expect("a known word"));
            row.others.push(moved / places.mean_length());
        }
    }
    (row.count > 0).then_some(row)
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mean = |of: &[f32]| of.iter().sum::<f32>() / of.len() as f32;
        let share = |count: usize| count as f32 / self.count as f32;
        let least = self.cosines[0].iter().copied().fold(f32::INFINITY, f32::min);
        let ([after, before], [near, far]) = (&self.cosines, &self.distances);
        write!(
            f,
            " {:.3}   {:.3}     {:.2} ({:>5.2}, {least:.2})",
            share(self.right),
            share(self.arrived),
            mean(after),
            mean(before)
        )?;
        write!(
            f,
            "        {:.2} ({:.2})     {:.2}    {:.2}",
            mean(near),
            mean(far),
            mean(&self.lengths),
            mean(&self.others)
        )
    }
}
