//! Pipes, sockets, devices, folders and links in the place of every file that the user, a folder or another file names:
//! each command ends, and says why.

use std::fs;
use std::path::Path;

use crate::common::folder::Folder;
use crate::common::lessons::{SMALL, with_cells};
use crate::common::obstacles::{KINDS, remove};
use crate::common::top::at;
use crate::program::{ended, program, ran_in_time};

/// Files of a folder with everything that is read, and the command that reads them.
const PLACES: [(&[&str], &[&str]); 9] = [
    (
        &[
            "model/config.json",
            "model/model.safetensors",
            "model/tokenizer.json",
            "model/tokenizer_config.json",
            "model/vocab.txt",
            "model/vocab.json",
        ],
        &["check", "model"],
    ),
    (&["shards/config.json", "shards/model.safetensors.index.json", "shards/model.safetensors"], &["check", "shards"]),
    (&["hub/models--org--name/refs/main", "hub/models--org--name/snapshots/abc/config.json"], &["check", "org/name"]),
    (&["v.npy", "v_metadata.tsv", "metadata.tsv"], &["check", "v.npy"]),
    (&["t/t.safetensors", "t/vocab.txt", "t/tokenizer.json", "t/config.json"], &["check", "t/t.safetensors"]),
    (&["projector.json", "table.tsv", "labels.tsv"], &["check", "projector.json"]),
    (&["lesson.ron", "glossary.ron", "picture.png", "cell.vec", "live.vec"], &["check", "lesson.ron"]),
    (&["course/one.ron", "course/glossary.ron", "course/given.vec"], &["check", "course"]),
    (&["work.attune"], &["grade", "lesson.ron", "work.attune"]),
];

fn fill(folder: &Folder) {
    let copy = |from: &str, to: &str| {
        let to = folder.join(to);
        fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
        fs::copy(at(format!("tests/fixtures/{from}")), to).expect("a copy");
    };
    for model in ["model", "hub/models--org--name/snapshots/abc"] {
        copy("pretrained/llama-wild/config.json", &format!("{model}/config.json"));
        copy("pretrained/llama-wild/model.safetensors", &format!("{model}/model.safetensors"));
    }
    copy("pretrained/llama-wild/config.json", "shards/config.json");
    fs::create_dir_all(folder.join("hub/models--org--name/refs")).expect("a folder");
    fs::write(folder.join("hub/models--org--name/refs/main"), "abc").expect("written");
    copy("vectors/plain.npy", "v.npy");
    copy("pretrained/gpt2-wild/model.safetensors", "t/t.safetensors");
    for vectors in ["cell.vec", "live.vec", "course/given.vec"] {
        copy("vectors/plain.vec", vectors);
    }
    fs::write(folder.join("table.tsv"), "0.1\t0.2\n0.3\t0.4\n").expect("written");
    let config = r#"{"embeddings": [{"tensorPath": "table.tsv", "metadataPath": "labels.tsv"}]}"#;
    fs::write(folder.join("labels.tsv"), "one\ntwo\n").expect("written");
    fs::write(folder.join("projector.json"), config).expect("written");
    let cells = r#"
        Text(id: "shown", md: "![](picture.png) {{ vectors(\"live.vec\") }}"),
        Code(id: "read", src: "vectors(\"cell.vec\")"),
    "#;
    fs::write(folder.join("lesson.ron"), with_cells(SMALL, cells)).expect("written");
    let given = SMALL.replace("SkipGram(dim: 6, epochs: 3)", "File(\"given.vec\")");
    fs::write(folder.join("course/one.ron"), given).expect("written");
}

#[test]
fn nothing_but_a_regular_file_is_waited_for_or_read() {
    for (files, args) in PLACES {
        for file in files {
            for (kind, make) in KINDS {
                let folder = Folder::new("obstacle");
                fill(&folder);
                let path = folder.join(file);
                remove(&path);
                make(&path);
                let what = format!("{kind} as {file}");
                check(&folder.0, args, &what);
            }
        }
    }
}

#[track_caller]
fn check(folder: &Path, args: &[&str], what: &str) {
    let mut command = program();
    let (code, said) = ran_in_time(command.args(args).current_dir(folder).env("HF_HOME", folder));
    assert!(matches!(code, Some(0..=2)), "{what}: {code:?}\n{said:.2000}");
    assert!(!said.contains("panicked"), "{what}: {said:.2000}");
}

/// A pipe that the command names, and one that its file names.
const NAMED: [(&str, &[&str], &str); 2] = [
    ("pipe.txt", &["check", "pipe.txt"], "pipe.txt: this is not a regular file"),
    (
        "labels.tsv",
        &["export", "projector.json", "--to", "web", "-o", "page.html"],
        "projector.json: labels.tsv: found a pipe or a device",
    ),
];

#[test]
fn the_file_in_whose_place_a_pipe_stands_is_named() {
    let (_, make) = KINDS[0];
    for (file, args, words) in NAMED {
        let folder = Folder::new("obstacle");
        fill(&folder);
        let path = folder.join(file);
        remove(&path);
        make(&path);
        ended(ran_in_time(program().args(args).current_dir(&folder.0)), 1, words);
    }
}
