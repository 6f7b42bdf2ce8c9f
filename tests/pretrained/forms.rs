//! One model written in every way in which people have it: read, it is the same, number for number.

use std::collections::BTreeMap;
use std::fs;

use attune_engine::numerics::activation::Activation;
use attune_engine::numerics::model::Readout;
use attune_engine::numerics::params::TensorName;
use attune_engine::pretrained::safetensors::{Dtype, widen};
use attune_engine::pretrained::{Family, Pretrained, load};
use data_encoding::HEXLOWER;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::common::close::Tolerance;
use crate::common::folder::Folder;
use crate::values::{self, TOLERANCE, check, difference, sentences};
use crate::written::{Model, Written, WrittenTensor};

const WILD: [(&str, &str); 2] = [("bert-wild", "bert."), ("gpt2-wild", "transformer.")];

#[track_caller]
fn same(found: &Pretrained, expected: &Pretrained) {
    assert_eq!(found.embedding, expected.embedding);
    assert_eq!(found.parameters, expected.parameters);
    assert_eq!((found.has_head, &found.architecture), (expected.has_head, &expected.architecture));
}

/// A tensor in another kind of numbers; what half precision does not have is cut off.
fn converted(tensor: &WrittenTensor, dtype: &'static str) -> WrittenTensor {
    let half = |number: f32| -> u16 {
        let bits = number.to_bits();
        let sign = (bits >> 16 & 0x8000) as u16;
        let exponent = (bits >> 23 & 0xff) as i32 - 127 + 15;
        assert!(exponent < 31, "{number} is too large for a half");
        let magnitude = if exponent < 1 { 0 } else { (exponent as u16) << 10 | (bits >> 13 & 1023) as u16 };
        sign | magnitude
    };
    let numbers = tensor.numbers();
    let bytes = match dtype {
        "F16" => numbers.iter().flat_map(|&number| half(number).to_le_bytes()).collect(),
        "BF16" => numbers.iter().flat_map(|number| ((number.to_bits() >> 16) as u16).to_le_bytes()).collect(),
        "F64" => numbers.iter().flat_map(|&number| f64::from(number).to_le_bytes()).collect(),
        other => panic!("{other}"),
    };
    WrittenTensor { dtype, bytes, ..tensor.clone() }
}

#[test]
fn prefixes_may_be_there_or_not() {
    for (name, prefix) in WILD {
        let mut model = Model::of(name);
        let expected = model.loaded();
        model.weights.rename(|name| name.strip_prefix(prefix).unwrap_or(name).to_owned());
        assert!(model.weights.tensors.iter().all(|tensor| !tensor.name.starts_with(prefix)));
        same(&model.loaded(), &expected);
        check(name, &model.loaded());
    }
}

#[test]
fn norms_may_have_gamma_and_beta() {
    let mut model = Model::of("bert-wild");
    let expected = model.loaded();
    model
        .weights
        .rename(|name| name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"));
    assert!(model.weights.tensors.iter().filter(|tensor| tensor.name.ends_with("gamma")).count() == 8);
    same(&model.loaded(), &expected);
}

#[test]
fn numbers_may_be_of_other_kinds() {
    for (name, _) in WILD {
        let model = Model::of(name);
        for (dtype, kind) in [("F16", Dtype::F16), ("BF16", Dtype::BF16), ("F64", Dtype::F64)] {
            // The same values in F32: what is expected, by the path that the oracle has checked.
            let (mut narrow, mut wide) = (model.clone(), model.clone());
            for (narrow, wide) in narrow.weights.tensors.iter_mut().zip(&mut wide.weights.tensors) {
                *narrow = converted(narrow, dtype);
                let mut numbers = Vec::new();
                widen(kind, &narrow.bytes, &mut numbers);
                *wide = WrittenTensor::f32(&wide.name, &wide.shape, &numbers);
            }
            let found = narrow.loaded();
            same(&found, &wide.loaded());
            let size = if dtype == "F64" { size_of::<f32>() } else { size_of::<u16>() };
            assert_eq!(
                found.embedding.bytes(),
                found.embedding.rows() * found.embedding.cols() * size,
                "{name}, {dtype}"
            );
            let largest = difference(name, found.embedding.widened().flat(), model.loaded().embedding.widened().flat());
            // Numbers of 16 bits are others, in their last digits.
            let bounds = if dtype == "F64" { 0.0..=0.0 } else { Tolerance::SINGLE_PASS.part() as f32..=0.02 };
            assert!(bounds.contains(&largest), "{name} in {dtype}: off by {largest}");
            if dtype == "F64" {
                check(name, &found);
            }
        }
    }
}

#[test]
fn a_model_may_lie_in_two_files() {
    for (name, _) in WILD {
        let mut model = Model::of(name);
        let expected = model.loaded();
        let folder = Folder::new("shards");
        model.put(&folder);
        fs::remove_file(folder.join("model.safetensors")).expect("it is there");
        let files = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"];
        let second = Written { tensors: model.weights.tensors.split_off(20) };
        let mut places = BTreeMap::new();
        for (file, written) in files.into_iter().zip([&model.weights, &second]) {
            fs::write(folder.join(file), written.bytes()).expect("written");
            places.extend(written.tensors.iter().map(|tensor| (tensor.name.clone(), file)));
        }
        let index = json!({ "metadata": { "total_size": 1 }, "weight_map": places }).to_string();
        fs::write(folder.join("model.safetensors.index.json"), index).expect("written");
        let found = load(&folder.0, &mut |_| true).unwrap_or_else(|said| panic!("{said}"));
        same(&found, &expected);
        let names: Vec<&str> = found.files.iter().map(|file| &*file.name).collect();
        assert_eq!(names, [files[0], files[1], "config.json", "model.safetensors.index.json"]);
        for file in &found.files {
            let bytes = fs::read(folder.join(&file.name)).expect("a file");
            assert_eq!((file.bytes, &*file.sha256), (bytes.len() as u64, &*HEXLOWER.encode(&Sha256::digest(&bytes))));
        }
        let last = found.origins.of.values().find(|origin| origin.file == 1).expect("one of the second file");
        assert!(second.tensors.iter().any(|tensor| tensor.name == last.tensor));

        fs::remove_file(folder.join(files[1])).expect("it is there");
        let said = load(&folder.0, &mut |_| true).expect_err("a file is missing").to_string();
        assert!(said.contains("no `model-00002-of-00002.safetensors`, which the index names"), "{said}");
    }
}

#[test]
fn what_is_no_part_of_the_model_is_passed() {
    let extra = |name: &str, dtype, shape: &[usize], bytes: usize| WrittenTensor {
        name: name.to_owned(),
        dtype,
        shape: shape.to_vec(),
        bytes: vec![7; bytes],
    };
    let mut model = Model::of("bert-wild");
    let expected = model.loaded();
    let extras = [
        extra("bert.embeddings.position_ids", "I64", &[1, 40], 320),
        extra("bert.pooler.dense.weight", "F32", &[24, 24], 2304),
        extra("cls.seq_relationship.bias", "F32", &[2], 8),
        extra("classifier.scale", "F8_E5M2", &[], 1),
    ];
    model.weights.tensors.splice(0..0, extras[..2].iter().cloned());
    model.weights.tensors.extend(extras[2..].iter().cloned());
    let table = model.weights.tensor("bert.embeddings.word_embeddings.weight").clone();
    let bias = model.weights.tensor("cls.predictions.bias").clone();
    model.weights.tensors.push(WrittenTensor { name: "cls.predictions.decoder.weight".to_owned(), ..table });
    model.weights.tensors.push(WrittenTensor { name: "cls.predictions.decoder.bias".to_owned(), ..bias });
    let found = model.loaded();
    same(&found, &expected);
    let skipped = ["bert.embeddings.position_ids", "bert.pooler.dense.weight", "classifier.scale"];
    let tied = ["cls.predictions.decoder.bias", "cls.predictions.decoder.weight", "cls.seq_relationship.bias"];
    assert_eq!(found.origins.skipped, [skipped, tied].concat());

    let mut model = Model::of("gpt2-wild");
    let expected = model.loaded();
    for layer in 0..3 {
        let name = |end: &str| format!("transformer.h.{layer}.attn.{end}");
        model.weights.tensors.insert(layer, extra(&name("bias"), "U8", &[1, 1, 40, 40], 1600));
        model.weights.tensors.push(extra(&name("masked_bias"), "F32", &[], 4));
    }
    let table = model.weights.tensor("transformer.wte.weight").clone();
    model.weights.tensors.insert(0, WrittenTensor { name: "lm_head.weight".to_owned(), ..table });
    let found = model.loaded();
    same(&found, &expected);
    assert_eq!(found.origins.skipped.len(), 7);
}

#[test]
fn a_body_without_a_head_is_a_model_too() {
    let mut model = Model::of("bert-wild");
    model.weights.tensors.retain(|tensor| !tensor.name.starts_with("cls."));
    let found = model.loaded();
    assert_eq!((found.has_head, found.architecture.readout), (false, Readout::Tied));
    assert!(found.parameters.values_of(TensorName::LogitBias).iter().all(|&bias| bias == 0.0));
    let sentence = &sentences("bert-wild")[0];
    let run = values::tensors(&found, &sentence.ids, &sentence.types);
    assert!(difference("output.2", &run["output.2"], &sentence.tensors["output.2"]) <= TOLERANCE);
    // A head whose table is in no file is not guessed at.
    let mut untied = Model::of("bert-wild");
    untied.set("tie_word_embeddings", false);
    assert!(!untied.loaded().has_head);
}

#[test]
fn a_reader_may_have_logits_of_its_own() {
    const NAME: &str = "cls.predictions.decoder.weight";
    let mut model = Model::of("bert-wild");
    model.set("tie_word_embeddings", false);
    // Another table, of which the oracle's logits say those that must come: its rows three times as long, in reverse.
    let table = model.weights.tensor("bert.embeddings.word_embeddings.weight").numbers();
    let other: Vec<f32> = table.chunks(24).rev().flatten().map(|x| 3.0 * x).collect();
    let bias = model.weights.tensor("cls.predictions.bias").numbers();
    model.weights.tensors.push(WrittenTensor::f32(NAME, &[600, 24], &other));
    let found = model.loaded();
    assert_eq!((found.has_head, found.architecture.readout), (true, Readout::TransformedLinear(Activation::Gelu)));
    assert!(found.origins.skipped.is_empty());
    let entry = found.entry(TensorName::LogitWeights, 5, 7).expect("it is in the file");
    assert_eq!((entry.tensor, entry.index), (NAME, vec![7, 5]));
    for sentence in sentences("bert-wild") {
        let logits = &values::tensors(&found, &sentence.ids, &sentence.types)["logits"];
        let of_row = |row: &[f32]| -> Vec<f32> {
            (0..600).map(|class| 3.0 * (row[599 - class] - bias[599 - class]) + bias[class]).collect()
        };
        let expected: Vec<f32> = sentence.tensors["logits"].chunks(600).flat_map(of_row).collect();
        assert!(difference("logits", logits, &expected) <= 3.0 * TOLERANCE);
    }
}

#[test]
fn a_writer_may_have_logits_of_its_own() {
    let mut model = Model::of("gpt2-wild");
    model.set("tie_word_embeddings", false);
    let twice: Vec<f32> = model.weights.tensor("transformer.wte.weight").numbers().iter().map(|x| 2.0 * x).collect();
    model.weights.tensors.push(WrittenTensor::f32("lm_head.weight", &[600, 24], &twice));
    let found = model.loaded();
    assert_eq!(found.architecture.readout, Readout::Linear);
    for sentence in sentences("gpt2-wild") {
        let logits = &values::tensors(&found, &sentence.ids, &sentence.types)["logits"];
        let expected: Vec<f32> = sentence.tensors["logits"].iter().map(|logit| 2.0 * logit).collect();
        assert!(difference("logits", logits, &expected) <= 2.0 * TOLERANCE);
    }
}

#[test]
fn scores_are_scaled_as_the_config_says() {
    let sentence = &sentences("gpt2-wild")[0];
    let scores = |field: &str, value: bool, layer: usize| {
        let mut model = Model::of("gpt2-wild");
        model.set(field, value);
        values::tensors(&model.loaded(), &sentence.ids, &sentence.types)[&format!("scores.{layer}")].clone()
    };
    let times = |layer: usize, factor: f32| -> Vec<f32> {
        sentence.tensors[&format!("scores.{layer}")].iter().map(|score| score * factor).collect()
    };
    let unscaled = scores("scale_attn_weights", false, 0);
    assert!(difference("scores", &unscaled, &times(0, 8f32.sqrt())) <= 2.0 * TOLERANCE);
    for (layer, factor) in [(0, 1.0), (1, 0.5)] {
        let halved = scores("scale_attn_by_inverse_layer_idx", true, layer);
        // The second layer reads the first, which is as it was.
        assert!(difference("scores", &halved, &times(layer, factor)) <= TOLERANCE, "layer {layer}");
    }
}

#[test]
fn distilbert_is_bert_without_types() {
    let bert = Model::of("bert-wild");
    let mut model = bert.clone();
    model.config = serde_json::from_value(json!({ "model_type": "distilbert", "dim": 24, "n_layers": 3, "n_heads": 3,
        "hidden_dim": 40, "vocab_size": 600, "max_position_embeddings": 40 }))
    .expect("an object");
    // Of the same words, all in the first sentence.
    let types = bert.weights.tensor("bert.embeddings.token_type_embeddings.weight").numbers();
    let places = model.weights.tensor_mut("bert.embeddings.position_embeddings.weight");
    let sums: Vec<f32> = places.numbers().iter().enumerate().map(|(i, place)| place + types[i % 24]).collect();
    *places = WrittenTensor::f32(&places.name, &[40, 24], &sums);
    model.weights.tensors.retain(|tensor| !tensor.name.contains("token_type"));
    let names = [
        ("bert.encoder.layer.", "distilbert.transformer.layer."),
        ("bert.embeddings.", "distilbert.embeddings."),
        ("attention.self.query.", "attention.q_lin."),
        ("attention.self.key.", "attention.k_lin."),
        ("attention.self.value.", "attention.v_lin."),
        ("attention.output.dense.", "attention.out_lin."),
        ("attention.output.LayerNorm.", "sa_layer_norm."),
        ("intermediate.dense.", "ffn.lin1."),
        ("output.dense.", "ffn.lin2."),
        (".output.LayerNorm.", ".output_layer_norm."),
        ("cls.predictions.transform.dense.", "vocab_transform."),
        ("cls.predictions.transform.LayerNorm.", "vocab_layer_norm."),
        ("cls.predictions.bias", "vocab_projector.bias"),
    ];
    model.weights.rename(|name| names.iter().fold(name.to_owned(), |name, (from, to)| name.replace(from, to)));
    let (found, bert) = (model.loaded(), bert.loaded());
    assert_eq!((found.config.family, found.has_head, found.origins.skipped.len()), (Family::DistilBert, true, 0));
    let (ids, types) = ([2, 45, 311, 7, 599], [0; 5]);
    let expected = values::tensors(&bert, &ids, &types);
    let run = values::tensors(&found, &ids, &types);
    for name in ["input", "scores.2", "output.2", "logits"] {
        assert!(difference(name, &run[name], &expected[name]) <= TOLERANCE, "{name}");
    }
}

#[test]
fn an_entry_is_named_with_its_tensor_and_file() {
    let model = Model::of("gpt2-wild").loaded();
    let entry = model.entry(TensorName::KeyWeights.of_block(1), 3, 5).expect("it is from the file");
    assert_eq!(entry.to_string(), "entry [3, 29] of `transformer.h.1.attn.c_attn.weight` in model.safetensors");
    let entry = model.entry(TensorName::Embedding, 599, 0).expect("it is from the file");
    assert_eq!(entry.to_string(), "entry [599, 0] of `transformer.wte.weight` in model.safetensors");
}
