//! Choices of the viewer that no kernel needs to know. Never part of a lesson's result.
//!
//! [`ViewState`] has a part for each owner; a panel is handed a [`PanelView`], the parts that it may change.

pub mod asked;
pub mod search;
pub mod selection;
pub mod walk;

use attune_engine::quantity::Entry;
use attune_view::view_model::sentence_arcs::{Pair, WordAt};
use bevy::ecs::resource::Resource;
use serde::{Deserialize, Serialize};

pub use self::asked::Asked;
use self::search::Search;
pub use self::selection::Selection;
pub use self::walk::Walk;
use crate::app::theme::size;

/// Shared by the panels and the stage.
#[derive(Resource, Clone, Debug, Default, PartialEq)]
pub struct ViewState {
    pub selection: Selection,
    pub walk: Walk,
    pub highlight: Highlight,
    pub trail: Trail,
    pub hover: Hover,
    pub asked: Asked,
    pub preferences: Preferences,
    pub figure: FigureOptions,
}

/// The stage as a picture of its own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FigureOptions {
    /// The stage alone, as a figure: no slider, no reminder.
    pub is_on: bool,
    /// A figure without its caption.
    pub bare: bool,
    /// Background of a figure, instead of the stage's own colour.
    pub background: Option<egui::Color32>,
}

impl ViewState {
    pub fn themed(theme: ThemeChoice) -> ViewState {
        ViewState { preferences: Preferences { theme, ..Preferences::default() }, ..ViewState::default() }
    }

    pub fn zoomed(mut self, zoom: f32) -> ViewState {
        self.preferences.zoom = zoom;
        self
    }

    /// The state with which another lesson opens: the look stays.
    pub fn for_another_lesson(&self) -> ViewState {
        ViewState { preferences: self.preferences, ..ViewState::default() }
    }

    /// The same as a figure, at rest.
    pub fn as_figure(&self, theme: ThemeChoice, zoom: f32) -> ViewState {
        ViewState {
            walk: self.walk.at_rest(),
            hover: Hover::default(),
            preferences: Preferences { theme, zoom, reduced_motion: true },
            figure: FigureOptions { is_on: true, ..self.figure.clone() },
            ..self.clone()
        }
    }

    /// The parts that a panel may change.
    pub fn for_panels(&mut self) -> PanelView<'_> {
        let ViewState { selection, walk, highlight, trail, hover, asked, .. } = self;
        PanelView { selection, walk, highlight, trail, hover, asked }
    }
}

/// The parts of the view that a panel may change.
pub struct PanelView<'a> {
    pub selection: &'a mut Selection,
    pub walk: &'a mut Walk,
    pub highlight: &'a mut Highlight,
    pub trail: &'a mut Trail,
    pub hover: &'a mut Hover,
    pub asked: &'a mut Asked,
}

impl PanelView<'_> {
    /// Shows all points again; a second time, no word is chosen any more.
    pub fn clear(&mut self) {
        if self.highlight.is_narrowed() {
            self.highlight.widen();
        } else {
            self.selection.choose_query(None);
        }
    }
}

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

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hover {
    now: Pointed,
    before: Pointed,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Pointed {
    word: Option<String>,
    at: Option<WordAt>,
    pair: Option<Pair>,
}

impl Hover {
    /// The pointer is over this word of the vocabulary.
    pub fn point_at(&mut self, word: &str) {
        self.now.word = Some(word.to_owned());
    }

    /// The pointer is over this word of the sentence or of its source.
    pub fn point_at_token(&mut self, at: WordAt) {
        self.now.at = Some(at);
    }

    /// The pointer is over the weight of a pair.
    pub fn point_at_pair(&mut self, pair: Pair) {
        self.now.pair = Some(pair);
    }

    /// The word that was pointed at in the frame before.
    pub fn word(&self) -> Option<&str> {
        self.before.word.as_deref()
    }

    /// The word of the sentence or of its source that was pointed at in the frame before.
    pub fn at(&self) -> Option<WordAt> {
        self.before.at
    }

    /// Position in the sentence that was pointed at in the frame before.
    pub fn token(&self) -> Option<usize> {
        self.before.at.and_then(WordAt::token)
    }

    /// The pair whose weight was pointed at in the frame before.
    pub fn pair(&self) -> Option<Pair> {
        self.before.pair
    }

    /// Begins a frame. True if another thing is pointed at than in the last one.
    pub fn begin_frame(&mut self) -> bool {
        let is_other = self.now != self.before;
        self.before = std::mem::take(&mut self.now);
        is_other
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trail(Vec<Entry>);

impl Trail {
    /// Opens the provenance of a number.
    pub fn open(&mut self, entry: Entry) {
        self.0 = vec![entry];
    }

    /// Opens the provenance of an operand of the number that is shown.
    pub fn follow(&mut self, entry: Entry) {
        self.0.push(entry);
    }

    /// Goes back to the number before.
    pub fn back(&mut self) {
        self.0.pop();
    }

    pub fn close(&mut self) {
        self.0.clear();
    }

    /// The number whose provenance is shown.
    pub fn entry(&self) -> Option<Entry> {
        self.0.last().copied()
    }

    pub fn depth(&self) -> usize {
        self.0.len()
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preferences {
    pub theme: ThemeChoice,
    /// Multiplies every size on the screen.
    pub zoom: f32,
    /// Jump instead of gliding.
    pub reduced_motion: bool,
}

impl Default for Preferences {
    fn default() -> Self {
        Preferences { theme: ThemeChoice::default(), zoom: 1.0, reduced_motion: false }
    }
}

impl Preferences {
    pub fn zoom_by(&mut self, steps: f32) {
        let (least, most, step) = size::ZOOM;
        self.zoom = (((self.zoom + steps * step) / step).round() * step).clamp(least, most);
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ThemeChoice {
    #[default]
    System,
    Dark,
    Light,
}

impl ThemeChoice {
    pub fn next(self) -> ThemeChoice {
        match self {
            ThemeChoice::System => ThemeChoice::Light,
            ThemeChoice::Light => ThemeChoice::Dark,
            ThemeChoice::Dark => ThemeChoice::System,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            ThemeChoice::System => "System",
            ThemeChoice::Dark => "Dark",
            ThemeChoice::Light => "Light",
        }
    }
}
