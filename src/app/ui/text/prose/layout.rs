//! Layout of a document in a column, without colours. A table's columns are as wide as their text while there is room.
//! Otherwise they are narrowed, then the letters get smaller, and finally the table scrolls.

use std::sync::Arc;

use attune_engine::code::editor::highlight::Span;
use attune_view::view_model::notebook::LiveCellModel;
use egui::epaint::text::FontsView;
use egui::{Pos2, Rect, Vec2, pos2, vec2};
use pulldown_cmark::Alignment;

use super::document::{ProseDocument, TextBlock, TextRun, TextTable};
use super::flow::{
    Face, FillRole, Ink, Inline, ItemKind, LineFit, RunFormat, TASK, TextItem, Tone, fitting, flow, inlines, spoken,
    widths, wrong,
};
use super::formula::Maths;
use crate::text::images::Images;
use crate::theme::{prose, size};

/// The layout of a text cell in a column of a given width.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextLayout {
    pub height: f32,
    pub placed: Vec<TextItem>,
    /// The texts for screen readers, each with its rectangle.
    pub spoken: Vec<(Rect, String)>,
}

impl TextLayout {
    pub fn of(
        document: &ProseDocument,
        width: f32,
        fonts: &mut FontsView,
        images: &mut Images,
        live: Option<&LiveCellModel>,
    ) -> TextLayout {
        let mut column = TextColumn { fonts, images, live, placed: Vec::new(), spoken: Vec::new(), in_list: false };
        let height = column.blocks(&document.blocks, Pos2::ZERO, width, Ink::Plain);
        TextLayout { height, placed: column.placed, spoken: column.spoken }
    }
}

pub(super) struct TextColumn<'a, 'f> {
    pub fonts: &'a mut FontsView<'f>,
    pub images: &'a mut Images,
    /// The values of the expressions in the text.
    pub live: Option<&'a LiveCellModel>,
    pub placed: Vec<TextItem>,
    pub spoken: Vec<(Rect, String)>,
    /// Whether blocks are within a list, where nested lists have smaller gaps.
    pub in_list: bool,
}

impl TextColumn<'_, '_> {
    /// Lays out the blocks below `top` and returns their height.
    fn blocks(&mut self, blocks: &[TextBlock], top: Pos2, width: f32, ink: Ink) -> f32 {
        let mut y = 0.0;
        for (i, block) in blocks.iter().enumerate() {
            if i > 0 {
                y += gap(&blocks[i - 1], block, self.in_list);
            }
            y += self.block(block, top + vec2(0.0, y), width, ink);
        }
        y
    }

    fn block(&mut self, block: &TextBlock, top: Pos2, width: f32, ink: Ink) -> f32 {
        match block {
            TextBlock::Paragraph(runs) => self.text(runs, Tone { ink, ..Tone::BODY }, prose::STRUT, top, width),
            TextBlock::Heading(level, runs) => {
                let size = prose::HEADINGS[level.saturating_sub(1).min(prose::HEADINGS.len() - 1)];
                self.text(runs, Tone { size, strong: true, ink }, prose::STRUT_HEADING, top, width)
            }
            TextBlock::Code { code, spans } => self.code(code, spans, top, width),
            TextBlock::Quote(inner) => {
                let indent = vec2(prose::QUOTE_INDENT, 0.0);
                let height = self.blocks(inner, top + indent, width - indent.x, Ink::Soft);
                self.fill(top, vec2(prose::QUOTE_BAR, height), FillRole::QuoteBar);
                height
            }
            TextBlock::List { start, items } => self.list(*start, items, top, width, ink),
            TextBlock::Table(table) => set(self, table, top, width),
            TextBlock::Formula(maths) => self.formula(maths, top, width, ink),
            TextBlock::Rule => {
                self.fill(top, vec2(width, size::HAIRLINE), FillRole::Line);
                size::HAIRLINE
            }
        }
    }

    fn text(&mut self, runs: &[TextRun], tone: Tone, strut: (f32, f32), top: Pos2, width: f32) -> f32 {
        let inlines = inlines(runs, tone, width, self.images, self.live);
        let strut = (strut.0 * tone.size, strut.1 * tone.size);
        let set = self.placed.len();
        let size = self.lines(&inlines, LineFit { width, strut, align: 0.0 }, top);
        self.speak(Rect::from_min_size(top, vec2(width, size.y)), spoken(runs, self.live), set);
        size.y
    }

    /// Adds `text` for screen readers as the description of the items placed since `set`. A single text item that reads
    /// the same needs no description.
    pub(super) fn speak(&mut self, place: Rect, text: String, set: usize) {
        let itself = match &self.placed[set..] {
            [TextItem { what: ItemKind::Text { text: shown, .. }, .. }] => *shown == text,
            _ => text.trim().is_empty(),
        };
        if !itself {
            self.spoken.push((place, text));
        }
    }

    pub(super) fn lines(&mut self, inlines: &[Inline], measure: LineFit, top: Pos2) -> Vec2 {
        flow(inlines, measure, top, self.fonts, &mut self.placed)
    }

    pub(super) fn fill(&mut self, at: Pos2, size: Vec2, role: FillRole) {
        self.placed.push(TextItem { at, what: ItemKind::Fill { size, role } });
    }

    fn code(&mut self, code: &str, spans: &Arc<[Span]>, top: Pos2, width: f32) -> f32 {
        let (padding_x, padding_y) = prose::CODE_PADDING;
        // Long lines are wrapped as in a code cell, because scrolling sideways would hide their ends.
        let wrap = (width - 2.0 * padding_x).max(0.0);
        let format = RunFormat { face: Face::Mono, spans: spans.clone(), wrap, ..RunFormat::plain(prose::CODE) };
        let galley = self.fonts.layout_job(format.job(code));
        let ascent = galley.rows.first().and_then(|row| row.glyphs.first()).map_or(0.0, |glyph| glyph.pos.y);
        // The last line has no line after it, so its extra spacing is left out.
        let leading =
            galley.rows.last().map_or(0.0, |row| row.size.y - row.glyphs.first().map_or(0.0, |g| g.font_height));
        let content = galley.size() + vec2(2.0 * padding_x, 2.0 * padding_y - leading.max(0.0));
        let what = ItemKind::Text { text: code.to_owned(), format, width: galley.size().x };
        let at = pos2(padding_x, padding_y + ascent);
        let fill = ItemKind::Fill { size: vec2(width, content.y), role: FillRole::CodeBlock };
        self.placed.push(TextItem { at: top, what: fill });
        self.placed.push(TextItem { at: top + at.to_vec2(), what });
        content.y
    }

    /// Places content that is wider than the column in an area that scrolls. Returns the height of the area.
    pub(super) fn scroll(&mut self, at: Pos2, width: f32, content: Vec2, inner: Vec<TextItem>) -> f32 {
        let size = vec2(width, content.y + prose::SCROLL_BAR);
        self.placed.push(TextItem { at, what: ItemKind::Scroll { size, content, inner } });
        size.y
    }

    fn formula(&mut self, maths: &Arc<Maths>, top: Pos2, width: f32, ink: Ink) -> f32 {
        let formula = match &maths.formula {
            Ok(formula) => formula,
            Err(why) => {
                let tone = Tone::BODY;
                let strut = (prose::STRUT.0 * tone.size, prose::STRUT.1 * tone.size);
                let measure = LineFit { width, strut, align: 0.0 };
                return self.lines(&[wrong(&maths.source, why, tone)], measure, top).y;
            }
        };
        let scale = fitting(Tone::BODY.size * prose::MATHS, formula.width, width);
        let content = vec2(formula.width, formula.ascent + formula.descent) * scale;
        let what = ItemKind::Formula { maths: maths.clone(), size: scale, ink };
        let baseline = formula.ascent * scale;
        let height = if content.x <= width {
            let left = (width - content.x) / 2.0;
            self.placed.push(TextItem { at: top + vec2(left, baseline), what });
            content.y
        } else {
            self.scroll(top, width, content, vec![TextItem { at: pos2(0.0, baseline), what }])
        };
        self.spoken.push((Rect::from_min_size(top, vec2(width, height)), maths.source.clone()));
        height
    }

    fn list(&mut self, start: Option<u64>, items: &[Vec<TextBlock>], top: Pos2, width: f32, ink: Ink) -> f32 {
        let format = RunFormat { ink: Ink::Soft, ..RunFormat::plain(Tone::BODY.size) };
        let numbers: Vec<(String, f32)> = match start {
            Some(first) => (first..).take(items.len()).map(|n| self.number(n, &format)).collect(),
            None => Vec::new(),
        };
        let widest = numbers.iter().map(|(_, width)| *width).fold(0.0, f32::max);
        let indent = prose::INDENT.max(widest + prose::MARKER_GAP);
        let baseline = prose::STRUT.0 * Tone::BODY.size;
        let outer = std::mem::replace(&mut self.in_list, true);
        let mut y = 0.0;
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                y += prose::ITEM_GAP;
            }
            let corner = top + vec2(0.0, y);
            let end = corner + vec2(indent - prose::MARKER_GAP, baseline);
            let (task, content) = split_task(item);
            match (task, numbers.get(i)) {
                (Some(done), _) => {
                    let at = pos2(end.x - TASK.x, end.y - TASK.y);
                    self.placed.push(TextItem { at, what: ItemKind::Task(done) });
                }
                (None, Some((text, width))) => {
                    let what = ItemKind::Text { text: text.clone(), format: format.clone(), width: *width };
                    self.placed.push(TextItem { at: end - vec2(*width, 0.0), what });
                }
                (None, None) => {
                    /// Half of the x-height, in em.
                    const MIDDLE: f32 = 0.27;
                    let at = end - vec2(prose::BULLET, MIDDLE * Tone::BODY.size + prose::BULLET / 2.0);
                    self.fill(at, Vec2::splat(prose::BULLET), FillRole::Bullet);
                }
            }
            y += self.blocks(&content, corner + vec2(indent, 0.0), width - indent, ink).max(baseline);
        }
        self.in_list = outer;
        y
    }

    fn number(&mut self, n: u64, format: &RunFormat) -> (String, f32) {
        let text = format!("{n}.");
        let width = self.fonts.layout_job(format.job(&text)).size().x;
        (text, width)
    }
}

/// Separates the checkbox of a task, which replaces the item's bullet, from the rest of the item.
fn split_task(item: &[TextBlock]) -> (Option<bool>, std::borrow::Cow<'_, [TextBlock]>) {
    if let Some(TextBlock::Paragraph(runs)) = item.first()
        && let Some(TextRun::Task(done)) = runs.first()
    {
        let mut rest = item.to_vec();
        rest[0] = TextBlock::Paragraph(runs[1..].to_vec());
        return (Some(*done), rest.into());
    }
    (None, item.into())
}

/// Returns the gap between two blocks.
fn gap(above: &TextBlock, below: &TextBlock, in_list: bool) -> f32 {
    match (above, below) {
        (_, TextBlock::List { .. }) if in_list => prose::ITEM_GAP,
        (TextBlock::Heading(..), TextBlock::Formula(_)) => prose::FORMULA_GAP,
        (TextBlock::Heading(..), _) => prose::AFTER_HEADING,
        (_, TextBlock::Heading(..)) => prose::HEADING_GAP,
        (TextBlock::Formula(_) | TextBlock::Rule | TextBlock::Table(_), _)
        | (_, TextBlock::Formula(_) | TextBlock::Rule) => prose::FORMULA_GAP,
        _ => prose::PARAGRAPH_GAP,
    }
}

/// The factor by which a step makes a table's letters smaller.
const SHRINK: f32 = 0.9;
/// The largest number of steps, which gives about three quarters of the size.
const SHRINKS: usize = 3;

/// Lays out `table` below `top` and returns its height.
pub(super) fn set(column: &mut TextColumn, table: &TextTable, top: Pos2, width: f32) -> f32 {
    let (mut letters, mut rows, mut columns) = (size::BODY, Vec::new(), Vec::new());
    let mut content = f32::INFINITY;
    // Letters are made smaller, as far as they stay readable, before the table scrolls.
    for _ in 0..=SHRINKS {
        rows = cells(column, table, width, letters);
        columns = column_widths(column, &rows, table.columns.len(), width, letters);
        content = columns.iter().sum::<f32>() + gaps(columns.len(), letters);
        if content <= width + size::HAIRLINE {
            break;
        }
        letters *= SHRINK;
    }
    let scrolls = content > width + size::HAIRLINE;
    // The content of a scrolling table is placed separately.
    let outer = scrolls.then(|| std::mem::take(&mut column.placed));
    let corner = if scrolls { Pos2::ZERO } else { top };
    let height = set_rows(column, table, &rows, &columns, letters, corner, top);
    match outer {
        None => height,
        Some(outer) => {
            let inner = std::mem::replace(&mut column.placed, outer);
            column.scroll(top, width, vec2(content, height), inner)
        }
    }
}

fn cells(column: &mut TextColumn, table: &TextTable, width: f32, size: f32) -> Vec<Vec<Vec<Inline>>> {
    let tone = |row| Tone { strong: row == 0, size, ink: Ink::Plain };
    let rows = table.rows.iter().enumerate();
    rows.map(|(i, row)| row.iter().map(|cell| inlines(cell, tone(i), width, column.images, column.live)).collect())
        .collect()
}

/// Returns the space on each side of a column, which is smaller with smaller letters.
fn padding(letters: f32) -> f32 {
    const CLOSE: f32 = 0.5;
    prose::CELL_PADDING.0 * if letters < size::BODY { CLOSE } else { 1.0 }
}

fn gaps(columns: usize, letters: f32) -> f32 {
    2.0 * padding(letters) * columns.saturating_sub(1) as f32
}

fn column_widths(
    column: &mut TextColumn,
    rows: &[Vec<Vec<Inline>>],
    columns: usize,
    width: f32,
    letters: f32,
) -> Vec<f32> {
    let mut least = vec![0.0f32; columns];
    let mut natural = vec![0.0f32; columns];
    for row in rows {
        for (i, cell) in row.iter().enumerate() {
            let (word, line) = widths(cell, column.fonts);
            least[i] = least[i].max(word.max(prose::COLUMN_MIN * letters / size::BODY).min(line));
            natural[i] = natural[i].max(line);
        }
    }
    let room = width - gaps(columns, letters);
    let (least_sum, natural_sum) = (least.iter().sum::<f32>(), natural.iter().sum::<f32>());
    if natural_sum <= room {
        return natural;
    }
    let share = ((room - least_sum) / (natural_sum - least_sum)).max(0.0);
    least.iter().zip(&natural).map(|(least, natural)| least + (natural - least) * share).collect()
}

fn set_rows(
    column: &mut TextColumn,
    table: &TextTable,
    rows: &[Vec<Vec<Inline>>],
    columns: &[f32],
    letters: f32,
    corner: Pos2,
    shown_at: Pos2,
) -> f32 {
    let (padding_x, padding_y) = (padding(letters), prose::CELL_PADDING.1);
    let whole = columns.iter().sum::<f32>() + gaps(columns.len(), letters);
    let strut = (prose::STRUT.0 * letters, prose::STRUT.1 * letters);
    let mut y = 0.0;
    for (i, row) in rows.iter().enumerate() {
        let (mut x, mut height) = (0.0, 0.0f32);
        y += if i == 0 { 0.0 } else { padding_y };
        for (j, cell) in row.iter().enumerate() {
            let align = match table.columns[j] {
                Alignment::Center => 0.5,
                Alignment::Right => 1.0,
                Alignment::None | Alignment::Left => 0.0,
            };
            let measure = LineFit { width: columns[j], strut, align };
            let set = column.placed.len();
            let size = column.lines(cell, measure, corner + vec2(x, y));
            let place = Rect::from_min_size(shown_at + vec2(x, y), vec2(columns[j], size.y));
            column.speak(place, spoken(&table.rows[i][j], column.live), set);
            height = height.max(size.y);
            x += columns[j] + 2.0 * padding_x;
        }
        y += height + padding_y;
        column.fill(corner + vec2(0.0, y), vec2(whole, size::HAIRLINE), FillRole::Line);
        y += size::HAIRLINE;
    }
    y
}
