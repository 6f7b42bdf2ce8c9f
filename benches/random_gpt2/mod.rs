//! A folder with a model of GPT-2's shape and vocabulary and random weights, 250 MB, which is removed at the end.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde_json::{Map, Value, json};

const LAYERS: usize = 12;
const HEADS: usize = 12;
const WIDTH: usize = 768;
const HIDDEN: usize = 3072;
const VOCABULARY: usize = 50_257;
const PLACES: usize = 1024;
/// The standard deviation of weights before training, as in real models.
const DEVIATION: f32 = 0.02;
/// A tokenizer of few pieces. The missing pieces are filled up with ones that no text contains.
const TOKENIZER: &str = include_str!("../../tests/fixtures/pretrained/gpt2_tokenizer.json");

pub struct Folder(pub PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        // If the folder cannot be removed, it remains among other temporary files.
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn folder() -> Folder {
    let folder = Folder(std::env::temp_dir().join(format!("attune-random-gpt2-{}", std::process::id())));
    fs::create_dir_all(&folder.0).expect("a folder");
    let config = json!({
        "model_type": "gpt2", "n_layer": LAYERS, "n_head": HEADS, "n_embd": WIDTH, "n_positions": PLACES,
        "vocab_size": VOCABULARY, "activation_function": "gelu_new",
    });
    fs::write(folder.0.join("config.json"), config.to_string()).expect("written");
    fs::write(folder.0.join("tokenizer.json"), tokenizer().to_string()).expect("written");
    weights(&folder);
    folder
}

fn tokenizer() -> Value {
    let mut tokenizer: Value = serde_json::from_str(TOKENIZER).expect("JSON");
    let pieces = tokenizer["model"]["vocab"].as_object_mut().expect("pieces");
    (pieces.len()..VOCABULARY).for_each(|id| _ = pieces.insert(format!("Ġpiece{id}"), json!(id)));
    tokenizer
}

fn shapes() -> Vec<(String, Vec<usize>)> {
    let of_layer = |layer: usize| {
        let parts = [
            ("ln_1.weight", vec![WIDTH]),
            ("ln_1.bias", vec![WIDTH]),
            ("attn.c_attn.weight", vec![WIDTH, 3 * WIDTH]),
            ("attn.c_attn.bias", vec![3 * WIDTH]),
            ("attn.c_proj.weight", vec![WIDTH, WIDTH]),
            ("attn.c_proj.bias", vec![WIDTH]),
            ("ln_2.weight", vec![WIDTH]),
            ("ln_2.bias", vec![WIDTH]),
            ("mlp.c_fc.weight", vec![WIDTH, HIDDEN]),
            ("mlp.c_fc.bias", vec![HIDDEN]),
            ("mlp.c_proj.weight", vec![HIDDEN, WIDTH]),
            ("mlp.c_proj.bias", vec![WIDTH]),
        ];
        parts.map(|(name, shape)| (format!("h.{layer}.{name}"), shape))
    };
    let whole = [
        ("wte.weight".to_owned(), vec![VOCABULARY, WIDTH]),
        ("wpe.weight".to_owned(), vec![PLACES, WIDTH]),
        ("ln_f.weight".to_owned(), vec![WIDTH]),
        ("ln_f.bias".to_owned(), vec![WIDTH]),
    ];
    whole.into_iter().chain((0..LAYERS).flat_map(of_layer)).collect()
}

/// Writes weights in bfloat16, the upper half of a float.
fn weights(folder: &Folder) {
    const BYTES: usize = 2;
    let (shapes, mut header, mut end) = (shapes(), Map::new(), 0);
    for (name, shape) in &shapes {
        let begin = end;
        end += BYTES * shape.iter().product::<usize>();
        header.insert(name.clone(), json!({ "dtype": "BF16", "shape": shape, "data_offsets": [begin, end] }));
    }
    let header = Value::Object(header).to_string();
    let mut file = BufWriter::new(File::create(folder.0.join("model.safetensors")).expect("a file"));
    file.write_all(&(header.len() as u64).to_le_bytes()).expect("written");
    file.write_all(header.as_bytes()).expect("written");
    let mut random = StdRng::seed_from_u64(1);
    for (name, shape) in &shapes {
        let is_gain = name.contains("ln_") && name.ends_with("weight");
        for _ in 0..shape.iter().product() {
            let weight = if is_gain { 1.0 } else { DEVIATION * random.random_range(-1.7f32..1.7) };
            file.write_all(&((weight.to_bits() >> 16) as u16).to_le_bytes()).expect("written");
        }
    }
    file.flush().expect("written");
}
