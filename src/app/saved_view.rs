//! What the viewer chose for one lesson, as it is kept beside what the kernel keeps.

use serde::{Deserialize, Serialize};

use super::panels::attention::AttentionUiState;
use super::panels::dock::Workspace;
use super::panels::layout::Layout;
use super::view_state::ViewState;

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
    pub attention: AttentionUiState,
}

impl SavedView {
    pub fn of(view: &ViewState, workspace: &Workspace) -> Self {
        Self {
            time: view.time(),
            query: view.query,
            lit: view.lit.clone(),
            shown_cell: view.shown_cell.clone(),
            selected: workspace.selected_cell(),
            layout: workspace.layout(),
            attention: workspace.attention(),
        }
    }

    /// What was chosen. The query waits for its sentence.
    pub fn put_back(&self, view: &mut ViewState, workspace: &mut Workspace) {
        if self.time.is_finite() {
            view.set_time(self.time);
        }
        view.lit.clone_from(&self.lit);
        view.shown_cell.clone_from(&self.shown_cell);
        if let Some(selected) = &self.selected {
            workspace.select_cell(selected);
        }
        if let Some(layout) = &self.layout {
            workspace.lay_out(layout);
        }
        workspace.show_attention(self.attention);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written to a file and read again.
    fn kept(text: &str) -> SavedView {
        serde_json::from_str(text).expect("a view")
    }

    #[test]
    fn the_attention_panel_comes_back_as_it_was_and_no_file_gives_it_a_size_that_is_none() {
        let mut workspace = Workspace::default();
        let mut view = ViewState::default();
        for (zoom, wanted) in [(2, 2), (usize::MAX, 4)] {
            let text = format!(r#"{{"attention": {{"view": "Lines", "head": 1, "zoom": {zoom}}}}}"#);
            kept(&text).put_back(&mut view, &mut workspace);
            let json = serde_json::to_value(SavedView::of(&view, &workspace)).expect("it is written");
            assert_eq!(json["attention"], serde_json::json!({ "view": "Lines", "head": 1, "zoom": wanted }));
        }
        kept("{}").put_back(&mut view, &mut workspace);
        assert_eq!(workspace.attention(), AttentionUiState::default());
    }
}
