//! The stage as the dock knows it: the sentence, the gauge and the bar over the picture, and the time line under it; and
//! its camera, as panels look through it.

use std::sync::Arc;

use attune_view::view_model::stage::TokenPoint;
use bevy::math::Vec2;
use egui::{Pos2, Rect, Ui, UiBuilder};

use super::Workspace;
use crate::app::panels::{PanelId, SceneCamera, StageUi};
use crate::app::stage::bar::{self, bar_ui};
use crate::app::stage::canvas::picture_ui;
use crate::app::stage::frame::StageTab;
use crate::app::stage::gauge::{self, Gauge};
use crate::app::stage::geometry::scaled;
use crate::app::stage::projection::{self, View};
use crate::app::stage::second::SecondLine;
use crate::app::stage::sentence::{Strip, StripOptions, StripState};
use crate::app::stage::state::StageState;
use crate::app::stage::timeline::{self, timeline_ui};
use crate::app::ui_state::{PanelView, ViewState};

/// A panel about attention is open: until then the arcs in the sentence wait for somebody to point at a word, for the
/// opening picture shows that words move, not yet why.
fn has_come_to_attention(workspace: &Workspace) -> bool {
    ["Attention", "Step"].into_iter().any(|title| workspace.open_panels.is_open(PanelId(title)))
}

fn walk_ui(ui: &mut Ui, scene: &StageState, view: &mut PanelView) {
    ui.painter().rect_filled(ui.max_rect(), 0.0, ui.visuals().panel_fill);
    timeline_ui(ui, scene.route.as_deref(), scene.walk.as_deref(), scene.about_points(view), view);
}

/// The parts of the stage that are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum StageParts {
    /// The picture alone.
    Picture,
    /// The gauge over the picture: the sentence stands elsewhere.
    Gauge,
    /// The sentence, the gauge and the bar over the picture, and the time line under it.
    All,
}

/// The stage as the dock knows it.
pub struct StageSide<'a> {
    pub scene: &'a StageState,
    pub tab: &'a mut StageTab,
    pub parts: StageParts,
    pub strip: StripOptions,
}

impl<'a> StageSide<'a> {
    /// The stage of a workspace: whole, or the picture alone. The sentence's arcs wait for a panel about attention.
    pub fn of(scene: &'a StageState, tab: &'a mut StageTab, workspace: &Workspace, view: &ViewState) -> Self {
        let parts = if view.figure.is_on { StageParts::Picture } else { StageParts::All };
        let is_open = has_come_to_attention(workspace);
        StageSide {
            scene,
            tab,
            parts,
            strip: StripOptions { is_open, reduced_motion: view.preferences.reduced_motion },
        }
    }
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
    scene: &StageState,
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
    bar::leave(ui.ctx(), area);
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
        projection::SceneRef {
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
