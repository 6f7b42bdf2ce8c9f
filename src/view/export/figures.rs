//! Figures in a text: tables and rankings, as HTML with shading or as plain text and Markdown, and plots as SVG for
//! light and dark backgrounds. Everything in a plot but its lines has the text colour of the page, `currentColor`, or a
//! middle grey if the page sets none.

use std::fmt::Write;
use std::iter;
use std::ops::RangeInclusive;

use super::escaped;
use pulldown_cmark::{Alignment, Event, Tag};

use super::events::{element, words};
use attune_engine::code::readable;

use crate::view_model::output::{Digits, PlotModel, RankingModel, TableModel, full, written};

/// The largest number of tables, rows and columns to write; a larger tensor is cut off.
#[derive(Clone, Copy, Debug)]
pub struct Most {
    parts: usize,
    rows: usize,
    cols: usize,
}

pub const HTML: Most = Most { parts: 16, rows: 100, cols: 64 };
pub const TEXT: Most = Most { parts: 8, rows: 40, cols: 16 };

/// The colour of negative numbers, as its red, green and blue parts: a blue that is visible on light and dark
/// backgrounds. The opacity shows the size of the number.
const NEGATIVE: &str = "47,127,208";
/// The colour of positive numbers: orange.
const POSITIVE: &str = "222,112,28";
/// The opacity behind the number of the largest magnitude; a higher one would make the digits hard to read.
const OPACITY_MAX: f32 = 0.55;

impl Most {
    pub fn rows(self) -> usize {
        self.rows
    }

    pub fn cols(self) -> usize {
        self.cols
    }

    fn of(self, table: &TableModel) -> Self {
        Self {
            parts: table.parts().min(self.parts),
            rows: table.rows().min(self.rows),
            cols: table.cols().min(self.cols),
        }
    }

    /// Returns a sentence about what is left out; `None` if the whole tensor is shown.
    fn note(self, table: &TableModel) -> Option<String> {
        let of = |shown: usize, all: usize, what: &str| (shown < all).then(|| format!("{shown} of {all} {what}"));
        let cut = [
            of(self.parts, table.parts(), "tables"),
            of(self.rows, table.rows(), "rows"),
            of(self.cols, table.cols(), "columns"),
        ];
        let cut: Vec<String> = cut.into_iter().flatten().collect();
        (!cut.is_empty()).then(|| format!("Shown are the first {} of the {} tensor.", cut.join(", "), table.shape()))
    }
}

/// Returns the index and the caption of each table of the tensor that is shown.
fn captions(table: &TableModel, most: Most) -> impl Iterator<Item = (usize, String)> {
    let several = table.parts() > 1;
    let name = if table.caption.is_empty() { table.name.clone() } else { table.caption.to_string() };
    (0..most.parts).map(move |part| {
        let caption = match (several, name.is_empty()) {
            (false, _) => name.clone(),
            (true, true) => format!("[{}]", table.part_name(part)),
            (true, false) => format!("{name}[{}]", table.part_name(part)),
        };
        (part, caption)
    })
}

fn digits(table: &TableModel) -> Digits {
    table.digits().first().copied().unwrap_or(Digits::Power)
}

fn shade(table: &TableModel, number: f64) -> String {
    let Some(share) = table.share(number).filter(|share| *share != 0.0) else { return String::new() };
    let hue = if share < 0.0 { NEGATIVE } else { POSITIVE };
    format!(" style=\"background-color:rgba({hue},{:.2})\"", share.abs() * OPACITY_MAX)
}

/// Returns a shaded table with the labels of its axes. Hovering over a number shows all its digits.
pub fn table_html(table: &TableModel) -> String {
    let most = HTML.of(table);
    let mut text = String::new();
    for (part, caption) in captions(table, most) {
        text.push_str("<div class=\"scroll\"><table class=\"heat\">");
        if !caption.is_empty() {
            let _ = write!(text, "<caption>{}</caption>", escaped(&caption));
        }
        text.push_str("<thead><tr><th></th>");
        for col in 0..most.cols {
            let _ = write!(text, "<th scope=\"col\">{}</th>", escaped(&table.col_name(col)));
        }
        text.push_str("</tr></thead><tbody>");
        for row in 0..most.rows {
            let _ = write!(text, "<tr><th scope=\"row\">{}</th>", escaped(&table.row_name(row)));
            for col in 0..most.cols {
                let number = table.entry(part, row, col);
                let shown = written(number, digits(table));
                let _ = write!(text, "<td{} title=\"{}\">{shown}</td>", shade(table, number), full(number));
            }
            text.push_str("</tr>");
        }
        text.push_str("</tbody></table></div>");
    }
    if let Some(note) = most.note(table) {
        let _ = write!(text, "<p class=\"note\">{}</p>", escaped(&note));
    }
    text
}

/// Returns the lines of one table of the tensor, with the names of its rows and columns.
fn lines(table: &TableModel, most: Most, part: usize) -> Vec<Vec<String>> {
    let header = iter::once(String::new()).chain((0..most.cols).map(|col| table.col_name(col)));
    let row = |row: usize| {
        let numbers = (0..most.cols).map(|col| written(table.entry(part, row, col), digits(table)));
        iter::once(table.row_name(row)).chain(numbers).collect()
    };
    iter::once(header.collect()).chain((0..most.rows).map(row)).collect()
}

/// Returns the table as plain text in columns.
pub fn table_plain(table: &TableModel) -> String {
    let most = TEXT.of(table);
    let mut text = String::new();
    for (part, caption) in captions(table, most) {
        if !caption.is_empty() {
            let _ = writeln!(text, "{caption}");
        }
        let lines = lines(table, most, part);
        let width = |col: usize| lines.iter().map(|line| line[col].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..=most.cols).map(width).collect();
        for line in &lines {
            let cells: Vec<String> = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:>width$}")).collect();
            let _ = writeln!(text, "{}", cells.join("  ").trim_end());
        }
    }
    text.extend(most.note(table));
    text.truncate(text.trim_end().len());
    text
}

/// Returns the blocks of Markdown for each table, its caption, and the note on what is left out.
pub fn table_blocks(table: &TableModel) -> Vec<Vec<Event<'static>>> {
    let most = TEXT.of(table);
    let mut blocks = Vec::new();
    for (part, caption) in captions(table, most) {
        if !caption.is_empty() {
            blocks.push(element(Tag::Paragraph, [words(&one_line(&caption))]));
        }
        blocks.push(grid(lines(table, most, part)));
    }
    if let Some(note) = most.note(table) {
        blocks.push(element(Tag::Paragraph, element(Tag::Emphasis, [words(&note)])));
    }
    blocks
}

/// Returns a Markdown table, with words aligned left and numbers aligned right.
pub fn grid(lines: impl IntoIterator<Item = Vec<String>>) -> Vec<Event<'static>> {
    let mut lines = lines.into_iter();
    let header = lines.next().unwrap_or_default();
    let cells = |texts: Vec<String>| {
        texts.into_iter().flat_map(|text| {
            let text = one_line(&text);
            element(Tag::TableCell, (!text.is_empty()).then(|| words(&text)))
        })
    };
    let alignments =
        iter::once(Alignment::Left).chain(vec![Alignment::Right; header.len().saturating_sub(1)]).collect();
    let head = element(Tag::TableHead, cells(header));
    let rows = lines.flat_map(|row| element(Tag::TableRow, cells(row)));
    element(Tag::Table(alignments), head.into_iter().chain(rows))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a table of words, each with its number and a bar behind it.
pub fn ranking_html(ranking: &RankingModel) -> String {
    let mut text = String::from("<table class=\"ranking\"><tbody>");
    for row in &ranking.rows {
        let share = row.share.unwrap_or(0.0);
        let hue = if share < 0.0 { NEGATIVE } else { POSITIVE };
        let end = share.abs() * 100.0;
        // The bar is a gradient behind the number, because Jupyter would drop an element of its own.
        let bar =
            format!("background:linear-gradient(90deg,rgba({hue},{OPACITY_MAX}) {end:.1}%,transparent {end:.1}%)");
        let (word, full) = (escaped(&row.word), full(row.number));
        let _ = write!(
            text,
            "<tr><th scope=\"row\">{word}</th><td class=\"bar\" style=\"{bar}\" title=\"{full}\">{}</td></tr>",
            escaped(&row.shown)
        );
    }
    text.push_str("</tbody></table>");
    text
}

pub fn ranking_plain(ranking: &RankingModel) -> String {
    let width = ranking.rows.iter().map(|row| row.word.chars().count()).max().unwrap_or(0);
    let lines: Vec<String> = ranking.rows.iter().map(|row| format!("{:<width$}  {:>7}", row.word, row.shown)).collect();
    lines.join("\n")
}

pub fn ranking_block(ranking: &RankingModel) -> Vec<Event<'static>> {
    let rows = ranking.rows.iter().map(|row| vec![row.word.to_string(), row.shown.clone()]);
    grid(iter::once(vec!["word".to_owned(), String::new()]).chain(rows))
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 280.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 30.0;
/// The height of the line of names above the plot.
const LEGEND: f64 = 20.0;
const FONT_SIZE: f64 = 12.0;
/// The average width of a character, which determines where the next name begins.
const CHARACTER: f64 = 7.0;
const SWATCH: f64 = 22.0;
const INK: &str = "#7b756c";
/// The colours of lines, which can be told apart without distinguishing red from green, and are visible on light and
/// dark backgrounds.
const LINES: [&str; 6] = ["#d0691b", "#3a80d2", "#1f9a70", "#b5529a", "#97801c", "#7d66d0"];
/// The approximate number of marks on an axis.
const MARKS: f64 = 5.0;

/// A linear scale from numbers to positions on an axis.
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
            // If all numbers are nearly equal, they are drawn in the middle.
            let around = if least.is_normal() { least.abs() / 2.0 } else { 1.0 };
            (least, most) = ((least - around).max(f64::MIN), (most + around).min(f64::MAX));
        }
        Self { range: (least, most), places }
    }

    /// Returns the position of a number. It calculates with halves, so that even the widest range does not overflow.
    fn place(&self, number: f64) -> f64 {
        let (least, most) = (self.range.0 / 2.0, self.range.1 / 2.0);
        self.places.0 + (number / 2.0 - least) / (most - least) * (self.places.1 - self.places.0)
    }

    /// Returns the numbers of the tick marks: round numbers within the range, or its two ends if the range is too
    /// small.
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
        // A rounding error near zero would be written as a power of ten.
        let marks = marks.map(|mark| if mark.abs() < step / 2.0 { 0.0 } else { mark });
        marks.take_while(|mark| *mark <= self.range.1).collect()
    }
}

/// Returns the plot as one SVG element.
pub fn plot_svg(plot: &PlotModel) -> String {
    let points = || plot.lines.iter().flat_map(|line| line.pieces.iter().flatten());
    let rows = [plot.lines.iter().any(|line| !line.name.is_empty()), !plot.axes[1].is_empty()];
    let top = TOP + LEGEND * rows.into_iter().filter(|is_there| *is_there).count() as f64;
    let x = Scale::of(points().map(|point| point[0]), (LEFT, WIDTH - RIGHT));
    let y = Scale::of(points().map(|point| point[1]), (HEIGHT - BOTTOM, top));
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         color=\"{INK}\" font-family=\"system-ui, sans-serif\" font-size=\"{FONT_SIZE}\" role=\"img\" aria-label=\"{0}\"><title>{0}</title>",
        escaped(&plot.summary())
    );
    axes(&mut text, &x, &y);
    axis_names(&mut text, plot, top);
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
            at + FONT_SIZE / 3.0,
            readable(mark)
        );
    }
    for mark in x.marks() {
        let at = x.place(mark);
        let _ = write!(
            text,
            "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{bottom}\" y2=\"{top}\" stroke=\"currentColor\" stroke-opacity=\"0.12\"/>\
             <text x=\"{at:.1}\" y=\"{}\" text-anchor=\"middle\" fill=\"currentColor\">{}</text>",
            bottom + FONT_SIZE * 1.6,
            readable(mark)
        );
    }
}

/// Adds the names of the axes: the vertical axis above the frame, the horizontal one inside it, at its end.
fn axis_names(text: &mut String, plot: &PlotModel, top: f64) {
    let [x, y] = &plot.axes;
    let ends = [(x, "end", WIDTH - RIGHT - 4.0, HEIGHT - BOTTOM - 6.0), (y, "start", LEFT, top - FONT_SIZE / 2.0)];
    for (name, anchor, x, y) in ends.into_iter().filter(|(name, ..)| !name.is_empty()) {
        let name = escaped(name);
        let _ = write!(
            text,
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" fill=\"currentColor\" fill-opacity=\"0.75\">{name}</text>"
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
            TOP + FONT_SIZE / 3.0,
            escaped(&line.name)
        );
        at += SWATCH + CHARACTER * line.name.chars().count() as f64 + SWATCH;
    }
}
