//! The links of a head's map with the stage and the sentence: its rows choose queries, and its cells pairs.

use attune_ui::theme::{self, Palette};
use attune_ui::ui_state::{PanelView, Selection};
use attune_view::view_model::attention::HeadMap;
use attune_view::view_model::labels::Side;
use attune_view::view_model::sentence_arcs::WordAt;
use egui::{Align2, Pos2, Response, Ui, WidgetInfo, WidgetType};

use super::layout::label;

/// Returns the map's row of the chosen query; `None` if it has none, as for heads of the source, whose rows are not
/// words on the stage.
pub fn query_row(map: &HeadMap, selection: &Selection) -> Option<usize> {
    selection.query.filter(|_| !map.is_of_source).and_then(|query| map.row_of(query))
}

/// Returns the sentences to which a map's queries and keys belong.
pub fn sides_of(map: &HeadMap) -> (Side, Side) {
    (Side::of_source(map.is_of_source), Side::of_source(map.keys_are_source))
}

/// Makes the walk follow a pair through the map's head. Does nothing for a head of the source, whose rows are not words
/// on the stage.
pub fn choose(selection: &mut Selection, map: &HeadMap, query: usize, key: usize) {
    if !map.is_of_source {
        let pair = map.pair(query, key);
        selection.choose_query(Some(pair.query));
        selection.choose_head(map.head);
        selection.key = Some(pair.key);
    }
}

/// Chooses a row; one that is clicked again stays chosen.
pub fn choose_row(selection: &mut Selection, row: usize) {
    if selection.chosen_query() != Some(row) {
        selection.choose_query(Some(row));
    }
}

/// The name of a query as a button, in maps and beside lines.
pub struct Query<'a> {
    pub map: &'a HeadMap,
    pub row: usize,
    pub is_chosen: bool,
}

impl Query<'_> {
    /// Paints the name, whose right end is `at`.
    pub fn paint(&self, ui: &Ui, response: &Response, at: Pos2, font_size: f32) {
        let palette = Palette::on(ui);
        let ink = match (self.is_chosen, response.hovered()) {
            (true, _) => palette.accent,
            (_, true) => palette.ink,
            _ => palette.ink_soft,
        };
        let font = if self.is_chosen { theme::strong(font_size) } else { theme::plain(font_size) };
        ui.painter().text(at, Align2::RIGHT_CENTER, label(&self.map.queries[self.row]), font, ink);
    }

    /// Highlights the word under the pointer, and chooses it after a click. `place` ends the name of the button, and
    /// `what` names the things that a click highlights.
    pub fn react(&self, response: Response, place: &str, what: &str, view: &mut PanelView) {
        let token = &self.map.queries[self.row];
        let position = self.map.query_tokens[self.row].start;
        let name = format!("Query {token}{place}");
        response.widget_info(|| WidgetInfo::selected(WidgetType::SelectableLabel, true, self.is_chosen, &name));
        if response.hovered() {
            view.hover.point_at_token(WordAt { side: sides_of(self.map).0, position });
        }
        let response = response.on_hover_text(format!("Highlight the {what} of {token}"));
        if response.clicked() && !self.map.is_of_source {
            choose_row(view.selection, position);
        }
    }
}
