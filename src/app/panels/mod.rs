//! The panels: each shows models of the latest snapshot, and asks for commands and actions.
//!
//! A panel is one file or folder, and one line of [`registry`]. No panel names a Bevy type, computes a tensor, or
//! advances a clock: the egui pass may run twice.

pub mod all_heads;
pub mod answers;
pub mod attention;
pub mod axes;
pub mod compare;
mod fold;
pub mod intervene;
pub mod meaning;
mod neighbours;
pub mod notebook;
mod panel;
mod retrain;
pub mod senses;
pub mod stage;
pub mod step;
pub mod training;
pub mod variables;
pub mod weights;

use std::sync::LazyLock;

pub use panel::{Panel, PanelContext, PanelId, PanelName, Region, Requests, StageUi};

/// Every panel, in the order of its key: Alt+1 … Alt+9, Alt+0, Alt+H; the last has none.
pub fn registry() -> Vec<Box<dyn Panel>> {
    vec![
        Box::<notebook::NotebookPanel>::default(),
        Box::<stage::StagePanel>::default(),
        Box::<attention::AttentionPanel>::default(),
        Box::<step::StepPanel>::default(),
        Box::<intervene::IntervenePanel>::default(),
        Box::<meaning::MeaningPanel>::default(),
        Box::<weights::WeightsPanel>::default(),
        Box::<training::TrainPanel>::default(),
        Box::<answers::AnswersPanel>::default(),
        Box::<variables::VariablesPanel>::default(),
        Box::<all_heads::AllHeadsPanel>::default(),
        Box::<axes::AxesPanel>::default(),
    ]
}

/// The panels by name, in the order of [`registry`].
pub fn ids() -> &'static [PanelId] {
    static IDS: LazyLock<Vec<PanelId>> = LazyLock::new(|| registry().iter().map(|panel| panel.id()).collect());
    &IDS
}
