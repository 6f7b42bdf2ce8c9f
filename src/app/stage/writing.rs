//! Text over the picture beside the names of its points: those of crowds and of chosen axes, the caption and the legend.

use std::sync::Arc;

use attune_view::view_model::axes::{captions, lines};
use attune_view::view_model::stage::StageModel;
use bevy::math::Vec3;
use egui::{Color32, Galley, Painter, Pos2, Rect, Shape, Stroke};

use super::labels::{self, Obstacle, ObstacleKind};
use super::lines::axis_end;
use super::names::Writing;
use super::points::{DASHES, DOTS};
use super::projected::{ProjectedScene, SceneRef};
use crate::app::theme::{self, MARK_CONTRAST, Palette, size};
use crate::app::view::search::Hit;

/// The surface that names are written on.
pub struct Canvas<'a> {
    pub painter: &'a Painter,
    pub projected: ProjectedScene<'a>,
}

/// Names the crowds, in large quiet letters beside each: nearer to a word of the crowd than to any other of the named `marks`,
/// so that it is not read as the name of one. Returns the words of the crowds that are too small for names of their own.
pub(super) fn paint_crowds(canvas: &Canvas, marks: &[Obstacle], writing: &mut Writing) -> Vec<Hit> {
    /// How far the middle half of a crowd reaches, in points, from where on its words have names.
    const SMALL: f32 = 20.0;
    /// Height of a crowd above its middle, in deviations.
    const ABOVE: f32 = 1.7;
    const TOWARDS_GROUND: f32 = 0.2;
    /// Reach of the widest crowd, in sides of the picture.
    const WIDE: f32 = 0.24;
    let Canvas { painter, ref projected } = *canvas;
    let ProjectedScene { rect, palette, .. } = *projected;
    let SceneRef { model, emphasis, .. } = projected.scene;
    let mut small = Vec::new();
    if emphasis.is_searched() || emphasis.is_isolated() {
        return small;
    }
    for (group, words) in &projected.point_index.crowds {
        let seen: Vec<Pos2> = words.iter().filter_map(|hit| Some(projected.see(*hit)?.at)).collect();
        if seen.len() < words.len() {
            continue;
        }
        let count = seen.len() as f32;
        let middle = seen.iter().fold(egui::Vec2::ZERO, |sum, at| sum + at.to_vec2()) / count;
        let square = seen.iter().fold(egui::Vec2::ZERO, |sum, at| {
            let away = at.to_vec2() - middle;
            sum + away * away
        });
        let spread = egui::vec2((square.x / count).sqrt(), (square.y / count).sqrt());
        if spread.length() < SMALL {
            small.extend(words.iter().copied());
        }
        // Words all over the picture are no crowd.
        if !rect.contains(middle.to_pos2()) || spread.length() > WIDE * rect.size().min_elem() {
            continue;
        }
        let color = palette.group(*group).lerp_to_gamma(palette.stage, TOWARDS_GROUND);
        let color = palette.legible(color, MARK_CONTRAST);
        let galley = painter.layout_no_wrap(model.groups[*group].clone(), theme::strong(size::CROWD), color);
        let half = galley.size() / 2.0;
        let beside = spread * ABOVE + egui::Vec2::splat(size::GAP_WIDE) + half;
        let sides =
            [(0.0, -1.0), (0.0, 1.0), (1.0, 0.0), (-1.0, 0.0), (1.0, -1.0), (-1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
        let inside = rect.shrink(size::GAP);
        let places = sides.map(|(x, y)| {
            let center = (middle + egui::vec2(x, y) * beside).to_pos2();
            labels::moved_inside(Rect::from_center_size(center, galley.size()), inside)
        });
        let is_free = |place: &Rect| rect.contains_rect(*place) && !writing.is_written(*place);
        let is_its_name = |place: &Rect| {
            let own = seen.iter().map(|at| place.distance_to_pos(*at)).fold(f32::INFINITY, f32::min);
            let is_other = |mark: &&Obstacle| {
                let at = mark.rect.center();
                mark.kind == ObstacleKind::Named && seen.iter().all(|word| word.distance(at) > labels::SAME_PLACE)
            };
            marks.iter().filter(is_other).all(|mark| place.distance_to_pos(mark.rect.center()) > own)
        };
        let is_clear = |place: &&Rect| !marks.iter().any(|mark| mark.rect.intersects(**place));
        let places: Vec<Rect> = places.into_iter().filter(|place| is_free(place) && is_its_name(place)).collect();
        // Rather over a line or a dot than not at all.
        let Some(place) = places.iter().find(is_clear).or(places.first()).copied() else { continue };
        writing.write_crowd(*group, place);
        paint_haloed(painter, place.min, galley, color, palette.stage);
    }
    small
}

/// Names both ends of each axis that was chosen, with the way to each.
pub(super) fn paint_axes(canvas: &Canvas, written: &mut Vec<Rect>) {
    let Canvas { painter, ref projected } = *canvas;
    let ProjectedScene { rect, palette, .. } = *projected;
    let axes = projected.scene.model.axes.iter().enumerate();
    for (axis, (from, to)) in axes.filter_map(|(axis, label)| Some((axis, label.ends.as_ref()?))) {
        let end = Vec3::from(axis_end(axis));
        let seen = |at: Vec3| {
            let seen = projected.projection.project(at)?;
            Some(rect.min + egui::vec2(seen.at.x, seen.at.y))
        };
        let (Some(first), Some(last)) = (seen(-end), seen(end)) else { continue };
        let way = last - first;
        if way.length() < SHORT {
            continue;
        }
        for (at, way, name) in [(first, -way, from), (last, way, to)] {
            let text = match way.x.abs() > way.y.abs() {
                true if way.x < 0.0 => format!("← {name}"),
                true => format!("{name} →"),
                false if way.y < 0.0 => format!("↑ {name}"),
                false => format!("↓ {name}"),
            };
            let galley = painter.layout_no_wrap(text, theme::strong(size::LABEL), palette.ink_soft);
            // Beyond the edge of the picture it stands at the edge; beside the line, not on it.
            let beside = if way.x.abs() > way.y.abs() {
                egui::vec2(0.0, galley.size().y)
            } else {
                egui::vec2(galley.size().x, 0.0)
            };
            let place = Rect::from_center_size(at + beside * BESIDE, galley.size());
            let place = labels::moved_inside(place, rect.shrink(size::GAP));
            // Over the caption, not on it.
            let below = written.iter().find(|other| other.intersects(place));
            let place = below.map_or(place, |text| place.translate(egui::vec2(0.0, text.top() - place.bottom())));
            if !rect.contains_rect(place) || written.iter().any(|other| other.intersects(place)) {
                continue;
            }
            written.push(place);
            paint_haloed(painter, place.min, galley, palette.ink_soft, palette.stage);
        }
    }
}

/// Distance of an end's name from its axis, in sizes of the name.
const BESIDE: f32 = 0.75;
/// Length in points below which an axis, seen from its end, gets no name.
pub(super) const SHORT: f32 = 24.0;

/// Text with a rim of the background's colour around its letters, so that dots and lines do not strike through them and
/// what is beside them stays whole.
pub fn paint_haloed(painter: &Painter, at: Pos2, galley: Arc<Galley>, color: Color32, halo: Color32) {
    const AROUND: usize = 8;
    for side in 0..AROUND {
        let offset = size::HALO * egui::Vec2::angled(std::f32::consts::TAU * side as f32 / AROUND as f32);
        painter.galley_with_override_text_color(at + offset, galley.clone(), halo);
    }
    painter.galley(at, galley, color);
}

/// A stage that is smaller has no room for words about it.
const CAPTION_MIN: egui::Vec2 = egui::vec2(180.0, 120.0);

/// Paints how far the picture can be trusted, and the groups' colours. Returns the rectangles of the text, that of the
/// caution first.
pub fn paint_caption(canvas: &Canvas, old_ghosts: bool) -> Vec<Rect> {
    let Canvas { painter, ref projected } = *canvas;
    let ProjectedScene { rect, palette, .. } = *projected;
    let model = projected.scene.model;
    let inner = rect.shrink(size::GAP_WIDE - size::GAP_TIGHT);
    let mut bottom = inner.left_bottom();
    let mut written = Vec::new();
    let set = |text: String, color: Color32| painter.layout(text, theme::plain(size::SMALL), color, inner.width());
    let mut line = |galley: Arc<Galley>, color: Color32| {
        bottom.y -= galley.size().y;
        written.push(Rect::from_min_size(bottom, galley.size()));
        paint_haloed(painter, bottom, galley, color, palette.stage);
        bottom.y -= size::GAP_TIGHT / 2.0;
    };
    if rect.width() < CAPTION_MIN.x || rect.height() < CAPTION_MIN.y {
        return written;
    }
    let ink = palette.ink_faint;
    let mut texts = cautions(projected).into_iter().map(|text| set(text, ink)).collect::<Vec<_>>();
    // A second line would lie over points.
    let fits = texts.iter().position(|text| text.rows.len() == 1).unwrap_or(texts.len() - 1);
    line(texts.swap_remove(fits), ink);
    match projected.point_index.lost {
        0 => {}
        1 => line(set("1 point is not shown: a coordinate of it is no number".to_owned(), palette.warn), palette.warn),
        lost => {
            let words = format!("{lost} points are not shown: a coordinate of each is no number");
            line(set(words, palette.warn), palette.warn);
        }
    }
    if let Some(note) = &model.note {
        line(set(note.clone(), palette.ink_soft), palette.ink_soft);
    }
    paint_legend(painter, inner, model, old_ghosts, palette, &mut written);
    written
}

/// Words on how far distances in the picture can be trusted, the longest first.
fn cautions(projected: &ProjectedScene) -> Vec<String> {
    let ProjectedScene { scene: SceneRef { model, .. }, projection, time, .. } = *projected;
    if projection.perspective > 0.0 && model.is_whole {
        return vec!["All there is: the vectors have no more dimensions than the stage.".to_owned()];
    }
    let flat_along = projection.flat_along();
    captions(&model.shares.shown(time, flat_along), projection.perspective == 0.0)
}

/// The same at more length, for the pointer.
pub fn caption_about(model: &StageModel) -> String {
    let names: Vec<&str> = model.axes.iter().map(|axis| axis.name.as_str()).collect();
    let mut all = lines(&model.shares, &names);
    all.push("Shares of the variance; of moves, shares of their squared lengths.".to_owned());
    all.push("Distances here may mislead; every number is of the whole vectors.".to_owned());
    all.push(model.about.clone());
    all.join("\n")
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
    let unedited = format!("as {}", model.origin);
    let ring = |shown: bool, mark, text| shown.then_some((mark, text));
    let turned = model.tokens.iter().any(|token| token.end != token.trained_end);
    let rings = [
        ring(!model.tokens.is_empty() || model.sense_word.is_some(), Mark::Ring(ink), "static place"),
        ring(turned, Mark::Broken(ink, DASHES), &unedited),
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
