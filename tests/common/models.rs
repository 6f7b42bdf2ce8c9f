//! The small pretrained models of `tests/fixtures/pretrained`, and models of any shape.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::block::BlockConfig;
use attune_engine::numerics::model::activations::{Activations, Interventions};
use attune_engine::numerics::model::{Readout, Sequences};
use attune_engine::numerics::norm::NormForm;
use attune_engine::numerics::params::{TensorId, TensorName};
use attune_engine::pretrained::config::Config;
use attune_engine::pretrained::folder::files;
use attune_engine::pretrained::{Pretrained, load};
use serde_json::{Value, json};

use super::folder::Folder;
use super::top::at;

/// A file or a folder of theirs.
pub fn fixture(name: &str) -> PathBuf {
    at("tests/fixtures/pretrained").join(name)
}

/// A fixture as the engine has it.
#[track_caller]
pub fn read(name: &str) -> Pretrained {
    load(&fixture(name), &mut |_| true).unwrap_or_else(|said| panic!("{name}: {said}"))
}

/// A pass of a model as it was read.
pub fn pass(model: &Pretrained, sentence: &Sequences) -> Activations<f32> {
    Activations::of(&model.model(), &model.parameters, sentence, None, &Interventions::default())
}

/// A model in which mistakes are made on purpose.
pub struct Mistaken(pub Pretrained);

impl Mistaken {
    pub fn blocks(&mut self, change: impl FnMut(&mut BlockConfig)) {
        self.0.architecture.blocks.iter_mut().for_each(change);
    }

    pub fn norms(&mut self, change: impl Fn(&mut NormForm)) {
        change(&mut self.0.architecture.norm_form);
        self.blocks(|block| {
            change(&mut block.norm_form);
            block.attention.query_key_norm.iter_mut().for_each(|norm| change(&mut norm.form));
        });
    }

    pub fn activation(&mut self, activation: Activation) {
        self.blocks(|block| block.activation = activation);
        if let Readout::Transformed(of_readout) = &mut self.0.architecture.readout {
            *of_readout = activation;
        }
    }

    pub fn has(&self, name: TensorName) -> bool {
        self.0.parameters.specs().iter().any(|spec| spec.id.name == name)
    }

    /// Changes a tensor in every layer that has it.
    pub fn change(&mut self, name: TensorName, change: impl Fn(TensorId, &mut Vec<f32>)) {
        let parameters = Arc::make_mut(&mut self.0.parameters);
        let of_name: Vec<_> = parameters.specs().iter().map(|spec| spec.id).filter(|id| id.name == name).collect();
        assert!(!of_name.is_empty(), "there is no {name:?}");
        for id in of_name {
            let mut values = parameters.row_major(id).into_owned();
            change(id, &mut values);
            parameters.set_row_major(id, &values);
        }
    }

    pub fn without(&mut self, names: &[TensorName]) {
        names.iter().for_each(|name| self.change(*name, |_, values| values.fill(0.0)));
    }

    pub fn swap(&mut self, [a, b]: [TensorName; 2]) {
        let parameters = Arc::make_mut(&mut self.0.parameters);
        for block in 0..self.0.architecture.blocks.len() {
            let [of_a, of_b] = [a, b].map(|name| parameters.row_major(name.of_block(block)).into_owned());
            parameters.set_row_major(a.of_block(block), &of_b);
            parameters.set_row_major(b.of_block(block), &of_a);
        }
    }
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
