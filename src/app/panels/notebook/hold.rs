//! The place of what was clicked, kept while the notebook grows around it; and a way to what has come below the lower edge.

use attune_core::kernel::notebook::document::CellId;
use attune_core::kernel::notebook::snapshot::CellStatus;
use attune_view::view_model::notebook::CellModel;
use egui::style::ScrollAnimation;
use egui::{Align2, Button, Rect, Ui, pos2, vec2};

use super::frame::{FOLLOWED, Frame, Places};
use crate::app::theme::size;

/// A cell that was clicked.
pub struct Held {
    cell: CellId,
    /// Its buttons or choices were clicked, and not what is above them.
    is_controls: bool,
    /// Height of what was clicked, from the top of the list.
    at: f32,
    /// Frames for which it is kept, once the pointer is up and the cell does not run.
    frames: usize,
}

/// Keeps what was clicked in a cell under the pointer: the list scrolls by as much as what is above it has grown.
pub fn hold(ui: &Ui, frame: &mut Frame, cell: &CellModel, rect: Rect) {
    let top = ui.min_rect().top();
    let Places { controls, .. } = frame.places;
    let (presses, is_down, pointer) =
        ui.input(|input| (input.pointer.any_pressed(), input.pointer.any_down(), input.pointer.interact_pos()));
    if presses && ui.rect_contains_pointer(rect) {
        let is_controls = pointer.zip(controls).is_some_and(|(pointer, controls)| pointer.y >= controls);
        let at = controls.filter(|_| is_controls).unwrap_or(rect.top()) - top;
        frame.state.held = Some(Held { cell: cell.id().clone(), is_controls, at, frames: FOLLOWED });
    }
    let Some(held) = frame.state.held.as_mut().filter(|held| held.cell == *cell.id()) else { return };
    let at = controls.filter(|_| held.is_controls).unwrap_or(rect.top()) - top;
    let grown = at - held.at;
    if grown.abs() > size::HAIRLINE / 2.0 {
        held.at = at;
        ui.scroll_with_delta_animation(vec2(0.0, -grown), ScrollAnimation::none());
        ui.ctx().request_discard("what was clicked keeps its place");
    }
    if !is_down && cell.shown.status != CellStatus::Waiting {
        held.frames -= 1;
        if held.frames == 0 {
            frame.state.held = None;
        }
    }
}

/// Something that a click has added to a cell.
pub struct Below {
    cell: CellId,
    /// Words of the button that leads to it.
    words: &'static str,
    /// Set where a verdict was added; otherwise the end of the cell was.
    is_verdict: bool,
    /// Its lower edge on the screen.
    bottom: f32,
    frames: usize,
}

impl Below {
    pub fn end(cell: &CellId, words: &'static str) -> Self {
        Self { cell: cell.clone(), words, is_verdict: false, bottom: 0.0, frames: FOLLOWED }
    }

    pub fn verdict(cell: &CellId, words: &'static str) -> Self {
        Self { is_verdict: true, ..Self::end(cell, words) }
    }

    /// Measures it where its cell is drawn.
    pub fn measure(&mut self, cell: &CellId, rect: Rect, places: &Places) {
        if self.cell == *cell {
            let verdict = places.verdict.filter(|_| self.is_verdict);
            self.bottom = verdict.map_or(rect.bottom(), |top| top + size::CELL_MAX);
        }
    }
}

/// A button over the lower edge of the list that leads to what a click has added below it.
pub fn below_ui(ui: &mut Ui, list: Rect, frame: &mut Frame) {
    let Some(below) = &mut frame.state.below else { return };
    if below.bottom <= list.bottom() {
        // It may be still to come.
        below.frames -= 1;
        if below.frames == 0 {
            frame.state.below = None;
        }
        return;
    }
    let place = Rect::from_min_max(pos2(list.left(), list.bottom() - size::CELL_MAX), list.max);
    let words = format!("↓  {}", below.words);
    let button = Button::new(words).min_size(vec2(0.0, size::SLIDER_ROW));
    let width = list.width() / 2.0;
    let place = Align2::CENTER_BOTTOM.align_size_within_rect(vec2(width, place.height()), place);
    if ui.put(place, button).on_hover_text("Scroll to it").clicked() {
        let Some(below) = frame.state.below.take() else { return };
        if below.is_verdict {
            frame.state.judged = Some(below.cell);
        } else {
            frame.reveal_end(&below.cell);
        }
    }
}
