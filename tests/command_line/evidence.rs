//! `attune map`, `score`, `words` and `heads`: what they print, and what they say where there is nothing to print.

use std::fs;

use serde_json::Value;

use crate::common::close::{Tolerance, assert_close};
use crate::common::folder::Folder;
use crate::program::{attune, ended, said};

const ENCODER: &str = "lessons/frame";
const WRITER: &str = "lessons/writer";
const DOG: &str = "the dog could not catch the fox because it was too slow, so it was the [MASK] that was too slow.";
const FOX: &str = "the fox could not catch the dog because it was too slow, so it was the [MASK] that was too slow.";
const LAMP: &str = "lamp fox green lamp fox green lamp fox";
/// The columns of a terminal that tables fit into.
const COLUMNS: usize = 100;

fn json(args: &[&str]) -> Value {
    let output = attune(&[args, &["--json"]].concat());
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn text(args: &[&str]) -> String {
    let output = attune(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn tables_are_legible_in_a_terminal() {
    let folder = Folder::new("evidence-tables");
    let texts = folder.join("texts.txt");
    fs::write(&texts, format!("{LAMP}\n{LAMP}\n")).expect("written");
    let texts = texts.to_str().expect("a path");
    let commands: [&[&str]; 6] = [
        &["map", ENCODER, "--sentence", DOG, "--second", FOX, "--into", "6.1:v"],
        &["map", WRITER, "--sentence", LAMP],
        &["score", ENCODER, "--sentence", DOG, "--of", "6.1:19-3"],
        &["words", WRITER, "--sentence", LAMP],
        &["heads", WRITER, texts],
        &["heads", WRITER, "--head", "2.2", "--words", "fox,the"],
    ];
    for command in commands {
        let text = text(command);
        let widest = text.lines().max_by_key(|line| line.chars().count()).expect("lines");
        assert!(widest.chars().count() <= COLUMNS, "{command:?}: {widest}");
        assert!(text.lines().count() > 5, "{command:?}: {text}");
    }
}

#[test]
fn answers_that_are_not_named_are_the_likeliest() {
    let found = json(&["map", ENCODER, "--sentence", DOG, "--second", FOX]);
    assert_eq!((&found["answer"], &found["against"], &found["place"]), (&"fox".into(), &"dog".into(), &18.into()));
    let named = json(&[
        "map",
        ENCODER,
        "--sentence",
        DOG,
        "--second",
        FOX,
        "--answer",
        "dog",
        "--against",
        "fox",
        "--at",
        "19",
    ]);
    let [shares, others] = [&found, &named].map(|maps| maps["difference"]["words"][0][2].as_f64().expect("a number"));
    assert_close("a share is the same in both directions of the answer", shares, others, Tolerance::SINGLE_PASS);
    let alone = json(&["map", WRITER, "--sentence", LAMP]);
    assert!(alone["difference"].get("words").is_none() && alone["difference"]["off"][0][0].is_number());
    assert!(alone.get("second_tokens").is_none() && alone.get("paths").is_none());
}

#[test]
fn files_that_are_not_texts_are_refused() {
    let folder = Folder::new("evidence-refused");
    let cases: [(&str, &[u8], &str); 3] = [
        ("utf16.txt", b"\xff\xfeh\0i\0", "the file is UTF-16 text; save it as UTF-8"),
        ("latin.txt", b"the fox\nca\xe9\n", "line 2 is not UTF-8 text"),
        ("empty.txt", b"\n\n  \r\n", "no sentence of two or more tokens"),
    ];
    for (name, bytes, words) in cases {
        fs::write(folder.join(name), bytes).expect("written");
        ended(said(&["heads", WRITER, &folder.file(name)]), 2, words);
    }
}

#[test]
fn long_and_empty_lines_are_cut_and_left_out() {
    const WORDS: usize = 10_000;
    let folder = Folder::new("evidence-lines");
    let path = folder.join("texts.txt");
    let long = "fox ".repeat(WORDS);
    fs::write(&path, format!("\u{feff}{LAMP}\r\n\n   \n{long}\nthe fox")).expect("written");
    let found = json(&["heads", WRITER, path.to_str().expect("a path")]);
    assert_eq!((&found["n_sequences"], &found["n_cut"], &found["n_unread"]), (&3.into(), &1.into(), &0.into()));
    let first = &found["heads"][0];
    let counted: u64 = first["histogram"].as_array().expect("bins").iter().filter_map(Value::as_u64).sum();
    assert_eq!(counted, 3);
    assert_eq!(first["sequences"].as_array().expect("texts").len(), 3);
}

#[test]
fn a_folder_for_headvis_opens_as_recordings() {
    let folder = Folder::new("evidence-headvis");
    let (texts, out) = (folder.join("texts.txt"), folder.join("out"));
    fs::write(&texts, format!("{LAMP}\nthe fox saw the lamp\n")).expect("written");
    let [texts, to] = [&texts, &out].map(|path| path.to_str().expect("a path").to_owned());
    let found = json(&["heads", WRITER, &texts, "--to", "headvis", "-o", &to]);
    let read = |name: &str| -> Value {
        let bytes = fs::read(out.join(name)).unwrap_or_else(|why| panic!("{name}: {why}"));
        serde_json::from_slice(&bytes).expect("JSON")
    };
    let heads = found["heads"].as_array().expect("heads").len();
    assert_eq!(read("scatter_data.json").as_array().expect("points").len(), heads);
    assert_eq!(read("config.json")["n_sequences"], 2);
    let head = read("heads/L1H1.json");
    assert_eq!(head["induction_score"], found["heads"][5]["induction_score"]);
    let sequence = &head["sequences"][0];
    let tokens = sequence["tokens"].as_array().expect("tokens").len();
    let sum: f64 = sequence["attention_values"].as_array().expect("weights").iter().filter_map(Value::as_f64).sum();
    assert!(sum > 0.9 * tokens as f64 && sum < 1.01 * tokens as f64, "{sum} of {tokens} rows");
    let (code, said_of_it) = said(&["check", out.join("heads/L1H1.json").to_str().expect("a path")]);
    assert_eq!(code, Some(0), "{said_of_it}");
    ended(said(&["heads", WRITER, &texts, "--to", "headvis", "-o", &to]), 2, "the folder is not empty");
}

#[test]
fn lessons_answer_too() {
    let found = json(&["words", "lessons/induction.ron", "--sentence", "sun cup hat sun cup"]);
    assert_eq!(found["tokens"].as_array().map(Vec::len), Some(5), "{found}");
}
