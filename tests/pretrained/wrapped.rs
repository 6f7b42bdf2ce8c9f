//! Names that a program put a prefix before: read through it where it is plain what is meant.

use attune_engine::numerics::params::TensorName;
use attune_engine::pretrained::examine::examine;
use attune_engine::pretrained::folder::ModelFolder;

use crate::common::folder::Folder;
use crate::written::{Model, WrittenTensor};

/// Prefixes of wrappers, with what the names of the family have before them.
const WRAPPERS: [&str; 7] =
    ["_orig_mod.", "module.", "base_model.model.", "model.", "transformer.", "0.auto_model.", "lm."];

#[test]
fn tensors_are_read_through_the_prefix_of_a_wrapper() {
    for fixture in ["bert-wild", "gpt2-wild", "llama-wild", "neox-wild"] {
        let plain = Model::of(fixture).loaded();
        for wrapper in WRAPPERS {
            let mut model = Model::of(fixture);
            model.weights.rename(|name| format!("{wrapper}{name}"));
            let read = model.load().unwrap_or_else(|said| panic!("{fixture}, {wrapper}: {said}"));
            assert_eq!(read.parameters, plain.parameters, "{fixture}, {wrapper}");
            assert_eq!((read.has_head, read.origins.wrapper.as_deref()), (true, Some(wrapper)), "{fixture}");
            let origin = read.entry(TensorName::Embedding, 0, 0).expect("it is in the file");
            assert!(origin.tensor.starts_with(wrapper), "{fixture}: {}", origin.tensor);
            let folder = Folder::new("wrapped");
            model.put(&folder);
            let opened = ModelFolder::open(&folder.0).expect("it opens");
            let findings = examine(&opened, &read);
            let noted =
                findings.good.iter().any(|line| line.contains(&format!("after `{wrapper}`, which a program put")));
            assert!(noted && findings.faults.is_empty(), "{findings:?}");
        }
    }
}

#[test]
fn what_is_not_plain_is_refused_in_words() {
    let mut two = Model::of("bert-wild");
    let tables = ["query.bert.embeddings.word_embeddings.weight", "passage.bert.embeddings.word_embeddings.weight"];
    two.weights.rename(|name| format!("query.{name}"));
    let table = two.weights.tensor(tables[0]).clone();
    two.weights.tensors.push(WrittenTensor { name: tables[1].to_owned(), ..table });
    let said = two.load().map(|_| ()).expect_err("two models");
    assert!(tables.iter().all(|name| said.contains(name)) && said.contains("expected one model"), "{said}");

    let mut adapted = Model::of("bert-wild");
    let name = "bert.encoder.layer.0.attention.self.query.lora_A.default.weight";
    adapted.weights.tensors.push(WrittenTensor::f32(name, &[2, 24], &[0.5; 48]));
    let said = adapted.load().map(|_| ()).expect_err("an adapter");
    assert!(said.contains(name) && said.contains("the weights of an adapter") && said.contains("merge"), "{said}");

    // The weights of another family.
    let mut other = Model::of("bert-wild");
    other.weights.rename(|name| name.replace("bert.", "roberta."));
    let said = other.load().map(|_| ()).expect_err("RoBERTa's");
    assert!(said.contains("found no `embeddings.") && said.contains("but `"), "{said}");
}
