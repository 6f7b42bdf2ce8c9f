//! A picture that moves, without a display: `attune render LESSON -o apple.gif`. Its frames are drawn one after another by
//! the app that draws a picture; [`Play`] says what each of them shows, and for how long, and [`encode`] makes them a file.

pub mod encode;

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

use self::encode::{ColorTable, Encoder, Form};
use crate::app::fault::AppFault;
use crate::app::picture::{self, PictureOptions};
use crate::app::stage::camera::CameraRig;
use crate::app::stage::frame::StageTab;
use crate::app::stage::geometry;
use crate::app::stage::state::StageState;
use crate::app::theme::motion;
use crate::app::ui_state::ViewState;
use crate::app::ui_state::walk::{STEPS, ease};

/// Options of a picture that moves.
#[derive(Clone, Debug)]
pub struct MovingOptions {
    pub picture: PictureOptions,
    pub play: Play,
    /// Without them, the play's own length.
    pub seconds: Option<f32>,
    pub form: Form,
}

/// Requests of a play while it is drawn.
pub trait Stagehand {
    /// The lesson at a share of its training, from 0 to 1.
    fn trained(&mut self, share: f32) -> Arc<Snapshot>;
    /// So many of all frames are drawn.
    fn drawn(&mut self, frames: usize, all: usize);
}

/// Draws the frames and writes them as one file, whole or not at all.
pub fn render(options: &MovingOptions, hand: &mut dyn Stagehand, out: &Path) -> Result<(), AppFault> {
    picture::write(&draw(options, hand)?, out)
}

/// Draws the frames, as one file.
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

/// An app without a window in which a play goes from frame to frame.
struct Player<'a> {
    app: App,
    play: Play,
    stills: Vec<Still>,
    hand: &'a mut dyn Stagehand,
    /// The camera before the play.
    rig: CameraRig,
}

impl<'a> Player<'a> {
    fn open(options: &MovingOptions, hand: &'a mut dyn Stagehand) -> Result<Self, AppFault> {
        let mut app = picture::picture_app(&options.picture)?;
        // What fades or turns by itself is as far on in each frame, however long it takes to draw one.
        let frame = Duration::from_millis(10 * u64::from(FRAME));
        app.insert_resource(TimeUpdateStrategy::ManualDuration(frame));
        app.world_mut().resource_mut::<ViewState>().figure.of_training = options.play == Play::Training;
        // Fonts and layout settle once, the stage has its size, and the walk the layers of the model.
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

    /// Places the camera for the whole play: where all of training is seen; in space, for a turn around the scene.
    fn place_camera(&mut self) {
        /// Moments of a training whose points are framed.
        const MOMENTS: [f32; 4] = [1.0, 0.0, 0.5, 1.0];
        /// From other sides a scene may be wider than from the one that it opens to.
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
        // A camera that somebody has moved stays where it is.
        rig.pan(Vec2::ZERO, size);
        self.rig = rig.clone();
    }

    /// The colours of a few frames, evenly spread over the play.
    fn colors(&mut self) -> Result<ColorTable, AppFault> {
        const SAMPLES: usize = 6;
        let every = self.stills.len().div_ceil(SAMPLES).max(1);
        let places: Vec<f32> = self.stills.iter().step_by(every).map(|still| still.at).collect();
        let pictures: Result<Vec<RgbImage>, AppFault> = places.into_iter().map(|at| self.picture(at)).collect();
        Ok(ColorTable::of(&pictures?))
    }

    /// The picture at a place of the play.
    fn picture(&mut self, at: f32) -> Result<RgbImage, AppFault> {
        let world = self.app.world_mut();
        match self.play {
            Play::Split => world.resource_mut::<ViewState>().walk.set_time(at),
            Play::Walk => world.resource_mut::<ViewState>().walk.set(at),
            Play::Training => {
                picture::show(&mut self.app, self.hand.trained(at));
                // Once they are on the stage, other points would be framed anew.
                self.app.update();
                self.app.world_mut().resource_mut::<StageTab>().controls.rig = self.rig.clone();
            }
            Play::Orbit => world.resource_mut::<StageTab>().controls.rig.pose.yaw = self.rig.pose.yaw + TAU * at,
        }
        picture::capture_next(&mut self.app)
    }
}

/// The course of a moving picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Play {
    /// From static to contextual, and back.
    Split,
    /// The steps of the walk of the lesson's word, through all layers.
    Walk,
    /// Training, from before its first step to its last.
    Training,
    /// One turn of the camera around the scene.
    Orbit,
}

/// Length of a frame in which something moves, in hundredths of a second, which is how GIF counts: some 14 a second.
pub const FRAME: u16 = 7;
const HUNDREDTHS: f32 = 100.0;

/// One frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Still {
    /// The place in the play: on the walk a whole number at each step, else from 0 to 1.
    pub at: f32,
    /// For how long it is shown.
    pub hundredths: u16,
}

/// A part of a play, with its seconds.
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

    /// The frames of the part, if it lasts the given number of seconds. Those at the ends of a way belong to the rests
    /// beside it.
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
    /// The frames, in `seconds` or in the play's own length. The walk ends at the place `end`.
    pub fn schedule(self, seconds: Option<f32>, end: f32) -> Vec<Still> {
        let parts = self.parts(end);
        let own: f32 = parts.iter().map(|part| part.seconds()).sum();
        let scale = seconds.unwrap_or(own) / own;
        parts.into_iter().flat_map(|part| part.stills(part.seconds() * scale)).collect()
    }

    fn parts(self, end: f32) -> Vec<Part> {
        /// A training takes as long as two ways of the points.
        const LONG: f32 = 2.0 * motion::PLAY;
        /// A turn of the camera changes all of each frame, and so is kept short.
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

/// A rest at each step, and the way to the next one. Where a layer ends the next begins, and nothing moves between them.
fn walk(end: f32) -> Vec<Part> {
    /// Each step is looked at for longer than a play rests.
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
                assert!((took - asked).abs() < 0.15 * asked, "{play:?}: {took} s instead of {asked}");
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
        assert!(
            all.iter()
                .enumerate()
                .all(|(i, still)| (still.at - i as f32 * step).abs() < 1e-5 && still.hundredths == FRAME)
        );
    }
}
