//! A learner's work as one file that is handed in: answers, outputs and the state of the model, with the lesson that
//! they are of. A name and the time spent stand in it only where the learner gives them.

use std::fmt;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::kernel::Saved;

/// The ending of its name.
pub const EXTENSION: &str = "attune";
const VERSION: u32 = 1;
/// Bytes of a file that is read: outputs are bounded, so that no work comes near.
const BYTES_MAX: u64 = 32 << 20;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkFile {
    /// The version of this form.
    attune: u32,
    pub lesson: LessonMark,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minutes: Option<u64>,
    pub work: Saved,
}

/// The lesson that a work is of, and the very text of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LessonMark {
    pub id: String,
    pub title: String,
    /// The hash of the lesson's file, in hexadecimal digits.
    pub sha256: String,
}

impl LessonMark {
    pub fn of(id: &str, title: &str, text: &str) -> Self {
        let sha256 = HEXLOWER.encode(&Sha256::digest(text));
        Self { id: id.to_owned(), title: title.to_owned(), sha256 }
    }
}

/// Why a file is no work that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread(String);

impl fmt::Display for Unread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The version of a file, which is read before anything else of it.
#[derive(Deserialize)]
struct Versioned {
    attune: u32,
}

impl WorkFile {
    pub fn new(lesson: LessonMark, work: Saved) -> Self {
        Self { attune: VERSION, lesson, name: None, minutes: None, work }
    }

    /// Reads a file that somebody handed in.
    ///
    /// # Errors
    /// If it is not a regular file, too large, cut off, no work, or of a newer version.
    pub fn read(path: &Path) -> Result<Self, Unread> {
        let unread = |why: &dyn fmt::Display| Unread(format!("it cannot be read: {why}"));
        let metadata = fs::metadata(path).map_err(|why| unread(&why))?;
        if !metadata.is_file() {
            return Err(Unread("it is not a regular file".to_owned()));
        }
        if metadata.len() > BYTES_MAX {
            return Err(Unread(format!("it has {} bytes; a work has at most {BYTES_MAX}", metadata.len())));
        }
        let mut text = String::new();
        let file = File::open(path).map_err(|why| unread(&why))?;
        file.take(BYTES_MAX).read_to_string(&mut text).map_err(|why| unread(&why))?;
        Self::parse(&text)
    }

    /// Reads the text of such a file.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn parse(text: &str) -> Result<Self, Unread> {
        let is_cut = |error: &serde_json::Error| error.is_eof();
        let why = |error: serde_json::Error| match is_cut(&error) {
            true => Unread("it is incomplete: ask for it again".to_owned()),
            false => Unread(format!("it is not a file that attune wrote ({error}): ask for it again")),
        };
        let version = serde_json::from_str::<Versioned>(text).map_err(why)?.attune;
        if version > VERSION {
            return Err(Unread(format!(
                "it is of version {version}, and this attune reads {VERSION}: use a newer attune"
            )));
        }
        serde_json::from_str(text).map_err(why)
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}
