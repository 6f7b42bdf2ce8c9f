//! The stage's tab: the picture, what the pointer does to it, and what is written over it. The point under the pointer is the
//! nearest on the screen, found by its own number, without a ray.
//!
//! The points are prepared once as far as they stay the same while the camera moves ([`PointIndex`]), so that a frame of a
//! million points only projects each.

use std::sync::Arc;

use attune_engine::quantity::{Quantity, StagePoint};
pub use attune_ui::actions::keys::stage_id;
use attune_ui::theme::{self, Palette, size};
pub use attune_ui::ui_state::search::Hit;
use attune_ui::ui_state::search::{Emphasis, Visibility};
use attune_ui::ui_state::{Highlight, PanelView, Walk};
use attune_ui::widgets::popup::card_beside;
use attune_view::explain::path::{PathArrow, PathModel};
use attune_view::explain::walk::Step;
use attune_view::view_model::compare::SECOND;
use attune_view::view_model::sentence_arcs::WordAt;
use attune_view::view_model::stage::{SecondKind, StageModel, TokenPoint, crowd_of};
use bevy::math::{Vec2, Vec4};
use egui::{
    CursorIcon, EventFilter, Key, PointerButton, Pos2, Rect, Response, Sense, Shape, Stroke, StrokeKind, TextureId, Ui,
    WidgetInfo,
};

use super::camera::CameraRig;
use super::geometry::{has_place, is_cloud, is_small, scaled};
use super::names::{Canvas, Shown, Writing, caption_about, paint_caption, paint_names};
use super::projection::{ProjectedScene, SceneRef, View};
use super::second;

/// The camera, the point under the pointer in the last frame, and the points prepared for picking.
#[derive(Clone, Debug, Default)]
pub struct StageControls {
    pub rig: CameraRig,
    /// The point under the pointer.
    pub hovered: Option<Hit>,
    /// Size of the picture, in points.
    pub size: Vec2,
    /// Heights of what floats over its upper and its lower edge; the camera frames the scene between them.
    pub floating: (f32, f32),
    point_index: Option<Arc<PointIndex>>,
    /// The line of the lasso that is being drawn.
    lasso: Vec<Pos2>,
    /// The names and labels over the picture in the last frame.
    pub writing: Writing,
}

/// Heights of what lies over the picture at its upper and its lower edge, and the places that names keep off.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Floating {
    pub above: f32,
    pub below: f32,
    pub rects: Vec<Rect>,
}

impl StageControls {
    /// Size of the part of the picture over which nothing floats.
    pub fn free(&self) -> Vec2 {
        let (above, below) = self.floating;
        Vec2::new(self.size.x, (self.size.y - above - below).max(1.0))
    }

    /// The scene as the whole picture shows it.
    pub fn view(&self) -> View {
        self.rig.view(self.free()).within(self.size, Vec2::new(0.0, self.floating.0))
    }

    /// Prepared points of a scene, made anew when the scene is another.
    fn point_index_of(&mut self, scene: &SceneRef) -> Arc<PointIndex> {
        let SceneRef { model, emphasis, .. } = scene;
        let kept = self.point_index.take().filter(|point_index| point_index.is_of(model, emphasis));
        self.point_index.insert(kept.unwrap_or_else(|| Arc::new(PointIndex::of(model, emphasis)))).clone()
    }
}

/// The picture with its labels, under what floats over it.
pub fn picture_ui(
    ui: &mut Ui,
    scene: Option<SceneRef>,
    controls: &mut StageControls,
    view: &mut PanelView,
    texture: Option<TextureId>,
    floating: Floating,
) {
    let palette = Palette::of(ui.visuals().dark_mode);
    let (_, rect) = ui.allocate_space(ui.available_size().max(egui::Vec2::ZERO));
    let response = ui.interact(rect, stage_id(), Sense::click_and_drag());
    response.widget_info(|| WidgetInfo::labeled(egui::WidgetType::Image, true, "Stage: the words in space"));
    let painter = ui.painter_at(rect);
    controls.size = to_glam(rect.size());
    controls.floating = (floating.above, floating.below);
    let (Some(scene), Some(texture)) = (scene, texture) else {
        controls.hovered = None;
        return;
    };
    let free =
        Rect::from_min_size(rect.min + egui::vec2(0.0, floating.above), egui::vec2(rect.width(), controls.free().y));
    let enclosed = follow_lasso(ui, &response, &mut controls.lasso, view.highlight);
    let is_lasso = view.highlight.draws_lasso || !controls.lasso.is_empty() || enclosed.is_some();
    let response = match is_lasso {
        true => response.on_hover_and_drag_cursor(CursorIcon::Crosshair),
        false => steer(ui, response, free, &mut controls.rig),
    };
    keep_keys(&response);
    let projection = controls.view();
    let point_index = controls.point_index_of(&scene);
    let projected = ProjectedScene {
        scene,
        point_index: &point_index,
        projection,
        rect,
        free,
        time: view.walk.layer_time(),
        palette,
    };
    if let Some(line) = enclosed {
        view.highlight.enclose(projected.within(&line));
    }
    let crowds = projected.crowds();
    crowds.iter().for_each(|(group, glow)| glow.paint(&painter, palette.group(*group)));
    let whole = Rect::from_min_max(Pos2::ZERO, Pos2::new(1.0, 1.0));
    painter.image(texture, rect, whole, theme::UNTINTED);
    painter.add(Shape::dashed_line(&controls.lasso, Stroke::new(size::RING, palette.accent), size::GAP, size::GAP));
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

/// The one thing that the pointer is on.
#[derive(Clone, Copy)]
enum Target<'a> {
    Point(Hit),
    /// A point of the second sentence, by its position.
    Second(usize),
    Arrow(&'a PathArrow),
}

impl<'a> Target<'a> {
    /// None while something is dragged.
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

/// Writes the names, with that of the point under the pointer, here or in a panel, before others. Returns the place of the
/// caption.
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
    // Lit by a panel: the token, or else the word itself, not the tokens of it.
    let pointed = view.hover.token().and_then(|token| model.point_of(token)).map(Hit::Token);
    let lit = controls.hovered.or(pointed).or_else(|| {
        let mut words = model.words.find(view.hover.word()?).iter().copied();
        words.find(|word| !model.is_in_sentence(*word)).map(Hit::Word)
    });
    let named: Vec<usize> = controls.writing.crowds().iter().map(|(group, _)| *group).collect();
    let mut written = paint_caption(canvas, view.highlight.old_ghosts, &floating, &named);
    let caption = written.first().copied();
    written.extend(floating);
    let mut others = second::paint(canvas, view);
    others.extend(second::paint_source(canvas));
    let shown = Shown { hovered: lit, query: view.selection.query, walked: view.walk.at(), pointer };
    paint_names(canvas, shown, others, written, &mut controls.writing);
    caption
}

/// The card of what the pointer is on. It keeps off that, and off the sentence over the picture.
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

/// Draws the line of a lasso: with Shift, or where the next drag is one. Returns the line once it is closed.
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

/// A click selects a token, a click beside every point clears; a double click focuses a point or goes home. A right-drag
/// pans; a right-click asks where something comes from.
fn act(
    response: &Response,
    target: Option<Target>,
    projected: &ProjectedScene,
    rig: &mut CameraRig,
    view: &mut PanelView,
) {
    let model = projected.scene.model;
    if response.secondary_clicked() {
        // The middle of several pieces is no one point of the model.
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

/// A name with a few words beside it, and one line below: a card covers what it is about. Coordinates are where one asks for
/// them, by a right click.
fn brief_ui(ui: &mut Ui, name: &str, beside: &[String], below: Option<String>) {
    // Beside an edge of the window the text would break after every word.
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
            let mut beside = vec![format!("token {}", position + 1)];
            beside.extend(group_of(model, token.group));
            if token.is_added {
                beside.push("special".to_owned());
            }
            beside.extend(pieces_of(model, token));
            brief_ui(ui, &token.label(), &beside, nearest_of(token));
        }
    }
}

/// The name of a group, where the point has one.
fn group_of(model: &StageModel, group: Option<usize>) -> Vec<String> {
    group.and_then(|group| model.groups.get(group)).cloned().into_iter().collect()
}

/// A token of the second sentence.
fn second_ui(ui: &mut Ui, model: &StageModel, token: &TokenPoint) {
    let (name, beside) = match model.second_kind {
        SecondKind::Spaces => (token.text.clone(), Vec::new()),
        SecondKind::Senses(_) => (token.text.clone(), group_of(model, token.group)),
        SecondKind::Sentence => {
            let place = format!("token {} of the second sentence", token.position + 1);
            (format!("{}{SECOND}", token.label()), vec![place])
        }
    };
    brief_ui(ui, &name, &beside, nearest_of(token));
}

/// The pieces of a word that is shown as one point.
fn pieces_of(model: &StageModel, token: &TokenPoint) -> Option<String> {
    let pieces = model.tokens.get(token.position..token.position + token.pieces)?;
    let (first, others) = pieces.split_first().filter(|(_, others)| !others.is_empty())?;
    let texts = std::iter::once(first.piece_text()).chain(others.iter().map(|piece| piece.text.as_str()));
    Some(format!("mean of {}", texts.collect::<Vec<_>>().join(" + ")))
}

/// The nearest words of the true space, before and after.
fn nearest_of(token: &TokenPoint) -> Option<String> {
    let near = |space: &str, nearest: &Option<(String, f32)>| {
        nearest.as_ref().map(|(word, cosine)| format!("{space} “{word}” ({cosine:.3})"))
    };
    let both = [near("static", &token.static_nearest), near("contextual", &token.contextual_nearest)];
    let both: Vec<String> = both.into_iter().flatten().collect();
    (!both.is_empty()).then(|| format!("nearest: {}", both.join(", ")))
}

/// Reach of the pointer, in points.
pub const REACH: f32 = 8.0;

/// A point that can be picked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate<T> {
    pub what: T,
    pub at: Vec2,
    /// Radius of its disc on the screen, in points.
    pub radius: f32,
    pub depth: f32,
}

/// The nearest candidate within reach; of two as near, the one in front.
pub fn nearest<T: Copy>(pointer: Vec2, candidates: impl IntoIterator<Item = Candidate<T>>) -> Option<T> {
    candidates
        .into_iter()
        .map(|candidate| (candidate.at.distance(pointer) - candidate.radius, candidate))
        // NaN is never picked.
        .filter(|(distance, _)| *distance <= REACH)
        .map(|(distance, candidate)| (distance.max(0.0), candidate))
        .min_by(|(a, near), (b, far)| a.total_cmp(b).then(near.depth.total_cmp(&far.depth)))
        .map(|(_, candidate)| candidate.what)
}

/// Names of words that are written at the same time, at most: more would cover the points.
const NAMED_MAX: usize = 160;
/// First words of a cloud that are named.
const NAMED_OF_CLOUD: usize = 60;
/// Labels keep off the discs of words as long as there are no more than this.
const APART_MAX: usize = 1500;
/// Points that are asked together whether one of them is near.
const TOGETHER: usize = 64;

/// The words of a model under one emphasis; tokens are few and move.
#[derive(Debug)]
pub struct PointIndex {
    model: Arc<StageModel>,
    emphasis: Arc<Emphasis>,
    /// Words that can be picked or enclosed, and their coordinates in the scene, along each axis.
    pub words: Vec<usize>,
    along: [Vec<f32>; 3],
    /// Words that have names.
    pub named: Vec<Hit>,
    /// Words that names keep off, where they are few.
    pub apart: Vec<Hit>,
    /// Words of each group that has a crowd of them, with its place among the groups.
    pub crowds: Vec<(usize, Vec<Hit>)>,
    /// Number of points without a place: their coordinates are not finite.
    pub lost: usize,
}

impl PointIndex {
    pub fn of(model: &Arc<StageModel>, emphasis: &Arc<Emphasis>) -> PointIndex {
        // A word of the sentence is where its token is.
        let is_resting = |index: &usize| !model.is_in_sentence(*index);
        let (mut words, mut along, mut named) = (Vec::new(), [const { Vec::new() }; 3], Vec::new());
        for (index, shown) in emphasis.shown_words(model).filter(|(index, _)| is_resting(index)) {
            let [x, y, z] = scaled(model, model.words[index].at);
            if has_place([x, y, z]) {
                words.push(index);
                along[0].push(x);
                along[1].push(y);
                along[2].push(z);
            }
            if has_name(model, emphasis, index, shown) {
                named.push(index);
            }
        }
        let is_apart = |index: &usize| is_resting(index) && !has_name(model, emphasis, *index, emphasis.word(*index));
        let all = if model.words.len() > APART_MAX { 0 } else { model.words.len() };
        let apart: Vec<usize> = (0..all).filter(is_apart).collect();
        let hits = |indices: Vec<usize>, stride| indices.into_iter().step_by(stride).map(Hit::Word).collect();
        // Of too many, some of each part of the list.
        let stride = named.len().div_ceil(NAMED_MAX).max(1);
        let lost_words = model.words.lost().iter().filter(|index| is_resting(index)).count();
        let lost_tokens = model.tokens.iter().filter(|token| !has_place(token.start) || !has_place(token.end)).count();
        let crowd = |group: usize| {
            let is_member = |index: &usize| {
                let word = &model.words[*index];
                word.group == Some(group) && has_place(word.at) && emphasis.word(*index) != Visibility::Hidden
            };
            let words = model.words.grouped().iter().copied().filter(is_member);
            Some((group, crowd_of(words.map(Hit::Word))?))
        };
        let crowds = (0..model.groups.len()).filter_map(crowd).collect();
        PointIndex {
            crowds,
            model: model.clone(),
            emphasis: emphasis.clone(),
            words,
            along,
            named: hits(named, stride),
            apart: hits(apart, 1),
            lost: lost_words + lost_tokens,
        }
    }

    pub fn is_of(&self, model: &Arc<StageModel>, emphasis: &Arc<Emphasis>) -> bool {
        Arc::ptr_eq(&self.model, model) && Arc::ptr_eq(&self.emphasis, emphasis)
    }

    /// The words in the square that reaches so far to each side of a place on the screen, in points.
    ///
    /// |x / w − a| ≤ r is asked as |x − a w| ≤ r w: no division, and many points at a time.
    pub fn near(&self, view: &View, at: Vec2, reach: f32) -> Vec<Hit> {
        let [right, down, divisor] = view.offsets_from(at);
        let [x, y, z] = self.along.each_ref().map(|along| along.chunks(TOGETHER));
        let mut near = Vec::new();
        for (((x, y), z), words) in x.zip(y).zip(z).zip(self.words.chunks(TOGETHER)) {
            let is_near = |((x, y), z): ((&f32, &f32), &f32)| {
                let of = |row: Vec4| row.x * x + row.y * y + row.z * z + row.w;
                let most = reach * of(divisor);
                (of(right).abs() <= most) & (of(down).abs() <= most)
            };
            let all = || x.iter().zip(y).zip(z).map(is_near);
            if all().fold(false, |any, one| any | one) {
                near.extend(all().zip(words).filter(|(is_near, _)| *is_near).map(|(_, word)| Hit::Word(*word)));
            }
        }
        near
    }
}

fn has_name(model: &StageModel, emphasis: &Emphasis, index: usize, shown: Visibility) -> bool {
    let is_searched = emphasis.is_searched();
    match shown {
        Visibility::Hidden => false,
        Visibility::Faded if is_searched => false,
        // A file has its words in the order of their frequency.
        _ if is_cloud(model) && index < NAMED_OF_CLOUD => true,
        _ => is_searched || emphasis.is_isolated() || is_small(model) || model.words[index].group.is_some(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(what: u8, x: f32, depth: f32) -> Candidate<u8> {
        Candidate { what, at: Vec2::new(x, 0.0), radius: 2.0, depth }
    }

    #[test]
    fn nothing_beyond_the_reach() {
        assert_eq!(nearest(Vec2::ZERO, [at(1, REACH + 2.5, 1.0)]), None);
        assert_eq!(nearest(Vec2::ZERO, [at(1, REACH + 1.5, 1.0)]), Some(1));
    }

    #[test]
    fn the_nearest_on_the_screen_wins_whatever_its_depth() {
        assert_eq!(nearest(Vec2::ZERO, [at(1, 7.0, 1.0), at(2, 4.0, 9.0)]), Some(2));
    }

    #[test]
    fn a_stack_is_picked_from_the_front() {
        let stack = |front: usize| (0..9).map(move |what| at(what, 0.0, ((what as usize + 9 - front) % 9) as f32));
        for front in 0..9 {
            assert_eq!(nearest(Vec2::ZERO, stack(front)), Some(front as u8));
            // Beside the stack too, up to the last point of the screen.
            let edge = 2.0 + REACH;
            assert_eq!(nearest(Vec2::new(0.0, edge - 0.01), stack(front)), Some(front as u8));
            assert_eq!(nearest(Vec2::new(0.0, edge + 0.01), stack(front)), None);
        }
    }

    #[test]
    fn what_has_no_place_is_never_picked() {
        assert_eq!(nearest(Vec2::ZERO, [at(1, f32::NAN, 0.0), at(2, f32::INFINITY, 0.0), at(3, 3.0, 9.0)]), Some(3));
    }

    #[test]
    fn of_two_under_the_pointer_the_front_one_wins() {
        assert_eq!(nearest(Vec2::ZERO, [at(1, 1.0, 5.0), at(2, 1.5, 2.0)]), Some(2));
    }
}
