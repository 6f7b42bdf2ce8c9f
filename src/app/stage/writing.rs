//! Text over the picture: labels, the axes' names, the caption and the legend.

use std::sync::Arc;

use bevy::math::Vec3;
use egui::text::{LayoutJob, TextFormat};
use egui::{Color32, Galley, Painter, Pos2, Rect, Shape, Stroke};

use crate::app::theme::{self, Palette, size};
use crate::view_model::axes::LITTLE;
use crate::view_model::search::Hit;
use crate::view_model::stage::{AxisLabel, StageModel};

use super::arrows::axis_end;
use super::labels::{self, LabelRequest, Obstacle, Priority};
use super::points::{DASHES, DOTS};
use super::projected::{ProjectedScene, SeenPoint};

/// Where it is written.
pub struct Canvas<'a> {
    pub painter: &'a Painter,
    pub projected: ProjectedScene<'a>,
}

/// A text that waits for a place.
struct Label {
    request: LabelRequest,
    galley: Arc<Galley>,
    color: Color32,
}

pub fn paint_labels(canvas: &Canvas, hovered: Option<Hit>, query: Option<usize>, written: &[Rect]) {
    let Canvas { painter, ref projected } = *canvas;
    let (mut named, others) = projected.labelled();
    // What is under the pointer has a name, whatever it is.
    let is_there = |hit| named.iter().any(|point| point.hit == hit);
    named.extend(hovered.filter(|hit| !is_there(*hit)).and_then(|hit| projected.see(hit)));
    let mut waiting: Vec<Label> = Vec::new();
    for point in &named {
        let is_hovered = hovered == Some(point.hit);
        let is_selected = query.is_some_and(|query| point.hit == Hit::Token(query));
        if is_hovered || is_selected {
            let color = if is_selected { projected.palette.accent } else { projected.palette.ink };
            painter.circle_stroke(point.at, point.radius + size::RING_GAP, Stroke::new(size::RING, color));
        }
        let priority = match (is_hovered, is_selected) {
            (true, _) => Priority::Hovered,
            (_, true) => Priority::Selected,
            _ => point.priority,
        };
        waiting.extend(point_label(canvas, point, priority));
    }
    waiting.extend(projected.left_places().iter().map(|(ring, word)| ring_label(canvas, ring, word)));
    let axes = &projected.scene.model.axes;
    waiting.extend(axes.iter().enumerate().filter_map(|(axis, label)| axis_label(canvas, axis, label)));
    let obstacle = |point: &SeenPoint| Obstacle { rect: point.disc(), is_token: matches!(point.hit, Hit::Token(_)) };
    let discs: Vec<Obstacle> = named.iter().chain(&others).map(obstacle).collect();
    let requests: Vec<LabelRequest> = waiting.iter().map(|label| label.request).collect();
    for (place, label) in labels::place(&requests, &discs, written, projected.rect).into_iter().zip(waiting) {
        if let Some(place) = place {
            paint_haloed(painter, place.min, label.galley, label.color, projected.palette.stage);
        }
    }
}

fn point_label(canvas: &Canvas, point: &SeenPoint, priority: Priority) -> Option<Label> {
    let projected = &canvas.projected;
    let plain = || (priority == Priority::Hovered).then(|| projected.word(point.hit).to_owned());
    let text = projected.label(point.hit).or_else(plain)?;
    let strong = priority <= Priority::Token;
    let font = if strong { theme::strong(size::LABEL_STRONG) } else { theme::plain(size::LABEL) };
    let color = faded(projected, label_color(projected.color(point.hit), strong, projected.palette), point.divisor);
    let mut job = LayoutJob::simple_singleline(text, font, color);
    if let (Some(note), Some((walk, _))) = (projected.step_note(point.hit), projected.scene.walk) {
        let ink = projected.palette.head(walk.focus.head).lerp_to_gamma(projected.palette.ink, TOWARDS_INK);
        job.append(&note, size::GAP_TIGHT, TextFormat::simple(theme::mono(size::LABEL), ink));
    }
    let galley = canvas.painter.layout_job(job);
    let request =
        LabelRequest { priority, point: point.at, radius: point.radius, size: galley.size(), depth: point.depth };
    Some(Label { request, galley, color })
}

/// The word whose static place a ring marks, where the word itself has gone elsewhere.
fn ring_label(canvas: &Canvas, ring: &SeenPoint, word: &str) -> Label {
    let projected = &canvas.projected;
    let color = faded(projected, projected.color(ring.hit), ring.divisor);
    let galley = canvas.painter.layout_no_wrap(word.to_owned(), theme::plain(size::LABEL), color);
    let SeenPoint { priority, at, radius, depth, .. } = *ring;
    Label { request: LabelRequest { priority, point: at, radius, size: galley.size(), depth }, galley, color }
}

/// The name of an axis with its share of the variance, at its positive end; it gives way to every word.
fn axis_label(canvas: &Canvas, axis: usize, label: &AxisLabel) -> Option<Label> {
    /// Length in points below which an axis, seen from its end, gets no name.
    const SHORT: f32 = 24.0;
    let projected = &canvas.projected;
    let seen = projected.projection.project(Vec3::from(axis_end(axis)))?;
    let length = projected.projection.project(Vec3::ZERO).map_or(f32::INFINITY, |origin| origin.at.distance(seen.at));
    let point = projected.rect.min + egui::vec2(seen.at.x, seen.at.y);
    let color = projected.palette.ink_faint;
    let AxisLabel { name, variance } = label;
    let text = format!("{name} {:.0}%", variance * 100.0);
    let galley = canvas.painter.layout_no_wrap(text, theme::mono(size::LABEL_AXIS), color);
    let request = LabelRequest { priority: Priority::Axis, point, radius: 0.0, size: galley.size(), depth: seen.depth };
    (length > SHORT && projected.rect.contains(point)).then_some(Label { request, galley, color })
}

/// How much of the ink a colour gets that is to be read.
pub(super) const TOWARDS_INK: f32 = 0.35;

fn label_color(color: Color32, strong: bool, palette: &Palette) -> Color32 {
    if strong { color.lerp_to_gamma(palette.ink, TOWARDS_INK) } else { color }
}

fn faded(projected: &ProjectedScene, color: Color32, divisor: f32) -> Color32 {
    let ProjectedScene { projection, palette, .. } = projected;
    const MOST: f32 = 0.55;
    let share = ((divisor - projection.distance) / projection.extent).clamp(0.0, 1.0) * MOST;
    color.lerp_to_gamma(palette.stage, share)
}

/// Text with an outline in the ground's colour, so that it reads over points and lines.
pub fn paint_haloed(painter: &Painter, at: Pos2, galley: Arc<Galley>, color: Color32, halo: Color32) {
    const AROUND: [(f32, f32); 4] = [(-1.0, -1.0), (1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)];
    for (x, y) in AROUND {
        painter.galley_with_override_text_color(at + egui::vec2(x, y) * size::HALO, galley.clone(), halo);
    }
    painter.galley(at, galley, color);
}

/// A stage that is smaller has no room for words about it.
const CAPTION_MIN: egui::Vec2 = egui::vec2(180.0, 120.0);

/// Paints the names of the axes, how much they show, and the groups' colours. Returns the rectangles of the text.
pub fn paint_caption(canvas: &Canvas, old_ghosts: bool) -> Vec<Rect> {
    let Canvas { painter, ref projected } = *canvas;
    let ProjectedScene { rect, palette, .. } = *projected;
    let model = projected.scene.model;
    let axes = model
        .axes
        .iter()
        .map(|axis| format!("{} {:.0}%", axis.name, axis.variance * 100.0))
        .collect::<Vec<_>>()
        .join(" · ");
    let inner = rect.shrink(size::GAP_WIDE - size::GAP_TIGHT);
    let mut bottom = inner.left_bottom();
    let mut written = Vec::new();
    let mut line = |text: String, color: Color32| {
        let galley = painter.layout(text, theme::plain(size::SMALL), color, inner.width());
        bottom.y -= galley.size().y;
        written.push(Rect::from_min_size(bottom, galley.size()));
        paint_haloed(painter, bottom, galley, color, palette.stage);
        bottom.y -= size::GAP_TIGHT / 2.0;
    };
    if rect.width() < CAPTION_MIN.x || rect.height() < CAPTION_MIN.y {
        return written;
    }
    let is_flat = projected.projection.perspective == 0.0;
    let kind = match (is_flat, model.is_whole) {
        (false, true) => "All there is: the vectors have no more dimensions than the stage.",
        (false, false) => "3D is a projection; the numbers are exact.",
        (true, _) => "2D is a projection; the numbers are exact.",
    };
    line(kind.to_owned(), palette.ink_faint);
    match projected.point_index.lost {
        0 => {}
        1 => line("1 point is not shown: a coordinate of it is no number".to_owned(), palette.warn),
        lost => line(format!("{lost} points are not shown: a coordinate of each is no number"), palette.warn),
    }
    if model.explained < LITTLE {
        line(format!("{axes}: together only {:.0}% of the variance", model.explained * 100.0), palette.warn);
    } else {
        line(axes, palette.ink_soft);
    }
    if let Some(note) = &model.note {
        line(note.clone(), palette.ink_soft);
    }
    paint_legend(painter, inner, model, old_ghosts, palette, &mut written);
    written
}

/// Shape of a mark in the legend.
enum Mark {
    Disc(Color32),
    Ring(Color32),
    /// A ring in so many strokes.
    Broken(Color32, usize),
}

fn broken_ring(center: Pos2, radius: f32, strokes: usize, ink: Color32) -> Shape {
    /// Straight pieces of a stroke.
    const CORNERS: usize = 4;
    const DRAWN: f32 = 0.6;
    let arc = std::f32::consts::TAU / strokes as f32;
    let stroke = |index: usize| {
        let angle = |corner: usize| arc * (index as f32 + DRAWN * corner as f32 / CORNERS as f32);
        let points = (0..=CORNERS).map(|corner| center + radius * egui::Vec2::angled(angle(corner))).collect();
        Shape::line(points, Stroke::new(size::OUTLINE, ink))
    };
    Shape::Vec((0..strokes).map(stroke).collect())
}

fn paint_legend(
    painter: &Painter,
    rect: Rect,
    model: &StageModel,
    old_ghosts: bool,
    palette: &Palette,
    written: &mut Vec<Rect>,
) {
    let groups = model.groups.iter().enumerate().map(|(group, name)| (Mark::Disc(palette.group(group)), name.as_str()));
    let ink = palette.ink_soft;
    let ring = |shown: bool, mark, text| shown.then_some((mark, text));
    let turned = model.tokens.iter().any(|token| token.end != token.trained_end);
    let rings = [
        ring(!model.tokens.is_empty(), Mark::Ring(ink), "static place"),
        ring(turned, Mark::Broken(ink, DASHES), "as trained"),
        ring(old_ghosts && !model.ghosts.is_empty(), Mark::Broken(ink, DOTS), "before retraining"),
    ];
    let mut at = rect.left_top();
    for (mark, text) in groups.chain(rings.into_iter().flatten()) {
        let galley = painter.layout_no_wrap(text.to_owned(), theme::plain(size::LABEL), palette.ink_soft);
        let width = size::LEGEND + size::GAP_TIGHT + galley.size().x;
        if at.x + width > rect.right() {
            at = egui::pos2(rect.left(), at.y + galley.size().y + size::GAP_TIGHT);
        }
        let radius = size::LEGEND / 2.0;
        let center = egui::pos2(at.x + radius, at.y + galley.size().y / 2.0);
        match mark {
            Mark::Disc(fill) => painter.circle_filled(center, radius, fill),
            Mark::Ring(ink) => painter.circle_stroke(center, radius, Stroke::new(size::OUTLINE, ink)),
            Mark::Broken(ink, strokes) => painter.add(broken_ring(center, radius, strokes, ink)),
        };
        written.push(Rect::from_min_size(at, egui::vec2(width, galley.size().y)));
        let text_at = egui::pos2(at.x + size::LEGEND + size::GAP_TIGHT, at.y);
        paint_haloed(painter, text_at, galley, palette.ink_soft, palette.stage);
        at.x += width + size::GAP_WIDE;
    }
}
