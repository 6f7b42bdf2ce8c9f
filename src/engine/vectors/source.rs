//! The bytes of a file, decompressed if it is gzip, in a window in which readers look ahead.

use std::fs::File;
use std::io::{Cursor, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use flate2::read::MultiGzDecoder;

use super::budget::Budget;
use super::{Progress, Watch};
use crate::files::MARK;
use crate::pretrained::load::LoadStopped;
use crate::pretrained::refusal::{FETCH_AGAIN, Refusal};
use crate::pretrained::texts::plain;

/// Number of bytes that are read from the file at once.
const WINDOW: usize = 4 << 20;
/// Largest number of bytes of a line, and largest number that a reader may look ahead.
pub const AHEAD_MAX: usize = 16 << 20;
pub const GZIP: &[u8] = &[0x1f, 0x8b];
/// Largest ratio of decompressed to compressed size. Vectors are compressed to between a third and a tenth; a file
/// above this ratio was made to exhaust the memory.
const GROWTH_MAX: u64 = 200;
/// Decompressed size up to which any ratio is allowed.
const GROWN_BYTES_FREE: u64 = 64 << 20;

/// A file that is read from its beginning to its end.
pub struct Source {
    from: Box<dyn Read>,
    /// Size of the file on disk in bytes.
    length: u64,
    is_packed: bool,
    window: Vec<u8>,
    /// Start of the part of the window that is not used yet.
    at: usize,
    end: usize,
    /// Number of decompressed bytes before `at`.
    passed: u64,
    is_at_end: bool,
    /// The error that ended the file early, for example because a compressed file is cut off.
    broken: Option<String>,
}

impl Source {
    /// Opens a file.
    ///
    /// # Errors
    /// If it cannot be read or is not a regular file.
    pub fn open(path: &Path) -> Result<Self, Refusal> {
        let (folder, name) = split(path)?;
        let (file, length) = plain(folder, name).map_err(|refusal| Refusal {
            expected: "a file that can be read".to_owned(),
            advice: "check the path of the file".to_owned(),
            ..refusal
        })?;
        let source = Self::new(Box::new(file), length, false);
        source.unpacked(|| Ok(plain(folder, name)?.0))
    }

    fn new(from: Box<dyn Read>, length: u64, is_packed: bool) -> Self {
        let broken = None;
        Self { from, length, is_packed, window: Vec::new(), at: 0, end: 0, passed: 0, is_at_end: false, broken }
    }

    /// Makes a source of bytes in memory or of a part of a file.
    pub fn of(from: impl Read + 'static, length: u64) -> Self {
        Self::new(Box::new(from), length, false)
    }

    /// Makes a source of decompressed bytes; `length` is their size in the compressed file.
    pub fn packed(from: impl Read + 'static, length: u64) -> Self {
        Self::new(Box::new(from), length, true)
    }

    /// Returns the source itself, or one that decompresses the file if the file begins like gzip.
    fn unpacked(mut self, again: impl Fn() -> Result<File, Refusal>) -> Result<Self, Refusal> {
        if !self.peek(GZIP.len())?.starts_with(GZIP) {
            return Ok(self);
        }
        Ok(Self::new(Box::new(MultiGzDecoder::new(again()?)), self.length, true))
    }

    pub fn is_packed(&self) -> bool {
        self.is_packed
    }

    /// Returns the number of decompressed bytes that were used.
    pub fn passed(&self) -> u64 {
        self.passed
    }

    /// Returns the number of bytes that are left, or `None` for a compressed file, whose length is known only at its
    /// end.
    pub fn left(&self) -> Option<u64> {
        (!self.is_packed).then(|| self.length.saturating_sub(self.passed))
    }

    /// Returns the size of the file on disk in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Returns the message of the error that ended the file early, if there was one.
    pub fn broken(&self) -> Option<&str> {
        self.broken.as_deref()
    }

    /// Returns the next `count` bytes, or all that are left, without moving past them.
    ///
    /// # Errors
    /// If a compressed file exceeds its largest size, or `count` is more than readers may look ahead.
    pub fn peek(&mut self, count: usize) -> Result<&[u8], Refusal> {
        while self.end - self.at < count && !self.is_at_end {
            self.fill(count)?;
        }
        Ok(&self.window[self.at..self.end.min(self.at + count)])
    }

    /// Moves past bytes that were peeked at.
    pub fn pass(&mut self, count: usize) {
        debug_assert!(count <= self.end - self.at, "only bytes that were seen are passed");
        self.at += count;
        self.passed += count as u64;
    }

    /// Moves past a byte order mark, which some programs write before text.
    ///
    /// # Errors
    /// See [`Self::peek`].
    pub fn pass_mark(&mut self) -> Result<(), Refusal> {
        if self.peek(MARK.len())?.starts_with(MARK) {
            self.pass(MARK.len());
        }
        Ok(())
    }

    /// Returns the next line with its end, without moving past it; the line is empty at the end of the file.
    ///
    /// # Errors
    /// If the line is longer than [`AHEAD_MAX`]; see also [`Self::peek`].
    pub fn line(&mut self) -> Result<&[u8], Refusal> {
        let mut searched = 0;
        loop {
            let seen = &self.window[self.at..self.end];
            if let Some(found) = memchr::memchr(b'\n', &seen[searched..]) {
                let length = searched + found + 1;
                return Ok(&self.window[self.at..self.at + length]);
            }
            searched = seen.len();
            if self.is_at_end {
                return Ok(&self.window[self.at..self.end]);
            }
            self.fill(searched + 1)?;
        }
    }

    fn fill(&mut self, count: usize) -> Result<(), Refusal> {
        if count > AHEAD_MAX {
            let found = format!("a line or a word of more than {AHEAD_MAX} bytes at byte {}", self.passed);
            let advice = "this is not a file of vectors, or it is damaged";
            return Err(Refusal::new(found, "a word and its numbers", advice));
        }
        self.window.copy_within(self.at..self.end, 0);
        self.end -= self.at;
        self.at = 0;
        self.window.resize(self.window.len().max(WINDOW.max(count.next_power_of_two())), 0);
        match self.from.read(&mut self.window[self.end..]) {
            Ok(0) => self.is_at_end = true,
            Ok(read) => self.end += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => {
                self.broken = Some(error.to_string());
                self.is_at_end = true;
            }
        }
        let grown = self.passed + self.end as u64;
        if self.is_packed && grown > GROWN_BYTES_FREE.max(self.length.saturating_mul(GROWTH_MAX)) {
            let found = format!("{} bytes that unpack to more than {grown}", self.length);
            let advice = "do not trust this file, because it was probably made to fill the memory";
            return Err(Refusal::new(found, "vectors", advice));
        }
        Ok(())
    }
}

/// A file that is read at several places: on disk, or decompressed in memory.
#[derive(Clone)]
pub enum Archive {
    File(PathBuf),
    Unpacked(Shared),
}

/// Bytes in memory that several readers share.
#[derive(Clone)]
pub struct Shared(Arc<Vec<u8>>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// A reader that can seek.
pub trait ReadSeek: Read + Seek {}

impl<T: Read + Seek> ReadSeek for T {}

impl Archive {
    /// Returns the archive of the file at a path, which `source` reads. A compressed file is decompressed as a whole,
    /// within the limits of all compressed files.
    ///
    /// # Errors
    /// If a compressed file is damaged or exceeds its largest size, or `watch` ended the reading.
    pub fn of(path: &Path, mut source: Source, watch: Watch<'_>) -> Result<Self, LoadStopped> {
        if !source.is_packed {
            return Ok(Self::File(path.to_owned()));
        }
        let mut bytes = Vec::new();
        let mut budget = Budget::of(&source);
        loop {
            let count = source.peek(WINDOW)?.len();
            budget.take(count as u64)?;
            bytes.extend_from_slice(source.peek(count)?);
            source.pass(count);
            let (words, numbers, memory) = (&[], &[], budget.taken());
            if !watch(Progress { bytes: source.passed, length: source.length, words, numbers, width: 0, memory }) {
                return Err(LoadStopped::Cancelled);
            }
            if count == 0 {
                break;
            }
        }
        if let Some(broken) = source.broken() {
            let found = format!("a gzip file that is damaged or cut off at unpacked byte {}: {broken}", source.passed);
            return Err(Refusal::new(found, "the whole file", FETCH_AGAIN).into());
        }
        Ok(Self::Unpacked(Shared(Arc::new(bytes))))
    }

    /// Returns the number of decompressed bytes in memory.
    pub fn bytes_in_memory(&self) -> u64 {
        match self {
            Self::File(_) => 0,
            Self::Unpacked(bytes) => bytes.0.len() as u64,
        }
    }

    /// Returns a reader of the decompressed bytes, and their number.
    ///
    /// # Errors
    /// If the file cannot be read or is not a regular file.
    pub fn open(&self) -> Result<(Box<dyn ReadSeek>, u64), Refusal> {
        match self {
            Self::File(path) => {
                let (folder, name) = split(path)?;
                let (file, length) = plain(folder, name)?;
                Ok((Box::new(file), length))
            }
            Self::Unpacked(bytes) => Ok((Box::new(Cursor::new(bytes.clone())), bytes.0.len() as u64)),
        }
    }
}

/// Splits a path into the folder and the name of a file.
///
/// # Errors
/// If the path does not end in a name.
pub fn split(path: &Path) -> Result<(&Path, &str), Refusal> {
    let name = path.file_name().and_then(|name| name.to_str());
    let name = name.ok_or_else(|| Refusal::new("a path without a name", "a file", "check the path of the file"))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    Ok((folder.unwrap_or(Path::new(".")), name))
}
