//! The Answers panel by label: a row is chosen, a number asked, words written.

use std::path::Path;
use std::sync::Arc;

use attune::app::panels::Panel;
use attune::app::panels::answers::AnswersPanel;
use attune_core::kernel::command::SentenceCommand;
use attune_core::kernel::{Command, Kernel};
use attune_engine::numerics::evidence::words::WordMeasure;
use attune_engine::numerics::model::generate::{NextWordChoice, Sampling};
use attune_view::view_model::answers::{AnswersModel, AnswersWriting, AttributionModel, LensModel, LensWords};
use attune_view::view_model::asked::AskedState;
use attune_view::view_model::saved_view::{AnswersView, SavedView};
use attune_view::view_model::word_measures::WordMeasures;
use egui::{Key, Vec2};
use egui_kittest::kittest::Queryable;

use crate::common::lessons::form;
use crate::live::PanelHarness;
use crate::pointer::click;

const SIZE: Vec2 = Vec2::new(420.0, 700.0);

#[test]
fn a_row_is_chosen_a_number_asked_and_words_written() {
    let mut panel = PanelHarness::new(form("next_word"), SIZE, AnswersPanel::default());
    let first = panel.model::<AnswersModel>().rows[0].clone();
    panel.get_by_label_contains(&format!("Answers for {}, first", first.label)).click();
    panel.run_steps(3);
    assert_eq!(panel.view().selection.query, Some(0));
    let number = format!("{:.4}: where it comes from", first.answers[0].probability);
    panel.get_all_by_label(&number).next().expect("its number").click();
    panel.run_steps(3);
    assert_eq!(panel.view().trail.entry(), Some(first.answers[0].entry));
    click(&mut panel, "Write");
    assert!(panel.query_by_label("Each new word is the likeliest one.").is_some());
}

#[test]
fn the_view_is_kept_with_the_work() {
    let mut panel = PanelHarness::new(form("next_word"), SIZE, AnswersPanel::default());
    let mut saved = SavedView::default();
    click(&mut panel, "Why");
    panel.panel().save(&mut saved);
    assert_eq!(saved.answers, AnswersView::Terms);
    let mut restored = AnswersPanel::default();
    restored.restore(&saved);
    let panel = PanelHarness::new(form("next_word"), SIZE, restored);
    assert!(panel.query_by_label("by layer").is_some());
}

#[test]
fn words_are_drawn_among_the_likeliest_by_a_control_with_a_name() {
    let mut panel = PanelHarness::new(form("next_word"), SIZE, AnswersPanel::default());
    for label in ["drawn", "top-k", "top-p", "Write"] {
        click(&mut panel, label);
    }
    let Some(Command::Sentence(SentenceCommand::Generate { choice: NextWordChoice::Sampled(sampling), .. })) =
        panel.take_commands().pop()
    else {
        panic!("nothing is written")
    };
    assert_eq!((sampling.temperature, sampling.top_k, sampling.top_p), (1.0, Some(10), Some(0.9)));
    let said = "Each new word is drawn at random (temperature 1, top-k 10, top-p 0.9).";
    assert!(panel.query_by_label(said).is_some());
    click(&mut panel, "top-k");
    click(&mut panel, "Write");
    let commands = panel.take_commands();
    assert!(
        matches!(
            commands.last(),
            Some(Command::Sentence(SentenceCommand::Generate {
                choice: NextWordChoice::Sampled(Sampling { top_k: None, top_p: Some(_), .. }),
                ..
            }))
        ),
        "{commands:?}"
    );
}

#[test]
fn rows_that_do_not_change_are_seen() {
    let mut panel = PanelHarness::new(form("next_word"), SIZE, AnswersPanel::default());
    click(&mut panel, "Write");
    let model = panel.model::<AnswersModel>();
    let AnswersWriting::Can { written: Some(written), .. } = &model.writing else { panic!("nothing is written") };
    let tokens = panel.snapshot().model.expect("a model").sentence.tokens.len();
    assert_eq!((written.rows[0].computed, written.rows[0].kept), (tokens, 0));
    assert!(written.rows_label.starts_with(&format!("For the first new word, each layer computed {tokens} rows")));
    assert!(panel.query_all_by_label(&written.rows_label).count() > 0, "{}", written.rows_label);
}

#[test]
fn the_chosen_row_comes_into_sight() {
    const HEIGHT: f32 = 150.0;
    let mut panel = PanelHarness::new(form("next_word"), Vec2::new(420.0, HEIGHT), AnswersPanel::default());
    let rows = panel.model::<AnswersModel>().rows.clone();
    for chosen in [rows.len() - 1, 0] {
        panel.view_mut().selection.query = Some(chosen);
        panel.run_steps(40);
        let row = panel.get_by_label_contains(&format!("Answers for {}, first", rows[chosen].label)).rect();
        assert!(row.top() > 0.0 && row.bottom() < HEIGHT, "{chosen}: {row}");
    }
}

/// There is no room for them below the answers.
#[test]
fn words_that_were_asked_for_come_into_sight() {
    let mut panel = PanelHarness::new(form("next_word"), Vec2::new(420.0, 240.0), AnswersPanel::default());
    panel.get_by_label("Write").scroll_to_me();
    panel.run_steps(3);
    click(&mut panel, "Write");
    panel.run_steps(3);
    let said = panel.get_by_label("Each new word is the likeliest one.").rect();
    assert!(said.top() > 0.0 && said.bottom() < 240.0, "{said}");
}

#[test]
fn each_layer_and_each_head_say_what_they_have_to_do_with_the_answer() {
    let mut panel = PanelHarness::new(form("decoder"), SIZE, AnswersPanel::default());
    click(&mut panel, "Layer by layer");
    let snapshot = panel.snapshot();
    let lens = LensModel::of(&snapshot, None).expect("a lens");
    for layer in &lens.layers {
        assert!(panel.query_by_label(&layer.said).is_some(), "{}", layer.said);
    }
    assert!(panel.query_by_label_contains("treat their apparent answers with caution").is_some());
    // A word for each layer and place, chosen by the mouse and by keys.
    let table = |panel: &PanelHarness<AnswersPanel>, words: &str| {
        panel.query_by_label_contains(&format!("Logit lens of all words: at {words}")).is_some()
    };
    let words = LensWords::of(&snapshot).expect("a lens");
    let (last, before) = (&words.labels[words.labels.len() - 1], &words.labels[words.labels.len() - 2]);
    assert!(table(&panel, &format!("{last}, before all layers: ")));
    panel.get_by_label_contains("Logit lens of all words").focus();
    panel.run_steps(2);
    for key in [Key::ArrowLeft, Key::ArrowDown] {
        panel.key_press(key);
        panel.run_steps(2);
    }
    assert_eq!(panel.view().selection.query, Some(words.labels.len() - 2));
    assert!(table(&panel, &format!("{before}, layer 1")));
    panel.view_mut().selection.choose_query(None);
    panel.run_steps(2);
    click(&mut panel, "Why");
    let terms = AttributionModel::of(&snapshot, (None, None)).expect("a model").expect("a sum");
    for (way, shares) in [("by layer", &terms.layers), ("by head", &terms.heads), ("by head and word", &terms.looks)] {
        click(&mut panel, way);
        let bar = format!("{} {:+.2}", shares[0].label, shares[0].value).replace('-', "−");
        assert!(panel.query_by_label(&bar).is_some(), "{way}: {bar}");
    }
    let other = panel.model::<AnswersModel>().row_of(None).expect("a row").answers[1].clone();
    click(&mut panel, &other.name);
    let terms = AttributionModel::of(&snapshot, (None, Some(other.class))).expect("a model").expect("a sum");
    assert!(panel.query_by_label(&terms.title).is_some(), "{}", terms.title);
}

#[test]
fn an_answer_without_terms_says_why() {
    let mut panel = PanelHarness::new(form("encoder"), SIZE, AnswersPanel::default());
    click(&mut panel, "Why");
    assert!(panel.query_by_label_contains("This model's readout has a nonlinear layer").is_some());
    let mut panel = PanelHarness::new(form("label"), SIZE, AnswersPanel::default());
    click(&mut panel, "Layer by layer");
    assert!(panel.query_by_label_contains("This model does not give an answer for each word").is_some());
}

#[test]
fn a_button_measures_which_word_mattered_and_the_arcs_show_a_measure() {
    let mut panel = PanelHarness::new(form("next_word"), Vec2::new(900.0, 1200.0), AnswersPanel::default());
    click(&mut panel, "Words");
    click(&mut panel, "Measure which word mattered");
    panel.run_steps(3);
    assert!(matches!(panel.commands()[..], [Command::Words(_)]), "{:?}", panel.commands());
    let measures = panel.model::<WordMeasures>();
    let AskedState::Found(words) = &measures.state else { panic!("{:?}", measures.state) };
    assert!(panel.query_by_label(&measures.parting(words)).is_some());
    assert!(panel.query_by_label("Sort by cut").is_some());
    click(&mut panel, "Arcs of the sentence");
    click(&mut panel, "Arcs by rollout");
    assert_eq!(panel.view().selection.measure, Some(WordMeasure::Rollout));
}

/// The chosen word is often only the one that was looked at last.
#[test]
fn words_are_measured_at_the_hidden_word_until_the_chosen_one_is_asked_for() {
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("lessons/depth");
    let lesson = attune_core::lesson::read(&model).expect("no issues");
    let mut panel = PanelHarness::new(Kernel::trained(Arc::new(lesson)), SIZE, AnswersPanel::default());
    let answers = panel.model::<AnswersModel>();
    let hidden = answers.hidden.expect("a hidden word");
    panel.view_mut().selection.choose_query(Some(2));
    panel.run_steps(2);
    click(&mut panel, "Words");
    let asked_at = |panel: &mut PanelHarness<AnswersPanel>| {
        click(panel, "Measure which word mattered");
        match panel.take_commands().pop() {
            Some(Command::Words(asked)) => asked.at,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(asked_at(&mut panel), Some(hidden));
    panel.get_all_by_label(&answers.rows[2].label).next().expect("the chosen word").click();
    panel.run_steps(3);
    assert_eq!(asked_at(&mut panel), Some(2));
}

#[test]
fn words_that_cannot_be_measured_say_why() {
    let mut panel = PanelHarness::new(form("translation"), Vec2::new(600.0, 600.0), AnswersPanel::default());
    click(&mut panel, "Words");
    assert!(panel.query_by_label_contains("reads a source sentence").is_some());
    assert!(panel.query_by_label("Measure which word mattered").is_none());
}

#[test]
fn a_search_with_two_beams_is_asked_for_by_a_control_with_a_name() {
    let mut panel = PanelHarness::new(form("next_word"), SIZE, AnswersPanel::default());
    for label in ["beams", "Write"] {
        click(&mut panel, label);
    }
    let choice = panel.take_commands().pop();
    assert!(
        matches!(choice, Some(Command::Sentence(SentenceCommand::Generate { choice: NextWordChoice::Beams(2), .. }))),
        "{choice:?}"
    );
    assert!(panel.query_by_label("The likeliest whole sentence that a search with 2 beams found.").is_some());
}
