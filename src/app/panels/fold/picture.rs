//! A head's own picture of the scene: whom each word looks at in this head, and what the head adds to it.

use attune_engine::numerics::moves::Point;
use attune_view::explain::walk::Step;
use attune_view::view_model::fold::{FoldModel, Role};
use egui::{Color32, FontId, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, Ui, Vec2};

use super::inner;
use super::scene::RoleStage;
use super::sheet::word_ink;
use crate::app::scene_camera::SceneCamera;
use crate::app::theme::{self, MARK_CONTRAST, Palette, size};

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
        let hue = palette.head(self.own);
        frame(&painter, self.rect, if self.joined > 0.5 { palette.line } else { hue }, self.shown, palette);
        let (middle, reach) = self.ball();
        let see = camera.projection(inner(self.rect), middle, reach);
        let crowd = crowd_dots(&painter, self.model, &see, self.shown, palette);
        let mut lines = self.lines(&painter, &see, hue);
        lines.extend(self.arrows(&painter, &see, palette));
        let mut names = Names { painter: &painter, rect: self.rect, lines, crowd, written: Vec::new(), palette };
        self.points(&mut names, &see);
        names.crowds(self.model, &see, self.shown);
    }

    /// The ball that the picture has room for: the words, their arrows and the crowds. The same from every side: a turn
    /// is no zoom.
    fn ball(&self) -> (Point, f32) {
        let queries = || 0..self.model.queries.len();
        let places = |query| [self.model.at_rest(query), self.model.from(query), self.model.to(query)];
        let crowds = self.model.crowds.iter().map(|crowd| middle(&crowd.places));
        ball_around(&queries().flat_map(places).chain(crowds).collect::<Vec<Point>>())
    }

    fn strength(&self, query: usize) -> f32 {
        let is_stressed = self.query.is_none_or(|chosen| chosen == query);
        self.shown * if is_stressed { 1.0 } else { FAINT }
    }

    /// From the chosen query, or from every one, to its keys, as thick as their weights.
    fn lines(&self, painter: &Painter, see: See, hue: Color32) -> Vec<[Pos2; 2]> {
        let weighed = Step::Softmax.share(self.walk);
        let mut lines = Vec::new();
        if !self.model.looks_at_itself || self.joined >= 1.0 || !self.model.heads[self.own].is_on {
            return lines;
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
                    lines.push([from, to]);
                }
            }
        }
        lines
    }

    /// Contributions of the heads. Apart, each begins at the word; together, each where the one before it ends.
    fn arrows(&self, painter: &Painter, see: See, palette: &Palette) -> Vec<[Pos2; 2]> {
        let grown = Step::Mix.share(self.walk);
        let mut arrows = Vec::new();
        if grown == 0.0 {
            return arrows;
        }
        // Once they are one picture, it shows the arrows of all.
        let is_joined = self.joined >= 1.0;
        let heads = if is_joined { 0..self.model.heads.len() } else { self.own..self.own + 1 };
        let arrived = if is_joined { Step::Contextual.share(self.walk) } else { 0.0 };
        for query in 0..self.model.queries.len() {
            let strength = self.strength(query);
            for own in heads.clone() {
                let before = (0..own).map(|other| self.model.arrow(other, query)).fold([0.0; 3], add);
                let from = add(self.model.from(query), before.map(|x| x * self.joined));
                let to = add(from, self.model.arrow(own, query).map(|x| x * grown));
                let hue = palette.head(own).gamma_multiply(strength);
                if let (Some(from), Some(to)) = (see(from), see(to)) {
                    arrow(painter, from, to, hue);
                    arrows.push([from, to]);
                }
            }
            // From where the heads lead to where the word arrives.
            let mut from = heads.clone().map(|own| self.model.arrow(own, query)).fold(self.model.from(query), add);
            for (part, by) in self.model.parts(query).filter(|_| arrived > 0.0) {
                let to = add(from, by.map(|x| x * arrived));
                if let (Some(start), Some(end)) = (see(from), see(to)) {
                    arrow(painter, start, end, palette.part(part).gamma_multiply(strength));
                    arrows.push([start, end]);
                }
                from = to;
            }
        }
        arrows
    }

    fn points(&self, names: &mut Names, see: See) {
        let arrived = Step::Contextual.share(self.walk);
        let place = |query: usize| {
            let (from, to) = (self.model.at_rest(query), self.model.to(query));
            std::array::from_fn(|axis| (1.0 - arrived) * from[axis] + arrived * to[axis])
        };
        let dots = self.model.words_of(Role::Query).enumerate().filter_map(|(query, (word, group))| {
            let is_chosen = self.query == Some(query);
            Some(Dot { at: see(place(query))?, word, group, is_chosen, strength: self.shown })
        });
        names.dots(dots.collect());
    }
}

/// Projects a point onto the picture; `None` behind the eye.
type See<'a> = &'a dyn Fn(Point) -> Option<Pos2>;

/// The words of a role as points: what is projected, on the stage's axes, or what comes out, on its own.
pub fn role_ui(ui: &Ui, model: &FoldModel, stage: &RoleStage, query: Option<usize>, camera: &dyn SceneCamera) {
    let RoleStage { role, is_result, rect, alpha } = *stage;
    let palette = Palette::of(ui.visuals().dark_mode);
    let painter = ui.painter_at(rect);
    let places = if is_result { model.role_points(role).to_vec() } else { model.projected_points(role) };
    if places.is_empty() {
        return;
    }
    frame(&painter, rect, palette.line, alpha, palette);
    let crowds = model.crowds.iter().filter(|_| !is_result).map(|crowd| middle(&crowd.places));
    let (middle, reach) = ball_around(&places.iter().copied().chain(crowds).collect::<Vec<Point>>());
    let see = camera.projection(inner(rect), middle, reach);
    let crowd = if is_result { Vec::new() } else { crowd_dots(&painter, model, &see, alpha, palette) };
    let is_by_query = role == Role::Query || model.looks_at_itself;
    let dots = model.words_of(role).zip(&places).enumerate().filter_map(|(row, ((word, group), place))| {
        let is_chosen = is_by_query && query == Some(row);
        Some(Dot { at: see(*place)?, word, group, is_chosen, strength: alpha })
    });
    let mut names = Names { painter: &painter, rect, lines: Vec::new(), crowd, written: Vec::new(), palette };
    names.dots(dots.collect());
    if !is_result {
        names.crowds(model, &see, alpha);
    }
}

fn frame(painter: &Painter, rect: Rect, ink: Color32, shown: f32, palette: &Palette) {
    let radius = f32::from(size::RADIUS_SMALL);
    painter.rect_filled(rect, radius, palette.stage.gamma_multiply(shown));
    let stroke = Stroke::new(size::HAIRLINE, ink.gamma_multiply(shown));
    painter.rect_stroke(rect, radius, stroke, StrokeKind::Inside);
}

/// The dictionary's words in their groups, small and quiet behind those of the sentence. Returns where they are.
fn crowd_dots(painter: &Painter, model: &FoldModel, see: See, shown: f32, palette: &Palette) -> Vec<Pos2> {
    const RADIUS: f32 = 1.5;
    let mut dots = Vec::new();
    for crowd in &model.crowds {
        let ink = palette.dimmed(palette.group(crowd.group)).gamma_multiply(shown);
        let first = dots.len();
        dots.extend(crowd.places.iter().filter_map(|place| see(*place)));
        for at in &dots[first..] {
            painter.circle_filled(*at, RADIUS, ink);
        }
    }
    dots
}

/// A word's point in a small stage.
struct Dot<'a> {
    at: Pos2,
    word: &'a str,
    group: Option<usize>,
    is_chosen: bool,
    strength: f32,
}

/// Names in a small stage, which keep off each other, the points and the lines.
struct Names<'a> {
    painter: &'a Painter,
    rect: Rect,
    lines: Vec<[Pos2; 2]>,
    /// Dots that names keep off where they can.
    crowd: Vec<Pos2>,
    written: Vec<Rect>,
    palette: &'a Palette,
}

impl Names<'_> {
    /// All points first, then their names, the chosen one's before the others. Words on one point share the first name.
    fn dots(&mut self, mut dots: Vec<Dot>) {
        let Self { painter, palette, .. } = *self;
        for dot in &dots {
            painter.circle_filled(dot.at, POINT, palette.token(dot.group).gamma_multiply(dot.strength));
            if dot.is_chosen {
                let ring = Stroke::new(size::HAIRLINE, palette.accent.gamma_multiply(dot.strength));
                painter.circle_stroke(dot.at, POINT + size::OUTLINE, ring);
            }
        }
        let points = dots.iter().map(|dot| Rect::from_center_size(dot.at, Vec2::splat(2.0 * POINT)));
        self.written.extend(points);
        dots.sort_by_key(|dot| !dot.is_chosen);
        for dot in &dots {
            let ink = word_ink(dot.group, palette).gamma_multiply(dot.strength);
            let font = if dot.is_chosen { theme::strong(size::SMALL) } else { theme::plain(size::SMALL) };
            self.write(dot.word, font, ink, |size| {
                let away = POINT + size::GAP_TIGHT;
                let sides = [
                    (1.0, 0.0),
                    (-1.0, 0.0),
                    (0.0, -1.0),
                    (0.0, 1.0),
                    (1.0, -1.0),
                    (1.0, 1.0),
                    (-1.0, -1.0),
                    (-1.0, 1.0),
                ];
                let half = size / 2.0 + Vec2::splat(away);
                sides.map(|(x, y)| dot.at + Vec2::new(x * half.x, y * (half.y - size::GAP_TIGHT / 2.0))).to_vec()
            });
        }
    }

    /// Each crowd's name over its middle, or below it.
    fn crowds(&mut self, model: &FoldModel, see: See, shown: f32) {
        let palette = self.palette;
        for crowd in &model.crowds {
            let Some(at) = see(middle(&crowd.places)) else { continue };
            let ink = palette.legible(palette.group(crowd.group), MARK_CONTRAST).gamma_multiply(shown);
            self.write(&crowd.name, theme::strong(size::SMALL), ink, |size| {
                let beside = size.y / 2.0 + size::GAP;
                vec![at - Vec2::new(0.0, beside), at + Vec2::new(0.0, beside), at, at - Vec2::new(0.0, 2.0 * beside)]
            });
        }
    }

    /// At the first of the places that is free, rather over no crowd; nowhere where none is.
    fn write(&mut self, text: &str, font: FontId, ink: Color32, places: impl FnOnce(Vec2) -> Vec<Pos2>) {
        let galley = self.painter.layout_no_wrap(text.to_owned(), font, ink);
        let places = places(galley.size()).into_iter().map(|center| Rect::from_center_size(center, galley.size()));
        let free = |place: &Rect| {
            self.rect.shrink(size::HAIRLINE).contains_rect(*place)
                && !self.written.iter().any(|other| other.intersects(*place))
                && !self.lines.iter().any(|line| crosses(*line, *place))
        };
        let places: Vec<Rect> = places.filter(free).collect();
        let is_clear = |place: &&Rect| !self.crowd.iter().any(|dot| place.contains(*dot));
        if let Some(place) = places.iter().find(is_clear).or(places.first()).copied() {
            self.painter.galley(place.min, galley, ink);
            self.written.push(place);
        }
    }
}

/// Whether a line runs through a rectangle.
fn crosses([from, to]: [Pos2; 2], rect: Rect) -> bool {
    /// Distance of the places that are looked at.
    const EVERY: f32 = 3.0;
    let count = ((to - from).length() / EVERY).ceil().max(1.0);
    (0..=count as usize).any(|step| rect.contains(from.lerp(to, step as f32 / count)))
}

fn middle(places: &[Point]) -> Point {
    let share = 1.0 / places.len().max(1) as f32;
    places.iter().fold([0.0; 3], |sum, place| add(sum, place.map(|x| x * share)))
}

/// Around the mean of the places.
fn ball_around(places: &[Point]) -> (Point, f32) {
    let middle = middle(places);
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
