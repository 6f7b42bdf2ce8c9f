//! Files of word vectors: `attune neighbours`, `attune compare`, `attune trace --words`, and the parts of `attune
//! export` and `attune check` about such files.

use std::path::{Path, PathBuf};

use attune_core::lesson::issue::{printable, shown};
use attune_core::lesson::vector_files::is_file_of_vectors;
use attune_engine::messages::counted;
use attune_engine::numerics::vectors::{cosine, norm};
use attune_engine::pretrained::cache::{Environment, ModelPath, find, given, has_part_of_a_model};
use attune_engine::vectors::answers::{Measure, Neighbour, neighbours};
use attune_engine::vectors::expression::Expression;
use attune_engine::vectors::space::{compare, shared_words};
use attune_engine::vectors::{Vectors, read, unknown};
use attune_view::export::vectors::TableRows;
use indicatif::ProgressBar;
use serde_json::{Value, json};

use super::args::{Common, CompareArgs, NeighboursArgs};
use super::training::target;
use super::{CliFault, print};

/// Returns the folder of a model that is given by its folder, by one of its files or by its name; `None` if there is no
/// such model.
fn model_folder(path: &Path) -> Option<PathBuf> {
    match given(path) {
        ModelPath::Folder(folder) => has_part_of_a_model(&folder).then_some(folder),
        ModelPath::Name(name) => find(&name, &Environment::of_process()).ok(),
        ModelPath::Lesson(_) => None,
    }
}

/// Returns the table to export, of a file of vectors or of a model whose static vectors are asked for; `None` in all
/// other cases, such as a lesson.
///
/// # Errors
/// If the table cannot be read.
pub fn table(path: &Path, rows: TableRows, common: &Common) -> Result<Option<Vectors>, CliFault> {
    let is_table = is_file_of_vectors(path) || rows == TableRows::Static && model_folder(path).is_some();
    is_table.then(|| opened(path, common)).transpose()
}

/// Reads the vectors of a file or of a model's table, with a progress bar on a terminal.
fn opened(path: &Path, common: &Common) -> Result<Vectors, CliFault> {
    let file = if is_file_of_vectors(path) { None } else { model_folder(path) };
    let path = file.as_deref().unwrap_or(path);
    let bar = ProgressBar::with_draw_target(None, target(common));
    let vectors = read(path, &mut |progress| {
        bar.set_length(progress.length.max(progress.bytes));
        bar.set_position(progress.bytes);
        true
    });
    bar.finish_and_clear();
    vectors.map_err(|why| CliFault::in_file(path, printable(&why.to_string())))
}

/// Prints the size of a file of vectors, and a line for each kind of repair.
///
/// # Errors
/// If the file cannot be read.
pub fn check(path: &Path, common: &Common) -> Result<(), CliFault> {
    let vectors = opened(path, common)?;
    let (file, report) = (shown(path), &vectors.report);
    for line in report.lines() {
        print::line(format_args!("{file}: {}", printable(&line)))?;
    }
    let (count, width) = (counted(vectors.len(), "vector"), counted(vectors.width(), "number"));
    let (kind, format) = (printable(&vectors.kind), vectors.format);
    let left_out = counted(report.left_out(), "row");
    print::line(format_args!("{file}: ok, {count} of {width} ({format}, {kind}); {left_out} left out"))
}

/// Prints the words nearest to an expression.
///
/// # Errors
/// If the file cannot be read, or lacks a word of the expression.
pub fn print_neighbours(request: &NeighboursArgs, common: &Common) -> Result<(), CliFault> {
    let path = &request.file;
    let vectors = opened(path, common)?;
    let expression = Expression::parse(&request.expression, &vectors)
        .map_err(|why| CliFault::usage(format_args!("{}: {}", shown(path), printable(&why))))?;
    let (measure, name, to) = match request.distance {
        true => (Measure::Distance, "distance", expression.sum(&vectors)),
        false => (Measure::Cosine, "cosine", expression.direction(&vectors)),
    };
    let except = if request.with_words { Vec::new() } else { expression.rows() };
    let found = neighbours(&vectors, &to, measure, request.count, &except);
    if request.json {
        let answer = json!({
            "file": path.display().to_string(),
            "expression": request.expression,
            "measure": name,
            "neighbours": told(&found, &vectors, name),
        });
        return print::with(|out| writeln!(out, "{answer}"));
    }
    print::with(|out| {
        found.iter().try_for_each(|near| writeln!(out, "{:.6}\t{}", near.value, printable(&vectors.words[near.row])))
    })
}

/// Prints the words that moved most and least between two files.
///
/// # Errors
/// If a file cannot be read or has no words, or the files do not fit each other.
pub fn print_compared(request: &CompareArgs, common: &Common) -> Result<(), CliFault> {
    let (from, to) = (opened(&request.file, common)?, opened(&request.other, common)?);
    for (path, vectors) in [(&request.file, &from), (&request.other, &to)] {
        if let Some(why) = vectors.why_no_words() {
            return Err(CliFault::in_file(path, printable(&why)));
        }
    }
    let shared = shared_words(&from, &to);
    let of_both = |why| CliFault::Lesson(format!("{} and {}: {why}\n", shown(&request.file), shown(&request.other)));
    let compared = compare((&from.rows).into(), (&to.rows).into(), &shared).map_err(of_both)?;
    let (moved, mean) = (&compared.moved, compared.mean_cosine());
    let most = moved.iter().take(request.count);
    let least = moved.iter().rev().take(request.count);
    if request.json {
        let word = |(row, other_row, cosine): &(usize, usize, f64)| json!({ "word": from.words[*row], "row": row, "other_row": other_row, "cosine": cosine });
        let answer = json!({
            "file": request.file.display().to_string(),
            "other": request.other.display().to_string(),
            "shared": moved.len(),
            "mean_cosine": mean,
            "moved_most": most.map(word).collect::<Vec<_>>(),
            "moved_least": least.map(word).collect::<Vec<_>>(),
        });
        return print::with(|out| writeln!(out, "{answer}"));
    }
    print::with(|out| {
        let line = |(row, _, cosine): &(usize, usize, f64)| format!("{cosine:.6}\t{}\n", printable(&from.words[*row]));
        let (most, least): (String, String) = (most.map(line).collect(), least.map(line).collect());
        writeln!(out, "{} words are in both files; their mean cosine after the rotation is {mean:.6}", moved.len())?;
        write!(out, "moved most:\n{most}moved least:\n{least}")
    })
}

/// Converts words to JSON objects, with the value of each under the name of the measure.
fn told(found: &[Neighbour], vectors: &Vectors, measure: &str) -> Vec<Value> {
    found.iter().map(|near| json!({ "word": vectors.words[near.row], "row": near.row, measure: near.value })).collect()
}

/// Prints words with their vectors, lengths and neighbours, and their cosines with each other.
///
/// # Errors
/// If the file cannot be read, or lacks one of the words.
pub fn trace(path: &Path, words: &[String], common: &Common) -> Result<(), CliFault> {
    const NEIGHBOURS: usize = 10;
    let vectors = opened(path, common)?;
    let row_of = |word: &String| vectors.row_of(word).ok_or_else(|| unknown(word, &vectors));
    let rows: Result<Vec<usize>, String> = words.iter().map(row_of).collect();
    let rows = rows.map_err(|why| CliFault::usage(format_args!("--words: {}: {}", shown(path), printable(&why))))?;
    let each = rows.iter().map(|&row| {
        let vector = vectors.rows.row(row);
        let found = neighbours(&vectors, vector, Measure::Cosine, NEIGHBOURS, &[row]);
        json!({
            "word": vectors.words[row],
            "row": row,
            "norm": norm(vector),
            "vector": vector,
            "neighbours": told(&found, &vectors, "cosine"),
        })
    });
    let cosines =
        |&a: &usize| -> Vec<f32> { rows.iter().map(|&b| cosine(vectors.rows.row(a), vectors.rows.row(b))).collect() };
    let answer = json!({
        "file": path.display().to_string(),
        "format": vectors.format.to_string(),
        "count": vectors.len(),
        "width": vectors.width(),
        "words": each.collect::<Vec<_>>(),
        "cosines": rows.iter().map(cosines).collect::<Vec<_>>(),
    });
    print::with(|out| writeln!(out, "{answer}"))
}
