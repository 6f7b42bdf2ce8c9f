//! Reading files of word vectors and searching them: 400,000 words, in GloVe's text format with 100 numbers each (350
//! MB) and in word2vec's binary format with 300 (480 MB).
//!
//!     cargo bench --package attune-engine --profile dev --bench vectors -- --folder vectors
//!
//! The files are written once and kept, so that `vectors.py` in this folder can time gensim and NumPy on the same
//! files.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use attune_engine::numerics::rng::{Stream, stream};
use attune_engine::numerics::{Matrix, parallel};
use attune_engine::vectors::answers::{Measure, neighbours};
use attune_engine::vectors::space::components;
use attune_engine::vectors::{Format, Table, Vectors, read, write};
use rand::RngExt;

mod jobs;

const WORDS: usize = 400_000;
const GLOVE: &str = "glove.txt";
const WORD2VEC: &str = "word2vec.bin";

fn main() -> ExitCode {
    let arguments = jobs::Arguments::read(5, &[], &["--folder"]);
    let folder = arguments.value("--folder").unwrap_or("target/vectors");
    match run(Path::new(folder), arguments.repeat) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::from(2)
        }
    }
}

fn run(folder: &Path, repeat: usize) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|why| why.to_string())?;
    for (name, format, width) in [(GLOVE, Format::Glove, 100), (WORD2VEC, Format::Word2VecBinary, 300)] {
        make(&folder.join(name), format, width).map_err(|why| format!("{name}: {why}"))?;
    }
    time_reading(&folder.join(GLOVE), "GloVe", repeat)?;
    let vectors = time_reading(&folder.join(WORD2VEC), "word2vec", repeat)?;
    let mut once = Vec::new();
    let bits: Vec<u32> = vectors.rows.flat().iter().map(|x| x.to_bits()).collect();
    let other = bits.clone();
    for _ in 0..repeat {
        timed(&mut once, || is_equal(&bits, &other));
    }
    tell("the matrix read from memory, on all threads", once.into_iter().map(|both| both / 2.0).collect());
    drop((bits, other));
    let mut asked = Vec::new();
    for row in 0..repeat {
        timed(&mut asked, || neighbours(&vectors, vectors.rows.row(row), Measure::Cosine, 10, &[row]));
    }
    tell("neighbours of a word among all", asked);
    let mut found = Vec::new();
    (0..repeat.min(3)).for_each(|_| drop(timed(&mut found, || components(&vectors, 3))));
    tell("principal components of all", found);
    Ok(())
}

/// Adds the duration of a call to `times`, in milliseconds.
fn timed<T>(times: &mut Vec<f64>, call: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let made = call();
    times.push(1e3 * begun.elapsed().as_secs_f64());
    made
}

/// Prints the median and the fastest time, because other programs may have slowed some runs down.
fn tell(what: &str, mut times: Vec<f64>) {
    times.sort_by(f64::total_cmp);
    println!("{what}: fastest {:.1} ms, median {:.1} ms of {}", times[0], times[times.len() / 2], times.len());
}

/// Writes a file of random words and numbers, unless it exists.
fn make(path: &Path, format: Format, width: usize) -> io::Result<()> {
    if path.is_file() {
        return Ok(());
    }
    let mut rng = stream(1, Stream::Corpus);
    let words: Vec<Box<str>> = (0..WORDS).map(|i| format!("word{i}").into()).collect();
    // Rounded to four or five digits, as in text files of trained vectors.
    let numbers = (0..WORDS * width).map(|_| (rng.random_range(-1.0f32..1.0) * 1e5).round() / 1e5).collect();
    let rows = std::borrow::Cow::Owned(Matrix::from_row_major(WORDS, width, numbers));
    let table = Table { words: words.into(), rows, metadata: Vec::new().into() };
    write(&table, format, &mut BufWriter::new(File::create(path)?))
}

/// Times reading a file, and reading only its bytes for comparison.
fn time_reading(path: &Path, name: &str, repeat: usize) -> Result<Vectors, String> {
    let (mut times, mut bytes) = (Vec::new(), Vec::new());
    let mut vectors = None;
    for _ in 0..repeat {
        timed(&mut bytes, || fs::read(path).map(drop)).map_err(|why| why.to_string())?;
        drop(vectors.take());
        vectors = Some(timed(&mut times, || read(path, &mut |_| true)).map_err(|why| why.to_string())?);
    }
    tell(&format!("{name}: the file's bytes, into memory"), bytes);
    tell(&format!("{name}: read, 400,000 words"), times);
    vectors.ok_or_else(|| "nothing was read".to_owned())
}

/// Compares two equal arrays, which reads both as fast as memory allows.
fn is_equal(a: &[u32], b: &[u32]) -> bool {
    let share = a.len().div_ceil(parallel::available()).max(1);
    let parts: Vec<(&[u32], &[u32])> = a.chunks(share).zip(b.chunks(share)).collect();
    parallel::map(&parts, parts.len(), |(a, b)| a == b).into_iter().all(|is| is)
}
