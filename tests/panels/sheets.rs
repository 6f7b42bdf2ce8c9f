//! Sheets in the window: every kind of item, by its labels, its keys and the pointer.

use std::sync::{Arc, Mutex};

use attune::app::panels::sheet::{SheetContext, SheetUiState, sheet_ui};
use attune::app::ui_state::{Trail, ViewState};
use attune_engine::quantity::{Entry, Quantity};
use attune_view::sheet::control::{Aside, Ask, Button, Control};
use attune_view::sheet::{Bars, Cells, Choice, Grid, Grids, Item, Mark, Scale, Sheet, Table, TableCell, Tile, Tiles};
use attune_view::view_model::attention::Reading;
use attune_view::view_model::heads::{AllHeads, HeadMeasure};
use attune_view::view_model::output::{RankingModel, RankingRow};
use egui::accesskit::Role;
use egui::{Event, Key, PointerButton, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};

use crate::common::lessons::small;
use crate::dressed::dressed;
use crate::pointer::{click, press};

const SIZE: Vec2 = Vec2::new(420.0, 900.0);

/// A sheet that is drawn frame after frame, and what is asked of it.
fn shown(items: Vec<Item>) -> (Harness<'static>, Arc<Mutex<Trail>>) {
    let sheet = Sheet { title: "Toy", items };
    let trail = Arc::new(Mutex::new(Trail::default()));
    let (mut state, mut view, asked) = (SheetUiState::default(), ViewState::default(), trail.clone());
    let harness = dressed(SIZE, move |ui| {
        sheet_ui(ui, &sheet, &mut SheetContext::new(&mut state, &mut view.for_panels()));
        asked.lock().expect("one thread").clone_from(&view.trail);
    });
    (harness, trail)
}

fn words(words: &[&str]) -> Arc<[String]> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Two rows and three columns, with an entry for each cell but the last.
fn grid() -> Grid {
    let values = [0.1, 0.2, 0.3, 0.4, 0.5].map(Some).into_iter().chain([None]).collect();
    let entry = |at: usize| (at < 5).then(|| Quantity::Weight.of_head(0, [at / 3, at % 3]));
    Grid {
        title: "heads".to_owned(),
        rows: words(&["one", "two"]),
        cols: words(&["a", "b", "c"]),
        cells: Cells::Numbers { values, entries: (0..6).map(entry).collect() },
        scale: Scale::Share { hue: 0, full: 1.0 },
        marked: vec![Mark { col: 1, about: "A mark".to_owned() }],
    }
}

fn grids() -> Item {
    Item::Grids(Grids { grids: vec![grid()], as_lines: false, legend: "What the colours mean.".to_owned() })
}

/// The cell that a screen reader hears of.
fn told(harness: &Harness) -> Option<String> {
    harness.get_by_label("Map of heads").accesskit_node().value()
}

#[test]
fn a_map_is_led_by_arrows_and_tells_its_cell() {
    let (mut harness, _) = shown(vec![grids()]);
    assert!(harness.query_by_label("What the colours mean.").is_some());
    let map = harness.get_by_label("Map of heads").rect();
    press(&mut harness, map.left_top() + Vec2::splat(3.0), PointerButton::Primary);
    harness.event(Event::PointerGone);
    for key in [Key::ArrowDown, Key::ArrowRight, Key::ArrowRight] {
        harness.key_press(key);
        harness.run_steps(2);
    }
    assert_eq!(told(&harness).as_deref(), Some("two (row), c (column): empty"));
    harness.key_press(Key::ArrowLeft);
    harness.run_steps(2);
    assert_eq!(told(&harness).as_deref(), Some("two (row), b (column): 0.5000"));
}

#[test]
fn a_map_grows_with_plus_and_shrinks_with_minus_to_its_first_size() {
    let (mut harness, _) = shown(vec![grids()]);
    let width = |harness: &Harness| harness.get_by_label("Map of heads").rect().width();
    let first = width(&harness);
    let map = harness.get_by_label("Map of heads").rect();
    press(&mut harness, map.center(), PointerButton::Primary);
    harness.key_press(Key::Plus);
    harness.run_steps(4);
    assert!(width(&harness) > first);
    for _ in 0..3 {
        harness.key_press(Key::Minus);
        harness.run_steps(4);
    }
    assert_eq!(width(&harness), first);
}

#[test]
fn a_right_click_on_a_cell_asks_where_its_number_comes_from() {
    let (mut harness, trail) = shown(vec![grids()]);
    let map = harness.get_by_label("Map of heads").rect();
    press(&mut harness, map.right_bottom() - Vec2::splat(3.0), PointerButton::Secondary);
    assert_eq!(trail.lock().unwrap().entry(), None, "an empty cell has no entry");
    press(&mut harness, map.left_top() + Vec2::splat(3.0), PointerButton::Secondary);
    assert_eq!(trail.lock().unwrap().entry(), Some(Quantity::Weight.of_head(0, [0, 0])));
}

#[test]
fn small_maps_are_named_with_their_numbers() {
    let kernel = small();
    let heads = Arc::new(AllHeads::of(kernel.snapshot().model.as_ref().expect("a model")));
    let tile = |head: usize, number: Option<f32>| {
        let shown = number.map_or("–".to_owned(), |number| number.to_string());
        Tile { at: [0, head], head, spoken: format!("head {head}: {shown}"), number, share: 0.5, rank: Some(1) }
    };
    let tiles = Tiles {
        heads,
        reading: Reading::default(),
        rows: vec!["Layer 1".to_owned()],
        cols: Vec::new(),
        tiles: vec![tile(0, Some(0.25)), tile(1, None)],
        next: Choice::Measure(HeadMeasure::Same),
        legend: "Legend".to_owned(),
    };
    let (harness, _) = shown(vec![Item::Tiles(tiles)]);
    assert!(harness.query_by_label("head 0: 0.25").is_some());
    assert!(harness.query_by_label("head 1: –").is_some());
}

/// An entry that some number of a table has.
fn asked() -> Entry {
    Quantity::Weight.of_head(1, [0, 0])
}

fn rates() -> Table {
    let entry = Some(asked());
    let row = |name: &str, rate: f32| vec![TableCell::words(name), TableCell { entry, ..TableCell::number(rate) }];
    Table {
        caption: "Rates".to_owned(),
        columns: vec!["name".to_owned(), "rate".to_owned()],
        rows: vec![row("beta", 0.5), row("alpha", 0.9), row("gamma", 0.1)],
    }
}

#[test]
fn a_table_is_sorted_by_a_column_and_its_numbers_are_asked() {
    let (mut harness, trail) = shown(vec![Item::Table(rates())]);
    let order = |harness: &Harness| {
        let mut names: Vec<(f32, String)> = ["alpha", "beta", "gamma"]
            .map(|name| (harness.get_by_role_and_label(Role::Label, name).rect().top(), name.to_owned()))
            .into();
        names.sort_by(|a, b| a.0.total_cmp(&b.0));
        names.into_iter().map(|(_, name)| name).collect::<Vec<_>>()
    };
    assert_eq!(order(&harness), ["beta", "alpha", "gamma"]);
    click(&mut harness, "Sort by rate");
    assert_eq!(order(&harness), ["alpha", "beta", "gamma"]);
    click(&mut harness, "Sort by rate");
    assert_eq!(order(&harness), ["gamma", "beta", "alpha"]);
    click(&mut harness, "Sort by rate");
    click(&mut harness, "Sort by name");
    assert_eq!(order(&harness), ["gamma", "beta", "alpha"]);
    click(&mut harness, "0.9000: where it comes from");
    assert_eq!(trail.lock().unwrap().entry(), Some(asked()));
}

/// A sheet with controls, in a panel of this width, and the sheet's requests.
fn controls(width: f32, controls: Vec<Control>) -> (Harness<'static>, Arc<Mutex<Vec<Ask>>>) {
    let sheet = Sheet { title: "Toy", items: vec![Item::Controls(controls)] };
    let asks = Arc::new(Mutex::new(Vec::new()));
    let (mut state, mut view, asked) = (SheetUiState::default(), ViewState::default(), asks.clone());
    let harness = dressed(Vec2::new(width, 400.0), move |ui| {
        let (state, view) = (&mut state, &mut view.for_panels());
        let mut cx = SheetContext::new(state, view);
        sheet_ui(ui, &sheet, &mut cx);
        asked.lock().expect("one thread").extend(cx.asks);
    });
    (harness, asks)
}

#[test]
fn controls_that_have_no_room_are_in_one_menu() {
    let option = |label| Control::Button(Button::option(label, "Shows them", false, Choice::Lines(true)));
    let aside = |label, one| Control::Aside(Aside { label, hint: "More", controls: vec![option(one)] });
    let row = || vec![option("Maps"), aside("As", "Lines"), aside("As", "Dots")];
    let (mut wide, asks) = controls(500.0, row());
    assert!(wide.query_by_label("As").is_none());
    click(&mut wide, "Dots");
    assert_eq!(asks.lock().unwrap().as_slice(), [Ask::Choose(Choice::Lines(true))]);
    let (mut narrow, _) = controls(300.0, row());
    assert!(narrow.query_by_label("Lines").is_none() && narrow.query_by_label("Dots").is_none());
    click(&mut narrow, "As");
    assert!(narrow.query_by_label("Lines").is_some() && narrow.query_by_label("Dots").is_some());
}

#[test]
fn a_button_that_is_off_asks_for_nothing() {
    let button = |name, is_on| Control::Button(Button::new(name, "Opens it", Ask::OpenHead(1)).enabled(is_on));
    let (mut harness, asks) = controls(500.0, vec![button("off", false), button("on", true)]);
    click(&mut harness, "off");
    assert!(asks.lock().unwrap().is_empty());
    click(&mut harness, "on");
    assert_eq!(asks.lock().unwrap().as_slice(), [Ask::OpenHead(1)]);
}

#[test]
fn everything_with_numbers_can_be_copied() {
    let row = RankingRow { word: "x".to_owned(), number: 0.5, shown: "0.500".to_owned(), share: Some(0.5) };
    let ranking = RankingModel { rows: vec![row], has_negative: false };
    let bars = Bars { caption: "Bars".to_owned(), ranking, entries: Vec::new() };
    let (mut harness, _) = shown(vec![grids(), Item::Table(rates()), Item::Bars(bars)]);
    for (what, text) in [("heads", "\ta\tb\tc\none\t0.1\t0.2\t0.3\ntwo\t0.4\t0.5\tNaN\n"), ("the numbers", "x\t0.5\n")]
    {
        click_copying(&mut harness, &format!("Copy {what}, for a spreadsheet"), text);
    }
    assert!(rates().tsv().starts_with("name\trate\nbeta\t0.5\n"));
}

#[track_caller]
fn click_copying(harness: &mut Harness, label: &str, text: &str) {
    harness.get_by_label(label).click();
    let copied = (0..4).find_map(|_| {
        harness.step();
        harness.output().platform_output.commands.iter().find_map(|command| match command {
            egui::OutputCommand::CopyText(text) => Some(text.clone()),
            _ => None,
        })
    });
    assert_eq!(copied.as_deref(), Some(text));
}
