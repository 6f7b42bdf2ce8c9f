//! Tables and rankings, shaded as HTML, and as plain text and Markdown.

use std::fmt::Write;

use pulldown_cmark::{Alignment, Event, Tag};

use super::escape;
use super::prose::{element, words};
use crate::view_model::output::{Digits, RankingModel, TableModel, full, written};

/// Rows and columns of a table that are written; a larger table is cut off.
#[derive(Clone, Copy, Debug)]
pub struct Most {
    parts: usize,
    rows: usize,
    cols: usize,
}

pub const HTML: Most = Most { parts: 16, rows: 100, cols: 64 };
pub const TEXT: Most = Most { parts: 8, rows: 40, cols: 16 };

/// Blue and orange, which read on a light ground and on a dark one; shade is their opacity.
const NEGATIVE: &str = "47,127,208";
const POSITIVE: &str = "222,112,28";
/// The opacity behind the largest number: more would hide the digits.
const OPACITY_MAX: f32 = 0.55;

impl Most {
    fn of(self, table: &TableModel) -> Self {
        Self {
            parts: table.parts().min(self.parts),
            rows: table.rows().min(self.rows),
            cols: table.cols().min(self.cols),
        }
    }

    /// The rows and columns left out, in words.
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

/// Each table of the tensor with what stands above it.
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

/// Shaded, with the words of its axes; every digit is what hovering a number shows.
pub fn html(table: &TableModel) -> String {
    let most = HTML.of(table);
    let mut text = String::new();
    for (part, caption) in captions(table, most) {
        text.push_str("<div class=\"scroll\"><table class=\"heat\">");
        if !caption.is_empty() {
            let _ = write!(text, "<caption>{}</caption>", escape::html(&caption));
        }
        text.push_str("<thead><tr><th></th>");
        for col in 0..most.cols {
            let _ = write!(text, "<th scope=\"col\">{}</th>", escape::html(&table.col_name(col)));
        }
        text.push_str("</tr></thead><tbody>");
        for row in 0..most.rows {
            let _ = write!(text, "<tr><th scope=\"row\">{}</th>", escape::html(&table.row_name(row)));
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
        let _ = write!(text, "<p class=\"note\">{}</p>", escape::html(&note));
    }
    text
}

/// In columns.
pub fn plain(table: &TableModel) -> String {
    let most = TEXT.of(table);
    let mut text = String::new();
    for (part, caption) in captions(table, most) {
        if !caption.is_empty() {
            let _ = writeln!(text, "{caption}");
        }
        let header = std::iter::once(String::new()).chain((0..most.cols).map(|col| table.col_name(col)));
        let mut lines: Vec<Vec<String>> = vec![header.collect()];
        for row in 0..most.rows {
            let numbers = (0..most.cols).map(|col| written(table.entry(part, row, col), digits(table)));
            lines.push(std::iter::once(table.row_name(row)).chain(numbers).collect());
        }
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

/// Blocks of Markdown: each table with what stands above it, and what is left out.
pub fn blocks(table: &TableModel) -> Vec<Vec<Event<'static>>> {
    let most = TEXT.of(table);
    let mut blocks = Vec::new();
    for (part, caption) in captions(table, most) {
        if !caption.is_empty() {
            blocks.push(element(Tag::Paragraph, [words(&one_line(&caption))]));
        }
        let names = std::iter::once(String::new()).chain((0..most.cols).map(|col| table.col_name(col)));
        let rows = (0..most.rows).map(|row| {
            let numbers = (0..most.cols).map(|col| written(table.entry(part, row, col), digits(table)));
            std::iter::once(table.row_name(row)).chain(numbers).collect()
        });
        blocks.push(grid(names.collect(), rows));
    }
    if let Some(note) = most.note(table) {
        blocks.push(element(Tag::Paragraph, element(Tag::Emphasis, [words(&note)])));
    }
    blocks
}

/// A table of Markdown, its words to the left and its numbers to the right.
fn grid(header: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> Vec<Event<'static>> {
    let cells = |texts: Vec<String>| {
        texts.into_iter().flat_map(|text| {
            let text = one_line(&text);
            element(Tag::TableCell, (!text.is_empty()).then(|| words(&text)))
        })
    };
    let mut alignments = vec![Alignment::Right; header.len()];
    alignments[..1].fill(Alignment::Left);
    let head = element(Tag::TableHead, cells(header));
    let rows = rows.flat_map(|row| element(Tag::TableRow, cells(row)));
    element(Tag::Table(alignments), head.into_iter().chain(rows))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Words with a bar each.
pub fn ranking_html(ranking: &RankingModel) -> String {
    let mut text = String::from("<table class=\"ranking\"><tbody>");
    for row in &ranking.rows {
        let share = row.share.unwrap_or(0.0);
        let hue = if share < 0.0 { NEGATIVE } else { POSITIVE };
        let end = share.abs() * 100.0;
        // A bar behind the number: a gradient needs no element of its own, which Jupyter would drop.
        let bar =
            format!("background:linear-gradient(90deg,rgba({hue},{OPACITY_MAX}) {end:.1}%,transparent {end:.1}%)");
        let (word, full) = (escape::html(&row.word), full(row.number));
        let _ = write!(
            text,
            "<tr><th scope=\"row\">{word}</th><td class=\"bar\" style=\"{bar}\" title=\"{full}\">{}</td></tr>",
            escape::html(&row.shown)
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
    grid(vec!["word".to_owned(), String::new()], rows)
}
