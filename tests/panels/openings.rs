//! The pictures with which real models and recordings open: what a caption says is to be seen in the drawn axes.

use std::path::Path;
use std::sync::Arc;

use attune::app::stage::camera::CameraRig;
use attune::app::stage::geometry::{extent, scaled};
use attune_core::kernel::command::AxisCommand;
use attune_core::kernel::{Command, Kernel};
use attune_view::explain::result::{Moment, StageResult};
use attune_view::explain::walk::RouteModel;
use attune_view::view_model::gauge::GaugeModel;
use attune_view::view_model::stage::StageModel;
use bevy::math::{Vec2, Vec3};

/// Rooms that the picture has in windows of 900x600, 1280x720 and 1920x1080.
const ROOMS: [Vec2; 3] = [Vec2::new(548.0, 270.0), Vec2::new(570.0, 330.0), Vec2::new(950.0, 640.0)];
/// The least distance, in points of the screen, at which two ends are seen to be apart.
const APART: f32 = 60.0;

fn opened(path: &str) -> Kernel {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    Kernel::trained(Arc::new(attune_core::lesson::read(&path).expect("no issues")))
}

/// Returns how far two places are apart on the screen, in a view of this size.
fn apart(model: &StageModel, room: Vec2, ends: [[f32; 3]; 2]) -> f32 {
    let mut rig = CameraRig::default();
    rig.fit_now(extent(model), room);
    let view = rig.view(room);
    let [from, to] = ends.map(|at| view.project(Vec3::from(scaled(model, at))).expect("in front").at);
    from.distance(to)
}

#[test]
fn the_ends_of_every_opening_are_apart_and_named_by_its_words() {
    for path in [
        "lessons/encoder.ron",
        "lessons/layers.ron",
        "lessons/writer.ron",
        "lessons/depth",
        "lessons/writer",
        "tests/fixtures/recordings/sinks/run.safetensors",
        "tests/fixtures/recordings/with-proof/run.safetensors",
    ] {
        let snapshot = opened(path).snapshot();
        let model = StageModel::of(&snapshot).expect("points");
        let [from, to] = &model.ends[..] else { panic!("{path}: {:?}, {:?}", model.ends, model.note) };
        for room in ROOMS {
            let seen = apart(&model, room, [from.points[0], to.points[0]]);
            assert!(seen >= APART, "{path}: {} and {} are {seen} px apart at {room}", from.name, to.name);
        }
        let text: String = model.tokens.iter().map(|token| token.text.trim_start_matches("##")).collect();
        for end in [from, to] {
            let word = end.name.trim_end_matches(|letter: char| !letter.is_ascii_alphanumeric());
            let first = word.split(['₁', '₂', '₃', ' ']).next().expect("a name").to_lowercase();
            assert!(text.to_lowercase().contains(&first), "{path}: “{}” is no word of {text}", end.name);
        }
        assert!(GaugeModel::of(&snapshot).is_some_and(|gauge| gauge.has_moves()), "{path}");
        assert_eq!(model.note, None, "{path}");
    }
}

#[test]
fn the_two_banks_of_the_encoder_end_at_two_different_points() {
    let snapshot = opened("lessons/encoder.ron").snapshot();
    let model = StageModel::of(&snapshot).expect("points");
    let banks: Vec<[f32; 3]> =
        model.tokens.iter().filter(|token| token.text == "bank").map(|token| token.end).collect();
    let [first, second] = banks[..] else { panic!("{banks:?}") };
    for room in ROOMS {
        let seen = apart(&model, room, [first, second]);
        assert!(seen >= APART, "{seen} px at {room}");
    }
    let reached: Vec<Option<usize>> =
        model.tokens.iter().filter(|token| token.text == "bank").map(|token| token.reaches).collect();
    assert_eq!(reached, [Some(0), Some(1)], "each takes the hue of its end");
}

#[test]
fn the_headline_of_a_real_model_is_about_a_word_that_says_something() {
    for path in ["lessons/encoder.ron", "lessons/depth", "lessons/writer"] {
        let snapshot = Arc::new(opened(path).snapshot());
        let route = RouteModel::of(&snapshot).expect("a model");
        let word = route.word(&[]).expect("words");
        let tokens = &snapshot.model.as_ref().expect("a model").sentence.tokens;
        assert!(!["the", "of", "on", "a", "an", "."].contains(&tokens[word].text.as_str()), "{path}");
        for moment in [Moment::Static, Moment::Contextual] {
            let told = StageResult::of(&snapshot, (moment, word, false)).map(|result| result.0);
            assert!(
                told.as_ref().is_none_or(|told| !told.contains("##") && !told.starts_with("“the”")),
                "{path}: {told:?}"
            );
        }
    }
}

#[test]
fn the_axis_stays_through_edits_until_it_is_refitted() {
    let mut kernel = opened("lessons/depth");
    let names = |kernel: &Kernel| {
        let snapshot = kernel.snapshot();
        let space = snapshot.space.expect("a space");
        (space.basis.ends(0).map(|ends| ends.map(str::to_owned)), space.basis == space.own_basis)
    };
    let (opening, is_own) = names(&kernel);
    assert!(opening.is_some() && is_own);
    let other = "The king put the money in the bank.";
    kernel.apply(Command::Sentence(attune_core::kernel::command::SentenceCommand::Set(other.to_owned())));
    assert_eq!(names(&kernel), (opening.clone(), true));
    kernel.apply(Command::Axes(AxisCommand::Refit));
    let (refitted, is_own) = names(&kernel);
    assert!(refitted.is_some() && refitted != opening && !is_own, "{refitted:?}");
    kernel.apply(Command::Axes(AxisCommand::ResetAll));
    assert_eq!(names(&kernel), (opening, true));
}
