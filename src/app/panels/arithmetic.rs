//! The arithmetic panel: the walk through attention, worked through with its numbers.

use egui::{
    Align2, Button, CornerRadius, Label, Painter, Pos2, Rect, RichText, ScrollArea, Sense, Stroke, StrokeKind, Ui,
    Vec2, WidgetInfo, WidgetType,
};

use crate::app::theme::{self, Palette, size};
use crate::app::view_state::ViewState;
use crate::view_model::attention::AttentionModel;
use crate::view_model::path::PathModel;
use crate::view_model::walk::{NumberRow, Step, StepModel, WalkModel};

use super::equation::equation_ui;

pub fn arithmetic_ui(
    ui: &mut Ui,
    model: Option<&WalkModel>,
    path: Option<&PathModel>,
    attention: &AttentionModel,
    view: &mut ViewState,
) {
    let Some(model) = model else {
        ui.weak("Choose a word on the stage or in the sentence, to follow its numbers.");
        sentence_ui(ui, attention, view);
        return;
    };
    let palette = Palette::of(ui.visuals().dark_mode);
    sentence_ui(ui, attention, view);
    heads_ui(ui, attention, view);
    steps_ui(ui, view);
    ui.add_space(size::GAP_TIGHT);
    let step = model.step(view.step());
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        equation_ui(ui, &step.equation);
        ui.add_space(size::GAP_TIGHT);
        ui.add(Label::new(RichText::new(&step.said).size(size::BODY)).wrap().selectable(true));
        ui.add_space(size::GAP);
        for rows in step.rows.chunk_by(is_like) {
            strip_ui(ui, model, step, rows, view);
            ui.add_space(size::GAP);
        }
        if let Some(path) = path.filter(|_| step.step >= Step::Output) {
            ui.label(RichText::new("Why did it move?").font(theme::strong(size::BODY)));
            ui.add(Label::new(RichText::new(&path.why).color(palette.ink)).wrap().selectable(true));
        }
    });
}

/// They can share their columns.
fn is_like(a: &NumberRow, b: &NumberRow) -> bool {
    a.is_by_key == b.is_by_key && a.values.len() == b.values.len()
}

/// The words of the sentence: one of them is the query.
fn sentence_ui(ui: &mut Ui, attention: &AttentionModel, view: &mut ViewState) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        for (position, token) in attention.tokens.iter().enumerate() {
            let chosen = view.query == Some(position);
            let response = ui.selectable_label(chosen, token).on_hover_text("Follow this word as the query");
            if response.clicked() {
                view.query = Some(position);
                view.key = None;
            }
        }
    });
}

fn heads_ui(ui: &mut Ui, attention: &AttentionModel, view: &mut ViewState) {
    if attention.heads.len() < 2 {
        return;
    }
    let palette = Palette::of(ui.visuals().dark_mode);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        for map in &attention.heads {
            let words = RichText::new(&map.title).color(palette.head(map.head));
            if ui.selectable_label(view.head == map.head, words).on_hover_text("Follow it through this head").clicked()
            {
                view.head = map.head;
                view.key = None;
            }
        }
    });
}

/// The eight steps, and one on or back.
fn steps_ui(ui: &mut Ui, view: &mut ViewState) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        let now = view.step();
        let back = ui.add_enabled(now > Step::Embed, Button::new("←"));
        back.widget_info(|| WidgetInfo::labeled(WidgetType::Button, now > Step::Embed, "A step back"));
        if back.on_hover_text("A step back (Shift+Space)").clicked() {
            view.step_by(-1);
        }
        for step in Step::ALL {
            let words = format!("{} {}", step.index() + 1, step.name());
            if ui.selectable_label(step == now, words).clicked() {
                view.walk_to(step.index() as f32);
            }
        }
        let on = ui.add_enabled(now < Step::Contextual, Button::new("→"));
        on.widget_info(|| WidgetInfo::labeled(WidgetType::Button, now < Step::Contextual, "A step on"));
        if on.on_hover_text("A step on (Space)").clicked() {
            view.step_by(1);
        }
    });
}

/// Rows that share their columns: keys, or entries by their numbers. Each is shaded for itself.
fn strip_ui(ui: &mut Ui, model: &WalkModel, step: &StepModel, rows: &[NumberRow], view: &mut ViewState) {
    const CELL: Vec2 = Vec2::new(50.0, 21.0);
    let palette = Palette::of(ui.visuals().dark_mode);
    let is_by_key = rows[0].is_by_key;
    let columns = rows[0].values.len();
    let width =
        |text: &str| ui.painter().layout_no_wrap(text.to_owned(), theme::plain(size::SMALL), palette.ink).size().x;
    let left = rows.iter().map(|row| width(&row.label)).fold(0.0, f32::max) + size::GAP;
    let widest = if is_by_key { model.keys.iter().map(|key| width(key)).fold(0.0, f32::max) } else { 0.0 };
    let cell = Vec2::new(CELL.x.max(widest + size::GAP_TIGHT), CELL.y);
    ui.push_id((step.step.index(), &rows[0].label), |ui| {
        ScrollArea::horizontal().auto_shrink([false, true]).show(ui, |ui| {
            let whole = Vec2::new(left + columns as f32 * cell.x, (rows.len() + 1) as f32 * cell.y);
            let (rect, response) = ui.allocate_exact_size(whole, Sense::click());
            let at = |row: usize, column: usize| {
                let corner = rect.min + Vec2::new(left + column as f32 * cell.x, (row + 1) as f32 * cell.y);
                Rect::from_min_size(corner, cell)
            };
            let painter = ui.painter().with_clip_rect(ui.clip_rect());
            for column in 0..columns {
                let head = at(0, column).translate(Vec2::new(0.0, -cell.y));
                let is_chosen = is_by_key && column == model.key;
                let name = if is_by_key { model.keys[column].clone() } else { column.to_string() };
                let ink = if is_chosen { palette.accent } else { palette.ink_faint };
                painter.text(head.center(), Align2::CENTER_CENTER, name, theme::plain(size::SMALL), ink);
            }
            for (index, row) in rows.iter().enumerate() {
                let corner = Pos2::new(rect.left(), at(index, 0).center().y);
                let ink = palette.ink_soft;
                painter.text(corner, Align2::LEFT_CENTER, &row.label, theme::plain(size::SMALL), ink);
                paint_row(&painter, row, |column| at(index, column), palette);
            }
            if is_by_key {
                let column = Rect::from_min_max(at(0, model.key).min, at(rows.len() - 1, model.key).max);
                let outline = Stroke::new(size::HAIRLINE, palette.accent);
                painter.rect_stroke(column, CornerRadius::ZERO, outline, StrokeKind::Inside);
            }
            let hovered = response.hover_pos().and_then(|pointer| {
                let column = ((pointer.x - rect.left() - left) / cell.x).floor();
                let row = ((pointer.y - rect.top()) / cell.y).floor() - 1.0;
                let is_inside = column >= 0.0 && (column as usize) < columns && (row as usize) < rows.len();
                is_inside.then_some((row.max(0.0) as usize, column as usize))
            });
            if let Some((row, column)) = hovered {
                if is_by_key && response.clicked() {
                    view.key = Some(column);
                }
                let said = provenance(model, &rows[row], column);
                response.on_hover_ui_at_pointer(|ui| {
                    ui.monospace(said);
                    if is_by_key {
                        ui.weak("Click: work this key through");
                    }
                });
            }
        });
    });
}

fn paint_row(painter: &Painter, row: &NumberRow, at: impl Fn(usize) -> Rect, palette: &Palette) {
    let extent = row.values.iter().filter(|x| x.is_finite()).fold(0f32, |most, x| most.max(x.abs()));
    for (column, value) in row.values.iter().enumerate() {
        let rect = at(column);
        if !painter.clip_rect().intersects(rect) {
            continue;
        }
        let share = if extent > 0.0 && value.is_finite() { value / extent } else { 0.0 };
        let fill = palette.diverging(share);
        painter.rect_filled(rect.shrink(size::HAIRLINE / 2.0), CornerRadius::ZERO, fill);
        let words = if *value == f32::NEG_INFINITY { "−∞".to_owned() } else { format!("{value:.3}") };
        painter.text(rect.center(), Align2::CENTER_CENTER, words, theme::mono(size::SMALL), palette.ink_on(fill));
    }
}

/// Which entry of which tensor a number is.
fn provenance(model: &WalkModel, row: &NumberRow, column: usize) -> String {
    let value = row.values[column];
    let of = if row.is_by_key { format!(", key {}", model.keys[column]) } else { format!(", entry {column}") };
    format!("{} · {}{of}: {value}", row.tensor, row.label)
}
