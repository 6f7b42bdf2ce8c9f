//! The panels that train, look back and retrain, by their labels.

use attune::app::panels::training::{RetrainModel, TrainPanel, TrainView};
use attune::app::panels::{Panel, PanelContext};
use attune::app::shell::perform::training_command;
use attune::app::shell::ui::{LessonKeys, lesson_keys};
use attune_core::kernel::command::TrainingCommand;
use attune_core::kernel::{Command, Kernel};
use attune_core::lesson::Recipe;
use attune_engine::numerics::optimiser::Method;
use attune_view::view_model::stage::StageModel;
use attune_view::view_model::training::{TrainingModel, TrainingStage};
use egui::accesskit::Role;
use egui::{Key, Modifiers, PointerButton, Pos2, Ui, Vec2};
use egui_kittest::kittest::Queryable;

use crate::common::close::{Tolerance, assert_close};
use crate::common::commands::temperature;
use crate::common::lessons::{after, changed, kernel, small, with_switches};
use crate::live::PanelHarness;
use crate::pointer::{click, drag};

/// As the panel is in a window of 1280 by 720.
const SIZE: Vec2 = Vec2::new(320.0, 262.0);

fn training(command: TrainingCommand) -> Command {
    Command::Training(command)
}

fn shown(kernel: Kernel) -> PanelHarness<TrainPanel> {
    PanelHarness::new(kernel, SIZE, TrainPanel::default())
}

/// The panel with its sliders.
fn again() -> TrainPanel {
    TrainPanel::showing(TrainView::Again)
}

/// The keys of the training, as the window has them.
struct Keys;

impl Panel for Keys {
    fn ui(&mut self, ui: &mut Ui, cx: &mut PanelContext) -> Option<()> {
        let model = cx.models.get::<TrainingModel>()?;
        let keys = LessonKeys { training: Some(model.stage), ..LessonKeys::default() };
        let pressed = lesson_keys(ui.ctx(), &keys).into_iter();
        cx.requests.commands.extend(pressed.filter_map(|pressed| training_command(pressed, &model)));
        Some(())
    }
}

#[test]
fn training_is_paused_stepped_and_reset() {
    let mut kernel = after(&[training(TrainingCommand::Reset)]);
    kernel.apply(training(TrainingCommand::Play));
    let mut panel = shown(kernel);
    assert_eq!(panel.model::<TrainingModel>().stage, TrainingStage::Playing);
    let steps = ["Pause", "Step", "Step 10", "Reset"].map(|label| {
        click(&mut panel, label);
        panel.model::<TrainingModel>().step
    });
    assert_eq!(steps, [0, 1, 11, 0]);
    let expected = [
        training(TrainingCommand::Pause),
        training(TrainingCommand::Step(1)),
        training(TrainingCommand::Step(10)),
        training(TrainingCommand::Reset),
    ];
    assert_eq!(panel.commands(), expected);
}

#[test]
fn finished_training_is_not_played_again() {
    let mut panel = shown(small());
    assert_eq!(panel.model::<TrainingModel>().stage, TrainingStage::Finished);
    click(&mut panel, "Play");
    assert_eq!(panel.commands(), []);
}

#[test]
fn p_at_the_last_step_asks_the_kernel_which_says_why_nothing_happens() {
    let exploding = changed(|lesson| {
        lesson.model.schedule.optimiser = Method::Sgd { momentum: 0.0 };
        lesson.model.schedule.learning_rate = 1e45;
    });
    for (kernel, stage, asked) in [
        (small(), TrainingStage::Finished, vec![training(TrainingCommand::Play)]),
        (Kernel::trained(exploding), TrainingStage::Diverged, vec![]),
    ] {
        let mut panel = PanelHarness::new(kernel, SIZE, Keys);
        panel.let_refuse();
        assert_eq!(panel.model::<TrainingModel>().stage, stage);
        panel.key_press(Key::P);
        panel.run_steps(2);
        assert_eq!(panel.commands(), asked, "{stage:?}");
        assert_eq!(panel.snapshot().notice.is_some(), !asked.is_empty(), "{stage:?}");
    }
}

#[test]
fn a_drag_along_the_curve_looks_back_and_the_arrow_keys_go_on() {
    let mut panel = shown(small());
    let curve = panel.get_by_label("Step shown").rect();
    let at = |share: f32| Pos2::new(curve.left() + curve.width() * share, curve.center().y);
    drag(&mut panel, PointerButton::Primary, &[at(0.5), at(0.6), at(0.7)]);
    let step = |command| match command {
        Command::Training(TrainingCommand::Scrub(step)) => step,
        other => panic!("{other:?}"),
    };
    let steps: Vec<usize> = panel.take_commands().into_iter().map(step).collect();
    assert!(steps.first() < steps.last() && steps.iter().all(|step| (1..20).contains(step)), "{steps:?}");
    let last = *steps.last().expect("a step");
    assert_eq!(panel.model::<TrainingModel>().shown, Some(last));
    panel.run_steps(2);
    panel.key_press(Key::ArrowLeft);
    panel.run_steps(2);
    panel.key_press_modifiers(Modifiers::SHIFT, Key::ArrowLeft);
    panel.run_steps(2);
    let scrubs = [last - 1, last - 11].map(|step| training(TrainingCommand::Scrub(step)));
    assert_eq!(panel.commands(), scrubs);
}

#[test]
fn a_past_step_is_said_and_left_by_its_buttons() {
    for (label, asked) in [("Latest", TrainingCommand::ShowLatest), ("Branch here", TrainingCommand::Branch)] {
        let mut panel = shown(after(&[training(TrainingCommand::Scrub(7))]));
        let model = panel.model::<TrainingModel>();
        assert_eq!((model.shown, model.sought), (Some(7), 7));
        assert!(panel.query_by_label("step 7").is_some());
        click(&mut panel, label);
        assert_eq!(panel.commands(), [training(asked)]);
        assert!(panel.query_by_label("latest step").is_some());
    }
    let mut panel = shown(small());
    assert!(panel.query_by_label("latest step").is_some());
    click(&mut panel, "Latest");
    assert_eq!(panel.commands(), []);
}

#[test]
fn the_brackets_look_along_the_steps() {
    let mut panel = PanelHarness::new(after(&[training(TrainingCommand::Scrub(7))]), SIZE, Keys);
    panel.key_press(Key::OpenBracket);
    panel.run_steps(1);
    panel.key_press(Key::CloseBracket);
    panel.run_steps(1);
    panel.key_press_modifiers(Modifiers::SHIFT, Key::CloseBracket);
    panel.run_steps(1);
    assert_eq!(panel.commands(), [6, 7, 17].map(|step| training(TrainingCommand::Scrub(step))));
}

#[test]
fn the_learning_rate_is_turned_without_a_reset() {
    let mut panel = shown(small());
    let slider = panel.get_by_role_and_label(Role::Slider, "Learning rate").rect();
    drag(&mut panel, PointerButton::Primary, &[slider.center(), slider.center() + Vec2::new(12.0, 0.0)]);
    let rates = panel.commands();
    assert!(
        !rates.is_empty()
            && rates.iter().all(
                |command| matches!(command, Command::Training(TrainingCommand::SetLearningRate(rate)) if *rate > 0.0)
            )
    );
    assert_eq!(panel.model::<TrainingModel>().step, 20);
}

#[test]
fn a_slider_retrains_while_it_is_dragged_and_a_button_returns() {
    let mut panel = PanelHarness::new(small(), SIZE, again());
    let first = panel.snapshot();
    let model = panel.model::<RetrainModel>();
    let names: Vec<&str> = model.sliders.iter().map(|slider| slider.name.as_str()).collect();
    assert_eq!(names, ["seal: mineral", "Heads", "Width", "Static rate", "Model rate", "Seed"]);
    assert!(model.is_own && !model.has_ghosts && model.under_way.is_none());
    let slider = panel.get_by_role_and_label(Role::Slider, "Seed").rect();
    let way = [slider.left_center() + Vec2::new(3.0, 0.0), slider.center(), slider.right_center()];
    drag(&mut panel, PointerButton::Primary, &way);
    let recipe = |command| match command {
        Command::Retrain(recipe) => *recipe,
        other => panic!("{other:?}"),
    };
    let recipes: Vec<Recipe> = panel.commands().into_iter().map(recipe).collect();
    assert!(recipes.len() >= 3 && recipes.iter().all(|recipe| recipe.seed.is_some() && recipe.heads.is_none()));

    let recipe = Recipe { seed: Some(9), ..Recipe::default() };
    let mut panel = PanelHarness::new(after(&[Command::Retrain(Box::new(recipe))]), SIZE, again());
    let other = panel.snapshot();
    let model = panel.model::<RetrainModel>();
    assert_eq!(
        model.told,
        "Shown: seed 9. The vectors are in a retrained space, turned to match the lesson's picture."
    );
    assert!(model.has_ghosts && !model.is_own);
    let stage = StageModel::of(&other).expect("a picture");
    // Four words with a group, and the seven tokens of the sentence.
    assert_eq!((stage.ghosts.len(), stage.note.is_some()), (4 + 7, true));
    let before = StageModel::of(&first).expect("a picture");
    let length = |at: [f32; 3]| at.iter().map(|x| x * x).sum::<f32>().sqrt();
    let own = before.words.iter().find(|word| word.text == stage.ghosts[0].text).expect("the word");
    let (ghost, was) = (length(stage.ghosts[0].start) / stage.radius, length(own.at) / before.radius);
    assert_close("a ghost is where the point was seen", ghost, was, Tolerance::SINGLE_PASS);
    click(&mut panel, "Ghosts");
    click(&mut panel, "Lesson defaults");
    assert_eq!(panel.commands(), [Command::Retrain(Box::default())]);
    assert!(!panel.view().highlight.old_ghosts);
}

#[test]
fn a_switch_trains_the_lesson_again_with_other_fields_of_its_model() {
    let switched = |names: &[&str]| {
        let switches = names.iter().map(|name| (*name).to_owned()).collect();
        Command::Retrain(Box::new(Recipe { switches, ..Recipe::default() }))
    };
    let mut panel = PanelHarness::new(kernel(&with_switches()), SIZE, again());
    click(&mut panel, "Two layers");
    assert_eq!(panel.commands(), [switched(&["Two layers"])]);

    let mut panel = PanelHarness::new(kernel(&with_switches()), SIZE, again());
    panel.apply(switched(&["Two layers"]));
    assert!(panel.model::<RetrainModel>().told.starts_with("Shown: “Two layers” on."));
    assert_eq!(panel.snapshot().model.expect("a model").interventions.heads.len(), 4);
    click(&mut panel, "Keep places");
    click(&mut panel, "Two layers");
    assert_eq!(panel.commands(), [switched(&["Two layers", "Keep places"]), switched(&["Keep places"])]);
}

#[test]
fn the_sliders_say_which_step_and_which_changes_are_shown() {
    let told =
        |commands: &[Command]| PanelHarness::new(after(commands), SIZE, again()).model::<RetrainModel>().told.clone();
    assert_eq!(told(&[]), "Shown: the lesson as it is.");
    let steps = after(&[]).snapshot().model.expect("a model").training.progress.of;
    assert_eq!(
        told(&[training(TrainingCommand::Scrub(3))]),
        format!("Shown: the lesson's defaults. Training is at step 3 of {steps}.")
    );
    let hot = temperature(2.0);
    assert_eq!(told(&[hot]), "Shown: the lesson's defaults. Attention has been changed in Intervene.");
    let seed = Command::Retrain(Box::new(Recipe { seed: Some(9), ..Recipe::default() }));
    let looked_back = told(&[seed, training(TrainingCommand::Scrub(3))]);
    assert!(looked_back.starts_with("Shown: seed 9."), "{looked_back}");
    assert!(looked_back.ends_with(&format!("Training is at step 3 of {steps}.")), "{looked_back}");
}
