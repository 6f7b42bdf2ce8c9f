//! File operations of the store: writing under temporary names, removing leftovers, and describing errors and times for
//! the learner.

use std::fs;
use std::io::{self, Error, ErrorKind};
use std::path::Path;
use std::time::{Duration, SystemTime};

use attune_engine::messages::counted;

use crate::whole_file::{Unfinished, sync_folder, unique};

/// The prefix of the names of unfinished files.
const UNFINISHED: &str = "unfinished-";
/// The number of folders from a key's folder up to the parent of the root.
const DEPTH: usize = 3;

/// Writes the parts into an unfinished file in the folder, which is made if it does not exist.
pub(super) fn write(folder: &Path, parts: &[&[u8]]) -> io::Result<Unfinished> {
    make_folder(folder)?;
    Unfinished::write(folder.join(format!("{UNFINISHED}{}", unique())), parts)
}

/// Returns the size in bytes of one of the program's own files, or `None` if there is none. Anything but a regular file
/// is refused: opening a pipe would wait forever, and a link may lead anywhere.
pub(super) fn own_file(path: &Path) -> io::Result<Option<u64>> {
    match fs::symlink_metadata(path) {
        Ok(there) if !there.is_file() => Err(in_the_way(path, &there, "file")),
        there => Ok(there.ok().map(|there| there.len())),
    }
}

/// Returns an error if something other than a folder is at the path of one of the program's own folders.
pub(super) fn own_folder(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(there) if !there.is_dir() => Err(in_the_way(path, &there, "folder")),
        _ => Ok(()),
    }
}

fn in_the_way(path: &Path, there: &fs::Metadata, expected: &str) -> io::Error {
    let found = match (there.is_symlink(), there.is_dir(), there.is_file()) {
        (true, ..) => "a link",
        (_, true, _) => "a folder",
        (.., true) => "a file",
        _ => "a device or a pipe",
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    io::Error::other(format!("{name} is {found}, but there should be a {expected} in its place; move it away"))
}

/// Makes a folder and its parents where they do not exist.
pub(super) fn make_folder(folder: &Path) -> io::Result<()> {
    own_folder(folder)?;
    if folder.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(folder)?;
    // The names of new folders must survive a power cut too. Folders above `DEPTH` existed before.
    for above in folder.ancestors().skip(1).take(DEPTH) {
        let _ = sync_folder(above);
    }
    Ok(())
}

/// Removes unfinished files that killed programs left behind.
pub(super) fn remove_unfinished(folder: &Path) {
    names(folder).iter().filter(|name| name.starts_with(UNFINISHED)).for_each(|name| {
        let _ = fs::remove_file(folder.join(name));
    });
}

/// Returns the sorted names in a folder; none if it cannot be read. Names that are not UTF-8 are left out, because the
/// program makes none.
pub(super) fn names(folder: &Path) -> Vec<String> {
    if own_folder(folder).is_err() {
        return Vec::new();
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// Returns an error of the operating system in words for the learner.
pub(super) fn of(error: &Error) -> String {
    let known = match error.kind() {
        ErrorKind::StorageFull => "the disk is full",
        ErrorKind::QuotaExceeded => "the disk quota is used up",
        ErrorKind::FileTooLarge => "the file is too large for the file system",
        ErrorKind::PermissionDenied => "permission denied",
        ErrorKind::ReadOnlyFilesystem => "the file system is read-only",
        ErrorKind::NotFound => "the folder is gone",
        ErrorKind::NotADirectory => "there is a file where a folder should be",
        _ => return error.to_string(),
    };
    known.to_owned()
}

/// Returns how long ago a time was, in words.
pub(super) fn ago(time: SystemTime) -> String {
    const UNITS: [(u64, &str); 4] = [(86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")];
    // If the clock was set back, the time is in the future.
    let seconds = time.elapsed().unwrap_or(Duration::ZERO).as_secs();
    let unit = UNITS.into_iter().find(|(size, _)| seconds >= *size);
    unit.map_or_else(|| "just now".to_owned(), |(size, name)| format!("{} ago", counted(seconds / size, name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_in_their_largest_unit() {
        let before = |seconds| ago(SystemTime::now() - Duration::from_secs(seconds));
        assert_eq!(before(0), "just now");
        assert_eq!(before(65), "1 minute ago");
        assert_eq!(before(7_300), "2 hours ago");
        assert_eq!(ago(SystemTime::now() + Duration::from_secs(9)), "just now");
    }
}
