//! A picture without a display shows each point where its projection says.
use std::path::{Path, PathBuf};
use std::sync::Arc;

use attune::app::encode::Form;
use attune::app::graphics::Recovery;
use attune::app::moving::Play;
use attune::app::moving::{self, MovingOptions, Stagehand};
use attune::app::stage::camera::CameraRig;
use attune::app::stage::geometry::{extent, scaled};
use attune::app::stage::view::View;
use attune::app::theme::{MARK_CONTRAST, Palette, contrast};
use attune::app::ui_state::ViewState;
use attune::app::{AppFault, PictureOptions, StageView, capture, draw, picture_app, render};
use attune_core::kernel::worker::Worker;
use attune_core::kernel::{Kernel, Snapshot};
use attune_engine::numerics::Matrix;
use attune_engine::panics;
use attune_engine::vectors::{Format, Table, write};
use attune_view::explain::walk::Step;
use attune_view::view_model::stage::StageModel;
use bevy::math::{Vec2, Vec3};
use bevy::prelude::App;
use bevy::render::render_resource::PollType;
use bevy::render::renderer::RenderDevice;
use egui::ecolor::{gamma_u8_from_linear_f32, linear_f32_from_gamma_u8};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::common::waiting::wait_for;

const LESSON: &str = r#"Lesson(
    id: "tiny", title: "Tiny", seed: 3,
    groups: { "fruit": ["pear", "plum"], "company": ["intel", "sony"] },
    corpus: Corpus(
        sentences: 60,
        topics: { "food": ["she ate a {fruit}"], "trade": ["{company} sold it"] },
    ),
    static_embedding: SkipGram(dim: 8, epochs: 3),
    model: Attention(heads: 1, objective: MaskedWord(rate: 0.3), steps: 1, batch: 4, learning_rate: 0.01),
    sentences: ["she ate a pear"],
    cells: [Stage(id: "pairs", lines: [("pear", "intel"), ("plum", "sony")])],
)"#;
const SIZE: (u32, u32) = (800, 600);
/// The figure's caption stands below the picture.
const CAPTION: f32 = 84.0;
/// Largest difference of a colour channel: discs are shaded.
const TOLERANCE: i32 = 32;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("attune-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    folder
}

fn snapshot(folder: &std::path::Path) -> Arc<Snapshot> {
    let path = folder.join("tiny.ron");
    std::fs::write(&path, LESSON).expect("the lesson is written");
    let lesson = attune_core::lesson::load::read(&path).unwrap_or_else(|issues| panic!("{issues:?}"));
    let worker = Worker::spawn(Arc::new(lesson), || {});
    wait_for(&worker, |snapshot| snapshot.model.is_some())
}

/// Skips a test that needs a GPU; fails it where a GPU is required.
fn skip(why: &str) {
    assert!(std::env::var_os("ATTUNE_REQUIRE_GPU").is_none(), "no GPU, not even a software one: {why}");
    eprintln!("SKIPPED: no GPU, not even a software one: {why}");
}

/// `None` where there is no graphics adapter at all.
fn picture(options: &PictureOptions, out: &Path) -> Option<image::RgbImage> {
    match render(options, out) {
        Ok(()) => Some(image::open(out).expect("a PNG").to_rgb8()),
        Err(AppFault::NoGpu(why)) => {
            skip(&why);
            None
        }
        Err(fault) => panic!("{fault}"),
    }
}

#[test]
fn a_point_is_where_its_projection_says() {
    let folder = folder("place");
    let snapshot = snapshot(&folder);
    let model = StageModel::of(&snapshot).expect("the static vectors are there");
    for (time, dark) in [(0.0, true), (1.0, false)] {
        let out = folder.join(format!("{time}.png"));
        let options = PictureOptions { time, size: SIZE, dark, ..PictureOptions::of(snapshot.clone()) };
        let Some(picture) = picture(&options, &out) else { return };
        assert_eq!(picture.dimensions(), SIZE);
        let palette = Palette::of(dark);
        check_tokens(&picture, &model, time, palette);
        // A picture of the other end is refused, and so is one of other colours.
        let mut inverted = picture.clone();
        inverted.iter_mut().for_each(|channel| *channel = u8::MAX - *channel);
        for (picture, time) in [(&picture, 1.0 - time), (&inverted, time)] {
            assert!(
                panics::quietly(|| check_tokens(picture, &model, time, palette)).is_err(),
                "another picture passes"
            );
        }
    }
    std::fs::remove_dir_all(folder).expect("the temporary folder goes");
}

/// A line of the grid or an axis may cross the disc's middle.
const AROUND: [(f32, f32); 5] = [(0.0, 0.0), (3.0, 0.0), (-3.0, 0.0), (0.0, 3.0), (0.0, -3.0)];

/// A part of a contrast, by the steps of a colour channel.
const ROUNDING: f32 = 0.1;

/// The difference in the channel that differs most.
fn off(picture: &image::RgbImage, at: Vec2, color: egui::Color32) -> i32 {
    let pixel = picture.get_pixel(at.x as u32, at.y as u32);
    let wanted = [color.r(), color.g(), color.b()];
    wanted.into_iter().zip(pixel.0).map(|(a, b)| i32::from(a.abs_diff(b))).max().unwrap_or(0)
}

/// The same, from the colour in the thickness of fog that fits best.
fn difference(picture: &image::RgbImage, at: Vec2, color: egui::Color32, palette: &Palette) -> i32 {
    const MOST_FOG: i32 = 60;
    let fogged = |percent: i32| color.lerp_to_gamma(palette.stage, percent as f32 / 100.0);
    (0..=MOST_FOG).map(|percent| off(picture, at, fogged(percent))).min().unwrap_or(0)
}

fn check_tokens(picture: &image::RgbImage, model: &StageModel, time: f32, palette: &Palette) {
    let mut rig = CameraRig::default();
    let size = Vec2::new(SIZE.0 as f32, SIZE.1 as f32 - CAPTION);
    rig.fit_now(extent(model), size);
    rig.open(model.opens_flat());
    check_seen(picture, model, time, palette, &rig.view(size));
}

fn check_seen(picture: &image::RgbImage, model: &StageModel, time: f32, palette: &Palette, view: &View) {
    let seen = |at: [f32; 3]| view.project(Vec3::from(scaled(model, at))).expect("in front of the camera");
    let mut checked = 0;
    for token in &model.tokens {
        let place = seen(token.at(time));
        // A point in front of it may hide it.
        let others = model.tokens.iter().filter(|other| other.position != token.position).map(|other| other.at(time));
        let is_resting = |word: &usize| !model.is_in_sentence(*word);
        let words = (0..model.words.len()).filter(is_resting).map(|word| model.words[word].at);
        if others.chain(words).any(|other| seen(other).at.distance(place.at) < 16.0) {
            continue;
        }
        let color = palette.token(token.group);
        // No fog takes the hue of a word of the sentence.
        let off = AROUND.iter().map(|(x, y)| off(picture, place.at + Vec2::new(*x, *y), color)).min();
        assert!(off <= Some(TOLERANCE), "{} at {}: off by {off:?} (time {time})", token.text, place.at);
        let contrasts = AROUND.iter().map(|(x, y)| {
            let pixel = picture.get_pixel((place.at.x + x) as u32, (place.at.y + y) as u32);
            contrast(egui::Color32::from_rgb(pixel[0], pixel[1], pixel[2]), palette.stage)
        });
        let most = contrasts.fold(0.0, f32::max);
        assert!(most >= MARK_CONTRAST - ROUNDING, "{} in the fog: contrast {most:.2} (time {time})", token.text);
        checked += 1;
    }
    assert!(checked > 0, "every token is hidden");
}

fn lose_device(app: &App) {
    let device = app.world().resource::<RenderDevice>();
    device.wgpu_device().destroy();
    device.poll(PollType::wait_indefinitely()).expect("nothing is left to do");
}

#[test]
fn a_lost_device_is_replaced_and_nothing_is_missing() {
    let folder = folder("lost");
    let options = PictureOptions { workspace: true, size: SIZE, ..PictureOptions::of(snapshot(&folder)) };
    let mut app = match picture_app(&options) {
        Ok(app) => app,
        Err(AppFault::NoGpu(why)) => return skip(&why),
        Err(fault) => panic!("{fault}"),
    };
    let before = capture(&mut app).expect("a picture");
    for _ in 0..2 {
        lose_device(&app);
        assert!(capture(&mut app).expect("a picture") == before, "all is drawn as it was");
    }
    assert_eq!(app.world().resource::<Recovery>().fault(), None);
    // One that does not last is not asked for for ever.
    lose_device(&app);
    assert!(capture(&mut app).is_err());
    let fault = app.world().resource::<Recovery>().fault().expect("the window would close");
    assert!(fault.to_string().contains("the graphics device was lost"), "{fault}");
    std::fs::remove_dir_all(folder).expect("the temporary folder goes");
}

/// Trains nothing.
struct Still(Arc<Snapshot>, usize);

impl Stagehand for Still {
    fn trained(&mut self, _: f32) -> Arc<Snapshot> {
        self.0.clone()
    }

    fn drawn(&mut self, frames: usize, _: usize) {
        self.1 = frames;
    }
}

#[test]
fn a_picture_that_moves_has_all_frames_of_its_play() {
    const SMALL: (u32, u32) = (320, 240);
    let folder = folder("moving");
    let snapshot = snapshot(&folder);
    let picture = PictureOptions { size: SMALL, ..PictureOptions::of(snapshot.clone()) };
    let options = MovingOptions { picture, play: Play::Split, seconds: Some(1.0), form: Form::Gif };
    let stills = Play::Split.schedule(options.seconds, 0.0);
    let mut hand = Still(snapshot, 0);
    let bytes = match moving::draw(&options, &mut hand) {
        Ok(bytes) => bytes,
        Err(AppFault::NoGpu(why)) => return skip(&why),
        Err(fault) => panic!("{fault}"),
    };
    assert_eq!(hand.1, stills.len());
    let mut reader = gif::Decoder::new(&*bytes).expect("a GIF");
    assert_eq!((u32::from(reader.width()), u32::from(reader.height())), SMALL);
    let mut moved = Vec::new();
    while let Some(frame) = reader.read_next_frame().expect("a frame") {
        moved.push(frame.buffer.iter().any(|index| Some(*index) != frame.transparent));
    }
    assert_eq!(moved.len(), stills.len());
    assert!(moved.iter().filter(|moved| **moved).count() > moved.len() / 2, "the points move: {moved:?}");
    std::fs::remove_dir_all(folder).expect("the temporary folder goes");
}

#[test]
fn a_picture_that_cannot_be_written_is_an_error() {
    let folder = folder("output");
    let out = folder.join("no such folder").join("picture.png");
    let options = PictureOptions { size: (64, 64), ..PictureOptions::of(snapshot(&folder)) };
    match render(&options, &out) {
        Err(AppFault::Output(_)) => {}
        Err(AppFault::NoGpu(why)) => skip(&why),
        other => panic!("{other:?}"),
    }
    std::fs::remove_dir_all(folder).expect("the temporary folder goes");
}

/// The stage as a viewer has it; `None` where there is no graphics adapter at all.
fn seen(snapshot: &Arc<Snapshot>, mut view: ViewState, rig: &CameraRig, size: (u32, u32)) -> Option<image::RgbImage> {
    view.figure.bare = true;
    let seen = Some(Arc::new(StageView { view, rig: rig.clone() }));
    drawn(&PictureOptions { size, seen, ..PictureOptions::of(snapshot.clone()) }).map(|picture| picture.to_rgb8())
}

fn drawn(options: &PictureOptions) -> Option<image::DynamicImage> {
    match draw(options) {
        Ok(bytes) => Some(image::load_from_memory(&bytes).expect("a PNG")),
        Err(AppFault::NoGpu(why)) => {
            skip(&why);
            None
        }
        Err(fault) => panic!("{fault}"),
    }
}

fn at_time(time: f32) -> ViewState {
    let mut view = ViewState::default();
    view.walk.set_time(time);
    view
}

fn whole(size: (u32, u32)) -> Vec2 {
    Vec2::new(size.0 as f32, size.1 as f32)
}

#[test]
fn in_2d_and_along_an_axis_a_point_is_where_its_projection_says() {
    let folder = folder("flat");
    let snapshot = snapshot(&folder);
    let model = StageModel::of(&snapshot).expect("the static vectors are there");
    let mut flat = CameraRig::default();
    flat.fit_now(extent(&model), whole(SIZE));
    flat.open(false);
    let mut along = flat.clone();
    flat.toggle_flat();
    along.look_along(0);
    for (mut rig, time) in [(flat, 1.0), (along, 0.0)] {
        rig.advance(1.0);
        let Some(picture) = seen(&snapshot, at_time(time), &rig, SIZE) else { return };
        check_seen(&picture, &model, time, Palette::of(false), &rig.view(whole(SIZE)));
    }
    std::fs::remove_dir_all(folder).expect("the temporary folder goes");
}

/// How far two pictures are from each other around a place.
fn change(a: &image::RgbImage, b: &image::RgbImage, at: Vec2) -> u32 {
    let around = (-1..=1).flat_map(|x| (-1..=1).map(move |y| (at.x as i32 + x, at.y as i32 + y)));
    let differences = around.map(|(x, y)| {
        let (a, b) = (a.get_pixel(x as u32, y as u32), b.get_pixel(x as u32, y as u32));
        a.0.iter().zip(b.0).map(|(a, b)| u32::from(a.abs_diff(b))).max().unwrap_or(0)
    });
    differences.max().unwrap_or(0)
}

/// Of nine places along a line, those at which a line is seen that is there.
const LIT: usize = 7;

/// Returns at how many of nine places on a line two pictures are not the same.
fn lit(a: &image::RgbImage, b: &image::RgbImage, from: Vec2, to: Vec2) -> usize {
    /// Steps of a colour channel that are seen.
    const SEEN: u32 = 12;
    (0..9).map(|i| from.lerp(to, 0.3 + 0.05 * i as f32)).filter(|at| change(a, b, *at) > SEEN).count()
}

#[test]
fn the_walk_s_lines_and_the_arrows_are_where_they_should_be() {
    let folder = folder("lines");
    let snapshot = snapshot(&folder);
    let model = StageModel::of(&snapshot).expect("the static vectors are there");
    const QUERY: usize = 3;
    for is_flat in [false, true] {
        let mut rig = CameraRig::default();
        rig.fit_now(extent(&model), whole(SIZE));
        rig.open(false);
        if is_flat {
            rig.toggle_flat();
            rig.advance(1.0);
        }
        let view = rig.view(whole(SIZE));
        let place = |at: [f32; 3]| view.project(Vec3::from(scaled(&model, at))).expect("in front").at;
        let at = |step: Step| {
            let mut view = ViewState::default();
            view.selection.query = Some(QUERY);
            view.walk.set(step.index() as f32);
            seen(&snapshot, view, &rig, SIZE)
        };
        // Nobody walks: the arrows are those of all moves.
        let moved = seen(&snapshot, at_time(1.0), &rig, SIZE);
        let (Some(before), Some(weighed), Some(after)) = (at(Step::Embed), at(Step::Softmax), moved) else {
            return;
        };
        let query = place(model.tokens[QUERY].start);
        let mut checked = 0;
        for token in model.tokens.iter().filter(|token| token.position != QUERY) {
            // Beyond discs and labels: where the line is longest.
            let key = place(token.start);
            if key.distance(query) < 80.0 {
                continue;
            }
            let lit = lit(&before, &weighed, query, key);
            assert!(lit >= LIT, "the line to {} is seen at {lit} of 9 places (2D: {is_flat})", token.text);
            checked += 1;
        }
        assert!(checked > 0, "all keys are near the query");
        // Between words of which none is the query, no line is drawn.
        let keys = model.tokens.iter().filter(|token| token.position != QUERY).map(|token| place(token.start));
        let mut is_lit = keys.clone().zip(keys.skip(1)).map(|(from, to)| lit(&before, &weighed, from, to) >= LIT);
        assert!(is_lit.any(|is_lit| !is_lit), "lines are seen everywhere (2D: {is_flat})");
        let long =
            |token: &&attune_view::view_model::stage::TokenPoint| place(token.start).distance(place(token.end)) > 60.0;
        for token in model.tokens.iter().filter(long) {
            let (start, end) = (place(token.start), place(token.end));
            let color = Palette::of(false).token(token.group);
            let on = (0..9).map(|i| start.lerp(end, 0.3 + 0.04 * i as f32));
            let near = |picture: &image::RgbImage| {
                let is_near = |at: &Vec2| difference(picture, *at, color, Palette::of(false)) <= 2 * TOLERANCE;
                on.clone().filter(is_near).count()
            };
            let found = near(&after);
            assert!(found >= 5, "the arrow of {} is seen at {found} of 9 places (2D: {is_flat})", token.text);
            assert!(near(&before) < 5, "an arrow of {} is seen where none is drawn (2D: {is_flat})", token.text);
        }
    }
    std::fs::remove_dir_all(folder).expect("the temporary folder goes");
}

#[test]
fn the_lines_of_a_stage_cell_join_its_words_in_the_picture() {
    let folder = folder("joined");
    let snapshot = snapshot(&folder);
    let model = StageModel::of(&snapshot).expect("the static vectors are there");
    let mut rig = CameraRig::default();
    rig.fit_now(extent(&model), whole(SIZE));
    rig.open(false);
    let view = rig.view(whole(SIZE));
    let place = |word: usize| view.project(Vec3::from(scaled(&model, model.words[word].at))).expect("in front").at;
    let shown = |cell: Option<&str>| {
        let mut view = at_time(0.0);
        view.highlight.shown_cell = cell.map(str::to_owned);
        seen(&snapshot, view, &rig, SIZE)
    };
    let (Some(without), Some(with)) = (shown(None), shown(Some("pairs"))) else { return };
    let lines = model.lines_of(&snapshot.lesson.cells[0].kind);
    assert_eq!(lines.len(), 2);
    for ends in &lines {
        let [from, to] = ends.map(place);
        let lit = lit(&without, &with, from, to);
        assert!(lit >= LIT, "the line from {from} to {to} is seen at {lit} of 9 places");
    }
    // Between words that no line joins, none is seen.
    let [[a, _], [b, _]] = lines[..] else { panic!("two lines") };
    let lit = lit(&without, &with, place(a), place(b));
    assert!(lit < LIT, "a line that is not there is seen at {lit} of 9 places");
    std::fs::remove_dir_all(folder).expect("the temporary folder goes");
}

#[test]
fn a_transparent_picture_lets_through_and_laid_on_the_stage_is_the_opaque_one() {
    let folder = folder("clear");
    let snapshot = snapshot(&folder);
    for dark in [false, true] {
        let options = PictureOptions { size: (480, 320), time: 1.0, dark, ..PictureOptions::of(snapshot.clone()) };
        let Some(opaque) = drawn(&options) else { return };
        let clear = drawn(&PictureOptions { transparent: true, ..options }).expect("a second picture");
        let (opaque, clear) = (opaque.to_rgb8(), clear.to_rgba8());
        for corner in [(0, 0), (479, 0), (479, 319)] {
            assert_eq!(clear.get_pixel(corner.0, corner.1).0, [0; 4]);
        }
        let count = |wanted: fn(u8) -> bool| clear.pixels().filter(|pixel| wanted(pixel.0[3])).count();
        let (gone, there, between) = (count(|a| a == 0), count(|a| a == 255), count(|a| a != 0 && a != 255));
        assert!(gone > 480 * 320 / 2 && there > 200 && between > 200, "{gone} {there} {between}");
        let off = |stage: [u8; 4]| {
            clear.pixels().zip(opaque.pixels()).map(move |(clear, opaque)| {
                let alpha = f32::from(clear.0[3]) / 255.0;
                let channels = (0..3).map(|i| {
                    let [over, under] = [clear.0[i], stage[i]].map(linear_f32_from_gamma_u8);
                    gamma_u8_from_linear_f32(over * alpha + under * (1.0 - alpha)).abs_diff(opaque.0[i])
                });
                channels.max().unwrap_or(0)
            })
        };
        let far = |dark: bool| off(Palette::of(dark).stage.to_array()).filter(|off| *off > 6).count();
        let (least, far_on_the_other) = (480 * 320 / 500, far(!dark));
        assert!(far(dark) < least, "{} pixels are off (dark: {dark})", far(dark));
        assert!(far_on_the_other > least, "laid on the other theme's stage, {far_on_the_other} pixels are off");
    }
    std::fs::remove_dir_all(folder).expect("the temporary folder goes");
}

#[test]
fn the_smallest_pictures_are_pictures() {
    let folder = folder("small");
    let snapshot = snapshot(&folder);
    for (size, zoom) in [((1, 1), 1.0), ((4, 3), 1.0), ((1, 300), 1.0), ((300, 2), 3.0), ((5, 4), 0.25)] {
        let options = PictureOptions { size, zoom, time: 1.0, ..PictureOptions::of(snapshot.clone()) };
        let Some(picture) = drawn(&options) else { return };
        assert_eq!((picture.width(), picture.height()), size);
    }
    std::fs::remove_dir_all(folder).expect("the temporary folder goes");
}

/// Words that are not found step back and stay in sight, however many there are; what is found is drawn over them.
#[test]
fn a_cloud_stays_in_sight_behind_what_is_searched() {
    const WORDS: usize = 40_000;
    let folder = folder("cloud");
    let mut random = StdRng::seed_from_u64(2);
    let words: Vec<Box<str>> = (0..WORDS).map(|word| format!("w{word}").into()).collect();
    let numbers = (0..4 * WORDS).map(|_| random.random_range(-1.0f32..1.0)).collect();
    let rows = std::borrow::Cow::Owned(Matrix::from_row_major(WORDS, 4, numbers));
    let mut bytes = Vec::new();
    let table = Table { words: words.into(), rows, metadata: Vec::new().into() };
    write(&table, Format::Word2VecBinary, &mut bytes).expect("written");
    std::fs::write(folder.join("cloud.bin"), bytes).expect("written");
    let lesson =
        attune_core::lesson::load::read(&folder.join("cloud.bin")).unwrap_or_else(|issues| panic!("{issues:?}"));
    let snapshot = Arc::new(Kernel::trained(Arc::new(lesson)).snapshot());
    let size = (400, 300);
    let mut rig = CameraRig::default();
    let model = StageModel::of(&snapshot).expect("points");
    rig.resize(whole(size));
    rig.fit(extent(&model));
    rig.open(true);
    rig.advance(f32::INFINITY);
    let seen = |text: &str, isolated| {
        let mut view = at_time(0.0);
        (view.highlight.search.text, view.highlight.isolated) = (text.to_owned(), isolated);
        seen(&snapshot, view, &rig, size)
    };
    let (Some(all), Some(searched), Some(alone)) = (seen("", false), seen("w1234", false), seen("w1234", true)) else {
        return;
    };
    let ground = *alone.get_pixel(1, 1);
    let far = |a: &image::Rgb<u8>, b: &image::Rgb<u8>| a.0.iter().zip(b.0).map(|(a, b)| a.abs_diff(b)).max();
    let covered = |picture: &image::RgbImage| picture.pixels().filter(|pixel| far(pixel, &ground) > Some(4)).count();
    let (all, quiet, few) = (covered(&all), covered(&searched), covered(&alone));
    assert!(quiet > all * 9 / 10 && few * 2 < all, "{all} pixels of all, {quiet} while searched, {few} of those found");
    // The found ones look the same with the others and without, but at their soft edges.
    let strong = |pixel: &&image::Rgb<u8>| far(pixel, &ground) > Some(60);
    let kept =
        alone.pixels().zip(searched.pixels()).filter(|(alone, searched)| strong(alone) && strong(searched)).count();
    let found = alone.pixels().filter(strong).count();
    assert!(found > 0 && kept * 10 >= found * 9, "{kept} of {found}");
    std::fs::remove_dir_all(folder).expect("the temporary folder goes");
}
