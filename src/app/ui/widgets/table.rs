//! Tables of numbers, with colours that show the sign and size. Only visible cells are drawn.

use std::ops::Range;

use attune_view::view_model::output::{Digits, TableModel, written};
use egui::{
    Align, Align2, Color32, Id, Label, Layout, Painter, Pos2, Rect, Response, RichText, ScrollArea, Sense, Stroke,
    Tooltip, Ui, UiBuilder, Vec2, WidgetInfo, WidgetType,
};

use super::controls::copy_button;
use super::heat::{Heat, paint_slanted, reach, width_of};
use crate::theme::{self, Palette, size};
use crate::widgets::controls::led_by_arrows;

/// The width of a proportional letter as a share of the font size. It is a high estimate, because words must not be cut
/// off.
const LETTER: f32 = 0.56;

/// Shows a tensor as one or more tables. Returns the entry that was right-clicked: the index of its table, its row
/// and its column.
pub fn table_ui(ui: &mut Ui, table: &TableModel) -> Option<[usize; 3]> {
    let title = if table.caption.is_empty() { &table.name } else { table.caption.as_ref() };
    caption_ui(ui, table, title);
    if table.cols() == 0 || table.rows() == 0 || table.parts() == 0 {
        ui.weak("It has no entries.");
        return None;
    }
    let asked = |part: usize| move |(row, col): (usize, usize)| [part, row, col];
    if table.parts() == 1 {
        return ui.push_id(0, |ui| matrix_ui(ui, table, title, 0)).inner.map(asked(0));
    }
    let gaps = size::GAP_WIDE * (table.parts() - 1) as f32;
    let width = (ui.available_width() - gaps) / table.parts() as f32;
    let plan = TablePlan::of(table, width);
    if plan.digits.is_some() && plan.width() <= width {
        let mut wanted = None;
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = size::GAP_WIDE;
            for part in 0..table.parts() {
                ui.vertical(|ui| {
                    ui.set_max_width(width);
                    let name = table.part_name(part);
                    ui.weak(RichText::new(&name).monospace());
                    let cell = ui.push_id(part, |ui| matrix_ui(ui, table, &format!("{title} {name}"), part)).inner;
                    wanted = wanted.or(cell.map(asked(part)));
                });
            }
        });
        return wanted;
    }
    let part = part_ui(ui, table, title);
    let name = format!("{title} {}", table.part_name(part));
    ui.push_id(part, |ui| matrix_ui(ui, table, &name, part)).inner.map(asked(part))
}

fn caption_ui(ui: &mut Ui, table: &TableModel, title: &str) {
    const COPY: f32 = 44.0;
    ui.horizontal(|ui| {
        let font = theme::mono(size::SMALL);
        if !title.is_empty() {
            let beside = COPY + width_of(ui, &table.shape(), font.clone()) + 2.0 * ui.spacing().item_spacing.x;
            ui.scope(|ui| {
                ui.set_max_width((ui.available_width() - beside).max(0.0));
                ui.add(Label::new(RichText::new(title).font(theme::strong(size::BODY))).truncate());
            });
        }
        let shape = ui.weak(RichText::new(table.shape()).font(font));
        shape.on_hover_text("The number of entries along each axis");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let what = if title.is_empty() { "the table".to_owned() } else { format!("the table {title}") };
            copy_button(ui, &format!("{what}, for a spreadsheet"), || table.tsv());
        });
    });
}

/// Shows the choice between several tables, and returns the chosen index.
fn part_ui(ui: &mut Ui, table: &TableModel, title: &str) -> usize {
    let id = ui.id().with("part");
    let mut part = ui.data(|data| data.get_temp(id)).unwrap_or(0_usize).min(table.parts() - 1);
    // The largest number of buttons in a row; beyond that, the index is dragged.
    const CHOICES: usize = 12;
    ui.horizontal_wrapped(|ui| {
        if table.parts() > CHOICES {
            let drag = ui.add(egui::DragValue::new(&mut part).range(0..=table.parts() - 1));
            drag.on_hover_text("Choose the table: drag, or click and type");
            ui.weak(format!("of {}", table.parts()));
            return;
        }
        for choice in 0..table.parts() {
            let name = table.part_name(choice);
            let response = ui.selectable_label(part == choice, RichText::new(&name).monospace());
            response.widget_info(|| {
                WidgetInfo::selected(
                    WidgetType::SelectableLabel,
                    true,
                    part == choice,
                    format!("Part {name} of {title}"),
                )
            });
            if response.on_hover_text("Shows this table").clicked() {
                part = choice;
            }
        }
    });
    ui.data_mut(|data| data.insert_temp(id, part));
    part
}

/// The sizes of a table's parts in a given width.
struct TablePlan {
    digits: Option<Digits>,
    cell: Vec2,
    /// The space to the left of the cells, and the space above them.
    head: Vec2,
    slanted: bool,
    /// The space that a slanted label needs to the right of the last column.
    lean: f32,
    rows: usize,
    cols: usize,
}

impl TablePlan {
    fn of(table: &TableModel, room: f32) -> TablePlan {
        /// The least column width at which slanted labels do not touch.
        const SLANTED: f32 = 16.5;
        let words = |chars: usize| (chars as f32 * size::SMALL * LETTER).min(size::WORD_MAX);
        let (row_words, col_words) = (words(table.row_chars), words(table.col_chars));
        let left = if table.row_chars == 0 { 0.0 } else { row_words + size::GAP };
        let (rows, cols) = (table.rows(), table.cols());
        let level = |cell: Vec2, digits| TablePlan {
            digits,
            cell,
            head: Vec2::new(left, size::SMALL + size::GAP),
            slanted: false,
            lean: 0.0,
            rows,
            cols,
        };
        let slant = |cell: Vec2, digits| TablePlan {
            head: Vec2::new(left, reach(col_words).y + size::SMALL),
            slanted: true,
            lean: (reach(col_words).x - cell.x / 2.0).max(0.0) + size::GAP,
            ..level(cell, digits)
        };
        let fits = |plan: &TablePlan| plan.width() <= room;
        for digits in table.digits() {
            let width = table.widest(*digits) as f32 * size::TABLE_DIGIT + size::GAP;
            let wide = Vec2::new(width.max(col_words + size::GAP), size::TABLE_ROW);
            let narrow = Vec2::new(width, size::TABLE_ROW);
            // One long label must not widen every column.
            let plans = match table.has_words() {
                false => [level(narrow, Some(*digits)), level(narrow, Some(*digits))],
                true if wide.x > 2.0 * width => [slant(narrow, Some(*digits)), level(wide, Some(*digits))],
                true => [level(wide, Some(*digits)), slant(narrow, Some(*digits))],
            };
            if let Some(plan) = plans.into_iter().find(fits) {
                return plan;
            }
        }
        // The cells show only colours; tooltips show the numbers.
        let least = if table.has_words() { SLANTED } else { size::CELL_MIN };
        let lean = if table.has_words() { reach(col_words).x + size::GAP } else { 0.0 };
        let cell = ((room - left - lean) / cols as f32).floor().clamp(least, size::TABLE_ROW);
        let cell = Vec2::splat(cell);
        if table.has_words() { slant(cell, None) } else { level(cell, None) }
    }

    fn width(&self) -> f32 {
        self.head.x + self.cells().x + self.lean
    }

    fn cells(&self) -> Vec2 {
        Vec2::new(self.cols as f32, self.rows as f32) * self.cell
    }
}

/// Shows one matrix, and returns the cell that was right-clicked.
fn matrix_ui(ui: &mut Ui, table: &TableModel, title: &str, part: usize) -> Option<(usize, usize)> {
    let plan = TablePlan::of(table, ui.available_width());
    let cells = plan.cells();
    let room = Vec2::new(ui.available_width() - plan.head.x - plan.lean, size::OUTPUT_MAX);
    let seen = cells.min(room.max(plan.cell));
    let whole = plan.head + seen + Vec2::new(plan.lean, 0.0);
    let (rect, _) = ui.allocate_exact_size(whole, Sense::hover());
    let body = Rect::from_min_size(rect.min + plan.head, seen);
    let drawn = DrawnTable { table, plan, part, title };
    let (origin, asked) = if seen == cells {
        (body.min, drawn.cells_ui(ui, body.min, body))
    } else {
        let scrolled = ui.scope_builder(UiBuilder::new().max_rect(body), |ui| {
            let area = ScrollArea::both().auto_shrink([false, false]).id_salt("cells");
            area.show(ui, |ui| {
                let (all, _) = ui.allocate_exact_size(cells, Sense::hover());
                (all.min, drawn.cells_ui(ui, all.min, body))
            })
        });
        scrolled.inner.inner
    };
    drawn.heads_ui(ui, origin, body);
    asked
}

/// A matrix as it is drawn on the screen.
struct DrawnTable<'a> {
    table: &'a TableModel,
    plan: TablePlan,
    part: usize,
    title: &'a str,
}

impl DrawnTable<'_> {
    /// Returns the rows and columns that are within `seen`.
    fn in_sight(&self, origin: Pos2, seen: Rect) -> (Range<usize>, Range<usize>) {
        let range = |from: f32, to: f32, step: f32, count: usize| {
            let first = (from / step).floor().max(0.0) as usize;
            first.min(count)..((to / step).ceil().max(0.0) as usize).min(count)
        };
        let (from, to) = (seen.min - origin, seen.max - origin);
        let TablePlan { cell, rows, cols, .. } = self.plan;
        (range(from.y, to.y, cell.y, rows), range(from.x, to.x, cell.x, cols))
    }

    /// Draws the visible cells, and returns the cell that was right-clicked.
    fn cells_ui(&self, ui: &mut Ui, origin: Pos2, body: Rect) -> Option<(usize, usize)> {
        let palette = Palette::on(ui);
        let heat = Heat { origin, cell: self.plan.cell, rows: self.plan.rows, cols: self.plan.cols };
        let seen = body.intersect(ui.clip_rect());
        let (rows, cols) = self.in_sight(origin, seen);
        let painter = ui.painter_at(seen);
        for row in rows {
            for col in cols.clone() {
                self.cell(&painter, &heat, row, col, palette);
            }
        }
        let response = ui.interact(heat.rect().intersect(body), ui.id().with("cells"), Sense::click());
        let cursor = self.cursor_ui(ui, &heat, &response, palette);
        let hovered = response.hover_pos().and_then(|pointer| heat.at(pointer));
        let told = hovered.or(cursor).map(|(row, col)| self.table.tell(self.part, row, col));
        response.widget_info(|| {
            let name = format!("Table {} {}", self.title, self.table.shape());
            let mut info = WidgetInfo::labeled(WidgetType::Other, true, name);
            info.current_text_value.clone_from(&told);
            info
        });
        let asked = hovered.filter(|_| response.secondary_clicked());
        if let Some(told) = told.filter(|_| hovered.is_some()) {
            response.on_hover_ui_at_pointer(|ui| _ = ui.monospace(told));
        }
        asked
    }

    fn cell(&self, painter: &Painter, heat: &Heat, row: usize, col: usize, palette: &Palette) {
        let number = self.table.entry(self.part, row, col);
        let share = self.table.share(number);
        let fill = share.map_or(palette.line, |share| palette.diverging(share));
        heat.paint_cell(painter, row, col, fill);
        if share.is_none() {
            hatch(painter, heat.cell_rect(row, col), palette.axis);
        }
        let Some(digits) = self.plan.digits else { return };
        let center = heat.cell_rect(row, col).center();
        let font = theme::mono(size::MONO);
        // Outdated outputs are drawn faint, but their numbers are not; the ink is chosen for the faint fill.
        let mut painter = painter.clone();
        let seen = palette.surface.lerp_to_gamma(fill, painter.opacity());
        painter.set_opacity(1.0);
        painter.text(center, Align2::CENTER_CENTER, written(number, digits), font, palette.ink_on(seen));
    }

    /// Handles the keyboard on the table, where arrows move between cells. Returns the cell with the cursor; `None` if
    /// the table does not have the keyboard.
    fn cursor_ui(&self, ui: &mut Ui, heat: &Heat, response: &Response, palette: &Palette) -> Option<(usize, usize)> {
        let id: Id = response.id.with("cursor");
        let mut cursor = ui.data(|data| data.get_temp(id)).unwrap_or((0_usize, 0_usize));
        if response.clicked() {
            cursor = response.interact_pointer_pos().and_then(|pointer| heat.at(pointer)).unwrap_or(cursor);
            response.request_focus();
        }
        if !response.has_focus() {
            ui.data_mut(|data| data.insert_temp(id, cursor));
            return None;
        }
        let before = cursor;
        cursor = led_by_arrows(ui, response, cursor, heat.rows, heat.cols);
        ui.data_mut(|data| data.insert_temp(id, cursor));
        let rect = heat.cell_rect(cursor.0, cursor.1);
        heat.outline(ui.painter(), rect, palette.accent);
        if cursor != before {
            ui.scroll_to_rect(rect, None);
        }
        if !response.hovered() {
            let told = self.table.tell(self.part, cursor.0, cursor.1);
            Tooltip::always_open(ui.ctx().clone(), ui.layer_id(), id, rect).show(|ui| _ = ui.monospace(told));
        }
        Some(cursor)
    }

    /// Draws the labels of the visible rows and columns.
    fn heads_ui(&self, ui: &Ui, origin: Pos2, body: Rect) {
        let (rows, cols) = self.in_sight(origin, body.intersect(ui.clip_rect()));
        let TablePlan { cell, head, .. } = self.plan;
        let left = Rect::from_min_max(body.left_top() - Vec2::new(head.x, 0.0), body.left_bottom());
        let row_step = self.step(false);
        for row in rows.filter(|row| head.x > 0.0 && row % row_step == 0) {
            let y = origin.y + row as f32 * cell.y;
            let rect = Rect::from_x_y_ranges(left.left()..=left.right() - size::GAP_TIGHT, y..=y + cell.y);
            let name = self.table.row_name(row);
            self.name(ui, rect, left, Align2::RIGHT_CENTER, name, ("row", row));
        }
        let top = Rect::from_min_max(body.left_top() - Vec2::new(0.0, head.y), body.right_top());
        let top = top.with_max_x(top.right() + self.plan.lean);
        let col_step = self.step(true);
        for col in cols.filter(|col| col % col_step == 0) {
            let x = origin.x + col as f32 * cell.x;
            let rect = Rect::from_x_y_ranges(x..=x + cell.x, top.y_range());
            let name = self.table.col_name(col);
            if self.plan.slanted {
                self.slanted(ui, rect, top, name, col);
            } else {
                self.name(ui, rect, top, Align2::CENTER_CENTER, name, ("col", col));
            }
        }
    }

    /// Returns the interval between the rows or columns that are labelled. It is more than 1 if the labels are larger
    /// than the cells.
    fn step(&self, of_columns: bool) -> usize {
        const STEPS: [usize; 8] = [1, 2, 5, 10, 20, 50, 100, 200];
        let table = self.table;
        let needed = if of_columns { table.col_chars as f32 * size::SMALL * LETTER } else { size::SMALL };
        let cell = if of_columns { self.plan.cell.x } else { self.plan.cell.y };
        if of_columns && table.has_words() {
            return 1;
        }
        STEPS.into_iter().find(|step| *step as f32 * cell >= needed).unwrap_or(STEPS[STEPS.len() - 1])
    }

    fn name(&self, ui: &Ui, rect: Rect, clip: Rect, align: Align2, name: String, at: (&str, usize)) {
        let painter = ui.painter().with_clip_rect(clip.intersect(ui.clip_rect()));
        let pos = align.pos_in_rect(&rect);
        painter.text(pos, align, &name, theme::plain(size::SMALL), Palette::on(ui).ink_soft);
        self.name_label(ui, rect.intersect(clip), name, at);
    }

    fn slanted(&self, ui: &Ui, rect: Rect, clip: Rect, name: String, col: usize) {
        let palette = Palette::on(ui);
        let painter = ui.painter().with_clip_rect(clip.intersect(ui.clip_rect()));
        let galley = painter.layout_no_wrap(name.clone(), theme::plain(size::SMALL), palette.ink_soft);
        // The middle of the label's left edge is above the middle of the column.
        let foot = rect.center_bottom() - Vec2::new(0.0, size::GAP_TIGHT);
        paint_slanted(&painter, foot, galley, palette.ink_soft);
        self.name_label(ui, rect.intersect(clip), name, ("col", col));
    }

    /// Adds the name of a row or column for screen readers. A tooltip shows the whole name, because the drawn one may
    /// be cut off.
    fn name_label(&self, ui: &Ui, rect: Rect, name: String, at: (&str, usize)) {
        if rect.is_positive() {
            let response = ui.interact(rect, ui.id().with((self.part, at)), Sense::hover());
            response.widget_info(|| WidgetInfo::labeled(WidgetType::Label, true, &name));
            response.on_hover_text(name);
        }
    }
}

/// Hatches a cell whose number is NaN or infinite, and therefore has no colour on the scale.
fn hatch(painter: &Painter, rect: Rect, color: Color32) {
    const GAP: f32 = 6.0;
    let inner = painter.with_clip_rect(rect.shrink(size::HAIRLINE).intersect(painter.clip_rect()));
    let lines = ((rect.width() + rect.height()) / GAP) as usize;
    for i in 1..=lines {
        let x = rect.left() + i as f32 * GAP;
        let foot = Pos2::new(x - rect.height(), rect.bottom());
        inner.line_segment([Pos2::new(x, rect.top()), foot], Stroke::new(size::HAIRLINE, color));
    }
}
