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
pub mod retrain;
pub mod stage;
pub mod training;
pub mod variables;
pub mod weights;
pub mod what_if;

use std::sync::LazyLock;

use egui::Ui;

use crate::kernel::command::Command;
use crate::kernel::worker::pace::Pace;
use crate::view_model::models::Models;

use super::actions::Action;
use super::saved_view::SavedView;
use super::scene_camera::SceneCamera;
use super::text::prose::Prose;
use super::view::PanelView;

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

/// A tab of the dock. It owns what it remembers.
pub trait Panel: Send + Sync {
    /// By its title, as a saved layout names it.
    fn id(&self) -> PanelId;

    /// Where it lies until the learner moves it.
    fn region(&self) -> Region;

    /// Draws it. `None` while the models that it needs are not there yet.
    fn ui(&mut self, ui: &mut Ui, cx: &mut PanelContext) -> Option<()>;

    /// Whether it keeps a margin from the edges of its tab.
    fn has_margin(&self) -> bool {
        true
    }

    /// Writes what is kept of it with the learner's work.
    fn save(&self, _saved: &mut SavedView) {}

    /// Takes back what was kept, which may be anything.
    fn restore(&mut self, _saved: &SavedView) {}
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PanelId(pub &'static str);

impl PanelId {
    /// The title of its tab.
    pub fn title(self) -> &'static str {
        self.0
    }
}

/// The panels by name, in the order of [`registry`].
pub fn ids() -> &'static [PanelId] {
    static IDS: LazyLock<Vec<PanelId>> = LazyLock::new(|| registry().iter().map(|panel| panel.id()).collect());
    &IDS
}

/// A part of the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    Left,
    Middle,
    UpperRight,
    LowerRight,
}

/// Everything that a panel is given in one frame: models, the view that it may change, a place for its requests.
pub struct PanelContext<'a> {
    pub models: &'a Models,
    pub view: PanelView<'a>,
    pub stage: &'a mut dyn StageUi,
    pub prose: &'a mut Prose,
    /// The kernel has answered all that was asked of it: what the models show is what it has.
    pub is_answered: bool,
    pub requests: &'a mut Requests,
}

/// Requests of the panels in one frame.
#[derive(Default)]
pub struct Requests {
    /// For the kernel.
    pub commands: Vec<Command>,
    /// For the window.
    pub actions: Vec<Action>,
    /// How fast training is to play.
    pub pace: Option<Pace>,
}

/// The stage, as panels use it without knowing it.
pub trait StageUi {
    /// Draws it into its tab.
    fn stage_ui(&mut self, ui: &mut Ui, view: &mut PanelView);

    /// Draws the steps of the walk, under what is walked through.
    fn timeline_ui(&mut self, _ui: &mut Ui, _view: &mut PanelView) {}

    /// Its camera; none where there is no scene.
    fn camera(&mut self) -> Option<&mut dyn SceneCamera> {
        None
    }
}
