//! Files that are written completely or not at all: first under a temporary name, then renamed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use attune_engine::files;

static COUNT: AtomicU64 = AtomicU64::new(0);

/// Returns a part of a file name that no other unfinished file has, in this or any other running process.
pub fn unique() -> String {
    format!("{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Replaces a file by way of a temporary file beside it.
///
/// # Errors
/// If the new file cannot be written; the old one is then unchanged.
pub fn write(file: &Path, bytes: &[u8]) -> io::Result<()> {
    Prepared::new(file, bytes)?.put()
}

/// A file that is completely written but has not yet replaced the old one. If several files belong together, all are
/// prepared before the first is put.
pub struct Prepared {
    unfinished: Unfinished,
    to: PathBuf,
}

impl Prepared {
    /// Writes `bytes` under a temporary name beside `file`.
    ///
    /// # Errors
    /// See [`Self::with`].
    pub fn new(file: &Path, bytes: &[u8]) -> io::Result<Self> {
        Self::with(file, |to| to.write_all(bytes))
    }

    /// Writes the new content piece by piece, under a temporary name beside `file`.
    ///
    /// # Errors
    /// If it cannot be written, or if `file` is a folder, a device or a pipe.
    pub fn with(file: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<Self> {
        let to = end_of_links(file)?;
        let invalid = |why| io::Error::new(ErrorKind::InvalidInput, why);
        if let Some(why) = no_plain_file(&to) {
            return Err(invalid(why));
        }
        let name = to.file_name().ok_or_else(|| invalid("this is not a file's name"))?;
        let beside = to.with_file_name(format!(".{}.{}.part", name.to_string_lossy(), unique()));
        Ok(Self { unfinished: Unfinished::with(beside, write)?, to })
    }

    /// Renames the file so that it replaces the old one.
    ///
    /// # Errors
    /// If it cannot be renamed.
    pub fn put(self) -> io::Result<()> {
        self.unfinished.rename_to(&self.to)
    }
}

/// Returns the reason why a path cannot become a file: it is a folder, a device or a pipe. `None` if it can.
pub fn no_plain_file(file: &Path) -> Option<&'static str> {
    let there = fs::metadata(file).ok()?;
    match (there.is_dir(), there.is_file()) {
        (true, _) => Some("it is a folder"),
        (_, true) => None,
        _ => Some("it is not a regular file"),
    }
}

/// Follows symbolic links to the path that they lead to, so that writing keeps the link. The path need not exist.
fn end_of_links(file: &Path) -> io::Result<PathBuf> {
    /// The greatest number of links that Linux follows.
    const LINKS_MAX: usize = 40;
    let mut path = file.to_owned();
    for _ in 0..LINKS_MAX {
        let Ok(target) = fs::read_link(&path) else { return Ok(path) };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    Err(io::Error::new(ErrorKind::InvalidInput, "its links lead nowhere"))
}

/// A file on the disk under a temporary name, which is removed when dropped unless it was renamed.
pub struct Unfinished {
    path: PathBuf,
}

impl Unfinished {
    /// Writes the parts one after another, and waits until they are on the disk.
    ///
    /// # Errors
    /// If they cannot be written; the file is then removed.
    pub fn write(path: PathBuf, parts: &[&[u8]]) -> io::Result<Self> {
        Self::with(path, |to| parts.iter().try_for_each(|part| to.write_all(part)))
    }

    /// Writes piece by piece, and waits until all is on the disk.
    ///
    /// # Errors
    /// If it cannot be written; the file is then removed.
    pub fn with(path: PathBuf, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<Self> {
        let unfinished = Self { path };
        // A killed program with the same process id may have left such a file; only a newly created one is surely a
        // regular file.
        let _ = fs::remove_file(&unfinished.path);
        let file = OpenOptions::new().write(true).create_new(true).open(&unfinished.path)?;
        let mut to = BufWriter::new(Bounded { file, left: largest_file().unwrap_or(u64::MAX) });
        write(&mut to)?;
        to.flush()?;
        to.get_ref().file.sync_all()?;
        Ok(unfinished)
    }

    /// Renames the file to `path`, replacing any file there, and waits until the new name is on the disk. `path` must
    /// be in the same file system.
    ///
    /// # Errors
    /// If it cannot be renamed, or the operating system does not confirm that the name is on the disk.
    pub fn keep_as(self, path: &Path) -> io::Result<()> {
        self.rename_to(path)?;
        path.parent().map_or(Ok(()), sync_folder)
    }

    /// Renames without waiting until the new name is on the disk, because not every file system can confirm that.
    fn rename_to(self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)
    }
}

/// A writer that fails when the file would exceed a number of bytes.
struct Bounded {
    file: File,
    left: u64,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() as u64 > self.left {
            return Err(io::Error::new(ErrorKind::FileTooLarge, "File too large"));
        }
        let written = self.file.write(bytes)?;
        self.left -= written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Returns the largest size of a file that this process may write, in bytes, where Linux sets a limit. The system would
/// kill the process at the first byte beyond it, and the unfinished file would stay.
fn largest_file() -> Option<u64> {
    /// Far more than the list needs, which has about twenty short lines.
    const LIMITS_BYTES_MAX: u64 = 1 << 16;
    let limits = files::read(Path::new("/proc/self/limits"), LIMITS_BYTES_MAX).ok()?;
    let limit = str::from_utf8(&limits).ok()?.lines().find_map(|line| line.strip_prefix("Max file size"))?;
    // The value is `unlimited` or a number of bytes.
    limit.split_whitespace().next()?.parse().ok()
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // After a rename there is nothing to remove; if the file cannot be removed, there is nothing else to do.
        let _ = fs::remove_file(&self.path);
    }
}

/// Waits until the names in a folder are on the disk.
///
/// # Errors
/// If the operating system does not confirm it.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    // Only Unix can open a folder as a file.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Returns whether both paths lead to the same existing file.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let found = |path: &Path| fs::canonicalize(path).ok();
    found(one).is_some_and(|there| Some(there) == found(other))
}

/// Returns the reason why a path cannot become a new folder: something other than an empty folder is already there, or
/// its parent folder is missing. `None` if it can.
pub fn no_new_folder(folder: &Path) -> Option<&'static str> {
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
    if folder.file_name().is_none() {
        return Some("this is not a folder's name");
    }
    match fs::symlink_metadata(folder) {
        Ok(there) if there.is_dir() => match fs::read_dir(folder).map(|mut entries| entries.next().is_none()) {
            Ok(true) => None,
            Ok(false) => Some("the folder is not empty"),
            Err(_) => Some("the folder cannot be read"),
        },
        Ok(_) => Some("it is not a folder"),
        Err(_) if parent.is_some_and(|parent| !parent.is_dir()) => Some("there is no such folder"),
        Err(_) => None,
    }
}

/// Writes a new folder with these files, which may be in folders within it, completely or not at all. An empty folder
/// is replaced.
///
/// # Errors
/// If it cannot be written, or if something else is already there.
pub fn write_folder(folder: &Path, files: &[(impl AsRef<Path>, Vec<u8>)]) -> io::Result<()> {
    let invalid = |why| io::Error::new(ErrorKind::InvalidInput, why);
    if let Some(why) = no_new_folder(folder) {
        return Err(invalid(why));
    }
    let name = folder.file_name().ok_or_else(|| invalid("this is not a folder's name"))?;
    let unfinished = UnfinishedFolder(folder.with_file_name(format!(".{}.{}.part", name.to_string_lossy(), unique())));
    fs::create_dir(&unfinished.0)?;
    for (name, bytes) in files {
        let path = unfinished.0.join(name);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        let mut file = File::create_new(path)?;
        file.write_all(bytes)?;
        file.sync_all()?;
    }
    sync_folder(&unfinished.0)?;
    // The empty folder is removed first because not every system renames over a folder. This fails if something has
    // been put into it in the meantime.
    match fs::remove_dir(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => fs::rename(&unfinished.0, folder)?,
    }
    folder.parent().filter(|parent| !parent.as_os_str().is_empty()).map_or(Ok(()), sync_folder)
}

/// A folder under a temporary name, which is removed with its contents when dropped unless it was renamed.
struct UnfinishedFolder(PathBuf);

impl Drop for UnfinishedFolder {
    fn drop(&mut self) {
        // After a rename there is nothing to remove; if the folder cannot be removed, there is nothing else to do.
        let _ = fs::remove_dir_all(&self.0);
    }
}
