//! The stage's tab: the picture, what the pointer does to it, and what is written over it.

use std::sync::Arc;

use attune_engine::quantity::{Quantity, StagePoint};
use attune_view::explain::path::{PathArrow, PathModel};
use attune_view::explain::walk::Step;
use attune_view::view_model::compare::SECOND;
pub use attune_view::view_model::search::Hit;
use attune_view::view_model::sentence_arcs::WordAt;
use attune_view::view_model::stage::{StageModel, TokenPoint};
use bevy::math::Vec2;
use egui::{
    CursorIcon, EventFilter, Id, PointerButton, Pos2, Rect, Response, Sense, Stroke, StrokeKind, TextureId, Ui,
    WidgetInfo,
};

use super::camera::CameraRig;
use super::names::{Shown, Writing, paint_names};
use super::point_index::PointIndex;
use super::projected::{ProjectedScene, SceneRef};
use super::second;
use super::source;
use super::writing::{Canvas, caption_about, paint_caption};
use crate::app::theme::{self, Palette, size};
use crate::app::view::{PanelView, Walk};
use crate::app::widgets::card::card_beside;

/// The camera, the point under the pointer in the last frame, and the points prepared for picking.
#[derive(Clone, Debug, Default)]
pub struct StageControls {
    pub rig: CameraRig,
    /// The point under the pointer.
    pub hovered: Option<Hit>,
    /// In points.
    pub size: Vec2,
    point_index: Option<Arc<PointIndex>>,
    /// The names and labels over the picture in the last frame.
    pub writing: Writing,
}

impl StageControls {
    /// Prepared points of a scene, made anew when the scene is another.
    fn point_index_of(&mut self, scene: &SceneRef) -> Arc<PointIndex> {
        let SceneRef { model, emphasis, .. } = scene;
        let kept = self.point_index.take().filter(|point_index| point_index.is_of(model, emphasis));
        self.point_index.insert(kept.unwrap_or_else(|| Arc::new(PointIndex::of(model, emphasis)))).clone()
    }
}

/// Id of the stage for the keyboard's focus.
pub fn stage_id() -> Id {
    Id::new("stage picture")
}

/// The picture with its labels. Returns its rectangle, in points.
pub fn picture_ui(
    ui: &mut Ui,
    scene: Option<SceneRef>,
    controls: &mut StageControls,
    view: &mut PanelView,
    texture: Option<TextureId>,
) -> Rect {
    let palette = Palette::of(ui.visuals().dark_mode);
    let (_, rect) = ui.allocate_space(ui.available_size().max(egui::Vec2::ZERO));
    let response = ui.interact(rect, stage_id(), Sense::click_and_drag());
    response.widget_info(|| WidgetInfo::labeled(egui::WidgetType::Image, true, "Stage: the words in space"));
    let painter = ui.painter_at(rect);
    controls.size = to_glam(rect.size());
    let (Some(scene), Some(texture)) = (scene, texture) else {
        painter.rect_filled(rect, 0.0, palette.stage);
        controls.hovered = None;
        return rect;
    };
    let response = steer(ui, response, rect, &mut controls.rig);
    keep_keys(&response);
    let whole = Rect::from_min_max(Pos2::ZERO, Pos2::new(1.0, 1.0));
    painter.image(texture, rect, whole, theme::UNTINTED);
    let projection = controls.rig.view(controls.size);
    let point_index = controls.point_index_of(&scene);
    let projected =
        ProjectedScene { scene, point_index: &point_index, projection, rect, time: view.walk.layer_time(), palette };
    let hovered = response.hover_pos().filter(|_| !response.dragged()).and_then(|pointer| projected.pick(pointer));
    controls.hovered = hovered;
    let pointer = response.hover_pos().filter(|_| hovered.is_none() && !response.dragged());
    let beside = pointer.and_then(|pointer| second::pick(&projected, pointer));
    let arrow = pointer.filter(|_| beside.is_none()).and_then(|pointer| {
        let path = scene.path.filter(|_| view.walk.step() >= Step::Output)?;
        arrow_at(path, pointer, |at| projected.at(at))
    });
    if let Some(position) = beside.filter(|_| response.clicked_by(PointerButton::Primary)) {
        second::choose(scene.model, position, view);
    } else {
        act(&response, hovered, arrow, &projected, &mut controls.rig, view);
    }
    if hovered.is_some() || beside.is_some() || arrow.is_some() {
        ui.ctx().set_cursor_icon(CursorIcon::PointingHand);
    }
    if let Some(hit) = hovered {
        view.hover.point_at(projected.word(hit));
        if let Hit::Token(position) = hit {
            view.hover.point_at_token(WordAt::in_sentence(position));
        }
    }
    // Lit by a panel: the token, or else the word itself, not the tokens of it.
    let pointed = view.hover.token().and_then(|token| scene.model.point_of(token)).map(Hit::Token);
    let lit = hovered.or(pointed).or_else(|| {
        let pointed = view.hover.word()?;
        let mut words = scene.model.words.find(pointed).iter().copied();
        words.find(|word| !scene.model.is_in_sentence(*word)).map(Hit::Word)
    });
    let canvas = Canvas { painter: &painter, projected };
    let written = paint_caption(&canvas, view.highlight.old_ghosts);
    let caption = written.first().copied();
    let mut others = second::paint(&canvas, view);
    others.extend(source::paint(&canvas, view.walk.at()));
    let shown = Shown { hovered: lit, query: view.selection.query, walked: view.walk.at() };
    paint_names(&canvas, shown, others, written, &mut controls.writing);
    focus_ring(&painter, rect, &response, palette);
    if let Some(caption) = caption {
        let about = ui.interact(caption, ui.id().with("caption"), Sense::hover());
        about.on_hover_text(caption_about(scene.model));
    }
    let model = scene.model;
    // The cards keep off what they are about, and off the sentence over the picture.
    let over = Rect::everything_above(rect.top());
    let at_pointer = || Rect::from_center_size(pointer.unwrap_or(rect.center()), egui::Vec2::splat(size::GAP_WIDE));
    if let Some(hit) = hovered {
        let seen = canvas.projected.see(hit).map_or_else(at_pointer, |point| point.disc());
        let about = seen.union(controls.writing.name(hit).unwrap_or(seen));
        card_beside(&response, about, over, |ui| tooltip_ui(ui, model, hit, view.walk));
    } else if let Some(token) = beside.and_then(|position| model.second.get(position)) {
        card_beside(&response, at_pointer(), over, |ui| second_ui(ui, model, token, view.walk));
    } else if let Some(arrow) = arrow {
        card_beside(&response, at_pointer(), over, |ui| arrow_ui(ui, arrow));
    }
    rect
}

/// A click gives the stage the keyboard. Its arrows then turn the camera, and do not lead to another control.
fn keep_keys(response: &Response) {
    if response.clicked_by(PointerButton::Primary) {
        response.request_focus();
    }
    if response.has_focus() {
        let kept =
            EventFilter { horizontal_arrows: true, vertical_arrows: true, escape: true, ..EventFilter::default() };
        response.ctx.memory_mut(|memory| memory.set_focus_lock_filter(response.id, kept));
    }
}

/// Frame that shows that the stage has the keyboard.
fn focus_ring(painter: &egui::Painter, rect: Rect, response: &Response, palette: &Palette) {
    if response.has_focus() {
        painter.rect_stroke(rect, 0.0, Stroke::new(size::HAIRLINE, palette.accent), StrokeKind::Inside);
    }
}

/// The arrow within reach of the pointer, the nearest.
fn arrow_at(path: &PathModel, pointer: Pos2, seen: impl Fn([f32; 3]) -> Option<Pos2>) -> Option<&PathArrow> {
    const REACH: f32 = 6.0;
    let distance = |arrow: &PathArrow| {
        let (from, to) = (seen(arrow.from)?, seen(arrow.to)?);
        let along = to - from;
        let share = ((pointer - from).dot(along) / along.length_sq().max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
        Some((from + along * share).distance(pointer))
    };
    let near = path.arrows.iter().filter_map(|arrow| Some((arrow, distance(arrow)?)));
    near.filter(|(_, distance)| *distance <= REACH).min_by(|a, b| a.1.total_cmp(&b.1)).map(|(arrow, _)| arrow)
}

fn arrow_ui(ui: &mut Ui, arrow: &PathArrow) {
    ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
    ui.strong(&arrow.label);
    if let Some(weight) = arrow.weight {
        ui.monospace(format!("weight α  {weight:.4}"));
    }
    ui.monospace(format!("length    {:.4}", arrow.length));
    match arrow.entry {
        Some(_) => ui.weak("Its contribution to the word, in the true space. Click: where it comes from."),
        None => ui.weak("How much the norm that the picture is drawn through shrinks the word's earlier vector."),
    };
}

fn to_glam(size: egui::Vec2) -> Vec2 {
    Vec2::new(size.x, size.y)
}

/// Orbit, pan and zoom, from the picture's own response: the wheel over another panel is not for the stage. The cursor
/// shows what a drag does.
fn steer(ui: &Ui, response: Response, rect: Rect, rig: &mut CameraRig) -> Response {
    let drag = to_glam(response.drag_delta());
    let is_turned = response.dragged_by(PointerButton::Primary);
    if drag != Vec2::ZERO {
        if is_turned {
            rig.orbit(drag);
        } else {
            rig.pan(drag, to_glam(rect.size()));
        }
    }
    let cursor = match response.dragged() {
        true if is_turned => CursorIcon::Grabbing,
        true => CursorIcon::AllScroll,
        false => CursorIcon::Grab,
    };
    let response = response.on_hover_and_drag_cursor(cursor);
    let Some(pointer) = response.hover_pos() else { return response };
    let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
    // A pinch by a factor is a scroll by its logarithm.
    const PINCH: f32 = 300.0;
    let amount = if pinch == 1.0 { scroll } else { pinch.ln() * PINCH };
    if amount != 0.0 {
        let offset = (pointer - rect.center()) / (rect.size().max(egui::Vec2::splat(1.0)) / 2.0);
        rig.zoom(amount, Vec2::new(offset.x, -offset.y), rect.aspect_ratio());
    }
    response
}

/// A click selects a token, a click beside every point clears; a double click focuses a point or goes home.
fn act(
    response: &Response,
    hovered: Option<Hit>,
    arrow: Option<&PathArrow>,
    projected: &ProjectedScene,
    rig: &mut CameraRig,
    view: &mut PanelView,
) {
    // A right-drag pans; a right-click asks where something comes from.
    if response.secondary_clicked() {
        // The middle of several pieces is no one point of the model.
        let is_one = |token: usize| projected.scene.model.tokens.get(token).is_some_and(|token| token.pieces == 1);
        let place = hovered.and_then(|hit| match hit {
            Hit::Word(word) => Some(StagePoint::Word(word)),
            Hit::Token(token) => is_one(token).then(|| point_of(token, view.walk)),
        });
        let entry = place.map(|of| Quantity::Coordinate.of_point(of, 0)).or(arrow.and_then(|arrow| arrow.entry));
        if let Some(entry) = entry {
            view.trail.open(entry);
        }
    } else if response.double_clicked() {
        match hovered.and_then(|hit| projected.place(hit)) {
            Some(place) => rig.focus(place),
            None => rig.home(),
        }
    } else if response.clicked_by(PointerButton::Primary) {
        match (hovered, arrow) {
            (Some(Hit::Token(position)), _) => view.selection.choose_query(Some(position)),
            (Some(Hit::Word(_)), _) => {}
            (None, Some(arrow)) => arrow.entry.into_iter().for_each(|entry| view.trail.open(entry)),
            (None, None) => view.selection.choose_query(None),
        }
    }
}

/// The point that a token is at, or on its way to.
fn point_of(token: usize, walk: &Walk) -> StagePoint {
    let is_on_its_way = walk.layer_time() > 0.0;
    let stop = walk.shown_layer().map_or(0, |layer| layer + usize::from(is_on_its_way));
    match (walk.shown_layer().is_some(), is_on_its_way) {
        (false, true) => StagePoint::Contextual(token),
        (false, false) => StagePoint::Static(token),
        (true, _) if stop == 0 => StagePoint::Static(token),
        (true, _) if stop == walk.layers() => StagePoint::Contextual(token),
        (true, _) => StagePoint::After(token, stop - 1),
    }
}

fn tooltip_ui(ui: &mut Ui, model: &StageModel, hit: Hit, walk: &Walk) {
    // Beside an edge of the window the text would break after every word.
    ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
    let group = |group: Option<usize>| group.and_then(|group| model.groups.get(group));
    match hit {
        Hit::Word(index) => {
            let Some(word) = model.words.get(index) else { return };
            ui.strong(&word.text);
            if let Some(group) = group(word.group) {
                ui.weak(format!("group {group}"));
            }
            ui.monospace(place(model, word.at));
        }
        Hit::Token(position) => {
            let Some(token) = model.tokens.get(position) else { return };
            ui.strong(format!("{}, token {}", token.label(), position + 1));
            if let Some(group) = group(token.group) {
                ui.weak(format!("group {group}"));
            }
            places_ui(ui, model, token, walk);
            ui.weak("Click: highlight its row of attention. Double-click: focus the camera on it.");
            if token.pieces == 1 {
                ui.weak("Right-click: where its place comes from.");
            }
        }
    }
}

/// A token of the second sentence.
fn second_ui(ui: &mut Ui, model: &StageModel, token: &TokenPoint, walk: &Walk) {
    ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
    if model.sense_word.is_some() {
        ui.strong(&token.text);
        if let Some(sense) = token.group.and_then(|group| model.groups.get(group)) {
            ui.weak(sense);
        }
        places_ui(ui, model, token, walk);
        ui.weak("Click: mark its sentence in Meaning.");
        return;
    }
    ui.strong(format!("{}{SECOND}, token {} of the second sentence", token.label(), token.position + 1));
    places_ui(ui, model, token, walk);
    ui.weak("Click: compare its path with that of the first sentence.");
}

/// Along each axis.
fn place(model: &StageModel, at: [f32; 3]) -> String {
    let along: Vec<String> = at.iter().take(model.axes.len()).map(|x| format!("{x:.3}")).collect();
    format!("({})", along.join(", "))
}

/// The token's place before and after, and its nearest words there.
fn places_ui(ui: &mut Ui, model: &StageModel, token: &TokenPoint, walk: &Walk) {
    let is_layer = walk.shown_layer().is_some();
    let [from, to] = if is_layer { ["before layer", "after layer"] } else { ["static", "contextual"] };
    for (name, at) in [("now", token.at(walk.layer_time())), (from, token.start), (to, token.end)] {
        ui.monospace(format!("{name:12} {}", place(model, at)));
    }
    if token.is_added {
        ui.label("special token, added by the tokenizer");
    }
    let pieces = model.tokens.get(token.position..token.position + token.pieces).unwrap_or_default();
    if let [first, others @ ..] = pieces
        && !others.is_empty()
    {
        let others = others.iter().map(|piece| piece.text.as_str());
        let all: Vec<&str> = std::iter::once(first.piece_text()).chain(others).collect();
        ui.label(format!("in {} pieces, here in their middle: {}", all.len(), all.join(" · ")));
    }
    for (space, nearest) in [("static", &token.static_nearest), ("contextual", &token.contextual_nearest)] {
        if let Some((word, cosine)) = nearest {
            ui.label(format!("nearest, {space}: {word} (cosine {cosine:.3})"));
        }
    }
}
