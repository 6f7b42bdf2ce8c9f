//! Prints the program's libraries with their licences, as shown by `attune licences`:
//!
//!     cargo metadata --format-version 1 | cargo run --no-default-features --example licences > assets/licences.txt

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::io;
use std::path::Path;

use serde_json::Value;

/// Licences whose texts are not repeated, because they are printed with the program's own.
const OWN: [&str; 2] = ["MIT", "Apache-2.0"];

fn main() -> Result<(), Box<dyn Error>> {
    let metadata: Value = serde_json::from_reader(io::stdin())?;
    let by_id: BTreeMap<&str, &Value> = list(&metadata["packages"]).map(|it| (text(&it["id"]), it)).collect();
    let mut texts: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    let mut lines = BTreeSet::new();
    // The program's own crates are those without a source.
    let libraries = linked(&metadata).into_iter().filter_map(|id| by_id.get(id));
    for package in libraries.filter(|package| !package["source"].is_null()) {
        let [name, version, licence] = ["name", "version", "license"].map(|field| text(&package[field]));
        let authors: Vec<&str> = list(&package["authors"]).map(text).collect();
        let by = if authors.is_empty() { String::new() } else { format!(", by {}", authors.join(", ")) };
        lines.insert(format!("{name} {version}{by}: {licence}. {}", text(&package["repository"])));
        if !licence.split(|c: char| !(c.is_alphanumeric() || "-.".contains(c))).any(|part| OWN.contains(&part)) {
            for found in licence_texts(Path::new(text(&package["manifest_path"])))? {
                texts.entry(found).or_default().insert(name);
            }
        }
    }
    lines.iter().for_each(|line| println!("{line}"));
    for (licence, names) in &texts {
        let names: Vec<&str> = names.iter().copied().collect();
        println!("\n== {}\n\n{}", names.join(", "), licence.trim());
    }
    Ok(())
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns the packages that become part of the program, without those for builds and tests.
fn linked(metadata: &Value) -> BTreeSet<&str> {
    let nodes: BTreeMap<&str, &Value> =
        list(&metadata["resolve"]["nodes"]).map(|node| (text(&node["id"]), node)).collect();
    let root = text(&metadata["resolve"]["root"]);
    let (mut found, mut left) = (BTreeSet::new(), vec![root]);
    while let Some(id) = left.pop() {
        let is_linked = |of: &&Value| list(&of["dep_kinds"]).any(|kind| kind["kind"].is_null());
        let needs = nodes.get(id).into_iter().flat_map(|node| list(&node["deps"]));
        let needs = needs.filter(is_linked).map(|of| text(&of["pkg"]));
        left.extend(needs.filter(|id| found.insert(*id)));
    }
    found.remove(root);
    found
}

/// Returns the licence texts in the folder of a package's manifest.
fn licence_texts(manifest: &Path) -> io::Result<Vec<String>> {
    let is_licence = |name: &str| ["LICENSE", "LICENCE", "COPYING", "UNLICENSE"].iter().any(|it| name.starts_with(it));
    let mut files: Vec<_> = fs::read_dir(manifest.parent().unwrap_or(Path::new(".")))?.flatten().collect();
    files.retain(|file| is_licence(&file.file_name().to_string_lossy().to_uppercase()) && file.path().is_file());
    files.sort_by_key(fs::DirEntry::file_name);
    files.iter().map(|file| fs::read_to_string(file.path())).collect()
}
