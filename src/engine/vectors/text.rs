//! Text, a line a word: word2vec's and fastText's with a header of count and width, GloVe's without one, and the Embedding
//! Projector's TSV, whose words are in a file beside it.
//!
//! The last `d` fields of a line are its vector and all before them is its word, so that words with blanks are read too.

use std::collections::BTreeMap;
use std::io::{self, Read as _, Write};
use std::path::Path;
use std::string::FromUtf8Error;

use serde::{Deserialize, Serialize};

use super::binary::Header;
use super::decimal::parse;
use super::source::{Source, split};
use super::{Builder, Column, Format, NOT_VECTORS, Place, Report, SNIFFED_BYTES, Table, Vectors, WIDTH_MAX, Watch};
use crate::files;
use crate::messages::counted;
use crate::pretrained::load::LoadStopped;
use crate::pretrained::refusal::Refusal;

/// Lines that tell the width of a file.
const SAMPLE: usize = 100;
/// Bytes of a config that is read.
const CONFIG_BYTES_MAX: u64 = 1 << 20;
const COLUMNS_MAX: usize = 64;

fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(is_blank).filter(|field| !field.is_empty())
}

fn trimmed(line: &[u8]) -> &[u8] {
    let end = line.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r' | b' ' | b'\t'));
    &line[..end.map_or(0, |end| end + 1)]
}

/// Whether a file begins as an object of JSON does, and not as a row whose word is a bracket.
pub fn is_object(head: &[u8]) -> bool {
    let [b'{', rest @ ..] = head else { return false };
    matches!(rest.iter().find(|byte| !byte.is_ascii_whitespace()), Some(b'"' | b'}'))
}

/// Whether what follows a header is text: lines of the header's width, or at least a line that ends in a number, and no bytes
/// that no text has.
pub fn is_text(after_header: &[u8], width: usize) -> bool {
    let lines = after_header.split_inclusive(|byte| *byte == b'\n').take(20);
    let is_row = |line: &[u8]| word_of(trimmed(line), width).is_some_and(|word| !word.is_empty());
    let ends_in_number = |line: &[u8]| fields(trimmed(line)).last().is_some_and(|field| parse(field).is_some());
    let is_control = |byte: &u8| *byte < b' ' && !matches!(byte, b'\n' | b'\r' | b'\t');
    lines.clone().any(is_row) || lines.clone().any(ends_in_number) && !after_header.iter().take(4096).any(is_control)
}

/// The part of a line before its last `width` fields, if these are numbers.
fn word_of(line: &[u8], width: usize) -> Option<&[u8]> {
    let mut rest = line;
    for _ in 0..width {
        let from = rest.iter().rposition(is_blank).map_or(0, |at| at + 1);
        parse(&rest[from..])?;
        rest = trimmed(&rest[..from]);
    }
    Some(rest)
}

/// The shape of a text without a header.
struct Shape {
    width: usize,
    /// Every field of a line is a number: there are no words.
    is_nameless: bool,
    has_tabs: bool,
}

impl Shape {
    /// # Errors
    /// If no line of the sample is a row.
    fn of(sample: &[u8], is_whole: bool) -> Result<Self, Refusal> {
        let mut lines: Vec<&[u8]> = sample.split_inclusive(|byte| *byte == b'\n').take(SAMPLE).collect();
        if lines.len() > 1 && !is_whole && lines.last().is_some_and(|last| !last.ends_with(b"\n")) {
            lines.pop();
        }
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        let (mut is_nameless, mut has_tabs) = (true, false);
        for line in lines.iter().map(|line| trimmed(line)).filter(|line| !line.is_empty()) {
            let numbers = fields(line).skip(1).filter(|field| parse(field).is_some()).count();
            *counts.entry(fields(line).count()).or_default() += usize::from(numbers > 0);
            let first = fields(line).next().unwrap_or_default();
            has_tabs |= line.contains(&b'\t');
            let is_fraction = line.contains(&b'\t') || first.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
            is_nameless &= is_fraction && parse(first).is_some();
        }
        // The most frequent; of several, the narrowest.
        let most = counts.iter().rev().max_by_key(|(_, times)| **times).filter(|(_, times)| **times > 0);
        let width = most.map_or(0, |(fields, _)| if is_nameless { *fields } else { fields - 1 });
        if width == 0 || width > WIDTH_MAX {
            let found =
                if width == 0 { "no line with a word and its numbers".to_owned() } else { format!("{width} fields") };
            return Err(Refusal::new(found, format!("a word and 1 to {WIDTH_MAX} numbers per line"), NOT_VECTORS));
        }
        Ok(Self { width, is_nameless, has_tabs })
    }
}

/// Reads a text.
///
/// # Errors
/// If most lines are no rows, or reading was stopped.
pub fn read(mut source: Source, header: Option<Header>, path: &Path, watch: Watch<'_>) -> Result<Vectors, LoadStopped> {
    let header_bytes = header.map_or(0, |header| header.bytes);
    let head = source.peek(SNIFFED_BYTES)?;
    let (sample, is_whole) = (&head[header_bytes..], head.len() < SNIFFED_BYTES);
    let shape = match header {
        Some(Header { width, .. }) if sample.split(|byte| *byte == b'\n').take(SAMPLE).any(|line| has(line, width)) => {
            Shape { width, is_nameless: false, has_tabs: false }
        }
        _ => Shape::of(sample, is_whole)?,
    };
    source.pass(header_bytes);
    let mut builder = Builder::new(shape.width, &source, watch);
    if let Some(Header { width, .. }) = header.filter(|header| header.width != shape.width) {
        builder.note(format!("the header says {width} numbers per word, but the lines have {}", shape.width));
    }
    let first = if header.is_some() { 2 } else { 1 };
    rows(&mut source, &shape, first, &mut builder)?;
    if let Some(Header { rows, .. }) = header.filter(|header| header.rows != builder.seen()) {
        builder.note(format!("the number of rows is {rows} in the header, but {} in the file", builder.seen()));
    }
    let format = match (header, shape.is_nameless) {
        (Some(_), _) => Format::Word2VecText,
        (None, true) if shape.has_tabs => Format::Tsv,
        (None, _) => Format::Glove,
    };
    if shape.is_nameless {
        metadata_beside(path, &mut builder, &source)?;
    }
    builder.finish(format, "text", &source)
}

/// Writes a line for each word, after a header of count and width where the format has one.
pub(super) fn write(table: &Table<'_>, has_header: bool, to: &mut dyn Write) -> io::Result<()> {
    if has_header {
        writeln!(to, "{} {}", table.rows.rows(), table.rows.cols())?;
    }
    let mut line = String::new();
    table.joined().try_for_each(|(word, row)| {
        line.clear();
        line += &word;
        row.iter().for_each(|x| push_number(&mut line, ' ', *x));
        writeln!(to, "{line}")
    })
}

/// Appends a separator and the fewest digits that are read back as the same number.
fn push_number(line: &mut String, separator: char, x: f32) {
    use std::fmt::Write as _;

    // Writing to a string cannot fail.
    let _ = write!(line, "{separator}{x:?}");
}

/// Writes the numbers of the Embedding Projector, a line for each row.
pub(super) fn write_tsv(table: &Table<'_>, to: &mut dyn Write) -> io::Result<()> {
    if table.rows.cols() < 2 {
        return Err(io::Error::other("the Embedding Projector reads vectors of two numbers or more"));
    }
    let mut line = String::new();
    (0..table.rows.rows()).try_for_each(|row| {
        line.clear();
        table.rows.row(row).iter().for_each(|x| push_number(&mut line, '\t', *x));
        writeln!(to, "{}", &line[1..])
    })
}

fn has(line: &[u8], width: usize) -> bool {
    word_of(trimmed(line), width).is_some()
}

fn rows(source: &mut Source, shape: &Shape, first: u64, builder: &mut Builder<'_>) -> Result<(), LoadStopped> {
    let mut word = Vec::new();
    for number in first.. {
        let line = source.line()?;
        let length = line.len();
        if length == 0 {
            break;
        }
        let line = trimmed(line);
        word.clear();
        let is_row = if line.is_empty() { None } else { Some(row(line, shape, &mut word, builder.room())) };
        source.pass(length);
        match is_row {
            Some(true) => builder.push(&word, Place::Line(number), source)?,
            Some(false) => builder.leave_out(Place::Line(number))?,
            None => {}
        }
    }
    Ok(())
}

/// Puts the numbers of a line after the others, and its word into `word`; `false` if the line is no row.
fn row(line: &[u8], shape: &Shape, word: &mut Vec<u8>, numbers: &mut Vec<f32>) -> bool {
    let before = numbers.len();
    let from = if shape.is_nameless { 0 } else { line.iter().position(is_blank).unwrap_or(line.len()) };
    let mut count = 0;
    for field in fields(&line[from..]) {
        let Some(number) = parse(field).filter(|_| count < shape.width) else {
            count = usize::MAX;
            break;
        };
        numbers.push(number);
        count += 1;
    }
    if count == shape.width {
        word.extend_from_slice(&line[..from]);
        return true;
    }
    numbers.truncate(before);
    let Some(found) = word_of(line, shape.width).filter(|found| shape.is_nameless == found.is_empty()) else {
        return false;
    };
    word.extend_from_slice(found);
    let start = found.len();
    numbers.extend(fields(&line[start..]).filter_map(parse));
    true
}

/// The lines of a file beside the vectors, as far as there are rows for them.
pub(super) struct Lines {
    pub text: String,
    /// Lines of the whole file.
    count: u64,
}

impl Lines {
    /// Reads a line for each row, and one for the names of columns; the lines after them are counted.
    ///
    /// # Errors
    /// If the file cannot be read, a line has no end, or the lines take too much memory.
    pub fn read(path: &Path, builder: &mut Builder<'_>, vectors: &Source) -> Result<Self, LoadStopped> {
        let (file, length) = files::open(path).map_err(|error| Refusal::unreadable(&error))?;
        let mut source = Source::of(file.take(length), length);
        let (mut bytes, mut count) = (Vec::new(), 0);
        while count <= builder.seen() {
            let line = source.line()?;
            let length = line.len();
            if length == 0 {
                break;
            }
            builder.take(length as u64, vectors)?;
            bytes.extend_from_slice(source.peek(length)?);
            source.pass(length);
            count += 1;
        }
        let mended = |error: FromUtf8Error| String::from_utf8_lossy(error.as_bytes()).into_owned();
        let text = String::from_utf8(bytes).unwrap_or_else(mended);
        Ok(Self { text, count: count + lines_left(&mut source)? })
    }
}

/// The number of lines to the end, which may have any length.
fn lines_left(source: &mut Source) -> Result<u64, Refusal> {
    const AT_ONCE: usize = 1 << 20;
    let (mut count, mut is_within) = (0, false);
    loop {
        let part = source.peek(AT_ONCE)?;
        let Some(last) = part.last() else { return Ok(count + u64::from(is_within)) };
        is_within = *last != b'\n';
        count += memchr::memchr_iter(b'\n', part).count() as u64;
        let length = part.len();
        source.pass(length);
    }
}

/// The number of columns of a table.
fn columns_of(text: &str) -> usize {
    text.lines().next().map_or(0, |line| line.split('\t').count()).min(COLUMNS_MAX)
}

/// A table of words and of what else is known of them, as the Embedding Projector has it.
fn read_metadata(lines: &Lines, rows: u64, report: &mut Report) -> Vec<Column> {
    let (width, count) = (columns_of(&lines.text), lines.count);
    let lines: Vec<&str> = lines.text.lines().collect();
    // The projector's rule: names of columns only where there is more than one.
    let has_names = width > 1;
    let count = count - u64::from(has_names);
    if count != rows {
        report.notes.push(format!("the metadata has {}, but the vectors have {rows}", counted(count, "row")));
    }
    let entries = &lines[usize::from(has_names)..];
    let name = |at: usize| lines.first().and_then(|line| line.split('\t').nth(at)).filter(|_| has_names);
    let column = |at| Column {
        name: name(at).unwrap_or("label").to_owned(),
        entries: entries.iter().map(|line| line.split('\t').nth(at).unwrap_or_default().to_owned()).collect(),
    };
    (0..width).map(column).collect()
}

/// Writes a table of the words and the other columns, as [`read_metadata`] reads it.
///
/// # Errors
/// If it cannot be written.
pub fn write_metadata(table: &Table<'_>, to: &mut dyn Write) -> io::Result<()> {
    let (words, others) = table.columns("label");
    let columns: Vec<&Column> = std::iter::once(&words).chain(others).collect();
    let mut line = |entries: &mut dyn Iterator<Item = &str>| {
        // A control character would end a field or the line.
        let entries: Vec<String> = entries.map(|entry| entry.replace(char::is_control, " ")).collect();
        writeln!(to, "{}", entries.join("\t"))
    };
    if columns.len() > 1 {
        line(&mut columns.iter().map(|column| &*column.name))?;
    }
    (0..table.words.len()).try_for_each(|row| line(&mut columns.iter().map(|column| &*column.entries[row])))
}

/// The column that has the words.
pub fn label(columns: &[Column]) -> Option<&Column> {
    const NAMES: [&str; 6] = ["label", "word", "words", "token", "name", "text"];
    let named = columns.iter().find(|column| NAMES.contains(&&*column.name.to_lowercase()));
    named.or_else(|| columns.first())
}

/// Names the rows by a metadata table beside the file, if there is one.
///
/// # Errors
/// If the table cannot be read.
pub fn metadata_beside(path: &Path, builder: &mut Builder<'_>, source: &Source) -> Result<(), LoadStopped> {
    let (folder, name) = split(path)?;
    let stem = name.trim_end_matches(".gz");
    let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
    let swapped = ["vectors", "tensors", "embeddings"].map(|word| stem.replace(word, "metadata"));
    let own = ["_metadata.tsv", ".words.txt", "_words.txt", ".vocab", ".txt"].map(|ending| format!("{stem}{ending}"));
    let swapped = swapped.into_iter().filter(|other| other != stem).map(|other| format!("{other}.tsv"));
    let names = own.into_iter().chain(swapped).chain(["metadata.tsv".to_owned()]);
    match names.filter(|other| other != name).find(|other| folder.join(other).is_file()) {
        Some(table) => metadata(&folder.join(table), builder, source),
        None => Ok(()),
    }
}

fn metadata(table: &Path, builder: &mut Builder<'_>, source: &Source) -> Result<(), LoadStopped> {
    let rows = builder.seen();
    let of_table = |stopped: LoadStopped| stopped.in_file(&table.display().to_string());
    let lines = Lines::read(table, builder, source).map_err(of_table)?;
    let entries = rows.saturating_mul(columns_of(&lines.text) as u64);
    builder.take_entries(entries, lines.text.len(), source).map_err(of_table)?;
    let columns = read_metadata(&lines, rows, &mut builder.report);
    builder.name_by(columns);
    Ok(())
}

/// The config of the Embedding Projector.
#[derive(Serialize, Deserialize)]
struct Config {
    embeddings: Vec<Embedding>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Embedding {
    #[serde(default)]
    tensor_name: String,
    #[serde(default)]
    tensor_shape: Vec<u64>,
    tensor_path: String,
    metadata_path: Option<String>,
}

/// Writes the config that opens a table and its metadata together: their files' names, beside the config.
///
/// # Errors
/// If it cannot be written.
pub fn write_config(table: &Table<'_>, tensor: &str, metadata: &str, to: &mut dyn Write) -> io::Result<()> {
    let embedding = Embedding {
        tensor_name: tensor.to_owned(),
        tensor_shape: vec![table.rows.rows() as u64, table.rows.cols() as u64],
        tensor_path: tensor.to_owned(),
        metadata_path: Some(metadata.to_owned()),
    };
    Ok(serde_json::to_writer_pretty(to, &Config { embeddings: vec![embedding] })?)
}

/// Reads the first table that a config of the Embedding Projector names; its files must be beside it.
///
/// # Errors
/// If it is no such config, or its files are elsewhere or no vectors.
pub fn read_config(path: &Path, watch: Watch<'_>) -> Result<Vectors, LoadStopped> {
    let (folder, name) = split(path)?;
    let text = crate::pretrained::folder::text(folder, name, CONFIG_BYTES_MAX)?;
    let config: Config = serde_json::from_str(&text).map_err(|error| {
        Refusal::bad_json(&error, "vectors, or a projector's config with `embeddings`", NOT_VECTORS)
    })?;
    let Some(Embedding { tensor_path, metadata_path, .. }) = config.embeddings.into_iter().next() else {
        return Err(Refusal::new("a config without embeddings", "one at least", NOT_VECTORS).into());
    };
    let beside = |file: &str| {
        let is_plain = Path::new(file).file_name().is_some_and(|name| name == file);
        let advice = "download the files and give their names in the config";
        let refusal = || Refusal::new(format!("the path {file:?}"), "the name of a file beside the config", advice);
        is_plain.then(|| folder.join(file)).ok_or_else(refusal)
    };
    let table = beside(&tensor_path)?;
    let metadata_path = metadata_path.map(|file| beside(&file)).transpose()?;
    let mut source = Source::open(&table)?;
    let head = source.peek(SNIFFED_BYTES)?;
    let shape = Shape { is_nameless: true, ..Shape::of(head, head.len() < SNIFFED_BYTES)? };
    let width = fields(trimmed(head.split(|byte| *byte == b'\n').next().unwrap_or_default())).count().max(shape.width);
    let shape = Shape { width: width.min(WIDTH_MAX), ..shape };
    let mut builder = Builder::new(shape.width, &source, watch);
    rows(&mut source, &shape, 1, &mut builder)?;
    metadata_path.map_or(Ok(()), |table| metadata(&table, &mut builder, &source))?;
    builder.finish(Format::Tsv, "text", &source)
}
