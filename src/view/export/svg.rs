//! Plots as SVG for light and dark backgrounds: everything but the lines has the colour of the
//! page, `currentColor`, which is a middle grey where the page gives none.

use std::fmt::Write;
use std::ops::RangeInclusive;

use super::escape;
use crate::view_model::output::{PlotModel, short};

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 280.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 30.0;
/// The height of the line of names above the plot.
const LEGEND: f64 = 20.0;
const TEXT: f64 = 12.0;
/// The width of the average character, which places the next name.
const CHARACTER: f64 = 7.0;
const SWATCH: f64 = 22.0;
const INK: &str = "#7b756c";
/// Colours of lines, distinct without red and green, and on both backgrounds.
const LINES: [&str; 6] = ["#d0691b", "#3a80d2", "#1f9a70", "#b5529a", "#97801c", "#7d66d0"];
/// About so many marks on an axis.
const MARKS: f64 = 5.0;

/// An axis from numbers to places.
struct Scale {
    range: (f64, f64),
    places: (f64, f64),
}

impl Scale {
    fn of(numbers: impl Iterator<Item = f64>, places: (f64, f64)) -> Self {
        let (mut least, mut most) = numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        if least > most {
            (least, most) = (0.0, 1.0);
        } else if !(most / 2.0 - least / 2.0).is_normal() {
            // One height, or as good as one: it stands in the middle.
            let around = if least.is_normal() { least.abs() / 2.0 } else { 1.0 };
            (least, most) = ((least - around).max(f64::MIN), (most + around).min(f64::MAX));
        }
        Self { range: (least, most), places }
    }

    /// In halves, so that the widest range stays finite.
    fn place(&self, number: f64) -> f64 {
        let (least, most) = (self.range.0 / 2.0, self.range.1 / 2.0);
        self.places.0 + (number / 2.0 - least) / (most - least) * (self.places.1 - self.places.0)
    }

    /// Round numbers within it.
    fn marks(&self) -> Vec<f64> {
        const ROUND: [f64; 3] = [2.0, 5.0, 10.0];
        const MARKS_MAX: RangeInclusive<i64> = 0..=20;
        let rough = (self.range.1 / MARKS) - (self.range.0 / MARKS);
        let power = 10f64.powf(rough.log10().floor());
        let step = ROUND.into_iter().map(|round| round * power).find(|step| *step >= rough).unwrap_or(rough);
        if !step.is_normal() {
            return vec![self.range.0, self.range.1];
        }
        let first = (self.range.0 / step).ceil();
        let marks = MARKS_MAX.map(|i| (first + i as f64) * step);
        // A zero that is rounded would be written as a power of ten.
        let marks = marks.map(|mark| if mark.abs() < step / 2.0 { 0.0 } else { mark });
        marks.take_while(|mark| *mark <= self.range.1).collect()
    }
}

/// The plot, as one element.
pub fn svg(plot: &PlotModel) -> String {
    let points = || plot.lines.iter().flat_map(|line| line.pieces.iter().flatten());
    let top = if plot.lines.iter().any(|line| !line.name.is_empty()) { TOP + LEGEND } else { TOP };
    let x = Scale::of(points().map(|point| point[0]), (LEFT, WIDTH - RIGHT));
    let y = Scale::of(points().map(|point| point[1]), (HEIGHT - BOTTOM, top));
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         color=\"{INK}\" font-family=\"system-ui, sans-serif\" font-size=\"{TEXT}\" role=\"img\" aria-label=\"{0}\"><title>{0}</title>",
        escape::html(&plot.summary())
    );
    axes(&mut text, &x, &y);
    legend(&mut text, plot);
    for (line, color) in plot.lines.iter().zip(LINES.iter().cycle()) {
        for piece in &line.pieces {
            let places: Vec<String> =
                piece.iter().map(|point| format!("{:.1},{:.1}", x.place(point[0]), y.place(point[1]))).collect();
            let _ = write!(
                text,
                "<polyline fill=\"none\" stroke=\"{color}\" stroke-width=\"2\" stroke-linejoin=\"round\" points=\"{}\"/>",
                places.join(" ")
            );
            for point in piece.iter().filter(|_| line.marked || piece.len() == 1) {
                let (cx, cy) = (x.place(point[0]), y.place(point[1]));
                let _ = write!(text, "<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"3\" fill=\"{color}\"/>");
            }
        }
    }
    text.push_str("</svg>");
    text
}

fn axes(text: &mut String, x: &Scale, y: &Scale) {
    let (bottom, top) = y.places;
    for mark in y.marks() {
        let at = y.place(mark);
        let _ = write!(
            text,
            "<line x1=\"{LEFT}\" x2=\"{}\" y1=\"{at:.1}\" y2=\"{at:.1}\" stroke=\"currentColor\" stroke-opacity=\"{}\"/>\
             <text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"currentColor\">{}</text>",
            WIDTH - RIGHT,
            if mark == 0.0 { 0.55 } else { 0.2 },
            LEFT - 8.0,
            at + TEXT / 3.0,
            short(mark)
        );
    }
    for mark in x.marks() {
        let at = x.place(mark);
        let _ = write!(
            text,
            "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{bottom}\" y2=\"{top}\" stroke=\"currentColor\" stroke-opacity=\"0.12\"/>\
             <text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\" fill=\"currentColor\">{}</text>",
            bottom + TEXT * 1.6,
            short(mark)
        );
    }
}

fn legend(text: &mut String, plot: &PlotModel) {
    let mut at = LEFT;
    for (line, color) in plot.lines.iter().zip(LINES.iter().cycle()).filter(|(line, _)| !line.name.is_empty()) {
        let _ = write!(
            text,
            "<line x1=\"{at}\" x2=\"{}\" y1=\"{TOP}\" y2=\"{TOP}\" stroke=\"{color}\" stroke-width=\"2\"/>\
             <text x=\"{}\" y=\"{}\" fill=\"currentColor\">{}</text>",
            at + SWATCH - 6.0,
            at + SWATCH,
            TOP + TEXT / 3.0,
            escape::html(&line.name)
        );
        at += SWATCH + CHARACTER * line.name.chars().count() as f64 + SWATCH;
    }
}
