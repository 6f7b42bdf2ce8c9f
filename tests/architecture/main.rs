//! The house in order: what the compiler does not hold, its structure and its budget, and pages for people that are
//! true.
//!
//! The layers are crates, `engine <- core <- view <- ui <- {panels, stage} <- attune`, and so the compiler holds them.

mod budget;
mod pages;
mod source;
mod structure;
mod tables;
mod tolerances;

use std::fs;
use std::path::{Path, PathBuf};

/// The sources in a folder.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let paths = source::files(root, &folder.to_string_lossy(), "rs").into_iter().map(|path| root.join(path));
    let found: Vec<_> = paths.map(|path| (path.clone(), fs::read_to_string(path).expect("UTF-8"))).collect();
    assert!(!found.is_empty(), "{} has no sources", folder.display());
    found
}

/// Lines of code that contain `text`, without comments, as `file:line: text`.
fn lines_with(sources: &[(PathBuf, String)], text: &str) -> Vec<String> {
    let lines = sources.iter().flat_map(|(path, source)| {
        source.lines().enumerate().map(move |(i, line)| (path, i + 1, line.split("//").next().unwrap_or_default()))
    });
    lines
        .filter(|(_, _, line)| line.contains(text))
        .map(|(path, number, line)| format!("{}:{number}: {}", path.display(), line.trim()))
        .collect()
}

fn src(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder)
}

/// Each would be a line of a manifest, and no circle that the compiler refuses.
#[test]
fn panels_and_stage_do_not_depend_on_each_other_nor_panels_on_bevy() {
    for (of, others) in [("panels", ["attune-stage", "bevy"]), ("stage", ["attune-panels", "egui_dock"])] {
        let manifest = fs::read_to_string(src("app").join(of).join("Cargo.toml")).expect("a manifest");
        let found: Vec<&str> =
            manifest.lines().filter(|line| others.iter().any(|other| line.starts_with(other))).collect();
        assert!(found.is_empty(), "app/{of} depends on {}", found.join("\n"));
    }
}

#[test]
fn what_panels_share_names_egui_alone() {
    for egui_only in ["widgets", "text", "actions"] {
        let found = lines_with(&sources(&src("app/ui").join(egui_only)), "bevy");
        assert!(found.is_empty(), "app/ui/{egui_only} names bevy:\n{}", found.join("\n"));
    }
}

#[test]
fn numerics_is_pure() {
    let sources = sources(&src("engine/numerics"));
    // Threads that end within the call are as pure as a loop; others are not.
    let threads = ["thread::spawn", "thread::Builder", "thread::sleep", "thread::current", "thread_local!"];
    let others = ["std::fs", "std::io", "std::time", "std::env", "serde_json", "rand::rng()", "println!"];
    for impure in threads.into_iter().chain(others) {
        let mut found = lines_with(&sources, impure);
        found.retain(|line| !line.contains("SKIPPED")); // a test that cannot run here says so
        assert!(found.is_empty(), "numerics uses {impure}:\n{}", found.join("\n"));
    }
}

/// Colours have one home, so that a theme can be read and changed in one place.
#[test]
fn colours_live_in_the_theme() {
    let sources: Vec<_> = sources(&src("app"))
        .into_iter()
        .filter(|(path, _)| !path.components().any(|c| c.as_os_str() == "theme"))
        .collect();
    for literal in ["Color32::from_rgb", "Color32::from_gray", "Color::srgb", "Color32::from_hex"] {
        let found = lines_with(&sources, literal);
        assert!(found.is_empty(), "a colour outside the theme:\n{}", found.join("\n"));
    }
}

/// A file that is named by a user or by another file may be a pipe or a device: `attune_engine::files` opens it without
/// waiting and reads it up to a bound.
#[test]
fn only_one_module_opens_files_to_read_them() {
    /// Waits until the disk has a folder's names: nothing is read.
    const SYNCED: &str = "File::open(folder)?.sync_all()";
    let mut sources = sources(&src(""));
    sources.retain(|(path, _)| !path.ends_with("engine/files.rs"));
    for (_, source) in &mut sources {
        // The tests of a module read what they wrote.
        source.truncate(source.find("#[cfg(test)]\nmod tests {").unwrap_or(source.len()));
    }
    for reader in ["File::open", "fs::read(", "fs::read_to_string", ".read(true)"] {
        let mut found = lines_with(&sources, reader);
        found.retain(|line| !line.contains(SYNCED));
        assert!(found.is_empty(), "{reader} outside of attune_engine::files:\n{}", found.join("\n"));
    }
}
