//! A saved state may be anything: nothing panics, hangs or eats the memory, and what does not fit is said.

use std::sync::Arc;
use std::time::Instant;

use attune_core::kernel::command::{InterventionCommand, SentenceCommand, TensorEntries, WeightCommand};
use attune_core::kernel::notebook::CellCommand;
use attune_core::kernel::notebook::document::{DOCUMENT_CELLS_MAX, OwnKind};
use attune_core::kernel::notebook::saved::{SavedAnswer, SavedCell, SavedEdit};
use attune_core::kernel::notebook::snapshot::{RunSnapshot, Verdict};
use attune_core::kernel::{Command, Kernel, Saved};
use attune_engine::code::{Output, Tensor};
use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::{HeadMode, Mask, MaskTable};
use serde_json::{Value, json};

use super::{cell, changed, found, ids, kernel, lesson, open, report, saved};
use crate::common::commands::{PLAY, head, learning_rate, of_cell, scrub, sentence, temperature, train_to};
use crate::common::lessons::{self, SMALL};

fn with_commands(commands: Vec<Command>) -> Kernel {
    open(lesson(), Saved { commands, ..Saved::default() })
}

/// The commands, and training to the lesson's last step.
fn trained_with(commands: impl IntoIterator<Item = Command>) -> Kernel {
    with_commands(commands.into_iter().chain([train_to(None)]).collect())
}

/// The lesson as it is without a saved state.
fn is_untouched(kernel: &Kernel) {
    let (model, fresh) =
        (kernel.snapshot().model.expect("a model"), super::kernel().snapshot().model.expect("a model"));
    assert_eq!(model.parameters, fresh.parameters);
    assert_eq!(model.interventions, fresh.interventions);
    assert_eq!(model.sentence.tokens, fresh.sentence.tokens);
    assert!(model.second.is_none());
    assert_eq!(ids(kernel), ids(&super::kernel()));
}

#[test]
fn an_empty_state_is_the_lesson() {
    let empty: Saved = serde_json::from_str("{}").expect("every field has a default");
    let mut kernel = open(lesson(), empty);
    lessons::apply(&mut kernel, PLAY);
    is_untouched(&kernel);
    assert_eq!(report(&kernel), [""; 0]);
}

#[test]
fn sentences_that_cannot_be_shown() {
    let long = vec!["seal".to_owned(); 100_000];
    for words in [vec![], vec!["zebra".to_owned()], vec!["\u{202e}\n".repeat(10_000)], long] {
        let text = words.join(" ");
        let choices =
            [SentenceCommand::Set(text.clone()), SentenceCommand::Words(words), SentenceCommand::SetSecond(Some(text))];
        for choice in choices {
            let kernel = trained_with([Command::Sentence(choice)]);
            is_untouched(&kernel);
            assert_eq!(report(&kernel).len(), 1);
            assert!(report(&kernel)[0].len() < 600, "{}", report(&kernel)[0]);
        }
    }
}

/// A change of the pass as a file has it.
fn written(command: &str) -> Command {
    let command = format!(r#"{{"Interventions": {command}}}"#);
    serde_json::from_str(&command).unwrap_or_else(|why| panic!("{command}: {why}"))
}

#[test]
fn interventions_that_do_not_fit() {
    let off = |at| head(at, HeadMode::Off);
    let frozen = |rows: usize, weights: &str| {
        let mode = format!(r#"{{ "Frozen": {{ "rows": {rows}, "weights": [{weights}] }} }}"#);
        written(&format!(r#"{{ "SetHead": {{ "head": 0, "mode": {mode} }} }}"#))
    };
    let second = |rows: usize, weights: &str, values: &str| {
        let matrix = |numbers: &str| format!(r#"{{ "rows": {rows}, "weights": [{numbers}] }}"#);
        let head = format!(r#"{{ "weights": {}, "values": {} }}"#, matrix(weights), matrix(values));
        written(&format!(r#"{{ "SetHead": {{ "head": 0, "mode": {{ "Second": {head} }} }} }}"#))
    };
    let many = |weight: &str| [weight; 49].join(",");
    let masked = |rows: &[&str]| written(&format!(r#"{{ "SetMask": {{ "Custom": {rows:?} }} }}"#));
    let seen = "1".repeat(7);
    let cases = [
        temperature(f64::NAN),
        temperature(-1.0),
        off(2),
        off(usize::MAX),
        frozen(2, "0.5,0.5,0.5,0.5"),
        frozen(usize::MAX, ""),
        frozen(0, "0.5"),
        frozen(48, &many("0.5")),
        frozen(7, &many("\"NaN\"")),
        frozen(7, &many("1e30")),
        second(7, &many("0.5"), &many("0.5")),
        second(0, "0.5", ""),
        masked(&[&*seen; 6]),
        masked(&["é1111"; 7]),
        masked(&[&*seen, "1"]),
        masked(&[]),
    ];
    for command in cases {
        let said = format!("{:.80}", format!("{command:?}"));
        let kernel = trained_with([command]);
        is_untouched(&kernel);
        assert_eq!(report(&kernel).len(), 1, "{said}");
    }
}

/// Older work has a list of all heads; as many as the model has are as they were.
#[test]
fn more_heads_than_the_model_has() {
    let older = |heads: usize| {
        let off = vec!["Off"; heads];
        let model = json!({ "interventions": { "heads": off }, "training": { "is_at_end": true } });
        open(lesson(), serde_json::from_value(json!({ "model": model })).expect("older work"))
    };
    for (heads, reports) in [(3, 1), (1_000_000, 41)] {
        let kernel = older(heads);
        assert_eq!(kernel.snapshot().model.expect("a model").interventions.heads, [HeadMode::Off, HeadMode::Off]);
        assert_eq!(report(&kernel)[0], "The change of head 3 is left out: there is no head 3; the model has 2.");
        assert_eq!(report(&kernel).len(), reports);
    }
    // The report is made in several parts, and its last line counts what all of them leave out.
    assert_eq!(report(&older(1000)).last().expect("a report"), "… and 958 more.");
}

#[test]
fn interventions_of_a_sentence_that_is_gone_go_with_it() {
    let zeros = HeadMode::Frozen(Some(Arc::new(Matrix::zeros(7, 7))));
    let mask = Mask::custom(MaskTable::from_fn(7, 7, |_, _| true));
    let kernel = trained_with([
        sentence("zebra"),
        Command::Interventions(InterventionCommand::SetMask(Some(mask))),
        head(1, zeros),
    ]);
    is_untouched(&kernel);
    assert_eq!(report(&kernel).len(), 3);
}

fn tensor(name: &str, at: Option<Vec<usize>>, values: Vec<f32>) -> TensorEntries {
    TensorEntries { name: name.into(), rows: 6, cols: 6, at, values }
}

#[test]
fn weights_that_do_not_fit() {
    let cases = [
        tensor("W_Q", None, vec![0.0; 35]),
        tensor("W_Q", Some(vec![36]), vec![0.0]),
        tensor("W_Q", Some(vec![usize::MAX]), vec![0.0]),
        tensor("W_Q", Some(vec![0, 1]), vec![0.0]),
        tensor("W_Q", Some(vec![0]), vec![f32::NAN]),
        tensor("W_Q", Some(vec![0]), vec![f32::INFINITY]),
        tensor(&"W".repeat(1_000_000), Some(vec![0]), vec![0.0]),
        tensor("b_Q", Some(vec![0]), vec![0.0]),
        TensorEntries { rows: usize::MAX, ..tensor("W_Q", Some(vec![0]), vec![0.0]) },
    ];
    for tensor in cases {
        let put = Command::Weights(WeightCommand::Put(tensor.clone()));
        for commands in
            [vec![train_to(None), put.clone()], vec![train_to(Some(3)), put, train_to(Some(3)), train_to(None)]]
        {
            let kernel = with_commands(commands);
            is_untouched(&kernel);
            assert_eq!(report(&kernel).len(), 1, "{tensor:.60?}");
        }
    }
}

#[test]
fn trainings_that_cannot_have_been() {
    let cases = [
        (vec![train_to(Some(usize::MAX)), PLAY], 0),
        (vec![train_to(None), scrub(usize::MAX)], 1),
        (vec![learning_rate(f64::NAN), train_to(None)], 1),
        (vec![learning_rate(-1.0), train_to(Some(1)), learning_rate(0.0), train_to(None)], 2),
        (vec![train_to(Some(usize::MAX)), learning_rate(0.1), train_to(None)], 1),
    ];
    for (commands, reports) in cases {
        let kernel = with_commands(commands.clone());
        is_untouched(&kernel);
        assert_eq!(report(&kernel).len(), reports, "{commands:?}: {:?}", report(&kernel));
    }
    // Not in the order of the steps, and very many.
    for most in [20, 25] {
        let changes =
            (0..100_000).flat_map(|i| [train_to(Some((i * 7) % most)), learning_rate(0.01 * (1 + i % 2) as f64)]);
        let kernel = trained_with(changes);
        assert_eq!(kernel.snapshot().model.expect("a model").training.progress.done, 20);
        assert!(report(&kernel).len() < 50);
    }
}

#[test]
fn outputs_that_no_code_could_show() {
    let table = |axes: Value, entries: Value| json!({ "Table": { "axes": axes, "entries": entries } });
    let axes = |lens: &[usize]| json!(lens.iter().map(|len| json!({ "len": len })).collect::<Vec<_>>());
    let outputs = [
        table(axes(&[]), json!([1.0])),
        table(axes(&[2, 2]), json!([0, 0, 0])),
        table(axes(&[usize::MAX, usize::MAX]), json!([0])),
        table(axes(&[0, usize::MAX]), json!([])),
        table(axes(&[1; 9]), json!([0])),
        table(json!([{ "len": 2, "labels": ["a"] }]), json!([0, 0])),
        json!({ "Ranking": { "words": ["a"], "numbers": [] } }),
        json!({ "Ranking": { "words": [], "numbers": [1] } }),
        json!({ "Image": "x".repeat(10_000) }),
        json!({ "Ranking": { "words": vec!["a"; 1001], "numbers": vec![0; 1001] } }),
        json!({ "Plot": { "x": [0], "lines": [{ "name": "a", "y": [] }] } }),
    ];
    for output in outputs {
        let mut state = saved(&kernel());
        let run: RunSnapshot = serde_json::from_value(json!({ "outputs": [output] })).expect("plain data");
        state.notebook.cells[1].run = Some(run);
        let kernel = open(lesson(), state);
        assert!(found(&kernel, "double").run.is_none());
        assert_eq!(
            report(&kernel),
            ["The saved outputs of cell “double” do not fit the cell and are left out."],
            "{output:?}"
        );
    }
    let mut state = saved(&kernel());
    let run = RunSnapshot { verdict: Some(Verdict::Prediction { right: 2 }), ..RunSnapshot::default() };
    state.notebook.cells.iter_mut().for_each(|cell| cell.run = Some(run.clone()));
    assert!(found(&open(lesson(), state), "guess").run.is_none());
}

fn own(id: &str, text: &str) -> SavedCell {
    let edit = SavedEdit { kind: OwnKind::Code, text: text.into(), base: String::new() };
    SavedCell { id: id.into(), is_own: true, kind: Some(OwnKind::Code), edit: Some(edit), ..SavedCell::default() }
}

#[test]
fn ids_and_texts_that_cannot_be() {
    let mut state = saved(&kernel());
    let count = state.notebook.cells.len();
    let last = format!("own {}", usize::MAX);
    for id in ["", "own 1", "own 1", &"x".repeat(10_000), "\u{0}", &last] {
        state.notebook.cells.push(own(id, "1"));
    }
    state.notebook.cells.push(own("long", &"1;".repeat(40_000)));
    let again = state.notebook.cells[0].clone();
    state.notebook.cells.push(again);
    let mut kernel = open(lesson(), state);
    let mut ids = ids(&kernel);
    assert_eq!(ids.len(), count + 6, "{ids:?}");
    assert_eq!(report(&kernel).len(), 3, "{:?}", report(&kernel));
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count + 6);
    // There is no number after the last.
    kernel.apply(of_cell("intro", CellCommand::Insert { kind: OwnKind::Code, is_above: true }));
    assert!(kernel.snapshot().notice.is_some());
}

#[test]
fn more_cells_than_a_notebook_has() {
    let mut state = saved(&kernel());
    state.notebook.cells.extend((0..5_000).map(|i| own(&format!("own {i}"), "1")));
    let kernel = open(lesson(), state);
    assert_eq!((ids(&kernel).len(), report(&kernel).len()), (DOCUMENT_CELLS_MAX, 1));
}

#[test]
fn answers_that_cannot_be() {
    let mut state = saved(&kernel());
    let chosen = SavedAnswer::Predict {
        ask: String::new(),
        choices: vec!["one".into(), "two".into()],
        chosen: 9,
        is_locked: true,
    };
    let slider = SavedAnswer::Slider { variable: "much".into(), value: f64::NAN };
    for cell in &mut state.notebook.cells {
        cell.answer = if cell.id == "turn" { slider.clone() } else { chosen.clone() };
    }
    let kernel = open(lesson(), state);
    assert_eq!(report(&kernel).len(), 1 + super::kernel().snapshot().notebook.cells.len() - 2, "{:?}", report(&kernel));
    for (cell, fresh) in kernel.snapshot().notebook.cells.iter().zip(&super::kernel().snapshot().notebook.cells) {
        assert_eq!(cell.cell.answer, fresh.cell.answer);
    }
}

#[test]
fn a_state_of_another_lesson_leaves_that_lesson_whole() {
    let mut before = kernel();
    cell(&mut before, "intro", attune_core::kernel::notebook::CellCommand::SetText("Mine".into()));
    let small = lessons::lesson(SMALL);
    let cells = small.cells.len();
    let kernel = open(small, saved(&before));
    assert!(ids(&kernel).len() >= cells);
    let _ = changed(&[]);
}

/// No assertion on time, for machines differ: the figure is printed with `--nocapture`.
#[test]
fn ten_megabytes_open() {
    let mut state = saved(&kernel());
    let entries: Vec<f64> = (0..100_000).map(|i| f64::from(i).sin()).collect();
    let table = Output::Table { caption: "".into(), tensor: Tensor::matrix(100, 1000, entries) };
    let source = "let s = E @ E.T;\nsoftmax(s) // \"été\"\n".repeat(400);
    for i in 0..150 {
        let outputs = if i % 15 == 0 { vec![table.clone()] } else { vec![] };
        let run = RunSnapshot { outputs: outputs.into(), text: source.as_str().into(), ..RunSnapshot::default() };
        state.notebook.cells.push(SavedCell { run: Some(run), ..own(&format!("own {i}"), &source) });
    }
    let json = serde_json::to_string(&state).expect("plain data");
    assert!(json.len() > 10_000_000, "{}", json.len());
    let begun = Instant::now();
    let state: Saved = serde_json::from_str(&json).expect("plain data");
    let read = begun.elapsed();
    let kernel = Kernel::open(lesson(), Some(state));
    let opened = begun.elapsed();
    let snapshot = kernel.snapshot();
    let seen = begun.elapsed();
    let kept = Saved::of(&snapshot);
    let made = begun.elapsed();
    assert_eq!(kept.notebook.cells.len(), ids(&super::kernel()).len() + 150);
    println!("{} bytes: read {read:?}, opened {opened:?}, seen {seen:?}, made again {made:?}", json.len());
}

#[test]
fn a_gain_that_is_none_is_said_to_be_one() {
    for gain in [-1.0, 9.0, f32::NAN, f32::INFINITY] {
        let heads = [HeadMode::Gain(gain), HeadMode::Off].into_iter().enumerate();
        let kernel = trained_with(heads.map(|(at, mode)| head(at, mode)));
        assert_eq!(
            report(&kernel),
            [format!("The change of head 1 is left out: a head's gain must be from 0 to 4, not {gain}.")]
        );
        let modes = &kernel.snapshot().model.expect("a model").interventions.heads;
        assert_eq!(modes[..], [HeadMode::Live, HeadMode::Off], "the other one is as it was");
    }
}

/// A list of small commands takes more memory than it takes room in a file.
#[test]
fn of_millions_of_commands_the_first_are_read() {
    let play = serde_json::to_string(&PLAY).expect("plain data");
    let many = format!(r#"{{"commands":[{}{play}]}}"#, format!("{play},").repeat(1_000_000));
    let saved: Saved = serde_json::from_str(&many).expect("a work");
    assert_eq!(saved.commands.len(), 1 << 18);
    assert_eq!(open(lesson(), saved).snapshot().model.expect("a model").training.progress.done, 20);
}
