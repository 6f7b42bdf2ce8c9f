//! The gauge under the sentence. For each word that the lesson is about, it shows the word's place between the two ends
//! of the picture's first chosen axis, measured in the true space: a ring before attention, a mark now.

use attune_ui::theme::{self, Palette, size};
use attune_ui::ui_state::{Highlight, Hover, Selection};
use attune_ui::widgets::heat::width_of;
pub use attune_view::view_model::gauge::{GaugeMark, GaugeModel};
use attune_view::view_model::sentence_arcs::WordAt;
use egui::{Align2, Color32, Id, Pos2, Rangef, Rect, Sense, Shape, Stroke, Ui, Vec2, WidgetInfo, WidgetType};

use super::geometry::arrival;

/// Least height of a stage that has room for the gauge.
pub const FROM: f32 = 320.0;
/// Greatest number of tracks: more would leave no room for the picture.
const TRACKS: usize = 4;
const TRACK: f32 = 21.0;
const MARK: f32 = 5.5;
const RING: f32 = 4.5;
/// Radius of the marks of all words, which are shown as long as no word is chosen.
const SMALL: f32 = 2.5;
const HEAD: f32 = 5.0;

/// The gauge, with the words that have a track of their own.
pub struct Gauge<'a> {
    model: &'a GaugeModel,
    marks: Vec<&'a GaugeMark>,
}

impl<'a> Gauge<'a> {
    pub fn of(model: &'a GaugeModel, selection: &Selection, highlight: &Highlight) -> Self {
        let mut marks = model.chosen(&highlight.lit, selection.query);
        if marks.is_empty() && model.marks.len() <= TRACKS {
            // In a short sentence, every word has a track.
            marks = model.marks.iter().collect();
        }
        marks.truncate(TRACKS);
        Self { model, marks }
    }

    /// Returns the height of the gauge, which has room for one track even before a word is chosen, so that nothing
    /// moves when one is.
    pub fn height(&self) -> f32 {
        TRACK * self.marks.len().max(1) as f32 + size::GAP_TIGHT
    }

    pub fn ui(&self, ui: &mut Ui, time: f32, hover: &mut Hover) {
        let palette = Palette::on(ui);
        let area = ui.available_rect_before_wrap();
        let inner = area.shrink2(Vec2::new(size::GAP_WIDE, 0.0)).with_max_y(area.bottom() - size::GAP_TIGHT);
        let font = theme::plain(size::LABEL);
        let [from, to] = [&self.model.from, &self.model.to].map(|end| width_of(ui, end, font.clone()) + size::GAP);
        let middle = inner.center().y;
        let ink = |group: Option<usize>| group.map_or(palette.ink_soft, |group| palette.group(group));
        let ends = [
            (Pos2::new(inner.left(), middle), Align2::LEFT_CENTER, &self.model.from),
            (Pos2::new(inner.right(), middle), Align2::RIGHT_CENTER, &self.model.to),
        ];
        for ((at, align, end), group) in ends.into_iter().zip(self.model.groups) {
            ui.painter().text(at, align, end, font.clone(), ink(group));
        }
        let run = Rangef::new(inner.left() + from + HEAD, inner.right() - to - HEAD);
        if run.span() < size::CHART_MIN / 2.0 {
            return;
        }
        if self.marks.is_empty() {
            track(ui, run, middle, palette);
            for mark in &self.model.marks {
                let at = Place::of(mark.at(time), run, middle);
                at.paint(ui.painter(), SMALL, Some(self.ink(mark, time, palette)), theme::CLEAR);
            }
        }
        for (row, mark) in self.marks.iter().enumerate() {
            let y = inner.top() + TRACK * (row as f32 + 0.5);
            self.mark_ui(ui, mark, run, y, time, hover);
        }
    }

    /// Returns the colour of a mark, which is the colour of the word's group. A word without a group takes, as it
    /// arrives, the colour of the end that it reaches.
    fn ink(&self, mark: &GaugeMark, time: f32, palette: &Palette) -> Color32 {
        let own = palette.token(mark.group);
        let goal = self.model.reached(mark).filter(|_| mark.group.is_none());
        goal.map_or(own, |goal| own.lerp_to_gamma(palette.group(goal), arrival(time)))
    }

    fn mark_ui(&self, ui: &Ui, mark: &GaugeMark, run: Rangef, y: f32, time: f32, hover: &mut Hover) {
        let palette = Palette::on(ui);
        let rect = Rect::from_x_y_ranges(run.expand(HEAD), y - TRACK / 2.0..=y + TRACK / 2.0);
        let response = ui.interact(rect, Id::new(("gauge", mark.position)), Sense::hover());
        let said = self.model.said(mark);
        response.widget_info(|| WidgetInfo::labeled(WidgetType::ProgressIndicator, true, &said));
        track(ui, run, y, palette);
        let now = mark.at(time);
        let (at, was) = (Place::of(now, run, y), Place::of(mark.fixed, run, y));
        let ink = self.ink(mark, time, palette);
        let painter = ui.painter();
        was.paint(painter, RING, None, palette.ink_soft);
        painter.hline(Rangef::new(was.at.x.min(at.at.x), was.at.x.max(at.at.x)), y, Stroke::new(size::OUTLINE, ink));
        was.paint(painter, RING, Some(palette.stage), palette.ink_soft);
        let is_pointed = response.hovered() || hover.token() == Some(mark.position);
        let font = if is_pointed { theme::strong(size::LABEL) } else { theme::plain(size::LABEL) };
        let text = if at.beyond == 0.0 { mark.label.clone() } else { format!("{} {now:.2}", mark.label) };
        let galley = painter.layout_no_wrap(text, font, ink);
        let place = beside(&at, &was, galley.size(), run);
        // The line is interrupted on both sides of the name.
        let around = place.expand2(Vec2::new(size::GAP_TIGHT, 0.0));
        painter.rect_filled(around, f32::from(size::RADIUS_SMALL), palette.stage);
        at.paint(painter, MARK, Some(ink), ink);
        painter.galley(place.min, galley, ink);
        if response.hovered() {
            hover.point_at_token(WordAt::in_sentence(mark.position));
            response.on_hover_ui(|ui| {
                let GaugeModel { about, ends: [first, last], .. } = self.model;
                let width = first.len().max(last.len());
                ui.strong(&mark.label);
                for (name, place) in [(*first, mark.fixed), ("now", now), (*last, mark.now)] {
                    ui.monospace(format!("{name:width$} {place:.3}"));
                }
                ui.weak(about);
            });
        }
    }
}

/// Place of a mark on its track; a mark beyond an end is drawn as an arrow at that end.
struct Place {
    at: Pos2,
    /// Direction in which the mark is outside the track: −1 beyond the left end, 1 beyond the right end, and 0 inside.
    beyond: f32,
}

impl Place {
    fn of(place: f32, run: Rangef, y: f32) -> Self {
        let place = if place.is_finite() { place } else { 0.0 };
        let beyond = if place < 0.0 {
            -1.0
        } else if place > 1.0 {
            1.0
        } else {
            0.0
        };
        Self { at: Pos2::new(egui::lerp(run.min..=run.max, place.clamp(0.0, 1.0)), y), beyond }
    }

    fn paint(&self, painter: &egui::Painter, radius: f32, fill: Option<Color32>, line: Color32) {
        let (fill, stroke) = (fill.unwrap_or(theme::CLEAR), Stroke::new(size::CURVE, line));
        if self.beyond == 0.0 {
            painter.circle(self.at, radius, fill, stroke);
            return;
        }
        let tip = Vec2::new(self.beyond * radius, 0.0);
        let foot = Vec2::new(0.0, radius);
        let shape = vec![self.at + tip * 1.5, self.at - tip + foot, self.at - tip - foot];
        painter.add(Shape::convex_polygon(shape, fill, stroke));
    }
}

/// Returns the rectangle of a name, on the side of its mark that has room and no ring.
fn beside(at: &Place, was: &Place, size: Vec2, run: Rangef) -> Rect {
    let gap = MARK + size::GAP_TIGHT;
    let y = at.at.y - size.y / 2.0;
    let right = Rect::from_min_size(Pos2::new(at.at.x + gap, y), size);
    let left = Rect::from_min_size(Pos2::new(at.at.x - gap - size.x, y), size);
    let is_clear = |rect: &Rect| !rect.expand(RING).contains(was.at);
    let fits = |rect: &Rect| rect.left() >= run.min - HEAD && rect.right() <= run.max + HEAD;
    let sides = [right, left];
    let best = sides.iter().find(|rect| fits(rect) && is_clear(rect)).or_else(|| sides.iter().find(|rect| fits(rect)));
    best.copied().unwrap_or(right)
}

/// Draws a line with an arrow at each end.
fn track(ui: &Ui, run: Rangef, y: f32, palette: &Palette) {
    let painter = ui.painter();
    let ink = palette.ink_faint;
    painter.hline(run, y, Stroke::new(size::HAIRLINE, ink));
    for (x, side) in [(run.min, -1.0), (run.max, 1.0)] {
        let foot = Vec2::new(-side * HEAD, HEAD * 0.6);
        let tip = Pos2::new(x + side * HEAD / 2.0, y);
        painter.line_segment([tip, tip + foot], Stroke::new(size::HAIRLINE, ink));
        painter.line_segment([tip, tip + foot * Vec2::new(1.0, -1.0)], Stroke::new(size::HAIRLINE, ink));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: Rangef = Rangef { min: 100.0, max: 300.0 };

    #[test]
    fn a_place_beyond_an_end_is_shown_at_the_end() {
        let at = |place| {
            let place = Place::of(place, RUN, 10.0);
            (place.at.x, place.beyond)
        };
        assert_eq!([at(0.0), at(0.5), at(1.0)], [(100.0, 0.0), (200.0, 0.0), (300.0, 0.0)]);
        assert_eq!([at(-0.2), at(1.3), at(f32::NAN)], [(100.0, -1.0), (300.0, 1.0), (100.0, 0.0)]);
    }

    #[test]
    fn a_name_covers_neither_its_mark_nor_its_ring_and_stays_on_its_track() {
        let size = Vec2::new(50.0, 14.0);
        for now in 0..=20 {
            for was in 0..=20 {
                let [now, was] = [now, was].map(|place: i32| Place::of(place as f32 / 20.0, RUN, 10.0));
                let name = beside(&now, &was, size, RUN);
                assert!(!name.contains(now.at));
                assert!(name.left() >= RUN.min - HEAD && name.right() <= RUN.max + HEAD);
                let both_fit = now.at.x - RUN.min > 70.0 && RUN.max - now.at.x > 70.0;
                assert!(!both_fit || !name.contains(was.at), "{:?} {:?} {name:?}", now.at, was.at);
            }
        }
    }
}
