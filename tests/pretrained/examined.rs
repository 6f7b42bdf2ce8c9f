//! What `attune check` finds in a model's folder.

use std::fs;

use attune_engine::pretrained::examine::{ModelFindings, examine};
use attune_engine::pretrained::folder::ModelFolder;
use attune_engine::pretrained::load;

use crate::common::folder::Folder;
use crate::opened::with_tokenizer;
use crate::written::{Model, fixture};

fn examined(folder: &std::path::Path) -> ModelFindings {
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
        let ModelFindings { good, faults } = examined(&folder.0);
        assert!(faults.is_empty(), "{name}: {faults:?}");
        assert_eq!(good[0], format!("model.safetensors: {bytes} bytes, SHA-256 {sha256}"));
        let has = |words: &str| assert!(good.iter().any(|line| line.contains(words)), "{name}: {words}: {good:#?}");
        has("config.json: ");
        has("tokenizer.json: ");
        has("3 layers of 3 heads, 24 wide, a vocabulary of 600");
        has("600 pieces of the tokenizer for 600 rows of the table");
        has("tensors, all with the shapes of the config");
        has("self-test: 16 tokens through 9 heads: weights sum to 1 within ");
        assert!(!good.iter().any(|line| line.contains("this is ")), "{name} is no model that others have: {good:#?}");
    }
    let bare = examined(&fixture("bert-default")).good;
    assert!(bare.iter().any(|line| line == "no tokenizer: sentences are token ids"), "{bare:#?}");
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
            "self-test: the output of layer 2 is not finite; download the model again, and report this if it happens again"
        ]
    );
}

#[test]
fn a_sentence_of_a_token_type_that_the_model_lacks_is_refused() {
    let folder = with_tokenizer("bert-wild");
    let file = folder.join("tokenizer.json");
    let mut json: serde_json::Value = serde_json::from_str(&fs::read_to_string(&file).expect("a text")).expect("JSON");
    json["post_processor"] = serde_json::json!({
        "type": "TemplateProcessing", "single": [{ "Sequence": { "id": "A", "type_id": 2 } }], "pair": [],
        "special_tokens": {},
    });
    fs::write(&file, json.to_string()).expect("written");
    let model = ModelFolder::open(&folder.0).unwrap_or_else(|refusal| panic!("{refusal}"));
    let said = model.pieces("the bank").expect_err("no such token type");
    assert!(said.contains("the token type 2, but the model has types 0 to 1"), "{said}");
}
