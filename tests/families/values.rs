//! Every tensor of a forward pass against transformers' in single precision and NumPy's in double.

use std::collections::BTreeMap;

use attune_engine::numerics::Matrix;
use attune_engine::numerics::contributions::Contributions;
use attune_engine::numerics::model::activations::HeadActivations;
use attune_engine::numerics::model::{Activations, Sequences};
use attune_engine::numerics::vectors::norm;
use attune_engine::pretrained::examine::{ModelFindings, examine};
use attune_engine::pretrained::folder::ModelFolder;
use attune_engine::pretrained::{Pretrained, load};
use serde_json::json;

use crate::common::close::{Tolerance, assert_close_beside};
use crate::models::pass;
use crate::{CONFIGS, FIXTURES, fixture, lists, parsed, read, tensors, text, with_config, write};

/// Between single precision and double; `mistakes` has what must be farther away.
pub const TOLERANCE: f32 = Tolerance::LIBRARY.part() as f32;

pub type Tensors = BTreeMap<String, Vec<f32>>;

/// What a fixture must give, by the names of its lists and tensors.
pub fn expected(name: &str) -> Tensors {
    let files = ["expected.safetensors", "numpy.safetensors"].map(|file| tensors(&fixture(name).join(file)));
    files.into_iter().flatten().map(|(name, (_, numbers))| (name, numbers)).collect()
}

/// The same tensors as attune computes them.
pub fn found(name: &str, model: &Pretrained) -> Tensors {
    let mut found = Tensors::new();
    for (list, ids) in lists(name) {
        let run = pass(model, &Sequences::one(&ids));
        let mut put = |name: &str, numbers: Vec<f32>| {
            found.insert(format!("{list}.{name}"), numbers);
        };
        put("hidden.0", run.input.flat().to_vec());
        // A model without a last norm has none in the oracle.
        put("final", run.output.flat().to_vec());
        put("logits", model.model().logits_of(&model.parameters, &run.output).flat().to_vec());
        for (layer, block) in run.blocks.iter().enumerate() {
            put(&format!("hidden.{}", layer + 1), block.output.flat().to_vec());
            put(&format!("mlp_hidden.{layer}"), block.hidden.as_ref().map_or(Vec::new(), |it| it.flat().to_vec()));
            type Pick = fn(&HeadActivations<f32>) -> &Matrix<f32>;
            let group = model.architecture.blocks[layer].attention.group_size;
            let all: [(&str, usize, Pick); 6] = [
                ("q", 1, |head| &head.query),
                ("k", group, |head| &head.key),
                ("v", group, |head| &head.value),
                ("scores", 1, |head| &head.scores),
                ("weights", 1, |head| &head.weights),
                ("mix", 1, |head| &head.mix),
            ];
            for (name, step, pick) in all {
                let heads = block.heads.iter().step_by(step);
                put(&format!("{name}.{layer}"), heads.flat_map(|head| pick(head).flat()).copied().collect());
            }
        }
    }
    found
}

/// The largest difference between entries; where one is infinite, the other must be too.
fn difference(found: &[f32], expected: &[f32]) -> f32 {
    if found.len() != expected.len() {
        return f32::INFINITY;
    }
    let one = |(&found, &expected): (&f32, &f32)| if found == expected { 0.0 } else { (found - expected).abs() };
    found.iter().zip(expected).map(one).fold(0.0, |most: f32, it| if it <= most { most } else { it })
}

/// The largest difference, and the tensor that has it.
pub fn worst(found: &Tensors, expected: &Tensors) -> (f32, String) {
    let of = |(key, expected): (&String, &Vec<f32>)| {
        (found.get(key).map_or(f32::INFINITY, |found| difference(found, expected)), key.clone())
    };
    let all = expected.iter().map(of);
    all.fold((0.0, String::new()), |most, it| if it.0 <= most.0 { most } else { it })
}

#[test]
fn every_tensor_is_that_of_other_programs_by_both_spellings() {
    for name in FIXTURES {
        let expected = expected(name);
        assert!(expected.len() >= 40, "{name}: {} tensors", expected.len());
        check_spellings(name, &expected, found);
    }
}

/// Holds every tensor of a fixture to the expected ones, with its config in both spellings.
pub fn check_spellings(name: &str, expected: &Tensors, found: fn(&str, &Pretrained) -> Tensors) {
    for config in CONFIGS {
        let folder = with_config(name, &text(name, config));
        let model = load(&folder.0, &mut |_| true).unwrap_or_else(|said| panic!("{name}, {config}: {said}"));
        let (off, key) = worst(&found(name, &model), expected);
        assert!(off <= TOLERANCE, "{name}, {config}: {key} is off by {off:e}");
        assert!(model.has_head && model.origins.skipped.is_empty(), "{name}: {:?}", model.origins.skipped);
    }
}

/// `A B` in double precision: of row-major matrices, the first with so many columns, `B` with those.
fn product(a: &[f32], inner: usize, b: impl Fn(usize, usize) -> f32, cols: usize) -> Vec<f32> {
    let entry = |row: &[f32], col| (0..inner).map(|at| f64::from(row[at]) * f64::from(b(at, col))).sum::<f64>() as f32;
    a.chunks_exact(inner).flat_map(|row| (0..cols).map(move |col| entry(row, col)).collect::<Vec<_>>()).collect()
}

/// The fixture of OPT has a table that is narrower than the model, which attune refuses. With the maps multiplied into
/// the table and into a readout of its own, it is a model of the usual form that computes the same.
#[test]
fn opt_is_that_of_another_program() {
    const WIDTH: usize = 28;
    const TABLE: usize = 20;
    let name = "opt-wild";
    let refused = load(&fixture(name), &mut |_| true).expect_err("a narrow table").to_string();
    assert!(refused.contains("20 as word_embed_proj_dim"), "{refused}");

    let mut file = tensors(&fixture(name).join("model.safetensors"));
    let mut take = |name: &str| file.remove(&format!("model.decoder.{name}.weight")).expect("a tensor").1;
    let [table, map_in, map_out] = ["embed_tokens", "project_in", "project_out"].map(&mut take);
    let words = table.len() / TABLE;
    let wide = product(&table, TABLE, |at, col| map_in[col * TABLE + at], WIDTH);
    let readout = product(&table, TABLE, |at, col| map_out[at * WIDTH + col], WIDTH);
    file.insert("model.decoder.embed_tokens.weight".to_owned(), (vec![words, WIDTH], wide));
    file.insert("lm_head.weight".to_owned(), (vec![words, WIDTH], readout));
    for config in CONFIGS {
        let mut fields = parsed(&text(name, config));
        fields["word_embed_proj_dim"] = WIDTH.into();
        fields["tie_word_embeddings"] = false.into();
        let folder = with_config(name, &fields.to_string());
        write(&folder.join("model.safetensors"), &file);
        let model = load(&folder.0, &mut |_| true).unwrap_or_else(|said| panic!("{config}: {said}"));
        let (off, key) = worst(&found(name, &model), &expected(name));
        assert!(off <= TOLERANCE, "{config}: {key} is off by {off:e}");
        for first in [0, 1] {
            let mut counted = model.clone();
            counted.architecture.position_rows.first = first;
            counted.architecture.max_tokens += 2 - first;
            let off = worst(&found(name, &counted), &expected(name)).0;
            assert!(off > 2.0 * TOLERANCE, "positions from {first}: off by {off:e} only");
        }
    }
}

/// The arrows of every word lead from what goes into a layer to what comes out of it, through the norms of all kinds.
#[test]
fn the_arrows_of_every_layer_add_up() {
    /// A sentence of the fixtures that have no lists of their own.
    const IDS: [usize; 6] = [2, 45, 311, 7, 599, 45];
    let of_lists = FIXTURES.into_iter().map(|name| (name, lists(name).into_values().collect()));
    let others = ["bert-wild", "bert-default", "gpt2-wild", "gpt2-default"].map(|name| (name, vec![IDS.to_vec()]));
    for (name, sentences) in of_lists.chain(others) {
        let model = read(name);
        for ids in sentences {
            check_arrows(name, &model, &pass(&model, &Sequences::one(&ids)));
        }
    }
}

/// Checks that the arrows of every block of a pass lead to its output, beside the shortest vector there.
pub fn check_arrows(name: &str, model: &Pretrained, run: &Activations<f32>) {
    for ((layer, config), block) in model.architecture.numbered_blocks().zip(&run.blocks) {
        let arrows = Contributions::of(config, layer, &model.parameters, block, &[]);
        let rows = 0..block.output.rows();
        let shortest = rows.map(|token| norm(block.output.row(token))).fold(f32::INFINITY, f32::min);
        let error = arrows.error(config, block);
        assert_close_beside(shortest, format!("{name}, block {layer}"), error, 0.0, Tolerance::SINGLE_SUMS);
    }
}

#[test]
fn a_model_examines_itself() {
    FIXTURES.into_iter().for_each(|name| _ = examined(name));
}

/// Returns what a fixture finds in itself, which is no fault.
pub fn examined(name: &str) -> ModelFindings {
    let folder = ModelFolder::open(&fixture(name)).unwrap_or_else(|said| panic!("{name}: {said}"));
    let findings = examine(&folder, &read(name));
    assert_eq!(findings.faults, Vec::<String>::new(), "{name}");
    findings
}

/// Gemma 3 with a model of pictures: the text's is within it, under other names.
#[test]
fn a_model_of_texts_within_one_of_pictures_is_read() {
    let name = "gemma3-wild";
    let file = tensors(&fixture(name).join("model.safetensors"));
    for (config, prefix) in CONFIGS.into_iter().zip(["model.language_model.", "language_model.model."]) {
        let fields = json!({ "model_type": "gemma3", "text_config": parsed(&text(name, config)), "vision_config": {} });
        let folder = with_config(name, &fields.to_string());
        let renamed =
            |(name, tensor): (&String, &(Vec<usize>, Vec<f32>))| (name.replacen("model.", prefix, 1), tensor.clone());
        let mut all: BTreeMap<_, _> = file.iter().map(renamed).collect();
        all.insert("vision_tower.vision_model.head.weight".to_owned(), (vec![2, 3], vec![0.5; 6]));
        write(&folder.join("model.safetensors"), &all);
        let model = load(&folder.0, &mut |_| true).unwrap_or_else(|said| panic!("{config}: {said}"));
        let (off, key) = worst(&found(name, &model), &expected(name));
        assert!(off <= TOLERANCE, "{config}: {key} is off by {off:e}");
        assert_eq!(model.origins.skipped, ["vision_tower.vision_model.head.weight"]);
    }
}
