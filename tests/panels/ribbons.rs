//! The band with the vectors of a step, without a window.

use attune::app::stage::ribbons::{BAND, Ribbons, band};
use attune::app::ui_state::ViewState;
use attune_engine::quantity::Quantity;
use attune_view::explain::walk::{Focus, Step, WalkModel};
use egui::{PointerButton, Pos2, Rect, UiBuilder, pos2, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use crate::common::lessons::{APPLE, kernel};
use crate::dressed::{dressed, dressed_at_60_hz};
use crate::pointer::press;

const ROOM: Rect = Rect { min: Pos2::ZERO, max: pos2(840.0, 420.0) };
/// Distance from the left edge of the band to the first cell.
const LETTER: f32 = 18.0 + 108.0;
const LOW: Rect = Rect { min: Pos2::ZERO, max: pos2(480.0, 230.0) };

fn walk() -> WalkModel {
    WalkModel::of(&kernel(APPLE).snapshot(), Focus { query: 0, head: 0, key: None }).expect("a walk")
}

/// Returns the place of the band in a room.
fn place(room: Rect) -> Rect {
    band(room).expect("room")
}

#[test]
fn the_band_has_one_place_below_the_picture_and_holds_every_step() {
    let walk = walk();
    for room in [ROOM, LOW] {
        let place = place(room);
        assert_eq!((place.bottom(), place.x_range(), place.height()), (room.bottom(), room.x_range(), BAND));
        for step in Step::ALL {
            let drawn = drawn(&walk, step, room);
            assert!(!drawn.is_empty(), "{step:?}");
            assert!(drawn.iter().all(|shape| place.expand(1.0).contains_rect(*shape)), "{step:?}: {drawn:?}");
        }
    }
    assert_eq!(band(Rect::from_min_size(Pos2::ZERO, vec2(840.0, 200.0))), None, "the picture needs the room");
    assert_eq!(band(Rect::from_min_size(Pos2::ZERO, vec2(300.0, 420.0))), None);
}

/// Draws the band of a step, as it is at rest.
fn shown(walk: &WalkModel, step: Step, room: Rect) -> Harness<'_> {
    let place = place(room);
    let mut view = ViewState::default();
    dressed(room.size(), move |ui| {
        let ribbons = Ribbons::of(walk, step).expect("a band");
        ui.scope_builder(UiBuilder::new().max_rect(place), |ui| {
            ribbons.ui(ui, step.index() as f32, |_| None, &mut view.trail);
        });
    })
}

/// Returns the rectangles of the cells, bars and words that a step draws.
fn drawn(walk: &WalkModel, step: Step, room: Rect) -> Vec<Rect> {
    let harness = shown(walk, step, room);
    let is_drawn = |shape: &&egui::Shape| matches!(shape, egui::Shape::Rect(_) | egui::Shape::Text(_));
    let shapes = harness.output().shapes.iter().map(|clipped| &clipped.shape).filter(is_drawn);
    shapes
        .map(egui::Shape::visual_bounding_rect)
        .filter(|rect| rect.width() < room.width() && rect.height() < BAND)
        .collect()
}

/// Returns all that is written on the band of a step.
fn written(walk: &WalkModel, step: Step, room: Rect) -> Vec<(String, Rect)> {
    let harness = shown(walk, step, room);
    let texts = harness.output().shapes.iter().filter_map(|clipped| match &clipped.shape {
        egui::Shape::Text(text) => Some((text.galley.text().to_owned(), text.visual_bounding_rect())),
        _ => None,
    });
    texts.collect()
}

#[test]
fn a_ribbon_slides_from_its_word_to_its_place() {
    const WORD: f32 = 500.0;
    let walk = walk();
    let mut view = ViewState::default();
    let mut harness: Harness = dressed_at_60_hz(ROOM.size(), |ui| {
        ui.style_mut().animation_time = 1.0;
        let ribbons = Ribbons::of(&walk, Step::Project).expect("a band");
        ui.scope_builder(UiBuilder::new().max_rect(place(ROOM)), |ui| {
            ribbons.ui(ui, 1.0, |_| Some(WORD), &mut view.trail);
        });
    });
    let letter = |harness: &Harness| {
        let mut texts = harness.output().shapes.iter().filter_map(|clipped| match &clipped.shape {
            egui::Shape::Text(text) if text.galley.text().starts_with("q ") => Some(text.pos.x),
            _ => None,
        });
        texts.next_back().expect("a query")
    };
    let first = letter(&harness);
    harness.run_steps(30);
    let last = letter(&harness);
    assert!(first > last + 100.0, "from {first} to {last}");
    assert!(last < LETTER, "{last}");
}

#[test]
fn each_bar_has_its_word_on_the_band() {
    let walk = walk();
    for room in [ROOM, LOW] {
        let written = written(&walk, Step::Scale, room);
        let words: Vec<Rect> = walk
            .keys
            .iter()
            .filter_map(|word| written.iter().find(|text| text.0 == *word))
            .map(|text| text.1)
            .collect();
        assert_eq!(words.len(), walk.keys.len(), "{written:?}");
        assert!(words.iter().all(|word| room.contains_rect(*word)), "{words:?}");
        assert!(words.is_sorted_by(|a, b| a.right() < b.right()), "as the bars are: {words:?}");
    }
}

#[test]
fn the_mixes_of_all_heads_are_one_ribbon_and_each_cell_is_of_its_head() {
    let walk = walk();
    assert_eq!(walk.mixes.len(), 2);
    let mut view = ViewState::default();
    let mut heads = Vec::new();
    for share in [0.1, 0.9] {
        let mut asked = None;
        let mut harness: Harness = dressed(ROOM.size(), |ui| {
            let ribbons = Ribbons::of(&walk, Step::Output).expect("a band");
            ui.scope_builder(UiBuilder::new().max_rect(place(ROOM)), |ui| {
                ribbons.ui(ui, 6.0, |_| None, &mut view.trail);
            });
            asked = view.trail.entry();
        });
        let card = harness.get_by_label_contains(Step::Output.name()).rect();
        // The cells of both mixes, which are end to end.
        let numbers: usize = walk.mixes.iter().map(|mix| mix.values.len()).sum();
        let first = card.left() + LETTER;
        let cells = first..=first + 12.0 * numbers as f32;
        press(&mut harness, pos2(egui::lerp(cells, share), card.top() + 15.0), PointerButton::Primary);
        drop(harness);
        let entry = asked.expect("a cell was pressed");
        assert_eq!(entry.quantity, Quantity::Mix);
        heads.push(entry.owner.number());
    }
    assert_eq!(heads, [0, 1]);
}

#[test]
fn a_cell_asks_where_its_number_comes_from() {
    check_cells(ROOM);
}

#[test]
fn so_does_a_cell_on_a_low_stage() {
    check_cells(LOW);
}

/// A cell of each step asks where its number comes from.
fn check_cells(room: Rect) {
    let walk = walk();
    for (step, asked) in [
        (Step::Embed, Quantity::Static),
        (Step::Project, Quantity::Query),
        (Step::Softmax, Quantity::Weight),
        (Step::Mix, Quantity::Value),
        (Step::Output, Quantity::Mix),
        (Step::Contextual, Quantity::Input),
    ] {
        let mut view = ViewState::default();
        let mut at = None;
        let mut harness: Harness = dressed(room.size(), |ui| {
            let ribbons = Ribbons::of(&walk, step).expect("a band");
            ui.scope_builder(UiBuilder::new().max_rect(place(room)), |ui| {
                ribbons.ui(ui, step.index() as f32, |_| None, &mut view.trail);
            });
            at = view.trail.entry();
        });
        let card = harness.get_by_label_contains(step.name()).rect();
        assert!(place(room).contains_rect(card));
        // The first cell of the first row; weights have the whole of it.
        let cell =
            pos2(if step == Step::Softmax { card.center().x } else { card.left() + LETTER + 6.0 }, card.top() + 15.0);
        press(&mut harness, cell, PointerButton::Primary);
        drop(harness);
        assert_eq!(at.map(|entry| entry.quantity), Some(asked), "{step:?}");
    }
}
