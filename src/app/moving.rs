//! Animations without a display: `attune render LESSON -o apple.gif`. The app for pictures draws the frames one after
//! another; [`Play`] determines what each frame shows and for how long, and [`mod@encode`](crate::app::encode) writes
//! them as a file.

use std::f32::consts::TAU;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use attune_core::kernel::Snapshot;
use attune_view::view_model::stage::StageModel;
use bevy::math::Vec2;
use bevy::prelude::App;
use bevy::time::TimeUpdateStrategy;
use image::RgbImage;

use crate::app::encode::{ColorTable, Encoder, Form};
use crate::app::fault::AppFault;
use crate::app::picture::{self, PictureOptions};
use crate::app::stage::camera::CameraRig;
use crate::app::stage::frame::StageTab;
use crate::app::stage::geometry;
use crate::app::stage::state::StageState;
use crate::app::theme::motion;
use crate::app::ui_state::ViewState;
use crate::app::ui_state::walk::{STEPS, ease};

/// The options of an animation.
#[derive(Clone, Debug)]
pub struct MovingOptions {
    pub picture: PictureOptions,
    pub play: Play,
    /// The length; `None` for the default of the sequence.
    pub seconds: Option<f32>,
    pub form: Form,
}

/// The functions that an animation calls while it is drawn.
pub trait Stagehand {
    /// Returns the lesson at a share of its training, from 0 to 1.
    fn trained(&mut self, share: f32) -> Arc<Snapshot>;
    /// Reports how many of all frames are drawn so far.
    fn drawn(&mut self, frames: usize, all: usize);
}

/// Draws the frames and writes them as one file, completely or not at all.
///
/// # Errors
/// If [`draw`] fails or the file cannot be written.
pub fn render(options: &MovingOptions, hand: &mut dyn Stagehand, out: &Path) -> Result<(), AppFault> {
    picture::write(&draw(options, hand)?, out)
}

/// Draws the frames, and returns the file's content.
///
/// # Errors
/// If there is no graphics adapter, nothing to draw, or a frame that cannot be encoded.
pub fn draw(options: &MovingOptions, hand: &mut dyn Stagehand) -> Result<Vec<u8>, AppFault> {
    let mut player = Player::open(options, hand)?;
    let stills = player.stills.clone();
    let colors = player.colors()?;
    let (mut out, count) = (Vec::new(), stills.len());
    let fault = AppFault::Output;
    let mut encoder = Encoder::begin(&mut out, options.form, options.picture.size, count, colors).map_err(fault)?;
    for (i, still) in stills.iter().enumerate() {
        encoder.add(&player.picture(still.at)?, still.hundredths).map_err(fault)?;
        player.hand.drawn(i + 1, count);
    }
    encoder.end().map_err(fault)?;
    Ok(out)
}

/// An app without a window that draws the frames of an animation.
struct Player<'a> {
    app: App,
    play: Play,
    stills: Vec<Still>,
    hand: &'a mut dyn Stagehand,
    /// The camera from which the animation starts.
    rig: CameraRig,
}

impl<'a> Player<'a> {
    fn open(options: &MovingOptions, hand: &'a mut dyn Stagehand) -> Result<Self, AppFault> {
        let mut app = picture::picture_app(&options.picture)?;
        // Fades and turns advance by the same time in each frame, however long it takes to draw.
        let frame = Duration::from_millis(10 * u64::from(FRAME));
        app.insert_resource(TimeUpdateStrategy::ManualDuration(frame));
        app.world_mut().resource_mut::<ViewState>().figure.of_training = options.play == Play::Training;
        // The first picture settles fonts and layout, the size of the stage, and the walk's layers.
        picture::capture(&mut app)?;
        let walk = &app.world().resource::<ViewState>().walk;
        if matches!(options.play, Play::Split | Play::Walk) && !app.world().resource::<StageState>().has_walk(walk) {
            return Err(AppFault::NothingToDraw("attention moves no word of the sentence".to_owned()));
        }
        let stills = options.play.schedule(options.seconds, walk.end());
        let mut player = Self { app, play: options.play, stills, hand, rig: CameraRig::default() };
        player.place_camera();
        Ok(player)
    }

    /// Places the camera for the whole animation. For training, the camera is fitted to some moments; for an orbit, it
    /// is in 3D, with room around the scene.
    fn place_camera(&mut self) {
        /// The moments of training to which the camera is fitted, in order. The end comes first, so that another moment
        /// changes the view only if its points need more room, and last, because its points stay on the screen for
        /// longest.
        const MOMENTS: [f32; 4] = [1.0, 0.0, 0.5, 1.0];
        /// The factor by which the camera is further away during an orbit, because a scene may be wider from other
        /// sides.
        const ROOM: f32 = 1.4;
        let trained = match self.play {
            Play::Training => MOMENTS.map(|share| self.hand.trained(share)).to_vec(),
            _ => Vec::new(),
        };
        let tab = self.app.world_mut().resource_mut::<StageTab>().into_inner();
        let (size, rig) = (tab.controls.free(), &mut tab.controls.rig);
        for model in trained.iter().filter_map(|snapshot| StageModel::of(snapshot)) {
            rig.fit_now(geometry::extent(&model), size);
        }
        if self.play == Play::Orbit {
            rig.open(false);
            rig.pose.distance *= ROOM;
        }
        // Panning by zero marks the camera as moved by hand, so that it no longer adapts to the points.
        rig.pan(Vec2::ZERO, size);
        self.rig = rig.clone();
    }

    /// Computes the colour table from a few frames, evenly spread over the animation.
    fn colors(&mut self) -> Result<ColorTable, AppFault> {
        const SAMPLES: usize = 6;
        let every = self.stills.len().div_ceil(SAMPLES).max(1);
        let places: Vec<f32> = self.stills.iter().step_by(every).map(|still| still.at).collect();
        let pictures: Result<Vec<RgbImage>, AppFault> = places.into_iter().map(|at| self.picture(at)).collect();
        Ok(ColorTable::of(&pictures?))
    }

    /// Draws the picture at a place of the sequence, as in [`Still::at`].
    fn picture(&mut self, at: f32) -> Result<RgbImage, AppFault> {
        let world = self.app.world_mut();
        match self.play {
            Play::Split => world.resource_mut::<ViewState>().walk.set_time(at),
            Play::Walk => world.resource_mut::<ViewState>().walk.set(at),
            Play::Training => {
                picture::show(&mut self.app, self.hand.trained(at));
                // The camera adapts to new points once they are on the stage, so it is put back afterwards.
                self.app.update();
                self.app.world_mut().resource_mut::<StageTab>().controls.rig = self.rig.clone();
            }
            Play::Orbit => world.resource_mut::<StageTab>().controls.rig.pose.yaw = self.rig.pose.yaw + TAU * at,
        }
        picture::capture_next(&mut self.app)
    }
}

/// The sequence that an animation shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Play {
    /// The movement of the points from static to contextual vectors, and back.
    Split,
    /// The steps of the walk through all layers, for the lesson's word.
    Walk,
    /// The training, from before its first step to its last.
    Training,
    /// One turn of the camera around the scene.
    Orbit,
}

/// The duration of a frame with motion in hundredths of a second, the unit of GIF: about 14 frames a second.
pub const FRAME: u16 = 7;
const HUNDREDTHS: f32 = 100.0;

/// A frame of the animation: its place in the sequence and its duration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Still {
    /// The place in the sequence: on the walk a whole number at each step, otherwise from 0 to 1.
    pub at: f32,
    /// The duration of the frame, in hundredths of a second.
    pub hundredths: u16,
}

/// A part of a sequence, with its length in seconds.
#[derive(Clone, Copy)]
enum Part {
    Rest { at: f32, seconds: f32 },
    Way { from: f32, to: f32, seconds: f32, eased: bool },
}

impl Part {
    fn seconds(self) -> f32 {
        match self {
            Part::Rest { seconds, .. } | Part::Way { seconds, .. } => seconds,
        }
    }

    /// Returns the frames of the part, given its length in seconds. Frames at the ends of a movement belong to the
    /// adjacent rests.
    fn stills(self, seconds: f32) -> Vec<Still> {
        let hundredths = seconds * HUNDREDTHS;
        match self {
            Part::Rest { at, .. } => vec![Still { at, hundredths: (hundredths.round() as u16).max(FRAME) }],
            Part::Way { from, to, eased, .. } => {
                let frames = (hundredths / f32::from(FRAME)).round() as usize;
                let share = |i: usize| i as f32 / frames as f32;
                let way = (1..frames).map(share).map(|x| if eased { ease(x) } else { x });
                way.map(|x| Still { at: from + (to - from) * x, hundredths: FRAME }).collect()
            }
        }
    }
}

impl Play {
    /// Returns the frames of the sequence, for the given length in seconds or its default length. A walk ends at the
    /// place `end`.
    pub fn schedule(self, seconds: Option<f32>, end: f32) -> Vec<Still> {
        let parts = self.parts(end);
        let own: f32 = parts.iter().map(|part| part.seconds()).sum();
        let scale = seconds.unwrap_or(own) / own;
        parts.into_iter().flat_map(|part| part.stills(part.seconds() * scale)).collect()
    }

    fn parts(self, end: f32) -> Vec<Part> {
        /// The default length of training in seconds: that of two movements of the points.
        const LONG: f32 = 2.0 * motion::PLAY;
        /// The default length of a turn of the camera in seconds. It is short, because every frame changes completely.
        const TURN: f32 = 4.0;
        let (rest, seconds) = (motion::PLAY_PAUSE, motion::PLAY);
        match self {
            Play::Split => vec![
                Part::Rest { at: 0.0, seconds: rest },
                Part::Way { from: 0.0, to: 1.0, seconds, eased: true },
                Part::Rest { at: 1.0, seconds: rest },
                Part::Way { from: 1.0, to: 0.0, seconds: seconds / 2.0, eased: true },
            ],
            Play::Walk => walk(end),
            Play::Training => vec![
                Part::Rest { at: 0.0, seconds: rest },
                Part::Way { from: 0.0, to: 1.0, seconds: LONG, eased: false },
                Part::Rest { at: 1.0, seconds: 2.0 * rest },
            ],
            Play::Orbit => vec![
                Part::Rest { at: 0.0, seconds: f32::from(FRAME) / HUNDREDTHS },
                Part::Way { from: 0.0, to: 1.0, seconds: TURN, eased: false },
            ],
        }
    }
}

/// Returns the parts of a walk: a rest at each step, and the movement to the next. Nothing moves between the end of a
/// layer and the start of the next.
fn walk(end: f32) -> Vec<Part> {
    /// The length of the rest at each step in seconds, longer than in other animations.
    const REST: f32 = 1.5 * motion::PLAY_PAUSE;
    let places = end as usize;
    let step = |place: usize| {
        let at = place as f32;
        let is_last = place == places || place % STEPS == STEPS - 1;
        let way = Part::Way { from: at, to: at + 1.0, seconds: motion::GLIDE, eased: true };
        [Some(Part::Rest { at, seconds: REST }), (!is_last).then_some(way)].into_iter().flatten()
    };
    (0..=places).flat_map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::close::{Tolerance, assert_close};

    const PLAYS: [Play; 4] = [Play::Split, Play::Walk, Play::Training, Play::Orbit];
    const END: f32 = (STEPS - 1) as f32;

    fn seconds(stills: &[Still]) -> f32 {
        stills.iter().map(|still| f32::from(still.hundredths)).sum::<f32>() / HUNDREDTHS
    }

    #[test]
    fn a_play_lasts_as_long_as_it_is_asked_to() {
        for play in PLAYS {
            for asked in [8.0, 20.0, 60.0] {
                let took = seconds(&play.schedule(Some(asked), END));
                assert!((0.85 * asked..1.15 * asked).contains(&took), "{play:?}: {took} s instead of {asked}");
            }
            assert!(!play.schedule(Some(0.01), END).is_empty(), "{play:?} has a frame, however short it is");
        }
    }

    #[test]
    fn the_split_goes_to_contextual_and_back() {
        let all: Vec<f32> = Play::Split.schedule(None, END).iter().map(|still| still.at).collect();
        let top = all.iter().position(|at| *at == 1.0).expect("it comes to contextual");
        assert_eq!(all[0], 0.0);
        assert!(all[..=top].is_sorted() && all[top..].is_sorted_by(|a, b| a >= b), "{all:?}");
        assert!(*all.last().expect("frames") < 0.1, "the next round begins where this one ends");
    }

    #[test]
    fn the_walk_rests_at_each_step_of_each_layer_and_jumps_between_layers() {
        let layers = 2;
        let end = (layers * STEPS - 1) as f32;
        let all = Play::Walk.schedule(None, end);
        let rests: Vec<f32> = all.iter().filter(|still| still.hundredths > FRAME).map(|still| still.at).collect();
        assert_eq!(rests, (0..layers * STEPS).map(|place| place as f32).collect::<Vec<_>>());
        let between = |still: &&Still| still.at > END && still.at < END + 1.0;
        assert_eq!(all.iter().filter(between).count(), 0);
    }

    #[test]
    fn the_camera_turns_once_and_evenly() {
        let all = Play::Orbit.schedule(None, END);
        let step = 1.0 / all.len() as f32;
        assert!(all.iter().all(|still| still.hundredths == FRAME));
        let [places, even]: [Vec<f32>; 2] =
            [all.iter().map(|still| still.at).collect(), (0..all.len()).map(|i| i as f32 * step).collect()];
        assert_close("the places", places, even, Tolerance::SINGLE_PASS);
    }
}
