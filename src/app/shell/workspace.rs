//! The egui systems: the whole workspace, or one figure.

use std::path::PathBuf;
use std::sync::Arc;

use attune_core::lesson::links::TextLink;
use attune_view::explain::walk::WalkModel;
use attune_view::view_model::stage::TokenPoint;
use attune_view::view_model::training::TrainingStage;
use bevy::math::Vec2;
use bevy::prelude::*;
use bevy::window::PrimaryWindow;
use bevy_egui::{EguiContext, EguiContexts};
use egui::{Event, LayerId, PointerState, Pos2, Rect, ThemePreference, Ui, UiBuilder};

use super::checkpoints::checkpoints_ui;
use super::course::CoursePage;
use super::dock::{Workspace, WorkspaceState, workspace_ui};
use super::exported::{ExportModel, exported_ui};
use super::files::files_ui;
use super::hand_in::{hand_in_ui, share_ui};
use super::home::{drop_ui, home_ui};
use super::key_sheet::key_sheet_ui;
use super::picture_choice::picture_choice_ui;
use super::presentation::{presentation_ui, zoom};
use super::provenance::provenance_ui;
use super::saving::saving_strip_ui;
use super::shortcuts::{LessonKeys, lesson_keys, talk_keys, window_keys};
use super::state::WindowState;
use super::still_map::still_ui;
use crate::app::actions::Action;
use crate::app::actions::typing::follow_typing;
use crate::app::link::Outbox;
use crate::app::panels::{PanelId, StageUi};
use crate::app::render::figure::{Figure, figure_ui};
use crate::app::scene::Scene;
use crate::app::scene_camera::SceneCamera;
use crate::app::stage::bar::{self, bar_ui};
use crate::app::stage::frame::StageTab;
use crate::app::stage::gauge;
use crate::app::stage::gauge::Gauge;
use crate::app::stage::keys::{self, keys};
use crate::app::stage::points::scaled;
use crate::app::stage::projected;
use crate::app::stage::projection::View;
use crate::app::stage::scene::StageScene;
use crate::app::stage::second::SecondLine;
use crate::app::stage::sentence::keys::keys as sentence_keys;
use crate::app::stage::sentence::{Strip, StripOptions, StripState};
use crate::app::stage::timeline::{self, timeline_ui};
use crate::app::stage::view::picture_ui;
use crate::app::text::live_card::live_card_ui;
use crate::app::theme;
use crate::app::theme::fonts;
use crate::app::view::{PanelView, ThemeChoice, ViewState};
use crate::app::work::session::Session;
use crate::app::work::source::LessonIssues;

/// A new context gets the app's fonts and styles before its first pass.
pub fn apply_style(mut contexts: Query<&mut EguiContext, Added<EguiContext>>) {
    for mut context in &mut contexts {
        let ctx = context.get_mut();
        ctx.set_fonts(fonts::definitions());
        ctx.options_mut(|options| options.zoom_with_keyboard = false);
        theme::apply(ctx);
    }
}

#[expect(clippy::too_many_arguments, reason = "the one place where everything on the screen meets")]
pub fn workspace(
    mut contexts: EguiContexts,
    (scene, on_stage): (Res<Scene>, Res<StageScene>),
    mut view: ResMut<ViewState>,
    mut tab: ResMut<StageTab>,
    mut workspace: ResMut<WorkspaceState>,
    mut issues: ResMut<LessonIssues>,
    mut outbox: ResMut<Outbox>,
    session: Option<ResMut<Session>>,
    mut page: ResMut<CoursePage>,
    mut state: ResMut<WindowState>,
    figure: Option<Res<Figure>>,
    window: Option<Single<&Window, With<PrimaryWindow>>>,
) -> Result {
    let ctx = contexts.ctx_mut()?.clone();
    let window = window.map(|window| Vec2::new(window.width(), window.height()));
    let talk_zoom = window.filter(|_| state.presentation.is_some()).map(|size| zoom(egui::vec2(size.x, size.y)));
    follow_settings(&ctx, &view, talk_zoom.unwrap_or(view.preferences.zoom));
    if view.hover.begin_frame() {
        ctx.request_repaint();
    }
    if view.walk.is_playing() && is_touched(&ctx) {
        view.walk.stop();
    }
    follow_typing(&ctx);
    let mut ui = root(&ctx);
    if figure.is_none() {
        let asked = window_ui(&mut ui, &mut page, &mut state, &mut workspace.0, &view);
        state.asked.extend(asked);
        if page.is_open {
            key_sheet_ui(&ctx, &mut state.is_key_sheet_open, &mut view.preferences.reduced_motion);
            return Ok(());
        }
    }
    if state.presentation.is_some() {
        let keys = talk_keys(&ctx, &view.trail);
        if !keys.is_empty() {
            // Whoever talks has let go of the mouse: nothing is pointed at until it moves.
            ctx.input_mut(|input| input.pointer = PointerState::default());
        }
        state.asked.extend(keys.into_iter().map(Action::Row));
    }
    let points = on_stage.points.as_deref();
    tab.strip.followed = on_stage.walk.as_deref().and_then(WalkModel::source_query);
    sentence_keys(&ctx, on_stage.sentence.as_deref(), &mut tab.strip, &mut view.for_panels());
    keys(&ctx, points, &on_stage.emphasis, &mut tab.controls, &mut view.for_panels());
    if let Some(talk) = &mut state.presentation {
        let strip = StripOptions { is_open: false, reduced_motion: view.preferences.reduced_motion };
        let mut stage = StageSide { scene: &on_stage, tab: &mut tab, parts: StageParts::Gauge, strip };
        let prose = &mut workspace.0.prose;
        let requests = presentation_ui(&mut ui, &scene, talk, &mut view.for_panels(), &mut stage, prose);
        outbox.commands.extend(requests.commands);
        live_card_ui(&ctx, &mut prose.card);
        // Links within the lesson's picture are followed; a talk leads to no other page or panel.
        let is_here = |link: &TextLink| matches!(link, TextLink::Word(_) | TextLink::Head(_) | TextLink::Time(_));
        let followed = prose.take_followed().into_iter().filter(is_here).map(Action::Follow);
        prose.take_asked();
        state.asked.extend(requests.actions.into_iter().chain(followed));
        provenance_ui(&ctx, &scene, &mut view.trail);
        key_sheet_ui(&ctx, &mut state.is_key_sheet_open, &mut view.preferences.reduced_motion);
        return Ok(());
    }
    let snapshot = scene.snapshot();
    let keys = LessonKeys {
        has_notebook: snapshot.is_some(),
        has_sentences: snapshot.is_some_and(|snapshot| snapshot.space.is_some() && snapshot.model.is_some()),
        has_walk: on_stage.walk.is_some(),
        has_layers: on_stage.route.as_ref().is_some_and(|route| route.layers.len() > 1),
        has_pieces: on_stage.has_pieces(),
        has_scale: snapshot.and_then(|snapshot| snapshot.space.as_ref()).is_some_and(|space| space.scale.is_some()),
        training: snapshot.map(|snapshot| TrainingStage::of(snapshot)),
        trail: Some(&view.trail).filter(|_| !state.is_key_sheet_open),
        is_glossary_open: workspace.0.glossary.is_open,
    };
    state.asked.extend(lesson_keys(&ctx, &keys).into_iter().map(Action::Row));
    let strip =
        StripOptions { is_open: has_come_to_attention(&workspace.0), reduced_motion: view.preferences.reduced_motion };
    let parts = if view.figure.is_on { StageParts::Picture } else { StageParts::All };
    let mut stage = StageSide { scene: &on_stage, tab: &mut tab, parts, strip };
    if figure.is_some() {
        figure_ui(&mut ui, &scene, &mut view, &mut stage);
        return Ok(());
    }
    if let Some(mut session) = session {
        workspace.0.set_saving(&session.model.status);
        let choice = saving_strip_ui(&mut ui, &session.model);
        if choice.is_some() {
            session.choice = choice;
        }
    }
    let is_answered = outbox.is_answered && outbox.commands.is_empty();
    let requests = workspace_ui(&mut ui, &scene, &mut issues.0, &mut workspace.0, &mut view, &mut stage, is_answered);
    outbox.commands.extend(requests.commands);
    outbox.pace = requests.pace.unwrap_or(outbox.pace);
    state.asked.extend(requests.actions);
    key_sheet_ui(&ctx, &mut state.is_key_sheet_open, &mut view.preferences.reduced_motion);
    Ok(())
}

/// Overlays above the lesson: the page of the course, dialogs, files that are held over the window.
fn window_ui(
    ui: &mut Ui,
    page: &mut CoursePage,
    state: &mut WindowState,
    workspace: &mut Workspace,
    view: &ViewState,
) -> Vec<Action> {
    let ctx = ui.ctx().clone();
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
    let mut asked: Vec<Action> = chosen.into_iter().chain(dropped(&ctx).map(Action::Open)).collect();
    let keys = window_keys(&ctx, state.is_key_sheet_open, state.presentation.is_some());
    asked.extend(keys.into_iter().map(Action::Row));
    // Under a dialog it would lie over its buttons.
    if !state.is_dialog_open() && exported_ui(&ctx, &state.export) {
        state.export = ExportModel::None;
    }
    asked.extend(still_ui(&ctx, &state.map));
    let is_held = ctx.input(|input| !input.raw.hovered_files.is_empty());
    if page.is_open {
        let CoursePage { model, frame, ui: state, .. } = page;
        asked.extend(home_ui(ui, model.as_ref(), frame, state, view.preferences.theme));
    }
    if is_held {
        drop_ui(&ctx);
    }
    asked
}

/// A key or a button went down.
fn is_touched(ctx: &egui::Context) -> bool {
    let is_press =
        |event: &Event| matches!(event, Event::Key { pressed: true, .. } | Event::PointerButton { pressed: true, .. });
    ctx.input(|input| input.events.iter().any(is_press))
}

/// A file that was let go over the window.
fn dropped(ctx: &egui::Context) -> Option<PathBuf> {
    ctx.input(|input| input.raw.dropped_files.first().map(|file| file.path().to_owned()))
}

/// A panel about attention is open: until then the arcs in the sentence wait for somebody to point at a word, for the
/// opening picture shows that words move, not yet why.
fn has_come_to_attention(workspace: &Workspace) -> bool {
    ["Attention", "Step"].into_iter().any(|title| workspace.places.is_open(PanelId(title)))
}

fn walk_ui(ui: &mut Ui, scene: &StageScene, view: &mut PanelView) {
    ui.painter().rect_filled(ui.max_rect(), 0.0, ui.visuals().panel_fill);
    timeline_ui(ui, scene.route.as_deref(), scene.walk.as_deref(), scene.about_points(view), view);
}

/// The parts of the stage that are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StageParts {
    /// The picture alone.
    Picture,
    /// The gauge over the picture: the sentence stands elsewhere.
    Gauge,
    /// The sentence, the gauge and the bar over the picture, and the time line under it.
    All,
}

/// The stage as the dock knows it.
struct StageSide<'a> {
    scene: &'a StageScene,
    tab: &'a mut StageTab,
    parts: StageParts,
    strip: StripOptions,
}

impl StageUi for StageSide<'_> {
    fn stage_ui(&mut self, ui: &mut Ui, view: &mut PanelView) {
        stage_ui(ui, self, view);
    }

    fn sentence_ui(&mut self, ui: &mut Ui, view: &mut PanelView) -> Rect {
        let area = ui.available_rect_before_wrap();
        strip_ui(ui, self.scene, &mut self.tab.strip, area, self.strip, view)
    }

    fn timeline_ui(&mut self, ui: &mut Ui, view: &mut PanelView) {
        walk_ui(ui, self.scene, view);
    }

    fn camera(&mut self) -> Option<&mut dyn SceneCamera> {
        self.scene.points.is_some().then_some(self)
    }
}

impl SceneCamera for StageSide<'_> {
    fn projection(&self, rect: Rect, middle: [f32; 3], reach: f32) -> Box<dyn Fn([f32; 3]) -> Option<Pos2> + '_> {
        let Some(model) = self.scene.points.as_deref() else { return Box::new(|_| None) };
        let [reach, _, _] = scaled(model, [reach, 0.0, 0.0]);
        let pose = self.tab.controls.rig.pose.around(scaled(model, middle).into(), reach);
        let view = View::of(pose, Vec2::new(rect.width(), rect.height()), reach);
        Box::new(move |at| {
            let seen = view.project(scaled(model, at).into())?;
            Some(rect.min + egui::vec2(seen.at.x, seen.at.y))
        })
    }

    fn orbit(&mut self, drag: egui::Vec2) {
        self.tab.controls.rig.orbit(Vec2::new(drag.x, drag.y));
    }

    fn home(&mut self) {
        self.tab.controls.rig.home();
    }
}

/// The sentence at the upper edge of an area, where there is room for it. Returns the rest.
fn strip_ui(
    ui: &mut Ui,
    scene: &StageScene,
    state: &mut StripState,
    area: Rect,
    options: StripOptions,
    view: &mut PanelView,
) -> Rect {
    let strip = scene.sentence.as_deref().and_then(|sentence| Strip::of(ui, sentence, area.size(), options));
    let Some(strip) = strip else { return area };
    let (top, below) = area.split_top_bottom_at_y(area.top() + strip.height());
    ui.scope_builder(UiBuilder::new().max_rect(top), |ui| strip.ui(ui, state, view));
    below
}

/// The picture and, in the workspace, the bar over it and the time slider under it.
fn stage_ui(ui: &mut Ui, side: &mut StageSide, view: &mut PanelView) {
    let StageSide { scene, tab, parts, strip } = side;
    let mut area = ui.available_rect_before_wrap();
    keys::leave(ui.ctx(), area);
    let (model, emphasis) = (scene.points.as_ref(), &scene.emphasis);
    let has_gauge = match parts {
        StageParts::Picture => false,
        StageParts::Gauge => true,
        StageParts::All => {
            let whole = area;
            area = strip_ui(ui, scene, &mut tab.strip, whole, *strip, view);
            area != whole && whole.height() >= gauge::FROM
        }
    };
    if let Some(gauge) = scene.gauge.as_deref().filter(|gauge| has_gauge && gauge.has_moves()) {
        let gauge = Gauge::of(gauge, view);
        let (top, below) = area.split_top_bottom_at_y(area.top() + gauge.height());
        area = below;
        let time = view.walk.time();
        ui.scope_builder(UiBuilder::new().max_rect(top), |ui| gauge.ui(ui, time, view));
    }
    if let Some(line) = model.and_then(|model| SecondLine::of(ui, model, view, area.width())) {
        let (top, below) = area.split_top_bottom_at_y(area.top() + line.height());
        area = below;
        ui.scope_builder(UiBuilder::new().max_rect(top), |ui| line.ui(ui, view));
    }
    if *parts == StageParts::All {
        if scene.has_walk(view.walk) {
            let about = scene.about_points(view);
            let height = timeline::height(ui, area.width(), scene.route.as_deref(), scene.walk.as_deref(), about);
            let top = (area.bottom() - height).max(area.top());
            let timeline = area.split_top_bottom_at_y(top).1;
            area.max.y = timeline.top();
            ui.scope_builder(UiBuilder::new().max_rect(timeline), |ui| walk_ui(ui, scene, view));
        }
        let (top, below) = area.split_top_bottom_at_y(area.top() + bar::height(area.height(), emphasis));
        area = below;
        if top.is_positive() {
            let rig = &mut tab.controls.rig;
            ui.scope_builder(UiBuilder::new().max_rect(top), |ui| {
                bar_ui(ui, model.map(Arc::as_ref), emphasis, rig, view)
            });
        }
    }
    let (texture, controls) = (tab.texture, &mut tab.controls);
    let shown = model.map(|model| {
        let walk = scene.walked(view.walk).map(|walked| walked.walk);
        let walk = walk.filter(|walk| walk.fits(model.tokens.iter().map(TokenPoint::label)));
        projected::SceneRef {
            model,
            emphasis,
            path: scene.path.as_deref(),
            walk: walk.map(|walk| (walk, view.walk.step())),
        }
    });
    let rect =
        ui.scope_builder(UiBuilder::new().max_rect(area), |ui| picture_ui(ui, shown, controls, view, texture)).inner;
    tab.points = Vec2::new(rect.width(), rect.height());
    tab.pixels_per_point = ui.pixels_per_point();
    tab.dark = ui.visuals().dark_mode;
}

fn root(ctx: &egui::Context) -> Ui {
    Ui::new(
        ctx.clone(),
        "workspace".into(),
        UiBuilder::new().layer_id(LayerId::background()).max_rect(ctx.viewport_rect()),
    )
}

fn follow_settings(ctx: &egui::Context, view: &ViewState, zoom: f32) {
    ctx.set_theme(match view.preferences.theme {
        ThemeChoice::System => ThemePreference::System,
        ThemeChoice::Dark => ThemePreference::Dark,
        ThemeChoice::Light => ThemePreference::Light,
    });
    if ctx.zoom_factor() != zoom {
        ctx.set_zoom_factor(zoom);
    }
}
