//! The stage in the dock, with its camera as panels use it. The picture fills the stage; the sentence, the gauge, the
//! bar and the time line are drawn over the picture.

use attune_view::explain::walk::WalkModel;
use attune_view::view_model::sentence_arcs::SentenceArcs;
use attune_view::view_model::stage::TokenPoint;
use bevy::math::Vec2;
use egui::{Label, LayerId, Mesh, Pos2, Rect, RichText, Ui, UiBuilder};

use super::open_panels::OpenPanels;
use super::tabs::room_beside_tabs;
use crate::app::panels::stage::StagePanel;
use crate::app::panels::{PanelId, SceneCamera, StageUi};
use crate::app::stage::bar::{self, BarWidths, bar_ui};
use crate::app::stage::canvas::{Floating, picture_ui};
use crate::app::stage::chains::ChainsCard;
use crate::app::stage::frame::StageTab;
use crate::app::stage::gauge::{self, Gauge};
use crate::app::stage::geometry::scaled;
use crate::app::stage::projection;
use crate::app::stage::ribbons::{self, Ribbons};
use crate::app::stage::second::SecondLine;
use crate::app::stage::sentence::{Strip, StripOptions};
use crate::app::stage::state::StageState;
use crate::app::stage::timeline::{self, timeline_ui};
use crate::app::stage::view::View;
use crate::app::theme::{self, Palette, size};
use crate::app::ui_state::{PanelView, ViewState, Walk};
use crate::app::widgets::heat::width_of;
use crate::app::widgets::popup::keep_in_sight;

/// Returns whether a panel about attention is open. Until then, arcs are shown only for a hovered word, because the
/// opening picture shows that words move, but not yet why.
fn has_come_to_attention(panels: &OpenPanels) -> bool {
    ["Attention", "Step"].into_iter().any(|title| panels.is_open(PanelId(title)))
}

fn walk_ui(ui: &mut Ui, scene: &StageState, view: &mut PanelView) {
    timeline_ui(
        ui,
        scene.route.as_deref(),
        scene.walk.as_deref(),
        scene.about_points(view.selection),
        scene.ends(),
        &scene.followed_words(view.selection, view.highlight),
        view,
    );
}

/// The parts of the stage that are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum StageParts {
    /// Only the picture.
    Picture,
    /// The picture with the gauge, the second sentence and the result; the sentence itself is shown elsewhere.
    Gauge,
    /// The picture with all parts over it, such as the sentence, the gauge, the bar and the time line.
    All,
}

/// The stage in the dock.
pub struct StageSide<'a> {
    pub scene: &'a StageState,
    pub tab: &'a mut StageTab,
    pub parts: StageParts,
    pub strip: StripOptions,
    /// The room beside the stage's tab, in which the bar does not cover the picture.
    pub beside_tab: Option<Rect>,
}

impl<'a> StageSide<'a> {
    /// Returns the stage beside these panels; for a figure, only its picture. Until a panel about attention is open,
    /// arcs are shown only for a hovered word.
    pub fn of(ui: &Ui, scene: &'a StageState, tab: &'a mut StageTab, panels: &OpenPanels, view: &ViewState) -> Self {
        let parts = if view.figure.is_on { StageParts::Picture } else { StageParts::All };
        let is_open = has_come_to_attention(panels);
        StageSide {
            scene,
            tab,
            parts,
            strip: StripOptions { is_open, reduced_motion: view.preferences.reduced_motion },
            beside_tab: room_beside_tabs(ui, panels, StagePanel::ID),
        }
    }
}

impl StageUi for StageSide<'_> {
    fn stage_ui(&mut self, ui: &mut Ui, view: &mut PanelView) {
        stage_ui(ui, self, view);
    }

    fn sentence_ui(&mut self, ui: &mut Ui, view: &mut PanelView) -> Rect {
        let area = ui.available_rect_before_wrap();
        let Some(sentence) = self.scene.sentence.as_deref() else { return area };
        let Some(strip) = self.strip_of(ui, sentence, area.size(), view) else { return area };
        let (top, below) = area.split_top_bottom_at_y(area.top() + strip.height());
        ui.painter().rect_filled(top, 0.0, Palette::on(ui).stage);
        ui.scope_builder(UiBuilder::new().max_rect(top), |ui| strip.ui(ui, &mut self.tab.strip, view));
        below
    }

    fn timeline_ui(&mut self, ui: &mut Ui, view: &mut PanelView) {
        ui.painter().rect_filled(ui.max_rect(), 0.0, ui.visuals().panel_fill);
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

impl<'a> StageSide<'a> {
    /// Returns the walk if its steps are shown.
    fn steps(&self, walk: &Walk) -> Option<&'a WalkModel> {
        let walked = self.scene.walked(walk).filter(|_| walk.is_walking());
        walked.map(|walked| walked.walk)
    }

    /// Returns the sentence with the additions for the current step of the walk; `None` if the stage is too small for
    /// it.
    fn strip_of(&self, ui: &Ui, sentence: &'a SentenceArcs, area: egui::Vec2, view: &PanelView) -> Option<Strip<'a>> {
        let strip = Strip::of(ui, sentence, area, self.strip)?.with_picture(self.scene.picture.as_deref());
        Some(strip.at_step(view.walk.step(), self.steps(view.walk)))
    }
}

/// The parts over the picture, each with its place.
#[derive(Default)]
struct Over<'a> {
    sentence: Option<(Strip<'a>, Rect)>,
    gauge: Option<(Gauge<'a>, Rect)>,
    second: Option<(SecondLine<'a>, Rect)>,
    bar: Option<bar::Place>,
    /// The band of the walk, with its ribbons and the chains of a score, if the step has some.
    band: Option<Rect>,
    ribbons: Option<Ribbons<'a>>,
    chains: Option<ChainsCard<'a>>,
    /// The place of the result line, which is reserved before the points arrive, so that nothing moves when it appears.
    result: Option<Rect>,
    walk: Option<Rect>,
}

impl<'a> Over<'a> {
    /// Places the parts: from the top the sentence, the gauge and the second sentence, with the bar beside the tab or
    /// in the corner below them, and the time line at the bottom.
    fn of(ui: &Ui, side: &StageSide<'a>, area: Rect, view: &PanelView) -> Self {
        let mut over = Self::default();
        if side.parts == StageParts::Picture {
            return over;
        }
        let top = over.place_upper(ui, side, area, view);
        over.place_lower(ui, side, area.with_min_y(top), view, area.height());
        let bottom = over.bottom().unwrap_or(area.bottom());
        let has_room = bottom - top >= size::VIEW_BAR_FROM;
        if side.parts == StageParts::All && has_room && side.scene.points.is_some() {
            let room = Rect::from_x_y_ranges(area.x_range(), top..=bottom);
            let controls = &side.tab.controls;
            let widths = BarWidths::of(ui, &side.scene.emphasis, &controls.rig, view.highlight);
            over.bar = Some(widths.place(room, side.beside_tab));
        }
        over
    }

    /// Places the parts at the upper edge. Returns their lower end.
    fn place_upper(&mut self, ui: &Ui, side: &StageSide<'a>, area: Rect, view: &PanelView) -> f32 {
        let (scene, is_whole) = (side.scene, side.parts == StageParts::All);
        let mut top = area.top();
        let mut take = |height: f32| {
            let rect = Rect::from_x_y_ranges(area.x_range(), top..=(top + height).min(area.bottom()));
            top = rect.bottom();
            rect
        };
        let sentence = scene.sentence.as_deref().filter(|_| is_whole);
        let strip = sentence.and_then(|sentence| side.strip_of(ui, sentence, area.size(), view));
        self.sentence = strip.map(|strip| {
            let rect = take(strip.height());
            (strip, rect)
        });
        let has_gauge = !is_whole || self.sentence.is_some() && area.height() >= gauge::FROM;
        let gauge = scene.gauge.as_deref().filter(|gauge| has_gauge && gauge.has_moves());
        self.gauge = gauge.map(|gauge| {
            let gauge = Gauge::of(gauge, view.selection, view.highlight);
            let rect = take(gauge.height());
            (gauge, rect)
        });
        let second = scene.points.as_ref();
        let second = second.and_then(|model| SecondLine::of(ui, model, view.selection, view.highlight, area.width()));
        self.second = second.map(|line| {
            let rect = take(line.height());
            (line, rect)
        });
        top
    }

    /// Places the parts at the lower edge of `rest`, for a stage of this height.
    fn place_lower(&mut self, ui: &Ui, side: &StageSide<'a>, rest: Rect, view: &PanelView, height: f32) {
        let scene = side.scene;
        if side.parts == StageParts::All && scene.has_walk(view.walk) {
            let about = scene.about_points(view.selection);
            let needed = timeline::height(ui, rest.width(), scene.route.as_deref(), scene.walk.as_deref(), about);
            self.walk = Some(rest.with_min_y((rest.bottom() - needed).max(rest.top())));
        }
        if scene.has_results() && height >= RESULT_FROM {
            let bottom = self.walk.map_or(rest.bottom() - size::GAP, |walk| walk.top());
            self.result = Some(rest.with_max_y(bottom).with_min_y(bottom - result_height(height)));
        }
        if let Some(walk) = side.steps(view.walk).filter(|_| side.parts == StageParts::All) {
            self.band = ribbons::band(rest.with_max_y(self.bottom().unwrap_or(rest.bottom())));
            self.ribbons = Ribbons::of(walk, view.walk.step());
            let score = scene.score.as_deref().and_then(|score| score.as_ref().ok());
            self.chains = score.map(ChainsCard);
        }
    }

    /// Draws all parts over the picture.
    fn ui(&self, ui: &mut Ui, side: &mut StageSide, view: &mut PanelView) {
        let StageSide { scene, tab, .. } = side;
        let model = scene.points.as_ref();
        let at = |rect: Rect| UiBuilder::new().max_rect(rect);
        if let Some((strip, rect)) = &self.sentence {
            ui.scope_builder(at(*rect), |ui| strip.ui(ui, &mut tab.strip, view));
        }
        if let Some((gauge, rect)) = &self.gauge {
            let time = view.walk.time();
            ui.scope_builder(at(*rect), |ui| gauge.ui(ui, time, view.hover));
        }
        if let Some((line, rect)) = &self.second {
            ui.scope_builder(at(*rect), |ui| line.ui(ui, view));
        }
        if let Some((place, model)) = self.bar.zip(model) {
            ui.scope_builder(at(place.rect), |ui| {
                // The row of the tabs lies outside of the stage's own tab.
                ui.set_clip_rect(ui.clip_rect().union(place.rect));
                bar_ui(ui, model, &scene.emphasis, &mut tab.controls.rig, view, place.is_over_picture);
            });
        }
        if let Some((rect, ribbons)) = self.band.zip(self.ribbons.as_ref()) {
            let sentence = self.sentence.as_ref().map(|(strip, _)| strip);
            let over = |word| sentence?.middle_of(word, &tab.strip);
            let beside = self.chains.as_ref().and_then(|chains| Some((chains, ChainsCard::beside(rect)?)));
            let rect = beside.as_ref().map_or(rect, |(_, (ribbons, _))| *ribbons);
            ui.scope_builder(at(rect), |ui| ribbons.ui(ui, view.walk.at(), over, view.trail));
            if let Some((chains, (_, rect))) = beside {
                chains.ui(ui, rect);
            }
        }
        if let Some((rect, result)) = self.result.zip(scene.result(view.walk)) {
            ui.scope_builder(at(rect), |ui| result_ui(ui, result));
        }
        if let Some(rect) = self.walk {
            ui.scope_builder(at(rect), |ui| walk_ui(ui, scene, view));
        }
    }

    /// Returns the lower edge of the parts at the top; `None` if there are none.
    fn top(&self) -> Option<f32> {
        let rects = [self.sentence.as_ref().map(|at| at.1), self.gauge.as_ref().map(|at| at.1)];
        let rects = rects.into_iter().chain([self.second.as_ref().map(|at| at.1)]);
        rects.flatten().map(|rect| rect.bottom()).reduce(f32::max)
    }

    /// Returns the upper edge of the parts at the bottom; `None` if there are none.
    fn bottom(&self) -> Option<f32> {
        self.band.or(self.result).or(self.walk).map(|rect| rect.top())
    }

    fn bar_over_picture(&self) -> Option<Rect> {
        self.bar.filter(|bar| bar.is_over_picture).map(|bar| bar.rect)
    }

    fn floating(&self, area: Rect) -> Floating {
        let top = self.top().unwrap_or(area.top());
        let bottom = self.bottom().unwrap_or(area.bottom());
        let edges = [area.with_max_y(top), area.with_min_y(bottom)];
        Floating {
            above: top - area.top(),
            below: area.bottom() - bottom,
            rects: edges.into_iter().filter(Rect::is_positive).chain(self.bar_over_picture()).collect(),
        }
    }
}

/// Draws a veil in the stage's colour from an edge of the picture to the end of a part over it, so that the part's text
/// can be read over points and lines.
fn veil(ui: &Ui, from: Rect, is_at_top: bool) {
    /// The opacity of the veil.
    const HIDES: f32 = 0.94;
    /// The length over which the veil fades, in points.
    const RUNS_OUT: f32 = 28.0;
    let ground = Palette::on(ui).stage;
    let [full, none] = [ground.gamma_multiply(HIDES), ground.gamma_multiply(0.0)];
    let edge = if is_at_top {
        [from.top(), from.bottom(), from.bottom() + RUNS_OUT]
    } else {
        [from.bottom(), from.top(), from.top() - RUNS_OUT]
    };
    let mut mesh = Mesh::default();
    for (y, color) in edge.into_iter().zip([full, full, none]) {
        mesh.colored_vertex(Pos2::new(from.left(), y), color);
        mesh.colored_vertex(Pos2::new(from.right(), y), color);
    }
    for row in [0, 2] {
        mesh.add_triangle(row, row + 1, row + 2);
        mesh.add_triangle(row + 1, row + 2, row + 3);
    }
    ui.painter().add(mesh);
}

/// The least height of a stage with room for its result.
const RESULT_FROM: f32 = 240.0;
/// The line height of the result, relative to the font size.
const RESULT_LEADING: f32 = 1.5;

/// Returns the font size of a result. It grows with the stage, because the result is read from the same distance as the
/// picture.
fn result_size(stage_height: f32) -> f32 {
    const SHARE: f32 = 0.034;
    (stage_height * SHARE).clamp(size::READING, size::TITLE)
}

fn result_height(stage_height: f32) -> f32 {
    RESULT_LEADING * result_size(stage_height)
}

/// Shows the result in one line. A long one gets a smaller font, and is cut off if it still does not fit.
fn result_ui(ui: &mut Ui, result: &str) {
    let inner = ui.max_rect().shrink2(egui::vec2(size::GAP_WIDE - size::GAP_TIGHT, 0.0));
    let full = inner.height() / RESULT_LEADING;
    let fits = full * inner.width() / width_of(ui, result, theme::plain(full));
    let font = theme::plain(fits.clamp(size::LABEL, full));
    let label = Label::new(RichText::new(result).font(font).color(Palette::on(ui).ink)).truncate();
    ui.scope_builder(UiBuilder::new().max_rect(inner), |ui| ui.horizontal_centered(|ui| ui.add(label)));
}

/// Shows the picture and the parts over it.
fn stage_ui(ui: &mut Ui, side: &mut StageSide, view: &mut PanelView) {
    let area = ui.available_rect_before_wrap();
    if view.walk.is_playing() && ui.rect_contains_pointer(area) && ui.input(|input| input.pointer.any_pressed()) {
        view.walk.stop();
    }
    let over = Over::of(ui, side, area, view);
    bar::leave(ui.ctx(), over.bar.map_or(area, |bar| area.union(bar.rect)));
    // The window is cleared in the stage's colour, and a second layer would take a renderer without a card a few
    // milliseconds.
    let is_on_window = side.parts == StageParts::All && ui.layer_id() == LayerId::background();
    if side.parts != StageParts::Picture && !is_on_window {
        ui.painter().rect_filled(area, 0.0, Palette::on(ui).stage);
    }
    let [top, bottom] = [over.top(), over.bottom()];
    if let Some(top) = top {
        keep_in_sight(ui.ctx(), area.with_max_y(top));
    }
    let shown = scene_ref(side.scene, view.walk);
    let (texture, floating) = (side.tab.texture, over.floating(area));
    ui.scope_builder(UiBuilder::new().max_rect(area), |ui| {
        picture_ui(ui, shown, &mut side.tab.controls, view, texture, floating);
    });
    if let Some(top) = top {
        veil(ui, area.with_max_y(top), true);
    }
    if let Some(bottom) = bottom {
        veil(ui, area.with_min_y(bottom), false);
    }
    over.ui(ui, side, view);
    side.tab.pixels_per_point = ui.pixels_per_point();
    side.tab.dark = ui.visuals().dark_mode;
}

/// Returns the scene of the picture, with the walk if it leads through the points that are shown.
fn scene_ref<'a>(scene: &'a StageState, at: &Walk) -> Option<projection::SceneRef<'a>> {
    let model = scene.points.as_ref()?;
    let walk = scene.walked(at).map(|walked| walked.walk);
    let walk = walk.filter(|walk| walk.fits(model.tokens.iter().map(TokenPoint::label)));
    let walk = walk.map(|walk| (walk, at.step()));
    let patches = scene.sentence.as_deref().and_then(|sentence| sentence.patches.as_ref());
    let patches = patches.map(|places| (places, scene.picture.as_deref()));
    Some(projection::SceneRef { model, emphasis: &scene.emphasis, path: scene.path.as_deref(), walk, patches })
}
