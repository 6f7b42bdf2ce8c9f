//! Shared by every part of the window: the models of the latest snapshot, the road to the kernel's thread, and the phases
//! of a frame.

use attune_core::kernel::command::Command as KernelCommand;
use attune_core::kernel::notebook::NotebookCommand;
use attune_core::kernel::worker::{Pace, Worker};
use attune_view::view_model::Models;
use bevy::prelude::*;

/// The latest snapshot and its models, of which panels and stage ask; see [`Models::get`].
#[derive(Resource, Default, Deref, DerefMut)]
pub struct LatestModels(pub Models);

/// The kernel's thread; absent until a lesson loads, and in a picture.
#[derive(Resource, Default)]
pub struct Link(pub Option<Worker>);

/// Commands that the panels gave and the kernel has not seen.
#[derive(Resource, Default)]
pub struct Outbox {
    pub commands: Vec<KernelCommand>,
    /// How fast training plays.
    pub pace: Pace,
    /// The kernel has seen all that was asked of it, and so has the snapshot that is shown.
    pub is_answered: bool,
}

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

/// Plays training at the pace that is chosen.
pub fn set_pace(link: Res<Link>, outbox: Res<Outbox>) {
    if let Some(worker) = &link.0 {
        worker.set_pace(outbox.pace);
    }
}

/// Sends the commands of the panels to the kernel.
pub fn send(link: Res<Link>, mut outbox: ResMut<Outbox>) {
    if !outbox.commands.is_empty() {
        forward(&link, &mut outbox.commands);
    }
}

/// Sends the commands of the panels at once, without waiting for the end of the frame.
pub fn send_now(world: &mut World) {
    let mut commands = std::mem::take(&mut world.resource_mut::<Outbox>().commands);
    forward(world.resource::<Link>(), &mut commands);
}

fn forward(link: &Link, commands: &mut Vec<KernelCommand>) {
    for command in commands.drain(..) {
        match (&link.0, command) {
            // What runs must hear of it now, not when its turn comes.
            (Some(worker), KernelCommand::Notebook(NotebookCommand::Interrupt)) => worker.interrupt(),
            (Some(worker), command) => worker.send(command),
            (None, _) => {}
        }
    }
}
