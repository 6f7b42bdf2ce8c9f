//! Small controls that several panels share: checkboxes, choices, hints, the choice of the query, and buttons that
//! copy; also the two switches for reading attention, and the mark of a sink.

use attune_view::view_model::Models;
use attune_view::view_model::attention::{Reading, Sinks};
use attune_view::view_model::training::waiting_words;
use egui::{
    Align, Button, CornerRadius, EventFilter, Id, Key, Layout, Modifiers, Painter, Pos2, Rect, Response, RichText,
    ScrollArea, Shape, Stroke, Ui, UiBuilder, Vec2, WidgetInfo, WidgetText, WidgetType, pos2, vec2,
};

use crate::actions::{ActionTable, WindowAction};
use crate::theme::{self, Palette, size};
use crate::ui_state::Selection;

/// Adds a tooltip to a control. It is hidden while the control is dragged, because it would cover what moves.
pub fn hint(response: Response, words: impl Into<WidgetText>) -> Response {
    if response.is_pointer_button_down_on() { response } else { response.on_hover_text(words) }
}

/// Shows a checkbox that is recognizable even when unchecked: square, with an outline.
pub fn checkbox_ui(ui: &mut Ui, checked: &mut bool, text: impl Into<WidgetText>) -> Response {
    let text = text.into();
    outlined(ui, CornerRadius::same(size::RADIUS_SMALL), |ui| ui.checkbox(checked, text))
}

/// Shows a checkbox that is undecided until it is clicked.
pub fn undecided_ui(ui: &mut Ui, checked: &mut bool, text: impl Into<WidgetText>) -> Response {
    let undecided = egui::Checkbox::new(checked, text.into()).indeterminate(true);
    outlined(ui, CornerRadius::same(size::RADIUS_SMALL), |ui| ui.add(undecided))
}

/// Shows a radio button with an outline like that of a checkbox.
pub fn choice_ui(ui: &mut Ui, is_chosen: bool, is_enabled: bool, text: impl Into<WidgetText>) -> Response {
    let radio = egui::RadioButton::new(is_chosen, text.into());
    outlined(ui, CornerRadius::ZERO, |ui| ui.add_enabled(is_enabled, radio))
}

fn outlined(ui: &mut Ui, corner: CornerRadius, content: impl FnOnce(&mut Ui) -> Response) -> Response {
    let outline = Stroke::new(size::HAIRLINE, Palette::of(ui.visuals().dark_mode).ink_faint);
    ui.scope(|ui| {
        let widgets = &mut ui.visuals_mut().widgets;
        for look in [&mut widgets.inactive, &mut widgets.hovered, &mut widgets.active] {
            look.corner_radius = corner;
            look.bg_stroke = outline;
        }
        content(ui)
    })
    .inner
}

/// Shows a switch between the ways in which a panel shows its subject, each with its label and its tooltip.
pub fn switch_ui<T: Copy + PartialEq>(ui: &mut Ui, chosen: &mut T, ways: &[(T, &str, &str)]) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        for (way, words, hint) in ways {
            ui.selectable_value(chosen, *way, *words).on_hover_text(*hint);
        }
    });
}

/// Shows the words of the sentence; a click on one chooses it as the query.
pub fn choose_query_ui<'a>(
    ui: &mut Ui,
    tokens: impl IntoIterator<Item = (usize, &'a String)>,
    hint: &str,
    selection: &mut Selection,
) {
    /// The number of visible rows; longer sentences scroll.
    const ROWS: f32 = 3.0;
    let row = ui.spacing().interact_size.y + size::GAP_TIGHT;
    ScrollArea::vertical().id_salt("query").max_height(ROWS * row).show(ui, |ui| {
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing = egui::vec2(0.0, size::GAP_TIGHT);
            ui.spacing_mut().button_padding.x = size::GAP_TIGHT + 2.0;
            for (position, token) in tokens {
                let chosen = selection.query == Some(position);
                if ui.selectable_label(chosen, token).on_hover_text(hint).clicked() {
                    selection.choose_query(Some(position));
                }
            }
        });
    });
}

/// Returns the grid cell to which the pressed arrow keys lead, while the grid has the keyboard.
pub fn led_by_arrows(ui: &Ui, grid: &Response, (row, col): (usize, usize), rows: usize, cols: usize) -> (usize, usize) {
    let arrows = EventFilter { horizontal_arrows: true, vertical_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(grid.id, arrows));
    let pressed = |key| ui.input_mut(|input| input.count_and_consume_key(Modifiers::NONE, key));
    let moved = |at: usize, back, on, count: usize| {
        (at + pressed(on)).saturating_sub(pressed(back)).min(count.saturating_sub(1))
    };
    (moved(row, Key::ArrowUp, Key::ArrowDown, rows), moved(col, Key::ArrowLeft, Key::ArrowRight, cols))
}

/// Shows a line that says why a panel has no content yet.
pub fn waiting_ui(ui: &mut Ui, models: &Models) {
    let words = match models.snapshot() {
        None => "…".to_owned(),
        // The stage shows the reason and what to do.
        Some(snapshot) if snapshot.fault.is_some() => "There is no model; the stage says why.".to_owned(),
        Some(snapshot) => waiting_words(snapshot),
    };
    middle_ui(ui, |ui| _ = ui.weak(words));
}

/// Shows content near the middle of the available space, in lines of limited width.
pub fn middle_ui(ui: &mut Ui, content: impl FnOnce(&mut Ui)) {
    /// The distance from the middle up to the start of the content, which is about two lines. The content cannot be
    /// centred, because its height is not known before layout.
    const ABOVE: f32 = 40.0;
    const WIDEST: f32 = 440.0;
    let whole = ui.available_rect_before_wrap();
    let width = (whole.width() - 2.0 * size::GAP_WIDE).clamp(0.0, WIDEST);
    let top = whole.top() + (whole.height() / 2.0 - ABOVE).max(0.0);
    let place = Rect::from_min_size(pos2(whole.center().x - width / 2.0, top), vec2(width, whole.bottom() - top));
    let layout = Layout::top_down(Align::Center);
    ui.scope_builder(UiBuilder::new().max_rect(place).layout(layout), content);
}

/// The time for which a button says that it has copied, in seconds.
const SAID: f64 = 1.5;

/// Copies `text`, and stores the time under `id`.
pub fn copy(ui: &Ui, id: Id, text: String) {
    ui.copy_text(text);
    let now = ui.input(|input| input.time);
    ui.data_mut(|data| data.insert_temp(id, now));
}

/// Returns whether something was copied under `id` a moment ago.
pub fn is_copied(ui: &Ui, id: Id) -> bool {
    let now = ui.input(|input| input.time);
    let left = ui.data(|data| data.get_temp::<f64>(id)).map_or(0.0, |at| at + SAID - now);
    if left > 0.0 {
        ui.ctx().request_repaint_after_secs(left as f32);
    }
    left > 0.0
}

/// Shows a small button that copies a text; `what` completes the name "Copy …".
pub fn copy_button(ui: &mut Ui, what: &str, text: impl FnOnce() -> String) -> Response {
    labelled_copy_button(ui, "copy", what, text)
}

/// Draws a button that copies code for a cell of the notebook; `what` names the settings or the map that the code
/// reproduces.
pub fn code_button(ui: &mut Ui, what: &str, code: impl FnOnce() -> String) -> Response {
    labelled_copy_button(
        ui,
        "copy as code",
        &format!("{what} as code: paste it into a code cell of the notebook"),
        code,
    )
}

fn labelled_copy_button(ui: &mut Ui, label: &str, what: &str, text: impl FnOnce() -> String) -> Response {
    let palette = Palette::of(ui.visuals().dark_mode);
    let id = ui.id().with(("copied", what));
    let copied = is_copied(ui, id);
    let (word, color) = if copied { ("copied", palette.accent) } else { (label, palette.ink_faint) };
    let button = Button::new(RichText::new(word).font(theme::plain(size::SMALL)).color(color)).frame(false).small();
    let response = ui.add(button).on_hover_text(format!("Copy {what}"));
    let name = if copied { format!("Copied {what}") } else { format!("Copy {what}") };
    response.widget_info(|| WidgetInfo::labeled(WidgetType::Button, true, &name));
    if response.clicked() {
        copy(ui, id, text());
    }
    response
}

/// Half the width of a sink's mark, in points.
const MARK: f32 = 3.5;

/// Shows the switches for reading attention. One shows the length of what is added instead of the weights; the other
/// hides the sinks, if there are any.
pub fn reading_ui(ui: &mut Ui, sinks: &Sinks, reading: &mut Reading) {
    let row = WindowAction::ReadAdded.row();
    let added = ui.selectable_label(reading.is_added, row.text);
    added.widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, reading.is_added, row.tooltip));
    if added.on_hover_text(row.hint()).clicked() {
        reading.turn_added();
    }
    if sinks.is_empty() && !reading.hides_sinks {
        return;
    }
    let row = WindowAction::HideSinks.row();
    let hide = ui.selectable_label(reading.hides_sinks, row.text);
    hide.widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, reading.hides_sinks, row.tooltip));
    if hide.on_hover_text(row.hint()).clicked() {
        reading.turn_sinks(!sinks.is_empty());
    }
}

/// Shows the sinks of the sentence, each with its mean weight and an explanation as tooltip.
pub fn sinks_ui(ui: &mut Ui, sinks: &Sinks) {
    if sinks.is_empty() {
        return;
    }
    let palette = Palette::of(ui.visuals().dark_mode);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP;
        ui.weak(if sinks.sinks.len() == 1 { "Sink:" } else { "Sinks:" });
        for sink in &sinks.sinks {
            let (mark, _) = ui.allocate_exact_size(Vec2::splat(2.0 * MARK), egui::Sense::hover());
            paint_sink(ui.painter(), mark.center_bottom(), palette);
            let words = format!("{} {:.0} %", sink.label, sink.numbers.mean * 100.0);
            ui.label(words).on_hover_text(sink.about());
        }
    });
}

/// Paints the mark of a sink: a small triangle that points down to `tip`, as high as the gap above a map.
pub fn paint_sink(painter: &Painter, tip: Pos2, palette: &Palette) {
    let rect = Rect::from_min_max(tip - Vec2::new(MARK, size::GAP_TIGHT), tip + Vec2::new(MARK, 0.0));
    let corners = vec![rect.left_top(), rect.right_top(), tip];
    painter.add(Shape::convex_polygon(corners, palette.warn, Stroke::NONE));
}
