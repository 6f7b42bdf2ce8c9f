//! Where the panels lie, as it is kept: a tree of its own, for one that is read may be anything.

use egui_dock::{DockState, Node, NodeIndex, Split, Tree};

use super::dock::Workspace;
use super::saving::SavingStatus;
use crate::app::panels::{PanelId, PanelName};
use crate::app::saved_view::Layout;

/// Splits within splits; no window has room for more.
const DEPTH_MAX: usize = 6;
/// The least share of a split.
const SHARE_MIN: f32 = 0.05;

impl Layout {
    fn of(tree: &Tree<PanelId>, node: NodeIndex) -> Option<Layout> {
        let parts = || match (Self::of(tree, node.left()), Self::of(tree, node.right())) {
            (Some(first), Some(second)) => Ok((first, second)),
            (one, other) => Err(one.or(other)),
        };
        let (is_beside, share) = match tree.iter().nth(node.0)? {
            Node::Empty => return None,
            Node::Leaf(leaf) => {
                let panels = leaf.tabs.iter().map(|panel| panel.title().to_owned()).collect();
                return Some(Layout::Tabs { panels, front: leaf.active.0 });
            }
            Node::Horizontal(split) => (true, split.fraction),
            Node::Vertical(split) => (false, split.fraction),
        };
        match parts() {
            Ok(parts) => Some(Layout::Split { is_beside, share, parts: Box::new(parts) }),
            Err(only) => only,
        }
    }

    /// The titles in it.
    fn titles<'a>(&'a self, titles: &mut Vec<&'a str>, depth: usize) {
        match self {
            Layout::Tabs { panels, .. } => titles.extend(panels.iter().map(String::as_str)),
            Layout::Split { .. } if depth == DEPTH_MAX => {}
            Layout::Split { parts, .. } => {
                parts.0.titles(titles, depth + 1);
                parts.1.titles(titles, depth + 1);
            }
        }
    }

    /// With each panel at most once, and with no empty part. `left` are the panels with the titles that they have here.
    fn known(&self, left: &mut Vec<(&str, PanelId)>, depth: usize) -> Option<Known> {
        match self {
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
                let (first, second) = (parts.0.known(left, depth + 1), parts.1.known(left, depth + 1));
                let share = if share.is_finite() { share.clamp(SHARE_MIN, 1.0 - SHARE_MIN) } else { 0.5 };
                match (first, second) {
                    (Some(first), Some(second)) => Some(Known::Split(*is_beside, share, Box::new((first, second)))),
                    (one, other) => one.or(other),
                }
            }
        }
    }
}

enum Known {
    Tabs(Vec<PanelId>, usize),
    Split(bool, f32, Box<(Known, Known)>),
}

impl Known {
    fn first(&self) -> Vec<PanelId> {
        match self {
            Known::Tabs(panels, _) => panels.clone(),
            Known::Split(_, _, parts) => parts.0.first(),
        }
    }

    fn first_front(&self) -> usize {
        match self {
            Known::Tabs(_, front) => *front,
            Known::Split(_, _, parts) => parts.0.first_front(),
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

impl Workspace {
    /// The word in the top bar.
    pub fn set_saving(&mut self, status: &SavingStatus) {
        self.top_bar.saving.clone_from(status);
    }

    /// Where the panels lie; none where all are in windows of their own.
    pub fn layout(&self) -> Option<Layout> {
        Layout::of(self.dock.main_surface(), NodeIndex::root())
    }

    /// Lays the panels as they lay; one that is not among them comes to the others in the first place.
    pub fn lay_out(&mut self, layout: &Layout) {
        let mut titles = Vec::new();
        layout.titles(&mut titles, 0);
        let called = |panel: PanelId| (title_among(panel, &titles), panel);
        let mut left: Vec<(&str, PanelId)> = self.dock.iter_all_tabs().map(|(_, panel)| called(*panel)).collect();
        let Some(known) = layout.known(&mut left, 0) else { return };
        let mut dock = DockState::new(known.first());
        known.fill(dock.main_surface_mut(), NodeIndex::root());
        for (_, panel) in left {
            dock.push_to_first_leaf(panel);
        }
        // What has come to the others does not hide them.
        let front = known.first_front();
        let first = dock.main_surface_mut().iter_mut().find_map(|node| match node {
            Node::Leaf(leaf) => Some(leaf),
            _ => None,
        });
        if let Some(leaf) = first {
            // A front that is no tab leaves the first in front.
            let _ = leaf.set_active_tab(front);
        }
        self.dock = dock;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tabs(panels: &[&str], front: usize) -> Layout {
        Layout::Tabs { panels: panels.iter().map(|title| (*title).to_owned()).collect(), front }
    }

    fn split(is_beside: bool, share: f32, first: Layout, second: Layout) -> Layout {
        Layout::Split { is_beside, share, parts: Box::new((first, second)) }
    }

    fn all(workspace: &Workspace) -> usize {
        workspace.dock.iter_all_tabs().count()
    }

    #[test]
    fn panels_lie_where_they_lay() {
        let mut workspace = Workspace::default();
        let first = workspace.layout().expect("a layout");
        workspace.lay_out(&first);
        assert_eq!(workspace.layout(), Some(first));
        let side = split(false, 0.25, tabs(&["Intervene", "Step"], 0), tabs(&["Weights", "Train", "Attention"], 2));
        let middle = tabs(&["Variables", "Notebook", "Meaning"], 0);
        let middle = split(false, 0.5, tabs(&["Stage", "Answers", "Axes"], 0), middle);
        let other = split(true, 0.75, middle, side);
        workspace.lay_out(&other);
        assert_eq!(workspace.layout(), Some(other));
    }

    #[test]
    fn a_layout_from_before_panels_were_merged_opens_with_what_replaced_them() {
        let mut workspace = Workspace::default();
        let side = split(
            false,
            0.5,
            tabs(&["Attention", "Arithmetic", "Heads", "What if"], 2),
            tabs(&["Weights", "Neighbours", "Training", "Retrain", "Axes"], 1),
        );
        let left = tabs(&["Notebook", "Answers", "Variables", "Compare"], 0);
        workspace.lay_out(&split(true, 0.75, split(true, 0.25, left, tabs(&["Stage", "Fold"], 0)), side));
        let side = split(
            false,
            0.5,
            tabs(&["Attention", "Step", "Intervene"], 2),
            tabs(&["Weights", "Meaning", "Train", "Axes"], 1),
        );
        let left = tabs(&["Notebook", "Answers", "Variables"], 0);
        let now = split(true, 0.75, split(true, 0.25, left, tabs(&["Stage"], 0)), side);
        assert_eq!(workspace.layout(), Some(now));
    }

    #[test]
    fn a_panel_that_a_layout_does_not_know_hides_none() {
        let mut workspace = Workspace::default();
        workspace.lay_out(&split(true, 0.5, tabs(&["Stage"], 0), tabs(&["Notebook", "Intervene"], 1)));
        let Some(Layout::Split { parts, .. }) = workspace.layout() else { panic!("a split") };
        let Layout::Tabs { panels, front } = &parts.0 else { panic!("tabs") };
        assert_eq!((panels[*front].as_str(), panels.len()), ("Stage", all(&workspace) - 2));
        assert_eq!(parts.1, tabs(&["Notebook", "Intervene"], 1));
    }

    #[test]
    fn what_is_no_layout_loses_no_panel() {
        let count = all(&Workspace::default());
        let deep = (0..10_000).fold(tabs(&["Stage"], 0), |inner, _| split(true, 0.5, inner, tabs(&["Nobody"], 0)));
        let odd = [
            tabs(&[], 0),
            tabs(&["Stage", "Stage", "Nobody"], 9),
            split(true, f32::NAN, tabs(&["Stage"], 0), tabs(&["Notebook"], usize::MAX)),
            split(false, -7.0, tabs(&[], 0), tabs(&["Train"], 0)),
            deep,
        ];
        for layout in odd {
            let mut workspace = Workspace::default();
            workspace.lay_out(&layout);
            assert_eq!(all(&workspace), count);
            assert!(workspace.layout().is_some());
            // A deep one would overflow the stack when it is dropped.
            std::mem::forget(layout);
        }
    }
}
