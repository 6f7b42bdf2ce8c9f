//! A term's entry in the glossary: on a card beside a text, and in the glossary's list.

use attune_core::lesson::glossary::Term;
use attune_view::view_model::glossary::{First, GlossaryModel};
use egui::{Button, Label, RichText, Ui, WidgetType};

use super::prose::words_ui;
use crate::actions::Action;
use crate::theme::{self, Palette, prose, size};
use crate::widgets::controls::named;

/// Shows the tooltip card of a term, which has no controls.
pub fn term_card_ui(ui: &mut Ui, model: &GlossaryModel, term: usize) {
    let Some((term, first)) = model.entry(term) else { return };
    ui.set_width(prose::TERM_CARD);
    term_words_ui(ui, term);
    ui.label(RichText::new(first_words(first)).size(size::SMALL).color(Palette::on(ui).ink_soft));
}

/// Shows the name, symbols, shape and meaning of a term, one below another.
fn term_words_ui(ui: &mut Ui, term: &Term) {
    ui.spacing_mut().item_spacing.y = size::GAP_TIGHT;
    let symbols: Vec<String> = term.symbols.iter().map(|symbol| format!("${symbol}$")).collect();
    // A name is plain words, so it contains no Markdown.
    words_ui(ui, &format!("**{}**\u{2002}{}", term.name, symbols.join(", ")).into());
    if !term.shape.is_empty() {
        let shape = RichText::new(&term.shape).font(theme::mono(size::MONO)).color(Palette::on(ui).ink_soft);
        ui.add(Label::new(shape).wrap()).on_hover_text("The shape of the tensor");
    }
    words_ui(ui, &term.meaning);
}

fn first_words(first: &First) -> String {
    match first.title.as_str() {
        "" => "Used in several lessons".to_owned(),
        _ if first.is_here => "First in this lesson".to_owned(),
        title => format!("First in {title}"),
    }
}

/// Shows the entry of a term. Returns the action that opens the term's lesson, if that is another one and was clicked.
pub fn term_entry_ui(ui: &mut Ui, term: &Term, first: &First) -> Option<Action> {
    let palette = Palette::on(ui);
    term_words_ui(ui, term);
    let words = RichText::new(first_words(first)).size(size::SMALL);
    let Some(path) = &first.path else {
        ui.label(words.color(palette.ink_soft));
        return None;
    };
    let button = ui.add(Button::new(words.color(palette.accent)).small().frame(false).wrap());
    let name = format!("Open {}, where {} begins", first.title, term.name);
    let button = named(button, WidgetType::Button, name).on_hover_text("Open that lesson");
    button.clicked().then(|| Action::open(path))
}
