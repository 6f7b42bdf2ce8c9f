//! The step panel: what the current step of the walk computes, as numbers or as matrices.

use attune_view::view_model::attention::AttentionModel;
use attune_view::view_model::fold::FoldModel;
use attune_view::view_model::path::PathModel;
use attune_view::view_model::saved_view::SavedView;
use attune_view::view_model::walk::WalkModel;
use attune_view::view_model::walk::route::RouteModel;
use egui::Ui;

use super::arithmetic::arithmetic_ui;
use super::fold::fold_ui;
use super::{Panel, PanelContext, PanelId, PanelName, Region};
use crate::app::widgets::controls::{switch_ui, waiting_ui};

/// How the step is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StepView {
    #[default]
    Numbers,
    Matrices,
}

#[derive(Default)]
pub struct StepPanel {
    pub view: StepView,
}

impl Panel for StepPanel {
    fn id(&self) -> PanelId {
        PanelId::of(PanelName::Step)
    }

    fn region(&self) -> Region {
        Region::UpperRight
    }

    fn ui(&mut self, ui: &mut Ui, cx: &mut PanelContext) -> Option<()> {
        let attention = cx.models.get::<AttentionModel>()?;
        switch_ui(
            ui,
            &mut self.view,
            &[
                (StepView::Numbers, "Numbers", "The step worked through for one word, number by number"),
                (
                    StepView::Matrices,
                    "Matrices",
                    "The same step for all words at once, with the matrices of every head",
                ),
            ],
        );
        match self.view {
            StepView::Numbers => {
                let selection = &cx.view.selection;
                let route = cx.models.get::<RouteModel>();
                let focus = route.and_then(|route| {
                    let word = selection.query.or_else(|| route.word(&cx.view.highlight.lit))?;
                    Some(route.focus(word, selection.head, selection.key))
                });
                let walk = focus.and_then(|focus| cx.models.of_choice::<WalkModel>(&focus));
                let path =
                    focus.and_then(|focus| cx.models.of_choice::<PathModel>(&(focus.query, focus.head, selection.by)));
                arithmetic_ui(ui, walk.as_deref(), path.as_deref(), &attention, &mut cx.view);
            }
            StepView::Matrices => {
                let model = cx.models.of_choice::<FoldModel>(&cx.view.selection.head);
                match (model, cx.stage.camera()) {
                    (Some(model), Some(camera)) => fold_ui(ui, &model, &mut cx.view, camera),
                    _ => waiting_ui(ui, cx.models),
                }
            }
        }
        Some(())
    }

    fn save(&self, saved: &mut SavedView) {
        saved.step_as_matrices = self.view == StepView::Matrices;
    }

    fn restore(&mut self, saved: &SavedView) {
        self.view = if saved.step_as_matrices { StepView::Matrices } else { StepView::Numbers };
    }
}
