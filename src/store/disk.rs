//! Files that are written as a whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

/// With what the names of unfinished files begin.
const UNFINISHED: &str = "unfinished-";
/// Folders from a key's up to the one that the root lies in.
const DEPTH: usize = 3;

static COUNT: AtomicU64 = AtomicU64::new(0);

/// A file that is on the disk, under a name that nobody reads. It is removed unless it is kept.
pub(super) struct Unfinished {
    path: PathBuf,
}

impl Unfinished {
    /// Writes the parts into the folder, which is made if it is not there, and waits for the disk.
    pub(super) fn write(folder: &Path, parts: &[&[u8]]) -> io::Result<Unfinished> {
        make_folder(folder)?;
        let name = format!("{UNFINISHED}{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let unfinished = Unfinished { path: folder.join(name) };
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(&unfinished.path)?;
        parts.iter().try_for_each(|part| file.write_all(part))?;
        file.sync_all()?;
        Ok(unfinished)
    }

    /// Gives the file its name, in place of what had it. The path is in the same file system.
    pub(super) fn keep_as(self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)?;
        path.parent().map_or(Ok(()), sync_folder)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // It is gone if it was kept; if it cannot be removed, the next owner tries again.
        let _ = fs::remove_file(&self.path);
    }
}

/// Makes a folder, and those that it lies in, if it is not there.
pub(super) fn make_folder(folder: &Path) -> io::Result<()> {
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

/// Waits until the disk has the names in the folder.
fn sync_folder(folder: &Path) -> io::Result<()> {
    // Only Unix opens folders.
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// What killed programs left behind.
pub(super) fn remove_unfinished(folder: &Path) {
    names(folder).iter().filter(|name| name.starts_with(UNFINISHED)).for_each(|name| {
        let _ = fs::remove_file(folder.join(name));
    });
}

/// The names in a folder, in order; none if it cannot be read. What this program makes is UTF-8.
pub(super) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}
