//! The stage's tab: the picture, what the pointer does to it, and what is written over it.

use bevy::math::{Vec2, Vec3};
use egui::{Color32, Galley, Painter, PointerButton, Pos2, Rect, Response, Sense, Stroke, TextureId, Ui};
use std::sync::Arc;

use crate::app::theme::{self, Palette, size};
use crate::app::view_state::ViewState;
use crate::view_model::stage::{StageModel, TokenPoint};

use super::arrows::axis_end;
use super::camera::{CameraRig, View};
use super::labels::{self, Priority, Wish};
use super::picking::{self, Candidate};
use super::points::{LEAST_RADIUS, TOKEN_RADIUS, WORD_RADIUS, scaled, shade, token_color};

/// What can be hovered and picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hit {
    /// Index into the model's words.
    Word(usize),
    /// Position in the sentence.
    Token(usize),
}

/// A point of the model where it is seen now.
struct SeenPoint<'a> {
    hit: Hit,
    text: String,
    word: &'a str,
    color: Color32,
    world: Vec3,
    at: Pos2,
    radius: f32,
    depth: f32,
    priority: Priority,
}

impl SeenPoint<'_> {
    /// The square inside the disc.
    fn disc(&self) -> Rect {
        Rect::from_center_size(self.at, egui::Vec2::splat(self.radius * std::f32::consts::SQRT_2))
    }
}

/// The picture with its labels. Returns its rectangle, in points.
pub fn picture_ui(
    ui: &mut Ui,
    model: Option<&StageModel>,
    rig: &mut CameraRig,
    view: &mut ViewState,
    texture: Option<TextureId>,
) -> Rect {
    let palette = Palette::of(ui.visuals().dark_mode);
    let (rect, response) = ui.allocate_exact_size(ui.available_size(), Sense::click_and_drag());
    let painter = ui.painter_at(rect);
    painter.rect_filled(rect, 0.0, palette.stage);
    let Some(model) = model else { return rect };
    steer(ui, &response, rect, rig);
    if let Some(texture) = texture {
        let whole = Rect::from_min_max(Pos2::ZERO, Pos2::new(1.0, 1.0));
        painter.image(texture, rect, whole, theme::UNTINTED);
    }
    let projection = rig.view(to_glam(rect.size()));
    let points = seen_points(model, &projection, rect, view, palette);
    let hovered = response.hover_pos().filter(|_| !response.dragged()).and_then(|pointer| pick(&points, pointer));
    act(&response, hovered, &points, rig, view);
    paint_axes(&painter, &projection, rect, model, palette);
    paint_labels(&painter, &points, hovered, view.query, rect, &projection, palette);
    paint_caption(&painter, rect, model, palette);
    if let Some(hit) = hovered {
        let response = response.on_hover_cursor(egui::CursorIcon::PointingHand);
        response.on_hover_ui_at_pointer(|ui| tooltip_ui(ui, model, hit, view.time));
    }
    rect
}

fn to_glam(size: egui::Vec2) -> Vec2 {
    Vec2::new(size.x, size.y)
}

/// Orbit, pan and zoom, from the picture's own response: the wheel over another panel is not for the stage.
fn steer(ui: &Ui, response: &Response, rect: Rect, rig: &mut CameraRig) {
    let drag = to_glam(response.drag_delta());
    if drag != Vec2::ZERO {
        if response.dragged_by(PointerButton::Primary) {
            rig.orbit(drag);
        } else {
            rig.pan(drag, rect.height());
        }
    }
    let Some(pointer) = response.hover_pos() else { return };
    let (scroll, pinch) = ui.input(|input| (input.smooth_scroll_delta().y, input.zoom_delta()));
    // A pinch by a factor is a scroll by its logarithm.
    const PINCH: f32 = 300.0;
    let amount = if pinch == 1.0 { scroll } else { pinch.ln() * PINCH };
    if amount != 0.0 {
        let offset = (pointer - rect.center()) / (rect.size() / 2.0);
        rig.zoom(amount, Vec2::new(offset.x, -offset.y), rect.aspect_ratio());
    }
}

fn seen_points<'a>(
    model: &'a StageModel,
    projection: &View,
    rect: Rect,
    view: &ViewState,
    palette: &Palette,
) -> Vec<SeenPoint<'a>> {
    let see = |world: Vec3, size: f32| {
        projection.project(world).map(|seen| {
            let radius = projection.radius_at(size, seen.depth).max(LEAST_RADIUS);
            (rect.min + egui::vec2(seen.at.x, seen.at.y), radius, seen.depth)
        })
    };
    let few = model.words.len() + model.tokens.len() <= labels::ALL_UP_TO;
    let words = model.words.iter().enumerate().filter(|(_, word)| !word.in_sentence).filter_map(|(index, word)| {
        let priority = if word.group.is_some() { Priority::GroupWord } else { Priority::Word };
        let world = Vec3::from(scaled(model, word.at));
        let (at, radius, depth) = see(world, WORD_RADIUS)?;
        let color = shade(palette, palette.word_of(word.group), &word.text, &view.lit);
        Some(SeenPoint {
            hit: Hit::Word(index),
            text: word.text.clone(),
            word: &word.text,
            color,
            world,
            at,
            radius,
            depth,
            priority,
        })
    });
    let tokens = model.tokens.iter().filter_map(|token| {
        let world = Vec3::from(scaled(model, token.at(view.time)));
        let (at, radius, depth) = see(world, TOKEN_RADIUS)?;
        let color = shade(palette, token_color(model, &token.text, token.group, palette), &token.text, &view.lit);
        let hit = Hit::Token(token.position);
        Some(SeenPoint {
            hit,
            text: token.label(),
            word: &token.text,
            color,
            world,
            at,
            radius,
            depth,
            priority: Priority::Token,
        })
    });
    let mut points: Vec<SeenPoint> = words.chain(tokens).collect();
    // Before the first step all tokens of one word lie on one point: its label says the word once.
    if view.time == 0.0 {
        let mut seen: Vec<&str> = Vec::new();
        for point in points.iter_mut().filter(|point| matches!(point.hit, Hit::Token(_))) {
            if seen.contains(&point.word) {
                point.text.clear()
            } else {
                point.text = point.word.to_owned()
            }
            seen.push(point.word);
        }
    }
    points.iter_mut().filter(|point| point.priority == Priority::Word && !few).for_each(|point| point.text.clear());
    points
}

fn pick(points: &[SeenPoint], pointer: Pos2) -> Option<Hit> {
    let glam = |pos: Pos2| Vec2::new(pos.x, pos.y);
    let candidates = points.iter().map(|point| Candidate {
        what: point.hit,
        at: glam(point.at),
        radius: point.radius,
        depth: point.depth,
    });
    picking::nearest(glam(pointer), candidates)
}

/// A click selects a token, a click beside every point clears; a double click focuses a point or goes home.
fn act(response: &Response, hovered: Option<Hit>, points: &[SeenPoint], rig: &mut CameraRig, view: &mut ViewState) {
    if response.double_clicked() {
        match points.iter().find(|point| Some(point.hit) == hovered) {
            Some(point) => rig.focus(point.world),
            None => rig.home(),
        }
    } else if response.clicked() {
        match hovered {
            Some(Hit::Token(position)) => view.query = Some(position),
            Some(Hit::Word(_)) => {}
            None => view.query = None,
        }
    }
}

fn paint_labels(
    painter: &Painter,
    points: &[SeenPoint],
    hovered: Option<Hit>,
    query: Option<usize>,
    rect: Rect,
    projection: &View,
    palette: &Palette,
) {
    let mut wishes = Vec::new();
    let mut texts: Vec<(Arc<Galley>, Color32)> = Vec::new();
    for point in points {
        let is_hovered = hovered == Some(point.hit);
        let is_selected = query.is_some_and(|query| point.hit == Hit::Token(query));
        if is_hovered || is_selected {
            let color = if is_selected { palette.accent } else { palette.ink };
            painter.circle_stroke(point.at, point.radius + size::RING_GAP, Stroke::new(size::RING, color));
        }
        let priority = match (is_hovered, is_selected) {
            (true, _) => Priority::Hovered,
            (_, true) => Priority::Selected,
            _ => point.priority,
        };
        let text = if point.text.is_empty() && is_hovered { point.word.to_owned() } else { point.text.clone() };
        if text.is_empty() || !rect.contains(point.at) {
            continue;
        }
        let strong = priority <= Priority::Token;
        let font = if strong { theme::strong(size::LABEL_STRONG) } else { theme::plain(size::LABEL) };
        let color = faded(label_color(point, strong, palette), point.depth, projection, palette);
        let galley = painter.layout_no_wrap(text, font, color);
        wishes.push(Wish { priority, point: point.at, radius: point.radius, size: galley.size(), depth: point.depth });
        texts.push((galley, color));
    }
    let discs: Vec<Rect> = points.iter().filter(|point| rect.contains(point.at)).map(SeenPoint::disc).collect();
    for (place, (galley, color)) in labels::place(&wishes, &discs, rect).into_iter().zip(texts) {
        if let Some(place) = place {
            paint_haloed(painter, place.min, galley, color, palette.stage);
        }
    }
}

fn label_color(point: &SeenPoint, strong: bool, palette: &Palette) -> Color32 {
    const TOWARDS_INK: f32 = 0.35;
    if strong { point.color.lerp_to_gamma(palette.ink, TOWARDS_INK) } else { point.color }
}

fn faded(color: Color32, depth: f32, projection: &View, palette: &Palette) -> Color32 {
    const MOST: f32 = 0.55;
    let share = ((depth - projection.distance) / projection.extent).clamp(0.0, 1.0) * MOST;
    color.lerp_to_gamma(palette.stage, share)
}

/// Text with an outline in the ground's colour, so that it reads over points and lines.
fn paint_haloed(painter: &Painter, at: Pos2, galley: Arc<Galley>, color: Color32, halo: Color32) {
    const AROUND: [(f32, f32); 4] = [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)];
    for (x, y) in AROUND {
        painter.galley_with_override_text_color(at + egui::vec2(x, y) * size::HALO, galley.clone(), halo);
    }
    painter.galley(at, galley, color);
}

fn paint_axes(painter: &Painter, projection: &View, rect: Rect, model: &StageModel, palette: &Palette) {
    for (axis, label) in model.axes.iter().enumerate() {
        let Some(seen) = projection.project(Vec3::from(axis_end(axis))) else { continue };
        let at = rect.min + egui::vec2(seen.at.x, seen.at.y);
        if rect.contains(at) {
            let galley = painter.layout_no_wrap(label.name.clone(), theme::mono(size::LABEL_AXIS), palette.ink_faint);
            paint_haloed(
                painter,
                at + egui::vec2(size::LABEL_GAP, -galley.size().y),
                galley,
                palette.ink_faint,
                palette.stage,
            );
        }
    }
}

/// What the axes are, how much they show, and the groups' colours.
fn paint_caption(painter: &Painter, rect: Rect, model: &StageModel, palette: &Palette) {
    /// Below this share the picture may mislead.
    const LITTLE: f32 = 0.5;
    let axes = model
        .axes
        .iter()
        .map(|axis| format!("{} {:.0}%", axis.name, axis.variance * 100.0))
        .collect::<Vec<_>>()
        .join(" · ");
    let inner = rect.shrink(size::GAP_WIDE - size::GAP_TIGHT);
    let mut bottom = inner.left_bottom();
    let mut line = |text: String, color: Color32| {
        let galley = painter.layout_no_wrap(text, theme::plain(size::SMALL), color);
        bottom.y -= galley.size().y;
        paint_haloed(painter, bottom, galley, color, palette.stage);
        bottom.y -= size::GAP_TIGHT / 2.0;
    };
    line("3D is a projection; the numbers are exact.".to_owned(), palette.ink_faint);
    if model.explained < LITTLE {
        line(format!("{axes}: together only {:.0}% of the variance", model.explained * 100.0), palette.warn);
    } else {
        line(axes, palette.ink_soft);
    }
    paint_legend(painter, inner, model, palette);
}

fn paint_legend(painter: &Painter, rect: Rect, model: &StageModel, palette: &Palette) {
    let mut at = rect.left_top();
    for (group, name) in model.groups.iter().enumerate() {
        let galley = painter.layout_no_wrap(name.clone(), theme::plain(size::LABEL), palette.ink_soft);
        let width = size::LEGEND + size::GAP_TIGHT + galley.size().x;
        if at.x + width > rect.right() {
            at = egui::pos2(rect.left(), at.y + galley.size().y + size::GAP_TIGHT);
        }
        let middle = at.y + galley.size().y / 2.0;
        painter.circle_filled(egui::pos2(at.x + size::LEGEND / 2.0, middle), size::LEGEND / 2.0, palette.group(group));
        let text_at = egui::pos2(at.x + size::LEGEND + size::GAP_TIGHT, at.y);
        paint_haloed(painter, text_at, galley, palette.ink_soft, palette.stage);
        at.x += width + size::GAP_WIDE;
    }
}

fn tooltip_ui(ui: &mut Ui, model: &StageModel, hit: Hit, time: f32) {
    let place = |[x, y, z]: [f32; 3]| format!("({x:.3}, {y:.3}, {z:.3})");
    let group = |group: Option<usize>| group.and_then(|group| model.groups.get(group));
    match hit {
        Hit::Word(index) => {
            let word = &model.words[index];
            ui.strong(&word.text);
            if let Some(group) = group(word.group) {
                ui.weak(format!("group {group}"));
            }
            ui.monospace(place(word.at));
        }
        Hit::Token(position) => {
            let Some(token) = model.tokens.get(position) else { return };
            ui.strong(format!("{}, token {}", token.label(), position + 1));
            if let Some(group) = group(token.group) {
                ui.weak(format!("group {group}"));
            }
            ui.monospace(format!("now        {}", place(token.at(time))));
            ui.monospace(format!("static     {}", place(token.start)));
            ui.monospace(format!("contextual {}", place(token.end)));
            nearest_ui(ui, token);
            ui.weak("Click: light its row of attention. Double-click: look at it.");
        }
    }
}

fn nearest_ui(ui: &mut Ui, token: &TokenPoint) {
    for (space, nearest) in [("static", &token.static_nearest), ("contextual", &token.contextual_nearest)] {
        if let Some((word, cosine)) = nearest {
            ui.label(format!("nearest, {space}: {word} (cosine {cosine:.3})"));
        }
    }
}
