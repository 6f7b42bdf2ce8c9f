//! Folders that are no model, or not a whole one: each refused in words.

use std::fs;
use std::time::Instant;

use attune_engine::pretrained::load;
use attune_engine::pretrained::load::LoadStopped;

use crate::common::folder::Folder;
use crate::common::snapshots::assert_kept;
use crate::written::{Model, Written, WrittenTensor, file, fixture};

fn bert() -> Model {
    Model::of("bert-wild")
}

/// A fixture, a change in words, and the change itself.
type Change = (&'static str, &'static str, fn(&mut Model));

/// Changes of a fixture, each with what is wrong then.
const CHANGES: &[Change] = &[
    ("bert-wild", "three tensors less", |model| {
        let names = ["encoder.layer.1.output.dense.weight", "embeddings.LayerNorm.bias", "cls.predictions.bias"];
        model.weights.tensors.retain(|tensor| !names.iter().any(|name| tensor.name.ends_with(name)));
    }),
    ("bert-wild", "six layers more in the config", |model| model.set("num_hidden_layers", 9)),
    ("gpt2-wild", "one tensor less", |model| {
        model.weights.tensors.retain(|tensor| !tensor.name.contains("1.attn.c_attn.weight"));
    }),
    ("gpt2-wild", "a readout of its own that is not there", |model| model.set("tie_word_embeddings", false)),
    ("bert-wild", "another number of hidden units", |model| model.set("intermediate_size", 41)),
    ("bert-wild", "another vocabulary", |model| model.set("vocab_size", 601)),
    ("bert-wild", "a matrix in one dimension", |model| {
        model.weights.tensor_mut("bert.encoder.layer.2.attention.self.key.weight").shape = vec![576];
    }),
    ("gpt2-wild", "a matrix turned", |model| {
        model.weights.tensor_mut("transformer.h.0.attn.c_attn.weight").shape = vec![72, 24];
    }),
    ("gpt2-wild", "another width", |model| model.set("n_embd", 3072)),
    ("bert-wild", "NaN", |model| {
        let tensor = model.weights.tensor_mut("bert.encoder.layer.1.attention.self.key.weight");
        tensor.bytes[4 * 50..][..4].copy_from_slice(&f32::NAN.to_le_bytes());
    }),
    ("bert-wild", "whole numbers", |model| {
        model.weights.tensor_mut("bert.encoder.layer.1.attention.self.key.weight").dtype = "I32";
    }),
    ("bert-wild", "two names of one tensor", |model| {
        let gain = model.weights.tensor("bert.embeddings.LayerNorm.weight").clone();
        model.weights.tensors.push(WrittenTensor { name: "embeddings.LayerNorm.gamma".to_owned(), ..gain });
    }),
    ("gpt2-wild", "a readout that is not the table", |model| {
        let mut numbers = model.weights.tensor("transformer.wte.weight").numbers();
        numbers[14_399] += 1.0;
        model.weights.tensors.push(WrittenTensor::f32("lm_head.weight", &[600, 24], &numbers));
    }),
];

#[test]
fn models_that_do_not_fit_together_are_refused_in_words() {
    let case = |(fixture, what, change): &(&str, &str, fn(&mut Model))| {
        let mut model = Model::of(fixture);
        change(&mut model);
        let refusal = model.load().map(|_| ()).expect_err(what);
        format!("{fixture}, {what}\n    {refusal}\n")
    };
    assert_kept("tests/pretrained/refusals.txt", &CHANGES.iter().map(case).collect::<String>());
}

#[test]
fn folders_that_are_no_model_say_what_is_missing() {
    let folder = Folder::new("no-model");
    let said = |folder: &Folder| load(&folder.0, &mut |_| true).map(|_| ()).expect_err("it is refused").to_string();
    assert!(said(&folder).starts_with("config.json: found no such file"), "{}", said(&folder));
    fs::write(folder.join("config.json"), [0xff]).expect("written");
    let text = "not UTF-8; expected text in UTF-8";
    assert!(said(&folder).contains(text), "{}", said(&folder));
    fs::write(folder.join("config.json"), "\u{feff}{}").expect("written");
    assert!(said(&folder).starts_with("config.json: found a byte order mark"), "{}", said(&folder));
    fs::write(folder.join("config.json"), " ".repeat(2 << 20)).expect("written");
    assert!(said(&folder).contains("2097152 bytes"), "{}", said(&folder));
    bert().put(&folder);
    fs::remove_file(folder.join("model.safetensors")).expect("it is there");
    assert!(said(&folder).contains("no weights in the folder"), "{}", said(&folder));
    fs::write(folder.join("pytorch_model.bin"), "x").expect("written");
    assert!(said(&folder).contains("can run programs when they are read"), "{}", said(&folder));
    fs::create_dir(folder.join("model.safetensors")).expect("a folder");
    assert!(said(&folder).starts_with("model.safetensors: found a folder;"), "{}", said(&folder));
    fs::remove_dir(folder.join("model.safetensors")).expect("it is there");
    let index = r#"{"weight_map":{"a":"../model.safetensors"}}"#;
    fs::write(folder.join("model.safetensors.index.json"), index).expect("written");
    let at = "model.safetensors.index.json: `a`: found the file `../model.safetensors`";
    assert!(said(&folder).starts_with(at), "{}", said(&folder));
    // A file that has more than its index says.
    let index = r#"{"weight_map":{"a":"x.safetensors"}}"#;
    fs::write(folder.join("model.safetensors.index.json"), index).expect("written");
    let two = ["a", "b"].map(|name| WrittenTensor::f32(name, &[1], &[1.0]));
    fs::write(folder.join("x.safetensors"), Written { tensors: two.to_vec() }.bytes()).expect("written");
    assert!(said(&folder).starts_with("x.safetensors: `b`: found a tensor that the index"), "{}", said(&folder));
}

/// Many names of one file, each of which has more than the index gives it: the first is refused before the others are
/// read.
#[test]
fn a_shard_is_held_against_the_index_before_the_next_is_read() {
    let folder = Folder::new("shards");
    bert().put(&folder);
    fs::remove_file(folder.join("model.safetensors")).expect("it is there");
    let index = r#"{"weight_map":{"a":"1.safetensors","b":"2.safetensors"}}"#;
    fs::write(folder.join("model.safetensors.index.json"), index).expect("written");
    let other = Written { tensors: vec![WrittenTensor::f32("other", &[1], &[1.0])] };
    fs::write(folder.join("1.safetensors"), other.bytes()).expect("written");
    fs::write(folder.join("2.safetensors"), "no head").expect("written");
    let said = load(&folder.0, &mut |_| true).map(|_| ()).expect_err("it is refused").to_string();
    assert!(said.starts_with("1.safetensors: `other`: found a tensor that the index"), "{said}");
}

/// A file of which most is holes, that no model reads: it is not read to its end.
#[test]
fn what_no_part_of_the_model_uses_is_bounded() {
    const HOLES: usize = 1 << 33;
    let folder = Folder::new("holes");
    let model = bert();
    model.put(&folder);
    let mut header = model.weights.header();
    let end: usize = model.weights.tensors.iter().map(|tensor| tensor.bytes.len()).sum();
    let holes = serde_json::json!({ "dtype": "F32", "shape": [HOLES], "data_offsets": [end, end + 4 * HOLES] });
    header["holes"] = holes;
    let data: Vec<u8> = model.weights.tensors.iter().flat_map(|tensor| tensor.bytes.iter().copied()).collect();
    let bytes = file(&header.to_string(), &data);
    fs::write(folder.join("model.safetensors"), &bytes).expect("written");
    let opened = fs::OpenOptions::new().write(true).open(folder.join("model.safetensors")).expect("the file");
    opened.set_len((bytes.len() + 4 * HOLES) as u64).expect("a file of holes");
    let begun = Instant::now();
    let said = load(&folder.0, &mut |_| true).map(|_| ()).expect_err("it is refused").to_string();
    assert!(said.starts_with("model.safetensors: `holes`: found 32768 MB that no part of the model uses"), "{said}");
    assert!(begun.elapsed().as_secs() < 5, "nothing of it is read");
}

#[test]
fn loading_tells_how_far_it_is_and_can_be_ended() {
    let folder = fixture("bert-wild");
    let mut heard = Vec::new();
    load(&folder, &mut |progress| {
        heard.push(progress);
        true
    })
    .unwrap_or_else(|said| panic!("{said}"));
    assert!(heard.windows(2).all(|pair| pair[0].done < pair[1].done && pair[0].all == pair[1].all));
    let (first, last) = (heard[0], heard[heard.len() - 1]);
    assert_eq!((last.done, last.all), (126_808, 126_808));
    assert!(first.done < last.done);
    let mut left = 3;
    let ended = load(&folder, &mut |_| {
        left -= 1;
        left > 0
    });
    assert_eq!((ended.map(|_| ()), left), (Err(LoadStopped::Cancelled), 0));
}
