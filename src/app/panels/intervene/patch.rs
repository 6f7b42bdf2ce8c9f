//! Patching: the vector that the second sentence has at a place, put into one of the first.

use attune_core::kernel::command::{Command, InterventionCommand};
use attune_view::view_model::what_if::WhatIfModel;
use egui::{Button, ComboBox, DragValue, Label, RichText, Ui, WidgetInfo, WidgetType};

use crate::app::actions::{ActionTable, WindowAction};
use crate::app::theme::{self, size};
use crate::app::view::PanelView;
use crate::app::widgets::controls::hint;

/// The place that the learner is choosing.
#[derive(Default)]
pub struct PatchUiState {
    /// Before this layer, counted from 0.
    layer: usize,
    /// In the second sentence; until it is chosen, the same word.
    from: Option<usize>,
}

pub fn patch_ui(ui: &mut Ui, model: &WhatIfModel, state: &mut PatchUiState, view: &PanelView) -> Option<Command> {
    ui.label(RichText::new("Patch from the second sentence").font(theme::strong(size::BODY)));
    let patch = &model.patch;
    if patch.second.is_empty() {
        let words =
            WindowAction::Compare.row().hint_with("A second sentence lends its vectors: set one beside the first");
        ui.add(Label::new(RichText::new(words).weak().size(size::SMALL)).wrap());
        return None;
    }
    let mut command = None;
    state.layer = state.layer.min(patch.layers - 1);
    let query = view.selection.query.filter(|query| *query < model.tokens.len());
    let chosen = state.from.filter(|from| *from < patch.second.len());
    let mut from = chosen.or_else(|| *patch.same.get(query?)?).unwrap_or(0);
    ui.horizontal(|ui| {
        let label = ui.label("before layer");
        let mut layer = state.layer + 1;
        let number = ui.add(DragValue::new(&mut layer).range(1..=patch.layers)).labelled_by(label.id);
        hint(number, format!("From 1 to {}: drag, or click and type", patch.layers));
        state.layer = layer - 1;
        if patch.is_on {
            let tip = "Gives the word its own vector back";
            if ui.add(Button::new("Remove patch")).on_hover_text(tip).clicked() {
                command = Some(Command::Interventions(InterventionCommand::SetPatch(None)));
            }
        }
    });
    ui.horizontal(|ui| {
        ui.label("the vector of");
        let chooser = ComboBox::from_id_salt("patch").selected_text(&patch.second[from]).show_ui(ui, |ui| {
            for (at, word) in patch.second.iter().enumerate() {
                if ui.selectable_value(&mut from, at, word).clicked() {
                    state.from = Some(at);
                }
            }
        });
        chooser.response.widget_info(|| WidgetInfo::labeled(WidgetType::ComboBox, true, "Word of the second sentence"));
        hint(chooser.response, "A word of the second sentence");
        match query {
            Some(query) => {
                ui.label(format!("for {}", model.tokens[query]));
                let tip = "Activation patching: copies the second sentence's vector at this layer to the chosen word; this \
                           layer and all later ones are computed again";
                if ui.add(Button::new("Patch")).on_hover_text(tip).clicked() {
                    command = Some(patch.command(state.layer, query, from));
                }
            }
            None => {
                let button = ui.add_enabled(false, Button::new("Patch"));
                button.on_disabled_hover_text("Choose a word above: the vector is put in its place");
            }
        }
    });
    command
}
