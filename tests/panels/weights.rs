//! The Weights panel by its labels: entries are turned, reset, painted and compared.

use attune::app::panels::weights::{WeightsPanel, WeightsView};
use attune_core::kernel::command::{Brush, Reference, TrainingCommand, WeightCommand};
use attune_core::kernel::{Command, Kernel};
use attune_engine::numerics::params::{TensorId, TensorName};
use attune_view::view_model::tensors::WeightsModel;
use egui::accesskit::Role;
use egui::{Event, Key, PointerButton, Pos2, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use crate::common::close::{Tolerance, assert_close_beside};
use crate::common::lessons::{SMALL, after, form, kernel, small};
use crate::live::PanelHarness;
use crate::pointer::{click, drag, press};

const SIZE: Vec2 = Vec2::new(420.0, 640.0);
/// As the panel is in a window of 1280 by 720.
const IN_WINDOW: Vec2 = Vec2::new(320.0, 262.0);

fn set(name: TensorName, row: usize, col: usize, value: f32) -> Command {
    Command::Weights(WeightCommand::Set { tensor: name.into(), row, col, value })
}

fn shown(kernel: Kernel, size: Vec2, panel: WeightsPanel) -> PanelHarness<WeightsPanel> {
    PanelHarness::new(kernel, size, panel)
}

/// The tensors that are not as trained, with how many entries are not.
fn turned(panel: &PanelHarness<WeightsPanel>) -> Vec<(TensorId, usize)> {
    let model = panel.model::<WeightsModel>();
    model.tensors.iter().map(|tensor| (tensor.id, tensor.changed)).filter(|(_, changed)| *changed > 0).collect()
}

#[test]
fn every_reset_names_what_it_resets() {
    let (query, output) = (TensorName::QueryWeights, TensorName::OutputWeights);
    let kernel = after(&[set(query, 1, 2, 0.5), set(query, 0, 0, 0.5), set(output, 0, 0, 0.5)]);
    let mut panel = shown(kernel, SIZE, WeightsPanel { entry: (1, 2), ..WeightsPanel::default() });
    assert_eq!(turned(&panel), [(query.into(), 2), (output.into(), 1)]);
    click(&mut panel, "Reset entry");
    assert_eq!(turned(&panel), [(query.into(), 1), (output.into(), 1)]);
    click(&mut panel, "Reset matrix");
    assert_eq!(turned(&panel), [(output.into(), 1)]);
    click(&mut panel, "Reset all");
    assert_eq!(turned(&panel), []);
    let tensor = query.into();
    let expected = [
        Command::Weights(WeightCommand::Reset { tensor, row: 1, col: 2 }),
        Command::Weights(WeightCommand::ResetTensor(tensor)),
        Command::Weights(WeightCommand::ResetAll),
    ];
    assert_eq!(panel.commands(), expected);
}

#[test]
fn another_tensor_comes_into_hand() {
    let kernel = after(&[set(TensorName::OutputWeights, 0, 0, 0.5)]);
    let mut panel = shown(kernel, SIZE, WeightsPanel::default());
    click(&mut panel, "W_O");
    click(&mut panel, "Reset matrix");
    assert_eq!(panel.commands(), [Command::Weights(WeightCommand::ResetTensor(TensorName::OutputWeights.into()))]);
}

#[test]
fn a_list_of_a_thousand_sliders_lays_out_only_those_in_sight() {
    let kernel = kernel(&SMALL.replacen("dim: 6", "dim: 32", 1));
    let panel = shown(kernel, SIZE, WeightsPanel { view: WeightsView::List, ..WeightsPanel::default() });
    let query = TensorName::QueryWeights.into();
    let size = panel.model::<WeightsModel>().tensors.iter().find(|tensor| tensor.id == query).map(|w| (w.rows, w.cols));
    assert_eq!(size, Some((32, 32)));
    assert!(panel.query_by_label("Slider W_Q[0,3]").is_some());
    assert!(panel.query_by_label("Slider W_Q[31,31]").is_none());
}

#[test]
fn a_slider_sets_its_entry_at_once() {
    let mut panel = shown(small(), SIZE, WeightsPanel { entry: (0, 5), ..WeightsPanel::default() });
    click(&mut panel, "Slider W_Q[0,5]");
    let commands = panel.commands();
    assert!(
        !commands.is_empty()
            && commands.iter().all(|command| matches!(
                command,
                Command::Weights(WeightCommand::Set { tensor, row: 0, col: 5, .. }) if *tensor == TensorName::QueryWeights.into()
            )),
        "{commands:?}"
    );
    assert_eq!(turned(&panel), [(TensorName::QueryWeights.into(), 1)]);
}

/// The field shows 0.123 of 0.12345.
#[test]
fn a_field_that_is_entered_and_left_changes_nothing() {
    const EXACT: f32 = 0.12345;
    for leave in ["Escape", "Enter", "Tab", "a click elsewhere"] {
        let kernel = after(&[set(TensorName::QueryWeights, 0, 0, EXACT)]);
        let mut panel = shown(kernel, SIZE, WeightsPanel::default());
        let field = panel.get_by_role(Role::SpinButton).rect().center();
        press(&mut panel, field, PointerButton::Primary);
        let focused = |harness: &Harness| harness.ctx.memory(|memory| memory.focused());
        let entered = focused(&panel);
        assert!(entered.is_some(), "the field has the keyboard");
        match Key::from_name(leave) {
            Some(key) => panel.key_press(key),
            None => press(&mut panel, Pos2::new(400.0, 600.0), PointerButton::Primary),
        }
        panel.run_steps(3);
        assert_ne!(focused(&panel), entered, "{leave}");
        assert_eq!(panel.commands(), [], "{leave}");
    }
}

#[test]
fn a_number_that_is_typed_is_set() {
    let mut panel = shown(small(), SIZE, WeightsPanel::default());
    let field = panel.get_by_role(Role::SpinButton).rect().center();
    press(&mut panel, field, PointerButton::Primary);
    panel.event(Event::Text("−10".to_owned()));
    panel.run_steps(2);
    panel.key_press(Key::Enter);
    panel.run_steps(2);
    assert_eq!(panel.commands().pop(), Some(set(TensorName::QueryWeights, 0, 0, -10.0)));
}

#[test]
fn the_brush_goes_over_the_map_in_one_stroke() {
    let mut panel = shown(small(), IN_WINDOW, WeightsPanel::default());
    click(&mut panel, "Tools");
    click(&mut panel, "Paint");
    let map = panel.get_by_label("Map of W_Q").rect();
    let cell = map.width() / 6.0;
    let at = |col: f32| map.left_top() + Vec2::new((col + 0.5) * cell, 0.5 * cell);
    drag(&mut panel, PointerButton::Primary, &[at(0.0), at(3.0)]);
    let mut painted = Vec::new();
    let mut strokes = Vec::new();
    for command in panel.take_commands() {
        let Command::Weights(WeightCommand::Paint { entries, brush, stroke, .. }) = command else {
            panic!("{command:?}")
        };
        assert_eq!(brush, Brush::Set(0.5));
        painted.extend(entries);
        strokes.push(stroke);
    }
    assert_eq!(painted, [(0, 0), (0, 1), (0, 2), (0, 3)]);
    strokes.dedup();
    assert_eq!(strokes.len(), 1, "one stroke");
    drag(&mut panel, PointerButton::Primary, &[at(0.0), at(1.0)]);
    let again = panel.commands();
    assert!(
        matches!(&again[0], Command::Weights(WeightCommand::Paint { stroke, .. }) if *stroke != strokes[0]),
        "{again:?}"
    );
}

#[test]
fn a_shake_and_a_comparison_are_asked_for_and_shown() {
    let mut panel = shown(small(), IN_WINDOW, WeightsPanel::default());
    click(&mut panel, "Tools");
    click(&mut panel, "Shake");
    click(&mut panel, "Shake W_Q");
    click(&mut panel, "Shake W_Q");
    let tensor = TensorName::QueryWeights.into();
    let shake = |draw| Command::Weights(WeightCommand::Perturb { tensor, scale: 0.1, draw });
    assert_eq!(panel.take_commands(), [shake(1), shake(2)]);
    click(&mut panel, "Compare");
    click(&mut panel, "at the start");
    assert_eq!(panel.commands(), [Command::Training(TrainingCommand::Compare(Some(Reference::Start)))]);

    let compared = after(&[Command::Training(TrainingCommand::Compare(Some(Reference::Step(3))))]);
    let mut panel = shown(compared, IN_WINDOW, WeightsPanel::default());
    panel.run_steps(1);
    let model = panel.model::<WeightsModel>();
    let comparison = model.comparison.as_ref().expect("a comparison");
    assert_eq!(comparison.name, "after step 3");
    let tensor = &model.tensors[0];
    let norm = tensor.differences().expect("entries").iter().map(|x| x * x).sum::<f32>().sqrt();
    assert!(norm > 0.0);
    assert_close_beside(norm, "the norm", tensor.difference_norm, norm, Tolerance::SINGLE_PASS);
    let said = panel.query_all_by_label_contains("W_Q minus W_Q after step 3").count();
    assert_eq!(said, 1);
}

#[test]
fn the_arrow_keys_take_the_next_entry_in_hand() {
    let mut panel = shown(small(), IN_WINDOW, WeightsPanel::default());
    let map = panel.get_by_label("Map of W_Q").rect();
    drag(&mut panel, PointerButton::Primary, &[map.left_top() + Vec2::splat(4.0)]);
    panel.run_steps(2);
    for key in [Key::ArrowRight, Key::ArrowRight, Key::ArrowDown, Key::ArrowLeft] {
        panel.key_press(key);
        panel.run_steps(2);
    }
    assert_eq!(panel.panel().entry, (1, 1));
}

#[test]
fn of_many_matrices_those_of_one_block_are_listed() {
    let mut panel = shown(form("translation"), SIZE, WeightsPanel::default());
    let model = panel.model::<WeightsModel>();
    let titles: Vec<String> = model.groups().into_iter().map(|group| group.title).collect();
    assert!(titles.contains(&"Cross-attention".to_owned()) && titles.len() > 2, "{titles:?}");
    assert_eq!(model.groups().iter().map(|group| group.tensors.len()).sum::<usize>(), model.tensors.len());
    let cross = titles.iter().position(|title| title == "Cross-attention").expect("one");
    let output = model.groups()[cross]
        .tensors
        .iter()
        .find(|tensor| tensor.id.name == TensorName::OutputWeights)
        .expect("one")
        .id;
    assert!(panel.query_by_label(&output.to_string()).is_none(), "another block is listed");
    let list = panel.get_by_label_contains("Block: ").rect();
    press(&mut panel, list.center(), PointerButton::Primary);
    click(&mut panel, "Cross-attention");
    click(&mut panel, &output.to_string());
    assert_eq!(panel.panel().tensor, output);
}
