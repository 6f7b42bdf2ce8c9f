//! Makes the small models of the course from scratch: draws sentences of a [`grammar`], learns word pieces, trains, and
//! writes a folder. The encoder, in EuroBERT's form, predicts hidden words in sentences with [`insertions`]; the
//! encoder of a fixed frame, in BERT's form, in sentences without; the writer, in Llama's form, predicts the next piece
//! of [`stories`]; and the translator, in T5's form, writes the [`translation`] of a sentence.
//!
//! ```text
//! cargo run --release --no-default-features --example depth -- make lessons/depth
//! cargo run --release --no-default-features --example depth -- make-frame lessons/frame
//! cargo run --release --no-default-features --example depth -- make-writer lessons/writer
//! cargo run --release --no-default-features --example depth -- make-translator lessons/translator
//! cargo run --release --no-default-features --example depth -- evaluate lessons/depth
//! cargo run --release --no-default-features --example depth -- evaluate lessons/frame
//! cargo run --release --no-default-features --example depth -- evaluate lessons/writer
//! cargo run --release --no-default-features --example depth -- evaluate lessons/translator
//! ```
//!
//! Sums are computed on one thread in a fixed order, so that processors with the same vector instructions write the
//! same bytes. `--steps N` trains for fewer steps and `--seed N` draws other numbers, to try a change; `sentences N`,
//! `varied N`, `texts N` and `translations N` print training data.

mod evaluation;
mod grammar;
mod insertions;
mod pieces;
mod stories;
mod training;
mod translating;
mod translation;
mod writing;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use attune_core::whole_file::write_folder;
use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::attention::Mask;
use attune_engine::numerics::block::Norm;
use attune_engine::numerics::model::Readout;
use attune_engine::numerics::model::WritingRules;
use attune_engine::numerics::params::Parameters;
use attune_engine::numerics::rng::{Generator, Stream, stream};
use attune_engine::pretrained::config::Plain;
use attune_engine::pretrained::folder::{TOKENIZER, files_with};
use attune_engine::pretrained::tokenizer::write::{NewTokenizer, PADDING, STOP};
use attune_engine::pretrained::tokenizer::{Tokenizer, TokenizerFiles};
use attune_engine::pretrained::{Config, Family, load};
use evaluation::{Asked, INSERTED, table};
use grammar::Kind;
use translating::Translated;

const SEED: u64 = 1;
/// The number of sentences from which pieces are learned.
const COUNTED: usize = 20_000;
/// The number of merges. Frequent words become one piece, and rare ones stay in several.
const MERGES: usize = 760;
/// The number of pieces of the longest text that the encoder can read; training has shorter ones.
const ENCODER_POSITIONS: usize = 128;
/// The number of sentences for each result of an evaluation by layers.
const SENTENCES: usize = 300;
/// The number of sentences for each cell of a table.
const OF_A_CELL: usize = 50;
/// The number of sentences with insertions that are drawn for an evaluation; one in fourteen or so is asked.
const VARIED: usize = 40_000;

/// The result of a command.
type Done = Result<(), Box<dyn Error>>;

fn main() -> Done {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["make", folder, ref options @ ..] => {
            encoder(Path::new(folder), Options::read(options, training::ENCODER_STEPS)?)
        }
        ["make-frame", folder, ref options @ ..] => {
            frame(Path::new(folder), Options::read(options, training::FRAME_STEPS)?)
        }
        ["make-writer", folder, ref options @ ..] => {
            writer(Path::new(folder), Options::read(options, training::WRITER_STEPS)?)
        }
        ["make-translator", folder, ref options @ ..] => {
            translator(Path::new(folder), Options::read(options, training::TRANSLATOR_STEPS)?)
        }
        ["evaluate", folder] => evaluate(Path::new(folder)),
        ["sentences", count] => print(count, |rng| grammar::sentence(rng).text()),
        ["varied", count] => print(count, |rng| grammar::varied_sentence(rng).text()),
        ["texts", count] => print(count, |rng| stories::text(rng).text()),
        ["translations", count] => print(count, |rng| translation::sentence(rng).text()),
        _ => Err(
            "expected `make FOLDER`, `make-frame FOLDER`, `make-writer FOLDER` or `make-translator FOLDER`, each with \
            `--steps N` or `--seed N`; `evaluate FOLDER`; `sentences N`, `varied N`, `texts N` or `translations N`"
                .into(),
        ),
    }
}

/// The options of training.
#[derive(Clone, Copy)]
struct Options {
    steps: usize,
    seed: u64,
}

impl Options {
    fn read(options: &[&str], steps: usize) -> Result<Self, Box<dyn Error>> {
        match options {
            [] => Ok(Self { steps, seed: SEED }),
            ["--steps", steps, rest @ ..] => Ok(Self { steps: steps.parse()?, ..Self::read(rest, 0)? }),
            ["--seed", seed, rest @ ..] => Ok(Self { seed: seed.parse()?, ..Self::read(rest, steps)? }),
            [other, ..] => Err(format!("no option {other}; expected `--steps N` or `--seed N`").into()),
        }
    }
}

/// Prints samples of training data.
fn print(count: &str, draw: impl Fn(&mut Generator) -> String) -> Done {
    let rng = &mut stream(SEED, Stream::Corpus);
    for _ in 0..count.parse()? {
        println!("{}", draw(rng));
    }
    Ok(())
}

/// Prints how well a model does on sentences that training never saw.
fn evaluate(folder: &Path) -> Done {
    let read = load(folder, &mut |_| true).map_err(|stopped| stopped.to_string())?;
    let tokenizer = std::fs::read_to_string(folder.join(TOKENIZER))?;
    let tokenizer = &Tokenizer::read(TokenizerFiles::Json(&tokenizer))?;
    let asked = Asked { model: &read.model(), parameters: &read.parameters, tokenizer };
    if read.config.architecture.has_source() {
        evaluate_translator(&asked)
    } else if read.config.is_causal() {
        evaluate_writer(&asked)
    } else {
        evaluate_encoder(&asked)
    }
    Ok(())
}

/// Prints tables for the last layer, and the results of each layer.
fn evaluate_encoder(asked: &Asked<'_>) {
    let mut lines = String::new();
    for (kind, sentences) in evaluation::by_cell(OF_A_CELL, SEED) {
        let cells = asked.cells(&sentences);
        println!("{kind:?}\n\n{}", table(&cells));
        lines += &summary(&format!("{kind:?}"), cells.values());
    }
    for (kind, sentences) in evaluation::varied(VARIED, SEED) {
        let cells = asked.cells(&sentences);
        println!("{kind:?} with insertions\n\n{}", table(&cells));
        for column in INSERTED {
            let of_column = cells.iter().filter(|(cell, _)| cell.column == column);
            lines += &summary(&format!("{kind:?}, {column}"), of_column.map(|(_, share)| share));
        }
    }
    println!("| | cells | sentences | right |\n|---|---|---|---|\n{lines}");
    for kind in Kind::ALL {
        let sentences = evaluation::sentences(kind, SENTENCES, SEED);
        let told = |shares: Vec<f64>| shares.iter().map(|share| format!("{share:.2}")).collect::<Vec<_>>().join(" ");
        println!("{kind:?}, layer by layer: {}", told(asked.accuracy(&sentences)));
        if kind == Kind::Sense {
            println!("the nearest has the same sense: {}", told(asked.senses(&sentences)));
        }
    }
}

/// Returns a line of a table in Markdown with the numbers of cells and of sentences, and the share of correct answers.
fn summary<'a>(name: &str, cells: impl Iterator<Item = &'a (f64, usize)>) -> String {
    let (mut count, mut sentences, mut right) = (0, 0, 0.0);
    for (share, of_cell) in cells {
        (count, sentences, right) = (count + 1, sentences + of_cell, right + share * *of_cell as f64);
    }
    format!("| {name} | {count} | {sentences} | {:.1} % |\n", 100.0 * right / sentences as f64)
}

/// Prints tables of the next word, of repeated names, and of the heads that attend to the first token.
fn evaluate_writer(asked: &Asked<'_>) {
    for (kind, sentences) in evaluation::by_cell(OF_A_CELL, SEED) {
        if kind != Kind::Sense {
            println!("{kind:?}\n\n{}", table(&asked.next_cells(&sentences)));
        }
    }
    let stories = writing::texts(stories::story, SENTENCES, SEED);
    let lists = writing::texts(stories::list, SENTENCES, SEED);
    println!("names of {SENTENCES} stories, the likeliest next piece:\n{}", asked.repeated(&stories));
    println!("words of {SENTENCES} lists, the likeliest next piece:\n{}", asked.repeated(&lists));
    let (heads, even) = asked.first_token(&stories);
    println!("attention to the first token, where even attention would give {even:.3}:");
    for (layer, heads) in heads.iter().enumerate() {
        let told = heads.iter().map(|share| format!("{share:.2}")).collect::<Vec<_>>().join(" ");
        println!("layer {}: {told}", layer + 1);
    }
}

/// Prints tables of the sentences that are translated right, word for word, and of the heads that align.
fn evaluate_translator(asked: &Asked<'_>) {
    let mut kinds = translating::kinds(SENTENCES, SEED);
    kinds.extend(translating::farther(SENTENCES, SEED));
    let mut wrong = Vec::new();
    println!("| sentences | right | words of two senses | words that agree |\n|---|---|---|---|");
    for (name, pairs) in &kinds {
        let Translated { right, senses, agreement, examples } = asked.translated(pairs);
        println!("| {name} | {right} | {senses} | {agreement} |");
        wrong.extend(examples);
    }
    println!("\nsome that are wrong:");
    wrong.iter().for_each(|example| println!("    {example}"));
    println!("\nwords at whose place a head looks most at the word that they translate:\n");
    let layers = asked.alignment(&kinds[0].1);
    let heads = layers.first().map_or(0, Vec::len);
    println!("| cross-attention |{}", (1..=heads).map(|head| format!(" head {head} |")).collect::<String>());
    println!("|---|{}", "---|".repeat(heads));
    for (layer, heads) in layers.iter().enumerate() {
        println!("| layer {} |{}", layer + 1, heads.iter().map(|share| format!(" {share} |")).collect::<String>());
    }
}

/// Returns the words of the language with their frequencies.
fn counts() -> BTreeMap<String, usize> {
    let rng = &mut stream(SEED, Stream::Corpus);
    let mut counts = BTreeMap::new();
    for word in (0..COUNTED).flat_map(|_| grammar::sentence(rng).words) {
        *counts.entry(word).or_default() += 1;
    }
    counts
}

/// Trains a model with its tokenizer, and writes both.
fn make(
    folder: &Path,
    config: &Config,
    written: &NewTokenizer,
    train: impl FnOnce(&Tokenizer) -> Parameters<f32>,
) -> Done {
    let tokenizer = Tokenizer::read(TokenizerFiles::Json(&written.to_json()))?;
    println!("{config}");
    write(folder, config, &train(&tokenizer), written)
}

/// Trains the encoder and writes it.
fn encoder(folder: &Path, Options { steps, seed }: Options) -> Done {
    let mut pieces = pieces::learn(&counts(), MERGES);
    for word in insertions::words() {
        if !pieces.contains(&word) {
            pieces.push(word);
        }
    }
    let written = NewTokenizer::of_pieces(&pieces);
    let config = Config::parse(&encoder_config(written.count()))?;
    make(folder, &config, &written, |tokenizer| training::encoder(&config, tokenizer, seed, steps))
}

/// Trains the encoder of a fixed frame and writes it.
fn frame(folder: &Path, Options { steps, seed }: Options) -> Done {
    let counts = counts();
    let pieces = pieces::learn(&counts, MERGES);
    let written = NewTokenizer::of_pieces(&pieces);
    let tokenizer = Tokenizer::read(TokenizerFiles::Json(&written.to_json()))?;
    let shape = Plain {
        width: 128,
        layers: 6,
        heads: 4,
        hidden: 256,
        positions: 48,
        norm: Norm::Post,
        norm_epsilon: 1e-12,
        activation: Activation::Gelu,
        mask: Mask::None,
        types: 1,
        readout: Readout::Transformed(Activation::Gelu),
    };
    let config = Config { family: Family::Bert, vocabulary: written.count(), architecture: shape.architecture() };
    println!("{config}; {} words of the language", counts.len());
    let trained = training::frame(&config, &tokenizer, seed, steps);
    write(folder, &config, &trained, &written)
}

/// Trains the writer and writes it.
fn writer(folder: &Path, Options { steps, seed }: Options) -> Done {
    let pieces = pieces::learn(&counts(), MERGES);
    let written = NewTokenizer::of_writer(&pieces);
    let config = Config::parse(&writer_config(written.count()))?;
    make(folder, &config, &written, |tokenizer| training::writer(&config, tokenizer, seed, steps))
}

/// Trains the translator and writes it.
fn translator(folder: &Path, Options { steps, seed }: Options) -> Done {
    let words = translation::words();
    let written = NewTokenizer::of_translator(&words);
    let config = Config::parse(&translator_config(written.count()))?;
    make(folder, &config, &written, |tokenizer| training::translator(&config, tokenizer, seed, steps))
}

/// Returns the configuration of an encoder with the writer's architecture, without a causal mask, and with keys and
/// values for each head.
fn encoder_config(vocabulary: usize) -> String {
    serde_json::json!({
        "model_type": "eurobert",
        "hidden_size": 128,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "intermediate_size": 256,
        "hidden_act": "silu",
        "rms_norm_eps": 1e-6,
        "max_position_embeddings": ENCODER_POSITIONS,
        "rope_theta": 10_000.0,
        "tie_word_embeddings": true,
        "vocab_size": vocabulary,
    })
    .to_string()
}

/// Returns the configuration of T5's first form: relative positions in buckets, RMS norms, no biases, and one table
/// that reads words and answers.
fn translator_config(vocabulary: usize) -> String {
    serde_json::json!({
        "model_type": "t5",
        "d_model": 64,
        "d_kv": 16,
        "num_heads": 4,
        "num_layers": 2,
        "num_decoder_layers": 2,
        "d_ff": 128,
        "feed_forward_proj": "relu",
        "relative_attention_num_buckets": 16,
        "relative_attention_max_distance": 32,
        "layer_norm_epsilon": 1e-6,
        "tie_word_embeddings": true,
        "vocab_size": vocabulary,
    })
    .to_string()
}

/// Returns the configuration of a current architecture: rotary positions, RMS norms, gated feed-forward layers, no
/// biases, and heads that share keys and values.
fn writer_config(vocabulary: usize) -> String {
    serde_json::json!({
        "model_type": "llama",
        "hidden_size": 128,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "intermediate_size": 256,
        "hidden_act": "silu",
        "rms_norm_eps": 1e-6,
        "max_position_embeddings": 64,
        "rope_theta": 10_000.0,
        "tie_word_embeddings": true,
        "vocab_size": vocabulary,
    })
    .to_string()
}

fn write(folder: &Path, config: &Config, trained: &Parameters<f32>, tokenizer: &NewTokenizer<'_>) -> Done {
    let entry = |id, row, col| trained.entry(id, row, col).unwrap_or(0.0);
    let special = |piece| tokenizer.id_of(piece);
    let rules =
        WritingRules { start: special(PADDING), ends: special(STOP).into_iter().collect(), ..WritingRules::default() };
    let mut files = files_with(config, config.architecture.readout, &rules, entry);
    files.extend(tokenizer.files(config.positions()));
    write_folder(folder, &files)?;
    Ok(())
}
