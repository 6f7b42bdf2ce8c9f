//! The order of a frame.

use bevy::prelude::*;

/// Phases of a frame, in this order. The egui pass lies between the two schedules.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AppSystems {
    /// `Update`: lesson file and snapshot become models.
    Receive,
    /// `Update`: the stage and the pages follow it.
    Follow,
    /// `Update`: time passes for glides and the camera.
    Advance,
    /// `Last`: what the panels asked for goes to the kernel.
    Send,
    /// `Last`: the stage's next frame.
    BuildStage,
    /// `Last`: how soon the next frame comes.
    Pace,
}
