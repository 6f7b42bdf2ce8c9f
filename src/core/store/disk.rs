//! The files of a home: where unfinished ones stand, how they are swept up, and their faults and times in words for
//! the learner.

use std::fs;
use std::io::{self, Error, ErrorKind};
use std::path::Path;
use std::time::{Duration, SystemTime};

use attune_engine::messages::counted;

use crate::whole_file::{Unfinished, sync_folder, unique};

/// With what the names of unfinished files begin.
const UNFINISHED: &str = "unfinished-";
/// Folders from a key's up to the one that the root lies in.
const DEPTH: usize = 3;

/// Writes the parts into a file of the folder that is yet to get its name. The folder is made if it is
/// not there.
pub(super) fn write(folder: &Path, parts: &[&[u8]]) -> io::Result<Unfinished> {
    make_folder(folder)?;
    Unfinished::write(folder.join(format!("{UNFINISHED}{}", unique())), parts)
}

/// Refuses anything but a file under the name of one that this program makes: opening a pipe would wait without end,
/// and a link may lead anywhere. Returns the bytes of the file, if it is there.
pub(super) fn own_file(path: &Path) -> io::Result<Option<u64>> {
    match fs::symlink_metadata(path) {
        Ok(there) if !there.is_file() => Err(in_the_way(path, &there, "file")),
        there => Ok(there.ok().map(|there| there.len())),
    }
}

/// Refuses anything but a folder under the name of one that this program makes.
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

/// Makes a folder, and those that it lies in, if it is not there.
pub(super) fn make_folder(folder: &Path) -> io::Result<()> {
    own_folder(folder)?;
    if folder.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(folder)?;
    // The names of the folders are to outlive a power cut too; above them, there is nothing new to write.
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

/// The names in a folder, in order; none if it cannot be read. What this program makes is UTF-8.
pub(super) fn names(folder: &Path) -> Vec<String> {
    if own_folder(folder).is_err() {
        return Vec::new();
    }
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// An error of the operating system, in words.
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

/// How long ago a time is.
pub(super) fn ago(time: SystemTime) -> String {
    const UNITS: [(u64, &str); 4] = [(86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")];
    // A clock that was set back makes a time of the future.
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
