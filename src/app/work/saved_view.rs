//! What the viewer chose for one lesson, as it is kept beside what the kernel keeps.

use serde::{Deserialize, Serialize};

use crate::app::shell::dock::Workspace;
use crate::app::shell::layout::Layout;
use crate::app::view::ViewState;

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
    pub attention_as_lines: bool,
    pub attention_zoom: usize,
}

impl SavedView {
    pub fn of(view: &ViewState, workspace: &Workspace) -> Self {
        let (attention_as_lines, attention_zoom) = workspace.attention();
        Self {
            time: view.walk.time(),
            query: view.selection.query,
            lit: view.highlight.lit.clone(),
            shown_cell: view.highlight.shown_cell.clone(),
            selected: workspace.selected_cell(),
            layout: workspace.layout(),
            attention_as_lines,
            attention_zoom,
        }
    }

    /// What was chosen. The query waits for its sentence.
    pub fn put_back(&self, view: &mut ViewState, workspace: &mut Workspace) {
        if self.time.is_finite() {
            view.walk.set_time(self.time);
        }
        view.highlight.lit.clone_from(&self.lit);
        view.highlight.shown_cell.clone_from(&self.shown_cell);
        if let Some(selected) = &self.selected {
            workspace.select_cell(selected);
        }
        if let Some(layout) = &self.layout {
            workspace.lay_out(layout);
        }
        workspace.show_attention(self.attention_as_lines, self.attention_zoom);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_of_older_programs_are_read() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/saved");
        let files = std::fs::read_dir(folder).expect("the fixtures").map(|entry| entry.expect("an entry").path());
        for file in files.filter(|file| file.extension().is_some_and(|end| end == "json")) {
            let text = std::fs::read_to_string(&file).expect("a work");
            let work: serde_json::Value = serde_json::from_str(&text).expect("JSON");
            let view: SavedView = serde_json::from_value(work["view"].clone()).expect("a view");
            assert_eq!(serde_json::to_value(&view).expect("plain data"), work["view"], "{}", file.display());
        }
    }
}
