//! The stage as a figure: title above, the picture, the sentence below.

use attune_core::lesson::schema::CellKind;
use attune_view::view_model::models::Models;
use attune_view::view_model::notebook::NotebookModel;
use bevy::ecs::resource::Resource;
use egui::{Align, Frame, Layout, Margin, RichText, TextStyle, Ui, UiBuilder};

use crate::app::panels::StageUi;
use crate::app::theme::{self, Palette, size};
use crate::app::view::ViewState;
use crate::app::view::walk::STEPS;

/// Height of the caption, in points; one of more lines is higher.
pub const CAPTION: f32 = 64.0;

/// Draws the stage alone, with a caption.
#[derive(Resource)]
pub struct Figure;

pub fn figure_ui(ui: &mut Ui, models: &Models, view: &mut ViewState, stage: &mut dyn StageUi) {
    /// A lower picture has no caption.
    const CAPTION_FROM: f32 = 3.0 * CAPTION;
    let palette = Palette::of(ui.visuals().dark_mode);
    let whole = ui.max_rect();
    let has_caption = !view.figure.bare && whole.height() >= CAPTION_FROM;
    let words = has_caption.then(|| models.get::<NotebookModel>()).flatten().map(|model| words(&model, view));
    let height = match &words {
        // Long words of a lesson are not cut off.
        Some(words) => CAPTION.max(height(ui, words, whole.width() - 2.0 * f32::from(size::PANEL_MARGIN))),
        None if has_caption => CAPTION,
        None => 0.0,
    };
    let (picture, caption) = whole.split_top_bottom_at_y(whole.bottom() - height);
    ui.painter().rect_filled(ui.max_rect(), 0.0, view.figure.background.unwrap_or(palette.stage));
    ui.scope_builder(UiBuilder::new().max_rect(picture), |ui| stage.stage_ui(ui, &mut view.for_panels()));
    let Some((sentence, about)) = words else { return };
    ui.scope_builder(UiBuilder::new().max_rect(caption).layout(Layout::top_down(Align::Min)), |ui| {
        Frame::new().inner_margin(Margin::symmetric(size::PANEL_MARGIN, 0)).show(ui, |ui| {
            ui.label(RichText::new(sentence).font(theme::strong(size::READING)));
            ui.weak(about);
        });
    });
}

/// The sentence, and what the picture shows of it.
fn words(model: &NotebookModel, view: &ViewState) -> (String, String) {
    let walk = &view.walk;
    let place = match walk.is_walking() {
        true => format!("step {} of {STEPS}: {}", walk.step().index() + 1, walk.step().name()),
        false => format!("time {:.2}", walk.time()),
    };
    (model.sentence.clone(), format!("{} · {place}", caption_of(model, view).unwrap_or(&model.title)))
}

/// Height of both, one below the other.
fn height(ui: &Ui, (sentence, about): &(String, String), width: f32) -> f32 {
    let high = |text: &str, font| ui.painter().layout(text.to_owned(), font, ui.visuals().text_color(), width).size().y;
    let about = high(about, TextStyle::Body.resolve(ui.style()));
    high(sentence, theme::strong(size::READING)) + ui.spacing().item_spacing.y + about + size::GAP
}

fn caption_of<'a>(model: &'a NotebookModel, view: &ViewState) -> Option<&'a str> {
    let shown = view.highlight.shown_cell.as_deref()?;
    model.cells.iter().find(|cell| **cell.id() == *shown).and_then(|cell| match &*cell.cell.kind {
        CellKind::Stage { caption, .. } => Some(caption.as_str()),
        _ => None,
    })
}
