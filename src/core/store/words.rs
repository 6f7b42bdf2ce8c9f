//! Faults of the file system and times, in words for the learner.

use std::io::{Error, ErrorKind};
use std::time::{Duration, SystemTime};

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
    unit.map_or_else(
        || "just now".to_owned(),
        |(size, name)| match seconds / size {
            1 => format!("1 {name} ago"),
            count => format!("{count} {name}s ago"),
        },
    )
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
