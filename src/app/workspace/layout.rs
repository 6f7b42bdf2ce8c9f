//! The panels' layout as it is saved: a tree of its own, for one that is read may be anything.

use attune_view::view_model::saved_view::Layout;
use egui_dock::{DockState, Node, NodeIndex, Split, Tree};

use crate::app::panels::{PanelId, PanelName};

/// Splits within splits; no window has room for more.
const DEPTH_MAX: usize = 6;
/// The least share of a split.
const SHARE_MIN: f32 = 0.05;

/// The layout below a node; none where the node is empty.
fn layout_of(tree: &Tree<PanelId>, node: NodeIndex) -> Option<Layout> {
    let (is_beside, share) = match tree.iter().nth(node.0)? {
        Node::Empty => return None,
        Node::Leaf(leaf) => {
            let panels = leaf.tabs.iter().map(|panel| panel.title().to_owned()).collect();
            return Some(Layout::Tabs { panels, front: leaf.active.0 });
        }
        Node::Horizontal(split) => (true, split.fraction),
        Node::Vertical(split) => (false, split.fraction),
    };
    match (layout_of(tree, node.left()), layout_of(tree, node.right())) {
        (Some(first), Some(second)) => Some(Layout::Split { is_beside, share, parts: Box::new((first, second)) }),
        (one, other) => one.or(other),
    }
}

/// Adds the titles in a layout.
fn add_titles<'a>(layout: &'a Layout, titles: &mut Vec<&'a str>, depth: usize) {
    match layout {
        Layout::Tabs { panels, .. } => titles.extend(panels.iter().map(String::as_str)),
        Layout::Split { .. } if depth == DEPTH_MAX => {}
        Layout::Split { parts, .. } => {
            add_titles(&parts.0, titles, depth + 1);
            add_titles(&parts.1, titles, depth + 1);
        }
    }
}

enum Known {
    Tabs(Vec<PanelId>, usize),
    Split(bool, f32, Box<(Known, Known)>),
}

impl Known {
    /// The layout with each panel at most once, and with no empty part. `left` are the panels with the titles that they
    /// have in it.
    fn of(layout: &Layout, left: &mut Vec<(&str, PanelId)>, depth: usize) -> Option<Self> {
        match layout {
            Layout::Tabs { panels, front } => {
                let mut take = |title: &String| {
                    let place = left.iter().position(|(known, _)| known == title)?;
                    Some(left.remove(place).1)
                };
                let panels: Vec<PanelId> = panels.iter().filter_map(&mut take).collect();
                let front = (*front).min(panels.len().checked_sub(1)?);
                Some(Known::Tabs(panels, front))
            }
            Layout::Split { .. } if depth == DEPTH_MAX => None,
            Layout::Split { is_beside, share, parts } => {
                let (first, second) = (Self::of(&parts.0, left, depth + 1), Self::of(&parts.1, left, depth + 1));
                let share = if share.is_finite() { share.clamp(SHARE_MIN, 1.0 - SHARE_MIN) } else { 0.5 };
                match (first, second) {
                    (Some(first), Some(second)) => Some(Known::Split(*is_beside, share, Box::new((first, second)))),
                    (one, other) => one.or(other),
                }
            }
        }
    }

    fn first(&self) -> Vec<PanelId> {
        match self {
            Known::Tabs(panels, _) => panels.clone(),
            Known::Split(_, _, parts) => parts.0.first(),
        }
    }

    /// Fills a leaf that holds the first tabs already.
    fn fill(&self, tree: &mut Tree<PanelId>, node: NodeIndex) {
        match self {
            Known::Tabs(_, front) => {
                if let Ok(leaf) = tree.leaf_mut(node) {
                    // A front that is no tab leaves the first in front.
                    let _ = leaf.set_active_tab(*front);
                }
            }
            Known::Split(is_beside, share, parts) => {
                let split = if *is_beside { Split::Right } else { Split::Below };
                let [old, new] = tree.split(node, split, *share, Node::leaf_with(parts.1.first()));
                parts.0.fill(tree, old);
                parts.1.fill(tree, new);
            }
        }
    }
}

/// The title that a panel has in a layout, which may be from the time before several panels became this one.
fn title_among(panel: PanelId, titles: &[&str]) -> &'static str {
    let former = PanelName::named(panel.title()).map(PanelName::former_titles).unwrap_or_default();
    let mut known = std::iter::once(panel.title()).chain(former);
    known.find(|title| titles.contains(title)).unwrap_or(panel.title())
}

/// The tree of a dock as it is kept; none where all panels are in windows of their own.
pub fn kept(dock: &DockState<PanelId>) -> Option<Layout> {
    layout_of(dock.main_surface(), NodeIndex::root())
}

/// A dock with those of the `known` panels that a layout has; none where it has none of them.
pub fn dock(layout: &Layout, known: &[PanelId]) -> Option<DockState<PanelId>> {
    let mut titles = Vec::new();
    add_titles(layout, &mut titles, 0);
    let mut left: Vec<(&str, PanelId)> = known.iter().map(|panel| (title_among(*panel, &titles), *panel)).collect();
    let known = Known::of(layout, &mut left, 0)?;
    let mut dock = DockState::new(known.first());
    known.fill(dock.main_surface_mut(), NodeIndex::root());
    Some(dock)
}

/// Whether two layouts put the same panels at the same places, whichever is in front.
pub fn is_alike(one: &Layout, other: &Layout) -> bool {
    /// Shares nearer than this differ by rounding.
    const NEAR: f32 = 1e-3;
    match (one, other) {
        (Layout::Tabs { panels: one, .. }, Layout::Tabs { panels: other, .. }) => {
            one.len() == other.len() && one.iter().all(|panel| other.contains(panel))
        }
        (
            Layout::Split { is_beside: one_beside, share: one, parts: one_parts },
            Layout::Split { is_beside: other_beside, share: other, parts: other_parts },
        ) => {
            one_beside == other_beside
                && (one - other).abs() < NEAR
                && is_alike(&one_parts.0, &other_parts.0)
                && is_alike(&one_parts.1, &other_parts.1)
        }
        _ => false,
    }
}
