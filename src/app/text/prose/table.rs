//! Tables: columns as wide as their text while there is room, then narrower, then in smaller letters, then scrolled.

use egui::{Pos2, Rect, vec2};
use pulldown_cmark::Alignment;

use super::document::Table;
use super::flow::{Ink, Inline, Measure, Role, widths};
use super::inlines::{Tone, inlines, spoken};
use super::layout::Column;
use crate::app::theme::{prose, size};

/// How much smaller letters get in a step, and the steps: to three quarters of their size.
const SHRINK: f32 = 0.9;
const SHRINKS: usize = 3;

/// Sets `table` below `top`; the height that it takes.
pub(super) fn set(column: &mut Column, table: &Table, top: Pos2, width: f32) -> f32 {
    let (mut letters, mut rows, mut columns) = (size::BODY, Vec::new(), Vec::new());
    let mut content = f32::INFINITY;
    // Smaller letters, as far as they are read, before it scrolls.
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
    // A table that scrolls is set in a place of its own.
    let outer = scrolls.then(|| std::mem::take(&mut column.placed));
    let corner = if scrolls { Pos2::ZERO } else { top };
    let height = set_rows(column, table, &rows, (&columns, letters), corner, top);
    match outer {
        None => height,
        Some(outer) => {
            let inner = std::mem::replace(&mut column.placed, outer);
            column.scroll(top, width, vec2(content, height), inner)
        }
    }
}

fn cells(column: &mut Column, table: &Table, width: f32, size: f32) -> Vec<Vec<Vec<Inline>>> {
    let tone = |row| Tone { strong: row == 0, size, ink: Ink::Plain };
    let rows = table.rows.iter().enumerate();
    rows.map(|(i, row)| row.iter().map(|cell| inlines(cell, tone(i), width, column.images, column.live)).collect())
        .collect()
}

/// Room on each side of a column; where letters are smaller, columns are closer together.
fn padding(letters: f32) -> f32 {
    const CLOSE: f32 = 0.5;
    prose::CELL_PADDING.0 * if letters < size::BODY { CLOSE } else { 1.0 }
}

fn gaps(columns: usize, letters: f32) -> f32 {
    2.0 * padding(letters) * columns.saturating_sub(1) as f32
}

fn column_widths(column: &mut Column, rows: &[Vec<Vec<Inline>>], columns: usize, width: f32, letters: f32) -> Vec<f32> {
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
    column: &mut Column,
    table: &Table,
    rows: &[Vec<Vec<Inline>>],
    (columns, letters): (&[f32], f32),
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
            let measure = Measure { width: columns[j], strut, align };
            let set = column.placed.len();
            let size = column.lines(cell, measure, corner + vec2(x, y));
            let place = Rect::from_min_size(shown_at + vec2(x, y), vec2(columns[j], size.y));
            column.speak(place, spoken(&table.rows[i][j], column.live), set);
            height = height.max(size.y);
            x += columns[j] + 2.0 * padding_x;
        }
        y += height + padding_y;
        column.fill(corner + vec2(0.0, y), vec2(whole, size::HAIRLINE), Role::Line);
        y += size::HAIRLINE;
    }
    y
}
