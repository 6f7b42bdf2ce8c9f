//! `attune check`, `neighbours`, `trace --words` and `export` on files of word vectors, and the vectors of lessons.

use std::fs;

use serde_json::Value;

use crate::common::close::{Tolerance, assert_close};
use crate::common::folder::Folder;
use crate::common::top::at;
use crate::program::{ended, said};

const SMALL: &str = "tests/fixtures/small.ron";

fn fixture(name: &str) -> String {
    at(format!("tests/fixtures/vectors/{name}")).display().to_string()
}

#[test]
fn neighbours_are_printed_as_json() {
    let path = fixture("plain.bin");
    let (code, text) = said(&["neighbours", &path, "king", "--with-words", "--json", "--count", "1", "--quiet"]);
    let answer: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert!(code == Some(0) && answer["neighbours"][0]["word"] == "king", "{text}");
}

/// The excerpt of the course is what its text gives, bit for bit.
#[test]
fn the_excerpt_is_made_again_from_its_text() {
    let (folder, shipped) = (Folder::new("excerpt"), at("lessons/excerpt.vec"));
    let to = folder.file("excerpt.vec");
    let source = at("examples/excerpt.ron").display().to_string();
    ended(said(&["export", &source, "--to", "word2vec-text", "-o", &to, "--quiet"]), 0, "");
    let shipped = fs::read(&shipped).expect("it is there");
    assert!(shipped.len() < 300_000 && fs::read(&to).expect("written") == shipped);
    for (question, answer) in [("king - man + woman", "queen"), ("paris - france + italy", "rome")] {
        let (code, text) = said(&["neighbours", &to, question, "--count", "1", "--quiet"]);
        assert!(code == Some(0) && text.trim_end().ends_with(answer), "{question}: {text}");
    }
}

#[test]
fn two_files_are_turned_onto_each_other() {
    let folder = Folder::new("compared");
    let path = fixture("plain.bin");
    let turned = folder.file("turned.vec");
    ended(said(&["export", &path, "--to", "word2vec-text", "-o", &turned, "--quiet"]), 0, "");
    // The same space in a mirror, without its last word, and with one word elsewhere.
    let text = fs::read_to_string(&turned).expect("written");
    let lines = text.lines().skip(1).take(11).map(|line| {
        let (word, numbers) = line.split_once(' ').expect("a word");
        let numbers: Vec<String> = numbers.split(' ').rev().map(str::to_owned).collect();
        let sign = |at: usize| if word == "queen" && at.is_multiple_of(2) { "-" } else { "" };
        let numbers = numbers.iter().enumerate().map(|(at, x)| format!("{}{x}", sign(at)).replace("--", ""));
        format!("{word} {}\n", numbers.collect::<Vec<_>>().join(" "))
    });
    fs::write(&turned, format!("11 5\n{}", lines.collect::<String>())).expect("written");
    let (code, text) = said(&["compare", &path, &turned, "--count", "2", "--quiet"]);
    assert!(code == Some(0) && text.starts_with("11 words are in both files; their mean cosine"), "{text}");
    let most = text.split_once("moved most:\n").and_then(|(_, rest)| rest.lines().next());
    assert!(most.is_some_and(|line| line.ends_with("\tqueen")) && text.lines().count() == 7, "{text}");
    let (code, text) = said(&["compare", &path, &turned, "--json", "--quiet"]);
    let answer: Value = serde_json::from_str(&text).expect("JSON");
    assert!(code == Some(0) && answer["shared"] == 11 && answer["moved_most"][0]["word"] == "queen", "{text}");
    let cosine = |list: &str| answer[list][0]["cosine"].as_f64().expect("a number");
    assert!(cosine("moved_most") < answer["mean_cosine"].as_f64().expect("a number"), "{text}");
    assert!(cosine("moved_least") > 0.9, "{text}");
}

/// Wrong names are told before anything is drawn.
#[test]
fn columns_that_a_file_does_not_have_are_refused_in_words() {
    let folder = Folder::new("columns");
    fs::write(folder.join("x.tsv"), "1\t2\n3\t4\n5\t6\n").expect("written");
    fs::write(folder.join("x_metadata.tsv"), "word\tpart\tcount\na\tnoun\t1\nb\tverb\t2\nc\tnoun\t3\n")
        .expect("written");
    let (file, picture) = (folder.file("x.tsv"), folder.file("x.png"));
    let render = |file: &str, option: &str, column: &str| said(&["render", file, "-o", &picture, option, column]);
    for ((code, text), says) in [
        (
            render(&file, "--colour-by", "prat"),
            "--colour-by: the file has no column \"prat\"; it has “rank”, “part”, “count”; did you mean \"part\"?",
        ),
        (
            render(&file, "--size-by", "part"),
            "--size-by: the file has no column of numbers \"part\"; it has “rank”, “count”",
        ),
    ] {
        assert!(code == Some(2) && text.contains(says), "{text}");
    }
}

#[test]
fn a_link_to_a_file_that_is_not_beside_the_lesson_is_an_issue() {
    let folder = Folder::new("linked");
    let text =
        fs::read_to_string(at(SMALL)).expect("a fixture").replace("# Sinking", "[Open](attune:file/x.vec) # Sinking");
    fs::write(folder.join("small.ron"), text).expect("written");
    ended(said(&["check", &folder.file("small.ron")]), 1, "there is no file \"x.vec\" beside the lesson");
    fs::write(folder.join("x.vec"), "no vectors").expect("written");
    ended(said(&["check", &folder.file("small.ron")]), 1, "\"x.vec\" is not a file of vectors");
    fs::copy(fixture("plain.vec"), folder.join("x.vec")).expect("a copy");
    ended(said(&["check", &folder.file("small.ron")]), 0, "");
}

#[test]
fn words_are_traced_with_their_vectors_cosines_and_neighbours() {
    let path = fixture("plain.bin");
    let (code, text) = said(&["trace", &path, "--words", "king,queen", "--quiet"]);
    let answer: Value = serde_json::from_str(&text).expect("JSON");
    assert!(code == Some(0) && answer["count"] == 12 && answer["width"] == 5, "{text}");
    let king = &answer["words"][0];
    let numbers: Vec<f64> = king["vector"].as_array().expect("numbers").iter().filter_map(Value::as_f64).collect();
    let norm = numbers.iter().map(|x| x * x).sum::<f64>().sqrt();
    assert_eq!(numbers.len(), 5, "{text}");
    assert_close("the norm", king["norm"].as_f64().expect("a number"), norm, Tolerance::SINGLE);
    let nearest = &king["neighbours"].as_array().expect("neighbours")[0];
    let queen = king["neighbours"].as_array().expect("neighbours").iter().find(|near| near["word"] == "queen");
    let [listed, told] =
        [&queen.expect("there")["cosine"], &answer["cosines"][0][1]].map(|x| x.as_f64().expect("a number"));
    assert_eq!(nearest["word"], "man", "{text}");
    assert_close("the cosine", listed, told, Tolerance::SINGLE);
}

/// From one format to the next and back to the first, whose bytes are the same.
#[test]
fn files_of_vectors_are_converted() {
    let folder = Folder::new("convert");
    let mut file = fixture("plain.bin");
    for (format, ending) in [
        ("word2vec-text", "vec"),
        ("glove", "txt"),
        ("npz", "npz"),
        ("npy", "npy"),
        ("safetensors", "safetensors"),
        ("tsv", "tsv"),
        ("word2vec", "bin"),
    ] {
        let to = folder.file(&format!("x.{ending}"));
        ended(said(&["export", &file, "--to", format, "-o", &to, "--quiet"]), 0, "12 vectors of 5 numbers");
        file = to;
    }
    assert_eq!(fs::read(&file).expect("written"), fs::read(fixture("plain.bin")).expect("a fixture"));
    ended(said(&["check", &folder.file("x_config.json")]), 0, "ok, 12 vectors of 5 numbers (projector, TSV, text)");
    let to = folder.file("y.txt");
    ended(
        said(&["export", &fixture("spaced.bin"), "--to", "glove", "-o", &to]),
        0,
        "2 words are written with _ in place of spaces",
    );
    assert!(fs::read_to_string(&to).expect("written").contains("\nNew_York "));
}

#[test]
fn vectors_of_lessons_and_models_are_written_by_kind() {
    let folder = Folder::new("kinds");
    let export = |source: &str, args: &[&str], name: &str| {
        let to = folder.file(name);
        ended(said(&[&["export", source, "-o", &to, "--quiet"], args].concat()), 0, "");
        ended(said(&["check", &to]), 0, "")
    };
    let all = export(SMALL, &["--to", "npz"], "all.npz");
    let words = export(SMALL, &["--to", "word2vec"], "words.bin");
    let layers = export(SMALL, &["--to", "safetensors", "--vectors", "layers"], "layers.safetensors");
    assert!(
        all.contains("repeated word") && !words.contains("repeated word") && !layers.contains("repeated word"),
        "{all}"
    );
    let (code, text) = said(&["neighbours", &folder.file("layers.safetensors"), "seal@1.2:0", "--quiet"]);
    assert!(code == Some(0) && text.contains('@'), "{text}");
    let model = at("tests/fixtures/pretrained/bert-wild").display().to_string();
    let table = export(&model, &["--to", "npy", "--vectors", "static"], "model.npy");
    assert!(table.contains("numbers (NumPy, .npy, <f4)"), "{table}");
}

/// The number of a row is no word: rows of two arrays are not paired by it.
#[test]
fn rows_without_words_are_not_compared() {
    let folder = Folder::new("decades");
    for name in ["1900-w.npy", "1990-w.npy"] {
        fs::copy(fixture("plain.npy"), folder.join(name)).expect("copied");
    }
    let compared = |first: &str, second: &str| said(&["compare", &folder.file(first), &folder.file(second), "--quiet"]);
    ended(compared("1900-w.npy", "1990-w.npy"), 1, "NAME_metadata.tsv");
    fs::write(folder.join("1900-vocab.pkl"), b"\x80\x04]\x94.").expect("written");
    ended(compared("1900-w.npy", "1990-w.npy"), 1, "`1900-vocab.pkl`, a Python pickle");
    let words: Vec<String> = (0..12).map(|i| format!("w{i}\n")).collect();
    fs::write(folder.join("1900-vocab.txt"), words.concat()).expect("written");
    ended(compared("1900-w.npy", "1990-w.npy"), 1, "1990-w.npy: the rows have no words");
    let turned: String = words.iter().rev().map(String::as_str).collect();
    fs::write(folder.join("1990-vocab.txt"), turned).expect("written");
    ended(compared("1900-w.npy", "1990-w.npy"), 0, "12 words are in both files");
}

/// A path that leads to no lesson says what is there before anything of a lesson's form.
#[test]
fn foreign_files_are_named_whatever_they_are_opened_as() {
    let folder = Folder::new("foreign");
    let files: [(&str, &[u8], &str); 4] = [
        ("a.vec", b"version https://git-lfs.github.com/spec/v1\noid sha256:4d\nsize 9\n", "git lfs pull"),
        ("a.txt", b"<!DOCTYPE html>\n<html><head><title>404</title></head></html>\n", "a web page"),
        ("a.gguf", b"GGUF\x03\0\0\0", "a GGUF model"),
        ("a.pkl", b"\x80\x04\x95\xaf", "a pickled Python object"),
    ];
    for (name, bytes, words) in files {
        fs::write(folder.join(name), bytes).expect("written");
        ended(said(&["check", &folder.file(name)]), 1, words);
        ended(said(&["neighbours", &folder.file(name), "king"]), 1, words);
    }
    fs::write(folder.join("a.csv"), "king,0.5,1\nqueen,0.25,2\n").expect("written");
    ended(said(&["check", &folder.file("a.csv")]), 0, "ok, 2 vectors of 2 numbers (CSV, text, text)");
}
