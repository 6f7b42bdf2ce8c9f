//! The card with the vectors of a step, without a window.

use attune::app::stage::ribbons::Ribbons;
use attune::app::ui_state::ViewState;
use attune_engine::quantity::Quantity;
use attune_view::explain::walk::{Focus, Step, WalkModel};
use egui::{PointerButton, Pos2, Rect, UiBuilder, pos2, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;

use crate::common::lessons::{APPLE, kernel};
use crate::dressed::dressed;
use crate::pointer::press;

const ROOM: Rect = Rect { min: Pos2::ZERO, max: pos2(840.0, 420.0) };

fn walk() -> WalkModel {
    WalkModel::of(&kernel(APPLE).snapshot(), Focus { query: 0, head: 0, key: None }).expect("a walk")
}

#[test]
fn the_card_covers_neither_of_the_two_words_that_it_is_about() {
    const ABOUT: usize = 100;
    let walk = walk();
    let ribbons = Ribbons::of(&walk, Step::Score, ROOM.height()).expect("scores have a card");
    for corner in [ROOM.left_bottom(), ROOM.right_bottom(), ROOM.left_top(), ROOM.right_top(), ROOM.right_center()] {
        let about = corner.lerp(ROOM.center(), 0.25);
        let place = ribbons.place(ROOM, &[(about, ABOUT), (ROOM.center(), 1)]).expect("room");
        assert!(ROOM.contains_rect(place) && !place.contains(about), "{place:?} covers {about}");
    }
    let narrow = Rect::from_min_size(Pos2::ZERO, vec2(400.0, 420.0));
    assert_eq!(ribbons.place(narrow, &[]), None);
}

/// A card without the pointer, and all that is written on it.
fn written(walk: &WalkModel, step: Step, room: Rect) -> Vec<(String, Rect)> {
    let mut view = ViewState::default();
    let place = Ribbons::of(walk, step, room.height()).and_then(|card| card.place(room, &[])).expect("room");
    let harness: Harness = dressed(room.size(), |ui| {
        let ribbons = Ribbons::of(walk, step, room.height()).expect("a card");
        ui.scope_builder(UiBuilder::new().max_rect(place), |ui| {
            ribbons.ui(ui, step.index() as f32, None, &mut view.trail);
        });
    });
    let texts = harness.output().shapes.iter().filter_map(|clipped| match &clipped.shape {
        egui::Shape::Text(text) => Some((text.galley.text().to_owned(), text.visual_bounding_rect())),
        _ => None,
    });
    texts.collect()
}

#[test]
fn each_bar_has_its_word_on_the_card() {
    let walk = walk();
    for room in [ROOM, Rect::from_min_size(Pos2::ZERO, vec2(840.0, 300.0))] {
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
        let place =
            Ribbons::of(&walk, Step::Output, ROOM.height()).and_then(|card| card.place(ROOM, &[])).expect("room");
        let mut asked = None;
        let mut harness: Harness = dressed(ROOM.size(), |ui| {
            let ribbons = Ribbons::of(&walk, Step::Output, ROOM.height()).expect("a card");
            ui.scope_builder(UiBuilder::new().max_rect(place), |ui| ribbons.ui(ui, 6.0, None, &mut view.trail));
            asked = view.trail.entry();
        });
        let card = harness.get_by_label_contains(Step::Output.name()).rect();
        let cells = card.left() + 124.0..=card.right() - 20.0;
        press(&mut harness, pos2(egui::lerp(cells, share), card.top() + 20.0), PointerButton::Primary);
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
fn so_does_a_cell_of_the_slight_card_of_a_low_stage() {
    let low = Rect::from_min_size(Pos2::ZERO, vec2(840.0, 300.0));
    let height = |room: Rect| {
        let walk = walk();
        let card = Ribbons::of(&walk, Step::Output, room.height()).expect("a card");
        card.place(room, &[]).expect("room").height()
    };
    assert!(height(low) < 0.7 * height(ROOM));
    check_cells(low);
}

/// Each step but the first has a card, and a cell asks where its number comes from.
fn check_cells(room: Rect) {
    let walk = walk();
    let has_card = |step: &Step| Ribbons::of(&walk, *step, room.height()).is_some();
    let with_cards: Vec<Step> = Step::ALL.into_iter().filter(has_card).collect();
    assert_eq!(with_cards, &Step::ALL[1..]);
    for (step, asked) in [
        (Step::Project, Quantity::Query),
        (Step::Softmax, Quantity::Weight),
        (Step::Mix, Quantity::Value),
        (Step::Output, Quantity::Mix),
        (Step::Contextual, Quantity::Input),
    ] {
        let mut view = ViewState::default();
        let place = Ribbons::of(&walk, step, room.height()).and_then(|card| card.place(room, &[])).expect("room");
        let mut at = None;
        let mut harness: Harness = dressed(room.size(), |ui| {
            let ribbons = Ribbons::of(&walk, step, room.height()).expect("a card");
            ui.scope_builder(UiBuilder::new().max_rect(place), |ui| {
                ribbons.ui(ui, step.index() as f32, None, &mut view.trail);
            });
            at = view.trail.entry();
        });
        let card = harness.get_by_label_contains(step.name()).rect();
        assert!(place.contains_rect(card));
        // The first cell of the first row; weights have the whole of it.
        let cell = pos2(if step == Step::Softmax { card.center().x } else { card.left() + 124.0 }, card.top() + 20.0);
        press(&mut harness, cell, PointerButton::Primary);
        drop(harness);
        assert_eq!(at.map(|entry| entry.quantity), Some(asked), "{step:?}");
    }
}
