//! The reference of the language: every function with its call, its meaning and its equation.

use attune_engine::code::{Help, REFERENCE};
use egui::{Button, Frame, Label, Margin, RichText, ScrollArea, TextEdit, Ui, WidgetInfo, WidgetType};

use crate::app::actions::focus;
use crate::app::text::prose::equation_ui;
use crate::app::theme::{self, Palette, size};

#[derive(Default)]
pub struct ReferenceUiState {
    pub search: String,
    /// The search field has the keyboard.
    pub is_searching: bool,
}

/// The function whose example was asked for, if one was.
pub fn reference_ui(ui: &mut Ui, state: &mut ReferenceUiState) -> Option<&'static Help> {
    let margin = Margin::symmetric(size::GAP as i8, size::GAP_TIGHT as i8);
    let search = TextEdit::singleline(&mut state.search).id(focus::function_search()).margin(margin);
    let search = search.hint_text("Search the functions").desired_width(f32::INFINITY);
    let search = ui.add(search).on_hover_text("A name, or words of a meaning");
    focus::take(ui.ctx(), search.id);
    // Esc has taken the keyboard away by now, and closes the window.
    state.is_searching = search.has_focus() || search.lost_focus();
    ui.ctx().accesskit_node_builder(search.id, |node| node.set_label("Search the functions"));
    ui.add_space(size::GAP_TIGHT);
    let found = found(&state.search);
    if found.is_empty() {
        ui.weak("There is no such function.");
        return None;
    }
    let mut wanted = None;
    ScrollArea::vertical().auto_shrink([false, false]).show(ui, |ui| {
        for help in found {
            ui.push_id(help.name, |ui| {
                if help_ui(ui, help) {
                    wanted = Some(help);
                }
            });
        }
    });
    wanted
}

/// True when its example was asked for.
fn help_ui(ui: &mut Ui, help: &Help) -> bool {
    let palette = Palette::of(ui.visuals().dark_mode);
    let card =
        Frame::new().fill(palette.raised).corner_radius(size::RADIUS).inner_margin(Margin::same(size::GAP as i8));
    let card = card.show(ui, |ui| {
        ui.set_width(ui.available_width());
        help_words_ui(ui, help);
        let example = RichText::new(help.example).font(theme::mono(size::SMALL)).color(palette.accent);
        let button = ui.add(Button::new(example).frame(false).wrap()).on_hover_text("Insert this example");
        button.widget_info(|| {
            WidgetInfo::labeled(WidgetType::Button, true, format!("Insert the example of {}", help.name))
        });
        button.clicked()
    });
    card.inner
}

/// The call, the meaning and the equation, one below the other.
pub fn help_words_ui(ui: &mut Ui, help: &Help) {
    let palette = Palette::of(ui.visuals().dark_mode);
    ui.spacing_mut().item_spacing.y = size::GAP_TIGHT;
    let call = RichText::new(help.call).monospace().color(palette.code.function);
    ui.add(Label::new(call).selectable(true).wrap());
    ui.add(Label::new(help.meaning).wrap());
    if !help.equation.is_empty() {
        equation_ui(ui, help.equation);
    }
}

/// Those whose name or meaning has every word of the search; names first. All for an empty one.
pub fn found(search: &str) -> Vec<&'static Help> {
    let search = search.to_lowercase();
    let words: Vec<&str> = search.split_whitespace().collect();
    let has = |text: &str| {
        let text = text.to_lowercase();
        words.iter().all(|word| text.contains(word))
    };
    let (named, others): (Vec<&Help>, Vec<&Help>) = REFERENCE.iter().partition(|help| has(help.name));
    let meant = others.into_iter().filter(|help| has(&format!("{} {}", help.call, help.meaning)));
    named.into_iter().chain(meant).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_finds_names_before_meanings() {
        let names = |search| found(search).iter().map(|help| help.name).collect::<Vec<_>>();
        assert_eq!(names("").len(), REFERENCE.len());
        assert_eq!(names("cos"), ["cosine", "nearest"]);
        assert_eq!(names("Into weights"), ["softmax"]);
        assert_eq!(names("no such thing"), Vec::<&str>::new());
    }
}
