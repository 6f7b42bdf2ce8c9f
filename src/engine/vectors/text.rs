//! Text formats, one line for each word: word2vec's and fastText's with a header of count and width, GloVe's without
//! one, tables with commas or semicolons, and the Embedding Projector's TSV, whose words are in another file.
//!
//! The last `d` fields of a line are its vector and everything before them is its word, so that words may contain
//! spaces.

use std::io::{self, Write};
use std::path::Path;

use super::binary::{self, Header};
use super::layout::{self, Layout, trimmed};
use super::metadata::metadata_beside;
use super::source::{AHEAD_MAX, Source};
use super::{Builder, Column, Format, Place, SNIFFED_BYTES, Table, Vectors, Watch};
use crate::pretrained::load::LoadStopped;

/// Returns whether text follows a header, and not binary numbers: UTF-8 without control characters, or another encoding
/// in which most letters are ASCII. The bytes of a few numbers may be letters as well, so a file that is as long as its
/// binary rows is text only if it has a line of numbers.
pub fn is_text(after_header: &[u8], header: Header) -> bool {
    const LOOKED_AT: usize = 4096;
    let start = &after_header[..after_header.len().min(LOOKED_AT)];
    let is_control = |byte: &u8| *byte < b' ' && !byte.is_ascii_whitespace() || *byte == 0x7f;
    let is_utf_8 = match std::str::from_utf8(start) {
        Ok(_) => true,
        // The only error is a character that the end of the sample cuts in two.
        Err(error) => error.error_len().is_none() && start.len() == LOOKED_AT,
    };
    let plain = start.iter().filter(|byte| byte.is_ascii()).count();
    let has_letters = !start.iter().any(is_control) && (is_utf_8 || 4 * plain > 3 * start.len());
    layout::has_row(after_header, header.width) || has_letters && !binary::is_all_rows(after_header, header)
}

/// Reads a text format.
///
/// # Errors
/// If most lines are not rows, or reading was stopped.
pub fn read(mut source: Source, header: Option<Header>, path: &Path, watch: Watch<'_>) -> Result<Vectors, LoadStopped> {
    let header_bytes = header.map_or(0, |header| header.bytes);
    // A single wide row may be longer than the usual sample.
    let is_long = !source.peek(SNIFFED_BYTES)?[header_bytes..].contains(&b'\n');
    let looked_at = if is_long { AHEAD_MAX } else { SNIFFED_BYTES };
    let head = source.peek(looked_at)?;
    let (sample, is_whole) = (&head[header_bytes..], head.len() < looked_at);
    let layout = Layout::of(sample, is_whole, header.map(|header| header.width))?;
    source.pass(header_bytes);
    let mut builder = Builder::new(layout.width, &source, watch);
    layout.notes().for_each(|note| builder.note(note));
    if let Some(Header { width, .. }) = header.filter(|header| header.width != layout.width) {
        builder.note(format!("the header says {width} numbers per word, but the lines have {}", layout.width));
    }
    let first = if header.is_some() { 2 } else { 1 };
    rows(&mut source, &layout, first, &mut builder)?;
    if let Some(Header { rows, .. }) = header.filter(|header| header.rows != builder.seen()) {
        builder.note(format!("the number of rows is {rows} in the header, but {} in the file", builder.seen()));
    }
    let format = match (header, layout.is_nameless()) {
        _ if layout.is_delimited() => Format::Csv,
        (Some(_), _) => Format::Word2VecText,
        (None, true) if layout.has_tabs() => Format::Tsv,
        (None, _) => Format::Glove,
    };
    if layout.is_nameless() || layout.has_row_numbers() {
        metadata_beside(path, &mut builder, &source)?;
    }
    builder.finish(format, "text", &source)
}

/// Writes a line for each word, after a header of count and width if the format has one.
pub(super) fn write(table: &Table<'_>, has_header: bool, to: &mut dyn Write) -> io::Result<()> {
    if has_header {
        writeln!(to, "{} {}", table.rows.rows(), table.rows.cols())?;
    }
    let (mut line, spellings) = (String::new(), table.spellings());
    table.spelled(&spellings).try_for_each(|(word, row)| {
        line.clear();
        line += word;
        row.iter().for_each(|x| push_number(&mut line, ' ', *x));
        writeln!(to, "{line}")
    })
}

/// Appends a separator and a number with the fewest digits that are read back as the same number.
fn push_number(line: &mut String, separator: char, x: f32) {
    use std::fmt::Write as _;

    // Writing to a string cannot fail.
    let _ = write!(line, "{separator}{x:?}");
}

/// Writes the Embedding Projector's table of numbers, a line for each row.
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

pub(super) fn rows(
    source: &mut Source,
    layout: &Layout,
    first: u64,
    builder: &mut Builder<'_>,
) -> Result<(), LoadStopped> {
    let (mut word, mut names) = (Vec::new(), layout.names());
    for number in first.. {
        let line = source.line()?;
        let length = line.len();
        if length == 0 {
            break;
        }
        let line = trimmed(line);
        word.clear();
        let is_named = !line.is_empty() && names > 0;
        let is_row = if line.is_empty() || is_named { None } else { Some(layout.row(line, &mut word, builder.room())) };
        names -= usize::from(is_named);
        source.pass(length);
        if layout.has_row_numbers() && is_row == Some(true) {
            builder.report.unnamed.add(Place::Line(number));
        }
        match is_row {
            Some(true) => builder.push(&word, Place::Line(number), source)?,
            Some(false) => builder.leave_out(Place::Line(number))?,
            None => {}
        }
    }
    Ok(())
}

/// Writes a table of the words and the other columns, in the form that
/// [`metadata_beside`](super::metadata::metadata_beside) reads.
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
