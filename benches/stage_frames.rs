//! Times frames of the stage with more and more points, at 1280x720, while the camera orbits and at rest.
//!
//!     cargo bench --profile dev --bench stage_frames [-- COUNT ...]
//!
//! Prints a JSON object a line. `orbit` is a whole frame, from the input until the graphics card is done. `load` is the
//! CPU work that is done once for a scene, and `search` is `load` after a letter of a search was typed. `still` is the
//! CPU work in each frame without motion, including labels and picking, and `pass of an orbit` the same while the
//! camera turns. The last lines are `orbit` while the kernel's thread trains apple from scratch over and over, and
//! whole windows of apple: an orbit, and a step of its walk while its ribbons grow.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use attune::app::stage::canvas::{Floating, StageControls, picture_ui};
use attune::app::stage::frame::StageTab;
use attune::app::stage::geometry;
use attune::app::stage::pick::PointIndex;
use attune::app::stage::projection::SceneRef;
use attune::app::stage::state::StageState;
use attune::app::theme::{self, Palette, fonts};
use attune::app::ui_state::search::{Emphasis, Search};
use attune::app::ui_state::{Highlight, ViewState};
use attune::app::{PictureOptions, figure_app, picture_app};
use attune_core::kernel::{Command, Kernel, Worker};
use attune_core::lesson::Recipe;
use attune_view::explain::walk::Step;
use attune_view::view_model::stage::{AxisLabel, StageModel, WordPoint};
use bevy::app::App;
use bevy::math::Vec2;
use bevy::render::render_resource::PollType;
use bevy::render::renderer::RenderDevice;
use egui::{Context, Event, Pos2, RawInput, Rect, TextureId, pos2, vec2};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

const SIZE: (u32, u32) = (1280, 720);
/// The default numbers of points, which are compared with the first.
const COUNTS: [usize; 4] = [0, 100, 1_000, 10_000];
/// The number of frames before measuring.
const WARM: usize = 10;
/// The number of measured frames.
const FRAMES: usize = 120;
/// The camera's drag in each frame, in points of the screen.
const DRAG: Vec2 = Vec2::new(4.0, 0.5);
/// The number of words with a group, whose names are shown.
const GROUPED: usize = 40;

/// Returns a scene of words within a ball.
fn scene(count: usize) -> StageModel {
    let mut random = StdRng::seed_from_u64(1);
    let mut point = || loop {
        let at: [f32; 3] = std::array::from_fn(|_| random.random_range(-1.0..1.0));
        if at.iter().map(|x| x * x).sum::<f32>() <= 1.0 {
            return at;
        }
    };
    let word = |index: usize| WordPoint {
        text: format!("word{index}"),
        group: (index < GROUPED).then_some(index % 4),
        at: point(),
    };
    StageModel {
        words: (0..count).map(word).collect::<Vec<_>>().into(),
        origin: "trained",
        groups: ["a", "b", "c", "d"].map(str::to_owned).to_vec(),
        axes: ["PC1", "PC2", "PC3"].map(|name| AxisLabel { name: name.to_owned(), ends: None }).to_vec(),
        radius: 1.0,
        ..StageModel::default()
    }
}

fn tell(points: usize, what: &str, mut times: Vec<f64>) {
    times.sort_by(f64::total_cmp);
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    println!(
        r#"{{"points":{points},"what":"{what}","median_ms":{:.3},"p99_ms":{:.3},"frames":{}}}"#,
        at(0.5),
        at(0.99),
        times.len()
    );
}

/// Returns the duration of each frame, in milliseconds.
fn timed(mut frame: impl FnMut()) -> Vec<f64> {
    (0..WARM).for_each(|_| frame());
    let time = |_| {
        let begun = Instant::now();
        frame();
        1e3 * begun.elapsed().as_secs_f64()
    };
    (0..FRAMES).map(time).collect()
}

fn frame(app: &mut App) {
    app.update();
    let device = app.world().resource::<RenderDevice>();
    device.poll(PollType::wait_indefinitely()).expect("the graphics card answers");
}

fn app(model: Arc<StageModel>) -> App {
    let mut app = figure_app(SIZE, false).unwrap_or_else(|fault| panic!("{fault}"));
    let world = app.world_mut();
    let mut view = ViewState::default();
    (view.figure.is_on, view.figure.bare, view.preferences.reduced_motion) = (true, true, true);
    world.insert_resource(view);
    world.resource_mut::<StageState>().points = Some(model);
    app
}

/// Does the work that is needed once for a scene, and again for each letter of a search: the found points, the
/// instances as bytes, and everything else that does not depend on the camera.
fn load(model: &Arc<StageModel>, search: &str) {
    let search = Search { text: search.to_owned(), is_pattern: false };
    let emphasis = Arc::new(Emphasis::of(model, &Highlight { search, ..Highlight::default() }, &[]));
    black_box(geometry::bytes(geometry::instances(model, &emphasis, true, Palette::of(false))));
    black_box(PointIndex::of(model, &emphasis));
}

/// Times the stage's own pass, with the pointer over it and the camera turned by `turn` in each frame.
fn passes(model: &Arc<StageModel>, turn: Vec2) -> Vec<f64> {
    let ctx = Context::default();
    ctx.set_fonts(fonts::definitions());
    theme::apply(&ctx);
    let (mut controls, mut view, emphasis) =
        (StageControls::default(), ViewState::default(), Arc::new(Emphasis::default()));
    let mut passes = Vec::new();
    let mut count = 0u32;
    timed(|| {
        count += 1;
        let size = vec2(SIZE.0 as f32, SIZE.1 as f32);
        let input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, size)),
            time: Some(f64::from(count) / 60.0),
            events: vec![Event::PointerMoved(pos2(640.0, 360.0))],
            ..RawInput::default()
        };
        controls.rig.orbit(turn);
        let mut output = ctx.run_ui(input, |ui| {
            let begun = Instant::now();
            let scene = SceneRef { model, emphasis: &emphasis, path: None, walk: None, patches: None };
            picture_ui(
                ui,
                Some(scene),
                &mut controls,
                &mut view.for_panels(),
                Some(TextureId::User(0)),
                Floating::default(),
            );
            passes.push(1e3 * begun.elapsed().as_secs_f64());
        });
        output.textures_delta.clear();
    });
    passes.split_off(passes.len().saturating_sub(FRAMES))
}

/// A number of points as in a lesson.
const OF_A_LESSON: usize = 100;

/// Times frames while the kernel trains in parallel.
fn orbit_while_training() -> Vec<f64> {
    let text = include_str!("../lessons/apple.ron");
    let lesson = attune_core::lesson::parse("apple.ron", text).expect("no issues");
    let worker = Worker::spawn(Arc::new(lesson), || {});
    assert!(worker.settle(Duration::from_secs(60)), "apple is trained");
    let mut app = app(Arc::new(scene(OF_A_LESSON)));
    let mut seed = 0;
    timed(|| {
        if worker.is_answered() && worker.latest().retraining.is_none() {
            seed += 1;
            worker.send(Command::Retrain(Box::new(Recipe { seed: Some(seed), ..Recipe::default() })));
        }
        app.world_mut().resource_mut::<StageTab>().controls.rig.orbit(DRAG);
        frame(&mut app);
    })
}

/// Times whole windows of apple: while the camera orbits, and while the step of the scores plays.
fn windows_of_apple() -> [Vec<f64>; 2] {
    let lesson = attune_core::lesson::parse("apple.ron", include_str!("../lessons/apple.ron")).expect("no issues");
    let snapshot = Arc::new(Kernel::trained(Arc::new(lesson)).snapshot());
    let options = PictureOptions { workspace: true, size: SIZE, ..PictureOptions::of(snapshot) };
    let mut app = picture_app(&options).unwrap_or_else(|fault| panic!("{fault}"));
    let orbit = timed(|| {
        app.world_mut().resource_mut::<StageTab>().controls.rig.orbit(DRAG);
        frame(&mut app);
    });
    let mut frames = 0;
    let ribbons = timed(|| {
        frames = (frames + 1) % FRAMES;
        let at = Step::Project.index() as f32 + frames as f32 / FRAMES as f32;
        app.world_mut().resource_mut::<ViewState>().walk.set(at);
        frame(&mut app);
    });
    [orbit, ribbons]
}

fn main() {
    // Cargo passes a flag of its own, which is skipped.
    let asked: Vec<usize> = std::env::args().skip(1).filter_map(|count| count.parse().ok()).collect();
    let mut empty = None;
    for count in if asked.is_empty() { COUNTS.to_vec() } else { asked } {
        let model = Arc::new(scene(count));
        tell(count, "still", passes(&model, Vec2::ZERO));
        tell(count, "pass of an orbit", passes(&model, DRAG));
        tell(count, "load", timed(|| load(&model, "")));
        // The first letter finds every word; three more leave a hundredth of them.
        for text in ["w", "d123"] {
            tell(count, &format!("search for {text}"), timed(|| load(&model, text)));
        }
        let mut app = app(model);
        let orbit = timed(|| {
            app.world_mut().resource_mut::<StageTab>().controls.rig.orbit(DRAG);
            frame(&mut app);
        });
        let mut sorted = orbit.clone();
        sorted.sort_by(f64::total_cmp);
        let median = sorted[sorted.len() / 2];
        tell(count, "orbit", orbit);
        tell(count, "rest", timed(|| frame(&mut app)));
        let empty = *empty.get_or_insert(median);
        println!(r#"{{"points":{count},"what":"orbit beside an empty stage","times":{:.2}}}"#, median / empty);
    }
    tell(OF_A_LESSON, "orbit while apple is trained", orbit_while_training());
    let [orbit, ribbons] = windows_of_apple();
    tell(OF_A_LESSON, "window of apple, orbit", orbit);
    tell(OF_A_LESSON, "window of apple, ribbons", ribbons);
}
