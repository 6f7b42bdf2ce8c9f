//! The window and the rendered picture: the only folder that names Bevy or egui.
//!
//! | file | job |
//! |---|---|
//! | [`window`], [`picture`] | the two ways in: [`run`] and [`render`] |
//! | [`bridge`] | snapshots in, commands out |
//! | [`basis_glide`] | points on their way to another basis |
//! | [`wishes`], [`opening`], [`course`] | what panels wish of the window: another lesson, and the page to choose it from |
//! | [`closing`] | the window closes when all is kept |
//! | [`gpu`], [`recovery`] | the graphics device: asked for, and asked for again when it is lost |
//! | [`source`] | the lesson file, watched |
//! | [`session`], [`saved_view`] | the learner's work on a lesson: found, saved, and whose it is |
//! | [`profile`] | what is kept beside that: the way through the course, the look of the window |
//! | [`ui`] | the egui systems that put panels and stage on the screen |
//! | [`panels`] | one file a panel; they name egui, never Bevy |
//! | [`still`] | a map of the words by t-SNE, beside the window |
//! | [`exporting`] | exports with pictures, beside the window |
//! | [`matte`] | what of a picture lets through |
//! | [`images`] | the lesson's pictures, from its folder only |
//! | [`stage`], [`look`] | the 3D view, and how panels look through its camera |
//! | [`view_state`], [`pace`] | what the viewer chooses, when to draw |
//! | [`keyboard`], [`shortcuts`] | keys that arrive as they were typed, and what they do |
//! | [`theme`], [`fonts`], [`blending`] | every colour, size, duration and face; soft edges |
//!
//! Panels and stage never import each other; [`ui`] hands the stage to the dock as a closure.

pub mod basis_glide;
pub mod blending;
pub mod bridge;
pub mod closing;
pub mod course;
pub mod exporting;
pub mod fault;
pub mod fonts;
pub mod gpu;
pub mod images;
pub mod keyboard;
pub mod look;
pub mod matte;
pub mod opening;
pub mod pace;
pub mod panels;
pub mod picture;
pub mod profile;
pub mod recovery;
pub mod saved_view;
pub mod session;
pub mod shortcuts;
pub mod source;
pub mod stage;
pub mod still;
pub mod theme;
pub mod ui;
pub mod view_state;
pub mod window;
pub mod wishes;

pub use fault::AppFault;
pub use picture::{PictureOptions, StageView, capture, draw, figure_app, picture_app, render};
pub use window::{WindowOptions, run};

use bevy::asset::AssetEventSystems;
use bevy::prelude::*;
use bevy_egui::{EguiPlugin, EguiPostUpdateSet, EguiPreUpdateSet, EguiPrimaryContextPass};

/// What happens in a frame, in this order. The egui pass lies between the two schedules.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AppSystems {
    /// `Update`: lesson file and snapshot become models.
    Receive,
    /// `Update`: time passes for glides and the camera.
    Advance,
    /// `Last`: what the panels asked for goes to the kernel.
    Send,
    /// `Last`: the stage's next frame.
    BuildStage,
    /// `Last`: how soon the next frame comes.
    Pace,
}

/// Everything that window and picture share.
pub fn plugin(app: &mut App) {
    app.add_plugins((EguiPlugin::default(), blending::plugin, stage::plugin, recovery::plugin))
        .init_resource::<bridge::Link>()
        .init_resource::<bridge::LatestSnapshot>()
        .init_resource::<bridge::Models>()
        .init_resource::<bridge::Outbox>()
        .init_resource::<source::LessonIssues>()
        .init_resource::<view_state::ViewState>()
        .init_resource::<course::CoursePage>()
        .init_resource::<wishes::Wishes>()
        .init_resource::<ui::Desk>()
        .configure_sets(Update, (AppSystems::Receive, AppSystems::Advance).chain())
        // What egui draws with for the first time, new letters above all, is sent in the same frame.
        .configure_sets(PostUpdate, EguiPostUpdateSet::PostProcessOutput.before(AssetEventSystems))
        .configure_sets(Last, (AppSystems::Send, AppSystems::BuildStage, AppSystems::Pace).chain())
        .add_systems(
            Update,
            (
                (
                    source::reload,
                    bridge::receive,
                    bridge::follow_walk,
                    session::show,
                    course::receive,
                    wishes::follow_export,
                    wishes::follow_map,
                )
                    .chain()
                    .in_set(AppSystems::Receive),
                (basis_glide::advance, stage::frame::advance).chain().in_set(AppSystems::Advance),
                (ui::dress, keyboard::take_focus),
            ),
        )
        .add_systems(
            PreUpdate,
            (keyboard::give_modifiers, pace::drop_idle_events)
                .after(EguiPreUpdateSet::ProcessInput)
                .before(EguiPreUpdateSet::BeginPass),
        )
        .add_systems(EguiPrimaryContextPass, ui::workspace)
        .add_systems(
            Last,
            (
                (bridge::set_pace, bridge::send).chain().in_set(AppSystems::Send),
                (session::keep, profile::keep, wishes::grant)
                    .chain()
                    .after(AppSystems::Send)
                    .before(AppSystems::BuildStage),
                (stage::frame::resize, stage::frame::build).chain().in_set(AppSystems::BuildStage),
                pace::pace.in_set(AppSystems::Pace),
            ),
        );
}
