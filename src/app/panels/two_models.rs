//! Two models on one sentence: their answers side by side, and how alike their layers are.

use attune_view::view_model::two_models::{TwoModels, WordInModel, WordOfBoth};
use egui::{Align2, Label, Rect, RichText, ScrollArea, Sense, Ui, WidgetInfo, WidgetType, vec2};

use crate::app::theme::{self, Palette, size};
use crate::app::view::PanelView;
use crate::app::widgets::controls::led_by_arrows;
use crate::app::widgets::heat::Heat;
use crate::app::widgets::sketch::sketch_ui;

/// The cell of the map that the arrow keys have led to.
#[derive(Default)]
pub struct TwoModelsUiState {
    cursor: (usize, usize),
}

pub fn two_models_ui(ui: &mut Ui, model: &TwoModels, state: &mut TwoModelsUiState, view: &mut PanelView) {
    let palette = Palette::of(ui.visuals().dark_mode);
    let [here, beside] = &model.names;
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        ui.set_max_width(ui.available_width());
        ui.add(Label::new(format!("{here}, and beside it {beside}")).wrap());
        if let Some(why) = &model.refusal {
            ui.add(Label::new(RichText::new(why).color(palette.warn)).wrap());
        }
        for note in &model.notes {
            ui.add(Label::new(RichText::new(note).weak()).wrap());
        }
        if let Some(word) = model.chosen(view.selection.query) {
            ui.add_space(size::GAP_TIGHT);
            word_ui(ui, word, &model.names);
        }
        if !model.words.is_empty() {
            ui.add_space(size::GAP);
            pictures_ui(ui, model);
        }
        if !model.similarity.is_empty() {
            ui.add_space(size::GAP);
            similarity_ui(ui, model, state);
        }
    });
}

/// The answers of both at a word, and where each looks.
fn word_ui(ui: &mut Ui, word: &WordOfBoth, names: &[String; 2]) {
    ui.label(RichText::new(format!("At {}", word.label)).font(theme::strong(size::BODY)));
    ui.columns(2, |columns| {
        for ((ui, name), WordInModel { answers, looks_at }) in columns.iter_mut().zip(names).zip(&word.of) {
            ui.add(Label::new(RichText::new(name).weak()).truncate());
            for (answer, probability) in answers {
                let words = RichText::new(format!("{probability:.3}  {answer}")).font(theme::mono(size::SMALL));
                ui.add(Label::new(words).truncate());
            }
            if let Some((other, weight)) = looks_at {
                let hint =
                    "Of the other words that both models read, the one that gets most attention from here: the mean \
                    weight α over all heads of all layers. Special tokens are left out; they often get more";
                ui.add(Label::new(format!("looks at {other} ({weight:.2})")).truncate()).on_hover_text(hint);
            }
        }
    });
    if let Some(cosine) = word.attention {
        let hint =
            "Of the mean attention weights over all heads in the one model and in the other, over the words of both";
        ui.label(format!("Cosine between the two models' attention from this word: {cosine:.2}.")).on_hover_text(hint);
    }
}

/// The ways of the words in both, each picture in its own axes.
fn pictures_ui(ui: &mut Ui, model: &TwoModels) {
    /// Height, as a share of the width.
    const HEIGHT: f32 = 0.8;
    let palette = Palette::of(ui.visuals().dark_mode);
    ui.label(RichText::new("From static to contextual").font(theme::strong(size::BODY))).on_hover_text(TwoModels::WAYS);
    ui.columns(2, |columns| {
        for ((ui, name), picture) in columns.iter_mut().zip(&model.names).zip(&model.pictures) {
            ui.add(Label::new(RichText::new(name).weak()).truncate());
            let width = ui.available_width();
            let (rect, response) = ui.allocate_exact_size(vec2(width, width * HEIGHT), Sense::hover());
            ui.painter().rect_filled(rect, size::RADIUS, palette.ground);
            sketch_ui(ui, picture, rect);
            let ways: Vec<&str> = picture.moves.iter().map(|way| way.label.as_str()).collect();
            let said = format!("The ways of {} in {name}", ways.join(", "));
            response.widget_info(|| WidgetInfo::labeled(WidgetType::Image, true, &said));
            response.on_hover_text(TwoModels::WAYS);
        }
    });
}

/// A map of layers by layers, the more alike the darker.
fn similarity_ui(ui: &mut Ui, model: &TwoModels, state: &mut TwoModelsUiState) {
    const SIDE: (f32, f32) = (12.0, 26.0);
    const GUTTER: f32 = 22.0;
    let palette = Palette::of(ui.visuals().dark_mode);
    ui.label(RichText::new("Layers").font(theme::strong(size::BODY))).on_hover_text(TwoModels::SIMILARITY);
    let (rows, cols) = (model.similarity.len(), model.similarity[0].len());
    let side = ((ui.available_width() - GUTTER) / cols as f32).floor().clamp(SIDE.0, SIDE.1);
    let whole = vec2(GUTTER + cols as f32 * side, GUTTER + rows as f32 * side);
    let (rect, response) = ui.allocate_exact_size(whole, Sense::click());
    let heat = Heat { origin: rect.min + vec2(GUTTER, GUTTER), cell: vec2(side, side), rows, cols };
    if response.clicked() {
        response.request_focus();
        state.cursor = response.interact_pointer_pos().and_then(|at| heat.at(at)).unwrap_or(state.cursor);
    }
    state.cursor = (state.cursor.0.min(rows - 1), state.cursor.1.min(cols - 1));
    if response.has_focus() {
        state.cursor = led_by_arrows(ui, &response, state.cursor, rows, cols);
    }
    let said = |(row, col): (usize, usize)| {
        let alike =
            model.similarity[row][col].map_or_else(|| "nothing to compare".to_owned(), |alike| format!("{alike:.2}"));
        format!("Layer {row} here, layer {col} beside it: {alike}")
    };
    let name = format!("How alike the layers are. {}", said(state.cursor));
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Image, true, &name));
    let painter = ui.painter();
    for (row, line) in model.similarity.iter().enumerate() {
        for (col, alike) in line.iter().enumerate() {
            let share = alike.unwrap_or(0.0).clamp(0.0, 1.0) as f32;
            let fill = palette.raised.lerp_to_gamma(palette.accent, share);
            heat.paint_cell(painter, row, col, fill);
        }
    }
    let small = theme::plain(size::LABEL_AXIS);
    for row in 0..rows {
        let at = heat.cell_rect(row, 0).left_center() - vec2(size::GAP_TIGHT, 0.0);
        painter.text(at, Align2::RIGHT_CENTER, row.to_string(), small.clone(), palette.ink_soft);
    }
    for col in 0..cols {
        let at = heat.cell_rect(0, col).center_top() - vec2(0.0, size::GAP_TIGHT);
        painter.text(at, Align2::CENTER_BOTTOM, col.to_string(), small.clone(), palette.ink_soft);
    }
    let ring = |(row, col)| -> Rect { heat.cell_rect(row, col) };
    if response.has_focus() {
        let stroke = egui::Stroke::new(size::OUTLINE, palette.ink);
        painter.rect_stroke(ring(state.cursor), 0.0, stroke, egui::StrokeKind::Inside);
    }
    let under = response.hover_pos().and_then(|at| heat.at(at));
    let response = response.on_hover_text_at_pointer(match under {
        Some(cell) => said(cell),
        None => {
            format!("Rows: layers of {}. Columns: layers of {}. 0 is the embeddings", model.names[0], model.names[1])
        }
    });
    ui.weak(if response.has_focus() { said(state.cursor) } else { model.said.clone().unwrap_or_default() });
    ui.add(Label::new(RichText::new(TwoModels::SIMILARITY).weak()).wrap());
}
