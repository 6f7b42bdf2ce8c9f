//! The whole window by its labels: issues of a lesson, and where the pointer moves the stage.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use attune::app::actions::Action;
use attune::app::panels::StageUi;
use attune::app::stage::canvas::{Floating, StageControls, picture_ui};
use attune::app::stage::projection::SceneRef;
use attune::app::ui_state::search::Emphasis;
use attune::app::ui_state::{PanelView, ViewState};
use attune::app::workspace::{Workspace, workspace_ui};
use attune_core::kernel::Kernel;
use attune_view::view_model::Models;
use attune_view::view_model::stage::StageModel;
use egui::{PointerButton, Pos2, TextureId, Ui, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use crate::common::lessons::{SMALL, kernel};
use crate::dressed::dressed;
use crate::pointer::{click, drag, wheel};

/// A stage that draws nothing, or the picture of one scene.
struct Stage(Option<(Arc<StageModel>, Rc<RefCell<StageControls>>)>);

impl StageUi for Stage {
    fn stage_ui(&mut self, ui: &mut Ui, view: &mut PanelView) {
        let Some((model, controls)) = &self.0 else { return };
        let texture = Some(TextureId::User(0));
        let scene = SceneRef { model, emphasis: &Arc::new(Emphasis::default()), path: None, walk: None, patches: None };
        picture_ui(ui, Some(scene), &mut controls.borrow_mut(), view, texture, Floating::default());
    }
}

/// Shows the whole window, with the models of a lesson that is trained, or of none.
fn window<'a>(lesson: Option<&str>, mut issues: Vec<String>, mut stage: Stage) -> Harness<'a> {
    let models = lesson.map(|lesson| Models::of(Arc::new(kernel(lesson).snapshot()))).unwrap_or_default();
    let (mut workspace, mut view) = (Workspace::default(), ViewState::default());
    dressed(Vec2::new(1280.0, 720.0), move |ui| {
        let requests = workspace_ui(ui, &models, &mut issues, &mut workspace, &mut view, &mut stage, true);
        let Some(snapshot) = models.snapshot() else { return };
        for action in requests.actions {
            if let Action::Reach(reached) = action {
                workspace.reach(&snapshot.lesson, &reached);
            }
        }
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
    let over = |x, y| Pos2::new(x, y);
    let (on_notebook, on_stage) = (over(180.0, 400.0), over(640.0, 300.0));
    let text = format!("cells: [Text(id: \"long\", md: \"{}\"),", "A line of text.\\n\\n".repeat(200));
    let long = SMALL.replacen("cells: [", &text, 1);
    let scene = StageModel::of(&kernel(&long).snapshot()).expect("a scene");
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

    let way = |from: Pos2, by: Vec2| [0.25, 0.5, 0.75, 1.0].map(|part| from + by * part);
    for button in [PointerButton::Primary, PointerButton::Secondary, PointerButton::Middle] {
        let before = rig();
        drag(&mut harness, button, &way(on_stage, Vec2::new(60.0, 20.0)));
        assert_ne!(rig(), before, "{button:?} over the stage");
        let before = rig();
        drag(&mut harness, button, &way(on_notebook, Vec2::new(20.0, 20.0)));
        assert_eq!(rig(), before, "{button:?} over the notebook");
    }
}

/// Cells far below the screen are reached when they have been in sight for a moment.
#[test]
fn a_panel_appears_when_its_cell_has_been_in_sight_and_the_text_stays_where_it_is() {
    let text = "A line of text.\\n\\n".repeat(100);
    let cells = format!(
        "panels: [], cells: [Text(id: \"long\", md: \"{text}\"), Text(id: \"end\", md: \"The end.\", opens: [\"Weights\"]),"
    );
    let mut harness = window(Some(&SMALL.replacen("cells: [", &cells, 1)), Vec::new(), Stage(None));
    harness.run_steps(40);
    let is_open = |harness: &Harness| harness.query_by_label("Map of W_Q").is_some();
    assert!(harness.query_by_label("Stage panel").is_some() && !is_open(&harness));
    let wide = harness.get_by_label("Notebook panel").rect();
    for _ in 0..60 {
        wheel(&mut harness, Pos2::new(180.0, 400.0));
    }
    let line = harness.get_by_label("The end.").rect();
    harness.run_steps(40);
    assert!(is_open(&harness));
    let note = harness.get_by_label_contains("Weights opened: every weight").rect();
    assert!(note.right() <= 448.0 && note.bottom() <= 720.0, "{note}: below the notebook");
    let runs = harness.query_all_by_label_contains("Run cell ").map(|button| button.rect());
    assert!(runs.filter(|rect| rect.bottom() <= 720.0).all(|rect| !rect.intersects(note)), "over no control");
    assert_eq!(harness.get_by_label("The end.").rect(), line);
    assert_eq!(harness.get_by_label("Notebook panel").rect(), wide);
    // Closed from its tab, it stays closed.
    click(&mut harness, "Close the Weights panel");
    harness.run_steps(40);
    assert!(!is_open(&harness));
}

#[test]
fn a_lesson_whose_model_is_absent_says_once_how_to_get_it() {
    let text = SMALL_OF_BERT;
    let lesson = attune_core::lesson::parse("bert.ron", text).unwrap_or_else(|issues| panic!("{issues:#?}"));
    if lesson.absent_model().is_none() {
        return;
    }
    let snapshot = Kernel::trained(Arc::new(lesson)).snapshot();
    let (mut workspace, mut view) = (Workspace::default(), ViewState::default());
    let models = Models::of(Arc::new(snapshot));
    let mut harness = dressed(Vec2::new(1280.0, 720.0), move |ui| {
        workspace_ui(ui, &models, &mut Vec::new(), &mut workspace, &mut view, &mut Stage(None), true);
    });
    harness.run_steps(10);
    assert_eq!(harness.query_all_by_label_contains("is not on this computer").count(), 1);
    assert!(harness.query_by_label("BERT, the encoder of 2018, is not on this computer").is_some());
    click(&mut harness, "Copy the command");
    let copied = harness.output().platform_output.commands.iter().any(|command| {
        matches!(command, egui::OutputCommand::CopyText(text) if text.starts_with("hf download google-bert/bert-base-uncased"))
    });
    assert!(copied || harness.query_by_label("Copied the command").is_some());
}

const SMALL_OF_BERT: &str = r#"Lesson(
    id: "bert",
    title: "A model that is elsewhere",
    seed: 1,
    model: Pretrained("google-bert/bert-base-uncased"),
    sentences: ["a bank"],
    panels: ["Attention"],
    cells: [Text(id: "intro", md: "Words.")],
)"#;
