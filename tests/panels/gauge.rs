//! Places of words between the two ends of the first axis.

use attune::app::stage::gauge::GaugeModel;
use attune_core::kernel::command::{Axis, AxisCommand, InterventionCommand};
use attune_core::kernel::{Command, Kernel};
use attune_core::lesson::schema::AxisEnds;
use attune_view::view_model::stage::StageModel;

use crate::common::close::{Tolerance, assert_close};
use crate::common::lessons::{SMALL, changed, kernel, lesson};

fn with_axis() -> Kernel {
    let ends = || AxisEnds { from: "mineral".to_owned(), to: "animal".to_owned() };
    Kernel::trained(changed(|lesson| lesson.axes = vec![ends()]))
}

fn gauge(kernel: &Kernel) -> GaugeModel {
    GaugeModel::of(&kernel.snapshot()).expect("a gauge")
}

#[test]
fn a_gauge_places_each_word_between_the_ends_exactly() {
    let kernel = with_axis();
    let (snapshot, gauge) = (kernel.snapshot(), gauge(&kernel));
    let (space, model) = (snapshot.space.as_ref().expect("a space"), snapshot.model.as_ref().expect("a model"));
    let centre = |group: usize| {
        let rows: Vec<usize> = (0..space.vocabulary.len()).filter(|&row| space.group_of[row] == Some(group)).collect();
        space.vectors.centroid(&rows)
    };
    let group = |name: &str| snapshot.lesson.groups.iter().position(|group| group.name == name).expect("a group");
    let (from, to) = (centre(group("mineral")), centre(group("animal")));
    let along = |x: &[f32], y: &[f32], z: &[f32]| -> f32 {
        x.iter().zip(y).zip(z).map(|((x, from), to)| (x - from) * (to - from)).sum()
    };
    let place = |vector: &[f32]| along(vector, &from, &to) / along(&to, &from, &to);
    assert_eq!(((gauge.from.as_str(), gauge.to.as_str()), gauge.marks.len()), (("mineral", "animal"), 7));
    assert_eq!(gauge.groups, [Some(group("mineral")), Some(group("animal"))]);
    for mark in &gauge.marks {
        let token = &model.sentence.tokens[mark.position];
        let (fixed, now) = (space.vectors.row(token.word.expect("a word")), mark.position);
        let expected = [place(&fixed), place(model.sentence.activations.output.row(now))];
        assert_close(format!("{mark:?}"), [mark.fixed, mark.now], expected, Tolerance::SINGLE_PASS);
        assert_eq!((mark.at(0.0), mark.at(1.0)), (mark.fixed, mark.now));
    }
}

#[test]
fn a_gauge_follows_the_axes_and_is_none_without_one() {
    assert_eq!(GaugeModel::of(&kernel(SMALL).snapshot()), None);
    let mut kernel = with_axis();
    let set = AxisCommand::Set { axis: Axis::X, from: "stone".to_owned(), to: "seal".to_owned() };
    kernel.apply(Command::Axes(set));
    assert_eq!(gauge(&kernel).to, "seal");
    kernel.apply(Command::Axes(AxisCommand::ResetAll));
    assert_eq!(gauge(&kernel).to, "animal");
}

/// There each word sees itself alone, until the mask is changed.
#[test]
fn where_attention_moves_no_word_there_is_no_move_to_show() {
    let text = r#"Lesson(
        id: "alone", title: "Alone", seed: 1,
        corpus: Sentences(["a b c", "c a b"]),
        static_embedding: Given({"a": [1, 0, 1, 2], "b": [0, 2, 3, 1], "c": [3, 3, 1, 0]}),
        model: Attention(
            heads: 1, objective: MaskedWord, projections: false, residual: false, positions: None, max_tokens: 3,
            mask: Custom([[true, false, false], [false, true, false], [false, false, true]]), steps: 0,
        ),
        axes: [Axis(from: "a", to: "b")],
        sentences: ["a b c"],
    )"#;
    let mut kernel = Kernel::trained(lesson(text));
    let moves = |kernel: &Kernel| {
        let stage = StageModel::of(&kernel.snapshot()).expect("points");
        (gauge(kernel).has_moves(), stage.has_moves())
    };
    assert_eq!(moves(&kernel), (false, false));
    kernel.apply(Command::Interventions(InterventionCommand::ToggleMask { query: 1, key: 0 }));
    assert_eq!(moves(&kernel), (true, true));
    assert_eq!(moves(&with_axis()), (true, true));
}

#[test]
fn the_marks_of_the_lit_words_are_shown_or_that_of_the_query() {
    let gauge = gauge(&with_axis());
    let labels = |lit: &[&str], query| -> Vec<String> {
        let lit: Vec<String> = lit.iter().map(|&word| word.to_owned()).collect();
        gauge.chosen(&lit, query).into_iter().map(|mark| mark.label.clone()).collect()
    };
    assert_eq!(labels(&[], None), [""; 0]);
    assert_eq!(labels(&[], Some(0)), [gauge.marks[0].label.clone()]);
    let lit = gauge.marks[1].text.clone();
    assert!(labels(&[&lit], None).iter().all(|label| label.starts_with(&lit)));
    let mark = &gauge.marks[0];
    let expected =
        format!("{}: from {:.2} to {:.2}, where 0 is mineral and 1 is animal", mark.label, mark.fixed, mark.now);
    assert_eq!(gauge.said(mark), expected);
}
