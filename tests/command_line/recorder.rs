//! The recorder that `attune manual record` prints, run on random models of many architectures. It needs a Python with
//! torch, transformers and safetensors; elsewhere the recordings in `tests/fixtures/recordings`, which it made, stand
//! for it.

use std::fs;

use serde_json::Value;

use crate::common::folder::Folder;
use crate::common::python::with_torch;
use crate::program::{ended, program, said};

/// The script that records the models.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/command_line/oracle/record_models.py");
const LESSONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/lessons");
/// The most that two libraries may differ in a weight, and in a number of the models that are shipped.
const WEIGHTS_MOST: f64 = 2e-6;
const QUERIES_MOST: f64 = 2e-5;
const STATES_MOST: f64 = 1e-4;

/// A folder with recordings of all models, and what the models say of themselves; `None`, loudly, without torch.
fn recorded() -> Option<(Folder, Value)> {
    let mut python = with_torch()?;
    let folder = Folder::new("recorder");
    let recorder = program().args(["manual", "record"]).output().expect("the program starts").stdout;
    fs::write(folder.join("record.py"), recorder).expect("a file");
    let output =
        python.args([SCRIPT, &folder.file(""), LESSONS]).env("PYTHONPATH", &folder.0).output().expect("Python starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let expected = serde_json::from_slice(&fs::read(folder.join("expected.json")).expect("a file")).expect("JSON");
    Some((folder, expected))
}

fn trace(args: &[&str]) -> Value {
    let output = program().arg("trace").args(args).output().expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// The largest difference of two matrices, as lists of rows with `null` for −∞.
fn difference(a: &Value, b: &Value) -> f64 {
    let numbers = |rows: &Value| -> Vec<Option<f64>> {
        let rows = rows.as_array().expect("rows").iter();
        rows.flat_map(|row| row.as_array().expect("a row").iter().map(Value::as_f64)).collect()
    };
    let (a, b) = (numbers(a), numbers(b));
    assert_eq!(a.len(), b.len());
    let each = a.into_iter().zip(b).map(|pair| match pair {
        (Some(a), Some(b)) => (a - b).abs(),
        (None, None) => 0.0,
        _ => f64::INFINITY,
    });
    each.fold(0.0, f64::max)
}

#[test]
fn what_the_recorder_writes_of_any_model_is_what_the_model_says() {
    let Some((folder, expected)) = recorded() else { return };
    let models = expected["weights"].as_object().expect("models");
    assert!(models.len() >= 17, "{} models", models.len());
    // Of these, only the weights can be had.
    let without_proof = ["deberta", "bertviz", "bertviz_pair"];
    for (model, attentions) in models {
        let run = folder.file(&format!("{model}.safetensors"));
        let printed = ended(said(&["check", &run]), 0, "rows sum to");
        assert_eq!(printed.contains("no proof"), without_proof.contains(&&**model), "{printed}");
        let traced = trace(&[&run]);
        let (mut head, mut compared) = (0, 0);
        for block in traced["config"]["blocks"].as_array().expect("blocks") {
            let weights = &attentions[block["attention"].as_str().expect("a name")];
            for own in 0..block["heads"].as_u64().expect("a number") as usize {
                let ours = &traced["tensors"][format!("weights[{head}]")]["rows"];
                if weights.is_array() {
                    let off = difference(ours, &weights[own]);
                    assert!(off <= WEIGHTS_MOST, "{model}: {block}: {off}");
                    compared += usize::from(own == 0);
                }
                head += 1;
            }
        }
        assert_eq!(compared, attentions.as_object().expect("attentions").len(), "{model}: a layer is missing");
    }
    let faults = &expected["faults"];
    let says =
        |case: &str, words: &str| assert!(faults[case].as_str().is_some_and(|said| said.contains(words)), "{faults}");
    says("no attention", "attn_implementation=\"eager\"");
    says("other tokens", "but there are 3 tokens");
    says("a batch", "without the batch");
    the_models_of_the_course_agree_with_their_recordings(&folder);
}

/// What transformers computes of the shipped models is what attune computes.
fn the_models_of_the_course_agree_with_their_recordings(folder: &Folder) {
    for model in ["depth", "writer"] {
        let run = folder.file(&format!("{model}.safetensors"));
        ended(said(&["check", &run]), 0, "answers");
        let of_run = trace(&[&run]);
        let sentence = of_run["text"].as_str().expect("the text");
        let of_model = trace(&[&format!("{LESSONS}/{model}"), "--sentence", sentence]);
        assert_eq!(of_run["tokens"], of_model["tokens"], "{model}");
        for (name, tensor) in of_run["tensors"].as_object().expect("tensors") {
            let most = match name.split('[').next().expect("a name") {
                "weights" => WEIGHTS_MOST,
                "input" | "output" => STATES_MOST,
                _ => QUERIES_MOST,
            };
            let off = difference(&tensor["rows"], &of_model["tensors"][name]["rows"]);
            assert!(off <= most, "{model}: {name}: {off}");
        }
    }
}
