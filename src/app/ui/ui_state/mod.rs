//! The viewer's choices that do not concern the kernel: what is selected, walked through, highlighted, hovered and
//! preferred. They never change a lesson's results.
//!
//! [`ViewState`] has a part for each purpose; a panel gets a [`PanelView`], which has the parts that it may change.

pub mod search;
pub mod walk;

use attune_core::lesson::links::StepLink;
use attune_engine::numerics::evidence::words::WordMeasure;
use attune_engine::numerics::params::TensorId;
use attune_engine::quantity::Entry;
use attune_view::explain::path::ArrowParts;
use attune_view::view_model::attention::Reading;
use attune_view::view_model::saved_view::{MeaningView, SavedView};
use attune_view::view_model::sentence_arcs::{Pair, WordAt};
use bevy::ecs::resource::Resource;
use egui::{Align, Response};
use serde::{Deserialize, Serialize};

pub use self::search::Highlight;
pub use self::walk::Walk;
use crate::actions::WindowAction;
use crate::theme::size;

/// The state that the panels and the stage share.
#[derive(Resource, Clone, Debug, Default, PartialEq)]
pub struct ViewState {
    pub selection: Selection,
    pub walk: Walk,
    pub highlight: Highlight,
    pub trail: Trail,
    pub hover: Hover,
    pub asked: FocusRequest,
    pub preferences: Preferences,
    pub figure: FigureOptions,
}

/// Options for drawing the stage as a figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FigureOptions {
    /// Whether the stage is drawn alone as a figure, without a slider or hints.
    pub is_on: bool,
    /// Whether the caption is left out.
    pub bare: bool,
    /// Whether the caption states the training step instead of the time of the points.
    pub of_training: bool,
    /// The background of the figure, if not the stage's own colour.
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

    /// Returns the state for another lesson, which keeps only the preferences.
    pub fn for_another_lesson(&self) -> ViewState {
        ViewState { preferences: self.preferences, ..ViewState::default() }
    }

    /// Returns the state for a figure, with all motion finished.
    pub fn as_figure(&self, theme: ThemeChoice, zoom: f32) -> ViewState {
        ViewState {
            walk: self.walk.at_rest(),
            hover: Hover::default(),
            preferences: Preferences { theme, zoom, reduced_motion: true },
            figure: FigureOptions { is_on: true, ..self.figure.clone() },
            ..self.clone()
        }
    }

    /// Returns the parts that a panel may change.
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
    pub asked: &'a mut FocusRequest,
}

impl PanelView<'_> {
    /// Ends the walk: the words move to their contextual points, and a query that the walk chose by itself is dropped.
    /// Returns false if no walk is on.
    pub fn end_walk(&mut self) -> bool {
        let is_on = self.walk.is_walking();
        if is_on {
            self.walk.glide_to(1.0);
            if self.selection.chosen_query().is_none() {
                self.selection.choose_query(None);
            }
        }
        is_on
    }

    /// Clears the chosen word. Returns false if the learner has chosen none.
    pub fn clear_choice(&mut self) -> bool {
        let is_chosen = self.selection.chosen_query().is_some();
        self.selection.choose_query(None);
        is_chosen
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
    /// Notes that the pointer is over this word of the vocabulary.
    pub fn point_at(&mut self, word: &str) {
        self.now.word = Some(word.to_owned());
    }

    /// Notes that the pointer is over this word of the sentence or of its source.
    pub fn point_at_token(&mut self, at: WordAt) {
        self.now.at = Some(at);
    }

    /// Notes that the pointer is over the weight of this pair.
    pub fn point_at_pair(&mut self, pair: Pair) {
        self.now.pair = Some(pair);
    }

    /// Returns the word that was hovered in the last frame.
    pub fn word(&self) -> Option<&str> {
        self.before.word.as_deref()
    }

    /// Returns the word of the sentence or of its source that was hovered in the last frame.
    pub fn at(&self) -> Option<WordAt> {
        self.before.at
    }

    /// Returns the position in the sentence that was hovered in the last frame.
    pub fn token(&self) -> Option<usize> {
        self.before.at.and_then(WordAt::token)
    }

    /// Returns the pair whose weight was hovered in the last frame.
    pub fn pair(&self) -> Option<Pair> {
        self.before.pair
    }

    /// Begins a frame. Returns true if the hover has changed since the last one.
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

    /// Opens the provenance of an operand of the shown number.
    pub fn follow(&mut self, entry: Entry) {
        self.0.push(entry);
    }

    /// Returns to the previous number.
    pub fn back(&mut self) {
        self.0.pop();
    }

    pub fn close(&mut self) {
        self.0.clear();
    }

    /// Returns the number whose provenance is shown.
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
    /// The factor of every size on the screen.
    pub zoom: f32,
    /// Whether points and camera jump instead of gliding.
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

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// The selected query, a position in the sentence, whose row of weights is highlighted.
    pub query: Option<usize>,
    /// The query that the walk chose by itself: the word that the lesson is about, or the one that moves most.
    pub by_default: Option<usize>,
    /// The head of the walk, counted over all blocks.
    pub head: usize,
    /// Whether the learner chose the head; otherwise it is the one that moves the query most.
    pub is_head_chosen: bool,
    /// Whether the map and the sentence show this head alone; `None` to decide by the number of heads, as in
    /// [`Self::set_heads`].
    pub is_head_alone: Option<bool>,
    /// Whether the model has too many heads to tell all of them apart at once.
    has_many_heads: bool,
    /// The key whose product with the query is worked out; `None` for the key with the largest weight.
    pub key: Option<usize>,
    /// A position in the second sentence, which is compared with the query.
    pub second: Option<usize>,
    /// The index of the clicked point among a word's occurrences in several sentences.
    pub sense: Option<usize>,
    /// The parts that the arrows of a move stand for, if the learner chose them.
    pub by: Option<ArrowParts>,
    /// The way in which attention is read, in every map and in the sentence.
    pub reading: Reading,
    /// The measure of how much each word mattered, which the arcs of the sentence show instead of weights.
    pub measure: Option<WordMeasure>,
    /// The chosen word and the number of its occurrence, while the sentence lacks it.
    missed: Option<(String, usize)>,
}

impl Selection {
    /// Makes another word the query. The key is reset to the one with the largest weight.
    pub fn choose_query(&mut self, query: Option<usize>) {
        (self.query, self.key) = (query, None);
        (self.by_default, self.missed) = (None, None);
    }

    /// Selects a query that the learner did not choose.
    pub fn follow_by_default(&mut self, query: Option<usize>) {
        (self.query, self.key, self.by_default) = (query, None, query);
    }

    /// Returns the query that the learner chose; `None` if there is none, or the walk chose it by itself.
    pub fn chosen_query(&self) -> Option<usize> {
        self.query.filter(|query| self.by_default != Some(*query))
    }

    /// Makes another head the head of the walk. The key is reset to the one with the largest weight.
    pub fn choose_head(&mut self, head: usize) {
        (self.head, self.key, self.is_head_chosen) = (head, None, true);
    }

    /// Selects a head that the learner did not choose.
    pub fn follow_head(&mut self, head: usize) {
        (self.head, self.key, self.is_head_chosen) = (head, None, false);
    }

    /// Returns the only head that the map and the sentence show; `None` for all heads.
    pub fn shown_head(&self) -> Option<usize> {
        self.is_head_alone.unwrap_or(self.has_many_heads).then_some(self.head)
    }

    /// Shows one head alone, which becomes the head of the walk, or all heads.
    pub fn show_head(&mut self, head: Option<usize>) {
        self.is_head_alone = Some(head.is_some());
        match head {
            Some(head) if head != self.head => self.choose_head(head),
            Some(_) => self.is_head_chosen = true,
            None => {}
        }
    }

    /// Adapts the selection to another sentence: the same occurrence of the chosen word stays chosen. If it is missing
    /// for a while, for example during typing, it is chosen again when it returns.
    pub fn follow(&mut self, before: &[&str], now: &[&str]) {
        if before == now {
            return;
        }
        let chosen = self.chosen_query().and_then(|query| nth(before, query));
        let is_of = |missed: &(String, usize)| chosen.as_ref().is_none_or(|(word, _)| *word == missed.0);
        let wanted = self.missed.take().filter(is_of).or(chosen);
        let found = wanted.as_ref().and_then(|(word, occurrence)| place(now, word, *occurrence));
        self.choose_query(found);
        self.missed = wanted.filter(|wanted| found.and_then(|found| nth(now, found)).as_ref() != Some(wanted));
    }

    /// Restores a saved word and head if the sentence and the model have them. A word that was chosen meanwhile stays.
    pub fn restore(&mut self, saved: &SavedView, tokens: usize, heads: usize) {
        if self.chosen_query().is_none() && saved.query.is_some() {
            self.choose_query(saved.query);
        }
        self.keep_query_below(tokens);
        if let Some(head) = saved.head.filter(|head| *head < heads) {
            self.choose_head(head);
            self.is_head_alone = Some(saved.is_head_alone);
        }
    }

    /// Adapts the selection to a model with this number of heads, and drops a head that it lacks. Of more than a few
    /// heads, only one is shown until the learner asks for all.
    pub fn set_heads(&mut self, heads: usize) {
        const FEW: usize = 8;
        self.has_many_heads = heads > FEW;
        if self.head >= heads {
            self.follow_head(0);
        }
    }

    /// Drops a query that is past the end of the sentence.
    pub fn keep_query_below(&mut self, tokens: usize) {
        self.query = self.query.filter(|query| *query < tokens);
    }
}

/// Returns the word at a position, and the number of earlier occurrences.
fn nth(words: &[&str], position: usize) -> Option<(String, usize)> {
    let word = words.get(position)?;
    Some(((*word).to_owned(), words[..position].iter().filter(|other| *other == word).count()))
}

/// Returns the position of a word's occurrence, or of its last one if there are fewer; `None` if the word is missing.
fn place(words: &[&str], word: &str, occurrence: usize) -> Option<usize> {
    words
        .iter()
        .enumerate()
        .filter(|(_, other)| **other == word)
        .map(|(position, _)| position)
        .take(occurrence + 1)
        .last()
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct FocusRequest {
    /// An entry of a learned tensor, with its row and column, which the weights panel shows.
    pub weight: Option<(TensorId, usize, usize)>,
    /// The id of a cell that the notebook selects and scrolls to.
    pub cell: Option<String>,
    /// The id of a cell whose sentence the stage shows, once there is a model.
    pub sentence_of: Option<String>,
    /// A step of the walk, which the stage shows once there is a model.
    pub step: Option<StepLink>,
    /// A comparison, which the meaning panel shows even if it began earlier or is still loading.
    pub meaning: Option<MeaningView>,
    /// A button whose key was pressed, which its panel presses in the next frame.
    pub button: Option<WindowAction>,
}

impl FocusRequest {
    /// Returns whether the key of this button was pressed, and forgets the key. The button is then brought into sight.
    pub fn presses(&mut self, action: WindowAction, button: &Response) -> bool {
        let is_asked = self.button == Some(action);
        if is_asked {
            self.button = None;
            button.scroll_to_me(Some(Align::TOP));
        }
        is_asked
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(sentence: &str) -> Vec<&str> {
        sentence.split(' ').collect()
    }

    #[test]
    fn the_chosen_word_stays_chosen_in_another_sentence() {
        let first = split("apple launched a phone while i ate an apple");
        let mut selection = Selection { query: Some(8), ..Selection::default() };
        let mut shows = |sentences: &[&str]| {
            let mut before = first.clone();
            for sentence in sentences {
                let now = split(sentence);
                selection.follow(&before, &now);
                before = now;
            }
            selection.follow(&before, &first);
            selection.query
        };
        assert_eq!(shows(&["the apple fell and google launched an apple"]), Some(8));
        // During typing, the word is missing for a while.
        assert_eq!(shows(&["i", "i ate", "i ate an apple", "i ate an apple and a pear"]), Some(8));
        assert_eq!(shows(&["google fell"]), Some(8));
    }

    #[test]
    fn an_occurrence_is_followed_by_its_number_or_else_the_last_there_is() {
        let (before, now) = (split("the cat saw the dog"), split("a dog and the cat and the cat"));
        let followed = |query| {
            let mut selection = Selection { query: Some(query), ..Selection::default() };
            selection.follow(&before, &now);
            selection.query
        };
        assert_eq!([0, 1, 2, 3, 4, 5].map(followed), [Some(3), Some(4), None, Some(6), Some(1), None]);
    }

    #[test]
    fn a_word_that_nobody_chose_is_not_chosen_by_another_sentence() {
        let mut selection = Selection::default();
        selection.follow(&["a", "b"], &["b", "a"]);
        assert_eq!(selection.query, None);
        selection.query = Some(0);
        selection.follow(&["a", "b"], &["b"]);
        assert_eq!(selection.query, None);
        selection.choose_query(None);
        selection.follow(&["b"], &["a"]);
        assert_eq!(selection.query, None, "it was let go meanwhile");
    }
}
