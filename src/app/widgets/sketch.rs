//! A small flat picture of a stage.

use attune_view::view_model::pictures::{Sketch, SketchMove};
use egui::{Align2, FontId, Pos2, Rect, Stroke, Ui, Vec2, vec2};

use crate::app::theme::{self, Palette, size};

/// Draws crowds with their names, and the way of each lit word.
pub fn sketch_ui(ui: &Ui, sketch: &Sketch, rect: Rect) {
    const MARGIN: (f32, f32) = (34.0, 18.0);
    const DOT: f32 = 2.0;
    const END: f32 = 4.0;
    const FAINT: f32 = 0.75;
    let palette = Palette::of(ui.visuals().dark_mode);
    let painter = ui.painter_at(rect);
    let half = (rect.size() / 2.0 - vec2(MARGIN.0, MARGIN.1)).max(Vec2::ZERO);
    let at = |[x, y]: [f32; 2]| rect.center() + vec2(x * half.x, -y * half.y);
    let color = |group: Option<usize>| group.map_or(palette.ink_faint, |group| palette.group(group));
    for (place, group) in &sketch.dots {
        painter.circle_filled(at(*place), DOT, color(*group).gamma_multiply(FAINT));
    }
    // Names keep clear of each other and of the ends of the ways; one without room is left out, that of a crowd first.
    let end = |way: &SketchMove| Rect::from_center_size(at(way.end), Vec2::splat(2.0 * END));
    let mut taken: Vec<Rect> = sketch.moves.iter().map(end).collect();
    let mut write = |place: Pos2, align: Align2, name: &str, font: FontId, ink| {
        let galley = painter.layout_no_wrap(name.to_owned(), font, ink);
        let place = align.anchor_size(place, galley.size());
        let is_free = rect.contains_rect(place) && !taken.iter().any(|other| other.intersects(place));
        if is_free {
            taken.push(place);
            painter.galley(place.min, galley, ink);
        }
        is_free
    };
    for way in &sketch.moves {
        let (start, end) = (at(way.start), at(way.end));
        painter.line_segment([start, end], Stroke::new(size::OUTLINE, palette.ink_soft));
        painter.circle_stroke(start, END, Stroke::new(size::HAIRLINE, palette.ink_soft));
        painter.circle_filled(end, END, palette.accent);
    }
    for way in &sketch.moves {
        let (start, end) = (at(way.start), at(way.end));
        // Beyond the end of its arrow, where the picture has room.
        let is_right = if (end.x - start.x).abs() > END { end.x > start.x } else { end.x < rect.center().x };
        let is_down = end.y > start.y;
        let (beside, above) = (vec2(END + size::GAP_TIGHT, 0.0), vec2(0.0, END + size::HAIRLINE));
        let mut sides = [(end + beside, Align2::LEFT_CENTER), (end - beside, Align2::RIGHT_CENTER)];
        let mut ends = [(end + above, Align2::CENTER_TOP), (end - above, Align2::CENTER_BOTTOM)];
        sides[..].rotate_left(usize::from(!is_right));
        ends[..].rotate_left(usize::from(!is_down));
        let mut places = sides.into_iter().chain(ends);
        places.any(|(place, align)| write(place, align, &way.label, theme::strong(size::SMALL), palette.ink));
    }
    for (name, place, group) in &sketch.crowds {
        let gap = vec2(0.0, END);
        let mut beside = |place, align| write(place, align, name, theme::plain(size::SMALL), color(Some(*group)));
        if !beside(at(*place) - gap, Align2::CENTER_BOTTOM) {
            beside(at(*place) + gap + vec2(0.0, size::GAP), Align2::CENTER_TOP);
        }
    }
}
