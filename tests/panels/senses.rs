//! The senses of a word by label: a list is taken, written, given letters, and looked at layer by layer.

use attune::app::actions::{Action, FilePurpose};
use attune::app::panels::meaning::MeaningPanel;
use attune::app::panels::senses::SENSE_WORD;
use attune_core::kernel::command::{AxisCommand, Command, SenseSentence};
use attune_core::kernel::sentence_pass::senses::SenseList;
use attune_view::view_model::saved_view::MeaningView;
use egui::{Key, Modifiers, Vec2};
use egui_kittest::kittest::Queryable;

use crate::common::lessons::{BANK, kernel};
use crate::live::PanelHarness;
use crate::pointer::click;

/// As the panel is in a window of 1280 by 720.
const SIZE: Vec2 = Vec2::new(360.0, 620.0);

fn shown() -> PanelHarness<MeaningPanel> {
    PanelHarness::new(kernel(BANK), SIZE, MeaningPanel::showing(MeaningView::Senses))
}

fn list(panel: &PanelHarness<MeaningPanel>) -> SenseList {
    SenseList::clone(&panel.snapshot().model.expect("a model").senses.list)
}

fn write(panel: &mut PanelHarness<MeaningPanel>, field: &str, text: &str) {
    panel.get_by_label(field).click();
    panel.run_steps(3);
    panel.get_by_label(field).type_text(text);
    panel.run_steps(3);
}

#[test]
fn the_lesson_s_sentences_are_shown_with_their_scores() {
    let mut panel = shown();
    assert!(panel.query_by_label("Layer of the senses").is_none());
    click(&mut panel, "20 sentences with “bank”");
    assert_eq!(list(&panel).sentences.len(), 20);
    assert!(panel.snapshot().model.expect("a model").senses.is_on);
    assert!(panel.query_by_label("Layer of the senses").is_some());
    assert!(panel.query_by_label_contains("The senses are furthest apart after layer 1: ").is_some());
    click(&mut panel, "Refit axes");
    assert_eq!(panel.take_commands().pop(), Some(Command::Axes(AxisCommand::Refit)));
    panel.view_mut().walk.set_time(0.0);
    panel.run_steps(2);
    assert!(panel.query_by_label("same sense 1.00").is_some(), "all are the static vector");
    // All of it is as wide as the panel.
    for label in ["Sentence 1", "Remove sentence 1", "Sense of sentence 1: A"] {
        let rect = panel.get_by_label(label).rect();
        assert!(rect.left() >= 0.0 && rect.right() <= SIZE.x, "{label}: {rect}");
    }
}

#[test]
fn a_list_is_written_with_the_keyboard_alone() {
    let mut panel = shown();
    panel.let_refuse();
    write(&mut panel, SENSE_WORD, "bank");
    // Enter leads from the word to its first sentence, and from there to the next, which has the keyboard at once.
    panel.key_press(Key::Enter);
    panel.run_steps(6);
    panel.get_by_label("Sentence 1").type_text("the bank pays");
    panel.run_steps(3);
    panel.key_press(Key::Enter);
    panel.run_steps(6);
    panel.get_by_label("Sentence 2").type_text("river bank");
    panel.run_steps(3);
    panel.key_press_modifiers(Modifiers::COMMAND, Key::G);
    panel.run_steps(3);
    let sentence = |text: &str, sense| SenseSentence { text: text.to_owned(), sense };
    let both = [sentence("the bank pays", None), sentence("river bank", Some('A'))];
    assert_eq!(list(&panel), SenseList { word: "bank".to_owned(), sentences: both.to_vec() });
    panel.key_press_modifiers(Modifiers::COMMAND, Key::D);
    panel.run_steps(3);
    assert_eq!(list(&panel).sentences, both[..1]);
}

#[test]
fn a_click_on_a_letter_moves_no_sentence() {
    let mut panel = shown();
    click(&mut panel, "20 sentences with “bank”");
    let places = |panel: &PanelHarness<MeaningPanel>| {
        [1, 2, 3, 4].map(|number| panel.get_by_label(&format!("Sentence {number}")).rect().top())
    };
    let before = places(&panel);
    for letter in ["A", "B", "C", "none"] {
        click(&mut panel, &format!("Sense of sentence 2: {letter}"));
        assert_eq!(places(&panel), before, "after a click on {letter}");
    }
}

#[test]
fn a_sense_is_clicked_through_or_pressed_as_a_letter() {
    let mut panel = shown();
    click(&mut panel, "20 sentences with “bank”");
    let sense = |panel: &PanelHarness<MeaningPanel>| list(panel).sentences[0].sense;
    // A, B, one more, none, and from the beginning.
    let mut seen = vec![sense(&panel)];
    for _ in 0..4 {
        let said = sense(&panel).map_or_else(|| "none".to_owned(), |sense| sense.to_string());
        click(&mut panel, &format!("Sense of sentence 1: {said}"));
        seen.push(sense(&panel));
    }
    assert_eq!(seen, [Some('A'), Some('B'), Some('C'), None, Some('A')]);
    panel.get_by_label("Sense of sentence 1: A").focus();
    panel.run_steps(2);
    panel.key_press(Key::F);
    panel.run_steps(3);
    assert_eq!(sense(&panel), Some('F'));
    panel.key_press(Key::Backspace);
    panel.run_steps(3);
    assert_eq!(sense(&panel), None);
}

#[test]
fn what_cannot_be_measured_is_said_under_its_sentence() {
    let mut panel = shown();
    click(&mut panel, "20 sentences with “bank”");
    write(&mut panel, "Sentence 1", " zzyzx");
    assert!(panel.query_by_label_contains("is not in the lesson's vocabulary").is_some());
    assert_eq!(list(&panel).sentences.len(), 20, "and it stays");
}

#[test]
fn the_curve_leads_to_a_layer_and_the_file_is_asked_for() {
    let mut panel = shown();
    click(&mut panel, "20 sentences with “bank”");
    panel.view_mut().walk.set_time(0.0);
    panel.run_steps(2);
    panel.get_by_label("Layer of the senses").focus();
    panel.run_steps(2);
    panel.key_press(Key::ArrowRight);
    panel.run_steps(2);
    panel.view_mut().walk.advance(f32::INFINITY);
    panel.run_steps(2);
    assert_eq!(panel.view().walk.time(), 1.0);
    assert!(panel.query_by_label("after layer 1:").is_some());
    click(&mut panel, "on the stage");
    assert!(!panel.snapshot().model.expect("a model").senses.is_on);
    for _ in 0..20 {
        click(&mut panel, "Remove sentence 1");
    }
    for (words, choice) in [("Import …", FilePurpose::ImportSenses), ("Export …", FilePurpose::ExportSenses)] {
        click(&mut panel, words);
        assert_eq!(panel.take_actions(), [Action::ChooseFile(choice)]);
    }
}

#[test]
fn the_chosen_word_is_offered_before_the_lesson_s_own() {
    let mut panel = shown();
    let tokens = panel.snapshot().model.expect("a model").sentence.tokens.clone();
    let other = tokens.iter().position(|token| token.text != "bank").expect("another word");
    panel.view_mut().selection.choose_query(Some(other));
    panel.run_steps(2);
    let word = tokens[other].text.clone();
    let offered = panel.get_by_label_contains(&format!("with “{word}”")).rect();
    let suggested = panel.get_by_label("20 sentences with “bank”").rect();
    assert!(offered.bottom() <= suggested.top());
    panel.get_by_label_contains(&format!("with “{word}”")).click();
    panel.run_steps(3);
    let own = panel.snapshot().model.expect("a model").sentence.written();
    assert_eq!((list(&panel).word.as_str(), list(&panel).sentences[0].text.as_str()), (word.as_str(), own.as_str()));
    let mut panel = shown();
    let bank = tokens.iter().position(|token| token.text == "bank").expect("its word");
    panel.view_mut().selection.choose_query(Some(bank));
    panel.run_steps(2);
    assert!(panel.query_by_label("20 sentences with “bank”").is_some(), "the lesson's list of the same word");
    assert_eq!(panel.query_all_by_label_contains("with “bank”").count(), 1);
}
