//! The pictures of the front page, as vector graphics that move: the opening picture of each lesson, and at the top a
//! sentence in which a word has two meanings.

use std::fmt::Write as _;

use crate::export::escaped;
use crate::view_model::ellipse::{END, Ellipse, LINE, MIDDLE, RIM};
use crate::view_model::pictures::{Sketch, SketchArc, SketchMove};

/// The number of group colours; further groups repeat them.
const HUES: usize = 8;
/// The radius of a word's dot, the radius of the dots at both ends of a move, and the length of an arrow's head.
const DOT: f32 = 1.7;
const END_DOT: f32 = 4.2;
const HEAD: f32 = 9.0;
/// The distance between the tip of an arrow's head and the centre of the dot at the end of the move.
const TIP: f32 = 3.0;
/// The average width of a letter, as a share of the font size. It is used to find free places for names.
const LETTER: f32 = 0.56;
/// The average width of a capital letter in the name of a group and of the space after it, as a share of the font size.
const CAPITAL: f32 = 0.78;

/// The frame of a picture: half its width and half its height, in its own units, and the font size of its names.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    half: [f32; 2],
    /// The share of the width and of the height that points take; the rest is room for names.
    inner: [f32; 2],
    text: f32,
}

/// The frame of the picture on a card; `HERO` is that of the picture at the top of the page, and `NARROW_HERO` the same
/// on a telephone.
pub(super) const CARD: Frame = Frame { half: [190.0, 112.0], inner: [0.82, 0.76], text: 15.0 };
pub(super) const HERO: Frame = Frame { half: [380.0, 132.0], inner: [0.82, 0.76], text: 16.0 };
pub(super) const NARROW_HERO: Frame = Frame { half: [180.0, 112.0], inner: [0.58, 0.76], text: 17.0 };

/// Returns the gradients of all glows, which the pictures of the page share.
pub(super) fn gradients() -> String {
    /// The number of stops that approximate the glow, as on the program's stage.
    const RINGS: usize = 8;
    let mut text = String::from("<svg width=\"0\" height=\"0\" aria-hidden=\"true\"><defs>");
    for hue in 0..HUES {
        let _ = write!(text, "<radialGradient id=\"glow-{hue}\">");
        for ring in 0..=RINGS {
            let share = ring as f32 / RINGS as f32;
            let opacity = MIDDLE * (1.0 - share * share).powi(2);
            let _ = write!(
                text,
                "<stop offset=\"{share}\" stop-color=\"var(--group-{hue})\" stop-opacity=\"{opacity:.3}\"/>"
            );
        }
        text.push_str("</radialGradient>");
    }
    text.push_str("</defs></svg>\n");
    text
}

/// Returns a lesson's opening picture: its groups as glows, and the animated moves of its highlighted words.
pub(super) fn svg(sketch: &Sketch, frame: Frame) -> String {
    let Frame { half: [width, height], inner, text: size } = frame;
    let half = [width * inner[0], height * inner[1]];
    let at = |[x, y]: [f32; 2]| [x * half[0], -y * half[1]];
    let view = format!("{} {} {} {}", -width, -height, 2.0 * width, 2.0 * height);
    let mut text = format!("<svg viewBox=\"{view}\" style=\"font-size:{size}px\" aria-hidden=\"true\">");
    let glows = sketch.glows(half, size);
    glows.iter().for_each(|(group, ellipse)| glow(*group, ellipse, &mut text));
    for (place, group) in &sketch.dots {
        let [x, y] = at(*place);
        let _ = write!(text, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{DOT}\"{}/>", class_of(*group));
    }
    let mut names = Names { frame, taken: Vec::new() };
    for way in &sketch.moves {
        let [start, end] = [way.start, way.end].map(at);
        names.taken.extend([around(start, END_DOT), around(end, END_DOT)]);
    }
    for way in &sketch.moves {
        let [start, end] = [way.start, way.end].map(at);
        arrow(way, sketch.reached(way), [start, end], &mut names, &mut text);
    }
    for (name, place, group) in &sketch.crowds {
        let rim = glows.iter().find(|(of, _)| of == group).map_or(0.0, |(_, ellipse)| RIM * ellipse.deviations[0]);
        let name = name.to_uppercase();
        if let Some([x, y]) = names.place(&name, at(*place), rim.max(END_DOT) + size / 2.0) {
            let _ = write!(
                text,
                "<text class=\"crowd g{}\" x=\"{x:.1}\" y=\"{y:.1}\">{}</text>",
                group % HUES,
                escaped(&name)
            );
        }
    }
    text.push_str("</svg>");
    text
}

fn class_of(group: Option<usize>) -> String {
    group.map_or_else(String::new, |group| format!(" class=\"g{}\"", group % HUES))
}

fn glow(group: usize, ellipse: &Ellipse, text: &mut String) {
    let ([x, y], [long, short]) = (ellipse.middle, ellipse.deviations);
    let (turn, hue) = (ellipse.angle.to_degrees(), group % HUES);
    let place = format!("transform=\"translate({x:.1} {y:.1}) rotate({turn:.1})\"");
    for (reach, look) in
        [(END, format!("fill=\"url(#glow-{hue})\"")), (RIM, format!("class=\"rim g{hue}\" stroke-opacity=\"{LINE}\""))]
    {
        let (rx, ry) = (long * reach, short * reach);
        let _ = write!(text, "<ellipse {place} rx=\"{rx:.1}\" ry=\"{ry:.1}\" {look}/>");
    }
}

/// Adds the animated move of a word: a line that grows, and its end with an arrow's head and the word's name.
fn arrow(way: &SketchMove, reached: Option<usize>, [start, end]: [[f32; 2]; 2], names: &mut Names, text: &mut String) {
    let ([x, y], [to_x, to_y]) = (start, end);
    let length = (to_x - x).hypot(to_y - y);
    let hue = class_of(reached);
    let _ = write!(text, "<circle class=\"left\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{END_DOT}\"/>");
    let _ = write!(
        text,
        "<g{hue}><line class=\"way\" pathLength=\"1\" x1=\"{x:.1}\" y1=\"{y:.1}\" x2=\"{to_x:.1}\" y2=\"{to_y:.1}\"/>"
    );
    let _ = write!(text, "<g class=\"go\" style=\"--x:{:.1}px;--y:{:.1}px\">", x - to_x, y - to_y);
    let _ = write!(text, "<circle class=\"end\" cx=\"{to_x:.1}\" cy=\"{to_y:.1}\" r=\"{END_DOT}\"/>");
    if length > HEAD {
        let turn = (to_y - y).atan2(to_x - x).to_degrees();
        let _ = write!(
            text,
            "<path class=\"end\" d=\"M-{TIP} 0 l-{HEAD} {side} v-{HEAD} z\" transform=\"translate({to_x:.1} {to_y:.1}) rotate({turn:.1})\"/>",
            side = HEAD / 2.0
        );
    }
    if let Some([x, y]) = names.place(&way.label, end, END_DOT + HEAD) {
        let _ = write!(text, "<text x=\"{x:.1}\" y=\"{y:.1}\">{}</text>", escaped(&way.label));
    }
    text.push_str("</g></g>");
}

/// The left, top, right and bottom of a rectangle.
type Area = [f32; 4];

fn around([x, y]: [f32; 2], radius: f32) -> Area {
    [x - radius, y - radius, x + radius, y + radius]
}

/// The areas that are taken, so that names do not overlap.
struct Names {
    frame: Frame,
    taken: Vec<Area>,
}

impl Names {
    /// Returns the place for the middle of a name beside a point; `None` if there is no free place in the picture.
    fn place(&mut self, name: &str, [x, y]: [f32; 2], away: f32) -> Option<[f32; 2]> {
        let Frame { half: [width, height], text, .. } = self.frame;
        let letters = name.chars().map(|letter| if letter.is_uppercase() { CAPITAL } else { LETTER });
        let side = letters.sum::<f32>() * text / 2.0 + away;
        let up = text / 2.0 + away;
        let outward = x.signum();
        let sides = [[outward * side, 0.0], [0.0, -up], [0.0, up], [-outward * side, 0.0]];
        let areas = sides.map(|[right, down]| {
            let half = (side - away, text / 2.0);
            ([x + right, y + down], [x + right - half.0, y + down - half.1, x + right + half.0, y + down + half.1])
        });
        let is_free = |[left, top, right, bottom]: &Area| {
            let is_inside = *left >= -width && *right <= width && *top >= -height && *bottom <= height;
            is_inside
                && !self
                    .taken
                    .iter()
                    .any(|other| *left < other[2] && *right > other[0] && *top < other[3] && *bottom > other[1])
        };
        let (place, area) = areas.into_iter().find(|(_, area)| is_free(area))?;
        self.taken.push(area);
        Some(place)
    }
}

/// The font size of the sentence, the gap between two words, and the height of the arcs above them.
const WORD: f32 = 40.0;
const GAP: f32 = 12.0;
const ARCS: f32 = 70.0;

/// Returns the sentence as a picture for each of its lines, with arcs from the words that move to the words of the same
/// line at which they look, in the hues of the groups that they reach.
pub(super) fn sentence(sketch: &Sketch, lines: usize) -> String {
    let widths: Vec<f32> = sketch.sentence.iter().map(|word| word.chars().map(letter).sum::<f32>() * WORD).collect();
    let all: f32 = widths.iter().map(|width| width + GAP).sum();
    let lefts = widths.iter().scan(GAP / 2.0, |next, width| {
        let left = *next;
        *next += width + GAP;
        Some(left)
    });
    let lefts: Vec<f32> = lefts.collect();
    let middle = |word: usize| lefts[word] + widths[word] / 2.0;
    let line_of = |word: usize| (middle(word) / all * lines as f32) as usize;
    let words: Vec<usize> = (0..widths.len()).collect();
    let lines: Vec<&[usize]> = words.chunk_by(|one, next| line_of(*one) == line_of(*next)).collect();
    let width = |line: &[usize]| line.iter().map(|word| widths[*word] + GAP).sum();
    let widest = lines.iter().map(|line| width(line)).fold(0.0, f32::max);
    let (base, height) = (ARCS + WORD, ARCS + 1.35 * WORD);
    let mut text = String::new();
    for line in lines {
        let start = lefts[line[0]] - GAP / 2.0;
        let _ = write!(
            text,
            "<svg class=\"sentence\" viewBox=\"{start:.0} 0 {widest:.0} {height:.0}\" style=\"font-size:{WORD}px;max-width:{widest:.0}px\" aria-hidden=\"true\">"
        );
        for arc in sketch.arcs.iter().filter(|arc| line.contains(&arc.query) && line.contains(&arc.key)) {
            text.push_str(&arc_path(arc, [arc.query, arc.key].map(middle), widest));
        }
        for word in line {
            let group = sketch.arcs.iter().find(|arc| arc.query == *word).and_then(|arc| arc.group);
            let (class, left, width) = (class_of(group), lefts[*word], widths[*word]);
            let word = escaped(&sketch.sentence[*word]);
            let _ = write!(text, "<text{class} x=\"{left:.0}\" y=\"{base}\" textLength=\"{width:.0}\">{word}</text>");
        }
        text.push_str("</svg>");
    }
    text
}

/// Returns an arc between the middles of two words, in a sentence of this width.
fn arc_path(arc: &SketchArc, [from, to]: [f32; 2], width: f32) -> String {
    /// The least height of an arc, as a share of the largest.
    const LEAST: f32 = 0.34;
    /// The height of the middle of a curve, as a share of that of its control points.
    const BULGE: f32 = 0.75;
    /// The width of an arc of weight 0, and what a weight of 1 adds.
    const WIDTH: (f32, f32) = (0.6, 10.0);
    let top = ARCS + GAP / 2.0;
    let up = top - ARCS * (LEAST + (1.0 - LEAST) * ((to - from).abs() / width).sqrt()) / BULGE;
    let (class, thick, opacity) = (class_of(arc.group), WIDTH.0 + WIDTH.1 * arc.weight, arc.weight.sqrt());
    format!(
        "<path{class} d=\"M{from:.0} {top} C{from:.0} {up:.0} {to:.0} {up:.0} {to:.0} {top}\" stroke-width=\"{thick:.1}\" \
         stroke-opacity=\"{opacity:.2}\"/>"
    )
}

/// Returns the width of a letter as a share of the text's size. The browser stretches a word to the sum, which only has
/// to be near the truth.
fn letter(letter: char) -> f32 {
    match letter {
        'i' | 'j' | 'l' | '.' | ',' | '\'' | '!' => 0.28,
        'f' | 't' | 'r' | '₁' | '₂' | '₃' => 0.39,
        'm' | 'w' | 'M' | 'W' => 0.86,
        _ => 0.6,
    }
}
