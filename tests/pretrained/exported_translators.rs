//! Trained lessons with a source, written as folders of T5, BART, mBART and Marian: read back they compute the same
//! numbers, and transformers computes them too.

use std::fs;

use attune_core::lesson;
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::model::generate::NextWordChoice;
use attune_engine::numerics::model::{Activations, Sequences};
use attune_engine::numerics::rng::{Stream, stream};
use attune_engine::pretrained::load;
use attune_view::export::checkpoint::Checkpoint;

use crate::common::folder::Folder;
use crate::common::python::with_torch;
use crate::common::top;
use crate::exported_lesson::{check_logits, exported, passes};

/// The script that opens a folder with transformers.
const SCRIPT: &str = "tests/pretrained/oracle/translators.py";

fn text(form: &str) -> String {
    top::text(format!("tests/fixtures/forms/{form}.ron"))
}

/// The lessons of two towers by their family, and others of the same families.
fn lessons() -> Vec<(&'static str, String)> {
    let [t5, bart, mbart, marian] = ["t5", "bart", "mbart", "marian"].map(text);
    let ungated = t5.replace("activation: GeluTanh,\n        gated: true,", "").replace("logit_scale: 0.25,", "");
    let common =
        bart.replace(", positions: true, embedding_norm: true", "").replace("heads: 2,", "heads: 2, bias: false,");
    let waves =
        mbart.replace("source: Source(positions: true,", "positions: Sinusoidal, readout_bias: false, source: Source(");
    vec![
        ("T5", t5),
        ("T5 without gates, whose logits are not scaled", ungated),
        ("BART", bart),
        ("BART with the same positions on both sides, and without biases", common),
        ("mBART", mbart),
        ("mBART with waves", waves),
        ("Marian", marian),
    ]
}

#[test]
fn a_translator_is_read_back_with_the_same_numbers_and_writes_the_same() {
    for (name, text) in lessons() {
        let (mut kernel, folder) = exported(name, &text);
        let read = load(&folder.0, &mut |_| true).unwrap_or_else(|stopped| panic!("{name}: {stopped}"));
        assert!(read.origins.skipped.is_empty(), "{name}: {:?}", read.origins.skipped);
        let (model, start) = (read.model(), read.rules.start.expect("a start"));
        for pass in passes(&mut kernel, Some(start)) {
            let (source, target) = (pass.source.as_deref().expect("a source"), &pass.ids);
            let of_source = Sequences::one(source);
            let sentence = Sequences::one(target);
            let run = Activations::of(&model, &read.parameters, &sentence, Some(&of_source), &Interventions::default());
            check_logits(name, &pass, &model.logits_of(&read.parameters, &run.output));
            let rng = &mut stream(1, Stream::Generation);
            let written =
                model.generate(&read.parameters, &[], Some(source), target.len(), NextWordChoice::Greedy, rng);
            let written = written.expect("words");
            assert_eq!(
                (written.len(), &written[..written.len() - 1]),
                (target.len(), &target[1..]),
                "{name}: {}",
                pass.words
            );
        }
    }
}

#[test]
fn transformers_opens_a_translator_without_a_missing_key_and_computes_the_same() {
    for (name, text) in lessons() {
        let Some(mut python) = with_torch() else { return };
        let (mut kernel, folder) = exported(name, &text);
        let config: serde_json::Value =
            serde_json::from_slice(&fs::read(folder.join("config.json")).expect("a config")).expect("JSON");
        let start = config["decoder_start_token_id"].as_u64().expect("an id") as usize;
        let passes = passes(&mut kernel, Some(start));
        let expected: Vec<_> = passes
            .iter()
            .map(|pass| {
                serde_json::json!({
                    "text": pass.words, "source": pass.source, "target": pass.ids, "logits": pass.logits,
                })
            })
            .collect();
        fs::write(folder.join("expected.json"), serde_json::to_vec(&expected).expect("JSON")).expect("a file");
        let output = python.arg(top::at(SCRIPT)).arg(folder.file("")).output().expect("Python starts");
        let printed = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        assert!(output.status.success(), "{name}: {}", printed.concat());
    }
}

#[test]
fn forms_of_two_towers_that_no_folder_holds_are_refused_by_name() {
    let cases = [
        ("t5", "        bias: false,", "bias: true,", "bias: found true; expected false, as in T5's shape"),
        ("t5", "scale: false,", "", "scale: found true; expected false, as in T5's shape"),
        (
            "t5",
            "logit_scale: 0.25",
            "logit_scale: 0.5",
            "logit_scale: found 0.5; expected the usual form, as in T5's shape",
        ),
        (
            "t5",
            ", shared: true",
            "",
            "positions: found Distances in another form; expected Distances(buckets: …, shared: true), as in T5's shape",
        ),
        (
            "t5",
            "layers: 1, final_norm: true",
            "layers: 1, final_norm: true, feed_forward: 8",
            "source: found other heads or hidden units than the target's; expected the same in both towers, as in T5's shape",
        ),
        ("t5", "value_width: 6", "value_width: 5", "value_width: found 5; expected 6, as in T5's shape"),
        (
            "bart",
            "embedding_norm: true)",
            "final_norm: true, embedding_norm: true)",
            "source: found true; expected false, as in BART's shape",
        ),
        ("mbart", "final_norm: true,\n", "\n", "final_norm: found false; expected true, as in mBART's shape"),
        (
            "marian",
            "norm: Post,",
            "norm: Post, norm_epsilon: 1e-6,",
            "norm_epsilon: found 0.000001; expected 0.00001, as in Marian's shape",
        ),
        (
            "marian",
            "norm: Post,",
            "norm: Post, readout: Linear,",
            "readout: found another readout; expected Tied, as in Marian's shape",
        ),
        (
            "marian",
            "Source(layers: 2, heads: 4)",
            "Source(layers: 2, heads: 4, activation: Relu)",
            "source: found layers of another form than the target's; expected other numbers of layers, heads or hidden units \
             only, as in Marian's shape",
        ),
    ];
    for (form, from, to, expected) in cases {
        let text = text(form);
        assert_eq!(text.matches(from).count(), 1, "{form}: {from}");
        let lesson = lesson::parse("a.ron", &text.replace(from, to)).unwrap_or_else(|issues| panic!("{issues:#?}"));
        let folder = Folder::new("refused_translator");
        let said = Checkpoint::new(&lesson, &folder.join("model")).expect_err(expected).to_string();
        assert_eq!(said, expected);
    }
}
