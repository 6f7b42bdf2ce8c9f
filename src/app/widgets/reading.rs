//! How attention is read: its two switches, which every panel with weights shows, and the mark of a sink.

use attune_view::view_model::attention::{Reading, Sinks};
use egui::{Painter, Pos2, Rect, Shape, Stroke, Ui, Vec2, WidgetInfo, WidgetType};

use crate::app::actions::{ActionTable, WindowAction};
use crate::app::theme::{Palette, size};

/// Half the width of the mark of a sink.
const MARK: f32 = 3.5;

/// Weights, or the length of what is added; where there are sinks, with them or without.
pub fn reading_ui(ui: &mut Ui, sinks: &Sinks, reading: &mut Reading) {
    let row = WindowAction::ReadAdded.row();
    let added = ui.selectable_label(reading.is_added, row.text);
    added.widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, reading.is_added, row.tooltip));
    if added.on_hover_text(row.hint()).clicked() {
        reading.turn_added();
    }
    if sinks.is_empty() && !reading.hides_sinks {
        return;
    }
    let row = WindowAction::HideSinks.row();
    let hide = ui.selectable_label(reading.hides_sinks, row.text);
    hide.widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, reading.hides_sinks, row.tooltip));
    if hide.on_hover_text(row.hint()).clicked() {
        reading.turn_sinks(!sinks.is_empty());
    }
}

/// The sinks of the sentence, each with its number; the words explain it under the pointer.
pub fn sinks_ui(ui: &mut Ui, sinks: &Sinks) {
    if sinks.is_empty() {
        return;
    }
    let palette = Palette::of(ui.visuals().dark_mode);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP;
        ui.weak(if sinks.sinks.len() == 1 { "Sink:" } else { "Sinks:" });
        for sink in &sinks.sinks {
            let (mark, _) = ui.allocate_exact_size(Vec2::splat(2.0 * MARK), egui::Sense::hover());
            paint_sink(ui.painter(), mark.center_bottom(), palette);
            let words = format!("{} {:.0} %", sink.label, sink.numbers.mean * 100.0);
            ui.label(words).on_hover_text(sink.about());
        }
    });
}

/// A drain: a small triangle that points down, with its tip at `tip`; as high as the gap over a map.
pub fn paint_sink(painter: &Painter, tip: Pos2, palette: &Palette) {
    let rect = Rect::from_min_max(tip - Vec2::new(MARK, size::GAP_TIGHT), tip + Vec2::new(MARK, 0.0));
    let corners = vec![rect.left_top(), rect.right_top(), tip];
    painter.add(Shape::convex_polygon(corners, palette.warn, Stroke::NONE));
}
