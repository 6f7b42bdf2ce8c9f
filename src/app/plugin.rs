//! The systems of the window and of a picture, in the order of [`AppSystems`].

use bevy::asset::AssetEventSystems;
use bevy::prelude::*;
use bevy_egui::{EguiPlugin, EguiPostUpdateSet, EguiPreUpdateSet, EguiPrimaryContextPass};

use super::render::{blending, recovery};
use super::shell::{course, dock, pace, state, workspace};
use super::systems::AppSystems;
use super::{link, opening_cell, scene, stage, view, work};

/// Adds everything that window and picture share.
pub fn plugin(app: &mut App) {
    app.add_plugins((EguiPlugin::default(), blending::plugin, stage::plugin, recovery::plugin))
        .init_resource::<link::Link>()
        .init_resource::<link::Outbox>()
        .init_resource::<scene::Scene>()
        .init_resource::<view::ViewState>()
        .init_resource::<work::source::LessonIssues>()
        .init_resource::<course::CoursePage>()
        .init_resource::<state::WindowState>()
        .init_resource::<dock::WorkspaceState>()
        .configure_sets(Update, (AppSystems::Receive, AppSystems::Follow, AppSystems::Advance).chain())
        // What egui draws with for the first time, new letters above all, is sent in the same frame.
        .configure_sets(PostUpdate, EguiPostUpdateSet::PostProcessOutput.before(AssetEventSystems))
        .configure_sets(Last, (AppSystems::Send, AppSystems::BuildStage, AppSystems::Pace).chain())
        .add_systems(
            Update,
            (
                (link::receive, opening_cell::open, link::follow_trail).chain().in_set(AppSystems::Receive),
                workspace::apply_style,
            ),
        )
        .add_systems(
            PreUpdate,
            pace::drop_idle_events.after(EguiPreUpdateSet::ProcessInput).before(EguiPreUpdateSet::BeginPass),
        )
        .add_systems(EguiPrimaryContextPass, workspace::workspace)
        .add_systems(
            Last,
            ((link::set_pace, link::send).chain().in_set(AppSystems::Send), pace::pace.in_set(AppSystems::Pace)),
        );
}
