//! The axes panel: what the picture shows of the variance, and axes of the learner's own.

use attune_core::kernel::command::{Axis, AxisCommand, Command};
use attune_ui::actions::{ActionTable, WindowAction};
use attune_ui::theme::{self, Palette, size};
use attune_view::view_model::axes::{AxesModel, AxisOrders, AxisRow, percent};
use egui::containers::menu::MenuButton;
use egui::{Align, Button, CornerRadius, Key, Label, Layout, Rect, RichText, ScrollArea, Sense, TextEdit, Ui, vec2};

use super::panel::{Panel, PanelContext, Requests};

#[derive(Default)]
pub struct AxesPanel {
    /// Typed text of each axis, and the choice that it was made from.
    fields: [Fields; Axis::ALL.len()],
}

#[derive(Default)]
struct Fields {
    from: String,
    to: String,
    chosen: Option<(String, String)>,
}

impl Panel for AxesPanel {
    fn ui(&mut self, ui: &mut Ui, cx: &mut PanelContext) -> Option<()> {
        let (model, orders) = (cx.models.get::<AxesModel>()?, cx.models.get::<AxisOrders>()?);
        axes_ui(ui, &model, &orders, self, cx.requests);
        Some(())
    }
}

fn axes_ui(ui: &mut Ui, model: &AxesModel, orders: &AxisOrders, state: &mut AxesPanel, requests: &mut Requests) {
    let palette = Palette::of(ui.visuals().dark_mode);
    ui.horizontal_wrapped(|ui| basis_ui(ui, model, requests));
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = size::GAP_TIGHT;
        for warning in &model.warnings {
            ui.label(RichText::new(warning).color(palette.warn));
        }
        for row in &model.rows {
            axis_ui(ui, row, palette);
            let fields = &mut state.fields[row.axis.index()];
            requests.commands.extend(ui.push_id(row.axis.letter(), |ui| choice_ui(ui, row, model, fields)).inner);
            order_ui(ui, row, orders.ends[row.axis.index()].as_ref());
        }
        ui.label(RichText::new(&model.about).font(theme::plain(size::SMALL)).color(palette.ink_faint));
    });
}

/// Fits the basis anew or resets it; and the share of the variance that it shows.
fn basis_ui(ui: &mut Ui, model: &AxesModel, requests: &mut Requests) {
    let palette = Palette::of(ui.visuals().dark_mode);
    let refit = ui.add_enabled(model.can_refit, Button::new("Refit"));
    let why = if model.can_refit {
        "Turns the axes to the directions in which the points that are now on the stage differ most"
    } else {
        "The picture shows the vectors as they are"
    };
    if refit.on_hover_text(why).on_disabled_hover_text(why).clicked() {
        requests.commands.push(Command::Axes(AxisCommand::Refit));
    }
    let reset = ui.add_enabled(model.is_changed, Button::new("Reset"));
    reset.widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Button, model.is_changed, "Reset the axes"));
    if reset.on_hover_text("Restores the axes as they were when the lesson opened").clicked() {
        requests.commands.push(Command::Axes(AxisCommand::ResetAll));
    }
    if let Some(scale) = model.scale {
        let raw = WindowAction::RawStates.row();
        let choice = ui.selectable_label(!scale.is_on, raw.text);
        if choice.on_hover_text(raw.hint()).clicked() {
            requests.commands.push(Command::Axes(AxisCommand::SetRaw(scale.is_on)));
        }
    }
    let map = WindowAction::Map.row();
    if ui.button(map.text).on_hover_text(map.tooltip).clicked() {
        requests.actions.push(WindowAction::Map.into());
    }
    if let Some([plane, all]) = model.together {
        let together = format!("together {}, in 2D {}", percent(all), percent(plane));
        ui.label(RichText::new(together).color(palette.ink_soft)).on_hover_text(&model.about);
    }
}

/// An axis with its share as a bar.
fn axis_ui(ui: &mut Ui, row: &AxisRow, palette: &Palette) {
    const BAR: f32 = 3.0;
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), size::TABLE_ROW), Sense::hover());
    let percent = format!("{:.1} %", row.variance * 100.0);
    let said = format!("Axis {}: {}, {percent} of the variance", row.axis.letter(), row.name);
    response.widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Label, true, &said));
    let track = Rect::from_min_size(rect.left_bottom() - vec2(0.0, BAR), vec2(rect.width(), BAR));
    ui.painter().rect_filled(track, CornerRadius::ZERO, palette.line);
    let bar = Rect::from_min_size(track.min, vec2(rect.width() * row.variance.clamp(0.0, 1.0), BAR));
    ui.painter().rect_filled(bar, CornerRadius::ZERO, palette.accent);
    let inner = egui::UiBuilder::new().max_rect(rect).layout(Layout::right_to_left(Align::Center));
    ui.scope_builder(inner, |ui| {
        ui.label(RichText::new(percent).font(theme::mono(size::SMALL)).color(palette.ink_soft));
        ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
            ui.label(RichText::new(row.axis.letter()).font(theme::mono(size::MONO)).color(palette.ink_faint));
            ui.add(egui::Label::new(RichText::new(&row.name).font(theme::strong(size::BODY))).truncate());
        });
    });
    response.on_hover_text(&row.meaning);
}

/// The words at both ends of a chosen axis.
fn order_ui(ui: &mut Ui, row: &AxisRow, ends: Option<&[Vec<String>; 2]>) -> Option<()> {
    let ((from, to), ends) = (row.chosen.as_ref()?, ends?);
    for (end, words) in [from, to].into_iter().zip(ends) {
        let words = RichText::new(format!("{end}: {}", words.join(", "))).font(theme::plain(size::SMALL)).weak();
        let hint = "The words furthest along this axis, by their cosine with it";
        ui.add(Label::new(words).wrap()).on_hover_text(hint);
    }
    Some(())
}

/// The two groups of words that an axis runs between.
fn choice_ui(ui: &mut Ui, row: &AxisRow, model: &AxesModel, fields: &mut Fields) -> Option<Command> {
    const BUTTONS: f32 = 176.0;
    if fields.chosen != row.chosen {
        fields.chosen.clone_from(&row.chosen);
        (fields.from, fields.to) = row.chosen.clone().unwrap_or_default();
    }
    let mut command = None;
    let letter = row.axis.letter();
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
        let width = ((ui.available_width() - BUTTONS) / 2.0).clamp(size::GROUP_FIELD.0, size::GROUP_FIELD.1);
        let mut sets = group_ui(ui, &format!("Axis {letter} from"), "from", &mut fields.from, width, model);
        ui.weak("→");
        sets |= group_ui(ui, &format!("Axis {letter} to"), "to", &mut fields.to, width, model);
        let is_whole = !fields.from.trim().is_empty() && !fields.to.trim().is_empty();
        let is_new = row.chosen.as_ref().is_none_or(|(from, to)| (from, to) != (&fields.from, &fields.to));
        let set = ui.add_enabled(is_whole && is_new, Button::new("Set"));
        let name = format!("Set axis {letter}");
        set.widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Button, is_whole && is_new, &name));
        let hint = "Sets the axis from the centre of the first words to the centre of the second words (Enter)";
        sets |= set.on_hover_text(hint).clicked();
        if sets && is_whole && is_new {
            let (from, to) = (fields.from.trim().to_owned(), fields.to.trim().to_owned());
            command = Some(Command::Axes(AxisCommand::Set { axis: row.axis, from, to }));
        }
        if row.is_changed {
            let reset = ui.button("✕");
            let name = format!("Reset axis {letter}");
            reset.widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Button, true, &name));
            if reset.on_hover_text("Restores the lesson's axis").clicked() {
                command = Some(Command::Axes(AxisCommand::Reset(row.axis)));
            }
        }
    });
    command
}

/// Words, a group of the lesson from a menu, or a pattern. True when it was chosen or entered.
fn group_ui(ui: &mut Ui, name: &str, hint: &str, text: &mut String, width: f32, model: &AxesModel) -> bool {
    let field = TextEdit::singleline(text).desired_width(width).margin(size::FIELD_MARGIN).hint_text(hint);
    let field = ui.add(field);
    ui.ctx().accesskit_node_builder(field.id, |node| node.set_label(name));
    let is_entered = field.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
    field.on_hover_text("A group or some words of the lesson, or a /pattern/ that words match");
    if model.groups.is_empty() {
        return is_entered;
    }
    let mut is_chosen = false;
    let (button, _) = MenuButton::new("▾").ui(ui, |ui| {
        for group in &model.groups {
            if ui.selectable_label(text == group, group).clicked() {
                text.clone_from(group);
                is_chosen = true;
                ui.close();
            }
        }
    });
    let name = format!("{name}: groups");
    button.widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Button, true, &name));
    button.on_hover_text("The lesson's groups");
    is_entered || is_chosen
}
