//! The panels, found and clicked by their labels, without a window or a graphics card.
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use crate::common::dressed::dressed;
use attune::app::panels::StageUi;
use attune::app::panels::arithmetic::arithmetic_ui;
use attune::app::panels::attention::{AttentionPanel, attention_ui};
use attune::app::panels::fold::fold_ui;
use attune::app::panels::heads::{HeadsPanel, heads_ui};
use attune::app::panels::neighbours::{NeighboursPanel, neighbours_ui};
use attune::app::panels::notebook::{NotebookPanel, notebook_ui};
use attune::app::panels::training::{TrainingPanel, training_ui};
use attune::app::panels::weights::{WeightsPanel, WeightsView, weights_ui};
use attune::app::scene_camera::SceneCamera;
use attune::app::shell::dock::{Workspace, workspace_ui};
use attune::app::shell::perform::training_command;
use attune::app::shell::shortcuts::{LessonKeys, lesson_keys};
use attune::app::stage::projected::SceneRef;
use attune::app::stage::view::{StageControls, picture_ui};
use attune::app::text::prose::Prose;
use attune::app::view::{PanelView, ViewState};
use attune::kernel::Command;
use attune::kernel::command::{HeadSetting, InterventionCommand, SentenceCommand, TrainingCommand, WeightCommand};
use attune::kernel::notebook::document::DocumentCell;
use attune::kernel::notebook::snapshot::{CellSnapshot, CellStatus};
use attune::kernel::scene::interventions::GAIN_MAX;
use attune::kernel::training::log::{StepRecord, TrainingLog};
use attune::lesson::schema::{Cell, CellKind};
use attune::numerics::params::TensorName;
use attune::view_model::attention::{AttentionModel, HeadMap};
use attune::view_model::fold::FoldModel;
use attune::view_model::heads::{HeadRow, HeadsModel};
use attune::view_model::models::Models;
use attune::view_model::neighbours::{Measure, NeighboursModel};
use attune::view_model::notebook::{CellModel, NotebookModel};
use attune::view_model::path::{By, PathModel};
use attune::view_model::search::Emphasis;
use attune::view_model::stage::StageModel;
use attune::view_model::training::{TrainingModel, TrainingStage};
use attune::view_model::walk::{Focus, Step, WalkModel};
use attune::view_model::weights::{TensorModel, WeightsModel};
use egui::{Modifiers, Ui, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

const SMALL: &str = include_str!("../fixtures/small.ron");
const SIZE: Vec2 = Vec2::new(420.0, 640.0);

/// A panel's changes: the commands it gave and the view it left.
#[derive(Clone, Default)]
struct Seen(Rc<RefCell<(Vec<Command>, ViewState)>>);

impl Seen {
    fn commands(&self) -> Vec<Command> {
        self.0.borrow().0.clone()
    }

    fn view(&self) -> ViewState {
        self.0.borrow().1.clone()
    }
}

/// Shows a panel in the app's own style.
fn show<'a>(size: Vec2, mut panel: impl FnMut(&mut Ui, &mut PanelView) -> Vec<Command> + 'a) -> (Harness<'a>, Seen) {
    let seen = Seen::default();
    let inner = seen.clone();
    let harness = dressed(size, move |ui| {
        let (commands, view) = &mut *inner.0.borrow_mut();
        commands.extend(panel(ui, &mut view.for_panels()));
    });
    (harness, seen)
}

fn click(harness: &mut Harness, label: &str) {
    harness.get_by_label(label).click();
    harness.run_steps(3);
}

fn tokens() -> Vec<String> {
    ["bank", "of", "river"].map(str::to_owned).to_vec()
}

fn attention() -> AttentionModel {
    let weights = vec![vec![0.2, 0.2, 0.6], vec![0.1, 0.8, 0.1], vec![1.0, 0.0, 0.0]];
    let map = HeadMap {
        head: 0,
        title: "Head 1".to_owned(),
        enabled: true,
        queries: tokens(),
        keys: tokens(),
        is_of_source: false,
        weights,
    };
    AttentionModel { tokens: tokens(), heads: vec![map] }
}

fn heads() -> HeadsModel {
    let head = |head| HeadRow {
        head,
        title: format!("Head {}", head + 1),
        block: 0,
        enabled: true,
        gain: Some(1.0),
        solo: false,
        key_columns: head * 4..(head + 1) * 4,
        value_columns: head * 4..(head + 1) * 4,
        place: "Columns 0–3 of W_Q and W_K".to_owned(),
        keys: tokens(),
        move_length: vec![0.5, 0.1, 0.2],
        strongest: vec![(2, 0.6), (1, 0.8), (0, 1.0)],
    };
    HeadsModel { tokens: tokens(), heads: vec![head(0), head(1)] }
}

fn weights() -> WeightsModel {
    let tensor = |name: TensorName, rows, cols| TensorModel {
        id: name.into(),
        rows,
        cols,
        values: (0..rows * cols).map(|i| i as f32 / 1000.0).collect(),
        trained: vec![0.0; rows * cols],
        changed: rows * cols - 1,
        heads: 2,
        difference: None,
        difference_norm: 0.0,
    };
    let tensors = vec![tensor(TensorName::QueryWeights, 32, 32), tensor(TensorName::OutputWeights, 4, 4)];
    WeightsModel { tensors, comparison: None, step: 20 }
}

fn training(stage: TrainingStage) -> TrainingModel {
    let mut log = TrainingLog::new(0);
    for loss in [2.0, 1.5] {
        log.push(&StepRecord { loss, gradient_norm: 1.0, by_tensor: &[] });
    }
    TrainingModel {
        stage,
        status: "paused".to_owned(),
        step: 2,
        steps: 10,
        shown: None,
        sought: 2,
        learning_rate: 0.01,
        log,
        tensors: Vec::new(),
        chance: Some(3.0),
        checkpoints: "3 steps kept in 0.1 MB".to_owned(),
        honest_label: "toy model".to_owned(),
    }
}

fn notebook() -> NotebookModel {
    NotebookModel {
        title: "Banks".to_owned(),
        cells: vec![
            cell("intro", CellKind::Text { markdown: "# A bank\n\nis where a river ends.".to_owned() }),
            cell(
                "move",
                CellKind::Stage {
                    caption: "It moves".to_owned(),
                    sentence: 1,
                    words: vec!["bank".to_owned()],
                    time: 1.0,
                },
            ),
        ],
        sentences: vec!["bank of river".to_owned(), "bank of money".to_owned()],
        sentence: "bank of river".to_owned(),
        selected: Some(0),
        ..NotebookModel::default()
    }
}

fn cell(id: &str, kind: CellKind) -> CellModel {
    let cell = Arc::new(DocumentCell::of(&Cell { id: id.to_owned(), kind }));
    let shown = CellSnapshot { cell, status: CellStatus::New, run: None, mistake: None, shadows: None };
    CellModel::of(&shown, None, None)
}

#[test]
fn a_query_is_selected_by_its_row_and_cleared_by_a_second_click() {
    let model = attention();
    let (mut harness, seen) = show(SIZE, |ui, view| {
        attention_ui(ui, &model, &mut AttentionPanel::default(), view);
        Vec::new()
    });
    click(&mut harness, "Query river in head 1");
    assert_eq!(seen.view().selection.query, Some(2));
    click(&mut harness, "Query river in head 1");
    assert_eq!(seen.view().selection.query, None);
}

#[test]
fn a_head_is_taken_out_of_the_sum_or_left_alone_in_it() {
    let (model, attention, mut state) = (heads(), attention(), HeadsPanel::default());
    let (mut harness, seen) = show(SIZE, |ui, view| heads_ui(ui, &model, &attention, &mut state, view));
    click(&mut harness, "Head 2");
    click(&mut harness, "Solo head 1");
    let off = Command::Interventions(InterventionCommand::SetHead { head: 1, setting: HeadSetting::Off });
    let expected = vec![off, Command::Interventions(InterventionCommand::Solo(Some(0)))];
    assert_eq!(seen.commands(), expected);
}

#[test]
fn a_head_is_followed_from_the_overview_and_counts_as_often_as_its_gain_says() {
    let (model, mut attention, mut state) = (heads(), attention(), HeadsPanel::default());
    attention.heads.push(HeadMap { head: 1, ..attention.heads[0].clone() });
    let (mut harness, seen) = show(SIZE, |ui, view| heads_ui(ui, &model, &attention, &mut state, view));
    click(&mut harness, "Follow head 2");
    assert_eq!(seen.view().selection.head, 1);
    // A slider's middle: half of the largest gain.
    click(&mut harness, "Gain of head 1");
    let commands = seen.commands();
    let Some(Command::Interventions(InterventionCommand::SetHead { head: 0, setting: HeadSetting::Gain(gain) })) =
        commands.last()
    else {
        panic!("no gain among {commands:?}")
    };
    assert!((gain - GAIN_MAX / 2.0).abs() < 0.1, "{gain}");
}

/// A camera from straight ahead.
struct Ahead;

impl SceneCamera for Ahead {
    fn projection(
        &self,
        rect: egui::Rect,
        _middle: [f32; 3],
        _reach: f32,
    ) -> Box<dyn Fn([f32; 3]) -> Option<egui::Pos2> + '_> {
        Box::new(move |at| Some(rect.center() + egui::vec2(at[0], -at[1])))
    }

    fn orbit(&mut self, _drag: Vec2) {}

    fn home(&mut self) {}
}

#[test]
fn the_fold_shows_every_step_and_says_the_numbers_under_the_pointer() {
    let lesson = attune::lesson::parse("small.ron", include_str!("../fixtures/small.ron")).expect("no issues");
    let snapshot = attune::kernel::Kernel::trained(Arc::new(lesson)).snapshot();
    let model = FoldModel::of(&snapshot, 0).expect("a model");
    let steps = [
        (Step::Embed, &["X"][..]),
        (Step::Project, &["Q₁", "Q₂", "K₁", "V₂"]),
        (Step::Score, &["Q₁", "QKᵀ₁", "Head 2 on the stage"]),
        (Step::Scale, &["S₂"]),
        (Step::Softmax, &["A₁", "A₂"]),
        (Step::Mix, &["A₁", "V₁", "M₁", "M₂"]),
        (Step::Output, &["M₁", "M₂", "W_O₁", "W_O₂", "All heads on the stage"]),
        (Step::Contextual, &["X", "Y"]),
    ];
    for (step, symbols) in steps {
        let (mut harness, seen) = show(SIZE, |ui, view| {
            view.walk.set(step.index() as f32);
            fold_ui(ui, &model, view, &mut Ahead);
            Vec::new()
        });
        for symbol in symbols {
            assert!(harness.query_by_label(symbol).is_some(), "{symbol} in {step:?}");
        }
        if step == Step::Softmax {
            let map = harness.get_by_label("A₂").rect();
            // The first row, the first column.
            harness.hover_at(map.min + egui::vec2(2.0, 2.0));
            harness.run_steps(30);
            let weight = model.weight(1, 0, 0);
            let said = format!("A₂[{0}, {0}] = {weight:.4}", model.queries[0]);
            assert!(harness.query_by_label_contains(&said).is_some(), "{said}");
            click(&mut harness, "A₂");
            assert_eq!(
                seen.view().selection.query,
                Some(model.queries.len() / 2),
                "a click in the middle chooses its row"
            );
        }
    }
}

#[test]
fn the_arrows_of_the_heads_lead_from_the_word_to_its_output() {
    let lesson = attune::lesson::parse("small.ron", include_str!("../fixtures/small.ron")).expect("no issues");
    let snapshot = attune::kernel::Kernel::trained(Arc::new(lesson)).snapshot();
    let model = FoldModel::of(&snapshot, 1).expect("a model");
    let bias = snapshot.model.as_ref().expect("a model").sentence.moves[0].bias;
    for query in 0..model.queries.len() {
        let mut tip = model.from(query);
        for arrow in (0..model.heads.len()).map(|own| model.arrow(own, query)).chain([bias]) {
            tip = std::array::from_fn(|axis| tip[axis] + arrow[axis]);
        }
        let to = model.to(query);
        assert!((0..3).all(|axis| (tip[axis] - to[axis]).abs() < 1e-5), "{tip:?} is not {to:?}");
    }
}

#[test]
fn a_stage_cell_sets_sentence_words_and_time() {
    let (model, mut state, mut prose) = (notebook(), NotebookPanel::default(), Prose::default());
    let (mut harness, seen) = show(SIZE, |ui, view| notebook_ui(ui, &model, &mut state, view, &mut prose));
    click(&mut harness, "Show: It moves");
    assert_eq!(seen.commands(), vec![Command::Sentence(SentenceCommand::Select(1))]);
    let view = seen.view();
    let time = view.walk.time();
    assert_eq!(
        (view.highlight.lit, view.highlight.shown_cell, time),
        (vec!["bank".to_owned()], Some("move".to_owned()), 0.0)
    );
    assert!(seen.view().walk.is_gliding(), "time glides; it does not jump");
}

#[test]
fn a_wide_table_leaves_the_column_its_width() {
    let mut model = notebook();
    let cells = "| a long heading of a column ".repeat(6);
    let markdown = format!("{cells}|\n{}|\n{cells}|", "|---".repeat(6));
    model.cells[0] = cell("intro", CellKind::Text { markdown });
    let (mut state, mut prose) = (NotebookPanel::default(), Prose::default());
    let (harness, _) = show(SIZE, |ui, view| notebook_ui(ui, &model, &mut state, view, &mut prose));
    let card = harness.get_by_label("It moves").rect();
    assert!(card.right() <= SIZE.x, "the card below the table ends at {} of {}", card.right(), SIZE.x);
}

#[test]
fn training_is_paused_stepped_and_reset() {
    let model = training(TrainingStage::Playing);
    let mut state = TrainingPanel::default();
    let (mut harness, seen) = show(SIZE, |ui, _| training_ui(ui, &model, &mut state));
    for label in ["Pause", "Step", "Step 10", "Reset"] {
        click(&mut harness, label);
    }
    let expected = vec![
        Command::Training(TrainingCommand::Pause),
        Command::Training(TrainingCommand::Step(1)),
        Command::Training(TrainingCommand::Step(10)),
        Command::Training(TrainingCommand::Reset),
    ];
    assert_eq!(seen.commands(), expected);
}

#[test]
fn finished_training_is_not_played_again() {
    let model = training(TrainingStage::Finished);
    let mut state = TrainingPanel::default();
    let (mut harness, seen) = show(SIZE, |ui, _| training_ui(ui, &model, &mut state));
    click(&mut harness, "Play");
    assert_eq!(seen.commands(), vec![]);
}

#[test]
fn every_reset_names_what_it_resets() {
    let model = weights();
    let mut state = WeightsPanel { entry: (1, 2), ..WeightsPanel::default() };
    let (mut harness, seen) = show(SIZE, |ui, view| weights_ui(ui, &model, &mut state, view));
    for label in ["Reset entry", "Reset matrix", "Reset all"] {
        click(&mut harness, label);
    }
    let tensor = TensorName::QueryWeights.into();
    let expected = vec![
        Command::Weights(WeightCommand::Reset { tensor, row: 1, col: 2 }),
        Command::Weights(WeightCommand::ResetTensor(tensor)),
        Command::Weights(WeightCommand::ResetAll),
    ];
    assert_eq!(seen.commands(), expected);
}

#[test]
fn another_tensor_comes_into_hand() {
    let model = weights();
    let mut state = WeightsPanel::default();
    let (mut harness, seen) = show(SIZE, |ui, view| weights_ui(ui, &model, &mut state, view));
    click(&mut harness, "W_O");
    click(&mut harness, "Reset matrix");
    assert_eq!(seen.commands(), vec![Command::Weights(WeightCommand::ResetTensor(TensorName::OutputWeights.into()))]);
}

#[test]
fn a_list_of_a_thousand_sliders_lays_out_only_those_in_sight() {
    let model = weights();
    let mut state = WeightsPanel { view: WeightsView::List, ..WeightsPanel::default() };
    let (harness, _) = show(SIZE, |ui, view| weights_ui(ui, &model, &mut state, view));
    assert!(harness.query_by_label("Slider W_Q[0,3]").is_some());
    assert!(harness.query_by_label("Slider W_Q[31,31]").is_none());
}

#[test]
fn a_slider_sets_its_entry_at_once() {
    let model = weights();
    let mut state = WeightsPanel { entry: (0, 5), ..WeightsPanel::default() };
    let (mut harness, seen) = show(SIZE, |ui, view| weights_ui(ui, &model, &mut state, view));
    click(&mut harness, "Slider W_Q[0,5]");
    let commands = seen.commands();
    assert!(
        !commands.is_empty()
            && commands.iter().all(|command| matches!(
                command,
                Command::Weights(WeightCommand::Set { tensor, row: 0, col: 5, .. }) if *tensor == TensorName::QueryWeights.into()
            )),
        "{commands:?}"
    );
}

/// The field shows 0.123 of 0.12345.
#[test]
fn a_field_that_is_entered_and_left_changes_nothing() {
    const EXACT: f32 = 0.12345;
    let mut model = weights();
    model.tensors[0].values[0] = EXACT;
    for leave in ["Escape", "Enter", "Tab", "a click elsewhere"] {
        let mut state = WeightsPanel::default();
        let (mut harness, seen) = show(SIZE, |ui, view| weights_ui(ui, &model, &mut state, view));
        let field = harness.get_by_role(egui::accesskit::Role::SpinButton).rect().center();
        press(&mut harness, field);
        let focused = |harness: &Harness| harness.ctx.memory(|memory| memory.focused());
        let entered = focused(&harness);
        assert!(entered.is_some(), "the field has the keyboard");
        match egui::Key::from_name(leave) {
            Some(key) => harness.key_press(key),
            None => press(&mut harness, egui::Pos2::new(400.0, 600.0)),
        }
        harness.run_steps(3);
        assert_ne!(focused(&harness), entered, "{leave}");
        assert_eq!(seen.commands(), vec![], "{leave}");
    }
}

#[test]
fn a_number_that_is_typed_is_set() {
    let model = weights();
    let mut state = WeightsPanel::default();
    let (mut harness, seen) = show(SIZE, |ui, view| weights_ui(ui, &model, &mut state, view));
    let field = harness.get_by_role(egui::accesskit::Role::SpinButton).rect().center();
    press(&mut harness, field);
    harness.event(egui::Event::Text("−10".to_owned()));
    harness.run_steps(2);
    harness.key_press(egui::Key::Enter);
    harness.run_steps(2);
    let last = seen.commands().pop();
    assert_eq!(
        last,
        Some(Command::Weights(WeightCommand::Set {
            tensor: TensorName::QueryWeights.into(),
            row: 0,
            col: 0,
            value: -10.0
        }))
    );
}

/// Two heads under each other in a panel that has no room for both.
#[test]
fn a_row_that_is_clicked_stays_where_it_is() {
    // The controls take some of it.
    const HEIGHT: f32 = 270.0;
    let mut model = attention();
    let second = HeadMap { head: 1, title: "Head 2".to_owned(), ..model.heads[0].clone() };
    model.heads.push(second);
    let (mut harness, seen) = show(Vec2::new(150.0, HEIGHT), |ui, view| {
        attention_ui(ui, &model, &mut AttentionPanel::default(), view);
        Vec::new()
    });
    let row = |harness: &Harness, head| harness.get_by_label(&format!("Query of in head {head}")).rect().top();
    let before = row(&harness, 1);
    click(&mut harness, "Query of in head 1");
    harness.run_steps(20);
    assert_eq!((seen.view().selection.query, row(&harness, 1)), (Some(1), before));
    // Selected elsewhere, such as on the stage, a row out of sight is scrolled into it.
    wheel(&mut harness, egui::Pos2::new(75.0, 230.0));
    assert!(row(&harness, 1) < before);
    seen.0.borrow_mut().1.selection.query = Some(0);
    harness.run_steps(40);
    let first = harness.get_by_label("Query bank in head 1").rect().center().y;
    let other = harness.get_by_label("Query bank in head 2").rect().center().y;
    assert!((0.0..HEIGHT).contains(&first) || (0.0..HEIGHT).contains(&other), "{first}, {other}");
}

#[test]
fn p_at_the_last_step_asks_the_kernel_which_says_why_nothing_happens() {
    for (stage, asked) in
        [(TrainingStage::Finished, vec![Command::Training(TrainingCommand::Play)]), (TrainingStage::Diverged, vec![])]
    {
        let model = training(stage);
        let keys = LessonKeys { training: Some(model.stage), ..LessonKeys::default() };
        let (mut harness, seen) = show(SIZE, |ui, _| {
            let pressed = lesson_keys(ui.ctx(), &keys).into_iter();
            pressed.filter_map(|pressed| training_command(pressed, &model)).collect()
        });
        harness.key_press(egui::Key::P);
        harness.run_steps(2);
        assert_eq!(seen.commands(), asked, "{stage:?}");
    }
}

/// A stage that draws nothing, or the picture of one scene.
struct Stage(Option<(Arc<StageModel>, Rc<RefCell<StageControls>>)>);

impl StageUi for Stage {
    fn stage_ui(&mut self, ui: &mut Ui, view: &mut PanelView) {
        let Some((model, controls)) = &self.0 else { return };
        let texture = Some(egui::TextureId::User(0));
        let scene = SceneRef { model, emphasis: &Arc::new(Emphasis::default()), path: None, walk: None };
        picture_ui(ui, Some(scene), &mut controls.borrow_mut(), view, texture);
    }
}

/// Shows the whole window, with the models of a lesson that is trained, or of none.
fn window<'a>(lesson: Option<&str>, mut issues: Vec<String>, mut stage: Stage) -> Harness<'a> {
    let trained = |lesson: &str| {
        let lesson = attune::lesson::parse("small.ron", lesson).unwrap_or_else(|issues| panic!("{issues:#?}"));
        Models::of(Arc::new(attune::kernel::Kernel::trained(Arc::new(lesson)).snapshot()))
    };
    let models = lesson.map(trained).unwrap_or_default();
    let (mut workspace, mut view) = (Workspace::default(), ViewState::default());
    dressed(Vec2::new(1280.0, 720.0), move |ui| {
        workspace_ui(ui, &models, &mut issues, &mut workspace, &mut view, &mut stage, true);
    })
}

#[test]
fn issues_fill_the_window_until_there_is_a_lesson_and_can_be_dismissed_after() {
    for open in [false, true] {
        let issues = vec!["lesson.ron:3:7: expected `,`".to_owned()];
        let mut harness = window(open.then_some(SMALL), issues, Stage(None));
        assert!(harness.query_by_label("lesson.ron:3:7: expected `,`").is_some());
        assert_eq!(harness.query_all_by_label("Sinking and swimming").count() > 0, open);
        if open {
            click(&mut harness, "Dismiss");
            assert!(harness.query_by_label("lesson.ron:3:7: expected `,`").is_none());
        }
    }
}

/// The whole window with a live camera: what the pointer does, and where.
#[test]
fn the_stage_is_moved_over_the_stage_alone() {
    let over = |x, y| egui::Pos2::new(x, y);
    let (on_notebook, on_stage) = (over(180.0, 400.0), over(640.0, 300.0));
    let text = format!("cells: [Text(id: \"long\", md: \"{}\"),", "A line of text.\\n\\n".repeat(200));
    let long = SMALL.replacen("cells: [", &text, 1);
    let lesson = attune::lesson::parse("small.ron", &long).unwrap_or_else(|issues| panic!("{issues:#?}"));
    let scene = StageModel::of(&attune::kernel::Kernel::trained(Arc::new(lesson)).snapshot()).expect("a scene");
    let controls = Rc::new(RefCell::new(StageControls::default()));
    let rig = || controls.borrow().rig.clone();
    let mut harness = window(Some(&long), Vec::new(), Stage(Some((Arc::new(scene), controls.clone()))));
    let last_line =
        |harness: &Harness| harness.get_all_by_label("A line of text.").last().map(|line| line.rect().top());

    let (before, line) = (rig(), last_line(&harness));
    wheel(&mut harness, on_notebook);
    assert_eq!(rig(), before, "the wheel over the notebook leaves the stage alone");
    assert!(last_line(&harness) < line, "and scrolls the notebook");

    let line = last_line(&harness);
    wheel(&mut harness, on_stage);
    assert_ne!(rig(), before, "the wheel over the stage zooms it");
    assert_eq!(last_line(&harness), line);

    for button in [egui::PointerButton::Primary, egui::PointerButton::Secondary, egui::PointerButton::Middle] {
        let before = rig();
        drag(&mut harness, on_stage, Vec2::new(60.0, 20.0), button);
        assert_ne!(rig(), before, "{button:?} over the stage");
        let before = rig();
        drag(&mut harness, on_notebook, Vec2::new(20.0, 20.0), button);
        assert_eq!(rig(), before, "{button:?} over the notebook");
    }
}

fn wheel(harness: &mut Harness, at: egui::Pos2) {
    harness.event(egui::Event::PointerMoved(at));
    harness.run_steps(2);
    harness.event(egui::Event::MouseWheel {
        unit: egui::MouseWheelUnit::Line,
        delta: Vec2::new(0.0, -3.0),
        phase: egui::TouchPhase::Move,
        modifiers: Modifiers::NONE,
    });
    harness.run_steps(20);
}

fn press(harness: &mut Harness, at: egui::Pos2) {
    harness.event(egui::Event::PointerMoved(at));
    for pressed in [true, false] {
        let button = egui::PointerButton::Primary;
        harness.event(egui::Event::PointerButton { pos: at, button, pressed, modifiers: Modifiers::NONE });
        harness.run_steps(1);
    }
    harness.run_steps(2);
}

fn drag(harness: &mut Harness, from: egui::Pos2, by: Vec2, button: egui::PointerButton) {
    let press = |pos, pressed| egui::Event::PointerButton { pos, button, pressed, modifiers: Modifiers::NONE };
    harness.event(egui::Event::PointerMoved(from));
    harness.run_steps(1);
    harness.event(press(from, true));
    harness.run_steps(1);
    for part in 1..=4 {
        harness.event(egui::Event::PointerMoved(from + by * (part as f32 / 4.0)));
        harness.run_steps(1);
    }
    harness.event(press(from + by, false));
    harness.run_steps(2);
}

#[test]
fn the_walk_is_followed_word_by_word_head_by_head_and_step_by_step() {
    let lesson = attune::lesson::parse("small.ron", include_str!("../fixtures/small.ron")).expect("no issues");
    let snapshot = attune::kernel::Kernel::trained(Arc::new(lesson)).snapshot();
    let attention = AttentionModel::of(&snapshot).expect("a model");
    let inner = snapshot.clone();
    let (mut harness, seen) = show(Vec2::new(520.0, 700.0), move |ui, view| {
        let focus =
            view.selection.query.map(|query| Focus { query, head: view.selection.head, key: view.selection.key });
        let walk = focus.and_then(|focus| WalkModel::of(&inner, focus));
        let path =
            view.selection.query.and_then(|query| PathModel::of(&inner, query, view.selection.head, view.selection.by));
        arithmetic_ui(ui, walk.as_ref(), path.as_ref(), &attention, view);
        Vec::new()
    });
    seen.0.borrow_mut().1.preferences.reduced_motion = true;
    assert!(harness.query_by_label_contains("Choose a word").is_some());
    click(&mut harness, "seal");
    click(&mut harness, "Head 2");
    assert_eq!((seen.view().selection.query, seen.view().selection.head), (Some(1), 1));
    for _ in 0..4 {
        click(&mut harness, "Step forward");
    }
    assert_eq!(seen.view().walk.step(), Step::Softmax);
    let walk = WalkModel::of(&snapshot, Focus { query: 1, head: 1, key: None }).expect("a walk");
    assert!(harness.query_by_label(&walk.step(Step::Softmax).said).is_some());
    for _ in 0..2 {
        click(&mut harness, "Step forward");
    }
    let path = PathModel::of(&snapshot, 1, 1, By::Word).expect("a path");
    assert!(harness.query_by_label(&path.why).is_some());
    click(&mut harness, "head");
    assert_eq!(seen.view().selection.by, By::Head);
    click(&mut harness, "Step back");
    assert_eq!(seen.view().walk.step(), Step::Mix);
}

#[test]
fn a_neighbour_under_the_pointer_is_pointed_at_for_the_stage() {
    let lesson = attune::lesson::parse("small.ron", include_str!("../fixtures/small.ron")).expect("no issues");
    let snapshot = attune::kernel::Kernel::trained(Arc::new(lesson)).snapshot();
    let model = NeighboursModel::of(&snapshot).expect("a model");
    let shown = model.clone();
    const NARROW: Vec2 = Vec2::new(320.0, 640.0);
    let mut state = NeighboursPanel::default();
    let (mut harness, seen) = show(NARROW, move |ui, view| {
        view.hover.begin_frame();
        neighbours_ui(ui, &shown, &mut state, view);
        Vec::new()
    });
    click(&mut harness, "seal");
    let near = &model.tokens[1].after.by(Measure::Cosine)[0];
    let row = harness.get_by_label(&format!("Contextual: {} {:.4}", near.word, near.cosine)).rect();
    assert!(row.right() <= NARROW.x, "the second list ends at {} of {}", row.right(), NARROW.x);
    harness.hover_at(row.center());
    harness.run_steps(3);
    assert_eq!(seen.view().hover.word(), Some(near.word.as_str()));
    click(&mut harness, "Euclidean");
    let near = &model.tokens[1].after.by(Measure::Euclidean)[0];
    assert!(harness.query_by_label(&format!("Contextual: {} {:.4}", near.word, near.distance)).is_some());
}
