//! Files that are written as a whole or not at all: first under a name that nobody reads, then renamed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

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
    let name = file.file_name().ok_or_else(|| io::Error::new(ErrorKind::InvalidInput, "this is not a file's name"))?;
    let beside = file.with_file_name(format!(".{}.{}.part", name.to_string_lossy(), unique()));
    Unfinished::write(beside, &[bytes])?.rename_to(file)
}

/// A file that is on the disk, under a name that nobody reads. It is removed unless it is kept.
pub struct Unfinished {
    path: PathBuf,
}

impl Unfinished {
    /// Writes the parts, and waits for the disk.
    ///
    /// # Errors
    /// If they cannot be written; then nothing stays.
    pub fn write(path: PathBuf, parts: &[&[u8]]) -> io::Result<Self> {
        let unfinished = Self { path };
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(&unfinished.path)?;
        parts.iter().try_for_each(|part| file.write_all(part))?;
        file.sync_all()?;
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
