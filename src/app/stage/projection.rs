//! The scene as the camera shows it at one moment, and the point under the pointer.

use std::sync::Arc;

use attune_core::kernel::snapshot::sentence::START;
use attune_ui::theme::Palette;
use attune_ui::ui_state::search::{Emphasis, Hit, Visibility};
use attune_ui::widgets::glow::Glow;
use attune_view::explain::path::PathModel;
use attune_view::explain::walk::{Step, WalkModel};
use attune_view::view_model::grid::{PatchPicture, PatchPlaces};
use attune_view::view_model::labels::Side;
use attune_view::view_model::stage::{StageEnd, StageModel, TokenPoint};
use bevy::math::{Vec2, Vec3};
use egui::{Color32, Pos2, Rect};

use super::geometry::{
    LARGEST_WORD_RADIUS, LEAST_RADIUS, RoleArrow, TOKEN_RADIUS, arrival, axis_end, roles, scaled, shade, token_radius,
    word_color, word_radius,
};
use super::labels::Priority;
use super::pick::{self, Candidate, PointIndex};
use super::view::View;

/// The contents of the scene.
#[derive(Clone, Copy)]
pub struct SceneRef<'a> {
    pub model: &'a Arc<StageModel>,
    pub emphasis: &'a Arc<Emphasis>,
    pub path: Option<&'a PathModel>,
    /// The walk through these tokens, and its current step.
    pub walk: Option<(&'a WalkModel, Step)>,
    /// The places of the tokens in a picture whose patches they are, and the picture, if it is known.
    pub patches: Option<(&'a PatchPlaces, Option<&'a PatchPicture>)>,
}

/// The scene projected into a rectangle of the screen.
#[derive(Clone, Copy)]
pub struct ProjectedScene<'a> {
    pub scene: SceneRef<'a>,
    /// The prepared points of the scene's model and emphasis.
    pub point_index: &'a PointIndex,
    pub projection: View,
    pub rect: Rect,
    /// The part of the rectangle that no bar covers, in which text about the scene is written.
    pub free: Rect,
    /// Time from 0, static, to 1, contextual.
    pub time: f32,
    pub palette: &'a Palette,
}

/// A point that is visible, with its disc on the screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeenPoint {
    pub hit: Hit,
    pub at: Pos2,
    pub radius: f32,
    pub depth: f32,
    /// Depth for the point's fog, which in 2D is the same for all points.
    pub divisor: f32,
    pub priority: Priority,
}

impl SeenPoint {
    /// Returns the square inside the disc.
    pub fn disc(&self) -> Rect {
        Rect::from_center_size(self.at, egui::Vec2::splat(self.radius * std::f32::consts::SQRT_2))
    }
}

/// Returns the place of a point in the scene at a time from 0, static, to 1, contextual; `None` if there is no such
/// point.
pub fn place(model: &StageModel, hit: Hit, time: f32) -> Option<Vec3> {
    let at = match hit {
        Hit::Word(index) => model.words.get(index)?.at,
        Hit::Token(position) => model.tokens.get(position)?.at(time),
    };
    Some(Vec3::from(scaled(model, at)))
}

impl<'a> ProjectedScene<'a> {
    /// Returns the current place of a point in the scene; `None` if there is no such point.
    pub fn place(&self, hit: Hit) -> Option<Vec3> {
        place(self.scene.model, hit, self.time)
    }

    /// Returns the place on the screen of a place in the model; `None` if it is behind the camera.
    pub fn at(&self, at: [f32; 3]) -> Option<Pos2> {
        let seen = self.projection.project(Vec3::from(scaled(self.scene.model, at)))?;
        Some(self.rect.min + egui::vec2(seen.at.x, seen.at.y))
    }

    pub fn word(&self, hit: Hit) -> &'a str {
        let model = self.scene.model;
        match hit {
            Hit::Word(index) => model.words.get(index).map_or("", |word| &word.text),
            Hit::Token(position) => model.tokens.get(position).map_or("", |token| &token.text),
        }
    }

    /// Returns the label of a point. A word that the sentence has more than once is numbered.
    pub fn label(&self, hit: Hit) -> String {
        match hit {
            Hit::Token(position) => self.scene.model.tokens.get(position).map_or_else(String::new, TokenPoint::label),
            Hit::Word(_) => self.word(hit).to_owned(),
        }
    }

    /// Returns the number that the walk's step gives a token, if it is one of the largest. The sentence over the
    /// picture has all numbers.
    pub fn step_note(&self, hit: Hit) -> Option<String> {
        let (Hit::Token(key), (walk, step)) = (hit, self.scene.walk?) else { return None };
        walk.beside(step, key).filter(|_| walk.key_side == Side::Sentence && walk.is_large(step, key))
    }

    pub fn color(&self, hit: Hit) -> Color32 {
        let SceneRef { model, emphasis, .. } = self.scene;
        let (color, shown) = match hit {
            Hit::Word(index) => (word_color(model, emphasis, index, self.palette), emphasis.word(index)),
            Hit::Token(position) => {
                let token = model.tokens.get(position);
                let color = token.map(|token| self.token_color(token)).unwrap_or_default();
                (color, emphasis.token(position))
            }
        };
        shade(self.palette, color, shown, emphasis)
    }

    /// Returns the colour of a token, which takes the hue of the group that it reaches on its arrival, as the shader
    /// does.
    fn token_color(&self, token: &TokenPoint) -> Color32 {
        let own = self.palette.token(token.group);
        token.goal().map_or(own, |goal| own.lerp_to_gamma(self.palette.group(goal), arrival(self.time)))
    }

    /// Returns the point on the screen, or `None` if it is hidden or behind the camera.
    pub fn see(&self, hit: Hit) -> Option<SeenPoint> {
        let SceneRef { model, emphasis, .. } = self.scene;
        let (shown, size, priority) = match hit {
            Hit::Word(index) => {
                let is_grouped = model.words.get(index)?.group.is_some();
                let shown = emphasis.word(index);
                let is_chosen = emphasis.is_chosen(shown);
                let size = word_radius(model, emphasis, index, is_chosen);
                let priority = match (is_chosen, is_grouped) {
                    (true, _) => Priority::Lit,
                    (false, true) => Priority::GroupWord,
                    (false, false) => Priority::Word,
                };
                (shown, size, priority)
            }
            Hit::Token(position) => {
                let shown = emphasis.token(position);
                // Words of the sentence that are not chosen have a lower priority than those that are.
                let priority = if shown == Visibility::Faded { Priority::QuietToken } else { Priority::Token };
                (shown, token_radius(shown), priority)
            }
        };
        if shown == Visibility::Hidden {
            return None;
        }
        self.project(hit, self.place(hit)?, size, priority)
    }

    /// Returns a disc of `size` around a place in the scene, or `None` if the place is behind the camera.
    fn project(&self, hit: Hit, place: Vec3, size: f32, priority: Priority) -> Option<SeenPoint> {
        let seen = self.projection.project(place)?;
        let radius = self.projection.radius_at(size, seen.divisor).max(LEAST_RADIUS);
        let at = self.rect.min + egui::vec2(seen.at.x, seen.at.y);
        Some(SeenPoint { hit, at, radius, depth: seen.depth, divisor: seen.divisor, priority })
    }

    fn tokens(&self) -> impl Iterator<Item = Hit> {
        (0..self.scene.model.tokens.len()).map(Hit::Token)
    }

    /// Returns the nearest point within reach of the pointer.
    pub fn pick(&self, pointer: Pos2) -> Option<Hit> {
        /// Allowance for rounding.
        const SLACK: f32 = 1.0;
        let reach = pick::REACH + View::largest_radius(LARGEST_WORD_RADIUS) + SLACK;
        let at = pointer - self.rect.min;
        let words = self.point_index.near(&self.projection, Vec2::new(at.x, at.y), reach);
        let candidates = words.into_iter().chain(self.tokens()).filter_map(|hit| {
            let SeenPoint { at, radius, depth, .. } = self.see(hit)?;
            Some(Candidate { what: hit, at: Vec2::new(at.x, at.y), radius, depth })
        });
        pick::nearest(Vec2::new(pointer.x, pointer.y), candidates)
    }

    /// Returns the visible points within a closed line on the screen, the points of the sentence first.
    pub fn within(&self, line: &[Pos2]) -> Vec<Hit> {
        let bounds = Rect::from_points(line);
        let is_within =
            |hit: &Hit| self.see(*hit).is_some_and(|point| bounds.contains(point.at) && encloses(line, point.at));
        let words = self.point_index.words.iter().map(|word| Hit::Word(*word));
        self.tokens().chain(words).filter(is_within).collect()
    }

    /// Returns the crowds that are compact in this view, each with its group; a group that is spread over the picture
    /// is no crowd. There are none during a search, while points are hidden, and while a feature sets the colours.
    pub fn crowds(&self) -> Vec<(usize, Glow)> {
        /// The largest spread of a crowd, as a share of the shorter side of the free part of the picture.
        const WIDE: f32 = 0.14;
        /// Least radius of a glow's rim, in points.
        const LEAST: f32 = 34.0;
        let emphasis = self.scene.emphasis;
        if emphasis.is_searched() || emphasis.is_isolated() || emphasis.by_feature.colors.is_some() {
            return Vec::new();
        }
        let of = |(group, words): &(usize, Vec<Hit>)| {
            let seen: Option<Vec<Pos2>> = words.iter().map(|hit| Some(self.see(*hit)?.at)).collect();
            let glow = Glow::of(seen?, LEAST)?;
            let is_one = glow.spread() <= WIDE * self.free.size().min_elem();
            (is_one && self.rect.contains(glow.middle())).then_some((*group, glow))
        };
        let of_end = |(group, end): (usize, &StageEnd)| {
            let seen: Option<Vec<Pos2>> = end.points.iter().map(|at| self.at(*at)).collect();
            let (seen, wide) = (seen?, WIDE * self.free.size().min_elem());
            let own = Glow::of(vec![*seen.first()?], LEAST);
            // Words that are near in the true space may be far away in this view; the word at the end is then alone.
            let glow = Glow::of(seen, LEAST).filter(|glow| glow.spread() <= wide).or(own)?;
            self.rect.contains(glow.middle()).then_some((group, glow))
        };
        let ends = &self.scene.model.ends;
        match ends.is_empty() {
            true => self.point_index.crowds.iter().filter_map(of).collect(),
            false => ends.iter().enumerate().filter_map(of_end).collect(),
        }
    }

    /// Returns the rings at the static places that words have left, each with its word.
    pub fn left_places(&self) -> Vec<(SeenPoint, &'a str)> {
        /// Distance, in points, up to which the label of a word also names its ring.
        const NEAR: f32 = 40.0;
        let SceneRef { model, emphasis, .. } = self.scene;
        let is_quiet = |shown| matches!(shown, Visibility::Hidden | Visibility::Faded);
        let of_word = |token: &'a TokenPoint| model.tokens.iter().filter(move |other| other.text == token.text);
        let is_near = |other: &TokenPoint, ring: Pos2| {
            self.see(Hit::Token(other.position)).is_some_and(|now| now.at.distance(ring) < NEAR)
        };
        let left = model.tokens.iter().filter_map(|token| {
            let is_first = of_word(token).next().is_some_and(|first| first.position == token.position);
            if !is_first || token.text == START || is_quiet(emphasis.token(token.position)) {
                return None;
            }
            let ring = Vec3::from(scaled(model, self.ring(token)?));
            let ring = self.project(Hit::Token(token.position), ring, TOKEN_RADIUS, Priority::GroupWord)?;
            let is_left = self.rect.contains(ring.at) && !of_word(token).any(|other| is_near(other, ring.at));
            is_left.then_some((ring, token.text.as_str()))
        });
        left.collect()
    }

    /// Returns the place of the ring at a token's static place, or `None` if no ring is drawn.
    fn ring(&self, token: &TokenPoint) -> Option<[f32; 3]> {
        let SceneRef { model, emphasis, .. } = self.scene;
        if token.pieces > 1 {
            return Some(token.static_at);
        }
        let word = token.word.filter(|word| emphasis.word(*word) != Visibility::Hidden)?;
        model.words.get(word).filter(|_| model.is_in_sentence(word)).map(|word| word.at)
    }

    /// Returns squares along the lines that names avoid: the chosen axes; the arrows of the walk, its lines to the
    /// keys, and its query, key and value, or else the moves of the lit words; and the arrows of the goals. `walked` is
    /// the place of the walk.
    pub fn lines(&self, walked: f32) -> Vec<Rect> {
        const SIDE: f32 = 5.0;
        const APART: f32 = 8.0;
        const MOST: usize = 120;
        let squares = self.segments(walked).into_iter().filter_map(|[from, to]| {
            let (from, to) = (self.at(from)?, self.at(to)?);
            let count = ((from.distance(to) / APART) as usize).min(MOST);
            let square = move |i: usize| {
                Rect::from_center_size(from.lerp(to, i as f32 / count.max(1) as f32), egui::Vec2::splat(SIDE))
            };
            Some((1..=count).map(square))
        });
        squares.flatten().collect()
    }

    /// Returns the ends of the lines that names avoid.
    fn segments(&self, walked: f32) -> Vec<[[f32; 3]; 2]> {
        let SceneRef { model, emphasis, path, walk, .. } = self.scene;
        let mut lines: Vec<[[f32; 3]; 2]> = Vec::new();
        let path = path.filter(|_| Step::Output.share(walked) > 0.0 && (walk.is_some() || model.is_of_words));
        match path {
            Some(path) => lines.extend(path.arrows.iter().map(|arrow| [arrow.from, arrow.to])),
            None => {
                let lit = model.tokens.iter().filter(|token| emphasis.token(token.position) == Visibility::Lit);
                lines.extend(lit.map(|token| [token.start, token.at(self.time)]));
            }
        }
        if let Some((walk, step)) = walk.filter(|_| Step::Score.share(walked) > 0.0) {
            let place = |side: Side, index: usize| match side {
                Side::Sentence => model.tokens.get(index).map(|token| token.start),
                Side::Source => walk.source.get(index).map(|word| word.from),
            };
            let keys = (0..walk.keys.len()).filter(|key| walk.takes_part(step, *key));
            lines.extend(
                keys.filter_map(|key| Some([place(walk.key_side, key)?, place(walk.query_side, walk.focus.query)?])),
            );
        }
        if let Some((walk, _)) = walk {
            let of_role = |arrow: RoleArrow| [[0.0; 3], arrow.end];
            lines.extend(roles(model, walk, walked).into_iter().map(of_role));
        }
        let goals = emphasis.goals.iter().filter(|_| self.time > 0.0);
        lines.extend(goals.filter_map(|goal| Some([model.tokens.get(goal.token)?.end, goal.to])));
        let chosen = model.axes.iter().enumerate().filter(|(_, axis)| axis.ends.is_some());
        lines.extend(chosen.map(|(axis, _)| {
            let end = axis_end(axis).map(|x| x * model.radius);
            [end.map(|x| -x), end]
        }));
        lines
    }

    /// Returns the camera's nearness relative to home, where it is about 1.
    pub fn nearness(&self) -> f32 {
        /// Distance of home, in extents of the scene.
        const HOME: f32 = 2.2;
        HOME * self.projection.extent / self.projection.distance.max(f32::MIN_POSITIVE)
    }

    /// Returns the points that have names, and, if they are few, the points without names that names avoid. Close to
    /// the camera, words without a group have names too.
    pub fn labelled(&self) -> (Vec<SeenPoint>, Vec<SeenPoint>) {
        /// Nearness above which words without a group have names.
        const NEAR: f32 = 1.7;
        /// Maximum number of labels.
        const MOST: usize = 120;
        let emphasis = self.scene.emphasis;
        let is_raised = emphasis.is_searched() || emphasis.is_isolated();
        let in_sight = |hit| self.see(hit).filter(|point| self.rect.contains(point.at));
        let raise = |point: SeenPoint| SeenPoint {
            priority: if is_raised { Priority::GroupWord } else { point.priority },
            ..point
        };
        let words = self.point_index.named.iter().copied().filter_map(in_sight).map(raise);
        let mut named: Vec<SeenPoint> = words.chain(self.tokens().filter_map(in_sight)).collect();
        let mut apart: Vec<SeenPoint> = self.point_index.apart.iter().copied().filter_map(in_sight).collect();
        if self.nearness() > NEAR && !is_raised {
            let middle = self.rect.size() / 2.0;
            let near = self.point_index.near(&self.projection, Vec2::new(middle.x, middle.y), middle.max_elem());
            let is_plain = |hit: &Hit| matches!(hit, Hit::Word(index) if !self.has_group(*index));
            named.extend(near.into_iter().filter(is_plain).filter_map(in_sight).take(MOST));
            let is_named = |point: &SeenPoint| named.iter().any(|other| other.hit == point.hit);
            apart.retain(|point| !is_named(point));
        }
        (named, apart)
    }

    fn has_group(&self, word: usize) -> bool {
        self.scene.model.words.get(word).is_some_and(|word| word.group.is_some())
    }
}

/// Returns whether a closed line encloses a place: a ray to the right crosses the line an odd number of times.
fn encloses(line: &[Pos2], at: Pos2) -> bool {
    let ends = line.iter().zip(line.iter().cycle().skip(1));
    let crosses =
        |(a, b): &(&Pos2, &Pos2)| (a.y > at.y) != (b.y > at.y) && at.x < a.x + (b.x - a.x) * (at.y - a.y) / (b.y - a.y);
    ends.filter(crosses).count() % 2 == 1
}
