//! What may stand in the place of a file, and is none.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

/// An obstacle in the way of a file, and how it is made there.
pub type Obstacle = (&'static str, fn(&Path));

pub const KINDS: [Obstacle; 7] = [
    ("a pipe", |path| assert!(Command::new("mkfifo").arg(path).status().is_ok_and(|done| done.success()))),
    ("a socket", |path| drop(UnixListener::bind(path).expect("a socket"))),
    ("a folder", |path| fs::create_dir(path).expect("a folder")),
    ("a folder with a file", |path| {
        fs::create_dir(path).expect("a folder");
        fs::write(path.join("file"), "x").expect("written");
    }),
    ("a link to a device", |path| symlink("/dev/zero", path).expect("a link")),
    ("a link to nowhere", |path| symlink("/nowhere/at/all", path).expect("a link")),
    ("a link to a folder", |path| symlink("/tmp", path).expect("a link")),
];

/// Removes whatever is there.
pub fn remove(path: &Path) {
    let Ok(there) = fs::symlink_metadata(path) else { return };
    let removed = if there.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    removed.expect("it can be removed");
}
