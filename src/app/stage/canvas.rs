//! The stage's tab: the picture, how it answers the pointer, and the text over it.

use std::sync::Arc;

use attune_engine::quantity::{Quantity, StagePoint};
pub use attune_ui::actions::focus::stage_id;
use attune_ui::theme::{self, Palette, QUIET, size};
pub use attune_ui::ui_state::search::Hit;
use attune_ui::ui_state::{Highlight, PanelView, Walk};
use attune_ui::widgets::glow::Glow;
use attune_ui::widgets::popup::card_beside;
use attune_view::explain::path::{PathArrow, PathModel};
use attune_view::explain::walk::Step;
use attune_view::view_model::axes::ends;
use attune_view::view_model::compare::SECOND;
use attune_view::view_model::sentence_arcs::WordAt;
use attune_view::view_model::stage::{SecondKind, StageModel, TokenPoint};
use bevy::math::Vec2;
use egui::{
    CursorIcon, EventFilter, Key, PointerButton, Pos2, Rect, Response, Sense, Shape, Stroke, StrokeKind, TextureId, Ui,
    WidgetInfo,
};

use super::camera::CameraRig;
use super::names::{Canvas, Shown, Writing, caption_about, paint_caption, paint_names, paint_patches};
use super::pick::PointIndex;
use super::projection::{ProjectedScene, SceneRef};
use super::second;
use super::view::View;

/// The state of the picture between frames: the camera, the point under the pointer, the lasso, the names over the
/// picture, and the points prepared for picking.
#[derive(Clone, Debug, Default)]
pub struct StageControls {
    pub rig: CameraRig,
    /// The point under the pointer, if there is one.
    pub hovered: Option<Hit>,
    /// Size of the picture, in points.
    pub size: Vec2,
    /// Heights of the bars over the picture's upper and lower edges; the camera frames the scene between them.
    pub floating: (f32, f32),
    point_index: Option<Arc<PointIndex>>,
    /// Points of the lasso that is being drawn.
    lasso: Vec<Pos2>,
    /// Names and labels over the picture in the last frame.
    pub writing: Writing,
}

/// Heights of the bars over the picture's upper and lower edges, and the rectangles that names must avoid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Floating {
    pub above: f32,
    pub below: f32,
    pub rects: Vec<Rect>,
}

impl StageControls {
    /// Returns the size of the part of the picture between the bars, in points.
    pub fn free(&self) -> Vec2 {
        let (above, below) = self.floating;
        Vec2::new(self.size.x, (self.size.y - above - below).max(1.0))
    }

    /// Returns fresh controls for another scene in the same tab, which keep only the size of the picture and the
    /// heights of its bars.
    pub fn begun_anew(&self) -> Self {
        Self { size: self.size, floating: self.floating, ..Self::default() }
    }

    /// Returns the projection of the scene onto the whole picture.
    pub fn view(&self) -> View {
        self.rig.view(self.free()).within(self.size, Vec2::new(0.0, self.floating.0))
    }

    /// Returns the prepared points of a scene; they are prepared again only if the scene has changed.
    fn point_index_of(&mut self, scene: &SceneRef) -> Arc<PointIndex> {
        let SceneRef { model, emphasis, .. } = scene;
        let kept = self.point_index.take().filter(|point_index| point_index.is_of(model, emphasis));
        self.point_index.insert(kept.unwrap_or_else(|| Arc::new(PointIndex::of(model, emphasis)))).clone()
    }
}

/// Draws the picture with its labels, under the bars that float over it.
pub fn picture_ui(
    ui: &mut Ui,
    scene: Option<SceneRef>,
    controls: &mut StageControls,
    view: &mut PanelView,
    texture: Option<TextureId>,
    floating: Floating,
) {
    let response = place_ui(ui);
    let rect = response.rect;
    controls.size = to_glam(rect.size());
    controls.floating = (floating.above, floating.below);
    let (Some(scene), Some(texture)) = (scene, texture) else {
        controls.hovered = None;
        return;
    };
    let free = Rect::from_min_size(rect.min + egui::vec2(0.0, floating.above), to_egui(controls.free()));
    let (response, enclosed) = drag(ui, response, free, controls, view.highlight);
    let point_index = controls.point_index_of(&scene);
    let (projection, time) = (controls.view(), view.walk.layer_time());
    let palette = Palette::on(ui);
    let projected = ProjectedScene { scene, point_index: &point_index, projection, rect, free, time, palette };
    if let Some(line) = enclosed {
        view.highlight.enclose(projected.within(&line));
    }
    let (painter, crowds) = (ui.painter_at(rect), projected.crowds());
    paint_picture(&painter, &projected, &crowds, texture, &controls.lasso);
    let target = Target::under(&response, &projected, view.walk);
    controls.hovered = target.and_then(Target::hit);
    act(&response, target, &projected, &mut controls.rig, view);
    let canvas = Canvas { painter: &painter, projected, crowds: &crowds };
    let caption = write(&canvas, response.hover_pos(), floating.rects, controls, view);
    focus_ring(&painter, rect, &response, palette);
    if let Some(caption) = caption {
        let about = ui.interact(caption, ui.id().with("caption"), Sense::hover());
        about.on_hover_text(caption_about(scene.model));
    }
    card_ui(&response, target, &projected, &controls.writing);
}

/// Allocates the rest of the tab for the picture.
fn place_ui(ui: &mut Ui) -> Response {
    let (_, rect) = ui.allocate_space(ui.available_size().max(egui::Vec2::ZERO));
    let response = ui.interact(rect, stage_id(), Sense::click_and_drag());
    response.widget_info(|| WidgetInfo::labeled(egui::WidgetType::Image, true, "Stage: the words in space"));
    response
}

/// Draws a lasso or moves the camera, whichever the drag is for. Returns the response and, once it is closed, the line
/// of the lasso.
fn drag(
    ui: &Ui,
    response: Response,
    free: Rect,
    controls: &mut StageControls,
    highlight: &mut Highlight,
) -> (Response, Option<Vec<Pos2>>) {
    let enclosed = follow_lasso(ui, &response, &mut controls.lasso, highlight);
    let is_lasso = highlight.draws_lasso || !controls.lasso.is_empty() || enclosed.is_some();
    let response = if is_lasso {
        response.on_hover_and_drag_cursor(CursorIcon::Crosshair)
    } else {
        steer(ui, response, free, &mut controls.rig)
    };
    keep_keys(&response);
    (response, enclosed)
}

/// Paints the rendered picture over the glows of crowds and under the line of the lasso.
fn paint_picture(
    painter: &egui::Painter,
    projected: &ProjectedScene,
    crowds: &[(usize, Glow)],
    texture: TextureId,
    lasso: &[Pos2],
) {
    let palette = projected.palette;
    let strength = if projected.scene.emphasis.is_of_step() { QUIET } else { 1.0 };
    for (group, glow) in crowds {
        glow.paint(painter, palette.group(*group).gamma_multiply(strength));
    }
    let whole = Rect::from_min_max(Pos2::ZERO, Pos2::new(1.0, 1.0));
    painter.image(texture, projected.rect, whole, theme::UNTINTED);
    painter.add(Shape::dashed_line(lasso, Stroke::new(size::RING, palette.accent), size::GAP, size::GAP));
}

/// The thing under the pointer.
#[derive(Clone, Copy)]
enum Target<'a> {
    Point(Hit),
    /// A point of the second sentence, by its position.
    Second(usize),
    Arrow(&'a PathArrow),
}

impl<'a> Target<'a> {
    /// Returns the target under the pointer, or `None` during a drag.
    fn under(response: &Response, projected: &ProjectedScene<'a>, walk: &Walk) -> Option<Self> {
        let pointer = response.hover_pos().filter(|_| !response.dragged())?;
        if let Some(hit) = projected.pick(pointer) {
            return Some(Target::Point(hit));
        }
        if let Some(position) = second::pick(projected, pointer) {
            return Some(Target::Second(position));
        }
        let path = projected.scene.path.filter(|_| walk.step() >= Step::Output)?;
        arrow_at(path, pointer, |at| projected.at(at)).map(Target::Arrow)
    }

    fn hit(self) -> Option<Hit> {
        if let Target::Point(hit) = self { Some(hit) } else { None }
    }
}

/// Writes the names over the picture; the name of the point under the pointer, here or in a panel, has priority.
/// Returns the rectangle of the caption, if there is room for one.
fn write(
    canvas: &Canvas,
    pointer: Option<Pos2>,
    floating: Vec<Rect>,
    controls: &mut StageControls,
    view: &mut PanelView,
) -> Option<Rect> {
    let model = canvas.projected.scene.model;
    if let Some(hit) = controls.hovered {
        view.hover.point_at(canvas.projected.word(hit));
        if let Hit::Token(position) = hit {
            view.hover.point_at_token(WordAt::in_sentence(position));
        }
    }
    // A panel may highlight a token of the sentence, or a word of the table that is not in the sentence.
    let pointed = view.hover.token().and_then(|token| model.point_of(token)).map(Hit::Token);
    let lit = controls.hovered.or(pointed).or_else(|| {
        let mut words = model.words.find(view.hover.word()?).iter().copied();
        words.find(|word| !model.is_in_sentence(*word)).map(Hit::Word)
    });
    let named: Vec<usize> = controls.writing.crowds().iter().map(|(group, _)| *group).collect();
    paint_patches(canvas);
    let mut written = paint_caption(canvas, view.highlight.old_ghosts, &floating, &named);
    let caption = written.first().copied();
    written.extend(floating);
    let mut others = second::paint(canvas, view);
    others.extend(second::paint_source(canvas));
    let shown = Shown { hovered: lit, query: view.selection.query, walked: view.walk.at(), pointer };
    paint_names(canvas, shown, others, written, &mut controls.writing);
    caption
}

/// Shows the card of the target. The card covers neither the target nor the sentence over the picture.
fn card_ui(response: &Response, target: Option<Target>, projected: &ProjectedScene, writing: &Writing) -> Option<()> {
    let (target, model) = (target?, &**projected.scene.model);
    let over = Rect::everything_above(projected.free.top());
    let at_pointer = Rect::from_center_size(response.hover_pos()?, egui::Vec2::splat(size::GAP_WIDE));
    match target {
        Target::Point(hit) => {
            let seen = projected.see(hit).map_or(at_pointer, |point| point.disc());
            let about = seen.union(writing.name(hit).unwrap_or(seen));
            card_beside(response, about, over, |ui| tooltip_ui(ui, projected.scene, hit));
        }
        Target::Second(position) => {
            let token = model.second.get(position)?;
            card_beside(response, at_pointer, over, |ui| second_ui(ui, model, token));
        }
        Target::Arrow(arrow) => card_beside(response, at_pointer, over, |ui| arrow_ui(ui, arrow)),
    }
    Some(())
}

/// Gives the stage the keyboard on a click. The arrow keys then turn the camera instead of moving the focus to another
/// control.
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

/// Draws a frame around the stage while it has the keyboard.
fn focus_ring(painter: &egui::Painter, rect: Rect, response: &Response, palette: &Palette) {
    if response.has_focus() {
        painter.rect_stroke(rect, 0.0, Stroke::new(size::HAIRLINE, palette.accent), StrokeKind::Inside);
    }
}

/// Returns the nearest arrow within reach of the pointer; `None` if there is none.
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
    let length = format!("length {:.4} in the true space", arrow.length);
    let below = match arrow.weight {
        Some(weight) => format!("weight {weight:.4}, {length}"),
        None => length,
    };
    let beside = if arrow.entry.is_some() { "adds to the word" } else { "the norm shrinks the earlier vector" };
    brief_ui(ui, &arrow.label, &[beside.to_owned()], Some(below));
}

fn to_glam(size: egui::Vec2) -> Vec2 {
    Vec2::new(size.x, size.y)
}

fn to_egui(size: Vec2) -> egui::Vec2 {
    egui::vec2(size.x, size.y)
}

/// Orbits, pans and zooms by what the pointer does over the picture only, because the wheel over another panel must not
/// move the camera. The cursor shows what a drag does.
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
    // A pinch multiplies and a scroll adds, so the factor's logarithm is the scroll distance.
    const PINCH: f32 = 300.0;
    let amount = if pinch == 1.0 { scroll } else { pinch.ln() * PINCH };
    if amount != 0.0 {
        let offset = (pointer - rect.center()) / (rect.size().max(egui::Vec2::splat(1.0)) / 2.0);
        rig.zoom(amount, Vec2::new(offset.x, -offset.y), rect.aspect_ratio());
    }
    response
}

/// Adds to the line of a lasso, which is drawn with Shift or after its button is pressed. Returns the line once it is
/// closed.
fn follow_lasso(ui: &Ui, response: &Response, line: &mut Vec<Pos2>, highlight: &mut Highlight) -> Option<Vec<Pos2>> {
    let (is_shift, is_escape, origin) =
        ui.input(|input| (input.modifiers.shift, input.key_pressed(Key::Escape), input.pointer.press_origin()));
    if response.drag_started_by(PointerButton::Primary) && (is_shift || highlight.draws_lasso) {
        *line = origin.into_iter().collect();
    }
    if is_escape {
        line.clear();
    }
    let last = *line.last()?;
    line.extend(response.interact_pointer_pos().filter(|at| *at != last));
    response.drag_stopped().then(|| std::mem::take(line))
}

/// Handles clicks. A click chooses a token, compares one of the second sentence, opens the provenance of an arrow, or
/// clears the choice where there is none of these. A double click focuses a point or goes home; a right click opens the
/// provenance of a number.
fn act(
    response: &Response,
    target: Option<Target>,
    projected: &ProjectedScene,
    rig: &mut CameraRig,
    view: &mut PanelView,
) {
    let model = projected.scene.model;
    if response.secondary_clicked() {
        // The mean of several pieces exists only in the drawing and is not a point of the model, so it has no
        // provenance.
        let is_one = |token: usize| model.tokens.get(token).is_some_and(|token| token.pieces == 1);
        let entry = match target {
            Some(Target::Point(Hit::Word(word))) => Some(Quantity::Coordinate.of_point(StagePoint::Word(word), 0)),
            Some(Target::Point(Hit::Token(token))) if is_one(token) => {
                Some(Quantity::Coordinate.of_point(point_of(token, view.walk), 0))
            }
            Some(Target::Arrow(arrow)) => arrow.entry,
            _ => None,
        };
        entry.into_iter().for_each(|entry| view.trail.open(entry));
    } else if response.double_clicked() && !matches!(target, Some(Target::Second(_))) {
        match target.and_then(Target::hit).and_then(|hit| projected.place(hit)) {
            Some(place) => rig.focus(place),
            None => rig.home(),
        }
    } else if response.clicked_by(PointerButton::Primary) {
        match target {
            Some(Target::Point(Hit::Token(position))) => view.selection.choose_query(Some(position)),
            Some(Target::Point(Hit::Word(_))) => {}
            Some(Target::Second(position)) => second::choose(model, position, view.selection),
            Some(Target::Arrow(arrow)) => arrow.entry.into_iter().for_each(|entry| view.trail.open(entry)),
            None => view.selection.choose_query(None),
        }
    }
}

/// Returns the point of the model at which a token is, or to which it is moving.
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

/// Shows a name with a few words beside it and one line below. The card stays small because it covers part of the
/// picture; a right click shows the coordinates.
fn brief_ui(ui: &mut Ui, name: &str, beside: &[String], below: Option<String>) {
    // Near an edge of the window, the text would otherwise break after every word.
    ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
    ui.horizontal(|ui| {
        ui.strong(name);
        if !beside.is_empty() {
            ui.weak(beside.join(" · "));
        }
    });
    below.into_iter().for_each(|below| _ = ui.label(below));
}

fn tooltip_ui(ui: &mut Ui, SceneRef { model, emphasis, .. }: SceneRef, hit: Hit) {
    match hit {
        Hit::Word(index) => {
            let Some(word) = model.words.get(index) else { return };
            let features = emphasis.by_feature.entries(index);
            let below = Some(features.join(" · ")).filter(|features| !features.is_empty());
            brief_ui(ui, &word.text, &group_of(model, word.group), below);
        }
        Hit::Token(position) => {
            let Some(token) = model.tokens.get(position) else { return };
            let mut beside = vec![format!("token {} of {}", position + 1, model.tokens.len())];
            beside.extend(group_of(model, token.group));
            if token.is_added {
                beside.push("special".to_owned());
            }
            beside.extend(pieces_of(model, token));
            brief_ui(ui, &token.label(), &beside, nearest_of(model, token));
        }
    }
}

/// Returns the name of a point's group, if it has one.
fn group_of(model: &StageModel, group: Option<usize>) -> Vec<String> {
    group.and_then(|group| model.groups.get(group)).cloned().into_iter().collect()
}

/// Shows the card of a token of the second sentence.
fn second_ui(ui: &mut Ui, model: &StageModel, token: &TokenPoint) {
    let (name, beside) = match model.second_kind {
        SecondKind::Spaces => (token.text.clone(), Vec::new()),
        SecondKind::Senses(_) => (token.text.clone(), group_of(model, token.group)),
        SecondKind::Sentence => {
            let place = format!("token {} of the second sentence", token.position + 1);
            (format!("{}{SECOND}", token.label()), vec![place])
        }
    };
    brief_ui(ui, &name, &beside, nearest_of(model, token));
}

/// Returns a text that lists the pieces of a word, which is drawn as one point at their mean; `None` if the word has
/// only one piece.
fn pieces_of(model: &StageModel, token: &TokenPoint) -> Option<String> {
    let pieces = model.tokens.get(token.position..token.position + token.pieces)?;
    let (first, others) = pieces.split_first().filter(|(_, others)| !others.is_empty())?;
    let texts = std::iter::once(first.piece_text()).chain(others.iter().map(|piece| piece.text.as_str()));
    Some(format!("mean of {}", texts.collect::<Vec<_>>().join(" + ")))
}

/// Returns a text about the nearest words in the true space, before and after attention; `None` if neither is known.
fn nearest_of(model: &StageModel, token: &TokenPoint) -> Option<String> {
    let near = |space: &str, nearest: &Option<(String, f32)>| {
        nearest.as_ref().map(|(word, cosine)| format!("{space} “{word}” ({cosine:.3})"))
    };
    let [first, last] = ends(model.is_recorded);
    let both = [near(first, &token.static_nearest), near(last, &token.contextual_nearest)];
    let both: Vec<String> = both.into_iter().flatten().collect();
    (!both.is_empty()).then(|| format!("nearest: {}", both.join(", ")))
}
