//! The open panels, their places, and the layout as it is saved. The window arranges the panels until the learner moves
//! one; from then on each stays where the learner put it.
//!
//! The window arranges the notebook, the stage, and the other panels as tabs at the side, in one column or, in a high
//! window, in two rows. In a narrow window these share the notebook's column, so that both they and the stage have
//! room.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use attune_view::view_model::saved_view::PanelLayout;
use egui::{Id, Vec2};
use egui_dock::{DockState, LeafNode, Node, NodeIndex, Split, TabPath, Tree};

use crate::app::panels::{PanelId, PanelName, Region};
use crate::app::theme::{motion, size};
use crate::app::ui_state::walk::ease;

/// The panels of the window and their places.
pub struct OpenPanels {
    pub dock: DockState<PanelId>,
    /// All existing panels, in order.
    known: Vec<(PanelId, Region)>,
    /// Tabs that have no room at their place.
    pub stash: Vec<Stashed>,
    /// The layout that the window chose last; `None` after the learner has moved a panel.
    arranged: Option<PanelLayout>,
    room: Vec2,
    /// The panel that was last brought to the front.
    last: Option<PanelId>,
    /// The panels that a cell has opened.
    pub revealed: BTreeSet<PanelName>,
    /// The panels that have appeared behind others and have not been in front since.
    pub unseen: BTreeSet<&'static str>,
    /// The progress of a new column that slides in, from 0 to 1.
    slide: Option<f32>,
    drag: DragGuard,
}

/// The state that is needed to end the drag of a tab if the window moves tabs during it. The dock identifies the
/// dragged tab only by its place, and would panic if no tab is left there.
struct DragGuard {
    /// The tabs and their places as last drawn, while one is dragged.
    drawn: Option<Vec<(TabPath, PanelId)>>,
    /// The number in the id of the dock's own state. It changes with the layout and with each drag, so that no state is
    /// reused.
    dock: usize,
}

impl Default for DragGuard {
    fn default() -> Self {
        static DOCKS: AtomicUsize = AtomicUsize::new(0);
        Self { drawn: None, dock: DOCKS.fetch_add(1, Ordering::Relaxed) }
    }
}

/// An open panel whose tab has no room beside another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stashed {
    pub panel: PanelId,
    pub beside: PanelId,
}

/// Returns whether a panel can be closed. The notebook and the stage cannot, so that there is always something to do
/// and to see.
pub fn can_close(panel: PanelId) -> bool {
    PanelName::named(panel.title()).is_none_or(|name| !name.is_always_open())
}

impl OpenPanels {
    /// Returns the panels of a window, of which only those that cannot be closed are open.
    pub fn new(known: Vec<(PanelId, Region)>) -> Self {
        let open: Vec<PanelId> = known.iter().map(|(panel, _)| *panel).filter(|panel| !can_close(*panel)).collect();
        let mut places = Self {
            dock: DockState::new(open),
            known,
            stash: Vec::new(),
            arranged: None,
            room: Vec2::new(size::WINDOW.0 as f32, size::WINDOW.1 as f32),
            last: None,
            revealed: BTreeSet::new(),
            unseen: BTreeSet::new(),
            slide: None,
            drag: DragGuard::default(),
        };
        places.arrange();
        places
    }

    /// Begins a frame, and returns the id of the dock's own state.
    pub fn begin_frame(&mut self) -> Id {
        if self.drag.drawn.as_ref().is_some_and(|drawn| *drawn != self.tabs()) {
            self.drag = DragGuard::default();
        }
        Id::new("dock").with(self.drag.dock)
    }

    /// Ends a frame; until the next one begins, tabs are moved by the window, not by the learner. `is_dragged` says
    /// whether a tab is dragged, and `is_released` whether the first mouse button was released, which alone ends the
    /// dock's drags.
    pub fn end_frame(&mut self, is_dragged: bool, is_released: bool) {
        if is_dragged {
            self.drag.drawn = Some(self.tabs());
        } else if self.drag.drawn.take().is_some() && !is_released {
            self.drag = DragGuard::default();
        }
    }

    fn tabs(&self) -> Vec<(TabPath, PanelId)> {
        self.dock.iter_all_tabs().map(|(place, panel)| (place, *panel)).collect()
    }

    /// Returns every panel, and whether it is open.
    pub fn panels(&self) -> impl Iterator<Item = (PanelId, bool)> {
        self.known.iter().map(|(panel, _)| (*panel, self.is_open(*panel)))
    }

    pub fn is_open(&self, panel: PanelId) -> bool {
        self.dock.find_tab(&panel).is_some() || self.stash.iter().any(|stashed| stashed.panel == panel)
    }

    /// Returns whether the panel is in front of those that share its place.
    pub fn is_in_front(&self, panel: PanelId) -> bool {
        self.dock
            .find_tab(&panel)
            .is_some_and(|place| self.dock.leaf(place.node_path()).is_ok_and(|leaf| leaf.active == place.tab))
    }

    /// Brings a panel to the front, and opens it if it is closed.
    pub fn show(&mut self, panel: PanelId) {
        if let Some(place) = self.stash.iter().position(|stashed| stashed.panel == panel) {
            self.unstash(place);
        }
        if !self.is_open(panel) {
            self.open(panel);
        }
        if let Some(place) = self.dock.find_tab(&panel) {
            // Cannot fail, because the tab was found.
            let _ = self.dock.set_active_tab(place);
            self.dock.set_focused_node_and_surface(place.node_path());
        }
        self.last = Some(panel);
        self.unseen.remove(panel.title());
    }

    /// Opens a panel, behind those that share its place.
    pub fn open(&mut self, panel: PanelId) {
        if self.is_open(panel) || !self.known.iter().any(|(known, _)| *known == panel) {
            return;
        }
        let had_side = self.side().next().is_some();
        if self.is_arranged() {
            self.push_behind(panel);
            self.arrange();
        } else {
            self.insert(panel);
        }
        if !had_side {
            self.slide = Some(0.0);
        }
        if !self.is_in_front(panel) {
            self.unseen.insert(panel.title());
        }
    }

    /// Closes a panel, if it can be closed.
    pub fn close(&mut self, panel: PanelId) {
        if !can_close(panel) {
            return;
        }
        let is_arranged = self.is_arranged();
        self.stash.retain(|stashed| stashed.panel != panel);
        if let Some(place) = self.dock.find_tab(&panel) {
            self.hand_on_stash(panel, place);
            self.dock.remove_tab(place);
        }
        self.unseen.remove(panel.title());
        if is_arranged {
            self.arrange();
        }
    }

    /// Closes an open panel if it can be closed; otherwise brings the panel to the front, and opens it if it is closed.
    pub fn toggle(&mut self, panel: PanelId) {
        if self.is_open(panel) && can_close(panel) { self.close(panel) } else { self.show(panel) }
    }

    /// Returns the panel that has the keyboard, or was last clicked or brought to the front; `None` before any was.
    pub fn current(&self) -> Option<PanelId> {
        let focused = self.dock.focused_leaf().and_then(|place| self.dock.leaf(place).ok());
        focused.and_then(|leaf| leaf.tabs().get(leaf.active.0)).copied().or(self.last)
    }

    /// Returns whether panels open beside the notebook instead of in its place.
    pub fn has_side(&self) -> bool {
        has_side(self.room.x) || !self.is_arranged()
    }

    /// Adapts the layout to the size of the window, unless the learner has moved a panel.
    pub fn follow(&mut self, room: Vec2) {
        let is_arranged = self.is_arranged();
        let is_other = self.room != room;
        self.room = room;
        if !is_arranged {
            self.arranged = None;
        } else if is_other {
            self.arrange();
        }
        let fronts: Vec<PanelId> = self.fronts().collect();
        self.unseen.retain(|title| !fronts.iter().any(|front| front.title() == *title));
    }

    /// Advances the sliding of a new column by `seconds`. Returns true while it moves.
    pub fn advance(&mut self, seconds: f32) -> bool {
        let Some(slid) = self.slide else { return false };
        let slid = (slid + seconds / motion::COLUMN).min(1.0);
        let is_sliding = slid < 1.0;
        let (share, whole) = (ease(slid), 1.0 - side_share(self.rest()));
        if self.arranged.is_some()
            && let Some(Node::Horizontal(split)) =
                self.dock.main_surface_mut().iter_mut().nth(NodeIndex::root().right().0)
        {
            split.fraction = 1.0 - (1.0 - whole) * share;
        }
        self.slide = is_sliding.then_some(slid);
        is_sliding
    }

    /// Returns the layout of the panels; `None` if all are in windows of their own.
    pub fn layout(&self) -> Option<PanelLayout> {
        let mut layout = kept(&self.dock)?;
        self.stash.iter().for_each(|stashed| stashed.put_into(&mut layout));
        Some(layout)
    }

    /// Returns whether the learner has not moved a panel.
    pub fn is_arranged(&self) -> bool {
        let alike =
            |arranged: &PanelLayout| self.layout().is_some_and(|now| self.slide.is_some() || is_alike(arranged, &now));
        self.arranged.as_ref().is_some_and(alike)
    }

    /// Restores a layout. Unless the learner had moved a panel, the window continues to arrange them.
    pub fn lay_out(&mut self, layout: &PanelLayout, is_by_hand: bool) {
        let known: Vec<PanelId> = self.known.iter().map(|(panel, _)| *panel).collect();
        let Some(dock) = dock(layout, &known) else { return };
        (self.dock, self.slide, self.last) = (dock, None, None);
        self.stash.clear();
        self.unseen.clear();
        for panel in known.into_iter().filter(|panel| !can_close(*panel)) {
            if self.dock.find_tab(&panel).is_none() {
                self.push_behind(panel);
            }
        }
        self.arranged = None;
        if !is_by_hand {
            self.arrange();
        }
    }

    /// Returns all panels with their regions.
    pub fn known(&self) -> Vec<(PanelId, Region)> {
        self.known.clone()
    }

    /// Ends the sliding: the column takes its final place.
    pub fn settle(&mut self) {
        self.advance(f32::INFINITY);
    }

    /// Returns the open panels other than the notebook and the stage.
    fn side(&self) -> impl Iterator<Item = PanelId> {
        self.panels().filter(|(panel, is_open)| *is_open && can_close(*panel)).map(|(panel, _)| panel)
    }

    /// Returns the panel in front at each place.
    pub fn fronts(&self) -> impl Iterator<Item = PanelId> {
        self.dock.iter_leaves().filter_map(|(_, leaf)| leaf.tabs().get(leaf.active.0).copied())
    }

    /// Returns the width beside the notebook.
    fn rest(&self) -> f32 {
        self.room.x - notebook_width(self.room.x)
    }

    /// Arranges all open panels anew, with the same panels in front.
    fn arrange(&mut self) {
        let open: Vec<(PanelId, Region)> =
            self.known.iter().filter(|(panel, _)| self.is_open(*panel)).copied().collect();
        // If places are merged, the panel used last is in front, or else the notebook.
        let (besides, always): (Vec<PanelId>, Vec<PanelId>) = self.fronts().partition(|panel| can_close(*panel));
        let last = self.last.filter(|last| self.is_in_front(*last));
        let fronts: Vec<PanelId> = besides.into_iter().chain(always).chain(last).collect();
        let layout = arranged(&open, &fronts, self.room);
        let known: Vec<PanelId> = open.iter().map(|(panel, _)| *panel).collect();
        if let Some(dock) = dock(&layout, &known) {
            self.dock = dock;
            self.stash.clear();
            self.arranged = Some(layout);
            if let Some(place) = self.last.and_then(|last| self.dock.find_tab(&last)) {
                self.dock.set_focused_node_and_surface(place.node_path());
            }
        }
    }

    /// Adds a panel behind the others of the first place.
    fn push_behind(&mut self, panel: PanelId) {
        let first = self.dock.iter_leaves_mut().next();
        match first {
            Some((_, leaf)) => append_behind(leaf, panel),
            None => self.dock.push_to_first_leaf(panel),
        }
    }

    /// Adds a panel to the others of its region, or else to any other panels, where the learner put them. If there are
    /// none, it gets a new column beside the stage.
    fn insert(&mut self, panel: PanelId) {
        let region = |of: PanelId| self.known.iter().find(|(known, _)| *known == of).map(|(_, region)| *region);
        let own = region(panel);
        let open: Vec<PanelId> =
            self.dock.iter_all_tabs().map(|(_, panel)| *panel).filter(|other| can_close(*other)).collect();
        let near = open.iter().find(|other| region(**other) == own).or(open.first()).copied();
        let place = near.and_then(|near| self.dock.find_tab(&near));
        if let Some(leaf) = place.and_then(|place| self.dock.leaf_mut(place.node_path()).ok()) {
            append_behind(leaf, panel);
            return;
        }
        let stage = self.dock.find_main_surface_tab(&PanelId::of(PanelName::Stage));
        let tree = self.dock.main_surface_mut();
        match stage {
            Some((node, _)) => _ = tree.split_right(node, 1.0 - side_share(self.room.x), vec![panel]),
            None => tree.push_to_first_leaf(panel),
        }
    }

    /// Moves the tabs stashed beside a removed tab to another tab of its place, or lets the first of them take the
    /// place.
    fn hand_on_stash(&mut self, gone: PanelId, place: TabPath) {
        let Ok(leaf) = self.dock.leaf(place.node_path()) else { return };
        let next = leaf.tabs().iter().find(|tab| **tab != gone).copied();
        match next {
            Some(next) => {
                for stashed in self.stash.iter_mut().filter(|stashed| stashed.beside == gone) {
                    stashed.beside = next;
                }
            }
            None => {
                if let Some(first) = self.stash.iter().position(|stashed| stashed.beside == gone) {
                    let panel = self.unstash(first);
                    for stashed in self.stash.iter_mut().filter(|stashed| stashed.beside == gone) {
                        stashed.beside = panel;
                    }
                }
            }
        }
    }

    /// Puts a stashed tab back, after the tabs beside which it was stashed, and returns its panel. `place` is its
    /// index in the stash.
    pub fn unstash(&mut self, place: usize) -> PanelId {
        let Stashed { panel, beside } = self.stash.remove(place);
        let leaf = self.dock.find_tab(&beside).and_then(|beside| self.dock.leaf_mut(beside.node_path()).ok());
        match leaf {
            Some(leaf) => append_behind(leaf, panel),
            None => self.insert(panel),
        }
        panel
    }

    /// Stashes a tab that is not in front, beside the one that is.
    pub fn put_away(&mut self, tab: TabPath) {
        let Ok(leaf) = self.dock.leaf_mut(tab.node_path()) else { return };
        let Some(beside) = leaf.tabs().get(leaf.active.0).copied() else { return };
        let Some(panel) = leaf.remove_tab(tab.tab) else { return };
        for stashed in self.stash.iter_mut().filter(|stashed| stashed.beside == panel) {
            stashed.beside = beside;
        }
        self.stash.push(Stashed { panel, beside });
    }
}

/// Adds a tab without changing which one is in front.
fn append_behind(leaf: &mut LeafNode<PanelId>, panel: PanelId) {
    let front = leaf.active;
    leaf.append_tab(panel);
    leaf.active = front;
}

impl Stashed {
    /// Adds the panel to the tabs to which it belongs.
    fn put_into(&self, layout: &mut PanelLayout) {
        match layout {
            PanelLayout::Tabs { panels, .. } => {
                if panels.iter().any(|title| title == self.beside.title()) {
                    panels.push(self.panel.title().to_owned());
                }
            }
            PanelLayout::Split { parts, .. } => {
                self.put_into(&mut parts.0);
                self.put_into(&mut parts.1);
            }
        }
    }
}

/// Returns the layout of the open panels in a window of this size. Of panels that share a place, the last of `fronts`
/// is in front.
///
/// The width of the notebook does not depend on the other panels, so that its text stays in place when a panel opens or
/// closes.
fn arranged(open: &[(PanelId, Region)], fronts: &[PanelId], room: Vec2) -> PanelLayout {
    let of = |regions: &[Region]| -> Vec<PanelId> {
        open.iter().filter(|(_, region)| regions.contains(region)).map(|(panel, _)| *panel).collect()
    };
    let tabs = |panels: Vec<PanelId>| {
        let front = fronts.iter().rev().find_map(|front| panels.iter().position(|panel| panel == front)).unwrap_or(0);
        PanelLayout::Tabs { panels: panels.iter().map(|panel| panel.title().to_owned()).collect(), front }
    };
    let beside = |share: f32, first: PanelLayout, second: PanelLayout| PanelLayout::Split {
        is_beside: true,
        share,
        parts: Box::new((first, second)),
    };
    let notebook = notebook_width(room.x);
    let rest = room.x - notebook;
    if !has_side(room.x) {
        let column = of(&[Region::Left]).into_iter().chain(of(&[Region::UpperRight, Region::LowerRight])).collect();
        return beside(notebook / room.x.max(1.0), tabs(column), tabs(of(&[Region::Middle])));
    }
    let [upper, lower] = [of(&[Region::UpperRight]), of(&[Region::LowerRight])];
    let stage = tabs(of(&[Region::Middle]));
    let side = match (upper.is_empty(), lower.is_empty()) {
        (true, true) => None,
        (false, false) if room.y >= size::SIDE_ROWS_FROM => Some(PanelLayout::Split {
            is_beside: false,
            share: size::SIDE_SPLIT,
            parts: Box::new((tabs(upper), tabs(lower))),
        }),
        _ => Some(tabs(of(&[Region::UpperRight, Region::LowerRight]))),
    };
    let stage_and_side = match side {
        Some(side) => beside(1.0 - side_share(rest), stage, side),
        None => stage,
    };
    beside(notebook / room.x.max(1.0), tabs(of(&[Region::Left])), stage_and_side)
}

/// Returns whether a window of this width has room for panels beside the notebook and the stage.
pub fn has_side(room: f32) -> bool {
    room >= size::SIDE_FROM
}

/// Returns the width of the notebook in a window of this width.
fn notebook_width(room: f32) -> f32 {
    let share = if has_side(room) { size::NOTEBOOK_SHARE } else { size::NOTEBOOK_SHARE_NARROW };
    width(room, share, size::NOTEBOOK)
}

/// Returns the share of the width beside the notebook that the column of panels takes.
fn side_share(rest: f32) -> f32 {
    width(rest, size::SIDE_SHARE, size::SIDE) / rest.max(1.0)
}

/// Returns a share of a width within bounds, and never more than half.
fn width(of: f32, share: f32, (least, most): (f32, f32)) -> f32 {
    (of * share).clamp(least, most).min(of / 2.0)
}

/// The deepest nesting of splits; no window has room for more.
const DEPTH_MAX: usize = 6;
/// The least share of a split.
const SHARE_MIN: f32 = 0.05;

/// Returns the layout below a node; `None` if the node is empty.
fn layout_of(tree: &Tree<PanelId>, node: NodeIndex) -> Option<PanelLayout> {
    let (is_beside, share) = match tree.iter().nth(node.0)? {
        Node::Empty => return None,
        Node::Leaf(leaf) => {
            let panels = leaf.tabs.iter().map(|panel| panel.title().to_owned()).collect();
            return Some(PanelLayout::Tabs { panels, front: leaf.active.0 });
        }
        Node::Horizontal(split) => (true, split.fraction),
        Node::Vertical(split) => (false, split.fraction),
    };
    match (layout_of(tree, node.left()), layout_of(tree, node.right())) {
        (Some(first), Some(second)) => Some(PanelLayout::Split { is_beside, share, parts: Box::new((first, second)) }),
        (one, other) => one.or(other),
    }
}

/// Adds the titles of the panels in a layout to `titles`.
fn add_titles<'a>(layout: &'a PanelLayout, titles: &mut Vec<&'a str>, depth: usize) {
    match layout {
        PanelLayout::Tabs { panels, .. } => titles.extend(panels.iter().map(String::as_str)),
        PanelLayout::Split { .. } if depth == DEPTH_MAX => {}
        PanelLayout::Split { parts, .. } => {
            add_titles(&parts.0, titles, depth + 1);
            add_titles(&parts.1, titles, depth + 1);
        }
    }
}

enum KnownLayout {
    Tabs(Vec<PanelId>, usize),
    Split(bool, f32, Box<(KnownLayout, KnownLayout)>),
}

impl KnownLayout {
    /// Returns the layout with each panel at most once, and without empty parts. `left` has the panels that are not
    /// placed yet, with their titles in the layout.
    fn of(layout: &PanelLayout, left: &mut Vec<(&str, PanelId)>, depth: usize) -> Option<Self> {
        match layout {
            PanelLayout::Tabs { panels, front } => {
                let mut take = |title: &String| {
                    let place = left.iter().position(|(known, _)| known == title)?;
                    Some(left.remove(place).1)
                };
                let panels: Vec<PanelId> = panels.iter().filter_map(&mut take).collect();
                let front = (*front).min(panels.len().checked_sub(1)?);
                Some(KnownLayout::Tabs(panels, front))
            }
            PanelLayout::Split { .. } if depth == DEPTH_MAX => None,
            PanelLayout::Split { is_beside, share, parts } => {
                let (first, second) = (Self::of(&parts.0, left, depth + 1), Self::of(&parts.1, left, depth + 1));
                let share = if share.is_finite() { share.clamp(SHARE_MIN, 1.0 - SHARE_MIN) } else { 0.5 };
                match (first, second) {
                    (Some(first), Some(second)) => {
                        Some(KnownLayout::Split(*is_beside, share, Box::new((first, second))))
                    }
                    (one, other) => one.or(other),
                }
            }
        }
    }

    fn first(&self) -> Vec<PanelId> {
        match self {
            KnownLayout::Tabs(panels, _) => panels.clone(),
            KnownLayout::Split(_, _, parts) => parts.0.first(),
        }
    }

    /// Divides a leaf that already has the tabs of the first place, as in the layout, and brings the front tabs
    /// forward.
    fn fill(&self, tree: &mut Tree<PanelId>, node: NodeIndex) {
        match self {
            KnownLayout::Tabs(_, front) => {
                if let Ok(leaf) = tree.leaf_mut(node) {
                    // If `front` is not a tab, the first one stays in front.
                    let _ = leaf.set_active_tab(*front);
                }
            }
            KnownLayout::Split(is_beside, share, parts) => {
                let split = if *is_beside { Split::Right } else { Split::Below };
                let [old, new] = tree.split(node, split, *share, Node::leaf_with(parts.1.first()));
                parts.0.fill(tree, old);
                parts.1.fill(tree, new);
            }
        }
    }
}

/// Returns the title of a panel in a layout, which may be from before several panels were merged into this one.
fn title_among(panel: PanelId, titles: &[&str]) -> &'static str {
    let former = PanelName::named(panel.title()).map(PanelName::former_titles).unwrap_or_default();
    let mut known = std::iter::once(panel.title()).chain(former);
    known.find(|title| titles.contains(title)).unwrap_or(panel.title())
}

/// Returns a dock's layout in the form in which it is saved; `None` if all panels are in windows of their own.
pub fn kept(dock: &DockState<PanelId>) -> Option<PanelLayout> {
    layout_of(dock.main_surface(), NodeIndex::root())
}

/// Returns a dock with those of the `known` panels that a layout has; `None` if it has none of them.
pub fn dock(layout: &PanelLayout, known: &[PanelId]) -> Option<DockState<PanelId>> {
    let mut titles = Vec::new();
    add_titles(layout, &mut titles, 0);
    let mut left: Vec<(&str, PanelId)> = known.iter().map(|panel| (title_among(*panel, &titles), *panel)).collect();
    let known = KnownLayout::of(layout, &mut left, 0)?;
    let mut dock = DockState::new(known.first());
    known.fill(dock.main_surface_mut(), NodeIndex::root());
    Some(dock)
}

/// Returns whether two layouts have the same panels at the same places, whichever are in front.
fn is_alike(one: &PanelLayout, other: &PanelLayout) -> bool {
    /// The largest difference of shares that is a rounding error.
    const NEAR: f32 = 1e-3;
    match (one, other) {
        (PanelLayout::Tabs { panels: one, .. }, PanelLayout::Tabs { panels: other, .. }) => {
            one.len() == other.len() && one.iter().all(|panel| other.contains(panel))
        }
        (
            PanelLayout::Split { is_beside: one_beside, share: one, parts: one_parts },
            PanelLayout::Split { is_beside: other_beside, share: other, parts: other_parts },
        ) => {
            one_beside == other_beside
                && (one - other).abs() < NEAR
                && is_alike(&one_parts.0, &other_parts.0)
                && is_alike(&one_parts.1, &other_parts.1)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::panels::{ids, registry};

    fn tabs(panels: &[&str], front: usize) -> PanelLayout {
        PanelLayout::Tabs { panels: panels.iter().map(|title| (*title).to_owned()).collect(), front }
    }

    fn split(is_beside: bool, share: f32, first: PanelLayout, second: PanelLayout) -> PanelLayout {
        PanelLayout::Split { is_beside, share, parts: Box::new((first, second)) }
    }

    fn places() -> OpenPanels {
        OpenPanels::new(registry().iter().map(|row| (row.id, row.region)).collect())
    }

    fn of(name: PanelName) -> PanelId {
        PanelId::of(name)
    }

    fn open(places: &OpenPanels) -> Vec<&'static str> {
        places.panels().filter(|(_, is_open)| *is_open).map(|(panel, _)| panel.title()).collect()
    }

    #[test]
    fn panels_lie_where_they_lay() {
        let side = split(false, 0.25, tabs(&["Intervene", "Step"], 0), tabs(&["Weights", "Train", "Attention"], 2));
        let middle = tabs(&["Variables", "Notebook", "Meaning"], 0);
        let middle = split(false, 0.5, tabs(&["Stage", "Answers", "Axes"], 0), middle);
        let other = split(true, 0.75, middle, side);
        let mut places = places();
        places.lay_out(&other, true);
        assert_eq!(places.layout().as_ref(), Some(&other));
        places.follow(Vec2::new(2048.0, 1152.0));
        assert_eq!(places.layout(), Some(other), "what the learner has moved stays");
    }

    #[test]
    fn a_layout_from_before_panels_were_merged_opens_with_what_replaced_them() {
        let side = split(
            false,
            0.5,
            tabs(&["Attention", "Arithmetic", "Heads", "What if"], 2),
            tabs(&["Weights", "Neighbours", "Training", "Retrain", "Axes"], 1),
        );
        let left = tabs(&["Notebook", "Answers", "Variables", "Compare"], 0);
        let mut places = places();
        places.lay_out(&split(true, 0.75, split(true, 0.25, left, tabs(&["Stage", "Fold"], 0)), side), true);
        let side = split(
            false,
            0.5,
            tabs(&["Attention", "Step", "Intervene"], 2),
            tabs(&["Weights", "Meaning", "Train", "Axes"], 1),
        );
        let left = tabs(&["Notebook", "Answers", "Variables"], 0);
        let now = split(true, 0.75, split(true, 0.25, left, tabs(&["Stage"], 0)), side);
        assert_eq!(places.layout(), Some(now));
    }

    #[test]
    fn a_panel_that_a_layout_does_not_know_is_closed_but_for_notebook_and_stage() {
        let mut places = places();
        places.lay_out(&split(true, 0.5, tabs(&["Weights"], 0), tabs(&["Notebook", "Intervene"], 1)), true);
        assert_eq!(open(&places), ["Notebook", "Stage", "Intervene", "Weights"]);
        assert!(places.is_in_front(of(PanelName::Weights)), "what has come does not hide what lay there");
    }

    #[test]
    fn what_is_no_layout_closes_neither_notebook_nor_stage() {
        let deep = (0..10_000).fold(tabs(&["Stage"], 0), |inner, _| split(true, 0.5, inner, tabs(&["Nobody"], 0)));
        let odd = [
            tabs(&[], 0),
            tabs(&["Stage", "Stage", "Nobody"], 9),
            split(true, f32::NAN, tabs(&["Stage"], 0), tabs(&["Notebook"], usize::MAX)),
            split(false, -7.0, tabs(&[], 0), tabs(&["Train"], 0)),
            deep,
        ];
        for layout in odd {
            for is_by_hand in [false, true] {
                let mut places = places();
                places.lay_out(&layout, is_by_hand);
                assert_eq!(open(&places)[..2], ["Notebook", "Stage"]);
                assert!(places.layout().is_some());
            }
            // Dropping a deeply nested layout would overflow the stack.
            std::mem::forget(layout);
        }
    }

    #[test]
    fn every_panel_opens_and_closes_but_for_notebook_and_stage() {
        for is_by_hand in [false, true] {
            let mut places = places();
            if is_by_hand {
                places.lay_out(&split(false, 0.5, tabs(&["Notebook"], 0), tabs(&["Stage"], 0)), true);
            }
            places.follow(Vec2::new(1280.0, 676.0));
            for panel in ids().iter().copied() {
                places.toggle(panel);
                assert!(places.is_open(panel) && places.is_in_front(panel), "{panel:?}");
            }
            assert_eq!(open(&places).len(), PanelName::ALL.len());
            for panel in ids().iter().copied() {
                places.close(panel);
            }
            assert_eq!(open(&places), ["Notebook", "Stage"]);
        }
    }

    #[test]
    fn in_a_narrow_window_a_panel_lies_over_the_notebook_only_when_it_is_asked_for() {
        let [notebook, weights] = [PanelName::Notebook, PanelName::Weights].map(of);
        let mut places = places();
        places.open(weights);
        places.follow(Vec2::new(900.0, 556.0));
        assert!(places.is_in_front(notebook), "the text stays");
        places.show(weights);
        assert!(places.is_in_front(weights) && places.is_in_front(of(PanelName::Stage)) && !places.has_side());
        places.follow(Vec2::new(880.0, 556.0));
        assert!(places.is_in_front(weights), "what was asked for stays in front");
        places.show(notebook);
        places.open(of(PanelName::Train));
        assert!(places.is_in_front(notebook) && places.unseen.contains("Train"));
        places.follow(Vec2::new(1280.0, 676.0));
        assert!(places.is_in_front(notebook) && places.is_in_front(weights), "each in its place again");
    }

    #[test]
    fn tabs_without_room_are_put_away_and_come_back_in_front() {
        let mut places = places();
        for panel in [PanelName::Attention, PanelName::Step, PanelName::Weights] {
            places.show(of(panel));
        }
        let first = places.dock.find_tab(&of(PanelName::Attention)).expect("a tab");
        places.put_away(first);
        assert!(places.is_open(of(PanelName::Attention)) && !places.is_in_front(of(PanelName::Attention)));
        assert!(places.is_arranged() && places.is_in_front(of(PanelName::Weights)));
        let kept = places.layout().expect("a layout");
        // The tab beside which it was stashed is closed.
        places.close(of(PanelName::Weights));
        assert!(places.is_open(of(PanelName::Attention)));
        places.show(of(PanelName::Attention));
        assert!(places.is_in_front(of(PanelName::Attention)));
        places.lay_out(&kept, true);
        assert_eq!(open(&places), ["Notebook", "Stage", "Attention", "Step", "Weights"]);
    }

    #[test]
    fn a_new_column_slides_in_and_the_notebook_keeps_its_width() {
        let mut places = places();
        places.follow(Vec2::new(1280.0, 676.0));
        let notebook = |places: &OpenPanels| match places.layout() {
            Some(PanelLayout::Split { share, .. }) => share,
            other => panic!("{other:?}"),
        };
        let before = notebook(&places);
        places.open(of(PanelName::Weights));
        assert!(places.advance(0.1) && places.is_arranged());
        assert_eq!(notebook(&places), before);
        while places.advance(0.1) {}
        assert!(places.is_arranged() && notebook(&places) == before);
        places.open(of(PanelName::Train));
        assert!(!places.advance(0.1), "another tab does not slide");
        assert!(places.unseen.contains("Train"));
        places.show(of(PanelName::Train));
        assert!(places.unseen.is_empty());
    }

    const NOTEBOOK: (PanelId, Region) = (PanelId("Notebook"), Region::Left);
    const STAGE: (PanelId, Region) = (PanelId("Stage"), Region::Middle);
    const UPPER: (PanelId, Region) = (PanelId("Upper"), Region::UpperRight);
    const LOWER: (PanelId, Region) = (PanelId("Lower"), Region::LowerRight);

    /// Returns `(is_beside, share, first, second)`.
    fn parts(layout: &PanelLayout) -> (bool, f32, &PanelLayout, &PanelLayout) {
        let PanelLayout::Split { is_beside, share, parts } = layout else { panic!("no split: {layout:?}") };
        (*is_beside, *share, &parts.0, &parts.1)
    }

    #[test]
    fn the_notebook_is_as_wide_whatever_else_is_open() {
        for (x, y) in
            [(800.0, 480.0), (900.0, 600.0), (1049.0, 600.0), (1050.0, 600.0), (1280.0, 720.0), (2048.0, 1152.0)]
        {
            let room = Vec2::new(x, y);
            let (few, all) = (arranged(&[NOTEBOOK, STAGE], &[], room), arranged(&[NOTEBOOK, STAGE, UPPER], &[], room));
            let (share, notebook) = (parts(&few).1, parts(&few).2);
            assert_eq!((parts(&all).1, notebook), (share, &tabs(&["Notebook"], 0)));
            let width = share * x;
            assert!((size::NOTEBOOK.0..=size::NOTEBOOK.1).contains(&width), "{width} of {x}");
            let side = match parts(&all) {
                (_, _, PanelLayout::Tabs { panels, .. }, PanelLayout::Tabs { .. }) => {
                    assert!(panels.len() == 2 && x < size::SIDE_FROM, "two columns of {x}");
                    width
                }
                (_, _, left, right) => {
                    let (is_beside, stage, _, side) = parts(right);
                    assert!(left == notebook && is_beside && *side == tabs(&["Upper"], 0));
                    (1.0 - stage) * (x - width)
                }
            };
            let stage = x - width - if x < size::SIDE_FROM { 0.0 } else { side };
            assert!(stage >= side - 0.5 && side >= 299.5 && stage >= 380.0, "stage {stage}, side {side} of {x}");
        }
    }

    #[test]
    fn in_a_narrow_window_panels_share_the_notebook_s_column() {
        let open = [NOTEBOOK, STAGE, UPPER, LOWER];
        let column = |fronts: &[PanelId]| parts(&arranged(&open, fronts, Vec2::new(900.0, 600.0))).2.clone();
        assert_eq!(column(&[]), tabs(&["Notebook", "Upper", "Lower"], 0), "the text stays in front");
        assert_eq!(column(&[NOTEBOOK.0, LOWER.0]), tabs(&["Notebook", "Upper", "Lower"], 2));
    }

    #[test]
    fn a_low_window_has_one_column_of_tabs_and_a_high_one_two_rows() {
        let open = [NOTEBOOK, STAGE, UPPER, LOWER];
        let side = |y, fronts: &[PanelId]| parts(parts(&arranged(&open, fronts, Vec2::new(1280.0, y))).3).3.clone();
        assert_eq!(side(600.0, &[]), tabs(&["Upper", "Lower"], 0));
        assert_eq!(side(600.0, &[UPPER.0, LOWER.0]), tabs(&["Upper", "Lower"], 1));
        let high = side(1152.0, &[LOWER.0]);
        let (is_beside, _, upper, lower) = parts(&high);
        assert!(!is_beside && *upper == tabs(&["Upper"], 0) && *lower == tabs(&["Lower"], 0));
    }
}
