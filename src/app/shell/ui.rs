//! The content of the window: the lesson in its workspace, a presentation or the course page, with dialogs and notes
//! above them. Also decides which of the window's keys are active.

use std::path::PathBuf;

use attune_core::lesson::links::TextLink;
use attune_view::explain::walk::WalkModel;
use attune_view::view_model::training::TrainingStage;
use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
use bevy::window::PrimaryWindow;
use bevy_egui::EguiContexts;
use egui::{Context, Event, PointerState, Ui};

use super::course::{CoursePage, drop_ui, home_ui};
use super::dialogs::{files_ui, hand_in_ui, key_sheet_ui, picture_choice_ui, share_ui};
use super::state::WindowState;
use super::still_map::still_ui;
use super::talk::{presentation_ui, zoom};
use crate::app::actions::focus::{Focus, Opened, Page};
use crate::app::actions::keys::follow_typing;
use crate::app::actions::{Action, FilePurpose, Pressed, WindowAction, pressed};
use crate::app::link::{LatestModels, Outbox};
use crate::app::stage::bar::keys;
use crate::app::stage::frame::StageTab;
use crate::app::stage::sentence::{StripOptions, keys as sentence_keys};
use crate::app::stage::state::StageState;
use crate::app::text::live_card::live_card_ui;
use crate::app::ui_state::ViewState;
use crate::app::work::recall::Recall;
use crate::app::work::session::Session;
use crate::app::work::source::LessonIssues;
use crate::app::workspace::notices::{ExportModel, checkpoints_ui, exported_ui, saving_strip_ui};
use crate::app::workspace::stage_side::{StageParts, StageSide};
use crate::app::workspace::windows::provenance_ui;
use crate::app::workspace::{WorkspaceState, follow_preferences, root, workspace_ui};

/// All data that the window draws, and the receivers of requests.
#[derive(SystemParam)]
pub struct Screen<'w> {
    models: Res<'w, LatestModels>,
    on_stage: Res<'w, StageState>,
    view: ResMut<'w, ViewState>,
    tab: ResMut<'w, StageTab>,
    workspace: ResMut<'w, WorkspaceState>,
    issues: ResMut<'w, LessonIssues>,
    outbox: ResMut<'w, Outbox>,
    session: Option<ResMut<'w, Session>>,
    recall: Res<'w, Recall>,
    page: ResMut<'w, CoursePage>,
    state: ResMut<'w, WindowState>,
}

/// Handles the keys of the open page, and draws the whole window.
///
/// # Errors
/// If the window has no egui context.
pub fn draw(
    mut contexts: EguiContexts,
    mut screen: Screen,
    window: Option<Single<&Window, With<PrimaryWindow>>>,
) -> Result {
    let ctx = contexts.ctx_mut()?.clone();
    screen.begin(&ctx, window.map(|window| egui::vec2(window.width(), window.height())));
    let mut ui = root(&ctx);
    screen.overlays_ui(&mut ui);
    if !screen.page.is_open {
        if screen.state.presentation.is_some() {
            screen.take_talk_keys(&ctx);
        }
        screen.take_stage_keys(&ctx);
        if screen.state.presentation.is_some() { screen.talk_ui(&mut ui) } else { screen.lesson_ui(&mut ui) }
    }
    key_sheet_ui(&ctx, &mut screen.state.is_key_sheet_open, &mut screen.view.preferences.reduced_motion);
    let is_at_rest = !screen.view.walk.is_gliding() && screen.on_stage.glide.is_none();
    if is_at_rest && screen.on_stage.points.is_some() {
        screen.state.letters.draw_ahead(&ctx);
    }
    Ok(())
}

impl Screen<'_> {
    /// Applies the learner's settings and processes typing. `window` is the window's size, to which a presentation is
    /// scaled.
    fn begin(&mut self, ctx: &Context, window: Option<egui::Vec2>) {
        let talk_zoom = window.filter(|_| self.state.presentation.is_some()).map(zoom);
        follow_preferences(ctx, &self.view, talk_zoom.unwrap_or(self.view.preferences.zoom));
        if self.view.hover.begin_frame() {
            ctx.request_repaint();
        }
        // This comes first, because the next call drops letters that were typed outside every field.
        self.state.files.keep_typed(ctx);
        follow_typing(ctx);
        self.opened().announce(ctx);
    }

    /// Returns the page and the windows over it, which decide which keys are live.
    fn opened(&self) -> Opened {
        let page = match &self.state.presentation {
            _ if self.page.is_open => Page::Course,
            Some(_) => Page::Talk,
            None => Page::Lesson,
        };
        Opened {
            page,
            is_key_sheet_open: self.state.is_key_sheet_open,
            trail_depth: self.view.trail.depth(),
            is_glossary_open: self.workspace.0.glossary.is_open,
        }
    }

    /// Shows the content above the lesson: the course page, dialogs, and the notice for dragged files.
    fn overlays_ui(&mut self, ui: &mut Ui) {
        let ctx = ui.ctx().clone();
        let (state, workspace) = (&mut *self.state, &mut self.workspace.0);
        let is_dialog = state.is_dialog_open() || workspace.checkpoints.is_some();
        let chosen = files_ui(&ctx, &mut state.files)
            .or_else(|| picture_choice_ui(&ctx, &mut state.picture))
            .or_else(|| hand_in_ui(&ctx, &mut state.hand_in))
            .or_else(|| share_ui(&ctx, &mut state.is_sharing))
            .or_else(|| checkpoints_ui(&ctx, &mut workspace.checkpoints));
        if is_dialog {
            // Keys typed in a dialog must not reach the panels below.
            ctx.input_mut(|input| input.events.retain(|event| !matches!(event, Event::Key { .. } | Event::Text(_))));
        }
        state
            .asked
            .extend(chosen.into_iter().chain(dropped(&ctx).map(|path| Action::UseFile(FilePurpose::Dropped, path))));
        let keys = pressed(&ctx, is_of_every_page);
        state.asked.extend(keys.into_iter().map(Action::Row));
        // A note would cover the dialog's buttons.
        if !state.is_dialog_open() && exported_ui(&ctx, &state.export) {
            state.export = ExportModel::None;
        }
        state.asked.extend(still_ui(&ctx, &state.map));
        let is_held = ctx.input(|input| !input.raw.hovered_files.is_empty());
        if self.page.is_open {
            let CoursePage { model, frame, ui: page, .. } = &mut *self.page;
            state.asked.extend(home_ui(
                ui,
                model.as_ref(),
                frame,
                page,
                self.view.preferences.theme,
                self.view.preferences.reduced_motion,
            ));
        }
        if is_held {
            drop_ui(&ctx);
        }
    }

    fn take_talk_keys(&mut self, ctx: &Context) {
        let keys = talk_keys(ctx);
        if !keys.is_empty() {
            // After a key press in a presentation, the pointer is ignored until it moves.
            ctx.input_mut(|input| input.pointer = PointerState::default());
        }
        self.state.asked.extend(keys.into_iter().map(Action::Row));
    }

    /// Handles the keys of the sentence and of the stage.
    fn take_stage_keys(&mut self, ctx: &Context) {
        let (stage, tab) = (&*self.on_stage, &mut *self.tab);
        tab.strip.followed = stage.walk.as_deref().and_then(WalkModel::source_query);
        sentence_keys(ctx, stage.sentence.as_deref(), &mut tab.strip, &mut self.view.for_panels());
        keys(ctx, stage.points.as_deref(), &stage.emphasis, &mut tab.controls, &mut self.view.for_panels());
    }

    fn talk_ui(&mut self, ui: &mut Ui) {
        let Screen { models, on_stage, view, tab, workspace, outbox, state, .. } = self;
        let Some(talk) = &mut state.presentation else { return };
        let strip = StripOptions { is_open: false, reduced_motion: view.preferences.reduced_motion };
        let mut stage = StageSide { scene: on_stage, tab, parts: StageParts::Gauge, strip, beside_tab: None };
        let prose = &mut workspace.0.prose;
        let requests = presentation_ui(ui, models, talk, &mut view.for_panels(), &mut stage, prose);
        outbox.commands.extend(requests.commands);
        live_card_ui(ui.ctx(), &mut prose.card);
        // Links within the lesson are followed; a presentation leads to no other page or panel.
        let is_here = |link: &TextLink| {
            matches!(link, TextLink::Word(_) | TextLink::Head(_) | TextLink::Sentence(_) | TextLink::Time(_))
        };
        let followed = prose.take_followed().into_iter().filter(is_here).map(Action::Follow);
        prose.take_asked();
        state.asked.extend(requests.actions.into_iter().chain(followed));
        state.asked.extend(provenance_ui(ui.ctx(), models, &mut view.trail, false));
    }

    fn lesson_ui(&mut self, ui: &mut Ui) {
        let keys = lesson_keys(ui.ctx(), &self.lesson_keys());
        self.state.asked.extend(keys.into_iter().map(Action::Row));
        let Screen { models, on_stage, view, tab, workspace, issues, outbox, session, recall, state, .. } = self;
        let workspace = &mut workspace.0;
        if let Some(session) = session {
            workspace.set_saving(&session.model.status);
            let choice = saving_strip_ui(ui, &session.model);
            if choice.is_some() {
                session.choice = choice;
            }
        }
        let is_answered = outbox.is_answered && outbox.commands.is_empty();
        let mut stage = StageSide::of(ui, on_stage, tab, &workspace.open_panels, view);
        let requests = workspace_ui(ui, models, &mut issues.0, workspace, view, &mut stage, is_answered);
        // The request to press a button is dropped if none of the panels had this button in this frame.
        view.asked.button = None;
        outbox.commands.extend(requests.commands);
        recall.send(requests.recall);
        state.asked.extend(requests.actions);
    }

    fn lesson_keys(&self) -> LessonKeys {
        let (snapshot, stage) = (self.models.snapshot(), &self.on_stage);
        LessonKeys {
            has_notebook: snapshot.is_some(),
            has_sentences: snapshot.is_some_and(|snapshot| snapshot.space.is_some() && snapshot.model.is_some()),
            has_walk: stage.walk.is_some(),
            has_layers: stage.route.as_ref().is_some_and(|route| route.layers.len() > 1),
            has_pieces: stage.has_pieces(),
            has_scale: snapshot.and_then(|snapshot| snapshot.space.as_ref()).is_some_and(|space| space.scale.is_some()),
            training: snapshot.map(|snapshot| TrainingStage::of(snapshot)),
        }
    }
}

/// Returns the first file that was dropped on the window in this frame; `None` if there is none.
fn dropped(ctx: &Context) -> Option<PathBuf> {
    ctx.input(|input| input.raw.dropped_files.first().map(|file| file.path().to_owned()))
}

/// Returns whether an action's key works on every page; other keys belong to a lesson.
fn is_of_every_page(action: WindowAction) -> bool {
    use WindowAction::{Browse, CloseKeySheet, Course, KeySheet, Larger, Panel, Review, Smaller, Theme, UsualSize};
    matches!(action, KeySheet | CloseKeySheet | Larger | Smaller | UsualSize | Theme | Course | Review | Browse | Panel)
}

/// Returns the actions of a presentation whose keys were pressed.
fn talk_keys(ctx: &Context) -> Vec<Pressed<WindowAction>> {
    use WindowAction::{NextSlide, PreviousSlide};
    // A focused control keeps Space and the arrows, but the keys of a presenter always turn slides.
    let is_presenters =
        ctx.input(|input| input.key_pressed(egui::Key::PageDown) || input.key_pressed(egui::Key::PageUp));
    let turns = is_presenters || Focus::of(ctx) != Focus::Control;
    pressed(ctx, |action| turns || !matches!(action, NextSlide | PreviousSlide))
}

/// Properties of the lesson on which the meaning of keys depends.
#[derive(Clone, Copy, Default)]
pub struct LessonKeys {
    pub has_notebook: bool,
    pub has_sentences: bool,
    pub has_walk: bool,
    pub has_layers: bool,
    /// Whether a word of the sentence consists of several pieces.
    pub has_pieces: bool,
    /// Whether the model has a norm that gives its layers a common scale, in which the picture can be shown.
    pub has_scale: bool,
    pub training: Option<TrainingStage>,
}

/// Returns the actions of a lesson whose keys were pressed.
pub fn lesson_keys(ctx: &Context, lesson: &LessonKeys) -> Vec<Pressed<WindowAction>> {
    use WindowAction::{
        Beside, BrowseTraining, BrowseTrainingFar, Compare, ComputeTables, Glossary, HandIn, HideSinks, LayerBefore,
        MapAnswer, MeasureTexts, MeasureWords, NextLayer, Origin, Pieces, RawStates, ReadAdded, Share, TrainStep,
        WriteSentence,
    };
    pressed(ctx, |action| match action {
        WriteSentence | Compare | Beside | MapAnswer | MeasureWords | ComputeTables | MeasureTexts => {
            lesson.has_sentences
        }
        HandIn | Share | Glossary | ReadAdded | HideSinks => lesson.has_notebook,
        TrainStep => lesson.training.is_some_and(TrainingStage::can_go_on),
        BrowseTraining | BrowseTrainingFar => lesson.training.is_some(),
        Origin => lesson.has_walk,
        NextLayer | LayerBefore => lesson.has_layers,
        Pieces => lesson.has_pieces,
        RawStates => lesson.has_scale,
        _ => true,
    })
}
