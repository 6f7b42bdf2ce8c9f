//! The patches of a picture in the place of the sentence: their grid, each patch as bright as its weight.

use attune_ui::theme::{Palette, size};
use attune_ui::ui_state::PanelView;
use attune_ui::widgets::patches::{paint_patch, patch_color, texture};
use attune_view::view_model::grid::PatchPlaces;
use attune_view::view_model::sentence_arcs::{ShownArcs, WordAt};
use egui::{Painter, Pos2, Rect, Stroke, StrokeKind, Ui};

use super::{Strip, StripState, WordLook};

impl Strip<'_> {
    /// Shows the patches with the weights of the chosen one, and the other tokens beside the grid.
    pub(super) fn patches_ui(
        &self,
        ui: &Ui,
        places: &PatchPlaces,
        origin: Pos2,
        shown: Option<ShownArcs>,
        state: &mut StripState,
        view: &mut PanelView,
    ) {
        let palette = Palette::on(ui);
        let picture = self.picture.map(|picture| texture(ui.ctx(), picture));
        let shares = shown.map_or_else(Vec::new, |shown| self.model.shares(&shown));
        // The patches without a token are covered.
        for (patch, token) in places.tokens().into_iter().enumerate() {
            let place = [patch / places.columns, patch % places.columns];
            let rect = self.plan.patch(place).translate(origin.to_vec2());
            if let Some(picture) = &picture {
                paint_patch(ui.painter(), picture, places, place, rect);
            }
            // Without weights, the whole picture is visible.
            let is_clear = token.is_some() && shown.is_none() && picture.is_some();
            let share = token.and_then(|token| shares.get(token).copied().flatten());
            let (own, share) = share.unwrap_or((0, if is_clear { 1.0 } else { 0.0 }));
            ui.painter().rect_filled(rect, 0.0, patch_color(palette, picture.is_some(), own, share));
            if picture.is_none() {
                ui.painter().rect_stroke(rect, 0.0, Stroke::new(size::HAIRLINE, palette.line), StrokeKind::Inside);
            }
        }
        // Frames and names are painted over all patches.
        for word in &self.plan.words {
            self.word_ui(ui, word, origin, shown, state, view);
        }
        if let Some(walk) = self.walk.filter(|_| !self.has_weights()) {
            self.step_numbers(ui.painter(), origin, walk, palette);
        }
        if let Some(chosen) = view.selection.query {
            let chosen = self.plan.place(WordAt::in_sentence(chosen));
            let chosen = chosen.filter(|word| places.of_token(word.at.position).is_some());
            let frame = chosen.map(|word| word.rect.translate(origin.to_vec2()));
            frame.into_iter().for_each(|rect| paint_frame(ui.painter(), rect, palette.accent));
        }
    }
}

/// Paints the frame of a patch that the pointer or the arcs are on.
pub(super) fn paint_look(painter: &Painter, rect: Rect, look: WordLook, palette: &Palette) {
    if look.is_pointed || look.is_followed {
        paint_frame(painter, rect, palette.ink);
    }
}

fn paint_frame(painter: &Painter, rect: Rect, ink: egui::Color32) {
    painter.rect_stroke(rect, 0.0, Stroke::new(size::OUTLINE, ink), StrokeKind::Outside);
}
