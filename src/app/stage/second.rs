//! The points beside those of the sentence: a second sentence, as diamonds beside the first one's discs, with the two ways of the
//! word that is looked at; or one word in several sentences, in place of both.

use bevy::math::{Vec2, Vec3};
use egui::{Color32, Pos2, Rect, Stroke};

use crate::app::theme::{self, Palette, size};
use crate::app::view::{Highlight, PanelView, Selection};
use crate::kernel::scene::second::SharedWord;
use crate::view_model::compare::SECOND;
use crate::view_model::stage::{StageModel, TokenPoint};

use super::labels::{self, LabelRequest, Obstacle, Priority};
use super::picking::{self, Candidate};
use super::points::{DISC, Instance, LEAST_RADIUS, TOKEN_RADIUS, scaled};
use super::projected::ProjectedScene;
use super::writing::{Canvas, TOWARDS_INK, paint_haloed};

/// The shader's kind of point.
const DIAMOND: f32 = 2.0;
/// A diamond of a disc's area.
const DIAMOND_RADIUS: f32 = TOKEN_RADIUS * 1.25;
/// The shader's kinds of lines.
const LINE: f32 = 0.0;
const ARROW: f32 = 1.0;
/// Widths in points: of the ways that are looked at, of the others, and between the ends.
const STRESSED: f32 = 4.5;
const PLAIN: f32 = 1.4;
const BETWEEN: f32 = 1.6;
/// Number of strokes of the line between the two ends; gaps are as long.
const DASHES: usize = 12;

/// The shared word that is looked at.
pub fn chosen<'a>(model: &'a StageModel, selection: &Selection, highlight: &Highlight) -> Option<&'a SharedWord> {
    model.chosen_pair(selection.query, selection.second, &highlight.lit)
}

/// Radius and kind of the points: discs where there are no others.
fn shape(model: &StageModel) -> (f32, f32) {
    if model.sense_word.is_some() { (TOKEN_RADIUS, DISC) } else { (DIAMOND_RADIUS, DIAMOND) }
}

pub fn points(model: &StageModel, palette: &Palette) -> Vec<Instance> {
    let (size, kind) = shape(model);
    let point = |token: &TokenPoint| Instance {
        start: scaled(model, token.start),
        end: scaled(model, token.end),
        color: palette.token(token.group),
        size,
        kind,
    };
    model.second.iter().map(point).filter(Instance::has_place).collect()
}

/// The way of each token, the two that are looked at with more weight, and what lies between their ends.
pub fn lines(model: &StageModel, pair: Option<&SharedWord>, time: f32, palette: &Palette) -> Vec<Instance> {
    let way = |token: &TokenPoint, color: Color32, size: f32| Instance {
        start: scaled(model, token.start),
        end: scaled(model, token.end),
        color,
        size,
        kind: ARROW,
    };
    let is_chosen = |token: &TokenPoint| pair.is_some_and(|pair| pair.second == token.position);
    let others = model.second.iter().filter(|token| !is_chosen(token));
    let mut lines: Vec<Instance> =
        others.map(|token| way(token, palette.dimmed(palette.token(token.group)), PLAIN)).collect();
    if let Some(pair) = pair
        && let (Some(first), Some(second)) = (model.tokens.get(pair.first), model.second.get(pair.second))
    {
        let ink = palette.token(second.group);
        lines.extend([way(first, ink, STRESSED), way(second, ink, STRESSED)]);
        let (from, to) = (scaled(model, first.at(time)), scaled(model, second.at(time)));
        let along = |share: f32| std::array::from_fn(|axis| (1.0 - share) * from[axis] + share * to[axis]);
        let count = (2 * DASHES - 1) as f32;
        lines.extend((0..DASHES).map(|dash| Instance {
            start: along(2.0 * dash as f32 / count),
            end: along((2.0 * dash as f32 + 1.0) / count),
            color: palette.ink_soft,
            size: BETWEEN,
            kind: LINE,
        }));
    }
    lines.into_iter().filter(Instance::has_place).collect()
}

/// A token of the second sentence where it is seen.
struct Seen<'a> {
    token: &'a TokenPoint,
    at: Pos2,
    radius: f32,
    depth: f32,
}

fn seen<'a>(projected: &ProjectedScene<'a>) -> impl Iterator<Item = Seen<'a>> {
    let ProjectedScene { projection, rect, time, .. } = *projected;
    let model = projected.scene.model;
    model.second.iter().filter_map(move |token| {
        let seen = projection.project(Vec3::from(scaled(model, token.at(time))))?;
        let radius = projection.radius_at(shape(model).0, seen.divisor).max(LEAST_RADIUS);
        Some(Seen { token, at: rect.min + egui::vec2(seen.at.x, seen.at.y), radius, depth: seen.depth })
    })
}

/// The token under the pointer, by its position.
pub fn pick(projected: &ProjectedScene, pointer: Pos2) -> Option<usize> {
    let candidates = seen(projected).map(|seen| Candidate {
        what: seen.token.position,
        at: Vec2::new(seen.at.x, seen.at.y),
        radius: seen.radius,
        depth: seen.depth,
    });
    picking::nearest(Vec2::new(pointer.x, pointer.y), candidates)
}

/// A click on a token that both sentences have looks at its two ways.
pub fn choose(model: &StageModel, position: usize, view: &mut PanelView) {
    if model.sense_word.is_some() {
        view.selection.sense = (view.selection.sense != Some(position)).then_some(position);
        return;
    }
    view.selection.second = Some(position);
    let shared = model.shared.iter().filter(|pair| pair.second == position);
    // Of several the one that is looked at already.
    let first = shared.clone().find(|pair| Some(pair.first) == view.selection.query).or_else(|| shared.clone().next());
    view.selection.query = first.map_or(view.selection.query, |pair| Some(pair.first));
}

/// The names of the second sentence; what is written is added to `written`, so that others keep clear of it.
pub fn paint_labels(canvas: &Canvas, view: &PanelView, written: &mut Vec<Rect>) {
    let Canvas { painter, ref projected } = *canvas;
    let ProjectedScene { rect, palette, .. } = *projected;
    let model = projected.scene.model;
    let pair = chosen(model, view.selection, view.highlight);
    let in_sight: Vec<Seen> = seen(projected).filter(|seen| rect.contains(seen.at)).collect();
    let mut said: Vec<&str> = Vec::new();
    let mut waiting = Vec::new();
    for seen in &in_sight {
        let is_sense = model.sense_word.is_some() && view.selection.sense == Some(seen.token.position);
        let is_chosen = is_sense || pair.is_some_and(|pair| pair.second == seen.token.position);
        if is_chosen {
            let ring = Stroke::new(size::RING, palette.accent);
            painter.circle_stroke(seen.at, seen.radius + size::RING_GAP, ring);
        }
        // At rest all tokens of one word lie on one point, which the first sentence may have named.
        let is_at_rest = view.walk.layer_time() == 0.0;
        let is_one_point = model.second.iter().all(|other| other.start == seen.token.start);
        let (name, group) = match &model.sense_word {
            Some(word) if is_at_rest && is_one_point => (word, None),
            _ => (&seen.token.text, seen.token.group),
        };
        let is_named = is_at_rest
            && (said.contains(&name.as_str()) || model.tokens.iter().any(|first| first.text == seen.token.text));
        said.push(name);
        if is_named {
            continue;
        }
        let ink = palette.token(group).lerp_to_gamma(palette.ink, TOWARDS_INK);
        let text = if model.sense_word.is_some() { name.clone() } else { format!("{}{SECOND}", seen.token.label()) };
        let is_one_of_many = model.sense_word.is_some() && !is_chosen;
        let font = if is_one_of_many { theme::plain(size::LABEL) } else { theme::strong(size::LABEL_STRONG) };
        let galley = painter.layout_no_wrap(text, font, ink);
        let priority = if is_chosen { Priority::Selected } else { Priority::Token };
        let request =
            LabelRequest { priority, point: seen.at, radius: seen.radius, size: galley.size(), depth: seen.depth };
        waiting.push((request, galley, ink));
    }
    let square = |seen: &Seen| Rect::from_center_size(seen.at, egui::Vec2::splat(seen.radius));
    let discs: Vec<Obstacle> = in_sight.iter().map(|seen| Obstacle { rect: square(seen), is_token: true }).collect();
    let requests: Vec<LabelRequest> = waiting.iter().map(|(request, ..)| *request).collect();
    for (place, (_, galley, ink)) in labels::place(&requests, &discs, written, rect).into_iter().zip(waiting) {
        if let Some(place) = place {
            written.push(place);
            paint_haloed(painter, place.min, galley, ink, palette.stage);
        }
    }
    written.extend(discs.into_iter().map(|disc| disc.rect));
}

/// Text on the pair, over the caption; the marks of the two sentences.
pub fn paint_caption(canvas: &Canvas, view: &PanelView, written: &mut Vec<Rect>) {
    let Canvas { painter, ref projected } = *canvas;
    let ProjectedScene { rect, palette, .. } = *projected;
    let model = projected.scene.model;
    if model.sense_word.is_some() {
        return;
    }
    let lower = written.iter().filter(|text| text.center().y > rect.center().y);
    let bottom = lower.map(|text| text.top()).fold(rect.bottom() - size::GAP_WIDE, f32::min);
    let left = rect.left() + size::GAP_WIDE - size::GAP_TIGHT;
    let mut at = egui::pos2(left, bottom - size::GAP_TIGHT / 2.0);
    let number = |x: f32| format!("{x:.2}").replace('-', "−");
    let said = match chosen(model, view.selection, view.highlight) {
        Some(pair) => {
            let label = model.tokens.get(pair.first).map_or_else(String::new, TokenPoint::label);
            let other = model.second.get(pair.second).map_or_else(String::new, TokenPoint::label);
            let (before, after) = (pair.before, pair.after);
            format!(
                "{label} and {other}{SECOND}: cosine {} → {}, distance {} → {}",
                number(before.cosine),
                number(after.cosine),
                number(before.distance),
                number(after.distance),
            )
        }
        None => "The two sentences share no word.".to_owned(),
    };
    let galley = painter.layout(said, theme::strong(size::SMALL), palette.ink, rect.right() - left);
    at.y -= galley.size().y;
    written.push(Rect::from_min_size(at, galley.size()));
    paint_haloed(painter, at, galley, palette.ink, palette.stage);
    at.y -= size::GAP_TIGHT / 2.0;
    let galley =
        painter.layout_no_wrap(format!("second sentence (word{SECOND})"), theme::plain(size::LABEL), palette.ink_soft);
    at.y -= galley.size().y;
    let radius = size::LEGEND / 2.0;
    let center = at + egui::vec2(radius, galley.size().y / 2.0);
    let corners = [(radius, 0.0), (0.0, radius), (-radius, 0.0), (0.0, -radius)];
    let corners = corners.map(|(x, y)| center + egui::vec2(x, y)).to_vec();
    painter.add(egui::Shape::convex_polygon(corners, palette.ink_soft, Stroke::NONE));
    let width = size::LEGEND + size::GAP_TIGHT;
    written.push(Rect::from_min_size(at, galley.size() + egui::vec2(width, 0.0)));
    paint_haloed(painter, at + egui::vec2(width, 0.0), galley, palette.ink_soft, palette.stage);
}
