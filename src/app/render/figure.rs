//! The stage as a figure: title above, the picture, the sentence below.

use bevy::ecs::resource::Resource;
use egui::{Align, Frame, Layout, Margin, RichText, Ui, UiBuilder};

use crate::app::panels::StageUi;
use crate::app::theme::{self, Palette, size};
use crate::app::view::ViewState;
use crate::app::view::walk::STEPS;
use crate::lesson::schema::CellKind;
use crate::view_model::models::Models;
use crate::view_model::notebook::NotebookModel;

/// Height of the caption, in points.
pub const CAPTION: f32 = 64.0;

/// Draws the stage alone, with a caption.
#[derive(Resource)]
pub struct Figure;

pub fn figure_ui(ui: &mut Ui, models: &Models, view: &mut ViewState, stage: &mut dyn StageUi) {
    /// A lower picture has no caption.
    const CAPTION_FROM: f32 = 3.0 * CAPTION;
    let palette = Palette::of(ui.visuals().dark_mode);
    let (picture, caption) = {
        let whole = ui.max_rect();
        let caption = if view.figure.bare || whole.height() < CAPTION_FROM { 0.0 } else { CAPTION };
        whole.split_top_bottom_at_y(whole.bottom() - caption)
    };
    ui.painter().rect_filled(ui.max_rect(), 0.0, view.figure.background.unwrap_or(palette.stage));
    ui.scope_builder(UiBuilder::new().max_rect(picture), |ui| stage.stage_ui(ui, &mut view.for_panels()));
    let model = caption.is_positive().then(|| models.get::<NotebookModel>()).flatten();
    let Some(model) = model else { return };
    ui.scope_builder(UiBuilder::new().max_rect(caption).layout(Layout::top_down(Align::Min)), |ui| {
        Frame::new().inner_margin(Margin::symmetric(size::PANEL_MARGIN, 0)).show(ui, |ui| {
            ui.label(RichText::new(&model.sentence).font(theme::strong(size::READING)));
            let walk = &view.walk;
            let place = match walk.is_walking() {
                true => format!("step {} of {STEPS}: {}", walk.step().index() + 1, walk.step().name()),
                false => format!("time {:.2}", walk.time()),
            };
            ui.weak(format!("{} · {place}", caption_of(&model, view).unwrap_or(&model.title)));
        });
    });
}

fn caption_of<'a>(model: &'a NotebookModel, view: &ViewState) -> Option<&'a str> {
    let shown = view.highlight.shown_cell.as_deref()?;
    model.cells.iter().find(|cell| **cell.id() == *shown).and_then(|cell| match &*cell.cell.kind {
        CellKind::Stage { caption, .. } => Some(caption.as_str()),
        _ => None,
    })
}
