//! The walk through attention: the layer and step that are shown, and the points' positions between static and
//! contextual.
//!
//! The walk's state is one number, from which the points, the knob of the time line, the step and its texts are
//! derived. While the number moves, its goal changes nothing that is shown; only the next step and the saved walk start
//! from the goal.

use std::f32::consts::FRAC_PI_2;

use attune_view::explain::walk::Step;
use attune_view::view_model::saved_view::SavedWalk;

use crate::theme::motion;

/// The state of the moving points, and the step that is shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Walk {
    way: WalkMode,
    /// The state as one number. Its meaning depends on `way`: the time of the points from 0 to 1, the number of layers
    /// passed, or the place among the steps of all layers.
    now: f32,
    glide: Option<Glide<f32>>,
    play: Option<PlayState>,
    /// The number of layers after the first.
    later_layers: usize,
    /// The layer in which the walk by steps begins.
    first_layer: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum WalkMode {
    /// The direct movement from static to contextual.
    #[default]
    Straight,
    /// The walk through the steps of each layer.
    Stepped,
    /// The movement from layer to layer, without the steps.
    ByLayer,
}

/// A slow movement of the points from static to contextual, made `times` times and followed by a glide to `rest`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct PlayState {
    times: usize,
    /// The time of the points at the end.
    rest: f32,
    elapsed: f32,
}

/// A place on the walk, and the mode in which it was reached. Everything that the stage says depends on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WalkPlace {
    way: WalkMode,
    now: f32,
    later_layers: usize,
}

/// The length of one repetition, in seconds: pause, way there, pause, way back.
const ROUND: f32 = motion::PLAY_PAUSE + motion::PLAY + motion::PLAY_PAUSE + motion::GLIDE;

impl PlayState {
    /// Returns the length of the movement in seconds, without the last pause and the last way back.
    fn seconds(self) -> f32 {
        ROUND * self.times as f32 - motion::PLAY_PAUSE - motion::GLIDE
    }

    /// Returns the time of the points, from 0 to 1.
    fn time(self) -> f32 {
        let within = self.elapsed % ROUND;
        let share = |from: f32, seconds: f32| ease(((within - from) / seconds).clamp(0.0, 1.0));
        share(motion::PLAY_PAUSE, motion::PLAY) - share(ROUND - motion::GLIDE, motion::GLIDE)
    }
}

/// The number of steps in a layer.
pub const STEPS: usize = Step::ALL.len();
/// The index of a layer's last step.
pub const LAST: f32 = (STEPS - 1) as f32;
/// The index of a layer's second-last step, from which the points begin to move.
const BEFORE_MOVE: f32 = LAST - 1.0;

impl Walk {
    /// Returns the time of the points, from 0 (static) to 1 (contextual). They move in the last step of each layer.
    pub fn time(&self) -> f32 {
        if self.is_in_layers() { self.passed() / self.layers() as f32 } else { self.now }
    }

    /// Returns how many layers the points have passed, with a fraction between two layers. `None` if they move
    /// directly.
    pub fn passed_layers(&self) -> Option<f32> {
        self.is_in_layers().then(|| self.passed())
    }

    fn passed(&self) -> f32 {
        self.layer() as f32 + self.layer_time()
    }

    fn is_in_layers(&self) -> bool {
        self.way != WalkMode::Straight
    }

    /// Returns the time of the points within the layer of [`Walk::shown_layer`], or within the whole way.
    pub fn layer_time(&self) -> f32 {
        if self.is_in_layers() { (self.at() - BEFORE_MOVE).clamp(0.0, 1.0) } else { self.now }
    }

    /// Returns the layer whose movement the points show; `None` if they move directly from static to contextual.
    pub fn shown_layer(&self) -> Option<usize> {
        (self.is_in_layers() && self.later_layers > 0).then(|| self.layer())
    }

    /// Returns the place within the layer, from 0 to [`LAST`].
    pub fn at(&self) -> f32 {
        (self.place() - (self.layer() * STEPS) as f32).min(LAST)
    }

    /// Returns the current layer, counted from 0.
    pub fn layer(&self) -> usize {
        self.layer_of(self.place())
    }

    fn layer_of(&self, place: f32) -> usize {
        (place as usize / STEPS).min(self.later_layers)
    }

    pub fn layers(&self) -> usize {
        self.later_layers + 1
    }

    /// Returns the place on the walk through all layers, from 0 to [`Walk::end`]. It is a whole number at each step.
    pub fn place(&self) -> f32 {
        self.place_of(self.now)
    }

    /// Returns the place of the last step of the last layer.
    pub fn end(&self) -> f32 {
        (self.later_layers * STEPS) as f32 + LAST
    }

    fn place_of(&self, now: f32) -> f32 {
        match self.way {
            WalkMode::Stepped => now,
            _ if now == 0.0 => 0.0,
            WalkMode::ByLayer => {
                let layer = now.ceil() - 1.0;
                layer * STEPS as f32 + BEFORE_MOVE + (now - layer)
            }
            WalkMode::Straight => self.end() - 1.0 + now,
        }
    }

    /// Returns the place that the walk is at or moving to.
    fn goal(&self) -> f32 {
        self.place_of(self.rest())
    }

    /// Returns the value of `now` at which the current motion ends.
    fn rest(&self) -> f32 {
        let of_play = self.play.map(|play| play.rest);
        self.glide.map(|glide| glide.to).or(of_play).unwrap_or(self.now)
    }

    /// Returns the step that is shown. Between two steps it is the later one, shown in part as [`Walk::step_share`]
    /// says.
    pub fn step(&self) -> Step {
        match self.way {
            WalkMode::Stepped => Step::ALL[self.at().ceil() as usize],
            WalkMode::Straight | WalkMode::ByLayer if self.now == 0.0 => Step::Embed,
            WalkMode::Straight | WalkMode::ByLayer => Step::Contextual,
        }
    }

    /// Returns the share of the step that is shown: 1 at the step itself, and less on the way to it.
    pub fn step_share(&self) -> f32 {
        let come = if self.way == WalkMode::Stepped { self.at() } else { self.now };
        if come.fract() == 0.0 { 1.0 } else { come.fract() }
    }

    /// Returns whether the walk is between two steps, in motion or not.
    pub fn is_between(&self) -> bool {
        self.step_share() < 1.0
    }

    /// Returns the current place, on which the stage's texts depend.
    pub fn here(&self) -> WalkPlace {
        let Self { way, now, later_layers, .. } = *self;
        WalkPlace { way, now, later_layers }
    }

    /// Returns whether the walk is at its start or moving there, so that there is no step back.
    pub fn is_at_start(&self) -> bool {
        self.goal() == 0.0
    }

    /// Returns whether the walk is at its end, where the next step begins it again.
    pub fn is_at_end(&self) -> bool {
        self.goal() == self.end()
    }

    /// Returns whether the walk goes by steps and has left the first one.
    pub fn is_walking(&self) -> bool {
        self.way == WalkMode::Stepped && self.now > 0.0
    }

    /// Adapts the walk to a model with this number of layers. A walk by steps that is at its end stays at the end; any
    /// other place is limited to the layers that there are.
    pub fn set_layers(&mut self, layers: usize) {
        let is_at_end = self.way == WalkMode::Stepped && self.place() == self.end();
        let later_layers = layers.max(1) - 1;
        if later_layers != self.later_layers {
            self.later_layers = later_layers;
            match self.way {
                WalkMode::Straight => {}
                WalkMode::Stepped if is_at_end => self.set(self.end()),
                WalkMode::Stepped => self.keep_within(self.end()),
                WalkMode::ByLayer => self.keep_within(self.layers() as f32),
            }
        }
    }

    /// Sets the layer in which the walk by steps begins.
    pub fn begin_at(&mut self, layer: usize) {
        self.first_layer = layer.min(self.later_layers);
    }

    /// Limits the place and the ends of a glide, which continues.
    fn keep_within(&mut self, most: f32) {
        self.now = self.now.min(most);
        if let Some(glide) = &mut self.glide {
            (glide.from, glide.to) = (glide.from.min(most), glide.to.min(most));
        }
    }

    /// Moves the points directly to `time` in a short glide, without intermediate steps. With reduced motion they jump.
    pub fn glide_to(&mut self, time: f32) {
        let (from, to) = (self.time(), time.clamp(0.0, 1.0));
        self.set_time(from);
        self.begin(to, motion::GLIDE);
    }

    /// Moves the points slowly from static to contextual, the given number of times, and then to `rest`.
    pub fn play(&mut self, times: usize, rest: f32) {
        if times == 0 {
            self.glide_to(rest);
            return;
        }
        self.set_time(0.0);
        self.play = Some(PlayState { times, rest, elapsed: 0.0 });
    }

    pub fn is_playing(&self) -> bool {
        self.play.is_some()
    }

    /// Ends a play: the points move to their final time.
    pub fn stop(&mut self) {
        if let Some(PlayState { rest, .. }) = self.play {
            self.glide_to(rest);
        }
    }

    /// Takes one step forward in a short glide. No point moves before a layer's last step. At the end, the walk begins
    /// again.
    pub fn step_on(&mut self) {
        if self.goal() == 0.0 && self.first_layer > 0 {
            self.walk_to((self.first_layer * STEPS) as f32);
        } else if self.goal() < self.end() {
            self.walk_to(self.goal().floor() + 1.0);
        } else if self.is_gliding() {
            // A motion in progress must arrive first.
            *self = self.at_rest();
        } else {
            self.glide_to(0.0);
        }
    }

    /// Takes one step back.
    pub fn step_back(&mut self) {
        self.walk_to(self.goal().ceil() - 1.0);
    }

    /// Goes to a place on the walk in a short glide, or at once if it is in another layer. With reduced motion it
    /// jumps.
    pub fn walk_to(&mut self, to: f32) {
        let to = to.clamp(0.0, self.end());
        if self.way == WalkMode::ByLayer {
            self.set(self.goal());
        } else if self.way != WalkMode::Stepped && to == self.end() {
            self.begin(1.0, motion::GLIDE);
            return;
        }
        if self.way != WalkMode::Stepped {
            // There are no steps on the direct way, so the walk continues from the next step.
            self.set(self.goal().ceil());
        }
        if self.layer_of(to) == self.layer() {
            self.begin(to, motion::GLIDE);
        } else {
            // A layer begins where the one before it ends, so nothing moves between them.
            self.set(to);
        }
    }

    /// Moves the points to their positions after the given number of layers, through the layers in between but without
    /// their steps.
    pub fn pass_to(&mut self, layers: usize) {
        /// The largest number of layers that lengthens the glide.
        const LONGEST: f32 = 4.0;
        if self.way != WalkMode::ByLayer {
            let from = self.time() * self.layers() as f32;
            (self.way, self.now) = (WalkMode::ByLayer, from);
        }
        let to = layers.min(self.layers()) as f32;
        self.begin(to, motion::GLIDE * (to - self.now).abs().clamp(1.0, LONGEST));
    }

    /// Moves forward or back by a number of layers. After the last layer it begins again.
    pub fn pass_by(&mut self, layers: isize) {
        let goal = self.goal();
        let layer = self.layer_of(goal);
        let is_past = goal > 0.0 && (goal - (layer * STEPS) as f32) >= LAST;
        let passed = layer + usize::from(is_past);
        let begins_again = passed == self.layers() && layers > 0;
        // Within a layer, a move back leads to that layer's beginning.
        let is_within = !is_past && goal > (layer * STEPS) as f32;
        let back = layers + isize::from(is_within && layers < 0);
        self.pass_to(if begins_again { 0 } else { passed.saturating_add_signed(back) });
    }

    /// Goes to the same step of another layer or, on a walk without steps, to the end of that layer.
    pub fn walk_to_layer(&mut self, layer: usize) {
        let layer = layer.min(self.later_layers);
        if self.way == WalkMode::ByLayer {
            self.pass_to(layer + 1);
        } else if layer != self.layer() {
            let goal = self.goal();
            let step = goal - (self.layer_of(goal) * STEPS) as f32;
            self.set((layer * STEPS) as f32 + step);
        }
    }

    /// Shows a step of a layer at once.
    pub fn show_step(&mut self, layer: usize, step: Step) {
        self.set((layer.min(self.later_layers) * STEPS + step.index()) as f32);
    }

    fn begin(&mut self, to: f32, seconds: f32) {
        self.play = None;
        self.glide = Glide::between(self.now, to, seconds);
    }

    /// Sets the time of the points at once. At time 0 the walk is at its beginning.
    pub fn set_time(&mut self, time: f32) {
        self.way = WalkMode::Straight;
        (self.now, self.glide, self.play) = (time.clamp(0.0, 1.0), None, None);
    }

    /// Sets the place on the walk at once. Between two layers nothing moves, so the nearer place is taken.
    pub fn set(&mut self, place: f32) {
        let place = place.clamp(0.0, self.end());
        let is_between_layers = place % STEPS as f32 > LAST;
        let place = if is_between_layers { place.round() } else { place };
        self.way = WalkMode::Stepped;
        (self.now, self.glide, self.play) = (place, None, None);
    }

    pub fn is_gliding(&self) -> bool {
        self.glide.is_some() || self.play.is_some()
    }

    /// Advances a glide or a play by `seconds`.
    pub fn advance(&mut self, seconds: f32) {
        if let Some(mut play) = self.play {
            play.elapsed += seconds;
            let beyond = play.elapsed - play.seconds();
            if beyond < 0.0 {
                self.set_time(play.time());
                self.play = Some(play);
                return;
            }
            self.set_time(1.0);
            self.begin(play.rest, motion::GLIDE);
            return self.advance(beyond);
        }
        Glide::advance(&mut self.glide, &mut self.now, seconds, |from, to, share| from + (to - from) * share);
    }

    /// Returns the saved form of a walk by steps or layers; `None` if the points move directly.
    pub fn saved(&self) -> Option<SavedWalk> {
        let Walk { way, now: place, .. } = self.at_rest();
        (way != WalkMode::Straight).then(|| SavedWalk {
            layers: self.layers(),
            place,
            is_by_layer: way == WalkMode::ByLayer,
        })
    }

    /// Restores a saved walk. If the model has another number of layers, [`Walk::set_layers`] adapts the walk later.
    pub fn restore(&mut self, saved: &SavedWalk) {
        /// The largest number of layers that is restored, more than any model has.
        const LAYERS_MAX: usize = 1000;
        let SavedWalk { layers, place, is_by_layer } = *saved;
        if !place.is_finite() {
            return;
        }
        self.later_layers = layers.clamp(1, LAYERS_MAX) - 1;
        self.set(place);
        if is_by_layer {
            (self.way, self.now) = (WalkMode::ByLayer, place.clamp(0.0, self.layers() as f32));
        }
    }

    /// Returns the walk at the end of its motion.
    pub fn at_rest(&self) -> Walk {
        Walk { now: self.rest(), glide: None, play: None, ..self.clone() }
    }
}

/// A gradual change from one value to another, which begins at once and ends slowly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Glide<T> {
    from: T,
    pub to: T,
    seconds: f32,
    elapsed: f32,
}

impl<T: Copy + PartialEq> Glide<T> {
    /// Returns the glide between two values; `None` if they are equal.
    pub fn between(from: T, to: T, seconds: f32) -> Option<Self> {
        (to != from).then_some(Self { from, to, seconds, elapsed: 0.0 })
    }

    /// Advances a value that may be gliding. `mix` interpolates between two values.
    pub fn advance(way: &mut Option<Self>, value: &mut T, seconds: f32, mix: impl FnOnce(T, T, f32) -> T) {
        let Some(glide) = way else { return };
        glide.elapsed += seconds;
        let share = (glide.elapsed / glide.seconds).min(1.0);
        if share < 1.0 {
            *value = mix(glide.from, glide.to, settle(share));
        } else {
            *value = glide.to;
            *way = None;
        }
    }
}

/// Interpolates from 0 to 1, at full speed at first: the first frame after a key shows that something moves.
pub fn settle(x: f32) -> f32 {
    (x * FRAC_PI_2).sin()
}

/// Interpolates from 0 to 1, slowly at both ends: `3x² − 2x³`.
pub fn ease(x: f32) -> f32 {
    const SMOOTHSTEP: (f32, f32) = (3.0, 2.0);
    x * x * (SMOOTHSTEP.0 - SMOOTHSTEP.1 * x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::close::{Tolerance, assert_close};

    /// The least part of the way that looks like a jump if the points pass it within one frame.
    const JUMP: f32 = 0.06;

    #[test]
    fn a_walk_begins_in_its_first_layer() {
        let mut walk = Walk::default();
        walk.set_layers(3);
        walk.begin_at(2);
        walk.step_on();
        assert_eq!((walk.layer(), walk.step()), (2, Step::ALL[0]));
        walk.step_on();
        assert_eq!(walk.goal(), (2 * STEPS + 1) as f32);
        walk.step_back();
        walk.step_back();
        assert_eq!(walk.layer(), 1, "the way back leads through the layers before");
    }

    #[test]
    fn a_glide_ends_exactly_at_its_goal() {
        let mut walk = Walk::default();
        walk.glide_to(1.0);
        walk.advance(motion::GLIDE / 2.0);
        assert_close("half of the time", walk.time(), settle(0.5), Tolerance::SINGLE);
        assert!(walk.is_gliding());
        walk.advance(motion::GLIDE);
        assert_eq!((walk.time(), walk.is_gliding()), (1.0, false));
    }

    #[test]
    fn the_first_frame_of_a_glide_moves_the_points_visibly() {
        /// The length of a frame, in seconds, and the least part of the way that is seen: two pixels of a hundred.
        const FRAME: f32 = 0.008;
        const SEEN: f32 = 0.02;
        let mut walk = Walk::default();
        walk.glide_to(1.0);
        walk.advance(FRAME);
        assert!(walk.time() > SEEN, "{}", walk.time());
    }

    #[test]
    fn a_walk_stops_at_each_step_and_the_points_move_in_the_last() {
        let mut walk = Walk::default();
        for (index, step) in Step::ALL.into_iter().enumerate().skip(1) {
            assert!(!walk.is_at_end());
            walk.step_on();
            walk.advance(motion::GLIDE);
            assert_eq!((walk.step(), walk.at(), walk.is_gliding()), (step, index as f32, false));
            assert_eq!(walk.time(), if step == Step::Contextual { 1.0 } else { 0.0 });
        }
        walk.step_back();
        walk.advance(motion::GLIDE);
        assert_eq!((walk.step(), walk.time()), (Step::Output, 0.0));
        walk.set_time(1.0);
        walk.glide_to(0.0);
        assert_eq!(walk.step(), Step::Contextual, "the points have not left");
        walk.advance(motion::GLIDE);
        assert_eq!((walk.step(), walk.time()), (Step::Embed, 0.0));
    }

    /// Steps on repeatedly, and returns the layer and the step after each time.
    fn walked(walk: &mut Walk, times: usize) -> Vec<(usize, Step)> {
        let step = |_| {
            walk.step_on();
            walk.advance(f32::INFINITY);
            (walk.layer(), walk.step())
        };
        (0..times).map(step).collect()
    }

    #[test]
    fn one_key_walks_through_all_layers_and_begins_again() {
        for layers in 1..4 {
            let mut walk = Walk::default();
            walk.set_layers(layers);
            let all: Vec<_> = (0..layers).flat_map(|layer| Step::ALL.map(|step| (layer, step))).collect();
            assert_eq!(walked(&mut walk, all.len() - 1), all[1..]);
            assert!(walk.is_at_end() && walk.time() == 1.0);
            assert_eq!(walked(&mut walk, all.len() + 1), [&all[..], &all[..1]].concat(), "and once more");
            walk.set_time(1.0);
            assert_eq!(walked(&mut walk, 2), all[..2], "right after it was shown contextual");
        }
    }

    #[test]
    fn one_key_walks_back_through_all_layers() {
        let mut walk = Walk::default();
        walk.set_layers(2);
        walk.set_time(1.0);
        let mut places = Vec::new();
        while walk.place() > 0.0 {
            walk.step_back();
            walk.advance(f32::INFINITY);
            places.push((walk.layer(), walk.step().index(), walk.time()));
        }
        let expected = (0..2).flat_map(|layer| (0..STEPS).map(move |step| (layer, step))).rev().skip(1);
        let time = |(layer, step)| (layer, step, (layer as f32 + f32::from(step == STEPS - 1)) / 2.0);
        assert_eq!(places, expected.map(time).collect::<Vec<_>>());
        walk.step_back();
        assert_eq!(walk.place(), 0.0);
    }

    #[test]
    fn a_key_on_the_way_to_the_end_arrives_and_the_next_one_begins_again() {
        let mut walk = Walk::default();
        walk.set(LAST - 1.0);
        walk.step_on();
        walk.advance(motion::GLIDE / 2.0);
        walk.step_on();
        assert_eq!((walk.time(), walk.is_gliding()), (1.0, false));
        walk.step_on();
        walk.advance(motion::GLIDE / 2.0);
        assert!(walk.is_between());
        walk.step_on();
        walk.advance(motion::GLIDE);
        assert_eq!((walk.step(), walk.time()), (Step::Project, 0.0));
    }

    #[test]
    fn another_model_keeps_the_time() {
        let mut walk = Walk::default();
        for (time, place) in [(0.0, 0.0), (0.5, 2.0 * STEPS as f32 + LAST - 0.5), (1.0, 2.0 * STEPS as f32 + LAST)] {
            walk.set_time(time);
            walk.set_layers(3);
            assert_eq!((walk.time(), walk.place(), walk.shown_layer()), (time, place, None));
            walk.set_layers(1);
        }
        walk.set(LAST);
        walk.set_layers(2);
        assert_eq!(walk.place(), walk.end());
        walk.set(3.0);
        walk.set_layers(1);
        assert_eq!(walk.place(), 3.0);
    }

    #[test]
    fn a_step_from_between_static_and_contextual_goes_to_a_step() {
        for (by, place) in [(1, LAST), (-1, LAST - 1.0)] {
            let mut walk = Walk::default();
            walk.set_time(0.25);
            if by > 0 {
                walk.step_on()
            } else {
                walk.step_back()
            }
            walk.advance(f32::INFINITY);
            assert_eq!(walk.place(), place);
        }
    }

    #[test]
    fn a_step_back_within_the_frame_of_a_step_leaves_the_walk_where_it_is() {
        let mut walk = Walk::default();
        walk.step_on();
        walk.step_back();
        walk.advance(f32::INFINITY);
        assert_eq!((walk.step(), walk.at()), (Step::Embed, 0.0));
    }

    #[test]
    fn a_play_goes_there_as_often_as_it_says_and_rests() {
        let mut walk = Walk::default();
        walk.play(2, 1.0);
        assert_eq!((walk.time(), walk.is_gliding(), walk.is_walking()), (0.0, true, false));
        let (mut seconds, mut arrivals, mut before) = (0.0, 0, 0.0);
        while walk.is_playing() {
            walk.advance(1.0 / 60.0);
            assert!((before - JUMP..before + JUMP).contains(&walk.time()), "it never jumps");
            arrivals += usize::from(before < 1.0 && walk.time() == 1.0);
            before = walk.time();
            seconds += 1.0 / 60.0;
        }
        assert_eq!((arrivals, walk.time(), walk.is_gliding()), (2, 1.0, false));
        assert!((6.0..12.0).contains(&seconds), "about three seconds each, and pauses: {seconds}");
    }

    #[test]
    fn a_play_ends_at_its_rest_where_it_is_stopped_or_motion_is_reduced() {
        for end in [Walk::stop, |walk: &mut Walk| walk.advance(f32::INFINITY)] {
            for rest in [1.0, 0.6, 0.0] {
                let mut walk = Walk::default();
                walk.play(3, rest);
                walk.advance(motion::PLAY_PAUSE + motion::PLAY / 2.0);
                assert!((0.2..0.8).contains(&walk.time()) && walk.at_rest().time() == rest);
                end(&mut walk);
                walk.advance(motion::GLIDE);
                assert_eq!((walk.time(), walk.is_gliding()), (rest, false));
            }
        }
        let mut walk = Walk::default();
        walk.play(1, 1.0);
        walk.step_on();
        assert_eq!((walk.is_gliding(), walk.time()), (false, 1.0), "a step brings it to its end");
    }

    #[test]
    fn a_play_that_rests_on_the_way_goes_there_without_a_jump() {
        let mut walk = Walk::default();
        walk.play(1, 0.25);
        let mut before = 0.0;
        while walk.is_gliding() {
            walk.advance(1.0 / 60.0);
            assert!((before - JUMP..before + JUMP).contains(&walk.time()), "from {before} to {}", walk.time());
            before = walk.time();
        }
        assert_eq!((before, walk.is_between(), walk.step_share()), (0.25, true, 0.25));
    }

    /// A snapshot of a model with another number of layers, or with a chosen head of another layer, can arrive at any
    /// time.
    #[test]
    fn a_motion_ends_at_a_place_with_a_name_whatever_comes_between() {
        let begin: [fn(&mut Walk); 4] =
            [|walk| walk.pass_to(3), |walk| walk.walk_to(12.0), |walk| walk.play(1, 1.0), |walk| walk.glide_to(1.0)];
        let come: [fn(&mut Walk); 4] = [
            |walk| walk.set_layers(2),
            |walk| walk.set_layers(6),
            |walk| walk.walk_to_layer(2),
            |walk| *walk = walk.at_rest(),
        ];
        for (motion, begin) in begin.into_iter().enumerate() {
            for (comes, come) in come.into_iter().enumerate() {
                for tenth in 0..10 {
                    let mut walk = Walk::default();
                    walk.set_layers(3);
                    walk.set(11.0);
                    begin(&mut walk);
                    walk.advance(motion::GLIDE * tenth as f32 / 10.0);
                    come(&mut walk);
                    walk.advance(f32::INFINITY);
                    assert!(!walk.is_between() && !walk.is_gliding(), "{motion} {comes} {tenth}: {walk:?}");
                }
            }
        }
    }

    #[test]
    fn the_step_is_that_of_the_place_and_not_of_the_goal() {
        let mut walk = Walk::default();
        walk.set(2.0);
        walk.walk_to(6.0);
        while walk.is_gliding() {
            walk.advance(1.0 / 60.0);
            assert_eq!(walk.step().index(), walk.at().ceil() as usize);
            assert_eq!(walk.is_between(), walk.at().fract() != 0.0);
        }
        walk.set_layers(2);
        for (place, step) in [(7.4, Step::Contextual), (7.6, Step::Embed)] {
            walk.set(place);
            assert_eq!((walk.step(), walk.is_between()), (step, false), "between two layers nothing moves");
        }
    }

    #[test]
    fn the_points_pass_from_layer_to_layer() {
        let mut walk = Walk::default();
        walk.set_layers(3);
        walk.pass_by(1);
        walk.advance(motion::GLIDE / 2.0);
        assert_eq!((walk.shown_layer(), walk.is_walking()), (Some(0), false));
        let half = settle(0.5);
        assert_close("half of the time", [walk.layer_time(), walk.time()], [half, half / 3.0], Tolerance::SINGLE);
        walk.advance(f32::INFINITY);
        assert_eq!((walk.passed_layers(), walk.step(), walk.place()), (Some(1.0), Step::Contextual, LAST));
        // The points pass every layer in between, one after another.
        walk.pass_to(3);
        let (mut seen, mut before) = (Vec::new(), walk.time());
        while walk.is_gliding() {
            walk.advance(1.0 / 60.0);
            assert!(walk.time() >= before && walk.time() - before < JUMP, "it never jumps");
            before = walk.time();
            seen.extend(walk.shown_layer());
        }
        seen.dedup();
        assert_eq!((seen, walk.time(), walk.is_at_end()), (vec![1, 2], 1.0, true));
        walk.pass_by(1);
        walk.advance(f32::INFINITY);
        assert_eq!((walk.passed_layers(), walk.time()), (Some(0.0), 0.0), "and begins again");
    }

    #[test]
    fn from_behind_a_layer_the_steps_of_the_next_are_walked() {
        let mut walk = Walk::default();
        walk.set_layers(3);
        walk.pass_to(2);
        walk.advance(f32::INFINITY);
        walk.step_on();
        assert_eq!((walk.layer(), walk.step(), walk.is_walking()), (2, Step::Embed, true));
        walk.step_on();
        walk.advance(f32::INFINITY);
        walk.pass_by(-1);
        walk.advance(f32::INFINITY);
        assert_eq!(walk.passed_layers(), Some(2.0), "back to where the layer began");
        walk.pass_by(-1);
        walk.advance(f32::INFINITY);
        assert_eq!(walk.passed_layers(), Some(1.0));
        walk.set_layers(1);
        assert_eq!((walk.passed_layers(), walk.time()), (Some(1.0), 1.0));
    }

    #[test]
    fn a_walk_comes_back_to_where_it_was_whatever_was_kept() {
        let mut walk = Walk::default();
        assert_eq!(walk.saved(), None, "straight from static to contextual");
        walk.set_layers(3);
        walk.set(9.0);
        let mut again = Walk::default();
        again.restore(&walk.saved().expect("a place"));
        assert_eq!((again.place(), again.layer(), again.step()), (9.0, walk.layer(), walk.step()));
        walk.pass_to(2);
        walk.advance(f32::INFINITY);
        again.restore(&walk.saved().expect("a place"));
        assert_eq!((again.passed_layers(), again.saved()), (Some(2.0), walk.saved()));
        for (layers, place) in [(usize::MAX, 1e30), (0, -5.0), (2, f32::NAN), (1, f32::INFINITY)] {
            for is_by_layer in [false, true] {
                let mut walk = Walk::default();
                walk.restore(&SavedWalk { layers, place, is_by_layer });
                walk.set_layers(2);
                assert!(walk.place() >= 0.0 && walk.place() <= walk.end(), "{layers} {place}: {walk:?}");
            }
        }
    }

    #[test]
    fn reduced_motion_jumps() {
        let mut walk = Walk::default();
        walk.glide_to(1.0);
        walk.advance(f32::INFINITY);
        assert_eq!((walk.time(), walk.is_gliding()), (1.0, false));
    }
}
