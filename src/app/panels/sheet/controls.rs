//! Controls of a sheet: buttons, menus and fields, which make the requests that their data names.

use attune_core::kernel::command::{AxisCommand, Command, TextsCommand};
use attune_ui::actions::{ActionTable, WindowAction};
use attune_ui::theme::{Palette, size};
use attune_ui::ui_state::FocusRequest;
use attune_ui::widgets::controls::{button_ui, copy_button, named, reading_ui, sinks_ui};
use attune_view::sheet::control::{Aside, Ask, Button, Control, Copy, Field, Form, Look, Menu, Shared};
use egui::containers::menu::MenuButton;
use egui::{Align, ComboBox, Id, Key, Layout, RichText, TextEdit, Ui, Vec2, WidgetInfo, WidgetType};

use super::context::{SheetContext, ZOOMS, text_ui};

/// The width in points below which some controls are put in a menu, so that the others stay in one row.
const NARROW: f32 = 360.0;
/// The size of two small buttons side by side, in points.
const PAIR: Vec2 = Vec2::new(2.0 * size::SLIDER_ROW + size::GAP_TIGHT, size::SLIDER_ROW);

/// Draws controls in a row, which wraps if it is too long.
pub fn controls_ui(ui: &mut Ui, controls: &[Control], cx: &mut SheetContext) {
    let is_narrow = ui.available_width() < NARROW;
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        let mut asides: Vec<&Aside> = Vec::new();
        if is_narrow {
            asides.extend(controls.iter().filter_map(Control::aside));
        }
        for control in controls {
            match control.aside().filter(|_| is_narrow) {
                // In a narrow panel, the first of these controls becomes the menu for all of them.
                Some(_) => asides_ui(ui, &std::mem::take(&mut asides), cx),
                None => control_ui(ui, control, cx),
            }
        }
    });
}

fn control_ui(ui: &mut Ui, control: &Control, cx: &mut SheetContext) {
    match control {
        Control::Words(text) => text_ui(ui, text),
        Control::Sinks(sinks) => sinks_ui(ui, sinks),
        Control::Separator => _ = ui.separator(),
        Control::Button(button) => cx.asks.extend(ask_ui(ui, button, cx.view.asked)),
        Control::Menu(menu) => menu_ui(ui, menu, cx),
        Control::Aside(aside) => aside.controls.iter().for_each(|control| control_ui(ui, control, cx)),
        Control::Form(form) => cx.asks.extend(form_ui(ui, form)),
        Control::Copy(copy) => copy_ui(ui, copy),
        Control::Zoom => zoom_ui(ui, &mut cx.state.zoom),
        Control::Shared(shared) => shared_ui(ui, shared, cx),
    }
}

/// Draws one menu for all controls that have no room in the row.
fn asides_ui(ui: &mut Ui, asides: &[&Aside], cx: &mut SheetContext) {
    let Some(first) = asides.first() else { return };
    let menu = ui.menu_button(first.label, |ui| {
        let controls = asides.iter().flat_map(|aside| &aside.controls);
        let in_menu = controls.filter(|control| !matches!(control, Control::Separator));
        in_menu.for_each(|control| control_ui(ui, control, cx));
    });
    menu.response.on_hover_text(first.hint);
}

fn pair_ui(ui: &mut Ui, content: impl FnOnce(&mut Ui)) {
    ui.allocate_ui_with_layout(PAIR, Layout::left_to_right(Align::Center), content);
}

/// Returns the action whose key also presses the button with this request; `None` unless the request starts or ends a
/// computation.
fn action_of(ask: &Ask) -> Option<WindowAction> {
    match ask {
        Ask::Command(Command::Words(_) | Command::EndWords) => Some(WindowAction::MeasureWords),
        Ask::Command(Command::Tables(_) | Command::EndTables) => Some(WindowAction::ComputeTables),
        Ask::ChooseTexts | Ask::Command(Command::Texts(TextsCommand::Stop)) => Some(WindowAction::MeasureTexts),
        _ => None,
    }
}

/// Draws a button. Returns its request if it was clicked, or its key was pressed.
fn ask_ui(ui: &mut Ui, button: &Button, asked: &mut FocusRequest) -> Option<Ask> {
    let label = RichText::new(&button.label);
    let label = match button.hue {
        Some(hue) => label.color(Palette::on(ui).head(hue)).strong(),
        None => label,
    };
    let (response, info) = match button.look {
        Look::Button { is_enabled } => (ui.add_enabled(is_enabled, egui::Button::new(label)), is_enabled),
        Look::Small { is_enabled } => (ui.add_enabled(is_enabled, egui::Button::new(label).small()), is_enabled),
        Look::Option { is_on } => (ui.selectable_label(is_on, label), is_on),
    };
    let name = button.spoken();
    response.widget_info(|| match button.look {
        Look::Option { is_on } => WidgetInfo::selected(WidgetType::SelectableLabel, true, is_on, name),
        _ => WidgetInfo::labeled(WidgetType::Button, info, name),
    });
    let action = action_of(&button.asks);
    let is_asked = action.is_some_and(|action| asked.presses(action, &response));
    let hint = action.map_or_else(|| button.hint.clone(), |action| action.row().hint_with(&button.hint));
    let response = if hint.is_empty() { response } else { response.on_hover_text(&hint).on_disabled_hover_text(&hint) };
    (response.clicked() || is_asked).then(|| button.asks.clone())
}

/// Draws a menu: a list that shows the current choice if it has a width, or else a button.
fn menu_ui(ui: &mut Ui, menu: &Menu, cx: &mut SheetContext) {
    let content = |ui: &mut Ui| menu.controls.iter().for_each(|control| control_ui(ui, control, cx));
    let (response, kind) = match menu.width {
        Some(width) => {
            let list = ComboBox::from_id_salt(&menu.name).width(width).selected_text(&menu.label);
            (list.show_ui(ui, content).response, WidgetType::ComboBox)
        }
        None => (ui.menu_button(&menu.label, content).response, WidgetType::Button),
    };
    named(response, kind, if menu.name.is_empty() { &menu.label } else { &menu.name }).on_hover_text(&menu.hint);
}

/// Draws a button that copies numbers as tab-separated text.
fn copy_ui(ui: &mut Ui, Copy { what, numbers }: &Copy) {
    copy_button(ui, what, || numbers.tsv());
}

/// Draws the buttons for larger and smaller cells.
fn zoom_ui(ui: &mut Ui, zoom: &mut usize) {
    let sizes = [("−", "Smaller cells", zoom.checked_sub(1)), ("+", "Larger cells", Some(*zoom + 1))];
    pair_ui(ui, |ui| {
        for (sign, name, next) in sizes {
            let next = next.filter(|next| *next < ZOOMS.len());
            let button = ui.add_enabled(next.is_some(), egui::Button::new(sign).small());
            let button = named(button, WidgetType::Button, name);
            if button.on_hover_text(format!("{name}; if there is room, each cell shows its number")).clicked() {
                *zoom = next.unwrap_or(*zoom);
            }
        }
    });
}

/// Draws a control that the window has too, with the same words and the same effect.
fn shared_ui(ui: &mut Ui, shared: &Shared, cx: &mut SheetContext) {
    match shared {
        Shared::Map => {
            let row = WindowAction::Map.row();
            cx.actions.extend(button_ui(ui, row.text, row.tooltip, WindowAction::Map.into()));
        }
        Shared::RawStates { is_on } => {
            let row = WindowAction::RawStates.row();
            if ui.selectable_label(*is_on, row.text).on_hover_text(row.hint()).clicked() {
                cx.asks.push(Ask::Command(Command::Axes(AxisCommand::SetRaw(!is_on))));
            }
        }
        Shared::Reading(sinks) => reading_ui(ui, sinks, &mut cx.view.selection.reading),
    }
}

/// Texts that the viewer is typing, and those that the sheet had when the typing began.
#[derive(Clone, Default, PartialEq)]
struct Written {
    texts: Vec<String>,
    of: Vec<String>,
}

/// Draws the fields of a form, and the button that submits their texts.
pub(crate) fn form_ui(ui: &mut Ui, form: &Form) -> Option<Ask> {
    /// The width beside the fields that is left for the buttons, in points.
    const BUTTONS: f32 = 176.0;
    // The id is made from the name of the button, because items above the form may come and go.
    let id = Id::new(&form.button[1]);
    let of: Vec<String> = form.fields.iter().map(|field| field.text.clone()).collect();
    let known = ui.data(|data| data.get_temp::<Written>(id)).filter(|written| written.of == of);
    let mut texts = known.map_or_else(|| of.clone(), |written| written.texts);
    let room = (ui.available_width() - BUTTONS) / form.fields.len().max(1) as f32;
    let mut is_asked = false;
    for (place, (field, text)) in form.fields.iter().zip(&mut texts).enumerate() {
        if place > 0 {
            ui.weak(form.between);
        }
        let width = room.clamp(size::GROUP_FIELD.0, size::GROUP_FIELD.1);
        is_asked |= field_ui(ui, field, text, width);
    }
    let ask = form.fills.asks(&texts).filter(|_| texts != of);
    let [label, name, hint] = &form.button;
    let set = named(ui.add_enabled(ask.is_some(), egui::Button::new(label)), WidgetType::Button, name);
    is_asked |= set.on_hover_text(hint).clicked();
    ui.data_mut(|data| data.insert_temp(id, Written { texts, of }));
    ask.filter(|_| is_asked)
}

/// Draws a field and, if it offers texts, a menu of them. Returns whether a text was chosen or Enter was pressed.
fn field_ui(ui: &mut Ui, field: &Field, text: &mut String, width: f32) -> bool {
    let edit = TextEdit::singleline(text).desired_width(width).margin(size::FIELD_MARGIN).hint_text(field.placeholder);
    let response = ui.add(edit);
    ui.ctx().accesskit_node_builder(response.id, |node| node.set_label(field.name.as_str()));
    let is_entered = response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
    response.on_hover_text(field.hint);
    if field.offers.is_empty() {
        return is_entered;
    }
    let mut is_chosen = false;
    let (button, _) = MenuButton::new("▾").ui(ui, |ui| {
        for offer in &field.offers {
            if ui.selectable_label(text == offer, offer).clicked() {
                text.clone_from(offer);
                is_chosen = true;
                ui.close();
            }
        }
    });
    named(button, WidgetType::Button, format!("{}: {}", field.name, field.about_offers.to_lowercase()))
        .on_hover_text(field.about_offers);
    is_entered || is_chosen
}
