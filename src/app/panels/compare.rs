//! A second sentence, and how far attention takes a word of both apart.

use attune_core::kernel::command::{Command, SentenceCommand};
use attune_view::view_model::compare::{CompareModel, NearOutput, PairModel};
use attune_view::view_model::sentences::SentencesModel;
use egui::{Button, Grid, RichText, ScrollArea, Ui};

use crate::app::actions::{ActionTable, WindowAction};
use crate::app::theme::{self, Palette, size};
use crate::app::view::PanelView;
use crate::app::widgets::sentence_field::{Change, SentenceField, SentenceFieldState, sentence_field_ui};

/// The name of its field.
pub const SECOND_SENTENCE: &str = "Second sentence";

/// Begins or ends a comparison.
pub fn toggle(sentences: &SentencesModel) -> Command {
    Command::Sentence(SentenceCommand::SetSecond(sentences.second.is_none().then(|| sentences.first_second())))
}

/// The second sentence, and a word of both.
pub fn compare_ui(
    ui: &mut Ui,
    model: Option<&CompareModel>,
    sentences: &SentencesModel,
    state: &mut SentenceFieldState,
    view: &mut PanelView,
) -> Vec<Command> {
    let mut commands = Vec::new();
    let (Some(model), Some(second)) = (model, &sentences.second) else {
        ui.label("Two sentences on one stage, in one basis: a word of both starts at one place and is taken two ways.");
        let hint = WindowAction::Compare.row().hint_with("Put a second sentence beside the one on the stage");
        if ui.button("Compare with a second sentence").on_hover_text(hint).clicked() {
            commands.push(toggle(sentences));
        }
        return commands;
    };
    commands.extend(second_ui(ui, second, sentences, state));
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        if let Some(none) = &model.none {
            ui.label(none);
        }
        let Some(pair) = model.chosen(view.selection.query, view.selection.second, &view.highlight.lit) else { return };
        pairs_ui(ui, model, pair, view);
        ui.add_space(size::GAP_TIGHT);
        ui.label(&pair.said);
        numbers_ui(ui, pair);
        ui.add_space(size::GAP_TIGHT);
        near_ui(ui, pair, view);
    });
    commands
}

/// The field of the second sentence, and the end of the comparison.
fn second_ui(ui: &mut Ui, second: &str, sentences: &SentencesModel, state: &mut SentenceFieldState) -> Vec<Command> {
    const END: f32 = 62.0;
    const MENU: f32 = 36.0;
    let mut commands = Vec::new();
    ui.horizontal(|ui| {
        let selected = sentences.sentences.iter().position(|sentence| sentence == second);
        let field = SentenceField {
            name: SECOND_SENTENCE,
            hint: "The sentence beside the one on the stage",
            shown: second,
            selected,
            width: (ui.available_width() - END - MENU).max(size::CHART_MIN),
        };
        for change in sentence_field_ui(ui, &field, sentences, state) {
            commands.push(Command::Sentence(SentenceCommand::SetSecond(Some(match change {
                Change::Typed(text) | Change::Done(text) => text,
                Change::Chosen(index) => sentences.sentences[index].clone(),
            }))));
        }
        let end = Button::new("✕  End");
        if ui.add(end).on_hover_text(WindowAction::Compare.row().hint_with("One sentence again")).clicked() {
            commands.push(Command::Sentence(SentenceCommand::SetSecond(None)));
        }
    });
    commands
}

/// The shared words, one of which is looked at.
fn pairs_ui(ui: &mut Ui, model: &CompareModel, chosen: &PairModel, view: &mut PanelView) {
    ScrollArea::horizontal().id_salt("pairs").show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = size::GAP_TIGHT;
            for pair in &model.pairs {
                let words = pair.labels.join(" · ");
                let hint = "Look at the two ways of this word";
                if ui.selectable_label(pair == chosen, words).on_hover_text(hint).clicked() {
                    (view.selection.query, view.selection.second, view.selection.key) =
                        (Some(pair.first), Some(pair.second), None);
                }
            }
        });
    });
}

/// Before attention and after it.
fn numbers_ui(ui: &mut Ui, pair: &PairModel) {
    let palette = Palette::of(ui.visuals().dark_mode);
    let number =
        |x: f32, ink| RichText::new(format!("{x:.3}").replace('-', "−")).font(theme::mono(size::MONO)).color(ink);
    let rows = [
        ("cosine", pair.before.cosine, pair.after.cosine, "1 is the same direction"),
        ("distance", pair.before.distance, pair.after.distance, "0 is the same place"),
    ];
    Grid::new("numbers").num_columns(4).min_col_width(0.0).spacing([size::GAP, size::GAP_TIGHT]).show(ui, |ui| {
        for (name, before, after, hint) in rows {
            ui.label(name).on_hover_text(format!("Of the two vectors in the true space: {hint}"));
            ui.label(number(before, palette.ink_soft)).on_hover_text("Before attention");
            ui.weak("→");
            let [first, second] = &pair.labels;
            let said = format!("{name} of {first} and {second} after attention: {after:.6}");
            ui.label(number(after, palette.ink)).on_hover_text(said);
            ui.end_row();
        }
    });
}

/// The words near the one, beside those near the other.
fn near_ui(ui: &mut Ui, pair: &PairModel, view: &mut PanelView) {
    ui.spacing_mut().item_spacing.y = 0.0;
    ui.columns(2, |columns| {
        for ((ui, label), near) in columns.iter_mut().zip(&pair.labels).zip(&pair.near) {
            ui.label(RichText::new(format!("Near {label}")).font(theme::strong(size::BODY)));
            near.iter().for_each(|near| near_row_ui(ui, label, near, view));
        }
    });
}

fn near_row_ui(ui: &mut Ui, label: &str, near: &NearOutput, view: &mut PanelView) {
    let palette = Palette::of(ui.visuals().dark_mode);
    let word = RichText::new(&near.word).color(near.group.map_or(palette.ink, |group| palette.group(group)));
    let row = ui.horizontal(|ui| {
        ui.label(RichText::new(format!("{:.2}", near.cosine)).font(theme::mono(size::SMALL)).color(palette.ink_soft));
        ui.add(egui::Label::new(word).truncate());
    });
    let hint = format!("cosine {:.4} to the output of {label}; the stage shows where it is", near.cosine);
    if row.response.on_hover_text(hint).hovered() {
        view.hover.point_at(&near.word);
    }
}
