//! A head's own picture of the scene: whom each word looks at in this head, and what the head adds to it.

use egui::{Align2, Color32, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, Ui, Vec2};

use crate::app::scene_camera::SceneCamera;
use crate::app::theme::{self, Palette, size};
use crate::kernel::data::moves::Point;
use crate::view_model::fold::FoldModel;
use crate::view_model::walk::Step;

use super::inner;

pub struct PictureUi<'a> {
    pub model: &'a FoldModel,
    pub own: usize,
    pub rect: Rect,
    /// Progress of its appearance, from 0 to 1.
    pub shown: f32,
    pub walk: f32,
    /// How far the heads are together: their arrows lie tip to tail then.
    pub joined: f32,
    pub query: Option<usize>,
}

/// Widths and radii, in points.
const THIN: f32 = 0.8;
const WEIGHT_WIDTH: f32 = 5.0;
const ARROW: f32 = 2.0;
const HEAD: f32 = 6.0;
const POINT: f32 = 3.0;
/// Opacity of everything that belongs to other words than the chosen one.
const FAINT: f32 = 0.3;
/// Weights below this draw no line.
const WEIGHT_MIN: f32 = 0.02;

impl PictureUi<'_> {
    pub fn paint(&self, ui: &Ui, camera: &dyn SceneCamera) {
        let palette = Palette::of(ui.visuals().dark_mode);
        let painter = ui.painter_at(self.rect);
        let hue = palette.head(self.model.heads[self.own].head);
        let frame = if self.joined > 0.5 { palette.line } else { hue };
        let radius = f32::from(size::RADIUS_SMALL);
        painter.rect_filled(self.rect, radius, palette.stage.gamma_multiply(self.shown));
        let stroke = Stroke::new(size::HAIRLINE, frame.gamma_multiply(self.shown));
        painter.rect_stroke(self.rect, radius, stroke, StrokeKind::Inside);
        let (middle, reach) = self.ball();
        let see = camera.projection(inner(self.rect), middle, reach);
        self.lines(&painter, &see, hue);
        self.arrows(&painter, &see, palette);
        self.points(&painter, &see, palette);
    }

    /// The ball that the picture has room for: the words and their arrows. The same from every side: a turn is no zoom.
    fn ball(&self) -> (Point, f32) {
        let queries = || 0..self.model.queries.len();
        let places = |query| [self.model.at_rest(query), self.model.from(query), self.model.to(query)];
        ball_around(&queries().flat_map(places).collect::<Vec<Point>>())
    }

    fn strength(&self, query: usize) -> f32 {
        let is_stressed = self.query.is_none_or(|chosen| chosen == query);
        self.shown * if is_stressed { 1.0 } else { FAINT }
    }

    /// From the chosen query, or from every one, to its keys, as thick as their weights.
    fn lines(&self, painter: &Painter, see: &dyn Fn(Point) -> Option<Pos2>, hue: Color32) {
        let weighed = Step::Softmax.share(self.walk);
        if !self.model.looks_at_itself || self.joined >= 1.0 {
            return;
        }
        let queries = 0..self.model.queries.len();
        for query in queries.filter(|query| self.query.is_none_or(|chosen| chosen == *query)) {
            for key in (0..self.model.keys.len()).filter(|key| *key != query) {
                let weight = self.model.weight(self.own, query, key) * weighed;
                let ends = [query, key].map(|word| see(self.model.at_rest(word)));
                let [Some(from), Some(to)] = ends else { continue };
                if weight > WEIGHT_MIN {
                    let ink = hue.gamma_multiply(self.shown * (1.0 - self.joined) * FAINT.max(weight));
                    painter.line_segment([from, to], Stroke::new(THIN + WEIGHT_WIDTH * weight, ink));
                }
            }
        }
    }

    /// Contributions of the heads. Apart, each begins at the word; together, each where the one before it ends.
    fn arrows(&self, painter: &Painter, see: &dyn Fn(Point) -> Option<Pos2>, palette: &Palette) {
        let grown = Step::Mix.share(self.walk);
        if grown == 0.0 {
            return;
        }
        // Once they are one picture, it shows the arrows of all.
        let heads = if self.joined >= 1.0 { 0..self.model.heads.len() } else { self.own..self.own + 1 };
        for query in 0..self.model.queries.len() {
            let strength = self.strength(query);
            for own in heads.clone() {
                let before = (0..own).map(|other| self.model.arrow(other, query)).fold([0.0; 3], add);
                let from = add(self.model.from(query), before.map(|x| x * self.joined));
                let to = add(from, self.model.arrow(own, query).map(|x| x * grown));
                let hue = palette.head(self.model.heads[own].head).gamma_multiply(strength);
                if let (Some(from), Some(to)) = (see(from), see(to)) {
                    arrow(painter, from, to, hue);
                }
            }
        }
    }

    fn points(&self, painter: &Painter, see: &dyn Fn(Point) -> Option<Pos2>, palette: &Palette) {
        const LABELLED_HEIGHT: f32 = 110.0;
        let arrived = Step::Contextual.share(self.walk);
        let mut written: Vec<Rect> = Vec::new();
        let chosen_first = |query: &usize| (self.query != Some(*query), *query);
        let mut order: Vec<usize> = (0..self.model.queries.len()).collect();
        order.sort_by_key(chosen_first);
        for query in order {
            let (from, to) = (self.model.at_rest(query), self.model.to(query));
            let now = std::array::from_fn(|axis| (1.0 - arrived) * from[axis] + arrived * to[axis]);
            let Some(at) = see(now) else { continue };
            let is_chosen = self.query == Some(query);
            let ink = if is_chosen { palette.accent } else { palette.ink_soft };
            let ink = ink.gamma_multiply(self.strength(query).max(self.shown / 2.0));
            painter.circle_filled(at, POINT, ink);
            if !is_chosen && self.rect.height() < LABELLED_HEIGHT {
                continue;
            }
            let font = if is_chosen { theme::strong(size::SMALL) } else { theme::plain(size::SMALL) };
            let galley = painter.layout_no_wrap(self.model.queries[query].clone(), font, ink);
            let place = Align2::LEFT_CENTER.anchor_size(at + Vec2::new(POINT + size::GAP_TIGHT, 0.0), galley.size());
            let is_free = self.rect.contains_rect(place) && !written.iter().any(|other| other.intersects(place));
            if is_free {
                written.push(place);
                painter.galley(place.min, galley, ink);
            }
        }
    }
}

/// Around the mean of the places.
fn ball_around(places: &[Point]) -> (Point, f32) {
    let share = 1.0 / places.len().max(1) as f32;
    let middle = places.iter().fold([0.0; 3], |sum, place| add(sum, place.map(|x| x * share)));
    let away = |place: &Point| (0..3).map(|axis| (place[axis] - middle[axis]).powi(2)).sum::<f32>().sqrt();
    (middle, places.iter().map(away).fold(0.0, f32::max))
}

fn add(a: Point, b: Point) -> Point {
    std::array::from_fn(|axis| a[axis] + b[axis])
}

fn arrow(painter: &Painter, from: Pos2, to: Pos2, ink: Color32) {
    let along = to - from;
    let length = along.length();
    if length < 1.0 {
        return;
    }
    let direction = along / length;
    let head = HEAD.min(length);
    let foot = to - direction * head;
    let across = direction.rot90() * head / 2.0;
    painter.line_segment([from, foot], Stroke::new(ARROW, ink));
    painter.add(Shape::convex_polygon(vec![to, foot + across, foot - across], ink, Stroke::NONE));
}
