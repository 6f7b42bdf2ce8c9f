//! The viewer's choices for one lesson, which are saved together with the kernel's state.

use serde::{Deserialize, Serialize};

use super::attention::Reading;
use super::features::Feature;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedView {
    pub time: f32,
    /// The place on the walk through attention; `None` if the points move directly from static to contextual.
    pub walk: Option<SavedWalk>,
    pub query: Option<usize>,
    /// The head that the learner chose, counted over all layers.
    pub head: Option<usize>,
    pub is_head_alone: bool,
    pub reading: Reading,
    /// Whether the pieces of a word are shown separately.
    pub pieces: bool,
    /// The feature of a file's rows that sets the colours of points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color_by: Option<Feature>,
    /// The feature that sets their sizes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_by: Option<Feature>,
    pub lit: Vec<String>,
    pub shown_cell: Option<String>,
    /// The notebook's selected cell.
    pub selected: Option<String>,
    pub layout: Option<PanelLayout>,
    /// Whether the learner has moved a panel.
    pub is_laid_out_by_hand: bool,
    /// The titles of the panels that cells have opened; `None` if saved before panels could be closed.
    pub revealed: Option<Vec<String>>,
    pub attention_as_lines: bool,
    pub attention_zoom: usize,
    pub step_as_matrices: bool,
    pub answers: AnswersView,
    /// The view of the panel *Meaning*; `None` if saved before it was included.
    pub meaning: Option<MeaningView>,
    /// The camera, if the user has moved it. Saved only in a shared state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub camera: Option<SavedCamera>,
    /// The width and height of the stage, in points. Saved only in a shared state.
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
    Words,
}

/// The subject of a comparison.
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

/// A walk within the layers of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedWalk {
    pub layers: usize,
    /// The place among the steps, or the number of layers that the points have passed.
    pub place: f32,
    pub is_by_layer: bool,
}

/// The position of a camera and the point at which it looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedCamera {
    pub target: [f32; 3],
    pub yaw: f32,
    pub pitch: f32,
    pub distance: f32,
    pub is_flat: bool,
}

/// The layout of the panels, as a tree. A saved one can have any content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PanelLayout {
    /// Panels by their titles, and the index of the one in front.
    Tabs { panels: Vec<String>, front: usize },
    /// Two parts beside or above one another, with the share of the first.
    Split { is_beside: bool, share: f32, parts: Box<(PanelLayout, PanelLayout)> },
}
