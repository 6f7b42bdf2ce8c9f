//! The tabs of the dock: each with its panel, its name and its cross. Tabs that do not fit are in a list at the end of
//! the row, so that none is cut off.
//!
//! egui_dock's own bar would scroll instead. It does not scroll the front tab into view, does not indicate a new panel
//! outside of the visible part, and takes height from the panel.

use egui::containers::menu::MenuButton;
use egui::{
    Button, Frame, Id, Margin, Rect, Response, RichText, TextStyle, Ui, UiBuilder, WidgetInfo, WidgetText, WidgetType,
    pos2, vec2,
};
use egui_dock::tab_viewer::OnCloseResponse;
use egui_dock::{TabIndex, TabPath, TabViewer};

use super::open_panels::{OpenPanels, can_close};
use crate::app::actions::{ActionTable, WindowAction};
use crate::app::panels::stage::StagePanel;
use crate::app::panels::{PanelContext, PanelId, PanelName, Registered, ids, shown_ui};
use crate::app::theme::{Palette, size};
use crate::app::widgets::controls::{named, waiting_ui};

/// The width of a tab in addition to its name and its cross, as in egui_dock.
const TAB_PADDING: f32 = 16.0;
const CROSS: f32 = 24.0;
/// The width of the button that lists the stashed tabs, in points.
const MORE: f32 = 30.0;

/// The panels as the dock draws them.
pub struct Tabs<'a> {
    pub panels: &'a mut [Registered],
    pub context: PanelContext<'a>,
    /// The panels in front.
    pub fronts: Vec<PanelId>,
    /// The panels that have appeared and have not been looked at.
    pub unseen: Vec<&'static str>,
    /// The panel whose cross was clicked.
    pub closed: Option<PanelId>,
    /// Whether a tab is being dragged.
    pub is_dragged: bool,
}

/// Returns the name of a tab, with a dot if the panel is new and has not been looked at.
fn name(panel: PanelId, is_new: bool) -> WidgetText {
    let title = panel.title();
    (if is_new { format!("{title} ●") } else { title.to_owned() }).into()
}

/// Returns the tooltip of a tab: the panel's content, and the key that brings it to the front.
pub fn about(panel: PanelId) -> String {
    let about = PanelName::named(panel.title()).map_or("", PanelName::about);
    let place = ids().iter().position(|known| *known == panel);
    match place.and_then(|place| WindowAction::Panel.row().keys.get(place)) {
        Some(key) => format!("{about} ({})", key.text()),
        None => about.to_owned(),
    }
}

/// Returns whether the tab of this button is dragged. During a drag, the dock draws another button, whose id is derived
/// from the first one's.
fn is_dragged(button: &Response) -> bool {
    let dragged = button.ctx.dragged_id();
    dragged.is_some_and(|id| button.id == id || button.id == id.with("dragged"))
}

impl TabViewer for Tabs<'_> {
    type Tab = PanelId;

    fn id(&mut self, tab: &mut PanelId) -> Id {
        Id::new(*tab)
    }

    fn title(&mut self, tab: &mut PanelId) -> WidgetText {
        name(*tab, self.unseen.contains(&tab.title()))
    }

    /// Shows a cross only on front tabs, so that the others have more room for their names.
    fn is_closeable(&self, tab: &PanelId) -> bool {
        can_close(*tab) && self.fronts.contains(tab)
    }

    /// Notes the panel, which the window closes after everything is drawn, so that it can arrange the others.
    fn on_close(&mut self, tab: &mut PanelId) -> OnCloseResponse {
        self.closed = Some(*tab);
        OnCloseResponse::Ignore
    }

    fn on_tab_button(&mut self, tab: &mut PanelId, response: &Response) {
        self.is_dragged |= is_dragged(response);
        let (title, is_front) = (tab.title(), self.fronts.contains(tab));
        let is_new = self.unseen.contains(&title);
        let said = if is_new { format!("{title} panel, new") } else { format!("{title} panel") };
        response.widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, is_front, &said));
        if self.is_closeable(tab) {
            // The dock draws the cross without naming it for screen readers.
            response.ctx.accesskit_node_builder(response.id.with("close-button"), |node| {
                node.set_label(format!("Close the {title} panel"));
            });
        }
        let about = about(*tab);
        response.clone().on_hover_text(if is_new {
            format!("● New: you have not opened this panel yet. {about}")
        } else {
            about
        });
    }

    /// Returns false for the stage, which paints its own background where the window's does not show through.
    fn clear_background(&self, tab: &PanelId) -> bool {
        *tab != StagePanel::ID
    }

    fn scroll_bars(&self, _tab: &PanelId) -> [bool; 2] {
        [false, false]
    }

    fn ui(&mut self, ui: &mut Ui, tab: &mut PanelId) {
        let Some(Registered { panel, .. }) = self.panels.iter_mut().find(|row| row.id == *tab) else { return };
        let margin = if panel.has_margin() { size::PANEL_MARGIN } else { 0 };
        Frame::new().inner_margin(Margin::same(margin)).show(ui, |ui| {
            if shown_ui(&mut **panel, *tab, ui, &mut self.context).is_none() {
                waiting_ui(ui, self.context.models);
            }
        });
    }
}

/// Stashes a tab of a row that is too narrow, or puts a stashed one back for which there is room again. Returns true if
/// a tab was moved; one call moves at most one.
pub fn fit_tabs(ui: &Ui, places: &mut OpenPanels) -> bool {
    for row in TabRow::all(ui, places) {
        let room = row.rect.width();
        let stashed: Vec<usize> =
            (0..places.stash.len()).filter(|place| row.tabs.contains(&places.stash[*place].beside)).collect();
        let more = if stashed.is_empty() { 0.0 } else { MORE };
        if row.used + more > room && row.tabs.len() > 1 {
            let last = (0..row.tabs.len()).rev().find(|place| *place != row.front);
            if let Some(last) = last {
                places.put_away(TabPath::new(row.path.0, row.path.1, TabIndex(last)));
                return true;
            }
        }
        let Some(first) = stashed.first() else { continue };
        let more = if stashed.len() > 1 { MORE } else { 0.0 };
        if row.used + more + tab_width(ui, places, places.stash[*first].panel) <= room {
            places.unstash(*first);
            return true;
        }
    }
    false
}

/// Returns the room beside the tabs in the row of a panel; `None` if there is none, if the panel has no row in the
/// window, or before the first frame.
pub fn room_beside_tabs(ui: &Ui, places: &OpenPanels, panel: PanelId) -> Option<Rect> {
    let row = TabRow::all(ui, places).into_iter().find(|row| row.tabs.contains(&panel))?;
    let has_list = places.stash.iter().any(|stashed| row.tabs.contains(&stashed.beside));
    let more = if has_list { MORE } else { 0.0 };
    let line = row.rect.with_max_y(row.rect.top() + size::TAB_HEIGHT);
    let room = line.with_min_x(line.left() + row.used).with_max_x(line.right() - more);
    room.is_positive().then_some(room)
}

fn tab_width(ui: &Ui, places: &OpenPanels, panel: PanelId) -> f32 {
    let is_new = places.unseen.contains(panel.title());
    let name = name(panel, is_new).into_galley(ui, None, f32::INFINITY, TextStyle::Button);
    name.size().x + TAB_PADDING
}

/// The tabs of one place.
struct TabRow {
    path: (egui_dock::SurfaceIndex, egui_dock::NodeIndex),
    /// The rectangle of the place, whose upper part is the row.
    rect: Rect,
    /// The width of the tabs.
    used: f32,
    front: usize,
    tabs: Vec<PanelId>,
}

impl TabRow {
    /// Returns the rows of the window, as they were drawn last.
    fn all(ui: &Ui, places: &OpenPanels) -> Vec<Self> {
        let leaves = places.dock.iter_leaves().filter(|(path, _)| path.surface.is_main());
        // A place that has not been drawn yet has no width.
        let drawn = leaves.filter(|(_, leaf)| leaf.rect().is_finite() && leaf.rect().width() > 0.0);
        let row = drawn.map(|(path, leaf)| {
            let (front, tabs) = (leaf.active.0, leaf.tabs().to_vec());
            let cross = tabs.get(front).filter(|front| can_close(**front)).map_or(0.0, |_| CROSS);
            let used = tabs.iter().map(|tab| tab_width(ui, places, *tab)).sum::<f32>() + cross;
            Self { path: (path.surface, path.node), rect: leaf.rect(), used, front, tabs }
        });
        row.collect()
    }
}

/// Shows a list of the stashed tabs at the end of each row. Returns the panel that was chosen.
pub fn more_ui(ui: &mut Ui, places: &OpenPanels) -> Option<PanelId> {
    let palette = Palette::on(ui);
    let mut chosen = None;
    for (path, leaf) in places.dock.iter_leaves() {
        let stashed: Vec<PanelId> = places
            .stash
            .iter()
            .filter(|stashed| leaf.tabs().contains(&stashed.beside))
            .map(|stashed| stashed.panel)
            .collect();
        if stashed.is_empty() || !leaf.rect().is_finite() {
            continue;
        }
        let corner =
            Rect::from_min_size(pos2(leaf.rect().right() - MORE, leaf.rect().top()), vec2(MORE, size::TAB_HEIGHT));
        let is_new = stashed.iter().any(|panel| places.unseen.contains(panel.title()));
        let ink = if is_new { palette.accent } else { palette.ink_soft };
        let names: Vec<&str> = stashed.iter().map(|panel| panel.title()).collect();
        ui.scope_builder(UiBuilder::new().max_rect(corner).id_salt(("more", path.node)), |ui| {
            let button = Button::new(RichText::new("▾").color(ink)).frame_when_inactive(false);
            let (button, _) = MenuButton::from_button(button).ui(ui, |ui| {
                for panel in &stashed {
                    if ui.button(panel.title()).on_hover_text(about(*panel)).clicked() {
                        chosen = Some(*panel);
                        ui.close();
                    }
                }
            });
            let name = format!("More panels: {}", names.join(", "));
            named(button, WidgetType::Button, &name).on_hover_text(&name);
        });
    }
    chosen
}
