//! Files that are written as a whole or not at all: first under a temporary name, then renamed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use attune_engine::files;

static COUNT: AtomicU64 = AtomicU64::new(0);

/// A part of a name that no other unfinished file has, of this program or another that runs.
pub fn unique() -> String {
    format!("{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Writes a file in place of what is there, through one beside it.
///
/// # Errors
/// If it cannot be written; what was there is there still.
pub fn write(file: &Path, bytes: &[u8]) -> io::Result<()> {
    Prepared::new(file, bytes)?.put()
}

/// A file that is written and has yet to take the place of what is there. Where several belong together,
/// all are prepared before the first is put.
pub struct Prepared {
    unfinished: Unfinished,
    to: PathBuf,
}

impl Prepared {
    /// # Errors
    /// As [`Self::with`].
    pub fn new(file: &Path, bytes: &[u8]) -> io::Result<Self> {
        Self::with(file, |to| to.write_all(bytes))
    }

    /// A file that is written piece by piece.
    ///
    /// # Errors
    /// If it cannot be written, or nothing but a device or the like would give way to it.
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

    /// # Errors
    /// If it cannot be renamed.
    pub fn put(self) -> io::Result<()> {
        self.unfinished.rename_to(&self.to)
    }
}

/// Why a path cannot become a file: a folder, a device or a pipe is there.
pub fn no_plain_file(file: &Path) -> Option<&'static str> {
    let there = fs::metadata(file).ok()?;
    match (there.is_dir(), there.is_file()) {
        (true, _) => Some("it is a folder"),
        (_, true) => None,
        _ => Some("it is not a regular file"),
    }
}

/// A link stays, and what it leads to is written, whether that is there or not.
fn end_of_links(file: &Path) -> io::Result<PathBuf> {
    /// More than any system follows.
    const LINKS_MAX: usize = 40;
    let mut path = file.to_owned();
    for _ in 0..LINKS_MAX {
        let Ok(target) = fs::read_link(&path) else { return Ok(path) };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    Err(io::Error::new(ErrorKind::InvalidInput, "its links lead nowhere"))
}

/// A file that is on the disk, under a temporary name. It is removed unless it is kept.
pub struct Unfinished {
    path: PathBuf,
}

impl Unfinished {
    /// Writes the parts, and waits for the disk.
    ///
    /// # Errors
    /// If they cannot be written; then nothing stays.
    pub fn write(path: PathBuf, parts: &[&[u8]]) -> io::Result<Self> {
        Self::with(path, |to| parts.iter().try_for_each(|part| to.write_all(part)))
    }

    /// Writes piece by piece, and waits for the disk.
    ///
    /// # Errors
    /// If it cannot be written; then nothing stays.
    pub fn with(path: PathBuf, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<Self> {
        let unfinished = Self { path };
        // A killed program of the same number may have left one; only a new file is surely a file.
        let _ = fs::remove_file(&unfinished.path);
        let file = OpenOptions::new().write(true).create_new(true).open(&unfinished.path)?;
        let mut to = BufWriter::new(Bounded { file, left: largest_file().unwrap_or(u64::MAX) });
        write(&mut to)?;
        to.flush()?;
        to.get_ref().file.sync_all()?;
        Ok(unfinished)
    }

    /// Gives the file its name, in place of what had it, and waits until the disk has the name. The
    /// path is in the same file system.
    ///
    /// # Errors
    /// If it cannot be renamed, or the disk does not say that it has the name.
    pub fn keep_as(self, path: &Path) -> io::Result<()> {
        self.rename_to(path)?;
        path.parent().map_or(Ok(()), sync_folder)
    }

    /// Not every file system can be waited for.
    fn rename_to(self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)
    }
}

/// A file with a bound on its bytes.
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

/// Bytes that a file of this process may have, where Linux bounds them: the system ends a process at the first byte more, and
/// its unfinished file would stay.
fn largest_file() -> Option<u64> {
    /// The list has some twenty short lines.
    const LIMITS_BYTES_MAX: u64 = 1 << 16;
    let limits = files::read(Path::new("/proc/self/limits"), LIMITS_BYTES_MAX).ok()?;
    let limit = str::from_utf8(&limits).ok()?.lines().find_map(|line| line.strip_prefix("Max file size"))?;
    // `unlimited`, or bytes.
    limit.split_whitespace().next()?.parse().ok()
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // It is gone if it was kept; if it cannot be removed, there is nothing else to do.
        let _ = fs::remove_file(&self.path);
    }
}

/// Waits until the disk has the names in the folder.
///
/// # Errors
/// If the disk does not say so.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    // Only Unix opens folders.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Whether two paths lead to one file, which is there.
pub fn is_same(one: &Path, other: &Path) -> bool {
    let found = |path: &Path| fs::canonicalize(path).ok();
    found(one).is_some_and(|there| Some(there) == found(other))
}

/// Why a path cannot become a folder of new files: something is there, or it would have no place.
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

/// Writes a new folder with these files: all of them, or nothing. An empty folder gives way to it.
///
/// # Errors
/// If it cannot be written, or there is something already.
pub fn write_folder(folder: &Path, files: &[(&str, Vec<u8>)]) -> io::Result<()> {
    let invalid = |why| io::Error::new(ErrorKind::InvalidInput, why);
    if let Some(why) = no_new_folder(folder) {
        return Err(invalid(why));
    }
    let name = folder.file_name().ok_or_else(|| invalid("this is not a folder's name"))?;
    let unfinished = UnfinishedFolder(folder.with_file_name(format!(".{}.{}.part", name.to_string_lossy(), unique())));
    fs::create_dir(&unfinished.0)?;
    for (name, bytes) in files {
        let mut file = File::create_new(unfinished.0.join(name))?;
        file.write_all(bytes)?;
        file.sync_all()?;
    }
    sync_folder(&unfinished.0)?;
    // Gives way only if nothing came into it meanwhile; not every system renames over a folder.
    match fs::remove_dir(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => fs::rename(&unfinished.0, folder)?,
    }
    folder.parent().filter(|parent| !parent.as_os_str().is_empty()).map_or(Ok(()), sync_folder)
}

/// A folder under a temporary name. What is in it is removed unless it was renamed.
struct UnfinishedFolder(PathBuf);

impl Drop for UnfinishedFolder {
    fn drop(&mut self) {
        // It is gone if it was renamed; if it cannot be removed, there is nothing else to do.
        let _ = fs::remove_dir_all(&self.0);
    }
}
