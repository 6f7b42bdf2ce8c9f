//! Panels as HTML: maps as shaded tables, in which hovering over a number shows all its digits; small maps and plots as
//! pictures.

use std::fmt::Write as _;

use super::escaped;
use super::figures::{HTML, plot_svg, ranking_html, table_html};
use super::sheet_svg;
use crate::sheet::{Bars, Fold, FoldContent, Grids, Item, Sheet, Table, Text, Tone};

/// The largest number of map cells that all panels of a page show as tables; further maps are left out.
const CELLS_MAX: usize = 100_000;

/// Writes a sheet as markup, beginning with its title. `cells` is the number of map cells on the page so far.
pub fn html(sheet: &Sheet, cells: &mut usize) -> String {
    let mut markup = Markup { text: String::new(), cells, title: sheet.title };
    markup.put("h2", "", sheet.title);
    sheet.items.iter().for_each(|item| markup.item(item));
    markup.text
}

struct Markup<'a> {
    text: String,
    /// The number of map cells on the page so far.
    cells: &'a mut usize,
    title: &'static str,
}

impl Markup<'_> {
    fn put(&mut self, element: &str, class: &str, text: &str) {
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let _ = write!(self.text, "<{element}{class}>{}</{element}>", escaped(text));
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Heading(title) => self.put("h3", "", title),
            Item::Text(text) => self.words(text),
            Item::Fold(fold) => self.fold(fold),
            Item::Grids(grids) => self.grids(grids),
            Item::Tiles(_) => {
                let picture = sheet_svg::part(item, self.title);
                let _ = write!(self.text, "<figure class=\"scroll\">{picture}</figure>");
            }
            Item::Numbers(numbers) => self.text.push_str(&table_html(&numbers.table)),
            Item::Table(table) => self.table(table),
            Item::Bars(bars) => self.bars(bars),
            Item::Meter(meter) => self.bars(&meter.bars()),
            Item::Plot(plot) => self.text.push_str(&plot_svg(plot)),
            Item::Details { items, .. } => items.iter().for_each(|item| self.item(item)),
            Item::Controls(_) | Item::Scrolls => {}
        }
    }

    fn words(&mut self, text: &Text) {
        match text.tone {
            Tone::Plain | Tone::Warning => self.put("p", "line", &text.words),
            Tone::Soft | Tone::Small | Tone::Tooltip => self.put("p", "note", &text.words),
            Tone::Code => self.put("pre", "", &text.words),
        }
    }

    fn fold(&mut self, Fold { name, detail, about, content, .. }: &Fold) {
        let [name, detail] = [name, detail].map(|text| escaped(text));
        let _ = write!(self.text, "<details><summary><code>{name}</code> {detail}</summary>");
        self.put("p", "note", about);
        match content {
            FoldContent::Numbers(numbers) => self.text.push_str(&table_html(&numbers.table)),
            FoldContent::Value { full, .. } => self.put("pre", "", full),
        }
        self.text.push_str("</details>");
    }

    fn grids(&mut self, Grids { grids, legend, .. }: &Grids) {
        self.put("p", "note", legend);
        let mut left_out = 0;
        for grid in grids {
            let cells = grid.rows.len().min(HTML.rows()) * grid.cols.len().min(HTML.cols());
            if *self.cells + cells > CELLS_MAX {
                left_out += 1;
                continue;
            }
            *self.cells += cells;
            self.text.push_str(&table_html(&grid.table([HTML.rows(), HTML.cols()])));
            if cells < grid.rows.len() * grid.cols.len() {
                let [rows, cols] = [grid.rows.len(), grid.cols.len()];
                self.put("p", "note", &format!("These are the first rows and columns of {rows} × {cols}."));
            }
        }
        if left_out > 0 {
            let words = format!(
                "{left_out} of {} maps are left out, because a page has at most {CELLS_MAX} cells.",
                grids.len()
            );
            self.put("p", "note", &words);
        }
    }

    fn table(&mut self, table: &Table) {
        self.text.push_str("<div class=\"scroll\"><table>");
        if !table.caption.is_empty() {
            self.put("caption", "", &table.caption);
        }
        self.text.push_str("<thead><tr>");
        table.columns.iter().for_each(|name| self.put("th", "", name));
        self.text.push_str("</tr></thead><tbody>");
        for row in &table.rows {
            self.text.push_str("<tr>");
            for cell in row {
                match cell.value {
                    Some(value) => _ = write!(self.text, "<td title=\"{value}\">{}</td>", escaped(&cell.words)),
                    None => self.put("td", "", &cell.words),
                }
            }
            self.text.push_str("</tr>");
        }
        self.text.push_str("</tbody></table></div>");
    }

    fn bars(&mut self, Bars { caption, ranking, .. }: &Bars) {
        if !caption.is_empty() {
            self.put("p", "line", caption);
        }
        self.text.push_str(&ranking_html(ranking));
    }
}
