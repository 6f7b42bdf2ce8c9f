//! The page for teachers and its lesson: every kind of cell works as it is told.

use std::collections::BTreeSet;

use attune_core::lesson::cells::{Bind, CellKind};
use attune_core::lesson::parse;

use crate::common::lessons::of_file;
use crate::common::top::text;

const REFERENCE: &str = "tests/fixtures/reference.ron";
const PAGE: &str = "lessons/TEACHING.md";
const FORMAT: &str = "src/core/lesson/format.md";
/// Said once, above the cells.
const FIELD_OF_EVERY_KIND: &str = "opens";

/// A new kind breaks this match: it wants a place in the lesson and on the page.
fn kind(cell: &CellKind) -> &'static str {
    match cell {
        CellKind::Text { .. } => "Text",
        CellKind::Code { .. } => "Code",
        CellKind::Stage { .. } => "Stage",
        CellKind::Slider(_) => "Slider",
        CellKind::Plot { .. } => "Plot",
        CellKind::Predict(_) => "Predict",
        CellKind::Exercise(_) => "Exercise",
        CellKind::Gate { .. } => "Gate",
    }
}

/// The kinds that a lesson may write, as the program says them.
fn kinds() -> Vec<String> {
    expected_for("Unknown", "unknown name Unknown")
}

/// The fields of a kind, likewise.
fn fields(kind: &str) -> Vec<String> {
    expected_for(&format!("{kind}(no_such_field: 1)"), "unknown field \"no_such_field\"")
}

/// The names that the program expects where the lesson has this cell instead, `a, b or c`.
fn expected_for(cell: &str, message: &str) -> Vec<String> {
    let lesson = text(REFERENCE);
    let end = lesson.find("\n    ],\n\n    claims: [").expect("the end of the cells");
    let with = format!("{}\n        {cell},{}", &lesson[..end], &lesson[end..]);
    let issues = parse("reference.ron", &with).expect_err("an issue");
    let issue = issues.iter().find(|issue| issue.message.contains(message));
    let expected = issue.and_then(|issue| issue.expected.clone()).unwrap_or_else(|| panic!("{issues:#?}"));
    expected.replace(" or ", ", ").split(", ").map(str::to_owned).collect()
}

#[test]
fn every_kind_of_cell_is_in_it() {
    let lesson = of_file(REFERENCE);
    let found: BTreeSet<&str> = lesson.cells.iter().map(|cell| kind(&cell.kind)).collect();
    let known = kinds();
    assert_eq!(found, known.iter().map(String::as_str).collect());
    let bound: BTreeSet<&str> = lesson
        .cells
        .iter()
        .filter_map(|cell| match &cell.kind {
            CellKind::Slider(slider) => Some(match slider.bind {
                Bind::Temperature => "temperature",
                Bind::Time => "time",
                Bind::Mask => "mask",
                Bind::Weight { .. } => "a weight",
                Bind::Variable(_) => "a variable",
            }),
            _ => None,
        })
        .collect();
    assert_eq!(bound.len(), 5, "of all that a slider turns, {bound:?}");
}

fn blocks(page: &str) -> Vec<&str> {
    page.split("```ron\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default()).collect()
}

fn dense(text: &str) -> String {
    text.split_whitespace().collect()
}

/// So the page cannot drift: what it shows is part of a lesson that checks.
#[test]
fn every_example_of_the_page_is_in_it() {
    let (page, lesson) = (text(PAGE), dense(&text(REFERENCE)));
    let blocks = blocks(&page);
    for block in &blocks {
        assert!(lesson.contains(&dense(block)), "this example is not in {REFERENCE}:\n{block}");
    }
    for kind in kinds() {
        assert!(blocks.iter().any(|block| block.contains(&format!("{kind}("))), "no example of {kind}");
    }
}

#[test]
fn every_field_of_a_cell_is_in_the_format() {
    let format = text(FORMAT);
    let (before, cells) = format.split_once("    cells: [").expect("the cells");
    let said = before.rsplit("\n\n").next().unwrap_or_default();
    assert!(said.contains(&format!("`{FIELD_OF_EVERY_KIND}: [")), "{FORMAT} does not say that any cell may have it");
    let (cells, _) = cells.split_once("\n    claims: [").expect("the claims");
    for kind in kinds() {
        let (_, example) = cells.split_once(&format!("\n        {kind}(")).unwrap_or_else(|| panic!("no {kind}"));
        // Up to the next cell.
        let end = example.find("\n        ),").or_else(|| example.find("),\n")).unwrap_or(example.len());
        for field in fields(&kind).iter().filter(|field| *field != FIELD_OF_EVERY_KIND) {
            assert!(example[..end].contains(&format!("{field}:")), "{kind} in {FORMAT} has no {field}");
        }
    }
}

#[test]
fn the_page_is_pointed_at() {
    assert!(text("README.md").contains(PAGE));
    assert!(text("src/core/lesson/starter.ron").contains(PAGE));
}
