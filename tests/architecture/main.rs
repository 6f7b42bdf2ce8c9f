//! The layers point one way: `numerics <- {quantity, code, pretrained} <- lesson <- kernel <- view_model <- {export, app} <- cli`,
//! and `store <- {app, cli}`. `fnv`, `nearest`, `numbers`, `panics`, `pattern` and
//! `whole_file` are leaves that every layer may name.

mod circles;

use std::fs;
use std::path::{Path, PathBuf};

/// Each layer with the layers that it may name.
const LAYERS: &[(&str, &[&str])] = &[
    ("numerics", &[]),
    ("quantity", &["numerics"]),
    ("code", &["numerics"]),
    ("pretrained", &["numerics"]),
    ("lesson", &["numerics", "code", "pretrained"]),
    ("kernel", &["numerics", "quantity", "code", "pretrained", "lesson"]),
    ("view_model", &["numerics", "quantity", "code", "pretrained", "lesson", "kernel"]),
    ("export", &["numerics", "quantity", "code", "pretrained", "lesson", "kernel", "view_model"]),
    ("store", &[]),
    ("app", &["numerics", "quantity", "code", "pretrained", "lesson", "kernel", "view_model", "export", "store"]),
    (
        "cli",
        &["numerics", "quantity", "code", "pretrained", "lesson", "kernel", "view_model", "export", "store", "app"],
    ),
];

const LEAVES: &[&str] = &["fnv.rs", "nearest.rs", "numbers.rs", "panics.rs", "pattern.rs", "whole_file.rs"];

fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder of sources").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("UTF-8");
            found.push((path, text));
        }
    }
    found.sort();
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

#[test]
fn every_folder_is_a_layer() {
    for entry in fs::read_dir(src("")).unwrap().flatten().filter(|entry| entry.path().is_dir()) {
        let name = entry.file_name().into_string().unwrap();
        assert!(LAYERS.iter().any(|(layer, _)| *layer == name), "src/{name} is no layer");
    }
}

#[test]
fn layers_point_one_way() {
    for (layer, may_name) in LAYERS {
        let sources = sources(&src(layer));
        for (other, _) in LAYERS.iter().filter(|(other, _)| other != layer && !may_name.contains(other)) {
            let found = lines_with(&sources, &format!("crate::{other}"));
            assert!(found.is_empty(), "{layer} names {other}:\n{}", found.join("\n"));
        }
        // Forms that would slip past the search above.
        for hidden in ["crate::{", "super::super", "crate as", "std::{"] {
            let found = lines_with(&sources, hidden);
            assert!(found.is_empty(), "{layer} hides its imports:\n{}", found.join("\n"));
        }
    }
}

#[test]
fn leaves_name_no_layer() {
    for leaf in LEAVES {
        let path = src(leaf);
        let source = fs::read_to_string(&path).expect("UTF-8");
        let found = lines_with(&[(path, source)], "crate::");
        assert!(found.is_empty(), "{leaf} is no leaf:\n{}", found.join("\n"));
    }
}

#[test]
fn only_the_app_names_bevy_and_egui() {
    for (layer, _) in LAYERS.iter().filter(|(layer, _)| *layer != "app") {
        let sources = sources(&src(layer));
        for name in ["bevy", "egui", "wgpu", "winit"] {
            let found = lines_with(&sources, &format!("{name}::"));
            assert!(found.is_empty(), "{layer} names {name}:\n{}", found.join("\n"));
        }
    }
}

#[test]
fn panels_and_stage_do_not_know_each_other() {
    for egui_only in ["panels", "widgets", "text/prose", "text/editor"] {
        let sources = sources(&src("app").join(egui_only));
        for name in ["bevy", "app::stage", "app::shell", "app::work", "app::render"] {
            let found = lines_with(&sources, name);
            assert!(found.is_empty(), "app/{egui_only} names {name}:\n{}", found.join("\n"));
        }
    }
    for other in ["app::panels", "app::work", "app::render"] {
        let found = lines_with(&sources(&src("app/stage")), other);
        assert!(found.is_empty(), "the stage names {other}:\n{}", found.join("\n"));
    }
}

#[test]
fn numerics_is_pure() {
    let sources = sources(&src("numerics"));
    // Threads that end within the call are as pure as a loop; others are not.
    let threads = ["thread::spawn", "thread::Builder", "thread::sleep", "thread::current", "thread_local!"];
    let others = ["std::fs", "std::io", "std::time", "std::env", "serde", "rand::rng()", "println!"];
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

/// The largest import circle within a layer.
const CIRCLE_MOST: usize = 3;

#[test]
fn no_import_circle_is_large() {
    let below_src = |path: &Path| path.strip_prefix(src("")).expect("a file of src").to_string_lossy().into_owned();
    for (layer, _) in LAYERS {
        let files: Vec<(String, String)> =
            sources(&src(layer)).into_iter().map(|(path, text)| (below_src(&path), text)).collect();
        let circles = circles::circles(&circles::imports(&files));
        let largest = circles.iter().max_by_key(|circle| circle.len());
        let found = largest.map_or(0, |circle| circle.len());
        assert!(
            found <= CIRCLE_MOST,
            "{layer}: {found} files import each other, {CIRCLE_MOST} may at most: {largest:#?}"
        );
    }
}

/// Lines of panels that name what only view models should. This number only shrinks.
const MEANINGS_IN_PANELS: usize = 10;

/// A panel shows a view model and asks for commands; what numbers and lessons mean is decided below it.
#[test]
fn panels_name_neither_numerics_nor_lessons() {
    let panels = sources(&src("app/panels"));
    let found = ["crate::numerics", "crate::lesson"].map(|layer| lines_with(&panels, layer)).concat();
    assert!(found.len() <= MEANINGS_IN_PANELS, "panels name numerics or lessons:\n{}", found.join("\n"));
}
