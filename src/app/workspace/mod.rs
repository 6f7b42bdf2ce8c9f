//! The workspace: the bar at the top, the panels in a dock, and the stage in the middle. Pictures without a window use
//! it too.
//!
//! | file | job |
//! |---|---|
//! | [`top_bar`] | the bar and its menus |
//! | [`open_panels`] | which panels are open and where; their layout as it is saved |
//! | [`panel_reveal`] | panels that appear when the learner reaches a cell |
//! | [`tabs`] | each panel in its tab |
//! | [`stage_side`] | the stage in the dock, and its camera as panels use it |
//! | [`windows`] | windows above the panels: the provenance of a number, the glossary |
//! | [`notices`] | messages about the lesson's file and the saving of the work |
//! | [`recorded`] | the strip about a recording |

pub mod notices;
pub mod open_panels;
pub mod panel_reveal;
pub mod recorded;
pub mod stage_side;
pub mod tabs;
pub mod top_bar;
pub mod windows;

use std::sync::Arc;

use attune_core::lesson::Lesson;
use attune_view::view_model::Models;
use attune_view::view_model::course::LessonsAround;
use attune_view::view_model::glossary::GlossaryModel;
use attune_view::view_model::recorded::RecordingModel;
use attune_view::view_model::saved_view::{PanelLayout, SavedView};
use attune_view::view_model::sentences::SentencesModel;
use bevy::prelude::*;
use bevy_egui::EguiContext;
use egui::{CornerRadius, Frame, LayerId, Margin, Stroke, ThemePreference, Ui, UiBuilder};
use egui_dock::{DockArea, Style};

use self::notices::{CheckpointRow, NoticeUiState, SavingStatus, issue_strip_ui, issues_page_ui, notice_ui};
use self::open_panels::OpenPanels;
use self::panel_reveal::{PanelReveal, opened_ui};
use self::recorded::recording_ui;
use self::tabs::{Tabs, fit_tabs, more_ui};
use self::top_bar::{TopBarUiState, top_bar_ui};
use self::windows::{GlossaryUiState, glossary_window_ui, provenance_ui};
use crate::app::actions::{Action, ReachedCell, WindowAction};
use crate::app::panels::{PanelContext, PanelId, PanelName, Registered, Requests, StageUi, registry};
use crate::app::text::live_card::live_card_ui;
use crate::app::text::prose::Prose;
use crate::app::text::term_card::term_card_ui;
use crate::app::theme::{self, Palette, fonts, size};
use crate::app::ui_state::{ThemeChoice, ViewState};

/// The workspace of the window.
#[derive(Resource, Default)]
pub struct WorkspaceState(pub Workspace);

/// The panels with their places, and the state of the parts around them.
pub struct Workspace {
    pub open_panels: OpenPanels,
    panels: Vec<Registered>,
    reveal: PanelReveal,
    /// The cache of typeset texts and pictures, shared by the notebook and the glossary.
    pub(super) prose: Prose,
    pub(super) top_bar: TopBarUiState,
    /// The list of checkpoints, while it is open.
    pub checkpoints: Option<Vec<CheckpointRow>>,
    notice: NoticeUiState,
    pub glossary: GlossaryUiState,
}

impl Default for Workspace {
    fn default() -> Self {
        let panels = registry();
        Workspace {
            open_panels: OpenPanels::new(panels.iter().map(|row| (row.id, row.region)).collect()),
            panels,
            reveal: PanelReveal::default(),
            prose: Prose::default(),
            top_bar: TopBarUiState::default(),
            checkpoints: None,
            notice: NoticeUiState::default(),
            glossary: GlossaryUiState::default(),
        }
    }
}

impl Workspace {
    /// Makes text cells show pictures of this lesson's folder.
    pub fn open(&mut self, lesson: &std::path::Path) {
        self.prose.images.open(lesson);
    }

    /// Returns the part of the view that is saved with the learner's work.
    pub fn saved(&self, view: &ViewState) -> SavedView {
        let mut saved = SavedView {
            time: view.walk.at_rest().time(),
            walk: view.walk.saved(),
            query: view.selection.query,
            head: view.selection.is_head_chosen.then_some(view.selection.head),
            is_head_alone: view.selection.shown_head().is_some(),
            reading: view.selection.reading,
            pieces: view.highlight.pieces,
            color_by: view.highlight.color_by.clone(),
            size_by: view.highlight.size_by.clone(),
            lit: view.highlight.lit.clone(),
            shown_cell: view.highlight.shown_cell.clone(),
            layout: self.open_panels.layout(),
            is_laid_out_by_hand: !self.open_panels.is_arranged(),
            revealed: Some(self.open_panels.revealed.iter().map(|panel| panel.title().to_owned()).collect()),
            ..SavedView::default()
        };
        self.panels.iter().for_each(|row| row.panel.save(&mut saved));
        saved
    }

    /// Restores a saved view. The word and the head wait for the sentence: see [`Selection::restore`].
    ///
    /// [`Selection::restore`]: crate::app::ui_state::Selection::restore
    pub fn restore(&mut self, saved: &SavedView, view: &mut ViewState) {
        if saved.time.is_finite() {
            view.walk.set_time(saved.time);
        }
        if let Some(walk) = &saved.walk {
            view.walk.restore(walk);
        }
        view.selection.reading = saved.reading;
        view.highlight.pieces = saved.pieces;
        view.highlight.color_by.clone_from(&saved.color_by);
        view.highlight.size_by.clone_from(&saved.size_by);
        view.highlight.lit.clone_from(&saved.lit);
        view.highlight.shown_cell.clone_from(&saved.shown_cell);
        self.restore_places(saved);
        self.panels.iter_mut().for_each(|row| row.panel.restore(saved));
    }

    /// Returns the layout of the panels; `None` if all are in windows of their own.
    pub fn layout(&self) -> Option<PanelLayout> {
        self.open_panels.layout()
    }

    /// Shows `words` in a note for a while.
    pub fn say(&mut self, words: &str) {
        self.notice.say(words);
    }

    /// Sets the saving status in the top bar.
    pub fn set_saving(&mut self, status: &SavingStatus) {
        self.top_bar.saving.clone_from(status);
    }

    /// Sets the glossary of the lesson's folder: `None` if there is none, or the issues of its file.
    pub fn set_glossary(&mut self, read: Result<Option<Arc<GlossaryModel>>, Vec<String>>) {
        self.glossary.forget();
        let (glossary, faults) = read.map_or_else(|faults| (None, faults), |glossary| (glossary, Vec::new()));
        self.glossary.faults = faults;
        self.prose.set_glossary(glossary, term_card_ui);
    }

    /// Opens the panels that a lesson has from the start, once.
    fn begin(&mut self, lesson: &Arc<Lesson>) {
        self.reveal.begin(&mut self.open_panels, lesson);
    }

    /// Opens the panels of a cell that the learner has reached.
    pub fn reach(&mut self, lesson: &Lesson, reached: &ReachedCell) {
        self.reveal.reach(&mut self.open_panels, lesson, reached);
    }

    /// Sets the panels of a picture: those that are open at the start of a lesson or, with `cell`, when the learner has
    /// reached that cell.
    pub fn freeze_layout(&mut self, lesson: &Arc<Lesson>, cell: Option<&str>) {
        self.reveal.freeze(&mut self.open_panels, lesson, cell);
    }

    /// Restores the saved layout and the panels that had appeared, or else the panels of the lesson's start.
    fn restore_places(&mut self, saved: &SavedView) {
        self.reveal = PanelReveal::default();
        let known = self.open_panels.known();
        self.open_panels = OpenPanels::new(known);
        let named = |titles: &[String]| titles.iter().filter_map(|title| PanelName::named(title)).collect();
        if let Some(layout) = &saved.layout {
            self.open_panels.lay_out(layout, saved.is_laid_out_by_hand || saved.revealed.is_none());
        }
        self.open_panels.revealed = match &saved.revealed {
            Some(revealed) => named(revealed),
            // A layout from before panels could be closed has no list of them, so all panels count as having appeared.
            None if saved.layout.is_some() => PanelName::ALL.into_iter().collect(),
            None => named(&[]),
        };
    }

    /// Sets the lessons to which the end of the notebook links.
    pub fn set_around(&mut self, around: LessonsAround) {
        self.prose.around = around;
    }

    /// Reads the lesson's pictures again, because its file was saved.
    pub fn lesson_saved(&mut self) {
        self.prose.images.look_again();
    }
}

/// Gives a new context the program's fonts and styles before its first pass.
pub fn apply_style(mut contexts: Query<&mut EguiContext, Added<EguiContext>>) {
    for mut context in &mut contexts {
        let ctx = context.get_mut();
        ctx.set_fonts(fonts::definitions());
        ctx.options_mut(|options| options.zoom_with_keyboard = false);
        theme::apply(ctx);
    }
}

/// Applies the learner's theme and zoom to egui.
pub fn follow_preferences(ctx: &egui::Context, view: &ViewState, zoom: f32) {
    ctx.set_theme(match view.preferences.theme {
        ThemeChoice::System => ThemePreference::System,
        ThemeChoice::Dark => ThemePreference::Dark,
        ThemeChoice::Light => ThemePreference::Light,
    });
    if ctx.zoom_factor() != zoom {
        ctx.set_zoom_factor(zoom);
    }
}

/// Returns the background in which everything is laid out.
pub fn root(ctx: &egui::Context) -> Ui {
    let ground = UiBuilder::new().layer_id(LayerId::background()).max_rect(ctx.viewport_rect());
    Ui::new(ctx.clone(), "workspace".into(), ground)
}

/// Shows the whole window. `issues` has the issues of the last saved version of the lesson file; `is_answered` says
/// whether the kernel has processed all requests.
pub fn workspace_ui(
    ui: &mut Ui,
    models: &Models,
    issues: &mut Vec<String>,
    workspace: &mut Workspace,
    view: &mut ViewState,
    stage: &mut dyn StageUi,
    is_answered: bool,
) -> Requests {
    let mut requests = Requests::default();
    let Some(snapshot) = models.snapshot() else {
        if issues_page_ui(ui, issues) {
            requests.actions.push(WindowAction::Course.into());
        }
        return requests;
    };
    workspace.begin(&snapshot.lesson);
    let Workspace { open_panels, panels, reveal, prose, top_bar, notice, glossary, .. } = workspace;
    let bar = Frame::new().fill(Palette::on(ui).ground).inner_margin(Margin::symmetric(size::PANEL_MARGIN, 0));
    egui::Panel::top("top_bar").frame(bar).exact_size(size::BAR_HEIGHT).show_separator_line(false).show(ui, |ui| {
        let sentences = models.get::<SentencesModel>();
        let panels: Vec<(PanelId, bool)> = open_panels.panels().collect();
        top_bar_ui(ui, snapshot, sentences.as_deref(), &panels, top_bar, view.preferences.theme, &mut requests);
    });
    issue_strip_ui(ui, issues);
    if let Some(model) = models.get::<RecordingModel>() {
        recording_ui(ui, &model, &mut requests);
    }
    // If a lesson has nothing to show, the stage gives the reason.
    notice_ui(ui.ctx(), snapshot.notice.as_ref().filter(|_| snapshot.fault.is_none()), notice);
    opened_ui(ui.ctx(), reveal);
    let is_still = view.preferences.reduced_motion;
    let context = PanelContext { models, view: view.for_panels(), stage, prose, is_answered, requests: &mut requests };
    dock_ui(ui, open_panels, panels, context, is_still);
    if let Some(term) = prose.take_asked() {
        glossary.ask(term);
    }
    let asked: Option<Action> = glossary_window_ui(ui.ctx(), prose.glossary().map(|model| &**model), glossary);
    requests.actions.extend(asked);
    requests.actions.extend(prose.take_followed().into_iter().map(Action::Follow));
    live_card_ui(ui.ctx(), &mut prose.card);
    requests.actions.extend(provenance_ui(ui.ctx(), models, &mut view.trail, true));
    requests
}

/// Shows the panels in their places.
fn dock_ui<'a>(
    ui: &mut Ui,
    open_panels: &mut OpenPanels,
    panels: &'a mut [Registered],
    context: PanelContext<'a>,
    is_still: bool,
) {
    open_panels.follow(ui.available_size());
    let seconds = if is_still { f32::INFINITY } else { ui.input(|input| input.stable_dt) };
    if open_panels.advance(seconds) {
        ui.ctx().request_repaint();
    }
    let (fronts, unseen) = (open_panels.fronts().collect(), open_panels.unseen.iter().copied().collect());
    let mut tabs = Tabs { panels, context, fronts, unseen, closed: None, is_dragged: false };
    let id = open_panels.begin_frame();
    // With another mouse button than the first, the dock would begin a drag that it never ends.
    let is_by_another = ui.input(|input| input.pointer.secondary_down() || input.pointer.middle_down());
    let style = dock_style(ui, Palette::on(ui));
    DockArea::new(&mut open_panels.dock)
        .id(id)
        .draggable_tabs(!is_by_another)
        .style(style)
        .show_leaf_close_all_buttons(false)
        .show_leaf_collapse_buttons(false)
        .show_inside(ui, &mut tabs);
    open_panels.end_frame(tabs.is_dragged, ui.input(|input| input.pointer.primary_released()));
    if let Some(closed) = tabs.closed {
        open_panels.close(closed);
        ui.ctx().request_repaint();
    }
    if let Some(shown) = more_ui(ui, open_panels) {
        open_panels.show(shown);
    }
    if fit_tabs(ui, open_panels) {
        ui.ctx().request_discard("tabs have room");
        ui.ctx().request_repaint();
    }
}

/// Returns the style of the dock: tabs without outlines, a thin line between panels, and the accent only where hovered.
fn dock_style(ui: &Ui, palette: &Palette) -> Style {
    let mut style = Style::from_egui(ui.style());
    style.main_surface_border_stroke = Stroke::NONE;
    style.separator.width = size::HAIRLINE;
    // The least size of a pane, which is small enough that resizing the window never moves a divider.
    const LEAST_PANE: f32 = 0.1;
    style.separator.extra = LEAST_PANE * ui.available_size().min_elem().max(0.0);
    style.separator.color_idle = palette.line;
    style.separator.color_hovered = palette.accent;
    style.separator.color_dragged = palette.accent;
    style.tab_bar.bg_fill = palette.surface;
    // The ids of two scroll bars would be equal if a panel were in a window of its own.
    style.tab_bar.show_scroll_bar_on_overflow = false;
    style.tab_bar.height = size::TAB_HEIGHT;
    style.tab_bar.hline_color = palette.line;
    style.tab_bar.corner_radius = CornerRadius::ZERO;
    style.tab.hline_below_active_tab_name = true;
    style.tab.tab_body.inner_margin = Margin::ZERO;
    style.tab.tab_body.stroke = Stroke::NONE;
    style.tab.tab_body.corner_radius = CornerRadius::ZERO;
    style.tab.tab_body.bg_fill = palette.surface;
    let looks = [
        (&mut style.tab.active, palette.tab(true)),
        (&mut style.tab.focused, palette.tab(true)),
        (&mut style.tab.inactive, palette.tab(false)),
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
