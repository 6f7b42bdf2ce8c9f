//! Names of rows in a table next to a file of vectors, as in the Embedding Projector. A table is used only if it has an
//! entry for each row, because a wrong name is worse than none.

use std::path::{Path, PathBuf};

use super::layout::{Layout, WORD_COLUMNS};
use super::source::{Source, split};
use super::{Builder, Column, SNIFFED_BYTES};
use crate::files::text_without_mark;
use crate::foreign;
use crate::messages::counted;
use crate::pretrained::load::LoadStopped;
use crate::pretrained::refusal::{Refusal, quoted};

const COLUMNS_MAX: usize = 64;
/// Largest number of columns of numbers in a table of words; a table with more is one of vectors.
const NUMBERS_MAX: usize = 3;
/// Endings of the name of a table of words, after the name of the vectors' file.
const OWN: [&str; 5] = ["_metadata.tsv", ".words.txt", "_words.txt", ".vocab", ".txt"];
/// Endings of the name of a vocabulary, after the name of the vectors' file or a part of it.
const VOCABULARY: [&str; 4] = ["-vocab", "_vocab", ".vocab", "-words"];
/// Endings of the name of a file of numbers, which are left out to get the name of the file of its words.
const NUMBERS: [&str; 6] = ["-w", "_w", "-vectors", "_vectors", "-embeddings", "_embeddings"];

/// End of a note about a table that is not used.
pub(super) const ROWS_ARE_NUMBERS: &str = "so rows are named by their numbers";

/// Returns the column of the words: the one with a usual name, or else the first; `None` if there are no columns.
pub fn label(columns: &[Column]) -> Option<&Column> {
    let named = columns.iter().find(|column| WORD_COLUMNS.contains(&&*column.name.to_lowercase()));
    named.or_else(|| columns.first())
}

/// Names the rows from a table next to the file, if there is one with an entry for each row.
///
/// # Errors
/// If the table cannot be read.
pub fn metadata_beside(path: &Path, builder: &mut Builder<'_>, vectors: &Source) -> Result<(), LoadStopped> {
    let (folder, name) = split(path)?;
    let names = names_beside(name).into_iter().filter(|other| other != name);
    let tables: Vec<PathBuf> = names.map(|other| folder.join(other)).filter(|other| other.is_file()).collect();
    let mut reasons = Vec::new();
    for table in &tables {
        match named_by(table, builder, vectors)? {
            None => return Ok(()),
            Some(why) => reasons.push(why),
        }
    }
    reasons.into_iter().take(1).for_each(|why| builder.note(why));
    if tables.is_empty()
        && let Some(pickle) = pickles_beside(name).into_iter().find(|other| folder.join(other).is_file())
    {
        let own = format!("{}{}", stem(name), OWN[0]);
        builder.note(format!(
            "the words are in {}, a Python pickle, which attune does not read because it can run any program; write them \
             into {}, a word in each line: in Python, open({own:?}, \"w\").write(\"\\n\".join(words))",
            quoted(&pickle),
            quoted(&own)
        ));
    }
    Ok(())
}

/// Returns a name without its extension and `.gz`.
fn stem(name: &str) -> &str {
    let stem = name.trim_end_matches(".gz");
    stem.rsplit_once('.').map_or(stem, |(stem, _)| stem)
}

/// Returns the possible beginnings of the names of related files: the name without its extension, and also without an
/// ending that says what the file contains.
fn bases(name: &str) -> Vec<&str> {
    let stem = stem(name);
    std::iter::once(stem).chain(NUMBERS.iter().filter_map(|end| stem.strip_suffix(end))).collect()
}

/// Returns the names that a table of words next to the file may have.
fn names_beside(name: &str) -> Vec<String> {
    let stem = stem(name);
    let own = OWN.map(|ending| format!("{stem}{ending}"));
    let vocabularies = bases(name).into_iter().flat_map(|base| VOCABULARY.map(|end| format!("{base}{end}.txt")));
    let swapped = ["vectors", "tensors", "embeddings"].map(|word| stem.replace(word, "metadata"));
    let swapped = swapped.into_iter().filter(|other| other != stem).map(|other| format!("{other}.tsv"));
    own.into_iter().chain(vocabularies).chain(swapped).chain(["metadata.tsv".to_owned()]).collect()
}

fn pickles_beside(name: &str) -> Vec<String> {
    let ends = ["", "-vocab", "_vocab", ".vocab", "-words", "_words"];
    let of_base =
        |base: &str| ends.iter().flat_map(|end| [format!("{base}{end}.pkl"), format!("{base}{end}.pickle")]).collect();
    bases(name).into_iter().flat_map(|base| -> Vec<String> { of_base(base) }).collect()
}

/// Names the rows from a table if it has an entry for each row, and otherwise adds a note to the report.
///
/// # Errors
/// If the table cannot be read.
pub(super) fn metadata(table: &Path, builder: &mut Builder<'_>, vectors: &Source) -> Result<(), LoadStopped> {
    named_by(table, builder, vectors)?.into_iter().for_each(|why| builder.note(why));
    Ok(())
}

/// Names the rows from a table. If its lines do not belong to the rows, returns a note with the reason instead.
fn named_by(table: &Path, builder: &mut Builder<'_>, vectors: &Source) -> Result<Option<String>, LoadStopped> {
    let (_, name) = split(table)?;
    let of_table = |refusal: Refusal| refusal.in_file(name);
    let mut source = Source::open(table).map_err(of_table)?;
    let head = source.peek(SNIFFED_BYTES).map_err(of_table)?;
    if let Some(kind) = foreign::recognise(head) {
        return Ok(Some(format!("{} is {}, {ROWS_ARE_NUMBERS}; {}", quoted(name), kind.what, kind.advice)));
    }
    let is_vectors = Layout::of(head, head.len() < SNIFFED_BYTES, None);
    let is_same = |layout: Layout| layout.width > NUMBERS_MAX && layout.width == builder.width && layout.names() == 0;
    if is_vectors.is_ok_and(is_same) {
        let why = "has vectors as text, and not a word in each line";
        return Ok(Some(format!("{} {why}, {ROWS_ARE_NUMBERS}", quoted(name))));
    }
    let rows = builder.seen();
    let lines = Lines::count(&mut source, rows).map_err(of_table)?;
    let Some(shape) = Shape::of(&lines, rows) else {
        let (name, count, rows) = (quoted(name), counted(lines.count, "line"), counted(rows, "row"));
        return Ok(Some(format!(
            "{name} has {count} for {rows}, {ROWS_ARE_NUMBERS}: it needs one line for each row, and may have \
             one more with the names of its columns"
        )));
    };
    builder.report.notes.extend(shape.note(name, &lines));
    let mut again = Source::open(table).map_err(of_table)?;
    let of_table = |stopped: LoadStopped| stopped.in_file(name);
    let columns = columns(&mut again, &lines, shape, (builder, vectors)).map_err(of_table)?;
    builder.name_by(columns);
    Ok(None)
}

/// The lines of a table of words, counted before they are stored.
pub(super) struct Lines {
    first: String,
    /// Number of lines, without empty ones at the end that belong to no row.
    pub count: u64,
}

impl Lines {
    pub fn count(source: &mut Source, rows: u64) -> Result<Self, Refusal> {
        let (mut count, mut filled, mut first) = (0_u64, 0, String::new());
        while let Some(line) = next(source)? {
            if count == 0 {
                first = text_without_mark(&line).to_owned();
            }
            count += 1;
            if !line.is_empty() {
                filled = count;
            }
        }
        Ok(Self { first, count: count.min(filled.max(rows)) })
    }
}

/// Returns the next line without its end.
fn next(source: &mut Source) -> Result<Option<String>, Refusal> {
    let line = source.line()?;
    let length = line.len();
    let text = line.strip_suffix(b"\n").unwrap_or(line);
    let text = String::from_utf8_lossy(text.strip_suffix(b"\r").unwrap_or(text)).into_owned();
    source.pass(length);
    Ok((length > 0).then_some(text))
}

/// The structure of a table: whether the first line names the columns, the number of columns, and the number of rows.
#[derive(Clone, Copy)]
struct Shape {
    has_names: bool,
    columns: usize,
    rows: usize,
}

impl Shape {
    /// Returns the structure of a table, or `None` if its lines do not belong to the rows.
    fn of(lines: &Lines, rows: u64) -> Option<Self> {
        let names = lines.first.split('\t');
        let columns = names.clone().count().min(COLUMNS_MAX);
        let has_names = lines.count == rows + 1;
        let is_name = |name: &str| WORD_COLUMNS.contains(&&*name.to_lowercase());
        // If the first line names the columns, there are as many lines as rows only because one entry is missing.
        let is_short = columns > 1 && names.clone().any(is_name);
        let belongs = has_names || lines.count == rows && !is_short;
        let rows = usize::try_from(rows).ok().filter(|_| belongs)?;
        Some(Self { has_names, columns, rows })
    }

    fn note(self, name: &str, lines: &Lines) -> Option<String> {
        let (name, first) = (quoted(name), quoted(&lines.first));
        match (self.has_names, self.columns) {
            (true, 1) => Some(format!(
                "the first line of {name}, {first}, is taken for the column's name: there is one line more than rows"
            )),
            (false, 2..) => Some(format!(
                "{name} has no line with the names of its columns: its first line, {first}, is the entry of the first row"
            )),
            _ => None,
        }
    }
}

/// Reads the columns, with an entry for each row.
fn columns(
    source: &mut Source,
    lines: &Lines,
    shape: Shape,
    (builder, vectors): (&mut Builder<'_>, &Source),
) -> Result<Vec<Column>, LoadStopped> {
    builder.take_entries((shape.rows as u64).saturating_mul(shape.columns as u64), 0, vectors)?;
    let names: Vec<&str> = lines.first.split('\t').collect();
    let name = |at: usize| match (shape.has_names, at) {
        (true, _) => names[at].to_owned(),
        (false, 0) => "label".to_owned(),
        (false, _) => format!("column {}", at + 1),
    };
    let column = |at| Column { name: name(at), entries: Vec::with_capacity(shape.rows) };
    let mut columns: Vec<Column> = (0..shape.columns).map(column).collect();
    if shape.has_names {
        next(source)?;
    }
    for row in 0..shape.rows {
        let line = next(source)?.unwrap_or_default();
        builder.take_entries(0, line.len(), vectors)?;
        let line = if row == 0 { text_without_mark(&line) } else { &line };
        let mut entries = line.split('\t');
        columns.iter_mut().for_each(|column| column.entries.push(entries.next().unwrap_or_default().to_owned()));
    }
    Ok(columns)
}

/// Reads a list with one word in each line, one for each row, as a column.
pub(super) fn column_of_list(
    list: &Path,
    rows: usize,
    builder: &mut Builder<'_>,
    vectors: &Source,
) -> Result<Column, LoadStopped> {
    let mut source = Source::open(list)?;
    source.pass_mark()?;
    builder.take_entries(rows as u64, 0, vectors)?;
    let mut entries = Vec::with_capacity(rows);
    while entries.len() < rows {
        let line = next(&mut source)?.unwrap_or_default();
        builder.take_entries(0, line.len(), vectors)?;
        entries.push(line);
    }
    Ok(Column { name: "label".to_owned(), entries })
}
