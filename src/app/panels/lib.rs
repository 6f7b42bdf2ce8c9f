//! The panels: each shows models of the latest snapshot, and asks for commands and actions.
//!
//! A panel is one file or folder, and one line of [`registry`]. No panel names a Bevy type, computes a tensor, or
//! advances a clock: the egui pass may run twice.

#![cfg(feature = "app")]

pub mod all_heads;
pub mod answers;
pub mod attention;
pub mod axes;
mod fold;
pub mod intervene;
pub mod meaning;
pub mod notebook;
pub mod panel;
pub mod senses;
pub mod sheet;
pub mod stage;
pub mod step;
pub mod training;
pub mod weights;

use std::sync::LazyLock;

use attune_view::panels;

pub use self::panel::{Panel, PanelContext, PanelId, PanelName, Region, Requests, SceneCamera, StageUi};

/// Every panel, in the order of its key: Alt+1 … Alt+9, Alt+0, Alt+H; the last has none.
pub fn registry() -> Vec<Registered> {
    fn row<P: Panel + Default + 'static>(name: PanelName, region: Region) -> Registered {
        Registered { id: PanelId::of(name), region, panel: Box::<P>::default() }
    }
    fn sheet(name: PanelName) -> Registered {
        let panel = Box::new(sheet::SheetPanel::of(name));
        Registered { id: PanelId::of(name), region: Region::LowerRight, panel }
    }
    let mut rows = vec![
        row::<notebook::NotebookPanel>(PanelName::Notebook, Region::Left),
        row::<stage::StagePanel>(PanelName::Stage, Region::Middle),
        row::<attention::AttentionPanel>(PanelName::Attention, Region::UpperRight),
        row::<step::StepPanel>(PanelName::Step, Region::UpperRight),
        row::<intervene::IntervenePanel>(PanelName::Intervene, Region::UpperRight),
        row::<meaning::MeaningPanel>(PanelName::Meaning, Region::LowerRight),
        row::<weights::WeightsPanel>(PanelName::Weights, Region::LowerRight),
        row::<training::TrainPanel>(PanelName::Train, Region::LowerRight),
        row::<answers::AnswersPanel>(PanelName::Answers, Region::LowerRight),
        sheet(PanelName::Variables),
        row::<all_heads::AllHeadsPanel>(PanelName::AllHeads, Region::LowerRight),
        row::<axes::AxesPanel>(PanelName::Axes, Region::LowerRight),
    ];
    // A panel that is no more than a sheet needs no line here.
    let is_new = |name: &PanelName| rows.iter().all(|row| row.id != PanelId::of(*name));
    let others: Vec<PanelName> = panels::PANELS.iter().map(|(name, _)| *name).filter(is_new).collect();
    rows.extend(others.into_iter().map(sheet));
    rows
}

/// A panel of the window.
pub struct Registered {
    /// Name of the panel, as a saved layout has it.
    pub id: PanelId,
    /// The part of the window in which it lies until the learner moves it.
    pub region: Region,
    pub panel: Box<dyn Panel>,
}

/// The panels by name, in the order of [`registry`].
pub fn ids() -> &'static [PanelId] {
    static IDS: LazyLock<Vec<PanelId>> = LazyLock::new(|| registry().iter().map(|row| row.id).collect());
    &IDS
}
