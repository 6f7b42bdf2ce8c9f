//! The stage panel: a tab for the stage, which panels do not know.

use egui::Ui;

use super::{Panel, PanelContext, PanelId, PanelName, Region};

#[derive(Default)]
pub struct StagePanel;

impl StagePanel {
    pub const ID: PanelId = PanelId::of(PanelName::Stage);
}

impl Panel for StagePanel {
    fn id(&self) -> PanelId {
        Self::ID
    }

    fn region(&self) -> Region {
        Region::Middle
    }

    fn ui(&mut self, ui: &mut Ui, cx: &mut PanelContext) -> Option<()> {
        cx.stage.stage_ui(ui, &mut cx.view);
        Some(())
    }

    fn has_margin(&self) -> bool {
        false
    }
}
