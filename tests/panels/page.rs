//! The live page's stage, opened in a browser: each point lies where the program's camera puts it.

use attune::app::stage::camera::CameraRig;
use attune::app::stage::geometry::{extent, scaled};
use attune_core::kernel::{Kernel, Snapshot};
use attune_view::export::{Pictures, live_page};
use attune_view::view_model::stage::StageModel;
use bevy::math::{Vec2, Vec3};
use serde_json::Value;

use crate::common::chromium::ask;
use crate::common::lessons::{APPLE, form, lesson};

/// Pixels between the two.
const TOLERANCE: f32 = 1.0;

#[test]
fn a_point_lies_where_the_programs_camera_puts_it() {
    // The second has a norm behind its last block, which is not the picture's.
    for kernel in [Kernel::trained(lesson(APPLE)), form("decoder")] {
        check_points(&kernel.snapshot());
    }
}

fn check_points(snapshot: &Snapshot) {
    let model = StageModel::of(snapshot).expect("a model");
    let mut page = Vec::new();
    live_page::write(snapshot, None, &Pictures::default(), None, &mut page).expect("it is written");
    let page = String::from_utf8(page).expect("UTF-8");
    let ends = [("0", 0.0), ("1", 1.0)];
    let addresses = ends.map(|(time, _)| format!("apple.html#time={time}&numbers"));
    let places = "return JSON.parse(document.querySelector('#lab-numbers pre').textContent).canvas;";
    for size in [(360, 740), (1280, 800)] {
        let Some(answers) = ask(&[("apple.html", &page)], &addresses, places, size) else { return };
        for ((_, time), canvas) in ends.into_iter().zip(&answers) {
            let number = |value: &Value| value.as_f64().expect("a number") as f32;
            let size = Vec2::new(number(&canvas["width"]), number(&canvas["height"]));
            let mut rig = CameraRig::default();
            rig.fit_now(extent(&model), size);
            let view = rig.view(size);
            let check = |text: &str, at: [f32; 3], found: &Value| {
                let found = Vec2::new(number(&found[0]), number(&found[1]));
                let expected = view.project(Vec3::from(scaled(&model, at))).expect("in front").at;
                let off = found.distance(expected);
                assert!(off < TOLERANCE, "{text} at {time}: {found}, and {expected} in the program");
                // The twin: the tolerance tells a point from the one that another size of the picture would have.
                let other = rig.view(size * 1.1).project(Vec3::from(scaled(&model, at))).expect("in front").at;
                assert!(found.distance(other) > TOLERANCE, "{text} at {time}: in a larger picture, it is elsewhere");
            };
            let [tokens, words] = ["tokens", "words"].map(|of| canvas[of].as_array().expect("points"));
            assert_eq!((tokens.len(), words.len()), (model.tokens.len(), model.words.len()));
            for (token, found) in model.tokens.iter().zip(tokens) {
                check(&token.label(), token.at(time), found);
            }
            for (word, found) in model.words.iter().zip(words) {
                check(&word.text, word.at, found);
            }
        }
    }
}
