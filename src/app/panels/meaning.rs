//! The meaning panel: the words that a word is near, before attention and after it; the word beside a second sentence; and its
//! senses in several.

use attune_view::view_model::compare::{CompareModel, TwoModels};
use attune_view::view_model::neighbours::{LayerNeighbours, Measure, NeighboursModel};
use attune_view::view_model::saved_view::{MeaningView, SavedView};
use attune_view::view_model::senses::{SensesModel, list_with, written_at};
use attune_view::view_model::sentences::SentencesModel;
use egui::Ui;

use super::compare::{TwoModelsUiState, compare_ui, two_models_ui};
use super::neighbours::neighbours_ui;
use super::senses::{SensesUiState, senses_ui};
use super::{Panel, PanelContext, PanelId, PanelName, Region};
use crate::app::widgets::controls::switch_ui;
use crate::app::widgets::sentence_field::SentenceFieldState;

#[derive(Default)]
pub struct MeaningPanel {
    pub view: MeaningView,
    /// How nearness is measured.
    measure: Measure,
    field: SentenceFieldState,
    senses: SensesUiState,
    models: TwoModelsUiState,
    /// Whether there was a second sentence in the last frame, whether senses were shown, and another model was there.
    is_comparing: bool,
    has_senses: bool,
    has_models: bool,
}

impl MeaningPanel {
    pub const ID: PanelId = PanelId::of(PanelName::Meaning);

    pub fn showing(view: MeaningView) -> Self {
        Self { view, ..Self::default() }
    }
}

impl Panel for MeaningPanel {
    fn id(&self) -> PanelId {
        Self::ID
    }

    fn region(&self) -> Region {
        Region::LowerRight
    }

    fn ui(&mut self, ui: &mut Ui, cx: &mut PanelContext) -> Option<()> {
        let (neighbours, sentences) = (cx.models.get::<NeighboursModel>()?, cx.models.get::<SentencesModel>()?);
        // Wherever a comparison begins, it is what is to be seen.
        let was_comparing = std::mem::replace(&mut self.is_comparing, sentences.second.is_some());
        if self.is_comparing && !was_comparing {
            self.view = MeaningView::Sentences;
        }
        let senses = cx.models.get::<SensesModel>()?;
        let had_senses = std::mem::replace(&mut self.has_senses, senses.is_on);
        if self.has_senses && !had_senses {
            self.view = MeaningView::Senses;
        }
        let beside = cx.models.beside.clone();
        let had_models = std::mem::replace(&mut self.has_models, beside.is_some());
        if self.has_models && !had_models {
            self.view = MeaningView::Models;
        }
        let mut views = vec![
            (MeaningView::Neighbours, "Neighbours", "The words near one word, before attention and after"),
            (MeaningView::Sentences, "Two sentences", "One word in two sentences: how far attention takes them apart"),
            (MeaningView::Senses, "Senses", "One word in up to 20 sentences: after which layer its senses part"),
        ];
        if beside.is_some() {
            views.push((MeaningView::Models, "Two models", "This model and the one beside it on the same sentence"));
        } else if self.view == MeaningView::Models {
            self.view = MeaningView::Neighbours;
        }
        switch_ui(ui, &mut self.view, &views);
        match self.view {
            MeaningView::Neighbours => {
                // Behind the last layer they are those of the contextual vectors.
                let passed = cx.view.walk.passed_layers().map(|passed| passed as usize);
                let block =
                    passed.filter(|passed| *passed < cx.view.walk.layers()).and_then(|passed| passed.checked_sub(1));
                let near =
                    cx.view.selection.query.zip(block).and_then(|(query, block)| {
                        Some((block, cx.models.of_choice::<LayerNeighbours>(&(query, block))?))
                    });
                let behind = near.as_ref().map(|(block, near)| (*block, &**near));
                neighbours_ui(ui, &neighbours, behind, &mut self.measure, &mut cx.view);
            }
            MeaningView::Sentences => {
                let model = cx.models.get::<CompareModel>();
                let commands = compare_ui(ui, model.as_deref(), &sentences, &mut self.field, &mut cx.view);
                cx.requests.commands.extend(commands);
            }
            MeaningView::Models => {
                let models = beside.and_then(|beside| cx.models.of_choice::<TwoModels>(&beside))?;
                two_models_ui(ui, &models, &mut self.models, &mut cx.view);
            }
            MeaningView::Senses => {
                let snapshot = cx.models.snapshot().filter(|_| senses.rows.is_empty());
                let word = snapshot.and_then(|snapshot| written_at(snapshot, cx.view.selection.query));
                let chosen = snapshot.zip(word).and_then(|(snapshot, word)| list_with(snapshot, &word));
                senses_ui(ui, &senses, chosen.as_ref(), &mut self.senses, &mut cx.view, cx.requests);
            }
        }
        Some(())
    }

    fn save(&self, saved: &mut SavedView) {
        saved.meaning = Some(self.view);
    }

    fn restore(&mut self, saved: &SavedView) {
        if let Some(view) = saved.meaning {
            self.view = view;
            // A comparison that was kept has not just begun; another model beside this one has.
            (self.is_comparing, self.has_senses) = (true, true);
        }
    }
}
