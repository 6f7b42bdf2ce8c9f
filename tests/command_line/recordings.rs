//! Recordings: what `check` and `trace` say of files that other programs wrote, held against a second reader
//! (`tests/fixtures/recordings/check.py`), and of files that must be refused; and recordings that attune writes itself.

use std::fs;
use std::path::{Path, PathBuf};

use attune_view::view_model::needs::Needs;
use serde_json::Value;

use crate::common::close::{Tolerance, assert_close_beside, is_close_beside};
use crate::common::folder::Folder;
use crate::common::recorded::{Even, recording, tokens};
use crate::program::{attune, ended, program, ran, said};

const FOLDERS: [&str; 10] =
    ["attention-only", "bert", "llama-gqa", "picture", "senses", "sinks", "t5", "vit", "with-proof", "wrong-proof"];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/recordings")
}

fn file(folder: &str) -> String {
    fixtures().join(folder).join("run.safetensors").display().to_string()
}

fn expected(folder: &str) -> Value {
    json(&fs::read(fixtures().join(folder).join("expected.json")).expect("a file"))
}

fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).expect("JSON")
}

fn trace(args: &[&str]) -> Value {
    let output = program().arg("trace").args(args).output().expect("the program starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    json(&output.stdout)
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// The name that the second reader gives an attention: `cross_0`.
fn key_of(attention: &str) -> String {
    attention.rsplit('/').next().expect("a name").replace("attentions.", "")
}

/// Whether two deviations are equal but for the rounding of sums in another order.
fn are_equal(a: f64, b: f64) -> bool {
    /// A deviation that is rounding itself.
    const LEAST: f64 = Tolerance::SINGLE_PASS.part();
    is_close_beside(a.abs().max(b.abs()) + LEAST, a, b, Tolerance::SINGLE_SUMS).is_ok()
}

#[test]
fn deviations_are_those_of_the_second_reader() {
    let mut seen = 0;
    for folder in FOLDERS {
        let expected = expected(folder);
        let texts = expected.as_array().cloned().unwrap_or_else(|| vec![expected]);
        for (text, expected) in texts.iter().enumerate() {
            let traced = trace(&[&file(folder), "--text", &(text + 1).to_string()]);
            let layers = expected["layers"].as_object().expect("layers");
            for block in traced["config"]["blocks"].as_array().expect("blocks") {
                let name = block["attention"].as_str().expect("a name");
                let layer = &layers[&key_of(name)];
                assert_eq!(layer["heads"], block["heads"], "{folder}: {name}");
                let ours = &traced["deviation"][name];
                assert_eq!(ours.is_null(), layer["rows_off"].is_null(), "{folder}: {name}");
                if !ours.is_null() {
                    let pairs = [(&ours["rows"], &layer["rows_off"]), (&ours["largest"], &layer["largest"])];
                    for (ours, theirs) in pairs {
                        assert!(are_equal(number(ours), number(theirs)), "{folder}: {name}: {ours} for {theirs}");
                        seen += 1;
                    }
                }
            }
            assert_eq!(layers.len(), traced["config"]["blocks"].as_array().expect("blocks").len(), "{folder}");
        }
    }
    assert!(seen > 20, "{seen} deviations");
    assert!(!are_equal(0.207, 0.2071), "a difference of a thousandth is one");
}

#[test]
fn only_the_layer_that_does_not_follow_from_its_queries_and_keys_is_named() {
    for folder in FOLDERS {
        let output = attune(&["check", &file(folder)]);
        let (printed, faults) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let wrong = folder == "wrong-proof";
        assert_eq!(output.status.code(), Some(i32::from(wrong)), "{folder}: {faults}");
        assert_eq!(faults.contains("`attentions.1`"), wrong, "{folder}: {faults}");
        assert!(!faults.contains("`attentions.0`") && !faults.contains("`attentions.2`"), "{folder}: {faults}");
        assert!(printed.contains("rows sum to"), "{folder}: {printed}");
    }
    let (_, both) = said(&["check", &file("wrong-proof")]);
    assert!(both.contains("0.207 of a row elsewhere") && both.contains("0.733 to 1.111"), "{both}");
}

#[test]
fn check_says_what_opens_and_what_records_the_rest() {
    let (_, bare) = said(&["check", &file("attention-only")]);
    assert!(bare.contains("has: attention\n"), "{bare}");
    for needs in [Needs::States, Needs::Scores, Needs::Terms, Needs::Logits] {
        assert!(bare.contains(needs.words()), "{needs:?}: {bare}");
    }
    let (_, whole) = said(&["check", &file("bert")]);
    let has = "has: attention, points through the layers, scores and their proof, lengths and arrows, answers\n";
    assert!(whole.contains(has), "{whole}");
    assert!(Needs::PARTS.into_iter().all(|needs| !whole.contains(needs.words())), "{whole}");
}

#[test]
fn a_recording_has_no_weights_for_a_checkpoint() {
    let folder = Folder::new("recorded-checkpoint");
    let export = ["export", &file("bert"), "--to", "checkpoint", "-o", &folder.file("model")];
    ended(said(&export), 1, "model: found a recording, which has no weights");
}

#[test]
fn hostile_recordings_are_refused_by_the_name_of_what_is_wrong() {
    let expected = json(&fs::read(fixtures().join("hostile/expected.json")).expect("a file"));
    let cases = expected.as_object().expect("cases");
    assert_eq!(cases.len(), 25);
    for (case, named) in cases {
        let file = fixtures().join("hostile").join(format!("{case}.safetensors"));
        // The file's own name, which a message begins with, does not count.
        let named = match named.as_str().expect("a name") {
            "header" => "a header of",
            named => named,
        };
        for command in ["check", "trace"] {
            ended(ran(program().arg(command).arg(&file)), 1, named);
        }
        // What opens a lesson, as the window does, says the same.
        ended(ran(program().arg("render").arg(&file).args(["-o", "never-drawn.png"])), 1, named);
    }
}

#[test]
fn a_trace_has_what_was_recorded_and_leaves_out_the_rest() {
    let whole = trace(&[&file("t5")]);
    let tensors = whole["tensors"].as_object().expect("tensors");
    let blocks = whole["config"]["blocks"].as_array().expect("blocks");
    let order: Vec<&str> = blocks.iter().map(|block| block["attention"].as_str().expect("a name")).collect();
    assert_eq!(
        &order[..4],
        ["encoder_attentions.0", "encoder_attentions.1", "decoder_attentions.0", "cross_attentions.0"]
    );
    assert_eq!(blocks[3]["attends_to"], "source");
    assert_eq!(number(&blocks[0]["scale"]), 1.0, "T5 does not divide its scores");
    assert!(tensors.contains_key("input[block 2]") && !tensors.contains_key("output[block 2]"));
    assert!(!tensors.contains_key("input[block 3]") && tensors.contains_key("output[block 3]"));

    let bare = trace(&[&file("attention-only")]);
    let names: Vec<&String> = bare["tensors"].as_object().expect("tensors").keys().collect();
    assert!(names.iter().all(|name| name.starts_with("weights[")), "{names:?}");

    let hidden = trace(&[&file("llama-gqa")]);
    let scores = hidden["tensors"]["scores[0]"]["rows"].as_array().expect("rows");
    assert!(scores[0][1].is_null() && scores[1][0].is_number(), "a decoder does not see what follows");
    assert_eq!(hidden["tensors"]["K[0]"], hidden["tensors"]["K[1]"], "two heads share their keys");
    ended(said(&["trace", &file("bert"), "--text", "2"]), 2, "--text: the recording has 1 text");
    ended(said(&["trace", &file("bert"), "--sentence", "x"]), 2, "--sentence: a recording holds one pass");
}

/// The largest difference of a tensor in two traces, and whether it is the same to the last bit.
fn difference(a: &Value, b: &Value) -> f64 {
    let rows = |tensor: &Value| tensor["rows"].as_array().expect("rows").clone();
    let numbers = |tensor: &Value| -> Vec<Option<f64>> {
        rows(tensor).iter().flat_map(|row| row.as_array().expect("a row").iter().map(Value::as_f64)).collect()
    };
    let pairs = numbers(a).into_iter().zip(numbers(b));
    pairs
        .map(|pair| match pair {
            (Some(a), Some(b)) => (a - b).abs(),
            (None, None) => 0.0,
            _ => f64::INFINITY,
        })
        .fold(0.0, f64::max)
}

#[test]
fn what_attune_records_is_checked_and_traced_as_the_model_is() {
    let folder = Folder::new("recorded");
    let forms = ["decoder", "gemma", "label", "llama", "parameter_free", "pythia", "translation"];
    let lessons = forms.map(|form| format!("tests/fixtures/forms/{form}.ron"));
    let models = ["lessons/depth".to_owned(), "lessons/writer".to_owned()];
    for (number, model) in lessons.into_iter().chain(models).enumerate() {
        let run = folder.file(&format!("run{number}.safetensors"));
        ended(said(&["trace", &model, "--to", "safetensors", "-o", &run]), 0, "a recording");
        ended(said(&["check", &run]), 0, "of a row elsewhere");
        let (of_model, of_run) = (trace(&[&model]), trace(&[&run]));
        for (name, tensor) in of_run["tensors"].as_object().expect("tensors") {
            let own = &of_model["tensors"][name];
            assert!(!own.is_null(), "{model}: {name}");
            let (off, size) = (difference(tensor, own), if name.starts_with("weights") { 0.0 } else { 1.0 });
            assert_close_beside(size, format!("{model}: {name}"), off, 0.0, Tolerance::LIBRARY);
        }
        assert_eq!(of_run["tokens"], of_model["tokens"], "{model}");
    }
}

/// A head's file of HeadVis with as many sequences of two tokens.
fn head_of(sequences: usize) -> String {
    let one = r#"{"sequence_id": 7, "interval": 1, "tokens": ["a", " b"], "attention_indices": [2, 0, 3],
        "attention_values": [0.7502, 1.0, 0.25], "seq_len": 2, "max_activation": 0.25}"#;
    format!(r#"{{"sequences": [{}], "statistics": {{"n_samples": {sequences}}}}}"#, vec![one; sequences].join(","))
}

#[test]
fn a_head_of_headvis_is_a_recording_of_its_first_texts() {
    let folder = Folder::new("headvis");
    fs::create_dir(folder.join("heads")).expect("a folder");
    fs::write(folder.join("config.json"), r#"{"model_name": "gpt2", "heads": [[0, 0]]}"#).expect("a file");
    let run = folder.file("heads/L5H1.json");
    fs::write(&run, head_of(23)).expect("a file");
    let printed = ended(said(&["check", &run]), 0, "not used: sequences 21 to 23");
    assert!(printed.contains("20 texts, the first of 2 tokens, gpt2, L5H1"), "{printed}");
    assert!(printed.contains("19/attentions.5: 1 head, rows sum to 1.000 to 1.000"), "{printed}");
    let traced = trace(&[&run, "--text", "20"]);
    assert_eq!(
        (&traced["recording"], &traced["tokens"]),
        (&Value::from("gpt2, L5H1"), &serde_json::json!(["a", " b"]))
    );
    assert_eq!(traced["tensors"]["weights[0]"]["rows"], serde_json::json!([[1.0, 0.0], [0.7502, 0.25]]));
    ended(said(&["trace", &run, "--text", "21"]), 2, "--text: the recording has 20 texts");
    // A second download has another name, and a copy may lie apart from its folder.
    let copy = folder.file("L5H1 (1).json");
    fs::copy(&run, &copy).expect("a file");
    ended(said(&["check", &copy]), 0, "gpt2, L5H1 (1)");
}

#[test]
fn hostile_heads_of_headvis_are_refused_by_the_sequence_that_is_wrong() {
    let folder = Folder::new("hostile-heads");
    let good = head_of(2);
    let many_tokens = format!(
        r#"{{"sequences": [{{"tokens": [{}"a"], "attention_indices": [], "attention_values": []}}]}}"#,
        "\"a\",".repeat(4096)
    );
    let long_token = good.replacen("\"a\"", &format!("{:?}", "a".repeat(1001)), 1);
    let cases = [
        ("L1H0.json", "no JSON", "expected sequences of a head in JSON"),
        ("L1H0.json", "{}", "missing field `sequences`"),
        ("L1H0.json", r#"{"sequences": []}"#, "no sequences"),
        ("L1H0.json", &"[".repeat(100_000), "expected sequences of a head in JSON"),
        ("L1H0.json", &many_tokens, "`sequences[0]`: found more than 4096 tokens"),
        ("L1H0.json", &long_token, "`sequences[0]`: found a token of more than 1000 characters"),
        ("L1H0.json", &good.replacen(r#"["a", " b"]"#, "[]", 1), "`sequences[0]`: found no tokens"),
        ("L1H0.json", &good.replacen(r#""seq_len": 2"#, r#""seq_len": 3"#, 1), "`sequences[0]`: found a seq_len of 3"),
        ("L1H0.json", &good.replacen("0.25]", "0.25, 0.1]", 1), "`sequences[0]`: found 3 numbers in attention_indices"),
        (
            "L1H0.json",
            &good.replacen("[2, 0, 3]", "[2, 0, 4]", 1),
            "found 4 in attention_indices; expected numbers below 4",
        ),
        ("L1H0.json", &good.replacen("[2, 0, 3]", "[2, 0, 18446744073709551615]", 1), "found 18446744073709551615"),
        ("L1H0.json", &good.replacen("[2, 0, 3]", "[2, 0, -1]", 1), "expected sequences of a head in JSON"),
        ("L1H0.json", &good.replacen("[2, 0, 3]", "[2, 2, 3]", 1), "a number twice in attention_indices"),
        ("L1H0.json", &good.replacen("1.0", "-1.0", 1), "-1 in attention_values"),
        ("L1H0.json", &good.replacen("1.0", "1e999", 1), "expected sequences of a head in JSON"),
        ("L512H0.json", &good, "the layer 512 in the file's name"),
        ("L99999999999999999999H0.json", &good, "in the file's name"),
        ("head.json", &good, "a name such as L5H1.json"),
    ];
    for (name, text, words) in cases {
        let file = folder.file(name);
        fs::write(&file, text).expect("a file");
        for command in ["check", "trace"] {
            ended(ran(program().arg(command).arg(&file)), 1, words);
        }
    }
    // Weights that are too large are named, but open.
    let file = folder.file("L1H0.json");
    fs::write(&file, good.replacen("0.25]", "0.5]", 1)).expect("a file");
    ended(said(&["check", &file]), 1, "`0/attentions.1`: found rows that sum to 1.000 to 1.250");
}

#[test]
fn the_state_behind_the_final_norm_is_no_output_of_a_block() {
    let names = |folder: &str| {
        trace(&[&file(folder)])["tensors"].as_object().expect("tensors").keys().cloned().collect::<Vec<_>>()
    };
    // BERT has no final norm; Llama has three layers and one.
    let (without, with) = (names("bert"), names("llama-gqa"));
    assert!(without.contains(&"output[block 2]".to_owned()) && !without.contains(&"output".to_owned()), "{without:?}");
    assert!(!with.contains(&"output[block 2]".to_owned()) && with.contains(&"output".to_owned()), "{with:?}");
}

#[test]
fn a_recording_leaves_as_a_page_of_every_kind() {
    let folder = Folder::new("recorded-pages");
    for format in ["html", "web", "md", "ipynb"] {
        let page = folder.file(&format!("run.{format}"));
        ended(said(&["export", &file("bert"), "--to", format, "-o", &page, "--quiet"]), 0, "run.");
        let text = fs::read_to_string(&page).expect("a page");
        assert!(text.contains("a random BERT"), "{format}: {text:.500}");
        assert_eq!(text.contains("shows the numbers of one pass"), format == "web", "{format}");
    }
    let slides = said(&["export", &file("bert"), "--to", "slides", "-o", &folder.file("slides.html")]);
    ended(slides, 0, "the page does not contain the model, because a recording holds one pass, not the model");
    ended(said(&["check", "tests/fixtures/recordings/lesson.ron"]), 0, "lesson.ron");
}

#[test]
fn a_changed_pass_is_recorded_with_its_changes() {
    let folder = Folder::new("changed");
    let run = folder.file("run.safetensors");
    let write = ["trace", "lessons/depth", "--to", "safetensors", "-o", &run];
    ended(said(&[&write[..], &["--head", "1.1=uniform"]].concat()), 0, "a recording");
    ended(said(&["check", &run]), 0, "attentions.0: ");
    let traced = trace(&[&run]);
    assert!(
        traced["changed"].as_str().is_some_and(|changed| changed.contains("attentions.0")),
        "{}",
        traced["changed"]
    );
    assert!(traced["deviation"]["attentions.0"].is_null(), "queries and keys do not give these weights");
    assert!(traced["deviation"]["attentions.1"].is_object());
    ended(said(&write[..4]), 2, "--to safetensors: name the file to write");
}

#[test]
fn numbers_from_which_no_softmax_follows_are_refused_by_the_name_of_their_tensor() {
    let folder = Folder::new("no-softmax");
    let few = tokens(2);
    let proof: [Even<'_>; 3] =
        [("attentions.0", &[1, 2, 2], 0.5), ("queries.0", &[1, 2, 3], 1.0), ("keys.0", &[1, 2, 3], 1.0)];
    let cases: [(Even<'_>, &str); 4] = [
        (("score_bias.0", &[1, 2, 2], f32::NAN), "`score_bias.0`: found NaN; expected finite numbers or −∞"),
        (("score_bias.0", &[1, 2, 2], f32::INFINITY), "`score_bias.0`: found inf; expected finite numbers or −∞"),
        (("score_cap.0", &[1], 0.0), "`score_cap.0`: found 0; expected a cap above 0"),
        (("score_cap.0", &[1], -1.0), "`score_cap.0`: found -1; expected a cap above 0"),
    ];
    for (wrong, words) in cases {
        let run = recording(&folder, &[("tokens", &few)], &[&proof[..], &[wrong]].concat());
        ended(said(&["check", &run.display().to_string()]), 1, words);
    }
    let run = recording(&folder, &[("tokens", &few), ("rows", "partial")], &proof).display().to_string();
    ended(said(&["check", &run]), 0, "no proof, because small weights were left out");
    let run = recording(&folder, &[("tokens", &few)], &proof[..1]).display().to_string();
    ended(said(&["check", &run]), 0, "no proof, which needs queries and keys");
}

#[test]
fn vectors_with_a_number_that_is_none_are_named_with_their_text() {
    let folder = Folder::new("no-numbers");
    let few = tokens(2);
    let parts: [Even<'_>; 5] = [
        ("attentions.0", &[1, 2, 2], 0.5),
        ("hidden_states.1", &[2, 4], 1.0),
        ("values.0", &[1, 2, 3], 1.0),
        ("output_weight.0", &[3, 4], 1.0),
        ("logits", &[2, 3], f32::NEG_INFINITY),
    ];
    let check = |wrong: Option<(&str, f32)>, code: i32, words: &str| {
        let names: Vec<String> =
            ["0/", "1/"].iter().flat_map(|text| parts.iter().map(move |(name, ..)| format!("{text}{name}"))).collect();
        let number = |name: &str, number| wrong.filter(|(other, _)| *other == name).map_or(number, |(_, wrong)| wrong);
        let named = names.iter().zip(parts.iter().cycle());
        let all: Vec<Even<'_>> = named.map(|(name, (_, shape, own))| (&name[..], *shape, number(name, *own))).collect();
        let run = recording(&folder, &[("tokens", &few)], &all);
        ended(said(&["check", &run.display().to_string()]), code, words);
    };
    check(None, 0, "a recording of 2 texts");
    check(Some(("1/hidden_states.1", f32::NAN)), 1, "`1/hidden_states.1`: found NaN; expected finite numbers");
    check(Some(("0/values.0", f32::INFINITY)), 1, "`0/values.0`: found inf");
    check(Some(("1/output_weight.0", f32::NEG_INFINITY)), 1, "`1/output_weight.0`: found -inf");
    check(Some(("0/logits", f32::NAN)), 1, "`0/logits`: found NaN");
}

#[test]
fn names_that_no_recording_has_are_shown() {
    let folder = Folder::new("other-names");
    let few = tokens(2);
    let run = recording(&folder, &[("tokens", &few)], &[("encoder_decoder_attentions.0", &[1, 2, 2], 0.5)]);
    let words = "`attentions.0`: found no tensor that a recording has, but encoder_decoder_attentions.0; expected";
    ended(said(&["check", &run.display().to_string()]), 1, words);
}

#[test]
fn logits_alone_are_a_recording_with_a_page() {
    let folder = Folder::new("logits-alone");
    let few = tokens(2);
    let run = recording(&folder, &[("tokens", &few)], &[("logits", &[2, 3], 1.0)]).display().to_string();
    ended(said(&["check", &run]), 0, "has: answers");
    assert_eq!(trace(&[&run])["tensors"].as_object().map(|tensors| tensors.keys().count()), Some(1));
    ended(said(&["export", &run, "--to", "web", "-o", &folder.file("run.html"), "--quiet"]), 0, "run.html");
}

#[test]
fn a_long_name_of_a_model_does_not_fill_the_screen() {
    let folder = Folder::new("long-name");
    let (few, long) = (tokens(2), "m".repeat(5000));
    let run = recording(&folder, &[("tokens", &few), ("model", &long)], &[("attentions.0", &[1, 2, 2], 0.5)]);
    let printed = ended(said(&["check", &run.display().to_string()]), 0, "mmm");
    assert!(printed.lines().all(|line| line.len() < 400), "{}", printed.len());
}
