//! The panels that train, look back, retrain and paint, found by their labels, over true snapshots.
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use attune::app::panels::retrain::retrain_ui;
use attune::app::panels::training::{TrainingPanel, training_ui};
use attune::app::panels::weights::{WeightsPanel, weights_ui};
use attune::app::shell::perform::training_command;
use attune::app::shell::shortcuts::{LessonKeys, lesson_keys};
use attune::app::theme::{self, fonts};
use attune::app::view::ViewState;
use attune::kernel::command::{Brush, Reference, TrainingCommand, WeightCommand};
use attune::kernel::snapshot::Snapshot;
use attune::kernel::{Command, Kernel};
use attune::lesson::Recipe;
use attune::numerics::params::TensorName;
use attune::view_model::retrain::RetrainModel;
use attune::view_model::stage::StageModel;
use attune::view_model::training::TrainingModel;
use attune::view_model::weights::WeightsModel;
use egui::accesskit::Role;
use egui::{Event, Key, Modifiers, PointerButton, Pos2, Ui, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

/// As the panel is in a window of 1280 by 720.
const SIZE: Vec2 = Vec2::new(320.0, 262.0);

type Commands = Rc<RefCell<Vec<Command>>>;

fn show<'a>(mut panel: impl FnMut(&mut Ui) -> Vec<Command> + 'a) -> (Harness<'a>, Commands) {
    let seen = Commands::default();
    let inner = seen.clone();
    let mut dressed = false;
    let mut harness = Harness::builder().with_size(SIZE).build_ui(move |ui| {
        if dressed {
            inner.borrow_mut().extend(panel(ui));
        } else {
            ui.ctx().set_fonts(fonts::definitions());
            theme::apply(ui.ctx());
            dressed = true;
        }
    });
    harness.run_steps(3);
    (harness, seen)
}

fn snapshot(commands: &[Command]) -> Snapshot {
    let lesson = attune::lesson::parse("small.ron", include_str!("../fixtures/small.ron")).expect("no issues");
    let mut kernel = Kernel::trained(Arc::new(lesson));
    for command in commands {
        kernel.apply(command.clone());
        kernel.settle();
    }
    kernel.snapshot()
}

fn click(harness: &mut Harness, label: &str) {
    harness.get_by_label(label).click();
    harness.run_steps(3);
}

fn press(harness: &mut Harness, at: Pos2, pressed: bool) {
    harness.event(Event::PointerButton {
        pos: at,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    });
    harness.run_steps(1);
}

fn drag(harness: &mut Harness, way: &[Pos2]) {
    harness.event(Event::PointerMoved(way[0]));
    harness.run_steps(1);
    press(harness, way[0], true);
    for at in way {
        harness.event(Event::PointerMoved(*at));
        harness.run_steps(1);
    }
    press(harness, way[way.len() - 1], false);
}

#[test]
fn a_drag_along_the_curve_looks_back_and_the_arrow_keys_go_on() {
    let model = TrainingModel::of(&snapshot(&[]));
    let mut state = TrainingPanel::default();
    let (mut harness, seen) = show(|ui| training_ui(ui, &model, &mut state));
    let curve = harness.get_by_label("Step shown").rect();
    let at = |share: f32| Pos2::new(curve.left() + curve.width() * share, curve.center().y);
    drag(&mut harness, &[at(0.4), at(0.5), at(0.6)]);
    let steps: Vec<usize> = seen
        .borrow()
        .iter()
        .map(|command| match command {
            Command::Training(TrainingCommand::Scrub(step)) => *step,
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(steps.first() < steps.last() && steps.iter().all(|step| (1..20).contains(step)), "{steps:?}");
    seen.borrow_mut().clear();
    harness.run_steps(2);
    harness.key_press(Key::ArrowLeft);
    harness.run_steps(2);
    harness.key_press_modifiers(Modifiers::SHIFT, Key::ArrowLeft);
    harness.run_steps(2);
    assert_eq!(
        *seen.borrow(),
        [Command::Training(TrainingCommand::Scrub(19)), Command::Training(TrainingCommand::Scrub(10))]
    );
}

#[test]
fn a_past_step_is_said_and_left_by_its_buttons() {
    let model = TrainingModel::of(&snapshot(&[Command::Training(TrainingCommand::Scrub(7))]));
    assert_eq!((model.shown, model.sought), (Some(7), 7));
    let mut state = TrainingPanel::default();
    let (mut harness, seen) = show(|ui| training_ui(ui, &model, &mut state));
    assert!(harness.query_by_label("shown: step 7").is_some());
    for label in ["Latest", "Branch here"] {
        click(&mut harness, label);
    }
    assert_eq!(
        *seen.borrow(),
        [Command::Training(TrainingCommand::ShowLatest), Command::Training(TrainingCommand::Branch)]
    );
    drop(harness);
    let model = TrainingModel::of(&snapshot(&[]));
    let mut state = TrainingPanel::default();
    let (mut harness, seen) = show(|ui| training_ui(ui, &model, &mut state));
    assert!(harness.query_by_label("shown: the latest step").is_some());
    click(&mut harness, "Latest");
    assert!(seen.borrow().is_empty());
}

#[test]
fn the_brackets_look_along_the_steps() {
    let model = TrainingModel::of(&snapshot(&[Command::Training(TrainingCommand::Scrub(7))]));
    let keys = LessonKeys { training: Some(model.stage), ..LessonKeys::default() };
    let (mut harness, seen) = show(|ui| {
        let pressed = lesson_keys(ui.ctx(), &keys).into_iter();
        pressed.filter_map(|pressed| training_command(pressed, &model)).collect()
    });
    harness.key_press(Key::OpenBracket);
    harness.run_steps(1);
    harness.key_press(Key::CloseBracket);
    harness.run_steps(1);
    harness.key_press_modifiers(Modifiers::SHIFT, Key::CloseBracket);
    harness.run_steps(1);
    assert_eq!(
        *seen.borrow(),
        [
            Command::Training(TrainingCommand::Scrub(6)),
            Command::Training(TrainingCommand::Scrub(8)),
            Command::Training(TrainingCommand::Scrub(17))
        ]
    );
}

#[test]
fn the_learning_rate_is_turned_without_a_reset() {
    let model = TrainingModel::of(&snapshot(&[]));
    let mut state = TrainingPanel::default();
    let (mut harness, seen) = show(|ui| training_ui(ui, &model, &mut state));
    let slider = harness.get_by_role_and_label(Role::Slider, "Learning rate").rect();
    drag(&mut harness, &[slider.center(), slider.center() + Vec2::new(12.0, 0.0)]);
    let rates = seen.borrow();
    assert!(
        !rates.is_empty()
            && rates.iter().all(
                |command| matches!(command, Command::Training(TrainingCommand::SetLearningRate(rate)) if *rate > 0.0)
            )
    );
}

#[test]
fn a_slider_retrains_while_it_is_dragged_and_a_button_returns() {
    let first = snapshot(&[]);
    let model = RetrainModel::of(&first, None).expect("a model");
    let names: Vec<&str> = model.sliders.iter().map(|slider| slider.name.as_str()).collect();
    assert_eq!(names, ["seal: mineral", "Heads", "Width", "Static rate", "Model rate", "Seed"]);
    assert!(model.is_own && !model.has_ghosts && model.under_way.is_none());
    let mut view = ViewState::default();
    let (mut harness, seen) = show(|ui| retrain_ui(ui, &model, &mut view.highlight));
    let slider = harness.get_by_role_and_label(Role::Slider, "Seed").rect();
    drag(&mut harness, &[slider.left_center() + Vec2::new(3.0, 0.0), slider.center(), slider.right_center()]);
    let recipes: Vec<Recipe> = seen
        .borrow()
        .iter()
        .map(|command| match command {
            Command::Retrain(recipe) => (**recipe).clone(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(recipes.len() >= 3 && recipes.iter().all(|recipe| recipe.seed.is_some() && recipe.heads.is_none()));
    drop(harness);

    let recipe = Recipe { seed: Some(9), ..Recipe::default() };
    let other = snapshot(&[Command::Retrain(Box::new(recipe))]);
    let model = RetrainModel::of(&other, Some(&model)).expect("a model");
    assert_eq!(model.told, "Shown: seed 9. It is a new space, turned to fit the old picture.");
    assert!(model.has_ghosts && !model.is_own);
    let stage = StageModel::of(&other).expect("a picture");
    // Four words with a group, and the seven tokens of the sentence.
    assert_eq!((stage.ghosts.len(), stage.note.is_some()), (4 + 7, true));
    let before = StageModel::of(&first).expect("a picture");
    let length = |at: [f32; 3]| at.iter().map(|x| x * x).sum::<f32>().sqrt();
    let own = before.words.iter().find(|word| word.text == stage.ghosts[0].text).expect("the word");
    let (ghost, was) = (length(stage.ghosts[0].start) / stage.radius, length(own.at) / before.radius);
    assert!((ghost - was).abs() < 1e-5, "a ghost is where the point was seen");
    let mut view = ViewState::default();
    let (mut harness, seen) = show(|ui| retrain_ui(ui, &model, &mut view.highlight));
    click(&mut harness, "Ghosts");
    click(&mut harness, "As the lesson has it");
    assert_eq!(*seen.borrow(), [Command::Retrain(Box::default())]);
    drop(harness);
    assert!(!view.highlight.old_ghosts);
}

#[test]
fn the_brush_goes_over_the_map_in_one_stroke() {
    let model = WeightsModel::of(&snapshot(&[])).expect("a model");
    let mut state = WeightsPanel::default();
    let (mut harness, seen) = show(|ui| weights_ui(ui, &model, &mut state, &mut ViewState::default().for_panels()));
    click(&mut harness, "Paint");
    let map = harness.get_by_label("Map of W_Q").rect();
    let cell = map.width() / 6.0;
    let at = |col: f32| map.left_top() + Vec2::new((col + 0.5) * cell, 0.5 * cell);
    drag(&mut harness, &[at(0.0), at(3.0)]);
    let mut painted = Vec::new();
    let mut strokes = Vec::new();
    for command in seen.borrow().iter() {
        let Command::Weights(WeightCommand::Paint { entries, brush, stroke, .. }) = command else {
            panic!("{command:?}")
        };
        assert_eq!(*brush, Brush::Set(0.5));
        painted.extend(entries.clone());
        strokes.push(*stroke);
    }
    assert_eq!(painted, [(0, 0), (0, 1), (0, 2), (0, 3)]);
    strokes.dedup();
    assert_eq!(strokes.len(), 1, "one stroke");
    seen.borrow_mut().clear();
    drag(&mut harness, &[at(0.0), at(1.0)]);
    let again = seen.borrow();
    assert!(
        matches!(&again[0], Command::Weights(WeightCommand::Paint { stroke, .. }) if *stroke != strokes[0]),
        "{again:?}"
    );
}

#[test]
fn a_shake_and_a_comparison_are_asked_for_and_shown() {
    let model = WeightsModel::of(&snapshot(&[])).expect("a model");
    let mut state = WeightsPanel::default();
    let (mut harness, seen) = show(|ui| weights_ui(ui, &model, &mut state, &mut ViewState::default().for_panels()));
    click(&mut harness, "Shake");
    click(&mut harness, "Shake W_Q");
    click(&mut harness, "Shake W_Q");
    let tensor = TensorName::QueryWeights.into();
    let shake = |draw| Command::Weights(WeightCommand::Perturb { tensor, scale: 0.1, draw });
    assert_eq!(*seen.borrow(), [shake(1), shake(2)]);
    seen.borrow_mut().clear();
    click(&mut harness, "Compare");
    click(&mut harness, "at the start");
    assert_eq!(*seen.borrow(), [Command::Training(TrainingCommand::Compare(Some(Reference::Start)))]);
    drop(harness);

    let compared = snapshot(&[Command::Training(TrainingCommand::Compare(Some(Reference::Step(3))))]);
    let model = WeightsModel::of(&compared).expect("a model");
    let comparison = model.comparison.as_ref().expect("a comparison");
    assert_eq!(comparison.name, "after step 3");
    let tensor = &model.tensors[0];
    let norm = tensor.difference.as_ref().expect("entries").iter().map(|x| x * x).sum::<f32>().sqrt();
    assert!(norm > 0.0 && (norm - tensor.difference_norm).abs() < 1e-5 * norm);
    let mut state = WeightsPanel::default();
    let (harness, _) = show(|ui| weights_ui(ui, &model, &mut state, &mut ViewState::default().for_panels()));
    let said = harness.query_all_by_label_contains("W_Q less W_Q after step 3").count();
    assert_eq!(said, 1);
}

#[test]
fn the_arrow_keys_take_the_next_entry_in_hand() {
    let model = WeightsModel::of(&snapshot(&[])).expect("a model");
    let mut state = WeightsPanel::default();
    let (mut harness, _) = show(|ui| weights_ui(ui, &model, &mut state, &mut ViewState::default().for_panels()));
    let map = harness.get_by_label("Map of W_Q").rect();
    drag(&mut harness, &[map.left_top() + Vec2::splat(4.0)]);
    harness.run_steps(2);
    for key in [Key::ArrowRight, Key::ArrowRight, Key::ArrowDown, Key::ArrowLeft] {
        harness.key_press(key);
        harness.run_steps(2);
    }
    drop(harness);
    assert_eq!(state.entry, (1, 1));
}
