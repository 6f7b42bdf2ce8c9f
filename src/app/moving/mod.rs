//! A picture that moves, without a display: `attune render LESSON -o apple.gif`. Its frames are drawn one after another by
//! the app that draws a picture.
//!
//! | module | job |
//! |---|---|
//! | [`schedule`] | what each frame shows, and for how long |
//! | [`colors`] | the one table of colours of all frames |
//! | [`encode`] | frames as GIF or APNG |

pub mod colors;
pub mod encode;
pub mod schedule;

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

use crate::app::AppFault;
use crate::app::picture::{self, PictureOptions};
use crate::app::stage::camera::CameraRig;
use crate::app::stage::frame::StageTab;
use crate::app::stage::geometry;
use crate::app::stage::state::StageState;
use crate::app::ui_state::ViewState;

use self::colors::ColorTable;
use self::encode::{Encoder, Form};
use self::schedule::{FRAME, Play, Still};

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
