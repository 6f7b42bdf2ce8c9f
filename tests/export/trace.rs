//! `trace` against a recomputation from nothing but its own JSON, in f64.

use attune_core::kernel::Command;
use attune_core::kernel::command::SentenceCommand;
use serde_json::Value;

use crate::common::close::{self, Tolerance};
use crate::common::lessons::{self, APPLE, SMALL, edited};
use crate::common::top::at;

type Rows = Vec<Vec<f64>>;

fn rows(tensor: &Value) -> Rows {
    let shape: Vec<usize> = serde_json::from_value(tensor["shape"].clone()).expect("a shape");
    let rows: Rows = serde_json::from_value(tensor["rows"].clone()).expect("rows of numbers");
    assert_eq!((rows.len(), rows[0].len()), (shape[0], shape[1]), "the shape is that of the rows");
    rows
}

fn product(a: &Rows, b: &Rows) -> Rows {
    a.iter().map(|a| (0..b[0].len()).map(|j| a.iter().zip(b).map(|(x, b)| x * b[j]).sum()).collect()).collect()
}

fn transposed(a: &Rows) -> Rows {
    (0..a[0].len()).map(|j| a.iter().map(|row| row[j]).collect()).collect()
}

fn columns(a: &Rows, range: std::ops::Range<usize>) -> Rows {
    a.iter().map(|row| row[range.clone()].to_vec()).collect()
}

fn affine(x: &Rows, parameters: &Value, name: &str) -> Rows {
    let bias = rows(&parameters[format!("b_{name}")]);
    let product = product(x, &rows(&parameters[format!("W_{name}")]));
    product.into_iter().map(|row| row.iter().zip(&bias[0]).map(|(y, b)| y + b).collect()).collect()
}

fn softmax(row: &[f64]) -> Vec<f64> {
    let exp: Vec<f64> = row.iter().map(|s| s.exp()).collect();
    let sum: f64 = exp.iter().sum();
    exp.into_iter().map(|e| e / sum).collect()
}

#[track_caller]
fn assert_close(name: &str, found: &Rows, expected: &Rows) {
    close::assert_close(name, found.concat(), expected.concat(), Tolerance::SINGLE_PASS);
}

fn trace(lesson: &str, sentence: Option<&str>) -> Value {
    let mut kernel = lessons::kernel(lesson);
    if let Some(sentence) = sentence {
        kernel.apply(Command::Sentence(SentenceCommand::Set(sentence.to_owned())));
    }
    let json = attune_view::export::trace::trace(&kernel.snapshot()).expect("a trained model");
    serde_json::from_str(&json).expect("JSON")
}

fn recompute(lesson: &str, sentence: Option<&str>) {
    let trace = trace(lesson, sentence);
    let (config, parameters, tensors) = (&trace["config"], &trace["parameters"], &trace["tensors"]);
    let block = &config["blocks"][0];
    let size = |name: &str| block[name].as_u64().expect("a size") as usize;
    let (heads, d_k, d_v) = (size("heads"), size("d_k"), size("d_v"));

    // The input is the static vector of each token and its position.
    let vocabulary: Vec<String> = serde_json::from_value(trace["vocabulary"].clone()).expect("words");
    let tokens: Vec<String> = serde_json::from_value(trace["tokens"].clone()).expect("words");
    let vectors: Rows = serde_json::from_value(trace["static"].clone()).expect("V rows of D");
    assert_eq!(vectors.len(), vocabulary.len());
    let positions = parameters.get("P").map(rows);
    let embedded: Rows = tokens
        .iter()
        .enumerate()
        .map(|(t, token)| {
            let row = vocabulary.iter().position(|word| word == token).expect("a known word");
            let place = |j: usize| positions.as_ref().map_or(0.0, |positions| positions[t][j]);
            vectors[row].iter().enumerate().map(|(j, e)| e + place(j)).collect()
        })
        .collect();
    let x = rows(&tensors["X"]);
    assert_close("X", &x, &embedded);

    let [q, k, v] = ["Q", "K", "V"].map(|name| affine(&x, parameters, name));
    let mut concatenated: Rows = vec![Vec::new(); tokens.len()];
    for h in 0..heads {
        let (keys, values) = (h * d_k..(h + 1) * d_k, h * d_v..(h + 1) * d_v);
        let (q, k, v) = (columns(&q, keys.clone()), columns(&k, keys), columns(&v, values));
        let scale = block["scale"].as_f64().expect("a factor");
        // What distance adds, from the furthest word before to the furthest behind.
        let furthest = block["distances"].as_u64().map_or(0, |tokens| tokens as usize - 1);
        let bias = parameters.get("B").map(rows);
        let distance = |i: usize, j: usize| bias.as_ref().map_or(0.0, |bias| bias[h][furthest + j - i]);
        let products = product(&q, &transposed(&k)).into_iter().enumerate();
        let scores: Rows = products
            .map(|(i, row)| row.iter().enumerate().map(|(j, s)| s * scale + distance(i, j)).collect())
            .collect();
        let weights: Rows = scores.iter().map(|row| softmax(row)).collect();
        let mix = product(&weights, &v);
        for (name, recomputed) in
            [("Q", &q), ("K", &k), ("V", &v), ("scores", &scores), ("weights", &weights), ("mix", &mix)]
        {
            assert_close(name, &rows(&tensors[format!("{name}[{h}]")]), recomputed);
        }
        concatenated.iter_mut().zip(mix).for_each(|(row, mix)| row.extend(mix));
    }
    let output: Rows = affine(&concatenated, parameters, "O")
        .iter()
        .zip(&x)
        .map(|(y, x)| y.iter().zip(x).map(|(y, x)| y + x).collect())
        .collect();
    let traced = rows(&tensors["output"]);
    assert_close("output", &traced, &output);

    // And the contributions, which are part of the trace, add up to the difference.
    let bias = &rows(&parameters["b_O"])[0];
    for i in 0..tokens.len() {
        for d in 0..bias.len() {
            let term = |h: usize, j: usize| {
                tensors[format!("contributions[{h}]")]["rows"][i][j][d].as_f64().expect("a number")
            };
            let sum: f64 =
                (0..heads).flat_map(|h| (0..tokens.len()).map(move |j| (h, j))).map(|(h, j)| term(h, j)).sum();
            close::assert_close_beside(1.0, d, traced[i][d], x[i][d] + bias[d] + sum, Tolerance::SINGLE_PASS);
        }
    }
}

#[test]
fn the_trace_can_be_recomputed() {
    recompute(SMALL, None);
    recompute(SMALL, Some("seal"));
    recompute(APPLE, None);
    recompute(APPLE, Some("investors like apple"));
}

#[test]
fn a_masked_score_is_null_and_its_weight_is_zero() {
    let causal = edited(SMALL, &[(r#"MaskedWord(rate: 0.3, among: ["mineral", "animal"])"#, "NextWord")]);
    let trace = trace(&causal, None);
    assert_eq!(trace["config"]["blocks"][0]["mask"], "causal");
    assert_eq!(trace["tensors"]["scores[0]"]["rows"][0][1], Value::Null);
    assert_eq!(trace["tensors"]["weights[0]"]["rows"][0][1], 0.0);
    assert_eq!(trace["tensors"]["weights[0]"]["rows"][0][0], 1.0);
}

#[test]
fn the_trace_of_every_form_goes_from_block_to_block_to_the_logits() {
    let forms = ["label", "next_word", "parameter_free", "reversal", "translation", "custom_mask", "bart", "marian"];
    for form in forms {
        let lesson = std::fs::read_to_string(at(format!("tests/fixtures/forms/{form}.ron"))).expect("a fixture");
        let trace = trace(&lesson, None);
        let (config, tensors) = (&trace["config"], &trace["tensors"]);
        let blocks = config["blocks"].as_array().expect("blocks");
        let sources = config["source_blocks"].as_u64().expect("a count") as usize;
        assert_eq!(trace["source"].is_array(), sources > 0, "{form}");
        let mut head = 0;
        let mut before = if sources > 0 { rows(&tensors["X[source]"]) } else { rows(&tensors["X"]) };
        for (b, block) in blocks.iter().enumerate() {
            if b == sources {
                before = rows(&tensors["X"]);
            }
            assert_eq!(rows(&tensors[format!("input[block {b}]")]), before, "{form}, block {b}");
            before = rows(&tensors[format!("output[block {b}]")]);
            for _ in 0..block["heads"].as_u64().expect("a count") {
                let weights = rows(&tensors[format!("weights[{head}]")]);
                let [queries, keys] = ["Q", "K"].map(|name| rows(&tensors[format!("{name}[{head}]")]).len());
                assert_eq!((weights.len(), weights[0].len()), (queries, keys), "{form}, head {head}");
                head += 1;
            }
        }
        assert!(tensors[format!("weights[{head}]")].is_null());
        assert_eq!(rows(&tensors["output"]), before);

        let (logits, classes) = (rows(&tensors["logits"]), trace["classes"].as_array().expect("names"));
        assert_eq!(logits[0].len(), classes.len(), "{form}");
        if config["readout"] == "linear" {
            let mean = |rows: Rows| {
                let sum = |d: usize| rows.iter().map(|row| row[d]).sum::<f64>() / rows.len() as f64;
                vec![(0..rows[0].len()).map(sum).collect()]
            };
            let read = if config["pooling"] == "mean" { mean(before) } else { before };
            assert_close("logits", &logits, &affine(&read, &trace["parameters"], "logits"));
        }
    }
}
