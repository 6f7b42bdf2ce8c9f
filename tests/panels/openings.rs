//! The pictures with which real models and recordings open: what a caption says is to be seen in the drawn axes.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use attune::app::stage::camera::CameraRig;
use attune::app::stage::geometry::{extent, scaled};
use attune_core::kernel::command::{AxisCommand, SentenceCommand, WeightCommand};
use attune_core::kernel::{Command, Kernel};
use attune_engine::numerics::params::{TensorId, TensorName};
use attune_view::explain::result::{Moment, StageResult};
use attune_view::explain::walk::RouteModel;
use attune_view::view_model::effects::WeightEffects;
use attune_view::view_model::gauge::GaugeModel;
use attune_view::view_model::stage::{StageModel, TokenPoint, WordPoint};
use bevy::math::{Vec2, Vec3};

/// Rooms that the picture has in windows of 900x600, 1280x720 and 1920x1080.
const ROOMS: [Vec2; 3] = [Vec2::new(548.0, 270.0), Vec2::new(570.0, 330.0), Vec2::new(950.0, 640.0)];
/// The least distance, in points of the screen, at which two ends are seen to be apart.
const APART: f32 = 100.0;

fn opened(path: &str) -> Kernel {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    Kernel::trained(Arc::new(attune_core::lesson::read(&path).expect("no issues")))
}

/// Returns where places are on the screen, in a view of this size.
fn seen<'a>(model: &'a StageModel, room: Vec2) -> impl Fn([f32; 3]) -> Vec2 + 'a {
    let mut rig = CameraRig::default();
    rig.fit_now(extent(model), room);
    let view = rig.view(room);
    move |at| view.project(Vec3::from(scaled(model, at))).expect("in front").at
}

/// Returns how far two places are apart on the screen, in a view of this size.
fn apart(model: &StageModel, room: Vec2, ends: [[f32; 3]; 2]) -> f32 {
    let [from, to] = ends.map(seen(model, room));
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
    let set = |kernel: &mut Kernel, text: &str| kernel.apply(Command::Sentence(SentenceCommand::Set(text.to_owned())));
    set(&mut kernel, "The trophy is small.");
    assert_eq!(names(&kernel), (opening.clone(), true));
    // A sentence that has no word of the axis is measured by itself.
    set(&mut kernel, "The king put the money in the bank.");
    let (measured, is_own) = names(&kernel);
    assert!(measured.is_some() && measured != opening && !is_own, "{measured:?}");
    kernel.apply(Command::Axes(AxisCommand::Refit));
    assert_eq!(names(&kernel), (measured, false));
    kernel.apply(Command::Axes(AxisCommand::ResetAll));
    assert_eq!(names(&kernel), (opening, true));
}

/// What a lesson's first caption says of the picture. Words are named by their labels.
enum Claim {
    /// A word moves more than half of the way to the middle of some words, to which it is then nearer than before.
    MovesTo(&'static str, &'static [&'static str]),
    /// A word moves nearly straight towards a word, and may pass it.
    MovesTowards(&'static str, &'static str),
    /// A word ends nearer to some words than another word does.
    IsNearer(&'static str, &'static str, &'static [&'static str]),
    /// Two words start at one point and end at different ones.
    Parts(&'static str, &'static str),
    /// All words end together.
    Meet,
    /// Every word moves towards the middle of all.
    MoveInwards,
    /// A word ends far from its goal.
    IsFarFrom(&'static str, &'static str),
    /// All words leave the line on which they start.
    LeaveTheLine,
}

const FRUITS: &[&str] = &["banana", "orange", "cherry"];
const COMPANIES: &[&str] = &["google", "microsoft", "amazon"];

const CLAIMS: [(&str, Claim); 16] = [
    ("apple", Claim::MovesTo("apple₁", COMPANIES)),
    ("apple", Claim::MovesTo("apple₂", FRUITS)),
    ("apple", Claim::Parts("apple₁", "apple₂")),
    ("bank", Claim::MovesTo("bank", &["lender", "broker", "treasury", "insurer"])),
    ("block", Claim::Meet),
    ("cross_attention", Claim::MovesTo("cinq", &["quatre"])),
    ("dot_product", Claim::MoveInwards),
    ("gradient", Claim::IsFarFrom("ask", "red")),
    ("idiom", Claim::MovesTo("cake", &["easy"])),
    ("induction", Claim::MovesTowards("hat₂", "dog")),
    ("it", Claim::MovesTo("it", &["street"])),
    ("masks", Claim::Parts("the₁", "the₂")),
    ("order", Claim::MovesTo("hat₂", &["dog"])),
    ("qkv", Claim::LeaveTheLine),
    ("scaling", Claim::MoveInwards),
    ("the_transformer", Claim::IsNearer("the₂", "the₁", &["mat", "rug"])),
];

/// An opening as it is seen: where each token starts and ends, by its label, and where words are.
struct Opening {
    tokens: Vec<(String, [Vec2; 2])>,
    words: Vec<(String, Vec2)>,
}

impl Opening {
    fn of(model: &StageModel, room: Vec2) -> Self {
        let seen = seen(model, room);
        let token = |token: &TokenPoint| (token.label(), [token.start, token.end].map(&seen));
        let word = |word: &WordPoint| (word.text.to_string(), seen(word.at));
        Self { tokens: model.tokens.iter().map(token).collect(), words: model.words.iter().map(word).collect() }
    }

    fn token(&self, label: &str) -> [Vec2; 2] {
        let found = self.tokens.iter().find(|(own, _)| own == label);
        found.unwrap_or_else(|| panic!("{label}: {:?}", self.tokens)).1
    }

    fn middle_of(&self, words: &[&str]) -> Vec2 {
        let found: Vec<Vec2> =
            self.words.iter().filter(|(word, _)| words.contains(&word.as_str())).map(|(_, at)| *at).collect();
        assert_eq!(found.len(), words.len(), "{words:?}: {:?}", self.words);
        found.iter().sum::<Vec2>() / found.len() as f32
    }

    /// Returns the middle of all tokens at one end of their moves, and the mean distance from it.
    fn spread(&self, end: usize) -> (Vec2, f32) {
        let count = self.tokens.len() as f32;
        let middle = self.tokens.iter().map(|(_, ends)| ends[end]).sum::<Vec2>() / count;
        (middle, self.tokens.iter().map(|(_, ends)| ends[end].distance(middle)).sum::<f32>() / count)
    }

    /// Returns whether the picture shows what the caption says, with the measured numbers.
    fn shows(&self, claim: &Claim) -> (bool, String) {
        /// Distance on the screen at which two discs are seen side by side.
        const SIDE_BY_SIDE: f32 = 24.0;
        /// Least cosine between two ways that look like one.
        const STRAIGHT: f32 = 0.95;
        match claim {
            Claim::MovesTo(word, words) => {
                let ([from, to], goal) = (self.token(word), self.middle_of(words));
                let way = (to - from).dot(goal - from) / (goal - from).length_squared();
                let is_nearer = to.distance(goal) < from.distance(goal);
                (way > 0.5 && is_nearer, format!("{word} goes {way} of the way to {words:?}"))
            }
            Claim::MovesTowards(word, goal) => {
                let [from, to] = self.token(word);
                let cosine = (to - from).normalize().dot((self.middle_of(&[goal]) - from).normalize());
                (cosine > STRAIGHT, format!("{word} to {goal}: {cosine}"))
            }
            Claim::IsNearer(near, far, words) => {
                let [near, far] = [near, far].map(|word| self.token(word)[1].distance(self.middle_of(words)));
                (near < far, format!("{near}, {far}"))
            }
            Claim::Parts(first, second) => {
                let [first, second] = [self.token(first), self.token(second)];
                let [before, now] = [0, 1].map(|end| first[end].distance(second[end]));
                (before < 1.0 && now >= SIDE_BY_SIDE, format!("{before}, {now}"))
            }
            Claim::Meet => {
                let [(_, before), (_, now)] = [0, 1].map(|end| self.spread(end));
                (now < SIDE_BY_SIDE && before > SIDE_BY_SIDE, format!("{before} to {now}"))
            }
            Claim::MoveInwards => {
                let (middle, _) = self.spread(0);
                let ways: Vec<f32> =
                    self.tokens.iter().map(|(_, [from, to])| from.distance(middle) - to.distance(middle)).collect();
                (ways.iter().all(|way| *way > 0.0), format!("{ways:?}"))
            }
            Claim::IsFarFrom(word, goal) => {
                let apart = self.token(word)[1].distance(self.middle_of(&[goal]));
                (apart >= 2.0 * SIDE_BY_SIDE, format!("{apart}"))
            }
            Claim::LeaveTheLine => {
                let [first, last] = [&self.tokens[0], &self.tokens[self.tokens.len() - 1]].map(|(_, ends)| ends[0]);
                let across = (last - first).normalize().perp();
                let off: Vec<[f32; 2]> =
                    self.tokens.iter().map(|(_, ends)| ends.map(|at| (at - first).dot(across).abs())).collect();
                (off.iter().all(|[before, now]| *before < 1.0 && *now >= SIDE_BY_SIDE / 2.0), format!("{off:?}"))
            }
        }
    }
}

#[test]
fn the_first_picture_of_every_lesson_shows_what_its_caption_says() {
    let mut untrue = Vec::new();
    for lesson in CLAIMS.iter().map(|(lesson, _)| *lesson).collect::<BTreeSet<_>>() {
        let model = StageModel::of(&opened(&format!("lessons/{lesson}.ron")).snapshot()).expect("points");
        for room in ROOMS {
            let opening = Opening::of(&model, room);
            for (_, claim) in CLAIMS.iter().filter(|(own, _)| *own == lesson) {
                let (is_seen, told) = opening.shows(claim);
                if !is_seen {
                    untrue.push(format!("{lesson} at {room}: {told}"));
                }
            }
        }
    }
    assert!(untrue.is_empty(), "{}", untrue.join("\n"));
}

/// The button *Find one that matters* selects the strongest entry, whose slider reaches at least this far.
#[test]
fn the_slider_of_an_entry_that_matters_moves_the_word_visibly() {
    const REACH: f32 = 2.0;
    const SEEN: f32 = 12.0;
    let mut kernel = opened("lessons/apple.ron");
    let snapshot = kernel.snapshot();
    let model = StageModel::of(&snapshot).expect("points");
    let effects = WeightEffects::of(&snapshot, 0).expect("a model");
    let matrices =
        [TensorName::QueryWeights, TensorName::KeyWeights, TensorName::ValueWeights, TensorName::OutputWeights];
    for tensor in matrices.map(TensorId::from) {
        let (row, col) = effects.of_tensor(tensor).expect("a small model").strongest().expect("it moves");
        let ways = [-REACH, REACH].map(|value| {
            kernel.apply(Command::Weights(WeightCommand::Set { tensor, row, col, value }));
            let end = StageModel::of(&kernel.snapshot()).expect("points").tokens[0].end;
            apart(&model, ROOMS[0], [model.tokens[0].end, end])
        });
        kernel.apply(Command::Weights(WeightCommand::ResetAll));
        assert!(ways.iter().any(|way| *way >= SEEN), "{tensor}[{row}, {col}]: {ways:?} px");
    }
}
