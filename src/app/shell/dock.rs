//! The workspace: the bar on top, the panels in a dock, the stage in their middle.

use std::sync::Arc;

use bevy::ecs::resource::Resource;
use egui::{CornerRadius, Frame, Margin, Stroke, Ui, WidgetText};
use egui_dock::{DockArea, DockState, NodeIndex, Style, TabViewer};

use crate::app::actions::{Action, WindowAction};
use crate::app::panels::stage::StagePanel;
use crate::app::panels::{Panel, PanelContext, PanelId, Region, Requests, StageUi, registry};
use crate::app::saved_view::SavedView;
use crate::app::text::live_card::live_card_ui;
use crate::app::text::prose::Prose;
use crate::app::theme::{self, Palette, size};
use crate::app::view::ViewState;
use crate::app::widgets::controls::waiting_ui;
use crate::view_model::course::Around;
use crate::view_model::glossary::GlossaryModel;
use crate::view_model::models::Models;
use crate::view_model::sentences::SentencesModel;

use super::checkpoints::CheckpointRow;
use super::faults::{fault_page_ui, fault_strip_ui};
use super::glossary::{GlossaryUiState, glossary_window_ui};
use super::note::{NoticeUiState, notice_ui};
use super::provenance::provenance_ui;
use super::top_bar::{TopBarUiState, top_bar_ui};

/// The workspace of the window.
#[derive(Resource, Default)]
pub struct WorkspaceState(pub Workspace);

/// The panels with their places, and the state of the window around them.
pub struct Workspace {
    pub(super) dock: DockState<PanelId>,
    panels: Vec<Box<dyn Panel>>,
    /// Typeset text and pictures, shared by the notebook and the glossary.
    prose: Prose,
    pub(super) top_bar: TopBarUiState,
    /// The list of checkpoints, while it is open.
    pub checkpoints: Option<Vec<CheckpointRow>>,
    notice: NoticeUiState,
    pub glossary: GlossaryUiState,
}

impl Default for Workspace {
    fn default() -> Self {
        let panels = registry();
        let of = |region| panels.iter().filter(|panel| panel.region() == region).map(|panel| panel.id()).collect();
        let mut dock = DockState::new(of(Region::Middle));
        let tree = dock.main_surface_mut();
        let [middle, _] = tree.split_left(NodeIndex::root(), size::NOTEBOOK_SHARE, of(Region::Left));
        let [_, side] = tree.split_right(middle, 1.0 - size::SIDE_SHARE, of(Region::UpperRight));
        tree.split_below(side, size::SIDE_SPLIT, of(Region::LowerRight));
        Workspace {
            dock,
            panels,
            prose: Prose::default(),
            top_bar: TopBarUiState::default(),
            checkpoints: None,
            notice: NoticeUiState::default(),
            glossary: GlossaryUiState::default(),
        }
    }
}

impl Workspace {
    /// Text cells show pictures of this lesson's folder.
    pub fn open(&mut self, lesson: &std::path::Path) {
        self.prose.images.open(lesson);
    }

    /// Part of the view that is saved with the learner's work.
    pub fn saved(&self, view: &ViewState) -> SavedView {
        let mut saved = SavedView {
            time: view.walk.at_rest().time(),
            query: view.selection.query,
            lit: view.highlight.lit.clone(),
            shown_cell: view.highlight.shown_cell.clone(),
            layout: self.layout(),
            ..SavedView::default()
        };
        self.panels.iter().for_each(|panel| panel.save(&mut saved));
        saved
    }

    /// Takes back what was kept. The query waits for its sentence.
    pub fn restore(&mut self, saved: &SavedView, view: &mut ViewState) {
        if saved.time.is_finite() {
            view.walk.set_time(saved.time);
        }
        view.highlight.lit.clone_from(&saved.lit);
        view.highlight.shown_cell.clone_from(&saved.shown_cell);
        if let Some(layout) = &saved.layout {
            self.lay_out(layout);
        }
        self.panels.iter_mut().for_each(|panel| panel.restore(saved));
    }

    /// Brings a panel to the front.
    pub fn show(&mut self, panel: PanelId) {
        if let Some(place) = self.dock.find_tab(&panel) {
            // It is there: it was found.
            let _ = self.dock.set_active_tab(place);
        }
    }

    /// The glossary of the lesson's folder; none where there is none, or as it has these faults.
    pub fn set_glossary(&mut self, read: Result<Option<Arc<GlossaryModel>>, Vec<String>>) {
        self.glossary.forget();
        let (glossary, faults) = read.map_or_else(|faults| (None, faults), |glossary| (glossary, Vec::new()));
        self.glossary.faults = faults;
        self.prose.set_glossary(glossary);
    }

    /// The lessons that the notebook leads to at its end.
    pub fn set_around(&mut self, around: Around) {
        self.prose.around = around;
    }

    /// The lesson was saved, and its pictures perhaps with it.
    pub fn lesson_saved(&mut self) {
        self.prose.images.look_again();
    }
}

/// The whole window. `issues` are those of the lesson file as it was last saved; `is_answered` once the kernel has
/// answered all that was asked of it.
pub fn workspace_ui(
    ui: &mut Ui,
    models: &Models,
    issues: &mut Vec<String>,
    workspace: &mut Workspace,
    view: &mut ViewState,
    stage: &mut dyn StageUi,
    is_answered: bool,
) -> Requests {
    let palette = Palette::of(ui.visuals().dark_mode);
    let mut requests = Requests::default();
    let Some(snapshot) = models.snapshot() else {
        if fault_page_ui(ui, issues) {
            requests.actions.push(WindowAction::Course.into());
        }
        return requests;
    };
    let Workspace { dock, panels, prose, top_bar, notice, glossary, .. } = workspace;
    let bar = Frame::new().fill(palette.ground).inner_margin(Margin::symmetric(size::PANEL_MARGIN, 0));
    egui::Panel::top("top_bar").frame(bar).exact_size(size::BAR_HEIGHT).show_separator_line(false).show(ui, |ui| {
        let sentences = models.get::<SentencesModel>();
        top_bar_ui(ui, snapshot, sentences.as_deref(), top_bar, view.preferences.theme, &mut requests);
    });
    fault_strip_ui(ui, issues);
    notice_ui(ui.ctx(), snapshot.notice.as_ref(), notice);
    let context = PanelContext { models, view: view.for_panels(), stage, prose, is_answered, requests: &mut requests };
    DockArea::new(dock)
        .style(dock_style(ui, palette))
        .show_close_buttons(false)
        .show_leaf_close_all_buttons(false)
        .show_leaf_collapse_buttons(false)
        .show_inside(ui, &mut Tabs { panels, context });
    if let Some(term) = prose.take_asked() {
        glossary.ask(term);
    }
    let asked: Option<Action> = glossary_window_ui(ui.ctx(), prose.glossary().map(|model| &**model), glossary);
    requests.actions.extend(asked);
    requests.actions.extend(prose.take_followed().into_iter().map(Action::Follow));
    live_card_ui(ui.ctx(), &mut prose.card);
    provenance_ui(ui.ctx(), models, &mut view.trail);
    requests
}

/// The panels as the dock draws them.
struct Tabs<'a> {
    panels: &'a mut [Box<dyn Panel>],
    context: PanelContext<'a>,
}

impl TabViewer for Tabs<'_> {
    type Tab = PanelId;

    fn id(&mut self, tab: &mut PanelId) -> egui::Id {
        egui::Id::new(*tab)
    }

    fn title(&mut self, tab: &mut PanelId) -> WidgetText {
        tab.title().into()
    }

    fn is_closeable(&self, _tab: &PanelId) -> bool {
        false
    }

    /// The stage paints every pixel of its own.
    fn clear_background(&self, tab: &PanelId) -> bool {
        *tab != StagePanel::ID
    }

    fn scroll_bars(&self, _tab: &PanelId) -> [bool; 2] {
        [false, false]
    }

    fn ui(&mut self, ui: &mut Ui, tab: &mut PanelId) {
        let Some(panel) = self.panels.iter_mut().find(|panel| panel.id() == *tab) else { return };
        let margin = if panel.has_margin() { size::PANEL_MARGIN } else { 0 };
        Frame::new().inner_margin(Margin::same(margin)).show(ui, |ui| {
            if panel.ui(ui, &mut self.context).is_none() {
                waiting_ui(ui);
            }
        });
    }
}

/// Quiet tabs: no outlines, one hairline between panels, the accent only under the pointer.
fn dock_style(ui: &Ui, palette: &Palette) -> Style {
    let mut style = Style::from_egui(ui.style());
    style.main_surface_border_stroke = Stroke::NONE;
    style.separator.width = size::HAIRLINE;
    // A pane's least size, small enough never to push a divider while the window is resized.
    const LEAST_PANE: f32 = 0.1;
    style.separator.extra = LEAST_PANE * ui.available_size().min_elem().max(0.0);
    style.separator.color_idle = palette.line;
    style.separator.color_hovered = palette.accent;
    style.separator.color_dragged = palette.accent;
    style.tab_bar.bg_fill = palette.surface;
    style.tab_bar.height = size::TAB_HEIGHT;
    style.tab_bar.hline_color = palette.line;
    style.tab_bar.corner_radius = CornerRadius::ZERO;
    style.tab.hline_below_active_tab_name = true;
    style.tab.tab_body.inner_margin = Margin::ZERO;
    style.tab.tab_body.stroke = Stroke::NONE;
    style.tab.tab_body.corner_radius = CornerRadius::ZERO;
    style.tab.tab_body.bg_fill = palette.surface;
    let looks = [
        (&mut style.tab.active, palette.ink),
        (&mut style.tab.focused, palette.ink),
        (&mut style.tab.inactive, palette.ink_faint),
        (&mut style.tab.hovered, palette.accent),
        (&mut style.tab.inactive_with_kb_focus, palette.accent),
        (&mut style.tab.active_with_kb_focus, palette.accent),
        (&mut style.tab.focused_with_kb_focus, palette.accent),
    ];
    for (look, ink) in looks {
        look.outline_color = theme::CLEAR;
        look.bg_fill = palette.surface;
        look.text_color = ink;
        look.corner_radius = CornerRadius::ZERO;
    }
    style
}
