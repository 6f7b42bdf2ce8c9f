//! Job B: word2vec at a realistic size: width 100, window 5, 5 negatives, 5 epochs, no subsampling.
//!
//!     cargo bench --package attune-engine --bench job_b -- --threads 1 --corpus zipf.txt --out vectors.txt
//!
//! Prints one JSON object. Raw words per second are epochs · tokens / seconds of training, without the time for reading
//! the corpus, counting its words and writing the vectors.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs;
use std::process::ExitCode;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::rng::{Generator, Stream, stream};
use attune_engine::numerics::word2vec::{Word2Vec, Word2VecConfig, WordPrediction};
use rand::RngExt;

mod jobs;

const SEED: u64 = 1;

fn main() -> ExitCode {
    let arguments = jobs::Arguments::read(3, &["--share-negatives"], &["--corpus", "--out"]);
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

fn run(arguments: &jobs::Arguments) -> Result<(), String> {
    let text = match arguments.value("--corpus") {
        Some(path) => fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?,
        None => zipf(),
    };
    let (words, corpus) = indexed(&text);
    let tokens: usize = corpus.iter().map(Vec::len).sum();
    if tokens == 0 {
        return Err("the corpus has no words".to_owned());
    }
    let share_negatives = arguments.has("--share-negatives");
    let config = Word2VecConfig {
        architecture: WordPrediction::SkipGram { share_negatives },
        dim: 100,
        window: 5,
        negatives: 5,
        epochs: 5,
        learning_rate: 0.025,
        subsample: None,
    };
    let sentences = config.epochs * corpus.len();
    let start = || Word2Vec::<f32>::on_threads(arguments.threads, config.clone(), words.len(), &corpus, SEED);
    let (seconds, training) = jobs::timed_after(arguments.repeat, start, |mut training| {
        training.advance(&corpus, sentences);
        training
    });
    assert!(training.is_done());
    if let Some(path) = arguments.value("--out") {
        fs::write(path, text_format(&words, &training.vectors())).map_err(|error| format!("{path}: {error}"))?;
    }
    let more = serde_json::json!({
        "update": if share_negatives { "shared" } else { "classic" },
        "words_per_second": (config.epochs * tokens) as f64 / jobs::median(&seconds),
    });
    jobs::report("B", arguments.threads, &seconds, more);
    Ok(())
}

/// Returns the words in order of first appearance, and the sentences as indices of these.
fn indexed(text: &str) -> (Vec<&str>, Vec<Vec<usize>>) {
    let mut index = HashMap::new();
    let mut words = Vec::new();
    let mut index_of = |word| {
        *index.entry(word).or_insert_with(|| {
            words.push(word);
            words.len() - 1
        })
    };
    let corpus = text.lines().map(|line| line.split_whitespace().map(&mut index_of).collect()).collect();
    (words, corpus)
}

fn text_format(words: &[&str], vectors: &Matrix<f32>) -> String {
    let mut text = format!("{} {}\n", vectors.rows(), vectors.cols());
    for (row, word) in words.iter().enumerate() {
        text += word;
        vectors.row(row).iter().for_each(|x| write!(text, " {x}").expect("a string takes all"));
        text.push('\n');
    }
    text
}

/// Returns 2.0 million tokens of 20,000 words in sentences of 20. Word frequencies follow Zipf's law; each word belongs
/// to one of 50 topics, and half the words of a sentence belong to the sentence's topic.
fn zipf() -> String {
    const WORDS: usize = 20_000;
    const TOPICS: usize = 50;
    const SENTENCES: usize = 100_000;
    const LENGTH: usize = 20;
    let mut rng = stream(SEED, Stream::Corpus);
    let mut of_topic = vec![Vec::new(); TOPICS];
    (0..WORDS).for_each(|word| of_topic[rng.random_range(0..TOPICS)].push(word));
    let all = Zipf::new((0..WORDS).collect());
    let topics: Vec<Zipf> = of_topic.into_iter().filter(|words| !words.is_empty()).map(Zipf::new).collect();
    let mut text = String::new();
    for _ in 0..SENTENCES {
        let topic = &topics[rng.random_range(0..topics.len())];
        for _ in 0..LENGTH {
            let words = if rng.random_bool(0.5) { topic } else { &all };
            write!(text, "w{:05} ", words.draw(&mut rng)).expect("a string takes all");
        }
        text.push('\n');
    }
    text
}

/// A distribution in which word number n has a probability proportional to 1 / (n + 1).
struct Zipf {
    words: Vec<usize>,
    cumulative: Vec<f64>,
}

impl Zipf {
    fn new(words: Vec<usize>) -> Self {
        let mut sum = 0.0;
        let cumulative = words.iter().map(|&word| {
            sum += 1.0 / (word as f64 + 1.0);
            sum
        });
        Self { cumulative: cumulative.collect(), words }
    }

    fn draw(&self, rng: &mut Generator) -> usize {
        let total = self.cumulative[self.words.len() - 1];
        let wanted = rng.random::<f64>() * total;
        let at = self.cumulative.partition_point(|&sum| sum < wanted);
        self.words[at.min(self.words.len() - 1)]
    }
}
