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
    let (problem, meant) = match PanelName::named(&title) {
        Some(panel) if panel.is_always_open() => (format!("\"{title}\" is always open"), None),
        Some(panel) => return Some(panel),
        None => {
            let meant = PanelName::nearest(&title).filter(|panel| !panel.is_always_open());
            (format!("unknown panel \"{}\"", shorten(&title)), meant)
        }
    };
    let opens = PanelName::ALL.into_iter().filter(|panel| !panel.is_always_open());
    let opens: Vec<String> = opens.map(|panel| panel.title().to_owned()).collect();
    node.field_issue(problem).expected(one_of_names(&opens, "")).meant(meant.map(PanelName::title)).none()
}
