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
    /// The head that the learner chose, counted over all blocks.
    pub head: Option<usize>,
    pub is_head_alone: bool,
    pub reading: Reading,
    /// Whether the pieces of a word are shown separately.
    pub pieces: bool,
    /// The feature of a file's rows that sets the colours of points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub color_by: Option<Feature>,
    /// The feature of a file's rows that determines the sizes of points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_by: Option<Feature>,
    pub lit: Vec<String>,
    pub shown_cell: Option<String>,
    /// The notebook's selected cell.
    pub selected: Option<String>,
    pub layout: Option<PanelLayout>,
    /// Whether the learner has moved a panel.
    pub is_laid_out_by_hand: bool,
    /// The titles of the panels that cells have opened; `None` in a file from before panels could be closed.
    pub revealed: Option<Vec<String>>,
    pub attention_as_lines: bool,
    pub attention_zoom: usize,
    pub step_as_matrices: bool,
    pub answers: AnswersView,
    /// The view of the panel *Meaning*; `None` in a file from before views were saved.
    pub meaning: Option<MeaningView>,
    /// The camera, if the user has moved it. Saved only in a shared state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub camera: Option<SavedCamera>,
    /// The width and height of the stage, in points. Saved only in a shared state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<(u32, u32)>,
}

/// The view that the panel *Answers* shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AnswersView {
    #[default]
    Answers,
    Layers,
    Terms,
    Words,
}

/// The view that the panel *Meaning* shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MeaningView {
    #[default]
    Neighbours,
    Sentences,
    /// The occurrences of one word in several sentences.
    Senses,
    /// The comparison with another model on the same sentence.
    Models,
}

/// A place on the walk through the layers of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedWalk {
    pub layers: usize,
    /// The place among the steps or, if `is_by_layer`, the number of layers that the points have passed.
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

/// The layout of the panels as a tree, which may have any content when it is read from a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PanelLayout {
    /// A group of panels, given by their titles, of which the one with the index `front` is visible.
    Tabs { panels: Vec<String>, front: usize },
    /// A split into two parts, side by side or one above the other; `share` is the size of the first.
    Split { is_beside: bool, share: f32, parts: Box<(PanelLayout, PanelLayout)> },
}
