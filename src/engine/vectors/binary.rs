//! word2vec's binary format: a line with count and width, then for each word the word, a space and its numbers as
//! little-endian `f32`.
//!
//! The ends of rows are computed from the width and not searched for, because a number may contain the bytes of a space
//! or line break. A word with a space looks like a shorter word whose numbers begin too early. It is detected because
//! such numbers are implausible and no word follows them. The row is then read with the whole word.

use std::io::{self, Write};

use super::layout::BASE64;
use super::source::Source;
use super::{Builder, Format, Place, SNIFFED_BYTES, Table, Vectors, WIDTH_MAX, Watch};
use crate::messages::counted;
use crate::pretrained::load::LoadStopped;
use crate::pretrained::refusal::Refusal;
use crate::pretrained::safetensors::write_numbers;

/// Longest word in bytes; word2vec's own program cuts words at 50.
const WORD_BYTES_MAX: usize = 1024;
/// Largest number of spaces within one word.
const SPACES_MAX: usize = 8;
/// Magnitudes of trained numbers. Those read from parts of words or across two numbers are far outside.
const TRAINED: std::ops::RangeInclusive<f32> = 1e-15..=1e6;
const NUMBER_BYTES: usize = 4;
/// Length of the longest header in bytes.
const HEADER_BYTES_MAX: usize = 64;

/// The first line of a file: the number of rows that it promises, and their width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    pub rows: u64,
    pub width: usize,
    /// Length of the line in bytes, including its end.
    pub bytes: usize,
}

/// Returns the header of a file, or `None` if its first line is not two whole numbers.
pub fn header(head: &[u8]) -> Option<Header> {
    let end = head.iter().take(HEADER_BYTES_MAX).position(|byte| *byte == b'\n')?;
    let line = std::str::from_utf8(&head[..end]).ok()?;
    let mut numbers = line.split_ascii_whitespace();
    let (rows, width): (u64, usize) = (numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?);
    // A word that is a whole number, followed by a vector of one number, has the same form. If the second line looks
    // the same too, the first is not a header.
    let second = head[end + 1..].split(|byte| *byte == b'\n').next().unwrap_or_default();
    let is_row = |line: &str| match line.split_whitespace().collect::<Vec<_>>()[..] {
        [_, number] => number.parse::<f32>().is_ok(),
        _ => false,
    };
    let is_first_of_many = width != 1 && std::str::from_utf8(second).is_ok_and(is_row);
    // deeplearning4j has a third number, the number of documents, and writes words in Base64.
    let has_more = numbers.next().is_some_and(|third| !second.starts_with(BASE64) || third.parse::<u64>().is_err());
    (!has_more && numbers.next().is_none() && width > 0 && !is_first_of_many).then_some(Header {
        rows,
        width,
        bytes: end + 1,
    })
}

/// Returns whether bytes are as many binary rows as a header promises, and nothing else.
pub fn is_all_rows(bytes: &[u8], header: Header) -> bool {
    let numbers = header.width.saturating_mul(NUMBER_BYTES);
    let mut rest = bytes;
    let mut rows = 0;
    while let Some(word) = rest.iter().position(|byte| *byte == b' ')
        && let Some(behind) = rest[word + 1..].get(numbers..)
    {
        rest = behind.strip_prefix(b"\n").unwrap_or(behind);
        rows += 1;
    }
    rest.is_empty() && rows == header.rows
}

/// Reads a file in the binary format.
///
/// # Errors
/// If the bytes are not such rows, or reading was stopped.
pub fn read(mut source: Source, header: Header, watch: Watch<'_>) -> Result<Vectors, LoadStopped> {
    let Header { rows, width, bytes } = header;
    if width > WIDTH_MAX {
        let found = format!("a header with vectors of {width} numbers");
        let advice = "the file is damaged, or of another format";
        return Err(Refusal::new(found, format!("at most {WIDTH_MAX}"), advice).into());
    }
    source.peek(bytes)?;
    source.pass(bytes);
    check_rows(source.peek(SNIFFED_BYTES.max(2 * (WORD_BYTES_MAX + width * NUMBER_BYTES)))?, header)?;
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

/// Writes a file as gensim does, without a line break after a row.
pub(super) fn write(table: &Table<'_>, to: &mut dyn Write) -> io::Result<()> {
    writeln!(to, "{} {}", table.rows.rows(), table.rows.cols())?;
    let spellings = table.spellings();
    table.spelled(&spellings).try_for_each(|(word, row)| {
        write!(to, "{word} ")?;
        write_numbers(row, to)
    })
}

/// Moves past a line break after the last row, if there is one, and returns the offset there.
fn end_of(source: &mut Source) -> Result<u64, Refusal> {
    if source.peek(1)? == b"\n" {
        source.pass(1);
    }
    Ok(source.passed())
}

/// The bounds of a row within the next bytes.
struct Row {
    /// Offset of the word's first byte. word2vec's own program writes a line break before the word, after the previous
    /// row.
    from: usize,
    word_end: usize,
    end: usize,
}

/// Refuses a file whose bytes after the header are not rows: most of the first rows have implausible numbers, and the
/// rows do not end with the file or are plausible in the other byte order. Without this check, other text or other
/// number types would be read as vectors.
fn check_rows(head: &[u8], header: Header) -> Result<(), Refusal> {
    const LOOKED_AT: u64 = 100;
    let (mut rest, mut rows, mut plausible, mut turned) = (head, 0, 0, 0);
    while rows < header.rows.min(LOOKED_AT)
        && let Some(row) = row_in(rest, header.width)
    {
        let numbers = &rest[row.word_end + 1..row.end];
        plausible += u64::from(are_trained(numbers));
        turned += u64::from(are_trained(&with_bytes_turned(numbers)));
        rest = &rest[row.end..];
        rows += 1;
    }
    let is_end = rows == header.rows && rest.trim_ascii().is_empty();
    // In a file of the right length any numbers are accepted, unless most rows are plausible in the other byte order.
    let is_turned = 2 * turned > rows;
    if rows == 0 || is_end && !is_turned || 2 * plausible > rows {
        return Ok(());
    }
    let found =
        format!("a header of word2vec's, and after it neither lines of {} numbers nor their bytes", header.width);
    let expected = "a word, a blank and numbers of 4 bytes, the lowest byte first";
    Err(Refusal::new(found, expected, "the file is damaged, or has numbers of another kind: save it as text"))
}

/// Returns the next row, without moving past it; `None` if there are too few bytes for one.
fn next(source: &mut Source, width: usize) -> Result<Option<Row>, Refusal> {
    let head = source.peek(2 * (WORD_BYTES_MAX + width * NUMBER_BYTES))?;
    Ok(row_in(head, width))
}

/// Returns the row at the start of `head`, or `None` if `head` has too few bytes.
fn row_in(head: &[u8], width: usize) -> Option<Row> {
    let size = width * NUMBER_BYTES;
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
            return Some(row);
        }
        if is_first {
            shortest = Some(row);
        }
    }
    shortest
}

/// Reverses the bytes of each number, to read big-endian numbers.
fn with_bytes_turned(bytes: &[u8]) -> Vec<u8> {
    bytes.as_chunks::<NUMBER_BYTES>().0.iter().flat_map(|four| four.iter().rev().copied()).collect()
}

fn are_trained(bytes: &[u8]) -> bool {
    let numbers = bytes.as_chunks::<NUMBER_BYTES>().0.iter().map(|four| f32::from_le_bytes(*four).abs());
    numbers.fold(true, |all, x| all & (x == 0.0 || TRAINED.contains(&x)))
}

fn is_word(bytes: &[u8]) -> bool {
    !bytes.is_empty() && !bytes.iter().any(|byte| *byte < b' ') && std::str::from_utf8(bytes).is_ok()
}

/// Returns whether a word or the end of the bytes follows.
fn is_word_next(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
    let word = memchr::memchr(b' ', &bytes[..bytes.len().min(WORD_BYTES_MAX)]).map(|end| &bytes[..end]);
    bytes.is_empty() || word.is_some_and(is_word)
}
