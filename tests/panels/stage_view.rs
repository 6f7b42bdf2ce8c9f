//! The stage's tab without a graphics card: its keys, its bar, and scenes and sizes that nobody wished for.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use attune::app::stage::bar::{BarWidths, bar_ui, keys, leave};
use attune::app::stage::camera::CameraRig;
use attune::app::stage::canvas::{Floating, Hit, StageControls, picture_ui, stage_id};
use attune::app::stage::geometry;
use attune::app::stage::geometry::{extent, instances, scaled};
use attune::app::stage::labels::{self, ObstacleKind};
use attune::app::stage::pick::PointIndex;
use attune::app::stage::projection::{ProjectedScene, SceneRef, SeenPoint};
use attune::app::stage::timeline::{WAY, timeline_ui};
use attune::app::theme::{self, Palette, fonts};
use attune::app::ui_state::search::{ByFeature, Emphasis, Visibility};
use attune::app::ui_state::{Highlight, ViewState};
use attune_core::lesson::cells::CellKind;
use attune_engine::vectors::Column;
use attune_view::explain::walk::{Focus, RouteModel, Step, WalkModel};
use attune_view::view_model::features::{Feature, Features};
use attune_view::view_model::stage::{AxisLabel, SecondKind, StageModel, TokenPoint, WordPoint, reach};
use bevy::math::{Vec2, Vec3};
use egui::{Context, Event, Key, Modifiers, PointerButton, Pos2, RawInput, Rect, TextureId, Ui, UiBuilder, pos2, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::common::close::{Tolerance, assert_close};
use crate::common::lessons::form;
use crate::dressed::dressed;

const SIZE: egui::Vec2 = vec2(560.0, 480.0);
const BAR: f32 = 60.0;
const ON_STAGE: Pos2 = pos2(20.0, 400.0);

fn word(text: &str, at: [f32; 3]) -> WordPoint {
    WordPoint { text: text.to_owned(), group: Some(0), at }
}

fn token(position: usize, text: &str, start: [f32; 3], end: [f32; 3]) -> TokenPoint {
    TokenPoint::moving(text.to_owned(), position, start, end)
}

fn model(words: Vec<WordPoint>, tokens: Vec<TokenPoint>) -> StageModel {
    let radius = reach(words.iter().map(|word| word.at));
    StageModel {
        words: words.into(),
        tokens,
        origin: "trained",
        groups: vec!["fruit".to_owned()],
        axes: ["PC1", "PC2", "PC3"].map(|name| AxisLabel { name: name.to_owned(), ends: None }).to_vec(),
        radius,
        ..StageModel::default()
    }
}

fn bank() -> StageModel {
    model(
        vec![word("river", [0.6, 0.1, 0.2]), word("money", [-0.5, 0.3, -0.4]), word("riverside", [0.1, -0.9, 0.3])],
        vec![token(0, "bank", [0.0, 0.5, 0.0], [0.4, 0.2, 0.1]), token(1, "grows", [-0.2, -0.3, 0.6], [0.0, 0.0, 0.0])],
    )
}

type Shared = Rc<RefCell<(StageControls, ViewState)>>;

/// Bar, picture and keys, as the window has them, over a field that somebody writes in.
fn stage<'a>() -> (Harness<'a>, Shared) {
    stage_of(None)
}

/// The same of a file of vectors, whose rows have features.
fn stage_of<'a>(features: Option<Arc<Features>>) -> (Harness<'a>, Shared) {
    let shared = Shared::default();
    let inner = shared.clone();
    let (scene, mut written) = (Arc::new(bank()), String::new());
    let harness = dressed(SIZE, move |ui| {
        let (controls, view) = &mut *inner.borrow_mut();
        let mut emphasis = Emphasis::of(&scene, &view.highlight, &[]);
        emphasis.by_feature = ByFeature::of(features.clone(), &view.highlight);
        let emphasis = Arc::new(emphasis);
        let view = &mut view.for_panels();
        keys(ui.ctx(), Some(&scene), &emphasis, controls, view);
        ui.text_edit_singleline(&mut written);
        let (bar, below) = ui.available_rect_before_wrap().split_top_bottom_at_y(BAR);
        let at = |ui: &mut Ui, rect, content: &mut dyn FnMut(&mut Ui)| {
            ui.scope_builder(UiBuilder::new().max_rect(rect), |ui| content(ui));
        };
        at(ui, bar, &mut |ui| bar_ui(ui, &scene, &emphasis, &mut controls.rig, view, true));
        at(ui, below, &mut |ui| {
            let scene = SceneRef { model: &scene, emphasis: &emphasis, path: None, walk: None, patches: None };
            picture_ui(ui, Some(scene), controls, view, Some(TextureId::User(0)), Floating::default());
        });
        controls.rig.advance(1.0);
    });
    (harness, shared)
}

#[test]
fn the_bar_is_beside_the_tab_where_there_is_room_for_all_its_buttons() {
    const ROOM: Rect = Rect::from_min_max(pos2(400.0, 60.0), pos2(900.0, 500.0));
    const LINE: Rect = Rect::from_min_max(pos2(460.0, 30.0), pos2(900.0, 60.0));
    let scene = bank();
    let mut harness = dressed(SIZE, move |ui| {
        let (controls, mut highlight) = (StageControls::default(), Highlight::default());
        for (text, line, is_over_picture) in [
            ("", LINE, false),
            ("ri", LINE.with_min_x(420.0), false),
            ("", LINE.with_min_x(850.0), true),
            ("ri", LINE.with_min_x(700.0), true),
        ] {
            text.clone_into(&mut highlight.search.text);
            let emphasis = Emphasis::of(&scene, &highlight, &[]);
            let place = BarWidths::of(ui, &emphasis, &controls.rig, &highlight).place(ROOM, Some(line));
            assert_eq!(place.is_over_picture, is_over_picture, "{text:?} in {line:?}: {place:?}");
            let within = if is_over_picture { ROOM } else { line };
            assert!(within.contains_rect(place.rect), "{text:?}: {place:?} in {within:?}");
        }
    });
    harness.run_steps(1);
}

/// The features of the three words of [`bank`].
fn features() -> Arc<Features> {
    let column =
        |name: &str, entries: [&str; 3]| Column { name: name.to_owned(), entries: entries.map(str::to_owned).to_vec() };
    Arc::new(Features::new(3, vec![column("part", ["a", "b", "a"]), column("count", ["1", "250", "5000"])].into()))
}

#[test]
fn points_of_a_file_are_coloured_and_sized_by_what_the_menus_name() {
    let (mut harness, shared) = stage_of(Some(features()));
    let choose = |harness: &mut Harness, menu: &str, name: &str| {
        harness.get_by_label(menu).click();
        harness.run_steps(3);
        harness.get_by_label(name).click();
        harness.run_steps(3);
    };
    choose(&mut harness, "Colour", "part");
    choose(&mut harness, "Size", "count");
    let highlight = shared.borrow().1.highlight.clone();
    let column = |name: &str| Some(Feature::Column(name.to_owned()));
    assert_eq!((&highlight.color_by, &highlight.size_by), (&column("part"), &column("count")));
    harness.get_by_label("Size").click();
    harness.run_steps(3);
    assert!(harness.query_by_label("part").is_none(), "words are no sizes");

    let (model, palette) = (bank(), Palette::of(false));
    let drawn = |highlight: &Highlight| {
        let mut emphasis = Emphasis::of(&model, highlight, &[]);
        emphasis.by_feature = ByFeature::of(Some(features()), highlight);
        instances(&model, &emphasis, true, palette)[..3].to_vec()
    };
    let colors = drawn(&highlight).iter().map(|point| point.color).collect::<Vec<_>>();
    assert_eq!(colors, [0, 1, 0].map(|value| palette.group(value)));
    let sizes: Vec<f32> = drawn(&highlight).iter().map(|point| point.size).collect();
    assert_eq!(
        (sizes[0], sizes[2]),
        [0.0, 1.0].map(|share| geometry::sized(share, geometry::LARGEST_WORD_RADIUS)).into()
    );
    assert!(sizes.is_sorted());
    let by_rank = Highlight { color_by: Some(Feature::Rank), ..Highlight::default() };
    let colors: Vec<_> = drawn(&by_rank).iter().map(|point| point.color).collect();
    assert_eq!((colors[0], colors[2]), (palette.ramp(1.0), palette.ramp(0.0)), "the first row is the most frequent");
    let of_other = Highlight { color_by: column("gone"), ..Highlight::default() };
    assert_eq!(drawn(&of_other), drawn(&Highlight::default()), "a column of another file");
}

#[test]
fn words_on_their_way_to_another_file_are_drawn_over_a_cloud() {
    const WORDS: usize = 20_000;
    let point = |row: usize| WordPoint { group: None, ..word(&format!("word{row}"), [row as f32, 0.0, 1.0]) };
    let mut model = model((0..WORDS).map(point).collect(), Vec::new());
    let under = |model: &StageModel| geometry::count_under(model, &Emphasis::default());
    assert_eq!(under(&model), 0);
    let paler = |model: &StageModel| instances(model, &Emphasis::default(), true, Palette::of(false))[0].color;
    let alone = paler(&model);
    model.second_kind = SecondKind::Spaces;
    assert_eq!(under(&model), WORDS);
    assert_ne!(paler(&model), alone, "it steps back");
}

/// Otherwise a frame of very many points would take as much longer.
#[test]
fn sizes_of_a_cloud_cover_little_more_than_discs_of_one_size() {
    const WORDS: usize = 20_000;
    let point = |row: usize| WordPoint { group: None, ..word(&format!("word{row}"), [row as f32, 0.0, 1.0]) };
    let model = model((0..WORDS).map(point).collect(), Vec::new());
    let entries = (0..WORDS).map(|row| row.to_string()).collect();
    let features = Features::new(WORDS, vec![Column { name: "even".to_owned(), entries }].into());
    for feature in features.of_numbers() {
        let highlight = Highlight { size_by: Some(feature.clone()), ..Highlight::default() };
        let mut emphasis = Emphasis::of(&model, &highlight, &[]);
        emphasis.by_feature = ByFeature::of(Some(Arc::new(features.clone())), &highlight);
        let sizes: Vec<f32> =
            instances(&model, &emphasis, true, Palette::of(false)).iter().map(|word| word.size).collect();
        let mean = sizes.iter().map(|size| size * size).sum::<f32>() / WORDS as f32;
        let covered = mean / (geometry::QUIET_RADIUS * geometry::QUIET_RADIUS);
        let (least, most) =
            (sizes.iter().copied().fold(f32::INFINITY, f32::min), sizes.iter().copied().fold(0.0, f32::max));
        assert!(covered < 1.6 && most > 1.8 * least, "{feature:?}: {covered}, from {least} to {most}");
    }
}

#[test]
fn a_lesson_has_no_features_to_choose() {
    let (harness, _) = stage();
    assert!(harness.query_by_label("Colour").is_none() && harness.query_by_label("Size").is_none());
}

#[test]
fn the_card_of_a_point_has_two_lines() {
    let (mut harness, shared) = stage();
    let scene = bank();
    let at = {
        let (controls, _) = &*shared.borrow();
        let place = Vec3::from(scaled(&scene, scene.tokens[0].start));
        let seen = controls.view().project(place).expect("it is in sight").at;
        pos2(seen.x, seen.y + BAR)
    };
    hover(&mut harness, at);
    harness.run_steps(60);
    harness.get_by_label("bank");
    harness.get_by_label("token 1 of 2");
    for of_old in ["lick", "now", "static", "(0."] {
        assert!(harness.query_all_by_label_contains(of_old).next().is_none(), "“{of_old}” is told where one asks");
    }
}

fn press(harness: &mut Harness, modifiers: Modifiers, key: Key) {
    harness.key_press_modifiers(modifiers, key);
    harness.run_steps(3);
}

fn hover(harness: &mut Harness, at: Pos2) {
    harness.event(Event::PointerMoved(at));
    harness.run_steps(3);
}

fn drag(harness: &mut Harness, at: Pos2, by: egui::Vec2, button: PointerButton) {
    const STEPS: i32 = 10;
    hover(harness, at);
    harness.event(Event::PointerButton { pos: at, button, pressed: true, modifiers: Modifiers::NONE });
    harness.run_steps(1);
    for step in 1..=STEPS {
        harness.event(Event::PointerMoved(at + by * (step as f32 / STEPS as f32)));
        harness.run_steps(1);
    }
    harness.event(Event::PointerButton { pos: at + by, button, pressed: false, modifiers: Modifiers::NONE });
    harness.run_steps(2);
}

fn click(harness: &mut Harness, at: Pos2) {
    hover(harness, at);
    for pressed in [true, false] {
        let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
        harness.event(Event::PointerButton { pos: at, button, pressed, modifiers });
        harness.run_steps(2);
    }
}

#[test]
fn a_left_drag_turns_the_stage_also_from_2d_and_others_pan_it() {
    let (mut harness, shared) = stage();
    let rig = || shared.borrow().0.rig.clone();
    shared.borrow_mut().0.rig.open(true);
    harness.run_steps(2);
    let flat = rig().pose;
    for button in [PointerButton::Secondary, PointerButton::Middle] {
        let before = rig().pose.target;
        drag(&mut harness, ON_STAGE, vec2(40.0, -30.0), button);
        assert!(rig().is_flat() && rig().pose.target != before, "{button:?} pans");
    }
    let panned = rig().pose.target;
    drag(&mut harness, ON_STAGE, vec2(120.0, -60.0), PointerButton::Primary);
    let tilted = rig().pose;
    assert!(!rig().is_flat() && tilted.yaw < flat.yaw && tilted.pitch < flat.pitch, "{tilted:?}");
    assert_eq!((tilted.target, tilted.distance), (panned, flat.distance));
    press(&mut harness, Modifiers::NONE, Key::Num2);
    assert!(!rig().is_flat(), "a drag is no click: the keyboard is elsewhere");
    harness.get_by_label("2D").click();
    harness.run_steps(3);
    assert_eq!((rig().pose.perspective, rig().pose.yaw, rig().pose.pitch), (0.0, 0.0, 0.0));
    assert_eq!((rig().pose.target, rig().pose.distance), (panned, flat.distance));
}

#[test]
fn the_stage_has_the_keys_from_a_click_on_it_to_one_elsewhere_wherever_the_pointer_is() {
    let (mut harness, shared) = stage();
    let pose = || shared.borrow().0.rig.pose;
    let none = Modifiers::NONE;
    let before = pose();
    hover(&mut harness, ON_STAGE);
    for key in [Key::ArrowDown, Key::Num2, Key::X] {
        press(&mut harness, none, key);
        assert_eq!(pose(), before, "{key:?}: the mouse was only put aside");
    }
    click(&mut harness, ON_STAGE);
    hover(&mut harness, pos2(100.0, 10.0));
    press(&mut harness, none, Key::ArrowDown);
    assert!(pose().pitch < before.pitch);
    press(&mut harness, none, Key::Escape);
    let left = pose();
    press(&mut harness, none, Key::ArrowDown);
    assert_eq!(pose(), left, "Esc leaves the stage");
    click(&mut harness, ON_STAGE);
    let area = Rect::from_min_size(pos2(0.0, 100.0), SIZE);
    let ctx = harness.ctx.clone();
    assert_eq!(ctx.memory(|memory| memory.focused()), Some(stage_id()));
    harness.event(Event::PointerMoved(pos2(300.0, 70.0)));
    let (button, modifiers) = (PointerButton::Primary, none);
    harness.event(Event::PointerButton { pos: pos2(300.0, 70.0), button, pressed: true, modifiers });
    harness.step();
    leave(&ctx, area);
    assert_eq!(ctx.memory(|memory| memory.focused()), None, "a click on nothing leaves the stage too");
}

#[test]
fn keys_move_the_camera_of_a_stage_that_was_clicked() {
    let (mut harness, shared) = stage();
    let pose = || shared.borrow().0.rig.pose;
    let none = Modifiers::NONE;
    click(&mut harness, ON_STAGE);
    let before = pose();
    press(&mut harness, none, Key::ArrowRight);
    assert!(pose().yaw > before.yaw && pose().target == before.target, "the camera goes right");
    press(&mut harness, none, Key::ArrowUp);
    assert!(pose().pitch > before.pitch);
    press(&mut harness, Modifiers::SHIFT, Key::ArrowRight);
    assert!(pose().target.length() > 0.0, "Shift pans");
    let far = pose().distance;
    press(&mut harness, none, Key::Plus);
    assert!(pose().distance < far);
    press(&mut harness, none, Key::Minus);
    assert_close("the distance", pose().distance, far, Tolerance::SINGLE_PASS);
    press(&mut harness, none, Key::X);
    assert_close("the yaw", pose().yaw, std::f32::consts::FRAC_PI_2, Tolerance::SINGLE_PASS);
    assert_eq!(pose().pitch, 0.0);
    press(&mut harness, none, Key::Num2);
    assert!(shared.borrow().0.rig.is_flat());
    let flat = pose();
    press(&mut harness, Modifiers::SHIFT, Key::ArrowRight);
    assert!(pose().yaw == flat.yaw && pose().target != flat.target, "Shift pans in 2D too");
    press(&mut harness, none, Key::ArrowRight);
    assert!(pose().yaw > flat.yaw && !shared.borrow().0.rig.is_flat(), "arrows tilt it as a drag does");
}

#[test]
fn keys_choose_words_isolate_and_clear() {
    let (mut harness, shared) = stage();
    let view = || shared.borrow().1.clone();
    click(&mut harness, ON_STAGE);
    let chosen: Vec<Option<usize>> = [Modifiers::NONE, Modifiers::NONE, Modifiers::NONE, Modifiers::SHIFT]
        .map(|modifiers| {
            press(&mut harness, modifiers, Key::Q);
            view().selection.query
        })
        .to_vec();
    assert_eq!(chosen, [Some(0), Some(1), Some(0), Some(1)]);
    press(&mut harness, Modifiers::NONE, Key::F);
    let target = shared.borrow().0.rig.pose.target;
    let scene = bank();
    let place = bevy::math::Vec3::from(attune::app::stage::geometry::scaled(&scene, scene.tokens[1].start));
    assert_close("F looks at the chosen word", target.to_array(), place.to_array(), Tolerance::SINGLE_PASS);
    press(&mut harness, Modifiers::NONE, Key::I);
    assert!(view().highlight.isolated);
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert!(!view().highlight.isolated && view().selection.query == Some(1), "one thing at a time");
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert_eq!(view().selection.query, None);
}

/// Draws a line along places, with the left button down.
fn draw(harness: &mut Harness, modifiers: Modifiers, line: &[Pos2]) {
    let button = PointerButton::Primary;
    hover(harness, line[0]);
    harness.event(Event::ModifiersChanged(modifiers));
    harness.event(Event::PointerButton { pos: line[0], button, pressed: true, modifiers });
    harness.run_steps(1);
    for pair in line.windows(2) {
        for step in 1..=5 {
            harness.event(Event::PointerMoved(pair[0].lerp(pair[1], step as f32 / 5.0)));
            harness.run_steps(1);
        }
    }
    let end = line[line.len() - 1];
    harness.event(Event::PointerButton { pos: end, button, pressed: false, modifiers });
    harness.run_steps(2);
    harness.event(Event::ModifiersChanged(Modifiers::NONE));
    harness.run_steps(1);
}

#[test]
fn a_lasso_selects_the_points_inside_and_isolate_shows_them() {
    let (mut harness, shared) = stage();
    let highlight = || shared.borrow().1.highlight.clone();
    let corners = |rect: Rect| [rect.left_top(), rect.right_top(), rect.right_bottom(), rect.left_bottom()];
    let whole = Rect::from_min_max(pos2(8.0, 100.0), pos2(552.0, 472.0));
    let pose = shared.borrow().0.rig.pose;
    draw(&mut harness, Modifiers::SHIFT, &corners(whole));
    let all = [Hit::Token(0), Hit::Token(1), Hit::Word(0), Hit::Word(1), Hit::Word(2)];
    assert_eq!(*highlight().enclosed, all);
    assert_eq!(shared.borrow().0.rig.pose, pose, "the stage does not turn");
    press(&mut harness, Modifiers::NONE, Key::Escape);
    // The place of a word is where the pointer finds it.
    let places =
        (0..50_i16).flat_map(|row| (0..60_i16).map(move |col| pos2(f32::from(col) * 9.0, f32::from(row) * 9.0)));
    let mut inside = places.filter(|at| whole.contains(*at)).filter(|at| {
        harness.event(Event::PointerMoved(*at));
        harness.run_steps(1);
        shared.borrow().0.hovered == Some(Hit::Word(1))
    });
    let at = inside.next().expect("a word");
    drop(inside);
    click(&mut harness, ON_STAGE);
    press(&mut harness, Modifiers::NONE, Key::Escape);
    press(&mut harness, Modifiers::NONE, Key::C);
    assert!(highlight().draws_lasso);
    draw(&mut harness, Modifiers::NONE, &corners(Rect::from_center_size(at, vec2(40.0, 40.0))));
    assert!(*highlight().enclosed == [Hit::Word(1)] && !highlight().draws_lasso, "{:?}", highlight().enclosed);
    let seen = |isolated| {
        let highlight = Highlight { isolated, ..highlight() };
        let emphasis = Emphasis::of(&bank(), &highlight, &[]);
        assert_eq!(emphasis.matches(), [Hit::Word(1)]);
        let words: Vec<usize> = emphasis.shown_words(&bank()).map(|(word, _)| word).collect();
        (words, emphasis.token(0) == Visibility::Hidden)
    };
    assert_eq!((seen(false), seen(true)), ((vec![0, 1, 2], false), (vec![1], true)));
    press(&mut harness, Modifiers::NONE, Key::Escape);
    assert!(highlight().enclosed.is_empty(), "Escape clears");
}

#[test]
fn a_click_leaves_the_keyboard_with_the_stage_until_something_is_written() {
    let (mut harness, shared) = stage();
    let yaw = || shared.borrow().0.rig.pose.yaw;
    click(&mut harness, ON_STAGE);
    hover(&mut harness, pos2(100.0, 10.0));
    let before = yaw();
    press(&mut harness, Modifiers::NONE, Key::ArrowRight);
    press(&mut harness, Modifiers::NONE, Key::ArrowRight);
    assert!(yaw() > before, "twice, for an arrow leads to no other control");

    let (before, isolated) = (yaw(), shared.borrow().1.highlight.isolated);
    hover(&mut harness, ON_STAGE);
    press(&mut harness, Modifiers::NONE, Key::Slash);
    press(&mut harness, Modifiers::NONE, Key::ArrowRight);
    press(&mut harness, Modifiers::NONE, Key::I);
    assert!(yaw() == before && shared.borrow().1.highlight.isolated == isolated, "letters are for the search");
}

#[test]
fn a_search_lights_counts_and_leads_to_what_it_finds() {
    let (mut harness, shared) = stage();
    let view = || shared.borrow().1.clone();
    click(&mut harness, ON_STAGE);
    press(&mut harness, Modifiers::NONE, Key::Slash);
    harness.event(Event::Text("RIV".to_owned()));
    harness.run_steps(3);
    assert_eq!(view().highlight.search.text, "RIV", "the stroke itself is not written");
    assert!(harness.query_by_label("2 found").is_some());
    for said in ["1 of 2", "2 of 2", "1 of 2"] {
        press(&mut harness, Modifiers::NONE, Key::Enter);
        assert!(harness.query_by_label(said).is_some(), "{said}");
    }
    let scene = bank();
    let place = bevy::math::Vec3::from(attune::app::stage::geometry::scaled(&scene, scene.words[0].at));
    let target = shared.borrow().0.rig.pose.target;
    assert_close("the word that was found", target.to_array(), place.to_array(), Tolerance::SINGLE_PASS);

    harness.get_by_label("Regular expression").click();
    harness.run_steps(3);
    harness.get_by_label("Search words").focus();
    harness.run_steps(2);
    harness.event(Event::Text("(".to_owned()));
    harness.run_steps(3);
    assert!(harness.query_by_label("Not a regular expression: unclosed group, at character 4").is_some());
    harness.get_by_label("Clear").click();
    harness.run_steps(3);
    assert!(!view().highlight.is_narrowed() && harness.query_by_label("Clear").is_none());
}

/// Scenes that a lesson, a diverged training or nobody at all has made.
fn wild() -> Vec<(&'static str, StageModel)> {
    let same = || (0..30).map(|i| word(&format!("w{i}"), [0.2, 0.2, 0.2])).collect();
    let huge = vec![word("huge", [1e30, -1e30, 1e30]), word("small", [1e-30, 0.0, 0.0])];
    let lost = vec![word("nan", [f32::NAN; 3]), word("inf", [f32::INFINITY, 0.0, 0.0]), word("here", [0.5, 0.0, 0.0])];
    let gone = token(0, "gone", [0.1; 3], [f32::NAN; 3]);
    let far = token(1, "far", [0.1; 3], [1e30, 0.0, -1e30]);
    vec![
        ("nothing", model(Vec::new(), Vec::new())),
        ("one", model(vec![word("one", [0.0; 3])], Vec::new())),
        ("one place", model(same(), vec![token(0, "t", [0.2; 3], [0.2; 3])])),
        ("huge", model(huge, Vec::new())),
        ("no numbers", model(lost, vec![gone, far])),
    ]
}

/// Some pretrained models carry the first token so far that nothing else would be seen.
#[test]
fn home_has_room_for_the_tokens_of_a_layer_but_not_for_a_first_one_that_is_far_away() {
    let tokens =
        vec![token(0, "first", [9.0, 0.0, 0.0], [9.0, 0.0, 0.0]), token(1, "way", [-1.0, 0.2, 0.0], [0.1, -2.4, 0.3])];
    let mut model = model(vec![word("one", [1.0, 0.0, 0.0])], tokens);
    model.hides_table = true;
    model.shares.layer = Some(0);
    let mut rig = CameraRig::default();
    let size = Vec2::new(SIZE.x, SIZE.y);
    rig.fit_now(extent(&model), size);
    let is_seen = |at| {
        let seen = rig.view(size).project(Vec3::from(scaled(&model, at))).expect("in front").at;
        seen.cmpge(Vec2::ZERO).all() && seen.cmple(size).all()
    };
    let [first, way] = [&model.tokens[0], &model.tokens[1]];
    assert!(is_seen(way.start) && is_seen(way.end) && !is_seen(first.end));
}

/// A chosen head's layer is the one that the words are about, also where no layer is walked through.
#[test]
fn the_line_under_the_stage_names_the_layer_of_the_chosen_head() {
    let snapshot = form("decoder").snapshot();
    let route = RouteModel::of(&snapshot).expect("a model");
    let last = route.layers.len() - 1;
    for layer in [0, last] {
        let head = route.layers[layer].heads.start;
        let walk = WalkModel::of(&snapshot, Focus { query: 1, head, key: None }).expect("a walk");
        let mut view = ViewState::default();
        view.walk.set_layers(route.layers.len());
        view.walk.set_time(1.0);
        view.selection.choose_head(head);
        let harness =
            dressed(SIZE, |ui| timeline_ui(ui, Some(&route), Some(&walk), None, WAY, &[], &mut view.for_panels()));
        let title =
            format!("{}, step 8 of 8", route.layers[layer].title).replace(' ', "\u{a0}").replace(",\u{a0}", ", ");
        assert!(harness.query_by_label_contains(&title).is_some(), "{title:?}");
        assert!(harness.query_by_label_contains(&walk.step(Step::Contextual).said).is_some());
    }
}

#[test]
fn a_step_in_the_first_layer_has_its_own_text_and_not_that_of_the_start() {
    let snapshot = form("decoder").snapshot();
    let route = RouteModel::of(&snapshot).expect("a model");
    assert!(route.layers.len() > 1);
    let head = route.layers[0].heads.start;
    let walk = WalkModel::of(&snapshot, Focus { query: 1, head, key: None }).expect("a walk");
    let mut view = ViewState::default();
    view.walk.set_layers(route.layers.len());
    view.walk.set(Step::Mix.index() as f32);
    view.selection.choose_head(head);
    let harness =
        dressed(SIZE, |ui| timeline_ui(ui, Some(&route), Some(&walk), None, WAY, &[], &mut view.for_panels()));
    assert!(harness.query_by_label_contains(&walk.step(Step::Mix).said).is_some());
    assert!(harness.query_by_label_contains(route.about_start).is_none());
}

#[test]
fn wild_scenes_and_sizes_are_drawn_without_a_panic() {
    let ctx = Context::default();
    ctx.set_fonts(fonts::definitions());
    theme::apply(&ctx);
    let mut frame = 0.0;
    let covered = Rect::from_min_size(Pos2::ZERO, vec2(300.0, 40.0));
    let floating = Floating { above: 40.0, below: 90.0, rects: vec![covered] };
    for (name, model) in wild() {
        let (model, emphasis) = (Arc::new(model), Arc::new(Emphasis::default()));
        let mut controls = StageControls::default();
        controls.rig.fit_now(extent(&model), Vec2::new(SIZE.x, SIZE.y));
        for time in [0.0, 0.5, 1.0] {
            for (width, height) in [(800.0, 600.0), (1.0, 1.0), (4.0, 3.0), (0.0, 0.0), (3000.0, 2.0), (1.0, 900.0)] {
                for scale in [1.0, 1.5, 3.0] {
                    frame += 1.0;
                    let mut input = RawInput {
                        screen_rect: Some(Rect::from_min_size(Pos2::ZERO, vec2(width, height))),
                        time: Some(frame / 60.0),
                        events: vec![Event::PointerMoved(pos2(width / 2.0, height / 2.0))],
                        ..RawInput::default()
                    };
                    if let Some(viewport) = input.viewports.get_mut(&egui::ViewportId::ROOT) {
                        viewport.native_pixels_per_point = Some(scale);
                    }
                    let mut view = ViewState::default();
                    view.walk.set_time(time);
                    let mut output = ctx.run_ui(input, |ui| {
                        let scene =
                            SceneRef { model: &model, emphasis: &emphasis, path: None, walk: None, patches: None };
                        picture_ui(
                            ui,
                            Some(scene),
                            &mut controls,
                            &mut view.for_panels(),
                            Some(TextureId::User(0)),
                            floating.clone(),
                        );
                    });
                    output.textures_delta.clear();
                    let _ = ctx.tessellate(output.shapes, output.pixels_per_point);
                }
            }
        }
        let palette = Palette::of(false);
        let drawn = instances(&model, &Emphasis::default(), true, palette);
        let mut lines = geometry::of_space(&model, geometry::Floor::of(&model), palette);
        lines.extend(geometry::of_moves(&model, &Emphasis::default(), palette));
        for instance in drawn.iter().chain(&lines) {
            let numbers = instance.start.iter().chain(&instance.end);
            assert!(numbers.into_iter().all(|x| x.is_finite()), "{name}: {instance:?}");
        }
    }
}

/// A scene that is looked at without a window.
struct Seen {
    model: Arc<StageModel>,
    emphasis: Arc<Emphasis>,
    point_index: PointIndex,
}

impl Seen {
    fn of(model: StageModel, emphasis: Emphasis) -> Seen {
        let (model, emphasis) = (Arc::new(model), Arc::new(emphasis));
        Seen { point_index: PointIndex::of(&model, &emphasis), model, emphasis }
    }

    fn projected(&self, controls: &StageControls, time: f32) -> ProjectedScene<'_> {
        let Seen { model, emphasis, point_index } = self;
        let rect = Rect::from_min_size(Pos2::ZERO, SIZE);
        let scene = SceneRef { model, emphasis, path: None, walk: None, patches: None };
        let projection = controls.rig.view(Vec2::new(SIZE.x, SIZE.y));
        ProjectedScene { scene, point_index, projection, rect, free: rect, time, palette: Palette::of(false) }
    }
}

/// A place is as near as all of its points say one by one, wherever the pointer is.
#[test]
fn of_many_points_the_one_is_picked_that_asking_each_would_find() {
    use attune::app::stage::pick::{Candidate, nearest};
    let mut random = StdRng::seed_from_u64(5);
    let mut at = || std::array::from_fn(|_| random.random_range(-1.0..1.0));
    let words: Vec<WordPoint> = (0..3_000).map(|i| word(&format!("w{i}"), at())).collect();
    let seen = Seen::of(model(words, Vec::new()), Emphasis::default());
    let mut controls = StageControls::default();
    let mut picked = 0;
    for turn in 0..40 {
        controls.rig.orbit(Vec2::new(41.0, 7.0));
        if turn == 20 {
            controls.rig.toggle_flat();
            controls.rig.advance(1.0);
        }
        let projected = seen.projected(&controls, 0.0);
        for step in 0..20 {
            let pointer = pos2(SIZE.x * (step as f32 + 0.5) / 20.0, SIZE.y * ((step * 7 % 20) as f32) / 20.0);
            let all = (0..3_000).filter_map(|index| projected.see(Hit::Word(index)));
            let candidate = |point: SeenPoint| Candidate {
                what: point.hit,
                at: Vec2::new(point.at.x, point.at.y),
                radius: point.radius,
                depth: point.depth,
            };
            let wanted = nearest(Vec2::new(pointer.x, pointer.y), all.map(candidate));
            assert_eq!(projected.pick(pointer), wanted, "turn {turn}, at {pointer}");
            picked += usize::from(wanted.is_some());
        }
    }
    assert!(picked > 100, "{picked} were near a point");
}

#[test]
fn what_has_no_place_is_told_and_never_picked() {
    let (_, model) = wild().pop().expect("the last");
    let (seen, controls) = (Seen::of(model, Emphasis::default()), StageControls::default());
    let projected = seen.projected(&controls, 1.0);
    assert_eq!(seen.point_index.lost, 3);
    let here = projected.see(Hit::Word(2)).expect("it has a place");
    assert_eq!(projected.pick(here.at), Some(Hit::Word(2)));
    assert!(projected.see(Hit::Word(0)).is_none() && projected.see(Hit::Token(0)).is_none());
}

#[test]
fn a_stack_of_points_is_picked_from_the_front_and_no_farther_than_8_points() {
    use attune::app::stage::pick::REACH;
    let words = (0..40).map(|i| word(&format!("w{i}"), [0.0, 0.0, -0.8 + 0.04 * i as f32])).collect();
    let seen = Seen::of(model(words, Vec::new()), Emphasis::default());
    let mut controls = StageControls::default();
    for (axis_presses, front) in [(1, 39), (2, 0)] {
        (0..axis_presses).for_each(|_| controls.rig.look_along(2));
        controls.rig.advance(1.0);
        let projected = seen.projected(&controls, 0.0);
        let top = projected.see(Hit::Word(front)).expect("in front");
        assert_eq!(projected.pick(top.at), Some(Hit::Word(front)));
        let beside = |reach: f32| projected.pick(top.at + vec2(top.radius + reach, 0.0));
        assert_eq!(beside(REACH - 0.1), Some(Hit::Word(front)), "its disc is the largest");
        assert_eq!(beside(REACH + 0.1), None);
        controls = StageControls::default();
    }
}

#[test]
fn what_is_hidden_is_neither_drawn_nor_picked_nor_named() {
    let model = bank();
    let search = attune::app::ui_state::search::Search { text: "money".to_owned(), is_pattern: false };
    let emphasis = Emphasis::of(&model, &Highlight { search, isolated: true, ..Highlight::default() }, &[]);
    let controls = StageControls::default();
    let all = Seen::of(bank(), Emphasis::default());
    let river = all.projected(&controls, 0.0).see(Hit::Word(0)).expect("shown");
    let seen = Seen::of(model, emphasis);
    let projected = seen.projected(&controls, 0.0);
    assert_eq!(projected.pick(river.at), None);
    let (named, _) = projected.labelled();
    assert_eq!(named.iter().map(|point| point.hit).collect::<Vec<_>>(), [Hit::Word(1)]);
    assert_eq!(instances(&seen.model, &seen.emphasis, true, Palette::of(false)).len(), 1);
}

#[test]
fn lines_of_a_stage_cell_join_its_words_where_both_are_seen() {
    let model = bank();
    let lines = [("river", "money"), ("money", "riverside"), ("money", "bog")];
    let lines = lines.map(|(from, to)| (from.to_owned(), to.to_owned())).to_vec();
    let cell = CellKind::Stage {
        caption: String::new(),
        sentence: 0,
        words: vec![],
        time: 0.0,
        plays: 0,
        lines,
        goals: vec![],
    };
    let lines = model.lines_of(&cell);
    assert_eq!(lines, [[0, 1], [1, 2]], "a word that is not there has no place");
    let ends = |emphasis: &Emphasis| -> Vec<_> {
        let drawn = geometry::of_words(&model, emphasis, Palette::of(true));
        drawn.iter().map(|line| (line.start, line.end)).collect()
    };
    let at = |word: usize| scaled(&model, model.words[word].at);
    assert_eq!(ends(&Emphasis::default().with_lines(lines.clone())), [(at(0), at(1)), (at(1), at(2))]);
    let search = attune::app::ui_state::search::Search { text: "river".to_owned(), is_pattern: false };
    let hidden = Emphasis::of(&model, &Highlight { search, isolated: true, ..Highlight::default() }, &[]);
    assert_eq!(ends(&hidden.with_lines(lines)), [], "money is not seen");
}

/// The labels of twelve tokens and their words, in every direction.
#[test]
fn labels_of_a_long_sentence_never_overlap_nor_leave_the_stage() {
    let words = ["the", "old", "bank", "of", "a", "wide", "river", "keeps", "money", "under", "green", "mud"];
    let place = |i: usize, turn: f32| {
        let angle = i as f32 * 2.4 + turn;
        [angle.cos() * (0.2 + 0.06 * i as f32), 0.8 - 0.13 * i as f32, angle.sin() * 0.7]
    };
    let tokens = words.iter().enumerate().map(|(i, text)| token(i, text, place(i, 0.0), place(i, 0.9))).collect();
    let model = model(words.iter().enumerate().map(|(i, text)| word(text, place(i, 0.3))).collect(), tokens);
    let seen = Seen::of(model, Emphasis::default());
    let mut controls = StageControls::default();
    for _ in 0..24 {
        controls.rig.orbit(Vec2::new(33.0, 3.0));
        for time in [0.0, 0.4, 1.0] {
            let projected = seen.projected(&controls, time);
            let (named, others) = projected.labelled();
            let request = |point: &SeenPoint| labels::LabelRequest {
                priority: point.priority,
                point: point.at,
                radius: point.radius,
                size: vec2(9.0 * projected.word(point.hit).len() as f32, 17.0),
                depth: point.depth,
            };
            let requests: Vec<labels::LabelRequest> = named.iter().map(request).collect();
            let mark = |kind| move |point: &SeenPoint| labels::Obstacle { rect: point.disc(), kind };
            let marks = named.iter().map(mark(ObstacleKind::Named)).chain(others.iter().map(mark(ObstacleKind::Dot)));
            let places = labels::place(&requests, &marks.collect::<Vec<_>>(), &[], projected.rect);
            let tokens = named.iter().zip(&places).filter(|(point, _)| matches!(point.hit, Hit::Token(_)));
            assert!(tokens.into_iter().all(|(_, place)| place.is_some()), "every token has its name");
            let placed: Vec<Rect> = places.into_iter().flatten().map(|placed| placed.rect).collect();
            for (i, label) in placed.iter().enumerate() {
                assert!(projected.rect.contains_rect(*label), "cut off: {label:?}");
                assert!(placed[i + 1..].iter().all(|other| !other.intersects(*label)), "covered: {label:?}");
            }
        }
    }
}
