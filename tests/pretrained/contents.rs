//! What a file or a folder is comes first: pointers, web pages, adapters, weights in other formats or with few bits,
//! parts of models, and folders of sentence-transformers.

use std::fs;
use std::path::Path;

use attune_core::lesson;
use attune_engine::pretrained::cache::{Environment, ModelName, ModelPath, find, given};
use attune_engine::vectors;
use serde_json::json;

use crate::common::folder::Folder;
use crate::written::{Model, Written, WrittenTensor};

const POINTER: &str = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n";
const PAGE: &str = "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body></body></html>";

/// What the program says of a path that a person gives it.
fn said(path: &Path) -> String {
    let issues = lesson::read(path).map(|_| ()).expect_err("it is refused");
    issues.iter().map(ToString::to_string).collect()
}

#[track_caller]
fn says(path: &Path, words: &[&str]) {
    let said = said(path);
    for words in words {
        assert!(said.contains(words), "{said}\nlacks: {words}");
    }
    assert!(!said.contains("download the whole folder"), "{said}");
}

#[test]
fn a_pointer_or_a_page_is_named_in_any_file_of_a_model() {
    for (text, words) in [(POINTER, "a Git LFS pointer"), (PAGE, "a web page")] {
        for file in ["config.json", "model.safetensors"] {
            let folder = Folder::new("pointer");
            Model::of("bert-wild").put(&folder);
            fs::write(folder.join(file), text).expect("written");
            says(&folder.0, &[file, words]);
        }
        // Without its tokenizer, the model opens with token ids, and says why.
        for file in ["tokenizer.json", "vocab.txt"] {
            let folder = Folder::new("pointer");
            Model::of("bert-wild").put(&folder);
            fs::write(folder.join(file), text).expect("written");
            let lesson = lesson::read(&folder.0).expect("a model");
            let tokenizer = &lesson.static_embedding.pretrained().expect("a model").tokenizer;
            let why = tokenizer.as_ref().map(|_| ()).expect_err("it is no tokenizer").to_string();
            assert!(why.contains(file) && why.contains(words), "{why}");
        }
    }
    let folder = Folder::new("gguf-named-safetensors");
    Model::of("bert-wild").put(&folder);
    fs::write(folder.join("model.safetensors"), [&b"GGUF\x03\0\0\0"[..], &[0; 64]].concat()).expect("written");
    says(&folder.0, &["a GGUF model", "expected a safetensors file"]);
}

/// Files with their texts, and words of what is said of their folder.
type InPlace = (&'static [(&'static str, &'static str)], &'static [&'static str]);

#[test]
fn a_folder_says_what_it_has_in_place_of_a_model() {
    const ADAPTER: &str = r#"{"base_model_name_or_path": "meta-llama/Llama-3.2-1B", "peft_type": "LORA"}"#;
    let folders: [InPlace; 10] = [
        (
            &[("adapter_config.json", ADAPTER), ("adapter_model.safetensors", "")],
            &["an adapter", "the weights of `meta-llama/Llama-3.2-1B`", "merge"],
        ),
        (&[("adapter_config.json", "{}"), ("adapter_model.safetensors", "")], &["an adapter", "another model"]),
        (&[("model-q4.gguf", "GGUF")], &["model-q4.gguf only", "the folder of the same model with model.safetensors"]),
        (&[("pytorch_model.bin", "x")], &["pytorch_model.bin only", "can run programs when they are read"]),
        (&[("model.pt", "x")], &["model.pt only", "save it again with save_pretrained"]),
        (&[("consolidated.00.pth", "x"), ("params.json", "{}")], &["consolidated.00.pth only"]),
        (&[("tf_model.h5", "x")], &["tf_model.h5 only", "model.safetensors"]),
        (&[("flax_model.msgpack", "x")], &["flax_model.msgpack only"]),
        (&[("bert_model.ckpt.index", "x")], &["bert_model.ckpt.index only"]),
        (
            &[(
                "modules.json",
                r#"[{"path": "0_WordEmbeddings", "type": "sentence_transformers.models.WordEmbeddings"}]"#,
            )],
            &["a folder of sentence-transformers with the modules `0_WordEmbeddings`"],
        ),
    ];
    for (files, words) in folders {
        let folder = Folder::new("in-place");
        files.iter().for_each(|(name, text)| fs::write(folder.join(name), text).expect("written"));
        says(&folder.0, words);
        // The same beside a config.
        fs::write(folder.join("config.json"), json!(Model::of("bert-wild").config).to_string()).expect("written");
        says(&folder.0, words);
    }
}

#[test]
fn weights_under_other_names_are_named() {
    let cases: [(&[&str], &[&str]); 3] = [
        (
            &["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"],
            &["`model-00001-of-00002.safetensors` and 1 more, and no model.safetensors.index.json", "download"],
        ),
        (&["model-00001-of-00002.safetensors"], &["model.safetensors.index.json too"]),
        (&["pytorch_model.safetensors"], &["only `pytorch_model.safetensors`", "name it model.safetensors"]),
    ];
    for (files, words) in cases {
        let folder = Folder::new("other-names");
        fs::write(folder.join("config.json"), json!(Model::of("bert-wild").config).to_string()).expect("written");
        files.iter().for_each(|name| fs::write(folder.join(name), "x").expect("written"));
        says(&folder.0, words);
    }
}

/// Before any shape is compared.
#[test]
fn quantised_weights_are_refused_as_such() {
    const KEY: &str = "bert.encoder.layer.0.attention.self.key.weight";
    let tensor = |name: &str, dtype, shape: &[usize], bytes| WrittenTensor {
        name: name.to_owned(),
        dtype,
        shape: shape.to_vec(),
        bytes: vec![0; bytes],
    };
    let of = |tail: &str| format!("{}{tail}", KEY.trim_end_matches(".weight"));
    let cases = [
        (
            tensor(KEY, "U8", &[288, 1], 288),
            json!({"quant_method": "bitsandbytes", "load_in_4bit": true}),
            "bitsandbytes, 4 bits",
        ),
        (
            tensor(KEY, "I8", &[24, 24], 576),
            json!({"quant_method": "bitsandbytes", "load_in_8bit": true}),
            "bitsandbytes, 8 bits",
        ),
        (tensor(&of(".qweight"), "I32", &[3, 24], 288), json!({"quant_method": "gptq", "bits": 4}), "GPTQ, 4 bits"),
        (tensor(&of(".qweight"), "I32", &[24, 3], 288), json!({"quant_method": "awq", "bits": 4}), "AWQ, 4 bits"),
        (tensor(KEY, "F8_E4M3", &[24, 24], 576), json!({"quant_method": "fp8"}), "FP8"),
        (
            tensor(&of(".weight_packed"), "I32", &[24, 3], 288),
            json!({"quant_method": "compressed-tensors"}),
            "compressed-tensors",
        ),
        (tensor(&of(".scales"), "F32", &[24, 1], 96), json!(null), "MLX, GPTQ or AWQ"),
        (tensor(KEY, "I8", &[24, 24], 576), json!(null), "quantised weights"),
    ];
    for (tensor, method, words) in cases {
        let mut model = Model::of("bert-wild");
        model.weights.tensors.retain(|it| it.name != KEY && it.name != tensor.name);
        model.weights.tensors.push(tensor);
        model.set("quantization_config", method);
        let said = model.load().map(|_| ()).expect_err(words);
        assert!(said.starts_with("model.safetensors: `") && said.contains("found quantised weights"), "{said}");
        assert!(said.contains(words) && said.contains("open the original model"), "{said}\nlacks: {words}");
    }
    // MLX names its method otherwise; and weights that are whole open whatever the config says.
    let mut model = Model::of("bert-wild");
    model.set("quantization", json!({"group_size": 64, "bits": 4}));
    model.loaded();
    model.weights.tensors.push(WrittenTensor { name: of(".scales"), dtype: "F32", shape: vec![1], bytes: vec![0; 4] });
    let said = model.load().map(|_| ()).expect_err("quantised");
    assert!(said.contains("quantised weights (MLX, 4 bits)"), "{said}");
}

/// A model in a folder that is there.
fn put(folder: &Path) {
    let model = Model::of("bert-wild");
    fs::write(folder.join("config.json"), json!(model.config).to_string()).expect("written");
    fs::write(folder.join("model.safetensors"), model.weights.bytes()).expect("written");
}

fn modules(class: &str, path: &str) -> String {
    let first = json!({ "idx": 0, "name": "0", "path": path, "type": format!("sentence_transformers.models.{class}") });
    json!([first, { "idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling" }])
        .to_string()
}

#[test]
fn a_folder_of_sentence_transformers_opens_its_model() {
    for (class, path) in [("Transformer", "0_Transformer"), ("Transformer", ""), ("Transformer", "deep/er")] {
        let folder = Folder::new("modules");
        let inner = folder.join(path);
        fs::create_dir_all(&inner).expect("a folder");
        put(&inner);
        fs::write(folder.join("modules.json"), modules(class, path)).expect("written");
        let found = given(&folder.0);
        let is_inner =
            matches!(&found, ModelPath::Folder(found) if found.canonicalize().ok() == inner.canonicalize().ok());
        assert!(is_inner, "{path}: {found:?}");
        lesson::read(&folder.0).unwrap_or_else(|said| panic!("{path}: {said:?}"));
    }
    // Nothing outside is opened.
    let folder = Folder::new("modules");
    fs::write(folder.join("modules.json"), modules("Transformer", "../elsewhere")).expect("written");
    says(&folder.0, &["a folder of sentence-transformers with the modules `../elsewhere`"]);
}

#[test]
fn a_name_in_the_cache_stands_for_the_model_among_modules() {
    let cache = Folder::new("cache-modules");
    let revision = cache.join("models--me--old/snapshots/abc");
    let inner = revision.join("0_Transformer");
    fs::create_dir_all(&inner).expect("a folder");
    put(&inner);
    fs::write(revision.join("modules.json"), modules("Transformer", "0_Transformer")).expect("written");
    let environment = Environment { hub_cache: Some(cache.0.clone()), ..Environment::default() };
    assert_eq!(find(&ModelName::new("me/old").expect("a name"), &environment), Ok(inner));
}

#[test]
fn a_table_among_modules_opens_as_vectors() {
    let folder = Folder::new("static-module");
    let inner = folder.join("0_StaticEmbedding");
    fs::create_dir_all(&inner).expect("a folder");
    let numbers: Vec<f32> = (0..12).map(|number| number as f32 + 1.0).collect();
    let table = Written { tensors: vec![WrittenTensor::f32("embedding.weight", &[3, 4], &numbers)] };
    fs::write(inner.join("model.safetensors"), table.bytes()).expect("written");
    let tokenizer = json!({
        "model": { "type": "WordPiece", "unk_token": "[UNK]", "vocab": { "[UNK]": 0, "king": 1, "queen": 2 } },
        "pre_tokenizer": { "type": "BertPreTokenizer" },
    });
    fs::write(inner.join("tokenizer.json"), tokenizer.to_string()).expect("written");
    fs::write(folder.join("modules.json"), modules("StaticEmbedding", "0_StaticEmbedding")).expect("written");
    for path in [&folder.0, &inner] {
        lesson::read(path).unwrap_or_else(|said| panic!("{}: {said:?}", path.display()));
        let vectors = vectors::read(path, &mut |_| true).unwrap_or_else(|said| panic!("{}: {said}", path.display()));
        assert_eq!((vectors.len(), vectors.width()), (3, 4), "{}", path.display());
    }
}
