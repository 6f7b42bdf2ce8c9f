//! The small pretrained models of `tests/fixtures/pretrained`, and models of any shape.

use std::fs;
use std::path::PathBuf;

use attune_engine::numerics::model::Readout;
use attune_engine::pretrained::config::Config;
use attune_engine::pretrained::folder::files;
use serde_json::{Value, json};

use super::folder::Folder;
use super::top::at;

/// A file or a folder of theirs.
pub fn fixture(name: &str) -> PathBuf {
    at("tests/fixtures/pretrained").join(name)
}

/// A BERT of this shape: `width`, layers, heads, hidden units, positions and pieces.
pub fn shape([width, layers, heads, hidden, positions, vocabulary]: [usize; 6]) -> Config {
    let fields = json!({
        "model_type": "bert", "hidden_size": width, "num_hidden_layers": layers, "num_attention_heads": heads,
        "intermediate_size": hidden, "max_position_embeddings": positions, "type_vocab_size": 1,
        "vocab_size": vocabulary,
    });
    Config::parse(&fields.to_string()).expect("a config")
}

/// A model whose weights are all 0, with this `tokenizer.json`.
pub fn zeros(config: &Config, tokenizer: Option<&Value>) -> Folder {
    let folder = Folder::new("zeros");
    for (name, bytes) in files(config, Readout::Tied, |_, _, _| 0.0) {
        fs::write(folder.join(name), bytes).expect("written");
    }
    if let Some(tokenizer) = tokenizer {
        fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).expect("written");
    }
    folder
}

/// A tokenizer of the words `a` and `b`, which adds so many pieces to every text.
pub fn adding(count: usize) -> Value {
    let parts: Vec<Value> = vec![json!({ "SpecialToken": { "id": "x", "type_id": 0 } }); count.div_ceil(64)];
    let ids = vec![1; count / parts.len().max(1)];
    let single = [parts, vec![json!({ "Sequence": { "id": "A", "type_id": 0 } })]].concat();
    json!({
        "normalizer": { "type": "BertNormalizer" },
        "pre_tokenizer": { "type": "BertPreTokenizer" },
        "post_processor": {
            "type": "TemplateProcessing", "single": single,
            "special_tokens": { "x": { "id": "x", "ids": ids, "tokens": [] } },
        },
        "model": { "type": "WordPiece", "unk_token": "[UNK]", "vocab": { "[UNK]": 0, "a": 1, "b": 2 } },
    })
}

/// A tokenizer of pieces that no text has.
pub fn without_words() -> Value {
    json!({
        "pre_tokenizer": { "type": "ByteLevel", "add_prefix_space": false },
        "model": { "type": "BPE", "vocab": { "𠀀": 0, "𠀁": 1, "𠀂": 2 }, "merges": [] },
    })
}

/// A fixture with its tokenizer.
pub fn with_tokenizer(name: &str) -> Folder {
    let folder = Folder::new(&format!("opened-{name}"));
    let tokenizer = fixture(&format!("{}_tokenizer.json", name.split('-').next().unwrap_or(name)));
    for file in ["config.json", "model.safetensors"] {
        fs::copy(fixture(name).join(file), folder.join(file)).expect("a copy");
    }
    fs::copy(tokenizer, folder.join("tokenizer.json")).expect("a copy");
    folder
}
