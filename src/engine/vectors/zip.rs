//! Zip archives, as NumPy writes them with many arrays, and as collections of vectors are published, with one text.
//!
//! The crate `zip` is not used: it keeps an entry of some hundred bytes for each 46 bytes of a directory before anybody
//! can ask how many there are, and hands out readers that borrow the archive, where a [`Source`] reads on while others
//! are opened.

use std::io::{self, Read, SeekFrom, Write};

use flate2::Crc;
use flate2::read::DeflateDecoder;

use super::source::{Archive, ReadSeek, Source};
use crate::foreign::UNPACK;
use crate::pretrained::refusal::{FETCH_AGAIN, Refusal, quoted};

pub(super) const MAGIC: &[u8] = b"PK\x03\x04";

/// A zip archive that is being written. Its entries are not compressed, as with `np.savez`.
pub(super) struct NewZip<'a> {
    to: &'a mut dyn Write,
    /// Number of bytes written so far.
    at: u64,
    directory: Vec<u8>,
    entries: u16,
}

impl<'a> NewZip<'a> {
    pub fn new(to: &'a mut dyn Write) -> Self {
        Self { to, at: 0, directory: Vec::new(), entries: 0 }
    }

    /// Writes an entry. `write` is called twice, because the bytes are counted and their checksum is computed before
    /// they are written.
    ///
    /// # Errors
    /// If the bytes cannot be written, or the archive has more than 4 GB.
    pub fn entry(&mut self, name: &str, write: &dyn Fn(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let mut sum = Sum { crc: Crc::new(), bytes: 0 };
        write(&mut sum)?;
        let name = name.replace(['/', '\\', '\0'], "_");
        let (crc, size, at) = (sum.crc.sum(), small(sum.bytes)?, small(self.at)?);
        // These fields are: version 2.0, the name in UTF-8, no compression, and the earliest date of the format; then
        // come the size, twice, and no extra field.
        let mut about = [20_u16, 1 << 11, 0, 0, 0x21].map(u16::to_le_bytes).concat();
        about.extend([crc, size, size].map(u32::to_le_bytes).concat());
        about.extend([name.len() as u16, 0].map(u16::to_le_bytes).concat());
        let head = [MAGIC, &about, name.as_bytes()].concat();
        self.to.write_all(&head)?;
        write(self.to)?;
        self.at += head.len() as u64 + u64::from(size);
        // In the directory, an entry has the version of the writer before these fields, and the comment, disk and
        // attributes after them.
        let attributes = [0; 10];
        self.directory
            .extend([ENTRY, &20_u16.to_le_bytes(), &about, &attributes, &at.to_le_bytes(), name.as_bytes()].concat());
        self.entries += 1;
        Ok(())
    }

    pub fn end(self) -> io::Result<()> {
        let (size, at) = (small(self.directory.len() as u64)?, small(self.at)?);
        self.to.write_all(&self.directory)?;
        self.to.write_all(END)?;
        self.to.write_all(&[0, 0, self.entries, self.entries].map(u16::to_le_bytes).concat())?;
        self.to.write_all(&[size, at].map(u32::to_le_bytes).concat())?;
        self.to.write_all(&0_u16.to_le_bytes())
    }
}

/// Converts an offset to the 32 bits that a zip has for it, or fails if it is too large.
fn small(at: u64) -> io::Result<u32> {
    let most = "a .npz has at most 4 GB; write .npy, safetensors or word2vec";
    u32::try_from(at).ok().filter(|at| *at != ELSEWHERE).ok_or_else(|| io::Error::other(most))
}

/// A count of the bytes written, with their checksum.
struct Sum {
    crc: Crc,
    bytes: u64,
}

impl Write for Sum {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.crc.update(bytes);
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file within a zip archive.
#[derive(Debug)]
pub(super) struct Entry {
    pub name: String,
    is_deflated: bool,
    /// Checksum of the decompressed bytes.
    sum: u32,
    packed: u64,
    size: u64,
    /// Offset of the entry's own header.
    at: u64,
}

impl Entry {
    /// Returns whether the entry is a file, and not a folder or something that an operating system adds.
    pub fn is_file(&self) -> bool {
        let name = self.name.rsplit('/').next().unwrap_or_default();
        !name.is_empty() && !name.starts_with('.') && !self.name.starts_with("__MACOSX/")
    }
}

/// Largest number of entries of an archive.
const ENTRIES_MAX: usize = 256;
/// Sizes of the end of a zip: its fixed part, and the longest comment.
const END_BYTES: usize = 22;
const COMMENT_MAX: usize = 0xffff;
const END: &[u8] = b"PK\x05\x06";
const ENTRY: &[u8] = b"PK\x01\x02";
const ENTRY_BYTES: usize = 46;
const LOCAL_BYTES: usize = 30;
/// Value that stands for a number too large for 32 bits, which is then in the extra field.
const ELSEWHERE: u32 = u32::MAX;

fn u16_at(bytes: &[u8], at: usize) -> Option<usize> {
    Some(usize::from(u16::from_le_bytes(*bytes.get(at..)?.first_chunk()?)))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Returns the entries of a zip, read from the directory at its end.
pub(super) fn directory(archive: &Archive) -> Result<Vec<Entry>, Refusal> {
    let (mut file, length) = archive.open()?;
    let tail = length.min((END_BYTES + COMMENT_MAX) as u64);
    let end = part(&mut file, length - tail, tail)?;
    let damaged = || Refusal::new("no directory of a zip that can be read", "a whole zip or .npz", FETCH_AGAIN);
    let at = end.windows(END.len()).rposition(|four| four == END).ok_or_else(damaged)?;
    let (size, from) = u32_at(&end, at + 12).zip(u32_at(&end, at + 16)).ok_or_else(damaged)?;
    let count = u16_at(&end, at + 10).ok_or_else(damaged)?;
    if from == ELSEWHERE || size == ELSEWHERE {
        return Err(Refusal::new("a zip of more than 4 GB", "a smaller one", UNPACK));
    }
    if count > ENTRIES_MAX {
        return Err(Refusal::new(format!("a zip of {count} files"), format!("at most {ENTRIES_MAX}"), UNPACK));
    }
    if u64::from(from) + u64::from(size) > length {
        return Err(damaged());
    }
    let bytes = part(&mut file, from.into(), size.into())?;
    let mut entries = Vec::new();
    let mut rest = &*bytes;
    for _ in 0..count {
        let (entry, after) = entry(rest).ok_or_else(damaged)?;
        entries.push(entry.ok_or_else(|| {
            let found = "an entry of the zip that is encrypted, or packed by a method other than deflate";
            Refusal::new(found, "a plain zip", UNPACK)
        })?);
        rest = after;
    }
    Ok(entries)
}

fn part(file: &mut impl ReadSeek, from: u64, count: u64) -> Result<Vec<u8>, Refusal> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(from)).map_err(|error| Refusal::unreadable(&error))?;
    Read::by_ref(file).take(count).read_to_end(&mut bytes).map_err(|error| Refusal::unreadable(&error))?;
    Ok(bytes)
}

/// Returns the first entry of a directory and the rest. The entry is `None` if it is of a kind that is not read.
fn entry(bytes: &[u8]) -> Option<(Option<Entry>, &[u8])> {
    let (flags, method, sum) = (u16_at(bytes, 8)?, u16_at(bytes, 10)?, u32_at(bytes, 16)?);
    let (packed, size, at) = (u32_at(bytes, 20)?, u32_at(bytes, 24)?, u32_at(bytes, 42)?);
    let name_end = ENTRY_BYTES + u16_at(bytes, 28)?;
    let name = String::from_utf8_lossy(bytes.get(ENTRY_BYTES..name_end)?).into_owned();
    let extra_end = name_end + u16_at(bytes, 30)?;
    let mut large = large_numbers(bytes.get(name_end..extra_end)?);
    let rest = bytes.get(extra_end + u16_at(bytes, 32)?..).filter(|_| bytes.starts_with(ENTRY))?;
    // Each of these three numbers that is too large for 32 bits is in the extra fields, in this order.
    let mut number = |small: u32| if small == ELSEWHERE { large.next() } else { Some(small.into()) };
    let (size, packed, at) = (number(size), number(packed), number(at));
    let is_read = flags & 1 == 0 && [0, 8].contains(&method);
    let found = size.zip(packed).zip(at).filter(|_| is_read);
    let found = found.map(|((size, packed), at)| Entry { name, is_deflated: method == 8, sum, packed, size, at });
    Some((found, rest))
}

/// Returns the 64-bit numbers of an entry's extra fields, each of which starts with its kind and its length.
fn large_numbers(mut extra: &[u8]) -> impl Iterator<Item = u64> {
    const LARGE: usize = 1;
    let mut numbers: &[u8] = &[];
    while let Some((kind, length)) = u16_at(extra, 0).zip(u16_at(extra, 2)) {
        let field = extra.get(4..4 + length).unwrap_or_default();
        if kind == LARGE {
            numbers = field;
        }
        extra = extra.get(4 + length..).unwrap_or_default();
    }
    numbers.as_chunks::<8>().0.iter().map(|eight| u64::from_le_bytes(*eight))
}

/// Returns a source of the decompressed bytes of an entry.
pub(super) fn open(archive: &Archive, entry: &Entry, packed: Option<u64>) -> Result<Source, Refusal> {
    let (mut file, _) = archive.open()?;
    let head = part(&mut file, entry.at, LOCAL_BYTES as u64)?;
    let damaged = || Refusal::new(format!("no entry {} in the zip", quoted(&entry.name)), "its bytes", FETCH_AGAIN);
    let skipped = u16_at(&head, 26).zip(u16_at(&head, 28)).filter(|_| head.starts_with(MAGIC)).ok_or_else(damaged)?;
    let from = entry.at.checked_add((LOCAL_BYTES + skipped.0 + skipped.1) as u64).ok_or_else(damaged)?;
    file.seek(SeekFrom::Start(from)).map_err(|error| Refusal::unreadable(&error))?;
    let bytes = file.take(entry.packed);
    let checked = |from: Box<dyn Read>| Checked { from, crc: Crc::new(), sum: entry.sum };
    Ok(match entry.is_deflated {
        true => {
            let packed = packed.map_or(entry.packed, |all| all.min(entry.packed));
            Source::packed(checked(Box::new(DeflateDecoder::new(bytes))), packed)
        }
        false => Source::of(checked(Box::new(bytes)), entry.size.min(entry.packed)),
    })
}

/// A reader that compares the checksum with the expected one once all bytes have been read.
struct Checked {
    from: Box<dyn Read>,
    crc: Crc,
    sum: u32,
}

impl Read for Checked {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.from.read(into)?;
        self.crc.update(&into[..count]);
        if count == 0 && !into.is_empty() && self.crc.sum() != self.sum {
            return Err(io::Error::other("the bytes do not fit their checksum"));
        }
        Ok(count)
    }
}
