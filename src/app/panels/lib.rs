//! The panels: each shows models of the latest snapshot, and asks for commands and actions.
//!
//! A panel that shows its sheet is drawn by [`sheet`]; one that is a picture of its own, or whose tools are drawn on
//! what it shows, is a file or folder here and a line of [`registry`]. No panel names a Bevy type, computes a tensor,
//! or advances a clock: the egui pass may run twice.

#![cfg(feature = "app")]

pub mod answers;
#[cfg(test)]
#[path = "../../../tests/common/close.rs"]
mod close;
mod fold;
pub mod intervene;
mod maps;
pub mod meaning;
pub mod notebook;
pub mod panel;
mod patches;
pub mod senses;
pub mod sheet;
pub mod stage;
pub mod step;
pub mod training;
pub mod weights;

use std::sync::LazyLock;

use attune_ui::widgets::controls::middle_ui;
use attune_view::view_model::needs::needs;
use egui::Ui;

pub use self::panel::{Panel, PanelContext, PanelId, PanelName, Region, Requests, SceneCamera, StageUi};

/// Returns every panel, in the order of the keys that show them: Alt+1 … Alt+9, Alt+0, Alt+H; the last panel has no
/// key. Panels that are not named in this function show their sheet.
pub fn registry() -> Vec<Registered> {
    fn own<P: Panel + Default + 'static>() -> Box<dyn Panel> {
        Box::<P>::default()
    }
    let registered = |name| {
        let (region, panel): (Region, Box<dyn Panel>) = match name {
            PanelName::Notebook => (Region::Left, own::<notebook::NotebookPanel>()),
            PanelName::Stage => (Region::Middle, own::<stage::StagePanel>()),
            PanelName::Step => (Region::UpperRight, own::<step::StepPanel>()),
            PanelName::Intervene => (Region::UpperRight, own::<intervene::IntervenePanel>()),
            PanelName::Meaning => (Region::LowerRight, own::<meaning::MeaningPanel>()),
            PanelName::Weights => (Region::LowerRight, own::<weights::WeightsPanel>()),
            PanelName::Train => (Region::LowerRight, own::<training::TrainPanel>()),
            PanelName::Answers => (Region::LowerRight, own::<answers::AnswersPanel>()),
            PanelName::Attention => (Region::UpperRight, Box::new(sheet::SheetPanel::of(name))),
            _ => (Region::LowerRight, Box::new(sheet::SheetPanel::of(name))),
        };
        Registered { id: PanelId::of(name), region, panel }
    };
    PanelName::ALL.into_iter().map(registered).collect()
}

/// A panel of the window.
pub struct Registered {
    /// Name of the panel, which a saved layout contains.
    pub id: PanelId,
    /// The part of the window in which the panel lies until the learner moves it.
    pub region: Region,
    pub panel: Box<dyn Panel>,
}

/// Draws a panel or, if the open recording lacks data that the panel needs, a note on what must be recorded. Returns
/// `None` while the panel's models do not exist yet.
pub fn shown_ui(panel: &mut dyn Panel, id: PanelId, ui: &mut Ui, cx: &mut PanelContext) -> Option<()> {
    // The stage is drawn even if a recording lacks its points, because it can still show the sentence.
    let name = PanelName::named(id.title()).filter(|name| *name != PanelName::Stage);
    match name.and_then(|name| needs(name, cx.models.snapshot()?)) {
        Some(needs) => {
            middle_ui(ui, |ui| _ = ui.weak(needs.words()));
            Some(())
        }
        None => panel.ui(ui, cx),
    }
}

/// Returns the names of the panels, in the order of [`registry`].
pub fn ids() -> &'static [PanelId] {
    static IDS: LazyLock<Vec<PanelId>> = LazyLock::new(|| registry().iter().map(|row| row.id).collect());
    &IDS
}
