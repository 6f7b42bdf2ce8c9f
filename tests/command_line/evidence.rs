//! `attune map`, `score`, `words` and `heads`: what they print, and what they say where there is nothing to print.

use std::fs;

use serde_json::Value;

use crate::common::close::{Tolerance, assert_close};
use crate::common::folder::Folder;
use crate::common::models::fixture;
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
    let commands: [&[&str]; 7] = [
        &["map", ENCODER, "--sentence", DOG, "--second", FOX, "--into", "6.1:v"],
        &["map", WRITER, "--sentence", LAMP],
        &["score", ENCODER, "--sentence", DOG, "--of", "6.1:19-3"],
        &["words", WRITER, "--sentence", LAMP],
        &["heads", WRITER, texts],
        &["heads", WRITER, "--head", "2.2", "--words", "fox,the"],
        &["heads", WRITER, "--head", "2.2"],
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
    let write_to = |to: &str| said(&["heads", WRITER, &texts, "--to", "headvis", "-o", to]);
    ended(write_to(&to), 2, "the folder is not empty; name a new folder");
    ended(write_to(&texts), 2, "it is not a folder; name a new folder");
    ended(write_to(&folder.file("none/out")), 2, "there is no such folder");
    assert!(!folder.join("none").exists(), "nothing is left of what was not written");
}

#[test]
fn heads_of_translators_are_measured_over_sources_and_pairs() {
    let model = fixture("t5v11-wild").display().to_string();
    let folder = Folder::new("evidence-pairs");
    let pair = "5 6 7 8 ||| 8 9 4";
    fs::write(folder.join("texts.txt"), format!("{pair}\n{pair}\n")).expect("written");
    let found = json(&["heads", &model, &folder.file("texts.txt")]);
    let trace = json_of_trace(&model, pair);
    let heads = found["heads"].as_array().expect("heads");
    let rows = |head: usize| -> Vec<Vec<f64>> {
        let rows = trace["tensors"][format!("weights[{head}]")]["rows"].clone();
        serde_json::from_value(rows).unwrap_or_else(|why| panic!("weights[{head}]: {why}"))
    };
    let is_cross = |head: &usize| heads[*head]["name"].as_str().expect("a name").contains("cross-attention");
    let cross: Vec<usize> = (0..heads.len()).filter(is_cross).collect();
    assert!(!cross.is_empty() && cross.len() < heads.len(), "{found}");
    let (queries, keys) = (rows(cross[0]).len(), rows(cross[0])[0].len());
    let weight = |head: usize, query: usize, key: usize| rows(head)[query][key];
    let all = |query: usize, key: usize| cross.iter().map(|head| weight(*head, query, key)).sum::<f64>();
    let aligned: Vec<usize> = (0..queries)
        .map(|query| (0..keys).max_by(|a, b| all(query, *a).total_cmp(&all(query, *b))).expect("a key"))
        .collect();
    for (head, found) in heads.iter().enumerate() {
        let of = |name: &str| found[name].as_f64();
        if !is_cross(&head) {
            assert!(found.get("aligned_score").is_none() && of("qk_distance").is_some(), "{found}");
            continue;
        }
        let share = aligned.iter().enumerate().map(|(query, key)| weight(head, query, *key)).sum::<f64>();
        let expected = share / queries as f64;
        assert_close("aligned", of("aligned_score").expect("a share"), expected, Tolerance::SINGLE_PASS);
        assert!(of("monotony").is_some() && of("prev_token_score").is_none(), "{found}");
    }
    assert_close("even", found["aligned_even"].as_f64().expect("a share"), 1.0 / keys as f64, Tolerance::SINGLE);
    // Sources alone, of which the model writes the targets.
    fs::write(folder.join("sources.txt"), "5 6 7 8\n6 6\n").expect("written");
    let text = text(&["heads", &model, &folder.file("sources.txt")]);
    assert!(text.contains("has the largest share on the aligned word"), "{text}");
    let to = folder.file("out");
    let refused = said(&["heads", &model, &folder.file("texts.txt"), "--to", "headvis", "-o", &to]);
    ended(refused, 2, "HeadVis has one sentence for a text");
}

fn json_of_trace(model: &str, sentence: &str) -> Value {
    let output = attune(&["trace", model, "--sentence", sentence]);
    serde_json::from_slice(&output.stdout).expect("a trace is JSON")
}

#[test]
fn what_translators_do_not_have_says_what_to_use_instead() {
    let model = fixture("t5v11-wild").display().to_string();
    let commands: [&[&str]; 4] = [
        &["map", &model, "--sentence", "5 6"],
        &["score", &model, "--sentence", "5 6", "--of", "1.1:2-1"],
        &["words", &model, "--sentence", "5 6"],
        &["heads", &model, "--head", "1.1"],
    ];
    for command in commands {
        let (code, words) = said(command);
        assert_eq!(code, Some(2), "{words}");
        assert!(
            words.contains("this model reads a source sentence; ") && words.contains("attune heads MODEL"),
            "{words}"
        );
    }
}

#[test]
fn lessons_answer_too() {
    let found = json(&["words", "lessons/induction.ron", "--sentence", "sun cup hat sun cup"]);
    assert_eq!(found["tokens"].as_array().map(Vec::len), Some(5), "{found}");
}
