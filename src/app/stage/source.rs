//! Words of the source: while a walk looks at them they have a place on the stage, with what the step gives each.

use attune_view::explain::walk::SourceWord;
use attune_view::view_model::side::Side;
use bevy::math::Vec3;
use egui::{Pos2, Stroke};

use super::labels::Priority;
use super::names::{NameOwner, Named, name_color};
use super::points::{LEAST_RADIUS, WORD_RADIUS, scaled};
use super::writing::Canvas;
use crate::app::theme::size;

/// Paints the points of the words. Returns them for their names.
pub fn paint(canvas: &Canvas, walked: f32) -> Vec<Named> {
    let Canvas { painter, ref projected } = *canvas;
    let Some((walk, step)) = projected.scene.walk else { return Vec::new() };
    let see = |word: &SourceWord| {
        let place = |axis: usize| word.from[axis] + projected.time * (word.to[axis] - word.from[axis]);
        let seen =
            projected.projection.project(Vec3::from(scaled(projected.scene.model, std::array::from_fn(place))))?;
        let at = projected.rect.min + egui::vec2(seen.at.x, seen.at.y);
        let radius = projected.projection.radius_at(WORD_RADIUS, seen.divisor).max(LEAST_RADIUS);
        projected.rect.contains(at).then_some((at, radius, seen.depth))
    };
    let named = |(index, word): (usize, &SourceWord)| {
        let (at, radius, depth): (Pos2, f32, f32) = see(word)?;
        let color = projected.palette.token(word.group);
        let color = if walk.takes_part(step, index) { color } else { projected.palette.dimmed(color) };
        painter.circle_filled(at, radius, color);
        painter.circle_stroke(at, radius, Stroke::new(size::HAIRLINE, projected.palette.ink_soft));
        let is_query = walk.query_side == Side::Source && walk.focus.query == index;
        if is_query {
            painter.circle_stroke(at, radius + size::RING_GAP, Stroke::new(size::RING, projected.palette.accent));
        }
        Some(Named {
            owner: NameOwner::Source(index),
            at,
            radius,
            depth,
            priority: if is_query { Priority::Selected } else { Priority::Token },
            word: word.label.clone(),
            label: word.label.clone(),
            note: walk.beside(step, index),
            bar: walk.bar(walked, index),
            color: name_color(color, true, projected.palette),
            is_first: true,
        })
    };
    walk.source.iter().enumerate().filter_map(named).collect()
}
