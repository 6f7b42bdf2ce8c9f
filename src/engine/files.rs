//! Reading of files that a user or another file names, without blocking and up to a bound.
//!
//! A name may refer to a pipe, which waits for a writer, or to a device without an end. No other code opens files for
//! reading; a test of the architecture checks that.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

/// Opens a regular file and returns it with its size in bytes.
///
/// # Errors
/// If it cannot be opened, or is not a regular file: `IsADirectory` for a folder, `InvalidInput` for a pipe, a device
/// or a socket.
pub fn open(path: &Path) -> io::Result<(File, u64)> {
    // Opening a device can have an effect, so the type is checked first.
    check_regular(&fs::metadata(path)?)?;
    let file = reading().open(path)?;
    // The file may have been replaced since then.
    let there = file.metadata()?;
    check_regular(&there)?;
    Ok((file, there.len()))
}

/// Reads the first `count` bytes of a regular file, or all if it has fewer.
///
/// # Errors
/// See [`open`]; also if it cannot be read.
pub fn head(path: &Path, count: u64) -> io::Result<Vec<u8>> {
    let (file, length) = open(path)?;
    let mut bytes = Vec::with_capacity(usize::try_from(length.min(count)).unwrap_or_default());
    file.take(count).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a regular file of at most `most` bytes.
///
/// # Errors
/// See [`head`]; also `FileTooLarge`, with the number of bytes as its message.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let (file, length) = open(path)?;
    if length > most {
        return Err(io::Error::new(ErrorKind::FileTooLarge, format!("{length} bytes")));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    // One byte more than allowed is read, to detect a file that has grown since it was opened.
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(ErrorKind::FileTooLarge, format!("more than {most} bytes")));
    }
    Ok(bytes)
}

/// U+FEFF in UTF-8, the byte order mark that some programs put before text.
pub const MARK: &[u8] = b"\xef\xbb\xbf";

/// Removes the byte order mark before a text that is not decoded yet.
pub fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(MARK).unwrap_or(text)
}

/// Removes the byte order mark before a text.
pub fn text_without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn check_regular(there: &Metadata) -> io::Result<()> {
    if there.is_dir() {
        return Err(io::Error::new(ErrorKind::IsADirectory, "this is a folder"));
    }
    if !there.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "this is not a regular file"));
    }
    Ok(())
}

/// Returns the options that open a file for reading. On Unix, opening does not block if a pipe has replaced the file,
/// and reading does not block if a kernel file such as `/proc/kmsg` has no bytes yet.
fn reading() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_up_to_its_bound() {
        let path = std::env::temp_dir().join(format!("attune-files-{}", std::process::id()));
        fs::write(&path, "four").expect("it is written");
        assert_eq!(read(&path, 4).expect("four bytes"), b"four");
        assert_eq!(read(&path, 3).expect_err("too many").kind(), ErrorKind::FileTooLarge);
        assert_eq!(head(&path, 3).expect("the first"), b"fou");
        assert_eq!(head(&path, 9).expect("all"), b"four");
        fs::remove_file(&path).expect("it was there");
        assert_eq!(open(&path).expect_err("it is gone").kind(), ErrorKind::NotFound);
        assert_eq!(open(&std::env::temp_dir()).expect_err("a folder").kind(), ErrorKind::IsADirectory);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn neither_a_device_nor_a_file_of_the_kernel_is_waited_for() {
        assert_eq!(open(Path::new("/dev/zero")).expect_err("a device").kind(), ErrorKind::InvalidInput);
        // Without the permission to read it, opening fails; with it, there may be bytes or none.
        let _ = head(Path::new("/proc/kmsg"), 1 << 20);
    }
}
