//! Reading of the panels that a lesson or a cell opens.

use std::collections::HashSet;

use crate::lesson::read::common::one_of_names;
use crate::lesson::reading::decode::{Node, list, text};
use crate::lesson::reading::issue::shorten;
use crate::lesson::schema::panels::PanelName;

/// Reads the panels that a lesson or a cell opens.
pub fn read_panels(node: Node<'_>) -> Option<Vec<PanelName>> {
    let mut read = HashSet::new();
    list(node, PanelName::ALL.len(), |node| {
        let panel = read_panel(node)?;
        if !read.insert(panel) {
            return node.field_issue(format!("\"{}\" appears twice", panel.title())).none();
        }
        Some(panel)
    })
}

fn read_panel(node: Node<'_>) -> Option<PanelName> {
    let title = text(node)?;
    let opens: Vec<String> = PanelName::ALL
        .into_iter()
        .filter(|panel| !panel.is_always_open())
        .map(|panel| panel.title().to_owned())
        .collect();
    match PanelName::named(&title) {
        Some(panel) if panel.is_always_open() => {
            node.field_issue(format!("\"{title}\" is always open")).expected(one_of_names(&opens, "")).none()
        }
        Some(panel) => Some(panel),
        None => {
            let meant = PanelName::nearest(&title).filter(|panel| !panel.is_always_open());
            node.field_issue(format!("unknown panel \"{}\"", shorten(&title)))
                .expected(one_of_names(&opens, ""))
                .meant(meant.map(PanelName::title))
                .none()
        }
    }
}
