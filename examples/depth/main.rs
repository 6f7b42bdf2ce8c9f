//! Makes the small model of the lesson on layers, from nothing: draws sentences of a [`grammar`], learns pieces of their
//! words, trains an encoder of BERT's shape to name hidden words, and writes its folder.
//!
//! ```text
//! cargo run --release --no-default-features --example depth -- make lessons/depth
//! cargo run --release --no-default-features --example depth -- evaluate lessons/depth
//! ```
//!
//! One thread adds everything up in one order, so that processors with the same vector instructions write the same
//! bytes. `--steps N` trains for less, to try a change; `sentences N` prints sentences of the language.

mod evaluation;
mod grammar;
mod pieces;
mod training;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use attune_core::whole_file::write_folder;
use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::attention::Mask;
use attune_engine::numerics::block::Norm;
use attune_engine::numerics::model::Readout;
use attune_engine::numerics::rng::{Stream, stream};
use attune_engine::pretrained::config::Plain;
use attune_engine::pretrained::folder::ModelFolder;
use attune_engine::pretrained::folder::files;
use attune_engine::pretrained::tokenizer::write::NewTokenizer;
use attune_engine::pretrained::tokenizer::{Tokenizer, TokenizerFiles};
use attune_engine::pretrained::{Config, Family, load};
use evaluation::{Asked, table};
use grammar::Kind;

const SEED: u64 = 1;
/// Sentences that pieces are learnt from.
const COUNTED: usize = 20_000;
/// Merges: frequent words become whole, rare ones stay in pieces.
const MERGES: usize = 760;
/// Sentences for each number of an evaluation by layers.
const SENTENCES: usize = 300;
/// Sentences of a cell of a table.
const OF_A_CELL: usize = 50;

/// What a command ends with.
type Done = Result<(), Box<dyn Error>>;

fn main() -> Done {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["make", folder] => make(Path::new(folder), training::STEPS),
        ["make", folder, "--steps", steps] => make(Path::new(folder), steps.parse()?),
        ["evaluate", folder] => evaluate(Path::new(folder)),
        ["sentences", count] => sentences(count.parse()?),
        _ => Err("expected `make FOLDER`, `make FOLDER --steps N`, `evaluate FOLDER` or `sentences N`".into()),
    }
}

/// Prints sentences as training draws them.
fn sentences(count: usize) -> Done {
    let rng = &mut stream(SEED, Stream::Corpus);
    (0..count).for_each(|_| println!("{}", grammar::sentence(rng).text()));
    Ok(())
}

/// Prints what the model knows of sentences that training never saw, in tables, and what each layer does.
fn evaluate(folder: &Path) -> Done {
    let open = ModelFolder::open(folder)?;
    let read = load(folder, &mut |_| true).map_err(|stopped| stopped.to_string())?;
    let tokenizer = open.tokenizer.as_ref().ok_or("the folder has no tokenizer")?;
    let asked = Asked { model: &read.model(), parameters: &read.parameters, tokenizer };
    for kind in Kind::ALL {
        let cells = asked.cells(kind, OF_A_CELL, SEED);
        println!("{kind:?}\n\n{}", table(&cells));
    }
    for kind in Kind::ALL {
        let sentences = evaluation::sentences(kind, SENTENCES, SEED);
        let told = |shares: Vec<f64>| shares.iter().map(|share| format!("{share:.2}")).collect::<Vec<_>>().join(" ");
        println!("{kind:?}, layer by layer: {}", told(asked.accuracy(&sentences)));
        if kind == Kind::Sense {
            println!("the nearest has the same sense: {}", told(asked.senses(&sentences)));
        }
    }
    Ok(())
}

/// Words of the language with how often they occur.
fn counts() -> BTreeMap<String, usize> {
    let rng = &mut stream(SEED, Stream::Corpus);
    let mut counts = BTreeMap::new();
    for word in (0..COUNTED).flat_map(|_| grammar::sentence(rng).words) {
        *counts.entry(word).or_default() += 1;
    }
    counts
}

/// Makes the model and writes it.
fn make(folder: &Path, steps: usize) -> Done {
    let counts = counts();
    let pieces = pieces::learn(&counts, MERGES);
    let written = NewTokenizer::of_pieces(&pieces);
    let tokenizer = Tokenizer::read(TokenizerFiles::Json(&written.to_json()))?;
    let readout = Readout::Transformed(Activation::Gelu);
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
        readout,
    };
    let config = Config { family: Family::Bert, vocabulary: written.count(), architecture: shape.architecture() };
    println!("{config}; {} words of the language", counts.len());
    let trained = training::train(&config, &tokenizer, SEED, steps);
    let mut files = files(&config, readout, |id, row, col| trained.entry(id, row, col).unwrap_or(0.0));
    files.extend(written.files(config.positions()));
    write_folder(folder, &files)?;
    Ok(())
}
