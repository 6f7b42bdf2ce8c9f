//! The files of a model's folder, which may be anything: no folder is read as a file, no pipe waited for, and no more
//! read than a file of its kind may have.

use std::fs::{self, File};
use std::io::{Error, ErrorKind, Read};
use std::path::Path;

use super::refusal::Refusal;

/// A plain file and its length.
///
/// # Errors
/// If it is missing, no plain file, or cannot be opened.
pub fn plain(folder: &Path, name: &str) -> Result<(File, u64), Refusal> {
    let path = folder.join(name);
    let unreadable = |error: Error| match error.kind() {
        ErrorKind::NotFound => {
            Refusal::new("no such file", "a file of this name in the model's folder", "download the whole folder")
                .in_file(name)
        }
        _ => Refusal::unreadable(&error).in_file(name),
    };
    if !fs::metadata(&path).map_err(unreadable)?.is_file() {
        return Err(Refusal::new("a folder or a device", "a regular file", "download the whole folder").in_file(name));
    }
    let file = File::open(&path).map_err(unreadable)?;
    let bytes = file.metadata().map_err(unreadable)?.len();
    Ok((file, bytes))
}

/// The text of a file of at most so many bytes.
///
/// # Errors
/// If it is missing, no plain file, larger, or no UTF-8.
pub fn text(folder: &Path, name: &str, most: u64) -> Result<String, Refusal> {
    let (file, bytes) = plain(folder, name)?;
    let refusal = |found: String| {
        let expected = format!("a text of at most {most} bytes");
        Refusal::new(found, expected, "download the file again").in_file(name)
    };
    if bytes > most {
        return Err(refusal(format!("{bytes} bytes")));
    }
    let mut text = String::new();
    match file.take(most).read_to_string(&mut text) {
        Ok(_) => Ok(text),
        Err(error) if error.kind() == ErrorKind::InvalidData => Err(refusal("bytes that are not UTF-8".to_owned())),
        Err(error) => Err(Refusal::unreadable(&error).in_file(name)),
    }
}

/// The text of a file that need not be there.
///
/// # Errors
/// As [`text`], but for a file that is missing.
pub fn text_if_there(folder: &Path, name: &str, most: u64) -> Result<Option<String>, Refusal> {
    match fs::metadata(folder.join(name)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        _ => text(folder, name, most).map(Some),
    }
}
