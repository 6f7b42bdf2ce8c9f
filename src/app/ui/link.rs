//! The models of the latest snapshot, the connection to the kernel's thread, and the phases of a frame.

use attune_core::kernel::command::Command as KernelCommand;
use attune_core::kernel::notebook::NotebookCommand;
use attune_core::kernel::worker::{Pace, Worker};
use attune_view::view_model::Models;
use bevy::prelude::*;

/// The latest snapshot and its models, which panels and stage get with [`Models::get`].
#[derive(Resource, Default, Deref, DerefMut)]
pub struct LatestModels(pub Models);

/// The handle to the kernel's thread; `None` until a lesson loads, and when a picture is rendered.
#[derive(Resource, Default)]
pub struct Link(pub Option<Worker>);

/// Commands from the panels that have not been sent to the kernel.
#[derive(Resource, Default)]
pub struct Outbox {
    pub commands: Vec<KernelCommand>,
    /// The pace of training, in steps per second; `None` for full speed.
    pub pace: Pace,
    /// Whether the kernel has processed all commands and the shown snapshot includes their results.
    pub is_answered: bool,
}

/// The phases of a frame, in this order. The egui pass comes between the two schedules.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AppSystems {
    /// `Update`: builds the models from the lesson file and the snapshot.
    Receive,
    /// `Update`: adapts the stage and the pages to the models.
    Follow,
    /// `Update`: advances glides and the camera.
    Advance,
    /// `Last`: sends the panels' commands to the kernel.
    Send,
    /// `Last`: builds the stage's next frame.
    BuildStage,
    /// `Last`: decides when the next frame is drawn.
    Pace,
}

/// Passes the chosen pace of training on to the kernel.
pub fn set_pace(link: Res<Link>, outbox: Res<Outbox>) {
    if let Some(worker) = &link.0 {
        worker.set_pace(outbox.pace);
    }
}

/// Sends the panels' commands to the kernel at the end of the frame.
pub fn send(link: Res<Link>, mut outbox: ResMut<Outbox>) {
    if !outbox.commands.is_empty() {
        forward(&link, &mut outbox.commands);
    }
}

/// Sends the panels' commands at once, without waiting for the end of the frame.
pub fn send_now(world: &mut World) {
    let mut commands = std::mem::take(&mut world.resource_mut::<Outbox>().commands);
    forward(world.resource::<Link>(), &mut commands);
}

fn forward(link: &Link, commands: &mut Vec<KernelCommand>) {
    for command in commands.drain(..) {
        match (&link.0, command) {
            // An interrupt must reach the running cell at once and not wait in the queue.
            (Some(worker), KernelCommand::Notebook(NotebookCommand::Interrupt)) => worker.interrupt(),
            (Some(worker), command) => worker.send(command),
            (None, _) => {}
        }
    }
}
