//! The home of all work: a root folder, and a folder in it for each [`Key`].

use std::env;
use std::fs;
use std::path::{Path, PathBuf, absolute};

use crate::fnv::fnv1a;

/// The program's folder within the platform's data folder.
const PROGRAM: &str = "attune";
/// Folders of files that the learner opened, within the root.
pub(super) const FILES: &str = "lessons";
/// The folder of files that are in the program, within the root.
const BUILT_IN: &str = "built-in";
/// Letters of an id that a folder's name keeps; the hash that follows tells longer ones apart.
const READABLE_MAX: usize = 40;

/// The root of everything that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    root: PathBuf,
}

impl Home {
    /// The platform's data folder, or none where the environment names no home:
    /// `$XDG_DATA_HOME/attune` or `~/.local/share/attune`, on macOS
    /// `~/Library/Application Support/attune`, on Windows `%APPDATA%\attune`.
    ///
    /// The standard library finds the home folder, and the rest is three names: no crate earns its keep here.
    pub fn of_platform() -> Option<Home> {
        // The XDG specification: a path that is not absolute is to be ignored.
        let named = |variable| env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
        let data = if cfg!(windows) {
            named("APPDATA")
        } else if cfg!(target_os = "macos") {
            env::home_dir().map(|home| home.join("Library").join("Application Support"))
        } else {
            named("XDG_DATA_HOME").or_else(|| env::home_dir().map(|home| home.join(".local").join("share")))
        };
        data.filter(|path| path.is_absolute()).map(|path| Home { root: path.join(PROGRAM) })
    }

    /// A folder of the learner's choice. It is made when something is kept in it.
    pub fn at(root: impl Into<PathBuf>) -> Home {
        Home { root: root.into() }
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder for files that are in the program and are read from the disk.
    pub fn built_in(&self) -> PathBuf {
        self.root.join(BUILT_IN)
    }

    pub(super) fn folder(&self, key: &Key) -> PathBuf {
        self.root.join(key.folder())
    }
}

/// The identity of a piece of work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub(super) id: String,
    /// In its canonical form.
    pub(super) file: Option<PathBuf>,
}

impl Key {
    /// Something that there is once, such as the course. The name is the program's own: short, in lower-case ASCII.
    pub fn named(name: &str) -> Key {
        Key { id: name.to_owned(), file: None }
    }

    /// A file that says what its id is. Two files of one id are two keys.
    pub fn of_file(id: &str, file: &Path) -> Key {
        // A file that is not there has no canonical path; an absolute one is the next best.
        let path = fs::canonicalize(file).or_else(|_| absolute(file)).unwrap_or_else(|_| file.to_owned());
        Key { id: id.to_owned(), file: Some(path) }
    }

    /// Relative to the root.
    fn folder(&self) -> PathBuf {
        match &self.file {
            None => PathBuf::from(self.readable()),
            Some(path) => {
                let parts = [self.id.as_bytes(), &[u8::MAX], path.as_os_str().as_encoded_bytes()];
                Path::new(FILES).join(format!("{}{:016x}", self.prefix(), fnv1a(&parts.concat())))
            }
        }
    }

    /// With what the folders of all files of this id begin.
    pub(super) fn prefix(&self) -> String {
        format!("{}-", self.readable())
    }

    /// As much of the id as every file system takes for a name, whichever case it keeps.
    fn readable(&self) -> String {
        let safe = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let name: String = self.id.chars().take(READABLE_MAX).map(safe).collect();
        if name.is_empty() { "-".to_owned() } else { name }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_have_names_that_every_file_system_takes() {
        for id in ["", ".", "..", "con", "a/b\\c:d", "été Ω 猫", "x\0y", &"long ".repeat(1_000)] {
            let folder = Key::of_file(id, Path::new("a.ron")).folder();
            let name = folder.strip_prefix(FILES).unwrap().to_str().unwrap();
            assert!(name.len() <= READABLE_MAX + 17, "{name}");
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'), "{name}");
        }
    }

    #[test]
    fn neither_ids_nor_files_share_a_folder() {
        let of = |id, path: &str| Key::of_file(id, Path::new(path)).folder();
        assert_eq!(of("apple", "a.ron"), of("apple", "a.ron"));
        let others = [of("apple", "b.ron"), of("Apple", "a.ron"), of("apple-", "a.ron"), of("pple", "a.ron")];
        for other in others {
            assert_ne!(of("apple", "a.ron"), other);
        }
    }
}
