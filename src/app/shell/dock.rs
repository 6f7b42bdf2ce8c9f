//! The workspace: the bar on top, the panels in a dock, the stage in their middle.

use std::sync::Arc;

use egui::{CornerRadius, Frame, Margin, Stroke, Ui, UiBuilder, WidgetText};
use egui_dock::{DockArea, DockState, NodeIndex, Style, TabViewer};

use crate::app::actions::{Action, WindowAction};
use crate::app::look::Look;
use crate::app::theme::{self, Palette, size};
use crate::app::view::ViewState;
use crate::kernel::command::Command;
use crate::kernel::worker::pace::Pace;
use crate::view_model::answers::AnswersModel;
use crate::view_model::attention::AttentionModel;
use crate::view_model::axes::AxesModel;
use crate::view_model::compare::CompareModel;
use crate::view_model::fold::FoldModel;
use crate::view_model::glossary::GlossaryModel;
use crate::view_model::heads::HeadsModel;
use crate::view_model::neighbours::NeighboursModel;
use crate::view_model::notebook::NotebookModel;
use crate::view_model::path::PathModel;
use crate::view_model::provenance::Provenance;
use crate::view_model::retrain::RetrainModel;
use crate::view_model::sentences::SentencesModel;
use crate::view_model::training::TrainingModel;
use crate::view_model::variables::VariablesModel;
use crate::view_model::walk::WalkModel;
use crate::view_model::weights::WeightsModel;
use crate::view_model::what_if::WhatIfModel;

use super::checkpoints::CheckpointRow;
use super::faults::{fault_page_ui, fault_strip_ui};
use super::glossary::{GlossaryUiState, glossary_window_ui};
use super::note::{NoticeUiState, notice_ui};
use super::panel_id::PanelId;
use super::provenance::provenance_ui;
use super::top_bar::{TopBarUiState, top_bar_ui};
use crate::app::panels::answers::{AnswersUiState, answers_ui};
use crate::app::panels::arithmetic::arithmetic_ui;
use crate::app::panels::attention::{AttentionUiState, attention_ui};
use crate::app::panels::axes::{AxesUiState, axes_ui};
use crate::app::panels::compare::{CompareUiState, compare_ui};
use crate::app::panels::fold::fold_ui;
use crate::app::panels::heads::{HeadsUiState, heads_ui};
use crate::app::panels::neighbours::{NeighboursUiState, neighbours_ui};
use crate::app::panels::notebook::{NotebookUiState, notebook_ui};
use crate::app::panels::retrain::retrain_ui;
use crate::app::panels::training::{TrainingUiState, training_ui};
use crate::app::panels::variables::{VariablesUiState, variables_ui};
use crate::app::panels::weights::{WeightsUiState, weights_ui};
use crate::app::panels::what_if::{WhatIfUiState, what_if_ui};
use crate::app::widgets::controls::waiting_ui;

/// What every panel shows; absent while the kernel is not that far.
#[derive(Clone, Copy, Default)]
pub struct WorkspaceModel<'a> {
    pub notebook: Option<&'a NotebookModel>,
    pub attention: Option<&'a AttentionModel>,
    pub fold: Option<&'a FoldModel>,
    pub heads: Option<&'a HeadsModel>,
    pub weights: Option<&'a WeightsModel>,
    pub training: Option<&'a TrainingModel>,
    pub retrain: Option<&'a RetrainModel>,
    pub walk: Option<&'a WalkModel>,
    pub path: Option<&'a PathModel>,
    pub neighbours: Option<&'a NeighboursModel>,
    pub answers: Option<&'a AnswersModel>,
    /// Of the number that was asked where it comes from.
    pub provenance: Option<&'a Provenance>,
    pub what_if: Option<&'a WhatIfModel>,
    pub variables: Option<&'a VariablesModel>,
    pub sentences: Option<&'a SentencesModel>,
    pub compare: Option<&'a CompareModel>,
    pub axes: Option<&'a AxesModel>,
}

/// Where the panels lie, and what each remembers.
pub struct Workspace {
    pub(super) dock: DockState<PanelId>,
    pub(super) top_bar: TopBarUiState,
    /// The list of checkpoints, while it is open.
    pub checkpoints: Option<Vec<CheckpointRow>>,
    notice: NoticeUiState,
    notebook: NotebookUiState,
    pub(super) glossary: GlossaryUiState,
    attention: AttentionUiState,
    what_if: WhatIfUiState,
    variables: VariablesUiState,
    heads: HeadsUiState,
    weights: WeightsUiState,
    training: TrainingUiState,
    compare: CompareUiState,
    axes: AxesUiState,
    answers: AnswersUiState,
    neighbours: NeighboursUiState,
}

impl Default for Workspace {
    fn default() -> Self {
        let mut dock = DockState::new(vec![PanelId::Stage, PanelId::Fold]);
        let tree = dock.main_surface_mut();
        let [stage, _] = tree.split_left(
            NodeIndex::root(),
            size::NOTEBOOK_SHARE,
            vec![PanelId::Notebook, PanelId::Answers, PanelId::Variables, PanelId::Compare],
        );
        let [_, side] = tree.split_right(
            stage,
            1.0 - size::SIDE_SHARE,
            vec![PanelId::Attention, PanelId::Arithmetic, PanelId::Heads, PanelId::WhatIf],
        );
        let lower = vec![PanelId::Weights, PanelId::Neighbours, PanelId::Training, PanelId::Retrain, PanelId::Axes];
        tree.split_below(side, size::SIDE_SPLIT, lower);
        Workspace {
            dock,
            top_bar: TopBarUiState::default(),
            checkpoints: None,
            notice: NoticeUiState::default(),
            notebook: NotebookUiState::default(),
            glossary: GlossaryUiState::default(),
            attention: AttentionUiState::default(),
            what_if: WhatIfUiState::default(),
            variables: VariablesUiState::default(),
            heads: HeadsUiState::default(),
            weights: WeightsUiState::default(),
            training: TrainingUiState::default(),
            compare: CompareUiState::default(),
            axes: AxesUiState::default(),
            answers: AnswersUiState::default(),
            neighbours: NeighboursUiState::default(),
        }
    }
}

impl Workspace {
    /// Text cells show pictures of this lesson's folder.
    pub fn open(&mut self, lesson: &std::path::Path) {
        self.notebook.prose.images.open(lesson);
    }

    /// How fast training plays.
    pub fn pace(&self) -> Pace {
        self.training.pace
    }

    /// The cell that the notebook is at, by its id.
    pub fn selected_cell(&self) -> Option<String> {
        self.notebook.selected_cell().map(str::to_owned)
    }

    /// Goes to a cell, as soon as it is there.
    pub fn select_cell(&mut self, id: &str) {
        self.notebook.select(id);
    }

    /// How the attention panel shows its weights: as lines or not, and the place of its zoom.
    pub fn attention(&self) -> (bool, usize) {
        self.attention.kept()
    }

    pub fn show_attention(&mut self, as_lines: bool, zoom: usize) {
        self.attention.put_back(as_lines, zoom);
    }

    /// The kernel has answered all that was asked of it: what it shows is what it has.
    pub fn settle(&mut self) {
        self.notebook.settle();
    }

    /// Brings a panel to the front.
    pub fn show(&mut self, panel: PanelId) {
        if let Some(place) = self.dock.find_tab(&panel) {
            // It is there: it was found.
            let _ = self.dock.set_active_tab(place);
        }
    }

    /// What is wanted of the window, once.
    pub fn take_action(&mut self) -> Option<Action> {
        let map = std::mem::take(&mut self.axes.wants_map).then(|| WindowAction::Map.into());
        self.top_bar.asked.take().or(map)
    }

    /// The glossary of the lesson's folder; none where there is none, or as it has these faults.
    pub fn set_glossary(&mut self, read: Result<Option<Arc<GlossaryModel>>, Vec<String>>) {
        self.glossary.forget();
        let (glossary, faults) = read.map_or_else(|faults| (None, faults), |glossary| (glossary, Vec::new()));
        self.glossary.faults = faults;
        self.notebook.prose.set_glossary(glossary);
    }

    /// The lesson was saved, and its pictures perhaps with it.
    pub fn lesson_saved(&mut self) {
        self.notebook.prose.images.look_again();
    }
}

/// What the dock asks of the stage, which it does not know.
pub trait StageUi {
    /// Draws it into its tab.
    fn stage_ui(&mut self, ui: &mut Ui, view: &mut ViewState);

    /// The steps of the walk, under what is walked through.
    fn timeline_ui(&mut self, _ui: &mut Ui, _view: &mut ViewState) {}

    /// Its camera; none where there is no scene.
    fn look(&mut self) -> Option<&mut dyn Look> {
        None
    }
}

impl<F: FnMut(&mut Ui, &mut ViewState)> StageUi for F {
    fn stage_ui(&mut self, ui: &mut Ui, view: &mut ViewState) {
        self(ui, view);
    }
}

/// The whole window. `issues` are those of the lesson file as it was last saved.
pub fn workspace_ui(
    ui: &mut Ui,
    model: &WorkspaceModel,
    issues: &mut Vec<String>,
    workspace: &mut Workspace,
    view: &mut ViewState,
    stage: &mut dyn StageUi,
) -> Vec<Command> {
    let palette = Palette::of(ui.visuals().dark_mode);
    let mut commands = Vec::new();
    let Some(notebook) = model.notebook else {
        if fault_page_ui(ui, issues) {
            workspace.top_bar.asked = Some(WindowAction::Course.into());
        }
        return commands;
    };
    let Workspace {
        dock,
        top_bar,
        notice,
        notebook: notebook_state,
        glossary,
        attention,
        what_if,
        variables,
        heads,
        weights,
        training,
        compare,
        axes,
        answers,
        neighbours,
        ..
    } = workspace;
    let bar = Frame::new().fill(palette.ground).inner_margin(Margin::symmetric(size::PANEL_MARGIN, 0));
    egui::Panel::top("top_bar").frame(bar).exact_size(size::BAR_HEIGHT).show_separator_line(false).show(ui, |ui| {
        commands.extend(top_bar_ui(ui, notebook, model.sentences, top_bar, view.preferences.theme));
    });
    fault_strip_ui(ui, issues);
    notice_ui(ui.ctx(), notebook.notice.as_ref(), notice);
    let mut tabs = Tabs {
        model,
        notebook_state,
        attention_state: attention,
        what_if_state: what_if,
        variables_state: variables,
        heads_state: heads,
        weights_state: weights,
        training_state: training,
        compare_state: compare,
        axes_state: axes,
        answers_state: answers,
        neighbours_state: neighbours,
        view,
        stage,
        commands: &mut commands,
    };
    DockArea::new(dock)
        .style(dock_style(ui, palette))
        .show_close_buttons(false)
        .show_leaf_close_all_buttons(false)
        .show_leaf_collapse_buttons(false)
        .show_inside(ui, &mut tabs);
    if let Some(term) = notebook_state.prose.take_asked() {
        glossary.ask(term);
    }
    let asked = glossary_window_ui(ui.ctx(), notebook_state.prose.glossary().map(|model| &**model), glossary);
    top_bar.asked = top_bar.asked.take().or(asked);
    provenance_ui(ui.ctx(), model.provenance, view);
    commands
}

const WAITING: &str = "The static vectors are being trained …";

struct Tabs<'a> {
    model: &'a WorkspaceModel<'a>,
    notebook_state: &'a mut NotebookUiState,
    attention_state: &'a mut AttentionUiState,
    what_if_state: &'a mut WhatIfUiState,
    variables_state: &'a mut VariablesUiState,
    heads_state: &'a mut HeadsUiState,
    weights_state: &'a mut WeightsUiState,
    training_state: &'a mut TrainingUiState,
    compare_state: &'a mut CompareUiState,
    axes_state: &'a mut AxesUiState,
    answers_state: &'a mut AnswersUiState,
    neighbours_state: &'a mut NeighboursUiState,
    view: &'a mut ViewState,
    stage: &'a mut dyn StageUi,
    commands: &'a mut Vec<Command>,
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
        *tab != PanelId::Stage
    }

    fn scroll_bars(&self, _tab: &PanelId) -> [bool; 2] {
        [false, false]
    }

    fn ui(&mut self, ui: &mut Ui, tab: &mut PanelId) {
        match tab {
            PanelId::Stage => return self.stage.stage_ui(ui, self.view),
            PanelId::Fold => return self.fold_ui(ui),
            _ => {}
        }
        Frame::new().inner_margin(Margin::symmetric(size::PANEL_MARGIN, size::PANEL_MARGIN)).show(ui, |ui| match self
            .panel_ui(ui, *tab)
        {
            Some(commands) => self.commands.extend(commands),
            None => waiting_ui(ui, WAITING),
        });
    }
}

impl Tabs<'_> {
    /// The fold, over the steps that it goes through.
    fn fold_ui(&mut self, ui: &mut Ui) {
        let area = ui.available_rect_before_wrap();
        let (above, steps) = area.split_top_bottom_at_y((area.bottom() - size::TIMELINE).max(area.top()));
        ui.scope_builder(UiBuilder::new().max_rect(above), |ui| match (self.model.fold, self.stage.look()) {
            (Some(model), Some(look)) => fold_ui(ui, model, self.view, look),
            _ => waiting_ui(ui, WAITING),
        });
        ui.scope_builder(UiBuilder::new().max_rect(steps), |ui| self.stage.timeline_ui(ui, self.view));
    }

    /// None while there is nothing to show yet.
    fn panel_ui(&mut self, ui: &mut Ui, tab: PanelId) -> Option<Vec<Command>> {
        let model = self.model;
        Some(match tab {
            PanelId::Stage | PanelId::Fold => Vec::new(),
            PanelId::Notebook => notebook_ui(ui, model.notebook?, self.notebook_state, self.view),
            PanelId::Attention => attention_ui(ui, model.attention?, self.attention_state, self.view),
            PanelId::Arithmetic => {
                arithmetic_ui(ui, model.walk, model.path, model.attention?, self.view);
                Vec::new()
            }
            PanelId::Heads => heads_ui(ui, model.heads?, model.attention?, self.heads_state, self.view),
            PanelId::Weights => weights_ui(ui, model.weights?, self.weights_state, self.view),
            PanelId::Training => training_ui(ui, model.training?, self.training_state),
            PanelId::Retrain => retrain_ui(ui, model.retrain?, self.view),
            PanelId::Neighbours => {
                neighbours_ui(ui, model.neighbours?, self.neighbours_state, self.view);
                Vec::new()
            }
            PanelId::WhatIf => what_if_ui(ui, model.what_if?, self.what_if_state, self.view),
            PanelId::Variables => {
                variables_ui(ui, model.variables?, self.variables_state, self.view);
                Vec::new()
            }
            PanelId::Compare => compare_ui(ui, model.compare, model.sentences?, self.compare_state, self.view),
            PanelId::Axes => axes_ui(ui, model.axes?, self.axes_state),
            PanelId::Answers => answers_ui(ui, model.answers?, self.answers_state, self.view).into_iter().collect(),
        })
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
