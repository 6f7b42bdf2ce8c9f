//! The order of a frame, and the systems that a window and a picture share.

use bevy::asset::AssetEventSystems;
use bevy::prelude::*;
use bevy_egui::{EguiPlugin, EguiPostUpdateSet};

use super::link::{self, Link, Outbox};
use super::render::{blending, device};
use super::scene::Scene;
use super::stage;
use super::view::ViewState;
use super::workspace::{WorkspaceState, apply_style};

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

/// Adds what a window and a picture share.
pub fn plugin(app: &mut App) {
    app.add_plugins((EguiPlugin::default(), blending::plugin, device::plugin, stage::plugin, add_systems))
        // What egui draws with for the first time, new letters above all, is sent in the same frame.
        .configure_sets(PostUpdate, EguiPostUpdateSet::PostProcessOutput.before(AssetEventSystems))
        .add_systems(Update, apply_style);
}

/// Adds the part of it that needs no graphics card.
pub fn add_systems(app: &mut App) {
    app.add_plugins(stage::add_systems)
        .init_resource::<Link>()
        .init_resource::<Outbox>()
        .init_resource::<Scene>()
        .init_resource::<ViewState>()
        .init_resource::<WorkspaceState>()
        .configure_sets(Update, (AppSystems::Receive, AppSystems::Follow, AppSystems::Advance).chain())
        .configure_sets(Last, (AppSystems::Send, AppSystems::BuildStage, AppSystems::Pace).chain())
        .add_systems(Update, (link::receive, link::follow_trail).chain().in_set(AppSystems::Receive))
        .add_systems(Last, (link::set_pace, link::send).chain().in_set(AppSystems::Send));
}
