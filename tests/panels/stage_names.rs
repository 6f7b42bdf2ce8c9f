//! The names on the stage of every lesson, from several sides and in several sizes.
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use attune::app::stage::point_index::PointIndex;
use attune::app::stage::points::extent;
use attune::app::stage::projected::{ProjectedScene, SceneRef};
use attune::app::stage::view::{Hit, StageControls, picture_ui};
use attune::app::theme::{self, Palette, fonts};
use attune::app::view::ViewState;
use attune::kernel::Kernel;
use attune::kernel::command::{Command, SentenceCommand};
use attune::lesson::course;
use attune::lesson::schema::CellKind;
use attune::view_model::search::{Choice, Emphasis, Search, Visibility};
use attune::view_model::stage::StageModel;
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
}

impl Stage {
    fn draw(&mut self) {
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, vec2(self.size.0, self.size.1))),
            ..RawInput::default()
        };
        let mut view = ViewState::default();
        view.walk.set_time(self.time);
        let Self { ctx, model, emphasis, controls, .. } = self;
        ctx.run_ui(input, |ui| {
            let scene = SceneRef { model, emphasis, path: None, walk: None };
            picture_ui(ui, Some(scene), controls, &mut view.for_panels(), Some(TextureId::User(0)));
        })
        .textures_delta
        .clear();
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
        let Self { model, emphasis, controls, size, time, .. } = self;
        let rect = Rect::from_min_size(Pos2::ZERO, vec2(size.0, size.1));
        let projected = ProjectedScene {
            scene: SceneRef { model, emphasis, path: None, walk: None },
            point_index: &PointIndex::of(model, emphasis),
            projection: controls.rig.view(Vec2::new(size.0, size.1)),
            rect,
            time: *time,
            palette: Palette::of(false),
        };
        let seen = (0..model.tokens.len()).filter_map(|token| Some((token, projected.see(Hit::Token(token))?.at)));
        seen.filter(|(_, at)| rect.shrink(EDGE).contains(*at)).collect()
    }

    /// No two texts lie over each other, and none is cut off.
    #[track_caller]
    fn check(&self) {
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
    let lesson = attune::lesson::read(file).unwrap_or_else(|issues| panic!("{issues:#?}"));
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
        let choice = Choice { search: &Search::default(), is_isolated: false, lit: &lit, near: &[] };
        let emphasis = Arc::new(Emphasis::of(&model, choice));
        let ctx = Context::default();
        ctx.set_fonts(fonts::definitions());
        theme::apply(&ctx);
        let (model, name) = (Arc::new(model), name.clone());
        Stage { ctx, name, model, emphasis, controls: StageControls::default(), size: SIZES[0], time: 0.0 }
    };
    let first = stage(Vec::new(), 0);
    std::iter::once(first).chain(lit.map(|(sentence, words)| stage(words, sentence))).collect()
}

#[test]
fn names_of_every_lesson_never_overlap_and_the_sentence_is_named() {
    /// So many words that end around one point leave no room for the names of all.
    const CROWD: usize = 5;
    let lessons = course::list(&Path::new(env!("CARGO_MANIFEST_DIR")).join("lessons"));
    assert_eq!(lessons.len(), 15);
    // The vocabulary of a pretrained model is not on the stage.
    let is_toy = |path: &Path| attune::lesson::read(path).is_ok_and(|lesson| !lesson.static_embedding.is_pretrained());
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
    assert!(before.len() >= 15, "{} names", before.len());
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
