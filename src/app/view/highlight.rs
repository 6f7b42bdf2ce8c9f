//! Which points of the stage are shown, lit or looked for.

use attune_view::view_model::search::Search;

#[derive(Clone, Debug, PartialEq)]
pub struct Highlight {
    /// Words that a stage cell lights; empty: all.
    pub lit: Vec<String>,
    /// The stage cell that was shown last.
    pub shown_cell: Option<String>,
    /// Counts how often a stage cell was shown: each time the camera comes home.
    pub shows: usize,
    /// Rings where the points were before the lesson was trained again.
    pub old_ghosts: bool,
    /// Search on the stage, and which of the found points was looked at last.
    pub search: Search,
    pub looked_at: Option<usize>,
    /// Only the points that were found are shown or, without a search, the sentence and what is near its query.
    pub isolated: bool,
    /// The pieces of a word stand by themselves; else they are one word.
    pub pieces: bool,
}

impl Default for Highlight {
    fn default() -> Self {
        Highlight {
            lit: Vec::new(),
            shown_cell: None,
            shows: 0,
            old_ghosts: true,
            search: Search::default(),
            looked_at: None,
            isolated: false,
            pieces: false,
        }
    }
}

impl Highlight {
    /// Lights the words of a stage cell, among all points.
    pub fn show(&mut self, cell: &str, words: &[String]) {
        self.widen();
        (self.lit, self.shown_cell) = (words.to_vec(), Some(cell.to_owned()));
        self.shows = self.shows.wrapping_add(1);
    }

    /// A search is on, or points are hidden.
    pub fn is_narrowed(&self) -> bool {
        !self.search.text.is_empty() || self.isolated
    }

    /// Shows all points again.
    pub fn widen(&mut self) {
        (self.search.text, self.looked_at, self.isolated) = (String::new(), None, false);
    }
}
