//! word2vec's binary form: a line with count and width, then each word, a blank and its numbers as little-endian `f32`.
//!
//! Rows are counted and never searched for, because the bytes of a number may be a blank or an end of line. A word with a
//! blank in it looks like a shorter word whose numbers begin too early. It is found because such numbers are absurd and no
//! word follows them; the row is then read with the whole word.

use std::io::{self, Write};

use super::source::Source;
use super::{Builder, Format, Place, Table, Vectors, WIDTH_MAX, Watch};
use crate::messages::counted;
use crate::pretrained::load::LoadStopped;
use crate::pretrained::refusal::Refusal;
use crate::pretrained::safetensors::write_numbers;

/// Bytes of a word; word2vec's own program cuts words at 50.
const WORD_BYTES_MAX: usize = 1024;
/// Blanks within one word.
const SPACES_MAX: usize = 8;
/// Sizes of numbers that were trained. Parts of words and of other numbers have sizes far from these.
const TRAINED: std::ops::RangeInclusive<f32> = 1e-15..=1e6;
const NUMBER_BYTES: usize = 4;
/// Bytes of the two numbers of a header.
const HEADER_BYTES_MAX: usize = 64;

/// The first line of a file: how many rows are promised, and how wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    pub rows: u64,
    pub width: usize,
    /// Bytes of the line with its end.
    pub bytes: usize,
}

/// The header that a file begins with; none where its first line is not two whole numbers.
pub fn header(head: &[u8]) -> Option<Header> {
    let end = head.iter().take(HEADER_BYTES_MAX).position(|byte| *byte == b'\n')?;
    let line = std::str::from_utf8(&head[..end]).ok()?;
    let mut numbers = line.split_ascii_whitespace();
    let (rows, width): (u64, usize) = (numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?);
    // A word that is a whole number, with a vector of one, has the same form. A second such line tells it from a header.
    let second = head[end + 1..].split(|byte| *byte == b'\n').next().unwrap_or_default();
    let is_row = |line: &str| match line.split_whitespace().collect::<Vec<_>>()[..] {
        [_, number] => number.parse::<f32>().is_ok(),
        _ => false,
    };
    let is_first_of_many = width != 1 && std::str::from_utf8(second).is_ok_and(is_row);
    (numbers.next().is_none() && width > 0 && !is_first_of_many).then_some(Header { rows, width, bytes: end + 1 })
}

/// Reads a file in the binary form.
///
/// # Errors
/// If its rows are not rows, or reading was stopped.
pub fn read(mut source: Source, header: Header, watch: Watch<'_>) -> Result<Vectors, LoadStopped> {
    let Header { rows, width, bytes } = header;
    if width > WIDTH_MAX {
        let found = format!("a header with vectors of {width} numbers");
        return Err(
            Refusal::new(found, format!("at most {WIDTH_MAX}"), "the file is damaged, or of another format").into()
        );
    }
    source.peek(bytes)?;
    source.pass(bytes);
    let mut builder = Builder::new(width, &source, watch);
    builder.reserve_promised(rows, width * NUMBER_BYTES + 2, &source)?;
    while builder.seen() < rows {
        let Some(row) = next(&mut source, width)? else { break };
        let place = Place::Byte(source.passed());
        let head = source.peek(row.end)?;
        let word = head[row.from..row.word_end].to_vec();
        let numbers = head[row.word_end + 1..].as_chunks::<NUMBER_BYTES>().0;
        builder.room().extend(numbers.iter().map(|four| f32::from_le_bytes(*four)));
        source.pass(row.end);
        builder.push(&word, place, &source)?;
    }
    let (rest, seen, words) = (end_of(&mut source)?, builder.seen(), counted(rows, "word"));
    if seen < rows {
        builder.note(format!("the header says {words}, but the file ends after {seen}, at byte {rest}"));
    } else if !source.peek(1)?.is_empty() {
        builder.note(format!(
            "bytes are left from byte {rest} on, after the {words} of the header: the header is wrong, or a word has a \
             space in it and the words after it are wrong"
        ));
    }
    builder.finish(Format::Word2VecBinary, "F32", &source)
}

/// Writes a file as gensim does: without an end of line after a row.
pub(super) fn write(table: &Table<'_>, to: &mut dyn Write) -> io::Result<()> {
    writeln!(to, "{} {}", table.rows.rows(), table.rows.cols())?;
    table.joined().try_for_each(|(word, row)| {
        write!(to, "{word} ")?;
        write_numbers(row, to)
    })
}

/// The byte where the rows end, with the ends of lines after the last.
fn end_of(source: &mut Source) -> Result<u64, Refusal> {
    if source.peek(1)? == b"\n" {
        source.pass(1);
    }
    Ok(source.passed())
}

/// A row in the bytes that come next.
struct Row {
    /// The word's first byte: the C program ends each row before it with an end of line.
    from: usize,
    word_end: usize,
    end: usize,
}

/// The next row; none where the bytes are too few for one.
fn next(source: &mut Source, width: usize) -> Result<Option<Row>, Refusal> {
    let size = width * NUMBER_BYTES;
    let head = source.peek(2 * (WORD_BYTES_MAX + size))?;
    let from = usize::from(head.first() == Some(&b'\n'));
    let mut shortest = None;
    let spaces = head.iter().enumerate().skip(from).take(WORD_BYTES_MAX).filter(|(_, byte)| **byte == b' ');
    for (word_end, _) in spaces.take(SPACES_MAX + 1) {
        let row = Row { from, word_end, end: word_end + 1 + size };
        if row.end > head.len() {
            break;
        }
        let is_first = shortest.is_none();
        let fits = (is_first || is_word(&head[from..word_end]))
            && are_trained(&head[word_end + 1..row.end])
            && is_word_next(&head[row.end..]);
        if fits {
            return Ok(Some(row));
        }
        if is_first {
            shortest = Some(row);
        }
    }
    Ok(shortest)
}

fn are_trained(bytes: &[u8]) -> bool {
    let numbers = bytes.as_chunks::<NUMBER_BYTES>().0.iter().map(|four| f32::from_le_bytes(*four).abs());
    numbers.fold(true, |all, x| all & (x == 0.0 || TRAINED.contains(&x)))
}

fn is_word(bytes: &[u8]) -> bool {
    !bytes.is_empty() && !bytes.iter().any(|byte| *byte < b' ') && std::str::from_utf8(bytes).is_ok()
}

/// Whether a word begins here, or nothing does.
fn is_word_next(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
    let word = memchr::memchr(b' ', &bytes[..bytes.len().min(WORD_BYTES_MAX)]).map(|end| &bytes[..end]);
    bytes.is_empty() || word.is_some_and(is_word)
}
