//! Plots of code cells.

use attune_view::view_model::plot::{LineModel, PlotModel, tell};
use egui::{RichText, Sense, Stroke, Ui, Vec2, WidgetInfo, WidgetType};
use egui_plot::{HoverPosition, Line, LineStyle, Plot, PlotPoints, Points};

use crate::app::theme::{self, Palette, size};

pub fn plot_ui(ui: &mut Ui, plot: &PlotModel) {
    let palette = Palette::of(ui.visuals().dark_mode);
    if plot.lines.iter().any(|line| !line.name.is_empty()) {
        legend_ui(ui, plot, palette);
    }
    ui.scope(|ui| {
        ui.style_mut().text_styles.insert(egui::TextStyle::Body, theme::plain(size::SMALL));
        lines_ui(ui, plot, palette);
    });
    if let Some(note) = plot.left_out_note() {
        ui.weak(note);
    }
}

fn lines_ui(ui: &mut Ui, plot: &PlotModel, palette: &Palette) {
    let id = ui.id().with("plot");
    // The wheel over a plot scrolls the notebook.
    let shown = Plot::new(id)
        .id(id)
        .height(size::PLOT)
        .allow_drag(false)
        .allow_zoom(false)
        .allow_scroll(false)
        .allow_boxed_zoom(false)
        .allow_axis_zoom_drag(false)
        .allow_double_click_reset(false)
        .show_background(false)
        .grid_color(palette.line)
        .label_formatter(|at| match at {
            HoverPosition::NearDataPoint { plot_name, position, .. } => Some(tell(plot_name, position.x, position.y)),
            HoverPosition::Elsewhere { .. } => None,
        })
        .show(ui, |ui| {
            for (i, line) in plot.lines.iter().enumerate() {
                line_ui(ui, line, i, palette);
            }
        });
    shown.response.widget_info(|| WidgetInfo::labeled(WidgetType::Image, true, plot.summary()));
}

fn line_ui<'p>(ui: &mut egui_plot::PlotUi<'p>, line: &'p LineModel, i: usize, palette: &Palette) {
    for piece in &line.pieces {
        let points = || PlotPoints::from_iter(piece.iter().copied());
        let color = palette.head(i);
        ui.line(Line::new(&line.name, points()).color(color).width(size::CURVE).style(style(i, palette)));
        if line.marked || piece.len() == 1 {
            ui.points(Points::new(&line.name, points()).color(color).radius(size::CURVE + size::HAIRLINE));
        }
    }
}

/// When the hues are used up, the dashes tell lines apart.
fn style(i: usize, palette: &Palette) -> LineStyle {
    match i / palette.heads.len() % 3 {
        0 => LineStyle::Solid,
        1 => LineStyle::dashed_loose(),
        _ => LineStyle::dotted_loose(),
    }
}

fn legend_ui(ui: &mut Ui, plot: &PlotModel, palette: &Palette) {
    ui.horizontal_wrapped(|ui| {
        for (i, line) in plot.lines.iter().enumerate() {
            ui.horizontal(|ui| {
                ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
                let (rect, _) = ui.allocate_exact_size(Vec2::new(size::GAP_WIDE, size::SMALL), Sense::hover());
                let ends = [rect.left_center(), rect.right_center()];
                let stroke = Stroke::new(size::OUTLINE, palette.head(i));
                match style(i, palette) {
                    LineStyle::Solid => _ = ui.painter().line_segment(ends, stroke),
                    _ => {
                        ui.painter().extend(egui::Shape::dashed_line(&ends, stroke, size::GAP_TIGHT, size::OUTLINE));
                    }
                }
                ui.label(RichText::new(&line.name).font(theme::plain(size::SMALL)));
            });
        }
    });
}
