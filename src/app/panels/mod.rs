//! The panels: each shows models of the latest snapshot, and asks for commands and actions.
//!
//! A panel is one file or folder, and one line of [`registry`]. No panel names a Bevy type, computes a tensor, or
//! advances a clock: the egui pass may run twice.

pub mod answers;
pub mod arithmetic;
pub mod attention;
pub mod axes;
pub mod compare;
pub mod fold;
pub mod heads;
pub mod neighbours;
pub mod notebook;
mod panel;
pub mod retrain;
pub mod stage;
pub mod training;
pub mod variables;
pub mod weights;
pub mod what_if;

use std::sync::LazyLock;

pub use panel::{Panel, PanelContext, PanelId, Region, Requests, StageUi};

/// Every panel, in the order of its key: Alt+1 … Alt+9, Alt+0; the last have none.
pub fn registry() -> Vec<Box<dyn Panel>> {
    vec![
        Box::<notebook::NotebookPanel>::default(),
        Box::<stage::StagePanel>::default(),
        Box::<fold::FoldPanel>::default(),
        Box::<attention::AttentionPanel>::default(),
        Box::<arithmetic::ArithmeticPanel>::default(),
        Box::<heads::HeadsPanel>::default(),
        Box::<what_if::WhatIfPanel>::default(),
        Box::<weights::WeightsPanel>::default(),
        Box::<neighbours::NeighboursPanel>::default(),
        Box::<training::TrainingPanel>::default(),
        Box::<retrain::RetrainPanel>::default(),
        Box::<axes::AxesPanel>::default(),
        Box::<answers::AnswersPanel>::default(),
        Box::<variables::VariablesPanel>::default(),
        Box::<compare::ComparePanel>::default(),
    ]
}

/// The panels by name, in the order of [`registry`].
pub fn ids() -> &'static [PanelId] {
    static IDS: LazyLock<Vec<PanelId>> = LazyLock::new(|| registry().iter().map(|panel| panel.id()).collect());
    &IDS
}
