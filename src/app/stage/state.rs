//! State of the stage: its points, the walk of the chosen query, the highlighted points, and the short animation that
//! moves the points to their places in another basis or after a lesson was trained again.
//!
//! All motion is along straight lines. Because an interpolation of two linear maps is linear too, arrows add up during
//! the animation as well.

use std::sync::Arc;

use attune_core::kernel::snapshot::Snapshot;
use attune_core::lesson::Lesson;
use attune_ui::link::LatestModels;
use attune_ui::theme::motion;
use attune_ui::ui_state::search::{ByFeature, Emphasis};
use attune_ui::ui_state::walk::{WalkPlace, ease};
use attune_ui::ui_state::{Highlight, Selection, ViewState, Walk};
use attune_view::explain::path::{ArrowParts, PathArrow, PathModel};
use attune_view::explain::result::{Moment, StageResult};
use attune_view::explain::walk::{Focus, RouteModel, Step, WalkModel, is_silent};
use attune_view::panels::step::shown_score;
use attune_view::view_model::features::Features;
use attune_view::view_model::grid::PatchPicture;
use attune_view::view_model::labels::Side;
use attune_view::view_model::meaning::{NeighboursModel, SensesModel};
use attune_view::view_model::pieces::{WordArcs, Words};
use attune_view::view_model::score::ScoreModel;
use attune_view::view_model::sentence_arcs::SentenceArcs;
use attune_view::view_model::spaces::TwoSpaces;
use attune_view::view_model::stage::{StageModel, TokenPoint, WordPoint};
use attune_view::view_model::word_measures::WordMeasures;
use bevy::prelude::*;

use super::filmstrip::FollowedWord;
use super::gauge::GaugeModel;
use super::geometry::Walked;
use super::timeline::{RECORDED_WAY, WAY};

#[derive(Resource, Default)]
pub struct StageState {
    /// The points. The `Arc` stays the same while the points do, so that they are not uploaded again.
    pub points: Option<Arc<StageModel>>,
    /// The points on their straight way from static to contextual. They differ from `points` only while one of several
    /// layers is shown.
    whole: Option<Arc<StageModel>>,
    /// The words of the sentence, if some of them have several pieces.
    words: Option<Arc<Words>>,
    /// Whether each word is drawn as one point.
    is_of_words: bool,
    /// The word in several sentences, while the stage shows it.
    pub senses: Option<Arc<SensesModel>>,
    /// Another file of vectors, while the stage shows it too.
    pub spaces: Option<Arc<TwoSpaces>>,
    /// The layers of the walk.
    pub route: Option<Arc<RouteModel>>,
    /// The layer whose moves the points show; `None` for the whole way from static to contextual.
    pub shown_layer: Option<usize>,
    /// The words over the picture, with the weights between them.
    pub sentence: Option<Arc<SentenceArcs>>,
    /// The picture whose patches the words are.
    pub picture: Option<Arc<PatchPicture>>,
    /// The places of the sentence's words on the first chosen axis.
    pub gauge: Option<Arc<GaugeModel>>,
    /// The walk of the chosen query.
    pub walk: Option<Arc<WalkModel>>,
    /// The arrows of the query's move.
    pub path: Option<Arc<PathModel>>,
    /// The result in one line, and the place of the walk at which it holds.
    result: Option<(WalkPlace, String)>,
    /// Whether the walk's head is switched off and so adds nothing.
    pub is_silent: bool,
    /// The split of the score in whose step the walk is; `None` in other steps, for a recording, for a head that is
    /// switched off, and if the split takes longer than a frame.
    pub score: Option<Arc<Result<ScoreModel, String>>>,
    /// Arrows of the words in the walk's head alone.
    pub mix: Option<Arc<PathModel>>,
    /// Visibility of each point. The `Arc` stays the same while the visibilities do.
    pub emphasis: Arc<Emphasis>,
    /// The animation to another basis, while it runs.
    pub glide: Option<BasisGlide>,
    /// Whether the sentence is a recorded text.
    is_recorded: bool,
    walked: Option<(u64, Focus, Option<ArrowParts>, bool)>,
    followed: Option<Followed>,
    /// Value of the counter of shown stage cells when the query was last chosen for one.
    shows: usize,
    emphasised: Option<Emphasised>,
    /// The points and the arrows before the current snapshot, from which an animation may start.
    before: (Option<Arc<StageModel>>, Option<Arc<PathModel>>),
}

/// The layer, word and head of the walk, as they were in the last frame.
#[derive(Clone, Copy)]
struct Followed {
    layer: usize,
    /// `None` after the sentence has changed, for whatever word is followed then.
    word: Option<usize>,
    head: usize,
}

/// The inputs of an emphasis.
struct Emphasised {
    points: Option<Arc<StageModel>>,
    lesson: Option<Arc<Lesson>>,
    highlight: Highlight,
    /// The query whose neighbours are shown, and the revision of the snapshot.
    near: Option<(usize, u64)>,
    /// For each token, whether the step of the walk is about it; `None` outside the steps, and for the last step, which
    /// is about all tokens.
    parts: Option<Vec<bool>>,
}

impl StageState {
    /// Replaces the points by those of a new snapshot. Returns the number of tokens.
    pub fn take_points(&mut self, models: &LatestModels) -> usize {
        self.before = (self.points.clone(), self.path.clone());
        self.route = models.get::<RouteModel>();
        let whole = models.get::<StageModel>();
        let count = whole.as_ref().map_or(0, |whole| whole.tokens.len());
        let model = models.snapshot().and_then(|snapshot| snapshot.model.as_ref());
        let senses = model.filter(|model| model.senses.is_on).and_then(|_| models.get::<SensesModel>());
        self.senses = senses.filter(|senses| senses.is_shown());
        self.spaces = models.spaces.clone();
        let lesson = models.snapshot().map(|snapshot| &snapshot.lesson);
        self.is_recorded = lesson.is_some_and(|lesson| lesson.static_embedding.recording().is_some());
        let space = models.snapshot().and_then(|snapshot| snapshot.space.as_deref());
        let spaces = self.spaces.as_ref().zip(space);
        self.whole = match (&self.senses, spaces) {
            (Some(senses), _) => whole.map(|whole| Arc::new(StageModel::clone(&whole).of_senses(senses))),
            (None, Some((spaces, space))) => {
                whole.map(|whole| Arc::new(StageModel::clone(&whole).of_spaces(spaces, space)))
            }
            (None, None) => whole,
        };
        self.gauge = models.get::<GaugeModel>();
        let sentence = model.map(|model| &model.sentence);
        let is_of_sentence = self.is_of_sentence();
        self.words = sentence.filter(|_| is_of_sentence).and_then(|sentence| Words::of(sentence)).map(Arc::new);
        self.is_of_words &= self.words.is_some();
        let points = self.points_of_layer();
        if self.points.as_deref() != points.as_deref() {
            self.points = points;
        }
        count
    }

    /// Returns whether the points are those of the sentence, with or without a second one.
    fn is_of_sentence(&self) -> bool {
        self.senses.is_none() && self.spaces.is_none()
    }

    /// Returns the names of both ends of the points' moves, each with a description.
    pub fn ends(&self) -> [(&str, &str); 2] {
        match self.spaces.as_deref().filter(|_| self.senses.is_none()) {
            Some(TwoSpaces { names: [here, there], .. }) => [("this file", here), ("other file", there)],
            None if self.is_recorded => RECORDED_WAY,
            None => WAY,
        }
    }

    /// Returns whether a word of the sentence has several pieces.
    pub fn has_pieces(&self) -> bool {
        self.words.is_some()
    }

    /// Returns whether there is a walk to show: attention moves a point, the walk has been started all the same, or
    /// there are no points yet.
    pub fn has_walk(&self, walk: &Walk) -> bool {
        walk.is_walking() || self.whole.as_ref().is_none_or(|whole| whole.has_moves())
    }

    /// Returns a sentence about the points if they are not the words of a sentence, or about the pieces of the chosen
    /// word if it is drawn as one point.
    pub fn about_points(&self, selection: &Selection) -> Option<String> {
        if let Some(senses) = &self.senses {
            return Some(senses.about());
        }
        if let Some(spaces) = &self.spaces {
            return Some(spaces.about());
        }
        let points = self.points.as_ref()?;
        let token = points.tokens.get(selection.query?).filter(|token| token.pieces > 1)?;
        let pieces = token.pieces;
        Some(format!(
            "“{}” is shown as one point, the mean of its {pieces} pieces, and its arrows are the means of their \
             arrows.",
            token.text
        ))
    }

    /// Returns the points with their moves through the shown layer, or from static to contextual if no layer is shown.
    fn points_of_layer(&self) -> Option<Arc<StageModel>> {
        let mut points = self.whole.clone()?;
        if let (Some(route), Some(layer)) = (&self.route, self.shown_layer) {
            self.show_layer(Arc::make_mut(&mut points), route, layer);
        }
        match self.words.as_ref().filter(|_| self.is_of_words) {
            Some(words) => Some(Arc::new(Arc::unwrap_or_clone(points).of_words(words))),
            None => Some(points),
        }
    }

    /// Replaces both ends of the points' moves by their places before and after a layer.
    fn show_layer(&self, points: &mut StageModel, route: &RouteModel, layer: usize) {
        points.shares.layer = Some(layer);
        let is_last = layer + 1 == route.layers.len();
        for token in &mut points.tokens {
            let Some((start, end)) = route.way(token.position, layer) else { continue };
            let trained_end = if is_last { token.trained_end } else { end };
            (token.start, token.end, token.trained_end) = (start, end, trained_end);
        }
        for (index, word) in points.source.iter_mut().enumerate() {
            let Some((from, to)) = route.source_way(index, layer) else { continue };
            (word.from, word.to) = (from, to);
        }
        for point in &mut points.second {
            let way = match &self.senses {
                Some(senses) => senses.way(point.position, layer),
                None if self.spaces.is_some() => None,
                None => route.second_way(point.position, layer),
            };
            let Some((start, end)) = way else { continue };
            (point.start, point.end, point.trained_end) = (start, end, end);
        }
    }

    /// Returns the walk with its arrows. A walk from a source exists only while the steps are walked through, because
    /// only then are the source's words on the stage.
    pub fn walked(&self, walk: &Walk) -> Option<Walked<'_>> {
        let (model, path) = (self.walk.as_deref()?, self.path.as_deref()?);
        let is_there = !self.is_silent && (model.source.is_empty() || walk.is_walking());
        is_there.then_some(Walked { walk: model, path, mix: self.mix.as_deref() })
    }

    /// Returns the words whose paths the filmstrip shows: the chosen word, or else the highlighted ones if they are
    /// few, or else the two words at the ends of the axis with a meaning, or else the word that is followed.
    pub fn followed_words(&self, selection: &Selection, highlight: &Highlight) -> Vec<FollowedWord> {
        const FEW: usize = 3;
        let Some(whole) = self.whole.as_ref().filter(|_| self.is_of_sentence()) else { return Vec::new() };
        let words_that = |is_shown: &dyn Fn(&TokenPoint) -> bool| -> Vec<usize> {
            let shown: Vec<usize> =
                whole.tokens.iter().filter(|token| is_shown(token)).map(|token| token.position).collect();
            if shown.len() <= FEW { shown } else { Vec::new() }
        };
        // The name of an end begins with the label of its word: `bank₁ · river`.
        let is_at_end = |token: &TokenPoint| {
            let label = token.label();
            whole.ends.iter().any(|end| end.name.split(" · ").next() == Some(label.as_str()))
        };
        let mut words = match selection.chosen_query() {
            Some(query) => vec![query],
            None => words_that(&|token| highlight.lit.contains(&token.text)),
        };
        if words.is_empty() {
            words = words_that(&is_at_end);
        }
        if words.is_empty() {
            words.extend(self.route.as_ref().and_then(|route| route.word(&highlight.lit)));
        }
        let of = |word: usize| whole.tokens.get(word).map(|token| (word, token.group.or(token.reaches)));
        words.into_iter().filter_map(of).collect()
    }

    /// Returns the points that the camera must fit. Points in motion count at their destination.
    pub fn points_of_camera(&self) -> Option<&Arc<StageModel>> {
        self.glide.as_ref().map_or(self.points.as_ref(), |glide| Some(glide.goal()))
    }

    /// Chooses the walk's word and head by default if the learner chose none, and moves the walk to the layer of a
    /// chosen head.
    fn follow_route(&mut self, view: &mut ViewState) {
        let Some(route) = self.route.clone() else { return };
        let ViewState { walk, selection, highlight, asked, .. } = view;
        walk.set_layers(route.layers.len());
        walk.begin_at(route.first_layer(selection.is_head_chosen.then_some(selection.head)));
        if let Some(link) = asked.step.take() {
            let head = link.head.and_then(|head| head.checked_sub(1)).filter(|head| route.layer_of(*head).is_some());
            let layer = head.and_then(|head| route.layer_of(head)).unwrap_or(0);
            walk.show_step(layer, Step::ALL[(link.step - 1).min(Step::ALL.len() - 1)]);
            if let Some(head) = head {
                selection.choose_head(head);
            }
        }
        if std::mem::replace(&mut self.shows, highlight.shows) != highlight.shows {
            let tokens = self.whole.as_ref().map_or(&[][..], |whole| &whole.tokens);
            let is_lit = |query: usize| {
                highlight.lit.is_empty() || tokens.get(query).is_some_and(|token| highlight.lit.contains(&token.text))
            };
            if !selection.chosen_query().is_some_and(is_lit) {
                selection.choose_query(None);
            }
        }
        // Outside the steps, which are between pieces, the first piece represents its word.
        if let (Some(words), Some(query)) = (self.words.as_ref().filter(|_| self.is_of_words), selection.query)
            && words.first(query) != query
        {
            selection.choose_query(Some(words.first(query)));
        }
        let default = route.word(&highlight.lit);
        if selection.query.is_none() && walk.is_walking() {
            selection.follow_by_default(default);
        }
        let Some(word) = selection.query.or(default) else { return };
        let of_head = route.layer_of(selection.head).unwrap_or(0);
        let is_of_word = |before: &Followed| before.word.is_none_or(|before| before == word);
        let before = self.followed.filter(|before| is_of_word(before) && before.layer == walk.layer());
        let is_in_layer = walk.is_walking() || walk.shown_layer().is_some();
        let is_elsewhere = is_in_layer && of_head != walk.layer();
        // Layers that the walk only passes through do not change the chosen head.
        let is_on_its_way = selection.is_head_chosen && walk.is_gliding();
        if selection.is_head_chosen && is_elsewhere && before.is_some_and(|before| before.head != selection.head) {
            // A chosen head of another layer moves the walk to that layer.
            walk.walk_to_layer(of_head);
        } else if (is_elsewhere && !is_on_its_way) || (!selection.is_head_chosen && before.is_none()) {
            selection.follow_head(route.head(walk.layer(), word).unwrap_or(0));
        }
        self.followed = Some(Followed { layer: walk.layer(), word: Some(word), head: selection.head });
    }

    /// Adapts to another sentence. The default head is measured again, unless it is kept: the sentence of a real model
    /// is changed to see what the same head does there.
    pub fn take_sentence(&mut self, keeps_head: bool) {
        self.followed = self.followed.filter(|_| keeps_head).map(|before| Followed { word: None, ..before });
    }

    /// Updates the models of the stage from the snapshot and the viewer's choices.
    pub fn follow(&mut self, models: &LatestModels, view: &ViewState) {
        if self.spaces.as_ref().map(Arc::as_ptr) != models.spaces.as_ref().map(Arc::as_ptr) {
            self.take_points(models);
        }
        let is_of_words = self.words.is_some() && !view.highlight.pieces && !view.walk.is_walking();
        if (self.shown_layer, self.is_of_words) != (view.walk.shown_layer(), is_of_words) {
            (self.shown_layer, self.is_of_words) = (view.walk.shown_layer(), is_of_words);
            self.glide = None;
            self.points = self.points_of_layer();
        }
        // Steps are between pieces, so the sentence shows pieces during a walk, as the picture does.
        let is_of_pieces = view.highlight.pieces || view.walk.is_walking();
        let words = if is_of_pieces { None } else { models.get::<WordArcs>() };
        self.sentence = words.map(|words| words.0.clone()).or_else(|| models.get::<SentenceArcs>());
        self.picture = models.get::<PatchPicture>();
        self.show_measure(models, view);
        self.follow_walk(models, view);
        self.score = self.score_of(models, view);
        self.follow_emphasis(models, view);
    }

    /// Shows a measure of how much each word mattered, instead of the weights, if a measure is chosen and computed.
    fn show_measure(&mut self, models: &LatestModels, view: &ViewState) {
        let Some(measure) = view.selection.measure.filter(|_| !view.walk.is_walking()) else { return };
        let measured = models.get::<WordMeasures>().and_then(|measures| measures.arcs(measure));
        if let (Some(measured), Some(sentence)) = (measured, &mut self.sentence) {
            Arc::make_mut(sentence).measured = Some(measured);
        }
    }

    /// Returns whether the points are those of a sentence for which the model has a result.
    pub fn has_results(&self) -> bool {
        self.is_of_sentence() && self.route.as_ref().is_some_and(|route| route.has_words())
    }

    /// Returns the result at the place of the walk, or `None` while the points are in motion and if the walk has moved
    /// on meanwhile.
    pub fn result(&self, walk: &Walk) -> Option<&str> {
        let (_, result) = self.result.as_ref().filter(|(place, _)| *place == walk.here())?;
        Some(result)
    }

    fn result_of(&self, models: &LatestModels, view: &ViewState) -> Option<String> {
        let route = self.route.as_ref().filter(|_| self.has_results())?;
        let (walk, selection) = (&view.walk, &view.selection);
        if walk.is_between() || self.glide.is_some() {
            return None;
        }
        if walk.is_walking() {
            return self.walk.as_ref()?.step(walk.step()).result.clone();
        }
        let moment = match (walk.time(), walk.passed_layers()) {
            (0.0, _) => Moment::Static,
            (1.0, _) => Moment::Contextual,
            (_, Some(passed)) => Moment::Passed((passed as usize).checked_sub(1)?),
            _ => return None,
        };
        let word = selection.query.or_else(|| route.word(&view.highlight.lit))?;
        let word = if let Moment::Passed(layer) = moment { route.query(layer, word) } else { word };
        let result = models.of_choice::<StageResult>(&(moment, word, selection.chosen_query().is_some()))?;
        Some(result.0.clone())
    }

    fn follow_walk(&mut self, models: &LatestModels, view: &ViewState) {
        let Some(snapshot) = models.snapshot() else { return };
        let Some(query) = view.selection.query.filter(|_| self.is_of_sentence()) else {
            (self.walk, self.path, self.mix, self.walked) = (None, None, None, None);
            self.glide_to_path();
            return;
        };
        let (head, by, key) = (view.selection.head, view.selection.by, view.selection.key);
        let plain = Focus { query, head, key };
        let focus = self.route.as_ref().map_or(plain, |route| route.focus(query, head, key));
        let wanted = Some((snapshot.revision, focus, by, self.is_of_words));
        if self.walked != wanted {
            self.walked = wanted;
            self.is_silent = is_silent(snapshot, focus.head);
            self.walk = models.of_choice::<WalkModel>(&focus);
            self.path = match self.words.as_ref().filter(|_| self.is_of_words) {
                Some(words) => PathModel::of_word(snapshot, words, focus.query, head, by).map(Arc::new),
                None => models.of_choice::<PathModel>(&(focus.query, head, by)),
            };
            self.mix = PathModel::of_mix(snapshot, focus.query, head).map(Arc::new);
            self.glide_to_path();
        }
    }

    /// Returns the split of the score in whose step the walk is; `None` in other steps, for a recording, for a head
    /// that is switched off, and if the split takes longer than a frame.
    fn score_of(&self, models: &LatestModels, view: &ViewState) -> Option<Arc<Result<ScoreModel, String>>> {
        let is_in_step = view.walk.is_walking() && view.walk.step() == Step::Score;
        let walk = self.walk.as_ref().filter(|_| is_in_step && !self.is_silent)?;
        let snapshot = models.snapshot().filter(|snapshot| ScoreModel::is_quick(snapshot, walk.focus.head))?;
        snapshot.model.as_ref().filter(|model| model.recorded.is_none())?;
        models.of_choice(&shown_score(walk))
    }

    /// Returns for each token whether the step of the walk is about it: the chosen word and its partners. Returns
    /// `None` outside the steps, and for the last step, which is about all tokens.
    fn parts(&self, view: &ViewState) -> Option<Vec<bool>> {
        let (step, walk) = (view.walk.step(), self.walk.as_ref()?);
        if !view.walk.is_walking() || step == Step::Contextual {
            return None;
        }
        let tokens = self.points.as_ref().map_or(0, |points| points.tokens.len());
        let is_query = |token: usize| walk.query_side == Side::Sentence && walk.focus.query == token;
        let partners = walk.partners(step);
        let is_key = |token: usize| walk.key_side == Side::Sentence && partners.contains(&token);
        Some((0..tokens).map(|token| is_query(token) || is_key(token)).collect())
    }

    fn follow_emphasis(&mut self, models: &LatestModels, view: &ViewState) {
        let highlight = &view.highlight;
        let revision = models.snapshot().map_or(0, |snapshot| snapshot.revision);
        let near = view.selection.query.filter(|_| highlight.isolated).map(|query| (query, revision));
        let parts = self.parts(view);
        let lesson = models.snapshot().map(|snapshot| &snapshot.lesson);
        let is_same = self.emphasised.as_ref().is_some_and(|before| {
            before.points.as_ref().map(Arc::as_ptr) == self.points.as_ref().map(Arc::as_ptr)
                && before.lesson.as_ref().map(Arc::as_ptr) == lesson.map(Arc::as_ptr)
                && before.highlight == *highlight
                && (before.near, &before.parts) == (near, &parts)
        });
        if is_same {
            return;
        }
        let neighbours = near.and_then(|(query, _)| Some((query, models.get::<NeighboursModel>()?)));
        let near_words = neighbours.as_ref().and_then(|(query, all)| Some(all.tokens.get(*query)?.words()));
        let near_words = near_words.unwrap_or_default();
        let of_points = |points: &Arc<StageModel>| {
            let emphasis = Emphasis::of(points, highlight, &near_words);
            let emphasis = match &parts {
                Some(parts) => emphasis.of_step(points, |token| parts[token]),
                None => emphasis,
            };
            let shown = lesson.zip(highlight.shown_cell.as_ref());
            let cell = shown.and_then(|(lesson, id)| lesson.cells.iter().find(|cell| cell.id == *id));
            let lines = cell.map_or_else(Vec::new, |cell| points.lines_of(&cell.kind));
            let goals = cell.zip(models.snapshot()).map(|(cell, snapshot)| points.goals_of(&cell.kind, snapshot));
            let mut emphasis = emphasis.without_parts(points).with_lines(lines);
            emphasis.goals = goals.unwrap_or_default();
            emphasis.by_feature = ByFeature::of(models.get::<Features>(), highlight);
            emphasis
        };
        let emphasis = self.points.as_ref().map(of_points).unwrap_or_default();
        if *self.emphasis != emphasis {
            self.emphasis = Arc::new(emphasis);
        }
        let (points, lesson, highlight) = (self.points.clone(), lesson.cloned(), highlight.clone());
        self.emphasised = Some(Emphasised { points, lesson, highlight, near, parts });
    }

    /// Starts the animation from the points of the snapshot before to those of `now`, if [`BasisGlide::after`] returns
    /// one.
    pub fn begin_glide(&mut self, before: Option<&Snapshot>, now: &Snapshot) {
        let under_way = self.glide.take();
        let Some(points) = &self.points else { return };
        let from = std::mem::take(&mut self.before);
        self.glide = BasisGlide::after((before, from.0, from.1), now, (points, &self.path), under_way);
        // In the first frame of the animation, all points are still at their old places.
        self.glide_on(0.0);
    }

    /// Replaces the arrows at the end of the animation by those of another walk, to which nothing is interpolated.
    fn glide_to_path(&mut self) {
        if let Some(glide) = &mut self.glide {
            glide.go_to_path(&self.path);
        }
    }

    /// Advances the animation and takes its points and arrows.
    fn glide_on(&mut self, seconds: f32) {
        let Some(glide) = &mut self.glide else { return };
        let (points, path) = glide.advance(seconds);
        (self.points, self.path) = (Some(points), path);
        if glide.has_arrived() {
            self.glide = None;
        }
    }
}

/// Returns the seconds that pass for animations. With reduced motion, every animation ends at once.
pub fn seconds_of_motion(time: &Time, view: &ViewState) -> f32 {
    if view.preferences.reduced_motion { f32::INFINITY } else { time.delta_secs() }
}

/// Advances the walk, and updates the stage for the chosen query, or else for the word that the lesson is about.
pub fn follow(time: Res<Time>, models: Res<LatestModels>, mut view: ResMut<ViewState>, mut stage: ResMut<StageState>) {
    if view.walk.is_gliding() {
        let seconds = seconds_of_motion(&time, &view);
        view.walk.advance(seconds);
    }
    stage.follow_route(&mut view);
    stage.follow(&models, &view);
}

/// Advances the points' animation, and then updates the result in words.
pub fn glide(time: Res<Time>, models: Res<LatestModels>, view: Res<ViewState>, mut stage: ResMut<StageState>) {
    if stage.glide.is_some() {
        stage.glide_on(seconds_of_motion(&time, &view));
    }
    let result = stage.result_of(&models, &view).map(|result| (view.walk.here(), result));
    if stage.result != result {
        stage.result = result;
    }
}

/// Number of words above which points jump to the new basis, because each frame of an animation would compute all of
/// them again.
const WORDS_MAX: usize = 20_000;

/// The animation of the points from one basis to another.
pub struct BasisGlide {
    from: (Arc<StageModel>, Option<Arc<PathModel>>),
    to: (Arc<StageModel>, Option<Arc<PathModel>>),
    /// The points that both ends have, if the end has more: new points appear once these have arrived.
    staying: Option<Arc<StageModel>>,
    elapsed: f32,
    seconds: f32,
}

impl BasisGlide {
    /// Returns the animation from the earlier points to the current ones, if the axes differ or the model was trained
    /// again. The words must be the same, or the earlier ones the first of the current ones, and at most `WORDS_MAX`.
    /// An animation that is running continues to the current points.
    pub fn after(
        before: (Option<&Snapshot>, Option<Arc<StageModel>>, Option<Arc<PathModel>>),
        now: &Snapshot,
        to: (&Arc<StageModel>, &Option<Arc<PathModel>>),
        under_way: Option<Self>,
    ) -> Option<Self> {
        let to = (to.0.clone(), to.1.clone());
        let (old, new) = (before.0?.space.as_ref()?, now.space.as_ref()?);
        let is_same_lesson = before.0?.lesson.id == now.lesson.id;
        let made_of = |snapshot: &Snapshot| Some(Arc::as_ptr(&snapshot.model.as_ref()?.made_of));
        let is_retrained = made_of(before.0?).zip(made_of(now)).is_some_and(|(before, now)| before != now);
        if !is_same_lesson || (old.projection == new.projection && !is_retrained) {
            // The words of the file's first part belong to the previous points, so their animation ends here.
            return under_way.filter(|glide| glide.staying.is_none()).map(|glide| Self { to, ..glide });
        }
        // The words of a file's first part are also the first words of the whole file.
        let is_read_on = before.0?.lesson.static_embedding.is_in_part();
        let stays = if is_read_on { new.vocabulary.get(..old.vocabulary.len())? } else { &new.vocabulary[..] };
        let is_small = stays.len() <= WORDS_MAX && *old.vocabulary == *stays;
        let staying = (stays.len() < new.vocabulary.len()).then(|| Arc::new(first_words(&to.0, stays.len())));
        let seconds = if is_retrained && !is_read_on { motion::RETRAINED } else { motion::GLIDE };
        is_small.then_some(Self { from: (before.1?, before.2), to, staying, elapsed: 0.0, seconds })
    }

    /// Advances the animation, and returns the points and arrows to show.
    pub fn advance(&mut self, seconds: f32) -> (Arc<StageModel>, Option<Arc<PathModel>>) {
        self.elapsed += seconds;
        let share = ease((self.elapsed / self.seconds).clamp(0.0, 1.0));
        if share >= 1.0 {
            return self.to.clone();
        }
        let path = match (&self.from.1, &self.to.1) {
            (Some(from), Some(to)) => Some(Arc::new(mix_path(from, to, share))),
            (_, to) => to.clone(),
        };
        let to = self.staying.as_ref().unwrap_or(&self.to.0);
        (Arc::new(mix_stage(&self.from.0, to, share)), path)
    }

    /// Returns the points at the end of the animation.
    pub fn goal(&self) -> &Arc<StageModel> {
        &self.to.0
    }

    /// Replaces the arrows at the end, without interpolation.
    pub fn go_to_path(&mut self, path: &Option<Arc<PathModel>>) {
        self.to.1.clone_from(path);
    }

    pub fn has_arrived(&self) -> bool {
        self.elapsed >= self.seconds
    }
}

/// Returns the stage with only the first `count` words of the vocabulary.
fn first_words(stage: &StageModel, count: usize) -> StageModel {
    let mut first = stage.clone();
    first.words = stage.words[..count].to_vec().into();
    first.in_sentence.retain(|word| *word < count);
    first
}

type Point = [f32; 3];

fn mix(from: Point, to: Point, share: f32) -> Point {
    std::array::from_fn(|axis| (1.0 - share) * from[axis] + share * to[axis])
}

/// Interpolates between two stages. Points that only `to` has stay where they are; points that only `from` has are left
/// out.
fn mix_stage(from: &StageModel, to: &StageModel, share: f32) -> StageModel {
    let word = |(index, word): (usize, &WordPoint)| match from.words.get(index) {
        Some(before) => WordPoint { at: mix(before.at, word.at, share), ..word.clone() },
        None => word.clone(),
    };
    StageModel {
        words: to.words.iter().enumerate().map(word).collect::<Vec<_>>().into(),
        in_sentence: to.in_sentence.clone(),
        tokens: tokens(&from.tokens, &to.tokens, share),
        source: to.source.clone(),
        second: tokens(&from.second, &to.second, share),
        second_kind: to.second_kind.clone(),
        radius: (1.0 - share) * from.radius + share * to.radius,
        groups: to.groups.clone(),
        ends: to.ends.clone(),
        axes: to.axes.clone(),
        shared: to.shared.clone(),
        ghosts: to.ghosts.clone(),
        note: to.note.clone(),
        shares: to.shares.clone(),
        about: to.about.clone(),
        ..*to
    }
}

fn tokens(from: &[TokenPoint], to: &[TokenPoint], share: f32) -> Vec<TokenPoint> {
    let token = |(index, token): (usize, &TokenPoint)| match from.get(index) {
        Some(before) if before.text == token.text => TokenPoint {
            static_at: mix(before.static_at, token.static_at, share),
            start: mix(before.start, token.start, share),
            end: mix(before.end, token.end, share),
            trained_end: mix(before.trained_end, token.trained_end, share),
            ..token.clone()
        },
        _ => token.clone(),
    };
    to.iter().enumerate().map(token).collect()
}

/// Interpolates between the arrows of two moves, if both are moves of the same query.
fn mix_path(from: &PathModel, to: &PathModel, share: f32) -> PathModel {
    let is_same = from.query == to.query && from.arrows.len() == to.arrows.len();
    if !is_same {
        return to.clone();
    }
    let arrow = |(before, arrow): (&PathArrow, &PathArrow)| PathArrow {
        from: mix(before.from, arrow.from, share),
        to: mix(before.to, arrow.to, share),
        ..arrow.clone()
    };
    PathModel {
        arrows: from.arrows.iter().zip(&to.arrows).map(arrow).collect(),
        from: mix(from.from, to.from, share),
        to: mix(from.to, to.to, share),
        ..to.clone()
    }
}
