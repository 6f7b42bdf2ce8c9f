//! NumPy's arrays: `.npy`, and `.npz`, which is a zip of them. Pickled arrays are refused, because loading one runs
//! whatever program is in it.
//!
//! The crate `npyz` is not used: it allocates as much memory as a header claims to take, up to 4 GB, before it reads
//! the header's first byte.

use std::io::{self, Write};
use std::path::Path;

use super::metadata::metadata_beside;
use super::numbers::Numbers;
use super::source::{Archive, Source};
use super::zip::{self, Entry, NewZip};
use super::{Builder, Column, Format, Place, Table, Vectors, WIDTH_MAX, Watch};
use crate::messages::counted;
use crate::numerics::Matrix;
use crate::pretrained::load::LoadStopped;
use crate::pretrained::refusal::{FETCH_AGAIN, Refusal, quoted, shape};
use crate::pretrained::safetensors::{each, write_numbers};

pub const MAGIC: &[u8] = b"\x93NUMPY";

/// Largest size of an array's header in bytes; NumPy's own limit is 10,000.
const HEADER_BYTES_MAX: usize = 1 << 16;
/// Largest size of an array of words in bytes.
const WORDS_BYTES_MAX: u64 = 1 << 30;
const KINDS: &str = "f2, f4, f8 or whole numbers, in either byte order";
pub(super) const NPY: &str = ".npy";
/// Name of the array of the words.
const WORDS: &str = "words";
const VERSION: [u8; 2] = [1, 0];

/// The header of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Header {
    /// Number type as NumPy writes it, such as `<f4`.
    kind: String,
    is_fortran: bool,
    shape: Vec<usize>,
}

impl Header {
    /// Reads the header and moves past it.
    fn read(source: &mut Source) -> Result<Self, Refusal> {
        let damaged = |found: &str| Refusal::new(found, "the header of a .npy file", FETCH_AGAIN);
        let head = source.peek(MAGIC.len() + 6)?;
        let version = head.get(MAGIC.len()).copied().filter(|_| head.starts_with(MAGIC));
        let (fixed, length) = match (version, head) {
            (Some(1), [.., a, b, _, _]) => (MAGIC.len() + 4, usize::from(u16::from_le_bytes([*a, *b]))),
            (Some(2 | 3), [.., a, b, c, d]) => (MAGIC.len() + 6, u32::from_le_bytes([*a, *b, *c, *d]) as usize),
            (Some(_), _) => return Err(damaged("a version of .npy other than 1 to 3")),
            (None, _) => return Err(damaged("other bytes")),
        };
        if length > HEADER_BYTES_MAX {
            return Err(damaged(&format!("a header of {length} bytes")));
        }
        let head = source.peek(fixed + length)?;
        let text = head.get(fixed..fixed + length).and_then(|text| std::str::from_utf8(text).ok());
        let header = text.and_then(Self::parse).ok_or_else(|| damaged("a header that cannot be read"))?;
        source.pass(fixed + length);
        Ok(header)
    }

    /// Parses the header's Python literal: `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`.
    fn parse(text: &str) -> Option<Self> {
        let after = |key: &str| {
            let at = text.find(&format!("'{key}'")).or_else(|| text.find(&format!("\"{key}\"")))?;
            Some(text[at + key.len() + 2..].trim_start().strip_prefix(':')?.trim_start())
        };
        let descr = after("descr")?;
        let kind = match descr.chars().next()? {
            quote @ ('\'' | '"') => descr[1..].split(quote).next()?.to_owned(),
            _ => "of several fields".to_owned(),
        };
        let is_fortran = after("fortran_order")?.starts_with("True");
        let sizes = after("shape")?.strip_prefix('(')?.split(')').next()?;
        let sizes = sizes.split(',').map(str::trim).filter(|size| !size.is_empty());
        let shape = sizes.map(|size| size.trim_end_matches('L').parse().ok()).collect::<Option<_>>()?;
        Some(Self { kind, is_fortran, shape })
    }

    fn is_table(&self) -> bool {
        self.table().is_ok()
    }

    fn has_whole_numbers(&self) -> bool {
        Numbers::of_numpy(&self.kind).is_some_and(Numbers::are_whole)
    }

    /// Returns the rows, width and number type of a table of vectors.
    fn table(&self) -> Result<(u64, usize, Numbers), Refusal> {
        if self.kind.contains('O') {
            let advice = "in NumPy, save only numbers: np.save(\"NAME.npy\", array.astype(\"float32\"))";
            let found = "pickled Python objects, which can run any program when they are loaded";
            return Err(Refusal::new(found, KINDS, advice));
        }
        let advice = "save the array in NumPy with astype(\"float32\") and a row for each word";
        let numbers = Numbers::of_numpy(&self.kind);
        let numbers =
            numbers.ok_or_else(|| Refusal::new(format!("numbers of kind {}", quoted(&self.kind)), KINDS, advice))?;
        match *self.shape {
            [rows, width @ 1..=WIDTH_MAX] if rows.checked_mul(width).is_some() => Ok((rows as u64, width, numbers)),
            _ => {
                let expected = format!("two dimensions: rows, and 1 to {WIDTH_MAX} numbers each");
                Err(Refusal::new(format!("an array of the shape {}", shape(&self.shape)), expected, advice))
            }
        }
    }
}

/// Reads an array, and the words of its rows from a file next to it.
///
/// # Errors
/// If it is not a table of numbers, or reading was stopped.
pub fn read_npy(mut source: Source, path: &Path, watch: Watch<'_>) -> Result<Vectors, LoadStopped> {
    let header = Header::read(&mut source)?;
    let mut builder = read_rows(&mut source, &header, watch)?;
    metadata_beside(path, &mut builder, &source)?;
    builder.finish(Format::Npy, &header.kind, &source)
}

fn read_rows<'a>(source: &mut Source, header: &Header, watch: Watch<'a>) -> Result<Builder<'a>, LoadStopped> {
    let (rows, width, numbers) = header.table()?;
    let mut builder = Builder::new(width, source, watch);
    numbers.note(&header.kind).into_iter().for_each(|note| builder.note(note));
    match header.is_fortran {
        true => columns(source, rows, numbers, &mut builder, width)?,
        false => builder.read_rows(rows, numbers, source)?,
    }
    let (seen, passed) = (builder.seen(), source.passed());
    if seen < rows {
        builder.note(format!("the header says {rows} rows, but the file ends after {seen}"));
    } else if !source.peek(1)?.is_empty() {
        builder.note(format!("bytes are left from byte {passed} on, after the {}", counted(rows, "row")));
    }
    Ok(builder)
}

/// Reads an array in Fortran's order, column by column. All of it has to be in memory before the first row is complete.
fn columns(
    source: &mut Source,
    rows: u64,
    kind: Numbers,
    to: &mut Builder<'_>,
    width: usize,
) -> Result<(), LoadStopped> {
    const AT_ONCE: usize = 1 << 20;
    to.reserve_promised(rows, width * kind.size, source)?;
    let count = usize::try_from(rows).unwrap_or(usize::MAX).saturating_mul(width);
    let mut all = Vec::new();
    while all.len() < count {
        let bytes = source.peek(AT_ONCE.min((count - all.len()).saturating_mul(kind.size)))?;
        let whole = bytes.len() / kind.size * kind.size;
        if whole == 0 {
            break;
        }
        to.take((whole / kind.size * size_of::<f32>()) as u64, source)?;
        kind.widen(&source.peek(whole)?[..whole], &mut all);
        source.pass(whole);
    }
    if all.len() < count {
        let found = format!("the end of the file after {} of {count} numbers, stored column by column", all.len());
        return Err(Refusal::new(found, "all columns", FETCH_AGAIN).into());
    }
    let rows = count / width;
    for row in 0..rows {
        to.room().extend((0..width).map(|column| all[column * rows + row]));
        to.push(b"", Place::Row(row as u64), source)?;
    }
    Ok(())
}

/// The arrays of an archive, sorted by their purpose.
struct Arrays<'a> {
    table: &'a Entry,
    texts: Vec<&'a Entry>,
    /// The names of the arrays that are not read, for the report.
    others: Vec<String>,
}

impl<'a> Arrays<'a> {
    fn of(archive: &Archive, entries: &'a [Entry], packed: Option<u64>) -> Result<Self, Refusal> {
        // An array of whole numbers is read only if there is none of fractions.
        let (mut table, mut has_vectors, mut texts, mut others) = (None::<&Entry>, false, Vec::new(), Vec::new());
        for entry in entries {
            // The array is opened again when it is read, because each source has a window of its own.
            match Header::read(&mut zip::open(archive, entry, packed)?) {
                Ok(header) if header.is_table() && !has_vectors && (table.is_none() || !header.has_whole_numbers()) => {
                    has_vectors = !header.has_whole_numbers();
                    others.extend(table.replace(entry).map(|other| quoted(&other.name)));
                }
                Ok(header) if matches!(header.kind.get(1..2), Some("U" | "S")) => texts.push(entry),
                Ok(header) if header.kind.contains('O') => others.push(format!("{} (pickled)", quoted(&entry.name))),
                _ => others.push(quoted(&entry.name)),
            }
        }
        let Some(table) = table else {
            let found = if others.is_empty() { "no array of numbers".to_owned() } else { others.join(", ") };
            let advice = "save it in NumPy with np.savez(\"NAME.npz\", vectors=array, words=words)";
            return Err(Refusal::new(found, format!("an array of rows of {KINDS}"), advice));
        };
        Ok(Self { table, texts, others })
    }
}

/// Reads the array of vectors of an archive, and the words from its arrays with a text for each row, or else from a
/// file next to it. If the archive itself was compressed, to `packed` bytes, its entries may grow as much as a file of
/// that size.
///
/// # Errors
/// If there is no such array, or reading was stopped.
pub(super) fn read_npz(
    path: &Path,
    (archive, entries): (&Archive, &[Entry]),
    packed: Option<u64>,
    watch: Watch<'_>,
) -> Result<Vectors, LoadStopped> {
    let Arrays { table, texts, mut others } = Arrays::of(archive, entries, packed)?;
    let mut source = zip::open(archive, table, packed)?;
    let header = Header::read(&mut source)?;
    let mut builder = read_rows(&mut source, &header, watch)?;
    builder.take(archive.bytes_in_memory(), &source)?;
    let rows = builder.seen();
    let mut columns = Vec::new();
    for entry in texts {
        let mut source = zip::open(archive, entry, packed)?;
        let header = Header::read(&mut source)?;
        if header.shape[..] != [usize::try_from(rows).unwrap_or(usize::MAX)] {
            others.push(quoted(&entry.name));
            continue;
        }
        let entries = texts_of(source, &header, &mut builder)?;
        columns.push(Column { name: entry.name.trim_end_matches(NPY).to_owned(), entries });
    }
    match columns.is_empty() {
        true => metadata_beside(path, &mut builder, &source)?,
        false => builder.name_by(columns),
    }
    if !others.is_empty() {
        builder.note(format!("arrays that are left out: {}", others.join(", ")));
    }
    builder.finish(Format::Npz, &header.kind, &source)
}

/// Reads the texts of an array, `<U12` or `|S12`: characters of four bytes or one, padded with zeros.
fn texts_of(mut source: Source, header: &Header, builder: &mut Builder<'_>) -> Result<Vec<String>, LoadStopped> {
    let count = header.shape.first().copied().unwrap_or_default();
    let (order, kind) = header.kind.split_at_checked(1).unwrap_or_default();
    let size = if kind.starts_with('U') { 4 } else { 1 };
    let length: usize = kind.get(1..).and_then(|length| length.parse().ok()).unwrap_or_default();
    let bytes = length.saturating_mul(size);
    if (bytes as u64).saturating_mul(count as u64) > WORDS_BYTES_MAX {
        let found = format!("words of {bytes} bytes, {count} of them");
        return Err(Refusal::new(found, format!("at most {WORDS_BYTES_MAX} bytes"), "shorten the words").into());
    }
    let character = |four: [u8; 4]| if order == ">" { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) };
    let mut texts = Vec::new();
    while texts.len() < count {
        let word = source.peek(bytes)?;
        if word.len() < bytes || bytes == 0 {
            break;
        }
        let text: String = match size {
            1 => String::from_utf8_lossy(word).trim_end_matches('\0').to_owned(),
            _ => each(word).map(character).take_while(|c| *c != 0).filter_map(char::from_u32).collect(),
        };
        source.pass(bytes);
        builder.take_entries(1, text.len(), &source)?;
        texts.push(text);
    }
    source.peek(1)?;
    match source.broken() {
        None => Ok(texts),
        Some(broken) => {
            Err(Refusal::new(format!("an array of words that is damaged: {broken}"), "the words", FETCH_AGAIN).into())
        }
    }
}

/// Writes the header of an array, padded with spaces so that the numbers are aligned.
fn write_header(kind: &str, shape: &str, to: &mut dyn Write) -> io::Result<()> {
    const ALIGNMENT: usize = 64;
    let mut text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}");
    let before = MAGIC.len() + VERSION.len() + size_of::<u16>();
    let length = (before + text.len() + 1).next_multiple_of(ALIGNMENT) - before;
    text += &" ".repeat(length - text.len() - 1);
    to.write_all(MAGIC)?;
    to.write_all(&VERSION)?;
    to.write_all(&(length as u16).to_le_bytes())?;
    writeln!(to, "{text}")
}

/// Writes the rows as an array of the type `<f4`.
pub(super) fn write_npy(rows: &Matrix<f32>, to: &mut dyn Write) -> io::Result<()> {
    write_header("<f4", &format!("{}, {}", rows.rows(), rows.cols()), to)?;
    write_numbers(rows.flat(), to)
}

/// Writes texts as an array of a type such as `<U12`, with the width of the longest.
fn write_texts(texts: &[String], to: &mut dyn Write) -> io::Result<()> {
    let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or_default().max(1);
    write_header(&format!("<U{width}"), &format!("{},", texts.len()), to)?;
    texts.iter().try_for_each(|text| {
        let characters = text.chars().map(u32::from).chain(std::iter::repeat(0)).take(width);
        to.write_all(&characters.flat_map(u32::to_le_bytes).collect::<Vec<u8>>())
    })
}

/// Writes an archive of the array `vectors`, the array `words`, and an array for each other column.
pub(super) fn write_npz(table: &Table<'_>, to: &mut dyn Write) -> io::Result<()> {
    let mut zip = NewZip::new(to);
    let named = |name: &str| format!("{name}{NPY}");
    zip.entry(&named("vectors"), &|to| write_npy(&table.rows, to))?;
    let (words, others) = table.columns(WORDS);
    zip.entry(&named(WORDS), &|to| write_texts(&words.entries, to))?;
    let mut others = others.filter(|column| !["vectors", WORDS].contains(&&*column.name));
    others.try_for_each(|column| zip.entry(&named(&column.name), &|to| write_texts(&column.entries, to)))?;
    zip.end()
}
