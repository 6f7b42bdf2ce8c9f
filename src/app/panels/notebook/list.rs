//! The list of cells, of which only the visible ones are laid out. The heights of the others are remembered, or
//! estimated until they have been drawn, so that a thousand cells scroll as smoothly as ten.
//!
//! A clicked cell keeps its place while the notebook grows around it. Over the lower edge of the list are a button that
//! scrolls to content that a click has added below, and notes about a deletion or about letters without effect. Below
//! the last cell, the next lesson can be opened.

use std::time::{Duration, Instant};

use attune_core::kernel::command::Command;
use attune_core::kernel::notebook::document::{CellId, DELETION};
use attune_core::kernel::notebook::snapshot::CellStatus;
use attune_core::kernel::snapshot::Progress;
use attune_ui::actions::keys::dropped_letters;
use attune_ui::actions::{Action, ActionTable, NotebookAction, WindowAction};
use attune_ui::theme::{self, Palette, size};
use attune_ui::widgets::popup::{leave_room, note_ui};
use attune_view::view_model::course::AroundLesson;
use attune_view::view_model::notebook::CellModel;
use egui::style::ScrollAnimation;
use egui::{Align, Align2, Button, Event, Rect, Response, RichText, ScrollArea, Ui, UiBuilder, Vec2, pos2, vec2};

use super::cell::{cell_ui, first_height};
use super::frame::NotebookFrame;
use super::recall::recall_ui;
use super::state::{CellHeights, FOLLOWED, Follow, Held};

/// Distance outside the visible part within which cells are laid out already.
const MARGIN: f32 = 200.0;
/// Height of the visible top of a cell at which the cell counts as reached.
const SEEN: f32 = 64.0;

pub fn list_ui(ui: &mut Ui, frame: &mut NotebookFrame) {
    let cells = frame.model.open_cells();
    let salt = ui.id().with("cells");
    if frame.state.follow.is_some() || frame.state.judged.is_some() {
        (frame.state.held, frame.state.below) = (None, None);
    }
    let mut result = None;
    let height = leave_room(ui, ui.available_rect_before_wrap());
    let list = ScrollArea::vertical().max_height(height).id_salt(salt).auto_shrink([false, false]).show_viewport(
        ui,
        |ui, sight| {
            let width = ui.available_width().min(size::MEASURE);
            let origin = ui.min_rect().min;
            let mut y = beginning_ui(ui, Rect::from_min_size(origin, vec2(width, f32::INFINITY)), sight, frame);
            for (index, cell) in cells.iter().enumerate() {
                let id = cell.id();
                let height = frame.state.heights.get(id).copied().unwrap_or_else(|| first_height(cell, width));
                let is_near = y + height >= sight.min.y - MARGIN && y <= sight.max.y + MARGIN;
                let is_wanted = frame.state.focus.as_ref() == Some(id) || is_followed(frame, id) != (false, false);
                let height = if is_near || is_wanted {
                    let place = Rect::from_min_size(pos2(origin.x, origin.y + y), vec2(width, f32::INFINITY));
                    near_cell_ui(ui, cell, index, frame, place, sight, &mut result)
                } else {
                    height
                };
                if !cell.cell.is_own && y + height.min(SEEN) <= sight.max.y {
                    frame.lowest = Some(id.clone());
                }
                y += height + size::GAP_WIDE;
            }
            if frame.model.closed_gate.is_none() && !cells.is_empty() {
                let is_near = y <= sight.max.y + MARGIN || frame.state.wants_next;
                let place = Rect::from_min_size(pos2(origin.x, origin.y + y), vec2(width, f32::INFINITY));
                y += end_ui(ui, place, is_near, frame);
            }
            ui.allocate_rect(Rect::from_min_size(origin, vec2(width, y)), egui::Sense::hover());
        },
    );
    below_ui(ui, list.inner_rect, frame);
}

/// Shows the questions from earlier lessons above the first cell, if they are near the visible part. Returns their
/// height with the gap below.
fn beginning_ui(ui: &mut Ui, place: Rect, sight: Rect, frame: &mut NotebookFrame) -> f32 {
    if frame.state.recall.model.is_none() {
        return 0.0;
    }
    if sight.min.y - MARGIN <= frame.state.recall.height {
        let mut child = ui.new_child(UiBuilder::new().max_rect(place).id_salt("recall"));
        recall_ui(&mut child, frame);
        frame.state.recall.height = child.min_rect().height();
    }
    frame.state.recall.height + size::GAP_WIDE
}

/// Shows a cell that is in or near the visible part, and returns its height. `result` is the position of the result of
/// the cell before the one to which the list scrolls.
fn near_cell_ui(
    ui: &mut Ui,
    cell: &CellModel,
    index: usize,
    frame: &mut NotebookFrame,
    place: Rect,
    sight: Rect,
    result: &mut Option<f32>,
) -> f32 {
    let id = cell.id();
    let (is_followed, is_before) = is_followed(frame, id);
    let mut child = ui.new_child(UiBuilder::new().max_rect(place).id_salt(&**id));
    frame.places = CellHeights::default();
    cell_ui(&mut child, cell, index, frame);
    let rect = child.min_rect();
    hold(ui, frame, cell, rect);
    if let Some(below) = &mut frame.state.below {
        below.measure(id, rect, &frame.places);
    }
    if is_before {
        *result = frame.places.result;
    }
    if is_followed {
        follow(ui, rect, *result, sight, &mut frame.state.follow);
    }
    frame.state.heights.insert(id.clone(), rect.height());
    rect.height()
}

/// Returns whether the list scrolls to this cell, and whether it scrolls to the next one and keeps this cell's result
/// visible.
fn is_followed(frame: &NotebookFrame, id: &CellId) -> (bool, bool) {
    let follow = frame.state.follow.as_ref();
    let is_before = follow.is_some_and(|follow| follow.after.as_ref() == Some(id));
    (follow.is_some_and(|follow| follow.id == *id), is_before)
}

/// Shows the part of the list below the last cell, if it is near the visible part. Returns its height.
fn end_ui(ui: &mut Ui, place: Rect, is_near: bool, frame: &mut NotebookFrame) -> f32 {
    if is_near {
        let mut child = ui.new_child(UiBuilder::new().max_rect(place).id_salt("way on"));
        way_on_ui(&mut child, frame);
        frame.state.way_on_height = child.min_rect().height();
    }
    frame.state.way_on_height
}

/// Scrolls to a cell, and to the result above it, which begins at `result`, if both fit.
fn follow(ui: &Ui, cell: Rect, result: Option<f32>, sight: Rect, state: &mut Option<Follow>) {
    let is_scrolled = ui.input(|input| input.smooth_scroll_delta() != Vec2::ZERO);
    let Some(follow) = state.as_mut().filter(|follow| follow.frames > 0 && !is_scrolled) else {
        *state = None;
        return;
    };
    follow.frames -= 1;
    let top = result.map_or(cell.top(), |top| top.max(cell.top() + SEEN - sight.height()));
    let cell = Rect::from_min_max(pos2(cell.left(), top), cell.max).expand(size::GAP);
    let excess = (cell.height() - sight.height()).max(0.0);
    let (above, below) = if follow.is_end { (excess, 0.0) } else { (0.0, excess) };
    let shown = Rect::from_min_max(cell.min + vec2(0.0, above), cell.max - vec2(0.0, below));
    let is_at_top = follow.is_at_top || !sight.is_positive();
    ui.scroll_to_rect(shown, is_at_top.then_some(Align::Min));
}

/// Keeps the clicked part of a cell under the pointer: the list scrolls by the height that the content above it has
/// gained.
pub fn hold(ui: &Ui, frame: &mut NotebookFrame, cell: &CellModel, rect: Rect) {
    let top = ui.min_rect().top();
    let CellHeights { controls, .. } = frame.places;
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

/// Shows a button at the lower edge of the list if a click has added content below this edge. The button scrolls to
/// that content.
fn below_ui(ui: &mut Ui, list: Rect, frame: &mut NotebookFrame) {
    let Some(below) = &mut frame.state.below else { return };
    if below.bottom <= list.bottom() {
        // The content may not have been added yet, so it is awaited for some frames.
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

/// Duration of a note, long enough to read it and to reach its button.
const SHOWN: Duration = Duration::from_secs(10);

pub fn notes_ui(ui: &Ui, frame: &mut NotebookFrame) {
    if !deleted_ui(ui, frame) {
        letters_ui(ui, frame);
    }
}

/// Shows the note about a deletion. Returns true if it is visible.
fn deleted_ui(ui: &Ui, frame: &mut NotebookFrame) -> bool {
    let Some(showing) = &mut frame.state.deleted else { return false };
    // The note's button no longer restores the cell once Undo would revert another change.
    let is_last = frame.model.history.undo.as_deref() == Some(DELETION);
    let is_asked = !frame.commands.is_empty();
    let is_over = !is_last && !is_asked && showing.elapsed() > Duration::from_secs(1);
    let Some(opacity) = showing.opacity(ui.ctx(), SHOWN).filter(|_| !is_over) else {
        frame.state.deleted = None;
        return false;
    };
    if !is_last {
        return false;
    }
    let undo = WindowAction::Undo.row();
    let (undoes, note) = note_ui(ui.ctx(), ui.id().with("deleted"), size::GAP_WIDE, |ui| {
        ui.set_opacity(opacity);
        ui.label(RichText::new("Cell deleted").size(size::READING));
        let words = format!("Undo ({})", undo.keys_text());
        ui.button(words).on_hover_text("Brings the cell back").clicked()
    });
    showing.stay(&note);
    if undoes {
        frame.commands.push(Command::Undo);
        frame.state.deleted = None;
    }
    true
}

/// Shows a note about letters that had no effect, because they were perhaps meant for the selected cell.
fn letters_ui(ui: &Ui, frame: &mut NotebookFrame) {
    let latest: Option<Instant> = frame.state.refused.max(dropped_letters(ui.ctx()));
    let Some(age) = latest.map(|since| since.elapsed()).filter(|age| *age < SHOWN) else { return };
    if ui.ctx().text_edit_focused() {
        frame.state.refused = None;
        return;
    }
    ui.ctx().request_repaint_after(SHOWN - age);
    let [write, command] = [NotebookAction::Write, NotebookAction::Leave].map(|action| action.row().keys_text());
    note_ui(ui.ctx(), ui.id().with("letters"), size::GAP_WIDE, |ui| {
        let words = format!("Press {write} to write, or {command} to use the keys of the notebook");
        ui.label(RichText::new(words).size(size::READING));
    });
}

/// Shows the part of the list below the last cell, with the button of the next lesson, to which ↓ leads from this cell.
fn way_on_ui(ui: &mut Ui, frame: &mut NotebookFrame) {
    let around = frame.prose.around.clone();
    if let Some(Progress { done, of }) = frame.model.touring {
        ui.weak(format!("Measuring this model for its tour: text {done} of {of} …"));
    }
    ui.separator();
    // In the frame of an arrow key, egui would move the focus on from the button that has just received it.
    let is_led = ui.input(|input| input.raw.events.iter().any(|event| matches!(event, Event::Key { .. })));
    let wants = !is_led && std::mem::take(&mut frame.state.wants_next);
    if frame.state.wants_next {
        ui.ctx().request_repaint();
    }
    let (button, action) = match &around.after {
        Some(next) => (next_ui(ui, next), Action::open(&next.path)),
        None => {
            let course = WindowAction::Course.row();
            (ui.button(course.text).on_hover_text(course.hint()), WindowAction::Course.into())
        }
    };
    if wants {
        button.request_focus();
        button.scroll_to_me(None);
    }
    if button.clicked() {
        frame.actions.push(action);
    }
    if let Some(before) = &around.before {
        let words = RichText::new(format!("Previous lesson: {}", before.title)).color(Palette::on(ui).ink_soft);
        let response = ui.add(Button::new(words).wrap());
        if response.on_hover_text("Opens that lesson; your work on this one is saved").clicked() {
            frame.actions.push(Action::open(&before.path));
        }
    }
    ui.add_space(size::GAP_WIDE);
}

fn next_ui(ui: &mut Ui, next: &AroundLesson) -> Response {
    let palette = Palette::on(ui);
    let words = RichText::new(format!("Next lesson: {}", next.title)).font(theme::strong(size::READING));
    let button = Button::new(words.color(palette.on_accent)).fill(palette.accent).min_size(vec2(0.0, size::CELL_MAX));
    ui.add(button.wrap())
        .on_hover_text("Opens that lesson; your work on this one is saved (↓ from the last cell, then Enter)")
}
