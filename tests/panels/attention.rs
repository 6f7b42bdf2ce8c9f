//! The Attention panel by its labels.

use std::sync::Arc;

use attune::app::actions::WindowAction;
use attune::app::actions::focus::Opened;
use attune::app::panels::sheet::SheetPanel;
use attune::app::panels::{Panel, PanelContext, PanelName};
use attune::app::shell::ui::{LessonKeys, lesson_keys};
use attune::app::theme::Palette;
use attune::app::workspace::windows::provenance_ui;
use attune_core::kernel::command::{InterventionCommand, SentenceCommand};
use attune_core::kernel::{Command, Kernel};
use attune_engine::numerics::attention::{Mask, MaskTable};
use attune_engine::quantity::Quantity;
use attune_view::view_model::attention::{AttentionMaps, HeadMap, Reading};
use attune_view::view_model::pieces::WordAttention;
use attune_view::view_model::sentence_arcs::{Pair, WordAt};
use egui::{Event, Key, PointerButton, Pos2, Shape, Ui, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};

use crate::common::lessons::{APPLE, form, kernel, small};
use crate::common::models::with_tokenizer;
use crate::live::PanelHarness;
use crate::pointer::{click, press, wheel};

const WORDS: &str = include_str!("../../lessons/words.ron");

#[test]
fn a_query_is_selected_by_its_row_and_let_go_by_escape_or_a_click_beside() {
    let mut panel = PanelHarness::new(small(), Vec2::new(420.0, 640.0), SheetPanel::of(PanelName::Attention));
    let query = |panel: &PanelHarness<SheetPanel>| panel.view().selection.query;
    click(&mut panel, "Query sank in head 1");
    assert_eq!(query(&panel), Some(2));
    click(&mut panel, "Query sank in head 1");
    assert_eq!(query(&panel), Some(2), "a second click lets nothing go");
    panel.key_press(Key::Escape);
    panel.run_steps(3);
    assert_eq!(query(&panel), None);
    click(&mut panel, "Query seal in head 1");
    press(&mut panel, Pos2::new(400.0, 600.0), PointerButton::Primary);
    assert_eq!(query(&panel), None);
}

/// In the columns of windows of 1280x720 and 900x600, with the margin that the harness takes.
#[test]
fn both_maps_of_apple_are_whole_in_a_small_window() {
    for size in [Vec2::new(368.0, 634.0), Vec2::new(330.0, 514.0)] {
        let panel = PanelHarness::new(kernel(APPLE), size, SheetPanel::of(PanelName::Attention));
        for head in 1..=2 {
            let map = panel.get_by_label(&format!("Weights of head {head}")).rect();
            let inside = map.top() >= 0.0 && map.bottom() <= size.y && map.right() <= size.x;
            assert!(inside && map.width() >= 120.0, "{size:?}: {map:?} of head {head}");
            let last = panel.get_by_label(&format!("Query apple₂ in head {head}")).rect();
            assert!(last.bottom() <= size.y && last.height() >= 12.0, "{size:?}: {last:?} of head {head}");
        }
    }
}

#[test]
fn on_the_walk_through_a_layer_the_maps_are_its_own() {
    let mut panel = PanelHarness::new(form("next_word"), Vec2::new(420.0, 640.0), SheetPanel::of(PanelName::Attention));
    let heads = panel.model::<AttentionMaps>().heads.clone();
    let shown = |panel: &PanelHarness<SheetPanel>| -> Vec<usize> {
        let is_shown =
            |map: &&HeadMap| panel.query_by_label(&format!("Weights of {}", map.title.to_lowercase())).is_some();
        heads.iter().filter(is_shown).map(|map| map.block).collect()
    };
    assert!(heads.iter().any(|map| map.block == 1));
    panel.view_mut().walk.set_layers(2);
    for layer in [1, 0] {
        panel.view_mut().walk.walk_to_layer(layer);
        panel.view_mut().walk.advance(f32::INFINITY);
        let of_layer = heads.iter().find(|map| map.block == layer).expect("a head");
        panel.view_mut().selection.follow_head(of_layer.head);
        panel.run_steps(3);
        let shown = shown(&panel);
        assert!(!shown.is_empty() && shown.iter().all(|block| *block == layer), "layer {layer}: {shown:?}");
    }
}

#[test]
fn where_the_mask_hides_every_other_word_the_panel_says_so() {
    let said = |kernel: Kernel| {
        let panel = PanelHarness::new(kernel, Vec2::new(420.0, 640.0), SheetPanel::of(PanelName::Attention));
        panel.model::<AttentionMaps>().note.inspect(|note| _ = panel.get_by_label(note))
    };
    assert!(said(kernel(WORDS)).is_some_and(|note| note.starts_with("This model has no attention yet.")));
    let masked = |sees: fn(usize, usize) -> bool| {
        let mut kernel = small();
        let tokens = kernel.snapshot().model.expect("trained").sentence.tokens.len();
        let mask = Mask::custom(MaskTable::from_fn(tokens, tokens, sees));
        kernel.apply(Command::Interventions(InterventionCommand::SetMask(Some(mask))));
        kernel.settle();
        said(kernel)
    };
    assert_eq!((said(small()), masked(|query, key| key <= query)), (None, None));
    assert!(masked(|query, key| key == query).is_some_and(|note| note.starts_with("Your mask hides")));
}

/// A map that is higher than its panel.
#[test]
fn names_of_columns_stay_in_sight_and_what_is_pointed_at_is_pointed_at_everywhere() {
    let mut panel = PanelHarness::new(small(), Vec2::new(420.0, 200.0), SheetPanel::of(PanelName::Attention));
    panel.view_mut().selection.show_head(Some(1));
    panel.run_steps(2);
    let map = panel.get_by_label("Weights of head 2").rect();
    let over = |panel: &mut PanelHarness<SheetPanel>, at: Pos2| {
        panel.event(Event::PointerMoved(at));
        panel.run_steps(3);
        panel.view().hover
    };
    let hover = over(&mut panel, map.min + Vec2::splat(4.0));
    assert_eq!(hover.pair(), Some(Pair { head: 1, query: 0, key: 0 }));
    let row = panel.get_by_label("Query seal in head 2").rect().center();
    assert_eq!(over(&mut panel, row).at(), Some(WordAt::in_sentence(1)));
    wheel(&mut panel, Pos2::new(210.0, 150.0));
    let scrolled = panel.get_by_label("Weights of head 2").rect();
    assert!(scrolled.top() < map.top());
    // Where the first row was are the names now, and behind them no cell is pointed at.
    assert_eq!(over(&mut panel, Pos2::new(map.left() + 4.0, map.top() - 36.0)).pair(), None);
    assert!(over(&mut panel, Pos2::new(map.left() + 4.0, map.top() + 12.0)).pair().is_some());
}

/// Two heads under each other in a panel that has no room for both.
#[test]
fn a_row_that_is_clicked_stays_where_it_is() {
    // The controls take some of it.
    const HEIGHT: f32 = 270.0;
    let mut kernel = small();
    kernel.apply(Command::Sentence(SentenceCommand::Set("the seal sank".to_owned())));
    let mut panel = PanelHarness::new(kernel, Vec2::new(150.0, HEIGHT), SheetPanel::of(PanelName::Attention));
    let row = |harness: &Harness, head| harness.get_by_label(&format!("Query seal in head {head}")).rect().top();
    let before = row(&panel, 1);
    click(&mut panel, "Query seal in head 1");
    panel.run_steps(20);
    assert_eq!((panel.view().selection.query, row(&panel, 1)), (Some(1), before));
    // Selected elsewhere, such as on the stage, a row out of sight is scrolled into it.
    wheel(&mut panel, Pos2::new(75.0, 230.0));
    assert!(row(&panel, 1) < before);
    panel.view_mut().selection.query = Some(0);
    panel.run_steps(40);
    let first = panel.get_by_label("Query the in head 1").rect().center().y;
    let other = panel.get_by_label("Query the in head 2").rect().center().y;
    assert!((0.0..HEIGHT).contains(&first) || (0.0..HEIGHT).contains(&other), "{first}, {other}");
}

/// The panel with the card that tells where a number comes from, and its key.
struct Traced(SheetPanel);

impl Panel for Traced {
    fn ui(&mut self, ui: &mut Ui, cx: &mut PanelContext) -> Option<()> {
        Opened { trail_depth: cx.view.trail.depth(), ..Opened::default() }.announce(ui.ctx());
        let pressed = lesson_keys(ui.ctx(), &LessonKeys::default());
        if pressed.iter().any(|pressed| pressed.action == WindowAction::CloseOrigin) {
            cx.view.trail.close();
        }
        self.0.ui(ui, cx)?;
        cx.requests.actions.extend(provenance_ui(ui.ctx(), cx.models, cx.view.trail, true));
        Some(())
    }
}

#[test]
fn a_cell_is_followed_by_a_click_and_asked_by_a_right_click() {
    let mut panel = PanelHarness::new(small(), Vec2::new(1000.0, 900.0), Traced(SheetPanel::of(PanelName::Attention)));
    let map = panel.get_by_label("Weights of head 2").rect();
    let cell = map.width() / 7.0;
    let at = |row: f32, col: f32| map.min + Vec2::new((col + 0.5) * cell, (row + 0.5) * cell);
    press(&mut panel, at(1.0, 5.0), PointerButton::Primary);
    let view = panel.view();
    assert_eq!(
        (view.selection.query, view.selection.key, view.selection.head, view.trail.entry()),
        (Some(1), Some(5), 1, None)
    );
    press(&mut panel, at(1.0, 5.0), PointerButton::Secondary);
    assert_eq!(panel.view().trail.entry(), Some(Quantity::Weight.of_head(1, [1, 5])));
    let card = panel.get_by_label("A₂[\"seal\", \"duck\"]").rect();
    assert!((card.top() - at(1.0, 5.0).y).abs() < 100.0, "it comes beside what was clicked: {card:?}");
    // Followed into an operand, and back.
    assert!(panel.query_by_label("Back").is_none());
    panel.get_by_label_contains("exp(duck) ").click();
    panel.run_steps(3);
    assert_eq!(panel.view().trail.entry(), Some(Quantity::Exponential.of_head(1, [1, 5])));
    click(&mut panel, "Back");
    assert_eq!(panel.view().trail.entry(), Some(Quantity::Weight.of_head(1, [1, 5])));
    // It stays until it is closed.
    panel.run_steps(10);
    assert!(panel.view().trail.entry().is_some());
    panel.key_press(Key::Escape);
    panel.run_steps(3);
    assert_eq!(panel.view().trail.entry(), None);
    press(&mut panel, at(3.0, 3.0), PointerButton::Secondary);
    assert!(panel.view().trail.entry().is_some());
    press(&mut panel, Pos2::new(5.0, 895.0), PointerButton::Primary);
    assert_eq!(panel.view().trail.entry(), None, "a click elsewhere closes it");
    press(&mut panel, at(3.0, 3.0), PointerButton::Secondary);
    click(&mut panel, "Close provenance");
    assert_eq!(panel.view().trail.entry(), None);
}

#[test]
fn attention_is_seen_as_lines_by_head_and_copied() {
    let mut panel = PanelHarness::new(small(), Vec2::new(420.0, 900.0), SheetPanel::of(PanelName::Attention));
    let text = panel.model::<AttentionMaps>().tsv(&[1], Reading::default());
    click(&mut panel, "Show only head 2");
    assert!(panel.query_by_label("Weights of head 1").is_none());
    let before = panel.get_by_label("Weights of head 2").rect().width();
    click(&mut panel, "Larger cells");
    assert!(panel.get_by_label("Weights of head 2").rect().width() > before);
    let copied = |panel: &PanelHarness<SheetPanel>| {
        panel
            .output()
            .platform_output
            .commands
            .iter()
            .any(|command| matches!(command, egui::OutputCommand::CopyText(copied) if *copied == text))
    };
    panel.event(Event::PointerMoved(Pos2::new(200.0, 600.0)));
    panel.run_steps(1);
    panel.event(Event::Copy);
    panel.step();
    assert!(copied(&panel), "by the key, with the pointer over the panel");
    click(&mut panel, "Lines");
    assert!(panel.query_by_label("Lines from queries to keys").is_some());
    click(&mut panel, "Query seal, lines");
    assert_eq!(panel.view().selection.query, Some(1));
}

/// The keys of a map are tested on a sheet of plain numbers; here, the screen reader hears of words and weights.
#[test]
fn a_map_is_read_cell_by_cell_with_the_keyboard() {
    let mut panel = PanelHarness::new(small(), Vec2::new(420.0, 900.0), SheetPanel::of(PanelName::Attention));
    let map = panel.model::<AttentionMaps>().heads[0].clone();
    let told = |panel: &PanelHarness<SheetPanel>| panel.get_by_label("Weights of head 1").accesskit_node().value();
    panel.get_by_label("Weights of head 1").focus();
    panel.run_steps(2);
    assert_eq!(told(&panel), Some(map.say(0, 0)));
    panel.key_press(Key::ArrowDown);
    panel.run_steps(2);
    assert_eq!(told(&panel), Some(map.say(1, 0)));
    assert_eq!(panel.view().selection.query, None, "nothing is chosen by looking");
}

/// The frames of the accent's colour, by the middles of their rows.
fn framed<P: Panel + 'static>(panel: &PanelHarness<P>) -> Vec<f32> {
    let accent = Palette::of(panel.ctx.global_style().visuals.dark_mode).accent;
    let shapes = panel.output().shapes.iter().map(|clipped| &clipped.shape);
    let frames = shapes.filter_map(|shape| match shape {
        Shape::Rect(rect) if rect.stroke.color == accent => Some(rect.rect.center().y),
        _ => None,
    });
    frames.collect()
}

#[test]
fn the_frame_is_around_the_row_of_the_chosen_word_where_words_are_cut_into_pieces() {
    let folder = with_tokenizer("bert-wild");
    let mut kernel = Kernel::embedded(Arc::new(attune_core::lesson::read(&folder.0).expect("a model")));
    kernel.apply(Command::Sentence(SentenceCommand::Set("The unrelated bankers of Zürich ate it".to_owned())));
    let mut panel = PanelHarness::new(kernel, Vec2::new(700.0, 1400.0), SheetPanel::of(PanelName::Attention));
    let maps = panel.model::<WordAttention>().0.heads.clone();
    for word in ["The", "bankers", "ate", "it"] {
        let row = |map: &HeadMap| {
            let label = map.queries.iter().find(|label| label.eq_ignore_ascii_case(word)).expect("a word").clone();
            format!("Query {label} in {}", map.title.to_lowercase())
        };
        let first = row(&maps[0]);
        click(&mut panel, &first);
        let framed = framed(&panel);
        assert!(!framed.is_empty(), "{word} has a frame");
        let rows: Vec<f32> = maps.iter().map(|map| panel.get_by_label(&row(map)).rect().center().y).collect();
        let is_on_its_row = |frame: &f32| rows.iter().any(|row| (row - frame).abs() < 1.0);
        assert!(framed.iter().all(is_on_its_row), "{word}: frames at {framed:?}, its rows at {rows:?}");
    }
}
