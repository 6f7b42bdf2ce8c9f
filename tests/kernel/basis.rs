//! The axes of the picture: fitted again or chosen, undone, kept, and always one linear map.

use attune_core::kernel::command::{Axis, AxisCommand, Reference};
use attune_core::kernel::snapshot::StaticSpace;
use attune_core::kernel::{Command, Kernel, Saved, Snapshot};
use attune_core::lesson::Recipe;
use attune_core::lesson::schema::AxisEnds;
use attune_engine::numerics::params::TensorName;
use attune_engine::numerics::projection::Projection;
use attune_engine::numerics::shares::Shares;
use attune_engine::numerics::spread::Spread;
use attune_engine::numerics::vectors::dot;
use attune_view::explain::path::{ArrowParts, PathModel};
use attune_view::view_model::axes::AxesModel;
use attune_view::view_model::stage::StageModel;

use crate::common::close::{Tolerance, assert_close};
use crate::common::commands::{REFIT, RESET_AXES, SHOW_LATEST, axis, compare, retraining, scrub, set, train_to};
use crate::common::lessons::{SMALL, apply, changed, formed, lesson, notice, with};
use crate::common::resaved::{open, reread, saved};

fn space(snapshot: &Snapshot) -> &StaticSpace {
    snapshot.space.as_deref().expect("a space")
}

fn skewed() -> [Command; 2] {
    [axis(Axis::X, "mineral", "animal"), axis(Axis::Z, "stone", "seal, duck")]
}

/// Everything that is drawn.
fn stage(kernel: &Kernel) -> StageModel {
    StageModel::of(&kernel.snapshot()).expect("a space")
}

#[test]
fn an_axis_runs_from_the_centre_of_one_group_to_that_of_another() {
    let snapshot = with(&[axis(Axis::Y, "mineral", "animal")]).snapshot();
    let space = space(&snapshot);
    let row = |word: &str| space.vocabulary.iter().position(|known| known == word).expect("a word");
    let centre = |words: [&str; 2]| space.vectors.centroid(&words.map(row));
    let (from, to) = (centre(["stone", "iron"]), centre(["duck", "fish"]));
    let way: Vec<f32> = to.iter().zip(&from).map(|(to, from)| to - from).collect();
    let arrow = space.projection.direction(&way);
    let length = dot(&way, &way).sqrt();
    assert_close("the other axes are at right angles", arrow, [0.0, length, 0.0], Tolerance::SINGLE_PASS);
    let axes = StageModel::of(&snapshot).expect("a space").axes;
    let names: Vec<&str> = axes.iter().map(|axis| axis.name.as_str()).collect();
    assert_eq!(names, ["PC1", "mineral → animal", "PC2"]);
    assert!(AxesModel::of(&snapshot).expect("a space").rows[1].variance > 0.0);
}

#[test]
fn arrows_add_up_whatever_the_axes_are() {
    let kernel = with(&[&skewed()[..], &[REFIT]].concat());
    let snapshot = kernel.snapshot();
    assert!(!space(&snapshot).projection.is_orthogonal());
    for by in [ArrowParts::Word, ArrowParts::Head, ArrowParts::Both] {
        for query in 0..7 {
            let path = PathModel::of(&snapshot, query, 0, by).expect("a path");
            let tip = path.arrows.last().expect("an arrow").to;
            assert_close("the tip", tip, path.to, Tolerance::SINGLE_SUMS);
        }
    }
    // The static points and the contextual ones are in one basis.
    let model = snapshot.model.as_ref().expect("a model");
    let (space, sentence) = (space(&snapshot), &model.sentence);
    assert_eq!(space.points, space.projection.points(&space.vectors.widened()));
    assert_eq!(sentence.end, space.projection.points(&sentence.activations.output));
}

#[test]
fn a_refit_shows_more_of_what_is_on_the_stage_and_keeps_chosen_axes() {
    let variance = |kernel: &Kernel| {
        let end = kernel.snapshot().model.expect("a model").sentence.end.clone();
        let mean = |axis| (0..end.rows()).map(|row| end.get(row, axis)).sum::<f32>() / end.rows() as f32;
        let about = |row, axis| (end.get(row, axis) - mean(axis)).powi(2);
        (0..3).flat_map(|axis| (0..end.rows()).map(move |row| (row, axis))).map(|(r, a)| about(r, a)).sum::<f32>()
    };
    let (before, after) = (with(&[]), with(&[REFIT]));
    assert!(variance(&after) > variance(&before), "{} {}", variance(&after), variance(&before));
    let names = |kernel: &Kernel| stage(kernel).axes.into_iter().map(|axis| axis.name).collect::<Vec<_>>();
    let chosen = with(&[axis(Axis::X, "mineral", "animal"), REFIT]);
    assert_eq!(names(&chosen), ["mineral → animal", "PC1", "PC2"]);
}

#[test]
fn nothing_but_the_basis_changes_and_undo_brings_it_back_to_the_bit() {
    let first = stage(&with(&[]));
    for command in [REFIT, axis(Axis::X, "/^s/", "animal"), axis(Axis::Z, "seal", "iron")] {
        let mut kernel = with(std::slice::from_ref(&command));
        let (snapshot, plain) = (kernel.snapshot(), with(&[]).snapshot());
        let outputs = |snapshot: &Snapshot| snapshot.model.as_ref().expect("a model").sentence.activations.clone();
        assert!(outputs(&snapshot).output == outputs(&plain).output);
        let chosen = stage(&kernel);
        assert_ne!(chosen.words, first.words, "{command:?}");
        kernel.apply(Command::Undo);
        assert!(stage(&kernel) == first, "{command:?}");
        kernel.apply(Command::Redo);
        assert!(stage(&kernel) == chosen, "{command:?}");
        kernel.apply(RESET_AXES);
        assert!(stage(&kernel) == first, "{command:?}");
    }
    let label = with(&skewed()).snapshot().history.undo;
    assert_eq!(label.as_deref(), Some("axis Z: stone → seal, duck"));
    let one = with(&[&skewed()[..], &[Command::Axes(AxisCommand::Reset(Axis::X))]].concat());
    assert_eq!(stage(&one).axes[0].name, "PC1");
}

#[test]
fn vectors_of_few_dimensions_are_seen_as_they_are() {
    let text = r#"Lesson(
        id: "flat", title: "Flat", seed: 1, groups: { "ends": ["b", "c"] },
        corpus: Sentences(["a b c", "c a b"]),
        static_embedding: Given({"a": [1, 0], "b": [0, 2], "c": [3, 3]}),
        model: Attention(heads: 1, objective: MaskedWord, steps: 0),
        sentences: ["a b c"],
    )"#;
    let mut kernel = Kernel::trained(lesson(text));
    let points = |kernel: &Kernel| space(&kernel.snapshot()).points.clone();
    assert_eq!(points(&kernel).row(1), [0.0, 2.0, 0.0]);
    kernel.apply(REFIT);
    let few = "the vectors have 2 dimensions, so the picture already shows them as they are";
    assert_eq!(notice(&kernel).as_deref(), Some(few));
    kernel.apply(axis(Axis::Z, "a", "b"));
    assert_eq!(notice(&kernel).as_deref(), Some("there is no axis Z, because the vectors have only 2 dimensions"));
    assert_eq!(points(&kernel).row(1), [0.0, 2.0, 0.0]);
    let model = AxesModel::of(&kernel.snapshot()).expect("a space");
    assert_eq!(model.together, Some([1.0, 1.0]));
    assert!(model.warnings.is_empty() && !model.can_refit);
    kernel.apply(axis(Axis::X, "a", "ends"));
    assert_eq!(kernel.snapshot().notice, None);
}

#[test]
fn points_that_are_not_finite_make_no_basis() {
    let mut kernel = with(&[]);
    for col in 0..6 {
        kernel.apply(set(TensorName::OutputWeights, 0, col, f32::MAX));
    }
    let before = stage(&kernel).words;
    kernel.apply(REFIT);
    let snapshot = kernel.snapshot();
    let is_finite = space(&snapshot).points.flat().iter().all(|x| x.is_finite());
    assert!(is_finite);
    if snapshot.notice.is_some() {
        assert_eq!(stage(&kernel).words, before);
    }
    kernel.apply(compare(Reference::Trained));
}

fn saved_axes(kernel: &Kernel) -> Vec<Command> {
    let commands = Saved::of(&kernel.snapshot()).commands;
    commands.into_iter().filter(|command| matches!(command, Command::Axes(_))).collect()
}

#[test]
fn a_saved_basis_that_does_not_fit_is_left_out_with_words() {
    let fit = |width: usize, mean: f64, packed: usize, covariance: f64| {
        Command::Axes(AxisCommand::Fit { mean: vec![mean; width], covariance: vec![covariance; packed], meaning: None })
    };
    let opened = |command: Command| {
        let commands = vec![command, train_to(None)];
        open(lesson(SMALL), reread(&Saved { commands, ..Saved::default() }))
    };
    let cases = [
        axis(Axis::X, "nobody", "animal"),
        axis(Axis::X, "animal", "animal"),
        fit(5, 0.0, 15, 0.0),
        fit(6, 0.0, 5, 1.0),
        fit(6, f64::NAN, 21, 1.0),
        fit(6, 0.0, 21, f64::MAX),
    ];
    let plain = stage(&with(&[]));
    for command in cases {
        let kernel = opened(command.clone());
        assert_eq!(kernel.snapshot().report.len(), 1, "{command:?}");
        assert!(stage(&kernel) == plain, "{command:?}");
    }
    // One that no vectors could have: a picture all the same.
    let kernel = opened(fit(6, 1e100, 21, -1e100));
    AxesModel::of(&kernel.snapshot()).expect("axes");
}

#[test]
fn the_panel_says_what_each_axis_is_and_warns_where_little_is_shown() {
    let model = AxesModel::of(&with(&skewed()).snapshot()).expect("a space");
    assert_eq!(model.rows[0].meaning, "From the centre of mineral (2 words) to that of animal (2 words)");
    assert_eq!(model.rows[2].meaning, "From the centre of stone (1 word) to that of seal, duck (2 words)");
    assert_eq!(model.rows[2].chosen, Some(("stone".to_owned(), "seal, duck".to_owned())));
    assert!(model.is_changed && model.can_refit);
    let skewed = "The chosen axes are not at right angles, so distances in the picture are distorted.";
    assert!(model.warnings.iter().any(|warning| warning == skewed));
    let [plane, space] = model.together.expect("the words vary");
    assert!(0.0 <= plane && plane <= space && space <= 1.0);
    let narrow = SMALL.replace("dim: 6", "dim: 40");
    let narrow = AxesModel::of(&Kernel::trained(lesson(&narrow)).snapshot()).expect("a space");
    let [_, space] = narrow.together.expect("the words vary");
    assert_eq!(space < 0.5, narrow.warnings.iter().any(|warning| warning.contains("only")));
}

#[test]
fn the_axes_of_a_lesson_are_its_own_basis() {
    let ends = |from: &str, to: &str| AxisEnds { from: from.to_owned(), to: to.to_owned() };
    let lesson = changed(|lesson| lesson.axes = vec![ends("mineral", "animal")]);
    let kernel = || Kernel::trained(lesson.clone());
    let names = |kernel: &Kernel| stage(kernel).axes.into_iter().map(|axis| axis.name).collect::<Vec<_>>();
    let mut own = kernel();
    assert_eq!(names(&own), ["mineral → animal", "PC1", "PC2"]);
    // The same picture as a learner who chooses this axis has.
    let chosen = with(&[axis(Axis::X, "mineral", "animal")]);
    assert_eq!(stage(&own).words, stage(&chosen).words);
    assert!(!AxesModel::of(&own.snapshot()).expect("axes").is_changed);
    assert_eq!(saved_axes(&own), []);
    let first = stage(&own);
    for reset in [AxisCommand::Reset(Axis::X), AxisCommand::ResetAll] {
        own.apply(axis(Axis::X, "stone", "seal"));
        assert_eq!(names(&own), ["stone → seal", "PC1", "PC2"]);
        assert!(AxesModel::of(&own.snapshot()).expect("axes").is_changed && !saved_axes(&own).is_empty());
        own.apply(Command::Axes(reset));
        assert_eq!(stage(&own), first);
    }
    own.apply(REFIT);
    let again = open(lesson, saved(&own));
    assert_eq!(stage(&again), stage(&own), "what was kept comes back beside the lesson's axes");
}

/// The model's table of words.
fn table(snapshot: &Snapshot) -> &[f32] {
    snapshot.model.as_ref().expect("a model").parameters.values_of(TensorName::Embedding)
}

#[test]
fn the_stage_shows_the_table_that_the_model_trains_along_one_basis_for_all_steps() {
    let mut kernel = Kernel::trained(lesson(&formed("train_embedding: true, readout: Linear")));
    let trained = kernel.snapshot();
    let shown = space(&trained);
    assert_eq!(shown.vectors.widened().flat(), table(&trained));
    assert_eq!(shown.points, shown.projection.points(&shown.vectors.widened()));
    let sentence = &trained.model.as_ref().expect("a model").sentence;
    for (at, token) in sentence.tokens.iter().enumerate() {
        assert_eq!(sentence.start.row(at), shown.points.row(token.word.expect("a word")), "{}", token.text);
    }
    let given = Kernel::embedded(lesson(&formed("train_embedding: true, readout: Linear"))).snapshot();
    assert_ne!(shown.vectors, space(&given).vectors);
    let of_given = Projection::of_spread(&Spread::of(&space(&given).vectors.widened()));
    let seen = |projection: &Projection| {
        Shares::of_variance(projection, &shown.vectors.widened()).expect("vectors").seen(None)
    };
    assert!(
        seen(&shown.projection) > 0.999,
        "the axes are those of the trained table: four words lie in a space of three"
    );
    assert!(seen(&of_given) < 0.99);
    assert_eq!(space(&given).projection, shown.projection, "they are so before it is trained");

    // A past step lies elsewhere in the same picture; an edit moves its word.
    apply(&mut kernel, scrub(0));
    let past = kernel.snapshot();
    assert_eq!(space(&past).vectors, space(&given).vectors);
    assert_eq!(space(&past).projection, shown.projection);
    assert_eq!(stage(&kernel).radius, StageModel::of(&trained).expect("a space").radius);
    kernel.apply(SHOW_LATEST);
    kernel.apply(set(TensorName::Embedding, 1, 0, 3.0));
    let edited = kernel.snapshot();
    assert_eq!(space(&edited).vectors.widened().flat(), table(&edited));
    assert_ne!(space(&edited).points.row(1), shown.points.row(1));
    kernel.apply(Command::Undo);
    assert_eq!(space(&kernel.snapshot()).points, shown.points);
}

#[test]
fn a_model_trained_again_begins_with_the_table_that_was_given() {
    let mut kernel = Kernel::trained(lesson(&formed("train_embedding: true, readout: Linear")));
    let own = kernel.snapshot();
    let recipe = Recipe { model_rate: Some(0.02), ..Recipe::default() };
    apply(&mut kernel, retraining(recipe));
    let again = kernel.snapshot();
    assert_eq!(again.notice, None);
    let starts = [&own, &again].map(|snapshot| snapshot.model.as_ref().expect("a model").start.clone());
    assert_eq!(starts[0], starts[1]);
    assert_eq!(space(&again).vectors.widened().flat(), table(&again));
    assert_ne!(space(&again).vectors, space(&own).vectors);
}
