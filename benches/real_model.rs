//! A real model opened, and the time from a key to the new picture's numbers.
//!
//!     cargo bench --no-default-features --bench real_model -- path/to/a/model
//!
//! Prints the time from the folder to the first snapshot, and the medians over texts of some lengths from a typed
//! text, and from a turned weight in the first and in the last layer, to the snapshot; and to the scores of one word in 20
//! sentences.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use attune::kernel::command::{SenseCommand, SenseList, SenseSentence, SentenceCommand, WeightCommand};
use attune::kernel::data::senses::MEASURED_MAX;
use attune::kernel::{Command, Kernel};
use attune::numerics::params::TensorName;
use clap::Parser;

/// Words that every tokenizer reads, however it cuts them.
const WORDS: [&str; 5] = ["the", "bank", "of", "a", "river"];
const LENGTHS: [usize; 3] = [8, 16, 64];
const TIMES: usize = 15;

#[derive(Parser)]
struct Args {
    model: PathBuf,
    /// As cargo gives it.
    #[arg(long)]
    bench: bool,
}

fn main() {
    let args = Args::parse();
    let _ = args.bench;
    let begun = Instant::now();
    let lesson = attune::lesson::read(&args.model).unwrap_or_else(|issues| panic!("{issues:?}"));
    let layers = lesson.model.architecture.blocks.len();
    let mut kernel = Kernel::embedded(Arc::new(lesson));
    assert!(kernel.snapshot().model.is_some(), "{:?}", kernel.snapshot().fault);
    println!("opened: {:.0} ms", 1e3 * begun.elapsed().as_secs_f64());

    for length in LENGTHS {
        let text = |turn: usize| (0..length).map(|i| WORDS[(i + turn) % WORDS.len()]).collect::<Vec<_>>().join(" ");
        let typed = median(|turn| {
            kernel.apply(Command::Sentence(SentenceCommand::Type(text(turn))));
            tokens(&kernel)
        });
        let mut turned = |layer: usize| {
            median(|turn| {
                let (tensor, value) = (TensorName::QueryWeights.of_block(layer), turn as f32 * 1e-3);
                kernel.apply(Command::Weights(WeightCommand::Set { tensor, row: 0, col: 1, value }));
                tokens(&kernel)
            })
        };
        let (first, last) = (turned(0), turned(layers - 1));
        println!(
            "{length} words, {} tokens: typed {:.1} ms, a weight of the first layer {:.1} ms, of the last {:.1} ms",
            typed.1, typed.0, first.0, last.0
        );
        kernel.apply(Command::Weights(WeightCommand::ResetAll));
    }
    senses(&mut kernel);
}

/// Tokens of a new snapshot.
fn tokens(kernel: &Kernel) -> usize {
    kernel.snapshot().model.map_or(0, |model| model.sentence.tokens.len())
}

/// From a list of sentences to the scores of each layer.
fn senses(kernel: &mut Kernel) {
    const LENGTH: usize = 12;
    let measured = median(|turn| {
        let sentence = |at: usize| {
            let words: Vec<&str> = (0..LENGTH).map(|i| WORDS[(i * (at + 1) + turn + at) % WORDS.len()]).collect();
            SenseSentence { text: format!("bank {}", words.join(" ")), sense: Some(if at < 10 { 'A' } else { 'B' }) }
        };
        let list = SenseList { word: "bank".to_owned(), sentences: (0..MEASURED_MAX).map(sentence).collect() };
        for command in [SenseCommand::Show(false), SenseCommand::Replace(list), SenseCommand::Show(true)] {
            kernel.apply(Command::Senses(command));
        }
        kernel.settle();
        let senses = kernel.snapshot().model.expect("a model").senses;
        assert!(senses.is_current && senses.progress.of == MEASURED_MAX, "{:?}", senses.rows);
        MEASURED_MAX * (LENGTH + 1)
    });
    println!("senses of {MEASURED_MAX} sentences, {} words: {:.0} ms", measured.1, measured.0);
}

/// The median of some runs, in milliseconds, and what the last came to.
fn median(mut run: impl FnMut(usize) -> usize) -> (f64, usize) {
    let mut last = 0;
    let mut times: Vec<f64> = (1..=TIMES)
        .map(|turn| {
            let begun = Instant::now();
            last = run(turn);
            1e3 * begun.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    (times[TIMES / 2], last)
}
