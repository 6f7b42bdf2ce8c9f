//! Cells of the notebook as they are shown.

use attune::app::panels::notebook::NotebookPanel;
use attune_core::kernel::Command;
use attune_core::kernel::command::SentenceCommand;
use attune_core::lesson::links::TextLink;
use attune_core::lesson::panels::PanelName;
use attune_engine::quantity::Quantity;
use egui::Vec2;
use egui_kittest::kittest::{NodeT, Queryable};

use crate::common::lessons::{SMALL, kernel};
use crate::live::PanelHarness;
use crate::pointer::click;

const SIZE: Vec2 = Vec2::new(420.0, 640.0);
/// The stage cell of the small lesson, and of that the beginning.
const CAPTION: &str = "The same word";
const STAGE: &str = "Stage(id: \"both\",";

#[test]
fn a_stage_cell_sets_sentence_words_and_time() {
    let lesson = SMALL.replacen(STAGE, &format!("{STAGE} sentence: 1,"), 1);
    let mut panel = PanelHarness::new(kernel(&lesson), SIZE, NotebookPanel::default());
    click(&mut panel, &format!("Show: {CAPTION}"));
    assert_eq!(panel.commands(), [Command::Sentence(SentenceCommand::Select(1))]);
    let view = panel.view();
    let time = view.walk.time();
    assert_eq!(
        (view.highlight.lit, view.highlight.shown_cell, time),
        (vec!["seal".to_owned()], Some("both".to_owned()), 0.0)
    );
    assert!(panel.view().walk.is_gliding(), "time glides; it does not jump");
}

#[test]
fn a_wide_table_leaves_the_column_its_width() {
    let cells = "| a long heading of a column ".repeat(6);
    let markdown = format!("{cells}|\\n{}|\\n{cells}|", "|---".repeat(6));
    let lesson = SMALL.replacen("# Sinking and swimming", &markdown, 1);
    let panel = PanelHarness::new(kernel(&lesson), SIZE, NotebookPanel::default());
    assert!(panel.query_all_by_label_contains("a long heading").next().is_some());
    let card = panel.get_by_label(CAPTION).rect();
    assert!(card.right() <= SIZE.x, "the card below the table ends at {} of {}", card.right(), SIZE.x);
}

#[test]
fn a_live_number_opens_its_provenance_and_a_link_asks_the_window() {
    let markdown = r###"md: r#"Weight {{ A[0]["seal", "duck"] | .3 }} and [the map](attune:panel/Attention)"#"###;
    let lesson = SMALL.replacen(r##"md: "# Sinking and swimming""##, markdown, 1);
    let mut panel = PanelHarness::new(kernel(&lesson), SIZE, NotebookPanel::default());
    let name = panel.get_by_label_contains(", live.").accesskit_node().label().expect("a name");
    click(&mut panel, &name);
    let entry = panel.view().trail.entry().expect("the provenance of the weight");
    assert_eq!(entry, Quantity::Weight.of_head(0, [1, 5]));
    let name = panel.get_by_label_contains("Open the panel Attention").accesskit_node().label().expect("a name");
    click(&mut panel, &name);
    assert_eq!(panel.take_followed(), [TextLink::Panel(PanelName::Attention)]);
}
