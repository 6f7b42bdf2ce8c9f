//! A file that is watched: looked at from time to time, and read again when it was saved.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Between two looks.
pub const EVERY: Duration = Duration::from_millis(300);

/// Time and length: another one of these, and the file was saved.
type Stamp = (SystemTime, u64);

/// A file, and how it was when it was last read.
pub struct Watched {
    path: PathBuf,
    read: Option<Stamp>,
    before: Option<Stamp>,
}

impl Watched {
    /// Watches a file that is read from now on.
    pub fn new(path: PathBuf) -> Self {
        let now = stamp(&path);
        Self { path, read: now, before: now }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn is_there(&self) -> bool {
        self.read.is_some()
    }

    /// Looks at the file. True once after it has changed, come or gone, and has stood still since the last look: editors
    /// save in several writes, or put another file in its place.
    pub fn has_changed(&mut self) -> bool {
        let now = stamp(&self.path);
        let is_still = std::mem::replace(&mut self.before, now) == now;
        is_still && std::mem::replace(&mut self.read, now) != now
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_is_read_when_it_stands_still_however_it_is_saved() {
        let folder = std::env::temp_dir().join(format!("attune-watched-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let file = folder.join("own.ron");
        fs::write(&file, "one").expect("it is written");
        let mut watched = Watched::new(file.clone());
        assert!(!watched.has_changed(), "nothing was saved");
        // In two writes.
        fs::write(&file, "").expect("it is emptied");
        assert!(!watched.has_changed());
        fs::write(&file, "second").expect("it is written");
        assert!(!watched.has_changed(), "half a file is never read");
        assert!(watched.has_changed() && watched.is_there());
        assert!(!watched.has_changed(), "once");
        // By another file in its place.
        fs::write(folder.join("new"), "a third one").expect("it is written");
        fs::remove_file(&file).expect("it was there");
        assert!(!watched.has_changed(), "it may be on its way");
        fs::rename(folder.join("new"), &file).expect("it is put");
        assert!(!watched.has_changed());
        assert!(watched.has_changed() && watched.is_there());
        fs::remove_file(&file).expect("it was there");
        assert!(!watched.has_changed());
        assert!(watched.has_changed() && !watched.is_there(), "gone for good");
        fs::remove_dir_all(folder).expect("it was there");
    }
}
