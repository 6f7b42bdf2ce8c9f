//! The filmstrip of a model with several layers: a frame for each layer, with the words after it along the first two
//! axes, and the paths of the followed words drawn through all frames. All frames have one scale.

use std::ops::RangeInclusive;

use attune_ui::theme::{self, Palette, size};
use attune_view::explain::walk::RouteModel;
use egui::{Align2, Color32, Painter, Pos2, Rect, Stroke, StrokeKind, Vec2, vec2};

/// Widths of a frame; a narrower one has no room for a picture.
const WIDTHS: RangeInclusive<f32> = 30.0..=120.0;
/// Height of a frame, as a share of its width.
const HEIGHT: f32 = 2.0 / 3.0;
/// Gap between two frames.
const BETWEEN: f32 = 4.0;
/// Width from which a frame has room for the name of the last layer's end.
const NAMED_FROM: f32 = 72.0;
/// Room between a frame's edge and the farthest point.
const MARGIN: f32 = 6.0;
/// Radius of a word.
const DOT: f32 = 1.5;
/// Radius of a followed word.
const FOLLOWED: f32 = 3.0;
const PATH_WIDTH: f32 = 2.0;
/// A first token that is this many times as far from the middle as all others is left out of the scale.
const FAR: f32 = 3.0;

/// Returns the size of the frames if their middles are `apart`, or `None` if there is too little room for pictures.
pub fn frame(apart: f32) -> Option<Vec2> {
    let width = (apart - BETWEEN).min(*WIDTHS.end());
    WIDTHS.contains(&width).then(|| vec2(width, (width * HEIGHT).round()))
}

/// A word whose path is drawn: its position, and its group or else the one that it reaches.
pub type FollowedWord = (usize, Option<usize>);

/// The frames, each centred at the end of its layer.
pub struct Filmstrip<'a> {
    route: &'a RouteModel,
    frames: Vec<Rect>,
    /// Middle of the words along each axis.
    middle: [f32; 2],
    /// Greatest distance of a word from the middle.
    reach: f32,
}

impl<'a> Filmstrip<'a> {
    pub fn of(route: &'a RouteModel, frames: Vec<Rect>) -> Self {
        let stops = || (0..route.layers.len()).flat_map(|layer| route.after(layer).enumerate());
        let within = |is_counted: fn(usize) -> bool| {
            let counted = stops().filter(move |(token, at)| is_counted(*token) && at.iter().all(|x| x.is_finite()));
            Scope::of(counted.map(|(_, [x, y, _])| [x, y]))
        };
        let (all, others) = (within(|_| true), within(|token| token > 0));
        let scope = if all.reach > FAR * others.reach && others.reach > f32::MIN_POSITIVE { others } else { all };
        Self { route, frames, middle: scope.middle, reach: scope.reach }
    }

    /// Returns the place of a word after a layer, kept within the layer's frame and, in a frame that is named, below
    /// the name.
    pub fn place(&self, layer: usize, [x, y, _]: [f32; 3]) -> Pos2 {
        let whole = self.frames[layer];
        let name = if whole.width() >= NAMED_FROM { size::LABEL_AXIS } else { 0.0 };
        let frame = whole.with_min_y(whole.top() + name);
        let half = frame.size() / 2.0 - Vec2::splat(MARGIN);
        let along = |value: f32, axis: usize| ((value - self.middle[axis]) / self.reach).clamp(-1.0, 1.0);
        frame.center() + vec2(along(x, 0) * half.x, -along(y, 1) * half.y)
    }

    /// Returns the places of a word after each layer.
    pub fn path(&self, word: usize) -> Vec<Pos2> {
        let after = |layer: usize| Some(self.place(layer, self.route.way(word, layer)?.1));
        (0..self.frames.len()).filter_map(after).filter(|at| at.is_finite()).collect()
    }

    /// Paints the frames and the paths. `passed` is the number of layers passed, `here` the frame with a ring around it
    /// and the ring's colour, and `end` the name of the last layer's end.
    pub fn paint(
        &self,
        painter: &Painter,
        palette: &Palette,
        (passed, here): (usize, Option<(usize, Color32)>),
        followed: &[FollowedWord],
        end: &str,
    ) {
        for layer in 0..self.frames.len() {
            let ring = here.filter(|(at, _)| *at == layer).map(|(_, ring)| ring);
            self.paint_frame(painter, palette, layer, (layer < passed, ring), end);
        }
        for (word, group) in followed {
            let hue = group.map_or(palette.accent, |group| palette.group(group));
            let path = self.path(*word);
            let way = Stroke::new(PATH_WIDTH, palette.dimmed(hue));
            for ends in path.windows(2) {
                painter.line_segment([ends[0], ends[1]], way);
            }
            for (layer, at) in path.iter().enumerate() {
                painter.circle_filled(*at, FOLLOWED, if layer < passed { hue } else { palette.dimmed(hue) });
            }
        }
    }

    fn paint_frame(
        &self,
        painter: &Painter,
        palette: &Palette,
        layer: usize,
        (is_passed, ring): (bool, Option<Color32>),
        end: &str,
    ) {
        let (rect, radius) = (self.frames[layer], f32::from(size::RADIUS_SMALL));
        // The frames are pictures, so that only their edges have the accent.
        let (fill, ink) = if is_passed { (palette.raised, palette.ink) } else { (palette.stage, palette.ink_soft) };
        let width = if ring.is_some() { size::OUTLINE } else { size::HAIRLINE };
        let edge = Stroke::new(width, ring.unwrap_or_else(|| palette.stop(is_passed)));
        painter.rect_filled(rect, radius, fill);
        painter.rect_stroke(rect, radius, edge, StrokeKind::Inside);
        let is_last = layer + 1 == self.frames.len();
        let sign = &self.route.layers[layer].sign;
        let name = if is_last && rect.width() >= NAMED_FROM { format!("{sign} {end}") } else { sign.clone() };
        let corner = rect.min + vec2(size::GAP_TIGHT, size::HAIRLINE);
        painter.text(corner, Align2::LEFT_TOP, name, theme::plain(size::LABEL_AXIS), ink);
        for at in self.route.after(layer).filter(|at| at.iter().all(|x| x.is_finite())) {
            painter.circle_filled(self.place(layer, at), DOT, ink);
        }
    }
}

/// The extent of some points: their middle, and the greatest distance from it.
struct Scope {
    middle: [f32; 2],
    reach: f32,
}

impl Scope {
    fn of(points: impl Iterator<Item = [f32; 2]>) -> Self {
        let none = ([f32::INFINITY; 2], [f32::NEG_INFINITY; 2]);
        let (least, most) = points.fold(none, |(least, most), at| {
            let extreme = |of: fn(f32, f32) -> f32, before: [f32; 2]| [0, 1].map(|axis| of(before[axis], at[axis]));
            (extreme(f32::min, least), extreme(f32::max, most))
        });
        let reach = |axis: usize| (most[axis] - least[axis]) / 2.0;
        Self {
            middle: [0, 1].map(|axis| (least[axis] + most[axis]) / 2.0),
            reach: reach(0).max(reach(1)).max(f32::MIN_POSITIVE),
        }
    }
}
