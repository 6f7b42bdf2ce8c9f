//! The maps of *Intervene*: a button that starts them, and heat maps that fill while they are computed. A click in a
//! cell makes that change.

use std::sync::Arc;

use attune_core::kernel::command::Command;
use attune_core::kernel::evidence::live::SentenceMap;
use attune_ui::actions::{ActionTable, WindowAction};
use attune_ui::theme::{self, Palette, size};
use attune_ui::ui_state::{FocusRequest, Selection};
use attune_ui::widgets::controls::{code_button, led_by_arrows, named};
use attune_ui::widgets::heat::{Heat, paint_slanted, paint_upright, reach, text_width};
use attune_view::panels::intervene::{answers_form, cell, largest, maps};
use attune_view::sheet::Ask;
use attune_view::sheet::grid::Grid;
use attune_view::view_model::what_if::{MapKind, WhatIfModel};
use egui::{
    Align2, Button, Color32, Galley, Label, Painter, PointerButton, Pos2, Response, RichText, ScrollArea, Sense, Ui,
    Vec2, WidgetInfo, WidgetType,
};

use super::sheet::form_ui;

/// Shows the answer that the maps are about, the buttons that start, stop and remove them, and the maps. Returns the
/// requested commands.
pub(crate) fn maps_ui(
    ui: &mut Ui,
    model: &WhatIfModel,
    asked: &mut FocusRequest,
    selection: &mut Selection,
) -> Vec<Command> {
    let mut commands = Vec::new();
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        ui.label(RichText::new("Maps").font(theme::strong(size::BODY)));
        commands.extend(buttons_ui(ui, model.map.as_deref(), asked));
    });
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        if let Some(Ask::Command(command)) = form_ui(ui, &answers_form(&model.choice)) {
            commands.push(command);
        }
    });
    if let Some(title) = model.map_title() {
        ui.add(Label::new(title).wrap());
    }
    let of_two = model.map.as_ref().is_some_and(|map| map.second.is_some());
    for (kind, grid) in maps(model) {
        ui.horizontal(|ui| {
            ui.label(RichText::new(&grid.title).size(size::SMALL));
            if let Some(code) = model.map_code(kind) {
                code_button(ui, "this map", || code.to_owned());
            }
        });
        let scroll = ScrollArea::horizontal().id_salt(&grid.title);
        let GridUse { told, clicked } =
            scroll.show(ui, |ui| grid_ui(ui, &grid, |row, col| cell(kind, of_two, &grid, row, col))).inner;
        said_ui(ui, told.or_else(|| largest(model, kind, &grid)));
        if let Some((layer, place)) = clicked {
            commands.extend(model.map_command(kind, layer, place));
            if let Some(head) = model.map_head(layer, place).filter(|_| kind != MapKind::Words) {
                selection.choose_head(head);
            }
        }
        if kind == MapKind::Heads && of_two {
            commands.extend(paths_button_ui(ui, model, selection.head));
        }
        ui.add(Label::new(RichText::new(about(kind, of_two)).weak().size(size::SMALL)).wrap());
    }
    commands
}

/// Shows the description of a cell. It always takes the room of two lines, so that nothing below moves.
fn said_ui(ui: &mut Ui, said: Option<String>) {
    const LINES: f32 = 32.0;
    let room = Vec2::new(ui.available_width(), LINES);
    ui.allocate_ui(room, |ui| {
        ui.set_min_height(LINES);
        ui.add(Label::new(RichText::new(said.unwrap_or_default()).size(size::SMALL)).wrap());
    });
}

/// Shows the button that adds the paths into the head that the walk follows.
fn paths_button_ui(ui: &mut Ui, model: &WhatIfModel, head: usize) -> Option<Command> {
    let has_paths = model.has_paths_into(head);
    let button = ui.add_enabled(has_paths, Button::new(format!("Paths into {}", model.head_name(head))).small());
    let tip = "Adds maps of which heads before this one act through its queries, its keys or its values";
    let button = button.on_hover_text(tip).on_disabled_hover_text("No head is before those of the first layer");
    button.clicked().then_some(Command::Paths(head))
}

/// Returns a short text about the cells of a map: their meaning, or the effect of a click, or both.
fn about(kind: MapKind, of_two: bool) -> &'static str {
    match kind {
        MapKind::Words => {
            "0: the answer is as in the sentence; 1: as in the second. Click a cell to patch that vector in."
        }
        MapKind::Heads if of_two => {
            "A share says what the head carries from the second sentence, not whether the answer needs the head. Click a \
             cell to exchange the head for that of the second sentence, and again to undo it."
        }
        MapKind::Heads => {
            "What a head that is off adds to the difference. Click a cell to switch the head off, and again to undo it."
        }
        MapKind::Paths => "How far each earlier head of the second sentence brings its answer on this way alone.",
    }
}

/// Shows the button that starts, stops or continues the maps, and the one that removes them, with the progress.
fn buttons_ui(ui: &mut Ui, map: Option<&SentenceMap>, asked: &mut FocusRequest) -> Option<Command> {
    const TIP: &str = "Computes what each vector and each head of the second sentence does to the answer, one at a time; \
        without a second sentence, what each head does that is off";
    let (name, spoken, tip, command) = match map {
        None => ("Map", "Map", TIP, Some(Command::Map)),
        Some(map) if map.is_running() => {
            ("Stop", "Stop maps", "Stops the map; its cells stay, and it can go on", Some(Command::EndMap))
        }
        Some(map) if map.is_stopped => {
            ("Go on", "Go on with maps", "Computes the other cells of the map", Some(Command::Map))
        }
        Some(_) => ("Map", "Map", "The maps are complete", None),
    };
    let action = WindowAction::MapAnswer;
    let response = named(ui.add_enabled(command.is_some(), Button::new(name)), WidgetType::Button, spoken);
    let response = response.on_hover_text(action.row().hint_with(tip)).on_disabled_hover_text(tip);
    let is_asked = asked.presses(action, &response);
    let mut requested = command.filter(|_| response.clicked() || is_asked);
    let Some(map) = map else { return requested };
    if !map.is_running() {
        let remove = named(ui.button("Remove"), WidgetType::Button, "Remove maps");
        if remove.on_hover_text("Removes the maps").clicked() {
            requested = Some(Command::EndMap);
        }
    }
    if map.progress.done < map.progress.of {
        ui.weak(format!("{} of {}", map.progress.done, map.progress.of));
    }
    requested
}

/// The use of a map by the pointer or by keys.
struct GridUse {
    /// The cell under the pointer, or else the one that has the keyboard focus, in words.
    told: Option<String>,
    /// The cell that was clicked, or chosen with Enter or Space.
    clicked: Option<(usize, usize)>,
}

/// Takes the room of a map over the whole width. Returns the place of its cells, and whether the names of the columns
/// are upright and not slanted.
fn room_ui(ui: &mut Ui, grid: &Grid) -> Option<(Heat, bool)> {
    /// The least and the largest width and height of a cell; the least ones have room for an upright name of a column
    /// and for the name of a row.
    const WIDTH: (f32, f32) = (14.0, 96.0);
    const HEIGHT: (f32, f32) = (16.0, 28.0);
    /// The least width of a column whose name is slanted and not upright.
    const SLANTED: f32 = 18.0;
    let (rows, cols) = (grid.rows.len(), grid.cols.len());
    let last = grid.cols.last().filter(|_| rows > 0)?;
    let widest = |names: &[String]| names.iter().map(|name| text_width(ui, name)).fold(0.0, f32::max);
    let left = widest(&grid.rows) + size::GAP;
    let lean = reach(text_width(ui, last)).x;
    let width = |lean: f32| (ui.available_width() - left - lean) / cols as f32;
    let is_upright = width(lean) < SLANTED;
    let (lean, high) = if is_upright { (0.0, widest(&grid.cols)) } else { (lean, reach(widest(&grid.cols)).y) };
    let (cell, top) = (width(lean).clamp(WIDTH.0, WIDTH.1).floor(), high + size::LABEL);
    let cell = Vec2::new(cell, cell.clamp(HEIGHT.0, HEIGHT.1));
    let whole = Vec2::new(left + cols as f32 * cell.x + lean, top + rows as f32 * cell.y);
    let (rect, _) = ui.allocate_exact_size(whole, Sense::hover());
    Some((Heat { origin: rect.min + Vec2::new(left, top), cell, rows, cols }, is_upright))
}

/// Shows a map. `said` gives a cell in words.
fn grid_ui(ui: &mut Ui, grid: &Grid, said: impl Fn(usize, usize) -> String) -> GridUse {
    let Some((heat, is_upright)) = room_ui(ui, grid) else { return GridUse { told: None, clicked: None } };
    let response = ui.interact(heat.rect(), ui.id().with(&grid.title), Sense::click());
    paint(ui, grid, &heat, if is_upright { paint_upright } else { paint_slanted });
    let pointed = response.hover_pos().and_then(|pointer| heat.at(pointer));
    let Led { cursor, chosen, by_keys } = led(ui, &heat, &response);
    response.widget_info(|| {
        let mut info = WidgetInfo::labeled(WidgetType::Other, true, grid.name());
        info.current_text_value = cursor.or(pointed).map(|(row, col)| said(row, col));
        info
    });
    let clicked = response.clicked_by(PointerButton::Primary).then_some(pointed).flatten();
    let told = if by_keys { cursor } else { pointed.or(cursor) }.map(|(row, col)| said(row, col));
    if let Some(told) = told.as_ref().filter(|_| !by_keys) {
        response.on_hover_text_at_pointer(told);
    }
    GridUse { told, clicked: clicked.or(chosen) }
}

/// Paints a name of a column over its foot.
type PaintName = fn(&Painter, Pos2, Arc<Galley>, Color32);

fn paint(ui: &Ui, grid: &Grid, heat: &Heat, paint_name: PaintName) {
    let palette = Palette::on(ui);
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
        paint_name(painter, foot, galley, palette.ink_soft);
    }
}

/// The use of a map by keys.
#[derive(Default)]
struct Led {
    /// The cell that has the keyboard focus.
    cursor: Option<(usize, usize)>,
    /// The cell that has the keyboard, if Enter or Space was pressed.
    chosen: Option<(usize, usize)>,
    /// Whether the keys led to the cell after the pointer had come to rest.
    by_keys: bool,
}

/// Handles the arrow keys, Enter and Space while the map has the keyboard focus.
fn led(ui: &Ui, heat: &Heat, response: &Response) -> Led {
    let (id, of_keys) = (response.id.with("cursor"), response.id.with("by keys"));
    let is_pointer = response.clicked_by(PointerButton::Primary);
    if is_pointer {
        response.request_focus();
        let clicked = response.interact_pointer_pos().and_then(|pointer| heat.at(pointer));
        ui.data_mut(|data| data.insert_temp(id, clicked.unwrap_or_default()));
    }
    if !response.has_focus() {
        return Led::default();
    }
    let before = ui.data(|data| data.get_temp(id)).unwrap_or((0_usize, 0_usize));
    let before = (before.0.min(heat.rows - 1), before.1.min(heat.cols - 1));
    let cursor = led_by_arrows(ui, response, before, heat.rows, heat.cols);
    ui.data_mut(|data| data.insert_temp(id, cursor));
    heat.outline(ui.painter(), heat.cell_rect(cursor.0, cursor.1), Palette::on(ui).accent);
    let was_led = ui.data(|data| data.get_temp(of_keys)).unwrap_or(false);
    let by_keys = cursor != before || (was_led && ui.input(|input| input.pointer.delta() == Vec2::ZERO));
    ui.data_mut(|data| data.insert_temp(of_keys, by_keys));
    // Enter, Space and screen readers click without a pointer.
    Led { cursor: Some(cursor), chosen: (response.clicked() && !is_pointer).then_some(cursor), by_keys }
}
