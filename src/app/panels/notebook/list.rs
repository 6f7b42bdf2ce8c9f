//! The cells that are in sight. Only these are laid out; of the others the height is remembered, or
//! estimated until they were seen, so that a thousand cells scroll as ten do.

use egui::{Align, Rect, ScrollArea, Ui, UiBuilder, Vec2, pos2, vec2};

use crate::app::theme::size;
use crate::app::widgets::note::leave_room;

use super::cell::cell_ui;
use super::frame::{Follow, Frame, Places};
use super::hold::{below_ui, hold};
use super::kinds::first_height;
use super::way_on::way_on_ui;

/// Cells this far out of sight are laid out already.
const MARGIN: f32 = 200.0;
/// So much of the top of a cell in sight is enough to have come to it.
const SEEN: f32 = 64.0;

pub fn list_ui(ui: &mut Ui, frame: &mut Frame) {
    let cells = frame.model.open_cells();
    let salt = ui.id().with("cells");
    if frame.state.follow.is_some() || frame.state.judged.is_some() {
        (frame.state.held, frame.state.below) = (None, None);
    }
    let mut verdict = None;
    let height = leave_room(ui, ui.available_rect_before_wrap());
    let list = ScrollArea::vertical().max_height(height).id_salt(salt).auto_shrink([false, false]).show_viewport(
        ui,
        |ui, sight| {
            let width = ui.available_width().min(size::MEASURE);
            let origin = ui.min_rect().min;
            let mut y = 0.0;
            for (index, cell) in cells.iter().enumerate() {
                let id = cell.id();
                let height = frame.state.heights.get(id).copied().unwrap_or_else(|| first_height(cell, width));
                let is_near = y + height >= sight.min.y - MARGIN && y <= sight.max.y + MARGIN;
                let is_followed = frame.state.follow.as_ref().is_some_and(|follow| follow.id == *id);
                let is_before = frame.state.follow.as_ref().is_some_and(|follow| follow.after.as_ref() == Some(id));
                let is_wanted = frame.state.focus.as_ref() == Some(id) || is_followed || is_before;
                let height = if is_near || is_wanted {
                    let place = Rect::from_min_size(pos2(origin.x, origin.y + y), vec2(width, f32::INFINITY));
                    let mut child = ui.new_child(UiBuilder::new().max_rect(place).id_salt(&**id));
                    frame.places = Places::default();
                    cell_ui(&mut child, cell, index, frame);
                    let rect = child.min_rect();
                    hold(ui, frame, cell, rect);
                    if let Some(below) = &mut frame.state.below {
                        below.measure(id, rect, &frame.places);
                    }
                    if is_before {
                        verdict = frame.places.verdict;
                    }
                    if is_followed {
                        follow(ui, rect, verdict, sight, &mut frame.state.follow);
                    }
                    frame.state.heights.insert(id.clone(), rect.height());
                    rect.height()
                } else {
                    height
                };
                if !cell.cell.is_own && y + height.min(SEEN) <= sight.max.y {
                    frame.lowest = Some(id.clone());
                }
                y += height + size::GAP_WIDE;
            }
            let is_end = frame.model.closed_gate.is_none() && !cells.is_empty();
            let is_near = y <= sight.max.y + MARGIN || frame.state.wants_next;
            if is_end && is_near {
                let place = Rect::from_min_size(pos2(origin.x, origin.y + y), vec2(width, f32::INFINITY));
                let mut child = ui.new_child(UiBuilder::new().max_rect(place).id_salt("way on"));
                way_on_ui(&mut child, frame);
                frame.state.way_on_height = child.min_rect().height();
            }
            if is_end {
                y += frame.state.way_on_height;
            }
            ui.allocate_rect(Rect::from_min_size(origin, vec2(width, y)), egui::Sense::hover());
        },
    );
    below_ui(ui, list.inner_rect, frame);
}

/// Scrolls to a cell; to the verdict above it too, from `verdict` on, where that leaves room for the cell's beginning.
fn follow(ui: &Ui, cell: Rect, verdict: Option<f32>, sight: Rect, state: &mut Option<Follow>) {
    let is_scrolled = ui.input(|input| input.smooth_scroll_delta() != Vec2::ZERO);
    let Some(follow) = state.as_mut().filter(|follow| follow.frames > 0 && !is_scrolled) else {
        *state = None;
        return;
    };
    follow.frames -= 1;
    let leaves_room = |top: &f32| cell.top() + SEEN - top <= sight.height();
    let top = verdict.filter(leaves_room).unwrap_or(cell.top());
    let cell = Rect::from_min_max(pos2(cell.left(), top), cell.max).expand(size::GAP);
    let excess = (cell.height() - sight.height()).max(0.0);
    let (above, below) = if follow.is_end { (excess, 0.0) } else { (0.0, excess) };
    let shown = Rect::from_min_max(cell.min + vec2(0.0, above), cell.max - vec2(0.0, below));
    let is_at_top = follow.is_at_top || !sight.is_positive();
    ui.scroll_to_rect(shown, is_at_top.then_some(Align::Min));
}
