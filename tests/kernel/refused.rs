//! Commands that a kernel refuses: each is answered in the words of a catalogue, `refused.txt`, and nothing changes.

use attune_core::kernel::command::{
    Axis, Brush, InterventionCommand, Reference, SenseCommand, SenseList, SenseSentence, WeightCommand,
};
use attune_core::kernel::notebook::CellCommand;
use attune_core::kernel::notebook::document::OwnKind;
use attune_core::kernel::sentence_pass::senses::LISTED_MAX;
use attune_core::kernel::{Command, Kernel};
use attune_core::lesson::Recipe;
use attune_engine::numerics::attention::{HeadMode, Mask, MaskTable};
use attune_engine::numerics::params::TensorName;

use crate::common::commands::{
    BRANCH, axis, compare, head, heads, learning_rate, of_cell, reset_tensor, retraining, scrub, select, sentence, set,
    solo, step, temperature, toggle,
};
use crate::common::lessons::{BANK, NOTEBOOK, SMALL, apply, bits, kernel, lesson, notice, small};
use crate::common::resaved::saved;
use crate::common::snapshots::assert_kept;

const CATALOGUE: &str = "tests/kernel/refused.txt";
/// Letters of a command and of an answer: either may repeat what is very long.
const CASE_MAX: usize = 160;
const ANSWER_MAX: usize = 400;
/// Larger than every count.
const MANY: usize = usize::MAX;

/// A kernel by what it is, and commands that it refuses.
type Refusals = (&'static str, Kernel, Vec<Command>);

fn query(row: usize, col: usize, value: f32) -> Command {
    set(TensorName::QueryWeights, row, col, value)
}

fn off(at: usize) -> Command {
    head(at, HeadMode::Off)
}

fn untrained() -> Refusals {
    let commands = vec![
        query(99, 0, 1.0),
        query(MANY, MANY, 1.0),
        query(0, 0, f32::NAN),
        query(0, 0, f32::INFINITY),
        reset_tensor(TensorName::QueryWeights.of_block(MANY)),
        select(9),
        select(MANY),
        solo(2),
        solo(MANY),
        heads(1..3, HeadMode::Off),
        heads(1..1, HeadMode::Off),
        sentence("  "),
        sentence("the stne sank"),
        sentence(&"the ".repeat(999)),
        Command::Undo,
        Command::Redo,
        toggle(MANY, MANY),
        scrub(MANY),
    ];
    ("a model that has yet to train", Kernel::embedded(lesson(SMALL)), commands)
}

fn trained() -> Refusals {
    let masked = |(queries, keys)| {
        let mask = Mask::custom(MaskTable::from_fn(queries, keys, |query, key| key <= query));
        Command::Interventions(InterventionCommand::SetMask(Some(mask)))
    };
    let masks = [(7, 8), (6, 7), (1, 1), (0, 0), (7, 0)].map(masked);
    let changes = [
        head(2, HeadMode::Frozen(None)),
        off(MANY - 1),
        off(MANY),
        temperature(0.0),
        temperature(f64::NAN),
        temperature(1e9),
        toggle(7, 0),
        toggle(0, 7),
    ];
    let along = |from: &str| axis(Axis::X, from, "animal");
    let axes = [
        along(""),
        along("!?"),
        along("minerals"),
        along("/^x/"),
        along("//"),
        along("/(/"),
        along(&format!("/{}/", "a{999}".repeat(60))),
        along(&"word ".repeat(9999)),
        axis(Axis::X, "stone, iron", "mineral"),
    ];
    let commands = [&changes[..], &masks, &axes, &strokes(), &recipes()].concat();
    ("a model of two heads and seven tokens", small(), commands)
}

fn strokes() -> Vec<Command> {
    let (weights, none) = (TensorName::QueryWeights.into(), TensorName::Embedding.into());
    let paint = |tensor, entries: &[(usize, usize)], brush| {
        Command::Weights(WeightCommand::Paint { tensor, entries: entries.to_vec(), brush, stroke: 1 })
    };
    let shake = |tensor, scale| Command::Weights(WeightCommand::Perturb { tensor, scale, draw: 1 });
    vec![
        paint(weights, &[(0, 0), (99, 0)], Brush::Set(1.0)),
        paint(weights, &[(0, 0)], Brush::Set(f32::NAN)),
        paint(weights, &[(0, 0)], Brush::Add(f32::INFINITY)),
        paint(none, &[(0, 0)], Brush::Set(1.0)),
        shake(weights, 0.0),
        shake(weights, f32::NAN),
        shake(weights, 1e30),
        shake(none, 0.1),
    ]
}

fn recipes() -> Vec<Command> {
    let heads = |heads| Recipe { heads: Some(heads), ..Recipe::default() };
    let width = |width| Recipe { width: Some(width), ..Recipe::default() };
    let shares = |word: &str, shares: &[f64]| Recipe {
        shares: [(word.to_owned(), shares.to_vec())].into(),
        ..Recipe::default()
    };
    let recipes = [
        heads(4),
        heads(0),
        heads(MANY),
        width(5),
        width(1),
        width(MANY),
        Recipe { model_rate: Some(0.0), ..Recipe::default() },
        Recipe { static_rate: Some(f64::NAN), ..Recipe::default() },
        shares("seal", &[0.9, 0.9]),
        shares("seal", &[f64::NAN, 1.0]),
        shares("seal", &[1.0]),
        shares("duck", &[1.0]),
    ];
    recipes.map(retraining).to_vec()
}

fn in_the_past() -> Refusals {
    let mut kernel = Kernel::embedded(lesson(SMALL));
    apply(&mut kernel, step(5));
    let rates = [0.0, 1.5, -1.0, f64::NAN, f64::INFINITY].map(learning_rate);
    let commands = [&[scrub(6), compare(Reference::Step(6)), BRANCH][..], &rates].concat();
    ("a training after five steps", kernel, commands)
}

fn notebook() -> Refusals {
    let commands = [
        ("nobody", CellCommand::Delete),
        ("turn", CellCommand::SetText("x".into())),
        ("intro", CellCommand::SetText("x".repeat(70_000).into())),
        ("turn", CellCommand::Slide(f64::NAN)),
        ("intro", CellCommand::Slide(1.0)),
        ("guess", CellCommand::Choose(2)),
        ("guess", CellCommand::Reveal),
        ("turn", CellCommand::Hint),
        ("turn", CellCommand::SetKind(OwnKind::Code)),
        ("intro", CellCommand::Settle { keep_mine: true }),
        ("end", CellCommand::MergeBelow),
    ];
    ("a notebook", kernel(NOTEBOOK), commands.map(|(id, command)| of_cell(id, command)).to_vec())
}

fn senses() -> Refusals {
    let list = |sense, count| {
        let sentence = SenseSentence { text: "the bank".to_owned(), sense };
        SenseList { word: "bank".to_owned(), sentences: vec![sentence; count] }
    };
    let mut kernel = kernel(BANK);
    apply(&mut kernel, Command::Senses(SenseCommand::Replace(list(Some('A'), 6))));
    let commands = [
        SenseCommand::Replace(list(None, LISTED_MAX + 1)),
        SenseCommand::Replace(list(Some('z'), 1)),
        SenseCommand::SetWord("b".repeat(3000)),
        SenseCommand::SetSense { index: 99, sense: None },
        SenseCommand::SetSense { index: 0, sense: Some('Z') },
        SenseCommand::SetText { index: 99, text: String::new() },
        SenseCommand::Insert(99),
        SenseCommand::Remove(MANY),
    ];
    ("a list of senses", kernel, commands.map(Command::Senses).to_vec())
}

#[test]
fn what_is_refused_is_said_in_the_words_of_the_catalogue_and_changes_nothing() {
    let mut said = String::new();
    for (name, mut kernel, commands) in [untrained(), trained(), in_the_past(), notebook(), senses()] {
        said += &format!("\n## {name}\n");
        let all = |kernel: &Kernel| (bits(&kernel.snapshot()), kernel.snapshot().history, saved(kernel));
        let before = all(&kernel);
        for command in commands {
            let case: String = format!("{command:?}").chars().take(CASE_MAX).collect();
            kernel.apply(command);
            let words = notice(&kernel).unwrap_or_else(|| panic!("{case} is not refused"));
            assert!(words.len() < ANSWER_MAX, "{case}: {words}");
            assert!(!kernel.is_busy() && all(&kernel) == before, "{case}: {words}, and yet something has changed");
            said += &format!("{case}\n    {words}\n");
        }
    }
    assert_kept(CATALOGUE, said.trim_start());
}
