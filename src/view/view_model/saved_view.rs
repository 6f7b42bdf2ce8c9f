//! The viewer's choices for one lesson, as they are kept beside what the kernel keeps.

use serde::{Deserialize, Serialize};

use super::attention::Reading;
use super::features::Feature;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedView {
    pub time: f32,
    /// The place on the walk through attention; none where the points go straight from static to contextual.
    pub walk: Option<SavedWalk>,
    pub query: Option<usize>,
    /// The head that the learner chose, counted over all layers.
    pub head: Option<usize>,
    pub is_head_alone: bool,
    pub reading: Reading,
    /// The pieces of a word stand by themselves.
    pub pieces: bool,
    /// Features of a file's rows that its points are coloured and sized by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color_by: Option<Feature>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_by: Option<Feature>,
    pub lit: Vec<String>,
    pub shown_cell: Option<String>,
    /// The cell that the notebook was at.
    pub selected: Option<String>,
    pub layout: Option<PanelLayout>,
    /// The learner has moved a panel.
    pub is_laid_out_by_hand: bool,
    /// The panels that cells have opened, by their titles; none where it was kept before panels could be closed.
    pub revealed: Option<Vec<String>>,
    pub attention_as_lines: bool,
    pub attention_zoom: usize,
    pub step_as_matrices: bool,
    pub answers: AnswersView,
    /// None where it was kept before the panel's view was.
    pub meaning: Option<MeaningView>,
    /// The camera, where somebody has moved it. Kept in a state that is shared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub camera: Option<SavedCamera>,
    /// Width and height of the stage, in points. Kept in a state that is shared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<(u32, u32)>,
}

/// The part of the answers that their panel shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AnswersView {
    #[default]
    Answers,
    Layers,
    Terms,
}

/// Subjects of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MeaningView {
    #[default]
    Neighbours,
    Sentences,
    /// One word in several sentences.
    Senses,
    /// Another model on the same sentence.
    Models,
}

/// A walk that is within the layers of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedWalk {
    pub layers: usize,
    /// Steps of the walk, or layers that the points have passed.
    pub place: f32,
    pub is_by_layer: bool,
}

/// Where a camera is, and where it looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedCamera {
    pub target: [f32; 3],
    pub yaw: f32,
    pub pitch: f32,
    pub distance: f32,
    pub is_flat: bool,
}

/// The places of the panels: a tree that may be anything when it is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PanelLayout {
    /// Panels by their titles, and which is in front.
    Tabs { panels: Vec<String>, front: usize },
    /// One beside or above the other, with the share of the first.
    Split { is_beside: bool, share: f32, parts: Box<(PanelLayout, PanelLayout)> },
}
