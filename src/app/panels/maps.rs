//! The maps of *Intervene*: a button that starts them, and heat maps that fill while they are computed. A click in a
//! cell makes that change.

use attune_core::kernel::command::Command;
use attune_core::kernel::evidence::live::SentenceMap;
use attune_ui::actions::{ActionTable, WindowAction};
use attune_ui::theme::{self, Palette, size};
use attune_ui::ui_state::FocusRequest;
use attune_ui::widgets::controls::{code_button, led_by_arrows};
use attune_ui::widgets::heat::{Heat, paint_slanted, reach, text_width};
use attune_view::panels::intervene::{cell, largest, maps};
use attune_view::sheet::grid::Grid;
use attune_view::view_model::what_if::{MapKind, WhatIfModel};
use egui::{Align2, Button, Key, Label, Response, RichText, ScrollArea, Sense, Ui, Vec2, WidgetInfo, WidgetType};

/// Shows the button that starts or stops the maps, and the maps. Returns the requested command.
pub(crate) fn maps_ui(ui: &mut Ui, model: &WhatIfModel, asked: &mut FocusRequest) -> Option<Command> {
    let mut command = None;
    ui.horizontal(|ui| {
        ui.label(RichText::new("Maps").font(theme::strong(size::BODY)));
        command = button_ui(ui, model.map.as_deref(), asked);
    });
    if let Some(title) = model.map_title() {
        ui.add(Label::new(title).wrap());
    }
    for (kind, grid) in maps(model) {
        ui.horizontal(|ui| {
            ui.label(RichText::new(&grid.title).size(size::SMALL));
            if let Some(code) = model.map_code(kind) {
                code_button(ui, "this map", || code.to_owned());
            }
        });
        let of_two = model.map.as_ref().is_some_and(|map| map.second.is_some());
        if let Some(largest) = largest(model, kind, &grid) {
            ui.add(Label::new(RichText::new(largest).size(size::SMALL)).wrap());
        }
        let scroll = ScrollArea::horizontal().id_salt(&grid.title);
        let clicked = scroll.show(ui, |ui| grid_ui(ui, &grid, |row, col| cell(kind, of_two, &grid, row, col))).inner;
        command = clicked.and_then(|(layer, place)| model.map_command(kind, layer, place)).or(command);
        ui.weak(RichText::new(about(kind, of_two)).size(size::SMALL));
    }
    command
}

/// Returns a short text about the cells of a map: their meaning, or the effect of a click, or both.
fn about(kind: MapKind, of_two: bool) -> &'static str {
    match kind {
        MapKind::Words => {
            "0: the answer is as in the sentence; 1: as in the second. Click a cell to patch that vector in."
        }
        MapKind::Heads if of_two => {
            "A share says what the head carries from the second sentence, not whether the answer needs the head. Click a \
             cell to see which heads before it act through it."
        }
        MapKind::Heads => "What a head that is off adds to the difference. Click a cell to switch the head off.",
        MapKind::Paths => "How far each earlier head of the second sentence brings its answer on this way alone.",
    }
}

fn button_ui(ui: &mut Ui, map: Option<&SentenceMap>, asked: &mut FocusRequest) -> Option<Command> {
    const TIP: &str = "Computes what each vector and each head of the second sentence does to the answer, one at a time; \
        without a second sentence, what each head does that is off";
    let running = map.filter(|map| map.progress.done < map.progress.of);
    let (name, tip, command) = match running {
        Some(_) => ("Stop", "Ends the map and removes it", Command::EndMap),
        None => ("Map", TIP, Command::Map),
    };
    let action = WindowAction::MapAnswer;
    let response = ui.add(Button::new(name)).on_hover_text(action.row().hint_with(tip));
    let is_asked = asked.presses(action, &response);
    if let Some(SentenceMap { progress, .. }) = running {
        ui.weak(format!("{} of {}", progress.done, progress.of));
    }
    (response.clicked() || is_asked).then_some(command)
}

/// Shows a map, and returns the cell that was clicked, or chosen with Space. `said` gives a cell in words.
fn grid_ui(ui: &mut Ui, grid: &Grid, said: impl Fn(usize, usize) -> String) -> Option<(usize, usize)> {
    const WIDTH: (f32, f32) = (13.0, 26.0);
    /// Least height of a cell, with room for the name of its row.
    const HEIGHT: f32 = 16.0;
    let (rows, cols) = (grid.rows.len(), grid.cols.len());
    if rows == 0 || cols == 0 {
        return None;
    }
    let widest = |names: &[String]| names.iter().map(|name| text_width(ui, name)).fold(0.0, f32::max);
    let (left, top) = (widest(&grid.rows) + size::GAP, reach(widest(&grid.cols)).y + size::LABEL);
    let lean = grid.cols.last().map_or(0.0, |name| reach(text_width(ui, name)).x);
    let cell = ((ui.available_width() - left - lean) / cols as f32).clamp(WIDTH.0, WIDTH.1).floor();
    let cell = Vec2::new(cell, cell.max(HEIGHT));
    let whole = Vec2::new(left + cols as f32 * cell.x + lean, top + rows as f32 * cell.y);
    let (rect, _) = ui.allocate_exact_size(whole, Sense::hover());
    let heat = Heat { origin: rect.min + Vec2::new(left, top), cell, rows, cols };
    let response = ui.interact(heat.rect(), ui.id().with(&grid.title), Sense::click());
    paint(ui, grid, &heat);
    let pointed = response.hover_pos().and_then(|pointer| heat.at(pointer));
    let [cursor, chosen] = led(ui, &heat, &response);
    let told = pointed.or(cursor).map(|(row, col)| said(row, col));
    response.widget_info(|| {
        let mut info = WidgetInfo::labeled(WidgetType::Other, true, grid.name());
        info.current_text_value.clone_from(&told);
        info
    });
    let clicked = response.clicked().then_some(pointed).flatten();
    if let Some(told) = told {
        response.on_hover_text_at_pointer(told);
    }
    clicked.or(chosen)
}

fn paint(ui: &Ui, grid: &Grid, heat: &Heat) {
    let palette = Palette::of(ui.visuals().dark_mode);
    let painter = ui.painter();
    for (row, col) in (0..heat.rows).flat_map(|row| (0..heat.cols).map(move |col| (row, col))) {
        let fill = grid.value(row, col).map_or(palette.raised, |value| palette.diverging(grid.share(value)));
        heat.paint_cell(painter, row, col, fill);
    }
    let font = || theme::plain(size::SMALL);
    for (row, name) in grid.rows.iter().enumerate() {
        let at = heat.cell_rect(row, 0).left_center() - Vec2::new(size::GAP_TIGHT, 0.0);
        painter.text(at, Align2::RIGHT_CENTER, name, font(), palette.ink_soft);
    }
    for (col, name) in grid.cols.iter().enumerate() {
        let galley = painter.layout_no_wrap(name.clone(), font(), palette.ink_soft);
        let foot = heat.cell_rect(0, col).center_top() - Vec2::new(0.0, size::GAP_TIGHT);
        paint_slanted(painter, foot, galley, palette.ink_soft);
    }
}

/// Handles the arrow keys and Space while the map has the keyboard focus. Returns the cell that has the focus, and the
/// same cell again if Space was pressed.
fn led(ui: &Ui, heat: &Heat, response: &Response) -> [Option<(usize, usize)>; 2] {
    let id = response.id.with("cursor");
    if response.clicked() {
        response.request_focus();
        let clicked = response.interact_pointer_pos().and_then(|pointer| heat.at(pointer));
        ui.data_mut(|data| data.insert_temp(id, clicked.unwrap_or_default()));
    }
    if !response.has_focus() {
        return [None, None];
    }
    let before = ui.data(|data| data.get_temp(id)).unwrap_or((0_usize, 0_usize));
    let before = (before.0.min(heat.rows - 1), before.1.min(heat.cols - 1));
    let cursor = led_by_arrows(ui, response, before, heat.rows, heat.cols);
    ui.data_mut(|data| data.insert_temp(id, cursor));
    heat.outline(ui.painter(), heat.cell_rect(cursor.0, cursor.1), Palette::of(ui.visuals().dark_mode).accent);
    let is_chosen = ui.input(|input| input.key_pressed(Key::Space));
    [Some(cursor), is_chosen.then_some(cursor)]
}
