//! The panels of what-ifs, attention and variables, by label over a running kernel.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use attune::app::actions::WindowAction;
use attune::app::panels::attention::{AttentionPanel, attention_ui};
use attune::app::panels::variables::{VariablesPanel, variables_ui};
use attune::app::panels::what_if::{WhatIfPanel, what_if_ui};
use attune::app::shell::provenance::provenance_ui;
use attune::app::shell::shortcuts::{LessonKeys, lesson_keys};
use attune::app::view::ViewState;
use attune::kernel::command::{HeadSetting, InterventionCommand};
use attune::kernel::{Command, Kernel, Snapshot};
use attune::quantity::Quantity;
use attune::view_model::attention::AttentionModel;
use attune::view_model::models::Models;
use attune::view_model::provenance::Provenance;
use attune::view_model::variables::{VariableValue, VariablesModel};
use attune::view_model::what_if::WhatIfModel;
use egui::{Event, Key, Modifiers, PointerButton, Pos2, Ui, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use crate::common::dressed::dressed;

fn small() -> Kernel {
    let lesson = attune::lesson::parse("small.ron", include_str!("../fixtures/small.ron")).expect("no issues");
    Kernel::trained(Arc::new(lesson))
}

fn what_if(kernel: &Kernel) -> WhatIfModel {
    WhatIfModel::of(&kernel.snapshot()).expect("a model")
}

type Seen = Rc<RefCell<(Vec<Command>, ViewState)>>;

fn show<'a>(size: Vec2, mut panel: impl FnMut(&mut Ui, &mut ViewState) -> Vec<Command> + 'a) -> (Harness<'a>, Seen) {
    let seen = Seen::default();
    let inner = seen.clone();
    let harness = dressed(size, move |ui| {
        let (commands, view) = &mut *inner.borrow_mut();
        commands.extend(panel(ui, view));
    });
    (harness, seen)
}

fn click(harness: &mut Harness, label: &str) {
    harness.get_by_label(label).click();
    harness.run_steps(3);
}

fn button(harness: &mut Harness, at: Pos2, button: PointerButton, pressed: bool) {
    harness.event(Event::PointerMoved(at));
    harness.event(Event::PointerButton { pos: at, button, pressed, modifiers: Modifiers::NONE });
    harness.run_steps(1);
}

fn press(harness: &mut Harness, at: Pos2, which: PointerButton) {
    harness.event(Event::PointerMoved(at));
    harness.run_steps(1);
    button(harness, at, which, true);
    button(harness, at, which, false);
    harness.run_steps(3);
}

/// A panel with the kernel behind it: what it asks is done at once.
fn live<'a>(
    size: Vec2,
    kernel: Rc<RefCell<Kernel>>,
    mut panel: impl FnMut(&mut Ui, &Arc<Snapshot>, &mut ViewState) -> Vec<Command> + 'a,
) -> (Harness<'a>, Seen) {
    show(size, move |ui, view| {
        let snapshot = Arc::new(kernel.borrow().snapshot());
        let commands = panel(ui, &snapshot, view);
        commands.iter().for_each(|command| kernel.borrow_mut().apply(command.clone()));
        commands
    })
}

const PANEL: Vec2 = Vec2::new(420.0, 900.0);

#[test]
fn every_intervention_is_a_control() {
    let kernel = Rc::new(RefCell::new(small()));
    let mut state = WhatIfPanel::default();
    let (mut harness, seen) = live(PANEL, kernel, move |ui, snapshot, view| {
        what_if_ui(ui, &WhatIfModel::of(snapshot).expect("a model"), &mut state, &mut view.for_panels())
    });
    for label in ["Head 1 uniform", "Head 2 off", "Head 1 alone", "Mask: causal", "Mask: only itself"] {
        click(&mut harness, label);
    }
    click(&mut harness, "divide by √d_k = √3");
    click(&mut harness, "Reset scale");
    click(&mut harness, "Mask: lesson's");
    click(&mut harness, "Head 2 frozen");
    click(&mut harness, "Reset all");
    let commands = seen.borrow().0.clone();
    assert_eq!(
        commands[..3],
        [
            Command::Interventions(InterventionCommand::SetHead { head: 0, setting: HeadSetting::Uniform }),
            Command::Interventions(InterventionCommand::SetHead { head: 1, setting: HeadSetting::Off }),
            Command::Interventions(InterventionCommand::Solo(None)),
        ],
        "a head that is alone already is alone no more"
    );
    assert!(
        matches!(
            &commands[3..5],
            [
                Command::Interventions(InterventionCommand::SetMask(Some(_))),
                Command::Interventions(InterventionCommand::SetMask(Some(_)))
            ]
        ),
        "{commands:?}"
    );
    let rest = [
        Command::Interventions(InterventionCommand::SetScale(Some(false))),
        Command::Interventions(InterventionCommand::SetScale(None)),
        Command::Interventions(InterventionCommand::ResetMask),
    ];
    assert_eq!(commands[5..8], rest);
    let frozen = Command::Interventions(InterventionCommand::SetHead { head: 1, setting: HeadSetting::Frozen });
    assert_eq!(commands[8..], [frozen, Command::Interventions(InterventionCommand::Reset)]);
    assert!(harness.query_by_label("Reset all").is_none(), "nothing is left to reset");
}

#[test]
fn a_stroke_over_the_mask_is_one_change_and_one_undo() {
    let kernel = Rc::new(RefCell::new(small()));
    let before = kernel.borrow().snapshot().history.undo;
    let mut state = WhatIfPanel::default();
    let (mut harness, seen) = live(PANEL, kernel.clone(), move |ui, snapshot, view| {
        what_if_ui(ui, &WhatIfModel::of(snapshot).expect("a model"), &mut state, &mut view.for_panels())
    });
    let grid = harness.get_by_label("Mask: who sees whom").rect();
    let cell = grid.width() / 7.0;
    let at = |row: f32, col: f32| grid.min + Vec2::new((col + 0.5) * cell, (row + 0.5) * cell);
    harness.event(Event::PointerMoved(at(2.0, 1.0)));
    harness.run_steps(1);
    button(&mut harness, at(2.0, 1.0), PointerButton::Primary, true);
    // So fast that it leaps over two cells.
    for col in [2.0, 5.0] {
        harness.event(Event::PointerMoved(at(2.0, col)));
        harness.run_steps(1);
    }
    assert_eq!(seen.borrow().0, [], "nothing is given while it is painted");
    button(&mut harness, at(2.0, 5.0), PointerButton::Primary, false);
    harness.run_steps(3);
    assert_eq!(seen.borrow().0.len(), 1, "{:?}", seen.borrow().0);
    let hidden = |kernel: &Kernel| -> Vec<usize> {
        what_if(kernel).mask.now.iter().enumerate().filter(|(_, sees)| !**sees).map(|(at, _)| at).collect()
    };
    assert_eq!(hidden(&kernel.borrow()), [15, 16, 17, 18, 19], "row 2, columns 1 to 5");
    kernel.borrow_mut().apply(Command::Undo);
    assert_eq!((hidden(&kernel.borrow()), kernel.borrow().snapshot().history.undo), (vec![], before));
}

#[test]
fn the_changes_are_told_with_the_unchanged_beside_them() {
    let kernel = Rc::new(RefCell::new(small()));
    kernel.borrow_mut().apply(Command::Interventions(InterventionCommand::SetTemperature(Some(0.1))));
    let mut state = WhatIfPanel::default();
    let (mut harness, seen) = live(PANEL, kernel, move |ui, snapshot, view| {
        what_if_ui(ui, &WhatIfModel::of(snapshot).expect("a model"), &mut state, &mut view.for_panels())
    });
    assert!(harness.query_by_label_contains("Temperature 0.1 instead of 1.").is_some());
    assert!(harness.query_by_label_contains("Most of all ").is_some());
    harness.get_all_by_label("seal").next().expect("the word").click();
    harness.run_steps(3);
    assert_eq!(seen.borrow().1.selection.query, Some(1));
    assert!(harness.query_by_label_contains("away from its ghost").is_some());
    click(&mut harness, "Reset temperature");
    assert!(harness.query_by_label_contains("Nothing is changed").is_some());
}

#[test]
fn a_cell_is_followed_by_a_click_and_asked_by_a_right_click() {
    let kernel = Rc::new(RefCell::new(small()));
    let mut state = AttentionPanel::default();
    let (mut harness, seen) = live(Vec2::new(1000.0, 900.0), kernel, move |ui, snapshot, view| {
        let pressed = lesson_keys(ui.ctx(), &LessonKeys { trail: Some(&view.trail), ..LessonKeys::default() });
        if pressed.iter().any(|pressed| pressed.action == WindowAction::CloseOrigin) {
            view.trail.close();
        }
        attention_ui(ui, &AttentionModel::of(snapshot).expect("a model"), &mut state, &mut view.for_panels());
        provenance_ui(ui.ctx(), &Models::of(snapshot.clone()), &mut view.trail);
        Vec::new()
    });
    let map = harness.get_by_label("Weights of head 2").rect();
    let cell = map.width() / 7.0;
    let at = |row: f32, col: f32| map.min + Vec2::new((col + 0.5) * cell, (row + 0.5) * cell);
    press(&mut harness, at(1.0, 5.0), PointerButton::Primary);
    let view = seen.borrow().1.clone();
    assert_eq!(
        (view.selection.query, view.selection.key, view.selection.head, view.trail.entry()),
        (Some(1), Some(5), 1, None)
    );
    press(&mut harness, at(1.0, 5.0), PointerButton::Secondary);
    assert_eq!(seen.borrow().1.trail.entry(), Some(Quantity::Weight.of_head(1, [1, 5])));
    let card = harness.get_by_label("A₂[\"seal\", \"duck\"]").rect();
    assert!((card.top() - at(1.0, 5.0).y).abs() < 100.0, "it comes beside what was clicked: {card:?}");
    // Followed into an operand, and back.
    assert!(harness.query_by_label("Back").is_none());
    harness.get_by_label_contains("exp(duck) ").click();
    harness.run_steps(3);
    assert_eq!(seen.borrow().1.trail.entry(), Some(Quantity::Exponential.of_head(1, [1, 5])));
    click(&mut harness, "Back");
    assert_eq!(seen.borrow().1.trail.entry(), Some(Quantity::Weight.of_head(1, [1, 5])));
    // It stays until it is closed.
    harness.run_steps(10);
    assert!(seen.borrow().1.trail.entry().is_some());
    harness.key_press(Key::Escape);
    harness.run_steps(3);
    assert_eq!(seen.borrow().1.trail.entry(), None);
    press(&mut harness, at(3.0, 3.0), PointerButton::Secondary);
    assert!(seen.borrow().1.trail.entry().is_some());
    press(&mut harness, Pos2::new(5.0, 895.0), PointerButton::Primary);
    assert_eq!(seen.borrow().1.trail.entry(), None, "a click elsewhere closes it");
    press(&mut harness, at(3.0, 3.0), PointerButton::Secondary);
    click(&mut harness, "Close provenance");
    assert_eq!(seen.borrow().1.trail.entry(), None);
}

#[test]
fn attention_is_seen_as_lines_by_head_and_copied() {
    let kernel = Rc::new(RefCell::new(small()));
    let text = AttentionModel::of(&kernel.borrow().snapshot()).expect("a model").tsv(&[1]);
    let mut state = AttentionPanel::default();
    let (mut harness, seen) = live(PANEL, kernel, move |ui, snapshot, view| {
        attention_ui(ui, &AttentionModel::of(snapshot).expect("a model"), &mut state, &mut view.for_panels());
        Vec::new()
    });
    click(&mut harness, "Show head 2 alone");
    assert!(harness.query_by_label("Weights of head 1").is_none());
    let before = harness.get_by_label("Weights of head 2").rect().width();
    click(&mut harness, "Larger cells");
    assert!(harness.get_by_label("Weights of head 2").rect().width() > before);
    let copied = |harness: &Harness| {
        harness
            .output()
            .platform_output
            .commands
            .iter()
            .any(|command| matches!(command, egui::OutputCommand::CopyText(copied) if *copied == text))
    };
    harness.event(Event::PointerMoved(Pos2::new(200.0, 600.0)));
    harness.run_steps(1);
    harness.event(Event::Copy);
    harness.step();
    assert!(copied(&harness), "by the key, with the pointer over the panel");
    click(&mut harness, "Lines");
    assert!(harness.query_by_label("Lines from queries to keys").is_some());
    click(&mut harness, "Query seal, lines");
    assert_eq!(seen.borrow().1.selection.query, Some(1));
}

#[test]
fn a_variable_opens_as_a_table() {
    let kernel = Rc::new(RefCell::new(small()));
    let mut state = VariablesPanel::default();
    let (mut harness, seen) = live(PANEL, kernel, move |ui, snapshot, view| {
        variables_ui(ui, &VariablesModel::of(snapshot), &mut state, &mut view.for_panels());
        Vec::new()
    });
    assert!(harness.query_by_label_contains("Table A").is_none());
    click(&mut harness, "A (2, 7, 7)");
    assert!(harness.query_by_label_contains("The attention weights of all heads").is_some());
    assert!(harness.query_by_label_contains("Table A").is_some());
    assert!(harness.query_by_label("Copy the table A, for a spreadsheet").is_some());
    let cells = harness.get_all_by_label_contains("Table A").next().expect("its cells").rect();
    press(&mut harness, cells.left_top() + Vec2::splat(2.0), PointerButton::Secondary);
    assert_eq!(seen.borrow().1.trail.entry(), Some(Quantity::Weight.of_head(0, [0, 0])));
}

#[test]
fn the_value_of_each_entry_of_a_variable_is_what_it_comes_from() {
    let snapshot = Arc::new(small().snapshot());
    let mut checked = 0;
    for variable in VariablesModel::of(&snapshot).all() {
        let VariableValue::Table(table) = &variable.value else { continue };
        for (part, row, col) in [(0, 0, 0), (table.parts() - 1, table.rows() - 1, table.cols() - 1)] {
            let Some(entry) = variable.entry([part, row, col]) else { continue };
            let told = Provenance::of(&snapshot, entry).unwrap_or_else(|| panic!("{} {entry:?}", variable.name));
            assert_eq!(f64::from(told.value), table.entry(part, row, col), "{} {entry:?}", variable.name);
            checked += 1;
        }
    }
    assert!(checked > 20, "{checked}");
}
