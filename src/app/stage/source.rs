//! Words of the source: while a walk looks at them they have a place on the stage, with what the step gives each.

use bevy::math::Vec3;
use egui::{Pos2, Rect, Stroke};

use crate::app::theme::{self, size};
use crate::view_model::side::Side;
use crate::view_model::walk::SourceWord;

use super::labels::{self, LabelRequest, Obstacle, Priority};
use super::points::{LEAST_RADIUS, WORD_RADIUS, scaled};
use super::writing::{Canvas, TOWARDS_INK, paint_bar, paint_haloed};

/// A word where it is seen.
struct Seen {
    at: Pos2,
    radius: f32,
    depth: f32,
}

/// Paints the words; what is written is added to `written`, so that others keep clear of it.
pub fn paint(canvas: &Canvas, walked: f32, written: &mut Vec<Rect>) {
    let Canvas { painter, ref projected } = *canvas;
    let Some((walk, step)) = projected.scene.walk else { return };
    let see = |word: &SourceWord| {
        let place = |axis: usize| word.from[axis] + projected.time * (word.to[axis] - word.from[axis]);
        let seen =
            projected.projection.project(Vec3::from(scaled(projected.scene.model, std::array::from_fn(place))))?;
        let at = projected.rect.min + egui::vec2(seen.at.x, seen.at.y);
        let radius = projected.projection.radius_at(WORD_RADIUS, seen.divisor).max(LEAST_RADIUS);
        projected.rect.contains(at).then_some(Seen { at, radius, depth: seen.depth })
    };
    let seen: Vec<(usize, Seen)> =
        walk.source.iter().enumerate().filter_map(|(index, word)| Some((index, see(word)?))).collect();
    let hue = projected.palette.head(walk.focus.head);
    let mut waiting = Vec::new();
    for (index, seen) in &seen {
        let word = &walk.source[*index];
        let takes_part = walk.takes_part(step, *index);
        let color = projected.palette.token(word.group);
        let color = if takes_part { color } else { projected.palette.dimmed(color) };
        painter.circle_filled(seen.at, seen.radius, color);
        painter.circle_stroke(seen.at, seen.radius, Stroke::new(size::HAIRLINE, projected.palette.ink_soft));
        let is_query = walk.query_side == Side::Source && walk.focus.query == *index;
        if is_query {
            let ring = Stroke::new(size::RING, projected.palette.accent);
            painter.circle_stroke(seen.at, seen.radius + size::RING_GAP, ring);
        }
        let ink = color.lerp_to_gamma(projected.palette.ink, TOWARDS_INK);
        let note = walk.beside(step, *index).map_or_else(String::new, |note| format!(" {note}"));
        let galley = painter.layout_no_wrap(format!("{}{note}", word.label), theme::plain(size::LABEL), ink);
        let mut room = galley.size();
        room.y += size::BAR_BESIDE;
        let priority = if is_query { Priority::Selected } else { Priority::Token };
        let request = LabelRequest { priority, point: seen.at, radius: seen.radius, size: room, depth: seen.depth };
        waiting.push((request, galley, ink, *index));
    }
    let discs: Vec<Obstacle> = seen
        .iter()
        .map(|(_, seen)| Obstacle {
            rect: Rect::from_center_size(seen.at, egui::Vec2::splat(seen.radius)),
            is_token: true,
        })
        .collect();
    let requests: Vec<LabelRequest> = waiting.iter().map(|(request, ..)| *request).collect();
    for (place, (_, galley, ink, index)) in
        labels::place(&requests, &discs, written, projected.rect).into_iter().zip(waiting)
    {
        let Some(place) = place else { continue };
        written.push(place);
        paint_haloed(painter, place.min, galley, ink, projected.palette.stage);
        if let Some(bar) = walk.bar(walked, index) {
            paint_bar(painter, place.left_bottom(), bar, hue, projected.palette);
        }
    }
    written.extend(discs.into_iter().map(|disc| disc.rect));
}
