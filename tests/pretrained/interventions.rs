//! Heads that are off or have their mean, removed edges, vectors of another sentence, and temperatures: against NumPy
//! in float64, `oracle/interventions.py`, and through commands.

use std::sync::Arc;

use attune_core::kernel::command::{InterventionCommand, SentenceCommand};
use attune_core::kernel::snapshot::ModelSnapshot;
use attune_core::kernel::{Command, Kernel, Saved};
use attune_engine::numerics::attention::{Edge, HeadMode};
use attune_engine::numerics::model::activations::{Activations, Interventions, Patch};
use attune_engine::numerics::model::{AttentionModel, Sequences};
use attune_engine::numerics::params::Parameters;
use attune_engine::quantity::Quantity;
use attune_view::explain::Explanation;
use attune_view::explain::walk::{Focus, Step, WalkModel};
use attune_view::export::trace;
use attune_view::view_model::what_if::{Setting, WhatIfModel};
use serde_json::Value;

use crate::common::close::{Tolerance, assert_close_beside};
use crate::common::lessons::model;
use crate::common::numerics::json::{list, parse, size, sizes, vector};
use crate::opened::{ALL, opened, running, with_tokenizer};
use crate::written::Model as Written;

/// Divides the scores of a GPT-2's layers by 1, 2, 3 …; BERT has no such field.
const BY_LAYER: &str = "scale_attn_by_inverse_layer_idx";
/// Layers and heads of the fixtures.
const HEADS: usize = 3;

struct Model<'a> {
    engine: &'a AttentionModel<f32>,
    parameters: &'a Parameters<f32>,
}

impl Model<'_> {
    fn pass(&self, sentence: &Sequences, interventions: &Interventions<f32>) -> Activations<f32> {
        Activations::of(self.engine, self.parameters, sentence, None, interventions)
    }
}

fn entries(change: &Value, name: &str) -> Vec<Vec<usize>> {
    change.get(name).map_or_else(Vec::new, |rows| list(rows).iter().map(sizes).collect())
}

/// Interventions of an entry of the oracle, with the second sentence's vector.
fn interventions(change: &Value, model: &Model, second: &Sequences) -> Interventions<f32> {
    let mut heads = vec![HeadMode::Live; HEADS * HEADS];
    entries(change, "off").iter().for_each(|at| heads[at[0] * HEADS + at[1]] = HeadMode::Off);
    entries(change, "mean").iter().for_each(|at| heads[at[0] * HEADS + at[1]] = HeadMode::Mean);
    let temperature = change.get("temperature").and_then(Value::as_f64);
    let any_sentence = Interventions { heads, temperature, ..Interventions::default() };
    let edge = |at: &Vec<usize>| Edge { head: at[0] * HEADS + at[1], query: at[2], key: at[3] };
    let mut edges: Vec<Edge> = entries(change, "edges").iter().map(edge).collect();
    edges.sort_unstable();
    let patch = change.get("patch").map(sizes).map(|at| {
        let other = model.pass(second, &any_sentence);
        let vector = Arc::from(other.blocks[at[0]].input.row(at[2]));
        Patch { block: at[0], position: at[1], from: at[2], vector: Some(vector) }
    });
    Interventions { edges, patch, ..any_sentence }
}

#[test]
fn every_change_of_a_pass_is_that_of_numpy() {
    let oracle = parse(include_str!("oracle/interventions.json"));
    let sentence = |name: &str| {
        let pair = list(&oracle[name]);
        Sequences::one(&sizes(&pair[0])).with_segments(sizes(&pair[1]))
    };
    let (first, second, stride) = (sentence("first"), sentence("second"), size(&oracle["stride"]));
    for name in ALL {
        for (change, expected) in list(&oracle["changes"]).iter().zip(list(&oracle["models"][name])) {
            let mut written = Written::of(name);
            if change.get("by_layer").is_some() {
                written.set(BY_LAYER, true);
            }
            let read = written.loaded();
            let (engine, parameters) = (read.model(), &read.parameters);
            let model = Model { engine: &engine, parameters };
            let plain = model.pass(&first, &Interventions::default());
            let changed = interventions(change, &model, &second);
            let pass = model.pass(&first, &changed);
            let output = &pass.blocks.last().expect("a block").output;
            let logits = engine.logits_of(parameters, &pass.output);
            let some = (0..logits.rows()).flat_map(|row| logits.row(row).iter().copied().step_by(stride)).collect();
            for (what, found) in [("output", output.flat().to_vec()), ("logits", some)] {
                let of = format!("{name}, {change}: {what}");
                assert_close_beside(1.0, of, found, vector(&expected[what]), Tolerance::LIBRARY);
            }
            // From the first block that is changed on, with the bits of a whole pass; a temperature changes all.
            let at = ["off", "mean", "edges"].iter().flat_map(|what| entries(change, what)).map(|at| at[0]);
            let at = at.chain(changed.patch.as_ref().map(|patch| patch.block));
            let block = at.chain(changed.temperature.map(|_| 0)).min().unwrap_or(0);
            let again = plain.again(block, &engine, parameters, &first, None, &changed);
            assert_eq!(again, pass, "{name}, {change}");
            assert!(
                (0..block).all(|below| Arc::ptr_eq(&again.blocks[below], &plain.blocks[below])),
                "{name}, {change}"
            );
        }
    }
}

/// A temperature takes the place of the model's own and of nothing else that divides its scores.
#[test]
fn a_temperature_of_1_changes_nothing_where_layers_have_divisors_of_their_own() {
    let folder = with_tokenizer("gpt2-wild");
    let mut written = Written::of("gpt2-wild");
    written.set(BY_LAYER, true);
    written.put(&folder);
    let mut kernel = running(&opened(&folder.0));
    kernel.apply(Command::Sentence(SentenceCommand::Set(FIRST.to_owned())));
    let trace = |kernel: &Kernel| {
        let trace = trace::trace(&kernel.snapshot()).expect("a model");
        parse(&trace)["tensors"].clone()
    };
    let (before, own) = (model(&kernel), trace(&kernel));
    let what_if = |kernel: &Kernel| WhatIfModel::of(&kernel.snapshot()).expect("a model");
    assert_eq!(what_if(&kernel).temperature, Setting { now: 1.0, own: 1.0, is_set: false });
    apply(&mut kernel, InterventionCommand::SetTemperature(Some(1.0)));
    assert_eq!(model(&kernel).sentence.activations, before.sentence.activations);
    assert_eq!(trace(&kernel), own);
    assert_eq!(what_if(&kernel).said, Vec::<String>::new());

    apply(&mut kernel, InterventionCommand::SetTemperature(Some(0.5)));
    let snapshot = kernel.snapshot();
    let width = before.architecture.blocks[0].attention.key_width as f64;
    let activations = &snapshot.model.as_ref().expect("a model").sentence.activations;
    for (head, found) in activations.heads().enumerate() {
        let divisor = (head / HEADS + 1) as f64;
        let dot = |(a, b): (&f32, &f32)| f64::from(*a) * f64::from(*b);
        let product: f64 = found.query.row(2).iter().zip(found.key.row(1)).map(dot).sum();
        let expected = product / (width.sqrt() * divisor * 0.5);
        assert_close_beside(1.0, format!("head {head}"), found.scores.get(2, 1), expected, Tolerance::LIBRARY);

        let explanation = Explanation::of(&snapshot, Quantity::Scale.of_head(head, [])).expect("a number");
        let (formula, symbols) = match divisor {
            1.0 => (format!("1 / (√{width} · 0.5)"), "\\frac{1}{\\tau \\sqrt{d_k}}".to_owned()),
            own => (format!("1 / (√{width} · {own} · 0.5)"), format!("\\frac{{1}}{{{own} \\tau \\sqrt{{d_k}}}}")),
        };
        assert_eq!((explanation.worked.text(1), explanation.symbols), (formula, symbols), "head {head}");
        let says = |sentence: &String| sentence.contains(&format!("by {divisor}, the divisor of this layer"));
        assert_eq!(explanation.sentences.iter().any(says), divisor > 1.0, "head {head}: {:?}", explanation.sentences);
        let walk = WalkModel::of(&snapshot, Focus { query: 2, head, key: Some(1) }).expect("a walk");
        let said = &walk.step(Step::Scale).said;
        let names = said.contains(&format!("and by {divisor}, the divisor of this layer, and by the temperature"));
        assert_eq!(names, divisor > 1.0, "head {head}: {said}");
    }
}

const FIRST: &str = "the bank of the river";
const SECOND: &str = "an apple by the river";

fn apply(kernel: &mut Kernel, command: InterventionCommand) {
    kernel.apply(Command::Interventions(command));
    assert_eq!(kernel.snapshot().notice, None);
}

fn with_two_sentences(name: &str) -> (Kernel, impl Fn(Option<Saved>) -> Kernel) {
    let folder = with_tokenizer(name);
    let lesson = opened(&folder.0);
    let mut kernel = running(&lesson);
    kernel.apply(Command::Sentence(SentenceCommand::Set(FIRST.to_owned())));
    kernel.apply(Command::Sentence(SentenceCommand::SetSecond(Some(SECOND.to_owned()))));
    let again = move |saved| {
        let _held = &folder;
        let mut kernel = Kernel::open(lesson.clone(), saved);
        kernel.settle();
        kernel
    };
    (kernel, again)
}

#[test]
fn only_the_layers_behind_a_change_are_computed_again() {
    for name in ["bert-wild", "gpt2-wild"] {
        let (mut kernel, _) = with_two_sentences(name);
        let before = model(&kernel);
        let changes = [
            (2, InterventionCommand::SetHead { head: 2 * HEADS + 1, mode: HeadMode::Off }),
            (1, InterventionCommand::SetHead { head: HEADS, mode: HeadMode::Mean }),
            (2, InterventionCommand::SetEdge { edge: Edge { head: 2 * HEADS, query: 3, key: 1 }, is_removed: true }),
            (1, InterventionCommand::SetPatch(Some(Patch { block: 1, position: 2, from: 3, vector: None }))),
        ];
        for (block, change) in changes {
            apply(&mut kernel, change.clone());
            let now = model(&kernel);
            let blocks = |model: &ModelSnapshot| model.sentence.activations.blocks.clone();
            for (at, (now, before)) in blocks(&now).iter().zip(&blocks(&before)).enumerate() {
                assert_eq!(Arc::ptr_eq(now, before), at < block, "{name}, {change:?}: layer {at}");
            }
            let ghost = now.sentence.unchanged.as_ref().expect("a ghost");
            assert_eq!(ghost.other.activations, before.sentence.activations, "{name}, {change:?}");
            assert!(ghost.words.iter().any(|word| word.after.distance > 0.0), "{name}, {change:?}");
            kernel.apply(Command::Undo);
            assert_eq!(model(&kernel).sentence.activations, before.sentence.activations, "{name}, {change:?}");
        }
    }
}

/// One of each.
fn change_all(kernel: &mut Kernel) {
    apply(kernel, InterventionCommand::SetHead { head: 1, mode: HeadMode::Mean });
    for key in [0, 2] {
        let edge = Edge { head: HEADS, query: 3, key };
        apply(kernel, InterventionCommand::SetEdge { edge, is_removed: true });
    }
    apply(kernel, InterventionCommand::SetPatch(Some(Patch { block: 2, position: 1, from: 2, vector: None })));
}

#[test]
fn they_are_saved_and_opened_again_bit_for_bit() {
    for name in ["bert-wild", "gpt2-wild"] {
        let (mut kernel, open) = with_two_sentences(name);
        change_all(&mut kernel);
        let before = model(&kernel);
        let text = serde_json::to_string(&Saved::of(&kernel.snapshot())).expect("JSON");
        let again = open(Some(serde_json::from_str(&text).expect("the same")));
        assert!(again.snapshot().report.is_empty(), "{name}: {:?}", again.snapshot().report);
        let now = model(&again);
        assert_eq!(now.interventions, before.interventions, "{name}");
        assert_eq!(now.sentence.activations, before.sentence.activations, "{name}");
    }
}

#[test]
fn saved_ones_that_no_longer_fit_are_left_out_with_words() {
    let (mut kernel, open) = with_two_sentences("gpt2-wild");
    change_all(&mut kernel);
    let mut saved = Saved::of(&kernel.snapshot());
    let is_of = |command: &Command| matches!(command, Command::Interventions(InterventionCommand::SetPatch(_)));
    let place = saved.commands.iter().position(is_of).expect("a patch");
    let Command::Interventions(InterventionCommand::SetPatch(Some(patch))) = &mut saved.commands[place] else {
        unreachable!("it is one")
    };
    let width = patch.vector.as_ref().expect("numbers").len();
    patch.vector = patch.vector.as_ref().map(|vector| vector[1..].into());
    let remove = |edge| Command::Interventions(InterventionCommand::SetEdge { edge, is_removed: true });
    let others = [Edge { head: 99, query: 0, key: 0 }, Edge { head: 0, query: 0, key: 40 }];
    saved.commands.splice(place..place, others.map(remove));
    let again = open(Some(saved));
    let report = again.snapshot().report.join("\n");
    let lines: Vec<&str> = report.lines().collect();
    assert_eq!(lines.len(), 3, "{report}");
    assert!(lines[..2].iter().all(|line| line.starts_with("The removal of an edge is left out: ")), "{report}");
    let why = format!("its vector of {} numbers must be a vector of {width} finite numbers", width - 1);
    assert_eq!(lines[2], format!("The patch is left out: {why}."));
    assert_eq!((model(&again).interventions.edges.len(), &model(&again).interventions.patch), (2, &None));
}

#[test]
fn a_patch_ends_when_either_sentence_changes_and_undo_brings_it_back() {
    let (mut kernel, _) = with_two_sentences("bert-wild");
    change_all(&mut kernel);
    let before = model(&kernel);
    assert!(before.interventions.patch.is_some() && before.interventions.edges.len() == 2);
    for command in [
        SentenceCommand::SetSecond(Some("the river".to_owned())),
        SentenceCommand::SetSecond(None),
        SentenceCommand::Set("the river".to_owned()),
    ] {
        let is_first = matches!(command, SentenceCommand::Set(_));
        kernel.apply(Command::Sentence(command.clone()));
        let now = model(&kernel);
        assert_eq!((&now.interventions.patch, now.interventions.edges.is_empty()), (&None, is_first), "{command:?}");
        assert_eq!(now.interventions.heads, before.interventions.heads, "{command:?}: heads are of any sentence");
        kernel.apply(Command::Undo);
        let back = model(&kernel);
        assert_eq!(back.interventions, before.interventions, "{command:?}");
        assert_eq!(back.sentence.activations, before.sentence.activations, "{command:?}");
    }
}

#[test]
fn places_that_are_not_there_are_refused_with_words() {
    let (mut kernel, _) = with_two_sentences("gpt2-wild");
    let pieces = model(&kernel).sentence.tokens.len();
    let others = model(&kernel).second.expect("a second sentence").other.tokens.len();
    let patch =
        |block, position, from| InterventionCommand::SetPatch(Some(Patch { block, position, from, vector: None }));
    let edge = |head, query, key| InterventionCommand::SetEdge { edge: Edge { head, query, key }, is_removed: true };
    let mut refused = |command: InterventionCommand| {
        let before = kernel.snapshot().history.undo;
        kernel.apply(Command::Interventions(command));
        let snapshot = kernel.snapshot();
        assert_eq!(snapshot.history.undo, before, "nothing is changed");
        snapshot.notice.expect("words").to_string()
    };
    let said = refused(patch(0, 0, others));
    assert!(said.contains(&format!("the second sentence has {others} tokens")), "{said}");
    let said = refused(patch(0, pieces, 0));
    assert!(said.contains(&format!("the sentence has {pieces} tokens")), "{said}");
    assert!(refused(patch(3, 0, 0)).contains("there is no such layer; the sentence goes through layers 1 to 3"));
    assert!(refused(edge(9, 0, 0)).contains("there is no head 10"));
    assert!(refused(edge(0, pieces, 0)).contains("has no weight"));
    assert!(refused(edge(0, 1, 2)).contains("the mask or the window already hides this word"));
    kernel.apply(Command::Sentence(SentenceCommand::SetSecond(None)));
    kernel.apply(Command::Interventions(patch(0, 0, 0)));
    let said = kernel.snapshot().notice.expect("words");
    assert!(said.contains("there is no second sentence from which to take a vector"), "{said}");
}

#[test]
fn changes_and_what_they_do_to_the_answers_are_said() {
    let (mut kernel, _) = with_two_sentences("gpt2-wild");
    change_all(&mut kernel);
    let said = WhatIfModel::of(&kernel.snapshot()).expect("a model").said.join(" ");
    assert!(said.contains("Layer 1, head 2 adds its mean over the sentence."), "{said}");
    assert!(said.contains("2 attention weights are removed."), "{said}");
    let first = &model(&kernel).sentence.tokens[1].text.clone();
    assert!(said.contains(&format!("Before layer 3, the vector of “{first}” is replaced by that of “")), "{said}");
}
