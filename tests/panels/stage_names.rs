//! The names on the stage of every lesson, from several sides and in several sizes.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use attune::app::stage::canvas::{Floating, Hit, StageControls, picture_ui};
use attune::app::stage::geometry::extent;
use attune::app::stage::labels::{NEAR, SAME_PLACE};
use attune::app::stage::names::{DrawnName, NameOwner};
use attune::app::stage::pick::PointIndex;
use attune::app::stage::projection::{ProjectedScene, SceneRef, SeenPoint};
use attune::app::theme::{self, Palette, fonts, size};
use attune::app::ui_state::search::{Emphasis, Visibility};
use attune::app::ui_state::{Highlight, ViewState};
use attune_core::kernel::Kernel;
use attune_core::kernel::command::{Command, SentenceCommand};
use attune_core::lesson::course;
use attune_core::lesson::schema::CellKind;
use attune_view::explain::path::PathModel;
use attune_view::explain::walk::{RouteModel, Step, WalkModel};
use attune_view::view_model::Model;
use attune_view::view_model::labels::Side;
use attune_view::view_model::stage::StageModel;
use bevy::math::Vec2;
use egui::{Context, Pos2, RawInput, Rect, TextureId, vec2};

/// The stage in a window of 900x600, in a picture of 900x560, and in windows of 1280x720 and 2560x1440.
const SIZES: [(f32, f32); 4] = [(558.0, 225.0), (900.0, 496.0), (844.0, 420.0), (1400.0, 900.0)];

/// Distance of words that share the room around them, in points.
const CROWDED: f32 = 50.0;

/// Nearer to the edge there is no room for a name.
const EDGE: f32 = 16.0;

/// A scene in a rectangle of the screen, and the camera in front of it.
struct Stage {
    ctx: Context,
    name: String,
    model: Arc<StageModel>,
    emphasis: Arc<Emphasis>,
    controls: StageControls,
    size: (f32, f32),
    time: f32,
    walk: Option<Walked>,
}

/// A step of the walk through a layer.
struct Walked {
    walk: Arc<WalkModel>,
    path: Arc<PathModel>,
    layers: usize,
    layer: usize,
    step: Step,
}

impl Walked {
    fn scene(&self) -> Option<(&WalkModel, Step)> {
        Some((&self.walk, self.step))
    }
}

impl Stage {
    fn scene(&self) -> SceneRef<'_> {
        SceneRef {
            model: &self.model,
            emphasis: &self.emphasis,
            path: self.walk.as_ref().map(|walked| &*walked.path),
            walk: self.walk.as_ref().and_then(Walked::scene),
            patches: None,
        }
    }

    fn draw(&mut self) {
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, vec2(self.size.0, self.size.1))),
            ..RawInput::default()
        };
        let mut view = ViewState::default();
        view.walk.set_time(self.time);
        if let Some(walked) = &self.walk {
            view.walk.set_layers(walked.layers);
            view.walk.set((walked.layer * Step::ALL.len() + walked.step.index()) as f32);
            view.selection.query = Some(walked.walk.focus.query).filter(|_| self.query().is_some());
        }
        let mut controls = std::mem::take(&mut self.controls);
        self.ctx
            .run_ui(input, |ui| {
                let scene = Some(self.scene());
                picture_ui(
                    ui,
                    scene,
                    &mut controls,
                    &mut view.for_panels(),
                    Some(TextureId::User(0)),
                    Floating::default(),
                );
            })
            .textures_delta
            .clear();
        self.controls = controls;
    }

    /// The word that has a ring.
    fn query(&self) -> Option<Hit> {
        let walk = &self.walk.as_ref()?.walk;
        (walk.query_side == Side::Sentence).then_some(Hit::Token(walk.focus.query))
    }

    fn home(&mut self, is_flat: bool) {
        self.controls = StageControls::default();
        self.controls.rig.open(is_flat);
        self.controls.rig.fit_now(extent(&self.model), Vec2::new(self.size.0, self.size.1));
    }

    fn names(&self) -> HashSet<Hit> {
        let words = (0..self.model.words.len()).map(Hit::Word);
        let all = words.chain((0..self.model.tokens.len()).map(Hit::Token));
        all.filter(|hit| self.controls.writing.name(*hit).is_some()).collect()
    }

    /// The words of the sentence that are in the picture and not at its very edge, and where.
    fn seen_tokens(&self) -> Vec<(usize, Pos2)> {
        let rect = self.rect();
        let seen = |hit: Hit| Some((hit, self.projected(&self.point_index()).see(hit)?.at));
        let tokens = (0..self.model.tokens.len()).filter_map(|token| Some((token, seen(Hit::Token(token))?.1)));
        tokens.filter(|(_, at)| rect.shrink(EDGE).contains(*at)).collect()
    }

    fn rect(&self) -> Rect {
        Rect::from_min_size(Pos2::ZERO, vec2(self.size.0, self.size.1))
    }

    fn point_index(&self) -> PointIndex {
        PointIndex::of(&self.model, &self.emphasis)
    }

    fn projected<'a>(&'a self, point_index: &'a PointIndex) -> ProjectedScene<'a> {
        ProjectedScene {
            scene: self.scene(),
            point_index,
            projection: self.controls.rig.view(Vec2::new(self.size.0, self.size.1)),
            rect: self.rect(),
            free: self.rect(),
            time: self.time,
            palette: Palette::of(false),
        }
    }

    /// Each name is at its own point, where it is read as that of no word of the sentence, or a hairline leads to its
    /// point; none covers a word of the sentence. Names of crowds are nearer to their words than to those of the
    /// sentence.
    #[track_caller]
    fn check_names(&self) {
        const ROUNDING: f32 = 1.0;
        let Self { name, size, .. } = self;
        let at = format!("{name} {size:?} at {}, {:?}", self.time, self.walk.as_ref().map(|walked| walked.step));
        let point_index = self.point_index();
        let projected = self.projected(&point_index);
        let tokens = (0..self.model.tokens.len()).filter_map(|token| projected.see(Hit::Token(token)));
        let tokens: Vec<SeenPoint> = tokens.filter(|point| self.rect().contains(point.at)).collect();
        for (owner, DrawnName { point, radius, placed }) in self.controls.writing.names() {
            let own = placed.rect.distance_to_pos(point);
            for token in tokens.iter().filter(|token| token.at.distance(point) > SAME_PLACE) {
                let text = projected.label(token.hit);
                assert!(!placed.rect.intersects(token.disc()), "{at}: the name of {owner:?} covers {text}");
                let ringed = SeenPoint { radius: token.radius + size::RING_GAP, ..*token };
                let is_ringed = self.query() == Some(token.hit);
                assert!(
                    !is_ringed || !placed.rect.intersects(ringed.disc()),
                    "{at}: {owner:?} covers the ring of {text}"
                );
                let is_nearer = placed.rect.distance_to_pos(token.at) + ROUNDING < own;
                assert!(!is_nearer || placed.leader.is_some(), "{at}: the name of {owner:?} is read as that of {text}");
            }
            match placed.leader {
                None => assert!(own - radius <= NEAR + ROUNDING, "{at}: the name of {owner:?} is {own} from its point"),
                Some([from, to]) => {
                    let rim = radius - ROUNDING..radius + ROUNDING;
                    assert!(rim.contains(&from.distance(point)), "{at}: {owner:?}");
                    assert!(placed.rect.expand(ROUNDING).contains(to), "{at}: {owner:?}");
                }
            }
        }
        for (group, rect) in self.controls.writing.crowds() {
            let is_own = |word: &usize| self.model.words[*word].group == Some(*group);
            let words = (0..self.model.words.len()).filter(is_own).filter_map(|word| projected.see(Hit::Word(word)));
            let own: Vec<Pos2> = words.map(|word| word.at).collect();
            let away = own.iter().map(|word| rect.distance_to_pos(*word)).fold(f32::INFINITY, f32::min);
            for token in tokens.iter().filter(|token| own.iter().all(|word| word.distance(token.at) > SAME_PLACE)) {
                let (group, text) = (&self.model.groups[*group], projected.label(token.hit));
                assert!(
                    rect.distance_to_pos(token.at) > away - ROUNDING,
                    "{at}: {group} is read as the name of {text}"
                );
            }
        }
    }

    /// No two texts lie over each other, and none is cut off.
    #[track_caller]
    fn check(&self) {
        self.check_names();
        let Self { name, size, time, .. } = self;
        let picture = Rect::from_min_size(Pos2::ZERO, vec2(size.0, size.1));
        let written = self.controls.writing.rects();
        for (i, text) in written.iter().enumerate() {
            assert!(picture.contains_rect(*text), "{name} {size:?} at {time}: {text:?} is cut off");
            let other = written[i + 1..].iter().find(|other| other.shrink(0.5).intersects(text.shrink(0.5)));
            assert_eq!(other, None, "{name} {size:?} at {time}: {text:?} is covered");
        }
    }
}

/// The pictures of a lesson: of its first sentence, and of its first stage cell where that lights some words.
fn stages(file: &Path) -> Vec<Stage> {
    let lesson = attune_core::lesson::read(file).unwrap_or_else(|issues| panic!("{issues:#?}"));
    let lit = lesson.cells.iter().find_map(|cell| match &cell.kind {
        CellKind::Stage { sentence, words, .. } if !words.is_empty() => Some((*sentence, words.clone())),
        _ => None,
    });
    let name = lesson.id.clone();
    let mut kernel = Kernel::trained(Arc::new(lesson));
    let mut stage = |lit: Vec<String>, sentence: usize| {
        kernel.apply(Command::Sentence(SentenceCommand::Select(sentence)));
        kernel.settle();
        let model = StageModel::of(&kernel.snapshot()).expect("trained");
        let emphasis = Arc::new(Emphasis::of(&model, &Highlight { lit, ..Highlight::default() }, &[]));
        let ctx = Context::default();
        ctx.set_fonts(fonts::definitions());
        theme::apply(&ctx);
        let (model, name) = (Arc::new(model), name.clone());
        let (controls, size) = (StageControls::default(), SIZES[0]);
        Stage { ctx, name, model, emphasis, controls, size, time: 0.0, walk: None }
    };
    let first = stage(Vec::new(), 0);
    std::iter::once(first).chain(lit.map(|(sentence, words)| stage(words, sentence))).collect()
}

#[test]
fn names_of_every_lesson_never_overlap_and_the_sentence_is_named() {
    /// So many words that end around one point leave no room for the names of all.
    const CROWD: usize = 5;
    let lessons = course::list(&Path::new(env!("CARGO_MANIFEST_DIR")).join("lessons"));
    assert_eq!(lessons.len(), 27);
    // The vocabulary of a pretrained model is not on the stage.
    let is_toy =
        |path: &Path| attune_core::lesson::read(path).is_ok_and(|lesson| !lesson.static_embedding.is_pretrained());
    let mut nameless = Vec::new();
    for lesson in lessons.into_iter().filter(|lesson| is_toy(&lesson.path)) {
        for (place, mut stage) in stages(&lesson.path).into_iter().enumerate() {
            let is_lit = place > 0;
            for (size, is_flat) in SIZES.into_iter().flat_map(|size| [(size, true), (size, false)]) {
                stage.size = size;
                stage.home(is_flat);
                for turn in 0..6 {
                    if turn > 0 {
                        stage.controls.rig.orbit(Vec2::new(if is_flat { 0.0 } else { 90.0 }, 5.0));
                    }
                    for time in [0.0, 0.4, 1.0] {
                        stage.time = time;
                        stage.draw();
                        stage.check();
                    }
                    let (names, seen) = (stage.names(), stage.seen_tokens());
                    for (position, at) in seen.iter().filter(|(position, _)| !names.contains(&Hit::Token(*position))) {
                        let crowd = seen.iter().filter(|(_, other)| other.distance(*at) < CROWDED).count();
                        let is_chosen = is_lit && stage.emphasis.token(*position) == Visibility::Lit;
                        if is_chosen || crowd < CROWD {
                            let (name, text) = (&stage.name, stage.model.tokens[*position].label());
                            nameless.push(format!("{name} {size:?}, flat {is_flat}, turn {turn}: {text} at {at:?}"));
                        }
                    }
                }
            }
        }
    }
    assert!(nameless.is_empty(), "words of the sentence have no name: {nameless:#?}");
}

fn apple() -> Stage {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("lessons/apple.ron");
    let mut stage = stages(&file).remove(0);
    (stage.size, stage.time) = (SIZES[3], 1.0);
    stage
}

#[test]
fn over_a_few_degrees_of_orbit_nearly_all_names_stay() {
    /// Drags of half a degree.
    const STEP: f32 = 1.25;
    let mut stage = apple();
    stage.home(false);
    stage.draw();
    let before = stage.names();
    assert!(before.len() >= 10, "{} names", before.len());
    for _ in 0..8 {
        stage.controls.rig.orbit(Vec2::new(STEP, 0.0));
        stage.draw();
    }
    let after = stage.names();
    let changed = before.symmetric_difference(&after).count();
    assert!(changed * 10 <= before.len(), "{changed} of {} names changed", before.len());
}

#[test]
fn from_near_more_words_have_names() {
    let mut stage = apple();
    stage.home(true);
    stage.draw();
    let plain = |stage: &Stage| {
        let is_plain = |hit: &Hit| matches!(hit, Hit::Word(word) if stage.model.words[*word].group.is_none());
        stage.names().iter().filter(|hit| is_plain(hit)).count()
    };
    let far = plain(&stage);
    stage.controls.rig.zoom(400.0, Vec2::ZERO, stage.size.0 / stage.size.1);
    stage.controls.rig.advance(f32::INFINITY);
    stage.draw();
    stage.check();
    let near = plain(&stage);
    assert!(near > far + 5, "{near} names of words without a group from near, {far} from far");
}

/// The steps of the walk through each layer of a lesson that the word of its first stage cell takes.
fn walks(kernel: &Kernel, name: &str) -> Vec<Stage> {
    let snapshot = Arc::new(kernel.snapshot());
    let (route, whole) = (RouteModel::of(&snapshot).expect("a model"), StageModel::of(&snapshot).expect("trained"));
    let ctx = Context::default();
    ctx.set_fonts(fonts::definitions());
    theme::apply(&ctx);
    let word = route.word(&[]).expect("words");
    let mut stages = Vec::new();
    for (layer, step) in (0..route.layers.len()).flat_map(|layer| Step::ALL.map(|step| (layer, step))) {
        let mut model = whole.clone();
        for token in model.tokens.iter_mut().filter(|_| route.layers.len() > 1) {
            (token.start, token.end) = route.way(token.position, layer).expect("a way");
            token.trained_end = token.end;
        }
        let head = route.head(layer, word).expect("a head");
        let focus = route.focus(word, head, None);
        let walk = Arc::new(WalkModel::of(&snapshot, focus).expect("a walk"));
        let path = Arc::new(PathModel::make(&snapshot, &(focus.query, head, None), None).expect("a path"));
        let model = Arc::new(model);
        let partners = walk.partners(step);
        let is_about = |token: usize| {
            let is_query = walk.query_side == Side::Sentence && walk.focus.query == token;
            step == Step::Contextual || is_query || walk.key_side == Side::Sentence && partners.contains(&token)
        };
        let emphasis = Arc::new(Emphasis::default().of_step(&model, is_about));
        let time = if step == Step::Contextual { 1.0 } else { 0.0 };
        let walk = Some(Walked { walk, path, layers: route.layers.len(), layer, step });
        let (ctx, name, controls) = (ctx.clone(), name.to_owned(), StageControls::default());
        stages.push(Stage { ctx, name, model, emphasis, controls, size: SIZES[0], time, walk });
    }
    stages
}

#[test]
fn names_with_numbers_are_at_their_points_at_every_step_of_a_walk() {
    /// The stage between two other columns of a window of 1280x720.
    const NARROW: (f32, f32) = (464.0, 362.0);
    for lesson in ["apple", "heads", "it", "cross_attention", "next_word"] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("lessons/{lesson}.ron"));
        let kernel = Kernel::trained(Arc::new(attune_core::lesson::read(&file).expect("no issues")));
        for mut stage in walks(&kernel, lesson) {
            for (size, is_flat) in
                [NARROW, SIZES[2], SIZES[3]].into_iter().flat_map(|size| [(size, true), (size, false)])
            {
                stage.size = size;
                stage.home(is_flat);
                for turn in 0..3 {
                    if turn > 0 && !is_flat {
                        stage.controls.rig.orbit(Vec2::new(130.0, 8.0));
                    }
                    stage.draw();
                    stage.check();
                }
            }
        }
    }
}

/// The names of two occurrences, and those of a source, where they are one point.
#[test]
fn occurrences_and_words_of_a_source_on_one_point_share_a_label() {
    let read = |lesson: &str| {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("lessons/{lesson}.ron"));
        walks(&Kernel::trained(Arc::new(attune_core::lesson::read(&file).expect("no issues"))), lesson)
    };
    let names = |stage: &mut Stage| {
        stage.size = SIZES[2];
        stage.home(true);
        stage.draw();
        stage.check();
        stage.controls.writing.names().collect::<HashMap<NameOwner, DrawnName>>()
    };
    let mut apple = read("apple").remove(Step::Softmax.index());
    let drawn = names(&mut apple);
    let [first, last] = [0, 10].map(|token| drawn[&NameOwner::Point(Hit::Token(token))]);
    assert_eq!(first, last, "one label");
    let mut cross = read("cross_attention").remove(Step::Mix.index());
    let drawn = names(&mut cross);
    let source = cross.walk.as_ref().expect("a walk").walk.source.len();
    assert_eq!(source, 5);
    let labels: Vec<DrawnName> = (0..source).map(|word| drawn[&NameOwner::Source(word)]).collect();
    assert!(labels.iter().all(|label| label == &labels[0]), "{labels:?}");
}
