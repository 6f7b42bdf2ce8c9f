//! `attune trace` of models with an encoder and a decoder: every tensor against transformers', and where the target
//! comes from.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::close::{Tolerance, is_each_close};
use crate::common::folder::Folder;
use crate::common::models::fixture;
use crate::common::top::at;
use crate::program::{attune, ended, said};

/// The models of `tests/fixtures/pretrained` with two towers.
const TRANSLATORS: [&str; 5] = ["t5-wild", "t5v11-wild", "marian-wild", "bart-wild", "mbart-wild"];

fn folder(name: &str) -> String {
    fixture(name).display().to_string()
}

#[track_caller]
fn traced(name: &str, options: &[&str]) -> Value {
    let output = attune(&[&["trace", &*folder(name)], options].concat());
    assert!(output.status.success(), "{name}, {options:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a trace is JSON")
}

fn json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).expect("a file")).expect("JSON")
}

fn ids(of: &Value) -> Vec<usize> {
    serde_json::from_value(of.clone()).expect("ids")
}

/// The ids of a list as an option gives them.
fn written(of: &Value) -> String {
    ids(of).iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

/// The numbers of a tensor of a trace; what is masked is −∞.
#[track_caller]
fn numbers(trace: &Value, name: &str) -> Vec<f64> {
    let rows = trace["tensors"][name]["rows"].as_array().unwrap_or_else(|| panic!("there is no {name}"));
    let row =
        |row: &Value| row.as_array().expect("a row").iter().map(|x| x.as_f64().unwrap_or(f64::NEG_INFINITY)).collect();
    rows.iter().flat_map(|of: &Value| -> Vec<f64> { row(of) }).collect()
}

/// The tensors of a file, by name.
fn tensors(path: &Path) -> BTreeMap<String, Vec<f64>> {
    let bytes = fs::read(path).expect("a file");
    let (length, rest) = bytes.split_at(8);
    let length = usize::try_from(u64::from_le_bytes(length.try_into().expect("8 bytes"))).expect("a small file");
    let header: Value = serde_json::from_slice(&rest[..length]).expect("a header");
    let named = header.as_object().expect("names").iter().filter(|(name, _)| *name != "__metadata__");
    let read = |of: &Value| {
        let at = ids(&of["data_offsets"]);
        let four = rest[length + at[0]..length + at[1]].as_chunks::<4>().0.iter();
        four.map(|four| f32::from_le_bytes(*four).into()).collect()
    };
    named.map(|(name, of)| (name.clone(), read(of))).collect()
}

/// The tensors of a trace by the names of the oracle.
fn by_oracle(trace: &Value) -> BTreeMap<String, Vec<f64>> {
    let mut found = BTreeMap::new();
    let mut put = |name: String, of: Vec<f64>| _ = found.insert(name, of);
    for (name, of) in [
        ("encoder.hidden.0", "X[source]"),
        ("memory", "output[source]"),
        ("decoder.hidden.0", "X"),
        ("final", "output"),
        ("logits", "logits"),
    ] {
        put(name.to_owned(), numbers(trace, of));
    }
    let sources = trace["config"]["source_blocks"].as_u64().expect("a number") as usize;
    let mut head = 0;
    for (number, block) in trace["config"]["blocks"].as_array().expect("blocks").iter().enumerate() {
        let own = number.checked_sub(sources);
        let (tower, layer) = match own {
            None => ("encoder", number),
            Some(own) => (if own % 2 == 0 { "decoder" } else { "cross" }, own / 2),
        };
        let attends = if tower == "cross" { "source" } else { "own sentence" };
        assert_eq!(block["attends_to"], attends);
        assert_eq!(block["mask"], if tower == "decoder" { "causal" } else { "none" });
        assert_eq!(block["feed_forward"].is_null(), tower == "decoder");
        let output = match tower {
            "encoder" => format!("encoder.hidden.{}", layer + 1),
            "decoder" => format!("decoder.middle.{layer}"),
            _ => format!("decoder.hidden.{}", layer + 1),
        };
        put(output, numbers(trace, &format!("output[block {number}]")));
        let heads = block["heads"].as_u64().expect("a number") as usize;
        for tensor in ["scores", "weights"] {
            let all = (head..head + heads).flat_map(|head| numbers(trace, &format!("{tensor}[{head}]"))).collect();
            put(format!("{tower}.{tensor}.{layer}"), all);
        }
        head += heads;
    }
    found
}

#[test]
fn every_tensor_of_given_ids_is_transformers() {
    for name in TRANSLATORS {
        let expected = tensors(&fixture(name).join("expected.safetensors"));
        let pairs = json(&fixture(name).join("ids.json"));
        for (pair, given) in pairs.as_object().expect("pairs") {
            let (source, target) = (&given["source"], &given["target"]);
            let trace = traced(name, &["--ids", &written(source), "--target-ids", &written(target)]);
            assert_eq!((&trace["source_ids"], &trace["ids"]), (source, target), "{name}, {pair}");
            let found = by_oracle(&trace);
            let of_pair = || expected.iter().filter_map(|(key, of)| Some((key.strip_prefix(&format!("{pair}."))?, of)));
            assert!(of_pair().count() > 10, "{name}, {pair}");
            for (key, expected) in of_pair() {
                let close = is_each_close(&found[key], expected, Tolerance::LIBRARY);
                close.unwrap_or_else(|why| panic!("{name}, {pair}, {key}: {why}"));
            }
            // Cross-attention has a column for each word of the source.
            let cross = trace["config"]["source_blocks"].as_u64().expect("a number") as usize + 1;
            let before = trace["config"]["blocks"].as_array().expect("blocks")[..cross].iter();
            let head: u64 = before.map(|block| block["heads"].as_u64().expect("a number")).sum();
            let (rows, columns) = (ids(target).len(), ids(source).len());
            assert_eq!(trace["tensors"][format!("weights[{head}]")]["shape"], serde_json::json!([rows, columns]));
            assert_eq!(trace["tensors"][format!("K[{head}]")]["shape"][0], columns);
        }
    }
}

#[test]
fn without_a_target_the_model_writes_one() {
    for name in TRANSLATORS {
        let greedy = json(&fixture(name).join("greedy.json"));
        let pairs = json(&fixture(name).join("ids.json"));
        for (pair, expected) in greedy["sources"].as_object().expect("lists") {
            let trace = traced(name, &["--ids", &written(&pairs[pair]["source"])]);
            let (found, expected) = (ids(&trace["ids"]), ids(&expected["tokens"]));
            assert_eq!(greedy["start"], found[0], "{name}, {pair}");
            match expected.split_last() {
                Some((last, before)) if greedy["end"] == *last => assert_eq!(found[1..], *before, "{name}, {pair}"),
                _ => assert_eq!(found[1..=expected.len()], expected, "{name}, {pair}"),
            }
            assert_eq!(trace["tokens"].as_array().map(Vec::len), Some(found.len()), "{name}, {pair}");
        }
    }
}

#[test]
fn a_target_may_be_a_text_or_ids_and_is_shifted_to_the_right() {
    // As `texts.json` has it: BART's own target begins behind its start token with <s>, and none has its end.
    for (name, start) in [("t5-wild", 0), ("bart-wild", 2), ("marian-wild", 266)] {
        let texts = json(&fixture(name).join("texts.json"));
        let plain =
            |of: &&Value| of["text"].as_str().is_some_and(|text| text.split(' ').count() > 2 && text == text.trim());
        let [first, second] =
            [0, 1].map(|at| texts.as_array().expect("texts").iter().filter(plain).nth(at).expect("a text"));
        let [source, target] = [first, second].map(|of| of["text"].as_str().expect("a text"));
        let own = second.get("target_ids").unwrap_or(&second["ids"]);
        let mut shifted = [vec![start], ids(own)].concat();
        shifted.pop();
        let given = shifted.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        for options in [
            &["--sentence", source, "--target", target][..],
            &["--sentence", &format!("{source} ||| {target}")],
            &["--sentence", &format!("{source}|||{target}")],
            &["--sentence", source, "--target-ids", &given],
            &["--ids", &written(&first["ids"]), "--target", target],
        ] {
            let trace = traced(name, options);
            assert_eq!(
                (ids(&trace["source_ids"]), ids(&trace["ids"])),
                (ids(&first["ids"]), shifted.clone()),
                "{options:?}"
            );
        }
    }
    // Without a tokenizer, texts are ids.
    let trace = traced("t5v11-wild", &["--sentence", "5 6,7 ||| 8 9"]);
    assert_eq!((ids(&trace["source_ids"]), ids(&trace["ids"])), (vec![5, 6, 7], vec![0, 8, 9]));
}

#[test]
fn what_cannot_be_a_target_is_refused_in_words() {
    let t5 = folder("t5-wild");
    let bert = folder("bert-wild");
    let many = vec!["5"; 600].join(",");
    for (args, why) in [
        (
            &["trace", &*bert, "--ids", "1,2", "--target-ids", "3"][..],
            "--target-ids: the model reads one sentence and has no target",
        ),
        (
            &["trace", "tests/fixtures/forms/reversal.ron", "--sentence", "a b", "--target", "b a"],
            "--target: a rule of the lesson makes the target",
        ),
        (&["trace", &t5, "--target-ids", "0,3"], "--target-ids: there is no source; give it with --sentence or --ids"),
        (
            &["trace", &t5, "--ids", "1,2", "--target-ids", "0,5000"],
            "--target-ids: there is no token 5000; the model has tokens from 0 to",
        ),
        (
            &["trace", &t5, "--ids", "1,5000", "--target-ids", "0"],
            "--ids: there is no token 5000; the model has tokens from 0 to",
        ),
        (&["trace", &t5, "--ids", "1,2", "--target-ids", &many], "--target-ids: the text has 600 pieces, but"),
        (&["trace", &t5, "--ids", &many, "--target-ids", "0"], "--ids: the text has 600 pieces, but"),
        (
            &["trace", &t5, "--sentence", "a ||| b ||| c"],
            "--sentence: 3 texts with ||| between them; a source has one target",
        ),
        (&["trace", &t5, "--ids", "1,2", "--target-ids", ""], "--target-ids"),
        (&["trace", &t5, "--sentence", "a ||| b", "--target", "c"], "--sentence: there is a target behind ||| already"),
        (&["trace", &t5, "--sentence", "a", "--target", "b ||| c"], "--target: ||| is between a source and its target"),
    ] {
        ended(said(args), 2, why);
    }
}

/// The error names the file that has the id.
#[test]
fn an_id_of_writing_beyond_the_table_is_refused() {
    let place = Folder::new("beyond-the-table");
    for file in ["config.json", "generation_config.json", "model.safetensors"] {
        fs::copy(fixture("bart-wild").join(file), place.join(file)).expect("a copy");
    }
    let mut settings = json(&place.join("generation_config.json"));
    settings["forced_bos_token_id"] = 99_999.into();
    fs::write(place.join("generation_config.json"), settings.to_string()).expect("written");
    let model = place.0.display().to_string();
    let why = "generation_config.json: found 99999 as forced_bos_token_id; expected an id from 0 to ";
    ended(said(&["trace", &model, "--ids", "5,6"]), 1, why);
}

/// What transformers writes from this source, greedily and with two beams; "is" is unknown to the model.
#[test]
fn a_cell_writes_with_its_own_model_or_that_of_a_folder() {
    const GREEDY: &str = "lo kato la stampa granda granda granda granda granda granda granda granda granda ami";
    const BEAMS: &str = "la sila granda lo kato grando ame";
    let place = Folder::new("cell-writes");
    let copy = place.join("translator");
    fs::create_dir(&copy).expect("a folder");
    for file in fs::read_dir(at("lessons/translator")).expect("files") {
        let file = file.expect("a file");
        fs::copy(file.path(), copy.join(file.file_name())).expect("a copy");
    }
    let check = |code: &str| {
        let cell = format!("Code(id: \"write\", src: r#\"if {code} {{ throw \"another text\"; }}\"#)");
        let lesson = format!(
            "Lesson(id: \"x\", title: \"X\", seed: 1, model: Pretrained(\"./translator\"), \
             sentences: [\"the cat sees the king\"], cells: [{cell}])"
        );
        fs::write(place.join("x.ron"), lesson).expect("a file");
        said(&["check", &place.join("x.ron").display().to_string()])
    };
    for (beams, written) in [(1, GREEDY), (2, BEAMS)] {
        for folder in ["", ", \"translator\""] {
            let (code, text) = check(&format!("write(\"the cat is big\", {beams}{folder}) != \"{written}\""));
            assert_eq!(code, Some(0), "{beams} beams{folder}: {text}");
        }
    }
    let (_, text) = check("write(\"the cat is big\", 0) != \"\"");
    assert!(text.contains("a search has from 1 to 8 beams"), "{text}");
    // A head of another model's pass is off as in one's own.
    let own = "forward(\"the cat saw the king\", [20, 21]).Z[0][5]";
    let (code, text) = check(&format!("{own} != {}", own.replace("])", "], \"translator\")")));
    assert_eq!(code, Some(0), "{text}");
}

#[test]
fn a_translator_is_checked() {
    for name in TRANSLATORS {
        let text = ended(said(&["check", &folder(name), "--ids", "5,6,7,1"]), 0, "self-test: ");
        assert!(text.contains("(ids 5,6,7,1); the target: "), "{name}: {text}");
    }
}

/// Every other form of an export has both sides; a folder of a family that attune only reads is not written.
#[test]
fn a_translator_is_exported_in_every_form_but_its_own() {
    let place = Folder::new("exported-translator");
    for form in ["html", "web", "svg", "ipynb", "md", "tsv"] {
        let file = place.file(&format!("t5.{form}"));
        ended(said(&["export", &folder("t5-wild"), "--ids", "5,6,1", "--to", form, "-o", &file]), 0, "");
    }
    for family in ["t5-wild", "qwen3-wild"] {
        let out = place.file("folder");
        ended(
            said(&["export", &folder(family), "--to", "checkpoint", "-o", &out]),
            1,
            "expected one of BERT, DistilBERT",
        );
    }
}

/// Heads, edges and patches of both towers; layers are blocks, those of the source first.
#[test]
fn both_towers_can_be_changed() {
    let given = ["--ids", "5,6,7,1", "--target-ids", "0,8,9"];
    let plain = traced("t5-wild", &given);
    let with = |options: &[&str]| traced("t5-wild", &[&given[..], options].concat());
    let same = |trace: &Value, name: &str| trace["tensors"][name] == plain["tensors"][name];
    // The first head of the second layer of the source; the decoder follows.
    let off = with(&["--head", "2.1=off"]);
    assert!(same(&off, "output[block 0]") && !same(&off, "output[source]") && !same(&off, "logits"));
    // The first head of cross-attention: the source is as it was.
    let off = with(&["--head", "4.1=off"]);
    assert!(same(&off, "output[source]") && same(&off, "output[block 2]") && !same(&off, "output[block 3]"));
    let without = with(&["--without", "4.1:3-2"]);
    assert_eq!(numbers(&without, "weights[15]")[2 * 4 + 1], 0.0);
    let second = ["--second", "9 9 9 9 ||| 4 4 4"];
    let other = ["--patch", "2:3=1"];
    let patched = with(&[&other[..], &second].concat());
    assert!(same(&patched, "output[block 0]") && !same(&patched, "input[block 1]") && !same(&patched, "logits"));
    let width = numbers(&plain, "X").len() / 3;
    let (patched, plain) = (numbers(&patched, "input[block 1]"), numbers(&plain, "input[block 1]"));
    assert_eq!(patched[..2 * width], plain[..2 * width]);
    assert_ne!(patched[2 * width..3 * width], plain[2 * width..3 * width]);
}

/// A recording has both sides and the attention between them, and opens without the model.
#[test]
fn a_recording_has_source_target_and_cross_attention() {
    for name in TRANSLATORS {
        let place = Folder::new("recorded-translator");
        let file = place.file("run.safetensors");
        let given = ["--ids", "5,6,7,1", "--target-ids", "2,8,9"];
        ended(said(&[&["trace", &*folder(name)], &given[..], &["--to", "safetensors", "-o", &file]].concat()), 0, "");
        ended(said(&["check", &file]), 0, "ok");
        let recorded = attune(&["trace", &file]);
        assert!(recorded.status.success(), "{name}: {}", String::from_utf8_lossy(&recorded.stderr));
        let recorded: Value = serde_json::from_slice(&recorded.stdout).expect("JSON");
        let plain = traced(name, &given);
        assert_eq!((&recorded["tokens"], &recorded["source"]), (&plain["tokens"], &plain["source"]), "{name}");
        for key in plain["tensors"].as_object().expect("tensors").keys().filter(|key| key.starts_with("weights[")) {
            let close = is_each_close(numbers(&recorded, key), numbers(&plain, key), Tolerance::SINGLE_PASS);
            close.unwrap_or_else(|why| panic!("{name}, {key}: {why}"));
        }
    }
}
