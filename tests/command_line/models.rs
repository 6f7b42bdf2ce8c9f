//! `attune check`, `trace` and `export` on models that people have, as a shell sees them.

use std::fs;

use crate::common::folder::Folder;
use crate::common::models::{adding, shape, with_tokenizer, without_words, zeros};
use crate::common::top::at;
use crate::program::{ended, said};

#[test]
fn the_command_prints_what_it_found() {
    let folder = with_tokenizer("gpt2-wild");
    let path = folder.0.display().to_string();
    let text = ended(said(&["check", &path]), 0, "");
    let line = format!(
        "{path}: model.safetensors: 151992 bytes, SHA-256 {}",
        "ae34d4455ff16e23b2595fd42c016f90625d423a9657350a74610976027b83fb"
    );
    assert!(text.lines().any(|found| found == line), "{text}");
    assert!(text.lines().last().is_some_and(|last| last.starts_with(&format!("{path}: ok, "))), "{text}");
    // Weights that are no longer those of the file.
    let weights = folder.join("model.safetensors");
    let mut bytes = fs::read(&weights).expect("the weights");
    bytes.truncate(bytes.len() - 4);
    fs::write(&weights, bytes).expect("written");
    let (code, text) = said(&["check", &path]);
    assert!(
        code == Some(1) && text.contains("model.safetensors: found ") && text.contains("download it again"),
        "{text}"
    );
}

#[test]
fn a_sentence_that_is_given_is_run_too() {
    let folder = with_tokenizer("bert-wild");
    let path = folder.0.display().to_string();
    let text = ended(said(&["check", &path, "--ids", "2,45,311"]), 0, "3 tokens, ");
    assert!(text.contains("(ids 2,45,311); all numbers are finite"), "{text}");
    ended(
        said(&["check", &path, "--ids", "2,600"]),
        2,
        "--ids: there is no token 600; the model has tokens from 0 to 599",
    );
    // The special tokens that the tokenizer adds are there too.
    let (code, text) = said(&["check", &path, "--sentence", "a"]);
    assert!(code == Some(0) && text.contains(r#"the sentence "a": 3 tokens, [CLS] a [SEP] (ids "#), "{text}");
}

/// The same fault that `examine` finds.
#[test]
fn a_model_whose_numbers_overflow_fails() {
    let folder = with_tokenizer("gpt2-wild");
    let weights = folder.join("model.safetensors");
    let mut bytes = fs::read(&weights).expect("the weights");
    let length: [u8; 8] = bytes[..8].try_into().expect("the length of the header");
    let data = 8 + usize::try_from(u64::from_le_bytes(length)).expect("a small file");
    let header: serde_json::Value = serde_json::from_slice(&bytes[8..data]).expect("the header");
    let offsets = &header["transformer.h.1.mlp.c_proj.weight"]["data_offsets"];
    let [begin, end] = [0, 1].map(|i| data + offsets[i].as_u64().expect("an offset") as usize);
    for number in bytes[begin..end].as_chunks_mut::<4>().0 {
        *number = (f32::from_le_bytes(*number) * 1e38).to_le_bytes();
    }
    fs::write(&weights, bytes).expect("written");
    ended(said(&["check", &folder.0.display().to_string()]), 1, "self-test: the output of layer 2 is not finite");
}

#[test]
fn a_small_vocabulary_is_begun_with_its_own_words() {
    let path = at("tests/fixtures/forms/decoder.ron").display().to_string();
    let folder = Folder::new("exported-by-command");
    let out = folder.join("model").display().to_string();
    ended(said(&["export", &path, "--to", "checkpoint", "-o", &out]), 0, "GPT-2: 2 layers of 2 heads, 12 wide");
    let lesson = attune_core::lesson::read(out.as_ref()).unwrap_or_else(|issues| panic!("{issues:?}"));
    assert_eq!(lesson.sentences, [["one two three four five six"]]);
    ended(said(&["check", &out]), 0, "10 pieces of the tokenizer for 10 rows");
    // A second time there is something in it; and a form that fits nothing is refused at its field.
    ended(said(&["export", &path, "--to", "checkpoint", "-o", &out]), 1, "the folder is not empty");
    let path = path.replace("decoder", "reversal");
    let (code, text) = said(&["export", &path, "--to", "checkpoint", "-o", &folder.join("b").display().to_string()]);
    assert!(
        code == Some(1)
            && text.contains("reversal.ron:")
            && text.contains("norm: found None; expected Post, as in BART's shape"),
        "{text}"
    );
    assert!(!folder.join("b").exists());
}

#[test]
fn the_encoder_of_the_course_leaves_its_lesson_as_it_came() {
    let folder = Folder::new("encoder-as-it-came");
    let out = folder.join("model").display().to_string();
    let lesson = at("lessons/encoder.ron").display().to_string();
    ended(said(&["export", &lesson, "--to", "checkpoint", "-o", &out]), 0, "EuroBERT: 4 layers of 4 heads, 128 wide");
    for name in ["config.json", "model.safetensors"] {
        let bytes = fs::read(folder.join("model").join(name)).expect("a file");
        assert!(bytes == fs::read(at("lessons/depth").join(name)).expect("a file"), "{name}");
    }
}

#[test]
fn every_command_says_why_and_runs() {
    let small = [8, 2, 2, 8, 512, 20];
    for (sizes, tokenizer, why) in [
        (small, without_words(), "it can read neither common English words nor those of its own vocabulary"),
        ([8, 2, 2, 8, 2, 20], adding(3), "it adds 3 pieces to every text, but the model reads at most 2"),
    ] {
        let folder = zeros(&shape(sizes), Some(&tokenizer));
        let model = folder.0.display().to_string();
        let page = folder.file("page.html");
        let table = folder.file("table.tsv");
        for args in [
            &["check", &model][..],
            &["check", &model, "--ids", "1,2"],
            &["trace", &model],
            &["trace", &model, "--ids", "1,2"],
            &["export", &model, "--to", "html", "-o", &page],
            &["export", &model, "--to", "tsv", "-o", &table],
        ] {
            ended(said(args), 0, why);
        }
    }
}

/// A lesson about such a model has sentences of its own: each is refused at its place.
#[test]
fn a_lesson_s_sentence_that_is_no_word_is_an_issue() {
    let folder = zeros(&shape([8, 2, 2, 8, 512, 20]), Some(&adding(2)));
    let inner = folder.join("model");
    std::fs::create_dir(&inner).expect("a folder");
    for file in ["config.json", "model.safetensors", "tokenizer.json"] {
        std::fs::rename(folder.join(file), inner.join(file)).expect("moved");
    }
    let lesson = |sentence: &str| {
        let text = format!(
            "Lesson(id: \"a\", title: \"a\", seed: 1, model: Pretrained(\"./model\"), sentences: [\"{sentence}\"], cells: [])"
        );
        std::fs::write(folder.join("a.ron"), text).expect("written");
        said(&["check", &folder.file("a.ron")])
    };
    ended(lesson("\u{301}\u{ad}"), 1, "a text without words");
    ended(lesson("a b"), 0, "");
}
