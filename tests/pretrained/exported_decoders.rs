//! Trained lessons with rotary positions, written as folders of today's decoders: read back they compute the same
//! numbers, and transformers computes them too.

use std::fs;

use attune_core::lesson;
use attune_engine::numerics::model::activations::Interventions;
use attune_engine::numerics::model::{Activations, Sequences};
use attune_engine::pretrained::{Family, load};
use attune_view::export::checkpoint::{Checkpoint, form};
use serde_json::json;

use crate::common::folder::Folder;
use crate::common::lessons::edited;
use crate::common::python::with_torch;
use crate::common::top;
use crate::exported_lesson::{check_logits, exported, passes};

/// The script that opens a folder with transformers.
const SCRIPT: &str = "tests/pretrained/oracle/decoders.py";

/// The lesson on today's decoders, trained for a moment, with these parts of its model replaced.
fn now(parts: &[(&str, &str)]) -> String {
    let parts: Vec<_> = parts.iter().chain(&[("steps: 800", "steps: 60")]).copied().collect();
    edited(&top::text("lessons/now.ron"), &parts)
}

fn fixture(form: &str) -> String {
    top::text(format!("tests/fixtures/forms/{form}.ron"))
}

const NO_WINDOW: (&str, &str) = ("        window: Window(before: 2),\n", "");
const NOT_GATED: (&str, &str) = ("activation: Silu,\n        gated: true,", "activation: Relu,");
const BIASES: [(&str, &str); 2] =
    [("        bias: false,", "        bias: true,"), ("feed_forward_bias: false", "feed_forward_bias: true")];
const LAYER_NORMS: (&str, &str) = ("norm_kind: Rms", "norm_kind: Layer");

const EACH_ITS_KEYS: (&str, &str) = ("key_value_heads: 2", "key_value_heads: 4");
const OLMO2: &str = "norm: None,\n        output_norms: true,\n        query_key_norm: Whole,";

/// Lessons with the family that each is written as.
fn lessons() -> Vec<(&'static str, Family, String)> {
    let gemma = [
        NO_WINDOW,
        ("norm_kind: Rms,", "norm_kind: Rms,\n        norm_gain_from_one: true,\n        embedding_scale: 4,"),
        ("Silu", "GeluTanh"),
    ];
    let gemma2 = [
        (
            "norm_kind: Rms,",
            "norm_kind: Rms,\n        norm_gain_from_one: true,\n        output_norms: true,\n        score_cap: 20,\n        \
             logit_cap: 15,\n        score_divisor: 1.5,\n        embedding_scale: 4,",
        ),
        ("Silu", "GeluTanh"),
    ];
    vec![
        ("now", Family::Mistral, now(&[])),
        ("no window", Family::Llama, now(&[NO_WINDOW])),
        ("a window that is never full", Family::Llama, now(&[("Window(before: 2)", "Window(before: 8)")])),
        ("its own keys", Family::Mistral, now(&[("key_value_heads: 2", "key_value_heads: 4")])),
        ("biases", Family::SmolLm3, now(&BIASES)),
        ("not gated", Family::SmolLm3, now(&[NOT_GATED])),
        ("not gated, no window", Family::Llama, now(&[NOT_GATED, NO_WINDOW])),
        (
            "biases of queries, keys and values",
            Family::SmolLm3,
            now(&[("        bias: false,", "        bias: true, output_bias: false,")]),
        ),
        (
            "normed queries",
            Family::Qwen3,
            now(&[("        bias: false,", "        bias: false, query_key_norm: Heads,")]),
        ),
        ("layer norms", Family::StableLm, now(&[LAYER_NORMS, NO_WINDOW])),
        (
            "layer norms, not gated",
            Family::GptNeoX,
            now(&[LAYER_NORMS, NO_WINDOW, NOT_GATED, ("key_value_heads: 2", "key_value_heads: 4")]),
        ),
        ("Gemma", Family::Gemma, now(&gemma)),
        ("Gemma 2", Family::Gemma2, now(&gemma2)),
        ("Gemma 2 without a window", Family::Gemma2, now(&[NO_WINDOW, gemma2[0], gemma2[1]])),
        ("OLMo 2", Family::Olmo2, now(&[NO_WINDOW, EACH_ITS_KEYS, ("norm: Pre,", OLMO2)])),
        (
            "rotary positions slowed down",
            Family::Mistral,
            now(&[NO_WINDOW, ("Rotary(theta: 100)", "Rotary(theta: 100, scaling: Linear(2))")]),
        ),
        ("Llama", Family::Llama, fixture("llama")),
        ("Pythia", Family::GptNeoX, fixture("pythia")),
    ]
}

#[test]
fn a_decoder_of_each_family_is_read_back_with_the_same_numbers() {
    for (name, family, text) in lessons() {
        let (mut kernel, folder) = exported(name, &text);
        let read = load(&folder.0, &mut |_| true).unwrap_or_else(|stopped| panic!("{name}: {stopped}"));
        assert!(read.origins.skipped.is_empty(), "{name}: {:?}", read.origins.skipped);
        assert_eq!(form(&kernel.snapshot().lesson).map(|(config, _)| config.family), Ok(family), "{name}");
        let model = read.model();
        for pass in passes(&mut kernel, None) {
            let sentence = Sequences::one(&pass.ids);
            let run = Activations::of(&model, &read.parameters, &sentence, None, &Interventions::default());
            check_logits(name, &pass, &model.logits_of(&read.parameters, &run.output));
        }
    }
}

#[test]
fn transformers_opens_a_decoder_of_each_family_without_a_missing_key_and_computes_the_same() {
    let Some(mut python) = with_torch() else { return };
    let folder = |(name, _, text): (&str, Family, String)| {
        let (mut kernel, folder) = exported(name, &text);
        let passes = passes(&mut kernel, None);
        let expected: Vec<_> =
            passes.iter().map(|pass| json!({ "text": pass.words, "ids": pass.ids, "logits": pass.logits })).collect();
        fs::write(folder.join("expected.json"), serde_json::to_vec(&expected).expect("JSON")).expect("a file");
        folder
    };
    let folders: Vec<Folder> = lessons().into_iter().map(folder).collect();
    let output =
        python.arg(top::at(SCRIPT)).args(folders.iter().map(|folder| &folder.0)).output().expect("Python starts");
    let printed = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success(), "{}", printed.concat());
}

#[test]
fn a_form_that_no_family_has_is_refused_by_its_fields() {
    let alone = "feed_forward: found none: the model is attention alone, and no family of transformers is; expected a number \
                 of hidden units";
    let cases = [
        (
            now(&[LAYER_NORMS]),
            "window: found a window of 2 before and all after; expected none, as in StableLM's shape",
        ),
        (now(&[("norm: Pre", "norm: Post"), ("final_norm: true", "final_norm: false")]), "norm: found Post"),
        (top::text("lessons/order.ron"), alone),
        (fixture("gemma"), "as in Gemma 2's shape"),
    ];
    for (text, expected) in cases {
        let lesson = lesson::parse("a.ron", &text).unwrap_or_else(|issues| panic!("{issues:#?}"));
        let folder = Folder::new("refused-decoder");
        let said = Checkpoint::new(&lesson, &folder.join("model")).expect_err(expected).to_string();
        assert!(said.contains(expected), "{said}");
        assert!(!folder.join("model").exists(), "nothing is written");
    }
}
