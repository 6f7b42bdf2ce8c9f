//! One matrix, or a head's slice of one, shaded cell by cell in a single mesh.

use attune_view::view_model::fold::{Entries, FoldModel, Role, Sheet};
use egui::{Align2, Color32, Pos2, Rect, Stroke, StrokeKind, Ui, Vec2, pos2};

use super::scene::Placed;
use crate::app::theme::{self, Palette, TEXT_CONTRAST, size};
use crate::app::widgets::heat::Heat;

pub struct SheetUi<'a> {
    pub model: &'a FoldModel,
    pub placed: &'a Placed,
    /// The entry that is shaded fully.
    pub scale: f32,
    pub query: Option<usize>,
    /// For the words on the left of a whole matrix.
    pub words_room: f32,
}

/// A row that is lower has no room for its word.
const LINE_MIN: f32 = 11.0;

/// Color of a word, in letters.
pub(super) fn word_ink(group: Option<usize>, palette: &Palette) -> Color32 {
    palette.legible(palette.token(group), TEXT_CONTRAST)
}

/// Row and column of the cell under a point.
pub fn cell_at(rect: Rect, entries: Entries, at: Pos2) -> Option<(usize, usize)> {
    heat(rect, entries).at(at)
}

fn heat(rect: Rect, entries: Entries) -> Heat {
    let (rows, cols) = (entries.rows, entries.cols);
    let cell = rect.size() / Vec2::new(cols.max(1) as f32, rows.max(1) as f32);
    Heat { origin: rect.min, cell, rows, cols }
}

impl SheetUi<'_> {
    pub fn paint(&self, ui: &Ui) {
        let Placed { sheet, rect, alpha, .. } = *self.placed;
        let palette = Palette::of(ui.visuals().dark_mode);
        let entries = self.model.entries(sheet);
        if entries.rows == 0 || entries.cols == 0 || rect.width() < 1.0 || rect.height() < 1.0 {
            return;
        }
        let heat = heat(rect, entries);
        ui.painter().add(heat.mesh(|row, col| self.fill(entries.row(row)[col], palette).gamma_multiply(alpha)));
        self.numbers(ui, &heat, entries, palette);
        if let Some(head) = self.head() {
            // Its hue stays with a slice, wherever it goes.
            let stroke = Stroke::new(size::HAIRLINE, palette.head(head).gamma_multiply(alpha));
            ui.painter().rect_stroke(rect, 0.0, stroke, StrokeKind::Inside);
        }
        if let Some(row) = self.query.filter(|row| *row < heat.rows && self.model.is_by_query(sheet)) {
            let stroke = Stroke::new(size::OUTLINE, palette.accent.gamma_multiply(alpha));
            ui.painter().rect_stroke(heat.row_rect(row), 0.0, stroke, StrokeKind::Inside);
        }
        self.name(ui, entries, palette);
        self.words(ui, &heat, palette);
    }

    /// The head that a slice belongs to, by its place in its layer.
    fn head(&self) -> Option<usize> {
        match self.placed.sheet {
            Sheet::Input | Sheet::Projected(_) | Sheet::Output => None,
            Sheet::RoleWeights(_, own)
            | Sheet::Query(own)
            | Sheet::Key(own)
            | Sheet::Value(own)
            | Sheet::Product(own)
            | Sheet::Score(own)
            | Sheet::Weight(own)
            | Sheet::Mix(own)
            | Sheet::OutputWeights(own) => Some(own),
        }
    }

    fn fill(&self, value: f32, palette: &Palette) -> Color32 {
        match (self.placed.sheet, self.head()) {
            (Sheet::Weight(_), Some(head)) => palette.weight(head, value),
            _ if value.is_finite() => palette.diverging(value / self.scale),
            // Masked entries stay empty.
            _ => palette.ground,
        }
    }

    /// Only where all of them fit.
    fn numbers(&self, ui: &Ui, heat: &Heat, entries: Entries, palette: &Palette) {
        if heat.cell.y < size::CELL_MIN {
            return;
        }
        let Some(font) = heat.number_font(ui.ctx(), || entries.values().copied()) else { return };
        for row in 0..entries.rows {
            for (col, value) in entries.row(row).iter().enumerate() {
                let ink = palette.ink_on(self.fill(*value, palette)).gamma_multiply(self.placed.alpha);
                heat.paint_number(ui.painter(), row, col, *value, &font, ink);
            }
        }
    }

    /// Above it: its symbol, with its size where there is room.
    fn name(&self, ui: &Ui, entries: Entries, palette: &Palette) {
        let Placed { sheet, rect, alpha, .. } = *self.placed;
        let heads = self.model.heads.len();
        let (rows, cols) = (entries.rows, entries.cols);
        // Of slices that lie side by side, or one on the other, the first names them all.
        let (symbol, rows, cols, room) = match sheet {
            Sheet::OutputWeights(0) => ("W_O".to_owned(), rows * heads, cols, rect.width()),
            Sheet::RoleWeights(role, 0) => {
                (role.weights().symbol().to_owned(), rows, cols * heads, rect.width() * heads as f32)
            }
            Sheet::OutputWeights(_) | Sheet::RoleWeights(..) => return,
            _ => (self.model.symbol(sheet), rows, cols, rect.width()),
        };
        let ink = palette.ink_soft.gamma_multiply(alpha);
        let written = |text: String| ui.painter().layout_no_wrap(text, theme::plain(size::SMALL), ink);
        let full = written(format!("{symbol} ({rows}, {cols})"));
        // Beside it stands the next one's.
        let galley = if full.size().x + size::GAP_TIGHT <= room { full } else { written(symbol) };
        if galley.size().x <= room {
            let at = pos2(rect.left(), rect.top() - galley.size().y - size::HAIRLINE);
            ui.painter().galley(at, galley, ink);
        }
    }

    /// Beside a whole matrix, or the first slice of one: a word for each row, where rows are high enough.
    fn words(&self, ui: &Ui, heat: &Heat, palette: &Palette) {
        let sheet = self.placed.sheet;
        let role = match sheet {
            Sheet::Input | Sheet::Query(0) | Sheet::Mix(0) | Sheet::Projected(Role::Query) => Role::Query,
            Sheet::Projected(role) => role,
            Sheet::Key(0) | Sheet::Value(0) => Role::Key,
            _ => return,
        };
        // Beside another matrix there is no room for words.
        let room = self.placed.rect.left() - ui.max_rect().left();
        if room > self.words_room + size::GAP_TIGHT {
            return;
        }
        if heat.cell.y < LINE_MIN || self.placed.words == 0.0 {
            return;
        }
        for (row, (label, group)) in self.model.words_of(role).enumerate().take(heat.rows) {
            let ink = word_ink(group, palette).gamma_multiply(self.placed.words);
            let font = theme::plain(size::SMALL);
            let galley = ui.painter().layout_no_wrap(label.clone(), font.clone(), ink);
            if galley.size().x + size::GAP_TIGHT <= room {
                let at = heat.cell_rect(row, 0).left_center() - Vec2::new(size::GAP_TIGHT, 0.0);
                ui.painter().text(at, Align2::RIGHT_CENTER, label, font, ink);
            }
        }
    }
}
