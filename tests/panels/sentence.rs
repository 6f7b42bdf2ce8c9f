//! The sentence field, the Compare panel and the Axes panel over a running kernel, by their labels.
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use crate::common::dressed::dressed;
use attune::app::actions::{Action, WindowAction, focus};
use attune::app::panels::Requests;
use attune::app::panels::axes::{AxesPanel, axes_ui};
use attune::app::panels::compare::{ComparePanel, compare_ui, toggle};
use attune::app::shell::shortcuts::{LessonKeys, lesson_keys};
use attune::app::shell::top_bar::{SENTENCE, TopBarUiState, top_bar_ui};
use attune::app::theme;
use attune::app::view::ViewState;
use attune::kernel::command::{Axis, AxisCommand, SentenceCommand};
use attune::kernel::{Command, Kernel, Snapshot};
use attune::view_model::axes::AxesModel;
use attune::view_model::compare::CompareModel;
use attune::view_model::sentences::SentencesModel;
use egui::{Event, Key, Modifiers, Ui, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

const BEGIN: &str = "the seal sank while a duck swam";

/// A kernel that is asked and answers between two frames.
struct Bench {
    kernel: Kernel,
    view: ViewState,
    commands: Vec<Command>,
}

type Shared = Rc<RefCell<Bench>>;

fn shown(bench: &Shared) -> String {
    words(&bench.borrow().kernel.snapshot())
}

fn words(snapshot: &Snapshot) -> String {
    let sentence = &snapshot.model.as_ref().expect("a model").sentence;
    sentence.tokens.iter().map(|token| token.text.as_str()).collect::<Vec<_>>().join(" ")
}

fn bench<'a>(
    size: Vec2,
    mut panel: impl FnMut(&mut Ui, &Snapshot, &mut ViewState) -> Vec<Command> + 'a,
) -> (Harness<'a>, Shared) {
    let lesson = attune::lesson::parse("small.ron", include_str!("../fixtures/small.ron")).expect("no issues");
    let kernel = Kernel::trained(Arc::new(lesson));
    let bench = Rc::new(RefCell::new(Bench { kernel, view: ViewState::default(), commands: Vec::new() }));
    let inner = bench.clone();
    let harness = dressed(size, move |ui| {
        let Bench { kernel, view, commands } = &mut *inner.borrow_mut();
        for command in panel(ui, &kernel.snapshot(), view) {
            kernel.apply(command.clone());
            assert_eq!(kernel.snapshot().notice, None, "{command:?}");
            commands.push(command);
        }
    });
    (harness, bench)
}

fn bar(width: f32) -> (Harness<'static>, Shared) {
    let (mut state, mut known) = (TopBarUiState::default(), None);
    bench(Vec2::new(width, 400.0), move |ui, snapshot, view| {
        known = SentencesModel::of(snapshot, known.as_ref());
        let mut requests = Requests::default();
        let keys = LessonKeys { has_sentences: true, ..LessonKeys::default() };
        requests.actions.extend(lesson_keys(ui.ctx(), &keys).into_iter().map(Action::Row));
        ui.vertical(|ui| {
            ui.set_height(theme::size::BAR_HEIGHT);
            top_bar_ui(ui, snapshot, known.as_ref(), &mut state, view.preferences.theme, &mut requests);
        });
        for action in requests.actions {
            match action {
                Action::Row(pressed) if pressed.action == WindowAction::WriteSentence => {
                    focus::ask(ui.ctx(), focus::sentence_field(SENTENCE));
                }
                Action::Row(pressed) if pressed.action == WindowAction::Compare => {
                    requests.commands.extend(known.as_ref().map(toggle));
                }
                _ => {}
            }
        }
        requests.commands
    })
}

fn click(harness: &mut Harness, label: &str) {
    harness.get_by_label(label).click();
    harness.run_steps(4);
}

fn press(harness: &mut Harness, key: Key) {
    harness.key_press(key);
    harness.run_steps(3);
}

/// Letter by letter, as a person does; what is shown after each.
fn types(harness: &mut Harness, bench: &Shared, text: &str) -> Vec<String> {
    let type_one = |letter: char| {
        harness.event(Event::Text(letter.to_string()));
        harness.run_steps(2);
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
    let (mut harness, bench) = bar(1280.0);
    enter_field(&mut harness);
    let seen = types(&mut harness, &bench, "The warm, seal");
    let mut expected = vec![BEGIN; 2];
    // `a` of `warm` is no word of its own.
    expected.extend([&["the"; 5][..], &["the warm"; 6], &["the warm seal"]].concat());
    assert_eq!(seen, expected);
    assert!(says(&harness, "On the stage."));
    press(&mut harness, Key::Enter);
    assert_eq!(shown(&bench), "the warm seal");
    assert!(!says(&harness, "On the stage."), "the words go when the field is left");
    let last = bench.borrow().commands.last().cloned();
    assert_eq!(last, Some(Command::Sentence(SentenceCommand::Set("the warm seal".to_owned()))));
    bench.borrow_mut().kernel.apply(Command::Undo);
    assert_eq!(shown(&bench), BEGIN, "what was typed undoes as one");
}

#[test]
fn an_unknown_word_is_spelt_otherwise_or_left_out_by_choice_alone() {
    let (mut harness, bench) = bar(1280.0);
    enter_field(&mut harness);
    types(&mut harness, &bench, "the stne sank");
    assert_eq!(shown(&bench), "the");
    assert!(says(&harness, "“stne” is no word of this lesson."));
    click(&mut harness, "Write stone instead of stne");
    assert_eq!(shown(&bench), "the stone sank");
    // The keyboard is in the field still, at its end.
    types(&mut harness, &bench, " qqqqqq");
    assert_eq!(shown(&bench), "the stone sank");
    click(&mut harness, "Leave out qqqqqq");
    types(&mut harness, &bench, " whi");
    assert!(says(&harness, "“whi” is not yet a word of this lesson."));
    press(&mut harness, Key::ArrowDown);
    assert_eq!(shown(&bench), "the stone sank while");
    types(&mut harness, &bench, " zzzzzz the");
    press(&mut harness, Key::Enter);
    assert!(says(&harness, "“zzzzzz” is no word of this lesson."), "what cannot be read is not done");
    press(&mut harness, Key::ArrowUp);
    assert_eq!(shown(&bench), "the stone sank while the");
}

#[test]
fn more_words_than_the_model_reads_are_said_and_cut_by_choice() {
    let (mut harness, bench) = bar(1280.0);
    enter_field(&mut harness);
    harness.event(Event::Paste("Seal, the\nduck! ".repeat(5000)));
    harness.run_steps(3);
    assert_eq!(shown(&bench), BEGIN);
    assert!(says(&harness, "The field takes 2000 letters: the rest is cut off."));
    click(&mut harness, "Keep the first 12");
    assert_eq!(shown(&bench), "seal the duck ".repeat(4).trim());
}

#[test]
fn what_could_not_be_read_is_there_again_when_the_field_is() {
    let (mut harness, bench) = bar(1280.0);
    enter_field(&mut harness);
    types(&mut harness, &bench, "a duck qqqqqq");
    press(&mut harness, Key::Escape);
    assert_eq!(shown(&bench), "a duck");
    assert_eq!(harness.get_by_label("Sentence").value().as_deref(), Some("a duck"));
    enter_field(&mut harness);
    assert_eq!(harness.get_by_label("Sentence").value().as_deref(), Some("a duck qqqqqq"));
    press(&mut harness, Key::Escape);
    click(&mut harness, "Sentence: the lesson's");
    click(&mut harness, "a seal is happy");
    assert_eq!(shown(&bench), "a seal is happy");
    assert_eq!(harness.get_by_label("Sentence").value().as_deref(), Some("a seal is happy"));
}

#[test]
fn the_controls_of_the_top_bar_never_overlap() {
    for width in [800.0, 1000.0, 1067.0, 1280.0, 2560.0] {
        let (harness, _) = bar(width);
        let labels =
            ["Sentence: the lesson's", "Sentence", "Compare", "Undo", "Redo", "Smaller", "Larger", "Theme", "Keys"];
        let rects = labels.map(|label| harness.get_by_label(label).rect());
        for pair in rects.windows(2) {
            assert!(pair[0].right() <= pair[1].left(), "at {width}: {pair:?}");
        }
        assert!(rects[8].right() <= width);
    }
}

fn second(bench: &Shared) -> Option<String> {
    let model = bench.borrow().kernel.snapshot().model.expect("a model");
    let tokens = &model.second.as_ref()?.sentence.tokens;
    Some(tokens.iter().map(|token| token.text.as_str()).collect::<Vec<_>>().join(" "))
}

#[test]
fn a_comparison_begins_with_one_key_and_ends_with_it() {
    let (mut harness, bench) = bar(1280.0);
    let mut alt_c = || {
        harness.key_press_modifiers(Modifiers::ALT, Key::C);
        harness.run_steps(3);
    };
    alt_c();
    assert_eq!(second(&bench).as_deref(), Some("a seal is happy"));
    alt_c();
    assert_eq!(second(&bench), None);
    click(&mut harness, "Compare");
    assert!(second(&bench).is_some());
}

#[test]
fn the_compare_panel_tells_a_word_s_two_ways() {
    let mut state = ComparePanel::default();
    let (mut harness, bench) = bench(Vec2::new(380.0, 400.0), move |ui, snapshot, view| {
        let sentences = SentencesModel::of(snapshot, None).expect("a model");
        compare_ui(ui, CompareModel::of(snapshot).as_ref(), &sentences, &mut state, &mut view.for_panels())
    });
    click(&mut harness, "Compare with a second sentence");
    assert_eq!(second(&bench).as_deref(), Some("a seal is happy"));
    click(&mut harness, "a · a′");
    assert_eq!((bench.borrow().view.selection.query, bench.borrow().view.selection.second), (Some(4), Some(0)));
    assert!(says(&harness, "Near a′"));
    click(&mut harness, "seal · seal′");
    let model = CompareModel::of(&bench.borrow().kernel.snapshot()).expect("two sentences");
    let pair = model.pairs.iter().find(|pair| pair.word == "seal").expect("it is shared").clone();
    for number in [pair.before.cosine, pair.after.cosine, pair.after.distance] {
        let number = format!("{number:.3}").replace('-', "−");
        assert!(says(&harness, &number), "{number}");
    }
    assert!(says(&harness, &pair.said) && says(&harness, &pair.near[1][0].word));
    harness.get_by_label("Second sentence").focus();
    harness.run_steps(3);
    types(&mut harness, &bench, "heavy iron");
    press(&mut harness, Key::Enter);
    assert_eq!(second(&bench).as_deref(), Some("heavy iron"));
    let none = CompareModel::of(&bench.borrow().kernel.snapshot()).and_then(|model| model.none).expect("said");
    assert!(says(&harness, &none));
    click(&mut harness, "✕  End");
    assert_eq!((second(&bench), shown(&bench).as_str()), (None, BEGIN));
}

#[test]
fn axes_are_fitted_chosen_and_reset() {
    let mut state = AxesPanel::default();
    let (mut harness, bench) = bench(Vec2::new(380.0, 400.0), move |ui, snapshot, _| {
        let mut requests = Requests::default();
        axes_ui(ui, &AxesModel::of(snapshot).expect("a space"), &mut state, &mut requests);
        requests.commands
    });
    let basis = || bench.borrow().kernel.snapshot().space.as_ref().expect("a space").basis.clone();
    click(&mut harness, "Refit");
    assert!(basis().fitted.is_some());
    click(&mut harness, "Axis Y from: groups");
    click(&mut harness, "mineral");
    harness.get_by_label("Axis Y to").focus();
    harness.run_steps(2);
    types(&mut harness, &bench, "duck, seal");
    press(&mut harness, Key::Enter);
    let axis =
        Command::Axes(AxisCommand::Set { axis: Axis::Y, from: "mineral".to_owned(), to: "duck, seal".to_owned() });
    assert_eq!(bench.borrow().commands.last(), Some(&axis));
    let row = AxesModel::of(&bench.borrow().kernel.snapshot()).expect("a space").rows[1].clone();
    let said = format!("Axis Y: mineral → duck, seal, {:.1} % of the variance", row.variance * 100.0);
    assert!(says(&harness, &said));
    click(&mut harness, "Reset axis Y");
    assert_eq!(basis().chosen[1], None);
    assert!(basis().fitted.is_some());
    click(&mut harness, "Reset the axes");
    assert_eq!(basis(), Default::default());
}
