//! What the viewer chooses and no kernel needs to know: time, selection, theme. Never part of a lesson's result.

use bevy::ecs::resource::Resource;
use serde::{Deserialize, Serialize};

use crate::view_model::neighbours::Measure;
use crate::view_model::path::By;
use crate::view_model::provenance::Entry;
use crate::view_model::search::Search;
use crate::view_model::walk::Step;

use super::theme::{motion, size};

/// Shared by the panels and the stage.
#[derive(Resource, Clone, Debug, PartialEq)]
pub struct ViewState {
    /// How far the walk through attention is: a whole number at each step, the last step's is contextual.
    walk: f32,
    glide: Option<Glide>,
    /// The selected token, a position in the sentence: the query whose row is lit.
    pub query: Option<usize>,
    /// The head that the walk is through, counted over all blocks.
    pub head: usize,
    /// The key of the worked product; none: the one that weighs most.
    pub key: Option<usize>,
    /// Of the sentence beside it, a position: with the query, the pair that is compared.
    pub second: Option<usize>,
    /// What the arrows of a move stand for.
    pub by: By,
    /// How nearness is measured.
    pub measure: Measure,
    /// The numbers that were asked where they come from, each from within the one before; the last is shown.
    asked: Vec<Entry>,
    /// What the pointer is over, in this frame and in the one before: panels and stage show each other's.
    pointed: Option<Pointed>,
    pointed_before: Option<Pointed>,
    /// Rings where the points were before the lesson was trained again.
    pub old_ghosts: bool,
    /// Words that a stage cell lights; empty: all.
    pub lit: Vec<String>,
    /// The stage cell that was shown last.
    pub shown_cell: Option<String>,
    pub theme: ThemeChoice,
    /// Multiplies every size on the screen.
    pub zoom: f32,
    /// Jump instead of gliding.
    pub reduced_motion: bool,
    pub key_sheet: bool,
    /// Asks the stage's camera to go home.
    pub home_requested: bool,
    /// What is looked for on the stage, and which of the points that were found was looked at last.
    pub search: Search,
    pub looked_at: Option<usize>,
    /// Nothing else is shown than what is found or, without a search, than the sentence and what is near its query.
    pub isolated: bool,
    /// Asks the field of the search for the keyboard.
    pub search_requested: bool,
    /// The stage alone, as a figure: no slider, no reminder.
    pub figure: bool,
    /// A figure without its caption.
    pub bare: bool,
    /// What a figure stands on, instead of the stage's own colour.
    pub matte: Option<egui::Color32>,
}

/// Something that a panel and the stage both show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pointed {
    /// Of the vocabulary.
    Word(String),
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

#[derive(Clone, Copy, Debug, PartialEq)]
struct Glide {
    from: f32,
    to: f32,
    elapsed: f32,
    /// The points alone are moved, not the walk.
    is_of_time: bool,
}

/// The last step of the walk, and the place on it where the points begin to move.
pub const LAST: f32 = (Step::ALL.len() - 1) as f32;
const BEFORE_MOVE: f32 = LAST - 1.0;

impl Default for ViewState {
    fn default() -> Self {
        ViewState {
            walk: 0.0,
            glide: None,
            query: None,
            head: 0,
            key: None,
            second: None,
            by: By::default(),
            measure: Measure::default(),
            asked: Vec::new(),
            pointed: None,
            pointed_before: None,
            old_ghosts: true,
            lit: Vec::new(),
            shown_cell: None,
            theme: ThemeChoice::default(),
            zoom: 1.0,
            reduced_motion: false,
            key_sheet: false,
            home_requested: false,
            search: Search::default(),
            looked_at: None,
            isolated: false,
            search_requested: false,
            figure: false,
            bare: false,
            matte: None,
        }
    }
}

impl ViewState {
    pub fn themed(theme: ThemeChoice) -> ViewState {
        ViewState { theme, ..ViewState::default() }
    }

    pub fn zoomed(self, zoom: f32) -> ViewState {
        ViewState { zoom, ..self }
    }

    /// As it begins with another lesson: the look stays.
    pub fn for_another_lesson(&self) -> ViewState {
        let ViewState { theme, zoom, reduced_motion, .. } = *self;
        ViewState { theme, zoom, reduced_motion, ..ViewState::default() }
    }

    /// The same as a figure, at rest.
    pub fn as_figure(&self, theme: ThemeChoice, zoom: f32) -> ViewState {
        ViewState {
            glide: None,
            pointed: None,
            pointed_before: None,
            theme,
            zoom,
            reduced_motion: true,
            key_sheet: false,
            home_requested: false,
            search_requested: false,
            figure: true,
            ..self.clone()
        }
    }

    /// Asks a number where it comes from.
    pub fn ask(&mut self, entry: Entry) {
        self.asked = vec![entry];
    }

    /// Asks one of the numbers that the last one comes from.
    pub fn ask_further(&mut self, entry: Entry) {
        self.asked.push(entry);
    }

    /// Back to the number that was asked before.
    pub fn ask_back(&mut self) {
        self.asked.pop();
    }

    pub fn ask_no_more(&mut self) {
        self.asked.clear();
    }

    /// The number that shows where it comes from.
    pub fn asked(&self) -> Option<Entry> {
        self.asked.last().copied()
    }

    /// How many were asked one from within another.
    pub fn asked_depth(&self) -> usize {
        self.asked.len()
    }

    /// The pointer is over this; what shows it too lights it in the next frame.
    pub fn point_at(&mut self, pointed: Pointed) {
        self.pointed = Some(pointed);
    }

    pub fn is_pointed(&self, what: &Pointed) -> bool {
        self.pointed_before.as_ref() == Some(what)
    }

    /// The word that was pointed at in the frame before.
    pub fn pointed_word(&self) -> Option<&str> {
        match &self.pointed_before {
            Some(Pointed::Word(word)) => Some(word),
            _ => None,
        }
    }

    /// Back to all points, and to no word in particular: first the search and what it hides, then the query.
    pub fn clear(&mut self) {
        if self.is_narrowed() {
            (self.search.text, self.looked_at, self.isolated) = (String::new(), None, false);
        } else {
            (self.query, self.key) = (None, None);
        }
    }

    /// Something is looked for, or hidden.
    pub fn is_narrowed(&self) -> bool {
        !self.search.text.is_empty() || self.isolated
    }

    /// A new frame begins. True if something else is pointed at than in the last one.
    pub fn look_again(&mut self) -> bool {
        let is_other = self.pointed != self.pointed_before;
        self.pointed_before = self.pointed.take();
        is_other
    }

    /// Where the points are, from 0, static, to 1, contextual: they move in the last step of the walk.
    pub fn time(&self) -> f32 {
        (self.walk - BEFORE_MOVE).clamp(0.0, 1.0)
    }

    /// How far the walk is, from 0 to [`LAST`].
    pub fn walk(&self) -> f32 {
        self.walk
    }

    /// The step that the walk is at, or on its way to.
    pub fn step(&self) -> Step {
        let goal = self.glide.map_or(self.walk, |glide| glide.to);
        Step::ALL[(goal.ceil() as usize).min(Step::ALL.len() - 1)]
    }

    /// Moves the points to `time`, in a short glide unless motion is reduced; the steps between are left out.
    pub fn glide_to(&mut self, time: f32) {
        if self.time() == time && !self.is_gliding() {
            self.set_time(time);
            return;
        }
        self.walk = self.walk.max(BEFORE_MOVE);
        self.walk_to(BEFORE_MOVE + time.clamp(0.0, 1.0));
        if let Some(glide) = &mut self.glide {
            glide.is_of_time = true;
        } else {
            self.set_time(time);
        }
    }

    /// The walk is between static and contextual, where it is somebody's.
    pub fn is_walking(&self) -> bool {
        let is_of_time = self.glide.is_some_and(|glide| glide.is_of_time);
        !is_of_time && self.walk > 0.0 && self.walk <= BEFORE_MOVE
    }

    /// One step on, or back, in a short glide: before the last step nothing moves but what is shown of it.
    pub fn step_by(&mut self, steps: isize) {
        let goal = self.step().index().saturating_add_signed(steps).min(Step::ALL.len() - 1);
        self.walk_to(goal as f32);
    }

    /// To a place on the walk, in a short glide unless motion is reduced.
    pub fn walk_to(&mut self, to: f32) {
        let to = to.clamp(0.0, LAST);
        if self.reduced_motion {
            self.set_walk(to);
        } else if self.walk != to {
            self.glide = Some(Glide { from: self.walk, to, elapsed: 0.0, is_of_time: false });
        }
    }

    /// At static the walk is at its beginning.
    pub fn set_time(&mut self, time: f32) {
        let time = time.clamp(0.0, 1.0);
        self.set_walk(if time == 0.0 { 0.0 } else { BEFORE_MOVE + time });
    }

    pub fn set_walk(&mut self, walk: f32) {
        self.glide = None;
        self.walk = walk.clamp(0.0, LAST);
    }

    pub fn is_gliding(&self) -> bool {
        self.glide.is_some()
    }

    /// Lets `seconds` of a glide pass.
    pub fn advance(&mut self, seconds: f32) {
        let Some(mut glide) = self.glide else { return };
        glide.elapsed += seconds;
        self.glide = Some(glide);
        let share = (glide.elapsed / motion::GLIDE).min(1.0);
        self.walk = glide.from + (glide.to - glide.from) * ease(share);
        if share >= 1.0 {
            // Back at the static place, the walk is at its beginning.
            let is_home = glide.from > glide.to && glide.to == BEFORE_MOVE && glide.is_of_time;
            self.set_walk(if is_home { 0.0 } else { glide.to });
        }
    }

    pub fn zoom_by(&mut self, steps: f32) {
        let (least, most, step) = size::ZOOM;
        self.zoom = ((self.zoom + steps * step) / step).round().mul_add(step, 0.0).clamp(least, most);
    }

    /// Nor can a head that the model does not have.
    pub fn keep_head_below(&mut self, heads: usize) {
        if self.head >= heads {
            (self.head, self.key) = (0, None);
        }
    }

    /// A token that the sentence no longer has cannot stay selected, nor can its key.
    pub fn keep_query_below(&mut self, tokens: usize) {
        self.query = self.query.filter(|query| *query < tokens);
        self.key = self.key.filter(|key| *key < tokens);
    }
}

/// Slow at both ends: `3x² − 2x³`.
pub fn ease(x: f32) -> f32 {
    const SMOOTHSTEP: (f32, f32) = (3.0, 2.0);
    x * x * (SMOOTHSTEP.0 - SMOOTHSTEP.1 * x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glide_ends_exactly_at_its_goal() {
        let mut view = ViewState::default();
        view.glide_to(1.0);
        view.advance(motion::GLIDE / 2.0);
        assert!((view.time() - 0.5).abs() < 1e-6 && view.is_gliding());
        view.advance(motion::GLIDE);
        assert_eq!((view.time(), view.is_gliding()), (1.0, false));
    }

    #[test]
    fn a_walk_stops_at_each_step_and_the_points_move_in_the_last() {
        let mut view = ViewState::default();
        for (index, step) in Step::ALL.into_iter().enumerate().skip(1) {
            view.step_by(1);
            assert_eq!(view.step(), step);
            view.advance(motion::GLIDE);
            assert_eq!((view.walk(), view.is_gliding()), (index as f32, false));
            assert_eq!(view.time(), if step == Step::Contextual { 1.0 } else { 0.0 });
        }
        view.step_by(1);
        assert_eq!(view.step(), Step::Contextual);
        view.step_by(-1);
        view.advance(motion::GLIDE);
        assert_eq!((view.step(), view.time()), (Step::Output, 0.0));
        view.set_time(1.0);
        view.glide_to(0.0);
        view.advance(motion::GLIDE);
        assert_eq!((view.step(), view.time()), (Step::Embed, 0.0));
    }

    #[test]
    fn reduced_motion_jumps() {
        let mut view = ViewState { reduced_motion: true, ..ViewState::default() };
        view.glide_to(1.0);
        assert_eq!((view.time(), view.is_gliding()), (1.0, false));
    }
}
