//! Outputs of code cells, found by their labels, without a window.
use attune::app::panels::notebook::ReferenceUiState;
use attune::app::panels::notebook::outputs::{fault_ui, outputs_ui, pictures_ui};
use attune::app::panels::notebook::toolbar::reference_ui;
use attune::app::text::images::Images;
use attune::app::theme;
use attune_engine::code::{Axis, Fault, Labels, Output, Plot, PlotLine, Tensor};
use attune_view::view_model::output::OutputModel;
use egui::{Key, Modifiers, OutputCommand, Ui, Vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};

use crate::dressed::dressed;

const SIZE: Vec2 = Vec2::new(420.0, 640.0);

fn show<'a>(panel: impl FnMut(&mut Ui) + 'a) -> Harness<'a> {
    dressed(SIZE, panel)
}

fn shown(outputs: &[Output]) -> Harness<'static> {
    let models = OutputModel::all("", outputs);
    show(move |ui| outputs_ui(ui, &models))
}

fn axis(words: &[&str]) -> Axis {
    let labels: Labels = words.iter().map(|word| (*word).to_owned()).collect();
    Axis::labelled(labels)
}

fn weights() -> Output {
    let axes = vec![axis(&["the", "bank"]), axis(&["bank", "river"])];
    Output::Table { caption: "A".into(), tensor: Tensor::new(axes, vec![0.5, 0.25, 0.125, 0.61234]) }
}

/// The text that a click put into the clipboard.
fn copied(harness: &mut Harness, label: &str) -> String {
    harness.get_by_label(label).click();
    for _ in 0..4 {
        harness.step();
        let commands = &harness.output().platform_output.commands;
        let text = commands.iter().find_map(|command| match command {
            OutputCommand::CopyText(text) => Some(text.clone()),
            _ => None,
        });
        if let Some(text) = text {
            return text;
        }
    }
    panic!("nothing was copied");
}

#[test]
fn a_table_has_words_at_its_sides_and_tells_its_cells() {
    let mut harness = shown(&[weights()]);
    for word in ["the", "river"] {
        assert!(harness.query_by_label(word).is_some(), "{word}");
    }
    let table = harness.get_by_label("Table A (2, 2)");
    let rect = table.rect();
    let river = harness.get_by_label("river").rect();
    assert!(river.bottom() <= rect.top() + 1.0 && river.center().x > rect.center().x);
    harness.hover_at(rect.right_bottom() - Vec2::splat(6.0));
    harness.run_steps(40);
    assert!(harness.query_by_label("A[\"bank\", \"river\"] = 0.61234").is_some());
}

#[test]
fn the_keyboard_goes_from_cell_to_cell() {
    let mut harness = shown(&[weights()]);
    harness.get_by_label("Table A (2, 2)").focus();
    harness.run_steps(2);
    let told = |harness: &Harness| harness.get_by_label("Table A (2, 2)").accesskit_node().value();
    assert_eq!(told(&harness).as_deref(), Some("A[\"the\", \"bank\"] = 0.5"));
    harness.key_press(Key::ArrowDown);
    harness.key_press(Key::ArrowRight);
    harness.run_steps(3);
    assert_eq!(told(&harness).as_deref(), Some("A[\"bank\", \"river\"] = 0.61234"));
}

#[test]
fn a_table_is_copied_for_a_spreadsheet() {
    let mut harness = shown(&[weights()]);
    let text = copied(&mut harness, "Copy the table A, for a spreadsheet");
    assert_eq!(text, "\tbank\triver\nthe\t0.5\t0.25\nbank\t0.125\t0.61234\n");
    harness.run_steps(2);
    assert!(harness.query_by_label("Copied the table A, for a spreadsheet").is_some());
}

#[test]
fn of_a_thousand_rows_only_those_in_sight_are_drawn() {
    let tensor = Tensor::matrix(1000, 1000, (0..1_000_000).map(|i| f64::from(i).sin()).collect());
    let harness = shown(&[Output::Table { caption: "".into(), tensor }]);
    let table = harness.get_by_label_contains("Table").rect();
    assert!(table.height() <= theme::size::OUTPUT_MAX && table.right() <= SIZE.x);
    let shapes = harness.output().shapes.len();
    assert!(shapes < 3000, "{shapes} shapes");
}

#[test]
fn of_three_axes_one_table_is_chosen() {
    let axes = vec![axis(&["head 1", "head 2", "head 3"]), Axis::plain(8), Axis::plain(8)];
    let tensor = Tensor::new(axes, (0..192).map(f64::from).collect());
    let mut harness = shown(&[Output::Table { caption: "A".into(), tensor }]);
    assert!(harness.query_by_label("Table A head 1 (3, 8, 8)").is_some());
    harness.get_by_label("Part head 3 of A").click();
    harness.run_steps(3);
    assert!(harness.query_by_label("Table A head 3 (3, 8, 8)").is_some());
}

#[test]
fn small_tables_of_three_axes_stand_side_by_side() {
    let tensor = Tensor::new(vec![Axis::plain(2), Axis::plain(2), Axis::plain(2)], vec![0.5; 8]);
    let harness = shown(&[Output::Table { caption: "A".into(), tensor }]);
    let [first, second] = [0, 1].map(|part| harness.get_by_label(&format!("Table A {part} (2, 2, 2)")).rect());
    assert!(first.right() < second.left() && (first.top() - second.top()).abs() < 1.0);
}

#[test]
fn a_number_is_copied_with_all_its_digits() {
    let mut harness = shown(&[Output::Number(1.0 / 3.0)]);
    assert_eq!(copied(&mut harness, "Copy the number 0.3333333333333333"), "0.3333333333333333");
    harness.run_steps(2);
    assert!(harness.query_by_label("copied").is_some());
}

#[test]
fn lines_printed_in_a_row_are_copied_at_once() {
    let lines = ["one", "two", "three"].map(|line| Output::Text(line.into()));
    let mut harness = shown(&[&lines[..], &[Output::Number(1.0), Output::Text("four".into())]].concat());
    assert_eq!(harness.query_all_by_label("Copy the text").count(), 2);
    let first = harness.get_all_by_label("Copy the text").next().expect("it is there").rect();
    harness.hover_at(first.center());
    harness.run_steps(2);
    harness.get_all_by_label("Copy the text").next().expect("it is there").click();
    let mut texts = Vec::new();
    for _ in 0..4 {
        harness.step();
        texts.extend(harness.output().platform_output.commands.iter().filter_map(|command| match command {
            OutputCommand::CopyText(text) => Some(text.clone()),
            _ => None,
        }));
    }
    assert_eq!(texts, ["one\ntwo\nthree"]);
}

#[test]
fn the_other_kinds_have_names() {
    let ranking = [("river", 0.9), ("money", -0.2)].map(|(word, x)| (word.to_owned(), x));
    let line = PlotLine { name: "loss".to_owned(), y: [1.0, f64::NAN, 3.0].into() };
    let outputs = [
        Output::Text("some text".into()),
        Output::Ranking(ranking.into()),
        Output::Plot(Plot { x: [0.0, 1.0, 2.0].into(), lines: vec![line], ..Plot::default() }),
        Output::Table { caption: "".into(), tensor: Tensor::vector(vec![]) },
    ];
    let mut harness = shown(&outputs);
    for label in ["some text", "river 0.900", "money -0.200", "Plot of a line: loss", "loss", "It has no entries."] {
        assert!(harness.query_by_label(label).is_some(), "{label}");
    }
    assert!(harness.query_by_label("One point is not finite and is left out.").is_some());
    assert_eq!(copied(&mut harness, "Copy the list"), "river\t0.9\nmoney\t-0.2\n");
}

#[test]
fn a_fault_says_where_and_what_may_help() {
    let fault = Fault::new("no").hint("perhaps").at(Some(attune_engine::code::LineColumn { line: 2, column: 5 }));
    let harness = show(move |ui| _ = fault_ui(ui, &fault));
    assert!(harness.query_by_label("2:5  no").is_some() && harness.query_by_label("perhaps").is_some());
}

#[test]
fn the_reference_is_searched_and_gives_examples() {
    let wanted = std::rc::Rc::new(std::cell::Cell::new(None));
    let (inner, mut state) = (wanted.clone(), ReferenceUiState::default());
    let mut harness = show(move |ui| {
        if let Some(help) = reference_ui(ui, &mut state) {
            inner.set(Some(help.name));
        }
    });
    harness.get_by_label("Search the functions").click();
    harness.run_steps(2);
    harness.event(egui::Event::Text("cosi".to_owned()));
    harness.run_steps(3);
    assert!(harness.query_by_label("softmax(S)").is_none());
    harness.key_press_modifiers(Modifiers::NONE, Key::Tab);
    harness.get_by_label("Insert the example of cosine").click();
    harness.run_steps(3);
    assert_eq!(wanted.get(), Some("cosine"));
}

#[test]
fn a_picture_has_its_place_and_a_missing_one_says_why() {
    let folder = std::env::temp_dir().join(format!("attune-outputs-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    image::RgbaImage::new(64, 32).save(folder.join("a.png")).unwrap();
    let mut images = Images::default();
    images.open(&folder.join("x.ron"));
    let models = OutputModel::all("", &[Output::Image("a.png".into()), Output::Image("gone.png".into())]);
    let harness = show(move |ui| pictures_ui(ui, &models, &mut images));
    assert_eq!(harness.get_by_label("a.png").rect().size(), Vec2::new(64.0, 32.0));
    harness.get_by_label("gone.png: there is no such file in the lesson's folder");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn help_is_set_and_not_shown_as_its_source() {
    let said = attune_engine::code::help("softmax").unwrap();
    let harness = shown(&[Output::Text(said.into())]);
    assert!(harness.query_by_label_contains("$").is_none());
    harness.get_by_label("softmax(S)");
    harness.get_by_label("Turns each row into weights that sum to 1.");
}
