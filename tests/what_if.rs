//! What if: the panel of interventions beside its unchanged result, and the variables, as plain values and by label.

#[cfg(feature = "app")]
#[path = "common/dressed.rs"]
mod dressed;

use std::sync::Arc;

use attune::kernel::command::HeadSetting;
use attune::kernel::notebook::NotebookCommand;
use attune::kernel::{Command, Kernel, Snapshot};
use attune::numerics::params::TensorName;
use attune::view_model::attention::AttentionModel;
use attune::view_model::variables::{VariableKind, VariableValue, VariablesModel};
use attune::view_model::what_if::WhatIfModel;

fn kernel(text: &str) -> Kernel {
    let lesson = attune::lesson::parse("what_if.ron", text).unwrap_or_else(|issues| panic!("{issues:#?}"));
    Kernel::trained(Arc::new(lesson))
}

fn small() -> Kernel {
    kernel(include_str!("fixtures/small.ron"))
}

fn what_if(kernel: &Kernel) -> WhatIfModel {
    WhatIfModel::of(&kernel.snapshot()).expect("a model")
}

fn output(snapshot: &Snapshot) -> Vec<Vec<f32>> {
    let output = &snapshot.model.as_ref().expect("a model").sentence.activations.output;
    (0..output.rows()).map(|row| output.row(row).to_vec()).collect()
}

#[test]
fn the_unchanged_result_stands_beside_the_changed_one() {
    let mut kernel = small();
    let before = kernel.snapshot();
    assert!(before.model.as_ref().expect("a model").sentence.unchanged.is_none(), "nothing is changed");
    let model = what_if(&kernel);
    assert!(model.said.is_empty() && model.effects.iter().all(|effect| effect.moved == 0.0));
    let commands = [
        (Command::SetTemperature(Some(0.1)), "Temperature 0.1 instead of 1."),
        (Command::SetScale(Some(false)), "Scores are not divided by √3."),
        (Command::SetHead { head: 1, setting: HeadSetting::Uniform }, "Head 2 looks everywhere alike."),
        (Command::ToggleMask { query: 1, key: 0 }, "One pair is hidden that the lesson shows."),
        (
            Command::SetWeight { tensor: TensorName::QueryWeights.into(), row: 0, col: 0, value: 3.0 },
            "One weight is turned.",
        ),
    ];
    for (command, said) in commands {
        kernel.apply(command);
        let model = what_if(&kernel);
        assert!(model.said.iter().any(|sentence| sentence == said), "{said}: {:?}", model.said);
        let after = kernel.snapshot();
        let (was, is) = (output(&before), output(&after));
        let heads = &before.model.as_ref().expect("a model").sentence.activations.blocks[0].heads;
        let now = &after.model.as_ref().expect("a model").sentence.activations.blocks[0].heads;
        for (token, effect) in model.effects.iter().enumerate() {
            let squares = was[token].iter().zip(&is[token]).map(|(a, b)| f64::from(a - b).powi(2));
            let expected = squares.sum::<f64>().sqrt();
            assert!((f64::from(effect.moved) - expected).abs() < 1e-6, "{said}");
            for row in &effect.rows {
                assert_eq!(row.before, heads[row.head].weights.row(token), "{said}");
                assert_eq!(row.now, now[row.head].weights.row(token), "{said}");
            }
        }
        assert_eq!(model.effects.len(), model.tokens.len());
    }
    kernel.apply(Command::ResetInterventions);
    kernel.apply(Command::ResetWeights);
    assert!(kernel.snapshot().model.expect("a model").sentence.unchanged.is_none());
}

#[test]
fn the_unchanged_result_is_not_run_again_while_a_slider_is_dragged() {
    let mut kernel = small();
    let ghost = |kernel: &Kernel| {
        kernel.snapshot().model.expect("a model").sentence.unchanged.as_ref().expect("a change").result.clone()
    };
    kernel.apply(Command::SetTemperature(Some(0.5)));
    let first = ghost(&kernel);
    kernel.apply(Command::SetTemperature(Some(0.4)));
    assert!(Arc::ptr_eq(&first, &ghost(&kernel)));
    kernel.apply(Command::SelectSentence(1));
    let other = ghost(&kernel);
    assert!(!Arc::ptr_eq(&first, &other) && other.activations.output.rows() == 4);
    kernel.apply(Command::ResetTraining);
    assert!(!Arc::ptr_eq(&other, &ghost(&kernel)), "the trained weights are others now");
}

#[test]
fn weights_are_copied_with_the_words_of_their_rows_and_columns() {
    let snapshot = small().snapshot();
    let model = AttentionModel::of(&snapshot).expect("a model");
    let one = model.tsv(&[1]);
    let lines: Vec<&str> = one.lines().collect();
    assert_eq!(lines[0], "\tthe\tseal\tsank\twhile\ta\tduck\tswam");
    assert!(lines.len() == 8 && lines[2].starts_with("seal\t"), "{one}");
    let numbers: Vec<f32> = lines[2].split('\t').skip(1).map(|x| x.parse().expect("a number")).collect();
    assert_eq!(numbers, model.heads[1].weights[1], "every digit");
    let all = model.tsv(&[0, 1]);
    assert!(all.starts_with("Head 1\n\tthe") && all.contains("\n\nHead 2\n\tthe"), "{all}");
}

#[test]
fn every_tensor_and_every_variable_of_code_is_listed_with_its_numbers() {
    let text = include_str!("fixtures/small.ron").replace(
        "Stage(id: \"both\"",
        "Code(id: \"make\", src: \"let s = X @ X.T; let n = 2; let words = [\\\"a\\\", \\\"b\\\"]; fn f(x) { x }\"), Stage(id: \"both\"",
    );
    let mut kernel = kernel(&text);
    let listed = |kernel: &Kernel| VariablesModel::of(&Arc::new(kernel.snapshot())).all().to_vec();
    let before = listed(&kernel);
    let names = |kind| before.iter().filter(|one| one.kind == kind).map(|one| one.name.as_str()).collect::<Vec<_>>();
    assert_eq!(names(VariableKind::Forward), ["X", "Q", "K", "V", "S", "A", "M", "Y", "Z", "visible", "temperature"]);
    assert!(names(VariableKind::Weights).contains(&"W_Q") && names(VariableKind::Weights)[0] == "E");
    assert!(names(VariableKind::Code).is_empty());
    let weights = before.iter().find(|one| one.name == "A").expect("A");
    assert_eq!(weights.shape(), "(2, 7, 7)");
    let VariableValue::Table(table) = &weights.value else { panic!("a table") };
    let model = kernel.snapshot().model.expect("a model");
    let entry = model.sentence.activations.blocks[0].heads[1].weights.get(1, 5);
    assert_eq!(table.entry(1, 1, 5), f64::from(entry));
    assert!(table.tell(1, 1, 5).starts_with("A[1, \"seal\", \"duck\"] = "));

    kernel.apply(Command::Notebook(NotebookCommand::RunAll));
    kernel.settle();
    let after = listed(&kernel);
    let code: Vec<(&str, String)> =
        after.iter().filter(|one| one.kind == VariableKind::Code).map(|one| (one.name.as_str(), one.shape())).collect();
    let expected = [("s", "(7, 7)"), ("n", "number"), ("words", "text")];
    assert_eq!(code, expected.map(|(name, shape)| (name, shape.to_owned())));
    assert!(after.iter().any(|one| one.name == "s" && one.meaning == "made in In[1]"));
}

#[test]
fn every_form_of_a_model_has_its_what_ifs_and_variables() {
    for form in std::fs::read_dir("tests/fixtures/forms").expect("the forms").flatten() {
        let mut kernel = kernel(&std::fs::read_to_string(form.path()).expect("text"));
        kernel.apply(Command::SetTemperature(Some(0.3)));
        let model = what_if(&kernel);
        assert_eq!((model.effects.len(), model.mask.now.len()), (model.tokens.len(), model.tokens.len().pow(2)));
        let rows = model.effects.iter().flat_map(|effect| &effect.rows);
        assert!(
            rows.clone().count() > 0
                && rows.into_iter().all(|row| row.before.len() == model.heads[row.head].keys.len())
        );
        assert!(VariablesModel::of(&Arc::new(kernel.snapshot())).all().len() > 10);
    }
}

#[cfg(feature = "app")]
mod by_label {
    use std::cell::RefCell;
    use std::rc::Rc;

    use attune::app::panels::attention::{AttentionUiState, attention_ui};
    use attune::app::panels::provenance::{provenance_keys, provenance_ui};
    use attune::app::panels::variables::{VariablesUiState, variables_ui};
    use attune::app::panels::what_if::{WhatIfUiState, what_if_ui};
    use attune::app::view_state::ViewState;
    use attune::view_model::provenance::{Entry, Provenance};
    use egui::{Event, Key, Modifiers, PointerButton, Pos2, Ui, Vec2};
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable;

    use super::dressed::dressed;
    use super::*;

    type Seen = Rc<RefCell<(Vec<Command>, ViewState)>>;

    fn show<'a>(
        size: Vec2,
        mut panel: impl FnMut(&mut Ui, &mut ViewState) -> Vec<Command> + 'a,
    ) -> (Harness<'a>, Seen) {
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
        let mut state = WhatIfUiState::default();
        let (mut harness, seen) = live(PANEL, kernel, move |ui, snapshot, view| {
            what_if_ui(ui, &WhatIfModel::of(snapshot).expect("a model"), &mut state, view)
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
                Command::SetHead { head: 0, setting: HeadSetting::Uniform },
                Command::SetHead { head: 1, setting: HeadSetting::Off },
                Command::SoloHead(None),
            ],
            "a head that is alone already is alone no more"
        );
        assert!(matches!(&commands[3..5], [Command::SetMask(Some(_)), Command::SetMask(Some(_))]), "{commands:?}");
        let rest = [Command::SetScale(Some(false)), Command::SetScale(None), Command::ResetMask];
        assert_eq!(commands[5..8], rest);
        let frozen = Command::SetHead { head: 1, setting: HeadSetting::Frozen };
        assert_eq!(commands[8..], [frozen, Command::ResetInterventions]);
        assert!(harness.query_by_label("Reset all").is_none(), "nothing is left to reset");
    }

    #[test]
    fn a_stroke_over_the_mask_is_one_change_and_one_undo() {
        let kernel = Rc::new(RefCell::new(small()));
        let before = kernel.borrow().snapshot().history.undo;
        let mut state = WhatIfUiState::default();
        let (mut harness, seen) = live(PANEL, kernel.clone(), move |ui, snapshot, view| {
            what_if_ui(ui, &WhatIfModel::of(snapshot).expect("a model"), &mut state, view)
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
        kernel.borrow_mut().apply(Command::SetTemperature(Some(0.1)));
        let mut state = WhatIfUiState::default();
        let (mut harness, seen) = live(PANEL, kernel, move |ui, snapshot, view| {
            what_if_ui(ui, &WhatIfModel::of(snapshot).expect("a model"), &mut state, view)
        });
        assert!(harness.query_by_label_contains("Temperature 0.1 instead of 1.").is_some());
        assert!(harness.query_by_label_contains("Most of all ").is_some());
        harness.get_all_by_label("seal").next().expect("the word").click();
        harness.run_steps(3);
        assert_eq!(seen.borrow().1.query, Some(1));
        assert!(harness.query_by_label_contains("away from its ghost").is_some());
        click(&mut harness, "Reset temperature");
        assert!(harness.query_by_label_contains("Nothing is changed").is_some());
    }

    #[test]
    fn a_cell_is_followed_by_a_click_and_asked_by_a_right_click() {
        let kernel = Rc::new(RefCell::new(small()));
        let mut state = AttentionUiState::default();
        let (mut harness, seen) = live(Vec2::new(1000.0, 900.0), kernel, move |ui, snapshot, view| {
            provenance_keys(ui.ctx(), None, view);
            let commands = attention_ui(ui, &AttentionModel::of(snapshot).expect("a model"), &mut state, view);
            let told = view.asked().and_then(|entry| Provenance::of(snapshot, entry));
            provenance_ui(ui.ctx(), told.as_ref(), view);
            commands
        });
        let map = harness.get_by_label("Weights of head 2").rect();
        let cell = map.width() / 7.0;
        let at = |row: f32, col: f32| map.min + Vec2::new((col + 0.5) * cell, (row + 0.5) * cell);
        press(&mut harness, at(1.0, 5.0), PointerButton::Primary);
        let view = seen.borrow().1.clone();
        assert_eq!((view.query, view.key, view.head, view.asked()), (Some(1), Some(5), 1, None));
        press(&mut harness, at(1.0, 5.0), PointerButton::Secondary);
        assert_eq!(seen.borrow().1.asked(), Some(Entry::Weight { head: 1, query: 1, key: 5 }));
        let card = harness.get_by_label("A₂[\"seal\", \"duck\"]").rect();
        assert!((card.top() - at(1.0, 5.0).y).abs() < 100.0, "it comes beside what was clicked: {card:?}");
        // Followed into an operand, and back.
        assert!(harness.query_by_label("Back").is_none());
        harness.get_by_label_contains("exp(duck) ").click();
        harness.run_steps(3);
        assert_eq!(seen.borrow().1.asked(), Some(Entry::Exponential { head: 1, query: 1, key: 5 }));
        click(&mut harness, "Back");
        assert_eq!(seen.borrow().1.asked(), Some(Entry::Weight { head: 1, query: 1, key: 5 }));
        // It stays until it is closed.
        harness.run_steps(10);
        assert!(seen.borrow().1.asked().is_some());
        harness.key_press(Key::Escape);
        harness.run_steps(3);
        assert_eq!(seen.borrow().1.asked(), None);
        press(&mut harness, at(3.0, 3.0), PointerButton::Secondary);
        assert!(seen.borrow().1.asked().is_some());
        press(&mut harness, Pos2::new(5.0, 895.0), PointerButton::Primary);
        assert_eq!(seen.borrow().1.asked(), None, "a click elsewhere closes it");
        press(&mut harness, at(3.0, 3.0), PointerButton::Secondary);
        click(&mut harness, "Close where it comes from");
        assert_eq!(seen.borrow().1.asked(), None);
    }

    #[test]
    fn attention_is_seen_as_lines_by_head_and_copied() {
        let kernel = Rc::new(RefCell::new(small()));
        let text = AttentionModel::of(&kernel.borrow().snapshot()).expect("a model").tsv(&[1]);
        let mut state = AttentionUiState::default();
        let (mut harness, seen) = live(PANEL, kernel, move |ui, snapshot, view| {
            attention_ui(ui, &AttentionModel::of(snapshot).expect("a model"), &mut state, view)
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
        assert_eq!(seen.borrow().1.query, Some(1));
    }

    #[test]
    fn a_variable_opens_as_a_table() {
        let kernel = Rc::new(RefCell::new(small()));
        let mut state = VariablesUiState::default();
        let (mut harness, seen) = live(PANEL, kernel, move |ui, snapshot, view| {
            variables_ui(ui, &VariablesModel::of(snapshot), &mut state, view);
            Vec::new()
        });
        assert!(harness.query_by_label_contains("Table A").is_none());
        click(&mut harness, "A (2, 7, 7)");
        assert!(harness.query_by_label_contains("The attention weights of all heads").is_some());
        assert!(harness.query_by_label_contains("Table A").is_some());
        assert!(harness.query_by_label("Copy the table A, for a spreadsheet").is_some());
        let cells = harness.get_all_by_label_contains("Table A").next().expect("its cells").rect();
        press(&mut harness, cells.left_top() + Vec2::splat(2.0), PointerButton::Secondary);
        assert_eq!(seen.borrow().1.asked(), Some(Entry::Weight { head: 0, query: 0, key: 0 }));
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
}
