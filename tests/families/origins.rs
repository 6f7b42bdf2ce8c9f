//! Each number leads to the file's own entry, whatever stack it lies in.

use std::collections::BTreeMap;
use std::fs;

use attune_engine::numerics::params::{TensorId, TensorName};
use attune_engine::pretrained::load;

use crate::folder::Folder;
use crate::{FIXTURES, fixture, read, tensors, write};

/// Where an index stands in a tensor, row-major.
fn place(index: &[usize], shape: &[usize]) -> usize {
    assert_eq!(index.len(), shape.len());
    assert!(index.iter().zip(shape).all(|(at, size)| at < size), "{index:?} of {shape:?}");
    index.iter().zip(shape).fold(0, |place, (at, size)| place * size + at)
}

#[test]
fn each_number_is_its_entry_of_the_file() {
    for name in FIXTURES.into_iter().chain(["bert-wild", "gpt2-wild"]) {
        let model = read(name);
        let files: BTreeMap<&str, _> = model
            .files
            .iter()
            .filter(|file| file.name.ends_with(".safetensors"))
            .map(|file| (&*file.name, tensors(&fixture(name).join(&file.name))))
            .collect();
        let mut seen = 0;
        let mut check = |id: TensorId, row, col, value: f32| {
            let Some(entry) = model.entry(id, row, col) else {
                assert_eq!((name, id.name), ("gpt2-wild", TensorName::LogitBias), "it is in no file");
                return;
            };
            let (shape, numbers) = &files[entry.file][entry.tensor];
            let number = numbers[place(&entry.index, shape)];
            assert_eq!(number.to_bits(), value.to_bits(), "{name}: {id} [{row}, {col}] is {entry}");
            seen += 1;
        };
        for (spec, values) in model.parameters.tensors() {
            for (at, &value) in values.iter().enumerate() {
                check(spec.id, at / spec.cols, at % spec.cols, value);
            }
        }
        let table = &model.embedding;
        for (row, col) in (0..table.rows()).flat_map(|row| (0..table.cols()).map(move |col| (row, col))) {
            check(TensorName::Embedding.into(), row, col, table.get(row, col));
        }
        let all: usize = files.values().flatten().map(|(_, (_, numbers))| numbers.len()).sum();
        assert_eq!(seen, all, "{name}: every number of the files is somewhere");
    }
}

/// A stack is read piece by piece, and its parts begin and end within the pieces.
#[test]
fn stacks_larger_than_a_piece_come_apart_in_their_rows() {
    const WIDTH: usize = 192;
    const STACK: usize = 3 * WIDTH;
    const HIDDEN: usize = 300;
    let config = format!(
        r#"{{"model_type":"phi3","hidden_size":{WIDTH},"num_hidden_layers":1,"num_attention_heads":4,"vocab_size":5,
            "intermediate_size":{HIDDEN},"max_position_embeddings":8}}"#
    );
    let shapes: [(&str, Vec<usize>); 9] = [
        ("model.embed_tokens.weight", vec![5, WIDTH]),
        ("lm_head.weight", vec![5, WIDTH]),
        ("model.norm.weight", vec![WIDTH]),
        ("model.layers.0.input_layernorm.weight", vec![WIDTH]),
        ("model.layers.0.post_attention_layernorm.weight", vec![WIDTH]),
        ("model.layers.0.self_attn.qkv_proj.weight", vec![STACK, WIDTH]),
        ("model.layers.0.self_attn.o_proj.weight", vec![WIDTH, WIDTH]),
        ("model.layers.0.mlp.gate_up_proj.weight", vec![2 * HIDDEN, WIDTH]),
        ("model.layers.0.mlp.down_proj.weight", vec![WIDTH, HIDDEN]),
    ];
    let numbered = shapes.into_iter().map(|(name, shape)| {
        let count: usize = shape.iter().product();
        (name.to_owned(), (shape, (0..count).map(|at| at as f32).collect()))
    });
    let folder = Folder::new("stacks");
    write(&folder.join("model.safetensors"), &numbered.collect());
    fs::write(folder.join("config.json"), config).expect("written");
    let model = load(&folder.0, &mut |_| true).unwrap_or_else(|said| panic!("{said}"));
    use TensorName::{GateWeights, HiddenWeights, KeyWeights, QueryWeights, ValueWeights};
    for (name, first) in
        [(QueryWeights, 0), (KeyWeights, WIDTH), (ValueWeights, 2 * WIDTH), (GateWeights, 0), (HiddenWeights, HIDDEN)]
    {
        let spec = *model.parameters.spec(name).expect("a tensor");
        for (row, col) in (0..spec.rows).flat_map(|row| (0..spec.cols).map(move |col| (row, col))) {
            let number = ((first + col) * WIDTH + row) as f32;
            assert_eq!(model.parameters.entry(name, row, col), Some(number), "{name:?} [{row}, {col}]");
        }
    }
}
