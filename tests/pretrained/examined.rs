//! What `attune check` finds in a model's folder.

use std::fs;

use attune::pretrained::examine::{Findings, examine};
use attune::pretrained::folder::ModelFolder;
use attune::pretrained::load;

use crate::common::folder::Folder;
use crate::common::program::said;
use crate::opened::with_tokenizer;
use crate::written::{Model, fixture};

fn examined(folder: &std::path::Path) -> Findings {
    let model = ModelFolder::open(folder).unwrap_or_else(|refusal| panic!("{refusal}"));
    let read = load(folder, &mut |_| true).unwrap_or_else(|stopped| panic!("{stopped}"));
    examine(&model, &read)
}

/// A file of the fixtures, and its SHA-256 by `sha256sum`.
const FILES: [(&str, &str, &str); 2] = [
    ("bert-wild", "126808", "72dd61d9cd5e60ff992b506202fd6477d2f4ea385eaafb6726f8bb19bd19fc38"),
    ("gpt2-wild", "151992", "ae34d4455ff16e23b2595fd42c016f90625d423a9657350a74610976027b83fb"),
];

#[test]
fn files_tensors_tokenizer_and_a_pass_are_told() {
    for (name, bytes, sha256) in FILES {
        let folder = with_tokenizer(name);
        let Findings { good, faults } = examined(&folder.0);
        assert!(faults.is_empty(), "{name}: {faults:?}");
        assert_eq!(good[0], format!("model.safetensors: {bytes} bytes, SHA-256 {sha256}"));
        let has = |words: &str| assert!(good.iter().any(|line| line.contains(words)), "{name}: {words}: {good:#?}");
        has("config.json: ");
        has("tokenizer.json: ");
        has("3 layers of 3 heads, 24 wide, a vocabulary of 600");
        has("600 pieces of the tokenizer for 600 rows of the table");
        has("tensors, all of the shapes of the config");
        has("self-test: 16 tokens through 9 heads: weights sum to 1 within ");
        assert!(!good.iter().any(|line| line.contains("this is ")), "{name} is no model that others have: {good:#?}");
    }
    let bare = examined(&fixture("bert-default")).good;
    assert!(bare.iter().any(|line| line == "no tokenizer: token ids stand for words"), "{bare:#?}");
}

#[test]
fn a_model_whose_numbers_overflow_fails_its_self_test() {
    let mut model = Model::of("gpt2-wild");
    let tensor = model.weights.tensor_mut("transformer.h.1.mlp.c_proj.weight");
    let huge: Vec<u8> = tensor.numbers().iter().flat_map(|x| (x * 1e38).to_le_bytes()).collect();
    tensor.bytes = huge;
    let folder = Folder::new("overflow");
    model.put(&folder);
    let faults = examined(&folder.0).faults;
    assert_eq!(
        faults,
        [
            "self-test: the output of layer 2 is not finite; download the model again, and report it if this happens again"
        ]
    );
    let (code, text) = said(&["check", &folder.0.display().to_string()]);
    assert_eq!(code, Some(1), "{text}");
    assert!(text.contains("self-test: the output of layer 2 is not finite"), "{text}");
}

#[test]
fn the_command_prints_what_it_found() {
    let folder = with_tokenizer("gpt2-wild");
    let path = folder.0.display().to_string();
    let (code, text) = said(&["check", &path]);
    assert_eq!(code, Some(0), "{text}");
    let line = format!("{path}: model.safetensors: 151992 bytes, SHA-256 {}", FILES[1].2);
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
    let (code, text) = said(&["check", &path, "--ids", "2,45,311"]);
    assert!(code == Some(0) && text.contains("3 tokens, "), "{text}");
    assert!(text.contains("(ids 2,45,311); all numbers finite"), "{text}");
    let (code, text) = said(&["check", &path, "--ids", "2,600"]);
    assert!(
        code == Some(2) && text.contains("--ids: there is no token 600: the model has those from 0 to 599"),
        "{text}"
    );
    // The special tokens that the tokenizer adds are there too.
    let (code, text) = said(&["check", &path, "--sentence", "a"]);
    assert!(code == Some(0) && text.contains(r#"the sentence "a": 3 tokens, [CLS] a [SEP] (ids "#), "{text}");
}

#[test]
fn a_tokenizer_with_more_token_types_than_the_model_is_refused() {
    let folder = with_tokenizer("bert-wild");
    let file = folder.join("tokenizer.json");
    let mut json: serde_json::Value = serde_json::from_str(&fs::read_to_string(&file).expect("a text")).expect("JSON");
    json["post_processor"] = serde_json::json!({
        "type": "TemplateProcessing", "single": [{ "Sequence": { "id": "A", "type_id": 2 } }], "pair": [],
        "special_tokens": {},
    });
    fs::write(&file, json.to_string()).expect("written");
    let refusal = ModelFolder::open(&folder.0).expect_err("no such token type").to_string();
    assert!(refusal.starts_with("found a tokenizer with 3 token types; expected at most 2"), "{refusal}");
}

#[test]
fn a_small_vocabulary_is_begun_with_its_own_words() {
    let path = format!("{}/tests/fixtures/forms/decoder.ron", env!("CARGO_MANIFEST_DIR"));
    let folder = Folder::new("exported-by-command");
    let out = folder.join("model").display().to_string();
    let (code, text) = said(&["export", &path, "--to", "checkpoint", "-o", &out]);
    assert!(code == Some(0) && text.contains("GPT-2: 2 layers of 2 heads, 12 wide"), "{text}");
    let lesson = attune::lesson::read(out.as_ref()).unwrap_or_else(|issues| panic!("{issues:?}"));
    assert_eq!(lesson.sentences, [["one two three four five six"]]);
    let (code, text) = said(&["check", &out]);
    assert!(code == Some(0) && text.contains("10 pieces of the tokenizer for 10 rows"), "{text}");
    // A second time there is something in it; and a form that fits nothing is refused at its field.
    let (code, text) = said(&["export", &path, "--to", "checkpoint", "-o", &out]);
    assert!(code == Some(1) && text.contains("the folder is not empty"), "{text}");
    let path = path.replace("decoder", "reversal");
    let (code, text) = said(&["export", &path, "--to", "checkpoint", "-o", &folder.join("b").display().to_string()]);
    assert!(
        code == Some(1) && text.contains("reversal.ron:") && text.contains("objective: found Sequence; expected"),
        "{text}"
    );
    assert!(!folder.join("b").exists());
}
