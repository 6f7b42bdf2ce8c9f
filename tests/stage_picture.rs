//! A picture without a display shows each point where its projection says.
#![cfg(feature = "app")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use attune::app::stage::camera::CameraRig;
use attune::app::stage::points::{extent, scaled, token_color};
use attune::app::theme::Palette;
use attune::app::{AppFault, PictureOptions, render};
use attune::kernel::Snapshot;
use attune::kernel::worker::Worker;
use attune::view_model::stage::StageModel;
use bevy::math::{Vec2, Vec3};

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
)"#;
const SIZE: (u32, u32) = (800, 600);
/// The figure's caption stands below the picture.
const CAPTION: f32 = 64.0;
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
    let lesson = attune::lesson::load::read(&path).unwrap_or_else(|issues| panic!("{issues:?}"));
    let worker = Worker::spawn(Arc::new(lesson), || {});
    for _ in 0..2000 {
        let snapshot = worker.latest();
        if snapshot.model.is_some() {
            return snapshot;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!("the static vectors are never ready");
}

/// Where a GPU must be there, its absence is a failure.
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
        let options = PictureOptions {
            snapshot: snapshot.clone(),
            cell: None,
            time,
            size: SIZE,
            zoom: 1.0,
            workspace: false,
            dark,
        };
        let Some(picture) = picture(&options, &out) else { return };
        assert_eq!(picture.dimensions(), SIZE);
        check_tokens(&picture, &model, time, Palette::of(dark));
    }
    std::fs::remove_dir_all(folder).expect("the temporary folder goes");
}

/// A line of the grid or an axis may cross the disc's middle.
const AROUND: [(f32, f32); 5] = [(0.0, 0.0), (3.0, 0.0), (-3.0, 0.0), (0.0, 3.0), (0.0, -3.0)];

/// Of the channel that differs most, from the colour in the thickness of fog that fits best.
fn difference(picture: &image::RgbImage, at: Vec2, color: egui::Color32, palette: &Palette) -> i32 {
    const MOST_FOG: i32 = 60;
    let pixel = picture.get_pixel(at.x as u32, at.y as u32);
    let off = |percent: i32| {
        let fogged = color.lerp_to_gamma(palette.stage, percent as f32 / 100.0);
        let wanted = [fogged.r(), fogged.g(), fogged.b()];
        wanted.into_iter().zip(pixel.0).map(|(a, b)| i32::from(a.abs_diff(b))).max().unwrap_or(0)
    };
    (0..=MOST_FOG).map(off).min().unwrap_or(0)
}

fn check_tokens(picture: &image::RgbImage, model: &StageModel, time: f32, palette: &Palette) {
    let mut rig = CameraRig::default();
    rig.fit_now(extent(model));
    let view = rig.view(Vec2::new(SIZE.0 as f32, SIZE.1 as f32 - CAPTION));
    let seen = |at: [f32; 3]| view.project(Vec3::from(scaled(model, at))).expect("in front of the camera");
    let mut checked = 0;
    for token in &model.tokens {
        let place = seen(token.at(time));
        // A point in front of it may hide it.
        let others = model.tokens.iter().filter(|other| other.position != token.position).map(|other| other.at(time));
        let words = model.words.iter().filter(|word| !word.in_sentence).map(|word| word.at);
        if others.chain(words).any(|other| seen(other).at.distance(place.at) < 16.0) {
            continue;
        }
        let color = token_color(model, &token.text, token.group, palette);
        let off = AROUND.iter().map(|(x, y)| difference(picture, place.at + Vec2::new(*x, *y), color, palette)).min();
        assert!(off <= Some(TOLERANCE), "{} at {}: off by {off:?} (time {time})", token.text, place.at);
        checked += 1;
    }
    assert!(checked > 0, "every token is hidden");
}

#[test]
fn a_picture_that_cannot_be_written_is_an_error() {
    let folder = folder("output");
    let out = folder.join("no such folder").join("picture.png");
    let options = PictureOptions {
        snapshot: snapshot(&folder),
        cell: None,
        time: 0.0,
        size: (64, 64),
        zoom: 1.0,
        workspace: false,
        dark: true,
    };
    match render(&options, &out) {
        Err(AppFault::Output(_)) => {}
        Err(AppFault::NoGpu(why)) => skip(&why),
        other => panic!("{other:?}"),
    }
    std::fs::remove_dir_all(folder).expect("the temporary folder goes");
}
