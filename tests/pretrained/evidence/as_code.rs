//! *Copy as code*: the copied cell, run in the notebook when nothing is changed any more, has the numbers of the change
//! or the map.

use attune_core::kernel::Kernel;
use std::sync::Arc;

use attune_core::kernel::command::{Command, InterventionCommand, SentenceCommand};
use attune_core::kernel::notebook::document::OwnKind;
use attune_core::kernel::notebook::{CellCommand, NotebookCommand};
use attune_engine::code::{Output, Tensor};
use attune_engine::numerics::Matrix;
use attune_engine::numerics::attention::{Edge, HeadMode, Mask, MaskTable};
use attune_engine::numerics::model::activations::Patch;
use attune_view::view_model::what_if::{MapKind, WhatIfModel};

use crate::common::close::{Tolerance, assert_close_beside};
use crate::common::lessons::model;
use crate::common::models::fixture;
use crate::common::top::at;
use crate::opened::{opened, running};

const DOG: &str = "the dog saw the fox, so it was the [MASK] that was slow.";
const FOX: &str = "the fox saw the dog, so it was the [MASK] that was slow.";

fn on(path: &std::path::Path, first: &str, second: Option<&str>) -> Kernel {
    let mut kernel = running(&opened(path));
    kernel.apply(Command::Sentence(SentenceCommand::Set(first.to_owned())));
    kernel.apply(Command::Sentence(SentenceCommand::SetSecond(second.map(str::to_owned))));
    assert_eq!(kernel.snapshot().notice, None);
    kernel.settle();
    kernel
}

fn what_if(kernel: &Kernel) -> WhatIfModel {
    WhatIfModel::of(&kernel.snapshot()).expect("a model")
}

fn ran(kernel: &mut Kernel, code: &str) -> Tensor {
    run(kernel, code).unwrap_or_else(|why| panic!("{why}: {code}"))
}

/// Runs code in a new cell, and returns the table that it shows, or its fault.
fn run(kernel: &mut Kernel, code: &str) -> Result<Tensor, String> {
    let ids = |kernel: &Kernel| -> Vec<_> {
        kernel.snapshot().notebook.cells.iter().map(|cell| cell.cell.id.clone()).collect()
    };
    let before = ids(kernel);
    let ask = |kernel: &mut Kernel, id: &str, command: CellCommand| {
        kernel.apply(Command::Notebook(NotebookCommand::Cell(id.into(), command)));
        kernel.settle();
    };
    ask(kernel, &before[0].clone(), CellCommand::Insert { kind: OwnKind::Code, is_above: false });
    let new = ids(kernel).into_iter().find(|id| !before.contains(id)).expect("a new cell");
    ask(kernel, &new, CellCommand::SetText(code.into()));
    ask(kernel, &new, CellCommand::Run);
    let snapshot = kernel.snapshot();
    let run = snapshot.notebook.cells.iter().find(|cell| cell.cell.id == new).and_then(|cell| cell.run.clone());
    let run = run.ok_or("it has not run")?;
    match (&run.fault, run.outputs.last()) {
        (Some(fault), _) => Err(fault.to_string()),
        (None, Some(Output::Table { tensor, .. })) => Ok(tensor.clone()),
        (None, other) => Err(format!("{other:?}")),
    }
}

fn changes() -> Vec<(&'static str, InterventionCommand)> {
    let head = |head, mode| InterventionCommand::SetHead { head, mode };
    let edge = |query, key| InterventionCommand::SetEdge { edge: Edge { head: 5, query, key }, is_removed: true };
    let at_first = Matrix::from_fn(17, 17, |_, key| if key == 0 { 0.75 } else { 0.015_625 });
    let table = MaskTable::from_fn(17, 17, |query, key| query != 3 || key != 1);
    vec![
        ("off", head(3, HeadMode::Off)),
        ("mean", head(3, HeadMode::Mean)),
        ("uniform", head(2, HeadMode::Uniform)),
        ("gain", head(4, HeadMode::Gain(1.75))),
        ("frozen", head(1, HeadMode::Frozen(Some(Arc::new(at_first))))),
        ("solo", InterventionCommand::Solo(Some(6))),
        ("temperature", InterventionCommand::SetTemperature(Some(0.35))),
        ("scale", InterventionCommand::SetScale(Some(false))),
        ("causal", InterventionCommand::SetMask(Some(Mask::Causal))),
        ("mask", InterventionCommand::SetMask(Some(Mask::custom(table)))),
        ("edge", edge(4, 2)),
        ("patch", InterventionCommand::SetPatch(Some(Patch { block: 2, position: 1, from: 1, vector: None }))),
        ("second", head(9, HeadMode::Second(None))),
    ]
}

#[test]
fn the_copied_cell_has_the_numbers_of_the_change() {
    let folder = at("lessons/depth");
    let tokens = model(&on(&folder, DOG, Some(FOX))).sentence.tokens.len();
    assert_eq!(tokens, 17, "the mask of a case is as large");
    for (name, change) in changes() {
        let mut kernel = on(&folder, DOG, Some(FOX));
        let unchanged = ran(&mut kernel, "Y");
        assert_eq!(what_if(&kernel).code, None, "{name}: nothing is changed yet");
        kernel.apply(Command::Interventions(change));
        assert_eq!(kernel.snapshot().notice, None, "{name}");
        kernel.settle();
        let changed = ran(&mut kernel, "Y");
        assert_ne!(changed.entries(), unchanged.entries(), "{name}");
        let code = what_if(&kernel).code.unwrap_or_else(|| panic!("{name}: code"));
        // The cell has the change alone, whatever else the learner does.
        kernel.apply(Command::Interventions(InterventionCommand::Reset));
        kernel.apply(Command::Interventions(InterventionCommand::SetTemperature(Some(3.0))));
        let found = ran(&mut kernel, &code);
        assert_close_beside(1.0, name, found.entries(), changed.entries(), Tolerance::SINGLE);
    }
}

#[test]
fn changes_of_both_towers_of_a_translator_are_copied_with_their_pair() {
    let folder = fixture("t5v11-wild");
    for head in [0, 13, 17] {
        let mut kernel = on(&folder, "5 6 7 8 ||| 8 9 4", None);
        kernel.apply(Command::Interventions(InterventionCommand::SetHead { head, mode: HeadMode::Off }));
        kernel.settle();
        let changed = ran(&mut kernel, "Y");
        let code = what_if(&kernel).code.expect("code");
        kernel.apply(Command::Interventions(InterventionCommand::Reset));
        assert_close_beside(1.0, head, ran(&mut kernel, &code).entries(), changed.entries(), Tolerance::SINGLE);
    }
}

#[test]
fn the_copied_cell_of_a_map_has_its_cells() {
    for (folder, first, second) in [
        ("lessons/depth", DOG, Some(FOX)),
        ("lessons/writer", "lamp fox green lamp fox", None),
        ("lessons/writer", "lamp fox green lamp fox", Some("lamp fox blue lamp fox")),
    ] {
        let mut kernel = on(&at(folder), first, second);
        kernel.apply(Command::Map);
        assert_eq!(kernel.snapshot().notice, None, "{folder}");
        kernel.settle();
        let told = what_if(&kernel);
        let map = told.map.clone().expect("a map");
        for kind in [MapKind::Words, MapKind::Heads] {
            let grid = match kind {
                MapKind::Words => map.words.clone(),
                MapKind::Heads => Some(map.heads.clone()),
                MapKind::Paths => None,
            };
            let (Some(grid), Some(code)) = (grid, told.map_code(kind)) else {
                assert_eq!((second, kind), (None, MapKind::Words), "{folder}");
                continue;
            };
            let expected: Vec<f64> = grid.iter().flatten().map(|cell| cell.expect("a number")).collect();
            let found = ran(&mut kernel, code);
            assert_close_beside(1.0, format!("{folder} {kind:?}"), found.entries(), &expected, Tolerance::SINGLE_PASS);
        }
    }
}

#[test]
fn written_changes_that_do_not_fit_are_refused_with_what_is_expected() {
    let mut kernel = on(&at("lessons/writer"), "lamp fox green", None);
    let cases = [
        ("#{ of: [1] }", "there is no change \"of\""),
        ("#{ off: [99] }", "there is no head 99"),
        ("#{ off: 1 }", "off is a list of heads"),
        ("#{ temperature: 0 }", "a temperature must be from"),
        ("#{ gain: [[0, 9]] }", "gain"),
        ("#{ mask: matrix([[1]]) }", "a mask of 1 by 1 does not fit"),
        ("#{ frozen: [[0, matrix([[1]])]] }", "frozen weights of 1 by 1 do not fit head 0"),
        ("#{ patch: #{ layer: 9, position: 0, from: 0, second: \"lamp\" } }", "there is no layer 9"),
        ("#{ patch: #{ head: 0, second: \"lamp\" } }", "tokens"),
    ];
    for (changes, words) in cases {
        let code = format!("forward(\"lamp fox green\", {changes}).Y");
        let why = run(&mut kernel, &code).expect_err("a fault");
        assert!(why.contains(words), "{changes}: {why}");
    }
}
