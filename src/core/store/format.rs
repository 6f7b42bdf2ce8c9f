//! The format of a file in the store: two header lines and one line of JSON.
//!
//! ```text
//! attune-state 5d41402a 1 312          magic, CRC-32 of all that follows it, version, bytes after this line
//! {"id":"apple","file":"/…/apple.ron","saved":1763732302000}
//! {"cells":…}
//! ```
//!
//! The first line has this form in every version, so that a file from a newer program is recognised as such and not
//! taken for a corrupt one.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use attune_engine::files;
use attune_engine::messages::counted;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Key, disk};

const MAGIC: &[u8] = b"attune-state ";
const CRC_DIGITS: usize = 8;
/// The largest length of the first line, which has two numbers after the checksum.
const FIRST_LINE_MAX: usize = 64;
/// The largest size of a state; larger ones are neither written nor read, so that no file can exhaust the memory.
pub(super) const BYTES_MAX: u64 = 1 << 28;
/// The largest size of the two header lines, which hold a path, a label and an id. Checkpoints are listed from their
/// headers alone.
const HEADER_MAX: u64 = 1 << 16;
/// The largest number of characters of a label or an id in a header.
const TEXT_MAX: usize = 1_000;

/// Data that can be stored: plain values with a version.
pub trait Stored: Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The version of the form, raised when older programs would misread the new one.
    const VERSION: u32;

    /// Reads a value from the JSON text of an older version; returns `None` if that version is no longer supported.
    fn from_older(_version: u32, _json: &str) -> Option<Self> {
        None
    }
}

/// The reason why a file gives no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// A file that ends early, after `bytes` bytes; `of` is its full length, if the header still states it.
    Truncated { bytes: u64, of: Option<u64> },
    /// Content that does not match its checksum.
    Corrupt,
    /// A file that is not UTF-8.
    NotText,
    /// A file without a header of this program.
    NotState,
    /// A file that a newer program wrote.
    Newer {
        version: u32,
        /// The newest version that this program knows.
        known: u32,
    },
    /// A file that an older program wrote, in a form that is no longer understood.
    Older { version: u32 },
    /// A file that is whole, but not in the form that this program expects.
    Content(String),
    /// A file that is larger than any state.
    TooLarge { bytes: u64 },
    /// A file that the operating system cannot read.
    Unreadable(String),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Truncated { bytes: 0, .. } => write!(f, "is empty"),
            ReadError::Truncated { bytes, of: Some(of) } => write!(f, "is cut off after {bytes} of {of} bytes"),
            ReadError::Truncated { bytes, of: None } => write!(f, "is cut off after {}", counted(*bytes, "byte")),
            ReadError::Corrupt => write!(f, "is corrupt: its checksum does not match its content"),
            ReadError::NotText => write!(f, "is corrupt: it is not UTF-8"),
            ReadError::NotState => write!(f, "is not a saved state of this program"),
            ReadError::Newer { version, known } => {
                write!(
                    f,
                    "is from a newer program, in format version {version}; this program reads versions up to {known}"
                )
            }
            ReadError::Older { version } => {
                write!(f, "is from an older program: version {version} can no longer be read")
            }
            ReadError::Content(why) => write!(f, "is not in the form that this program expects: {why}"),
            ReadError::TooLarge { bytes } => write!(f, "is too large for a saved state: {bytes} bytes"),
            ReadError::Unreadable(why) => write!(f, "cannot be read: {why}"),
        }
    }
}

/// The second header line, which says whose state this is, and when and why it was saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Meta {
    pub(super) id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) file: Option<PathBuf>,
    /// The time of saving, in milliseconds since 1970.
    saved: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) label: Option<String>,
}

impl Meta {
    pub(super) fn now(key: &Key) -> Meta {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Meta {
            id: short(&key.id),
            file: key.file.clone().filter(|path| path.to_str().is_some_and(|text| text.chars().count() <= TEXT_MAX)),
            saved: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
            label: None,
        }
    }

    pub(super) fn labelled(self, label: &str) -> Meta {
        Meta { label: Some(short(label)), ..self }
    }

    pub(super) fn saved(&self) -> SystemTime {
        UNIX_EPOCH.checked_add(Duration::from_millis(self.saved)).unwrap_or(UNIX_EPOCH)
    }

    /// Returns whether this is the header of a state with the key's id.
    pub(super) fn is_of(&self, key: &Key) -> bool {
        self.id == short(&key.id)
    }
}

fn short(text: &str) -> String {
    text.chars().take(TEXT_MAX).collect()
}

/// The JSON of a value and the header before it. [`FOOT`] is written after it.
pub(super) struct Encoded {
    pub(super) head: String,
    pub(super) json: Vec<u8>,
}

/// The line break that ends the last line.
pub(super) const FOOT: &[u8] = b"\n";

pub(super) fn encode<T: Stored>(value: &T, meta: &Meta) -> io::Result<Encoded> {
    Ok(with_header(T::VERSION, meta, serde_json::to_vec(value)?)?)
}

pub(super) fn with_header(version: u32, meta: &Meta, json: Vec<u8>) -> serde_json::Result<Encoded> {
    let meta = serde_json::to_string(meta)?;
    let length = meta.len() + json.len() + 2 * FOOT.len();
    let rest = format!("{version} {length}\n{meta}\n");
    let crc = crc_of(&[rest.as_bytes(), &json, FOOT]);
    let magic = String::from_utf8_lossy(MAGIC);
    Ok(Encoded { head: format!("{magic}{crc} {rest}"), json })
}

fn crc_of(parts: &[&[u8]]) -> String {
    let mut hasher = crc32fast::Hasher::new();
    parts.iter().for_each(|part| hasher.update(part));
    format!("{:0CRC_DIGITS$x}", hasher.finalize())
}

/// A file whose checksum is right, although its version may differ from that of this program.
pub(super) struct Decoded<'b> {
    pub(super) version: u32,
    pub(super) meta: Meta,
    pub(super) json: &'b str,
}

impl Decoded<'_> {
    pub(super) fn value<T: Stored>(&self) -> Result<T, ReadError> {
        let version = self.version;
        if version > T::VERSION {
            return Err(ReadError::Newer { version, known: T::VERSION });
        }
        if version < T::VERSION {
            return T::from_older(version, self.json).ok_or(ReadError::Older { version });
        }
        serde_json::from_str(self.json).map_err(|error| ReadError::Content(error.to_string()))
    }
}

pub(super) fn decode(bytes: &[u8]) -> Result<Decoded<'_>, ReadError> {
    let is_text = str::from_utf8(bytes).is_ok();
    let or_no_text = |wrong| if is_text { wrong } else { ReadError::NotText };
    let there = bytes.len() as u64;
    let cut_off = ReadError::Truncated { bytes: there, of: None };
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        return Err(if MAGIC.starts_with(bytes) { cut_off } else { or_no_text(ReadError::NotState) });
    };
    let Some(line) = rest.iter().take(FIRST_LINE_MAX).position(|byte| *byte == b'\n') else {
        return Err(if rest.len() < FIRST_LINE_MAX { cut_off } else { or_no_text(ReadError::Corrupt) });
    };
    let first = str::from_utf8(&rest[..line]).map_err(|_| ReadError::NotText)?;
    let fields: Vec<&str> = first.split(' ').collect();
    let [crc, version, length] = fields[..] else { return Err(ReadError::Corrupt) };
    let (Ok(version), Ok(length)) = (version.parse(), length.parse::<u64>()) else { return Err(ReadError::Corrupt) };
    if crc.len() != CRC_DIGITS {
        return Err(ReadError::Corrupt);
    }
    let after = &rest[line + 1..];
    if (after.len() as u64) < length {
        let before = there - after.len() as u64;
        return Err(ReadError::Truncated { bytes: there, of: before.checked_add(length) });
    }
    if after.len() as u64 > length || crc != crc_of(&[&rest[CRC_DIGITS + 1..]]) {
        return Err(or_no_text(ReadError::Corrupt));
    }
    let text = str::from_utf8(after).map_err(|_| ReadError::NotText)?;
    let (meta, json) = text.split_once('\n').ok_or(ReadError::Corrupt)?;
    let meta = serde_json::from_str(meta).map_err(|error| ReadError::Content(error.to_string()))?;
    Ok(Decoded { version, meta, json })
}

/// Reads a whole file; returns `None` if there is no such file.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>, ReadError> {
    let read = read_up_to(path, BYTES_MAX);
    match read {
        Ok(bytes) if bytes.len() as u64 > BYTES_MAX => {
            Err(ReadError::TooLarge { bytes: fs::metadata(path).map_or(BYTES_MAX, |about| about.len()) })
        }
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(ReadError::Unreadable(disk::of(&error))),
    }
}

/// Reads only the header of a file, or returns `None` if the file has no readable one.
pub(super) fn read_meta(path: &Path) -> Option<Meta> {
    let bytes = read_up_to(path, HEADER_MAX).ok()?;
    let mut lines = bytes.strip_prefix(MAGIC)?.split(|byte| *byte == b'\n');
    serde_json::from_slice(lines.nth(1)?).ok()
}

/// Reads at most one byte more than `limit`, so that the caller can tell that a file is too large.
pub(super) fn read_up_to(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    disk::own_file(path)?;
    files::head(path, limit + 1)
}
