//! Grids of cells: the cells of a heat map or a table (position, fill, number, hit test), the slanted column labels,
//! and the mask of queries and keys, which is painted by dragging.

use std::sync::Arc;

use attune_core::kernel::command::{Command, InterventionCommand};
use attune_engine::numerics::attention::{Mask, MaskBase, MaskTable};
pub use attune_view::sheet::grid::short;
use attune_view::view_model::what_if::WhatIfModel;
use egui::epaint::TextShape;
use egui::{
    Align2, Color32, Context, CornerRadius, Event, FontId, Galley, Key, Label, Mesh, Painter, Pos2, Rect, Response,
    RichText, Sense, Shape, Stroke, StrokeKind, Ui, Vec2, WidgetInfo, WidgetType,
};

use super::controls::led_by_arrows;
use crate::theme::{self, Palette, size};

/// The geometry of a grid of cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heat {
    pub origin: Pos2,
    pub cell: Vec2,
    pub rows: usize,
    pub cols: usize,
}

impl Heat {
    pub fn size(&self) -> Vec2 {
        Vec2::new(self.cols as f32, self.rows as f32) * self.cell
    }

    pub fn rect(&self) -> Rect {
        Rect::from_min_size(self.origin, self.size())
    }

    pub fn cell_rect(&self, row: usize, col: usize) -> Rect {
        let min = self.origin + Vec2::new(col as f32, row as f32) * self.cell;
        Rect::from_min_size(min, self.cell)
    }

    pub fn row_rect(&self, row: usize) -> Rect {
        self.cell_rect(row, 0).union(self.cell_rect(row, self.cols.saturating_sub(1)))
    }

    pub fn col_rect(&self, col: usize) -> Rect {
        self.cell_rect(0, col).union(self.cell_rect(self.rows.saturating_sub(1), col))
    }

    /// Returns all cells without gaps, as one shape.
    pub fn mesh(&self, fill: impl Fn(usize, usize) -> Color32) -> Shape {
        let mut mesh = Mesh::default();
        for (row, col) in (0..self.rows).flat_map(|row| (0..self.cols).map(move |col| (row, col))) {
            mesh.add_colored_rect(self.cell_rect(row, col), fill(row, col));
        }
        Shape::mesh(mesh)
    }

    /// Returns the row and column under `pointer`, if any.
    pub fn at(&self, pointer: Pos2) -> Option<(usize, usize)> {
        if !self.rect().contains(pointer) {
            return None;
        }
        let offset = (pointer - self.origin) / self.cell;
        let (row, col) = (offset.y as usize, offset.x as usize);
        (row < self.rows && col < self.cols).then_some((row, col))
    }

    pub fn paint_cell(&self, painter: &Painter, row: usize, col: usize, fill: Color32) {
        let least = self.cell.min_elem();
        // Small cells touch, because gaps and rounded corners would hide them.
        let (gap, radius) = if least > size::CELL_MIN {
            (size::HAIRLINE / 2.0, size::RADIUS_SMALL.min(least as u8 / 4))
        } else {
            (0.0, 0)
        };
        painter.rect_filled(self.cell_rect(row, col).shrink(gap), radius, fill);
    }

    /// Returns the font in which all numbers fit in their cells, or `None` if some do not: a map shows every number or
    /// none. When the window is zoomed in, numbers may get smaller relative to the rest, but not smaller on the screen.
    pub fn number_font<I: Iterator<Item = f32>>(&self, ctx: &Context, values: impl FnOnce() -> I) -> Option<FontId> {
        /// The length of `.00`. If not even this fits, no number needs to be measured.
        const NARROWEST: usize = 3;
        number_size(self.cell.x, NARROWEST, ctx.zoom_factor())?;
        let widest = values().map(|value| short(value).chars().count()).max().unwrap_or(0);
        number_size(self.cell.x, widest, ctx.zoom_factor()).map(theme::mono)
    }

    pub fn paint_number(&self, painter: &Painter, row: usize, col: usize, value: f32, font: &FontId, ink: Color32) {
        let center = self.cell_rect(row, col).center();
        painter.text(center, egui::Align2::CENTER_CENTER, short(value), font.clone(), ink);
    }

    pub fn outline(&self, painter: &Painter, rect: Rect, color: Color32) {
        painter.rect_stroke(rect, f32::from(size::RADIUS_SMALL), Stroke::new(size::OUTLINE, color), StrokeKind::Inside);
    }
}

/// Returns the font size for numbers of this many characters in a cell, in points; `None` if they do not fit.
fn number_size(cell: f32, characters: usize, zoom: f32) -> Option<f32> {
    let room = cell / characters.max(1) as f32 / size::CELL_DIGIT * size::CELL_NUMBER;
    (room >= size::CELL_NUMBER / zoom.max(1.0)).then_some(room.min(size::CELL_NUMBER_MAX))
}

const SLANT: f32 = -std::f32::consts::FRAC_PI_4;
const UPRIGHT: f32 = -std::f32::consts::FRAC_PI_2;

/// Returns how far a slanted text of this width extends to the right and upwards.
pub fn reach(width: f32) -> Vec2 {
    Vec2::new(width * SLANT.cos(), width * SLANT.sin().abs())
}

/// Paints a slanted text. `foot` is the middle of its left edge.
pub fn paint_slanted(painter: &Painter, foot: Pos2, galley: Arc<Galley>, ink: Color32) {
    paint_turned(painter, foot, galley, ink, SLANT);
}

/// Paints a vertical text, for columns that are too narrow for a slanted one.
pub fn paint_upright(painter: &Painter, foot: Pos2, galley: Arc<Galley>, ink: Color32) {
    paint_turned(painter, foot, galley, ink, UPRIGHT);
}

fn paint_turned(painter: &Painter, foot: Pos2, galley: Arc<Galley>, ink: Color32, angle: f32) {
    let height = galley.size().y;
    let corner = foot + Vec2::new(height / 2.0 * angle.sin(), -height / 2.0 * angle.cos());
    painter.add(TextShape::new(corner, galley, ink).with_angle(angle));
}

/// Returns the width of a label, in points.
pub fn text_width(ui: &Ui, text: &str) -> f32 {
    width_of(ui, text, theme::plain(size::LABEL))
}

/// Returns the width of a text in a font, in points.
pub fn width_of(ui: &Ui, text: &str, font: FontId) -> f32 {
    ui.painter().layout_no_wrap(text.to_owned(), font, ui.visuals().text_color()).size().x
}

#[derive(Default)]
pub struct MaskUiState {
    /// The stroke in progress, which is sent as one command when it ends.
    stroke: Option<Painted>,
    /// The row and column of the keyboard cursor.
    cursor: (usize, usize),
}

/// A stroke that is being painted on the mask: one drag, which shows or hides the cells that it passes.
struct Painted {
    shows: bool,
    /// The mask with the stroke so far.
    sees: Vec<bool>,
    /// The pointer's last position.
    at: Pos2,
}

pub fn mask_ui(ui: &mut Ui, model: &WhatIfModel, state: &mut MaskUiState) -> Option<Command> {
    let mut command = presets_ui(ui, model);
    let words = "Drag over the grid to change the mask; rows are queries, columns are keys. A dot marks a change \
        from the lesson.";
    ui.add(Label::new(RichText::new(words).weak().size(size::SMALL)).wrap());
    if model.layers_see_differently {
        let words = "The grid shows layer 1. A pair that you change is changed in all layers; in the others, each layer \
            keeps its own window.";
        ui.add(Label::new(RichText::new(words).weak().size(size::SMALL)).wrap());
    }
    command = command.or(grid_ui(ui, model, state));
    command
}

fn presets_ui(ui: &mut Ui, model: &WhatIfModel) -> Option<Command> {
    let count = model.tokens.len();
    let mut command = None;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        ui.label(RichText::new("Mask").font(theme::strong(size::BODY)));
        let itself = |query: usize, key: usize| query == key;
        let presets: [(&str, &str, Vec<bool>, MaskBase); 4] = [
            ("lesson's", "The mask of the lesson", model.mask.own.clone(), MaskBase::Layers),
            ("causal", "No word sees the words after it", table(count, |query, key| key <= query), MaskBase::Causal),
            ("none", "Every word sees every word", table(count, |_, _| true), MaskBase::None),
            ("only itself", "Each word sees only itself", table(count, itself), MaskBase::Hidden),
        ];
        // If several presets are alike here, the first one is chosen.
        let chosen = presets.iter().position(|(_, _, sees, _)| model.mask.now == *sees);
        for (index, (words, hint, sees, base)) in presets.into_iter().enumerate() {
            let is_chosen = chosen == Some(index);
            let response = ui.selectable_label(is_chosen, words);
            let name = format!("Mask: {words}");
            response.widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, is_chosen, &name));
            if response.on_hover_text(hint).clicked() && !is_chosen {
                command = Some(set(model, sees, base));
            }
        }
    });
    command
}

fn table(count: usize, sees: impl Fn(usize, usize) -> bool) -> Vec<bool> {
    (0..count * count).map(|at| sees(at / count, at % count)).collect()
}

/// Returns the command that sets the mask `sees`; for the lesson's own mask, the one that resets it.
fn set(model: &WhatIfModel, sees: Vec<bool>, base: MaskBase) -> Command {
    if sees == model.mask.own {
        return Command::Interventions(InterventionCommand::ResetMask);
    }
    let count = model.tokens.len();
    let table = MaskTable::from_fn(count, count, |query, key| sees[query * count + key]);
    Command::Interventions(InterventionCommand::SetMask(Some(Mask::custom(table.over(base)))))
}

fn grid_ui(ui: &mut Ui, model: &WhatIfModel, state: &mut MaskUiState) -> Option<Command> {
    const CELL: (f32, f32) = (13.0, 20.0);
    let palette = Palette::on(ui);
    let count = model.tokens.len();
    if count == 0 {
        return None;
    }
    let widest = model.tokens.iter().map(|token| text_width(ui, token)).fold(0.0, f32::max);
    let (left, top) = (widest + size::GAP, reach(widest).y + size::LABEL);
    let lean = model.tokens.last().map_or(0.0, |token| reach(text_width(ui, token)).x);
    let cell = ((ui.available_width() - left - lean) / count as f32).clamp(CELL.0, CELL.1).floor();
    let whole = Vec2::new(left + count as f32 * cell + lean, top + count as f32 * cell);
    let (rect, _) = ui.allocate_exact_size(whole, Sense::hover());
    let heat = Heat { origin: rect.min + Vec2::new(left, top), cell: Vec2::splat(cell), rows: count, cols: count };
    let response = ui.interact(heat.rect(), ui.id().with("mask"), Sense::click_and_drag());
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Other, true, "Mask: which word sees which"));
    let command = paint_stroke(&response, &heat, model, state).or_else(|| by_keys(ui, &response, model, state));
    let sees = state.stroke.as_ref().map_or(&model.mask.now, |painted| &painted.sees);
    for (at, (sees, own)) in sees.iter().zip(&model.mask.own).enumerate() {
        let (row, col) = (at / count, at % count);
        let fill = if *sees { palette.accent } else { palette.raised };
        cell_ui(ui, heat.cell_rect(row, col), fill, *sees != *own, palette);
    }
    if response.has_focus() {
        heat.outline(ui.painter(), heat.cell_rect(state.cursor.0, state.cursor.1), palette.ink);
    }
    names_ui(ui, model, &heat, palette);
    if let Some((row, col)) = response.hover_pos().and_then(|pointer| heat.at(pointer)) {
        let verb = if sees[row * count + col] { "sees" } else { "does not see" };
        let said = format!("{} (query) {verb} {} (key)", model.tokens[row], model.tokens[col]);
        // A tooltip would cover the cells that are being painted.
        if !response.is_pointer_button_down_on() {
            response.on_hover_text_at_pointer(said);
        }
    }
    command
}

/// Paints on the mask: a drag shows all cells that it passes if its first cell was hidden, and otherwise hides them.
/// Returns the command for the whole drag when it ends.
fn paint_stroke(response: &Response, heat: &Heat, model: &WhatIfModel, state: &mut MaskUiState) -> Option<Command> {
    let count = model.tokens.len();
    // A stroke on another sentence's mask is dropped.
    state.stroke = state.stroke.take().filter(|painted| painted.sees.len() == count * count);
    let cell = |pointer: Pos2| heat.at(pointer).map(|(row, col)| row * count + col);
    let is_down = response.is_pointer_button_down_on();
    if state.stroke.is_none() && (is_down || response.clicked()) {
        let pressed = response.ctx.input(|input| input.pointer.press_origin()).or(response.interact_pointer_pos())?;
        let mut sees = model.mask.now.clone();
        let first = cell(pressed)?;
        sees[first] = !sees[first];
        state.stroke = Some(Painted { shows: sees[first], sees, at: pressed });
    }
    let painted = state.stroke.as_mut()?;
    // All positions of the pointer in this frame count, and so do the paths between them, so that a stroke has no gaps.
    for pointer in moves(response) {
        let steps = (painted.at.distance(pointer) / heat.cell.x).ceil() as usize + 1;
        for step in 0..=steps {
            if let Some(at) = cell(painted.at.lerp(pointer, step as f32 / steps as f32)) {
                painted.sees[at] = painted.shows;
            }
        }
        painted.at = pointer;
    }
    if is_down {
        return None;
    }
    let Painted { sees, .. } = state.stroke.take()?;
    (sees != model.mask.now).then(|| set(model, sees, model.mask_base))
}

/// Returns the pointer's positions in this frame while its button was pressed.
fn moves(response: &Response) -> Vec<Pos2> {
    response.ctx.input(|input| {
        // Positions before the press do not belong to the stroke.
        let is_press = |event: &Event| matches!(event, Event::PointerButton { pressed: true, .. });
        let from = input.events.iter().rposition(is_press).map_or(0, |place| place + 1);
        let down = input.events[from..].iter().map_while(|event| match event {
            Event::PointerMoved(pos) => Some(Some(*pos)),
            Event::PointerButton { pressed: false, .. } => None,
            _ => Some(None),
        });
        down.flatten().collect()
    })
}

/// Handles the keyboard on the grid: arrows move between cells, and Space toggles one.
fn by_keys(ui: &Ui, response: &Response, model: &WhatIfModel, state: &mut MaskUiState) -> Option<Command> {
    let last = model.tokens.len() - 1;
    state.cursor = (state.cursor.0.min(last), state.cursor.1.min(last));
    if response.clicked() {
        response.request_focus();
    }
    if !response.has_focus() {
        return None;
    }
    state.cursor = led_by_arrows(ui, response, state.cursor, last + 1, last + 1);
    let (query, key) = state.cursor;
    ui.input(|input| input.key_pressed(Key::Space))
        .then_some(Command::Interventions(InterventionCommand::ToggleMask { query, key }))
}

fn cell_ui(ui: &Ui, rect: Rect, fill: Color32, differs: bool, palette: &Palette) {
    const DOT: f32 = 2.0;
    let inner = rect.shrink(size::HAIRLINE);
    ui.painter().rect_filled(inner, CornerRadius::same(size::RADIUS_SMALL), fill);
    if fill == palette.raised {
        let stroke = Stroke::new(size::HAIRLINE, palette.axis);
        ui.painter().line_segment([inner.left_bottom(), inner.right_top()], stroke);
    }
    if differs {
        ui.painter().circle_filled(rect.center(), DOT, palette.ink_on(fill));
    }
}

fn names_ui(ui: &Ui, model: &WhatIfModel, heat: &Heat, palette: &Palette) {
    let painter = ui.painter();
    let font = || theme::plain(size::SMALL);
    for (at, token) in model.tokens.iter().enumerate() {
        let row = heat.cell_rect(at, 0).left_center() - Vec2::new(size::GAP_TIGHT, 0.0);
        painter.text(row, Align2::RIGHT_CENTER, token, font(), palette.ink_soft);
        let galley = painter.layout_no_wrap(token.clone(), font(), palette.ink_soft);
        let foot = heat.cell_rect(0, at).center_top() - Vec2::new(0.0, size::GAP_TIGHT);
        paint_slanted(painter, foot, galley, palette.ink_soft);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_when_everything_is_zoomed() {
        let cell = size::CELL_WITH_NUMBER;
        let number = number_size(cell, 3, 1.0).expect("room");
        assert!((size::CELL_NUMBER..=size::CELL_NUMBER_MAX).contains(&number), "{number}");
        assert!(3.0 * number * size::CELL_DIGIT / size::CELL_NUMBER <= cell + 1e-3, "three digits fit");
        assert_eq!(number_size(size::CELL_MAX, 3, 1.0), Some(size::CELL_NUMBER_MAX));
        assert_eq!(number_size(cell, 4, 1.0), None);
        for zoom in [1.1, 1.5, 2.0] {
            let on_screen = number_size(cell / zoom, 3, zoom).expect("room") * zoom;
            assert!(on_screen >= size::CELL_NUMBER, "{zoom}: {on_screen}");
        }
    }

    #[test]
    fn the_pointer_finds_the_cell_whose_rectangle_it_is_in() {
        let heat = Heat { origin: Pos2::new(10.0, 20.0), cell: Vec2::new(24.0, 16.0), rows: 3, cols: 5 };
        for row in 0..3 {
            for col in 0..5 {
                assert_eq!(heat.at(heat.cell_rect(row, col).center()), Some((row, col)));
            }
        }
        assert_eq!(heat.at(Pos2::new(9.0, 20.0)), None);
        assert_eq!(heat.at(heat.rect().max + Vec2::splat(1.0)), None);
    }
}
