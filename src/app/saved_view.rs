//! The viewer's choices for one lesson, as they are kept beside what the kernel keeps.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedView {
    pub time: f32,
    pub query: Option<usize>,
    pub lit: Vec<String>,
    pub shown_cell: Option<String>,
    /// The cell that the notebook was at.
    pub selected: Option<String>,
    pub layout: Option<Layout>,
    /// The learner has moved a panel.
    pub is_laid_out_by_hand: bool,
    /// The panels that cells have opened, by their titles; none where it was kept before panels could be closed.
    pub revealed: Option<Vec<String>>,
    pub attention_as_lines: bool,
    pub attention_zoom: usize,
    pub step_as_matrices: bool,
}

/// The places of the panels: a tree that may be anything when it is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Layout {
    /// Panels by their titles, and which is in front.
    Tabs { panels: Vec<String>, front: usize },
    /// One beside or above the other, with the share of the first.
    Split { is_beside: bool, share: f32, parts: Box<(Layout, Layout)> },
}
