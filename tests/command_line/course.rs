//! The course wherever the program is started: that of a folder `lessons`, or the program's own.

use std::fs;

use crate::common::folder::Folder;
use crate::common::top::text;
use crate::program::{ended, program, ran};

/// Runs the program in an empty folder, which is its home too.
fn run(folder: &Folder, args: &[&str]) -> (Option<i32>, String) {
    let home = folder.join("home");
    ran(program().args(args).current_dir(&folder.0).env("XDG_DATA_HOME", &home).env("HOME", &home))
}

#[test]
fn a_lesson_of_the_course_is_found_by_its_name_anywhere() {
    let folder = Folder::new("anywhere");
    let said = ended(run(&folder, &["trace", "dot_product", "--quiet"]), 0, "");
    assert!(said.contains("\"lesson\":\"dot-product\"") || said.contains("\"lesson\":\"dot_product\""), "{said:.200}");
    // Once more, with all files there; one that was changed is put back.
    let file = folder.join("home/attune/built-in/lessons/dot_product.ron");
    let text = fs::read_to_string(&file).expect("the lesson");
    fs::write(&file, "changed").expect("a change");
    assert_eq!(run(&folder, &["trace", "dot_product", "--quiet"]).0, Some(0));
    assert_eq!(fs::read_to_string(&file).expect("the lesson"), text);
    ended(run(&folder, &["trace", "dot_prodct"]), 1, "");
}

#[test]
fn lessons_of_a_folder_come_first() {
    let folder = Folder::new("first");
    fs::create_dir_all(folder.join("lessons")).expect("a folder");
    fs::write(folder.join("lessons/apple.ron"), "no lesson").expect("a file");
    ended(run(&folder, &["check", "apple"]), 1, "lessons/apple.ron");
    let (code, said) = run(&folder, &["check"]);
    assert!(code == Some(1) && said.matches("has issues").count() == 1, "{said}");
    assert!(!folder.join("home/attune/built-in").exists(), "the program's own course is not asked for");
}

#[test]
fn a_lesson_is_copied_to_be_edited() {
    let folder = Folder::new("copied");
    ended(run(&folder, &["new", "my-words.ron", "--from", "words"]), 0, "");
    let text = fs::read_to_string(folder.join("my-words.ron")).expect("the copy");
    assert!(text.contains("id: \"my-words\"") && text.len() > 10_000, "{text:.300}");
    let lesson = attune_core::lesson::parse("my-words.ron", &text).unwrap_or_else(|issues| panic!("{issues:?}"));
    assert_eq!(lesson.id, "my-words");
    // Its links to other lessons lead to those of the program.
    ended(run(&folder, &["new", "my-apple.ron", "--from", "apple"]), 0, "");
    let text = fs::read_to_string(folder.join("my-apple.ron")).expect("the copy");
    assert!(text.contains("attune:lesson/words"));
    ended(run(&folder, &["check", "my-apple.ron"]), 0, "");
    fs::write(folder.join("my-apple.ron"), text.replace("attune:lesson/words", "attune:lesson/wrds")).expect("a file");
    ended(run(&folder, &["check", "my-apple.ron"]), 1, "there is no lesson \"wrds\"");
    ended(run(&folder, &["new", "other.ron", "--from", "nothing-like-that"]), 1, "no such file");
}

#[test]
fn an_installed_program_has_licences_a_manual_and_completions() {
    let folder = Folder::new("installed");
    let licences = ended(run(&folder, &["licences"]), 0, "");
    for part in ["MIT License", "Apache License", "SIL OPEN FONT LICENSE", "faer ", "bevy ", "egui "] {
        assert!(licences.contains(part), "{part} is missing");
    }
    let (_, manual) = run(&folder, &["manual"]);
    for part in [".TH attune", "attune check", "attune trace", "\\-\\-state", "Exit codes", "attune export"] {
        assert!(manual.contains(part), "{part} is missing:\n{manual}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let (code, script) = run(&folder, &["completions", shell]);
        assert!(code == Some(0) && script.contains("attune") && script.contains("sentence"), "{shell}: {script:.300}");
    }
}

/// Every library of the manifest is among the licences, in the version that is locked; else see `examples/licences.rs`.
#[test]
fn the_licences_are_those_of_the_libraries_in_use() {
    let manifests = ["", "src/engine/", "src/core/", "src/view/"].map(|folder| text(format!("{folder}Cargo.toml")));
    let (lock, licences) = (text("Cargo.lock"), text("assets/licences.txt"));
    let sections = manifests.iter().flat_map(|manifest| manifest.split("\n[")).filter(|section| {
        let name = section.split(']').next().unwrap_or_default();
        // What the workspace names for tests alone is in no crate's own list.
        name == "dependencies" || (name.ends_with(".dependencies") && name != "workspace.dependencies")
    });
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    let names: Vec<&str> = sections
        .flat_map(str::lines)
        .filter_map(|line| line.split_once(" = ").map(|(name, _)| name.trim_end_matches(".workspace")))
        .filter(|name| name.chars().all(is_name) && !name.starts_with("attune-"))
        .collect();
    assert!(names.len() > 25, "{names:?}");
    for name in names {
        let of_name = format!("name = \"{name}\"\nversion = \"");
        let versions: Vec<&str> = lock.split(&of_name).skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let is_listed = |version: &&str| licences.lines().any(|line| line.starts_with(&format!("{name} {version}")));
        assert!(versions.iter().any(is_listed), "{name} {versions:?} is not among the licences");
    }
}
