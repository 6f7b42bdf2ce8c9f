//! The senses of a word: a list that is edited in place, undone, kept and measured; nothing of it is lost.

use std::sync::Arc;

use attune_core::kernel::command::{SenseCommand, SenseList, SenseSentence};
use attune_core::kernel::sentence_pass::senses::{MEASURED_MAX, SenseNote, SenseRow, SensesSnapshot};
use attune_core::kernel::{Command, Kernel, Saved};
use attune_core::lesson::Lesson;
use attune_view::view_model::meaning::{SenseCurve, SensesModel};
use attune_view::view_model::stage::StageModel;

use crate::common::close::{Tolerance, assert_close, assert_close_beside};
use crate::common::commands::{REFIT, RESET_AXES, sentence};
use crate::common::lessons::{self, BANK};

fn lesson() -> Arc<Lesson> {
    lessons::lesson(BANK)
}

fn bank() -> Kernel {
    Kernel::trained(lesson())
}

fn list(word: &str, sentences: &[(Option<char>, &str)]) -> SenseList {
    let sentence = |(sense, text): &(Option<char>, &str)| SenseSentence { text: (*text).to_owned(), sense: *sense };
    SenseList { word: word.to_owned(), sentences: sentences.iter().map(sentence).collect() }
}

#[track_caller]
fn apply(kernel: &mut Kernel, command: SenseCommand) {
    lessons::apply(kernel, Command::Senses(command.clone()));
    assert_eq!(kernel.snapshot().notice, None, "{command:?}");
}

fn senses(kernel: &Kernel) -> Arc<SensesSnapshot> {
    kernel.snapshot().model.expect("a model").senses
}

/// Sentences of the lesson, by its two senses.
fn sentences() -> SenseList {
    let (a, b) = (Some('A'), Some('B'));
    let sentences = [
        (a, "he sat by the bank of the river"),
        (a, "river bank flows"),
        (b, "money bank grows"),
        (a, "a fish near the bank of the lake"),
        (b, "he asked for a loan at the bank"),
        (b, "i withdraw cash at the bank"),
    ];
    list("bank", &sentences)
}

/// The lesson with those sentences on the stage.
fn with_senses() -> Kernel {
    let mut kernel = bank();
    apply(&mut kernel, SenseCommand::Replace(sentences()));
    apply(&mut kernel, SenseCommand::Show(true));
    kernel
}

/// Other words of the sentences would hide how the word's own points differ.
#[test]
fn axes_are_refitted_to_the_points_of_the_word_alone() {
    let mut kernel = with_senses();
    kernel.apply(RESET_AXES);
    kernel.apply(REFIT);
    kernel.settle();
    let snapshot = kernel.snapshot();
    let space = snapshot.space.as_ref().expect("a space");
    let fitted = space.basis.fitted.as_ref().expect("it was refitted");
    let points = &senses(&kernel).points;
    let count = points.len() * points[0].rows();
    // The middle of the points is the middle of the picture, but for rounding.
    for axis in 0..3 {
        let sum: f32 = points.iter().flat_map(|layer| (0..layer.rows()).map(|row| layer.get(row, axis))).sum();
        assert_close_beside(fitted.total().sqrt(), axis, sum / count as f32, 0.0, Tolerance::SINGLE_SUMS);
    }
}

#[test]
fn every_edit_of_the_list_is_undone_and_typing_is_one_edit() {
    let mut kernel = bank();
    apply(&mut kernel, SenseCommand::SetWord("ba".to_owned()));
    apply(&mut kernel, SenseCommand::SetWord("bank".to_owned()));
    for text in ["t", "the bank", "the bank lent"] {
        apply(&mut kernel, SenseCommand::SetText { index: 0, text: text.to_owned() });
    }
    apply(&mut kernel, SenseCommand::SetSense { index: 0, sense: Some('B') });
    apply(&mut kernel, SenseCommand::Insert(0));
    apply(&mut kernel, SenseCommand::SetText { index: 0, text: " a\tbank ".to_owned() });
    apply(&mut kernel, SenseCommand::Remove(1));
    apply(&mut kernel, SenseCommand::Show(true));
    apply(&mut kernel, SenseCommand::Replace(list("seal", &[(None, "a seal")])));
    let mut states = Vec::new();
    loop {
        let of = senses(&kernel);
        states.push((SenseList::clone(&of.list), of.is_on));
        if of.list.is_empty() {
            break;
        }
        kernel.apply(Command::Undo);
    }
    let expected = [
        (list("seal", &[(None, "a seal")]), true),
        (list("bank", &[(None, "a bank")]), true),
        (list("bank", &[(None, "a bank")]), false),
        (list("bank", &[(None, "a bank"), (Some('B'), "the bank lent")]), false),
        (list("bank", &[(None, ""), (Some('B'), "the bank lent")]), false),
        (list("bank", &[(Some('B'), "the bank lent")]), false),
        (list("bank", &[(None, "the bank lent")]), false),
        (list("bank", &[]), false),
        (list("", &[]), false),
    ];
    assert_eq!(states, expected);
    (1..expected.len()).for_each(|_| kernel.apply(Command::Redo));
    assert_eq!(*senses(&kernel).list, expected[0].0, "and all is done again");
}

#[test]
fn what_cannot_be_measured_is_said_beside_its_sentence() {
    let mut kernel = bank();
    let long = "the bank ".repeat(40);
    let given = list(
        "Bank",
        &[
            (None, "the bank pays the clerk"),
            (None, ""),
            (None, "the river"),
            (None, "the bank zzyzx"),
            (None, "bank"),
            (None, "a bank and a bank"),
            (None, &long),
        ],
    );
    let mut sentences = given.sentences.clone();
    sentences.resize(MEASURED_MAX + 1, SenseSentence { text: "the bank".to_owned(), sense: None });
    apply(&mut kernel, SenseCommand::Replace(SenseList { sentences, ..given }));
    apply(&mut kernel, SenseCommand::Show(true));
    let of = senses(&kernel);
    let left_out = |index: usize, words: &str| {
        let SenseRow::LeftOut(why) = &of.rows[index] else { panic!("{index}: {:?}", of.rows[index]) };
        assert!(why.contains(words), "{index}: {why}");
    };
    assert_eq!(of.rows[0], SenseRow::Found { pieces: 1..2, note: None }, "whatever the case");
    assert_eq!(of.rows[1], SenseRow::Waiting);
    left_out(2, "“Bank” is not in this sentence");
    left_out(3, "zzyzx");
    assert_eq!(of.rows[4], SenseRow::Found { pieces: 0..1, note: Some(SenseNote::Alone) });
    assert!(matches!(of.rows[5], SenseRow::Found { note: Some(SenseNote::Repeated(2)), .. }), "{:?}", of.rows[5]);
    left_out(6, "words");
    left_out(MEASURED_MAX, "first 20");
    assert_eq!(of.list.sentences.len(), MEASURED_MAX + 1, "nothing is lost");
    let measured = of.measured.as_ref().expect("those that can be");
    assert_eq!(measured.occurrences.len(), 3 + MEASURED_MAX - 7);
    // Sentences that are the same stay together.
    assert_close("the same sentence", measured.layers[0].cosines.get(0, 1), 1.0, Tolerance::SINGLE);
    let model = SensesModel::of(&kernel.snapshot()).expect("a model");
    assert_eq!(model.rows[2].said.as_deref(), Some("“Bank” is not in this sentence."));
    assert!(model.rows[2].is_left_out && !model.rows[4].is_left_out && !model.rows[1].is_left_out);
}

#[test]
fn a_word_that_no_sentence_could_have_is_said() {
    let mut kernel = bank();
    for (word, words) in [("banq", "bank"), ("the bank", "one word"), ("…", "one word")] {
        apply(&mut kernel, SenseCommand::SetWord(word.to_owned()));
        let why = senses(&kernel).word_fault.clone().unwrap_or_else(|| panic!("{word}"));
        assert!(why.contains(words), "{word}: {why}");
    }
    apply(&mut kernel, SenseCommand::SetWord("bank".to_owned()));
    assert_eq!(senses(&kernel).word_fault, None);
}

#[test]
fn two_senses_part_on_the_way_through_the_model() {
    let mut kernel = bank();
    apply(&mut kernel, SenseCommand::Replace(sentences()));
    assert!(senses(&kernel).measured.is_none(), "nothing is run before it is asked for");
    apply(&mut kernel, SenseCommand::Show(true));
    let model = SensesModel::of(&kernel.snapshot()).expect("a model");
    let of = |curve: SenseCurve, layer: usize| curve.of(&model.layers[layer], false).expect("a score");
    let last = model.layers.len() - 1;
    let first = [SenseCurve::Within, SenseCurve::Between].map(|curve| of(curve, 0));
    assert_close("one word", first, [1.0; 2], Tolerance::SINGLE);
    assert!(of(SenseCurve::Within, last) > of(SenseCurve::Between, last) + 0.1, "{:?}", model.layers);
    assert_eq!(of(SenseCurve::Nearest, last), 1.0, "{:?}", model.layers);
    let said = model.said.as_deref().expect("a sentence");
    assert!(said.starts_with(&format!("The senses are furthest apart after layer {last}: ")), "{said}");
    assert_eq!(model.waits_for, None);
    // On the stage: all at one place, then behind each layer where they are.
    let stage = StageModel::of(&kernel.snapshot()).expect("a stage").of_senses(&model);
    assert!(stage.tokens.is_empty() && stage.second.len() == sentences().sentences.len());
    assert!(stage.second.iter().all(|point| point.start == stage.second[0].start));
    assert!(stage.second[0].text.starts_with("1 "), "{}", stage.second[0].text);
    assert!(stage.groups.ends_with(&["sense A".to_owned(), "sense B".to_owned()]), "{:?}", stage.groups);
}

#[test]
fn an_empty_list_offers_the_sentences_that_the_lesson_speaks_of() {
    let mut kernel = bank();
    let suggested = || SensesModel::of(&kernel.snapshot()).expect("a model").suggestion;
    let offered = suggested().expect("a list");
    let of = |sense: char| offered.sentences.iter().filter(|sentence| sentence.sense == Some(sense)).count();
    assert_eq!((offered.word.as_str(), of('A'), of('B'), offered.sentences.len()), ("bank", 10, 10, MEASURED_MAX));
    apply(&mut kernel, SenseCommand::Replace(offered));
    assert!(senses(&kernel).rows.iter().all(|row| matches!(row, SenseRow::Found { .. })));
    assert_eq!(SensesModel::of(&kernel.snapshot()).expect("a model").suggestion, None);
}

/// The point of a sentence is that of the word when the sentence itself is on the stage.
#[test]
fn a_point_is_where_the_word_is_when_its_sentence_is_shown() {
    let (mut kernel, given) = (with_senses(), sentences());
    let points = senses(&kernel).points.clone();
    for (at, listed) in given.sentences.iter().enumerate() {
        kernel.apply(sentence(&listed.text));
        let shown = kernel.snapshot().model.expect("a model").sentence;
        let place = shown.tokens.iter().position(|token| token.text == "bank").expect("the word");
        for (points, expected) in [(&points[0], &shown.start), (points.last().expect("layers"), &shown.end)] {
            assert_eq!(points.row(at), expected.row(place), "{}", listed.text);
        }
    }
}

#[test]
fn the_list_is_kept_with_the_work_and_measured_again() {
    let kernel = with_senses();
    let (before, saved) = (senses(&kernel), Saved::of(&kernel.snapshot()));
    let json = serde_json::to_string(&saved).expect("a text");
    let again: Saved = serde_json::from_str(&json).expect("the same");
    let mut kernel = Kernel::open(lesson(), Some(again));
    kernel.settle();
    let after = senses(&kernel);
    assert_eq!((after.list.clone(), after.is_on), (before.list.clone(), true));
    assert_eq!(after.points, before.points, "to the bit");
    assert_eq!(kernel.snapshot().report.len(), 0);
    // What is in the file may be anything.
    let long = format!(r#""sentences":[{{"more":1,"text":"{}"#, "x".repeat(5000));
    let broken = json.replacen(r#""sentences":[{"text":""#, &long, 1);
    let mut kernel = Kernel::open(lesson(), serde_json::from_str(&broken).ok());
    kernel.settle();
    assert!(senses(&kernel).list.is_empty());
    let report = kernel.snapshot().report;
    assert!(report.iter().any(|said| said.contains("The list of senses is left out: \"xxx")), "{report:?}");
    // Nothing is written where nothing was listed.
    let json = serde_json::to_string(&Saved::of(&bank().snapshot())).expect("a text");
    assert!(!json.contains("Senses"));
}

#[test]
fn turned_weights_are_measured_anew_and_the_stage_shows_the_last_until_then() {
    use attune_core::kernel::command::WeightCommand;
    let mut kernel = with_senses();
    let before = senses(&kernel);
    let tensor = kernel.snapshot().model.expect("a model").parameters.specs()[0].id;
    kernel.apply(Command::Weights(WeightCommand::Perturb { tensor, scale: 1.0, draw: 7 }));
    let meanwhile = senses(&kernel);
    assert!(!meanwhile.is_current && meanwhile.measured.is_some());
    kernel.settle();
    let after = senses(&kernel);
    assert!(after.is_current && after.points.last() != before.points.last());
    kernel.apply(Command::Undo);
    kernel.settle();
    assert_eq!(senses(&kernel).points, before.points);
}
