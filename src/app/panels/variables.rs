//! The variables panel: every tensor and variable with its shape, a strip of its numbers, and the whole as a table.

use attune_ui::theme::{self, Palette, size};
use attune_ui::ui_state::Trail;
use attune_ui::widgets::table::table_ui;
use attune_ui::widgets::traced::ASK_HINT;
use attune_view::view_model::output::TableModel;
use attune_view::view_model::sentence;
use attune_view::view_model::tensors::{VariableKind, VariableModel, VariableValue, VariablesModel};
use egui::{Align2, CornerRadius, Label, Rect, RichText, ScrollArea, Sense, Ui, Vec2, WidgetInfo, WidgetType, vec2};

use super::panel::{Panel, PanelContext};

#[derive(Default)]
pub struct VariablesPanel {
    /// The one that is shown as a table, by its name.
    open: Option<String>,
}

impl Panel for VariablesPanel {
    fn ui(&mut self, ui: &mut Ui, cx: &mut PanelContext) -> Option<()> {
        variables_ui(ui, &*cx.models.get::<VariablesModel>()?, self, cx.view.trail);
        Some(())
    }
}

fn variables_ui(ui: &mut Ui, model: &VariablesModel, state: &mut VariablesPanel, trail: &mut Trail) {
    let all = model.all();
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        for kind in VariableKind::ALL {
            let of_kind: Vec<&VariableModel> = all.iter().filter(|variable| variable.kind == kind).collect();
            if of_kind.is_empty() {
                continue;
            }
            ui.add(Label::new(RichText::new(kind.title()).font(theme::strong(size::BODY))));
            for variable in of_kind {
                ui.push_id(&variable.name, |ui| variable_ui(ui, variable, state, trail));
            }
            ui.add_space(size::GAP);
        }
        if !all.iter().any(|variable| variable.kind == VariableKind::Code) {
            ui.weak("Variables that code cells define with `let` appear here once the cells run.");
        }
    });
}

/// A row, and below it the whole while it is open.
fn variable_ui(ui: &mut Ui, variable: &VariableModel, state: &mut VariablesPanel, trail: &mut Trail) {
    let is_open = state.open.as_deref() == Some(&variable.name);
    if row_ui(ui, variable, is_open) {
        state.open = (!is_open).then(|| variable.name.clone());
    }
    if !is_open {
        return;
    }
    ui.indent("whole", |ui| {
        let asks = if variable.entry([0; 3]).is_some() { ASK_HINT } else { "" };
        ui.add(Label::new(RichText::new(format!("{} {asks}", said(variable))).weak()).wrap());
        match &variable.value {
            VariableValue::Table(table) => {
                if let Some(entry) = table_ui(ui, table).and_then(|at| variable.entry(at)) {
                    trail.open(entry);
                }
            }
            VariableValue::Number(number) => {
                _ = ui.add(Label::new(RichText::new(number.to_string()).monospace()).selectable(true))
            }
            VariableValue::Text(text) => {
                _ = ui.add(Label::new(RichText::new(&**text).monospace()).wrap().selectable(true))
            }
        }
    });
    ui.add_space(size::GAP_TIGHT);
}

/// Meaning of a variable as a sentence; with its name in code, where that is another.
fn said(variable: &VariableModel) -> String {
    let named = if variable.name == variable.symbol {
        String::new()
    } else {
        format!(" In code, its name is {}.", variable.name)
    };
    sentence(&variable.meaning) + named.as_str()
}

/// Symbol, shape and a strip of numbers. True if it was clicked.
fn row_ui(ui: &mut Ui, variable: &VariableModel, is_open: bool) -> bool {
    const SYMBOL: f32 = 74.0;
    const SHAPE: f32 = 92.0;
    let palette = Palette::of(ui.visuals().dark_mode);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), size::TABLE_ROW), Sense::click());
    let name = format!("{} {}", variable.name, variable.shape());
    response.widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, is_open, &name));
    let fill = match (is_open, response.hovered() || response.has_focus()) {
        (true, _) => Some(palette.accent_soft),
        (false, true) => Some(palette.lifted),
        (false, false) => None,
    };
    if let Some(fill) = fill {
        ui.painter().rect_filled(rect, CornerRadius::same(size::RADIUS_SMALL), fill);
    }
    let painter = ui.painter_at(rect);
    let text = |x: f32, text: &str, font, ink| {
        painter.text(rect.left_center() + vec2(x, 0.0), Align2::LEFT_CENTER, text, font, ink);
    };
    text(size::GAP_TIGHT, &variable.symbol, theme::mono(size::MONO), palette.ink);
    text(size::GAP_TIGHT + SYMBOL, &variable.shape(), theme::mono(size::SMALL), palette.ink_soft);
    let strip = Rect::from_min_max(
        rect.left_top() + vec2(SYMBOL + SHAPE, size::GAP_TIGHT),
        rect.right_bottom() - vec2(size::GAP_TIGHT, size::GAP_TIGHT),
    );
    if strip.width() > size::CELL_MIN {
        match &variable.value {
            VariableValue::Table(table) => strip_ui(ui, table, strip, palette),
            VariableValue::Number(number) => {
                text(SYMBOL + SHAPE, &short(*number), theme::mono(size::MONO), palette.ink)
            }
            VariableValue::Text(words) => {
                text(SYMBOL + SHAPE, words.lines().next().unwrap_or(""), theme::plain(size::SMALL), palette.ink_soft)
            }
        }
    }
    response.on_hover_text(format!("{} Click to see all of its values.", said(variable))).clicked()
}

fn short(number: f64) -> String {
    const DIGITS: usize = 4;
    let text = format!("{number:.DIGITS$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// The first numbers, shaded as in the table.
fn strip_ui(ui: &Ui, table: &TableModel, strip: Rect, palette: &Palette) {
    const CELL: f32 = 7.0;
    if table.parts() == 0 || table.rows() == 0 || table.cols() == 0 {
        return;
    }
    let room = (strip.width() / CELL) as usize;
    let count = room.min(table.rows() * table.cols());
    for place in 0..count {
        let number = table.entry(0, place / table.cols(), place % table.cols());
        let fill = table.share(number).map_or(palette.line, |share| palette.diverging(share));
        let cell = Rect::from_min_size(strip.min + vec2(place as f32 * CELL, 0.0), Vec2::new(CELL, strip.height()));
        ui.painter().rect_filled(cell.shrink2(vec2(size::HAIRLINE / 2.0, 0.0)), CornerRadius::ZERO, fill);
    }
}
