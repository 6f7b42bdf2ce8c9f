//! Lines that open: each has a name and a strip of its first numbers, and shows its whole content below while it is
//! open.

use attune_ui::theme::{self, Palette, size};
use attune_ui::ui_state::Trail;
use attune_ui::widgets::traced::ASK_HINT;
use attune_view::sheet::{Fold, FoldContent};
use attune_view::view_model::output::TableModel;
use egui::{Align2, CornerRadius, Label, Rect, RichText, Sense, Ui, Vec2, WidgetInfo, WidgetType, vec2};

/// The width of the symbol, in points.
const SYMBOL: f32 = 74.0;
/// The width of the detail, in points.
const DETAIL: f32 = 92.0;

/// Draws a line, and its content below it if it is open; `open` is the name of the open line.
pub fn fold_ui(ui: &mut Ui, fold: &Fold, open: &mut Option<String>, trail: &mut Trail) {
    let is_open = open.as_deref() == Some(&fold.name);
    if line_ui(ui, fold, is_open) {
        *open = (!is_open).then(|| fold.name.clone());
    }
    if !is_open {
        return;
    }
    ui.indent("whole", |ui| {
        let is_asked = matches!(&fold.content, FoldContent::Numbers(numbers) if numbers.first.is_some());
        let hint = if is_asked { ASK_HINT } else { "" };
        ui.add(Label::new(RichText::new(format!("{} {hint}", fold.about)).weak()).wrap());
        match &fold.content {
            FoldContent::Numbers(numbers) => super::numbers_ui(ui, numbers, trail),
            FoldContent::Value { full, .. } => {
                ui.add(Label::new(RichText::new(full).monospace()).wrap().selectable(true));
            }
        }
    });
    ui.add_space(size::GAP_TIGHT);
}

/// Draws the symbol, the detail and a strip of numbers. Returns whether the line was clicked.
fn line_ui(ui: &mut Ui, fold: &Fold, is_open: bool) -> bool {
    let palette = Palette::on(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), size::TABLE_ROW), Sense::click());
    let name = format!("{} {}", fold.name, fold.detail);
    response.widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, is_open, &name));
    if is_open || response.hovered() || response.has_focus() {
        let fill = if is_open { palette.accent_soft } else { palette.lifted };
        ui.painter().rect_filled(rect, CornerRadius::same(size::RADIUS_SMALL), fill);
    }
    let painter = ui.painter_at(rect);
    let text = |x: f32, text: &str, font, ink| {
        painter.text(rect.left_center() + vec2(x, 0.0), Align2::LEFT_CENTER, text, font, ink);
    };
    text(size::GAP_TIGHT, &fold.symbol, theme::mono(size::MONO), palette.ink);
    text(size::GAP_TIGHT + SYMBOL, &fold.detail, theme::mono(size::SMALL), palette.ink_soft);
    let strip = Rect::from_min_max(
        rect.left_top() + vec2(SYMBOL + DETAIL, size::GAP_TIGHT),
        rect.right_bottom() - Vec2::splat(size::GAP_TIGHT),
    );
    if strip.width() > size::CELL_MIN {
        match &fold.content {
            FoldContent::Numbers(numbers) => strip_ui(ui, &numbers.table, strip, palette),
            FoldContent::Value { short, .. } => text(SYMBOL + DETAIL, short, theme::mono(size::MONO), palette.ink),
        }
    }
    response.on_hover_text(format!("{} Click to see all of its values.", fold.about)).clicked()
}

/// Draws as many of the first numbers as fit, as cells that are shaded as in the table.
fn strip_ui(ui: &Ui, table: &TableModel, strip: Rect, palette: &Palette) {
    const CELL: f32 = 7.0;
    if table.parts() == 0 {
        return;
    }
    let count = ((strip.width() / CELL) as usize).min(table.rows() * table.cols());
    for place in 0..count {
        let number = table.entry(0, place / table.cols(), place % table.cols());
        let fill = table.share(number).map_or(palette.line, |share| palette.diverging(share));
        let cell = Rect::from_min_size(strip.min + vec2(place as f32 * CELL, 0.0), Vec2::new(CELL, strip.height()));
        ui.painter().rect_filled(cell.shrink2(vec2(size::HAIRLINE / 2.0, 0.0)), CornerRadius::ZERO, fill);
    }
}
