//! The All heads panel by its labels.

use attune::app::actions::Action;
use attune::app::panels::sheet::SheetPanel;
use attune::app::panels::{PanelId, PanelName, ids};
use attune_core::kernel::Command;
use attune_core::kernel::command::SentenceCommand;
use attune_view::sheet::HeadOrder;
use attune_view::view_model::heads::{AllHeads, HeadMeasure};
use egui::{Key, Vec2};
use egui_kittest::kittest::Queryable;

use crate::common::lessons::{form, small};
use crate::live::PanelHarness;
use crate::pointer::click;

fn panel(size: Vec2) -> PanelHarness<SheetPanel> {
    PanelHarness::new(small(), size, SheetPanel::of(PanelName::AllHeads))
}

fn said(panel: &PanelHarness<SheetPanel>, head: usize) -> String {
    let measure = panel.panel().chosen.measure.unwrap_or_default();
    AllHeads::of(panel.snapshot().model.as_ref().expect("a model")).heads[head].say(measure)
}

fn opens_attention(action: &Action) -> bool {
    let Action::Row(pressed) = action else { return false };
    ids()[pressed.which] == PanelId::of(PanelName::Attention)
}

#[test]
fn a_head_opens_by_a_click_and_by_the_keyboard() {
    let mut panel = panel(Vec2::new(420.0, 420.0));
    let second = said(&panel, 1);
    click(&mut panel, &second);
    assert_eq!(panel.view().selection.shown_head(), Some(1));
    assert!(panel.take_actions().iter().all(opens_attention));
    // The grid has the keyboard now, at that head.
    panel.key_press(Key::ArrowLeft);
    panel.run_steps(2);
    panel.key_press(Key::Enter);
    panel.run_steps(2);
    assert_eq!(panel.view().selection.shown_head(), Some(0));
    assert!(panel.take_actions().iter().any(opens_attention));
    panel.key_press(Key::M);
    panel.run_steps(2);
    assert_eq!(panel.panel().chosen.measure, Some(HeadMeasure::Same));
    assert!(panel.query_by_label(&said(&panel, 1)).is_some(), "its name says the number");
}

#[test]
fn heads_are_sorted_and_the_strongest_are_buttons() {
    let mut panel = panel(Vec2::new(420.0, 520.0));
    let places =
        |panel: &PanelHarness<SheetPanel>| [0, 1].map(|head| panel.get_by_label(&said(panel, head)).rect().left());
    let [first, second] = places(&panel);
    assert!(first < second, "in the order of the layer");
    click(&mut panel, "largest");
    let largest_first = places(&panel);
    click(&mut panel, "smallest");
    let smallest_first = places(&panel);
    assert_eq!(panel.panel().chosen.order, HeadOrder::SmallestFirst);
    assert_eq!(largest_first[0] < largest_first[1], smallest_first[0] > smallest_first[1]);
    let open = format!("Open {}", said(&panel, 0));
    click(&mut panel, &open);
    assert_eq!(panel.view().selection.shown_head(), Some(0));
}

#[test]
fn textures_are_made_for_what_is_in_sight_and_once() {
    let mut panel = panel(Vec2::new(420.0, 420.0));
    panel.run_steps(10);
    assert_eq!(panel.panel().textures_made(), 1, "one layer, once");
    panel.view_mut().selection.reading.is_added = true;
    panel.run_steps(10);
    assert_eq!(panel.panel().textures_made(), 2);
    panel.apply(Command::Sentence(SentenceCommand::Select(1)));
    panel.run_steps(10);
    assert_eq!(panel.panel().textures_made(), 3);
}

#[test]
fn the_switches_of_the_reading_say_what_is_shown() {
    let mut panel = panel(Vec2::new(420.0, 420.0));
    click(&mut panel, "Shows the length of what each word adds, ‖α V W_O‖, instead of its weight α");
    assert!(panel.view().selection.reading.is_added);
    assert!(panel.query_by_label_contains("Shown: the length of what is added").is_some());
}

#[test]
fn a_button_computes_what_a_head_compares_and_writes() {
    let mut panel = PanelHarness::new(form("pythia"), Vec2::new(700.0, 2400.0), SheetPanel::of(PanelName::AllHeads));
    panel.view_mut().selection.show_head(Some(2));
    panel.run_steps(2);
    click(&mut panel, "Compute for layer 2, head 1: tables of a head");
    panel.run_steps(3);
    assert_eq!(panel.commands(), [Command::Tables(2)]);
    assert!(panel.query_by_label("Composition with this head").is_some());
    assert!(panel.query_by_label("From each word, the head looks at (QK)").is_some());
}
