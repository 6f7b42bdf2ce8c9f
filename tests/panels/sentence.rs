//! The sentence field, the Meaning panel and the Axes panel over a running kernel, by their labels.

use std::path::Path;
use std::sync::Arc;

use attune::app::actions::{Action, WindowAction, keys};
use attune::app::panels::meaning::{MeaningPanel, toggle};
use attune::app::panels::sheet::SheetPanel;
use attune::app::panels::{Panel, PanelContext, PanelName};
use attune::app::shell::ui::{LessonKeys, lesson_keys};
use attune::app::theme;
use attune::app::ui_state::ThemeChoice;
use attune::app::workspace::top_bar::{SENTENCE, TopBarUiState, top_bar_ui};
use attune_core::kernel::command::{Axis, AxisCommand, SentenceCommand};
use attune_core::kernel::{Command, Kernel, Snapshot};
use attune_view::view_model::axes::AxesModel;
use attune_view::view_model::compare::CompareModel;
use attune_view::view_model::saved_view::MeaningView;
use attune_view::view_model::sentences::SentencesModel;
use egui::{Event, Key, Modifiers, Ui, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use crate::common::lessons::small;
use crate::common::models::with_tokenizer;
use crate::live::PanelHarness;
use crate::pointer::click;

const BEGIN: &str = "the seal sank while a duck swam";
const SIZE: Vec2 = Vec2::new(380.0, 400.0);

fn shown<P: Panel + 'static>(bench: &PanelHarness<P>) -> String {
    words(&bench.snapshot())
}

fn words(snapshot: &Snapshot) -> String {
    let sentence = &snapshot.model.as_ref().expect("a model").sentence;
    sentence.tokens.iter().map(|token| token.text.as_str()).collect::<Vec<_>>().join(" ")
}

/// The top bar, with the keys that lead to it, as a panel.
#[derive(Default)]
struct Bar(TopBarUiState);

impl Panel for Bar {
    fn ui(&mut self, ui: &mut Ui, cx: &mut PanelContext) -> Option<()> {
        let known = cx.models.get::<SentencesModel>();
        let keys = LessonKeys { has_sentences: true, ..LessonKeys::default() };
        cx.requests.actions.extend(lesson_keys(ui.ctx(), &keys).into_iter().map(Action::Row));
        let snapshot = cx.models.snapshot()?;
        ui.vertical(|ui| {
            ui.set_height(theme::size::BAR_HEIGHT);
            top_bar_ui(ui, snapshot, known.as_deref(), &[], &mut self.0, ThemeChoice::default(), cx.requests);
        });
        for action in std::mem::take(&mut cx.requests.actions) {
            match action {
                Action::Row(pressed) if pressed.action == WindowAction::WriteSentence => {
                    keys::ask(ui.ctx(), keys::sentence_field(SENTENCE));
                }
                Action::Row(pressed) if pressed.action == WindowAction::Compare => {
                    cx.requests.commands.extend(known.as_deref().map(toggle));
                }
                _ => {}
            }
        }
        Some(())
    }
}

fn bar(width: f32) -> PanelHarness<Bar> {
    PanelHarness::new(small(), Vec2::new(width, 400.0), Bar::default())
}

fn press(harness: &mut Harness, key: Key) {
    harness.key_press(key);
    harness.run_steps(3);
}

/// Letter by letter, as a person does; what is shown after each.
fn types<P: Panel + 'static>(bench: &mut PanelHarness<P>, text: &str) -> Vec<String> {
    let type_one = |letter: char| {
        bench.event(Event::Text(letter.to_string()));
        bench.run_steps(2);
        shown(bench)
    };
    text.chars().map(type_one).collect()
}

fn enter_field(harness: &mut Harness) {
    harness.key_press_modifiers(Modifiers::ALT, Key::S);
    harness.run_steps(3);
}

fn says(harness: &Harness, label: &str) -> bool {
    harness.query_all_by_label(label).next().is_some()
}

#[test]
fn every_letter_that_makes_a_sentence_shows_it_and_the_last_good_one_stays() {
    let mut bench = bar(1280.0);
    enter_field(&mut bench);
    let seen = types(&mut bench, "The warm, seal");
    let mut expected = vec![BEGIN; 2];
    // `a` of `warm` is no word of its own.
    expected.extend([&["the"; 5][..], &["the warm"; 6], &["the warm seal"]].concat());
    assert_eq!(seen, expected);
    assert!(says(&bench, "On the stage."));
    press(&mut bench, Key::Enter);
    assert_eq!(shown(&bench), "the warm seal");
    assert!(!says(&bench, "On the stage."), "the words go when the field is left");
    let last = bench.commands().last().cloned();
    assert_eq!(last, Some(Command::Sentence(SentenceCommand::Set("the warm seal".to_owned()))));
    bench.apply(Command::Undo);
    assert_eq!(shown(&bench), BEGIN, "what was typed undoes as one");
}

#[test]
fn an_unknown_word_is_spelt_otherwise_or_left_out_by_choice_alone() {
    let mut bench = bar(1280.0);
    enter_field(&mut bench);
    types(&mut bench, "the stne sank");
    assert_eq!(shown(&bench), "the");
    assert!(says(&bench, "“stne” is not a word of this lesson."));
    click(&mut bench, "Write stone instead of stne");
    assert_eq!(shown(&bench), "the stone sank");
    // The keyboard is in the field still, at its end.
    types(&mut bench, " qqqqqq");
    assert_eq!(shown(&bench), "the stone sank");
    click(&mut bench, "Leave out qqqqqq");
    types(&mut bench, " whi");
    assert!(says(&bench, "“whi” is not yet a word of this lesson."));
    press(&mut bench, Key::ArrowDown);
    assert_eq!(shown(&bench), "the stone sank while");
    types(&mut bench, " zzzzzz the");
    press(&mut bench, Key::Enter);
    assert!(says(&bench, "“zzzzzz” is not a word of this lesson."), "what cannot be read is not done");
    assert!(says(&bench, "zzzzzz is unknown. Above, choose a word for it, or press ↑ to leave it out."));
    press(&mut bench, Key::ArrowUp);
    assert_eq!(shown(&bench), "the stone sank while the");
    types(&mut bench, " stne");
    press(&mut bench, Key::Enter);
    assert_eq!(shown(&bench), "the stone sank while the", "Enter replaces no word");
    assert!(says(&bench, "stne is unknown. Above, choose a word for it, or press ↑ to leave it out."));
    press(&mut bench, Key::ArrowDown);
    assert_eq!(shown(&bench), "the stone sank while the stone", "the word that is spelt like it");
    press(&mut bench, Key::Enter);
    assert!(!says(&bench, "On the stage."), "and is done then");
}

/// A tokenizer reads case and punctuation, and the pieces that it makes are not the text.
#[test]
fn a_text_in_pieces_is_left_as_it_was_written() {
    const TEXT: &str = "She sat on the river's bank.";
    let folder = with_tokenizer("bert-wild");
    let lesson = attune_core::lesson::read(Path::new(&folder.file(""))).unwrap_or_else(|issues| panic!("{issues:#?}"));
    let mut bench = PanelHarness::new(Kernel::embedded(Arc::new(lesson)), Vec2::new(1280.0, 400.0), Bar::default());
    let before = shown(&bench);
    enter_field(&mut bench);
    press(&mut bench, Key::Enter);
    assert_eq!(shown(&bench), before, "entered and left");
    enter_field(&mut bench);
    bench.event(Event::Paste(TEXT.to_owned()));
    bench.run_steps(3);
    let read = shown(&bench);
    assert!(read.split(' ').count() > TEXT.split(' ').count(), "in pieces: {read}");
    press(&mut bench, Key::Enter);
    assert_eq!(bench.get_by_label("Sentence").value().as_deref(), Some(TEXT));
    assert_eq!(shown(&bench), read);
}

#[test]
fn more_words_than_the_model_reads_are_said_and_cut_by_choice() {
    let mut bench = bar(1280.0);
    enter_field(&mut bench);
    bench.event(Event::Paste("Seal, the\nduck! ".repeat(5000)));
    bench.run_steps(3);
    assert_eq!(shown(&bench), BEGIN);
    assert!(says(&bench, "The field takes at most 2000 characters; the rest is cut off."));
    click(&mut bench, "Keep the first 12");
    assert_eq!(shown(&bench), "seal the duck ".repeat(4).trim());
}

#[test]
fn what_could_not_be_read_is_there_again_when_the_field_is() {
    let mut bench = bar(1280.0);
    enter_field(&mut bench);
    types(&mut bench, "a duck qqqqqq");
    press(&mut bench, Key::Escape);
    assert_eq!(shown(&bench), "a duck");
    assert_eq!(bench.get_by_label("Sentence").value().as_deref(), Some("a duck"));
    enter_field(&mut bench);
    assert_eq!(bench.get_by_label("Sentence").value().as_deref(), Some("a duck qqqqqq"));
    press(&mut bench, Key::Escape);
    click(&mut bench, "Sentence: the lesson's sentences");
    click(&mut bench, "a seal is happy");
    assert_eq!(shown(&bench), "a seal is happy");
    assert_eq!(bench.get_by_label("Sentence").value().as_deref(), Some("a seal is happy"));
}

#[test]
fn the_controls_of_the_top_bar_never_overlap() {
    for width in [800.0, 1000.0, 1067.0, 1280.0, 2560.0] {
        let bench = bar(width);
        let labels = [
            "Sentence: the lesson's sentences",
            "Sentence",
            "Compare",
            "Undo",
            "Redo",
            "Smaller",
            "Larger",
            "Theme",
            "Keys",
        ];
        let rects = labels.map(|label| bench.get_by_label(label).rect());
        for pair in rects.windows(2) {
            assert!(pair[0].right() <= pair[1].left(), "at {width}: {pair:?}");
        }
        assert!(rects[8].right() <= width);
    }
}

fn second<P: Panel + 'static>(bench: &PanelHarness<P>) -> Option<String> {
    let model = bench.snapshot().model.expect("a model");
    let tokens = &model.second.as_ref()?.other.tokens;
    Some(tokens.iter().map(|token| token.text.as_str()).collect::<Vec<_>>().join(" "))
}

#[test]
fn a_comparison_begins_with_one_key_and_ends_with_it() {
    let mut bench = bar(1280.0);
    let alt_c = |bench: &mut PanelHarness<Bar>| {
        bench.key_press_modifiers(Modifiers::ALT, Key::C);
        bench.run_steps(3);
    };
    alt_c(&mut bench);
    assert_eq!(second(&bench).as_deref(), Some("a seal is happy"));
    alt_c(&mut bench);
    assert_eq!(second(&bench), None);
    click(&mut bench, "Compare");
    assert!(second(&bench).is_some());
}

#[test]
fn the_compare_panel_tells_a_word_s_two_ways() {
    let mut bench = PanelHarness::new(small(), SIZE, MeaningPanel::showing(MeaningView::Sentences));
    click(&mut bench, "Compare with a second sentence");
    assert_eq!(second(&bench).as_deref(), Some("a seal is happy"));
    click(&mut bench, "a · a′");
    assert_eq!((bench.view().selection.query, bench.view().selection.second), (Some(4), Some(0)));
    assert!(says(&bench, "Near a′"));
    click(&mut bench, "seal · seal′");
    let model = CompareModel::of(&bench.snapshot()).expect("two sentences");
    let pair = model.pairs.iter().find(|pair| pair.word == "seal").expect("it is shared").clone();
    for number in [pair.paired.before.cosine, pair.paired.after.cosine, pair.paired.after.distance] {
        let number = format!("{number:.3}").replace('-', "−");
        assert!(says(&bench, &number), "{number}");
    }
    assert!(says(&bench, &pair.said) && says(&bench, &pair.near[1][0].word));
    bench.get_by_label("Second sentence").focus();
    bench.run_steps(3);
    types(&mut bench, "heavy iron");
    press(&mut bench, Key::Enter);
    assert_eq!(second(&bench).as_deref(), Some("heavy iron"));
    let none = CompareModel::of(&bench.snapshot()).and_then(|model| model.none).expect("said");
    assert!(says(&bench, &none));
    click(&mut bench, "✕  End");
    assert_eq!((second(&bench), shown(&bench).as_str()), (None, BEGIN));
}

#[test]
fn axes_are_fitted_chosen_and_reset() {
    let mut bench = PanelHarness::new(small(), SIZE, SheetPanel::of(PanelName::Axes));
    let basis = |bench: &PanelHarness<SheetPanel>| bench.snapshot().space.as_ref().expect("a space").basis.clone();
    click(&mut bench, "Refit");
    assert!(basis(&bench).fitted.is_some());
    click(&mut bench, "Axis Y from: the lesson's groups");
    click(&mut bench, "mineral");
    bench.get_by_label("Axis Y to").focus();
    bench.run_steps(2);
    types(&mut bench, "duck, seal");
    press(&mut bench, Key::Enter);
    let axis =
        Command::Axes(AxisCommand::Set { axis: Axis::Y, from: "mineral".to_owned(), to: "duck, seal".to_owned() });
    assert_eq!(bench.commands().last(), Some(&axis));
    let row = AxesModel::of(&bench.snapshot()).expect("a space").rows[1].clone();
    let said = format!("Axis Y: mineral → duck, seal, {:.1} % of the variance", row.variance * 100.0);
    assert!(says(&bench, &said));
    click(&mut bench, "Reset axis Y");
    assert_eq!(basis(&bench).chosen[1], None);
    assert!(basis(&bench).fitted.is_some());
    click(&mut bench, "Reset the axes");
    assert_eq!(basis(&bench), Default::default());
}
