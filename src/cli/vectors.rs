//! Files of word vectors: `attune neighbours`, and what `attune check` says of one.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use attune_core::lesson::issue::printable;
use attune_engine::pretrained::cache::is_named_as_part;
use attune_engine::vectors::answers::{Measure, neighbours};
use attune_engine::vectors::expression::Expression;
use attune_engine::vectors::{Vectors, read};
use attune_view::export::work_file::is_shared;
use indicatif::{ProgressBar, ProgressDrawTarget};
use serde_json::json;

use super::args::{Common, NeighboursArgs};
use super::{Fault, print};

/// Whether a path given to `attune check` is a file of vectors: no lesson, no learner's work, no part of a model's folder.
pub fn may_be_vectors(path: &Path) -> bool {
    let is_named_as_lesson = path.extension().is_some_and(|extension| extension == "ron");
    let is_of_model = is_named_as_part(path) && path.with_file_name("config.json").is_file();
    path.is_file() && !is_named_as_lesson && !is_of_model && !is_shared(path) && !begins_as_lesson(path)
}

/// Whether a file begins as RON does: with a bracket, a comment or an attribute. A row of vectors that begins so ends in a
/// number.
fn begins_as_lesson(path: &Path) -> bool {
    const HEAD_BYTES: u64 = 1 << 12;
    let mut head = Vec::new();
    if File::open(path).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head)).is_err() {
        return true;
    }
    let text = String::from_utf8_lossy(&head);
    let text = text.trim_start();
    let last = text.lines().next().and_then(|line| line.split_whitespace().last());
    let is_row = last.is_some_and(|field| field.parse::<f32>().is_ok());
    ["(", "//", "/*", "#!"].iter().any(|begin| text.starts_with(begin)) && !is_row
}

/// The vectors of a file, with a progress bar on a terminal.
fn opened(path: &Path, common: &Common) -> Result<Vectors, Fault> {
    let target = if common.quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
    let bar = ProgressBar::with_draw_target(None, target);
    let vectors = read(path, &mut |progress| {
        bar.set_length(progress.length.max(progress.bytes));
        bar.set_position(progress.bytes);
        true
    });
    bar.finish_and_clear();
    vectors.map_err(|why| Fault::Lesson(format!("{}: {}\n", shown(path), printable(&why.to_string()))))
}

/// Prints the size of a file of vectors, and a line for each kind of mending.
pub fn check(path: &Path, common: &Common) -> Result<(), Fault> {
    let vectors = opened(path, common)?;
    let (file, report) = (shown(path), &vectors.report);
    for line in report.lines() {
        print::line(format_args!("{file}: {}", printable(&line)))?;
    }
    let (count, width) = (vectors.len(), vectors.width());
    let (kind, format) = (printable(&vectors.kind), vectors.format);
    let left_out = report.left_out();
    print::line(format_args!(
        "{file}: ok, {count} vectors of {width} numbers ({format}, {kind}); {left_out} rows left out"
    ))
}

/// Prints the words nearest to an expression.
pub fn print_neighbours(request: &NeighboursArgs, common: &Common) -> Result<(), Fault> {
    let path = &request.file;
    let vectors = opened(path, common)?;
    let expression = Expression::parse(&request.expression, &vectors)
        .map_err(|why| Fault::usage(format_args!("{}: {}", shown(path), printable(&why))))?;
    let (measure, name, to) = match request.distance {
        true => (Measure::Distance, "distance", expression.sum(&vectors)),
        false => (Measure::Cosine, "cosine", expression.direction(&vectors)),
    };
    let except = if request.with_words { Vec::new() } else { expression.rows() };
    let found = neighbours(&vectors, &to, measure, request.count, &except);
    if request.json {
        let each =
            found.iter().map(|near| json!({ "word": vectors.words[near.row], "row": near.row, name: near.value }));
        let answer = json!({
            "file": path.display().to_string(),
            "expression": request.expression,
            "measure": name,
            "neighbours": each.collect::<Vec<_>>(),
        });
        return print::with(|out| writeln!(out, "{answer}"));
    }
    print::with(|out| {
        found.iter().try_for_each(|near| writeln!(out, "{:.6}\t{}", near.value, printable(&vectors.words[near.row])))
    })
}

fn shown(path: &Path) -> String {
    printable(&path.display().to_string())
}
